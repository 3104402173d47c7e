/* SPDX-License-Identifier: Apache-2.0 */
/*
 * scan.c - the inner loop over the events of a chunk, for recordings of many millions of samples.
 *
 *     event -> plan of its type -> its few fields -> thread known? -> stack met? -> sum
 *                 |                                       | no            | no
 *                 +-- not summed ------------------------>+-------------->+--> range `left`
 *
 * A plan is compiled once for each event type: it says where the fields that decide stand, and
 * skips the others.  Neighbouring events mostly have the same type, so its plan is not looked up
 * again.
 *
 * Sums are arrays with a place for each stack of the chunk's pool, so a sample costs no search.
 * Arrays of sums exceed the cache and are used in no order; sixteen samples therefore wait while
 * their sums are fetched.  A type whose array would make the sums larger than the chunk itself has
 * none: its events are left, which costs time but no memory.
 *
 * An event that is left here costs nothing but time, one that is taken wrongly changes the trace.
 * So everything that is new, cut, missing or diagnosed is left for the pass in order (events.c).
 */
#include "readers/jfr/scan.h"

#include <assert.h>
#include <math.h>

#include "base/memory.h"

/* ---- Plans ---- */

/* Return whether the weights of a planned type are integers that need no conversion. */
static bool jfr_plan_is_plain(const struct tv_jfr_plan *plan)
{
    const struct tv_jfr_field *weight = plan->fields[TV_JFR_SLOT_WEIGHT];
    return weight && !weight->array && !weight->constant && weight->unit != TV_JFR_TICKS &&
           weight->kind >= TV_JFR_BOOLEAN && weight->kind <= TV_JFR_LONG;
}

/* Return whether samples of a planned type can be added up by stack. */
static bool jfr_plan_is_summed(const struct tv_jfr_chunk *chunk, const struct tv_jfr_plan *plan)
{
    const struct tv_jfr_field *stack = plan->fields[TV_JFR_SLOT_STACK];
    return plan->kind->role == TV_JFR_SAMPLE && stack && stack->constant && !stack->array &&
           stack->type != TV_NONE && stack->type == chunk->stack_type &&
           !plan->fields[TV_JFR_SLOT_MORE];
}

struct tv_jfr_plan *tv_jfr_scan_plan(struct tv_jfr_scan *scan, const struct tv_jfr_chunk *chunk,
                                     uint32_t type)
{
    assert(type < chunk->types.count);
    struct tv_jfr_plan *plan = &scan->plans[type];
    if (TV_LIKELY(plan->kind != NULL))
        return plan;
    const struct tv_jfr_event_kind *kind = tv_jfr_event_kind(chunk->types.rows[type].name);
    bool sampled = tv_jfr_field_find(chunk, type, TV_BYTES("sampledThread")) != NULL;
    const char *names[TV_JFR_SLOT_COUNT] = {
        "startTime",  "duration",   sampled ? "sampledThread" : "eventThread",
        "stackTrace", kind->weight, kind->more,
        kind->title,
    };
    *plan = (struct tv_jfr_plan){
        .kind = kind,
        .program = tv_jfr_compile(chunk, type, names, TV_JFR_SLOT_COUNT),
        .type = type,
        .value_type = TV_NONE,
        .more_type = TV_NONE,
        .frame = TV_NONE,
    };
    for (unsigned i = 0; i < TV_JFR_SLOT_COUNT; i++)
        if (names[i])
            plan->fields[i] = tv_jfr_field_find(chunk, type, tv_bytes_of(names[i]));
    plan->summed = jfr_plan_is_summed(chunk, plan);
    plan->plain = jfr_plan_is_plain(plan);
    return plan;
}

int64_t tv_jfr_amount(const struct tv_jfr_chunk *chunk, const struct tv_jfr_value *value)
{
    double number;
    if (!value->field || value->field->array || value->field->constant)
        return 0;
    if (value->field->unit == TV_JFR_TICKS)
        return tv_jfr_length(chunk, tv_jfr_signed(value));
    if (value->field->kind >= TV_JFR_FLOAT && tv_jfr_number(value, &number))
        return isnan(number)     ? 0
               : number >= 9e18  ? INT64_MAX
               : number <= -9e18 ? INT64_MIN
                                 : (int64_t)number;
    return tv_jfr_signed(value);
}

