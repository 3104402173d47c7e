/* SPDX-License-Identifier: Apache-2.0 */
#include "readers/ftrace/events.h"

#include <string.h>

#include "base/bytes.h"
#include "base/memory.h"
#include "readers/ftrace/args.h"
#include "readers/ftrace/graph.h"
#include "readers/ftrace/text.h"

/* The category of what the kernel tells. */
#define CATEGORY "ftrace"

static const struct tv_ft_event *const families[] = {
    tv_ft_sched_events, tv_ft_mark_events,   tv_ft_kernel_events, tv_ft_counter_events,
    tv_ft_disk_events,  tv_ft_binder_events, tv_ft_gpu_events,    tv_ft_mali_events,
};

static const struct tv_ft_event no_meaning = {.name = ""};

static bool ends_with(struct tv_bytes text, struct tv_bytes end)
{
    return text.length >= end.length &&
           memcmp(text.data + text.length - end.length, end.data, end.length) == 0;
}

static const struct tv_ft_event *find_event(struct tv_bytes name)
{
    for (size_t i = 0; i < sizeof families / sizeof *families; i++)
        for (const struct tv_ft_event *event = families[i]; event->name; event++)
            if (tv_bytes_equal(name, tv_bytes_of(event->name)))
                return event;
    if (tv_bytes_starts_with(name, tv_bytes_of(tv_ft_mali_slot.name)))
        return &tv_ft_mali_slot;
    if (tv_bytes_starts_with(name, tv_bytes_of(tv_ft_mali_other.name)))
        return &tv_ft_mali_other;
    /* Drivers have marks of their own: "sde_tracing_mark_write". */
    if (ends_with(name, tv_bytes_of(tv_ft_mark_events[0].name)))
        return &tv_ft_mark_events[0];
    return &no_meaning;
}

/* What an event of this name means is looked up once. */
static void look_up(struct tv_ft_part *part, struct tv_bytes name, uint32_t number)
{
    size_t capacity = part->known_capacity;
    part->known = tv_array_reserve(part->known, &capacity, (size_t)number + 1, sizeof *part->known);
    memset(part->known + part->known_capacity, 0,
           (capacity - part->known_capacity) * sizeof *part->known);
    part->known_capacity = capacity;
    part->known[number] = (struct tv_ft_known){find_event(name), tv_ft_frame(part, name, CATEGORY),
                                               tv_ft_text_continues(name)};
}

static const struct tv_ft_known *know_event(struct tv_ft_part *part, struct tv_bytes name)
{
    size_t place =
        (name.length * 7 + name.data[name.length / 2] + name.data[name.length - 1] * 5u) %
        TV_FT_RECENT;
    struct tv_ft_recent *recent = &part->recent[place];
    if (tv_bytes_equal(recent->name, name))
        return &part->known[recent->number];
    uint32_t number = tv_interner_add(part->event_names, name);
    *recent = (struct tv_ft_recent){tv_interner_get(part->event_names, number), number};
    if (number >= part->known_capacity || part->known[number].event == NULL)
        look_up(part, name, number);
    return &part->known[number];
}

static uint32_t task_of(struct tv_ft_part *part, const struct tv_ft_line *line, uint64_t offset)
{
    uint32_t number = tv_ft_task(part, line->tid);
    struct tv_ft_task *task = &part->tasks.rows[number];
    if (line->tgid > 0)
        task->tgid = line->tgid;
    if (TV_UNLIKELY(task->seen_name == TV_EMPTY_STRING))
        tv_ft_see_task(part, number, line->task, offset);
    return number;
}

/* "funcgraph_entry: 1.382 us | kfree();" of trace-cmd */
static bool take_call(struct tv_ft_part *part, const struct tv_ft_line *line,
                      const struct tv_ft_at *at)
{
    struct tv_ft_graph_line call;
    if (!tv_bytes_starts_with(line->event, TV_BYTES("funcgraph_")) ||
        !tv_ft_graph_parse_event(line->details, &call))
        return false;
    call.has_time = true;
    call.time = line->time;
    call.cpu = line->cpu;
    call.task = line->task;
    call.tid = line->tid;
    tv_ft_graph_take(part, &call, at->offset);
    part->events--; /* it is counted twice */
    return true;
}

static void take_event(struct tv_ft_part *part, const struct tv_ft_line *line,
                       const struct tv_ft_at *at)
{
    if (line->event.length == 0) {
        /* The function tracer: "function <-parent". */
        uint32_t frame = tv_ft_frame(part, tv_ft_word(line->details), "function");
        part->last_title = part->frames.rows[frame].name;
        part->last_continues = false;
        tv_ft_instant(part, at, frame);
        return;
    }
    const struct tv_ft_known *known = know_event(part, line->event);
    const struct tv_ft_event *event = known->event;
    uint32_t frame = known->frame;
    part->last_continues = known->continues;
    part->last_title = part->frames.rows[frame].name;
    if (event->handle == NULL && take_call(part, line, at))
        return;
    enum tv_ft_taken taken = event->handle ? event->handle(part, line, at, event) : TV_FT_INSTANT;
    if (TV_LIKELY(taken == TV_FT_TAKEN))
        return;
    if (taken == TV_FT_MALFORMED)
        tv_diagnostics_add(&part->diagnostics, TV_DIAGNOSTIC_BAD_FIELDS, at->offset);
    tv_ft_instant(part, at, frame);
}

void tv_ft_take(struct tv_ft_part *part, const struct tv_ft_line *line, uint64_t offset)
{
    struct tv_ft_at at = {line->time, offset, line->cpu, task_of(part, line, offset)};
    size_t marks = part->marks.count;
    part->last_task = at.task;
    part->events++;
    take_event(part, line, &at);
    /* Marks of clocks are often written with a time that is none. */
    if (part->marks.count > marks)
        return;
    part->first = line->time < part->first ? line->time : part->first;
    part->last = line->time > part->last ? line->time : part->last;
}
