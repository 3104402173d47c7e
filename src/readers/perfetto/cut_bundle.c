/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Bundles of kernel events in a time range: the events that stay, those that close what crosses an
 * end of the range, and switches that tell what all tasks do at its start.
 *
 *     file       B a    B b    E b    |    B c   E c   B d    |    E d   E a
 *     excerpt                         |B a B c   E c   B d E d|E a
 *                            moved here                   moved here, or made
 *
 * A reader of the excerpt sees no event before the range, so it cannot know what is open.  The
 * beginnings of such slices are moved to the start of the range, and their ends made at its end.
 * Switches tell the state of each task at the start: from the idle task to a running one, and from
 * each sleeping one to the idle task, with its state.
 *
 * Times of compact messages are differences, so leaving a row out changes those that follow: all
 * columns of a message are written again.
 */
#include <stdio.h>
#include <string.h>

#include "base/bytes.h"
#include "base/memory.h"
#include "base/protobuf_out.h"
#include "readers/perfetto/cut_writing.h"

enum { BINDER_SENT = 50, BINDER_RECEIVED };

/* ---- Kernel events ---- */

/* Return true for events that end a slice which another event began. */
static bool cut_kernel_ends(const struct tv_protobuf_field *event)
{
    static const uint32_t ends[] = {22, 25, 37, 47, 55, 57, 330, 405, 438};
    struct tv_bytes text;
    for (size_t i = 0; i < TV_COUNT(ends); i++)
        if (event->number == ends[i])
            return true;
    if (event->number != 3)
        return false;
    text = tv_pf_find(event->bytes, 2).bytes;
    return tv_bytes_starts_with(text, TV_BYTES("E")) ||
           tv_bytes_starts_with(text, TV_BYTES("F|")) || tv_bytes_starts_with(text, TV_BYTES("H|"));
}

/* Write FtraceEvent {time, thread, event} to writing->payload; the event is in writing->part. */
static void cut_put_kernel_event(struct tv_pf_cut_writing *writing, uint64_t time, uint64_t tid,
                                 uint32_t number)
{
    writing->text.length = 0;
    tv_protobuf_put_number(&writing->text, 1, time);
    tv_protobuf_put_number(&writing->text, 2, tid);
    tv_protobuf_put_message(&writing->text, number, &writing->part);
    tv_protobuf_put_message(&writing->payload, 2, &writing->text);
}

/* Number of the events that cut_close_binder makes: transactions count up from 1. */
#define MADE_TRANSACTION 0x40000000u

/* End the slice of a transaction that was sent, or of the work that a received one began: the work
 * ends when its thread sends a reply, the wait when the reply is received. */
static void cut_close_binder(struct tv_pf_cut_writing *writing,
                             const struct tv_protobuf_field *event, uint64_t time, uint64_t tid)
{
    uint64_t number = tv_pf_find(event->bytes, 1).value ^ MADE_TRANSACTION;
    uint64_t other = tv_pf_find(event->bytes, 4).value;
    bool waits = event->number == BINDER_SENT;
    tv_protobuf_put_number(&writing->part, 1, number);
    tv_protobuf_put_number(&writing->part, 5, 1); /* a reply */
    tv_protobuf_put_number(&writing->part, 7, 0); /* flags: not one-way */
    cut_put_kernel_event(writing, time, waits && other != 0 ? other : tid, BINDER_SENT);
    if (!waits)
        return;
    writing->part.length = 0;
    tv_protobuf_put_number(&writing->part, 1, number);
    cut_put_kernel_event(writing, time, tid, BINDER_RECEIVED);
}

/* Write the event that ends the slice which a mark, an interrupt or a transaction begins. */
static void cut_kernel_close(struct tv_pf_cut_writing *writing,
                             const struct tv_protobuf_field *event, uint64_t time, uint64_t tid)
{
    char text[32];
    struct tv_bytes mark = tv_pf_find(event->bytes, 2).bytes;
    writing->part.length = 0;
    if (event->number == BINDER_SENT || event->number == BINDER_RECEIVED) {
        cut_close_binder(writing, event, time, tid);
        return;
    }
    if (event->number == 3 && tv_bytes_starts_with(mark, TV_BYTES("B|"))) {
        size_t digits = 2;
        while (digits < mark.length && digits < 12 && mark.data[digits] >= '0' &&
               mark.data[digits] <= '9')
            digits++;
        int length =
            snprintf(text, sizeof text, "E|%.*s\n", (int)digits - 2, (const char *)mark.data + 2);
        tv_protobuf_put_bytes(&writing->part, 2,
                              (struct tv_bytes){(const uint8_t *)text, (size_t)length});
    } else if (event->number == 36 || event->number == 24) { /* irq, softirq */
        tv_protobuf_put_number(&writing->part, 1, tv_pf_find(event->bytes, 1).value);
    } else {
        return;
    }
    cut_put_kernel_event(writing, time, tid, event->number == 3 ? 3 : event->number + 1);
}

