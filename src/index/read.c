/* SPDX-License-Identifier: Apache-2.0 */
/*
 * read.c - turns the sections of an index into a trace (docs/trace-index.md lists them).
 *
 * Columns and tables stay in the memory of the file.  Everything small, and everything with
 * pointers, is rebuilt: tracks, rows, and the trace info, which a subset may take over and which
 * must then outlive the index.  At the end the whole trace is checked.
 *
 *     lent     columns, blocks, tables, paths, waits     pointers into the file, valid while
 *                                                        trace->sections is
 *     copied   tracks, rows, processes, threads, frames, metadata, diagnostics, strings
 *     rebuilt  inputs, with their format, unit, source and describe function
 *
 * Errors: the first fault sets `wrong`, and reading goes on as far as it is safe, which spares a
 * test after every call. Until the checks have run, no number from the file may be used as an
 * index. A function here that must do so (waits, sources, formats, diagnostics) checks it itself.
 */
#include <assert.h>
#include <string.h>

#include "base/bytes.h"
#include "base/memory.h"
#include "base/source.h"
#include "index/index.h"
#include "index/layout.h"
#include "readers/reader.h"

struct index_reading {
    struct tv_trace *trace; /* with an empty trace info */
    struct tv_sections *sections;
    struct tv_index_lender *lender;
    const char *wrong; /* name of the first damaged part; NULL: none yet */
};

/* Return the elements of a section that must exist, in place; an empty section gives a pointer and
 * the count 0. TV_NONE is no valid number, so tables are shorter. */
static const void *index_take(struct index_reading *r, uint32_t tag, size_t size, uint32_t *count)
{
    uint64_t found;
    const void *elements = tv_sections_find(r->sections, tag, 0, size, &found);
    *count = found < TV_NONE ? (uint32_t)found : 0;
    if (!elements || found >= TV_NONE)
        r->wrong = "a section is missing";
    return elements;
}

/* Return a copy that the trace owns. */
static void *index_copy(struct index_reading *r, uint32_t tag, size_t size, uint32_t *count)
{
    const void *elements = index_take(r, tag, size, count);
    void *copied = tv_alloc(*count, size);
    if (*count > 0)
        memcpy(copied, elements, *count * size);
    return copied;
}

/* Replace an array by the elements of a section. */
#define INDEX_COPY(r, tag, array, count)                                                           \
    do {                                                                                           \
        tv_free(array);                                                                            \
        (array) = index_copy(r, tag, sizeof *(array), count);                                      \
    } while (0)

/* Waits of all tracks are one section, in the order of the tracks; wait_count divides it. */
static void index_read_tracks(struct index_reading *r)
{
    struct tv_trace *trace = r->trace;
    uint32_t wait_count, done = 0;
    const struct tv_wait *waits = index_take(r, TV_INDEX_WAITS, sizeof *waits, &wait_count);
    INDEX_COPY(r, TV_INDEX_TRACKS, trace->tracks, &trace->track_count);
    INDEX_COPY(r, TV_INDEX_ROWS, trace->rows, &trace->row_count);
    for (uint32_t i = 0; i < trace->track_count; i++) {
        struct tv_track *track = &trace->tracks[i];
        track->waits = NULL;
        if (track->wait_count > wait_count - done) {
            r->wrong = "the waits of its threads";
            return;
        }
        if (waits)
            track->waits = tv_index_lent(waits + done);
        done += track->wait_count;
        assert(done <= wait_count);
    }
}

/* A missing column has no section. */
static void *index_take_column(struct index_reading *r, uint32_t tag, uint32_t number, size_t size,
                               uint64_t count)
{
    uint64_t found;
    const void *elements = tv_sections_find(r->sections, tag, number, size, &found);
    if (elements && found != count)
        r->wrong = "a column";
    return tv_index_lent(elements);
}

/* Return whether columns that belong together are all there.  Columns without any slice have not
 * even flags. */
