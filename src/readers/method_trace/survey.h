/* SPDX-License-Identifier: Apache-2.0 */
/*
 * survey.h - what only the records can tell, found by going over them once, in order.
 */
#ifndef TV_READERS_METHOD_TRACE_SURVEY_H
#define TV_READERS_METHOD_TRACE_SURVEY_H

#include "base/error.h"
#include "readers/method_trace/file.h"

/* Adds the threads and methods that records use and the file does not list, in the order of the
 * file. */
enum tv_status tv_mt_survey_ids(struct tv_mt_file *file, struct tv_error *err) TV_MUST_CHECK;

/* Decides how 32-bit times wrap (file->wraps). */
enum tv_status tv_mt_survey_wraps(struct tv_mt_file *file, struct tv_error *err) TV_MUST_CHECK;

/* Tells whether the trace was sampled, and its interval (the head's input): as the file states it,
 * or as the records look. */
enum tv_status tv_mt_survey_sampling(struct tv_mt_file *file, struct tv_error *err) TV_MUST_CHECK;

/* The clock of records with one time, when the file does not say: a thread's CPU time begins with
 * 0. */
enum tv_status tv_mt_survey_clock(struct tv_mt_file *file, unsigned *clock,
                                  struct tv_error *err) TV_MUST_CHECK;

#endif
