/* SPDX-License-Identifier: Apache-2.0 */
#include "te_model.h"

#include <math.h>

#include "base/memory.h"
#include "base/source.h"
#include "model/builder/builder.h"
#include "readers/trace_event/trace_event.h"
#include "writers/dump/dump.h"

struct tv_trace *te_model_read(struct tv_bytes bytes, unsigned parts, const uint64_t *starts,
                               struct tv_error *err)
{
    struct tv_read_options options = {.parts = parts, .part_starts = starts};
    struct tv_source *source = tv_source_from_memory(bytes, "test");
    struct tv_builder *builder = tv_builder_new(tv_trace_info_new());
    struct tv_trace *trace;
    if (tv_reader_trace_event.assemble(source, builder, &options, err) != TV_OK) {
        tv_builder_free(builder);
        tv_source_free(source);
        return NULL;
    }
    trace = tv_builder_finish(builder);
    tv_trace_keep_source(trace, source);
    return trace;
}

static void put_string(const struct tv_trace *trace, struct tv_out *out, uint32_t string)
{
    tv_out_bytes(out, tv_trace_info_text(trace->head, string));
}

static void put_owner(const struct tv_trace *trace, struct tv_out *out, char letter, uint64_t id,
                      uint32_t key)
{
    tv_out_char(out, letter);
    if (key == TV_EMPTY_STRING)
        tv_out_u64(out, id);
    else
        tv_out_json(out, tv_trace_info_text(trace->head, key));
}

static void put_process(const struct tv_trace *trace, struct tv_out *out, uint32_t process)
{
    const struct tv_process *p = &trace->head->processes[process];
    put_owner(trace, out, 'P', p->id, p->key);
}

static void put_thread(const struct tv_trace *trace, struct tv_out *out, uint32_t thread)
{
    const struct tv_thread *t = &trace->head->threads[thread];
    put_process(trace, out, t->process);
    tv_out_char(out, ' ');
    put_owner(trace, out, 'T', t->id, t->key);
}

/* "category:name", with its own escapes shown. */
static void put_frame(const struct tv_trace *trace, struct tv_out *out, uint32_t frame)
{
    const struct tv_frame *f = &trace->head->frames[frame];
    put_string(trace, out, f->category);
    tv_out_char(out, ':');
    put_string(trace, out, f->name);
}

static void put_colour(struct tv_out *out, unsigned colour)
{
    if (colour)
        tv_out_format(out, " colour %u", colour);
}

static void put_time(const struct tv_trace *trace, struct tv_out *out, int64_t shown)
{
    tv_out_char(out, ' ');
    tv_out_i64(out, shown - trace->offset[0]);
}

static void print_head(const struct tv_trace *trace, struct tv_out *out)
{
    const struct tv_trace_info *head = trace->head;
    if (head->inputs[0].unit)
        tv_out_format(out, "unit %s\n", head->inputs[0].unit);
    for (uint32_t i = 0; i < head->metadata_count; i++) {
        tv_out_text(out, "key ");
        put_string(trace, out, head->metadata[i].key);
        tv_out_char(out, '=');
        put_string(trace, out, head->metadata[i].value);
        tv_out_char(out, '\n');
    }
    for (uint32_t i = 0; i < head->process_count; i++) {
        const struct tv_process *p = &head->processes[i];
        tv_out_text(out, "process ");
        put_process(trace, out, i);
        tv_out_char(out, ' ');
        tv_out_json(out, tv_trace_info_text(head, p->name));
        if (p->labels) {
            tv_out_text(out, " labels ");
            tv_out_json(out, tv_trace_info_text(head, p->labels));
        }
        if (p->sort_index)
            tv_out_format(out, " sort %lld", (long long)p->sort_index);
        if (p->uptime)
            tv_out_format(out, " uptime %lld", (long long)p->uptime);
        tv_out_char(out, '\n');
    }
    for (uint32_t i = 0; i < head->thread_count; i++) {
        tv_out_text(out, "thread ");
        put_thread(trace, out, i);
        tv_out_char(out, ' ');
        tv_out_json(out, tv_trace_info_text(head, head->threads[i].name));
        if (head->threads[i].sort_index)
            tv_out_format(out, " sort %lld", (long long)head->threads[i].sort_index);
        tv_out_char(out, '\n');
    }
}

