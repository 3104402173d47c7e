/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stacks.c - the frames of many stacks at a time.
 *
 * The nodes lie all over the memory, and most of the time would be waiting for it.  Stacks are
 * therefore read in groups, and their nodes looked up level by level, from the root on: all slots
 * of a level are fetched before the first is needed.
 *
 *     stack a    main  parse  read          level 0: a, b, c   each the child of the root
 *     stack b    main  draw                 level 1: a, b, c   each the child of its node before
 *     stack c    main  draw   line          level 2: a, c
 */
#include "readers/jfr/stacks.h"

#include "base/memory.h"
#include "readers/profile_input.h"
#include "wire/little_endian.h"

#define GROUP 16u

enum jfr_stacks_slot { JFR_STACKS_FRAMES, JFR_STACKS_SLOTS };

/* A stack of the group. */
struct jfr_group_stack {
    uint64_t place;
    size_t first, depth; /* methods, from the leaf on */
    uint32_t node;
};

struct jfr_stack_reader {
    struct tv_jfr_stack_nodes *nodes;
    const struct tv_jfr_chunk *chunk;
    struct tv_jfr_program stack, frame;
    const struct tv_lookup *stacks, *methods;
    uint32_t method_at;      /* the place among the fields of a frame */
    uint32_t *group_methods; /* constants, of all stacks of the group */
    size_t method_count, method_capacity;
    uint32_t *slots; /* open addressing by (parent, method): node, 0 for a free slot */
    size_t mask;
    struct jfr_group_stack group[GROUP];
    unsigned group_count;
};

/* ---- Reading ---- */

/* Read the method of a frame whose fields take eight bytes at most; return the number of bytes, 0
 * if they take more. */
TV_INLINE unsigned jfr_frame_take(const struct jfr_stack_reader *reader, const uint8_t *at,
                                  uint64_t *method)
{
    uint64_t word = tv_le_get_u64(at), ends = ~word & TV_JFR_MORE_BITS, begin = 0;
    for (uint32_t i = 0; i < reader->method_at; i++) {
        begin = ends & -ends;
        ends &= ends - 1;
    }
    uint64_t end = ends & -ends;
    /* The bits from after the field before up to the end of this one. */
    uint64_t mask = (end << 1) - 1 - (begin == 0 ? 0 : (begin << 1) - 1);
    for (uint32_t i = reader->method_at; i + 1 < reader->frame.count; i++)
        ends &= ends - 1;
    if (TV_UNLIKELY(ends == 0))
        return 0;
    *method = tv_jfr_join_sevens((word & mask) >> (begin == 0 ? 0 : __builtin_ctzll(begin) + 1));
    return (unsigned)__builtin_ctzll(ends) / 8 + 1;
}

/* Read the methods of a stack from the leaf on.  Return false when the trace has to read it. */
static bool jfr_stack_read(struct jfr_stack_reader *reader, struct jfr_group_stack *stack,
                           uint64_t at)
{
    const struct tv_jfr_chunk *chunk = reader->chunk;
    struct tv_jfr_cursor cursor = tv_jfr_cursor_at(chunk, at);
    uint64_t slots[TV_JFR_SLOTS] = {[JFR_STACKS_FRAMES] = UINT64_MAX}, count, method;
    if (!tv_jfr_program_note(chunk, &reader->stack, &cursor, slots) ||
        slots[JFR_STACKS_FRAMES] == UINT64_MAX)
        return false;
    cursor = tv_jfr_cursor_at(chunk, slots[JFR_STACKS_FRAMES]);
    if (!tv_jfr_take(&cursor, 4, &count) || count == 0 || count > TV_PROFILE_DEPTH ||
        (uint64_t)(cursor.end - cursor.at) < (count + 1) * sizeof(uint64_t))
        return false;
    reader->group_methods =
        tv_array_reserve(reader->group_methods, &reader->method_capacity,
                         reader->method_count + (size_t)count, sizeof *reader->group_methods);
    uint32_t *methods = reader->group_methods + reader->method_count;
    const uint8_t *frame = cursor.at;
    for (uint64_t i = 0; i < count; i++) {
        unsigned length = jfr_frame_take(reader, frame, &method);
        methods[i] = length == 0 ? TV_NONE : tv_lookup_find(reader->methods, method);
        if (TV_UNLIKELY(methods[i] == TV_NONE))
            return false;
        frame += length;
    }
    stack->first = reader->method_count;
    stack->depth = (size_t)count;
    reader->method_count += stack->depth;
    return true;
}

