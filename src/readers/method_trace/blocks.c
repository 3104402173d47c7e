/* SPDX-License-Identifier: Apache-2.0 */
#include "readers/method_trace/blocks.h"

#include <string.h>

#include "base/memory.h"
#include "readers/method_trace/header.h"
#include "readers/method_trace/records.h"
#include "readers/method_trace/survey.h"
#include "readers/method_trace/tail.h"

/* ---- Which variant ---- */

/* So many records tell how entries are coded. */
#define VARIANT_RECORDS 4096

static bool is_listed(const struct tv_mt_file *file, const struct tv_mt_record *record)
{
    return record->id == TV_MT_NO_ID || tv_map_find(&file->methods, record->id) != TV_NONE;
}

/* Decodes the first blocks in a layout: how much speaks against it, of 1000. */
static enum tv_status test_layout(struct tv_mt_file *file, struct tv_mt_records *records,
                                  enum tv_mt_layout layout, uint64_t *faults, struct tv_error *err)
{
    struct tv_diagnostics *diagnostics = tv_alloc(1, sizeof *diagnostics);
    uint64_t seen = 0, bad = 0;
    enum tv_status status;
    file->layout = layout;
    tv_mt_records_init(records, file, diagnostics);
    while ((status = tv_mt_records_next_of_all(records, err)) == TV_OK && records->count > 0 &&
           seen < VARIANT_RECORDS) {
        for (size_t i = 0; i < records->count; i++)
            bad += !is_listed(file, &records->records[i]);
        seen += records->count;
    }
    bad += diagnostics->kinds[TV_DIAGNOSTIC_BAD_ACTION].count +
           diagnostics->kinds[TV_DIAGNOSTIC_BAD_PACKET].count;
    seen += diagnostics->kinds[TV_DIAGNOSTIC_BAD_ACTION].count;
    *faults = bad * 1000 / (seen ? seen : 1);
    tv_mt_records_release(records);
    tv_diagnostics_clear(diagnostics);
    tv_free(diagnostics);
    return status;
}

/* A counter's frequency is only in the headers of variant C.  Else entries are those of variant B,
 * unless they make no sense as such. */
static enum tv_status choose_layout(struct tv_mt_file *file, struct tv_error *err)
{
    struct tv_mt_records *records = tv_alloc(1, sizeof *records);
    uint64_t as_b = 0, as_c = 0;
    enum tv_status status = TV_OK;
    if (file->frequency == 0)
        status = test_layout(file, records, TV_MT_DELTA_B, &as_b, err);
    if (status == TV_OK && as_b > 0)
        status = test_layout(file, records, TV_MT_DELTA_C, &as_c, err);
    file->layout = file->frequency != 0 || as_c < as_b ? TV_MT_DELTA_C : TV_MT_DELTA_B;
    tv_free(records);
    return status;
}

/* ---- What blocks continue from, and what times look like ---- */

/* A clock read in nanoseconds never shows two records of a thread closer than this; one read in
 * microseconds does. */
#define CLOSEST_NS 20

struct block_thread {
    struct tv_mt_carry last;
    int64_t wall; /* of its last record */
};

struct block_survey {
    struct tv_mt_file *file;
    struct tv_mt_records *records;
    struct tv_map threads; /* tid -> index */
    struct block_thread *states;
    size_t thread_count, thread_capacity;
    bool seen;
    int64_t least;         /* wall time of any record */
    int64_t least_step;    /* between two of a thread; INT64_MAX: none */
    uint64_t steps, close; /* those that are not 0, and of these the ones below CLOSEST_NS */
};

/* Does the block make sense from where it is set to start? Reads its first records.  Methods that
 * are not listed are rare, so most of its ids must be; and time goes on. */
static enum tv_status try_block(struct block_survey *survey, size_t unit,
                                const struct block_thread *state, bool *sensible,
                                struct tv_error *err)
{
    struct tv_mt_records *records = survey->records;
    size_t listed = 0;
    tv_mt_records_seek(records, unit);
    enum tv_status status = tv_mt_records_next(records, err);
    for (size_t i = 0; i < records->count; i++)
        listed += is_listed(survey->file, &records->records[i]);
    *sensible = 2 * listed >= records->count && records->count > 0 &&
                (!state || records->records[0].wall >= state->wall);
    return status;
}

