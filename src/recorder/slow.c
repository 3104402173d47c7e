/* SPDX-License-Identifier: Apache-2.0 */
/* slow.c - see slow.h. */
#include "recorder/slow.h"

#include <stdio.h>

#include "recorder/chosen.h"
#include "recorder/pages.h"
#include "recorder/state.h"

#define FIRST_ROOM 64u
#define NS_PER_MS 1e6

enum { NOTHING, FILLING, FILLED, SAID };

static uint64_t read_time(const struct tv_recorder_thread *self)
{
    return self->wall ? tv_clock_read(self->counter) : tv_recorder_cpu_ns(self);
}

/* A call without room is not timed. */
static bool make_room(struct tv_slow_calls *calls)
{
    uint32_t room = calls->room ? 2 * calls->room : FIRST_ROOM;
    if (calls->count < calls->room)
        return true;
    struct tv_slow_call *list =
        tv_mmap_grow(calls->list, calls->room * sizeof *list, room * sizeof *list);
    if (!list)
        return false;
    calls->list = list;
    calls->room = room;
    return true;
}

void tv_slow_call_enter(struct tv_recorder_thread *self, uint64_t word, uint32_t open)
{
    struct tv_slow_calls *calls = &self->slow;
    if (make_room(calls))
        calls->list[calls->count++] = (struct tv_slow_call){word, read_time(self), open};
}

/* By the first of all that come to it. */
static void end_recording(const struct tv_recorder_thread *self, uint64_t word, uint64_t ticks)
{
    struct tv_slow_trigger *end = &tv_recorder.slow_end;
    uint32_t nothing = NOTHING;
    if (!atomic_compare_exchange_strong(&end->state, &nothing, FILLING))
        return;
    end->word = word;
    end->ticks = ticks;
    end->thread = self->id;
    (void)tv_recorder_end_events();
    atomic_store(&end->state, FILLED);
    tv_watcher_notify_slow_call();
}

void tv_slow_call_leave(struct tv_recorder_thread *self, uint32_t open)
{
    struct tv_slow_calls *calls = &self->slow;
    while (calls->count > 0 && calls->list[calls->count - 1].open > open) {
        const struct tv_slow_call *call = &calls->list[--calls->count];
        uint64_t now = read_time(self);
        if (now > call->start && now - call->start >= tv_recorder.slow)
            end_recording(self, call->word, now - call->start);
    }
}

static uint64_t to_ns(const struct tv_buffer_header *head, uint64_t ticks)
{
    bool counts = head->counter && head->clock != TV_RECORDING_CPU;
    struct tv_clock_pair now = tv_clock_read_pair(head->counter);
    struct tv_clock_scale scale = tv_clock_scale_between(head->counter, head->start, now);
    return counts ? (uint64_t)((double)ticks * scale.ns_per_tick) : ticks;
}

bool tv_slow_call_report(void)
{
    struct tv_slow_trigger *end = &tv_recorder.slow_end;
    char line[2 * TV_BUFFER_PATH];
    sigset_t before;
    uint32_t filled = FILLED;
    if (!atomic_compare_exchange_strong(&end->state, &filled, SAID))
        return false;
    tv_recorder_lock(&before);
    struct tv_buffer_header *head = tv_recorder.area.head;
    if (head) {
        tv_method_filter_name(end->word, head->slow_call, sizeof head->slow_call);
        head->slow_ns = to_ns(head, end->ticks);
        head->slow_thread = end->thread;
        const char *thread = end->thread ? tv_recorder.area.threads[end->thread - 1].name : "";
        snprintf(line, sizeof line,
                 "traceview: %s: %s took %.3f ms in thread \"%s\": the recording has ended, and "
                 "is written\n",
                 tv_recorder.path, head->slow_call, (double)head->slow_ns / NS_PER_MS, thread);
    }
    tv_recorder_unlock(&before);
    if (head)
        tv_recorder_print_line(line);
    return head != NULL;
}
