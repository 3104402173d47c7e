/* SPDX-License-Identifier: Apache-2.0 */
/*
 * assembly.c - spans of threads become rows: pairing, nesting, overflow, clipping, chunks.
 */
#include <stdio.h>
#include <string.h>

#include "base/bytes.h"
#include "base/memory.h"
#include "base/out.h"
#include "model/assembly/assembly.h"
#include "model/builder/builder.h"
#include "unit.h"

/* One line per span: kind, name, time, length. */
struct fixture {
    struct tv_builder *builder;
    struct tv_assembly *assembly;
    struct tv_gather *gather;
    struct tv_trace_info *head;
    uint32_t frames[26], thread;
    uint64_t offset;
    int64_t tolerance, end;
    unsigned parts;
    const struct tv_state_slice
        *states; /* of two state tracks: one of the thread and one of none */
    size_t state_count;
};

static struct fixture begin(void)
{
    struct fixture f = {.head = tv_trace_info_new(), .end = 1000, .parts = 1};
    f.builder = tv_builder_new(f.head);
    uint32_t input = tv_trace_info_add_input(f.head, "x.json", "test");
    uint32_t process = tv_trace_info_add_process(f.head, 1, TV_BYTES("p"));
    f.thread = tv_trace_info_add_thread(f.head, &(struct tv_thread){.id = 1, .process = process});
    for (char c = 'a'; c <= 'z'; c++) {
        char name[2] = {c, 0};
        f.frames[c - 'a'] = tv_trace_info_add_frame(
            f.head, &(struct tv_frame){.name = tv_trace_info_string(f.head, tv_bytes_of(name))});
    }
    f.assembly = tv_assembly_new(f.builder, input);
    f.gather = tv_gather_new();
    return f;
}

static void next_part(struct fixture *f)
{
    tv_assembly_add_chunk(f->assembly, f->gather, &f->thread, f->frames);
    f->gather = tv_gather_new();
}

/* Add spans in a short notation: "Xa 10 5" (whole), "Ba 10" (begin), "Ea 10" (end; "E- 10" without
 * a name), "b" and "e" the same of the kernel, "|" (next chunk). */
static void feed(struct fixture *f, const char *text)
{
    char kind, name;
    int used;
    for (long time, length; sscanf(text, " %c%n", &kind, &used) == 1; text += used) {
        if (kind == '|') {
            next_part(f);
            continue;
        }
        struct tv_span span = {.offset = f->offset++ & 0xff};
        int more = 0;
        assert_int_equal(sscanf(text + used, "%c %ld%n", &name, &time, &more), 2);
        used += more;
        span.time = time;
        span.length = TV_NO_TIME;
        span.flags = kind == 'B' || kind == 'b'   ? TV_SPAN_BEGIN
                     : kind == 'E' || kind == 'e' ? TV_SPAN_END
                                                  : TV_SPAN_WHOLE;
        if (kind == 'b' || kind == 'e')
            span.flags |= TV_SPAN_KERNEL;
        if (name == '-')
            span.flags |= TV_SPAN_NAMELESS;
        else
            span.frame = (uint32_t)(name - 'a');
        if (kind == 'X') {
            assert_int_equal(sscanf(text + used, " %ld%n", &length, &more), 1);
            used += more;
            span.length = length;
        }
        tv_gather_span(f->gather, 0, &span, NULL);
    }
}

static char mark_of(uint32_t flags)
{
    if (flags & TV_SLICE_OPEN)
        return '?';
    if (flags & TV_SLICE_MISSING_EXIT)
        return '!';
    return flags & TV_SLICE_CLIPPED ? '~' : ' ';
}

static void write_track(const struct tv_trace *trace, const struct tv_track *track,
                        struct tv_out *out)
{
    for (uint32_t depth = 0; depth < track->row_count; depth++) {
        uint32_t row = track->first_row + depth;
        tv_out_format(out, "%s%u:", track->kind == TV_TRACK_OVERFLOW ? "+" : "", depth);
        for (uint32_t i = 0; i < trace->rows[row].count; i++) {
            struct tv_slice slice = tv_slice_get(trace, row, i);
            uint32_t name = tv_path_frame(trace, slice.path)->name;
            uint32_t parent = tv_slice_parent(trace, row, i);
            tv_out_format(
                out, " %s%c%ld-%ld", (const char *)tv_trace_info_text(trace->head, name).data,
                mark_of(slice.flags), (long)slice.start, (long)(slice.start + slice.length));
            if (parent != TV_NONE)
                tv_out_format(out, "<%u", parent);
        }
        tv_out_char(out, '\n');
    }
}

