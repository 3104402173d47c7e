/* SPDX-License-Identifier: Apache-2.0 */
/*
 * data_file.c - the frame of a perf.data file: header, attributes, features, names of events.
 *
 *     offset  size  header of a file, little-endian
 *          0     8  "PERFILE2"
 *          8     8  size of the header: 104, or 16 for what came through a pipe
 *         16     8  size of an entry of the attributes
 *         24    16  attributes: a section, which is an offset and a size
 *         40    16  records
 *         56    16  types of events; not used any more
 *         72    32  a bit for each feature that follows the records
 *
 * After the records stands a table with a section for each feature that is set, in the order of the
 * bits. A pipe has only the first 16 bytes; attributes and features are records there.
 *
 * Sections come from the file and may lie anywhere. One beyond the end is cut to what is there,
 * and `cut` is set; overlapping ones do no harm, since nothing is written. The layout is specified
 * in tools/perf/Documentation/perf.data-file-format.txt of Linux.
 */
#include "readers/perf/perf_data.h"

#include <assert.h>
#include <stdio.h>

#include "base/memory.h"

#define HEADER_OF_PIPE 16
#define MIN_HEADER 104
#define MIN_ATTR 48     /* up to the flags */
#define SECTION_SIZE 16 /* offset and size */

/* Bits of the flags of an attribute. */
#define EXCLUDE_USER (UINT64_C(1) << 4)
#define EXCLUDE_KERNEL (UINT64_C(1) << 5)
#define EXCLUDE_HV (UINT64_C(1) << 6)
#define PRECISE_SHIFT 15
#define PRECISE_MASK 3
#define EXCLUDE_HOST (UINT64_C(1) << 19)
#define EXCLUDE_GUEST (UINT64_C(1) << 20)

/* Kinds of events: tv_perf_attr.type. */
enum { KIND_HARDWARE, KIND_SOFTWARE, KIND_TRACEPOINT };

/* The type of an event update whose data is a name. */
#define UPDATE_NAME 2

struct tv_bytes tv_perf_text(struct tv_bytes bytes)
{
    const uint8_t *end = bytes.length > 0 ? memchr(bytes.data, 0, bytes.length) : NULL;
    if (end)
        bytes.length = (size_t)(end - bytes.data);
    return bytes;
}

bool tv_perf_take_text(struct tv_cursor *cursor, struct tv_bytes *text)
{
    uint32_t length;
    struct tv_cursor inside = *cursor;
    if (!tv_cursor_take_u32(&inside, &length) || !tv_cursor_take_bytes(&inside, length, text))
        return false;
    *text = tv_perf_text(*text);
    *cursor = inside;
    return true;
}

/* Return a section of the file, or what is there of it. */
static struct tv_bytes perf_file_section(struct tv_perf_data_file *file, uint64_t offset,
                                         uint64_t size)
{
    uint64_t length = file->bytes.length;
    uint64_t start = offset < length ? offset : length;
    uint64_t left = length - start;
    if (size > left) {
        file->cut = true;
        size = left;
    }
    return (struct tv_bytes){file->bytes.data + (size_t)start, (size_t)size};
}

static bool perf_file_take_section(struct tv_perf_data_file *file, struct tv_cursor *cursor,
                                   struct tv_bytes *section)
{
    uint64_t offset, size;
    struct tv_cursor inside = *cursor;
    if (!tv_cursor_take_u64(&inside, &offset) || !tv_cursor_take_u64(&inside, &size))
        return false;
    *section = perf_file_section(file, offset, size);
    *cursor = inside;
    return true;
}

/* ---- Attributes ---- */

/* Parse the begin of struct perf_event_attr, which has grown with each version of the kernel; the
 * fields up to the flags have not moved. */
