/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pprof.c - tests of the readers of readers/pprof: samples, threads, times and arguments of small
 * files, and each file cut and damaged at every byte.
 */
#include "unit.h"

#include "base/bytes.h"
#include "profile_made.h"
#include "readers/readers.h"

/* Two samples of one value type "calls"; location 2 is f at line 3, inlined into main at line 8.
 * Strings: 1 calls, 2 count, 3 main, 4 f, 5 thread, 6 one, 7 end_timestamp_ns. */
#define TABLES                                                                                     \
    "\x0a\x04\x08\x01\x10\x02"                                                                     \
    "\x2a\x04\x08\x01\x10\x03\x2a\x04\x08\x02\x10\x04"                                             \
    "\x22\x08\x08\x01\x22\x04\x08\x01\x10\x09"                                                     \
    "\x22\x0e\x08\x02\x22\x04\x08\x02\x10\x03\x22\x04\x08\x01\x10\x08"                             \
    "\x32\x00\x32\x05"                                                                             \
    "calls"                                                                                        \
    "\x32\x05"                                                                                     \
    "count"                                                                                        \
    "\x32\x04"                                                                                     \
    "main"                                                                                         \
    "\x32\x01"                                                                                     \
    "f"                                                                                            \
    "\x32\x06"                                                                                     \
    "thread"                                                                                       \
    "\x32\x03"                                                                                     \
    "one"                                                                                          \
    "\x32\x10"                                                                                     \
    "end_timestamp_ns"

/* The second sample is -2 with numbers that are not packed, and has no labels. */
#define TWO_SAMPLES                                                                                \
    TV_BYTES(TABLES "\x12\x0d\x0a\x02\x02\x01\x12\x01\x05\x1a\x04\x08\x05\x10\x06"                 \
                    "\x12\x0d\x08\x01\x10\xfe\xff\xff\xff\xff\xff\xff\xff\xff\x01")

static void expands_inlined_functions(void **state)
{
    (void)state;
    assert_samples(&tv_reader_pprof, TWO_SAMPLES,
                   "calls 5 one < f:3 < main:8 < main:9\n"
                   "calls -2 all < main:9\n");
}

static void samples_may_have_times(void **state)
{
    (void)state;
    assert_samples(&tv_reader_pprof,
                   TV_BYTES(TABLES "\x12\x0d\x0a\x01\x01\x12\x01\x05\x1a\x05\x08\x07\x18\xe8\x07"
                                   "\x12\x0d\x0a\x01\x02\x12\x01\x01\x1a\x05\x08\x07\x18\xd0\x0f"),
                   "calls 5 all at 1000 < main:9\n"
                   "calls 1 all at 2000 < f:3 < main:8\n");
}

static void labels_are_arguments(void **state)
{
    (void)state;
    assert_described(&tv_reader_pprof, TWO_SAMPLES, 0, "{\"args\":{\"thread\":\"one\"}}");
}

#define HEAP                                                                                       \
    TV_BYTES("heap profile: 2: 64 [3: 96] @ heapprofile\n"                                         \
             "2: 64 [3: 96] @ 0x1101 0x1201\n"                                                     \
             "#\t0x1100\tmain.f+0x10\t/a.go:3\n"                                                   \
             "\n1000-9000 r-xp 00000200 08:01 1 /bin/app\n")

static void reads_the_text_of_a_heap(void **state)
{
    (void)state;
    assert_samples(&tv_reader_pprof_text, HEAP,
                   "alloc_objects 3 all < main.f:3 < app+0x400\n"
                   "alloc_space 96 all < main.f:3 < app+0x400\n"
                   "inuse_objects 2 all < main.f:3 < app+0x400\n"
                   "inuse_space 64 all < main.f:3 < app+0x400\n");
}

#define WORD(a, b) a b "\0\0\0\0\0\0"
#define GPERFTOOLS                                                                                 \
    TV_BYTES(WORD("\0", "\0") WORD("\3", "\0") WORD("\0", "\0") WORD("\x10", "\x27")               \
                 WORD("\0", "\0") WORD("\2", "\0") WORD("\2", "\0") WORD("\0", "\x11")             \
                     WORD("\1", "\x12") WORD("\0", "\0") WORD("\1", "\0")                          \
                         WORD("\0", "\0") "1000-9000 r-xp 00000000 08:01 1 /bin/app\n")

static void reads_words_of_gperftools(void **state)
{
    (void)state;
    assert_samples(&tv_reader_gperftools, GPERFTOOLS,
                   "samples 2 all < app+0x100\n"
                   "cpu 20000000 all < app+0x100\n");
}

/* Any cut and any changed byte gives a trace, or at least no crash (run under ASan). */
static void damage_is_survived(void **state)
{
    (void)state;
    struct tv_bytes files[] = {TWO_SAMPLES, HEAP, GPERFTOOLS};
    const struct tv_reader *readers[] = {&tv_reader_pprof, &tv_reader_pprof_text,
                                         &tv_reader_gperftools};
    for (size_t i = 0; i < TV_COUNT(files); i++)
        assert_damage_survived(readers[i], files[i]);
}

UNIT_TESTS(pprof, cmocka_unit_test(expands_inlined_functions),
           cmocka_unit_test(samples_may_have_times), cmocka_unit_test(labels_are_arguments),
           cmocka_unit_test(reads_the_text_of_a_heap), cmocka_unit_test(reads_words_of_gperftools),
           cmocka_unit_test(damage_is_survived));
