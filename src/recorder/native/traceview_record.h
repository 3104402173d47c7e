/* SPDX-License-Identifier: Apache-2.0 */
/*
 * traceview_record.h - record the calls of a native program, or sample it: libtraceview-record.
 *
 * There are two ways to record every call, which can be combined:
 *
 *   without a line of code   compile with -finstrument-functions, and link with -ltraceview-record
 *                            or run under `traceview record -- ./program`
 *   by hand                  tvrec_method() once a function, tvrec_enter() and tvrec_exit() around
 *                            its body
 *
 * The result is a method trace (.trace) for traceview, dmtracedump and Android Studio.  `traceview
 * record` adds function names and lines when the program has ended.  Without it, functions are
 * addresses within their files, which the symbols and DWARF of the files resolve:
 *
 *   traceview convert --symbols ./program --symbols libmine.so app.trace -o named.trace
 *
 * profile, view and the other commands know --symbols too, also for samples.  A sampler looks at
 * what the threads are doing at regular intervals instead; see tvrec_sampler_new.
 *
 * Environment.  When TRACEVIEW_RECORD names a file, recording starts when the library is loaded and
 * ends with the process, by exit or by a signal that the program does not handle.  Then also:
 *
 *   TRACEVIEW_RECORD_CLOCK          wall (default), cpu, dual
 *   TRACEVIEW_RECORD_BUFFER         size in bytes of the file, with k, m or g: 8m
 *   TRACEVIEW_RECORD_FULL           stop (default), ring, stream
 *   TRACEVIEW_RECORD_GROW           1: a full buffer grows up to 1 GB, into unnamed files beside
 *                                   the trace; only with FULL=stop and without a spool
 *   TRACEVIEW_RECORD_MIN_DURATION   nanoseconds: shorter calls are left out
 *   TRACEVIEW_RECORD_TRIGGER        patterns of functions, one a line: a thread's calls are
 *                                   recorded only while a call of such a function is open in it
 *   TRACEVIEW_RECORD_SLOW           patterns of functions, one a line: a call of such a function
 *                                   ends the recording if it lasts at least
 *   TRACEVIEW_RECORD_SLOW_NS        so many nanoseconds
 *   TRACEVIEW_RECORD_SPOOL          a directory: the recording survives SIGKILL (`traceview
 *                                   recover`)
 *   TRACEVIEW_RECORD_FORK           follow: children record into files of their own
 *   TRACEVIEW_RECORD_CHILDREN       1: this process and those that it starts record from their
 *                                   first call on, into files with their pids in the names
 *   TRACEVIEW_RECORD_QUIET          1: print no notice
 *   TRACEVIEW_RECORD_SAMPLE         rate: sample all threads so many times a second instead; the
 *                                   file is hprof.  Of the variables above only QUIET applies
 *                                   then, and also:
 *   TRACEVIEW_RECORD_SAMPLE_DEPTH   frames of a stack (default: 64)
 *   TRACEVIEW_RECORD_SAMPLE_FORMAT  android (default), jdk, binary
 *   TRACEVIEW_RECORD_SAMPLE_STACK   shadow, fp; default: as tvrec_sampler_new chooses
 *
 * The library removes these variables from the environment, so that programs which this one starts
 * are not recorded into the same file.  With TRACEVIEW_RECORD_CHILDREN they stay.
 *
 * Functions return 0 or a negative errno.  The library never ends the program.  It prints one line
 * at most, or none if it is quiet.
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

/* A reading of wall time costs about 15 ns, of CPU time a few ns or a system call of about 400
 * ns; DUAL reads both. */
enum tvrec_clock { TVREC_CLOCK_WALL, TVREC_CLOCK_CPU, TVREC_CLOCK_DUAL };

/* When the buffer is full: end the recording, overwrite the oldest events of the thread, or
 * write to the file as the recording runs. */
enum tvrec_full { TVREC_FULL_STOP, TVREC_FULL_RING, TVREC_FULL_STREAM };

/* OVERFLOWED: the buffer is full and the recording has ended; in a ring or a stream, some
 * threads have found no room. */
enum tvrec_notice { TVREC_OVERFLOWED, TVREC_FAILED };

struct tvrec_options {
    size_t size;         /* sizeof(struct tvrec_options); later versions may have more fields */
    const char *path;    /* the file gets this name when it is complete */
    size_t buffer_bytes; /* size of the file, 4 KiB to 1 GiB; 0: 8 MiB */
    enum tvrec_clock clock;
    enum tvrec_full full;
    const char *spool_dir; /* NULL, or a directory where the buffer survives SIGKILL */
    int follow_forks;      /* a child records into NAME.PID.trace; else it records nothing */
    int quiet;             /* print no notice on standard error */
    void (*notify)(enum tvrec_notice what, void *arg); /* NULL; never called in a signal handler */
    void *arg;
};

struct tvrec_info {
    size_t size;      /* sizeof(struct tvrec_info), set by the caller */
    uint64_t records; /* entries and exits in the file */
    uint64_t dropped; /* events without a record */
    uint32_t threads;
    uint32_t clock_overhead_ns; /* of one reading of the clocks */
    int overflow;
};

/* Start a recording.  Opens the file now.  -EINVAL; -EBUSY: a recording is under way; -ENOMEM;
 * or an error of open. */
int tvrec_start(const struct tvrec_options *options);

/* Stop: wait for events under way and write the file.  `info` may be NULL.  -ENOENT: there is no
 * recording. */
int tvrec_stop(struct tvrec_info *info);

/* Are events recorded at this moment? */
int tvrec_active(void);

/* Name the calling thread; without it, it has the system's name. */
void tvrec_thread_name(const char *name);

