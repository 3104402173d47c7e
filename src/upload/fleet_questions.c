/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fleet_questions.c - questions about the fleet: /api/fleet/QUESTION?NAME=VALUE...
 *
 * Each is one run of `traceview fleet` with --format json, whose output is the answer.  A parameter
 * becomes an option of that command, so the figures are those of the command line by construction.
 * Clients never send SQL.  Answers are kept for the next who asks (fleet_cache.c), and what the
 * page asks first is asked whenever traces were added.
 */
#include <assert.h>
#include <cjson/cJSON.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/bytes.h"
#include "base/encoding.h"
#include "base/map.h"
#include "sql/sql.h"
#include "upload/internal.h"

#define LARGEST_ANSWER ((size_t)16 << 20)
#define QUESTION_SECONDS "10"
#define KILL_SECONDS 20u
#define PREPARE_SECONDS 120u
#define PREPARE_SECONDS_TEXT "100"
#define QUESTION_MEMORY "512M"
/* Questions answered at a time: each is a process that may use its whole memory limit. */
#define MAX_QUESTIONS 2
#define LONGEST_VALUE 1000u
/* More than any question has: tv_query_parse refuses repeated parameters. */
#define MAX_ARGUMENTS 40u
/* Arguments of every question, before its own. */
#define COMMON_ARGUMENTS 11u

/* A parameter of a question, and the option that it becomes. */
struct fleet_parameter {
    const char *name, *option; /* option NULL: the argument after the options */
    bool needed;
};

/* A question that clients may ask. */
struct fleet_question_kind {
    const char *name, *action;
    const char *rows;  /* most of them; NULL: the action has no such option */
    const char *query; /* of the action sql */
    struct fleet_parameter parameters[5];
};

static const struct fleet_question_kind fleet_question_kinds[] = {
    {.name = "versions",
     .action = "sql",
     .rows = "10000",
     .query = "select version, device, scenario, count(*) as traces, "
              "min(coalesce(recorded, added)) as since from trace where error is null group by all "
              "order by since, version, device, scenario"},
    {.name = "labels",
     .action = "sql",
     .rows = "1000",
     /* Program, host and unit are those of --where; of many hosts, those with the most traces. */
     .query =
         "select label, value, count(*) as traces from (select "
         "unnest(['program', 'host', 'unit']) as label, unnest(["
         "coalesce(program, labels['program']), coalesce(host, labels['host']), "
         "coalesce(nullif(unit, 'nanoseconds'), labels['unit'], 'ns')]) as value from trace "
         "where error is null) where value <> '' group by label, value qualify row_number() over "
         "(partition by label order by count(*) desc, value) <= 300 order by label, value"},
    {.name = "methods",
     .action = "sql",
     .rows = "2000",
     /* Names may be long, so numbers are grouped first. */
     .query = "select concat_ws('.', nullif(class, ''), name) as method, "
              "sum(rows)::bigint as traces, sum(size)::double as excl from (select method, "
              "count(*) as rows, sum(excl::hugeint) as size from method group by method) "
              "join method_name using (method) group by all order by excl desc, method"},
    {.name = "trend",
     .action = "trend",
     .rows = "10000",
     .parameters = {{"method", NULL, true},
                    {"figure", "--figure", false},
                    {"where", "--where", false},
                    {"by", "--by", false}}},
    {.name = "trends",
     .action = "trends",
     .rows = "500",
     .parameters = {{"figure", "--figure", false}, {"where", "--where", false}}},
    {.name = "traces",
     .action = "outliers",
     .rows = "5000",
     .parameters = {{"method", NULL, true},
                    {"figure", "--figure", false},
                    {"where", "--where", false},
                    {"by", "--by", false}}},
    {.name = "changes",
     .action = "changes",
     .rows = "5000",
     .parameters = {{"figure", "--figure", false},
                    {"where", "--where", false},
                    {"by", "--by", false},
                    {"since", "--since", false}}},
    {.name = "regressions",
     .action = "regressions",
     .parameters = {{"base", "--base", true},
                    {"new", "--new", true},
                    {"figure", "--figure", false},
                    {"where", "--where", false}}},
    {.name = "flamegraph",
     .action = "flamegraph",
     .parameters = {{"base", "--base", true},
                    {"new", "--new", true},
                    {"figure", "--figure", false},
                    {"where", "--where", false}}},
};

