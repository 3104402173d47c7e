/* SPDX-License-Identifier: Apache-2.0 */
/*
 * data_record.c - one record of a perf.data file.
 *
 *     u32 type | u16 misc | u16 size, counts itself | fields by type | sample_id
 *
 * A sample has those of the fields that sample_type of its attribute has a bit for, in this order:
 *
 *     IDENTIFIER, IP, TID (u32 pid, u32 tid), TIME, ADDRESS, ID, STREAM, CPU (u32, u32), PERIOD,
 *     READ (several), CHAIN (u64 count, addresses), RAW (u32 size, bytes), and more, not read
 *
 * To know the fields, the attribute must be known; to know the attribute, its id must be read. With
 * several attributes IDENTIFIER, or ID behind the same fields in all of them, breaks the circle.
 * All other records have the fields TID, TIME, ID, STREAM, CPU, IDENTIFIER at their end, if the
 * attribute has sample_id_all: so they are found from the end.
 *
 * perf_event_open(2) specifies all of this. A record whose fields do not fit is refused as a whole.
 */
#include "readers/perf/perf_data.h"

#include <assert.h>

#define HEADER_SIZE 8
#define MODE_MASK 7 /* of misc: enum tv_perf_mode */
#define SAMPLE_ID_ALL (UINT64_C(1) << 18)

/* Bits of tv_perf_attr.read_format. */
enum { READ_ENABLED = 1, READ_RUNNING = 2, READ_ID = 4, READ_GROUP = 8, READ_LOST = 16 };

/* Marks in a chain: the code of which the next addresses are. */
#define CONTEXT_HYPERVISOR ((uint64_t)-32)
#define CONTEXT_KERNEL ((uint64_t)-128)
#define CONTEXT_USER ((uint64_t)-512)
#define CONTEXT_GUEST_KERNEL ((uint64_t)-2176)
#define CONTEXT_GUEST_USER ((uint64_t)-2560)

enum tv_perf_mode tv_perf_context_mode(uint64_t context, enum tv_perf_mode before)
{
    switch (context) {
    case CONTEXT_HYPERVISOR:
        return TV_PERF_MODE_HYPERVISOR;
    case CONTEXT_KERNEL:
        return TV_PERF_MODE_KERNEL;
    case CONTEXT_USER:
        return TV_PERF_MODE_USER;
    case CONTEXT_GUEST_KERNEL:
        return TV_PERF_MODE_GUEST_KERNEL;
    case CONTEXT_GUEST_USER:
        return TV_PERF_MODE_GUEST_USER;
    default:
        return before;
    }
}

/* Return the number of bytes that follow a record without being counted in its size. */
static uint64_t perf_size_behind(const struct tv_perf_raw *record)
{
    struct tv_cursor cursor = tv_cursor_over(record->payload);
    uint32_t size;
    uint64_t long_size;
    if (record->type == TV_PERF_TRACING_DATA && tv_cursor_take_u32(&cursor, &size))
        return ((uint64_t)size + 7) / 8 * 8;
    if (record->type == TV_PERF_AUXTRACE && tv_cursor_take_u64(&cursor, &long_size))
        return long_size;
    return 0;
}

bool tv_perf_take_record(const struct tv_perf_data_file *file, struct tv_cursor *cursor,
                         struct tv_perf_raw *record, bool *cut)
{
    struct tv_cursor inside = *cursor;
    uint16_t low;
    *cut = tv_cursor_left(cursor) > 0;
    if (!tv_cursor_take_u32(&inside, &record->type) ||
        !tv_cursor_take_u16(&inside, &record->misc) || !tv_cursor_take_u16(&inside, &low))
        return false;
    /* simpleperf has the upper half of the size in misc. */
    uint64_t size = low;
    if (record->type >= TV_PERF_OF_SIMPLEPERF)
        size |= (uint64_t)record->misc << 16;
    record->offset = (uint64_t)(cursor->at - file->bytes.data);
    if (size < HEADER_SIZE || size - HEADER_SIZE > tv_cursor_left(&inside) ||
        !tv_cursor_take_bytes(&inside, (size_t)size - HEADER_SIZE, &record->payload))
        return false;
    uint64_t behind = perf_size_behind(record);
    if (behind > tv_cursor_left(&inside) ||
        !tv_cursor_take_bytes(&inside, (size_t)behind, &record->behind))
        return false;
    *cursor = inside;
    *cut = false;
    return true;
}

