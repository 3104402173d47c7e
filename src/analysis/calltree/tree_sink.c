/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tree_sink.c - the call tree of a method trace in one pass, without its slices.
 *
 * Chunks of the input are read side by side, and each builds a path tree of its own.  A chunk
 * does not know the calls that were open when it began, so its paths hang on placeholders: children
 * of the root with frame PLACEHOLDER + i.  A thread gets a new placeholder whenever an exit finds
 * nothing open in the chunk (an exit "below").
 *
 *   input      A( B( | C() ) D() )        '|': end of chunk 0
 *   chunk 1    <0>--C     <1>--D          <0>: open at the start; <1>: after B's exit
 *   stitched   A--B--C    A--D            <0> is A--B, <1> is A
 *
 * Stitching goes through the chunks in order, knows the true stack, and replaces each placeholder
 * by its path in the whole tree (the prefix tree of the chunk).
 *
 * A call's own time is its length minus that of its children; inclusive times are summed over the
 * tree at the end.
 *
 * The hot step decides nothing.  A predictor looks ahead in the batch and guesses the path of each
 * call that begins; a call that ends has its path on the stack.  So the step computes `path` with
 * masks instead of a branch, and only a wrong guess searches the tree (tree_chunk_step).
 *
 * Sums of a chunk are added without a test for overflow.  At the end, tv_walk_sums_fit tells
 * whether they can have overflowed; then the input is read again, as one chunk, with sums that
 * saturate (`careful`).
 *
 * When many files are read one after the other (a comparison), the trees of the last file are kept
 * with their costs cleared (tv_tree_memory): the next file of one program has nearly the same
 * paths, so most of its nodes are there already.
 */
#include "analysis/calltree/call_tree.h"

#include <assert.h>
#include <string.h>

#include "analysis/calltree/path_builder.h"
#include "analysis/calltree/tree_shape.h"
#include "analysis/calltree/tree_views.h"
#include "base/memory.h"
#include "base/workers.h"
#include "model/builder/stitch.h"

#define PLACEHOLDER 0xC0000000u

struct tree_own_cost {
    uint64_t calls;
    int64_t wall, cpu; /* own time of the path, in ticks */
};

/* A placeholder, with the costs that belong to the call which was open when its thread had nothing
 * of the chunk open. */
struct tree_placeholder {
    uint32_t node;
    uint32_t thread;
    uint32_t before;          /* the thread's previous placeholder in the chunk, or TV_NONE */
    uint32_t below;           /* exits below that came before it */
    struct tree_own_cost own; /* time with nothing of the chunk open */
    struct tree_own_cost waits;
};

struct tree_chunk {
    struct tv_walk walk;
    struct tv_diagnostics diagnostics;
    const uint32_t *fold; /* [fold_count] frame -> representative frame, or NULL */
    uint32_t fold_count;
    struct tv_path_builder builder;
    struct tv_path_predictor predictor;
    const uint32_t *guess; /* predicted node of the next call */
    struct tree_placeholder *placeholders;
    size_t placeholder_count, placeholder_capacity;
    struct tree_own_cost waits;
    struct tv_prefix_tree prefixes;
};

struct tv_tree_sink {
    struct tv_sink sink;
    struct tv_tree_sink_options options;
    struct tv_trace_info *head;
    uint32_t input;
    bool *skip;
    uint32_t *fold;
    unsigned chunk_count;
    struct tree_chunk *chunks;
    struct tv_path_builder builder; /* of the inputs that are done, in nanoseconds */
    struct tv_path_cost waits;
    tv_ns wall, cpu; /* of all threads, from first to last record */
    bool careful;    /* saturate own times: without that, they overflow */
};

static int64_t tree_sink_tick(const struct tv_tree_sink *sink)
{
    return sink->head->inputs[sink->input].tick_ns;
}

/* ---- Memory from file to file ---- */

#define MEMORY_CHUNKS 8u

/* The trees of the last file, whose paths those of the next file most likely are. */
struct tv_tree_memory {
    struct tv_path_builder chunks[MEMORY_CHUNKS], whole;
    uint32_t *places[MEMORY_CHUNKS]; /* [place_capacity] node of `whole` for each of the chunk's */
    size_t place_capacity[MEMORY_CHUNKS];
    uint32_t *number; /* [number_capacity] of tree_sink_number_nodes */
    size_t number_capacity;
    void *block; /* the finished tree of block_nodes nodes or fewer */
    uint32_t block_nodes;
};

