/* SPDX-License-Identifier: Apache-2.0 */
#include "unit.h"

#include <stdio.h>
#include <string.h>

#include "analysis/subset/filter.h"

#include "analysis/calltree/profile.h"
#include "analysis/reference.h"
#include "base/bytes.h"
#include "base/memory.h"

static struct tv_filter parse(const char *line)
{
    struct tv_filter filter;
    struct tv_error err = {0};
    size_t column;
    if (tv_filter_parse(tv_bytes_of(line), &filter, &column, &err) != TV_OK)
        fail_msg("%s", err.message);
    return filter;
}

static struct tv_trace *filtered(const struct tv_trace *trace, const char *line)
{
    struct tv_filter filter = parse(line);
    struct tv_trace *made = tv_filter_trace(trace, &filter);
    tv_filter_release(&filter);
    return made;
}

/* ---- By hand ---- */

#define COLUMN 1000000

/* A row of a trace as drawings have it (fixture.h), capitals alone. */
static void draw_row(const struct tv_trace *trace, uint32_t row, char *line, size_t size)
{
    memset(line, ' ', size - 1);
    line[size - 1] = '\0';
    for (uint32_t i = 0; i < trace->rows[row].count; i++) {
        struct tv_slice slice = tv_slice_get(trace, row, i);
        char letter = (char)('A' + trace->paths.nodes[slice.path].frame);
        for (tv_ns t = slice.start / COLUMN; t < (slice.start + slice.length) / COLUMN; t++)
            line[t] = letter;
    }
}

/* Whether a call's parent by flags is the call above it, and its path goes on that one's. */
static void assert_nested(const struct tv_trace *trace)
{
    for (uint32_t row = 0; row < trace->row_count; row++)
        for (uint32_t i = 0; i < trace->rows[row].count; i++) {
            struct tv_slice slice = tv_slice_get(trace, row, i);
            uint32_t parent = tv_slice_parent(trace, row, i), above = TV_ROOT_PATH, first, count;
            if (trace->rows[row].depth > 0) {
                struct tv_slice outer = tv_slice_get(trace, row - 1, parent);
                assert_true(outer.start <= slice.start);
                assert_true(outer.start + outer.length >= slice.start + slice.length);
                above = outer.path;
                tv_slice_children(trace, row - 1, parent, &first, &count);
                assert_in_range(i, first, first + count - 1);
            }
            assert_int_equal(trace->paths.nodes[slice.path].parent, above);
        }
}

struct drawn {
    const char *filter;
    const char *rows[6]; /* of all tracks, one after the other */
};

static void assert_left(const struct fixture *f, const struct drawn *drawn)
{
    char line[16];
    struct tv_trace *trace = filtered(f->trace, drawn->filter);
    uint32_t row = 0;
    for (; row < TV_COUNT(drawn->rows) && drawn->rows[row]; row++) {
        if (row >= trace->row_count)
            fail_msg("%s: only %u rows", drawn->filter, row);
        draw_row(trace, row, line, strlen(drawn->rows[row]) + 1);
        if (strcmp(line, drawn->rows[row]) != 0)
            fail_msg("%s: row %u: '%s'", drawn->filter, row, line);
    }
    assert_int_equal(trace->row_count, row);
    assert_nested(trace);
    tv_trace_free(trace);
}

