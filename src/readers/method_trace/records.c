/* SPDX-License-Identifier: Apache-2.0 */
#include "readers/method_trace/records.h"

#include "base/bytes.h"

#define NS_PER_SECOND ((uint64_t)1000000000)

/* A record of delta-coded numbers is at most three of ten bytes. */
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

void tv_mt_records_seek(struct tv_mt_records *records, size_t unit)
{
    const struct tv_mt_file *file = records->file;
    uint32_t carry = unit < file->unit_count ? file->units[unit].carry : TV_NONE;
    records->unit = unit;
    records->done = 0;
    records->last = carry == TV_NONE ? (struct tv_mt_carry){0} : file->carries[carry];
}

enum tv_status tv_mt_records_pass(struct tv_mt_file *file, uint64_t bytes, uint64_t count,
                                  struct tv_error *err)
{
    struct tv_progress *progress = file->progress;
    atomic_fetch_add_explicit(&progress->bytes, bytes, memory_order_relaxed);
    if (count > 0)
        atomic_fetch_add_explicit(&progress->records, count, memory_order_relaxed);
    if (atomic_load_explicit(&progress->cancel, memory_order_relaxed))
        return tv_fail(err, TV_ERR_CANCELLED, TV_NO_OFFSET, "stopped on request");
    return TV_OK;
}

static void warn(struct tv_mt_records *records, enum tv_diagnostic_kind kind, uint64_t at)
{
    if (records->diagnostics)
        tv_diagnostics_add(records->diagnostics, kind, at);
}

/* ---- Records of one size ---- */

static struct tv_mt_record fixed_record(const struct tv_mt_file *file, const uint8_t *at)
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

static void take_fixed(struct tv_mt_records *records, struct tv_bytes bytes, uint64_t offset)
{
    const struct tv_mt_file *file = records->file;
    size_t size = file->record_size, most = bytes.length / size;
    if (most > TV_COUNT(records->records))
        most = TV_COUNT(records->records);
    for (size_t i = 0; i < most; i++, offset += size) {
        struct tv_mt_record record = fixed_record(file, bytes.data + i * size);
        record.offset = offset;
        if (record.action == TV_MT_ACTION_UNDEFINED)
            warn(records, TV_DIAGNOSTIC_BAD_ACTION, offset);
        else
            records->records[records->count++] = record;
    }
    records->done += most * size;
}

/* ---- Delta-coded entries ---- */

static int64_t limit_time(uint64_t time)
{
    return time > (uint64_t)TV_MT_TIME_LIMIT ? TV_MT_TIME_LIMIT : (int64_t)time;
}

int64_t tv_mt_records_scale(const struct tv_mt_file *file, uint64_t ticks)
{
    uint64_t frequency = file->frequency;
    if (frequency == 0)
        return limit_time(ticks);
    uint64_t seconds = ticks / frequency, rest = ticks % frequency;
    if (seconds > (uint64_t)TV_MT_TIME_LIMIT / NS_PER_SECOND)
        return TV_MT_TIME_LIMIT;
    /* No counter is faster than 16 GHz; a file that says so gets fewer digits. */
    while (rest > UINT64_MAX / NS_PER_SECOND) {
        rest >>= 1;
        frequency >>= 1;
    }
    return limit_time(seconds * NS_PER_SECOND + rest * NS_PER_SECOND / frequency);
}

/* Sums wrap as they do in the writer. */
static bool add_sleb(struct tv_cursor *cursor, uint64_t *sum)
{
    int64_t delta;
    if (!tv_cursor_take_sleb(cursor, &delta))
        return false;
    *sum += (uint64_t)delta;
    return true;
}

static bool add_uleb(struct tv_cursor *cursor, uint64_t *sum)
{
    uint64_t delta;
    if (!tv_cursor_take_uleb(cursor, &delta))
        return false;
    *sum += delta;
    return true;
}

/* The time in a sum that carries something in its low bits. None is before 0. */
static int64_t stamp_time(const struct tv_mt_file *file, uint64_t stamp, unsigned bits)
{
    uint64_t ticks = stamp > INT64_MAX ? 0 : stamp >> bits;
    return tv_mt_records_scale(file, ticks) - file->origin;
}

static bool take_b(struct tv_mt_records *records, struct tv_cursor *cursor,
                   struct tv_mt_record *record)
{
    unsigned clocks = records->file->clocks;
    struct tv_mt_carry *last = &records->last;
    if (!add_sleb(cursor, &last->word) ||
        ((clocks & TV_CLOCK_WALL) && !add_uleb(cursor, &last->wall)) ||
        ((clocks & TV_CLOCK_CPU) && !add_uleb(cursor, &last->cpu)))
        return false;
    record->id = last->word & ~(uint64_t)TV_MT_ACTION_MASK;
    record->action = (uint32_t)last->word & TV_MT_ACTION_MASK;
    record->wall = limit_time(last->wall);
    record->cpu = limit_time(last->cpu);
    return true;
}

