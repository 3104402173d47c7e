/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Chunks of the input are read side by side.  A chunk does not know the calls that were open when
 * it began, so it takes a call for the outermost of its method if no other one is open in the chunk
 * itself.  That is wrong only for methods on the stack at the chunk's start, a handful.  At each
 * exit that finds nothing open in the chunk (an exit "below"), the chunk notes the sums of that
 * method and thread so far, and stitching moves them to the recursive calls.  Sums are therefore
 * kept by method and thread.
 *
 * With a single chunk, such methods exist only where an exit has no entry and its method was called
 * before in the same thread.  Then one table by frame serves all threads, with a twentieth of the
 * memory to go through.  If the exception occurs, or the sum over all threads overflows, the input
 * is read again with separate sums.
 *
 * A call's exclusive time is its length minus that of its children.  Time with nothing of the chunk
 * open belongs to the call at the top of the stack at the chunk's start, which stitching knows.
 */
#include "analysis/calltree/profile.h"

#include <assert.h>
#include <string.h>

#include "base/memory.h"
#include "model/builder/stitch.h"

struct profile_sums {
    uint64_t calls;
    int64_t wall, cpu; /* ticks */
};

/* One method, of all threads or of one, in a cache line of its own. */
struct profile_method {
    struct profile_sums outer;
    uint64_t recursive_calls;
    int64_t excl_wall, excl_cpu;
    uint32_t frame;
    uint32_t open; /* open calls, if of one thread */
    uint64_t unused;
};

/* State at an exit below; its number is the tv_pending_exit's tag. */
struct profile_note {
    struct profile_sums outer; /* of the exit's method, so far */
    struct profile_sums waits; /* with nothing of the chunk open, since the previous note */
};

struct profile_chunk {
    struct tv_walk walk;
    struct tv_diagnostics diagnostics;
    bool shared; /* one table serves all threads */
    bool mixed;  /* ... and proved insufficient */
    uint32_t frame_count;
    struct profile_method
        *methods; /* shared: by frame; otherwise from 1 on, in order of first call */
    size_t method_count, method_capacity;
    /* By thread, then by frame; NULL until the thread has an event.  Shared: twice the number of
     * open calls, plus 1 if there ever were any; otherwise the method's number, or 0. */
    uint32_t **words;
    struct profile_sums *level_waits; /* by thread: with nothing of the chunk open */
    struct profile_note *notes;
    size_t note_count, note_capacity;
    struct profile_sums waits;
};

struct tv_profile_sink {
    struct tv_sink sink;
    bool (*wanted)(const struct tv_trace_info *head, uint32_t thread, void *context);
    void *context;
    struct tv_trace_info *head;
    uint32_t input;
    bool *skip;
    unsigned chunk_count;
    struct profile_chunk *chunks;
    struct tv_method_cost *methods; /* by frame, nanoseconds; of the inputs that are done */
    size_t method_capacity;
    uint32_t method_count;
    struct tv_path_cost waits;
    struct tv_walk_facts facts;
    tv_ns wall, cpu; /* of all threads, from first to last record */
    bool apart;      /* keep sums by thread even with one chunk */
};

/* ---- Events ---- */

TV_INLINE void profile_method_add_step(struct profile_method *method, const struct tv_step *step)
{
    int64_t within = -(int64_t)(step->call->tag != 0);
    int64_t outer = step->exit & ~within;
    method->outer.calls -= (uint64_t)outer;
    tv_time_add_fitting(&method->outer.wall, step->wall & outer);
    tv_time_add_fitting(&method->outer.cpu, step->cpu & outer);
    method->recursive_calls -= (uint64_t)(step->exit & within);
    tv_time_add_fitting(&method->excl_wall, step->wall - (step->call->inner_wall & step->exit));
    tv_time_add_fitting(&method->excl_cpu, step->cpu - (step->call->inner_cpu & step->exit));
    tv_walk_add_inner(step);
}

