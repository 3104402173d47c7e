/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The order of tracks on the screen, and the collation of names.
 *
 * Method traces show the busiest threads first.  Other traces are ordered by owner:
 *
 *   processes   sort index of the file, then work of the main thread, then name, labels and id;
 *               Chrome's busiest renderer before all others
 *   threads     sort index of the file, then the main thread, then busy before idle threads, then
 *               name and id
 */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/findings/findings.h"
#include "analysis/states/states.h"
#include "analysis/subset/subset.h"
#include "base/bytes.h"
#include "base/memory.h"
#include "base/out.h"
#include "view/internal.h"

/* Marks in the order of Unicode's root collation (CLDR). */
static const char marks[] = " _-,;:!?.'\"()[]{}@*/\\&#%`^+<=>|~$";

enum {
    FIRST_MARK = 32,
    FIRST_DIGIT = 128,
    FIRST_LETTER = 256,
    FIRST_OTHER = 512,
};

/* Primary weight: the letter, without its case. */
static int collation_weight(uint8_t c)
{
    if (c >= 0x80)
        return FIRST_OTHER + c;
    if (c >= '0' && c <= '9')
        return FIRST_DIGIT + c;
    if ((c | 0x20) >= 'a' && (c | 0x20) <= 'z')
        return FIRST_LETTER + (c | 0x20);
    const char *mark = c ? strchr(marks, c) : NULL;
    return mark ? FIRST_MARK + (int)(mark - marks) : c % FIRST_MARK;
}

/* Is there a digit at a place of the text? */
static bool is_digit_at(struct tv_bytes text, size_t at)
{
    return at < text.length && text.data[at] >= '0' && text.data[at] <= '9';
}

/* Return the digits at `at` without leading zeros, and step over them. */
static struct tv_bytes collation_take_number(struct tv_bytes text, size_t *at)
{
    while (is_digit_at(text, *at) && text.data[*at] == '0')
        (*at)++;
    size_t first = *at;
    while (is_digit_at(text, *at))
        (*at)++;
    return (struct tv_bytes){text.data + first, *at - first};
}

/* Compare digits without leading zeros: the longer number is the larger one,
 * whatever its length. */
static int collation_compare_numbers(struct tv_bytes a, struct tv_bytes b)
{
    if (a.length != b.length)
        return a.length < b.length ? -1 : 1;
    return tv_bytes_compare(a, b);
}

int tv_collate(struct tv_bytes a, struct tv_bytes b)
{
    size_t i = 0, j = 0;
    while (i < a.length && j < b.length) {
        int order;
        if (is_digit_at(a, i) && is_digit_at(b, j)) {
            struct tv_bytes left = collation_take_number(a, &i);
            order = collation_compare_numbers(left, collation_take_number(b, &j));
        } else {
            order = collation_weight(a.data[i++]) - collation_weight(b.data[j++]);
        }
        if (order)
            return order;
    }
    /* A name that is the beginning of another one comes first. */
    if (i < a.length || j < b.length)
        return i < a.length ? 1 : -1;
    /* lower case letters have the higher bytes */
    return tv_bytes_compare(b, a);
}

/* Neighbouring slices of one row. */
struct track_run {
    uint32_t first, count;
};

struct track_runs {
    struct track_run *rows;
    size_t count, capacity;
};

/* Append a run unless it is empty. */
static void track_runs_add(struct track_runs *all, uint32_t first, uint32_t count)
{
    if (count == 0)
        return;
    all->rows = tv_array_reserve(all->rows, &all->capacity, all->count + 1, sizeof *all->rows);
    all->rows[all->count++] = (struct track_run){first, count};
}

/* Return true if a slice counts as time of its track: every call, but only one state. */
static bool track_is_busy(const struct tv_trace *trace, uint32_t track,
                          const struct tv_slice *slice)
{
    return trace->tracks[track].kind != TV_TRACK_STATES ||
           tv_state_of_frame(trace->head, trace->paths.nodes[slice->path].frame) ==
               TV_STATE_RUNNING;
}