/* Compare with rows as text: "depth: name start-end<parent ...". */
static void assert_trace(struct fixture *f, const char *expected)
{
    struct tv_out out;
    struct tv_trace *trace = tv_builder_finish(f->builder);
    tv_out_init_memory(&out);
    for (uint32_t i = 0; i < trace->track_count; i++)
        write_track(trace, &trace->tracks[i], &out);
    tv_out_char(&out, '\0');
    assert_string_equal((const char *)out.buffer, expected);
    tv_out_release(&out);
    tv_trace_free(trace);
}

static void assert_rows(struct fixture *f, const char *expected)
{
    struct tv_row_options placing = {.tolerance = f->tolerance, .end = f->end, .workers = 2};
    next_part(f);
    tv_gather_free(f->gather);
    tv_assembly_build_rows(f->assembly, &placing);
    struct tv_state_track strips[] = {
        {.kind = TV_TRACK_STATES, .thread = f->thread},
        {.kind = TV_TRACK_CPU, .process = TV_NONE, .thread = TV_NONE}};
    tv_assembly_add_state_tracks(f->assembly, strips, 2, f->states, f->state_count, 2);
    tv_assembly_end(f->assembly);
    assert_trace(f, expected);
}

static void nests_whole_spans(void **state)
{
    (void)state;
    struct fixture f = begin();
    feed(&f, "Xb 2 3  Xc 3 1  Xa 0 10  Xd 10 5  Xe 5 5");
    assert_rows(&f, "0: a 0-10 d 10-15\n1: b 2-5<0 e 5-10<0\n2: c 3-4<0\n");
}

static void nests_at_equal_times(void **state)
{
    (void)state;
    struct fixture f = begin();
    /* The longest span comes first, whatever the order in the file.  A span of length 0 lies below
     * an open span, but beside another of length 0, and not below a span that ends there. */
    feed(&f, "Xb 0 4  Xa 0 10  Xc 10 0  Xd 4 0  Xe 4 0");
    assert_rows(&f, "0: a 0-10 c 10-10\n1: b 0-4<0 d 4-4<0 e 4-4<0\n");
}

static void nests_without_length_by_ends(void **state)
{
    (void)state;
    struct fixture f = begin();
    /* a contains b, c and all of d; c contains e; f lies beside a, g after the long h. */
    feed(&f, "Ba 5 Bb 5 Eb 5 Bc 5 Be 5 Ee 5 Ec 5 Xd 5 0 Ea 5 Bf 5 Ef 5");
    feed(&f, "Bh 5 Bg 5 Eg 5 Eh 9");
    assert_rows(&f, "0: h 5-9\n1: a 5-5<0 f 5-5<0 g 5-5<0\n2: b 5-5<0 c 5-5<0 d 5-5<0\n"
                    "3: e 5-5<1\n");
}

static void nests_at_an_end_by_ends(void **state)
{
    (void)state;
    struct fixture f = begin();
    /* At 1, where times tell nothing, d is in p, q is between p and r, and s is in the open o. */
    feed(&f, "Bp 0 Bc 0 Ec 1 Bd 1 Ed 1 Ep 1 Bq 1 Eq 1 Br 1 Er 2 Bo 2 Bs 1000 Es 1000");
    assert_rows(&f, "0: p 0-1 q 1-1 r 1-2 o?2-1000\n1: c 0-1<0 d 1-1<0 s 1000-1000<3\n");
}

static void nests_the_kernel_without_length(void **state)
{
    (void)state;
    struct fixture f = begin();
    feed(&f, "Ba 5 bc 5 ec 5 Bb 5 Eb 5 Ea 5 bd 5 ed 5");
    assert_rows(&f, "0: a 5-5 d 5-5\n1: c 5-5<0 b 5-5<0\n");
}

static void without_length_in_a_wrong_order(void **state)
{
    (void)state;
    struct fixture f = begin();
    /* b began after a, but a ends first: neither contains the other, and both do not contain c. */
    feed(&f, "Ba 5 Bb 5 Ea 5 Eb 5 Xc 5 0");
    assert_rows(&f, "0: a 5-5 b 5-5 c 5-5\n");
}

