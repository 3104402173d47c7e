/* SPDX-License-Identifier: Apache-2.0 */
/*
 * callgraph.c - edges between methods, and two views of them: a Graphviz graph, and the listing of
 * callers and callees that gprof prints.
 *
 * An edge is found through a hash of (context, group, frame) while the tree is walked. Then all
 * edges are sorted by context and group, so that the list of a method is a range:
 *
 *     edges:  | parents of 0 | children of 0 | parents of 1 | children of 1 | ...
 *     first:  ^ 0                            ^ 1
 */
#include "writers/tables/callgraph.h"

#include <assert.h>
#include <stdlib.h>

#include "analysis/calltree/profile.h"
#include "base/memory.h"
#include "writers/text/layout.h"
#include "writers/text/names.h"

/* ---- Edges ---- */

/* Pack an edge into one key: frames have 30 bits. */
static uint64_t method_edges_key_of(uint32_t context, uint32_t frame, enum tv_edge_group group)
{
    assert(context >> 30 == 0);
    return (uint64_t)context << 34 | (uint64_t)group << 32 | frame;
}

/* Add the cost of a node to an edge, which is made if need be. */
static void method_edges_add(struct tv_method_edges *edges, uint32_t context, uint32_t frame,
                             enum tv_edge_group group, const struct tv_path_cost *cost)
{
    uint32_t place = tv_map_add(&edges->index, method_edges_key_of(context, frame, group),
                                (uint32_t)edges->count);
    if (place == edges->count) {
        edges->edges = tv_array_reserve(edges->edges, &edges->capacity, edges->count + 1,
                                        sizeof *edges->edges);
        edges->edges[edges->count++] =
            (struct tv_method_edge){.context = context, .frame = frame, .group = group};
    }
    edges->edges[place].calls += cost->calls;
    tv_time_add(&edges->edges[place].wall, cost->wall);
    tv_time_add(&edges->edges[place].cpu, cost->cpu);
}

/* Add the edges of a tree node. The parent edge is recursive when the method itself is active
 * further out; the child edge is when the caller is. */
static void method_edges_add_node(struct tv_method_edges *edges, const struct tv_call_tree *tree,
                                  uint32_t node, const uint8_t *recursive)
{
    uint32_t frame = tree->frame[node], parent = tree->parent[node];
    bool nested = tv_call_tree_is_call(tree, parent);
    uint32_t caller = nested ? tree->frame[parent] : TV_NONE;
    const struct tv_path_cost *cost = &tree->cost[node];
    edges->calls[frame] += cost->calls;
    method_edges_add(edges, frame, caller,
                     recursive[node] ? TV_EDGE_RECURSIVE_PARENT : TV_EDGE_PARENT, cost);
    if (nested)
        method_edges_add(edges, caller, frame,
                         recursive[parent] ? TV_EDGE_RECURSIVE_CHILD : TV_EDGE_CHILD, cost);
}

/* Order edges by context and group, then the costliest first, then by name. */
static int method_edges_compare(const void *left, const void *right)
{
    const struct tv_method_edge *a = left, *b = right;
    if (a->context != b->context)
        return a->context < b->context ? -1 : 1;
    if (a->group != b->group)
        return a->group < b->group ? -1 : 1;
    if (a->key != b->key)
        return a->key > b->key ? -1 : 1;
    return (a->rank > b->rank) - (a->rank < b->rank);
}

/* An item for qsort, which passes no context to the comparison. */
struct method_edges_name {
    const struct tv_trace_info *head;
    uint32_t frame;
};

static int method_edges_compare_names(const void *left, const void *right)
{
    const struct method_edges_name *a = left, *b = right;
    return tv_frame_compare_names(a->head, a->frame, b->frame);
}

/* Rank the names once, so that sorting the edges compares numbers only. */
static void method_edges_rank_names(struct tv_method_edges *edges, const struct tv_trace_info *head)
{
    struct method_edges_name *sorted = tv_alloc(head->frame_count, sizeof *sorted);
    uint32_t *rank = tv_alloc(head->frame_count, sizeof *rank);
    for (uint32_t i = 0; i < head->frame_count; i++)
        sorted[i] = (struct method_edges_name){head, i};
    qsort(sorted, head->frame_count, sizeof *sorted, method_edges_compare_names);
    for (uint32_t i = 0; i < head->frame_count; i++)
        rank[sorted[i].frame] = i;
    /* Count the edges of each context, then add up the counts: `first` becomes
     * the start of each list. */
    for (size_t i = 0; i < edges->count; i++)
        edges->edges[i].rank =
            edges->edges[i].frame == TV_NONE ? TV_NONE : rank[edges->edges[i].frame];
    tv_free(sorted);
    tv_free(rank);
}

