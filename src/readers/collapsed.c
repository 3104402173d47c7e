/* SPDX-License-Identifier: Apache-2.0 */
#include "readers/collapsed.h"

#include <assert.h>
#include <string.h>

#include "base/bytes.h"
#include "base/map.h"
#include "base/memory.h"
#include "base/native_name.h"
#include "readers/perf/perf_script.h"
#include "readers/text_lines.h"

/* Lines of a single frame ("word 12") occur in other text, too, so this many of them are
 * required per line that is not one. */
#define FLAT_SHARE 9

/* A line with this many ';' at its beginning is a chain. */
#define SURELY_DEEP 16

/* A parsed line. */
struct collapsed_chain {
    struct tv_bytes frames; /* separated by ';' */
    tv_ns weight;
};

static bool collapsed_is_blank_line(struct tv_bytes line)
{
    for (size_t i = 0; i < line.length; i++)
        if (line.data[i] != ' ' && line.data[i] != '\t')
            return false;
    return true;
}

/* Parse digits, with or without a fraction. */
static bool collapsed_parse_weight(struct tv_bytes text, tv_ns *weight)
{
    for (size_t i = 0; i < text.length; i++)
        if ((text.data[i] < '0' || text.data[i] > '9') && text.data[i] != '.')
            return false;
    return tv_parse_time(text, TV_SAMPLE_NS, weight);
}

static bool collapsed_parse_chain(struct tv_bytes line, struct collapsed_chain *chain)
{
    while (line.length > 0 &&
           (line.data[line.length - 1] == ' ' || line.data[line.length - 1] == '\t'))
        line.length--;
    size_t number = line.length;
    while (number > 0 && line.data[number - 1] != ' ' && line.data[number - 1] != '\t')
        number--;
    if (number < 2)
        return false;
    struct tv_bytes text = {line.data + number, line.length - number};
    chain->frames = (struct tv_bytes){line.data, number - 1};
    return !collapsed_is_blank_line(chain->frames) && collapsed_parse_weight(text, &chain->weight);
}

static bool collapsed_has_controls(struct tv_bytes text)
{
    for (size_t i = 0; i < text.length; i++)
        if (text.data[i] < ' ' && text.data[i] != '\t')
            return true;
    return false;
}

#define BYTE_ORDER_MARK TV_BYTES("\xef\xbb\xbf")
#define MARK_LENGTH 3

static size_t collapsed_mark_length(struct tv_bytes prefix)
{
    return tv_bytes_starts_with(prefix, BYTE_ORDER_MARK) ? MARK_LENGTH : 0;
}

/* Return true for "# made by ...", which some scripts write first. "#0 main" may be a frame. */
static bool collapsed_is_comment(struct tv_bytes line)
{
    return line.length > 0 && line.data[0] == '#' &&
           (line.length == 1 || line.data[1] == ' ' || line.data[1] == '\t');
}

/* Counts of the complete lines in the prefix. */
struct collapsed_counts {
    size_t chains, others;
    bool deep; /* a chain has more than one frame */
};

static void collapsed_count_line(struct collapsed_counts *look, struct tv_bytes line)
{
    struct collapsed_chain chain;
    if (line.length > 0 && line.data[line.length - 1] == '\r')
        line.length--;
    if (collapsed_is_blank_line(line) || collapsed_is_comment(line))
        return;
    if (collapsed_has_controls(line) || !collapsed_parse_chain(line, &chain)) {
        look->others++;
        return;
    }
    look->chains++;
    look->deep = look->deep || memchr(chain.frames.data, ';', chain.frames.length) != NULL;
}

/* Return true when a line whose end is not in the prefix may be a deep chain. */
static bool collapsed_may_be_deep(struct tv_bytes line)
{
    size_t separators = 0;
    for (size_t i = 0; i < line.length; i++)
        separators += line.data[i] == ';';
    return separators >= SURELY_DEEP && !collapsed_has_controls(line);
}

