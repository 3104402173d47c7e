/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Delivery in attempts.
 *
 *     look ahead --> attempt: pass 0 -> judge borders -> stitch -> pass 1 ... --> done
 *         ^             |
 *         |             | an id is not listed, a clock may have wrapped, a block is out of order,
 *         '-- learn <---' chunks contradict each other
 *
 * An attempt reads all chunks, once for each pass of the sink.  If it lacked something, a survey
 * finds that out and everything is read again; each kind of knowledge is gained once, so the
 * attempts end. A sink that writes cannot take events back: it reads as one chunk, stops before any
 * event that may turn out wrong, and later attempts skip the events that it has (`had`).
 *
 * Why borders must be judged: a chunk begins in the middle of the file and knows no earlier time
 * of its threads.  If a thread's first time in a chunk is before its last time in an earlier
 * chunk, then either the 32-bit clock wrapped in between, or blocks are out of order, or the clock
 * went back. Each case needs to be read in another way, and serial reading is the last resort,
 * which is always right.
 */
#include "readers/method_trace/deliver.h"

#include <assert.h>

#include "base/memory.h"
#include "base/sort.h"
#include "base/workers.h"
#include "model/sketch.h"
#include "readers/method_trace/file.h"
#include "readers/method_trace/records.h"

/* With fewer bytes, another worker costs more than it gains. */
#define SMALLEST_PART ((uint64_t)4 << 20)

#define MAX_PARTS 1024u

/* End of an attempt. */
enum mt_outcome {
    OUTCOME_DONE,
    OUTCOME_UNLISTED, /* survey the unlisted ids, try again */
    OUTCOME_WRAPS,    /* survey how the clock wraps, try again */
    OUTCOME_ODD,      /* find the bases of the blocks, try again */
    OUTCOME_SERIAL,   /* try again with one chunk */
};

struct mt_attempt {
    struct tv_mt_delivery delivery;
    struct tv_mt_chunk *chunks;
    uint32_t thread_count; /* of this input */
};

/* Return true when the fast way may work: ids keep their meaning, times do not wrap, and every
 * id has its own entry. */
static bool mt_file_reads_fast(const struct tv_mt_file *file)
{
    return file->ids.id_change_count == 0 && file->wraps != TV_MT_WRAPS_BY_THREAD &&
           file->wraps != TV_MT_WRAPS_BY_ORDER && file->ids.other_frame == TV_NONE &&
           file->ids.other_thread == TV_NONE;
}

/* Return true when the blocks are read as if they were in order, until one is not. */
static bool mt_file_reads_deltas(const struct tv_mt_file *file)
{
    return file->layout == TV_MT_DELTA_B && !file->delta.odd && mt_file_reads_fast(file);
}

/* Return true when a decoder without tables of all cases can read the records. */
static bool mt_file_reads_quickly(const struct tv_mt_file *file)
{
    return file->layout == TV_MT_FIXED ? mt_file_reads_fast(file) : mt_file_reads_deltas(file);
}

/* ---- Chunks ---- */

/* Return the position of the first record at or after an offset of the file. */
static struct tv_mt_position mt_deliver_find_position(const struct tv_mt_file *file,
                                                      uint64_t offset, bool fast)
{
    size_t low = 0;
    TV_LOWER_BOUND(low, file->unit_count, i, file->units[i].offset + file->units[i].size <= offset);
    struct tv_mt_position place = {.unit = low};
    if (low == file->unit_count || offset <= file->units[low].offset)
        return place;
    uint64_t inside = offset - file->units[low].offset, size = file->record_size;
    if (fast)
        place.done = (inside + size - 1) / size * size;
    if (!fast || place.done >= file->units[low].size)
        place = (struct tv_mt_position){.unit = low + 1};
    return place;
}

/* Return the offset at which a chunk begins: given by a test, or an equal share of the range of
 * all units. */