/* ---- Sums ---- */

/* Make the sums of a type.  A chunk can have any number of event types with samples: their sums
 * together are no larger than the chunk.  Return false when there is no room. */
static TV_NOINLINE bool jfr_plan_make_sums(struct tv_jfr_scan *scan, struct tv_jfr_plan *plan,
                                           uint64_t span)
{
    uint64_t size = span * sizeof *plan->sums;
    if (size > scan->sum_room) {
        plan->summed = false;
        return false;
    }
    scan->sum_room -= size;
    plan->sums = tv_alloc((size_t)span, sizeof *plan->sums);
    plan->met = tv_alloc((size_t)span / 64 + 1, sizeof *plan->met);
    return true;
}

/* Return the sum of a stack for samples of this type; NULL: the sample has to be taken alone. The
 * type gets its sums with its first sample. */
TV_INLINE struct tv_jfr_stack_sum *jfr_plan_find_sum(struct tv_jfr_scan *scan,
                                                     const struct tv_jfr_chunk *chunk,
                                                     struct tv_jfr_plan *plan, uint64_t key)
{
    if (!plan->summed)
        return NULL;
    const struct tv_lookup *pool = &chunk->pools[chunk->stack_type];
    uint64_t place = key - pool->first;
    if (!pool->array || place >= pool->span ||
        (TV_UNLIKELY(!plan->sums) && !jfr_plan_make_sums(scan, plan, pool->span)))
        return NULL;
    return &plan->sums[place];
}

struct tv_jfr_stack_sum *tv_jfr_scan_sum(struct tv_jfr_scan *scan, const struct tv_jfr_chunk *chunk,
                                         struct tv_jfr_plan *plan, uint64_t key)
{
    return jfr_plan_find_sum(scan, chunk, plan, key);
}

#define JFR_WAITING 16

/* A sample that waits for its sum to be fetched into the cache. */
struct jfr_waiting {
    struct tv_jfr_stack_sum *sum; /* NULL: none */
    int64_t weight;
};

struct jfr_scanner {
    struct tv_jfr_scan *scan;
    struct tv_jfr_chunk *chunk;
    struct jfr_waiting waiting[JFR_WAITING]; /* a ring */
    unsigned waiting_at;
    int64_t first_ticks, last_ticks; /* since the chunk's start, of the events that are not left */
    uint64_t slots[TV_JFR_SLOTS];    /* those of fields that the type lacks have any value */
};

/* Queue a sample, to be added to its sum later.  The sums do not fit into the cache, and samples
 * use them in no order: so each sum is fetched while the next samples are read. */
static void jfr_scanner_add_later(struct jfr_scanner *scanner, struct tv_jfr_stack_sum *sum,
                                  int64_t weight)
{
    struct jfr_waiting *waiting = &scanner->waiting[scanner->waiting_at++ % JFR_WAITING];
    if (waiting->sum)
        tv_jfr_sum_add(waiting->sum, waiting->weight);
    *waiting = (struct jfr_waiting){sum, weight};
    TV_PREFETCH(sum);
}

/* ---- Events ---- */

/* Return whether the trace knows the thread of an event from an earlier event of the chunk. */
static bool jfr_scanner_knows_thread(struct jfr_scanner *scanner, const struct tv_jfr_plan *plan)
{
    const struct tv_jfr_field *field = plan->fields[TV_JFR_SLOT_THREAD];
    if (!field || !field->constant)
        return true;
    uint64_t key = scanner->slots[TV_JFR_SLOT_THREAD];
    uint32_t constant = tv_jfr_constant_find(scanner->chunk, field->type, key);
    if (constant == TV_NONE)
        return key == 0; /* any other key is diagnosed */
    struct tv_jfr_constant *known = &scanner->chunk->constants.rows[constant];
    bool met = known->met;
    known->met = true;
    return met;
}

/* Meet a stack of a type for the first time.  Return whether the trace needs the sample: it is the
 * first of its type, or no sum can stand for the others, because each sample of a stack that was
 * cut, or is missing, is diagnosed. */
