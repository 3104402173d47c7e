/* SPDX-License-Identifier: Apache-2.0 */
/*
 * block_sketch.c - the sketch of a packed method trace while it is unpacked: block by block, from
 * its beginning.
 *
 * The bytes pass once and are not kept, so this is no reading: nothing is repaired, and bytes that
 * make no sense end the sketch.  A block may end anywhere, so the end of one that is not a whole
 * item (a record, the head of a packet) stands before the next one in `room`:
 *
 *     room: | rest of the block before | up to PIECE bytes of this block |
 *
 * A stage takes one item from the beginning of `room` and returns how many bytes that was; 0 means
 * that the item is not whole yet.  Bytes that say nothing (63 of 64 records, names of methods) are
 * skipped by their count, without being looked at.
 *
 *     START --> TEXT --> HEADER --> RECORDS    versions 1 to 3
 *       |                  ^  |---> STREAM     the same with packets among the records
 *       '------------------'  '---> PACKETS    packet files
 *
 * Any stage may go to END: the rest of the file then adds nothing, and the sketch stays as it is.
 */
#include "readers/method_trace/deliver.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/bytes.h"
#include "base/memory.h"
#include "model/sketch.h"

/* One of this many records goes into the sketch. */
#define MARKED 64

/* Bytes of a block that are looked at together, and the longest rest of those before. */
#define PIECE ((size_t)16384)
#define LONGEST_REST ((size_t)128)

/* The text in which names of threads are looked for; those beyond it have their ids only. */
#define NAMES_SIZE ((size_t)32768)

enum mt_block_stage {
    STAGE_START, /* nothing came yet */
    STAGE_TEXT,  /* within a text header */
    STAGE_HEADER,
    STAGE_RECORDS,
    STAGE_STREAM,
    STAGE_PACKETS,
    STAGE_END, /* nothing that follows is understood */
};

/* A thread with its track in the sketch. */
struct mt_sketched_thread {
    uint32_t tid;
    uint32_t track;
    uint64_t last; /* time of its block of entries before */
};

struct mt_block_notes {
    enum mt_block_stage stage;
    uint16_t version; /* without the streaming bit */
    uint32_t record_size;
    bool knows_size;    /* 0xF2: `record_size` was found among the records */
    uint64_t frequency; /* packets: of the counter of variant C; 0: variant B */
    uint64_t skip;      /* bytes that do not matter, from the first one in `room` */
    unsigned records;   /* of a streaming file, since the last mark */
    size_t name_length;
    uint8_t names[NAMES_SIZE]; /* text with lines of a thread's id, a tab, and its name */
    uint32_t thread_count;
    struct mt_sketched_thread threads[TV_SKETCH_TRACKS];
    size_t length;
    uint8_t room[LONGEST_REST + PIECE];
};

/* ---- Threads ---- */

/* Keep text in which names of threads are looked for, as far as it fits. */
static void mt_block_add_text(struct mt_block_notes *notes, struct tv_bytes text)
{
    size_t left = NAMES_SIZE - notes->name_length;
    size_t length = text.length < left ? text.length : left;
    if (length > 0)
        memcpy(notes->names + notes->name_length, text.data, length);
    notes->name_length += length;
}

/* Keep a name from a packet as a line, as the text header would have it. */
static void mt_block_name_thread(struct mt_block_notes *notes, uint32_t tid, struct tv_bytes name)
{
    char line[TV_SKETCH_NAME + 16];
    int length = snprintf(line, sizeof line, "\n%" PRIu32 "\t%.*s\n", tid,
                          name.length < TV_SKETCH_NAME ? (int)name.length : (int)TV_SKETCH_NAME,
                          (const char *)name.data);
    if (length > 0 && (size_t)length < sizeof line)
        mt_block_add_text(notes, (struct tv_bytes){(const uint8_t *)line, (size_t)length});
}

