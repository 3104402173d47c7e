/* SPDX-License-Identifier: Apache-2.0 */
/*
 * clocks.c - clocks and names that inputs know of each other, from any reader.
 */
#include "model/finalize.h"

#include <string.h>

#include "base/bytes.h"
#include "base/memory.h"
#include "model/builder/builder_internal.h"
#include "unit.h"

struct made {
    struct tv_builder *builder;
    struct tv_trace_info *head;
    struct tv_trace *trace;
};

/* Make inputs with these first times. */
static void make(struct made *made, size_t count, const tv_ns *origins)
{
    made->head = tv_trace_info_new();
    made->builder = tv_builder_new(made->head);
    made->trace = tv_builder_trace(made->builder);
    for (size_t i = 0; i < count; i++) {
        uint32_t input = tv_trace_info_add_input(made->head, "input", "made");
        made->head->inputs[input].assembled = true;
        made->head->inputs[input].clocks = TV_CLOCK_WALL;
        made->head->inputs[input].origin = origins[i];
    }
}

static void mark(struct made *made, uint32_t input, const char *id, tv_ns asked, tv_ns time)
{
    struct tv_clock_sync *row = tv_table_add(&made->trace->tables.clock_syncs);
    *row = (struct tv_clock_sync){time, asked, 0, tv_trace_info_string(made->head, tv_bytes_of(id)),
                                  input};
}

static void finish(struct made *made)
{
    made->trace = tv_builder_finish(made->builder);
}

static tv_ns ahead(const struct made *made, uint32_t input)
{
    return made->trace->offset[input] - made->trace->offset[0];
}

/* Marks in the last input connect the first two: the order of reading does not matter. */
static void ties_all_inputs_at_the_end(void **context)
{
    (void)context;
    struct made made;
    make(&made, 3, (const tv_ns[]){1000, 50, 7});
    made.head->inputs[1].clock = made.head->inputs[2].clock =
        tv_trace_info_string(made.head, TV_BYTES("MONO"));
    mark(&made, 0, "a", 1000, 1000);
    mark(&made, 2, "a", 10, 30);
    finish(&made);
    assert_int_equal(ahead(&made, 1), 980);
    assert_int_equal(ahead(&made, 2), 980);
    assert_int_equal(made.trace->origin, 7 + 980);
    tv_trace_free(made.trace);
}

static tv_ns begins(const struct made *made, uint32_t input)
{
    const struct tv_input *in = &made->trace->head->inputs[input];
    return made->trace->offset[input] + (in->assembled ? in->origin : 0);
}

/* By hand: on the common clock the inputs begin at 1000 and 1040; the axis starts at 1000. */
static void moves_inputs_behind_their_ties(void **context)
{
    (void)context;
    static const struct {
        tv_ns moved[2], begins[2], origin;
    } cases[] = {
        {{0, 0}, {0, 40}, 1000},
        {{0, 5}, {0, 45}, 1000},
        {{7, 0}, {7, 40}, 1000}, /* nothing begins at 0 any more: the axis stays */
        {{0, -40}, {0, 0}, 1000},
        {{0, -50}, {10, 0}, 990}, /* before 0: the other one moves right */
        {{-3, -3}, {0, 40}, 997},
    };
    for (size_t i = 0; i < TV_COUNT(cases); i++) {
        struct made made;
        make(&made, 2, (const tv_ns[]){1000, 50});
        mark(&made, 0, "a", 1000, 1000);
        mark(&made, 1, "a", 10, 10);
        made.head->inputs[0].moved = cases[i].moved[0];
        made.head->inputs[1].moved = cases[i].moved[1];
        finish(&made);
        assert_int_equal(begins(&made, 0), cases[i].begins[0]);
        assert_int_equal(begins(&made, 1), cases[i].begins[1]);
        assert_int_equal(made.trace->origin, cases[i].origin);
        tv_trace_free(made.trace);
    }
}

/* A method trace counts from 0, beside an input that counts from 1000. */
static void moves_inputs_that_are_not_tied(void **context)
{
    (void)context;
    struct made made;
    make(&made, 2, (const tv_ns[]){0, 1000});
    made.head->inputs[0].assembled = false;
    made.head->inputs[0].moved = -20;
    finish(&made);
    assert_int_equal(begins(&made, 0), 0);
    assert_int_equal(begins(&made, 1), 20);
    tv_trace_free(made.trace);
}

