/* SPDX-License-Identifier: Apache-2.0 */
/*
 * walk.h - from entries and exits to calls: one stack a thread, the same for every sink.
 *
 * A chunk of an input is walked without knowing the calls that were open where it begins.  So its
 * stacks begin empty, and an exit on an empty stack is set aside ("below"): it ends a call of an
 * earlier chunk, or one that began before the trace.  stitch.h fits the chunks together afterwards.
 * The second pass of the builder walks again with the true stacks given (tv_walk_begin_known);
 * then nothing is set aside.
 *
 * What an exit that does not match the top means (method-trace.md section 8, rules 1 and 2):
 * nothing recorded is open: the call began before the trace; its method is open further down: the
 * calls above it have lost their exits and end here; else it is ignored.  Whether it is open
 * further down can only be told when the whole stack is known: a chunk that is not the first then
 * gives up (`undecided`) and the input is read again as one chunk.
 *
 * An ordinary event is taken without asking which it is: the slot of the call that begins or
 * ends, its caller's slot and a mask (0 at an entry, -1 at an exit) serve both, since nothing
 * predicts which comes next and a wrong guess costs more than the work.  Whatever is not ordinary
 * goes the slow way.  The sink's own work is a few small functions in a const struct, which the
 * compiler inlines into tv_walk_batch.
 */
#ifndef TV_MODEL_WALK_H
#define TV_MODEL_WALK_H

#include "model/builder/sink.h"
#include "model/diagnostic.h"
#include "model/trace_info.h"

/* Recorded calls may be nested so deep, and so many exits may lack their entry, in one thread. */
#define TV_DEPTH_LIMIT 65536u

/* How far down the stack the entry for an exit is looked for. */
#define TV_UNWIND_LIMIT 1024u

/* A time in which a thread's wall clock ran ahead of its CPU clock by more than this is a wait
 * (method-trace.md section 9, "(context switch)"). */
#define TV_WAIT_NS 100000

struct tv_open {
    int64_t wall, cpu;             /* of the entry, ticks */
    int64_t inner_wall, inner_cpu; /* time of the calls that it made (tv_walk_add_inner) */
    uint32_t frame;                /* TV_ANY_FRAME: a supplied call whose exit did not say */
    uint32_t tag;                  /* the sink's */
};

/* An exit set aside. */
struct tv_pending_exit {
    int64_t wall, cpu;
    int64_t level_wall, level_cpu; /* time with nothing of the chunk open, since the previous one */
    uint64_t offset;
    uint32_t frame;
    uint32_t max_depth; /* of the chunk's own stack before it, since the previous one */
    uint32_t tag;       /* the sink's: stack[-1]'s at first */
    bool unrolled;
};

struct tv_walk_thread {
    struct tv_open *stack; /* stack[-1] stands for what is below the chunk's own calls */
    uint32_t depth;        /* open calls */
    uint32_t low;          /* exits above this depth, */
    uint32_t room;         /* and entries below this one, are ordinary */
    uint32_t floor;        /* the lowest calls, that began before the trace */
    uint32_t inherited;    /* the lowest calls, that began before the chunk */
    uint32_t capacity;
    uint32_t too_deep; /* entries beyond the limit, still open */
    uint32_t max_depth;
    uint32_t below_count;
    size_t below_capacity;
    struct tv_pending_exit *below;
    bool seen;
    bool had_child; /* calls were made with nothing of the chunk open, since the last exit set
                       aside; the sink's */
    int64_t first_wall, first_cpu, last_wall, last_cpu; /* of the chunk's records, ticks */
    uint64_t entries;
};

struct tv_walk {
    struct tv_walk_thread *threads; /* of all threads of the head */
    uint32_t thread_count;
    const bool *skip;       /* threads that do not count, or NULL */
    int64_t wait_threshold; /* ticks; INT64_MAX when the input has not both clocks */
    bool first;             /* the chunk begins where the input begins */
    bool known;             /* the stacks at the start were given */
    bool undecided;
    struct tv_diagnostics *diagnostics; /* NULL: counted already */
};

