/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fleet_webhook.c - tells a webhook about the change points of the upload server's fleet (fleet.h).
 *
 *     look --offer--> waiting points --thread--> POST --2xx--> keys in FOLDER/served.webhook
 *                           ^                     |
 *                           '---- later, again ---'
 *
 * A thread of its own sends, because the thread that adds traces must not wait for a foreign
 * server.  The keys of a point are written after the webhook has accepted it, so a server that is
 * killed in between sends it once more: an accepted point is never lost, and twice in that case
 * only.  A point that was refused MAX_TRIES times is left until the next start of the server.
 */
#include <assert.h>
#include <cjson/cJSON.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/map.h"
#include "base/memory.h"
#include "base/workers.h"
#include "upload/internal.h"
#include "upload/log.h"

/* Points in one request: a version that changes everything makes thousands. */
#define MAX_TOGETHER 100
/* Lines of the text for people. */
#define MAX_LINES 10
#define LONGEST_SHOWN 200
/* The pauses are 1, 2, 4, ... seconds: 17 minutes in all. */
#define MAX_TRIES 11u

struct tv_fleet_webhook {
    const struct tv_webhook *target;
    const struct tv_log *log;
    char list[PATH_MAX]; /* FOLDER/served.webhook */
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    atomic_bool ends;
    cJSON *waiting; /* an array of points; under the lock, like all below */
    struct tv_map offered;
    struct tv_fleet_webhook_counts counts;
};

/* ---- The list of points that were sent ---- */

/* Begin the list, unless it exists: with the points that the log had before there was a webhook,
 * which nobody wants to get at once.  The file must exist before the first look, because afterwards
 * nothing tells old points from new ones that could not be sent. */
static enum tv_status webhook_begin_list(const struct tv_fleet_webhook *webhook,
                                         const char *reported, struct tv_error *err)
{
    char part[PATH_MAX + 8], *text = NULL;
    size_t length = 0;
    struct stat info;
    struct tv_error none = {0};
    if (stat(webhook->list, &info) == 0)
        return TV_OK;
    if (tv_file_read_text(reported, TV_FLEET_LARGEST_LIST, &text, &length, &none) != TV_OK)
        text = NULL;
    snprintf(part, sizeof part, "%s.part", webhook->list);
    int fd = open(part, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600);
    bool done = fd >= 0 && (!text || tv_file_write_fully(fd, text, length)) &&
                rename(part, webhook->list) == 0;
    if (fd >= 0)
        close(fd);
    tv_free(text);
    return done ? TV_OK
                : tv_fail(err, TV_ERR_IO, TV_NO_OFFSET, "%s: cannot be written", webhook->list);
}

static void webhook_note_sent(struct tv_fleet_webhook *webhook, const cJSON *points)
{
    struct tv_out keys;
    const cJSON *point;
    tv_out_init_memory(&keys);
    tv_out_char(&keys, '\n'); /* ends a line that was cut off */
    cJSON_ArrayForEach(point, points)
        tv_out_format(&keys, "%016" PRIx64 "\n", tv_fleet_point_key(point));
    tv_fleet_append_list(webhook->list, &keys);
    tv_out_release(&keys);
}

/* ---- The request ---- */

/* Append a name as code.  Chat programs must neither see a mention of people in it, nor the end of
 * the code. */
static void webhook_put_name(struct tv_out *out, const char *name)
{
    size_t length = strlen(name);
    bool is_long = length > LONGEST_SHOWN;
    if (is_long)
        for (length = LONGEST_SHOWN; length > 0 && ((unsigned char)name[length] & 0xc0) == 0x80;)
            length--;
    tv_out_char(out, '`');
    for (size_t i = 0; i < length; i++) {
        if (name[i] == '<' || name[i] == '>')
            tv_out_text(out, name[i] == '<' ? "\u2039" : "\u203a");
        else if (name[i] == '`' || (unsigned char)name[i] < ' ')
            tv_out_char(out, '\'');
        else
            tv_out_char(out, name[i]);
    }
    tv_out_text(out, is_long ? "...`" : "`");
}