/* Write one event of a bundle to writing->payload, or leave it out. */
static void cut_kernel_event(struct tv_pf_cut_writing *writing,
                             const struct tv_pf_bundle_clock *clock, struct tv_bytes bytes,
                             uint64_t offset)
{
    struct tv_pf_message message = tv_pf_message_over(bytes);
    struct tv_protobuf_field field, event = {.number = 0};
    uint64_t raw = 0, tid = 0;
    while (tv_pf_next(&message, &field)) {
        if (field.number == 1)
            raw = field.value;
        else if (field.number == 2)
            tid = field.value;
        else if (field.wire == TV_PROTOBUF_BYTES)
            event = field;
    }
    int64_t time = tv_pf_bundle_time(writing->reading, clock, raw);
    unsigned marks = tv_pf_cut_marks_of(writing, offset, time);
    int64_t place = tv_pf_cut_place(writing, marks, time, cut_kernel_ends(&event));
    writing->changed |= place != time || (marks & (TV_PF_CUT_CLOSE | TV_PF_CUT_EMPTY));
    if (place == TV_NO_TIME)
        return;
    if (place == time) {
        tv_protobuf_put_bytes(&writing->payload, 2, bytes);
    } else {
        writing->part.length = 0;
        tv_out_bytes(&writing->part, event.bytes);
        cut_put_kernel_event(writing, raw + (uint64_t)place - (uint64_t)time, tid, event.number);
    }
    if (marks & TV_PF_CUT_CLOSE)
        cut_kernel_close(writing, &event, raw + (uint64_t)writing->cut->to - (uint64_t)time, tid);
    else if (marks & TV_PF_CUT_EMPTY)
        cut_kernel_close(writing, &event, raw, tid);
}

/* ---- Compact scheduling ---- */

/* The rows of a message that stay: by their number, the time that they get. */
struct cut_rows {
    int64_t *places; /* TV_NO_TIME: left out */
    uint64_t *raws;
    size_t count, capacity, place_capacity;
};

/* Find which rows of a column of times stay, and the times that they get. */
static void cut_rows_find(struct tv_pf_cut_writing *writing, const struct tv_pf_bundle_clock *clock,
                          struct tv_protobuf_field times, uint64_t offset, struct cut_rows *rows)
{
    struct tv_pf_numbers steps = tv_pf_numbers_of(&times, 0);
    uint64_t raw = 0, step;
    rows->count = 0;
    while (times.wire != TV_PF_MISSING && tv_pf_numbers_next(&steps, &step)) {
        raw += step;
        int64_t time = tv_pf_bundle_time(writing->reading, clock, raw);
        int64_t place =
            tv_pf_cut_place(writing, tv_pf_cut_marks_of(writing, offset, time), time, false);
        rows->places = tv_array_reserve(rows->places, &rows->place_capacity, rows->count + 1,
                                        sizeof *rows->places);
        rows->raws =
            tv_array_reserve(rows->raws, &rows->capacity, rows->count + 1, sizeof *rows->raws);
        rows->places[rows->count] = place;
        writing->changed |= place != time;
        rows->raws[rows->count++] =
            place == TV_NO_TIME ? 0 : raw + (uint64_t)place - (uint64_t)time;
    }
}

/* Write the rows that stay of one column to writing->part; `times`: of the column of times. */
static size_t cut_rows_put(struct tv_pf_cut_writing *writing, const struct cut_rows *rows,
                           const struct tv_protobuf_field *column, bool times)
{
    struct tv_pf_numbers numbers = tv_pf_numbers_of(column, 0);
    uint64_t value, last = 0;
    size_t kept = 0;
    writing->text.length = 0;
    for (size_t i = 0; i < rows->count && tv_pf_numbers_next(&numbers, &value); i++) {
        if (rows->places[i] == TV_NO_TIME)
            continue;
        tv_protobuf_put_varint(&writing->text, times ? rows->raws[i] - last : value);
        last = rows->raws[i];
        kept++;
    }
    if (kept > 0)
        tv_protobuf_put_message(&writing->part, column->number, &writing->text);
    return kept;
}

