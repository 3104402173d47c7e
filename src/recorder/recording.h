/* SPDX-License-Identifier: Apache-2.0 */
/*
 * recording.h - the public interface of the event core, which turns the calls of the host's threads
 * into a .trace.
 *
 * A process has one recording at a time.  Any thread tells which methods it enters and leaves. Each
 * event becomes a record, a word and a time, in a buffer that only its thread writes.  The stop
 * writes the file; a streamed file is written by the threads whose buffers are full, one at a time.
 *
 *     tv_recording_start(&options);
 *     uint32_t method = tv_recording_add_method(&(struct tv_recording_method){...});
 *     tv_recording_enter(method);
 *     tv_recording_leave(method, TV_MT_EXIT);
 *     tv_recording_stop(&info);
 *
 * The core runs inside other people's programs.  It never ends the host, never throws and calls no
 * malloc in an event.  enter and leave are safe in signal handlers: an event that interrupts
 * another event of its thread is counted as dropped.  The core uses src/wire and the platform,
 * nothing else. Errors are 0 or a negative errno.
 */
#ifndef TV_RECORDER_RECORDING_H
#define TV_RECORDER_RECORDING_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "wire/method_trace.h"

enum tv_recording_clock {
    TV_RECORDING_WALL, /* version 2; the cycle counter where it is reliable: about 15 ns */
    TV_RECORDING_CPU, /* version 2; CPU time of the thread: a few ns, or a system call of 150 to 900
                         ns */
    TV_RECORDING_DUAL, /* version 3; both */
};

/* The reaction to a full buffer. */
enum tv_recording_full {
    TV_RECORDING_STOP,   /* the recording ends; the file and one notice say so */
    TV_RECORDING_RING,   /* each thread overwrites its oldest events */
    TV_RECORDING_STREAM, /* records go to the file (0xF2, 0xF3) as the recording runs, so it is
                            never full */
};

enum tv_recording_notice {
    TV_RECORDING_OVERFLOWED, /* stop: the buffer is full and the recording has ended; ring, stream:
                                some thread found no room */
    TV_RECORDING_FAILED,     /* the file could not be written */
};

#define TV_RECORDING_BUFFER_DEFAULT (UINT64_C(8) << 20)
#define TV_RECORDING_BUFFER_LIMIT                                                                  \
    (UINT64_C(1) << 30) /* also the size that a growing buffer reaches */
#define TV_RECORDING_BUFFER_MIN                                                                    \
    (UINT64_C(1) << 10) /* the minimum of Debug.startMethodTracing                                 \
                         */

struct tv_recording_options {
    const char *path;  /* path of the trace; it is written as PATH.part, then renamed */
    const char *spool; /* NULL, or a directory: the buffer is a file there and survives SIGKILL */
    const char *vm;    /* the machine that the file names: "native", "jvm", "art" */
    uint64_t buffer_bytes; /* size, in bytes of the trace; 0: the default */
    uint64_t least_ns; /* shorter calls leave no record unless a longer one is within them; 0: all
                          are recorded.  Wall time, or CPU time when that is the only clock */
    const char
        *trigger; /* NULL, or patterns of methods, one a line: a thread's calls are recorded only
                     while a call of such a method is open in it.  A pattern matches Class.method or
                     the method's name alone; * is any text, ? one character */
    const char *
        slow; /* NULL, or patterns in the same form: a call of such a method that lasts slow_ns ends
                 the recording and has its file written.  One line on standard error names it */
    uint64_t slow_ns; /* at least 1 */
    enum tv_recording_clock clock;
    enum tv_recording_full full;
    bool grows; /* a full buffer grows up to TV_RECORDING_BUFFER_LIMIT, into unnamed files beside
                   `path`; for TV_RECORDING_STOP without a spool */
    bool quiet; /* print no notice */
    bool drop_orphans;  /* leave out exits whose entry came before the start */
    bool finish_at_end; /* write the file when the process exits or is ended by a signal that it
                           leaves at its default.  Not for hosts that announce their end */
    bool follow_forks;  /* a forked child records into its own file, NAME.PID.trace; else it records
                           nothing */
    bool (*stop)(
        void *arg); /* NULL, or how the host stops after a slow call; called in a thread of the
                       recorder.  False: the host is just starting or stopping, ask again */
    void (*notify)(enum tv_recording_notice notice,
                   void *arg); /* NULL, or called by the thread that stops or by a thread of the
                                  recorder, never in a signal handler */
    void *arg;
};

struct tv_recording_info {
    uint64_t records; /* in the file */
    uint64_t dropped; /* events without a record: inside another event, or no room */
    uint32_t threads;
    uint32_t overhead_ns; /* of one reading of the clocks */
    bool overflow;
    uint64_t lost; /* recovery only: streamed records that the partial file has lost */
};

/* Start a recording.  Opens the file now, so that a bad path is reported now.  -EBUSY: a
 * recording is under way; -EINVAL: no path, or a buffer size out of range; -ENOTSUP: the path is
 * a directory, a device or a pipe; else the error of open or mmap. */
int tv_recording_start(const struct tv_recording_options *options);

/* Have the first call begin the recording, through `start_recording`.  For a library that is
 * loaded into processes that may make no calls, and that leaves no file there. */
void tv_recording_wait_for_call(void (*start_recording)(void));

/* Stop: wait for events under way, then write the file.  `info` may be NULL.  Must also be
 * called after an overflow has ended the events.  -ENOENT: there is no recording; -EBADF: the
 * host closed the file's descriptor, and the file is gone. */
int tv_recording_stop(struct tv_recording_info *info);

/* Describe an error of these functions in words. */
const char *tv_recording_error(int error);

/* The allocation counters of the host, which go into the file as in Android's traces. */
struct tv_recording_allocations {
    uint64_t objects, bytes, collections;
};

