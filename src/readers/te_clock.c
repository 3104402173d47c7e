/* SPDX-License-Identifier: Apache-2.0 */
/*
 * te_clock.c - marks that put the clocks of several inputs against each other: phase c, and the old
 * "ClockSyncEvent.<id>" of Chrome (trace-event.md section 3.12).
 *
 * One moment is marked in two inputs with one id.  The one that asked for the mark knows when it
 * asked and when it had the answer: the moment is taken to be in the middle, its error is the time
 * between.  Inputs that name the same clock ("clock-domain" of their metadata) need no mark.
 */
#include <string.h>

#include "base/bytes.h"
#include "base/memory.h"
#include "readers/te_ids.h"

/* Larger differences between clocks are nonsense, and sums of them would not fit. */
#define SHIFT_MAX (TV_TE_LATEST / 2)

static void add_mark(struct tv_te_context *context, const struct tv_te_loose *event,
                     struct tv_bytes id, int64_t asked)
{
    struct tv_clock_sync *mark = tv_table_add(&context->trace->tables.clock_syncs);
    mark->time = event->time;
    mark->asked = asked < event->time ? asked : event->time;
    mark->offset = event->offset;
    mark->id = tv_head_string(context->trace->head, id);
    mark->input = context->input;
}

static void read_mark(struct tv_te_context *context, const struct tv_te_loose *event)
{
    struct tv_te_fields fields;
    int64_t asked;
    if (!tv_te_event_read(context, event->offset, &fields))
        return;
    struct tv_bytes id = tv_te_member(fields.args, "sync_id");
    if (id.data == NULL) {
        tv_te_warn(context, TV_DIAGNOSTIC_CLOCK_NO_ID, event->offset);
        return;
    }
    if (!tv_te_time(tv_te_member(fields.args, "issue_ts"), &asked))
        asked = event->time;
    add_mark(context, event, tv_te_text(id, &context->scratch), asked);
}

/* "ClockSyncEvent.<id>": S when Chrome asked, F when it had the answer. */
static bool is_old_mark(const struct tv_te_context *context, const struct tv_te_loose *event,
                        struct tv_bytes *id)
{
    static const struct tv_bytes prefix = {(const uint8_t *)"ClockSyncEvent.", 15};
    const struct tv_head *head = context->trace->head;
    *id = tv_head_text(head, head->frames[event->frame].name);
    if (!tv_bytes_starts_with(*id, prefix))
        return false;
    id->data += prefix.length;
    id->length -= prefix.length;
    return true;
}

static void read_marks(struct tv_te_context *context)
{
    struct tv_bytes asked_id = {NULL, 0}, id;
    int64_t asked = 0;
    for (size_t i = 0; i < context->loose_count; i++) {
        const struct tv_te_loose *event = &context->loose[i];
        if (event->phase == 'c') {
            read_mark(context, event);
        } else if (event->phase == 'S' && is_old_mark(context, event, &id)) {
            asked_id = id;
            asked = event->time;
        } else if (event->phase == 'F' && is_old_mark(context, event, &id)) {
            bool same = asked_id.data != NULL && tv_bytes_equal(id, asked_id);
            if (!same)
                tv_te_warn(context, TV_DIAGNOSTIC_CLOCK_NO_ID, event->offset);
            add_mark(context, event, id, same ? asked : event->time);
        }
    }
}

/* The clock that an input names, as a string of the head; TV_NONE: none. */
static uint32_t clock_name(struct tv_te_context *context, uint32_t input)
{
    struct tv_head *head = context->trace->head;
    struct tv_bytes metadata = tv_head_find_metadata(head, input, "metadata");
    if (metadata.data == NULL)
        return TV_NONE;
    /* Reading JSON wants room behind the text. */
    uint8_t *copy = tv_alloc(metadata.length + TV_WINDOW_SLACK, 1);
    memcpy(copy, metadata.data, metadata.length);
    struct tv_bytes name = tv_te_member((struct tv_bytes){copy, metadata.length}, "clock-domain");
    uint32_t string =
        name.data == NULL ? TV_NONE : tv_head_string(head, tv_te_text(name, &context->scratch));
    tv_free(copy);
    return string;
}

/* Two inputs' clocks: a's time is b's time and `shift`, give or take `error`. */
struct tie {
    uint32_t a, b;
    int64_t shift, error;
};

struct ties {
    struct tie *rows;
    size_t count, capacity;
};

