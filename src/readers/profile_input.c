/* SPDX-License-Identifier: Apache-2.0 */
/*
 * profile_input.c - one input of samples, slices and instants; profile_input.h shows its use.
 *
 * A sampled stack is stored as two call paths, built side by side from the root:
 *
 *     path:        main ------- parse ------- read           functions only: profiles, flame graphs
 *     line_path:   main:12 ---- parse:88 ---- read:7         sampled lines: annotated sources
 *
 * Both share their nodes up to the first frame with a line, and a trace that does not ask for lines
 * builds `path` alone.  Paths are interned, so a million equal stacks cost one path and a million
 * rows of struct tv_sample; with sums instead of rows (tv_builder_sum_samples) they cost one sum.
 *
 * A profile without times (pprof, collapsed stacks) gets an axis of weights.  Each thread and value
 * type has an end of its own, so that samples of two types do not push each other aside:
 *
 *     thread 1, cpu      |--3--|-2-|----5----|
 *     thread 1, alloc    |----------512----------|--64--|
 *
 * Times come from the file and may be anything: all go through tv_move_within, so that later sums
 * and differences of two times stay within 64 bits.  Times that reach its limits are reported.
 */
#include "readers/profile_input.h"

#include <assert.h>
#include <string.h>

#include "base/memory.h"

enum tv_status tv_profile_text_read(struct tv_source *source, struct tv_profile_text *text,
                                    struct tv_error *err)
{
    *text = (struct tv_profile_text){.data = NULL};
    uint64_t size = tv_source_size(source);
    size_t got = 0;
    /* Half of SIZE_MAX leaves room for the slack on 32-bit machines such as WebAssembly. */
    if (size > SIZE_MAX / 2)
        return tv_fail(err, TV_ERR_UNSUPPORTED, TV_NO_OFFSET, "too large for this machine");
    text->size = (size_t)size + TV_WINDOW_SLACK;
    text->data = tv_pages_alloc(text->size);
    enum tv_status status = tv_source_read(source, 0, text->data, (size_t)size, &got, err);
    text->bytes = (struct tv_bytes){text->data, got};
    if (status != TV_OK)
        tv_profile_text_release(text);
    return status;
}

void tv_profile_text_release(struct tv_profile_text *text)
{
    tv_pages_free(text->data, text->size);
    *text = (struct tv_profile_text){.data = NULL};
}

void tv_profile_input_begin(struct tv_profile_input *profile, struct tv_source *source,
                            struct tv_builder *builder, const char *format)
{
    assert(source && builder && format);
    *profile = (struct tv_profile_input){.first = INT64_MAX, .last = INT64_MIN};
    profile->info = tv_builder_trace_info(builder);
    profile->input = tv_trace_info_add_input(profile->info, tv_source_name(source), format);
    struct tv_input *input = &profile->info->inputs[profile->input];
    input->source = source;
    input->bytes = tv_source_size(source);
    input->clocks = TV_CLOCK_WALL;
    profile->assembly = tv_assembly_new(builder, profile->input);
    profile->trace = tv_assembly_trace(profile->assembly);
    profile->with_lines = profile->trace->tables.sample_sums.detail != TV_SAMPLES_BY_STACK;
    profile->gather = tv_gather_new();
    tv_map_init(&profile->processes);
    tv_map_init(&profile->threads);
    tv_map_init(&profile->thread_ids);
    tv_map_init(&profile->named_threads);
    tv_map_init(&profile->gather_threads);
    tv_map_init(&profile->places);
}

uint32_t tv_profile_string(struct tv_profile_input *profile, struct tv_bytes text)
{
    return tv_trace_info_string(profile->info, text);
}

uint32_t tv_profile_process(struct tv_profile_input *profile, uint64_t pid, struct tv_bytes name)
{
    uint32_t process = tv_map_find(&profile->processes, pid);
    if (process == TV_NONE) {
        process = tv_trace_info_add_process(profile->info, pid, name);
        tv_map_set(&profile->processes, pid, process);
    } else if (name.length > 0) {
        profile->info->processes[process].name = tv_profile_string(profile, name);
    }
    return process;
}

uint32_t tv_profile_thread(struct tv_profile_input *profile, uint32_t process, uint64_t tid,
                           struct tv_bytes name)
{
    assert(process < profile->info->process_count);
    /* A thread id has 64 bits in some formats, so it is numbered to fit into a key with its
     * process.  The same id in two processes means two threads. */
    uint32_t number = tv_map_add(&profile->thread_ids, tid, (uint32_t)profile->thread_ids.count);
    uint64_t key = (uint64_t)process << 32 | number;
    uint32_t thread = tv_map_find(&profile->threads, key);
    if (thread == TV_NONE) {
        struct tv_thread added = {
            .id = tid, .process = process, .input = profile->input, .listed = true};
        thread = tv_trace_info_add_thread(profile->info, &added);
        tv_map_set(&profile->threads, key, thread);
    }
    if (name.length > 0)
        profile->info->threads[thread].name = tv_profile_string(profile, name);
    return thread;
}

