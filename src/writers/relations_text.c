/* SPDX-License-Identifier: Apache-2.0 */
/*
 * relations_text.c - one depth-first pass gives every call path's figures to two edges: it is a
 * child of the method that called it and a parent of the one that was called.  Edges are then
 * sorted into blocks.
 */
#include "writers/relations_text.h"

#include <stdlib.h>

#include "analysis/visit.h"
#include "base/map.h"
#include "base/memory.h"
#include "writers/names.h"

/* The groups of a block, in the order in which they are printed. */
enum group {
    RECURSIVE_PARENTS,
    PARENTS,
    CHILDREN,
    RECURSIVE_CHILDREN,
};

struct edge {
    uint32_t context; /* the method whose block it stands in */
    uint32_t frame;   /* the other; TV_NONE: called from nowhere */
    enum group group;
    uint64_t calls;
    int64_t wall, cpu;
    int64_t key; /* what it is sorted by */
};

struct edges {
    struct edge *edges;
    size_t count, capacity;
    struct tv_map index;           /* a hash of context, frame and group -> the edge */
    uint64_t *calls;               /* [frame_count] of each method, from everywhere */
    int64_t *self_wall, *self_cpu; /* [frame_count] */
    size_t *first;                 /* [frame_count + 1] where a method's edges begin */
};

/* Frames have 30 bits, so that a key holds the whole edge. */
static uint64_t key_of(uint32_t context, uint32_t frame, enum group group)
{
    return (uint64_t)context << 34 | (uint64_t)group << 32 | frame;
}

static void add_edge(struct edges *edges, uint32_t context, uint32_t frame, enum group group,
                     const struct tv_path_cost *cost)
{
    uint32_t place =
        tv_map_add(&edges->index, key_of(context, frame, group), (uint32_t)edges->count);
    if (place == edges->count) {
        edges->edges = tv_array_reserve(edges->edges, &edges->capacity, edges->count + 1,
                                        sizeof *edges->edges);
        edges->edges[edges->count++] =
            (struct edge){.context = context, .frame = frame, .group = group};
    }
    edges->edges[place].calls += cost->calls;
    edges->edges[place].wall += cost->wall;
    edges->edges[place].cpu += cost->cpu;
}

static void add_node(struct edges *edges, const struct tv_visit *visit)
{
    const struct tv_call_tree *tree = visit->tree;
    uint32_t node = visit->node, frame = tree->frame[node], parent = tree->parent[node];
    const struct tv_path_cost *cost = &tree->cost[node];
    bool recursive = tv_visit_is_recursive(visit);
    edges->calls[frame] += cost->calls;
    edges->self_wall[frame] += tree->self_wall[node];
    edges->self_cpu[frame] += tree->self_cpu[node];
    if (cost->calls == 0)
        return;
    if (!tv_call_tree_is_call(tree, parent)) {
        add_edge(edges, frame, TV_NONE, recursive ? RECURSIVE_PARENTS : PARENTS, cost);
        return;
    }
    /* The parent's own activation is the outermost when it stands on the path once, itself apart.
     */
    uint32_t caller = tree->frame[parent];
    bool again = visit->active[caller] - (caller == frame) > 1;
    add_edge(edges, frame, caller, recursive ? RECURSIVE_PARENTS : PARENTS, cost);
    add_edge(edges, caller, frame, again ? RECURSIVE_CHILDREN : CHILDREN, cost);
}

static int compare_edges(const void *left, const void *right)
{
    const struct edge *a = left, *b = right;
    if (a->context != b->context)
        return a->context < b->context ? -1 : 1;
    if (a->group != b->group)
        return a->group < b->group ? -1 : 1;
    if (a->key != b->key)
        return a->key > b->key ? -1 : 1;
    return (a->frame > b->frame) - (a->frame < b->frame);
}

static void edges_init(struct edges *edges, const struct tv_call_tree *tree, bool cpu)
{
    uint32_t frames = tree->head->frame_count;
    struct tv_visit visit;
    *edges = (struct edges){0};
    tv_map_init(&edges->index);
    edges->calls = tv_alloc(frames, sizeof *edges->calls);
    edges->self_wall = tv_alloc(frames, sizeof *edges->self_wall);
    edges->self_cpu = tv_alloc(frames, sizeof *edges->self_cpu);
    edges->first = tv_alloc((size_t)frames + 1, sizeof *edges->first);
    tv_visit_init(&visit, tree);
    while (tv_visit_next(&visit)) {
        if (tv_call_tree_is_call(tree, visit.node))
            add_node(edges, &visit);
    }
    tv_visit_release(&visit);
    for (size_t i = 0; i < edges->count; i++)
        edges->edges[i].key = cpu ? edges->edges[i].cpu : edges->edges[i].wall;
    if (edges->count > 0)
        qsort(edges->edges, edges->count, sizeof *edges->edges, compare_edges);
    for (size_t i = 0; i < edges->count; i++)
        edges->first[edges->edges[i].context + 1]++;
    for (uint32_t i = 0; i < frames; i++)
        edges->first[i + 1] += edges->first[i];
}

