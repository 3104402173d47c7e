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
 *     scan.c       what a chunk tells without the trace: sums of samples by stack
 *     events.c     the events of a chunk into the trace
 *     describe.c   the fields of one event, read again
 */
#include "readers/readers.h"

#include <assert.h>
#include <string.h>

#include "base/memory.h"
#include "base/workers.h"
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

/* Return the size of the chunk at an offset; 0: its end is unknown, or after that of the file. */
static uint64_t jfr_known_size(const struct jfr_window *window, uint64_t offset)
{
    uint8_t header[TV_JFR_HEADER_SIZE];
    struct tv_error unused = {0};
    size_t got = 0;
    uint64_t left = window->file_size - offset;
    if (left < sizeof header ||
        tv_source_read(window->source, offset, header, sizeof header, &got, &unused) != TV_OK)
        return 0;
    uint64_t size = tv_jfr_chunk_size((struct tv_bytes){header, got});
    return size <= left ? size : 0;
}

/* Read the chunk at an offset into the window; the rest of the file if its end is unknown. */
static enum tv_status jfr_window_move(struct jfr_window *window, uint64_t offset,
                                      struct tv_error *err)
{
    uint64_t end = window->begin + window->bytes.length;
    if (end >= window->file_size && window->bytes.length > 0)
        return TV_OK; /* it has the rest of the file already */
    uint64_t size = jfr_known_size(window, offset);
    return jfr_window_read(window, offset, size > 0 ? size : window->file_size - offset, err);
}

static void jfr_window_release(struct jfr_window *window)
{
    tv_pages_free(window->data, window->capacity);
}

/* ---- Chunks on their way ---- */

/* A chunk that is read and scanned, by any thread, and then taken into the trace. */
struct jfr_job {
    struct jfr_window window;
    struct tv_jfr_chunk chunk;
    struct tv_jfr_scan scan;
    uint64_t at, next; /* in the file: where it was searched, and where the next one is */
    bool found, skipped, opened;
    bool scanned;
    enum tv_status status;
    struct tv_error error;
};

/* Maximum number of chunks that are in memory at a time. */
#define JFR_MAX_JOBS 4u

struct jfr_reading {
    struct tv_jfr_recording *recording;
    struct tv_progress *progress;
    struct jfr_job jobs[JFR_MAX_JOBS];
    unsigned job_count;
    struct tv_lock lock;             /* for the next four, `at`, and `scanned` of the jobs */
    uint64_t begun_jobs, taken_jobs; /* job i of the file is in jobs[i % job_count] */
    bool taking;                     /* a thread takes a chunk */
    bool stopped;                    /* one was not taken: no more are read */
    struct jfr_job tail;             /* of chunks that are read and taken one after another */
    uint64_t at;                     /* in the file: the next chunk */
    enum tv_sample_detail detail;
    bool begun;
    enum tv_status status; /* of taking */
    struct tv_error *err;
};

/* Find the chunk in the window of a job, and scan it. */
static void jfr_job_scan(const struct jfr_reading *reading, struct jfr_job *job)
{
    job->found = tv_jfr_chunk_find(job->window.bytes, job->at - job->window.begin, &job->chunk,
                                   &job->next, &job->skipped);
    if (!job->found)
        return;
    job->next += job->window.begin;
    job->chunk.offset += job->window.begin;
    job->opened = tv_jfr_chunk_open(&job->chunk);
    if (job->opened)
        tv_jfr_scan_chunk(&job->scan, &job->chunk, reading->detail, reading->progress);
}

/* Take a chunk into the trace, if the one before was taken. */
static void jfr_job_take(struct jfr_reading *reading, struct jfr_job *job)
{
    struct tv_jfr_recording *recording = reading->recording;
    struct tv_profile_input *profile = recording->profile;
    if (reading->status == TV_OK && job->status != TV_OK) {
        reading->status = job->status;
        *reading->err = job->error;
    }
    if (reading->status == TV_OK && job->found) {
        assert(job->next > job->at);
        if (job->skipped)
            tv_profile_warn(profile, TV_DIAGNOSTIC_TRAILING_BYTES, job->at);
        if (!reading->begun)
            jfr_set_version(profile, &job->chunk);
        reading->begun = true;
        if (job->opened)
            reading->status = tv_jfr_events_add(recording, &job->chunk, &job->scan, reading->err);
        else
            tv_profile_warn(profile, TV_DIAGNOSTIC_BAD_CHUNK, job->chunk.offset);
        tv_diagnostics_merge(&profile->info->diagnostics, &job->chunk.diagnostics);
        if (reading->status == TV_OK)
            reading->status =
                tv_reader_add_progress(reading->progress, job->next - job->at, reading->err);
    }
    if (job->found) {
        tv_jfr_scan_release(&job->scan, &job->chunk);
        tv_jfr_chunk_release(&job->chunk);
    }
}

/* Smaller chunks are not worth a thread. */
#define JFR_LARGE_CHUNK ((uint64_t)256 << 10)

/* Return whether the next chunk is large, and its end known, so that any thread can read it. */
static bool jfr_can_begin(const struct jfr_reading *reading, uint64_t *size)
{
    const struct jfr_window *tail = &reading->tail.window;
    if (reading->job_count < 2 || reading->stopped ||
        (tail->bytes.length > 0 && tail->begin + tail->bytes.length >= tail->file_size))
        return false;
    *size = jfr_known_size(tail, reading->at);
    return *size >= JFR_LARGE_CHUNK;
}

/* Choose what a thread does next: *job is a chunk to take, or to read and scan.  Taking comes
 * first, because it makes room for another chunk.  Return false when there is nothing to do now. */