/* Add up a run; the children of calls without CPU time are appended to `inside`. */
static void track_sum_run(const struct tv_trace *trace, uint32_t row, struct track_run run,
                          struct tv_view_track *track, struct track_runs *inside)
{
    struct tv_slice slices[64];
    bool wall = tv_track_has_wall(trace, track->track) && trace->rows[row].depth == 0;
    assert(run.first <= trace->rows[row].count && run.count <= trace->rows[row].count - run.first);
    for (uint32_t done = 0, count; done < run.count; done += count) {
        count = run.count - done;
        if (count > TV_COUNT(slices))
            count = TV_COUNT(slices);
        tv_slices_read(trace, row, run.first + done, count, slices);
        for (uint32_t i = 0; i < count; i++) {
            struct track_run made;
            if (wall && track_is_busy(trace, track->track, &slices[i]))
                tv_time_add(&track->wall, slices[i].length);
            tv_time_add(&track->cpu, slices[i].cpu_length);
            if (!(slices[i].flags & TV_SLICE_NO_CPU))
                continue;
            tv_slice_children(trace, row, run.first + done + i, &made.first, &made.count);
            track_runs_add(inside, made.first, made.count);
        }
    }
}

/* Add up the calls of depth 0; for a call without CPU time, its children. */
static void track_sum_calls(const struct tv_trace *trace, struct tv_view_track *track)
{
    const struct tv_track *t = &trace->tracks[track->track];
    struct track_runs now = {NULL, 0, 0}, next = {NULL, 0, 0};
    if (t->row_count > 0)
        track_runs_add(&now, 0, trace->rows[t->first_row].count);
    /* Level by level: the children of the calls in `now` are collected in
     * `next`, whose memory is reused. */
    for (uint32_t row = t->first_row; now.count > 0; row++) {
        assert(row - t->first_row < t->row_count); /* the lowest row has no children */
        for (size_t i = 0; i < now.count; i++)
            track_sum_run(trace, row, now.rows[i], track, &next);
        struct track_runs done = now;
        now = next;
        next = (struct track_runs){done.rows, 0, done.capacity};
    }
    tv_free(now.rows);
    tv_free(next.rows);
}

/* The busiest track comes first; of equal ones, that with the lower number. */
static int track_compare_by_cpu(const void *left, const void *right)
{
    const struct tv_view_track *a = left, *b = right;
    if (a->cpu != b->cpu)
        return a->cpu > b->cpu ? -1 : 1;
    return (a->track > b->track) - (a->track < b->track);
}

static int track_compare_by_wall(const void *left, const void *right)
{
    const struct tv_view_track *a = left, *b = right;
    if (a->wall != b->wall)
        return a->wall > b->wall ? -1 : 1;
    return (a->track > b->track) - (a->track < b->track);
}

/* ---- By owner ---- */

/* Compare two numbers as qsort wants it: -1, 0 or 1. */
#define ORDER(a, b) (((a) > (b)) - ((a) < (b)))

/* Work of a thread.  Of two threads, the first figure that differs decides. */
struct owner_work {
    int64_t calls;   /* time in calls, on the CPU clock if there is one */
    int64_t running; /* time on a processor */
    int64_t samples;
};

/* A process or thread with the keys of its order, the most important one first. */
struct sortable_owner {
    const struct tv_trace_info *head;
    bool behind; /* not Chrome's busiest renderer */
    int64_t sort_index;
    int role; /* of a thread in its process */
    struct owner_work work;
    uint32_t name, labels; /* in the string table */
    uint64_t id;
    uint32_t index;
};

enum {
    ROLE_MAIN,
    ROLE_RENDER, /* draws for the main thread */
    ROLE_OTHER,
};

static struct tv_bytes order_thread_name(const struct tv_trace_info *head, uint32_t thread)
{
    return tv_trace_info_text(head, head->threads[thread].name);
}

