/* SPDX-License-Identifier: Apache-2.0 */
/*
 * read_head.c - the head is small, and made anew: so it outlives the index where a trace that was
 * made of this one takes it over.
 */
#include <string.h>

#include "base/bytes.h"
#include "base/memory.h"
#include "base/source.h"
#include "index/check.h"
#include "index/index.h"
#include "index/reading.h"
#include "readers/reader.h"

/* Every string has its NUL, and the last nothing behind it. */
static bool are_texts(struct tv_bytes texts, const uint64_t *ends, uint32_t count)
{
    uint64_t start = 0;
    for (uint32_t i = 0; i < count; i++) {
        if (ends[i] < start || ends[i] >= texts.length || texts.data[ends[i]] != 0)
            return false;
        start = ends[i] + 1;
    }
    return start == texts.length;
}

static void read_strings(struct tv_index_reading *r)
{
    struct tv_trace_info *head = r->trace->head;
    uint64_t length;
    uint32_t count;
    const uint64_t *ends = tv_index_take(r, TV_INDEX_STRING_ENDS, sizeof *ends, &count);
    const uint8_t *texts = tv_sections_find(r->sections, TV_INDEX_STRINGS, 0, 1, &length);
    struct tv_interner *strings = NULL;
    if (ends && texts && are_texts((struct tv_bytes){texts, (size_t)length}, ends, count))
        strings = tv_interner_from_texts((struct tv_bytes){texts, (size_t)length}, ends, count);
    if (!strings) {
        r->wrong = "its strings";
        return;
    }
    tv_interner_free(head->strings);
    head->strings = strings;
}

static void read_facts(struct tv_index_reading *r)
{
    struct tv_trace *trace = r->trace;
    uint32_t count;
    const struct tv_index_facts *facts = tv_index_take(r, TV_INDEX_FACTS, sizeof *facts, &count);
    if (!facts || count != 1) {
        r->wrong = "its facts";
        return;
    }
    trace->origin = facts->origin;
    trace->start = facts->start;
    trace->end = facts->end;
    trace->slice_count = facts->slice_count;
    trace->recorded_calls = facts->recorded_calls;
    trace->unmatched_exits = facts->unmatched_exits;
    trace->open_calls = facts->open_calls;
    trace->max_depth = facts->max_depth;
    trace->columns_count = facts->columns_count;
    trace->cpu_axis = facts->cpu_axis != 0;
    trace->is_subset = facts->is_subset != 0;
    TV_INDEX_COPY(r, TV_INDEX_OFFSETS, trace->offset, &trace->offset_count);
}

static struct tv_source *read_source(struct tv_index_reading *r, uint32_t number, uint32_t inner,
                                     const struct tv_index_source *kept)
{
    uint64_t length, size = 0;
    const char *name = tv_sections_find(r->sections, TV_INDEX_SOURCE_NAME, number, 1, &length);
    const void *bytes = tv_sections_find(r->sections, TV_INDEX_SOURCE_BYTES, number, 1, &size);
    if (!name || length == 0 || name[length - 1] != '\0' ||
        (number < inner) != (kept->inner == 1) || (kept->inner && (!bytes || size != kept->size))) {
        r->wrong = "its sources";
        return NULL;
    }
    if (!kept->inner)
        return tv_index_lender_source(r->lender, number - inner, kept->size, name);
    return tv_index_copied_source((struct tv_bytes){bytes, (size_t)size}, name);
}

/* In their order; those that cannot be opened are NULL. */
static struct tv_source **read_sources(struct tv_index_reading *r, uint32_t *count)
{
    const struct tv_index_source *kept = tv_index_take(r, TV_INDEX_SOURCES, sizeof *kept, count);
    struct tv_source **sources = tv_alloc(*count, sizeof *sources);
    uint32_t inner = 0;
    while (inner < *count && kept[inner].inner == 1)
        inner++;
    for (uint32_t i = 0; i < *count; i++) {
        sources[i] = read_source(r, i, inner, &kept[i]);
        if (sources[i] && i < inner)
            tv_trace_keep_inner_source(r->trace, sources[i]);
        else if (sources[i])
            tv_trace_keep_source(r->trace, sources[i]);
    }
    return sources;
}

static bool has_flags(const struct tv_input *input)
{
    return tv_index_is_flag(&input->verbatim) && tv_index_is_flag(&input->assembled) &&
           tv_index_is_flag(&input->eventless) && tv_index_is_flag(&input->callless) &&
           tv_index_is_flag(&input->own_zero) && tv_index_is_flag(&input->overflow) &&
           tv_index_is_flag(&input->sampling_inferred);
}

