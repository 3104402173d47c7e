/* SPDX-License-Identifier: Apache-2.0 */
/*
 * read.c - sections become a trace: the head and what points to something are made anew, columns
 * and tables stay where they lie.  Then all of it is checked.
 */
#include <string.h>

#include "base/memory.h"
#include "index/index.h"
#include "index/reading.h"

const void *tv_index_take(struct tv_index_reading *r, uint32_t tag, size_t size, uint32_t *count)
{
    uint64_t found;
    const void *elements = tv_sections_find(r->sections, tag, 0, size, &found);
    *count = found < TV_NONE ? (uint32_t)found : 0;
    if (!elements || found >= TV_NONE)
        r->wrong = "a section is missing";
    return elements;
}

void *tv_index_copy(struct tv_index_reading *r, uint32_t tag, size_t size, uint32_t *count)
{
    const void *elements = tv_index_take(r, tag, size, count);
    void *copied = tv_alloc(*count, size);
    if (*count > 0)
        memcpy(copied, elements, *count * size);
    return copied;
}

static void read_tracks(struct tv_index_reading *r)
{
    struct tv_trace *trace = r->trace;
    uint32_t wait_count, done = 0;
    const struct tv_wait *waits = tv_index_take(r, TV_INDEX_WAITS, sizeof *waits, &wait_count);
    TV_INDEX_COPY(r, TV_INDEX_TRACKS, trace->tracks, &trace->track_count);
    TV_INDEX_COPY(r, TV_INDEX_ROWS, trace->rows, &trace->row_count);
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
    }
}

/* A column that is not there has no section. */
static void *take_column(struct tv_index_reading *r, uint32_t tag, uint32_t number, size_t size,
                         uint64_t count)
{
    uint64_t found;
    const void *elements = tv_sections_find(r->sections, tag, number, size, &found);
    if (elements && found != count)
        r->wrong = "a column";
    return tv_index_lent(elements);
}

/* Whether what must be there together is; columns that nothing was ever put into have not even
 * flags. */
static bool are_whole(const struct tv_columns *c)
{
    if (!c->blocks || !c->wide || !c->start != !c->length || !c->cpu_start != !c->cpu_length ||
        (c->offset_high && !c->offset))
        return false;
    bool any = c->path || c->start || c->cpu_start;
    return c->flags ? c->path && (c->start || c->cpu_start) : !any;
}

static void read_columns(struct tv_index_reading *r, uint32_t number)
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
    c->member = take_column(r, TV_SECTION_TAG(__VA_ARGS__), number, sizeof *c->member, c->count);
    TV_INDEX_COLUMNS(TAKE_COLUMN)
#undef TAKE_COLUMN
    if (!are_whole(c))
        r->wrong = "a column is missing";
}

static void read_counter_samples(struct tv_index_reading *r)
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

static void read_tables(struct tv_index_reading *r)
{
    struct tv_tables *t = &r->trace->tables;
    uint32_t count;
    uint64_t keys;
#define TAKE_TABLE(table, ...)                                                                     \
    t->table.rows = tv_index_lent(                                                                 \
        tv_index_take(r, TV_SECTION_TAG(__VA_ARGS__), sizeof *t->table.rows, &count));             \
    t->table.count = count;
    TV_INDEX_TABLES(TAKE_TABLE)
#undef TAKE_TABLE
    t->object_keys = tv_index_lent(
        tv_sections_find(r->sections, TV_INDEX_OBJECT_KEYS, 0, sizeof *t->object_keys, &keys));
    if (!t->object_keys || keys != t->objects.count)
        r->wrong = "its objects";
    read_counter_samples(r);
}

static void read_body(struct tv_index_reading *r)
{
    struct tv_trace *trace = r->trace;
    trace->paths.nodes = tv_index_lent(
        tv_index_take(r, TV_INDEX_PATHS, sizeof *trace->paths.nodes, &trace->paths.count));
    read_tracks(r);
    if (trace->columns_count > tv_sections_count(r->sections)) /* each has some of its own */
        r->wrong = "its columns";
    if (r->wrong)
        return;
    trace->columns = tv_alloc(trace->columns_count, sizeof *trace->columns);
    for (uint32_t i = 0; i < trace->columns_count; i++)
        read_columns(r, i);
    read_tables(r);
}

/* Each part relies on those before it. */
static const char *check(const struct tv_trace *trace)
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
    struct tv_index_reading r = {.lender = tv_index_lender_new(inputs)};
    enum tv_status status = tv_sections_open(memory, &id, 0, &r.sections, err);
    if (status == TV_OK) {
        r.trace = tv_alloc(1, sizeof *r.trace);
        r.trace->head = tv_trace_info_new();
        r.trace->sections = r.sections;
        tv_index_read_head(&r);
        if (!r.wrong)
            read_body(&r);
        if (!r.wrong)
            r.wrong = check(r.trace);
        if (r.wrong)
            status = tv_fail(err, TV_ERR_SYNTAX, TV_NO_OFFSET, "the index is damaged: %s", r.wrong);
    }
    if (status == TV_OK)
        *trace = r.trace;
    else
        tv_trace_free(r.trace);
    tv_index_lender_release(r.lender);
    return status;
}
