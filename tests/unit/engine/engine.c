/* SPDX-License-Identifier: Apache-2.0 */
/* engine.c - the server's side, with children that behave well or end in every way a process
 * can. */
#define _GNU_SOURCE
#include "engine/engine.h"

#include <dirent.h>
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/bytes.h"
#include "base/memory.h"
#include "engine/engine_dice.h"
#include "engine/messages.h"
#include "engine/started.h"
#include "unit.h"

static const char *const questions[] = {
    "trace",
    "frames",
    "profile?from=1000000&to=9000000",
    "tiles?from=0&to=200&res=14&rows=r0-3",
    "flame",
    "search?q=demo",
    "findings",
    "facts",
    "flamegraph?thread=1&title=x",
    "collapsed",
    "save?as=json",
    "save?as=trace",
};

/* Ask a view in this process. */
static char *ask_here(const struct tv_view *view, const char *text, size_t *length)
{
    struct tv_view_parameter parameters[8];
    struct tv_bytes rest = tv_bytes_of(text), pair;
    struct tv_view_question question = {.parameters = parameters};
    struct tv_out out;
    struct tv_error err = {0};
    tv_bytes_split(&rest, '?', &question.name);
    while (rest.length > 0) {
        tv_bytes_split(&rest, '&', &pair);
        tv_bytes_split(&pair, '=', &parameters[question.count].name);
        parameters[question.count++].value = pair;
    }
    tv_out_init_memory(&out);
    if (tv_view_answer(view, &question, &out, &err) != TV_OK)
        fail_msg("%s: %s", text, err.message);
    *length = out.length;
    return (char *)out.buffer;
}

struct asker {
    struct tv_engine *engine;
    char *expected[TV_COUNT(questions)];
    size_t lengths[TV_COUNT(questions)];
    bool same;
};

static void *ask_all(void *context)
{
    struct asker *asker = context;
    for (size_t i = 0; i < TV_COUNT(questions); i++) {
        size_t length;
        char *answer = ask_engine(asker->engine, questions[i], TV_ANSWER_OK, &length);
        asker->same &=
            length == asker->lengths[i] && memcmp(answer, asker->expected[i], length) == 0;
        tv_free(answer);
    }
    return NULL;
}

/* Eight clients at once get the bytes that a view in this process gives. */
static void answers_are_those_of_a_view(void **state)
{
    (void)state;
    struct started started;
    struct fixture fixture = engine_dice();
    struct tv_view *view = tv_view_new(fixture.trace);
    struct asker askers[8] = {{.same = true}};
    pthread_t threads[TV_COUNT(askers)];
    prepare(&started);
    start(&started);
    set_trace(&started, "a", "draw");
    askers[0].engine = settle(&started, "a", TV_ENGINE_READY);
    for (size_t i = 0; i < TV_COUNT(questions); i++)
        askers[0].expected[i] = ask_here(view, questions[i], &askers[0].lengths[i]);
    for (size_t i = 1; i < TV_COUNT(askers); i++)
        askers[i] = askers[0];
    for (size_t i = 0; i < TV_COUNT(askers); i++)
        assert_int_equal(pthread_create(&threads[i], NULL, ask_all, &askers[i]), 0);
    for (size_t i = 0; i < TV_COUNT(askers); i++) {
        pthread_join(threads[i], NULL);
        assert_true(askers[i].same);
    }
    for (size_t i = 0; i < TV_COUNT(questions); i++)
        tv_free(askers[0].expected[i]);
    tv_engine_close(askers[0].engine);
    finish(&started);
    tv_view_free(view);
    fixture_free(&fixture);
}

static void assert_refused(struct tv_engine *engine, const char *question,
                           enum tv_answer_status expected, const char *words)
{
    char *answer = ask_engine(engine, question, expected, NULL);
    if (!strstr(answer, words))
        fail_msg("%s: %s", question, answer);
    tv_free(answer);
}

