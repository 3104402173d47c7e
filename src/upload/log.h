/* SPDX-License-Identifier: Apache-2.0 */
/*
 * log.h - a log with one line for each event, for people (logfmt: time=... level=info
 * event=upload.done bytes=12) or for programs (JSON); and times as text.
 *
 *     struct tv_log_line line;
 *     tv_log_begin(&line, log, TV_LOG_INFO, "upload.done");
 *     tv_log_text(&line, "name", name);
 *     tv_log_number(&line, "bytes", bytes);
 *     tv_log_end(&line);
 *
 * A line is written by one system call.  Values are quoted, so text from clients can neither end a
 * line nor forge another.  Any thread may log.
 */
#ifndef TV_UPLOAD_LOG_H
#define TV_UPLOAD_LOG_H

#include "base/error.h"
#include "base/out.h"
#include "base/types.h"

enum tv_log_level {
    TV_LOG_ERROR,
    TV_LOG_WARNING,
    TV_LOG_INFO,
    TV_LOG_DEBUG, /* every request */
};

struct tv_log {
    int fd;
    bool json;
    enum tv_log_level level; /* lines of higher levels are dropped */
};

/* A line in the making, from tv_log_begin to tv_log_end. */
struct tv_log_line {
    const struct tv_log *log;
    struct tv_out out;
    bool wanted; /* the level is logged */
};

/* Begin a line for this event; members follow, then tv_log_end. */
void tv_log_begin(struct tv_log_line *line, const struct tv_log *log, enum tv_log_level level,
                  const char *event);
void tv_log_text(struct tv_log_line *line, const char *name,
                 const char *value); /* NULL: leave the member out */
void tv_log_number(struct tv_log_line *line, const char *name, uint64_t value);
void tv_log_end(struct tv_log_line *line);

/* Log an error in one call: the event, the message, and the id of the trace, or NULL. */
void tv_log_failure(const struct tv_log *log, const char *event, const char *id,
                    const struct tv_error *error);

/* ---- Times as text (RFC 3339), always UTC ---- */

#define TV_ISO_TIME 32u /* size of a buffer for one */

/* Format seconds since 1970 as "2026-11-21T22:04:05Z"; "" if the year does not fit. */
const char *tv_iso_time(int64_t seconds, char text[TV_ISO_TIME]);

/* Parse such a time, or a date alone. */
bool tv_iso_parse(struct tv_bytes text, int64_t *seconds);

#endif
