/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Samples with their times, as Trace Event JSON and as collapsed stacks.  The members are those of
 * the format's description (stackFrames and samples); the counts are counted by hand.
 */
#define _GNU_SOURCE
#include "unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "recorder/samples/samples.h"

static uint32_t add_frame(struct tv_samples *samples, uint64_t method, const char *name,
                          int32_t line)
{
    char class_name[] = "a.out", text[64];
    struct tv_sample_element element = {method, line, class_name, text, NULL};
    snprintf(text, sizeof text, "%s", name);
    return tv_samples_add_element(samples, &element);
}

/* Two threads, the first of which waits once; "parse" is there with two lines. */
static void fill(struct tv_samples *samples)
{
    *samples = (struct tv_samples){.period_ns = 2000000, .classes_are_modules = true};
    uint32_t outer = add_frame(samples, 1, "main", -1);
    uint32_t here[] = {add_frame(samples, 2, "parse", 3), outer};
    uint32_t there[] = {add_frame(samples, 3, "parse", 4), outer};
    uint32_t odd[] = {add_frame(samples, 4, "a;\"\\\n\xff\xC3\xA9", -1)};
    tv_samples_begin_tick(samples);
    uint32_t one = tv_samples_add_thread(samples, "one", "main"),
             two = tv_samples_add_thread(samples, "2", "x");
    tv_samples_number_thread(samples, one, 70, 70);
    tv_samples_number_thread(samples, two, 70, 71);
    struct tv_sample_moment moment = {1500, 0, 1, TV_SAMPLE_RUNNING, 0};
    assert_true(tv_samples_add_at(samples, one, here, 2, &moment));
    moment = (struct tv_sample_moment){2001500, 0, TV_SAMPLE_NO_CPU, TV_SAMPLE_WAITING, 0};
    assert_true(tv_samples_add_at(samples, one, there, 2, &moment));
    assert_true(tv_samples_add_at(samples, one, here, 2, &moment));
    moment.state = TV_SAMPLE_STATE_UNKNOWN;
    assert_true(tv_samples_add_at(samples, two, odd, 1, &moment));
    assert_true(tv_samples_add_wait(samples, one, here, 2,
                                    &(struct tv_sample_wait){.from_ns = 3000, .to_ns = 7500}));
    assert_true(tv_samples_add_wait(samples, two, NULL, 0,
                                    &(struct tv_sample_wait){5000, 6000, 0, 0, true}));
}

static char *text_of(const struct tv_samples *samples, enum tv_samples_form form)
{
    char *text = NULL;
    size_t length = 0;
    FILE *to = open_memstream(&text, &length);
    assert_true(tv_samples_write(samples, form, 0, 0, to));
    fclose(to);
    return text;
}

static void writes_times_and_weights(void **state)
{
    (void)state;
    struct tv_samples samples;
    fill(&samples);
    char *text = text_of(&samples, TV_SAMPLES_EVENTS);
    assert_string_equal(
        text,
        "{\"displayTimeUnit\":\"ms\",\n\"otherData\":{\"sampling-interval-ns\":\"2000000\","
        "\"sample-weight-unit\":\"ns\"},\n\"traceEvents\":[\n"
        "{\"ph\":\"M\",\"name\":\"process_name\",\"pid\":70,\"tid\":70,\"args\":{\"name\":\"one\"}}"
        ",\n"
        "{\"ph\":\"M\",\"name\":\"thread_name\",\"pid\":70,\"tid\":70,\"args\":{\"name\":\"one\"}}"
        ",\n"
        "{\"ph\":\"M\",\"name\":\"thread_name\",\"pid\":70,\"tid\":71,\"args\":{\"name\":\"2\"}},\n"
        "{\"ph\":\"X\",\"cat\":\"off-cpu\",\"name\":\"waiting\",\"pid\":70,\"tid\":70,"
        "\"ts\":3.000,\"dur\":4.500,\"sf\":2},\n"
        "{\"ph\":\"X\",\"cat\":\"off-cpu\",\"name\":\"preempted\",\"pid\":70,\"tid\":71,"
        "\"ts\":5.000,\"dur\":1.000}\n"
        "],\n\"stackFrames\":{\n"
        "\"1\":{\"category\":\"a.out\",\"name\":\"main\"},\n"
        "\"2\":{\"category\":\"a.out\",\"name\":\"parse\",\"parent\":1},\n"
        "\"3\":{\"category\":\"a.out\",\"name\":\"a;\\\"\\\\\\u000a\xEF\xBF\xBD\xC3\xA9\"}\n"
        "},\n\"samples\":[\n"
        "{\"name\":\"wall-clock\",\"pid\":70,\"tid\":70,\"ts\":1.500,\"sf\":2,\"weight\":2000000,"
        "\"cpu\":1,\"state\":\"running\"},\n"
        "{\"name\":\"wall-clock\",\"pid\":70,\"tid\":70,\"ts\":2001.500,\"sf\":2,"
        "\"weight\":2000000,\"state\":\"waiting\"},\n"
        "{\"name\":\"wall-clock\",\"pid\":70,\"tid\":70,\"ts\":2001.500,\"sf\":2,"
        "\"weight\":2000000,\"state\":\"waiting\"},\n"
        "{\"name\":\"wall-clock\",\"pid\":70,\"tid\":71,\"ts\":2001.500,\"sf\":3,"
        "\"weight\":2000000}\n]}\n");
    free(text);
    tv_samples_release(&samples);
}

