/* SPDX-License-Identifier: Apache-2.0 */
/*
 * etw.c - events of Event Tracing for Windows inside JSON, turned into tables (etw.h; etw_trace.c
 * makes tracks of them).
 *
 * The payload of an event is a packed little-endian struct, base64 in the JSON. The offsets of the
 * fields that are used, as the MOF classes of the NT Kernel Logger define them:
 *
 *     Thread_V2_CSwitch (op 36)    0 new tid   4 old tid   8 new, 9 old priority
 *                                  12 wait reason   14 state of the old thread
 *     ReadyThread (op 50)          0 tid   6 flags: bit 0 is a deferred procedure call
 *     Thread_TypeGroup1 (op 1-4)   0 pid   4 tid; version 0 has them the other way round
 *     Process_TypeGroup1 (op 1-4)  a pointer (from version 1 on), pid, parent, ..., SID, name
 *     EventTrace_Header (op 0)     12 processors   44 size of a pointer
 *
 * Two passes: the width of pointers decides where the fields of a process are, and a ClockSync
 * decides what the times mean, but both may come after the events that need them.
 */
#include "readers/etw.h"

#include <assert.h>
#include <string.h>

#include "base/bytes.h"
#include "base/encoding.h"
#include "base/memory.h"
#include "readers/json/json.h"
#include "readers/trace_event/text/values.h"

#define NS_PER_US 1000

/* ---- Payloads ---- */

static bool etw_skip(struct tv_cursor *cursor, size_t count)
{
    struct tv_bytes bytes;
    return tv_cursor_take_bytes(cursor, count, &bytes);
}

static bool etw_take_i8(struct tv_cursor *cursor, int8_t *value)
{
    uint8_t byte;
    if (!tv_cursor_take_u8(cursor, &byte))
        return false;
    *value = (int8_t)(byte < 0x80 ? byte : byte - 0x100);
    return true;
}

/* Decode Thread_V2_CSwitch and later: two thread ids, four bytes of priorities and states, four
 * more. */
static bool etw_decode_switch(struct tv_cursor *cursor, struct tv_etw_payload *payload)
{
    return tv_cursor_take_u32(cursor, &payload->to) && tv_cursor_take_u32(cursor, &payload->from) &&
           etw_take_i8(cursor, &payload->to_priority) &&
           etw_take_i8(cursor, &payload->from_priority) &&
           etw_skip(cursor, 2) && /* previous C-state, spare */
           tv_cursor_take_u8(cursor, &payload->from_wait_reason) &&
           etw_skip(cursor, 1) && /* wait mode */
           tv_cursor_take_u8(cursor, &payload->from_state);
}

/* Decode ReadyThread: the thread, then four bytes. The lowest bit of the third shows a deferred
 * procedure call. */
static bool etw_decode_ready(struct tv_cursor *cursor, struct tv_etw_payload *payload)
{
    uint8_t flags;
    if (!tv_cursor_take_u32(cursor, &payload->tid) || !etw_skip(cursor, 2) ||
        !tv_cursor_take_u8(cursor, &flags))
        return false;
    payload->no_thread = flags & 1;
    return true;
}

/* Decode a change of a thread. Thread_V1_TypeGroup1 and later begin with the process, Thread_V0
 * with the thread. */
static bool etw_decode_thread(const struct tv_etw_event *event, struct tv_cursor *cursor,
                              struct tv_etw_payload *payload)
{
    uint32_t first, second;
    if (!tv_cursor_take_u32(cursor, &first) || !tv_cursor_take_u32(cursor, &second))
        return false;
    payload->pid = event->version == 0 ? second : first;
    payload->tid = event->version == 0 ? first : second;
    return true;
}

/* Skip a TOKEN_USER (two pointers) and its SID; without a SID there are four zeros. A SID has u8
 * revision, u8 number of authorities, 6 bytes, and 4 bytes per authority. */
