/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A part does not know the calls that were open at its start, so it takes a call for outermost when
 * none of its method is open in the part itself.  That is wrong only for methods on the stack at
 * the start, a handful: at each exit set aside ("below") the part notes the sums of the method in
 * that thread so far, and the splice moves them to the recursive calls.  So sums are kept for each
 * method of each thread.
 *
 * With one part there are such methods only where an exit has no entry and its method was called
 * before in the same thread.  So one table by frame serves all threads, which is a twentieth of the
 * memory to go through; should it happen, all is read again with sums apart.  So it is when the
 * times of all threads together do not fit: those of one do.
 *
 * A call's exclusive time is its length less that of the calls it made.  Time with nothing of the
 * part open belongs to the call at the top of the start's stack, whose method the splice knows.
 */
#include "analysis/profile_sink.h"

#include <assert.h>
#include <string.h>

#include "base/memory.h"
#include "model/builder/stitch.h"

struct sums {
    uint64_t calls;
    int64_t wall, cpu; /* ticks */
};

/* One method, of all threads or of one, in a cache line of its own. */
struct method {
    struct sums outer;
    uint64_t recursive_calls;
    int64_t excl_wall, excl_cpu;
    uint32_t frame;
    uint32_t open; /* its open calls, when of one thread */
    uint64_t unused;
};

/* What was noted at an exit set aside; its number is the below's tag. */
struct note {
    struct sums outer; /* of the exit's method, so far */
    struct sums waits; /* with nothing of the part open, since the previous one */
};

struct part {
    struct tv_walk walk;
    struct tv_diagnostics diagnostics;
    bool shared; /* methods are those of all threads */
    bool mixed;  /* and that did not suffice */
    uint32_t frame_count;
    struct method *methods; /* shared: by frame; else from 1 on, in order of first call */
    size_t method_count, method_capacity;
    /* Of each thread that was met, by frame.  Shared: twice the open calls, and 1 when there ever
     * were any; else the method's number, or 0. */
    uint32_t **words;
    struct sums *level_waits; /* of each thread: with nothing of the part open */
    struct note *notes;
    size_t note_count, note_capacity;
    struct sums waits;
};

struct tv_profile_sink {
    struct tv_sink sink;
    bool (*wanted)(const struct tv_trace_info *head, uint32_t thread, void *context);
    void *context;
    struct tv_trace_info *head;
    uint32_t input;
    bool *skip;
    unsigned part_count;
    struct part *parts;
    struct tv_method_cost *methods; /* by frame, nanoseconds; of the inputs that are done */
    size_t method_capacity;
    uint32_t method_count;
    struct tv_path_cost waits;
    struct tv_walk_facts facts;
    tv_ns wall, cpu; /* of all threads, from their first records to their last */
    bool apart;      /* sums for each thread even with one part */
};

/* ---- While events come ---- */

TV_INLINE void add_step(struct method *method, const struct tv_step *step)
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

TV_INLINE uint32_t step_shared(void *context, const struct tv_step *step)
{
    struct part *part = context;
    uint32_t *open = &part->words[step->thread][step->frame];
    uint32_t before = *open;
    add_step(&part->methods[step->frame], step);
    *open = (before + 2 + 4 * (uint32_t)step->exit) | 1;
    return before > 1;
}

static TV_NOINLINE uint32_t new_method(struct part *part, const struct tv_step *step)
{
    part->methods = tv_array_reserve(part->methods, &part->method_capacity, part->method_count + 1,
                                     sizeof *part->methods);
    part->methods[part->method_count] = (struct method){.frame = step->frame};
    return part->words[step->thread][step->frame] = (uint32_t)part->method_count++;
}

TV_INLINE uint32_t step_apart(void *context, const struct tv_step *step)
{
    struct part *part = context;
    uint32_t number = part->words[step->thread][step->frame];
    if (TV_UNLIKELY(!number))
        number = new_method(part, step);
    struct method *method = &part->methods[number];
    uint32_t before = method->open;
    add_step(method, step);
    method->open = before + 1 + 2 * (uint32_t)step->exit;
    return before != 0;
}

static void profile_first(void *context, uint32_t thread, struct tv_walk_thread *t)
{
    struct part *part = context;
    (void)t;
    part->words[thread] = tv_alloc(part->frame_count, sizeof(uint32_t));
}

