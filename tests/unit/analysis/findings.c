/* SPDX-License-Identifier: Apache-2.0 */
/* Findings: for each rule a drawing in which it is told, and one in which it just is not. */
#include "unit.h"

#include "analysis/findings/findings.h"

#include "base/bytes.h"
#include "base/memory.h"
#include "fixture.h"

#define MS INT64_C(1000000)

#define A10 "AAAAAAAAAA"
#define B10 "BBBBBBBBBB"
#define OFF10 "0000000000"

/* A drawing as an Android method trace has it. */
static struct fixture draw(const struct fixture_thread *threads, unsigned count)
{
    struct fixture f = fixture_draw(threads, count);
    f.trace->head->inputs[0].format = "Android method trace";
    return f;
}

static void rename_frame(struct fixture *f, char letter, const char *class_name, const char *name)
{
    struct tv_trace_info *head = f->trace->head;
    head->frames[FIXTURE_FRAME(letter)].class_name =
        tv_trace_info_string(head, tv_bytes_of(class_name));
    head->frames[FIXTURE_FRAME(letter)].name = tv_trace_info_string(head, tv_bytes_of(name));
}

static struct tv_finding find_in(const struct fixture *f, struct tv_selection selection,
                                 const char *rule)
{
    struct tv_call_tree *tree = tv_call_tree_of_trace(f->trace, &selection, 1);
    struct tv_findings *findings = tv_findings_of(f->trace, tree, &selection);
    uint32_t number = tv_rule_find(tv_bytes_of(rule));
    assert_true(number < TV_RULES);
    struct tv_finding found = findings->of[number];
    tv_findings_free(findings);
    tv_call_tree_free(tree);
    return found;
}

static struct tv_finding find(const struct fixture *f, const char *rule)
{
    return find_in(f, TV_SELECT_ALL, rule);
}

/* The finding of a rule in one thread, of which A has a name. */
static struct tv_finding find_named(const struct fixture_thread *thread, const char *class_name,
                                    const char *name, const char *rule)
{
    struct fixture f = draw(thread, 1);
    rename_frame(&f, 'A', class_name, name);
    struct tv_finding found = find(&f, rule);
    fixture_free(&f);
    return found;
}

/* ---- The main thread ---- */

static void a_call_of_more_than_50_ms_is_long(void **state)
{
    (void)state;
    const struct fixture_thread threads[] = {
        {"main", NULL, {A10 A10 A10 A10 A10 "A"}},
        {"worker", NULL, {B10 B10 B10 B10 B10 B10}},
    };
    const struct fixture_thread just_not = {"main", NULL, {A10 A10 A10 A10 A10}};
    struct fixture f = draw(threads, 2);
    struct tv_finding found = find(&f, "long-on-main-thread");
    assert_true(found.found);
    assert_int_equal(found.count, 1);
    assert_int_equal(found.total, 51 * MS);
    assert_int_equal(found.place_count, 1);
    assert_int_equal(found.places[0].frame, FIXTURE_FRAME('A'));
    assert_int_equal(found.places[0].length, 51 * MS);
    assert_int_equal(found.places[0].start, 0);
    fixture_free(&f);
    f = draw(&just_not, 1);
    found = find(&f, "long-on-main-thread");
    assert_false(found.found);
    assert_null(found.missing);
    fixture_free(&f);
}

static void a_missing_main_thread_is_reported(void **state)
{
    (void)state;
    const struct fixture_thread thread = {"worker", NULL, {A10 A10 A10 A10 A10 A10}};
    struct fixture f = draw(&thread, 1);
    struct tv_finding found = find(&f, "long-on-main-thread");
    assert_false(found.found);
    assert_non_null(found.missing);
    /* In ftrace text the thread with its process' id is the main one, whatever its name. */
    f.trace->head->inputs[0].format = "ftrace text";
    assert_true(find(&f, "long-on-main-thread").found);
    fixture_free(&f);
}