void tv_method_edges_init(struct tv_method_edges *edges, const struct tv_call_tree *tree, bool cpu)
{
    uint32_t frames = tree->head->frame_count;
    const uint8_t *recursive = tv_call_tree_recursion(tree);
    *edges = (struct tv_method_edges){0};
    tv_map_init(&edges->index);
    edges->calls = tv_alloc(frames, sizeof *edges->calls);
    edges->first = tv_alloc((size_t)frames + 1, sizeof *edges->first);
    for (uint32_t i = 1; i < tree->count; i++) {
        if (tree->cost[i].calls > 0 && tv_call_tree_is_call(tree, i))
            method_edges_add_node(edges, tree, i, recursive);
    }
    for (size_t i = 0; i < edges->count; i++)
        edges->edges[i].key = cpu ? edges->edges[i].cpu : edges->edges[i].wall;
    method_edges_rank_names(edges, tree->head);
    if (edges->count > 0)
        qsort(edges->edges, edges->count, sizeof *edges->edges, method_edges_compare);
    for (size_t i = 0; i < edges->count; i++)
        edges->first[edges->edges[i].context + 1]++;
    for (uint32_t i = 0; i < frames; i++)
        edges->first[i + 1] += edges->first[i];
    assert(edges->first[frames] == edges->count);
}

void tv_method_edges_release(struct tv_method_edges *edges)
{
    tv_map_release(&edges->index);
    tv_free(edges->edges);
    tv_free(edges->calls);
    tv_free(edges->first);
}

/* ---- Graphviz graph ---- */

#define WHOLE_PERCENT (UINT64_C(100) * 1000000)

struct callgraph {
    struct tv_out *out;
    const struct tv_profile *profile;
    const struct tv_callgraph_options *options;
    struct tv_method_edges edges;
    uint32_t *row;   /* [frame_count] rank of a method in the profile, from 1 */
    bool *reached;   /* [frame_count] the method has a node */
    uint32_t *queue; /* frames whose callees are still to be drawn */
    uint32_t first, count;
    bool counts_calls;
    struct tv_value_scale scale;
};

/* Return the inclusive time of a method, which must be in the profile. */
static int64_t callgraph_inclusive_time(const struct callgraph *g, uint32_t frame)
{
    const struct tv_method_cost *method = &g->profile->methods[g->row[frame] - 1];
    return g->options->cpu ? method->incl_cpu : method->incl_wall;
}

static int64_t callgraph_edge_time(const struct callgraph *g, const struct tv_method_edge *edge)
{
    return g->options->cpu ? edge->cpu : edge->wall;
}

/* Return true when part / whole reaches the threshold; cannot overflow. */
static bool callgraph_reaches_threshold(const struct callgraph *g, int64_t part, int64_t whole)
{
    double share = whole > 0 ? (double)part / (double)whole : 0.0;
    return share * (double)WHOLE_PERCENT >= (double)g->options->threshold;
}

/* Write the name of a method as a string of the DOT language. */
static void callgraph_add_label(struct tv_out *out, const struct tv_trace_info *head,
                                uint32_t frame)
{
    struct tv_out name;
    tv_out_init_memory(&name);
    tv_names_method(&name, head, &head->frames[frame]);
    for (size_t i = 0; i < name.length; i++) {
        if (name.buffer[i] == '"' || name.buffer[i] == '\\')
            tv_out_char(out, '\\');
        tv_out_char(out, (char)name.buffer[i]);
    }
    tv_out_release(&name);
}

/* Choose the unit: of times, or of the value of samples. */
static void callgraph_choose_scale(struct tv_value_scale *scale, const struct tv_profile *profile)
{
    if (profile->figures.sampled)
        tv_value_scale_choose(scale, profile->head, &profile->figures, profile->figures.total);
    else
        *scale = (struct tv_value_scale){.unit = tv_figures_unit(profile->head), .times = 1};
}