static void wrong_questions_have_a_status(void **state)
{
    (void)state;
    struct started started;
    prepare(&started);
    start(&started);
    set_trace(&started, "a", "draw");
    struct tv_engine *engine = settle(&started, "a", TV_ENGINE_READY);
    assert_refused(engine, "quit", TV_ANSWER_UNKNOWN, "{\"error\":\"there is no such question\"}");
    assert_refused(engine, "profile?from=x", TV_ANSWER_WRONG, "{\"error\":\"from: ");
    assert_refused(engine, "profile?filter=name:c dur>x", TV_ANSWER_WRONG, ",\"column\":");
    assert_refused(engine, "trace?trace=x", TV_ANSWER_OTHER_TRACE, "{\"error\":");
    assert_refused(engine, "flamegraph", TV_ANSWER_OK, "a.trace");
    assert_refused(engine, "flamegraph?title=own", TV_ANSWER_OK, "own");
    assert_refused(engine, "trace?trace=2", TV_ANSWER_OTHER_TRACE, "{\"error\":");
    assert_refused(engine, "trace?trace=1", TV_ANSWER_OK, "{\"protocol\":1");
    assert_refused(engine, "status", TV_ANSWER_OK, "{\"state\":\"ready\",\"name\":\"a.trace\"");
    tv_engine_close(engine);
    finish(&started);
}

static void questions_wait_for_the_trace(void **state)
{
    (void)state;
    struct started started;
    struct tv_engine_status status;
    prepare(&started);
    start(&started);
    set_trace(&started, "a", "wait");
    struct tv_engine *engine = tv_engine_open(started.engines, "a");
    do
        tv_engine_get_status(engine, &status);
    while (status.bytes != 250);
    assert_int_equal(status.state, TV_ENGINE_LOADING);
    assert_int_equal(status.total_bytes, 1000);
    assert_int_equal(tv_engine_wait(engine, 1), TV_ENGINE_LOADING);
    assert_refused(engine, "trace", TV_ANSWER_NOT_READY, "{\"error\":");
    assert_refused(engine, "status", TV_ANSWER_OK, "{\"state\":\"loading\",\"name\":\"a.trace\"");
    assert_refused(engine, "status", TV_ANSWER_OK, "\"bytes\":250,\"total_bytes\":1000,");
    set_trace(&started, "a", "draw");
    assert_int_equal(tv_engine_wait(engine, 300000), TV_ENGINE_READY);
    assert_refused(engine, "trace", TV_ANSWER_OK, "{\"protocol\":1");
    tv_engine_close(engine);
    finish(&started);
}

/* A client disconnects in the middle of an answer; the next one gets all of it. */
static void readers_may_disconnect(void **state)
{
    (void)state;
    struct started started;
    struct tv_view_parameter as = {TV_BYTES("as"), TV_BYTES("json")};
    struct tv_view_question question = {TV_BYTES("save"), &as, 1};
    struct tv_error err = {0};
    char buffer[10];
    size_t got;
    prepare(&started);
    start(&started);
    set_trace(&started, "a", "draw");
    struct tv_engine *engine = settle(&started, "a", TV_ENGINE_READY);
    for (int i = 0; i < 2 * TV_ENGINE_QUESTIONS; i++) {
        struct tv_engine_answer *answer = tv_engine_ask(engine, &question);
        assert_int_equal(tv_engine_answer_type(answer), TV_ANSWER_BYTES);
        if (i % 2)
            assert_int_equal(tv_engine_answer_read(answer, buffer, sizeof buffer, &got, &err),
                             TV_OK);
        tv_engine_answer_free(answer);
    }
    tv_free(ask_engine(engine, "trace", TV_ANSWER_OK, NULL));
    tv_engine_close(engine);
    finish(&started);
}

