/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sched_fields.c - raw data of the scheduler's tracepoints in perf.data (perf_sched.h).
 *
 * perf copies the kernel's description of each tracepoint into its file (feature 1, or record 66 of
 * a pipe), as /sys/kernel/tracing/events/sched/sched_switch/format has it:
 *
 *     name: sched_switch
 *     format:
 *     	field:char prev_comm[16];	offset:8;	size:16;	signed:0;
 *     print fmt: "prev_comm=%s ... { 0x00000001, "S" }, { 0x00000002, "D" }, ...
 *
 * Kernels differ in the places of the fields and in the bits of states, so both are read from
 * there.
 */
#include "readers/perf/perf_sched.h"

#include <stdio.h>
#include <string.h>

#include "base/bytes.h"
#include "readers/ftrace/decoded.h"
#include "readers/ftrace/fields.h"

/* Longest line of a format; the text to print a switch has about 1,000 bytes. */
#define MAX_LINE 16384

/* Parse a number after a mark, up to the next ';'. */
static uint32_t sched_number_after(struct tv_bytes line, const char *mark)
{
    struct tv_bytes rest = tv_ft_after(line, mark), digits;
    uint64_t number;
    return rest.data != NULL && tv_bytes_split(&rest, ';', &digits) &&
                   tv_parse_u64(digits, &number) && number <= UINT16_MAX
               ? (uint32_t)number
               : 0;
}

/* Parse "\tfield:char prev_comm[16];\toffset:8;\tsize:16;\tsigned:0;". */
static void sched_take_field(struct tv_perf_sched_format *format, struct tv_bytes line)
{
    const struct {
        const char *name;
        struct tv_perf_field *field;
    } fields[] = {
        {" next_pid;", &format->tid},    {" next_comm[", &format->name},
        {" prev_pid;", &format->by},     {" prev_state;", &format->state},
        {" pid;", &format->tid},         {" comm[", &format->name},
        {" success;", &format->success},
    };
    for (size_t i = 0; i < TV_COUNT(fields); i++)
        if (tv_ft_after(line, fields[i].name).data != NULL) {
            fields[i].field->offset = sched_number_after(line, "offset:");
            fields[i].field->size = sched_number_after(line, "size:");
            return;
        }
}

bool tv_perf_sched_find_format(struct tv_bytes formats, struct tv_bytes event,
                               struct tv_perf_sched_format *format)
{
    char start[64];
    struct tv_bytes line;
    *format = (struct tv_perf_sched_format){.letters = {event.data, 0}};
    if (!tv_perf_sched_find_kind(event, &format->kind))
        return false;
    snprintf(start, sizeof start, "name: %.*s\n", (int)event.length - 6, event.data + 6);
    struct tv_bytes rest = tv_ft_after(formats, start);
    while (rest.data != NULL && tv_bytes_split(&rest, '\n', &line) && line.length < MAX_LINE) {
        if (tv_bytes_starts_with(line, TV_BYTES("\tfield:")))
            sched_take_field(format, line);
        else if (tv_bytes_starts_with(line, TV_BYTES("print fmt:"))) {
            format->letters = line;
            break;
        }
    }
    return format->tid.size == 4 && format->name.size > 0 &&
           (format->kind != TV_PERF_SCHED_SWITCH ||
            (format->by.size == 4 && (format->state.size == 4 || format->state.size == 8)));
}

/* Return the bytes of a field; NULL: the data is too short. */
static const uint8_t *sched_field(struct tv_bytes raw, struct tv_perf_field field)
{
    return field.offset <= raw.length && field.size <= raw.length - field.offset
               ? raw.data + field.offset
               : NULL;
}

/* Read a field of at most 8 bytes. */
static bool sched_take_number(struct tv_bytes raw, struct tv_perf_field field, uint64_t *number)
{
    const uint8_t *bytes = sched_field(raw, field);
    *number = 0;
    for (uint32_t i = 0; bytes && i < field.size && i < 8; i++)
        *number |= (uint64_t)bytes[i] << 8 * i;
    return bytes != NULL;
}

/* Return the state of bits, by the letters that the format prints for them: the lowest bit with a
 * letter counts.  Bits above all that have a letter mean that the thread could run on ("R+"). */
static enum tv_ft_state sched_state(struct tv_bytes letters, uint64_t bits)
{
    uint64_t known = 0, bit;
    struct tv_bytes rest = letters, digits;
    while ((rest = tv_ft_after(rest, "{ ")).data != NULL && tv_bytes_split(&rest, ',', &digits)) {
        bool hex = tv_bytes_starts_with(digits, TV_BYTES("0x"));
        if (!(hex ? tv_parse_hex(digits, &bit) : tv_parse_u64(digits, &bit)) || rest.length < 3)
            continue;
        if (bits & bit)
            return tv_ft_letter_state((struct tv_bytes){rest.data + 2, 1});
        known |= bit;
    }
    return bits & ~known ? TV_FT_PREEMPTED : TV_FT_RUNNABLE;
}

bool tv_perf_sched_decode(const struct tv_perf_sched_format *format, struct tv_bytes raw,
                          struct tv_perf_sched_event *event, struct tv_bytes *name)
{
    uint64_t tid, by = 0, state = 0, success = 1;
    const uint8_t *text = sched_field(raw, format->name);
    if (!text || !sched_take_number(raw, format->tid, &tid))
        return false;
    if (format->kind == TV_PERF_SCHED_SWITCH && (!sched_take_number(raw, format->by, &by) ||
                                                 !sched_take_number(raw, format->state, &state)))
        return false;
    if (format->success.size > 0 && !sched_take_number(raw, format->success, &success))
        return false;
    const uint8_t *end = memchr(text, 0, format->name.size);
    *name = (struct tv_bytes){text, end ? (size_t)(end - text) : format->name.size};
    event->kind = (uint8_t)format->kind;
    event->tid = (uint32_t)tid;
    if (format->kind == TV_PERF_SCHED_SWITCH) {
        event->by = (uint32_t)by;
        event->state = (uint8_t)sched_state(format->letters, state);
    }
    return success != 0 && tid <= INT32_MAX && by <= INT32_MAX;
}