/* Write "1.250 ms"; a number of samples has no unit. */
static void callgraph_add_figure(const struct callgraph *g, int64_t figure)
{
    tv_value_scale_write(g->out, &g->scale, figure);
    if (*g->scale.unit.name)
        tv_out_format(g->out, " %s", g->scale.unit.name);
}

/* Draw a method: its rank, its name, its inclusive and exclusive time, its
 * calls. */
static void callgraph_write_node(const struct callgraph *g, uint32_t frame)
{
    const struct tv_method_cost *method = &g->profile->methods[g->row[frame] - 1];
    struct tv_out *out = g->out;
    assert(g->row[frame] > 0);
    tv_out_format(out, "    n%u [label=\"[%u] ", g->row[frame], g->row[frame]);
    callgraph_add_label(out, g->profile->head, frame);
    tv_out_text(out, "\\n(");
    callgraph_add_figure(g, g->options->cpu ? method->incl_cpu : method->incl_wall);
    tv_out_text(out, ", ");
    callgraph_add_figure(g, g->options->cpu ? method->excl_cpu : method->excl_wall);
    if (g->counts_calls) {
        tv_out_text(out, ", ");
        tv_out_u64(out, method->calls + method->recursive_calls);
    }
    tv_out_text(out, ")\"]\n");
}

/* Draw a method when it is reached for the first time, and queue it, so that its callees are
 * drawn later (breadth first). */
static void callgraph_add_node(struct callgraph *g, uint32_t frame)
{
    if (g->reached[frame])
        return;
    g->reached[frame] = true;
    g->queue[g->count++] = frame;
    callgraph_write_node(g, frame);
}

/* Draw an arrow with its share of the caller's time; node 0 is "(toplevel)". */
static void callgraph_write_edge(const struct callgraph *g, const struct tv_method_edge *edge,
                                 int64_t whole)
{
    if (edge->group == TV_EDGE_PARENT)
        tv_out_format(g->out, "    n0 -> n%u", g->row[edge->context]);
    else
        tv_out_format(g->out, "    n%u -> n%u", g->row[edge->context], g->row[edge->frame]);
    tv_out_text(g->out, " [label=\"");
    tv_names_percent(g->out, callgraph_edge_time(g, edge), whole);
    tv_out_text(g->out, " %");
    if (g->counts_calls)
        tv_out_format(g->out, "\\n%llu", (unsigned long long)edge->calls);
    tv_out_text(g->out, "\"]\n");
}

/* Draw the edges from "(toplevel)" to the methods without a caller. */
static void callgraph_write_roots(struct callgraph *g, int64_t total)
{
    for (size_t i = 0; i < g->edges.count; i++) {
        const struct tv_method_edge *edge = &g->edges.edges[i];
        if (edge->frame != TV_NONE ||
            !callgraph_reaches_threshold(g, callgraph_edge_time(g, edge), total))
            continue;
        callgraph_add_node(g, edge->context);
        callgraph_write_edge(g, edge, total);
    }
}

/* Draw the edges to the callees whose share of the method's inclusive time reaches the
 * threshold. */
static void callgraph_write_callees(struct callgraph *g, uint32_t frame)
{
    int64_t whole = callgraph_inclusive_time(g, frame);
    assert(g->first <= g->count);
    for (size_t i = g->edges.first[frame]; i < g->edges.first[frame + 1]; i++) {
        const struct tv_method_edge *edge = &g->edges.edges[i];
        if (edge->group < TV_EDGE_CHILD ||
            !callgraph_reaches_threshold(g, callgraph_edge_time(g, edge), whole))
            continue;
        callgraph_add_node(g, edge->frame);
        callgraph_write_edge(g, edge, whole);
    }
}

/* Methods that no edge above the threshold reaches are not drawn, so the graph
 * shows what matters from the top. */
void tv_callgraph_write(struct tv_out *out, const struct tv_call_tree *tree,
                        struct tv_profile *profile, const struct tv_callgraph_options *options)
{
    uint32_t frames = tree->head->frame_count;
    int64_t total = options->cpu ? profile->total_cpu : profile->total_wall;
    struct callgraph g = {
        .out = out,
        .profile = profile,
        .options = options,
        .counts_calls = tv_figures_count_calls(tree->head),
    };
    callgraph_choose_scale(&g.scale, profile);
    tv_profile_sort(profile, options->cpu ? TV_ORDER_INCL_CPU : TV_ORDER_INCL_WALL);
    tv_method_edges_init(&g.edges, tree, options->cpu);
    g.row = tv_alloc(frames, sizeof *g.row);
    g.reached = tv_alloc(frames, sizeof *g.reached);
    g.queue = tv_alloc(frames, sizeof *g.queue);
    for (uint32_t i = 0; i < profile->count; i++)
        g.row[profile->methods[i].frame] = i + 1;

