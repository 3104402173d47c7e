/* SPDX-License-Identifier: Apache-2.0 */
/*
 * engines.h - what the files of the server's side share.
 *
 * One thread, the keeper (keeper.c), starts, watches and reaps the children, and frees engines;
 * all others (engine.c, answer.c) ask, count and say what should end, under the lock.
 */
#ifndef TV_ENGINE_INTERNAL_H
#define TV_ENGINE_INTERNAL_H

#include <pthread.h>
#include <sys/types.h>

#include "base/error.h"
#include "base/out.h"
#include "engine/engine.h"
#include "engine/messages.h"

/* The last that a child wrote to its standard error. */
struct tv_engine_line {
    char text[480];
    size_t length;
    unsigned count;     /* lines so far */
    bool out_of_memory; /* one of them said so */
};

struct tv_engine {
    struct tv_engine *next;
    struct tv_engines *engines;
    char id[TV_ENGINE_ID];
    uint64_t number; /* of all engines since the beginning: who is older */
    char name[512];
    enum tv_engine_state state;
    unsigned holders; /* those who opened it, and answers that are not read */
    bool left;        /* nobody finds it any more */
    bool ending;      /* it was told to end, or is seen to: to be reaped */
    bool explained;   /* `error` says why already */
    bool unwanted;    /* it ends for no fault of its own */
    bool was_ready, from_index, owes_index;
    struct tv_spawned child; /* pid 0: there is none */
    struct tv_engine_progress progress;
    struct tv_engine_line line;
    struct tv_error error;
    int64_t cpu_limit; /* nanoseconds of processor time that it may use until somebody asks again */
    int64_t touched;   /* when somebody held it last, or it failed: tv_engine_now */
};

struct tv_engines {
    struct tv_engines_options options;
    char *program, *scratch;
    pthread_mutex_t lock;
    pthread_cond_t changed; /* a state, or `probed` */
    pthread_t keeper;
    int wake[2]; /* a pipe: the keeper is to look */
    struct tv_engine *first;
    uint64_t last_number;
    struct tv_engines_counts counts; /* of what is over */
    bool probed, stop;
    unsigned sandbox;
    struct tv_error error; /* of the probe */
    unsigned processors;
};

/* Milliseconds of a clock that only goes on. */
int64_t tv_engine_now(void);

/* For those who hold the lock. */

/* Has the keeper look. */
void tv_engine_wake(struct tv_engines *engines);

/* Ends the child, whose end is explained so; nothing when it is ending already. */
void tv_engine_kill(struct tv_engine *engine, const char *format, ...) TV_PRINTF(2, 3);

/* Lets it use processor time for a question from now on. */
void tv_engine_grant_cpu_time(struct tv_engine *engine);

/* What it has used. */
int64_t tv_engine_cpu_time(const struct tv_engine *engine);

/* Whether its child can be talked to. */
bool tv_engine_is_alive(const struct tv_engine *engine);

/* The keeper's thread. */
void *tv_engine_supervise(void *engines);

/*
 * spawn.h - starts a child and gives it its files, and no others.
 */

struct tv_spawn {
    const char *program; /* NULL: this program */
    const char *scratch; /* a folder for this child is made in that one */
    const char *name;    /* of the folder */
    struct tv_engine_begin begin;
    int trace, index, new_index; /* -1: none; they stay the caller's */
};

struct tv_spawned {
    pid_t pid;
    int socket, errors; /* errors: what it writes to its standard error */
    char *scratch;      /* the folder */
};

/* The child ends when the calling thread ends. */
enum tv_status tv_spawn(const struct tv_spawn *spawn, struct tv_spawned *spawned,
                        struct tv_error *err) TV_MUST_CHECK;

/* Closes its files and removes its folder; the child must be gone. */
void tv_spawned_release(struct tv_spawned *spawned);

/*
 * ending.h - why a child is gone, in words.
 */

struct tv_child_exit {
    int status;         /* as waitpid tells it */
    bool out_of_memory; /* it said so */
    uint64_t memory_bytes;
    unsigned load_seconds;
};

/* Fills the error: one sentence without the child's name, as "ended by signal 11 (...)". */
void tv_child_exit_explain(const struct tv_child_exit *ending, struct tv_error *error);

/*
 * status.h - api/status of an engine, as the viewer's page reads it: one trace, of one file.
 */

/* The number of the trace; there is no other. */
#define TV_ENGINE_TRACE 1

/* The members behind those of tv_session_write_status, and the brace that ends the object. */
void tv_engine_write_status_end(struct tv_out *out, const char *name);

struct tv_engine_status;

/* The whole of it where no child can be asked. */
void tv_engine_write_status(struct tv_out *out, const struct tv_engine_status *status,
                            const char *name);

/* {"error": "sentence"} */
void tv_engine_write_refusal(struct tv_out *out, const char *sentence);

#endif
