/* SPDX-License-Identifier: Apache-2.0 */
/*
 * engine.h - traces that are read by child processes, and the questions that these answer: the
 * server's side.
 *
 * A trace that somebody sent is hostile.  So the server never looks into one: an engine is a child
 * process, this program with a hidden command, that locks itself in (sandbox.h), reads one trace
 * and answers the questions of docs/view-protocol.md about it, several at once.  Nothing that such
 * a process says is trusted: what comes from it is checked, and its worst is an error.
 *
 *     tv_engines_new       looks what the sandbox can do on this machine
 *     tv_engine_open       the engine of a trace; it is started unless it runs
 *     tv_engine_ask        a question; its answer is read piece by piece
 *     tv_engine_close
 *     tv_engines_free      no child is left
 *
 * Any thread may call any of these.  Children are started, watched and reaped by one thread that
 * belongs to the engines.  They end when the server ends, however that ends.
 */
#ifndef TV_ENGINE_ENGINE_H
#define TV_ENGINE_ENGINE_H

#include "engine/sandbox.h"
#include "view/view.h"

struct tv_engines;
struct tv_engine;
struct tv_engine_answer;

/* An id names a trace, and a folder of scratch files: letters, digits, '-' and '_'. */
#define TV_ENGINE_ID 64 /* with the NUL behind it */

enum tv_engine_state {
    TV_ENGINE_WAITING, /* until others have ended or have been read */
    TV_ENGINE_LOADING,
    TV_ENGINE_READY,
    TV_ENGINE_FAILED, /* the trace cannot be read; the process has ended */
    TV_ENGINE_DIED,   /* the process ended by itself, or had to be ended */
};

/* The files of a trace, open; they become the engine's. */
struct tv_engine_files {
    int trace;      /* for reading; never -1 */
    int index;      /* for reading, from its beginning; -1: there is none */
    int new_index;  /* for writing, empty; -1: none is wanted.  Not used where `index` is good */
    char name[512]; /* of the trace, as people know it: what it was sent as */
};

/* What the engines ask of the server and tell it. Called by the engines' own thread, which must not
 * wait and must not call back. */
struct tv_engine_host {
    /* Opens the files of a trace, whose engine is to be started. */
    enum tv_status (*open)(void *context, const char *id, struct tv_engine_files *files,
                           struct tv_error *err);
    /* The engine has another state now; or NULL. */
    void (*changed)(void *context, const char *id, enum tv_engine_state state);
    /* An engine that was given `new_index` has done with it: it is whole and on its way to the
     * disk, or is not to be had; or NULL. */
    void (*indexed)(void *context, const char *id, bool whole);
    /* A line for the log, without control characters: what a child wrote to its standard error, or
     * how it ended when that was not well; or NULL. */
    void (*said)(void *context, const char *id, const char *line);
    void *context;
};

struct tv_engines_options {
    const char *program; /* NULL: this program */
    const char *scratch; /* a folder for temporary files; folders are made in it and removed */
    struct tv_engine_host host;
    uint64_t memory_bytes;     /* of data in one engine (RLIMIT_DATA) */
    uint64_t file_bytes;       /* the largest file that it may write */
    uint64_t unpacked_bytes;   /* ceiling of what comes out of a packed trace */
    unsigned load_seconds;     /* processor time until the trace is there */
    unsigned question_seconds; /* until the first, or the next, piece of an answer */
    unsigned idle_seconds;     /* an engine that nobody asks or holds ends after so long */
    unsigned alive;            /* so many engines at once */
    unsigned loading;          /* so many of them loading at once */
    unsigned jobs;             /* threads of one that loads; 0: as many as processors */
};

/* For a machine of a few processors and 8 GB; without program, scratch and host. */
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

/* Copies the options and their texts.  Starts a child once, which tells what holds it: an error
 * when that cannot be. */
enum tv_status tv_engines_new(const struct tv_engines_options *options, struct tv_engines **engines,
                              struct tv_error *err) TV_MUST_CHECK;

