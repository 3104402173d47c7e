/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The order of tracks on the screen, and the collation of names.
 */
#include <stdlib.h>
#include <string.h>

#include "analysis/states/states.h"
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

int tv_collate(struct tv_bytes a, struct tv_bytes b)
{
    size_t shorter = a.length < b.length ? a.length : b.length;
    for (size_t i = 0; i < shorter; i++) {
        int order = collation_weight(a.data[i]) - collation_weight(b.data[i]);
        if (order)
            return order;
    }
    if (a.length != b.length)
        return a.length < b.length ? -1 : 1;
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

/* Add up a run; the children of calls without CPU time are appended to `inside`. */
static void track_sum_run(const struct tv_trace *trace, uint32_t row, struct track_run run,
                          struct tv_view_track *track, struct track_runs *inside)
{
    struct tv_slice slices[64];
    bool wall = tv_track_has_wall(trace, track->track) && trace->rows[row].depth == 0;
    for (uint32_t done = 0, count; done < run.count; done += count) {
        count = run.count - done;
        if (count > TV_COUNT(slices))
            count = TV_COUNT(slices);
        tv_slices_read(trace, row, run.first + done, count, slices);
        for (uint32_t i = 0; i < count; i++) {
            struct track_run made;
            tv_time_add(&track->wall, wall ? slices[i].length : 0);
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
    for (uint32_t row = t->first_row; now.count > 0; row++) {
        for (size_t i = 0; i < now.count; i++)
            track_sum_run(trace, row, now.rows[i], track, &next);
        struct track_runs done = now;
        now = next;
        next = (struct track_runs){done.rows, 0, done.capacity};
    }
    tv_free(now.rows);
    tv_free(next.rows);
}

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

/* A track with what it is sorted by. */
struct sortable_track {
    struct tv_view_track shown;
    const struct tv_trace *trace;
    const struct tv_trace_info *head;
    const struct tv_track *track;
};

#define ORDER(a, b) (((a) > (b)) - ((a) < (b)))

/* Named ones come first. */
static int order_compare_names(const struct tv_trace_info *head, uint32_t a, uint32_t b)
{
    if ((a == TV_EMPTY_STRING) != (b == TV_EMPTY_STRING))
        return a == TV_EMPTY_STRING ? 1 : -1;
    return a == b ? 0 : tv_collate(tv_trace_info_text(head, a), tv_trace_info_text(head, b));
}

/* Compare processes by sort index, name, labels and id. */
static int order_compare_processes(const struct tv_trace_info *head, uint32_t a, uint32_t b)
{
    if (a == b || a >= head->process_count || b >= head->process_count)
        return ORDER(a, b);
    const struct tv_process *left = &head->processes[a], *right = &head->processes[b];
    if (left->sort_index != right->sort_index)
        return ORDER(left->sort_index, right->sort_index);
    int names = order_compare_names(head, left->name, right->name);
    int labels = names ? names : order_compare_names(head, left->labels, right->labels);
    if (labels)
        return labels;
    return left->id != right->id ? ORDER(left->id, right->id) : ORDER(a, b);
}

/* TV_NONE, the tracks of a process, comes last. */
static int order_compare_threads(const struct tv_trace_info *head, uint32_t a, uint32_t b)
{
    if (a == b || a == TV_NONE || b == TV_NONE)
        return ORDER(a, b);
    const struct tv_thread *left = &head->threads[a], *right = &head->threads[b];
    if (left->sort_index != right->sort_index)
        return ORDER(left->sort_index, right->sort_index);
    int names = order_compare_names(head, left->name, right->name);
    if (names)
        return names;
    return left->id != right->id ? ORDER(left->id, right->id) : ORDER(a, b);
}

/* A thread's states follow its slices. */
static int order_of_track_kind(enum tv_track_kind kind)
{
    static const int places[] = {
        [TV_TRACK_THREAD] = 0, [TV_TRACK_STATES] = 1, [TV_TRACK_OVERFLOW] = 2,
        [TV_TRACK_ASYNC] = 3,  [TV_TRACK_CPU] = 4,
    };
    return places[kind];
}

/* Processors come first, by number. */
static int track_compare_by_owner(const void *left, const void *right)
{
    const struct sortable_track *a = left, *b = right;
    int order = ORDER(a->track->kind != TV_TRACK_CPU, b->track->kind != TV_TRACK_CPU);
    if (order == 0)
        order = order_compare_processes(a->head, a->track->process, b->track->process);
    if (order == 0)
        order = order_compare_threads(a->head, a->track->thread, b->track->thread);
    if (order == 0 && a->track->kind != b->track->kind)
        order = ORDER(order_of_track_kind(a->track->kind), order_of_track_kind(b->track->kind));
    if (order == 0 && a->track->kind == TV_TRACK_CPU)
        order =
            ORDER(tv_cpu_number(a->trace, a->shown.track), tv_cpu_number(b->trace, b->shown.track));
    if (order == 0)
        order = order_compare_names(a->head, a->track->name, b->track->name);
    return order ? order : ORDER(a->shown.track, b->shown.track);
}

/* A process or thread to be sorted. */
struct sortable_owner {
    const struct tv_trace_info *head;
    uint32_t index;
};

static int owner_compare_processes(const void *left, const void *right)
{
    const struct sortable_owner *a = left, *b = right;
    return order_compare_processes(a->head, a->index, b->index);
}

static int owner_compare_threads(const void *left, const void *right)
{
    const struct sortable_owner *a = left, *b = right;
    return order_compare_threads(a->head, a->index, b->index);
}

/* Write processes or threads in order, as a list of indices. */
static void order_write_owners(struct tv_out *out, const struct tv_trace_info *head, uint32_t count,
                               int (*compare)(const void *, const void *))
{
    struct sortable_owner *places = tv_alloc(count, sizeof *places);
    for (uint32_t i = 0; i < count; i++)
        places[i] = (struct sortable_owner){head, i};
    if (count > 0)
        qsort(places, count, sizeof *places, compare);
    for (uint32_t i = 0; i < count; i++) {
        tv_out_text(out, i > 0 ? "," : "");
        tv_out_u64(out, places[i].index);
    }
    tv_free(places);
}

void tv_view_write_order(const struct tv_view *view, struct tv_out *out)
{
    const struct tv_trace_info *head = view->trace->head;
    if (!view->by_owner)
        return;
    tv_out_text(out, ",\"standing\":{\"processes\":[");
    order_write_owners(out, head, head->process_count, owner_compare_processes);
    tv_out_text(out, "],\"threads\":[");
    order_write_owners(out, head, head->thread_count, owner_compare_threads);
    tv_out_text(out, "]}");
}

/* Sort the tracks by process and thread. */
static void order_tracks_by_owner(struct tv_view *view)
{
    uint32_t count = view->trace->track_count;
    struct sortable_track *keyed = tv_alloc(count, sizeof *keyed);
    for (uint32_t i = 0; i < count; i++)
        keyed[i] = (struct sortable_track){view->tracks[i], view->trace, view->trace->head,
                                           &view->trace->tracks[i]};
    qsort(keyed, count, sizeof *keyed, track_compare_by_owner);
    for (uint32_t i = 0; i < count; i++)
        view->tracks[i] = keyed[i].shown;
    tv_free(keyed);
}

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
    if (view->by_owner)
        order_tracks_by_owner(view);
    else
        qsort(view->tracks, count, sizeof *view->tracks,
              view->cpu ? track_compare_by_cpu : track_compare_by_wall);
}
