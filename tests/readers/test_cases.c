/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_cases.c - runs .case files.
 *
 *     test-cases FILE...               each case: read serially, by sinks of all kinds, in parts
 *     test-cases --print FILE...       prints what comes out
 *     test-cases --corpus FOLDER FILE...   writes the inputs as files, for fuzzing
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/memory.h"
#include "cases.h"
#include "recording.h"

static unsigned tests, failures;

static struct tv_source *source_of(const struct test_case *test)
{
    return tv_source_from_memory(test->input, "test");
}

static bool texts_equal(const struct tv_out *a, const struct tv_out *b)
{
    return tv_bytes_equal((struct tv_bytes){a->buffer, a->length},
                          (struct tv_bytes){b->buffer, b->length});
}

/* The first line in which they differ. */
static void print_difference(const struct tv_out *expect, const struct tv_out *got)
{
    struct tv_cursor left = tv_cursor_over((struct tv_bytes){expect->buffer, expect->length});
    struct tv_cursor right = tv_cursor_over((struct tv_bytes){got->buffer, got->length});
    struct tv_bytes a = {0}, b = {0};
    bool more_a, more_b;
    do {
        more_a = tv_cursor_take_line(&left, &a);
        more_b = tv_cursor_take_line(&right, &b);
    } while (more_a && more_b && tv_bytes_equal(a, b));
    printf("#   expected: %.*s\n", more_a ? (int)a.length : 0, (const char *)a.data);
    printf("#   got:      %.*s\n", more_b ? (int)b.length : 0, (const char *)b.data);
}

static void report(bool good, const struct test_case *test, const char *what)
{
    printf("%sok %u - %s: %s\n", good ? "" : "not ", ++tests, test->name, what);
    failures += !good;
}

/* What one reading prints. */
static void print_reading(const struct test_case *test, unsigned parts, const uint64_t *starts,
                          enum recording_style style, bool by_thread, struct tv_out *out)
{
    struct tv_source *source = source_of(test);
    struct recording *recording = recording_read(source, parts, starts, style);
    if (by_thread)
        recording_print_by_thread(recording, out);
    else
        recording_print(recording, out);
    if (recording->passes_differ)
        tv_out_text(out, "the second pass differs\n");
    recording_free(recording);
    tv_source_free(source);
}

static void check_same(const struct test_case *test, const char *what, const struct tv_out *expect,
                       const struct tv_out *got)
{
    bool good = texts_equal(expect, got);
    report(good, test, what);
    if (!good)
        print_difference(expect, got);
}

static void check_style(const struct test_case *test, const char *what, enum recording_style style)
{
    struct tv_out got;
    tv_out_init_memory(&got);
    print_reading(test, 1, NULL, style, false, &got);
    check_same(test, what, &test->expect, &got);
    tv_out_release(&got);
}

#define MAX_PARTS 13
#define ROUNDS 8

/* Repeatable numbers (a linear congruence's upper bits). */
static uint64_t random_below(uint64_t *state, uint64_t limit)
{
    *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (*state >> 33) % limit;
}

static int compare_starts(const void *left, const void *right)
{
    uint64_t a = *(const uint64_t *)left, b = *(const uint64_t *)right;
    return a < b ? -1 : a > b;
}

static bool splits_agree(const struct test_case *test, const struct tv_out *serial, unsigned parts,
                         uint64_t *state)
{
    uint64_t starts[MAX_PARTS] = {0};
    struct tv_out got;
    for (unsigned i = 1; i < parts; i++)
        starts[i] = random_below(state, test->input.length + 1);
    qsort(starts, parts, sizeof *starts, compare_starts);
    tv_out_init_memory(&got);
    enum recording_style style = parts % 2 ? RECORDING_TWO_PASS : RECORDING_PLAIN;
    print_reading(test, parts, starts, style, true, &got);
    bool good = texts_equal(serial, &got);
    if (!good)
        print_difference(serial, &got);
    tv_out_release(&got);
    return good;
}

static void check_splits(const struct test_case *test)
{
    uint64_t state = 1;
    bool good = true;
    struct tv_out serial;
    tv_out_init_memory(&serial);
    print_reading(test, 1, NULL, RECORDING_PLAIN, true, &serial);
    for (unsigned round = 0; round < ROUNDS && good; round++)
        for (unsigned parts = 2; parts <= MAX_PARTS && good; parts++)
            good = splits_agree(test, &serial, parts, &state);
    report(good, test, "2 to 13 parts read what one part reads");
    tv_out_release(&serial);
}

static void check_case(struct test_case *test, void *context)
{
    (void)context;
    check_style(test, "head, events and diagnostics", RECORDING_PLAIN);
    check_style(test, "the same for a sink that writes", RECORDING_WRITES);
    check_style(test, "the same for one that does not wait", RECORDING_AT_ONCE);
    check_style(test, "the same in two passes", RECORDING_TWO_PASS);
    check_splits(test);
}

static void print_case(struct test_case *test, void *context)
{
    struct tv_out out;
    (void)context;
    tv_out_init_memory(&out);
    print_reading(test, 1, NULL, RECORDING_PLAIN, false, &out);
    printf("case %s\n", test->name);
    for (size_t i = 0; i < test->assembly->place_count; i++)
        printf("# :%.*s is %zu\n", (int)test->assembly->places[i].name.length,
               (const char *)test->assembly->places[i].name.data, test->assembly->places[i].offset);
    printf("%.*s\n", (int)out.length, (const char *)out.buffer);
    tv_out_release(&out);
}

/* Letters and digits of the case's name, '-' for all else. */
static void write_case(struct test_case *test, void *context)
{
    char path[4096];
    int length = snprintf(path, sizeof path, "%s/%.60s", (const char *)context, test->name);
    for (char *at = path + strlen(context) + 1; *at; at++)
        *at = (*at >= '0' && *at <= '9') || (*at >= 'A' && *at <= 'Z') || (*at >= 'a' && *at <= 'z')
                  ? *at
                  : '-';
    FILE *file = length > 0 && (size_t)length < sizeof path ? fopen(path, "wb") : NULL;
    if (!file || fwrite(test->input.data, 1, test->input.length, file) != test->input.length) {
        printf("Bail out! cannot write %s\n", path);
        exit(1);
    }
    fclose(file);
}

int main(int argc, char **argv)
{
    int first = 1;
    void (*run)(struct test_case *, void *) = check_case;
    void *context = NULL;
    if (argc > 1 && strcmp(argv[1], "--print") == 0) {
        run = print_case;
        first = 2;
    } else if (argc > 2 && strcmp(argv[1], "--corpus") == 0) {
        run = write_case;
        context = argv[2];
        first = 3;
    }
    for (int i = first; i < argc; i++)
        cases_for_each(argv[i], run, context);
    if (run == check_case)
        printf("1..%u\n", tests);
    return failures > 0;
}