struct tv_tree_memory *tv_tree_memory_new(void)
{
    return tv_alloc(1, sizeof(struct tv_tree_memory));
}

void tv_tree_memory_free(struct tv_tree_memory *memory)
{
    if (!memory)
        return;
    for (unsigned i = 0; i < MEMORY_CHUNKS; i++) {
        tv_path_builder_release(&memory->chunks[i]);
        tv_free(memory->places[i]);
    }
    tv_path_builder_release(&memory->whole);
    if (memory->block)
        tv_pages_free(memory->block, tv_call_tree_bytes(memory->block_nodes));
    tv_free(memory->number);
    tv_free(memory);
}

/* Return the place where the tree of a chunk is kept, or NULL. */
static struct tv_path_builder *tree_sink_kept_chunk(const struct tv_tree_sink *sink,
                                                    unsigned number)
{
    struct tv_tree_memory *memory = sink->options.memory;
    return memory && number < MEMORY_CHUNKS ? &memory->chunks[number] : NULL;
}

/* Make a builder without costs: that of the last file, or an empty one. */
static void tree_sink_init_builder(struct tv_path_builder *builder, struct tv_path_builder *kept)
{
    if (!kept || !kept->nodes) {
        tv_path_builder_init(builder);
        return;
    }
    *builder = *kept;
    memset(kept, 0, sizeof *kept);
    tv_path_builder_reset(builder);
}

/* Keep a builder for the next file, or free it. */
static void tree_sink_release_builder(struct tv_path_builder *builder, struct tv_path_builder *kept)
{
    if (!kept || kept->nodes || !builder->places) {
        tv_path_builder_release(builder);
        return;
    }
    *kept = *builder;
    memset(builder, 0, sizeof *builder);
}

/* ---- Events ---- */

/* Return the frame that stands for all frames of one name, where names are folded. */
TV_INLINE uint32_t tree_chunk_fold(const struct tree_chunk *chunk, uint32_t frame)
{
    return chunk->fold && frame < chunk->fold_count ? chunk->fold[frame] : frame;
}

/* Hang the thread's calls of depth 0 on a new placeholder. */
static TV_NOINLINE void tree_chunk_set_placeholder(struct tree_chunk *chunk, uint32_t thread,
                                                   struct tv_walk_thread *t, uint32_t before)
{
    assert(chunk->placeholder_count < UINT32_MAX - PLACEHOLDER);
    chunk->placeholders =
        tv_array_reserve(chunk->placeholders, &chunk->placeholder_capacity,
                         chunk->placeholder_count + 1, sizeof *chunk->placeholders);
    uint32_t frame = PLACEHOLDER + (uint32_t)chunk->placeholder_count;
    uint32_t node = tv_path_builder_child(&chunk->builder, TV_ROOT_PATH, frame);
    chunk->placeholders[chunk->placeholder_count++] = (struct tree_placeholder){
        .node = node, .thread = thread, .before = before, .below = t->below_count};
    t->stack[-1].tag = node;
}

/* Return the placeholder that the thread's calls of depth 0 hang on now. */
static struct tree_placeholder *tree_chunk_placeholder(struct tree_chunk *chunk,
                                                       const struct tv_walk_thread *t)
{
    return &chunk->placeholders[chunk->builder.nodes[t->stack[-1].tag].frame - PLACEHOLDER];
}

/* Add to a path the time of a call that ends, without that of its children.  For a call that
 * begins, `exit` is 0 and its time too. */
TV_INLINE void tree_chunk_add_own(struct tv_path_builder_node *node, const struct tv_step *step,
                                  bool careful)
{
    int64_t wall = step->wall - (step->call->inner_wall & step->exit);
    int64_t cpu = step->cpu - (step->call->inner_cpu & step->exit);
    if (careful) {
        tv_time_add(&node->wall, wall);
        tv_time_add(&node->cpu, cpu);
    } else {
        tv_time_add_fitting(&node->wall, wall);
        tv_time_add_fitting(&node->cpu, cpu);
    }
}

