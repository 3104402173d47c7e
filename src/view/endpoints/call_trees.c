/* SPDX-License-Identifier: Apache-2.0 */
/*
 * call_trees.c - questions about the call tree of a selection: the method
 * table, relations, and tree tables.
 *
 *     parameters --> selection --> cached tree --> profile     --> api/profile      methods
 *                '-> changes ---------'       |--> relations   --> api/relations    callers
 *                                             '--> tree lines  --> api/tree         opened lines
 *
 * Samples have the same three questions (sample_...).  A tree of samples
 * is counted for each question, not cached: it is a pass over the table of
 * samples.  Its measure (samples, weight or time) takes the place of wall
 * times, so its answers have one clock.
 */
#include <assert.h>

#include "analysis/calltree/derived_trees.h"
#include "analysis/calltree/tree_lines.h"
#include "base/bytes.h"
#include "base/memory.h"
#include "view/internal.h"

/* ---- The method table, and parents and children of a method ---- */

/* Return the clocks of the trace (enum tv_clocks), which calls are measured by. */
static unsigned view_clocks(const struct tv_view *view)
{
    return (view->wall ? TV_CLOCK_WALL : 0U) | (view->cpu ? TV_CLOCK_CPU : 0U);
}

/* Write a time by each clock. */
static void view_write_times(struct tv_out *out, unsigned clocks, int64_t wall, int64_t cpu)
{
    tv_view_time(out, clocks & TV_CLOCK_WALL, wall);
    tv_out_char(out, ',');
    tv_view_time(out, clocks & TV_CLOCK_CPU, cpu);
}

/* Write a row of the method table. */
static void view_profile_write_method(struct tv_out *out, unsigned clocks,
                                      const struct tv_method_cost *method)
{
    tv_out_char(out, '[');
    tv_out_u64(out, method->frame);
    tv_out_char(out, ',');
    tv_out_u64(out, method->calls);
    tv_out_char(out, ',');
    tv_out_u64(out, method->recursive_calls);
    tv_out_char(out, ',');
    tv_view_time(out, clocks & TV_CLOCK_WALL, method->incl_wall);
    tv_out_char(out, ',');
    tv_view_time(out, clocks & TV_CLOCK_WALL, method->excl_wall);
    tv_out_char(out, ',');
    tv_view_time(out, clocks & TV_CLOCK_CPU, method->incl_cpu);
    tv_out_char(out, ',');
    tv_view_time(out, clocks & TV_CLOCK_CPU, method->excl_cpu);
    tv_out_char(out, ']');
}

/* Write what was subtracted for recording, if anything. */
static void view_profile_write_compensation(struct tv_out *out, unsigned clocks,
                                            const struct tv_compensation *compensation)
{
    if (compensation->cost == 0)
        return;
    tv_out_text(out, ",\"compensated\":{\"cost_ns\":");
    tv_out_i64(out, compensation->cost);
    tv_out_text(out, ",\"real_ns\":");
    tv_view_time(out, clocks & TV_CLOCK_WALL, compensation->wall);
    tv_out_text(out, ",\"cpu_ns\":");
    tv_view_time(out, clocks & TV_CLOCK_CPU, compensation->cpu);
    tv_out_char(out, '}');
}

/* Write the sum of context switches. */
static void view_profile_write_waits(struct tv_out *out, unsigned clocks,
                                     const struct tv_path_cost *waits)
{
    tv_out_text(out, "],\"waits\":");
    /* a wait is wall time without CPU time */
    if (clocks != ((unsigned)TV_CLOCK_WALL | (unsigned)TV_CLOCK_CPU)) {
        tv_out_text(out, "null}");
        return;
    }
    tv_out_text(out, "{\"calls\":");
    tv_out_u64(out, waits->calls);
    tv_out_text(out, ",\"real_ns\":");
    tv_out_i64(out, waits->wall);
    tv_out_text(out, "}}");
}

/* Write the method table.  `cut` calls reach beyond the range. */
static void view_profile_write(struct tv_out *out, unsigned clocks,
                               const struct tv_profile *profile, uint64_t cut)
{
    tv_out_text(out, "{\"total_real_ns\":");
    tv_view_time(out, clocks & TV_CLOCK_WALL, profile->total_wall);
    tv_out_text(out, ",\"total_cpu_ns\":");
    tv_view_time(out, clocks & TV_CLOCK_CPU, profile->total_cpu);
    view_profile_write_compensation(out, clocks, &profile->compensation);
    if (cut > 0)
        tv_member_number(out, ",\"cut\":", (int64_t)cut);
    tv_out_text(out, ",\"rows\":[");
    for (uint32_t i = 0; i < profile->count; i++) {
        tv_out_text(out, i > 0 ? ",\n" : "");
        view_profile_write_method(out, clocks, &profile->methods[i]);
    }
    view_profile_write_waits(out, clocks, &profile->waits);
}

