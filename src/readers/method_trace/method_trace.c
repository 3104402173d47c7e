/* SPDX-License-Identifier: Apache-2.0 */
/*
 * method_trace.c - the reader of Android method traces (.trace), versions 1 to 5, and of dumps of
 * long-running methods: which kind of file it is, and the way from there to the events.
 * docs/formats/android-trace.md describes the bytes.
 *
 * Reading has two halves.  The walk finds the units of the file: ranges that hold records and
 * nothing else.  Then the delivery turns the records into events, chunk by chunk in parallel:
 *
 *     method_trace.c --> text.c     text header and data header  --.
 *                   '--> stream.c   streaming file                 |--> struct tv_mt_file (file.h):
 *                   '--> packets.c  packet file, with blocks.c   --'    units, threads, methods
 *                                                                              |
 *     deliver.c   cuts the units into chunks  <--------------------------------'
 *        |
 *        |-- worker: chunk.c --> fast.c | deltas.c | records.c --> sink
 *        |-- worker: chunk.c --> ...
 *        '-- borders of chunks are judged; the sink stitches the chunks
 *
 * fast.c and deltas.c read only well-behaved records.  As soon as one is not (an id that is not
 * listed, a clock that may have wrapped, a damaged block), the attempt stops, survey.c or blocks.c
 * find out what was missing, and all chunks are read again, with records.c if need be.  So the
 * common case costs one pass over the records, and the result is the same however the file is cut.
 *
 *     file begins with         family             walk (finds threads, methods, units of records)
 *     "*version"               FAMILY_TEXT        text.c
 *     "SLOW", version 0xF2 ..  FAMILY_STREAM      stream.c
 *     "SLOW", version 4, 5     FAMILY_PACKETS     packets.c
 *     "SLOW", version 1 to 3   FAMILY_DATA_HALF   refused: .data without its .key
 *     packets, no magic        FAMILY_DUMP        packets.c, long-running methods
 *     base64 of such packets   FAMILY_DUMP_TEXT   decoded first
 *
 * The walk reads everything but the records, and lists these as units (offset, size, thread).
 * tv_mt_deliver (deliver.c) then reads the units, in parallel if there are many bytes, and gives
 * the events to the sink. A sink that writes may get events before the walk is complete, so that
 * a pipe has output early ("early").
 */
#include "readers/readers.h"

#include <inttypes.h>
#include <string.h>

#include "base/bytes.h"
#include "base/encoding.h"
#include "base/memory.h"
#include "readers/method_trace/deliver.h"
#include "readers/method_trace/file.h"

enum mt_family {
    FAMILY_NONE,
    FAMILY_TEXT,
    FAMILY_STREAM,
    FAMILY_PACKETS,
    FAMILY_DATA_HALF,   /* x.data without its x.key */
    FAMILY_NEW_VERSION, /* the magic number with an unknown version */
    FAMILY_DUMP,
    FAMILY_DUMP_TEXT, /* in base64 */
};

static bool mt_is_text_header(struct tv_bytes prefix)
{
    struct tv_cursor cursor = tv_cursor_over(prefix);
    struct tv_bytes line;
    if (!tv_cursor_take_line(&cursor, &line))
        return false;
    if (line.length > 0 && line.data[line.length - 1] == '\r')
        line.length--;
    return tv_bytes_equal(line, TV_BYTES(TV_MT_SECTION_VERSION));
}

/* Return the family of a file with the magic number, by its version. */
static enum mt_family mt_version_family(uint16_t version)
{
    switch (tv_mt_plain_version(version)) {
    case TV_MT_V1:
        return tv_mt_is_streaming(version) ? FAMILY_NEW_VERSION : FAMILY_DATA_HALF;
    case TV_MT_V2:
    case TV_MT_V3:
        return tv_mt_is_streaming(version) ? FAMILY_STREAM : FAMILY_DATA_HALF;
    case TV_MT_PACKETS_1:
    case TV_MT_PACKETS_2:
        return FAMILY_PACKETS;
    default:
        return FAMILY_NEW_VERSION;
    }
}

