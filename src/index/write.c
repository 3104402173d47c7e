/* SPDX-License-Identifier: Apache-2.0 */
#include <assert.h>
#include <string.h>

#include "base/bytes.h"
#include "base/memory.h"
#include "base/source.h"
#include "index/index.h"
#include "index/layout.h"

struct writing {
    const struct tv_trace *trace;
    struct tv_sections_writer sections;
    struct tv_error *err;
};

static void add(struct writing *w, uint32_t tag, size_t size, uint64_t count, const void *elements)
{
    tv_sections_add(&w->sections, tag, 0, size, count, elements);
}

#define ADD(w, tag, count, array) add(w, tag, sizeof *(array), count, array)

static void add_bytes(struct writing *w, uint32_t tag, uint32_t number, struct tv_bytes bytes)
{
    tv_sections_add(&w->sections, tag, number, 1, bytes.length, bytes.data);
}

/* ---- The head ---- */

static void write_facts(struct writing *w)
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

/* Each with a NUL behind it, and where that is. */
static void write_strings(struct writing *w)
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
    add_bytes(w, TV_INDEX_STRINGS, 0, (struct tv_bytes){texts.buffer, texts.length});
    ADD(w, TV_INDEX_STRING_ENDS, count, ends);
    tv_out_release(&texts);
    tv_free(ends);
}

static uint32_t number_of_source(const struct tv_trace *trace, const struct tv_source *source)
{
    for (size_t i = 0; source && i < trace->source_count; i++)
        if (trace->sources[i] == source)
            return (uint32_t)i;
    return TV_NONE;
}

static uint32_t unit_of(const struct tv_input *input)
{
    static const char *const units[] = {"ns", "us", "ms"};
    for (unsigned i = 0; input->unit && i < TV_COUNT(units); i++)
        if (strcmp(input->unit, units[i]) == 0)
            return TV_INDEX_NS + i;
    return TV_INDEX_NO_UNIT;
}

static void write_inputs(struct writing *w)
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
        kept->source = number_of_source(w->trace, kept->input.source);
        kept->unit = unit_of(&kept->input);
        kept->describes = kept->input.describe != NULL;
        kept->input.format = kept->input.unit = NULL;
        kept->input.source = NULL;
        kept->input.describe = NULL;
    }
    ADD(w, TV_INDEX_INPUTS, head->input_count, inputs);
    add_bytes(w, TV_INDEX_FORMATS, 0, (struct tv_bytes){formats.buffer, formats.length});
    tv_out_release(&formats);
    tv_free(inputs);
}

static enum tv_status write_inner_source(struct writing *w, uint32_t number)
{
    struct tv_source *source = w->trace->sources[number];
    size_t size = (size_t)tv_source_size(source), got = 0; /* it lies in memory */
    uint8_t *bytes = tv_alloc(size, 1);
    enum tv_status status = tv_source_read(source, 0, bytes, size, &got, w->err);
    add_bytes(w, TV_INDEX_SOURCE_BYTES, number, (struct tv_bytes){bytes, got});
    tv_free(bytes);
    return status;
}

static enum tv_status write_sources(struct writing *w)
{
    const struct tv_trace *trace = w->trace;
    struct tv_index_source *sources = tv_alloc(trace->source_count, sizeof *sources);
    enum tv_status status = TV_OK;
    for (uint32_t i = 0; i < trace->source_count && status == TV_OK; i++) {
        const char *name = tv_source_name(trace->sources[i]);
        sources[i].size = tv_source_size(trace->sources[i]);
        sources[i].inner = i < trace->inner_count;
        add_bytes(w, TV_INDEX_SOURCE_NAME, i,
                  (struct tv_bytes){(const uint8_t *)name, strlen(name) + 1});
        if (sources[i].inner)
            status = write_inner_source(w, i);
    }
    ADD(w, TV_INDEX_SOURCES, trace->source_count, sources);
    tv_free(sources);
    return status;
}

static void write_diagnostics(struct writing *w)
{
    const struct tv_diagnostics *all = &w->trace->head->diagnostics;
    struct tv_index_diagnostic *kept = tv_alloc(TV_DIAGNOSTIC_COUNT, sizeof *kept);
    size_t count = 0;
    for (unsigned kind = 0; kind < TV_DIAGNOSTIC_COUNT; kind++) {
        const struct tv_diagnostic *one = &all->kinds[kind];
        if (one->count == 0)
            continue;
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

static void write_head(struct writing *w)
{
    const struct tv_trace_info *head = w->trace->head;
    write_facts(w);
    write_strings(w);
    write_inputs(w);
    ADD(w, TV_INDEX_PROCESSES, head->process_count, head->processes);
    ADD(w, TV_INDEX_THREADS, head->thread_count, head->threads);
    ADD(w, TV_INDEX_FRAMES, head->frame_count, head->frames);
    ADD(w, TV_INDEX_METADATA, head->metadata_count, head->metadata);
    write_diagnostics(w);
}

/* ---- The body ---- */

static void write_tracks(struct writing *w)
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
static void write_columns(struct writing *w, uint32_t number)
{
    const struct tv_columns *c = &w->trace->columns[number];
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

static void write_tables(struct writing *w)
{
    const struct tv_tables *t = &w->trace->tables;
#define ADD_TABLE(table, ...)                                                                      \
    add(w, TV_SECTION_TAG(__VA_ARGS__), sizeof *t->table.rows, t->table.count, t->table.rows);
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
    struct writing w = {.trace = trace, .err = err};
    assert(!trace->base);
    if (key.length > TV_SECTIONS_KEY)
        return tv_fail(err, TV_ERR_USAGE, TV_NO_OFFSET, "the key of the index is too long");
    tv_sections_begin(&w.sections, &id, out);
    write_head(&w);
    enum tv_status status = write_sources(&w);
    ADD(&w, TV_INDEX_PATHS, trace->paths.count, trace->paths.nodes);
    write_tracks(&w);
    ADD(&w, TV_INDEX_ROWS, trace->row_count, trace->rows);
    for (uint32_t i = 0; i < trace->columns_count; i++)
        write_columns(&w, i);
    write_tables(&w);
    if (more)
        more->add(more->context, &w.sections);
    tv_sections_end(&w.sections);
    return status == TV_OK ? tv_out_finish(out, err) : status;
}
