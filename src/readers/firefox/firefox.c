/* SPDX-License-Identifier: Apache-2.0 */
/*
 * firefox.c - profiles of the Firefox Profiler: processed (what the profiler and samply save) and
 * gecko (what the browser and simpleperf write).
 *
 * Both are tables, and differ in how they are written:
 *
 *     processed   {"stack": [1, 2], "time": [0, 1.5], "length": 2}
 *     gecko       {"schema": {"stack": 0, "time": 1}, "data": [[1, 0], [2, 1.5]]}
 *
 * tv_firefox_read_table makes columns of both.  A stack is a row with the row of its caller, a
 * frame a row with a function, a function a row with a name.  Newer files have these tables once
 * for all threads ("shared"), older ones in each thread.
 */
#include "readers/firefox/firefox.h"

#include "base/bytes.h"
#include "base/memory.h"
#include "base/out.h"
#include "readers/json/profile_kind.h"

#define TV_BYTES_OF(text)                                                                          \
    {                                                                                              \
        (const uint8_t *)(text), sizeof(text) - 1                                                  \
    }

/* Deepest nesting of "processes"; browsers nest once. */
#define PROCESSES_MAX 8

/* ---- Threads ---- */

enum {
    THREAD_NAME,
    THREAD_PROCESS,
    THREAD_PID,
    THREAD_TID,
    THREAD_SAMPLES,
    THREAD_MARKERS,
    THREAD_JS_ALLOCATIONS,
    THREAD_NATIVE_ALLOCATIONS,
    THREAD_MEMBERS
};

static const char *const thread_keys[THREAD_MEMBERS] = {
    "name",    "processName", "pid",           "tid",
    "samples", "markers",     "jsAllocations", "nativeAllocations"};

/* Return the process with an id, which may be any text. */
uint32_t tv_firefox_process(struct tv_firefox *file, uint32_t id, struct tv_bytes name)
{
    struct tv_bytes text = tv_trace_info_text(file->profile.info, id);
    uint64_t pid;
    if (id == TV_EMPTY_STRING || tv_parse_u64(text, &pid))
        return tv_profile_process(&file->profile, id == TV_EMPTY_STRING ? 0 : pid, name);
    /* Numbers from 2^32 on are no process ids. */
    pid = (UINT64_C(1) << 32) + tv_map_add(&file->pids, id, (uint32_t)file->pids.count);
    uint32_t process = tv_profile_process(&file->profile, pid, name);
    file->profile.info->processes[process].key = id;
    return process;
}

/* Return the thread of the model. A tid may be any text, too ("Worker-1"): such threads get numbers
 * that no system uses, and keep the text as their key. */
static uint32_t firefox_thread(struct tv_firefox *file, const struct tv_json_member *members)
{
    struct tv_trace_info *info = file->profile.info;
    uint32_t name = tv_firefox_string_at(file, members[THREAD_NAME].offset);
    uint32_t process_name = tv_firefox_string_at(file, members[THREAD_PROCESS].offset);
    uint32_t pid = tv_firefox_string_at(file, members[THREAD_PID].offset);
    uint32_t tid = tv_firefox_string_at(file, members[THREAD_TID].offset);
    uint32_t process = tv_firefox_process(file, pid, tv_trace_info_text(info, process_name));
    uint64_t number;
    bool plain = tv_parse_u64(tv_trace_info_text(info, tid), &number);
    if (!plain)
        number = (UINT64_C(1) << 32) + file->threads;
    uint32_t thread =
        tv_profile_thread(&file->profile, process, number, tv_trace_info_text(info, name));
    if (!plain)
        info->threads[thread].key = tid;
    return thread;
}