/* A place whose name is empty is a class, one whose class is empty a thread. */
static uint32_t add_word(struct tv_samples *samples, uint64_t method, const char *class_name,
                         const char *name)
{
    char words[2][32];
    struct tv_sample_element element = {method, -1, words[0], words[1], NULL};
    snprintf(words[0], sizeof words[0], "%s", class_name);
    snprintf(words[1], sizeof words[1], "%s", name);
    return tv_samples_add_element(samples, &element);
}

/* Two allocations of a class, one of them without a frame, and two waits for locks. */
static void fill_events(struct tv_samples *samples)
{
    *samples = (struct tv_samples){.alloc_interval = 1024, .lock_least_ns = 1000, .short_locks = 7};
    uint32_t main_method = add_word(samples, 1, "Main", "run");
    uint32_t bytes = add_word(samples, 2, "byte[]", "");
    uint32_t lock_class = add_word(samples, 3, "a.Lock\"", ""),
             owner = add_word(samples, 4, "", "o\n");
    uint32_t stack[] = {bytes, main_method};
    tv_samples_begin_tick(samples);
    uint32_t id = tv_samples_add_thread(samples, "t", NULL);
    tv_samples_number_thread(samples, id, 70, 71);
    struct tv_sample_allocation allocation = {.time_ns = 1500, .size = 16, .bytes = 1032};
    assert_true(tv_samples_add_allocation(samples, id, stack, 2, &allocation));
    allocation = (struct tv_sample_allocation){.time_ns = 2500, .size = 4096, .bytes = 4172};
    assert_true(tv_samples_add_allocation(samples, id, stack, 1, &allocation));
    struct tv_sample_lock lock = {.from_ns = 3000,
                                  .to_ns = 7500,
                                  .class_name = lock_class,
                                  .owner = owner,
                                  .hash = 0xAB,
                                  .kind = TV_SAMPLE_MONITOR,
                                  .is_open = true};
    tv_samples_resolve_lock(samples, id, stack + 1, 1, &lock);
    assert_true(tv_samples_add_lock(samples, &lock));
    lock = (struct tv_sample_lock){.from_ns = 8000, .to_ns = 9000, .kind = TV_SAMPLE_PARK};
    tv_samples_resolve_lock(samples, id, NULL, 0, &lock);
    assert_true(tv_samples_add_lock(samples, &lock));
}

/* Bytes are arguments of instants and values of a counter, never the weight of a sample. */
static void writes_allocations_and_locks(void **state)
{
    (void)state;
    struct tv_samples samples;
    char expected[2048], *text;
    fill_events(&samples);
    snprintf(
        expected, sizeof expected,
        "{\"displayTimeUnit\":\"ms\",\n\"otherData\":{\"allocation-interval-bytes\":\"1024\","
        "\"lock-least-ns\":\"1000\",\"shorter-locks-left-out\":\"7\"},\n\"traceEvents\":[\n"
        "{\"ph\":\"M\",\"name\":\"thread_name\",\"pid\":70,\"tid\":71,\"args\":{\"name\":\"t\"}},\n"
        "{\"ph\":\"i\",\"s\":\"t\",\"cat\":\"allocation\",\"name\":\"byte[]\",\"pid\":70,\"tid\":"
        "71,"
        "\"ts\":1.500,\"sf\":1,\"args\":{\"bytes\":1032,\"size\":16}},\n"
        "{\"ph\":\"C\",\"name\":\"allocated\",\"pid\":%u,\"ts\":1.500,\"args\":{\"bytes\":1032}},\n"
        "{\"ph\":\"i\",\"s\":\"t\",\"cat\":\"allocation\",\"name\":\"byte[]\",\"pid\":70,\"tid\":"
        "71,"
        "\"ts\":2.500,\"args\":{\"bytes\":4172,\"size\":4096}},\n"
        "{\"ph\":\"C\",\"name\":\"allocated\",\"pid\":%u,\"ts\":2.500,\"args\":{\"bytes\":5204}},\n"
        "{\"ph\":\"X\",\"cat\":\"lock\",\"name\":\"monitor a.Lock\\\"\",\"pid\":70,\"tid\":71,"
        "\"ts\":3.000,\"dur\":4.500,\"sf\":1,\"args\":{\"class\":\"a.Lock\\\"\",\"hash\":\"0xab\","
        "\"owner\":\"o\\u000a\",\"still waiting\":true}},\n"
        "{\"ph\":\"X\",\"cat\":\"lock\",\"name\":\"park\",\"pid\":70,\"tid\":71,"
        "\"ts\":8.000,\"dur\":1.000,\"args\":{}}\n"
        "],\n\"stackFrames\":{\n"
        "\"1\":{\"name\":\"Main.run\"},\n\"2\":{\"name\":\"byte[]\",\"parent\":1},\n"
        "\"3\":{\"name\":\"byte[]\"}\n},\n\"samples\":[\n]}\n",
        (unsigned)getpid(), (unsigned)getpid());
    text = text_of(&samples, TV_SAMPLES_EVENTS);
    assert_string_equal(text, expected);
    free(text);
    text = text_of(&samples, TV_SAMPLES_COLLAPSED);
    assert_string_equal(text, "Main.run;byte[] 1032\nbyte[] 4172\n");
    free(text);
    tv_samples_release(&samples);
}

