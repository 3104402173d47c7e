/* SPDX-License-Identifier: Apache-2.0 */
/* Events of Windows inside JSON.  Payloads are put together here as the kernel's MOF classes say.
 */
#include "readers/etw.h"

#include <stdio.h>
#include <string.h>

#include "base/bytes.h"
#include "base/memory.h"
#include "unit.h"

#define PROCESS "3D6FA8D0-FE05-11D0-9DDA-00C04FD7BA7C"
#define THREAD "3D6FA8D1-FE05-11D0-9DDA-00C04FD7BA7C"
#define HEADER "68FDD900-4A3E-11D1-84F4-0000F80464E3"

struct made {
    uint8_t bytes[512];
    size_t length;
};

static void put(struct made *made, uint64_t value, size_t size)
{
    for (size_t i = 0; i < size; i++)
        made->bytes[made->length++] = (uint8_t)(value >> 8 * i);
}

static void put_bytes(struct made *made, const char *bytes, size_t size)
{
    memcpy(made->bytes + made->length, bytes, size);
    made->length += size;
}

enum sid { NO_SID, SID, SID_OF_NULL };

/* Beginning of Process_V1 to Process_V4, up to the name. */
static struct made process(unsigned version, unsigned pointer, enum sid sid, uint32_t pid,
                           const char *name)
{
    struct made made = {.length = 0};
    put(&made, 0xfffffa800f628060, pointer);
    put(&made, pid, 4);
    put(&made, 988, 4);
    put(&made, 1, 4);
    put(&made, 259, 4);
    if (version >= 3)
        put(&made, 0x11d43f000, pointer);
    if (version >= 4)
        put(&made, 0, 4);
    if (sid == NO_SID) {
        put(&made, 0, 4);
    } else {
        put(&made, sid == SID ? 0xfffff8a015535630 : 0, pointer);
        put(&made, 0, pointer);
        put_bytes(&made, "\1\2\0\0\0\0\0\5", 8);
        put(&made, 21, 4);
        put(&made, 32, 4);
    }
    put_bytes(&made, name, strlen(name) + 1);
    put_bytes(&made, "x\0\0\0", 4); /* the command line */
    return made;
}

static struct made thread(unsigned pointer, uint32_t pid, uint32_t tid)
{
    struct made made = {.length = 0};
    put(&made, pid, 4);
    put(&made, tid, 4);
    for (int i = 0; i < 7; i++)
        put(&made, 0x1234, pointer);
    put(&made, 0, 4);
    put(&made, 0x02050900, 4);
    return made;
}

static struct made context_switch(uint32_t to, uint32_t from)
{
    struct made made = {.length = 0};
    put(&made, to, 4);
    put(&made, from, 4);
    put_bytes(&made, "\x08\xf7\1\0\x17\0\5\4", 8); /* priorities 8 and -9, reason 23, state 5 */
    put(&made, 18, 4);
    put(&made, 0, 4);
    return made;
}

static struct made header(unsigned pointer, uint32_t cpus)
{
    struct made made = {.length = 0};
    for (int i = 0; i < 12; i++)
        put(&made, i == 3 ? cpus : i == 11 ? pointer : 7, 4);
    return made;
}

/* ---- One event ---- */

static bool decode(enum tv_etw_class class, unsigned op, unsigned version, unsigned pointer,
                   const struct made *made, struct tv_etw_payload *payload)
{
    struct tv_etw_event event = {class, op, version, pointer, {made->bytes, made->length}};
    return tv_etw_decode(&event, payload);
}

static void decodes_processes(void **context)
{
    (void)context;
    struct tv_etw_payload payload;
    for (unsigned version = 1; version <= 5; version++)
        for (unsigned pointer = 4; pointer <= 8; pointer += 4)
            for (int sid = NO_SID; sid <= SID_OF_NULL; sid++) {
                struct made made = process(version, pointer, (enum sid)sid, 1776, "notepad.exe");
                assert_true(
                    decode(TV_ETW_PROCESS, TV_ETW_STARTED, version, pointer, &made, &payload));
                assert_int_equal(payload.pid, 1776);
                assert_int_equal(payload.parent, 988);
                assert_true(tv_bytes_equal(payload.name, TV_BYTES("notepad.exe")));
            }
    struct made made = process(3, 8, SID, 1, "a");
    assert_false(decode(TV_ETW_PROCESS, 39, 3, 8, &made, &payload));
    assert_false(decode(TV_ETW_PROCESS, TV_ETW_STARTED, 6, 8, &made, &payload));
}

static void decodes_switches(void **context)
{
    (void)context;
    struct tv_etw_payload payload;
    struct made made = context_switch(2252, 4396);
    assert_true(decode(TV_ETW_THREAD, TV_ETW_SWITCH, 2, 8, &made, &payload));
    assert_int_equal(payload.to, 2252);
    assert_int_equal(payload.from, 4396);
    assert_int_equal(payload.to_priority, 8);
    assert_int_equal(payload.from_priority, -9);
    assert_int_equal(payload.from_wait_reason, 23);
    assert_int_equal(payload.from_state, 5);
}

