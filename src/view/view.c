/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The table of questions, and the limits of their answers.
 *
 *   name, parameters -> filter? -> view (whole or filtered) -> endpoint -> out, bounded
 *
 * A view is made once for each trace and prepares everything that several questions need.  Except
 * for its caches, which lock, it never changes afterwards, so any number of threads may ask at the
 * same time.
 *
 * Servers answer strangers, so no answer may take memory without limit.  The bound depends on the
 * size of the trace's files: a large trace may have large answers, and one question about a small
 * file can never fill the memory.
 */
#include "view/view.h"

#include <assert.h>

#include "analysis/findings/display_frames.h"
#include "base/bytes.h"
#include "base/memory.h"
#include "view/internal.h"

/* Limits of answers: a minimum, plus a number of bytes per byte of the trace's files, for answers
 * that a page holds in memory and for those that are saved as a file. */
#define BOUND_MIN ((uint64_t)64 << 20)
#define BOUND_SHOWN 16
#define BOUND_SHOWN_MAX ((uint64_t)512 << 20) /* no browser parses a longer text */
#define BOUND_FILE 64

/* A page asks for a question by its name.  `command` goes into the error of an
 * answer that is too long. */
static const struct {
    const char *name;
    tv_view_function *answer;
    enum tv_answer_type type;
    const char *command; /* command that writes all of it; NULL: none */
} questions[] = {
    {"trace", tv_view_trace, TV_ANSWER_JSON, "dump --format jsonl"},
    {"frames", tv_view_frames, TV_ANSWER_JSON, "dump --format jsonl"},
    {"profile", tv_view_profile, TV_ANSWER_JSON, "profile"},
    {"relations", tv_view_relations, TV_ANSWER_JSON, "profile"},
    {"sample_profile", tv_view_sample_profile, TV_ANSWER_JSON, "profile"},
    {"sample_relations", tv_view_sample_relations, TV_ANSWER_JSON, "profile"},
    {"tree", tv_view_tree, TV_ANSWER_BYTES, "tree"},
    {"sample_tree", tv_view_sample_tree, TV_ANSWER_BYTES, "collapse --samples count"},
    {"slice", tv_view_slice, TV_ANSWER_JSON, "dump --format jsonl"},
    {"inside", tv_view_inside, TV_ANSWER_JSON, NULL},
    {"step", tv_view_step, TV_ANSWER_JSON, NULL},
    {"extents", tv_view_extents, TV_ANSWER_JSON, "dump --format jsonl"},
    {"tiles", tv_view_tiles, TV_ANSWER_BYTES, NULL},
    {"flame", tv_view_flame, TV_ANSWER_BYTES, "flamegraph"},
    {"activity", tv_view_activity, TV_ANSWER_BYTES, NULL},
    {"counters", tv_view_counters, TV_ANSWER_JSON, "counters"},
    {"counter_values", tv_view_counter_values, TV_ANSWER_BYTES, NULL},
    {"counter_figures", tv_view_counter_figures, TV_ANSWER_JSON, "counters"},
    {"counter_step", tv_view_counter_step, TV_ANSWER_JSON, NULL},
    {"instants", tv_view_instants, TV_ANSWER_JSON, "dump --format jsonl"},
    {"instant", tv_view_instant, TV_ANSWER_JSON, NULL},
    {"flows", tv_view_flows, TV_ANSWER_JSON, NULL},
    {"flow", tv_view_flow, TV_ANSWER_JSON, NULL},
    {"flow_categories", tv_view_flow_categories, TV_ANSWER_JSON, NULL},
    {"arrows", tv_view_arrows, TV_ANSWER_JSON, NULL},
    {"beside", tv_view_beside, TV_ANSWER_JSON, NULL},
    {"objects", tv_view_objects, TV_ANSWER_JSON, NULL},
    {"object", tv_view_object, TV_ANSWER_JSON, NULL},
    {"snapshot", tv_view_snapshot, TV_ANSWER_JSON, NULL},
    {"reference", tv_view_reference, TV_ANSWER_JSON, NULL},
    {"samples", tv_view_samples, TV_ANSWER_JSON, NULL},
    {"sample", tv_view_sample, TV_ANSWER_JSON, NULL},
    {"sample_chart", tv_view_sample_chart, TV_ANSWER_JSON, NULL},
    {"sample_flame", tv_view_sample_flame, TV_ANSWER_BYTES, NULL},
    {"memory_dumps", tv_view_memory_dumps, TV_ANSWER_JSON, NULL},
    {"memory_dump", tv_view_memory_dump, TV_ANSWER_JSON, NULL},
    {"search", tv_view_search, TV_ANSWER_JSON, "dump --format jsonl"},
    {"search_frames", tv_view_search_frames, TV_ANSWER_JSON, NULL},
    {"search_step", tv_view_search_step, TV_ANSWER_JSON, NULL},
    {"states", tv_view_states, TV_ANSWER_JSON, "states"},
    {"state", tv_view_state, TV_ANSWER_JSON, NULL},
    {"statistics", tv_view_statistics, TV_ANSWER_JSON, "profile"},
    {"findings", tv_view_findings, TV_ANSWER_JSON, "check"},
    {"display_frames", tv_view_display_frames, TV_ANSWER_JSON, "frames"},
    {"display_marks", tv_view_display_marks, TV_ANSWER_JSON, NULL},
    {"facts", tv_view_facts, TV_ANSWER_JSON, "info"},
    {"flamegraph", tv_view_flamegraph, TV_ANSWER_SVG, "flamegraph"},
    {"collapsed", tv_view_collapsed, TV_ANSWER_TEXT, "collapse"},
    {"same", tv_view_same, TV_ANSWER_JSON, NULL},
    {"save", tv_view_save, TV_ANSWER_BYTES, "cut"},
    {"health", tv_view_health, TV_ANSWER_JSON, "check"},
    {"at", tv_view_at, TV_ANSWER_JSON, NULL},
    {"bytes", tv_view_bytes, TV_ANSWER_JSON, NULL},
};

