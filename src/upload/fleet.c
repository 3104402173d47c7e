/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fleet.c - adds the traces of the upload server to its fleet.
 *
 *     reading.c --push--> waiting --> group: traces with equal labels --> `traceview fleet add`
 *                            ^                                             |
 *     store: traces that                                                   '-> FOLDER/served.ids
 *     were read before ------'
 *
 * One thread runs `traceview fleet add` for up to MAX_TOGETHER traces with
 * equal labels at a time.  The child reads the originals in the folder `traces`
 * of the store, so that the URI of a row is the id of the trace.  Then the ids
 * are appended to the file FOLDER/served.ids.
 *
 * A server that is killed between the two adds these traces again after its
 * next start, and `fleet add` skips what the fleet has.  A start also adds
 * traces that were read before the server had a fleet.  A trace that could not
 * be added is tried alone, and again after the next start.
 *
 * When nothing waits, the thread looks for change points, and prepares the
 * answers that the page asks for first.
 */
#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/bytes.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/map.h"
#include "base/memory.h"
#include "base/workers.h"
#include "upload/internal.h"
#include "upload/log.h"

#define MAX_TOGETHER 64u
/* Small batches are joined after so many were written. */
#define COMPACT_AFTER 32u
#define LARGEST_IDS ((size_t)256 << 20)
/* Least time between two looks at the change points, which read the figures of all traces. */
#define LOOK_INTERVAL_MS INT64_C(600000)
#define MIN_MEMORY (UINT64_C(128) << 20)
/* Medians of a large fleet are computed in turns, between which traces are added.  What a turn has
 * written stays; it may be that no turn helps. */
#define MEDIANS_SECONDS 60u
#define MEDIANS_MEMORY "512M"
#define MAX_TURNS 30u

struct tv_fleet_queue {
    struct tv_upload_server *server;
    char folder[PATH_MAX]; /* absolute */
    char traces[PATH_MAX]; /* the folder of the originals */
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    atomic_bool ends;
    atomic_bool interrupts;      /* ends, or traces wait: medians are for another time */
    struct tv_store_id *waiting; /* under the lock, like all below */
    size_t count, room;
    size_t busy; /* traces that were taken out, and are not added yet */
    struct tv_fleet_queue_counts totals;
    bool has_new;                  /* traces were added since the last look at the change points */
    struct tv_map done;            /* of the thread: keys of traces that were added */
    unsigned small_batches;        /* of the thread: since they were joined */
    bool is_prepared;              /* of the thread: answers were prepared since the last look */
    bool has_medians;              /* of the thread: they were computed since then */
    unsigned turns;                /* of the thread: of computing them */
    int64_t look_at;               /* of the thread: time from which on the next look may begin */
    struct tv_fleet_points points; /* of the thread */
    struct tv_fleet_cache *cache;
};

/* Ids are random, so half of one tells traces apart. */
static uint64_t fleet_id_key(const char *id)
{
    char half[17];
    snprintf(half, sizeof half, "%.16s", id);
    return strtoull(half, NULL, 16);
}

/* ---- The list of traces that were added ---- */

/* Write the path of the list; "" if it would be too long. */
static void fleet_write_ids_path(const struct tv_fleet_queue *queue, char path[PATH_MAX])
{
    if ((size_t)snprintf(path, PATH_MAX, "%s/served.ids", queue->folder) >= PATH_MAX)
        path[0] = '\0';
}

/* A last line that was cut off is no id, and its trace is added again. */
static void fleet_read_ids(struct tv_fleet_queue *queue)
{
    char path[PATH_MAX], *text = NULL;
    size_t length;
    struct tv_error err = {0};
    struct tv_bytes rest, line;
    fleet_write_ids_path(queue, path);
    if (tv_file_read_text(path, LARGEST_IDS, &text, &length, &err) != TV_OK)
        return;
    rest = (struct tv_bytes){(const uint8_t *)text, length};
    for (bool more = rest.length > 0; more;) {
        more = tv_bytes_split(&rest, '\n', &line);
        if (line.length == TV_STORE_ID_DIGITS)
            tv_map_set(&queue->done, fleet_id_key((const char *)line.data), 1);
    }
    tv_free(text);
}