/* Enter the changed tree of the selection that the parameters choose. */
static enum tv_status view_enter_tree(const struct tv_view *view,
                                      const struct tv_parameters *parameters,
                                      const struct tv_tree_changes *changes,
                                      const struct tv_call_tree **tree, struct tv_error *err)
{
    struct tv_selection selection;
    enum tv_status status = tv_parameter_selection(parameters, view->trace, &selection, err);
    if (status != TV_OK)
        return status;
    status = tv_trees_enter_changed(view->trees, &selection, changes, tree, err);
    tv_parameter_release_selection(&selection);
    return status;
}

/* Count the calls that reach beyond the range that the parameters choose. */
static enum tv_status view_count_cut(const struct tv_view *view,
                                     const struct tv_parameters *parameters, uint64_t *cut,
                                     struct tv_error *err)
{
    struct tv_selection selection;
    enum tv_status status = tv_parameter_selection(parameters, view->trace, &selection, err);
    if (status != TV_OK)
        return status;
    *cut = tv_selection_count_cut(view->trace, &selection);
    tv_parameter_release_selection(&selection);
    return TV_OK;
}

/* Answer api/profile: a row for each method that was called. */
enum tv_status tv_view_profile(const struct tv_view *view, const struct tv_parameters *parameters,
                               struct tv_out *out, struct tv_error *err)
{
    const struct tv_call_tree *tree;
    struct tv_tree_changes changes;
    uint64_t cut;
    enum tv_status status = tv_view_read_changes(view, parameters, &changes, err);
    if (status == TV_OK)
        status = view_count_cut(view, parameters, &cut, err);
    if (status == TV_OK)
        status = view_enter_tree(view, parameters, &changes, &tree, err);
    if (status != TV_OK)
        return status;
    struct tv_profile *profile = tv_profile_of_tree(tree);
    view_profile_write(out, view_clocks(view), profile, cut);
    tv_profile_free(profile);
    tv_trees_leave(view->trees);
    return TV_OK;
}

/* Count the samples that the parameters choose, and transform the tree; the caller frees it. */
static enum tv_status view_count_samples(const struct tv_view *view,
                                         const struct tv_parameters *parameters,
                                         const struct tv_tree_changes *changes,
                                         struct tv_call_tree **tree, struct tv_error *err)
{
    struct tv_selection selection;
    struct tv_sample_question sampled;
    enum tv_status status = tv_view_read_sampled(view, parameters, &sampled, err);
    if (status == TV_OK)
        status = tv_parameter_selection(parameters, view->trace, &selection, err);
    if (status != TV_OK)
        return status;
    *tree = tv_sample_tree_of_trace(view->trace, &selection, NULL, &sampled);
    tv_parameter_release_selection(&selection);
    return tv_view_transform_tree(changes, tree, err);
}

/* Answer api/sample_profile. */
enum tv_status tv_view_sample_profile(const struct tv_view *view,
                                      const struct tv_parameters *parameters, struct tv_out *out,
                                      struct tv_error *err)
{
    struct tv_call_tree *tree;
    struct tv_tree_changes changes;
    enum tv_status status = tv_view_read_transforms(parameters, &changes, err);
    if (status == TV_OK)
        status = view_count_samples(view, parameters, &changes, &tree, err);
    if (status != TV_OK)
        return status;
    struct tv_profile *profile = tv_profile_of_tree(tree);
    if (changes.transforms.count == 0) /* exact costs know no stacks */
        tv_profile_use_function_costs(profile, view->trace);
    view_profile_write(out, TV_CLOCK_WALL, profile, 0);
    tv_profile_free(profile);
    tv_call_tree_free(tree);
    return TV_OK;
}

/* Write parents or children of a method. */
static void view_relations_write_edges(struct tv_out *out, unsigned clocks, const char *key,
                                       const struct tv_edges *edges)
{
    tv_out_text(out, key);
    for (uint32_t i = 0; i < edges->count; i++) {
        const struct tv_edge_cost *edge = &edges->edges[i];
        tv_out_text(out, i > 0 ? ",[" : "[");
        tv_out_i64(out, edge->frame == TV_NONE ? -1 : (int64_t)edge->frame);
        tv_out_char(out, ',');
        tv_out_u64(out, edge->calls);
        tv_out_char(out, ',');
        tv_out_u64(out, edge->total_calls);
        tv_out_char(out, ',');
        view_write_times(out, clocks, edge->wall, edge->cpu);
        tv_out_char(out, ']');
    }
    tv_out_char(out, ']');
}