static bool etw_skip_sid(struct tv_cursor *cursor, unsigned pointer)
{
    enum { REVISION = 1, MAX_AUTHORITIES = 15, SID_SIZE = 8 };
    struct tv_cursor sid = *cursor;
    uint32_t token;
    uint8_t attributes, revision, authorities;
    if (!tv_cursor_take_u32(&sid, &token))
        return false;
    if (token == 0 && (!tv_cursor_take_u8(&sid, &attributes) || attributes != 0))
        return etw_skip(cursor, 4); /* the name follows at once */
    sid = *cursor;
    if (!etw_skip(&sid, (size_t)pointer * 2) || !tv_cursor_take_u8(&sid, &revision) ||
        !tv_cursor_take_u8(&sid, &authorities) || revision != REVISION ||
        authorities > MAX_AUTHORITIES)
        return token == 0 && etw_skip(cursor, 4);
    return etw_skip(cursor, (size_t)pointer * 2 + SID_SIZE + (size_t)authorities * 4);
}

/* Take a name up to a NUL. */
static bool etw_take_name(struct tv_cursor *cursor, struct tv_bytes *name)
{
    size_t left = tv_cursor_left(cursor);
    const uint8_t *end = left == 0 ? NULL : memchr(cursor->at, 0, left);
    return end && tv_cursor_take_bytes(cursor, (size_t)(end - cursor->at), name);
}

/* Later versions may have further fields in front of the name. */
#define LATEST_PROCESS 5

/* Decode the start of a process.  Versions added fields in the middle; a version after the last
 * known one is refused, as its layout is not. */
static bool etw_decode_process(const struct tv_etw_event *event, struct tv_cursor *cursor,
                               struct tv_etw_payload *payload)
{
    unsigned version = event->version;
    if (version > LATEST_PROCESS)
        return false;
    bool good =
        (version == 0 || etw_skip(cursor, event->pointer)) && /* the key, or the page directory */
        tv_cursor_take_u32(cursor, &payload->pid) && tv_cursor_take_u32(cursor, &payload->parent);
    if (version == 0)
        return good;
    return good && etw_skip(cursor, 8) && /* session, exit status */
           (version < 3 || etw_skip(cursor, event->pointer)) &&
           (version < 4 || etw_skip(cursor, 4)) && etw_skip_sid(cursor, event->pointer) &&
           etw_take_name(cursor, &payload->name);
}

/* Decode EventTrace_Header: the pointer width is its twelfth number. */
static bool etw_decode_header(struct tv_cursor *cursor, struct tv_etw_payload *payload)
{
    return etw_skip(cursor, 12) && tv_cursor_take_u32(cursor, &payload->cpus) &&
           etw_skip(cursor, 28) && tv_cursor_take_u32(cursor, &payload->pointer);
}

static bool etw_is_change(unsigned op)
{
    return op >= TV_ETW_STARTED && op <= TV_ETW_STAYED;
}

bool tv_etw_decode(const struct tv_etw_event *event, struct tv_etw_payload *payload)
{
    struct tv_cursor cursor = tv_cursor_over(event->payload);
    *payload = (struct tv_etw_payload){.pid = 0};
    switch (event->class) {
    case TV_ETW_THREAD:
        if (event->op == TV_ETW_SWITCH)
            return etw_decode_switch(&cursor, payload);
        if (event->op == TV_ETW_READY)
            return etw_decode_ready(&cursor, payload);
        return etw_is_change(event->op) && etw_decode_thread(event, &cursor, payload);
    case TV_ETW_PROCESS:
        return etw_is_change(event->op) && etw_decode_process(event, &cursor, payload);
    case TV_ETW_HEADER:
        return event->op == 0 && etw_decode_header(&cursor, payload);
    default:
        return false;
    }
}

/* ---- Events in JSON ---- */

struct etw_reading {
    struct tv_etw *etw;
    const uint8_t *start; /* start of the text */
    struct tv_te_scratch scratch;
    uint8_t *bytes; /* the current payload */
    size_t capacity;
    uint64_t walltime, tick; /* of ClockSync: one moment on both clocks, in microseconds */
};

/* The raw JSON values of an event. */
/* A missing member has no data. */
struct etw_raw_event {
    struct tv_bytes guid, op, version, cpu, tid, time, payload, walltime, tick;
    uint64_t offset;
};