/* Note that traces were added.  If that cannot be written, they are only looked at once more. */
static void fleet_note_ids(struct tv_fleet_queue *queue, const struct tv_store_id *ids,
                           size_t count)
{
    char path[PATH_MAX];
    struct tv_out lines;
    fleet_write_ids_path(queue, path);
    tv_out_init_memory(&lines);
    tv_out_char(&lines, '\n'); /* ends a line that was cut off */
    for (size_t i = 0; i < count; i++) {
        tv_map_set(&queue->done, fleet_id_key(ids[i].text), 1);
        tv_out_format(&lines, "%s\n", ids[i].text);
    }
    int fd = open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (fd >= 0) {
        (void)!tv_file_write_fully(fd, lines.buffer, lines.length);
        close(fd);
    }
    tv_out_release(&lines);
}

/* ---- The queue ---- */

/* Append under the lock. */
static void fleet_append_waiting(struct tv_fleet_queue *queue, const struct tv_store_id *id)
{
    queue->waiting =
        tv_array_reserve(queue->waiting, &queue->room, queue->count + 1, sizeof *queue->waiting);
    queue->waiting[queue->count++] = *id;
}

void tv_fleet_queue_push(struct tv_fleet_queue *queue, const char *id)
{
    struct tv_store_id one;
    if (!queue || strcmp(queue->server->sample.text, id) == 0)
        return;
    snprintf(one.text, sizeof one.text, "%s", id);
    pthread_mutex_lock(&queue->lock);
    fleet_append_waiting(queue, &one);
    atomic_store(&queue->interrupts, true);
    pthread_cond_signal(&queue->changed);
    pthread_mutex_unlock(&queue->lock);
}

/* Queue the traces of the store that were read, and are not in the list. */
static void fleet_find_missing(struct tv_fleet_queue *queue)
{
    struct tv_store_query query = {.limit = TV_STORE_PAGE};
    struct tv_error err = {0};
    struct tv_store_page page = {.after = ""};
    char after[512];
    while (page.after && !atomic_load(&queue->ends)) {
        struct tv_arena arena;
        tv_arena_init(&arena);
        if (tv_store_search(queue->server->store, &query, &arena, &page, &err) != TV_STORE_OK)
            page = (struct tv_store_page){.after = NULL};
        for (size_t i = 0; i < page.count; i++)
            if (page.traces[i].state == TV_STORE_READY)
                tv_fleet_queue_push(queue, page.traces[i].id.text);
        if (page.after) {
            snprintf(after, sizeof after, "%s", page.after);
            query.after = tv_bytes_of(after);
        }
        tv_arena_release(&arena);
    }
}

/* ---- Adding ---- */

/* Traces with equal labels. */
struct fleet_group {
    struct tv_store_id ids[MAX_TOGETHER];
    size_t count;
    struct tv_arena arena;               /* of the labels */
    const char *labels[TV_STORE_LABELS]; /* "KEY=VALUE" */
    size_t label_count;
};

/* Read the labels "KEY=VALUE" of a trace; others mean nothing to the fleet.  False: the trace was
 * deleted. */
static bool fleet_read_labels(struct tv_upload_server *server, const char *id,
                              struct tv_arena *arena, const char **labels, size_t *count)
{
    struct tv_store_trace trace;
    struct tv_error err = {0};
    *count = 0;
    if (tv_store_trace_get(server->store, id, arena, &trace, &err) != TV_STORE_OK)
        return false;
    for (size_t i = 0; i < trace.label_count && *count < TV_STORE_LABELS; i++) {
        const char *equals = strchr(trace.labels[i], '=');
        if (equals && equals != trace.labels[i])
            labels[(*count)++] = trace.labels[i];
    }
    return true;
}

