/* SPDX-License-Identifier: Apache-2.0 */
/*
 * virtual_threads.c - virtual threads (Java 21), which run on carrier threads by turns.
 *
 * HotSpot reports by extension events when a virtual thread is mounted on a carrier and when it is
 * unmounted. The recorder keeps a fiber (recording.h) for each virtual thread, so that its calls
 * get a row of their own:
 *
 *     carrier 1   --[ mount A ... unmount A ]--[ mount B ... unmount B ]--
 *     carrier 2   ------------------[ mount A ... end A ]------------------
 *     row of A      calls | [unmounted] | calls
 *
 * Unmount stores the fiber in the thread-local storage of the virtual thread, mount takes it from
 * there. The time between the two is a call of java.lang.VirtualThread.[unmounted]. If a JVM has
 * virtual threads but no such events, one message says so when the first one calls a recorded
 * method.
 *
 * JVMTI 21 defines the constants; the headers at build time may be older.
 */
#include <assert.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "recorder/agent/agent.h"
#include "recorder/state.h"

#define EVENT_VIRTUAL_END 88
#define EVENTS (EVENT_VIRTUAL_END - JVMTI_MIN_EVENT_TYPE_VAL + 1)

/* Place of can_support_virtual_threads in jvmtiCapabilities. */
#define CAPABILITY_BYTE 5
#define CAPABILITY_BIT 0x10

static struct {
    jvmtiEnv *jvmti; /* own environment, for its thread-local storage; NULL: no events */
    jclass class;    /* java.lang.VirtualThread; NULL: the JVM has none */
    jfieldID number; /* Thread.tid */
    uint32_t away;   /* method id of [unmounted] */
    atomic_bool told;
    jint mount, unmount;                 /* event numbers; 0: unknown */
    jvmtiExtensionFunction find_mounted; /* GetVirtualThread(carrier); NULL: unknown */
    jmethodID outermost; /* VirtualThread.run, the outermost frame of each virtual thread */
} virtual;

bool tv_agent_virtual_allow(jvmtiCapabilities *wanted, const jvmtiCapabilities *offered)
{
    unsigned char *bytes = (unsigned char *)wanted;
    bool can = (((const unsigned char *)offered)[CAPABILITY_BYTE] & CAPABILITY_BIT) != 0;
    if (can)
        bytes[CAPABILITY_BYTE] |= CAPABILITY_BIT;
    return can;
}

/* ---- events, called in the virtual thread ---- */

static struct tv_recorder_thread *virtual_stored_fiber(jvmtiEnv *jvmti)
{
    void *stored = NULL;
    if ((*jvmti)->GetThreadLocalStorage(jvmti, NULL, &stored) != JVMTI_ERROR_NONE)
        return NULL;
    return stored;
}

static void JNICALL virtual_on_mount(jvmtiEnv *jvmti, ...)
{
    if (!tv_agent_hold())
        return;
    tv_recording_mount(virtual_stored_fiber(jvmti), virtual.away);
    tv_agent_release();
}

static void JNICALL virtual_on_unmount(jvmtiEnv *jvmti, ...)
{
    if (!tv_agent_hold())
        return;
    struct tv_recorder_thread *fiber = tv_recording_unmount(virtual.away);
    if (fiber != NULL)
        (void)(*jvmti)->SetThreadLocalStorage(jvmti, NULL, fiber);
    tv_agent_release();
}

static void JNICALL virtual_on_thread_end(jvmtiEnv *jvmti, JNIEnv *jni, jthread thread)
{
    (void)jni;
    (void)thread;
    if (!tv_agent_hold())
        return;
    /* HotSpot has reported the last unmount already: end the [unmounted] time here. */
    if (!tv_recording_is_fiber())
        tv_recording_mount(virtual_stored_fiber(jvmti), virtual.away);
    struct tv_recorder_thread *fiber = tv_recording_unmount(0);
    (void)(*jvmti)->SetThreadLocalStorage(jvmti, NULL, NULL);
    tv_recording_end_fiber(fiber);
    tv_agent_release();
}

/* ---- the calling thread ---- */

static jthread virtual_current_thread(jvmtiEnv *jvmti)
{
    jthread thread = NULL;
    return (*jvmti)->GetCurrentThread(jvmti, &thread) == JVMTI_ERROR_NONE ? thread : NULL;
}

bool tv_agent_virtual_is(JNIEnv *jni, jthread thread)
{
    return virtual.class != NULL && (*jni)->IsInstanceOf(jni, thread, virtual.class);
}

void tv_agent_virtual_name(JNIEnv *jni, jthread thread, char *name, size_t room)
{
    if (virtual.number != NULL)
        snprintf(name, room, "VirtualThread[#%lld]",
                 (long long)(*jni)->GetLongField(jni, thread, virtual.number));
}

