/* SPDX-License-Identifier: Apache-2.0 */
/*
 * binary.c - the binary form of hprof. All numbers are big-endian; an id has 4 or 8 bytes.
 *
 *     "JAVA PROFILE 1.0.2\0"  u32 size of ids  u64 milliseconds since 1970
 *     records: u8 tag, u32 microseconds since then, u32 length, body
 *
 *     0x01 string         id, text
 *     0x02 load class     u32 serial, id object, u32 stack, id name
 *     0x04 frame          id, id name, id signature, id file, u32 class serial, u32 line
 *     0x05 stack          u32 serial, u32 thread serial, u32 count, ids of frames
 *     0x0a start thread   u32 serial, id object, u32 stack, id name, id group, id parent group
 *     0x0d CPU samples    u32 total, u32 rows, rows of u32 count, u32 stack serial
 *
 * A record refers only to records before it; a number that is unknown there gives an empty name or
 * a diagnostic. Records with other tags are skipped by their length. A record whose body is too
 * short for its fields is diagnosed as a whole. The JDK's hprof_b_spec.h has the specification.
 */
#include "readers/hprof/hprof.h"

#include <assert.h>

#include "base/bytes.h"
#include "base/memory.h"

enum hprof_tag {
    TAG_STRING = 0x01,
    TAG_LOAD_CLASS = 0x02,
    TAG_UNLOAD_CLASS = 0x03,
    TAG_STACK_FRAME = 0x04,
    TAG_STACK_TRACE = 0x05,
    TAG_START_THREAD = 0x0a,
    TAG_END_THREAD = 0x0b,
    TAG_HEAP_DUMP = 0x0c,
    TAG_CPU_SAMPLES = 0x0d,
    TAG_CONTROL_SETTINGS = 0x0e,
    TAG_HEAP_DUMP_SEGMENT = 0x1c,
};

#define RECORD_HEAD 9

/* Maximum length of a record that is read. Only heap dumps are longer, and these are skipped. */
#define LONGEST_RECORD ((uint32_t)64 << 20)

/* Size after the magic, the version and a NUL: the size of ids, and a time. */
#define NUMBERS_AND_TIME 12

/* Lines in frames: 0 none, -1 unknown, -2 compiled, -3 native; others are places in the method. */
#define LINE_NATIVE (-3)

struct hprof_binary {
    struct tv_hprof *hprof;
    unsigned id_size;      /* 4 or 8 */
    struct tv_map strings; /* id -> string of the head */
    struct tv_map classes; /* serial -> string of the head */
    struct tv_map frames;  /* id -> its place in `places` */
    struct tv_hprof_frame *places;
    size_t place_count, place_capacity;
};

/* ---- Numbers ---- */

static bool hprof_take_u32(struct tv_cursor *cursor, uint32_t *value)
{
    struct tv_bytes bytes;
    if (!tv_cursor_take_bytes(cursor, 4, &bytes))
        return false;
    *value = (uint32_t)bytes.data[0] << 24 | (uint32_t)bytes.data[1] << 16 |
             (uint32_t)bytes.data[2] << 8 | bytes.data[3];
    return true;
}

static bool hprof_take_id(struct tv_cursor *cursor, unsigned size, uint64_t *value)
{
    assert(size == 4 || size == 8);
    uint32_t high = 0, low;
    if ((size == 8 && !hprof_take_u32(cursor, &high)) || !hprof_take_u32(cursor, &low))
        return false;
    *value = (uint64_t)high << 32 | low;
    return true;
}

/* Return the string of an id; empty for 0 and for unknown ids. */
static uint32_t hprof_find_string(const struct hprof_binary *reading, uint64_t id)
{
    uint32_t string = tv_map_find(&reading->strings, id);
    return string == TV_NONE ? TV_EMPTY_STRING : string;
}

static struct tv_bytes hprof_find_text(const struct hprof_binary *reading, uint64_t id)
{
    return tv_trace_info_text(reading->hprof->head, hprof_find_string(reading, id));
}

/* ---- Records; functions return false when one is too short ---- */