/* An ending call has its path as tag; a beginning call's path is predicted.  `careful` is a
 * constant in every caller. */
TV_INLINE uint32_t tree_chunk_step(struct tree_chunk *chunk, const struct tv_step *step,
                                   bool careful)
{
    uint32_t exit = (uint32_t)step->exit, parent = step->caller->tag;
    uint32_t path = (step->call->tag & exit) | (*chunk->guess & ~exit);
    uint32_t frame = tree_chunk_fold(chunk, step->frame);
    struct tv_path_builder_node *node = &chunk->builder.nodes[path];
    if (TV_UNLIKELY((((node->parent ^ parent) | (node->frame ^ frame)) & ~exit) != 0)) {
        path = tv_path_builder_child(&chunk->builder, parent, frame);
        node = &chunk->builder.nodes[path];
    }
    chunk->guess += 1 + step->exit;
    node->calls += (uint64_t)(1 + step->exit);
    tree_chunk_add_own(node, step, careful);
    tv_walk_add_inner(step);
    return path;
}

TV_INLINE uint32_t tree_walk_step(void *context, const struct tv_step *step)
{
    return tree_chunk_step(context, step, false);
}

TV_INLINE uint32_t tree_walk_step_careful(void *context, const struct tv_step *step)
{
    return tree_chunk_step(context, step, true);
}

/* Give a thread its first placeholder in the chunk (a callback). */
static void tree_walk_first(void *context, uint32_t thread, struct tv_walk_thread *t)
{
    tree_chunk_set_placeholder(context, thread, t, TV_NONE);
}

/* Give a thread a new placeholder at an exit of a call that was open before the chunk (a callback).
 * The time since the last such exit belongs to the placeholder that ends. */
static void tree_walk_below(void *context, uint32_t thread, struct tv_walk_thread *t,
                            struct tv_pending_exit *below)
{
    struct tree_chunk *chunk = context;
    uint32_t before = chunk->builder.nodes[below->tag].frame - PLACEHOLDER;
    chunk->placeholders[before].own.wall = below->level_wall;
    chunk->placeholders[before].own.cpu = below->level_cpu;
    tree_chunk_set_placeholder(chunk, thread, t, before);
}

/* Count a wait between two events (a callback).  With nothing of the chunk open, only stitching
 * knows whether a call was open around it. */
static TV_NOINLINE void tree_walk_wait(void *context, uint32_t thread, struct tv_walk_thread *t,
                                       int64_t wall, int64_t cpu)
{
    struct tree_chunk *chunk = context;
    struct tree_own_cost *waits =
        t->depth ? &chunk->waits : &tree_chunk_placeholder(chunk, t)->waits;
    (void)thread;
    waits->calls++;
    tv_time_add(&waits->wall, wall - cpu);
}

/* Take a batch in slices: the paths of a slice are foreseen while its events wait in the cache,
 * then the walk confirms them.  The careful walk saturates the sums. */
static void tree_sink_take(struct tv_sink *sink, unsigned pass, unsigned number,
                           const struct tv_batch *batch)
{
    static const struct tv_walk_calls calls = {tree_walk_step, tree_walk_first, tree_walk_below,
                                               tree_walk_wait};
    static const struct tv_walk_calls careful = {tree_walk_step_careful, tree_walk_first,
                                                 tree_walk_below, tree_walk_wait};
    const struct tv_tree_sink *tree_sink = (struct tv_tree_sink *)sink;
    struct tree_chunk *chunk = &tree_sink->chunks[number];
    (void)pass;
    for (size_t i = 0; i < batch->count; i += TV_BATCH_EVENTS) {
        struct tv_batch slice = tv_batch_slice(batch, i, TV_BATCH_EVENTS);
        tv_path_predictor_run(&chunk->predictor, &chunk->walk, &chunk->builder, &slice);
        chunk->guess = chunk->predictor.nodes;
        if (TV_UNLIKELY(tree_sink->careful))
            tv_walk_batch(&chunk->walk, &slice, &careful, chunk);
        else
            tv_walk_batch(&chunk->walk, &slice, &calls, chunk);
    }
}