/* Return a question by its name; NULL if there is none. */
static const struct fleet_question_kind *fleet_find_question(struct tv_bytes name)
{
    for (size_t i = 0; i < TV_COUNT(fleet_question_kinds); i++)
        if (tv_bytes_equal(name, tv_bytes_of(fleet_question_kinds[i].name)))
            return &fleet_question_kinds[i];
    return NULL;
}

/* ---- Arguments of the command ---- */

/* The arguments of `traceview`, for posix_spawn. */
struct fleet_arguments {
    const char *items[MAX_ARGUMENTS];
    size_t count;
    const char *last; /* after the options; NULL: none */
    struct tv_arena *arena;
};

/* Append an argument, which must live as long as the list. */
static void fleet_add_argument(struct fleet_arguments *arguments, const char *word)
{
    assert(arguments->count + 1 < MAX_ARGUMENTS);
    arguments->items[arguments->count++] = word;
}

/* Copy a value with a NUL at its end; a NUL inside of it ends it earlier. */
static char *fleet_copy_value(struct tv_arena *arena, struct tv_bytes value)
{
    char *text = tv_arena_alloc(arena, value.length + 1, 1);
    if (value.length > 0)
        memcpy(text, value.data, value.length);
    text[value.length] = '\0';
    return text;
}

/* Return a parameter by its name; NULL if the question has none. */
static const struct fleet_parameter *fleet_find_parameter(const struct fleet_question_kind *kind,
                                                          struct tv_bytes name)
{
    for (size_t i = 0; i < TV_COUNT(kind->parameters) && kind->parameters[i].name; i++)
        if (tv_bytes_equal(name, tv_bytes_of(kind->parameters[i].name)))
            return &kind->parameters[i];
    return NULL;
}

/* Return NULL, or the reason for a refusal. */
static const char *fleet_check_parameters(const struct fleet_question_kind *kind,
                                          const struct tv_query *query)
{
    for (size_t i = 0; i < TV_COUNT(kind->parameters) && kind->parameters[i].name; i++)
        if (kind->parameters[i].needed && !tv_query_find(query, kind->parameters[i].name))
            return "a parameter of this question is missing";
    for (size_t i = 0; i < query->count; i++) {
        const struct tv_bytes value = query->items[i].value;
        if (!fleet_find_parameter(kind, query->items[i].name))
            return "this question has no such parameter";
        if (value.length == 0 || value.length > LONGEST_VALUE)
            return "a value is empty or too long";
    }
    return NULL;
}

/* Turn the parameters, which were checked, into arguments.  Their order is that of the table, so
 * that equal questions have equal arguments. */
static void fleet_take_parameters(const struct fleet_question_kind *kind,
                                  const struct tv_query *query, struct fleet_arguments *arguments)
{
    for (size_t i = 0; i < TV_COUNT(kind->parameters) && kind->parameters[i].name; i++) {
        const struct fleet_parameter *parameter = &kind->parameters[i];
        const struct tv_bytes *value = tv_query_find(query, parameter->name);
        if (!value)
            continue;
        const char *text = fleet_copy_value(arguments->arena, *value);
        if (parameter->option) {
            /* the word after an option is its value, whatever it begins with */
            fleet_add_argument(arguments, parameter->option);
            fleet_add_argument(arguments, text);
        } else {
            arguments->last = text;
        }
    }
}

/* Write the arguments of a question whose parameters were checked. */
static void fleet_write_arguments(const struct fleet_question_kind *kind,
                                  const struct tv_query *query, const char *folder,
                                  const char *seconds, struct fleet_arguments *arguments)
{
    const char *const begin[] = {"fleet", kind->action,   "-q",           "--to",
                                 folder,  "--format",     "json",         "--max-time",
                                 seconds, "--max-memory", QUESTION_MEMORY};
    static_assert(TV_COUNT(begin) == COMMON_ARGUMENTS, "fleet_write_question leaves them out");
    for (size_t i = 0; i < TV_COUNT(begin); i++)
        fleet_add_argument(arguments, begin[i]);
    fleet_take_parameters(kind, query, arguments);
    if (kind->rows) {
        fleet_add_argument(arguments, "--max-rows");
        fleet_add_argument(arguments, kind->rows);
    }
    fleet_add_argument(arguments, "--");
    if (kind->query)
        arguments->last = kind->query;
    if (arguments->last)
        fleet_add_argument(arguments, arguments->last);
    arguments->items[arguments->count] = NULL;
}

