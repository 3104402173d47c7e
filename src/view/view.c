/* SPDX-License-Identifier: Apache-2.0 */
#include "view/view.h"

#include <stdlib.h>

#include "base/bytes.h"
#include "base/memory.h"
#include "view/state.h"

static const struct {
    const char *name;
    tv_view_function *answer;
    bool binary;
} questions[] = {
    {"trace", tv_view_trace, false},     {"frames", tv_view_frames, false},
    {"profile", tv_view_profile, false}, {"relations", tv_view_relations, false},
    {"slice", tv_view_slice, false},     {"step", tv_view_step, false},
    {"extents", tv_view_extents, false}, {"tiles", tv_view_tiles, true},
    {"flame", tv_view_flame, true},      {"activity", tv_view_activity, true},
};

/* The sums of a track's calls of depth 0. */
static void sum_up(const struct tv_trace *trace, struct tv_view_track *track)
{
    const struct tv_track *t = &trace->tracks[track->track];
    struct tv_slice slices[64];
    bool wall = tv_track_has_wall(trace, track->track);
    if (t->row_count == 0)
        return;
    for (uint32_t first = 0, count; first < trace->rows[t->first_row].count; first += count) {
        count = trace->rows[t->first_row].count - first;
        if (count > TV_COUNT(slices))
            count = TV_COUNT(slices);
        tv_slices_read(trace, t->first_row, first, count, slices);
        for (uint32_t i = 0; i < count; i++) {
            track->wall += wall ? slices[i].length : 0;
            track->cpu += slices[i].cpu_length;
        }
    }
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

static void order_tracks(struct tv_view *view)
{
    uint32_t count = view->trace->track_count;
    view->tracks = tv_alloc(count, sizeof *view->tracks);
    for (uint32_t i = 0; i < count; i++) {
        view->tracks[i].track = i;
        sum_up(view->trace, &view->tracks[i]);
    }
    qsort(view->tracks, count, sizeof *view->tracks, view->cpu ? compare_by_cpu : compare_by_wall);
}

static uint32_t *find_ranks(struct tv_view *view)
{
    struct tv_selection all = TV_SELECT_ALL;
    struct tv_profile *profile = tv_profile_of_tree(tv_trees_enter(view->trees, &all));
    tv_trees_leave(view->trees);
    uint32_t *rank = tv_profile_ranks(profile);
    tv_profile_free(profile);
    return rank;
}

struct tv_view *tv_view_new(const struct tv_trace *trace)
{
    struct tv_view *view = tv_alloc(1, sizeof *view);
    unsigned clocks = tv_head_clocks(trace->head);
    view->trace = trace;
    view->wall = clocks & TV_CLOCK_WALL;
    view->cpu = clocks & TV_CLOCK_CPU;
    view->pyramid = tv_pyramid_new(trace, 0);
    view->trees = tv_trees_new(trace);
    view->rank = find_ranks(view);
    order_tracks(view);
    return view;
}

void tv_view_free(struct tv_view *view)
{
    if (!view)
        return;
    tv_trees_free(view->trees);
    tv_pyramid_free(view->pyramid);
    tv_free(view->rank);
    tv_free(view->tracks);
    tv_free(view);
}

/* The place of a question in the table, or TV_COUNT(questions). */
static size_t find_question(struct tv_bytes name)
{
    size_t i = 0;
    while (i < TV_COUNT(questions) && !tv_bytes_equal(name, tv_bytes_of(questions[i].name)))
        i++;
    return i;
}

bool tv_view_knows(struct tv_bytes name, bool *binary)
{
    size_t i = find_question(name);
    *binary = i < TV_COUNT(questions) && questions[i].binary;
    return i < TV_COUNT(questions);
}

enum tv_status tv_view_answer(const struct tv_view *view, const struct tv_view_question *question,
                              struct tv_out *out, struct tv_error *err)
{
    struct tv_parameters parameters = {question->parameters, question->count};
    size_t i = find_question(question->name);
    if (i == TV_COUNT(questions))
        return tv_fail(err, TV_ERR_USAGE, TV_NO_OFFSET, "there is no such question");
    return questions[i].answer(view, &parameters, out, err);
}
