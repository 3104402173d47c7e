/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sql_rules.h - rules of the user for `check`, in SQL (docs/findings.md).
 *
 *     -- name: long-collection
 *     -- severity: warning
 *     -- text: a collection took longer than 10 ms
 *     SELECT ts, dur, name FROM slice WHERE name GLOB 'GC*' AND dur > 10e6;
 *
 * A rule goes from its name to the next one.  It tells something of a trace if its query has rows.
 */
#ifndef TV_CLI_INPUT_SQL_RULES_H
#define TV_CLI_INPUT_SQL_RULES_H

#include "cli/options.h"
#include "model/trace.h"
#include "writers/tables/check_report.h"

struct tv_sql_rule {
    struct tv_bytes name, text;
    enum tv_severity severity; /* a warning, unless it is stated */
    struct tv_bytes query;
};

struct tv_sql_rules {
    struct tv_sql_rule *list;
    size_t count, capacity;
};

/* Maximum number of rows of a rule that are counted. */
#define TV_SQL_RULE_ROWS 1000

/* Split a text, which must outlive the rules.  TV_ERR_USAGE with the line of a mistake. */
enum tv_status tv_sql_rules_parse(struct tv_bytes text, struct tv_sql_rules *rules,
                                  struct tv_error *err) TV_MUST_CHECK;
void tv_sql_rules_release(struct tv_sql_rules *rules);

/* Return the rule with a name, or NULL. */
const struct tv_sql_rule *tv_sql_rules_find(const struct tv_sql_rules *rules, struct tv_bytes name);

/* Ask all rules about a trace: answers[rules->count], whose `rows` the caller releases, also after
 * an error.  The library of DuckDB must be open (tv_duck_open). */
enum tv_status tv_sql_rules_ask(const struct tv_sql_rules *rules,
                                const struct tv_settings *settings, const struct tv_trace *trace,
                                struct tv_rule_answer *answers, struct tv_error *err) TV_MUST_CHECK;

#endif
