/* SPDX-License-Identifier: Apache-2.0 */
/*
 * records.c - decoding records of all layouts, one batch at a time.
 *
 *     fixed, version 1    u8 tid   u32 word   u32 time                  9 bytes
 *     fixed, version 2    u16 tid  u32 word   u32 time                 10
 *     fixed, version 3    u16 tid  u32 word   u32 cpu   u32 wall       14
 *                         word: method | action (two low bits); times in microseconds
 *     delta B             sleb word, uleb wall, uleb cpu     differences to the entry before
 *     delta C             sleb time << 2 | action, [sleb cpu], sleb id if it is an entry
 *     long-running        sleb time << 1 | exit, sleb id if it is an entry
 *
 * Delta-coded entries belong to a unit: a block of one thread. The sums that they count from
 * (`last`) start at 0, or at a base that an earlier block of the thread has left.
 *
 * Sums wrap around as those of the writer do; a time that is negative or beyond the limit is set
 * to the limit here, so no later code has to look. An undefined action (3) is diagnosed and the
 * record left out. A block whose entries cannot be decoded is left at that place.
 */
#include "readers/method_trace/records.h"

#include <assert.h>

#include "base/bytes.h"
#include "readers/reader.h"

#define NS_PER_SECOND ((uint64_t)1000000000)

/* Longest delta-coded record: three numbers of ten bytes. */
#define LONGEST_DELTA_RECORD 30

void tv_mt_records_init(struct tv_mt_records *records, struct tv_mt_file *file,
                        struct tv_diagnostics *diagnostics)
{
    records->file = file;
    records->diagnostics = diagnostics;
    records->count = 0;
    tv_window_init(&records->window, file->source);
    tv_mt_records_seek(records, 0);
}

void tv_mt_records_release(struct tv_mt_records *records)
{
    tv_window_release(&records->window);
}

/* Go to the begin of a unit; one past the last is the end. */
void tv_mt_records_seek(struct tv_mt_records *records, size_t unit)
{
    const struct tv_mt_file *file = records->file;
    uint32_t base = unit < file->unit_count ? file->units[unit].base : TV_NONE;
    records->unit = unit;
    records->done = 0;
    records->last = base == TV_NONE ? (struct tv_mt_delta_base){0} : file->delta.bases[base];
}

enum tv_status tv_mt_records_add_progress(struct tv_mt_file *file, uint64_t bytes, uint64_t count,
                                          struct tv_error *err)
{
    struct tv_progress *progress = file->progress;
    atomic_fetch_add_explicit(&progress->bytes, bytes, memory_order_relaxed);
    if (count > 0)
        atomic_fetch_add_explicit(&progress->records, count, memory_order_relaxed);
    return tv_reader_check_cancel(progress, err);
}

static void mt_records_warn(struct tv_mt_records *records, enum tv_diagnostic_kind kind,
                            uint64_t at)
{
    if (records->diagnostics)
        tv_diagnostics_add(records->diagnostics, kind, at);
}

/* ---- Records of one size ---- */

/* Decode a record of one size. Longer ones than the version needs have unknown bytes at their end.
 */
static struct tv_mt_record mt_records_decode_fixed(const struct tv_mt_file *file, const uint8_t *at)
{
    bool short_tid = file->version == TV_MT_V1;
    uint32_t tid = short_tid ? at[0] : tv_le_get_u16(at);
    at += short_tid ? 1 : 2;
    uint32_t word = tv_le_get_u32(at);
    uint32_t first = tv_le_get_u32(at + 4);
    struct tv_mt_record record = {
        .id = tv_mt_word_method(word),
        .tid = tid,
        .action = tv_mt_word_action(word),
    };
    if (file->version == TV_MT_V3) {
        record.cpu = first;
        record.wall = tv_le_get_u32(at + 8);
    } else if (file->clocks == TV_CLOCK_WALL) {
        record.wall = first;
    } else {
        record.cpu = first;
    }
    return record;
}

/* Decode whole records of the bytes, at most a batch. */
static void mt_records_take_fixed(struct tv_mt_records *records, struct tv_bytes bytes,
                                  uint64_t offset)
{
    assert(records->count == 0 && records->file->record_size > 0);
    const struct tv_mt_file *file = records->file;
    size_t size = file->record_size, most = bytes.length / size;
    if (most > TV_COUNT(records->records))
        most = TV_COUNT(records->records);
    for (size_t i = 0; i < most; i++, offset += size) {
        struct tv_mt_record record = mt_records_decode_fixed(file, bytes.data + i * size);
        record.offset = offset;
        if (record.action == TV_MT_ACTION_UNDEFINED)
            mt_records_warn(records, TV_DIAGNOSTIC_BAD_ACTION, offset);
        else
            records->records[records->count++] = record;
    }
    records->done += most * size;
}