static void children_go_to_the_nearest_shown_parent(void **state)
{
    (void)state;
    static const struct fixture_thread threads[] = {
        {"main", NULL, {"AAAAAA BBB", "CCC DD bBB", "E E AA    "}},
        {"worker", NULL, {"FFFF", " A  "}},
    };
    static const struct drawn rows[] = {
        {"", {"AAAAAA BBB", "CCC DD BBB", "E E AA    ", "FFFF", " A  "}},
        {"-name:c", {"AAAAAA BBB", "E E DD BBB", "    AA    ", "FFFF", " A  "}},
        {"name:A", {"AAAAAA    ", "    AA    ", " A  "}},
        {"name:E|D", {"E E DD    "}},
        {"thread:main -method=a", {"CCC DD BBB", "E E    BBB"}},
        {"thread:work", {"FFFF", " A  "}},
        {"-thread:main", {"FFFF", " A  "}},
        {"tid:1 depth:1", {"CCC DD BBB"}},
        {"dur>=3ms", {"AAAAAA BBB", "CCC       ", "FFFF"}},
        {"dur:2ms..3ms", {"CCC DD BBB", "    AA  BB"}},
        {"class:demo.F", {"FFFF"}},
        {"name:nothing", {NULL}},
        {"cat:gpu", {NULL}},
        {"arg.x:1", {NULL}},
        {"-arg.x:1 thread:w", {"FFFF", " A  "}},
    };
    struct fixture f = fixture_draw(threads, 2);
    for (size_t i = 0; i < TV_COUNT(rows); i++)
        assert_left(&f, &rows[i]);
    fixture_free(&f);
}

static void self_time_is_that_of_the_whole_trace(void **state)
{
    (void)state;
    static const struct fixture_thread threads[] = {{"main", NULL, {"AAAAAA", "BBCCCC", " D    "}}};
    static const struct drawn rows[] = {
        {"self=0", {"AAAAAA"}},
        {"self>=2ms", {"  CCCC"}},
        {"-self=0", {"BBCCCC", " D    "}},
    };
    struct fixture f = fixture_draw(threads, 1);
    for (size_t i = 0; i < TV_COUNT(rows); i++)
        assert_left(&f, &rows[i]);
    fixture_free(&f);
}

/* CPU time stays with the slice: half a column of each is spent (digits of cpu). */
static void cpu_times_are_kept(void **state)
{
    (void)state;
    static const struct fixture_thread threads[] = {{"main", "5555", {"AAAA", "BBCC"}}};
    static const struct drawn rows[] = {
        {"cpu>=2ms", {"AAAA"}},
        {"cpu<2ms", {"BBCC"}},
    };
    struct fixture f = fixture_draw(threads, 1);
    for (size_t i = 0; i < TV_COUNT(rows); i++)
        assert_left(&f, &rows[i]);
    struct tv_trace *trace = filtered(f.trace, "name:c");
    struct tv_slice slice = tv_slice_get(trace, 0, 0);
    assert_int_equal(slice.cpu_start, 1000000);
    assert_int_equal(slice.cpu_length, 1000000);
    tv_trace_free(trace);
    fixture_free(&f);
}

static void the_axis_and_the_names_stay(void **state)
{
    (void)state;
    static const struct fixture_thread threads[] = {{"main", NULL, {"AAAA BB", " B     "}}};
    struct fixture f = fixture_draw(threads, 1);
    struct tv_trace *trace = filtered(f.trace, "name:b");
    assert_ptr_equal(trace->head, f.trace->head);
    assert_int_equal(trace->start, f.trace->start);
    assert_int_equal(trace->end, f.trace->end);
    assert_int_equal(trace->recorded_calls, 2);
    assert_int_equal(trace->max_depth, 1);
    /* It lives on without the other. */
    tv_trace_take_over(trace, f.trace);
    f.trace = trace;
    assert_int_equal(trace->slice_count, 2);
    assert_null(trace->base);
    fixture_free(&f);
}

/* A flow between two slices, by row and index, or from an instant. */
static void add_flow(struct tv_trace *trace, struct tv_flow_end from, struct tv_flow_end to)
{
    struct tv_flow *flow = tv_table_add(&trace->tables.flows);
    *flow = (struct tv_flow){.from = from, .to = to, .offset = trace->tables.flows.count};
}