/* `wall` carries the time with the action in its low bits, `word` the last id entered. */
static bool take_c(struct tv_mt_records *records, struct tv_cursor *cursor,
                   struct tv_mt_record *record)
{
    const struct tv_mt_file *file = records->file;
    struct tv_mt_carry *last = &records->last;
    if (!add_sleb(cursor, &last->wall) ||
        (file->version == TV_MT_PACKETS_2 && !add_sleb(cursor, &last->cpu)))
        return false;
    record->action = (uint32_t)last->wall & TV_MT_ACTION_MASK;
    if (record->action == TV_MT_ENTER && !add_sleb(cursor, &last->word))
        return false;
    int64_t time = stamp_time(file, last->wall, 2);
    record->id = record->action == TV_MT_ENTER ? last->word : TV_MT_NO_ID;
    record->wall = file->clocks & TV_CLOCK_WALL ? time : 0;
    record->cpu = limit_time((int64_t)last->cpu < 0 ? 0 : last->cpu);
    if (file->clocks == TV_CLOCK_CPU)
        record->cpu = time;
    return true;
}

static bool take_long_running(struct tv_mt_records *records, struct tv_cursor *cursor,
                              struct tv_mt_record *record)
{
    struct tv_mt_carry *last = &records->last;
    if (!add_sleb(cursor, &last->wall))
        return false;
    record->action = last->wall & 1 ? TV_MT_EXIT : TV_MT_ENTER;
    if (record->action == TV_MT_ENTER && !add_sleb(cursor, &last->word))
        return false;
    record->id = record->action == TV_MT_ENTER ? last->word : TV_MT_NO_ID;
    record->wall = stamp_time(records->file, last->wall, 1);
    return true;
}

static bool take_delta(struct tv_mt_records *records, struct tv_cursor *cursor,
                       struct tv_mt_record *record)
{
    switch (records->file->layout) {
    case TV_MT_DELTA_B:
        return take_b(records, cursor, record);
    case TV_MT_DELTA_C:
        return take_c(records, cursor, record);
    default:
        return take_long_running(records, cursor, record);
    }
}

static void take_deltas(struct tv_mt_records *records, struct tv_bytes bytes, uint64_t offset)
{
    const struct tv_mt_unit *unit = &records->file->units[records->unit];
    bool all = records->done + bytes.length == unit->size;
    struct tv_cursor cursor = tv_cursor_over(bytes);
    size_t taken = 0;
    while (records->count < TV_COUNT(records->records) && tv_cursor_left(&cursor) > 0 &&
           (all || tv_cursor_left(&cursor) >= LONGEST_DELTA_RECORD)) {
        struct tv_mt_record record = {.tid = unit->tid, .offset = offset + taken};
        if (!take_delta(records, &cursor, &record)) {
            /* The end of a file that was cut off was counted already. */
            if (offset + bytes.length < tv_source_size(records->file->source) ||
                !records->file->cut)
                warn(records, TV_DIAGNOSTIC_BAD_PACKET, record.offset);
            taken = bytes.length;
            break;
        }
        taken = tv_cursor_position(&cursor);
        if (record.action == TV_MT_ACTION_UNDEFINED)
            warn(records, TV_DIAGNOSTIC_BAD_ACTION, record.offset);
        else
            records->records[records->count++] = record;
    }
    records->done += taken;
}

/* ---- */

/* Bytes that are asked for at once. */
#define LARGEST_CHUNK ((size_t)1 << 20)

static size_t longest_chunk(const struct tv_mt_file *file)
{
    size_t count = TV_BATCH_EVENTS;
    if (file->layout != TV_MT_FIXED)
        return count * LONGEST_DELTA_RECORD;
    if (count > LARGEST_CHUNK / file->record_size)
        count = LARGEST_CHUNK / file->record_size;
    return count * file->record_size;
}

enum tv_status tv_mt_records_next(struct tv_mt_records *records, struct tv_error *err)
{
    struct tv_mt_file *file = records->file;
    bool fixed = file->layout == TV_MT_FIXED;
    records->count = 0;
    if (records->unit >= file->unit_count)
        return TV_OK;
    const struct tv_mt_unit *unit = &file->units[records->unit];
    size_t longest = longest_chunk(file);
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
            take_fixed(records, bytes, unit->offset + before);
        else
            take_deltas(records, bytes, unit->offset + before);
        status = tv_mt_records_pass(file, records->done - before, records->count, err);
        if (status != TV_OK)
            return status;
    }
    return TV_OK;
}

enum tv_status tv_mt_records_next_of_all(struct tv_mt_records *records, struct tv_error *err)
{
    for (;;) {
        enum tv_status status = tv_mt_records_next(records, err);
        if (status != TV_OK || records->count > 0 || records->unit >= records->file->unit_count)
            return status;
        tv_mt_records_seek(records, records->unit + 1);
    }
}
