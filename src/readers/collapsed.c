/* SPDX-License-Identifier: Apache-2.0 */
#include "readers/collapsed.h"

#include <string.h>

#include "base/bytes.h"
#include "base/memory.h"
#include "readers/chains.h"
#include "readers/foreign.h"
#include "readers/text_lines.h"

/* Among lines of one frame each, "word 12", so many are expected for one that is none: other text
 * may have such lines too. */
#define FLAT_SHARE 9

/* A beginning of a line with so many ';' is one of a chain. */
#define SURELY_DEEP 16

/* A line taken apart. */
struct chain {
    struct tv_bytes frames; /* separated by ';' */
    tv_ns weight;
};

static bool is_blank(struct tv_bytes line)
{
    for (size_t i = 0; i < line.length; i++)
        if (line.data[i] != ' ' && line.data[i] != '\t')
            return false;
    return true;
}

/* Digits with a fraction or without. */
static bool parse_weight(struct tv_bytes text, tv_ns *weight)
{
    for (size_t i = 0; i < text.length; i++)
        if ((text.data[i] < '0' || text.data[i] > '9') && text.data[i] != '.')
            return false;
    return tv_parse_time(text, TV_SAMPLE_NS, weight);
}

static bool parse_chain(struct tv_bytes line, struct chain *chain)
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
    return !is_blank(chain->frames) && parse_weight(text, &chain->weight);
}

static bool has_controls(struct tv_bytes text)
{
    for (size_t i = 0; i < text.length; i++)
        if (text.data[i] < ' ' && text.data[i] != '\t')
            return true;
    return false;
}

#define BYTE_ORDER_MARK TV_BYTES("\xef\xbb\xbf")
#define MARK_LENGTH 3

static size_t mark_length(struct tv_bytes head)
{
    return tv_bytes_starts_with(head, BYTE_ORDER_MARK) ? MARK_LENGTH : 0;
}

/* "# made by ...": what some scripts write in front.  "#0 main" may be a frame. */
static bool is_comment(struct tv_bytes line)
{
    return line.length > 0 && line.data[0] == '#' &&
           (line.length == 1 || line.data[1] == ' ' || line.data[1] == '\t');
}

/* The lines that can be seen whole. */
struct look {
    size_t chains, others;
    bool deep; /* a chain has more than one frame */
};

static void look_at_line(struct look *look, struct tv_bytes line)
{
    struct chain chain;
    if (line.length > 0 && line.data[line.length - 1] == '\r')
        line.length--;
    if (is_blank(line) || is_comment(line))
        return;
    if (has_controls(line) || !parse_chain(line, &chain)) {
        look->others++;
        return;
    }
    look->chains++;
    look->deep = look->deep || memchr(chain.frames.data, ';', chain.frames.length) != NULL;
}

/* Whether a line whose end cannot be seen may be a deep chain. */
static bool may_be_deep(struct tv_bytes line)
{
    size_t separators = 0;
    for (size_t i = 0; i < line.length; i++)
        separators += line.data[i] == ';';
    return separators >= SURELY_DEEP && !has_controls(line);
}

/* Most lines must be chains, and not of "perf script", which may end with numbers; nearly all where
 * a ';' does not tell them from other text. */
static int sniff(struct tv_bytes head, uint64_t size)
{
    struct tv_cursor cursor = tv_cursor_over(head);
    struct tv_bytes line, mark;
    struct look look = {0};
    tv_cursor_take_bytes(&cursor, mark_length(head), &mark);
    while (tv_cursor_take_line(&cursor, &line)) {
        bool whole = tv_cursor_left(&cursor) > 0 || head.length == size;
        if (whole)
            look_at_line(&look, line);
        else if (look.chains == 0 && look.others == 0)
            return may_be_deep(line) ? 5 : 0;
    }
    if (look.chains > 0 && tv_foreign_is_perf_script(head))
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
    uint64_t start;               /* of the first line */
    uint32_t input;
    uint32_t thread;
    bool delivers; /* else it looks for frames and fractions */
    bool fractions;
    tv_ns total;    /* of the lines so far */
    uint32_t *line; /* frames of the line at hand */
    size_t *ends;   /* of their texts */
    size_t line_depth, line_capacity, end_capacity;
    uint8_t *text; /* of the line before */
    size_t text_length, text_capacity;
    struct tv_chains chains;
};