/* Set the number of methods that the host could not instrument.  Before the stop. */
void tv_recording_set_left_out(uint32_t methods);

/* Set the allocation counters.  Before the stop; without it the file has none. */
void tv_recording_set_allocations(const struct tv_recording_allocations *allocations);

/* Are events recorded at this moment?  False after an overflow. */
bool tv_recording_active(void);

/* A method.  The texts are copied and may be NULL; tabs and line ends in them become blanks. */
struct tv_recording_method {
    const char *class_name; /* with dots or slashes, as the file should show it */
    const char *name;
    const char *signature;
    const char *file;
    int32_t line; /* of the first line; 0: unknown */
};

/* Return a number for the method, from 1 on, which is valid for the life of the process, across
 * recordings.  Adding a method twice gives two numbers.  0: no memory. */
uint32_t tv_recording_add_method(const struct tv_recording_method *method);

/* Return the number that a method with the same texts has from this function, whatever its line,
 * or a new one.  For hosts that load the same class again. */
uint32_t tv_recording_find_method(const struct tv_recording_method *method);

/* The calling thread enters the method. */
void tv_recording_enter(uint32_t method);

/* The calling thread leaves the method, by TV_MT_EXIT or TV_MT_UNROLL.  Calls that it entered
 * since and has not left are unrolled first, so that an exception need only be seen where it is
 * caught. */
void tv_recording_leave(uint32_t method, enum tv_mt_action action);

/* As above, for native code.  The method is the address `function`, `frame` is an address within
 * its stack frame (lower for callees), `site` its return address.  Calls whose part of the stack
 * is gone (longjmp) are unrolled. */
void tv_recording_enter_address(const void *function, const void *site, const void *frame);
/* Leave an address.  `tail`: the function jumped to the hook when its frame was gone already, so
 * that the hook returns to `site` itself. */
void tv_recording_leave_address(const void *function, const void *frame, bool tail);

/* Name the calling thread (UTF-8).  Without it, the system's name is read when the thread ends. */
void tv_recording_name_thread(const char *name);

/* Set the group of the calling thread, for samplers. */
void tv_recording_group_thread(const char *group);

/* Start a thread of the recorder with a stack of at least 1 MB: the C library's default may be
 * smaller (128 kB with musl).  A larger default stays, as the host's thread-local data take
 * their space from it.  0 or an error number. */
int tv_recorder_start_thread(pthread_t *thread, void *(*run)(void *context), void *context);

/* End the calling thread, for hosts that announce it.  The end of other threads is noticed
 * anyway. */
void tv_recording_end_thread(void);

/*
 * Fibers: threads of the host that take turns on threads of the system, such as the virtual threads
 * of a JVM.  From mount to unmount the events of the calling thread belong to the fiber, which has
 * an id, a name and a row of its own.  The time between unmount and mount is shown there as a call
 * of the method `away` (0: not at all).  NULL is a fiber that has had no event yet.
 */
struct tv_recorder_thread;
void tv_recording_mount(struct tv_recorder_thread *fiber, uint32_t away);
/* Return the fiber, for its next mount. */
struct tv_recorder_thread *tv_recording_unmount(uint32_t away);
/* End a fiber, which must not be mounted. */
void tv_recording_end_fiber(struct tv_recorder_thread *fiber);
/* Mark the recording as one whose fibers run unannounced, so that their calls are mixed. */
void tv_recording_mix_fibers(void);
/* Does a fiber run on the calling thread? */
bool tv_recording_is_fiber(void);
/* Treat the fibers that are mounted now as unmounted; no mount is announced from here on. */
void tv_recording_forget_mounts(void);

/* ---- Snapshots of a ring ---- */

/*
 * A snapshot is the content of the ring of a recording that continues.  The program's threads wait
 * at their next call while the buffer is copied, which takes some milliseconds; they run again
 * while the copy is written.
 *
 * Another process asks for one over a socket in the abstract name space, which vanishes with the
 * recorded process however that ends.  It sends one byte with the descriptor of an empty file, and
 * receives one line.  The recorder answers its own user and root.
 */

/* The name of the socket after its leading zero byte.  The number is the process's own pid. */
#define TV_SNAPSHOT_NAME "traceview-record-%d"
#define TV_SNAPSHOT_REQUEST 'S'
#define TV_SNAPSHOT_ANSWER 256u /* bytes of "+RECORDS\n" or "-WHY\n" */

/* Write a snapshot into an empty file.  -ENOENT: no recording with a ring is under way; else an
 * error of the system. */
int tv_recorder_snapshot(int file, uint64_t *records);

/* ---- Recovery of a killed process ---- */

/*
 * A recording with a spool leaves two files in the spool directory:
 *
 *     traceview-PID.spool   the trace buffer (trace_buffer.h)
 *     traceview-PID.names   lines of text:
 *                           "M\tLINE"                                   a method
 *                           "X\tSTART\tEND\tBIAS\tFROM\tTO\tPATH"       a loaded file
 *                           "A\tADDRESS\tNUMBER"                        the method of an address
 */

#define TV_RECOVER_PATH 4096u

/* Write the trace of a process that was killed, from its spool and names files.
 *
 * The trace gets the path that it was recorded for, or NAME.PID.trace when that is taken, or
 * `output` if that is not NULL; `path` (TV_RECOVER_PATH bytes) receives it.  Of a streamed
 * recording it holds the records already streamed and those that only the spool has; when some of
 * the streamed ones are lost, the partial file stays.  -EINVAL: no spool, or a damaged one; -EBUSY:
 * its process still records. */
int tv_recorder_recover(const char *spool, const char *names, const char *output, char *path,
                        struct tv_recording_info *info);

#endif