/* Answers that nobody reads do not delay others, until there are too many. */
static void too_many_questions_are_refused(void **state)
{
    (void)state;
    struct started started;
    struct tv_view_parameter as = {TV_BYTES("as"), TV_BYTES("json")};
    struct tv_view_question question = {TV_BYTES("save"), &as, 1};
    struct tv_engine_answer *answers[TV_ENGINE_QUESTIONS];
    prepare(&started);
    start(&started);
    set_trace(&started, "a", "draw");
    struct tv_engine *engine = settle(&started, "a", TV_ENGINE_READY);
    for (int i = 0; i < TV_ENGINE_QUESTIONS; i++) {
        answers[i] = tv_engine_ask(engine, &question);
        assert_int_equal(tv_engine_answer_status(answers[i]), TV_ANSWER_OK);
    }
    assert_refused(engine, "trace", TV_ANSWER_BUSY, "too many questions");
    tv_engine_close(engine); /* the answers keep it alive */
    for (int i = 0; i < TV_ENGINE_QUESTIONS; i++)
        tv_engine_answer_free(answers[i]);
    finish(&started);
}

static void unreadable_traces_say_why(void **state)
{
    (void)state;
    struct started started;
    struct tv_engine_status status;
    prepare(&started);
    start(&started);
    set_trace(&started, "a", "fail");
    struct tv_engine *engine = settle(&started, "a", TV_ENGINE_FAILED);
    tv_engine_get_status(engine, &status);
    assert_ended(engine, "syntax", "no trace");
    assert_int_equal(status.error.offset, 7);
    assert_non_null(status.remedy);
    assert_refused(engine, "status", TV_ANSWER_OK,
                   "\"error\":{\"message\":\"byte 7: no trace\",\"kind\":\"syntax\",\"offset\":7}");
    assert_refused(engine, "trace", TV_ANSWER_NOT_READY, "{\"error\":");
    /* it is not read again and again */
    struct tv_engine *again = tv_engine_open(started.engines, "a");
    assert_ptr_equal(again, engine);
    tv_engine_close(again);
    tv_engines_end(started.engines, "a");
    set_trace(&started, "a", "draw");
    again = settle(&started, "a", TV_ENGINE_READY);
    tv_engine_close(again);
    tv_engine_close(engine);
    engine = settle(&started, "not-there", TV_ENGINE_FAILED);
    assert_ended(engine, "io", "it is not here");
    tv_engine_close(engine);
    finish(&started);
}

static void assert_dies(const char *text, const char *words)
{
    struct started started;
    prepare(&started);
    started.options.load_seconds = 1;
    started.options.memory_bytes = UINT64_C(100) << 20;
    start(&started);
    set_trace(&started, "a", text);
    struct tv_engine *engine = settle(&started, "a", TV_ENGINE_DIED);
    assert_ended(engine, "died", words);
    assert_refused(engine, "status", TV_ANSWER_OK, "\"state\":\"error\"");
    tv_engine_close(engine);
    finish(&started);
    assert_non_null(strstr(started.lines, words));
}

static void deaths_are_explained(void **state)
{
    (void)state;
    assert_dies("spin", "it took more than 1 second of processor time");
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__) && !defined(__clang__)
    assert_dies("eat", "it needed more memory than its limit of 100 MiB");
    assert_dies("crash", "ended by signal 11");
#endif
}

static void forbidden_calls_are_refused(void **state)
{
    (void)state;
    struct started started;
    prepare(&started);
    start(&started);
    unsigned parts = tv_engines_sandbox(started.engines);
    assert_true(parts & TV_SANDBOX_LIMITS);
    if (parts & (TV_SANDBOX_LANDLOCK | TV_SANDBOX_SECCOMP)) {
        set_trace(&started, "a", "open");
        struct tv_engine *engine = settle(&started, "a", TV_ENGINE_FAILED);
        assert_ended(engine, "usage", "open: Permission denied");
        tv_engine_close(engine);
    }
    const char *sentence;
    size_t lacks = 0;
    while (tv_engines_sandbox_missing(started.engines, lacks, &sentence))
        lacks++;
    assert_int_equal(lacks, !(parts & TV_SANDBOX_SECCOMP) + !(parts & TV_SANDBOX_LANDLOCK));
    finish(&started);
    if (!(parts & TV_SANDBOX_SECCOMP))
        return;
    static const char *const words[] = {"socket", "fork", "exec", "kill"};
    for (size_t i = 0; i < TV_COUNT(words); i++)
        assert_dies(words[i], "it tried what the sandbox forbids");
}

