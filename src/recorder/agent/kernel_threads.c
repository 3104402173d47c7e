/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kernel_threads.c - the kernel threads of Java threads (see kernel_threads.h).
 *
 * The roll call, for threads that existed before an attach:
 *
 *     attaching thread                         each other thread, in the signal handler
 *     --------------------------------------   ----------------------------------------
 *     reserve one block for each thread,
 *       publish them in roll.called
 *     tgkill() all threads in
 *       /proc/self/task                 ---->  take the next block, store thread id,
 *                                                JNIEnv and a stack address there
 *     wait until all have answered      <----  count the answer
 *     find stack ends in /proc/self/maps
 *     find the Java thread of each JNIEnv,
 *       tag it with its block
 *
 * No handler takes a lock or allocates. Java threads and JNIEnv match by Thread.eetop, HotSpot's
 * address of its native thread object: the JNIEnv is in this object at a fixed offset.
 */
#define _GNU_SOURCE
#include "recorder/agent/kernel_threads.h"

#include <assert.h>
#include <dirent.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "recorder/agent/agent.h"

/* Spare blocks for threads that start while the roll call begins. */
#define LATECOMERS 64u

/* Time to wait for answers: on a busy machine, a thread may get no processor for a while. */
#define ROLL_PATIENCE_MS 2000
#define ROLL_STEP_NS 1000000

__thread struct tv_kernel_thread *tv_kernel_thread_self __attribute__((tls_model("initial-exec")));

static struct {
    jvmtiEnv *jvmti; /* own environment, for its tags on threads */
    pthread_mutex_t lock;
} threads = {.lock = PTHREAD_MUTEX_INITIALIZER};

struct called_thread {
    struct tv_kernel_thread *thread;
    uintptr_t stack;
    atomic_bool answered;
};

/* The roll call under way. A late handler may still write to `called`, so it is never freed: one
 * block for each attach. */
static struct {
    _Atomic(struct called_thread *) called; /* NULL: no roll call */
    unsigned room;
    atomic_uint next, answers;
} roll;

void tv_kernel_threads_lock(void)
{
    pthread_mutex_lock(&threads.lock);
}

void tv_kernel_threads_unlock(void)
{
    pthread_mutex_unlock(&threads.lock);
}

/* ---- threads that start and end ---- */

static uintptr_t kernel_thread_own_stack_end(void)
{
    pthread_attr_t attributes;
    void *start;
    size_t size;
    if (pthread_getattr_np(pthread_self(), &attributes) != 0)
        return 0;
    bool known = pthread_attr_getstack(&attributes, &start, &size) == 0;
    pthread_attr_destroy(&attributes);
    return known ? (uintptr_t)start + size : 0;
}

static bool kernel_threads_tag(jthread thread, const struct tv_kernel_thread *known)
{
    assert(threads.jvmti != NULL);
    return (*threads.jvmti)->SetTag(threads.jvmti, thread, (jlong)(uintptr_t)known) ==
           JVMTI_ERROR_NONE;
}

/* Tie the calling thread to its kernel thread; nothing happens for one that is known. A tag that
 * the VM refuses leaves no half-known thread behind. */
static void kernel_threads_register_self(JNIEnv *jni, jthread thread)
{
    struct tv_kernel_thread *known =
        tv_kernel_thread_self != NULL ? NULL : calloc(1, sizeof *known);
    if (known == NULL)
        return;
    known->id = (pid_t)syscall(SYS_gettid);
    known->jni = jni;
    known->stack_end = kernel_thread_own_stack_end();
    if (kernel_threads_tag(thread, known))
        tv_kernel_thread_self = known;
    else
        free(known);
}

static void JNICALL kernel_threads_on_start(jvmtiEnv *jvmti, JNIEnv *jni, jthread thread)
{
    (void)jvmti;
    if (!tv_agent_hold())
        return;
    kernel_threads_register_self(jni, thread);
    tv_agent_release();
}

static void JNICALL kernel_threads_on_end(jvmtiEnv *jvmti, JNIEnv *jni, jthread thread)
{
    struct tv_kernel_thread *known = tv_kernel_thread_self;
    (void)jni;
    tv_kernel_thread_self = NULL;
    atomic_signal_fence(memory_order_seq_cst);
    if (known == NULL)
        return;
    tv_kernel_threads_lock();
    if (tv_agent_hold()) {
        (void)(*jvmti)->SetTag(jvmti, thread, 0);
        tv_agent_release();
        free(known);
    }
    tv_kernel_threads_unlock();
}

/* Have the start and the end of threads reported. */
static bool kernel_threads_enable_events(jvmtiEnv *jvmti)
{
    static const jvmtiCapabilities tags = {.can_tag_objects = 1};
    static const jvmtiEvent events[] = {JVMTI_EVENT_THREAD_START, JVMTI_EVENT_THREAD_END};
    jvmtiEventCallbacks callbacks = {.ThreadStart = kernel_threads_on_start,
                                     .ThreadEnd = kernel_threads_on_end};
    if ((*jvmti)->AddCapabilities(jvmti, &tags) != JVMTI_ERROR_NONE ||
        (*jvmti)->SetEventCallbacks(jvmti, &callbacks, sizeof callbacks) != JVMTI_ERROR_NONE)
        return false;
    for (size_t i = 0; i < sizeof events / sizeof events[0]; i++)
        if ((*jvmti)->SetEventNotificationMode(jvmti, JVMTI_ENABLE, events[i], NULL) !=
            JVMTI_ERROR_NONE)
            return false;
    return true;
}

