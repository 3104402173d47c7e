/* SPDX-License-Identifier: Apache-2.0 */
/*
 * perf_script.c - the reader of "perf script" text: which shape it has, cutting it into parts for
 * workers, and merging these. script_chunk.c reads a part, script_line.c a line.
 *
 *     mt  4811/4856  [003]  5190.212711:     250000 cpu-clock:        head: thread, time, event
 *             ffffffff821e59e4 xas_find+0x4 ([kernel.kallsyms])       leaf
 *                       40113a work+0x1a (/home/me/mt)                its caller
 *                                                                     a blank line ends it
 *
 * Users choose the fields (-F), so a head may lack time, thread and period, and there may be none.
 * The shape is found in the first megabyte, and holds for the whole file: a line that looks like a
 * head of another shape is none.
 *
 * Parts begin with a head that is surely one, so any number of parts gives the same samples.
 */
#include "readers/perf/perf_script.h"

#include <assert.h>

#include "base/memory.h"
#include "base/workers.h"
#include "readers/perf/script_chunk.h"
#include "readers/text_lines.h"

/* Smallest part that is worth a worker. */
#define MIN_PART ((uint64_t)1 << 20)

/* The shape of the heads shows within so many bytes: no stack is longer. */
#define SURVEY_SIZE ((uint64_t)1 << 20)

/* ---- Which text it is ---- */

/* Return true for the comments of --header, which are longer than the prefix. */
static bool script_has_header(struct tv_bytes prefix)
{
    return tv_bytes_starts_with(prefix, TV_BYTES("# ========\n# captured on")) ||
           tv_bytes_starts_with(prefix, TV_BYTES("# ========\n# hostname"));
}

/* Lines of a text, by what they may be. */
struct script_survey {
    size_t timed, thread, event, frames; /* heads that are followed by their frames, but `timed` */
    size_t others;
    bool after_thread, after_event; /* the line before may be such a head */
};

/* Return true for an address as long as perf prints it, so that words of prose are none.  Some
 * tools remove the blanks before it. */
static bool script_is_frame(struct tv_bytes line)
{
    struct tv_script_frame frame;
    struct tv_bytes rest = line;
    size_t least = line.length > 0 && tv_is_blank(line.data[0]) ? 3 : 8;
    return tv_bytes_take_word(&rest).length >= least && tv_script_parse_frame(line, &frame);
}

/* Count a line by its form, for sniffing.  A frame after a head without a time shows that the head
 * was one. */
static void script_survey_line(struct script_survey *survey, struct tv_bytes line)
{
    struct tv_script_head head;
    bool after_thread = survey->after_thread, after_event = survey->after_event;
    if (tv_bytes_trim(line).length == 0 || line.data[0] == '#')
        return;
    survey->after_thread = survey->after_event = false;
    if (tv_script_parse_head(line, TV_SCRIPT_TIMED, &head)) {
        survey->timed++;
    } else if (script_is_frame(line)) {
        survey->frames++;
        survey->thread += after_thread;
        survey->event += after_event;
    } else if (tv_script_parse_head(line, TV_SCRIPT_THREAD, &head)) {
        survey->after_thread = true;
    } else if (tv_script_parse_head(line, TV_SCRIPT_EVENT, &head)) {
        survey->after_event = true;
    } else {
        survey->others++;
    }
}

static enum tv_script_shape script_survey_shape(const struct script_survey *survey)
{
    if (survey->timed > 0)
        return TV_SCRIPT_TIMED;
    if (survey->thread > 0)
        return TV_SCRIPT_THREAD;
    return survey->event > 0 ? TV_SCRIPT_EVENT : TV_SCRIPT_FRAMES;
}

static struct script_survey script_survey_prefix(struct tv_bytes prefix)
{
    struct tv_cursor cursor = tv_cursor_over(prefix);
    struct script_survey survey = {0};
    struct tv_bytes line;
    while (tv_cursor_take_line(&cursor, &line))
        script_survey_line(&survey, line);
    return survey;
}