static void decodes_threads(void **context)
{
    (void)context;
    struct tv_etw_payload payload;
    struct made made = thread(4, 556, 4908);
    assert_true(decode(TV_ETW_THREAD, TV_ETW_WAS_THERE, 3, 4, &made, &payload));
    assert_int_equal(payload.pid, 556);
    assert_int_equal(payload.tid, 4908);
    assert_true(decode(TV_ETW_THREAD, TV_ETW_ENDED, 0, 4, &made, &payload)); /* the other way */
    assert_int_equal(payload.pid, 4908);
    assert_false(decode(TV_ETW_THREAD, 51, 2, 4, &made, &payload));
}

static struct made readied(uint32_t tid, bool by_deferred_call)
{
    struct made made = {.length = 0};
    put(&made, tid, 4);
    put_bytes(&made, by_deferred_call ? "\1\2\3\0" : "\1\2\2\0", 4);
    return made;
}

static void decodes_wakeups(void **context)
{
    (void)context;
    struct tv_etw_payload payload;
    struct made made = readied(4908, false);
    assert_true(decode(TV_ETW_THREAD, TV_ETW_READY, 2, 8, &made, &payload));
    assert_int_equal(payload.tid, 4908);
    assert_false(payload.no_thread);
    made = readied(4908, true);
    assert_true(decode(TV_ETW_THREAD, TV_ETW_READY, 2, 8, &made, &payload));
    assert_true(payload.no_thread);
    made.length = 6;
    assert_false(decode(TV_ETW_THREAD, TV_ETW_READY, 2, 8, &made, &payload));
}

/* No cut makes it read beyond the end, or accept missing data. */
static void every_cut_is_seen(void **context)
{
    (void)context;
    struct tv_etw_payload payload;
    struct made made = process(4, 8, SID, 1, "name"), cut;
    size_t whole = made.length - 4; /* the command line does not count */
    for (size_t length = 0; length < made.length; length++) {
        cut = made;
        cut.length = length;
        /* Cut within the SID it may seem to have none: then there is no name either. */
        assert_int_equal(decode(TV_ETW_PROCESS, TV_ETW_STARTED, 4, 8, &cut, &payload),
                         length >= whole);
    }
    made = context_switch(1, 2);
    for (made.length = 0; made.length < 15; made.length++)
        assert_false(decode(TV_ETW_THREAD, TV_ETW_SWITCH, 2, 8, &made, &payload));
}

/* ---- The whole ---- */

struct text {
    char bytes[8192];
    size_t length;
};

static void begin(struct text *text)
{
    text->length =
        (size_t)snprintf(text->bytes, sizeof text->bytes, "{\"name\":\"ETW\",\"content\":[");
}

static void add_text(struct text *text, const char *more)
{
    size_t length = strlen(more);
    assert_true(length < sizeof text->bytes - text->length);
    memcpy(text->bytes + text->length, more, length + 1);
    text->length += length;
}

static void add_event(struct text *text, const char *guid, unsigned op, unsigned version,
                      uint64_t time, const struct made *made)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    char base64[1024] = "", event[2048];
    size_t used = 0;
    for (size_t i = 0; i < made->length; i += 3) {
        uint32_t bits = 0;
        size_t count = made->length - i < 3 ? made->length - i : 3;
        for (size_t j = 0; j < 3; j++)
            bits = bits << 8 | (j < count ? made->bytes[i + j] : 0u);
        for (size_t j = 0; j < 4; j++)
            base64[used++] = j <= count ? digits[bits >> (18 - 6 * j) & 63] : '=';
    }
    snprintf(
        event, sizeof event,
        "{\"guid\":\"%s\",\"op\":%u,\"ver\":%u,\"cpu\":3,\"ts\":\"%016llX\",\"payload\":\"%s\"},",
        guid, op, version, (unsigned long long)time, base64);
    add_text(text, event);
}

static struct tv_bytes end(struct text *text)
{
    add_text(text, "{}]}");
    return (struct tv_bytes){(const uint8_t *)text->bytes, text->length};
}

