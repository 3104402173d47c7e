/* SPDX-License-Identifier: Apache-2.0 */
/*
 * state.h - the one recording of the process and the threads that take part in it.  The internal
 * header of the event core.
 *
 *     tv_recorder                          tv_recorder_thread (one a thread, thread-local pointer)
 *       on          0, or a generation       generation   the recording that it has joined
 *       threads --> list of all threads      frames       shadow stack of its open calls
 *       buffer      the trace buffer         next, limit  where its next record goes
 *       writer      turns it into a file     busy         odd while the thread is in an event
 *
 * An event touches no lock.  It compares `generation` with `on`, makes `busy` odd, changes the
 * shadow stack, stores a record at `next` and makes `busy` even.
 *
 * A stop clears `on` and the limits of all threads, then waits until no thread is busy.  Events
 * need no memory barrier for that: the stop asks the kernel to run one in every thread
 * (membarrier), so that each thread either sees the new `on` or shows its odd `busy`.
 *
 * A sampler reads the shadow stacks of other threads, and may do so while nothing is recorded.
 * Then `on` has the bit TV_ON_STACKS, and events only push and pop frames.  The fields that the
 * sampler reads are atomic; what it read is consistent if `busy` did not change meanwhile.  It asks
 * a thread that calls too often for that to copy its own stack (tv_stack_reply).
 */
#ifndef TV_RECORDER_STATE_H
#define TV_RECORDER_STATE_H

#include <assert.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>

#include "recorder/clock.h"
#include "recorder/method_table.h"
#include "recorder/output_file.h"
#include "recorder/recording.h"
#include "recorder/trace_buffer.h"
#include "recorder/trace_file.h"
#include "recorder/triggers.h"

/* Frames of a thread's shadow stack, which samplers can read and which unwinding compares with the
 * native stack.  Deeper calls are words alone (`deep`). */
#define TV_FRAMES_MAX 65536u

/* ---- Values of tv_recorder.on other than 0 and the number of a recording ---- */

#define TV_ON_STACKS (UINT32_C(1) << 31)

/* The first call begins the recording. */
#define TV_ON_WAITING (TV_ON_STACKS | UINT32_C(1) << 30)

/* Events wait until the recording resumes or ends (snapshot.c). */
#define TV_ON_PAUSED (TV_ON_WAITING | 1)

/* A flag in a thread's generation: a sampler asks for its stack.  The generation then differs from
 * `on`, so that the thread's next event takes the slow path and answers. */
#define TV_GENERATION_ASKED (UINT32_C(1) << 30)

/* A sampler gets at most so many frames of a stack, the innermost ones. */
#define TV_STACK_DEPTH_MAX 1024u

enum tv_stack_reply_state {
    TV_STACK_REPLY_NONE,
    TV_STACK_REPLY_ASKED,
    TV_STACK_REPLY_BUSY,
    TV_STACK_REPLY_READY
};

/* A copy of a thread's shadow stack that the thread makes for a sampler. */
struct tv_stack_reply {
    _Atomic uint32_t state; /* enum tv_stack_reply_state */
    uint32_t depth;
    uint64_t words[TV_STACK_DEPTH_MAX]; /* innermost first */
};

/* The key of a call that has no frame on the native stack (Java, calls by hand).  It is larger than
 * every native key, so no place on the native stack shows that such a call is gone. */
#define TV_FRAME_OFF_STACK UINT64_MAX

/* As above, for a constructor whose super() call has returned. */
#define TV_FRAME_CONSTRUCTED (UINT64_MAX - 1)

/* An open call. */
struct tv_recorder_frame {
    _Atomic uint64_t word; /* of its entry record */
    _Atomic uint64_t key;  /* where it is on the native stack (tv_fast_key), or the above */
};

