/* SPDX-License-Identifier: Apache-2.0 */
/*
 * floor_tree.c - the bare limit of collapsed stacks: one walk over the records into a tree of call
 * paths with their own real time; then, with --print, a line for each path, unsorted.
 *
 * Most calls go where the last call of the same path went, so each node remembers its last child,
 * and only the others are looked up by hash.
 */
#include "floor.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_DEPTH 4096
#define LINE_ROOM 512u /* for one frame of a line */

struct node {
    uint32_t parent; /* 0: the root */
    uint32_t method;
    uint32_t last_child;
    uint32_t calls;
    uint64_t self_us;
};

struct frame {
    uint32_t node;
    uint32_t method;
    uint32_t wall;
    uint32_t child_wall;
};

struct thread {
    uint32_t depth;
    uint32_t last_wall;
    struct frame frames[MAX_DEPTH];
};

struct tree {
    struct floor_trace trace;
    struct thread *threads[FLOOR_THREADS];
    struct node *nodes;
    uint32_t node_count;
    uint32_t node_capacity;
    uint32_t *slots; /* node, or 0 */
    uint64_t slot_mask;
    uint64_t records;
};

static inline uint64_t hash_path(const struct tree *tree, uint32_t parent, uint32_t method)
{
    return ((uint64_t)parent << 32 | method) * 0x9E3779B97F4A7C15u >> 20 & tree->slot_mask;
}

static void rehash(struct tree *tree)
{
    tree->slot_mask = tree->slot_mask * 2 + 1;
    free(tree->slots);
    tree->slots = floor_new((size_t)tree->slot_mask + 1, sizeof *tree->slots);
    for (uint32_t i = 1; i < tree->node_count; i++) {
        uint64_t slot = hash_path(tree, tree->nodes[i].parent, tree->nodes[i].method);

        while (tree->slots[slot])
            slot = (slot + 1) & tree->slot_mask;
        tree->slots[slot] = i;
    }
}

static uint32_t add_node(struct tree *tree, uint32_t parent, uint32_t method)
{
    if (tree->node_count == tree->node_capacity) {
        tree->node_capacity *= 2;
        tree->nodes = realloc(tree->nodes, tree->node_capacity * sizeof *tree->nodes);
        if (!tree->nodes)
            floor_fail("out of memory");
    }
    tree->nodes[tree->node_count] = (struct node){.parent = parent, .method = method};
    if (tree->node_count * 2ull > tree->slot_mask)
        rehash(tree);
    return tree->node_count++;
}

static uint32_t look_up(struct tree *tree, uint32_t parent, uint32_t method)
{
    uint64_t slot = hash_path(tree, parent, method);
    uint32_t node;

    while ((node = tree->slots[slot])) {
        if (tree->nodes[node].parent == parent && tree->nodes[node].method == method)
            return node;
        slot = (slot + 1) & tree->slot_mask;
    }
    node = add_node(tree, parent, method);
    slot = hash_path(tree, parent, method); /* the table may have grown */
    while (tree->slots[slot])
        slot = (slot + 1) & tree->slot_mask;
    tree->slots[slot] = node;
    return node;
}

static inline uint32_t find_child(struct tree *tree, uint32_t parent, uint32_t method)
{
    uint32_t child = tree->nodes[parent].last_child;

    if (child && tree->nodes[child].method == method)
        return child;
    child = look_up(tree, parent, method);
    tree->nodes[parent].last_child = child;
    return child;
}

static inline void enter(struct tree *tree, struct thread *thread, uint32_t method)
{
    uint32_t parent = thread->depth ? thread->frames[thread->depth - 1].node : 0;

    if (thread->depth == MAX_DEPTH)
        floor_fail("the stack is too deep");
    thread->frames[thread->depth++] =
        (struct frame){find_child(tree, parent, method), method, thread->last_wall, 0};
}

