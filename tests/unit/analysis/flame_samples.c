/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/flame/flame.h"

#include <stdio.h>
#include <string.h>

#include "analysis/calltree/call_tree.h"
#include "base/memory.h"
#include "fixture.h"
#include "unit.h"

#define TEXT_SIZE 60000

/* The paths of the samples are those of calls. */
static const struct fixture_thread drawing[] = {
    {"main", NULL, {"AAAAAAAAAA CC", " BBBBBBBBB DD", "  BBBB CCC   ", "  A D        "}},
    {"pool", NULL, {"  DD  "}},
};

static void add(struct tv_trace *trace, uint32_t thread, uint32_t path, int64_t weight)
{
    struct tv_sample *sample = tv_table_add(&trace->tables.samples);
    *sample = (struct tv_sample){.time = (int64_t)trace->tables.samples.count * 1000,
                                 .weight = weight,
                                 .offset = TV_NO_OFFSET,
                                 .thread = thread,
                                 .cpu = TV_NONE,
                                 .path = path};
}

static char letter_of(uint32_t frame)
{
    return frame >= TV_THREAD_FRAME ? (char)('0' + (frame - TV_THREAD_FRAME)) : (char)('A' + frame);
}

/* The path of a stack, as letters from the root. */
static uint32_t path_of(const struct tv_trace *trace, const char *stack)
{
    uint32_t path = TV_ROOT_PATH;
    for (; *stack; stack++) {
        uint32_t i = 1;
        while (i < trace->paths.count && (trace->paths.nodes[i].parent != path ||
                                          trace->paths.nodes[i].frame != FIXTURE_FRAME(*stack)))
            i++;
        assert_true(i < trace->paths.count);
        path = i;
    }
    return path;
}

/* One frame a line: depth, letter (of a thread its number), start and width, calls. */
static void told(const struct tv_flame *flame, char *text, bool paths)
{
    size_t at = 0;
    text[0] = '\0';
    for (uint32_t i = 0; i < flame->count; i++) {
        const struct tv_flame_frame *frame = &flame->frames[i];
        at += (size_t)snprintf(text + at, TEXT_SIZE - at, "%u%c %d+%d x%d", frame->depth,
                               letter_of(frame->frame), (int)frame->start, (int)frame->width,
                               (int)frame->calls);
        if (paths)
            at += (size_t)snprintf(text + at, TEXT_SIZE - at, " =%u", frame->path);
        at += (size_t)snprintf(text + at, TEXT_SIZE - at, "\n");
        assert_true(at < TEXT_SIZE);
    }
}

static void assert_flame(const struct tv_trace *trace,
                         const struct tv_flame_samples_options *options, const char *expected)
{
    static char text[TEXT_SIZE];
    struct tv_selection all = TV_SELECT_ALL;
    struct tv_flame *flame = tv_flame_of_samples(trace, &all, options);
    told(flame, text, true);
    assert_string_equal(text, expected);
    tv_flame_free(flame);
}

static void stacks_follow_each_other(void **state)
{
    (void)state;
    struct fixture f = fixture_draw(drawing, 2);
    struct tv_trace *trace = f.trace;
    struct tv_flame_samples_options options = {TV_SAMPLES_WEIGHT, false, 0, TV_ROOT_PATH};
    add(trace, 0, path_of(trace, "AB"), 5);       /* frames 1, 2 */
    add(trace, 1, path_of(trace, "D"), 7);        /* 3 */
    add(trace, 0, path_of(trace, "ABB"), 2);      /* 4, 5, 6 */
    add(trace, 0, path_of(trace, "ABC"), 3);      /* 7, 8, 9 */
    add(trace, TV_NONE, path_of(trace, ""), 100); /* without a stack */
    add(trace, 0, path_of(trace, "CD"), 1);       /* 10, 11 */
    add(trace, 0, path_of(trace, "ABC"), 4);      /* 12, 13, 14; then threads from 15 */
    assert_flame(trace, &options,
                 "00 0+15 x0 =15\n1A 0+10 x3 =1\n2B 0+10 x3 =2\n3B 0+2 x1 =6\n3C 2+3 x1 =9\n"
                 "1C 10+1 x1 =10\n2D 10+1 x1 =11\n1A 11+4 x1 =12\n2B 11+4 x1 =13\n3C 11+4 x1 =14\n"
                 "01 15+7 x0 =16\n1D 15+7 x1 =3\n");
    options.min_share = 0.25; /* 5.5 of 22: places stay free */
    assert_flame(trace, &options,
                 "00 0+15 x0 =15\n1A 0+10 x3 =1\n2B 0+10 x3 =2\n01 15+7 x0 =16\n1D 15+7 x1 =3\n");
    options = (struct tv_flame_samples_options){TV_SAMPLES_WEIGHT, true, 0, 2};
    assert_flame(trace, &options, "0B 0+10 x3 =2\n1C 0+3 x1 =9\n");
    options = (struct tv_flame_samples_options){TV_SAMPLES_COUNT, false, 0, 15};
    assert_flame(trace, &options,
                 "00 0+5 x0 =15\n1A 0+3 x3 =1\n2B 0+3 x3 =2\n3B 0+1 x1 =6\n3C 1+1 x1 =9\n"
                 "1C 3+1 x1 =10\n2D 3+1 x1 =11\n1A 4+1 x1 =12\n2B 4+1 x1 =13\n3C 4+1 x1 =14\n");
    options.root = 5; /* a frame of a later sample: what follows from there */
    assert_flame(trace, &options, "0B 0+2 x2 =5\n1B 0+1 x1 =6\n1C 1+1 x1 =9\n");
    options.root = 17;
    assert_flame(trace, &options, "");
    fixture_free(&f);
}

