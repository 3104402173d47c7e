/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Terms about frames, threads and processes are asked once of each of these, not of slices: for
 * these a table tells.
 */
#include "analysis/filter.h"

#include <stdio.h>
#include <string.h>

#include "analysis/filter_arguments.h"
#include "analysis/keep.h"
#include "analysis/states.h"
#include "base/bytes.h"
#include "base/memory.h"

/* What terms are asked of, and which fields it has. */
struct subject {
    const uint32_t *name, *category; /* strings; NULL: it has none */
    uint32_t class_name;             /* only of frames */
    bool is_frame, of_process, of_thread;
    uint32_t process, thread; /* TV_NONE: unknown, no wish fits */
};

/* ---- One term ---- */

static bool name_fits(const struct tv_filter_term *term, const struct tv_trace_info *head,
                      const struct subject *subject)
{
    struct tv_bytes name = tv_trace_info_text(head, *subject->name);
    if (tv_filter_text_fits(term, name))
        return true;
    if (!subject->is_frame || subject->class_name == TV_EMPTY_STRING)
        return false;
    struct tv_bytes class_name = tv_trace_info_text(head, subject->class_name);
    size_t length = class_name.length + 1 + name.length;
    uint8_t *both = tv_alloc(length, 1);
    memcpy(both, class_name.data, class_name.length);
    both[class_name.length] = '.';
    memcpy(both + class_name.length + 1, name.data, name.length);
    bool fits = tv_filter_text_fits(term, (struct tv_bytes){both, length});
    tv_free(both);
    return fits;
}

static bool category_fits(const struct tv_filter_term *term, struct tv_bytes list)
{
    struct tv_bytes name;
    bool any = false;
    while (tv_categories_next(&list, &name)) {
        any = true;
        if (tv_filter_text_fits(term, name))
            return true;
    }
    return !any && tv_filter_text_fits(term, TV_BYTES(""));
}

/* An id is wanted as a whole, even where of a name a part suffices. */
static bool id_fits(const struct tv_filter_term *term, struct tv_bytes id)
{
    for (size_t i = 0; i < term->wish_count; i++) {
        struct tv_bytes wish = term->wishes[i].text;
        if (tv_bytes_equal(wish, id))
            return true;
        if (wish.length == id.length + 2 && wish.data[0] == TV_FILTER_ANY &&
            wish.data[wish.length - 1] == TV_FILTER_ANY &&
            memcmp(wish.data + 1, id.data, id.length) == 0)
            return true;
    }
    return false;
}

/* Of a field of an id, or of a name by which an id is known as well. */
static bool number_fits(const struct tv_filter_term *term, const struct tv_trace_info *head, uint64_t id,
                        uint32_t key, bool alone)
{
    char text[24];
    if (tv_filter_has_numbers(term))
        return key == TV_EMPTY_STRING && tv_filter_number_fits(term, (double)id);
    struct tv_bytes bytes = tv_trace_info_text(head, key);
    if (key == TV_EMPTY_STRING) {
        snprintf(text, sizeof text, "%llu", (unsigned long long)id);
        bytes = tv_bytes_of(text);
    }
    return alone ? tv_filter_text_fits(term, bytes) : id_fits(term, bytes);
}

static bool thread_fits(const struct tv_filter_term *term, const struct tv_trace_info *head,
                        uint32_t number)
{
    if (number == TV_NONE)
        return false;
    const struct tv_thread *thread = &head->threads[number];
    bool alone = term->field == TV_FILTER_THREAD_ID;
    return (!alone && tv_filter_text_fits(term, tv_trace_info_text(head, thread->name))) ||
           number_fits(term, head, thread->id, thread->key, alone);
}

static bool process_fits(const struct tv_filter_term *term, const struct tv_trace_info *head,
                         uint32_t number)
{
    if (number >= head->process_count)
        return false;
    const struct tv_process *process = &head->processes[number];
    bool alone = term->field == TV_FILTER_PROCESS_ID;
    return (!alone && tv_filter_text_fits(term, tv_trace_info_text(head, process->name))) ||
           number_fits(term, head, process->id, process->key, alone);
}