/* ---- Begin and end ---- */

static void tree_sink_release_chunks(struct tv_tree_sink *sink)
{
    for (unsigned i = 0; i < sink->chunk_count; i++) {
        struct tree_chunk *chunk = &sink->chunks[i];
        tree_sink_release_builder(&chunk->builder, tree_sink_kept_chunk(sink, i));
        tv_path_builder_release(&chunk->prefixes.paths);
        tv_free(chunk->prefixes.node);
        tv_path_predictor_release(&chunk->predictor);
        tv_free(chunk->placeholders);
        tv_walk_release(&chunk->walk);
        tv_diagnostics_clear(&chunk->diagnostics);
    }
    tv_free(sink->chunks);
    tv_free(sink->skip);
    tv_free(sink->fold);
    sink->chunks = NULL;
    sink->skip = NULL;
    sink->fold = NULL;
    sink->chunk_count = 0;
}

/* Mark the threads whose events are skipped; NULL: none. */
static bool *tree_sink_find_skipped(const struct tv_tree_sink *sink)
{
    if (!sink->options.wanted)
        return NULL;
    bool *skip = tv_alloc(sink->head->thread_count, sizeof *skip);
    for (uint32_t i = 0; i < sink->head->thread_count; i++)
        skip[i] = !sink->options.wanted(sink->head, i, sink->options.context);
    return skip;
}

static void tree_chunk_init(struct tv_tree_sink *sink, unsigned number)
{
    struct tree_chunk *chunk = &sink->chunks[number];
    tv_walk_init(&chunk->walk, sink->head, sink->input, number == 0, &chunk->diagnostics);
    chunk->walk.skip = sink->skip;
    chunk->fold = sink->fold;
    chunk->fold_count = sink->head->frame_count;
    tree_sink_init_builder(&chunk->builder, tree_sink_kept_chunk(sink, number));
    tv_path_predictor_init(&chunk->predictor, chunk->walk.thread_count, chunk->fold,
                           chunk->fold_count);
}

static void tree_sink_begin(struct tv_sink *base, struct tv_trace_info *head, uint32_t input,
                            unsigned chunks)
{
    struct tv_tree_sink *sink = (struct tv_tree_sink *)base;
    tree_sink_release_chunks(sink);
    sink->head = head;
    sink->input = input;
    sink->skip = tree_sink_find_skipped(sink);
    if (sink->options.fold_names)
        sink->fold = tv_frames_first_of_names(head);
    sink->chunk_count = chunks;
    sink->chunks = tv_alloc(chunks, sizeof *sink->chunks);
    for (unsigned i = 0; i < chunks; i++)
        tree_chunk_init(sink, i);
}

/* ---- Stitching ---- */

/* Return the frame by which a call is counted: one known only by its exit has a frame of its own,
 * and folding maps frames that count as one onto their first. */
static uint32_t tree_sink_frame(struct tv_tree_sink *sink, uint32_t frame)
{
    if (frame == TV_ANY_FRAME)
        frame = tv_stitch_unknown_frame(sink->head);
    if (sink->fold && frame < sink->chunks[0].fold_count)
        frame = sink->fold[frame];
    return frame;
}

/* Return the path of the lowest `depth` calls of a stack. */
static uint32_t tree_sink_path(struct tv_tree_sink *sink, struct tv_path_builder *builder,
                               uint32_t thread, const struct tv_walk_start *start, uint32_t depth)
{
    uint32_t path = TV_ROOT_PATH;
    if (sink->options.split_threads)
        path = tv_path_builder_child(builder, path, TV_THREAD_FRAME + thread);
    for (uint32_t i = 0; i < depth; i++)
        path = tv_path_builder_child(builder, path, tree_sink_frame(sink, start->stack[i].frame));
    return path;
}

