/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ftrace.c - the reader of ftrace text: recognising it, cutting it into chunks, and the order of
 * building; at the end, lines as they are for `dump`.
 *
 *     # tracer: nop
 *        app-1234  ( 1230) [001] d..2  50.123456: sched_switch: prev_comm=app prev_pid=1234 ...
 *        task-tid  (tgid)  cpu   flags time       event         details
 *
 *     find the start and the clock of the text
 *     cut at line ends --> chunks, one a worker (chunk_reader.c, line.c; handlers by event name)
 *     merge.c: numbers of the trace     sched.c, switch.c: processors and states of threads
 *     assembly: slices are nested       deferred.c: async slices at the same time
 *     state tracks, instants, arrows, which refer to rows of slices
 *
 * Perfetto's reader fills chunks of its own and builds with tv_ft_build_input, too.
 *
 * Any number of chunks gives the same trace. A line that is no event is diagnosed, except where
 * output of adb comes before "TRACE:", or where an event continues on the next line.
 */
#include "readers/ftrace/ftrace.h"

#include <assert.h>
#include <string.h>

#include "base/bytes.h"
#include "base/memory.h"
#include "base/workers.h"
#include "readers/ftrace/chunk.h"
#include "readers/ftrace/decoded.h"
#include "readers/ftrace/merge.h"
#include "readers/reader.h"
#include "readers/text_lines.h"

/* A smaller chunk costs more than it gains. */
#define MIN_PART ((uint64_t)256 * 1024)

#define SURE 95
#define LIKELY 80

/* ---- Recognizing the format ---- */

/* First lines of a file: "# tracer: nop", "cpus=8", "version = 6". */
static bool ft_is_file_start(struct tv_bytes line)
{
    return tv_bytes_starts_with(line, TV_BYTES("# tracer: ")) ||
           tv_bytes_starts_with(line, TV_BYTES("cpus=")) ||
           tv_bytes_starts_with(line, TV_BYTES("version = ")) ||
           tv_bytes_equal(line, TV_BYTES("TRACE:"));
}

/* Task names of the kernel have at most 15 bytes. A longer one shows that the line is JSON that
 * holds ftrace text in a string. */
#define LONGEST_COMM 32

/* The first line of a file decides, or any line that is an event: text may come before. */
static int ft_sniff(struct tv_bytes prefix, uint64_t size)
{
    struct tv_cursor cursor = tv_cursor_over(prefix);
    struct tv_bytes line;
    struct tv_ft_line parsed;
    struct tv_ft_graph_line call;
    (void)size;
    for (bool first = true; tv_cursor_take_line(&cursor, &line); first = false) {
        line = tv_text_line_bare(line);
        if (first && ft_is_file_start(line))
            return SURE;
        if (tv_ft_line_parse(line, &parsed) && parsed.task.length <= LONGEST_COMM)
            return LIKELY;
        if (tv_ft_graph_parse(line, &call) && call.task.length <= LONGEST_COMM)
            return LIKELY;
    }
    return 0;
}

/* ---- The beginning of the text ---- */

/* The clock is the one that most of the first events have, within these limits. */
#define CLOCK_EVENTS 256u
#define CLOCK_BYTES ((uint64_t)1 << 20)

#define BYTE_ORDER_MARK "\xef\xbb\xbf"

struct ft_text_start {
    uint64_t start;         /* where the text begins: after what adb printed before "TRACE:" */
    enum tv_ft_clock clock; /* of most lines; TV_FT_CLOCKS: there are no events */
};

/* Return the clock with the highest count; TV_FT_CLOCKS when there are no events. */
static enum tv_ft_clock ft_most_frequent_clock(const uint32_t *counts)
{
    enum tv_ft_clock best = TV_FT_CLOCKS;
    uint32_t most = 0;
    for (unsigned i = 0; i < TV_FT_CLOCKS; i++) {
        if (counts[i] <= most)
            continue;
        most = counts[i];
        best = (enum tv_ft_clock)i;
    }
    return best;
}