/* Write the name of a question for the cache: the words after those that all have in common. */
static void fleet_write_question(const struct fleet_arguments *arguments, struct tv_out *out)
{
    tv_out_format(out, "%s\n", arguments->items[1]);
    for (size_t i = COMMON_ARGUMENTS; i < arguments->count; i++)
        tv_out_format(out, "%zu:%s\n", strlen(arguments->items[i]), arguments->items[i]);
    tv_out_char(out, '\0');
}

/* ---- Answers ---- */

/* Map the end of the command to an HTTP status.  Its exit codes: 0 success; 1 damaged files left
 * out, or a failure; 2 a wrong question; 3 a rule that fired. */
static void fleet_refuse_question(const struct tv_fleet_result *result, struct tv_answer *answer)
{
    static const char *const prefixes[] = {"traceview fleet: ", "traceview: "};
    char message_copy[sizeof result->message];
    snprintf(message_copy, sizeof message_copy, "%s", result->message);
    const char *message = message_copy;
    char *hint = strstr(message_copy, "; see 'traceview ");
    if (hint)
        *hint = '\0'; /* it is for the command line */
    answer->body.length = 0;
    for (size_t i = 0; i < TV_COUNT(prefixes); i++)
        if (strncmp(message, prefixes[i], strlen(prefixes[i])) == 0)
            message += strlen(prefixes[i]);
    if (result->end == TV_FLEET_TOO_LARGE)
        tv_upload_refuse(answer, TV_HTTP_TOO_LARGE,
                         "the answer is too large; ask `traceview fleet` on the server");
    else if (result->end == TV_FLEET_LATE || result->end == TV_FLEET_KILLED ||
             strncmp(message, TV_SQL_NO_MEMORY, sizeof TV_SQL_NO_MEMORY - 1) == 0 ||
             strncmp(message, TV_SQL_NO_TIME, sizeof TV_SQL_NO_TIME - 1) == 0)
        tv_upload_refuse(answer, TV_HTTP_UNAVAILABLE,
                         "the question took too much time or memory; name a label");
    else if (result->end != TV_FLEET_EXITED)
        tv_upload_refuse(answer, TV_HTTP_INTERNAL_ERROR, "the question cannot be answered now");
    else if (strstr(message, "libduckdb"))
        tv_upload_refuse(answer, TV_HTTP_UNAVAILABLE,
                         "this server has no library of DuckDB, which answers questions about a "
                         "fleet; its owner can add it (docs/sql.md)");
    else
        tv_upload_refuse(answer, result->code == 2 ? TV_HTTP_BAD_REQUEST : TV_HTTP_INTERNAL_ERROR,
                         message[0] ? message : "the question cannot be answered");
}

/* Run the command, unless as many as may run do so.  Without an answer, `end`
 * is TV_FLEET_NOT_STARTED and the refusal is written. */
static void fleet_run_question(const struct fleet_arguments *arguments, struct tv_answer *answer,
                               struct tv_fleet_result *result)
{
    static atomic_int running;
    const struct tv_fleet_process process = {
        .arguments = arguments->items, .most_bytes = LARGEST_ANSWER, .seconds = KILL_SECONDS};
    if (atomic_fetch_add(&running, 1) >= MAX_QUESTIONS) {
        atomic_fetch_sub(&running, 1);
        tv_upload_refuse(answer, TV_HTTP_UNAVAILABLE,
                         "other questions are being answered; try again");
        tv_answer_header(answer, "Retry-After", "1");
        result->end = TV_FLEET_NOT_STARTED;
        return;
    }
    tv_fleet_process_run(&process, &answer->body, result);
    atomic_fetch_sub(&running, 1);
    bool has_answer =
        result->end == TV_FLEET_EXITED && result->code <= 1 && answer->body.length > 0;
    if (!has_answer) {
        fleet_refuse_question(result, answer);
        result->end = TV_FLEET_NOT_STARTED;
    }
}

