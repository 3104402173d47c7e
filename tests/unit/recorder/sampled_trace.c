/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Traces made of stacks.  What is expected is derived by hand: what a stack has lost is left from
 * the inside out, what it has gained is entered from the outside in.
 */
#include "unit.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "recorder/sampled_trace.h"

static char path[] = "sampled-test.trace";

/* The letter of the frame's number. */
static void name(uint64_t address, struct tv_recording_method *method, char *room, size_t size)
{
    snprintf(room, size, "%c", (char)('a' + (int)address - 1));
    method->class_name = "C";
    method->name = room;
    method->signature = "()V";
    method->file = "C.java";
}

static struct tv_sampled_trace *begin(uint64_t buffer_bytes)
{
    struct tv_sampled_trace *trace;
    struct tv_sampled_trace_options options = {
        .path = path,
        .vm = "jvm",
        .buffer_bytes = buffer_bytes,
        .start_us = 77,
        .interval_us = 10,
        .namer = name,
    };
    assert_int_equal(tv_sampled_trace_new(&trace, &options), 0);
    return trace;
}

/* Frames as letters, innermost first. */
static void look(struct tv_sampled_trace *trace, uint32_t thread, const char *stack)
{
    uint64_t frames[300];
    uint32_t depth = (uint32_t)strlen(stack);
    for (uint32_t i = 0; i < depth; i++)
        frames[i] = (uint64_t)(stack[i] - 'a') + 1;
    tv_sampled_trace_set_stack(trace, thread, frames, depth);
}

static char *read_file(size_t *size)
{
    FILE *from = fopen(path, "rb");
    assert_non_null(from);
    char *bytes = calloc(1, 1 << 16);
    *size = fread(bytes, 1, 1 << 16, from);
    fclose(from);
    unlink(path);
    return bytes;
}

/* The records as "THREAD+method@us " and "THREAD-method@us ". */
static char *records_of(const char *bytes, size_t size)
{
    const char *end = strstr(bytes, "*end\n") + 5;
    const uint8_t *at = (const uint8_t *)end + TV_MT_HEADER_SIZE;
    char *text = calloc(1, 1 << 16);
    size_t used = 0;
    assert_int_equal(tv_mt_get_header((const uint8_t *)end).version, TV_MT_V2);
    assert_int_equal(tv_mt_get_header((const uint8_t *)end).start, 77);
    for (; at < (const uint8_t *)bytes + size; at += TV_MT_RECORD_SIZE_V2) {
        uint32_t word = tv_le_get_u32(at + 2);
        char id[32];
        snprintf(id, sizeof id, "\n%#x\tC\t", tv_mt_word_method(word));
        const char *line = strstr(bytes, id);
        assert_non_null(line);
        used += (size_t)snprintf(text + used, (1 << 16) - used, "%u%c%c@%u ", tv_le_get_u16(at),
                                 tv_mt_word_action(word) == TV_MT_ENTER ? '+' : '-',
                                 line[strlen(id)], tv_le_get_u32(at + 6));
    }
    return text;
}

static void compares_stacks(void **state)
{
    (void)state;
    size_t size;
    struct tv_sampled_trace *trace = begin(1 << 16);
    assert_int_equal(tv_sampled_trace_add_thread(trace, "main"), 1);
    assert_int_equal(tv_sampled_trace_add_thread(trace, "old"), 2);
    tv_sampled_trace_begin_tick(trace, 10);
    look(trace, 1, "ba");
    look(trace, 2, "a");
    assert_true(tv_sampled_trace_end_tick(trace));
    tv_sampled_trace_begin_tick(trace, 20);
    look(trace, 1, "dca");
    look(trace, 2, "a");
    assert_true(tv_sampled_trace_end_tick(trace));
    tv_sampled_trace_begin_tick(trace, 30);
    look(trace, 1, "ca"); /* the other one is gone */
    assert_true(tv_sampled_trace_end_tick(trace));
    tv_sampled_trace_begin_tick(trace, 40);
    look(trace, 1, "caa");
    assert_true(tv_sampled_trace_end_tick(trace));
    tv_sampled_trace_name_thread(trace, 2, "new\tname\n");
    assert_int_equal(tv_sampled_trace_write(trace, 50), 0);
    tv_sampled_trace_free(trace);
    char *bytes = read_file(&size);
    assert_non_null(strstr(bytes, "*version\n2\ndata-file-overflow=false\nclock=wall\n"
                                  "elapsed-time-usec=50\nnum-method-calls=11\n"
                                  "clock-call-overhead-nsec=0\nvm=jvm\npid="));
    assert_non_null(
        strstr(bytes, "\nsampling-interval-usec=10\n*threads\n1\tmain\n2\tnew name \n*methods\n"
                      "0x4\tC\ta\t()V\tC.java\n0x8\tC\tb\t()V\tC.java\n"
                      "0xc\tC\tc\t()V\tC.java\n0x10\tC\td\t()V\tC.java\n*end\n"));
    char *records = records_of(bytes, size);
    assert_string_equal(records, "1+a@10 1+b@10 2+a@10 1-b@20 1+c@20 1+d@20 1-d@30 2-a@30 "
                                 "1-c@40 1+a@40 1+c@40 ");
    free(records);
    free(bytes);
}

