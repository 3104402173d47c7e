/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tree_table.c - a call tree as indented text or JSON.
 *
 * The lines are the frames of a flame graph that was laid out in depth-first
 * order: the depth of a frame becomes its indentation, its width the time of
 * its line.  Frames that are too narrow are not in the layout; a last line says
 * how much time they have.
 */
#include "writers/tables/tables.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "writers/text/names.h"
#include "writers/text/text_table.h"

/* Deeper lines are not indented further; the level is a column, too. */
#define INDENT_LIMIT 200

/* The figure that sorts the lines comes first, with its share. */
static const struct tv_text_column columns[] = {
    {"total", "Total ms", 14, 0, 0}, {"total", "%", 7, 1, 0},     {"self", "Self ms", 14, 2, 0},
    {"calls", "Calls", 12, 3, 0},    {"level", "Level", 6, 4, 0},
};
static const struct tv_text_column bottom_up_columns[TV_COUNT(columns)] = {
    {"self", "Self ms", 14, 0, 0}, {"self", "%", 7, 1, 0},      {"total", "Total ms", 14, 2, 0},
    {"calls", "Calls", 12, 3, 0},  {"level", "Level", 6, 4, 0},
};

/* Width of the first column in files. */
#define TREE_FIRST_COLUMN 14

/* Units and titles for the figures of a tree of calls or of samples. */
struct tree_text_scale {
    struct tv_value_scale value;
    int64_t whole;            /* 100 % */
    bool sampled, counted;    /* counted: there is a column of calls or of samples */
    char total[60], self[60]; /* titles of samples */
};

/* Return 100 %: of samples, what the profile has, with those that have no stack. */
static int64_t tree_text_whole(const struct tv_flame *flame,
                               const struct tv_tree_text_options *options)
{
    return options->figures.sampled ? options->figures.total : flame->total;
}

/* Choose units and titles: milliseconds for calls, the unit of the value for
 * samples. */
static void tree_text_choose_scale(struct tree_text_scale *scale, const struct tv_trace_info *head,
                                   const struct tv_flame *flame,
                                   const struct tv_tree_text_options *options)
{
    *scale = (struct tree_text_scale){
        .value = {.unit = tv_figures_unit(head), .times = 1},
        .whole = tree_text_whole(flame, options),
        .sampled = options->figures.sampled,
        .counted = options->figures.sampled || tv_figures_count_calls(head),
    };
    if (!scale->sampled)
        return;
    tv_value_scale_choose(&scale->value, head, &options->figures, tree_text_whole(flame, options));
    const char *unit = scale->value.unit.name, *space = *unit ? " " : "";
    snprintf(scale->total, sizeof scale->total, "Total%s%s", space, unit);
    snprintf(scale->self, sizeof scale->self, "Self%s%s", space, unit);
}

/* Return a column as this table has it. */
static struct tv_text_column tree_text_column(const struct tree_text_scale *scale,
                                              struct tv_text_column column)
{
    if (!scale->sampled)
        return column;
    if (strcmp(column.name, "calls") == 0) {
        column.name = "samples";
        column.title = "Samples";
    } else if (strncmp(column.title, "Total", 5) == 0) {
        column.title = scale->total;
    } else if (strncmp(column.title, "Self", 4) == 0) {
        column.title = scale->self;
    }
    return column;
}

/* Write a line.  Lines are sorted by their inclusive time from the top down, and by their own time
 * from the bottom up. */
static void tree_text_text_line(struct tv_text_table *table, const struct tv_trace_info *head,
                                const struct tree_text_scale *scale,
                                const struct tv_flame_frame *frame, bool bottom_up)
{
    int64_t first = bottom_up ? frame->own : frame->total;
    uint32_t indent = frame->depth < INDENT_LIMIT ? frame->depth : INDENT_LIMIT;
    tv_value_scale_write(tv_text_table_cell(table), &scale->value, first);
    tv_text_table_share(table, first, scale->whole);
    tv_value_scale_write(tv_text_table_cell(table), &scale->value,
                         bottom_up ? frame->total : frame->own);
    if (scale->counted)
        tv_text_table_number(table, frame->calls);
    tv_text_table_number(table, frame->depth);
    tv_names_frame(tv_text_table_name(table, indent), head, frame->frame);
    tv_text_table_end_row(table);
}

