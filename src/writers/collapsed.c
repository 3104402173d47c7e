/* SPDX-License-Identifier: Apache-2.0 */
/*
 * collapsed.c - the sorted lines without sorting lines.
 *
 * Below a node each child gives up to two items: the line that ends with it, "name 12", and the
 * lines that go on below it, "name;...".  Sorting the items of each node sorts the lines.  All
 * "name " and "name;" are ranked once; items are spread by parent, then those of each by rank.
 * As names hold no ';', no item's text is the beginning of another's, but for one case: a name that
 * another continues with a blank ("run", "run 2").  There the number decides, and the node's items
 * are sorted again by their whole texts.
 */
#include "writers/collapsed.h"

#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/memory.h"
#include "base/workers.h"

#define US 1000

/* Of so many items and more the order is not made by looking at all pairs. */
#define MANY_ITEMS 24

/* "name " or "name;". */
struct key {
    struct tv_bytes name;
    char last; /* ' ' or ';' */
    uint32_t id;
};

struct listing {
    const struct tv_name_tree *tree;
    struct tv_collapsed_unit unit;
    struct key *keys; /* [names * 2] in order */
    uint32_t *rank;   /* [names * 2] places in it of "name " and "name;" */
    bool *continued;  /* [names] another name begins with this one and a blank */
    bool any_continued;
    uint32_t *below; /* [nodes] lines below each: what has none is left out as a whole */
    uint64_t *items; /* rank << 32 | node, in the order in which they are written, node by node */
    size_t item_count;
    size_t *first;    /* [nodes + 2] where a node's items begin */
    uint64_t longest; /* line */
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
    struct key *keys = l->keys = tv_alloc(count, 2 * sizeof *keys);
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
}

