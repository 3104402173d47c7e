/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ninja_log.c - when each output of a build was made.
 *
 * A command with several outputs has a line for each, with the same times and hash.  Lines are in
 * the order in which commands ended, and each run of ninja counts from 0, so an end before that of
 * the line before begins another run.  Runs are processes, laid one after another; commands that
 * ran at once are put on lanes, each the first that was free.
 */
#include "readers/readers.h"

#include <stdio.h>

#include "base/bytes.h"
#include "base/memory.h"
#include "base/sort.h"
#include "readers/profile_input.h"

#define MILLISECOND 1000000

struct ninja_command {
    tv_ns start, end; /* within its run */
    uint64_t offset;
    struct tv_bytes output, hash;
    uint32_t others; /* outputs besides this one */
};

struct ninja_log {
    struct tv_profile_input profile;
    struct ninja_command *commands; /* of the current run */
    size_t count, capacity;
    tv_ns begin; /* of the current run on the axis */
    uint32_t runs;
};

/* Parse "start end mtime output hash", separated by tabs. */
static bool ninja_parse_line(struct tv_bytes line, struct ninja_command *command)
{
    struct tv_bytes start, end, mtime;
    uint64_t from, to;
    *command = (struct ninja_command){.others = 0};
    if (line.length > 0 && line.data[line.length - 1] == '\r')
        line.length--;
    if (!tv_bytes_split(&line, '\t', &start) || !tv_bytes_split(&line, '\t', &end) ||
        !tv_bytes_split(&line, '\t', &mtime) || !tv_bytes_split(&line, '\t', &command->output))
        return false;
    command->hash = line;
    if (!tv_parse_u64(start, &from) || !tv_parse_u64(end, &to) || to < from ||
        to > (uint64_t)TV_MOVE_MAX / MILLISECOND)
        return false;
    command->start = (tv_ns)from * MILLISECOND;
    command->end = (tv_ns)to * MILLISECOND;
    return command->output.length > 0;
}

static uint32_t ninja_frame(struct ninja_log *log, const struct ninja_command *command)
{
    struct tv_out name;
    tv_out_init_memory(&name);
    tv_out_bytes(&name, command->output);
    if (command->others > 0)
        tv_out_format(&name, " (+%u)", command->others);
    struct tv_frame frame = {
        .name = tv_profile_string(&log->profile, (struct tv_bytes){name.buffer, name.length})};
    tv_out_release(&name);
    return tv_trace_info_add_frame(log->profile.info, &frame);
}

/* Put the commands of a run on lanes, and let the next run begin after its end. */
static void ninja_end_run(struct ninja_log *log)
{
    struct tv_sort_key *keys = tv_alloc(log->count, sizeof *keys);
    struct tv_lanes lanes = {.count = 0};
    tv_ns end = 0;
    if (log->count > 0)
        log->runs++;
    for (size_t i = 0; i < log->count; i++)
        keys[i] = (struct tv_sort_key){(uint64_t)log->commands[i].start, i};
    tv_sort_keys(keys, log->count);
    for (size_t i = 0; i < log->count; i++) {
        const struct ninja_command *command = &log->commands[keys[i].index];
        uint32_t lane = tv_lanes_claim(&lanes, command->start, command->end);
        uint32_t process = tv_profile_process(&log->profile, log->runs, TV_BYTES(""));
        uint32_t thread = tv_profile_thread(&log->profile, process, lane + 1, TV_BYTES(""));
        struct tv_span span = {.time = log->begin + command->start,
                               .length = command->end - command->start,
                               .offset = command->offset & TV_OFFSET_MASK,
                               .flags = TV_SPAN_WHOLE,
                               .frame = ninja_frame(log, command)};
        tv_profile_add_slice(&log->profile, thread, &span);
        end = command->end > end ? command->end : end;
    }
    log->begin = tv_move_within(log->begin + end);
    log->count = 0;
    tv_lanes_release(&lanes);
    tv_free(keys);
}

/* Take an output.  Outputs of one command stand on lines of their own with equal times, and become
 * one slice.  An end before that of the last command begins another run of ninja. */
