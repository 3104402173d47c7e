/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fleet_changes.c - the change points of the upload server's fleet (fleet.h).
 *
 *     `traceview fleet changes` --> JSON --> points that are not in FOLDER/served.changes --> log
 *                                    |                             ^------ their keys ------'
 *                                    '--> fleet_webhook.c
 *
 * The file keeps a restart from reporting a point again.  A key is a hash of method and version.
 */
#include <cjson/cJSON.h>
#include <fcntl.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <unistd.h>

#include "base/bytes.h"
#include "base/file.h"
#include "base/hash.h"
#include "base/map.h"
#include "base/memory.h"
#include "upload/fleet.h"
#include "upload/internal.h"
#include "upload/log.h"

#define LOOK_SECONDS 120u
#define LOOK_MEMORY "512M"
#define LARGEST_ANSWER ((size_t)16 << 20)
#define KEY_DIGITS 16

/* ---- Lists of keys: one of 16 hexadecimal digits on each line ---- */

bool tv_fleet_find_list(const char *folder, const char *name, char path[PATH_MAX])
{
    return (size_t)snprintf(path, PATH_MAX, "%s/%s", folder, name) < PATH_MAX;
}

/* A line that was cut off is no key. */
void tv_fleet_read_list(const char *path, struct tv_map *keys)
{
    char *text = NULL;
    size_t length;
    struct tv_error err = {0};
    struct tv_bytes rest, line;
    if (tv_file_read_text(path, TV_FLEET_LARGEST_LIST, &text, &length, &err) != TV_OK)
        return;
    rest = (struct tv_bytes){(const uint8_t *)text, length};
    for (bool more = rest.length > 0; more;) {
        uint64_t key;
        more = tv_bytes_split(&rest, '\n', &line);
        if (line.length == KEY_DIGITS && tv_parse_hex(line, &key))
            tv_map_set(keys, key, 1);
    }
    tv_free(text);
}

/* If the keys cannot be written, the points are reported again after a restart. */
void tv_fleet_append_list(const char *path, const struct tv_out *keys)
{
    int fd = open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (fd >= 0) {
        (void)!tv_file_write_fully(fd, keys->buffer, keys->length);
        close(fd);
    }
}

uint64_t tv_fleet_point_key(const struct cJSON *point)
{
    const char *method = cJSON_GetStringValue(cJSON_GetObjectItem(point, "method")),
               *version = cJSON_GetStringValue(cJSON_GetObjectItem(point, "version"));
    return tv_checksum(tv_bytes_of(method), tv_checksum(tv_bytes_of(version), 0));
}

/* ---- Reporting ---- */

/* Log a change point, unless it was logged before. */
static void points_report(struct tv_fleet_points *points, const struct tv_log *log,
                          const cJSON *point, struct tv_out *keys)
{
    const char *method = cJSON_GetStringValue(cJSON_GetObjectItem(point, "method")),
               *version = cJSON_GetStringValue(cJSON_GetObjectItem(point, "version"));
    double change = cJSON_GetNumberValue(cJSON_GetObjectItem(point, "change"));
    struct tv_log_line line;
    char percent[32];
    if (!method || !version || isnan(change))
        return;
    tv_fleet_webhook_offer(points->webhook, point);
    uint64_t key = tv_fleet_point_key(point);
    if (tv_map_find(&points->reported, key) != TV_NONE)
        return;
    tv_map_set(&points->reported, key, 1);
    tv_out_format(keys, "%016" PRIx64 "\n", key);
    points->found++;
    snprintf(percent, sizeof percent, "%+.1f %%", 100 * change);
    tv_log_begin(&line, log, TV_LOG_WARNING, "fleet.change");
    tv_log_text(&line, "method", method);
    tv_log_text(&line, "version", version);
    tv_log_text(&line, "text", percent);
    tv_log_end(&line);
}

static void points_take_answer(struct tv_fleet_points *points, const struct tv_log *log,
                               const struct tv_out *answer)
{
    struct tv_out keys;
    const cJSON *point;
    char path[PATH_MAX];
    cJSON *json = cJSON_ParseWithLength((const char *)answer->buffer, answer->length);
    if (!cJSON_IsArray(json)) {
        cJSON_Delete(json);
        return;
    }
    tv_out_init_memory(&keys);
    tv_out_char(&keys, '\n'); /* ends a line that was cut off */
    points->count = 0;
    cJSON_ArrayForEach(point, json)
    {
        points->count++;
        points_report(points, log, point, &keys);
    }
    if (keys.length > 1 && tv_fleet_find_list(points->folder, "served.changes", path))
        tv_fleet_append_list(path, &keys);
    tv_fleet_webhook_wake(points->webhook);
    tv_out_release(&keys);
    cJSON_Delete(json);
}

void tv_fleet_points_look(struct tv_fleet_points *points, const struct tv_log *log,
                          const atomic_bool *stop)
{
    const char *const arguments[] = {"fleet",    "changes", "--to",         points->folder, "-q",
                                     "--format", "json",    "--max-memory", LOOK_MEMORY,    NULL};
    const struct tv_fleet_process process = {.arguments = arguments,
                                             .most_bytes = LARGEST_ANSWER,
                                             .seconds = LOOK_SECONDS,
                                             .stop = stop};
    struct tv_fleet_result result;
    struct tv_out answer;
    char path[PATH_MAX];
    if (!points->is_read && tv_fleet_find_list(points->folder, "served.changes", path))
        tv_fleet_read_list(path, &points->reported);
    points->is_read = true;
    tv_out_init_memory(&answer);
    tv_fleet_process_run(&process, &answer, &result);
    /* Code 2: there are too few versions.  Code 1: damaged files were left out. */
    if (result.end == TV_FLEET_EXITED && result.code <= 1)
        points_take_answer(points, log, &answer);
    tv_out_release(&answer);
}
