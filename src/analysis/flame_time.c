/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Frames are made as calls begin and stand depth first.  The last frame on another one is open: the
 * next call there becomes part of it, or ends it.  An ended frame that is too narrow is taken away
 * with all on it, which are the last frames there are; so no more are kept than are drawn.
 */
#include "analysis/flame_time.h"

#include "analysis/tree_sink.h"
#include "base/memory.h"

struct frame {
    uint32_t frame, parent, depth;
    uint32_t last;      /* the open frame on this one; TV_NONE: none */
    uint32_t name;      /* `path` of the layout */
    int64_t at;         /* where it begins on its parent */
    int64_t own;        /* of its calls */
    int64_t on_it;      /* of frames on it that have ended */
    int64_t too_narrow; /* those of them that were taken away */
    uint64_t calls;
};

/* So many calls of a row are decoded at once. */
#define CALLS_READ 32u

/* The calls of one depth that are still to come. */
struct level {
    uint32_t next, end;
    tv_ns until;          /* the call below ends */
    uint32_t frame;       /* of the call below */
    uint32_t first, read; /* the calls in `calls`: first to first + read - 1 */
    struct tv_slice calls[CALLS_READ];
};

struct walk {
    const struct tv_trace *trace;
    const struct tv_flame_time_options *options;
    tv_ns from, to;
    int64_t threshold;
    uint32_t *first_name; /* [rows] of its first call; one more: of the first thread */
    struct frame *frames; /* 0 is what all lie on */
    uint32_t count;
    size_t capacity;
    struct level *levels; /* of the track whose turn it is */
    size_t level_capacity;
    tv_ns cpu_from, cpu_to; /* of the track at the ends of the range */
    uint32_t root;          /* its frame, once it is there; TV_NONE */
    bool done;              /* the root has ended */
};

/* Calls that ran without a CPU time of their own ran as long as those on them. */
static int64_t width_of(const struct frame *frame)
{
    return frame->own > frame->on_it ? frame->own : frame->on_it;
}

/* Ends a frame on which none is open. */
static void end_frame(struct walk *walk, uint32_t index)
{
    struct frame *frame = &walk->frames[index];
    int64_t width = width_of(frame);
    struct frame *parent = &walk->frames[frame->parent];
    bool on_root = walk->root == TV_NONE || index > walk->root;
    parent->on_it += width;
    parent->last = TV_NONE;
    walk->done |= index == walk->root;
    if (width >= walk->threshold || !on_root)
        return;
    parent->too_narrow += width;
    walk->count = index;
}

/* Ends the open frame on this one, after all that are open on that. */
static void end_last(struct walk *walk, uint32_t index)
{
    uint32_t at = index;
    while (walk->frames[at].last != TV_NONE)
        at = walk->frames[at].last;
    while (at != index) {
        uint32_t parent = walk->frames[at].parent;
        end_frame(walk, at);
        at = parent;
    }
}

static uint32_t add_frame(struct walk *walk, uint32_t parent, uint32_t frame, uint32_t name)
{
    walk->frames = tv_array_reserve(walk->frames, &walk->capacity, (size_t)walk->count + 1,
                                    sizeof *walk->frames);
    walk->frames[walk->count] = (struct frame){.frame = frame,
                                               .parent = parent,
                                               .depth = walk->frames[parent].depth + 1,
                                               .last = TV_NONE,
                                               .name = name,
                                               .at = walk->frames[parent].on_it};
    walk->frames[parent].last = walk->count;
    return walk->count++;
}

/* The frame on which what a call or a thread makes is to lie; TV_NONE: the root has ended. */
static uint32_t enter(struct walk *walk, uint32_t parent, uint32_t frame, uint32_t name)
{
    uint32_t last = walk->frames[parent].last;
    if (last != TV_NONE && walk->frames[last].frame == frame)
        return last;
    if (last != TV_NONE)
        end_last(walk, parent);
    if (walk->done)
        return TV_NONE;
    uint32_t made = add_frame(walk, parent, frame, name);
    if (name == walk->options->root && name != TV_NONE && name != TV_ROOT_PATH)
        walk->root = made;
    return made;
}

