/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rewrite_choice.c - which events of a Trace Event file are wanted when processes or categories
 * are chosen.
 *
 * A flow is wanted when what both of its ends touch is: an arrow to nowhere would be bound to
 * whatever else is there.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/intern.h"
#include "base/memory.h"
#include "base/source.h"
#include "model/flow_end.h"
#include "readers/te_describe.h"
#include "readers/te_values.h"
#include "writers/calls.h"
#include "writers/rewrite.h"

/* An event, by its place in the file. */
struct place {
    uint64_t offset;
    bool wanted;
};

struct places {
    struct place *rows;
    size_t count, capacity;
};

struct tv_rewrite_choice {
    const struct tv_trace *trace;
    const struct tv_keep *keep;
    uint32_t input;
    struct tv_interner *pids; /* of the wanted processes, as texts */
    struct tv_te_scratch scratch;
    struct places begins;  /* in the order of the file */
    struct places flows;   /* sorted */
    struct places samples; /* sorted */
    uint64_t flows_left;
};

static void add_place(struct places *places, uint64_t offset, bool wanted)
{
    places->rows =
        tv_array_reserve(places->rows, &places->capacity, places->count + 1, sizeof *places->rows);
    places->rows[places->count++] = (struct place){offset, wanted};
}

static int compare_places(const void *left, const void *right)
{
    uint64_t a = ((const struct place *)left)->offset, b = ((const struct place *)right)->offset;
    return (a > b) - (a < b);
}

static const struct place *find_place(const struct places *places, uint64_t offset)
{
    struct place key = {offset, false};
    return places->count == 0
               ? NULL
               : bsearch(&key, places->rows, places->count, sizeof key, compare_places);
}

/* One row a place: wanted when any of its rows is. */
static void sort_places(struct places *places)
{
    size_t count = 0;
    if (places->count == 0)
        return;
    qsort(places->rows, places->count, sizeof *places->rows, compare_places);
    for (size_t i = 0; i < places->count; i++) {
        if (count > 0 && places->rows[count - 1].offset == places->rows[i].offset)
            places->rows[count - 1].wanted |= places->rows[i].wanted;
        else
            places->rows[count++] = places->rows[i];
    }
    places->count = count;
}

/* As the reader shows them: a number, or any other text. */
static void note_pids(struct tv_rewrite_choice *choice, uint32_t machine)
{
    const struct tv_head *head = choice->trace->head;
    for (uint32_t i = 0; i < head->process_count; i++) {
        char number[24];
        snprintf(number, sizeof number, "%llu", (unsigned long long)head->processes[i].id);
        bool plain = head->processes[i].key == TV_EMPTY_STRING;
        bool own = machine == TV_NONE || head->processes[i].machine == TV_NONE ||
                   head->processes[i].machine == machine;
        if (own && tv_keep_process(choice->keep, i))
            tv_interner_add(choice->pids, plain ? tv_bytes_of(number)
                                                : tv_head_text(head, head->processes[i].key));
    }
}

static bool wants_end(const struct tv_rewrite_choice *choice, const struct tv_flow_end *end)
{
    return tv_keep_process(choice->keep, tv_flow_end_process(choice->trace, end)) &&
           tv_keep_frame(choice->keep, tv_flow_end_frame(choice->trace, end));
}

static void note_flows(struct tv_rewrite_choice *choice)
{
    for (size_t i = 0; i < choice->trace->tables.flows.count; i++) {
        const struct tv_flow *flow = &choice->trace->tables.flows.rows[i];
        if (flow->input != choice->input)
            continue;
        bool from = wants_end(choice, &flow->from), to = wants_end(choice, &flow->to);
        add_place(&choice->flows, flow->offset, from && to);
        add_place(&choice->flows, flow->end_offset, from && to);
        choice->flows_left += from != to;
    }
    sort_places(&choice->flows);
}

/* Samples have no category. */
static void note_samples(struct tv_rewrite_choice *choice)
{
    for (size_t i = 0; i < choice->trace->tables.samples.count; i++) {
        const struct tv_sample *sample = &choice->trace->tables.samples.rows[i];
        if (sample->input != choice->input || choice->keep->category)
            continue;
        uint32_t process = tv_thread_process(choice->trace->head, sample->thread);
        add_place(&choice->samples, sample->offset, tv_keep_process(choice->keep, process));
    }
    sort_places(&choice->samples);
}

struct tv_rewrite_choice *tv_rewrite_choice_new(const struct tv_trace *trace,
                                                const struct tv_keep *keep, uint32_t input,
                                                uint32_t machine)
{
    struct tv_rewrite_choice *choice = tv_alloc(1, sizeof *choice);
    *choice = (struct tv_rewrite_choice){
        .trace = trace, .keep = keep, .input = input, .pids = tv_interner_new()};
    note_pids(choice, machine);
    note_flows(choice);
    note_samples(choice);
    return choice;
}

