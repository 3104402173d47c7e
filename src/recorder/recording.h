/* SPDX-License-Identifier: Apache-2.0 */
/*
 * recording.h - the event core of the recorder: what happens in the host's threads becomes a
 * .trace.
 *
 * A process has one recording at a time.  Any thread says what it enters and leaves; each event is
 * a time and a word in a buffer that only its thread writes.  The file is written by the stop (or,
 * when streaming, by the threads whose buffers are full, one at a time).
 *
 *     tv_recording_start(&options);
 *     uint32_t method = tv_recording_add_method(&(struct tv_recording_method){...});
 *     tv_recording_enter(method);
 *     tv_recording_leave(method, TV_MT_EXIT);
 *     tv_recording_stop(&info);
 *
 * Never ends the host, never throws, calls no malloc.  enter and leave may be called in signal
 * handlers: an event that interrupts another one of its thread is counted as dropped.
 *
 * This room is part of the programs that are recorded: it uses src/wire and the platform, nothing
 * else.  Errors are 0 or a negative errno.
 */
#ifndef TV_RECORDER_RECORDING_H
#define TV_RECORDER_RECORDING_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "wire/method_trace.h"

enum tv_recording_clock {
    TV_RECORDING_WALL, /* version 2; the cycle counter where it can be trusted: some 15 ns */
    TV_RECORDING_CPU,  /* version 2, the thread's CPU time: a system call, some 400 ns */
    TV_RECORDING_DUAL, /* version 3, both */
};

/* What to do when the buffer is full. */
enum tv_recording_full {
    TV_RECORDING_STOP,   /* the recording ends; the file says so and one notice does */
    TV_RECORDING_RING,   /* each thread forgets its oldest events */
    TV_RECORDING_STREAM, /* never full: to the file (0xF2, 0xF3) as it goes */
};

enum tv_recording_notice {
    TV_RECORDING_OVERFLOWED, /* the buffer is full, nothing more is recorded; of a ring or a stream:
                                some thread has found no room */
    TV_RECORDING_FAILED,     /* the file could not be written */
};

#define TV_RECORDING_BUFFER_DEFAULT (UINT64_C(8) << 20)
#define TV_RECORDING_BUFFER_LIMIT (UINT64_C(1) << 30) /* what a buffer grows to, too */
#define TV_RECORDING_BUFFER_LEAST (UINT64_C(1) << 10) /* as for Debug.startMethodTracing */

struct tv_recording_options {
    const char *path;      /* of the file; it appears whole: written as PATH.part, then renamed */
    const char *spool;     /* NULL, or a folder: the buffers are a file there and outlive SIGKILL */
    const char *vm;        /* what the file names as the machine: "native", "jvm", "art" */
    uint64_t buffer_bytes; /* as bytes of the file; 0: the default */
    uint64_t least_ns;   /* calls that last less leave no record, unless a longer one lies in them;
                            0: all do.  By the wall clock, or the CPU's when there is no other */
    const char *trigger; /* NULL, or patterns of methods with '\n' between them: a thread's calls
                            are recorded only while a call of such a method is open in it.  They are
                            of Class.method or of the method's name alone; * is any text, ? one
                            character */
    const char *slow;    /* NULL, or patterns in the same form: a call that lasts slow_ns ends the
                            recording, whose file is written then.  A line says which */
    uint64_t slow_ns;    /* 1 at least */
    enum tv_recording_clock clock;
    enum tv_recording_full full;
    bool grows;         /* when that is full, take files beside `path`, up to the limit below; of
                           buffers in memory that stop when they are full */
    bool quiet;         /* no notice on standard error */
    bool drop_orphans;  /* leave out exits whose entry came before the start */
    bool finish_at_end; /* write the file when the process exits or is ended by a signal whose
                           handling is the default one.  Not for hosts that tell of their end. */
    bool follow_forks;  /* a child records into a file of its own, NAME.PID.trace; otherwise it
                           records nothing */
    bool (*stop)(void *arg); /* or NULL: the host's way to stop after a slow call; in a thread of
                                the recorder's own.  False: the host is about to start or to stop,
                                and is asked again */
    void (*notify)(enum tv_recording_notice notice, void *arg); /* or NULL; in the thread of the
                           stop or in one of the recorder's own, never in a signal handler */
    void *arg;
};

struct tv_recording_info {
    uint64_t records; /* in the file */
    uint64_t dropped; /* events of which there is no record: nested in another, or no room */
    uint32_t threads;
    uint32_t overhead_ns; /* what a reading of the clocks costs */
    bool overflow;
    uint64_t lost; /* records of a recovered stream that were in its file, which is cut or gone */
};

