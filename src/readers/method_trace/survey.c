/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Surveys: passes over the records, in order, that find out what the file does not say.
 *
 *   survey     answers                                      asked when
 *   ids        which ids does no table list?                an attempt met an unlisted id
 *   wraps      does a 32-bit clock wrap by thread or for    times went back by about 71 minutes
 *              all threads at once?
 *   sampling   are the calls inferred from stacks?          always, on the first million records
 *   clock      which of both clocks does the file have?     a stream without a summary
 *
 * A survey reads everything again, so it is made only when the file must be read again anyway, or
 * on a prefix of it.  What it learns goes into struct tv_mt_file, and stays for all later
 * attempts.
 */
#include "readers/method_trace/file.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/bytes.h"
#include "base/memory.h"
#include "readers/method_trace/records.h"

/* Call `look` for each record, until it returns false. */
static enum tv_status mt_survey_records(struct tv_mt_file *file, void *context,
                                        bool (*look)(void *context,
                                                     const struct tv_mt_record *record),
                                        struct tv_error *err)
{
    struct tv_mt_records *records = tv_alloc(1, sizeof *records);
    enum tv_status status;
    bool more = true;
    tv_mt_records_init(records, file, NULL);
    while ((status = tv_mt_records_next_of_all(records, err)) == TV_OK && records->count > 0 &&
           more) {
        if (file->ids.id_change_count > 0)
            tv_mt_file_apply_id_changes(file, records->unit);
        for (size_t i = 0; i < records->count && more; i++)
            more = look(context, &records->records[i]);
    }
    tv_mt_records_release(records);
    tv_free(records);
    return status;
}

/* ---- Unlisted threads and methods ---- */

struct mt_id_survey {
    struct tv_mt_file *file;
    struct tv_map unlisted; /* id -> index in ids */
    uint64_t *ids;
    size_t count, capacity;
    uint64_t greatest_used;
    uint32_t thread_count;
};

/* Note the thread of a record when it is not listed. */
static void mt_survey_thread_id(struct mt_id_survey *survey, const struct tv_mt_record *record)
{
    struct tv_mt_file *file = survey->file;
    uint32_t thread = tv_map_find(&file->ids.threads, record->tid);
    if (thread != TV_NONE && file->head->threads[thread].listed)
        return;
    tv_mt_warn(file, TV_DIAGNOSTIC_UNLISTED_THREAD, record->offset);
    if (thread != TV_NONE)
        return;
    if (survey->thread_count < TV_MT_MAX_UNLISTED_THREADS) {
        survey->thread_count++;
        tv_mt_add_unlisted_thread(file, record->tid);
        return;
    }
    tv_mt_warn(file, TV_DIAGNOSTIC_MANY_IDS, record->offset);
    if (file->ids.other_thread == TV_NONE) {
        struct tv_thread other = {
            .id = UINT64_MAX,
            .name = tv_trace_info_string(file->head, TV_BYTES("[others]")),
            .process = file->process,
            .input = file->input,
        };
        file->ids.other_thread = tv_trace_info_add_thread(file->head, &other);
    }
}

/* Note the method of a record when it is not listed. */
static void mt_survey_method_id(struct mt_id_survey *survey, const struct tv_mt_record *record)
{
    struct tv_mt_file *file = survey->file;
    if (record->id > survey->greatest_used)
        survey->greatest_used = record->id;
    if (tv_map_find(&file->ids.methods, record->id) != TV_NONE)
        return;
    tv_mt_warn(file, TV_DIAGNOSTIC_UNLISTED_METHOD, record->offset);
    if (tv_map_find(&survey->unlisted, record->id) != TV_NONE)
        return;
    if (survey->count >= TV_MT_MAX_UNLISTED_METHODS) {
        tv_mt_warn(file, TV_DIAGNOSTIC_MANY_IDS, record->offset);
        return;
    }
    tv_map_set(&survey->unlisted, record->id, (uint32_t)survey->count);
    survey->ids =
        tv_array_reserve(survey->ids, &survey->capacity, survey->count + 1, sizeof *survey->ids);
    survey->ids[survey->count++] = record->id;
}

/* Note the ids of a record. */
static bool mt_survey_record_ids(void *context, const struct tv_mt_record *record)
{
    struct mt_id_survey *survey = context;
    mt_survey_thread_id(survey, record);
    if (record->id != TV_MT_NO_ID)
        mt_survey_method_id(survey, record);
    return true;
}