static bool index_columns_are_whole(const struct tv_columns *c)
{
    if (!c->blocks || !c->wide || !c->start != !c->length || !c->cpu_start != !c->cpu_length ||
        (c->offset_high && !c->offset))
        return false;
    bool any = c->path || c->start || c->cpu_start;
    return c->flags ? c->path && (c->start || c->cpu_start) : !any;
}

/* The flags, one byte per slice, decide how many slices a set of columns has. */
static void index_read_columns(struct index_reading *r, uint32_t number)
{
    struct tv_columns *c = &r->trace->columns[number];
    uint64_t wide;
    tv_sections_find(r->sections, TV_SECTION_TAG('c', 'f', 'l', 'g'), number, 1, &c->count);
    c->blocks = tv_index_lent(
        tv_sections_find(r->sections, TV_INDEX_BLOCKS, number, sizeof *c->blocks, &c->block_count));
    c->wide =
        tv_index_lent(tv_sections_find(r->sections, TV_INDEX_WIDE, number, sizeof *c->wide, &wide));
    c->wide_count = (size_t)wide;
#define TAKE_COLUMN(member, ...)                                                                   \
    c->member =                                                                                    \
        index_take_column(r, TV_SECTION_TAG(__VA_ARGS__), number, sizeof *c->member, c->count);
    TV_INDEX_COLUMNS(TAKE_COLUMN)
#undef TAKE_COLUMN
    if (!index_columns_are_whole(c))
        r->wrong = "a column is missing";
}

/* Take the columns of counter values. */
static void index_read_counter_samples(struct index_reading *r)
{
    struct tv_tables *t = &r->trace->tables;
    uint64_t times, offsets, values;
    t->counter_times = tv_index_lent(
        tv_sections_find(r->sections, TV_INDEX_COUNTER_TIMES, 0, sizeof *t->counter_times, &times));
    t->counter_offsets = tv_index_lent(tv_sections_find(r->sections, TV_INDEX_COUNTER_OFFSETS, 0,
                                                        sizeof *t->counter_offsets, &offsets));
    t->counter_values = tv_index_lent(tv_sections_find(r->sections, TV_INDEX_COUNTER_VALUES, 0,
                                                       sizeof *t->counter_values, &values));
    if (!t->counter_times || !t->counter_offsets || !t->counter_values || times != offsets)
        r->wrong = "the values of its counters";
    t->counter_sample_count = (size_t)times;
    t->counter_value_count = (size_t)values;
}

static void index_read_tables(struct index_reading *r)
{
    struct tv_tables *t = &r->trace->tables;
    uint32_t count;
    uint64_t keys;
#define TAKE_TABLE(table, ...)                                                                     \
    t->table.rows =                                                                                \
        tv_index_lent(index_take(r, TV_SECTION_TAG(__VA_ARGS__), sizeof *t->table.rows, &count));  \
    t->table.count = count;
    TV_INDEX_TABLES(TAKE_TABLE)
#undef TAKE_TABLE
    t->object_keys = tv_index_lent(
        tv_sections_find(r->sections, TV_INDEX_OBJECT_KEYS, 0, sizeof *t->object_keys, &keys));
    if (!t->object_keys || keys != t->objects.count)
        r->wrong = "its objects";
    index_read_counter_samples(r);
}

/* Read all that is not needed to show the head of a trace. Arrays are lent: they stay where the
 * index is mapped. Counts are checked against the sections before anything is allocated by them. */
static void index_read_body(struct index_reading *r)
{
    struct tv_trace *trace = r->trace;
    trace->paths.nodes = tv_index_lent(
        index_take(r, TV_INDEX_PATHS, sizeof *trace->paths.nodes, &trace->paths.count));
    index_read_tracks(r);
    if (trace->columns_count >
        tv_sections_count(r->sections)) /* each set of columns has sections of its own */
        r->wrong = "its columns";
    if (r->wrong)
        return;
    trace->columns = tv_alloc(trace->columns_count, sizeof *trace->columns);
    for (uint32_t i = 0; i < trace->columns_count; i++)
        index_read_columns(r, i);
    index_read_tables(r);
}

/*
 * ---- Trace info ----
 */