static uint32_t enter_call(struct walk *walk, uint32_t parent, const struct tv_slice *slice,
                           uint32_t name, int64_t width)
{
    uint32_t frame = walk->trace->paths.nodes[slice->path].frame;
    if (walk->options->fold && walk->frames[parent].frame == frame)
        return parent;
    uint32_t entered = enter(walk, parent, frame, name);
    if (entered == TV_NONE)
        return entered;
    walk->frames[entered].own += width;
    walk->frames[entered].calls++;
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

/* Enters the next call of a level; false: there is none on the call below. */
static bool take_call(struct walk *walk, uint32_t row, uint32_t depth, bool *has_calls_on_it)
{
    struct level *level = &walk->levels[depth];
    const bool has_wall = tv_row_columns(walk->trace, row)->start != NULL;
    *has_calls_on_it = false;
    if (level->next >= level->end || walk->done)
        return false;
    struct tv_slice slice = *next_call(walk, row, level);
    if (slice.start >= level->until)
        return false;
    uint32_t name = name_of(walk, row, level->next++);
    int64_t width = clipped(walk, &slice, has_wall);
    if (width == 0 && !(slice.flags & TV_SLICE_NO_CPU))
        return true;
    uint32_t frame = enter_call(walk, level->frame, &slice, name, width);
    if (frame == TV_NONE)
        return false;
    if (!(slice.flags & TV_SLICE_HAS_CHILDREN))
        return true;
    level[1].frame = frame;
    descend(walk, row + 1, &level[1], &slice);
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
    walk->count = 0;
    walk->root = TV_NONE;
    walk->done = false;
    walk->frames = tv_array_reserve(walk->frames, &walk->capacity, 1, sizeof *walk->frames);
    walk->frames[walk->count++] =
        (struct frame){.frame = TV_NONE, .last = TV_NONE, .depth = TV_NONE};
    for (uint32_t i = 0; i < trace->track_count && !walk->done; i++) {
        uint32_t thread = trace->tracks[i].thread, frame = 0;
        if (!wanted[i] || (root->track != TV_NONE && root->track != i) ||
            (root->thread != TV_NONE && root->thread != thread))
            continue;
        if (several && thread != TV_NONE)
            frame =
                enter(walk, 0, TV_THREAD_FRAME + thread, name_of(walk, trace->row_count, thread));
        if (frame != TV_NONE)
            walk_track(walk, i, frame);
    }
    end_last(walk, 0);
}

/* The frames from `first` on that lie on it, itself included unless it is what all lie on. */
static void tell(struct tv_flame *flame, struct walk *walk, uint32_t first)
{
    uint32_t base = walk->frames[first].depth;
    flame->total = first == 0 ? walk->frames[0].on_it : width_of(&walk->frames[first]);
    flame->left_out = walk->frames[first].too_narrow;
    walk->frames[first].at = 0;
    for (uint32_t i = first; i < walk->count; i++) {
        struct frame *frame = &walk->frames[i];
        if (i > first && frame->depth <= base && first > 0)
            break;
        if (i > first) {
            frame->at += walk->frames[frame->parent].at;
            flame->left_out += frame->too_narrow;
        }
        if (i == 0)
            continue;
        tv_flame_add(flame, &(struct tv_flame_frame){
                                .start = frame->at,
                                .width = width_of(frame),
                                .self = width_of(frame) - frame->on_it,
                                .calls = frame->calls,
                                .depth = first == 0 ? frame->depth : frame->depth - base,
                                .frame = frame->frame,
                                .path = frame->name,
                            });
    }
}

/* A root is walked twice, the first time for its width: what is too narrow depends on that. */
static void walk_root(struct walk *walk, const bool *wanted, struct tv_flame *flame)
{
    struct named root = find_named(walk, walk->options->root);
    if (root.track == TV_NONE && root.thread == TV_NONE)
        return;
    if (root.track != TV_NONE && root.start > walk->from)
        walk->from = root.start;
    walk->threshold = INT64_MAX;
    walk_tracks(walk, wanted, &root);
    if (walk->root == TV_NONE)
        return;
    int64_t width = width_of(&walk->frames[walk->root]);
    walk->threshold = tv_flame_threshold(width, walk->options->min_share);
    walk_tracks(walk, wanted, &root);
    tell(flame, walk, walk->root);
}

struct tv_flame *tv_flame_in_time(const struct tv_trace *trace,
                                  const struct tv_selection *selection,
                                  const struct tv_flame_time_options *options)
{
    struct tv_flame *flame = tv_alloc(1, sizeof *flame);
    struct walk walk = {
        .trace = trace, .options = options, .from = selection->from, .to = selection->to};
    const struct named nothing = {TV_NONE, TV_NONE, 0};
    bool *wanted = tv_selection_wanted(trace, selection);
    number_calls(&walk);
    if (options->root != TV_ROOT_PATH) {
        walk_root(&walk, wanted, flame);
    } else if (walk.from < walk.to) {
        walk.threshold = tv_flame_threshold(options->total, options->min_share);
        walk_tracks(&walk, wanted, &nothing);
        tell(flame, &walk, 0);
    }
    tv_free(wanted);
    tv_free(walk.first_name);
    tv_free(walk.frames);
    tv_free(walk.levels);
    return flame;
}