/* Read a thread: its stacks first, since samples, allocations and markers refer to them by row. */
static void firefox_read_thread(struct tv_firefox *file, struct tv_json_stream *stream)
{
    static const struct tv_firefox_weights js = {TV_BYTES_OF("jsAllocations"), TV_BYTES_OF("bytes"),
                                                 TV_FIREFOX_INTEGER, "jsAllocations"};
    static const struct tv_firefox_weights native = {TV_BYTES_OF("nativeAllocations"),
                                                     TV_BYTES_OF("bytes"), TV_FIREFOX_INTEGER,
                                                     "nativeAllocations"};
    struct tv_json_member members[THREAD_MEMBERS];
    struct tv_firefox_stacks own = {.has_stacks = false};
    uint64_t offset = tv_json_stream_offset(stream);
    for (size_t i = 0; i < THREAD_MEMBERS; i++)
        members[i].key = thread_keys[i];
    if (!tv_json_find_members(stream, members, THREAD_MEMBERS)) {
        tv_profile_warn(&file->profile, TV_DIAGNOSTIC_SUBTRACE_UNREAD, offset);
        return;
    }
    file->threads++;
    tv_firefox_read_stacks(file, offset, &own);
    struct tv_firefox_thread thread = {.stacks = own.has_stacks ? &own : &file->shared,
                                       .number = firefox_thread(file, members)};
    struct tv_firefox_weights weights = tv_firefox_weights_of(file, members[THREAD_SAMPLES].offset);
    if (members[THREAD_SAMPLES].offset != TV_NO_OFFSET)
        tv_firefox_read_samples(file, &thread, members[THREAD_SAMPLES].offset, &weights);
    else if (thread.stacks->has_stacks && !file->cut)
        tv_profile_warn(&file->profile, TV_DIAGNOSTIC_MEMBER_MISSING, offset);
    if (members[THREAD_JS_ALLOCATIONS].offset != TV_NO_OFFSET)
        tv_firefox_read_samples(file, &thread, members[THREAD_JS_ALLOCATIONS].offset, &js);
    if (members[THREAD_NATIVE_ALLOCATIONS].offset != TV_NO_OFFSET)
        tv_firefox_read_samples(file, &thread, members[THREAD_NATIVE_ALLOCATIONS].offset, &native);
    if (members[THREAD_MARKERS].offset != TV_NO_OFFSET)
        tv_firefox_read_markers(file, &thread, members[THREAD_MARKERS].offset);
    tv_firefox_release_stacks(&own);
}

/* ---- The file ---- */

static void firefox_warn_end(struct tv_firefox *file, const struct tv_json_stream *stream)
{
    file->cut = stream->bad;
    if (stream->bad)
        tv_profile_warn(&file->profile, TV_DIAGNOSTIC_TRUNCATED, tv_json_stream_offset(stream));
}

enum {
    META_START,
    META_CATEGORIES,
    META_UNITS,
    META_PREPROCESSED,
    META_VERSION,
    META_PRODUCT,
    META_MEMBERS
};

static const char *const meta_keys[META_MEMBERS] = {
    "startTime", "categories", "sampleUnits", "preprocessedProfileVersion", "version", "product"};

/* The newest processed version whose changes are known; later ones only added columns so far. */
#define NEWEST_VERSION 70

/* Read the unit of threadCPUDelta. */
static void firefox_read_units(struct tv_firefox *file, uint64_t offset)
{
    struct tv_json_member member = {"threadCPUDelta", 0};
    struct tv_json_stream stream;
    if (!tv_firefox_at(file, offset, &stream) || !tv_json_find_members(&stream, &member, 1))
        return;
    uint32_t unit = tv_firefox_string_at(file, member.offset);
    struct tv_bytes text = tv_trace_info_text(file->profile.info, unit);
    /* Any other unit ("variable CPU cycles") stays "cycles". The micro sign has two code points. */
    file->cpu_factor = 1;
    if (tv_bytes_equal(text, TV_BYTES("ns"))) {
        file->cpu_unit = "nanoseconds";
    } else if (tv_bytes_equal(text, TV_BYTES("\xc2\xb5s")) ||
               tv_bytes_equal(text, TV_BYTES("\xce\xbcs"))) {
        file->cpu_unit = "nanoseconds";
        file->cpu_factor = 1000;
    }
}

