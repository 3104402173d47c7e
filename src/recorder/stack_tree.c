/* SPDX-License-Identifier: Apache-2.0 */
/* stack_tree.c - see stack_tree.h. */
#include "recorder/stack_tree.h"

#include <stdlib.h>
#include <string.h>

#define FIRST_ROOM 64u
#define MOST (1u << 28)

/* Both tables map a pair of numbers to a number, and are at most half full. */
struct pairs {
    struct {
        uint32_t one, other, number; /* number 0: empty */
    } * slots;
    uint32_t room, used;
};

struct making {
    const struct tv_samples *samples;
    struct tv_stack_tree *tree;
    uint32_t room;
    uint32_t *frames; /* [elements]: the first element with the same texts */
    struct pairs children;
};

static uint64_t mix_text(uint64_t hash, const char *text)
{
    do
        hash = (hash ^ (uint8_t)*text) * UINT64_C(0x100000001B3); /* FNV-1a, with the NUL */
    while (*text++ != '\0');
    return hash;
}

static uint64_t hash_texts(const struct tv_sample_element *element)
{
    uint64_t hash = mix_text(UINT64_C(0xCBF29CE484222325), element->class_name);
    hash = mix_text(mix_text(hash, element->name), element->file ? element->file : "");
    return hash ^ hash >> 29;
}

static bool has_same_texts(const struct tv_sample_element *one,
                           const struct tv_sample_element *other)
{
    return strcmp(one->name, other->name) == 0 && strcmp(one->class_name, other->class_name) == 0 &&
           strcmp(one->file ? one->file : "", other->file ? other->file : "") == 0;
}

/* Fill `frames`. */
static bool unite_lines(struct making *making)
{
    const struct tv_sample_element *elements = making->samples->elements.at;
    uint32_t count = making->samples->elements.count, room = FIRST_ROOM;
    while (room / 2 < count)
        room *= 2;
    uint32_t *slots = calloc(room, sizeof slots[0]); /* an element plus one */
    making->frames = calloc((size_t)count + 1, sizeof making->frames[0]);
    if (slots == NULL || making->frames == NULL) {
        free(slots);
        return false;
    }
    for (uint32_t i = 0; i < count; i++) {
        uint32_t at = (uint32_t)hash_texts(&elements[i]) & (room - 1);
        while (slots[at] != 0 && !has_same_texts(&elements[slots[at] - 1], &elements[i]))
            at = (at + 1) & (room - 1);
        if (slots[at] == 0)
            slots[at] = i + 1;
        making->frames[i] = slots[at] - 1;
    }
    free(slots);
    return true;
}

static uint32_t pair_slot(const struct pairs *pairs, uint32_t one, uint32_t other)
{
    uint64_t hash = (((uint64_t)one << 32) | other) * UINT64_C(0x9E3779B97F4A7C15);
    uint32_t at = (uint32_t)(hash >> 32) & (pairs->room - 1);
    while (pairs->slots[at].number != 0 &&
           (pairs->slots[at].one != one || pairs->slots[at].other != other))
        at = (at + 1) & (pairs->room - 1);
    return at;
}

static bool widen_pairs(struct pairs *pairs)
{
    struct pairs wider = {NULL, pairs->room == 0 ? FIRST_ROOM : pairs->room * 2, pairs->used};
    if (pairs->used < pairs->room / 2)
        return true;
    wider.slots = calloc(wider.room, sizeof wider.slots[0]);
    if (wider.slots == NULL)
        return false;
    for (uint32_t i = 0; i < pairs->room; i++)
        if (pairs->slots[i].number != 0)
            wider.slots[pair_slot(&wider, pairs->slots[i].one, pairs->slots[i].other)] =
                pairs->slots[i];
    free(pairs->slots);
    *pairs = wider;
    return true;
}

/* The node of a frame below a parent, new or known; 0: no memory. */
static uint32_t child_node(struct making *making, uint32_t parent, uint32_t element)
{
    struct tv_stack_tree *tree = making->tree;
    if (!widen_pairs(&making->children))
        return 0;
    uint32_t slot = pair_slot(&making->children, parent, element);
    if (making->children.slots[slot].number != 0)
        return making->children.slots[slot].number;
    if (tree->count == making->room) {
        uint32_t room = making->room == 0 ? FIRST_ROOM : making->room * 2;
        struct tv_stack_node *more =
            room > MOST ? NULL : realloc(tree->nodes, room * sizeof tree->nodes[0]);
        if (more == NULL)
            return 0;
        tree->nodes = more;
        making->room = room;
    }
    tree->nodes[tree->count] = (struct tv_stack_node){parent, element, 0};
    making->children.slots[slot].one = parent;
    making->children.slots[slot].other = element;
    making->children.slots[slot].number = tree->count;
    making->children.used++;
    return tree->count++;
}

static bool add_stacks(struct making *making)
{
    const struct tv_sample_trace *traces = making->samples->traces.at;
    const uint32_t *stacks = making->samples->stacks.at;
    for (uint32_t i = 0; i < making->samples->traces.count; i++) {
        uint32_t node = 0;
        for (uint32_t depth = traces[i].depth; depth-- > 0;) {
            uint32_t element = making->frames[stacks[traces[i].start + depth] - 1];
            node = child_node(making, node, element);
            if (node == 0)
                return false;
        }
        making->tree->leaves[i] = node;
        making->tree->nodes[node].count += traces[i].count;
    }
    return true;
}

bool tv_stack_tree_init(struct tv_stack_tree *tree, const struct tv_samples *samples)
{
    struct making making = {.samples = samples, .tree = tree, .room = FIRST_ROOM};
    *tree = (struct tv_stack_tree){.count = 1};
    tree->nodes = calloc(FIRST_ROOM, sizeof tree->nodes[0]);
    tree->leaves = calloc((size_t)samples->traces.count + 1, sizeof tree->leaves[0]);
    bool fine =
        tree->nodes != NULL && tree->leaves != NULL && unite_lines(&making) && add_stacks(&making);
    free(making.frames);
    free(making.children.slots);
    return fine;
}

void tv_stack_tree_release(struct tv_stack_tree *tree)
{
    free(tree->nodes);
    free(tree->leaves);
    *tree = (struct tv_stack_tree){0};
}