static uint64_t mt_deliver_chunk_start(const struct tv_mt_file *file,
                                       const struct tv_read_options *options, unsigned index,
                                       unsigned count)
{
    assert(index > 0 && index < count && file->unit_count > 0);
    if (options->part_starts)
        return options->part_starts[index];
    const struct tv_mt_unit *first = &file->units[0], *last = &file->units[file->unit_count - 1];
    uint64_t size = last->offset + last->size - first->offset;
    return first->offset + size / count * index + size % count * index / count;
}

/* Set start and end of all chunks, from the last to the first. */
static void mt_deliver_place_chunks(struct mt_attempt *attempt,
                                    const struct tv_read_options *options)
{
    const struct tv_mt_file *file = attempt->delivery.file;
    unsigned count = attempt->delivery.chunk_count;
    struct tv_mt_position end = {.unit = file->unit_count};
    for (unsigned i = count; i > 0; i--) {
        struct tv_mt_chunk *chunk = &attempt->chunks[i - 1];
        chunk->end = end;
        if (i > 1)
            chunk->start = mt_deliver_find_position(
                file, mt_deliver_chunk_start(file, options, i - 1, count), attempt->delivery.fast);
        end = chunk->start;
    }
}

/* While a packet file was unpacked, the unit of its times was not known (block_sketch.c). */
static void mt_attempt_begin_sketch(struct mt_attempt *attempt)
{
    const struct tv_mt_file *file = attempt->delivery.file;
    if (!file->progress->sketch)
        return;
    if (file->layout != TV_MT_FIXED)
        tv_sketch_clear(file->progress->sketch);
    attempt->delivery.sketched =
        tv_alloc(attempt->thread_count, sizeof *attempt->delivery.sketched);
}

/* Begin an attempt with `count` chunks. */
static void mt_attempt_begin(struct mt_attempt *attempt, struct tv_mt_file *file,
                             struct tv_sink *sink, const struct tv_read_options *options,
                             unsigned count)
{
    assert(count > 0);
    *attempt = (struct mt_attempt){
        .delivery = {.file = file, .sink = sink, .chunk_count = count, .writes = sink->ops->writes},
        .chunks = tv_alloc(count, sizeof *attempt->chunks),
        .thread_count = file->head->thread_count - file->first_thread,
    };
    attempt->delivery.fast = file->layout == TV_MT_FIXED && mt_file_reads_fast(file);
    attempt->delivery.deltas = mt_file_reads_deltas(file);
    mt_attempt_begin_sketch(attempt);
    tv_mt_frames_init(&attempt->delivery.frames, file);
    for (unsigned i = 0; i < count; i++) {
        attempt->chunks[i].delivery = &attempt->delivery;
        attempt->chunks[i].index = i;
        attempt->chunks[i].thread_times =
            tv_alloc(attempt->thread_count, sizeof *attempt->chunks[i].thread_times);
    }
    mt_deliver_place_chunks(attempt, options);
    sink->ops->begin(sink, file->head, file->input, count);
}

/* Free the chunks; the sink has their events. */
static void mt_attempt_release(struct mt_attempt *attempt)
{
    for (unsigned i = 0; i < attempt->delivery.chunk_count; i++) {
        tv_free(attempt->chunks[i].thread_times);
        tv_diagnostics_clear(&attempt->chunks[i].diagnostics);
    }
    tv_free(attempt->chunks);
    tv_free(attempt->delivery.sketched);
    tv_mt_frames_release(&attempt->delivery.frames);
}

/* ---- Passes ---- */

/* Read one chunk; the job of a worker. */
static void mt_attempt_read_chunk(void *context, unsigned index)
{
    struct mt_attempt *attempt = context;
    tv_mt_chunk_read(&attempt->chunks[index]);
}