static bool jfr_choose(struct jfr_reading *reading, struct jfr_job **job, bool *take)
{
    uint64_t size;
    *job = &reading->jobs[reading->taken_jobs % reading->job_count];
    *take = !reading->taking && reading->taken_jobs < reading->begun_jobs && (*job)->scanned;
    if (*take) {
        reading->taking = true;
        return true;
    }
    if (reading->begun_jobs - reading->taken_jobs >= reading->job_count ||
        !jfr_can_begin(reading, &size))
        return false;
    *job = &reading->jobs[reading->begun_jobs++ % reading->job_count];
    (*job)->scanned = false;
    (*job)->at = reading->at;
    (*job)->next = reading->at += size;
    return true;
}

/* Do one of these, and the bookkeeping after it. */
static void jfr_work(struct jfr_reading *reading, struct jfr_job *job, bool take)
{
    if (take) {
        jfr_job_take(reading, job);
    } else {
        job->found = false;
        job->status = jfr_window_read(&job->window, job->at, job->next - job->at, &job->error);
        if (job->status == TV_OK)
            jfr_job_scan(reading, job);
    }
    tv_lock_enter(&reading->lock);
    if (take) {
        reading->taking = false;
        reading->stopped = reading->status != TV_OK;
        reading->taken_jobs++;
    } else {
        job->scanned = true;
    }
    tv_lock_leave(&reading->lock);
}

/* Work until there is nothing to do.  A thread does not wait for the others: those that are busy go
 * on alone until the next call of tv_workers_run. */
static void jfr_worker_run(void *context, unsigned index)
{
    struct jfr_reading *reading = context;
    struct jfr_job *job;
    bool take;
    (void)index;
    for (;;) {
        tv_lock_enter(&reading->lock);
        bool chosen = jfr_choose(reading, &job, &take);
        tv_lock_leave(&reading->lock);
        if (!chosen)
            break;
        jfr_work(reading, job, take);
    }
}

/* Read and take one chunk of which no more is known than where the one before ends.  Return false
 * when there is none. */
static bool jfr_take_next(struct jfr_reading *reading)
{
    struct jfr_job *job = &reading->tail;
    job->at = reading->at;
    if (job->at >= job->window.file_size)
        return false;
    job->status = jfr_window_move(&job->window, job->at, &job->error);
    job->found = false;
    if (job->status == TV_OK)
        jfr_job_scan(reading, job);
    jfr_job_take(reading, job);
    if (job->found)
        reading->at = job->next;
    return job->found && reading->status == TV_OK;
}

/* Read all chunks.  They are taken into the trace in their order, by one thread at a time, while
 * others read and scan the next. */
static void jfr_read_chunks(struct jfr_reading *reading)
{
    uint64_t size;
    bool more = true;
    while (more) {
        if (reading->begun_jobs > reading->taken_jobs || jfr_can_begin(reading, &size))
            tv_workers_run(reading->job_count - 1, jfr_worker_run, reading);
        else
            more = reading->status == TV_OK && jfr_take_next(reading);
    }
    if (reading->status == TV_OK && reading->at < reading->tail.window.file_size)
        tv_profile_warn(reading->recording->profile, TV_DIAGNOSTIC_TRAILING_BYTES, reading->at);
}

/* Read the chunks in parallel and take them in order. */
static enum tv_status jfr_read_file(struct tv_jfr_recording *recording, struct tv_source *source,
                                    const struct tv_read_options *options, struct tv_error *err)
{
    struct jfr_reading *reading = tv_alloc(1, sizeof *reading);
    *reading = (struct jfr_reading){
        .recording = recording,
        .progress = options->progress,
        .detail = recording->profile->trace->tables.sample_sums.detail,
        .err = err,
    };
    /* One thread would only need the memory of several chunks instead of one. */
    unsigned workers = options->parts ? options->parts : tv_workers_available();
    reading->job_count = workers < 2 ? 1 : workers < JFR_MAX_JOBS ? workers + 1 : JFR_MAX_JOBS;
    struct jfr_window window = {.source = source, .file_size = tv_source_size(source)};
    reading->tail.window = window;
    for (unsigned i = 0; i < JFR_MAX_JOBS; i++)
        reading->jobs[i].window = window;
    tv_lock_init(&reading->lock);
    jfr_read_chunks(reading);
    tv_lock_release(&reading->lock);
    for (unsigned i = 0; i < JFR_MAX_JOBS; i++)
        jfr_window_release(&reading->jobs[i].window);
    jfr_window_release(&reading->tail.window);
    enum tv_status status = reading->status;
    tv_free(reading);
    return status;
}

/* Read a recording.  The version is checked before the input begins: a recording of another version
 * leaves no half input behind. */
static enum tv_status jfr_assemble(struct tv_source *source, struct tv_builder *builder,
                                   const struct tv_read_options *options, struct tv_error *err)
{
    struct tv_profile_input profile;
    struct tv_jfr_recording recording;
    uint8_t header[TV_JFR_HEADER_SIZE];
    size_t got = 0;
    enum tv_status status = tv_source_read(source, 0, header, sizeof header, &got, err);
    if (status == TV_OK)
        status = jfr_check_version((struct tv_bytes){header, got}, err);
    if (status != TV_OK)
        return status;
    tv_profile_input_begin(&profile, source, builder, FORMAT);
    profile.info->inputs[profile.input].describe = tv_jfr_describe;
    tv_jfr_recording_init(&recording, &profile, options->progress);
    status = jfr_read_file(&recording, source, options, err);
    tv_jfr_recording_finish(&recording);
    tv_profile_input_end(&profile, options);
    return status;
}

const struct tv_reader tv_reader_jfr = {
    .name = "jfr",
    .sniff = jfr_sniff,
    .assemble = jfr_assemble,
    .refuses_empty = true,
    .shows_all_events = true,
    .format = FORMAT,
    .describe = tv_jfr_describe,
};