/* Tell if a call of 60 ms is long on a thread of this name; vm NULL: the file does not say. */
static bool is_told_on(const char *format, const char *thread, const char *vm, bool line)
{
    const struct fixture_thread thread_of = {thread, NULL, {A10 A10 A10 A10 A10 A10}};
    struct fixture f = draw(&thread_of, 1);
    struct tv_trace_info *head = f.trace->head;
    head->inputs[0].format = format;
    head->threads[0].line = line;
    if (vm)
        tv_trace_info_add_metadata(head, 0, tv_bytes_of("vm"), tv_bytes_of(vm));
    bool told = find(&f, "long-on-main-thread").found;
    fixture_free(&f);
    return told;
}

static void only_threads_that_a_user_waits_for_are_main(void **state)
{
    (void)state;
    const char *method_trace = "Android method trace";
    assert_true(is_told_on(method_trace, "main", NULL, false));
    assert_true(is_told_on(method_trace, "main", "art", false));
    assert_true(is_told_on(method_trace, "main", "dalvik", false));
    assert_false(is_told_on(method_trace, "main", "jvm", false));
    assert_false(is_told_on(method_trace, "main", "native", false));
    assert_true(is_told_on(method_trace, "AWT-EventQueue-0", "jvm", false));
    assert_true(is_told_on("ftrace text", "app", NULL, false));
    assert_false(is_told_on("ftrace text", "kworker/4:3", NULL, false));
    assert_false(is_told_on("Perfetto trace", "kworker/u16:1", NULL, false));
    assert_false(is_told_on("Perfetto trace", "kgsl-3d0", NULL, true));
}

/* Of A, B and C around each other only C is told, and D, which is long as well, beside it. */
static void of_nested_calls_the_innermost_is_long(void **state)
{
    (void)state;
    const struct fixture_thread thread = {
        "main",
        NULL,
        {A10 A10 A10 A10 A10 A10 A10 A10 A10 A10 A10 A10,
         B10 B10 B10 B10 B10 B10 "DDDDDDDDDDDDDDDDDDDDDDDDDDDDDDDDDDDDDDDDDDDDDDDDDDDDDDDDDDDD",
         " CCCCCCCCCCCCCCCCCCCCCCCCCCCCCCCCCCCCCCCCCCCCCCCCCCCCCCC E"},
    };
    struct fixture f = draw(&thread, 1);
    struct tv_finding found = find(&f, "long-on-main-thread");
    assert_int_equal(found.count, 2);
    assert_int_equal(found.places[0].frame, FIXTURE_FRAME('D'));
    assert_int_equal(found.places[0].length, 60 * MS);
    assert_int_equal(found.places[1].frame, FIXTURE_FRAME('C'));
    assert_int_equal(found.places[1].length, 55 * MS);
    fixture_free(&f);
}

/* Waiting for messages is no fault of the loop around it; work of the loop is none of it either. */
static void an_event_loop_is_not_long(void **state)
{
    (void)state;
    const struct fixture_thread waits = {
        "main", NULL, {A10 A10 A10 A10 A10 A10 A10, B10 B10 B10 B10 B10 B10}};
    const struct fixture_thread works = {"main", NULL, {A10 A10 A10 A10 A10 A10, B10 "bbbb"}};
    struct fixture f = draw(&waits, 1);
    assert_true(find(&f, "long-on-main-thread").found);
    rename_frame(&f, 'B', "android.os.MessageQueue", "nativePollOnce");
    assert_false(find(&f, "long-on-main-thread").found);
    fixture_free(&f);
    f = draw(&works, 1);
    assert_true(find(&f, "long-on-main-thread").found);
    rename_frame(&f, 'A', "android.os.Looper", "loopOnce");
    assert_false(find(&f, "long-on-main-thread").found);
    fixture_free(&f);
}

static void a_main_thread_that_waits_is_blocked(void **state)
{
    (void)state;
    const struct fixture_thread told = {"main", NULL, {A10 "AAAAAAA"}};
    const struct fixture_thread just_not = {"main", NULL, {A10 "AAAAAA"}};
    const struct fixture_thread elsewhere = {"pool", NULL, {A10 "AAAAAAA"}};
    const char *rule = "blocked-main-thread";
    struct tv_finding found = find_named(&told, "java.lang.Object", "wait", rule);
    assert_int_equal(found.count, 1);
    assert_int_equal(found.total, 17 * MS);
    assert_false(find_named(&told, "java.lang.Object", "waiting", rule).found);
    assert_false(find_named(&just_not, "java.lang.Object", "wait", rule).found);
    assert_false(find_named(&elsewhere, "java.lang.Object", "wait", rule).found);
}