/* In a container or sandbox, the main thread has another id than its process, but a known name. */
static int order_thread_role(const struct tv_trace_info *head, uint32_t thread)
{
    static const char *const main_names[] = {"main",      "main thread", "MainThread",
                                             "UI thread", "GeckoMain",   "Cr*Main"};
    struct tv_bytes name = order_thread_name(head, thread);
    if (tv_thread_leads_process(head, thread) || tv_rule_is_main(head, thread))
        return ROLE_MAIN;
    for (size_t i = 0; i < TV_COUNT(main_names); i++)
        if (tv_glob_matches(name, tv_bytes_of(main_names[i])))
            return ROLE_MAIN;
    return tv_bytes_equal(name, TV_BYTES("RenderThread")) ? ROLE_RENDER : ROLE_OTHER;
}

/* Return false if each sort index of a thread is only its id, as some programs write, which would
 * hide the main thread among the others. */
static bool order_has_thread_indexes(const struct tv_trace_info *head)
{
    for (uint32_t i = 0; i < head->thread_count; i++) {
        int64_t index = head->threads[i].sort_index;
        if (index != 0 && (index < 0 || (uint64_t)index != head->threads[i].id))
            return true;
    }
    return false;
}

/* Order by calls, then by running time, then by samples: the one that did most comes first. */
static int order_compare_work(const struct owner_work *a, const struct owner_work *b)
{
    if (a->calls != b->calls)
        return ORDER(b->calls, a->calls);
    if (a->running != b->running)
        return ORDER(b->running, a->running);
    return ORDER(b->samples, a->samples);
}

/* Named ones come first. */
static int order_compare_names(const struct tv_trace_info *head, uint32_t a, uint32_t b)
{
    if ((a == TV_EMPTY_STRING) != (b == TV_EMPTY_STRING))
        return a == TV_EMPTY_STRING ? 1 : -1;
    return a == b ? 0 : tv_collate(tv_trace_info_text(head, a), tv_trace_info_text(head, b));
}

/* Order of processes and of threads; the first difference decides, and the number in the trace at
 * last. */
static int owner_compare(const void *left, const void *right)
{
    const struct sortable_owner *a = left, *b = right;
    int order = ORDER(a->behind, b->behind);
    if (order == 0)
        order = ORDER(a->sort_index, b->sort_index);
    if (order == 0)
        order = ORDER(a->role, b->role);
    if (order == 0)
        order = order_compare_work(&a->work, &b->work);
    if (order == 0)
        order = order_compare_names(a->head, a->name, b->name);
    if (order == 0)
        order = order_compare_names(a->head, a->labels, b->labels);
    if (order == 0)
        order = ORDER(a->id, b->id);
    return order ? order : ORDER(a->index, b->index);
}

/* Return the work of each thread. */
static struct owner_work *order_thread_work(const struct tv_view *view)
{
    const struct tv_trace *trace = view->trace;
    struct owner_work *work = tv_alloc(trace->head->thread_count, sizeof *work);
    for (uint32_t i = 0; i < trace->track_count; i++) {
        const struct tv_view_track *shown = &view->tracks[i];
        const struct tv_track *track = &trace->tracks[shown->track];
        if (track->thread >= trace->head->thread_count)
            continue;
        if (track->kind == TV_TRACK_THREAD)
            tv_time_add(&work[track->thread].calls, shown->cpu > 0 ? shown->cpu : shown->wall);
        else if (track->kind == TV_TRACK_STATES)
            tv_time_add(&work[track->thread].running, shown->wall);
    }
    const struct tv_sample *samples = trace->tables.samples.rows;
    for (size_t i = 0; i < trace->tables.samples.count; i++)
        if (samples[i].thread < trace->head->thread_count)
            work[samples[i].thread].samples++;
    return work;
}

/* Return the process of Chrome's busiest renderer; TV_NONE: none.  Chrome gives its browser process
 * the lowest sort index, but the page that somebody traced runs in a renderer. */
