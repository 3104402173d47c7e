/* SPDX-License-Identifier: Apache-2.0 */
/*
 * subset.c - membership in a subset, and cropping a trace to one.
 *
 * Cropping has two steps.  This file marks the slices and table rows that stay; tv_trace_subset
 * builds the new trace from the marks and nests the slices anew:
 *
 *     --thread, --category, range      one bit a slice, one bool a row       new columns and tables
 *     struct tv_crop            -->    struct tv_subset_filter        -->    struct tv_trace
 *
 * Marking is apart from building so that one slice is decided without looking at its neighbours.
 *
 * A time range [from, to) holds an instant that is in it, and an interval that overlaps it; an
 * interval of length 0 counts like an instant.  A flow stays only if both of its ends do.
 * Flows of which one end alone would stay are counted as lost (tv_crop_lost_flows).
 */
#include "analysis/subset/subset.h"

#include <assert.h>

#include "base/bytes.h"
#include "base/memory.h"
#include "model/subset/subset.h"
#include "model/trace.h"

void tv_subset_release(struct tv_subset *subset)
{
    tv_free(subset->processes);
    tv_free(subset->tracks);
    tv_free(subset->threads);
    tv_free(subset->frames);
    tv_free(subset->types);
}

uint32_t tv_thread_process(const struct tv_trace_info *head, uint32_t thread)
{
    uint32_t process = thread < head->thread_count ? head->threads[thread].process : TV_NONE;
    return process < head->process_count ? process : TV_NONE;
}

uint32_t tv_track_process(const struct tv_trace *trace, uint32_t track)
{
    const struct tv_track *t = &trace->tracks[track];
    if (t->thread != TV_NONE)
        return tv_thread_process(trace->head, t->thread);
    return t->process < trace->head->process_count ? t->process : TV_NONE;
}

uint32_t tv_flow_end_process(const struct tv_trace *trace, const struct tv_flow_end *end)
{
    uint32_t track = tv_flow_end_track(trace, end);
    return track == TV_NONE ? tv_thread_process(trace->head, tv_flow_end_thread(trace, end))
                            : tv_track_process(trace, track);
}

/* ---- Names ---- */

/* `star` is the place of the last '*', `tried` the end of the text that it stands for.  When the
 * rest does not match, that text grows by one byte.  Backtracking to the last '*' is enough: an
 * earlier '*' can never match more.  So the cost is at most length times length. */
bool tv_glob_matches(struct tv_bytes name, struct tv_bytes pattern)
{
    size_t n = 0, p = 0, star = SIZE_MAX, tried = 0;
    while (n < name.length) {
        if (p < pattern.length && pattern.data[p] == '*') {
            star = p++;
            tried = n;
        } else if (p < pattern.length && pattern.data[p] == name.data[n]) {
            p++;
            n++;
        } else if (star != SIZE_MAX) {
            p = star + 1;
            n = ++tried;
        } else {
            return false;
        }
    }
    while (p < pattern.length && pattern.data[p] == '*')
        p++;
    return p == pattern.length;
}

/* An id that is not a number is the string `key`. */
static bool subset_id_matches(const struct tv_trace_info *head, uint64_t id, uint32_t key,
                              struct tv_bytes pattern)
{
    uint64_t number;
    if (key != TV_EMPTY_STRING)
        return tv_glob_matches(tv_trace_info_text(head, key), pattern);
    return tv_parse_u64(pattern, &number) && number == id;
}

bool tv_process_matches(const struct tv_trace_info *head, uint32_t process, struct tv_bytes pattern)
{
    const struct tv_process *p = &head->processes[process];
    return tv_glob_matches(tv_trace_info_text(head, p->name), pattern) ||
           subset_id_matches(head, p->id, p->key, pattern);
}

bool tv_thread_matches(const struct tv_trace_info *head, uint32_t thread, struct tv_bytes pattern)
{
    const struct tv_thread *t = &head->threads[thread];
    return tv_glob_matches(tv_trace_info_text(head, t->name), pattern) ||
           subset_id_matches(head, t->id, t->key, pattern);
}

