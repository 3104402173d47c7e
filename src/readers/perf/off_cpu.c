/* SPDX-License-Identifier: Apache-2.0 */
/*
 * off_cpu.c - off-CPU samples and running slices from samples and context switches (off_cpu.h).
 *
 * Samples and switches stand in the file by processor or by buffer.  So they are noted first, then
 * walked in the order of time, with two things remembered for each thread: the sample with which it
 * left, and since when it runs.
 */
#include "readers/perf/off_cpu.h"

#include <assert.h>

#include "base/memory.h"
#include "base/sort.h"

enum off_cpu_kind { OFF_CPU_SAMPLE, OFF_CPU_LEAVING, OFF_CPU_ON, OFF_CPU_OFF };

struct off_cpu_event {
    enum off_cpu_kind kind;
    uint32_t path, line_path; /* stack of a leaving thread */
    struct tv_sample sample;  /* a switch has time, thread and offset alone */
};

/* Numbers that belong to a thread; TV_NONE: none. */
struct off_cpu_thread {
    uint32_t left; /* event with which it left its processor, while it is away */
    uint32_t on;   /* event with which it got it, while it runs */
    uint32_t track;
};

/* State of the walk. */
struct off_cpu_walk {
    const struct off_cpu_event *events;
    struct tv_profile_input *profile;
    uint32_t type;                  /* value type of off-CPU samples; TV_NONE: none yet */
    uint32_t running;               /* frame of the slices */
    struct off_cpu_thread *threads; /* by thread of the trace */
    TV_TABLE(tv_state_track) tracks;
    TV_TABLE(tv_state_slice) slices;
};

static void off_cpu_note(struct tv_off_cpu *off, const struct off_cpu_event *event)
{
    off->events =
        tv_array_reserve(off->events, &off->capacity, off->count + 1, sizeof *off->events);
    off->events[off->count] = *event;
    off->events[off->count++].sample.time = tv_move_within(event->sample.time);
}

void tv_off_cpu_note_sample(struct tv_off_cpu *off, const struct tv_profile_input *profile,
                            const struct tv_sample *sample, bool leaves)
{
    off_cpu_note(off, &(struct off_cpu_event){.kind = leaves ? OFF_CPU_LEAVING : OFF_CPU_SAMPLE,
                                              .path = profile->path,
                                              .line_path = profile->line_path,
                                              .sample = *sample});
}

void tv_off_cpu_note_switch(struct tv_off_cpu *off, struct tv_profile_input *profile, bool on,
                            struct tv_sample at)
{
    tv_profile_reach(profile, at.time);
    off_cpu_note(off, &(struct off_cpu_event){.kind = on ? OFF_CPU_ON : OFF_CPU_OFF, .sample = at});
}

/* Add the off-CPU sample of a thread that is back. */
static void off_cpu_end_absence(struct off_cpu_walk *walk, const struct off_cpu_event *back)
{
    struct off_cpu_thread *thread = &walk->threads[back->sample.thread];
    if (thread->left == TV_NONE)
        return;
    const struct off_cpu_event *left = &walk->events[thread->left];
    struct tv_sample sample = left->sample;
    if (walk->type == TV_NONE)
        walk->type =
            tv_profile_value_type(walk->profile, TV_BYTES("off-CPU"), TV_BYTES("nanoseconds"));
    sample.type = walk->type;
    sample.weight = back->sample.time - left->sample.time;
    assert(sample.weight >= 0);
    tv_profile_add_sample_at(walk->profile, sample, left->path, left->line_path);
    thread->left = TV_NONE;
}

/* Return the number of a thread's track of states. */
static uint32_t off_cpu_track(struct off_cpu_walk *walk, uint32_t thread)
{
    uint32_t *track = &walk->threads[thread].track;
    if (*track == TV_NONE) {
        *track = (uint32_t)walk->tracks.count;
        *tv_table_add(&walk->tracks) = (struct tv_state_track){
            .kind = TV_TRACK_STATES,
            .name = tv_profile_string(walk->profile, TV_BYTES("States")),
            .process = walk->profile->info->threads[thread].process,
            .thread = thread,
        };
    }
    return *track;
}

