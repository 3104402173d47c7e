/* SPDX-License-Identifier: Apache-2.0 */
/*
 * clocks.c - aligns the clocks of several inputs (finalize.h).
 */
#include "model/finalize.h"

#include "base/map.h"
#include "base/memory.h"
#include <assert.h>

/* Marks outside these bounds (two years before the epoch, three centuries after it) are invalid;
 * the difference of two valid ones fits 64 bits. */
#define EARLIEST (-((int64_t)1 << 56))
#define LATEST (INT64_MAX + EARLIEST)

/* Larger differences between clocks are invalid, and their sums could overflow. */
#define SHIFT_MAX (LATEST / 2)

/* A relation between the clocks of two inputs: a's time = b's time + shift, within +- error. */
struct clock_tie {
    uint32_t a, b;
    int64_t shift, error;
};

struct clock_ties {
    struct clock_tie *rows;
    size_t count, capacity;
};

/* Append a relation of two inputs. */
static void clock_add_tie(struct clock_ties *ties, struct clock_tie tie)
{
    assert(tie.a != tie.b && tie.error >= 0);
    ties->rows = tv_array_reserve(ties->rows, &ties->capacity, ties->count + 1, sizeof *ties->rows);
    ties->rows[ties->count++] = tie;
}

/* Tie an input that names a clock to the first one that does. */
static void clock_tie_by_name(struct clock_ties *ties, const struct tv_trace_info *head,
                              struct tv_map *first, uint32_t input, bool second)
{
    const struct tv_input *in = &head->inputs[input];
    uint32_t name = second ? in->second_clock : in->clock;
    if (name == TV_EMPTY_STRING)
        return;
    uint32_t place = tv_map_add(first, name, input << 1 | second), other = place >> 1;
    if (other == input)
        return;
    int64_t theirs = place & 1 ? head->inputs[other].second_shift : head->inputs[other].clock_shift;
    int64_t ours = second ? in->second_shift : in->clock_shift;
    if (theirs > SHIFT_MAX / 2 || theirs < -SHIFT_MAX / 2 || ours > SHIFT_MAX / 2 ||
        ours < -SHIFT_MAX / 2)
        return;
    clock_add_tie(ties, (struct clock_tie){other, input, theirs - ours, 0});
}

/* Tie all inputs that name the same clock: their times are comparable, but for a constant.  The
 * clock that an input counts comes before another one that its file has. */
static void clock_tie_by_names(struct clock_ties *ties, const struct tv_trace_info *head)
{
    struct tv_map first;
    tv_map_init(&first);
    for (unsigned second = 0; second < 2; second++)
        for (uint32_t input = 0; input < head->input_count; input++)
            clock_tie_by_name(ties, head, &first, input, second != 0);
    tv_map_release(&first);
}

/* Return when the other clock was read, at best guess: in the middle between asking and answer. */
static int64_t clock_sync_middle(const struct tv_clock_sync *mark)
{
    return mark->asked + (mark->time - mark->asked) / 2;
}

/* Return true when the times are in order and small enough for sums. */
static bool clock_sync_is_valid(const struct tv_clock_sync *mark)
{
    return mark->asked >= EARLIEST && mark->asked <= mark->time && mark->time <= LATEST;
}

/* Return false when the mark is useless: both are in one input, or a time is invalid. */
static bool clock_tie_marks(struct clock_ties *ties, const struct tv_clock_sync *a,
                            const struct tv_clock_sync *b)
{
    if (a->input == b->input || !clock_sync_is_valid(a) || !clock_sync_is_valid(b))
        return false;
    int64_t shift = clock_sync_middle(a) - clock_sync_middle(b);
    int64_t error_a = a->time - a->asked, error_b = b->time - b->asked;
    if (shift > SHIFT_MAX || shift < -SHIFT_MAX)
        return false;
    clock_add_tie(ties, (struct clock_tie){a->input, b->input, shift, error_a / 2 + error_b / 2});
    return true;
}

#define PAIRED                                                                                     \
    UINT32_C(0x80000000) /* added to a mark's number: its id is in two inputs already              \
                          */

/* Tie inputs by marks with one id, recorded in both at one moment. The first pair of an id counts;
 * further marks are diagnosed. */
