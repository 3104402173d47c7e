/* SPDX-License-Identifier: Apache-2.0 */
/*
 * flame_chronological.c - flame graphs in order of time, of calls and of samples.
 *
 *     calls    | f |  f  |     g     | f |         neighbours of one method on one frame are one
 *     frames   |    f    |     g     | f |         frame
 *
 * A trace can have millions of calls, of which few make frames that are wide enough to be drawn. So
 * what is too narrow is left out while frames are made, and the width that decides must be known
 * before: a frame that the page has zoomed into is walked twice, the first time for its width.
 *
 * A frame keeps its name when the selection changes: for calls the number of the first call that
 * is in it, for samples the number of its first frame in the order of all samples.  So the page can
 * zoom into a frame and find it again in the next answer.
 */
#include "analysis/flame/flame.h"

#include <assert.h>

#include "analysis/calltree/call_tree.h"
#include "analysis/flame/flame_growth.h"
#include "base/memory.h"
#include "base/sort.h"

/* ---- Stacks ---- */

/* The stacks of a trace, or those that transforms made of them. */
struct stack_tree {
    const struct tv_path_node *paths; /* paths of the trace; NULL: the stacks are changed */
    const struct tv_flame_stacks *changed;
    uint32_t count;
};

static struct stack_tree stack_tree_of(const struct tv_trace *trace,
                                       const struct tv_flame_stacks *changed)
{
    if (changed->tree)
        return (struct stack_tree){NULL, changed, changed->tree->count};
    return (struct stack_tree){trace->paths.nodes, NULL, trace->paths.count};
}

/* Return the node of a path of the trace; TV_ROOT_PATH: its stack is gone. */
static uint32_t stack_tree_find(const struct stack_tree *stacks, uint32_t path)
{
    return stacks->paths ? path : stacks->changed->node[path];
}

static struct tv_path_node stack_tree_at(const struct stack_tree *stacks, uint32_t node)
{
    assert(node < stacks->count);
    if (stacks->paths)
        return stacks->paths[node];
    const struct tv_call_tree *tree = stacks->changed->tree;
    return (struct tv_path_node){.parent = tree->parent[node], .frame = tree->frame[node]};
}

/*
 * ---- Calls ----
 *
 * Calls are visited depth first.  Before a frame is made, the run of calls that will form it is
 * measured: if it is too narrow, it is skipped with everything inside.  So only rows of frames that
 * are drawn are read.
 */

/* Calls of a row that are decoded at once. */
#define CALLS_READ 32u

/* Successive calls of one depth and method on one frame. */
struct call_run {
    uint32_t end; /* after the last call */
    tv_ns until;  /* end of the last call */
    bool whole;   /* no later call can belong to the run */
};

/* A call whose stack is changed. */
struct changed_call {
    uint32_t node; /* the stack; TV_ROOT_PATH: gone */
    uint32_t on;   /* the frame that stands for its stack; TV_NONE: none */
    uint32_t gets; /* the frame that its own time goes to; where that is unknown, the caller's */
    tv_ns end;     /* on the clock, within the range */
    bool timed;    /* false: its CPU time is unknown */
};

/* The calls of one depth that are still to come. */
struct flame_time_level {
    struct changed_call call; /* the open call of this depth, in a graph of changed stacks */
    uint32_t next, end;
    tv_ns until;           /* end of the call below */
    uint32_t frame;        /* frame of the call below */
    struct call_run below; /* the run that the frame below is made of, as far as it is known */
    struct call_run run;   /* the run of this depth that was measured last */
    uint32_t first, read;  /* range of the calls in `calls` */
    struct tv_slice calls[CALLS_READ];
};

struct flame_time_walk {
    const struct tv_trace *trace;
    const struct tv_flame_time_options *options;
    tv_ns from, to;
    struct tv_flame_growth growth;
    uint32_t
        *first_name; /* [rows] name of the row's first call; after them that of the first thread */
    struct flame_time_level *levels; /* levels of the current track */
    size_t level_capacity;
    tv_ns cpu_from, cpu_to; /* of the track, at the ends of the range */
    struct stack_tree stacks;
    tv_ns clock;        /* changed stacks: the time up to which the track was read, on the clock */
    uint32_t next_name; /* changed stacks: the frames are named in order */
    uint32_t *chain;    /* changed stacks: nodes to enter */
    size_t chain_capacity;
    /* A call's children are no wider than the call.  CPU time next to a wall clock is an
     * exception: a call without wall time may stand where another one begins. */
    bool looks_ahead;
};

