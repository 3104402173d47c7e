/* SPDX-License-Identifier: Apache-2.0 */
/*
 * log.h - one line an event on standard error, for people (logfmt: time=... level=info
 * event=upload.done bytes=12) or for machines (JSON).
 *
 *     struct tv_log_line line;
 *     tv_log_begin(&line, log, TV_LOG_INFO, "upload.done");
 *     tv_log_text(&line, "name", name);
 *     tv_log_number(&line, "bytes", bytes);
 *     tv_log_end(&line);
 *
 * A line leaves in one piece; what clients sent cannot end it, nor begin another.  Any thread.
 */
#ifndef TV_HUB_LOG_H
#define TV_HUB_LOG_H

#include "base/error.h"
#include "base/out.h"
#include "base/types.h"

enum tv_log_level {
    TV_LOG_ERROR,
    TV_LOG_WARNING,
    TV_LOG_INFO,
    TV_LOG_DEBUG, /* each request */
};

struct tv_log {
    int fd;
    bool json;
    enum tv_log_level level; /* what is less grave is left out */
};

/* Begun by tv_log_begin, given back by tv_log_end. */
struct tv_log_line {
    const struct tv_log *log;
    struct tv_out out;
    bool wanted;
};

/* A line of its own for this event; members follow, then its end. */
void tv_log_begin(struct tv_log_line *line, const struct tv_log *log, enum tv_log_level level,
                  const char *event);
void tv_log_text(struct tv_log_line *line, const char *name,
                 const char *value); /* NULL: left out */
void tv_log_number(struct tv_log_line *line, const char *name, uint64_t value);
void tv_log_end(struct tv_log_line *line);

/* A whole line of an error: event, message, and the id of what it is about, or NULL. */
void tv_log_failure(const struct tv_log *log, const char *event, const char *id,
                    const struct tv_error *error);

/*
 * iso_time.h - points in time as people and JSON have them (RFC 3339), always UTC.
 */

#define TV_ISO_TIME 32u /* room for one, with its NUL */

/* "2026-11-21T22:04:05Z" of seconds since 1970. */
const char *tv_iso_time(int64_t seconds, char text[TV_ISO_TIME]);

/* Reads that, or the day alone. */
bool tv_iso_parse(struct tv_bytes text, int64_t *seconds);

#endif
