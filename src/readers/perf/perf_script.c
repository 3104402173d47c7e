/* SPDX-License-Identifier: Apache-2.0 */
/*
 * perf_script.c - the reader of "perf script" text: which fields it has, cutting it into parts for
 * workers, and merging these. script_chunk.c reads a part, script_line.c a line.
 *
 *     mt  4811/4856  [003]  5190.212711:     250000 cpu-clock:        head: thread, time, event
 *             ffffffff821e59e4 xas_find+0x4 ([kernel.kallsyms])       leaf
 *                       40113a work+0x1a (/home/me/mt)                its caller
 *                                                                     a blank line ends it
 *
 * Users choose the fields (-F), so a head may lack time, thread and period, and there may be none.
 * The fields of a file show in its first lines together: 12 in "worker 12 cycles:" may be a thread,
 * but it is none if one line is "worker cycles:".  Fields that nearly all
 * lines have hold for the whole file: a line that looks like a head with others is none.
 * Records that are no samples (PERF_RECORD_COMM) have neither event nor period, so they do not
 * count for the fields unless the file has no samples.
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

/* The fields of the heads show within so many bytes and heads. */
#define SURVEY_SIZE ((uint64_t)1 << 20)
#define SURVEY_HEADS 256
/* Maximum number of other lines more than heads and frames. */
#define MAX_OTHERS 32

/* ---- Which text it is ---- */

/* Return true for the comments of --header, which are longer than the prefix. */
static bool script_has_header(struct tv_bytes prefix)
{
    return tv_bytes_starts_with(prefix, TV_BYTES("# ========\n# captured on")) ||
           tv_bytes_starts_with(prefix, TV_BYTES("# ========\n# hostname"));
}

/* Heads of samples, by what they have. */
enum script_kind {
    SCRIPT_TIMED,
    SCRIPT_RECORD, /* timed, but no sample: PERF_RECORD_... */
    SCRIPT_EVENT,  /* no time */
    SCRIPT_ABOVE,  /* neither, above the frames of a chain */
    SCRIPT_BEFORE, /* neither, before the one frame */
    SCRIPT_LONE,   /* an event, no time and no frames */
    SCRIPT_KINDS,
};

#define SCRIPT_FIELDS 8

struct script_heads {
    size_t count;
    size_t with[SCRIPT_FIELDS]; /* how many have each field (enum tv_script_field) */
};

/* Lines of a text, by what they may be. */
struct script_survey {
    struct script_heads heads[SCRIPT_KINDS];
    size_t sure;   /* timed heads with a thread, of samples and records */
    size_t frames; /* lines that are frames */
    size_t single; /* frames in the form that perf prints without chains */
    size_t blanks; /* blank lines between frames */
    size_t others;
    bool pending, after_blank; /* the line before: a head if a frame follows, or blank */
    enum script_kind kind;
    unsigned fields;
};

static void script_count_head(struct script_survey *survey, enum script_kind kind, unsigned fields)
{
    struct script_heads *heads = &survey->heads[kind];
    heads->count++;
    for (unsigned i = 0; i < SCRIPT_FIELDS; i++)
        heads->with[i] += (fields >> i & 1) != 0;
    survey->sure += kind <= SCRIPT_RECORD && (fields & TV_SCRIPT_TID) != 0;
}

/* Return how many heads have a time. */
static size_t script_count_timed(const struct script_survey *survey)
{
    return survey->heads[SCRIPT_TIMED].count + survey->heads[SCRIPT_RECORD].count;
}

/* Count a frame, and the head above it. */
static void script_survey_frame(struct script_survey *survey, bool single)
{
    if (survey->pending) {
        survey->others -= survey->kind == SCRIPT_ABOVE;
        script_count_head(survey, survey->kind, survey->fields);
    }
    survey->blanks += survey->after_blank && survey->frames > 0;
    survey->frames++;
    survey->single += single;
}

/* Count a line with a time or an event.  Return false when it needs a frame below it. */
static bool script_survey_head(struct script_survey *survey, unsigned fields,
                               const struct tv_script_head *head, struct tv_bytes line)
{
    bool before_frame = tv_script_is_frame_tail(head->tail),
         has_event = (fields & TV_SCRIPT_EVENT) != 0;
    bool lone = has_event && head->tail.length == 0;
    if ((fields & TV_SCRIPT_TIME) != 0) {
        bool lone_period = (fields & TV_SCRIPT_PERIOD) != 0 && head->tail.length == 0;
        /* Without a thread, what is after the time must be a frame, an event or a tracepoint. */
        if ((fields & TV_SCRIPT_TID) == 0 && !before_frame && !lone && !lone_period &&
            !(has_event && memchr(head->event.data, ':', head->event.length)))
            return false;
        script_count_head(survey, SCRIPT_TIMED, fields);
        return true;
    }
    if (before_frame)
        script_count_head(survey, SCRIPT_EVENT, fields);
    else if (lone && ((fields & (TV_SCRIPT_TID | TV_SCRIPT_PERIOD)) != 0 ||
                      tv_bytes_ends_with(line, TV_BYTES(": ")))) /* lists in YAML have no blank */
        script_count_head(survey, SCRIPT_LONE, fields);
    return before_frame;
}

