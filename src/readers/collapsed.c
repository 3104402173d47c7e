/* SPDX-License-Identifier: Apache-2.0 */
/*
 * collapsed.c - the reader of collapsed stacks: "main;parse;read 12", one line per call chain with
 * its weight. docs/formats/collapsed.md describes the format.
 *
 *     main;parse;read 12          12 samples in read, called by parse, called by main
 *     main;parse;vfs_read_[k] 3   a kernel frame (suffix of async-profiler and perf scripts)
 *     main 0.25                   a weight with a fraction
 *     main (app.py:12) 4          a file and a sampled line (py-spy)
 *
 * Each line is a sample without a time, of a thread "all".  Its weight is a number of samples; when
 * a weight of the file has a fraction, all are kept in thousandths. The unit of every weight
 * depends on that, so the file is read twice: once for fractions, once for stacks.
 *
 * No line begins with a magic number, and much text ends with a number. The sniff therefore counts
 * lines and returns low values, so that every other reader that knows the text goes first.
 */
#include "readers/readers.h"

#include <assert.h>
#include <string.h>

#include "base/bytes.h"
#include "base/map.h"
#include "base/memory.h"
#include "base/native_name.h"
#include "readers/perf/perf_script.h"
#include "readers/profile_input.h"
#include "readers/text_lines.h"

/* Lines of a single frame ("word 12") occur in other text, too, so this many of them are
 * required per line that is not one. */
#define FLAT_SHARE 9

/* A line with this many ';' at its beginning is a chain. */
#define SURELY_DEEP 16

/* Weights with fractions are kept in thousandths. */
#define THOUSANDTHS 1000
#define KEPT_PLACES 3

/* A parsed line. */
struct collapsed_chain {
    struct tv_bytes frames; /* separated by ';' */
    struct tv_bytes weight; /* digits, perhaps with a point */
};

static bool collapsed_is_blank_line(struct tv_bytes line)
{
    for (size_t i = 0; i < line.length; i++)
        if (line.data[i] != ' ' && line.data[i] != '\t')
            return false;
    return true;
}

/* Return true for digits, with or without a fraction. */
static bool collapsed_is_weight(struct tv_bytes text)
{
    size_t points = 0;
    for (size_t i = 0; i < text.length; i++) {
        points += text.data[i] == '.';
        if ((text.data[i] < '0' || text.data[i] > '9') && text.data[i] != '.')
            return false;
    }
    return points == 0 || (points == 1 && text.data[text.length - 1] != '.');
}

/* Split a line at the last blank: frames may contain blanks, too ("operator new"). */
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
    chain->weight = (struct tv_bytes){line.data + number, line.length - number};
    chain->frames = (struct tv_bytes){line.data, number - 1};
    return collapsed_is_weight(chain->weight) && !collapsed_is_blank_line(chain->frames);
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
    size_t spaced; /* chains of one frame that has blanks, as most lines of other text */
    bool deep;     /* a chain has more than one frame */
};

/* Return true for a line with two numbers, as FlameGraph's difffolded.pl writes it, and for a stack
 * of bpftrace: "@[main, read]: 5". */
static bool collapsed_is_foreign(struct tv_bytes line, const struct collapsed_chain *chain)
{
    struct collapsed_chain other;
    return tv_bytes_starts_with(line, TV_BYTES("@[")) ||
           collapsed_parse_chain(chain->frames, &other);
}

/* Count a line by its form, for sniffing: a chain with a number, or anything else. */
static void collapsed_count_line(struct collapsed_counts *look, struct tv_bytes line)
{
    struct collapsed_chain chain;
    if (line.length > 0 && line.data[line.length - 1] == '\r')
        line.length--;
    if (collapsed_is_blank_line(line) || collapsed_is_comment(line))
        return;
    if (collapsed_has_controls(line) || !collapsed_parse_chain(line, &chain) ||
        collapsed_is_foreign(line, &chain)) {
        look->others++;
        return;
    }
    bool deep = memchr(chain.frames.data, ';', chain.frames.length) != NULL;
    look->chains++;
    look->spaced += !deep && memchr(chain.frames.data, ' ', chain.frames.length) != NULL;
    look->deep = look->deep || deep;
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
 * nearly all, and without blanks in their frame, if no ';' distinguishes them from other text. */
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
    size_t plain = look.chains - look.spaced;
    return plain > 0 && plain >= (look.others + look.spaced) * FLAT_SHARE ? 10 : 0;
}

