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
#include "base/memory.h"

/* ---- Growing frames ----
 *
 * Chronological graphs are built while events are read, depth first.  The last frame on another one
 * is open: what comes next either extends it or ends it.  A frame that ends too narrow, or after
 * TV_FLAME_FRAMES others, is removed with everything on it.  These are always the last frames of
 * the array, so no more frames are held than are drawn.
 */

struct growing_frame {
    uint32_t frame, parent, depth;
    uint32_t last;      /* the open frame on top; TV_NONE: none */
    uint32_t name;      /* `path` of the layout */
    int64_t at;         /* start, relative to its parent */
    int64_t own;        /* time of its events */
    int64_t on_it;      /* time of ended frames on top */
    int64_t too_narrow; /* ... and of those that were removed */
    uint64_t calls;
};

struct flame_growth {
    int64_t threshold;
    uint32_t wanted_root;         /* name of the frame to begin with; TV_ROOT_PATH: none */
    struct growing_frame *frames; /* [0] is the root frame */
    uint32_t count;
    size_t capacity;
    uint32_t root; /* index of the wanted root once it exists, or TV_NONE */
    bool done;     /* the root has ended */
};

/* Start over with the threshold and the root that are set. */
static void flame_growth_begin(struct flame_growth *growth)
{
    growth->count = 0;
    growth->root = TV_NONE;
    growth->done = false;
    growth->frames = tv_array_reserve(growth->frames, &growth->capacity, 1, sizeof *growth->frames);
    growth->frames[growth->count++] =
        (struct growing_frame){.frame = TV_NONE, .last = TV_NONE, .depth = TV_NONE};
}

static void flame_growth_release(struct flame_growth *growth)
{
    tv_free(growth->frames);
}

/* Return the width of a frame.  One without time of its own, such as a call whose CPU time is
 * unknown, lasts as long as what lies on it. */
static int64_t flame_growth_width(const struct growing_frame *frame)
{
    return frame->own > frame->on_it ? frame->own : frame->on_it;
}

/* End a frame that has no open frame on it. */
static void flame_growth_end_frame(struct flame_growth *growth, uint32_t index)
{
    assert(index > 0 && growth->frames[index].last == TV_NONE);
    struct growing_frame *frame = &growth->frames[index];
    int64_t width = flame_growth_width(frame);
    struct growing_frame *parent = &growth->frames[frame->parent];
    bool on_root = growth->root == TV_NONE || index > growth->root;
    tv_time_add(&parent->on_it, width);
    parent->last = TV_NONE;
    growth->done |= index == growth->root;
    if ((width >= growth->threshold && index <= TV_FLAME_FRAMES) || !on_root)
        return;
    tv_time_add(&parent->too_narrow, width);
    growth->count = index;
}

/* End the open frame on this one, and before it all open frames on that. */
static void flame_growth_end_last(struct flame_growth *growth, uint32_t index)
{
    uint32_t at = index;
    while (growth->frames[at].last != TV_NONE)
        at = growth->frames[at].last;
    while (at != index) {
        uint32_t parent = growth->frames[at].parent;
        flame_growth_end_frame(growth, at);
        at = parent;
    }
}

static uint32_t flame_growth_add_frame(struct flame_growth *growth, uint32_t parent, uint32_t frame,
                                       uint32_t name)
{
    growth->frames = tv_array_reserve(growth->frames, &growth->capacity, (size_t)growth->count + 1,
                                      sizeof *growth->frames);
    growth->frames[growth->count] =
        (struct growing_frame){.frame = frame,
                               .parent = parent,
                               .depth = growth->frames[parent].depth + 1,
                               .last = TV_NONE,
                               .name = name,
                               .at = growth->frames[parent].on_it};
    growth->frames[parent].last = growth->count;
    return growth->count++;
}

/* Return the frame to put an event on: the parent's open frame if it is of the same method,
 * otherwise a new one; TV_NONE once the root has ended. */
