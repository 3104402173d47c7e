/* SPDX-License-Identifier: Apache-2.0 */
/*
 * trace_formats.h - the formats that `convert` writes: a table with a row for each.
 *
 * A new format needs a writer, a row in trace_formats.c, and its word in TV_TRACE_FORMAT_NAMES.
 */
#ifndef TV_WRITERS_TRACE_TRACE_FORMATS_H
#define TV_WRITERS_TRACE_TRACE_FORMATS_H

#include "analysis/subset/subset.h"
#include "base/error.h"
#include "base/out.h"
#include "model/trace.h"

/* The names of the rows in their order, as --to lists them. */
#define TV_TRACE_FORMAT_NAMES "v1|v2|v3|f2|f3|json|pprof|perfetto|speedscope|firefox|cpuprofile"

/* The part of a trace to write, and its clock. */
struct tv_trace_conversion {
    const struct tv_trace *trace;
    const struct tv_subset *keep;
    bool cpu; /* keep the CPU clock in a format with one clock */
};

struct tv_trace_format {
    const char *name;
    const char *endings[3]; /* endings of file names in this format; NULL: none */
    bool binary;
    bool method_trace; /* of Android: the version says how many clocks it has */
    bool packed;       /* files are compressed with gzip, by the caller of `write` */
    bool profile;      /* it has the samples of some value types, where the trace has samples */
    unsigned variant;  /* of a writer of several formats: enum tv_trace_target or
                        * tv_sample_format */
    /* Write the file, and to `losses` a line for everything that the format cannot hold.
     * TV_ERR_UNSUPPORTED: it can hold nothing of the trace; TV_ERR_LIMIT: not all threads or
     * methods. */
    enum tv_status (*write)(const struct tv_trace_format *format,
                            const struct tv_trace_conversion *conversion, struct tv_out *out,
                            struct tv_out *losses, struct tv_error *err);
};

/* Return a format by its name or by its place in TV_TRACE_FORMAT_NAMES, from 0 on; or NULL. */
const struct tv_trace_format *tv_trace_format_named(const char *name);
const struct tv_trace_format *tv_trace_format_at(size_t place);

/* Return the format that the ending of a file name stands for, the longest one where several fit;
 * or NULL. */
const struct tv_trace_format *tv_trace_format_of_file(const char *path);

#endif