static bool hprof_take_string(struct hprof_binary *reading, struct tv_cursor *cursor)
{
    uint64_t id;
    struct tv_bytes text;
    if (!hprof_take_id(cursor, reading->id_size, &id))
        return false;
    tv_cursor_take_bytes(cursor, tv_cursor_left(cursor), &text);
    tv_map_set(&reading->strings, id, tv_trace_info_string(reading->hprof->head, text));
    return true;
}

/* Return the name of a class with dots; the binary form has slashes, the text form has dots. */
static uint32_t hprof_dotted_name(struct tv_trace_info *head, struct tv_bytes name)
{
    uint8_t *copy = tv_alloc(name.length + 1, 1);
    for (size_t i = 0; i < name.length; i++)
        copy[i] = name.data[i] == '/' ? '.' : name.data[i];
    uint32_t string = tv_trace_info_string(head, (struct tv_bytes){copy, name.length});
    tv_free(copy);
    return string;
}

/* Take LOAD CLASS {u4 serial, id object, u4 stack, id name}. Stack frames refer to the serial;
 * object and stack are stepped over. False: the record ends too early. */
static bool hprof_take_class(struct hprof_binary *reading, struct tv_cursor *cursor)
{
    uint32_t serial, stack;
    uint64_t object, name;
    if (!hprof_take_u32(cursor, &serial) || !hprof_take_id(cursor, reading->id_size, &object) ||
        !hprof_take_u32(cursor, &stack) || !hprof_take_id(cursor, reading->id_size, &name))
        return false;
    tv_map_set(&reading->classes, serial,
               hprof_dotted_name(reading->hprof->head, hprof_find_text(reading, name)));
    return true;
}

/* Take a STACK_FRAME {id, name, signature, file, class serial, line}.  False: it is too short. */
static bool hprof_take_frame(struct hprof_binary *reading, struct tv_cursor *cursor)
{
    uint64_t id, name, signature, file;
    uint32_t class_serial, line;
    if (!hprof_take_id(cursor, reading->id_size, &id) ||
        !hprof_take_id(cursor, reading->id_size, &name) ||
        !hprof_take_id(cursor, reading->id_size, &signature) ||
        !hprof_take_id(cursor, reading->id_size, &file) || !hprof_take_u32(cursor, &class_serial) ||
        !hprof_take_u32(cursor, &line))
        return false;
    uint32_t class_name = tv_map_find(&reading->classes, class_serial);
    struct tv_frame frame = {
        .class_name = class_name == TV_NONE ? TV_EMPTY_STRING : class_name,
        .name = hprof_find_string(reading, name),
        .signature = hprof_find_string(reading, signature),
        .file = hprof_find_string(reading, file),
        .line = line == (uint32_t)LINE_NATIVE ? -2 : 0,
    };
    reading->places = tv_array_reserve(reading->places, &reading->place_capacity,
                                       reading->place_count + 1, sizeof *reading->places);
    reading->places[reading->place_count] =
        (struct tv_hprof_frame){tv_trace_info_add_recorded_frame(reading->hprof->head, &frame),
                                line <= INT32_MAX ? (int32_t)line : 0};
    tv_map_set(&reading->frames, id, (uint32_t)reading->place_count++);
    return true;
}

/* Take a STACK_TRACE {serial, thread, count, ids of frames}.  A frame that is not known is left out
 * and diagnosed. */
static bool hprof_take_stack(struct hprof_binary *reading, struct tv_cursor *cursor,
                             uint64_t offset)
{
    struct tv_hprof *hprof = reading->hprof;
    uint32_t serial, thread, count;
    uint64_t id;
    if (!hprof_take_u32(cursor, &serial) || !hprof_take_u32(cursor, &thread) ||
        !hprof_take_u32(cursor, &count) || tv_cursor_left(cursor) / reading->id_size < count)
        return false;
    /* Thread 0: the agent was not asked to separate threads. */
    tv_hprof_begin_stack(hprof, serial,
                         thread == 0 ? TV_NONE : tv_hprof_thread(hprof, thread, offset), offset);
    while (count-- > 0 && hprof_take_id(cursor, reading->id_size, &id)) {
        uint32_t place = tv_map_find(&reading->frames, id);
        if (place == TV_NONE)
            tv_hprof_diagnose(hprof, TV_DIAGNOSTIC_STACK_UNKNOWN, offset);
        else
            tv_hprof_add_frame(hprof, reading->places[place]);
    }
    return true;
}