/* A thread, or a fiber (recording.h), that has had an event. */
struct tv_recorder_thread {
    /* An event touches this one cache line, the frame and the record. */
    _Atomic uint32_t busy;                   /* odd in an event; each event adds 2 */
    _Atomic uint32_t generation;             /* the recording that it joined; TV_GENERATION_ASKED */
    uint64_t *next;                          /* where in its chunk the next record goes */
    _Atomic uintptr_t limit;                 /* `next` below it: the fast path is allowed */
    _Atomic(struct tv_recorder_frame *) top; /* frames - 1: no call is open */
    struct tv_recorder_frame *last;          /* the highest frame that `top` can reach */
    struct tv_recorder_frame *frames;        /* frames[-1] is a sentinel that no call leaves */
    uint64_t *end;                           /* of its chunk */
    uint32_t deep_count;                     /* open calls above the last frame */

    bool is_recorded;        /* false: only its shadow stack is kept */
    bool is_fast;            /* the fast path does: wall clock by counter, no filter */
    bool counter, wall, cpu; /* the clocks of a record */
    bool finished;           /* it has ended */
    uint32_t words;          /* of a record */
    struct tv_slow_calls slow;
    uint32_t trigger_depth; /* open calls up to the one that triggers; 0: none does */
    _Atomic(struct tv_stack_reply *) answer; /* NULL: no sampler has asked yet */

    uint32_t id;            /* the row in the buffer and the file, from 1 on; 0: none */
    uint32_t chunk;         /* the chunk that it fills; 0: none */
    uint32_t chunk_size;    /* records that its next chunk should have */
    uint32_t records_owned; /* of all its chunks */

    uint32_t end_calls;        /* how often its end was announced */
    uint32_t abandoned_checks; /* since `busy` was abandoned_busy (tv_recorder_clear_abandoned) */
    uint32_t abandoned_busy;

    uint64_t *deep;      /* words of calls above the last frame; bit 0: TV_FRAME_CONSTRUCTED */
    uint32_t deep_known; /* words in `deep`; below deep_count when there was no memory */
    uint32_t deep_room;

    void *handler_stack; /* the alternate signal stack, when the recorder installed it; or NULL */
    _Atomic uint32_t dropped;
    int64_t cpu_shift;          /* of a fiber: CPU clock of the thread that runs it, less its own */
    int64_t cpu_left;           /* of a fiber: its own CPU clock when it was unmounted */
    int tid;                    /* 0: a fiber */
    char name[TV_BUFFER_NAME];  /* from the host; "": unknown */
    char group[TV_BUFFER_NAME]; /* the same */
    struct tv_recorder_thread *next_thread;
};

/* A chunk that nobody uses: the rest of a closed chunk, or one that an ended thread left. */
struct tv_spare_chunk {
    uint32_t first, count; /* records */
    uint32_t chunk;        /* the number that it keeps; 0: it gets one when it is used */
};

#define TV_SPARE_CHUNKS_MAX 4096u

/* At least the page size of the system. */
#if defined(__x86_64__)
#define TV_PAGE 4096u
#else
#define TV_PAGE 65536u
#endif

/* Paths of the recording's files and copies of option texts.  "": none. */
struct tv_recorder_texts {
    char path[TV_BUFFER_PATH];   /* path of the trace, absolute */
    char part[TV_BUFFER_PATH];   /* the name of the trace while it is written */
    char folder[TV_BUFFER_PATH]; /* of the trace */
    char spool[TV_BUFFER_PATH];  /* the spool directory */
    char spool_path[TV_BUFFER_PATH], names_path[TV_BUFFER_PATH];
    char trigger[TV_BUFFER_PATH], slow_methods[TV_BUFFER_PATH]; /* patterns */
};

/* Spare chunks, under a spin lock: a hook in a signal handler may not wait for a mutex. */
struct tv_spare_chunks {
    atomic_flag lock;
    _Atomic uint32_t count;
    struct tv_spare_chunk chunks[TV_SPARE_CHUNKS_MAX];
};

/* Ended threads that still have a row in the buffer. */
struct tv_ended_threads {
    uint8_t ended_ids[TV_BUFFER_THREADS_MAX / 8 + 1]; /* a bit an id */
    uint32_t ended_at;                                /* where the next search among them begins */
};