    tv_out_text(out, "digraph calls {\n    node [shape=box, fontname=\"sans-serif\", fontsize=10]\n"
                     "    edge [fontname=\"sans-serif\", fontsize=9]\n"
                     "    n0 [label=\"(toplevel)\\n(");
    callgraph_add_figure(&g, total);
    tv_out_text(out, ")\"]\n");
    callgraph_write_roots(&g, total);
    while (g.first < g.count)
        callgraph_write_callees(&g, g.queue[g.first++]);
    tv_out_text(out, "}\n");

    tv_method_edges_release(&g.edges);
    tv_free(g.row);
    tv_free(g.reached);
    tv_free(g.queue);
}

/* ---- Listing of callers and callees, in the layout of gprof ---- */

struct relations_writer {
    struct tv_out *out;
    const struct tv_profile *profile;
    const struct tv_method_edges *edges;
    const uint32_t *index; /* [frame_count] the row of a method, from 1; 0: it has none */
    bool cpu;
    bool sampled; /* figures are weights of samples, and calls are their numbers */
    bool counts_calls;
    int calls, figure; /* widths of these columns; narrow screens have narrow ones */
    uint32_t name;     /* columns for a name; 0: no limit */
    struct tv_value_scale scale;
};

/* Choose the widths of the columns: a name gets what is left, and at least 16. */
static void relations_choose_widths(struct relations_writer *w)
{
    uint32_t width = tv_layout_width(w->out);
    bool narrow = width > 0 && width < 100;
    w->calls = narrow ? 11 : 15;
    w->figure = narrow ? 10 : 15;
    uint32_t before = 30 + (uint32_t)(w->calls + w->figure);
    w->name = width == 0 ? 0 : width > before + 16 ? width - before : 16;
}

/* Write the name of a method as it fits, and end the line. */
static void relations_write_name(const struct relations_writer *w, uint32_t frame)
{
    struct tv_out name;
    tv_out_init_memory(&name);
    if (frame == TV_NONE)
        tv_out_text(&name, "(toplevel)");
    else
        tv_profile_row_name(&name, w->profile->head, frame);
    tv_layout_fit(w->out, (struct tv_bytes){name.buffer, name.length}, w->name);
    tv_out_char(w->out, '\n');
    tv_out_release(&name);
}

/* Write a time or a weight. */
static void relations_write_figure(const struct relations_writer *w, int64_t figure)
{
    tv_names_time_column(w->out, w->figure, tv_time_times(figure, w->scale.times), w->scale.unit.ns,
                         w->scale.unit.decimals);
}

/* Return the number of all calls of the method that is the child of the edge. */
static uint64_t relations_total_calls(const struct relations_writer *w,
                                      const struct tv_method_edge *edge)
{
    bool child = edge->group == TV_EDGE_CHILD || edge->group == TV_EDGE_RECURSIVE_CHILD;
    return w->edges->calls[child ? edge->frame : edge->context];
}

/* Write a method's row number as "[12]", right-aligned; "[-]" for a method without a row. */
static void relations_write_index(struct tv_out *out, int width, uint32_t index)
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

/* Write the line of a caller or callee: share, row, calls of all calls, time,
 * name. */
static void relations_write_edge(const struct relations_writer *w,
                                 const struct tv_method_edge *edge, int64_t whole)
{
    struct tv_out *out = w->out;
    int64_t time = w->cpu ? edge->cpu : edge->wall;
    tv_out_text(out, "              ");
    tv_names_percent_column(out, 6, time, whole);
    tv_out_char(out, '%');
    relations_write_index(out, 8, edge->frame == TV_NONE ? 0 : w->index[edge->frame]);
    struct tv_out calls;
    tv_out_init_memory(&calls);
    if (w->counts_calls) {
        tv_out_u64(&calls, edge->calls);
        tv_out_char(&calls, '/');
        tv_out_u64(&calls, relations_total_calls(w, edge));
    }
    tv_out_format(out, "%*.*s", w->calls, (int)calls.length, (const char *)calls.buffer);
    tv_out_release(&calls);
    relations_write_figure(w, time);
    tv_out_char(out, ' ');
    relations_write_name(w, edge->frame);
}