/* ---- Samples ---- */

/* Take the fields of a "read": one counter, or a group of them with their number in front. */
static bool perf_take_read(struct tv_cursor *cursor, uint64_t format, struct tv_bytes *read)
{
    struct tv_cursor ahead = *cursor;
    uint64_t counters = 1, words = 0, each = 1;
    if ((format & READ_GROUP) && !tv_cursor_take_u64(&ahead, &counters))
        return false;
    if (counters > tv_cursor_left(&ahead) / 8)
        return false;
    each += (format & READ_ID) != 0;
    each += (format & READ_LOST) != 0;
    words += (format & READ_GROUP) != 0;
    words += (format & READ_ENABLED) != 0;
    words += (format & READ_RUNNING) != 0;
    words += counters * each;
    return words <= tv_cursor_left(cursor) / 8 &&
           tv_cursor_take_bytes(cursor, (size_t)words * 8, read);
}

bool tv_perf_read_begin(const struct tv_perf_sample *sample, struct tv_perf_read *read)
{
    uint64_t format = sample->attr->read_format, value;
    *read = (struct tv_perf_read){.format = format, .cursor = tv_cursor_over(sample->read)};
    if (sample->read.length == 0)
        return false;
    /* The times stand before the counters of a group, but after the value of one alone. */
    struct tv_cursor ahead = read->cursor;
    read->count = 1;
    if (!tv_cursor_take_u64(&ahead, format & READ_GROUP ? &read->count : &value) ||
        ((format & READ_ENABLED) && !tv_cursor_take_u64(&ahead, &read->enabled)) ||
        ((format & READ_RUNNING) && !tv_cursor_take_u64(&ahead, &read->running)))
        return false;
    if (format & READ_GROUP)
        read->cursor = ahead;
    return (format & READ_ID) != 0;
}

bool tv_perf_read_next(struct tv_perf_read *read, struct tv_perf_counter *counter)
{
    uint64_t format = read->format, skipped;
    bool alone = !(format & READ_GROUP);
    *counter = (struct tv_perf_counter){.value = 0};
    if (read->count == 0)
        return false;
    read->count--;
    return tv_cursor_take_u64(&read->cursor, &counter->value) &&
           (!alone || !(format & READ_ENABLED) || tv_cursor_take_u64(&read->cursor, &skipped)) &&
           (!alone || !(format & READ_RUNNING) || tv_cursor_take_u64(&read->cursor, &skipped)) &&
           tv_cursor_take_u64(&read->cursor, &counter->id) &&
           (!(format & READ_LOST) || tv_cursor_take_u64(&read->cursor, &counter->lost));
}

/* Take a 64-bit field when the type of the samples has it. */
static bool perf_take_field(struct tv_cursor *cursor, uint64_t type, uint64_t bit, uint64_t *value)
{
    return !(type & bit) || tv_cursor_take_u64(cursor, value);
}

/* Take the addresses of a chain, with the marks among them. */
static bool perf_take_chain(struct tv_cursor *cursor, struct tv_bytes *chain)
{
    uint64_t count;
    return tv_cursor_take_u64(cursor, &count) && count <= tv_cursor_left(cursor) / 8 &&
           tv_cursor_take_bytes(cursor, (size_t)count * 8, chain);
}

/* Take the raw data of a tracepoint.  The rest of a sample may be damaged without harm. */
static void perf_take_raw(struct tv_cursor *cursor, uint64_t type, struct tv_bytes *raw)
{
    uint32_t size;
    if (!(type & TV_PERF_HAS_RAW))
        return;
    if (!tv_cursor_take_u32(cursor, &size) || !tv_cursor_take_bytes(cursor, size, raw))
        raw->length = 0;
}