/* Functions of the library that hosts the event core: the agent, or the native recorder.  Each may
 * be NULL. */
struct tv_recorder_host {
    tv_address_key key;
    tv_address_namer namer;
    /* Offer the functions of the file at the address to the method filter (triggers.h).  The lock
     * is held. */
    void (*find_functions)(uint64_t address);
    void (*joining)(void);    /* before the calling thread joins a recording */
    void (*joined)(void);     /* after it has joined */
    void (*first_call)(void); /* begins the recording that waits for a call */
    /* The C library's function, where the host replaces it. */
    int (*sigaction)(int number, const struct sigaction *action, struct sigaction *before);
};

/* All zeros at first, so that it takes no space in the library's file. */
struct tv_recorder {
    /* A forked child gets this page as zeros (MADV_WIPEONFORK), also after a _fork or clone of
     * which no handler is told.  So a child never writes into its parent's recording. */
    union {
        struct {
            _Atomic uint32_t on;
            _Atomic uint32_t stacks;     /* `on` without a recording: 0, or TV_ON_STACKS | number */
            bool started;                /* a file has yet to be written */
            pthread_mutex_t lock;        /* of the thread list, the methods and a streamed file */
            pthread_mutex_t buffer_lock; /* held while the buffer is made, released or prefaulted */
            struct tv_trace_buffer buffer;
        };
        _Alignas(TV_PAGE) char page[TV_PAGE];
    };

    uint64_t min_duration; /* shorter calls leave no record; in clock readings; 0: all do */
    uint64_t slow_limit;   /* a timed call as long ends the recording; 0: no call is timed */
    struct tv_slow_trigger slow_end;
    bool triggers;       /* only calls below certain methods are recorded (triggers.h) */
    uint32_t generation; /* number of the last recording */
    uint32_t stack_users, stack_number;
    struct tv_recorder_thread *threads;
    uint32_t finished; /* ended threads in that list */
    struct tv_method_table methods;
    struct tv_address_table addresses;

    struct tv_recorder_host host;

    int pid;
    struct tv_output_file file, names; /* the trace and the spool's names file */
    struct {
        dev_t device; /* 0 and 0: it was closed */
        ino_t inode;
    } stderr_file; /* standard error as it was at the start */
    bool spools, part_pid, leaves_part;
    _Atomic bool failure_reported; /* one message is enough */
    struct tv_recording_options options;
    struct tv_recorder_texts texts;
    struct tv_trace_writer writer;
    _Atomic uint64_t ended_ticks; /* when a full buffer or a slow call ended it; 0: not yet */
    uint64_t dropped;             /* events of ended threads */

    _Atomic int watcher;          /* tid of the watcher thread (watcher.c); 0: none */
    _Atomic uint32_t own_threads; /* other threads of the recorder */

    struct tv_ended_threads ended_threads;
    struct tv_spare_chunks spares;
};

extern struct tv_recorder tv_recorder;

/* The calling thread or the fiber that it runs; NULL before its first event. */
extern __thread struct tv_recorder_thread *tv_recorder_self
    __attribute__((tls_model("initial-exec")));

/* Not 0 in the recorder's own slow code: the calls that it makes are not recorded. */
extern __thread uint8_t tv_recorder_inside __attribute__((tls_model("initial-exec")));

/* ---- Locks and signals ---- */

/* Take the recorder's lock with the signals of the thread blocked.  A deadly signal's handler waits
 * for the file, whose writer needs the lock: the handler must not interrupt the lock's holder. */
void tv_recorder_lock(sigset_t *before);
void tv_recorder_unlock(const sigset_t *before);

/* Block all signals but faults, so that no handler can leave by siglongjmp. */
void tv_recorder_block_signals(sigset_t *before);
void tv_recorder_unblock_signals(const sigset_t *before);

/* Does the calling thread run on an alternate signal stack?  Its place says nothing about calls. */
bool tv_recorder_is_on_signal_stack(void);