/* Write a line as an object; its depth tells the tree, since lines come in
 * depth-first order. */
static void tree_text_json_line(struct tv_out *out, const struct tv_trace_info *head,
                                const struct tv_flame_frame *frame,
                                const struct tv_tree_text_options *options)
{
    tv_ns compensated = options->compensation.cost;
    tv_json_put_u64(out, "{", "depth", frame->depth);
    tv_json_put_frame(out, ", ", head, &head->frames[frame->frame]);
    bool sampled = options->figures.sampled;
    tv_json_put_u64(out, ", ", sampled ? "samples" : "calls", frame->calls);
    tv_json_put_i64(out, ", ", sampled ? "total" : "total_ns", frame->total);
    tv_json_put_i64(out, ", ", sampled ? "self" : "self_ns", frame->own);
    if (compensated > 0)
        tv_json_put_i64(out, ", ", "compensated_ns", compensated);
    tv_out_char(out, '}');
}

/* Is a frame within the depth that was asked for? */
static bool tree_text_is_shown(const struct tv_flame_frame *frame,
                               const struct tv_tree_text_options *options)
{
    return options->depth == 0 || frame->depth < options->depth;
}

/* Return the time of the outermost calls that no line shows; a line includes the calls below it. */
static int64_t tree_text_find_unshown(const struct tv_flame *flame)
{
    int64_t rest = flame->total;
    assert(flame->total >= 0);
    for (uint32_t i = 0; i < flame->count; i++) {
        if (flame->frames[i].depth == 0)
            rest -= flame->frames[i].width;
    }
    return rest;
}

/* Write notes, lines, and the time that no line shows. */
static void tree_text_write_text(struct tv_out *out, const struct tv_trace_info *head,
                                 const struct tv_flame *flame,
                                 const struct tv_tree_text_options *options)
{
    const struct tv_text_column *own = options->bottom_up ? bottom_up_columns : columns;
    struct tv_text_table table;
    struct tree_text_scale scale;
    tree_text_choose_scale(&scale, head, flame, options);
    if (scale.sampled)
        tv_names_value(out, head, &options->figures);
    else
        tv_figures_note(out, head);
    tv_compensation_write(out, &options->compensation, options->clocks);
    tv_text_table_begin(&table, out, scale.sampled ? "Function" : "Method");
    for (size_t i = 0; i < TV_COUNT(columns); i++) {
        struct tv_text_column column = tree_text_column(&scale, own[i]);
        if (strcmp(own[i].name, "calls") != 0 || scale.counted)
            tv_text_table_add(&table, &column);
    }
    for (uint32_t i = 0; i < flame->count; i++) {
        if (tree_text_is_shown(&flame->frames[i], options))
            tree_text_text_line(&table, head, &scale, &flame->frames[i], options->bottom_up);
    }
    tv_text_table_end(&table);
    struct tv_unshown small = {tree_text_find_unshown(flame), scale.whole, TREE_FIRST_COLUMN,
                               scale.sampled ? "paths too small to be shown (see --min-percent)"
                                             : "calls too small to be shown (see --min-percent)"};
    struct tv_unshown others = {scale.whole - flame->total, scale.whole, TREE_FIRST_COLUMN,
                                TV_UNSHOWN_SAMPLES};
    tv_unshown_write(out, &scale.value, &small);
    tv_unshown_write(out, &scale.value, &others);
}

/* Write an array of lines. */
static void tree_text_write_json(struct tv_out *out, const struct tv_trace_info *head,
                                 const struct tv_flame *flame,
                                 const struct tv_tree_text_options *options)
{
    bool any = false;
    tv_out_char(out, '[');
    for (uint32_t i = 0; i < flame->count; i++) {
        if (!tree_text_is_shown(&flame->frames[i], options))
            continue;
        tv_out_text(out, any ? ",\n  " : "\n  ");
        tree_text_json_line(out, head, &flame->frames[i], options);
        any = true;
    }
    tv_out_text(out, "\n]\n");
}

void tv_tree_text_write(struct tv_out *out, const struct tv_trace_info *head,
                        const struct tv_flame *flame, const struct tv_tree_text_options *options)
{
    if (options->json)
        tree_text_write_json(out, head, flame, options);
    else
        tree_text_write_text(out, head, flame, options);
}
