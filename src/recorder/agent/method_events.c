/* SPDX-License-Identifier: Apache-2.0 */
/*
 * method_events.c - call tracing with JVMTI's MethodEntry and MethodExit events.
 *
 * For JVMs whose classes cannot be rewritten. While these events are enabled, HotSpot runs in its
 * interpreter (170 ns a call, against 18 ns with rewritten classes). So they are enabled only
 * during a recording, and only for the threads of the option `threads`, if given.
 *
 * A method gets its id when a thread first sees it, inside the event, while its class cannot be
 * unloaded. Lookups go to a cache of the thread, then to a table of all threads:
 *
 *     event -> places[] (thread, no lock) -> events.table (lock) -> JVMTI names, recording id
 *
 * HotSpot never reuses a jmethodID. ART may reuse that of an unloaded class; the new method then
 * gets the old method's name.
 */
#include <assert.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "recorder/agent/agent.h"
#include "recorder/memory.h"
#include "recorder/recording.h"
#include "recorder/text.h"

#define LONGEST_NAME 1024

/* Entries in the cache of each thread, and the first size of the table. */
#define PLACES 4096u

struct seen_method {
    jmethodID method; /* NULL: free */
    uint32_t number;  /* 0: not traced */
};

static struct {
    pthread_mutex_t lock;
    struct seen_method *table; /* open addressing */
    size_t used;
    size_t room; /* a power of two, or 0 */
    atomic_bool on;
    atomic_uint options; /* generation of the options; older cache entries are void */
} events = {.lock = PTHREAD_MUTEX_INITIALIZER};

static __thread struct seen_method *places __attribute__((tls_model("initial-exec")));
static __thread unsigned places_of
    __attribute__((tls_model("initial-exec"))); /* generation of the cache */

/* Inside an event: Java code that the JVM runs for our JVMTI calls is not traced. */
static __thread bool inside __attribute__((tls_model("initial-exec")));

static size_t method_id_hash(jmethodID method)
{
    uint64_t bits = (uint64_t)(uintptr_t)method >> 3;
    return (size_t)((bits * UINT64_C(0x9E3779B97F4A7C15)) >> 32);
}

/* Return the entry of the method, or the free entry for it. */
static struct seen_method *method_seen_find(jmethodID method)
{
    assert(events.room > 0 && (events.room & (events.room - 1)) == 0);
    size_t at = method_id_hash(method) & (events.room - 1);
    while (events.table[at].method != NULL && events.table[at].method != method)
        at = (at + 1) & (events.room - 1);
    return &events.table[at];
}

/* Make room for one more; keep half of the table free. */
static bool method_seen_grow(void)
{
    if (2 * (events.used + 1) <= events.room)
        return true;
    struct seen_method *before = events.table;
    size_t count = events.room, room = count == 0 ? PLACES : 2 * count;
    struct seen_method *table = tv_mmap_alloc(room * sizeof *table);
    if (table == NULL)
        return false;
    events.table = table;
    events.room = room;
    for (size_t i = 0; i < count; i++)
        if (before[i].method != NULL)
            *method_seen_find(before[i].method) = before[i];
    tv_mmap_free(before, count * sizeof *before);
    return true;
}

/* Copy and release a string of the JVM; "" for NULL. */
static void method_seen_read(jvmtiEnv *jvmti, char *text, char *out)
{
    out[0] = '\0';
    if (text == NULL)
        return;
    tv_text_from_jvm(out, LONGEST_NAME, text, strlen(text), NULL);
    (*jvmti)->Deallocate(jvmti, (unsigned char *)text);
}

/* Write com.example.Class for Lcom/example/Class;. Return false for other types. */
static bool method_name_class(jvmtiEnv *jvmti, jclass class, char *out)
{
    char *signature;
    if ((*jvmti)->GetClassSignature(jvmti, class, &signature, NULL) != JVMTI_ERROR_NONE)
        return false;
    size_t length = strlen(signature);
    bool plain = length > 2 && signature[0] == 'L';
    if (plain)
        tv_text_from_jvm(out, LONGEST_NAME, signature + 1, length - 2, "/.");
    (*jvmti)->Deallocate(jvmti, (unsigned char *)signature);
    return plain;
}

