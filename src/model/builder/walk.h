/* SPDX-License-Identifier: Apache-2.0 */
/*
 * walk.h - from entries and exits to calls: one stack per thread, the same for every sink.
 *
 * A chunk is walked without knowledge of the calls that are open at its start.  Its stacks begin
 * empty, and an exit on an empty stack becomes a pending exit ("below" the bottom of the stack).
 * It ends a call of an earlier chunk, or one that began before the trace:
 *
 *     events of a thread     exit b   enter c   exit c   exit a   enter d
 *     stack of the chunk     []       [c]       []       []       [d]
 *     pending exits          b                           a
 *
 * stitch.h matches the pending exits afterwards.  The write pass of the builder walks the chunk
 * again with its true stacks (tv_walk_begin_known); then no exit is pending.
 *
 * An exit whose frame is not on top of the stack has one of these meanings (method-trace.md section
 * 8, rules 1 and 2):
 *
 *     no recorded call is open          its call began before the trace
 *     its frame is open further down    the calls above lost their exits and end here, too
 *     its frame is not open             ignore it
 *
 * To tell the last two apart the whole stack must be known.  A chunk that is not the first one
 * therefore gives up (`undecided`), and the input is read again as one chunk.
 *
 * Performance: nothing predicts whether an entry or an exit comes next, and a mispredicted branch
 * costs more than the work itself.  So ordinary events take one branch-free path for both: slot of
 * the call, slot of its caller, and a mask that is 0 for an entry and -1 for an exit.  Everything
 * else takes the slow path.  The sink supplies a few small functions in a const struct, which the
 * compiler inlines into tv_walk_batch.
 */
#ifndef TV_MODEL_BUILDER_WALK_H
#define TV_MODEL_BUILDER_WALK_H

#include "model/builder/sink.h"
#include "model/diagnostic.h"
#include "model/trace_info.h"

/* Limit of recorded calls on one stack, and of exits without an entry, per thread. */
#define TV_DEPTH_LIMIT 65536u

/* Number of calls down the stack in which an exit searches its entry. */
#define TV_UNWIND_LIMIT 1024u

/* A wait: the wall clock of a thread advances by this much more than its CPU clock (method-trace.md
 * section 9, "(context switch)"). */
#define TV_WAIT_NS 100000

struct tv_open {
    int64_t wall, cpu;             /* at the entry, ticks */
    int64_t inner_wall, inner_cpu; /* time of the calls it made (tv_walk_add_inner) */
    uint32_t frame;                /* TV_ANY_FRAME: a supplied call whose exit has no name */
    uint32_t tag;                  /* for use by the sink */
};

/* An exit whose call is not in this chunk. */
struct tv_pending_exit {
    int64_t wall, cpu;
    int64_t level_wall, level_cpu; /* time with an empty stack since the previous pending exit */
    uint64_t offset;
    uint32_t frame;
    uint32_t max_depth; /* deepest stack of the chunk since the previous pending exit */
    uint32_t tag;       /* for use by the sink; starts as that of stack[-1] */
    bool unrolled;
};

struct tv_walk_thread {
    struct tv_open *stack; /* stack[-1] stands for everything below the calls of the chunk */
    uint32_t depth;        /* number of open calls */
    uint32_t low;          /* an exit above this depth is ordinary */
    uint32_t room;         /* an entry below this depth is ordinary */
    uint32_t floor;        /* calls at the bottom that began before the trace */
    uint32_t inherited;    /* calls at the bottom that began before the chunk */
    uint32_t capacity;
    uint32_t too_deep; /* open entries beyond the limit */
    uint32_t max_depth;
    uint32_t below_count;
    size_t below_capacity;
    struct tv_pending_exit *below;
    bool seen;
    bool had_child; /* for use by the sink: a call was made on an empty stack since the last pending
                       exit */
    int64_t first_wall, first_cpu, last_wall,
        last_cpu; /* first and last record in the chunk, ticks */
    uint64_t entries;
};

struct tv_walk {
    struct tv_walk_thread *threads; /* one per thread of the trace info */
    uint32_t thread_count;
    const bool *skip;       /* threads to ignore, or NULL */
    int64_t wait_threshold; /* ticks; INT64_MAX unless the input has both clocks */
    bool first;             /* this is the first chunk of the input */
    bool known;             /* the stacks at the start were given */
    bool undecided;
    struct tv_diagnostics *diagnostics; /* NULL: an earlier pass counted them */
};

/* One step of the walk: a call begins or ends. */
struct tv_step {
    uint32_t thread;
    uint32_t frame;
    uint32_t depth; /* depth of the call */
    struct tv_walk_thread *t;
    struct tv_open
        *call; /* slot of the call: still filled at an exit, filled by the walk after an entry */
    struct tv_open *caller; /* call - 1 */
    int64_t exit;           /* -1: the call ends; 0: it begins */
    int64_t at_wall, at_cpu;
    int64_t wall, cpu; /* its duration when it ends, else 0 */
    uint32_t flags;    /* enum tv_slice_flags of its end */
    bool slow;         /* false is a compile-time constant in the fast path */
};