static uint32_t flame_growth_enter(struct flame_growth *growth, uint32_t parent, uint32_t frame,
                                   uint32_t name)
{
    assert(parent < growth->count);
    uint32_t last = growth->frames[parent].last;
    if (last != TV_NONE && growth->frames[last].frame == frame)
        return last;
    if (last != TV_NONE)
        flame_growth_end_last(growth, parent);
    if (growth->done)
        return TV_NONE;
    uint32_t made = flame_growth_add_frame(growth, parent, frame, name);
    if (name == growth->wanted_root && name != TV_NONE && name != TV_ROOT_PATH)
        growth->root = made;
    return made;
}

/* Skip a frame of this width and leave its place empty.  It must not be the parent's open frame. */
static void flame_growth_skip(struct flame_growth *growth, uint32_t parent, int64_t width)
{
    if (growth->frames[parent].last != TV_NONE)
        flame_growth_end_last(growth, parent);
    if (growth->done)
        return;
    tv_time_add(&growth->frames[parent].on_it, width);
    tv_time_add(&growth->frames[parent].too_narrow, width);
}

/* End all open frames. */
static void flame_growth_end(struct flame_growth *growth)
{
    flame_growth_end_last(growth, 0);
}

/* Append a frame and those on it to a layout; for the ground, 0, only those on it. */
static void flame_growth_write(const struct flame_growth *growth, uint32_t first,
                               struct tv_flame *flame)
{
    uint32_t base = growth->frames[first].depth;
    flame->total =
        first == 0 ? growth->frames[0].on_it : flame_growth_width(&growth->frames[first]);
    flame->left_out = growth->frames[first].too_narrow;
    growth->frames[first].at = 0;
    for (uint32_t i = first; i < growth->count; i++) {
        struct growing_frame *frame = &growth->frames[i];
        if (i > first && frame->depth <= base && first > 0)
            break;
        if (i > first) {
            tv_time_add(&frame->at, growth->frames[frame->parent].at);
            tv_time_add(&flame->left_out, frame->too_narrow);
        }
        if (i == 0)
            continue;
        tv_flame_add(flame, &(struct tv_flame_frame){
                                .start = frame->at,
                                .width = flame_growth_width(frame),
                                .self = flame_growth_width(frame) - frame->on_it,
                                .calls = frame->calls,
                                .depth = first == 0 ? frame->depth : frame->depth - base,
                                .frame = frame->frame,
                                .path = frame->name,
                            });
    }
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
    uint32_t end; /* behind the last call */
    tv_ns until;  /* end of the last call */
    bool whole;   /* no later call can belong to the run */
};

/* The calls of one depth that are still to come. */
struct flame_time_level {
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
    struct flame_growth growth;
    uint32_t
        *first_name; /* [rows] name of the row's first call; behind them that of the first thread */
    struct flame_time_level *levels; /* of the current track */
    size_t level_capacity;
    tv_ns cpu_from, cpu_to; /* of the track, at the ends of the range */
    /* A call's children are no wider than the call.  CPU time next to a wall clock is an
     * exception: a call without wall time may stand where another one begins. */
    bool looks_ahead;
};

static uint32_t flame_time_enter_call(struct flame_time_walk *walk, uint32_t parent,
                                      const struct tv_slice *slice, uint32_t name, int64_t width)
{
    uint32_t frame = walk->trace->paths.nodes[slice->path].frame;
    if (walk->options->fold && walk->growth.frames[parent].frame == frame)
        return parent;
    uint32_t entered = flame_growth_enter(&walk->growth, parent, frame, name);
    if (entered == TV_NONE)
        return entered;
    tv_time_add(&walk->growth.frames[entered].own, width);
    walk->growth.frames[entered].calls++;
    return entered;
}