/* Enter the frame of a call below a parent, or grow the one that is last there.  With `fold` a
 * recursive call stays in its caller's frame.  TV_NONE: the root has ended. */
static uint32_t flame_time_enter_call(struct flame_time_walk *walk, uint32_t parent,
                                      const struct tv_slice *slice, uint32_t name, int64_t width)
{
    uint32_t frame = walk->trace->paths.nodes[slice->path].frame;
    if (walk->options->fold && walk->growth.frames[parent].frame == frame)
        return parent;
    uint32_t entered = tv_flame_growth_enter(&walk->growth, parent, frame, name);
    if (entered == TV_NONE)
        return entered;
    tv_time_add(&walk->growth.frames[entered].own, width);
    walk->growth.frames[entered].calls++;
    return entered;
}

/* The part of a call that is in the range, on the clock. */
struct clipped_call {
    tv_ns start, end;
    bool timed; /* false: the CPU time is unknown */
};

/* Clip a call to the range on the clock of the graph. */
static struct clipped_call flame_time_clip_call(const struct flame_time_walk *walk,
                                                const struct tv_slice *slice, bool has_wall)
{
    bool wall = walk->options->clock == TV_CLOCK_WALL || !has_wall;
    bool before = slice->start<walk->from, after = slice->start + slice->length> walk->to;
    if (wall)
        return (struct clipped_call){before ? walk->from : slice->start,
                                     after ? walk->to : slice->start + slice->length, true};
    return (struct clipped_call){before ? walk->cpu_from : slice->cpu_start,
                                 after ? walk->cpu_to : slice->cpu_start + slice->cpu_length,
                                 !(slice->flags & TV_SLICE_NO_CPU)};
}

/* Return the length of that part; 0: none, or the CPU time is unknown. */
static int64_t flame_time_clip(const struct flame_time_walk *walk, const struct tv_slice *slice,
                               bool has_wall)
{
    struct clipped_call part = flame_time_clip_call(walk, slice, has_wall);
    return part.timed && part.end > part.start ? part.end - part.start : 0;
}

static uint32_t flame_time_call_name(const struct flame_time_walk *walk, uint32_t row,
                                     uint32_t index)
{
    uint32_t first = walk->first_name[row];
    return first < TV_NONE - index ? first + index : TV_NONE;
}

/* Return the next call of a level, which must exist. */
static const struct tv_slice *flame_time_next_call(const struct flame_time_walk *walk, uint32_t row,
                                                   struct flame_time_level *level)
{
    assert(level->next < level->end);
    if (level->next - level->first >= level->read) {
        uint32_t left = level->end - level->next;
        level->first = level->next;
        level->read = left < CALLS_READ ? left : CALLS_READ;
        tv_slices_read(walk->trace, row, level->first, level->read, level->calls);
    }
    return &level->calls[level->next - level->first];
}

/* Move to the children of a call that was entered; those before it belong to skipped calls. */
static void flame_time_descend(struct flame_time_walk *walk, uint32_t row,
                               struct flame_time_level *level, const struct tv_slice *below)
{
    assert(row < walk->trace->row_count);
    if (level->next < level->end && flame_time_next_call(walk, row, level)->start < below->start)
        level->next = tv_row_find_start_near(walk->trace, row, below->start, level->next);
    level->until = below->start + below->length;
}

static bool flame_time_is_nothing(const struct tv_slice *slice, int64_t width)
{
    return width == 0 && !(slice->flags & TV_SLICE_NO_CPU);
}

/* Return true if a call begins a new frame on the frame below. */
static bool flame_time_begins_frame(const struct flame_time_walk *walk,
                                    const struct flame_time_level *level, uint32_t frame)
{
    const struct tv_growing_frame *below = &walk->growth.frames[level->frame];
    if (walk->options->fold && below->frame == frame)
        return false;
    return below->last == TV_NONE || walk->growth.frames[below->last].frame != frame;
}

