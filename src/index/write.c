/* SPDX-License-Identifier: Apache-2.0 */
/*
 * write.c - writes the sections of an index, and computes the number of its layout.
 *
 * An index is the memory of a finished trace, table after table, each a section with a checksum
 * (base/sections.h); docs/trace-index.md lists them.  read.c points the columns and tables of a
 * trace into these sections, so opening costs no parsing.  Only pointers cannot be stored as they
 * are:
 *
 *     in memory                      in the index
 *     tv_input.source  (pointer)     number in the list of sources
 *     tv_input.format  (text)        its end within one text of all formats
 *     tv_input.unit    (text)        enum tv_index_unit
 *     tv_track.waits   (pointer)     NULL; all waits in order of the tracks, `wait_count` each
 *     strings          (interner)    one text with a NUL after each string, and their ends
 *
 * An index is valid for one layout only.  tv_index_layout sums up the sizes of all stored structs
 * and the names of the diagnostics, so a changed struct makes older indexes invalid by itself; a
 * change of meaning without a change of size needs a new TV_INDEX_FORMAT.
 */
#include <assert.h>
#include <string.h>

#include "base/bytes.h"
#include "base/hash.h"
#include "base/memory.h"
#include "base/source.h"
#include "index/index.h"
#include "index/layout.h"

/* Writing cannot fail in the middle: errors of the output are found by tv_out_finish at the end,
 * and only reading an embedded source sets `err` before. */
struct index_writing {
    const struct tv_trace *trace;
    struct tv_sections_writer sections;
    struct tv_error *err;
};

static void index_add_section(struct index_writing *w, uint32_t tag, size_t size, uint64_t count,
                              const void *elements)
{
    tv_sections_add(&w->sections, tag, 0, size, count, elements);
}

#define ADD(w, tag, count, array) index_add_section(w, tag, sizeof *(array), count, array)

static void index_add_bytes(struct index_writing *w, uint32_t tag, uint32_t number,
                            struct tv_bytes bytes)
{
    tv_sections_add(&w->sections, tag, number, 1, bytes.length, bytes.data);
}

/* ---- Trace info ---- */

static void index_write_facts(struct index_writing *w)
{
    const struct tv_trace *t = w->trace;
    struct tv_index_facts facts = {
        .origin = t->origin,
        .start = t->start,
        .end = t->end,
        .slice_count = t->slice_count,
        .recorded_calls = t->recorded_calls,
        .unmatched_exits = t->unmatched_exits,
        .open_calls = t->open_calls,
        .max_depth = t->max_depth,
        .columns_count = t->columns_count,
        .cpu_axis = t->cpu_axis,
        .is_subset = t->is_subset,
    };
    ADD(w, TV_INDEX_FACTS, 1, &facts);
    ADD(w, TV_INDEX_OFFSETS, t->offset_count, t->offset);
}

/* Write each string with a NUL, and the ends of all strings. */
static void index_write_strings(struct index_writing *w)
{
    const struct tv_interner *strings = w->trace->head->strings;
    uint32_t count = tv_interner_count(strings);
    uint64_t *ends = tv_alloc(count, sizeof *ends);
    struct tv_out texts;
    tv_out_init_memory(&texts);
    for (uint32_t i = 0; i < count; i++) {
        tv_out_bytes(&texts, tv_interner_get(strings, i));
        ends[i] = texts.length;
        tv_out_char(&texts, 0);
    }
    index_add_bytes(w, TV_INDEX_STRINGS, 0, (struct tv_bytes){texts.buffer, texts.length});
    ADD(w, TV_INDEX_STRING_ENDS, count, ends);
    tv_out_release(&texts);
    tv_free(ends);
}

/* Return the number of a source in the trace's list.  TV_NONE: the input has no source, so its
 * events cannot be read again. */
static uint32_t index_source_number(const struct tv_trace *trace, const struct tv_source *source)
{
    for (size_t i = 0; source && i < trace->source_count; i++)
        if (trace->sources[i] == source)
            return (uint32_t)i;
    return TV_NONE;
}

static uint32_t index_unit_of(const struct tv_input *input)
{
    static const char *const units[] = {"ns", "us", "ms"};
    for (unsigned i = 0; input->unit && i < TV_COUNT(units); i++)
        if (strcmp(input->unit, units[i]) == 0)
            return TV_INDEX_NS + i;
    return TV_INDEX_NO_UNIT;
}

