/* SPDX-License-Identifier: Apache-2.0 */
/*
 * engine.h - engines: child processes that read traces and answer questions about them.  This is
 * the server's side.
 *
 * An uploaded trace is hostile, so the server never parses one.  An engine is a child process (this
 * program with a hidden command) that enters a sandbox (sandbox.h), reads one trace, and answers
 * the questions of docs/view-protocol.md, several at once.  Nothing that a child says is trusted:
 * the server checks it, and the worst outcome is an error.
 *
 *     tv_engines_new       tests what the sandbox can do on this machine
 *     tv_engine_open       the engine of a trace; starts it unless it runs
 *     tv_engine_ask        asks a question; the answer is read piece by piece
 *     tv_engine_close
 *     tv_engines_free      ends all children
 *
 * Any thread may call any of these.  One thread of the engines starts, watches and reaps the
 * children.  Children end when the server ends, however it ends.
 */
#ifndef TV_ENGINE_ENGINE_H
#define TV_ENGINE_ENGINE_H

#include "engine/sandbox.h"
#include "view/view.h"

struct tv_engines;
struct tv_engine;
struct tv_engine_answer;

/* Size of an id, with its NUL.  An id names a trace and a directory: letters, digits, '-', '_'. */
#define TV_ENGINE_ID 64

enum tv_engine_state {
    TV_ENGINE_WAITING, /* until another engine has ended or loaded */
    TV_ENGINE_LOADING,
    TV_ENGINE_READY,
    TV_ENGINE_FAILED, /* the trace cannot be read; the process has ended */
    TV_ENGINE_DIED,   /* the process crashed, or was killed */
};

/* Open files of a trace; the engine takes ownership. */
struct tv_engine_files {
    int trace;      /* for reading; never -1 */
    int index;      /* for reading, from its start; -1: none */
    int new_index;  /* empty, for writing; -1: do not write one.  Unused if `index` is valid */
    char name[512]; /* of the trace, as the client named it */
};

/* Callbacks to the server.  Called by the engines' thread; they must not block or call back. */
struct tv_engine_host {
    /* Open the files of a trace whose engine is about to start. */
    enum tv_status (*open)(void *context, const char *id, struct tv_engine_files *files,
                           struct tv_error *err);
    /* The engine changed its state; or NULL. */
    void (*changed)(void *context, const char *id, enum tv_engine_state state);
    /* An engine is done with its `new_index`: it is complete and was synced, or could not be
     * written; or NULL. */
    void (*indexed)(void *context, const char *id, bool whole);
    /* A line for the log, without control characters: from the child's standard error, or why the
     * child ended abnormally; or NULL. */
    void (*said)(void *context, const char *id, const char *line);
    void *context;
};

struct tv_engines_options {
    const char *program; /* NULL: this program */
    const char *scratch; /* directory for temporary files, in which each child gets its own */
    struct tv_engine_host host;
    uint64_t memory_bytes;     /* limit of data in one engine (RLIMIT_DATA) */
    uint64_t file_bytes;       /* limit of a file that it writes */
    uint64_t unpacked_bytes;   /* limit of what a packed trace unpacks to */
    unsigned load_seconds;     /* CPU time for loading */
    unsigned question_seconds; /* time until the first, or the next, piece of an answer */
    unsigned idle_seconds;     /* an engine that nobody asks or holds is ended after this time */
    unsigned alive;            /* maximum number of engines */
    unsigned loading;          /* maximum number of engines that load */
    unsigned jobs;             /* threads for loading; 0: one for each processor */
};

/* Defaults for a machine with a few processors and 8 GB; program, scratch and host are empty. */
#define TV_ENGINES_DEFAULTS                                                                        \
    ((struct tv_engines_options){                                                                  \
        .memory_bytes = UINT64_C(4) << 30,                                                         \
        .file_bytes = UINT64_C(32) << 30,                                                          \
        .unpacked_bytes = UINT64_C(16) << 30,                                                      \
        .load_seconds = 600,                                                                       \
        .question_seconds = 60,                                                                    \
        .idle_seconds = 300,                                                                       \
        .alive = 8,                                                                                \
        .loading = 2,                                                                              \
    })