/* Has the group exactly these labels? */
static bool fleet_has_labels(const struct fleet_group *group, const char *const *labels,
                             size_t count)
{
    bool equal = group->label_count == count;
    for (size_t i = 0; i < count && equal; i++)
        equal = strcmp(group->labels[i], labels[i]) == 0;
    return equal;
}

/* Wait for traces, for a look at the change points, for answers to prepare, or for the end.  Runs
 * under the lock. */
static void fleet_await_work(struct tv_fleet_queue *queue)
{
    while (queue->count == 0 && !atomic_load(&queue->ends)) {
        int64_t left = queue->look_at - tv_monotonic_ms();
        if (!queue->is_prepared || !queue->has_medians) {
            return;
        } else if (!queue->has_new) {
            pthread_cond_wait(&queue->changed, &queue->lock);
        } else if (left > 0) {
            const struct timespec until = tv_monotonic_deadline((uint64_t)left);
            pthread_cond_timedwait(&queue->changed, &queue->lock, &until);
        } else {
            return;
        }
    }
}

/* Take the first trace out of the queue, and those after it whose labels are equal, in their
 * order; none if it is time for a look.  False: the server stops. */
static bool fleet_take_group(struct tv_fleet_queue *queue, struct fleet_group *group)
{
    pthread_mutex_lock(&queue->lock);
    fleet_await_work(queue);
    size_t count = queue->count < MAX_TOGETHER ? queue->count : MAX_TOGETHER;
    struct tv_store_id ids[MAX_TOGETHER];
    memcpy(ids, queue->waiting ? queue->waiting : ids, count * sizeof *ids);
    pthread_mutex_unlock(&queue->lock);
    size_t taken = 0;
    group->count = 0;
    for (; taken < count && !atomic_load(&queue->ends); taken++) {
        const char *labels[TV_STORE_LABELS];
        size_t labelled;
        if (tv_map_find(&queue->done, fleet_id_key(ids[taken].text)) != TV_NONE ||
            !fleet_read_labels(queue->server, ids[taken].text, &group->arena, labels, &labelled))
            continue;
        if (group->count == 0) {
            memcpy(group->labels, labels, sizeof labels);
            group->label_count = labelled;
        } else if (!fleet_has_labels(group, labels, labelled)) {
            break;
        }
        group->ids[group->count++] = ids[taken];
    }
    pthread_mutex_lock(&queue->lock);
    queue->count -= taken;
    queue->busy = group->count;
    memmove(queue->waiting ? queue->waiting : ids, queue->waiting ? queue->waiting + taken : ids,
            queue->count * sizeof *ids);
    pthread_mutex_unlock(&queue->lock);
    return !atomic_load(&queue->ends);
}

/* Run `fleet ACTION ARGUMENT...` on the folder, silently. */
static void fleet_run_action(struct tv_fleet_queue *queue, const char *action,
                             const struct fleet_group *group, const struct tv_store_id *ids,
                             size_t count, struct tv_fleet_result *result)
{
    const struct tv_engines_options *limits = &queue->server->options.engines;
    const char *arguments[16 + 2 * TV_STORE_LABELS + MAX_TOGETHER];
    char memory[32];
    struct tv_out out;
    size_t n = 0;
    snprintf(memory, sizeof memory, "%llu",
             (unsigned long long)(limits->memory_bytes > MIN_MEMORY ? limits->memory_bytes
                                                                    : MIN_MEMORY));
    const char *const begin[] = {"fleet",  action, "--to",         queue->folder, "-q",
                                 "--jobs", "1",    "--max-memory", memory};
    for (size_t i = 0; i < TV_COUNT(begin); i++)
        arguments[n++] = begin[i];
    for (size_t i = 0; group && i < group->label_count; i++) {
        arguments[n++] = "--label";
        arguments[n++] = group->labels[i];
    }
    arguments[n++] = "--";
    for (size_t i = 0; i < count; i++)
        arguments[n++] = ids[i].text;
    arguments[n] = NULL;
    const struct tv_fleet_process process = {
        .arguments = arguments,
        .folder = queue->traces,
        .most_bytes = 65536,
        .seconds = limits->load_seconds * (count > 0 ? (unsigned)count : 1),
        .stop = &queue->ends,
    };
    tv_out_init_memory(&out);
    tv_fleet_process_run(&process, &out, result);
    tv_out_release(&out);
}

