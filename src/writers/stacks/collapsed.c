/* SPDX-License-Identifier: Apache-2.0 */
/*
 * collapsed.c - collapsed stacks in bytewise order, without ever sorting lines.
 *
 * A child of a node contributes up to two items: the line that ends with the child, "name 12",
 * and the lines below it, "name;...". Sorting the items of each node sorts all lines:
 *
 *     main                items of main:  "run 5", "run;", "stop 1"
 *      |- run   self 5    items of run:   "add 3"
 *      |   '- add   3     lines:          "main;run 5", "main;run;add 3", "main;stop 1"
 *      '- stop  self 1
 *
 * Every "name " and "name;" is ranked once, so that items compare as numbers (rank << 32 |
 * node). A counting sort distributes them by parent, then each node's items are sorted by rank.
 *
 * This is exact because names contain no ';', so that no item is the prefix of another - with
 * one exception: a name that continues another one after a blank ("run", "run 2"). There the
 * number of the line decides, and the node's items are sorted again by their complete texts.
 *
 * Memory: 12 bytes a node and 8 an item. The text itself may be the square of the tree's size,
 * and is therefore never in memory as a whole.
 */
#include "writers/stacks/collapsed.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/calltree/call_tree.h"
#include "base/bytes.h"
#include "base/memory.h"
#include "base/out.h"
#include "base/sort.h"
#include "base/workers.h"
#include "model/paths.h"
#include "writers/text/names.h"

/* ---- The tree of names ---- */

static struct tv_name_tree *name_tree_alloc(uint32_t count)
{
    struct tv_name_tree *tree = tv_alloc(1, sizeof *tree);
    tree->count = count;
    tree->parent = tv_pages_alloc(tv_size_mul(count, sizeof *tree->parent));
    tree->name = tv_pages_alloc(tv_size_mul(count, sizeof *tree->name));
    tree->self = tv_pages_alloc(tv_size_mul(count, sizeof *tree->self));
    return tree;
}

void tv_name_tree_free(struct tv_name_tree *tree)
{
    if (!tree)
        return;
    tv_pages_free(tree->parent, tree->count * sizeof *tree->parent);
    tv_pages_free(tree->name, tree->count * sizeof *tree->name);
    tv_pages_free(tree->self, tree->count * sizeof *tree->self);
    if (tree->other)
        tv_pages_free(tree->other, tree->count * sizeof *tree->other);
    tv_interner_free(tree->names);
    tv_free(tree);
}

static void name_tree_name_thread(struct tv_out *text, const struct tv_trace_info *head,
                                  uint32_t thread)
{
    tv_names_thread(text, head, thread);
    if (head->threads[thread].name != TV_EMPTY_STRING)
        tv_out_format(text, " [%llu]", (unsigned long long)head->threads[thread].id);
}

/* Return the name of a frame as a collapsed stack has it: ';' separates frames there, so one within
 * a name (a signature) becomes ':'. */
static uint32_t name_tree_intern_frame(struct tv_interner *names, const struct tv_call_tree *tree,
                                       uint32_t frame)
{
    struct tv_out text;
    tv_out_init_memory(&text);
    if (frame & TV_THREAD_FRAME)
        name_tree_name_thread(&text, tree->head, frame & ~TV_THREAD_FRAME);
    else
        tv_names_method(&text, tree->head, &tree->head->frames[frame]);
    for (size_t i = 0; i < text.length; i++) {
        if (text.buffer[i] == ';')
            text.buffer[i] = ':';
    }
    uint32_t name = tv_interner_add(names, (struct tv_bytes){text.buffer, text.length});
    tv_out_release(&text);
    return name;
}

struct name_tree_build {
    const struct tv_call_tree *tree;
    const struct tv_name_tree_options *options;
    struct tv_interner *names;
    uint32_t *of_frame; /* [frame_count] the printed name of each frame, TV_EMPTY_STRING until it
                         * is needed */
};

static uint32_t name_tree_name_of(struct name_tree_build *naming, uint32_t frame)
{
    if (frame & TV_THREAD_FRAME)
        return name_tree_intern_frame(naming->names, naming->tree, frame);
    if (naming->of_frame[frame] == TV_EMPTY_STRING)
        naming->of_frame[frame] = name_tree_intern_frame(naming->names, naming->tree, frame);
    return naming->of_frame[frame];
}