TV_INLINE uint32_t profile_step_shared(void *context, const struct tv_step *step)
{
    struct profile_chunk *chunk = context;
    uint32_t *open = &chunk->words[step->thread][step->frame];
    uint32_t before = *open;
    profile_method_add_step(&chunk->methods[step->frame], step);
    *open = (before + 2 + 4 * (uint32_t)step->exit) | 1;
    return before > 1;
}

static TV_NOINLINE uint32_t profile_method_new(struct profile_chunk *chunk,
                                               const struct tv_step *step)
{
    assert(!chunk->shared);
    chunk->methods = tv_array_reserve(chunk->methods, &chunk->method_capacity,
                                      chunk->method_count + 1, sizeof *chunk->methods);
    chunk->methods[chunk->method_count] = (struct profile_method){.frame = step->frame};
    return chunk->words[step->thread][step->frame] = (uint32_t)chunk->method_count++;
}

TV_INLINE uint32_t profile_step_by_thread(void *context, const struct tv_step *step)
{
    struct profile_chunk *chunk = context;
    uint32_t number = chunk->words[step->thread][step->frame];
    if (TV_UNLIKELY(!number))
        number = profile_method_new(chunk, step);
    struct profile_method *method = &chunk->methods[number];
    uint32_t before = method->open;
    profile_method_add_step(method, step);
    method->open = before + 1 + 2 * (uint32_t)step->exit;
    return before != 0;
}

static void profile_walk_first(void *context, uint32_t thread, struct tv_walk_thread *t)
{
    struct profile_chunk *chunk = context;
    (void)t;
    chunk->words[thread] = tv_alloc(chunk->frame_count, sizeof(uint32_t));
}

static void profile_add_wait(struct profile_sums *waits, int64_t length)
{
    waits->calls++;
    tv_time_add(&waits->wall, length);
}

static TV_NOINLINE void profile_walk_wait(void *context, uint32_t thread, struct tv_walk_thread *t,
                                          int64_t wall, int64_t cpu)
{
    struct profile_chunk *chunk = context;
    profile_add_wait(t->depth ? &chunk->waits : &chunk->level_waits[thread], wall - cpu);
}

/* Note the sums at an exit below the chunk, which stitching needs to tell outer calls from
 * recursive ones. */
static TV_NOINLINE void profile_walk_below(void *context, uint32_t thread, struct tv_walk_thread *t,
                                           struct tv_pending_exit *below)
{
    struct profile_chunk *chunk = context;
    struct profile_note note = {.waits = chunk->level_waits[thread]};
    (void)t;
    uint32_t word = below->frame == TV_ANY_FRAME ? 0 : chunk->words[thread][below->frame];
    if (below->frame == TV_ANY_FRAME && !chunk->walk.first)
        chunk->walk.undecided = true; /* stitching would know the frame, but too late */
    if (word && chunk->shared)
        chunk->mixed = true;
    else if (word)
        note.outer = chunk->methods[word].outer;
    chunk->level_waits[thread] = (struct profile_sums){0};
    chunk->notes =
        tv_array_reserve(chunk->notes, &chunk->note_capacity, chunk->note_count + 1, sizeof note);
    below->tag = (uint32_t)chunk->note_count;
    chunk->notes[chunk->note_count++] = note;
}

/* Events to look ahead when prefetching methods. */
#define PREFETCH_EVENTS 64

/* Prefetch the methods of the events.  The processor cannot predict them, so the walk would wait
 * for each in turn: sums by method and thread exceed a core's caches. */
static void profile_prefetch_methods(const struct profile_chunk *chunk,
                                     const struct tv_batch *batch)
{
    for (size_t i = 0; i < batch->count; i++) {
        const struct tv_event *event = &batch->events[i];
        const uint32_t *words = chunk->words[event->thread];
        if (words && event->frame < chunk->frame_count)
            TV_PREFETCH(&chunk->methods[words[event->frame]]);
    }
}