bool tv_kernel_threads_prepare(JavaVM *vm)
{
    jvmtiEnv *jvmti;
    if (threads.jvmti != NULL)
        return true;
    if ((*vm)->GetEnv(vm, (void **)&jvmti, JVMTI_VERSION_1_2) != JNI_OK)
        return false;
    threads.jvmti = jvmti;
    if (kernel_threads_enable_events(jvmti))
        return true;
    threads.jvmti = NULL;
    (void)(*jvmti)->DisposeEnvironment(jvmti);
    return false;
}

void tv_kernel_threads_begin(JNIEnv *jni)
{
    jthread thread;
    if (threads.jvmti == NULL ||
        (*threads.jvmti)->GetCurrentThread(threads.jvmti, &thread) != JVMTI_ERROR_NONE)
        return;
    kernel_threads_register_self(jni, thread);
    (*jni)->DeleteLocalRef(jni, thread);
}

struct tv_kernel_thread *tv_kernel_thread_find(jthread thread)
{
    struct tv_kernel_thread *found;
    jlong tag = 0;
    if (threads.jvmti == NULL ||
        (*threads.jvmti)->GetTag(threads.jvmti, thread, &tag) != JVMTI_ERROR_NONE)
        return NULL;
    uintptr_t address = (uintptr_t)tag;
    memcpy(&found, &address, sizeof found);
    return found;
}

/* ---- /proc ---- */

/* Is the state letter R? It follows the name, which may contain any bytes, so search for the last
 * parenthesis: proc(5). */
static bool kernel_state_is_running(const char *stat)
{
    const char *name_end = strrchr(stat, ')');
    return name_end == NULL || name_end[1] != ' ' || name_end[2] == 'R';
}

/* Read a file in /proc/self/task/ID, truncated to the room. Return false when the thread is gone.
 */
static bool kernel_thread_read_file(pid_t id, const char *name, char *text, size_t room)
{
    char path[64];
    snprintf(path, sizeof path, "/proc/self/task/%d/%s", (int)id, name);
    int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0)
        return false;
    ssize_t length = read(file, text, room - 1);
    close(file);
    text[length > 0 ? length : 0] = '\0';
    return length > 0;
}

bool tv_kernel_thread_blocks(pid_t id, int signal_number)
{
    static const char key[] = "\nSigBlk:";
    char status[4096];
    const char *mask =
        kernel_thread_read_file(id, "status", status, sizeof status) ? strstr(status, key) : NULL;
    return mask != NULL &&
           (strtoull(mask + sizeof key - 1, NULL, 16) >> (signal_number - 1) & 1) != 0;
}

bool tv_kernel_thread_is_running(jthread thread)
{
    char stat[512];
    tv_kernel_threads_lock();
    const struct tv_kernel_thread *known = tv_kernel_thread_find(thread);
    pid_t id = known == NULL ? 0 : known->id;
    tv_kernel_threads_unlock();
    if (id == 0)
        return true;
    return kernel_thread_read_file(id, "stat", stat, sizeof stat) && kernel_state_is_running(stat);
}

/* ---- roll call ---- */

void tv_kernel_thread_report(uintptr_t stack)
{
    JNIEnv *jni;
    struct called_thread *called = atomic_load(&roll.called);
    if (called == NULL)
        return;
    atomic_fetch_add(&roll.answers, 1);
    /* GetEnv only reads thread-local storage, so it is safe in a signal handler. */
    if (tv_kernel_thread_self != NULL ||
        (*tv_agent.vm)->GetEnv(tv_agent.vm, (void **)&jni, JNI_VERSION_1_6) != JNI_OK)
        return;
    unsigned at = atomic_fetch_add(&roll.next, 1);
    if (at >= roll.room)
        return;
    called[at].thread->id = (pid_t)syscall(SYS_gettid);
    called[at].thread->jni = jni;
    called[at].stack = stack;
    tv_kernel_thread_self = called[at].thread;
    atomic_store(&called[at].answered, true);
}

static unsigned kernel_threads_count(void)
{
    unsigned count = 0;
    const struct dirent *entry;
    DIR *tasks = opendir("/proc/self/task");
    while (tasks != NULL && (entry = readdir(tasks)) != NULL)
        count += entry->d_name[0] != '.';
    if (tasks != NULL)
        closedir(tasks);
    return count;
}

/* Send the signal to each thread that does not block it. Return how many should answer. */
static unsigned kernel_threads_call_all(int signal_number)
{
    unsigned count = 0;
    const struct dirent *entry;
    DIR *tasks = opendir("/proc/self/task");
    while (tasks != NULL && (entry = readdir(tasks)) != NULL) {
        pid_t id = (pid_t)strtol(entry->d_name, NULL, 10);
        if (id > 0 && !tv_kernel_thread_blocks(id, signal_number))
            count += syscall(SYS_tgkill, getpid(), id, signal_number) == 0;
    }
    if (tasks != NULL)
        closedir(tasks);
    return count;
}