struct collapsed {
    struct tv_profile_input profile;
    struct tv_source *source;
    struct tv_progress *progress; /* or NULL */
    uint64_t start;               /* offset of the first line */
    bool fractions;               /* weights are thousandths */
    bool weighed;                 /* a weight is not 0 */
    struct tv_sample sample;      /* what all samples have in common */
    uint32_t *paths, *line_paths; /* paths of the line before at each depth */
    size_t *ends;                 /* and the end of its frame's text */
    size_t line_depth;            /* frames of the line before */
    size_t path_capacity, line_path_capacity, end_capacity;
    uint8_t *text; /* text of the line before */
    size_t text_length, text_capacity;
    struct tv_map mangled; /* name (string) of C++ or Rust -> frame */
};

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

/* Split "load (app.py:30)" of py-spy, which others write for other languages, too: the function,
 * its file, and the sampled line in it.  Without line numbers only Python's files are certain. */
static struct tv_bytes collapsed_split_place(struct tv_bytes text, struct tv_bytes *file,
                                             int32_t *line)
{
    struct tv_bytes digits;
    size_t open = text.length;
    uint64_t number = 0;
    *file = (struct tv_bytes){text.data, 0};
    *line = 0;
    if (text.length == 0 || text.data[text.length - 1] != ')')
        return text;
    while (open > 0 && text.data[open - 1] != '(')
        open--;
    if (open < 3 || text.data[open - 2] != ' ')
        return text;
    struct tv_bytes place = {text.data + open, text.length - 1 - open};
    size_t colon = place.length;
    while (colon > 0 && place.data[colon - 1] >= '0' && place.data[colon - 1] <= '9')
        colon--;
    digits = (struct tv_bytes){place.data + colon, place.length - colon};
    if (colon > 1 && place.data[colon - 1] == ':' && tv_parse_u64(digits, &number))
        place.length = colon - 1;
    else if (!tv_bytes_ends_with(place, TV_BYTES(".py")))
        return text;
    *file = place;
    *line = number > INT32_MAX ? 0 : (int32_t)number;
    return (struct tv_bytes){text.data, open - 2};
}

/* Return the frame of a name without its suffix "_[k]", which async-profiler and stackcollapse
 * scripts append: how the code of the frame runs.  *line: the sampled line, 0 if unknown. */
static struct tv_frame collapsed_frame(struct collapsed *collapsed, struct tv_bytes name,
                                       int32_t *line)
{
    static const struct {
        uint8_t letter, kind;
    } kinds[] = {{'k', TV_FRAME_KERNEL},
                 {'j', TV_FRAME_JIT},
                 {'i', TV_FRAME_INLINED},
                 {'0', TV_FRAME_INTERPRETED}};
    struct tv_frame frame = {.kind = TV_FRAME_UNKNOWN};
    struct tv_bytes file;
    size_t length = name.length;
    bool suffix = length > 4 && name.data[length - 1] == ']' && name.data[length - 3] == '[' &&
                  name.data[length - 4] == '_';
    for (size_t i = 0; suffix && i < TV_COUNT(kinds); i++)
        if (name.data[length - 2] == kinds[i].letter) {
            frame.kind = kinds[i].kind;
            name.length = length - 4;
        }
    name = collapsed_split_place(name, &file, line);
    frame.name = tv_profile_string(&collapsed->profile, name);
    frame.file = tv_profile_string(&collapsed->profile, file);
    return frame;
}

/* Add a frame.  A mangled name is decoded once. */
static uint32_t collapsed_add_frame(struct collapsed *collapsed, const struct tv_frame *frame,
                                    enum tv_stack_entry entry)
{
    struct tv_trace_info *info = collapsed->profile.info;
    if (!tv_is_mangled(tv_trace_info_text(info, frame->name)))
        return tv_trace_info_add_stack_frame(info, frame, entry);
    uint32_t number = tv_map_find(&collapsed->mangled, frame->name);
    if (number == TV_NONE) {
        number = tv_trace_info_add_native_frame(info, frame);
        tv_map_set(&collapsed->mangled, frame->name, number);
    }
    return number;
}