static struct tv_input *input_of(struct collapsed *collapsed)
{
    return &collapsed->head->inputs[collapsed->input];
}

/* How many callers the line has in common with the line before: lines are often sorted. */
static size_t count_common(const struct collapsed *collapsed, struct tv_bytes text)
{
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

static void remember_text(struct collapsed *collapsed, struct tv_bytes text)
{
    collapsed->text = tv_array_reserve(collapsed->text, &collapsed->text_capacity, text.length, 1);
    memcpy(collapsed->text, text.data, text.length);
    collapsed->text_length = text.length;
}

static void find_frames(struct collapsed *collapsed, struct tv_bytes text)
{
    struct tv_bytes name, rest = text;
    bool more = true;
    size_t depth = count_common(collapsed, text);
    if (depth > 0) {
        size_t known = collapsed->ends[depth - 1] + 1;
        rest = (struct tv_bytes){text.data + known, text.length - known};
    }
    while (more) {
        more = tv_bytes_split(&rest, ';', &name);
        struct tv_frame frame = {.name = tv_trace_info_string(collapsed->head, name)};
        collapsed->line = tv_array_reserve(collapsed->line, &collapsed->line_capacity, depth + 1,
                                           sizeof *collapsed->line);
        collapsed->ends = tv_array_reserve(collapsed->ends, &collapsed->end_capacity, depth + 1,
                                           sizeof *collapsed->ends);
        collapsed->line[depth] = tv_trace_info_add_stack_frame(collapsed->head, &frame,
                                                         more ? TV_STACK_CALLER : TV_STACK_LEAF);
        collapsed->ends[depth++] = (size_t)(name.data + name.length - text.data);
    }
    collapsed->line_depth = depth;
    remember_text(collapsed, text);
}

/* Weights end where the axis does, at a whole count: writers print sums that are larger. */
static void shorten_weight(struct collapsed *collapsed, struct chain *chain, uint64_t offset)
{
    tv_ns left = TV_CHAINS_LONGEST - collapsed->total;
    if (chain->weight <= left)
        return;
    chain->weight = left - left % TV_SAMPLE_NS;
    if (!collapsed->delivers)
        tv_diagnostics_add(&collapsed->head->diagnostics, TV_DIAGNOSTIC_TIME_SATURATED, offset);
}

static void take_line(struct collapsed *collapsed, const struct tv_text_line *line)
{
    struct chain chain;
    if (!line->too_long && (is_blank(line->text) || is_comment(line->text)))
        return;
    if (line->too_long || !parse_chain(line->text, &chain)) {
        if (!collapsed->delivers)
            tv_diagnostics_add(&collapsed->head->diagnostics, TV_DIAGNOSTIC_BAD_LINE, line->offset);
        return;
    }
    shorten_weight(collapsed, &chain, line->offset);
    /* Some tools write no line break at the end, so the number counts. */
    if (!line->ended && !collapsed->delivers)
        tv_diagnostics_add(&collapsed->head->diagnostics, TV_DIAGNOSTIC_UNENDED_LINE, line->offset);
    find_frames(collapsed, chain.frames);
    if (collapsed->delivers)
        tv_chains_put(&collapsed->chains, collapsed->line, collapsed->line_depth, chain.weight,
                      line->offset);
    else if (chain.weight % TV_SAMPLE_NS != 0)
        collapsed->fractions = true;
    collapsed->total += chain.weight;
}

static enum tv_status pass_bytes(struct collapsed *collapsed, uint64_t bytes, struct tv_error *err)
{
    struct tv_progress *progress = collapsed->progress;
    if (!progress)
        return TV_OK;
    atomic_fetch_add_explicit(&progress->bytes, bytes, memory_order_relaxed);
    if (atomic_load_explicit(&progress->cancel, memory_order_relaxed))
        return tv_fail(err, TV_ERR_CANCELLED, TV_NO_OFFSET, "stopped on request");
    return TV_OK;
}

static enum tv_status read_lines(struct collapsed *collapsed, struct tv_error *err)
{
    uint64_t size = tv_source_size(collapsed->source);
    struct tv_text_lines lines;
    struct tv_text_line line;
    enum tv_status status;
    collapsed->total = 0;
    tv_text_lines_init(&lines, collapsed->source, collapsed->start, size);
    while ((status = tv_text_lines_next(&lines, &line, err)) == TV_OK && !line.none) {
        take_line(collapsed, &line);
        status = pass_bytes(collapsed, lines.offset - line.offset, err);
        if (status != TV_OK)
            break;
    }
    tv_text_lines_release(&lines);
    return status;
}

static enum tv_status deliver(struct collapsed *collapsed, struct tv_error *err)
{
    struct tv_sink *sink = collapsed->sink;
    uint64_t size = tv_source_size(collapsed->source);
    collapsed->delivers = true;
    sink->ops->begin(sink, collapsed->head, collapsed->input, 1);
    for (unsigned pass = 0; pass < sink->ops->passes; pass++) {
        tv_chains_begin(&collapsed->chains, pass, collapsed->thread);
        enum tv_status status = read_lines(collapsed, err);
        if (status != TV_OK)
            return status;
        tv_chains_end(&collapsed->chains, size);
        sink->ops->splice(sink, pass);
    }
    sink->ops->end(sink);
    return TV_OK;
}

static void fill_head(struct collapsed *collapsed)
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
    struct tv_input *input = input_of(collapsed);
    input->clocks = TV_CLOCK_WALL;
    input->figures = TV_FIGURES_SAMPLES;
    input->bytes = tv_source_size(collapsed->source);
}