static void add_tie(struct ties *ties, struct tie tie)
{
    ties->rows = tv_array_reserve(ties->rows, &ties->capacity, ties->count + 1, sizeof *ties->rows);
    ties->rows[ties->count++] = tie;
}

static void tie_by_names(struct ties *ties, struct tv_te_context *context)
{
    uint32_t count = context->trace->head->input_count;
    struct tv_map first;
    tv_map_init(&first);
    for (uint32_t input = 0; input < count; input++) {
        uint32_t name = clock_name(context, input);
        if (name == TV_NONE)
            continue;
        uint32_t other = tv_map_add(&first, name, input);
        if (other != input)
            add_tie(ties, (struct tie){other, input, 0, 0});
    }
    tv_map_release(&first);
}

static int64_t middle(const struct tv_clock_sync *mark)
{
    return mark->asked + (mark->time - mark->asked) / 2;
}

/* False: the mark says nothing, as it is in one input twice, or its id joins two others. */
static bool tie_marks(struct ties *ties, const struct tv_clock_sync *a,
                      const struct tv_clock_sync *b)
{
    int64_t shift = middle(a) - middle(b); /* fits: both are within +-TV_TE_LATEST */
    int64_t error_a = a->time - a->asked, error_b = b->time - b->asked;
    if (a->input == b->input || shift > SHIFT_MAX || shift < -SHIFT_MAX)
        return false;
    add_tie(ties, (struct tie){a->input, b->input, shift, error_a / 2 + error_b / 2});
    return true;
}

#define PAIRED UINT32_C(0x80000000) /* of a mark's number: its id is in two inputs */

static void tie_by_marks(struct ties *ties, struct tv_te_context *context)
{
    const struct tv_clock_sync *marks = context->trace->tables.clock_syncs.rows;
    uint32_t count = (uint32_t)context->trace->tables.clock_syncs.count;
    struct tv_map first;
    tv_map_init(&first);
    for (uint32_t i = 0; i < count; i++) {
        uint32_t other = tv_map_add(&first, marks[i].id, i);
        if (other == i)
            continue;
        if ((other & PAIRED) == 0 && tie_marks(ties, &marks[other], &marks[i]))
            tv_map_set(&first, marks[i].id, other | PAIRED);
        else if (marks[i].input == context->input) /* others told theirs when they were read */
            tv_te_warn(context, TV_DIAGNOSTIC_CLOCK_EXTRA, marks[i].offset);
    }
    tv_map_release(&first);
}

struct clock {
    uint32_t root; /* the first input that it can be put against */
    int64_t offset, error;
};

static bool set_clock(struct clock *clocks, uint32_t from, uint32_t to, int64_t shift,
                      int64_t error)
{
    struct clock better = {clocks[from].root, clocks[from].offset + shift, 0};
    if (better.offset > SHIFT_MAX || better.offset < -SHIFT_MAX ||
        clocks[from].error > INT64_MAX - error)
        return false;
    better.error = clocks[from].error + error;
    if (better.root > clocks[to].root ||
        (better.root == clocks[to].root && better.error >= clocks[to].error))
        return false;
    clocks[to] = better;
    return true;
}

/* Every input against the first it is tied to, by the way of the least error. */
static void set_offsets(struct tv_te_context *context, const struct ties *ties)
{
    uint32_t count = context->trace->head->input_count;
    struct clock *clocks = tv_alloc(count, sizeof *clocks);
    bool changed = true;
    for (uint32_t i = 0; i < count; i++)
        clocks[i] = (struct clock){i, 0, 0};
    for (uint32_t round = 0; changed && round < 2 * count; round++) {
        changed = false;
        for (size_t i = 0; i < ties->count; i++) {
            const struct tie *tie = &ties->rows[i];
            changed |= set_clock(clocks, tie->a, tie->b, tie->shift, tie->error);
            changed |= set_clock(clocks, tie->b, tie->a, -tie->shift, tie->error);
        }
    }
    for (uint32_t i = 0; i < count; i++)
        if (clocks[i].root != i)
            context->trace->offset[i] = clocks[i].offset;
    tv_free(clocks);
}

void tv_te_clock(struct tv_te_context *context)
{
    struct ties ties = {NULL, 0, 0};
    read_marks(context);
    if (context->trace->head->input_count < 2)
        return;
    tie_by_names(&ties, context);
    tie_by_marks(&ties, context);
    set_offsets(context, &ties);
    tv_free(ties.rows);
}