/* Find the first line break that these bytes follow.  Return its offset, or `bytes.length`. */
static size_t mt_block_find_line(struct tv_bytes bytes, struct tv_bytes start)
{
    const uint8_t *at = bytes.data, *end = bytes.data + bytes.length;
    while ((size_t)(end - at) > start.length && (at = memchr(at, '\n', (size_t)(end - at)))) {
        if (tv_bytes_starts_with((struct tv_bytes){at + 1, (size_t)(end - at) - 1}, start))
            return (size_t)(at - bytes.data);
        at++;
    }
    return bytes.length;
}

/* Return the name of a thread; an empty one if no line has it. */
static struct tv_bytes mt_block_find_name(const struct mt_block_notes *notes, uint32_t tid)
{
    char start[16];
    struct tv_bytes names = {notes->names, notes->name_length}, name;
    int length = snprintf(start, sizeof start, "%" PRIu32 "\t", tid);
    size_t found = mt_block_find_line(names, tv_bytes_of(start));
    if (found == names.length)
        return (struct tv_bytes){notes->names, 0};
    size_t from = found + 1 + (size_t)length;
    struct tv_cursor cursor =
        tv_cursor_over((struct tv_bytes){names.data + from, names.length - from});
    if (!tv_cursor_take_line(&cursor, &name))
        return (struct tv_bytes){notes->names, 0};
    name.length -= name.length > 0 && name.data[name.length - 1] == '\r';
    return name;
}

/* Return the thread with an id, or NULL if the sketch has no track for it. */
static struct mt_sketched_thread *mt_block_find_thread(struct mt_block_notes *notes, uint32_t tid,
                                                       struct tv_sketch *sketch)
{
    char name[TV_SKETCH_NAME + 24];
    for (uint32_t i = 0; i < notes->thread_count; i++)
        if (notes->threads[i].tid == tid)
            return &notes->threads[i];
    if (notes->thread_count == TV_COUNT(notes->threads))
        return NULL;
    struct tv_bytes told = mt_block_find_name(notes, tid);
    snprintf(name, sizeof name, "[%" PRIu32 "] %.*s", tid,
             told.length < TV_SKETCH_NAME ? (int)told.length : (int)TV_SKETCH_NAME,
             (const char *)told.data);
    struct mt_sketched_thread *thread = &notes->threads[notes->thread_count++];
    *thread = (struct mt_sketched_thread){tid, tv_sketch_track(sketch, tv_bytes_of(name)), 0};
    return thread;
}

/* Mark a time in microseconds on the track of a thread; a thread without a track is marked on none.
 */
static void mt_block_mark(struct mt_block_notes *notes, uint32_t tid, uint64_t time,
                          struct tv_sketch *sketch)
{
    struct mt_sketched_thread *thread = mt_block_find_thread(notes, tid, sketch);
    struct tv_sketch_mark mark = {time > INT64_MAX / 1000 ? INT64_MAX : (int64_t)time * 1000,
                                  thread ? thread->track : TV_NONE};
    tv_sketch_add(sketch, &mark, 1);
}

/* ---- Each stage: return the bytes that are done; fewer than that wait for more ---- */

/* Take the text header up to "*end" and its line end.  As much as could be the beginning of that
 * line stays in `room`. */
static size_t mt_block_take_text(struct mt_block_notes *notes, struct tv_bytes bytes)
{
    size_t rest = sizeof TV_MT_SECTION_END - 1;
    size_t found = mt_block_find_line(bytes, TV_BYTES(TV_MT_SECTION_END));
    if (found == bytes.length) {
        size_t done = bytes.length > rest ? bytes.length - rest : 0;
        mt_block_add_text(notes, (struct tv_bytes){bytes.data, done});
        return done;
    }
    mt_block_add_text(notes, (struct tv_bytes){bytes.data, found});
    const uint8_t *line = memchr(bytes.data + found + 1, '\n', bytes.length - found - 1);
    if (!line)
        return found;
    notes->stage = STAGE_HEADER;
    return (size_t)(line + 1 - bytes.data);
}