/* "0.0>1.1 i0>0.1": the ends of all flows. */
static void assert_flows(const struct fixture *f, const char *line, const char *expected)
{
    char text[128] = "";
    struct tv_trace *trace = filtered(f->trace, line);
    for (size_t i = 0; i < trace->tables.flows.count; i++) {
        const struct tv_flow *flow = &trace->tables.flows.rows[i];
        size_t at = strlen(text);
        if (flow->from.row == TV_NONE)
            snprintf(text + at, sizeof text - at, "i%u>%u.%u ", flow->from.index, flow->to.row,
                     flow->to.index);
        else
            snprintf(text + at, sizeof text - at, "%u.%u>%u.%u ", flow->from.row, flow->from.index,
                     flow->to.row, flow->to.index);
    }
    if (strcmp(text, expected) != 0)
        fail_msg("%s: '%s'", line, text);
    tv_trace_free(trace);
}

static void arrows_follow_their_slices(void **state)
{
    (void)state;
    static const struct fixture_thread threads[] = {{"main", NULL, {"AAAA BBB", " CC  D  "}}};
    struct fixture f = fixture_draw(threads, 1);
    for (uint32_t i = 0; i < 2; i++)
        *tv_table_add(&f.trace->tables.instants) =
            (struct tv_instant){.time = i, .offset = TV_NO_OFFSET, .frame = i, .of = 0};
    struct tv_flow_end a = {0, 0, 0}, b = {0, 0, 1}, c = {0, 1, 0}, d = {0, 1, 1};
    add_flow(f.trace, c, d);
    add_flow(f.trace, a, c);
    add_flow(f.trace, b, b);
    add_flow(f.trace, (struct tv_flow_end){0, TV_NONE, 1}, b);
    assert_flows(&f, "", "1.0>1.1 0.0>1.0 0.1>0.1 i1>0.1 ");
    assert_flows(&f, "-name:c", "0.0>1.0 0.1>0.1 i1>0.1 "); /* A to itself tells nothing */
    assert_flows(&f, "-name:a", "0.0>1.0 0.1>0.1 i0>0.1 ");
    assert_flows(&f, "name:a|b", "0.0>0.1 0.1>0.1 i1>0.1 ");
    assert_flows(&f, "method:c|d", "0.0>0.1 ");
    assert_flows(&f, "name:a", "");
    fixture_free(&f);
}

static void a_slice_is_found_again(void **state)
{
    (void)state;
    static const struct fixture_thread threads[] = {
        {"main", NULL, {"AAAA BB", "BBB   B", "BBB    "}},
        {"io", NULL, {"BBB"}},
    };
    struct fixture f = fixture_draw(threads, 2);
    struct tv_trace *b = filtered(f.trace, "name:b");
    uint32_t row = 9, index = 9;
    /* the second of two that are alike but for their depth */
    assert_true(tv_filter_same_slice(f.trace, 2, 0, b, &row, &index));
    assert_int_equal(row, 1);
    assert_int_equal(index, 0);
    assert_true(tv_filter_same_slice(b, 1, 0, f.trace, &row, &index));
    assert_int_equal(row, 2);
    assert_true(tv_filter_same_slice(f.trace, 3, 0, b, &row, &index)); /* of io */
    assert_int_equal(row, 2);
    assert_false(tv_filter_same_slice(f.trace, 0, 0, b, &row, &index));
    struct tv_trace *io = filtered(f.trace, "thread:io");
    assert_false(tv_filter_same_slice(f.trace, 1, 0, io, &row, &index));
    tv_trace_free(io);
    tv_trace_free(b);
    fixture_free(&f);
}