/* Measure the run that begins with the next call and move after it; return its width. */
static int64_t flame_time_measure_run(struct flame_time_walk *walk, uint32_t row,
                                      struct flame_time_level *level, uint32_t frame)
{
    const bool has_wall = tv_row_columns(walk->trace, row)->start != NULL;
    struct call_run run = {.until = level->until, .whole = level->below.whole};
    int64_t width = 0;
    for (; level->next < level->end; level->next++) {
        const struct tv_slice *slice = flame_time_next_call(walk, row, level);
        if (slice->start >= level->below.until)
            break;
        int64_t own = flame_time_clip(walk, slice, has_wall);
        if (flame_time_is_nothing(slice, own))
            continue;
        uint32_t its = walk->trace->paths.nodes[slice->path].frame;
        if (its != frame || slice->length == 0) {
            /* The contents of a folded call may continue the run; a call without length may stand
             * where one call ends, and belong to none. */
            run.whole = slice->length > 0 &&
                        !(walk->options->fold && its == walk->growth.frames[level->frame].frame);
            break;
        }
        tv_time_add(&width, own);
        run.until = slice->start + slice->length;
    }
    run.end = level->next;
    level->run = run;
    return width;
}

/* Return true if the run that begins with the next call is to be drawn; otherwise skip it. */
static bool flame_time_is_wide(struct flame_time_walk *walk, uint32_t row,
                               struct flame_time_level *level, uint32_t frame)
{
    uint32_t first = level->next;
    int64_t width = flame_time_measure_run(walk, row, level, frame);
    bool root_is_there = walk->options->root == TV_ROOT_PATH || walk->growth.root != TV_NONE;
    if (width < walk->growth.threshold && level->run.whole && root_is_there) {
        tv_flame_growth_skip(&walk->growth, level->frame, width);
        return false;
    }
    level->next = first;
    return true;
}

/* Move from a call that was entered to its children. */
static void flame_time_descend_from(struct flame_time_walk *walk, uint32_t row,
                                    struct flame_time_level *level, uint32_t index,
                                    const struct tv_slice *slice)
{
    bool known = walk->looks_ahead && index < level->run.end;
    flame_time_descend(walk, row + 1, &level[1], slice);
    level[1].below =
        known ? level->run : (struct call_run){.until = level[1].until, .whole = false};
}

/* Enter the next call of a level; false if there is none on the call below. */
static bool flame_time_take_call(struct flame_time_walk *walk, uint32_t row, uint32_t depth,
                                 bool *has_calls_on_it)
{
    struct flame_time_level *level = &walk->levels[depth];
    const bool has_wall = tv_row_columns(walk->trace, row)->start != NULL;
    *has_calls_on_it = false;
    if (level->next >= level->end || walk->growth.done)
        return false;
    struct tv_slice slice = *flame_time_next_call(walk, row, level);
    if (slice.start >= level->until)
        return false;
    uint32_t index = level->next, method = walk->trace->paths.nodes[slice.path].frame;
    int64_t width = flame_time_clip(walk, &slice, has_wall);
    bool nothing = flame_time_is_nothing(&slice, width);
    if (!nothing && walk->looks_ahead && flame_time_begins_frame(walk, level, method) &&
        !flame_time_is_wide(walk, row, level, method))
        return true;
    level->next++;
    if (nothing)
        return true;
    uint32_t frame = flame_time_enter_call(walk, level->frame, &slice,
                                           flame_time_call_name(walk, row, index), width);
    if (frame == TV_NONE)
        return false;
    if (!(slice.flags & TV_SLICE_HAS_CHILDREN))
        return true;
    level[1].frame = frame;
    flame_time_descend_from(walk, row, level, index, &slice);
    *has_calls_on_it = true;
    return true;
}

static void flame_time_prepare_levels(struct flame_time_walk *walk, const struct tv_track *track,
                                      uint32_t frame)
{
    walk->levels = tv_array_reserve(walk->levels, &walk->level_capacity,
                                    (size_t)track->row_count + 1, sizeof *walk->levels);
    for (uint32_t i = 0; i < track->row_count; i++) {
        struct flame_time_level *level = &walk->levels[i];
        level->until = INT64_MAX;
        level->frame = frame;
        level->run = (struct call_run){0};
        level->below = (struct call_run){.until = INT64_MAX, .whole = false};
        level->first = level->read = 0;
        tv_row_overlap(walk->trace, track->first_row + i, walk->from, walk->to, &level->next,
                       &level->end);
    }
    /* A sentinel: there are no calls above the last row. */
    walk->levels[track->row_count].next = walk->levels[track->row_count].end = 0;
}