static inline void leave(struct tree *tree, struct thread *thread)
{
    struct frame *frame = &thread->frames[--thread->depth];
    uint32_t wall = thread->last_wall - frame->wall;

    tree->nodes[frame->node].self_us += wall - frame->child_wall;
    tree->nodes[frame->node].calls++;
    if (thread->depth)
        frame[-1].child_wall += wall;
}

static inline void take_record(struct tree *tree, const uint8_t *at)
{
    uint32_t index = floor_thread(&tree->trace, tv_le_get_u16(at));
    uint32_t word = tv_le_get_u32(at + 2);
    uint32_t method = floor_method(&tree->trace, word);
    struct thread *thread = tree->threads[index];

    if (!thread)
        thread = tree->threads[index] = floor_new(1, sizeof *thread);
    thread->last_wall = tv_le_get_u32(at + 10);
    if (tv_mt_word_action(word) == TV_MT_ENTER)
        enter(tree, thread, method);
    else if (thread->depth && thread->frames[thread->depth - 1].method == method)
        leave(tree, thread);
}

static void read_records(struct tree *tree)
{
    static uint8_t block[FLOOR_BLOCK];
    size_t length;

    while ((length = floor_read(&tree->trace, block))) {
        for (const uint8_t *at = block; at < block + length; at += TV_MT_RECORD_SIZE_V3)
            take_record(tree, at);
        tree->records += length / TV_MT_RECORD_SIZE_V3;
    }
    for (uint32_t i = 0; i < tree->trace.thread_count; i++)
        while (tree->threads[i]->depth)
            leave(tree, tree->threads[i]);
}

/* "class\tname" to "class.name". */
static void join_names(struct floor_trace *trace)
{
    for (uint32_t i = 0; i < trace->method_count; i++) {
        struct floor_method *method = &trace->methods[i];
        char *text = trace->header + (method->text - trace->header);

        for (uint32_t at = 0; at < method->length; at++)
            if (text[at] == '\t')
                text[at] = '.';
        if (method->length > LINE_ROOM - 1)
            method->length = LINE_ROOM - 1;
    }
}

static size_t print_number(char *at, uint64_t number)
{
    char digits[20];
    size_t count = 0;

    do {
        digits[count++] = (char)('0' + number % 10);
        number /= 10;
    } while (number);
    for (size_t i = 0; i < count; i++)
        at[i] = digits[count - 1 - i];
    return count;
}

/* class.name of each frame from the root, joined by semicolons, a blank, own time. */
static void print_path(const struct tree *tree, uint32_t node)
{
    static char line[(MAX_DEPTH + 1) * LINE_ROOM];
    uint32_t path[MAX_DEPTH];
    uint32_t depth = 0;
    size_t length = 0;

    for (uint32_t i = node; i; i = tree->nodes[i].parent)
        path[depth++] = tree->nodes[i].method;
    while (depth--) {
        const struct floor_method *method = &tree->trace.methods[path[depth]];

        memcpy(line + length, method->text, method->length);
        length += method->length;
        line[length++] = depth ? ';' : ' ';
    }
    length += print_number(line + length, tree->nodes[node].self_us);
    line[length++] = '\n';
    fwrite(line, 1, length, stdout);
}

int main(int argument_count, char **arguments)
{
    static struct tree tree;
    uint64_t lines = 0;

    if (argument_count < 2)
        floor_fail("usage: floor-tree FILE [--print]");
    floor_open(&tree.trace, arguments[1]);
    tree.node_capacity = 1u << 16;
    tree.node_count = 1;
    tree.nodes = floor_new(tree.node_capacity, sizeof *tree.nodes);
    tree.slot_mask = (1u << 16) - 1;
    rehash(&tree);
    read_records(&tree);
    join_names(&tree.trace);
    for (uint32_t i = 1; i < tree.node_count; i++) {
        if (!tree.nodes[i].self_us)
            continue;
        lines++;
        if (argument_count > 2)
            print_path(&tree, i);
    }
    fprintf(stderr, "records %" PRIu64 " paths %" PRIu32 " lines %" PRIu64 "\n", tree.records,
            tree.node_count - 1, lines);
    return 0;
}
