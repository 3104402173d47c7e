/* SPDX-License-Identifier: Apache-2.0 */
/*
 * locks.c - waits for locks: contended monitors and parked threads.
 *
 * JVMTI has events for contended monitors, but none for parks. All parks go through the native
 * method Unsafe.park, so the agent interposes on it:
 *
 *     Unsafe.registerNatives()              called again by the agent
 *       -> event NativeMethodBind           asks which function to bind to park
 *          -> lock_park_call                ours: notes the times, calls the original
 *
 * No class is rewritten and no Java code changes. The end calls registerNatives again with the
 * event disabled, which binds the original.
 *
 * From JDK 16 on, HotSpot prints a warning when a native method of a JDK class is bound again,
 * unless the class that called the binder belongs to the boot loader too. So the agent defines the
 * class java.traceview.Locks there. Its native method bind calls itself first, and then does the
 * work in the inner call.
 *
 * A virtual thread that parks unmounts and does not come here, unless it is pinned.
 */
#include <assert.h>
#include <pthread.h>
#include <string.h>
#include <time.h>

#include "recorder/agent/agent.h"
#include "recorder/agent/profiler.h"
#include "recorder/clock.h"

/* GetObjectMonitorUsage may stop all threads for a moment. Do not call it again before REST times
 * that moment, or 2 ms, have passed. */
#define REST 20
#define LONGEST_REST_NS 2000000

/* The class file below has the lengths 20 and 16 of these names. */
#define BINDER "java/traceview/Locks"
#define OBJECT "java/lang/Object"

typedef void(JNICALL *park_function)(JNIEnv *jni, jobject unsafe, jboolean absolute, jlong time);

static struct {
    jvmtiEnv *jvmti;             /* own environment */
    _Atomic(park_function) park; /* the original; NULL: not found yet */
    bool bound;                  /* lock_park_call is bound */
    bool tells;                  /* the JVM sends events for monitors */
    _Atomic int64_t next_question_ns;
    jclass unsafe; /* global reference */
    jmethodID register_natives, park_method;
    jclass binder; /* global reference to java.traceview.Locks */
    jmethodID bind;
    jfieldID blocker;    /* Thread.parkBlocker: the object the thread waits for */
    jclass synchronizer; /* global reference to AbstractOwnableSynchronizer */
    jfieldID owner;      /* the exclusiveOwnerThread */
} locks;

/* ---- monitors ---- */

/* Find the owner of the monitor. Return false when the rest time has not passed; another thread may
 * be asking just now. */
static bool lock_find_monitor_owner(jvmtiEnv *jvmti, jobject object, jthread *owner)
{
    jvmtiMonitorUsage usage;
    int64_t start = (int64_t)tv_clock_ns(CLOCK_MONOTONIC),
            next = atomic_load(&locks.next_question_ns);
    *owner = NULL;
    if (start < next || !atomic_compare_exchange_strong(&locks.next_question_ns, &next, INT64_MAX))
        return false;
    if ((*jvmti)->GetObjectMonitorUsage(jvmti, object, &usage) == JVMTI_ERROR_NONE) {
        *owner = usage.owner;
        (*jvmti)->Deallocate(jvmti, (unsigned char *)usage.waiters);
        (*jvmti)->Deallocate(jvmti, (unsigned char *)usage.notify_waiters);
    }
    int64_t end = (int64_t)tv_clock_ns(CLOCK_MONOTONIC);
    int64_t rest = (end - start) * REST;
    atomic_store(&locks.next_question_ns, end + (rest < LONGEST_REST_NS ? rest : LONGEST_REST_NS));
    return true;
}

static uint32_t lock_hash_of(jobject object)
{
    jvmtiEnv *jvmti = tv_agent.jvmti;
    jint hash = 0;
    if (object == NULL || (*jvmti)->GetObjectHashCode(jvmti, object, &hash) != JVMTI_ERROR_NONE)
        return 0;
    return (uint32_t)hash;
}

static void JNICALL lock_on_contended_enter(jvmtiEnv *jvmti, JNIEnv *jni, jthread thread,
                                            jobject object)
{
    struct tv_profiler *profiler = tv_agent_sampling_hold();
    if (profiler == NULL)
        return;
    if ((*jni)->PushLocalFrame(jni, 64) == 0) {
        struct tv_profiler_lock lock = {.kind = TV_SAMPLE_MONITOR,
                                        .from_ns = (int64_t)tv_clock_ns(CLOCK_MONOTONIC)};
        lock.unasked = !lock_find_monitor_owner(jvmti, object, &lock.owner);
        lock.class = (*jni)->GetObjectClass(jni, object);
        lock.hash = lock_hash_of(object);
        tv_profiler_begin_lock(profiler, jni, thread, &lock);
        (*jni)->PopLocalFrame(jni, NULL);
    } else {
        (*jni)->ExceptionClear(jni);
    }
    tv_agent_sampling_release();
}