/* A call begins or ends. */
struct tv_step {
    uint32_t thread;
    uint32_t frame;
    uint32_t depth; /* of the call */
    struct tv_walk_thread *t;
    struct tv_open *call; /* its slot: as it was at an exit, to be filled by the walk at an entry */
    struct tv_open *caller; /* call - 1 */
    int64_t exit;           /* -1: it ends; 0: it begins */
    int64_t at_wall, at_cpu;
    int64_t wall, cpu; /* its length when it ends, else 0 */
    uint32_t flags;    /* tv_slice_flags of its end */
    bool slow;         /* a constant where it is false */
};

/* For the steps of sinks that ask for tv_walk_base_time or a call's inner time: each adds it. */
TV_INLINE void tv_walk_add_inner(const struct tv_step *step)
{
    step->caller->inner_wall += step->wall;
    step->caller->inner_cpu += step->cpu;
}

/* Return true when the spans of all threads, from first to last record in ticks, have a sum that
 * fits: then every sum of self times within the chunk fits too. */
bool tv_walk_sums_fit(const struct tv_walk *walk);

struct tv_walk_calls {
    /* Returns the call's tag. */
    uint32_t (*step)(void *chunk, const struct tv_step *step);
    /* The thread's first record in the chunk: stack[-1] is there. */
    void (*first)(void *chunk, uint32_t thread, struct tv_walk_thread *t);
    /* An exit was set aside; t->stack[-1] begins anew. */
    void (*below)(void *chunk, uint32_t thread, struct tv_walk_thread *t,
                  struct tv_pending_exit *below);
    /* The thread waited so long since its last record, on top of t->stack[0 .. depth). */
    void (*wait)(void *chunk, uint32_t thread, struct tv_walk_thread *t, int64_t wall, int64_t cpu);
};

/* For the threads and clocks of an input. `diagnostics` is the chunk's own. */
void tv_walk_init(struct tv_walk *walk, const struct tv_trace_info *head, uint32_t input,
                  bool first, struct tv_diagnostics *diagnostics);
void tv_walk_release(struct tv_walk *walk);

/* The thread's stack, last record and floor at the chunk's start, for a known walk. */
struct tv_walk_start {
    struct tv_open *stack;
    uint32_t depth, floor;
    bool seen;
    int64_t last_wall, last_cpu;
};
void tv_walk_begin_known(struct tv_walk *walk, uint32_t thread, const struct tv_walk_start *start);

/* Time with nothing of the chunk open, since the last exit set aside, up to a time. */
static inline void tv_walk_base_time(const struct tv_walk_thread *t, int64_t wall, int64_t cpu,
                                     int64_t *level_wall, int64_t *level_cpu)
{
    const struct tv_open *bottom = &t->stack[-1];
    *level_wall = (t->depth ? t->stack[0].wall : wall) - bottom->wall - bottom->inner_wall;
    *level_cpu = (t->depth ? t->stack[0].cpu : cpu) - bottom->cpu - bottom->inner_cpu;
}

/* For tv_walk_batch: how many calls an exit that is not ordinary ends, what it counts and gives
 * up. */
#define TV_POP_BELOW UINT32_MAX
uint32_t tv_walk_resolve_exit(struct tv_walk *walk, struct tv_walk_thread *t,
                              const struct tv_event *event, uint64_t offset);
/* Appends an exit to those set aside; stack[-1] begins anew. Valid until the next one. */
struct tv_pending_exit *tv_walk_add_pending_exit(struct tv_walk_thread *t,
                                                 const struct tv_event *event, uint64_t offset);
/* Whether an entry that is not ordinary has room after all. */
bool tv_walk_make_room(struct tv_walk *walk, struct tv_walk_thread *t, uint64_t offset);
/* The thread's first record in the chunk. */
void tv_walk_first_event(struct tv_walk_thread *t, const struct tv_event *event);
/* A call was taken off the slow way: it may have been one from before. */
void tv_walk_popped(struct tv_walk_thread *t);

enum { TV_FLAG_UNROLLED = 1, TV_FLAG_MISSING_EXIT = 8 }; /* = enum tv_slice_flags (trace.h) */

/* An event, and who takes it. */
struct tv_walk_turn {
    struct tv_walk_thread *t;
    const struct tv_walk_calls *calls;
    void *chunk;
    const struct tv_event *event;
};

