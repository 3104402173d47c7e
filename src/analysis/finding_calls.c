/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rules about single calls.  Lengths stand in a column: a pass over it leaves the few calls that
 * are long enough to be looked at.
 */
#include "analysis/finding_parts.h"
#include "base/memory.h"

#define READ_AT_ONCE 256u

/* Indices in a row, ascending. */
struct list {
    uint32_t *items;
    size_t count, capacity;
};

static void add(struct list *list, uint32_t index)
{
    if (list->count > 0 && list->items[list->count - 1] == index)
        return;
    list->items =
        tv_array_reserve(list->items, &list->capacity, list->count + 1, sizeof *list->items);
    list->items[list->count++] = index;
}

static void swap(struct list *a, struct list *b)
{
    struct list other = *a;
    *a = *b;
    *b = other;
}

/* One rule at the rows of one track, from the deepest up. */
struct scan {
    const struct tv_finding_look *look;
    const struct tv_rule *rule;
    struct tv_finding *finding;
    uint32_t row;
    struct list covered; /* calls of this row with one inside that is told or is waiting */
    size_t passed;       /* of these are before the call that is looked at */
    struct list above;   /* the same of the row above */
};

typedef void look_at_call(struct scan *scan, uint32_t index);

static int64_t by_part(const struct tv_finding_place *place)
{
    return place->part;
}

/* `part` of a call is what the rule tells of it. */
static void tell(struct scan *scan, uint32_t index, const struct tv_slice *slice, tv_ns part)
{
    struct tv_finding_place place = {
        .row = scan->row,
        .index = index,
        .frame = scan->look->trace->paths.nodes[slice->path].frame,
        .kind = TV_NONE,
        .start = slice->start,
        .length = slice->length,
        .part = part,
        .count = 1,
    };
    tv_ns within = tv_finding_within(scan->look, slice->start, slice->length);
    scan->finding->count++;
    tv_time_add(&scan->finding->total, part < within ? part : within);
    tv_finding_keep(scan->finding, &place, by_part);
}

/* ---- Candidates: what is longer than the rule asks for ---- */

/* Slices of one block whose columns hold the times as they are. */
static void find_packed(struct scan *scan, uint32_t first, uint32_t count, look_at_call *look_at)
{
    const struct tv_trace *trace = scan->look->trace;
    const struct tv_row *row = &trace->rows[scan->row];
    const struct tv_columns *columns = &trace->columns[row->columns];
    const uint32_t *length =
        (columns->length ? columns->length : columns->cpu_length) + row->first + first;
    int64_t most = scan->rule->longer / trace->head->inputs[row->input].tick_ns;
    for (uint32_t i = 0; i < count; i++)
        if (TV_UNLIKELY(length[i] > most))
            look_at(scan, first + i);
}

static void find_wide(struct scan *scan, uint32_t first, uint32_t count, look_at_call *look_at)
{
    struct tv_slice slices[READ_AT_ONCE];
    for (uint32_t done = 0; done < count;) {
        uint32_t some = count - done < READ_AT_ONCE ? count - done : READ_AT_ONCE;
        tv_slices_read(scan->look->trace, scan->row, first + done, some, slices);
        for (uint32_t i = 0; i < some; i++)
            if (slices[i].length > scan->rule->longer)
                look_at(scan, first + done + i);
        done += some;
    }
}

static void find_long(struct scan *scan, uint32_t first, uint32_t end, look_at_call *look_at)
{
    const struct tv_trace *trace = scan->look->trace;
    const struct tv_row *row = &trace->rows[scan->row];
    const struct tv_slice_block *blocks = trace->columns[row->columns].blocks + row->first_block;
    for (uint32_t at = first; at < end;) {
        uint32_t left = TV_BLOCK_SLICES - at % TV_BLOCK_SLICES;
        uint32_t count = end - at < left ? end - at : left;
        if (TV_LIKELY(blocks[at / TV_BLOCK_SLICES].wide == TV_NONE))
            find_packed(scan, at, count, look_at);
        else
            find_wide(scan, at, count, look_at);
        at += count;
    }
}

/* ---- Calls of some names: the outermost ---- */

static void find_named(struct scan *scan, uint32_t first, uint32_t end)
{
    const struct tv_finding_look *look = scan->look;
    const struct tv_row *row = &look->trace->rows[scan->row];
    const uint32_t *path = tv_row_columns(look->trace, scan->row)->path + row->first;
    unsigned names = scan->rule->names;
    for (uint32_t i = first; i < end; i++) {
        if (TV_LIKELY(!(look->paths[path[i]] & names)) || look->around[path[i]] & names)
            continue;
        struct tv_slice slice = tv_slice_get(look->trace, scan->row, i);
        if (slice.length > scan->rule->longer)
            tell(scan, i, &slice, slice.length);
    }
}

/* ---- Calls of any name: the innermost ---- */

static bool is_covered(struct scan *scan, uint32_t index)
{
    const struct list *covered = &scan->covered;
    while (scan->passed < covered->count && covered->items[scan->passed] < index)
        scan->passed++;
    return scan->passed < covered->count && covered->items[scan->passed] == index;
}