static void add_wait(struct sums *waits, int64_t length)
{
    waits->calls++;
    tv_time_add(&waits->wall, length);
}

static TV_NOINLINE void profile_wait(void *context, uint32_t thread, struct tv_walk_thread *t,
                                     int64_t wall, int64_t cpu)
{
    struct part *part = context;
    add_wait(t->depth ? &part->waits : &part->level_waits[thread], wall - cpu);
}

static TV_NOINLINE void profile_below(void *context, uint32_t thread, struct tv_walk_thread *t,
                                      struct tv_pending_exit *below)
{
    struct part *part = context;
    struct note note = {.waits = part->level_waits[thread]};
    (void)t;
    uint32_t word = below->frame == TV_ANY_FRAME ? 0 : part->words[thread][below->frame];
    if (below->frame == TV_ANY_FRAME && !part->walk.first)
        part->walk.undecided = true; /* of what it is shows only at the splice: too late */
    if (word && part->shared)
        part->mixed = true;
    else if (word)
        note.outer = part->methods[word].outer;
    part->level_waits[thread] = (struct sums){0};
    part->notes =
        tv_array_reserve(part->notes, &part->note_capacity, part->note_count + 1, sizeof note);
    below->tag = (uint32_t)part->note_count;
    part->notes[part->note_count++] = note;
}

/* So many events are looked at before they are walked. */
#define AHEAD 64

/* Asks for the memory of the methods that the events are of.  Which they are nothing predicts, so
 * that the walk alone would wait for each of them in turn: sums for each method of each thread are
 * more than a core's caches hold. */
static void fetch_methods(const struct part *part, const struct tv_batch *batch)
{
    for (size_t i = 0; i < batch->count; i++) {
        const struct tv_event *event = &batch->events[i];
        const uint32_t *words = part->words[event->thread];
        if (words && event->frame < part->frame_count)
            TV_PREFETCH(&part->methods[words[event->frame]]);
    }
}

static void take_apart(struct part *part, const struct tv_batch *batch)
{
    static const struct tv_walk_calls apart = {step_apart, profile_first, profile_below,
                                               profile_wait};
    for (size_t i = 0; i < batch->count; i += AHEAD) {
        struct tv_batch slice = tv_batch_slice(batch, i, AHEAD);
        fetch_methods(part, &slice);
        tv_walk_batch(&part->walk, &slice, &apart, part);
    }
}

static void profile_take(struct tv_sink *sink, unsigned pass, unsigned number,
                         const struct tv_batch *batch)
{
    static const struct tv_walk_calls shared = {step_shared, profile_first, profile_below,
                                                profile_wait};
    struct part *part = &((struct tv_profile_sink *)sink)->parts[number];
    (void)pass;
    if (part->shared)
        tv_walk_batch(&part->walk, batch, &shared, part);
    else
        take_apart(part, batch);
}

/* ---- Before and after ---- */

static void release_parts(struct tv_profile_sink *sink)
{
    for (unsigned i = 0; i < sink->part_count; i++) {
        struct part *part = &sink->parts[i];
        for (uint32_t thread = 0; thread < part->walk.thread_count; thread++)
            tv_free(part->words[thread]);
        tv_free(part->words);
        tv_free(part->methods);
        tv_free(part->level_waits);
        tv_free(part->notes);
        tv_walk_release(&part->walk);
        tv_diagnostics_clear(&part->diagnostics);
    }
    tv_free(sink->parts);
    tv_free(sink->skip);
    sink->parts = NULL;
    sink->skip = NULL;
    sink->part_count = 0;
}

static bool *find_skipped(const struct tv_profile_sink *sink)
{
    if (!sink->wanted)
        return NULL;
    bool *skip = tv_alloc(sink->head->thread_count, sizeof *skip);
    for (uint32_t i = 0; i < sink->head->thread_count; i++)
        skip[i] = !sink->wanted(sink->head, i, sink->context);
    return skip;
}