static bool term_holds(const struct tv_filter_term *term, const struct tv_trace_info *head,
                       const struct subject *subject)
{
    switch (term->field) {
    case TV_FILTER_NAME:
        return !subject->name || name_fits(term, head, subject) != term->negated;
    case TV_FILTER_CLASS:
        return !subject->is_frame ||
               tv_filter_text_fits(term, tv_trace_info_text(head, subject->class_name)) != term->negated;
    case TV_FILTER_METHOD:
        return !subject->is_frame ||
               tv_filter_text_fits(term, tv_trace_info_text(head, *subject->name)) != term->negated;
    case TV_FILTER_CATEGORY:
        return !subject->category ||
               category_fits(term, tv_trace_info_text(head, *subject->category)) != term->negated;
    case TV_FILTER_THREAD:
    case TV_FILTER_THREAD_ID:
        return !subject->of_thread || thread_fits(term, head, subject->thread) != term->negated;
    case TV_FILTER_PROCESS:
    case TV_FILTER_PROCESS_ID:
        return !subject->of_process || process_fits(term, head, subject->process) != term->negated;
    default:
        return true;
    }
}

static bool all_hold(const struct tv_filter *filter, const struct tv_trace_info *head,
                     const struct subject *subject)
{
    for (size_t i = 0; i < filter->count; i++)
        if (!term_holds(&filter->terms[i], head, subject))
            return false;
    return true;
}

/* ---- Frames, threads, tracks ---- */

struct filtering {
    const struct tv_trace *trace;
    const struct tv_trace_info *head;
    const struct tv_filter *filter;
    struct tv_subset_filter sieve;
    bool *frames;   /* [frame_count] */
    bool *tracks;   /* [track_count] */
    uint8_t *paths; /* [paths.count] of their frames */
    bool of_slices; /* a term is about durations */
};

static bool has_terms(const struct tv_filter *filter, enum tv_filter_field first,
                      enum tv_filter_field last)
{
    for (size_t i = 0; i < filter->count; i++)
        if (tv_filter_is_of(&filter->terms[i], first, last))
            return true;
    return false;
}

static void ask_frames(struct filtering *f)
{
    const struct tv_trace_info *head = f->head;
    f->frames = tv_alloc(head->frame_count, sizeof *f->frames);
    for (uint32_t i = 0; i < head->frame_count; i++) {
        const struct tv_frame *frame = &head->frames[i];
        struct subject subject = {.name = &frame->name,
                                  .category = &frame->category,
                                  .class_name = frame->class_name,
                                  .is_frame = true};
        f->frames[i] = all_hold(f->filter, head, &subject);
    }
    f->paths = tv_alloc(f->trace->paths.count, 1);
    for (uint32_t i = 1; i < f->trace->paths.count; i++)
        f->paths[i] = f->frames[f->trace->paths.nodes[i].frame];
}

static bool owner_holds(const struct filtering *f, uint32_t thread, uint32_t process)
{
    struct subject subject = {
        .of_thread = true, .thread = thread, .of_process = true, .process = process};
    return all_hold(f->filter, f->head, &subject);
}

static void ask_owners(struct filtering *f)
{
    const struct tv_trace *trace = f->trace;
    f->sieve.threads = tv_alloc(f->head->thread_count, sizeof *f->sieve.threads);
    for (uint32_t i = 0; i < f->head->thread_count; i++)
        f->sieve.threads[i] = owner_holds(f, i, tv_thread_process(f->head, i));
    f->tracks = tv_alloc(trace->track_count, sizeof *f->tracks);
    for (uint32_t i = 0; i < trace->track_count; i++) {
        uint32_t thread = trace->tracks[i].thread;
        f->tracks[i] = thread != TV_NONE ? f->sieve.threads[thread]
                                         : owner_holds(f, TV_NONE, tv_track_process(trace, i));
    }
}

/* ---- Slices ---- */

#define CHUNK 256u

