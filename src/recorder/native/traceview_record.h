/* SPDX-License-Identifier: Apache-2.0 */
/*
 * traceview_record.h - record what a native program calls, or sample it: libtraceview-record.
 *
 * Two ways to record every call, which go together:
 *
 *   without a line of code   compile with -finstrument-functions, link with -ltraceview-record or
 *                            run under `traceview record -- ./program`
 *   by hand                  tvrec_method() once a function, tvrec_enter() and tvrec_exit() around
 *                            what it does
 *
 * The result is a method trace (.trace), for traceview, dmtracedump and Android Studio.  `traceview
 * record` gives its functions names and lines when the program has ended; without it they are
 * addresses within their files, which
 *
 *   traceview convert --symbols ./program --symbols libmine.so app.trace -o named.trace
 *
 * names from the symbols and the DWARF of those files; profile, view and the others know --symbols
 * too, of samples as well.  A sampler
 * instead looks at what the threads are doing at even intervals; see tvrec_sampler_new.
 *
 * Environment.  When TRACEVIEW_RECORD names a file, recording starts as the library is loaded and
 * ends with the process, by exit or by a signal that the program does not handle.  Then also:
 *
 *   TRACEVIEW_RECORD_CLOCK   wall (default), cpu, dual
 *   TRACEVIEW_RECORD_BUFFER  bytes of the file, with k, m or g: 8m
 *   TRACEVIEW_RECORD_FULL    stop (default), ring, stream
 *   TRACEVIEW_RECORD_GROW    1: a full buffer grows up to 1 GB, in files without names beside the
 *                            trace; of stop without a spool
 *   TRACEVIEW_RECORD_MIN_DURATION  nanoseconds: calls that last less are left out
 *   TRACEVIEW_RECORD_TRIGGER  patterns of functions, one a line: a thread's calls are recorded only
 *                            while a call of such a function is open in it
 *   TRACEVIEW_RECORD_SLOW    patterns too, with TRACEVIEW_RECORD_SLOW_NS nanoseconds: a call of
 * such a function that lasts as long ends the recording TRACEVIEW_RECORD_SPOOL   a folder: what is
 * recorded outlives SIGKILL (`traceview recover`) TRACEVIEW_RECORD_FORK    follow: children record
 * into files of their own TRACEVIEW_RECORD_CHILDREN  1: this process and those that it starts
 * record from their first call on, into files of their own, with their numbers in the names
 * TRACEVIEW_RECORD_QUIET   1: no notice TRACEVIEW_RECORD_SAMPLE  so many times a second, all
 * threads are sampled instead, and the file is an hprof file of samples; those above but QUIET have
 * no meaning, and these have: TRACEVIEW_RECORD_SAMPLE_DEPTH   frames of a stack (default: 64)
 *   TRACEVIEW_RECORD_SAMPLE_FORMAT  android (default), jdk, binary
 *   TRACEVIEW_RECORD_SAMPLE_STACK   shadow, fp; default: as tvrec_sampler_new chooses
 *
 * The library takes these out of the environment, so that programs which this one starts are not
 * recorded into the same file; with TRACEVIEW_RECORD_CHILDREN they stay.
 *
 * Functions return 0 or a negative errno.  The library never ends the program and prints one line
 * at most, unless it is quiet.
 */
#ifndef TRACEVIEW_RECORD_H
#define TRACEVIEW_RECORD_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Wall time costs some 15 ns a reading, CPU time some 400 ns (a system call), both the sum. */
enum tvrec_clock { TVREC_CLOCK_WALL, TVREC_CLOCK_CPU, TVREC_CLOCK_DUAL };

/* When the buffer is full: end the recording, forget the oldest events of the thread, or write to
 * the file as it goes. */
enum tvrec_full { TVREC_FULL_STOP, TVREC_FULL_RING, TVREC_FULL_STREAM };

/* What notify tells.  OVERFLOWED: the buffer is full and nothing more is recorded; of a ring or a
 * stream that threads have found no room in it. */