/* ART 6 to 13 never lists the id of a proxy's method; instead it lists a method of its interface
 * under a fresh id, which no record uses. Ids are consecutive numbers, and the fresh ones come
 * last. Return how many fresh methods there are, with *frame that of one; 0 when the file does
 * not look like this. */
static size_t mt_survey_find_fresh_methods(const struct mt_id_survey *survey, uint32_t *frame)
{
    const struct tv_mt_file *file = survey->file;
    const struct tv_map *methods = &file->ids.methods;
    size_t fresh = 0;
    uint64_t greatest = 0;
    for (size_t i = 0; methods->count > 0 && i <= methods->mask; i++) {
        if (methods->values[i] == TV_NONE)
            continue;
        if (methods->keys[i] > greatest)
            greatest = methods->keys[i];
        if (methods->keys[i] > survey->greatest_used) {
            fresh++;
            *frame = methods->values[i];
        }
    }
    bool dense = greatest >> 2 == (uint64_t)methods->count + survey->count - 1;
    return dense && !file->streaming && file->layout == TV_MT_FIXED ? fresh : 0;
}

/* Add a method that has no name but its id. */
static uint32_t mt_survey_add_frame(struct tv_mt_file *file, const char *format, uint64_t id)
{
    char name[48];
    snprintf(name, sizeof name, "%s0x%" PRIx64, format, id);
    struct tv_frame frame = {.name = tv_trace_info_string(file->head, tv_bytes_of(name))};
    return tv_trace_info_add_frame(file->head, &frame);
}

/* Add all unlisted methods, by the name of a proxy's line or by their ids. */
static void mt_survey_add_methods(struct mt_id_survey *survey)
{
    struct tv_mt_file *file = survey->file;
    uint32_t fresh_frame = TV_NONE;
    size_t fresh = mt_survey_find_fresh_methods(survey, &fresh_frame);
    for (size_t i = 0; i < survey->count; i++) {
        uint64_t id = survey->ids[i];
        uint32_t frame = tv_map_find(&file->ids.proxies, id);
        if (frame == TV_NONE && fresh == 1 && survey->count == 1)
            frame = fresh_frame;
        if (frame != TV_NONE)
            tv_mt_warn(file, TV_DIAGNOSTIC_PROXY_METHOD, TV_NO_OFFSET);
        else
            frame = mt_survey_add_frame(file, fresh == survey->count ? "(proxy?) " : "", id);
        tv_mt_add_unlisted_method(file, id, frame);
    }
    if (survey->count >= TV_MT_MAX_UNLISTED_METHODS) {
        struct tv_frame frame = {.name = tv_trace_info_string(file->head, TV_BYTES("(others)"))};
        file->ids.other_frame = tv_trace_info_add_frame(file->head, &frame);
    }
}

enum tv_status tv_mt_survey_ids(struct tv_mt_file *file, struct tv_error *err)
{
    struct mt_id_survey survey = {.file = file};
    tv_mt_file_plan_pass(file);
    tv_map_init(&survey.unlisted);
    enum tv_status status = mt_survey_records(file, &survey, mt_survey_record_ids, err);
    if (status == TV_OK)
        mt_survey_add_methods(&survey);
    file->scanned = true;
    tv_map_release(&survey.unlisted);
    tv_free(survey.ids);
    return status;
}

/* ---- Wraps ---- */

struct mt_wrap_thread {
    bool seen;
    int64_t wall, cpu; /* last times, extended by thread */
    int64_t first,
        alone; /* wall time of the first and last record, as if the thread began without wraps */
};

struct mt_wrap_survey {
    struct tv_mt_file *file;
    struct mt_wrap_thread *threads; /* by thread - first_thread */
    int64_t by_thread, by_order;    /* wall time of the last record, extended either way */
    int64_t most_raw, most_by_order;
    int64_t thread_epochs, order_epochs, cpu_epochs; /* maximum of wraps that were added */
};

/* Keep the larger value. */
static void mt_keep_most(int64_t *most, int64_t value)
{
    if (value > *most)
        *most = value;
}