static void argument_terms_match(void **state)
{
    (void)state;
    static const char said[] =
        "{\"args\":{\"url\":\"http:\\/\\/x\\/"
        "img\",\"size\":1200,\"data\":{\"url\":\"inner\",\"list\":"
        "[{\"id\":7},8]},\"n\":null,\"\\u00e9\":\"\\\"q\\\"\"},\"id\":\"0x1\"}";
    static const struct {
        const char *line;
        bool fits;
    } rows[] = {
        {"arg.url:*/img", true},      {"arg.url:inner", false},
        {"arg.data.url=inner", true}, {"arg.data:inner", true},
        {"arg:inner", true},          {"arg:0x1", false},
        {"arg.size>1000", true},      {"arg.size>1200", false},
        {"arg.size:12*", true},       {"arg.data.list:7", true},
        {"arg.data.list.id=7", true}, {"arg.data.list.id=8", false},
        {"arg.n:null", true},         {"arg.\xc3\xa9=\"\\\"q\\\"\"", true},
        {"arg.ur:*", false},          {"arg.url:*", true},
        {"arg.url>1", false},         {"arg.url~^http", true},
    };
    for (size_t i = 0; i < TV_COUNT(rows); i++) {
        struct tv_filter filter = parse(rows[i].line);
        if (tv_filter_matches_event(&filter.terms[0], tv_bytes_of(said)) != rows[i].fits)
            fail_msg("%s", rows[i].line);
        tv_filter_release(&filter);
    }
    struct tv_filter filter = parse("arg:x");
    assert_false(tv_filter_matches_event(&filter.terms[0], TV_BYTES("{}")));
    assert_false(tv_filter_matches_event(&filter.terms[0], TV_BYTES("{\"args\":{\"y")));
    tv_filter_release(&filter);
}

/* ---- Random traces ---- */

static const struct fixture_dice dice[] = {
    {.seed = 1,
     .threads = 3,
     .frames = 6,
     .depth = 9,
     .events = 3000,
     .clocks = TV_CLOCK_WALL | TV_CLOCK_CPU,
     .tick_ns = 1000,
     .long_gap = 3000,
     .parts = 3},
    {.seed = 2,
     .threads = 1,
     .frames = 2,
     .depth = 40,
     .events = 6000,
     .clocks = TV_CLOCK_WALL,
     .tick_ns = 1,
     .long_gap = INT64_C(1) << 33,
     .parts = 1},
    {.seed = 3,
     .threads = 5,
     .frames = 9,
     .depth = 4,
     .events = 9000,
     .clocks = TV_CLOCK_CPU,
     .tick_ns = 1000,
     .long_gap = 100,
     .parts = 2},
};

static void assert_same_slices(const struct tv_trace *a, const struct tv_trace *b)
{
    assert_int_equal(a->row_count, b->row_count);
    assert_int_equal(a->track_count, b->track_count);
    assert_int_equal(a->slice_count, b->slice_count);
    assert_int_equal(a->recorded_calls, b->recorded_calls);
    assert_int_equal(a->open_calls, b->open_calls);
    assert_int_equal(a->max_depth, b->max_depth);
    for (uint32_t row = 0; row < a->row_count; row++) {
        assert_int_equal(a->rows[row].count, b->rows[row].count);
        assert_int_equal(a->rows[row].track, b->rows[row].track);
        for (uint32_t i = 0; i < a->rows[row].count; i++) {
            struct tv_slice x = tv_slice_get(a, row, i), y = tv_slice_get(b, row, i);
            assert_int_equal(x.start, y.start);
            assert_int_equal(x.length, y.length);
            assert_int_equal(x.cpu_start, y.cpu_start);
            assert_int_equal(x.cpu_length, y.cpu_length);
            assert_int_equal(x.flags, y.flags);
            assert_int_equal(a->paths.nodes[x.path].frame, b->paths.nodes[y.path].frame);
        }
    }
}

static void assert_same_waits(const struct tv_trace *a, const struct tv_trace *b)
{
    for (uint32_t i = 0; i < a->track_count; i++) {
        assert_int_equal(a->tracks[i].wait_count, b->tracks[i].wait_count);
        for (uint32_t j = 0; j < a->tracks[i].wait_count; j++) {
            assert_int_equal(a->tracks[i].waits[j].start, b->tracks[i].waits[j].start);
            assert_int_equal(a->tracks[i].waits[j].depth, b->tracks[i].waits[j].depth);
        }
    }
}

static void keeping_all_changes_nothing_and_none_is_empty(void **state)
{
    (void)state;
    for (size_t k = 0; k < TV_COUNT(dice); k++) {
        struct fixture f = fixture_random(&dice[k]);
        struct tv_trace *all = filtered(f.trace, "depth>=0"), *none = filtered(f.trace, "x.y.z");
        assert_same_slices(f.trace, all);
        assert_same_waits(f.trace, all);
        assert_nested(all);
        assert_int_equal(none->slice_count, 0);
        assert_int_equal(none->track_count, 0);
        assert_int_equal(none->row_count, 0);
        assert_int_equal(none->recorded_calls, 0);
        tv_trace_free(all);
        tv_trace_free(none);
        fixture_free(&f);
    }
}

