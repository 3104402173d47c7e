/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The walk over a streaming file: records of fixed size, with packets between them that name
 * threads and methods, and a summary at the end.
 *
 *     header | record record ... | packet | packet | record ... | summary
 *              '---- unit -----'                     '- unit -'
 */
#include "readers/method_trace/file.h"

#include <assert.h>

#include "base/bytes.h"
#include "base/memory.h"
#include "readers/reader.h"

/* Enough for the head of a packet, and for a record up to its method word. */
#define HEAD_SIZE 8

struct mt_stream {
    struct tv_mt_walk walk; /* first member: the file keeps a pointer to it */
    struct tv_mt_file *file;
    struct tv_window window;
    uint64_t offset;
    uint64_t stop; /* the walk pauses at the first item at or after this offset */
    uint64_t run;  /* start of the records since the last packet */
    uint32_t record_size;
    uint32_t last_method; /* frame of the last method packet, until a record comes; or TV_NONE */
    bool summary;
    bool done;
};

/* Head of a packet. */
struct mt_stream_packet {
    uint8_t op;
    uint16_t tid;
    uint64_t text; /* offset */
    uint64_t length;
};

/* Parse the first HEAD_SIZE bytes of a packet (zeros after the end of the file). Return false
 * when its type is unknown. */
static bool mt_stream_parse_head(const uint8_t *at, uint64_t offset,
                                 struct mt_stream_packet *packet)
{
    *packet = (struct mt_stream_packet){.op = at[2]};
    switch (at[2]) {
    case TV_MT_STREAM_METHOD:
        packet->length = tv_le_get_u16(at + 3);
        packet->text = offset + TV_MT_STREAM_METHOD_HEAD;
        return true;
    case TV_MT_STREAM_THREAD:
        packet->tid = tv_le_get_u16(at + 3);
        packet->length = tv_le_get_u16(at + 5);
        packet->text = offset + TV_MT_STREAM_THREAD_HEAD;
        return true;
    case TV_MT_STREAM_SUMMARY:
        packet->length = tv_le_get_u32(at + 3);
        packet->text = offset + TV_MT_STREAM_SUMMARY_HEAD;
        return true;
    default:
        return false;
    }
}

/* ---- The record size of an 0xF2 file ---- */

/* Each candidate size is tried on this many bytes. A wrong one derails within the first records,
 * and a pipe must not be waited for longer than for its first line. */
#define STRIDE_PREFIX TV_MT_SHORT_BYTES

/* Weights of faults. A stream that derails is worst; a packet cut off at the end may be in
 * order. */
#define FAULT_DERAILED 1000000
#define FAULT_RECORD                                                                               \
    4 /* a record of a thread that was not announced, or with an undefined action */
#define FAULT_CUT 1

/* Count the faults of the file's beginning with a record size. */
struct mt_stride_test {
    uint8_t announced[65536 / 8];
    uint64_t faults;
};

/* Count the faults of a record, read with the size that is being tried. */
static void mt_stride_count_record(struct mt_stride_test *test, const uint8_t *at)
{
    uint16_t tid = tv_le_get_u16(at);
    uint32_t word = tv_le_get_u32(at + 2);
    if (!(test->announced[tid / 8] >> tid % 8 & 1))
        test->faults += FAULT_RECORD;
    if (tv_mt_word_action(word) == TV_MT_ACTION_UNDEFINED)
        test->faults += FAULT_RECORD;
}

/* Count the faults of an item and return its length; 0 at the end. */
static uint64_t mt_stride_count_item(struct mt_stride_test *test, struct tv_source *source,
                                     const uint8_t *at, uint64_t offset, uint32_t record_size)
{
    struct mt_stream_packet packet;
    if (tv_le_get_u16(at) != TV_MT_STREAM_ESCAPE) {
        mt_stride_count_record(test, at);
        return record_size;
    }
    if (!mt_stream_parse_head(at, offset, &packet)) {
        test->faults += FAULT_DERAILED;
        return 0;
    }
    if (!tv_source_reaches(source, packet.text + packet.length))
        test->faults += FAULT_CUT;
    if (packet.op == TV_MT_STREAM_SUMMARY)
        return 0;
    if (packet.op == TV_MT_STREAM_THREAD)
        test->announced[packet.tid / 8] |= (uint8_t)(1u << packet.tid % 8);
    return packet.text + packet.length - offset;
}