uint32_t tv_profile_named_thread(struct tv_profile_input *profile, uint32_t process,
                                 struct tv_bytes name)
{
    assert(process < profile->info->process_count);
    uint32_t string = tv_profile_string(profile, name);
    uint64_t key = (uint64_t)process << 32 | string;
    uint32_t thread = tv_map_find(&profile->named_threads, key);
    if (thread == TV_NONE) {
        struct tv_thread added = {.id = profile->named_threads.count + 1,
                                  .name = string,
                                  .process = process,
                                  .input = profile->input,
                                  .listed = true};
        thread = tv_trace_info_add_thread(profile->info, &added);
        tv_map_set(&profile->named_threads, key, thread);
    }
    return thread;
}

uint32_t tv_profile_value_type(struct tv_profile_input *profile, struct tv_bytes name,
                               struct tv_bytes unit)
{
    return tv_tables_value_type(&profile->trace->tables, profile->input,
                                tv_profile_string(profile, name), tv_profile_string(profile, unit));
}

uint32_t tv_profile_count_type(struct tv_profile_input *profile)
{
    struct tv_bytes samples = TV_BYTES("samples");
    uint32_t type = tv_profile_value_type(profile, samples, samples);
    profile->trace->tables.value_types.rows[type].counted = true;
    return type;
}

/* Weights of one thread are added up, so a weight near INT64_MAX would overflow its sum. */
int64_t tv_profile_fit_weight(struct tv_profile_input *profile, uint64_t weight, uint64_t offset)
{
    if (weight <= (uint64_t)TV_MOVE_MAX)
        return (int64_t)weight;
    tv_profile_warn(profile, TV_DIAGNOSTIC_TIME_SATURATED, offset);
    return TV_MOVE_MAX;
}

/* Return a time within the limits of the axis.  Some readers keep to them while they add times up,
 * so a time at a limit counts as cut, too. */
static tv_ns profile_fit_time(struct tv_profile_input *profile, tv_ns time, uint64_t offset)
{
    if (time >= TV_MOVE_MAX || time <= -TV_MOVE_MAX)
        tv_profile_warn(profile, TV_DIAGNOSTIC_TIME_SATURATED, offset);
    return tv_move_within(time);
}

/* ---- Samples ---- */

void tv_profile_stack_begin(struct tv_profile_input *profile)
{
    profile->path = profile->line_path = TV_ROOT_PATH;
    profile->depth = 0;
}

uint32_t tv_profile_line_frame(struct tv_profile_input *profile, uint32_t function, int32_t line)
{
    assert(function < profile->info->frame_count);
    /* A copy: adding a frame may move the array. */
    struct tv_frame frame = profile->info->frames[function];
    frame.with_line = true;
    frame.function_line = frame.line;
    frame.line = line;
    return tv_trace_info_add_frame(profile->info, &frame);
}

void tv_profile_stack_push(struct tv_profile_input *profile, uint32_t frame, int32_t line)
{
    assert(frame < profile->info->frame_count);
    struct tv_paths *paths = &profile->trace->paths;
    /* Frames after the limit are dropped, so a sample of endless recursion keeps its outermost
     * frames.  One diagnostic for each stack, not one for each dropped frame. */
    if (profile->depth++ >= TV_PROFILE_DEPTH) {
        if (profile->depth == TV_PROFILE_DEPTH + 1)
            tv_profile_warn(profile, TV_DIAGNOSTIC_TOO_DEEP, TV_NO_OFFSET);
        return;
    }
    /* No frame so far had a line: both paths still share their node. */
    bool same = profile->line_path == profile->path;
    uint32_t parent = profile->path;
    profile->path = tv_paths_child(paths, parent, frame);
    bool at_line = line > 0 && profile->with_lines;
    if (at_line)
        frame = tv_profile_line_frame(profile, frame, line);
    profile->line_path =
        same && !at_line ? profile->path : tv_paths_child(paths, profile->line_path, frame);
}

/* Place a sample without a time after the one before of its thread and type. */
static void profile_place_sample(struct tv_profile_input *profile, struct tv_sample *sample)
{
    uint64_t key = (uint64_t)sample->thread << 32 | sample->type;
    uint32_t place = tv_map_add(&profile->places, key, (uint32_t)profile->end_count);
    if (place == profile->end_count) {
        profile->ends = tv_array_reserve(profile->ends, &profile->end_capacity,
                                         profile->end_count + 1, sizeof *profile->ends);
        profile->ends[profile->end_count++] = 0;
    }
    tv_ns *end = &profile->ends[place];
    sample->time = *end;
    *end = tv_weight_end(sample);
    tv_profile_reach(profile, *end);
}