/* Add a call's time to its caller.  Sinks that use tv_walk_base_time or inner times call this in
 * every step. */
TV_INLINE void tv_walk_add_inner(const struct tv_step *step)
{
    step->caller->inner_wall += step->wall;
    step->caller->inner_cpu += step->cpu;
}

/* Return whether the time from first to last record, summed over all threads in ticks, fits 64
 * bits: then every sum of self times in the chunk fits, too. */
bool tv_walk_sums_fit(const struct tv_walk *walk);

struct tv_walk_calls {
    /* Return the new tag of the call. */
    uint32_t (*step)(void *chunk, const struct tv_step *step);
    /* First record of the thread in the chunk; stack[-1] exists. */
    void (*first)(void *chunk, uint32_t thread, struct tv_walk_thread *t);
    /* A pending exit was added; t->stack[-1] starts again. */
    void (*below)(void *chunk, uint32_t thread, struct tv_walk_thread *t,
                  struct tv_pending_exit *below);
    /* The thread waited since its last record, with t->stack[0 .. depth) open. */
    void (*wait)(void *chunk, uint32_t thread, struct tv_walk_thread *t, int64_t wall, int64_t cpu);
};

/* Prepare a walk for the threads and clocks of an input.  `diagnostics` belongs to the chunk. */
void tv_walk_init(struct tv_walk *walk, const struct tv_trace_info *head, uint32_t input,
                  bool first, struct tv_diagnostics *diagnostics);
void tv_walk_release(struct tv_walk *walk);

/* Stack, last record and floor of a thread at the start of a chunk. */
struct tv_walk_start {
    struct tv_open *stack;
    uint32_t depth, floor;
    bool seen;
    int64_t last_wall, last_cpu;
};
void tv_walk_begin_known(struct tv_walk *walk, uint32_t thread, const struct tv_walk_start *start);

/* Return the time with an empty stack from the last pending exit up to the given time. */
static inline void tv_walk_base_time(const struct tv_walk_thread *t, int64_t wall, int64_t cpu,
                                     int64_t *level_wall, int64_t *level_cpu)
{
    const struct tv_open *bottom = &t->stack[-1];
    *level_wall = (t->depth ? t->stack[0].wall : wall) - bottom->wall - bottom->inner_wall;
    *level_cpu = (t->depth ? t->stack[0].cpu : cpu) - bottom->cpu - bottom->inner_cpu;
}

/* Decide an exit that is not ordinary: return the number of calls that it ends, or TV_POP_BELOW for
 * a pending exit, and count diagnostics. */
#define TV_POP_BELOW UINT32_MAX
uint32_t tv_walk_resolve_exit(struct tv_walk *walk, struct tv_walk_thread *t,
                              const struct tv_event *event, uint64_t offset);
/* Append a pending exit and reset stack[-1].  The result is valid until the next call. */
struct tv_pending_exit *tv_walk_add_pending_exit(struct tv_walk_thread *t,
                                                 const struct tv_event *event, uint64_t offset);
/* Make room for an entry that is not ordinary; return false when the stack is too deep. */
bool tv_walk_make_room(struct tv_walk *walk, struct tv_walk_thread *t, uint64_t offset);
/* Handle the first record of a thread in the chunk. */
void tv_walk_first_event(struct tv_walk_thread *t, const struct tv_event *event);
/* Adjust the limits after the slow path ended a call, which may be an inherited one. */
void tv_walk_popped(struct tv_walk_thread *t);

enum {
    TV_FLAG_UNROLLED = 1,
    TV_FLAG_MISSING_EXIT = 8
}; /* same values as in enum tv_slice_flags (trace.h) */

/* An event with the context of its step. */
struct tv_walk_turn {
    struct tv_walk_thread *t;
    const struct tv_walk_calls *calls;
    void *chunk;
    const struct tv_event *event;
};

/* Apply an entry or exit to the stack and call the sink. */
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

/* Return whether an entry has room, or an exit ends the call on top.  Sums and masks, because
 * compilers turn conditions into jumps. */
TV_INLINE bool tv_walk_is_ordinary(const struct tv_walk_thread *t, const struct tv_event *event,
                                   int64_t exit)
{
    int64_t room = (int64_t)t->room - t->depth - 1, above = (int64_t)t->depth - t->low - 1;
    int64_t lacking = ((room & ~exit) | (above & exit)) >> 63;
    int64_t other = (int64_t)(t->stack[(int64_t)t->depth - 1].frame ^ event->frame) & exit;
    return (lacking | other) == 0;
}

/* Walk a batch.  `calls` must be a compile-time constant at the call site, so that its functions
 * are inlined. */
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