bool tv_is_perf_script(struct tv_bytes prefix)
{
    struct script_survey survey = script_survey_prefix(prefix);
    return survey.timed > 1 || ((survey.timed | survey.thread | survey.event) && survey.frames);
}

/* Text without times must have frames below its heads; bare frames are also in many other texts. */
static int perf_script_sniff(struct tv_bytes prefix, uint64_t size)
{
    (void)size;
    struct script_survey survey = script_survey_prefix(prefix);
    if (script_has_header(prefix))
        return 90;
    if (survey.timed + survey.thread + survey.event + survey.frames <= survey.others)
        return 0;
    if (survey.timed > 1 || ((survey.timed | survey.thread | survey.event) && survey.frames))
        return 60;
    return survey.frames > 2 ? 15 : 0;
}

/* ---- Chunks ---- */

struct script_part {
    struct tv_script_chunk chunk;
    uint64_t start, end;
    enum tv_status status;
    struct tv_error error;
};

struct script_reading {
    struct tv_source *source;
    const struct tv_read_options *options;
    enum tv_script_shape shape;
    struct script_part *parts;
    unsigned count;
};

/* Find out what the heads of the file have. */
static enum tv_status script_find_shape(struct script_reading *reading, struct tv_error *err)
{
    struct script_survey survey = {0};
    struct tv_text_lines lines;
    struct tv_text_line line;
    enum tv_status status;
    tv_text_lines_init(&lines, reading->source, 0, SURVEY_SIZE);
    while ((status = tv_text_lines_next(&lines, &line, err)) == TV_OK && !line.none &&
           survey.timed == 0)
        if (!line.too_long)
            script_survey_line(&survey, line.text);
    tv_text_lines_release(&lines);
    reading->shape = script_survey_shape(&survey);
    return status;
}

/* Return true when a sample begins with the line; `after_blank`: the line before is blank. */
static bool script_begins_sample(const struct script_reading *reading,
                                 const struct tv_text_line *line, bool after_blank)
{
    struct tv_script_head head;
    if (reading->shape == TV_SCRIPT_FRAMES)
        return after_blank && tv_bytes_trim(line->text).length > 0;
    return line->text.length > 0 && line->text.data[0] != '\t' && line->text.data[0] != '#' &&
           tv_script_parse_head(line->text, reading->shape, &head);
}

/* Find the first sample that begins at or after `offset`. */
static enum tv_status script_find_start(const struct script_reading *reading, uint64_t offset,
                                        uint64_t *start, struct tv_error *err)
{
    uint64_t size = tv_source_size(reading->source);
    struct tv_text_lines lines;
    struct tv_text_line line;
    enum tv_status status;
    bool after_blank = false, first = true;
    *start = size;
    if (offset == 0 || offset >= size)
        return TV_OK;
    /* Read from the byte before: when that ends a line, `offset` begins one. */
    tv_text_lines_init(&lines, reading->source, offset - 1, size);
    while ((status = tv_text_lines_next(&lines, &line, err)) == TV_OK && !line.none) {
        if (!first && script_begins_sample(reading, &line, after_blank)) {
            *start = line.offset;
            break;
        }
        after_blank = !first && !line.too_long && tv_bytes_trim(line.text).length == 0;
        first = false;
    }
    tv_text_lines_release(&lines);
    return status;
}

/* Return the number of parts: one per worker, unless the text is so short that starting workers
 * costs more than reading. */
static unsigned script_count_parts(const struct tv_read_options *options, uint64_t size)
{
    unsigned parts = options->parts ? options->parts : tv_workers_available();
    if (!options->part_starts && size / MIN_PART + 1 < parts)
        parts = (unsigned)(size / MIN_PART) + 1;
    return parts;
}