/* Build the stack of a line, from the first frame that differs from the line before. */
static void collapsed_build_stack(struct collapsed *collapsed, struct tv_bytes text)
{
    struct tv_profile_input *profile = &collapsed->profile;
    struct tv_bytes name, rest = text;
    bool more = true;
    size_t depth = collapsed_count_common(collapsed, text);
    tv_profile_stack_begin(profile);
    if (depth > 0) {
        size_t known = collapsed->ends[depth - 1] + 1;
        rest = (struct tv_bytes){text.data + known, text.length - known};
        profile->path = collapsed->paths[depth - 1];
        profile->line_path = collapsed->line_paths[depth - 1];
        profile->depth = depth;
    }
    while (more) {
        more = tv_bytes_split(&rest, ';', &name);
        int32_t line;
        struct tv_frame frame = collapsed_frame(collapsed, name, &line);
        collapsed->paths = tv_array_reserve(collapsed->paths, &collapsed->path_capacity, depth + 1,
                                            sizeof *collapsed->paths);
        collapsed->line_paths =
            tv_array_reserve(collapsed->line_paths, &collapsed->line_path_capacity, depth + 1,
                             sizeof *collapsed->line_paths);
        collapsed->ends = tv_array_reserve(collapsed->ends, &collapsed->end_capacity, depth + 1,
                                           sizeof *collapsed->ends);
        tv_profile_stack_push(
            profile, collapsed_add_frame(collapsed, &frame, more ? TV_STACK_CALLER : TV_STACK_LEAF),
            line);
        collapsed->paths[depth] = profile->path;
        collapsed->line_paths[depth] = profile->line_path;
        collapsed->ends[depth++] = (size_t)(name.data + name.length - text.data);
    }
    collapsed->line_depth = depth;
    collapsed_keep_text(collapsed, text);
}

/* Return whether a weight has more decimal places than are kept, and they are not 0. */
static bool collapsed_is_rounded(struct tv_bytes weight)
{
    const uint8_t *point = memchr(weight.data, '.', weight.length);
    for (size_t i = 0; point && point + KEPT_PLACES + 1 + i < weight.data + weight.length; i++)
        if (point[KEPT_PLACES + 1 + i] != '0')
            return true;
    return false;
}

/* Parse a weight in the unit of the file's samples.  Some writers print sums that are larger than
 * 64 bits. */
static int64_t collapsed_parse_weight(struct collapsed *collapsed, struct tv_bytes text,
                                      uint64_t offset)
{
    uint64_t weight;
    tv_ns thousandths;
    if (!collapsed->fractions) {
        weight = tv_parse_u64(text, &weight) ? weight : UINT64_MAX;
    } else {
        weight =
            tv_parse_time(text, THOUSANDTHS, &thousandths) ? (uint64_t)thousandths : UINT64_MAX;
        if (collapsed_is_rounded(text))
            tv_profile_warn(&collapsed->profile, TV_DIAGNOSTIC_WEIGHT_ROUNDED, offset);
    }
    return tv_profile_fit_weight(&collapsed->profile, weight, offset);
}

/* Parse a line.  Return false for one without a stack; a line of another form is diagnosed. */
static bool collapsed_split_line(struct collapsed *collapsed, const struct tv_text_line *line,
                                 struct collapsed_chain *chain)
{
    if (!line->too_long &&
        (collapsed_is_blank_line(line->text) || collapsed_is_comment(line->text)))
        return false;
    if (!line->too_long && collapsed_parse_chain(line->text, chain))
        return true;
    tv_profile_warn(&collapsed->profile, TV_DIAGNOSTIC_BAD_LINE, line->offset);
    return false;
}

/* Take `frame;frame weight`. Weights that are whole count as samples; of weights with fractions
 * (times) each line is one. */
static void collapsed_take_line(struct collapsed *collapsed, const struct tv_text_line *line)
{
    struct collapsed_chain chain;
    if (!collapsed_split_line(collapsed, line, &chain))
        return;
    /* Some tools write no line break at the end, so the last line counts, although it may be
     * cut. */
    if (!line->ended)
        tv_profile_warn(&collapsed->profile, TV_DIAGNOSTIC_UNENDED_LINE, line->offset);
    struct tv_sample sample = collapsed->sample;
    sample.weight = collapsed_parse_weight(collapsed, chain.weight, line->offset);
    collapsed->weighed = collapsed->weighed || sample.weight > 0;
    sample.offset = line->offset;
    collapsed->profile.info->inputs[collapsed->profile.input].samples +=
        collapsed->fractions ? 1 : (uint64_t)sample.weight;
    collapsed_build_stack(collapsed, chain.frames);
    tv_profile_add_sample(&collapsed->profile, sample);
}

