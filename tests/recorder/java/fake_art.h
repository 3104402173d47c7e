/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fake_art.h - a JVMTI environment with the capabilities, answers and refusals of ART's, to run the
 * agent against where there is no device.  It is a fake: it shows that the agent keeps to what ART
 * offers, not that ART does what it says.
 *
 * As ART: attached while it runs, no class files, no CPU time of threads, nothing for threads that
 * are not attached, JVMTI_VERSION_1_2 refused to what may not be debugged.  What the agent does
 * against the rules is printed as "fault: ..." and counted: the same thing asked for again after it
 * was refused, a local reference or memory that is not given back, any call after the machine's
 * death, a function that is not here.
 */
#ifndef TV_TESTS_FAKE_ART_H
#define TV_TESTS_FAKE_ART_H

#include <jvmti.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

#define FAKE_ART_VERSION 0x70010200
#define FAKE_DEEPEST 256
#define FAKE_THREADS 16
#define FAKE_ENVIRONMENTS 8

struct fake_class {
    char *signature;
    char *file;
    bool of_machine; /* its loader is the machine's */
};

struct fake_method {
    char *name;
    char *signature;
    struct fake_class *class;
    int line;
};

struct fake_thread {
    char name[64];
    bool here;
    bool entry, exit; /* events enabled for this thread, in the first environment */
    jlong tags[FAKE_ENVIRONMENTS];
    struct fake_method *stack[FAKE_DEEPEST];
    int depth;
    atomic_int looks; /* how often its stack was asked for */
};

struct fake_environment {
    jvmtiCapabilities capabilities;
    jvmtiEventCallbacks callbacks;
    bool enabled[JVMTI_MAX_EVENT_TYPE_VAL + 1];
};

struct fake_art {
    JavaVM vm;
    jvmtiEnv jvmti[FAKE_ENVIRONMENTS];
    struct fake_environment of[FAKE_ENVIRONMENTS]; /* the state of each */
    int environments;
    JNIEnv jni;
    pthread_mutex_t lock;
    struct fake_thread threads[FAKE_THREADS];
    bool debuggable, no_calls; /* no_calls: a machine without events of calls */
    bool dead;
    jvmtiPhase phase;
    atomic_int faults, memory;
};

extern struct fake_art fake_art;

/* Before the agent: what the machine is. */
void fake_art_begin(bool debuggable, bool no_calls, jvmtiPhase phase);

/* The calling thread is one of the machine's from here on, and no more. */
struct fake_thread *fake_art_join(const char *name);
void fake_art_leave(void);

/* What happens in the calling thread. */
void fake_art_call(struct fake_method *method);
void fake_art_return(bool by_exception);
void fake_art_allocate(long size);
void fake_art_collect(void);

/* The phases. */
void fake_art_born(void);
void fake_art_die(void);

void fake_art_fault(const char *what);

#endif