static void profile_take_by_thread(struct profile_chunk *chunk, const struct tv_batch *batch)
{
    static const struct tv_walk_calls apart = {profile_step_by_thread, profile_walk_first,
                                               profile_walk_below, profile_walk_wait};
    for (size_t i = 0; i < batch->count; i += PREFETCH_EVENTS) {
        struct tv_batch slice = tv_batch_slice(batch, i, PREFETCH_EVENTS);
        profile_prefetch_methods(chunk, &slice);
        tv_walk_batch(&chunk->walk, &slice, &apart, chunk);
    }
}

static void profile_sink_take(struct tv_sink *sink, unsigned pass, unsigned number,
                              const struct tv_batch *batch)
{
    static const struct tv_walk_calls shared = {profile_step_shared, profile_walk_first,
                                                profile_walk_below, profile_walk_wait};
    struct profile_chunk *chunk = &((struct tv_profile_sink *)sink)->chunks[number];
    (void)pass;
    if (chunk->shared)
        tv_walk_batch(&chunk->walk, batch, &shared, chunk);
    else
        profile_take_by_thread(chunk, batch);
}

/* ---- Begin and end ---- */

/* Free the chunks; the figures are in `methods`. */
static void profile_sink_release_chunks(struct tv_profile_sink *sink)
{
    for (unsigned i = 0; i < sink->chunk_count; i++) {
        struct profile_chunk *chunk = &sink->chunks[i];
        for (uint32_t thread = 0; thread < chunk->walk.thread_count; thread++)
            tv_free(chunk->words[thread]);
        tv_free(chunk->words);
        tv_free(chunk->methods);
        tv_free(chunk->level_waits);
        tv_free(chunk->notes);
        tv_walk_release(&chunk->walk);
        tv_diagnostics_clear(&chunk->diagnostics);
    }
    tv_free(sink->chunks);
    tv_free(sink->skip);
    sink->chunks = NULL;
    sink->skip = NULL;
    sink->chunk_count = 0;
}

static bool *profile_sink_find_skipped(const struct tv_profile_sink *sink)
{
    if (!sink->wanted)
        return NULL;
    bool *skip = tv_alloc(sink->head->thread_count, sizeof *skip);
    for (uint32_t i = 0; i < sink->head->thread_count; i++)
        skip[i] = !sink->wanted(sink->head, i, sink->context);
    return skip;
}

/* Prepare for the chunks of an input; costs of earlier inputs stay. */
static void profile_sink_begin(struct tv_sink *base, struct tv_trace_info *head, uint32_t input,
                               unsigned chunks)
{
    struct tv_profile_sink *sink = (struct tv_profile_sink *)base;
    profile_sink_release_chunks(sink);
    sink->head = head;
    sink->input = input;
    sink->skip = profile_sink_find_skipped(sink);
    sink->chunk_count = chunks;
    sink->chunks = tv_alloc(chunks, sizeof *sink->chunks);
    for (unsigned i = 0; i < chunks; i++) {
        struct profile_chunk *chunk = &sink->chunks[i];
        tv_walk_init(&chunk->walk, head, input, i == 0, &chunk->diagnostics);
        chunk->walk.skip = sink->skip;
        chunk->words = tv_alloc(head->thread_count, sizeof *chunk->words);
        chunk->level_waits = tv_alloc(head->thread_count, sizeof *chunk->level_waits);
        chunk->frame_count = head->frame_count;
        chunk->shared = chunks == 1 && !sink->apart;
        chunk->method_count = chunk->shared ? head->frame_count : 1;
        chunk->method_capacity = chunk->method_count;
        chunk->methods = tv_alloc(chunk->method_count, sizeof *chunk->methods);
        for (uint32_t frame = 0; chunk->shared && frame < head->frame_count; frame++)
            chunk->methods[frame].frame = frame;
    }
}

