/* SPDX-License-Identifier: Apache-2.0 */
/*
 * deliver.h - hands the records of a walked file to a sink, in parts read side by side.
 *
 * Parts need not know what came before them, but for two things that are looked at where parts
 * meet: whether times go back there, and whether a 32-bit clock may have wrapped.  If so all is
 * read again as one part.
 */
#ifndef TV_READERS_METHOD_TRACE_DELIVER_H
#define TV_READERS_METHOD_TRACE_DELIVER_H

#include "readers/method_trace/file.h"
#include "readers/reader.h"

/* The walk is done, the head complete but for unlisted ids, which are added when met. */
enum tv_status tv_mt_deliver(struct tv_mt_file *file, struct tv_sink *sink,
                             const struct tv_read_options *options,
                             struct tv_error *err) TV_MUST_CHECK;

#endif
