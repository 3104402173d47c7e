/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Flame graphs of calls and of samples.
 *
 * A request is read completely, with all its mistakes, before anything is counted; then one of
 * four ways lays out the graph:
 *
 *   api/flame         order=time       calls as they were recorded, neighbours merged
 *                     threads=apart    one tree a thread, side by side
 *                     otherwise        the cached tree of the selection
 *   api/sample_flame  the same for samples, by time or as a tree
 *
 * The page zooms into a frame by asking again with `root`, so that frames which were too narrow
 * appear.
 */
#include <assert.h>

#include "analysis/calltree/derived_trees.h"
#include "analysis/calltree/tree_views.h"
#include "analysis/flame/flame.h"
#include "base/memory.h"
#include "view/internal.h"

const char *const tv_view_measures[4] = {"count", "weight", "time", NULL};

enum view_flame_order { LEFT_HEAVY, BY_NAME, IN_TIME };
/* The tree of a frame that is shown: what it calls, or who calls it. */
enum view_flame_side { CALLEES, CALLERS };

/* The parameters of a flame graph, valid and complete. */
struct flame_request {
    struct tv_flame_options layout;
    enum view_flame_order order;
    bool fold;
    bool apart;     /* threads side by side */
    uint32_t frame; /* the frame whose side is shown; TV_NONE: everything */
    enum view_flame_side side;
    struct tv_tree_changes changes;
};

/* Column by column, for the page's typed arrays. */
static void view_flame_write(struct tv_out *out, const struct tv_flame *flame)
{
    uint32_t count = flame->count;
    struct tv_answer_column column = tv_column_new(count);
    tv_out_text(out, "TVF1");
    tv_out_le32(out, count);
    tv_out_f64(out, (double)flame->total);
    tv_out_f64(out, (double)flame->left_out);
    TV_COLUMN_OF_TIMES(out, &column, i, flame->frames[i].start);
    TV_COLUMN_OF_TIMES(out, &column, i, flame->frames[i].width);
    TV_COLUMN_OF_TIMES(out, &column, i, flame->frames[i].self);
    for (uint32_t i = 0; i < count; i++) {
        assert(flame->frames[i].depth < flame->levels);
        column.numbers[i] = flame->frames[i].depth;
    }
    tv_column_write_numbers(out, &column);
    TV_COLUMN_OF_NUMBERS(out, &column, i, flame->frames[i].frame);
    TV_COLUMN_OF_NUMBERS(out, &column, i, flame->frames[i].path);
    TV_COLUMN_OF_NUMBERS(
        out, &column, i,
        (uint32_t)(flame->frames[i].calls < UINT32_MAX ? flame->frames[i].calls : UINT32_MAX));
    tv_column_release(&column);
}

/* Fail for parameters that do not go with the order of time. */
static enum tv_status view_flame_check_order(const struct flame_request *question,
                                             struct tv_error *err)
{
    if (question->order != IN_TIME)
        return TV_OK;
    if (question->layout.inverted || question->frame != TV_NONE)
        return tv_fail(err, TV_ERR_USAGE, TV_NO_OFFSET,
                       "order: time cannot be combined with inverted or frame");
    return TV_OK;
}

