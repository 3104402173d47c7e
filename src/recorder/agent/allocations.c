/* SPDX-License-Identifier: Apache-2.0 */
/*
 * allocations.c - allocation counts, allocation samples, and counts of garbage collections.
 *
 * Counts: with a sampling interval of 0, HotSpot 11 and later send SampledObjectAlloc for each
 * object; ART sends VMObjectAlloc for each. In older HotSpots, VMObjectAlloc covers only objects
 * that the JVM itself creates, so they cannot count. A HotSpot thread picks up a new interval at
 * its next sample. Counts are exact if counting was prepared before VMInit; otherwise existing
 * threads miss what they allocate before that sample, some 512 KiB each.
 */
#include <assert.h>
#include <math.h>
#include <stdint.h>

#include "recorder/agent/agent.h"
#include "recorder/agent/profiler.h"

static struct {
    jvmtiEnv *jvmti; /* own environment; NULL: not prepared, or not possible */
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

/* No Java code runs meanwhile. */
static void JNICALL allocations_on_gc_finish(jvmtiEnv *jvmti)
{
    (void)jvmti;
    atomic_fetch_add_explicit(&seen.collections, 1, memory_order_relaxed);
}

/* An environment of this JVMTI version may lack the functions: use them only if the capability is
 * offered. */
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

/* ART's way: an event for each allocation, because it offers no sampled ones; the capabilities are
 * asked for only when both are offered. */
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

/* Keep the environment on success, dispose of it on failure. */
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
    /* Collect garbage: threads would use up their current TLABs without an event. */
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
    /* JVMTI needs an attached thread. The JVM has only one sampling interval, so counts and samples
     * exclude each other. */
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
    assert(seen.jvmti != NULL && seen.counts);
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
 * ---- samples ----
 *
 * HotSpot sends an event when a thread has allocated a random number of bytes since its last one.
 * The sample points thus form a random process over all allocated bytes with one point per
 * `interval` bytes on average. An object of s bytes contains a sample point with probability 1 -
 * exp(-s / interval), so each sampled object represents s / (1 - exp(-s / interval)) bytes: about
 * the interval plus half of s for small objects, and s for large ones.
 *
 * A thread that existed before the start keeps its old random number and its TLAB, so it sends
 * nothing for its first 512 KiB or so.
 */

static struct {
    jvmtiEnv *jvmti; /* own environment; NULL: not prepared, or not possible */
    uint64_t interval;
    atomic_bool active;
} heap;

static uint64_t heap_object_bytes(jlong size)
{
    assert(heap.interval > 0);
    double share = -expm1(-(double)size / (double)heap.interval);
    return size <= 0 ? 0 : (uint64_t)((double)size / share + 0.5);
}

/* Callback for a sampled allocation. References that it makes go into a frame of their own, because
 * a callback within a long native method would pile them up until that returns. */
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

/* An environment of this JVMTI version may lack the functions: use them only if the capability is
 * offered. */
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
        why = "this JVM does not report it";
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
