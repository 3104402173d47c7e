/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/findings.h"

#include <string.h>

#include "analysis/finding_parts.h"
#include "base/memory.h"

/* ---- Shared ---- */

void tv_finding_keep(struct tv_finding *finding, const struct tv_finding_place *place,
                     int64_t (*by)(const struct tv_finding_place *place))
{
    struct tv_finding_place *places = finding->places;
    uint32_t at = finding->place_count;
    if (at == TV_FINDING_PLACES && by(&places[at - 1]) >= by(place))
        return;
    at -= at == TV_FINDING_PLACES;
    for (; at > 0 && by(&places[at - 1]) < by(place); at--)
        places[at] = places[at - 1];
    places[at] = *place;
    finding->place_count += finding->place_count < TV_FINDING_PLACES;
}

tv_ns tv_finding_within(const struct tv_finding_look *look, tv_ns start, tv_ns length)
{
    tv_ns end = start + length;
    if (start < look->selection->from)
        start = look->selection->from;
    if (end > look->selection->to)
        end = look->selection->to;
    return end > start ? end - start : 0;
}

static int64_t by_count(const struct tv_finding_place *place)
{
    return (int64_t)place->count;
}

/* ---- What is said of whole files ---- */

static void look_at_diagnostics(const struct tv_finding_look *look, const struct tv_rule *rule,
                                struct tv_finding *finding)
{
    const struct tv_diagnostic *kinds = look->trace->head->diagnostics.kinds;
    for (uint32_t i = 0; i < rule->kind_count; i++) {
        struct tv_finding_place place = {TV_NONE, 0, TV_NONE, rule->kinds[i],
                                         0,       0, 0,       kinds[rule->kinds[i]].count};
        if (place.count == 0)
            continue;
        finding->count += place.count;
        tv_finding_keep(finding, &place, by_count);
    }
    finding->found = finding->count > 0;
}

/* Of several inputs the coarsest says how far to trust. */
static void look_at_sampling(const struct tv_finding_look *look, const struct tv_rule *rule,
                             struct tv_finding *finding)
{
    const struct tv_trace_info *head = look->trace->head;
    (void)rule;
    for (uint32_t i = 0; i < head->input_count; i++) {
        if (head->inputs[i].figures != TV_FIGURES_SAMPLED)
            continue;
        finding->count++;
        if (head->inputs[i].sampled_ns > finding->limit)
            finding->limit = head->inputs[i].sampled_ns;
    }
    finding->found = finding->count > 0;
}

/* ---- All rules ---- */

static tv_finding_condition *const conditions[] = {
    [TV_RULE_CALLS] = tv_finding_calls,          [TV_RULE_WAITS] = tv_finding_waits,
    [TV_RULE_CLOCK] = tv_finding_clock,          [TV_RULE_RECURSION] = tv_finding_recursion,
    [TV_RULE_DIAGNOSTICS] = look_at_diagnostics, [TV_RULE_SAMPLED] = look_at_sampling,
};

static void choose_tracks(struct tv_finding_look *look)
{
    const struct tv_trace *trace = look->trace;
    look->wanted = tv_selection_wanted(trace, look->selection);
    look->main = tv_alloc(trace->track_count, sizeof *look->main);
    for (uint32_t i = 0; i < trace->track_count; i++) {
        const struct tv_track *track = &trace->tracks[i];
        look->wanted[i] = look->wanted[i] && tv_track_has_calls(track) &&
                          !tv_figures_are_timeless(trace->head->inputs[track->input].figures);
        look->main[i] = look->wanted[i] && track->thread != TV_NONE &&
                        tv_rule_is_main(trace->head, track->thread);
    }
}

static bool any_listed(const struct tv_finding_look *look)
{
    for (uint32_t i = 0; i < look->trace->head->frame_count; i++)
        if (look->frames[i] != 0)
            return true;
    return false;
}

static void mark_paths(struct tv_finding_look *look)
{
    const struct tv_paths *paths = &look->trace->paths;
    uint32_t *depth;
    look->frames = tv_rule_lists(look->trace->head);
    if (!any_listed(look))
        return;
    depth = tv_alloc(paths->count, sizeof *depth); /* the root has 0 */
    look->paths = tv_alloc(paths->count, sizeof *look->paths);
    look->around = tv_alloc(paths->count, sizeof *look->around);
    for (uint32_t i = 1; i < paths->count; i++) {
        uint32_t parent = paths->nodes[i].parent;
        look->paths[i] = look->frames[paths->nodes[i].frame];
        look->around[i] = look->around[parent] | look->paths[parent];
        depth[i] = depth[parent] + 1;
        if (depth[i] > look->depth_count)
            look->depth_count = depth[i];
    }
    look->depths = tv_alloc(look->depth_count, sizeof *look->depths);
    for (uint32_t i = 1; i < paths->count; i++)
        look->depths[depth[i] - 1] |= look->paths[i];
    tv_free(depth);
}

static tv_ns length_of_range(const struct tv_trace *trace, const struct tv_selection *selection)
{
    tv_ns from = selection->from > trace->start ? selection->from : trace->start;
    tv_ns to = selection->to < trace->end ? selection->to : trace->end;
    return to > from ? to - from : 0;
}

struct tv_findings *tv_findings_of(const struct tv_trace *trace, const struct tv_call_tree *tree,
                                   const struct tv_selection *selection)
{
    struct tv_finding_look look = {.trace = trace, .tree = tree, .selection = selection};
    struct tv_findings *findings = tv_alloc(1, sizeof *findings);
    findings->head = trace->head;
    findings->looked_at = length_of_range(trace, selection);
    choose_tracks(&look);
    mark_paths(&look);
    for (uint32_t i = 0; i < TV_RULES; i++) {
        findings->of[i].limit = tv_rules[i].longer;
        conditions[tv_rules[i].condition](&look, &tv_rules[i], &findings->of[i]);
    }
    tv_free(look.wanted);
    tv_free(look.main);
    tv_free(look.frames);
    tv_free(look.paths);
    tv_free(look.around);
    tv_free(look.depths);
    return findings;
}

void tv_findings_free(struct tv_findings *findings)
{
    tv_free(findings);
}
