/* SPDX-License-Identifier: Apache-2.0 */
/*
 * agent.h - the state of the agent, and the functions that its source files call in each other.
 *
 * One agent lives in a JVM. A recording takes either every call (tracing: hooks in rewritten
 * classes, or method events), or the stacks of threads at a steady rate (sampling), or both.
 *
 *   start and stop
 *     agent.c            load, attach, VMInit and VMDeath
 *     options.c          option parsing; paths.c derives the file names (options.h)
 *     session.c          start and stop of one recording, the profiler of --sample
 *     control.c          signal, fifo, timer; end when the recording command is gone
 *     facade.c           natives of android.os.Debug and dalvik.system.SamplingProfiler
 *   every call
 *     tracing.c          choice of classes and methods, RetransformClasses
 *     rewrite.c          class rewriting (rewrite.h, rewrite_parts.h, classfile.h)
 *     hooks.c            the class java.traceview.Hooks, which rewritten methods call
 *     method_events.c    MethodEntry and MethodExit, where classes cannot be rewritten
 *     virtual_threads.c  mount and unmount of virtual threads
 *   sampling
 *     profiler.c         sampling profilers (profiler.h)
 *     sampled_tracing.c  a .trace reconstructed from sampled stacks
 *     ticker.c           a thread that ticks at a steady rate (ticker.h)
 *     stacks.c           stack walks: GetStackTrace and AsyncGetCallTrace
 *     registers.c        unwinding of stubs and C frames (registers.h)
 *     kernel_threads.c   kernel thread ids and states (kernel_threads.h)
 *   other events
 *     allocations.c      allocation counts and allocation samples
 *     locks.c            contended monitors and parks
 *     names.c            names of methods, classes and threads; tags on threads
 */
#ifndef TV_RECORDER_AGENT_AGENT_H
#define TV_RECORDER_AGENT_AGENT_H

#include <jvmti.h>
#include <stdatomic.h>
#include <stdbool.h>

#include "recorder/agent/options.h"
#include "recorder/recording.h"

struct tv_agent {
    JavaVM *vm;
    jvmtiEnv *jvmti;
    struct tv_agent_options options;
    bool can_retransform;
    bool is_art;          /* Android's runtime: its classes are dex files, not class files */
    bool uses_events;     /* calls come as JVMTI events; no class is rewritten */
    bool attached;        /* attached to a running JVM, not loaded at its start */
    bool can_see_calls;   /* the JVM granted the MethodEntry and MethodExit events */
    bool by_facade;       /* loaded by Java code only: the options start no recording */
    bool calls_wanted;    /* Java code asked for calls, whatever `mode` says */
    atomic_bool live;     /* between VMInit and VMDeath */
    atomic_bool dying;    /* VMDeath is waiting for the agent to finish */
    atomic_bool rewrites; /* the hooks class is defined, so classes may be rewritten */
};

extern struct tv_agent tv_agent;