/* Opens the file now, so that a bad path is known now.  -EBUSY: there is a recording; -EINVAL: no
 * path, or a buffer out of range; -ENOTSUP: a folder, a device or a pipe lies there; else what mmap
 * or open say. */
int tv_recording_start(const struct tv_recording_options *options);

/* Have the first call begin the recording, by `start_recording`: for a library in a process that
 * may have no calls to record, and then is to leave no trace. */
void tv_recording_wait_for_call(void (*start_recording)(void));

/* Waits for the events under way, then writes the file.  *info may be NULL.  -ENOENT: there is no
 * recording.  Also after an overflow has ended it, which leaves the file to be written.  -EBADF:
 * the host has closed the file, and it is gone. */
int tv_recording_stop(struct tv_recording_info *info);

/* What an error of these functions means, in words. */
const char *tv_recording_error(int error);

/* What the host counted, for the file: as Android does when it was asked to. */
struct tv_recording_allocations {
    uint64_t objects, bytes, collections;
};

/* How many methods the host could not put hooks into; before the stop. */
void tv_recording_set_left_out(uint32_t methods);

/* Before the stop; without it the file says nothing of them. */
void tv_recording_set_allocations(const struct tv_recording_allocations *allocations);

/* Are events recorded at this moment?  False after an overflow. */
bool tv_recording_active(void);

/* A method; texts are copied and may be NULL; tabs and line ends in them become blanks. */
struct tv_recording_method {
    const char *class_name; /* with dots or slashes, as the file shall have it */
    const char *name;
    const char *signature;
    const char *file;
    int32_t line; /* of its first line; 0: unknown */
};

/* A number for it, from 1 on, for the life of the process: recordings may come and go.  The same
 * method added twice has two numbers.  0: no memory. */
uint32_t tv_recording_add_method(const struct tv_recording_method *method);

/* The same for hosts whose classes are loaded again: the number that a method of the same texts was
 * given here, whatever its line, or a new one. */
uint32_t tv_recording_find_method(const struct tv_recording_method *method);

/* The calling thread enters the method. */
void tv_recording_enter(uint32_t method);

/* It leaves the method, by TV_MT_EXIT or TV_MT_UNROLL.  What it entered since and never left is
 * unrolled first: an exception need only be seen where it is caught. */
void tv_recording_leave(uint32_t method, enum tv_mt_action action);

/* The same for native code, where the method is an address and `frame` one of the stack within the
 * function's frame, lower for callees; `site` is the function's return address.  What lies on a
 * part of the stack that is gone (longjmp) is unrolled. */
void tv_recording_enter_address(const void *function, const void *site, const void *frame);
/* See above.  `tail`: the hook was jumped to when the function's frame was gone, so that it returns
 * to `site` itself. */
void tv_recording_leave_address(const void *function, const void *frame, bool tail);

/* Names the calling thread (UTF-8).  Otherwise it has the system's name, read when it ends. */
void tv_recording_name_thread(const char *name);

/* The group the calling thread belongs to, for samplers. */
void tv_recording_group_thread(const char *group);

/* Start a thread of the recorder, with a stack of at least 1 MB: the C library's default may be
 * smaller (128 kB with musl), and a larger one stays, for the host's thread-local data lie on
 * it.  An error number, or 0. */
int tv_recorder_start_thread(pthread_t *thread, void *(*run)(void *context), void *context);

/* The calling thread ends: for hosts that say so.  Others need nothing, its end is seen. */
void tv_recording_end_thread(void);

/* Fibers: threads of the host that run on threads of the system by turns, as the virtual threads of
 * a JVM do.  From mount to unmount the events of the calling thread are the fiber's, which has a
 * number, a name and a row of its own; the time between stands there as the call `away` (a method's
 * number; 0: not at all).  NULL is a fiber that has had no events so far. */
struct tv_recorder_thread;
void tv_recording_mount(struct tv_recorder_thread *fiber, uint32_t away);
/* The fiber for its next mount. */
struct tv_recorder_thread *tv_recording_unmount(uint32_t away);
/* End a fiber, which runs on no thread. */
void tv_recording_end_fiber(struct tv_recorder_thread *fiber);
/* Fibers call, and nobody tells which: what is recorded says that their calls are mixed. */
void tv_recording_mix_fibers(void);
/* Does a fiber run on the calling thread? */
bool tv_recording_is_fiber(void);
/* Fibers that are mounted from here on are not told of: what is mounted is, once. */
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

/* The name of the socket, behind its leading zero byte.  The number is the process's own pid. */
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
