/* SPDX-License-Identifier: Apache-2.0 */
/* frames_table.h - display frames (display_frames.h) as text, CSV and JSON. */
#ifndef TV_WRITERS_FRAMES_TABLE_H
#define TV_WRITERS_FRAMES_TABLE_H

#include "analysis/findings/display_frames.h"
#include "base/out.h"

enum tv_frames_format {
    TV_FRAMES_TEXT,
    TV_FRAMES_CSV,
    TV_FRAMES_JSON,
};

/* The columns of the text that --columns can name; "summary" are those of the first table. */
#define TV_FRAMES_COLUMNS "start|duration|deadline|late|main|render|summary"

struct tv_frames_options {
    enum tv_frames_format format;
    bool only_late;
    uint64_t limit; /* frames; 0: all */
};

/* Write the figures of all frames and of each process (text and JSON), then the frames.  They must
 * have their causes (tv_display_frames_explain). */
void tv_frames_table_write(struct tv_out *out, const struct tv_display_frames *frames,
                           const struct tv_frames_options *options);

/* Write what a deadline is from, as a sentence. */
void tv_display_interval_sentence(struct tv_out *out, const struct tv_trace_info *head,
                                  const struct tv_display_interval *interval);

/* Return "default", "argument", "vsync", "timeline" or "stated". */
const char *tv_deadline_source_name(enum tv_deadline_source source);

/* Write the name of the slice that stands for a frame: that of the call, or "frame" and its token.
 */
void tv_display_frame_name(struct tv_out *out, const struct tv_trace_info *head, uint32_t frame);

#endif