static void JNICALL lock_on_contended_entered(jvmtiEnv *jvmti, JNIEnv *jni, jthread thread,
                                              jobject object)
{
    (void)jvmti;
    (void)jni;
    (void)object;
    int64_t now = (int64_t)tv_clock_ns(CLOCK_MONOTONIC);
    struct tv_profiler *profiler = tv_agent_sampling_hold();
    if (profiler == NULL)
        return;
    tv_profiler_end_lock(profiler, thread, now);
    tv_agent_sampling_release();
}

/* ---- parks ---- */

/* Note the lock that the calling thread is about to park for. */
static void lock_begin_park(struct tv_profiler *profiler, JNIEnv *jni)
{
    struct tv_profiler_lock lock = {.kind = TV_SAMPLE_PARK,
                                    .from_ns = (int64_t)tv_clock_ns(CLOCK_MONOTONIC)};
    jthread self;
    jvmtiEnv *jvmti = locks.jvmti;
    if ((*jvmti)->GetCurrentThread(jvmti, &self) != JVMTI_ERROR_NONE || self == NULL)
        return;
    jobject blocker = (*jni)->GetObjectField(jni, self, locks.blocker);
    if (blocker != NULL) {
        lock.class = (*jni)->GetObjectClass(jni, blocker);
        lock.hash = lock_hash_of(blocker);
        if ((*jni)->IsInstanceOf(jni, blocker, locks.synchronizer))
            lock.owner = (*jni)->GetObjectField(jni, blocker, locks.owner);
    }
    tv_profiler_begin_lock(profiler, jni, self, &lock);
}

static void lock_end_park(JNIEnv *jni, int64_t now)
{
    jthread self;
    jvmtiEnv *jvmti = locks.jvmti;
    struct tv_profiler *profiler = tv_agent_sampling_hold();
    if (profiler == NULL)
        return;
    if ((*jvmti)->GetCurrentThread(jvmti, &self) == JVMTI_ERROR_NONE && self != NULL) {
        tv_profiler_end_lock(profiler, self, now);
        (*jni)->DeleteLocalRef(jni, self);
    }
    tv_agent_sampling_release();
}

/* Stand in for Unsafe.park: note the wait before it and its end after it.  The original is called
 * in any case. */
static void JNICALL lock_park_call(JNIEnv *jni, jobject unsafe, jboolean absolute, jlong time)
{
    struct tv_profiler *profiler = tv_agent_sampling_hold();
    bool framed = profiler != NULL && (*jni)->PushLocalFrame(jni, 16) == 0;
    if (framed) {
        lock_begin_park(profiler, jni);
        (*jni)->PopLocalFrame(jni, NULL);
    }
    if (profiler != NULL)
        tv_agent_sampling_release();
    park_function original = atomic_load(&locks.park);
    if (original != NULL)
        original(jni, unsafe, absolute, time);
    if (framed)
        lock_end_park(jni, (int64_t)tv_clock_ns(CLOCK_MONOTONIC));
}

/* Callback for NativeMethodBind, while Unsafe registers its natives. */
static void JNICALL lock_on_native_bind(jvmtiEnv *jvmti, JNIEnv *jni, jthread thread,
                                        jmethodID method, void *address, void **new_address)
{
    (void)jvmti;
    (void)jni;
    (void)thread;
    park_function original, ours = lock_park_call;
    memcpy(&original, &address, sizeof original);
    if (method != locks.park_method || original == ours)
        return;
    atomic_store(&locks.park, original);
    memcpy(new_address, &ours, sizeof ours);
    locks.bound = true;
}

/* Return a global reference to the class, or NULL. */
static jclass lock_find_global_class(JNIEnv *jni, const char *name)
{
    jclass class = (*jni)->FindClass(jni, name);
    jclass global = class == NULL ? NULL : (*jni)->NewGlobalRef(jni, class);
    (*jni)->ExceptionClear(jni);
    (*jni)->DeleteLocalRef(jni, class);
    return global;
}

/* Find the classes, methods and fields by which waits are observed.  False: this JVM lacks one of
 * them, and waits for java.util.concurrent locks are not recorded. */
