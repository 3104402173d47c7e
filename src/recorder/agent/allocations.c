/* SPDX-License-Identifier: Apache-2.0 */
/*
 * allocations.c - how many objects a recording saw made, their bytes, and collections.  See
 * agent.h.
 *
 * HotSpot from 11 on tells of samples of allocations, and of each one when the bytes between two
 * samples are none; ART tells of each.  Older HotSpots tell only of what the machine itself makes,
 * which is no answer.  A thread of HotSpot's learns of the bytes between samples with its next
 * sample: prepared with the machine's start, counts are exact; later, threads that were there miss
 * what they make up to that sample, some 512 KiB.
 */
#include <math.h>
#include <stdint.h>

#include "recorder/agent/agent.h"
#include "recorder/agent/profiler.h"

static struct {
    jvmtiEnv *jvmti; /* our own; NULL: not prepared, or the machine cannot tell */
    jvmtiEvent event;
    _Atomic uint64_t count, size, collections;
    bool counts;
} seen;

static void JNICALL allocations_on_object(jvmtiEnv *jvmti, JNIEnv *jni, jthread thread,
                                          jobject object, jclass class, jlong size)
{
    (void)jvmti;
    (void)jni;
    (void)thread;
    (void)object;
    (void)class;
    atomic_fetch_add_explicit(&seen.count, 1, memory_order_relaxed);
    atomic_fetch_add_explicit(&seen.size, (uint64_t)size, memory_order_relaxed);
}

/* The world stands still. */
static void JNICALL allocations_on_gc_finish(jvmtiEnv *jvmti)
{
    (void)jvmti;
    atomic_fetch_add_explicit(&seen.collections, 1, memory_order_relaxed);
}

/* What the functions of an environment of this version are is known only if there is one. */
static bool allocations_prepare_sampled(jvmtiEnv *jvmti)
{
    jvmtiCapabilities offered = {0}, wanted = {.can_generate_sampled_object_alloc_events = 1,
                                               .can_generate_garbage_collection_events = 1};
    seen.event = JVMTI_EVENT_SAMPLED_OBJECT_ALLOC;
    return (*jvmti)->GetPotentialCapabilities(jvmti, &offered) == JVMTI_ERROR_NONE &&
           offered.can_generate_sampled_object_alloc_events &&
           offered.can_generate_garbage_collection_events &&
           (*jvmti)->AddCapabilities(jvmti, &wanted) == JVMTI_ERROR_NONE &&
           (*jvmti)->SetHeapSamplingInterval(jvmti, 0) == JVMTI_ERROR_NONE;
}

static bool allocations_prepare_exact(jvmtiEnv *jvmti)
{
    jvmtiCapabilities offered = {0}, wanted = {.can_generate_vm_object_alloc_events = 1,
                                               .can_generate_garbage_collection_events = 1};
    seen.event = JVMTI_EVENT_VM_OBJECT_ALLOC;
    return tv_agent.is_art &&
           (*jvmti)->GetPotentialCapabilities(jvmti, &offered) == JVMTI_ERROR_NONE &&
           offered.can_generate_vm_object_alloc_events &&
           offered.can_generate_garbage_collection_events &&
           (*jvmti)->AddCapabilities(jvmti, &wanted) == JVMTI_ERROR_NONE;
}

/* Takes over the environment. */
static bool allocations_saved_functions(jvmtiEnv *jvmti, bool fine)
{
    jvmtiEventCallbacks callbacks = {
        .VMObjectAlloc = allocations_on_object,
        .SampledObjectAlloc = allocations_on_object,
        .GarbageCollectionFinish = allocations_on_gc_finish,
    };
    fine = fine &&
           (*jvmti)->SetEventCallbacks(jvmti, &callbacks, sizeof callbacks) == JVMTI_ERROR_NONE;
    if (fine)
        seen.jvmti = jvmti;
    else
        (void)(*jvmti)->DisposeEnvironment(jvmti);
    return fine;
}

bool tv_agent_allocations_prepare(void)
{
    JavaVM *vm = tv_agent.vm;
    jvmtiEnv *jvmti = NULL;
    if (seen.jvmti != NULL)
        return true;
    if (tv_agent.is_art)
        jvmti = tv_agent_new_environment();
    else if ((*vm)->GetEnv(vm, (void **)&jvmti, JVMTI_VERSION_11) != JNI_OK)
        return false;
    if (jvmti == NULL)
        return false;
    return allocations_saved_functions(jvmti, tv_agent.is_art ? allocations_prepare_exact(jvmti)
                                                              : allocations_prepare_sampled(jvmti));
}

static bool allocations_set_events(jvmtiEnv *jvmti, jvmtiEventMode mode)
{
    static const jvmtiEvent collection = JVMTI_EVENT_GARBAGE_COLLECTION_FINISH;
    bool samples = seen.event == JVMTI_EVENT_SAMPLED_OBJECT_ALLOC;
    if ((*jvmti)->SetEventNotificationMode(jvmti, mode, seen.event, NULL) != JVMTI_ERROR_NONE)
        return false;
    /* What threads have set aside for objects to come, they use up untold. */
    if (samples && mode == JVMTI_ENABLE) {
        (void)(*jvmti)->SetHeapSamplingInterval(jvmti, 0);
        (void)(*jvmti)->ForceGarbageCollection(jvmti);
    }
    return (*jvmti)->SetEventNotificationMode(jvmti, mode, collection, NULL) == JVMTI_ERROR_NONE;
}

bool tv_agent_allocations_are_counted(void)
{
    return seen.counts;
}

