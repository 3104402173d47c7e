/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/flame.h"

#include <stdlib.h>

#include "analysis/profile.h"
#include "analysis/tree_sink.h"
#include "base/bytes.h"
#include "base/memory.h"

int64_t tv_flame_threshold(int64_t total, double min_share)
{
    double width = (double)total * min_share;
    if (!(width >= 1)) /* also when it is not a number: nothing without width is drawn */
        return 1;
    return width < (double)total ? (int64_t)width : total;
}

void tv_flame_add(struct tv_flame *flame, const struct tv_flame_frame *frame)
{
    flame->frames = tv_array_reserve(flame->frames, &flame->capacity, (size_t)flame->count + 1,
                                     sizeof *flame->frames);
    flame->frames[flame->count++] = *frame;
    if (frame->depth >= flame->levels)
        flame->levels = frame->depth + 1;
}

int tv_flame_compare_names(const struct tv_trace_info *head, uint32_t a, uint32_t b)
{
    bool thread_a = a >= TV_THREAD_FRAME, thread_b = b >= TV_THREAD_FRAME;
    if (thread_a != thread_b)
        return thread_a ? -1 : 1;
    if (!thread_a)
        return tv_frame_compare_names(head, a, b);
    struct tv_bytes name_a = tv_trace_info_text(head, head->threads[a - TV_THREAD_FRAME].name);
    struct tv_bytes name_b = tv_trace_info_text(head, head->threads[b - TV_THREAD_FRAME].name);
    int order = tv_bytes_compare(name_a, name_b);
    return order ? order : (a > b) - (a < b);
}

/* A node that is wide enough. */
struct kept {
    const struct tv_trace_info *head; /* for the comparison by name */
    int64_t width;
    uint32_t node, frame;
    uint32_t parent; /* among the kept */
};

static int compare_kept(const struct kept *a, const struct kept *b, bool by_name)
{
    if (a->parent != b->parent)
        return a->parent < b->parent ? -1 : 1;
    if (!by_name && a->width != b->width)
        return a->width > b->width ? -1 : 1;
    return tv_flame_compare_names(a->head, a->frame, b->frame);
}

static int compare_heavy(const void *a, const void *b)
{
    return compare_kept(*(const struct kept *const *)a, *(const struct kept *const *)b, false);
}

static int compare_named(const void *a, const void *b)
{
    return compare_kept(*(const struct kept *const *)a, *(const struct kept *const *)b, true);
}

int64_t *tv_flame_widths(const struct tv_call_tree *tree, const int64_t *self)
{
    int64_t *width = tv_pages_alloc(tv_size_mul(tree->count, sizeof *width));
    for (uint32_t i = tree->count; i-- > 1;) {
        tv_time_add(&width[i], self[i]);
        tv_time_add(&width[tree->parent[i]], width[i]);
    }
    return width;
}

struct layout {
    const struct tv_call_tree *tree;
    const int64_t *self;
    struct kept *kept; /* by node: the first is the root of the layout */
    uint32_t count;
    size_t capacity;
    struct kept **sorted; /* all but the first, children of one parent side by side */
    uint32_t *child;      /* [count + 1] place in `sorted` of the next child to be laid out */
    uint32_t *end;        /* [count] behind the last child */
    int64_t *cursor;      /* [count] where the next child begins */
};

/* The place of a node among the kept, or TV_NONE. */
static uint32_t find_kept(const struct layout *layout, uint32_t node)
{
    uint32_t low = 0, count = layout->count;
    while (count) {
        uint32_t half = count / 2;
        if (layout->kept[low + half].node < node) {
            low += half + 1;
            count -= half + 1;
        } else {
            count = half;
        }
    }
    return low < layout->count && layout->kept[low].node == node ? low : TV_NONE;
}

static void keep(struct layout *layout, uint32_t node, uint32_t parent, int64_t width)
{
    layout->kept = tv_array_reserve(layout->kept, &layout->capacity, (size_t)layout->count + 1,
                                    sizeof *layout->kept);
    layout->kept[layout->count++] =
        (struct kept){layout->tree->head, width, node, layout->tree->frame[node], parent};
}

/* No node is wider than its parent, so those that are wide enough form a tree. */
static void keep_wide(struct layout *layout, uint32_t root, const int64_t *width, int64_t threshold)
{
    const struct tv_call_tree *tree = layout->tree;
    keep(layout, root, TV_NONE, width[root]);
    for (uint32_t i = root + 1; i < tree->count; i++) {
        if (width[i] < threshold)
            continue;
        uint32_t parent = find_kept(layout, tree->parent[i]);
        if (parent != TV_NONE)
            keep(layout, i, parent, width[i]);
    }
}