static void clock_tie_by_marks(struct clock_ties *ties, struct tv_trace *trace)
{
    const struct tv_clock_sync *marks = trace->tables.clock_syncs.rows;
    uint32_t count = (uint32_t)trace->tables.clock_syncs.count;
    struct tv_map first;
    tv_map_init(&first);
    for (uint32_t i = 0; i < count; i++) {
        uint32_t other = tv_map_add(&first, marks[i].id, i);
        if (other == i)
            continue;
        if ((other & PAIRED) == 0 && clock_tie_marks(ties, &marks[other], &marks[i]))
            tv_map_set(&first, marks[i].id, other | PAIRED);
        else {
            trace->head->diagnostics.input = marks[i].input;
            tv_diagnostics_add(&trace->head->diagnostics, TV_DIAGNOSTIC_CLOCK_EXTRA,
                               marks[i].offset);
        }
    }
    tv_map_release(&first);
}

struct clock_offset {
    uint32_t root; /* the first input that this one is connected to */
    int64_t offset, error;
};

/* Take the way over `from` when it leads to an earlier root, or to the same one with less error.
 * Return whether it does. */
static bool clock_improve_offset(struct clock_offset *clocks, uint32_t from, uint32_t to,
                                 int64_t shift, int64_t error)
{
    struct clock_offset better = {clocks[from].root, clocks[from].offset + shift, 0};
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

/* Align every input with the first one that it is connected to, along the path of least error
 * (Bellman-Ford). */
static void clock_set_offsets(struct tv_trace *trace, const struct clock_ties *ties)
{
    uint32_t count = trace->head->input_count;
    struct clock_offset *clocks = tv_alloc(count, sizeof *clocks);
    bool changed = true;
    for (uint32_t i = 0; i < count; i++)
        clocks[i] = (struct clock_offset){i, 0, 0};
    for (uint32_t round = 0; changed && round < 2 * count; round++) {
        changed = false;
        for (size_t i = 0; i < ties->count; i++) {
            const struct clock_tie *tie = &ties->rows[i];
            changed |= clock_improve_offset(clocks, tie->a, tie->b, tie->shift, tie->error);
            changed |= clock_improve_offset(clocks, tie->b, tie->a, -tie->shift, tie->error);
        }
    }
    for (uint32_t i = 0; i < count; i++)
        if (clocks[i].root != i)
            trace->offset[i] = clocks[i].offset;
    tv_free(clocks);
}

/* Return true when the input counts for the origin of the axis. */
static bool clock_input_has_times(const struct tv_input *input)
{
    return input->assembled && !input->eventless;
}

/* An input without ties that counts from 0 would stretch the axis from 0 to the epoch of the
 * others, so it begins where they begin. */
static void clock_place_untied(struct tv_trace *trace, const struct clock_ties *ties)
{
    struct tv_trace_info *head = trace->head;
    bool any = false, *loose = tv_alloc(head->input_count, sizeof *loose);
    int64_t start = 0;
    for (uint32_t i = 0; i < head->input_count; i++)
        loose[i] = head->inputs[i].own_zero && clock_input_has_times(&head->inputs[i]);
    for (size_t i = 0; i < ties->count; i++)
        loose[ties->rows[i].a] = loose[ties->rows[i].b] = false;
    for (uint32_t i = 0; i < head->input_count; i++) {
        int64_t origin = head->inputs[i].origin + trace->offset[i];
        if (loose[i] || !clock_input_has_times(&head->inputs[i]))
            continue;
        start = !any || origin < start ? origin : start;
        any = true;
    }
    any &= start <= SHIFT_MAX && start >= -SHIFT_MAX;
    for (uint32_t i = 0; any && i < head->input_count; i++) {
        if (!loose[i] || head->inputs[i].origin > SHIFT_MAX || head->inputs[i].origin < -SHIFT_MAX)
            continue;
        trace->offset[i] = start - head->inputs[i].origin;
        head->diagnostics.input = i;
        tv_diagnostics_add(&head->diagnostics, TV_DIAGNOSTIC_CLOCK_UNTIED, 0);
    }
    tv_free(loose);
}

void tv_trace_align_clocks(struct tv_trace *trace)
{
    struct clock_ties ties = {NULL, 0, 0};
    if (trace->head->input_count < 2)
        return;
    clock_tie_by_names(&ties, trace->head);
    clock_tie_by_marks(&ties, trace);
    clock_set_offsets(trace, &ties);
    clock_place_untied(trace, &ties);
    tv_free(ties.rows);
}