/* Mark the recording as mixed; print the message only once. */
static void virtual_report_mixed(void)
{
    tv_recording_mix_fibers();
    if (!atomic_exchange(&virtual.told, true))
        tv_agent_say("this JVM does not report where its virtual threads run: their calls are in "
                     "the rows of the threads that carry them, mixed with each other");
}

/* The virtual thread was mounted before the events were enabled, or the JVM has no such events. */
static void virtual_see_mounted(JNIEnv *jni)
{
    jthread thread = virtual_current_thread(tv_agent.jvmti);
    bool is_virtual = thread != NULL && tv_agent_virtual_is(jni, thread);
    (*jni)->DeleteLocalRef(jni, thread);
    if (is_virtual && virtual.jvmti != NULL)
        tv_recording_mount(virtual_stored_fiber(virtual.jvmti), virtual.away);
    else if (is_virtual)
        virtual_report_mixed();
}

static void virtual_before_joining(void)
{
    JNIEnv *jni;
    if (virtual.class == NULL || tv_recording_is_fiber() || !tv_agent_hold())
        return;
    if ((*tv_agent.vm)->GetEnv(tv_agent.vm, (void **)&jni, JNI_VERSION_1_6) == JNI_OK)
        virtual_see_mounted(jni);
    tv_agent_release();
}

/* ---- samples ---- */

bool tv_agent_virtual_replace(jthread *threads, jint count)
{
    jvmtiEnv *jvmti = tv_agent.jvmti;
    for (jint i = 0; virtual.find_mounted != NULL && i < count; i++) {
        jthread mounted = NULL;
        if (virtual.find_mounted(jvmti, threads[i], &mounted) == JVMTI_ERROR_NONE &&
            mounted != NULL)
            threads[i] = mounted;
    }
    return virtual.find_mounted != NULL;
}

jint tv_agent_virtual_frames(const jvmtiFrameInfo *frames, jint depth)
{
    assert(depth >= 0);
    for (jint i = 0; i < depth; i++)
        if (frames[i].method == virtual.outermost)
            return i + 1;
    return depth;
}

/* ---- start and end ---- */

static jint virtual_find_extension_event(const jvmtiExtensionEventInfo *events, jint count,
                                         const char *id)
{
    for (jint i = 0; i < count; i++)
        if (strcmp(events[i].id, id) == 0)
            return events[i].extension_event_index;
    return 0;
}

static void virtual_free_parameters(jvmtiEnv *jvmti, jvmtiParamInfo *parameters, jint count)
{
    for (jint i = 0; i < count; i++)
        (*jvmti)->Deallocate(jvmti, (unsigned char *)parameters[i].name);
    (*jvmti)->Deallocate(jvmti, (unsigned char *)parameters);
}

static void virtual_free_events(jvmtiEnv *jvmti, jvmtiExtensionEventInfo *events, jint count)
{
    for (jint i = 0; i < count; i++) {
        virtual_free_parameters(jvmti, events[i].params, events[i].param_count);
        (*jvmti)->Deallocate(jvmti, (unsigned char *)events[i].id);
        (*jvmti)->Deallocate(jvmti, (unsigned char *)events[i].short_description);
    }
    (*jvmti)->Deallocate(jvmti, (unsigned char *)events);
}

static bool virtual_find_extension_events(jvmtiEnv *jvmti)
{
    jvmtiExtensionEventInfo *events;
    jint count;
    if ((*jvmti)->GetExtensionEvents(jvmti, &count, &events) != JVMTI_ERROR_NONE)
        return false;
    virtual.mount = virtual_find_extension_event(events, count,
                                                 "com.sun.hotspot.events.VirtualThreadMount");
    virtual.unmount = virtual_find_extension_event(events, count,
                                                   "com.sun.hotspot.events.VirtualThreadUnmount");
    virtual_free_events(jvmti, events, count);
    return virtual.mount != 0 && virtual.unmount != 0;
}

/* Extension events need a callback of their own, and the switch that standard events have. */
static bool virtual_set_event_modes(jvmtiEnv *jvmti, bool on)
{
    assert(virtual.mount != 0 && virtual.unmount != 0);
    const jint events[] = {virtual.mount, virtual.unmount, EVENT_VIRTUAL_END};
    const jvmtiExtensionEvent functions[] = {virtual_on_mount, virtual_on_unmount, NULL};
    for (size_t i = 0; i < sizeof events / sizeof events[0]; i++)
        if ((functions[i] != NULL &&
             (*jvmti)->SetExtensionEventCallback(jvmti, events[i], on ? functions[i] : NULL) !=
                 JVMTI_ERROR_NONE) ||
            (*jvmti)->SetEventNotificationMode(jvmti, on ? JVMTI_ENABLE : JVMTI_DISABLE,
                                               (jvmtiEvent)events[i], NULL) != JVMTI_ERROR_NONE)
            return false;
    return true;
}