/* Write the parents and children of a method. */
static void view_relations_write(struct tv_out *out, unsigned clocks, const struct tv_relations *r)
{
    view_relations_write_edges(out, clocks, "{\"parents\":[", &r->parents);
    view_relations_write_edges(out, clocks, ",\n\"children\":[", &r->children);
    view_relations_write_edges(out, clocks, ",\n\"recursive_parents\":[", &r->recursive_parents);
    view_relations_write_edges(out, clocks, ",\n\"recursive_children\":[", &r->recursive_children);
    tv_out_text(out, ",\n\"self\":[");
    view_write_times(out, clocks, r->self_wall, r->self_cpu);
    tv_out_text(out, "],\"recursive_self\":[");
    view_write_times(out, clocks, r->recursive_self_wall, r->recursive_self_cpu);
    tv_out_text(out, "]}");
}

/* Read the method of a question. */
static enum tv_status view_relations_read_frame(const struct tv_view *view,
                                                const struct tv_parameters *parameters,
                                                const struct tv_tree_changes *changes,
                                                int64_t *frame, struct tv_error *err)
{
    return tv_parameter_required(parameters, "frame", tv_view_frame_bounds(view, changes), frame,
                                 err);
}

/* Answer api/relations: callers and callees of one method.  The tree is left
 * before the answer is written, because the relations are a copy. */
enum tv_status tv_view_relations(const struct tv_view *view, const struct tv_parameters *parameters,
                                 struct tv_out *out, struct tv_error *err)
{
    const struct tv_call_tree *tree;
    struct tv_tree_changes changes;
    int64_t frame;
    enum tv_status status = tv_view_read_changes(view, parameters, &changes, err);
    if (status == TV_OK)
        status = view_relations_read_frame(view, parameters, &changes, &frame, err);
    if (status == TV_OK)
        status = view_enter_tree(view, parameters, &changes, &tree, err);
    if (status != TV_OK)
        return status;
    struct tv_relations *r = tv_relations_of_tree(tree, (uint32_t)frame);
    tv_trees_leave(view->trees);
    view_relations_write(out, view_clocks(view), r);
    tv_relations_free(r);
    return TV_OK;
}

/* Answer api/sample_relations. */
enum tv_status tv_view_sample_relations(const struct tv_view *view,
                                        const struct tv_parameters *parameters, struct tv_out *out,
                                        struct tv_error *err)
{
    struct tv_call_tree *tree;
    struct tv_tree_changes changes;
    int64_t frame;
    enum tv_status status = tv_view_read_transforms(parameters, &changes, err);
    if (status == TV_OK)
        status = view_relations_read_frame(view, parameters, &changes, &frame, err);
    if (status == TV_OK)
        status = view_count_samples(view, parameters, &changes, &tree, err);
    if (status != TV_OK)
        return status;
    struct tv_relations *r = tv_relations_of_tree(tree, (uint32_t)frame);
    view_relations_write(out, TV_CLOCK_WALL, r);
    tv_relations_free(r);
    tv_call_tree_free(tree);
    return TV_OK;
}

/* ---- Lines of the tree tables ----
 */

/* Each bottom-up name takes a pass over the tree. */
#define NAME_LIMIT 256u
/* Lines in an answer, plus those under the last opened line. */
#define LINE_LIMIT ((uint32_t)1 << 19)

enum { HAS_CHILDREN = 1, OPENED = 2 };

struct tree_request {
    struct tv_tree_changes changes;
    struct tv_tree_question question;
    struct tv_line_name *names; /* the question's */
    uint32_t reveal;            /* frame; TV_NONE: none */
    unsigned clocks;            /* in the answer; enum tv_clocks */
    bool outer;                 /* of nested calls of one line, count only the outermost */
};

/* Parse "12" or "12.3". */
static bool view_tree_take_name(struct tv_bytes *list, struct tv_line_name *name)
{
    struct tv_bytes level, node;
    uint64_t numbers[2] = {0, 0};
    tv_bytes_split(list, ',', &level);
    bool has_level = tv_bytes_split(&level, '.', &node);
    if (!tv_parse_u64(node, &numbers[0]) || numbers[0] >= TV_NONE)
        return false;
    if (has_level && (!tv_parse_u64(level, &numbers[1]) || numbers[1] >= TV_NONE))
        return false;
    *name = (struct tv_line_name){(uint32_t)numbers[0], (uint32_t)numbers[1]};
    return true;
}

