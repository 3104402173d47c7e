/* SPDX-License-Identifier: Apache-2.0 */
/*
 * simpleperf.c - the messages that simpleperf's report-sample writes, also in the old form without
 * a magic number: docs/formats/simpleperf.md.
 *
 *     "SIMPLEPERF" | u16 version | u32 size, record | ... | u32 0
 *
 *     1 sample     {1 time, 2 tid, 3 frame, 4 event count, 5 event, 6 unwinding result}
 *       frame      {1 address, 2 file, 3 symbol, 4 execution type}; the leaf comes first
 *     3 file       {1 id, 2 path, 3 symbol (mangled)}; symbols in the order of their numbers
 *     4 thread     {1 tid, 2 pid, 3 name}
 *     5 meta info  {1 event, 2 package, 4 Android version, 6 --trace-offcpu}
 *     6 switch     {1 on, 2 time, 3 tid}
 *
 * Files, threads and events come after the samples that refer to them, so the records are read
 * twice. A record that is cut ends the reading; one that is damaged counts with the fields before
 * the damage. An id that nothing defines gives "[unknown]" or a thread without a name.
 */
#include "readers/readers.h"

#include <assert.h>

#include "base/hash.h"
#include "base/memory.h"
#include "base/protobuf.h"
#include "readers/perf/off_cpu.h"
#include "readers/perf/script_line.h"
#include "readers/profile_input.h"

#define MAGIC TV_BYTES("SIMPLEPERF")
#define VERSION_SIZE 2
#define NO_SYMBOL UINT32_MAX

/* Fields of a record: which message it is. */
enum { RECORD_SAMPLE = 1, RECORD_LOST, RECORD_FILE, RECORD_THREAD, RECORD_META, RECORD_SWITCH };

/* Execution types of a frame, numbered as simpleperf numbers them. */
enum { RUNS_NATIVE, RUNS_INTERPRETED, RUNS_JIT, RUNS_ART };

struct simpleperf_file {
    struct tv_bytes path;
    size_t first, count; /* in `symbols` of the report, which has those of all files */
};

struct simpleperf_thread {
    uint64_t pid;
    struct tv_bytes name;
};

struct simpleperf_event {
    struct tv_bytes name;
    uint32_t type; /* value type */
};

struct simpleperf_entry {
    uint64_t address, file, symbol, runs;
};

struct simpleperf {
    struct tv_profile_input profile;
    struct tv_bytes records;
    const uint8_t *start; /* start of the source */
    struct tv_map files, threads, frames;
    TV_TABLE(simpleperf_file) file_table;
    TV_TABLE(simpleperf_thread) thread_table;
    TV_TABLE(simpleperf_event) events;
    TV_TABLE(tv_bytes) symbols;
    TV_TABLE(simpleperf_entry) stack; /* leaf first */
    bool traces_off_cpu;
    struct tv_off_cpu off_cpu;
};

static void simpleperf_warn(struct simpleperf *report, enum tv_diagnostic_kind kind,
                            const uint8_t *at)
{
    tv_profile_warn(&report->profile, kind, (uint64_t)(at - report->start));
}

/* ---- Records ---- */

/* Take the next record: its length, and a message with one field.  False: the end. */
static bool simpleperf_take_record(struct tv_cursor *cursor, struct tv_protobuf_field *record)
{
    struct tv_cursor inside = *cursor;
    struct tv_bytes message;
    uint32_t size;
    if (!tv_cursor_take_u32(&inside, &size) || size == 0 ||
        !tv_cursor_take_bytes(&inside, size, &message))
        return false;
    struct tv_cursor fields = tv_cursor_over(message);
    if (!tv_protobuf_next(&fields, record))
        *record = (struct tv_protobuf_field){.bytes = {message.data, 0}};
    *cursor = inside;
    return true;
}

/* Return true when the records end with a length of 0, as they must. */
static bool simpleperf_has_ended(struct tv_cursor cursor)
{
    uint32_t size;
    return tv_cursor_take_u32(&cursor, &size) && size == 0;
}

/* ---- Files, threads, events: they come after the samples ---- */