/* The clock mark is at the end, and the pointer width comes after the events that need it. */
static void reads_a_whole_object(void **context)
{
    (void)context;
    struct text text;
    struct tv_etw etw;
    struct made made = process(3, 4, SID, 44, "chrome.exe");
    begin(&text);
    add_event(&text, PROCESS, TV_ETW_WAS_THERE, 3, 5000, &made);
    made = thread(4, 44, 55);
    add_event(&text, THREAD, TV_ETW_WAS_THERE, 3, 5000, &made);
    made = context_switch(55, 0);
    add_event(&text, THREAD, TV_ETW_SWITCH, 2, 5100, &made);
    add_event(&text, THREAD, 51, 2, 5150, &made);
    made = readied(55, false);
    add_event(&text, THREAD, TV_ETW_READY, 2, 5160, &made);
    add_event(&text, "68FDD900", 1, 2, 5150, &made);
    add_text(&text, "{\"guid\":\"ClockSync\",\"walltime\":\"0000000000001000\","
                    "\"tick\":\"0000000000000010\"},");
    made.length = 3;
    add_event(&text, THREAD, TV_ETW_SWITCH, 2, 5200, &made);
    tv_etw_read(&etw, end(&text));
    assert_int_equal(etw.pointer, 4);
    assert_true(etw.synced);
    assert_int_equal(etw.switches.count, 1);
    const struct tv_etw_switch *row = etw.switches.rows;
    assert_int_equal(row->time, (5100 - 4096 + 16) * 1000);
    assert_int_equal(row->cpu, 3);
    assert_int_equal(row->from, 0);
    assert_int_equal(row->to, 55);
    assert_memory_equal(text.bytes + row->offset, "{\"guid\":\"3D6FA8D1", 17);
    assert_int_equal(etw.processes.count, 1);
    assert_int_equal(etw.processes.rows[0].pid, 44);
    assert_int_equal(etw.processes.rows[0].change, TV_ETW_WAS_THERE);
    assert_string_equal(tv_interner_get(etw.texts, etw.processes.rows[0].name).data, "chrome.exe");
    assert_int_equal(etw.threads.count, 1);
    assert_int_equal(etw.threads.rows[0].tid, 55);
    assert_int_equal(etw.threads.rows[0].pid, 44);
    assert_int_equal(etw.readies.count, 1);
    assert_int_equal(etw.readies.rows[0].tid, 55);
    assert_int_equal(etw.readies.rows[0].cpu, 3);
    assert_int_equal(etw.readies.rows[0].by, TV_NONE);
    assert_int_equal(etw.events, 9);
    assert_int_equal(etw.others, 3); /* op 51, another class, and {} */
    assert_int_equal(etw.diagnostics.kinds[TV_DIAGNOSTIC_BAD_EVENT].count, 1);
    tv_etw_release(&etw);
}

static void believes_the_header(void **context)
{
    (void)context;
    struct text text;
    struct tv_etw etw;
    struct made made = header(4, 6);
    begin(&text);
    add_event(&text, HEADER, 0, 2, 100, &made);
    made = process(2, 4, NO_SID, 4, "System");
    add_event(&text, PROCESS, TV_ETW_STARTED, 2, UINT64_MAX, &made); /* a time that no clock has */
    add_event(&text, PROCESS, TV_ETW_STARTED, 2, 200, &made);
    tv_etw_read(&etw, end(&text));
    assert_int_equal(etw.pointer, 4);
    assert_int_equal(etw.cpus, 6);
    assert_false(etw.synced);
    assert_int_equal(etw.processes.count, 1);
    assert_int_equal(etw.processes.rows[0].time, 200000);
    assert_int_equal(etw.diagnostics.kinds[TV_DIAGNOSTIC_BAD_TIMESTAMP].count, 1);
    tv_etw_release(&etw);
}

static void knows_its_objects(void **context)
{
    (void)context;
    struct tv_etw etw;
    assert_true(tv_etw_is(TV_BYTES("{\"name\":\"ETW\",\"content\":[]}")));
    assert_false(tv_etw_is(TV_BYTES("{\"name\":\"ETX\",\"content\":[]}")));
    assert_false(tv_etw_is(TV_BYTES("{\"name\":\"ETW\",\"content\":1}")));
    assert_false(tv_etw_is(TV_BYTES("[]")));
    assert_false(tv_etw_is(TV_BYTES("")));
    tv_etw_read(&etw, TV_BYTES("{"));
    assert_int_equal(etw.events, 0);
    tv_etw_release(&etw);
    /* Neither op, nor payload, nor object. */
    tv_etw_read(&etw, TV_BYTES("{\"content\":[{\"guid\":\"" THREAD "\"},{\"guid\":\"" THREAD
                               "\",\"op\":36,\"ver\":2,\"payload\":\"*\"},7]}"));
    assert_int_equal(etw.diagnostics.kinds[TV_DIAGNOSTIC_BAD_EVENT].count, 2);
    assert_int_equal(etw.others, 1);
    tv_etw_release(&etw);
}

UNIT_TESTS(etw, cmocka_unit_test(decodes_processes), cmocka_unit_test(decodes_switches),
           cmocka_unit_test(decodes_threads), cmocka_unit_test(decodes_wakeups),
           cmocka_unit_test(every_cut_is_seen), cmocka_unit_test(reads_a_whole_object),
           cmocka_unit_test(believes_the_header), cmocka_unit_test(knows_its_objects));