/* Log why traces were not added: the message of the process, or how it ended. */
static void fleet_log_failure(struct tv_fleet_queue *queue, const char *id,
                              const struct tv_fleet_result *result)
{
    static const char *const reasons[] = {
        [TV_FLEET_EXITED] = "the process failed",
        [TV_FLEET_KILLED] = "the process was killed by a signal",
        [TV_FLEET_LATE] = "the process took too long",
        [TV_FLEET_TOO_LARGE] = "the process wrote too much",
        [TV_FLEET_STOPPED] = "the server stopped",
        [TV_FLEET_NOT_STARTED] = "the process cannot be started",
    };
    struct tv_log_line line;
    tv_log_begin(&line, &queue->server->options.log, TV_LOG_WARNING, "fleet.failed");
    tv_log_text(&line, "trace", id);
    tv_log_text(&line, "text", result->message[0] ? result->message : reasons[result->end]);
    tv_log_end(&line);
}

/* Count traces for /metrics, and remember that there is something new to look
 * at. */
static void fleet_count_traces(struct tv_fleet_queue *queue, size_t added, size_t failed)
{
    pthread_mutex_lock(&queue->lock);
    queue->totals.added += added;
    queue->totals.failed += failed;
    queue->has_new |= added > 0;
    pthread_mutex_unlock(&queue->lock);
}

/* Add the traces [from, from + count) of the group.  False: some of them were not added. */
static bool fleet_add_some(struct tv_fleet_queue *queue, const struct fleet_group *group,
                           size_t from, size_t count)
{
    struct tv_fleet_result result;
    fleet_run_action(queue, "add", group, group->ids + from, count, &result);
    if (result.end == TV_FLEET_EXITED && result.code == 0) {
        fleet_note_ids(queue, group->ids + from, count);
        fleet_count_traces(queue, count, 0);
        queue->small_batches++;
        return true;
    }
    if (count == 1 && result.end != TV_FLEET_STOPPED) {
        fleet_log_failure(queue, group->ids[from].text, &result);
        fleet_count_traces(queue, 0, 1);
    }
    return false;
}

/* Add a group, and if that fails, each of its traces alone. */
static void fleet_add_group(struct tv_fleet_queue *queue, const struct fleet_group *group)
{
    if (group->count == 0 || fleet_add_some(queue, group, 0, group->count) || group->count == 1)
        return;
    for (size_t i = 0; i < group->count && !atomic_load(&queue->ends); i++)
        (void)fleet_add_some(queue, group, i, 1);
}

/* The traces of the group are no longer on their way. */
static void fleet_end_group(struct tv_fleet_queue *queue)
{
    pthread_mutex_lock(&queue->lock);
    queue->busy = 0;
    pthread_mutex_unlock(&queue->lock);
}

/* Join small batches, which needs DuckDB; without it they stay. */
static void fleet_join_batches(struct tv_fleet_queue *queue)
{
    struct tv_fleet_result result;
    if (queue->small_batches < COMPACT_AFTER)
        return;
    queue->small_batches = 0;
    fleet_run_action(queue, "compact", NULL, NULL, 0, &result);
}