/* Times that no clock has would overflow differences. */
static void leaves_nonsense_alone(void **context)
{
    (void)context;
    struct made made;
    make(&made, 2, (const tv_ns[]){0, 0});
    mark(&made, 0, "a", INT64_MIN, INT64_MIN);
    mark(&made, 1, "a", INT64_MAX, INT64_MAX);
    mark(&made, 0, "b", INT64_MIN, INT64_MAX);
    mark(&made, 1, "b", 0, 0);
    mark(&made, 0, "c", 0, INT64_MAX - ((int64_t)1 << 56));
    mark(&made, 1, "c", -((int64_t)1 << 56), -((int64_t)1 << 56));
    finish(&made);
    assert_int_equal(ahead(&made, 1), 0);
    assert_int_equal(made.head->diagnostics.kinds[TV_DIAGNOSTIC_CLOCK_EXTRA].count, 3);
    tv_trace_free(made.trace);
}

/* An input without times does not affect the start of the axis. */
static void inputs_without_times_have_no_origin(void **context)
{
    (void)context;
    struct made made;
    make(&made, 3, (const tv_ns[]){0, 5000, 4000});
    made.head->inputs[0].eventless = true;
    finish(&made);
    assert_int_equal(made.trace->origin, 4000);
    tv_trace_free(made.trace);
}

/* ---- Names ---- */

static void know(struct made *made, uint64_t pid, uint64_t tid, bool is_thread, const char *name)
{
    struct tv_known_name *known = tv_table_add(&made->trace->tables.known_names);
    *known = (struct tv_known_name){.pid = pid,
                                    .tid = tid,
                                    .name = tv_trace_info_string(made->head, tv_bytes_of(name)),
                                    .is_thread = is_thread};
}

static void add_thread(struct made *made, uint32_t process, uint64_t tid, const char *name)
{
    struct tv_thread thread = {
        .id = tid, .process = process, .name = tv_trace_info_string(made->head, tv_bytes_of(name))};
    tv_trace_info_add_thread(made->head, &thread);
}

static void assert_name(const struct made *made, uint32_t string, const char *name)
{
    assert_string_equal(tv_trace_info_text(made->head, string).data, name);
}

static void names_what_has_none(void **context)
{
    (void)context;
    struct made made;
    make(&made, 1, (const tv_ns[]){0});
    know(&made, 1, 0, false, "/init");
    know(&made, 2, 0, false, "com.android.systemui");
    know(&made, 3, 0, false, "android.process.media");
    know(&made, 4, 0, false, "other");
    know(&made, 4, 0, false, "last");
    know(&made, UINT64_MAX, 0, false, "nobody");
    know(&made, 2, 22, true, "Binder_1");
    know(&made, 2, 23, true, "unused");
    know(&made, 1, 23, true, "elsewhere");
    uint32_t init = tv_trace_info_add_process(made.head, 1, TV_BYTES(""));
    uint32_t end = tv_trace_info_add_process(made.head, 2, TV_BYTES("ndroid.systemui"));
    uint32_t beginning = tv_trace_info_add_process(made.head, 3, TV_BYTES("android.process"));
    uint32_t named = tv_trace_info_add_process(made.head, 4, TV_BYTES("named by the trace"));
    uint32_t last = tv_trace_info_add_process(made.head, 4, TV_BYTES(""));
    uint32_t huge = tv_trace_info_add_process(made.head, UINT64_MAX, TV_BYTES(""));
    uint32_t text = tv_trace_info_add_process(made.head, 0, TV_BYTES(""));
    made.head->processes[text].key = tv_trace_info_string(made.head, TV_BYTES("x"));
    know(&made, 0, 0, false, "zero");
    add_thread(&made, end, 22, "");
    add_thread(&made, end, 23, "RenderThread");
    add_thread(&made, init, 22, "");
    finish(&made);
    const struct tv_process *processes = made.head->processes;
    assert_name(&made, processes[init].name, "/init");
    assert_name(&made, processes[end].name, "com.android.systemui");
    assert_name(&made, processes[beginning].name, "android.process.media");
    assert_name(&made, processes[named].name, "named by the trace");
    assert_name(&made, processes[last].name, "last");
    assert_name(&made, processes[huge].name, "");
    assert_name(&made, processes[text].name, "");
    assert_name(&made, made.head->threads[0].name, "Binder_1");
    assert_name(&made, made.head->threads[1].name, "RenderThread");
    assert_name(&made, made.head->threads[2].name, "");
    tv_trace_free(made.trace);
}

UNIT_TESTS(clocks, cmocka_unit_test(ties_all_inputs_at_the_end),
           cmocka_unit_test(moves_inputs_behind_their_ties),
           cmocka_unit_test(moves_inputs_that_are_not_tied),
           cmocka_unit_test(leaves_nonsense_alone),
           cmocka_unit_test(inputs_without_times_have_no_origin),
           cmocka_unit_test(names_what_has_none));
