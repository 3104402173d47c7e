/* SPDX-License-Identifier: Apache-2.0 */
/*
 * append.c - the rows of one batch in another: traces are read on several threads, each into a
 * batch of its own.
 */
#include <assert.h>
#include <string.h>

#include "base/memory.h"
#include "fleet/batch.h"

/* A batch that is appended, and the numbers of its strings in the other one. */
struct append_job {
    struct tv_fleet_batch *to;
    const struct tv_fleet_batch *from;
    uint32_t *strings; /* [strings of `from`] number in `to`, and 1; 0: not appended yet */
};

/* Append `more` rows to an array that has *count; return the array. */
static void *append_rows(void *rows, size_t *count, size_t *room, struct tv_bytes added,
                         size_t size)
{
    size_t more = added.length / size;
    assert(added.length % size == 0 && *count <= *room);
    if (more == 0)
        return rows;
    rows = tv_array_reserve(rows, room, *count + more, size);
    memcpy((uint8_t *)rows + *count * size, added.data, added.length);
    *count += more;
    return rows;
}

/* Append the array NAMEs of `from` to that of `to`. */
#define APPEND_ROWS(to, from, name)                                                                \
    (to)->name##s = append_rows((to)->name##s, &(to)->name##_count, &(to)->name##_room,            \
                                (struct tv_bytes){(const uint8_t *)(from)->name##s,                \
                                                  (from)->name##_count * sizeof *(from)->name##s}, \
                                sizeof *(from)->name##s)

/* Return the number of a string in the other batch, which gets only strings that it needs: it has
 * most methods already. */
static uint32_t append_string(const struct append_job *job, uint32_t string)
{
    assert(string < tv_interner_count(job->from->strings));
    if (job->strings[string] == 0)
        job->strings[string] =
            tv_interner_add(job->to->strings, tv_interner_get(job->from->strings, string)) + 1;
    return job->strings[string] - 1;
}

static void append_traces(const struct append_job *job)
{
    struct tv_fleet_batch *to = job->to;
    size_t first = to->trace_count, labels = to->label_count;
    APPEND_ROWS(to, job->from, label);
    for (size_t i = labels; i < to->label_count; i++) {
        to->labels[i].key = append_string(job, to->labels[i].key);
        to->labels[i].value = append_string(job, to->labels[i].value);
    }
    APPEND_ROWS(to, job->from, trace);
    for (size_t i = first; i < to->trace_count; i++) {
        struct fleet_trace *trace = &to->traces[i];
        uint32_t *const texts[] = {&trace->uri,       &trace->format, &trace->clocks, &trace->value,
                                   &trace->recording, &trace->unit,   &trace->boot,   &trace->error,
                                   &trace->program,   &trace->host};
        for (size_t k = 0; k < TV_COUNT(texts); k++)
            *texts[k] = append_string(job, *texts[k]);
        for (size_t k = 0; k < FLEET_DECLARED; k++)
            trace->declared[k] = append_string(job, trace->declared[k]);
        trace->first_label += (uint32_t)labels;
        tv_map_set(&to->trace_index, trace->number, (uint32_t)i);
    }
}

static void append_methods(const struct append_job *job)
{
    struct tv_fleet_batch *to = job->to;
    size_t first = to->method_count, buckets = to->bucket_count;
    APPEND_ROWS(to, job->from, bucket);
    APPEND_ROWS(to, job->from, method);
    for (size_t i = first; i < to->method_count; i++)
        to->methods[i].first_bucket += (uint32_t)buckets;
    APPEND_ROWS(to, job->from, path);
}

static void append_names(const struct append_job *job)
{
    struct tv_fleet_batch *to = job->to;
    for (size_t i = 0; i < job->from->name_count; i++) {
        struct fleet_name name = job->from->names[i];
        uint32_t place = (uint32_t)to->name_count;
        if (tv_map_add(&to->name_index, name.method, place) != place)
            continue;
        uint32_t *const texts[] = {&name.class_name, &name.name, &name.signature, &name.category,
                                   &name.file};
        for (size_t k = 0; k < TV_COUNT(texts); k++)
            *texts[k] = append_string(job, *texts[k]);
        to->names =
            tv_array_reserve(to->names, &to->name_room, to->name_count + 1, sizeof *to->names);
        to->names[to->name_count++] = name;
    }
}

static void append_details(const struct append_job *job, size_t table)
{
    const struct fleet_details *from = &job->from->details[table];
    struct fleet_details *to = &job->to->details[table];
    size_t first = to->count;
    to->rows = append_rows(
        to->rows, &to->count, &to->room,
        (struct tv_bytes){(const uint8_t *)from->rows, from->count * sizeof *from->rows},
        sizeof *to->rows);
    for (size_t i = first; i < to->count; i++) {
        struct fleet_detail *row = &to->rows[i];
        row->order += first;
        for (size_t k = 0; k < TV_COUNT(row->texts); k++)
            row->texts[k] = append_string(job, row->texts[k]);
    }
}

bool tv_fleet_batch_append(struct tv_fleet_batch *batch, const struct tv_fleet_batch *from)
{
    struct append_job job = {.to = batch, .from = from};
    assert(batch != from);
    for (size_t i = 0; i < from->trace_count; i++)
        if (tv_fleet_batch_has(batch, from->traces[i].number))
            return false;
    job.strings = tv_alloc(tv_interner_count(from->strings), sizeof *job.strings);
    append_traces(&job);
    append_methods(&job);
    append_names(&job);
    for (size_t i = 0; i < TV_COUNT(batch->details); i++)
        append_details(&job, i);
    tv_free(job.strings);
    return true;
}
