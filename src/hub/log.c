/* SPDX-License-Identifier: Apache-2.0 */
#include "hub/log.h"

#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/bytes.h"
#include "hub/iso_time.h"

static const char *const level_names[] = {"error", "warning", "info", "debug"};

/* Whether logfmt needs no quotes around it. */
static bool is_plain(const char *value)
{
    for (const char *c = value; *c != '\0'; c++)
        if (*c <= ' ' || *c > '~' || *c == '"' || *c == '=' || *c == '\\')
            return false;
    return value[0] != '\0';
}

static void add_name(struct tv_log_line *line, const char *name)
{
    if (!line->log->json)
        tv_out_format(&line->out, "%s%s=", line->out.length > 0 ? " " : "", name);
    else
        tv_out_format(&line->out, "%s\"%s\":", line->out.length > 0 ? "," : "{", name);
}

void tv_log_text(struct tv_log_line *line, const char *name, const char *value)
{
    if (!line->wanted || value == NULL)
        return;
    add_name(line, name);
    if (!line->log->json && is_plain(value))
        tv_out_text(&line->out, value);
    else
        tv_out_json(&line->out, tv_bytes_of(value));
}

void tv_log_number(struct tv_log_line *line, const char *name, uint64_t value)
{
    if (!line->wanted)
        return;
    add_name(line, name);
    tv_out_u64(&line->out, value);
}

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
        /* Nobody is left to be told when that fails. */
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