static void pairs_by_name(void **state)
{
    (void)state;
    struct fixture f = begin();
    feed(&f, "Ba 0  Bb 1  E- 2  Bc 3  Ec 4  Ea 9");
    assert_rows(&f, "0: a 0-9\n1: b 1-2<0 c 3-4<0\n");
}

static void closes_down_to_a_name(void **state)
{
    (void)state;
    struct fixture f = begin();
    feed(&f, "Ba 0  Bb 1  Bc 2  Eb 5  Ea 9");
    assert_rows(&f, "0: a 0-9\n1: b 1-5<0\n2: c!2-5<0\n");
}

static void ends_out_of_order_are_each_their_own(void **state)
{
    (void)state;
    struct fixture f = begin();
    /* As many ends as begins: ends at equal times in the wrong order, and real overlaps. */
    feed(&f, "Ba 0  Bb 1  Ea 5  Eb 5  Bc 10  Bd 11  Ec 12  Ed 14");
    assert_rows(&f, "0: a 0-5 c 10-12\n1: b 1-5<0\n+0: d 11-14\n");
}

static void closes_the_top_of_balanced_threads(void **state)
{
    (void)state;
    struct fixture f = begin();
    feed(&f, "Ba 0  Bb 1  Ex 5  Ea 9");
    assert_rows(&f, "0: a 0-9\n1: b 1-5<0\n");
}

static void ignores_other_names_otherwise(void **state)
{
    (void)state;
    struct fixture f = begin();
    feed(&f, "E- 0  Ba 1  Ex 5  Ea 9  Ea 10");
    assert_rows(&f, "0: a 1-9\n");
}

static void leaves_open_to_the_end(void **state)
{
    (void)state;
    struct fixture f = begin();
    feed(&f, "Ba 0  Bb 5  Xc 6 1");
    assert_rows(&f, "0: a?0-1000\n1: b?5-1000<0\n2: c 6-7<0\n");
}

static void sorts_halves_by_time(void **state)
{
    (void)state;
    struct fixture f = begin();
    feed(&f, "Ea 9  Bb 1  Ba 0  Eb 2");
    assert_rows(&f, "0: a 0-9\n1: b 1-2<0\n");
}

static void puts_overlaps_into_rows_of_their_own(void **state)
{
    (void)state;
    struct fixture f = begin();
    /* b starts in a and ends after it; c lies in b; d fits the thread's own rows again. */
    feed(&f, "Xa 0 10  Xb 5 10  Xc 11 2  Xd 20 5");
    assert_rows(&f, "0: a 0-10 c 11-13 d 20-25\n+0: b 5-15\n");
}

static void makes_as_many_rows_as_overlap(void **state)
{
    (void)state;
    struct fixture f = begin();
    char text[64 * 16] = "";
    for (int i = 0; i < 30; i++)
        snprintf(text + strlen(text), 16, "Xa %d 100 ", i);
    feed(&f, text);
    snprintf(text, sizeof text, "Xb 300 1 Xc 300 1");
    feed(&f, text);
    char expected[4096] = "0: a 0-100 b 300-301\n1: c 300-301<1\n";
    for (int i = 1; i < 30; i++)
        snprintf(expected + strlen(expected), 32, "+0: a %d-%d\n", i, i + 100);
    assert_rows(&f, expected);
}

static void cuts_what_overhangs_a_little(void **state)
{
    (void)state;
    struct fixture f = begin();
    f.tolerance = 3;
    /* b overhangs a by 2 and is clipped; c begins 1 before a ends, so a is clipped. */
    feed(&f, "Xa 0 100  Xb 50 52  Xc 99 30  Xd 200 10 Xe 205 9");
    assert_rows(&f, "0: a~0-99 c 99-129 d 200-210\n1: b~50-99<0\n+0: e 205-214\n");
}

static void parts_are_as_one(void **state)
{
    (void)state;
    struct fixture f = begin();
    feed(&f, "Ba 0  Bb 1 | Eb 2 | Xc 3 2 Ea 9 |");
    assert_rows(&f, "0: a 0-9\n1: b 1-2<0 c 3-5<0\n");
}

static void pairs_the_kernel_by_itself(void **state)
{
    (void)state;
    struct fixture f = begin();
    /* An end without a name in the program does not close the kernel's c, and c does not clip b. */
    feed(&f, "Ba 0  bc 1  Bb 2  ec 3  E- 4  be 5  ee 6  E- 9");
    assert_rows(&f, "0: a 0-9\n1: c 1-3<0 e 5-6<0\n+0: b 2-4\n");
}

