/* SPDX-License-Identifier: Apache-2.0 */
/* lies.c - a child that an attacker has taken over: whatever it says, the server goes on. */
#include <stdio.h>
#include <string.h>

#include "base/bytes.h"
#include "engine/started.h"
#include "unit.h"

/* After any lie another trace can still be read. */
static void assert_goes_on(struct started *started)
{
    set_trace(started, "good", "draw");
    struct tv_engine *engine = settle(started, "good", TV_ENGINE_READY);
    tv_engine_close(engine);
    finish(started);
}

static void malformed_messages_end_the_engine(void **state)
{
    (void)state;
    static const struct {
        const char *lie, *words;
    } cases[] = {
        {"lie j", "signal 9"},           /* not a message */
        {"lie w", "it broke the rules"}, /* an unknown kind of message */
        {"lie x", "ended with code 0"},  /* ends without a word */
    };
    struct started started;
    prepare(&started);
    start(&started);
    for (size_t i = 0; i < TV_COUNT(cases); i++) {
        char id[8];
        snprintf(id, sizeof id, "t%zu", i);
        set_trace(&started, id, cases[i].lie);
        struct tv_engine *engine = settle(&started, id, TV_ENGINE_DIED);
        assert_ended(engine, "died", cases[i].words);
        tv_engine_close(engine);
    }
    assert_goes_on(&started);
}

/* A trace is not refused without an error, nor with one that is unknown; the message ends. */
static void refusals_are_not_believed(void **state)
{
    (void)state;
    static const char *const lies[] = {"lie 0", "lie 9"};
    struct started started;
    prepare(&started);
    start(&started);
    for (size_t i = 0; i < TV_COUNT(lies); i++) {
        struct tv_engine_status status;
        set_trace(&started, lies[i], lies[i]);
        struct tv_engine *engine = settle(&started, lies[i], TV_ENGINE_FAILED);
        assert_ended(engine, "io", "AAAA");
        tv_engine_get_status(engine, &status);
        assert_int_equal(status.error.status, TV_ERR_IO);
        assert_int_equal(strlen(status.error.message), sizeof status.error.message - 1);
        assert_true(status.error.context < sizeof status.error.message);
        tv_engine_close(engine);
    }
    assert_goes_on(&started);
}

/* The answer fails at its beginning or later. The engine is killed if the lie can be neither a
 * client's fault nor an accident. */
static void assert_answer_fails(char lie, enum tv_answer_status expected, bool later)
{
    struct started started;
    struct tv_error err = {0};
    struct tv_view_question question = {TV_BYTES("trace"), NULL, 0};
    char text[] = "lie ?", buffer[100];
    size_t got = 1;
    text[4] = lie;
    prepare(&started);
    started.options.question_seconds = 1;
    start(&started);
    set_trace(&started, "a", text);
    struct tv_engine *engine = settle(&started, "a", TV_ENGINE_READY);
    struct tv_engine_answer *answer = tv_engine_ask(engine, &question);
    assert_int_equal(tv_engine_answer_status(answer), expected);
    assert_int_equal(tv_engine_answer_type(answer), TV_ANSWER_JSON);
    enum tv_status status = TV_OK;
    while (status == TV_OK && got > 0)
        status = tv_engine_answer_read(answer, buffer, sizeof buffer, &got, &err);
    assert_int_equal(status != TV_OK, later);
    if (later) /* and again */
        assert_int_not_equal(tv_engine_answer_read(answer, buffer, 1, &got, &err), TV_OK);
    tv_engine_answer_free(answer);
    tv_engine_close(engine);
    assert_goes_on(&started);
}

static void lies_in_answers_are_errors(void **state)
{
    (void)state;
    assert_answer_fails('o', TV_ANSWER_BUSY, false); /* an unknown outcome */
    assert_answer_fails('h', TV_ANSWER_OK, true);    /* a block of 2 GiB */
    assert_answer_fails('c', TV_ANSWER_OK, true);    /* fewer bytes than announced */
    assert_answer_fails('e', TV_ANSWER_BUSY, false);
    assert_answer_fails('n', TV_ANSWER_BUSY, false); /* nothing at all */
    assert_answer_fails('d', TV_ANSWER_BUSY, false); /* the question crashes the child */
}

static void silent_children_are_killed(void **state)
{
    (void)state;
    assert_answer_fails('s', TV_ANSWER_BUSY, false);
}

static void repeated_messages_end_the_engine(void **state)
{
    (void)state;
    struct started started;
    prepare(&started);
    start(&started);
    set_trace(&started, "a", "lie 2");
    struct tv_engine *engine = tv_engine_open(started.engines, "a");
    struct tv_engine_status status;
    do
        tv_engine_get_status(engine, &status);
    while (status.state != TV_ENGINE_DIED);
    assert_ended(engine, "died", "it broke the rules");
    tv_engine_close(engine);
    assert_goes_on(&started);
}

UNIT_TESTS(lies, cmocka_unit_test(malformed_messages_end_the_engine),
           cmocka_unit_test(refusals_are_not_believed),
           cmocka_unit_test(lies_in_answers_are_errors),
           cmocka_unit_test(silent_children_are_killed),
           cmocka_unit_test(repeated_messages_end_the_engine));