/* Add a slice from when the thread got its processor to `end`. */
static void off_cpu_add_run(struct off_cpu_walk *walk, const struct off_cpu_event *on, tv_ns end,
                            uint8_t flags)
{
    *tv_table_add(&walk->slices) = (struct tv_state_slice){
        .start = on->sample.time,
        .length = end - on->sample.time,
        .offset = on->sample.offset & TV_OFFSET_MASK,
        .flags = flags,
        .frame = walk->running,
        .state_track = off_cpu_track(walk, on->sample.thread),
    };
}

static void off_cpu_take(struct off_cpu_walk *walk, uint32_t number)
{
    const struct off_cpu_event *event = &walk->events[number];
    struct off_cpu_thread *thread = &walk->threads[event->sample.thread];
    if (event->kind != OFF_CPU_OFF)
        off_cpu_end_absence(walk, event);
    switch (event->kind) {
    case OFF_CPU_LEAVING:
        thread->left = number;
        break;
    case OFF_CPU_ON:
        thread->on = thread->on == TV_NONE ? number : thread->on;
        break;
    case OFF_CPU_OFF:
        if (thread->on != TV_NONE)
            off_cpu_add_run(walk, &walk->events[thread->on], event->sample.time, 0);
        thread->on = TV_NONE;
        break;
    case OFF_CPU_SAMPLE:
        break;
    }
}

/* Take the events in the order of time.  Threads that still run then run to the end of the input.
 */
static void off_cpu_walk_events(struct off_cpu_walk *walk, size_t count)
{
    struct tv_sort_key *order = tv_alloc(count, sizeof *order);
    for (size_t i = 0; i < count; i++)
        order[i] = (struct tv_sort_key){tv_sort_signed(walk->events[i].sample.time), i};
    tv_sort_keys(order, count);
    for (size_t i = 0; i < count; i++)
        off_cpu_take(walk, (uint32_t)order[i].index);
    for (uint32_t i = 0; i < walk->profile->info->thread_count; i++)
        if (walk->threads[i].on != TV_NONE)
            off_cpu_add_run(walk, &walk->events[walk->threads[i].on], walk->profile->last,
                            TV_SLICE_OPEN);
    tv_free(order);
}

void tv_off_cpu_finish(struct tv_off_cpu *off, struct tv_profile_input *profile,
                       const struct tv_read_options *options)
{
    struct tv_trace_info *info = profile->info;
    struct tv_frame running = {.name = tv_profile_string(profile, TV_BYTES("Running"))};
    struct off_cpu_walk walk = {.events = off->events, .profile = profile, .type = TV_NONE};
    if (off->count == 0)
        return;
    walk.running = tv_trace_info_add_frame(info, &running);
    info->frames[walk.running].colour = TV_COLOUR_RUNNING;
    walk.threads = tv_alloc(info->thread_count, sizeof *walk.threads);
    for (uint32_t i = 0; i < info->thread_count; i++)
        walk.threads[i] = (struct off_cpu_thread){TV_NONE, TV_NONE, TV_NONE};
    off_cpu_walk_events(&walk, off->count);
    tv_profile_input_build_rows(profile, options);
    tv_assembly_add_state_tracks(profile->assembly, walk.tracks.rows, walk.tracks.count,
                                 walk.slices.rows, walk.slices.count, options->parts);
    tv_free(walk.threads);
    tv_free(walk.tracks.rows);
    tv_free(walk.slices.rows);
}

void tv_off_cpu_release(struct tv_off_cpu *off)
{
    tv_free(off->events);
    *off = (struct tv_off_cpu){.events = NULL};
}