static void edges_release(struct edges *edges)
{
    tv_map_release(&edges->index);
    tv_free(edges->edges);
    tv_free(edges->calls);
    tv_free(edges->self_wall);
    tv_free(edges->self_cpu);
    tv_free(edges->first);
}

struct writing {
    struct tv_out *out;
    const struct tv_profile *profile;
    const struct edges *edges;
    const uint32_t *index; /* [frame_count] the row of a method from 1; 0: it has none */
    bool cpu;
};

/* The calls of an edge are n of all calls of the method that is its child. */
static uint64_t total_calls(const struct writing *w, const struct edge *edge)
{
    bool child = edge->group == CHILDREN || edge->group == RECURSIVE_CHILDREN;
    return w->edges->calls[child ? edge->frame : edge->context];
}

#define MS 1000000

static void write_index(struct tv_out *out, int width, uint32_t index)
{
    char text[16] = "[-]";
    size_t length = 3;
    if (index > 0) {
        text[0] = '[';
        uint32_t digits = index;
        for (length = 1; digits > 0; digits /= 10)
            length++;
        for (size_t i = length; index > 0; index /= 10)
            text[--i] = (char)('0' + index % 10);
        text[length++] = ']';
    }
    tv_out_format(out, "%*.*s", width, (int)length, text);
}

static void write_edge(const struct writing *w, const struct edge *edge, int64_t whole)
{
    struct tv_out *out = w->out;
    int64_t time = w->cpu ? edge->cpu : edge->wall;
    tv_out_text(out, "              ");
    tv_names_percent_column(out, 6, time, whole);
    tv_out_char(out, '%');
    write_index(out, 8, edge->frame == TV_NONE ? 0 : w->index[edge->frame]);
    struct tv_out calls;
    tv_out_init_memory(&calls);
    tv_out_u64(&calls, edge->calls);
    tv_out_char(&calls, '/');
    tv_out_u64(&calls, total_calls(w, edge));
    tv_out_format(out, "%*.*s", 15, (int)calls.length, (const char *)calls.buffer);
    tv_out_release(&calls);
    tv_names_time_column(out, 15, time, MS, 3);
    tv_out_char(out, ' ');
    if (edge->frame == TV_NONE)
        tv_out_text(out, "(toplevel)");
    else
        tv_profile_row_name(out, w->profile->head, edge->frame);
    tv_out_char(out, '\n');
}

static void write_method(const struct writing *w, const struct tv_method_cost *row, int64_t whole)
{
    struct tv_out *out = w->out;
    struct tv_out text;
    tv_out_init_memory(&text);
    uint32_t index = w->index[row->frame];
    tv_out_format(&text, "[%u]", index);
    tv_out_format(out, "%-7.*s", (int)text.length, (const char *)text.buffer);
    tv_names_percent_column(out, 6, w->cpu ? row->incl_cpu : row->incl_wall, whole);
    text.length = 0;
    tv_out_u64(&text, row->calls);
    tv_out_char(&text, '+');
    tv_out_u64(&text, row->recursive_calls);
    tv_out_format(out, "%%%30.*s", (int)text.length, (const char *)text.buffer);
    tv_out_release(&text);
    tv_names_time_column(out, 15, w->cpu ? row->incl_cpu : row->incl_wall, MS, 3);
    tv_out_char(out, ' ');
    tv_profile_row_name(out, w->profile->head, row->frame);
    tv_out_char(out, '\n');
}

static void write_exclusive(const struct writing *w, const struct tv_method_cost *row,
                            int64_t whole)
{
    int64_t time = w->cpu ? row->excl_cpu : row->excl_wall;
    tv_out_text(w->out, "              ");
    tv_names_percent_column(w->out, 6, time, whole);
    tv_out_text(w->out, "%    excl               ");
    tv_names_time_column(w->out, 15, time, MS, 3);
    tv_out_char(w->out, '\n');
}