/* A flush that is split over several blocks of variant B goes on from the thread's block before. */
static enum tv_status choose_start(struct block_survey *survey, size_t unit,
                                   const struct block_thread *state, struct tv_error *err)
{
    struct tv_mt_file *file = survey->file;
    bool sensible;
    enum tv_status status = try_block(survey, unit, state, &sensible, err);
    if (status != TV_OK || sensible || !state || file->layout != TV_MT_DELTA_B)
        return status;
    file->carries = tv_array_reserve(file->carries, &file->carry_capacity, file->carry_count + 1,
                                     sizeof *file->carries);
    file->carries[file->carry_count] = state->last;
    file->units[unit].carry = (uint32_t)file->carry_count++;
    status = try_block(survey, unit, state, &sensible, err);
    if (status != TV_OK || sensible)
        return status;
    file->units[unit].carry = TV_NONE;
    file->carry_count--;
    return try_block(survey, unit, state, &sensible, err);
}

static struct block_thread *state_of(struct block_survey *survey, uint32_t tid)
{
    uint32_t found = tv_map_find(&survey->threads, tid);
    return found == TV_NONE ? NULL : &survey->states[found];
}

static struct block_thread *add_state(struct block_survey *survey, uint32_t tid)
{
    survey->states = tv_array_reserve(survey->states, &survey->thread_capacity,
                                      survey->thread_count + 1, sizeof *survey->states);
    tv_map_set(&survey->threads, tid, (uint32_t)survey->thread_count);
    survey->states[survey->thread_count] = (struct block_thread){0};
    return &survey->states[survey->thread_count++];
}

static void look_at_times(struct block_survey *survey, struct block_thread *state, bool first)
{
    const struct tv_mt_records *records = survey->records;
    for (size_t i = 0; i < records->count; i++) {
        int64_t wall = records->records[i].wall, step = wall - state->wall;
        if (!first && step > 0 && step < survey->least_step)
            survey->least_step = step;
        survey->steps += !first && step > 0;
        survey->close += !first && step > 0 && step < CLOSEST_NS;
        if (!survey->seen || wall < survey->least)
            survey->least = wall;
        survey->seen = true;
        first = false;
        state->wall = wall;
    }
}

static enum tv_status survey_block(struct block_survey *survey, size_t unit, struct tv_error *err)
{
    uint32_t tid = survey->file->units[unit].tid;
    struct block_thread *state = state_of(survey, tid);
    bool first = state == NULL;
    enum tv_status status = choose_start(survey, unit, state, err);
    if (first)
        state = add_state(survey, tid);
    while (status == TV_OK && survey->records->count > 0) {
        look_at_times(survey, state, first);
        first = false;
        status = tv_mt_records_next(survey->records, err);
    }
    state->last = survey->records->last;
    return status;
}

static enum tv_status survey_blocks(struct block_survey *survey, struct tv_mt_file *file,
                                    struct tv_error *err)
{
    enum tv_status status = TV_OK;
    *survey = (struct block_survey){.file = file, .least_step = INT64_MAX};
    survey->records = tv_alloc(1, sizeof *survey->records);
    tv_map_init(&survey->threads);
    tv_mt_records_init(survey->records, file, NULL);
    tv_mt_file_plan_pass(file);
    for (size_t unit = 0; unit < file->unit_count && status == TV_OK; unit++)
        status = survey_block(survey, unit, err);
    tv_mt_records_release(survey->records);
    tv_map_release(&survey->threads);
    tv_free(survey->states);
    tv_free(survey->records);
    return status;
}

/* ---- */

/* Variant B counts nanoseconds since March 2025, microseconds before; the elapsed time's key tells.
 */
static bool counts_microseconds(const struct tv_mt_file *file, const struct block_survey *survey)
{
    if (file->layout != TV_MT_DELTA_B)
        return false;
    if (file->facts.in_us || file->facts.in_ns)
        return file->facts.in_us;
    return survey->least_step < CLOSEST_NS;
}

static void set_start(struct tv_mt_file *file, uint64_t start)
{
    struct tv_input *input = tv_mt_input(file);
    uint64_t us = input->tick_ns == 1000 ? start : start / 1000;
    if (us <= INT64_MAX / 1000)
        input->boot_us = (int64_t)us;
}

/* The file says itself what a survey of all records would find out, but for what blocks continue
 * from. */
static bool tells_all(const struct tv_mt_file *file)
{
    bool dual = file->version == TV_MT_PACKETS_2;
    return file->layout == TV_MT_DELTA_B && (file->facts.in_us || file->facts.in_ns) &&
           (dual || file->facts.clocks == TV_CLOCK_WALL);
}

/* What they continue from is of the clock that was supposed. */
static void turn_carries(struct tv_mt_file *file)
{
    for (size_t i = 0; i < file->carry_count; i++) {
        file->carries[i].cpu = file->carries[i].wall;
        file->carries[i].wall = 0;
    }
}

