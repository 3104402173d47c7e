/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/compensate.h"

#include "base/memory.h"
#include "base/bytes.h"

/* What a file of ours or of Android calls it. */
#define KEY "clock-call-overhead-nsec"

/* The slowest clock that was ever seen stated takes 20 us; a file may state anything. */
#define SLOWEST_CLOCK_NS 1000000u

tv_ns tv_clock_cost(const struct tv_trace_info *head)
{
    uint64_t smallest = SLOWEST_CLOCK_NS, cost;
    for (uint32_t i = 0; i < head->input_count; i++) {
        struct tv_bytes text = tv_trace_info_find_metadata(head, i, KEY);
        if (!text.data || !tv_parse_u64(text, &cost))
            return 0;
        smallest = cost < smallest ? cost : smallest;
    }
    return head->input_count > 0 ? (tv_ns)smallest : 0;
}

enum tv_status tv_compensation_find(const struct tv_trace_info *head, tv_ns *cost, struct tv_error *err)
{
    *cost = tv_clock_cost(head);
    if (tv_trace_info_figures(head) == TV_FIGURES_SAMPLED)
        return tv_fail(err, TV_ERR_USAGE, TV_NO_OFFSET,
                       "nothing to compensate: the trace was sampled, its calls cost nothing each");
    if (*cost > 0)
        return TV_OK;
    return tv_fail(err, TV_ERR_USAGE, TV_NO_OFFSET,
                   "cannot compensate: the trace does not state what a reading of its clock cost "
                   "(" KEY ")");
}

/* Of one node: calls directly inside, and what was taken off the times of all of them. */
struct inside {
    uint64_t calls;
    int64_t wall, cpu;
};

/* `readings` of them, but no more than there is. */
static int64_t part_of(int64_t time, uint64_t readings, tv_ns cost)
{
    if (time <= 0)
        return 0;
    return readings > (uint64_t)(time / cost) ? time : (int64_t)readings * cost;
}

static void take_off(int64_t *time, int64_t part)
{
    *time = *time > part ? *time - part : 0;
}

void tv_call_tree_compensate(struct tv_call_tree *tree, tv_ns cost)
{
    struct inside *inside = tv_alloc(tree->count, sizeof *inside);
    for (uint32_t i = tree->count; i-- > 1;) {
        struct tv_path_cost *path = &tree->cost[i];
        struct inside *up = &inside[tree->parent[i]], taken = inside[i];
        if (tv_call_tree_is_call(tree, i)) {
            uint64_t readings = path->calls + taken.calls;
            int64_t wall = part_of(tree->self_wall[i], readings, cost);
            int64_t cpu = part_of(tree->self_cpu[i], readings, cost);
            tree->self_wall[i] -= wall;
            tree->self_cpu[i] -= cpu;
            tv_time_add(&taken.wall, wall);
            tv_time_add(&taken.cpu, cpu);
            up->calls += path->calls;
        }
        take_off(&path->wall, taken.wall);
        take_off(&path->cpu, taken.cpu);
        tv_time_add(&up->wall, taken.wall);
        tv_time_add(&up->cpu, taken.cpu);
    }
    tree->compensation =
        (struct tv_compensation){cost, inside[TV_ROOT_PATH].wall, inside[TV_ROOT_PATH].cpu};
    tv_free(inside);
}