/* ---- Stitching ---- */

/* One thread, whose chunks are stitched in order. */
struct profile_stitch {
    struct tv_profile_sink *sink;
    int64_t tick;
    uint32_t unknown; /* frame for calls whose exit does not name one */
    uint32_t thread;
    uint32_t *lowest; /* [frames] lowest position on the start's stack, or TV_NONE */
};

static struct tv_method_cost *profile_stitch_cost(const struct profile_stitch *stitching,
                                                  uint32_t frame)
{
    return &stitching->sink->methods[frame == TV_ANY_FRAME ? stitching->unknown : frame];
}

static void profile_stitch_exclusive(const struct profile_stitch *stitching, uint32_t frame,
                                     int64_t wall, int64_t cpu)
{
    struct tv_method_cost *cost = profile_stitch_cost(stitching, frame);
    tv_time_add(&cost->excl_wall, tv_time_times(wall, stitching->tick));
    tv_time_add(&cost->excl_cpu, tv_time_times(cpu, stitching->tick));
}

/* Add a complete call: outermost, or inside another of its method. */
static void profile_stitch_call(const struct profile_stitch *stitching, uint32_t frame,
                                bool outermost, int64_t wall, int64_t cpu)
{
    struct tv_method_cost *cost = profile_stitch_cost(stitching, frame);
    if (!outermost) {
        cost->recursive_calls++;
        return;
    }
    cost->calls++;
    tv_time_add(&cost->incl_wall, tv_time_times(wall, stitching->tick));
    tv_time_add(&cost->incl_cpu, tv_time_times(cpu, stitching->tick));
}

/* Add time with nothing of the chunk open to the call at stack[depth - 1], if any. */
static void profile_stitch_level(const struct profile_stitch *stitching,
                                 const struct tv_walk_start *start, uint32_t depth, int64_t wall,
                                 int64_t cpu, const struct profile_sums *waits)
{
    if (!depth)
        return;
    profile_stitch_exclusive(stitching, start->stack[depth - 1].frame, wall, cpu);
    stitching->sink->waits.calls += waits->calls;
    tv_time_add(&stitching->sink->waits.wall, tv_time_times(waits->wall, stitching->tick));
}

/* Calls that the chunk took for outermost were inside a call of their method. */
static void profile_stitch_move_to_recursive(const struct profile_stitch *stitching, uint32_t frame,
                                             const struct profile_sums *outer)
{
    struct tv_method_cost *cost = profile_stitch_cost(stitching, frame);
    cost->calls -= outer->calls;
    cost->recursive_calls += outer->calls;
    tv_time_add(&cost->incl_wall, -tv_time_times(outer->wall, stitching->tick));
    tv_time_add(&cost->incl_cpu, -tv_time_times(outer->cpu, stitching->tick));
}

/* Add the methods of a chunk to those of the input, in nanoseconds. */
static void profile_stitch_methods(const struct profile_stitch *stitching,
                                   const struct profile_chunk *chunk)
{
    for (size_t i = 0; i < chunk->method_count; i++) {
        const struct profile_method *method = &chunk->methods[i];
        struct tv_method_cost *cost = &stitching->sink->methods[method->frame];
        cost->calls += method->outer.calls;
        cost->recursive_calls += method->recursive_calls;
        tv_time_add(&cost->incl_wall, tv_time_times(method->outer.wall, stitching->tick));
        tv_time_add(&cost->incl_cpu, tv_time_times(method->outer.cpu, stitching->tick));
        tv_time_add(&cost->excl_wall, tv_time_times(method->excl_wall, stitching->tick));
        tv_time_add(&cost->excl_cpu, tv_time_times(method->excl_cpu, stitching->tick));
    }
}

/* Correct the recursion of a thread in a chunk.  Calls that the chunk took for outermost are inside
 * a call that was open before it. */
