/* SPDX-License-Identifier: Apache-2.0 */
/*
 * walk.h - from entries and exits to calls: one stack a thread, the same for every sink.
 *
 * A part of an input is walked without knowing the calls that were open where it begins.  So its stacks begin
 * empty, and an exit on an empty stack is set aside ("below"): it ends a call of an earlier part, or one
 * that began before the trace.  seam.h fits the parts together afterwards.  The second pass of the builder
 * walks again with the true stacks given (tv_walk_begin_known); then nothing is set aside.
 *
 * What an exit that does not match the top means (method-trace.md section 8, rules 1 and 2): nothing recorded
 * is open: the call began before the trace; its method is open further down: the calls above it have lost
 * their exits and end here; else it is ignored.  Whether it is open further down can only be told when the
 * whole stack is known: a part that is not the first then gives up (`undecided`) and the input is read again
 * as one part.
 *
 * The sink's own work is four small functions in a const struct, which the compiler inlines into
 * tv_walk_batch.
 */
#ifndef TV_MODEL_WALK_H
#define TV_MODEL_WALK_H

#include "model/diagnostic.h"
#include "model/event.h"

/* Recorded calls may be nested so deep, and so many exits may lack their entry, in one thread. */
#define TV_DEPTH_LIMIT 65536u

/* How far down the stack the entry for an exit is looked for. */
#define TV_UNWIND_LIMIT 1024u

struct tv_open {
    int64_t wall, cpu;             /* of the entry, ticks */
    uint32_t frame;                /* TV_ANY_FRAME: a supplied call whose exit did not say */
    uint32_t tag;                  /* the sink's */
    int64_t inner_wall, inner_cpu; /* the sink's: 0 at the entry */
};

/* An exit set aside. */
struct tv_below {
    int64_t wall, cpu;
    uint64_t offset;
    uint32_t frame;
    uint32_t max_depth; /* of the part's own stack before it, since the previous one set aside */
    uint32_t tag;       /* the sink's */
    bool unrolled;
    bool had_child; /* the call that it ends made calls in this part */
};

struct tv_walk_thread {
    struct tv_open *stack;
    uint32_t depth;    /* open calls */
    uint32_t floor;    /* the lowest of them, that began before the trace */
    uint32_t capacity;
    uint32_t too_deep; /* entries beyond the limit, still open */
    uint32_t max_depth;
    uint32_t below_count;
    size_t below_capacity;
    struct tv_below *below;
    bool seen;
    bool had_child; /* as in tv_below, for the exit that did not come */
    int64_t first_wall, first_cpu, last_wall, last_cpu; /* of the part's records, ticks */
    uint64_t entries;
};

struct tv_walk {
    struct tv_walk_thread *threads; /* of all threads of the head */
    uint32_t thread_count;
    const bool *skip; /* threads that do not count, or NULL */
    bool first;       /* the part begins where the input begins */
    bool known;       /* the stacks at the start were given */
    bool undecided;
    struct tv_diagnostics *diagnostics; /* NULL: counted already */
};

struct tv_walk_calls {
    /* Time passed since the thread's last record; t->stack is as it was in between. */
    void (*gap)(void *part, uint32_t thread, struct tv_walk_thread *t, int64_t wall, int64_t cpu);
    /* A call begins on top of t->stack[0 .. depth). Returns its tag. */
    uint32_t (*enter)(void *part, uint32_t thread, struct tv_walk_thread *t, const struct tv_event *event);
    /* The call that stood at t->stack[depth] (already taken off) ends; `flags` are tv_slice_flags. */
    void (*leave)(void *part, uint32_t thread, struct tv_walk_thread *t, const struct tv_event *event,
                  unsigned flags);
    /* An exit was set aside. Sets its tag. */
    void (*below)(void *part, uint32_t thread, struct tv_walk_thread *t, struct tv_below *below);
};

/* `diagnostics` is the part's own. */
void tv_walk_init(struct tv_walk *walk, uint32_t thread_count, bool first,
                  struct tv_diagnostics *diagnostics);
void tv_walk_release(struct tv_walk *walk);

/* The thread's stack, last record and floor at the part's start, for a known walk. */
struct tv_walk_start {
    struct tv_open *stack;
    uint32_t depth, floor;
    bool seen;
    int64_t last_wall, last_cpu;
};
void tv_walk_begin_known(struct tv_walk *walk, uint32_t thread, const struct tv_walk_start *start);

