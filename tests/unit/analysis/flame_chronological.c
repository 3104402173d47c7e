/* SPDX-License-Identifier: Apache-2.0 */
#include "unit.h"

#include <stdio.h>
#include <string.h>

#include "analysis/calltree/call_tree.h"
#include "analysis/flame/flame.h"
#include "base/memory.h"
#include "fixture.h"
#include "reference.h"

/* One frame a line: depth, letter (of a thread its number), start and width in ms, calls. */
static void assert_flame(const struct fixture *f, const struct tv_selection *selection,
                         const struct tv_flame_time_options *options, const char *expected)
{
    char text[1000] = "";
    size_t at = 0;
    struct tv_flame *flame = tv_flame_in_time(f->trace, selection, options);
    for (uint32_t i = 0; i < flame->count; i++) {
        const struct tv_flame_frame *frame = &flame->frames[i];
        char letter = frame->frame >= TV_THREAD_FRAME
                          ? (char)('0' + (frame->frame - TV_THREAD_FRAME))
                          : (char)('A' + frame->frame);
        at += (size_t)snprintf(text + at, sizeof text - at, "%u%c %d+%d x%d\n", frame->depth,
                               letter, (int)(frame->start / 1000000), (int)(frame->width / 1000000),
                               (int)frame->calls);
        assert_true(at < sizeof text);
    }
    assert_string_equal(text, expected);
    tv_flame_free(flame);
}

/* A twice with B at the stitch, something else, A again; F calls itself. */
static const struct fixture_thread drawing[] = {
    {"main", NULL, {"AAAAaaa CC AA FFFFF", " CBBb     B   FFFF ", "               GG  "}},
    {"pool", NULL, {"  DDEEddd          "}},
};

static void frames_of_a_drawing(void **state)
{
    (void)state;
    struct fixture f = fixture_draw(drawing, 2);
    struct tv_selection all = TV_SELECT_ALL;
    const uint32_t main_track[] = {0};
    struct tv_selection one = {INT64_MIN, INT64_MAX, main_track, 1};
    struct tv_flame_time_options options = {TV_CLOCK_WALL, false, 16000000, 0, TV_ROOT_PATH, {0}};
    assert_flame(&f, &one, &options,
                 "0A 0+7 x2\n"
                 "1C 0+1 x1\n"
                 "1B 1+3 x2\n"
                 "0C 7+2 x1\n"
                 "0A 9+2 x1\n"
                 "0F 11+5 x1\n"
                 "1F 11+4 x1\n"
                 "2G 11+2 x1\n");
    options.fold = true;
    options.min_share = 0.13; /* 2.08: the place of C stays free */
    assert_flame(&f, &one, &options,
                 "0A 0+7 x2\n"
                 "1B 1+3 x2\n"
                 "0F 11+5 x1\n");
    options.min_share = 0;
    one.from = 3000000;
    one.to = 17000000;
    assert_flame(&f, &one, &options,
                 "0A 0+4 x2\n"
                 "1B 0+2 x2\n"
                 "0C 4+2 x1\n"
                 "0A 6+2 x1\n"
                 "0F 8+3 x1\n"
                 "1G 8+2 x1\n");
    options.total = 23000000;
    options.min_share = 3.0 / 23; /* F has 5 */
    assert_flame(&f, &all, &options,
                 "00 0+16 x0\n"
                 "1A 0+7 x2\n"
                 "2B 1+3 x2\n"
                 "1F 11+5 x1\n"
                 "01 16+7 x0\n"
                 "1D 20+3 x1\n");
    fixture_free(&f);
}

/* --- Random traces, against the same by recursion over the calls ------------------------------ */

struct plain_frame {
    uint32_t frame, parent, depth, last;
    int64_t width, placed, at;
    uint64_t calls;
};

struct plain {
    const struct reference *reference;
    const struct tv_selection *selection;
    const struct tv_flame_time_options *options;
    struct plain_frame frames[4000];
    uint32_t count;
};

static uint32_t plain_frame(struct plain *plain, uint32_t parent, uint32_t frame)
{
    uint32_t last = plain->frames[parent].last;
    if (last != TV_NONE && plain->frames[last].frame == frame)
        return last;
    assert_true(plain->count < TV_COUNT(plain->frames));
    plain->frames[plain->count] = (struct plain_frame){.frame = frame,
                                                       .parent = parent,
                                                       .depth = plain->frames[parent].depth + 1,
                                                       .last = TV_NONE};
    return plain->frames[parent].last = plain->count++;
}