/* ---- Events ---- */

static inline uint32_t tv_recorder_generation_of(struct tv_recorder_thread *thread)
{
    return atomic_load_explicit(&thread->generation, memory_order_relaxed) & ~TV_GENERATION_ASKED;
}

/* Count the frames in use. */
static inline uint32_t tv_recorder_depth_of(struct tv_recorder_thread *thread)
{
    return (uint32_t)(atomic_load(&thread->top) - (thread->frames - 1));
}

/* Is `on` the number of a recording? */
static inline bool tv_recorder_is_recording(uint32_t on)
{
    return on != 0 && !(on & TV_ON_STACKS);
}

/* Return `on`, after the end of a pause.  Return 0 during a pause for threads that must not wait:
 * the recorder's own, and handlers in the middle of an event. */
uint32_t tv_recorder_read_on(void);

/* Begin the recording that waits for a first call.  One thread does; calls of other threads during
 * the start are not recorded. */
void tv_recorder_begin_at_first_call(void);

/* Mark the thread as busy, in an event or in something that looks like one to other threads. */
static inline void tv_recorder_set_busy(struct tv_recorder_thread *self)
{
    atomic_store(&self->busy, atomic_load(&self->busy) | 1);
}

/* End that, wherever it began. */
static inline void tv_recorder_clear_busy(struct tv_recorder_thread *self)
{
    atomic_store(&self->busy, (atomic_load(&self->busy) | 1) + 1);
}

/* End an event that a handler has abandoned by siglongjmp, and return true.
 *
 * Such a thread would stay busy for ever.  A handler that will return to the event looks the same
 * at first; its records must not come between those of the event.  `frame` is the place of the
 * asking hook on the stack; with 0 nothing can be told.  True is certain; false is also the answer
 * when nothing can be told. */
bool tv_recorder_clear_abandoned(struct tv_recorder_thread *self, uintptr_t frame);

/* Push a call onto the shadow stack, above `top`, which is not the last frame.  In an event. */
static inline void tv_frame_push(struct tv_recorder_thread *self, struct tv_recorder_frame *top,
                                 uint64_t word, uint64_t key)
{
    /* Release order: nobody sees these stores before `busy` is odd. */
    atomic_store_explicit(&top[1].word, word, memory_order_release);
    atomic_store_explicit(&top[1].key, key, memory_order_release);
    atomic_store_explicit(&self->top, top + 1, memory_order_release);
}

/* Unroll all calls of the calling thread, which ends (pthread_exit). */
void tv_recorder_unroll_all(void);

/* Wait until no event is under way and no thread uses the fast path.  `on` must not be the number
 * of a recording any more. */
void tv_recorder_wait_for_events(void);

/* End the recording's events from within, after an overflow or a slow call; the file is still to be
 * written.  False: another thread has ended them. */
bool tv_recorder_end_events(void);

/* While anybody holds them, the shadow stacks are kept without a recording too. */
void tv_recorder_acquire_stacks(void);
void tv_recorder_release_stacks(void);

/* ---- Threads ---- */

/* Have the calling thread join the recording; NULL: the recording has ended or has no room for it.
 * When a sampler has asked the thread for its stack, it answers here. */
struct tv_recorder_thread *tv_recorder_attach(uint32_t generation);

/* See to it that the end of the calling thread is noticed, even if it records nothing. */
void tv_recorder_register_thread(void);

/* Free threads that have ended.  The lock is held. */
void tv_recorder_free_ended_threads(void);

/* Read the system's names of threads that the host has not named.  The lock is held. */
void tv_recorder_read_thread_names(void);

/* Does the thread have a row in the recording that is under way?  The lock is held. */
static inline bool tv_recorder_takes_part(struct tv_recorder_thread *thread)
{
    return tv_recorder.buffer.head && thread->id != 0 &&
           tv_recorder_generation_of(thread) == tv_recorder.generation;
}

