/* SPDX-License-Identifier: Apache-2.0 */
#include "feed.h"

#include <stdio.h>
#include <string.h>

#include "base/bytes.h"
#include "base/memory.h"

static uint32_t next_random(uint64_t *state)
{
    *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (uint32_t)(*state >> 33);
}

struct feed *feed_random(uint32_t seed, const struct feed_style *style)
{
    uint64_t state = seed * UINT64_C(0x9E3779B97F4A7C15) + 1;
    struct feed *feed = tv_alloc(1, sizeof *feed);
    *feed = (struct feed){tv_alloc(style->events, sizeof *feed->events),
                          0,
                          style->threads,
                          style->frames,
                          1000,
                          style->clocks,
                          0,
                          false};
    uint32_t *depth = tv_alloc(style->threads, sizeof *depth);
    uint32_t(*stack)[64] = tv_alloc(style->threads, sizeof *stack);
    int64_t *cpu = tv_alloc(style->threads, sizeof *cpu);
    int64_t wall = 5;
    uint32_t thread = 0;
    while (feed->count < style->events) {
        if (next_random(&state) % 5 == 0)
            thread = next_random(&state) % style->threads;
        int64_t gap = next_random(&state) % 3
                          ? next_random(&state) % 4
                          : (int64_t)(next_random(&state) % (uint64_t)(style->longest_gap + 1));
        wall += gap;
        cpu[thread] += gap - (gap ? (int64_t)(next_random(&state) % (uint64_t)(gap + 1)) : 0);
        bool enter = depth[thread] < 63 && (next_random(&state) % 100 < 50 || depth[thread] == 0);
        if (!depth[thread] && next_random(&state) % 100 < style->outer_exits)
            enter = false;
        uint32_t frame = next_random(&state) % style->frames;
        if (enter)
            stack[thread][depth[thread]++] = frame;
        else if (depth[thread] && next_random(&state) % 1000 >= style->mismatches)
            frame = stack[thread][--depth[thread]];
        feed->events[feed->count++] = (struct tv_event){
            style->clocks & TV_CLOCK_WALL ? wall : 0,
            style->clocks & TV_CLOCK_CPU ? cpu[thread] : 0,
            thread,
            (enter                      ? TV_ENTER
             : next_random(&state) % 20 ? TV_EXIT
                                        : TV_UNROLL) &
                3u,
            frame & TV_ANY_FRAME,
        };
    }
    feed->elapsed = wall + 100;
    tv_free(depth);
    tv_free(stack);
    tv_free(cpu);
    return feed;
}

static bool draw_event(char c, struct tv_event *event, uint32_t *stack, uint32_t *depth)
{
    if (c >= 'A' && c <= 'Z') {
        event->frame = (uint32_t)(c - 'A') & TV_ANY_FRAME;
        event->action = TV_ENTER;
        stack[(*depth)++] = event->frame;
        return true;
    }
    if (c == ')' || c == '!') {
        event->frame = stack[--*depth] & TV_ANY_FRAME;
        event->action = c == '!' ? TV_UNROLL : TV_EXIT;
        return true;
    }
    if (c < 'a' || c > 'z')
        return false;
    event->frame = (uint32_t)(c - 'a') & TV_ANY_FRAME;
    event->action = TV_EXIT;
    if (*depth && stack[*depth - 1] == event->frame)
        --*depth;
    return true;
}

struct feed *feed_draw(const char *const *threads, uint32_t count)
{
    struct feed *feed = tv_alloc(1, sizeof *feed);
    size_t columns = 0;
    for (uint32_t i = 0; i < count; i++)
        columns = strlen(threads[i]) > columns ? strlen(threads[i]) : columns;
    *feed = (struct feed){tv_alloc(columns * count, sizeof *feed->events),
                          0,
                          count,
                          26,
                          1000,
                          TV_CLOCK_WALL | TV_CLOCK_CPU,
                          (int64_t)columns,
                          false};
    uint32_t *depth = tv_alloc(count, sizeof *depth);
    uint32_t(*stack)[64] = tv_alloc(count, sizeof *stack);
    for (size_t column = 0; column < columns; column++)
        for (uint32_t i = 0; i < count; i++) {
            struct tv_event event = {.wall = (int64_t)column, .cpu = (int64_t)column, .thread = i};
            if (column < strlen(threads[i]) &&
                draw_event(threads[i][column], &event, stack[i], &depth[i]))
                feed->events[feed->count++] = event;
        }
    tv_free(depth);
    tv_free(stack);
    return feed;
}

void feed_free(struct feed *feed)
{
    tv_free(feed->events);
    tv_free(feed);
}

struct tv_trace_info *feed_head(const struct feed *feed)
{
    struct tv_trace_info *head = tv_trace_info_new();
    uint32_t input = tv_trace_info_add_input(head, "feed", "test");
    char text[16];
    tv_trace_info_add_process(head, 1, tv_bytes_of("p"));
    for (uint32_t i = 0; i < feed->threads; i++) {
        snprintf(text, sizeof text, "t%u", i);
        tv_trace_info_add_thread(
            head, &(struct tv_thread){.id = 100 + i,
                                      .name = tv_trace_info_string(head, tv_bytes_of(text)),
                                      .input = input,
                                      .listed = true});
    }
    for (uint32_t i = 0; i < feed->frames; i++) {
        snprintf(text, sizeof text, i < 26 ? "%c" : "m%u", i < 26 ? 'A' + i : i);
        tv_trace_info_add_frame(
            head, &(struct tv_frame){.class_name = tv_trace_info_string(head, TV_BYTES("pkg")),
                                     .name = tv_trace_info_string(head, tv_bytes_of(text))});
    }
    head->inputs[input].tick_ns = feed->tick_ns;
    head->inputs[input].clocks = feed->clocks;
    head->inputs[input].elapsed_ns = feed->elapsed * feed->tick_ns;
    head->inputs[input].figures = feed->sampled ? TV_FIGURES_SAMPLED : TV_FIGURES_CALLS;
    head->inputs[input].sampled_ns = feed->sampled ? 1000000 : 0;
    for (size_t i = 0; i < feed->count; i++)
        if (feed->events[i].wall > head->inputs[input].last_wall)
            head->inputs[input].last_wall = feed->events[i].wall;
    return head;
}

