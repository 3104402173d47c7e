/* SPDX-License-Identifier: Apache-2.0 */
/*
 * log.c - log lines in logfmt or JSON, and times as text.
 *
 *     time=2026-11-29T12:00:00Z level=info event=upload.done trace=4f... client=192.0.2.7
 *     {"time":"2026-11-29T12:00:00Z","level":"info","event":"upload.done",...}
 *
 * A line is built in memory and written with one call, so lines of several
 * threads do not mix.  Texts of clients are quoted and escaped in both forms:
 * none can forge a line of its own.
 */
#include "upload/log.h"

#include <assert.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/bytes.h"

static const char *const level_names[] = {"error", "warning", "info", "debug"};

/* Return true when logfmt needs no quotes around the value. */
static bool log_is_plain(const char *value)
{
    for (const char *c = value; *c != '\0'; c++)
        if (*c <= ' ' || *c > '~' || *c == '"' || *c == '=' || *c == '\\')
            return false;
    return value[0] != '\0';
}

/* Begin a member of the line. */
static void log_add_name(struct tv_log_line *line, const char *name)
{
    assert(line->wanted);
    if (!line->log->json)
        tv_out_format(&line->out, "%s%s=", line->out.length > 0 ? " " : "", name);
    else
        tv_out_format(&line->out, "%s\"%s\":", line->out.length > 0 ? "," : "{", name);
}

void tv_log_text(struct tv_log_line *line, const char *name, const char *value)
{
    assert(name[0] != '\0');
    if (!line->wanted || value == NULL)
        return;
    log_add_name(line, name);
    if (!line->log->json && log_is_plain(value))
        tv_out_text(&line->out, value);
    else
        tv_out_json(&line->out, tv_bytes_of(value));
}

void tv_log_number(struct tv_log_line *line, const char *name, uint64_t value)
{
    if (!line->wanted)
        return;
    log_add_name(line, name);
    tv_out_u64(&line->out, value);
}

/* The functions do nothing for a line that nobody wants. */
void tv_log_begin(struct tv_log_line *line, const struct tv_log *log, enum tv_log_level level,
                  const char *event)
{
    char when[TV_ISO_TIME];
    *line = (struct tv_log_line){.log = log, .wanted = level <= log->level};
    tv_out_init_memory(&line->out);
    tv_log_text(line, "time", tv_iso_time(time(NULL), when));
    tv_log_text(line, "level", level_names[level]);
    tv_log_text(line, "event", event);
}

void tv_log_end(struct tv_log_line *line)
{
    if (line->wanted) {
        tv_out_text(&line->out, line->log->json ? "}\n" : "\n");
        /* if logging fails there is nobody to tell */
        ssize_t written = write(line->log->fd, line->out.buffer, line->out.length);
        (void)written;
    }
    tv_out_release(&line->out);
}

void tv_log_failure(const struct tv_log *log, const char *event, const char *id,
                    const struct tv_error *error)
{
    struct tv_log_line line;
    char text[512];
    tv_log_begin(&line, log, TV_LOG_ERROR, event);
    tv_log_text(&line, "trace", id);
    tv_log_text(&line, "error", tv_error_text(error, text, sizeof text));
    tv_log_end(&line);
}

const char *tv_iso_time(int64_t seconds, char text[TV_ISO_TIME])
{
    struct tm parts;
    time_t time = (time_t)seconds;
    if (gmtime_r(&time, &parts) == NULL ||
        strftime(text, TV_ISO_TIME, "%Y-%m-%dT%H:%M:%SZ", &parts) == 0)
        text[0] = '\0';
    return text;
}

/* Take that many digits, and the character after them unless `after` is NUL. */
static bool iso_take_number(struct tv_bytes *text, size_t digits, char behind, int *number)
{
    uint64_t value;
    size_t length = digits + (behind != '\0');
    if (text->length < length || !tv_parse_u64((struct tv_bytes){text->data, digits}, &value) ||
        (behind != '\0' && text->data[digits] != (uint8_t)behind))
        return false;
    *number = (int)value;
    text->data += length;
    text->length -= length;
    return true;
}

/* Take "12:34:56Z". */
static bool iso_take_time(struct tv_bytes *text, struct tm *parts)
{
    return iso_take_number(text, 2, ':', &parts->tm_hour) &&
           iso_take_number(text, 2, ':', &parts->tm_min) &&
           iso_take_number(text, 2, 'Z', &parts->tm_sec);
}

static bool iso_is_within(int value, int least, int most)
{
    return value >= least && value <= most;
}

/* The year 2026-02-31 is accepted as the 3rd of March: timegm normalizes days. */
bool tv_iso_parse(struct tv_bytes text, int64_t *seconds)
{
    struct tm parts = {0};
    if (!iso_take_number(&text, 4, '-', &parts.tm_year) ||
        !iso_take_number(&text, 2, '-', &parts.tm_mon))
        return false;
    bool day_alone = text.length == 2;
    if (!iso_take_number(&text, 2, day_alone ? '\0' : 'T', &parts.tm_mday) ||
        (!day_alone && !iso_take_time(&text, &parts)) || text.length > 0)
        return false;
    if (!iso_is_within(parts.tm_mon, 1, 12) || !iso_is_within(parts.tm_mday, 1, 31) ||
        !iso_is_within(parts.tm_hour, 0, 23) || !iso_is_within(parts.tm_min, 0, 59) ||
        !iso_is_within(parts.tm_sec, 0, 60))
        return false;
    parts.tm_year -= 1900;
    parts.tm_mon -= 1;
    *seconds = (int64_t)timegm(&parts);
    return true;
}
