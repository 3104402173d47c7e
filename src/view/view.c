/* SPDX-License-Identifier: Apache-2.0 */
#include "view/view.h"

#include "base/bytes.h"
#include "base/memory.h"
#include "view/filtered.h"
#include "view/flow_index.h"
#include "view/object_index.h"
#include "view/order.h"
#include "view/state.h"

static const struct {
    const char *name;
    tv_view_function *answer;
    bool binary;
} questions[] = {
    {"trace", tv_view_trace, false},
    {"frames", tv_view_frames, false},
    {"profile", tv_view_profile, false},
    {"relations", tv_view_relations, false},
    {"tree", tv_view_tree, true},
    {"sample_tree", tv_view_sample_tree, true},
    {"slice", tv_view_slice, false},
    {"step", tv_view_step, false},
    {"extents", tv_view_extents, false},
    {"tiles", tv_view_tiles, true},
    {"flame", tv_view_flame, true},
    {"activity", tv_view_activity, true},
    {"counters", tv_view_counters, false},
    {"counter_values", tv_view_counter_values, true},
    {"instants", tv_view_instants, false},
    {"instant", tv_view_instant, false},
    {"flows", tv_view_flows, false},
    {"flow", tv_view_flow, false},
    {"flow_categories", tv_view_flow_categories, false},
    {"arrows", tv_view_arrows, false},
    {"beside", tv_view_beside, false},
    {"objects", tv_view_objects, false},
    {"object", tv_view_object, false},
    {"snapshot", tv_view_snapshot, false},
    {"reference", tv_view_reference, false},
    {"samples", tv_view_samples, false},
    {"sample", tv_view_sample, false},
    {"sample_flame", tv_view_sample_flame, true},
    {"memory_dumps", tv_view_memory_dumps, false},
    {"memory_dump", tv_view_memory_dump, false},
    {"search", tv_view_search, false},
    {"search_frames", tv_view_search_frames, false},
    {"states", tv_view_states, false},
    {"state", tv_view_state, false},
    {"statistics", tv_view_statistics, false},
    {"findings", tv_view_findings, false},
    {"same", tv_view_same, false},
    {"save", tv_view_save, true},
    {"health", tv_view_health, false},
    {"at", tv_view_at, false},
    {"bytes", tv_view_bytes, false},
};

static uint32_t *find_ranks(struct tv_view *view)
{
    struct tv_selection all = TV_SELECT_ALL;
    struct tv_profile *profile = tv_profile_of_tree(tv_trees_enter(view->trees, &all));
    tv_trees_leave(view->trees);
    uint32_t *rank = tv_profile_ranks(profile);
    tv_profile_free(profile);
    return rank;
}

/* Of a thread with several tracks it is the one of its nested slices, which stands first. */
static uint32_t *find_thread_tracks(const struct tv_trace *trace)
{
    uint32_t *tracks = tv_alloc(trace->head->thread_count, sizeof *tracks);
    for (uint32_t i = 0; i < trace->head->thread_count; i++)
        tracks[i] = TV_NONE;
    for (uint32_t i = trace->track_count; i-- > 0;)
        if (tv_track_has_calls(&trace->tracks[i]) && trace->tracks[i].thread != TV_NONE)
            tracks[trace->tracks[i].thread] = i;
    return tracks;
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
    tv_trees_prepare(view->trees);
    view->flows = tv_flow_index_new(trace);
    view->objects = tv_object_index_new(trace);
    view->rank = find_ranks(view);
    view->thread_track = find_thread_tracks(trace);
    tv_view_order_tracks(view);
    view->filtered = tv_filtered_views_new(view);
    return view;
}

void tv_view_free(struct tv_view *view)
{
    if (!view)
        return;
    tv_filtered_views_free(view->filtered);
    tv_trees_free(view->trees);
    tv_flow_index_free(view->flows);
    tv_object_index_free(view->objects);
    tv_pyramid_free(view->pyramid);
    tv_free(view->rank);
    tv_free(view->thread_track);
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

bool tv_view_is_large(struct tv_bytes name)
{
    size_t i = find_question(name);
    return i < TV_COUNT(questions) && questions[i].answer == tv_view_save;
}

enum tv_status tv_view_answer(const struct tv_view *view, const struct tv_view_question *question,
                              struct tv_out *out, struct tv_error *err)
{
    struct tv_parameters parameters = {question->parameters, question->count};
    size_t i = find_question(question->name);
    if (i == TV_COUNT(questions))
        return tv_fail(err, TV_ERR_USAGE, TV_NO_OFFSET, "there is no such question");
    struct tv_bytes filter = tv_parameter_text(&parameters, "filter");
    struct tv_filtered *filtered;
    if (filter.length == 0)
        return questions[i].answer(view, &parameters, out, err);
    if (tv_filtered_enter(view->filtered, filter, &filtered, err) != TV_OK)
        return TV_ERR_USAGE;
    enum tv_status status = questions[i].answer(tv_filtered_view(filtered), &parameters, out, err);
    tv_filtered_leave(view->filtered, filtered);
    return status;
}