/*
 * ---- Calls with changed stacks ----
 *
 * Transforms map the stack of each call to a node of another tree, or to nothing.  A track is read
 * as one line of time: each stretch between two entries or exits is the innermost call's own, and
 * is added to the frame of its stack, or skipped:
 *
 *     calls             A------------      A calls B twice, B calls C; B is dropped
 *                         B--  B----
 *                              C-
 *     own time of A     ==   ==    ==      the frame A is 6 wide
 *
 * A call's stack begins with its caller's, if both have one (all transforms keep that), so a
 * caller's frame stays open until the call has ended.
 */

/* Give the time up to `until` to a call; TV_NONE: to nobody. */
static void flame_changed_pass(struct flame_time_walk *walk, uint32_t on, tv_ns until)
{
    if (until <= walk->clock)
        return;
    if (on != TV_NONE && walk->clock != INT64_MIN)
        tv_time_add(&walk->growth.frames[on].own, until - walk->clock);
    walk->clock = until;
}

/* Enter one frame on another; TV_NONE once the root has ended. */
static uint32_t flame_changed_enter_frame(struct flame_time_walk *walk, uint32_t on, uint32_t frame)
{
    if (walk->options->fold && walk->growth.frames[on].frame == frame)
        return on;
    uint32_t name = walk->next_name;
    uint32_t entered = tv_flame_growth_enter(&walk->growth, on, frame, name);
    if (entered == TV_NONE)
        return entered;
    if (walk->growth.frames[entered].name == name && name < TV_NONE)
        walk->next_name++;
    walk->growth.frames[entered].calls++;
    return entered;
}

/* Enter the frames by which a stack is longer than the caller's; return the last one. */
static uint32_t flame_changed_enter_stack(struct flame_time_walk *walk, uint32_t node,
                                          uint32_t caller, uint32_t on)
{
    size_t count = 0;
    uint32_t at = node;
    while (at != caller && at != TV_ROOT_PATH) {
        walk->chain =
            tv_array_reserve(walk->chain, &walk->chain_capacity, count + 1, sizeof *walk->chain);
        walk->chain[count++] = at;
        at = stack_tree_at(&walk->stacks, at).parent;
    }
    assert(at == caller);
    while (count > 0 && on != TV_NONE)
        on = flame_changed_enter_frame(walk, on,
                                       stack_tree_at(&walk->stacks, walk->chain[--count]).frame);
    return on;
}

/* Enter a call on its caller, NULL: on the frame `base`. */
static struct changed_call flame_changed_enter(struct flame_time_walk *walk,
                                               const struct tv_slice *slice,
                                               const struct clipped_call *part,
                                               const struct changed_call *caller, uint32_t base)
{
    struct changed_call call = {
        .node = stack_tree_find(&walk->stacks, slice->path),
        .on = TV_NONE,
        .end = part->end,
        .timed = part->timed,
    };
    bool on_caller = caller && caller->node != TV_ROOT_PATH;
    uint32_t gets = caller ? caller->gets : TV_NONE;
    if (part->timed)
        flame_changed_pass(walk, gets, part->start);
    if (call.node != TV_ROOT_PATH)
        call.on = flame_changed_enter_stack(walk, call.node, on_caller ? caller->node : 0,
                                            on_caller ? caller->on : base);
    call.gets = part->timed ? call.on : gets;
    return call;
}

/* Give a call the rest of its time. */
static void flame_changed_leave(struct flame_time_walk *walk, const struct changed_call *call)
{
    if (call->timed)
        flame_changed_pass(walk, call->gets, call->end);
}

/* Read the next call of a level; return false if there is none on the call below. */
static bool flame_changed_take_call(struct flame_time_walk *walk, uint32_t row, uint32_t depth,
                                    uint32_t base, bool *has_calls_on_it)
{
    struct flame_time_level *level = &walk->levels[depth];
    *has_calls_on_it = false;
    if (level->next >= level->end || walk->growth.done)
        return false;
    struct tv_slice slice = *flame_time_next_call(walk, row, level);
    if (slice.start >= level->until)
        return false;
    level->next++;
    struct clipped_call part =
        flame_time_clip_call(walk, &slice, tv_row_columns(walk->trace, row)->start != NULL);
    if (part.timed && part.end <= part.start)
        return true;
    level->call =
        flame_changed_enter(walk, &slice, &part, depth > 0 ? &level[-1].call : NULL, base);
    if (slice.flags & TV_SLICE_HAS_CHILDREN) {
        flame_time_descend(walk, row + 1, &level[1], &slice);
        *has_calls_on_it = true;
    } else {
        flame_changed_leave(walk, &level->call);
    }
    return true;
}