/* Lines of a child are logged, without control characters and up to a limit. */
static void a_child_does_not_fill_the_log(void **state)
{
    (void)state;
    struct started started;
    prepare(&started);
    start(&started);
    set_trace(&started, "a", "talk");
    struct tv_engine *engine = settle(&started, "a", TV_ENGINE_READY);
    tv_engine_close(engine);
    finish(&started);
    assert_non_null(strstr(started.lines, "a: line 0??[31m\n"));
    assert_non_null(strstr(started.lines, "a: line 99??[31m\n"));
    assert_null(strstr(started.lines, "line 100?"));
}

#define TRACES 20

struct visit {
    struct started *started;
    char id[8];
    bool well;
};

static void *visit(void *context)
{
    struct visit *visit = context;
    struct tv_engine *engine = tv_engine_open(visit->started->engines, visit->id);
    if (tv_engine_wait(engine, 300000) == TV_ENGINE_READY) {
        tv_free(ask_engine(engine, "trace", TV_ANSWER_OK, NULL));
        visit->well = true;
    }
    tv_engine_close(engine);
    return NULL;
}

/* Twenty engines are wanted at once: three exist at a time, and all are served. */
static void many_engines_take_turns(void **state)
{
    (void)state;
    struct started started;
    struct visit visits[TRACES];
    pthread_t threads[TRACES];
    struct tv_engines_counts counts;
    prepare(&started);
    started.options.alive = 3;
    started.options.loading = 2;
    start(&started);
    for (int i = 0; i < TRACES; i++) {
        visits[i] = (struct visit){.started = &started};
        snprintf(visits[i].id, sizeof visits[i].id, "t%d", i);
        set_trace(&started, visits[i].id, "draw");
        assert_int_equal(pthread_create(&threads[i], NULL, visit, &visits[i]), 0);
    }
    do {
        tv_engines_count(started.engines, &counts);
        assert_true(counts.loading <= 2);
        assert_true(counts.loading + counts.ready <= 3);
        poll(NULL, 0, 1);
    } while (counts.started < TRACES);
    for (int i = 0; i < TRACES; i++) {
        pthread_join(threads[i], NULL);
        assert_true(visits[i].well);
    }
    tv_engines_count(started.engines, &counts);
    assert_int_equal(counts.died, 0);
    finish(&started);
}

static void held_engines_are_not_evicted(void **state)
{
    (void)state;
    struct started started;
    prepare(&started);
    started.options.alive = 1;
    start(&started);
    set_trace(&started, "a", "draw");
    set_trace(&started, "b", "draw");
    struct tv_engine *a = settle(&started, "a", TV_ENGINE_READY);
    struct tv_engine *b = tv_engine_open(started.engines, "b");
    assert_int_equal(tv_engine_wait(b, 300), TV_ENGINE_WAITING);
    assert_refused(b, "status", TV_ANSWER_OK, "{\"state\":\"loading\",");
    assert_refused(b, "trace", TV_ANSWER_NOT_READY, "{\"error\":");
    tv_free(ask_engine(a, "trace", TV_ANSWER_OK, NULL));
    tv_engine_close(a);
    assert_int_equal(tv_engine_wait(b, 300000), TV_ENGINE_READY);
    tv_engine_close(b);
    /* and back */
    a = settle(&started, "a", TV_ENGINE_READY);
    tv_engine_close(a);
    finish(&started);
}

static void idle_engines_end(void **state)
{
    (void)state;
    struct started started;
    struct tv_engines_counts counts;
    prepare(&started);
    started.options.idle_seconds = 1;
    start(&started);
    set_trace(&started, "a", "draw");
    struct tv_engine *engine = settle(&started, "a", TV_ENGINE_READY);
    tv_engine_close(engine);
    do {
        poll(NULL, 0, 10);
        tv_engines_count(started.engines, &counts);
    } while (counts.ready > 0);
    assert_int_equal(counts.died, 0);
    finish(&started);
}