/* Walk over the beginning of the file with a record size, and count its faults. */
static enum tv_status mt_stride_test(struct tv_mt_file *file, uint64_t offset, uint32_t record_size,
                                     uint64_t *faults, struct tv_error *err)
{
    uint64_t stop = offset + STRIDE_PREFIX;
    struct mt_stride_test *test = tv_alloc(1, sizeof *test);
    struct tv_window window;
    enum tv_status status = TV_OK;
    tv_window_init(&window, file->source);
    while (offset < stop) {
        struct tv_bytes bytes;
        status = tv_window_at(&window, offset, HEAD_SIZE, &bytes, err);
        if (status != TV_OK || bytes.length < HEAD_SIZE)
            break;
        uint64_t length = mt_stride_count_item(test, file->source, bytes.data, offset, record_size);
        if (length == 0)
            break;
        offset += length;
    }
    *faults = test->faults;
    tv_window_release(&window);
    tv_free(test);
    return status;
}

/* Choose the record size. Writers from 2015 to 2022 used 14 bytes for a record with one clock,
 * although their header says 10. */
static enum tv_status mt_stride_choose(struct tv_mt_file *file, uint64_t offset,
                                       uint32_t *record_size, struct tv_error *err)
{
    uint64_t as_said, padded;
    enum tv_status status = mt_stride_test(file, offset, *record_size, &as_said, err);
    if (status != TV_OK || as_said == 0)
        return status;
    status = mt_stride_test(file, offset, TV_MT_RECORD_SIZE_V3, &padded, err);
    if (status == TV_OK && padded < as_said) {
        *record_size = TV_MT_RECORD_SIZE_V3;
        tv_mt_warn(file, TV_DIAGNOSTIC_PADDED_RECORDS, offset);
    }
    return status;
}

/* ---- The walk ---- */

/* Count a diagnostic at the current offset. */
static void mt_stream_warn(struct mt_stream *stream, enum tv_diagnostic_kind kind)
{
    tv_mt_warn(stream->file, kind, stream->offset);
}

/* Add the records since the last packet as a unit. */
static void mt_stream_end_run(struct mt_stream *stream)
{
    assert(stream->run <= stream->offset);
    if (stream->offset > stream->run)
        tv_mt_add_unit(stream->file, stream->run, stream->offset - stream->run);
    stream->run = stream->offset;
}

/* Look at the first record after a method packet. If its id is not listed by now, it is a
 * proxy's method, and the packet names it. */
static void mt_stream_check_proxy(struct mt_stream *stream, const uint8_t *at)
{
    uint32_t id = tv_mt_word_method(tv_le_get_u32(at + 2));
    if (stream->last_method != TV_NONE && tv_map_find(&stream->file->ids.methods, id) == TV_NONE)
        tv_map_add(&stream->file->ids.proxies, id, stream->last_method);
    stream->last_method = TV_NONE;
}

/* Skip whole records, up to the next packet or the record that reaches `stop`. */
static void mt_stream_skip_records(struct mt_stream *stream, struct tv_bytes bytes)
{
    const uint8_t *at = bytes.data;
    size_t size = stream->record_size;
    uint64_t until = stream->stop - stream->offset;
    if (bytes.length > until)
        bytes.length =
            (size_t)until + size < bytes.length ? (size_t)until + size - 1 : bytes.length;
    size_t left = bytes.length;
    mt_stream_check_proxy(stream, at);
    while (left >= size && tv_le_get_u16(at) != TV_MT_STREAM_ESCAPE) {
        at += size;
        left -= size;
    }
    stream->offset += bytes.length - left;
}

/* Add the method that a packet lists. Its id may have meant another method until here. */
static void mt_stream_take_method(struct mt_stream *stream, struct tv_bytes text)
{
    struct tv_mt_file *file = stream->file;
    struct tv_frame frame;
    uint64_t id;
    if (text.length > 0 && text.data[text.length - 1] == '\n')
        text.length--;
    stream->last_method = TV_NONE;
    if (tv_mt_text_parse_method(file, text, &id, &frame))
        stream->last_method = tv_mt_add_method(file, id, &frame, TV_MT_RECYCLED, stream->offset);
    else
        mt_stream_warn(stream, TV_DIAGNOSTIC_BAD_LIST_LINE);
}