static void profile_begin(struct tv_sink *base, struct tv_trace_info *head, uint32_t input,
                          unsigned parts)
{
    struct tv_profile_sink *sink = (struct tv_profile_sink *)base;
    release_parts(sink);
    sink->head = head;
    sink->input = input;
    sink->skip = find_skipped(sink);
    sink->part_count = parts;
    sink->parts = tv_alloc(parts, sizeof *sink->parts);
    for (unsigned i = 0; i < parts; i++) {
        struct part *part = &sink->parts[i];
        tv_walk_init(&part->walk, head, input, i == 0, &part->diagnostics);
        part->walk.skip = sink->skip;
        part->words = tv_alloc(head->thread_count, sizeof *part->words);
        part->level_waits = tv_alloc(head->thread_count, sizeof *part->level_waits);
        part->frame_count = head->frame_count;
        part->shared = parts == 1 && !sink->apart;
        part->method_count = part->shared ? head->frame_count : 1;
        part->method_capacity = part->method_count;
        part->methods = tv_alloc(part->method_count, sizeof *part->methods);
        for (uint32_t frame = 0; part->shared && frame < head->frame_count; frame++)
            part->methods[frame].frame = frame;
    }
}

/* ---- The splice ---- */

/* One thread, its parts in order. */
struct splice {
    struct tv_profile_sink *sink;
    int64_t tick;
    uint32_t unknown; /* the frame for calls whose exit does not say */
    uint32_t thread;
    uint32_t *lowest; /* [frames] lowest place on the start's stack, or TV_NONE */
};

static struct tv_method_cost *cost_of(const struct splice *splice, uint32_t frame)
{
    return &splice->sink->methods[frame == TV_ANY_FRAME ? splice->unknown : frame];
}

static void add_exclusive(const struct splice *splice, uint32_t frame, int64_t wall, int64_t cpu)
{
    struct tv_method_cost *cost = cost_of(splice, frame);
    tv_time_add(&cost->excl_wall, tv_time_times(wall, splice->tick));
    tv_time_add(&cost->excl_cpu, tv_time_times(cpu, splice->tick));
}

/* A whole call: outermost, or within another of its method. */
static void add_call(const struct splice *splice, uint32_t frame, bool outermost, int64_t wall,
                     int64_t cpu)
{
    struct tv_method_cost *cost = cost_of(splice, frame);
    if (!outermost) {
        cost->recursive_calls++;
        return;
    }
    cost->calls++;
    tv_time_add(&cost->incl_wall, tv_time_times(wall, splice->tick));
    tv_time_add(&cost->incl_cpu, tv_time_times(cpu, splice->tick));
}

/* Time with nothing of the part open: of the call at stack[depth - 1], if any. */
static void add_level(const struct splice *splice, const struct tv_walk_start *start,
                      uint32_t depth, int64_t wall, int64_t cpu, const struct sums *waits)
{
    if (!depth)
        return;
    add_exclusive(splice, start->stack[depth - 1].frame, wall, cpu);
    splice->sink->waits.calls += waits->calls;
    tv_time_add(&splice->sink->waits.wall, tv_time_times(waits->wall, splice->tick));
}

/* Calls that the part took for outermost were made within a call of their method. */
static void move_to_recursive(const struct splice *splice, uint32_t frame, const struct sums *outer)
{
    struct tv_method_cost *cost = cost_of(splice, frame);
    cost->calls -= outer->calls;
    cost->recursive_calls += outer->calls;
    tv_time_add(&cost->incl_wall, -tv_time_times(outer->wall, splice->tick));
    tv_time_add(&cost->incl_cpu, -tv_time_times(outer->cpu, splice->tick));
}

static void add_methods(const struct splice *splice, const struct part *part)
{
    for (size_t i = 0; i < part->method_count; i++) {
        const struct method *method = &part->methods[i];
        struct tv_method_cost *cost = &splice->sink->methods[method->frame];
        cost->calls += method->outer.calls;
        cost->recursive_calls += method->recursive_calls;
        tv_time_add(&cost->incl_wall, tv_time_times(method->outer.wall, splice->tick));
        tv_time_add(&cost->incl_cpu, tv_time_times(method->outer.cpu, splice->tick));
        tv_time_add(&cost->excl_wall, tv_time_times(method->excl_wall, splice->tick));
        tv_time_add(&cost->excl_cpu, tv_time_times(method->excl_cpu, splice->tick));
    }
}

