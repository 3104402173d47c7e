/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/cut.h"

#include "base/memory.h"
#include "model/trace.h"
#include "model/subset/subset.h"

struct cutting {
    const struct tv_trace *trace;
    const struct tv_cut *cut;
    const struct tv_keep *keep;
    bool ranged;
    struct tv_subset_range range;
    struct tv_subset_filter sieve;
};

static bool has_all_times(const struct tv_trace *trace, const struct tv_cut *cut)
{
    return cut->from <= trace->start && cut->to > trace->end;
}

bool tv_cut_is_all(const struct tv_trace *trace, const struct tv_cut *cut)
{
    const struct tv_keep *keep = cut->keep;
    return has_all_times(trace, cut) && !keep->processes && !keep->tracks && !keep->frames &&
           !keep->category;
}

/* Not far beyond the trace, so that nothing is told apart that is the same, and sums hold. */
bool tv_cut_range(const struct tv_trace *trace, const struct tv_cut *cut, tv_ns *from, tv_ns *to)
{
    tv_ns behind = trace->end;
    if (behind < INT64_MAX)
        behind++;
    *from = cut->from < trace->start ? trace->start : cut->from > behind ? behind : cut->from;
    *to = cut->to > behind ? behind : cut->to < *from ? *from : cut->to;
    return !has_all_times(trace, cut);
}

static struct cutting start(const struct tv_trace *trace, const struct tv_cut *cut)
{
    struct cutting c = {.trace = trace, .cut = cut, .keep = cut->keep};
    c.ranged = tv_cut_range(trace, cut, &c.range.from, &c.range.to);
    return c;
}

/* ---- Slices ---- */

static bool keeps_track(const struct cutting *c, uint32_t track)
{
    return !c->keep->tracks || c->keep->tracks[track];
}

static void keep_row(struct cutting *c, uint32_t number)
{
    const struct tv_trace *trace = c->trace;
    const struct tv_row *row = &trace->rows[number];
    const uint32_t *path = trace->columns[row->columns].path + row->first;
    uint64_t *bits = c->sieve.slices.bits[row->columns];
    uint32_t first = 0, end = row->count;
    if (c->ranged)
        tv_row_overlap(trace, number, c->range.from, c->range.to, &first, &end);
    for (uint32_t i = first; i < end; i++) {
        uint64_t at = row->first + i;
        bool wanted = tv_keep_frame(c->keep, trace->paths.nodes[path[i]].frame);
        bits[at / 64] |= (uint64_t)wanted << (at % 64);
    }
}

static void keep_slices(struct cutting *c)
{
    tv_slice_set_init(&c->sieve.slices, c->trace);
    for (uint32_t i = 0; i < c->trace->row_count; i++)
        if (keeps_track(c, c->trace->rows[i].track))
            keep_row(c, i);
}

/* ---- Tables ---- */

static bool is_in_range(const struct cutting *c, uint32_t input, tv_ns time)
{
    time = tv_trace_time(c->trace, input, time);
    return !c->ranged || (time >= c->range.from && time < c->range.to);
}

static bool lasts_into_range(const struct cutting *c, uint32_t input, tv_ns start, tv_ns end)
{
    tv_ns offset = c->trace->offset[input];
    if (!c->ranged)
        return true;
    return start + offset < c->range.to &&
           (end + offset > c->range.from || start + offset >= c->range.from);
}

/* Whether an owner is kept that is no thread. */
static bool keeps_instant_of(const struct cutting *c, const struct tv_instant *instant)
{
    if (instant->scope == TV_SCOPE_THREAD)
        return !c->keep->threads || c->keep->threads[instant->of];
    if (instant->scope == TV_SCOPE_TRACK)
        return keeps_track(c, instant->of);
    return !c->cut->tracks_only;
}

static void keep_instants(struct cutting *c)
{
    const struct tv_tables *tables = &c->trace->tables;
    c->sieve.instants = tv_alloc(tables->instants.count, sizeof *c->sieve.instants);
    for (size_t i = 0; i < tables->instants.count; i++) {
        const struct tv_instant *instant = &tables->instants.rows[i];
        c->sieve.instants[i] = keeps_instant_of(c, instant) &&
                               tv_keep_instant(c->keep, c->trace->head, instant) &&
                               is_in_range(c, instant->input, instant->time);
    }
}

