/* SPDX-License-Identifier: Apache-2.0 */
/*
 * side_input.h - small texts that stand beside a trace and have no slices of their own: lists of
 * processes, power samples.  Each is an input, read line by line.
 */
#ifndef TV_READERS_SIDE_INPUT_H
#define TV_READERS_SIDE_INPUT_H

#include "model/assembly/assembly.h"
#include "readers/reader.h"
#include "readers/text_lines.h"

struct tv_side_input {
    struct tv_source *source;
    struct tv_assembly *assembly;
    struct tv_trace *trace;
    uint32_t input;
};

/* Adds the input, without events and times until the caller says otherwise. */
void tv_side_input_begin(struct tv_side_input *side, struct tv_source *source,
                         struct tv_builder *builder, const char *format);
void tv_side_input_end(struct tv_side_input *side);

/* Hands on every line. */
enum tv_status tv_side_input_lines(struct tv_side_input *side,
                                   const struct tv_read_options *options,
                                   void (*take)(void *context, const struct tv_text_line *line),
                                   void *context, struct tv_error *err) TV_MUST_CHECK;

#endif