/* Take a File {1 id, 2 path, 3 symbols}; samples name symbols by their index. */
static void simpleperf_take_file(struct simpleperf *report, struct tv_bytes message)
{
    struct tv_cursor cursor = tv_cursor_over(message);
    struct tv_protobuf_field field;
    struct simpleperf_file file = {.path = {message.data, 0}, .first = report->symbols.count};
    uint64_t id = 0;
    while (tv_protobuf_next(&cursor, &field)) {
        if (field.number == 1)
            id = (uint32_t)field.value;
        else if (field.number == 2)
            file.path = field.bytes;
        else if (field.number == 3)
            *tv_table_add(&report->symbols) = field.bytes;
    }
    file.count = report->symbols.count - file.first;
    if (!tv_protobuf_is_sound(&cursor))
        simpleperf_warn(report, TV_DIAGNOSTIC_BAD_PACKET, cursor.at);
    tv_map_set(&report->files, id, (uint32_t)report->file_table.count);
    *tv_table_add(&report->file_table) = file;
}

/* Take a thread {1 tid, 2 pid, 3 name}. */
static void simpleperf_take_thread(struct simpleperf *report, struct tv_bytes message)
{
    struct tv_cursor cursor = tv_cursor_over(message);
    struct tv_protobuf_field field;
    struct simpleperf_thread thread = {.name = {message.data, 0}};
    uint64_t tid = 0;
    while (tv_protobuf_next(&cursor, &field)) {
        if (field.number == 1)
            tid = (uint32_t)field.value;
        else if (field.number == 2)
            thread.pid = (uint32_t)field.value;
        else if (field.number == 3)
            thread.name = field.bytes;
    }
    tv_map_set(&report->threads, tid, (uint32_t)report->thread_table.count);
    *tv_table_add(&report->thread_table) = thread;
}

/* Take the MetaInfo {1 event types, 2 application, 4 Android version, 6 --trace-offcpu}. */
static void simpleperf_take_meta(struct simpleperf *report, struct tv_bytes message)
{
    struct tv_cursor cursor = tv_cursor_over(message);
    struct tv_protobuf_field field;
    struct tv_profile_input *profile = &report->profile;
    while (tv_protobuf_next(&cursor, &field)) {
        if (field.number == 1 && report->events.count < TV_TYPES_MAX)
            *tv_table_add(&report->events) = (struct simpleperf_event){
                .name = field.bytes,
                .type = tv_profile_value_type(profile, field.bytes, tv_perf_unit(field.bytes)),
            };
        else if (field.number == 2)
            tv_trace_info_add_metadata(profile->info, profile->input, TV_BYTES("app_package_name"),
                                       field.bytes);
        else if (field.number == 4)
            tv_trace_info_add_metadata(profile->info, profile->input,
                                       TV_BYTES("android_sdk_version"), field.bytes);
        else if (field.number == 6)
            report->traces_off_cpu = field.value != 0;
    }
}

/* Take { 1: samples, 2: lost ones }. */
static void simpleperf_take_lost(struct simpleperf *report, struct tv_bytes message)
{
    struct tv_cursor cursor = tv_cursor_over(message);
    struct tv_protobuf_field field;
    while (tv_protobuf_next(&cursor, &field))
        if (field.number == 2 && field.value > 0)
            simpleperf_warn(report, TV_DIAGNOSTIC_EVENTS_LOST, message.data);
}

/* Take the files, threads and settings, which come after the samples that need them. */
static enum tv_status simpleperf_take_tables(struct simpleperf *report,
                                             struct tv_progress *progress, struct tv_error *err)
{
    struct tv_cursor cursor = tv_cursor_over(report->records);
    struct tv_protobuf_field record;
    uint64_t switches = 0, count = 0;
    while (simpleperf_take_record(&cursor, &record)) {
        switch (record.number) {
        case RECORD_LOST:
            simpleperf_take_lost(report, record.bytes);
            break;
        case RECORD_FILE:
            simpleperf_take_file(report, record.bytes);
            break;
        case RECORD_THREAD:
            simpleperf_take_thread(report, record.bytes);
            break;
        case RECORD_META:
            simpleperf_take_meta(report, record.bytes);
            break;
        case RECORD_SWITCH:
            switches++;
            break;
        case RECORD_SAMPLE:
            break;
        default:
            simpleperf_warn(report, TV_DIAGNOSTIC_BAD_PACKET, record.bytes.data);
            break;
        }
        if (++count % 1024 == 0 && tv_reader_is_cancelled(progress))
            return tv_reader_check_cancel(progress, err);
    }
    if (!simpleperf_has_ended(cursor))
        simpleperf_warn(report, TV_DIAGNOSTIC_TRUNCATED, cursor.at);
    if (switches > 0)
        tv_tables_count_events(&report->profile.trace->tables, report->profile.input,
                               tv_profile_string(&report->profile, TV_BYTES("context_switch")),
                               switches);
    return TV_OK;
}