static enum tv_status find_start(struct collapsed *collapsed, struct tv_error *err)
{
    uint8_t bytes[MARK_LENGTH];
    struct tv_bytes head = {bytes, 0};
    enum tv_status status =
        tv_source_read(collapsed->source, 0, bytes, sizeof bytes, &head.length, err);
    collapsed->start = mark_length(head);
    return status;
}

static enum tv_status read_file(struct tv_source *source, struct tv_trace_info *head,
                                struct tv_sink *sink, const struct tv_read_options *options,
                                struct tv_error *err)
{
    struct collapsed *collapsed = tv_alloc(1, sizeof *collapsed);
    collapsed->source = source;
    collapsed->head = head;
    collapsed->sink = sink;
    collapsed->progress = options->progress;
    fill_head(collapsed);
    tv_chains_init(&collapsed->chains, head, sink, collapsed->input);
    if (options->progress)
        atomic_fetch_add_explicit(&options->progress->total_bytes,
                                  tv_source_size(source) * (1 + sink->ops->passes),
                                  memory_order_relaxed);
    enum tv_status status = find_start(collapsed, err);
    if (status == TV_OK)
        status = read_lines(collapsed, err);
    if (status == TV_OK) {
        input_of(collapsed)->tick_ns = collapsed->fractions ? 1 : TV_SAMPLE_NS;
        status = deliver(collapsed, err);
    }
    tv_chains_release(&collapsed->chains);
    tv_free(collapsed->line);
    tv_free(collapsed->ends);
    tv_free(collapsed->text);
    tv_free(collapsed);
    return status;
}

const struct tv_reader tv_reader_collapsed = {
    .name = "collapsed",
    .summary = "Collapsed stacks (\"main;parse;read 12\"), as stackcollapse scripts print them",
    .sniff = sniff,
    .read = read_file,
};
