/* SPDX-License-Identifier: Apache-2.0 */
/*
 * agent.h - the agent's one state, and what its parts ask of each other.
 *
 *   agent.c     load, attach, the machine's birth and death
 *   hooks.c     the class that rewritten methods call
 *   tracing.c   which methods are rewritten, and their numbers
 *   virtual_threads.c  which virtual thread calls
 *   method_events.c  calls by events instead, where classes cannot be rewritten
 *   allocations.c  objects and collections that are counted
 *   heap.c      allocations that are sampled
 *   locks.c     waits for monitors, and parks
 *   session.c   start and stop
 *   paths.c     names of files (paths.h)
 *   sampled_tracing.c  a trace of calls by looking at stacks
 *   facade.c    what Java code asks for: android.os.Debug and dalvik.system.SamplingProfiler
 *   control.c   start and stop from outside: signal, fifo, times
 *   watch.c     the end of a recording whose command has been killed
 *   sampling.c  the profiler that the options ask for
 *   profiler.c  profilers: whom they look at and what they keep (profiler.h)
 *   ticker.c    a thread that does something at a steady rate (ticker.h)
 *   stacks.c    the stacks of a list of threads
 *   stacks_agct.c  the same between safepoints, on HotSpot
 *   registers.c  from stubs and C to the Java code that called them (registers.h)
 *   kernel_threads.c  the kernel's numbers and states of threads (kernel_threads.h)
 *   names.c     what the machine says of methods, places and threads
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
    bool is_art;          /* the machine of Android: its classes are no class files */
    bool uses_events;     /* calls are seen by events, no class is rewritten */
    bool attached;        /* the recording came while the machine ran */
    bool can_see_calls;   /* the machine gave us its events of calls */
    bool by_facade;       /* nobody but Java code asked for us: there is no recording of its own */
    bool calls_wanted;    /* by Java code, whatever the options say */
    atomic_bool live;     /* between the machine's birth and its death */
    atomic_bool dying;    /* the machine waits for us to end */
    atomic_bool rewrites; /* the hooks are there, so classes may call them */
};

extern struct tv_agent tv_agent;