static void webhook_put_text(struct tv_out *out, const cJSON *points)
{
    const cJSON *point;
    int count = cJSON_GetArraySize(points), line = 0;
    cJSON_ArrayForEach(point, points)
    {
        double change = cJSON_GetNumberValue(cJSON_GetObjectItem(point, "change"));
        if (line++ == MAX_LINES)
            break;
        webhook_put_name(out, cJSON_GetStringValue(cJSON_GetObjectItem(point, "method")));
        tv_out_format(out, ": own time %+.1f %% since version ", 100 * change);
        webhook_put_name(out, cJSON_GetStringValue(cJSON_GetObjectItem(point, "version")));
        tv_out_char(out, '\n');
    }
    if (count > MAX_LINES)
        tv_out_format(out, "and %d more\n", count - MAX_LINES);
    tv_out_char(out, '\0');
}

/* Write the body of a request.  The caller frees it with cJSON_free. */
static char *webhook_write_body(const cJSON *points)
{
    struct tv_out text;
    cJSON *body = cJSON_CreateObject();
    tv_out_init_memory(&text);
    webhook_put_text(&text, points);
    cJSON_AddStringToObject(body, "event", "fleet.changes");
    cJSON_AddStringToObject(body, "text", (const char *)text.buffer);
    cJSON_AddItemToObject(body, "changes", cJSON_Duplicate(points, true));
    char *written = cJSON_PrintUnformatted(body);
    tv_out_release(&text);
    cJSON_Delete(body);
    if (!written)
        tv_memory_exhausted();
    return written;
}

/* ---- Sending ---- */

static void webhook_log(const struct tv_fleet_webhook *webhook, enum tv_log_level level,
                        const cJSON *points, const char *text)
{
    struct tv_log_line line;
    tv_log_begin(&line, webhook->log, level, "fleet.webhook");
    tv_log_text(&line, "host", webhook->target->host);
    tv_log_number(&line, "changes", (uint64_t)cJSON_GetArraySize(points));
    tv_log_text(&line, "text", text);
    tv_log_end(&line);
}

/* Sleep before another try.  False: the server stops. */
static bool webhook_pause(struct tv_fleet_webhook *webhook, unsigned try)
{
    const struct timespec until = tv_monotonic_deadline(UINT64_C(1000) << try);
    pthread_mutex_lock(&webhook->lock);
    int waited = 0;
    while (!atomic_load(&webhook->ends) && waited == 0)
        waited = pthread_cond_timedwait(&webhook->changed, &webhook->lock, &until);
    pthread_mutex_unlock(&webhook->lock);
    return !atomic_load(&webhook->ends);
}

/* Send points until the webhook accepts them, or MAX_TRIES times. */
static void webhook_send(struct tv_fleet_webhook *webhook, const cJSON *points)
{
    char *body = webhook_write_body(points), text[512];
    const struct tv_bytes bytes = {(const uint8_t *)body, strlen(body)};
    struct tv_error err = {0};
    enum tv_status status = TV_ERR_IO;
    for (unsigned try = 0; try < MAX_TRIES && status != TV_OK; try++) {
        if (try > 0 && !webhook_pause(webhook, try - 1))
            break;
        status = webhook->target->post(webhook->target->context, bytes, &webhook->ends, &err);
        if (try == 0 && status != TV_OK && !atomic_load(&webhook->ends))
            webhook_log(webhook, TV_LOG_WARNING, points, tv_error_text(&err, text, sizeof text));
    }
    cJSON_free(body);
    uint64_t count = (uint64_t)cJSON_GetArraySize(points);
    if (status == TV_OK) {
        webhook_note_sent(webhook, points);
        webhook_log(webhook, TV_LOG_INFO, points, "accepted");
    } else if (!atomic_load(&webhook->ends)) {
        webhook_log(webhook, TV_LOG_ERROR, points,
                    "not accepted; they are sent again after the next start of this server");
    }
    pthread_mutex_lock(&webhook->lock);
    *(status == TV_OK ? &webhook->counts.sent : &webhook->counts.failed) += count;
    pthread_mutex_unlock(&webhook->lock);
}

