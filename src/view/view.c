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
    enum tv_answer_type type;
} questions[] = {
    {"trace", tv_view_trace, TV_ANSWER_JSON},
    {"frames", tv_view_frames, TV_ANSWER_JSON},
    {"profile", tv_view_profile, TV_ANSWER_JSON},
    {"relations", tv_view_relations, TV_ANSWER_JSON},
    {"tree", tv_view_tree, TV_ANSWER_BYTES},
    {"sample_tree", tv_view_sample_tree, TV_ANSWER_BYTES},
    {"slice", tv_view_slice, TV_ANSWER_JSON},
    {"step", tv_view_step, TV_ANSWER_JSON},
    {"extents", tv_view_extents, TV_ANSWER_JSON},
    {"tiles", tv_view_tiles, TV_ANSWER_BYTES},
    {"flame", tv_view_flame, TV_ANSWER_BYTES},
    {"activity", tv_view_activity, TV_ANSWER_BYTES},
    {"counters", tv_view_counters, TV_ANSWER_JSON},
    {"counter_values", tv_view_counter_values, TV_ANSWER_BYTES},
    {"instants", tv_view_instants, TV_ANSWER_JSON},
    {"instant", tv_view_instant, TV_ANSWER_JSON},
    {"flows", tv_view_flows, TV_ANSWER_JSON},
    {"flow", tv_view_flow, TV_ANSWER_JSON},
    {"flow_categories", tv_view_flow_categories, TV_ANSWER_JSON},
    {"arrows", tv_view_arrows, TV_ANSWER_JSON},
    {"beside", tv_view_beside, TV_ANSWER_JSON},
    {"objects", tv_view_objects, TV_ANSWER_JSON},
    {"object", tv_view_object, TV_ANSWER_JSON},
    {"snapshot", tv_view_snapshot, TV_ANSWER_JSON},
    {"reference", tv_view_reference, TV_ANSWER_JSON},
    {"samples", tv_view_samples, TV_ANSWER_JSON},
    {"sample", tv_view_sample, TV_ANSWER_JSON},
    {"sample_flame", tv_view_sample_flame, TV_ANSWER_BYTES},
    {"memory_dumps", tv_view_memory_dumps, TV_ANSWER_JSON},
    {"memory_dump", tv_view_memory_dump, TV_ANSWER_JSON},
    {"search", tv_view_search, TV_ANSWER_JSON},
    {"search_frames", tv_view_search_frames, TV_ANSWER_JSON},
    {"states", tv_view_states, TV_ANSWER_JSON},
    {"state", tv_view_state, TV_ANSWER_JSON},
    {"statistics", tv_view_statistics, TV_ANSWER_JSON},
    {"findings", tv_view_findings, TV_ANSWER_JSON},
    {"facts", tv_view_facts, TV_ANSWER_JSON},
    {"flamegraph", tv_view_flamegraph, TV_ANSWER_SVG},
    {"collapsed", tv_view_collapsed, TV_ANSWER_TEXT},
    {"same", tv_view_same, TV_ANSWER_JSON},
    {"save", tv_view_save, TV_ANSWER_BYTES},
    {"health", tv_view_health, TV_ANSWER_JSON},
    {"at", tv_view_at, TV_ANSWER_JSON},
    {"bytes", tv_view_bytes, TV_ANSWER_JSON},
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

void tv_view_set_reporter(struct tv_view *view, const struct tv_view_reporter *reporter)
{
    view->reporter = reporter;
}

void tv_view_keep(const struct tv_view *view, struct tv_sections_writer *writer)
{
    tv_pyramid_keep(view->pyramid, writer);
    tv_trees_keep(view->trees, writer);
}

/* The place of a question in the table, or TV_COUNT(questions). */
static size_t find_question(struct tv_bytes name)
{
    size_t i = 0;
    while (i < TV_COUNT(questions) && !tv_bytes_equal(name, tv_bytes_of(questions[i].name)))
        i++;
    return i;
}

const char *tv_answer_type_name(enum tv_answer_type type)
{
    static const char *const names[] = {
        [TV_ANSWER_JSON] = "application/json",
        [TV_ANSWER_BYTES] = "application/octet-stream",
        [TV_ANSWER_SVG] = "image/svg+xml",
        [TV_ANSWER_TEXT] = "text/plain; charset=utf-8",
    };
    return names[type];
}

bool tv_view_knows(struct tv_bytes name, enum tv_answer_type *type)
{
    size_t i = find_question(name);
    *type = i < TV_COUNT(questions) ? questions[i].type : TV_ANSWER_JSON;
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