/* How long each slice of [first, first + count) was without those that it made. */
static void find_selves(const struct tv_trace *trace, uint32_t row, uint32_t first, uint32_t count,
                        const struct tv_slice *slices, tv_ns *selves)
{
    for (uint32_t i = 0; i < count; i++) {
        uint32_t child = 0, children = 0;
        selves[i] = slices[i].length;
        if (slices[i].flags & TV_SLICE_HAS_CHILDREN)
            tv_slice_children(trace, row, first + i, &child, &children);
        for (uint32_t j = child; j < child + children; j++)
            selves[i] -= tv_slice_get(trace, row + 1, j).length;
    }
}

static bool figures_hold(const struct tv_filter *filter, const struct tv_slice *slice, tv_ns self)
{
    for (size_t i = 0; i < filter->count; i++) {
        const struct tv_filter_term *term = &filter->terms[i];
        bool fits = true;
        if (term->field == TV_FILTER_DURATION)
            fits = tv_filter_number_fits(term, (double)slice->length);
        else if (term->field == TV_FILTER_CPU)
            fits = !(slice->flags & TV_SLICE_NO_CPU) &&
                   tv_filter_number_fits(term, (double)slice->cpu_length);
        else if (term->field == TV_FILTER_SELF)
            fits = tv_filter_number_fits(term, (double)self);
        else
            continue;
        if (fits == term->negated)
            return false;
    }
    return true;
}

static bool depth_holds(const struct tv_filter *filter, uint32_t depth)
{
    for (size_t i = 0; i < filter->count; i++)
        if (filter->terms[i].field == TV_FILTER_DEPTH &&
            tv_filter_number_fits(&filter->terms[i], depth) == filter->terms[i].negated)
            return false;
    return true;
}

/* Of a row whose slices have a good owner and depth, those with a good frame. */
static void ask_row(struct filtering *f, uint32_t number)
{
    const struct tv_row *row = &f->trace->rows[number];
    const uint32_t *path = f->trace->columns[row->columns].path + row->first;
    uint64_t *bits = f->sieve.slices.bits[row->columns];
    for (uint32_t i = 0; i < row->count; i++) {
        uint64_t at = row->first + i;
        bits[at / 64] |= (uint64_t)f->paths[path[i]] << (at % 64);
    }
}

/* Takes away those whose durations are not wanted. */
static void ask_figures(struct filtering *f, uint32_t number)
{
    const struct tv_row *row = &f->trace->rows[number];
    struct tv_slice_set *set = &f->sieve.slices;
    bool own_time = has_terms(f->filter, TV_FILTER_SELF, TV_FILTER_SELF);
    struct tv_slice slices[CHUNK];
    tv_ns selves[CHUNK] = {0};
    for (uint32_t first = 0, count; first < row->count; first += count) {
        count = row->count - first < CHUNK ? row->count - first : CHUNK;
        tv_slices_read(f->trace, number, first, count, slices);
        if (own_time)
            find_selves(f->trace, number, first, count, slices, selves);
        for (uint32_t i = 0; i < count; i++) {
            uint64_t at = row->first + first + i;
            if (tv_slice_set_has(set, row->columns, at) &&
                !figures_hold(f->filter, &slices[i], selves[i]))
                tv_slice_set_put(set, row->columns, at, false);
        }
    }
}

static void ask_slices(struct filtering *f)
{
    const struct tv_trace *trace = f->trace;
    bool figures = has_terms(f->filter, TV_FILTER_DURATION, TV_FILTER_SELF);
    tv_slice_set_init(&f->sieve.slices, trace);
    for (uint32_t i = 0; i < trace->row_count; i++) {
        const struct tv_row *row = &trace->rows[i];
        bool wanted = f->tracks[row->track] || trace->tracks[row->track].kind == TV_TRACK_CPU;
        if (!wanted || !depth_holds(f->filter, row->depth))
            continue;
        ask_row(f, i);
        if (figures)
            ask_figures(f, i);
    }
}

/* ---- What processors ran ---- */

