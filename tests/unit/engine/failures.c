/* SPDX-License-Identifier: Apache-2.0 */
/*
 * failures.c - each system call of the server's side or of a child fails in turn. An interrupted
 * call changes nothing; another failure is an error, and the next trace can be read. In the end no
 * process, file or descriptor is left.
 */
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/bytes.h"
#include "base/memory.h"
#include "engine/refused.h"
#include "engine/started.h"
#include "unit.h"

/* Sanitizers take ten times as long. */
#ifdef SANITIZED
#define MAX_CALLS 2
#define THREADS REFUSED_POLL /* threads do not fail there (refused.c) */
#else
#define MAX_CALLS 6
#define THREADS REFUSED_THREAD
#endif

struct failure {
    enum refused_call call;
    int error;
};

static unsigned count_descriptors(void)
{
    unsigned count = 0;
    DIR *folder = opendir("/proc/self/fd");
    assert_non_null(folder);
    while (readdir(folder))
        count++;
    closedir(folder);
    return count;
}

/* Ask for the profile. Return whether the answer is whole; one that is not has another status, or
 * an error within. */
static bool is_answered(struct tv_engine *engine)
{
    struct tv_view_question question = {.name = TV_BYTES("profile")};
    struct tv_engine_answer *answer = tv_engine_ask(engine, &question);
    struct tv_out all;
    struct tv_error err = {0};
    enum tv_status status = TV_OK;
    char buffer[3000];
    size_t got = 1;
    tv_out_init_memory(&all);
    while (status == TV_OK && got > 0) {
        status = tv_engine_answer_read(answer, buffer, sizeof buffer, &got, &err);
        if (status == TV_OK)
            tv_out_bytes(&all, (struct tv_bytes){(const uint8_t *)buffer, got});
    }
    assert_true(all.length > 0 || status != TV_OK);
    assert_true(status == TV_OK || err.message[0] != '\0');
    bool whole = status == TV_OK && tv_engine_answer_status(answer) == TV_ANSWER_OK;
    /* A whole answer is JSON from its first to its last byte. */
    if (whole)
        assert_true(all.buffer[0] == '{' && all.buffer[all.length - 1] == '}');
    tv_out_release(&all);
    tv_engine_answer_free(answer);
    return whole;
}

/* Read a trace whose text is `text`, and ask about it. Return whether all went well. */
static bool read_and_ask(struct started *started, const char *id, const char *text)
{
    struct tv_engine_status status;
    set_trace(started, id, text);
    struct tv_engine *engine = tv_engine_open(started->engines, id);
    enum tv_engine_state state = tv_engine_wait(engine, 300000);
    bool good = state == TV_ENGINE_READY;
    if (good)
        good = is_answered(engine) && is_answered(engine);
    tv_engine_get_status(engine, &status);
    if (status.state == TV_ENGINE_FAILED || status.state == TV_ENGINE_DIED)
        assert_true(status.error.message[0] != '\0' && status.kind != NULL);
    else
        assert_true(state == TV_ENGINE_READY || state == TV_ENGINE_LOADING);
    tv_engine_close(engine);
    return good;
}

static void assert_good(bool good, const struct failure *failure, const char *where, long at)
{
    if (!good)
        fail_msg("%s: %s %ld: %s", where, refused_name(failure->call), at,
                 strerror(failure->error));
}

/* ---- The server's side ---- */

/* Let the n-th call of the server fail from its start on. Return whether there was one. */
static bool fail_in_server(const struct failure *failure, long at)
{
    struct started started;
    struct tv_error err = {0};
    bool good = true;
    unsigned before = count_descriptors();
    prepare(&started);
    started.keeps_index = true;
    refused_arm(failure->call, at, failure->error);
    if (tv_engines_new(&started.options, &started.engines, &err) != TV_OK) {
        assert_true(err.message[0] != '\0');
        good = false;
        started.engines = NULL;
    } else {
        good = read_and_ask(&started, "a", "draw");
    }
    bool failed = refused_disarm();
    if (failure->error == EINTR || !failed)
        assert_good(good, failure, "server", at);
    if (started.engines)
        assert_good(read_and_ask(&started, "b", "draw"), failure, "the next trace", at);
    finish(&started);
    assert_int_equal(count_descriptors(), before);
    return failed;
}