/* Extend the times of a record both ways, and note how many wraps each way adds. */
static bool mt_survey_record_times(void *context, const struct tv_mt_record *record)
{
    struct mt_wrap_survey *survey = context;
    const struct tv_mt_file *file = survey->file;
    uint32_t thread = tv_map_find(&file->ids.threads, record->tid);
    struct mt_wrap_thread *state =
        &survey
             ->threads[(thread == TV_NONE ? file->ids.other_thread : thread) - file->first_thread];
    if (file->clocks & TV_CLOCK_WALL) {
        int64_t raw = record->wall;
        survey->by_order = tv_mt_times_unwrap(true, raw, false, 0, survey->by_order);
        survey->by_thread =
            tv_mt_times_unwrap(false, raw, state->seen, state->wall, survey->by_thread);
        mt_keep_most(&survey->most_raw, raw);
        mt_keep_most(&survey->most_by_order, survey->by_order);
        mt_keep_most(&survey->order_epochs, (survey->by_order - raw) / TV_MT_WRAP);
        mt_keep_most(&survey->thread_epochs, (survey->by_thread - raw) / TV_MT_WRAP);
        state->wall = survey->by_thread;
        state->first = state->seen ? state->first : raw;
        state->alone = tv_mt_times_unwrap(false, raw, state->seen, state->alone, -1);
    }
    state->cpu = tv_mt_times_unwrap(false, record->cpu, state->seen, state->cpu, -1);
    mt_keep_most(&survey->cpu_epochs, (state->cpu - record->cpu) / TV_MT_WRAP);
    state->seen = true;
    return true;
}

/* Return true and *elapsed when the file's elapsed time does not contradict the records. */
static bool mt_survey_trust_elapsed(const struct mt_wrap_survey *survey, int64_t *elapsed)
{
    int64_t elapsed_ns = tv_mt_input(survey->file)->elapsed_ns;
    *elapsed = elapsed_ns / 1000;
    return elapsed_ns >= 0 && survey->most_raw <= *elapsed + TV_MT_WRAP_SLACK;
}

/* Find the latest start of each thread: when its last record would be after the end of tracing,
 * it began earlier. Files of ART 14 and later hold the records of a thread in blocks, so the
 * record before its first one may have any time. */
static void mt_survey_find_latest_starts(const struct mt_wrap_survey *survey)
{
    struct tv_mt_file *file = survey->file;
    uint32_t count = file->head->thread_count - file->first_thread;
    int64_t elapsed;
    if (!mt_survey_trust_elapsed(survey, &elapsed))
        return;
    file->latest_start = tv_alloc(count, sizeof *file->latest_start);
    for (uint32_t i = 0; i < count; i++) {
        const struct mt_wrap_thread *thread = &survey->threads[i];
        file->latest_start[i] = elapsed + TV_MT_WRAP_SLACK - (thread->alone - thread->first);
    }
}

/* Choose how times wrap. */
static enum tv_mt_wraps mt_survey_choose_wraps(const struct mt_wrap_survey *survey)
{
    int64_t elapsed;
    bool trusted = mt_survey_trust_elapsed(survey, &elapsed);
    if (trusted && elapsed < TV_MT_WRAP)
        return TV_MT_WRAPS_NONE;
    /* If records are in the order of time, at least one thread has seen every wrap. */
    bool by_order = trusted ? survey->most_by_order <= elapsed + TV_MT_WRAP_SLACK
                            : survey->order_epochs == survey->thread_epochs;
    int64_t epochs = by_order ? survey->order_epochs : survey->thread_epochs;
    if (epochs == 0 && survey->cpu_epochs == 0)
        return TV_MT_WRAPS_NONE;
    return by_order ? TV_MT_WRAPS_BY_ORDER : TV_MT_WRAPS_BY_THREAD;
}

enum tv_status tv_mt_survey_wraps(struct tv_mt_file *file, struct tv_error *err)
{
    assert(file->layout == TV_MT_FIXED && !file->walk);
    if (!file->scanned) {
        enum tv_status status = tv_mt_survey_ids(file, err);
        if (status != TV_OK)
            return status;
    }
    struct mt_wrap_survey survey = {.file = file, .by_thread = -1, .by_order = -1};
    tv_mt_file_plan_pass(file);
    survey.threads =
        tv_alloc(file->head->thread_count - file->first_thread, sizeof *survey.threads);
    enum tv_status status = mt_survey_records(file, &survey, mt_survey_record_times, err);
    file->wraps = mt_survey_choose_wraps(&survey);
    mt_survey_find_latest_starts(&survey);
    tv_free(survey.threads);
    return status;
}

