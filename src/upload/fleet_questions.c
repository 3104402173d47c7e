/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fleet_questions.c - questions about the fleet: /api/fleet/QUESTION?NAME=VALUE...
 *
 * Each is one run of `traceview fleet` with --format json, whose output is the answer.  A parameter
 * becomes an option of that command, so the figures are those of the command line by construction.
 * Clients never send SQL.
 */
#include <assert.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/bytes.h"
#include "base/encoding.h"
#include "upload/internal.h"

#define LARGEST_ANSWER ((size_t)16 << 20)
#define QUESTION_SECONDS "10"
#define KILL_SECONDS 20u
#define QUESTION_MEMORY "512M"
/* Questions answered at a time: each is a process that may use its whole memory limit. */
#define MAX_QUESTIONS 2
#define LONGEST_VALUE 1000u
/* More than any question has: tv_query_parse refuses repeated parameters. */
#define MAX_ARGUMENTS 40u

struct fleet_parameter {
    const char *name, *option; /* option NULL: the argument after the options */
    bool needed;
};

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
              "min(coalesce(recorded, added)) as since from trace group by all "
              "order by since, version, device, scenario"},
    {.name = "methods",
     .action = "sql",
     .rows = "2000",
     .query = "select concat_ws('.', nullif(class, ''), name) as method, count(*) as traces, "
              "sum(excl)::double as excl from method join method_name using (method) "
              "group by all order by excl desc, method"},
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

static const struct fleet_question_kind *fleet_find_question(struct tv_bytes name)
{
    for (size_t i = 0; i < TV_COUNT(fleet_question_kinds); i++)
        if (tv_bytes_equal(name, tv_bytes_of(fleet_question_kinds[i].name)))
            return &fleet_question_kinds[i];
    return NULL;
}

/* ---- Arguments of the command ---- */

struct fleet_arguments {
    const char *items[MAX_ARGUMENTS];
    size_t count;
    const char *last; /* after the options; NULL: none */
    struct tv_arena *arena;
};

static void fleet_add_argument(struct fleet_arguments *arguments, const char *word)
{
    assert(arguments->count + 1 < MAX_ARGUMENTS);
    arguments->items[arguments->count++] = word;
}

static const char *fleet_copy_value(struct tv_arena *arena, struct tv_bytes value)
{
    char *text = tv_arena_alloc(arena, value.length + 1, 1);
    if (value.length > 0)
        memcpy(text, value.data, value.length);
    text[value.length] = '\0';
    return text;
}

static const struct fleet_parameter *fleet_find_parameter(const struct fleet_question_kind *kind,
                                                          struct tv_bytes name)
{
    for (size_t i = 0; i < TV_COUNT(kind->parameters) && kind->parameters[i].name; i++)
        if (tv_bytes_equal(name, tv_bytes_of(kind->parameters[i].name)))
            return &kind->parameters[i];
    return NULL;
}

/* Turn the request's parameters into arguments.  Return NULL, or the reason for a refusal. */
static const char *fleet_take_parameters(const struct fleet_question_kind *kind,
                                         const struct tv_query *query,
                                         struct fleet_arguments *arguments)
{
    for (size_t i = 0; i < TV_COUNT(kind->parameters) && kind->parameters[i].name; i++)
        if (kind->parameters[i].needed && !tv_query_find(query, kind->parameters[i].name))
            return "a parameter of this question is missing";
    for (size_t i = 0; i < query->count; i++) {
        const struct fleet_parameter *parameter = fleet_find_parameter(kind, query->items[i].name);
        const struct tv_bytes value = query->items[i].value;
        if (!parameter)
            return "this question has no such parameter";
        if (value.length == 0 || value.length > LONGEST_VALUE)
            return "a value is empty or too long";
        const char *text = fleet_copy_value(arguments->arena, value);
        if (parameter->option) {
            /* the word after an option is its value, whatever it begins with */
            fleet_add_argument(arguments, parameter->option);
            fleet_add_argument(arguments, text);
        } else {
            arguments->last = text;
        }
    }
    return NULL;
}

static void fleet_complete_arguments(const struct fleet_question_kind *kind,
                                     struct fleet_arguments *arguments)
{
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

/* ---- Answers ---- */

/* Map the end of the command to an HTTP status.  Its exit codes: 0 success; 1 damaged files left
 * out, or a failure; 2 a wrong question; 3 a rule that fired. */
static void fleet_refuse_question(const struct tv_fleet_result *result, struct tv_answer *answer)
{
    static const char prefix[] = "traceview fleet: ";
    char message_copy[sizeof result->message];
    snprintf(message_copy, sizeof message_copy, "%s", result->message);
    const char *message = message_copy;
    char *hint = strstr(message_copy, "; see 'traceview ");
    if (hint)
        *hint = '\0'; /* it is for the command line */
    answer->body.length = 0;
    if (strncmp(message, prefix, sizeof prefix - 1) == 0)
        message += sizeof prefix - 1;
    if (result->end == TV_FLEET_TOO_LARGE)
        tv_upload_refuse(answer, TV_HTTP_TOO_LARGE,
                         "the answer is too large; ask `traceview fleet` on the server");
    else if (result->end == TV_FLEET_LATE || result->end == TV_FLEET_KILLED)
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

static void fleet_answer_question(const struct fleet_arguments *arguments, struct tv_answer *answer)
{
    static atomic_int running;
    struct tv_fleet_result result;
    const struct tv_fleet_process process = {
        .arguments = arguments->items, .most_bytes = LARGEST_ANSWER, .seconds = KILL_SECONDS};
    if (atomic_fetch_add(&running, 1) >= MAX_QUESTIONS) {
        atomic_fetch_sub(&running, 1);
        tv_upload_refuse(answer, TV_HTTP_UNAVAILABLE,
                         "other questions are being answered; try again");
        tv_answer_header(answer, "Retry-After", "1");
        return;
    }
    tv_fleet_process_run(&process, &answer->body, &result);
    atomic_fetch_sub(&running, 1);
    bool has_answer = result.end == TV_FLEET_EXITED && result.code <= 1 && answer->body.length > 0;
    if (!has_answer) {
        fleet_refuse_question(&result, answer);
        return;
    }
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
    const char *const begin[] = {"fleet",
                                 kind->action,
                                 "-q",
                                 "--to",
                                 tv_fleet_queue_folder(req->server->fleet),
                                 "--format",
                                 "json",
                                 "--max-time",
                                 QUESTION_SECONDS,
                                 "--max-memory",
                                 QUESTION_MEMORY};
    for (size_t i = 0; i < TV_COUNT(begin); i++)
        fleet_add_argument(&arguments, begin[i]);
    const char *wrong = fleet_take_parameters(kind, &query, &arguments);
    if (wrong) {
        tv_upload_refuse(answer, TV_HTTP_BAD_REQUEST, wrong);
        return;
    }
    fleet_complete_arguments(kind, &arguments);
    fleet_answer_question(&arguments, answer);
}
