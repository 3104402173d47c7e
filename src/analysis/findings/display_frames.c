/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Display frames: those of timelines and pipelines (display_timeline.c), and those of calls.
 *
 *   rows    -> parts       outermost calls of listed names, by process and start
 *   parts   -> frames      one for each call that makes a frame; drawing joins the one it began in
 *   frames  -> deadlines   display_deadlines.c
 *   parts   -> causes      own times by name, of everything inside a frame's parts
 *
 * Everything takes linear time and a radix sort.
 */
#include "analysis/findings/display_frames.h"

#include <assert.h>
#include <string.h>

#include "analysis/findings/display_internal.h"
#include "analysis/findings/findings.h"
#include "analysis/states/statistics.h"
#include "analysis/subset/selection.h"
#include "base/bytes.h"
#include "base/memory.h"
#include "base/sort.h"
#include "base/workers.h"

#define READ_AT_ONCE 256u

struct tv_display_frame *tv_display_search_add(struct tv_display_search *search)
{
    if (search->count >= TV_NONE)
        return NULL;
    search->list =
        tv_array_reserve(search->list, &search->capacity, search->count + 1, sizeof *search->list);
    struct tv_display_frame *frame = &search->list[search->count++];
    *frame = (struct tv_display_frame){
        .process = TV_NONE, .thread = TV_NONE, .cause = TV_NONE, .first_part = TV_NONE};
    return frame;
}

/* ---- Parts: calls of listed names ---- */

static void display_add_part(struct tv_display_search *search, uint32_t row, uint32_t index,
                             uint8_t lists)
{
    if (search->part_count >= TV_NONE)
        return;
    struct tv_slice slice = tv_slice_get(search->trace, row, index);
    search->parts = tv_array_reserve(search->parts, &search->part_capacity, search->part_count + 1,
                                     sizeof *search->parts);
    search->parts[search->part_count++] = (struct tv_display_part){
        .start = slice.start,
        .length = slice.length,
        .row = row,
        .index = index,
        .next = TV_NONE,
        .lists = lists & TV_NAMES_DISPLAY,
        .open = slice.flags & TV_SLICE_OPEN,
    };
}

/* Add the outermost calls of listed names in the rows of a track.
 *
 * Most depths have no call of a listed name and are skipped as a whole.  In the others, a lookup by
 * path decides for each call; `around` has the lists of its callers, so that a frame inside a frame
 * is not another frame. */
static void display_take_track(struct tv_display_search *search,
                               const struct tv_listed_calls *listed, const struct tv_track *track)
{
    const struct tv_trace *trace = search->trace;
    for (uint32_t depth = 0; depth < track->row_count && depth < listed->depth_count; depth++) {
        uint32_t row = track->first_row + depth;
        if (!(listed->depths[depth] & TV_NAMES_DISPLAY))
            continue;
        const uint32_t *path = tv_row_columns(trace, row)->path + trace->rows[row].first;
        for (uint32_t i = 0; i < trace->rows[row].count; i++)
            if (TV_UNLIKELY(listed->paths[path[i]] & TV_NAMES_DISPLAY) &&
                !(listed->around[path[i]] & TV_NAMES_DISPLAY))
                display_add_part(search, row, i, listed->paths[path[i]]);
    }
}

static const struct tv_track *display_track_of(const struct tv_trace *trace,
                                               const struct tv_display_part *part)
{
    return &trace->tracks[trace->rows[part->row].track];
}

/* Return the process of a part; TV_NONE: unknown. */
static uint32_t display_process_of(const struct tv_trace *trace, const struct tv_display_part *part)
{
    const struct tv_track *track = display_track_of(trace, part);
    return track->thread == TV_NONE ? track->process : trace->head->threads[track->thread].process;
}

/* The compositor of Android, which is handed the buffers of others. */
static bool display_is_compositor(const struct tv_trace_info *head, uint32_t process)
{
    return process != TV_NONE &&
           tv_bytes_ends_with(tv_trace_info_text(head, head->processes[process].name),
                              TV_BYTES("surfaceflinger"));
}