void tv_profile_add_sample_at(struct tv_profile_input *profile, struct tv_sample sample,
                              uint32_t path, uint32_t line_path)
{
    assert(sample.type < profile->trace->tables.value_types.count);
    assert(path < profile->trace->paths.count && line_path < profile->trace->paths.count);
    struct tv_sample_sums *sums = &profile->trace->tables.sample_sums;
    if (sums->detail != TV_SAMPLES_SINGLE) {
        const struct tv_value_type *type = &profile->trace->tables.value_types.rows[sample.type];
        tv_sample_sums_add(sums, sums->detail == TV_SAMPLES_BY_LINES ? line_path : path,
                           sample.type, tv_value_type_count(type, sample.weight), sample.weight);
        return;
    }
    sample.input = profile->input;
    sample.path = path;
    sample.line_path = line_path;
    if (profile->info->inputs[profile->input].weight_axis)
        profile_place_sample(profile, &sample); /* a weight that was too large is reported */
    else
        sample.time = profile_fit_time(profile, sample.time, sample.offset);
    tv_profile_reach(profile, sample.time);
    *tv_table_add(&profile->trace->tables.samples) = sample;
}

void tv_profile_add_sample(struct tv_profile_input *profile, struct tv_sample sample)
{
    tv_profile_add_sample_at(profile, sample, profile->path, profile->line_path);
}

/* ---- Slices and instants ---- */

void tv_profile_reach(struct tv_profile_input *profile, tv_ns time)
{
    time = tv_move_within(time);
    profile->first = time < profile->first ? time : profile->first;
    profile->last = time > profile->last ? time : profile->last;
}

/* The gather knows threads by consecutive numbers from 0; `gathered` leads back to threads. */
void tv_profile_add_slice(struct tv_profile_input *profile, uint32_t thread,
                          const struct tv_span *span)
{
    assert(thread < profile->info->thread_count);
    uint32_t number =
        tv_map_add(&profile->gather_threads, thread, (uint32_t)profile->gathered_count);
    if (number == profile->gathered_count) {
        profile->gathered =
            tv_array_reserve(profile->gathered, &profile->gathered_capacity,
                             profile->gathered_count + 1, sizeof *profile->gathered);
        profile->gathered[profile->gathered_count++] = thread;
    }
    struct tv_span within = *span;
    within.time = profile_fit_time(profile, span->time, span->offset);
    tv_profile_reach(profile, within.time);
    if ((span->flags & TV_SPAN_KIND) == TV_SPAN_WHOLE) {
        tv_ns most = TV_MOVE_MAX - within.time;
        tv_ns end = within.length < most ? within.time + within.length : TV_MOVE_MAX;
        within.length = profile_fit_time(profile, end, span->offset) - within.time;
        tv_profile_reach(profile, end);
    }
    tv_gather_span(profile->gather, number, &within, NULL);
}

void tv_profile_add_instant(struct tv_profile_input *profile, struct tv_instant instant)
{
    instant.input = profile->input;
    instant.time = profile_fit_time(profile, instant.time, instant.offset);
    tv_profile_reach(profile, instant.time);
    *tv_table_add(&profile->trace->tables.instants) = instant;
}

void tv_profile_warn(struct tv_profile_input *profile, enum tv_diagnostic_kind kind,
                     uint64_t offset)
{
    tv_diagnostics_add(&profile->info->diagnostics, kind, offset);
}

/* ---- The end ---- */

/* A profile is one chunk whose frames already have the numbers of the trace: the translation that
 * formats with parallel chunks need is the identity here. */
static void profile_add_slices(struct tv_profile_input *profile)
{
    uint32_t *frames = tv_alloc(profile->info->frame_count, sizeof *frames);
    for (uint32_t i = 0; i < profile->info->frame_count; i++)
        frames[i] = i;
    tv_assembly_add_chunk(profile->assembly, profile->gather, profile->gathered, frames);
    tv_free(frames);
}

void tv_profile_input_build_rows(struct tv_profile_input *profile,
                                 const struct tv_read_options *options)
{
    struct tv_input *input = &profile->info->inputs[profile->input];
    input->eventless = profile->first > profile->last;
    if (input->eventless)
        profile->first = profile->last = 0;
    input->origin = profile->first;
    input->last_wall = profile->last - profile->first;
    if (input->tick_ns == 0)
        input->tick_ns = 1;
    profile_add_slices(profile);
    struct tv_row_options placing = {
        .end = profile->last,
        .cancel = options->progress ? &options->progress->cancel : NULL,
        .workers = options->parts,
    };
    tv_assembly_build_rows(profile->assembly, &placing);
    profile->built = true;
}

void tv_profile_input_end(struct tv_profile_input *profile, const struct tv_read_options *options)
{
    if (!profile->built)
        tv_profile_input_build_rows(profile, options);
    tv_assembly_end(profile->assembly);
    tv_map_release(&profile->processes);
    tv_map_release(&profile->threads);
    tv_map_release(&profile->thread_ids);
    tv_map_release(&profile->named_threads);
    tv_map_release(&profile->gather_threads);
    tv_map_release(&profile->places);
    tv_free(profile->gathered);
    tv_free(profile->ends);
}
