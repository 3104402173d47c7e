/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Filtering marks rows in four steps, from the cheapest test to the most expensive one:
 *
 *   frames, threads, processes    tested once each; slices look the result up in a table
 *   depth                         once per row
 *   duration, cpu, self           per slice that is still marked
 *   arguments                     filter_arguments.c: reads the file
 *
 * The marks (a bit per slice, a bool per table row) are what tv_trace_subset needs to build the new
 * trace.
 *
 * A term says something about some kinds of rows only.  It leaves rows of other kinds alone: a
 * term about a class drops no counter.  A negated term is the opposite for the rows that it is
 * about.
 */
#include "analysis/subset/filter.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "analysis/states/states.h"
#include "analysis/subset/subset.h"
#include "base/bytes.h"
#include "base/memory.h"

/* One row of a table or a frame, reduced to the fields that a filter can test. */
struct filter_subject {
    const uint32_t *name, *category; /* string numbers; NULL: the subject has no such field */
    uint32_t class_name;             /* only for frames */
    bool is_frame, of_process, of_thread;
    uint32_t process, thread; /* TV_NONE: unknown, which matches no value */
};

/* ---- One term ---- */

/* Match a name. A method also matches as "Class.method", as people write it. */
static bool filter_name_matches(const struct tv_filter_term *term, const struct tv_trace_info *head,
                                const struct filter_subject *subject)
{
    struct tv_bytes name = tv_trace_info_text(head, *subject->name);
    if (tv_filter_matches_text(term, name))
        return true;
    if (!subject->is_frame || subject->class_name == TV_EMPTY_STRING)
        return false;
    struct tv_bytes class_name = tv_trace_info_text(head, subject->class_name);
    size_t length = class_name.length + 1 + name.length;
    uint8_t *both = tv_alloc(length, 1);
    memcpy(both, class_name.data, class_name.length);
    both[class_name.length] = '.';
    memcpy(both + class_name.length + 1, name.data, name.length);
    bool fits = tv_filter_matches_text(term, (struct tv_bytes){both, length});
    tv_free(both);
    return fits;
}

/* Match any category of a list; an event without categories has the empty one. */
static bool filter_category_matches(const struct tv_filter_term *term, struct tv_bytes list)
{
    struct tv_bytes name;
    bool any = false;
    while (tv_categories_next(&list, &name)) {
        any = true;
        if (tv_filter_matches_text(term, name))
            return true;
    }
    return !any && tv_filter_matches_text(term, TV_BYTES(""));
}

/* An id must match as a whole, even where a substring of a name is enough. */
static bool filter_id_matches(const struct tv_filter_term *term, struct tv_bytes id)
{
    for (size_t i = 0; i < term->value_count; i++) {
        struct tv_bytes value = term->values[i].text;
        if (tv_bytes_equal(value, id))
            return true;
        if (value.length == id.length + 2 && value.data[0] == TV_FILTER_ANY &&
            value.data[value.length - 1] == TV_FILTER_ANY &&
            memcmp(value.data + 1, id.data, id.length) == 0)
            return true;
    }
    return false;
}

/* Match an id, either for an id field (`alone`) or for a name field that also accepts ids. */
static bool filter_id_field_matches(const struct tv_filter_term *term,
                                    const struct tv_trace_info *head, uint64_t id, uint32_t key,
                                    bool alone)
{
    char text[24];
    if (tv_filter_has_numbers(term))
        return key == TV_EMPTY_STRING && tv_filter_matches_number(term, (double)id);
    struct tv_bytes bytes = tv_trace_info_text(head, key);
    if (key == TV_EMPTY_STRING) {
        snprintf(text, sizeof text, "%llu", (unsigned long long)id);
        bytes = tv_bytes_of(text);
    }
    return alone ? tv_filter_matches_text(term, bytes) : filter_id_matches(term, bytes);
}