static void profile_stitch_recursion(const struct profile_stitch *stitching,
                                     const struct profile_chunk *chunk,
                                     const struct tv_walk_start *start)
{
    const struct tv_walk_thread *t = &chunk->walk.threads[stitching->thread];
    const uint32_t *words = chunk->words[stitching->thread];
    uint32_t stays = start->depth - t->below_count;
    for (uint32_t i = 0; i < start->depth; i++) {
        uint32_t frame = start->stack[i].frame;
        if (frame == TV_ANY_FRAME || stitching->lowest[frame] != i)
            continue;
        if (i >= stays)
            profile_stitch_move_to_recursive(
                stitching, frame, &chunk->notes[t->below[start->depth - 1 - i].tag].outer);
        else if (words && !chunk->shared)
            profile_stitch_move_to_recursive(stitching, frame, &chunk->methods[words[frame]].outer);
    }
}

/* Set (or clear) the lowest position of each frame on a stack. */
static void profile_stitch_note_lowest(const struct profile_stitch *stitching,
                                       const struct tv_walk_start *start, bool clear)
{
    for (uint32_t i = start->depth; i > 0; i--)
        if (start->stack[i - 1].frame != TV_ANY_FRAME)
            stitching->lowest[start->stack[i - 1].frame] = clear ? TV_NONE : i - 1;
}

/* Return true when no call of the same method is below this one in the true stack. */
static bool profile_stitch_is_outermost(const struct profile_stitch *stitching,
                                        const struct tv_walk_start *start, uint32_t place)
{
    assert(place < start->depth);
    uint32_t frame = start->stack[place].frame;
    if (frame != TV_ANY_FRAME)
        return stitching->lowest[frame] == place;
    for (uint32_t i = 0; i < place; i++)
        if (start->stack[i].frame == TV_ANY_FRAME)
            return false;
    return true;
}

/* Time between chunks belongs to the top of the start's stack. */
static void profile_stitch_gap(const struct profile_stitch *stitching,
                               const struct profile_chunk *chunk, const struct tv_walk_start *start)
{
    struct profile_sums waits = {0};
    int64_t wall, cpu;
    if (!tv_stitch_gap(start, &chunk->walk.threads[stitching->thread], &wall, &cpu))
        return;
    if (wall - cpu > chunk->walk.wait_threshold)
        profile_add_wait(&waits, wall - cpu);
    profile_stitch_level(stitching, start, start->depth, wall, cpu, &waits);
}

/* Add the own time so far of calls that are open at the chunk's end. */
static void profile_stitch_open_times(const struct profile_stitch *stitching,
                                      const struct profile_chunk *chunk,
                                      const struct tv_walk_start *start)
{
    const struct tv_walk_thread *t = &chunk->walk.threads[stitching->thread];
    int64_t wall, cpu;
    if (!t->seen)
        return;
    tv_walk_base_time(t, t->last_wall, t->last_cpu, &wall, &cpu);
    profile_stitch_level(stitching, start, start->depth - t->below_count, wall, cpu,
                         &chunk->level_waits[stitching->thread]);
    for (uint32_t i = 0; i < t->depth; i++) {
        const struct tv_open *open = &t->stack[i];
        bool top = i + 1 == t->depth;
        wall = top ? t->last_wall : t->stack[i + 1].wall;
        cpu = top ? t->last_cpu : t->stack[i + 1].cpu;
        profile_stitch_exclusive(stitching, open->frame, wall - open->wall - open->inner_wall,
                                 cpu - open->cpu - open->inner_cpu);
    }
}

/* Stitch a chunk to the calls that were open before it.  Its exits without an entry (`below`) end
 * these calls from the innermost on: the i-th ends the call at depth - 1 - i. */