/* Find the attribute of a record by its id, which is at a fixed place when there are several.
 */
static uint32_t perf_find_attr(const struct tv_perf_data_file *file, uint64_t id)
{
    uint32_t attr = tv_map_find(&file->ids, id);
    return attr == TV_NONE ? 0 : attr;
}

/* Return where the id is in a sample without an identifier: after the fields before it. */
static size_t perf_id_place(uint64_t type)
{
    size_t place = 0;
    for (uint64_t bit = TV_PERF_HAS_IP; bit <= TV_PERF_HAS_ADDRESS; bit <<= 1)
        if (type & bit)
            place += 8;
    return place;
}

/* Return the number of the attribute of a sample. */
static uint32_t perf_attr_of_sample(const struct tv_perf_data_file *file, struct tv_bytes payload)
{
    uint64_t type = file->attrs[0].sample_type, id;
    struct tv_cursor cursor = tv_cursor_over(payload);
    struct tv_bytes before;
    if (file->attr_count < 2)
        return 0;
    if (!(type & TV_PERF_HAS_IDENTIFIER) &&
        (!(type & TV_PERF_HAS_ID) || !tv_cursor_take_bytes(&cursor, perf_id_place(type), &before)))
        return 0;
    return tv_cursor_take_u64(&cursor, &id) ? perf_find_attr(file, id) : 0;
}

/* A period that is not recorded is 1; the caller knows attributes with a fixed one. */
bool tv_perf_parse_sample(const struct tv_perf_data_file *file, const struct tv_perf_raw *record,
                          struct tv_perf_sample *sample)
{
    struct tv_cursor cursor = tv_cursor_over(record->payload);
    uint64_t ids = 0, skipped = 0, cpu = TV_NONE;
    if (file->attr_count == 0)
        return false;
    uint32_t event = perf_attr_of_sample(file, record->payload);
    const struct tv_perf_attr *attr = &file->attrs[event];
    uint64_t type = attr->sample_type;
    *sample = (struct tv_perf_sample){
        .attr = attr,
        .event = event,
        .period = 1,
        .mode = (enum tv_perf_mode)(record->misc & MODE_MASK),
        .has_ip = (type & TV_PERF_HAS_IP) != 0,
        .has_time = (type & TV_PERF_HAS_TIME) != 0,
        .has_stack = (type & TV_PERF_HAS_STACK) != 0,
        .read = {record->payload.data, 0},
        .chain = {record->payload.data, 0},
        .raw = {record->payload.data, 0},
    };
    if (!perf_take_field(&cursor, type, TV_PERF_HAS_IDENTIFIER, &skipped) ||
        !perf_take_field(&cursor, type, TV_PERF_HAS_IP, &sample->ip) ||
        !perf_take_field(&cursor, type, TV_PERF_HAS_TID, &ids) ||
        !perf_take_field(&cursor, type, TV_PERF_HAS_TIME, &sample->time) ||
        !perf_take_field(&cursor, type, TV_PERF_HAS_ADDRESS, &skipped) ||
        !perf_take_field(&cursor, type, TV_PERF_HAS_ID, &skipped) ||
        !perf_take_field(&cursor, type, TV_PERF_HAS_STREAM, &skipped) ||
        !perf_take_field(&cursor, type, TV_PERF_HAS_CPU, &cpu) ||
        !perf_take_field(&cursor, type, TV_PERF_HAS_PERIOD, &sample->period) ||
        ((type & TV_PERF_HAS_READ) && !perf_take_read(&cursor, attr->read_format, &sample->read)) ||
        ((type & TV_PERF_HAS_CHAIN) && !perf_take_chain(&cursor, &sample->chain)))
        return false;
    perf_take_raw(&cursor, type, &sample->raw);
    sample->pid = (uint32_t)ids;
    sample->tid = (uint32_t)(ids >> 32);
    sample->cpu = (uint32_t)cpu;
    return true;
}

/* ---- Other records ---- */