static void correct_recursion(const struct splice *splice, const struct part *part,
                              const struct tv_walk_start *start)
{
    const struct tv_walk_thread *t = &part->walk.threads[splice->thread];
    const uint32_t *words = part->words[splice->thread];
    uint32_t stays = start->depth - t->below_count;
    for (uint32_t i = 0; i < start->depth; i++) {
        uint32_t frame = start->stack[i].frame;
        if (frame == TV_ANY_FRAME || splice->lowest[frame] != i)
            continue;
        if (i >= stays)
            move_to_recursive(splice, frame,
                              &part->notes[t->below[start->depth - 1 - i].tag].outer);
        else if (words && !part->shared)
            move_to_recursive(splice, frame, &part->methods[words[frame]].outer);
    }
}

/* Fills (or clears) the lowest places of the frames on a stack. */
static void note_lowest(const struct splice *splice, const struct tv_walk_start *start, bool clear)
{
    for (uint32_t i = start->depth; i > 0; i--)
        if (start->stack[i - 1].frame != TV_ANY_FRAME)
            splice->lowest[start->stack[i - 1].frame] = clear ? TV_NONE : i - 1;
}

static bool is_outermost(const struct splice *splice, const struct tv_walk_start *start,
                         uint32_t place)
{
    uint32_t frame = start->stack[place].frame;
    if (frame != TV_ANY_FRAME)
        return splice->lowest[frame] == place;
    for (uint32_t i = 0; i < place; i++)
        if (start->stack[i].frame == TV_ANY_FRAME)
            return false;
    return true;
}

/* Time between the parts belongs to the top of the start's stack. */
static void add_seam_gap(const struct splice *splice, const struct part *part,
                         const struct tv_walk_start *start)
{
    struct sums waits = {0};
    int64_t wall, cpu;
    if (!tv_stitch_gap(start, &part->walk.threads[splice->thread], &wall, &cpu))
        return;
    if (wall - cpu > part->walk.wait_threshold)
        add_wait(&waits, wall - cpu);
    add_level(splice, start, start->depth, wall, cpu, &waits);
}

/* What the calls still open at the part's end spent in themselves so far. */
static void add_rest(const struct splice *splice, const struct part *part,
                     const struct tv_walk_start *start)
{
    const struct tv_walk_thread *t = &part->walk.threads[splice->thread];
    int64_t wall, cpu;
    if (!t->seen)
        return;
    tv_walk_base_time(t, t->last_wall, t->last_cpu, &wall, &cpu);
    add_level(splice, start, start->depth - t->below_count, wall, cpu,
              &part->level_waits[splice->thread]);
    for (uint32_t i = 0; i < t->depth; i++) {
        const struct tv_open *open = &t->stack[i];
        bool top = i + 1 == t->depth;
        wall = top ? t->last_wall : t->stack[i + 1].wall;
        cpu = top ? t->last_cpu : t->stack[i + 1].cpu;
        add_exclusive(splice, open->frame, wall - open->wall - open->inner_wall,
                      cpu - open->cpu - open->inner_cpu);
    }
}

static void splice_part(const struct splice *splice, const struct part *part,
                        const struct tv_walk_start *start)
{
    const struct tv_walk_thread *t = &part->walk.threads[splice->thread];
    add_seam_gap(splice, part, start);
    note_lowest(splice, start, false);
    correct_recursion(splice, part, start);
    for (uint32_t i = 0; i < t->below_count; i++) {
        const struct tv_pending_exit *below = &t->below[i];
        uint32_t place = start->depth - 1 - i;
        const struct tv_open *open = &start->stack[place];
        add_level(splice, start, place + 1, below->level_wall, below->level_cpu,
                  &part->notes[below->tag].waits);
        add_call(splice, open->frame, is_outermost(splice, start, place), below->wall - open->wall,
                 below->cpu - open->cpu);
    }
    add_rest(splice, part, start);
    note_lowest(splice, start, true);
}

/* Calls open at the end, as the builder closes them. */
static void splice_open(const struct splice *splice, const struct tv_walk_start *last)
{
    const struct tv_input *input = &splice->sink->head->inputs[splice->sink->input];
    int64_t end = tv_stitch_open_end(input, last->last_wall);
    note_lowest(splice, last, false);
    for (uint32_t i = 0; i < last->depth; i++)
        add_call(splice, last->stack[i].frame, is_outermost(splice, last, i),
                 end - last->stack[i].wall, last->last_cpu - last->stack[i].cpu);
    if (last->depth)
        add_exclusive(splice, last->stack[last->depth - 1].frame, end - last->last_wall, 0);
    note_lowest(splice, last, true);
}

