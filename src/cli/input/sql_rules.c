/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sql_rules.c - rules of `check` in SQL (sql_rules.h).
 *
 *     -- name: slow-start            begins a rule; the name is one word
 *     -- severity: error             note, warning (the default) or error
 *     -- text: starts took too long
 *     select name, dur from slice where ...      the query, up to the next name
 *
 * Each row of the answer is a place where the rule found something.  Queries
 * are SQL as for `traceview sql`; a line that begins with "--" and is none of
 * the three is a comment of SQL.
 */
#include "cli/input/sql_rules.h"

#include <assert.h>

#include "analysis/findings/findings.h"
#include "base/bytes.h"
#include "base/memory.h"
#include "cli/command.h"
#include "sql/sql.h"

/* ---- Parsing ---- */

/* Take the value of a line "-- key: value"; false for other lines. */
static bool rule_take_value(struct tv_bytes line, const char *key, struct tv_bytes *value)
{
    struct tv_bytes name;
    line = tv_bytes_trim(line);
    if (!tv_bytes_starts_with(line, TV_BYTES("--")))
        return false;
    line.data += 2;
    line.length -= 2;
    if (!tv_bytes_split(&line, ':', &name) ||
        !tv_bytes_equal(tv_bytes_trim(name), tv_bytes_of(key)))
        return false;
    *value = tv_bytes_trim(line);
    return true;
}

/* Can a name be an argument of --fail-on without quotes? */
static bool rule_name_is_good(struct tv_bytes name)
{
    for (size_t i = 0; i < name.length; i++) {
        uint8_t c = name.data[i];
        if (!(c >= 'a' && c <= 'z') && !(c >= '0' && c <= '9') && c != '-' && c != '_')
            return false;
    }
    return name.length > 0 && name.length <= 64;
}

/* Fail with the line of the file and what was found there. */
static enum tv_status rule_fail(unsigned line, const char *what, struct tv_bytes found,
                                struct tv_error *err)
{
    return tv_fail(err, TV_ERR_USAGE, TV_NO_OFFSET, "line %u: %s, found '%.*s'", line, what,
                   (int)(found.length < 64 ? found.length : 64), (const char *)found.data);
}

/* Is the name one of a severity or of a finding? --fail-on could not tell them apart. */
static bool rule_name_is_taken(struct tv_bytes name)
{
    for (unsigned i = 0; i < TV_SEVERITIES; i++)
        if (tv_bytes_equal(name, tv_bytes_of(tv_severity_name((enum tv_severity)i))))
            return true;
    return tv_rule_find(name) != TV_NONE;
}

/* Begin the rule that a line "-- name:" names. */
static enum tv_status rule_begin(struct tv_sql_rules *rules, struct tv_bytes name, unsigned line,
                                 struct tv_error *err)
{
    if (!rule_name_is_good(name))
        return rule_fail(line, "expected a name of small letters, digits, - and _", name, err);
    if (rule_name_is_taken(name) || tv_sql_rules_find(rules, name))
        return rule_fail(line, "expected a name that nothing else has", name, err);
    rules->list =
        tv_array_reserve(rules->list, &rules->capacity, rules->count + 1, sizeof *rules->list);
    rules->list[rules->count++] = (struct tv_sql_rule){.name = name, .severity = TV_WARNING};
    return TV_OK;
}

/* Take a line of the rule that was begun last: a severity, a text, or a part of the query. */
static enum tv_status rule_take_line(struct tv_sql_rule *rule, struct tv_bytes line,
                                     unsigned number, struct tv_error *err)
{
    struct tv_bytes value;
    if (rule_take_value(line, "severity", &value)) {
        for (unsigned i = 0; i < TV_SEVERITIES; i++) {
            rule->severity = (enum tv_severity)i;
            if (tv_bytes_equal(value, tv_bytes_of(tv_severity_name(rule->severity))))
                return TV_OK;
        }
        return rule_fail(number, "expected note, warning or error", value, err);
    }
    if (rule_take_value(line, "text", &value))
        rule->text = value;
    else if (rule->query.data)
        rule->query.length = (size_t)(line.data + line.length - rule->query.data);
    else if (tv_bytes_trim(line).length > 0)
        rule->query = line;
    return TV_OK;
}

/* Check that there are rules, each with a query. */
static enum tv_status rules_check_queries(const struct tv_sql_rules *rules, struct tv_error *err)
{
    if (rules->count == 0)
        return tv_fail(err, TV_ERR_USAGE, TV_NO_OFFSET,
                       "expected a rule, which begins with '-- name: NAME', found none");
    for (size_t i = 0; i < rules->count; i++)
        if (!rules->list[i].query.data)
            return tv_fail(err, TV_ERR_USAGE, TV_NO_OFFSET, "the rule %.*s has no query",
                           (int)rules->list[i].name.length, (const char *)rules->list[i].name.data);
    return TV_OK;
}