/* The calls that one made (TV_NONE: those of depth 0 of a thread), each with what it made. */
static void plain_calls(struct plain *plain, uint32_t thread, uint32_t caller, uint32_t on)
{
    const struct reference *r = plain->reference;
    for (uint32_t i = 0; i < r->count; i++) {
        struct tv_path_cost cost = {0};
        if (r->calls[i].thread != thread || r->calls[i].parent != caller ||
            !reference_cost(r, i, plain->selection->from, plain->selection->to, &cost))
            continue;
        int64_t width = plain->options->clock == TV_CLOCK_CPU ? cost.cpu : cost.wall;
        if (width <= 0)
            continue;
        if (plain->options->fold && plain->frames[on].frame == r->calls[i].frame) {
            plain_calls(plain, thread, i, on);
            continue;
        }
        uint32_t made = plain_frame(plain, on, r->calls[i].frame);
        plain->frames[made].width += width;
        plain->frames[made].calls++;
        plain_calls(plain, thread, i, made);
    }
}

static void make_plain(struct plain *plain, unsigned threads)
{
    plain->frames[0] = (struct plain_frame){.frame = TV_NONE, .depth = TV_NONE, .last = TV_NONE};
    plain->count = 1;
    for (uint32_t thread = 0; thread < threads; thread++) {
        uint32_t on = threads > 1 ? plain_frame(plain, 0, TV_THREAD_FRAME + thread) : 0;
        plain_calls(plain, thread, TV_NONE, on);
        for (uint32_t i = on + 1; threads > 1 && i < plain->count; i++)
            plain->frames[on].width += plain->frames[i].parent == on ? plain->frames[i].width : 0;
    }
    for (uint32_t i = 1; i < plain->count; i++) {
        struct plain_frame *parent = &plain->frames[plain->frames[i].parent];
        plain->frames[i].at = parent->at + parent->placed;
        parent->placed += plain->frames[i].width;
    }
}

static bool is_drawn(const struct plain *plain, uint32_t index)
{
    int64_t least = tv_flame_threshold(plain->options->total, plain->options->min_share);
    for (; index != 0; index = plain->frames[index].parent)
        if (plain->frames[index].width < least)
            return false;
    return true;
}

static void check_flame(const struct plain *plain, const struct tv_flame *flame)
{
    uint32_t at = 0;
    int64_t drawn_self = 0;
    assert_int_equal(flame->total, plain->options->total);
    for (uint32_t i = 1; i < plain->count; i++) {
        const struct plain_frame *expected = &plain->frames[i];
        if (!is_drawn(plain, i))
            continue;
        assert_true(at < flame->count);
        const struct tv_flame_frame *frame = &flame->frames[at++];
        assert_int_equal(frame->frame, expected->frame);
        assert_int_equal(frame->depth, expected->depth);
        assert_int_equal(frame->start, expected->at);
        assert_int_equal(frame->width, expected->width);
        assert_int_equal(frame->self, expected->width - expected->placed);
        assert_int_equal(frame->calls, expected->calls);
        drawn_self += frame->self;
    }
    assert_int_equal(at, flame->count);
    assert_int_equal(drawn_self + flame->left_out, flame->total);
}

/* Each frame, taken as root, gives the graph that lies on it. */
static void check_roots(const struct fixture *f, const struct tv_selection *selection,
                        struct tv_flame_time_options options)
{
    struct tv_flame *whole = tv_flame_in_time(f->trace, selection, &options);
    for (uint32_t i = 0; i < whole->count; i += 1 + i / 9) {
        const struct tv_flame_frame *root = &whole->frames[i];
        options.root = root->path;
        struct tv_flame *part = tv_flame_in_time(f->trace, selection, &options);
        assert_true(part->count > 0);
        assert_int_equal(part->total, root->width);
        for (uint32_t k = 0; k < part->count; k++) {
            assert_int_equal(part->frames[k].depth + root->depth, root[k].depth);
            assert_int_equal(part->frames[k].start + root->start, root[k].start);
            assert_int_equal(part->frames[k].width, root[k].width);
            assert_int_equal(part->frames[k].frame, root[k].frame);
            assert_int_equal(part->frames[k].path, root[k].path);
        }
        assert_true(i + part->count == whole->count ||
                    whole->frames[i + part->count].depth <= root->depth);
        tv_flame_free(part);
    }
    tv_flame_free(whole);
}

