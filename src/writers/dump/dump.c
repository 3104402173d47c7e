/* SPDX-License-Identifier: Apache-2.0 */
/*
 * dump.c - calls as dmtracedump prints them, from a sink or from a finished
 * trace.
 *
 *     reader --> sink: events in the order of the file --.
 *                                                        |--> dump_write_event --> a line
 *     trace --> calls merged by time --------------------'
 *
 * The sink prints while the file is read, so a dump of any size takes little
 * memory.  It has one pass and one chunk, because lines must come in order.
 * The stack of each thread serves two things: the depth of a line, and the
 * method of an exit that does not name it.
 */
#include "writers/dump/dump.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "writers/text/names.h"
#include "writers/trace/calls.h"

/* Depth of a thread at its first event, as in dmtracedump: two exits without entries fit above
 * it. */
#define FIRST_DEPTH 2

/* Calls above this depth are printed, but their exits are not matched. */
#define STACK_LIMIT 65536u

/* Maximum number of dots that show a depth; deeper lines lose only dots. */
#define DOTS_LIMIT 1000u

struct dump_thread {
    uint32_t *stack; /* frames of open calls */
    size_t capacity;
    uint32_t open;
    int64_t depth; /* as printed */
    bool skip;
};

struct tv_dump {
    struct tv_sink sink;
    struct tv_out *out;
    struct tv_dump_options options;
    struct tv_trace_info *head;
    struct tv_name_cache names;
    struct dump_thread *threads;
    uint32_t thread_count;
    uint32_t listed; /* number of the head's threads when the list was written */
    uint32_t input;
    int64_t tick;
    bool cpu;
    bool asked, mute; /* options.start was called, and returned false */
};

/* Free what belongs to one input. */
static void dump_release_input(struct tv_dump *dump)
{
    if (!dump->threads)
        return;
    tv_name_cache_release(&dump->names);
    for (uint32_t i = 0; i < dump->thread_count; i++)
        tv_free(dump->threads[i].stack);
    tv_free(dump->threads);
    dump->threads = NULL;
    dump->thread_count = 0;
}

/* Order pairs of (id, number). */
static int dump_compare_ids(const void *left, const void *right)
{
    const uint64_t *a = left, *b = right;
    return a[0] != b[0] ? (a[0] > b[0]) - (a[0] < b[0]) : (a[1] > b[1]) - (a[1] < b[1]);
}

/* List the input's threads that are not listed yet, by their IDs, as dmtracedump does. */
static void dump_write_threads(struct tv_dump *dump, const char *more)
{
    const struct tv_trace_info *head = dump->head;
    uint64_t(*sorted)[2] = tv_alloc(head->thread_count, sizeof *sorted);
    uint32_t count = 0;
    for (uint32_t i = dump->listed; i < head->thread_count; i++) {
        if (head->threads[i].input != dump->input)
            continue;
        sorted[count][0] = head->threads[i].id;
        sorted[count++][1] = i;
    }
    qsort(sorted, count, sizeof *sorted, dump_compare_ids);
    tv_out_format(dump->out, "Threads (%u%s):\n", count, more);
    for (uint32_t i = 0; i < count; i++) {
        tv_out_format(dump->out, "%2llu ", (unsigned long long)sorted[i][0]);
        tv_names_thread(dump->out, head, (uint32_t)sorted[i][1]);
        tv_out_char(dump->out, '\n');
    }
    dump->listed = head->thread_count;
    tv_free(sorted);
}

/* Write version, threads and the heading of the lines, as dmtracedump does. */
static void dump_write_head(struct tv_dump *dump)
{
    tv_out_text(dump->out, "VERSION: ");
    tv_names_line(dump->out,
                  tv_trace_info_text(dump->head, dump->head->inputs[dump->input].version));
    tv_out_char(dump->out, '\n');
    dump->listed = 0;
    dump_write_threads(dump, "");
    tv_out_text(dump->out, "Trace (threadID action usecs class.method signature):\n");
}

/* Prepare the threads of the head that are new since the last call. */
static void dump_add_threads(struct tv_dump *dump)
{
    const struct tv_trace_info *head = dump->head;
    uint32_t known = dump->thread_count;
    struct dump_thread *threads = tv_alloc(head->thread_count, sizeof *threads);
    if (known > 0)
        memcpy(threads, dump->threads, known * sizeof *threads);
    tv_free(dump->threads);
    dump->threads = threads;
    dump->thread_count = head->thread_count;
    for (uint32_t i = known; i < head->thread_count; i++) {
        threads[i].depth = FIRST_DEPTH;
        threads[i].skip = dump->mute || (dump->options.wanted &&
                                         !dump->options.wanted(head, i, dump->options.context));
    }
}