/* Read the summary, which ends the file. */
static enum tv_status mt_stream_take_summary(struct mt_stream *stream,
                                             const struct mt_stream_packet *packet,
                                             struct tv_error *err)
{
    uint64_t after, end = packet->text + packet->length, size;
    stream->summary = true;
    stream->done = true;
    enum tv_status status =
        tv_mt_text_read(stream->file, packet->text, end, TV_MT_FINAL, &after, err);
    if (status != TV_OK)
        return status;
    size = tv_source_size(stream->file->source);
    if (end > size)
        mt_stream_warn(stream, TV_DIAGNOSTIC_TRUNCATED);
    else if (end < size)
        tv_mt_warn(stream->file, TV_DIAGNOSTIC_TRAILING_BYTES, end);
    return TV_OK;
}

/* Take the packet at the current offset. */
static enum tv_status mt_stream_take_packet(struct mt_stream *stream, struct tv_bytes head,
                                            struct tv_error *err)
{
    struct mt_stream_packet packet;
    struct tv_bytes text;
    mt_stream_end_run(stream);
    /* After the end of the window there are zeros; a head that is cut off never has its text. */
    bool whole = head.length >= TV_MT_STREAM_METHOD_HEAD;
    bool known = mt_stream_parse_head(head.data, stream->offset, &packet);
    stream->done = !whole || !known;
    if (stream->done) {
        mt_stream_warn(stream, whole ? TV_DIAGNOSTIC_BAD_PACKET : TV_DIAGNOSTIC_TRUNCATED);
        return TV_OK;
    }
    if (packet.op == TV_MT_STREAM_SUMMARY)
        return mt_stream_take_summary(stream, &packet, err);
    if (!tv_source_reaches(stream->file->source, packet.text + packet.length)) {
        stream->done = true;
        mt_stream_warn(stream, TV_DIAGNOSTIC_TRUNCATED);
        return TV_OK;
    }
    enum tv_status status =
        tv_window_at(&stream->window, packet.text, (size_t)packet.length, &text, err);
    if (status != TV_OK)
        return status;
    text.length = (size_t)packet.length;
    if (packet.op == TV_MT_STREAM_METHOD)
        mt_stream_take_method(stream, text);
    else
        tv_mt_add_thread(stream->file, packet.tid, text, TV_MT_RECYCLED, stream->offset);
    stream->offset = stream->run = packet.text + packet.length;
    return TV_OK;
}

/* Take a packet, or all records up to the next one. */
static enum tv_status mt_stream_take_item(struct mt_stream *stream, struct tv_error *err)
{
    struct tv_bytes bytes;
    enum tv_status status =
        tv_window_at(&stream->window, stream->offset, stream->record_size, &bytes, err);
    if (status != TV_OK)
        return status;
    if (bytes.length >= 2 && tv_le_get_u16(bytes.data) == TV_MT_STREAM_ESCAPE)
        return mt_stream_take_packet(stream, bytes, err);
    if (bytes.length >= stream->record_size) {
        mt_stream_skip_records(stream, bytes);
        return TV_OK;
    }
    mt_stream_end_run(stream);
    mt_stream_warn(stream, TV_DIAGNOSTIC_TRUNCATED);
    stream->done = true;
    return TV_OK;
}

/* Take items up to `stop`. */
static enum tv_status mt_stream_take_items(struct mt_stream *stream, struct tv_error *err)
{
    struct tv_mt_file *file = stream->file;
    struct tv_progress *progress = file->progress;
    enum tv_status status = TV_OK;
    while (!stream->done && stream->offset < stream->stop && status == TV_OK) {
        uint64_t before = stream->offset;
        stream->done = !tv_source_reaches(file->source, before + 1);
        if (!stream->done)
            status = mt_stream_take_item(stream, err);
        atomic_fetch_add_explicit(&progress->bytes, stream->offset - before, memory_order_relaxed);
        if (status == TV_OK)
            status = tv_reader_check_cancel(progress, err);
    }
    mt_stream_end_run(stream);
    return status;
}

