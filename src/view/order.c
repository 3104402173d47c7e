/* SPDX-License-Identifier: Apache-2.0 */
#include "view/order.h"

#include <stdlib.h>

#include "analysis/states/states.h"
#include "base/bytes.h"
#include "base/memory.h"
#include "base/out.h"
#include "view/collate.h"

/* The sums of a track's calls of depth 0. */
/* Slices of one row that follow one another. */
struct stretch {
    uint32_t first, count;
};

struct stretches {
    struct stretch *rows;
    size_t count, capacity;
};

static void add_stretch(struct stretches *all, uint32_t first, uint32_t count)
{
    if (count == 0)
        return;
    all->rows = tv_array_reserve(all->rows, &all->capacity, all->count + 1, sizeof *all->rows);
    all->rows[all->count++] = (struct stretch){first, count};
}

/* The calls made by those whose CPU time is unknown go to `inside`. */
static void sum_stretch(const struct tv_trace *trace, uint32_t row, struct stretch stretch,
                        struct tv_view_track *track, struct stretches *inside)
{
    struct tv_slice slices[64];
    bool wall = tv_track_has_wall(trace, track->track) && trace->rows[row].depth == 0;
    for (uint32_t done = 0, count; done < stretch.count; done += count) {
        count = stretch.count - done;
        if (count > TV_COUNT(slices))
            count = TV_COUNT(slices);
        tv_slices_read(trace, row, stretch.first + done, count, slices);
        for (uint32_t i = 0; i < count; i++) {
            struct stretch made;
            tv_time_add(&track->wall, wall ? slices[i].length : 0);
            tv_time_add(&track->cpu, slices[i].cpu_length);
            if (!(slices[i].flags & TV_SLICE_NO_CPU))
                continue;
            tv_slice_children(trace, row, stretch.first + done + i, &made.first, &made.count);
            add_stretch(inside, made.first, made.count);
        }
    }
}

/* The calls of depth 0; for one without CPU time, that of the calls inside. */
static void sum_up(const struct tv_trace *trace, struct tv_view_track *track)
{
    const struct tv_track *t = &trace->tracks[track->track];
    struct stretches now = {NULL, 0, 0}, next = {NULL, 0, 0};
    if (t->row_count > 0)
        add_stretch(&now, 0, trace->rows[t->first_row].count);
    for (uint32_t row = t->first_row; now.count > 0; row++) {
        for (size_t i = 0; i < now.count; i++)
            sum_stretch(trace, row, now.rows[i], track, &next);
        struct stretches done = now;
        now = next;
        next = (struct stretches){done.rows, 0, done.capacity};
    }
    tv_free(now.rows);
    tv_free(next.rows);
}

static int compare_by_cpu(const void *left, const void *right)
{
    const struct tv_view_track *a = left, *b = right;
    if (a->cpu != b->cpu)
        return a->cpu > b->cpu ? -1 : 1;
    return (a->track > b->track) - (a->track < b->track);
}

static int compare_by_wall(const void *left, const void *right)
{
    const struct tv_view_track *a = left, *b = right;
    if (a->wall != b->wall)
        return a->wall > b->wall ? -1 : 1;
    return (a->track > b->track) - (a->track < b->track);
}

/* A track with what its place depends on. */
struct keyed {
    struct tv_view_track shown;
    const struct tv_trace *trace;
    const struct tv_head *head;
    const struct tv_track *track;
};

#define COMPARE(a, b) (((a) > (b)) - ((a) < (b)))

/* Those with a name come first. */
static int compare_names(const struct tv_head *head, uint32_t a, uint32_t b)
{
    if ((a == TV_EMPTY_STRING) != (b == TV_EMPTY_STRING))
        return a == TV_EMPTY_STRING ? 1 : -1;
    return a == b ? 0 : tv_collate(tv_head_text(head, a), tv_head_text(head, b));
}

static int compare_processes(const struct tv_head *head, uint32_t a, uint32_t b)
{
    if (a == b || a >= head->process_count || b >= head->process_count)
        return COMPARE(a, b);
    const struct tv_process *left = &head->processes[a], *right = &head->processes[b];
    if (left->sort_index != right->sort_index)
        return COMPARE(left->sort_index, right->sort_index);
    int names = compare_names(head, left->name, right->name);
    int labels = names ? names : compare_names(head, left->labels, right->labels);
    if (labels)
        return labels;
    return left->id != right->id ? COMPARE(left->id, right->id) : COMPARE(a, b);
}