/* Reset all chunks for the next pass. */
static void mt_attempt_reset(struct mt_attempt *attempt)
{
    for (unsigned i = 0; i < attempt->delivery.chunk_count; i++) {
        struct tv_mt_chunk *chunk = &attempt->chunks[i], old = *chunk;
        for (uint32_t thread = 0; thread < attempt->thread_count; thread++)
            chunk->thread_times[thread] = (struct tv_mt_thread_times){0};
        tv_diagnostics_clear(&chunk->diagnostics);
        *chunk = (struct tv_mt_chunk){
            .delivery = old.delivery,
            .index = i,
            .start = old.start,
            .end = old.end,
            .thread_times = old.thread_times,
        };
    }
}

/* Read all chunks once. */
static enum tv_status mt_attempt_run_pass(struct mt_attempt *attempt, unsigned pass,
                                          enum mt_outcome *outcome, struct tv_error *err)
{
    struct tv_mt_delivery *delivery = &attempt->delivery;
    *outcome = OUTCOME_DONE;
    delivery->pass = pass;
    mt_attempt_reset(attempt);
    tv_progress_join(delivery->file->progress, false);
    tv_workers_run(delivery->chunk_count, mt_attempt_read_chunk, attempt);
    for (unsigned i = 0; i < delivery->chunk_count; i++) {
        const struct tv_mt_chunk *chunk = &attempt->chunks[i];
        if (chunk->status != TV_OK) {
            *err = chunk->error;
            return chunk->status;
        }
        if (chunk->stop == TV_MT_STOP_UNLISTED)
            *outcome = OUTCOME_UNLISTED;
        else if (chunk->stop == TV_MT_STOP_WRAPS && *outcome == OUTCOME_DONE)
            *outcome = OUTCOME_WRAPS;
        else if (chunk->stop == TV_MT_STOP_ODD && *outcome == OUTCOME_DONE)
            *outcome = OUTCOME_ODD;
    }
    return TV_OK;
}

/* Judge the border between a thread's earlier records and its first ones in a chunk. */
static enum mt_outcome mt_judge_border(const struct tv_mt_file *file,
                                       const struct tv_mt_thread_times *earlier,
                                       const struct tv_mt_thread_times *times, bool has_before,
                                       int64_t before)
{
    bool known = file->wraps != TV_MT_WRAPS_UNKNOWN || file->layout != TV_MT_FIXED;
    if (!earlier->seen) {
        bool late = has_before && before - times->first_wall > TV_MT_WRAP / 2;
        return late && !known ? OUTCOME_WRAPS : OUTCOME_DONE;
    }
    int64_t wall = earlier->last_wall - times->first_wall;
    int64_t cpu = earlier->last_cpu - times->first_cpu;
    if (!known && (wall > TV_MT_WRAP_SLACK || cpu > TV_MT_WRAP_SLACK))
        return OUTCOME_WRAPS;
    if (wall <= 0 && cpu <= 0)
        return OUTCOME_DONE;
    return file->delta.starts_unknown ? OUTCOME_ODD : OUTCOME_SERIAL;
}

/* Judge all borders of chunks. `threads` collects the last times of each thread. */
static enum mt_outcome mt_attempt_judge_borders(const struct mt_attempt *attempt,
                                                struct tv_mt_thread_times *threads)
{
    const struct tv_mt_file *file = attempt->delivery.file;
    enum mt_outcome worst = OUTCOME_DONE;
    const struct tv_mt_chunk *previous = NULL;
    for (unsigned i = 0; i < attempt->delivery.chunk_count; i++) {
        const struct tv_mt_chunk *chunk = &attempt->chunks[i];
        for (uint32_t t = 0; t < attempt->thread_count; t++) {
            const struct tv_mt_thread_times *times = &chunk->thread_times[t];
            if (!times->seen)
                continue;
            bool has_before = times->has_before || previous != NULL;
            int64_t before = times->has_before ? times->before : previous ? previous->last_wall : 0;
            enum mt_outcome outcome = mt_judge_border(file, &threads[t], times, has_before, before);
            if (outcome == OUTCOME_WRAPS || worst == OUTCOME_DONE)
                worst = outcome;
            threads[t] = *times;
        }
        if (chunk->has_events)
            previous = chunk;
    }
    return worst;
}