/* Does what an entry or exit does to the stack, and tells the sink. */
TV_INLINE void tv_walk_step(const struct tv_walk_turn *turn, uint32_t frame, int64_t exit,
                            uint32_t flags, bool slow)
{
    struct tv_walk_thread *t = turn->t;
    const struct tv_event *event = turn->event;
    struct tv_open *call = t->stack + ((int64_t)t->depth + exit);
    struct tv_step step = {
        .thread = event->thread,
        .frame = frame,
        .depth = t->depth + (uint32_t)exit,
        .t = t,
        .call = call,
        .caller = call - 1,
        .exit = exit,
        .at_wall = event->wall,
        .at_cpu = event->cpu,
        .wall = (event->wall - call->wall) & exit,
        .cpu = (event->cpu - call->cpu) & exit,
        .flags = flags,
        .slow = slow,
    };
    uint32_t tag = turn->calls->step(turn->chunk, &step);
    *call = (struct tv_open){event->wall, event->cpu, 0, 0, frame, tag};
    t->depth = step.depth + 1 + (uint32_t)exit;
    t->entries += (uint64_t)(1 + exit);
    t->max_depth = t->depth > t->max_depth ? t->depth : t->max_depth;
}

TV_INLINE void tv_walk_exit_slowly(struct tv_walk *walk, const struct tv_walk_turn *turn,
                                   uint64_t offset)
{
    struct tv_walk_thread *t = turn->t;
    const struct tv_event *event = turn->event;
    uint32_t flags = event->action == TV_UNROLL ? TV_FLAG_UNROLLED : 0;
    uint32_t count = tv_walk_resolve_exit(walk, t, event, offset);
    if (count == TV_POP_BELOW) {
        struct tv_pending_exit *below = tv_walk_add_pending_exit(t, event, offset);
        turn->calls->below(turn->chunk, event->thread, t, below);
        return;
    }
    for (; count; count--) {
        tv_walk_step(turn, t->stack[t->depth - 1].frame, -1,
                     count > 1 ? TV_FLAG_MISSING_EXIT : flags, true);
        tv_walk_popped(t);
    }
}

/* Whether an entry finds room, or an exit its own call on top: in sums and masks, for compilers
 * turn a choice into a jump. */
TV_INLINE bool tv_walk_is_ordinary(const struct tv_walk_thread *t, const struct tv_event *event,
                                   int64_t exit)
{
    int64_t room = (int64_t)t->room - t->depth - 1, above = (int64_t)t->depth - t->low - 1;
    int64_t lacking = ((room & ~exit) | (above & exit)) >> 63;
    int64_t other = (int64_t)(t->stack[(int64_t)t->depth - 1].frame ^ event->frame) & exit;
    return (lacking | other) == 0;
}

/* Walks a batch. `calls` must be a constant where this is called. */
TV_INLINE void tv_walk_batch(struct tv_walk *walk, const struct tv_batch *batch,
                             const struct tv_walk_calls *calls, void *chunk)
{
    for (size_t i = 0; i < batch->count; i++) {
        const struct tv_event *event = &batch->events[i];
        struct tv_walk_thread *t = &walk->threads[event->thread];
        if (walk->skip && walk->skip[event->thread])
            continue;
        if (TV_UNLIKELY(!t->seen)) {
            tv_walk_first_event(t, event);
            calls->first(chunk, event->thread, t);
        }
        int64_t wall = event->wall - t->last_wall, cpu = event->cpu - t->last_cpu;
        if (TV_UNLIKELY(wall - cpu > walk->wait_threshold))
            calls->wait(chunk, event->thread, t, wall, cpu);
        t->last_wall = event->wall;
        t->last_cpu = event->cpu;
        struct tv_walk_turn turn = {t, calls, chunk, event};
        int64_t exit = -(int64_t)(event->action != TV_ENTER);
        if (TV_LIKELY(tv_walk_is_ordinary(t, event, exit)))
            tv_walk_step(&turn, event->frame, exit, event->action >> 1, false);
        else if (exit)
            tv_walk_exit_slowly(walk, &turn, tv_batch_offset(batch, i));
        else if (tv_walk_make_room(walk, t, tv_batch_offset(batch, i)))
            tv_walk_step(&turn, event->frame, 0, 0, true);
    }
}

#endif