static bool method_is_of_jvm(jvmtiEnv *jvmti, JNIEnv *jni, jclass class)
{
    jobject loader = NULL;
    if ((*jvmti)->GetClassLoader(jvmti, class, &loader) != JVMTI_ERROR_NONE || loader == NULL)
        return true;
    (*jni)->DeleteLocalRef(jni, loader);
    return false;
}

static int32_t method_first_line(jvmtiEnv *jvmti, jmethodID method)
{
    jint count;
    jvmtiLineNumberEntry *lines;
    int32_t line = 0;
    if ((*jvmti)->GetLineNumberTable(jvmti, method, &count, &lines) != JVMTI_ERROR_NONE)
        return 0;
    for (jint i = 0; i < count; i++)
        if (lines[i].start_location == 0)
            line = lines[i].line_number;
    (*jvmti)->Deallocate(jvmti, (unsigned char *)lines);
    return line;
}

/* Add a method to the recording by its names; 0: it is not wanted, or the JVM does not tell them.
 */
static uint32_t method_seen_add_named(jvmtiEnv *jvmti, JNIEnv *jni, jmethodID method, jclass class)
{
    char class_name[LONGEST_NAME], name[LONGEST_NAME], signature[LONGEST_NAME], file[LONGEST_NAME];
    char *texts[3] = {NULL, NULL, NULL};
    if (!method_name_class(jvmti, class, class_name) || !tv_agent_tracing_wants(class_name) ||
        (!tv_agent.options.boot && method_is_of_jvm(jvmti, jni, class)) ||
        (*jvmti)->GetMethodName(jvmti, method, &texts[0], &texts[1], NULL) != JVMTI_ERROR_NONE)
        return 0;
    if ((*jvmti)->GetSourceFileName(jvmti, class, &texts[2]) != JVMTI_ERROR_NONE)
        texts[2] = NULL;
    method_seen_read(jvmti, texts[0], name);
    method_seen_read(jvmti, texts[1], signature);
    method_seen_read(jvmti, texts[2], file);
    return tv_recording_find_method(&(struct tv_recording_method){
        .class_name = class_name,
        .name = name,
        .signature = signature,
        .file = file,
        .line = method_first_line(jvmti, method),
    });
}

static uint32_t method_seen_add(jvmtiEnv *jvmti, JNIEnv *jni, jmethodID method)
{
    jclass class;
    if ((*jvmti)->GetMethodDeclaringClass(jvmti, method, &class) != JVMTI_ERROR_NONE)
        return 0;
    uint32_t number = method_seen_add_named(jvmti, jni, method, class);
    (*jni)->DeleteLocalRef(jni, class);
    return number;
}

/* Return a method's number in the recording, made at the first event of the method; 0: none,
 * because the VM ends or memory does. The agent is held, so VMDeath waits until the JVMTI calls are
 * over. */
static uint32_t method_number_of(jvmtiEnv *jvmti, JNIEnv *jni, jmethodID method)
{
    uint32_t number = 0;
    if (!tv_agent_hold())
        return 0;
    pthread_mutex_lock(&events.lock);
    if (method_seen_grow()) {
        struct seen_method *seen = method_seen_find(method);
        if (seen->method == NULL) {
            *seen = (struct seen_method){method, method_seen_add(jvmti, jni, method)};
            events.used++;
        }
        number = seen->number;
    }
    pthread_mutex_unlock(&events.lock);
    tv_agent_release();
    return number;
}

/* Return the id of the method, or 0 when it is not traced. */
static uint32_t method_seen_find_slot(jvmtiEnv *jvmti, JNIEnv *jni, jmethodID method)
{
    unsigned options = atomic_load_explicit(&events.options, memory_order_relaxed);
    if (places == NULL)
        places = tv_mmap_alloc(PLACES * sizeof *places);
    if (places == NULL)
        return 0;
    if (places_of != options)
        memset(places, 0, PLACES * sizeof *places);
    places_of = options;
    struct seen_method *place = &places[method_id_hash(method) % PLACES];
    if (place->method != method) {
        inside = true;
        *place = (struct seen_method){method, method_number_of(jvmti, jni, method)};
        inside = false;
    }
    return place->number;
}

void JNICALL tv_agent_events_enter(jvmtiEnv *jvmti, JNIEnv *jni, jthread thread, jmethodID method)
{
    (void)thread;
    if (inside || !atomic_load_explicit(&events.on, memory_order_relaxed))
        return;
    uint32_t number = method_seen_find_slot(jvmti, jni, method);
    if (number == 0)
        return;
    inside = true; /* joining a recording may ask the JVM for the thread's name (hooks.c) */
    tv_recording_enter(number);
    inside = false;
}