/* Remove deliveries of buffers by the compositor, and by threads whose calls tell more.
 *
 * A swap hands a finished buffer to the display.  On a thread that draws by calls of other names it
 * would count each frame twice, and the compositor does it for the buffers of all programs; only
 * elsewhere, as in games, is it the one sign of a frame. */
static void display_drop_swaps(struct tv_display_search *search)
{
    const struct tv_trace *trace = search->trace;
    bool *tells = tv_alloc(trace->head->thread_count, sizeof *tells);
    size_t kept = 0;
    for (size_t i = 0; i < search->part_count; i++) {
        uint32_t thread = display_track_of(trace, &search->parts[i])->thread;
        if (thread != TV_NONE && search->parts[i].lists != TV_NAMES_SWAP)
            tells[thread] = true;
    }
    for (size_t i = 0; i < search->part_count; i++) {
        const struct tv_display_part *part = &search->parts[i];
        uint32_t thread = display_track_of(trace, part)->thread;
        if (part->lists == TV_NAMES_SWAP &&
            ((thread != TV_NONE && tells[thread]) ||
             display_is_compositor(trace->head, display_process_of(trace, part))))
            continue;
        search->parts[kept++] = *part;
    }
    search->part_count = kept;
    tv_free(tells);
}

/* Number the processes for sorting; a thread without one stands for itself. */
static uint64_t display_owner_of(const struct tv_trace *trace, const struct tv_display_part *part)
{
    uint32_t process = display_process_of(trace, part);
    return process != TV_NONE ? process : (uint64_t)1 << 32 | display_track_of(trace, part)->thread;
}

/* Sort the parts by process, then by start. */
static void display_sort_parts(struct tv_display_search *search)
{
    size_t count = search->part_count;
    struct tv_sort_key *keys = tv_alloc(count, sizeof *keys);
    struct tv_display_part *sorted = tv_alloc(count, sizeof *sorted);
    /* the sort keeps the order of equal keys, so the second one leaves the starts in order */
    for (size_t i = 0; i < count; i++)
        keys[i] = (struct tv_sort_key){tv_sort_signed(search->parts[i].start), i};
    tv_sort_keys(keys, count);
    for (size_t i = 0; i < count; i++)
        keys[i].key = display_owner_of(search->trace, &search->parts[keys[i].index]);
    tv_sort_keys(keys, count);
    for (size_t i = 0; i < count; i++)
        sorted[i] = search->parts[keys[i].index];
    tv_free(keys);
    tv_free(search->parts);
    search->parts = sorted;
    search->part_capacity = count;
}

/* ---- Frames of parts ---- */

/* Add a part to a frame, and its time to the main or the render thread's. */
static void display_join(struct tv_display_search *search, uint32_t frame_number, uint32_t number)
{
    struct tv_display_frame *frame = &search->list[frame_number];
    struct tv_display_part *part = &search->parts[number];
    bool main = part->lists == TV_NAMES_FRAME;
    tv_time_add(main ? &frame->main : &frame->render, part->length);
    part->next = frame->first_part;
    frame->first_part = number;
}

/* Begin a frame with a part. */
static void display_begin(struct tv_display_search *search, uint32_t number)
{
    const struct tv_display_part *part = &search->parts[number];
    struct tv_display_frame *frame = tv_display_search_add(search);
    if (!frame)
        return;
    frame->start = part->start;
    frame->length = part->length;
    frame->row = part->row;
    frame->index = part->index;
    frame->process = display_process_of(search->trace, part);
    frame->thread = display_track_of(search->trace, part)->thread;
    frame->unfinished = part->open;
    display_join(search, (uint32_t)search->count - 1, number);
}

/* Let a frame last to the end of a part that draws it. */
static void display_extend(struct tv_display_frame *frame, const struct tv_display_part *part)
{
    tv_ns length = part->start + part->length - frame->start;
    if (length > frame->length)
        frame->length = length;
    frame->unfinished = frame->unfinished || part->open;
}

/* Return the number after the last blank of a part's name: "DrawFrames 4711".
 *
 * Android's calls and its frame timeline name a frame by the same number, the vsync id. */
