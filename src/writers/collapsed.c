/* SPDX-License-Identifier: Apache-2.0 */
/*
 * collapsed.c - the sorted lines without sorting lines.
 *
 * Below a node each child gives up to two items: the line that ends with it, "name 12", and the
 * lines that go on below it, "name;...".  Sorting the items of each node sorts the lines.  All
 * "name " and "name;" are ranked once; items are spread by rank, then by parent, both by counting.
 * As names hold no ';', no item's text is the beginning of another's, but for one case: a name that
 * another continues with a blank ("run", "run 2").  There the number decides, and the node's items
 * are sorted again by their whole texts.
 */
#include "writers/collapsed.h"

#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/memory.h"

#define US 1000

/* An item is node * 2, plus 1 when it goes on below. */
#define GOES_ON 1u

struct key {
    struct tv_bytes name;
    char last; /* ' ' or ';' */
    uint32_t id;
};

struct listing {
    const struct tv_name_tree *tree;
    struct tv_collapsed_unit unit;
    uint32_t *rank;  /* [names * 2] of "name " and "name;" */
    bool *continued; /* [names] another name begins with this one and a blank */
    bool any_continued;
    size_t item_count;
    uint64_t *items; /* in the order in which they are written, node by node */
    size_t *first;   /* [nodes + 1] where a node's items begin */
};

