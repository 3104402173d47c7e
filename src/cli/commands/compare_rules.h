/* SPDX-License-Identifier: Apache-2.0 */
/* compare_rules.h - the rules that the command line gives to `diff`. */
#ifndef TV_CLI_COMMANDS_COMPARE_RULES_H
#define TV_CLI_COMMANDS_COMPARE_RULES_H

#include "analysis/compare/gate.h"
#include "cli/command.h"

/* Maximum size of a file of rules or of renamed methods. */
#define TV_RULES_LARGEST_FILE ((size_t)1 << 20)

struct tv_compare_rules {
    struct tv_gate_rule *rules;
    uint32_t count;
    size_t capacity;
    char *text;  /* text of --rules */
    char *total; /* text of the rule of the total */
};

/* Parse --fail-if and --rules, and add a rule for the total unless --no-total is given.  Release
 * the rules also after an error. */
enum tv_status tv_compare_rules_parse(const struct tv_settings *settings,
                                      struct tv_compare_rules *rules,
                                      struct tv_error *err) TV_MUST_CHECK;
void tv_compare_rules_release(struct tv_compare_rules *rules);

/* Read the lines "OLD = NEW" of --rename.  The table's views point into *text. */
enum tv_status tv_compare_read_renames(const struct tv_settings *settings,
                                       struct tv_run_table *table, char **text,
                                       struct tv_error *err) TV_MUST_CHECK;

#endif
