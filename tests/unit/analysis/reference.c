/* SPDX-License-Identifier: Apache-2.0 */
#include "unit.h"

#include "analysis/reference.h"

#include "base/memory.h"

static void close_call(const struct reference *r, struct reference_call *call,
                       const struct tv_event *event)
{
    call->end = (r->wall ? event->wall : event->cpu) * r->tick;
    call->cpu_end = event->cpu * r->tick;
}

static uint32_t add_call(struct reference *r, const struct tv_event *event, uint32_t parent)
{
    r->calls[r->count] = (struct reference_call){
        .thread = event->thread,
        .frame = event->frame,
        .parent = parent,
        .start = (r->wall ? event->wall : event->cpu) * r->tick,
        .cpu_start = event->cpu * r->tick,
    };
    return r->count++;
}

/* A call that began before the trace takes over all calls without a parent. */
static void adopt(struct reference *r, uint32_t first_call, const struct tv_event *first,
                  const struct tv_event *exit)
{
    struct tv_event entry = *first;
    entry.frame = exit->frame;
    uint32_t adopter = add_call(r, &entry, TV_NONE);
    close_call(r, &r->calls[adopter], exit);
    for (uint32_t i = first_call; i < adopter; i++)
        if (r->calls[i].parent == TV_NONE)
            r->calls[i].parent = adopter;
}

static void walk_thread(struct reference *r, uint32_t thread)
{
    const struct tv_event *first = NULL, *last = NULL;
    uint32_t open = TV_NONE, first_call = r->count;
    for (size_t i = 0; i < r->fixture->event_count; i++) {
        const struct tv_event *event = &r->fixture->events[i];
        if (event->thread != thread)
            continue;
        last = event;
        if (!first)
            first = event;
        if (event->action == TV_ENTER) {
            open = add_call(r, event, open);
        } else if (open == TV_NONE) {
            adopt(r, first_call, first, event);
        } else {
            close_call(r, &r->calls[open], event);
            open = r->calls[open].parent;
        }
    }
    for (; open != TV_NONE; open = r->calls[open].parent)
        close_call(r, &r->calls[open], last);
    for (uint32_t i = first_call; i < r->count; i++)
        for (uint32_t up = r->calls[i].parent; up != TV_NONE; up = r->calls[up].parent)
            r->calls[i].depth++;
}

struct reference reference_of(const struct fixture *fixture)
{
    const struct tv_trace_info *head = fixture->trace->head;
    struct reference r = {fixture, tv_alloc(fixture->event_count, sizeof *r.calls), 0, 0, false,
                          false};
    r.tick = head->inputs[0].tick_ns;
    r.wall = head->inputs[0].clocks & TV_CLOCK_WALL;
    r.cpu = head->inputs[0].clocks & TV_CLOCK_CPU;
    for (uint32_t thread = 0; thread < head->thread_count; thread++)
        walk_thread(&r, thread);
    return r;
}

void reference_release(struct reference *reference)
{
    tv_free(reference->calls);
}

tv_ns reference_cpu_at(const struct reference *r, uint32_t thread, tv_ns wall)
{
    const struct tv_event *before = NULL, *after = NULL;
    for (size_t i = 0; i < r->fixture->event_count; i++) {
        const struct tv_event *event = &r->fixture->events[i];
        if (event->thread != thread)
            continue;
        if (event->wall * r->tick <= wall)
            before = event;
        else if (!after)
            after = event;
    }
    if (!before)
        return after->cpu * r->tick;
    if (!after)
        return before->cpu * r->tick;
    int64_t run = (after->wall - before->wall) * r->tick,
            rise = (after->cpu - before->cpu) * r->tick;
    __extension__ __int128 product = (__int128)rise * (wall - before->wall * r->tick);
    return before->cpu * r->tick + (tv_ns)(product / run);
}

bool reference_cost(const struct reference *r, uint32_t call, tv_ns from, tv_ns to,
                    struct tv_path_cost *cost)
{
    const struct reference_call *c = &r->calls[call];
    tv_ns start = c->start, end = c->end, cpu_start = c->cpu_start, cpu_end = c->cpu_end;
    *cost = (struct tv_path_cost){1, 0, 0};
    if (start == end ? start < from || start >= to : end <= from || start >= to)
        return false;
    if (start < from) {
        start = from;
        cpu_start = !r->wall ? from : reference_cpu_at(r, c->thread, from);
    }
    if (end > to) {
        end = to;
        cpu_end = !r->wall ? to : reference_cpu_at(r, c->thread, to);
    }
    if (r->wall)
        cost->wall = end - start;
    if (r->cpu)
        cost->cpu = cpu_end - cpu_start;
    return true;
}

bool reference_is_recursive(const struct reference *r, uint32_t call)
{
    for (uint32_t up = r->calls[call].parent; up != TV_NONE; up = r->calls[up].parent)
        if (r->calls[up].frame == r->calls[call].frame)
            return true;
    return false;
}

uint32_t reference_node(const struct reference *r, const struct tv_call_tree *tree, uint32_t call)
{
    uint32_t chain[128], length = 0, node = TV_ROOT_PATH;
    for (; call != TV_NONE; call = r->calls[call].parent)
        chain[length++] = r->calls[call].frame;
    while (length-- > 0) {
        uint32_t child = 1;
        while (child < tree->count &&
               (tree->parent[child] != node || tree->frame[child] != chain[length]))
            child++;
        assert_true(child < tree->count);
        node = child;
    }
    return node;
}