static void a_collection_on_a_main_thread_is_reported(void **state)
{
    (void)state;
    const struct fixture_thread told = {"main", NULL, {A10 "AAAAAAA"}};
    const struct fixture_thread just_not = {"main", NULL, {A10 "AAAAAA"}};
    const struct fixture_thread elsewhere = {"HeapTaskDaemon", NULL, {A10 "AAAAAAA"}};
    const char *rule = "gc-on-main-thread", *name = "Alloc concurrent copying GC";
    assert_true(find_named(&told, "", name, rule).found);
    assert_false(find_named(&just_not, "", name, rule).found);
    assert_false(find_named(&elsewhere, "", name, rule).found);
}

/* A display of 120 Hz: a wait of 8 ms is short enough, one of 9 ms costs a picture. */
static void the_display_of_the_trace_limits_waits(void **state)
{
    (void)state;
    const tv_ns syncs[] = {0, 8333333, 16666666, 25 * MS};
    const struct fixture_thread thread = {"main", NULL, {"AAAAAAAA AAAAAAAAA BBBBBBBBB"}};
    struct fixture f = draw(&thread, 1);
    rename_frame(&f, 'A', "java.lang.Object", "wait");
    rename_frame(&f, 'B', "", "Alloc concurrent copying GC");
    assert_false(find(&f, "blocked-main-thread").found);
    assert_false(find(&f, "gc-on-main-thread").found);
    fixture_add_counter(&f, "VSYNC-app", syncs, 4);
    struct tv_finding found = find(&f, "blocked-main-thread");
    assert_int_equal(found.count, 1);
    assert_int_equal(found.total, 9 * MS);
    assert_int_equal(found.limit, 8333333);
    found = find(&f, "gc-on-main-thread");
    assert_int_equal(found.count, 1);
    assert_int_equal(found.limit, 8333333);
    fixture_free(&f);
}

/* ---- Names ---- */

static void a_picture_of_17_ms_is_slow(void **state)
{
    (void)state;
    const struct fixture_thread told = {"main", NULL, {A10 "AAAAAAA A"}};
    const struct fixture_thread just_not = {"main", NULL, {A10 "AAAAAA A"}};
    struct tv_finding found =
        find_named(&told, "android.view.Choreographer", "doFrame", "slow-frame");
    assert_int_equal(found.count, 1);
    assert_int_equal(found.places[0].length, 17 * MS);
    assert_true(find_named(&told, "", "Choreographer#doFrame 1234", "slow-frame").found);
    assert_false(find_named(&told, "demo.View", "doFrame", "slow-frame").found);
    assert_false(
        find_named(&just_not, "android.view.Choreographer", "doFrame", "slow-frame").found);
}

/* A contended lock inside another is one wait, that of the outer one. */
static void contention_counts_once(void **state)
{
    (void)state;
    const struct fixture_thread told = {"pool", NULL, {"AAAA B", " AA  A"}};
    const char *name = "monitor contention with owner main (1) at void demo.A.a()";
    struct tv_finding found = find_named(&told, "", name, "lock-contention");
    assert_int_equal(found.count, 1); /* the last one takes 1 ms, which is not longer */
    assert_int_equal(found.total, 4 * MS);
    assert_int_equal(found.places[0].length, 4 * MS);
}

static void collections_above_5_percent_are_reported(void **state)
{
    (void)state;
    const struct fixture_thread told = {"pool", NULL, {"ABBBBBBBBBBBBBBBBBBB"}};
    const struct fixture_thread just_not = {"pool", NULL, {"ABBBBBBBBBBBBBBBBBBBB"}};
    struct tv_finding found = find_named(&told, "", "MinorGC", "garbage-collection");
    assert_true(found.found);
    assert_int_equal(found.total, 1 * MS);
    assert_false(find_named(&told, "", "V8.GC_BACKGROUND_SWEEP", "garbage-collection").found);
    assert_false(find_named(&just_not, "", "MinorGC", "garbage-collection").found);
}