static void holders_see_that_an_engine_ended(void **state)
{
    (void)state;
    struct started started;
    struct tv_engine_status status;
    prepare(&started);
    start(&started);
    set_trace(&started, "a", "draw");
    struct tv_engine *engine = settle(&started, "a", TV_ENGINE_READY);
    tv_engines_end(started.engines, "a");
    /* its process is gone at once, and with it the last descriptor of the trace's file */
    tv_engine_get_status(engine, &status);
    assert_int_equal(status.state, TV_ENGINE_DIED);
    assert_refused(engine, "trace", TV_ANSWER_NOT_READY, "{\"error\":");
    assert_ended(engine, "died", "the server has ended it");
    struct tv_engine *fresh = settle(&started, "a", TV_ENGINE_READY);
    assert_ptr_not_equal(fresh, engine);
    tv_free(ask_engine(fresh, "trace", TV_ANSWER_OK, NULL));
    tv_engine_close(fresh);
    tv_engine_close(engine);
    finish(&started);
}

static void bad_programs_are_reported(void **state)
{
    (void)state;
    struct started started;
    struct tv_error err = {0};
    prepare(&started);
    started.options.program = "/bin/true";
    assert_int_not_equal(tv_engines_new(&started.options, &started.engines, &err), TV_OK);
    assert_non_null(strstr(err.message, "does not start"));
    started.options.program = NULL; /* this program, which reads no traces */
    assert_int_not_equal(tv_engines_new(&started.options, &started.engines, &err), TV_OK);
    assert_non_null(strstr(err.message, "does not start"));
    started.options.program = "/not/there";
    assert_int_not_equal(tv_engines_new(&started.options, &started.engines, &err), TV_OK);
    started.engines = NULL;
    finish(&started);
}

/* Return the first child of any thread of a process; 0: none. */
static pid_t child_of(pid_t pid)
{
    char path[300];
    pid_t found = 0;
    snprintf(path, sizeof path, "/proc/%d/task", (int)pid);
    DIR *tasks = opendir(path);
    for (struct dirent *task = readdir(tasks); task && found == 0; task = readdir(tasks)) {
        int number = 0;
        snprintf(path, sizeof path, "/proc/%d/task/%s/children", (int)pid, task->d_name);
        FILE *file = fopen(path, "r");
        if (file && fscanf(file, "%d", &number) == 1)
            found = number;
        if (file)
            fclose(file);
    }
    closedir(tasks);
    return found;
}

/* Return true when the process is gone or a zombie. */
static bool is_gone(pid_t pid)
{
    char path[64], state = 'Z';
    snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
    FILE *file = fopen(path, "r");
    if (!file)
        return true;
    if (fscanf(file, "%*d (%*[^)]) %c", &state) != 1)
        state = 'Z';
    fclose(file);
    return state == 'Z' || state == 'X';
}

static void run_server(struct started *started, int ready)
{
    start(started);
    struct tv_engine *engine = tv_engine_open(started->engines, "a");
    struct tv_engine_status status;
    do
        tv_engine_get_status(engine, &status);
    while (status.bytes != 250);
    if (write(ready, "r", 1) == 1)
        pause();
    _exit(1);
}

/* A server that is killed takes its children with it. */
static void children_end_with_the_server(void **state)
{
    (void)state;
    struct started started;
    int ready[2];
    char byte;
    prepare(&started);
    set_trace(&started, "a", "wait");
    assert_int_equal(pipe(ready), 0);
    pid_t server = fork();
    if (server == 0)
        run_server(&started, ready[1]);
    assert_int_equal(read(ready[0], &byte, 1), 1);
    pid_t child = child_of(server);
    assert_true(child > 0);
    assert_false(is_gone(child));
    kill(server, SIGKILL);
    assert_int_equal(waitpid(server, NULL, 0), server);
    while (!is_gone(child))
        poll(NULL, 0, 5);
    close(ready[0]);
    close(ready[1]);
    char command[4096];
    /* the server had no time for this */
    snprintf(command, sizeof command, "%s/a.1", started.folder);
    assert_int_equal(rmdir(command), 0);
    finish(&started);
}

