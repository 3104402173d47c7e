/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fleet.h - the fleet of the upload server (docs/fleet.md,
 * docs/decisions/0033-a-fleet-in-serve.md).
 *
 *     reading queue: a trace was read --push--> fleet.c: one thread
 *                                                  `--> `traceview fleet add`, a child --> folder
 *     GET /api/fleet/QUESTION --> fleet_questions.c
 *                                  `--> `traceview fleet ...`, a child with DuckDB <-- folder
 *
 * The server itself never opens DuckDB and never reads a trace: both happen in children of
 * fleet_process.c, whose time, memory and output are bounded.
 */
#ifndef TV_UPLOAD_FLEET_H
#define TV_UPLOAD_FLEET_H

#include <limits.h>
#include <stdatomic.h>

#include "base/error.h"
#include "base/map.h"
#include "base/out.h"
#include "base/types.h"
#include "upload/log.h"

struct cJSON;
struct tv_upload_server;
struct tv_webhook;
struct tv_fleet_queue;
struct tv_fleet_webhook;

/* ---- Adding (fleet.c) ---- */

/* Start the thread that adds traces.  The folder's parent must exist. */
enum tv_status tv_fleet_queue_new(struct tv_upload_server *server, const char *folder,
                                  struct tv_fleet_queue **queue,
                                  struct tv_error *err) TV_MUST_CHECK;

/* End a running child, and the thread.  The next start continues.  NULL is allowed. */
void tv_fleet_queue_free(struct tv_fleet_queue *queue);

/* Queue a trace that was read.  A NULL queue does nothing. */
void tv_fleet_queue_push(struct tv_fleet_queue *queue, const char *id);

/* The absolute path of the folder, and the answers about it. */
const char *tv_fleet_queue_folder(const struct tv_fleet_queue *queue);
struct tv_fleet_cache *tv_fleet_queue_cache(const struct tv_fleet_queue *queue);

struct tv_fleet_queue_counts {
    uint64_t added, failed, waiting; /* traces */
    uint64_t changes, new_changes;   /* change points: now, and found since the start */
    uint64_t sent, unsent;           /* change points: accepted and not accepted by the webhook */
    uint64_t answers;                /* answers that are kept */
};
struct tv_fleet_queue_counts tv_fleet_queue_count(struct tv_fleet_queue *queue);

/* ---- Change points (fleet_changes.c) ---- */

/* The change points of a fleet, as they were at the last look.  All zero but the folder: none yet.
 */
struct tv_fleet_points {
    const char *folder; /* of the fleet */
    struct tv_map reported;
    bool is_read;                     /* the file of those that were reported */
    uint64_t count;                   /* now */
    uint64_t found;                   /* new ones, at all looks */
    struct tv_fleet_webhook *webhook; /* NULL: none */
};

/* Ask for the change points, and log those that were never logged.  Without DuckDB, and with too
 * few versions, there are none. */
void tv_fleet_points_look(struct tv_fleet_points *points, const struct tv_log *log,
                          const atomic_bool *stop);

/* Find the path of a list of keys in the folder.  False: it is too long. */
bool tv_fleet_find_list(const char *folder, const char *name, char path[PATH_MAX]);

/* Set the keys of a list, which need not exist, to 1; or append lines to it. */
#define TV_FLEET_LARGEST_LIST ((size_t)64 << 20)
void tv_fleet_read_list(const char *path, struct tv_map *keys);
void tv_fleet_append_list(const char *path, const struct tv_out *keys);

/* The key of a change point, which has a method and a version. */
uint64_t tv_fleet_point_key(const struct cJSON *point);

/* ---- The webhook (fleet_webhook.c) ---- */

struct tv_fleet_webhook_counts {
    uint64_t sent, failed; /* change points */
};

/* Start the thread that sends.  `target` and `log` must outlive the webhook. */
enum tv_status tv_fleet_webhook_new(const struct tv_webhook *target, const struct tv_log *log,
                                    const char *folder, struct tv_fleet_webhook **webhook,
                                    struct tv_error *err) TV_MUST_CHECK;

/* End a request that is under way.  NULL is allowed, here and in the next two. */
void tv_fleet_webhook_free(struct tv_fleet_webhook *webhook);

/* Send a change point, unless it was sent; after a number of them, wake the thread. */
void tv_fleet_webhook_offer(struct tv_fleet_webhook *webhook, const struct cJSON *point);
void tv_fleet_webhook_wake(struct tv_fleet_webhook *webhook);

/* Total numbers since the start. */
struct tv_fleet_webhook_counts tv_fleet_webhook_count(struct tv_fleet_webhook *webhook);

/* ---- Answers that were given before (fleet_cache.c) ---- */

struct tv_fleet_cache;

/* The folder's name must outlive the cache. */
struct tv_fleet_cache *tv_fleet_cache_new(const char *folder);
void tv_fleet_cache_free(struct tv_fleet_cache *cache);

/* Return the state of the fleet, to which an answer belongs.  UNSETTLED: it changes just now, and
 * no answer is found or kept. */
#define TV_FLEET_UNSETTLED INT64_MIN
int64_t tv_fleet_cache_state(const struct tv_fleet_cache *cache);

/* Return the number of answers that are kept. */
size_t tv_fleet_cache_count(struct tv_fleet_cache *cache);

/* Append the answer to a question in this state, which was asked for before the question was
 * answered; false: there is none.  Or keep an answer. */
bool tv_fleet_cache_find(struct tv_fleet_cache *cache, const char *question, int64_t state,
                         struct tv_out *out);
void tv_fleet_cache_keep(struct tv_fleet_cache *cache, const char *question, int64_t state,
                         struct tv_bytes bytes);

/* ---- Questions (fleet_questions.c) ---- */

/* Ask what the page asks first, so that it has its answers at once. */
void tv_fleet_prepare_answers(struct tv_fleet_queue *queue, const atomic_bool *stop);

/* Ask for the change points of every figure, the answers to which take longest. */
void tv_fleet_prepare_changes(struct tv_fleet_queue *queue, const atomic_bool *stop);

/* ---- Children (fleet_process.c) ---- */

struct tv_fleet_process {
    const char *const *arguments; /* after the program's name; NULL ends them */
    const char *folder;           /* the working directory; NULL: that of the server */
    size_t most_bytes;            /* of its output */
    unsigned seconds;             /* of wall time */
    const atomic_bool *stop;      /* ends it when true; NULL: never */
};

enum tv_fleet_end {
    TV_FLEET_EXITED,
    TV_FLEET_KILLED, /* by a signal, for example for lack of memory */
    TV_FLEET_LATE,
    TV_FLEET_TOO_LARGE,
    TV_FLEET_STOPPED,
    TV_FLEET_NOT_STARTED,
};

struct tv_fleet_result {
    enum tv_fleet_end end;
    int code;          /* of TV_FLEET_EXITED */
    char message[512]; /* the beginning of its standard error, on one line */
};

/* Run this program, append its standard output to `out`, and wait for its end. */
void tv_fleet_process_run(const struct tv_fleet_process *process, struct tv_out *out,
                          struct tv_fleet_result *result);

#endif
