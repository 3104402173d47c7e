/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stack_tree.c - the tree of frames of all stacks, collapsed stacks, and the choice of a format.
 *
 *     stacks, innermost first     read parse main   3      elements: one for each frame AND line
 *                                 draw main         2
 *     tree                        0 - main - parse - read (3)
 *                                          '- draw (2)
 *
 * Elements that differ only in the line are one frame of the tree (stack_tree_unite_lines).  A node
 * has a larger number than its parent, and 0 is the root; so 0 also says that there is no memory,
 * as no frame is the root.
 *
 * This runs inside the recorded program, which it must not end: without memory a function returns
 * false, unlike in the rest of traceview.
 */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "recorder/samples/samples.h"

#define TREE_FIRST_ROOM 64u
#define TREE_NODES_MAX (1u << 28)

/* A map from a pair of numbers to a number, at most half full. */
struct stack_pairs {
    struct {
        uint32_t one, other, number; /* number 0: free */
    } * slots;
    uint32_t room, used;
};

struct stack_tree_builder {
    const struct tv_samples *samples;
    struct tv_stack_tree *tree;
    uint32_t room;
    uint32_t *frames; /* [elements]: the first element with the same texts */
    struct stack_pairs children;
};

static uint64_t stack_tree_hash_text(uint64_t hash, const char *text)
{
    do
        hash = (hash ^ (uint8_t)*text) * UINT64_C(0x100000001B3); /* FNV-1a, with the NUL */
    while (*text++ != '\0');
    return hash;
}

static uint64_t stack_tree_hash_frame(const struct tv_sample_element *element)
{
    uint64_t hash = stack_tree_hash_text(UINT64_C(0xCBF29CE484222325), element->class_name);
    hash = stack_tree_hash_text(stack_tree_hash_text(hash, element->name),
                                element->file ? element->file : "");
    return hash ^ hash >> 29;
}

static bool stack_tree_same_frame(const struct tv_sample_element *one,
                                  const struct tv_sample_element *other)
{
    return strcmp(one->name, other->name) == 0 && strcmp(one->class_name, other->class_name) == 0 &&
           strcmp(one->file ? one->file : "", other->file ? other->file : "") == 0;
}

/* Fill in `frames`: map each element to the first one with the same texts. */
static bool stack_tree_unite_lines(struct stack_tree_builder *builder)
{
    const struct tv_sample_element *elements = builder->samples->elements.at;
    uint32_t count = builder->samples->elements.count, room = TREE_FIRST_ROOM;
    while (room / 2 < count)
        room *= 2;
    uint32_t *slots = calloc(room, sizeof slots[0]); /* an element's index plus one */
    builder->frames = calloc((size_t)count + 1, sizeof builder->frames[0]);
    if (slots == NULL || builder->frames == NULL) {
        free(slots);
        return false;
    }
    for (uint32_t i = 0; i < count; i++) {
        uint32_t at = (uint32_t)stack_tree_hash_frame(&elements[i]) & (room - 1);
        while (slots[at] != 0 && !stack_tree_same_frame(&elements[slots[at] - 1], &elements[i]))
            at = (at + 1) & (room - 1);
        if (slots[at] == 0)
            slots[at] = i + 1;
        builder->frames[i] = slots[at] - 1;
    }
    free(slots);
    return true;
}

static uint32_t stack_pairs_slot(const struct stack_pairs *pairs, uint32_t one, uint32_t other)
{
    assert(pairs->used < pairs->room);
    uint64_t hash = (((uint64_t)one << 32) | other) * UINT64_C(0x9E3779B97F4A7C15);
    uint32_t at = (uint32_t)(hash >> 32) & (pairs->room - 1);
    while (pairs->slots[at].number != 0 &&
           (pairs->slots[at].one != one || pairs->slots[at].other != other))
        at = (at + 1) & (pairs->room - 1);
    return at;
}

/* Make room for one more pair, so that half of the slots stay free. */
static bool stack_pairs_grow(struct stack_pairs *pairs)
{
    struct stack_pairs wider = {NULL, pairs->room == 0 ? TREE_FIRST_ROOM : pairs->room * 2,
                                pairs->used};
    if (pairs->used < pairs->room / 2)
        return true;
    wider.slots = calloc(wider.room, sizeof wider.slots[0]);
    if (wider.slots == NULL)
        return false;
    for (uint32_t i = 0; i < pairs->room; i++)
        if (pairs->slots[i].number != 0)
            wider.slots[stack_pairs_slot(&wider, pairs->slots[i].one, pairs->slots[i].other)] =
                pairs->slots[i];
    free(pairs->slots);
    *pairs = wider;
    return true;
}

/* Return the node of a frame below a parent, new or known; 0: no memory. */
static uint32_t stack_tree_child(struct stack_tree_builder *builder, uint32_t parent,
                                 uint32_t element)
{
    assert(parent < builder->tree->count);
    struct tv_stack_tree *tree = builder->tree;
    if (!stack_pairs_grow(&builder->children))
        return 0;
    uint32_t slot = stack_pairs_slot(&builder->children, parent, element);
    if (builder->children.slots[slot].number != 0)
        return builder->children.slots[slot].number;
    if (tree->count == builder->room) {
        uint32_t room = builder->room == 0 ? TREE_FIRST_ROOM : builder->room * 2;
        struct tv_stack_node *more =
            room > TREE_NODES_MAX ? NULL : realloc(tree->nodes, room * sizeof tree->nodes[0]);
        if (more == NULL)
            return 0;
        tree->nodes = more;
        builder->room = room;
    }
    tree->nodes[tree->count] = (struct tv_stack_node){parent, element, 0};
    builder->children.slots[slot].one = parent;
    builder->children.slots[slot].other = element;
    builder->children.slots[slot].number = tree->count;
    builder->children.used++;
    return tree->count++;
}