/* Return true for the source line of the frame above. */
static bool script_is_place(struct tv_bytes line)
{
    struct tv_bytes file;
    int32_t number;
    return tv_bytes_starts_with(line, TV_BYTES("  ")) &&
           (tv_script_is_no_place(line) || tv_script_parse_place(line, &file, &number));
}

/* Count a line that has a time or an event, or may be the head of a chain. */
static void script_survey_others(struct script_survey *survey, struct tv_bytes line,
                                 unsigned fields, const struct tv_script_head *head)
{
    if ((fields & TV_SCRIPT_TIME) != 0 && tv_script_is_record(line)) {
        script_count_head(survey, SCRIPT_RECORD, fields);
        survey->pending = false;
        return;
    }
    if ((fields & (TV_SCRIPT_TIME | TV_SCRIPT_EVENT)) != 0) {
        survey->pending = !script_survey_head(survey, fields, head, line);
        survey->kind = (fields & TV_SCRIPT_TIME) != 0 ? SCRIPT_TIMED : SCRIPT_EVENT;
        survey->fields = fields;
        return;
    }
    survey->others++;
    survey->pending = true;
    survey->kind = SCRIPT_ABOVE;
    survey->fields = fields | TV_SCRIPT_CHAIN;
}

/* Count a line that is not blank by its form. */
static void script_survey_text(struct script_survey *survey, struct tv_bytes line)
{
    struct tv_script_head head = {.cpu = TV_NONE};
    bool single = false;
    unsigned bare = 0, fields = 0;
    bool is_frame = line.data[0] == '\t' && tv_script_is_frame_line(line);
    if (!is_frame)
        fields = tv_script_guess_fields(line, &head);
    if (!is_frame && fields == 0) {
        bare = tv_script_guess_bare_fields(line, &single);
        is_frame = single ? bare == 0 : tv_script_is_frame_line(line);
    }
    if (is_frame) {
        script_survey_frame(survey, single);
    } else if (single) {
        script_count_head(survey, SCRIPT_BEFORE, bare);
    } else {
        script_survey_others(survey, line, fields | bare, &head);
        return;
    }
    survey->pending = false;
}

/* Count a line by its form, for sniffing. */
static void script_survey_line(struct script_survey *survey, struct tv_bytes line)
{
    if (tv_bytes_trim(line).length == 0) {
        survey->pending = false;
        survey->after_blank = true;
        return;
    }
    if (line.data[0] != '#' && !script_is_place(line) && !tv_script_is_extra(line))
        script_survey_text(survey, line);
    survey->after_blank = false;
}

/* Return the fields of the file: those that nearly all of its heads have. */
static unsigned script_survey_fields(const struct script_survey *survey)
{
    unsigned fields = 0;
    for (enum script_kind kind = SCRIPT_TIMED; kind < SCRIPT_KINDS; kind++) {
        const struct script_heads *heads = &survey->heads[kind];
        for (unsigned i = 0; heads->count > 0 && i < SCRIPT_FIELDS; i++)
            fields |= heads->with[i] >= heads->count - heads->count / 16 ? 1U << i : 0;
        if (heads->count > 0)
            return fields;
    }
    /* Frames alone: stacks, or one on each line. */
    bool is_flat = survey->frames > 1 && survey->single == survey->frames && survey->blanks == 0;
    return is_flat ? 0 : TV_SCRIPT_CHAIN;
}

/* Return how many lines are heads or frames. */
static size_t script_count_found(const struct script_survey *survey)
{
    size_t found = survey->frames;
    for (unsigned kind = 0; kind < SCRIPT_KINDS; kind++)
        found += survey->heads[kind].count;
    return found;
}

/* Count the lines of a prefix.  Text that begins with many lines of another form is not perf's: all
 * files are looked at, and for most of them this would take the longest. */
static struct script_survey script_survey_prefix(struct tv_bytes prefix)
{
    struct tv_cursor cursor = tv_cursor_over(prefix);
    struct script_survey survey = {0};
    struct tv_bytes line;
    while (survey.others < script_count_found(&survey) + MAX_OTHERS &&
           tv_cursor_take_line(&cursor, &line))
        script_survey_line(&survey, line);
    return survey;
}

/* Return true for heads with times or events that frames prove, or times after threads. */
static bool script_is_proven(const struct script_survey *survey)
{
    const struct script_heads *heads = survey->heads;
    size_t timed = script_count_timed(survey);
    return survey->sure > 1 || timed - survey->sure > 1 || heads[SCRIPT_EVENT].count > 1 ||
           (timed + heads[SCRIPT_EVENT].count > 0 && survey->frames > 0);
}

bool tv_is_perf_script(struct tv_bytes prefix)
{
    struct script_survey survey = script_survey_prefix(prefix);
    return script_is_proven(&survey);
}