static uint32_t order_find_renderer(const struct tv_trace_info *head,
                                    const struct sortable_owner *processes)
{
    uint32_t found = TV_NONE;
    bool browser = false;
    for (uint32_t i = 0; i < head->thread_count; i++) {
        struct tv_bytes name = order_thread_name(head, i);
        uint32_t process = head->threads[i].process;
        browser |= tv_bytes_equal(name, TV_BYTES("CrBrowserMain"));
        if (process < head->process_count && tv_bytes_equal(name, TV_BYTES("CrRendererMain")) &&
            (found == TV_NONE ||
             order_compare_work(&processes[process].work, &processes[found].work) < 0))
            found = process;
    }
    return browser ? found : TV_NONE;
}

/* Sort processes by the work of their main threads. */
static void order_processes(struct sortable_owner *processes, const struct tv_trace_info *head,
                            const struct sortable_owner *threads, const struct owner_work *work)
{
    for (uint32_t i = 0; i < head->process_count; i++) {
        const struct tv_process *p = &head->processes[i];
        processes[i] = (struct sortable_owner){.head = head,
                                               .behind = true,
                                               .sort_index = p->sort_index,
                                               .name = p->name,
                                               .labels = p->labels,
                                               .id = p->id,
                                               .index = i};
    }
    for (uint32_t i = 0; i < head->thread_count; i++) {
        uint32_t process = head->threads[i].process;
        if (process >= head->process_count || threads[i].role != ROLE_MAIN)
            continue;
        tv_time_add(&processes[process].work.calls, work[i].calls);
        tv_time_add(&processes[process].work.running, work[i].running);
        tv_time_add(&processes[process].work.samples, work[i].samples);
    }
    uint32_t renderer = order_find_renderer(head, processes);
    if (renderer != TV_NONE)
        processes[renderer].behind = false;
    if (head->process_count > 0)
        qsort(processes, head->process_count, sizeof *processes, owner_compare);
}

/* Fill the keys of threads.  Busy threads are before idle ones; how busy they are does not count,
 * so that threads of one name are together. */
static void order_fill_threads(struct sortable_owner *threads, const struct tv_trace_info *head,
                               const struct owner_work *work)
{
    bool indexed = order_has_thread_indexes(head);
    for (uint32_t i = 0; i < head->thread_count; i++) {
        const struct tv_thread *t = &head->threads[i];
        threads[i] = (struct sortable_owner){
            .head = head,
            .sort_index = indexed ? t->sort_index : 0,
            .role = order_thread_role(head, i),
            .work = {work[i].calls > 0, work[i].running > 0, work[i].samples > 0},
            .name = t->name,
            .labels = TV_EMPTY_STRING,
            .id = t->id,
            .index = i};
    }
}

/* Sort processes and threads. */
static void order_owners(struct tv_view *view)
{
    const struct tv_trace_info *head = view->trace->head;
    struct owner_work *work = order_thread_work(view);
    struct sortable_owner *threads = tv_alloc(head->thread_count, sizeof *threads);
    struct sortable_owner *processes = tv_alloc(head->process_count, sizeof *processes);
    order_fill_threads(threads, head, work);
    order_processes(processes, head, threads, work);
    if (head->thread_count > 0)
        qsort(threads, head->thread_count, sizeof *threads, owner_compare);
    view->threads = tv_alloc(head->thread_count, sizeof *view->threads);
    view->processes = tv_alloc(head->process_count, sizeof *view->processes);
    for (uint32_t i = 0; i < head->thread_count; i++)
        view->threads[i] = threads[i].index;
    for (uint32_t i = 0; i < head->process_count; i++)
        view->processes[i] = processes[i].index;
    tv_free(work);
    tv_free(threads);
    tv_free(processes);
}

/* A track with the keys of its order. */
struct sortable_track {
    struct tv_view_track shown;
    const struct tv_trace *trace;
    const struct tv_track *track;
    uint32_t process, thread; /* their places; TV_NONE, the last one: none */
};

/* A thread's states follow its slices. */
static int order_of_track_kind(enum tv_track_kind kind)
{
    static const int places[] = {
        [TV_TRACK_THREAD] = 0, [TV_TRACK_STATES] = 1, [TV_TRACK_OVERFLOW] = 2,
        [TV_TRACK_ASYNC] = 3,  [TV_TRACK_CPU] = 4,
    };
    assert((size_t)kind < TV_COUNT(places));
    return places[kind];
}

