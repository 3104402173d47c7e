/* SPDX-License-Identifier: Apache-2.0 */
/*
 * logs.c - lines of logs (docs/formats/perfetto.md), which become instants "TAG: text" of the
 * category "log.LEVEL".
 *
 *     39 android_log           on their threads, at a time of the realtime clock
 *     63 gpu_log               of no thread
 *     11.21 log_message        on the thread of a track event, beside the event itself
 */
#include <inttypes.h>
#include <stdio.h>

#include "base/bytes.h"
#include "readers/perfetto/reading.h"

/* Longer lines of a log are cut; the whole line is in the file. */
#define LONGEST_LINE 400

/* One line of a log. */
struct pf_log_line {
    int64_t time;
    char level;
    struct tv_bytes tag, text;
    uint32_t task; /* TV_NONE: it belongs to no thread */
};

/* Keep a log message as an instant "tag: text"; long ones are cut, the event has all of them. */
static void pf_keep_log_line(struct tv_pf_reading *reading, const struct pf_log_line *log,
                             uint64_t offset)
{
    char line[LONGEST_LINE], category[8];
    int length = snprintf(line, sizeof line, "%.*s: %.*s",
                          (int)(log->tag.length < 100 ? log->tag.length : 100),
                          log->tag.data ? (const char *)log->tag.data : "",
                          (int)(log->text.length < 280 ? log->text.length : 280),
                          log->text.data ? (const char *)log->text.data : "");
    snprintf(category, sizeof category, "log.%c", log->level);
    *tv_table_add(&reading->logs) = (struct tv_pf_log){
        log->time, offset,
        tv_ft_chunk_frame_in(reading->chunk, (struct tv_bytes){(uint8_t *)line, (size_t)length},
                             tv_bytes_of(category)),
        log->task};
    if (log->task != TV_NONE)
        reading->chunk->tasks.rows[log->task].used = true;
}

/* Return the letter of a priority of Android's logs. */
static char pf_log_letter(uint64_t priority)
{
    static const char letters[] = "??VDIWEF";
    return letters[priority < sizeof letters - 1 ? priority : 0];
}

/* Keep a line of Android's log. Its time is of the realtime clock, whatever the packet's is. */
static void pf_take_log_event(struct tv_pf_reading *reading, const struct tv_pf_current *packet,
                              struct tv_bytes bytes)
{
    struct tv_pf_message message = tv_pf_message_over(bytes);
    struct tv_protobuf_field field;
    struct pf_log_line line = {.level = pf_log_letter(0)};
    uint64_t tid = 0, pid = 0;
    while (tv_pf_next(&message, &field))
        switch (field.number) {
        case 2:
            pid = field.value;
            break;
        case 3:
            tid = field.value;
            break;
        case 5:
            line.time = (int64_t)field.value;
            break;
        case 6:
            line.tag = field.bytes;
            break;
        case 7:
            line.level = pf_log_letter(field.value);
            break;
        case 8:
            line.text = field.bytes;
            break;
        default:
            break;
        }
    if (tid > INT32_MAX || pid > INT32_MAX ||
        !tv_pf_clocks_convert(&reading->clocks, TV_PF_CLOCK_REALTIME, &line.time)) {
        tv_pf_warn(reading, TV_DIAGNOSTIC_CLOCK_NO_PATH, packet->offset);
        return;
    }
    line.task = tv_ft_chunk_task(reading->chunk, (int64_t)tid);
    if (tid != 0 && pid != 0)
        reading->chunk->tasks.rows[line.task].tgid = (int64_t)pid;
    pf_keep_log_line(reading, &line, packet->offset);
}

/* Take a GpuLog: {1 severity, one less than the priority of Android's logs, 2 tag, 3 text}. */
void tv_pf_take_gpu_log(struct tv_pf_reading *reading, const struct tv_pf_current *packet,
                        struct tv_bytes bytes)
{
    uint64_t severity = tv_pf_find(bytes, 1).value;
    struct pf_log_line line = {
        .time = packet->time,
        .level = pf_log_letter(severity > 0 && severity < UINT32_MAX ? severity + 1 : 0),
        .tag = tv_pf_find(bytes, 2).bytes,
        .text = tv_pf_find(bytes, 3).bytes,
        .task = TV_NONE,
    };
    tv_ft_chunk_note(reading->chunk, line.time);
    pf_keep_log_line(reading, &line, packet->offset);
}

enum { SOURCE_LOCATIONS = 4, LOG_MESSAGE_BODIES = 20 };

/* Take a LogMessage: {1 iid of its place, 2 iid of its text, 3 priority}. The tag is "FILE:LINE";
 * one without a priority is information. */
void tv_pf_take_log_message(struct tv_pf_reading *reading, const struct tv_pf_current *packet,
                            const struct tv_ft_at *at, struct tv_bytes bytes)
{
    char tag[120];
    int length = 0;
    struct tv_protobuf_field place = tv_pf_find(bytes, 1), body = tv_pf_find(bytes, 2);
    struct tv_protobuf_field priority = tv_pf_find(bytes, 3);
    struct pf_log_line line = {
        .time = at->time,
        .level = pf_log_letter(priority.number == 3 ? priority.value : 4),
        .task = at->task,
    };
    const struct tv_pf_interned *location =
        place.number == 1 ? tv_pf_interned_find(reading, packet->sequence, SOURCE_LOCATIONS,
                                                place.value, packet->offset)
                          : NULL;
    if (location) {
        struct tv_bytes source = tv_interner_get(reading->blobs, location->blob);
        struct tv_bytes file = tv_pf_find(source, 2).bytes;
        length = snprintf(
            tag, sizeof tag, "%.*s:%" PRIu32, (int)(file.length < 80 ? file.length : 80),
            file.data ? (const char *)file.data : "", (uint32_t)tv_pf_find(source, 4).value);
    }
    line.tag = (struct tv_bytes){(uint8_t *)tag, (size_t)length};
    if (body.number == 2)
        line.text =
            tv_interner_get(reading->chunk->texts,
                            tv_pf_interned_text(reading, packet->sequence, LOG_MESSAGE_BODIES,
                                                body.value, packet->offset));
    pf_keep_log_line(reading, &line, packet->offset);
}

/* Add the log lines within the range of the trace as instants.  The log buffer reaches back for
 * hours; lines outside of the range are counted. */
void tv_pf_add_logs(struct tv_pf_reading *reading, struct tv_ft_merge *merge)
{
    for (size_t i = 0; i < reading->logs.count; i++) {
        const struct tv_pf_log *log = &reading->logs.rows[i];
        if (log->time < merge->first || log->time > merge->last) {
            tv_diagnostics_add(&merge->trace->head->diagnostics, TV_DIAGNOSTIC_LOG_OUTSIDE,
                               log->offset);
            continue;
        }
        uint32_t thread = log->task == TV_NONE ? TV_NONE : merge->numbers[0].threads[log->task];
        *tv_table_add(&merge->trace->tables.instants) = (struct tv_instant){
            .time = log->time,
            .offset = log->offset,
            .frame = merge->numbers[0].frames[log->frame],
            .of = thread,
            .input = merge->input,
            .scope = thread == TV_NONE ? TV_SCOPE_GLOBAL : TV_SCOPE_THREAD,
        };
    }
}

void tv_pf_take_logs(struct tv_pf_reading *reading, const struct tv_pf_current *packet,
                     struct tv_bytes bytes)
{
    struct tv_pf_message message = tv_pf_message_over(bytes);
    struct tv_protobuf_field field;
    while (tv_pf_next(&message, &field))
        if (field.number == 1)
            pf_take_log_event(reading, packet, field.bytes);
}