/* Cut the text into parts of about the same size, each of whole samples. */
static enum tv_status script_split(struct script_reading *reading, struct tv_error *err)
{
    uint64_t size = tv_source_size(reading->source), start = 0;
    enum tv_status status = TV_OK;
    reading->count = script_count_parts(reading->options, size);
    reading->parts = tv_alloc(reading->count, sizeof *reading->parts);
    for (unsigned i = 0; i < reading->count; i++) {
        uint64_t end = size;
        if (i + 1 < reading->count) {
            end = reading->options->part_starts ? reading->options->part_starts[i]
                                                : size / reading->count * (i + 1);
            end = end < start ? start : end;
            if (status == TV_OK && end > start)
                status = script_find_start(reading, end, &end, err);
        }
        tv_script_chunk_init(&reading->parts[i].chunk, reading->shape);
        reading->parts[i].start = start;
        reading->parts[i].end = end;
        start = end;
    }
    return status;
}

/* Progress counts so many bytes at once. */
#define PROGRESS_STEP ((uint64_t)1 << 16)

/* Read a part; run by a worker, which shares nothing but the progress. */
static void script_read_part(void *context, unsigned index)
{
    struct script_reading *reading = context;
    struct script_part *part = &reading->parts[index];
    uint64_t told = part->start;
    struct tv_text_lines lines;
    struct tv_text_line line;
    tv_text_lines_init(&lines, reading->source, part->start, part->end);
    while ((part->status = tv_text_lines_next(&lines, &line, &part->error)) == TV_OK &&
           !line.none) {
        tv_script_chunk_take(&part->chunk, &line);
        if (lines.offset - told < PROGRESS_STEP)
            continue;
        part->status =
            tv_reader_add_progress(reading->options->progress, lines.offset - told, &part->error);
        told = lines.offset;
        if (part->status != TV_OK)
            break;
    }
    if (part->status == TV_OK)
        part->status =
            tv_reader_add_progress(reading->options->progress, lines.offset - told, &part->error);
    tv_text_lines_release(&lines);
    tv_script_chunk_end(&part->chunk);
}

/* ---- The input ---- */

/* Read all parts at once, and merge them in the order of the file. Parts that failed are merged
 * as far as they came. The first error counts. */
static enum tv_status script_read_parts(struct script_reading *reading,
                                        struct tv_profile_input *profile, struct tv_error *err)
{
    enum tv_status status = TV_OK;
    tv_workers_run(reading->count, script_read_part, reading);
    for (unsigned i = 0; i < reading->count; i++) {
        tv_script_chunk_merge(&reading->parts[i].chunk, profile);
        if (status == TV_OK && reading->parts[i].status != TV_OK) {
            *err = reading->parts[i].error;
            status = reading->parts[i].status;
        }
    }
    return status;
}

/* Read text of perf script: find its shape, split it between samples, read the parts at the same
 * time, and merge them. Without times, the axis is that of weights. */
static enum tv_status perf_script_assemble(struct tv_source *source, struct tv_builder *builder,
                                           const struct tv_read_options *options,
                                           struct tv_error *err)
{
    struct script_reading reading = {.source = source, .options = options};
    struct tv_profile_input profile;
    tv_profile_input_begin(&profile, source, builder, tv_reader_perf_script.format);
    struct tv_input *input = &profile.info->inputs[profile.input];
    input->figures = TV_FIGURES_SAMPLED;
    if (options->progress)
        atomic_fetch_add_explicit(&options->progress->total_bytes, input->bytes,
                                  memory_order_relaxed);
    enum tv_status status = script_find_shape(&reading, err);
    if (status == TV_OK)
        status = script_split(&reading, err);
    input->weight_axis = reading.shape != TV_SCRIPT_TIMED;
    if (status == TV_OK)
        status = script_read_parts(&reading, &profile, err);
    for (unsigned i = 0; i < reading.count; i++)
        tv_script_chunk_release(&reading.parts[i].chunk);
    tv_free(reading.parts);
    tv_profile_input_end(&profile, options);
    return status;
}

const struct tv_reader tv_reader_perf_script = {
    .name = "perf-script",
    .sniff = perf_script_sniff,
    .assemble = perf_script_assemble,
    .refuses_empty = true,
    .format = "perf script text",
};
