/* SPDX-License-Identifier: Apache-2.0 */
#include "readers/method_trace/deliver.h"

#include "base/memory.h"
#include "base/workers.h"
#include "readers/method_trace/blocks.h"
#include "readers/method_trace/part.h"
#include "readers/method_trace/survey.h"
#include "readers/method_trace/times.h"

/* Fewer bytes than these are not worth a thread. */
#define SMALLEST_PART ((uint64_t)4 << 20)

#define MOST_PARTS 1024u

/* How an attempt to deliver ended. */
enum outcome {
    OUTCOME_DONE,
    OUTCOME_UNLISTED, /* look for unlisted ids, begin again */
    OUTCOME_WRAPS,    /* look how the clock wraps, begin again */
    OUTCOME_ODD,      /* look at the blocks, begin again */
    OUTCOME_SERIAL,   /* begin again with one part */
};

struct attempt {
    struct tv_mt_delivery delivery;
    struct tv_mt_part *parts;
    uint32_t thread_count; /* of this input */
};

/* Ids keep their meaning, times do not wrap, and every id has its own entry. */
static bool reads_fast(const struct tv_mt_file *file)
{
    return file->switch_count == 0 && file->wraps != TV_MT_WRAPS_BY_THREAD &&
           file->wraps != TV_MT_WRAPS_BY_ORDER && file->other_frame == TV_NONE &&
           file->other_thread == TV_NONE;
}

/* Its blocks are read as if they were in order, until one is not. */
static bool reads_deltas(const struct tv_mt_file *file)
{
    return file->layout == TV_MT_DELTA_B && !file->odd && reads_fast(file);
}

static bool reads_quickly(const struct tv_mt_file *file)
{
    return file->layout == TV_MT_FIXED ? reads_fast(file) : reads_deltas(file);
}

/* ---- Parts ---- */

/* The first record at or behind a byte of the file. */
static struct tv_mt_place_in_file find_place(const struct tv_mt_file *file, uint64_t offset,
                                             bool fast)
{
    size_t low = 0, high = file->unit_count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        const struct tv_mt_unit *unit = &file->units[middle];
        if (unit->offset + unit->size <= offset)
            low = middle + 1;
        else
            high = middle;
    }
    struct tv_mt_place_in_file place = {.unit = low};
    if (low == file->unit_count || offset <= file->units[low].offset)
        return place;
    uint64_t inside = offset - file->units[low].offset, size = file->record_size;
    if (fast)
        place.done = (inside + size - 1) / size * size;
    if (!fast || place.done >= file->units[low].size)
        place = (struct tv_mt_place_in_file){.unit = low + 1};
    return place;
}

static uint64_t part_start(const struct tv_mt_file *file, const struct tv_read_options *options,
                           unsigned index, unsigned count)
{
    if (options->part_starts)
        return options->part_starts[index];
    const struct tv_mt_unit *first = &file->units[0], *last = &file->units[file->unit_count - 1];
    uint64_t size = last->offset + last->size - first->offset;
    return first->offset + size / count * index + size % count * index / count;
}

static void place_parts(struct attempt *attempt, const struct tv_read_options *options)
{
    const struct tv_mt_file *file = attempt->delivery.file;
    unsigned count = attempt->delivery.part_count;
    struct tv_mt_place_in_file end = {.unit = file->unit_count};
    for (unsigned i = count; i > 0; i--) {
        struct tv_mt_part *part = &attempt->parts[i - 1];
        part->end = end;
        if (i > 1)
            part->start =
                find_place(file, part_start(file, options, i - 1, count), attempt->delivery.fast);
        end = part->start;
    }
}

static void begin_attempt(struct attempt *attempt, struct tv_mt_file *file, struct tv_sink *sink,
                          const struct tv_read_options *options, unsigned count)
{
    *attempt = (struct attempt){
        .delivery = {.file = file, .sink = sink, .part_count = count, .writes = sink->ops->writes},
        .parts = tv_alloc(count, sizeof *attempt->parts),
        .thread_count = file->head->thread_count - file->first_thread,
    };
    attempt->delivery.fast = file->layout == TV_MT_FIXED && reads_fast(file);
    attempt->delivery.deltas = reads_deltas(file);
    if (file->progress->sketch)
        attempt->delivery.sketched =
            tv_alloc(attempt->thread_count, sizeof *attempt->delivery.sketched);
    tv_mt_frames_init(&attempt->delivery.frames, file);
    for (unsigned i = 0; i < count; i++) {
        attempt->parts[i].delivery = &attempt->delivery;
        attempt->parts[i].index = i;
        attempt->parts[i].spans = tv_alloc(attempt->thread_count, sizeof *attempt->parts[i].spans);
    }
    place_parts(attempt, options);
    sink->ops->begin(sink, file->head, file->input, count);
}