enum tv_status tv_sql_rules_parse(struct tv_bytes text, struct tv_sql_rules *rules,
                                  struct tv_error *err)
{
    struct tv_bytes rest = text, line, name;
    enum tv_status status = TV_OK;
    bool more = true;
    *rules = (struct tv_sql_rules){.list = NULL};
    for (unsigned number = 1; more && status == TV_OK; number++) {
        more = tv_bytes_split(&rest, '\n', &line);
        if (rule_take_value(line, "name", &name))
            status = rule_begin(rules, name, number, err);
        else if (rules->count > 0)
            status = rule_take_line(&rules->list[rules->count - 1], line, number, err);
        else if (tv_bytes_trim(line).length > 0 &&
                 !tv_bytes_starts_with(tv_bytes_trim(line), TV_BYTES("--")))
            status = rule_fail(number, "expected '-- name: NAME' before a query", line, err);
    }
    if (status == TV_OK)
        status = rules_check_queries(rules, err);
    if (status != TV_OK)
        tv_sql_rules_release(rules);
    return status;
}

void tv_sql_rules_release(struct tv_sql_rules *rules)
{
    tv_free(rules->list);
    *rules = (struct tv_sql_rules){.list = NULL};
}

const struct tv_sql_rule *tv_sql_rules_find(const struct tv_sql_rules *rules, struct tv_bytes name)
{
    for (size_t i = 0; i < rules->count; i++)
        if (tv_bytes_equal(rules->list[i].name, name))
            return &rules->list[i];
    return NULL;
}

/* ---- Asking ---- */

/* Count the rows of an answer in JSON lines. */
static uint64_t rule_count_lines(struct tv_bytes text)
{
    struct tv_bytes line;
    uint64_t count = 0;
    while (tv_bytes_split(&text, '\n', &line))
        count++;
    return count;
}

/* Run the query of a rule. */
static enum tv_status rule_ask(const struct tv_sql_rule *rule, struct tv_sql *sql,
                               struct tv_rule_answer *answer, struct tv_error *err)
{
    struct tv_sql_output how = {.format = TV_SQL_JSONL, .max_rows = TV_SQL_RULE_ROWS + 1};
    struct tv_out query, *rows = &answer->rows;
    tv_out_init_memory(&query);
    tv_out_bytes(&query, rule->query);
    tv_out_char(&query, '\0');
    enum tv_status status = tv_sql_run(sql, (const char *)query.buffer, &how, rows, err);
    tv_out_release(&query);
    if (status != TV_OK)
        return tv_error_prefix(err, "rule %.*s", (int)rule->name.length,
                               (const char *)rule->name.data);
    answer->count = rule_count_lines((struct tv_bytes){rows->buffer, rows->length});
    answer->more = answer->count > TV_SQL_RULE_ROWS;
    if (answer->more) { /* leave the last one out */
        answer->count--;
        do
            rows->length--;
        while (rows->buffer[rows->length - 1] != '\n');
    }
    return TV_OK;
}

/* The answers are released by the caller, also after an error. */
enum tv_status tv_sql_rules_ask(const struct tv_sql_rules *rules,
                                const struct tv_settings *settings, const struct tv_trace *trace,
                                struct tv_rule_answer *answers, struct tv_error *err)
{
    struct tv_sql_options options = {.threads = tv_settings_jobs(settings),
                                     .max_seconds = settings->sql.max_time,
                                     .stuck = tv_command_end_stuck_query};
    struct tv_sql *sql;
    assert(rules->count > 0);
    for (size_t i = 0; i < rules->count; i++) {
        answers[i] = (struct tv_rule_answer){.name = rules->list[i].name,
                                             .text = rules->list[i].text,
                                             .severity = rules->list[i].severity};
        tv_out_init_memory(&answers[i].rows);
    }
    if (settings->input.max_memory != TV_ANY_MEMORY)
        options.max_memory = settings->input.max_memory / 2; /* the other half is for the trace */
    enum tv_status status = tv_sql_open(trace, &options, &sql, err);
    if (status != TV_OK)
        return status;
    for (size_t i = 0; i < rules->count && status == TV_OK; i++)
        status = rule_ask(&rules->list[i], sql, &answers[i], err);
    tv_sql_close(sql);
    return status;
}