/* ---- Sampling ---- */

/* Maximum number of records that the survey looks at. */
#define SAMPLING_PREFIX 1000000
#define SAMPLING_GAPS 65536

/*
 * A sampled trace differs from an instrumented one in its times.  A sampler compares each stack
 * with the one before: first come the exits of what differs, then the entries, all with one time.
 * So no call is shorter than the interval, an entry and its own exit never have the same time, and
 * a method that was left is not entered again at that time.  A stack that stays as it was leaves no
 * record.
 *
 *     sample    1               2         3 to 863      864                    end of tracing
 *     stack     main, a         main, b   main, b       main, c                main, c
 *     records   enter main, a   exit a                  exit b
 *                               enter b                 enter c
 *
 * Recorders take samples at least 100 us apart; the coarsest clock of an instrumented trace had
 * gaps of 30 us.  One shorter gap proves that calls were recorded.  Otherwise evidence adds up, in
 * bits (2 bits: four times as probable in a sampled trace):
 *
 *   equal      a record has the time of the thread's record before it; at most 24 % have in
 *              instrumented traces.  Neither a method that is left and entered again counts, nor
 *              the first call of an empty stack: such are adjacent calls of an instrumented
 *              trace.
 *   together   the first record of a thread has the time of a record of another thread
 *   silence    the last record is long before the end of tracing.  Whoever stops an instrumented
 *              trace is recorded then.
 *   multiples  all gaps are multiples of one interval.  A coarse clock has those, too.
 *   entered    a method was left and entered again at one time: at best a sampler that rewrites
 *   again      whole stacks
 *   closed     all calls have exits.  A sampler stops inside of calls.
 *
 * In addition, the share of records with the time of the record before is 90 % and more in deep
 * stacks, and 50 % in a hot loop, where each sample leaves one method and enters another; threads
 * that left or entered a single method lower it.
 */
#define SAMPLING_MIN_GAP_NS 100000
#define SAMPLING_EQUAL_PERCENT 30
#define SAMPLING_DEEP_PERCENT 90
#define SAMPLING_MIN_EQUAL 3
#define SAMPLING_MIN_BITS 10
#define SAMPLING_EQUAL_BITS 2
#define SAMPLING_TOGETHER_BITS 4
#define SAMPLING_SILENCE_BITS 4
#define SAMPLING_MULTIPLES_BITS 4
#define SAMPLING_ENTERED_AGAIN_BITS (-8)
#define SAMPLING_CLOSED_BITS (-16)
/* The share of the elapsed time that is silence. */
#define SAMPLING_SILENCE_PERCENT 25

struct mt_sampled_thread {
    int64_t wall, cpu;
    uint64_t id;
    uint64_t depth;
    bool entered; /* the last record is an entry */
};

struct mt_sampling_survey {
    struct tv_mt_file *file;
    struct tv_map threads; /* tid -> index */
    struct mt_sampled_thread *states;
    size_t thread_count, thread_capacity;
    uint64_t seen, followers,
        equal; /* records; those after another one of the same thread; those with the same time */
    uint64_t evident;               /* equal records that count as evidence */
    uint64_t together;              /* threads that begin at the time of another thread's record */
    uint64_t open;                  /* calls without an exit so far */
    int64_t latest_wall, last_wall; /* latest time; time of the record before */
    int64_t *gaps;                  /* ns */
    int64_t divisor;                /* greatest common divisor of the gaps, ns */
    size_t gap_count, gap_capacity;
    bool instrumented;
    bool entered_again;
    bool shared_axis; /* the first time of a thread is not 0 */
};

/* Find the state of the record's thread. Return true when the thread had a record before. */
static bool mt_survey_find_thread(struct mt_sampling_survey *survey,
                                  const struct tv_mt_record *record,
                                  struct mt_sampled_thread **state)
{
    uint32_t next = (uint32_t)survey->thread_count;
    uint32_t found = tv_map_add(&survey->threads, record->tid, next);
    if (found == next) {
        survey->states = tv_array_reserve(survey->states, &survey->thread_capacity,
                                          survey->thread_count + 1, sizeof *survey->states);
        survey->states[survey->thread_count++] = (struct mt_sampled_thread){0};
    }
    *state = &survey->states[found];
    return found != next;
}