static bool display_token(const struct tv_trace *trace, const struct tv_display_part *part,
                          uint64_t *token)
{
    uint32_t path =
        tv_row_columns(trace, part->row)->path[trace->rows[part->row].first + part->index];
    struct tv_bytes name = tv_trace_info_text(trace->head, tv_path_frame(trace, path)->name);
    size_t digits = 0;
    while (digits < name.length && name.data[name.length - digits - 1] != ' ')
        digits++;
    return digits < name.length &&
           tv_parse_u64((struct tv_bytes){name.data + name.length - digits, digits}, token);
}

/* Return the frame of the timeline that a part belongs to by its token; TV_NONE: none. */
static uint32_t display_timeline_of(const struct tv_display_search *search,
                                    const struct tv_display_part *part)
{
    uint64_t token;
    if (!search->by_token || !display_token(search->trace, part, &token))
        return TV_NONE;
    return tv_display_search_token(search, display_process_of(search->trace, part), token);
}

/* Parts of a process come by start.  A drawing call belongs to the call of a main thread during
 * which it began, and the frame lasts to its end:
 *
 *     main thread     [ doFrame 1   ]     [ doFrame 2 ]
 *     render thread           [ draw 1    ]     [ draw 2 ]
 *     frames          1 ------------------1
 *                                         2 --------------2
 *
 * Several main threads of one process may be at work: the call that began last counts.
 */

/* The frames of a process whose main threads are at work. */
struct frame_stack {
    struct {
        uint32_t frame;
        tv_ns end; /* of the main thread's call */
    } * items;
    size_t count, capacity;
};

/* Return the frame begun last of those in which something begins at `time`; TV_NONE: none. */
static uint32_t display_frame_at(struct frame_stack *open, tv_ns time)
{
    while (open->count > 0 && open->items[open->count - 1].end <= time)
        open->count--;
    return open->count > 0 ? open->items[open->count - 1].frame : TV_NONE;
}

static void display_push(struct frame_stack *open, uint32_t frame,
                         const struct tv_display_part *part)
{
    open->items =
        tv_array_reserve(open->items, &open->capacity, open->count + 1, sizeof *open->items);
    open->items[open->count].frame = frame;
    open->items[open->count++].end = part->start + part->length;
}

/* Add a part to the frame that it belongs to, or begin one. */
static void display_take_part(struct tv_display_search *search, struct frame_stack *open,
                              uint32_t number)
{
    const struct tv_display_part *part = &search->parts[number];
    uint32_t frame = display_timeline_of(search, part);
    if (frame != TV_NONE) {
        display_join(search, frame, number);
        return;
    }
    if (part->lists == TV_NAMES_RENDER)
        frame = display_frame_at(open, part->start);
    if (frame != TV_NONE) {
        display_join(search, frame, number);
        display_extend(&search->list[frame], part);
        return;
    }
    uint32_t count = (uint32_t)search->count;
    display_begin(search, number);
    if (part->lists == TV_NAMES_FRAME && search->count > count)
        display_push(open, count, part);
}

/* Make frames of the calls. */
static void display_search_calls(struct tv_display_search *search,
                                 const struct tv_listed_calls *listed)
{
    const struct tv_trace *trace = search->trace;
    struct frame_stack open = {NULL, 0, 0};
    for (uint32_t i = 0; i < trace->track_count; i++) {
        const struct tv_track *track = &trace->tracks[i];
        if (search->wanted[i] && tv_track_has_calls(track))
            display_take_track(search, listed, track);
    }
    display_drop_swaps(search);
    display_sort_parts(search);
    for (size_t i = 0; i < search->part_count; i++) {
        if (i == 0 || display_owner_of(trace, &search->parts[i]) !=
                          display_owner_of(trace, &search->parts[i - 1]))
            open.count = 0;
        display_take_part(search, &open, (uint32_t)i);
    }
    tv_free(open.items);
}

/* ---- The result ---- */