/* Print one line to standard error, unless quiet=y. */
void tv_agent_say(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Keep the JVM alive for JVMTI calls made outside a thread's own start and end events. Return false
 * when the JVM is dead. After true, VMDeath waits for tv_agent_release. */
bool tv_agent_hold(void);
void tv_agent_release(void);

/* Return the JNI environment of the calling thread; attach the thread as a daemon if needed and set
 * *attached. Return NULL when the JVM refuses. Pass *attached to tv_agent_detach. */
JNIEnv *tv_agent_attach(bool *attached);
void tv_agent_detach(bool attached);

/* Return a new JVMTI environment without capabilities, or NULL. The caller releases it with
 * DisposeEnvironment. */
jvmtiEnv *tv_agent_new_environment(void);

/* Like tv_agent_new_environment, with the capability to tag threads (tv_agent_mark). */
jvmtiEnv *tv_agent_new_marks(void);

/* Connect Java code that loaded the library. If no agent is there yet, `options` configure a new
 * one, which then waits for requests. Return false with the reason in `why` on failure. */
bool tv_agent_connect(JavaVM *vm, const char *options, char *why, size_t room);

/* Prepare for recording calls, including those of classes that are loaded already. Print a message
 * and return false on failure. */
bool tv_agent_want_calls(JNIEnv *jni);

/* ---- hooks.c ---- */

/* Name of the hooks class. Every class loader delegates java.* to its parent. No module has this
 * package: a class that can see a module with the package would look for the hooks there and
 * nowhere else. */
#define TV_AGENT_HOOKS "java/traceview/Hooks"

/* Define the hooks class. Print a message and return false on failure. */
bool tv_agent_hooks_define(JNIEnv *jni);

/* Close the calling thread in the recording. Read its name once more, because the last name counts.
 */
void tv_agent_hooks_end_thread(jvmtiEnv *jvmti, jthread thread);

/* Return how many of the innermost frames are hooks, at most TV_AGENT_HOOK_FRAMES. Callers ask for
 * that many frames more than they want. */
#define TV_AGENT_HOOK_FRAMES 1
jint tv_agent_hooks_frames(const jvmtiFrameInfo *frames, jint depth);

/* From now on, name each thread that joins a recording. */
void tv_agent_hooks_name_threads(void);

/* ---- tracing.c ---- */

/* Callback for ClassFileLoadHook: rewrite a class that is being loaded or retransformed. */
void JNICALL tv_agent_tracing_load(jvmtiEnv *jvmti, JNIEnv *jni, jclass redefined, jobject loader,
                                   const char *name, jobject domain, jint length,
                                   const unsigned char *bytes, jint *new_length,
                                   unsigned char **new_bytes);

/* Do the options include this class? The name has the form com.example.Class. */
bool tv_agent_tracing_wants(const char *class_name);

/* Retransform the loaded classes that the options include. */
void tv_agent_tracing_retransform(void);

/* Return how many methods could not be rewritten and are missing from the trace. */
unsigned tv_agent_tracing_lacking(void);
/* Print those methods, if there are any, and reset their count. */
void tv_agent_tracing_say_lacking(void);

/* Print the totals so far, for verbose=y. */
void tv_agent_tracing_report(void);

/* ---- virtual_threads.c ---- */

/* Start to record the calls of each virtual thread in a row of its own. */
void tv_agent_virtual_begin(JNIEnv *jni);
/* The attached recording is over: switch off the mount and unmount events. */
void tv_agent_virtual_end(void);

/* Is `thread` a virtual thread? */
bool tv_agent_virtual_is(JNIEnv *jni, jthread thread);

/* Samples follow: find out how to ask which virtual thread a carrier runs. */
void tv_agent_virtual_begin_samples(JNIEnv *jni);
/* Replace each carrier thread in `threads` by the virtual thread mounted on it. Return false when
 * the JVM cannot tell. */
bool tv_agent_virtual_replace(jthread *threads, jint count);
/* Return how many of the innermost frames of a carrier's stack belong to its virtual thread. */
jint tv_agent_virtual_frames(const jvmtiFrameInfo *frames, jint depth);
/* Make up a name, VirtualThread[#ID], for a virtual thread that has none. */
void tv_agent_virtual_name(JNIEnv *jni, jthread thread, char *name, size_t room);

/* Add can_support_virtual_threads to `wanted` if the JVM offers it; return whether it does. */
bool tv_agent_virtual_allow(jvmtiCapabilities *wanted, const jvmtiCapabilities *offered);

/* ---- method_events.c ---- */

/* Switch on the events of method entry and exit. Return false when the JVM refuses. */
bool tv_agent_events_start(void);
/* New options apply: forget which methods the old ones included. */
void tv_agent_events_renew(void);
/* Switch off the events. Does nothing when they are off. */
void tv_agent_events_stop(void);

/* Callbacks for MethodEntry, MethodExit, ThreadStart and ThreadEnd. */
void JNICALL tv_agent_events_enter(jvmtiEnv *jvmti, JNIEnv *jni, jthread thread, jmethodID method);
void JNICALL tv_agent_events_leave(jvmtiEnv *jvmti, JNIEnv *jni, jthread thread, jmethodID method,
                                   jboolean by_exception, jvalue value);
void JNICALL tv_agent_events_start_thread(jvmtiEnv *jvmti, JNIEnv *jni, jthread thread);
void tv_agent_events_end_thread(void);

/* ---- allocations.c: counts ---- */

/* Prepare to count allocations. Counts are exact if this happens before VMInit. Return false when
 * the JVM has no suitable event. */
bool tv_agent_allocations_prepare(void);
/* Start counting from 0. Return false when the JVM cannot count, or is sampling allocations. */
bool tv_agent_allocations_begin(void);
/* Stop counting and return the totals. Call it only after a successful begin. */
struct tv_recording_allocations tv_agent_allocations_end(void);

/* Is counting under way? */
bool tv_agent_allocations_are_counted(void);

/* ---- allocations.c: samples ---- */

/* Get the capability to sample allocations, best before VMInit. Return false when the JVM has none.
 */
bool tv_agent_heap_prepare(void);
/* Send allocation samples to the profiler of the session. Print a message and return false on
 * failure. */
bool tv_agent_heap_begin(void);
void tv_agent_heap_end(void);
bool tv_agent_heap_is_sampled(void);

/* ---- locks.c ---- */

/* Send contended monitors and parks to the profiler of the session. Print a message for each kind
 * of wait that the JVM does not show. */
void tv_agent_locks_begin(void);
void tv_agent_locks_end(void);

/* ---- session.c ---- */

/* Start and stop the recording that the options describe. Safe from any thread; do nothing when it
 * is started or stopped already. */
void tv_agent_session_start(void);
void tv_agent_session_stop(void);
bool tv_agent_session_active(void);

/* New options apply: number their recordings from 1 again. */
void tv_agent_session_renew(void);

/* A trace requested by Java code. */
struct tv_agent_trace {
    const char *path;
    uint64_t buffer_bytes;
    bool grows;
    uint64_t least_us;   /* leave out calls shorter than this */
    int64_t interval_us; /* sampling interval; 0: record every call */
    bool count_allocs;
};

/* Start a trace. Return 0, -EBUSY when calls are being recorded already (by whatever request), or
 * another negative errno. */
int tv_agent_session_start_trace(const struct tv_agent_trace *wanted);
/* Stop the trace under way. Return 0, -ENOENT when there is none, or another negative errno. */
int tv_agent_session_stop_trace(void);

/* ---- sampled_tracing.c ---- */

/* Start and stop a trace reconstructed from sampled stacks. The session keeps to one at a time. */
int tv_agent_sampled_start(const struct tv_agent_trace *wanted);
int tv_agent_sampled_stop(void);

/* ---- names.c ---- */

#define TV_AGENT_NAME 1024

/* UTF-8; longer names are truncated. */
struct tv_agent_method {
    char class_name[TV_AGENT_NAME]; /* com.example.Class */
    char name[TV_AGENT_NAME];
    char signature[TV_AGENT_NAME];
    char file[TV_AGENT_NAME]; /* source file; empty: unknown */
};

struct tv_agent_thread {
    char name[TV_AGENT_NAME];
    char group[TV_AGENT_NAME];
    bool has_group; /* false for a thread that has ended */
};

/* Read the names of a method or thread. Return false when the JVM no longer knows it. These
 * functions leave no local reference behind. */
bool tv_agent_method_read(JNIEnv *jni, jmethodID method, struct tv_agent_method *out);
bool tv_agent_thread_read(JNIEnv *jni, jthread thread, struct tv_agent_thread *out);

/* Write the name of a class: "java.lang.String" or "byte[]", or "[unknown]". */
void tv_agent_class_read(jclass class, char out[TV_AGENT_NAME]);

/* Read and set a thread's mark: a number that each `marks` environment keeps for itself, 0 at
 * first. Marks are JVMTI tags: on HotSpot 17, GetThreadLocalStorage may crash for a thread that is
 * just ending. Return false when the thread is not alive. */
bool tv_agent_mark_read(jvmtiEnv *marks, jthread thread, uint32_t *mark);
void tv_agent_mark(jvmtiEnv *marks, jthread thread, uint32_t mark);
void tv_agent_mark_self(jvmtiEnv *marks, JNIEnv *jni, uint32_t mark);

/* Return the source line of a bytecode index, or TV_SAMPLES_NATIVE_LINE or TV_SAMPLES_NO_LINE. */
int32_t tv_agent_line_of(jmethodID method, jlocation location);

/* Does the pattern match? NULL or "all" matches every thread, "group:NAME" those of a group and its
 * subgroups, and anything else is a list of globs for the thread's name. */
bool tv_agent_thread_matches(JNIEnv *jni, jthread thread, const char *pattern);

/* ---- stacks.c ---- */

#define TV_AGENT_DEEPEST 65535

/* Counts of samples that do not show the exact place of the thread. */
struct tv_agent_stack_counts {
    uint64_t of_callers;    /* in a stub or C function; the stack begins at its caller */
    uint64_t at_safepoints; /* not walkable; replaced by the stack of the next safepoint */
    uint64_t lost;          /* not walkable at the safepoint either */
    uint64_t missing;       /* runnable threads that got no processor in time; no sample */
};

/* A request to walk the stacks of a list of threads. Requests that share `frames` must not overlap.
 */
struct tv_agent_stacks {
    const jthread *threads; /* NULL entries are skipped */
    const jthread
        *carriers; /* for a virtual thread its carrier, else the thread; NULL: same as `threads` */
    jint count;
    bool skips_missing;     /* do not walk threads that wait for a processor */
    jint depth;             /* most frames of a stack, counted from the innermost */
    jvmtiFrameInfo *frames; /* buffer for `depth` frames */
    /* Called in list order with the index of the thread; not called for empty stacks. */
    void (*take)(void *context, jint index, const jvmtiFrameInfo *frames, jint depth);
    /* Called instead of `take` when the thread runs but its stack is unknown. */
    void (*lose)(void *context, jint index);
    void *context;
    struct tv_agent_stack_counts *counts; /* totals to add to */
};

/* Walk the stack of each thread now. The calling thread must be attached to the JVM. */
void tv_agent_stacks_take(const struct tv_agent_stacks *wanted);

enum tv_agent_look {
    TV_AGENT_LOOK_DONE,
    TV_AGENT_LOOK_EMPTY, /* the thread has no frames */
    TV_AGENT_LOOK_NONE,  /* no such thread, or it is not alive */
};

/* Walk one stack with GetStackTrace, at the next safepoint of the thread. */
enum tv_agent_look tv_agent_stacks_take_one(const struct tv_agent_stacks *wanted, jint index);

/* ---- stacks.c: AsyncGetCallTrace ---- */

/* Prepare for AsyncGetCallTrace if the options ask for it. Call it before VMInit or on attach. */
void tv_agent_agct_prepare(JavaVM *vm);
/* VMInit has come, or the attach: create the jmethodIDs and find the existing threads.
 * tv_kernel_threads_begin must have run. */
void tv_agent_agct_begin(JNIEnv *jni);
/* The attached recording is over: switch off the events that AsyncGetCallTrace needs. */
void tv_agent_agct_end(void);
/* Walk the stacks with AsyncGetCallTrace. Return false when the options exclude it or it does not
 * work; the reason is printed once. */
bool tv_agent_agct_take(const struct tv_agent_stacks *wanted);

/* ---- session.c: the profiler of the options ---- */

/* Does the option `threads` include this thread? */
bool tv_agent_wants_thread(jvmtiEnv *jvmti, JNIEnv *jni, jthread thread);

/* Open the output file, or PATH.part until it is complete, and start the profiler. Print a message
 * and return false on failure. */
bool tv_agent_sampling_start(const char *path);

/* Return the profiler for an event in the calling thread, and keep it until
 * tv_agent_sampling_release. Return NULL (nothing to release) when no recording wants events, or
 * the thread belongs to the agent. */
struct tv_profiler *tv_agent_sampling_hold(void);
void tv_agent_sampling_release(void);

/* New options apply: drop the profiler with its samples. */
void tv_agent_sampling_renew(void);

/* Stop the profiler after the tick in progress and write all samples so far. `path` is that of the
 * start. */
void tv_agent_sampling_stop(const char *path);

/* ---- facade.c ---- */

/* Set a system property that tells Java code where this library is, so that it loads no second
 * copy. */
void tv_agent_facade_announce(JNIEnv *jni);

/* ---- agent.c ---- End the attached recording with this number as option `stop` does, if it is
 * still under way. */
void tv_agent_end_lost(unsigned number);

/* ---- control.c: end with the command ---- */

/* Number a new attached recording and watch the lock file of its command. The recording before is
 * no longer watched. */
void tv_agent_watch_begin(void);
void tv_agent_watch_end(void);

/* Is this the number of the recording being watched? */
bool tv_agent_watch_is(unsigned number);

/* ---- control.c: start and stop ---- */

/* Start the recording now, after the delay, or on a control request, as the options say. */
void tv_agent_control_begin(void);
/* Stop listening. No recording starts until the next tv_agent_control_begin. */
void tv_agent_control_end(void);

#endif