/* With the numbers of paths and of entries of side tables, which are nobody's business outside. */
static void assert_same_columns(const struct tv_trace *a, const struct tv_trace *b)
{
    assert_int_equal(a->paths.count, b->paths.count);
    assert_memory_equal(a->paths.nodes, b->paths.nodes, a->paths.count * sizeof *a->paths.nodes);
    for (uint32_t i = 0; i < a->columns_count; i++) {
        const struct tv_columns *x = &a->columns[i], *y = &b->columns[i];
        assert_int_equal(x->count, y->count);
        assert_int_equal(x->block_count, y->block_count);
        assert_int_equal(x->wide_count, y->wide_count);
        if (x->count == 0)
            continue;
        assert_memory_equal(x->path, y->path, x->count * sizeof *x->path);
        assert_memory_equal(x->flags, y->flags, x->count);
        assert_memory_equal(x->blocks, y->blocks, x->block_count * sizeof *x->blocks);
        if (x->wide_count > 0)
            assert_memory_equal(x->wide, y->wide, x->wide_count * sizeof *x->wide);
    }
}

static void any_number_of_workers_gives_the_same_trace(void **state)
{
    (void)state;
    static const char *const lines[] = {"depth>=0", "dur>50us", "-name:A", "thread:2 dur<1ms"};
    const struct fixture_dice wide = {4, 7,    4, 5, 40000, TV_CLOCK_WALL, 1, INT64_C(1) << 31,
                                      1, false}; /* blocks of 64 bits */
    for (size_t k = 0; k < (TV_COUNT(dice) + 1) * TV_COUNT(lines); k++) {
        size_t number = k / TV_COUNT(lines);
        struct fixture f = fixture_random(number < TV_COUNT(dice) ? &dice[number] : &wide);
        struct tv_filter filter = parse(lines[k % TV_COUNT(lines)]);
        filter.workers = 1;
        struct tv_trace *one = tv_filter_trace(f.trace, &filter);
        for (filter.workers = 2; filter.workers < 12; filter.workers += 3) {
            struct tv_trace *several = tv_filter_trace(f.trace, &filter);
            assert_same_slices(one, several);
            assert_same_waits(one, several);
            assert_same_columns(one, several);
            tv_trace_free(several);
        }
        assert_true(number < TV_COUNT(dice) || one->columns[0].wide_count > 0 ||
                    one->slice_count == 0);
        tv_trace_free(one);
        tv_filter_release(&filter);
        fixture_free(&f);
    }
}

/* What a filter of the tests below shows, said without the code that is tested. */
struct rule {
    const char *line;
    uint32_t without; /* a frame that is hidden; TV_NONE: none */
    tv_ns longer;     /* ns; only longer ones are shown */
    tv_ns shorter;    /* the same; of one path some callers are hidden then, others are not */
    uint32_t deepest;
};

static const struct rule rules[] = {
    {"-name=demo.A.a", 0, -1, INT64_MAX, TV_NONE},
    {"dur>9us", TV_NONE, 9000, INT64_MAX, TV_NONE},
    {"dur<200us", TV_NONE, -1, 200000, TV_NONE},
    {"depth<=2 -method:b", 1, -1, INT64_MAX, 2},
    {"-method=a dur>20us depth<5", 0, 20000, INT64_MAX, 4},
};

static bool is_shown(const struct rule *rule, const struct reference_call *call)
{
    tv_ns length = call->end - call->start;
    return call->frame != rule->without && length > rule->longer && length < rule->shorter &&
           (rule->deepest == TV_NONE || call->depth <= rule->deepest);
}

