/* SPDX-License-Identifier: Apache-2.0 */
/*
 * logs.c - lines of logs (docs/formats/perfetto.md), which become instants "TAG: text" of the
 * category "log.LEVEL" on their threads.
 */
#include <stdio.h>

#include "base/bytes.h"
#include "readers/perfetto/reading.h"

/* Longer lines of a log are cut; the whole line is in the file. */
#define LONGEST_LINE 400

/* Keep a line of the log. Its time is of the realtime clock, whatever the packet's is. */
static void pf_take_log_event(struct tv_pf_reading *reading, const struct tv_pf_current *packet,
                              struct tv_bytes bytes)
{
    static const char letters[] = "??VDIWEF";
    struct tv_pf_message message = tv_pf_message_over(bytes);
    struct tv_protobuf_field field;
    struct tv_bytes tag = {NULL, 0}, text = {NULL, 0};
    uint64_t tid = 0, time = 0, priority = 0, pid = 0;
    char line[LONGEST_LINE], category[8];
    while (tv_pf_next(&message, &field))
        switch (field.number) {
        case 2:
            pid = field.value;
            break;
        case 3:
            tid = field.value;
            break;
        case 5:
            time = field.value;
            break;
        case 6:
            tag = field.bytes;
            break;
        case 7:
            priority = field.value;
            break;
        case 8:
            text = field.bytes;
            break;
        default:
            break;
        }
    int64_t at = (int64_t)time;
    if (tid > INT32_MAX || pid > INT32_MAX ||
        !tv_pf_clocks_convert(&reading->clocks, TV_PF_CLOCK_REALTIME, &at)) {
        tv_pf_warn(reading, TV_DIAGNOSTIC_CLOCK_NO_PATH, packet->offset);
        return;
    }
    int length = snprintf(
        line, sizeof line, "%.*s: %.*s", (int)(tag.length < 100 ? tag.length : 100),
        tag.data ? (const char *)tag.data : "", (int)(text.length < 280 ? text.length : 280),
        text.data ? (const char *)text.data : "");
    snprintf(category, sizeof category, "log.%c",
             letters[priority < sizeof letters - 1 ? priority : 0]);
    uint32_t task = tv_ft_chunk_task(reading->chunk, (int64_t)tid);
    if (tid != 0 && pid != 0)
        reading->chunk->tasks.rows[task].tgid = (int64_t)pid;
    *tv_table_add(&reading->logs) = (struct tv_pf_log){
        at, packet->offset,
        tv_ft_chunk_frame_in(reading->chunk, (struct tv_bytes){(uint8_t *)line, (size_t)length},
                             tv_bytes_of(category)),
        task};
    reading->chunk->tasks.rows[task].used = true;
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
        *tv_table_add(&merge->trace->tables.instants) = (struct tv_instant){
            .time = log->time,
            .offset = log->offset,
            .frame = merge->numbers[0].frames[log->frame],
            .of = merge->numbers[0].threads[log->task],
            .input = merge->input,
            .scope =
                merge->numbers[0].threads[log->task] == TV_NONE ? TV_SCOPE_GLOBAL : TV_SCOPE_THREAD,
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