/* Map the tree's nodes to paths of names; map[i] is TV_NONE outside the selected thread. */
static void name_tree_map_nodes(struct name_tree_build *naming, struct tv_paths *paths,
                                uint32_t *map)
{
    const struct tv_call_tree *tree = naming->tree;
    uint32_t thread = naming->options->thread;
    map[TV_ROOT_PATH] = thread == TV_NONE ? TV_ROOT_PATH : TV_NONE;
    for (uint32_t i = 1; i < tree->count; i++) {
        uint32_t above = map[tree->parent[i]];
        assert(tree->parent[i] < i);
        if (thread != TV_NONE && tree->frame[i] == (TV_THREAD_FRAME | thread))
            map[i] = TV_ROOT_PATH;
        else if (above == TV_NONE)
            map[i] = TV_NONE;
        else
            map[i] = tv_paths_child(paths, above, name_tree_name_of(naming, tree->frame[i]));
    }
}

static void name_tree_add_costs(struct tv_name_tree *names, const struct tv_call_tree *tree,
                                const uint32_t *map, bool cpu)
{
    const int64_t *self = cpu ? tree->self_cpu : tree->self_wall;
    for (uint32_t i = 1; i < tree->count; i++) {
        if (map[i] != TV_NONE && map[i] != TV_ROOT_PATH)
            tv_time_add(&names->self[map[i]], self[i]);
    }
}

static struct tv_name_tree *name_tree_from_paths(const struct tv_paths *paths)
{
    struct tv_name_tree *tree = name_tree_alloc(paths->count);
    for (uint32_t i = 1; i < paths->count; i++) {
        tree->parent[i] = paths->nodes[i].parent;
        tree->name[i] = paths->nodes[i].frame;
    }
    return tree;
}

/* Copy the tree when no two of its frames have the same name; else return NULL. */
static struct tv_name_tree *name_tree_rename_nodes(struct name_tree_build *naming)
{
    const struct tv_call_tree *tree = naming->tree;
    struct tv_name_tree *names = name_tree_alloc(tree->count);
    uint32_t frames = 0;
    for (uint32_t i = 1; i < tree->count; i++) {
        uint32_t frame = tree->frame[i];
        frames += frame & TV_THREAD_FRAME || naming->of_frame[frame] == TV_EMPTY_STRING;
        names->parent[i] = tree->parent[i];
        names->name[i] = name_tree_name_of(naming, frame);
        names->self[i] = naming->options->cpu ? tree->self_cpu[i] : tree->self_wall[i];
    }
    if (frames + 1 == tv_interner_count(naming->names)) /* the frames and the empty string */
        return names;
    tv_name_tree_free(names);
    return NULL;
}

static struct tv_name_tree *name_tree_merge_nodes(struct name_tree_build *naming)
{
    const struct tv_call_tree *tree = naming->tree;
    struct tv_paths paths;
    uint32_t *map = tv_alloc(tree->count, sizeof *map);
    tv_paths_init(&paths);
    name_tree_map_nodes(naming, &paths, map);
    struct tv_name_tree *names = name_tree_from_paths(&paths);
    tv_paths_release(&paths);
    name_tree_add_costs(names, tree, map, naming->options->cpu);
    tv_free(map);
    return names;
}

struct tv_name_tree *tv_name_tree_new(const struct tv_call_tree *tree,
                                      const struct tv_name_tree_options *options)
{
    struct name_tree_build naming = {tree, options, tv_interner_new(), NULL};
    size_t size = tv_size_mul(tree->head->frame_count, sizeof *naming.of_frame);
    naming.of_frame = tv_pages_alloc(size); /* zeroed pages, because the tree of one thread uses
                                             * few of them */
    struct tv_name_tree *names =
        options->thread == TV_NONE ? name_tree_rename_nodes(&naming) : NULL;
    if (!names)
        names = name_tree_merge_nodes(&naming);
    names->names = naming.names;
    /* Lines have no numbers below zero. */
    for (uint32_t i = 0; tree->figures.sampled && i < names->count; i++)
        names->self[i] = names->self[i] > 0 ? names->self[i] : 0;
    tv_pages_free(naming.of_frame, size);
    return names;
}

