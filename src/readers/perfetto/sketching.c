/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sketching.c - marks events in the preview of a trace that is being read (model/sketch.h): bundles
 * of ftrace on a line for each processor, track events on one for each sequence, under the name of
 * its default track, the others on a line of their own.
 *
 * The survey, which passes a file of ftrace in a fraction of the time of reading it, marks bundles
 * by their first event.  The times of other packets are known only when their sequence is read.
 */
#include <inttypes.h>
#include <stdio.h>

#include "base/progress.h"
#include "model/sketch.h"
#include "readers/perfetto/reading.h"

/* A bundle holds many events; of other packets, one of this many is marked. */
#define MARKED 16u

enum { FTRACE = 1, TRACK_EVENT = 11 };
/* Fields of a bundle, and one of its compact events. */
enum { CPU = 1, EVENT = 2, COMPACT = 4, SWITCH_TIMES = 1 };

/* Return the line with a name, which is looked for once; TV_NONE: there are too many. */
static uint32_t pf_sketch_line(struct tv_sketch *sketch, uint32_t *known, struct tv_bytes name)
{
    if (*known == 0) {
        uint32_t line = tv_sketch_track(sketch, name);
        *known = line == TV_NONE ? TV_NONE : line + 1;
    }
    return *known == TV_NONE ? TV_NONE : *known - 1;
}

static uint32_t pf_sketch_cpu(struct tv_pf_reading *reading, struct tv_sketch *sketch, uint64_t cpu)
{
    char name[24];
    if (cpu >= TV_COUNT(reading->sketched_cpus))
        return TV_NONE;
    snprintf(name, sizeof name, "CPU %" PRIu64, cpu);
    return pf_sketch_line(sketch, &reading->sketched_cpus[cpu], tv_bytes_of(name));
}

/* Return the line of the overview for a sequence's own events: the default track's name, else the
 * thread or the number of the sequence. */
static uint32_t pf_sketch_sequence(struct tv_pf_reading *reading, struct tv_sketch *sketch,
                                   struct tv_pf_sequence *sequence)
{
    char text[32];
    struct tv_bytes name = TV_BYTES("");
    if (sequence->has_default_track) {
        uint32_t track = tv_pf_find_track(reading, sequence->default_track);
        name = tv_interner_get(reading->chunk->texts, reading->tracks.rows[track].name);
    }
    if (sequence->thread_tid != TV_FT_NO_ID)
        snprintf(text, sizeof text, "thread %" PRId64, sequence->thread_tid);
    else
        snprintf(text, sizeof text, "sequence %" PRIu32, sequence->id);
    return pf_sketch_line(sketch, &sequence->sketched, name.length > 0 ? name : tv_bytes_of(text));
}

/* Return the time of the first event of a bundle, on the clock of the kernel; TV_NO_TIME: none. */
static int64_t pf_bundle_first_time(struct tv_bytes bundle)
{
    struct tv_pf_message message = tv_pf_message_over(bundle);
    struct tv_protobuf_field field, times = {.number = 0};
    uint64_t time;
    while (tv_pf_next(&message, &field)) {
        if (field.number == EVENT)
            return (int64_t)tv_pf_find(field.bytes, 1).value;
        if (field.number == COMPACT)
            times = tv_pf_find(field.bytes, SWITCH_TIMES);
    }
    struct tv_pf_numbers numbers = tv_pf_numbers_of(&times, 0);
    bool any = times.number == SWITCH_TIMES && tv_pf_numbers_next(&numbers, &time);
    return any ? (int64_t)time : TV_NO_TIME;
}

void tv_pf_sketch_bundle(struct tv_pf_reading *reading, struct tv_bytes packet)
{
    struct tv_progress *progress = reading->options->progress;
    struct tv_pf_message message = tv_pf_message_over(packet);
    struct tv_protobuf_field field;
    if (!progress || !progress->sketch)
        return;
    while (tv_pf_next(&message, &field)) {
        if (field.number != FTRACE)
            continue;
        struct tv_sketch_mark mark = {.time = pf_bundle_first_time(field.bytes)};
        struct tv_pf_message head = tv_pf_message_over(field.bytes);
        if (mark.time < 0 || !tv_pf_next(&head, &field) || field.number != CPU)
            return;
        mark.track = pf_sketch_cpu(reading, progress->sketch, field.value);
        tv_sketch_add(progress->sketch, &mark, 1);
        return;
    }
}

void tv_pf_sketch_packet(struct tv_pf_reading *reading, const struct tv_pf_current *packet,
                         const struct tv_protobuf_field *payload)
{
    struct tv_progress *progress = reading->options->progress;
    struct tv_sketch *sketch = progress ? progress->sketch : NULL;
    struct tv_sketch_mark mark = {.time = packet->time};
    if (!sketch || payload->number == FTRACE || !packet->has_time ||
        reading->unmarked++ % MARKED != 0)
        return;
    mark.track = payload->number == TRACK_EVENT
                     ? pf_sketch_sequence(reading, sketch, packet->sequence)
                     : pf_sketch_line(sketch, &reading->sketched_others, TV_BYTES("other packets"));
    tv_sketch_add(sketch, &mark, 1);
}