static uint32_t firefox_version_text(struct tv_profile_input *profile, int64_t version)
{
    struct tv_out out;
    tv_out_init_memory(&out);
    tv_out_i64(&out, version);
    uint32_t text = tv_profile_string(profile, (struct tv_bytes){out.buffer, out.length});
    tv_out_release(&out);
    return text;
}

/* Note what the whole file is. */
static void firefox_describe_input(struct tv_firefox *file, const struct tv_json_member *members)
{
    struct tv_profile_input *profile = &file->profile;
    struct tv_input *input = &profile->info->inputs[profile->input];
    struct tv_json_stream stream;
    int64_t version = 0;
    bool processed = tv_firefox_at(file, members[META_PREPROCESSED].offset, &stream) &&
                     tv_json_take_number(&stream, 0, &version);
    if (!processed && tv_firefox_at(file, members[META_VERSION].offset, &stream))
        (void)tv_json_take_number(&stream, 0, &version);
    if (version > 0)
        input->version = firefox_version_text(profile, version);
    if (processed && version > NEWEST_VERSION)
        tv_profile_warn(profile, TV_DIAGNOSTIC_NEWER_VERSION, members[META_PREPROCESSED].offset);
    uint32_t product = tv_firefox_string_at(file, members[META_PRODUCT].offset);
    tv_trace_info_add_metadata(profile->info, profile->input, TV_BYTES("product"),
                               tv_trace_info_text(profile->info, product));
    /* startTime is a date since 2001-09; smaller numbers are no times of a calendar. */
    if (file->start > INT64_C(1000000000) * 1000000000)
        input->recorded_us = file->start / 1000;
}

/* Read "meta". Times of a process count from its own startTime; `base`, that of the outermost
 * profile, is the zero of the input. */
static void firefox_read_meta(struct tv_firefox *file, uint64_t offset, bool outermost)
{
    struct tv_json_member members[META_MEMBERS];
    struct tv_json_stream stream;
    for (size_t i = 0; i < META_MEMBERS; i++)
        members[i].key = meta_keys[i];
    if (!tv_firefox_at(file, offset, &stream) ||
        !tv_json_find_members(&stream, members, META_MEMBERS))
        return;
    int64_t start = tv_firefox_ms_at(file, members[META_START].offset);
    file->start = start == TV_FIREFOX_ABSENT ? file->base : start;
    tv_firefox_read_names(file, members[META_CATEGORIES].offset, &file->categories);
    firefox_read_units(file, members[META_UNITS].offset);
    if (!outermost)
        return;
    file->base = file->start;
    firefox_describe_input(file, members);
}

enum {
    FILE_META,
    FILE_LIBS,
    FILE_SHARED,
    FILE_THREADS,
    FILE_COUNTERS,
    FILE_PROCESSES,
    FILE_PROFILE,
    FILE_MARKERS,
    FILE_MEMBERS
};

static const char *const file_keys[FILE_MEMBERS] = {"meta",     "libs",      "shared",  "threads",
                                                    "counters", "processes", "profile", "markers"};

/* A profile inside of the file; the browser has one for each child process. */
struct firefox_nested {
    uint64_t offset;
    unsigned depth;
};

struct firefox_queue {
    struct firefox_nested *rows;
    size_t count, capacity;
};

static void firefox_queue_add(struct tv_firefox *file, struct firefox_queue *queue, uint64_t offset,
                              unsigned depth)
{
    if (depth > PROCESSES_MAX) {
        tv_profile_warn(&file->profile, TV_DIAGNOSTIC_TOO_NESTED, offset);
        return;
    }
    queue->rows =
        tv_array_reserve(queue->rows, &queue->capacity, queue->count + 1, sizeof *queue->rows);
    queue->rows[queue->count++] = (struct firefox_nested){offset, depth};
}

