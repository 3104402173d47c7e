/* SPDX-License-Identifier: Apache-2.0 */
/*
 * view_question.c - any question about a small trace has an answer or an error, and no answer of
 * more than what its parameters allow.
 *
 * The input is a question as it stands after "api/": "profile?from=5&tracks=0".
 */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/memory.h"
#include "model/builder/builder.h"
#include "view/view.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define THREADS 3u
#define FRAMES 5u
#define EVENTS 4000u

static struct tv_trace_info *make_head(void)
{
    struct tv_trace_info *head = tv_trace_info_new();
    uint32_t input = tv_trace_info_add_input(head, "fuzzed.trace", "made up");
    head->inputs[input].clocks = TV_CLOCK_WALL | TV_CLOCK_CPU;
    head->inputs[input].tick_ns = 1000;
    tv_trace_info_add_process(head, 1, TV_BYTES("demo"));
    for (uint32_t i = 0; i < THREADS; i++)
        tv_trace_info_add_thread(head, &(struct tv_thread){.id = i, .listed = true});
    for (int32_t i = 0; i < (int32_t)FRAMES; i++)
        tv_trace_info_add_frame(head, &(struct tv_frame){.line = i + 1});
    return head;
}

/* Calls nested at random, up to 20 deep. */
static void make_events(struct tv_event *events)
{
    uint32_t state = 1, depth[THREADS] = {0}, stack[THREADS][20];
    for (uint32_t i = 0; i < EVENTS; i++) {
        state = state * 1664525u + 1013904223u;
        uint32_t thread = state >> 8 & 3, bits = state >> 16;
        thread = thread < THREADS ? thread : 0;
        bool enter = depth[thread] == 0 || (depth[thread] < 20 && bits % 9 < 5);
        if (enter)
            stack[thread][depth[thread]++] = bits / 9 % FRAMES;
        else
            depth[thread]--;
        events[i] =
            (struct tv_event){.wall = (int64_t)i * 37, .cpu = (int64_t)i * 20, .thread = thread};
        events[i].action = enter ? TV_ENTER : TV_EXIT;
        events[i].frame = stack[thread][depth[thread] - enter] & TV_ANY_FRAME;
    }
}

/* Counters, instants and flows between slices that exist. */
static void add_others(struct tv_trace *trace)
{
    struct tv_tables *tables = &trace->tables;
    tv_ns times[64];
    uint64_t offsets[64];
    double values[2 * 64];
    for (uint32_t i = 0; i < 64; i++) {
        times[i] = (tv_ns)i * 1000;
        offsets[i] = TV_NO_OFFSET;
        values[2 * i] = i;
        values[2 * i + 1] = -(double)i;
        *tv_table_add(&tables->instants) = (struct tv_instant){
            .time = times[i], .offset = TV_NO_OFFSET, .of = i % THREADS, .scope = (uint8_t)(i % 3)};
        *tv_table_add(&tables->flows) = (struct tv_flow){.from = {times[i], 0, i % 2}};
    }
    const struct tv_counter counter = {.series_count = 2, .sample_count = 64};
    const uint32_t names[2] = {TV_EMPTY_STRING, TV_EMPTY_STRING};
    tv_tables_add_counter(tables, &counter, names, times, offsets, values);
}

static struct tv_trace *make_trace(void)
{
    static struct tv_event events[EVENTS];
    struct tv_trace_info *head = make_head();
    struct tv_builder *builder = tv_builder_new(head);
    struct tv_sink *sink = tv_builder_sink(builder);
    struct tv_batch batch = {events, EVENTS, 0, 1, NULL};
    make_events(events);
    sink->ops->begin(sink, head, 0, 1);
    for (unsigned pass = 0; pass < sink->ops->passes; pass++) {
        sink->ops->take(sink, pass, 0, &batch);
        if (sink->ops->stitch(sink, pass) != TV_STITCH_DONE)
            abort(); /* one part can always be decided */
    }
    sink->ops->end(sink);
    struct tv_trace *trace = tv_builder_finish(builder);
    add_others(trace);
    return trace;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct tv_view *view; /* made once, and reachable until the end */
    struct tv_view_parameter parameters[8];
    struct tv_view_question question = {.parameters = parameters};
    struct tv_bytes rest = {data, size}, pair;
    struct tv_out out;
    struct tv_error error;
    if (!view)
        view = tv_view_new(make_trace());
    tv_bytes_split(&rest, '?', &question.name);
    while (rest.length > 0 && question.count < TV_COUNT(parameters)) {
        tv_bytes_split(&rest, '&', &pair);
        tv_bytes_split(&pair, '=', &parameters[question.count].name);
        parameters[question.count++].value = pair;
    }
    tv_out_init_memory(&out);
    enum tv_status status = tv_view_answer(view, &question, &out, &error);
    if (status == TV_OK ? out.length == 0 : out.length > 0)
        abort(); /* an answer, or an error, and never both */
    tv_out_release(&out);
    return 0;
}
