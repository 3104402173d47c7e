/* SPDX-License-Identifier: Apache-2.0 */
#include "writers/callgraph.h"

#include "base/memory.h"
#include "writers/edges.h"
#include "writers/figures.h"
#include "writers/names.h"

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
    struct tv_figure_unit unit;
};

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

static void callgraph_add_label(struct tv_out *out, const struct tv_head *head, uint32_t frame)
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

/* "1.250 ms" */
static void callgraph_add_figure(const struct callgraph *g, tv_ns figure)
{
    tv_out_time(g->out, figure, g->unit.ns, g->unit.decimals);
    tv_out_format(g->out, " %s", g->unit.name);
}

static void callgraph_write_node(const struct callgraph *g, uint32_t frame)
{
    const struct tv_method_cost *method = &g->profile->methods[g->row[frame] - 1];
    struct tv_out *out = g->out;
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

static void callgraph_add_node(struct callgraph *g, uint32_t frame)
{
    if (g->reached[frame])
        return;
    g->reached[frame] = true;
    g->queue[g->count++] = frame;
    callgraph_write_node(g, frame);
}

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

static void callgraph_write_callees(struct callgraph *g, uint32_t frame)
{
    int64_t whole = callgraph_inclusive_time(g, frame);
    for (size_t i = g->edges.first[frame]; i < g->edges.first[frame + 1]; i++) {
        const struct tv_method_edge *edge = &g->edges.edges[i];
        if (edge->group < TV_EDGE_CHILD ||
            !callgraph_reaches_threshold(g, callgraph_edge_time(g, edge), whole))
            continue;
        callgraph_add_node(g, edge->frame);
        callgraph_write_edge(g, edge, whole);
    }
}

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
        .unit = tv_figures_unit(tree->head),
    };
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