/* Walk a track whose calls were changed by transforms: a call goes where the changed tree has its
 * path, so calls of different depths may be neighbours. */
static void flame_changed_walk_track(struct flame_time_walk *walk, const struct tv_track *track,
                                     uint32_t base)
{
    uint32_t depth = 0;
    bool deeper;
    walk->clock = INT64_MIN;
    for (;;) {
        bool took = flame_changed_take_call(walk, track->first_row + depth, depth, base, &deeper);
        if (walk->growth.done)
            return;
        if (deeper && depth + 1 < track->row_count) {
            depth++;
        } else if (!took) {
            if (depth-- == 0)
                return;
            flame_changed_leave(walk, &walk->levels[depth].call);
        }
    }
}

/* Walk the calls of a track in the order of time. */
static void flame_time_walk_track(struct flame_time_walk *walk, uint32_t number, uint32_t frame)
{
    const struct tv_track *track = &walk->trace->tracks[number];
    uint32_t depth = 0;
    bool deeper;
    walk->cpu_from = walk->cpu_to = 0;
    if (tv_track_has_wall(walk->trace, number) && tv_track_has_cpu(walk->trace, number)) {
        walk->cpu_from = tv_track_cpu_at(walk->trace, number, walk->from);
        walk->cpu_to = tv_track_cpu_at(walk->trace, number, walk->to);
    }
    walk->looks_ahead =
        walk->options->clock == TV_CLOCK_WALL || !tv_track_has_wall(walk->trace, number);
    if (track->row_count == 0)
        return;
    flame_time_prepare_levels(walk, track, frame);
    if (walk->options->stacks.tree) {
        flame_changed_walk_track(walk, track, frame);
        return;
    }
    for (;;) {
        bool took = flame_time_take_call(walk, track->first_row + depth, depth, &deeper);
        if (deeper && depth + 1 < track->row_count)
            depth++;
        else if (!took && depth-- == 0)
            return;
    }
}

/* Meaning of a name: a call, with its start and track, or a thread. */
struct flame_time_name {
    uint32_t track, thread; /* TV_NONE: not one of these */
    tv_ns start;
};

/* Find the slice or the thread of a name.  Names are numbers: slices row by row, then threads. */
static struct flame_time_name flame_time_find_named(const struct flame_time_walk *walk,
                                                    uint32_t name)
{
    const struct tv_trace *trace = walk->trace;
    struct flame_time_name named = {TV_NONE, TV_NONE, 0};
    for (uint32_t row = 0; row < trace->row_count; row++) {
        uint32_t first = walk->first_name[row];
        if (name < first || name - first >= trace->rows[row].count)
            continue;
        named.track = trace->rows[row].track;
        named.start = tv_slice_start(trace, row, name - first);
        return named;
    }
    uint32_t threads = walk->first_name[trace->row_count];
    if (name >= threads && name - threads < trace->head->thread_count)
        named.thread = name - threads;
    return named;
}

/* Number the calls of all rows, so that a frame can be named by its first call. */
static void flame_time_number_calls(struct flame_time_walk *walk)
{
    const struct tv_trace *trace = walk->trace;
    uint64_t next = 1;
    walk->first_name = tv_alloc((size_t)trace->row_count + 1, sizeof *walk->first_name);
    for (uint32_t row = 0; row <= trace->row_count; row++) {
        walk->first_name[row] = next < TV_NONE ? (uint32_t)next : TV_NONE;
        next += row < trace->row_count ? trace->rows[row].count : 0;
    }
}

/* Return true if tracks of several threads are wanted. */
static bool flame_time_has_several_threads(const struct tv_trace *trace, const bool *wanted)
{
    uint32_t first = TV_NONE;
    for (uint32_t i = 0; i < trace->track_count; i++) {
        if (!wanted[i])
            continue;
        if (first != TV_NONE && trace->tracks[i].thread != trace->tracks[first].thread)
            return true;
        first = i;
    }
    return false;
}

/* Enter the frame of a thread, which has no calls of its own. */
static uint32_t flame_time_enter_thread(struct flame_time_walk *walk, uint32_t thread)
{
    uint32_t name = flame_time_call_name(walk, walk->trace->row_count, thread);
    if (walk->options->stacks.tree)
        name = walk->next_name++;
    return tv_flame_growth_enter(&walk->growth, 0, TV_THREAD_FRAME + thread, name);
}