static enum tv_etw_class etw_find_class(struct etw_reading *reading, struct tv_bytes raw)
{
    static const struct {
        const char *guid;
        enum tv_etw_class class;
    } classes[] = {
        {"68FDD900-4A3E-11D1-84F4-0000F80464E3", TV_ETW_HEADER},
        {"3D6FA8D0-FE05-11D0-9DDA-00C04FD7BA7C", TV_ETW_PROCESS},
        {"3D6FA8D1-FE05-11D0-9DDA-00C04FD7BA7C", TV_ETW_THREAD},
        {"ClockSync", TV_ETW_CLOCK},
    };
    struct tv_bytes guid = tv_te_decode_text(raw, &reading->scratch);
    for (size_t i = 0; i < TV_COUNT(classes); i++)
        if (tv_bytes_equal(guid, tv_bytes_of(classes[i].guid)))
            return classes[i].class;
    return TV_ETW_OTHER;
}

static void etw_take_member(struct etw_raw_event *event, struct tv_bytes key, struct tv_bytes raw)
{
    const struct {
        const char *key;
        struct tv_bytes *to;
    } members[] = {
        {"guid", &event->guid},   {"op", &event->op},
        {"ver", &event->version}, {"cpu", &event->cpu},
        {"ts", &event->time},     {"payload", &event->payload},
        {"tick", &event->tick},   {"walltime", &event->walltime},
        {"tid", &event->tid},
    };
    for (size_t i = 0; i < TV_COUNT(members); i++)
        if (tv_bytes_equal(key, tv_bytes_of(members[i].key)))
            *members[i].to = raw;
}

static struct etw_raw_event etw_take_event(struct etw_reading *reading, struct tv_bytes raw)
{
    struct etw_raw_event event = {.offset = (uint64_t)(raw.data - reading->start)};
    struct tv_json_cursor members = tv_json_items(raw);
    struct tv_json_value value;
    struct tv_bytes key;
    while (tv_json_next(&members, &key, &value))
        etw_take_member(&event, tv_te_decode_text(key, &reading->scratch), value.raw);
    return event;
}

static bool etw_take_hex(struct etw_reading *reading, struct tv_bytes raw, uint64_t *value)
{
    return raw.data && tv_parse_hex(tv_te_decode_text(raw, &reading->scratch), value);
}

/* Parse an integer from 0 to `most`. */
static bool etw_take_number(struct tv_bytes raw, uint32_t most, uint32_t *number)
{
    int64_t value;
    if (!tv_te_parse_integer(raw, &value) || value < 0 || value > most)
        return false;
    *number = (uint32_t)value;
    return true;
}

/* Decode a payload. Return false when it is not base64. */
static bool etw_take_payload(struct etw_reading *reading, struct tv_bytes raw,
                             struct tv_bytes *payload)
{
    struct tv_base64 state = {0};
    size_t used;
    if (!raw.data)
        return false;
    struct tv_bytes text = tv_te_decode_text(raw, &reading->scratch);
    reading->bytes =
        tv_array_reserve(reading->bytes, &reading->capacity, text.length / 4 * 3 + 6, 1);
    *payload =
        (struct tv_bytes){reading->bytes, tv_base64_decode(&state, text, reading->bytes, &used)};
    return used == text.length;
}

/* Decode an event. Return false when it is not valid for its class. */
static bool etw_decode_raw(struct etw_reading *reading, const struct etw_raw_event *raw,
                           enum tv_etw_class class, struct tv_etw_event *event,
                           struct tv_etw_payload *payload)
{
    assert(class != TV_ETW_OTHER && class != TV_ETW_CLOCK);
    *event = (struct tv_etw_event){.class = class, .pointer = reading->etw->pointer};
    return etw_take_number(raw->op, UINT8_MAX, &event->op) &&
           etw_take_number(raw->version, UINT16_MAX, &event->version) &&
           etw_take_payload(reading, raw->payload, &event->payload) &&
           tv_etw_decode(event, payload);
}

/* ---- First pass: clocks and the pointer width ---- */

/* Start and DCStart of threads have at least six pointers and, up to version 3, no other field
 * of variable length: at most 44 bytes with 32-bit pointers, at least 57 with 64-bit ones. */
#define SHORT_THREAD 50