static void check_trace(const struct fixture_dice *dice, bool cpu)
{
    static struct plain plain;
    struct fixture f = fixture_random(dice);
    struct reference reference = reference_of(&f);
    struct tv_selection selection = TV_SELECT_ALL;
    for (int round = 0; round < 8; round++) {
        struct tv_flame_time_options options = {cpu ? TV_CLOCK_CPU : TV_CLOCK_WALL,
                                                round & 1,
                                                0,
                                                round & 2 ? 0.01 : 0,
                                                TV_ROOT_PATH,
                                                {0}};
        if (round & 4) {
            selection.from = f.trace->start + (f.trace->end - f.trace->start) / 3;
            selection.to = f.trace->start + (f.trace->end - f.trace->start) / 2;
        }
        plain = (struct plain){&reference, &selection, &options, {{0}}, 0};
        make_plain(&plain, dice->threads);
        options.total = plain.frames[0].placed;
        struct tv_flame *flame = tv_flame_in_time(f.trace, &selection, &options);
        check_flame(&plain, flame);
        tv_flame_free(flame);
        if (options.min_share == 0)
            check_roots(&f, &selection, options);
    }
    reference_release(&reference);
    fixture_free(&f);
}

static void random_traces_equal_the_plain_walk(void **state)
{
    (void)state;
    const struct fixture_dice dice[] = {
        {11, 3, 3, 9, 1500, TV_CLOCK_WALL | TV_CLOCK_CPU, 1000, 50, 1, false},
        {12, 1, 2, 9, 1500, TV_CLOCK_WALL, 1, 9000000, 1, true},
        {13, 2, 2, 6, 1500, TV_CLOCK_CPU, 1000, 50, 1, false},
    };
    for (size_t i = 0; i < TV_COUNT(dice); i++) {
        if (dice[i].clocks & TV_CLOCK_WALL)
            check_trace(&dice[i], false);
        if (dice[i].clocks & TV_CLOCK_CPU)
            check_trace(&dice[i], true);
    }
}

static void wrong_roots_have_no_frames(void **state)
{
    (void)state;
    struct fixture f = fixture_draw(drawing, 2);
    struct tv_selection all = TV_SELECT_ALL, empty = {5, 5, NULL, 0};
    const uint32_t roots[] = {4000000000u, TV_NONE - 1, TV_NONE, 16};
    struct tv_flame_time_options options = {TV_CLOCK_WALL, false, 1, 0, 0, {0}};
    assert_int_equal(f.trace->slice_count, 13); /* their names are 1 to 13, then two threads */
    for (size_t i = 0; i < TV_COUNT(roots); i++) {
        options.root = roots[i];
        assert_flame(&f, &all, &options, "");
    }
    options.root = TV_ROOT_PATH;
    assert_flame(&f, &empty, &options, "");
    fixture_free(&f);
}

#define TEXT_SIZE 60000

/* The paths of the samples are those of calls. */
static const struct fixture_thread flame_samples_drawing[] = {
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
                                 .path = path,
                                 .line_path = path,
                                 .type = fixture_value_type(trace, "tick", "count")};
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

static void flame_samples_assert_flame(const struct tv_trace *trace,
                                       const struct tv_flame_samples_options *options,
                                       const char *expected)
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
    struct fixture f = fixture_draw(flame_samples_drawing, 2);
    struct tv_trace *trace = f.trace;
    struct tv_flame_samples_options options = {
        {TV_SAMPLES_WEIGHT, TV_NONE, true, false}, false, 0, TV_ROOT_PATH, {0}};
    add(trace, 0, path_of(trace, "AB"), 5);       /* frames 1, 2 */
    add(trace, 1, path_of(trace, "D"), 7);        /* 3 */
    add(trace, 0, path_of(trace, "ABB"), 2);      /* 4, 5, 6 */
    add(trace, 0, path_of(trace, "ABC"), 3);      /* 7, 8, 9 */
    add(trace, TV_NONE, path_of(trace, ""), 100); /* without a stack */
    add(trace, 0, path_of(trace, "CD"), 1);       /* 10, 11 */
    add(trace, 0, path_of(trace, "ABC"), 4);      /* 12, 13, 14; then threads from 15 */
    flame_samples_assert_flame(
        trace, &options,
        "00 0+15 x0 =15\n1A 0+10 x3 =1\n2B 0+10 x3 =2\n3B 0+2 x1 =6\n3C 2+3 x1 =9\n"
        "1C 10+1 x1 =10\n2D 10+1 x1 =11\n1A 11+4 x1 =12\n2B 11+4 x1 =13\n3C 11+4 x1 =14\n"
        "01 15+7 x0 =16\n1D 15+7 x1 =3\n");
    options.min_share = 0.25; /* 5.5 of 22: places stay free */
    flame_samples_assert_flame(
        trace, &options,
        "00 0+15 x0 =15\n1A 0+10 x3 =1\n2B 0+10 x3 =2\n01 15+7 x0 =16\n1D 15+7 x1 =3\n");
    options = (struct tv_flame_samples_options){
        {TV_SAMPLES_WEIGHT, TV_NONE, true, false}, true, 0, 2, {0}};
    flame_samples_assert_flame(trace, &options, "0B 0+10 x3 =2\n1C 0+3 x1 =9\n");
    options = (struct tv_flame_samples_options){
        {TV_SAMPLES_COUNT, TV_NONE, true, false}, false, 0, 15, {0}};
    flame_samples_assert_flame(
        trace, &options,
        "00 0+5 x0 =15\n1A 0+3 x3 =1\n2B 0+3 x3 =2\n3B 0+1 x1 =6\n3C 1+1 x1 =9\n"
        "1C 3+1 x1 =10\n2D 3+1 x1 =11\n1A 4+1 x1 =12\n2B 4+1 x1 =13\n3C 4+1 x1 =14\n");
    options.root = 5; /* a frame of a later sample: what follows from there */
    flame_samples_assert_flame(trace, &options, "0B 0+2 x2 =5\n1B 0+1 x1 =6\n1C 1+1 x1 =9\n");
    options.root = 17;
    flame_samples_assert_flame(trace, &options, "");
    fixture_free(&f);
}