static void calls_of_the_server_fail(void **state)
{
    (void)state;
    static const struct failure failures[] = {
        {REFUSED_POLL, EINTR},
        {REFUSED_POLL, ENOMEM},
        {REFUSED_READ, EINTR},
        {REFUSED_READ, EIO},
        {REFUSED_WRITE, EINTR},
        {REFUSED_PIPE, EMFILE},
        {REFUSED_SOCKETPAIR, EMFILE},
        {REFUSED_MKDIR, ENOSPC},
        {REFUSED_OPEN, ENFILE},
        {REFUSED_DUP, EMFILE},
        {REFUSED_SENDMSG, EINTR},
        {REFUSED_SENDMSG, ENOBUFS},
        {REFUSED_RECVMSG, EINTR},
        {REFUSED_RECVMSG, ECONNRESET},
        {REFUSED_WAITPID, EINTR},
        {REFUSED_CLOCK, ESRCH},
        {THREADS, EAGAIN},
    };
    for (size_t i = 0; i < TV_COUNT(failures); i++) {
        long at = 0;
        while (at < MAX_CALLS && fail_in_server(&failures[i], at))
            at++;
        if (at == 0)
            fail_msg("no %s failed", refused_name(failures[i].call));
    }
}

/* ---- The child ---- */

/* Let the n-th call of a child fail; child.c takes the text apart. */
static void fail_in_child(struct started *started, const struct failure *failure, long at)
{
    char text[64], id[24];
    snprintf(text, sizeof text, "refuse %d %ld %d draw", (int)failure->call, at, failure->error);
    snprintf(id, sizeof id, "%d.%d.%ld%s", (int)failure->call, failure->error, at,
             started->keeps_index ? "i" : "");
    bool good = read_and_ask(started, id, text);
    if (failure->error == EINTR || failure->error == EAGAIN)
        assert_good(good, failure, "child", at);
}

static void calls_of_a_child_fail(void **state)
{
    (void)state;
    static const struct failure failures[] = {
        {REFUSED_POLL, EINTR},      {REFUSED_POLL, ENOMEM},   {REFUSED_WRITE, EINTR},
        {REFUSED_WRITE, EPIPE},     {REFUSED_SENDMSG, EINTR}, {REFUSED_SENDMSG, EAGAIN},
        {REFUSED_SENDMSG, EPIPE},   {REFUSED_RECVMSG, EINTR}, {REFUSED_RECVMSG, ECONNRESET},
        {REFUSED_FSYNC, EIO},       {REFUSED_FSTAT, EIO},     {REFUSED_PRCTL, EPERM},
        {REFUSED_GETRLIMIT, EPERM}, {REFUSED_OPEN, ENOENT},   {THREADS, ENOMEM},
    };
    struct started started;
    prepare(&started);
    start(&started);
    for (size_t i = 0; i < 2 * TV_COUNT(failures); i++) {
        started.keeps_index = i % 2 == 1; /* its writes come before those of the answers */
        for (long at = 0; at < MAX_CALLS; at++)
            fail_in_child(&started, &failures[i / 2], at);
    }
    assert_true(read_and_ask(&started, "last", "draw"));
    finish(&started);
}

/* ---- An answer ---- */

/* The trace is there; one call fails while a question is answered. The next answer is whole. */
static void calls_of_an_answer_fail(void **state)
{
    (void)state;
    static const struct failure failures[] = {
        {REFUSED_READ, EINTR},    {REFUSED_READ, EAGAIN},     {REFUSED_READ, EIO},
        {REFUSED_POLL, EINTR},    {REFUSED_POLL, ENOMEM},     {REFUSED_PIPE, EMFILE},
        {REFUSED_SENDMSG, EINTR}, {REFUSED_SENDMSG, ENOBUFS},
    };
    struct started started;
    prepare(&started);
    start(&started);
    set_trace(&started, "a", "draw");
    struct tv_engine *engine = settle(&started, "a", TV_ENGINE_READY);
    for (size_t i = 0; i < TV_COUNT(failures); i++)
        for (long at = 0; at < 8; at++) {
            int error = failures[i].error;
            refused_arm(failures[i].call, at, error);
            bool good = is_answered(engine);
            bool failed = refused_disarm();
            if (!failed || error == EINTR || error == EAGAIN)
                assert_good(good, &failures[i], "answer", at);
            assert_good(is_answered(engine), &failures[i], "the next answer", at);
        }
    tv_engine_close(engine);
    finish(&started);
}

UNIT_TESTS(failures, cmocka_unit_test(calls_of_the_server_fail),
           cmocka_unit_test(calls_of_a_child_fail), cmocka_unit_test(calls_of_an_answer_fail));