static void index_write_inputs(struct index_writing *w)
{
    const struct tv_trace_info *head = w->trace->head;
    struct tv_index_input *inputs = tv_alloc(head->input_count, sizeof *inputs);
    struct tv_out formats;
    tv_out_init_memory(&formats);
    for (uint32_t i = 0; i < head->input_count; i++) {
        struct tv_index_input *kept = &inputs[i];
        memcpy(&kept->input, &head->inputs[i], sizeof kept->input);
        tv_out_text(&formats, kept->input.format);
        kept->format_end = (uint32_t)formats.length;
        kept->source = index_source_number(w->trace, kept->input.source);
        kept->unit = index_unit_of(&kept->input);
        kept->describes = kept->input.describe != NULL;
        kept->input.format = kept->input.unit = NULL;
        kept->input.source = NULL;
        kept->input.describe = NULL;
    }
    ADD(w, TV_INDEX_INPUTS, head->input_count, inputs);
    index_add_bytes(w, TV_INDEX_FORMATS, 0, (struct tv_bytes){formats.buffer, formats.length});
    tv_out_release(&formats);
    tv_free(inputs);
}

/* Store the bytes of an embedded source, such as the systemTraceEvents of a JSON file.  There is no
 * file from which a later run could read them. */
static enum tv_status index_write_inner_source(struct index_writing *w, uint32_t number)
{
    struct tv_source *source = w->trace->sources[number];
    assert(number < w->trace->inner_count);
    size_t size = (size_t)tv_source_size(source), got = 0; /* embedded sources are in memory */
    uint8_t *bytes = tv_alloc(size, 1);
    enum tv_status status = tv_source_read(source, 0, bytes, size, &got, w->err);
    index_add_bytes(w, TV_INDEX_SOURCE_BYTES, number, (struct tv_bytes){bytes, got});
    tv_free(bytes);
    return status;
}

/* Write name and size of each source. Contents only of inner ones: texts embedded in other sources
 * have no file from which they could be read again. */
static enum tv_status index_write_sources(struct index_writing *w)
{
    const struct tv_trace *trace = w->trace;
    struct tv_index_source *sources = tv_alloc(trace->source_count, sizeof *sources);
    enum tv_status status = TV_OK;
    for (uint32_t i = 0; i < trace->source_count && status == TV_OK; i++) {
        const char *name = tv_source_name(trace->sources[i]);
        sources[i].size = tv_source_size(trace->sources[i]);
        sources[i].inner = i < trace->inner_count;
        index_add_bytes(w, TV_INDEX_SOURCE_NAME, i,
                        (struct tv_bytes){(const uint8_t *)name, strlen(name) + 1});
        if (sources[i].inner)
            status = index_write_inner_source(w, i);
    }
    ADD(w, TV_INDEX_SOURCES, trace->source_count, sources);
    tv_free(sources);
    return status;
}

/* Store the kinds that occurred.  The places of the first occurrences are a fixed struct, of which
 * `offset_count` entries are in use. */
static void index_write_diagnostics(struct index_writing *w)
{
    const struct tv_diagnostics *all = &w->trace->head->diagnostics;
    struct tv_index_diagnostic *kept = NULL;
    size_t count = 0, capacity = 0;
    for (unsigned kind = 0; kind < TV_DIAGNOSTIC_COUNT; kind++) {
        const struct tv_diagnostic *one = &all->kinds[kind];
        if (one->count == 0)
            continue;
        kept = tv_array_reserve(kept, &capacity, count + 1, sizeof *kept);
        kept[count] =
            (struct tv_index_diagnostic){kind, one->count, one->offset_count, 0, {{0}, {0}}};
        if (one->places)
            kept[count].places = *one->places;
        count++;
    }
    ADD(w, TV_INDEX_DIAGNOSTICS, count, kept);
    ADD(w, TV_INDEX_PHASES, TV_DIAGNOSTIC_LETTERS, all->phases);
    ADD(w, TV_INDEX_QUIET, 1, &all->quiet);
    tv_free(kept);
}

static void index_write_info(struct index_writing *w)
{
    const struct tv_trace_info *head = w->trace->head;
    index_write_facts(w);
    index_write_strings(w);
    index_write_inputs(w);
    ADD(w, TV_INDEX_PROCESSES, head->process_count, head->processes);
    ADD(w, TV_INDEX_THREADS, head->thread_count, head->threads);
    ADD(w, TV_INDEX_FRAMES, head->frame_count, head->frames);
    ADD(w, TV_INDEX_METADATA, head->metadata_count, head->metadata);
    index_write_diagnostics(w);
}

/* ---- Tracks, columns, tables ---- */

/* Write tracks and, in a section of its own, the waits of all. Pointers are cleared: the reader
 * finds a track's waits by counting through the section. */
static void index_write_tracks(struct index_writing *w)
{
    const struct tv_trace *trace = w->trace;
    struct tv_track *tracks = tv_alloc(trace->track_count, sizeof *tracks);
    struct tv_wait *waits = NULL;
    size_t count = 0, capacity = 0;
    for (uint32_t i = 0; i < trace->track_count; i++) {
        const struct tv_track *track = &trace->tracks[i];
        memcpy(&tracks[i], track, sizeof *tracks);
        tracks[i].waits = NULL;
        if (track->wait_count == 0)
            continue;
        waits = tv_array_reserve(waits, &capacity, count + track->wait_count, sizeof *waits);
        memcpy(waits + count, track->waits, track->wait_count * sizeof *waits);
        count += track->wait_count;
    }
    ADD(w, TV_INDEX_TRACKS, trace->track_count, tracks);
    ADD(w, TV_INDEX_WAITS, count, waits);
    tv_free(waits);
    tv_free(tracks);
}