/* Fill the callback table by hand: the headers may lack VirtualThreadEnd. The table is indexed from
 * JVMTI_MIN_EVENT_TYPE_VAL. */
static bool virtual_enable_events(jvmtiEnv *jvmti)
{
    jvmtiCapabilities offered = {0}, wanted = {0};
    void (*table[EVENTS])(void) = {NULL};
    jvmtiEventCallbacks callbacks[2];
    _Static_assert(sizeof table <= sizeof callbacks, "events fit");
    table[EVENT_VIRTUAL_END - JVMTI_MIN_EVENT_TYPE_VAL] = (void (*)(void))virtual_on_thread_end;
    memcpy(callbacks, table, sizeof table);
    return (*jvmti)->GetPotentialCapabilities(jvmti, &offered) == JVMTI_ERROR_NONE &&
           tv_agent_virtual_allow(&wanted, &offered) &&
           (*jvmti)->AddCapabilities(jvmti, &wanted) == JVMTI_ERROR_NONE &&
           virtual_find_extension_events(jvmti) &&
           (*jvmti)->SetEventCallbacks(jvmti, callbacks, sizeof table) == JVMTI_ERROR_NONE &&
           virtual_set_event_modes(jvmti, true);
}

/* With -XX:-VMContinuations, virtual threads have another class and a kernel thread each. */
static bool virtual_find_class(JNIEnv *jni)
{
    jclass class = (*jni)->FindClass(jni, "java/lang/VirtualThread");
    jclass thread = class == NULL ? NULL : (*jni)->FindClass(jni, "java/lang/Thread");
    if (class != NULL)
        virtual.outermost = (*jni)->GetMethodID(jni, class, "run", "(Ljava/lang/Runnable;)V");
    (*jni)->ExceptionClear(jni);
    if (thread != NULL)
        virtual.number = (*jni)->GetFieldID(jni, thread, "tid", "J");
    (*jni)->ExceptionClear(jni);
    if (class != NULL)
        virtual.class = (*jni)->NewGlobalRef(jni, class);
    (*jni)->DeleteLocalRef(jni, thread);
    (*jni)->DeleteLocalRef(jni, class);
    return virtual.class != NULL;
}

void tv_agent_virtual_begin(JNIEnv *jni)
{
    jvmtiEnv *jvmti = virtual.jvmti;
    if (jvmti != NULL) {
        (void)virtual_set_event_modes(jvmti, true);
        return;
    }
    if (tv_agent.is_art || virtual.away != 0 || (virtual.class == NULL && !virtual_find_class(jni)))
        return;
    virtual.away = tv_recording_find_method(&(struct tv_recording_method){
        .class_name = "java.lang.VirtualThread", .name = "[unmounted]", .signature = ""});
    tv_recorder.host.joining = virtual_before_joining;
    jvmti = tv_agent_new_environment();
    if (jvmti != NULL && virtual_enable_events(jvmti))
        virtual.jvmti = jvmti;
    else if (jvmti != NULL)
        (void)(*jvmti)->DisposeEnvironment(jvmti);
}

void tv_agent_virtual_end(void)
{
    if (virtual.jvmti == NULL)
        return;
    (void)virtual_set_event_modes(virtual.jvmti, false);
    tv_recording_forget_mounts();
}

/* Look for HotSpot's function that tells which virtual thread a carrier runs; other VMs have none,
 * and find_mounted stays NULL. Everything the list contains is JVMTI's memory, to be freed part by
 * part. */
static void virtual_find_extension_function(jvmtiEnv *jvmti)
{
    jvmtiExtensionFunctionInfo *functions;
    jint count;
    if ((*jvmti)->GetExtensionFunctions(jvmti, &count, &functions) != JVMTI_ERROR_NONE)
        return;
    for (jint i = 0; i < count; i++) {
        if (strcmp(functions[i].id, "com.sun.hotspot.functions.GetVirtualThread") == 0)
            virtual.find_mounted = functions[i].func;
        virtual_free_parameters(jvmti, functions[i].params, functions[i].param_count);
        (*jvmti)->Deallocate(jvmti, (unsigned char *)functions[i].id);
        (*jvmti)->Deallocate(jvmti, (unsigned char *)functions[i].short_description);
        (*jvmti)->Deallocate(jvmti, (unsigned char *)functions[i].errors);
    }
    (*jvmti)->Deallocate(jvmti, (unsigned char *)functions);
}

void tv_agent_virtual_begin_samples(JNIEnv *jni)
{
    if (tv_agent.is_art || virtual.find_mounted != NULL ||
        (virtual.class == NULL && !virtual_find_class(jni)))
        return;
    virtual_find_extension_function(tv_agent.jvmti);
    if (virtual.find_mounted == NULL)
        tv_agent_say(
            "this JVM does not report where its virtual threads run: they have no samples");
}