/* Look at the change points if traces are new, none waits, and the last look is long ago. */
static void fleet_look(struct tv_fleet_queue *queue)
{
    pthread_mutex_lock(&queue->lock);
    bool looks = queue->has_new && queue->count == 0 && tv_monotonic_ms() >= queue->look_at;
    if (looks)
        queue->has_new = false;
    pthread_mutex_unlock(&queue->lock);
    if (!looks)
        return;
    tv_fleet_points_look(&queue->points, &queue->server->options.log, &queue->ends);
    queue->is_prepared = queue->has_medians = false;
    queue->turns = 0;
    queue->look_at = tv_monotonic_ms() + LOOK_INTERVAL_MS;
    pthread_mutex_lock(&queue->lock);
    queue->totals.changes = queue->points.count;
    queue->totals.new_changes = queue->points.found;
    pthread_mutex_unlock(&queue->lock);
}

/* Compute the medians that other questions need (`fleet prepare`).  False: some are left. */
static bool fleet_compute_medians(struct tv_fleet_queue *queue)
{
    const char *const arguments[] = {"fleet",       "prepare",      "-q",           "--to",
                                     queue->folder, "--max-memory", MEDIANS_MEMORY, NULL};
    const struct tv_fleet_process process = {
        .arguments = arguments, .seconds = MEDIANS_SECONDS, .stop = &queue->interrupts};
    struct tv_fleet_result result;
    struct tv_out out;
    tv_out_init_memory(&out);
    tv_fleet_process_run(&process, &out, &result);
    tv_out_release(&out);
    return result.end != TV_FLEET_LATE && result.end != TV_FLEET_STOPPED;
}

/* Ask what the page asks first: after the start, and after each look.  Then compute medians, and
 * ask for the change points of all figures, unless traces come. */
static void fleet_prepare(struct tv_fleet_queue *queue)
{
    pthread_mutex_lock(&queue->lock);
    bool waits = queue->count > 0;
    atomic_store(&queue->interrupts, waits);
    pthread_mutex_unlock(&queue->lock);
    if (atomic_load(&queue->ends))
        atomic_store(&queue->interrupts, true);
    if (waits)
        return;
    if (!queue->is_prepared)
        tv_fleet_prepare_answers(queue, &queue->ends);
    queue->is_prepared = true;
    if (queue->has_medians)
        return;
    queue->has_medians = fleet_compute_medians(queue) || ++queue->turns >= MAX_TURNS;
    if (queue->has_medians)
        tv_fleet_prepare_changes(queue, &queue->interrupts);
}

/* The thread of the queue. */
static void *fleet_run_queue(void *context)
{
    struct tv_fleet_queue *queue = context;
    struct fleet_group *group = tv_alloc(1, sizeof *group);
    fleet_read_ids(queue);
    fleet_find_missing(queue);
    for (bool goes_on = true; goes_on;) {
        tv_arena_init(&group->arena);
        goes_on = fleet_take_group(queue, group);
        if (goes_on) {
            fleet_add_group(queue, group);
            fleet_end_group(queue);
            fleet_join_batches(queue);
            fleet_look(queue);
            fleet_prepare(queue);
        }
        tv_arena_release(&group->arena);
    }
    tv_free(group);
    return NULL;
}

/* ---- Life cycle ---- */

/* Make the folder of the fleet, and find both folders as absolute paths: the
 * child has another working directory. */
static enum tv_status fleet_set_folders(struct tv_fleet_queue *queue, const char *folder,
                                        struct tv_error *err)
{
    char store[PATH_MAX];
    if (strstr(folder, "://"))
        return tv_fail(err, TV_ERR_USAGE, TV_NO_OFFSET,
                       "--fleet: %s: `serve` needs a folder; ask a fleet on a server with "
                       "`traceview fleet --to`",
                       folder);
    if (mkdir(folder, 0700) != 0 && errno != EEXIST)
        return tv_fail(err, TV_ERR_IO, TV_NO_OFFSET, "--fleet: %s: %s", folder, strerror(errno));
    if (!realpath(folder, queue->folder) || !realpath(queue->server->options.folder, store))
        return tv_fail(err, TV_ERR_IO, TV_NO_OFFSET, "--fleet: %s: %s", folder, strerror(errno));
    if ((size_t)snprintf(queue->traces, sizeof queue->traces, "%s/traces", store) >=
        sizeof queue->traces)
        return tv_fail(err, TV_ERR_USAGE, TV_NO_OFFSET, "--store: the name is too long");
    return TV_OK;
}

