/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_te.c - runs .te files: Trace Event files and what they mean, on one screen.
 *
 *     test-te FILE...                  each case, read in one part and in 2 to 13
 *     test-te --damage WAYS FILE...    cut anywhere, and each byte changed in so many ways
 *     test-te --print FILE...          what comes out
 *     test-te --corpus FOLDER FILE...  writes the inputs as files, for fuzzing
 *
 *     case NAME       begins a case; text before the first one is a comment
 *     input           lines as they are, the last without its line end; \xNN is a byte
 *     expect          as te_model_print prints it, or "error TEXT"; \xNN is a byte
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/memory.h"
#include "base/workers.h"
#include "cases.h"
#include "te_model.h"

struct te_case {
    char name[128];
    struct tv_out input, expect;
};

static unsigned tests, failures, damage_ways;
static const char *corpus;
static unsigned corpus_count;

/* ---- Readings as text ---- */

static void put_reading(struct tv_bytes bytes, unsigned parts, const uint64_t *starts,
                        void (*put)(const struct tv_trace *trace, struct tv_out *out),
                        struct tv_out *out)
{
    struct tv_error err;
    /* A block of its own, so that a byte too far is seen. */
    uint8_t *copy = tv_alloc(bytes.length, 1);
    if (bytes.length > 0)
        memcpy(copy, bytes.data, bytes.length);
    struct tv_trace *trace =
        te_model_read((struct tv_bytes){copy, bytes.length}, parts, starts, &err);
    if (trace) {
        put(trace, out);
        tv_trace_free(trace);
    } else {
        char text[512];
        tv_out_format(out, "error %s\n", tv_error_text(&err, text, sizeof text));
    }
    tv_free(copy);
}

static struct tv_bytes bytes_of(const struct tv_out *out)
{
    return (struct tv_bytes){out->buffer, out->length};
}

static void report(bool good, const char *name, const char *what)
{
    printf("%sok %u - %s: %s\n", good ? "" : "not ", ++tests, name, what);
    failures += !good;
}

/* The first line in which they differ. */
static void print_difference(struct tv_bytes expect, struct tv_bytes got)
{
    struct tv_bytes a, b;
    bool more_a = true, more_b = true;
    do {
        more_a = tv_bytes_split(&expect, '\n', &a);
        more_b = tv_bytes_split(&got, '\n', &b);
    } while (more_a && more_b && tv_bytes_equal(a, b));
    printf("#   expected: %.*s\n#   got:      %.*s\n", (int)a.length, (const char *)a.data,
           (int)b.length, (const char *)b.data);
}

/* ---- Checks ---- */