/* Add the chains of a tree to `paths`, and return the path of each node. */
static uint32_t *name_tree_add_paths(const struct tv_name_tree *tree, struct tv_interner *names,
                                     struct tv_paths *paths)
{
    uint32_t *map = tv_alloc(tree->count, sizeof *map);
    map[TV_ROOT_PATH] = TV_ROOT_PATH;
    for (uint32_t i = 1; i < tree->count; i++) {
        assert(tree->parent[i] < i);
        map[i] = tv_paths_child(paths, map[tree->parent[i]],
                                tv_interner_add(names, tv_name_tree_text(tree, i)));
    }
    return map;
}

struct tv_name_tree *tv_name_tree_join(const struct tv_name_tree *a, const struct tv_name_tree *b)
{
    struct tv_interner *names = tv_interner_new();
    struct tv_paths paths;
    tv_paths_init(&paths);
    uint32_t *of_a = name_tree_add_paths(a, names, &paths);
    uint32_t *of_b = name_tree_add_paths(b, names, &paths);
    struct tv_name_tree *joined = name_tree_from_paths(&paths);
    joined->names = names;
    joined->other = tv_pages_alloc(tv_size_mul(joined->count, sizeof *joined->other));
    for (uint32_t i = 1; i < a->count; i++)
        tv_time_add(&joined->self[of_a[i]], a->self[i]);
    for (uint32_t i = 1; i < b->count; i++)
        tv_time_add(&joined->other[of_b[i]], b->self[i]);
    tv_paths_release(&paths);
    tv_free(of_a);
    tv_free(of_b);
    return joined;
}

/* ---- Order of the lines ---- */

#define US 1000
#define THOUSANDTHS 1000

/* Fewer items than this are sorted by insertion. */
#define MANY_ITEMS 24

/* The text "name " or "name;". */
struct collapsed_key {
    struct tv_bytes name;
    char last; /* ' ' or ';' */
    uint32_t id;
};

struct collapsed_listing {
    const struct tv_name_tree *tree;
    struct tv_collapsed_unit unit;
    struct collapsed_key *keys; /* [2 * names] in bytewise order */
    uint32_t *rank;  /* [2 * names] position in `keys` of "name " and of "name;" of each name */
    bool *continued; /* [names] another name begins with this one and a blank */
    bool any_continued;
    uint32_t *below; /* [nodes] number of lines below each node; nodes without any are skipped */
    uint64_t *items; /* rank << 32 | node, in output order within each node */
    size_t item_count;
    size_t *first;    /* [nodes + 2] index of a node's first item */
    uint64_t longest; /* length of the longest line in bytes */
};

/* Compare name + last bytewise. */
static int collapsed_compare_keys(const void *left, const void *right)
{
    const struct collapsed_key *a = left, *b = right;
    size_t shorter = a->name.length < b->name.length ? a->name.length : b->name.length;
    int order = shorter > 0 ? memcmp(a->name.data, b->name.data, shorter) : 0;
    if (order != 0)
        return order;
    int next_a = a->name.length > shorter ? a->name.data[shorter] : a->last;
    int next_b = b->name.length > shorter ? b->name.data[shorter] : b->last;
    if (next_a != next_b)
        return next_a - next_b;
    return (a->name.length > b->name.length) - (a->name.length < b->name.length);
}

/* Return true when `longer` begins with `name` and a blank. */
static bool collapsed_continues_name(struct tv_bytes name, struct tv_bytes longer)
{
    return longer.length > name.length && longer.data[name.length] == ' ' &&
           tv_bytes_starts_with(longer, name);
}

/* Rank all names twice, followed by a blank and by a semicolon: lines are sorted by bytes as a
 * whole, so what follows a name counts. */
static void collapsed_rank_names(struct collapsed_listing *l)
{
    const struct tv_interner *names = l->tree->names;
    uint32_t count = tv_interner_count(names);
    struct collapsed_key *keys = l->keys = tv_alloc(count, 2 * sizeof *keys);
    l->rank = tv_alloc(count, 2 * sizeof *l->rank);
    l->continued = tv_alloc(count, sizeof *l->continued);
    for (uint32_t i = 0; i < count; i++) {
        struct tv_bytes name = tv_interner_get(names, i);
        keys[2 * (size_t)i] = (struct collapsed_key){name, ' ', i};
        keys[2 * (size_t)i + 1] = (struct collapsed_key){name, ';', i};
    }
    qsort(keys, 2 * (size_t)count, sizeof *keys, collapsed_compare_keys);
    for (size_t i = 0; i < 2 * (size_t)count; i++) {
        l->rank[2 * (size_t)keys[i].id + (keys[i].last == ';')] = (uint32_t)i;
        /* A name that continues another sorts right after the other's "name ". */
        if (keys[i].last == ' ' && i + 1 < 2 * (size_t)count &&
            collapsed_continues_name(keys[i].name, keys[i + 1].name))
            l->continued[keys[i].id] = l->any_continued = true;
    }
}