/* Entries with one time are decoded in the same way whatever clock it is of. */
static void suppose_clocks(struct tv_mt_file *file)
{
    bool single = file->version == TV_MT_PACKETS_1;
    file->clocks = single ? TV_CLOCK_WALL : TV_CLOCK_WALL | TV_CLOCK_CPU;
}

enum tv_status tv_mt_blocks_settle(struct tv_mt_file *file, const struct tv_mt_start *start,
                                   struct tv_error *err)
{
    struct block_survey survey = {0};
    bool single = file->version == TV_MT_PACKETS_1;
    unsigned inferred = 0;
    suppose_clocks(file);
    enum tv_status status = choose_layout(file, err);
    file->starts_unknown = status == TV_OK && tells_all(file);
    if (status == TV_OK && !file->starts_unknown)
        status = survey_blocks(&survey, file, err);
    if (status == TV_OK && single && file->facts.clocks == 0)
        status = tv_mt_survey_clock(file, &inferred, err);
    if (status != TV_OK)
        return status;
    tv_mt_input(file)->tick_ns = counts_microseconds(file, &survey) ? 1000 : 1;
    /* Whether variant C's counter starts with the trace is not known: it does when times are below
     * its start. */
    if (file->layout == TV_MT_DELTA_C && survey.seen && start->ticks > 0) {
        int64_t origin = tv_mt_records_scale(file, start->ticks);
        file->origin = survey.least >= origin ? origin : 0;
    }
    set_start(file, start->time);
    tv_mt_header_settle(file, inferred);
    if (file->clocks == TV_CLOCK_CPU)
        turn_carries(file);
    return TV_OK;
}

/* ---- Before the end was seen ---- */

/* So many of the steps that are not 0 must be close, of which nanoseconds have none. */
#define CLOSE_SHARE 8

/* Without the summary only microseconds can be told.  What blocks continue from is left open. */
static enum tv_status look_at_steps(struct tv_mt_file *file, struct tv_mt_told *told,
                                    struct tv_error *err)
{
    struct block_survey survey;
    enum tv_status status = survey_blocks(&survey, file, err);
    for (size_t unit = 0; unit < file->unit_count; unit++)
        file->units[unit].carry = TV_NONE;
    file->carry_count = 0;
    if (survey.close > 0 && survey.close >= survey.steps / CLOSE_SHARE)
        told->tick_ns = 1000;
    return status;
}

enum tv_status tv_mt_blocks_settle_early(struct tv_mt_file *file, const struct tv_mt_start *start,
                                         struct tv_mt_told *told, bool *certain,
                                         struct tv_error *err)
{
    struct tv_mt_records *records = tv_alloc(1, sizeof *records);
    uint64_t faults = 1;
    enum tv_status status = TV_OK;
    suppose_clocks(file);
    /* Methods that are listed later, and blocks that follow, only speak for this layout. */
    if (file->frequency == 0)
        status = test_layout(file, records, TV_MT_DELTA_B, &faults, err);
    tv_free(records);
    if (status == TV_OK && faults == 0)
        status = tv_mt_tail_look(file, told, err);
    if (status == TV_OK && faults == 0 && told->tick_ns == 0)
        status = look_at_steps(file, told, err);
    bool clock = file->version == TV_MT_PACKETS_2 || told->clocks != 0 || file->early_clock;
    *certain = status == TV_OK && faults == 0 && told->tick_ns != 0 && clock;
    if (!*certain)
        return status;
    file->starts_unknown = true;
    tv_mt_input(file)->tick_ns = told->tick_ns;
    set_start(file, start->time);
    tv_mt_header_settle(file, told->clocks ? told->clocks : TV_CLOCK_WALL);
    return TV_OK;
}

enum tv_status tv_mt_blocks_find_starts(struct tv_mt_file *file, struct tv_error *err)
{
    struct block_survey survey;
    if (!file->starts_unknown)
        return TV_OK;
    file->starts_unknown = false;
    return survey_blocks(&survey, file, err);
}

enum tv_status tv_mt_blocks_settle_dump(struct tv_mt_file *file, struct tv_error *err)
{
    struct block_survey survey;
    file->clocks = file->facts.clocks = TV_CLOCK_WALL;
    enum tv_status status = survey_blocks(&survey, file, err);
    if (status != TV_OK)
        return status;
    tv_mt_input(file)->tick_ns = 1;
    set_start(file, (uint64_t)survey.least);
    file->origin = survey.least;
    tv_mt_header_settle(file, 0);
    return TV_OK;
}