/* Walk the wanted tracks in order.  Where several threads are shown, each has a frame of its own
 * below its calls. */
static void flame_time_walk_tracks(struct flame_time_walk *walk, const bool *wanted,
                                   const struct flame_time_name *root)
{
    const struct tv_trace *trace = walk->trace;
    bool several = root->track == TV_NONE &&
                   (root->thread != TV_NONE || flame_time_has_several_threads(trace, wanted));
    tv_flame_growth_begin(&walk->growth);
    walk->next_name = 1;
    for (uint32_t i = 0; i < trace->track_count && !walk->growth.done; i++) {
        uint32_t thread = trace->tracks[i].thread, frame = 0;
        if (!wanted[i] || (root->track != TV_NONE && root->track != i) ||
            (root->thread != TV_NONE && root->thread != thread))
            continue;
        if (several && thread != TV_NONE)
            frame = flame_time_enter_thread(walk, thread);
        if (frame != TV_NONE)
            flame_time_walk_track(walk, i, frame);
    }
    tv_flame_growth_end(&walk->growth);
}

/* A root is walked twice: the first time finds its width, which decides what is too narrow. */
static void flame_time_walk_root(struct flame_time_walk *walk, const bool *wanted,
                                 struct tv_flame *flame)
{
    struct flame_time_name root = {TV_NONE, TV_NONE, 0};
    if (!walk->options->stacks.tree) {
        root = flame_time_find_named(walk, walk->options->root);
        if (root.track == TV_NONE && root.thread == TV_NONE)
            return;
    }
    if (root.track != TV_NONE && root.start > walk->from)
        walk->from = root.start;
    walk->growth.threshold = INT64_MAX;
    flame_time_walk_tracks(walk, wanted, &root);
    if (walk->growth.root == TV_NONE)
        return;
    int64_t width = tv_flame_growth_width(&walk->growth.frames[walk->growth.root]);
    walk->growth.threshold = tv_flame_threshold(width, walk->options->min_share);
    flame_time_walk_tracks(walk, wanted, &root);
    tv_flame_growth_write(&walk->growth, walk->growth.root, flame);
}

struct tv_flame *tv_flame_in_time(const struct tv_trace *trace,
                                  const struct tv_selection *selection,
                                  const struct tv_flame_time_options *options)
{
    struct tv_flame *flame = tv_alloc(1, sizeof *flame);
    struct flame_time_walk walk = {
        .trace = trace, .options = options, .from = selection->from, .to = selection->to};
    walk.stacks = stack_tree_of(trace, &options->stacks);
    walk.growth.wanted_root = options->root;
    walk.growth.adds_up = options->stacks.tree != NULL;
    const struct flame_time_name nothing = {TV_NONE, TV_NONE, 0};
    bool *wanted = tv_selection_wanted(trace, selection);
    flame_time_number_calls(&walk);
    if (options->root != TV_ROOT_PATH) {
        flame_time_walk_root(&walk, wanted, flame);
    } else if (walk.from < walk.to) {
        walk.growth.threshold = tv_flame_threshold(options->total, options->min_share);
        flame_time_walk_tracks(&walk, wanted, &nothing);
        tv_flame_growth_write(&walk.growth, 0, flame);
    }
    tv_free(wanted);
    tv_free(walk.first_name);
    tv_flame_growth_release(&walk.growth);
    tv_free(walk.levels);
    tv_free(walk.chain);
    return flame;
}

/*
 * ---- Samples ----
 *
 * The frames of all samples are numbered in order, each sample's bottom-up; the number of the first
 * frame of a rectangle is its name.
 */

/* Limit on the frames that are visited: deep stacks that samples share could take minutes.  Later
 * samples are left out. */
#define SAMPLES_STEP_LIMIT ((uint64_t)1 << 27)

struct flame_samples_walk {
    const struct tv_trace *trace;
    const struct tv_flame_samples_options *options;
    struct tv_flame_growth growth;
    struct stack_tree stacks;
    int64_t *measures;    /* [samples] -1: not selected */
    uint64_t *first_name; /* [samples + 1] name of its bottom frame; after them that of thread 0 */
    size_t *order;        /* samples by thread, those without one last */
    uint32_t *stack;      /* frames of one sample */
    bool several;         /* samples of several threads */
    size_t root_sample;   /* the first sample that can hold the root; otherwise 0 */
    uint64_t steps;       /* frames visited */
};