/* --- Against the plain way: runs of equal letters, level by level. */

struct plain {
    char stacks[64][8];
    int widths[64];
    char text[TEXT_SIZE];
    size_t at;
};

static void plain_level(struct plain *plain, unsigned from, unsigned to, unsigned level, int start)
{
    for (unsigned i = from; i < to;) {
        char letter = plain->stacks[i][level];
        unsigned end = i;
        int width = 0, calls = 0;
        for (unsigned k = i; k < to && letter != '\0'; k++) {
            if (plain->stacks[k][level] == '\0')
                continue;
            if (plain->stacks[k][level] != letter)
                break;
            width += plain->widths[k];
            calls++;
            end = k + 1;
        }
        if (letter == '\0') {
            i++;
            continue;
        }
        plain->at += (size_t)snprintf(plain->text + plain->at, TEXT_SIZE - plain->at,
                                      "%u%c %d+%d x%d\n", level, letter, start, width, calls);
        plain_level(plain, i, end, level + 1, start);
        start += width;
        i = end;
    }
}

static void random_samples_equal_the_plain_way(void **state)
{
    (void)state;
    static char text[TEXT_SIZE];
    static struct plain plain;
    static const char *const stacks[] = {"A", "AB", "ABB", "ABBA", "ABBD", "ABC", "C", "CD"};
    uint32_t random = 7;
    for (unsigned round = 0; round < 200; round++) {
        struct fixture f = fixture_draw(drawing, 1);
        plain = (struct plain){0};
        struct tv_selection all = TV_SELECT_ALL;
        struct tv_flame_samples_options options = {TV_SAMPLES_WEIGHT, false, 0, TV_ROOT_PATH};
        unsigned count = 1 + round % 64;
        for (unsigned i = 0; i < count; i++) {
            random = random * 1664525u + 1013904223u;
            snprintf(plain.stacks[i], sizeof plain.stacks[i], "%s",
                     stacks[(random >> 16) % TV_COUNT(stacks)]);
            plain.widths[i] = 1 + (int)((random >> 24) % 9);
            add(f.trace, 0, path_of(f.trace, plain.stacks[i]), plain.widths[i]);
        }
        plain_level(&plain, 0, count, 0, 0);
        struct tv_flame *flame = tv_flame_of_samples(f.trace, &all, &options);
        told(flame, text, false);
        assert_string_equal(text, plain.text);
        tv_flame_free(flame);
        fixture_free(&f);
    }
}

static void without_samples_there_is_nothing(void **state)
{
    (void)state;
    struct fixture f = fixture_draw(drawing, 2);
    struct tv_flame_samples_options options = {TV_SAMPLES_TIME, false, 0, TV_ROOT_PATH};
    assert_flame(f.trace, &options, "");
    options.root = 1;
    assert_flame(f.trace, &options, "");
    fixture_free(&f);
}

UNIT_TESTS(flame_samples, cmocka_unit_test(stacks_follow_each_other),
           cmocka_unit_test(random_samples_equal_the_plain_way),
           cmocka_unit_test(without_samples_there_is_nothing));