/* Match a thread by name or id. An unknown thread matches nothing. */
static bool filter_thread_matches(const struct tv_filter_term *term,
                                  const struct tv_trace_info *head, uint32_t number)
{
    if (number == TV_NONE)
        return false;
    const struct tv_thread *thread = &head->threads[number];
    bool alone = term->field == TV_FILTER_THREAD_ID;
    return (!alone && tv_filter_matches_text(term, tv_trace_info_text(head, thread->name))) ||
           filter_id_field_matches(term, head, thread->id, thread->key, alone);
}

/* Match a process by name or id. An unknown process matches nothing. */
static bool filter_process_matches(const struct tv_filter_term *term,
                                   const struct tv_trace_info *head, uint32_t number)
{
    if (number >= head->process_count)
        return false;
    const struct tv_process *process = &head->processes[number];
    bool alone = term->field == TV_FILTER_PROCESS_ID;
    return (!alone && tv_filter_matches_text(term, tv_trace_info_text(head, process->name))) ||
           filter_id_field_matches(term, head, process->id, process->key, alone);
}

/* Return true when the term keeps the subject, also because the term is not about it. */
static bool filter_term_matches(const struct tv_filter_term *term, const struct tv_trace_info *head,
                                const struct filter_subject *subject)
{
    switch (term->field) {
    case TV_FILTER_NAME:
        return !subject->name || filter_name_matches(term, head, subject) != term->negated;
    case TV_FILTER_CLASS:
        return !subject->is_frame ||
               tv_filter_matches_text(term, tv_trace_info_text(head, subject->class_name)) !=
                   term->negated;
    case TV_FILTER_METHOD:
        return !subject->is_frame ||
               tv_filter_matches_text(term, tv_trace_info_text(head, *subject->name)) !=
                   term->negated;
    case TV_FILTER_CATEGORY:
        return !subject->category ||
               filter_category_matches(term, tv_trace_info_text(head, *subject->category)) !=
                   term->negated;
    case TV_FILTER_THREAD:
    case TV_FILTER_THREAD_ID:
        return !subject->of_thread ||
               filter_thread_matches(term, head, subject->thread) != term->negated;
    case TV_FILTER_PROCESS:
    case TV_FILTER_PROCESS_ID:
        return !subject->of_process ||
               filter_process_matches(term, head, subject->process) != term->negated;
    default:
        return true;
    }
}

/* Return true when every term keeps the subject. */
static bool filter_matches_subject(const struct tv_filter *filter, const struct tv_trace_info *head,
                                   const struct filter_subject *subject)
{
    for (size_t i = 0; i < filter->count; i++)
        if (!filter_term_matches(&filter->terms[i], head, subject))
            return false;
    return true;
}

/* ---- Frames, threads, tracks ---- */

/* State of one run of a filter over a trace. */
struct filtering {
    const struct tv_trace *trace;
    const struct tv_trace_info *head;
    const struct tv_filter *filter;
    struct tv_subset_filter subset_filter;
    bool *frames;   /* [frame_count] */
    bool *tracks;   /* [track_count] */
    uint8_t *paths; /* [paths.count] 1 if the path's frame matches */
};

/* Return true when a term is about one of these fields; steps without terms are skipped. */
static bool filter_has_terms(const struct tv_filter *filter, enum tv_filter_field first,
                             enum tv_filter_field last)
{
    for (size_t i = 0; i < filter->count; i++)
        if (tv_filter_field_in(&filter->terms[i], first, last))
            return true;
    return false;
}

/* Test each frame once; a path is tested by its frame. */
static void filter_mark_frames(struct filtering *f)
{
    const struct tv_trace_info *head = f->head;
    f->frames = tv_alloc(head->frame_count, sizeof *f->frames);
    for (uint32_t i = 0; i < head->frame_count; i++) {
        const struct tv_frame *frame = &head->frames[i];
        struct filter_subject subject = {.name = &frame->name,
                                         .category = &frame->category,
                                         .class_name = frame->class_name,
                                         .is_frame = true};
        f->frames[i] = filter_matches_subject(f->filter, head, &subject);
    }
    f->paths = tv_alloc(f->trace->paths.count, 1);
    for (uint32_t i = 1; i < f->trace->paths.count; i++)
        f->paths[i] = f->frames[f->trace->paths.nodes[i].frame];
}

