/* SPDX-License-Identifier: Apache-2.0 */
/*
 * method_events.c - calls by the machine's own events of entry and exit.  See agent.h.
 *
 * For machines whose classes cannot be rewritten.  While the events are on, the machine interprets
 * (HotSpot: 170 ns a call where rewritten classes take 18), so they are on only while a recording
 * runs, and where the option threads names some, only for those.
 *
 * A method gets its number when its thread first sees it, inside the event, while its class cannot
 * go away: by a table of the thread, then by one of all.  HotSpot never uses a jmethodID again; ART
 * may, for a class of a loader that is gone, and the method then bears the old one's name.
 */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "recorder/agent/agent.h"
#include "recorder/memory.h"
#include "recorder/recording.h"
#include "recorder/text.h"

#define LONGEST_NAME 1024

/* Of a thread: where a method's number can stand. */
#define PLACES 4096u

struct seen_method {
    jmethodID method; /* NULL: free */
    uint32_t number;  /* 0: not to be traced */
};

static struct {
    pthread_mutex_t lock;
    struct seen_method *table; /* open addressing */
    size_t used;
    size_t room; /* a power of two, or 0 */
    atomic_bool on;
    atomic_uint options; /* how often there were others */
} events = {.lock = PTHREAD_MUTEX_INITIALIZER};

static __thread struct seen_method *places __attribute__((tls_model("initial-exec")));
static __thread unsigned places_of __attribute__((tls_model("initial-exec"))); /* events.options */

/* In an event already: what the machine calls to answer us is not traced. */
static __thread bool inside __attribute__((tls_model("initial-exec")));

static size_t method_id_hash(jmethodID method)
{
    uint64_t bits = (uint64_t)(uintptr_t)method >> 3;
    return (size_t)((bits * UINT64_C(0x9E3779B97F4A7C15)) >> 32);
}

/* The method's place in the table, or the free one for it. */
static struct seen_method *method_seen_find(jmethodID method)
{
    size_t at = method_id_hash(method) & (events.room - 1);
    while (events.table[at].method != NULL && events.table[at].method != method)
        at = (at + 1) & (events.room - 1);
    return &events.table[at];
}

/* Room for one more, half of the table being free. */
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

/* Takes over a text of the machine's; "" for none. */
static void method_seen_read(jvmtiEnv *jvmti, char *text, char *out)
{
    out[0] = '\0';
    if (text == NULL)
        return;
    tv_text_from_jvm(out, LONGEST_NAME, text, strlen(text), NULL);
    (*jvmti)->Deallocate(jvmti, (unsigned char *)text);
}

/* From Lcom/example/Class; to com.example.Class. */
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

/* 0: not to be traced. */
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
    inside = true; /* the thread may be named, see hooks.c */
    tv_recording_enter(number);
    inside = false;
}

/* Left by an exception, the value is none. */
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

/* Both or none. */
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

/* For the threads that are there; later ones are seen when they start. */
static bool method_events_enable_wanted(jvmtiEnv *jvmti, JNIEnv *jni, jvmtiEventMode mode)
{
    jint count;
    jthread *threads;
    if ((*jvmti)->GetAllThreads(jvmti, &count, &threads) != JVMTI_ERROR_NONE)
        return false;
    for (jint i = 0; i < count; i++) {
        /* One that has ended meanwhile is no error. */
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

/* The thread of the control is none of the machine's, which answers only to its own. */
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