static void end_attempt(struct attempt *attempt)
{
    for (unsigned i = 0; i < attempt->delivery.part_count; i++) {
        tv_free(attempt->parts[i].spans);
        tv_diagnostics_clear(&attempt->parts[i].diagnostics);
    }
    tv_free(attempt->parts);
    tv_free(attempt->delivery.sketched);
    tv_mt_frames_release(&attempt->delivery.frames);
}

/* ---- Passes ---- */

static void read_part(void *context, unsigned index)
{
    struct attempt *attempt = context;
    tv_mt_part_read(&attempt->parts[index]);
}

static void forget_pass(struct attempt *attempt)
{
    for (unsigned i = 0; i < attempt->delivery.part_count; i++) {
        struct tv_mt_part *part = &attempt->parts[i], old = *part;
        for (uint32_t thread = 0; thread < attempt->thread_count; thread++)
            part->spans[thread] = (struct tv_mt_span){0};
        tv_diagnostics_clear(&part->diagnostics);
        *part = (struct tv_mt_part){
            .delivery = old.delivery,
            .index = i,
            .start = old.start,
            .end = old.end,
            .spans = old.spans,
        };
    }
}

/* Reads all parts once. */
static enum tv_status run_pass(struct attempt *attempt, unsigned pass, enum outcome *outcome,
                               struct tv_error *err)
{
    struct tv_mt_delivery *delivery = &attempt->delivery;
    *outcome = OUTCOME_DONE;
    delivery->pass = pass;
    forget_pass(attempt);
    tv_progress_join(delivery->file->progress, false);
    tv_workers_run(delivery->part_count, read_part, attempt);
    for (unsigned i = 0; i < delivery->part_count; i++) {
        const struct tv_mt_part *part = &attempt->parts[i];
        if (part->status != TV_OK) {
            *err = part->error;
            return part->status;
        }
        if (part->stop == TV_MT_STOP_UNLISTED)
            *outcome = OUTCOME_UNLISTED;
        else if (part->stop == TV_MT_STOP_WRAPS && *outcome == OUTCOME_DONE)
            *outcome = OUTCOME_WRAPS;
        else if (part->stop == TV_MT_STOP_ODD && *outcome == OUTCOME_DONE)
            *outcome = OUTCOME_ODD;
    }
    return TV_OK;
}

/* What the meeting of a thread's earlier records and its first ones in a part says. */
static enum outcome judge_span(const struct tv_mt_file *file, const struct tv_mt_span *earlier,
                               const struct tv_mt_span *span, bool has_before, int64_t before)
{
    bool known = file->wraps != TV_MT_WRAPS_UNKNOWN || file->layout != TV_MT_FIXED;
    if (!earlier->seen) {
        bool late = has_before && before - span->first_wall > TV_MT_WRAP / 2;
        return late && !known ? OUTCOME_WRAPS : OUTCOME_DONE;
    }
    int64_t wall = earlier->last_wall - span->first_wall;
    int64_t cpu = earlier->last_cpu - span->first_cpu;
    if (!known && (wall > TV_MT_WRAP_SLACK || cpu > TV_MT_WRAP_SLACK))
        return OUTCOME_WRAPS;
    if (wall <= 0 && cpu <= 0)
        return OUTCOME_DONE;
    return file->starts_unknown ? OUTCOME_ODD : OUTCOME_SERIAL;
}

/* Looks where the parts meet.  `threads` collects each thread's last times. */
static enum outcome judge_seams(const struct attempt *attempt, struct tv_mt_span *threads)
{
    const struct tv_mt_file *file = attempt->delivery.file;
    enum outcome worst = OUTCOME_DONE;
    const struct tv_mt_part *previous = NULL;
    for (unsigned i = 0; i < attempt->delivery.part_count; i++) {
        const struct tv_mt_part *part = &attempt->parts[i];
        for (uint32_t t = 0; t < attempt->thread_count; t++) {
            const struct tv_mt_span *span = &part->spans[t];
            if (!span->seen)
                continue;
            bool has_before = span->has_before || previous != NULL;
            int64_t before = span->has_before ? span->before : previous ? previous->last_wall : 0;
            enum outcome outcome = judge_span(file, &threads[t], span, has_before, before);
            if (outcome == OUTCOME_WRAPS || worst == OUTCOME_DONE)
                worst = outcome;
            threads[t] = *span;
        }
        if (part->has_events)
            previous = part;
    }
    return worst;
}