static bool filter_matches_owner(const struct filtering *f, uint32_t thread, uint32_t process)
{
    struct filter_subject subject = {
        .of_thread = true, .thread = thread, .of_process = true, .process = process};
    return filter_matches_subject(f->filter, f->head, &subject);
}

/* Test each thread and each track once. */
static void filter_mark_owners(struct filtering *f)
{
    const struct tv_trace *trace = f->trace;
    f->subset_filter.threads = tv_alloc(f->head->thread_count, sizeof *f->subset_filter.threads);
    for (uint32_t i = 0; i < f->head->thread_count; i++)
        f->subset_filter.threads[i] = filter_matches_owner(f, i, tv_thread_process(f->head, i));
    f->tracks = tv_alloc(trace->track_count, sizeof *f->tracks);
    for (uint32_t i = 0; i < trace->track_count; i++) {
        uint32_t thread = trace->tracks[i].thread;
        f->tracks[i] = thread != TV_NONE
                           ? f->subset_filter.threads[thread]
                           : filter_matches_owner(f, TV_NONE, tv_track_process(trace, i));
    }
}

/* ---- Slices ---- */

#define FILTER_CHUNK 256u

/* Compute the self time of the slices [first, first + count). */
static void filter_compute_self_times(const struct tv_trace *trace, uint32_t row, uint32_t first,
                                      uint32_t count, const struct tv_slice *slices, tv_ns *selves)
{
    assert(count <= FILTER_CHUNK);
    for (uint32_t i = 0; i < count; i++) {
        uint32_t child = 0, children = 0;
        selves[i] = slices[i].length;
        if (slices[i].flags & TV_SLICE_HAS_CHILDREN)
            tv_slice_children(trace, row, first + i, &child, &children);
        for (uint32_t j = child; j < child + children; j++)
            selves[i] -= tv_slice_get(trace, row + 1, j).length;
    }
}

/* Test the terms about times. A slice without CPU time matches no value of it. */
static bool filter_matches_times(const struct tv_filter *filter, const struct tv_slice *slice,
                                 tv_ns self)
{
    for (size_t i = 0; i < filter->count; i++) {
        const struct tv_filter_term *term = &filter->terms[i];
        bool fits = true;
        if (term->field == TV_FILTER_DURATION)
            fits = tv_filter_matches_number(term, (double)slice->length);
        else if (term->field == TV_FILTER_CPU)
            fits = !(slice->flags & TV_SLICE_NO_CPU) &&
                   tv_filter_matches_number(term, (double)slice->cpu_length);
        else if (term->field == TV_FILTER_SELF)
            fits = tv_filter_matches_number(term, (double)self);
        else
            continue;
        if (fits == term->negated)
            return false;
    }
    return true;
}

/* Test the terms about depth. */
static bool filter_matches_depth(const struct tv_filter *filter, uint32_t depth)
{
    for (size_t i = 0; i < filter->count; i++)
        if (filter->terms[i].field == TV_FILTER_DEPTH &&
            tv_filter_matches_number(&filter->terms[i], depth) == filter->terms[i].negated)
            return false;
    return true;
}

/* Mark the slices of a row whose frame matches; owner and depth match already. */
static void filter_mark_row(struct filtering *f, uint32_t number)
{
    assert(f->paths != NULL && number < f->trace->row_count);
    const struct tv_row *row = &f->trace->rows[number];
    const uint32_t *path = f->trace->columns[row->columns].path + row->first;
    uint64_t *bits = f->subset_filter.slices.bits[row->columns];
    for (uint32_t i = 0; i < row->count; i++) {
        uint64_t at = row->first + i;
        bits[at / 64] |= (uint64_t)f->paths[path[i]] << (at % 64);
    }
}