/* Read the parameters that both kinds of graph share, all but the clock and the changes. */
static enum tv_status view_flame_read_layout(const struct tv_view *view,
                                             const struct tv_parameters *parameters,
                                             struct flame_request *question, struct tv_error *err)
{
    static const char *const orders[] = {"left-heavy", "by-name", "time", NULL};
    static const char *const sides[] = {"callees", "callers", NULL};
    const struct tv_parameter_bounds roots = {0, (int64_t)TV_NONE - 1};
    const struct tv_parameter_bounds frames = tv_view_frame_bounds(view, &question->changes);
    struct tv_flame_options *layout = &question->layout;
    unsigned order = 0, side = 0;
    int64_t root = 0, frame = TV_NONE;
    enum tv_status status = tv_parameter_choice(parameters, "order", orders, &order, err);
    if (status == TV_OK)
        status = tv_parameter_switch(parameters, "inverted", &layout->inverted, err);
    if (status == TV_OK)
        status = tv_parameter_switch(parameters, "fold", &question->fold, err);
    if (status == TV_OK)
        status = tv_parameter_integer(parameters, "root", roots, 0, &root, err);
    if (status == TV_OK)
        status = tv_parameter_integer(parameters, "frame", frames, TV_NONE, &frame, err);
    if (status == TV_OK)
        status = tv_parameter_choice(parameters, "side", sides, &side, err);
    if (status == TV_OK)
        status = tv_parameter_share(parameters, "min", 0.0005, &layout->min_share, err);
    question->order = (enum view_flame_order)order;
    question->side = (enum view_flame_side)side;
    question->frame = (uint32_t)frame;
    layout->order = order == BY_NAME ? TV_FLAME_BY_NAME : TV_FLAME_LEFT_HEAVY;
    layout->root = (uint32_t)root;
    if (layout->min_share < TV_VIEW_MIN_SHARE)
        layout->min_share = TV_VIEW_MIN_SHARE;
    return status == TV_OK ? view_flame_check_order(question, err) : status;
}

/* Read the parameters of a flame graph of calls. */
static enum tv_status view_flame_read_calls(const struct tv_view *view,
                                            const struct tv_parameters *parameters,
                                            struct flame_request *question, struct tv_error *err)
{
    static const char *const threads[] = {"merged", "apart", NULL};
    unsigned apart = 0;
    enum tv_clocks clock;
    enum tv_status status = tv_parameter_clock(parameters, view->trace, &clock, err);
    if (status == TV_OK)
        status = tv_view_read_changes(view, parameters, &question->changes, err);
    if (status == TV_OK)
        status = tv_parameter_choice(parameters, "threads", threads, &apart, err);
    if (status == TV_OK)
        status = view_flame_read_layout(view, parameters, question, err);
    if (status != TV_OK)
        return status;
    question->apart = apart;
    question->layout.clock = clock;
    if (question->changes.cost > 0 && question->order == IN_TIME)
        return tv_fail(err, TV_ERR_USAGE, TV_NO_OFFSET,
                       "compensate: not with order=time, which shows calls as they were recorded");
    return TV_OK;
}

/* Fold a tree or take one side of it as requested, and lay it out. */
static struct tv_flame *view_flame_lay_out(const struct tv_call_tree *tree,
                                           const struct flame_request *question)
{
    struct tv_call_tree *folded = question->fold ? tv_call_tree_fold(tree) : NULL, *side = NULL;
    const struct tv_call_tree *of = folded ? folded : tree;
    struct tv_path_cost left_out = {0};
    if (question->frame != TV_NONE)
        of = side = question->side == CALLERS ? tv_call_tree_callers(of, question->frame, &left_out)
                                              : tv_call_tree_callees(of, question->frame);
    struct tv_flame *flame = tv_flame_of_tree(of, &question->layout);
    if (question->layout.root == TV_ROOT_PATH) {
        int64_t more = question->layout.clock == TV_CLOCK_CPU ? left_out.cpu : left_out.wall;
        tv_time_add(&flame->total, more);
        tv_time_add(&flame->left_out, more);
    }
    tv_call_tree_free(side);
    tv_call_tree_free(folded);
    return flame;
}

/* Return the inclusive time of the tree's top nodes. */
static int64_t view_flame_total(const struct tv_call_tree *tree, enum tv_clocks clock)
{
    int64_t total = 0;
    for (uint32_t i = 1; i < tree->count; i++)
        if (tree->parent[i] == TV_ROOT_PATH)
            tv_time_add(&total, clock == TV_CLOCK_CPU ? tree->cost[i].cpu : tree->cost[i].wall);
    return total;
}

/* The stacks of a chronological graph after transforms. */
struct changed_stacks {
    struct tv_call_tree *tree; /* NULL: without transforms */
    uint32_t *node;
};