static void profile_stitch_chunk(const struct profile_stitch *stitching,
                                 const struct profile_chunk *chunk,
                                 const struct tv_walk_start *start)
{
    assert(start->depth >= chunk->walk.threads[stitching->thread].below_count);
    const struct tv_walk_thread *t = &chunk->walk.threads[stitching->thread];
    profile_stitch_gap(stitching, chunk, start);
    profile_stitch_note_lowest(stitching, start, false);
    profile_stitch_recursion(stitching, chunk, start);
    for (uint32_t i = 0; i < t->below_count; i++) {
        const struct tv_pending_exit *below = &t->below[i];
        uint32_t place = start->depth - 1 - i;
        const struct tv_open *open = &start->stack[place];
        profile_stitch_level(stitching, start, place + 1, below->level_wall, below->level_cpu,
                             &chunk->notes[below->tag].waits);
        profile_stitch_call(stitching, open->frame,
                            profile_stitch_is_outermost(stitching, start, place),
                            below->wall - open->wall, below->cpu - open->cpu);
    }
    profile_stitch_open_times(stitching, chunk, start);
    profile_stitch_note_lowest(stitching, start, true);
}

/* Close the calls that are open at the end, as the builder does. */
static void profile_stitch_open_calls(const struct profile_stitch *stitching,
                                      const struct tv_walk_start *last)
{
    const struct tv_input *input = &stitching->sink->head->inputs[stitching->sink->input];
    int64_t end = tv_stitch_open_end(input, last->last_wall);
    profile_stitch_note_lowest(stitching, last, false);
    for (uint32_t i = 0; i < last->depth; i++)
        profile_stitch_call(stitching, last->stack[i].frame,
                            profile_stitch_is_outermost(stitching, last, i),
                            end - last->stack[i].wall, last->last_cpu - last->stack[i].cpu);
    if (last->depth)
        profile_stitch_exclusive(stitching, last->stack[last->depth - 1].frame,
                                 end - last->last_wall, 0);
    profile_stitch_note_lowest(stitching, last, true);
}

/* Stitch thread by thread, chunk by chunk, then add the chunks' own figures. */
static void profile_stitch_threads(struct tv_profile_sink *sink, const struct tv_stitch *stitch)
{
    struct profile_stitch stitching = {
        .sink = sink,
        .tick = sink->head->inputs[sink->input].tick_ns,
        .unknown = stitch->nameless ? tv_stitch_unknown_frame(sink->head) : TV_NONE,
    };
    stitching.lowest = tv_alloc(sink->head->frame_count, sizeof *stitching.lowest);
    memset(stitching.lowest, 0xff, sink->head->frame_count * sizeof *stitching.lowest);
    sink->methods = tv_array_reserve(sink->methods, &sink->method_capacity, sink->head->frame_count,
                                     sizeof *sink->methods);
    for (; sink->method_count < sink->head->frame_count; sink->method_count++)
        sink->methods[sink->method_count] = (struct tv_method_cost){.frame = sink->method_count};
    for (stitching.thread = 0; stitching.thread < stitch->thread_count; stitching.thread++) {
        for (unsigned i = 0; i < sink->chunk_count; i++)
            profile_stitch_chunk(&stitching, &sink->chunks[i],
                                 tv_stitch_start(stitch, i, stitching.thread));
        profile_stitch_open_calls(&stitching,
                                  tv_stitch_start(stitch, sink->chunk_count, stitching.thread));
    }
    for (unsigned i = 0; i < sink->chunk_count; i++) {
        profile_stitch_methods(&stitching, &sink->chunks[i]);
        sink->waits.calls += sink->chunks[i].waits.calls;
        tv_time_add(&sink->waits.wall, tv_time_times(sink->chunks[i].waits.wall, stitching.tick));
    }
    tv_free(stitching.lowest);
}

static void profile_add_facts(struct tv_walk_facts *facts, const struct tv_stitch *stitch)
{
    facts->calls += stitch->entries;
    facts->unmatched_exits += stitch->unmatched_exits;
    facts->open_calls += stitch->open_calls;
    facts->threads_with_events += stitch->threads_with_events;
    for (uint32_t i = 0; i < stitch->thread_count; i++)
        if (stitch->max_depth[i] > facts->max_depth)
            facts->max_depth = stitch->max_depth[i];
}