static bool lock_find_classes(JNIEnv *jni)
{
    if (locks.owner != NULL)
        return true;
    locks.unsafe = lock_find_global_class(jni, "jdk/internal/misc/Unsafe");
    if (locks.unsafe == NULL)
        locks.unsafe = lock_find_global_class(jni, "sun/misc/Unsafe"); /* JDK 8 and older */
    locks.synchronizer =
        lock_find_global_class(jni, "java/util/concurrent/locks/AbstractOwnableSynchronizer");
    jclass thread = (*jni)->FindClass(jni, "java/lang/Thread");
    if (locks.unsafe != NULL && locks.synchronizer != NULL && thread != NULL) {
        locks.register_natives =
            (*jni)->GetStaticMethodID(jni, locks.unsafe, "registerNatives", "()V");
        if (locks.register_natives != NULL)
            locks.park_method = (*jni)->GetMethodID(jni, locks.unsafe, "park", "(ZJ)V");
        if (locks.park_method != NULL)
            locks.blocker = (*jni)->GetFieldID(jni, thread, "parkBlocker", "Ljava/lang/Object;");
        if (locks.blocker != NULL)
            locks.owner = (*jni)->GetFieldID(jni, locks.synchronizer, "exclusiveOwnerThread",
                                             "Ljava/lang/Thread;");
    }
    (*jni)->ExceptionClear(jni);
    (*jni)->DeleteLocalRef(jni, thread);
    return locks.owner != NULL;
}

/* Let Unsafe bind its native methods again. */
static void lock_register_natives(JNIEnv *jni)
{
    assert(locks.register_natives != NULL);
    (*jni)->CallStaticVoidMethod(jni, locks.unsafe, locks.register_natives);
    (*jni)->ExceptionClear(jni);
}

/* Bind our function first: NativeMethodBind comes only when the bound function changes. Until the
 * original is known, ours returns at once, which park() is allowed to do. */
static bool lock_bind_own_class(JNIEnv *jni)
{
    static char name[] = "park", signature[] = "(ZJ)V";
    park_function ours = lock_park_call;
    JNINativeMethod method = {name, signature, NULL};
    memcpy(&method.fnPtr, &ours, sizeof ours);
    bool fine = (*jni)->RegisterNatives(jni, locks.unsafe, &method, 1) == 0;
    (*jni)->ExceptionClear(jni);
    return fine;
}

/* Requests to java.traceview.Locks.bind. THROUGH_ITSELF is added in the outer call. */
enum { BIND_OURS, BIND_ORIGINAL, THROUGH_ITSELF };

static void JNICALL lock_bind_classes(JNIEnv *jni, jclass class, jint what)
{
    if (what >= THROUGH_ITSELF) {
        (*jni)->CallStaticVoidMethod(jni, class, locks.bind, what - THROUGH_ITSELF);
        return;
    }
    if (what == BIND_ORIGINAL || lock_bind_own_class(jni))
        lock_register_natives(jni);
}

/* The class file, version 49: the class, its superclass, and the method `public static native void
 * bind(int)`. */
static const char binder_file[] = "\xCA\xFE\xBA\xBE\0\0\0\x31\0\7"
                                  "\1\0\x14" BINDER "\7\0\1"
                                  "\1\0\x10" OBJECT "\7\0\3"
                                  "\1\0\4"
                                  "bind"
                                  "\1\0\4"
                                  "(I)V"
                                  "\0\x31\0\2\0\4\0\0\0\0"
                                  "\0\1\1\t\0\5\0\6\0\0"
                                  "\0";

/* Define the class whose native method is lock_bind_classes. */
static bool lock_define_binder(JNIEnv *jni)
{
    static char name[] = "bind", signature[] = "(I)V";
    void(JNICALL *const function)(JNIEnv *, jclass, jint) = lock_bind_classes;
    JNINativeMethod method = {name, signature, NULL};
    memcpy(&method.fnPtr, &function, sizeof function);
    if (locks.bind != NULL)
        return true;
    jclass class = (*jni)->DefineClass(jni, BINDER, NULL, (const jbyte *)binder_file,
                                       (jsize)sizeof binder_file);
    if (class != NULL && (*jni)->RegisterNatives(jni, class, &method, 1) == 0) {
        locks.binder = (*jni)->NewGlobalRef(jni, class);
        locks.bind = (*jni)->GetStaticMethodID(jni, class, name, signature);
    }
    (*jni)->ExceptionClear(jni);
    (*jni)->DeleteLocalRef(jni, class);
    return locks.binder != NULL && locks.bind != NULL;
}

static void lock_call_binder(JNIEnv *jni, jint what)
{
    assert(locks.binder != NULL && locks.bind != NULL);
    (*jni)->CallStaticVoidMethod(jni, locks.binder, locks.bind, what + THROUGH_ITSELF);
    (*jni)->ExceptionClear(jni);
}