/* Apply the transforms to the tree of the selection. */
static enum tv_status view_flame_change_stacks(const struct flame_request *question,
                                               const struct tv_call_tree *tree,
                                               struct changed_stacks *stacks, struct tv_error *err)
{
    *stacks = (struct changed_stacks){0};
    if (question->changes.transforms.count == 0)
        return TV_OK;
    stacks->node = tv_alloc(tree->count, sizeof *stacks->node);
    return tv_transforms_apply(&question->changes.transforms, tree, &stacks->tree, stacks->node,
                               err);
}

/* Free the tree and the map to its nodes. */
static void changed_stacks_release(struct changed_stacks *stacks)
{
    tv_call_tree_free(stacks->tree);
    tv_free(stacks->node);
}

/* Lay out calls in chronological order. */
static enum tv_status view_flame_in_time(const struct tv_view *view,
                                         const struct tv_selection *selection,
                                         const struct flame_request *question,
                                         struct tv_flame **flame, struct tv_error *err)
{
    enum tv_clocks clock = question->layout.clock;
    struct changed_stacks stacks;
    const struct tv_call_tree *tree = tv_trees_enter(view->trees, selection);
    enum tv_status status = view_flame_change_stacks(question, tree, &stacks, err);
    int64_t total = 0;
    if (status == TV_OK)
        total = view_flame_total(stacks.tree ? stacks.tree : tree, clock);
    tv_trees_leave(view->trees);
    struct tv_flame_time_options options = {
        .clock = clock,
        .fold = question->fold,
        .total = total,
        .min_share = question->layout.min_share,
        .root = question->layout.root,
        .stacks = {stacks.tree, stacks.node},
    };
    if (status == TV_OK)
        *flame = tv_flame_in_time(view->trace, selection, &options);
    changed_stacks_release(&stacks);
    return status;
}

/* Lay out the trees of the threads side by side. */
static enum tv_status view_flame_of_threads(const struct tv_view *view,
                                            const struct tv_selection *selection,
                                            const struct flame_request *question,
                                            struct tv_flame **flame, struct tv_error *err)
{
    struct tv_call_tree *tree = tv_call_tree_by_thread(view->trace, selection, 0);
    if (question->changes.cost > 0)
        tv_call_tree_compensate(tree, question->changes.cost);
    enum tv_status status = tv_view_transform_tree(&question->changes, &tree, err);
    if (status == TV_OK)
        *flame = view_flame_lay_out(tree, question);
    tv_call_tree_free(tree);
    return status;
}

/* Lay out the tree of all threads. */
static enum tv_status view_flame_of_all(const struct tv_view *view,
                                        const struct tv_selection *selection,
                                        const struct flame_request *question,
                                        struct tv_flame **flame, struct tv_error *err)
{
    const struct tv_call_tree *tree;
    enum tv_status status =
        tv_trees_enter_changed(view->trees, selection, &question->changes, &tree, err);
    if (status != TV_OK)
        return status;
    *flame = view_flame_lay_out(tree, question);
    tv_trees_leave(view->trees);
    return TV_OK;
}

/* Answer api/flame. */
enum tv_status tv_view_flame(const struct tv_view *view, const struct tv_parameters *parameters,
                             struct tv_out *out, struct tv_error *err)
{
    struct flame_request question = {0};
    struct tv_selection selection;
    struct tv_flame *flame;
    enum tv_status status = view_flame_read_calls(view, parameters, &question, err);
    if (status == TV_OK)
        status = tv_parameter_selection(parameters, view->trace, &selection, err);
    if (status != TV_OK)
        return status;
    if (question.order == IN_TIME)
        status = view_flame_in_time(view, &selection, &question, &flame, err);
    else if (question.apart)
        status = view_flame_of_threads(view, &selection, &question, &flame, err);
    else
        status = view_flame_of_all(view, &selection, &question, &flame, err);
    tv_parameter_release_selection(&selection);
    if (status != TV_OK)
        return status;
    view_flame_write(out, flame);
    tv_flame_free(flame);
    return TV_OK;
}