/* TV_NONE, the tracks of a whole process, comes last. */
static int compare_threads(const struct tv_head *head, uint32_t a, uint32_t b)
{
    if (a == b || a == TV_NONE || b == TV_NONE)
        return COMPARE(a, b);
    const struct tv_thread *left = &head->threads[a], *right = &head->threads[b];
    if (left->sort_index != right->sort_index)
        return COMPARE(left->sort_index, right->sort_index);
    int names = compare_names(head, left->name, right->name);
    if (names)
        return names;
    return left->id != right->id ? COMPARE(left->id, right->id) : COMPARE(a, b);
}

/* Under a thread's slices stand its states. */
static int place_of_kind(enum tv_track_kind kind)
{
    static const int places[] = {
        [TV_TRACK_THREAD] = 0, [TV_TRACK_STATES] = 1, [TV_TRACK_OVERFLOW] = 2,
        [TV_TRACK_ASYNC] = 3,  [TV_TRACK_CPU] = 4,
    };
    return places[kind];
}

/* Processors come first, in the order of their numbers. */
static int compare_by_owner(const void *left, const void *right)
{
    const struct keyed *a = left, *b = right;
    int order = COMPARE(a->track->kind != TV_TRACK_CPU, b->track->kind != TV_TRACK_CPU);
    if (order == 0)
        order = compare_processes(a->head, a->track->process, b->track->process);
    if (order == 0)
        order = compare_threads(a->head, a->track->thread, b->track->thread);
    if (order == 0 && a->track->kind != b->track->kind)
        order = COMPARE(place_of_kind(a->track->kind), place_of_kind(b->track->kind));
    if (order == 0 && a->track->kind == TV_TRACK_CPU)
        order = COMPARE(tv_cpu_number(a->trace, a->shown.track),
                        tv_cpu_number(b->trace, b->shown.track));
    if (order == 0)
        order = compare_names(a->head, a->track->name, b->track->name);
    return order ? order : COMPARE(a->shown.track, b->shown.track);
}

/* A process or thread whose place is sought. */
struct place {
    const struct tv_head *head;
    uint32_t index;
};

static int compare_process_places(const void *left, const void *right)
{
    const struct place *a = left, *b = right;
    return compare_processes(a->head, a->index, b->index);
}

static int compare_thread_places(const void *left, const void *right)
{
    const struct place *a = left, *b = right;
    return compare_threads(a->head, a->index, b->index);
}

static void write_order(struct tv_out *out, const struct tv_head *head, uint32_t count,
                        int (*compare)(const void *, const void *))
{
    struct place *places = tv_alloc(count, sizeof *places);
    for (uint32_t i = 0; i < count; i++)
        places[i] = (struct place){head, i};
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
    const struct tv_head *head = view->trace->head;
    if (!view->by_owner)
        return;
    tv_out_text(out, ",\"standing\":{\"processes\":[");
    write_order(out, head, head->process_count, compare_process_places);
    tv_out_text(out, "],\"threads\":[");
    write_order(out, head, head->thread_count, compare_thread_places);
    tv_out_text(out, "]}");
}

static void order_by_owner(struct tv_view *view)
{
    uint32_t count = view->trace->track_count;
    struct keyed *keyed = tv_alloc(count, sizeof *keyed);
    for (uint32_t i = 0; i < count; i++)
        keyed[i] = (struct keyed){view->tracks[i], view->trace, view->trace->head,
                                  &view->trace->tracks[i]};
    qsort(keyed, count, sizeof *keyed, compare_by_owner);
    for (uint32_t i = 0; i < count; i++)
        view->tracks[i] = keyed[i].shown;
    tv_free(keyed);
}

void tv_view_order_tracks(struct tv_view *view)
{
    const struct tv_head *head = view->trace->head;
    uint32_t count = view->trace->track_count;
    for (uint32_t i = 0; i < head->input_count; i++)
        view->by_owner |= head->inputs[i].assembled;
    view->tracks = tv_alloc(count, sizeof *view->tracks);
    for (uint32_t i = 0; i < count; i++) {
        view->tracks[i].track = i;
        sum_up(view->trace, &view->tracks[i]);
    }
    if (view->by_owner)
        order_by_owner(view);
    else
        qsort(view->tracks, count, sizeof *view->tracks,
              view->cpu ? compare_by_cpu : compare_by_wall);
}