/* Give the frames of calls, and those of the timeline that have none, their deadline. */
static void display_set_deadlines(struct tv_display_frames *frames)
{
    const struct tv_trace *trace = frames->trace;
    for (uint32_t i = 0; i < frames->count; i++) {
        struct tv_display_frame *frame = &frames->list[i];
        const struct tv_slice slice = tv_slice_get(trace, frame->row, frame->index);
        frame->name = trace->paths.nodes[slice.path].frame;
        /* a frame of a timeline came with its own deadline */
        if (trace->tracks[trace->rows[frame->row].track].kind == TV_TRACK_ASYNC)
            continue;
        frame->deadline = frames->intervals[trace->rows[frame->row].input].period;
        frame->source = (uint8_t)frames->intervals[trace->rows[frame->row].input].source;
        frame->late = frame->length > frame->deadline;
    }
}

/* Sort the frames by start, and keep those that touch the range. */
static void display_sort_frames(struct tv_display_frames *frames,
                                const struct tv_display_search *search,
                                const struct tv_selection *selection)
{
    struct tv_sort_key *keys = tv_alloc(search->count, sizeof *keys);
    for (size_t i = 0; i < search->count; i++)
        keys[i] = (struct tv_sort_key){tv_sort_signed(search->list[i].start), i};
    tv_sort_keys(keys, search->count);
    frames->list = tv_alloc(search->count, sizeof *frames->list);
    for (size_t i = 0; i < search->count; i++) {
        const struct tv_display_frame *frame = &search->list[keys[i].index];
        tv_ns end = frame->start + frame->length;
        if (frame->start < selection->to &&
            (end > selection->from || (frame->length == 0 && end == selection->from)))
            frames->list[frames->count++] = *frame;
    }
    tv_free(keys);
}

/* Choose tracks: a selection without tracks has the asynchronous ones too. */
static bool *display_wanted(const struct tv_trace *trace, const struct tv_selection *selection)
{
    bool *wanted = tv_selection_wanted(trace, selection);
    for (uint32_t i = 0; !selection->tracks && i < trace->track_count; i++)
        wanted[i] = wanted[i] || trace->tracks[i].kind == TV_TRACK_ASYNC;
    return wanted;
}

struct tv_display_frames *tv_display_frames_of(const struct tv_trace *trace,
                                               const struct tv_selection *selection,
                                               const struct tv_listed_calls *listed)
{
    struct tv_display_frames *frames = tv_alloc(1, sizeof *frames);
    bool *wanted = display_wanted(trace, selection);
    struct tv_display_search search = {.trace = trace,
                                       .wanted = wanted,
                                       .tokens = tv_interner_new(),
                                       .reasons = tv_interner_new()};
    struct tv_listed_calls own = {0};
    if (!listed)
        tv_listed_calls_init(&own, trace);
    tv_display_search_timeline(&search);
    display_search_calls(&search, listed ? listed : &own);
    *frames = (struct tv_display_frames){
        .trace = trace,
        .parts = search.parts,
        .part_count = (uint32_t)search.part_count,
        .intervals =
            search.count > 0 ? tv_display_intervals_of(trace->base ? trace->base : trace) : NULL,
        .reasons = search.reasons,
    };
    display_sort_frames(frames, &search, selection);
    display_set_deadlines(frames);
    tv_listed_calls_release(&own);
    tv_interner_free(search.tokens);
    tv_free(search.by_token);
    tv_free(search.list);
    tv_free(wanted);
    return frames;
}

void tv_display_frames_free(struct tv_display_frames *frames)
{
    if (!frames)
        return;
    tv_free(frames->list);
    tv_free(frames->parts);
    tv_free(frames->intervals);
    tv_interner_free(frames->reasons);
    tv_free(frames);
}

struct tv_display_interval tv_display_frame_interval(const struct tv_display_frames *frames,
                                                     const struct tv_display_frame *frame)
{
    if (frame->source == TV_DEADLINE_TIMELINE || frame->source == TV_DEADLINE_STATED)
        return (struct tv_display_interval){frame->deadline, (enum tv_deadline_source)frame->source,
                                            TV_EMPTY_STRING};
    return frames->intervals[frames->trace->rows[frame->row].input];
}

