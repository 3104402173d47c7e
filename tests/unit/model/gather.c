/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gather.c - gathered spans come back unchanged.
 */
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "model/assembly/assembly_internal.h"
#include "unit.h"

#define MOST 4000

struct given {
    struct tv_span span;
    struct tv_cpu_times cpu; /* of a whole span */
};

struct fixture {
    struct tv_gather *gather;
    struct given given[MOST];
    size_t count;
};

static void give(struct fixture *f, struct tv_span span, struct tv_cpu_times cpu)
{
    struct given *given = &f->given[f->count++];
    bool timed = cpu.start != TV_NO_TIME || cpu.length != TV_NO_TIME;
    *given = (struct given){span, cpu};
    tv_gather_span(f->gather, 0, &span, timed ? &cpu : NULL);
}

static void give_whole(struct fixture *f, int64_t time, int64_t length)
{
    give(f, (struct tv_span){.time = time, .length = length, .offset = (uint32_t)f->count},
         (struct tv_cpu_times){TV_NO_TIME, TV_NO_TIME});
}

static void assert_given(const struct given *given, const struct tv_span *span,
                         const struct tv_cpu_times *cpu)
{
    assert_int_equal(span->time, given->span.time);
    assert_int_equal(span->length, given->span.length);
    assert_int_equal(span->offset, given->span.offset);
    assert_int_equal(span->colour, given->span.colour);
    assert_int_equal(span->flags, given->span.flags);
    assert_int_equal(span->slice_flags, 0);
    assert_int_equal(span->frame, given->span.frame);
    assert_int_equal(span->side, TV_NONE);
    assert_int_equal(cpu->start, given->cpu.start);
    assert_int_equal(cpu->length, given->cpu.length);
}

/* Compare and free the fixture; return the number of bytes of its records. */
static size_t assert_all(struct fixture *f)
{
    size_t at = 0, bytes = 0;
    const struct tv_span_list *list = &f->gather->threads[0];
    for (const struct tv_span_block *block = list->first; block; block = block->next) {
        struct tv_span_reader reader = {.block = block};
        struct tv_span span;
        struct tv_cpu_times cpu;
        size_t size = block->packed ? 20 : 32;
        if (block->timed)
            size += block->packed ? 8 : 16;
        bytes += block->count * size;
        assert_true(block->count <= block->capacity);
        while (tv_span_read(&reader, &span, &cpu))
            assert_given(&f->given[at++], &span, &cpu);
    }
    assert_int_equal(at, f->count);
    assert_int_equal(list->count, f->count);
    tv_gather_free(f->gather);
    return bytes;
}

static struct fixture *new_fixture(void)
{
    static struct fixture f;
    memset(&f, 0, sizeof f);
    f.gather = tv_gather_new();
    return &f;
}

/* Usual spans take 20 bytes; blocks of 16, 32, ... records begin with a bases record. */
static void usual_spans_are_packed(void **context)
{
    (void)context;
    struct fixture *f = new_fixture();
    for (int i = 0; i < MOST; i++)
        give_whole(f, ((int64_t)1 << 50) + i * 1000, 5000000);
    assert_in_range(assert_all(f), MOST * 20, (MOST + 10) * 20);
}

/* Times that go on for hours, and slices of minutes, need new bases now and then. */
static void long_traces_are_packed(void **context)
{
    (void)context;
    struct fixture *f = new_fixture();
    for (int i = 0; i < MOST; i++)
        give_whole(f, i * (int64_t)100000000, i % 50 ? 5000 : (int64_t)600000000000);
    size_t bases = MOST / 50 + MOST / 37 + 10; /* 3.7 s: 37 spans */
    assert_in_range(assert_all(f), MOST * 20, (MOST + bases) * 20);
}