static bool jfr_scanner_meet_stack(struct jfr_scanner *scanner, struct tv_jfr_plan *plan,
                                   uint64_t place, uint64_t at)
{
    struct tv_jfr_scan *scan = scanner->scan;
    uint64_t bit = UINT64_C(1) << place % 64;
    bool needed = !plan->begun;
    if ((scan->whole[place / 64] & bit) == 0)
        return true;
    if ((scan->noted[place / 64] & bit) == 0)
        *tv_table_add(&scan->leaves) = (struct tv_jfr_leaf){.met = at, .place = (uint32_t)place};
    scan->noted[place / 64] |= bit;
    plan->begun = true;
    plan->met[place / 64] |= bit;
    return needed;
}

/* Add a sample to the sum of its stack.  Return false for an event that the trace needs. */
TV_INLINE bool jfr_scanner_add_sample(struct jfr_scanner *scanner, struct tv_jfr_plan *plan,
                                      uint64_t at)
{
    uint64_t key = scanner->slots[TV_JFR_SLOT_STACK];
    struct tv_jfr_stack_sum *sum = jfr_plan_find_sum(scanner->scan, scanner->chunk, plan, key);
    if (!sum || !jfr_scanner_knows_thread(scanner, plan))
        return false;
    uint64_t place = (uint64_t)(sum - plan->sums);
    if (TV_UNLIKELY((plan->met[place / 64] >> place % 64 & 1) == 0) &&
        jfr_scanner_meet_stack(scanner, plan, place, at))
        return false;
    int64_t weight = plan->plain ? (int64_t)scanner->slots[TV_JFR_SLOT_WEIGHT] : 1;
    if (!plan->plain && plan->fields[TV_JFR_SLOT_WEIGHT]) {
        struct tv_jfr_value value = {plan->fields[TV_JFR_SLOT_WEIGHT],
                                     scanner->slots[TV_JFR_SLOT_WEIGHT]};
        weight = tv_jfr_amount(scanner->chunk, &value);
    }
    jfr_scanner_add_later(scanner, sum, weight);
    return true;
}

/* Return false for an event that the trace needs. */
TV_INLINE bool jfr_scanner_take(struct jfr_scanner *scanner, struct tv_jfr_plan *plan,
                                const struct tv_jfr_event *event)
{
    struct tv_jfr_cursor cursor = event->fields;
    if (!plan->summed)
        return false;
    if (TV_UNLIKELY(
            !tv_jfr_note_integers(scanner->chunk, &plan->program, &cursor, scanner->slots)) &&
        !tv_jfr_program_note(scanner->chunk, &plan->program, &cursor, scanner->slots))
        return false;
    if (!jfr_scanner_add_sample(scanner, plan, event->at))
        return false;
    int64_t ticks = 0;
    if (plan->fields[TV_JFR_SLOT_START])
        ticks = (int64_t)(scanner->slots[TV_JFR_SLOT_START] - scanner->chunk->start_ticks);
    scanner->first_ticks = ticks < scanner->first_ticks ? ticks : scanner->first_ticks;
    scanner->last_ticks = ticks > scanner->last_ticks ? ticks : scanner->last_ticks;
    plan->count++;
    return true;
}

/* Note an event for the pass in order. Neighbours become one range. */
static void jfr_scan_leave(struct tv_jfr_scan *scan, const struct tv_jfr_event *event)
{
    uint64_t end = event->at + event->size;
    if (scan->left.count > 0 && scan->left.rows[scan->left.count - 1].end == event->at)
        scan->left.rows[scan->left.count - 1].end = end;
    else
        *tv_table_add(&scan->left) = (struct tv_jfr_range){event->at, end};
}

/* Number of events between two checks for cancellation. */
#define EVENTS_BETWEEN_LOOKS 65536

/* Go over the events of a chunk and take those that need nothing but sums.  All others are left for
 * the pass in order. */
