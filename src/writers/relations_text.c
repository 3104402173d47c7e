/* SPDX-License-Identifier: Apache-2.0 */
/*
 * relations_text.c - each method between its callers and callees, in the layout of gprof's call
 * graph.
 */
#include "writers/relations_text.h"

#include "base/memory.h"
#include "writers/compensation_text.h"
#include "writers/edges.h"
#include "writers/figures.h"
#include "writers/names.h"

struct relations_writer {
    struct tv_out *out;
    const struct tv_profile *profile;
    const struct tv_method_edges *edges;
    const uint32_t *index; /* [frame_count] the row of a method, from 1; 0: it has none */
    bool cpu;
    bool counts_calls;
    struct tv_figure_unit unit;
};

/* Return the number of all calls of the method that is the child of the edge. */
static uint64_t relations_total_calls(const struct relations_writer *w,
                                      const struct tv_method_edge *edge)
{
    bool child = edge->group == TV_EDGE_CHILD || edge->group == TV_EDGE_RECURSIVE_CHILD;
    return w->edges->calls[child ? edge->frame : edge->context];
}

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
    tv_out_format(out, "%*.*s", 15, (int)calls.length, (const char *)calls.buffer);
    tv_out_release(&calls);
    tv_names_time_column(out, 15, time, w->unit.ns, w->unit.decimals);
    tv_out_char(out, ' ');
    if (edge->frame == TV_NONE)
        tv_out_text(out, "(toplevel)");
    else
        tv_profile_row_name(out, w->profile->head, edge->frame);
    tv_out_char(out, '\n');
}

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
    tv_out_format(out, "%%%30.*s", (int)text.length, (const char *)text.buffer);
    tv_out_release(&text);
    tv_names_time_column(out, 15, w->cpu ? row->incl_cpu : row->incl_wall, w->unit.ns,
                         w->unit.decimals);
    tv_out_char(out, ' ');
    tv_profile_row_name(out, w->profile->head, row->frame);
    tv_out_char(out, '\n');
}

static void relations_write_exclusive(const struct relations_writer *w,
                                      const struct tv_method_cost *row, int64_t whole)
{
    int64_t time = w->cpu ? row->excl_cpu : row->excl_wall;
    tv_out_text(w->out, "              ");
    tv_names_percent_column(w->out, 6, time, whole);
    tv_out_text(w->out, "%    excl               ");
    tv_names_time_column(w->out, 15, time, w->unit.ns, w->unit.decimals);
    tv_out_char(w->out, '\n');
}

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

static void relations_write_text(const struct relations_writer *w,
                                 const struct tv_profile_rows *rows)
{
    tv_figures_note(w->out, w->profile->head);
    tv_compensation_write(w->out, &w->profile->compensation, w->profile->clocks);
    tv_out_format(w->out, "index  %%/total  %%/self   index%15s%15s name\n",
                  w->counts_calls ? "calls" : "", w->unit.name);
    for (uint32_t i = 0; i < rows->count; i++) {
        if (rows->rows[i].frame != TV_NONE)
            relations_write_block(w, &rows->rows[i]);
    }
}

/* ---- JSON ---- */

static void relations_json_edge(const struct relations_writer *w, const struct tv_method_edge *edge)
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
    tv_out_u64(out, relations_total_calls(w, edge));
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

static void relations_write_json(const struct relations_writer *w,
                                 const struct tv_profile_rows *rows)
{
    tv_out_char(w->out, '[');
    for (uint32_t i = 0; i < rows->count; i++) {
        uint32_t frame = rows->rows[i].frame;
        tv_out_text(w->out, i == 0 ? "\n  {" : ",\n  {");
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
        .counts_calls = tv_figures_count_calls(tree->head),
        .unit = tv_figures_unit(tree->head),
    };
    if (options->json)
        relations_write_json(&w, rows);
    else
        relations_write_text(&w, rows);
    tv_method_edges_release(&edges);
    tv_free(index);
}