enum tvrec_notice { TVREC_OVERFLOWED, TVREC_FAILED };

struct tvrec_options {
    size_t size;         /* sizeof(struct tvrec_options): later versions may have more */
    const char *path;    /* the file appears under this name when it is whole */
    size_t buffer_bytes; /* bytes of the file, 4 KiB to 1 GiB; 0: 8 MiB */
    enum tvrec_clock clock;
    enum tvrec_full full;
    const char *spool_dir; /* NULL, or where the buffers outlive SIGKILL */
    int follow_forks;      /* a child records into NAME.PID.trace; else it records nothing */
    int quiet;             /* no notice on standard error */
    void (*notify)(enum tvrec_notice what, void *arg); /* NULL, or called outside handlers */
    void *arg;
};

struct tvrec_info {
    size_t size;      /* sizeof(struct tvrec_info), set by the caller */
    uint64_t records; /* in the file: entries and exits */
    uint64_t dropped; /* events without a record */
    uint32_t threads;
    uint32_t clock_overhead_ns; /* what reading the clocks costs */
    int overflow;
};

/* Opens the file now.  -EINVAL; -EBUSY: a recording is under way; -ENOMEM; what open says. */
int tvrec_start(const struct tvrec_options *options);

/* Writes the file; waits for events under way.  *info may be NULL.  -ENOENT: nothing is recorded.
 */
int tvrec_stop(struct tvrec_info *info);

/* Is anything recorded at this moment? */
int tvrec_active(void);

/* Names the calling thread; otherwise it has the system's name. */
void tvrec_thread_name(const char *name);

/* Puts the calling thread into a group, for tvrec_set_group; otherwise it is in "main". */
void tvrec_thread_group(const char *group);

/* A method by its texts, which are copied; all but the name may be NULL, the line 0.  Its number,
 * for the life of the process; 0: no memory. */
uint32_t tvrec_method(const char *class_name, const char *name, const char *signature,
                      const char *file, int line);

/* The calling thread enters and leaves a method.  Usable in signal handlers once the thread has
 * recorded anything.  unroll: it is left by an error or exception; what was entered since and not
 * left is unrolled with it. */
void tvrec_enter(uint32_t method);
void tvrec_exit(uint32_t method);
void tvrec_unroll(uint32_t method);

/*
 * Samples: at every tick the stack of every thread of a set is taken and counted, whether the
 * thread runs or sleeps.  What is written is hprof, as Android's SamplingProfiler wrote it or as
 * the JDK's hprof agent did.
 *
 *     struct tvrec_sampler *sampler = tvrec_sampler_new(16, tvrec_set_group(NULL));
 *     tvrec_sampler_start(sampler, 100);
 *     ...
 *     tvrec_sampler_stop(sampler);
 *     tvrec_sampler_write(sampler, file, TVREC_HPROF_ANDROID);
 *     tvrec_sampler_free(sampler);
 *
 * Stacks are taken in one of two ways:
 *
 *   shadow   of code that was compiled with -finstrument-functions, or that calls tvrec_enter and
 *            tvrec_exit: the recorder knows what is called.  No signal is sent and no system call
 *            of the program is interrupted.  Calls are known from the time on when the sampler was
 *            made; a thread that has made none since has no stack and is not counted.
 *   fp       of all other code: a signal, and the frame pointers of code that was compiled with
 *            -fno-omit-frame-pointer; x86-64 and AArch64.  Threads that have not run since the last
 *            tick, or that sleep, get no signal.  Of a function without a frame its caller may be
 *            missing.  Of a thread that runs with the signal blocked no stack is taken; how many
 * are missing so is told.  A thread can fall asleep while the signal is on its way: then, rarely,
 * its system call ends with EINTR.
 *
 * Differences from Android's profiler, on purpose: the period is counted in nanoseconds, not
 * rounded to milliseconds; a tick that comes too late is left out and counted, later ones do not
 * hurry; a thread has one number and one START also when the sampler is stopped and started again;
 * empty stacks are not counted; END comes when a thread is dead as well as when it leaves the set;
 * equal counts are ranked by number; counts have 64 bits.
 */
