/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sampled_tracing.c - a .trace reconstructed from stacks sampled at a steady rate.
 *
 * Each tick walks the stacks of all threads. The recorder (recorder/sampled_trace.h) compares each
 * stack with the previous one of the thread, and writes exits and entries for the difference. The
 * agent supplies thread numbers, kept as marks in an environment of its own, and method names.
 *
 *     stacks of a thread      main        main        main
 *                             parse       parse       write
 *                             read        scan
 *     records at the tick     + + +       -read       -scan -parse
 *                                         +scan       +write
 *
 * A method that is called twice between two ticks looks like one long call, and one that is shorter
 * than a tick may not appear.  A stack that could not be walked is no empty stack: the thread keeps
 * its calls, or each such tick would end and begin all of them.
 *
 * An environment of its own holds the marks, because tags of objects belong to an environment: the
 * agent's other parts tag threads with numbers of theirs.
 */
#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <time.h>

#include "recorder/agent/agent.h"
#include "recorder/agent/ticker.h"
#include "recorder/clock.h"
#include "recorder/sampled_trace.h"

#define THOUSAND 1000

/* Frames to walk. A deeper stack loses its outer end, and then all of it seems to be left and
 * entered again; so this exceeds what fits in a stack of default size (-Xss allows more). */
#define DEPTH TV_AGENT_DEEPEST

struct sampled {
    struct tv_ticker ticker;
    jvmtiEnv *marks;
    struct tv_sampled_trace *trace;
    uint64_t start_ns;
    JNIEnv *jni; /* of the current tick, as is `threads` */
    jthread *threads;
    jvmtiFrameInfo *frames;
    uint64_t *methods;
    struct tv_agent_stack_counts counts; /* not reported anywhere yet */
};

static struct sampled *sampled;

static uint64_t sampled_elapsed_us(const struct sampled *self)
{
    return (tv_clock_ns(CLOCK_MONOTONIC) - self->start_ns) / THOUSAND;
}

/* Name a method for the trace, when it is written. */
static void sampled_name_method(uint64_t address, struct tv_recording_method *method, char *room,
                                size_t size)
{
    JNIEnv *jni;
    struct tv_agent_method *names = (void *)room;
    if (size < sizeof *names ||
        (*tv_agent.vm)->GetEnv(tv_agent.vm, (void **)&jni, JNI_VERSION_1_6) != JNI_OK ||
        !tv_agent_method_read(jni, (jmethodID)(uintptr_t)address, names))
        return;
    method->class_name = names->class_name;
    method->name = names->name;
    method->signature = names->signature;
    method->file = names->file;
}

/* Return the thread's number, 0 if it is not alive. A thread is added to the trace when its first
 * stack is seen. */
static uint32_t sampled_see_thread(struct sampled *self, jthread thread)
{
    struct tv_agent_thread names;
    uint32_t number;
    if (!tv_agent_mark_read(self->marks, thread, &number))
        return 0;
    if (number != 0 || !tv_agent_thread_read(self->jni, thread, &names))
        return number;
    if (names.name[0] == '\0' && tv_agent_virtual_is(self->jni, thread))
        tv_agent_virtual_name(self->jni, thread, names.name, sizeof names.name);
    number = tv_sampled_trace_add_thread(self->trace, names.name);
    tv_agent_mark(self->marks, thread, number);
    return number;
}

/* Give the trace the stack of a thread, without the frames of our hooks and of the carrier. */
static void sampled_on_stack(void *context, jint index, const jvmtiFrameInfo *frames, jint depth)
{
    assert(depth <= DEPTH);
    struct sampled *self = context;
    jint ours = tv_agent_hooks_frames(frames, depth);
    uint32_t number = sampled_see_thread(self, self->threads[index]);
    if (tv_agent_virtual_is(self->jni, self->threads[index]))
        depth = tv_agent_virtual_frames(frames, depth);
    frames += ours;
    depth -= ours;
    for (jint i = 0; i < depth; i++)
        self->methods[i] = (uint64_t)(uintptr_t)frames[i].method;
    if (number != 0)
        tv_sampled_trace_set_stack(self->trace, number, self->methods, (uint32_t)depth);
}

/* The stack is unknown: keep the thread in the calls of its last sample. */
static void sampled_on_lost_stack(void *context, jint index)
{
    struct sampled *self = context;
    uint32_t number = sampled_see_thread(self, self->threads[index]);
    if (number != 0)
        tv_sampled_trace_keep_stack(self->trace, number);
}