/* The slices of a processor belong to the threads that ran, as the running states of these tell. */
static void mark_runs(struct filtering *f, uint32_t track, struct tv_slice_set *known,
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

/* Where no state tells the thread it has the name of the slice, and no process. */
static bool stranger_holds(const struct filtering *f, uint32_t path)
{
    const struct tv_frame *frame = &f->head->frames[f->trace->paths.nodes[path].frame];
    struct tv_bytes name = tv_trace_info_text(f->head, frame->name);
    for (size_t i = 0; i < f->filter->count; i++) {
        const struct tv_filter_term *term = &f->filter->terms[i];
        bool fits = term->field == TV_FILTER_THREAD && tv_filter_text_fits(term, name);
        if (tv_filter_is_of(term, TV_FILTER_THREAD, TV_FILTER_PROCESS_ID) && fits == term->negated)
            return false;
    }
    return true;
}

static void ask_processors(struct filtering *f)
{
    const struct tv_trace *trace = f->trace;
    struct tv_slice_set known, wanted, *set = &f->sieve.slices;
    if (!has_terms(f->filter, TV_FILTER_THREAD, TV_FILTER_PROCESS_ID))
        return;
    tv_slice_set_init(&known, trace);
    tv_slice_set_init(&wanted, trace);
    for (uint32_t i = 0; i < trace->track_count; i++)
        if (trace->tracks[i].kind == TV_TRACK_STATES)
            mark_runs(f, i, &known, &wanted);
    for (uint32_t number = 0; number < trace->row_count; number++) {
        const struct tv_row *row = &trace->rows[number];
        if (trace->tracks[row->track].kind != TV_TRACK_CPU)
            continue;
        for (uint32_t i = 0; i < row->count; i++) {
            uint64_t at = row->first + i;
            bool good = tv_slice_set_has(&known, row->columns, at)
                            ? tv_slice_set_has(&wanted, row->columns, at)
                            : stranger_holds(f, trace->columns[row->columns].path[at]);
            if (!good)
                tv_slice_set_put(set, row->columns, at, false);
        }
    }
    tv_slice_set_release(&known);
    tv_slice_set_release(&wanted);
}

/* ---- Tables ---- */

static void ask_instants(struct filtering *f)
{
    const struct tv_tables *tables = &f->trace->tables;
    f->sieve.instants = tv_alloc(tables->instants.count, sizeof *f->sieve.instants);
    for (size_t i = 0; i < tables->instants.count; i++) {
        const struct tv_instant *instant = &tables->instants.rows[i];
        bool of_thread = instant->scope == TV_SCOPE_THREAD;
        uint32_t process = of_thread ? tv_thread_process(f->head, instant->of)
                           : instant->scope == TV_SCOPE_PROCESS ? instant->of
                                                                : TV_NONE;
        uint32_t thread = of_thread ? instant->of : TV_NONE;
        f->sieve.instants[i] = f->frames[instant->frame] && owner_holds(f, thread, process);
    }
}

static void ask_counters(struct filtering *f)
{
    const struct tv_tables *tables = &f->trace->tables;
    f->sieve.counters = tv_alloc(tables->counters.count, sizeof *f->sieve.counters);
    for (size_t i = 0; i < tables->counters.count; i++) {
        const struct tv_counter *counter = &tables->counters.rows[i];
        struct subject subject = {.name = &counter->name,
                                  .category = &counter->category,
                                  .of_process = true,
                                  .process = counter->process};
        f->sieve.counters[i] = all_hold(f->filter, f->head, &subject);
    }
}

static void ask_objects(struct filtering *f)
{
    const struct tv_tables *tables = &f->trace->tables;
    f->sieve.objects = tv_alloc(tables->objects.count, sizeof *f->sieve.objects);
    for (size_t i = 0; i < tables->objects.count; i++) {
        const struct tv_object *object = &tables->objects.rows[i];
        struct subject subject = {.name = &object->type,
                                  .category = &object->category,
                                  .of_process = true,
                                  .process = object->process};
        f->sieve.objects[i] = all_hold(f->filter, f->head, &subject);
    }
}

static void ask_samples(struct filtering *f)
{
    const struct tv_tables *tables = &f->trace->tables;
    f->sieve.samples = tv_alloc(tables->samples.count, sizeof *f->sieve.samples);
    for (size_t i = 0; i < tables->samples.count; i++) {
        uint32_t thread = tables->samples.rows[i].thread;
        f->sieve.samples[i] = thread < f->head->thread_count ? f->sieve.threads[thread]
                                                             : owner_holds(f, TV_NONE, TV_NONE);
    }
    if (has_terms(f->filter, TV_FILTER_NAME, TV_FILTER_CATEGORY))
        f->sieve.frames = f->frames;
}

static void ask_dumps(struct filtering *f)
{
    const struct tv_tables *tables = &f->trace->tables;
    f->sieve.memory_dumps = tv_alloc(tables->memory_dumps.count, sizeof *f->sieve.memory_dumps);
    for (size_t i = 0; i < tables->memory_dumps.count; i++) {
        struct subject subject = {.of_process = true,
                                  .process = tables->memory_dumps.rows[i].process};
        f->sieve.memory_dumps[i] = all_hold(f->filter, f->head, &subject);
    }
}

struct tv_trace *tv_filter_trace(const struct tv_trace *trace, const struct tv_filter *filter)
{
    struct filtering f = {.trace = trace, .head = trace->head, .filter = filter};
    ask_frames(&f);
    ask_owners(&f);
    ask_slices(&f);
    ask_processors(&f);
    ask_instants(&f);
    ask_counters(&f);
    ask_objects(&f);
    ask_samples(&f);
    ask_dumps(&f);
    for (size_t i = 0; i < filter->count; i++)
        if (filter->terms[i].field == TV_FILTER_ARGUMENT)
            tv_filter_arguments(trace, &filter->terms[i], &f.sieve);
    f.sieve.workers = filter->workers;
    struct tv_trace *sifted = tv_trace_subset(trace, &f.sieve);
    tv_subset_filter_release(&f.sieve);
    tv_free(f.sieve.threads);
    tv_free(f.tracks);
    tv_free(f.paths);
    tv_free(f.frames);
    return sifted;
}

/* ---- The same slice of two traces ---- */

bool tv_filter_same_track(const struct tv_track *a, const struct tv_track *b)
{
    return a->kind == b->kind && a->thread == b->thread && a->process == b->process &&
           a->name == b->name && a->lane == b->lane && a->input == b->input;
}

struct looking {
    tv_ns start, length;
    uint32_t frame;
    uint64_t offset;
};

static bool is_like(const struct tv_trace *trace, uint32_t row, uint32_t index,
                    const struct looking *like)
{
    struct tv_slice slice = tv_slice_get(trace, row, index);
    return slice.start == like->start && slice.length == like->length &&
           trace->paths.nodes[slice.path].frame == like->frame &&
           tv_slice_offset(trace, row, index) == like->offset;
}

/* The next of a track's slices that are like it, from (*row, *index) on. */
static bool find_like(const struct tv_trace *trace, uint32_t track, const struct looking *like,
                      uint32_t *row, uint32_t *index)
{
    const struct tv_track *t = &trace->tracks[track];
    for (; *row < t->first_row + t->row_count; ++*row, *index = 0) {
        uint32_t first = tv_row_find_start(trace, *row, like->start);
        for (*index = first > *index ? first : *index;
             *index < trace->rows[*row].count && tv_slice_start(trace, *row, *index) == like->start;
             ++*index)
            if (is_like(trace, *row, *index, like))
                return true;
    }
    return false;
}

bool tv_filter_same_slice(const struct tv_trace *trace, uint32_t row, uint32_t index,
                          const struct tv_trace *other, uint32_t *other_row, uint32_t *other_index)
{
    struct tv_slice slice = tv_slice_get(trace, row, index);
    uint32_t track = trace->rows[row].track, twin = 0, before = 0;
    struct looking like = {slice.start, slice.length, trace->paths.nodes[slice.path].frame,
                           tv_slice_offset(trace, row, index)};
    uint32_t r = trace->tracks[track].first_row, i = 0;
    while (find_like(trace, track, &like, &r, &i) && (r != row || i != index)) {
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
    for (uint32_t found = 0; find_like(other, twin, &like, other_row, other_index); found++) {
        if (found == before)
            return true;
        ++*other_index;
    }
    return false;
}