/* Does a number round to more than zero? */
static bool collapsed_shows(struct tv_collapsed_unit unit, int64_t self)
{
    return unit.fractions ? self > 0 : self >= unit.ns;
}

static bool collapsed_has_line(const struct collapsed_listing *l, uint32_t node)
{
    return collapsed_shows(l->unit, l->tree->self[node]) ||
           (l->tree->other && collapsed_shows(l->unit, l->tree->other[node]));
}

/* Write a figure in the unit of the listing, without zeros at the end of its fraction. */
static void collapsed_write_self(struct tv_out *out, const struct collapsed_listing *l,
                                 int64_t self)
{
    int64_t rest = self % l->unit.ns, part = l->unit.ns / 10;
    tv_out_i64(out, self / l->unit.ns);
    if (!l->unit.fractions || rest == 0)
        return;
    tv_out_char(out, '.');
    for (; rest > 0 && part > 0; part /= 10) {
        tv_out_char(out, (char)('0' + rest / part));
        rest %= part;
    }
}

static void collapsed_write_number(struct tv_out *out, const struct collapsed_listing *l,
                                   uint32_t node)
{
    collapsed_write_self(out, l, l->tree->self[node]);
    if (!l->tree->other)
        return;
    tv_out_char(out, ' ');
    collapsed_write_self(out, l, l->tree->other[node]);
}

static uint32_t collapsed_node_of(uint64_t item)
{
    return (uint32_t)item;
}

static const struct collapsed_key *collapsed_key_of(const struct collapsed_listing *l,
                                                    uint64_t item)
{
    return &l->keys[item >> 32];
}

static bool collapsed_goes_below(const struct collapsed_listing *l, uint64_t item)
{
    return collapsed_key_of(l, item)->last == ';';
}

/* Count the items of each node. A node's start is kept one place after its own, because
 * collapsed_append_item() advances it while it distributes the items. */
static void collapsed_count_items(struct collapsed_listing *l)
{
    const uint32_t *parent = l->tree->parent;
    for (uint32_t i = l->tree->count; i-- > 1;) {
        uint32_t line = collapsed_has_line(l, i);
        l->below[parent[i]] += l->below[i] + line;
        l->first[parent[i] + 2] += (l->below[i] > 0) + line;
    }
    for (size_t i = 1; i < (size_t)l->tree->count + 2; i++)
        l->first[i] += l->first[i - 1];
}

static void collapsed_append_item(struct collapsed_listing *l, uint32_t node, bool on)
{
    uint64_t rank = l->rank[2 * (size_t)l->tree->name[node] + on];
    l->items[l->first[l->tree->parent[node] + 1]++] = rank << 32 | node;
}

static int collapsed_compare_items(const void *left, const void *right)
{
    uint64_t a, b;
    memcpy(&a, left, sizeof a);
    memcpy(&b, right, sizeof b);
    return (a > b) - (a < b);
}

static void collapsed_sort_items(uint64_t *items, size_t count)
{
    if (count >= MANY_ITEMS) {
        qsort(items, count, sizeof *items, collapsed_compare_items);
        return;
    }
    TV_SORT_FEW(items, count);
}

/* Fill l->items with the sorted items of every node. */
static void collapsed_spread_items(struct collapsed_listing *l)
{
    uint32_t count = l->tree->count;
    l->below = tv_pages_alloc(tv_size_mul(count, sizeof *l->below));
    l->first = tv_pages_alloc(tv_size_mul((size_t)count + 2, sizeof *l->first));
    collapsed_count_items(l);
    l->item_count = l->first[count + (size_t)1];
    l->items = tv_pages_alloc(tv_size_mul(l->item_count, sizeof *l->items));
    for (uint32_t i = 1; i < count; i++) {
        if (collapsed_has_line(l, i))
            collapsed_append_item(l, i, false);
        if (l->below[i] > 0)
            collapsed_append_item(l, i, true);
    }
    assert(l->first[count] == l->item_count);
    for (uint32_t i = 0; i < count; i++)
        collapsed_sort_items(&l->items[l->first[i]], l->first[i + 1] - l->first[i]);
}

