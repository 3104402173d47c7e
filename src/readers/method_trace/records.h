/* SPDX-License-Identifier: Apache-2.0 */
/*
 * records.h - the records of a unit, whatever its layout, one chunk after the other.
 *
 * The plain way, for all that is rare or looks at a part of the file only; fast.h is the other.
 */
#ifndef TV_READERS_METHOD_TRACE_RECORDS_H
#define TV_READERS_METHOD_TRACE_RECORDS_H

#include "model/builder/sink.h"
#include "readers/method_trace/file.h"

/* An exit that does not say of what. */
#define TV_MT_NO_ID UINT64_MAX

/* Times of hostile files end here, so that sums and differences of two fit. */
#define TV_MT_TIME_LIMIT ((int64_t)1 << 60)

struct tv_mt_record {
    uint64_t id;
    int64_t wall, cpu; /* as the file has them, 0 where it has none */
    uint64_t offset;
    uint32_t tid;
    uint32_t action; /* never 3 */
};

struct tv_mt_records {
    struct tv_mt_file *file;
    struct tv_diagnostics *diagnostics; /* or NULL */
    struct tv_window window;
    size_t unit;
    uint64_t done; /* bytes of the unit taken */
    struct tv_mt_carry last;
    size_t count;
    struct tv_mt_record records[TV_BATCH_EVENTS];
};

/* What cannot be decoded counts in `diagnostics`, unless that is NULL. */
void tv_mt_records_init(struct tv_mt_records *records, struct tv_mt_file *file,
                        struct tv_diagnostics *diagnostics);
void tv_mt_records_release(struct tv_mt_records *records);

/* Goes to the start of a unit. */
void tv_mt_records_seek(struct tv_mt_records *records, size_t unit);

/* The unit's next records; `count` is 0 when there are no more. */
enum tv_status tv_mt_records_next(struct tv_mt_records *records,
                                  struct tv_error *err) TV_MUST_CHECK;

/* Goes on with the next unit when this one is done; `count` is 0 at the end of the last. */
enum tv_status tv_mt_records_next_of_all(struct tv_mt_records *records,
                                         struct tv_error *err) TV_MUST_CHECK;

/* Counter ticks of a packet file in nanoseconds (or as they stand, when it has no frequency). */
int64_t tv_mt_records_scale(const struct tv_mt_file *file, uint64_t ticks);

/* Adds to the progress; TV_ERR_CANCELLED when somebody asked to stop. */
enum tv_status tv_mt_records_pass(struct tv_mt_file *file, uint64_t bytes, uint64_t count,
                                  struct tv_error *err) TV_MUST_CHECK;

#endif