enum tv_status tv_view_read_sampled(const struct tv_view *view,
                                    const struct tv_parameters *parameters,
                                    struct tv_sample_question *question, struct tv_error *err)
{
    unsigned measure;
    int64_t value;
    struct tv_parameter_bounds bounds = {0, (int64_t)view->trace->tables.value_types.count};
    enum tv_status status =
        tv_parameter_choice(parameters, "measure", tv_view_measures, &measure, err);
    if (status == TV_OK)
        status = tv_parameter_integer(parameters, "value", bounds, 0, &value, err);
    if (status != TV_OK)
        return status;
    *question = (struct tv_sample_question){(enum tv_sample_measure)measure, TV_NONE, false, false};
    struct tv_sample_values values = tv_sample_values_of(view->trace);
    if (value > 0 && (uint64_t)value <= values.count)
        question->value = values.list[value - 1].name;
    tv_sample_values_release(&values);
    return TV_OK;
}

/* Lay out samples in chronological order. */
static enum tv_status view_flame_samples_in_time(const struct tv_view *view,
                                                 const struct tv_selection *selection,
                                                 const struct flame_request *question,
                                                 const struct tv_sample_question *asked,
                                                 struct tv_flame **flame, struct tv_error *err)
{
    struct changed_stacks stacks = {0};
    enum tv_status status = TV_OK;
    if (question->changes.transforms.count > 0) {
        struct tv_call_tree *tree = tv_sample_tree_of_trace(view->trace, selection, NULL, asked);
        status = view_flame_change_stacks(question, tree, &stacks, err);
        tv_call_tree_free(tree);
    }
    struct tv_flame_samples_options options = {
        .question = *asked,
        .fold = question->fold,
        .min_share = question->layout.min_share,
        .root = question->layout.root,
        .stacks = {stacks.tree, stacks.node},
    };
    if (status == TV_OK)
        *flame = tv_flame_of_samples(view->trace, selection, &options);
    changed_stacks_release(&stacks);
    return status;
}

/* Lay out the tree of the samples. */
static enum tv_status view_flame_of_samples(const struct tv_view *view,
                                            const struct tv_selection *selection,
                                            const struct flame_request *question,
                                            const struct tv_sample_question *asked,
                                            struct tv_flame **flame, struct tv_error *err)
{
    struct tv_call_tree *tree = tv_sample_tree_of_trace(view->trace, selection, NULL, asked);
    enum tv_status status = tv_view_transform_tree(&question->changes, &tree, err);
    if (status == TV_OK)
        *flame = view_flame_lay_out(tree, question);
    tv_call_tree_free(tree);
    return status;
}

/* Answer api/sample_flame. */
enum tv_status tv_view_sample_flame(const struct tv_view *view,
                                    const struct tv_parameters *parameters, struct tv_out *out,
                                    struct tv_error *err)
{
    struct flame_request question = {.layout = {.clock = TV_CLOCK_WALL}};
    struct tv_selection selection;
    struct tv_sample_question sampled;
    struct tv_flame *flame;
    enum tv_status status = tv_view_read_transforms(parameters, &question.changes, err);
    if (status == TV_OK)
        status = view_flame_read_layout(view, parameters, &question, err);
    if (status == TV_OK)
        status = tv_view_read_sampled(view, parameters, &sampled, err);
    if (status == TV_OK)
        status = tv_parameter_selection(parameters, view->trace, &selection, err);
    if (status != TV_OK)
        return status;
    if (question.order == IN_TIME)
        status = view_flame_samples_in_time(view, &selection, &question, &sampled, &flame, err);
    else
        status = view_flame_of_samples(view, &selection, &question, &sampled, &flame, err);
    tv_parameter_release_selection(&selection);
    if (status != TV_OK)
        return status;
    view_flame_write(out, flame);
    tv_flame_free(flame);
    return TV_OK;
}