/* Return true when the times of the input are CPU times. */
static bool dump_uses_cpu(const struct tv_dump *dump)
{
    enum tv_dump_clock clock = dump->options.clock;
    bool has_cpu = dump->head->inputs[dump->input].clocks & TV_CLOCK_CPU;
    return clock == TV_DUMP_CPU || (clock == TV_DUMP_FIRST && has_cpu);
}

/* Continue in the same input: the reader found more frames and threads, and may now know the
 * clock of the times. */
static void dump_continue_input(struct tv_dump *dump)
{
    dump->cpu = dump_uses_cpu(dump);
    tv_name_cache_release(&dump->names);
    tv_name_cache_init(&dump->names, dump->head);
    dump_add_threads(dump);
}

/* Start an input, or continue it when the reader begins again after the events already printed. */
static void dump_sink_begin(struct tv_sink *sink, struct tv_trace_info *head, uint32_t input,
                            unsigned parts)
{
    struct tv_dump *dump = (struct tv_dump *)sink;
    const struct tv_input *in = &head->inputs[input];
    (void)parts;
    if (dump->threads && dump->head == head && dump->input == input) {
        dump_continue_input(dump);
        return;
    }
    dump_release_input(dump);
    if (!dump->asked && dump->options.start)
        dump->mute = !dump->options.start(head, dump->options.context);
    dump->asked = true;
    dump->head = head;
    dump->input = input;
    tv_name_cache_init(&dump->names, head);
    dump->tick = in->tick_ns;
    dump->cpu = dump_uses_cpu(dump);
    dump_add_threads(dump);
    if (!dump->mute)
        dump_write_head(dump);
}

/* Pop the call that ends, and those above it whose exits are missing. Return its frame. */
static uint32_t dump_thread_pop(struct dump_thread *t, uint32_t frame)
{
    /* A damaged file could make every exit search a deep stack; 1024 calls are
     * enough for exits that were lost. */
    uint32_t limit = t->open < 1024 ? t->open : 1024;
    if (frame == TV_ANY_FRAME)
        return t->open > 0 ? t->stack[--t->open] : TV_NONE;
    for (uint32_t i = 1; i <= limit; i++) {
        if (t->stack[t->open - i] != frame)
            continue;
        t->open -= i;
        t->depth -= i - 1;
        break;
    }
    return frame;
}

/* Deep calls are not stored, but their depth is still counted. */
static void dump_thread_push(struct dump_thread *t, uint32_t frame)
{
    if (t->open >= STACK_LIMIT)
        return;
    t->stack = tv_array_reserve(t->stack, &t->capacity, (size_t)t->open + 1, sizeof *t->stack);
    t->stack[t->open++] = frame;
}

/* Write a dot for each level; a negative depth, after exits without entries,
 * has a minus sign. */
static void dump_write_dots(struct tv_out *out, int64_t depth)
{
    size_t count = depth < 0 ? 0 : depth < DOTS_LIMIT ? (size_t)depth : DOTS_LIMIT;
    tv_out_char(out, depth < 0 ? '-' : ' ');
    memset(tv_out_room(out, DOTS_LIMIT), '.', count);
    out->length += count;
}

/* Write whole microseconds, as dmtracedump does; finer clocks with their fraction. */
static void dump_write_time(struct tv_dump *dump, const struct tv_event *event)
{
    tv_ns time = (dump->cpu ? event->cpu : event->wall) * dump->tick;
    tv_names_time_column(dump->out, 10, time, 1000, dump->tick % 1000 == 0 ? 0 : 3);
}

/* Write a line. The stack of open calls supplies the method of an exit that does not name it. */
static void dump_write_event(struct tv_dump *dump, const struct tv_event *event)
{
    static const char *const actions[] = {" ent", " xit", " unr", " ???"};
    struct dump_thread *t = &dump->threads[event->thread];
    assert(event->thread < dump->thread_count);
    struct tv_out *out = dump->out;
    uint32_t frame = event->frame;
    if (t->skip)
        return;
    if (event->action == TV_ENTER) {
        t->depth++;
        dump_thread_push(t, frame);
    } else {
        frame = dump_thread_pop(t, frame);
    }
    tv_names_number_column(out, 2, dump->head->threads[event->thread].id);
    tv_out_text(out, actions[event->action]);
    dump_write_time(dump, event);
    dump_write_dots(out, t->depth);
    if (frame == TV_NONE)
        tv_out_text(out, "(unknown)");
    else
        tv_out_bytes(out, tv_name_cache_get(&dump->names, frame));
    tv_out_char(out, '\n');
    if (event->action != TV_ENTER)
        t->depth--;
}