/* Evaluate a record that has the time of the thread's record before. */
static void mt_survey_equal_times(struct mt_sampling_survey *survey,
                                  const struct mt_sampled_thread *state,
                                  const struct tv_mt_record *record)
{
    bool entered = record->action == TV_MT_ENTER;
    bool refilled = entered && !state->entered && state->depth == 0;
    bool again = entered && !state->entered && record->id == state->id && record->id != TV_MT_NO_ID;
    survey->equal++;
    survey->evident += !refilled && !again;
    survey->entered_again |= again;
    /* CPU time alone stands still between the samples of a thread that waits. */
    if (survey->file->clocks & TV_CLOCK_WALL)
        survey->instrumented |= state->entered && !entered;
}

/* Return the greatest common divisor; that of 0 and b is b. */
static int64_t mt_survey_common_divisor(int64_t a, int64_t b)
{
    while (a != 0) {
        int64_t rest = b % a;
        b = a;
        a = rest;
    }
    return b;
}

/* Compare a record with the thread's record before. */
static void mt_survey_gap(struct mt_sampling_survey *survey, const struct mt_sampled_thread *state,
                          const struct tv_mt_record *record)
{
    const struct tv_input *input = tv_mt_input(survey->file);
    bool wall = survey->file->clocks & TV_CLOCK_WALL;
    int64_t gap = wall ? record->wall - state->wall : record->cpu - state->cpu;
    survey->followers++;
    if (record->wall == state->wall && record->cpu == state->cpu)
        mt_survey_equal_times(survey, state, record);
    if (gap <= 0 || survey->gap_count == SAMPLING_GAPS)
        return;
    gap = gap > INT64_MAX / input->tick_ns ? INT64_MAX : gap * input->tick_ns;
    if (gap < SAMPLING_MIN_GAP_NS)
        survey->instrumented = true;
    survey->divisor = mt_survey_common_divisor(survey->divisor, gap);
    survey->gaps =
        tv_array_reserve(survey->gaps, &survey->gap_capacity, survey->gap_count + 1, sizeof gap);
    survey->gaps[survey->gap_count++] = gap;
}

/* Note the first record of a thread that is not the first one of all. */
static void mt_survey_thread_begins(struct mt_sampling_survey *survey,
                                    const struct tv_mt_record *record)
{
    bool wall = survey->file->clocks & TV_CLOCK_WALL;
    survey->together += wall && survey->seen > 0 && record->wall == survey->last_wall;
}

/* Look at a record; return false when the trace cannot be sampled, or enough was seen. */
static bool mt_survey_record_sampling(void *context, const struct tv_mt_record *record)
{
    struct mt_sampling_survey *survey = context;
    struct mt_sampled_thread *state;
    bool enters = record->action == TV_MT_ENTER;
    if (mt_survey_find_thread(survey, record, &state))
        mt_survey_gap(survey, state, record);
    else
        mt_survey_thread_begins(survey, record);
    if (record->action == TV_MT_UNROLL || (record->action == TV_MT_EXIT && state->depth == 0)) {
        survey->instrumented = true;
    } else {
        state->depth += enters ? 1 : UINT64_MAX;
        survey->open += enters ? 1 : UINT64_MAX;
    }
    state->wall = survey->last_wall = record->wall;
    state->cpu = record->cpu;
    state->id = record->id;
    state->entered = enters;
    if (record->wall > survey->latest_wall)
        survey->latest_wall = record->wall;
    return !survey->instrumented && ++survey->seen < SAMPLING_PREFIX;
}

/* Return true when nothing was recorded in a large part of the time before the end of tracing. */
static bool mt_survey_ends_silent(const struct mt_sampling_survey *survey)
{
    const struct tv_input *input = tv_mt_input(survey->file);
    int64_t elapsed = input->elapsed_ns, latest;
    if (!(survey->file->clocks & TV_CLOCK_WALL) || input->overflow || elapsed <= 0 ||
        __builtin_mul_overflow(survey->latest_wall, input->tick_ns, &latest))
        return false;
    return latest < elapsed && elapsed - latest >= SAMPLING_MIN_GAP_NS &&
           elapsed - latest >= elapsed / 100 * SAMPLING_SILENCE_PERCENT;
}

