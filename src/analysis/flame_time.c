/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Calls are gone through depth first, but before a frame is made the calls that will be one frame
 * are looked through: where they are too narrow together, they are passed over with all inside of
 * them.  So only rows of frames that are drawn are read.
 */
#include "analysis/flame_time.h"

#include "analysis/flame_growth.h"
#include "analysis/tree_sink.h"
#include "base/memory.h"

/* So many calls of a row are decoded at once. */
#define CALLS_READ 32u

/* Calls of one depth that lie on one frame, one after the other and of one method. */
struct run {
    uint32_t end; /* behind the last one */
    tv_ns until;  /* the last one ends */
    bool whole;   /* none that follows can belong to them */
};

/* The calls of one depth that are still to come. */
struct level {
    uint32_t next, end;
    tv_ns until;          /* the call below ends */
    uint32_t frame;       /* of the call below */
    struct run below;     /* the calls that the frame below is made of, as far as they are known */
    struct run run;       /* those of this depth that were looked through last */
    uint32_t first, read; /* the calls in `calls`: first to first + read - 1 */
    struct tv_slice calls[CALLS_READ];
};

struct walk {
    const struct tv_trace *trace;
    const struct tv_flame_time_options *options;
    tv_ns from, to;
    struct tv_flame_growth growth;
    uint32_t *first_name; /* [rows] of its first call; one more: of the first thread */
    struct level *levels; /* of the track whose turn it is */
    size_t level_capacity;
    tv_ns cpu_from, cpu_to; /* of the track at the ends of the range */
    /* What is inside a call is no wider than the call. CPU time beside a wall clock may be: a call
     * without length in wall time may stand where another begins. */
    bool looks_ahead;
};

static uint32_t enter_call(struct walk *walk, uint32_t parent, const struct tv_slice *slice,
                           uint32_t name, int64_t width)
{
    uint32_t frame = walk->trace->paths.nodes[slice->path].frame;
    if (walk->options->fold && walk->growth.frames[parent].frame == frame)
        return parent;
    uint32_t entered = tv_growth_enter(&walk->growth, parent, frame, name);
    if (entered == TV_NONE)
        return entered;
    tv_time_add(&walk->growth.frames[entered].own, width);
    walk->growth.frames[entered].calls++;
    return entered;
}

/* What of a call lies in the range, in the clock. */
static int64_t clipped(const struct walk *walk, const struct tv_slice *slice, bool has_wall)
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

static uint32_t name_of(const struct walk *walk, uint32_t row, uint32_t index)
{
    uint32_t first = walk->first_name[row];
    return first < TV_NONE - index ? first + index : TV_NONE;
}

/* The next call of a level, which there is. */
static const struct tv_slice *next_call(const struct walk *walk, uint32_t row, struct level *level)
{
    if (level->next - level->first >= level->read) {
        uint32_t left = level->end - level->next;
        level->first = level->next;
        level->read = left < CALLS_READ ? left : CALLS_READ;
        tv_slices_read(walk->trace, row, level->first, level->read, level->calls);
    }
    return &level->calls[level->next - level->first];
}

/* Goes to the calls on one that was entered: those before it are of calls that were passed over. */
static void descend(struct walk *walk, uint32_t row, struct level *level,
                    const struct tv_slice *below)
{
    if (level->next < level->end && next_call(walk, row, level)->start < below->start)
        level->next = tv_row_find_start_near(walk->trace, row, below->start, level->next);
    level->until = below->start + below->length;
}

static bool is_nothing(const struct tv_slice *slice, int64_t width)
{
    return width == 0 && !(slice->flags & TV_SLICE_NO_CPU);
}

/* Whether a call begins a frame, not one that lies on the frame below by itself. */
static bool begins_frame(const struct walk *walk, const struct level *level, uint32_t frame)
{
    const struct tv_growing_frame *below = &walk->growth.frames[level->frame];
    if (walk->options->fold && below->frame == frame)
        return false;
    return below->last == TV_NONE || walk->growth.frames[below->last].frame != frame;
}