/* --- Against the plain way: runs of equal letters, level by level. */

struct flame_samples_plain {
    char stacks[64][8];
    int widths[64];
    char text[TEXT_SIZE];
    size_t at;
};

static void plain_level(struct flame_samples_plain *flame_samples_plain, unsigned from, unsigned to,
                        unsigned level, int start)
{
    for (unsigned i = from; i < to;) {
        char letter = flame_samples_plain->stacks[i][level];
        unsigned end = i;
        int width = 0, calls = 0;
        for (unsigned k = i; k < to && letter != '\0'; k++) {
            if (flame_samples_plain->stacks[k][level] == '\0')
                continue;
            if (flame_samples_plain->stacks[k][level] != letter)
                break;
            width += flame_samples_plain->widths[k];
            calls++;
            end = k + 1;
        }
        if (letter == '\0') {
            i++;
            continue;
        }
        flame_samples_plain->at +=
            (size_t)snprintf(flame_samples_plain->text + flame_samples_plain->at,
                             TEXT_SIZE - flame_samples_plain->at, "%u%c %d+%d x%d\n", level, letter,
                             start, width, calls);
        plain_level(flame_samples_plain, i, end, level + 1, start);
        start += width;
        i = end;
    }
}

static void random_samples_equal_the_plain_way(void **state)
{
    (void)state;
    static char text[TEXT_SIZE];
    static struct flame_samples_plain flame_samples_plain;
    static const char *const stacks[] = {"A", "AB", "ABB", "ABBA", "ABBD", "ABC", "C", "CD"};
    uint32_t random = 7;
    for (unsigned round = 0; round < 200; round++) {
        struct fixture f = fixture_draw(flame_samples_drawing, 1);
        flame_samples_plain = (struct flame_samples_plain){0};
        struct tv_selection all = TV_SELECT_ALL;
        struct tv_flame_samples_options options = {
            {TV_SAMPLES_WEIGHT, TV_NONE, true, false}, false, 0, TV_ROOT_PATH, {0}};
        unsigned count = 1 + round % 64;
        for (unsigned i = 0; i < count; i++) {
            random = random * 1664525u + 1013904223u;
            snprintf(flame_samples_plain.stacks[i], sizeof flame_samples_plain.stacks[i], "%s",
                     stacks[(random >> 16) % TV_COUNT(stacks)]);
            flame_samples_plain.widths[i] = 1 + (int)((random >> 24) % 9);
            add(f.trace, 0, path_of(f.trace, flame_samples_plain.stacks[i]),
                flame_samples_plain.widths[i]);
        }
        plain_level(&flame_samples_plain, 0, count, 0, 0);
        struct tv_flame *flame = tv_flame_of_samples(f.trace, &all, &options);
        told(flame, text, false);
        assert_string_equal(text, flame_samples_plain.text);
        tv_flame_free(flame);
        fixture_free(&f);
    }
}

static void without_samples_the_graph_is_empty(void **state)
{
    (void)state;
    struct fixture f = fixture_draw(flame_samples_drawing, 2);
    struct tv_flame_samples_options options = {
        {TV_SAMPLES_TIME, TV_NONE, true, false}, false, 0, TV_ROOT_PATH, {0}};
    flame_samples_assert_flame(f.trace, &options, "");
    options.root = 1;
    flame_samples_assert_flame(f.trace, &options, "");
    fixture_free(&f);
}

UNIT_TESTS(flame_chronological, cmocka_unit_test(frames_of_a_drawing),
           cmocka_unit_test(random_traces_equal_the_plain_walk),
           cmocka_unit_test(wrong_roots_have_no_frames), cmocka_unit_test(stacks_follow_each_other),
           cmocka_unit_test(random_samples_equal_the_plain_way),
           cmocka_unit_test(without_samples_the_graph_is_empty));
