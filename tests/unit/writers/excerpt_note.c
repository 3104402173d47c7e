/* SPDX-License-Identifier: Apache-2.0 */
/* What is told of a part. */
#include "unit.h"

#include <string.h>

#include "writers/trace/excerpt.h"

static void is(const struct tv_excerpt_facts *part, const char *want)
{
    struct tv_out out;
    tv_out_init_memory(&out);
    tv_excerpt_note(&out, part);
    tv_out_char(&out, '\0');
    assert_string_equal((const char *)out.buffer, want);
    tv_out_release(&out);
}

static void tells_nothing_of_all(void **state)
{
    (void)state;
    is(&(struct tv_excerpt_facts){.from = INT64_MIN, .to = INT64_MAX, .kept = 7, .all = 7}, "");
}

static void tells_what_was_chosen(void **state)
{
    (void)state;
    const char *const words[] = {"main", "<b>"};
    const struct tv_excerpt_selection choices[] = {{"threads", words, 2}, {"filter", words, 0}};
    struct tv_excerpt_facts part = {true, 1500000, 2000000, choices,   2,    "20us", 1,
                                    8,    false,   false,   {NULL, 0}, NULL, NULL};
    is(&part, "This is a part of the trace; from 1.5 ms to 2 ms; threads: main, <b>; "
              "without slices shorter than 20us, so that it is no larger than asked for. 1 of 8 "
              "slices is in it (12.5 %).");
    part.hashed = part.stripped = true;
    part.from = INT64_MIN;
    part.shortest = NULL;
    is(&part, "This is a part of the trace; up to 2 ms; chosen threads. 1 of 8 slices is in "
              "it (12.5 %). Hashes stand in the place of names. Arguments, snapshots and metadata "
              "were left out.");
}

static void tells_what_a_size_costs(void **state)
{
    (void)state;
    struct tv_event_limit limit = {.sure = 96,
                                   .longest = 112,
                                   .beside = UINT64_MAX,
                                   .share = TV_EVENT_SHARES / 4,
                                   .instants = TV_EVENT_SHARES};
    struct tv_excerpt_facts part = {.from = INT64_MIN, .to = INT64_MAX, .limit = &limit};
    is(&part, "Arguments and snapshots of more than 112 bytes were left out, and of more than 96 "
              "bytes after the first 25 % of the file.");
    limit.share = 0;
    limit.beside = 4096;
    is(&part, "Arguments and snapshots of more than 96 bytes were left out. Metadata of more than "
              "4096 bytes were left out.");
    part.stripped = true;
    limit.instants = 0;
    is(&part, "Instants and arrows were left out. Arguments, snapshots and metadata were left "
              "out.");
}

static void tells_losses(void **state)
{
    (void)state;
    struct tv_excerpt_facts part = {.chosen = true, .from = INT64_MIN, .to = INT64_MAX};
    part.losses = TV_BYTES("3 wake-ups left out\nno real clock\n");
    is(&part, "This is a part of the trace. Not as in the trace: 3 wake-ups left out; no real "
              "clock.");
}

static void counts_no_slices_where_there_are_none(void **state)
{
    (void)state;
    is(&(struct tv_excerpt_facts){.chosen = true, .from = INT64_MIN, .to = 5000000},
       "This is a part of the trace; up to 5 ms.");
}

/* Neither nothing nor everything is said where it is not so. */
static void rounds_down(void **state)
{
    (void)state;
    struct tv_excerpt_facts part = {
        .chosen = true, .from = INT64_MIN, .to = INT64_MAX, .all = 1000000};
    part.kept = 999999;
    is(&part, "This is a part of the trace. 999999 of 1000000 slices are in it (99.9 %).");
    part.kept = 3;
    is(&part, "This is a part of the trace. 3 of 1000000 slices are in it (less than 0.1 %).");
    part.kept = 0;
    is(&part, "This is a part of the trace. 0 of 1000000 slices are in it (0.0 %).");
}

/* A file inside of another is none of its own; folders are nobody's business. */
static struct tv_trace_info *several_files(void)
{
    struct tv_trace_info *head = tv_trace_info_new();
    tv_trace_info_add_input(head, "my/a.json", "JSON");
    tv_trace_info_add_input(head, "my/a.json: cgroupDump", "Cgroup dump");
    tv_trace_info_add_input(head, "b.trace", "trace");
    tv_trace_info_add_input(head, "b.trace2", "trace");
    head->inputs[2].moved = -1500000;
    return head;
}

static void tells_every_file(void **state)
{
    (void)state;
    struct tv_trace_info *head = several_files();
    struct tv_excerpt_facts part = {.from = INT64_MIN, .to = INT64_MAX, .head = head};
    is(&part, "3 files became one: a.json, b.trace moved by -1.5 ms, b.trace2.");
    part.hashed = true;
    is(&part, "3 files became one. Hashes stand in the place of names.");
    tv_trace_info_free(head);
}

/* Notes are harmless; warnings are of the whole, also where the part has nothing of them. */
static void tells_warnings(void **state)
{
    (void)state;
    struct tv_trace_info *head = tv_trace_info_new();
    struct tv_excerpt_facts part = {
        .chosen = true, .from = INT64_MIN, .to = INT64_MAX, .head = head};
    tv_diagnostics_add(&head->diagnostics, TV_DIAGNOSTIC_OPEN_CALL, TV_NO_OFFSET);
    is(&part, "This is a part of the trace.");
    for (int i = 0; i < 3; i++)
        tv_diagnostics_add(&head->diagnostics, TV_DIAGNOSTIC_IGNORED_EXIT, TV_NO_OFFSET);
    is(&part, "This is a part of the trace. Warnings of the whole trace: exits of a method that "
              "is not on the stack, ignored (ignored-exit: 3).");
    tv_diagnostics_add(&head->diagnostics, TV_DIAGNOSTIC_TITLE_MISMATCH, 7);
    part.chosen = false;
    is(&part, "Warnings of the whole trace: exits of a method that is not on the stack, ignored "
              "(ignored-exit: 3); ends whose name differs from that of the call: the call keeps "
              "its name (title-mismatch: 1).");
    tv_trace_info_free(head);
}

static void names_the_first_file(void **state)
{
    (void)state;
    struct tv_trace_info *head = several_files();
    struct tv_out out;
    tv_out_init_memory(&out);
    tv_excerpt_name(&out, head, TV_BYTES("my/a.json"));
    tv_out_char(&out, ';');
    head->input_count = 2;
    tv_excerpt_name(&out, head, TV_BYTES("dir/"));
    tv_out_char(&out, '\0');
    assert_string_equal((const char *)out.buffer, "a.json and 2 more;dir/");
    tv_out_release(&out);
    tv_trace_info_free(head);
}

UNIT_TESTS(excerpt_note, cmocka_unit_test(tells_nothing_of_all),
           cmocka_unit_test(tells_what_was_chosen), cmocka_unit_test(tells_losses),
           cmocka_unit_test(tells_what_a_size_costs),
           cmocka_unit_test(counts_no_slices_where_there_are_none), cmocka_unit_test(rounds_down),
           cmocka_unit_test(tells_every_file), cmocka_unit_test(tells_warnings),
           cmocka_unit_test(names_the_first_file));
