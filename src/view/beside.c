/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What has a row in the time line beside tracks of slices: objects by type, samples, memory dumps,
 * and threads that have none but these or instants.
 */
#include "base/bytes.h"
#include "base/memory.h"
#include "view/members.h"
#include "view/object_index.h"
#include "view/state.h"

static void write_objects(struct tv_out *out, const struct tv_trace *trace,
                          const struct tv_object_index *index)
{
    tv_out_text(out, "{\"objects\":[");
    for (uint32_t i = 0; i < index->row_count; i++) {
        const struct tv_object_row *row = &index->rows[i];
        tv_member_number(out, i > 0 ? ",\n{\"row\":" : "{\"row\":", i);
        tv_member_text(out, ",\"type\":", trace->head, row->type);
        tv_member_index(out, ",\"process\":", row->process);
        tv_member_number(out, ",\"objects\":", row->count);
        tv_member_number(out, ",\"snapshots\":", (int64_t)row->snapshots);
        tv_member_number(out, ",\"lanes\":", row->lanes);
        tv_out_char(out, '}');
    }
    tv_out_char(out, ']');
}

static uint32_t process_of(const struct tv_trace *trace, uint32_t thread)
{
    const struct tv_trace_info *head = trace->head;
    if (thread >= head->thread_count || head->threads[thread].process >= head->process_count)
        return TV_NONE;
    return head->threads[thread].process;
}

/* How many each thread has, and those of none. */
struct counts {
    uint64_t *samples, *instants; /* [threads + 1] */
};

static struct counts count_by_thread(const struct tv_trace *trace)
{
    uint32_t threads = trace->head->thread_count;
    struct counts counts;
    counts.samples = tv_alloc((size_t)threads + 1, sizeof *counts.samples);
    counts.instants = tv_alloc((size_t)threads + 1, sizeof *counts.instants);
    for (size_t i = 0; i < trace->tables.samples.count; i++) {
        uint32_t thread = trace->tables.samples.rows[i].thread;
        counts.samples[thread < threads ? thread : threads]++;
    }
    for (size_t i = 0; i < trace->tables.instants.count; i++) {
        const struct tv_instant *instant = &trace->tables.instants.rows[i];
        if (instant->scope == TV_SCOPE_THREAD && instant->of < threads)
            counts.instants[instant->of]++;
    }
    return counts;
}

static void write_samples(struct tv_out *out, const struct tv_trace *trace,
                          const struct counts *counts)
{
    uint32_t threads = trace->head->thread_count, written = 0;
    tv_out_text(out, ",\"samples\":[");
    for (uint32_t i = 0; i <= threads; i++) {
        if (counts->samples[i] == 0)
            continue;
        tv_member_index(
            out, written++ > 0 ? ",\n{\"thread\":" : "{\"thread\":", i < threads ? i : TV_NONE);
        tv_member_index(out, ",\"process\":", process_of(trace, i));
        tv_member_number(out, ",\"samples\":", (int64_t)counts->samples[i]);
        tv_out_char(out, '}');
    }
    tv_out_char(out, ']');
}

/* Threads without a track that have samples or instants all the same. */
static void write_threads(struct tv_out *out, const struct tv_trace *trace,
                          const struct counts *counts)
{
    const struct tv_trace_info *head = trace->head;
    bool *drawn = tv_alloc((size_t)head->thread_count + 1, sizeof *drawn), any = false;
    for (uint32_t i = 0; i < trace->track_count; i++)
        if (trace->tracks[i].thread < head->thread_count)
            drawn[trace->tracks[i].thread] = true;
    tv_out_text(out, ",\"threads\":[");
    for (uint32_t i = 0; i < head->thread_count; i++) {
        const struct tv_thread *thread = &head->threads[i];
        if (drawn[i] || counts->samples[i] + counts->instants[i] == 0)
            continue;
        tv_member_number(out, any ? ",\n{\"thread\":" : "{\"thread\":", i);
        tv_out_text(out, ",\"thread_id\":");
        tv_out_u64(out, thread->id);
        tv_member_text(out, ",\"name\":", head, thread->name);
        if (thread->key != TV_EMPTY_STRING)
            tv_member_text(out, ",\"key\":", head, thread->key);
        tv_member_index(out, ",\"process\":", process_of(trace, i));
        tv_member_number(out, ",\"instants\":", (int64_t)counts->instants[i]);
        tv_out_char(out, '}');
        any = true;
    }
    tv_out_char(out, ']');
    tv_free(drawn);
}

static void write_memory(struct tv_out *out, const struct tv_trace *trace)
{
    uint32_t processes = trace->head->process_count, written = 0;
    uint64_t *dumps = tv_alloc((size_t)processes + 1, sizeof *dumps);
    for (size_t i = 0; i < trace->tables.memory_dumps.count; i++) {
        uint32_t process = trace->tables.memory_dumps.rows[i].process;
        dumps[process < processes ? process : processes]++;
    }
    tv_out_text(out, ",\"memory_dumps\":[");
    for (uint32_t i = 0; i <= processes; i++) {
        if (dumps[i] == 0)
            continue;
        tv_member_index(
            out, written++ > 0 ? ",\n{\"process\":" : "{\"process\":", i < processes ? i : TV_NONE);
        tv_member_number(out, ",\"dumps\":", (int64_t)dumps[i]);
        tv_out_char(out, '}');
    }
    tv_out_char(out, ']');
    tv_free(dumps);
}

enum tv_status tv_view_beside(const struct tv_view *view, const struct tv_parameters *parameters,
                              struct tv_out *out, struct tv_error *err)
{
    const struct tv_trace *trace = view->trace;
    (void)parameters, (void)err;
    struct counts counts = count_by_thread(trace);
    write_objects(out, trace, tv_object_index_get(view->objects));
    write_samples(out, trace, &counts);
    write_memory(out, trace);
    write_threads(out, trace, &counts);
    tv_out_char(out, '}');
    tv_free(counts.samples);
    tv_free(counts.instants);
    return TV_OK;
}
