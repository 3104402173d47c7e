/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The coding of the blocks of a packet file, found by decoding them.
 *
 * The file names neither the variant of its entries (B or C), nor always the unit of time, nor
 * whether a block begins from zeros.  A wrong guess shows: ids that are not listed, undefined
 * actions, times that go back.
 */
#include "readers/method_trace/file.h"

#include <assert.h>
#include <string.h>

#include "base/memory.h"
#include "readers/method_trace/records.h"

/* ---- Which variant ---- */

/* Number of records that decide the variant. */
#define VARIANT_RECORDS 4096

static bool mt_blocks_is_listed(const struct tv_mt_file *file, const struct tv_mt_record *record)
{
    return record->id == TV_MT_NO_ID || tv_map_find(&file->ids.methods, record->id) != TV_NONE;
}

/* Decode the first blocks in a layout. *faults is the share of faulty records, of 1000. */
static enum tv_status mt_blocks_test_layout(struct tv_mt_file *file, struct tv_mt_records *records,
                                            enum tv_mt_layout layout, uint64_t *faults,
                                            struct tv_error *err)
{
    struct tv_diagnostics *diagnostics = tv_alloc(1, sizeof *diagnostics);
    uint64_t seen = 0, bad = 0;
    enum tv_status status;
    file->layout = layout;
    tv_mt_records_init(records, file, diagnostics);
    while ((status = tv_mt_records_next_of_all(records, err)) == TV_OK && records->count > 0 &&
           seen < VARIANT_RECORDS) {
        for (size_t i = 0; i < records->count; i++)
            bad += !mt_blocks_is_listed(file, &records->records[i]);
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

/* Choose the layout. Only headers of variant C have a counter frequency. Otherwise the entries
 * are of variant B, unless they make no sense as such. */
static enum tv_status mt_blocks_choose_layout(struct tv_mt_file *file, struct tv_error *err)
{
    struct tv_mt_records *records = tv_alloc(1, sizeof *records);
    uint64_t as_b = 0, as_c = 0;
    enum tv_status status = TV_OK;
    if (file->delta.frequency == 0)
        status = mt_blocks_test_layout(file, records, TV_MT_DELTA_B, &as_b, err);
    if (status == TV_OK && as_b > 0)
        status = mt_blocks_test_layout(file, records, TV_MT_DELTA_C, &as_c, err);
    file->layout = file->delta.frequency != 0 || as_c < as_b ? TV_MT_DELTA_C : TV_MT_DELTA_B;
    tv_free(records);
    return status;
}

/* ---- Bases of blocks, and the unit of time ---- */

/* With nanoseconds, two records of a thread are never closer than this; with microseconds they
 * are. */
#define CLOSEST_NS 20

struct mt_block_thread {
    struct tv_mt_delta_base last;
    int64_t wall; /* of its last record */
};

struct mt_block_survey {
    struct tv_mt_file *file;
    struct tv_mt_records *records;
    struct tv_map threads; /* tid -> index */
    struct mt_block_thread *states;
    size_t thread_count, thread_capacity;
    bool seen;
    int64_t least;         /* least wall time of all records */
    int64_t least_step;    /* least step between two records of a thread; INT64_MAX: none */
    uint64_t steps, close; /* number of steps that are not 0, and of those below CLOSEST_NS */
};

/* Decode the first records of a block with its current base, and decide whether they make sense:
 * unlisted methods are rare, so most ids must be listed; and times must not go back. */
static enum tv_status mt_blocks_try(struct mt_block_survey *survey, size_t unit,
                                    const struct mt_block_thread *state, bool *sensible,
                                    struct tv_error *err)
{
    struct tv_mt_records *records = survey->records;
    size_t listed = 0;
    tv_mt_records_seek(records, unit);
    enum tv_status status = tv_mt_records_next(records, err);
    for (size_t i = 0; i < records->count; i++)
        listed += mt_blocks_is_listed(survey->file, &records->records[i]);
    *sensible = 2 * listed >= records->count && records->count > 0 &&
                (!state || records->records[0].wall >= state->wall);
    return status;
}

/* Choose the base of a block: zeros, or else the end of the thread's block before. */
static enum tv_status mt_blocks_choose_base(struct mt_block_survey *survey, size_t unit,
                                            const struct mt_block_thread *state,
                                            struct tv_error *err)
{
    struct tv_mt_file *file = survey->file;
    bool sensible;
    enum tv_status status = mt_blocks_try(survey, unit, state, &sensible, err);
    if (status != TV_OK || sensible || !state || file->layout != TV_MT_DELTA_B)
        return status;
    file->delta.bases = tv_array_reserve(file->delta.bases, &file->delta.base_capacity,
                                         file->delta.base_count + 1, sizeof *file->delta.bases);
    file->delta.bases[file->delta.base_count] = state->last;
    file->units[unit].base = (uint32_t)file->delta.base_count++;
    status = mt_blocks_try(survey, unit, state, &sensible, err);
    if (status != TV_OK || sensible)
        return status;
    file->units[unit].base = TV_NONE;
    file->delta.base_count--;
    return mt_blocks_try(survey, unit, state, &sensible, err);
}

static struct mt_block_thread *mt_blocks_find_thread(struct mt_block_survey *survey, uint32_t tid)
{
    uint32_t found = tv_map_find(&survey->threads, tid);
    return found == TV_NONE ? NULL : &survey->states[found];
}

static struct mt_block_thread *mt_blocks_add_thread(struct mt_block_survey *survey, uint32_t tid)
{
    survey->states = tv_array_reserve(survey->states, &survey->thread_capacity,
                                      survey->thread_count + 1, sizeof *survey->states);
    tv_map_set(&survey->threads, tid, (uint32_t)survey->thread_count);
    survey->states[survey->thread_count] = (struct mt_block_thread){0};
    return &survey->states[survey->thread_count++];
}

/* Note the steps between the times of a block. */
static void mt_blocks_take_times(struct mt_block_survey *survey, struct mt_block_thread *state,
                                 bool first)
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

/* Survey a block: choose its base, then decode it. */
static enum tv_status mt_blocks_survey_one(struct mt_block_survey *survey, size_t unit,
                                           struct tv_error *err)
{
    assert(unit < survey->file->unit_count);
    uint32_t tid = survey->file->units[unit].tid;
    struct mt_block_thread *state = mt_blocks_find_thread(survey, tid);
    bool first = state == NULL;
    enum tv_status status = mt_blocks_choose_base(survey, unit, state, err);
    if (first)
        state = mt_blocks_add_thread(survey, tid);
    while (status == TV_OK && survey->records->count > 0) {
        mt_blocks_take_times(survey, state, first);
        first = false;
        status = tv_mt_records_next(survey->records, err);
    }
    state->last = survey->records->last;
    return status;
}

/* Survey all blocks, in the order of the file. */
static enum tv_status mt_blocks_survey(struct mt_block_survey *survey, struct tv_mt_file *file,
                                       struct tv_error *err)
{
    enum tv_status status = TV_OK;
    *survey = (struct mt_block_survey){.file = file, .least_step = INT64_MAX};
    survey->records = tv_alloc(1, sizeof *survey->records);
    tv_map_init(&survey->threads);
    tv_mt_records_init(survey->records, file, NULL);
    tv_mt_file_plan_pass(file);
    for (size_t unit = 0; unit < file->unit_count && status == TV_OK; unit++)
        status = mt_blocks_survey_one(survey, unit, err);
    tv_mt_records_release(survey->records);
    tv_map_release(&survey->threads);
    tv_free(survey->states);
    tv_free(survey->records);
    return status;
}

/* ---- Finalizing ---- */

/* Return true when times are microseconds. Variant B counts nanoseconds since March 2025,
 * microseconds before; the key of the elapsed time shows which. */
static bool mt_blocks_count_microseconds(const struct tv_mt_file *file,
                                         const struct mt_block_survey *survey)
{
    if (file->layout != TV_MT_DELTA_B)
        return false;
    if (file->facts.in_us || file->facts.in_ns)
        return file->facts.in_us;
    return survey->least_step < CLOSEST_NS;
}

static void mt_blocks_set_start(struct tv_mt_file *file, uint64_t start)
{
    struct tv_input *input = tv_mt_input(file);
    uint64_t us = input->tick_ns == 1000 ? start : start / 1000;
    if (us <= INT64_MAX / 1000)
        input->boot_us = (int64_t)us;
}

/* Return true when the file states all that a survey of the records would find, except for the
 * bases. */
static bool mt_blocks_is_self_described(const struct tv_mt_file *file)
{
    bool dual = file->version == TV_MT_PACKETS_2;
    return file->layout == TV_MT_DELTA_B && (file->facts.in_us || file->facts.in_ns) &&
           (dual || file->facts.clocks == TV_CLOCK_WALL);
}

/* Move the bases to the CPU clock: they were found while the single clock was taken for the wall
 * clock. */
static void mt_blocks_move_bases_to_cpu(struct tv_mt_file *file)
{
    for (size_t i = 0; i < file->delta.base_count; i++) {
        file->delta.bases[i].cpu = file->delta.bases[i].wall;
        file->delta.bases[i].wall = 0;
    }
}

/* Set the clocks for decoding. Entries with a single time are decoded in the same way for either
 * clock. */
static void mt_blocks_suppose_clocks(struct tv_mt_file *file)
{
    bool single = file->version == TV_MT_PACKETS_1;
    file->clocks = single ? TV_CLOCK_WALL : TV_CLOCK_WALL | TV_CLOCK_CPU;
}

enum tv_status tv_mt_blocks_finalize(struct tv_mt_file *file, const struct tv_mt_start *start,
                                     struct tv_error *err)
{
    assert(!file->walk);
    struct mt_block_survey survey = {0};
    bool single = file->version == TV_MT_PACKETS_1;
    unsigned inferred = 0;
    mt_blocks_suppose_clocks(file);
    enum tv_status status = mt_blocks_choose_layout(file, err);
    file->delta.starts_unknown = status == TV_OK && mt_blocks_is_self_described(file);
    if (status == TV_OK && !file->delta.starts_unknown)
        status = mt_blocks_survey(&survey, file, err);
    if (status == TV_OK && single && file->facts.clocks == 0)
        status = tv_mt_survey_clock(file, &inferred, err);
    if (status != TV_OK)
        return status;
    tv_mt_input(file)->tick_ns = mt_blocks_count_microseconds(file, &survey) ? 1000 : 1;
    /* Variant C's counter may or may not start with the trace: it does if any time is below its
     * start. */
    if (file->layout == TV_MT_DELTA_C && survey.seen && start->ticks > 0) {
        int64_t origin = tv_mt_records_scale(file, start->ticks);
        file->delta.origin = survey.least >= origin ? origin : 0;
    }
    mt_blocks_set_start(file, start->time);
    tv_mt_header_finalize(file, inferred);
    if (file->clocks == TV_CLOCK_CPU)
        mt_blocks_move_bases_to_cpu(file);
    return TV_OK;
}

/* ---- Before the end of the file is known ---- */

/* One of this many steps must be close to prove microseconds; with nanoseconds none is. */
#define CLOSE_SHARE 8

/* Guess the unit of time from the steps. Only microseconds can be proved. The bases stay open. */
static enum tv_status mt_blocks_guess_tick(struct tv_mt_file *file, struct tv_mt_assumed *assumed,
                                           struct tv_error *err)
{
    struct mt_block_survey survey;
    enum tv_status status = mt_blocks_survey(&survey, file, err);
    for (size_t unit = 0; unit < file->unit_count; unit++)
        file->units[unit].base = TV_NONE;
    file->delta.base_count = 0;
    if (survey.close > 0 && survey.close >= survey.steps / CLOSE_SHARE)
        assumed->tick_ns = 1000;
    return status;
}

enum tv_status tv_mt_blocks_finalize_early(struct tv_mt_file *file, const struct tv_mt_start *start,
                                           struct tv_mt_assumed *assumed, bool *certain,
                                           struct tv_error *err)
{
    struct tv_mt_records *records = tv_alloc(1, sizeof *records);
    uint64_t faults = 1;
    enum tv_status status = TV_OK;
    mt_blocks_suppose_clocks(file);
    /* Methods and blocks that come later can only confirm this layout. */
    if (file->delta.frequency == 0)
        status = mt_blocks_test_layout(file, records, TV_MT_DELTA_B, &faults, err);
    tv_free(records);
    if (status == TV_OK && faults == 0)
        status = tv_mt_summary_peek(file, assumed, err);
    if (status == TV_OK && faults == 0 && assumed->tick_ns == 0)
        status = mt_blocks_guess_tick(file, assumed, err);
    bool clock = file->version == TV_MT_PACKETS_2 || assumed->clocks != 0 || file->early_clock;
    *certain = status == TV_OK && faults == 0 && assumed->tick_ns != 0 && clock;
    if (!*certain)
        return status;
    file->delta.starts_unknown = true;
    tv_mt_input(file)->tick_ns = assumed->tick_ns;
    mt_blocks_set_start(file, start->time);
    tv_mt_header_finalize(file, assumed->clocks ? assumed->clocks : TV_CLOCK_WALL);
    return TV_OK;
}

enum tv_status tv_mt_blocks_find_starts(struct tv_mt_file *file, struct tv_error *err)
{
    struct mt_block_survey survey;
    if (!file->delta.starts_unknown)
        return TV_OK;
    file->delta.starts_unknown = false;
    return mt_blocks_survey(&survey, file, err);
}

enum tv_status tv_mt_blocks_finalize_dump(struct tv_mt_file *file, struct tv_error *err)
{
    struct mt_block_survey survey;
    file->clocks = file->facts.clocks = TV_CLOCK_WALL;
    enum tv_status status = mt_blocks_survey(&survey, file, err);
    if (status != TV_OK)
        return status;
    tv_mt_input(file)->tick_ns = 1;
    mt_blocks_set_start(file, (uint64_t)survey.least);
    file->delta.origin = survey.least;
    tv_mt_header_finalize(file, 0);
    return TV_OK;
}