/* Find where the text begins and which clock its lines have. */
static enum tv_status ft_find_text_start(struct tv_source *source, struct ft_text_start *head,
                                         struct tv_error *err)
{
    struct tv_text_lines lines;
    struct tv_text_line line;
    struct tv_ft_line parsed;
    uint32_t counts[TV_FT_CLOCKS] = {0}, events = 0;
    *head = (struct ft_text_start){0, TV_FT_CLOCKS};
    tv_text_lines_init(&lines, source, 0, tv_source_size(source));
    enum tv_status status = TV_OK;
    while (events < CLOCK_EVENTS && lines.offset < CLOCK_BYTES) {
        status = tv_text_lines_next(&lines, &line, err);
        if (status != TV_OK || line.none || tv_ft_line_is_cut(&line))
            break;
        struct tv_bytes bare = tv_text_line_bare(line.text);
        if (line.offset == 0 && tv_bytes_starts_with(bare, TV_BYTES(BYTE_ORDER_MARK)))
            head->start = sizeof BYTE_ORDER_MARK - 1;
        if (events == 0 && tv_bytes_equal(bare, TV_BYTES("TRACE:")))
            head->start = lines.offset;
        if (!tv_ft_line_parse(bare, &parsed))
            continue;
        counts[parsed.clock]++;
        events++;
    }
    head->clock = ft_most_frequent_clock(counts);
    tv_text_lines_release(&lines);
    return status;
}

/* ---- Chunks ---- */

struct ft_reading {
    struct tv_source *source;
    const struct tv_read_options *options;
    struct ft_text_start head;
    struct tv_ft_chunk_reader *readers;
    unsigned count;
};

/* Find the first line that begins at or after `offset`. */
static enum tv_status ft_find_line_start(struct tv_source *source, uint64_t offset, uint64_t *start,
                                         struct tv_error *err)
{
    struct tv_text_lines lines;
    struct tv_text_line line;
    *start = offset;
    if (offset == 0 || offset >= tv_source_size(source))
        return TV_OK;
    /* Read from the byte before: when that ends a line, `offset` begins one. */
    tv_text_lines_init(&lines, source, offset - 1, tv_source_size(source));
    enum tv_status status = tv_text_lines_next(&lines, &line, err);
    *start = lines.offset;
    tv_text_lines_release(&lines);
    return status;
}

/* Return the number of chunks: one per worker, but none smaller than MIN_PART, except in tests
 * that cut by hand. */
static unsigned ft_count_chunks(const struct tv_read_options *options, uint64_t size)
{
    unsigned chunks = options->parts ? options->parts : tv_workers_available();
    if (!options->part_starts && size / MIN_PART + 1 < chunks)
        chunks = (unsigned)(size / MIN_PART) + 1;
    return chunks;
}

/* Cut the text into chunks of about the same size, each of whole lines. */
static enum tv_status ft_split_chunks(struct ft_reading *reading, struct tv_error *err)
{
    uint64_t size = tv_source_size(reading->source), start = reading->head.start;
    reading->count = ft_count_chunks(reading->options, size);
    reading->readers = tv_alloc(reading->count, sizeof *reading->readers);
    enum tv_status status = TV_OK;
    for (unsigned i = 0; i < reading->count; i++) {
        uint64_t end = size;
        if (i + 1 < reading->count) {
            end = reading->options->part_starts ? reading->options->part_starts[i]
                                                : size / reading->count * (i + 1);
            end = end < start ? start : end < size ? end : size;
            if (status == TV_OK)
                status = ft_find_line_start(reading->source, end, &end, err);
        }
        tv_ft_chunk_reader_init(&reading->readers[i], reading->source, start, end);
        reading->readers[i].progress = reading->options->progress;
        reading->readers[i].clock = reading->head.clock;
        start = end;
    }
    return status;
}

