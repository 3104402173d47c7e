/* SPDX-License-Identifier: Apache-2.0 */
/* compare_rules.c - the rules of `diff`: of --fail-if, of the file of --rules, and that of the
 * total (compare_rules.h). */
#include "cli/commands/compare_rules.h"

#include <string.h>

#include "base/bytes.h"
#include "base/file.h"
#include "base/memory.h"
#include "base/out.h"

static enum tv_status compare_add_rule(struct tv_compare_rules *rules, struct tv_bytes name,
                                       struct tv_bytes text, struct tv_error *err)
{
    rules->rules = tv_array_reserve(rules->rules, &rules->capacity, (size_t)rules->count + 1,
                                    sizeof *rules->rules);
    enum tv_status status = tv_gate_rule_parse(text, &rules->rules[rules->count], err);
    rules->rules[rules->count].name = name;
    rules->count += status == TV_OK;
    return status;
}

/* Is it the name before ':', not the "class:" of a pattern? */
static bool compare_is_rule_name(struct tv_bytes name)
{
    for (size_t i = 0; i < name.length; i++)
        if (name.data[i] == '(' || name.data[i] == '>' || name.data[i] == '<')
            return false;
    return name.length > 0;
}

/* Read the rules of a file, one a line, with or without "name:" before them.  An error names its
 * line. */
static enum tv_status compare_read_rules(const struct tv_settings *settings,
                                         struct tv_compare_rules *rules, struct tv_error *err)
{
    size_t length;
    enum tv_status status = tv_file_read_text(settings->compare.rules, TV_RULES_LARGEST_FILE,
                                              &rules->text, &length, err);
    if (status != TV_OK) {
        rules->text = NULL;
        return tv_error_prefix(err, "%s", settings->compare.rules);
    }
    struct tv_cursor cursor = tv_cursor_over((struct tv_bytes){(uint8_t *)rules->text, length});
    struct tv_bytes line, name;
    for (unsigned number = 1; status == TV_OK && tv_cursor_take_line(&cursor, &line); number++) {
        line = tv_bytes_trim(line);
        if (line.length == 0 || line.data[0] == '#')
            continue;
        struct tv_bytes rest = line;
        if (!tv_bytes_split(&rest, ':', &name) || !compare_is_rule_name(name)) {
            rest = line;
            name = (struct tv_bytes){NULL, 0};
        }
        status = compare_add_rule(rules, tv_bytes_trim(name), rest, err);
        if (status != TV_OK)
            tv_error_prefix(err, "%s: line %u", settings->compare.rules, number);
    }
    return status;
}

/* Add a rule for the total, with the smallest limit of the others: what makes everything slower is
 * taken off each row as the common factor. */
static enum tv_status compare_add_total_rule(struct tv_compare_rules *rules, struct tv_error *err)
{
    double limit = 0, p = 0;
    for (uint32_t i = 0; i < rules->count; i++) {
        const struct tv_gate_rule *rule = &rules->rules[i];
        if (rule->figure == TV_GATE_TOTAL && rule->thread.length == 0)
            return TV_OK;
        if (rule->figure == TV_GATE_TOTAL || rule->p <= 0 || !rule->change.is_relative ||
            rule->change.way == TV_GATE_BELOW || rule->figure == TV_GATE_CALLS)
            continue;
        limit = p == 0 || rule->change.number < limit ? rule->change.number : limit;
        p = rule->p > p ? rule->p : p;
    }
    if (p == 0)
        return TV_OK;
    struct tv_out text;
    tv_out_init_memory(&text);
    tv_out_format(&text, "total > +%.6g%% and p < %.6g", limit * 100, p);
    tv_out_char(&text, '\0');
    rules->total = memcpy(tv_alloc(text.length, 1), text.buffer, text.length);
    tv_out_release(&text);
    return compare_add_rule(rules, (struct tv_bytes){NULL, 0}, tv_bytes_of(rules->total), err);
}

enum tv_status tv_compare_rules_parse(const struct tv_settings *settings,
                                      struct tv_compare_rules *rules, struct tv_error *err)
{
    enum tv_status status = TV_OK;
    for (size_t i = 0; i < settings->compare.fail_if.count && status == TV_OK; i++)
        status = compare_add_rule(rules, (struct tv_bytes){NULL, 0},
                                  tv_bytes_of(settings->compare.fail_if.items[i]), err);
    if (status == TV_OK && settings->compare.rules)
        status = compare_read_rules(settings, rules, err);
    if (status == TV_OK && !settings->compare.no_total)
        status = compare_add_total_rule(rules, err);
    return status;
}

void tv_compare_rules_release(struct tv_compare_rules *rules)
{
    tv_free(rules->rules);
    tv_free(rules->text);
    tv_free(rules->total);
}

/* ---- Renamed methods ---- */

enum tv_status tv_compare_read_renames(const struct tv_settings *settings,
                                       struct tv_run_table *table, char **text,
                                       struct tv_error *err)
{
    size_t length, capacity = 0;
    *text = NULL;
    if (!settings->compare.rename)
        return TV_OK;
    enum tv_status status =
        tv_file_read_text(settings->compare.rename, TV_RULES_LARGEST_FILE, text, &length, err);
    if (status != TV_OK) {
        *text = NULL;
        return tv_error_prefix(err, "%s", settings->compare.rename);
    }
    struct tv_cursor cursor = tv_cursor_over((struct tv_bytes){(uint8_t *)*text, length});
    for (struct tv_bytes line, old; tv_cursor_take_line(&cursor, &line);) {
        line = tv_bytes_trim(line);
        if (line.length == 0 || line.data[0] == '#')
            continue;
        if (!tv_bytes_split(&line, '=', &old))
            return tv_fail(err, TV_ERR_USAGE, TV_NO_OFFSET,
                           "%s: expected lines \"OLD = NEW\", found \"%.*s\"",
                           settings->compare.rename, (int)old.length, (const char *)old.data);
        table->renames = tv_array_reserve(table->renames, &capacity, table->rename_count + 2,
                                          sizeof *table->renames);
        table->renames[table->rename_count++] = tv_bytes_trim(old);
        table->renames[table->rename_count++] = tv_bytes_trim(line);
    }
    return TV_OK;
}