/* Learn clocks and pointer width from an event. The last ClockSync counts. A header states the
 * width; otherwise the size of the first thread event shows it. */
static void etw_prepare(struct etw_reading *reading, const struct etw_raw_event *raw)
{
    struct tv_etw *etw = reading->etw;
    struct tv_etw_event event;
    struct tv_etw_payload payload;
    enum tv_etw_class class = etw_find_class(reading, raw->guid);
    uint64_t walltime, tick;
    if (class == TV_ETW_CLOCK && etw_take_hex(reading, raw->walltime, &walltime) &&
        etw_take_hex(reading, raw->tick, &tick)) {
        reading->walltime = walltime;
        reading->tick = tick;
        etw->synced = true;
    }
    if ((class != TV_ETW_HEADER && class != TV_ETW_THREAD) ||
        !etw_decode_raw(reading, raw, class, &event, &payload))
        return;
    if (class == TV_ETW_HEADER) {
        etw->cpus = payload.cpus;
        if (payload.pointer == 4 || payload.pointer == 8)
            etw->pointer = payload.pointer;
    } else if (etw->pointer == 0 && event.op == TV_ETW_WAS_THERE && event.version >= 1 &&
               event.version <= 3) {
        etw->pointer = event.payload.length < SHORT_THREAD ? 4 : 8;
    }
}

/* ---- Second pass: events ---- */

/* Parse a time, on the clock of Chrome's events. */
static bool etw_take_time(struct etw_reading *reading, struct tv_bytes raw, tv_ns *time)
{
    uint64_t stamp;
    int64_t us;
    if (!etw_take_hex(reading, raw, &stamp) || stamp > INT64_MAX)
        return false;
    us = (int64_t)stamp;
    if (reading->etw->synced) {
        /* The wall clock counts from 1601: its nanoseconds do not fit into 64 bits. */
        if (reading->walltime > INT64_MAX || reading->tick > INT64_MAX ||
            __builtin_add_overflow(us - (int64_t)reading->walltime, (int64_t)reading->tick, &us))
            return false;
    }
    if (us > TV_TE_LATEST / NS_PER_US || us < TV_TE_EARLIEST / NS_PER_US)
        return false;
    *time = us * NS_PER_US;
    return true;
}

/* Add a wake-up. Events of the kernel itself have the thread -1, or as many bits. */
static void etw_add_ready(struct tv_etw *etw, const struct etw_raw_event *raw,
                          const struct tv_etw_payload *payload, tv_ns time)
{
    struct tv_etw_ready ready = {
        .time = time,
        .offset = raw->offset,
        .tid = payload->tid,
        .no_thread = payload->no_thread,
    };
    if (!etw_take_number(raw->cpu, UINT16_MAX, &ready.cpu))
        ready.cpu = TV_NONE;
    if (!etw_take_number(raw->tid, INT32_MAX, &ready.by))
        ready.by = TV_NONE;
    *tv_table_add(&etw->readies) = ready;
}

/* Add a switch, a wake-up, or a change of a thread to its table. A switch must name its processor:
 * without it, the event belongs to no track. */
static void etw_add_thread_event(struct etw_reading *reading, const struct etw_raw_event *raw,
                                 unsigned op, const struct tv_etw_payload *payload, tv_ns time)
{
    struct tv_etw *etw = reading->etw;
    uint32_t cpu;
    if (op == TV_ETW_READY) {
        etw_add_ready(etw, raw, payload, time);
        return;
    }
    if (op != TV_ETW_SWITCH) {
        *tv_table_add(&etw->threads) =
            (struct tv_etw_thread){time, payload->tid, payload->pid, (uint8_t)op};
        return;
    }
    if (!etw_take_number(raw->cpu, UINT16_MAX, &cpu)) {
        tv_diagnostics_add(&etw->diagnostics, TV_DIAGNOSTIC_BAD_EVENT, raw->offset);
        return;
    }
    *tv_table_add(&etw->switches) = (struct tv_etw_switch){
        .time = time,
        .offset = raw->offset,
        .cpu = cpu,
        .from = payload->from,
        .to = payload->to,
        .from_state = payload->from_state,
        .from_wait_reason = payload->from_wait_reason,
        .from_priority = payload->from_priority,
        .to_priority = payload->to_priority,
    };
}