static void firefox_queue_processes(struct tv_firefox *file, struct firefox_queue *queue,
                                    uint64_t offset, unsigned depth)
{
    struct tv_json_stream stream;
    if (!tv_firefox_at(file, offset, &stream) || !tv_json_open(&stream, '['))
        return;
    while (tv_json_take_element(&stream)) {
        firefox_queue_add(file, queue, tv_json_stream_offset(&stream), depth + 1);
        tv_json_skip(&stream);
    }
}

/* Read one profile, and queue those inside of it. A queue, and no recursion: nesting is chosen by
 * the file. */
static void firefox_read_profile(struct tv_firefox *file, struct firefox_queue *queue,
                                 struct firefox_nested from)
{
    struct tv_json_member members[FILE_MEMBERS];
    struct tv_json_stream stream = tv_json_stream_at(&file->stream, (size_t)from.offset);
    for (size_t i = 0; i < FILE_MEMBERS; i++)
        members[i].key = file_keys[i];
    (void)tv_json_find_members(&stream, members, FILE_MEMBERS);
    if (from.depth == 0)
        firefox_warn_end(file, &stream);
    file->has_lists |= stream.bad || members[FILE_THREADS].offset != TV_NO_OFFSET ||
                       members[FILE_COUNTERS].offset != TV_NO_OFFSET;
    if (members[FILE_META].offset == TV_NO_OFFSET && members[FILE_PROFILE].offset != TV_NO_OFFSET) {
        /* A recording of the old developer tools has the profile inside. */
        tv_firefox_read_recording(file, members[FILE_MARKERS].offset);
        firefox_queue_add(file, queue, members[FILE_PROFILE].offset, from.depth + 1);
        return;
    }
    firefox_read_meta(file, members[FILE_META].offset, file->threads == 0);
    tv_firefox_read_names(file, members[FILE_LIBS].offset, &file->libs);
    tv_firefox_read_stacks(file, members[FILE_SHARED].offset, &file->shared);
    if (tv_firefox_at(file, members[FILE_THREADS].offset, &stream) && tv_json_open(&stream, '['))
        while (tv_json_take_element(&stream))
            firefox_read_thread(file, &stream);
    tv_firefox_read_counters(file, members[FILE_COUNTERS].offset);
    firefox_queue_processes(file, queue, members[FILE_PROCESSES].offset, from.depth);
}

static enum tv_status firefox_assemble(struct tv_source *source, struct tv_builder *builder,
                                       const struct tv_read_options *options, struct tv_error *err)
{
    struct tv_firefox file = {.cpu_unit = "cycles", .cpu_factor = 1};
    struct firefox_queue queue = {.rows = NULL};
    enum tv_status status = tv_profile_text_read(source, &file.text, err);
    if (status != TV_OK)
        return status;
    tv_profile_input_begin(&file.profile, source, builder, "Firefox Profiler");
    tv_map_init(&file.pids);
    file.stream = tv_json_stream_over(file.text.bytes);
    firefox_queue_add(&file, &queue, tv_json_stream_offset(&file.stream), 0);
    for (size_t i = 0; i < queue.count; i++)
        firefox_read_profile(&file, &queue, queue.rows[i]);
    tv_profile_input_end(&file.profile, options);
    if (!file.has_lists)
        status = tv_fail(err, TV_ERR_SYNTAX, 0,
                         "expected \"threads\" in a profile of Firefox, found none");
    tv_firefox_release_stacks(&file.shared);
    tv_map_release(&file.pids);
    tv_te_scratch_release(&file.scratch);
    tv_free(file.libs.rows);
    tv_free(file.categories.rows);
    tv_free(queue.rows);
    tv_profile_text_release(&file.text);
    return status;
}

static int firefox_sniff(struct tv_bytes prefix, uint64_t size)
{
    (void)size;
    return tv_json_profile_kind(prefix) == TV_JSON_PROFILE_FIREFOX ? TV_JSON_PROFILE_SURE : 0;
}

const struct tv_reader tv_reader_firefox = {
    .name = "firefox",
    .sniff = firefox_sniff,
    .assemble = firefox_assemble,
    .refuses_empty = true,
};