/* ---- Names that continue other names ---- */

struct collapsed_item_text {
    char *text;
    size_t length;
    uint64_t item;
};

static int collapsed_compare_item_texts(const void *left, const void *right)
{
    const struct collapsed_item_text *a = left, *b = right;
    return tv_bytes_compare((struct tv_bytes){(const uint8_t *)a->text, a->length},
                            (struct tv_bytes){(const uint8_t *)b->text, b->length});
}

static struct collapsed_item_text collapsed_write_item_text(const struct collapsed_listing *l,
                                                            uint64_t item)
{
    struct tv_out text;
    uint32_t node = collapsed_node_of(item);
    tv_out_init_memory(&text);
    tv_out_bytes(&text, tv_name_tree_text(l->tree, node));
    tv_out_char(&text, collapsed_key_of(l, item)->last);
    if (!collapsed_goes_below(l, item))
        collapsed_write_number(&text, l, node);
    return (struct collapsed_item_text){(char *)text.buffer, text.length, item};
}

static void collapsed_sort_by_text(struct collapsed_listing *l, size_t first, size_t end)
{
    struct collapsed_item_text *wholes = tv_alloc(end - first, sizeof *wholes);
    for (size_t i = first; i < end; i++)
        wholes[i - first] = collapsed_write_item_text(l, l->items[i]);
    qsort(wholes, end - first, sizeof *wholes, collapsed_compare_item_texts);
    for (size_t i = first; i < end; i++) {
        l->items[i] = wholes[i - first].item;
        tv_free(wholes[i - first].text);
    }
    tv_free(wholes);
}

static bool collapsed_has_continued_name(const struct collapsed_listing *l, size_t first,
                                         size_t end)
{
    for (size_t i = first; i < end; i++) {
        if (l->continued[collapsed_key_of(l, l->items[i])->id])
            return true;
    }
    return false;
}

static void collapsed_sort_continued(struct collapsed_listing *l)
{
    for (uint32_t node = 0; l->any_continued && node < l->tree->count; node++) {
        if (collapsed_has_continued_name(l, l->first[node], l->first[node + 1]))
            collapsed_sort_by_text(l, l->first[node], l->first[node + 1]);
    }
}

/* ---- Writing ---- */

/* Longest chain whose text is kept as a prefix. Longer chains are written name by name: the text
 * of a deep chain has no bound in terms of its frames. */
#define LONGEST_PREFIX ((uint64_t)1024 * 1024)

/* A node whose items are being written. */
struct collapsed_level {
    size_t next, end; /* indices of items */
    size_t prefix;    /* length of the text in front of the node's items */
    uint32_t node;
};

struct collapsed_walk {
    bool by_name; /* the prefix is not used */
    struct tv_out prefix;
    struct collapsed_level *levels;
    size_t count, capacity;
};

/* Start to write a node's items. Nodes are in the order of their creation, not of the output, so
 * prefetch what the items will need. */
static void collapsed_open_node(struct collapsed_walk *walk, const struct collapsed_listing *l,
                                uint32_t node)
{
    walk->levels =
        tv_array_reserve(walk->levels, &walk->capacity, walk->count + 1, sizeof *walk->levels);
    struct collapsed_level level = {l->first[node], l->first[node + 1], walk->prefix.length, node};
    walk->levels[walk->count++] = level;
    for (size_t i = level.next; i < level.end && i - level.next < MANY_ITEMS; i++) {
        TV_PREFETCH(&l->tree->self[collapsed_node_of(l->items[i])]);
        TV_PREFETCH(&l->first[collapsed_node_of(l->items[i])]);
    }
}

static void collapsed_write_line(struct tv_out *out, const struct collapsed_listing *l,
                                 const struct collapsed_walk *walk, uint64_t item)
{
    assert(!collapsed_goes_below(l, item));
    for (size_t i = 1; walk->by_name && i < walk->count; i++) {
        tv_out_bytes(out, tv_name_tree_text(l->tree, walk->levels[i].node));
        tv_out_char(out, ';');
    }
    tv_out_bytes(out, (struct tv_bytes){walk->prefix.buffer, walk->prefix.length});
    tv_out_bytes(out, collapsed_key_of(l, item)->name);
    tv_out_char(out, ' ');
    collapsed_write_number(out, l, collapsed_node_of(item));
    tv_out_char(out, '\n');
}