/* Add the own times, up to the end of the chunk, of calls that are still open there. */
static void tree_chunk_add_open_calls(struct tree_chunk *chunk)
{
    for (uint32_t thread = 0; thread < chunk->walk.thread_count; thread++) {
        const struct tv_walk_thread *t = &chunk->walk.threads[thread];
        if (!t->seen)
            continue;
        struct tree_placeholder *bottom = tree_chunk_placeholder(chunk, t);
        tv_walk_base_time(t, t->last_wall, t->last_cpu, &bottom->own.wall, &bottom->own.cpu);
        for (uint32_t i = 0; i < t->depth; i++) {
            const struct tv_open *open = &t->stack[i];
            bool top = i + 1 == t->depth;
            struct tv_path_builder_node *cost = &chunk->builder.nodes[open->tag];
            int64_t wall = top ? t->last_wall : t->stack[i + 1].wall;
            int64_t cpu = top ? t->last_cpu : t->stack[i + 1].cpu;
            tv_time_add(&cost->wall, wall - open->wall - open->inner_wall);
            tv_time_add(&cost->cpu, cpu - open->cpu - open->inner_cpu);
        }
    }
}

/* Return the path of the lowest `depth` calls at a placeholder.  Exits only remove calls, so it
 * is an ancestor of the path of the thread's previous placeholder: all placeholders together take
 * time proportional to the chunk's exits. */
static uint32_t tree_placeholder_path(struct tv_tree_sink *sink, struct tree_chunk *chunk,
                                      const struct tree_placeholder *placeholder,
                                      const struct tv_walk_start *start, uint32_t depth)
{
    assert(placeholder->before == TV_NONE ||
           placeholder->below >= chunk->placeholders[placeholder->before].below);
    if (placeholder->before == TV_NONE)
        return tree_sink_path(sink, &chunk->prefixes.paths, placeholder->thread, start, depth);
    uint32_t path = chunk->prefixes.node[placeholder->before];
    for (uint32_t i = chunk->placeholders[placeholder->before].below; i < placeholder->below; i++)
        path = chunk->prefixes.paths.nodes[path].parent;
    return path;
}

/* Resolve a placeholder to its path; its own time becomes that of its node. */
static uint32_t tree_placeholder_resolve(struct tv_tree_sink *sink, const struct tv_stitch *stitch,
                                         unsigned number,
                                         const struct tree_placeholder *placeholder)
{
    assert(number < sink->chunk_count);
    struct tree_chunk *chunk = &sink->chunks[number];
    const struct tv_walk_start *start = tv_stitch_start(stitch, number, placeholder->thread);
    uint32_t depth = start->depth - placeholder->below;
    if (depth) {
        sink->waits.calls += placeholder->waits.calls;
        tv_time_add(&sink->waits.wall,
                    tv_time_times(placeholder->waits.wall, tree_sink_tick(sink)));
    }
    struct tv_path_builder_node *node = &chunk->builder.nodes[placeholder->node];
    node->calls = placeholder->own.calls;
    node->wall = placeholder->own.wall;
    node->cpu = placeholder->own.cpu;
    return tree_placeholder_path(sink, chunk, placeholder, start, depth);
}

/* Resolve the placeholders of a chunk in order: each continues from the one before it. */
static void tree_chunk_find_prefixes(struct tv_tree_sink *sink, const struct tv_stitch *stitch,
                                     unsigned number)
{
    struct tree_chunk *chunk = &sink->chunks[number];
    tv_path_builder_init(&chunk->prefixes.paths);
    chunk->prefixes.first = PLACEHOLDER;
    chunk->prefixes.count = (uint32_t)chunk->placeholder_count;
    chunk->prefixes.node = tv_alloc(chunk->placeholder_count, sizeof *chunk->prefixes.node);
    for (size_t i = 0; i < chunk->placeholder_count; i++)
        chunk->prefixes.node[i] =
            tree_placeholder_resolve(sink, stitch, number, &chunk->placeholders[i]);
    sink->waits.calls += chunk->waits.calls;
    tv_time_add(&sink->waits.wall, tv_time_times(chunk->waits.wall, tree_sink_tick(sink)));
}

static void tree_chunk_attach(void *context, unsigned number)
{
    const struct tv_tree_sink *sink = context;
    struct tree_chunk *chunk = &sink->chunks[number];
    tv_path_builder_attach(&chunk->builder, &chunk->prefixes, tree_sink_tick(sink));
}