/* Unmark the slices whose times do not match. */
static void filter_unmark_by_times(struct filtering *f, uint32_t number)
{
    const struct tv_row *row = &f->trace->rows[number];
    struct tv_slice_set *set = &f->subset_filter.slices;
    bool own_time = filter_has_terms(f->filter, TV_FILTER_SELF, TV_FILTER_SELF);
    struct tv_slice slices[FILTER_CHUNK];
    tv_ns selves[FILTER_CHUNK] = {0};
    for (uint32_t first = 0, count; first < row->count; first += count) {
        count = row->count - first < FILTER_CHUNK ? row->count - first : FILTER_CHUNK;
        tv_slices_read(f->trace, number, first, count, slices);
        if (own_time)
            filter_compute_self_times(f->trace, number, first, count, slices, selves);
        for (uint32_t i = 0; i < count; i++) {
            uint64_t at = row->first + first + i;
            if (tv_slice_set_has(set, row->columns, at) &&
                !filter_matches_times(f->filter, &slices[i], selves[i]))
                tv_slice_set_put(set, row->columns, at, false);
        }
    }
}

/* Mark the slices that match. Tracks of processors are marked first and corrected later, because
 * their slices belong to many threads. */
static void filter_mark_slices(struct filtering *f)
{
    assert(f->tracks != NULL);
    const struct tv_trace *trace = f->trace;
    bool figures = filter_has_terms(f->filter, TV_FILTER_DURATION, TV_FILTER_SELF);
    tv_slice_set_init(&f->subset_filter.slices, trace);
    for (uint32_t i = 0; i < trace->row_count; i++) {
        const struct tv_row *row = &trace->rows[i];
        bool wanted = f->tracks[row->track] || trace->tracks[row->track].kind == TV_TRACK_CPU;
        if (!wanted || !filter_matches_depth(f->filter, row->depth))
            continue;
        filter_mark_row(f, i);
        if (figures)
            filter_unmark_by_times(f, i);
    }
}

/* ---- CPU tracks ---- */

/* A slice on a CPU track belongs to the thread that ran; that thread's "running" states say
 * which. */
static void filter_mark_cpu_runs(struct filtering *f, uint32_t track, struct tv_slice_set *known,
                                 struct tv_slice_set *wanted)
{
    const struct tv_trace *trace = f->trace;
    uint32_t first = trace->tracks[track].first_row, end = first + trace->tracks[track].row_count;
    for (uint32_t row = first; row < end; row++)
        for (uint32_t i = 0; i < trace->rows[row].count; i++) {
            struct tv_slice_place state = {row, i};
            uint32_t frame = trace->paths.nodes[tv_slice_get(trace, row, i).path].frame;
            if (tv_state_of_frame(f->head, frame) != TV_STATE_RUNNING)
                continue;
            struct tv_slice_place ran = tv_states_cpu_slice(trace, state);
            if (ran.row == TV_NONE)
                continue;
            const struct tv_row *r = &trace->rows[ran.row];
            tv_slice_set_put(known, r->columns, r->first + ran.index, true);
            tv_slice_set_put(wanted, r->columns, r->first + ran.index, f->tracks[track]);
        }
}

/* Without a matching state, the thread is known by the slice's name only and has no process. */
static bool filter_matches_unknown_thread(const struct filtering *f, uint32_t path)
{
    const struct tv_frame *frame = &f->head->frames[f->trace->paths.nodes[path].frame];
    struct tv_bytes name = tv_trace_info_text(f->head, frame->name);
    for (size_t i = 0; i < f->filter->count; i++) {
        const struct tv_filter_term *term = &f->filter->terms[i];
        bool fits = term->field == TV_FILTER_THREAD && tv_filter_matches_text(term, name);
        if (tv_filter_field_in(term, TV_FILTER_THREAD, TV_FILTER_PROCESS_ID) &&
            fits == term->negated)
            return false;
    }
    return true;
}