/* Return the bytes of a field counted from the end of a record: those that samples have of the
 * same event are after every record. */
static size_t perf_time_from_end(uint64_t type)
{
    static const uint64_t behind[] = {TV_PERF_HAS_TIME, TV_PERF_HAS_ID, TV_PERF_HAS_STREAM,
                                      TV_PERF_HAS_CPU, TV_PERF_HAS_IDENTIFIER};
    size_t place = 0;
    for (size_t i = 0; i < TV_COUNT(behind); i++)
        if (type & behind[i])
            place += 8;
    return place;
}

uint64_t tv_perf_record_time(const struct tv_perf_data_file *file, const struct tv_perf_raw *record)
{
    struct tv_perf_sample sample;
    uint64_t time = 0;
    if (record->type == TV_PERF_SAMPLE)
        return tv_perf_parse_sample(file, record, &sample) ? sample.time : 0;
    if (record->type >= TV_PERF_OF_PERF || file->attr_count == 0)
        return 0;
    const struct tv_perf_attr *attr = &file->attrs[0];
    size_t place = perf_time_from_end(attr->sample_type);
    if (!(attr->flags & SAMPLE_ID_ALL) || !(attr->sample_type & TV_PERF_HAS_TIME) ||
        place > record->payload.length)
        return 0;
    struct tv_cursor cursor = tv_cursor_over(
        (struct tv_bytes){record->payload.data + record->payload.length - place, place});
    return tv_cursor_take_u64(&cursor, &time) ? time : 0;
}

bool tv_perf_record_thread(const struct tv_perf_data_file *file, const struct tv_perf_raw *record,
                           uint32_t *pid, uint32_t *tid)
{
    if (file->attr_count == 0)
        return false;
    const struct tv_perf_attr *attr = &file->attrs[0];
    size_t place = perf_time_from_end(attr->sample_type) + 8; /* the ids are before the time */
    if (!(attr->flags & SAMPLE_ID_ALL) || !(attr->sample_type & TV_PERF_HAS_TID) ||
        place > record->payload.length)
        return false;
    struct tv_cursor cursor = tv_cursor_over(
        (struct tv_bytes){record->payload.data + record->payload.length - place, place});
    return tv_cursor_take_u32(&cursor, pid) && tv_cursor_take_u32(&cursor, tid);
}

/* Bytes of MMAP2 between the offset and the path: device and inode, or a build id; protection. */
#define MMAP2_MORE 32
#define MMAP2_HAS_BUILD_ID (1u << 14) /* of misc */
#define MMAP2_BUILD_ID_MAX 20

/* The size of the build ID in one byte, three bytes of nothing, and the ID. */
static struct tv_bytes perf_map_build_id(const struct tv_perf_raw *record, struct tv_bytes more)
{
    struct tv_bytes id = {more.data + 4, more.data[0]};
    if (!(record->misc & MMAP2_HAS_BUILD_ID) || id.length > MMAP2_BUILD_ID_MAX)
        id.length = 0;
    return id;
}

bool tv_perf_parse_map(const struct tv_perf_raw *record, struct tv_perf_map *map)
{
    struct tv_cursor cursor = tv_cursor_over(record->payload);
    struct tv_bytes more = {record->payload.data, 0}, path;
    uint32_t tid;
    if (!tv_cursor_take_u32(&cursor, &map->pid) || !tv_cursor_take_u32(&cursor, &tid) ||
        !tv_cursor_take_u64(&cursor, &map->start) || !tv_cursor_take_u64(&cursor, &map->length) ||
        !tv_cursor_take_u64(&cursor, &map->page_offset) ||
        (record->type == TV_PERF_MMAP2 && !tv_cursor_take_bytes(&cursor, MMAP2_MORE, &more)) ||
        !tv_cursor_take_bytes(&cursor, tv_cursor_left(&cursor), &path))
        return false;
    map->path = tv_perf_text(path);
    map->build_id = more.length > 0 ? perf_map_build_id(record, more) : more;
    return map->length <= UINT64_MAX - map->start;
}