/* Return whether each string ends with a NUL and the last one ends the section. */
static bool index_texts_are_valid(struct tv_bytes texts, const uint64_t *ends, uint32_t count)
{
    uint64_t start = 0;
    for (uint32_t i = 0; i < count; i++) {
        if (ends[i] < start || ends[i] >= texts.length || texts.data[ends[i]] != 0)
            return false;
        start = ends[i] + 1;
    }
    return start == texts.length;
}

/* Take the strings, which are used where they lie. */
static void index_read_strings(struct index_reading *r)
{
    struct tv_trace_info *head = r->trace->head;
    uint64_t length;
    uint32_t count;
    const uint64_t *ends = index_take(r, TV_INDEX_STRING_ENDS, sizeof *ends, &count);
    const uint8_t *texts = tv_sections_find(r->sections, TV_INDEX_STRINGS, 0, 1, &length);
    struct tv_interner *strings = NULL;
    if (ends && texts &&
        index_texts_are_valid((struct tv_bytes){texts, (size_t)length}, ends, count))
        strings = tv_interner_from_texts((struct tv_bytes){texts, (size_t)length}, ends, count);
    if (!strings) {
        r->wrong = "its strings";
        return;
    }
    tv_interner_free(head->strings);
    head->strings = strings;
}

static void index_read_facts(struct index_reading *r)
{
    struct tv_trace *trace = r->trace;
    uint32_t count;
    const struct tv_index_facts *facts = index_take(r, TV_INDEX_FACTS, sizeof *facts, &count);
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
    INDEX_COPY(r, TV_INDEX_OFFSETS, trace->offset, &trace->offset_count);
}

/* Open a source for reading arguments again. The first `inner` ones have their bytes in the index
 * (a member of a container); the others are files, which the caller lends. */