static void ft_read_chunk(void *context, unsigned index)
{
    struct ft_reading *reading = context;
    tv_ft_chunk_reader_run(&reading->readers[index]);
}

/* Read all chunks in parallel. The first error of a chunk, in the order of the file, is the
 * result. */
static enum tv_status ft_read_chunks(struct ft_reading *reading, struct tv_error *err)
{
    enum tv_status status = ft_find_text_start(reading->source, &reading->head, err);
    if (status == TV_OK)
        status = ft_split_chunks(reading, err);
    if (status != TV_OK)
        return status;
    tv_workers_run(reading->count, ft_read_chunk, reading);
    for (unsigned i = 0; i < reading->count; i++)
        if (reading->readers[i].status != TV_OK) {
            *err = reading->readers[i].error;
            return reading->readers[i].status;
        }
    return TV_OK;
}

/* ---- The trace ---- */

/* Add the file to the inputs of the trace. */
static uint32_t ft_add_input(struct tv_builder *builder, struct tv_source *source)
{
    struct tv_trace_info *head = tv_builder_trace_info(builder);
    uint32_t number =
        tv_trace_info_add_input(head, tv_source_name(source), tv_reader_ftrace.format);
    struct tv_input *input = &head->inputs[number];
    input->source = source;
    input->describe = tv_reader_ftrace.describe;
    input->bytes = tv_source_size(source);
    input->clocks = TV_CLOCK_WALL;
    return number;
}

/* If the last events lie far beyond the rest, return where open slices of each thread end; the
 * caller frees it.  NULL: with the trace. */
static int64_t *ft_find_idle_ends(const struct tv_ft_merge *merge)
{
    uint32_t count = merge->trace->head->process_count;
    int64_t silence;
    if (!tv_idle_gap_find(&merge->times, &silence))
        return NULL;
    int64_t *lasts = tv_alloc(count, sizeof *lasts);
    for (uint32_t i = 0; i < count; i++)
        lasts[i] = TV_NO_TIME;
    int64_t *ends = tv_assembly_idle_ends(merge->assembly, silence, lasts);
    tv_free(lasts);
    return ends;
}

/* Let the assembly place the slices. The async slices are planned beside that; then follow the
 * state tracks, the instants of processors, and the arrows, which need the rows of their slices. */
static void ft_place_tracks(struct tv_ft_merge *merge, struct tv_ft_schedule *schedule,
                            const struct tv_read_options *options)
{
    int64_t *idle_ends = ft_find_idle_ends(merge);
    struct tv_row_options placing = {
        .end = merge->last,
        .idle_ends = idle_ends,
        .workers = options->parts,
        .cancel = options->progress ? &options->progress->cancel : NULL,
        .clocks = schedule->clocks,
        .beside = tv_ft_plan_asyncs,
        .beside_context = merge,
    };
    struct tv_input *input = &merge->trace->head->inputs[merge->input];
    if (schedule->clocks)
        input->clocks |= TV_CLOCK_CPU;
    if (merge->first <= merge->last) {
        input->origin = merge->first;
        input->last_wall = merge->last - merge->first;
    }
    tv_assembly_build_rows(merge->assembly, &placing);
    tv_free(idle_ends);
    tv_ft_schedule_add_tracks(schedule);
    tv_ft_schedule_place_instants(schedule, merge->trace);
    if (merge->repeated)
        tv_diagnostics_merge(&merge->trace->head->diagnostics, merge->repeated);
    tv_assembly_add_async(merge->assembly, merge->async_plan);
    tv_ft_merge_flows(merge);
}