/* A trace that was read once comes from its index, with the same answers. */
static void an_index_is_kept_and_used(void **state)
{
    (void)state;
    struct started started;
    struct tv_engine_status status;
    prepare(&started);
    started.keeps_index = true;
    start(&started);
    set_trace(&started, "a", "draw");
    struct tv_engine *engine = settle(&started, "a", TV_ENGINE_READY);
    while (atomic_load(&started.indexed) == 0)
        poll(NULL, 0, 1);
    assert_int_equal(atomic_load(&started.whole), 1);
    tv_engine_get_status(engine, &status);
    assert_false(status.from_index);
    char *before = ask_engine(engine, "save?as=json", TV_ANSWER_OK, NULL);
    tv_engine_close(engine);
    tv_engines_end(started.engines, "a");
    engine = settle(&started, "a", TV_ENGINE_READY);
    tv_engine_get_status(engine, &status);
    assert_true(status.from_index);
    char *after = ask_engine(engine, "save?as=json", TV_ANSWER_OK, NULL);
    assert_string_equal(before, after);
    tv_free(before);
    tv_free(after);
    /* it needs no new index, and reports that */
    while (atomic_load(&started.indexed) < 2)
        poll(NULL, 0, 1);
    assert_int_equal(atomic_load(&started.whole), 1);
    tv_engine_close(engine);
    finish(&started);
}

/* Bytes that are no index, or none at all: the trace is read, and its index made anew. */
static void damaged_indexes_are_made_anew(void **state)
{
    (void)state;
    static const char *const texts[] = {"no index", ""};
    struct started started;
    struct tv_engine_status status;
    prepare(&started);
    started.keeps_index = true;
    start(&started);
    for (unsigned i = 0; i < TV_COUNT(texts); i++) {
        char id[8], index[24];
        snprintf(id, sizeof id, "t%u", i);
        snprintf(index, sizeof index, "%s.index", id);
        set_trace(&started, id, "draw");
        set_trace(&started, index, texts[i]);
        struct tv_engine *engine = settle(&started, id, TV_ENGINE_READY);
        tv_engine_get_status(engine, &status);
        assert_false(status.from_index);
        while (atomic_load(&started.whole) <= i)
            poll(NULL, 0, 1);
        tv_engine_close(engine);
    }
    finish(&started);
    assert_non_null(strstr(started.lines, "t0: the index is made anew: "));
    assert_non_null(strstr(started.lines, "t1: the index is made anew: "));
}

/* A child that dies while it loads leaves no index, and that is reported. */
static void dead_children_leave_no_index(void **state)
{
    (void)state;
    struct started started;
    prepare(&started);
    started.keeps_index = true;
    start(&started);
    set_trace(&started, "a", "lie x");
    struct tv_engine *engine = settle(&started, "a", TV_ENGINE_DIED);
    while (atomic_load(&started.indexed) == 0)
        poll(NULL, 0, 1);
    assert_int_equal(atomic_load(&started.whole), 0);
    tv_engine_close(engine);
    finish(&started);
}

/* The child inherits its directory and the settings of sanitizers, and nothing else. */
static void environments_are_not_inherited(void **state)
{
    (void)state;
    struct started started;
    struct tv_engine_status status;
    setenv("TSAN_OPTIONS", "halt_on_error=1", 0);
    setenv("SECRET", "token", 1);
    prepare(&started);
    start(&started);
    set_trace(&started, "a", "env");
    struct tv_engine *engine = settle(&started, "a", TV_ENGINE_FAILED);
    tv_engine_get_status(engine, &status);
    assert_ptr_equal(strstr(status.error.message, "TMPDIR="), status.error.message);
    assert_non_null(strstr(status.error.message, ";TSAN_OPTIONS="));
    assert_null(strstr(status.error.message, "SECRET"));
    assert_null(strstr(status.error.message, "PATH="));
    tv_engine_close(engine);
    finish(&started);
    unsetenv("SECRET");
}