/* Unmark slices of processors whose thread does not match. */
static void filter_unmark_cpu_slices(struct filtering *f)
{
    const struct tv_trace *trace = f->trace;
    struct tv_slice_set known, wanted, *set = &f->subset_filter.slices;
    if (!filter_has_terms(f->filter, TV_FILTER_THREAD, TV_FILTER_PROCESS_ID))
        return;
    tv_slice_set_init(&known, trace);
    tv_slice_set_init(&wanted, trace);
    for (uint32_t i = 0; i < trace->track_count; i++)
        if (trace->tracks[i].kind == TV_TRACK_STATES)
            filter_mark_cpu_runs(f, i, &known, &wanted);
    for (uint32_t number = 0; number < trace->row_count; number++) {
        const struct tv_row *row = &trace->rows[number];
        if (trace->tracks[row->track].kind != TV_TRACK_CPU)
            continue;
        for (uint32_t i = 0; i < row->count; i++) {
            uint64_t at = row->first + i;
            bool good =
                tv_slice_set_has(&known, row->columns, at)
                    ? tv_slice_set_has(&wanted, row->columns, at)
                    : filter_matches_unknown_thread(f, trace->columns[row->columns].path[at]);
            if (!good)
                tv_slice_set_put(set, row->columns, at, false);
        }
    }
    tv_slice_set_release(&known);
    tv_slice_set_release(&wanted);
}

/* ---- Tables ---- */

/* Mark the instants whose name and owner match. */
static void filter_mark_instants(struct filtering *f)
{
    const struct tv_tables *tables = &f->trace->tables;
    f->subset_filter.instants = tv_alloc(tables->instants.count, sizeof *f->subset_filter.instants);
    for (size_t i = 0; i < tables->instants.count; i++) {
        const struct tv_instant *instant = &tables->instants.rows[i];
        bool of_thread = instant->scope == TV_SCOPE_THREAD;
        uint32_t process = of_thread ? tv_thread_process(f->head, instant->of)
                           : instant->scope == TV_SCOPE_PROCESS ? instant->of
                                                                : TV_NONE;
        uint32_t thread = of_thread ? instant->of : TV_NONE;
        f->subset_filter.instants[i] =
            f->frames[instant->frame] && filter_matches_owner(f, thread, process);
    }
}

static void filter_mark_counters(struct filtering *f)
{
    const struct tv_tables *tables = &f->trace->tables;
    f->subset_filter.counters = tv_alloc(tables->counters.count, sizeof *f->subset_filter.counters);
    for (size_t i = 0; i < tables->counters.count; i++) {
        const struct tv_counter *counter = &tables->counters.rows[i];
        struct filter_subject subject = {.name = &counter->name,
                                         .category = &counter->category,
                                         .of_process = true,
                                         .process = counter->process};
        f->subset_filter.counters[i] = filter_matches_subject(f->filter, f->head, &subject);
    }
}

static void filter_mark_objects(struct filtering *f)
{
    const struct tv_tables *tables = &f->trace->tables;
    f->subset_filter.objects = tv_alloc(tables->objects.count, sizeof *f->subset_filter.objects);
    for (size_t i = 0; i < tables->objects.count; i++) {
        const struct tv_object *object = &tables->objects.rows[i];
        struct filter_subject subject = {.name = &object->type,
                                         .category = &object->category,
                                         .of_process = true,
                                         .process = object->process};
        f->subset_filter.objects[i] = filter_matches_subject(f->filter, f->head, &subject);
    }
}

/* Mark the samples of matching threads. Terms about names drop frames of their stacks instead. */
static void filter_mark_samples(struct filtering *f)
{
    const struct tv_tables *tables = &f->trace->tables;
    f->subset_filter.samples = tv_alloc(tables->samples.count, sizeof *f->subset_filter.samples);
    for (size_t i = 0; i < tables->samples.count; i++) {
        uint32_t thread = tables->samples.rows[i].thread;
        f->subset_filter.samples[i] = thread < f->head->thread_count
                                          ? f->subset_filter.threads[thread]
                                          : filter_matches_owner(f, TV_NONE, TV_NONE);
    }
    if (filter_has_terms(f->filter, TV_FILTER_NAME, TV_FILTER_CATEGORY))
        f->subset_filter.frames = f->frames;
}

static void filter_mark_dumps(struct filtering *f)
{
    const struct tv_tables *tables = &f->trace->tables;
    f->subset_filter.memory_dumps =
        tv_alloc(tables->memory_dumps.count, sizeof *f->subset_filter.memory_dumps);
    for (size_t i = 0; i < tables->memory_dumps.count; i++) {
        struct filter_subject subject = {.of_process = true,
                                         .process = tables->memory_dumps.rows[i].process};
        f->subset_filter.memory_dumps[i] = filter_matches_subject(f->filter, f->head, &subject);
    }
}