/* Take a START_THREAD {serial, object, stack, name, group, parent group}. */
static bool hprof_take_thread(struct hprof_binary *reading, struct tv_cursor *cursor,
                              uint64_t offset)
{
    uint32_t serial, stack;
    uint64_t object, name, group, parent;
    if (!hprof_take_u32(cursor, &serial) || !hprof_take_id(cursor, reading->id_size, &object) ||
        !hprof_take_u32(cursor, &stack) || !hprof_take_id(cursor, reading->id_size, &name) ||
        !hprof_take_id(cursor, reading->id_size, &group) ||
        !hprof_take_id(cursor, reading->id_size, &parent))
        return false;
    tv_hprof_list_thread(reading->hprof, serial, hprof_find_text(reading, name),
                         hprof_find_text(reading, group), offset);
    return true;
}

/* Take CPU_SAMPLES {u4 total, u4 rows} with rows {u4 count, u4 stack}.  A total that does not fit
 * its rows is diagnosed; the rows count. */
static bool hprof_take_samples(struct hprof_binary *reading, struct tv_cursor *cursor,
                               uint64_t offset)
{
    struct tv_hprof *hprof = reading->hprof;
    uint32_t total, rows, count, serial;
    uint64_t counted = 0;
    if (!hprof_take_u32(cursor, &total) || !hprof_take_u32(cursor, &rows) ||
        tv_cursor_left(cursor) / 8 < rows)
        return false;
    tv_hprof_begin_table(hprof, false, offset);
    while (rows-- > 0 && hprof_take_u32(cursor, &count) && hprof_take_u32(cursor, &serial)) {
        struct tv_hprof_row row = {.stack = serial, .offset = offset, .weight = count};
        tv_hprof_add_row(hprof, &row);
        counted += count;
    }
    if (counted != total)
        tv_hprof_diagnose(hprof, TV_DIAGNOSTIC_COUNT_MISMATCH, offset);
    return true;
}

/* Heap dumps are long and have no time: they are skipped without being read. */
static bool hprof_is_kept_record(uint8_t tag)
{
    return (tag >= TAG_STRING && tag <= TAG_STACK_TRACE) || tag == TAG_START_THREAD ||
           tag == TAG_END_THREAD || tag == TAG_CPU_SAMPLES || tag == TAG_CONTROL_SETTINGS;
}

static bool hprof_take_record(struct hprof_binary *reading, uint8_t tag, struct tv_bytes body,
                              uint64_t offset)
{
    assert(hprof_is_kept_record(tag));
    struct tv_cursor cursor = tv_cursor_over(body);
    switch ((enum hprof_tag)tag) {
    case TAG_STRING:
        return hprof_take_string(reading, &cursor);
    case TAG_LOAD_CLASS:
        return hprof_take_class(reading, &cursor);
    case TAG_STACK_FRAME:
        return hprof_take_frame(reading, &cursor);
    case TAG_STACK_TRACE:
        return hprof_take_stack(reading, &cursor, offset);
    case TAG_START_THREAD:
        return hprof_take_thread(reading, &cursor, offset);
    case TAG_CPU_SAMPLES:
        return hprof_take_samples(reading, &cursor, offset);
    case TAG_UNLOAD_CLASS:
    case TAG_END_THREAD:
    case TAG_HEAP_DUMP:
    case TAG_HEAP_DUMP_SEGMENT:
    case TAG_CONTROL_SETTINGS:
        break;
    }
    return true;
}

/* ---- The file ---- */

/* Read the record at *offset, and advance that. `more` is false at the end, or where the file
 * was cut. */