void tv_ft_build_input(const struct tv_ft_building *building)
{
    assert(building->count > 0);
    struct tv_ft_merge merge = {
        .input = building->input,
        .readers = building->readers,
        .reader_count = building->count,
    };
    merge.assembly = tv_assembly_new(building->builder, merge.input);
    merge.trace = tv_assembly_trace(merge.assembly);
    tv_ft_merge_chunks(&merge);
    if (building->merged)
        building->merged(building->context, &merge);
    struct tv_ft_schedule schedule = {
        .assembly = merge.assembly,
        .head = merge.trace->head,
        .tables = &merge.trace->tables,
        .input = merge.input,
        .switches = merge.switches.rows,
        .switch_count = merge.switches.count,
        .wakeups = merge.wakeups.rows,
        .wakeup_count = merge.wakeups.count,
        .end = merge.last,
    };
    tv_ft_schedule_build(&schedule, (unsigned)merge.reader_count);
    tv_ft_merge_release_sched(&merge);
    ft_place_tracks(&merge, &schedule, building->options);
    if (building->placed)
        building->placed(building->context, &merge);
    tv_paths_rest(&merge.trace->paths); /* the values take more memory than in the chunks */
    tv_memory_trim();                   /* the memory of gathered slices is between the rows */
    tv_ft_merge_move_counters(&merge);
    tv_ft_schedule_release(&schedule);
    tv_ft_merge_release(&merge);
    tv_assembly_end(merge.assembly);
}

/* Make a trace of the chunks that were read. */
static void ft_build_trace(struct ft_reading *reading, struct tv_builder *builder)
{
    struct tv_ft_building building = {
        .builder = builder,
        .input = ft_add_input(builder, reading->source),
        .readers = reading->readers,
        .count = reading->count,
        .options = reading->options,
    };
    tv_ft_build_input(&building);
}

/* Read ftrace text: chunks at the same time, then what needs them all, in the order of the file. */
static enum tv_status ft_assemble(struct tv_source *source, struct tv_builder *builder,
                                  const struct tv_read_options *options, struct tv_error *err)
{
    struct ft_reading reading = {.source = source, .options = options};
    if (options->progress)
        atomic_fetch_add_explicit(&options->progress->total_bytes, tv_source_size(source),
                                  memory_order_relaxed);
    enum tv_status status = ft_read_chunks(&reading, err);
    if (status == TV_OK)
        status = tv_reader_check_cancel(options->progress, err);
    tv_progress_join(options->progress, true);
    if (status == TV_OK)
        ft_build_trace(&reading, builder);
    for (unsigned i = 0; i < reading.count; i++)
        tv_ft_chunk_reader_release(&reading.readers[i]);
    tv_free(reading.readers);
    return status;
}

struct ft_visit {
    struct tv_record_visitor *visitor;
    struct tv_trace_info *head;
    struct tv_input *input;
    struct tv_ft_task_cache tasks;
    struct tv_diagnostics early; /* before the first event: text may be in front of "TRACE:" */
    bool any;                    /* there was an event */
    bool continues;              /* stray lines belong to the last event */
};

/* From the first event on, stray lines are errors; those before it are errors only if no
 * "TRACE:" came. */
static void ft_visit_first_event(struct ft_visit *visit)
{
    if (!visit->any)
        tv_diagnostics_merge(&visit->head->diagnostics, &visit->early);
    visit->any = true;
}

/* Count a bad line, before the first event in `early`. */
static void ft_visit_bad_line(struct ft_visit *visit, uint64_t offset)
{
    struct tv_diagnostics *to = visit->any ? &visit->head->diagnostics : &visit->early;
    tv_diagnostics_add(to, TV_DIAGNOSTIC_BAD_LINE, offset);
}

static void ft_visit_count_event(struct ft_visit *visit, const struct tv_ft_line *event)
{
    ft_visit_first_event(visit);
    visit->input->records++;
    visit->continues = tv_ft_event_continues(event->event);
}