/* An input, as it was when all it pointed to is there again. */
static void read_input(struct tv_index_reading *r, const struct tv_index_input *kept,
                       struct tv_bytes format)
{
    static const char *const units[] = {NULL, "ns", "us", "ms"};
    struct tv_trace_info *head = r->trace->head;
    if (!has_flags(&kept->input) || kept->unit >= TV_COUNT(units)) {
        r->wrong = "its inputs";
        return;
    }
    uint32_t string = tv_trace_info_string(head, format);
    uint32_t input = tv_trace_info_add_input(head, "", (const char *)tv_trace_info_text(head, string).data);
    struct tv_input *made = &head->inputs[input];
    const char *name = made->format;
    memcpy(made, &kept->input, sizeof *made);
    made->format = name;
    made->unit = units[kept->unit];
    made->source = NULL;
    made->describe = kept->describes ? tv_readers_describe(format) : NULL;
}

static void read_inputs(struct tv_index_reading *r)
{
    uint32_t count, source_count;
    uint64_t length, start = 0;
    const struct tv_index_input *kept = tv_index_take(r, TV_INDEX_INPUTS, sizeof *kept, &count);
    const uint8_t *formats = tv_sections_find(r->sections, TV_INDEX_FORMATS, 0, 1, &length);
    struct tv_source **sources = read_sources(r, &source_count);
    for (uint32_t i = 0; i < count && !r->wrong; i++) {
        uint64_t end = kept[i].format_end;
        if (!formats || end < start || end > length ||
            (kept[i].source != TV_NONE && kept[i].source >= source_count)) {
            r->wrong = "its inputs";
            break;
        }
        read_input(r, &kept[i], (struct tv_bytes){formats + start, (size_t)(end - start)});
        start = end;
        if (!r->wrong && kept[i].source != TV_NONE)
            r->trace->head->inputs[i].source = sources[kept[i].source];
    }
    tv_free(sources);
}

static void read_diagnostics(struct tv_index_reading *r)
{
    struct tv_diagnostics *all = &r->trace->head->diagnostics;
    uint32_t count, letters, times;
    const struct tv_index_diagnostic *kept =
        tv_index_take(r, TV_INDEX_DIAGNOSTICS, sizeof *kept, &count);
    const uint64_t *phases = tv_index_take(r, TV_INDEX_PHASES, sizeof *phases, &letters);
    const int64_t *quiet = tv_index_take(r, TV_INDEX_QUIET, sizeof *quiet, &times);
    for (uint32_t i = 0; i < count; i++) {
        if (kept[i].kind >= TV_DIAGNOSTIC_COUNT || kept[i].offset_count > TV_DIAGNOSTIC_OFFSETS ||
            all->kinds[kept[i].kind].places) {
            r->wrong = "its diagnostics";
            return;
        }
        struct tv_diagnostic *one = &all->kinds[kept[i].kind];
        *one = (struct tv_diagnostic){kept[i].count, kept[i].offset_count, NULL};
        if (one->offset_count > 0) {
            one->places = tv_alloc(1, sizeof *one->places);
            *one->places = kept[i].places;
        }
    }
    if (letters != TV_DIAGNOSTIC_LETTERS || times != 1) {
        r->wrong = "its diagnostics";
        return;
    }
    memcpy(all->phases, phases, sizeof all->phases);
    all->quiet = *quiet;
}

void tv_index_read_head(struct tv_index_reading *r)
{
    struct tv_trace_info *head = r->trace->head;
    read_strings(r);
    read_facts(r);
    if (!r->wrong)
        read_inputs(r);
    TV_INDEX_COPY(r, TV_INDEX_PROCESSES, head->processes, &head->process_count);
    TV_INDEX_COPY(r, TV_INDEX_THREADS, head->threads, &head->thread_count);
    TV_INDEX_COPY(r, TV_INDEX_FRAMES, head->frames, &head->frame_count);
    TV_INDEX_COPY(r, TV_INDEX_METADATA, head->metadata, &head->metadata_count);
    head->process_capacity = head->process_count;
    head->thread_capacity = head->thread_count;
    head->frame_capacity = head->frame_count;
    head->metadata_capacity = head->metadata_count;
    read_diagnostics(r);
}