/* Return the evidence for a sampled trace in bits. */
static int64_t mt_survey_weigh(const struct mt_sampling_survey *survey)
{
    bool complete = survey->seen < SAMPLING_PREFIX;
    int64_t bits = (int64_t)survey->evident * SAMPLING_EQUAL_BITS +
                   (int64_t)survey->together * SAMPLING_TOGETHER_BITS;
    if (complete && mt_survey_ends_silent(survey))
        bits += SAMPLING_SILENCE_BITS;
    if (survey->divisor >= SAMPLING_MIN_GAP_NS)
        bits += SAMPLING_MULTIPLES_BITS;
    if (survey->entered_again)
        bits += SAMPLING_ENTERED_AGAIN_BITS;
    if (complete && survey->open == 0)
        bits += SAMPLING_CLOSED_BITS;
    return bits;
}

/* Order by length. */
static int mt_survey_compare_gaps(const void *left, const void *right)
{
    int64_t a = *(const int64_t *)left, b = *(const int64_t *)right;
    return a < b ? -1 : a > b;
}

/* Return an upper bound of the interval, or 0 when the trace is not sampled. A deep stack
 * changes with nearly every sample, so the median gap is the interval; a shallow one stays the
 * same for many samples, so the shorter gaps are. */
static tv_ns mt_survey_choose_interval(struct mt_sampling_survey *survey)
{
    if (survey->instrumented || survey->gap_count < 2 || survey->evident < SAMPLING_MIN_EQUAL ||
        survey->equal * 100 < survey->followers * SAMPLING_EQUAL_PERCENT ||
        mt_survey_weigh(survey) < SAMPLING_MIN_BITS)
        return 0;
    qsort(survey->gaps, survey->gap_count, sizeof *survey->gaps, mt_survey_compare_gaps);
    bool deep = survey->equal * 100 >= survey->followers * SAMPLING_DEEP_PERCENT;
    return survey->gaps[survey->gap_count / (deep ? 2 : 10)];
}

/* Set the facts about sampling; an interval of 0 means that calls were recorded. */
static void mt_survey_set_sampling(struct tv_mt_file *file, tv_ns interval, bool inferred)
{
    assert(interval >= 0);
    struct tv_input *input = tv_mt_input(file);
    input->figures = interval > 0 ? TV_FIGURES_SAMPLED : TV_FIGURES_CALLS;
    input->sampling_inferred = interval > 0 && inferred;
    input->sampled_ns = interval;
}

enum tv_status tv_mt_survey_sampling(struct tv_mt_file *file, struct tv_error *err)
{
    struct mt_sampling_survey survey = {.file = file};
    if (file->layout == TV_MT_LONG_RUNNING)
        return TV_OK;
    if (file->facts.states_sampling) {
        mt_survey_set_sampling(file, file->facts.sampling_ns, false);
        return TV_OK;
    }
    tv_map_init(&survey.threads);
    enum tv_status status = mt_survey_records(file, &survey, mt_survey_record_sampling, err);
    if (status == TV_OK)
        mt_survey_set_sampling(file, mt_survey_choose_interval(&survey), true);
    tv_map_release(&survey.threads);
    tv_free(survey.states);
    tv_free(survey.gaps);
    return status;
}

/* ---- The clock ---- */

/* Look at the first time of each thread. A CPU clock begins at 0 with its thread; on a wall clock
 * only the first thread can. */
static bool mt_survey_first_time(void *context, const struct tv_mt_record *record)
{
    struct mt_sampling_survey *survey = context;
    struct mt_sampled_thread *state;
    if (!mt_survey_find_thread(survey, record, &state) && (record->wall != 0 || record->cpu != 0))
        survey->shared_axis = true;
    return !survey->shared_axis && ++survey->seen < SAMPLING_PREFIX;
}

enum tv_status tv_mt_survey_clock(struct tv_mt_file *file, unsigned *clock, struct tv_error *err)
{
    struct mt_sampling_survey survey = {.file = file};
    tv_map_init(&survey.threads);
    enum tv_status status = mt_survey_records(file, &survey, mt_survey_first_time, err);
    *clock = survey.shared_axis ? TV_CLOCK_WALL : TV_CLOCK_CPU;
    tv_map_release(&survey.threads);
    tv_free(survey.states);
    return status;
}