/* Two lines of a function are one frame, and what would part frames or lines is replaced. */
static void collapses_lines(void **state)
{
    (void)state;
    struct tv_samples samples;
    fill(&samples);
    char *text = text_of(&samples, TV_SAMPLES_COLLAPSED);
    assert_string_equal(text, "main;parse 3\na:\"\\ \xff\xC3\xA9 1\n");
    free(text);
    tv_samples_release(&samples);
}

/* Names of classes belong to those of methods; a file is a category. */
static void names_methods_with_their_class(void **state)
{
    (void)state;
    struct tv_samples samples;
    fill(&samples);
    samples.classes_are_modules = false;
    samples.lost = 3;
    char *text = text_of(&samples, TV_SAMPLES_EVENTS);
    assert_non_null(strstr(text, "\n\"1\":{\"name\":\"a.out.main\"},\n"));
    assert_non_null(strstr(text, "\"samples-lost\":\"3\""));
    free(text);
    text = text_of(&samples, TV_SAMPLES_COLLAPSED);
    assert_memory_equal(text, "a.out.main;a.out.parse 3\n", 25);
    free(text);
    tv_samples_release(&samples);
}

/* More stacks and frames than the first tables have room for: each is found again. */
static void keeps_many_stacks_apart(void **state)
{
    (void)state;
    struct tv_samples samples = {.period_ns = 1, .classes_are_modules = true};
    uint32_t stack[300];
    char name[16], expected[32];
    tv_samples_begin_tick(&samples);
    uint32_t id = tv_samples_add_thread(&samples, "t", NULL);
    for (uint32_t i = 0; i < 300; i++) {
        snprintf(name, sizeof name, "f%u", i);
        stack[299 - i] = add_frame(&samples, i, name, -1);
    }
    /* Depths 1 to 300, depth d counted d times. */
    for (uint32_t depth = 1; depth <= 300; depth++)
        for (uint32_t i = 0; i < depth; i++)
            assert_true(tv_samples_add_at(&samples, id, stack + 300 - depth, depth,
                                          &(struct tv_sample_moment){.time_ns = i}));
    char *text = text_of(&samples, TV_SAMPLES_COLLAPSED), *line = text;
    for (uint32_t depth = 1; depth <= 300; depth++) {
        char *end = strchr(line, '\n');
        assert_non_null(end);
        *end = '\0';
        snprintf(expected, sizeof expected, "f%u %u", depth - 1, depth);
        assert_string_equal(strlen(line) > strlen(expected) ? end - strlen(expected) : line,
                            expected);
        line = end + 1;
    }
    assert_int_equal(*line, '\0');
    free(text);
    tv_samples_release(&samples);
}

static void writes_none(void **state)
{
    (void)state;
    struct tv_samples samples = {.period_ns = 1};
    char *text = text_of(&samples, TV_SAMPLES_EVENTS);
    assert_non_null(strstr(text, "\"traceEvents\":[\n],\n\"stackFrames\":{\n},\n\"samples\":[\n]"));
    free(text);
    text = text_of(&samples, TV_SAMPLES_COLLAPSED);
    assert_string_equal(text, "");
    free(text);
    tv_samples_release(&samples);
}

UNIT_TESTS(trace_events, cmocka_unit_test(writes_times_and_weights),
           cmocka_unit_test(collapses_lines), cmocka_unit_test(names_methods_with_their_class),
           cmocka_unit_test(keeps_many_stacks_apart),
           cmocka_unit_test(writes_allocations_and_locks), cmocka_unit_test(writes_none));