/* Count a line that is no event. */
static void ft_visit_count_other(struct ft_visit *visit, const struct tv_ft_record *record)
{
    switch (record->other.kind) {
    case TV_FT_OTHER_CALL:
        ft_visit_first_event(visit);
        visit->input->records++;
        visit->continues = false;
        break;
    case TV_FT_OTHER_LOSS:
        tv_diagnostics_add(&visit->head->diagnostics, TV_DIAGNOSTIC_EVENTS_LOST, record->offset);
        break;
    case TV_FT_OTHER_STRAY:
        if (!visit->continues)
            ft_visit_bad_line(visit, record->offset);
        break;
    case TV_FT_OTHER_HEADING:
        /* Everything above "TRACE:" is output of adb, so nothing there is an error. */
        if (!visit->any && tv_bytes_equal(record->text, TV_BYTES("TRACE:")))
            tv_diagnostics_clear(&visit->early);
        break;
    case TV_FT_OTHER_COMMENT:
    case TV_FT_OTHER_SYMBOL:
        break;
    }
}

/* Parse a line, count what is wrong with it, and visit it unless it is empty. */
static void ft_visit_line(struct ft_visit *visit, const struct tv_text_line *line)
{
    struct tv_ft_record record;
    record.text = tv_text_line_bare(line->text);
    record.offset = line->offset;
    record.too_long = line->too_long;
    if (line->offset == 0 && tv_bytes_starts_with(record.text, TV_BYTES(BYTE_ORDER_MARK)))
        record.text = (struct tv_bytes){record.text.data + 3, record.text.length - 3};
    bool cut = tv_ft_line_is_cut(line);
    record.is_event = !cut && tv_ft_line_parse_next(&visit->tasks, record.text, &record.event);
    if (record.too_long) {
        ft_visit_bad_line(visit, line->offset);
    } else if (cut) {
        record.other.kind = TV_FT_OTHER_STRAY;
        tv_diagnostics_add(&visit->head->diagnostics, TV_DIAGNOSTIC_TRUNCATED, line->offset);
    } else if (record.is_event) {
        ft_visit_count_event(visit, &record.event);
    } else {
        tv_ft_other_parse(record.text, &record.other);
        ft_visit_count_other(visit, &record);
    }
    if (record.text.length > 0 || record.too_long)
        visit->visitor->take_line(visit->visitor, &record);
}

static enum tv_status ft_visit_lines(struct ft_visit *visit, struct tv_source *source,
                                     struct tv_error *err)
{
    struct tv_text_lines lines;
    struct tv_text_line line;
    enum tv_status status = TV_OK;
    tv_text_lines_init(&lines, source, 0, UINT64_MAX);
    while (!tv_read_limit_stops(visit->visitor->limit) &&
           (status = tv_text_lines_next(&lines, &line, err)) == TV_OK && !line.none)
        ft_visit_line(visit, &line);
    tv_text_lines_release(&lines);
    return status;
}

static enum tv_status ft_visit_records(struct tv_source *source, struct tv_trace_info *head,
                                       struct tv_record_visitor *visitor, struct tv_error *err)
{
    struct ft_visit *visit = tv_alloc(1, sizeof *visit);
    uint32_t input = tv_trace_info_add_input(head, tv_source_name(source), tv_reader_ftrace.format);
    visit->visitor = visitor;
    visit->head = head;
    visit->input = &head->inputs[input];
    visit->input->callless = true; /* records are not made into calls */
    visit->early.input = input;
    visitor->begin(visitor, head, input);
    enum tv_status status = ft_visit_lines(visit, source, err);
    ft_visit_first_event(visit);
    tv_diagnostics_clear(&visit->early);
    tv_free(visit);
    return status;
}

const struct tv_reader tv_reader_ftrace = {
    .name = "ftrace",
    .sniff = ft_sniff,
    .assemble = ft_assemble,
    .visit_records = ft_visit_records,
    .sketch_block = tv_ft_block_sketch,
    .format = "ftrace text",
    .describe = tv_ft_describe,
};