/* What the head's input says of its events. */
static void settle_input(const struct attempt *attempt, const struct tv_mt_span *threads)
{
    struct tv_input *input = tv_mt_input(attempt->delivery.file);
    input->records = input->unrolls = 0;
    input->last_wall = input->last_cpu = 0;
    for (unsigned i = 0; i < attempt->delivery.part_count; i++) {
        input->records += attempt->parts[i].records;
        input->unrolls += attempt->parts[i].unrolls;
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

/* The parts' diagnostics count once, when the parts stand. */
static void settle_diagnostics(const struct attempt *attempt)
{
    struct tv_mt_file *file = attempt->delivery.file;
    int64_t announced = tv_mt_input(file)->announced;
    uint64_t found = 0;
    for (unsigned i = 0; i < attempt->delivery.part_count; i++) {
        const struct tv_mt_part *part = &attempt->parts[i];
        found += part->records + part->diagnostics.kinds[TV_DIAGNOSTIC_BAD_ACTION].count;
        tv_diagnostics_merge(&file->head->diagnostics, &part->diagnostics);
    }
    if (announced >= 0 && (uint64_t)announced != found)
        tv_mt_warn(file, TV_DIAGNOSTIC_COUNT_MISMATCH, TV_NO_OFFSET);
}

static enum outcome splice(struct attempt *attempt, unsigned pass)
{
    struct tv_sink *sink = attempt->delivery.sink;
    tv_progress_join(attempt->delivery.file->progress, true);
    enum tv_stitch_result splice = sink->ops->splice(sink, pass);
    return splice == TV_STITCH_SERIAL ? OUTCOME_SERIAL : OUTCOME_DONE;
}

/* The sink fits the first pass's parts together: they stand, or all is read again. */
static enum outcome splice_first(struct attempt *attempt)
{
    struct tv_mt_span *threads = tv_alloc(attempt->thread_count, sizeof *threads);
    enum outcome outcome = judge_seams(attempt, threads);
    if (outcome == OUTCOME_DONE) {
        settle_input(attempt, threads);
        outcome = splice(attempt, 0);
    }
    if (outcome == OUTCOME_DONE && !attempt->delivery.file->walk)
        settle_diagnostics(attempt);
    tv_free(threads);
    return outcome;
}

static enum tv_status run_passes(struct attempt *attempt, enum outcome *outcome,
                                 struct tv_error *err)
{
    enum tv_status status = run_pass(attempt, 0, outcome, err);
    if (status != TV_OK || *outcome != OUTCOME_DONE)
        return status;
    *outcome = splice_first(attempt);
    for (unsigned pass = 1; pass < attempt->delivery.sink->ops->passes; pass++) {
        if (*outcome != OUTCOME_DONE)
            return TV_OK;
        status = run_pass(attempt, pass, outcome, err);
        if (status != TV_OK)
            return status;
        *outcome = splice(attempt, pass);
    }
    return TV_OK;
}

/* ---- Attempts ---- */

static unsigned choose_parts(const struct tv_mt_file *file, const struct tv_sink *sink,
                             const struct tv_read_options *options)
{
    if (sink->ops->writes || file->switch_count > 0 || file->unit_count == 0)
        return 1;
    if (options->parts > 0)
        return options->parts < MOST_PARTS ? options->parts : MOST_PARTS;
    uint64_t worth = tv_mt_file_record_bytes(file) / SMALLEST_PART + 1;
    unsigned available = tv_workers_available();
    return worth < available ? (unsigned)worth : available;
}

/* Whether a sink that writes begins before all records were looked over. */
static bool writes_at_once(const struct tv_mt_file *file, const struct tv_sink *sink,
                           const struct tv_read_options *options)
{
    bool is_long = tv_mt_file_record_bytes(file) > TV_MT_SHORT_BYTES;
    return sink->ops->writes && options->ahead != TV_AHEAD_ALL &&
           (options->ahead == TV_AHEAD_LISTED || is_long || file->walk);
}

static enum tv_status walk_rest(struct tv_mt_file *file, struct tv_error *err)
{
    return file->walk ? file->walk->go_on(file, UINT64_MAX, err) : TV_OK;
}

static enum tv_status find_ids(struct tv_mt_file *file, struct tv_error *err)
{
    return file->scanned ? TV_OK : tv_mt_survey_ids(file, err);
}

/* Of blocks that are read plainly. */
static enum tv_status find_starts(struct tv_mt_file *file, struct tv_error *err)
{
    return reads_quickly(file) ? TV_OK : tv_mt_blocks_find_starts(file, err);
}

/* What must be known before the first attempt. */
static enum tv_status look_ahead(struct tv_mt_file *file, bool writes, bool at_once,
                                 struct tv_error *err)
{
    bool fixed = file->layout == TV_MT_FIXED;
    bool long_enough = !at_once && tv_mt_input(file)->elapsed_ns / 1000 >= TV_MT_WRAP;
    bool plain = (writes && !at_once) || !reads_fast(file);
    enum tv_status status = plain ? walk_rest(file, err) : TV_OK;
    if (status == TV_OK)
        status = find_starts(file, err);
    /* No sink that writes asks for it. */
    if (status == TV_OK && !at_once)
        status = tv_mt_survey_sampling(file, err);
    if (status == TV_OK && fixed && (plain || long_enough))
        status = tv_mt_survey_wraps(file, err);
    if (status == TV_OK && (plain || !reads_quickly(file)))
        status = find_ids(file, err);
    return status;
}

/* Read from another start, blocks may be those of a sampled trace, or no longer. */
static enum tv_status learn_starts(struct tv_mt_file *file, struct tv_error *err)
{
    enum tv_status status = tv_mt_blocks_find_starts(file, err);
    return status == TV_OK ? tv_mt_survey_sampling(file, err) : status;
}

/* A block without a whole record may be of a thread that no record is of. */
static void note_odd(struct tv_mt_file *file, enum outcome outcome)
{
    file->odd |= outcome == OUTCOME_ODD || (outcome == OUTCOME_UNLISTED && file->scanned);
}

/* What the records themselves tell, of a file that was walked to its end. */
static enum tv_status look_over(struct tv_mt_file *file, enum outcome outcome, struct tv_error *err)
{
    bool stopped = outcome == OUTCOME_UNLISTED || outcome == OUTCOME_ODD;
    bool may_wrap =
        file->layout == TV_MT_FIXED && file->switch_count > 0 && file->wraps == TV_MT_WRAPS_UNKNOWN;
    enum tv_status status = TV_OK;
    if (outcome == OUTCOME_WRAPS || may_wrap)
        status = tv_mt_survey_wraps(file, err);
    if (status == TV_OK)
        status = find_starts(file, err);
    if (status == TV_OK && (stopped || !reads_fast(file)))
        status = find_ids(file, err);
    return status;
}

/* Finds out what the attempt lacked. */
static enum tv_status learn(struct tv_mt_file *file, enum outcome outcome, unsigned *parts,
                            struct tv_error *err)
{
    bool stopped = outcome == OUTCOME_UNLISTED || outcome == OUTCOME_ODD;
    bool from_zeros = file->starts_unknown;
    tv_mt_end_open(file);
    enum tv_status status = walk_rest(file, err);
    if (status == TV_OK && from_zeros && stopped)
        return learn_starts(file, err);
    note_odd(file, outcome);
    if (status == TV_OK)
        status = look_over(file, outcome, err);
    if (outcome == OUTCOME_SERIAL || !reads_fast(file))
        *parts = 1;
    return status;
}

/* As many bytes again as were handed on: what is gone over twice is never more than the whole.
 * With ids that mean something else from there on, all is learnt that there is to know. */
static enum tv_status walk_on(struct tv_mt_file *file, struct tv_error *err)
{
    unsigned parts = 1;
    uint64_t bytes = tv_mt_file_record_bytes(file);
    enum tv_status status =
        file->walk->go_on(file, bytes > TV_MT_SHORT_BYTES ? bytes : TV_MT_SHORT_BYTES, err);
    if (status == TV_OK && !reads_fast(file))
        status = learn(file, OUTCOME_DONE, &parts, err);
    return status;
}

enum tv_status tv_mt_deliver(struct tv_mt_file *file, struct tv_sink *sink,
                             const struct tv_read_options *options, struct tv_error *err)
{
    enum outcome outcome = OUTCOME_DONE;
    bool at_once = writes_at_once(file, sink, options), again = true;
    file->odd |= sink->ops->writes && !at_once; /* nothing may be found out on the way */
    enum tv_status status = look_ahead(file, sink->ops->writes, at_once, err);
    uint64_t had = 0; /* events of earlier attempts, for a sink that writes */
    unsigned parts = choose_parts(file, sink, options);
    if (!reads_fast(file))
        parts = 1;
    while (status == TV_OK && again) {
        struct attempt attempt;
        for (unsigned i = 0; i < sink->ops->passes; i++)
            tv_mt_file_plan_pass(file);
        begin_attempt(&attempt, file, sink, options, parts);
        attempt.delivery.had = had;
        status = run_passes(&attempt, &outcome, err);
        if (sink->ops->writes && attempt.parts[0].records > had)
            had = attempt.parts[0].records;
        end_attempt(&attempt);
        again = outcome != OUTCOME_DONE || file->walk;
        if (status == TV_OK && again)
            status =
                outcome == OUTCOME_DONE ? walk_on(file, err) : learn(file, outcome, &parts, err);
    }
    if (status == TV_OK && at_once)
        status = tv_mt_survey_sampling(file, err);
    if (status == TV_OK)
        sink->ops->end(sink);
    return status;
}