static const struct tv_sample *flame_sample_at(const struct flame_samples_walk *walk, size_t index)
{
    return &walk->trace->tables.samples.rows[index];
}

/* Return the node of a sample's stack; TV_ROOT_PATH: it has none. */
static uint32_t flame_sample_stack(const struct flame_samples_walk *walk, size_t index)
{
    return stack_tree_find(&walk->stacks, flame_sample_at(walk, index)->path);
}

static uint32_t flame_sample_thread(const struct flame_samples_walk *walk, size_t index)
{
    uint32_t threads = walk->trace->head->thread_count,
             thread = flame_sample_at(walk, index)->thread;
    return thread < threads ? thread : threads;
}

static uint32_t flame_sample_name(uint64_t name)
{
    return name < TV_NONE ? (uint32_t)name : TV_NONE;
}

/* Number the frames; return the depth of the deepest stack. */
static uint32_t flame_samples_number_frames(struct flame_samples_walk *walk)
{
    const struct stack_tree *stacks = &walk->stacks;
    size_t samples = walk->trace->tables.samples.count;
    uint32_t *depth = tv_alloc(stacks->count, sizeof *depth), deepest = 0;
    walk->first_name = tv_alloc(samples + 1, sizeof *walk->first_name);
    for (uint32_t i = 1; i < stacks->count; i++)
        depth[i] = depth[stack_tree_at(stacks, i).parent] + 1;
    walk->first_name[0] = 1;
    for (size_t i = 0; i < samples; i++) {
        uint32_t own = depth[flame_sample_stack(walk, i)];
        walk->first_name[i + 1] = walk->first_name[i] + own;
        deepest = own > deepest ? own : deepest;
    }
    tv_free(depth);
    return deepest;
}

/* Return true for a sample that is drawn. */
static bool flame_samples_has(const struct flame_samples_walk *walk, size_t index)
{
    return walk->measures[index] != TV_SAMPLE_LEFT_OUT &&
           flame_sample_stack(walk, index) != TV_ROOT_PATH;
}

/* Counting sort by thread; within a thread, samples stay in order of time, as in the table. */
static void flame_samples_sort(struct flame_samples_walk *walk)
{
    size_t samples = walk->trace->tables.samples.count, before = 0;
    uint32_t threads = walk->trace->head->thread_count, seen = 0;
    size_t *next = tv_alloc((size_t)threads + 1, sizeof *next);
    walk->order = tv_alloc(samples, sizeof *walk->order);
    for (size_t i = 0; i < samples; i++)
        if (flame_samples_has(walk, i))
            next[flame_sample_thread(walk, i)]++;
    for (uint32_t thread = 0; thread <= threads; thread++) {
        size_t count = next[thread];
        seen += count > 0;
        next[thread] = before;
        before += count;
    }
    walk->several = seen > 1;
    for (size_t i = 0; i < samples; i++)
        if (flame_samples_has(walk, i))
            walk->order[next[flame_sample_thread(walk, i)]++] = i + 1;
    tv_free(next);
}

/* Put the stack of a sample on a frame. */
static void flame_samples_add(struct flame_samples_walk *walk, size_t index, uint32_t on)
{
    assert(flame_samples_has(walk, index));
    uint64_t name = walk->first_name[index];
    uint32_t depth = 0;
    if (walk->steps >= SAMPLES_STEP_LIMIT) {
        tv_flame_growth_skip(&walk->growth, on, walk->measures[index]);
        return;
    }
    for (uint32_t at = flame_sample_stack(walk, index); at != TV_ROOT_PATH;) {
        struct tv_path_node node = stack_tree_at(&walk->stacks, at);
        walk->stack[depth++] = node.frame;
        at = node.parent;
    }
    walk->steps += depth;
    for (; depth > 0; depth--, name++) {
        uint32_t frame = walk->stack[depth - 1];
        if (walk->options->fold && walk->growth.frames[on].frame == frame)
            continue;
        on = tv_flame_growth_enter(&walk->growth, on, frame, flame_sample_name(name));
        if (on == TV_NONE)
            return;
        walk->growth.frames[on].own += walk->measures[index];
        walk->growth.frames[on].calls++;
    }
}