/* Copy the options and start the engines' thread.  It starts one child to find out which layers of
 * the sandbox work; an error: no child can be started. */
enum tv_status tv_engines_new(const struct tv_engines_options *options, struct tv_engines **engines,
                              struct tv_error *err) TV_MUST_CHECK;

/* End all children and wait for them.  Every engine must be closed and every answer freed. */
void tv_engines_free(struct tv_engines *engines);

/* Return the layers of the sandbox that work: enum tv_sandbox_part. */
unsigned tv_engines_sandbox(const struct tv_engines *engines);

/* Return a warning for the log for each layer that is missing; false after the last. */
bool tv_engines_sandbox_missing(const struct tv_engines *engines, size_t i, const char **sentence);

struct tv_engines_counts {
    unsigned waiting, loading, ready;
    uint64_t started, failed, died; /* since the start of the server */
};
void tv_engines_count(struct tv_engines *engines, struct tv_engines_counts *counts);

/* End the engine of a deleted trace, or forget its failure, so that the next tv_engine_open starts
 * again.  Its present holders find it dead.  Returns when its process is gone, and with it the last
 * descriptor of the trace's file, so that the disk space is free. */
void tv_engines_end(struct tv_engines *engines, const char *id);

/*
 * Return the engine of a trace.  A new one is started when there is none, or when it died after it
 * was ready.  A failure to read the trace is remembered for idle_seconds.  If the maximum number of
 * engines runs, the one that nobody has held for longest is ended; if all are held, the new one
 * waits.
 */
struct tv_engine *tv_engine_open(struct tv_engines *engines, const char *id);
void tv_engine_close(struct tv_engine *engine);

struct tv_engine_status {
    enum tv_engine_state state;
    uint64_t bytes, total_bytes, records; /* as in api/status */
    bool unpacking;
    bool from_index;       /* in READY: the trace came from its index */
    struct tv_error error; /* in FAILED and DIED: one line for people */
    const char *kind;      /* of the error, as in api/status; "died" in DIED; else NULL */
    const char *remedy;    /* advice to the user; NULL: none */
};
void tv_engine_get_status(struct tv_engine *engine, struct tv_engine_status *status);

/* Wait until the state is neither WAITING nor LOADING, at most timeout_ms.  Return the state. */
enum tv_engine_state tv_engine_wait(struct tv_engine *engine, unsigned timeout_ms);

/* The result of a question; the values are HTTP statuses.  All but OK have a body {"error": ...}.
 */
enum tv_answer_status {
    TV_ANSWER_OK = 200,
    TV_ANSWER_WRONG = 400,       /* the question is wrong */
    TV_ANSWER_UNKNOWN = 404,     /* no such question */
    TV_ANSWER_NOT_READY = 409,   /* the trace is not loaded, or cannot be */
    TV_ANSWER_OTHER_TRACE = 410, /* the parameter "trace" is not 1, the number of the only trace */
    TV_ANSWER_TOO_LARGE = 413,   /* the answer is larger than its bound (tv_view_bound) */
    TV_ANSWER_BUSY = 503,        /* too many questions at once, or the engine has died */
};

/* An engine answers this many questions at once, each in a thread. */
#define TV_ENGINE_QUESTIONS 32

/*
 * Ask a question and wait for the beginning of the answer; never NULL.  "status" is answered in
 * every state, as the viewer's api/status; all others once the trace is loaded.  The engine may be
 * closed before the answer is freed.
 */
struct tv_engine_answer *tv_engine_ask(struct tv_engine *engine,
                                       const struct tv_view_question *question);

/* The result, and the type of the body. */
enum tv_answer_status tv_engine_answer_status(const struct tv_engine_answer *answer);
enum tv_answer_type tv_engine_answer_type(const struct tv_engine_answer *answer);

/* Wait for at least one byte; *got 0 means the end.  An error: the rest cannot be had, and what was
 * read is incomplete. */
enum tv_status tv_engine_answer_read(struct tv_engine_answer *answer, void *buffer, size_t size,
                                     size_t *got, struct tv_error *err) TV_MUST_CHECK;

/* Free the answer, complete or not; the engine stops producing it. */
void tv_engine_answer_free(struct tv_engine_answer *answer);

#endif
