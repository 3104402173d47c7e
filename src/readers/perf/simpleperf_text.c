/* SPDX-License-Identifier: Apache-2.0 */
/*
 * simpleperf_text.c - the text of simpleperf's report-sample: blocks of lines "key: value".
 *
 *     sample:
 *       time: 676374949488641
 *       thread_id: 6525
 *       vaddr_in_file: 505fa4      the leaf
 *       file: /apex/com.android.art/lib64/libart.so
 *       symbol: *libart.so[+505fa4]
 *       callchain:
 *         vaddr_in_file: 14120     its callers, in the same way
 */
#include "base/memory.h"
#include "readers/perf/script_line.h"
#include "readers/profile_input.h"
#include "readers/readers.h"
#include "readers/text_lines.h"

struct simpleperf_text {
    struct tv_profile_input profile;
    struct tv_sample sample;
    uint64_t tid;
    uint32_t comm, event, module; /* strings */
    bool open, weighed;
    uint32_t *frames; /* leaf first */
    size_t count, capacity;
};

/* Add the open sample with its frames, which were collected leaf first. */
static void simpleperf_text_end_sample(struct simpleperf_text *text)
{
    struct tv_profile_input *profile = &text->profile;
    if (!text->open)
        return;
    struct tv_bytes event = tv_trace_info_text(profile->info, text->event);
    if (event.length == 0)
        event = TV_BYTES("samples");
    uint32_t process = tv_profile_process(profile, 0, TV_BYTES("simpleperf"));
    text->sample.thread = tv_profile_thread(profile, process, text->tid,
                                            tv_trace_info_text(profile->info, text->comm));
    text->sample.type = tv_profile_value_type(
        profile, event, text->weighed ? tv_perf_unit(event) : TV_BYTES("count"));
    tv_profile_stack_begin(profile);
    for (size_t i = text->count; i > 0; i--)
        tv_profile_stack_push(profile, text->frames[i - 1], 0);
    tv_profile_add_sample(profile, text->sample);
    profile->info->inputs[profile->input].samples++;
    tv_tables_count_events(&profile->trace->tables, profile->input,
                           tv_profile_string(profile, event), 1);
    text->open = false;
}

static void simpleperf_text_begin_sample(struct simpleperf_text *text, uint64_t offset)
{
    simpleperf_text_end_sample(text);
    text->sample = (struct tv_sample){.weight = 1, .cpu = TV_NONE, .offset = offset};
    text->tid = 0;
    text->comm = text->event = text->module = TV_EMPTY_STRING;
    text->weighed = false;
    text->open = true;
    text->count = 0;
}

static void simpleperf_text_add_frame(struct simpleperf_text *text, struct tv_bytes symbol)
{
    struct tv_bytes module = tv_trace_info_text(text->profile.info, text->module);
    struct tv_frame frame = {
        .name = tv_profile_string(&text->profile, symbol),
        .module = text->module,
        .kind = (uint8_t)tv_perf_frame_kind(module, 0),
    };
    text->frames =
        tv_array_reserve(text->frames, &text->capacity, text->count + 1, sizeof *text->frames);
    text->frames[text->count++] = tv_trace_info_add_native_frame(text->profile.info, &frame);
}

/* Take a value of the open sample.  False: its form is wrong. */
static bool simpleperf_text_take_value(struct simpleperf_text *text, struct tv_bytes key,
                                       struct tv_bytes value)
{
    if (tv_bytes_equal(key, TV_BYTES("time")))
        return tv_parse_i64(value, &text->sample.time);
    if (tv_bytes_equal(key, TV_BYTES("thread_id")))
        return tv_parse_u64(value, &text->tid);
    if (tv_bytes_equal(key, TV_BYTES("event_count"))) {
        text->weighed = true;
        return tv_parse_i64(value, &text->sample.weight);
    }
    if (tv_bytes_equal(key, TV_BYTES("thread_name")))
        text->comm = tv_profile_string(&text->profile, value);
    else if (tv_bytes_equal(key, TV_BYTES("event_type")))
        text->event = tv_profile_string(&text->profile, value);
    else if (tv_bytes_equal(key, TV_BYTES("file")))
        text->module = tv_profile_string(&text->profile, value);
    else if (tv_bytes_equal(key, TV_BYTES("symbol")))
        simpleperf_text_add_frame(text, value);
    return true;
}

/* Take a line "key: value".  Lines of a sample are indented below "sample:"; any other line that
 * begins in the first column ends it. */
static void simpleperf_text_take_line(struct simpleperf_text *text, const struct tv_text_line *line)
{
    struct tv_bytes rest = tv_bytes_trim(line->text), key;
    bool inside = line->text.length > 0 && line->text.data[0] == ' ';
    if (rest.length == 0 && !line->too_long)
        return;
    bool has_colon = tv_bytes_split(&rest, ':', &key);
    if (has_colon && !inside && tv_bytes_equal(key, TV_BYTES("sample"))) {
        simpleperf_text_begin_sample(text, line->offset);
    } else if (has_colon && !inside) {
        simpleperf_text_end_sample(text); /* lost_situation, meta_info and the like */
    } else if (!has_colon ||
               (text->open && !simpleperf_text_take_value(text, key, tv_bytes_trim(rest)))) {
        tv_profile_warn(&text->profile, TV_DIAGNOSTIC_BAD_LINE, line->offset);
    } else if (!text->open && tv_bytes_equal(key, TV_BYTES("lost_count")) &&
               !tv_bytes_equal(tv_bytes_trim(rest), TV_BYTES("0"))) {
        tv_profile_warn(&text->profile, TV_DIAGNOSTIC_EVENTS_LOST, line->offset);
    }
}

/* Read the whole text in one pass. A sample ends with the line that begins the next one and the
 * last one after the loop; progress moves by lines, and a cancel is noticed there. */
static enum tv_status simpleperf_text_assemble(struct tv_source *source, struct tv_builder *builder,
                                               const struct tv_read_options *options,
                                               struct tv_error *err)
{
    struct simpleperf_text text = {.frames = NULL};
    struct tv_text_lines lines;
    struct tv_text_line line;
    enum tv_status status;
    uint64_t size = tv_source_size(source);
    tv_profile_input_begin(&text.profile, source, builder, tv_reader_simpleperf_text.format);
    text.profile.info->inputs[text.profile.input].figures = TV_FIGURES_SAMPLED;
    if (options->progress)
        atomic_fetch_add_explicit(&options->progress->total_bytes, size, memory_order_relaxed);
    tv_text_lines_init(&lines, source, 0, size);
    while ((status = tv_text_lines_next(&lines, &line, err)) == TV_OK && !line.none) {
        simpleperf_text_take_line(&text, &line);
        status = tv_reader_add_progress(options->progress, lines.offset - line.offset, err);
        if (status != TV_OK)
            break;
    }
    tv_text_lines_release(&lines);
    simpleperf_text_end_sample(&text);
    tv_free(text.frames);
    tv_profile_input_end(&text.profile, options);
    return status;
}

static int simpleperf_text_sniff(struct tv_bytes prefix, uint64_t size)
{
    (void)size;
    return tv_bytes_starts_with(prefix, TV_BYTES("sample:\n  time: ")) ? 90 : 0;
}

const struct tv_reader tv_reader_simpleperf_text = {
    .name = "simpleperf-text",
    .sniff = simpleperf_text_sniff,
    .assemble = simpleperf_text_assemble,
    .refuses_empty = true,
    .format = "simpleperf report text",
};