/* Looks through the run that begins with the next call, which is behind it then; its width. */
static int64_t look_through(struct walk *walk, uint32_t row, struct level *level, uint32_t frame)
{
    const bool has_wall = tv_row_columns(walk->trace, row)->start != NULL;
    struct run run = {.until = level->until, .whole = level->below.whole};
    int64_t width = 0;
    for (; level->next < level->end; level->next++) {
        const struct tv_slice *slice = next_call(walk, row, level);
        if (slice->start >= level->below.until)
            break;
        int64_t own = clipped(walk, slice, has_wall);
        if (is_nothing(slice, own))
            continue;
        uint32_t its = walk->trace->paths.nodes[slice->path].frame;
        if (its != frame || slice->length == 0) {
            /* What lies in a folded call may go on with the run; what has no length may stand where
             * one call ends, and be of none. */
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

/* Whether the run that begins with the next call is to be drawn; else it is passed over. */
static bool is_wide(struct walk *walk, uint32_t row, struct level *level, uint32_t frame)
{
    uint32_t first = level->next;
    int64_t width = look_through(walk, row, level, frame);
    bool root_is_there = walk->options->root == TV_ROOT_PATH || walk->growth.root != TV_NONE;
    if (width < walk->growth.threshold && level->run.whole && root_is_there) {
        tv_growth_skip(&walk->growth, level->frame, width);
        return false;
    }
    level->next = first;
    return true;
}

/* Goes from a call that was entered to those on it. */
static void descend_from(struct walk *walk, uint32_t row, struct level *level, uint32_t index,
                         const struct tv_slice *slice)
{
    bool known = walk->looks_ahead && index < level->run.end;
    descend(walk, row + 1, &level[1], slice);
    level[1].below = known ? level->run : (struct run){.until = level[1].until, .whole = false};
}

/* Enters the next call of a level; false: there is none on the call below. */
static bool take_call(struct walk *walk, uint32_t row, uint32_t depth, bool *has_calls_on_it)
{
    struct level *level = &walk->levels[depth];
    const bool has_wall = tv_row_columns(walk->trace, row)->start != NULL;
    *has_calls_on_it = false;
    if (level->next >= level->end || walk->growth.done)
        return false;
    struct tv_slice slice = *next_call(walk, row, level);
    if (slice.start >= level->until)
        return false;
    uint32_t index = level->next, method = walk->trace->paths.nodes[slice.path].frame;
    int64_t width = clipped(walk, &slice, has_wall);
    bool nothing = is_nothing(&slice, width);
    if (!nothing && walk->looks_ahead && begins_frame(walk, level, method) &&
        !is_wide(walk, row, level, method))
        return true;
    level->next++;
    if (nothing)
        return true;
    uint32_t frame = enter_call(walk, level->frame, &slice, name_of(walk, row, index), width);
    if (frame == TV_NONE)
        return false;
    if (!(slice.flags & TV_SLICE_HAS_CHILDREN))
        return true;
    level[1].frame = frame;
    descend_from(walk, row, level, index, &slice);
    *has_calls_on_it = true;
    return true;
}

static void prepare_levels(struct walk *walk, const struct tv_track *track, uint32_t frame)
{
    walk->levels = tv_array_reserve(walk->levels, &walk->level_capacity,
                                    (size_t)track->row_count + 1, sizeof *walk->levels);
    for (uint32_t i = 0; i < track->row_count; i++) {
        struct level *level = &walk->levels[i];
        level->until = INT64_MAX;
        level->frame = frame;
        level->run = (struct run){0};
        level->below = (struct run){.until = INT64_MAX, .whole = false};
        level->first = level->read = 0;
        tv_row_overlap(walk->trace, track->first_row + i, walk->from, walk->to, &level->next,
                       &level->end);
    }
    /* Below the lowest there are none. */
    walk->levels[track->row_count].next = walk->levels[track->row_count].end = 0;
}

static void walk_track(struct walk *walk, uint32_t number, uint32_t frame)
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
    prepare_levels(walk, track, frame);
    for (;;) {
        bool took = take_call(walk, track->first_row + depth, depth, &deeper);
        if (deeper && depth + 1 < track->row_count)
            depth++;
        else if (!took && depth-- == 0)
            return;
    }
}

/* What a name means: a call, whose start and track are noted, or a thread. */
struct named {
    uint32_t track, thread; /* TV_NONE: not one of these */
    tv_ns start;
};

static struct named find_named(const struct walk *walk, uint32_t name)
{
    const struct tv_trace *trace = walk->trace;
    struct named named = {TV_NONE, TV_NONE, 0};
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

static void number_calls(struct walk *walk)
{
    const struct tv_trace *trace = walk->trace;
    uint64_t next = 1;
    walk->first_name = tv_alloc((size_t)trace->row_count + 1, sizeof *walk->first_name);
    for (uint32_t row = 0; row <= trace->row_count; row++) {
        walk->first_name[row] = next < TV_NONE ? (uint32_t)next : TV_NONE;
        next += row < trace->row_count ? trace->rows[row].count : 0;
    }
}

/* Whether tracks of several threads are wanted. */
static bool are_several(const struct tv_trace *trace, const bool *wanted)
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

static void walk_tracks(struct walk *walk, const bool *wanted, const struct named *root)
{
    const struct tv_trace *trace = walk->trace;
    bool several =
        root->track == TV_NONE && (root->thread != TV_NONE || are_several(trace, wanted));
    tv_growth_begin(&walk->growth);
    for (uint32_t i = 0; i < trace->track_count && !walk->growth.done; i++) {
        uint32_t thread = trace->tracks[i].thread, frame = 0;
        if (!wanted[i] || (root->track != TV_NONE && root->track != i) ||
            (root->thread != TV_NONE && root->thread != thread))
            continue;
        if (several && thread != TV_NONE)
            frame = tv_growth_enter(&walk->growth, 0, TV_THREAD_FRAME + thread,
                                    name_of(walk, trace->row_count, thread));
        if (frame != TV_NONE)
            walk_track(walk, i, frame);
    }
    tv_growth_end(&walk->growth);
}

/* A root is walked twice, the first time for its width: what is too narrow depends on that. */
static void walk_root(struct walk *walk, const bool *wanted, struct tv_flame *flame)
{
    struct named root = find_named(walk, walk->options->root);
    if (root.track == TV_NONE && root.thread == TV_NONE)
        return;
    if (root.track != TV_NONE && root.start > walk->from)
        walk->from = root.start;
    walk->growth.threshold = INT64_MAX;
    walk_tracks(walk, wanted, &root);
    if (walk->growth.root == TV_NONE)
        return;
    int64_t width = tv_growth_width(&walk->growth.frames[walk->growth.root]);
    walk->growth.threshold = tv_flame_threshold(width, walk->options->min_share);
    walk_tracks(walk, wanted, &root);
    tv_growth_tell(&walk->growth, walk->growth.root, flame);
}

struct tv_flame *tv_flame_in_time(const struct tv_trace *trace,
                                  const struct tv_selection *selection,
                                  const struct tv_flame_time_options *options)
{
    struct tv_flame *flame = tv_alloc(1, sizeof *flame);
    struct walk walk = {
        .trace = trace, .options = options, .from = selection->from, .to = selection->to};
    walk.growth.wanted_root = options->root;
    const struct named nothing = {TV_NONE, TV_NONE, 0};
    bool *wanted = tv_selection_wanted(trace, selection);
    number_calls(&walk);
    if (options->root != TV_ROOT_PATH) {
        walk_root(&walk, wanted, flame);
    } else if (walk.from < walk.to) {
        walk.growth.threshold = tv_flame_threshold(options->total, options->min_share);
        walk_tracks(&walk, wanted, &nothing);
        tv_growth_tell(&walk.growth, 0, flame);
    }
    tv_free(wanted);
    tv_free(walk.first_name);
    tv_growth_release(&walk.growth);
    tv_free(walk.levels);
    return flame;
}