/* A column that is not there has no section. */
static void index_write_columns(struct index_writing *w, uint32_t number)
{
    const struct tv_columns *c = &w->trace->columns[number];
    assert(number < w->trace->columns_count);
#define ADD_COLUMN(member, ...)                                                                    \
    if (c->member)                                                                                 \
        tv_sections_add(&w->sections, TV_SECTION_TAG(__VA_ARGS__), number, sizeof *c->member,      \
                        c->count, c->member);
    TV_INDEX_COLUMNS(ADD_COLUMN)
#undef ADD_COLUMN
    tv_sections_add(&w->sections, TV_INDEX_BLOCKS, number, sizeof *c->blocks, c->block_count,
                    c->blocks);
    tv_sections_add(&w->sections, TV_INDEX_WIDE, number, sizeof *c->wide, c->wide_count, c->wide);
}

static void index_write_tables(struct index_writing *w)
{
    const struct tv_tables *t = &w->trace->tables;
#define ADD_TABLE(table, ...)                                                                      \
    index_add_section(w, TV_SECTION_TAG(__VA_ARGS__), sizeof *t->table.rows, t->table.count,       \
                      t->table.rows);
    TV_INDEX_TABLES(ADD_TABLE)
#undef ADD_TABLE
    ADD(w, TV_INDEX_OBJECT_KEYS, t->object_keys ? t->objects.count : 0, t->object_keys);
    ADD(w, TV_INDEX_COUNTER_TIMES, t->counter_sample_count, t->counter_times);
    ADD(w, TV_INDEX_COUNTER_OFFSETS, t->counter_sample_count, t->counter_offsets);
    ADD(w, TV_INDEX_COUNTER_VALUES, t->counter_value_count, t->counter_values);
}

enum tv_status tv_index_write(const struct tv_trace *trace, struct tv_bytes key,
                              const struct tv_index_more *more, struct tv_out *out,
                              struct tv_error *err)
{
    struct tv_sections_id id = {TV_VERSION, tv_index_layout(), key};
    struct index_writing w = {.trace = trace, .err = err};
    assert(trace->offset_count == trace->head->input_count);
    assert(!trace->base); /* a subset borrows the info and the sources of its base */
    if (key.length > TV_SECTIONS_KEY)
        return tv_fail(err, TV_ERR_USAGE, TV_NO_OFFSET, "the key of the index is too long");
    tv_sections_begin(&w.sections, &id, out);
    index_write_info(&w);
    enum tv_status status = index_write_sources(&w);
    ADD(&w, TV_INDEX_PATHS, trace->paths.count, trace->paths.nodes);
    index_write_tracks(&w);
    ADD(&w, TV_INDEX_ROWS, trace->row_count, trace->rows);
    for (uint32_t i = 0; i < trace->columns_count; i++)
        index_write_columns(&w, i);
    index_write_tables(&w);
    if (more)
        more->add(more->context, &w.sections);
    tv_sections_end(&w.sections);
    return status == TV_OK ? tv_out_finish(out, err) : status;
}

static uint64_t layout_add_size(uint64_t sum, size_t size)
{
    return tv_checksum((struct tv_bytes){(const uint8_t *)&size, sizeof size}, sum);
}

uint64_t tv_index_layout(void)
{
    const struct tv_tables *tables = NULL;
    uint64_t sum = TV_INDEX_FORMAT;
    static const size_t sizes[] = {
        sizeof(struct tv_index_facts),  sizeof(struct tv_index_input),
        sizeof(struct tv_index_source), sizeof(struct tv_index_diagnostic),
        sizeof(struct tv_process),      sizeof(struct tv_thread),
        sizeof(struct tv_frame),        sizeof(struct tv_metadata),
        sizeof(struct tv_path_node),    sizeof(struct tv_track),
        sizeof(struct tv_wait),         sizeof(struct tv_row),
        sizeof(struct tv_slice_block),  sizeof(struct tv_wide_time),
        sizeof(struct tv_object_key),
    };
    for (size_t i = 0; i < TV_COUNT(sizes); i++)
        sum = layout_add_size(sum, sizes[i]);
#define ADD_TABLE(table, ...) sum = layout_add_size(sum, sizeof *tables->table.rows);
    TV_INDEX_TABLES(ADD_TABLE)
#undef ADD_TABLE
    /* Diagnostics are stored by number, so a new kind makes old indexes invalid. */
    for (unsigned i = 0; i < TV_DIAGNOSTIC_COUNT; i++)
        sum = tv_checksum(tv_bytes_of(tv_diagnostic_name((enum tv_diagnostic_kind)i)), sum);
    return sum;
}