/* What is longer than a call covers what is around it, which is longer still. */
static void look_at_long(struct scan *scan, uint32_t index)
{
    const struct tv_finding_look *look = scan->look;
    struct tv_slice slice = tv_slice_get(look->trace, scan->row, index);
    unsigned lists = look->depth_count > 0 ? look->paths[slice.path] : 0;
    bool covered = is_covered(scan, index);
    if (!covered && (lists & scan->rule->passes) && !(lists & scan->rule->waits))
        return;
    if (!covered && !(lists & scan->rule->waits))
        tell(scan, index, &slice, slice.length);
    if (look->trace->rows[scan->row].depth > 0)
        add(&scan->above, tv_slice_parent(look->trace, scan->row, index));
}

/* ---- Waiting ---- */

/* Of the calls inside a call: their times and, where some are not known, the sum of what is. */
static void add_inside(const struct tv_trace *trace, uint32_t row, const uint32_t range[2],
                       struct tv_slice *sum)
{
    struct tv_slice slices[READ_AT_ONCE];
    for (uint32_t at = range[0]; at < range[1];) {
        uint32_t some = range[1] - at < READ_AT_ONCE ? range[1] - at : READ_AT_ONCE;
        tv_slices_read(trace, row, at, some, slices);
        for (uint32_t i = 0; i < some; i++) {
            tv_time_add(&sum->length, slices[i].length);
            tv_time_add(&sum->cpu_length,
                        slices[i].flags & TV_SLICE_NO_CPU ? 0 : slices[i].cpu_length);
        }
        at += some;
    }
}

static void look_at_waiting(struct scan *scan, uint32_t index)
{
    const struct tv_finding_look *look = scan->look;
    struct tv_slice slice = tv_slice_get(look->trace, scan->row, index), inside = {0};
    unsigned lists = look->depth_count > 0 ? look->paths[slice.path] : 0;
    uint32_t range[2] = {0, 0}, count;
    if (slice.flags & TV_SLICE_NO_CPU || lists & scan->rule->passes)
        return;
    if (slice.length - slice.cpu_length <= scan->rule->longer)
        return;
    if (slice.flags & TV_SLICE_HAS_CHILDREN) {
        tv_slice_children(look->trace, scan->row, index, &range[0], &count);
        range[1] = range[0] + count;
        add_inside(look->trace, scan->row + 1, range, &inside);
    }
    tv_ns own = slice.length - inside.length;
    tv_ns ran = slice.cpu_length > inside.cpu_length ? slice.cpu_length - inside.cpu_length : 0;
    if (own - ran > scan->rule->longer && tv_finding_is_share(own - ran, own, scan->rule->share))
        tell(scan, index, &slice, own - ran);
}

/* ---- Rows of tracks ---- */

static void scan_row(struct scan *scan, look_at_call *look_at)
{
    const struct tv_finding_look *look = scan->look;
    uint32_t first, end, depth = look->trace->rows[scan->row].depth;
    bool named = depth < look->depth_count && look->depths[depth] & scan->rule->names;
    swap(&scan->covered, &scan->above);
    scan->above.count = 0;
    scan->passed = 0;
    if (!look_at && !named)
        return;
    tv_row_overlap(look->trace, scan->row, look->selection->from, look->selection->to, &first,
                   &end);
    if (look_at)
        find_long(scan, first, end, look_at);
    else
        find_named(scan, first, end);
}

static void scan_track(struct scan *scan, uint32_t track, look_at_call *look_at)
{
    const struct tv_track *t = &scan->look->trace->tracks[track];
    scan->above.count = 0;
    for (uint32_t row = t->first_row + t->row_count; row-- > t->first_row;) {
        scan->row = row;
        scan_row(scan, look_at);
    }
}

static void release(struct scan *scan)
{
    tv_free(scan->covered.items);
    tv_free(scan->above.items);
}

/* A share of the range; without one everything that was found is told. */
static bool is_enough(const struct tv_finding_look *look, const struct tv_rule *rule,
                      const struct tv_finding *finding)
{
    const struct tv_trace *trace = look->trace;
    tv_ns looked_at = tv_finding_within(look, trace->start, trace->end - trace->start);
    return finding->count > 0 && tv_finding_is_share(finding->total, looked_at, rule->share);
}

void tv_finding_calls(const struct tv_finding_look *look, const struct tv_rule *rule,
                      struct tv_finding *finding)
{
    struct scan scan = {.look = look, .rule = rule, .finding = finding};
    const bool *tracks = rule->on_main ? look->main : look->wanted;
    bool any = false;
    for (uint32_t i = 0; i < look->trace->track_count; i++) {
        any |= tracks[i];
        if (tracks[i])
            scan_track(&scan, i, rule->names ? NULL : look_at_long);
    }
    if (!any)
        finding->missing = rule->on_main ? "a main thread that is known" : "calls with times";
    finding->found = is_enough(look, rule, finding);
    release(&scan);
}

void tv_finding_waits(const struct tv_finding_look *look, const struct tv_rule *rule,
                      struct tv_finding *finding)
{
    struct scan scan = {.look = look, .rule = rule, .finding = finding};
    finding->missing = "both clocks, real and CPU";
    for (uint32_t i = 0; i < look->trace->track_count; i++) {
        if (!look->wanted[i] || !tv_track_has_wall(look->trace, i) ||
            !tv_track_has_cpu(look->trace, i))
            continue;
        finding->missing = NULL;
        scan_track(&scan, i, look_at_waiting);
    }
    finding->found = finding->count > 0;
    release(&scan);
}
