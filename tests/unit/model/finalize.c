/* SPDX-License-Identifier: Apache-2.0 */
/*
 * finalize.c - CPU times of one input's slices from the states that another has of their thread.
 */
#include "base/bytes.h"
#include "model/assembly/assembly.h"
#include "model/builder/builder.h"
#include "unit.h"

#define SECOND INT64_C(1000000000)

/* The thread runs for one second of every ten, which exceeds 32 bits of nanoseconds. */
#define RUNS 20
#define EACH (10 * SECOND)

/* Slices of the program: calls of 2 s every 2.5 s, each with a call of 1 s inside. */
#define CALLS 70
#define STEP (5 * SECOND / 2)

static uint32_t add_frame(struct tv_trace_info *head, const char *name, uint8_t colour)
{
    struct tv_frame frame = {.name = tv_trace_info_string(head, tv_bytes_of(name))};
    uint32_t number = tv_trace_info_add_frame(head, &frame);
    head->frames[number].colour = colour;
    return number;
}

static uint32_t add_input(struct tv_trace_info *head, const char *name)
{
    uint32_t number = tv_trace_info_add_input(head, name, "test");
    head->inputs[number].clocks = TV_CLOCK_WALL;
    head->inputs[number].assembled = true;
    return number;
}

/* The kernel: alternating runs and sleeps, on a clock that is a second behind. */
static void tell_states(struct tv_builder *builder, uint32_t thread)
{
    struct tv_trace_info *head = tv_builder_trace_info(builder);
    uint32_t input = add_input(head, "kernel");
    uint32_t running = add_frame(head, "Running", TV_COLOUR_RUNNING);
    uint32_t sleeping = add_frame(head, "Sleeping", TV_COLOUR_SLEEPING);
    struct tv_assembly *assembly = tv_assembly_new(builder, input);
    tv_assembly_trace(assembly)->offset[input] = SECOND;
    struct tv_state_track state_track = {
        .kind = TV_TRACK_STATES, .process = TV_NONE, .thread = thread};
    struct tv_state_slice slices[2 * RUNS];
    for (int64_t i = 0; i < RUNS; i++) {
        slices[2 * i] =
            (struct tv_state_slice){.start = i * EACH - SECOND, .length = SECOND, .frame = running};
        slices[2 * i + 1] =
            (struct tv_state_slice){.start = i * EACH, .length = EACH - SECOND, .frame = sleeping};
    }
    tv_assembly_build_rows(assembly, &(struct tv_row_options){.end = RUNS * EACH});
    tv_assembly_add_state_tracks(assembly, &state_track, 1, slices, TV_COUNT(slices), 1);
    tv_assembly_end(assembly);
}

/* The program, whose thread may have a CPU clock of its own. */
static void tell_calls(struct tv_builder *builder, uint32_t thread, bool cpu)
{
    struct tv_trace_info *head = tv_builder_trace_info(builder);
    uint32_t input = add_input(head, "program"), frame = add_frame(head, "f", 0);
    struct tv_assembly *assembly = tv_assembly_new(builder, input);
    struct tv_gather *gather = tv_gather_new();
    for (int64_t i = 0; i < CALLS; i++)
        for (int64_t depth = 0; depth < 2; depth++) {
            struct tv_span span = {.time = i * STEP + depth * SECOND / 2,
                                   .length = depth ? SECOND : 2 * SECOND,
                                   .frame = 0};
            struct tv_cpu_times own = {i, 7};
            tv_gather_span(gather, 0, &span, cpu ? &own : NULL);
        }
    tv_assembly_add_chunk(assembly, gather, &thread, &frame);
    tv_assembly_build_rows(assembly, &(struct tv_row_options){.end = CALLS * STEP});
    tv_assembly_end(assembly);
}

static struct tv_trace *make(bool cpu)
{
    struct tv_builder *builder = tv_builder_new(tv_trace_info_new());
    struct tv_thread thread = {.id = 7, .process = TV_NONE};
    uint32_t number = tv_trace_info_add_thread(tv_builder_trace_info(builder), &thread);
    tell_calls(builder, number, cpu);
    tell_states(builder, number);
    return tv_builder_finish(builder);
}

/* Compute the time in [from, to) in which the thread ran, run by run. */
static int64_t ran(int64_t from, int64_t to)
{
    int64_t sum = 0;
    for (int64_t run = 0; run < RUNS * EACH; run += EACH) {
        int64_t start = run > from ? run : from, end = run + SECOND < to ? run + SECOND : to;
        sum += end > start ? end - start : 0;
    }
    return sum;
}

static void counts_what_the_kernel_saw(void **context)
{
    (void)context;
    struct tv_trace *trace = make(false);
    uint32_t found = 0;
    assert_int_equal(trace->tracks[0].row_count, 2);
    for (uint32_t row = 0; row < 2; row++)
        for (uint32_t i = 0; i < trace->rows[row].count; i++) {
            struct tv_slice slice = tv_slice_get(trace, row, i);
            assert_int_equal(slice.start, i * STEP + row * SECOND / 2);
            assert_int_equal(slice.length, row ? SECOND : 2 * SECOND);
            assert_int_equal(slice.cpu_start, ran(0, slice.start));
            assert_int_equal(slice.cpu_length, ran(slice.start, slice.start + slice.length));
            found++;
        }
    assert_int_equal(found, 2 * CALLS);
    assert_true(trace->head->inputs[0].clocks & TV_CLOCK_CPU);
    assert_int_equal(trace->tracks[0].last_cpu, ran(0, trace->tracks[0].last_wall));
    assert_int_equal(trace->head->inputs[0].last_cpu, trace->tracks[0].last_cpu);
    tv_trace_free(trace);
}

/* Parents are found by counting, and the counts are computed again, too. */
static void keeps_parents(void **context)
{
    (void)context;
    struct tv_trace *trace = make(false);
    for (uint32_t i = 0; i < CALLS; i++)
        assert_int_equal(tv_slice_parent(trace, 1, i), i);
    tv_trace_free(trace);
}

static void leaves_clocks_of_programs(void **context)
{
    (void)context;
    struct tv_trace *trace = make(true);
    assert_int_equal(tv_slice_get(trace, 0, 3).cpu_length, 7);
    tv_trace_free(trace);
}

/* A counter that has a name but no value is at no time.  (Without any value in the trace, its table
 * of times is NULL, and UBSan watches that nobody counts from there.) */
static void counters_without_values_cover_nothing(void **context)
{
    (void)context;
    struct tv_builder *builder = tv_builder_new(tv_trace_info_new());
    struct tv_trace_info *head = tv_builder_trace_info(builder);
    struct tv_assembly *assembly = tv_assembly_new(builder, add_input(head, "counters"));
    struct tv_counter counter = {.name = tv_trace_info_string(head, TV_BYTES("queue"))};
    tv_tables_add_counter(&tv_assembly_trace(assembly)->tables, &counter, NULL, NULL, NULL, NULL);
    tv_assembly_build_rows(assembly, &(struct tv_row_options){.end = 0});
    tv_assembly_end(assembly);
    struct tv_trace *trace = tv_builder_finish(builder);
    assert_int_equal(trace->tables.counters.count, 1);
    assert_int_equal(trace->start, 0);
    assert_int_equal(trace->end, 0);
    tv_trace_free(trace);
}

UNIT_TESTS(finalize, cmocka_unit_test(counts_what_the_kernel_saw), cmocka_unit_test(keeps_parents),
           cmocka_unit_test(leaves_clocks_of_programs),
           cmocka_unit_test(counters_without_values_cover_nothing));