static void write_block(const struct writing *w, const struct tv_method_cost *row)
{
    const struct edge *edge = &w->edges->edges[w->edges->first[row->frame]];
    const struct edge *end = &w->edges->edges[w->edges->first[row->frame + 1]];
    int64_t incl = w->cpu ? row->incl_cpu : row->incl_wall;
    bool mark = edge < end && edge->group == RECURSIVE_PARENTS;
    tv_out_text(w->out, "----------------------------------------------------\n");
    for (; edge < end && edge->group == RECURSIVE_PARENTS; edge++)
        write_edge(w, edge, incl);
    if (mark)
        tv_out_text(
            w->out,
            "                    ++++++++++++++++++++++++ (callers while recursive above)\n");
    for (; edge < end && edge->group == PARENTS; edge++)
        write_edge(w, edge, incl);
    write_method(w, row, w->cpu ? w->profile->total_cpu : w->profile->total_wall);
    write_exclusive(w, row, incl);
    for (; edge < end && edge->group == CHILDREN; edge++)
        write_edge(w, edge, incl);
    if (edge < end)
        tv_out_text(
            w->out,
            "                    ++++++++++++++++++++++++ (callees while recursive below)\n");
    for (; edge < end; edge++)
        write_edge(w, edge, incl);
}

static void write_text(const struct writing *w, const struct tv_profile_rows *rows)
{
    tv_out_text(w->out, "index  %/total  %/self   index          calls             ms name\n");
    for (uint32_t i = 0; i < rows->count; i++) {
        if (rows->rows[i].frame != TV_NONE)
            write_block(w, &rows->rows[i]);
    }
}

/* ---- JSON ---- */

static void json_edge(const struct writing *w, const struct edge *edge)
{
    struct tv_out *out = w->out;
    struct tv_method_cost row = {
        .frame = edge->frame,
        .calls = edge->calls,
        .incl_wall = edge->wall,
        .incl_cpu = edge->cpu,
    };
    const struct tv_head *head = w->profile->head;
    struct tv_frame none = {0};
    const struct tv_frame *frame = row.frame == TV_NONE ? &none : &head->frames[row.frame];
    tv_out_text(out, "{\"class\": ");
    tv_out_json(out, tv_head_text(head, frame->class_name));
    tv_out_text(out, ", \"method\": ");
    tv_out_json(out,
                row.frame == TV_NONE ? TV_BYTES("(toplevel)") : tv_head_text(head, frame->name));
    tv_out_text(out, ", \"signature\": ");
    tv_out_json(out, tv_head_text(head, frame->signature));
    tv_out_text(out, ", \"calls\": ");
    tv_out_u64(out, row.calls);
    tv_out_text(out, ", \"of_calls\": ");
    tv_out_u64(out, total_calls(w, edge));
    tv_out_text(out, ", \"real_ns\": ");
    if (w->profile->clocks & TV_CLOCK_WALL)
        tv_out_i64(out, row.incl_wall);
    else
        tv_out_text(out, "null");
    tv_out_text(out, ", \"cpu_ns\": ");
    if (w->profile->clocks & TV_CLOCK_CPU)
        tv_out_i64(out, row.incl_cpu);
    else
        tv_out_text(out, "null");
    tv_out_char(out, '}');
}

static void json_group(const struct writing *w, uint32_t context, enum group group, const char *key)
{
    bool any = false;
    tv_out_format(w->out, ",\n   \"%s\": [", key);
    for (size_t i = w->edges->first[context]; i < w->edges->first[context + 1]; i++) {
        if (w->edges->edges[i].group != group)
            continue;
        tv_out_text(w->out, any ? ",\n     " : "\n     ");
        json_edge(w, &w->edges->edges[i]);
        any = true;
    }
    tv_out_char(w->out, ']');
}

static void write_json(const struct writing *w, const struct tv_profile_rows *rows)
{
    tv_out_char(w->out, '[');
    for (uint32_t i = 0; i < rows->count; i++) {
        uint32_t frame = rows->rows[i].frame;
        tv_out_text(w->out, i == 0 ? "\n  {" : ",\n  {");
        tv_profile_row_json(w->out, w->profile, &rows->rows[i]);
        if (frame != TV_NONE) {
            json_group(w, frame, PARENTS, "parents");
            json_group(w, frame, CHILDREN, "children");
            json_group(w, frame, RECURSIVE_PARENTS, "recursive_parents");
            json_group(w, frame, RECURSIVE_CHILDREN, "recursive_children");
        }
        tv_out_char(w->out, '}');
    }
    tv_out_text(w->out, "\n]\n");
}

void tv_relations_write(struct tv_out *out, const struct tv_call_tree *tree,
                        const struct tv_profile *profile, const struct tv_profile_rows *rows,
                        const struct tv_relations_options *options)
{
    struct edges edges;
    uint32_t *index = tv_alloc(tree->head->frame_count, sizeof *index);
    edges_init(&edges, tree, options->cpu);
    for (uint32_t i = 0; i < rows->count; i++) {
        if (rows->rows[i].frame != TV_NONE)
            index[rows->rows[i].frame] = i + 1;
    }
    struct writing w = {out, profile, &edges, index, options->cpu};
    if (options->json)
        write_json(&w, rows);
    else
        write_text(&w, rows);
    edges_release(&edges);
    tv_free(index);
}