bool tv_agent_allocations_begin(void)
{
    bool attached;
    /* The machine answers only to threads of its own, and has one interval for all of us. */
    bool fine = !tv_agent_heap_is_sampled() && tv_agent_attach(&attached) != NULL;
    if (!fine)
        return false;
    fine = tv_agent_allocations_prepare() && allocations_set_events(seen.jvmti, JVMTI_ENABLE);
    tv_agent_detach(attached);
    seen.counts = fine;
    atomic_store(&seen.count, 0);
    atomic_store(&seen.size, 0);
    atomic_store(&seen.collections, 0);
    return fine;
}

struct tv_recording_allocations tv_agent_allocations_end(void)
{
    bool attached;
    if (tv_agent_attach(&attached) != NULL)
        (void)allocations_set_events(seen.jvmti, JVMTI_DISABLE);
    tv_agent_detach(attached);
    seen.counts = false;
    return (struct tv_recording_allocations){
        atomic_load(&seen.count),
        atomic_load(&seen.size),
        atomic_load(&seen.collections),
    };
}

/*
 * heap.c - allocations that are sampled.  See agent.h.
 *
 * HotSpot tells of an object when the bytes that its thread has allocated since the last one reach
 * a number that is drawn anew each time, so that sample points lie on the bytes at random, one in
 * `interval` bytes.  An object of s bytes has one with the probability 1 - exp(-s / interval), so
 * that each one that is seen stands for s / (1 - exp(-s / interval)) bytes: the interval and half
 * of its size while it is small, its own size when it is large.
 *
 * A thread that was there before keeps the number that it has drawn, and the buffer that it has
 * taken: of the first some 512 KiB (TLAB and default interval) it tells nothing.
 */

static struct {
    jvmtiEnv *jvmti; /* our own; NULL: not prepared, or the machine cannot sample */
    uint64_t interval;
    atomic_bool active;
} heap;

static uint64_t heap_object_bytes(jlong size)
{
    double share = -expm1(-(double)size / (double)heap.interval);
    return size <= 0 ? 0 : (uint64_t)((double)size / share + 0.5);
}

static void JNICALL heap_on_sampled_allocation(jvmtiEnv *jvmti, JNIEnv *jni, jthread thread,
                                               jobject object, jclass class, jlong size)
{
    (void)jvmti;
    (void)object;
    struct tv_profiler *profiler = tv_agent_sampling_hold();
    if (profiler == NULL)
        return;
    if ((*jni)->PushLocalFrame(jni, 16) == 0) {
        tv_profiler_keep_allocation(profiler, jni, thread,
                                    &(struct tv_profiler_allocation){
                                        .class = class,
                                        .size = (uint64_t)size,
                                        .bytes = heap_object_bytes(size),
                                    });
        (*jni)->PopLocalFrame(jni, NULL);
    } else {
        (*jni)->ExceptionClear(jni);
    }
    tv_agent_sampling_release();
}

static bool heap_new_environment(jvmtiEnv *jvmti)
{
    jvmtiCapabilities offered = {0}, wanted = {.can_generate_sampled_object_alloc_events = 1};
    jvmtiEventCallbacks callbacks = {.SampledObjectAlloc = heap_on_sampled_allocation};
    if ((*jvmti)->GetPotentialCapabilities(jvmti, &offered) != JVMTI_ERROR_NONE ||
        !offered.can_generate_sampled_object_alloc_events)
        return false;
    (void)tv_agent_virtual_allow(&wanted, &offered);
    return (*jvmti)->AddCapabilities(jvmti, &wanted) == JVMTI_ERROR_NONE &&
           (*jvmti)->SetEventCallbacks(jvmti, &callbacks, sizeof callbacks) == JVMTI_ERROR_NONE;
}

static bool heap_set_interval(void)
{
    heap.interval = tv_agent.options.alloc.number;
    return (*heap.jvmti)->SetHeapSamplingInterval(heap.jvmti, (jint)heap.interval) ==
           JVMTI_ERROR_NONE;
}

/* What the functions of an environment of this version are is known only if there is one. */
bool tv_agent_heap_prepare(void)
{
    JavaVM *vm = tv_agent.vm;
    jvmtiEnv *jvmti = NULL;
    if (heap.jvmti == NULL && !tv_agent.is_art &&
        (*vm)->GetEnv(vm, (void **)&jvmti, JVMTI_VERSION_11) == JNI_OK) {
        if (heap_new_environment(jvmti))
            heap.jvmti = jvmti;
        else
            (void)(*jvmti)->DisposeEnvironment(jvmti);
    }
    return heap.jvmti != NULL && heap_set_interval();
}

static bool heap_set_event_mode(jvmtiEventMode mode)
{
    bool attached;
    bool fine =
        tv_agent_attach(&attached) != NULL && (mode == JVMTI_DISABLE || heap_set_interval()) &&
        (*heap.jvmti)
                ->SetEventNotificationMode(heap.jvmti, mode, JVMTI_EVENT_SAMPLED_OBJECT_ALLOC,
                                           NULL) == JVMTI_ERROR_NONE;
    tv_agent_detach(attached);
    return fine;
}

bool tv_agent_heap_begin(void)
{
    const char *why = NULL;
    if (tv_agent_allocations_are_counted())
        why = "they are being counted";
    else if (!tv_agent_heap_prepare() || !heap_set_event_mode(JVMTI_ENABLE))
        why = "this machine cannot tell";
    if (why != NULL)
        tv_agent_say("allocations are not sampled: %s", why);
    atomic_store(&heap.active, why == NULL);
    return why == NULL;
}

void tv_agent_heap_end(void)
{
    if (atomic_exchange(&heap.active, false))
        (void)heap_set_event_mode(JVMTI_DISABLE);
}

bool tv_agent_heap_is_sampled(void)
{
    return atomic_load(&heap.active);
}