/* Return the node of the lowest `depth` calls of a stack. */
static struct tv_path_builder_node *tree_sink_node(struct tv_tree_sink *sink, uint32_t thread,
                                                   const struct tv_walk_start *start,
                                                   uint32_t depth)
{
    uint32_t path = tree_sink_path(sink, &sink->builder, thread, start, depth);
    return &sink->builder.nodes[path];
}

/* Time between two chunks belongs to the top of the stack there. */
static void tree_stitch_gap(struct tv_tree_sink *sink, const struct tv_stitch *stitch,
                            unsigned number, uint32_t thread)
{
    assert(number >= 1 && number < sink->chunk_count);
    const struct tree_chunk *chunk = &sink->chunks[number];
    const struct tv_walk_start *start = tv_stitch_start(stitch, number, thread);
    int64_t wall, cpu, tick = tree_sink_tick(sink);
    if (!tv_stitch_gap(start, &chunk->walk.threads[thread], &wall, &cpu) || !start->depth)
        return;
    struct tv_path_builder_node *cost = tree_sink_node(sink, thread, start, start->depth);
    tv_time_add(&cost->wall, tv_time_times(wall, tick));
    tv_time_add(&cost->cpu, tv_time_times(cpu, tick));
    if (wall - cpu > chunk->walk.wait_threshold) {
        sink->waits.calls++;
        tv_time_add(&sink->waits.wall, tv_time_times(wall - cpu, tick));
    }
}

/* Calls that began before the trace count as calls. */
static void tree_stitch_begun_calls(struct tv_tree_sink *sink, uint32_t thread,
                                    const struct tv_walk_start *first)
{
    uint32_t path =
        first->depth ? tree_sink_path(sink, &sink->builder, thread, first, first->depth) : 0;
    for (uint32_t depth = first->depth; depth > 0; depth--) {
        sink->builder.nodes[path].calls++;
        path = sink->builder.nodes[path].parent;
    }
}

/* Add the time between chunks and beyond them; calls open at the end of a sampled trace last to
 * it. */
static void tree_stitch_thread(struct tv_tree_sink *sink, const struct tv_stitch *stitch,
                               uint32_t thread)
{
    const struct tv_input *input = &sink->head->inputs[sink->input];
    const struct tv_walk_start *first = tv_stitch_start(stitch, 0, thread);
    const struct tv_walk_start *last = tv_stitch_start(stitch, sink->chunk_count, thread);
    for (unsigned chunk = 1; chunk < sink->chunk_count; chunk++)
        tree_stitch_gap(sink, stitch, chunk, thread);
    tree_stitch_begun_calls(sink, thread, first);
    int64_t rest = tv_stitch_open_end(input, last->last_wall) - last->last_wall;
    if (last->depth && rest)
        tv_time_add(&tree_sink_node(sink, thread, last, last->depth)->wall,
                    tv_time_times(rest, input->tick_ns));
}

/* Merge the tree of a chunk; the first one is taken over as it is. */
static void tree_sink_merge(struct tv_tree_sink *sink, struct tv_path_builder *builder)
{
    if (sink->builder.count > 1) {
        tv_path_builder_merge(&sink->builder, builder);
        tv_path_builder_release(builder);
        return;
    }
    tv_path_builder_release(&sink->builder);
    sink->builder = *builder;
    memset(builder, 0, sizeof *builder);
}

/* Add the tree of a chunk, which is kept for the next file. */
static void tree_sink_add_chunk(struct tv_tree_sink *sink, unsigned number)
{
    struct tree_chunk *chunk = &sink->chunks[number];
    struct tv_tree_memory *memory = sink->options.memory;
    uint32_t *own = NULL, **places = &own;
    size_t own_capacity = 0, *capacity = &own_capacity;
    if (number < MEMORY_CHUNKS) {
        places = &memory->places[number];
        capacity = &memory->place_capacity[number];
    }
    size_t had = *capacity;
    *places = tv_array_reserve(*places, capacity, chunk->builder.count, sizeof **places);
    memset(*places + had, 0, (*capacity - had) * sizeof **places);
    tv_path_builder_add_chunk(&sink->builder, &chunk->builder, &chunk->prefixes,
                              tree_sink_tick(sink), *places);
    tv_free(own);
}

/* Put the trees of the chunks below the calls that were open where each began, and merge them in
 * order. */