static void collapsed_enter_node(struct collapsed_walk *walk, const struct collapsed_listing *l,
                                 uint64_t item)
{
    assert(collapsed_goes_below(l, item));
    if (!walk->by_name) {
        tv_out_bytes(&walk->prefix, collapsed_key_of(l, item)->name);
        tv_out_char(&walk->prefix, ';');
    }
    collapsed_open_node(walk, l, collapsed_node_of(item));
}

/* Position the walk at the line with this number. */
static void collapsed_seek_line(struct collapsed_walk *walk, const struct collapsed_listing *l,
                                uint32_t line)
{
    *walk = (struct collapsed_walk){.by_name = l->longest > LONGEST_PREFIX};
    tv_out_init_memory(&walk->prefix);
    collapsed_open_node(walk, l, TV_ROOT_PATH);
    while (line > 0) {
        struct collapsed_level *level = &walk->levels[walk->count - 1];
        uint64_t item = l->items[level->next++];
        uint32_t lines = collapsed_goes_below(l, item) ? l->below[collapsed_node_of(item)] : 1;
        if (line < lines)
            collapsed_enter_node(walk, l, item);
        else
            line -= lines;
    }
}

/* Write up to `count` lines from line `first` on, and stop when the buffer holds `most` bytes.
 * Return the number of lines. */
static uint32_t collapsed_write_lines(struct tv_out *out, const struct collapsed_listing *l,
                                      uint32_t first, uint32_t count, size_t most)
{
    uint32_t written = 0;
    struct collapsed_walk walk;
    collapsed_seek_line(&walk, l, first);
    while (walk.count > 0 && written < count && out->length < most) {
        struct collapsed_level *level = &walk.levels[walk.count - 1];
        walk.prefix.length = level->prefix;
        if (level->next == level->end) {
            walk.count--;
            continue;
        }
        uint64_t item = l->items[level->next++];
        if (collapsed_goes_below(l, item)) {
            collapsed_enter_node(&walk, l, item);
            continue;
        }
        collapsed_write_line(out, l, &walk, item);
        written++;
    }
    tv_out_release(&walk.prefix);
    tv_free(walk.levels);
    return written;
}

/* ---- Several threads ---- */

/* Lines of one thread's share of a round: FIRST_SHARE in the first round; then the share is
 * doubled or halved to keep its text between LAST_TEXT and MAX_TEXT bytes. */
#define FIRST_SHARE 64u
#define MIN_TEXT ((size_t)2 * 1024 * 1024)
#define MAX_TEXT ((size_t)16 * 1024 * 1024)
#define MAX_WORKERS 8u

struct collapsed_share {
    const struct collapsed_listing *l;
    struct tv_out text;
    uint32_t first, count, written;
};

static void collapsed_write_share(void *context, unsigned index)
{
    struct collapsed_share *share = &((struct collapsed_share *)context)[index];
    share->written =
        collapsed_write_lines(&share->text, share->l, share->first, share->count, MAX_TEXT);
}

/* Write the results of a round, up to the first share that was cut short. Return the number of
 * lines. */
static uint32_t collapsed_write_shares(struct tv_out *out, struct collapsed_share *shares,
                                       unsigned count)
{
    uint32_t lines = 0;
    bool whole = true;
    for (unsigned i = 0; i < count; i++) {
        struct tv_out *text = &shares[i].text;
        if (whole) {
            tv_out_bytes(out, (struct tv_bytes){text->buffer, text->length});
            lines += shares[i].written;
            whole = shares[i].written == shares[i].count;
        }
        text->length = 0;
    }
    return lines;
}

/* Write the lines on several threads in rounds, so that not all of the text is in memory at
 * once. */
