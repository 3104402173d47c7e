/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The profile table of a selection, and what a row of it opens into.
 */
#include "view/state.h"

static void pair(struct tv_out *out, const struct tv_view *view, int64_t wall, int64_t cpu)
{
    tv_view_time(out, view->wall, wall);
    tv_out_char(out, ',');
    tv_view_time(out, view->cpu, cpu);
}

static void write_method(struct tv_out *out, const struct tv_view *view,
                         const struct tv_method_cost *method)
{
    tv_out_char(out, '[');
    tv_out_u64(out, method->frame);
    tv_out_char(out, ',');
    tv_out_u64(out, method->calls);
    tv_out_char(out, ',');
    tv_out_u64(out, method->recursive_calls);
    tv_out_char(out, ',');
    tv_view_time(out, view->wall, method->incl_wall);
    tv_out_char(out, ',');
    tv_view_time(out, view->wall, method->excl_wall);
    tv_out_char(out, ',');
    tv_view_time(out, view->cpu, method->incl_cpu);
    tv_out_char(out, ',');
    tv_view_time(out, view->cpu, method->excl_cpu);
    tv_out_char(out, ']');
}

static void write_compensation(struct tv_out *out, const struct tv_view *view,
                               const struct tv_compensation *compensation)
{
    if (compensation->cost == 0)
        return;
    tv_out_text(out, ",\"compensated\":{\"cost_ns\":");
    tv_out_i64(out, compensation->cost);
    tv_out_text(out, ",\"real_ns\":");
    tv_view_time(out, view->wall, compensation->wall);
    tv_out_text(out, ",\"cpu_ns\":");
    tv_view_time(out, view->cpu, compensation->cpu);
    tv_out_char(out, '}');
}

static void write_waits(struct tv_out *out, const struct tv_view *view,
                        const struct tv_path_cost *waits)
{
    tv_out_text(out, "],\"waits\":");
    if (!view->wall || !view->cpu) { /* a wait is wall time without CPU time */
        tv_out_text(out, "null}");
        return;
    }
    tv_out_text(out, "{\"calls\":");
    tv_out_u64(out, waits->calls);
    tv_out_text(out, ",\"real_ns\":");
    tv_out_i64(out, waits->wall);
    tv_out_text(out, "}}");
}

enum tv_status tv_view_profile(const struct tv_view *view, const struct tv_parameters *parameters,
                               struct tv_out *out, struct tv_error *err)
{
    struct tv_selection selection;
    tv_ns cost;
    enum tv_status status = tv_view_compensation(view, parameters, &cost, err);
    if (status == TV_OK)
        status = tv_parameter_selection(parameters, view->trace, &selection, err);
    if (status != TV_OK)
        return status;
    struct tv_profile *profile =
        tv_profile_of_tree(tv_trees_enter_compensated(view->trees, &selection, cost));
    tv_trees_leave(view->trees);
    tv_out_text(out, "{\"total_real_ns\":");
    tv_view_time(out, view->wall, profile->total_wall);
    tv_out_text(out, ",\"total_cpu_ns\":");
    tv_view_time(out, view->cpu, profile->total_cpu);
    write_compensation(out, view, &profile->compensation);
    tv_out_text(out, ",\"rows\":[");
    for (uint32_t i = 0; i < profile->count; i++) {
        tv_out_text(out, i > 0 ? ",\n" : "");
        write_method(out, view, &profile->methods[i]);
    }
    write_waits(out, view, &profile->waits);
    tv_profile_free(profile);
    tv_parameter_release_selection(&selection);
    return TV_OK;
}

static void write_edges(struct tv_out *out, const struct tv_view *view, const char *key,
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
        pair(out, view, edge->wall, edge->cpu);
        tv_out_char(out, ']');
    }
    tv_out_char(out, ']');
}

enum tv_status tv_view_relations(const struct tv_view *view, const struct tv_parameters *parameters,
                                 struct tv_out *out, struct tv_error *err)
{
    const struct tv_parameter_bounds frames = {0, (int64_t)view->trace->head->frame_count - 1};
    struct tv_selection selection;
    int64_t frame;
    tv_ns cost = 0;
    enum tv_status status = tv_parameter_required(parameters, "frame", frames, &frame, err);
    if (status == TV_OK)
        status = tv_view_compensation(view, parameters, &cost, err);
    if (status == TV_OK)
        status = tv_parameter_selection(parameters, view->trace, &selection, err);
    if (status != TV_OK)
        return status;
    struct tv_relations *r =
        tv_relations_of_tree(tv_trees_enter_compensated(view->trees, &selection, cost), (uint32_t)frame);
    tv_trees_leave(view->trees);
    write_edges(out, view, "{\"parents\":[", &r->parents);
    write_edges(out, view, ",\n\"children\":[", &r->children);
    write_edges(out, view, ",\n\"recursive_parents\":[", &r->recursive_parents);
    write_edges(out, view, ",\n\"recursive_children\":[", &r->recursive_children);
    tv_out_text(out, ",\n\"self\":[");
    pair(out, view, r->self_wall, r->self_cpu);
    tv_out_text(out, "],\"recursive_self\":[");
    pair(out, view, r->recursive_self_wall, r->recursive_self_cpu);
    tv_out_text(out, "]}");
    tv_relations_free(r);
    tv_parameter_release_selection(&selection);
    return TV_OK;
}