/* 4096 bytes are the header and 406 records; a look that does not fit is not there at all. */
static void ends_when_it_is_full(void **state)
{
    (void)state;
    size_t size;
    struct tv_sampled_trace *trace = begin(4096);
    char stack[205] = "";
    memset(stack, 'a', 203);
    assert_int_equal(tv_sampled_trace_add_thread(trace, "main"), 1);
    tv_sampled_trace_begin_tick(trace, 1);
    look(trace, 1, stack);
    assert_true(tv_sampled_trace_end_tick(trace));
    tv_sampled_trace_begin_tick(trace, 2);
    look(trace, 1, "");
    assert_true(tv_sampled_trace_end_tick(trace));
    tv_sampled_trace_begin_tick(trace, 3);
    look(trace, 1, "a");
    assert_false(tv_sampled_trace_end_tick(trace));
    assert_int_equal(tv_sampled_trace_write(trace, 3), 0);
    tv_sampled_trace_free(trace);
    char *bytes = read_file(&size);
    assert_non_null(strstr(bytes, "data-file-overflow=true\n"));
    assert_non_null(strstr(bytes, "num-method-calls=406\n"));
    size_t head = (size_t)(strstr(bytes, "*end\n") + 5 - bytes);
    assert_int_equal(size - head, 32 + 406 * 10);
    free(bytes);
}

/* 32 bits of microseconds are 71 minutes and 35 seconds. */
static void ends_when_time_does_not_fit(void **state)
{
    (void)state;
    size_t size;
    struct tv_sampled_trace *trace = begin(4096);
    assert_int_equal(tv_sampled_trace_add_thread(trace, "main"), 1);
    tv_sampled_trace_begin_tick(trace, UINT32_MAX);
    look(trace, 1, "a");
    assert_true(tv_sampled_trace_end_tick(trace));
    tv_sampled_trace_begin_tick(trace, UINT64_C(1) << 32);
    look(trace, 1, "");
    assert_false(tv_sampled_trace_end_tick(trace));
    assert_int_equal(tv_sampled_trace_write(trace, UINT64_C(1) << 32), 0);
    tv_sampled_trace_free(trace);
    char *bytes = read_file(&size);
    char *records = records_of(bytes, size);
    assert_string_equal(records, "1+a@4294967295 ");
    free(records);
    free(bytes);
}

/* A thread whose stack is not known for once has left nothing. */
static void keeps_what_is_not_known(void **state)
{
    (void)state;
    size_t size;
    struct tv_sampled_trace *trace = begin(4096);
    assert_int_equal(tv_sampled_trace_add_thread(trace, "main"), 1);
    for (unsigned i = 0; i < 3; i++) {
        tv_sampled_trace_begin_tick(trace, 10 * i);
        if (i == 1)
            tv_sampled_trace_keep_stack(trace, 1);
        else
            look(trace, 1, "ab");
        assert_true(tv_sampled_trace_end_tick(trace));
    }
    assert_int_equal(tv_sampled_trace_write(trace, 30), 0);
    tv_sampled_trace_free(trace);
    char *bytes = read_file(&size);
    char *records = records_of(bytes, size);
    assert_string_equal(records, "1+b@0 1+a@0 ");
    free(records);
    free(bytes);
}

static void says_what_is_wrong_at_once(void **state)
{
    (void)state;
    struct tv_sampled_trace *trace;
    struct tv_sampled_trace_options options = {.path = "no/folder/x", .buffer_bytes = 4096};
    assert_int_equal(tv_sampled_trace_new(&trace, &options), -ENOENT);
    assert_null(trace);
    options.path = "."; /* stays a folder */
    assert_int_equal(tv_sampled_trace_new(&trace, &options), -ENOTSUP);
    options.path = "";
    assert_int_equal(tv_sampled_trace_new(&trace, &options), -EINVAL);
    options = (struct tv_sampled_trace_options){.path = path, .buffer_bytes = 1023};
    assert_int_equal(tv_sampled_trace_new(&trace, &options), -EINVAL);
    options.buffer_bytes = UINT64_MAX;
    assert_int_equal(tv_sampled_trace_new(&trace, &options), -EINVAL);
    tv_sampled_trace_free(begin(4096));
    assert_int_not_equal(access(path, F_OK), 0);
    assert_int_not_equal(access("sampled-test.trace.part", F_OK), 0);
}

UNIT_TESTS(sampled_trace, cmocka_unit_test(compares_stacks), cmocka_unit_test(ends_when_it_is_full),
           cmocka_unit_test(ends_when_time_does_not_fit), cmocka_unit_test(keeps_what_is_not_known),
           cmocka_unit_test(says_what_is_wrong_at_once));