/* Put the calling thread into a group for tvrec_set_group; without it, it is in "main". */
void tvrec_thread_group(const char *group);

/* Add a method; its texts are copied.  All but the name may be NULL, the line may be 0.  Return
 * its number, for the life of the process; 0: no memory. */
uint32_t tvrec_method(const char *class_name, const char *name, const char *signature,
                      const char *file, int line);

/* The calling thread enters or leaves a method.  Safe in signal handlers once the thread has
 * recorded anything.  unroll: the method is left by an error or exception; calls entered since
 * and not left are unrolled with it. */
void tvrec_enter(uint32_t method);
void tvrec_exit(uint32_t method);
void tvrec_unroll(uint32_t method);

/*
 * Samples: at every tick the stack of every thread of a set is taken and counted, whether the
 * thread runs or sleeps.  The output is hprof, as Android's SamplingProfiler or the JDK's hprof
 * agent wrote it.
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
 *   shadow   for code that was compiled with -finstrument-functions or calls tvrec_enter and
 *            tvrec_exit: the recorder knows the open calls.  It sends no signal and interrupts no
 *            system call.  Calls are known from the creation of the sampler on; a thread without
 *            any has no stack and is not counted.
 *   fp       for all other code: a signal, and the frame pointers of code that was compiled with
 *            -fno-omit-frame-pointer; on x86-64 and AArch64.  Threads that sleep, or have not run
 *            since the last tick, get no signal.  The caller of a function without a frame may be
 *            missing.  A thread that runs with the signal blocked gives no stack and is counted as
 *            missed.  A thread can fall asleep while the signal is on its way: then, rarely, its
 *            system call ends with EINTR.
 *
 * Intended differences from Android's profiler: the period is in nanoseconds, not rounded to
 * milliseconds; a tick that comes too late is left out and counted, later ones do not hurry; a
 * thread has one number and one START even when the sampler stops and starts again; empty stacks
 * are not counted; END comes when a thread dies as well as when it leaves the set; equal counts are
 * ranked by number; counts have 64 bits.
 */
struct tvrec_set;
struct tvrec_sampler;

/* The set of these threads, by the ids of gettid, which are copied.  NULL: no memory. */
struct tvrec_set *tvrec_set_array(const pid_t *threads, size_t count);

/* The threads of a group, or of the process (NULL), listed anew at every tick. */
struct tvrec_set *tvrec_set_group(const char *group);

/* The threads that a function returns at every tick.  It fills in at most `room` threads and
 * returns how many there are; when there are more it is called again with more room.  A 0 ends
 * the list.  It is called in the sampler's thread and must not call the sampler. */
struct tvrec_set *tvrec_set_function(size_t (*fill)(pid_t *threads, size_t room, void *arg),
                                     void *arg);

/* Make a sampler that keeps stacks down to `depth` frames, at most 1024.  It owns the set from
 * here on, even when it fails.  NULL with errno EINVAL: a depth below 1, or no set; ENOMEM. */
struct tvrec_sampler *tvrec_sampler_new(int depth, struct tvrec_set *set);

/* AUTO: shadow if any module that is loaded now was compiled with -finstrument-functions, else
 * fp. */
enum tvrec_stack { TVREC_STACK_AUTO, TVREC_STACK_SHADOW, TVREC_STACK_FP };

/* Choose how stacks are taken and by which signal, SIGRTMIN + n too; before the start.  0: the
 * first of SIGURG, SIGWINCH, SIGPROF and the real-time signals from the highest down that the
 * program neither handles nor ignores; another one is taken when the program begins to use it.
 * If a signal is on its way while the process executes another program, only SIGURG and SIGWINCH
 * do not end that.  -EINVAL: no such way or signal, or one of the C library's (below SIGRTMIN);
 * -EALREADY: it has started; -ENOTSUP: not on this machine. */
int tvrec_sampler_use(struct tvrec_sampler *sampler, enum tvrec_stack stack, int signal_number);

/* Start; the first tick is at once.  -EINVAL: a rate below 1 or above 10000; -EALREADY;
 * -ESHUTDOWN: after tvrec_sampler_shutdown, or in a child process; -EBUSY: the program handles
 * the signal, or all of them; -ENOTSUP; -EAGAIN: no thread. */
int tvrec_sampler_start(struct tvrec_sampler *sampler, int per_second);

/* Stop, after the tick under way.  0 also if it has not started. */
int tvrec_sampler_stop(struct tvrec_sampler *sampler);

/* Stop for good; the counts can still be written. */
int tvrec_sampler_shutdown(struct tvrec_sampler *sampler);

enum tvrec_hprof { TVREC_HPROF_ANDROID, TVREC_HPROF_JDK, TVREC_HPROF_BINARY };

/* Write what was counted since tvrec_sampler_new.  -EBUSY: it is running; -EINVAL: no such form;
 * -EIO. */
int tvrec_sampler_write(struct tvrec_sampler *sampler, FILE *to, enum tvrec_hprof form);

struct tvrec_sampler_info {
    size_t size;      /* sizeof(struct tvrec_sampler_info), set by the caller */
    uint64_t ticks;   /* that took place */
    uint64_t late;    /* that were left out as an earlier one took too long */
    uint64_t samples; /* counted stacks */
    uint64_t missed;  /* stacks that could not be taken in time, or of threads that run with the
                         signal blocked */
};

/* Get the counts.  -EBUSY: it is running; -EINVAL: no room. */
int tvrec_sampler_tell(struct tvrec_sampler *sampler, struct tvrec_sampler_info *info);

/* Free the sampler, after a shutdown.  NULL is allowed. */
void tvrec_sampler_free(struct tvrec_sampler *sampler);

#ifdef __cplusplus
}
#endif

#endif