/* ---- Delta-coded entries ---- */

static int64_t mt_limit_time(uint64_t time)
{
    return time > (uint64_t)TV_MT_TIME_LIMIT ? TV_MT_TIME_LIMIT : (int64_t)time;
}

/* Convert ticks of the processor's counter to nanoseconds; without a frequency they are the unit of
 * the file already. */
int64_t tv_mt_records_scale(const struct tv_mt_file *file, uint64_t ticks)
{
    uint64_t frequency = file->delta.frequency;
    if (frequency == 0)
        return mt_limit_time(ticks);
    uint64_t seconds = ticks / frequency, rest = ticks % frequency;
    if (seconds > (uint64_t)TV_MT_TIME_LIMIT / NS_PER_SECOND)
        return TV_MT_TIME_LIMIT;
    /* Avoid overflow for frequencies above 16 GHz, which no counter has; this costs precision. */
    while (rest > UINT64_MAX / NS_PER_SECOND) {
        rest >>= 1;
        frequency >>= 1;
    }
    return mt_limit_time(seconds * NS_PER_SECOND + rest * NS_PER_SECOND / frequency);
}

/* Add a signed delta. Sums wrap around like those of the writer. */
static bool mt_records_add_sleb(struct tv_cursor *cursor, uint64_t *sum)
{
    int64_t delta;
    if (!tv_cursor_take_sleb(cursor, &delta))
        return false;
    *sum += (uint64_t)delta;
    return true;
}

static bool mt_records_add_uleb(struct tv_cursor *cursor, uint64_t *sum)
{
    uint64_t delta;
    if (!tv_cursor_take_uleb(cursor, &delta))
        return false;
    *sum += delta;
    return true;
}

/* Return the time in a sum whose low bits hold something else. No time is before 0. */
static int64_t mt_records_stamp_time(const struct tv_mt_file *file, uint64_t stamp, unsigned bits)
{
    uint64_t ticks = stamp > INT64_MAX ? 0 : stamp >> bits;
    return tv_mt_records_scale(file, ticks) - file->delta.origin;
}

/* Take an entry of variant B: the word has the id and the action, as in fixed records. */
static bool mt_records_take_variant_b(struct tv_mt_records *records, struct tv_cursor *cursor,
                                      struct tv_mt_record *record)
{
    unsigned clocks = records->file->clocks;
    struct tv_mt_delta_base *last = &records->last;
    if (!mt_records_add_sleb(cursor, &last->word) ||
        ((clocks & TV_CLOCK_WALL) && !mt_records_add_uleb(cursor, &last->wall)) ||
        ((clocks & TV_CLOCK_CPU) && !mt_records_add_uleb(cursor, &last->cpu)))
        return false;
    record->id = last->word & ~(uint64_t)TV_MT_ACTION_MASK;
    record->action = (uint32_t)last->word & TV_MT_ACTION_MASK;
    record->wall = mt_limit_time(last->wall);
    record->cpu = mt_limit_time(last->cpu);
    return true;
}

/* Take an entry of variant C. `wall` holds the time with the action in its low bits, `word` the
 * id that was entered last. */
static bool mt_records_take_variant_c(struct tv_mt_records *records, struct tv_cursor *cursor,
                                      struct tv_mt_record *record)
{
    const struct tv_mt_file *file = records->file;
    struct tv_mt_delta_base *last = &records->last;
    if (!mt_records_add_sleb(cursor, &last->wall) ||
        (file->version == TV_MT_PACKETS_2 && !mt_records_add_sleb(cursor, &last->cpu)))
        return false;
    record->action = (uint32_t)last->wall & TV_MT_ACTION_MASK;
    if (record->action == TV_MT_ENTER && !mt_records_add_sleb(cursor, &last->word))
        return false;
    int64_t time = mt_records_stamp_time(file, last->wall, 2);
    record->id = record->action == TV_MT_ENTER ? last->word : TV_MT_NO_ID;
    record->wall = file->clocks & TV_CLOCK_WALL ? time : 0;
    record->cpu = mt_limit_time((int64_t)last->cpu < 0 ? 0 : last->cpu);
    if (file->clocks == TV_CLOCK_CPU)
        record->cpu = time;
    return true;
}