/* ---- Frames ---- */

/* Return how the code ran; "ART" is the runtime itself, which is native code. */
static enum tv_frame_kind simpleperf_frame_kind(const struct simpleperf_entry *entry,
                                                struct tv_bytes path)
{
    switch (entry->runs) {
    case RUNS_INTERPRETED:
        return TV_FRAME_INTERPRETED;
    case RUNS_JIT:
        return TV_FRAME_JIT;
    default:
        return tv_perf_frame_kind(path, 0);
    }
}

/* Add a frame: the symbol, or "libart.so+0x1f0". */
static uint32_t simpleperf_make_frame(struct simpleperf *report,
                                      const struct simpleperf_entry *entry)
{
    uint32_t number = tv_map_find(&report->files, entry->file);
    struct tv_frame frame = {.name = tv_profile_string(&report->profile, TV_BYTES("[unknown]"))};
    if (number == TV_NONE)
        return tv_trace_info_add_frame(report->profile.info, &frame);
    const struct simpleperf_file *file = &report->file_table.rows[number];
    frame.module = tv_profile_string(&report->profile, file->path);
    frame.kind = (uint8_t)simpleperf_frame_kind(entry, file->path);
    if (entry->symbol < file->count) {
        frame.name = tv_profile_string(&report->profile,
                                       report->symbols.rows[file->first + (size_t)entry->symbol]);
    } else {
        struct tv_out out;
        tv_out_init_memory(&out);
        tv_out_bytes(&out, tv_bytes_base_name(file->path));
        tv_out_format(&out, "+0x%llx", (unsigned long long)entry->address);
        frame.name = tv_profile_string(&report->profile, (struct tv_bytes){out.buffer, out.length});
        tv_out_release(&out);
    }
    return tv_trace_info_add_native_frame(report->profile.info, &frame);
}

/* Return the frame of an entry. Entries repeat, so frames are looked up by file and symbol. */
static uint32_t simpleperf_frame(struct simpleperf *report, const struct simpleperf_entry *entry)
{
    /* A function with a symbol is the same at all of its addresses. */
    uint64_t key[] = {entry->file, entry->symbol, entry->symbol == NO_SYMBOL ? entry->address : 0};
    uint64_t hash = tv_hash_bytes((struct tv_bytes){(const uint8_t *)key, sizeof key});
    uint32_t number = tv_map_find(&report->files, entry->file);
    if (number == TV_NONE || entry->symbol >= report->file_table.rows[number].count)
        return simpleperf_make_frame(report, entry);
    uint32_t frame = tv_map_find(&report->frames, hash);
    if (frame == TV_NONE) {
        frame = simpleperf_make_frame(report, entry);
        tv_map_set(&report->frames, hash, frame);
    }
    return frame;
}

/* ---- Samples ---- */

static void simpleperf_take_entry(struct simpleperf *report, struct tv_bytes message)
{
    struct tv_cursor cursor = tv_cursor_over(message);
    struct tv_protobuf_field field;
    struct simpleperf_entry entry = {0};
    while (tv_protobuf_next(&cursor, &field)) {
        switch (field.number) {
        case 1:
            entry.address = field.value;
            break;
        case 2:
            entry.file = (uint32_t)field.value;
            break;
        case 3:
            entry.symbol = (uint32_t)field.value;
            break;
        case 4:
            entry.runs = field.value;
            break;
        default:
            break;
        }
    }
    *tv_table_add(&report->stack) = entry;
}

/* Return the value type of an event; files of old versions tell none. */
static uint32_t simpleperf_event_type(struct simpleperf *report, uint64_t number)
{
    if (number < report->events.count)
        return report->events.rows[number].type;
    return tv_profile_value_type(&report->profile, TV_BYTES("samples"), TV_BYTES("count"));
}