bool tv_categories_next(struct tv_bytes *list, struct tv_bytes *name)
{
    if (list->length == 0)
        return false;
    tv_bytes_split(list, ',', name);
    *name = tv_bytes_trim(*name);
    return true;
}

bool tv_categories_match(struct tv_bytes list, struct tv_bytes pattern)
{
    struct tv_bytes name;
    if (tv_bytes_trim(list).length == 0)
        return tv_glob_matches(TV_BYTES(""), pattern);
    while (tv_categories_next(&list, &name))
        if (tv_glob_matches(name, pattern))
            return true;
    return false;
}

/* ---- Rows of tables ---- */

bool tv_subset_has_instant(const struct tv_subset *subset, const struct tv_trace_info *head,
                           const struct tv_instant *instant)
{
    uint32_t process = instant->scope == TV_SCOPE_THREAD    ? tv_thread_process(head, instant->of)
                       : instant->scope == TV_SCOPE_PROCESS ? instant->of
                                                            : TV_NONE;
    return tv_subset_has_process(subset, process) && tv_subset_has_frame(subset, instant->frame);
}

bool tv_subset_has_counter(const struct tv_subset *subset, const struct tv_trace_info *head,
                           const struct tv_counter *counter)
{
    return tv_subset_has_process(subset, counter->process) &&
           tv_subset_has_category(subset, tv_trace_info_text(head, counter->category));
}

/* One end in a chosen process is enough. */
bool tv_subset_has_flow(const struct tv_subset *subset, const struct tv_trace *trace,
                        const struct tv_flow *flow)
{
    return tv_subset_has_frame(subset, flow->frame) &&
           (tv_subset_has_process(subset, tv_flow_end_process(trace, &flow->from)) ||
            tv_subset_has_process(subset, tv_flow_end_process(trace, &flow->to)));
}

bool tv_subset_has_object(const struct tv_subset *subset, const struct tv_trace_info *head,
                          const struct tv_object *object)
{
    return tv_subset_has_process(subset, object->process) &&
           tv_subset_has_category(subset, tv_trace_info_text(head, object->category));
}

bool tv_subset_has_stack_frame(const struct tv_subset *subset, const struct tv_stack_frame *frame)
{
    return frame->process == TV_NONE || tv_subset_has_process(subset, frame->process);
}

struct crop_job {
    const struct tv_trace *trace;
    const struct tv_crop *crop;
    const struct tv_subset *keep;
    bool ranged;
    struct tv_subset_range range;
    struct tv_subset_filter subset_filter;
};

static bool crop_covers_all_times(const struct tv_trace *trace, const struct tv_crop *crop)
{
    return crop->from <= trace->start && crop->to > trace->end;
}

bool tv_crop_is_everything(const struct tv_trace *trace, const struct tv_crop *crop)
{
    const struct tv_subset *subset = crop->keep;
    return crop_covers_all_times(trace, crop) && !subset->processes && !subset->tracks &&
           !subset->frames && !subset->types && !subset->category;
}

/* Clamp to one tick around the trace: ranges that select the same events become equal, and sums
 * cannot overflow. */
bool tv_crop_range(const struct tv_trace *trace, const struct tv_crop *crop, tv_ns *from, tv_ns *to)
{
    tv_ns after = trace->end;
    if (after < INT64_MAX)
        after++;
    *from = crop->from < trace->start ? trace->start : crop->from > after ? after : crop->from;
    *to = crop->to > after ? after : crop->to < *from ? *from : crop->to;
    return !crop_covers_all_times(trace, crop);
}

static struct crop_job crop_begin(const struct tv_trace *trace, const struct tv_crop *crop)
{
    struct crop_job c = {.trace = trace, .crop = crop, .keep = crop->keep};
    c.ranged = tv_crop_range(trace, crop, &c.range.from, &c.range.to);
    return c;
}

/* ---- Slices ---- */