/* Most lines must be chains, and not output of "perf script", whose lines may end with numbers;
 * nearly all, if no ';' distinguishes them from other text. */
static int collapsed_sniff(struct tv_bytes prefix, uint64_t size)
{
    struct tv_cursor cursor = tv_cursor_over(prefix);
    struct tv_bytes line, mark;
    struct collapsed_counts look = {0};
    tv_cursor_take_bytes(&cursor, collapsed_mark_length(prefix), &mark);
    while (tv_cursor_take_line(&cursor, &line)) {
        bool whole = tv_cursor_left(&cursor) > 0 || prefix.length == size;
        if (whole)
            collapsed_count_line(&look, line);
        else if (look.chains == 0 && look.others == 0)
            return collapsed_may_be_deep(line) ? 5 : 0;
    }
    if (look.chains > 0 && tv_is_perf_script(prefix))
        return 0;
    if (look.deep)
        return look.chains <= look.others ? 0 : look.others == 0 ? 40 : 20;
    return look.chains > 0 && look.chains >= look.others * FLAT_SHARE ? 10 : 0;
}

struct collapsed {
    struct tv_source *source;
    struct tv_trace_info *head;
    struct tv_sink *sink;
    struct tv_progress *progress; /* or NULL */
    uint64_t start;               /* offset of the first line */
    uint32_t input;
    uint32_t thread;
    bool delivers; /* otherwise it collects frames, and looks for fractions */
    bool fractions;
    tv_ns total;    /* of the lines so far */
    uint32_t *line; /* frames of the current line */
    size_t *ends;   /* ends of their texts */
    size_t line_depth, line_capacity, end_capacity;
    uint8_t *text; /* of the line before */
    size_t text_length, text_capacity;
    struct tv_map mangled; /* name (string) of C++ or Rust -> frame */
    struct tv_chains chains;
};

static struct tv_input *collapsed_input(struct collapsed *collapsed)
{
    return &collapsed->head->inputs[collapsed->input];
}

/* Return the number of callers that the line shares with the line before: lines are often
 * sorted. */
static size_t collapsed_count_common(const struct collapsed *collapsed, struct tv_bytes text)
{
    assert(collapsed->line_depth == 0 || collapsed->ends);
    size_t most = collapsed->text_length < text.length ? collapsed->text_length : text.length;
    size_t same = 0, depth = 0;
    while (most - same >= 8 && memcmp(collapsed->text + same, text.data + same, 8) == 0)
        same += 8;
    while (same < most && collapsed->text[same] == text.data[same])
        same++;
    while (depth < collapsed->line_depth && collapsed->ends[depth] < same)
        depth++;
    return depth;
}

static void collapsed_keep_text(struct collapsed *collapsed, struct tv_bytes text)
{
    collapsed->text = tv_array_reserve(collapsed->text, &collapsed->text_capacity, text.length, 1);
    memcpy(collapsed->text, text.data, text.length);
    collapsed->text_length = text.length;
}

/* Return the frame of a name without its suffix "_[k]", which async-profiler and stackcollapse
 * scripts append: how the code of the frame runs. */
static struct tv_frame collapsed_frame(struct collapsed *collapsed, struct tv_bytes name)
{
    static const struct {
        uint8_t letter, kind;
    } kinds[] = {{'k', TV_FRAME_KERNEL},
                 {'j', TV_FRAME_JIT},
                 {'i', TV_FRAME_INLINED},
                 {'0', TV_FRAME_INTERPRETED}};
    struct tv_frame frame = {.kind = TV_FRAME_UNKNOWN};
    size_t length = name.length;
    bool suffix = length > 4 && name.data[length - 1] == ']' && name.data[length - 3] == '[' &&
                  name.data[length - 4] == '_';
    for (size_t i = 0; suffix && i < TV_COUNT(kinds); i++)
        if (name.data[length - 2] == kinds[i].letter) {
            frame.kind = kinds[i].kind;
            name.length = length - 4;
        }
    frame.name = tv_trace_info_string(collapsed->head, name);
    return frame;
}