static enum tv_status hprof_read_record(struct hprof_binary *reading, struct tv_window *window,
                                        uint64_t *offset, bool *more, struct tv_error *err)
{
    struct tv_hprof *hprof = reading->hprof;
    uint64_t size = tv_source_size(hprof->source), at = *offset;
    struct tv_bytes bytes;
    uint32_t time, length;
    enum tv_status status = tv_window_at(window, at, RECORD_HEAD, &bytes, err);
    if (status != TV_OK)
        return status;
    *more = false;
    if (bytes.length == 0)
        return TV_OK;
    struct tv_cursor cursor = tv_cursor_over(bytes);
    uint8_t tag;
    if (!tv_cursor_take_u8(&cursor, &tag) || !hprof_take_u32(&cursor, &time) ||
        !hprof_take_u32(&cursor, &length) || size - at - RECORD_HEAD < length) {
        tv_hprof_diagnose(hprof, TV_DIAGNOSTIC_TRUNCATED, at);
        return TV_OK;
    }
    *more = true;
    *offset = at + RECORD_HEAD + length;
    if (!hprof_is_kept_record(tag)) {
        hprof->heap = hprof->heap || tag == TAG_HEAP_DUMP || tag == TAG_HEAP_DUMP_SEGMENT;
        tv_hprof_diagnose(hprof, TV_DIAGNOSTIC_SKIPPED_SECTION, at);
        return TV_OK;
    }
    if (length > LONGEST_RECORD) {
        tv_hprof_diagnose(hprof, TV_DIAGNOSTIC_BAD_PACKET, at);
        return TV_OK;
    }
    status = tv_window_at(window, at, (size_t)RECORD_HEAD + length, &bytes, err);
    if (status == TV_OK &&
        !hprof_take_record(reading, tag, (struct tv_bytes){bytes.data + RECORD_HEAD, length}, at))
        tv_hprof_diagnose(hprof, TV_DIAGNOSTIC_BAD_PACKET, at);
    return status;
}

/* Find the first record, and the size of ids. */
static enum tv_status hprof_read_start(struct hprof_binary *reading, struct tv_window *window,
                                       uint64_t *offset, struct tv_error *err)
{
    struct tv_hprof *hprof = reading->hprof;
    struct tv_bytes bytes, magic;
    uint32_t id_size = 0, high = 0, low = 0;
    enum tv_status status = tv_window_at(window, 0, TV_SNIFF_SIZE, &bytes, err);
    if (status != TV_OK)
        return status;
    struct tv_bytes version = tv_hprof_version(bytes);
    size_t start = (size_t)(version.data - bytes.data) + version.length + 1;
    struct tv_cursor cursor = tv_cursor_over(bytes);
    bool whole = tv_cursor_take_bytes(&cursor, start, &magic) &&
                 hprof_take_u32(&cursor, &id_size) && hprof_take_u32(&cursor, &high) &&
                 hprof_take_u32(&cursor, &low);
    if (!whole || (id_size != 4 && id_size != 8))
        return tv_fail(err, TV_ERR_SYNTAX, start,
                       "hprof: expected the size of numbers, 4 or 8, "
                       "found %s",
                       whole ? "another" : "the end of the file");
    reading->id_size = id_size;
    uint64_t created_ms = (uint64_t)high << 32 | low;
    if (created_ms > 0 && created_ms <= INT64_MAX / 1000)
        hprof->head->inputs[hprof->input].recorded_us = (int64_t)created_ms * 1000;
    *offset = start + NUMBERS_AND_TIME;
    return TV_OK;
}

enum tv_status tv_hprof_read_binary(struct tv_hprof *hprof, struct tv_error *err)
{
    struct hprof_binary reading = {.hprof = hprof};
    struct tv_window window;
    uint64_t offset = 0;
    bool more = true;
    tv_window_init(&window, hprof->source);
    tv_map_init(&reading.strings);
    tv_map_init(&reading.classes);
    tv_map_init(&reading.frames);
    enum tv_status status = hprof_read_start(&reading, &window, &offset, err);
    while (status == TV_OK && more) {
        uint64_t before = offset;
        status = hprof_read_record(&reading, &window, &offset, &more, err);
        if (status == TV_OK)
            status = tv_reader_add_progress(hprof->progress, offset - before, err);
    }
    tv_map_release(&reading.strings);
    tv_map_release(&reading.classes);
    tv_map_release(&reading.frames);
    tv_free(reading.places);
    tv_window_release(&window);
    return status;
}