static void state_tracks_have_one_row_each(void **state)
{
    (void)state;
    struct fixture f = begin();
    const struct tv_state_slice slices[] = {
        {.start = 0, .length = 4, .frame = 17, .state_track = 0},
        {.start = 1, .length = 9, .frame = 2, .state_track = 1, .flags = TV_SLICE_OPEN},
        {.start = 4, .length = 20000000000, .frame = 18, .state_track = 0},
    };
    f.states = slices;
    f.state_count = 3;
    feed(&f, "Xa 0 10");
    assert_rows(&f, "0: a 0-10\n0: r 0-4 s 4-20000000004\n0: c?1-10\n");
}

/* Two groups are written before the rows of threads: a processor without slices, and a thread whose
 * second state changes later. */
static void state_slices_are_written_in_place(void **state)
{
    (void)state;
    struct fixture f = begin();
    const uint32_t counts[] = {2, 0, 2};
    const size_t ends[] = {1, 3};
    const struct tv_state_track strips[] = {
        {.kind = TV_TRACK_CPU, .process = TV_NONE, .thread = TV_NONE},
        {.kind = TV_TRACK_CPU, .known = true, .since = 3, .process = TV_NONE, .thread = TV_NONE},
        {.kind = TV_TRACK_STATES, .thread = f.thread},
    };
    const struct tv_state_slice slices[] = {
        {.start = 0, .length = 4, .frame = 17, .state_track = 2},
        {.start = 4, .length = 20000000000, .frame = 18, .state_track = 2},
        {.start = 1, .length = 1, .frame = 2, .state_track = 0},
        {.start = 7, .length = 2, .frame = 3, .state_track = 0},
    };
    struct tv_state_rows *rows =
        tv_state_rows_new(f.assembly, &(struct tv_state_layout){counts, 3, ends, 2});
    assert_int_equal(tv_state_rows_put(rows, 1, &slices[0]), 0);
    assert_int_equal(tv_state_rows_put(rows, 0, &slices[2]), 0);
    assert_int_equal(tv_state_rows_put(rows, 1, &slices[1]), 1);
    assert_int_equal(tv_state_rows_put(rows, 0, &slices[3]), 1);
    tv_state_rows_rename(rows, 1, 2, 1, 19);
    next_part(&f);
    tv_gather_free(f.gather);
    tv_assembly_build_rows(f.assembly, &(struct tv_row_options){.end = f.end, .workers = 1});
    tv_assembly_add_state_rows(f.assembly, strips, rows);
    tv_assembly_end(f.assembly);
    assert_trace(&f, "0: c 1-2 d 7-9\n0:\n0: r 0-4 t 4-20000000004\n");
}

static void long_times_survive(void **state)
{
    (void)state;
    struct fixture f = begin();
    feed(&f, "Xa 0 20000000000  Xb 5000000000 6000000000  Xc 19000000000 10");
    assert_rows(&f, "0: a 0-20000000000\n"
                    "1: b 5000000000-11000000000<0 c 19000000000-19000000010<0\n");
}

UNIT_TESTS(
    assembly, cmocka_unit_test(nests_whole_spans), cmocka_unit_test(nests_at_equal_times),
    cmocka_unit_test(nests_without_length_by_ends), cmocka_unit_test(nests_at_an_end_by_ends),
    cmocka_unit_test(nests_the_kernel_without_length),
    cmocka_unit_test(without_length_in_a_wrong_order), cmocka_unit_test(pairs_by_name),
    cmocka_unit_test(closes_down_to_a_name), cmocka_unit_test(ends_out_of_order_are_each_their_own),
    cmocka_unit_test(closes_the_top_of_balanced_threads),
    cmocka_unit_test(ignores_other_names_otherwise), cmocka_unit_test(leaves_open_to_the_end),
    cmocka_unit_test(sorts_halves_by_time), cmocka_unit_test(puts_overlaps_into_rows_of_their_own),
    cmocka_unit_test(makes_as_many_rows_as_overlap), cmocka_unit_test(cuts_what_overhangs_a_little),
    cmocka_unit_test(parts_are_as_one), cmocka_unit_test(pairs_the_kernel_by_itself),
    cmocka_unit_test(state_tracks_have_one_row_each),
    cmocka_unit_test(state_slices_are_written_in_place), cmocka_unit_test(long_times_survive));