/* What to do with an exit that is not of the top: how many calls to take off. Sets aside, counts and gives up
 * as above. */
#define TV_POP_BELOW UINT32_MAX
uint32_t tv_walk_resolve_exit(struct tv_walk *walk, struct tv_walk_thread *t, const struct tv_event *event,
                              uint64_t offset);
struct tv_below *tv_walk_set_aside(struct tv_walk_thread *t, const struct tv_event *event, uint64_t offset);
void tv_walk_grow_stack(struct tv_walk_thread *t);

/* Counts an entry beyond the limit. */
void tv_walk_too_deep(struct tv_walk *walk, struct tv_walk_thread *t, uint64_t offset);

enum { TV_FLAG_UNROLLED = 1, TV_FLAG_MISSING_EXIT = 8 }; /* = enum tv_slice_flags (trace.h) */

TV_INLINE void tv_walk_pop(struct tv_walk_thread *t, const struct tv_walk_calls *calls, void *part,
                           const struct tv_event *event, unsigned flags)
{
    t->depth--;
    if (t->floor > t->depth)
        t->floor = t->depth;
    calls->leave(part, event->thread, t, event, flags);
}

TV_INLINE void tv_walk_exit(struct tv_walk *walk, struct tv_walk_thread *t,
                            const struct tv_walk_calls *calls, void *part, const struct tv_event *event,
                            const struct tv_batch *batch, size_t i)
{
    unsigned flags = event->action == TV_UNROLL ? TV_FLAG_UNROLLED : 0;
    if (TV_LIKELY(t->depth > t->floor && t->stack[t->depth - 1].frame == event->frame && !t->too_deep)) {
        t->depth--;
        calls->leave(part, event->thread, t, event, flags);
        return;
    }
    uint32_t count = tv_walk_resolve_exit(walk, t, event, tv_batch_offset(batch, i));
    if (count == TV_POP_BELOW) {
        calls->below(part, event->thread, t, tv_walk_set_aside(t, event, tv_batch_offset(batch, i)));
        return;
    }
    for (; count > 1; count--)
        tv_walk_pop(t, calls, part, event, TV_FLAG_MISSING_EXIT);
    if (count)
        tv_walk_pop(t, calls, part, event, flags);
}

TV_INLINE void tv_walk_enter(struct tv_walk *walk, struct tv_walk_thread *t,
                             const struct tv_walk_calls *calls, void *part, const struct tv_event *event,
                             const struct tv_batch *batch, size_t i)
{
    if (TV_UNLIKELY(t->depth - t->floor >= TV_DEPTH_LIMIT || t->too_deep)) {
        tv_walk_too_deep(walk, t, tv_batch_offset(batch, i));
        return;
    }
    if (TV_UNLIKELY(t->depth == t->capacity))
        tv_walk_grow_stack(t);
    uint32_t tag = calls->enter(part, event->thread, t, event);
    t->stack[t->depth++] = (struct tv_open){event->wall, event->cpu, event->frame, tag, 0, 0};
    t->entries++;
    if (t->depth > t->max_depth)
        t->max_depth = t->depth;
}

/* Walks a batch. `calls` must be a constant where this is called. */
TV_INLINE void tv_walk_batch(struct tv_walk *walk, const struct tv_batch *batch,
                             const struct tv_walk_calls *calls, void *part)
{
    for (size_t i = 0; i < batch->count; i++) {
        const struct tv_event *event = &batch->events[i];
        struct tv_walk_thread *t = &walk->threads[event->thread];
        if (walk->skip && walk->skip[event->thread])
            continue;
        if (TV_UNLIKELY(!t->seen)) {
            t->seen = true;
            t->first_wall = t->last_wall = event->wall;
            t->first_cpu = t->last_cpu = event->cpu;
        }
        calls->gap(part, event->thread, t, event->wall - t->last_wall, event->cpu - t->last_cpu);
        t->last_wall = event->wall;
        t->last_cpu = event->cpu;
        if (event->action == TV_ENTER)
            tv_walk_enter(walk, t, calls, part, event, batch, i);
        else
            tv_walk_exit(walk, t, calls, part, event, batch, i);
    }
}

#endif