/* ---- Nodes ---- */

TV_INLINE size_t jfr_node_slot(const struct jfr_stack_reader *reader, uint32_t parent,
                               uint32_t method)
{
    uint64_t key = (uint64_t)parent << 32 | method;
    return (size_t)(key * UINT64_C(0x9e3779b97f4a7c15) >> 32) & reader->mask;
}

/* Make room for twice as many nodes; at most half of the slots are taken. */
static void jfr_nodes_grow(struct jfr_stack_reader *reader)
{
    size_t count = reader->mask == 0 ? 1024 : tv_size_mul(reader->mask + 1, 2);
    tv_free(reader->slots);
    reader->slots = tv_alloc(count, sizeof *reader->slots);
    reader->mask = count - 1;
    for (size_t i = 1; i < reader->nodes->nodes.count; i++) {
        struct tv_path_node node = reader->nodes->nodes.rows[i];
        size_t at = jfr_node_slot(reader, node.parent, node.frame);
        while (reader->slots[at] != 0)
            at = (at + 1) & reader->mask;
        reader->slots[at] = (uint32_t)i;
    }
}

/* Return the child of a node, adding it if needed. */
TV_INLINE uint32_t jfr_node_child(struct jfr_stack_reader *reader, uint32_t parent, uint32_t method)
{
    struct tv_jfr_stack_nodes *nodes = reader->nodes;
    size_t at = jfr_node_slot(reader, parent, method);
    for (; reader->slots[at] != 0; at = (at + 1) & reader->mask) {
        struct tv_path_node node = nodes->nodes.rows[reader->slots[at]];
        if (node.parent == parent && node.frame == method)
            return reader->slots[at];
    }
    uint32_t added = (uint32_t)nodes->nodes.count;
    if (added == TV_NONE)
        tv_memory_exhausted();
    *tv_table_add(&nodes->nodes) = (struct tv_path_node){parent, method};
    reader->slots[at] = added;
    if (TV_UNLIKELY(nodes->nodes.count > reader->mask / 2))
        jfr_nodes_grow(reader);
    return added;
}

/* Look up the nodes of a group level by level; stacks that are at their leaf leave it. */
static void jfr_group_climb(struct jfr_stack_reader *reader)
{
    struct jfr_group_stack *group = reader->group;
    for (size_t level = 0; reader->group_count > 0; level++) {
        unsigned left = 0;
        for (unsigned i = 0; i < reader->group_count; i++) {
            if (level == group[i].depth) {
                reader->nodes->leaves[group[i].place] = group[i].node;
                continue;
            }
            group[left] = group[i];
            uint32_t method =
                reader->group_methods[group[left].first + group[left].depth - 1 - level];
            TV_PREFETCH(&reader->slots[jfr_node_slot(reader, group[left++].node, method)]);
        }
        reader->group_count = left;
        for (unsigned i = 0; i < left; i++) {
            uint32_t method = reader->group_methods[group[i].first + group[i].depth - 1 - level];
            group[i].node = jfr_node_child(reader, group[i].node, method);
        }
    }
    reader->method_count = 0;
}

/* ---- All stacks of a chunk ---- */

/* Return whether a frame is integers alone, one of which is the key of its method. */
static bool jfr_stack_reader_is_usable(struct jfr_stack_reader *reader, uint32_t frame_type)
{
    const struct tv_jfr_chunk *chunk = reader->chunk;
    const struct tv_jfr_type *type = &chunk->types.rows[frame_type];
    const struct tv_jfr_field *method = tv_jfr_field_find(chunk, frame_type, TV_BYTES("method"));
    if (chunk->fixed || reader->frame.unusable || reader->frame.count != type->field_count ||
        !method || !method->constant || method->array || method->type == TV_NONE)
        return false;
    for (uint32_t i = 0; i < reader->frame.count; i++)
        if (reader->frame.ops[i].code != TV_JFR_OP_VARINT)
            return false;
    reader->methods = &chunk->pools[method->type];
    reader->method_at = (uint32_t)(method - &chunk->fields.rows[type->first_field]);
    return true;
}

