/* SPDX-License-Identifier: Apache-2.0 */
/*
 * state.h - the one recording of the process, and the threads that take part in it.  For the files
 * of this room alone.
 *
 * `on` is the number of the recording while events are taken, else 0.  A thread says that it is in
 * an event by `busy`; whoever takes `on` and the threads' limits away waits until nobody is.  The
 * order of the two on both sides comes from a barrier that the stop has the kernel run in all
 * threads, so that an event needs none.
 *
 * A sampler looks at the stacks of calls, which are kept for it also while nothing is recorded:
 * then `on` has the bit TV_ON_STACKS.  What it reads of another thread is atomic, and whole when
 * `busy` has not moved meanwhile; of a thread that calls too often for that it asks for a copy.
 */
#ifndef TV_RECORDER_STATE_H
#define TV_RECORDER_STATE_H

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>

#include "recorder/area.h"
#include "recorder/clock.h"
#include "recorder/cpu_clock.h"
#include "recorder/kept.h"
#include "recorder/methods.h"
#include "recorder/recording.h"
#include "recorder/slow.h"
#include "recorder/trace_file.h"

/* So many calls deep a thread's stack is there for samplers, and for what shows that native calls
 * are gone. */
#define TV_FRAMES_MAX 65536u

#define TV_ON_STACKS (UINT32_C(1) << 31)

/* Nothing is recorded yet: the first call begins the recording. */
#define TV_ON_WAITING (TV_ON_STACKS | UINT32_C(1) << 30)

/* Events wait, until the recording goes on or ends (snapshot.h).  No number of stacks. */
#define TV_ON_PAUSED (TV_ON_WAITING | 1)

/* In a thread's generation: it is asked for its stack, and gives it at its next event. */
#define TV_GENERATION_ASKED (UINT32_C(1) << 30)

/* So many frames of a stack, the innermost, are given. */
#define TV_STACK_DEPTH_MAX 1024u

enum tv_stack_reply_state { TV_STACK_REPLY_NONE, TV_STACK_REPLY_ASKED, TV_STACK_REPLY_BUSY, TV_STACK_REPLY_READY };

struct tv_stack_reply {
    _Atomic uint32_t state; /* enum tv_stack_reply_state */
    uint32_t depth;
    uint64_t words[TV_STACK_DEPTH_MAX]; /* innermost first */
};

/* A key that says: not on the native stack.  No place of that stack shows it to be gone. */
#define TV_FRAME_OFF_STACK UINT64_MAX

/* The same of a constructor that is past its super(). */
#define TV_FRAME_CONSTRUCTED (UINT64_MAX - 1)

struct tv_recorder_frame {
    _Atomic uint64_t word; /* of the entry */
    _Atomic uint64_t key;  /* of quick.h, or TV_FRAME_OFF_STACK */
};

struct tv_recorder_thread {
    /* All that an event touches, but for the frame and the record, is one cache line. */
    _Atomic uint32_t busy;                   /* odd in an event; moves with each */
    _Atomic uint32_t generation;             /* the recording it is set up for, and TV_GENERATION_ASKED */
    uint64_t *next;                          /* in its chunk */
    _Atomic uintptr_t limit;                 /* of `next` where events are quick, else 0 */
    _Atomic(struct tv_recorder_frame *) top; /* frames - 1: no call is open */
    struct tv_recorder_frame *last;          /* that top can be */
    struct tv_recorder_frame *frames;        /* [-1] is one that nobody leaves */
    uint64_t *end;                           /* of its chunk */
    uint32_t over;                           /* calls that are open above the last of the frames */

    bool records;            /* false: only its stack is kept */
    bool quick;              /* the clock is the counter alone */
    bool counter, wall, cpu; /* what a record takes */
    bool finished;           /* the thread's end was seen */
    uint32_t words;
    struct tv_slow_calls slow;
    uint32_t triggered; /* so many calls are open up to the one that triggers; 0: none does */
    _Atomic(struct tv_stack_reply *) answer; /* NULL: it was never asked */
    uint32_t id;                                 /* in the area */
    uint32_t chunk;                              /* that it fills, 0: none */
    uint32_t wanted, owned;                      /* records: of the next chunk, of all its chunks */
    uint32_t ends;                               /* how often its end was announced */
    uint32_t looks, looked_in;                   /* of left_behind.c */
    uint64_t *deep; /* the words of calls above the last frame; bit 0: as TV_FRAME_CONSTRUCTED */
    uint32_t known, deep_room; /* how many are there; less than `over`: there was no memory */
    void *handler_stack;       /* NULL: it has none of ours */
    _Atomic uint32_t dropped;
    int64_t cpu_shift;        /* of a fiber: the clock of the thread that runs it, less its own */
    int64_t cpu_left;         /* its own clock when it was unmounted */
    int tid;                  /* 0: a fiber */
    char name[TV_BUFFER_NAME];  /* given by the host, or empty */
    char group[TV_BUFFER_NAME]; /* the same */
    struct tv_recorder_thread *other; /* in the list of all */
};

struct tv_spare_chunk {
    uint32_t first, count;
    uint32_t chunk; /* whose number it keeps, 0: none yet */
};