/* Return true for the event whose samples say that a thread leaves its processor. */
static bool simpleperf_leaves_processor(const struct simpleperf *report, uint64_t number)
{
    return number < report->events.count &&
           tv_bytes_equal(report->events.rows[number].name, TV_OFF_CPU_EVENT);
}

/* Return a thread; the main thread has the name of its process. */
static uint32_t simpleperf_thread(struct simpleperf *report, uint64_t tid)
{
    uint32_t number = tv_map_find(&report->threads, tid);
    struct simpleperf_thread none = {.name = TV_BYTES("")};
    const struct simpleperf_thread *thread =
        number == TV_NONE ? &none : &report->thread_table.rows[number];
    bool is_main = thread->pid == tid;
    uint32_t process =
        tv_profile_process(&report->profile, thread->pid, is_main ? thread->name : TV_BYTES(""));
    return tv_profile_thread(&report->profile, process, tid, thread->name);
}

/* Push the frames from the root on. */
static void simpleperf_push_stack(struct simpleperf *report)
{
    tv_profile_stack_begin(&report->profile);
    for (size_t i = report->stack.count; i > 0; i--)
        tv_profile_stack_push(&report->profile,
                              simpleperf_frame(report, &report->stack.rows[i - 1]), 0);
}

/* Take a Sample {1 time, 2 thread, 3 call chain, 4 count, 5 event, 6 why unwinding stopped}. */
static void simpleperf_take_sample(struct simpleperf *report, struct tv_bytes message)
{
    struct tv_cursor cursor = tv_cursor_over(message);
    struct tv_protobuf_field field;
    struct tv_sample sample = {.cpu = TV_NONE, .weight = 1};
    uint64_t tid = 0, event = 0, time = 0, count = 1;
    report->stack.count = 0;
    while (tv_protobuf_next(&cursor, &field)) {
        switch (field.number) {
        case 1:
            time = field.value;
            break;
        case 2:
            tid = (uint32_t)field.value;
            break;
        case 3:
            simpleperf_take_entry(report, field.bytes);
            break;
        case 4:
            count = field.value;
            break;
        case 5:
            event = (uint32_t)field.value;
            break;
        case 6:
            simpleperf_warn(report, TV_DIAGNOSTIC_STACK_BROKEN, message.data);
            break;
        default:
            break;
        }
    }
    if (!tv_protobuf_is_sound(&cursor))
        simpleperf_warn(report, TV_DIAGNOSTIC_BAD_PACKET, cursor.at);
    simpleperf_push_stack(report);
    sample.time = time > INT64_MAX ? INT64_MAX : (tv_ns)time;
    sample.weight = count > INT64_MAX ? INT64_MAX : (int64_t)count;
    sample.offset = (uint64_t)(message.data - report->start);
    sample.thread = simpleperf_thread(report, tid);
    sample.type = simpleperf_event_type(report, event);
    struct tv_profile_input *profile = &report->profile;
    tv_profile_add_sample(profile, sample);
    if (report->traces_off_cpu)
        tv_off_cpu_note_sample(&report->off_cpu, profile, &sample,
                               simpleperf_leaves_processor(report, event));
    profile->info->inputs[profile->input].samples++;
    tv_tables_count_events(&profile->trace->tables, profile->input,
                           profile->trace->tables.value_types.rows[sample.type].name, 1);
}

/* Take a ContextSwitch {1 on, 2 time, 3 thread}. */
static void simpleperf_take_switch(struct simpleperf *report, struct tv_bytes message)
{
    struct tv_cursor cursor = tv_cursor_over(message);
    struct tv_protobuf_field field;
    uint64_t tid = 0, time = 0;
    bool on = false;
    while (tv_protobuf_next(&cursor, &field)) {
        if (field.number == 1)
            on = field.value != 0;
        else if (field.number == 2)
            time = field.value;
        else if (field.number == 3)
            tid = (uint32_t)field.value;
    }
    if (!tv_protobuf_is_sound(&cursor))
        simpleperf_warn(report, TV_DIAGNOSTIC_BAD_PACKET, cursor.at);
    struct tv_sample at = {
        .time = time > INT64_MAX ? INT64_MAX : (tv_ns)time,
        .offset = (uint64_t)(message.data - report->start),
        .thread = simpleperf_thread(report, tid),
        .cpu = TV_NONE,
    };
    tv_off_cpu_note_switch(&report->off_cpu, &report->profile, on, at);
}

