/* SPDX-License-Identifier: Apache-2.0 */
#include "readers/ftrace/ftrace.h"

#include <string.h>

#include "base/bytes.h"
#include "base/memory.h"
#include "base/workers.h"
#include "readers/ftrace/describe.h"
#include "readers/ftrace/graph.h"
#include "readers/ftrace/later.h"
#include "readers/ftrace/merge.h"
#include "readers/ftrace/records.h"
#include "readers/ftrace/sched.h"
#include "readers/text_lines.h"

/* Parts are at least so large. */
#define LEAST_PART ((uint64_t)256 * 1024)

#define SURE 95
#define LIKELY 80

/* ---- Recognising ---- */

/* "# tracer: nop", "cpus=8", "version = 6": what stands at the head of the text. */
static bool is_head(struct tv_bytes line)
{
    return tv_bytes_starts_with(line, TV_BYTES("# tracer: ")) ||
           tv_bytes_starts_with(line, TV_BYTES("cpus=")) ||
           tv_bytes_starts_with(line, TV_BYTES("version = ")) ||
           tv_bytes_equal(line, TV_BYTES("TRACE:"));
}

/* The kernel's names have 15 bytes.  JSON that holds ftrace text in a string has it in a line that
 * begins with much else. */
#define LONGEST_COMM 32

static int sniff(struct tv_bytes head, uint64_t size)
{
    struct tv_cursor cursor = tv_cursor_over(head);
    struct tv_bytes line;
    struct tv_ft_line parsed;
    struct tv_ft_graph_line call;
    (void)size;
    for (bool first = true; tv_cursor_take_line(&cursor, &line); first = false) {
        line = tv_text_line_bare(line);
        if (first && is_head(line))
            return SURE;
        if (tv_ft_line_parse(line, &parsed) && parsed.task.length <= LONGEST_COMM)
            return LIKELY;
        if (tv_ft_graph_parse(line, &call) && call.task.length <= LONGEST_COMM)
            return LIKELY;
    }
    return 0;
}

/* ---- The head ---- */

/* So many events tell the clock, or so many bytes. */
#define CLOCK_EVENTS 256u
#define CLOCK_BYTES ((uint64_t)1 << 20)

#define BYTE_ORDER_MARK "\xef\xbb\xbf"

struct head {
    uint64_t start;         /* of the text: behind what adb said before "TRACE:" */
    enum tv_ft_clock clock; /* that most lines have; TV_FT_CLOCKS: there are no events */
};

static enum tv_ft_clock most_frequent(const uint32_t *counts)
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