/* Print a batch of events. */
static void dump_sink_take(struct tv_sink *sink, unsigned pass, unsigned part,
                           const struct tv_batch *batch)
{
    struct tv_dump *dump = (struct tv_dump *)sink;
    assert(dump->threads);
    (void)pass;
    (void)part;
    for (size_t i = 0; i < batch->count; i++)
        dump_write_event(dump, &batch->events[i]);
}

/* Stitch nothing: dump reads one chunk. */
static enum tv_stitch_result dump_sink_stitch(struct tv_sink *sink, unsigned pass)
{
    (void)sink;
    (void)pass;
    return TV_STITCH_DONE;
}

/* List threads that became known during the events after the events. */
static void dump_sink_end(struct tv_sink *sink)
{
    struct tv_dump *dump = (struct tv_dump *)sink;
    if (!dump->mute && dump->head->thread_count > dump->listed)
        dump_write_threads(dump, " more");
    dump_release_input(dump);
}

static const struct tv_sink_ops ops = {
    .passes = 1,
    .writes = true,
    .begin = dump_sink_begin,
    .take = dump_sink_take,
    .stitch = dump_sink_stitch,
    .end = dump_sink_end,
};

struct tv_dump *tv_dump_new(struct tv_out *out, const struct tv_dump_options *options)
{
    struct tv_dump *dump = tv_alloc(1, sizeof *dump);
    dump->sink.ops = &ops;
    dump->out = out;
    dump->options = *options;
    return dump;
}

struct tv_sink *tv_dump_sink(struct tv_dump *dump)
{
    return &dump->sink;
}

/* Feed the calls of a finished trace through the same code as a sink's events. */
static void dump_write_input(struct tv_dump *dump, const struct tv_trace *trace,
                             const struct tv_subset *keep, uint32_t input)
{
    struct tv_call_merge *merge = tv_call_merge_new_selected(trace, keep);
    struct tv_call_event call;
    dump_sink_begin(&dump->sink, trace->head, input, 1);
    while (tv_call_merge_next(merge, &call)) {
        const struct tv_track *track = &trace->tracks[call.track];
        if (track->input != input || !tv_track_has_calls(track))
            continue;
        bool unrolled = call.slice->flags & TV_SLICE_UNROLLED;
        struct tv_event event = {
            .wall = call.time / dump->tick,
            .cpu = call.cpu / dump->tick,
            .thread = track->thread,
            .action = call.exit ? (unrolled ? TV_UNROLL : TV_EXIT) : TV_ENTER,
            .frame = trace->paths.nodes[call.slice->path].frame & TV_ANY_FRAME,
        };
        dump_write_event(dump, &event);
    }
    tv_call_merge_free(merge);
    dump_release_input(dump);
}

/* Return true when some inputs with times have a CPU clock and others have none. */
static bool dump_clocks_differ(const struct tv_trace_info *head)
{
    bool any_cpu = false, any_other = false;
    for (uint32_t i = 0; i < head->input_count; i++) {
        bool cpu = head->inputs[i].clocks & TV_CLOCK_CPU;
        any_cpu |= cpu && !head->inputs[i].callless;
        any_other |= !cpu && !head->inputs[i].callless;
    }
    return any_cpu && any_other;
}

void tv_dump_trace(struct tv_dump *dump, const struct tv_trace *trace, const struct tv_subset *keep)
{
    if (dump->options.clock == TV_DUMP_FIRST && dump_clocks_differ(trace->head))
        dump->options.clock = TV_DUMP_REAL;
    for (uint32_t i = 0; i < trace->head->input_count; i++)
        dump_write_input(dump, trace, keep, i);
}

void tv_dump_end(struct tv_dump *dump)
{
    dump_release_input(dump);
}

void tv_dump_free(struct tv_dump *dump)
{
    if (!dump)
        return;
    dump_release_input(dump);
    tv_free(dump);
}