static bool perf_attr_parse(struct tv_bytes bytes, struct tv_perf_attr *attr)
{
    struct tv_cursor cursor = tv_cursor_over(bytes);
    uint32_t size;
    *attr = (struct tv_perf_attr){.label = {bytes.data, 0}};
    return tv_cursor_take_u32(&cursor, &attr->type) && tv_cursor_take_u32(&cursor, &size) &&
           tv_cursor_take_u64(&cursor, &attr->config) &&
           tv_cursor_take_u64(&cursor, &attr->period) &&
           tv_cursor_take_u64(&cursor, &attr->sample_type) &&
           tv_cursor_take_u64(&cursor, &attr->read_format) &&
           tv_cursor_take_u64(&cursor, &attr->flags);
}

/* Add an attribute with its ids: one per processor (and thread) on which the event ran. */
static void perf_file_add_attr(struct tv_perf_data_file *file, struct tv_bytes bytes,
                               struct tv_bytes ids)
{
    struct tv_cursor cursor = tv_cursor_over(ids);
    struct tv_perf_attr attr;
    uint64_t id;
    if (!perf_attr_parse(bytes, &attr))
        return;
    file->attrs = tv_array_reserve(file->attrs, &file->attr_capacity, file->attr_count + 1,
                                   sizeof *file->attrs);
    file->attrs[file->attr_count++] = attr;
    while (tv_cursor_take_u64(&cursor, &id))
        tv_map_add(&file->ids, id, (uint32_t)file->attr_count - 1);
}

/* A record of a pipe: the attribute, whose second number is its own size, then the ids. */
void tv_perf_file_take_attr(struct tv_perf_data_file *file, struct tv_bytes payload)
{
    struct tv_cursor cursor = tv_cursor_over(payload);
    uint32_t type, size;
    struct tv_bytes attr = payload;
    if (!tv_cursor_take_u32(&cursor, &type) || !tv_cursor_take_u32(&cursor, &size))
        return;
    size = size < MIN_ATTR ? MIN_ATTR : size;
    if (size > payload.length)
        return;
    attr.length = size;
    perf_file_add_attr(file, attr, (struct tv_bytes){payload.data + size, payload.length - size});
}

/* Read the attributes of a file: each entry ends with the section of its ids. */
static void perf_file_read_attrs(struct tv_perf_data_file *file, struct tv_bytes attrs,
                                 uint64_t entry_size)
{
    struct tv_cursor cursor = tv_cursor_over(attrs);
    struct tv_bytes entry, ids;
    if (entry_size < MIN_ATTR + SECTION_SIZE)
        return;
    while (entry_size <= tv_cursor_left(&cursor) &&
           tv_cursor_take_bytes(&cursor, (size_t)entry_size, &entry)) {
        struct tv_cursor behind = tv_cursor_over(
            (struct tv_bytes){entry.data + entry.length - SECTION_SIZE, SECTION_SIZE});
        entry.length -= SECTION_SIZE;
        if (perf_file_take_section(file, &behind, &ids))
            perf_file_add_attr(file, entry, ids);
    }
}

/* ---- Header ---- */

/* Find the features: after the records stands the section of each that is set. */
static void perf_file_find_features(struct tv_perf_data_file *file, struct tv_bytes flags,
                                    uint64_t end)
{
    struct tv_cursor cursor = tv_cursor_over(perf_file_section(file, end, UINT64_MAX));
    file->cut = false; /* the table has no size of its own */
    for (size_t i = 0; i < TV_PERF_FEATURES; i++)
        if ((flags.data[i / 8] >> i % 8 & 1) &&
            !perf_file_take_section(file, &cursor, &file->features[i]))
            file->cut = true;
}

/* Read the rest of the header. Records of size 0 belong to a recording that was killed: then they
 * end with the file, and there are no features. */
static bool perf_file_read_header(struct tv_perf_data_file *file, struct tv_cursor *cursor)
{
    uint64_t entry_size, start, size;
    struct tv_bytes attrs, types, flags;
    if (!tv_cursor_take_u64(cursor, &entry_size) || !perf_file_take_section(file, cursor, &attrs) ||
        !tv_cursor_take_u64(cursor, &start) || !tv_cursor_take_u64(cursor, &size) ||
        !perf_file_take_section(file, cursor, &types) ||
        !tv_cursor_take_bytes(cursor, TV_PERF_FEATURES / 8, &flags))
        return false;
    if (start <= file->bytes.length && size <= file->bytes.length - start)
        perf_file_find_features(file, flags, start + size);
    file->records = perf_file_section(file, start, size == 0 ? UINT64_MAX : size);
    perf_file_read_attrs(file, attrs, entry_size);
    return true;
}

