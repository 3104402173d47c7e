/* SPDX-License-Identifier: Apache-2.0 */
/*
 * internal.h - engines, as the files of the server's side see each other.
 *
 *     engine.c        opens and closes engines, reports their status
 *     answer.c        asks a child, and reads its answers
 *     supervisor.c    the one thread that starts, watches and reaps children, and frees engines
 *     spawn.c         starts one child process
 *
 * The supervisor's thread is the only one that removes an engine from the list or reaps a child.
 * All other threads take `lock`, count references, and mark what should end.
 */
#ifndef TV_ENGINE_INTERNAL_H
#define TV_ENGINE_INTERNAL_H

#include <pthread.h>
#include <sys/types.h>

#include "base/error.h"
#include "base/out.h"
#include "engine/engine.h"
#include "engine/messages.h"

/* ---- spawn.c ---- */

struct tv_spawn {
    const char *program; /* NULL: this program */
    const char *scratch; /* directory in which the child's own directory is made */
    const char *name;    /* of that directory */
    struct tv_engine_begin begin;
    int trace, index, new_index; /* descriptors of the caller; -1: none */
};

struct tv_spawned {
    pid_t pid;     /* 0: no process */
    int socket;    /* for messages */
    int errors;    /* reads the child's standard error */
    char *scratch; /* its directory */
};

/* Start a child with these files and no others.  The child ends when the calling thread ends. */
enum tv_status tv_spawn(const struct tv_spawn *spawn, struct tv_spawned *spawned,
                        struct tv_error *err) TV_MUST_CHECK;

/* Close the descriptors and remove the directory.  The child must have been reaped. */
void tv_spawned_release(struct tv_spawned *spawned);

/* ---- engine.c: state shared by all threads ---- */

/* The line of standard error that a child is writing. */
struct tv_engine_line {
    char text[480];
    size_t length;
    unsigned count;     /* complete lines so far */
    bool out_of_memory; /* one of them reported that */
};

struct tv_engine {
    struct tv_engine *next;
    struct tv_engines *engines;
    char id[TV_ENGINE_ID];
    uint64_t number; /* counts all engines ever made: the smaller is the older */
    char name[512];
    enum tv_engine_state state;
    unsigned holders; /* callers that opened it, and answers that are not freed */
    bool left;        /* tv_engine_open does not find it any more */
    bool ending;      /* it was killed or has ended: to be reaped */
    bool explained;   /* `error` already says why it ended */
    bool unwanted;    /* it was ended for a reason that is not its fault */
    bool was_ready, from_index, owes_index;
    struct tv_spawned child;
    struct tv_engine_progress progress;
    struct tv_engine_line line;
    struct tv_error error;
    int64_t cpu_limit; /* ns of CPU time that it may have used until the next question */
    int64_t touched;   /* tv_monotonic_ms: last time that it was held, or changed state */
};

struct tv_engines {
    struct tv_engines_options options;
    char *program, *scratch;
    pthread_mutex_t lock;
    pthread_cond_t changed; /* a state of an engine, or `probed` */
    pthread_t supervisor;
    int wake[2]; /* a pipe that wakes the supervisor */
    struct tv_engine *first;
    uint64_t last_number;
    struct tv_engines_counts counts; /* totals only; the present is counted on demand */
    bool probed, stop;
    unsigned sandbox;      /* enum tv_sandbox_part */
    struct tv_error error; /* of the probe */
    unsigned processors;
};

/* The following run under the lock. */

/* Make the supervisor look at the engines. */
void tv_engine_wake(struct tv_engines *engines);

/* Kill the child, and record why.  Does nothing when the engine is already ending. */
void tv_engine_kill(struct tv_engine *engine, const char *format, ...) TV_PRINTF(2, 3);

/* Grant CPU time for one more question, counted from now. */
void tv_engine_grant_cpu_time(struct tv_engine *engine);

/* Return the CPU time that the child has used, in ns. */
int64_t tv_engine_cpu_time(const struct tv_engine *engine);

/* Return true when the child can be asked. */
bool tv_engine_is_alive(const struct tv_engine *engine);

/* The number of the only trace of an engine. */
#define TV_ENGINE_TRACE 1

/* Write api/status when no child can be asked. */
void tv_engine_write_status(struct tv_out *out, const struct tv_engine_status *status,
                            const char *name);

/* Write the members of api/status that follow those of tv_session_write_status, and the final
 * brace.  The child uses this as well. */
void tv_engine_write_status_end(struct tv_out *out, const char *name);

/* Write {"error": sentence}. */
void tv_engine_write_refusal(struct tv_out *out, const char *sentence);

/* ---- supervisor.c ---- */

/* The thread; its argument is the struct tv_engines. */
void *tv_engine_supervise(void *engines);

/* End of a child. */
struct tv_child_exit {
    int status;         /* from waitpid */
    bool out_of_memory; /* its last words said so */
    uint64_t memory_bytes;
    unsigned load_seconds;
};

/* Describe the end in one sentence without a subject, as "ended by signal 11 (...)". */
void tv_child_exit_explain(const struct tv_child_exit *end, struct tv_error *error);

#endif