/* Return the CPU time of the thread or fiber that runs, in nanoseconds. */
static inline uint64_t tv_recorder_cpu_ns(const struct tv_recorder_thread *self)
{
    return tv_cpu_clock_ns() - (uint64_t)self->cpu_shift;
}

/* Write the records of a fiber that is unmounted to the file, in a stream, and free its chunk:
 * there may be many times more fibers than chunks. */
void tv_recorder_flush_fiber(struct tv_recorder_thread *fiber);

/* End a fiber, which must not be mounted.  It is freed later. */
void tv_recorder_end_fiber(struct tv_recorder_thread *fiber);

/* ---- Chunks (chunks.c) ---- */

/* Give a thread whose chunk is full another one; false: there is none. */
bool tv_recorder_next_chunk(struct tv_recorder_thread *self);

/* End the thread's chunk and give back the part that it has not used.  The lock is held, or nobody
 * else is there. */
void tv_recorder_close_chunk(struct tv_recorder_thread *thread);

/* Allow the fast path up to the end of the chunk, if the thread may use it at all. */
void tv_recorder_set_limit(struct tv_recorder_thread *self);

/* Return the id of a thread that has ended, with or without records, or 0.  The search continues
 * where the last one stopped.  The lock is held. */
uint32_t tv_recorder_find_ended(bool has_records);

/* Note that a thread found no room.  The recording continues without its events. */
void tv_recorder_mark_overflow(void);

/* ---- Messages ---- */

/* Print one notice, at most one line, and tell the host. */
void tv_recorder_notice(enum tv_recording_notice notice, int error);

/* Print a line, which ends with '\n', on standard error: unless the program has replaced the one of
 * the start, or the recording is quiet. */
void tv_recorder_print_line(const char *line);

/* Report once that the spool's names file cannot be written any more; the recording continues.  The
 * lock is held. */
void tv_recorder_check_names_file(void);

/* ---- The watcher thread (watcher.c): the end of the process, signals and forks ---- */

/* Begin and end to watch for a recording. */
int tv_watcher_begin(void);
void tv_watcher_end(void);

/* Call `finish` once as the process ends, without a recording; NULL: no longer. */
void tv_watcher_run_at_exit(void (*finish)(void));

/* Leave a signal to another handler from now on. */
void tv_watcher_release_signal(int signal_number);

/* Replace an action of the program: where it is the default and would end the program without a
 * file, the recorder's handler takes its place. */
void tv_watcher_replace_default(int signal_number, struct sigaction *action);

/* The opposite: show the program the default in place of the recorder's handler. */
void tv_watcher_hide_handler(struct sigaction *action);

/* Wake the watcher to tell of an overflow, to tell once a recording that the buffer grows, to stop
 * after a slow call, to report a file that cannot be written, to prefault memory.  These are safe
 * in signal handlers. */
void tv_watcher_notify_overflow(void);
void tv_watcher_notify_growth(void);
void tv_watcher_notify_slow_call(void);
void tv_watcher_notify_failure(int error);
void tv_watcher_notify_prefault(void);

/* Tell the watcher that the main thread has ended, while the process goes on. */
void tv_watcher_notify_main_ended(void);

/* ---- Forks ---- */

/* Build "dir/app.PID.trace" from "dir/app.trace".  0 or -ENAMETOOLONG. */
int tv_recorder_child_path(const char *path, char *named, size_t size);

/* From now on, a forked child sees zeros in the page of tv_recorder that must not be shared. */
void tv_recorder_wipe_on_fork(void);

/* In a forked child: drop the parent's recording without touching its files. */
void tv_recorder_reset_after_fork(void);

/* ---- Snapshot requests (snapshot.c) ---- */

/* Begin to listen for requests, with a thread.  The recording continues when that fails. */
void tv_snapshot_listen(void);
/* Stop; no request is under way afterwards. */
void tv_snapshot_stop_listening(void);
/* In a forked child: the socket is the parent's. */
void tv_snapshot_reset_after_fork(void);

#endif