static uint32_t shown_parent(const struct reference *r, const struct rule *rule, uint32_t call)
{
    uint32_t parent = r->calls[call].parent;
    while (parent != TV_NONE && !is_shown(rule, &r->calls[parent]))
        parent = r->calls[parent].parent;
    return parent;
}

static bool is_recursive(const struct reference *r, const struct rule *rule, uint32_t call)
{
    for (uint32_t i = shown_parent(r, rule, call); i != TV_NONE; i = shown_parent(r, rule, i))
        if (r->calls[i].frame == r->calls[call].frame)
            return true;
    return false;
}

static void assert_profile(const struct reference *r, const struct rule *rule,
                           const struct tv_trace *trace)
{
    struct tv_method_cost expected[16] = {{0}};
    for (uint32_t i = 0; i < r->count; i++) {
        struct tv_path_cost cost;
        if (!is_shown(rule, &r->calls[i]))
            continue;
        assert_true(reference_cost(r, i, INT64_MIN, INT64_MAX, &cost));
        struct tv_method_cost *m = &expected[r->calls[i].frame];
        bool recursive = is_recursive(r, rule, i);
        uint32_t parent = shown_parent(r, rule, i);
        m->calls += !recursive;
        m->recursive_calls += recursive;
        m->incl_wall += recursive ? 0 : cost.wall;
        m->incl_cpu += recursive ? 0 : cost.cpu;
        m->excl_wall += cost.wall;
        m->excl_cpu += cost.cpu;
        if (parent != TV_NONE) {
            expected[r->calls[parent].frame].excl_wall -= cost.wall;
            expected[r->calls[parent].frame].excl_cpu -= cost.cpu;
        }
    }
    struct tv_selection all = TV_SELECT_ALL;
    struct tv_call_tree *tree = tv_call_tree_of_trace(trace, &all, 1);
    struct tv_profile *profile = tv_profile_of_tree(tree);
    uint32_t found = 0;
    for (uint32_t i = 0; i < TV_COUNT(expected); i++) {
        const struct tv_method_cost *e = &expected[i], *m = &profile->methods[found];
        if (e->calls == 0)
            continue;
        assert_in_range(found, 0, profile->count - 1);
        found++;
        assert_int_equal(m->frame, i);
        assert_int_equal(m->calls, e->calls);
        assert_int_equal(m->recursive_calls, e->recursive_calls);
        assert_int_equal(m->incl_wall, e->incl_wall);
        assert_int_equal(m->excl_wall, e->excl_wall);
        assert_int_equal(m->incl_cpu, e->incl_cpu);
        assert_int_equal(m->excl_cpu, e->excl_cpu);
    }
    assert_int_equal(found, profile->count);
    tv_profile_free(profile);
    tv_call_tree_free(tree);
}

static void the_profile_is_that_of_a_plain_walk(void **state)
{
    (void)state;
    for (size_t k = 0; k < TV_COUNT(dice); k++) {
        struct fixture f = fixture_random(&dice[k]);
        struct reference r = reference_of(&f);
        for (size_t i = 0; i < TV_COUNT(rules); i++) {
            struct tv_trace *trace = filtered(f.trace, rules[i].line);
            assert_true(trace->slice_count < f.trace->slice_count);
            assert_nested(trace);
            assert_profile(&r, &rules[i], trace);
            tv_trace_free(trace);
        }
        reference_release(&r);
        fixture_free(&f);
    }
}

UNIT_TESTS(filter, cmocka_unit_test(children_go_to_the_nearest_shown_parent),
           cmocka_unit_test(self_time_is_that_of_the_whole_trace),
           cmocka_unit_test(cpu_times_are_kept), cmocka_unit_test(the_axis_and_the_names_stay),
           cmocka_unit_test(arrows_follow_their_slices), cmocka_unit_test(a_slice_is_found_again),
           cmocka_unit_test(argument_terms_match),
           cmocka_unit_test(keeping_all_changes_nothing_and_none_is_empty),
           cmocka_unit_test(any_number_of_workers_gives_the_same_trace),
           cmocka_unit_test(the_profile_is_that_of_a_plain_walk));