/* Return the rank of each frame in the whole trace, which gives the frame its colour, whatever is
 * selected. */
static uint32_t *view_find_ranks(struct tv_view *view)
{
    struct tv_selection all = TV_SELECT_ALL;
    struct tv_profile *profile = tv_profile_of_tree(tv_trees_enter(view->trees, &all));
    tv_trees_leave(view->trees);
    uint32_t *rank = tv_profile_ranks(profile);
    tv_profile_free(profile);
    return rank;
}

/* Find the track of each thread: the first one, which holds its nested slices. */
static uint32_t *view_find_thread_tracks(const struct tv_trace *trace)
{
    uint32_t *tracks = tv_alloc(trace->head->thread_count, sizeof *tracks);
    for (uint32_t i = 0; i < trace->head->thread_count; i++)
        tracks[i] = TV_NONE;
    for (uint32_t i = trace->track_count; i-- > 0;)
        if (tv_track_has_calls(&trace->tracks[i]) && trace->tracks[i].thread != TV_NONE) {
            assert(trace->tracks[i].thread < trace->head->thread_count);
            tracks[trace->tracks[i].thread] = i;
        }
    return tracks;
}

/* The order matters: ranks need the call trees, the order of tracks needs
 * clocks, and a filtered view is made from all of these. */
struct tv_view *tv_view_new(const struct tv_trace *trace)
{
    struct tv_view *view = tv_alloc(1, sizeof *view);
    unsigned clocks = tv_trace_info_clocks(trace->head);
    view->trace = trace;
    view->wall = clocks & TV_CLOCK_WALL;
    view->cpu = clocks & TV_CLOCK_CPU;
    view->pyramid = tv_pyramid_new(trace, 0);
    view->trees = tv_trees_new(trace);
    tv_trees_prepare(view->trees);
    view->flows = tv_flow_index_new(trace);
    view->objects = tv_object_index_new(trace);
    view->display = tv_display_cache_new(trace, true);
    view->rank = view_find_ranks(view);
    view->thread_track = view_find_thread_tracks(trace);
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
    tv_display_cache_free(view->display);
    tv_pyramid_free(view->pyramid);
    tv_free(view->rank);
    tv_free(view->thread_track);
    tv_free(view->tracks);
    tv_free(view->processes);
    tv_free(view->threads);
    tv_free(view);
}

void tv_view_set_reporter(struct tv_view *view, const struct tv_view_reporter *reporter)
{
    view->reporter = reporter;
}

void tv_view_store(const struct tv_view *view, struct tv_sections_writer *writer)
{
    tv_pyramid_store(view->pyramid, writer);
    tv_trees_store(view->trees, writer);
}

/* Return the index of a question in the table, or TV_COUNT(questions). */
static size_t view_find_question(struct tv_bytes name)
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
    assert((size_t)type < TV_COUNT(names));
    return names[type];
}

bool tv_view_find_question(struct tv_bytes name, enum tv_answer_type *type)
{
    size_t i = view_find_question(name);
    *type = i < TV_COUNT(questions) ? questions[i].type : TV_ANSWER_JSON;
    return i < TV_COUNT(questions);
}

/* Answers that are saved as a file may be larger than those that a page holds
 * in memory. */
bool tv_view_is_large(struct tv_bytes name)
{
    size_t i = view_find_question(name);
    return i < TV_COUNT(questions) &&
           (questions[i].answer == tv_view_save || questions[i].answer == tv_view_collapsed ||
            questions[i].answer == tv_view_flamegraph);
}