/* ---- Waiting ---- */

/* A is 70 ms long and B, inside of it, 8: of the 62 that are A's own it ran 2 or 12. */
static void waiting_is_real_time_without_cpu_time(void **state)
{
    (void)state;
    const char *rows[2] = {A10 A10 A10 A10 A10 A10 A10, "BBBBBBBB"};
    const struct fixture_thread told = {
        "pool", "          9" OFF10 OFF10 OFF10 OFF10 OFF10 "000000009", {rows[0], rows[1]}};
    const struct fixture_thread mixed = {
        "pool", "                          " OFF10 OFF10 OFF10 OFF10 "0000", {rows[0], rows[1]}};
    struct fixture f = draw(&told, 1);
    struct tv_finding found = find(&f, "waiting-inside");
    assert_true(found.found);
    assert_int_equal(found.places[0].frame, FIXTURE_FRAME('A'));
    assert_int_equal(found.places[0].length, 70 * MS);
    /* It ran in columns 8 and 9, and nine tenths of 10 and 69. */
    assert_int_equal(found.places[0].part, (62 - 2) * MS - 18 * MS / 10);
    rename_frame(&f, 'A', "java.lang.Object", "wait");
    assert_false(find(&f, "waiting-inside").found);
    fixture_free(&f);
    f = draw(&mixed, 1);
    assert_false(find(&f, "waiting-inside").found);
    fixture_free(&f);
}

/* ---- Methods ---- */

/* Six calls of 1 ms and a clock of 0.5 ms: half of their time. */
static void a_clock_that_costs_half_is_reported(void **state)
{
    (void)state;
    const struct fixture_thread thread = {"main", NULL, {"AaAaAa BBBBBB"}};
    struct fixture f = draw(&thread, 1);
    struct tv_finding found = find(&f, "hot-tiny-calls");
    assert_non_null(found.missing);
    tv_trace_info_add_metadata(f.trace->head, 0, TV_BYTES("clock-call-overhead-nsec"),
                               TV_BYTES("500000"));
    found = find(&f, "hot-tiny-calls");
    assert_true(found.found);
    assert_int_equal(found.count, 1);
    assert_int_equal(found.total, 3 * MS);
    assert_int_equal(found.places[0].frame, FIXTURE_FRAME('A'));
    assert_int_equal(found.places[0].count, 6);
    assert_int_equal(found.places[0].index, 0);
    f.trace->head->inputs[0].figures = TV_FIGURES_SAMPLED;
    f.trace->head->inputs[0].sampled_ns = MS;
    assert_non_null(find(&f, "hot-tiny-calls").missing);
    fixture_free(&f);
    f = draw(&thread, 1);
    tv_trace_info_add_metadata(f.trace->head, 0, TV_BYTES("clock-call-overhead-nsec"),
                               TV_BYTES("499999"));
    assert_false(find(&f, "hot-tiny-calls").found);
    fixture_free(&f);
}

/* Half of A is the clock, but A is less than a hundredth of the time. */
static void a_method_that_hardly_runs_is_not_hot(void **state)
{
    (void)state;
    const struct fixture_thread thread = {"main", NULL, {"A" B10 B10 B10 B10 B10 B10}};
    struct fixture f = draw(&thread, 1);
    tv_trace_info_add_metadata(f.trace->head, 0, TV_BYTES("clock-call-overhead-nsec"),
                               TV_BYTES("500000"));
    assert_false(find(&f, "hot-tiny-calls").found);
    fixture_free(&f);
}