/* CPU times are stored from their first occurrence on, by spans of all kinds. */
static void cpu_times_are_kept(void **context)
{
    (void)context;
    struct fixture *f = new_fixture();
    struct tv_cpu_times none = {TV_NO_TIME, TV_NO_TIME};
    give_whole(f, 5, 6);
    give(f, (struct tv_span){.time = 10, .length = 20}, (struct tv_cpu_times){7, 8});
    give(f, (struct tv_span){.time = 10, .length = 20}, (struct tv_cpu_times){TV_NO_TIME, 8});
    give(f, (struct tv_span){.time = 10, .length = 20}, (struct tv_cpu_times){7, TV_NO_TIME});
    give(f, (struct tv_span){.time = 11, .length = 9, .flags = TV_SPAN_BEGIN}, none);
    give(f, (struct tv_span){.time = 12, .length = TV_NO_TIME, .flags = TV_SPAN_END}, none);
    give_whole(f, 13, 0);
    assert_int_equal(assert_all(f), 2 * 20 + 8 * 28);
}

/* Begins and ends keep their CPU times in 20 bytes.  One record more tells of a clock that is far
 * from 0, where the bases change. */
static void cpu_times_of_begins_and_ends_are_packed(void **context)
{
    (void)context;
    struct tv_cpu_times none = {TV_NO_TIME, TV_NO_TIME};
    struct fixture *f = new_fixture();
    for (int i = 0; i < MOST; i++)
        give(f,
             (struct tv_span){.time = i * INT64_C(1000),
                              .length =
                                  i % 9 != 8 ? ((int64_t)1 << 50) + i * INT64_C(900) : TV_NO_TIME,
                              .flags = i % 2 ? TV_SPAN_END : TV_SPAN_BEGIN},
             none);
    assert_in_range(assert_all(f), MOST * 20, (MOST + 21) * 20); /* ten blocks */
    f = new_fixture();
    for (int i = 0; i < MOST; i++)
        give(f,
             (struct tv_span){.time = i * INT64_C(1000),
                              .length = (int64_t)((uint64_t)i << (i % 8 * 8)),
                              .flags = i % 2 ? TV_SPAN_END : TV_SPAN_BEGIN},
             none);
    assert_true(assert_all(f) <= (size_t)MOST * 60);
}

/* Both sides of each limit: values that do not fit come back, too. */
static void limits_hold(void **context)
{
    static const int64_t near[] = {
        0,
        1,
        -1,
        (int64_t)1 << 29,
        ((int64_t)1 << 29) - 1,
        UINT32_MAX,
        INT64_MAX,
        INT64_MIN + 1,
        INT64_MIN + 5,
        (int64_t)UINT32_MAX - 1,
        1000,
        -((int64_t)1 << 29),
        -((int64_t)1 << 29) - 1,
        (int64_t)UINT32_MAX - ((int64_t)1 << 29),
        (int64_t)UINT32_MAX - ((int64_t)1 << 29) - 1,
    };
    size_t count = sizeof near / sizeof near[0];
    (void)context;
    for (size_t first = 0; first < count; first++) {
        struct fixture *f = new_fixture();
        for (size_t i = 0; i < count * count * 3; i++) {
            int64_t one = near[i % count], other = near[i / count % count];
            struct tv_span span = {.time = i % 5 ? near[first] : one,
                                   .length = other < 0 ? 3 : other,
                                   .offset =
                                       (uint64_t)(i % 7 ? i : i << 30) & UINT64_C(0xffffffffff),
                                   .colour = (uint8_t)i,
                                   .frame = (uint32_t)i};
            struct tv_cpu_times cpu = {i % 3 ? TV_NO_TIME : one, i % 2 ? TV_NO_TIME : other};
            if (i / count / count == 2) {
                span.flags = TV_SPAN_END | TV_SPAN_TELLS;
                cpu = (struct tv_cpu_times){TV_NO_TIME, TV_NO_TIME};
            }
            give(f, span, cpu);
        }
        assert_all(f);
    }
}

/* A rarely seen thread needs no more memory than with unpacked spans. */
static void rare_spans_cost_no_more(void **context)
{
    (void)context;
    struct fixture *f = new_fixture();
    for (int i = 0; i < MOST; i++)
        give_whole(f, i * (int64_t)10000000000, 5);
    assert_true(assert_all(f) <= (MOST + 10) * 32); /* ten blocks */
}

UNIT_TESTS(gather, cmocka_unit_test(usual_spans_are_packed),
           cmocka_unit_test(long_traces_are_packed), cmocka_unit_test(cpu_times_are_kept),
           cmocka_unit_test(cpu_times_of_begins_and_ends_are_packed), cmocka_unit_test(limits_hold),
           cmocka_unit_test(rare_spans_cost_no_more));