static bool crop_has_track(const struct crop_job *c, uint32_t track)
{
    return !c->keep->tracks || c->keep->tracks[track];
}

/* Slices of a row are in order of time and do not overlap, so a range is [first, end) of them. */
static void crop_mark_row(struct crop_job *c, uint32_t number)
{
    assert(number < c->trace->row_count);
    const struct tv_trace *trace = c->trace;
    const struct tv_row *row = &trace->rows[number];
    const uint32_t *path = trace->columns[row->columns].path + row->first;
    uint64_t *bits = c->subset_filter.slices.bits[row->columns];
    uint32_t first = 0, end = row->count;
    if (c->ranged)
        tv_row_overlap(trace, number, c->range.from, c->range.to, &first, &end);
    for (uint32_t i = first; i < end; i++) {
        uint64_t at = row->first + i;
        bool wanted = tv_subset_has_frame(c->keep, trace->paths.nodes[path[i]].frame);
        bits[at / 64] |= (uint64_t)wanted << (at % 64);
    }
}

static void crop_mark_slices(struct crop_job *c)
{
    tv_slice_set_init(&c->subset_filter.slices, c->trace);
    for (uint32_t i = 0; i < c->trace->row_count; i++)
        if (crop_has_track(c, c->trace->rows[i].track))
            crop_mark_row(c, i);
}

/* ---- Tables ---- */

static bool crop_has_time(const struct crop_job *c, uint32_t input, tv_ns time)
{
    time = tv_trace_time(c->trace, input, time);
    return !c->ranged || (time >= c->range.from && time < c->range.to);
}

/* True when [start, end) of an input overlaps the range. An interval without length counts as the
 * moment it stands for, also at the very start of the range. */
static bool crop_has_interval(const struct crop_job *c, uint32_t input, tv_ns start, tv_ns end)
{
    tv_ns offset = c->trace->offset[input];
    if (!c->ranged)
        return true;
    return start + offset < c->range.to &&
           (end + offset > c->range.from || start + offset >= c->range.from);
}

/* Test an instant's owner for membership.  One that belongs to a process or to the whole trace goes
 * when only tracks were chosen. */
static bool crop_has_instant_owner(const struct crop_job *c, const struct tv_instant *instant)
{
    if (instant->scope == TV_SCOPE_THREAD)
        return !c->keep->threads || c->keep->threads[instant->of];
    if (instant->scope == TV_SCOPE_TRACK)
        return crop_has_track(c, instant->of);
    return !c->crop->tracks_only;
}

static void crop_mark_instants(struct crop_job *c)
{
    const struct tv_tables *tables = &c->trace->tables;
    c->subset_filter.instants = tv_alloc(tables->instants.count, sizeof *c->subset_filter.instants);
    for (size_t i = 0; i < tables->instants.count; i++) {
        const struct tv_instant *instant = &tables->instants.rows[i];
        c->subset_filter.instants[i] = crop_has_instant_owner(c, instant) &&
                                       tv_subset_has_instant(c->keep, c->trace->head, instant) &&
                                       crop_has_time(c, instant->input, instant->time);
    }
}

static void crop_mark_counters(struct crop_job *c)
{
    const struct tv_tables *tables = &c->trace->tables;
    c->subset_filter.counters = tv_alloc(tables->counters.count, sizeof *c->subset_filter.counters);
    for (size_t i = 0; i < tables->counters.count; i++)
        c->subset_filter.counters[i] =
            !c->crop->tracks_only &&
            tv_subset_has_counter(c->keep, c->trace->head, &tables->counters.rows[i]);
}

static void crop_mark_objects(struct crop_job *c)
{
    const struct tv_tables *tables = &c->trace->tables;
    c->subset_filter.objects = tv_alloc(tables->objects.count, sizeof *c->subset_filter.objects);
    for (size_t i = 0; i < tables->objects.count; i++) {
        const struct tv_object *object = &tables->objects.rows[i];
        c->subset_filter.objects[i] =
            !c->crop->tracks_only && tv_subset_has_object(c->keep, c->trace->head, object) &&
            crop_has_interval(c, object->input, object->created, object->deleted);
    }
}