uint32_t *tv_display_frames_by_deadline(const struct tv_display_frames *frames, uint32_t *count)
{
    size_t kinds = (size_t)frames->trace->head->input_count + 2;
    bool *known = tv_alloc(kinds, sizeof *known);
    uint32_t *firsts = tv_alloc(kinds, sizeof *firsts);
    *count = 0;
    for (uint32_t i = 0; i < frames->count; i++) {
        const struct tv_display_frame *frame = &frames->list[i];
        size_t kind = frame->source == TV_DEADLINE_TIMELINE ? 0
                      : frame->source == TV_DEADLINE_STATED
                          ? 1
                          : (size_t)2 + frames->trace->rows[frame->row].input;
        if (!known[kind])
            firsts[(*count)++] = i;
        known[kind] = true;
    }
    tv_free(known);
    return firsts;
}

/* ---- Causes ---- */

/* Own times by name, of the frame that is looked at. */
struct own_times {
    tv_ns *time; /* [frames] */
    uint32_t *names;
    size_t count, capacity;
};

/* Add some calls of a row, and take their times from their callers' if those are `inside`. */
static void display_add_own(struct own_times *own, const struct tv_trace *trace, uint32_t row,
                            const uint32_t range[2], bool inside)
{
    struct tv_slice slices[READ_AT_ONCE];
    for (uint32_t at = range[0]; at < range[1];) {
        uint32_t some = range[1] - at < READ_AT_ONCE ? range[1] - at : READ_AT_ONCE;
        tv_slices_read(trace, row, at, some, slices);
        for (uint32_t i = 0; i < some; i++) {
            const struct tv_path_node *node = &trace->paths.nodes[slices[i].path];
            own->names =
                tv_array_reserve(own->names, &own->capacity, own->count + 1, sizeof *own->names);
            own->names[own->count++] = node->frame;
            /* a call gives its whole time to its own name and takes it from its caller's, so in the
             * sum each name has what no call inside it has */
            own->time[node->frame] += slices[i].length;
            if (inside && node->parent != TV_ROOT_PATH)
                own->time[trace->paths.nodes[node->parent].frame] -= slices[i].length;
        }
        at += some;
    }
}

/* Add what is inside a part, row by row. */
static void display_add_part_times(struct own_times *own, const struct tv_trace *trace,
                                   const struct tv_display_part *part)
{
    const struct tv_track *track = display_track_of(trace, part);
    uint32_t range[2] = {part->index, part->index + 1};
    for (uint32_t row = part->row; range[0] < range[1];) {
        display_add_own(own, trace, row, range, row > part->row);
        if (++row == track->first_row + track->row_count)
            break;
        /* calls inside a call are those that start while it runs; the row below has no others */
        range[0] = tv_row_find_start(trace, row, part->start);
        range[1] = tv_row_find_start_near(trace, row, part->start + part->length, range[0]);
    }
}

/* Find the name with the longest own time, and forget the times. */
static void display_take_cause(struct own_times *own, struct tv_display_frame *frame)
{
    for (size_t i = 0; i < own->count; i++) {
        uint32_t name = own->names[i];
        if (own->time[name] > frame->cause_time ||
            (own->time[name] > 0 && own->time[name] == frame->cause_time && name < frame->cause)) {
            frame->cause_time = own->time[name];
            frame->cause = name;
        }
    }
    /* Clear only what this frame touched: an array of all names for each of many frames would take
     * the time of their product. */
    for (size_t i = 0; i < own->count; i++)
        own->time[own->names[i]] = 0;
    own->count = 0;
}

void tv_display_frames_explain(struct tv_display_frames *frames, bool only_late)
{
    struct own_times own = {.time = tv_alloc(frames->trace->head->frame_count, sizeof *own.time)};
    for (uint32_t i = 0; i < frames->count; i++) {
        struct tv_display_frame *frame = &frames->list[i];
        if (only_late && !frame->late)
            continue;
        for (uint32_t at = frame->first_part; at != TV_NONE; at = frames->parts[at].next)
            display_add_part_times(&own, frames->trace, &frames->parts[at]);
        display_take_cause(&own, frame);
    }
    tv_free(own.time);
    tv_free(own.names);
}

/* ---- The frames of a whole trace ---- */

struct tv_display_cache {
    const struct tv_trace *trace;
    bool only_late;
    struct tv_lock lock;
    struct tv_display_frames *frames; /* NULL: nobody asked yet */
};