/* Fill the facts about its events in the head's input. */
static void mt_attempt_finalize_input(const struct mt_attempt *attempt,
                                      const struct tv_mt_thread_times *threads)
{
    struct tv_input *input = tv_mt_input(attempt->delivery.file);
    input->records = input->unrolls = 0;
    input->last_wall = input->last_cpu = 0;
    for (unsigned i = 0; i < attempt->delivery.chunk_count; i++) {
        input->records += attempt->chunks[i].records;
        input->unrolls += attempt->chunks[i].unrolls;
    }
    for (uint32_t t = 0; t < attempt->thread_count; t++) {
        if (!threads[t].seen)
            continue;
        if (threads[t].last_wall > input->last_wall)
            input->last_wall = threads[t].last_wall;
        if (threads[t].last_cpu > input->last_cpu)
            input->last_cpu = threads[t].last_cpu;
    }
}

/* Merge the diagnostics of the chunks, once, after the attempt has succeeded. */
static void mt_attempt_finalize_diagnostics(const struct mt_attempt *attempt)
{
    struct tv_mt_file *file = attempt->delivery.file;
    int64_t announced = tv_mt_input(file)->announced;
    uint64_t found = 0;
    for (unsigned i = 0; i < attempt->delivery.chunk_count; i++) {
        const struct tv_mt_chunk *chunk = &attempt->chunks[i];
        found += chunk->records + chunk->diagnostics.kinds[TV_DIAGNOSTIC_BAD_ACTION].count;
        tv_diagnostics_merge(&file->head->diagnostics, &chunk->diagnostics);
    }
    if (announced >= 0 && (uint64_t)announced != found)
        tv_mt_warn(file, TV_DIAGNOSTIC_COUNT_MISMATCH, TV_NO_OFFSET);
}

/* Let the sink stitch its chunks. A sink may find that only serial reading gives the right
 * stacks. */
static enum mt_outcome mt_attempt_stitch(struct mt_attempt *attempt, unsigned pass)
{
    struct tv_sink *sink = attempt->delivery.sink;
    tv_progress_join(attempt->delivery.file->progress, true);
    enum tv_stitch_result stitch = sink->ops->stitch(sink, pass);
    return stitch == TV_STITCH_SERIAL ? OUTCOME_SERIAL : OUTCOME_DONE;
}

/* Judge the borders after the first pass, and let the sink stitch its chunks. */
static enum mt_outcome mt_attempt_stitch_first(struct mt_attempt *attempt)
{
    assert(attempt->delivery.pass == 0);
    struct tv_mt_thread_times *threads = tv_alloc(attempt->thread_count, sizeof *threads);
    enum mt_outcome outcome = mt_attempt_judge_borders(attempt, threads);
    if (outcome == OUTCOME_DONE) {
        mt_attempt_finalize_input(attempt, threads);
        outcome = mt_attempt_stitch(attempt, 0);
    }
    if (outcome == OUTCOME_DONE && !attempt->delivery.file->walk)
        mt_attempt_finalize_diagnostics(attempt);
    tv_free(threads);
    return outcome;
}

/* Run all passes of an attempt, up to the first that shows that something is missing. */
static enum tv_status mt_attempt_run(struct mt_attempt *attempt, enum mt_outcome *outcome,
                                     struct tv_error *err)
{
    enum tv_status status = mt_attempt_run_pass(attempt, 0, outcome, err);
    if (status != TV_OK || *outcome != OUTCOME_DONE)
        return status;
    *outcome = mt_attempt_stitch_first(attempt);
    for (unsigned pass = 1; pass < attempt->delivery.sink->ops->passes; pass++) {
        if (*outcome != OUTCOME_DONE)
            return TV_OK;
        status = mt_attempt_run_pass(attempt, pass, outcome, err);
        if (status != TV_OK)
            return status;
        *outcome = mt_attempt_stitch(attempt, pass);
    }
    return TV_OK;
}

