/* SPDX-License-Identifier: Apache-2.0 */
/*
 * piece.h - a selection of a trace as a trace of its own: an Android method trace, or Trace Event
 * JSON.
 *
 * What is cut to a range begins and ends at its ends (docs/decisions/0009-a-piece-is-closed.md).
 */
#ifndef TV_WRITERS_PIECE_H
#define TV_WRITERS_PIECE_H

#include "analysis/subset/subset.h"
#include "writers/disguise.h"
#include "writers/rewrite.h"
#include "writers/trace_file.h"

struct tv_piece_losses {
    struct tv_trace_losses file;     /* of a method trace */
    struct tv_rewrite_losses events; /* of JSON */
    uint64_t flows;                  /* with one end in the part: left out */
};

/* A part that is made to be written. */
struct tv_piece {
    const struct tv_trace *trace;
    const struct tv_crop *cut;
    struct tv_trace *made;                      /* NULL: it is the whole trace */
    const struct tv_disguise_options *disguise; /* NULL: it is written as it is */
    const struct tv_event_limit *limit;         /* of JSON; NULL: all of its events */
    bool tried, fits; /* once tried: whether its times fit in a method trace */
};

/* Makes it, to be released.  The trace and the cut must live as long. */
void tv_piece_make(struct tv_piece *piece, const struct tv_trace *trace, const struct tv_crop *cut);
void tv_piece_release(struct tv_piece *piece);

/* TV_ERR_USAGE: something was selected, and nothing of the trace is in it, or no call, which is all
 * that a method trace (`file`) has; or its times do not fit in one. */
enum tv_status tv_piece_check(struct tv_piece *piece, bool file,
                              struct tv_error *err) TV_MUST_CHECK;

/* Whether it is best written as a method trace: it came from one, and its times fit in one.  Where
 * a cut leaves more than 70 minutes between two records they do not: the clocks of every version
 * have 32 bits of microseconds, and readers take a clock that goes back for one that wrapped once.
 */
bool tv_piece_is_file(struct tv_piece *piece);

/* Slices that are in it. */
uint64_t tv_piece_slices(const struct tv_piece *piece);

/* Whether a trace has calls of threads, which is all that a method trace can hold. */
bool tv_piece_can_be_file(const struct tv_trace *trace);

/* The version of method trace that holds what the trace does: that of its input, where that is one.
 * *cpu: of its clocks the CPU clock is kept. */
enum tv_trace_target tv_piece_target(const struct tv_trace *trace, bool *cpu);

/* As tv_trace_file_write and tv_rewrite, of a piece that was checked. */
enum tv_status tv_piece_write_file(const struct tv_piece *piece, struct tv_out *out,
                                   struct tv_piece_losses *losses,
                                   struct tv_error *err) TV_MUST_CHECK;
enum tv_status tv_piece_write_events(const struct tv_piece *piece, struct tv_out *out,
                                     struct tv_piece_losses *losses,
                                     struct tv_error *err) TV_MUST_CHECK;

/* The one or the other: a method trace if `file`. */
enum tv_status tv_piece_write(const struct tv_piece *piece, bool file, struct tv_out *out,
                              struct tv_piece_losses *losses, struct tv_error *err) TV_MUST_CHECK;

#endif