/* Return the part of a call that lies in the range, on the clock. */
static int64_t flame_time_clip(const struct flame_time_walk *walk, const struct tv_slice *slice,
                               bool has_wall)
{
    tv_ns start = slice->start, end = start + slice->length;
    tv_ns cpu_start = slice->cpu_start, cpu_end = cpu_start + slice->cpu_length;
    if (start < walk->from) {
        start = walk->from;
        cpu_start = walk->cpu_from;
    }
    if (end > walk->to) {
        end = walk->to;
        cpu_end = walk->cpu_to;
    }
    bool wall = walk->options->clock == TV_CLOCK_WALL || !has_wall;
    int64_t width = wall ? end - start : cpu_end - cpu_start;
    if (!wall && (slice->flags & TV_SLICE_NO_CPU))
        width = 0;
    return width > 0 ? width : 0;
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
    const struct growing_frame *below = &walk->growth.frames[level->frame];
    if (walk->options->fold && below->frame == frame)
        return false;
    return below->last == TV_NONE || walk->growth.frames[below->last].frame != frame;
}

/* Measure the run that begins with the next call and move behind it; return its width. */
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
        flame_growth_skip(&walk->growth, level->frame, width);
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

static void flame_time_walk_tracks(struct flame_time_walk *walk, const bool *wanted,
                                   const struct flame_time_name *root)
{
    const struct tv_trace *trace = walk->trace;
    bool several = root->track == TV_NONE &&
                   (root->thread != TV_NONE || flame_time_has_several_threads(trace, wanted));
    flame_growth_begin(&walk->growth);
    for (uint32_t i = 0; i < trace->track_count && !walk->growth.done; i++) {
        uint32_t thread = trace->tracks[i].thread, frame = 0;
        if (!wanted[i] || (root->track != TV_NONE && root->track != i) ||
            (root->thread != TV_NONE && root->thread != thread))
            continue;
        if (several && thread != TV_NONE)
            frame = flame_growth_enter(&walk->growth, 0, TV_THREAD_FRAME + thread,
                                       flame_time_call_name(walk, trace->row_count, thread));
        if (frame != TV_NONE)
            flame_time_walk_track(walk, i, frame);
    }
    flame_growth_end(&walk->growth);
}

/* A root is walked twice: the first time finds its width, which decides what is too narrow. */
static void flame_time_walk_root(struct flame_time_walk *walk, const bool *wanted,
                                 struct tv_flame *flame)
{
    struct flame_time_name root = flame_time_find_named(walk, walk->options->root);
    if (root.track == TV_NONE && root.thread == TV_NONE)
        return;
    if (root.track != TV_NONE && root.start > walk->from)
        walk->from = root.start;
    walk->growth.threshold = INT64_MAX;
    flame_time_walk_tracks(walk, wanted, &root);
    if (walk->growth.root == TV_NONE)
        return;
    int64_t width = flame_growth_width(&walk->growth.frames[walk->growth.root]);
    walk->growth.threshold = tv_flame_threshold(width, walk->options->min_share);
    flame_time_walk_tracks(walk, wanted, &root);
    flame_growth_write(&walk->growth, walk->growth.root, flame);
}