/* Look for a weight with a fraction: the unit of all weights depends on it. */
static void collapsed_find_fraction(struct collapsed *collapsed, const struct tv_text_line *line)
{
    struct collapsed_chain chain;
    if (!line->too_long && !collapsed_is_comment(line->text) &&
        collapsed_parse_chain(line->text, &chain))
        collapsed->fractions |= memchr(chain.weight.data, '.', chain.weight.length) != NULL;
}

/* Call `take` for all lines. */
static enum tv_status collapsed_for_lines(struct collapsed *collapsed,
                                          void (*take)(struct collapsed *collapsed,
                                                       const struct tv_text_line *line),
                                          struct tv_error *err)
{
    struct tv_text_lines lines;
    struct tv_text_line line;
    enum tv_status status;
    tv_text_lines_init(&lines, collapsed->source, collapsed->start,
                       tv_source_size(collapsed->source));
    while ((status = tv_text_lines_next(&lines, &line, err)) == TV_OK && !line.none) {
        take(collapsed, &line);
        status = tv_reader_add_progress(collapsed->progress, lines.offset - line.offset, err);
        if (status != TV_OK)
            break;
    }
    tv_text_lines_release(&lines);
    return status;
}

/* Skip a byte order mark, which would become part of the first frame. */
static enum tv_status collapsed_find_start(struct collapsed *collapsed, struct tv_error *err)
{
    uint8_t bytes[MARK_LENGTH];
    struct tv_bytes head = {bytes, 0};
    enum tv_status status =
        tv_source_read(collapsed->source, 0, bytes, sizeof bytes, &head.length, err);
    collapsed->start = collapsed_mark_length(head);
    return status;
}

/* Add the value type and the thread of all samples. */
static void collapsed_begin_samples(struct collapsed *collapsed)
{
    struct tv_profile_input *profile = &collapsed->profile;
    uint32_t process = tv_profile_process(profile, 0, TV_BYTES(""));
    collapsed->sample = (struct tv_sample){
        .thread = tv_profile_thread(profile, process, 0, TV_BYTES("all")),
        .cpu = TV_NONE,
        .type = collapsed->fractions
                    ? tv_profile_value_type(profile, TV_BYTES("weight"), TV_BYTES("thousandths"))
                    : tv_profile_count_type(profile),
    };
}

static enum tv_status collapsed_read(struct collapsed *collapsed, struct tv_error *err)
{
    enum tv_status status = collapsed_find_start(collapsed, err);
    if (status == TV_OK)
        status = collapsed_for_lines(collapsed, collapsed_find_fraction, err);
    collapsed_begin_samples(collapsed);
    if (status == TV_OK)
        status = collapsed_for_lines(collapsed, collapsed_take_line, err);
    if (status == TV_OK && !collapsed->weighed)
        return tv_fail(err, TV_ERR_SYNTAX, TV_NO_OFFSET,
                       "expected collapsed stacks with weights, found none but 0");
    return status;
}

static enum tv_status collapsed_assemble(struct tv_source *source, struct tv_builder *builder,
                                         const struct tv_read_options *options,
                                         struct tv_error *err)
{
    struct collapsed *collapsed = tv_alloc(1, sizeof *collapsed);
    tv_profile_input_begin(&collapsed->profile, source, builder, "Collapsed stacks");
    collapsed->profile.info->inputs[collapsed->profile.input].weight_axis = true;
    collapsed->source = source;
    collapsed->progress = options->progress;
    tv_map_init(&collapsed->mangled);
    if (options->progress)
        atomic_fetch_add_explicit(&options->progress->total_bytes, 2 * tv_source_size(source),
                                  memory_order_relaxed);
    enum tv_status status = collapsed_read(collapsed, err);
    tv_profile_input_end(&collapsed->profile, options);
    tv_map_release(&collapsed->mangled);
    tv_free(collapsed->paths);
    tv_free(collapsed->line_paths);
    tv_free(collapsed->ends);
    tv_free(collapsed->text);
    tv_free(collapsed);
    return status;
}

const struct tv_reader tv_reader_collapsed = {
    .name = "collapsed",
    .sniff = collapsed_sniff,
    .assemble = collapsed_assemble,
    .refuses_empty = true,
};