struct tv_display_cache *tv_display_cache_new(const struct tv_trace *trace, bool only_late)
{
    struct tv_display_cache *cache = tv_alloc(1, sizeof *cache);
    cache->trace = trace;
    cache->only_late = only_late;
    tv_lock_init(&cache->lock);
    return cache;
}

void tv_display_cache_free(struct tv_display_cache *cache)
{
    if (!cache)
        return;
    tv_display_frames_free(cache->frames);
    tv_lock_release(&cache->lock);
    tv_free(cache);
}

const struct tv_display_frames *tv_display_cache_get(struct tv_display_cache *cache)
{
    const struct tv_selection all = TV_SELECT_ALL;
    tv_lock_enter(&cache->lock);
    if (!cache->frames) {
        cache->frames = tv_display_frames_of(cache->trace, &all, NULL);
        tv_display_frames_explain(cache->frames, cache->only_late);
    }
    tv_lock_leave(&cache->lock);
    return cache->frames;
}

/* ---- Figures ---- */

/* Compute the figures of some frames; `lengths` has room for all of them. */
static struct tv_display_group display_group_of(const struct tv_display_frames *frames,
                                                const struct tv_sort_key *keys, size_t count,
                                                tv_ns *lengths)
{
    struct tv_display_group group = {.process = TV_NONE, .count = (uint32_t)count};
    size_t finished = 0;
    for (size_t i = 0; i < count; i++) {
        const struct tv_display_frame *frame = &frames->list[keys[i].index];
        group.late += frame->late;
        group.unfinished += frame->unfinished;
        if (!frame->unfinished)
            lengths[finished++] = frame->length;
        if (!frame->unfinished && frame->length > group.max)
            group.max = frame->length;
    }
    if (finished > 0) {
        group.p50 = tv_statistics_median(lengths, finished);
        group.p95 = tv_statistics_percentile(lengths, finished, 95);
        group.p99 = tv_statistics_percentile(lengths, finished, 99);
    }
    return group;
}

/* Sort groups by late frames, then by frames, most first; equal ones stay in order. */
static void display_sort_groups(struct tv_display_group *groups, uint32_t count)
{
    struct tv_display_group *sorted = tv_alloc(count, sizeof *sorted);
    struct tv_sort_key *keys = tv_alloc(count, sizeof *keys);
    for (uint32_t i = 0; i < count; i++)
        /* complemented: the sort is ascending, and stable for equal groups */
        keys[i] = (struct tv_sort_key){~((uint64_t)groups[i].late << 32 | groups[i].count), i};
    tv_sort_keys(keys, count);
    for (uint32_t i = 0; i < count; i++)
        sorted[i] = groups[keys[i].index];
    if (count > 0)
        memcpy(groups, sorted, count * sizeof *groups);
    tv_free(keys);
    tv_free(sorted);
}

struct tv_display_group *tv_display_groups_of(const struct tv_display_frames *frames,
                                              uint32_t *count)
{
    struct tv_display_group *groups = NULL;
    size_t capacity = 0, end;
    struct tv_sort_key *keys = tv_alloc(frames->count, sizeof *keys);
    tv_ns *lengths = tv_alloc(frames->count, sizeof *lengths);
    for (uint32_t i = 0; i < frames->count; i++)
        keys[i] = (struct tv_sort_key){frames->list[i].process, i};
    tv_sort_keys(keys, frames->count);
    groups = tv_array_reserve(groups, &capacity, 1, sizeof *groups);
    groups[0] = display_group_of(frames, keys, frames->count, lengths);
    *count = 1;
    for (size_t first = 0; first < frames->count; first = end) {
        for (end = first; end < frames->count && keys[end].key == keys[first].key;)
            end++;
        groups = tv_array_reserve(groups, &capacity, *count + (size_t)1, sizeof *groups);
        groups[*count] = display_group_of(frames, keys + first, end - first, lengths);
        groups[(*count)++].process = (uint32_t)keys[first].key;
    }
    display_sort_groups(groups + 1, *count - 1);
    tv_free(keys);
    tv_free(lengths);
    return groups;
}