/* Write the line of the method itself, which is not indented. */
static void relations_write_method(const struct relations_writer *w,
                                   const struct tv_method_cost *row, int64_t whole)
{
    struct tv_out *out = w->out;
    struct tv_out text;
    tv_out_init_memory(&text);
    uint32_t index = w->index[row->frame];
    tv_out_format(&text, "[%u]", index);
    tv_out_format(out, "%-7.*s", (int)text.length, (const char *)text.buffer);
    tv_names_percent_column(out, 6, w->cpu ? row->incl_cpu : row->incl_wall, whole);
    text.length = 0;
    if (w->counts_calls) {
        tv_out_u64(&text, row->calls);
        tv_out_char(&text, '+');
        tv_out_u64(&text, row->recursive_calls);
    }
    tv_out_format(out, "%%%*.*s", w->calls + 15, (int)text.length, (const char *)text.buffer);
    tv_out_release(&text);
    relations_write_figure(w, w->cpu ? row->incl_cpu : row->incl_wall);
    tv_out_char(out, ' ');
    relations_write_name(w, row->frame);
}

/* Write the method's own time as if it were a callee. */
static void relations_write_exclusive(const struct relations_writer *w,
                                      const struct tv_method_cost *row, int64_t whole)
{
    int64_t time = w->cpu ? row->excl_cpu : row->excl_wall;
    tv_out_text(w->out, "              ");
    tv_names_percent_column(w->out, 6, time, whole);
    tv_out_format(w->out, "%%    excl%*s", w->calls, "");
    relations_write_figure(w, time);
    tv_out_char(w->out, '\n');
}

/* Write the block of a method: callers, the method itself, its exclusive time, callees.
 * Recursive edges are outside of the "++++" lines. */
static void relations_write_block(const struct relations_writer *w,
                                  const struct tv_method_cost *row)
{
    const struct tv_method_edge *edge = &w->edges->edges[w->edges->first[row->frame]];
    const struct tv_method_edge *end = &w->edges->edges[w->edges->first[row->frame + 1]];
    int64_t incl = w->cpu ? row->incl_cpu : row->incl_wall;
    bool mark = edge < end && edge->group == TV_EDGE_RECURSIVE_PARENT;
    tv_out_text(w->out, "----------------------------------------------------\n");
    for (; edge < end && edge->group == TV_EDGE_RECURSIVE_PARENT; edge++)
        relations_write_edge(w, edge, incl);
    if (mark)
        tv_out_text(
            w->out,
            "                    ++++++++++++++++++++++++ (callers while recursive above)\n");
    for (; edge < end && edge->group == TV_EDGE_PARENT; edge++)
        relations_write_edge(w, edge, incl);
    relations_write_method(w, row, w->cpu ? w->profile->total_cpu : w->profile->total_wall);
    relations_write_exclusive(w, row, incl);
    for (; edge < end && edge->group == TV_EDGE_CHILD; edge++)
        relations_write_edge(w, edge, incl);
    if (edge < end)
        tv_out_text(
            w->out,
            "                    ++++++++++++++++++++++++ (callees while recursive below)\n");
    for (; edge < end; edge++)
        relations_write_edge(w, edge, incl);
}

/* Write the heading and a block for each method. */
static void relations_write_text(const struct relations_writer *w,
                                 const struct tv_profile_rows *rows)
{
    if (w->sampled)
        tv_names_value(w->out, w->profile->head, &w->profile->figures);
    else
        tv_figures_note(w->out, w->profile->head);
    tv_compensation_write(w->out, &w->profile->compensation, w->profile->clocks);
    const char *unit = w->scale.unit.name;
    tv_out_format(w->out, "index  %%/total  %%/self   index%*s%*s name\n", w->calls,
                  w->sampled        ? "samples"
                  : w->counts_calls ? "calls"
                                    : "",
                  w->figure, *unit ? unit : "weight");
    for (uint32_t i = 0; i < rows->count; i++) {
        if (rows->rows[i].frame != TV_NONE)
            relations_write_block(w, &rows->rows[i]);
    }
}

/* ---- JSON ---- */