/* Read the opened lines. */
static enum tv_status view_tree_read_names(const struct tv_parameters *parameters,
                                           struct tree_request *asked, struct tv_error *err)
{
    struct tv_bytes list = tv_parameter_text(parameters, "nodes");
    size_t capacity = 0;
    /* Without the parameter, the root alone is open. */
    if (!list.data)
        list = TV_BYTES("0");
    while (list.length > 0) {
        uint32_t count = asked->question.name_count;
        asked->names =
            tv_array_reserve(asked->names, &capacity, (size_t)count + 1, sizeof *asked->names);
        if (count == NAME_LIMIT || !view_tree_take_name(&list, &asked->names[count]))
            return tv_fail(err, TV_ERR_USAGE, TV_NO_OFFSET,
                           "nodes: expected at most %u such as 12 or 12.3", NAME_LIMIT);
        asked->question.name_count++;
    }
    return TV_OK;
}

/* Read which lines of the tree are asked for. */
static enum tv_status view_tree_read_question(const struct tv_view *view,
                                              const struct tv_parameters *parameters,
                                              struct tree_request *asked, struct tv_error *err)
{
    const struct tv_parameter_bounds frames = {-1,
                                               tv_view_frame_bounds(view, &asked->changes).high};
    bool bottom_up, below;
    int64_t reveal;
    enum tv_status status = tv_parameter_switch(parameters, "bottom_up", &bottom_up, err);
    if (status == TV_OK)
        status = tv_parameter_switch(parameters, "below", &below, err);
    if (status == TV_OK)
        status = tv_parameter_integer(parameters, "reveal", frames, -1, &reveal, err);
    if (status == TV_OK)
        status = view_tree_read_names(parameters, asked, err);
    if (status != TV_OK)
        return status;
    asked->question.bottom_up = bottom_up;
    asked->question.below = below;
    asked->question.limit = LINE_LIMIT;
    asked->reveal = bottom_up || reveal < 0 ? TV_NONE : (uint32_t)reveal;
    return TV_OK;
}

/* Replace the names by the ancestors of a frame's longest path, the root first. */
static void view_tree_reveal(struct tree_request *asked, const struct tv_call_tree *tree)
{
    assert(asked->reveal != TV_NONE && !asked->question.bottom_up);
    uint32_t node = tv_tree_lines_longest(tree, asked->reveal), count = 0;
    if (node == TV_ROOT_PATH)
        return;
    for (uint32_t up = node; up != TV_ROOT_PATH; up = tree->parent[up]) {
        assert(tree->parent[up] < up);
        count++;
    }
    tv_free(asked->names);
    asked->names = tv_alloc(count, sizeof *asked->names);
    asked->question.name_count = count;
    while (count > 0) {
        node = tree->parent[node];
        asked->names[--count] = (struct tv_line_name){node, 0};
    }
}

/* The figures of a line that have columns. */
enum tree_figure { INCL_WALL, SELF_WALL, INCL_CPU, SELF_CPU, CALLS, OUTER_CALLS };

/* Return one figure of a line. */
static double view_tree_figure(const struct tv_tree_line *line, enum tree_figure figure)
{
    switch (figure) {
    case INCL_WALL:
        return (double)line->incl_wall;
    case SELF_WALL:
        return (double)line->self_wall;
    case INCL_CPU:
        return (double)line->incl_cpu;
    case SELF_CPU:
        return (double)line->self_cpu;
    case CALLS:
        return (double)line->calls;
    case OUTER_CALLS:
        break;
    }
    return (double)line->outer_calls;
}

/* Write a column of figures. */
static void view_tree_write_figure(struct tv_out *out, struct tv_answer_column *column,
                                   const struct tv_tree_lines *lines, enum tree_figure figure)
{
    TV_COLUMN_OF_TIMES(out, column, i, view_tree_figure(&lines->lines[i], figure));
}