/* Read the records again for the samples, whose files and threads are known now. */
static enum tv_status simpleperf_take_samples(struct simpleperf *report,
                                              struct tv_progress *progress, struct tv_error *err)
{
    struct tv_cursor cursor = tv_cursor_over(report->records);
    struct tv_protobuf_field record;
    uint64_t count = 0;
    while (simpleperf_take_record(&cursor, &record)) {
        if (record.number == RECORD_SAMPLE)
            simpleperf_take_sample(report, record.bytes);
        else if (record.number == RECORD_SWITCH)
            simpleperf_take_switch(report, record.bytes);
        if (++count % 1024 == 0 && tv_reader_is_cancelled(progress))
            break;
    }
    return tv_reader_check_cancel(progress, err);
}

/* ---- The file ---- */

static void simpleperf_release(struct simpleperf *report)
{
    tv_map_release(&report->files);
    tv_map_release(&report->threads);
    tv_map_release(&report->frames);
    tv_free(report->file_table.rows);
    tv_free(report->thread_table.rows);
    tv_free(report->events.rows);
    tv_free(report->symbols.rows);
    tv_free(report->stack.rows);
    tv_off_cpu_release(&report->off_cpu);
}

static struct tv_bytes simpleperf_records(struct tv_bytes bytes)
{
    size_t head = MAGIC.length + VERSION_SIZE;
    if (!tv_bytes_starts_with(bytes, MAGIC))
        return bytes;
    head = head < bytes.length ? head : bytes.length;
    return (struct tv_bytes){bytes.data + head, bytes.length - head};
}

static enum tv_status simpleperf_assemble(struct tv_source *source, struct tv_builder *builder,
                                          const struct tv_read_options *options,
                                          struct tv_error *err)
{
    struct simpleperf report = {.start = NULL};
    struct tv_profile_text text;
    enum tv_status status = tv_profile_text_read(source, &text, err);
    if (status != TV_OK)
        return status;
    tv_profile_input_begin(&report.profile, source, builder, tv_reader_simpleperf.format);
    report.profile.info->inputs[report.profile.input].figures = TV_FIGURES_SAMPLED;
    report.start = text.bytes.data;
    report.records = simpleperf_records(text.bytes);
    tv_map_init(&report.files);
    tv_map_init(&report.threads);
    tv_map_init(&report.frames);
    status = simpleperf_take_tables(&report, options->progress, err);
    if (status == TV_OK)
        status = simpleperf_take_samples(&report, options->progress, err);
    tv_off_cpu_finish(&report.off_cpu, &report.profile, options);
    simpleperf_release(&report);
    tv_profile_input_end(&report.profile, options);
    tv_profile_text_release(&text);
    return status;
}

/* Return true for records of versions that wrote no magic number: each is one field of bytes that
 * fills the record. */
static bool simpleperf_is_old(struct tv_bytes prefix)
{
    struct tv_cursor cursor = tv_cursor_over(prefix);
    struct tv_bytes skipped;
    uint32_t size, records = 0;
    while (tv_cursor_take_u32(&cursor, &size) && size > 0) {
        struct tv_cursor inside = cursor;
        uint64_t length;
        uint8_t tag;
        if (!tv_cursor_take_u8(&inside, &tag))
            break;
        if ((tag & 7) != TV_PROTOBUF_BYTES || tag >> 3 == 0 || tag >> 3 > RECORD_SWITCH ||
            !tv_cursor_take_uleb(&inside, &length) || length > size ||
            length + (tv_cursor_position(&inside) - tv_cursor_position(&cursor)) != size)
            return false;
        records++;
        if (!tv_cursor_take_bytes(&cursor, size, &skipped))
            break;
    }
    return records > 1;
}

static int simpleperf_sniff(struct tv_bytes prefix, uint64_t size)
{
    (void)size;
    if (tv_bytes_starts_with(prefix, MAGIC))
        return TV_SNIFF_SURE;
    return simpleperf_is_old(prefix) ? 50 : 0;
}

const struct tv_reader tv_reader_simpleperf = {
    .name = "simpleperf",
    .sniff = simpleperf_sniff,
    .assemble = simpleperf_assemble,
    .refuses_empty = true,
    .format = "simpleperf report",
};