/* Take an entry of a dump of long-running methods. An exit ends the innermost call. */
static bool mt_records_take_long_running(struct tv_mt_records *records, struct tv_cursor *cursor,
                                         struct tv_mt_record *record)
{
    struct tv_mt_delta_base *last = &records->last;
    if (!mt_records_add_sleb(cursor, &last->wall))
        return false;
    record->action = last->wall & 1 ? TV_MT_EXIT : TV_MT_ENTER;
    if (record->action == TV_MT_ENTER && !mt_records_add_sleb(cursor, &last->word))
        return false;
    record->id = record->action == TV_MT_ENTER ? last->word : TV_MT_NO_ID;
    record->wall = mt_records_stamp_time(records->file, last->wall, 1);
    return true;
}

static bool mt_records_take_delta(struct tv_mt_records *records, struct tv_cursor *cursor,
                                  struct tv_mt_record *record)
{
    switch (records->file->layout) {
    case TV_MT_DELTA_B:
        return mt_records_take_variant_b(records, cursor, record);
    case TV_MT_DELTA_C:
        return mt_records_take_variant_c(records, cursor, record);
    default:
        return mt_records_take_long_running(records, cursor, record);
    }
}

/* Decode entries of the bytes, at most a batch. While more bytes of the unit follow, the last ones
 * wait for them: an entry may be cut in two there. */
static void mt_records_take_deltas(struct tv_mt_records *records, struct tv_bytes bytes,
                                   uint64_t offset)
{
    const struct tv_mt_unit *unit = &records->file->units[records->unit];
    bool all = records->done + bytes.length == unit->size;
    struct tv_cursor cursor = tv_cursor_over(bytes);
    size_t taken = 0;
    while (records->count < TV_COUNT(records->records) && tv_cursor_left(&cursor) > 0 &&
           (all || tv_cursor_left(&cursor) >= LONGEST_DELTA_RECORD)) {
        struct tv_mt_record record = {.tid = unit->tid, .offset = offset + taken};
        if (!mt_records_take_delta(records, &cursor, &record)) {
            /* The end of a cut file was counted already. */
            if (offset + bytes.length < tv_source_size(records->file->source) ||
                !records->file->cut)
                mt_records_warn(records, TV_DIAGNOSTIC_BAD_PACKET, record.offset);
            taken = bytes.length;
            break;
        }
        taken = tv_cursor_position(&cursor);
        if (record.action == TV_MT_ACTION_UNDEFINED)
            mt_records_warn(records, TV_DIAGNOSTIC_BAD_ACTION, record.offset);
        else
            records->records[records->count++] = record;
    }
    records->done += taken;
}

/* ---- Batches ---- */

/* Maximum number of bytes read at once. */
#define LARGEST_READ ((size_t)1 << 20)

/* Return how many bytes a batch may need. */
static size_t mt_records_read_size(const struct tv_mt_file *file)
{
    size_t count = TV_BATCH_EVENTS;
    if (file->layout != TV_MT_FIXED)
        return count * LONGEST_DELTA_RECORD;
    if (count > LARGEST_READ / file->record_size)
        count = LARGEST_READ / file->record_size;
    return count * file->record_size;
}

enum tv_status tv_mt_records_next(struct tv_mt_records *records, struct tv_error *err)
{
    assert(records->done == 0 || records->unit < records->file->unit_count);
    struct tv_mt_file *file = records->file;
    bool fixed = file->layout == TV_MT_FIXED;
    records->count = 0;
    if (records->unit >= file->unit_count)
        return TV_OK;
    const struct tv_mt_unit *unit = &file->units[records->unit];
    size_t longest = mt_records_read_size(file);
    while (records->count == 0 && records->done < unit->size) {
        uint64_t left = unit->size - records->done, before = records->done;
        size_t want = left < longest ? (size_t)left : longest;
        struct tv_bytes bytes;
        enum tv_status status =
            tv_window_at(&records->window, unit->offset + before, want, &bytes, err);
        if (status != TV_OK)
            return status;
        if (bytes.length > want)
            bytes.length = want;
        if (fixed)
            mt_records_take_fixed(records, bytes, unit->offset + before);
        else
            mt_records_take_deltas(records, bytes, unit->offset + before);
        status = tv_mt_records_add_progress(file, records->done - before, records->count, err);
        if (status != TV_OK)
            return status;
    }
    return TV_OK;
}

/* Units without any usable record are passed over. */
enum tv_status tv_mt_records_next_of_all(struct tv_mt_records *records, struct tv_error *err)
{
    for (;;) {
        enum tv_status status = tv_mt_records_next(records, err);
        if (status != TV_OK || records->count > 0 || records->unit >= records->file->unit_count)
            return status;
        tv_mt_records_seek(records, records->unit + 1);
    }
}