static void print_slice(const struct tv_trace *trace, struct tv_out *out, uint32_t row,
                        uint32_t index)
{
    const struct tv_track *track = &trace->tracks[trace->rows[row].track];
    struct tv_slice slice = tv_slice_get(trace, row, index);
    const struct tv_slice_extra *extra = tv_tables_slice_extra(&trace->tables, row, index);
    tv_out_text(out, "slice ");
    put_thread(trace, out, track->thread);
    tv_out_char(out, ' ');
    put_frame(trace, out, trace->paths.nodes[slice.path].frame);
    put_time(trace, out, slice.start);
    tv_out_format(out, "+%lld", (long long)slice.length);
    if (tv_track_has_cpu(trace, trace->rows[row].track) && !(slice.flags & TV_SLICE_NO_CPU))
        tv_out_format(out, " cpu %lld+%lld", (long long)slice.cpu_start,
                      (long long)slice.cpu_length);
    if (trace->rows[row].depth)
        tv_out_format(out, " depth %u", trace->rows[row].depth);
    put_colour(out, extra ? extra->colour : 0);
    if (slice.flags & TV_SLICE_OPEN)
        tv_out_text(out, " open");
    if (slice.flags & TV_SLICE_MISSING_EXIT)
        tv_out_text(out, " missing-exit");
    if (track->kind == TV_TRACK_OVERFLOW)
        tv_out_text(out, " overflow");
    tv_out_char(out, '\n');
}

static void print_instants(const struct tv_trace *trace, struct tv_out *out)
{
    for (size_t i = 0; i < trace->tables.instants.count; i++) {
        const struct tv_instant *instant = &trace->tables.instants.rows[i];
        tv_out_text(out, "instant ");
        if (instant->scope == TV_SCOPE_THREAD)
            put_thread(trace, out, instant->of);
        else if (instant->scope == TV_SCOPE_PROCESS)
            put_process(trace, out, instant->of);
        else
            tv_out_text(out, "everything");
        tv_out_char(out, ' ');
        put_frame(trace, out, instant->frame);
        tv_out_format(out, " %lld", (long long)instant->time);
        put_colour(out, instant->colour);
        tv_out_char(out, '\n');
    }
}

static void print_counter(const struct tv_trace *trace, struct tv_out *out,
                          const struct tv_counter *counter)
{
    const struct tv_tables *tables = &trace->tables;
    const double *value = tables->counter_values + counter->first_value;
    tv_out_text(out, "counter ");
    put_process(trace, out, counter->process);
    tv_out_char(out, ' ');
    put_string(trace, out, counter->category);
    tv_out_char(out, ':');
    put_string(trace, out, counter->name);
    for (uint32_t i = 0; i < counter->series_count; i++) {
        tv_out_char(out, i ? ',' : ' ');
        put_string(trace, out, tables->series.rows[counter->first_series + i].name);
    }
    put_colour(out, counter->colour);
    for (uint32_t i = 0; i < counter->sample_count; i++) {
        tv_out_format(out, "\nvalues %lld",
                      (long long)tables->counter_times[counter->first_sample + i]);
        for (uint32_t j = 0; j < counter->series_count; j++, value++)
            if (isnan(*value))
                tv_out_text(out, " -");
            else
                tv_out_format(out, " %.15g", *value);
    }
    tv_out_char(out, '\n');
}

static void print_diagnostics(const struct tv_trace *trace, struct tv_out *out)
{
    for (int kind = 0; kind < TV_DIAGNOSTIC_COUNT; kind++) {
        const struct tv_diagnostic *d = &trace->head->diagnostics.kinds[kind];
        if (d->count == 0)
            continue;
        tv_out_format(out, "! %s %llu at", tv_diagnostic_name((enum tv_diagnostic_kind)kind),
                      (unsigned long long)d->count);
        for (uint32_t i = 0; i < d->offset_count; i++)
            tv_out_format(out, " %llu", (unsigned long long)d->places->offsets[i]);
        tv_out_char(out, '\n');
    }
}

void te_model_print(const struct tv_trace *trace, struct tv_out *out)
{
    print_head(trace, out);
    for (uint32_t row = 0; row < trace->row_count; row++)
        if (trace->tracks[trace->rows[row].track].kind != TV_TRACK_ASYNC)
            for (uint32_t i = 0; i < trace->rows[row].count; i++)
                print_slice(trace, out, row, i);
    print_instants(trace, out);
    for (size_t i = 0; i < trace->tables.counters.count; i++)
        print_counter(trace, out, &trace->tables.counters.rows[i]);
    print_diagnostics(trace, out);
}

void te_model_dump(const struct tv_trace *trace, struct tv_out *out)
{
    for (uint32_t i = 0; i < tv_interner_count(trace->head->strings); i++) {
        tv_out_u64(out, i);
        tv_out_char(out, ' ');
        put_string(trace, out, i);
        tv_out_char(out, '\n');
    }
    print_diagnostics(trace, out);
    tv_model_jsonl_write(out, trace, NULL);
}