/* Wait for points, and take some of them.  NULL: the server stops. */
static cJSON *webhook_take(struct tv_fleet_webhook *webhook)
{
    cJSON *points = NULL;
    pthread_mutex_lock(&webhook->lock);
    while (!atomic_load(&webhook->ends) && cJSON_GetArraySize(webhook->waiting) == 0)
        pthread_cond_wait(&webhook->changed, &webhook->lock);
    if (!atomic_load(&webhook->ends))
        points = cJSON_CreateArray();
    for (int i = 0; points && i < MAX_TOGETHER && webhook->waiting->child; i++)
        cJSON_AddItemToArray(points, cJSON_DetachItemFromArray(webhook->waiting, 0));
    pthread_mutex_unlock(&webhook->lock);
    return points;
}

static void *webhook_run(void *context)
{
    struct tv_fleet_webhook *webhook = context;
    cJSON *points;
    while ((points = webhook_take(webhook)) != NULL) {
        webhook_send(webhook, points);
        cJSON_Delete(points);
    }
    return NULL;
}

void tv_fleet_webhook_offer(struct tv_fleet_webhook *webhook, const cJSON *point)
{
    if (!webhook)
        return;
    uint64_t key = tv_fleet_point_key(point);
    pthread_mutex_lock(&webhook->lock);
    if (tv_map_find(&webhook->offered, key) == TV_NONE) {
        tv_map_set(&webhook->offered, key, 1);
        cJSON_AddItemToArray(webhook->waiting, cJSON_Duplicate(point, true));
    }
    pthread_mutex_unlock(&webhook->lock);
}

void tv_fleet_webhook_wake(struct tv_fleet_webhook *webhook)
{
    if (!webhook)
        return;
    pthread_mutex_lock(&webhook->lock);
    pthread_cond_signal(&webhook->changed);
    pthread_mutex_unlock(&webhook->lock);
}

/* ---- Life cycle ---- */

static void webhook_release(struct tv_fleet_webhook *webhook)
{
    cJSON_Delete(webhook->waiting);
    pthread_cond_destroy(&webhook->changed);
    pthread_mutex_destroy(&webhook->lock);
    tv_map_release(&webhook->offered);
    tv_free(webhook);
}

static void webhook_init(struct tv_fleet_webhook *webhook)
{
    pthread_condattr_t attributes;
    atomic_init(&webhook->ends, false);
    pthread_mutex_init(&webhook->lock, NULL);
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(&webhook->changed, &attributes);
    pthread_condattr_destroy(&attributes);
    tv_map_init(&webhook->offered);
    webhook->waiting = cJSON_CreateArray();
}

enum tv_status tv_fleet_webhook_new(const struct tv_webhook *target, const struct tv_log *log,
                                    const char *folder, struct tv_fleet_webhook **webhook,
                                    struct tv_error *err)
{
    char reported[PATH_MAX];
    assert(target->post && target->host);
    struct tv_fleet_webhook *made = tv_alloc(1, sizeof *made);
    made->target = target;
    made->log = log;
    webhook_init(made);
    enum tv_status status = TV_OK;
    if (!tv_fleet_find_list(folder, "served.webhook", made->list) ||
        !tv_fleet_find_list(folder, "served.changes", reported))
        status = tv_fail(err, TV_ERR_USAGE, TV_NO_OFFSET, "--fleet: the name is too long");
    if (status == TV_OK)
        status = webhook_begin_list(made, reported, err);
    if (status == TV_OK) {
        tv_fleet_read_list(made->list, &made->offered);
        if (tv_thread_start(&made->thread, TV_THREAD_STACK, webhook_run, made) != 0)
            status = tv_fail(err, TV_ERR_IO, TV_NO_OFFSET, "cannot start a thread");
    }
    if (status != TV_OK) {
        webhook_release(made);
        return status;
    }
    *webhook = made;
    return TV_OK;
}

void tv_fleet_webhook_free(struct tv_fleet_webhook *webhook)
{
    if (!webhook)
        return;
    pthread_mutex_lock(&webhook->lock);
    atomic_store(&webhook->ends, true);
    pthread_cond_signal(&webhook->changed);
    pthread_mutex_unlock(&webhook->lock);
    pthread_join(webhook->thread, NULL);
    webhook_release(webhook);
}

struct tv_fleet_webhook_counts tv_fleet_webhook_count(struct tv_fleet_webhook *webhook)
{
    pthread_mutex_lock(&webhook->lock);
    struct tv_fleet_webhook_counts counts = webhook->counts;
    pthread_mutex_unlock(&webhook->lock);
    return counts;
}