/* Choose the stage that follows a data header. */
static enum mt_block_stage mt_block_stage_of(const struct mt_block_notes *notes, uint16_t version)
{
    if (notes->version >= TV_MT_PACKETS_1)
        return STAGE_PACKETS;
    return tv_mt_is_streaming(version) ? STAGE_STREAM : STAGE_RECORDS;
}

/* Take the data header.  It says which stage follows and where that begins. */
static size_t mt_block_take_header(struct mt_block_notes *notes, struct tv_bytes bytes)
{
    if (bytes.length < TV_MT_HEADER_SIZE)
        return 0;
    struct tv_mt_header header = tv_mt_get_header(bytes.data);
    notes->version = tv_mt_plain_version(header.version);
    notes->record_size = tv_mt_record_size(notes->version);
    if (notes->version == TV_MT_V3 && header.record_size > notes->record_size)
        notes->record_size = header.record_size;
    notes->stage = mt_block_stage_of(notes, header.version);
    notes->knows_size = notes->version != TV_MT_V2;
    if (!tv_bytes_starts_with(bytes, TV_BYTES(TV_MT_MAGIC_TEXT)) ||
        notes->version > TV_MT_PACKETS_2 || notes->record_size > LONGEST_REST)
        notes->stage = STAGE_END;
    if (notes->stage == STAGE_PACKETS)
        notes->frequency = tv_le_get_u64(bytes.data + TV_MT_PACKET_HEADER_FREQUENCY);
    else if (header.data_offset > TV_MT_HEADER_SIZE)
        notes->skip = header.data_offset - TV_MT_HEADER_SIZE;
    return TV_MT_HEADER_SIZE;
}

/* Mark a record.  Its first bytes are the thread, one in version 1 and two later; the time follows
 * after the method, in version 3 after the CPU time. */
static void mt_block_mark_record(struct mt_block_notes *notes, const uint8_t *at,
                                 struct tv_sketch *sketch)
{
    uint32_t tid = notes->version == TV_MT_V1 ? at[0] : tv_le_get_u16(at);
    unsigned time = notes->version == TV_MT_V1 ? 5 : notes->version == TV_MT_V2 ? 6 : 10;
    mt_block_mark(notes, tid, tv_le_get_u32(at + time), sketch);
}

/* Mark one record, and skip those up to the next that is marked. */
static size_t mt_block_take_records(struct mt_block_notes *notes, struct tv_bytes bytes,
                                    struct tv_sketch *sketch)
{
    if (bytes.length < notes->record_size)
        return 0;
    mt_block_mark_record(notes, bytes.data, sketch);
    notes->skip = (uint64_t)notes->record_size * (MARKED - 1);
    return notes->record_size;
}

/* Take a packet among the records of a streaming file. */
static size_t mt_block_take_stream_packet(struct mt_block_notes *notes, struct tv_bytes bytes)
{
    uint8_t op = bytes.data[2];
    size_t head = op == TV_MT_STREAM_METHOD ? TV_MT_STREAM_METHOD_HEAD : TV_MT_STREAM_THREAD_HEAD;
    uint32_t length = tv_le_get_u16(bytes.data + head - 2);
    if (op != TV_MT_STREAM_METHOD && op != TV_MT_STREAM_THREAD) {
        notes->stage = STAGE_END;
        return bytes.length;
    }
    size_t needed = length < TV_SKETCH_NAME ? length : TV_SKETCH_NAME;
    if (op == TV_MT_STREAM_METHOD)
        needed = 0;
    if (bytes.length - head < needed)
        return 0;
    if (op == TV_MT_STREAM_THREAD)
        mt_block_name_thread(notes, tv_le_get_u16(bytes.data + 3),
                             (struct tv_bytes){bytes.data + head, needed});
    notes->skip = length;
    return head;
}