static void feed_part(const struct feed *feed, struct tv_sink *sink, unsigned pass, unsigned part,
                      size_t from, size_t to)
{
    for (size_t i = from; i < to; i += 7) {
        size_t count = to - i < 7 ? to - i : 7;
        struct tv_batch batch = {feed->events + i, count, i * 10, 10, NULL};
        sink->ops->take(sink, pass, part, &batch);
    }
}

unsigned feed_to(const struct feed *feed, struct tv_trace_info *head, struct tv_sink *sink,
                 const size_t *starts, unsigned parts)
{
    sink->ops->begin(sink, head, 0, parts);
    for (unsigned pass = 0; pass < sink->ops->passes; pass++) {
        for (unsigned part = 0; part < parts; part++)
            feed_part(feed, sink, pass, part, part ? starts[part] : 0,
                      part + 1 < parts ? starts[part + 1] : feed->count);
        if (sink->ops->stitch(sink, pass) == TV_STITCH_SERIAL)
            return feed_to(feed, head, sink, starts, 1);
    }
    sink->ops->end(sink);
    return parts;
}

/* ---- The plain way ---- */

struct plain {
    struct feed_call *calls;
    uint32_t count;
    uint32_t *stack; /* indices of open calls */
    uint32_t depth, floor;
};

/* Where the exit's method is open, counted from the top (1: the top); 0: nowhere. */
static uint32_t plain_distance(const struct plain *plain, uint32_t frame)
{
    for (uint32_t i = 1; i <= plain->depth - plain->floor; i++)
        if (plain->calls[plain->stack[plain->depth - i]].frame == frame)
            return i;
    return 0;
}

static void plain_enter(struct plain *plain, const struct tv_event *event, unsigned flags)
{
    uint32_t parent = plain->depth ? plain->stack[plain->depth - 1] : TV_NONE;
    if (parent != TV_NONE)
        plain->calls[parent].children++;
    plain->calls[plain->count] =
        (struct feed_call){event->thread, plain->depth, event->frame, parent, event->wall,
                           event->wall,   event->cpu,   event->cpu,   flags,  0};
    plain->stack[plain->depth++] = plain->count++;
}

static void plain_leave(struct plain *plain, int64_t wall, int64_t cpu, unsigned flags)
{
    struct feed_call *call = &plain->calls[plain->stack[--plain->depth]];
    call->end = wall;
    call->cpu_end = cpu;
    call->flags |= flags;
    if (plain->floor > plain->depth)
        plain->floor = plain->depth;
}

/* Frames of the exits that find nothing open, in their order. */
static uint32_t plain_unmatched(const struct feed *feed, uint32_t thread, uint32_t *frames)
{
    struct plain plain = {tv_alloc(feed->count, sizeof *plain.calls), 0,
                          tv_alloc(feed->count, sizeof *plain.stack), 0, 0};
    uint32_t count = 0;
    for (size_t i = 0; i < feed->count; i++) {
        const struct tv_event *event = &feed->events[i];
        if (event->thread != thread)
            continue;
        if (event->action == TV_ENTER)
            plain_enter(&plain, event, 0);
        else if (!plain.depth)
            frames[count++] = event->frame;
        else
            for (uint32_t n = plain_distance(&plain, event->frame); n > 0; n--)
                plain_leave(&plain, 0, 0, 0);
    }
    tv_free(plain.calls);
    tv_free(plain.stack);
    return count;
}

struct feed_call *feed_calls(const struct feed *feed, uint32_t thread, uint32_t *count)
{
    struct plain plain = {tv_alloc(feed->count * 2, sizeof *plain.calls), 0,
                          tv_alloc(feed->count * 2, sizeof *plain.stack), 0, 0};
    uint32_t *frames = tv_alloc(feed->count, sizeof *frames);
    uint32_t unmatched = plain_unmatched(feed, thread, frames);
    const struct tv_event *last = NULL;
    for (size_t i = 0; i < feed->count; i++) {
        const struct tv_event *event = &feed->events[i];
        if (event->thread != thread)
            continue;
        for (uint32_t n = last ? 0 : unmatched; n > 0; n--) {
            struct tv_event before = *event;
            before.frame = frames[n - 1] & TV_ANY_FRAME;
            plain_enter(&plain, &before, TV_SLICE_ENTERED_BEFORE);
            plain.floor++;
        }
        last = event;
        unsigned flags = event->action == TV_UNROLL ? TV_SLICE_UNROLLED : 0;
        if (event->action == TV_ENTER) {
            plain_enter(&plain, event, 0);
            continue;
        }
        uint32_t distance = plain.depth == plain.floor ? 1 : plain_distance(&plain, event->frame);
        for (; distance > 0; distance--)
            plain_leave(&plain, event->wall, event->cpu,
                        distance > 1 ? TV_SLICE_MISSING_EXIT : flags);
    }
    while (plain.depth)
        plain_leave(&plain, feed->sampled ? feed->elapsed : last->wall, last->cpu, TV_SLICE_OPEN);
    tv_free(frames);
    tv_free(plain.stack);
    *count = plain.count;
    return plain.calls;
}
