/* SPDX-License-Identifier: Apache-2.0 */
#include "writers/callgraph.h"

#include "base/memory.h"
#include "writers/edges.h"
#include "writers/figures.h"
#include "writers/names.h"

#define WHOLE_PERCENT (UINT64_C(100) * 1000000)

struct graph {
    struct tv_out *out;
    const struct tv_profile *profile;
    const struct tv_callgraph_options *options;
    struct tv_method_edges edges;
    uint32_t *row;   /* [frame_count] place in the profile, from 1 */
    bool *reached;   /* [frame_count] */
    uint32_t *queue; /* frames whose callees are to be drawn */
    uint32_t first, count;
    bool counts_calls;
    struct tv_figure_unit unit;
};

static int64_t inclusive(const struct graph *g, uint32_t frame)
{
    const struct tv_method_cost *method = &g->profile->methods[g->row[frame] - 1];
    return g->options->cpu ? method->incl_cpu : method->incl_wall;
}

static int64_t time_of(const struct graph *g, const struct tv_method_edge *edge)
{
    return g->options->cpu ? edge->cpu : edge->wall;
}

/* part / whole >= threshold, without overflow. */
static bool is_enough(const struct graph *g, int64_t part, int64_t whole)
{
    double share = whole > 0 ? (double)part / (double)whole : 0.0;
    return share * (double)WHOLE_PERCENT >= (double)g->options->threshold;
}

static void add_label(struct tv_out *out, const struct tv_trace_info *head, uint32_t frame)
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
static void add_figure(const struct graph *g, tv_ns figure)
{
    tv_out_time(g->out, figure, g->unit.ns, g->unit.decimals);
    tv_out_format(g->out, " %s", g->unit.name);
}

static void write_node(const struct graph *g, uint32_t frame)
{
    const struct tv_method_cost *method = &g->profile->methods[g->row[frame] - 1];
    struct tv_out *out = g->out;
    tv_out_format(out, "    n%u [label=\"[%u] ", g->row[frame], g->row[frame]);
    add_label(out, g->profile->head, frame);
    tv_out_text(out, "\\n(");
    add_figure(g, g->options->cpu ? method->incl_cpu : method->incl_wall);
    tv_out_text(out, ", ");
    add_figure(g, g->options->cpu ? method->excl_cpu : method->excl_wall);
    if (g->counts_calls) {
        tv_out_text(out, ", ");
        tv_out_u64(out, method->calls + method->recursive_calls);
    }
    tv_out_text(out, ")\"]\n");
}

static void reach(struct graph *g, uint32_t frame)
{
    if (g->reached[frame])
        return;
    g->reached[frame] = true;
    g->queue[g->count++] = frame;
    write_node(g, frame);
}

static void write_edge(const struct graph *g, const struct tv_method_edge *edge, int64_t whole)
{
    if (edge->group == TV_EDGE_PARENT)
        tv_out_format(g->out, "    n0 -> n%u", g->row[edge->context]);
    else
        tv_out_format(g->out, "    n%u -> n%u", g->row[edge->context], g->row[edge->frame]);
    tv_out_text(g->out, " [label=\"");
    tv_names_percent(g->out, time_of(g, edge), whole);
    tv_out_text(g->out, " %");
    if (g->counts_calls)
        tv_out_format(g->out, "\\n%llu", (unsigned long long)edge->calls);
    tv_out_text(g->out, "\"]\n");
}

/* From "(toplevel)" to the methods that were called from nowhere. */
static void write_roots(struct graph *g, int64_t total)
{
    for (size_t i = 0; i < g->edges.count; i++) {
        const struct tv_method_edge *edge = &g->edges.edges[i];
        if (edge->frame != TV_NONE || !is_enough(g, time_of(g, edge), total))
            continue;
        reach(g, edge->context);
        write_edge(g, edge, total);
    }
}

static void write_callees(struct graph *g, uint32_t frame)
{
    int64_t whole = inclusive(g, frame);
    for (size_t i = g->edges.first[frame]; i < g->edges.first[frame + 1]; i++) {
        const struct tv_method_edge *edge = &g->edges.edges[i];
        if (edge->group < TV_EDGE_CHILD || !is_enough(g, time_of(g, edge), whole))
            continue;
        reach(g, edge->frame);
        write_edge(g, edge, whole);
    }
}

void tv_callgraph_write(struct tv_out *out, const struct tv_call_tree *tree,
                        struct tv_profile *profile, const struct tv_callgraph_options *options)
{
    uint32_t frames = tree->head->frame_count;
    int64_t total = options->cpu ? profile->total_cpu : profile->total_wall;
    struct graph g = {
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
    add_figure(&g, total);
    tv_out_text(out, ")\"]\n");
    write_roots(&g, total);
    while (g.first < g.count)
        write_callees(&g, g.queue[g.first++]);
    tv_out_text(out, "}\n");

    tv_method_edges_release(&g.edges);
    tv_free(g.row);
    tv_free(g.reached);
    tv_free(g.queue);
}