/* Add a frame.  A mangled name is decoded once. */
static uint32_t collapsed_add_frame(struct collapsed *collapsed, const struct tv_frame *frame,
                                    enum tv_stack_entry entry)
{
    if (!tv_is_mangled(tv_trace_info_text(collapsed->head, frame->name)))
        return tv_trace_info_add_stack_frame(collapsed->head, frame, entry);
    uint32_t number = tv_map_find(&collapsed->mangled, frame->name);
    if (number == TV_NONE) {
        number = tv_trace_info_add_native_frame(collapsed->head, frame);
        tv_map_set(&collapsed->mangled, frame->name, number);
    }
    return number;
}

/* Parse the frames of a line, from the first one that differs from the line before. */
static void collapsed_find_frames(struct collapsed *collapsed, struct tv_bytes text)
{
    struct tv_bytes name, rest = text;
    bool more = true;
    size_t depth = collapsed_count_common(collapsed, text);
    if (depth > 0) {
        size_t known = collapsed->ends[depth - 1] + 1;
        rest = (struct tv_bytes){text.data + known, text.length - known};
    }
    while (more) {
        more = tv_bytes_split(&rest, ';', &name);
        struct tv_frame frame = collapsed_frame(collapsed, name);
        collapsed->line = tv_array_reserve(collapsed->line, &collapsed->line_capacity, depth + 1,
                                           sizeof *collapsed->line);
        collapsed->ends = tv_array_reserve(collapsed->ends, &collapsed->end_capacity, depth + 1,
                                           sizeof *collapsed->ends);
        collapsed->line[depth] =
            collapsed_add_frame(collapsed, &frame, more ? TV_STACK_CALLER : TV_STACK_LEAF);
        collapsed->ends[depth++] = (size_t)(name.data + name.length - text.data);
    }
    collapsed->line_depth = depth;
    collapsed_keep_text(collapsed, text);
}

/* Cut a weight at the end of the axis, at a whole count: some writers print sums that are
 * larger. */
static void collapsed_shorten_weight(struct collapsed *collapsed, struct collapsed_chain *chain,
                                     uint64_t offset)
{
    tv_ns left = TV_CHAINS_LONGEST - collapsed->total;
    if (chain->weight <= left)
        return;
    chain->weight = left - left % TV_SAMPLE_NS;
    if (!collapsed->delivers)
        tv_diagnostics_add(&collapsed->head->diagnostics, TV_DIAGNOSTIC_TIME_SATURATED, offset);
}

static void collapsed_take_line(struct collapsed *collapsed, const struct tv_text_line *line)
{
    struct collapsed_chain chain;
    if (!line->too_long &&
        (collapsed_is_blank_line(line->text) || collapsed_is_comment(line->text)))
        return;
    if (line->too_long || !collapsed_parse_chain(line->text, &chain)) {
        if (!collapsed->delivers)
            tv_diagnostics_add(&collapsed->head->diagnostics, TV_DIAGNOSTIC_BAD_LINE, line->offset);
        return;
    }
    collapsed_shorten_weight(collapsed, &chain, line->offset);
    /* Some tools write no line break at the end, so the last line counts, although it may be
     * cut. */
    if (!line->ended && !collapsed->delivers)
        tv_diagnostics_add(&collapsed->head->diagnostics, TV_DIAGNOSTIC_UNENDED_LINE, line->offset);
    collapsed_find_frames(collapsed, chain.frames);
    if (collapsed->delivers)
        tv_chains_put(&collapsed->chains, collapsed->line, collapsed->line_depth, chain.weight,
                      line->offset);
    else if (chain.weight % TV_SAMPLE_NS != 0)
        collapsed->fractions = true;
    collapsed->total += chain.weight;
}