struct tv_flame *tv_flame_in_time(const struct tv_trace *trace,
                                  const struct tv_selection *selection,
                                  const struct tv_flame_time_options *options)
{
    struct tv_flame *flame = tv_alloc(1, sizeof *flame);
    struct flame_time_walk walk = {
        .trace = trace, .options = options, .from = selection->from, .to = selection->to};
    walk.growth.wanted_root = options->root;
    const struct flame_time_name nothing = {TV_NONE, TV_NONE, 0};
    bool *wanted = tv_selection_wanted(trace, selection);
    flame_time_number_calls(&walk);
    if (options->root != TV_ROOT_PATH) {
        flame_time_walk_root(&walk, wanted, flame);
    } else if (walk.from < walk.to) {
        walk.growth.threshold = tv_flame_threshold(options->total, options->min_share);
        flame_time_walk_tracks(&walk, wanted, &nothing);
        flame_growth_write(&walk.growth, 0, flame);
    }
    tv_free(wanted);
    tv_free(walk.first_name);
    flame_growth_release(&walk.growth);
    tv_free(walk.levels);
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
    struct flame_growth growth;
    int64_t *measures;    /* [samples] -1: not selected */
    uint64_t *first_name; /* [samples + 1] name of its bottom frame; behind them that of thread 0 */
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
    const struct tv_paths *paths = &walk->trace->paths;
    size_t samples = walk->trace->tables.samples.count;
    uint32_t *depth = tv_alloc(paths->count, sizeof *depth), deepest = 0;
    walk->first_name = tv_alloc(samples + 1, sizeof *walk->first_name);
    for (uint32_t i = 1; i < paths->count; i++)
        depth[i] = depth[paths->nodes[i].parent] + 1;
    walk->first_name[0] = 1;
    for (size_t i = 0; i < samples; i++) {
        uint32_t own = depth[flame_sample_at(walk, i)->path];
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
           flame_sample_at(walk, index)->path != TV_ROOT_PATH;
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
    const struct tv_paths *paths = &walk->trace->paths;
    uint64_t name = walk->first_name[index];
    uint32_t depth = 0;
    if (walk->steps >= SAMPLES_STEP_LIMIT) {
        flame_growth_skip(&walk->growth, on, walk->measures[index]);
        return;
    }
    for (uint32_t at = flame_sample_at(walk, index)->path; at != TV_ROOT_PATH;
         at = paths->nodes[at].parent)
        walk->stack[depth++] = paths->nodes[at].frame;
    walk->steps += depth;
    for (; depth > 0; depth--, name++) {
        uint32_t frame = walk->stack[depth - 1];
        if (walk->options->fold && walk->growth.frames[on].frame == frame)
            continue;
        on = flame_growth_enter(&walk->growth, on, frame, flame_sample_name(name));
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
    flame_growth_begin(&walk->growth);
    for (size_t i = 0; i < samples && walk->order[i] > 0 && !walk->growth.done; i++) {
        size_t index = walk->order[i] - 1;
        uint32_t thread = flame_sample_thread(walk, index), on = 0;
        if (flame_samples_is_skipped(walk, index, root_thread))
            continue;
        if (walk->several && thread < threads)
            on = flame_growth_enter(&walk->growth, 0, TV_THREAD_FRAME + thread,
                                    flame_sample_name(walk->first_name[samples] + thread));
        if (on != TV_NONE)
            flame_samples_add(walk, index, on);
    }
    flame_growth_end(&walk->growth);
}

/* Return the thread of a root and skip the samples before it; TV_NONE if there is none. */
static uint32_t flame_samples_find_root(struct flame_samples_walk *walk)
{
    uint64_t root = walk->options->root;
    size_t low = 0, high = walk->trace->tables.samples.count;
    uint64_t threads = walk->first_name[high];
    if (root >= threads)
        return root - threads < walk->trace->head->thread_count ? (uint32_t)(root - threads)
                                                                : TV_NONE;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (walk->first_name[middle + 1] <= root)
            low = middle + 1;
        else
            high = middle;
    }
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
        flame_growth_width(&walk->growth.frames[walk->growth.root]), walk->options->min_share);
    flame_samples_visit(walk, thread);
    flame_growth_write(&walk->growth, walk->growth.root, flame);
}

static void flame_samples_walk_all(struct flame_samples_walk *walk, struct tv_flame *flame)
{
    int64_t total = 0;
    for (size_t i = 0; i < walk->trace->tables.samples.count; i++)
        total += flame_samples_has(walk, i) ? walk->measures[i] : 0;
    walk->growth.threshold = tv_flame_threshold(total, walk->options->min_share);
    flame_samples_visit(walk, TV_NONE);
    flame_growth_write(&walk->growth, 0, flame);
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
    walk.measures = tv_sample_measures(trace, selection, NULL, &options->question);
    flame_samples_make_widths(&walk);
    walk.stack = tv_alloc(flame_samples_number_frames(&walk), sizeof *walk.stack);
    flame_samples_sort(&walk);
    if (options->root != TV_ROOT_PATH)
        flame_samples_walk_root(&walk, flame);
    else
        flame_samples_walk_all(&walk, flame);
    flame_growth_release(&walk.growth);
    tv_free(walk.measures);
    tv_free(walk.first_name);
    tv_free(walk.order);
    tv_free(walk.stack);
    return flame;
}
