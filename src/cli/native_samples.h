/* SPDX-License-Identifier: Apache-2.0 */
/*
 * native_samples.h - names and lines for the samples of a native program, after the fact.
 */
#ifndef TV_CLI_NATIVE_SAMPLES_H
#define TV_CLI_NATIVE_SAMPLES_H

#include "base/error.h"
#include "recorder/samples/samples.h"

/* Reads hprof text as Android has it, as libtraceview-record writes it with
 * TRACEVIEW_RECORD_ADDRESSES, gives its addresses functions and lines, counts stacks that have
 * become the same together, and writes the file anew in the form that is wanted.  A file without
 * samples is written and an error. */
enum tv_status tv_native_samples_resolve(const char *path, enum tv_samples_form form,
                                         struct tv_error *err) TV_MUST_CHECK;

#endif