/* Sample all threads. The ticker thread has no Java frames, so it does not appear. */
static bool sampled_sample_all_threads(struct sampled *self)
{
    jvmtiEnv *jvmti = tv_agent.jvmti;
    jint count;
    if ((*jvmti)->GetAllThreads(jvmti, &count, &self->threads) != JVMTI_ERROR_NONE)
        return true;
    (void)tv_agent_virtual_replace(self->threads, count);
    tv_sampled_trace_begin_tick(self->trace, sampled_elapsed_us(self));
    tv_agent_stacks_take(&(struct tv_agent_stacks){
        .threads = self->threads,
        .count = count,
        .depth = DEPTH,
        .frames = self->frames,
        .take = sampled_on_stack,
        .lose = sampled_on_lost_stack,
        .context = self,
        .counts = &self->counts,
    });
    bool fine = tv_sampled_trace_end_tick(self->trace);
    (*jvmti)->Deallocate(jvmti, (unsigned char *)self->threads);
    return fine;
}

/* Sample once. References of the tick are local to it. */
static bool sampled_tick(void *context, JNIEnv *jni)
{
    struct sampled *self = context;
    bool fine = true;
    if ((*jni)->PushLocalFrame(jni, 64) != 0) {
        (*jni)->ExceptionClear(jni);
        return true;
    }
    self->jni = jni;
    if (tv_agent_hold()) {
        fine = sampled_sample_all_threads(self);
        tv_agent_release();
    }
    (*jni)->PopLocalFrame(jni, NULL);
    if (!fine)
        tv_agent_say("the trace buffer is full, the recording ended");
    return fine;
}

/* Free everything, when the ticker has ended. */
static void sampled_release_threads(void *context)
{
    struct sampled *self = context;
    jvmtiEnv *marks = self->marks;
    if (marks != NULL && atomic_load(&tv_agent.live))
        (void)(*marks)->DisposeEnvironment(marks);
    if (self->trace != NULL)
        tv_sampled_trace_free(self->trace);
    free(self->frames);
    free(self->methods);
    free(self);
}

/* Prepare for virtual threads, which GetAllThreads does not list. */
static void sampled_ask_for_virtual_threads(void)
{
    bool attached;
    JNIEnv *jni = tv_agent_attach(&attached);
    if (jni != NULL)
        tv_agent_virtual_begin_samples(jni);
    tv_agent_detach(attached);
}

static int sampled_reserve_buffers(struct sampled *self, const struct tv_agent_trace *wanted)
{
    sampled_ask_for_virtual_threads();
    self->marks = tv_agent_new_marks();
    self->frames = calloc(DEPTH, sizeof self->frames[0]);
    self->methods = calloc(DEPTH, sizeof self->methods[0]);
    if (self->marks == NULL || self->frames == NULL || self->methods == NULL)
        return -ENOMEM;
    self->start_ns = tv_clock_ns(CLOCK_MONOTONIC);
    return tv_sampled_trace_new(&self->trace,
                                &(struct tv_sampled_trace_options){
                                    .path = wanted->path,
                                    .vm = tv_agent.is_art ? "art" : "jvm",
                                    .buffer_bytes = wanted->buffer_bytes,
                                    .start_us = tv_clock_ns(CLOCK_REALTIME) / THOUSAND,
                                    .interval_us = (uint64_t)wanted->interval_us,
                                    .namer = sampled_name_method,
                                });
}

int tv_agent_sampled_start(const struct tv_agent_trace *wanted)
{
    assert(sampled == NULL);
    struct sampled *self = calloc(1, sizeof *self);
    if (self == NULL)
        return -ENOMEM;
    int error = sampled_reserve_buffers(self, wanted);
    if (error != 0) {
        sampled_release_threads(self);
        return error;
    }
    self->ticker.tick = sampled_tick;
    self->ticker.release = sampled_release_threads;
    self->ticker.context = self;
    tv_ticker_init(&self->ticker);
    error = tv_ticker_start(&self->ticker, wanted->interval_us * THOUSAND);
    if (error == 0)
        sampled = self;
    else
        tv_ticker_free(&self->ticker);
    return error;
}

/* Read the names once more: a program may set them late. */
static void sampled_read_thread_names(struct sampled *self, JNIEnv *jni)
{
    jvmtiEnv *marks = self->marks;
    struct tv_agent_thread names;
    jint count;
    jthread *threads;
    if ((*marks)->GetAllThreads(marks, &count, &threads) != JVMTI_ERROR_NONE)
        return;
    for (jint i = 0; i < count; i++) {
        uint32_t number;
        if (tv_agent_mark_read(marks, threads[i], &number) && number != 0 &&
            tv_agent_thread_read(jni, threads[i], &names))
            tv_sampled_trace_name_thread(self->trace, number, names.name);
        (*jni)->DeleteLocalRef(jni, threads[i]);
    }
    (*marks)->Deallocate(marks, (unsigned char *)threads);
}

int tv_agent_sampled_stop(void)
{
    assert(sampled != NULL);
    struct sampled *self = sampled;
    bool attached;
    sampled = NULL;
    tv_ticker_stop(&self->ticker);
    JNIEnv *jni = tv_agent_attach(&attached);
    if (jni != NULL)
        sampled_read_thread_names(self, jni);
    tv_agent_detach(attached);
    int error = tv_sampled_trace_write(self->trace, sampled_elapsed_us(self));
    tv_ticker_free(&self->ticker);
    return error;
}