static bool flame_samples_is_skipped(const struct flame_samples_walk *walk, size_t index,
                                     uint32_t root_thread)
{
    return index < walk->root_sample ||
           (root_thread != TV_NONE && flame_sample_thread(walk, index) != root_thread);
}

/* `root_thread`: this thread only; TV_NONE: all threads. */
static void flame_samples_visit(struct flame_samples_walk *walk, uint32_t root_thread)
{
    size_t samples = walk->trace->tables.samples.count, threads = walk->trace->head->thread_count;
    walk->steps = 0;
    tv_flame_growth_begin(&walk->growth);
    for (size_t i = 0; i < samples && walk->order[i] > 0 && !walk->growth.done; i++) {
        size_t index = walk->order[i] - 1;
        uint32_t thread = flame_sample_thread(walk, index), on = 0;
        if (flame_samples_is_skipped(walk, index, root_thread))
            continue;
        if (walk->several && thread < threads)
            on = tv_flame_growth_enter(&walk->growth, 0, TV_THREAD_FRAME + thread,
                                       flame_sample_name(walk->first_name[samples] + thread));
        if (on != TV_NONE)
            flame_samples_add(walk, index, on);
    }
    tv_flame_growth_end(&walk->growth);
}

/* Return the thread of a root and skip the samples before it; TV_NONE if there is none. */
static uint32_t flame_samples_find_root(struct flame_samples_walk *walk)
{
    uint64_t root = walk->options->root;
    size_t low = 0, count = walk->trace->tables.samples.count;
    uint64_t threads = walk->first_name[count];
    if (root >= threads)
        return root - threads < walk->trace->head->thread_count ? (uint32_t)(root - threads)
                                                                : TV_NONE;
    TV_LOWER_BOUND(low, count, i, walk->first_name[i + 1] <= root);
    walk->root_sample = low;
    return flame_sample_thread(walk, low);
}

/* A root is walked twice: the first time finds its width, which decides what is too narrow. */
static void flame_samples_walk_root(struct flame_samples_walk *walk, struct tv_flame *flame)
{
    uint32_t thread = flame_samples_find_root(walk);
    if (thread == TV_NONE)
        return;
    walk->growth.wanted_root = walk->options->root;
    walk->growth.threshold = INT64_MAX;
    flame_samples_visit(walk, thread);
    if (walk->growth.root == TV_NONE)
        return;
    walk->growth.threshold = tv_flame_threshold(
        tv_flame_growth_width(&walk->growth.frames[walk->growth.root]), walk->options->min_share);
    flame_samples_visit(walk, thread);
    tv_flame_growth_write(&walk->growth, walk->growth.root, flame);
}

static void flame_samples_walk_all(struct flame_samples_walk *walk, struct tv_flame *flame)
{
    int64_t total = 0;
    for (size_t i = 0; i < walk->trace->tables.samples.count; i++)
        total += flame_samples_has(walk, i) ? walk->measures[i] : 0;
    walk->growth.threshold = tv_flame_threshold(total, walk->options->min_share);
    flame_samples_visit(walk, TV_NONE);
    tv_flame_growth_write(&walk->growth, 0, flame);
}

/* A negative weight is as wide as its amount. */
static void flame_samples_make_widths(struct flame_samples_walk *walk)
{
    for (size_t i = 0; i < walk->trace->tables.samples.count; i++)
        if (walk->measures[i] != TV_SAMPLE_LEFT_OUT && walk->measures[i] < 0)
            walk->measures[i] = -walk->measures[i];
}

struct tv_flame *tv_flame_of_samples(const struct tv_trace *trace,
                                     const struct tv_selection *selection,
                                     const struct tv_flame_samples_options *options)
{
    struct tv_flame *flame = tv_alloc(1, sizeof *flame);
    struct flame_samples_walk walk = {.trace = trace, .options = options};
    walk.stacks = stack_tree_of(trace, &options->stacks);
    walk.measures = tv_sample_measures(trace, selection, NULL, &options->question);
    flame_samples_make_widths(&walk);
    walk.stack = tv_alloc(flame_samples_number_frames(&walk), sizeof *walk.stack);
    flame_samples_sort(&walk);
    if (options->root != TV_ROOT_PATH)
        flame_samples_walk_root(&walk, flame);
    else
        flame_samples_walk_all(&walk, flame);
    tv_flame_growth_release(&walk.growth);
    tv_free(walk.measures);
    tv_free(walk.first_name);
    tv_free(walk.order);
    tv_free(walk.stack);
    return flame;
}