/* Ends all children and waits for them. Every engine must be closed and every answer freed. */
void tv_engines_free(struct tv_engines *engines);

/* What holds the children: enum tv_sandbox_part. */
unsigned tv_engines_sandbox(const struct tv_engines *engines);

/* One sentence for each part that is not there, for the log at the start; false behind the last. */
bool tv_engines_sandbox_missing(const struct tv_engines *engines, size_t i, const char **sentence);

struct tv_engines_counts {
    unsigned waiting, loading, ready;
    uint64_t started, failed, died; /* since the beginning */
};
void tv_engines_count(struct tv_engines *engines, struct tv_engines_counts *counts);

/* Ends the engine of a trace that is deleted, or forgets how it failed, so that the next
 * tv_engine_open begins anew.  Who holds it finds it dead.  Its process is gone afterwards, and
 * with it the last hold on the trace's file: only then the disk has that room again. */
void tv_engines_end(struct tv_engines *engines, const char *id);

/*
 * The engine of the trace, started when there is none or when that one has died since it was ready.
 * A trace that could not be read stays so until idle_seconds have passed.  To make room, the engine
 * that was longest without a holder ends; where all are held, this one waits.
 */
struct tv_engine *tv_engine_open(struct tv_engines *engines, const char *id);
void tv_engine_close(struct tv_engine *engine);

struct tv_engine_status {
    enum tv_engine_state state;
    uint64_t bytes, total_bytes, records; /* as api/status has them */
    bool unpacking;
    bool from_index;       /* in READY: it needed not be read again */
    struct tv_error error; /* in FAILED and DIED: one line for people */
    const char *kind;      /* of the error, as api/status has it; "died" in DIED; else NULL */
    const char *remedy;    /* what one may do about it; NULL: nothing known */
};
void tv_engine_get_status(struct tv_engine *engine, struct tv_engine_status *status);

/* Waits until the state is neither waiting nor loading, at most so long. */
enum tv_engine_state tv_engine_wait(struct tv_engine *engine, unsigned timeout_ms);

/* How it was answered, and the HTTP status for that. */
enum tv_answer_status {
    TV_ANSWER_OK = 200,
    TV_ANSWER_WRONG = 400,       /* the question is wrong: {"error": ...} says why, as all below */
    TV_ANSWER_UNKNOWN = 404,     /* there is no such question */
    TV_ANSWER_NOT_READY = 409,   /* the trace is not there, yet or at all */
    TV_ANSWER_OTHER_TRACE = 410, /* the parameter "trace" is not this one's number, which is 1 */
    TV_ANSWER_TOO_LARGE = 413,   /* the answer is larger than its bound (tv_view_bound) */
    TV_ANSWER_BUSY = 503,        /* too many questions at once, or the engine has died */
};

/*
 * Asks and waits for the beginning of the answer; never NULL.  "status" is always answered, as the
 * viewer's api/status, whatever the engine's state; all else once the trace is there.  Engines
 * answer TV_ENGINE_QUESTIONS at once, each by a thread.  The engine may be closed before the
 * answer is freed.
 */
#define TV_ENGINE_QUESTIONS 32
struct tv_engine_answer *tv_engine_ask(struct tv_engine *engine,
                                       const struct tv_view_question *question);

/* How it was answered, and what the bytes are. */
enum tv_answer_status tv_engine_answer_status(const struct tv_engine_answer *answer);
enum tv_answer_type tv_engine_answer_type(const struct tv_engine_answer *answer);

/* Waits for at least one byte; *got is 0 behind the last one.  An error: the rest is not to be had,
 * and what was read is not whole. */
enum tv_status tv_engine_answer_read(struct tv_engine_answer *answer, void *buffer, size_t size,
                                     size_t *got, struct tv_error *err) TV_MUST_CHECK;

/* Also in the middle of it: the engine stops answering. */
void tv_engine_answer_free(struct tv_engine_answer *answer);

#endif