static void keep_counters(struct cutting *c)
{
    const struct tv_tables *tables = &c->trace->tables;
    c->sieve.counters = tv_alloc(tables->counters.count, sizeof *c->sieve.counters);
    for (size_t i = 0; i < tables->counters.count; i++)
        c->sieve.counters[i] = !c->cut->tracks_only &&
                               tv_keep_counter(c->keep, c->trace->head, &tables->counters.rows[i]);
}

static void keep_objects(struct cutting *c)
{
    const struct tv_tables *tables = &c->trace->tables;
    c->sieve.objects = tv_alloc(tables->objects.count, sizeof *c->sieve.objects);
    for (size_t i = 0; i < tables->objects.count; i++) {
        const struct tv_object *object = &tables->objects.rows[i];
        c->sieve.objects[i] = !c->cut->tracks_only &&
                              tv_keep_object(c->keep, c->trace->head, object) &&
                              lasts_into_range(c, object->input, object->created, object->deleted);
    }
}

/* Samples have no category. */
static bool keeps_sample(const struct cutting *c, const struct tv_sample *sample)
{
    const struct tv_trace_info *head = c->trace->head;
    bool known = sample->thread < head->thread_count;
    if (c->keep->category || !is_in_range(c, sample->input, sample->time))
        return false;
    if (!tv_keep_process(c->keep, tv_thread_process(head, sample->thread)))
        return false;
    return known ? !c->keep->threads || c->keep->threads[sample->thread] : !c->cut->tracks_only;
}

static void keep_samples(struct cutting *c)
{
    const struct tv_tables *tables = &c->trace->tables;
    c->sieve.samples = tv_alloc(tables->samples.count, sizeof *c->sieve.samples);
    for (size_t i = 0; i < tables->samples.count; i++)
        c->sieve.samples[i] = keeps_sample(c, &tables->samples.rows[i]);
}

static void keep_dumps(struct cutting *c)
{
    const struct tv_tables *tables = &c->trace->tables;
    c->sieve.memory_dumps = tv_alloc(tables->memory_dumps.count, sizeof *c->sieve.memory_dumps);
    for (size_t i = 0; i < tables->memory_dumps.count; i++) {
        const struct tv_memory_dump *dump = &tables->memory_dumps.rows[i];
        bool owned = dump->process == TV_NONE || tv_keep_process(c->keep, dump->process);
        c->sieve.memory_dumps[i] = owned && !c->cut->tracks_only && !c->keep->category &&
                                   is_in_range(c, dump->input, dump->time);
    }
}

/* ---- Arrows ---- */

static bool keeps_end(const struct cutting *c, uint32_t input, const struct tv_flow_end *end)
{
    const struct tv_trace *trace = c->trace;
    uint32_t track = tv_flow_end_track(trace, end);
    bool owned = track != TV_NONE ? keeps_track(c, track)
                                  : keeps_instant_of(c, &trace->tables.instants.rows[end->index]);
    return owned && is_in_range(c, input, end->time) &&
           tv_keep_process(c->keep, tv_flow_end_process(trace, end)) &&
           tv_keep_frame(c->keep, tv_flow_end_frame(trace, end));
}

uint64_t tv_cut_lost_flows(const struct tv_trace *trace, const struct tv_cut *cut)
{
    struct cutting c = start(trace, cut);
    uint64_t lost = 0;
    for (size_t i = 0; i < trace->tables.flows.count; i++) {
        const struct tv_flow *flow = &trace->tables.flows.rows[i];
        lost += keeps_end(&c, flow->input, &flow->from) != keeps_end(&c, flow->input, &flow->to);
    }
    return lost;
}

/* ---- The whole ---- */

struct tv_trace *tv_cut_trace(const struct tv_trace *trace, const struct tv_cut *cut)
{
    struct cutting c = start(trace, cut);
    c.sieve.range = c.ranged ? &c.range : NULL;
    c.sieve.own_ends = true;
    c.sieve.threads = cut->keep->threads;
    c.sieve.tracks = cut->keep->tracks;
    keep_slices(&c);
    keep_instants(&c);
    keep_counters(&c);
    keep_objects(&c);
    keep_samples(&c);
    keep_dumps(&c);
    struct tv_trace *made = tv_trace_subset(trace, &c.sieve);
    tv_subset_filter_release(&c.sieve);
    return made;
}