/* Read all lines. Before the first pass this only collects frames and diagnostics. */
static enum tv_status collapsed_read_lines(struct collapsed *collapsed, struct tv_error *err)
{
    uint64_t size = tv_source_size(collapsed->source);
    struct tv_text_lines lines;
    struct tv_text_line line;
    enum tv_status status;
    collapsed->total = 0;
    tv_text_lines_init(&lines, collapsed->source, collapsed->start, size);
    while ((status = tv_text_lines_next(&lines, &line, err)) == TV_OK && !line.none) {
        collapsed_take_line(collapsed, &line);
        status = tv_reader_add_progress(collapsed->progress, lines.offset - line.offset, err);
        if (status != TV_OK)
            break;
    }
    tv_text_lines_release(&lines);
    return status;
}

static enum tv_status collapsed_deliver(struct collapsed *collapsed, struct tv_error *err)
{
    struct tv_sink *sink = collapsed->sink;
    uint64_t size = tv_source_size(collapsed->source);
    collapsed->delivers = true;
    sink->ops->begin(sink, collapsed->head, collapsed->input, 1);
    for (unsigned pass = 0; pass < sink->ops->passes; pass++) {
        tv_chains_begin(&collapsed->chains, pass, collapsed->thread);
        enum tv_status status = collapsed_read_lines(collapsed, err);
        if (status != TV_OK)
            return status;
        tv_chains_end(&collapsed->chains, size);
        sink->ops->stitch(sink, pass);
    }
    sink->ops->end(sink);
    return TV_OK;
}

static void collapsed_fill_head(struct collapsed *collapsed)
{
    struct tv_trace_info *head = collapsed->head;
    struct tv_thread thread = {
        .name = tv_trace_info_string(head, TV_BYTES("all")),
        .process = tv_trace_info_add_process(head, 0, TV_BYTES("")),
        .listed = true,
    };
    collapsed->input =
        tv_trace_info_add_input(head, tv_source_name(collapsed->source), "Collapsed stacks");
    thread.input = collapsed->input;
    collapsed->thread = tv_trace_info_add_thread(head, &thread);
    struct tv_input *input = collapsed_input(collapsed);
    input->clocks = TV_CLOCK_WALL;
    input->figures = TV_FIGURES_SAMPLES;
    input->bytes = tv_source_size(collapsed->source);
}

static enum tv_status collapsed_find_start(struct collapsed *collapsed, struct tv_error *err)
{
    uint8_t bytes[MARK_LENGTH];
    struct tv_bytes head = {bytes, 0};
    enum tv_status status =
        tv_source_read(collapsed->source, 0, bytes, sizeof bytes, &head.length, err);
    collapsed->start = collapsed_mark_length(head);
    return status;
}

static enum tv_status collapsed_read(struct tv_source *source, struct tv_trace_info *head,
                                     struct tv_sink *sink, const struct tv_read_options *options,
                                     struct tv_error *err)
{
    struct collapsed *collapsed = tv_alloc(1, sizeof *collapsed);
    collapsed->source = source;
    collapsed->head = head;
    collapsed->sink = sink;
    collapsed->progress = options->progress;
    collapsed_fill_head(collapsed);
    tv_map_init(&collapsed->mangled);
    tv_chains_init(&collapsed->chains, head, sink, collapsed->input);
    if (options->progress)
        atomic_fetch_add_explicit(&options->progress->total_bytes,
                                  tv_source_size(source) * (1 + sink->ops->passes),
                                  memory_order_relaxed);
    enum tv_status status = collapsed_find_start(collapsed, err);
    if (status == TV_OK)
        status = collapsed_read_lines(collapsed, err);
    if (status == TV_OK) {
        collapsed_input(collapsed)->tick_ns = collapsed->fractions ? 1 : TV_SAMPLE_NS;
        status = collapsed_deliver(collapsed, err);
    }
    tv_chains_release(&collapsed->chains);
    tv_map_release(&collapsed->mangled);
    tv_free(collapsed->line);
    tv_free(collapsed->ends);
    tv_free(collapsed->text);
    tv_free(collapsed);
    return status;
}

