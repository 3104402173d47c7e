/* SPDX-License-Identifier: Apache-2.0 */
/* The head, the path tree, and how tracks, rows and columns hang together. */
#include "index/check.h"

/* When its last record was, as whoever writes the trace reckons it. */
static bool has_end(const struct tv_input *input, tv_ns offset)
{
    int64_t end;
    return !__builtin_add_overflow(input->origin, input->last_wall, &end) &&
           !__builtin_add_overflow(end, offset, &end);
}

static bool is_input(const struct tv_trace *trace, const struct tv_input *input)
{
    uint32_t strings = tv_index_strings(trace);
    return input->name < strings && input->version < strings && input->clock < strings &&
           input->clocks != 0 && (input->clocks & ~(unsigned)(TV_CLOCK_WALL | TV_CLOCK_CPU)) == 0 &&
           input->tick_ns > 0 && input->tick_ns <= TV_INDEX_TICK_MAX &&
           tv_index_is_time(input->moved) && input->figures <= TV_FIGURES_SAMPLES &&
           input->weight >= 0 && tv_index_is_time(input->sampled_ns);
}

static bool is_process(const struct tv_process *process, uint32_t strings)
{
    return process->name < strings && process->key < strings && process->labels < strings &&
           tv_index_is_flag(&process->kernel_name);
}

static bool is_thread(const struct tv_trace_info *head, const struct tv_thread *thread, uint32_t strings)
{
    return thread->name < strings && thread->key < strings &&
           tv_index_is_of(thread->process, head->process_count) &&
           thread->input < head->input_count && tv_index_is_flag(&thread->kernel_name) &&
           tv_index_is_flag(&thread->listed) && tv_index_is_flag(&thread->late) &&
           tv_index_is_flag(&thread->line);
}

static bool is_frame(const struct tv_frame *frame, uint32_t strings)
{
    return frame->class_name < strings && frame->name < strings && frame->signature < strings &&
           frame->file < strings && frame->category < strings;
}

static bool are_paths(const struct tv_trace *trace)
{
    const struct tv_path_node *nodes = trace->paths.nodes;
    uint32_t frames = trace->head->frame_count;
    if (trace->paths.count == 0 || nodes[0].parent != TV_ROOT_PATH || nodes[0].frame != TV_NONE)
        return false;
    for (uint32_t i = 1; i < trace->paths.count; i++)
        if (nodes[i].parent >= i || nodes[i].frame >= frames)
            return false;
    return true;
}

static bool are_diagnostics(const struct tv_trace_info *head)
{
    for (unsigned kind = 0; kind < TV_DIAGNOSTIC_COUNT; kind++) {
        const struct tv_diagnostic *diagnostic = &head->diagnostics.kinds[kind];
        for (uint32_t i = 0; i < diagnostic->offset_count; i++)
            if (diagnostic->places->inputs[i] >= head->input_count)
                return false;
    }
    return true;
}

static const char *check_inputs(const struct tv_trace *trace)
{
    const struct tv_trace_info *head = trace->head;
    if (trace->offset_count != head->input_count)
        return "the offsets of its clocks";
    for (uint32_t i = 0; i < head->input_count; i++)
        if (!is_input(trace, &head->inputs[i]) || !has_end(&head->inputs[i], trace->offset[i]))
            return "an input";
    return are_diagnostics(head) ? NULL : "its diagnostics";
}

static const char *check_lists(const struct tv_trace_info *head, uint32_t strings)
{
    for (uint32_t i = 0; i < head->process_count; i++)
        if (!is_process(&head->processes[i], strings))
            return "a process";
    for (uint32_t i = 0; i < head->thread_count; i++)
        if (!is_thread(head, &head->threads[i], strings))
            return "a thread";
    for (uint32_t i = 0; i < head->frame_count; i++)
        if (!is_frame(&head->frames[i], strings))
            return "a frame";
    for (uint32_t i = 0; i < head->metadata_count; i++)
        if (head->metadata[i].input >= head->input_count || head->metadata[i].key >= strings ||
            head->metadata[i].value >= strings)
            return "its metadata";
    return NULL;
}