struct tvrec_set;
struct tvrec_sampler;

/* These threads, by the numbers that gettid gives; they are copied.  NULL: no memory. */
struct tvrec_set *tvrec_set_array(const pid_t *threads, size_t count);

/* The threads of a group, NULL: all of the process; looked for anew at every tick. */
struct tvrec_set *tvrec_set_group(const char *group);

/* What a function says at every tick: it fills in at most `room` threads and returns how many there
 * are; when there are more than room it is called again with more.  A 0 ends the list.  It is
 * called in the sampler's thread and must not call the sampler. */
struct tvrec_set *tvrec_set_function(size_t (*fill)(pid_t *threads, size_t room, void *arg),
                                     void *arg);

/* Stacks are kept down to `depth` frames, of which there can be 1024.  The set becomes the
 * sampler's, also when there is an error.  NULL with errno EINVAL: a depth below 1, or no set;
 * ENOMEM. */
struct tvrec_sampler *tvrec_sampler_new(int depth, struct tvrec_set *set);

/* AUTO: shadow when a part of the program that is loaded by now was compiled with
 * -finstrument-functions, else fp. */
enum tvrec_stack { TVREC_STACK_AUTO, TVREC_STACK_SHADOW, TVREC_STACK_FP };

/* Before the start: how stacks are taken, and by which signal, SIGRTMIN + n too.  0: the first of
 * SIGURG, SIGWINCH, SIGPROF and those of real time from the highest down that the program does not
 * handle or ignore itself, looked for anew as it begins to.  A signal can be on its way while the
 * program is replaced by another one (execve), which SIGURG and SIGWINCH alone do not end. -EINVAL:
 * no such way or signal, or one of the C library's own (below SIGRTMIN); -EALREADY: it has started;
 * -ENOTSUP: not on this machine. */
int tvrec_sampler_use(struct tvrec_sampler *sampler, enum tvrec_stack stack, int signal_number);

/* The first tick is at once.  -EINVAL: a rate below 1 or above 10000; -EALREADY; -ESHUTDOWN: after
 * tvrec_sampler_shutdown, or in a child process; -EBUSY: the program handles the signal itself, or
 * all; -ENOTSUP; -EAGAIN: no thread. */
int tvrec_sampler_start(struct tvrec_sampler *sampler, int per_second);

/* Waits for the tick under way.  0 also when it has not started. */
int tvrec_sampler_stop(struct tvrec_sampler *sampler);

/* Stops it for good; what it has counted can be written. */
int tvrec_sampler_shutdown(struct tvrec_sampler *sampler);

enum tvrec_hprof { TVREC_HPROF_ANDROID, TVREC_HPROF_JDK, TVREC_HPROF_BINARY };

/* Writes all that was counted since tvrec_sampler_new.  -EBUSY: it is started; -EINVAL: no such
 * form; -EIO. */
int tvrec_sampler_write(struct tvrec_sampler *sampler, FILE *to, enum tvrec_hprof form);

struct tvrec_sampler_info {
    size_t size;      /* sizeof(struct tvrec_sampler_info), set by the caller */
    uint64_t ticks;   /* that took place */
    uint64_t late;    /* that were left out, because the one before took too long */
    uint64_t samples; /* counted stacks */
    uint64_t missed;  /* stacks that could not be taken in time, or of threads that run with the
                         signal blocked */
};

/* -EBUSY: it is started; -EINVAL: no room. */
int tvrec_sampler_tell(struct tvrec_sampler *sampler, struct tvrec_sampler_info *info);

/* Shuts it down first.  NULL is fine. */
void tvrec_sampler_free(struct tvrec_sampler *sampler);

#ifdef __cplusplus
}
#endif

#endif