/* `value` is undefined when the method is left by an exception. */
void JNICALL tv_agent_events_leave(jvmtiEnv *jvmti, JNIEnv *jni, jthread thread, jmethodID method,
                                   jboolean by_exception, jvalue value)
{
    (void)thread;
    (void)value;
    if (inside || !atomic_load_explicit(&events.on, memory_order_relaxed))
        return;
    uint32_t number = method_seen_find_slot(jvmti, jni, method);
    if (number != 0)
        tv_recording_leave(number, by_exception ? TV_MT_UNROLL : TV_MT_EXIT);
}

void tv_agent_events_end_thread(void)
{
    tv_mmap_free(places, PLACES * sizeof *places);
    places = NULL;
}

/* Enable or disable both events; on failure leave both disabled. */
static bool method_events_set_mode(jvmtiEventMode mode, jthread thread)
{
    jvmtiEnv *jvmti = tv_agent.jvmti;
    if ((*jvmti)->SetEventNotificationMode(jvmti, mode, JVMTI_EVENT_METHOD_ENTRY, thread) !=
        JVMTI_ERROR_NONE)
        return false;
    if ((*jvmti)->SetEventNotificationMode(jvmti, mode, JVMTI_EVENT_METHOD_EXIT, thread) ==
        JVMTI_ERROR_NONE)
        return true;
    (void)(*jvmti)->SetEventNotificationMode(jvmti, JVMTI_DISABLE, JVMTI_EVENT_METHOD_ENTRY,
                                             thread);
    return false;
}

/* Set the mode for the existing threads that the options include. Later threads come by
 * ThreadStart. */
static bool method_events_enable_wanted(jvmtiEnv *jvmti, JNIEnv *jni, jvmtiEventMode mode)
{
    jint count;
    jthread *threads;
    if ((*jvmti)->GetAllThreads(jvmti, &count, &threads) != JVMTI_ERROR_NONE)
        return false;
    for (jint i = 0; i < count; i++) {
        /* Errors of threads that have ended meanwhile do not matter. */
        if (tv_agent_wants_thread(jvmti, jni, threads[i]))
            (void)method_events_set_mode(mode, threads[i]);
        (*jni)->DeleteLocalRef(jni, threads[i]);
    }
    (*jvmti)->Deallocate(jvmti, (unsigned char *)threads);
    return true;
}

static bool method_is_limited(void)
{
    const char *threads = tv_agent.options.threads;
    return threads != NULL && strcmp(threads, "all") != 0;
}

/* The control thread is not attached to the JVM, but JVMTI needs an attached thread. */
static bool method_events_enable_everywhere(jvmtiEventMode mode)
{
    bool attached, fine = false, before = inside;
    inside = true;
    JNIEnv *jni = tv_agent_attach(&attached);
    if (jni != NULL && method_is_limited())
        fine = method_events_enable_wanted(tv_agent.jvmti, jni, mode);
    else if (jni != NULL)
        fine = method_events_set_mode(mode, NULL);
    tv_agent_detach(attached);
    inside = before;
    return fine;
}

void JNICALL tv_agent_events_start_thread(jvmtiEnv *jvmti, JNIEnv *jni, jthread thread)
{
    if (atomic_load(&events.on) && method_is_limited() && tv_agent_wants_thread(jvmti, jni, thread))
        (void)method_events_set_mode(JVMTI_ENABLE, thread);
}

void tv_agent_events_renew(void)
{
    pthread_mutex_lock(&events.lock);
    tv_mmap_free(events.table, events.room * sizeof *events.table);
    events.table = NULL;
    events.used = events.room = 0;
    atomic_fetch_add(&events.options, 1);
    pthread_mutex_unlock(&events.lock);
}

bool tv_agent_events_start(void)
{
    if (!tv_agent.can_see_calls)
        return false;
    atomic_store(&events.on, true);
    bool fine = method_events_enable_everywhere(JVMTI_ENABLE);
    if (!fine)
        atomic_store(&events.on, false);
    return fine;
}

void tv_agent_events_stop(void)
{
    if (atomic_exchange(&events.on, false))
        (void)method_events_enable_everywhere(JVMTI_DISABLE);
}