const char *tv_index_check_head(const struct tv_trace *trace)
{
    const char *wrong = check_inputs(trace);
    if (!wrong)
        wrong = check_lists(trace->head, tv_index_strings(trace));
    if (wrong)
        return wrong;
    if (!tv_index_is_time(trace->start) || !tv_index_is_time(trace->end) ||
        trace->start > trace->end)
        return "its times";
    return are_paths(trace) ? NULL : "its call paths";
}

/* ---- Rows ---- */

static uint64_t blocks_of(uint32_t slices)
{
    return ((uint64_t)slices + TV_BLOCK_SLICES - 1) / TV_BLOCK_SLICES;
}

static bool is_row(const struct tv_trace *trace, const struct tv_row *row)
{
    if (row->track >= trace->track_count || row->input >= trace->head->input_count ||
        row->columns >= trace->columns_count)
        return false;
    const struct tv_columns *columns = &trace->columns[row->columns];
    return tv_index_is_range(row->first, row->count, columns->count) &&
           tv_index_is_range(row->first_block, blocks_of(row->count), columns->block_count) &&
           (row->count == 0 || columns->flags);
}

/* Its rows lie one below the other, in the same columns. */
static bool has_rows(const struct tv_trace *trace, uint32_t number)
{
    const struct tv_track *track = &trace->tracks[number];
    uint64_t slices = 0;
    if (!tv_index_is_range(track->first_row, track->row_count, trace->row_count))
        return false;
    for (uint32_t depth = 0; depth < track->row_count; depth++) {
        const struct tv_row *row = &trace->rows[track->first_row + depth];
        if (row->track != number || row->depth != depth || row->input != track->input ||
            row->columns != trace->rows[track->first_row].columns)
            return false;
        slices += row->count;
    }
    return slices == track->slice_count;
}

static bool has_waits(const struct tv_trace *trace, const struct tv_track *track)
{
    int64_t tick = trace->head->inputs[track->input].tick_ns;
    for (uint32_t i = 0; i < track->wait_count; i++) {
        const struct tv_wait *wait = &track->waits[i];
        if (wait->path >= trace->paths.count || wait->depth >= track->row_count ||
            !tv_index_is_tick_on_axis(trace, track->input, wait->start) ||
            !tv_index_are_ticks(wait->length, tick))
            return false;
    }
    return true;
}

static bool is_track(const struct tv_trace *trace, const struct tv_track *track)
{
    const struct tv_trace_info *head = trace->head;
    if (track->input >= head->input_count)
        return false;
    int64_t tick = head->inputs[track->input].tick_ns;
    return track->kind <= TV_TRACK_STATES && track->name < tv_index_strings(trace) &&
           tv_index_is_of(track->process, head->process_count) &&
           tv_index_is_of(track->thread, head->thread_count) &&
           (track->thread != TV_NONE || !tv_track_has_calls(track)) &&
           tv_index_is_tick_on_axis(trace, track->input, track->first_wall) &&
           tv_index_is_tick_on_axis(trace, track->input, track->last_wall) &&
           tv_index_are_ticks(track->first_cpu, tick) && tv_index_are_ticks(track->last_cpu, tick);
}

const char *tv_index_check_rows(const struct tv_trace *trace)
{
    uint64_t slices = 0, rows = 0;
    for (uint32_t i = 0; i < trace->row_count; i++)
        if (!is_row(trace, &trace->rows[i]))
            return "a row";
    for (uint32_t i = 0; i < trace->track_count; i++) {
        if (!is_track(trace, &trace->tracks[i]) || !has_rows(trace, i) ||
            !has_waits(trace, &trace->tracks[i]))
            return "a track";
        slices += trace->tracks[i].slice_count;
        rows += trace->tracks[i].row_count;
    }
    /* No row twice, as each knows its one track: so every row is of one. */
    return slices == trace->slice_count && rows == trace->row_count ? NULL : "its tracks";
}