static struct tv_source *index_read_source(struct index_reading *r, uint32_t number, uint32_t inner,
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

/* Return all sources in order; NULL for those that cannot be opened. */
static struct tv_source **index_read_sources(struct index_reading *r, uint32_t *count)
{
    const struct tv_index_source *kept = index_take(r, TV_INDEX_SOURCES, sizeof *kept, count);
    struct tv_source **sources = tv_alloc(*count, sizeof *sources);
    uint32_t inner = 0;
    while (inner < *count && kept[inner].inner == 1)
        inner++;
    for (uint32_t i = 0; i < *count; i++) {
        sources[i] = index_read_source(r, i, inner, &kept[i]);
        if (sources[i] && i < inner)
            tv_trace_keep_inner_source(r->trace, sources[i]);
        else if (sources[i])
            tv_trace_keep_source(r->trace, sources[i]);
    }
    return sources;
}

/* Any other byte than 0 and 1 in a bool would be undefined behaviour once it is read. */
static bool index_input_has_flags(const struct tv_input *input)
{
    return tv_index_is_flag(&input->verbatim) && tv_index_is_flag(&input->assembled) &&
           tv_index_is_flag(&input->eventless) && tv_index_is_flag(&input->callless) &&
           tv_index_is_flag(&input->own_zero) && tv_index_is_flag(&input->overflow) &&
           tv_index_is_flag(&input->sampling_inferred);
}

/* Rebuild an input with its pointers. */
static void index_read_input(struct index_reading *r, const struct tv_index_input *kept,
                             struct tv_bytes format)
{
    static const char *const units[] = {NULL, "ns", "us", "ms"};
    struct tv_trace_info *head = r->trace->head;
    if (!index_input_has_flags(&kept->input) || kept->unit >= TV_COUNT(units)) {
        r->wrong = "its inputs";
        return;
    }
    uint32_t string = tv_trace_info_string(head, format);
    uint32_t input =
        tv_trace_info_add_input(head, "", (const char *)tv_trace_info_text(head, string).data);
    struct tv_input *made = &head->inputs[input];
    const char *name = made->format;
    memcpy(made, &kept->input, sizeof *made);
    made->format = name;
    made->unit = units[kept->unit];
    made->source = NULL;
    made->describe = kept->describes ? tv_readers_describe(format) : NULL;
}

/* Names of formats are one text; each input ends its own at format_end. */
static void index_read_inputs(struct index_reading *r)
{
    uint32_t count, source_count;
    uint64_t length, start = 0;
    const struct tv_index_input *kept = index_take(r, TV_INDEX_INPUTS, sizeof *kept, &count);
    const uint8_t *formats = tv_sections_find(r->sections, TV_INDEX_FORMATS, 0, 1, &length);
    struct tv_source **sources = index_read_sources(r, &source_count);
    for (uint32_t i = 0; i < count && !r->wrong; i++) {
        uint64_t end = kept[i].format_end;
        if (!formats || end < start || end > length ||
            (kept[i].source != TV_NONE && kept[i].source >= source_count)) {
            r->wrong = "its inputs";
            break;
        }
        index_read_input(r, &kept[i], (struct tv_bytes){formats + start, (size_t)(end - start)});
        start = end;
        if (!r->wrong && kept[i].source != TV_NONE)
            r->trace->head->inputs[i].source = sources[kept[i].source];
    }
    tv_free(sources);
}

/* Rebuild the diagnostics.  Kinds and counts of places are checked here, because they are used as
 * indexes at once. */
static void index_read_diagnostics(struct index_reading *r)
{
    struct tv_diagnostics *all = &r->trace->head->diagnostics;
    uint32_t count, letters, times;
    const struct tv_index_diagnostic *kept =
        index_take(r, TV_INDEX_DIAGNOSTICS, sizeof *kept, &count);
    const uint64_t *phases = index_take(r, TV_INDEX_PHASES, sizeof *phases, &letters);
    const int64_t *quiet = index_take(r, TV_INDEX_QUIET, sizeof *quiet, &times);
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

static void index_read_info(struct index_reading *r)
{
    struct tv_trace_info *head = r->trace->head;
    index_read_strings(r);
    index_read_facts(r);
    if (!r->wrong)
        index_read_inputs(r);
    INDEX_COPY(r, TV_INDEX_PROCESSES, head->processes, &head->process_count);
    INDEX_COPY(r, TV_INDEX_THREADS, head->threads, &head->thread_count);
    INDEX_COPY(r, TV_INDEX_FRAMES, head->frames, &head->frame_count);
    INDEX_COPY(r, TV_INDEX_METADATA, head->metadata, &head->metadata_count);
    head->process_capacity = head->process_count;
    head->thread_capacity = head->thread_count;
    head->frame_capacity = head->frame_count;
    head->metadata_capacity = head->metadata_count;
    index_read_diagnostics(r);
}

/* Each check relies on those before it. */
static const char *index_check(const struct tv_trace *trace)
{
    const char *wrong = tv_index_check_head(trace);
    if (!wrong)
        wrong = tv_index_check_rows(trace);
    if (!wrong)
        wrong = tv_index_check_columns(trace);
    return wrong ? wrong : tv_index_check_tables(trace);
}

enum tv_status tv_index_read(const struct tv_sections_memory *memory, struct tv_bytes key,
                             const struct tv_index_inputs *inputs, struct tv_trace **trace,
                             struct tv_error *err)
{
    struct tv_sections_id id = {TV_VERSION, tv_index_layout(), key};
    struct index_reading r = {.lender = tv_index_lender_new(inputs)};
    enum tv_status status = tv_sections_open(memory, &id, 0, &r.sections, err);
    if (status == TV_OK) {
        r.trace = tv_alloc(1, sizeof *r.trace);
        r.trace->head = tv_trace_info_new();
        r.trace->sections = r.sections;
        index_read_info(&r);
        if (!r.wrong)
            index_read_body(&r);
        if (!r.wrong)
            r.wrong = index_check(r.trace);
        if (r.wrong)
            status = tv_fail(err, TV_ERR_SYNTAX, TV_NO_OFFSET, "the index is damaged: %s", r.wrong);
    }
    assert(status != TV_OK || r.trace->base == NULL);
    if (status == TV_OK)
        *trace = r.trace;
    else
        tv_trace_free(r.trace);
    tv_index_lender_release(r.lender);
    return status;
}