/* Answer from the cache, or by running the command; complete answers are kept. */
static void fleet_answer_question(struct tv_fleet_cache *cache,
                                  const struct fleet_arguments *arguments, struct tv_answer *answer)
{
    struct tv_fleet_result result = {.end = TV_FLEET_EXITED};
    struct tv_out question;
    int64_t state = tv_fleet_cache_state(cache);
    tv_out_init_memory(&question);
    fleet_write_question(arguments, &question);
    const char *name = (const char *)question.buffer;
    if (!tv_fleet_cache_find(cache, name, state, &answer->body)) {
        fleet_run_question(arguments, answer, &result);
        if (result.end == TV_FLEET_EXITED && result.code == 0)
            tv_fleet_cache_keep(cache, name, state,
                                (struct tv_bytes){answer->body.buffer, answer->body.length});
    }
    tv_out_release(&question);
    if (result.end != TV_FLEET_EXITED)
        return;
    answer->type = "application/json";
    if (result.code == 1)
        tv_answer_header(answer, "Warning", "199 traceview \"damaged files were left out\"");
}

/* Refuse unless there is a fleet with at least one batch. */
static bool fleet_is_there(struct tv_upload_request *req, struct tv_answer *answer)
{
    char path[4096];
    if (!req->server->fleet) {
        tv_upload_refuse(answer, TV_HTTP_NOT_FOUND,
                         "this server has no fleet; its owner can start it with --fleet");
        return false;
    }
    snprintf(path, sizeof path, "%s/fleet.json", tv_fleet_queue_folder(req->server->fleet));
    if (access(path, R_OK) == 0)
        return true;
    tv_upload_refuse(answer, TV_HTTP_NOT_FOUND, "the fleet has no trace yet");
    return false;
}

/* Answer GET /api/fleet/QUESTION. */
void tv_upload_ask_fleet(struct tv_upload_request *req, struct tv_answer *answer)
{
    const struct fleet_question_kind *kind = fleet_find_question(req->rest);
    struct fleet_arguments arguments = {.arena = &answer->arena};
    struct tv_query query;
    struct tv_error err = {0};
    if (!kind) {
        tv_upload_refuse(answer, TV_HTTP_NOT_FOUND, "there is no such question about a fleet");
        return;
    }
    if (!fleet_is_there(req, answer))
        return;
    if (tv_query_parse(&query, req->http->query, req->http->query_length, &err) != TV_OK) {
        tv_upload_refuse(answer, TV_HTTP_BAD_REQUEST, err.message);
        return;
    }
    const char *wrong = fleet_check_parameters(kind, &query);
    if (wrong) {
        tv_upload_refuse(answer, TV_HTTP_BAD_REQUEST, wrong);
        return;
    }
    fleet_write_arguments(kind, &query, tv_fleet_queue_folder(req->server->fleet), QUESTION_SECONDS,
                          &arguments);
    fleet_answer_question(tv_fleet_queue_cache(req->server->fleet), &arguments, answer);
}

/* ---- Answers before anybody asks ---- */

/* Ask a question, "NAME=VALUE&...", unless its answer is known; `out` gets the answer. */
static void fleet_prepare_answer(struct tv_fleet_queue *queue, const char *name, const char *text,
                                 const atomic_bool *stop, struct tv_out *out)
{
    struct tv_fleet_cache *cache = tv_fleet_queue_cache(queue);
    const struct fleet_question_kind *kind = fleet_find_question(tv_bytes_of(name));
    struct tv_arena arena;
    struct tv_query query;
    struct tv_error err = {0};
    struct tv_out question;
    struct tv_fleet_result result;
    int64_t state = tv_fleet_cache_state(cache);
    assert(kind);
    tv_arena_init(&arena);
    tv_out_init_memory(&question);
    struct fleet_arguments arguments = {.arena = &arena};
    const struct tv_fleet_process process = {.arguments = arguments.items,
                                             .most_bytes = LARGEST_ANSWER,
                                             .seconds = PREPARE_SECONDS,
                                             .stop = stop};
    uint8_t *copy =
        (uint8_t *)fleet_copy_value(&arena, tv_bytes_of(text)); /* it is decoded there */
    if (tv_query_parse(&query, copy, strlen(text), &err) == TV_OK &&
        !fleet_check_parameters(kind, &query)) {
        fleet_write_arguments(kind, &query, tv_fleet_queue_folder(queue), PREPARE_SECONDS_TEXT,
                              &arguments);
        fleet_write_question(&arguments, &question);
        if (!tv_fleet_cache_find(cache, (const char *)question.buffer, state, out)) {
            tv_fleet_process_run(&process, out, &result);
            if (result.end == TV_FLEET_EXITED && result.code == 0)
                tv_fleet_cache_keep(cache, (const char *)question.buffer, state,
                                    (struct tv_bytes){out->buffer, out->length});
        }
    }
    tv_out_release(&question);
    tv_arena_release(&arena);
}