bool tv_perf_file_read(struct tv_perf_data_file *file, struct tv_bytes bytes)
{
    struct tv_cursor cursor = tv_cursor_over(bytes);
    struct tv_bytes magic;
    uint64_t size;
    *file = (struct tv_perf_data_file){.bytes = bytes};
    tv_map_init(&file->ids);
    if (!tv_cursor_take_bytes(&cursor, 8, &magic) || !tv_cursor_take_u64(&cursor, &size))
        return false;
    file->piped = size == HEADER_OF_PIPE;
    if (file->piped)
        file->records = perf_file_section(file, HEADER_OF_PIPE, bytes.length - HEADER_OF_PIPE);
    return file->piped || (size >= MIN_HEADER && perf_file_read_header(file, &cursor));
}

void tv_perf_file_release(struct tv_perf_data_file *file)
{
    tv_map_release(&file->ids);
    tv_free(file->attrs);
}

void tv_perf_file_take_feature(struct tv_perf_data_file *file, struct tv_bytes payload)
{
    struct tv_cursor cursor = tv_cursor_over(payload);
    uint64_t number;
    if (tv_cursor_take_u64(&cursor, &number) && number < TV_PERF_FEATURES)
        tv_cursor_take_bytes(&cursor, tv_cursor_left(&cursor), &file->features[number]);
}

/* ---- Names of events ---- */

void tv_perf_file_take_update(struct tv_perf_data_file *file, struct tv_bytes payload)
{
    struct tv_cursor cursor = tv_cursor_over(payload);
    struct tv_bytes text;
    uint64_t kind, id;
    if (!tv_cursor_take_u64(&cursor, &kind) || kind != UPDATE_NAME ||
        !tv_cursor_take_u64(&cursor, &id) ||
        !tv_cursor_take_bytes(&cursor, tv_cursor_left(&cursor), &text))
        return;
    uint32_t attr = tv_map_find(&file->ids, id);
    if (attr != TV_NONE)
        file->attrs[attr].label = tv_perf_text(text);
}

/* Take the description of an event; its ids, or else its place, tell whose it is. */
static bool perf_file_take_label(struct tv_perf_data_file *file, struct tv_cursor *cursor,
                                 uint32_t attr_size, size_t place)
{
    struct tv_bytes attr, label;
    uint32_t ids;
    uint64_t id, first = 0;
    if (!tv_cursor_take_bytes(cursor, attr_size, &attr) || !tv_cursor_take_u32(cursor, &ids) ||
        !tv_perf_take_text(cursor, &label))
        return false;
    for (uint32_t i = 0; i < ids; i++) {
        if (!tv_cursor_take_u64(cursor, &id))
            return false;
        first = i == 0 ? id : first;
    }
    uint32_t owner = ids > 0 ? tv_map_find(&file->ids, first) : TV_NONE;
    if (owner == TV_NONE)
        owner = place < file->attr_count ? (uint32_t)place : TV_NONE;
    if (owner != TV_NONE)
        file->attrs[owner].label = label;
    return true;
}

/* simpleperf lists its events as lines "name,type,config". */
static void perf_file_take_event_line(struct tv_perf_data_file *file, struct tv_bytes line)
{
    struct tv_bytes name, type;
    uint64_t kind, config;
    if (!tv_bytes_split(&line, ',', &name) || !tv_bytes_split(&line, ',', &type) ||
        !tv_parse_u64(type, &kind) || !tv_parse_u64(line, &config))
        return;
    for (size_t i = 0; i < file->attr_count; i++)
        if (file->attrs[i].type == kind && file->attrs[i].config == config &&
            kind >= KIND_TRACEPOINT && file->attrs[i].label.length == 0)
            file->attrs[i].label = name;
}