/* Free what the queue holds; its thread has ended or was never started. */
static void fleet_queue_release(struct tv_fleet_queue *queue)
{
    tv_fleet_webhook_free(queue->points.webhook);
    tv_fleet_cache_free(queue->cache);
    pthread_cond_destroy(&queue->changed);
    pthread_mutex_destroy(&queue->lock);
    tv_map_release(&queue->done);
    tv_map_release(&queue->points.reported);
    tv_free(queue->waiting);
    tv_free(queue);
}

enum tv_status tv_fleet_queue_new(struct tv_upload_server *server, const char *folder,
                                  struct tv_fleet_queue **queue, struct tv_error *err)
{
    struct tv_fleet_queue *made = tv_alloc(1, sizeof *made);
    made->server = server;
    enum tv_status status = fleet_set_folders(made, folder, err);
    if (status != TV_OK) {
        tv_free(made);
        return status;
    }
    atomic_init(&made->ends, false);
    atomic_init(&made->interrupts, false);
    pthread_mutex_init(&made->lock, NULL);
    pthread_condattr_t attributes;
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(&made->changed, &attributes);
    pthread_condattr_destroy(&attributes);
    tv_map_init(&made->done);
    tv_map_init(&made->points.reported);
    made->points.folder = made->folder;
    made->cache = tv_fleet_cache_new(made->folder);
    if (server->options.webhook.host) {
        status = tv_fleet_webhook_new(&server->options.webhook, &server->options.log, made->folder,
                                      &made->points.webhook, err);
        made->has_new = true; /* points of an earlier run may not have been accepted */
    }
    if (status == TV_OK &&
        tv_thread_start(&made->thread, TV_THREAD_STACK, fleet_run_queue, made) != 0)
        status = tv_fail(err, TV_ERR_IO, TV_NO_OFFSET, "cannot start a thread");
    if (status != TV_OK) {
        fleet_queue_release(made);
        return status;
    }
    *queue = made;
    return TV_OK;
}

/* The thread ends its child when it sees `ends`. */
void tv_fleet_queue_free(struct tv_fleet_queue *queue)
{
    if (!queue)
        return;
    pthread_mutex_lock(&queue->lock);
    atomic_store(&queue->ends, true);
    atomic_store(&queue->interrupts, true);
    pthread_cond_signal(&queue->changed);
    pthread_mutex_unlock(&queue->lock);
    pthread_join(queue->thread, NULL);
    fleet_queue_release(queue);
}

const char *tv_fleet_queue_folder(const struct tv_fleet_queue *queue)
{
    return queue->folder;
}

struct tv_fleet_cache *tv_fleet_queue_cache(const struct tv_fleet_queue *queue)
{
    return queue->cache;
}

struct tv_fleet_queue_counts tv_fleet_queue_count(struct tv_fleet_queue *queue)
{
    pthread_mutex_lock(&queue->lock);
    struct tv_fleet_queue_counts counts = queue->totals;
    counts.answers = tv_fleet_cache_count(queue->cache);
    counts.waiting = queue->count + queue->busy;
    pthread_mutex_unlock(&queue->lock);
    if (queue->points.webhook) {
        const struct tv_fleet_webhook_counts sent = tv_fleet_webhook_count(queue->points.webhook);
        counts.sent = sent.sent;
        counts.unsent = sent.failed;
    }
    return counts;
}