/* Write the rows of a compact_sched message that stay to writing->payload. */
static void cut_compact(struct tv_pf_cut_writing *writing, const struct tv_pf_bundle_clock *clock,
                        struct tv_bytes bytes, uint64_t offset)
{
    struct tv_pf_message message = tv_pf_message_over(bytes);
    struct tv_protobuf_field field;
    struct cut_rows switches = {.count = 0}, wakings = {.count = 0};
    size_t kept = 0;
    cut_rows_find(writing, clock, tv_pf_find(bytes, 1), offset, &switches);
    cut_rows_find(writing, clock, tv_pf_find(bytes, 7), offset, &wakings);
    writing->part.length = 0;
    for (const uint8_t *start = message.at; tv_pf_next(&message, &field); start = message.at) {
        if (field.number == 5)
            tv_pf_cut_copy_field(&writing->part, start, message.at);
        else
            kept += cut_rows_put(writing, field.number < 7 ? &switches : &wakings, &field,
                                 field.number == 1 || field.number == 7);
    }
    if (kept > 0)
        tv_protobuf_put_message(&writing->payload, 4, &writing->part);
    tv_free(switches.places);
    tv_free(switches.raws);
    tv_free(wakings.places);
    tv_free(wakings.raws);
}

/* ---- States of tasks at the start ---- */

static const struct tv_pf_cut_task cut_idle = {.name = {(const uint8_t *)"swapper", 7}};

/* Write the packet in writing->packet. */
static void cut_put_whole(struct tv_pf_cut_writing *writing)
{
    tv_pf_cut_put_frame(writing, (struct tv_bytes){writing->packet.buffer, writing->packet.length});
}

/* Write FtraceEvent {time, tid, sched_switch} to writing->payload. */
static void cut_put_switch(struct tv_pf_cut_writing *writing, uint64_t raw,
                           const struct tv_pf_cut_task *from, const struct tv_pf_cut_task *to)
{
    int64_t bits = tv_pf_task_bits(writing->reading, from->state);
    writing->part.length = 0;
    tv_protobuf_put_bytes(&writing->part, 1, from->name);
    tv_protobuf_put_number(&writing->part, 2, (uint64_t)from->tid);
    tv_protobuf_put_number(&writing->part, 4, (uint64_t)bits);
    tv_protobuf_put_bytes(&writing->part, 5, to->name);
    tv_protobuf_put_number(&writing->part, 6, (uint64_t)to->tid);
    cut_put_kernel_event(writing, raw, (uint64_t)from->tid, 4);
}

/* Write the bundle in writing->payload to writing->packet, with the clock of another one. */
static void cut_wrap_switches(struct tv_pf_cut_writing *writing, struct tv_bytes like, uint32_t cpu)
{
    struct tv_pf_message message = tv_pf_message_over(like);
    struct tv_protobuf_field field;
    for (const uint8_t *start = message.at; tv_pf_next(&message, &field); start = message.at)
        if (field.number >= 5 && field.number <= 7)
            tv_pf_cut_copy_field(&writing->payload, start, message.at);
    tv_protobuf_put_number(&writing->payload, 1, cpu);
    writing->packet.length = 0;
    tv_protobuf_put_message(&writing->packet, 1, &writing->payload);
}

/* Return the time of the first event of a bundle, as it stands there.  False: it has none. */
static bool cut_bundle_first_time(struct tv_bytes bundle, uint64_t *raw)
{
    struct tv_pf_message message = tv_pf_message_over(bundle);
    struct tv_protobuf_field field, time;
    while (tv_pf_next(&message, &field)) {
        time = tv_pf_find(field.bytes, field.number == 4 ? 7 : 1);
        if (field.number == 4 && tv_pf_find(field.bytes, 1).wire != TV_PF_MISSING)
            time = tv_pf_find(field.bytes, 1);
        if ((field.number != 2 && field.number != 4) || time.wire == TV_PF_MISSING)
            continue;
        struct tv_pf_numbers numbers = tv_pf_numbers_of(&time, 0);
        if (tv_pf_numbers_next(&numbers, raw))
            return true;
    }
    return false;
}

/* Write the processes of tasks to a process tree in writing->payload. */
static void cut_put_processes(struct tv_pf_cut_writing *writing, const struct tv_pf_cut_task *tasks,
                              size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (tasks[i].tid <= 0 || tasks[i].pid <= 0)
            continue;
        writing->part.length = 0;
        tv_protobuf_put_number(&writing->part, 1, (uint64_t)tasks[i].tid);
        tv_protobuf_put_number(&writing->part, 3, (uint64_t)tasks[i].pid);
        tv_protobuf_put_message(&writing->payload, 2, &writing->part);
    }
}