/* Put the recorder's function before Unsafe.park; false: not possible here (ART, or a VM that
 * refuses). The address of the VM's own function is only told to a NativeMethodBind callback, which
 * the binder provokes by letting Unsafe register its natives again; the event is on just for that
 * long. */
static bool lock_bind_parks(JNIEnv *jni)
{
    static const jvmtiEvent event = JVMTI_EVENT_NATIVE_METHOD_BIND;
    jvmtiEnv *jvmti = locks.jvmti;
    if (tv_agent.is_art || !lock_find_classes(jni) || !lock_define_binder(jni) ||
        (*jvmti)->SetEventNotificationMode(jvmti, JVMTI_ENABLE, event, NULL) != JVMTI_ERROR_NONE)
        return false;
    lock_call_binder(jni, BIND_OURS);
    (void)(*jvmti)->SetEventNotificationMode(jvmti, JVMTI_DISABLE, event, NULL);
    return locks.bound;
}

static void lock_unbind_parks(JNIEnv *jni)
{
    if (locks.bound)
        lock_call_binder(jni, BIND_ORIGINAL);
    locks.bound = false;
}

/* ---- start and end ---- */

/* Ask for what the lock events need. Monitor events are a must; the owner of a monitor, parks (by
 * native method bind) and virtual threads come only where the VM offers them. */
static bool lock_new_environment(jvmtiEnv *jvmti)
{
    jvmtiCapabilities offered = {0}, wanted = {0};
    jvmtiEventCallbacks callbacks = {
        .MonitorContendedEnter = lock_on_contended_enter,
        .MonitorContendedEntered = lock_on_contended_entered,
        .NativeMethodBind = lock_on_native_bind,
    };
    if ((*jvmti)->GetPotentialCapabilities(jvmti, &offered) != JVMTI_ERROR_NONE ||
        !offered.can_generate_monitor_events)
        return false;
    wanted.can_generate_monitor_events = 1;
    wanted.can_get_monitor_info = offered.can_get_monitor_info;
    wanted.can_generate_native_method_bind_events = offered.can_generate_native_method_bind_events;
    (void)tv_agent_virtual_allow(&wanted, &offered);
    return (*jvmti)->AddCapabilities(jvmti, &wanted) == JVMTI_ERROR_NONE &&
           (*jvmti)->SetEventCallbacks(jvmti, &callbacks, sizeof callbacks) == JVMTI_ERROR_NONE;
}

/* Make the JVMTI environment of the lock events once; a later recording finds it. Own environment:
 * callbacks and capabilities belong to one, so these cannot disturb the profiler's. */
static bool lock_prepare_events(void)
{
    if (locks.jvmti != NULL)
        return true;
    jvmtiEnv *jvmti = tv_agent_new_environment();
    if (jvmti != NULL && lock_new_environment(jvmti))
        locks.jvmti = jvmti;
    else if (jvmti != NULL)
        (void)(*jvmti)->DisposeEnvironment(jvmti);
    return locks.jvmti != NULL;
}

static bool lock_set_monitor_events(jvmtiEventMode mode)
{
    static const jvmtiEvent events[] = {JVMTI_EVENT_MONITOR_CONTENDED_ENTER,
                                        JVMTI_EVENT_MONITOR_CONTENDED_ENTERED};
    jvmtiEnv *jvmti = locks.jvmti;
    bool fine = true;
    for (size_t i = 0; i < sizeof events / sizeof events[0]; i++)
        fine =
            (*jvmti)->SetEventNotificationMode(jvmti, mode, events[i], NULL) == JVMTI_ERROR_NONE &&
            fine;
    return fine;
}

void tv_agent_locks_begin(void)
{
    bool attached;
    JNIEnv *jni = tv_agent_attach(&attached);
    bool fine = jni != NULL && lock_prepare_events();
    atomic_store(&locks.next_question_ns, 0);
    locks.tells = fine && lock_set_monitor_events(JVMTI_ENABLE);
    if (!locks.tells)
        tv_agent_say("waits for monitors are not recorded: this JVM does not report them");
    if (!fine || !lock_bind_parks(jni))
        tv_agent_say("parks are not recorded: this machine does not let them be seen");
    tv_agent_detach(attached);
}

void tv_agent_locks_end(void)
{
    bool attached;
    if (locks.jvmti == NULL)
        return;
    JNIEnv *jni = tv_agent_attach(&attached);
    if (jni != NULL) {
        if (locks.tells)
            (void)lock_set_monitor_events(JVMTI_DISABLE);
        lock_unbind_parks(jni);
    }
    tv_agent_detach(attached);
}
