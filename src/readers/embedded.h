/* SPDX-License-Identifier: Apache-2.0 */
/*
 * embedded.h - traces of another format that stand as text inside a trace.  Each becomes an input
 * of its own, on the machine of the others.
 */
#ifndef TV_READERS_EMBEDDED_H
#define TV_READERS_EMBEDDED_H

#include "readers/reader.h"

/* Open a copy of a text as a source.  The copy ends with a line end: the text is whole, and so is
 * its last line. */
struct tv_source *tv_embedded_open(struct tv_bytes text, const char *name);

/* Read a source with the reader that knows it, and keep it for the trace that is being built.
 * Takes the source over.  Of the options, only those of the outer file that hold for any count.  An
 * error names the source. */
enum tv_status tv_embedded_build(struct tv_source *source, struct tv_builder *builder,
                                 struct tv_trace *trace, const struct tv_read_options *outer,
                                 struct tv_error *err) TV_MUST_CHECK;

#endif