struct tv_trace *tv_filter_trace(const struct tv_trace *trace, const struct tv_filter *filter)
{
    struct filtering f = {.trace = trace, .head = trace->head, .filter = filter};
    filter_mark_frames(&f);
    filter_mark_owners(&f);
    filter_mark_slices(&f);
    filter_unmark_cpu_slices(&f);
    filter_mark_instants(&f);
    filter_mark_counters(&f);
    filter_mark_objects(&f);
    filter_mark_samples(&f);
    filter_mark_dumps(&f);
    for (size_t i = 0; i < filter->count; i++)
        if (filter->terms[i].field == TV_FILTER_ARGUMENT)
            tv_filter_apply_arguments(trace, &filter->terms[i], &f.subset_filter);
    f.subset_filter.workers = filter->workers;
    struct tv_trace *filtered = tv_trace_subset(trace, &f.subset_filter);
    tv_subset_filter_release(&f.subset_filter);
    tv_free(f.subset_filter.threads);
    tv_free(f.tracks);
    tv_free(f.paths);
    tv_free(f.frames);
    return filtered;
}

/* ---- The same slice in two traces ---- */

bool tv_filter_same_track(const struct tv_track *a, const struct tv_track *b)
{
    return a->kind == b->kind && a->thread == b->thread && a->process == b->process &&
           a->name == b->name && a->lane == b->lane && a->input == b->input;
}

/* Everything by which a slice is recognized in another trace of the same files. */
struct slice_identity {
    tv_ns start, length;
    uint32_t frame;
    uint64_t offset;
};

/* Return true when a slice has this identity. */
static bool filter_slice_is_like(const struct tv_trace *trace, uint32_t row, uint32_t index,
                                 const struct slice_identity *like)
{
    struct tv_slice slice = tv_slice_get(trace, row, index);
    return slice.start == like->start && slice.length == like->length &&
           trace->paths.nodes[slice.path].frame == like->frame &&
           tv_slice_offset(trace, row, index) == like->offset;
}

/* Find the next slice of a track that looks like `like`, from (*row, *index) on. */
static bool filter_find_like(const struct tv_trace *trace, uint32_t track,
                             const struct slice_identity *like, uint32_t *row, uint32_t *index)
{
    const struct tv_track *t = &trace->tracks[track];
    for (; *row < t->first_row + t->row_count; ++*row, *index = 0) {
        uint32_t first = tv_row_find_start(trace, *row, like->start);
        for (*index = first > *index ? first : *index;
             *index < trace->rows[*row].count && tv_slice_start(trace, *row, *index) == like->start;
             ++*index)
            if (filter_slice_is_like(trace, *row, *index, like))
                return true;
    }
    return false;
}

bool tv_filter_same_slice(const struct tv_trace *trace, uint32_t row, uint32_t index,
                          const struct tv_trace *other, uint32_t *other_row, uint32_t *other_index)
{
    struct tv_slice slice = tv_slice_get(trace, row, index);
    uint32_t track = trace->rows[row].track, twin = 0, before = 0;
    struct slice_identity like = {slice.start, slice.length, trace->paths.nodes[slice.path].frame,
                                  tv_slice_offset(trace, row, index)};
    uint32_t r = trace->tracks[track].first_row, i = 0;
    while (filter_find_like(trace, track, &like, &r, &i) && (r != row || i != index)) {
        before++;
        i++;
    }
    while (twin < other->track_count &&
           !tv_filter_same_track(&trace->tracks[track], &other->tracks[twin]))
        twin++;
    if (twin == other->track_count)
        return false;
    *other_row = other->tracks[twin].first_row;
    *other_index = 0;
    for (uint32_t found = 0; filter_find_like(other, twin, &like, other_row, other_index);
         found++) {
        if (found == before)
            return true;
        ++*other_index;
    }
    return false;
}