/* ---- Attempts ---- */

/* Return the number of chunks. A sink that writes, and a file whose ids change, need one. */
static unsigned mt_deliver_choose_chunk_count(const struct tv_mt_file *file,
                                              const struct tv_sink *sink,
                                              const struct tv_read_options *options)
{
    if (sink->ops->writes || file->ids.id_change_count > 0 || file->unit_count == 0)
        return 1;
    if (options->parts > 0)
        return options->parts < MAX_PARTS ? options->parts : MAX_PARTS;
    uint64_t worth = tv_mt_file_record_bytes(file) / SMALLEST_PART + 1;
    unsigned available = tv_workers_available();
    return worth < available ? (unsigned)worth : available;
}

/* Return true when a sink that writes gets events before a survey of all records. */
static bool mt_deliver_writes_at_once(const struct tv_mt_file *file, const struct tv_sink *sink,
                                      const struct tv_read_options *options)
{
    bool is_long = tv_mt_file_record_bytes(file) > TV_MT_SHORT_BYTES;
    return sink->ops->writes && options->ahead != TV_AHEAD_ALL &&
           (options->ahead == TV_AHEAD_LISTED || is_long || file->walk);
}

static enum tv_status mt_deliver_walk_rest(struct tv_mt_file *file, struct tv_error *err)
{
    return file->walk ? file->walk->go_on(file, UINT64_MAX, err) : TV_OK;
}

static enum tv_status mt_deliver_find_ids(struct tv_mt_file *file, struct tv_error *err)
{
    return file->scanned ? TV_OK : tv_mt_survey_ids(file, err);
}

/* Find the bases of the blocks, if records.c reads them. */
static enum tv_status mt_deliver_find_bases(struct tv_mt_file *file, struct tv_error *err)
{
    return mt_file_reads_quickly(file) ? TV_OK : tv_mt_blocks_find_starts(file, err);
}

/* Find out what the first attempt needs. */
static enum tv_status mt_deliver_look_ahead(struct tv_mt_file *file, bool writes, bool at_once,
                                            struct tv_error *err)
{
    bool fixed = file->layout == TV_MT_FIXED;
    bool long_enough = !at_once && tv_mt_input(file)->elapsed_ns / 1000 >= TV_MT_WRAP;
    bool plain = (writes && !at_once) || !mt_file_reads_fast(file);
    enum tv_status status = plain ? mt_deliver_walk_rest(file, err) : TV_OK;
    if (status == TV_OK)
        status = mt_deliver_find_bases(file, err);
    /* No sink that writes needs the sampling interval. */
    if (status == TV_OK && !at_once)
        status = tv_mt_survey_sampling(file, err);
    if (status == TV_OK && fixed && (plain || long_enough))
        status = tv_mt_survey_wraps(file, err);
    if (status == TV_OK && (plain || !mt_file_reads_quickly(file)))
        status = mt_deliver_find_ids(file, err);
    return status;
}

/* Find the bases of the blocks, and survey the sampling again: with other bases the trace may
 * look sampled, or no longer. */
static enum tv_status mt_deliver_learn_bases(struct tv_mt_file *file, struct tv_error *err)
{
    enum tv_status status = tv_mt_blocks_find_starts(file, err);
    return status == TV_OK ? tv_mt_survey_sampling(file, err) : status;
}

/* Note that blocks are out of order. OUTCOME_UNLISTED after a survey of ids means so, too: a
 * block without a whole record may belong to a thread that no record has. */
static void mt_deliver_note_odd(struct tv_mt_file *file, enum mt_outcome outcome)
{
    file->delta.odd |= outcome == OUTCOME_ODD || (outcome == OUTCOME_UNLISTED && file->scanned);
}