/* Return how far the items of a stream make sense if its records have this size. */
static size_t mt_block_follow_stream(const struct mt_block_notes *notes, struct tv_bytes bytes,
                                     size_t record_size)
{
    size_t at = 0;
    while (at < bytes.length && bytes.length - at >= TV_MT_STREAM_THREAD_HEAD) {
        const uint8_t *item = bytes.data + at;
        uint16_t tid = tv_le_get_u16(item);
        if (tid != TV_MT_STREAM_ESCAPE && mt_block_find_name(notes, tid).length > 0)
            at += record_size;
        else if (tid == TV_MT_STREAM_ESCAPE && item[2] == TV_MT_STREAM_METHOD)
            at += TV_MT_STREAM_METHOD_HEAD + (size_t)tv_le_get_u16(item + 3);
        else
            break;
    }
    return at;
}

/* Find the size of the records of 0xF2: 10 bytes as the header says, or 14 (stream.c). */
static void mt_block_find_size(struct mt_block_notes *notes, struct tv_bytes bytes)
{
    size_t padded = mt_block_follow_stream(notes, bytes, TV_MT_RECORD_SIZE_V3);
    if (padded > mt_block_follow_stream(notes, bytes, notes->record_size))
        notes->record_size = TV_MT_RECORD_SIZE_V3;
    notes->knows_size = true;
}

/* Take a record or a packet of a streaming file.  Packets are found only by walking all items, so
 * records are not skipped at once. */
static size_t mt_block_take_stream(struct mt_block_notes *notes, struct tv_bytes bytes,
                                   struct tv_sketch *sketch)
{
    if (bytes.length < notes->record_size)
        return 0;
    if (tv_le_get_u16(bytes.data) == TV_MT_STREAM_ESCAPE)
        return mt_block_take_stream_packet(notes, bytes);
    if (!notes->knows_size && bytes.length < LONGEST_REST)
        return 0;
    if (!notes->knows_size)
        mt_block_find_size(notes, bytes);
    if (notes->records++ % MARKED == 0)
        mt_block_mark_record(notes, bytes.data, sketch);
    return notes->record_size;
}

/* Return the microseconds of a stamp of variant C: ticks, and the action in the lowest bits. */
static uint64_t mt_block_scale(const struct mt_block_notes *notes, int64_t stamp)
{
    double us = stamp < 0 ? 0 : (double)(stamp >> 2) * 1e6 / (double)notes->frequency;
    return us < (double)INT64_MAX ? (uint64_t)us : INT64_MAX;
}

/* Mark the first entry of a block.  Its time counts from zero, or from the end of the thread's
 * block before: then it is a small step, and the start of that block is near enough. */
static void mt_block_mark_entries(struct mt_block_notes *notes, struct tv_bytes head,
                                  struct tv_sketch *sketch)
{
    struct tv_cursor cursor = tv_cursor_over((struct tv_bytes){
        head.data + TV_MT_PACKET_ENTRIES_HEAD - 1, head.length - (TV_MT_PACKET_ENTRIES_HEAD - 1)});
    uint32_t tid = tv_le_get_u32(head.data);
    struct mt_sketched_thread *thread = mt_block_find_thread(notes, tid, sketch);
    int64_t word;
    uint64_t time;
    if (!thread || !tv_cursor_take_sleb(&cursor, &word))
        return;
    if (notes->frequency != 0)
        time = mt_block_scale(notes, word);
    else if (!tv_cursor_take_uleb(&cursor, &time))
        return;
    thread->last = time >= thread->last ? time : thread->last;
    mt_block_mark(notes, tid, thread->last, sketch);
}

/* Return the size of a packet's head, with its first byte; 0 for a type that has none. */
static size_t mt_block_packet_head(uint8_t type)
{
    return type == TV_MT_PACKET_THREAD    ? TV_MT_PACKET_THREAD_HEAD
           : type == TV_MT_PACKET_METHOD  ? TV_MT_PACKET_METHOD_HEAD
           : type == TV_MT_PACKET_ENTRIES ? TV_MT_PACKET_ENTRIES_HEAD
                                          : 0;
}

