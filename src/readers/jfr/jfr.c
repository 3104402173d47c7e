/* SPDX-License-Identifier: Apache-2.0 */
/*
 * jfr.c - recordings of the Java Flight Recorder (docs/formats/jfr.md).
 *
 * Recordings of the JDK, async-profiler, Datadog's and Pyroscope's agents and native images.  A
 * recording is one chunk or several, each with its own types, constants and clock:
 *
 *     chunk.c      where chunks begin and end, events one after another
 *     values.c     integers, texts, and values of any type
 *     metadata.c   the event types that a chunk describes
 *     program.c    each type compiled to a short program that finds or skips its fields
 *     pools.c      constants: stacks, threads, classes, texts
 *     names.c      frames, threads and stacks of the trace from constants
 *     event_kinds.c  what each event becomes: sample, slice, counter, metadata, instant
 *     events.c     the events of a chunk into the trace
 *     describe.c   the fields of one event, read again
 */
#include "readers/readers.h"

#include <assert.h>
#include <string.h>

#include "base/memory.h"
#include "readers/jfr/describe.h"
#include "readers/jfr/events.h"

#define FORMAT "Java Flight Recorder"

static int jfr_sniff(struct tv_bytes prefix, uint64_t size)
{
    (void)size;
    return tv_bytes_starts_with(prefix, TV_BYTES("FLR\0")) ? TV_SNIFF_SURE : 0;
}

/* Fail for recordings that nobody has converted to chunks as JDK 9 and later write them. */
static enum tv_status jfr_check_version(struct tv_bytes file, struct tv_error *err)
{
    unsigned major = file.length >= 8 ? (unsigned)file.data[4] << 8 | file.data[5] : 1;
    unsigned minor = file.length >= 8 ? (unsigned)file.data[6] << 8 | file.data[7] : 0;
    if (major == 0)
        return tv_fail(err, TV_ERR_UNSUPPORTED, 4,
                       "a recording of JDK 7 or 8 (version 0.%u), which is not read: open it in "
                       "JDK Mission Control, or record with JDK 8u262 or later",
                       minor);
    if (major > 3)
        return tv_fail(err, TV_ERR_UNSUPPORTED, 4,
                       "a recording of version %u.%u, which is newer "
                       "than this program: versions 1.0 to 2.1 are read",
                       major, minor);
    if (file.length < TV_JFR_HEADER_SIZE)
        return tv_fail(err, TV_ERR_SYNTAX, file.length,
                       "expected the header of a recording (68 bytes), found the end of the file");
    return TV_OK;
}

static void jfr_set_version(struct tv_profile_input *profile, const struct tv_jfr_chunk *chunk)
{
    struct tv_input *input = &profile->info->inputs[profile->input];
    struct tv_out version;
    tv_out_init_memory(&version);
    tv_out_format(&version, "%u.%u", chunk->major, chunk->minor);
    input->version = tv_profile_string(profile, (struct tv_bytes){version.buffer, version.length});
    input->recorded_us = chunk->start_ns / 1000;
    tv_out_release(&version);
}

static enum tv_status jfr_read_chunk(struct tv_jfr_recording *recording, struct tv_jfr_chunk *chunk,
                                     struct tv_progress *progress, struct tv_error *err)
{
    enum tv_status status = TV_OK;
    if (tv_jfr_chunk_open(chunk))
        status = tv_jfr_events_add(recording, chunk, progress, err);
    else
        tv_profile_warn(recording->profile, TV_DIAGNOSTIC_BAD_CHUNK, chunk->offset);
    tv_diagnostics_merge(&recording->profile->info->diagnostics, &chunk->diagnostics);
    tv_jfr_chunk_release(chunk);
    return status;
}

/* ---- The file ---- */

/* The part of the file that is in memory.  This is one chunk, about 12 MB in large recordings. When
 * the end of a chunk is unknown, it is the rest of the file. */
struct jfr_window {
    struct tv_source *source;
    uint64_t begin, file_size;
    struct tv_bytes bytes;
    uint8_t *data;
    size_t capacity;
};