/* Return true for ops that tv_etw_decode knows; other ops are not an error. */
static bool etw_has_meaning(enum tv_etw_class class, struct tv_bytes op)
{
    uint32_t number;
    if (!etw_take_number(op, UINT8_MAX, &number))
        return true; /* an error */
    return class == TV_ETW_PROCESS ? etw_is_change(number)
           : class == TV_ETW_THREAD
               ? etw_is_change(number) || number == TV_ETW_SWITCH || number == TV_ETW_READY
               : class == TV_ETW_HEADER && number == 0;
}

/* Add an event to the tables. Events of other classes and ops are counted, not diagnosed: a trace
 * contains whatever its user has switched on. */
static void etw_read_event(struct etw_reading *reading, const struct etw_raw_event *raw)
{
    assert(reading->etw->pointer == 4 || reading->etw->pointer == 8);
    struct tv_etw *etw = reading->etw;
    struct tv_etw_event event;
    struct tv_etw_payload payload;
    tv_ns time;
    enum tv_etw_class class = etw_find_class(reading, raw->guid);
    etw->events++;
    if (class == TV_ETW_CLOCK)
        return;
    if (class == TV_ETW_OTHER || !etw_has_meaning(class, raw->op)) {
        etw->others++;
        return;
    }
    if (!etw_decode_raw(reading, raw, class, &event, &payload)) {
        tv_diagnostics_add(&etw->diagnostics, TV_DIAGNOSTIC_BAD_EVENT, raw->offset);
        return;
    }
    if (class == TV_ETW_HEADER)
        return;
    if (!etw_take_time(reading, raw->time, &time))
        tv_diagnostics_add(&etw->diagnostics, TV_DIAGNOSTIC_BAD_TIMESTAMP, raw->offset);
    else if (class == TV_ETW_THREAD)
        etw_add_thread_event(reading, raw, event.op, &payload, time);
    else
        *tv_table_add(&etw->processes) =
            (struct tv_etw_process){time, payload.pid, payload.parent,
                                    tv_interner_add(etw->texts, payload.name), (uint8_t)event.op};
}

static void etw_for_each_event(struct etw_reading *reading, struct tv_bytes content,
                               void (*take)(struct etw_reading *reading,
                                            const struct etw_raw_event *raw))
{
    struct tv_json_cursor events = tv_json_items(content);
    struct tv_json_value value;
    struct tv_bytes key;
    while (tv_json_next(&events, &key, &value)) {
        struct etw_raw_event event = etw_take_event(reading, value.raw);
        take(reading, &event);
    }
}

bool tv_etw_is(struct tv_bytes json)
{
    struct tv_json_value name = tv_json_find(json, TV_BYTES("name"));
    return tv_json_value(json).type == TV_JSON_OBJECT && name.type == TV_JSON_STRING &&
           name.raw.length == 5 && memcmp(name.raw.data + 1, "ETW", 3) == 0 &&
           tv_json_find(json, TV_BYTES("content")).type == TV_JSON_ARRAY;
}

void tv_etw_read(struct tv_etw *etw, struct tv_bytes json)
{
    struct etw_reading reading = {.etw = etw, .start = json.data};
    *etw = (struct tv_etw){.texts = tv_interner_new()};
    struct tv_json_value content = tv_json_find(json, TV_BYTES("content"));
    if (content.type == TV_JSON_ARRAY) {
        etw_for_each_event(&reading, content.raw, etw_prepare);
        if (etw->pointer == 0)
            etw->pointer = 8;
        etw_for_each_event(&reading, content.raw, etw_read_event);
    }
    tv_te_scratch_release(&reading.scratch);
    tv_free(reading.bytes);
}

void tv_etw_release(struct tv_etw *etw)
{
    tv_free(etw->switches.rows);
    tv_free(etw->readies.rows);
    tv_free(etw->processes.rows);
    tv_free(etw->threads.rows);
    tv_diagnostics_clear(&etw->diagnostics);
    tv_interner_free(etw->texts);
    *etw = (struct tv_etw){.texts = NULL};
}