/* Write the columns of figures for each clock. */
static void view_tree_write_figures(struct tv_out *out, struct tv_answer_column *column,
                                    const struct tv_tree_lines *lines,
                                    const struct tree_request *asked)
{
    if (asked->clocks & TV_CLOCK_WALL) {
        view_tree_write_figure(out, column, lines, INCL_WALL);
        view_tree_write_figure(out, column, lines, SELF_WALL);
    }
    if (asked->clocks & TV_CLOCK_CPU) {
        view_tree_write_figure(out, column, lines, INCL_CPU);
        view_tree_write_figure(out, column, lines, SELF_CPU);
    }
    view_tree_write_figure(out, column, lines, asked->outer ? OUTER_CALLS : CALLS);
}

/* Write the columns of frames, nodes, parents and flags. */
static void view_tree_write_numbers(struct tv_out *out, struct tv_answer_column *column,
                                    const struct tv_tree_lines *lines)
{
    TV_COLUMN_OF_NUMBERS(out, column, i, lines->lines[i].frame);
    TV_COLUMN_OF_NUMBERS(out, column, i, lines->lines[i].node);
    TV_COLUMN_OF_NUMBERS(out, column, i, lines->lines[i].parent);
    TV_COLUMN_OF_NUMBERS(out, column, i,
                         (lines->lines[i].has_children ? HAS_CHILDREN : 0) |
                             (lines->lines[i].opened ? OPENED : 0));
}

/* Write all lines, or fail if they are too many. */
static enum tv_status view_tree_write_lines(struct tv_out *out, const struct tv_tree_lines *lines,
                                            const struct tree_request *asked, struct tv_error *err)
{
    if (lines->cut)
        return tv_fail(err, TV_ERR_LIMIT, TV_NO_OFFSET,
                       "nodes: they have more than %u lines below them; ask for fewer nodes",
                       LINE_LIMIT);
    struct tv_answer_column column = tv_column_new(lines->count);
    tv_out_text(out, "TVN1");
    tv_out_le32(out, lines->count);
    tv_out_le32(out, asked->question.name_count);
    tv_out_le32(out, asked->clocks);
    tv_out_f64(out, (double)lines->total_wall);
    tv_out_f64(out, (double)lines->total_cpu);
    view_tree_write_figures(out, &column, lines, asked);
    view_tree_write_numbers(out, &column, lines);
    tv_column_release(&column);
    struct tv_answer_column names = tv_column_new(asked->question.name_count);
    TV_COLUMN_OF_NUMBERS(out, &names, i, asked->names[i].node);
    tv_column_release(&names);
    return TV_OK;
}

/* Compute the lines of a request. */
static struct tv_tree_lines *view_tree_find_lines(struct tree_request *asked,
                                                  const struct tv_call_tree *tree)
{
    if (asked->reveal != TV_NONE)
        view_tree_reveal(asked, tree);
    asked->question.names = asked->names;
    return tv_tree_lines_of(tree, &asked->question);
}

/* Answer api/tree: the children of the opened lines. */
enum tv_status tv_view_tree(const struct tv_view *view, const struct tv_parameters *parameters,
                            struct tv_out *out, struct tv_error *err)
{
    struct tree_request asked = {.clocks = view_clocks(view)};
    const struct tv_call_tree *tree;
    enum tv_status status = tv_view_read_changes(view, parameters, &asked.changes, err);
    if (status == TV_OK)
        status = view_tree_read_question(view, parameters, &asked, err);
    if (status == TV_OK)
        status = view_enter_tree(view, parameters, &asked.changes, &tree, err);
    if (status == TV_OK) {
        struct tv_tree_lines *lines = view_tree_find_lines(&asked, tree);
        tv_trees_leave(view->trees);
        status = view_tree_write_lines(out, lines, &asked, err);
        tv_tree_lines_free(lines);
    }
    tv_free(asked.names);
    return status;
}

/* Answer api/sample_tree.  Samples of a recursive function are counted once in
 * each line. */
enum tv_status tv_view_sample_tree(const struct tv_view *view,
                                   const struct tv_parameters *parameters, struct tv_out *out,
                                   struct tv_error *err)
{
    struct tree_request asked = {.clocks = TV_CLOCK_WALL, .outer = true};
    struct tv_call_tree *tree;
    enum tv_status status = tv_view_read_transforms(parameters, &asked.changes, err);
    if (status == TV_OK)
        status = view_tree_read_question(view, parameters, &asked, err);
    if (status == TV_OK)
        status = view_count_samples(view, parameters, &asked.changes, &tree, err);
    if (status == TV_OK) {
        struct tv_tree_lines *lines = view_tree_find_lines(&asked, tree);
        status = view_tree_write_lines(out, lines, &asked, err);
        tv_tree_lines_free(lines);
        tv_call_tree_free(tree);
    }
    tv_free(asked.names);
    return status;
}