static void tree_stitch_chunks(struct tv_tree_sink *sink, const struct tv_stitch *stitch)
{
    for (unsigned i = 0; i < sink->chunk_count; i++) {
        tree_chunk_add_open_calls(&sink->chunks[i]);
        tree_chunk_find_prefixes(sink, stitch, i);
    }
    if (!sink->options.memory)
        tv_workers_run(sink->chunk_count, tree_chunk_attach, sink);
    for (unsigned i = 0; i < sink->chunk_count; i++) {
        struct tree_chunk *chunk = &sink->chunks[i];
        if (sink->options.memory)
            tree_sink_add_chunk(sink, i);
        else
            tree_sink_merge(sink, &chunk->builder);
    }
}

/* Time without an open call belongs to nobody: it is in the root and in thread nodes. */
static bool tree_node_is_nobody(const struct tv_path_builder_node *node, uint32_t path)
{
    return path == TV_ROOT_PATH || (node->frame & TV_THREAD_FRAME);
}

/* Own times of a chunk overflowed: the input must be read again with saturating sums. */
static bool tree_sink_overflowed(const struct tv_tree_sink *sink)
{
    bool fit = true;
    for (unsigned i = 0; i < sink->chunk_count; i++)
        fit = fit && tv_walk_sums_fit(&sink->chunks[i].walk);
    return !fit && !sink->careful;
}

/* Note in the trace info that times have saturated, if the sum over threads did. */
static void tree_sink_report_saturation(struct tv_tree_sink *sink)
{
    tv_ns wall = 0, cpu = 0;
    if (sink->wall < INT64_MAX && sink->cpu < INT64_MAX)
        return;
    for (uint32_t i = 0; i < sink->builder.count; i++) {
        const struct tv_path_builder_node *node = &sink->builder.nodes[i];
        tv_time_add(&wall, tree_node_is_nobody(node, i) ? 0 : node->wall);
        tv_time_add(&cpu, tree_node_is_nobody(node, i) ? 0 : node->cpu);
    }
    tv_trace_info_note_saturation(sink->head, wall, cpu);
}

/* Join the chunks' trees, then the calls that cross chunks. When a sum overflowed in any chunk, ask
 * for a serial pass with saturating sums (`careful`) instead: saturation depends on the order of
 * additions, so parts that saturated cannot be joined. */
static enum tv_stitch_result tree_sink_stitch(struct tv_sink *base, unsigned pass)
{
    struct tv_tree_sink *sink = (struct tv_tree_sink *)base;
    struct tv_stitch stitch;
    (void)pass;
    if (tree_sink_overflowed(sink)) {
        sink->careful = true;
        return TV_STITCH_SERIAL;
    }
    enum tv_stitch_result result = tv_stitch_chunks(
        &stitch, &sink->chunks[0].walk, sizeof sink->chunks[0], sink->chunk_count, sink->head);
    if (result != TV_STITCH_DONE)
        return result;
    tree_stitch_chunks(sink, &stitch);
    for (uint32_t thread = 0; thread < stitch.thread_count; thread++)
        tree_stitch_thread(sink, &stitch, thread);
    tv_stitch_add_spans(&stitch, tree_sink_tick(sink), &sink->wall, &sink->cpu);
    tree_sink_report_saturation(sink);
    tv_stitch_release(&stitch);
    return TV_STITCH_DONE;
}

static void tree_sink_end(struct tv_sink *base)
{
    tree_sink_release_chunks((struct tv_tree_sink *)base);
}

static const struct tv_sink_ops tree_sink_ops = {
    .passes = 1,
    .begin = tree_sink_begin,
    .take = tree_sink_take,
    .stitch = tree_sink_stitch,
    .end = tree_sink_end,
};

struct tv_tree_sink *tv_tree_sink_new(const struct tv_tree_sink_options *options)
{
    struct tv_tree_sink *sink = tv_alloc(1, sizeof *sink);
    sink->sink.ops = &tree_sink_ops;
    sink->options = *options;
    tree_sink_init_builder(&sink->builder,
                           sink->options.memory ? &sink->options.memory->whole : NULL);
    return sink;
}