#define DUMP_TEXT_HEAD 2048

/* Return how sure it is that this is a dump in base64: 0 to 100. */
static int mt_sniff_dump_text(struct tv_bytes prefix, uint64_t size)
{
    uint8_t bytes[DUMP_TEXT_HEAD * 3 / 4 + 3];
    struct tv_base64 state = {0};
    size_t used;
    if (prefix.length < 2 || prefix.data[0] != 'A' ||
        (prefix.data[1] != 'g' && prefix.data[1] != 'Q'))
        return 0;
    if (prefix.length > DUMP_TEXT_HEAD)
        prefix.length = DUMP_TEXT_HEAD;
    size_t count = tv_base64_decode(&state, prefix, bytes, &used);
    uint64_t decoded = used == size ? count : size / 4 * 3;
    return used < prefix.length
               ? 0
               : tv_mt_packets_sniff_dump((struct tv_bytes){bytes, count}, decoded);
}

/* Return the family, and how sure it is: only files without a magic number leave doubt. */
static enum mt_family mt_find_family(struct tv_bytes prefix, uint64_t size, int *sure)
{
    *sure = TV_SNIFF_SURE;
    if (mt_is_text_header(prefix))
        return FAMILY_TEXT;
    if (tv_bytes_starts_with(prefix, TV_BYTES(TV_MT_MAGIC_TEXT)) && prefix.length >= 6)
        return mt_version_family(tv_le_get_u16(prefix.data + TV_MT_HEADER_VERSION));
    *sure = tv_mt_packets_sniff_dump(prefix, size);
    if (*sure > 0)
        return FAMILY_DUMP;
    *sure = mt_sniff_dump_text(prefix, size);
    return *sure > 0 ? FAMILY_DUMP_TEXT : FAMILY_NONE;
}

static int mt_sniff(struct tv_bytes prefix, uint64_t size)
{
    int sure;
    mt_find_family(prefix, size, &sure);
    return sure;
}

/* ---- Reading ---- */

/* A dump in base64 is part of a bug report, so it has some kilobytes. */
#define LARGEST_DUMP_TEXT ((uint64_t)256 << 20)

/* Bytes decoded from base64, as a source. */
struct mt_decoded {
    uint8_t *bytes;
    struct tv_source *source;
};

/* Decode the whole text. `decoded` is released by the caller, after an error, too. */
static enum tv_status mt_decode_dump(struct tv_source *text, struct mt_decoded *decoded,
                                     struct tv_error *err)
{
    uint64_t size = tv_source_size(text), offset = 0;
    struct tv_base64 state = {0};
    struct tv_window window;
    size_t count = 0, used = 0;
    enum tv_status status = TV_OK;
    if (size > LARGEST_DUMP_TEXT)
        return tv_fail(err, TV_ERR_LIMIT, TV_NO_OFFSET,
                       "expected a dump in base64 of at most %" PRIu64 " bytes, found %" PRIu64,
                       LARGEST_DUMP_TEXT, size);
    decoded->bytes = tv_alloc((size_t)size / 4 * 3 + 6, 1);
    tv_window_init(&window, text);
    while (offset < size && status == TV_OK) {
        struct tv_bytes bytes;
        status = tv_window_at(&window, offset, 1, &bytes, err);
        if (status != TV_OK)
            break;
        count += tv_base64_decode(&state, bytes, decoded->bytes + count, &used);
        if (used < bytes.length)
            status = tv_fail(err, TV_ERR_SYNTAX, offset + used,
                             "expected base64, found byte 0x%02X", bytes.data[used]);
        offset += used;
    }
    tv_window_release(&window);
    decoded->source =
        tv_source_from_memory((struct tv_bytes){decoded->bytes, count}, tv_source_name(text));
    return status;
}