const struct tv_reader tv_reader_collapsed = {
    .name = "collapsed",
    .summary = "Collapsed stacks (\"main;parse;read 12\"), as stackcollapse scripts print them",
    .sniff = collapsed_sniff,
    .read = collapsed_read,
};

void tv_chains_init(struct tv_chains *chains, struct tv_trace_info *head, struct tv_sink *sink,
                    uint32_t input)
{
    *chains = (struct tv_chains){.head = head, .sink = sink, .input = input};
    chains->batch.events = chains->events;
    chains->batch.offsets = chains->offsets;
}

void tv_chains_release(struct tv_chains *chains)
{
    tv_free(chains->stack);
}

static void chains_flush(struct tv_chains *chains)
{
    struct tv_batch *batch = &chains->batch;
    if (batch->count > 0)
        chains->sink->ops->take(chains->sink, chains->pass, 0, batch);
    chains->events_done += batch->count;
    batch->count = 0;
}

/* Add an event at the current time, and deliver the batch when it is full. */
static void chains_put_event(struct tv_chains *chains, enum tv_action action, uint32_t frame,
                             uint64_t offset)
{
    assert(chains->batch.count <= TV_BATCH_EVENTS);
    struct tv_batch *batch = &chains->batch;
    if (batch->count == TV_BATCH_EVENTS ||
        (batch->count > 0 && (offset < batch->offset || offset - batch->offset > UINT32_MAX)))
        chains_flush(chains);
    if (batch->count == 0)
        batch->offset = offset;
    chains->offsets[batch->count] = (uint32_t)(offset - batch->offset);
    chains->events[batch->count++] = (struct tv_event){
        .wall = chains->now / chains->head->inputs[chains->input].tick_ns,
        .thread = chains->thread,
        .action = (unsigned)action & 3,
        .frame = frame & TV_ANY_FRAME,
    };
}

static void chains_exit_down_to(struct tv_chains *chains, size_t depth, uint64_t offset)
{
    while (chains->depth > depth)
        chains_put_event(chains, TV_EXIT, chains->stack[--chains->depth], offset);
}

void tv_chains_begin(struct tv_chains *chains, unsigned pass, uint32_t thread)
{
    assert(chains->batch.count == 0); /* the pass before has ended */
    chains->pass = pass;
    chains->thread = thread;
    chains->now = 0;
    chains->latest = 0;
    chains->weight = 0;
    chains->depth = 0;
    chains->events_done = 0;
}

void tv_chains_begin_thread(struct tv_chains *chains, uint32_t thread, uint64_t offset)
{
    chains_exit_down_to(chains, 0, offset);
    chains->thread = thread;
    chains->now = 0;
}

/* Exit the frames that the chain does not share with the one before, and enter its own. */
void tv_chains_put(struct tv_chains *chains, const uint32_t *frames, size_t depth, tv_ns weight,
                   uint64_t offset)
{
    assert(weight >= 0 && weight <= TV_CHAINS_LONGEST - chains->now);
    size_t common = 0;
    while (common < chains->depth && common < depth && chains->stack[common] == frames[common])
        common++;
    chains_exit_down_to(chains, common, offset);
    chains->stack =
        tv_array_reserve(chains->stack, &chains->capacity, depth, sizeof *chains->stack);
    for (size_t i = common; i < depth; i++) {
        chains_put_event(chains, TV_ENTER, frames[i], offset);
        chains->stack[chains->depth++] = frames[i];
    }
    chains->now += weight;
    chains->weight += weight < INT64_MAX - chains->weight ? weight : INT64_MAX - chains->weight;
    if (chains->now > chains->latest)
        chains->latest = chains->now;
}

void tv_chains_end(struct tv_chains *chains, uint64_t offset)
{
    struct tv_input *input = &chains->head->inputs[chains->input];
    chains_exit_down_to(chains, 0, offset);
    chains_flush(chains);
    input->records = chains->events_done;
    input->weight = chains->weight;
    tv_trace_info_note_saturation(chains->head, chains->weight, 0);
    input->last_wall = chains->latest / input->tick_ns;
}