static void collapsed_write_in_rounds(struct tv_out *out, const struct collapsed_listing *l,
                                      unsigned workers)
{
    struct collapsed_share *shares = tv_alloc(workers, sizeof *shares);
    uint32_t lines = l->below[TV_ROOT_PATH], share = FIRST_SHARE;
    for (unsigned i = 0; i < workers; i++)
        tv_out_init_memory(&shares[i].text);
    for (uint32_t done = 0; done < lines;) {
        uint32_t first = done;
        for (unsigned i = 0; i < workers; i++) {
            shares[i].l = l;
            shares[i].first = first;
            shares[i].count = lines - first < share ? lines - first : share;
            first += shares[i].count;
        }
        tv_workers_run(workers, collapsed_write_share, shares);
        bool much = shares[0].text.length >= MAX_TEXT / 2;
        bool little = shares[0].text.length < MIN_TEXT;
        done += collapsed_write_shares(out, shares, workers);
        if (much)
            share = share / 2 + 1;
        else if (little && share < lines / 2)
            share *= 2;
    }
    for (unsigned i = 0; i < workers; i++)
        tv_out_release(&shares[i].text);
    tv_free(shares);
}

struct tv_collapsed_unit tv_collapsed_unit_of(const struct tv_call_tree *tree)
{
    const struct tv_trace_info *head = tree->head;
    if (tv_sample_figures_are_thousandths(head, &tree->figures))
        return (struct tv_collapsed_unit){THOUSANDTHS, true};
    if (!tv_sample_figures_are_times(head, &tree->figures))
        return (struct tv_collapsed_unit){1, false};
    return (struct tv_collapsed_unit){US, false};
}

struct tv_collapsed_omitted tv_collapsed_find_omitted(const struct tv_name_tree *tree,
                                                      struct tv_collapsed_unit unit)
{
    struct tv_collapsed_omitted rest = {0, 0};
    const struct collapsed_listing l = {.tree = tree, .unit = unit};
    for (uint32_t i = 1; i < tree->count && !unit.fractions; i++) {
        int64_t self = tree->self[i];
        if (tree->other)
            tv_time_add(&self, tree->other[i]);
        bool small = self > 0 && !collapsed_has_line(&l, i);
        rest.chains += small;
        tv_time_add(&rest.ns, small ? self : 0);
    }
    return rest;
}

static uint64_t collapsed_add_saturating(uint64_t sum, uint64_t more)
{
    return more < UINT64_MAX - sum ? sum + more : UINT64_MAX;
}

uint64_t tv_collapsed_measure(const struct tv_name_tree *tree, struct tv_collapsed_unit unit,
                              uint64_t *longest)
{
    const struct collapsed_listing l = {.tree = tree, .unit = unit};
    size_t size = tv_size_mul(tree->count, sizeof(uint64_t));
    uint64_t *above = tv_pages_alloc(size), sum = 0; /* [nodes] length of "root;...;node;" */
    struct tv_out number;
    tv_out_init_memory(&number);
    *longest = 0;
    for (uint32_t i = 1; i < tree->count; i++) {
        above[i] = collapsed_add_saturating(above[tree->parent[i]],
                                            (uint64_t)tv_name_tree_text(tree, i).length + 1);
        if (!collapsed_has_line(&l, i))
            continue;
        number.length = 0;
        collapsed_write_number(&number, &l, i);
        uint64_t line = collapsed_add_saturating(above[i], (uint64_t)number.length + 1);
        sum = collapsed_add_saturating(sum, line);
        *longest = line > *longest ? line : *longest;
    }
    tv_out_release(&number);
    tv_pages_free(above, size);
    return sum;
}

void tv_collapsed_write(struct tv_out *out, const struct tv_name_tree *tree,
                        struct tv_collapsed_unit unit, unsigned workers)
{
    struct collapsed_listing l = {.tree = tree, .unit = unit};
    tv_collapsed_measure(tree, unit, &l.longest);
    collapsed_rank_names(&l);
    collapsed_spread_items(&l);
    collapsed_sort_continued(&l);
    if (workers == 0)
        workers = tv_workers_available();
    if (workers > 1 && l.below[TV_ROOT_PATH] > FIRST_SHARE && l.longest <= LONGEST_PREFIX)
        collapsed_write_in_rounds(out, &l, workers < MAX_WORKERS ? workers : MAX_WORKERS);
    else
        collapsed_write_lines(out, &l, 0, UINT32_MAX, SIZE_MAX);
    tv_free(l.keys);
    tv_free(l.rank);
    tv_free(l.continued);
    tv_pages_free(l.below, l.tree->count * sizeof *l.below);
    tv_pages_free(l.items, l.item_count * sizeof *l.items);
    tv_pages_free(l.first, ((size_t)l.tree->count + 2) * sizeof *l.first);
}