static bool has_line(const struct listing *l, uint32_t node)
{
    int64_t self = l->tree->self[node];
    return l->unit.fractions ? self > 0 : self >= l->unit.ns;
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

static uint32_t node_of(uint64_t item)
{
    return (uint32_t)item;
}

static const struct key *key_of(const struct listing *l, uint64_t item)
{
    return &l->keys[item >> 32];
}

static bool goes_on(const struct listing *l, uint64_t item)
{
    return key_of(l, item)->last == ';';
}

/* Where the items of a node begin comes to stand in the place behind its own, until they are put
 * there. */
static void count_items(struct listing *l)
{
    const uint32_t *parent = l->tree->parent;
    for (uint32_t i = l->tree->count; i-- > 1;) {
        uint32_t line = has_line(l, i);
        l->below[parent[i]] += l->below[i] + line;
        l->first[parent[i] + 2] += (l->below[i] > 0) + line;
    }
    for (size_t i = 1; i < (size_t)l->tree->count + 2; i++)
        l->first[i] += l->first[i - 1];
}

static void put_item(struct listing *l, uint32_t node, bool on)
{
    uint64_t rank = l->rank[2 * (size_t)l->tree->name[node] + on];
    l->items[l->first[l->tree->parent[node] + 1]++] = rank << 32 | node;
}

static int compare_items(const void *left, const void *right)
{
    uint64_t a, b;
    memcpy(&a, left, sizeof a);
    memcpy(&b, right, sizeof b);
    return (a > b) - (a < b);
}

static void sort_items(uint64_t *items, size_t count)
{
    if (count >= MANY_ITEMS) {
        qsort(items, count, sizeof *items, compare_items);
        return;
    }
    for (size_t i = 1; i < count; i++) {
        uint64_t item = items[i];
        size_t at = i;
        for (; at > 0 && items[at - 1] > item; at--)
            items[at] = items[at - 1];
        items[at] = item;
    }
}

/* Fills l->items with every node's items in order. */
static void spread_items(struct listing *l)
{
    uint32_t count = l->tree->count;
    l->below = tv_pages_alloc(tv_size_mul(count, sizeof *l->below));
    l->first = tv_pages_alloc(tv_size_mul((size_t)count + 2, sizeof *l->first));
    count_items(l);
    l->item_count = l->first[count + (size_t)1];
    l->items = tv_pages_alloc(tv_size_mul(l->item_count, sizeof *l->items));
    for (uint32_t i = 1; i < count; i++) {
        if (has_line(l, i))
            put_item(l, i, false);
        if (l->below[i] > 0)
            put_item(l, i, true);
    }
    for (uint32_t i = 0; i < count; i++)
        sort_items(&l->items[l->first[i]], l->first[i + 1] - l->first[i]);
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
    tv_out_char(&text, key_of(l, item)->last);
    if (!goes_on(l, item))
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
        if (l->continued[key_of(l, l->items[i])->id])
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

/* Chains longer than this are written name by name: memory would hold the text of a deep one, which
 * has no bound in the number of its frames alone. */
#define LONGEST_PREFIX ((uint64_t)1024 * 1024)

/* A node whose items are being written. */
struct level {
    size_t next, end; /* items */
    size_t prefix;    /* length of the text in front of them */
    uint32_t node;
};

struct walk {
    bool by_name; /* `prefix` stays empty */
    struct tv_out prefix;
    struct level *levels;
    size_t count, capacity;
};

/* Nodes lie as they were met, not as they are written: what its items ask for is asked for now. */
static void open_node(struct walk *walk, const struct listing *l, uint32_t node)
{
    walk->levels =
        tv_array_reserve(walk->levels, &walk->capacity, walk->count + 1, sizeof *walk->levels);
    struct level level = {l->first[node], l->first[node + 1], walk->prefix.length, node};
    walk->levels[walk->count++] = level;
    for (size_t i = level.next; i < level.end && i - level.next < MANY_ITEMS; i++) {
        TV_PREFETCH(&l->tree->self[node_of(l->items[i])]);
        TV_PREFETCH(&l->first[node_of(l->items[i])]);
    }
}

static void write_line(struct tv_out *out, const struct listing *l, const struct walk *walk,
                       uint64_t item)
{
    for (size_t i = 1; walk->by_name && i < walk->count; i++) {
        tv_out_bytes(out, tv_name_tree_text(l->tree, walk->levels[i].node));
        tv_out_char(out, ';');
    }
    tv_out_bytes(out, (struct tv_bytes){walk->prefix.buffer, walk->prefix.length});
    tv_out_bytes(out, key_of(l, item)->name);
    tv_out_char(out, ' ');
    write_number(out, l, node_of(item));
    tv_out_char(out, '\n');
}

static void go_down(struct walk *walk, const struct listing *l, uint64_t item)
{
    if (!walk->by_name) {
        tv_out_bytes(&walk->prefix, key_of(l, item)->name);
        tv_out_char(&walk->prefix, ';');
    }
    open_node(walk, l, node_of(item));
}

/* The walk at the line of this number. */
static void begin_at(struct walk *walk, const struct listing *l, uint32_t line)
{
    *walk = (struct walk){.by_name = l->longest > LONGEST_PREFIX};
    tv_out_init_memory(&walk->prefix);
    open_node(walk, l, TV_ROOT_PATH);
    while (line > 0) {
        struct level *level = &walk->levels[walk->count - 1];
        uint64_t item = l->items[level->next++];
        uint32_t lines = goes_on(l, item) ? l->below[node_of(item)] : 1;
        if (line < lines)
            go_down(walk, l, item);
        else
            line -= lines;
    }
}

/* Writes up to `count` lines from one of them on, and none any more once `most` bytes are in the
 * buffer; returns their number. */
static uint32_t write_lines(struct tv_out *out, const struct listing *l, uint32_t first,
                            uint32_t count, size_t most)
{
    uint32_t written = 0;
    struct walk walk;
    begin_at(&walk, l, first);
    while (walk.count > 0 && written < count && out->length < most) {
        struct level *level = &walk.levels[walk.count - 1];
        walk.prefix.length = level->prefix;
        if (level->next == level->end) {
            walk.count--;
            continue;
        }
        uint64_t item = l->items[level->next++];
        if (goes_on(l, item)) {
            go_down(&walk, l, item);
            continue;
        }
        write_line(out, l, &walk, item);
        written++;
    }
    tv_out_release(&walk.prefix);
    tv_free(walk.levels);
    return written;
}

/* ---- On several threads ---- */

/* A thread's share of a turn begins with so many lines, until it is so much text. */
#define FIRST_SHARE 64u
#define LEAST_TEXT ((size_t)2 * 1024 * 1024)
#define MOST_TEXT ((size_t)16 * 1024 * 1024)
#define MOST_WORKERS 8u

struct share {
    const struct listing *l;
    struct tv_out text;
    uint32_t first, count, written;
};

static void write_share(void *context, unsigned index)
{
    struct share *share = &((struct share *)context)[index];
    share->written = write_lines(&share->text, share->l, share->first, share->count, MOST_TEXT);
}

/* Writes what was done of a turn, up to where a share was too long; returns the lines. */
static uint32_t put_shares(struct tv_out *out, struct share *shares, unsigned count)
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

/* Lines are written beside each other in turns, so that not all of the text is in memory. */
static void write_in_turns(struct tv_out *out, const struct listing *l, unsigned workers)
{
    struct share *shares = tv_alloc(workers, sizeof *shares);
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
        tv_workers_run(workers, write_share, shares);
        bool much = shares[0].text.length >= MOST_TEXT / 2;
        bool little = shares[0].text.length < LEAST_TEXT;
        done += put_shares(out, shares, workers);
        if (much)
            share = share / 2 + 1;
        else if (little && share < lines / 2)
            share *= 2;
    }
    for (unsigned i = 0; i < workers; i++)
        tv_out_release(&shares[i].text);
    tv_free(shares);
}

struct tv_collapsed_unit tv_collapsed_unit_of(const struct tv_trace_info *head)
{
    struct tv_collapsed_unit unit = {US, tv_trace_info_figures(head) == TV_FIGURES_SAMPLES};
    for (uint32_t i = 0; i < head->input_count; i++)
        unit.fractions = unit.fractions && head->inputs[i].tick_ns < US;
    return unit;
}

bool tv_collapsed_is_counted(const struct tv_trace_info *head)
{
    return tv_trace_info_figures(head) == TV_FIGURES_SAMPLES;
}

struct tv_collapsed_rest tv_collapsed_find_rest(const struct tv_name_tree *tree,
                                                struct tv_collapsed_unit unit)
{
    struct tv_collapsed_rest rest = {0, 0};
    for (uint32_t i = 1; i < tree->count && !unit.fractions; i++) {
        bool small = tree->self[i] > 0 && tree->self[i] < unit.ns;
        rest.chains += small;
        tv_time_add(&rest.ns, small ? tree->self[i] : 0);
    }
    return rest;
}

static uint64_t add_within(uint64_t sum, uint64_t more)
{
    return more < UINT64_MAX - sum ? sum + more : UINT64_MAX;
}

uint64_t tv_collapsed_measure(const struct tv_name_tree *tree, struct tv_collapsed_unit unit,
                              uint64_t *longest)
{
    const struct listing l = {.tree = tree, .unit = unit};
    size_t size = tv_size_mul(tree->count, sizeof(uint64_t));
    uint64_t *above = tv_pages_alloc(size), sum = 0; /* [nodes] of "root;...;node;" */
    struct tv_out number;
    tv_out_init_memory(&number);
    *longest = 0;
    for (uint32_t i = 1; i < tree->count; i++) {
        above[i] =
            add_within(above[tree->parent[i]], (uint64_t)tv_name_tree_text(tree, i).length + 1);
        if (!has_line(&l, i))
            continue;
        number.length = 0;
        write_number(&number, &l, i);
        uint64_t line = add_within(above[i], (uint64_t)number.length + 1);
        sum = add_within(sum, line);
        *longest = line > *longest ? line : *longest;
    }
    tv_out_release(&number);
    tv_pages_free(above, size);
    return sum;
}

void tv_collapsed_write(struct tv_out *out, const struct tv_name_tree *tree,
                        struct tv_collapsed_unit unit, unsigned workers)
{
    struct listing l = {.tree = tree, .unit = unit};
    tv_collapsed_measure(tree, unit, &l.longest);
    rank_names(&l);
    spread_items(&l);
    settle_continued(&l);
    if (workers == 0)
        workers = tv_workers_available();
    if (workers > 1 && l.below[TV_ROOT_PATH] > FIRST_SHARE && l.longest <= LONGEST_PREFIX)
        write_in_turns(out, &l, workers < MOST_WORKERS ? workers : MOST_WORKERS);
    else
        write_lines(out, &l, 0, UINT32_MAX, SIZE_MAX);
    tv_free(l.keys);
    tv_free(l.rank);
    tv_free(l.continued);
    tv_pages_free(l.below, l.tree->count * sizeof *l.below);
    tv_pages_free(l.items, l.item_count * sizeof *l.items);
    tv_pages_free(l.first, ((size_t)l.tree->count + 2) * sizeof *l.first);
}