static void check_expected(const struct te_case *test)
{
    struct tv_out got;
    tv_out_init_memory(&got);
    put_reading(bytes_of(&test->input), 1, NULL, te_model_print, &got);
    bool good = tv_bytes_equal(bytes_of(&test->expect), bytes_of(&got));
    report(good, test->name, "what it means");
    if (!good)
        print_difference(bytes_of(&test->expect), bytes_of(&got));
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

static bool split_agrees(const struct te_case *test, const struct tv_out *serial, unsigned parts,
                         uint64_t *state)
{
    uint64_t starts[MAX_PARTS] = {0};
    struct tv_out got;
    for (unsigned i = 0; i + 1 < parts; i++)
        starts[i] = random_below(state, test->input.length + 1);
    qsort(starts, parts - 1, sizeof *starts, compare_starts);
    tv_out_init_memory(&got);
    put_reading(bytes_of(&test->input), parts, starts, te_model_dump, &got);
    bool good = tv_bytes_equal(bytes_of(serial), bytes_of(&got));
    if (!good)
        print_difference(bytes_of(serial), bytes_of(&got));
    tv_out_release(&got);
    return good;
}

static void check_splits(const struct te_case *test)
{
    uint64_t state = 1;
    bool good = true;
    struct tv_out serial;
    tv_out_init_memory(&serial);
    put_reading(bytes_of(&test->input), 1, NULL, te_model_dump, &serial);
    for (unsigned round = 0; round < ROUNDS && good; round++) {
        tv_workers_run_inline(round > 0); /* to start threads takes most of the time */
        for (unsigned parts = 2; parts <= MAX_PARTS && good; parts++)
            good = split_agrees(test, &serial, parts, &state);
    }
    tv_workers_run_inline(false);
    report(good, test->name, "2 to 13 parts read what one part reads");
    tv_out_release(&serial);
}

/* Values that mean something in JSON, then the bits. */
static uint8_t changed(uint8_t byte, unsigned way)
{
    static const uint8_t values[] = {'"', '{', '}', '[', ']', ',', ':', '\\', 0, 0xff, ' ', '-'};
    return way < TV_COUNT(values) ? values[way] : (uint8_t)(byte ^ (way - TV_COUNT(values) + 1));
}

/* Any damage ends in a result or an error, the same in one part and in three; sanitizers watch. */
static bool damaged_reads_agree(struct tv_bytes bytes)
{
    struct tv_out one, three;
    uint64_t starts[2] = {bytes.length / 3, bytes.length / 3 * 2};
    tv_out_init_memory(&one);
    tv_out_init_memory(&three);
    put_reading(bytes, 1, NULL, te_model_dump, &one);
    put_reading(bytes, 3, starts, te_model_dump, &three);
    bool good = tv_bytes_equal(bytes_of(&one), bytes_of(&three));
    if (!good)
        print_difference(bytes_of(&one), bytes_of(&three));
    tv_out_release(&one);
    tv_out_release(&three);
    return good;
}

static void check_damage(struct te_case *test)
{
    bool good = true;
    for (size_t cut = 0; cut < test->input.length && good; cut++)
        good = damaged_reads_agree((struct tv_bytes){test->input.buffer, cut});
    report(good, test->name, "cut anywhere");
    good = true;
    for (size_t i = 0; i < test->input.length && good; i++) {
        uint8_t before = test->input.buffer[i];
        for (unsigned way = 0; way < damage_ways && good; way++) {
            test->input.buffer[i] = changed(before, way);
            good = damaged_reads_agree(bytes_of(&test->input));
            if (!good)
                printf("# byte %zu changed to %u\n", i, test->input.buffer[i]);
        }
        test->input.buffer[i] = before;
    }
    report(good, test->name, "changed anywhere");
}

static void check(struct te_case *test)
{
    check_expected(test);
    check_splits(test);
}

static void print(struct te_case *test)
{
    struct tv_out got;
    tv_out_init_memory(&got);
    put_reading(bytes_of(&test->input), 1, NULL, te_model_print, &got);
    printf("case %s\nexpect\n%.*s\n", test->name, (int)got.length, (const char *)got.buffer);
    tv_out_release(&got);
}

static void write_corpus(struct te_case *test)
{
    char path[1024];
    snprintf(path, sizeof path, "%s/%03u", corpus, corpus_count++);
    FILE *file = fopen(path, "wb");
    if (!file || fwrite(test->input.buffer, 1, test->input.length, file) != test->input.length ||
        fclose(file) != 0)
        exit(1);
}

/* ---- .te files ---- */

/* A line: \xNN are bytes. */
static void add_bytes(struct tv_out *input, struct tv_bytes line)
{
    uint64_t byte;
    for (size_t i = 0; i < line.length; i++) {
        struct tv_bytes digits = {line.data + i + 2, 2};
        if (line.length - i >= 4 && line.data[i] == '\\' && line.data[i + 1] == 'x' &&
            tv_parse_hex(digits, &byte)) {
            tv_out_char(input, (char)byte);
            i += 3;
        } else {
            tv_out_char(input, (char)line.data[i]);
        }
    }
}

static void finish(struct te_case *test, void (*run)(struct te_case *test))
{
    if (test->name[0] != '\0')
        run(test);
    tv_out_release(&test->input);
    tv_out_release(&test->expect);
}

static void begin(struct te_case *test, struct tv_bytes name)
{
    snprintf(test->name, sizeof test->name, "%.*s", (int)name.length, (const char *)name.data);
    tv_out_init_memory(&test->input);
    tv_out_init_memory(&test->expect);
}

enum section { COMMENT, INPUT, EXPECT };

static void add_line(struct te_case *test, enum section section, struct tv_bytes line, bool first)
{
    if (section == INPUT) {
        if (!first)
            tv_out_char(&test->input, '\n');
        add_bytes(&test->input, line);
    } else if (section == EXPECT && line.length > 0) {
        add_bytes(&test->expect, line);
        tv_out_char(&test->expect, '\n');
    }
}

static void run_file(const char *path, void (*run)(struct te_case *test))
{
    struct tv_out text;
    struct te_case test = {.name = ""};
    struct tv_bytes line;
    enum section section = COMMENT;
    bool first = true;
    tv_out_init_memory(&text);
    cases_read_file(path, &text);
    begin(&test, TV_BYTES(""));
    struct tv_cursor cursor = tv_cursor_over(bytes_of(&text));
    while (tv_cursor_take_line(&cursor, &line)) {
        enum section before = section;
        if (line.length > 5 && memcmp(line.data, "case ", 5) == 0) {
            finish(&test, run);
            begin(&test, (struct tv_bytes){line.data + 5, line.length - 5});
            section = COMMENT;
        } else if (tv_bytes_equal(line, TV_BYTES("input"))) {
            section = INPUT;
        } else if (tv_bytes_equal(line, TV_BYTES("expect"))) {
            section = EXPECT;
        } else {
            add_line(&test, section, line, first);
            first = false;
        }
        first = first || section != before;
    }
    finish(&test, run);
    tv_out_release(&text);
}

int main(int argc, char **argv)
{
    void (*run)(struct te_case * test) = check;
    int i = 1;
    if (argc > 3 && strcmp(argv[1], "--damage") == 0) {
        run = check_damage;
        tv_workers_run_inline(true);
        damage_ways = (unsigned)atoi(argv[2]);
        i = 3;
    } else if (argc > 3 && strcmp(argv[1], "--corpus") == 0) {
        run = write_corpus;
        corpus = argv[2];
        i = 3;
    } else if (argc > 2 && strcmp(argv[1], "--print") == 0) {
        run = print;
        i = 2;
    }
    for (; i < argc; i++)
        run_file(argv[i], run);
    if (run == check || run == check_damage)
        printf("1..%u\n", tests);
    return failures > 0;
}