/* One line on standard error, unless quiet. */
void tv_agent_say(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* For what asks the machine outside of a thread's own start and end: true until the machine dies,
 * which waits for the release. */
bool tv_agent_hold(void);
void tv_agent_release(void);

/* The calling thread becomes one of the machine's if it is none; NULL: it cannot be. */
JNIEnv *tv_agent_attach(bool *attached);
void tv_agent_detach(bool attached);

/* One more JVMTI environment, without capabilities, for DisposeEnvironment; NULL: there is none. */
jvmtiEnv *tv_agent_new_environment(void);

/* The same for marks on threads (see below). */
jvmtiEnv *tv_agent_new_marks(void);

/* For Java code that has loaded the library.  There is an agent already, or there is one from here
 * on, with these options, that waits for orders.  False: `why` says what is wrong. */
bool tv_agent_connect(JavaVM *vm, const char *options, char *why, size_t room);

/* Calls can be recorded from here on, those of loaded classes too.  False, said: they cannot. */
bool tv_agent_want_calls(JNIEnv *jni);

/* ---- hooks.c ---- */

/* In a package that every class loader passes to its parent, and that no module has: classes that
 * can see a module with that package would look for it there and nowhere else. */
#define TV_AGENT_HOOKS "java/traceview/Hooks"

/* Defines the class; false, said: it could not be. */
bool tv_agent_hooks_define(JNIEnv *jni);

/* The calling thread ends: its last name is the one that counts. */
void tv_agent_hooks_end_thread(jvmtiEnv *jvmti, jthread thread);

/* How many frames of a stack, from the innermost on, are ours: so many at most, which are to be
 * asked for beyond those that are wanted. */
#define TV_AGENT_HOOK_FRAMES 1
jint tv_agent_hooks_frames(const jvmtiFrameInfo *frames, jint depth);

/* From now on threads that join a recording are named. */
void tv_agent_hooks_name_threads(void);

/* ---- tracing.c ---- */

/* The event of a class being loaded or changed. */
void JNICALL tv_agent_tracing_load(jvmtiEnv *jvmti, JNIEnv *jni, jclass redefined, jobject loader,
                                   const char *name, jobject domain, jint length,
                                   const unsigned char *bytes, jint *new_length,
                                   unsigned char **new_bytes);

/* Do the options want the methods of this class, com.example.Class? */
bool tv_agent_tracing_wants(const char *class_name);

/* Rewrites what is loaded already, as far as it is to be traced. */
void tv_agent_tracing_retransform(void);

/* How many methods the trace lacks. */
unsigned tv_agent_tracing_lacking(void);
/* Say which these are, if any, once. */
void tv_agent_tracing_say_lacking(void);

/* What happened so far, for verbose=y. */
void tv_agent_tracing_report(void);

/* ---- virtual_threads.c ---- */

/* Calls are recorded from here on: those of virtual threads are to be their own. */
void tv_agent_virtual_begin(JNIEnv *jni);
/* The recording of who attached us is over: the machine tells us of mounts no more. */
void tv_agent_virtual_end(void);

/* Is it one that runs on other threads by turns? */
bool tv_agent_virtual_is(JNIEnv *jni, jthread thread);

/* Samples are taken from here on, and which virtual threads run is wanted. */
void tv_agent_virtual_begin_samples(JNIEnv *jni);
/* Puts virtual threads in the place of the threads that carry them now.  False: there are no
 * virtual threads. */
bool tv_agent_virtual_replace(jthread *threads, jint count);
/* How many frames of a carrier's stack, from the innermost on, are the virtual thread's. */
jint tv_agent_virtual_frames(const jvmtiFrameInfo *frames, jint depth);
/* Make up a name for a virtual thread that has none. */
void tv_agent_virtual_name(JNIEnv *jni, jthread thread, char *name, size_t room);

/* Adds the capability to ask about virtual threads, if it is there. */
bool tv_agent_virtual_allow(jvmtiCapabilities *wanted, const jvmtiCapabilities *offered);

/* ---- method_events.c ---- */

/* The events come from here on; false: the machine refuses them. */
bool tv_agent_events_start(void);
/* Other options hold: what was found out about methods is forgotten. */
void tv_agent_events_renew(void);
/* No more of them; harmless when there are none. */
void tv_agent_events_stop(void);

/* The events themselves. */
void JNICALL tv_agent_events_enter(jvmtiEnv *jvmti, JNIEnv *jni, jthread thread, jmethodID method);
void JNICALL tv_agent_events_leave(jvmtiEnv *jvmti, JNIEnv *jni, jthread thread, jmethodID method,
                                   jboolean by_exception, jvalue value);
void JNICALL tv_agent_events_start_thread(jvmtiEnv *jvmti, JNIEnv *jni, jthread thread);
void tv_agent_events_end_thread(void);

/* ---- allocations.c ---- */

/* Before the machine's birth, for exact counts; false: the machine cannot tell. */
bool tv_agent_allocations_prepare(void);
/* Counts from 0; false: see above. */
bool tv_agent_allocations_begin(void);
/* After a begin that was true. */
struct tv_recording_allocations tv_agent_allocations_end(void);

/* The session has begun to count and not ended. */
bool tv_agent_allocations_are_counted(void);

/* ---- heap.c ---- */

/* Take what sampling takes; best before the machine's birth.  False: the machine cannot. */
bool tv_agent_heap_prepare(void);
/* Allocations become samples of the profiler of sampling.c; false, said: they do not. */
bool tv_agent_heap_begin(void);
void tv_agent_heap_end(void);
bool tv_agent_heap_is_sampled(void);

/* ---- locks.c ---- */

/* Waits for locks go to the profiler of sampling.c; what is not seen is said. */
void tv_agent_locks_begin(void);
void tv_agent_locks_end(void);

/* ---- session.c ---- */

/* Begin and end what the options say; safe from any thread, harmless when done already. */
void tv_agent_session_start(void);
void tv_agent_session_stop(void);
bool tv_agent_session_active(void);

/* The next recording is the first of other options. */
void tv_agent_session_renew(void);

/* A trace that Java code asks for. */
struct tv_agent_trace {
    const char *path;
    uint64_t buffer_bytes;
    bool grows;
    uint64_t least_us;   /* shorter calls are left out */
    int64_t interval_us; /* 0: every call; else looks at stacks */
    bool count_allocs;
};

/* 0, -EBUSY: calls are recorded already, by whose order it may be; else errno. */
int tv_agent_session_start_trace(const struct tv_agent_trace *wanted);
/* Ends what records calls.  0, -ENOENT: nothing does; else errno. */
int tv_agent_session_stop_trace(void);

/* ---- sampled_tracing.c ---- */

/* See above; there is one at a time, which the session sees to. */
int tv_agent_sampled_start(const struct tv_agent_trace *wanted);
int tv_agent_sampled_stop(void);

/* ---- names.c ---- */

#define TV_AGENT_NAME 1024

/* UTF-8; what is longer is cut. */
struct tv_agent_method {
    char class_name[TV_AGENT_NAME]; /* with dots */
    char name[TV_AGENT_NAME];
    char signature[TV_AGENT_NAME];
    char file[TV_AGENT_NAME]; /* empty: unknown */
};

struct tv_agent_thread {
    char name[TV_AGENT_NAME];
    char group[TV_AGENT_NAME];
    bool has_group; /* dead ones have none */
};

/* False: the machine does not know it any more.  No local reference is left behind, here and
 * below. */
bool tv_agent_method_read(JNIEnv *jni, jmethodID method, struct tv_agent_method *out);
bool tv_agent_thread_read(JNIEnv *jni, jthread thread, struct tv_agent_thread *out);

/* "java.lang.String", "byte[]"; "[unknown]" when the machine does not say. */
void tv_agent_class_read(jclass class, char out[TV_AGENT_NAME]);

/* A number on a thread, 0 at first, for each environment another.  It is a tag: HotSpot 17 may
 * crash when it is asked for the local storage of a thread that ends at this moment.  False: the
 * thread does not live. */
bool tv_agent_mark_read(jvmtiEnv *marks, jthread thread, uint32_t *mark);
void tv_agent_mark(jvmtiEnv *marks, jthread thread, uint32_t mark);
void tv_agent_mark_self(jvmtiEnv *marks, JNIEnv *jni, uint32_t mark);

/* Of a place in a method, or TV_SAMPLES_NATIVE_LINE, TV_SAMPLES_NO_LINE. */
int32_t tv_agent_line_of(jmethodID method, jlocation location);

/* Does the pattern let it through: NULL or all, group:NAME with the groups within, or names? */
bool tv_agent_thread_matches(JNIEnv *jni, jthread thread, const char *pattern);

/* ---- stacks.c ---- */

#define TV_AGENT_DEEPEST 65535

/* Stacks of which the machine could not say where the thread was at that moment. */
struct tv_agent_stack_counts {
    uint64_t of_callers;    /* in a stub, or in C that compiled code calls: the caller's stack */
    uint64_t at_safepoints; /* unknown: the stack of the next safepoint stands for it */
    uint64_t lost;          /* unknown there too */
    uint64_t missing;       /* threads that wanted a processor and got none: no samples */
};

/* Whose stacks, and where they go.  One caller at a time for one `frames`. */
struct tv_agent_stacks {
    const jthread *threads;  /* NULL among them: left out */
    const jthread *carriers; /* of the threads that are virtual, where they run; else the thread */
    jint count;
    bool skips_missing;     /* threads that wait for a processor have no stack */
    jint depth;             /* the most frames of a stack, from the innermost on */
    jvmtiFrameInfo *frames; /* room for `depth` of them */
    /* Called in the order of the list, by the index in it; not for what has no frames. */
    void (*take)(void *context, jint index, const jvmtiFrameInfo *frames, jint depth);
    /* Instead, of a thread that runs and whose stack is not known. */
    void (*lose)(void *context, jint index);
    void *context;
    struct tv_agent_stack_counts *counts; /* added to */
};

/* Looks at each thread now.  Called in a thread that is attached to the machine. */
void tv_agent_stacks_take(const struct tv_agent_stacks *wanted);

enum tv_agent_look {
    TV_AGENT_LOOK_DONE,
    TV_AGENT_LOOK_EMPTY, /* it has no frames */
    TV_AGENT_LOOK_NONE,  /* there is no such thread, or it does not live */
};

/* One of them, by JVMTI. */
enum tv_agent_look tv_agent_stacks_take_one(const struct tv_agent_stacks *wanted, jint index);

/* ---- stacks_agct.c ---- */

/* Prepare for AsyncGetCallTrace when the options ask for it: before the JVM starts, or when
 * attached to a running one. */
void tv_agent_agct_prepare(JavaVM *vm);
/* The machine runs, and the calling thread is known to kernel_threads.h. */
void tv_agent_agct_begin(JNIEnv *jni);
/* The recording of who attached us is over: the machine tells us of its code no more. */
void tv_agent_agct_end(void);
/* False: it is not wanted, or cannot be; it says so once. */
bool tv_agent_agct_take(const struct tv_agent_stacks *wanted);

/* ---- sampling.c ---- */

/* Does the option threads name it? */
bool tv_agent_wants_thread(jvmtiEnv *jvmti, JNIEnv *jni, jthread thread);

/* Opens the file, or PATH.part before it is whole.  False, said: it cannot be, or there is no
 * thread for it. */
bool tv_agent_sampling_start(const char *path);

/* The profiler, for events of the machine in the calling thread; NULL: nothing is recorded, or the
 * thread works for us.  What is not NULL is to be released. */
struct tv_profiler *tv_agent_sampling_hold(void);
void tv_agent_sampling_release(void);

/* The next samples are the first of other options. */
void tv_agent_sampling_renew(void);

/* Waits for the tick in progress, then writes all samples so far; with the path of the start. */
void tv_agent_sampling_stop(const char *path);

/* ---- facade.c ---- */

/* Tells Java code by a property of the machine where we are, so that it loads no other copy. */
void tv_agent_facade_announce(JNIEnv *jni);

/* End the attached recording of that number, if it is still under way, as the order to stop does.
 */
void tv_agent_end_lost(unsigned number);

/* ---- watch.c ---- */

/* A new recording by the options begins; the one before is watched no longer. */
void tv_agent_watch_begin(void);
void tv_agent_watch_end(void);

/* Is this the recording that is watched? */
bool tv_agent_watch_is(unsigned number);

/* ---- control.c ---- */

/* Starts what the options say: now, later, or when told. */
void tv_agent_control_begin(void);
/* No start comes after it, until the next begin. */
void tv_agent_control_end(void);

#endif