/* A long line without an end reaches the log in parts, without control characters. */
static void long_lines_reach_the_log(void **state)
{
    (void)state;
    struct started started;
    size_t tildes = 0; /* no report of a sanitizer has them */
    prepare(&started);
    start(&started);
    set_trace(&started, "a", "mutter");
    tv_engine_close(settle(&started, "a", TV_ENGINE_DIED));
    finish(&started);
    for (const char *at = started.lines; *at; at++) {
        assert_true((unsigned char)*at >= ' ' || *at == '\n');
        assert_int_not_equal(*at, 0x7f);
        tildes += *at == '~';
    }
    assert_int_equal(tildes, 3000);
    assert_non_null(strstr(started.lines, "??"));
}

static void long_questions_are_refused_here(void **state)
{
    (void)state;
    struct started started;
    static char profile[TV_ENGINE_QUESTION_SIZE + 40] = "profile?filter=",
                                                  status[sizeof profile] = "status?filter=";
    memset(profile + strlen(profile), 'a', TV_ENGINE_QUESTION_SIZE);
    memset(status + strlen(status), 'a', TV_ENGINE_QUESTION_SIZE);
    prepare(&started);
    start(&started);
    set_trace(&started, "a", "draw");
    struct tv_engine *engine = settle(&started, "a", TV_ENGINE_READY);
    assert_refused(engine, profile, TV_ANSWER_WRONG, "the question is too long");
    /* the server answers by itself, so that the page asks again */
    assert_refused(engine, status, TV_ANSWER_OK, "{\"state\":\"loading\"");
    assert_refused(engine, "trace", TV_ANSWER_OK, "{\"protocol\":1");
    tv_engine_answer_free(NULL);
    tv_engine_close(engine);
    finish(&started);
}

/* A host that wants to hear nothing, and traces that are read or not. */
static void hosts_may_hear_nothing(void **state)
{
    (void)state;
    struct started started;
    prepare(&started);
    started.options.host.indexed = NULL;
    started.options.host.said = NULL;
    started.options.host.changed = NULL;
    started.keeps_index = true;
    start(&started);
    static const char *const texts[] = {"draw", "fail", "crash", "talk"};
    static const enum tv_engine_state states[] = {TV_ENGINE_READY, TV_ENGINE_FAILED, TV_ENGINE_DIED,
                                                  TV_ENGINE_READY};
    for (size_t i = 0; i < TV_COUNT(texts); i++) {
        set_trace(&started, texts[i], texts[i]);
        tv_engine_close(settle(&started, texts[i], states[i]));
    }
    finish(&started);
    assert_string_equal(started.lines, "");
}

UNIT_TESTS(
    engine, cmocka_unit_test(damaged_indexes_are_made_anew),
    cmocka_unit_test(environments_are_not_inherited), cmocka_unit_test(long_lines_reach_the_log),
    cmocka_unit_test(hosts_may_hear_nothing), cmocka_unit_test(long_questions_are_refused_here),
    cmocka_unit_test(an_index_is_kept_and_used), cmocka_unit_test(dead_children_leave_no_index),
    cmocka_unit_test(answers_are_those_of_a_view), cmocka_unit_test(wrong_questions_have_a_status),
    cmocka_unit_test(questions_wait_for_the_trace), cmocka_unit_test(readers_may_disconnect),
    cmocka_unit_test(too_many_questions_are_refused), cmocka_unit_test(unreadable_traces_say_why),
    cmocka_unit_test(deaths_are_explained), cmocka_unit_test(forbidden_calls_are_refused),
    cmocka_unit_test(a_child_does_not_fill_the_log), cmocka_unit_test(many_engines_take_turns),
    cmocka_unit_test(held_engines_are_not_evicted), cmocka_unit_test(idle_engines_end),
    cmocka_unit_test(holders_see_that_an_engine_ended), cmocka_unit_test(bad_programs_are_reported),
    cmocka_unit_test(children_end_with_the_server));
