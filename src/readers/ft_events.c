/* SPDX-License-Identifier: Apache-2.0 */
#include "readers/ft_events.h"

#include <string.h>

#include "base/bytes.h"
#include "base/memory.h"
#include "readers/ft_args.h"

/* The category of what the kernel tells. */
#define CATEGORY "ftrace"

static const struct tv_ft_event *const families[] = {
    tv_ft_sched_events,   tv_ft_mark_events, tv_ft_kernel_events,
    tv_ft_counter_events, tv_ft_disk_events,
};

static const struct tv_ft_event no_meaning = {.name = ""};

static const struct tv_ft_event *find_event(struct tv_bytes name)
{
    for (size_t i = 0; i < sizeof families / sizeof *families; i++)
        for (const struct tv_ft_event *event = families[i]; event->name; event++)
            if (tv_bytes_equal(name, tv_bytes_of(event->name)))
                return event;
    return &no_meaning;
}

/* The number of an event's name; what it means is looked up once. */
static uint32_t know_event(struct tv_ft_part *part, struct tv_bytes name)
{
    uint32_t number = tv_interner_add(part->event_names, name);
    if (number < part->event_capacity && part->events_known[number])
        return number;
    size_t capacity = part->event_capacity;
    part->events_known = tv_array_reserve(part->events_known, &capacity, (size_t)number + 1,
                                          sizeof *part->events_known);
    part->event_frames = tv_realloc(part->event_frames, capacity, sizeof *part->event_frames);
    memset(part->events_known + part->event_capacity, 0,
           (capacity - part->event_capacity) * sizeof *part->events_known);
    part->event_capacity = capacity;
    part->events_known[number] = find_event(name);
    part->event_frames[number] = tv_ft_frame(part, name, CATEGORY);
    return number;
}

static uint32_t task_of(struct tv_ft_part *part, const struct tv_ft_line *line)
{
    uint32_t number = tv_ft_task(part, line->tid);
    struct tv_ft_task *task = &part->tasks.rows[number];
    if (line->tgid > 0)
        task->tgid = line->tgid;
    if (task->seen_name == TV_EMPTY_STRING && line->tid != 0 && tv_ft_is_name(line->task))
        task->seen_name = tv_ft_text(part, line->task);
    return number;
}

static void take_event(struct tv_ft_part *part, const struct tv_ft_line *line,
                       const struct tv_ft_at *at)
{
    if (line->event.length == 0) {
        /* The function tracer: "function <-parent". */
        tv_ft_instant(part, at, tv_ft_frame(part, tv_ft_word(line->details), "function"));
        return;
    }
    uint32_t number = know_event(part, line->event);
    const struct tv_ft_event *event = part->events_known[number];
    if (event->handle == NULL || !event->handle(part, line, at, event))
        tv_ft_instant(part, at, part->event_frames[number]);
}

void tv_ft_take(struct tv_ft_part *part, const struct tv_ft_line *line, uint64_t offset)
{
    struct tv_ft_at at = {line->time, offset, line->cpu, task_of(part, line)};
    size_t marks = part->marks.count;
    part->events++;
    take_event(part, line, &at);
    /* Marks of clocks are often written with a time that is none. */
    if (part->marks.count > marks)
        return;
    part->first = line->time < part->first ? line->time : part->first;
    part->last = line->time > part->last ? line->time : part->last;
}