/* Read the decoded bytes in place of the source: offsets count in them. */
static enum tv_status mt_walk_dump_text(struct tv_mt_file *file, struct mt_decoded *decoded,
                                        struct tv_error *err)
{
    enum tv_status status = mt_decode_dump(file->source, decoded, err);
    if (status != TV_OK)
        return status;
    file->source = decoded->source;
    file->head->inputs[file->input].bytes = tv_source_size(decoded->source);
    return tv_mt_packets_walk_dump(file, err);
}

/* Say why a file with the right magic number cannot be read, and what is missing. */
static enum tv_status mt_refuse(enum mt_family family, struct tv_bytes prefix, struct tv_error *err)
{
    unsigned version = prefix.length >= 6 ? tv_le_get_u16(prefix.data + TV_MT_HEADER_VERSION) : 0;
    if (family == FAMILY_DATA_HALF)
        return tv_fail(
            err, TV_ERR_UNSUPPORTED, 0,
            "expected a whole trace, found its data half (version %u): the text half, .key where "
            "this is .data, is not there to stand in front of it",
            version);
    return tv_fail(err, TV_ERR_UNSUPPORTED, TV_MT_HEADER_VERSION,
                   "expected version 2 to 5 of a method trace, found 0x%X", version);
}

/* Walk over the file by its family. The size of a pipe is awaited only where the family depends on
 * it. */
static enum tv_status mt_walk(struct tv_mt_file *file, struct tv_bytes prefix,
                              struct mt_decoded *decoded, struct tv_error *err)
{
    int sure;
    uint64_t size;
    bool known = tv_source_has_size(file->source, &size);
    enum mt_family family = mt_find_family(prefix, size, &sure);
    if (!known && sure < TV_SNIFF_SURE)
        family = mt_find_family(prefix, tv_source_size(file->source), &sure);
    switch (family) {
    case FAMILY_TEXT:
        return tv_mt_text_walk(file, err);
    case FAMILY_STREAM:
        return tv_mt_stream_walk(file, err);
    case FAMILY_PACKETS:
        return tv_mt_packets_walk(file, err);
    case FAMILY_DUMP:
        return tv_mt_packets_walk_dump(file, err);
    case FAMILY_DUMP_TEXT:
        return mt_walk_dump_text(file, decoded, err);
    default:
        return mt_refuse(family, prefix, err);
    }
}

/* Read a method trace.  A sink that writes may want events before the end of a growing file; every
 * other one waits for its size. */
static enum tv_status mt_read(struct tv_source *source, struct tv_trace_info *head,
                              struct tv_sink *sink, const struct tv_read_options *options,
                              struct tv_error *err)
{
    uint8_t start[TV_SNIFF_SIZE];
    size_t got;
    struct tv_progress unseen = {0};
    struct tv_mt_file file;
    struct mt_decoded decoded = {0};
    enum tv_status status = tv_source_read(source, 0, start, sizeof start, &got, err);
    if (status != TV_OK)
        return status;
    bool early = sink->ops->writes && options->ahead < TV_AHEAD_ALL;
    if (!early)
        tv_source_size(
            source); /* wait for the end of a growing source: everything below needs all of it */
    tv_mt_file_init(&file, source, head);
    file.early = early;
    file.early_names = early && options->ahead < TV_AHEAD_NAMES;
    file.early_clock = early && options->ahead < TV_AHEAD_CLOCK;
    file.progress = options->progress ? options->progress : &unseen;
    status = mt_walk(&file, (struct tv_bytes){start, got}, &decoded, err);
    if (status == TV_OK)
        status = tv_mt_deliver(&file, sink, options, err);
    tv_mt_file_release(&file);
    tv_source_free(decoded.source);
    tv_free(decoded.bytes);
    return status;
}

const struct tv_reader tv_reader_method_trace = {
    .name = "android-trace",
    .sniff = mt_sniff,
    .read = mt_read,
    .sketch_block = tv_mt_block_sketch,
};