static void perf_file_take_event_lines(struct tv_perf_data_file *file)
{
    struct tv_bytes rest = file->features[TV_PERF_FEATURE_META_INFO], key, value, line;
    while (tv_bytes_split(&rest, 0, &key) && tv_bytes_split(&rest, 0, &value))
        while (tv_bytes_equal(key, TV_BYTES("event_type_info")) && value.length > 0) {
            tv_bytes_split(&value, '\n', &line);
            perf_file_take_event_line(file, line);
        }
}

/* The names of simpleperf first: those of perf's own feature overwrite them. */
void tv_perf_file_name_attrs(struct tv_perf_data_file *file)
{
    struct tv_cursor cursor = tv_cursor_over(file->features[TV_PERF_FEATURE_EVENTS]);
    uint32_t count, attr_size;
    perf_file_take_event_lines(file);
    if (!tv_cursor_take_u32(&cursor, &count) || !tv_cursor_take_u32(&cursor, &attr_size))
        return;
    for (uint32_t i = 0; i < count; i++)
        if (!perf_file_take_label(file, &cursor, attr_size, i))
            break;
}

/* Return the name of a generic event, by the numbers of linux/perf_event.h; NULL for others. */
static const char *perf_attr_base_name(const struct tv_perf_attr *attr)
{
    static const char *const hardware[] = {"cycles",
                                           "instructions",
                                           "cache-references",
                                           "cache-misses",
                                           "branches",
                                           "branch-misses",
                                           "bus-cycles",
                                           "stalled-cycles-frontend",
                                           "stalled-cycles-backend",
                                           "ref-cycles"};
    static const char *const software[] = {
        "cpu-clock",        "task-clock",   "page-faults",  "context-switches",
        "cpu-migrations",   "minor-faults", "major-faults", "alignment-faults",
        "emulation-faults", "dummy",        "bpf-output",   "cgroup-switches"};
    if (attr->type == KIND_HARDWARE && attr->config < TV_COUNT(hardware))
        return hardware[attr->config];
    if (attr->type == KIND_SOFTWARE && attr->config < TV_COUNT(software))
        return software[attr->config];
    return NULL;
}

/* Write the modifiers as perf does: what is counted when something is excluded, the precision, and
 * the host and guest when they are not as usual. */
static void perf_attr_write_modifiers(const struct tv_perf_attr *attr, char *text)
{
    unsigned precise = (unsigned)(attr->flags >> PRECISE_SHIFT) & PRECISE_MASK;
    bool excludes = (attr->flags & (EXCLUDE_USER | EXCLUDE_KERNEL | EXCLUDE_HV)) != 0;
    bool no_guest = (attr->flags & EXCLUDE_GUEST) != 0;
    bool usual = no_guest != (excludes || precise > 0) && !(attr->flags & EXCLUDE_HOST);
    *text++ = ':';
    if (excludes && !(attr->flags & EXCLUDE_KERNEL))
        *text++ = 'k';
    if (excludes && !(attr->flags & EXCLUDE_USER))
        *text++ = 'u';
    if (excludes && !(attr->flags & EXCLUDE_HV))
        *text++ = 'h';
    while (precise-- > 0)
        *text++ = 'p';
    if (!usual && !(attr->flags & EXCLUDE_HOST))
        *text++ = 'H';
    if (!usual && !no_guest)
        *text++ = 'G';
    if (text[-1] == ':')
        text--;
    *text = '\0';
}

size_t tv_perf_attr_name(const struct tv_perf_attr *attr, char *text, size_t size)
{
    char modifiers[16];
    const char *base = perf_attr_base_name(attr);
    int length;
    perf_attr_write_modifiers(attr, modifiers);
    if (attr->label.length > 0)
        length = snprintf(text, size, "%.*s",
                          attr->label.length < size ? (int)attr->label.length : (int)size,
                          (const char *)attr->label.data);
    else if (base)
        length = snprintf(text, size, "%s%s", base, modifiers);
    else
        length = snprintf(text, size, "%s %llu%s",
                          attr->type == KIND_TRACEPOINT ? "tracepoint" : "event",
                          (unsigned long long)attr->config, modifiers);
    assert(length >= 0);
    return (size_t)length < size ? (size_t)length : size - 1;
}