/* Merge the stacks into a tree of common callers; `leaves` tells the node of each. Stacks are kept
 * innermost first, so they are walked from their end. False: no memory. */
static bool stack_tree_add_traces(struct stack_tree_builder *builder)
{
    const struct tv_sample_trace *traces = builder->samples->traces.at;
    const uint32_t *stacks = builder->samples->stacks.at;
    for (uint32_t i = 0; i < builder->samples->traces.count; i++) {
        uint32_t node = 0;
        for (uint32_t depth = traces[i].depth; depth-- > 0;) {
            uint32_t element = builder->frames[stacks[traces[i].start + depth] - 1];
            node = stack_tree_child(builder, node, element);
            if (node == 0)
                return false;
        }
        builder->tree->leaves[i] = node;
        builder->tree->nodes[node].count += traces[i].count;
    }
    return true;
}

bool tv_stack_tree_init(struct tv_stack_tree *tree, const struct tv_samples *samples)
{
    struct stack_tree_builder builder = {.samples = samples, .tree = tree, .room = TREE_FIRST_ROOM};
    *tree = (struct tv_stack_tree){.count = 1};
    tree->nodes = calloc(TREE_FIRST_ROOM, sizeof tree->nodes[0]);
    tree->leaves = calloc((size_t)samples->traces.count + 1, sizeof tree->leaves[0]);
    bool fine = tree->nodes != NULL && tree->leaves != NULL && stack_tree_unite_lines(&builder) &&
                stack_tree_add_traces(&builder);
    free(builder.frames);
    free(builder.children.slots);
    return fine;
}

void tv_stack_tree_release(struct tv_stack_tree *tree)
{
    free(tree->nodes);
    free(tree->leaves);
    *tree = (struct tv_stack_tree){0};
}

/* ---- Collapsed stacks ---- */

/* Print a frame.  A ';' separates frames, the last blank precedes the count, and a line ends a
 * stack. */
static void collapsed_put_frame(const struct tv_samples *samples, uint32_t number, FILE *to)
{
    const struct tv_sample_element *element =
        (const struct tv_sample_element *)samples->elements.at + number;
    bool is_class = element->name[0] == '\0';
    const char *texts[] = {samples->classes_are_modules ? "" : element->class_name,
                           samples->classes_are_modules || is_class ? "" : ".", element->name};
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++)
        for (const char *c = texts[i]; *c != '\0'; c++)
            fputc((unsigned char)*c < ' ' ? ' ' : *c == ';' ? ':' : *c, to);
}

/* Print the stack that ends at the node, outermost first; `path` has room for its frames. */
static void collapsed_put_stack(const struct tv_samples *samples, const struct tv_stack_tree *tree,
                                uint32_t node, uint32_t *path, FILE *to)
{
    uint32_t depth = 0;
    for (uint32_t i = node; i != 0; i = tree->nodes[i].parent)
        path[depth++] = tree->nodes[i].element;
    while (depth-- > 0) {
        collapsed_put_frame(samples, path[depth], to);
        fputc(depth > 0 ? ';' : ' ', to);
    }
    fprintf(to, "%llu\n", (unsigned long long)tree->nodes[node].count);
}

bool tv_sample_stacks_write(const struct tv_samples *samples, FILE *to)
{
    const struct tv_sample_trace *traces = samples->traces.at;
    struct tv_stack_tree tree;
    uint32_t deepest = 0;
    for (uint32_t i = 0; i < samples->traces.count; i++)
        deepest = traces[i].depth > deepest ? traces[i].depth : deepest;
    uint32_t *path = calloc((size_t)deepest + 1, sizeof path[0]);
    bool fine = tv_stack_tree_init(&tree, samples) && path != NULL;
    for (uint32_t i = 1; fine && i < tree.count; i++)
        if (tree.nodes[i].count > 0)
            collapsed_put_stack(samples, &tree, i, path, to);
    tv_stack_tree_release(&tree);
    free(path);
    return fine && fflush(to) == 0 && !ferror(to);
}

bool tv_samples_write(const struct tv_samples *samples, enum tv_samples_form form, uint32_t depth,
                      time_t now, FILE *to)
{
    switch (form) {
    case TV_SAMPLES_BINARY:
        return tv_hprof_binary_write(samples, depth, (uint64_t)now * 1000, to);
    case TV_SAMPLES_EVENTS:
        return tv_sample_events_write(samples, to);
    case TV_SAMPLES_COLLAPSED:
        return tv_sample_stacks_write(samples, to);
    case TV_SAMPLES_ANDROID:
    case TV_SAMPLES_JDK:
        break;
    }
    return tv_hprof_text_write(samples, form == TV_SAMPLES_JDK ? TV_HPROF_JDK : TV_HPROF_ANDROID,
                               now, to);
}
