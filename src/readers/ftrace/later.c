/* SPDX-License-Identifier: Apache-2.0 */
#include "readers/ftrace/later.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/workers.h"

static int compare_rows(const void *left, const void *right)
{
    const struct tv_ft_later *a = left, *b = right;
    if (a->time != b->time)
        return a->time < b->time ? -1 : 1;
    return a->offset < b->offset ? -1 : a->offset > b->offset;
}

static void sort_rows(struct tv_ft_later *rows, size_t count)
{
    for (size_t i = 1; i < count; i++)
        if (rows[i].time < rows[i - 1].time) {
            qsort(rows, count, sizeof *rows, compare_rows);
            return;
        }
}

/* All rows, taken from the parts, with numbers of the head; to be freed. */
static struct tv_ft_later *collect(struct tv_ft_merge *merge, size_t count)
{
    struct tv_ft_later *rows = tv_alloc(count, sizeof *rows);
    size_t filled = 0;
    for (size_t i = 0; i < merge->text_count; i++) {
        struct tv_ft_part *part = &merge->texts[i].part;
        const struct tv_ft_numbers *numbers = &merge->numbers[i];
        for (size_t k = 0; k < part->laters.count; k++) {
            struct tv_ft_later *row = &rows[filled++];
            *row = part->laters.rows[k];
            row->task = numbers->threads[row->task];
            row->line = row->line == TV_NONE ? TV_NONE : numbers->threads[row->line];
            row->text = numbers->texts[row->text];
        }
        tv_free(part->laters.rows);
        part->laters.rows = NULL;
    }
    sort_rows(rows, count);
    return rows;
}

static void tell_rows(struct tv_ft_merge *merge, const struct tv_ft_later *rows, size_t count)
{
    struct tv_ft_tell tell;
    tv_ft_tell_init(&tell, merge);
    struct tv_ft_binder *binder = tv_ft_binder_new(&tell);
    struct tv_ft_lines *lines = tv_ft_lines_new(&tell);
    for (size_t i = 0; i < count; i++) {
        if (rows[i].kind <= TV_FT_BINDER_FAILED)
            tv_ft_binder_take(binder, &rows[i]);
        else
            tv_ft_lines_take(lines, &rows[i]);
    }
    tv_ft_binder_end(binder);
    tv_ft_lines_end(lines);
    tv_ft_tell_end(&tell);
}

void tv_ft_tell_later(struct tv_ft_merge *merge)
{
    size_t count = 0;
    for (size_t i = 0; i < merge->text_count; i++)
        count += merge->texts[i].part.laters.count;
    if (count == 0)
        return;
    struct tv_ft_later *rows = collect(merge, count);
    tell_rows(merge, rows, count);
    tv_free(rows);
}

/* What is sought comes nearly in the order of time: `near` remembers where, by row. */
static struct tv_search_hint *new_near(const struct tv_ft_merge *merge)
{
    return tv_alloc(merge->trace->row_count, sizeof(struct tv_search_hint));
}

static bool find_end(const struct tv_ft_merge *merge, const struct tv_ft_flow_end *end,
                     struct tv_search_hint *near, struct tv_flow_end *found)
{
    struct tv_slice_query sought = {end->thread, end->start, end->offset, near};
    found->time = end->time;
    return tv_assembly_find_slice(merge->assembly, &sought, &found->row, &found->index);
}

static void place_ends(struct tv_ft_merge *merge)
{
    struct tv_search_hint *near = new_near(merge);
    for (size_t i = 0; i < merge->slice_ends.count; i++) {
        const struct tv_ft_slice_end *end = &merge->slice_ends.rows[i];
        struct tv_flow_end found;
        if (find_end(merge, &end->slice, near, &found))
            *tv_table_add(&merge->trace->tables.slice_extras) = (struct tv_slice_extra){
                .row = found.row, .index = found.index, .end_offset = end->end_offset};
    }
    tv_free(near);
}

/* Fewer arrows are looked for by one worker. */
#define LEAST_STRETCH 4096u

struct finding {
    const struct tv_ft_merge *merge;
    struct tv_flow *flows;
    bool *found;
    unsigned workers;
};

static void find_stretch(void *context, unsigned index)
{
    struct finding *finding = context;
    size_t count = finding->merge->flows.count, stretch = count / finding->workers + 1;
    size_t end = stretch * (index + 1) < count ? stretch * (index + 1) : count;
    struct tv_search_hint *near = new_near(finding->merge);
    for (size_t i = stretch * index; i < end; i++) {
        const struct tv_ft_flow *arrow = &finding->merge->flows.rows[i];
        struct tv_flow *flow = &finding->flows[i];
        *flow = (struct tv_flow){
            .offset = arrow->offset,
            .end_offset = arrow->end_offset,
            .frame = arrow->frame,
            .id = arrow->id,
            .input = finding->merge->input,
        };
        finding->found[i] = find_end(finding->merge, &arrow->from, near, &flow->from) &&
                            find_end(finding->merge, &arrow->to, near, &flow->to);
    }
    tv_free(near);
}

void tv_ft_place_flows(struct tv_ft_merge *merge)
{
    size_t count = merge->flows.count;
    struct finding finding = {merge, tv_alloc(count, sizeof *finding.flows),
                              tv_alloc(count, sizeof *finding.found), 1};
    /* As many as have read the file. */
    if (count >= LEAST_STRETCH)
        finding.workers = (unsigned)merge->text_count;
    place_ends(merge);
    tv_workers_run(finding.workers, find_stretch, &finding);
    for (size_t i = 0; i < count; i++)
        if (finding.found[i])
            *tv_table_add(&merge->trace->tables.flows) = finding.flows[i];
    tv_free(finding.flows);
    tv_free(finding.found);
}