/* Stacks ahead of the one that is read: when its constant is fetched, and when its bytes are. */
#define FETCH_CONSTANT 16u
#define FETCH_BYTES 8u

/* Fetch what later stacks need. */
TV_INLINE void jfr_stack_fetch(const struct jfr_stack_reader *reader, uint64_t place)
{
    const struct tv_lookup *stacks = reader->stacks;
    const struct tv_jfr_constant *constants = reader->chunk->constants.rows;
    if (place + FETCH_CONSTANT >= stacks->span)
        return;
    uint32_t number = stacks->array[place + FETCH_CONSTANT];
    TV_PREFETCH(&constants[number == TV_NONE ? 0 : number]);
    number = stacks->array[place + FETCH_BYTES];
    const uint8_t *at = reader->chunk->bytes.data + (number == TV_NONE ? 0 : constants[number].at);
    TV_PREFETCH(at);
    TV_PREFETCH(at + 64);
}

/* Make the leaves of the wanted stacks.  Stacks are climbed in groups, so that the memory of the
 * next ones is fetched while one is read. */
static void jfr_leaves_make(struct jfr_stack_reader *reader, const uint64_t *wanted)
{
    const struct tv_lookup *stacks = reader->stacks;
    struct tv_jfr_stack_nodes *nodes = reader->nodes;
    *tv_table_add(&nodes->nodes) = (struct tv_path_node){TV_ROOT_PATH, TV_NONE};
    nodes->leaves = tv_alloc((size_t)stacks->span, sizeof *nodes->leaves);
    jfr_nodes_grow(reader);
    for (uint64_t place = 0; place < stacks->span; place++) {
        jfr_stack_fetch(reader, place);
        uint32_t number = stacks->array[place];
        if ((wanted[place / 64] >> place % 64 & 1) == 0 || number == TV_NONE)
            continue;
        struct jfr_group_stack *stack = &reader->group[reader->group_count];
        *stack = (struct jfr_group_stack){.place = place, .node = TV_ROOT_PATH};
        if (jfr_stack_read(reader, stack, reader->chunk->constants.rows[number].at) &&
            ++reader->group_count == GROUP)
            jfr_group_climb(reader);
    }
    jfr_group_climb(reader);
}

void tv_jfr_stack_nodes_make(struct tv_jfr_stack_nodes *nodes, const struct tv_jfr_chunk *chunk,
                             const uint64_t *wanted)
{
    static const char *const names[JFR_STACKS_SLOTS] = {"frames"};
    struct jfr_stack_reader reader = {.nodes = nodes, .chunk = chunk};
    uint32_t frame_type = tv_jfr_find_type_by_end(chunk, TV_BYTES(".types.StackFrame"));
    if (chunk->stack_type == TV_NONE || frame_type == TV_NONE ||
        !chunk->pools[chunk->stack_type].array)
        return;
    reader.stacks = &chunk->pools[chunk->stack_type];
    reader.stack = tv_jfr_compile(chunk, chunk->stack_type, names, JFR_STACKS_SLOTS);
    reader.frame = tv_jfr_compile(chunk, frame_type, NULL, 0);
    if (jfr_stack_reader_is_usable(&reader, frame_type))
        jfr_leaves_make(&reader, wanted);
    tv_jfr_program_release(&reader.stack);
    tv_jfr_program_release(&reader.frame);
    tv_free(reader.group_methods);
    tv_free(reader.slots);
}

void tv_jfr_stack_nodes_release(struct tv_jfr_stack_nodes *nodes)
{
    tv_free(nodes->nodes.rows);
    tv_free(nodes->leaves);
}