void tv_rewrite_choice_free(struct tv_rewrite_choice *choice)
{
    if (!choice)
        return;
    tv_interner_free(choice->pids);
    tv_te_scratch_release(&choice->scratch);
    tv_free(choice->begins.rows);
    tv_free(choice->flows.rows);
    tv_free(choice->samples.rows);
    tv_free(choice);
}

uint64_t tv_rewrite_choice_flows(const struct tv_rewrite_choice *choice)
{
    return choice->flows_left;
}

/* An event without a process is of process 0. */
static bool is_of_process(struct tv_rewrite_choice *choice, const struct tv_te_fields *fields)
{
    struct tv_bytes pid =
        fields->pid.data ? tv_te_text(fields->pid, &choice->scratch) : TV_BYTES("0");
    return tv_interner_find(choice->pids, pid) != TV_NONE;
}

static bool is_of_category(struct tv_rewrite_choice *choice, const struct tv_te_fields *fields,
                           uint64_t offset)
{
    char phase = tv_te_phase(fields);
    if (phase == 'M')
        return true;
    if (phase == 'B')
        add_place(&choice->begins, offset, true);
    if (phase == 'B' || phase == 'E')
        return false;
    return tv_keep_category(choice->keep, tv_te_text(fields->cat, &choice->scratch));
}

/* Flows that the trace does not have are as their events say. */
static bool is_wanted_flow(const struct tv_rewrite_choice *choice, char phase, uint64_t offset)
{
    if (phase != 's' && phase != 't' && phase != 'f')
        return true;
    const struct place *place = find_place(&choice->flows, offset);
    return !place || place->wanted;
}

static bool wanted(void *context, const struct tv_te_list_event *event)
{
    struct tv_rewrite_choice *choice = context;
    const struct tv_te_fields *fields = event->fields;
    char phase = tv_te_phase(fields);
    if (phase == 'c') /* the clocks are everybody's */
        return true;
    if (choice->keep->processes && !is_of_process(choice, fields))
        return false;
    if (choice->keep->category && !is_of_category(choice, fields, event->offset))
        return false;
    return is_wanted_flow(choice, phase, event->offset);
}

/* A slice that is the end of nothing but flows that are left out. */
static bool unbound(void *context, const struct tv_te_list_event *event)
{
    const struct tv_rewrite_choice *choice = context;
    if (!event->fields->bind_id.data)
        return false;
    const struct place *place = find_place(&choice->flows, event->offset);
    return place && !place->wanted;
}

static bool wanted_sample(void *context, uint64_t offset)
{
    const struct tv_rewrite_choice *choice = context;
    const struct place *place = find_place(&choice->samples, offset);
    return place && place->wanted;
}

static bool is_begun(const struct tv_rewrite_choice *choice, const struct tv_call_event *event)
{
    return choice->trace->rows[event->row].input == choice->input &&
           find_place(&choice->begins, tv_slice_offset(choice->trace, event->row, event->index));
}

static enum tv_status add_slice(const struct tv_rewrite_choice *choice,
                                const struct tv_call_event *event, struct tv_te_rewrite *rewrite,
                                struct tv_error *err)
{
    struct tv_out text;
    tv_out_init_memory(&text);
    enum tv_status status =
        tv_te_describe_slice(choice->trace, event->row, event->index, &text, err);
    size_t length = text.length;
    if (status == TV_OK) {
        memset(tv_out_room(&text, TV_WINDOW_SLACK), 0, TV_WINDOW_SLACK);
        tv_te_rewrite_event(rewrite, (struct tv_bytes){text.buffer, length},
                            tv_slice_offset(choice->trace, event->row, event->index));
    }
    tv_out_release(&text);
    return status;
}

/* What was left out above as a beginning or an end. */
static enum tv_status add_slices(void *context, struct tv_te_rewrite *rewrite, struct tv_error *err)
{
    struct tv_rewrite_choice *choice = context;
    if (choice->begins.count == 0)
        return TV_OK;
    sort_places(&choice->begins);
    struct tv_call_merge *merge = tv_call_merge_kept(choice->trace, choice->keep);
    struct tv_call_event event;
    enum tv_status status = TV_OK;
    while (status == TV_OK && tv_call_merge_next(merge, &event))
        if (!event.exit && is_begun(choice, &event))
            status = add_slice(choice, &event, rewrite, err);
    tv_call_merge_free(merge);
    return status;
}

struct tv_te_rewrite_choice tv_rewrite_choice_of(struct tv_rewrite_choice *choice)
{
    return (struct tv_te_rewrite_choice){
        .wanted = wanted,
        .unbound = unbound,
        .wanted_sample = wanted_sample,
        .add = add_slices,
        .context = choice,
    };
}