#define TV_SPARE_CHUNKS_MAX 4096u

/* At least the system's. */
#if defined(__x86_64__)
#define TV_PAGE 4096u
#else
#define TV_PAGE 65536u
#endif

/* All zeros at first, so that no file lies behind its pages. */
struct tv_recorder {
    /* The kernel hands a forked child zeros in place of this page, also where nobody can tell the
     * recorder of the fork (_Fork, clone): then nothing is recorded there. */
    union {
        struct {
            _Atomic uint32_t on;
            _Atomic uint32_t
                stacks; /* what `on` is when nothing is recorded: 0, or TV_ON_STACKS and a number */
            bool started;              /* there is a file to write */
            pthread_mutex_t lock;      /* of the list, of methods and of a streamed file */
            pthread_mutex_t area_lock; /* of whether there is an area */
            struct tv_trace_buffer area;
        };
        _Alignas(TV_PAGE) char page[TV_PAGE];
    };
    uint64_t
        least; /* what a call has to last to be recorded, in readings of its clock; 0: nothing */
    uint64_t slow; /* a timed call that lasts as long ends the recording, in the same readings; 0:
                      none is timed */
    struct tv_slow_trigger slow_end;
    bool triggers; /* calls are recorded below those of certain methods only (chosen.h) */
    uint32_t generation;
    uint32_t stack_users, stack_number;
    struct tv_recorder_thread *threads;
    struct tv_method_table methods;
    struct tv_address_table addresses;
    tv_address_key key; /* or NULL */
    tv_address_namer namer;
    void (*find_functions)(uint64_t address); /* or NULL: a host's, that offers to chosen.h the
                           functions of the file that lies at the address.  The lock is held */
    void (*joining)(void);    /* or NULL: a host's, before the calling thread joins a recording */
    void (*joined)(void);     /* the same, after it has joined */
    void (*first_call)(void); /* begins the recording that waits for a call */

    int pid;
    struct tv_output_file file, names;
    dev_t error_device; /* standard error, as it was at the start */
    ino_t error_inode;
    bool spools, part_pid, leaves_part;
    _Atomic bool told; /* of a failure: once is enough */
    struct tv_recording_options options;
    char path[TV_BUFFER_PATH], part[TV_BUFFER_PATH], spool[TV_BUFFER_PATH];
    char folder[TV_BUFFER_PATH];                              /* of path */
    char trigger[TV_BUFFER_PATH], slow_methods[TV_BUFFER_PATH]; /* "": none */
    char spool_path[TV_BUFFER_PATH], names_path[TV_BUFFER_PATH];
    struct tv_trace_writer job;
    _Atomic uint64_t ended; /* ticks; 0: not yet */
    uint64_t dropped;       /* of threads that are gone */

    int (*sigaction)(int number, const struct sigaction *action, struct sigaction *before);
    /* the C library's, where a host has another one in its place; or NULL */
    _Atomic int watcher;          /* the thread that waits for the end (finish.c), 0: none */
    _Atomic uint32_t own_threads; /* others of the recorder's */

    uint32_t finished;                          /* threads that have ended and are in the list */
    uint8_t ended_ids[TV_BUFFER_THREADS_MAX / 8 + 1]; /* a bit for each thread of the area */
    uint32_t ended_at;                          /* where the search among them goes on */

    atomic_flag spare_lock;
    _Atomic uint32_t spare_count;
    struct tv_spare_chunk spares[TV_SPARE_CHUNKS_MAX];
};

extern struct tv_recorder tv_recorder;

/* The calling thread's; NULL before its first event. */
extern __thread struct tv_recorder_thread *tv_recorder_self
    __attribute__((tls_model("initial-exec")));

/* Inside the recorder's slow paths: what is recorded there is not wanted. */
extern __thread uint8_t tv_recorder_inside __attribute__((tls_model("initial-exec")));

/* The recorder's lock, whose holder no handler interrupts: at the end by a signal that one waits
 * for the file, and who writes it for the lock. */
void tv_recorder_lock(sigset_t *before);
void tv_recorder_unlock(const sigset_t *before);

/* While anybody wants them, the stacks of calls are kept without a recording too. */
void tv_recorder_acquire_stacks(void);
void tv_recorder_release_stacks(void);

static inline uint32_t tv_recorder_generation_of(struct tv_recorder_thread *thread)
{
    return atomic_load_explicit(&thread->generation, memory_order_relaxed) & ~TV_GENERATION_ASKED;
}

/* How many of its frames are in use. */
static inline uint32_t tv_recorder_depth_of(struct tv_recorder_thread *thread)
{
    return (uint32_t)(atomic_load(&thread->top) - (thread->frames - 1));
}

/* Is `on` that of a recording? */
static inline bool tv_recorder_is_recording(uint32_t on)
{
    return on != 0 && !(on & TV_ON_STACKS);
}

/* What `on` is, once a pause is over; 0 for the recorder's own threads in one, and for handlers in
 * the middle of an event. */
uint32_t tv_recorder_read_on(void);