struct tv_sink *tv_tree_sink_sink(struct tv_tree_sink *sink)
{
    return &sink->sink;
}

/* Return room for the number of each node. */
static uint32_t *tree_sink_reserve_numbers(struct tv_tree_sink *sink)
{
    struct tv_tree_memory *memory = sink->options.memory;
    uint32_t count = sink->builder.count;
    if (!memory)
        return tv_alloc(count, sizeof *memory->number);
    memory->number =
        tv_array_reserve(memory->number, &memory->number_capacity, count, sizeof *memory->number);
    return memory->number;
}

/* Number the nodes of the finished tree, which leaves out paths that only earlier files had: set
 * number[i] of node i, TV_NONE for these.  Return the number of nodes. */
static uint32_t tree_sink_number_nodes(const struct tv_tree_sink *sink, uint32_t *number)
{
    const struct tv_path_builder *builder = &sink->builder;
    uint32_t count = 0;
    memset(number, 0, builder->count * sizeof *number);
    for (uint32_t i = builder->count; i-- > 0;) {
        const struct tv_path_builder_node *node = &builder->nodes[i];
        bool lives = number[i] > 0 || !sink->options.memory || i == TV_ROOT_PATH ||
                     node->calls > 0 || node->wall != 0 || node->cpu != 0;
        number[i] = lives;
        number[node->parent] |= lives; /* the root is its own parent */
    }
    for (uint32_t i = 0; i < builder->count; i++)
        number[i] = number[i] > 0 ? count++ : TV_NONE;
    return count;
}

/* Return a tree without costs, of so many nodes: in the memory of the last one, as the system
 * clears every page of a new one. */
static struct tv_call_tree *tree_sink_blank_tree(struct tv_tree_sink *sink,
                                                 const struct tv_trace_info *head, uint32_t count)
{
    struct tv_tree_memory *memory = sink->options.memory;
    if (!memory) {
        struct tv_call_tree *tree = tv_call_tree_of_shape(tv_tree_shape_blank(head, count));
        tree->owns_shape = true;
        return tree;
    }
    if (count > memory->block_nodes) {
        if (memory->block)
            tv_pages_free(memory->block, tv_call_tree_bytes(memory->block_nodes));
        memory->block_nodes = count < TV_NONE / 2 ? count + count / 8 : count;
        memory->block = tv_pages_alloc(tv_call_tree_bytes(memory->block_nodes));
    }
    return tv_call_tree_in(head, count, memory->block);
}

struct tv_call_tree *tv_tree_sink_finish(struct tv_tree_sink *sink,
                                         const struct tv_trace_info *head)
{
    if (!sink->options.memory)
        tv_path_builder_finish(&sink->builder);
    uint32_t *number = tree_sink_reserve_numbers(sink);
    struct tv_call_tree *tree =
        tree_sink_blank_tree(sink, head, tree_sink_number_nodes(sink, number));
    struct tv_tree_shape *shape = tree->shape;
    tree->waits = sink->waits;
    for (uint32_t i = sink->builder.count; i-- > 0;) {
        const struct tv_path_builder_node *node = &sink->builder.nodes[i];
        bool nobody = tree_node_is_nobody(node, i);
        uint32_t at = number[i];
        if (at == TV_NONE)
            continue;
        shape->parent[at] = number[node->parent];
        shape->frame[at] = node->frame;
        tree->self_wall[at] = nobody ? 0 : node->wall;
        tree->self_cpu[at] = nobody ? 0 : node->cpu;
        tree->cost[at].calls = node->calls;
        tv_time_add(&tree->cost[at].wall, tree->self_wall[at]);
        tv_time_add(&tree->cost[at].cpu, tree->self_cpu[at]);
        if (i != TV_ROOT_PATH) {
            struct tv_path_cost *parent = &tree->cost[shape->parent[at]];
            tv_time_add(&parent->wall, tree->cost[at].wall);
            tv_time_add(&parent->cpu, tree->cost[at].cpu);
        }
    }
    if (!sink->options.memory)
        tv_free(number);
    tree_sink_release_chunks(sink);
    tree_sink_release_builder(&sink->builder,
                              sink->options.memory ? &sink->options.memory->whole : NULL);
    tv_free(sink);
    return tree;
}