/* 26 methods call each other in a ring: of 1300 calls each stands there 50 times. */
static void recursion_of_50_levels_is_deep(void **state)
{
    (void)state;
    struct fixture f = fixture_nest(50 * 26);
    struct tv_finding found = find(&f, "deep-recursion");
    assert_true(found.found);
    assert_int_equal(found.count, 26);
    assert_int_equal(found.place_count, TV_FINDING_PLACES);
    assert_int_equal(found.places[0].count, 50);
    assert_int_not_equal(found.places[0].row, TV_NONE);
    assert_int_equal(f.trace->rows[found.places[0].row].depth % 26, found.places[0].frame);
    fixture_free(&f);
    f = fixture_nest(50 * 26 - 1);
    assert_int_equal(find(&f, "deep-recursion").count, 25);
    fixture_free(&f);
    f = fixture_nest(49 * 26);
    assert_false(find(&f, "deep-recursion").found);
    fixture_free(&f);
}

/* ---- Whole files ---- */

static void diagnostics_of_the_reader_are_reported(void **state)
{
    (void)state;
    const struct fixture_thread thread = {"main", NULL, {"A"}};
    struct fixture f = draw(&thread, 1);
    struct tv_diagnostics *all = &f.trace->head->diagnostics;
    tv_diagnostics_add(all, TV_DIAGNOSTIC_OPEN_CALL, TV_NO_OFFSET);
    assert_false(find(&f, "unbalanced-events").found);
    assert_false(find(&f, "buffer-overflow").found);
    tv_diagnostics_add(all, TV_DIAGNOSTIC_MISSING_EXIT, TV_NO_OFFSET);
    tv_diagnostics_add(all, TV_DIAGNOSTIC_IGNORED_EXIT, 12);
    tv_diagnostics_add(all, TV_DIAGNOSTIC_IGNORED_EXIT, 14);
    struct tv_finding found = find(&f, "unbalanced-events");
    assert_true(found.found);
    assert_int_equal(found.count, 3);
    assert_int_equal(found.place_count, 2);
    assert_int_equal(found.places[0].kind, TV_DIAGNOSTIC_IGNORED_EXIT);
    assert_int_equal(found.places[0].count, 2);
    assert_false(find(&f, "buffer-overflow").found);
    tv_diagnostics_add(all, TV_DIAGNOSTIC_OVERWRITTEN, TV_NO_OFFSET);
    assert_true(find(&f, "buffer-overflow").found);
    fixture_free(&f);
}

static void a_sampled_trace_says_how_often(void **state)
{
    (void)state;
    const struct fixture_thread thread = {"main", NULL, {"A"}};
    struct fixture f = draw(&thread, 1);
    assert_false(find(&f, "sampled-trace").found);
    f.trace->head->inputs[0].figures = TV_FIGURES_SAMPLED;
    f.trace->head->inputs[0].sampled_ns = 5 * MS;
    struct tv_finding found = find(&f, "sampled-trace");
    assert_true(found.found);
    assert_int_equal(found.limit, 5 * MS);
    fixture_free(&f);
}

/* ---- Selections ---- */

/* A call that the range cuts is as long as it is; only what lies in the range is summed. */
static void ranges_and_tracks_choose(void **state)
{
    (void)state;
    const struct fixture_thread threads[] = {
        {"main", NULL, {A10 A10 A10 A10 A10 A10 " " B10 B10 B10 B10 B10 B10}},
        {"pool", NULL, {"C"}},
    };
    struct fixture f = draw(threads, 2);
    const char *rule = "long-on-main-thread";
    const uint32_t pool = 1;
    assert_int_equal(find(&f, rule).count, 2);
    struct tv_finding found = find_in(&f, (struct tv_selection){55 * MS, 61 * MS, NULL, 0}, rule);
    assert_int_equal(found.count, 1);
    assert_int_equal(found.total, 5 * MS);
    assert_int_equal(found.places[0].length, 60 * MS);
    found = find_in(&f, (struct tv_selection){INT64_MIN, INT64_MAX, &pool, 1}, rule);
    assert_false(found.found);
    assert_non_null(found.missing);
    fixture_free(&f);
}