/* Write a text with every byte as a percent escape. */
static void fleet_put_percent(struct tv_out *out, const char *text)
{
    for (; *text; text++)
        tv_out_format(out, "%%%02X", (unsigned char)*text);
}

/* Write the parameters of the comparison that the page shows first: that of the last two versions,
 * in the order in which the answer to `versions` has them.  False: there are no two. */
static bool fleet_write_last_versions(const struct tv_out *versions, struct tv_out *out)
{
    cJSON *rows = cJSON_ParseWithLength((const char *)versions->buffer, versions->length);
    const char *last = NULL, *before = NULL;
    struct tv_interner *seen = tv_interner_new();
    const cJSON *row;
    cJSON_ArrayForEach(row, rows)
    {
        const char *version = cJSON_GetStringValue(cJSON_GetObjectItem(row, "version"));
        uint32_t count = tv_interner_count(seen);
        if (!version || tv_interner_add(seen, tv_bytes_of(version)) < count)
            continue;
        before = last;
        last = version;
    }
    bool found = before && strlen(before) < LONGEST_VALUE - 10 && strlen(last) < LONGEST_VALUE - 10;
    if (found) {
        tv_out_text(out, "base=version%3D");
        fleet_put_percent(out, before);
        tv_out_text(out, "&new=version%3D");
        fleet_put_percent(out, last);
        tv_out_text(out, "&figure=excl");
        tv_out_char(out, '\0');
    }
    tv_interner_free(seen);
    cJSON_Delete(rows);
    return found;
}

/* Ask in the order in which the page asks: each answer is shown as soon as it
 * is there. */
void tv_fleet_prepare_answers(struct tv_fleet_queue *queue, const atomic_bool *stop)
{
    struct tv_out versions, sides, answer;
    tv_out_init_memory(&versions);
    tv_out_init_memory(&sides);
    tv_out_init_memory(&answer);
    fleet_prepare_answer(queue, "labels", "", stop, &answer);
    answer.length = 0;
    fleet_prepare_answer(queue, "versions", "", stop, &versions);
    if (fleet_write_last_versions(&versions, &sides))
        fleet_prepare_answer(queue, "regressions", (const char *)sides.buffer, stop, &answer);
    static const char *const others[] = {"trends", "changes"};
    for (size_t i = 0; i < TV_COUNT(others) && versions.length > 0; i++) {
        answer.length = 0;
        fleet_prepare_answer(queue, others[i], "figure=excl", stop, &answer);
    }
    tv_out_release(&answer);
    tv_out_release(&sides);
    tv_out_release(&versions);
}

void tv_fleet_prepare_changes(struct tv_fleet_queue *queue, const atomic_bool *stop)
{
    static const char *const questions[] = {"figure=excl",     "figure=incl",  "figure=excl_cpu",
                                            "figure=incl_cpu", "figure=calls", "figure=max",
                                            "figure=p50",      "figure=p95",   "figure=p99"};
    struct tv_out answer;
    tv_out_init_memory(&answer);
    for (size_t i = 0; i < TV_COUNT(questions) && !atomic_load(stop); i++) {
        answer.length = 0;
        fleet_prepare_answer(queue, "changes", questions[i], stop, &answer);
    }
    tv_out_release(&answer);
}