static void sort_children(struct layout *layout, enum tv_flame_order order)
{
    uint32_t children = layout->count - 1;
    layout->sorted = tv_alloc(children, sizeof(struct kept *));
    layout->child = tv_alloc(layout->count, sizeof *layout->child);
    layout->end = tv_alloc(layout->count, sizeof *layout->end);
    layout->cursor = tv_alloc(layout->count, sizeof *layout->cursor);
    for (uint32_t i = 0; i < children; i++)
        layout->sorted[i] = &layout->kept[i + 1];
    qsort(layout->sorted, children, sizeof(struct kept *),
          order == TV_FLAME_BY_NAME ? compare_named : compare_heavy);
    for (uint32_t i = children; i-- > 0;) {
        uint32_t parent = layout->sorted[i]->parent;
        layout->child[parent] = i;
        if (layout->end[parent] == 0)
            layout->end[parent] = i + 1;
    }
}

static void add_kept(struct tv_flame *flame, struct layout *layout, uint32_t index, uint32_t depth)
{
    const struct kept *kept = &layout->kept[index];
    struct tv_flame_frame frame = {
        .start = layout->cursor[index],
        .width = kept->width,
        .self = layout->self[kept->node],
        .total = kept->width,
        .calls = layout->tree->cost[kept->node].calls,
        .depth = depth,
        .frame = kept->frame,
        .path = kept->node,
    };
    tv_flame_add(flame, &frame);
}

/* Lays out all that lies on the root, depth first. */
static void place_children(struct tv_flame *flame, struct layout *layout, uint32_t depth)
{
    uint32_t at = 0;
    while (at != TV_NONE && flame->count < TV_FLAME_FRAMES) {
        if (layout->child[at] == layout->end[at]) {
            at = layout->kept[at].parent;
            depth--;
            continue;
        }
        uint32_t child = (uint32_t)(layout->sorted[layout->child[at]++] - layout->kept);
        layout->cursor[child] = layout->cursor[at];
        tv_time_add(&layout->cursor[at], layout->kept[child].width);
        add_kept(flame, layout, child, depth++);
        at = child;
    }
}

/* Return the time that belongs to no frame of the layout. */
static int64_t find_left_out(const struct tv_flame *flame, const struct layout *layout,
                             uint32_t root)
{
    int64_t rest = flame->total - (root == TV_ROOT_PATH ? layout->self[root] : 0);
    for (uint32_t i = 0; i < flame->count; i++)
        tv_time_add(&rest, -flame->frames[i].self);
    return rest > 0 ? rest : 0; /* frames may have more than a total that did not fit */
}

static void lay_out(struct tv_flame *flame, const struct tv_call_tree *tree,
                    const struct tv_flame_options *options, const int64_t *self)
{
    struct layout layout = {.tree = tree, .self = self};
    int64_t *width = tv_flame_widths(tree, self);
    flame->total = width[options->root];
    keep_wide(&layout, options->root, width, tv_flame_threshold(flame->total, options->min_share));
    sort_children(&layout, options->order);
    if (options->root != TV_ROOT_PATH)
        add_kept(flame, &layout, 0, 0);
    place_children(flame, &layout, options->root != TV_ROOT_PATH);
    flame->left_out = find_left_out(flame, &layout, options->root);
    tv_free(layout.kept);
    tv_free(layout.sorted);
    tv_free(layout.child);
    tv_free(layout.end);
    tv_free(layout.cursor);
    tv_pages_free(width, tv_size_mul(tree->count, sizeof *width));
}

struct tv_flame *tv_flame_of_tree(const struct tv_call_tree *tree,
                                  const struct tv_flame_options *options)
{
    struct tv_flame *flame = tv_alloc(1, sizeof *flame);
    if (options->inverted)
        tv_flame_invert(flame, tree, options);
    else if (options->root < tree->count)
        lay_out(flame, tree, options,
                options->clock == TV_CLOCK_CPU ? tree->self_cpu : tree->self_wall);
    return flame;
}

void tv_flame_free(struct tv_flame *flame)
{
    if (!flame)
        return;
    tv_free(flame->frames);
    tv_free(flame);
}