/* Text without times must have frames with its heads; bare frames are also in many other texts. */
static int perf_script_sniff(struct tv_bytes prefix, uint64_t size)
{
    (void)size;
    struct script_survey survey = script_survey_prefix(prefix);
    const struct script_heads *heads = survey.heads;
    size_t bare = heads[SCRIPT_ABOVE].count + heads[SCRIPT_BEFORE].count + heads[SCRIPT_LONE].count;
    if (script_has_header(prefix))
        return 90;
    if (script_count_found(&survey) <= survey.others)
        return 0;
    if (script_is_proven(&survey))
        return 60;
    /* The last line of the prefix may be a head whose frames are after it. */
    if (bare > 1 && survey.others <= 1)
        return 20;
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
    unsigned fields; /* enum tv_script_field */
    struct script_part *parts;
    unsigned count;
};

/* Find out which fields the heads of the file have. Records do not count for the size: there may
 * be thousands before the first sample. */
static enum tv_status script_find_fields(struct script_reading *reading, struct tv_error *err)
{
    struct script_survey survey = {0};
    struct tv_text_lines lines;
    struct tv_text_line line;
    enum tv_status status;
    uint64_t records = 0; /* bytes */
    tv_text_lines_init(&lines, reading->source, 0, tv_source_size(reading->source));
    while ((status = tv_text_lines_next(&lines, &line, err)) == TV_OK && !line.none &&
           line.offset - records < SURVEY_SIZE && survey.heads[SCRIPT_TIMED].count < SURVEY_HEADS) {
        if (line.too_long)
            continue;
        script_survey_line(&survey, line.text);
        if (tv_script_is_record(line.text))
            records += line.text.length;
    }
    tv_text_lines_release(&lines);
    reading->fields = script_survey_fields(&survey);
    return status;
}

/* Return true when a sample begins with the line; `after_blank`: the line before is blank. */
static bool script_begins_sample(const struct script_reading *reading,
                                 const struct tv_text_line *line, bool after_blank)
{
    struct tv_script_head head;
    if (reading->fields == TV_SCRIPT_CHAIN)
        return after_blank && tv_bytes_trim(line->text).length > 0;
    return line->text.length > 0 && line->text.data[0] != '\t' && line->text.data[0] != '#' &&
           tv_script_parse_head(line->text, reading->fields, &head);
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
        tv_script_chunk_init(&reading->parts[i].chunk, reading->fields);
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
                                        struct tv_profile_input *profile,
                                        struct tv_perf_sched *sched, struct tv_error *err)
{
    enum tv_status status = TV_OK;
    tv_workers_run(reading->count, script_read_part, reading);
    for (unsigned i = 0; i < reading->count; i++) {
        tv_script_chunk_merge(&reading->parts[i].chunk, profile, sched);
        if (status == TV_OK && reading->parts[i].status != TV_OK) {
            *err = reading->parts[i].error;
            status = reading->parts[i].status;
        }
    }
    return status;
}

/* Warn of a text whose times are differences (--deltatime): the first one is 0, and of every eight
 * one or more fall.  perf orders samples by time. */
static void script_warn_of_differences(const struct script_reading *reading,
                                       struct tv_profile_input *profile)
{
    size_t count = 0, falls = 0;
    for (unsigned i = 0; i < reading->count; i++) {
        count += reading->parts[i].chunk.samples.count;
        falls += reading->parts[i].chunk.falls;
    }
    const struct tv_script_chunk *first = &reading->parts[0].chunk;
    if (first->samples.count > 0 && first->first == 0 && falls > 0 && falls >= count / 8)
        tv_profile_warn(profile, TV_DIAGNOSTIC_TIME_DIFFERENCES, first->samples.rows[0].offset);
}

/* Read text of perf script: find its fields, split it between samples, read the parts at the same
 * time, and merge them. Without times, the axis is that of weights. */
static enum tv_status perf_script_assemble(struct tv_source *source, struct tv_builder *builder,
                                           const struct tv_read_options *options,
                                           struct tv_error *err)
{
    struct script_reading reading = {.source = source, .options = options};
    struct tv_profile_input profile;
    struct tv_perf_sched sched = {.events = {.rows = NULL}};
    tv_profile_input_begin(&profile, source, builder, tv_reader_perf_script.format);
    struct tv_input *input = &profile.info->inputs[profile.input];
    input->figures = TV_FIGURES_SAMPLED;
    if (options->progress)
        atomic_fetch_add_explicit(&options->progress->total_bytes, input->bytes,
                                  memory_order_relaxed);
    enum tv_status status = script_find_fields(&reading, err);
    if (status == TV_OK)
        status = script_split(&reading, err);
    input->weight_axis = (reading.fields & TV_SCRIPT_TIME) == 0;
    if (status == TV_OK)
        status = script_read_parts(&reading, &profile, &sched, err);
    if (status == TV_OK && !input->weight_axis)
        script_warn_of_differences(&reading, &profile);
    for (unsigned i = 0; i < reading.count; i++)
        tv_script_chunk_release(&reading.parts[i].chunk);
    tv_free(reading.parts);
    sched.one_process = (reading.fields & TV_SCRIPT_PID) == 0;
    tv_perf_sched_finish(&sched, &profile, NULL, options);
    tv_perf_sched_release(&sched);
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