/* Samples have no category: a subset with categories has none of them. */
static bool crop_has_sample(const struct crop_job *c, const struct tv_sample *sample)
{
    const struct tv_trace_info *head = c->trace->head;
    bool known = sample->thread < head->thread_count;
    if (c->keep->category || !tv_subset_has_type(c->keep, sample->type) ||
        !crop_has_time(c, sample->input, sample->time))
        return false;
    if (!tv_subset_has_process(c->keep, tv_thread_process(head, sample->thread)))
        return false;
    return known ? !c->keep->threads || c->keep->threads[sample->thread] : !c->crop->tracks_only;
}

static void crop_mark_samples(struct crop_job *c)
{
    const struct tv_tables *tables = &c->trace->tables;
    c->subset_filter.samples = tv_alloc(tables->samples.count, sizeof *c->subset_filter.samples);
    for (size_t i = 0; i < tables->samples.count; i++)
        c->subset_filter.samples[i] = crop_has_sample(c, &tables->samples.rows[i]);
}

/* Mark the memory dumps that stay. */
static void crop_mark_dumps(struct crop_job *c)
{
    const struct tv_tables *tables = &c->trace->tables;
    c->subset_filter.memory_dumps =
        tv_alloc(tables->memory_dumps.count, sizeof *c->subset_filter.memory_dumps);
    for (size_t i = 0; i < tables->memory_dumps.count; i++) {
        const struct tv_memory_dump *dump = &tables->memory_dumps.rows[i];
        bool owned = dump->process == TV_NONE || tv_subset_has_process(c->keep, dump->process);
        c->subset_filter.memory_dumps[i] = owned && !c->crop->tracks_only && !c->keep->category &&
                                           crop_has_time(c, dump->input, dump->time);
    }
}

/* ---- Arrows ---- */

/* True when an end of an arrow stays in the cut: what owns the end, its time, its process and its
 * frame all do. Judged for each end alone: an arrow of which just one end stays is what
 * tv_crop_lost_flows counts. */
static bool crop_has_flow_end(const struct crop_job *c, uint32_t input,
                              const struct tv_flow_end *end)
{
    const struct tv_trace *trace = c->trace;
    uint32_t track = tv_flow_end_track(trace, end);
    bool owned = track != TV_NONE
                     ? crop_has_track(c, track)
                     : crop_has_instant_owner(c, &trace->tables.instants.rows[end->index]);
    return owned && crop_has_time(c, input, end->time) &&
           tv_subset_has_process(c->keep, tv_flow_end_process(trace, end)) &&
           tv_subset_has_frame(c->keep, tv_flow_end_frame(trace, end));
}

uint64_t tv_crop_lost_flows(const struct tv_trace *trace, const struct tv_crop *crop)
{
    struct crop_job c = crop_begin(trace, crop);
    uint64_t lost = 0;
    for (size_t i = 0; i < trace->tables.flows.count; i++) {
        const struct tv_flow *flow = &trace->tables.flows.rows[i];
        lost += crop_has_flow_end(&c, flow->input, &flow->from) !=
                crop_has_flow_end(&c, flow->input, &flow->to);
    }
    return lost;
}

/* ---- The whole ---- */

struct tv_trace *tv_crop_trace(const struct tv_trace *trace, const struct tv_crop *crop)
{
    struct crop_job c = crop_begin(trace, crop);
    c.subset_filter.range = c.ranged ? &c.range : NULL;
    c.subset_filter.own_ends = true;
    c.subset_filter.threads = crop->keep->threads;
    c.subset_filter.tracks = crop->keep->tracks;
    crop_mark_slices(&c);
    crop_mark_instants(&c);
    crop_mark_counters(&c);
    crop_mark_objects(&c);
    crop_mark_samples(&c);
    crop_mark_dumps(&c);
    struct tv_trace *made = tv_trace_subset(trace, &c.subset_filter);
    tv_subset_filter_release(&c.subset_filter);
    return made;
}