/* Settle what the walk has found out. Only a file without a summary needs a survey of its clock. */
static enum tv_status mt_stream_finalize(struct mt_stream *stream, struct tv_error *err)
{
    struct tv_mt_file *file = stream->file;
    unsigned inferred = 0;
    if (!stream->summary)
        tv_mt_warn(file, TV_DIAGNOSTIC_NO_SUMMARY, TV_NO_OFFSET);
    if (!stream->summary && file->version == TV_MT_V2) {
        enum tv_status status = tv_mt_survey_clock(file, &inferred, err);
        if (status != TV_OK)
            return status;
    }
    tv_mt_header_finalize(file, inferred);
    return TV_OK;
}

/* Free the walk (struct tv_mt_walk). */
static void mt_stream_free_walk(struct tv_mt_walk *walk)
{
    struct mt_stream *stream = (struct mt_stream *)walk;
    tv_window_release(&stream->window);
    tv_free(stream);
}

/* Walk over so many bytes more, and finish at the end of the file (struct tv_mt_walk). */
static enum tv_status mt_stream_go_on(struct tv_mt_file *file, uint64_t bytes, struct tv_error *err)
{
    assert(file->walk);
    struct mt_stream *stream = (struct mt_stream *)file->walk;
    uint64_t most = UINT64_MAX - stream->offset;
    stream->stop = stream->offset + (bytes < most ? bytes : most);
    enum tv_status status = mt_stream_take_items(stream, err);
    if (status == TV_OK && stream->done) {
        file->walk = NULL;
        status = mt_stream_finalize(stream, err);
        tv_mt_input(file)->bytes = tv_source_size(file->source);
        mt_stream_free_walk(&stream->walk);
    }
    return status;
}

/* Begin the walk. A file with one clock names it at its end. Until then it counts as the wall
 * clock, and a time is delivered only if it is the same for either clock: it must not have
 * wrapped. */
static enum tv_status mt_stream_begin_walk(const struct mt_stream *begun, struct tv_error *err)
{
    struct tv_mt_file *file = begun->file;
    struct mt_stream *stream = tv_alloc(1, sizeof *stream);
    uint64_t size, bytes = UINT64_MAX;
    *stream = *begun;
    stream->walk = (struct tv_mt_walk){mt_stream_go_on, mt_stream_free_walk};
    tv_window_init(&stream->window, file->source);
    file->walk = &stream->walk;
    if (tv_source_has_size(file->source, &size))
        atomic_fetch_add_explicit(&file->progress->total_bytes, size, memory_order_relaxed);
    if (file->version == TV_MT_V3 ? file->early_names : file->early_clock)
        bytes = TV_MT_SHORT_BYTES;
    enum tv_status status = mt_stream_go_on(file, bytes, err);
    if (status == TV_OK && file->walk)
        tv_mt_header_finalize(file, TV_CLOCK_WALL);
    return status;
}

enum tv_status tv_mt_stream_walk(struct tv_mt_file *file, struct tv_error *err)
{
    uint8_t bytes[TV_MT_HEADER_SIZE];
    struct tv_mt_header header;
    size_t got;
    file->streaming = true;
    enum tv_status status = tv_source_read(file->source, 0, bytes, sizeof bytes, &got, err);
    if (status != TV_OK)
        return status;
    if (got < sizeof bytes) {
        file->version = tv_mt_plain_version(tv_le_get_u16(bytes + TV_MT_HEADER_VERSION));
        tv_mt_warn(file, TV_DIAGNOSTIC_TRUNCATED, got);
        tv_mt_header_finalize(file, 0);
        return TV_OK;
    }
    status = tv_mt_header_check(file, bytes, 0, &header, err);
    if (status != TV_OK)
        return status;
    uint16_t nominal = tv_mt_record_size(header.version);
    struct mt_stream stream = {
        .file = file,
        .offset = header.data_offset,
        .run = header.data_offset,
        .stop = UINT64_MAX,
        .record_size = header.record_size > nominal ? header.record_size : nominal,
        .last_method = TV_NONE,
    };
    file->version = header.version;
    file->layout = TV_MT_FIXED;
    if (header.version == TV_MT_V2 && header.record_size < TV_MT_RECORD_SIZE_V3 &&
        tv_source_reaches(file->source, stream.offset + 1))
        status = mt_stride_choose(file, stream.offset, &stream.record_size, err);
    if (status != TV_OK)
        return status;
    file->record_size = stream.record_size;
    tv_mt_header_set_start(file, header.start);
    return mt_stream_begin_walk(&stream, err);
}
