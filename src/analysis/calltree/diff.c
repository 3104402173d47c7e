/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Both tables are sorted by name and merged in one pass, as in a merge sort: first to count the
 * three parts (in both, only in A, only in B), then to fill them.
 */
#include "analysis/calltree/diff.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>

#include "base/bytes.h"
#include "base/memory.h"

/* A method of one table and the head that names it. */
struct diff_entry {
    const struct tv_trace_info *head;
    struct tv_method_cost method;
};

static int diff_compare_text(const struct tv_trace_info *head_a, uint32_t a,
                             const struct tv_trace_info *head_b, uint32_t b)
{
    return tv_bytes_compare(tv_trace_info_text(head_a, a), tv_trace_info_text(head_b, b));
}

/* Return the sampled line by which a function was split, or 0. */
static int32_t diff_line_of(const struct tv_frame *frame)
{
    return frame->with_line ? frame->line : 0;
}

/* Compare methods of two tables by class, name, signature and the line by which they are split. */
static int diff_compare_methods(const struct diff_entry *a, const struct diff_entry *b)
{
    const struct tv_frame *fa = &a->head->frames[a->method.frame];
    const struct tv_frame *fb = &b->head->frames[b->method.frame];
    int order = diff_compare_text(a->head, fa->class_name, b->head, fb->class_name);
    if (order == 0)
        order = diff_compare_text(a->head, fa->name, b->head, fb->name);
    if (order == 0)
        order = diff_compare_text(a->head, fa->signature, b->head, fb->signature);
    int32_t line_a = diff_line_of(fa), line_b = diff_line_of(fb);
    return order ? order : (line_a > line_b) - (line_a < line_b);
}

static int diff_compare_entries(const void *left, const void *right)
{
    const struct diff_entry *a = left, *b = right;
    int order = diff_compare_methods(a, b);
    return order ? order
                 : (a->method.frame > b->method.frame) - (a->method.frame < b->method.frame);
}

/* Add the costs of a method to another one of the same name. */
static void diff_add_method(struct tv_method_cost *sum, const struct tv_method_cost *method)
{
    sum->calls += method->calls;
    sum->recursive_calls += method->recursive_calls;
    tv_time_add(&sum->incl_wall, method->incl_wall);
    tv_time_add(&sum->excl_wall, method->excl_wall);
    tv_time_add(&sum->incl_cpu, method->incl_cpu);
    tv_time_add(&sum->excl_cpu, method->excl_cpu);
}

/* Return the methods of a table by name, equal ones added up. */
static struct diff_entry *diff_sort_by_name(const struct tv_profile *profile, uint32_t *count)
{
    struct diff_entry *entries = tv_alloc(profile->count, sizeof *entries);
    for (uint32_t i = 0; i < profile->count; i++)
        entries[i] = (struct diff_entry){profile->head, profile->methods[i]};
    qsort(entries, profile->count, sizeof *entries, diff_compare_entries);
    *count = 0;
    for (uint32_t i = 0; i < profile->count; i++) {
        if (*count > 0 && diff_compare_methods(&entries[*count - 1], &entries[i]) == 0)
            diff_add_method(&entries[*count - 1].method, &entries[i].method);
        else
            entries[(*count)++] = entries[i];
    }
    return entries;
}

/* Merge both tables, which are sorted by name: count the parts if `methods` is NULL, otherwise
 * fill them. */
static void diff_merge(struct tv_diff *diff, const struct diff_entry *a, uint32_t count_a,
                       const struct diff_entry *b, uint32_t count_b)
{
    assert(!diff->methods || diff->both + diff->only_a >= diff->only_a);
    static const struct tv_method_cost none = {.frame = TV_NONE};
    struct tv_diff_method *methods = diff->methods;
    uint32_t both = 0, only_a = 0, only_b = 0;
    for (uint32_t i = 0, k = 0; i < count_a || k < count_b;) {
        int order = i == count_a ? 1 : k == count_b ? -1 : diff_compare_methods(&a[i], &b[k]);
        struct tv_diff_method pair = {order <= 0 ? a[i].method : none,
                                      order >= 0 ? b[k].method : none};
        uint32_t place = order == 0  ? both
                         : order < 0 ? diff->both + only_a
                                     : diff->both + diff->only_a + only_b;
        if (methods)
            methods[place] = pair;
        both += order == 0;
        only_a += order < 0;
        only_b += order > 0;
        i += order <= 0;
        k += order >= 0;
    }
    diff->both = both;
    diff->only_a = only_a;
    diff->only_b = only_b;
}

struct tv_diff *tv_diff_of(const struct tv_profile *a, const struct tv_profile *b)
{
    struct tv_diff *diff = tv_alloc(1, sizeof *diff);
    uint32_t count_a, count_b;
    struct diff_entry *by_name_a = diff_sort_by_name(a, &count_a),
                      *by_name_b = diff_sort_by_name(b, &count_b);
    diff->a = a;
    diff->b = b;
    diff->clocks = a->clocks & b->clocks;
    diff_merge(diff, by_name_a, count_a, by_name_b, count_b);
    diff->methods =
        tv_alloc((size_t)diff->both + diff->only_a + diff->only_b, sizeof *diff->methods);
    diff_merge(diff, by_name_a, count_a, by_name_b, count_b);
    tv_free(by_name_a);
    tv_free(by_name_b);
    tv_diff_sort(diff, diff->clocks & TV_CLOCK_CPU ? TV_ORDER_INCL_CPU : TV_ORDER_INCL_WALL);
    return diff;
}

void tv_diff_free(struct tv_diff *diff)
{
    if (!diff)
        return;
    tv_free(diff->methods);
    tv_free(diff);
}

struct diff_sortable {
    const struct tv_trace_info *head;
    uint32_t frame;
    int64_t change;
    struct tv_diff_method method;
};

static int diff_compare_changes(const void *left, const void *right)
{
    const struct diff_sortable *a = left, *b = right;
    if (a->change != b->change)
        return a->change > b->change ? -1 : 1;
    return tv_frame_compare_names(a->head, a->frame, b->frame);
}

/* Sort one part by the change of a figure. */
static void diff_sort_part(const struct tv_diff *diff, uint32_t first, uint32_t count,
                           enum tv_profile_order order)
{
    struct tv_diff_method *methods = diff->methods + first;
    struct diff_sortable *all = tv_alloc(count, sizeof *all);
    for (uint32_t i = 0; i < count; i++) {
        bool in_a = methods[i].a.frame != TV_NONE;
        int64_t change =
            tv_method_figure(&methods[i].b, order) - tv_method_figure(&methods[i].a, order);
        all[i].head = in_a ? diff->a->head : diff->b->head;
        all[i].frame = in_a ? methods[i].a.frame : methods[i].b.frame;
        all[i].change = change < 0 ? -change : change;
        all[i].method = methods[i];
    }
    qsort(all, count, sizeof *all, diff_compare_changes);
    for (uint32_t i = 0; i < count; i++)
        methods[i] = all[i].method;
    tv_free(all);
}

void tv_diff_sort_both(struct tv_diff *diff, enum tv_profile_order order)
{
    diff_sort_part(diff, 0, diff->both, order);
}

void tv_diff_sort(struct tv_diff *diff, enum tv_profile_order order)
{
    tv_diff_sort_both(diff, order);
    diff_sort_part(diff, diff->both, diff->only_a, order);
    diff_sort_part(diff, diff->both + diff->only_a, diff->only_b, order);
}

double tv_diff_ratio(int64_t a, int64_t b)
{
    if (a == b)
        return 1;
    return a == 0 ? (double)INFINITY : (double)b / (double)a;
}