static void profile_sink_report_saturation(struct tv_profile_sink *sink)
{
    tv_ns wall = 0, cpu = 0;
    if (sink->wall < INT64_MAX && sink->cpu < INT64_MAX)
        return;
    for (uint32_t i = 0; i < sink->method_count; i++) {
        tv_time_add(&wall, sink->methods[i].excl_wall);
        tv_time_add(&cpu, sink->methods[i].excl_cpu);
    }
    tv_trace_info_note_saturation(sink->head, wall, cpu);
}

/* Put the chunks of an input together. An input that chunks cannot measure, or whose sums may
 * saturate, is read again as one chunk. */
static enum tv_stitch_result profile_sink_stitch(struct tv_sink *base, unsigned pass)
{
    struct tv_profile_sink *sink = (struct tv_profile_sink *)base;
    struct tv_stitch stitch;
    (void)pass;
    if (sink->chunks[0].mixed ||
        (sink->chunks[0].shared && !tv_walk_sums_fit(&sink->chunks[0].walk))) {
        sink->apart = true;
        return TV_STITCH_SERIAL;
    }
    enum tv_stitch_result result = tv_stitch_chunks(
        &stitch, &sink->chunks[0].walk, sizeof sink->chunks[0], sink->chunk_count, sink->head);
    if (result != TV_STITCH_DONE)
        return result;
    profile_stitch_threads(sink, &stitch);
    profile_add_facts(&sink->facts, &stitch);
    tv_stitch_add_spans(&stitch, sink->head->inputs[sink->input].tick_ns, &sink->wall, &sink->cpu);
    profile_sink_report_saturation(sink);
    tv_stitch_release(&stitch);
    return TV_STITCH_DONE;
}

static void profile_sink_end(struct tv_sink *base)
{
    profile_sink_release_chunks((struct tv_profile_sink *)base);
}

static const struct tv_sink_ops profile_sink_ops = {
    .passes = 1,
    .begin = profile_sink_begin,
    .take = profile_sink_take,
    .stitch = profile_sink_stitch,
    .end = profile_sink_end,
};

struct tv_profile_sink *tv_profile_sink_new(bool (*wanted)(const struct tv_trace_info *head,
                                                           uint32_t thread, void *context),
                                            void *context)
{
    struct tv_profile_sink *sink = tv_alloc(1, sizeof *sink);
    sink->sink.ops = &profile_sink_ops;
    sink->wanted = wanted;
    sink->context = context;
    return sink;
}

struct tv_sink *tv_profile_sink_sink(struct tv_profile_sink *sink)
{
    return &sink->sink;
}

void tv_profile_sink_facts(const struct tv_profile_sink *sink, struct tv_walk_facts *facts)
{
    *facts = sink->facts;
}

struct tv_profile *tv_profile_sink_finish(struct tv_profile_sink *sink,
                                          const struct tv_trace_info *head)
{
    struct tv_profile *profile = tv_alloc(1, sizeof *profile);
    profile->head = head;
    profile->clocks = tv_trace_info_clocks(head);
    profile->waits = sink->waits;
    profile->methods = tv_alloc(sink->method_count, sizeof *profile->methods);
    for (uint32_t i = 0; i < sink->method_count; i++) {
        const struct tv_method_cost *cost = &sink->methods[i];
        if (!cost->calls && !cost->recursive_calls)
            continue;
        profile->methods[profile->count++] = *cost;
        tv_time_add(&profile->total_wall, cost->excl_wall);
        tv_time_add(&profile->total_cpu, cost->excl_cpu);
    }
    profile_sink_release_chunks(sink);
    tv_free(sink->methods);
    tv_free(sink);
    return profile;
}