/* No thread makes an event quickly, and none that was under way before is so afterwards: `on` is
 * not that of a recording. */
void tv_recorder_wait_for_events(void);

/* Names of threads that were set late are seen now.  The lock is held. */
void tv_recorder_read_thread_names(void);

/* Begin the recording that waits for the first call.  One thread does; calls of others meanwhile
 * are not recorded. */
void tv_recorder_begin_at_first_call(void);

/* "dir/app.trace" becomes "dir/app.PID.trace".  0 or -ENAMETOOLONG. */
int tv_recorder_child_path(const char *path, char *named, size_t size);
/* Time of the processors, for the thread or the fiber that runs. */
static inline uint64_t tv_recorder_cpu_ns(const struct tv_recorder_thread *self)
{
    return tv_cpu_clock_ns() - (uint64_t)self->cpu_shift;
}

/* Makes the calling thread part of the recording; NULL: it has ended, or there is no room.  A
 * thread that is asked for its stack gives it here. */
struct tv_recorder_thread *tv_recorder_attach(uint32_t generation);

/* A new chunk for the thread, which has filled its last one; false: there is none. */
bool tv_recorder_next_chunk(struct tv_recorder_thread *self);

/* Forgets threads that have ended; the lock is held. */
void tv_recorder_free_ended_threads(void);

/* events.c: the calling thread ends, and with it the calls that it has not left (pthread_exit). */
void tv_recorder_unroll_all(void);

/* threads.c: the fiber is unmounted for a while.  In a stream its records go to the file, so that
 * others have the room: there may be many times more fibers than chunks. */
void tv_recorder_flush_fiber(struct tv_recorder_thread *fiber);

/* threads.c: the fiber has ended, and is forgotten some time.  It is not mounted. */
void tv_recorder_end_fiber(struct tv_recorder_thread *fiber);

/* What a thread has not used goes back; the lock is held or nobody else is there. */
void tv_recorder_close_chunk(struct tv_recorder_thread *thread);

/* Events are quick up to the end of the chunk, as far as they can be. */
void tv_recorder_set_limit(struct tv_recorder_thread *self);

/* The thread is in an event, or in something that must look like one to others. */
static inline void tv_recorder_set_busy(struct tv_recorder_thread *self)
{
    atomic_store(&self->busy, atomic_load(&self->busy) | 1);
}

/* The end of that, wherever it was begun. */
static inline void tv_recorder_clear_busy(struct tv_recorder_thread *self)
{
    atomic_store(&self->busy, (atomic_load(&self->busy) | 1) + 1);
}

/* On top of `top`, which is not the last; within an event. */
static inline void tv_frame_push(struct tv_recorder_thread *self, struct tv_recorder_frame *top,
                                 uint64_t word, uint64_t key)
{
    /* Releases, so that nobody sees them before `busy` is odd. */
    atomic_store_explicit(&top[1].word, word, memory_order_release);
    atomic_store_explicit(&top[1].key, key, memory_order_release);
    atomic_store_explicit(&self->top, top + 1, memory_order_release);
}

/* Tells once when the spool's names cannot be written any more: all else goes on.  The lock is
 * held. */
void tv_recorder_check_names_file(void);

/* Prints at most one line. */
void tv_recorder_notice(enum tv_recording_notice notice, int error);

/* The line, which ends with '\n', to standard error: unless that is no longer the one that was
 * there at the start, or is to be quiet. */
void tv_recorder_print_line(const char *line);

/* The end of the process, forks and signals (finish.c): begins and ends to look after them. */
int tv_watcher_begin(void);
void tv_watcher_end(void);

/* The same for a host's part without a recording: `finish` is called once, as the process ends. */
void tv_watcher_run_at_exit(void (*finish)(void));

/* Somebody else handles a signal from now on. */
void tv_watcher_release_signal(int signal_number);

/* An action of the program's for the signal: where it is the default one, and would end the program
 * without a file, the recorder's handler stands in for it. */
void tv_watcher_replace_default(int signal_number, struct sigaction *action);

/* The same action as the program knows it. */
void tv_watcher_hide_handler(struct sigaction *action);

/* Tells the thread that looks after overflows; may be called in a signal handler. */
void tv_watcher_notify_overflow(void);

/* Tells it, once a recording, that the buffer grows. */
void tv_watcher_notify_growth(void);

/* Tells it that a call has ended the recording (slow.h). */
void tv_watcher_notify_slow_call(void);

/* threads.c: nothing more is recorded; false: somebody else has ended it. */
bool tv_recorder_end_events(void);

/* Tells it of a file that cannot be written. */
void tv_watcher_notify_failure(int error);

/* Has it bring memory for the records to come; the same. */
void tv_watcher_notify_prefault(void);

/* The main thread has ended, and the process goes on without it. */
void tv_watcher_notify_main_ended(void);

/* The calling thread's end will be seen, also if it never records anything. */
void tv_recorder_register_thread(void);

/* From now on a forked child has nothing of the page that is the process's own. */
void tv_recorder_wipe_on_fork(void);

/* After a fork, in the child: the parent's recording is none of its business. */
void tv_recorder_reset_after_fork(void);

#endif