/* Write an edge as an object.  "of_calls" is the number of all calls of the
 * callee. */
static void relations_json_edge(const struct relations_writer *w, const struct tv_method_edge *edge)
{
    struct tv_out *out = w->out;
    const struct tv_trace_info *head = w->profile->head;
    bool toplevel = edge->frame == TV_NONE;
    struct tv_frame none = {0};
    const struct tv_frame *frame = toplevel ? &none : &head->frames[edge->frame];
    tv_json_put_text(out, "{", "class", tv_trace_info_text(head, frame->class_name));
    tv_json_put_text(out, ", ", "method",
                     toplevel ? TV_BYTES("(toplevel)") : tv_trace_info_text(head, frame->name));
    tv_json_put_text(out, ", ", "signature", tv_trace_info_text(head, frame->signature));
    tv_json_put_u64(out, ", ", w->sampled ? "samples" : "calls", edge->calls);
    tv_json_put_u64(out, ", ", w->sampled ? "of_samples" : "of_calls",
                    relations_total_calls(w, edge));
    if (w->sampled) {
        tv_json_put_i64(out, ", ", "weight", edge->wall);
        tv_out_char(out, '}');
        return;
    }
    tv_json_put_some_i64(out, ", ", "real_ns", w->profile->clocks & TV_CLOCK_WALL, edge->wall);
    tv_json_put_some_i64(out, ", ", "cpu_ns", w->profile->clocks & TV_CLOCK_CPU, edge->cpu);
    tv_out_char(out, '}');
}

/* Write one of the four lists of edges of a method. */
static void relations_json_group(const struct relations_writer *w, uint32_t context,
                                 enum tv_edge_group group, const char *key)
{
    bool any = false;
    tv_out_format(w->out, ",\n   \"%s\": [", key);
    for (size_t i = w->edges->first[context]; i < w->edges->first[context + 1]; i++) {
        if (w->edges->edges[i].group != group)
            continue;
        tv_out_text(w->out, any ? ",\n     " : "\n     ");
        relations_json_edge(w, &w->edges->edges[i]);
        any = true;
    }
    tv_out_char(w->out, ']');
}

/* Write an array: the members of a method in the profile, and its four lists. */
static void relations_write_json(const struct relations_writer *w,
                                 const struct tv_profile_rows *rows)
{
    tv_out_char(w->out, '[');
    for (uint32_t i = 0; i < rows->count; i++) {
        uint32_t frame = rows->rows[i].frame;
        tv_out_text(w->out, i == 0 ? "\n  {" : ",\n  {");
        if (w->sampled)
            tv_value_row_json(w->out, w->profile, &rows->rows[i]);
        else
            tv_profile_row_json(w->out, w->profile, &rows->rows[i]);
        if (frame != TV_NONE) {
            relations_json_group(w, frame, TV_EDGE_PARENT, "parents");
            relations_json_group(w, frame, TV_EDGE_CHILD, "children");
            relations_json_group(w, frame, TV_EDGE_RECURSIVE_PARENT, "recursive_parents");
            relations_json_group(w, frame, TV_EDGE_RECURSIVE_CHILD, "recursive_children");
        }
        tv_out_char(w->out, '}');
    }
    tv_out_text(w->out, "\n]\n");
}

void tv_relations_write(struct tv_out *out, const struct tv_call_tree *tree,
                        const struct tv_profile *profile, const struct tv_profile_rows *rows,
                        const struct tv_relations_options *options)
{
    struct tv_method_edges edges;
    uint32_t *index = tv_alloc(tree->head->frame_count, sizeof *index);
    tv_method_edges_init(&edges, tree, options->cpu);
    for (uint32_t i = 0; i < rows->count; i++) {
        if (rows->rows[i].frame != TV_NONE)
            index[rows->rows[i].frame] = i + 1;
    }
    struct relations_writer w = {
        .out = out,
        .profile = profile,
        .edges = &edges,
        .index = index,
        .cpu = options->cpu,
        .sampled = profile->figures.sampled,
        .counts_calls = profile->figures.sampled || tv_figures_count_calls(tree->head),
    };
    callgraph_choose_scale(&w.scale, profile);
    relations_choose_widths(&w);
    if (options->json)
        relations_write_json(&w, rows);
    else
        relations_write_text(&w, rows);
    tv_method_edges_release(&edges);
    tv_free(index);
}