/* Processors come first, by number. */
static int track_compare_by_owner(const void *left, const void *right)
{
    const struct sortable_track *a = left, *b = right;
    int order = ORDER(a->track->kind != TV_TRACK_CPU, b->track->kind != TV_TRACK_CPU);
    if (order == 0)
        order = ORDER(a->process, b->process);
    if (order == 0)
        order = ORDER(a->thread, b->thread);
    if (order == 0)
        order = ORDER(order_of_track_kind(a->track->kind), order_of_track_kind(b->track->kind));
    if (order == 0 && a->track->kind == TV_TRACK_CPU)
        order =
            ORDER(tv_cpu_number(a->trace, a->shown.track), tv_cpu_number(b->trace, b->shown.track));
    if (order == 0)
        order = order_compare_names(a->trace->head, a->track->name, b->track->name);
    return order ? order : ORDER(a->shown.track, b->shown.track);
}

/* Return the place of each index in an order. */
static uint32_t *order_places(const uint32_t *order, uint32_t count)
{
    uint32_t *places = tv_alloc(count, sizeof *places);
    for (uint32_t i = 0; i < count; i++)
        places[order[i]] = i;
    return places;
}

/* Sort the tracks by process and thread. */
static void order_tracks_by_owner(struct tv_view *view)
{
    const struct tv_trace *trace = view->trace;
    uint32_t count = trace->track_count;
    uint32_t *processes = order_places(view->processes, trace->head->process_count);
    uint32_t *threads = order_places(view->threads, trace->head->thread_count);
    struct sortable_track *keyed = tv_alloc(count, sizeof *keyed);
    for (uint32_t i = 0; i < count; i++) {
        const struct tv_track *track = &trace->tracks[i];
        bool owned = track->process < trace->head->process_count;
        keyed[i] = (struct sortable_track){
            view->tracks[i], trace, track, owned ? processes[track->process] : TV_NONE,
            track->thread == TV_NONE ? TV_NONE : threads[track->thread]};
    }
    if (count > 0)
        qsort(keyed, count, sizeof *keyed, track_compare_by_owner);
    for (uint32_t i = 0; i < count; i++)
        view->tracks[i] = keyed[i].shown;
    tv_free(keyed);
    tv_free(processes);
    tv_free(threads);
}

/* Write numbers with commas between them. */
static void order_write_indices(struct tv_out *out, const uint32_t *indices, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        tv_out_text(out, i > 0 ? "," : "");
        tv_out_u64(out, indices[i]);
    }
}

void tv_view_write_order(const struct tv_view *view, struct tv_out *out)
{
    /* A filter moves nothing. */
    const struct tv_view *whole = view->whole ? view->whole : view;
    const struct tv_trace_info *head = whole->trace->head;
    if (!whole->by_owner)
        return;
    tv_out_text(out, ",\"standing\":{\"processes\":[");
    order_write_indices(out, whole->processes, head->process_count);
    tv_out_text(out, "],\"threads\":[");
    order_write_indices(out, whole->threads, head->thread_count);
    tv_out_text(out, "]}");
}

/* Traces of formats with an assembly are ordered by owner: they have processes
 * and sort indices of their own. */
void tv_view_order_tracks(struct tv_view *view)
{
    const struct tv_trace_info *head = view->trace->head;
    uint32_t count = view->trace->track_count;
    for (uint32_t i = 0; i < head->input_count; i++)
        view->by_owner |= head->inputs[i].assembled;
    view->tracks = tv_alloc(count, sizeof *view->tracks);
    for (uint32_t i = 0; i < count; i++) {
        view->tracks[i].track = i;
        track_sum_calls(view->trace, &view->tracks[i]);
    }
    if (view->by_owner) {
        order_owners(view);
        order_tracks_by_owner(view);
    } else {
        qsort(view->tracks, count, sizeof *view->tracks,
              view->cpu ? track_compare_by_cpu : track_compare_by_wall);
    }
}