static enum tv_status read_head(struct tv_source *source, struct head *head, struct tv_error *err)
{
    struct tv_text_lines lines;
    struct tv_text_line line;
    struct tv_ft_line parsed;
    uint32_t counts[TV_FT_CLOCKS] = {0}, events = 0;
    *head = (struct head){0, TV_FT_CLOCKS};
    tv_text_lines_init(&lines, source, 0, tv_source_size(source));
    enum tv_status status = TV_OK;
    while (events < CLOCK_EVENTS && lines.offset < CLOCK_BYTES) {
        status = tv_text_lines_next(&lines, &line, err);
        if (status != TV_OK || line.none || tv_ft_text_is_cut(&line))
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
    head->clock = most_frequent(counts);
    tv_text_lines_release(&lines);
    return status;
}

/* ---- Parts ---- */

struct reading {
    struct tv_source *source;
    const struct tv_read_options *options;
    struct head head;
    struct tv_ft_text *texts;
    unsigned count;
};

/* The first line that begins at or behind `offset`. */
static enum tv_status line_start(struct tv_source *source, uint64_t offset, uint64_t *start,
                                 struct tv_error *err)
{
    struct tv_text_lines lines;
    struct tv_text_line line;
    *start = offset;
    if (offset == 0 || offset >= tv_source_size(source))
        return TV_OK;
    /* A line begins at `offset` when the byte before it ends one. */
    tv_text_lines_init(&lines, source, offset - 1, tv_source_size(source));
    enum tv_status status = tv_text_lines_next(&lines, &line, err);
    *start = lines.offset;
    tv_text_lines_release(&lines);
    return status;
}

static unsigned count_parts(const struct tv_read_options *options, uint64_t size)
{
    unsigned parts = options->parts ? options->parts : tv_workers_available();
    if (!options->part_starts && size / LEAST_PART + 1 < parts)
        parts = (unsigned)(size / LEAST_PART) + 1;
    return parts;
}

static enum tv_status begin_parts(struct reading *reading, struct tv_error *err)
{
    uint64_t size = tv_source_size(reading->source), start = reading->head.start;
    reading->count = count_parts(reading->options, size);
    reading->texts = tv_alloc(reading->count, sizeof *reading->texts);
    enum tv_status status = TV_OK;
    for (unsigned i = 0; i < reading->count; i++) {
        uint64_t end = size;
        if (i + 1 < reading->count) {
            end = reading->options->part_starts ? reading->options->part_starts[i]
                                                : size / reading->count * (i + 1);
            end = end < start ? start : end < size ? end : size;
            if (status == TV_OK)
                status = line_start(reading->source, end, &end, err);
        }
        tv_ft_text_init(&reading->texts[i], reading->source, start, end);
        reading->texts[i].progress = reading->options->progress;
        reading->texts[i].clock = reading->head.clock;
        start = end;
    }
    return status;
}

static void read_part(void *context, unsigned index)
{
    struct reading *reading = context;
    tv_ft_text_read(&reading->texts[index]);
}

static enum tv_status read_parts(struct reading *reading, struct tv_error *err)
{
    enum tv_status status = read_head(reading->source, &reading->head, err);
    if (status == TV_OK)
        status = begin_parts(reading, err);
    if (status != TV_OK)
        return status;
    tv_workers_run(reading->count, read_part, reading);
    for (unsigned i = 0; i < reading->count; i++)
        if (reading->texts[i].status != TV_OK) {
            *err = reading->texts[i].error;
            return reading->texts[i].status;
        }
    return TV_OK;
}

/* ---- The whole ---- */

static bool is_cancelled(const struct tv_read_options *options)
{
    return options->progress &&
           atomic_load_explicit(&options->progress->cancel, memory_order_relaxed);
}

static uint32_t add_input(struct tv_builder *builder, struct tv_source *source)
{
    struct tv_trace_info *head = tv_builder_trace_info(builder);
    uint32_t number = tv_trace_info_add_input(head, tv_source_name(source), tv_reader_ftrace.format);
    struct tv_input *input = &head->inputs[number];
    input->source = source;
    input->describe = tv_reader_ftrace.describe;
    input->bytes = tv_source_size(source);
    input->clocks = TV_CLOCK_WALL;
    return number;
}

static void place(struct tv_ft_merge *merge, struct tv_ft_schedule *schedule,
                  const struct tv_read_options *options)
{
    struct tv_row_options placing = {
        .end = merge->last,
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
    tv_ft_schedule_place(schedule);
    tv_ft_schedule_tracks(schedule, merge->trace);
    if (merge->repeated)
        tv_diagnostics_merge(&merge->trace->head->diagnostics, merge->repeated);
    tv_assembly_add_async(merge->assembly, merge->async_plan);
    tv_ft_place_flows(merge);
}

static void build(struct reading *reading, struct tv_builder *builder)
{
    struct tv_ft_merge merge = {
        .input = add_input(builder, reading->source),
        .texts = reading->texts,
        .text_count = reading->count,
    };
    merge.assembly = tv_assembly_new(builder, merge.input);
    merge.trace = tv_assembly_trace(merge.assembly);
    tv_ft_merge(&merge);
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
    tv_ft_schedule_find(&schedule, (unsigned)merge.text_count);
    tv_ft_merge_leave_rows(&merge);
    place(&merge, &schedule, reading->options);
    tv_ft_schedule_release(&schedule);
    tv_ft_merge_release(&merge);
    tv_assembly_end(merge.assembly);
}

static enum tv_status assemble(struct tv_source *source, struct tv_builder *builder,
                               const struct tv_read_options *options, struct tv_error *err)
{
    struct reading reading = {.source = source, .options = options};
    if (options->progress)
        atomic_fetch_add_explicit(&options->progress->total_bytes, tv_source_size(source),
                                  memory_order_relaxed);
    enum tv_status status = read_parts(&reading, err);
    if (status == TV_OK && is_cancelled(options))
        status = tv_fail(err, TV_ERR_CANCELLED, TV_NO_OFFSET, "stopped on request");
    tv_progress_join(options->progress, true);
    if (status == TV_OK)
        build(&reading, builder);
    for (unsigned i = 0; i < reading.count; i++)
        tv_ft_text_release(&reading.texts[i]);
    tv_free(reading.texts);
    return status;
}

const struct tv_reader tv_reader_ftrace = {
    .name = "ftrace",
    .summary = "Linux ftrace text (tracefs, trace-cmd report, atrace)",
    .sniff = sniff,
    .assemble = assemble,
    .tell = tv_ft_records_tell,
    .format = "ftrace text",
    .describe = tv_ft_describe,
};