static void jfr_scanner_take_events(struct jfr_scanner *scanner, const struct tv_progress *progress)
{
    struct tv_jfr_scan *scan = scanner->scan;
    struct tv_jfr_event event;
    uint64_t at = TV_JFR_HEADER_SIZE, last_type = TV_JFR_METADATA, events = 0;
    struct tv_jfr_plan *plan = NULL; /* of the last type */
    for (; tv_jfr_event_at(scanner->chunk, at, &event); at += event.size) {
        if (++events % EVENTS_BETWEEN_LOOKS == 0 && progress &&
            atomic_load_explicit(&progress->cancel, memory_order_relaxed))
            break;
        if (event.type == TV_JFR_METADATA || event.type == TV_JFR_CHECKPOINT)
            continue;
        if (event.type != last_type) {
            uint32_t type = tv_jfr_find_type(scanner->chunk, last_type = event.type);
            plan = type == TV_NONE ? NULL : tv_jfr_scan_plan(scan, scanner->chunk, type);
        }
        if (!plan || !jfr_scanner_take(scanner, plan, &event))
            jfr_scan_leave(scan, &event);
    }
    scan->end = at;
}

/* Find the stacks that sums can stand for. */
static void jfr_scan_find_whole(struct tv_jfr_scan *scan, const struct tv_jfr_chunk *chunk)
{
    if (chunk->stack_type == TV_NONE || !chunk->pools[chunk->stack_type].array)
        return;
    const struct tv_lookup *pool = &chunk->pools[chunk->stack_type];
    scan->whole = tv_alloc((size_t)pool->span / 64 + 1, sizeof *scan->whole);
    scan->noted = tv_alloc((size_t)pool->span / 64 + 1, sizeof *scan->noted);
    for (uint64_t i = 0; i < pool->span; i++)
        if (pool->array[i] != TV_NONE && !chunk->constants.rows[pool->array[i]].cut)
            scan->whole[i / 64] |= UINT64_C(1) << i % 64;
}

void tv_jfr_scan_chunk(struct tv_jfr_scan *scan, struct tv_jfr_chunk *chunk,
                       enum tv_sample_detail detail, const struct tv_progress *progress)
{
    *scan = (struct tv_jfr_scan){
        .plans = tv_alloc(chunk->types.count, sizeof *scan->plans),
        .end = TV_JFR_HEADER_SIZE,
        .first_time = INT64_MAX,
        .last_time = INT64_MIN,
        .sum_room = chunk->bytes.length,
    };
    if (detail == TV_SAMPLES_SINGLE) {
        *tv_table_add(&scan->left) = (struct tv_jfr_range){TV_JFR_HEADER_SIZE, UINT64_MAX};
        return;
    }
    struct jfr_scanner scanner = {
        .scan = scan,
        .chunk = chunk,
        .first_ticks = INT64_MAX,
        .last_ticks = INT64_MIN,
    };
    jfr_scan_find_whole(scan, chunk);
    jfr_scanner_take_events(&scanner, progress);
    for (unsigned i = 0; i < JFR_WAITING; i++)
        jfr_scanner_add_later(&scanner, NULL, 0);
    if (scanner.first_ticks <= scanner.last_ticks) {
        uint64_t start = chunk->start_ticks;
        scan->first_time = tv_jfr_time(chunk, start + (uint64_t)scanner.first_ticks);
        scan->last_time = tv_jfr_time(chunk, start + (uint64_t)scanner.last_ticks);
    }
    if (detail == TV_SAMPLES_BY_STACK && scan->leaves.count > 0)
        tv_jfr_stack_nodes_make(&scan->nodes, chunk, scan->noted);
}

void tv_jfr_scan_release(struct tv_jfr_scan *scan, const struct tv_jfr_chunk *chunk)
{
    for (size_t i = 0; scan->plans && i < chunk->types.count; i++) {
        tv_jfr_program_release(&scan->plans[i].program);
        tv_free(scan->plans[i].sums);
        tv_free(scan->plans[i].met);
    }
    tv_free(scan->plans);
    tv_free(scan->left.rows);
    tv_free(scan->whole);
    tv_free(scan->noted);
    tv_free(scan->leaves.rows);
    tv_jfr_stack_nodes_release(&scan->nodes);
    *scan = (struct tv_jfr_scan){.plans = NULL};
}