/* Take the head of a packet with as much of its contents as is needed; the rest is skipped. */
static size_t mt_block_take_packet(struct mt_block_notes *notes, struct tv_bytes bytes,
                                   struct tv_sketch *sketch)
{
    uint8_t type = bytes.data[0];
    size_t head = mt_block_packet_head(type);
    if (head == 0) { /* the summary, which is the last packet, or damage */
        notes->stage = STAGE_END;
        return bytes.length;
    }
    if (bytes.length < head)
        return 0;
    uint32_t length = type == TV_MT_PACKET_ENTRIES ? tv_le_get_u32(bytes.data + head - 4)
                                                   : tv_le_get_u16(bytes.data + head - 2);
    size_t needed = type == TV_MT_PACKET_METHOD ? 0 : TV_SKETCH_NAME;
    needed = length < needed ? length : needed;
    if (bytes.length - head < needed)
        return 0;
    if (type == TV_MT_PACKET_THREAD)
        mt_block_name_thread(notes, tv_le_get_u32(bytes.data + 1),
                             (struct tv_bytes){bytes.data + head, needed});
    if (type == TV_MT_PACKET_ENTRIES)
        mt_block_mark_entries(notes, (struct tv_bytes){bytes.data + 1, head - 1 + needed}, sketch);
    notes->skip = length;
    return head;
}

/* Take one item in the stage of the notes. */
static size_t mt_block_take(struct mt_block_notes *notes, struct tv_bytes bytes,
                            struct tv_sketch *sketch)
{
    switch (notes->stage) {
    case STAGE_START:
        notes->stage = tv_bytes_starts_with(bytes, TV_BYTES(TV_MT_SECTION_VERSION)) ? STAGE_TEXT
                                                                                    : STAGE_HEADER;
        return 0;
    case STAGE_TEXT:
        return mt_block_take_text(notes, bytes);
    case STAGE_HEADER:
        return mt_block_take_header(notes, bytes);
    case STAGE_RECORDS:
        return mt_block_take_records(notes, bytes, sketch);
    case STAGE_STREAM:
        return mt_block_take_stream(notes, bytes, sketch);
    case STAGE_PACKETS:
        return mt_block_take_packet(notes, bytes, sketch);
    default:
        return bytes.length;
    }
}

/* Take as many items of `room` as are there, and move the rest to its beginning. */
static void mt_block_take_room(struct mt_block_notes *notes, struct tv_sketch *sketch)
{
    size_t at = 0, done = 1;
    while (done > 0 && at < notes->length) {
        enum mt_block_stage stage = notes->stage;
        size_t left = notes->length - at;
        size_t skipped = notes->skip < left ? (size_t)notes->skip : left;
        notes->skip -= skipped;
        at += skipped;
        if (notes->skip > 0 || at == notes->length)
            break;
        done =
            mt_block_take(notes, (struct tv_bytes){notes->room + at, notes->length - at}, sketch);
        at += done;
        done += notes->stage != stage;
    }
    notes->length -= at;
    if (notes->length > LONGEST_REST) { /* only a line of the text header is that long */
        notes->stage = STAGE_END;
        notes->length = 0;
    }
    memmove(notes->room, notes->room + at, notes->length);
}

void tv_mt_block_sketch(struct tv_bytes block, struct tv_sketch *sketch, void **kept)
{
    assert(block.data && sketch && kept);
    if (!*kept)
        *kept = tv_alloc(1, sizeof(struct mt_block_notes));
    struct mt_block_notes *notes = *kept;
    for (size_t at = 0; at < block.length;) {
        size_t size = block.length - at < PIECE ? block.length - at : PIECE;
        memcpy(notes->room + notes->length, block.data + at, size);
        notes->length += size;
        mt_block_take_room(notes, sketch);
        at += size;
    }
}