/* name + last, bytewise. */
static int compare_keys(const void *left, const void *right)
{
    const struct key *a = left, *b = right;
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

/* Does `longer` begin with `name` and a blank? */
static bool continues(struct tv_bytes name, struct tv_bytes longer)
{
    return longer.length > name.length && longer.data[name.length] == ' ' &&
           tv_bytes_starts_with(longer, name);
}

static void rank_names(struct listing *l)
{
    const struct tv_interner *names = l->tree->names;
    uint32_t count = tv_interner_count(names);
    struct key *keys = tv_alloc(count, 2 * sizeof *keys);
    l->rank = tv_alloc(count, 2 * sizeof *l->rank);
    l->continued = tv_alloc(count, sizeof *l->continued);
    for (uint32_t i = 0; i < count; i++) {
        struct tv_bytes name = tv_interner_get(names, i);
        keys[2 * (size_t)i] = (struct key){name, ' ', i};
        keys[2 * (size_t)i + 1] = (struct key){name, ';', i};
    }
    qsort(keys, 2 * (size_t)count, sizeof *keys, compare_keys);
    for (size_t i = 0; i < 2 * (size_t)count; i++) {
        l->rank[2 * (size_t)keys[i].id + (keys[i].last == ';')] = (uint32_t)i;
        /* What continues a name stands right behind its "name ". */
        if (keys[i].last == ' ' && i + 1 < 2 * (size_t)count &&
            continues(keys[i].name, keys[i + 1].name))
            l->continued[keys[i].id] = l->any_continued = true;
    }
    tv_free(keys);
}

static bool has_line(const struct listing *l, uint32_t node)
{
    int64_t self = l->tree->self[node];
    return l->unit.fractions ? self > 0 : self / l->unit.ns > 0;
}

static void write_number(struct tv_out *out, const struct listing *l, uint32_t node)
{
    int64_t self = l->tree->self[node], rest = self % l->unit.ns, part = l->unit.ns / 10;
    tv_out_i64(out, self / l->unit.ns);
    if (!l->unit.fractions || rest == 0)
        return;
    tv_out_char(out, '.');
    for (; rest > 0 && part > 0; part /= 10) {
        tv_out_char(out, (char)('0' + rest / part));
        rest %= part;
    }
}

/* Whether any line stands below or at each node: what has none is left out as a whole. */
static bool *find_lines(const struct listing *l)
{
    bool *below = tv_alloc(l->tree->count, sizeof *below);
    for (uint32_t i = l->tree->count; i-- > 1;) {
        if (below[i] || has_line(l, i))
            below[l->tree->parent[i]] = true;
    }
    return below;
}

static uint32_t node_of(uint64_t item)
{
    return (uint32_t)(item / 2);
}

static uint32_t rank_of(const struct listing *l, uint64_t item)
{
    return l->rank[2 * (size_t)l->tree->name[node_of(item)] + (item & GOES_ON)];
}

static void add_item(struct listing *l, uint64_t item, size_t *of_rank)
{
    of_rank[rank_of(l, item) + 1]++;
    l->first[l->tree->parent[node_of(item)] + 1]++;
    l->items[l->item_count++] = item;
}

/* Fills l->items with every node's items in order. */
static void spread_items(struct listing *l)
{
    uint32_t count = l->tree->count;
    size_t ranks = 2 * (size_t)tv_interner_count(l->tree->names);
    size_t *of_rank = tv_alloc(ranks + 1, sizeof *of_rank);
    bool *below = find_lines(l);
    l->first = tv_alloc((size_t)count + 1, sizeof *l->first);
    l->items = tv_alloc(count, 2 * sizeof *l->items);
    for (uint32_t i = 1; i < count; i++) {
        if (has_line(l, i))
            add_item(l, 2 * (uint64_t)i, of_rank);
        if (below[i])
            add_item(l, 2 * (uint64_t)i + GOES_ON, of_rank);
    }
    tv_free(below);
    for (size_t i = 0; i < ranks; i++)
        of_rank[i + 1] += of_rank[i];
    for (uint32_t i = 0; i < count; i++)
        l->first[i + 1] += l->first[i];

    uint64_t *ranked = tv_alloc(l->item_count, sizeof *ranked);
    for (size_t i = 0; i < l->item_count; i++)
        ranked[of_rank[rank_of(l, l->items[i])]++] = l->items[i];
    size_t *place = tv_alloc((size_t)count + 1, sizeof *place);
    memcpy(place, l->first, ((size_t)count + 1) * sizeof *place);
    for (size_t i = 0; i < l->item_count; i++)
        l->items[place[l->tree->parent[node_of(ranked[i])]]++] = ranked[i];
    tv_free(place);
    tv_free(ranked);
    tv_free(of_rank);
}

/* ---- The case of names that continue others ---- */

struct whole {
    char *text;
    size_t length;
    uint64_t item;
};

static int compare_wholes(const void *left, const void *right)
{
    const struct whole *a = left, *b = right;
    return tv_bytes_compare((struct tv_bytes){(const uint8_t *)a->text, a->length},
                            (struct tv_bytes){(const uint8_t *)b->text, b->length});
}

static struct whole write_whole(const struct listing *l, uint64_t item)
{
    struct tv_out text;
    uint32_t node = node_of(item);
    tv_out_init_memory(&text);
    tv_out_bytes(&text, tv_name_tree_text(l->tree, node));
    tv_out_char(&text, item & GOES_ON ? ';' : ' ');
    if (!(item & GOES_ON))
        write_number(&text, l, node);
    return (struct whole){(char *)text.buffer, text.length, item};
}

static void sort_again(struct listing *l, size_t first, size_t end)
{
    struct whole *wholes = tv_alloc(end - first, sizeof *wholes);
    for (size_t i = first; i < end; i++)
        wholes[i - first] = write_whole(l, l->items[i]);
    qsort(wholes, end - first, sizeof *wholes, compare_wholes);
    for (size_t i = first; i < end; i++) {
        l->items[i] = wholes[i - first].item;
        tv_free(wholes[i - first].text);
    }
    tv_free(wholes);
}

static bool is_continued(const struct listing *l, size_t first, size_t end)
{
    for (size_t i = first; i < end; i++) {
        if (l->continued[l->tree->name[node_of(l->items[i])]])
            return true;
    }
    return false;
}

static void settle_continued(struct listing *l)
{
    for (uint32_t node = 0; l->any_continued && node < l->tree->count; node++) {
        if (is_continued(l, l->first[node], l->first[node + 1]))
            sort_again(l, l->first[node], l->first[node + 1]);
    }
}

/* ---- Writing ---- */

/* A node whose items are being written. */
struct level {
    size_t next, end; /* items */
    size_t prefix;    /* length of the text in front of them */
};

struct walk {
    struct tv_out prefix;
    struct level *levels;
    size_t count, capacity;
};

static void open_node(struct walk *walk, const struct listing *l, uint32_t node)
{
    walk->levels =
        tv_array_reserve(walk->levels, &walk->capacity, walk->count + 1, sizeof *walk->levels);
    walk->levels[walk->count++] =
        (struct level){l->first[node], l->first[node + 1], walk->prefix.length};
}

static void write_line(struct tv_out *out, const struct listing *l, const struct walk *walk,
                       uint32_t node)
{
    tv_out_bytes(out, (struct tv_bytes){walk->prefix.buffer, walk->prefix.length});
    tv_out_bytes(out, tv_name_tree_text(l->tree, node));
    tv_out_char(out, ' ');
    write_number(out, l, node);
    tv_out_char(out, '\n');
}

static void write_lines(struct tv_out *out, const struct listing *l)
{
    struct walk walk = {.levels = NULL};
    tv_out_init_memory(&walk.prefix);
    open_node(&walk, l, TV_ROOT_PATH);
    while (walk.count > 0) {
        struct level *level = &walk.levels[walk.count - 1];
        walk.prefix.length = level->prefix;
        if (level->next == level->end) {
            walk.count--;
            continue;
        }
        uint64_t item = l->items[level->next++];
        if (!(item & GOES_ON)) {
            write_line(out, l, &walk, node_of(item));
            continue;
        }
        tv_out_bytes(&walk.prefix, tv_name_tree_text(l->tree, node_of(item)));
        tv_out_char(&walk.prefix, ';');
        open_node(&walk, l, node_of(item));
    }
    tv_out_release(&walk.prefix);
    tv_free(walk.levels);
}

struct tv_collapsed_unit tv_collapsed_unit_of(const struct tv_head *head)
{
    struct tv_collapsed_unit unit = {US, head->input_count > 0};
    for (uint32_t i = 0; i < head->input_count; i++) {
        const struct tv_input *input = &head->inputs[i];
        if (!input->timeless || input->timed_weights || input->tick_ns >= US)
            unit.fractions = false;
    }
    return unit;
}

void tv_collapsed_write(struct tv_out *out, const struct tv_name_tree *tree,
                        struct tv_collapsed_unit unit)
{
    struct listing l = {.tree = tree, .unit = unit};
    rank_names(&l);
    spread_items(&l);
    settle_continued(&l);
    write_lines(out, &l);
    tv_free(l.rank);
    tv_free(l.continued);
    tv_free(l.items);
    tv_free(l.first);
}