static void ninja_take_command(struct ninja_log *log, const struct ninja_command *command)
{
    struct ninja_command *last = log->count > 0 ? &log->commands[log->count - 1] : NULL;
    if (last && last->start == command->start && last->end == command->end &&
        tv_bytes_equal(last->hash, command->hash)) {
        last->others++;
        return;
    }
    if (last && command->end < last->end)
        ninja_end_run(log);
    log->commands =
        tv_array_reserve(log->commands, &log->capacity, log->count + 1, sizeof *log->commands);
    log->commands[log->count++] = *command;
}

/* Take all lines.  A last line without its end was being written. */
static void ninja_take_lines(struct ninja_log *log, struct tv_bytes text)
{
    struct tv_cursor cursor = tv_cursor_over(text);
    struct ninja_command command;
    struct tv_bytes line;
    while (tv_cursor_take_line(&cursor, &line)) {
        uint64_t offset = (uint64_t)(line.data - text.data);
        if (line.length == 0 || line.data[0] == '#')
            continue;
        if (!ninja_parse_line(line, &command)) {
            bool cut = tv_cursor_left(&cursor) == 0 && text.data[text.length - 1] != '\n';
            tv_profile_warn(&log->profile, cut ? TV_DIAGNOSTIC_TRUNCATED : TV_DIAGNOSTIC_BAD_LINE,
                            offset);
            continue;
        }
        command.offset = offset;
        tv_tables_count_events(&log->profile.trace->tables, log->profile.input,
                               tv_profile_string(&log->profile, TV_BYTES("output")), 1);
        ninja_take_command(log, &command);
    }
    ninja_end_run(log);
}

/* Name processes by run and threads by lane. At the end, because lanes are made as overlapping
 * commands need them. */
static void ninja_name_runs(struct ninja_log *log)
{
    struct tv_trace_info *info = log->profile.info;
    char name[40];
    for (uint32_t run = 1; run <= log->runs; run++) {
        int length = snprintf(name, sizeof name, "run %u of ninja", run);
        (void)tv_profile_process(&log->profile, run,
                                 (struct tv_bytes){(const uint8_t *)name, (size_t)length});
    }
    for (uint32_t i = 0; i < info->thread_count; i++) {
        struct tv_thread *thread = &info->threads[i];
        if (thread->input != log->profile.input)
            continue;
        int length = snprintf(name, sizeof name, "lane %u", (unsigned)thread->id);
        thread->name = tv_profile_string(&log->profile,
                                         (struct tv_bytes){(const uint8_t *)name, (size_t)length});
    }
}

static enum tv_status ninja_assemble(struct tv_source *source, struct tv_builder *builder,
                                     const struct tv_read_options *options, struct tv_error *err)
{
    struct tv_profile_text text;
    enum tv_status status = tv_profile_text_read(source, &text, err);
    if (status != TV_OK)
        return status;
    struct ninja_log *log = tv_alloc(1, sizeof *log);
    tv_profile_input_begin(&log->profile, source, builder, "ninja log");
    log->profile.info->inputs[log->profile.input].own_zero = true;
    ninja_take_lines(log, text.bytes);
    ninja_name_runs(log);
    tv_profile_input_end(&log->profile, options);
    tv_free(log->commands);
    tv_free(log);
    tv_profile_text_release(&text);
    return tv_reader_check_cancel(options->progress, err);
}

static int ninja_sniff(struct tv_bytes prefix, uint64_t size)
{
    (void)size;
    return tv_bytes_starts_with(prefix, TV_BYTES("# ninja log v5")) ||
                   tv_bytes_starts_with(prefix, TV_BYTES("# ninja log v6")) ||
                   tv_bytes_starts_with(prefix, TV_BYTES("# ninja log v7"))
               ? TV_SNIFF_SURE
               : 0;
}

const struct tv_reader tv_reader_ninja_log = {
    .name = "ninja",
    .sniff = ninja_sniff,
    .assemble = ninja_assemble,
    .refuses_empty = true,
};