/* Of twelve the ten longest are kept, and of equals the earlier. */
static void the_worst_places_are_kept(void **state)
{
    (void)state;
    const struct fixture_thread thread = {"pool", NULL, {"AA aa AA aa AA aa AA aa AA aaaa AAA aa"}};
    struct tv_finding found = find_named(&thread, "", "Lock contention on x", "lock-contention");
    assert_int_equal(found.count, 12);
    assert_int_equal(found.place_count, TV_FINDING_PLACES);
    assert_int_equal(found.places[0].length, 4 * MS);
    assert_int_equal(found.places[1].length, 3 * MS);
    for (uint32_t i = 2; i < TV_FINDING_PLACES; i++)
        assert_int_equal(found.places[i].index, i - 2);
}

/* The order in which findings are told is that of the table. */
static void warnings_come_before_notes(void **state)
{
    (void)state;
    for (uint32_t i = 1; i < TV_RULES; i++)
        assert_true(tv_rules[i - 1].severity >= tv_rules[i].severity);
    for (uint32_t i = 0; i < TV_RULES; i++)
        assert_int_equal(tv_rule_find(tv_bytes_of(tv_rules[i].name)), i);
    assert_int_equal(tv_rule_find(TV_BYTES("no-such-rule")), TV_NONE);
}

/* What the rules say of random traces is what a plain look at every call says. */
static void random_traces_equal_the_reference(void **state)
{
    (void)state;
    for (uint32_t seed = 1; seed <= 20; seed++) {
        struct fixture f =
            fixture_random(&(struct fixture_dice){.seed = seed,
                                                  .threads = 3,
                                                  .frames = 6,
                                                  .depth = 6,
                                                  .events = 20000,
                                                  .tick_ns = 1000,
                                                  .clocks = TV_CLOCK_WALL | TV_CLOCK_CPU,
                                                  .long_gap = 40000,
                                                  .parts = 2});
        uint64_t count = 0;
        rename_frame(&f, 'A', "", "Lock contention on x");
        for (uint32_t row = 0; row < f.trace->row_count; row++)
            for (uint32_t i = 0; i < f.trace->rows[row].count; i++) {
                struct tv_slice slice = tv_slice_get(f.trace, row, i);
                bool outermost = true;
                for (uint32_t at = f.trace->paths.nodes[slice.path].parent; at != TV_ROOT_PATH;
                     at = f.trace->paths.nodes[at].parent)
                    outermost = outermost && f.trace->paths.nodes[at].frame != FIXTURE_FRAME('A');
                count += outermost && slice.length > MS &&
                         f.trace->paths.nodes[slice.path].frame == FIXTURE_FRAME('A');
            }
        assert_true(count > 0);
        assert_int_equal(find(&f, "lock-contention").count, count);
        fixture_free(&f);
    }
}

UNIT_TESTS(findings, cmocka_unit_test(a_call_of_more_than_50_ms_is_long),
           cmocka_unit_test(a_missing_main_thread_is_reported),
           cmocka_unit_test(only_threads_that_a_user_waits_for_are_main),
           cmocka_unit_test(of_nested_calls_the_innermost_is_long),
           cmocka_unit_test(an_event_loop_is_not_long),
           cmocka_unit_test(a_main_thread_that_waits_is_blocked),
           cmocka_unit_test(the_display_of_the_trace_limits_waits),
           cmocka_unit_test(a_collection_on_a_main_thread_is_reported),
           cmocka_unit_test(a_picture_of_17_ms_is_slow), cmocka_unit_test(contention_counts_once),
           cmocka_unit_test(collections_above_5_percent_are_reported),
           cmocka_unit_test(waiting_is_real_time_without_cpu_time),
           cmocka_unit_test(a_clock_that_costs_half_is_reported),
           cmocka_unit_test(a_method_that_hardly_runs_is_not_hot),
           cmocka_unit_test(recursion_of_50_levels_is_deep),
           cmocka_unit_test(diagnostics_of_the_reader_are_reported),
           cmocka_unit_test(a_sampled_trace_says_how_often),
           cmocka_unit_test(ranges_and_tracks_choose), cmocka_unit_test(the_worst_places_are_kept),
           cmocka_unit_test(warnings_come_before_notes),
           cmocka_unit_test(random_traces_equal_the_reference));
