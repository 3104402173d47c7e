/* SPDX-License-Identifier: Apache-2.0 */
/*
 * reading.h - sources one after the other into one trace, or into one sink.
 */
#ifndef TV_READERS_READING_H
#define TV_READERS_READING_H

#include "readers/reader.h"

/* Where the events of all inputs go. */
struct tv_reading {
    struct tv_head *head;
    struct tv_sink *sink;
    struct tv_builder *builder; /* NULL: to the sink alone */
    struct tv_record_visitor *visitor;   /* of records, where a format has them; or NULL */
};

struct tv_reading_input {
    struct tv_source *source;
    uint32_t machine; /* whose it is, unless its reader knows better */
    tv_ns offset;     /* added to its times */
};

/* Reads the source; an error names it and quotes the place. */
enum tv_status tv_reading_add(const struct tv_reading *to, const struct tv_reading_input *input,
                              const struct tv_read_options *options,
                              struct tv_error *err) TV_MUST_CHECK;

/* Names the source in front of the error, and quotes it. The error's status. */
enum tv_status tv_reading_blame(struct tv_source *source, struct tv_error *err);

#endif