uint64_t tv_view_bound(const struct tv_view *view, struct tv_bytes name)
{
    const struct tv_trace_info *head = view->trace->head;
    uint64_t bytes = 0, most = tv_view_is_large(name) ? UINT64_MAX / 2 : BOUND_SHOWN_MAX;
    uint64_t each = tv_view_is_large(name) ? BOUND_FILE : BOUND_SHOWN;
    /* The sizes are those of the unpacked files. */
    for (uint32_t i = 0; i < head->input_count; i++)
        bytes += head->inputs[i].bytes;
    return bytes < (most - BOUND_MIN) / each ? BOUND_MIN + bytes * each : most;
}

/* Answer within the bound.  If the answer is longer, take back what is still in memory. */
static enum tv_status view_answer_within(const struct tv_view *view, size_t question,
                                         const struct tv_parameters *parameters, struct tv_out *out,
                                         struct tv_error *err)
{
    assert(question < TV_COUNT(questions));
    uint64_t bound = tv_view_bound(view, tv_bytes_of(questions[question].name));
    const char *command = questions[question].command;
    tv_out_set_limit(out, bound);
    enum tv_status status = questions[question].answer(view, parameters, out, err);
    bool over = out->error.status == TV_ERR_LIMIT || out->total + out->length > bound;
    if (status == TV_OK && over)
        status = tv_fail(err, TV_ERR_LIMIT, TV_NO_OFFSET, "the answer has more than %llu MiB%s%s%s",
                         (unsigned long long)(bound >> 20), command ? ": \"traceview " : "",
                         command ? command : "", command ? "\" writes all of it" : "");
    /* Bytes that were sent cannot be taken back; the host breaks the
     * connection. */
    if (out->total > 0)
        return status;
    tv_out_set_limit(out, 0);
    if (status == TV_ERR_LIMIT) {
        out->length = 0;
        out->error.status = TV_OK;
    }
    return status;
}

/* A longer answer is generated twice, once to measure and once to send.  Most reports are
 * shorter, and as many of them as an engine answers at once fit into its memory limit. */
#define HELD_MAX ((size_t)2 << 20)

/* An answer that is held back until it is complete. */
struct held_answer {
    struct tv_out bytes;
    bool more; /* longer than HELD_MAX: only counted */
};

/* Hold the bytes back, or only count them when there are too many. */
static enum tv_status view_hold_bytes(void *context, struct tv_bytes bytes, struct tv_error *err)
{
    struct held_answer *held = context;
    (void)err;
    held->more = held->more || bytes.length > HELD_MAX - held->bytes.length;
    if (!held->more)
        tv_out_bytes(&held->bytes, bytes);
    return TV_OK;
}

/* Answer a question whose length nothing else measures.  A host that streams cannot take anything
 * back, so the first byte is sent once the last one is known to come. */
static enum tv_status view_answer_bounded(const struct tv_view *view, size_t question,
                                          const struct tv_parameters *parameters,
                                          struct tv_out *out, struct tv_error *err)
{
    if (!out->write || questions[question].answer != tv_view_save)
        return view_answer_within(view, question, parameters, out, err);
    struct held_answer held = {.more = false};
    struct tv_out first;
    tv_out_init_memory(&held.bytes);
    tv_out_init(&first, view_hold_bytes, &held);
    enum tv_status status = view_answer_within(view, question, parameters, &first, err);
    if (status == TV_OK)
        status = tv_out_finish(&first, err);
    if (status == TV_OK && held.more)
        status = view_answer_within(view, question, parameters, out, err);
    else if (status == TV_OK)
        tv_out_bytes(out, (struct tv_bytes){held.bytes.buffer, held.bytes.length});
    tv_out_release(&held.bytes);
    tv_out_release(&first);
    return status;
}

enum tv_status tv_view_answer(const struct tv_view *view, const struct tv_view_question *question,
                              struct tv_out *out, struct tv_error *err)
{
    struct tv_parameters parameters = {question->parameters, question->count};
    size_t i = view_find_question(question->name);
    if (i == TV_COUNT(questions))
        return tv_fail(err, TV_ERR_USAGE, TV_NO_OFFSET, "there is no such question");
    struct tv_bytes filter = tv_parameter_text(&parameters, "filter");
    struct tv_filtered *filtered;
    if (filter.length == 0)
        return view_answer_bounded(view, i, &parameters, out, err);
    if (tv_filtered_enter(view->filtered, filter, &filtered, err) != TV_OK)
        return TV_ERR_USAGE;
    enum tv_status status =
        view_answer_bounded(tv_filtered_view(filtered), i, &parameters, out, err);
    tv_filtered_leave(view->filtered, filtered);
    return status;
}