/* Return the end of the mapping that contains the address, which is the end of the stack, or 0. */
static uintptr_t kernel_threads_find_stack_end(FILE *maps, uintptr_t stack)
{
    char line[512], *dash;
    rewind(maps);
    while (fgets(line, sizeof line, maps) != NULL) {
        uintptr_t start = (uintptr_t)strtoull(line, &dash, 16);
        uintptr_t end = *dash == '-' ? (uintptr_t)strtoull(dash + 1, NULL, 16) : 0;
        if (stack >= start && stack < end)
            return end;
    }
    return 0;
}

/* Return HotSpot's address of the thread. The JNIEnv is at a fixed offset from it. */
static uintptr_t kernel_threads_jvm_address(JNIEnv *jni, jthread thread, jfieldID field)
{
    return (uintptr_t)(*jni)->GetLongField(jni, thread, field);
}

static struct tv_kernel_thread *kernel_threads_find_called(const struct called_thread *called,
                                                           const void *jni)
{
    for (unsigned i = 0; i < roll.room; i++)
        if (atomic_load(&called[i].answered) && called[i].thread->jni == jni)
            return called[i].thread;
    return NULL;
}

/* Tag the threads that were seen by their JNIEnv. The JVM keeps it within its own struct of a
 * thread, at a distance that is measured with the calling thread. */
static void kernel_threads_tag_called(JNIEnv *jni, const struct called_thread *called,
                                      jfieldID field)
{
    jthread own, *list;
    jint count;
    if ((*threads.jvmti)->GetCurrentThread(threads.jvmti, &own) != JVMTI_ERROR_NONE)
        return;
    uintptr_t distance = (uintptr_t)jni - kernel_threads_jvm_address(jni, own, field);
    (*jni)->DeleteLocalRef(jni, own);
    if ((*threads.jvmti)->GetAllThreads(threads.jvmti, &count, &list) != JVMTI_ERROR_NONE)
        return;
    tv_kernel_threads_lock();
    for (jint i = 0; i < count; i++) {
        uintptr_t address = kernel_threads_jvm_address(jni, list[i], field);
        struct tv_kernel_thread *found =
            address == 0 || tv_kernel_thread_find(list[i]) != NULL
                ? NULL
                : kernel_threads_find_called(called, (const void *)(address + distance));
        if (found != NULL)
            (void)kernel_threads_tag(list[i], found);
        (*jni)->DeleteLocalRef(jni, list[i]);
    }
    tv_kernel_threads_unlock();
    (*threads.jvmti)->Deallocate(threads.jvmti, (unsigned char *)list);
}

static void kernel_threads_wait_for_answers(unsigned count)
{
    const struct timespec step = {0, ROLL_STEP_NS};
    for (int i = 0; i < ROLL_PATIENCE_MS && atomic_load(&roll.answers) < count; i++)
        nanosleep(&step, NULL);
}

/* Look up the stack of each thread that answered, by the address it told. A thread that did not
 * answer in time keeps the end it had. */
static void kernel_threads_find_stack_ends(struct called_thread *called)
{
    FILE *maps = fopen("/proc/self/maps", "re");
    for (unsigned i = 0; maps != NULL && i < roll.room; i++)
        if (atomic_load(&called[i].answered))
            called[i].thread->stack_end = kernel_threads_find_stack_end(maps, called[i].stack);
    if (maps != NULL)
        fclose(maps);
}

static struct called_thread *kernel_threads_reserve_answers(unsigned room)
{
    struct called_thread *called = calloc(room, sizeof *called);
    for (unsigned i = 0; called != NULL && i < room; i++) {
        called[i].thread = calloc(1, sizeof *called[i].thread);
        if (called[i].thread == NULL)
            return NULL; /* out of memory: leak a few blocks */
    }
    return called;
}

void tv_kernel_threads_call_roll(JNIEnv *jni, int signal_number)
{
    jclass class = (*jni)->FindClass(jni, "java/lang/Thread");
    jfieldID field = class == NULL ? NULL : (*jni)->GetFieldID(jni, class, "eetop", "J");
    (*jni)->ExceptionClear(jni);
    (*jni)->DeleteLocalRef(jni, class);
    if (field == NULL || threads.jvmti == NULL)
        return;
    unsigned count = kernel_threads_count();
    assert(atomic_load(&roll.called) == NULL);
    struct called_thread *called = kernel_threads_reserve_answers(count + LATECOMERS);
    if (called == NULL)
        return;
    roll.room = count + LATECOMERS;
    atomic_store(&roll.next, 0);
    atomic_store(&roll.answers, 0);
    atomic_store(&roll.called, called);
    kernel_threads_wait_for_answers(kernel_threads_call_all(signal_number));
    atomic_store(&roll.called, NULL);
    kernel_threads_find_stack_ends(called);
    kernel_threads_tag_called(jni, called, field);
}