static void splice_threads(struct tv_profile_sink *sink, const struct tv_stitch *seam)
{
    struct splice splice = {
        .sink = sink,
        .tick = sink->head->inputs[sink->input].tick_ns,
        .unknown = seam->nameless ? tv_stitch_unknown_frame(sink->head) : TV_NONE,
    };
    splice.lowest = tv_alloc(sink->head->frame_count, sizeof *splice.lowest);
    memset(splice.lowest, 0xff, sink->head->frame_count * sizeof *splice.lowest);
    sink->methods = tv_array_reserve(sink->methods, &sink->method_capacity, sink->head->frame_count,
                                     sizeof *sink->methods);
    for (; sink->method_count < sink->head->frame_count; sink->method_count++)
        sink->methods[sink->method_count] = (struct tv_method_cost){.frame = sink->method_count};
    for (splice.thread = 0; splice.thread < seam->thread_count; splice.thread++) {
        for (unsigned i = 0; i < sink->part_count; i++)
            splice_part(&splice, &sink->parts[i], tv_stitch_start(seam, i, splice.thread));
        splice_open(&splice, tv_stitch_start(seam, sink->part_count, splice.thread));
    }
    for (unsigned i = 0; i < sink->part_count; i++) {
        add_methods(&splice, &sink->parts[i]);
        sink->waits.calls += sink->parts[i].waits.calls;
        tv_time_add(&sink->waits.wall, tv_time_times(sink->parts[i].waits.wall, splice.tick));
    }
    tv_free(splice.lowest);
}

static void add_facts(struct tv_walk_facts *facts, const struct tv_stitch *seam)
{
    facts->calls += seam->entries;
    facts->unmatched_exits += seam->unmatched_exits;
    facts->open_calls += seam->open_calls;
    facts->threads_with_events += seam->threads_with_events;
    for (uint32_t i = 0; i < seam->thread_count; i++)
        if (seam->max_depth[i] > facts->max_depth)
            facts->max_depth = seam->max_depth[i];
}

static void tell_saturation(struct tv_profile_sink *sink)
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

static enum tv_stitch_result profile_splice(struct tv_sink *base, unsigned pass)
{
    struct tv_profile_sink *sink = (struct tv_profile_sink *)base;
    struct tv_stitch seam;
    (void)pass;
    if (sink->parts[0].mixed ||
        (sink->parts[0].shared && !tv_walk_sums_fit(&sink->parts[0].walk))) {
        sink->apart = true;
        return TV_STITCH_SERIAL;
    }
    struct tv_walk *walks = tv_alloc(sink->part_count, sizeof *walks);
    for (unsigned i = 0; i < sink->part_count; i++)
        walks[i] = sink->parts[i].walk;
    enum tv_stitch_result result = tv_stitch_init(&seam, walks, sink->part_count);
    if (result == TV_STITCH_DONE)
        tv_stitch_add_diagnostics(&seam, walks, sink->head);
    tv_free(walks);
    if (result != TV_STITCH_DONE)
        return result;
    splice_threads(sink, &seam);
    add_facts(&sink->facts, &seam);
    tv_stitch_add_spans(&seam, sink->head->inputs[sink->input].tick_ns, &sink->wall, &sink->cpu);
    tell_saturation(sink);
    tv_stitch_release(&seam);
    return TV_STITCH_DONE;
}

static void profile_end(struct tv_sink *base)
{
    release_parts((struct tv_profile_sink *)base);
}

static const struct tv_sink_ops profile_ops = {
    .passes = 1,
    .begin = profile_begin,
    .take = profile_take,
    .splice = profile_splice,
    .end = profile_end,
};

struct tv_profile_sink *tv_profile_sink_new(bool (*wanted)(const struct tv_trace_info *head,
                                                           uint32_t thread, void *context),
                                            void *context)
{
    struct tv_profile_sink *sink = tv_alloc(1, sizeof *sink);
    sink->sink.ops = &profile_ops;
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

struct tv_profile *tv_profile_sink_finish(struct tv_profile_sink *sink, const struct tv_trace_info *head)
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
    release_parts(sink);
    tv_free(sink->methods);
    tv_free(sink);
    return profile;
}