/* Survey the records of a file that was walked to its end, as the outcome demands. */
static enum tv_status mt_deliver_survey(struct tv_mt_file *file, enum mt_outcome outcome,
                                        struct tv_error *err)
{
    bool stopped = outcome == OUTCOME_UNLISTED || outcome == OUTCOME_ODD;
    bool may_wrap = file->layout == TV_MT_FIXED && file->ids.id_change_count > 0 &&
                    file->wraps == TV_MT_WRAPS_UNKNOWN;
    enum tv_status status = TV_OK;
    if (outcome == OUTCOME_WRAPS || may_wrap)
        status = tv_mt_survey_wraps(file, err);
    if (status == TV_OK)
        status = mt_deliver_find_bases(file, err);
    if (status == TV_OK && (stopped || !mt_file_reads_fast(file)))
        status = mt_deliver_find_ids(file, err);
    return status;
}

/* Find out what the attempt lacked. */
static enum tv_status mt_deliver_learn(struct tv_mt_file *file, enum mt_outcome outcome,
                                       unsigned *chunks, struct tv_error *err)
{
    bool stopped = outcome == OUTCOME_UNLISTED || outcome == OUTCOME_ODD;
    bool from_zeros = file->delta.starts_unknown;
    tv_mt_file_close_unit(file);
    enum tv_status status = mt_deliver_walk_rest(file, err);
    if (status == TV_OK && from_zeros && stopped)
        return mt_deliver_learn_bases(file, err);
    mt_deliver_note_odd(file, outcome);
    if (status == TV_OK)
        status = mt_deliver_survey(file, outcome, err);
    if (outcome == OUTCOME_SERIAL || !mt_file_reads_fast(file))
        *chunks = 1;
    return status;
}

/* Continue the walk over as many bytes as were delivered, so that no byte is read more than
 * twice. If ids change their meaning from there on, survey everything. */
static enum tv_status mt_deliver_walk_on(struct tv_mt_file *file, struct tv_error *err)
{
    assert(file->walk);
    unsigned chunks = 1;
    uint64_t bytes = tv_mt_file_record_bytes(file);
    enum tv_status status =
        file->walk->go_on(file, bytes > TV_MT_SHORT_BYTES ? bytes : TV_MT_SHORT_BYTES, err);
    if (status == TV_OK && !mt_file_reads_fast(file))
        status = mt_deliver_learn(file, OUTCOME_DONE, &chunks, err);
    return status;
}

enum tv_status tv_mt_deliver(struct tv_mt_file *file, struct tv_sink *sink,
                             const struct tv_read_options *options, struct tv_error *err)
{
    enum mt_outcome outcome = OUTCOME_DONE;
    bool at_once = mt_deliver_writes_at_once(file, sink, options), again = true;
    file->delta.odd |=
        sink->ops->writes && !at_once; /* events cannot be corrected, so trust no block */
    enum tv_status status = mt_deliver_look_ahead(file, sink->ops->writes, at_once, err);
    uint64_t had = 0; /* events that earlier attempts delivered to a sink that writes */
    unsigned chunks = mt_deliver_choose_chunk_count(file, sink, options);
    if (!mt_file_reads_fast(file))
        chunks = 1;
    while (status == TV_OK && again) {
        struct mt_attempt attempt;
        for (unsigned i = 0; i < sink->ops->passes; i++)
            tv_mt_file_plan_pass(file);
        mt_attempt_begin(&attempt, file, sink, options, chunks);
        attempt.delivery.had = had;
        status = mt_attempt_run(&attempt, &outcome, err);
        if (sink->ops->writes && attempt.chunks[0].records > had)
            had = attempt.chunks[0].records;
        mt_attempt_release(&attempt);
        again = outcome != OUTCOME_DONE || file->walk;
        if (status == TV_OK && again)
            status = outcome == OUTCOME_DONE ? mt_deliver_walk_on(file, err)
                                             : mt_deliver_learn(file, outcome, &chunks, err);
    }
    if (status == TV_OK && at_once)
        status = tv_mt_survey_sampling(file, err);
    if (status == TV_OK)
        sink->ops->end(sink);
    return status;
}