/* Read `size` bytes from an offset into the window, and let zeros follow them. */
static enum tv_status jfr_window_read(struct jfr_window *window, uint64_t offset, uint64_t size,
                                      struct tv_error *err)
{
    size_t got = 0;
    /* A quarter leaves room for the slack, and for a larger chunk, on 32-bit machines. */
    if (size > SIZE_MAX / 4)
        return tv_fail(err, TV_ERR_UNSUPPORTED, TV_NO_OFFSET, "too large for this machine");
    size_t wanted = (size_t)size + TV_WINDOW_SLACK;
    if (wanted > window->capacity) {
        tv_pages_free(window->data, window->capacity);
        window->capacity = wanted + (offset + size < window->file_size ? wanted / 8 : 0);
        window->data = tv_pages_alloc(window->capacity);
    }
    enum tv_status status =
        tv_source_read(window->source, offset, window->data, (size_t)size, &got, err);
    memset(window->data + got, 0, TV_WINDOW_SLACK);
    window->begin = offset;
    window->bytes = (struct tv_bytes){window->data, got};
    return status;
}

/* Read the chunk at an offset into the window; the rest of the file if its end is unknown. */
static enum tv_status jfr_window_move(struct jfr_window *window, uint64_t offset,
                                      struct tv_error *err)
{
    uint64_t end = window->begin + window->bytes.length;
    if (end >= window->file_size && window->bytes.length > 0)
        return TV_OK; /* it has the rest of the file already */
    uint64_t left = window->file_size - offset;
    uint64_t header = left < TV_JFR_HEADER_SIZE ? left : TV_JFR_HEADER_SIZE;
    enum tv_status status = jfr_window_read(window, offset, header, err);
    if (status != TV_OK)
        return status;
    uint64_t size = tv_jfr_chunk_size(window->bytes);
    return jfr_window_read(window, offset, size > 0 && size < left ? size : left, err);
}

static void jfr_window_release(struct jfr_window *window)
{
    tv_pages_free(window->data, window->capacity);
}

static enum tv_status jfr_read_chunks(struct tv_jfr_recording *recording, struct jfr_window *window,
                                      struct tv_progress *progress, struct tv_error *err)
{
    struct tv_jfr_chunk chunk;
    uint64_t at = 0, next = 0;
    bool skipped, first = true;
    enum tv_status status = TV_OK;
    while (at < window->file_size && (status = jfr_window_move(window, at, err)) == TV_OK &&
           tv_jfr_chunk_find(window->bytes, at - window->begin, &chunk, &next, &skipped)) {
        next += window->begin;
        chunk.offset += window->begin;
        assert(next > at);
        if (skipped)
            tv_profile_warn(recording->profile, TV_DIAGNOSTIC_TRAILING_BYTES, at);
        if (first)
            jfr_set_version(recording->profile, &chunk);
        first = false;
        status = jfr_read_chunk(recording, &chunk, progress, err);
        if (status == TV_OK)
            status = tv_reader_add_progress(progress, next - at, err);
        at = next;
        if (status != TV_OK)
            break;
    }
    if (status == TV_OK && at < window->file_size)
        tv_profile_warn(recording->profile, TV_DIAGNOSTIC_TRAILING_BYTES, at);
    return status;
}

static enum tv_status jfr_assemble(struct tv_source *source, struct tv_builder *builder,
                                   const struct tv_read_options *options, struct tv_error *err)
{
    struct tv_profile_input profile;
    struct tv_jfr_recording recording;
    struct jfr_window window = {.source = source, .file_size = tv_source_size(source)};
    uint8_t header[TV_JFR_HEADER_SIZE];
    size_t got = 0;
    enum tv_status status = tv_source_read(source, 0, header, sizeof header, &got, err);
    if (status == TV_OK)
        status = jfr_check_version((struct tv_bytes){header, got}, err);
    if (status != TV_OK)
        return status;
    tv_profile_input_begin(&profile, source, builder, FORMAT);
    profile.info->inputs[profile.input].describe = tv_jfr_describe;
    tv_jfr_recording_init(&recording, &profile);
    status = jfr_read_chunks(&recording, &window, options->progress, err);
    tv_jfr_recording_finish(&recording);
    tv_profile_input_end(&profile, options);
    jfr_window_release(&window);
    return status;
}

const struct tv_reader tv_reader_jfr = {
    .name = "jfr",
    .sniff = jfr_sniff,
    .assemble = jfr_assemble,
    .format = FORMAT,
    .describe = tv_jfr_describe,
};