/* Tell the processes of the tasks, as events before the range may have done. */
static void cut_tell_processes(struct tv_pf_cut_writing *writing)
{
    const struct tv_pf_cut *cut = writing->cut;
    writing->payload.length = writing->packet.length = 0;
    cut_put_processes(writing, cut->running.rows, cut->running.count);
    cut_put_processes(writing, cut->waiting.rows, cut->waiting.count);
    if (writing->payload.length == 0)
        return;
    tv_protobuf_put_message(&writing->packet, 2, &writing->payload);
    cut_put_whole(writing);
}

/* Make the switch that marks the end of the range, on the clock of a bundle: the last one tells
 * best what its clock reads then.  It is written behind all packets, for rows of compact scheduling
 * take the task before them from the switch before them. */
static void cut_make_ending(struct tv_pf_cut_writing *writing, struct tv_bytes bundle)
{
    const struct tv_pf_cut *cut = writing->cut;
    struct tv_pf_bundle_clock clock;
    uint64_t raw;
    if (!cut->has_last || !cut_bundle_first_time(bundle, &raw))
        return;
    tv_pf_bundle_read_clock(writing->reading, bundle, &clock);
    raw += (uint64_t)cut->to - (uint64_t)tv_pf_bundle_time(writing->reading, &clock, raw);
    writing->payload.length = writing->ending.length = 0;
    cut_put_switch(writing, raw, &cut->last, &cut_idle);
    cut_wrap_switches(writing, bundle, cut->last.cpu);
    tv_out_bytes(&writing->ending,
                 (struct tv_bytes){writing->packet.buffer, writing->packet.length});
}

void tv_pf_cut_put_ending(struct tv_pf_cut_writing *writing)
{
    if (writing->ending.length > 0)
        tv_pf_cut_put_frame(writing,
                            (struct tv_bytes){writing->ending.buffer, writing->ending.length});
}

/*
 * Tell the states of all tasks by switches at the start of the range, before the first bundle.
 * Only a switch can say that a task sleeps, and the task before it has to be the one that ran:
 *
 *     processor 0    a (sleeps) -> b,  b (blocked) -> c,  c (runnable) -> d     d runs
 *     processor 1    idle -> e                                                  e runs
 */
static void cut_tell_states(struct tv_pf_cut_writing *writing, struct tv_bytes bundle)
{
    const struct tv_pf_cut *cut = writing->cut;
    struct tv_pf_bundle_clock clock;
    uint64_t raw;
    if (writing->told || cut->running.count == 0 || !cut_bundle_first_time(bundle, &raw))
        return;
    writing->told = true;
    tv_pf_bundle_read_clock(writing->reading, bundle, &clock);
    raw += (uint64_t)cut->from - (uint64_t)tv_pf_bundle_time(writing->reading, &clock, raw);
    cut_tell_processes(writing);
    for (size_t i = 0; i < cut->running.count; i++) {
        const struct tv_pf_cut_task *before = &cut_idle;
        writing->payload.length = 0;
        for (size_t k = 0; i == 0 && k < cut->waiting.count; k++) {
            if (k > 0)
                cut_put_switch(writing, raw, before, &cut->waiting.rows[k]);
            before = &cut->waiting.rows[k];
        }
        cut_put_switch(writing, raw, before, &cut->running.rows[i]);
        cut_wrap_switches(writing, bundle, cut->running.rows[i].cpu);
        cut_put_whole(writing);
    }
}

void tv_pf_cut_bundle(struct tv_pf_cut_writing *writing, const struct tv_pf_current *packet)
{
    struct tv_bytes bytes = packet->payload.bytes;
    struct tv_pf_message message = tv_pf_message_over(bytes);
    struct tv_protobuf_field field;
    struct tv_pf_bundle_clock clock;
    bool needed = false;
    size_t rest = 0;
    cut_tell_states(writing, bytes);
    cut_make_ending(writing, bytes);
    tv_pf_bundle_read_clock(writing->reading, bytes, &clock);
    writing->payload.length = 0;
    writing->changed = false;
    for (const uint8_t *start = message.at; tv_pf_next(&message, &field); start = message.at) {
        size_t before = writing->payload.length;
        uint64_t offset = tv_pf_offset_of(packet, start);
        if (field.number == 2) {
            cut_kernel_event(writing, &clock, field.bytes, offset);
        } else if (field.number == 4) {
            cut_compact(writing, &clock, field.bytes, offset);
        } else {
            tv_pf_cut_copy_field(&writing->payload, start, message.at);
            rest += writing->payload.length - before;
            needed |= field.number == 11; /* names of events */
        }
    }
    if (writing->payload.length > rest || needed)
        tv_pf_cut_keep(writing, packet, packet->time, writing->changed);
    else
        tv_pf_cut_drop(writing, packet);
}
