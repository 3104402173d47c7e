/* SPDX-License-Identifier: Apache-2.0 */
/*
 * profiler.c - sampling profilers (see profiler.h).
 *
 * A tick runs in the profiler's own thread:
 *
 *     ticker -> list the threads -> mark new ones -> stack walks (stacks.c) -> samples
 *
 * `lock` is held for a whole tick. `data` protects the samples and is taken after `lock`, only for
 * short steps. It is free during stack walks, so that threads which report an allocation or a lock
 * never wait for a walk. Events take only `data`.
 */
#include "recorder/agent/profiler.h"

#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "recorder/agent/agent.h"
#include "recorder/agent/kernel_threads.h"
#include "recorder/agent/ticker.h"
#include "recorder/clock.h"
#include "recorder/samples/samples.h"

/* Marks that are no thread ids: OURSELF for the sampling thread, and UNWANTED plus the current
 * tenth of a second for threads that the pattern excludes. The exclusion is checked again every
 * tenth, since names may change; a check at every tick would cost as much as a sample. */
#define OURSELF 1u
#define UNWANTED 2u
#define TENTHS 100000u

/* Entries in the cache from bytecode index to element. Looking up lines is slow, and most stacks
 * repeat. */
#define PLACES 4096u

/* Maximum number of frames to walk in search of the outermost one. Of a deeper stack, the outermost
 * frame is looked up once and used for all stacks of the thread. */
#define WALKED 4096

#define WAITS 2u

/* A slot of the cache from a method and a place in it to its element; a newer frame with the same
 * hash takes the place of an older one. */
struct profiler_key_slot {
    jmethodID method;
    jlocation location;
    uint32_t element; /* plus one; 0: empty */
};

struct tv_profiler {
    struct tv_ticker ticker;
    struct tv_profiler_options options;
    jvmtiEnv *marks; /* environment whose marks are the thread ids */
    bool knows_itself;
    uint32_t unwanted;    /* the mark for this tenth of a second */
    pthread_mutex_t lock; /* held during a tick; protects all up to `data` */
    struct tv_agent_stack_counts counts;
    jint walked; /* most frames to ask for */
    jvmtiFrameInfo *frames;
    bool knows_waits;
    jmethodID waits[WAITS]; /* from `waits`; NULL: not in this JVM */
    /* Protects the rest. Lock order: `lock`, then `data`. */
    pthread_mutex_t data;
    struct tv_samples samples;
    uint32_t *stack;
    uint32_t *roots; /* per thread id: the outermost frame; 0: unknown */
    uint32_t root_room;
    struct tv_sample_lock *open_locks; /* per thread id: the wait in progress; from_ns 0: none */
    uint32_t open_room;
    struct profiler_key_slot places[PLACES];
    struct tv_profiler *next;
};

static struct {
    pthread_mutex_t lock;
    struct tv_profiler *first;
} all = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* Continue a hash with a text and its NUL, which keeps "ab" and "c" apart from "a" and "bc". */
static uint64_t profiler_hash_text(uint64_t hash, const char *text)
{
    do
        hash = (hash ^ (uint8_t)*text) * UINT64_C(0x100000001B3); /* FNV-1a, including the NUL */
    while (*text++ != '\0');
    return hash;
}

static bool profiler_texts_are_equal(const char *one, const char *other)
{
    return one == NULL || other == NULL ? one == other : strcmp(one, other) == 0;
}

/* Return the number of an element, found by its names and line. The jmethodID cannot be the key: a
 * method gets another one when its class is redefined while it runs, or is loaded again, but the
 * stacks should stay equal. */
static uint32_t profiler_number_key(struct tv_samples *samples, struct tv_sample_element *wanted)
{
    uint64_t hash = profiler_hash_text(UINT64_C(0xCBF29CE484222325), wanted->class_name);
    wanted->method = profiler_hash_text(profiler_hash_text(hash, wanted->name),
                                        wanted->file ? wanted->file : "");
    for (;; wanted->method++) {
        uint32_t number = tv_samples_find_element(samples, wanted->method, wanted->line);
        if (number == 0)
            return tv_samples_add_element(samples, wanted);
        const struct tv_sample_element *elements = samples->elements.at;
        const struct tv_sample_element *found = &elements[number - 1];
        if (profiler_texts_are_equal(found->class_name, wanted->class_name) &&
            profiler_texts_are_equal(found->name, wanted->name) &&
            profiler_texts_are_equal(found->file, wanted->file))
            return number;
    }
}

/* Return a placeholder element. Its class "[stack]" cannot exist in a program. */
static uint32_t profiler_placeholder_element(struct tv_profiler *profiler, const char *text)
{
    static char class_name[] = "[stack]";
    char name[64];
    snprintf(name, sizeof name, "%s", text);
    struct tv_sample_element wanted = {
        .line = TV_SAMPLES_NO_LINE, .class_name = class_name, .name = name};
    return profiler_number_key(&profiler->samples, &wanted);
}

/* Return the element of a frame. Methods of an unloaded class have no names any more. */
static uint32_t profiler_frame_element(struct tv_profiler *profiler, JNIEnv *jni,
                                       const jvmtiFrameInfo *frame)
{
    uint64_t hash = ((uint64_t)(uintptr_t)frame->method >> 3) * 31 + (uint64_t)frame->location;
    struct profiler_key_slot *place = &profiler->places[hash % PLACES];
    if (place->element != 0 && place->method == frame->method && place->location == frame->location)
        return place->element;
    struct tv_agent_method names;
    if (!tv_agent_method_read(jni, frame->method, &names))
        return profiler_placeholder_element(profiler,
                                            frame->method == NULL ? "[unknown]" : "[unloaded]");
    struct tv_sample_element wanted = {
        .line = tv_agent_line_of(frame->method, frame->location),
        .class_name = names.class_name,
        .name = names.name,
        .file = names.file[0] == '\0' ? NULL : names.file,
    };
    uint32_t element = profiler_number_key(&profiler->samples, &wanted);
    *place = (struct profiler_key_slot){frame->method, frame->location, element};
    return element;
}

/* Return the mark that excludes a thread during this tenth of a second.  An older mark says nothing
 * any more, so the names are read again. */
static uint32_t profiler_unwanted_mark(void)
{
    return UNWANTED + (uint32_t)(tv_clock_ns(CLOCK_MONOTONIC_COARSE) / 100000000 % TENTHS);
}

/* Return the id of a thread, or 0 if it is not to be sampled. A thread that the pattern excludes is
 * marked, so that the names need not be read at every tick. */
static uint32_t profiler_see_thread(struct tv_profiler *profiler, JNIEnv *jni, jthread thread)
{
    jvmtiEnv *marks = profiler->marks;
    struct tv_agent_thread names;
    uint32_t id;
    if (!tv_agent_mark_read(marks, thread, &id))
        return 0; /* not alive */
    if (id == OURSELF || id == profiler->unwanted)
        return 0;
    if (id >= TV_SAMPLES_FIRST_THREAD && tv_samples_mark_thread_seen(&profiler->samples, id))
        return id;
    if (!tv_agent_thread_read(jni, thread, &names))
        return 0;
    bool is_virtual = tv_agent_virtual_is(jni, thread);
    if (is_virtual && names.name[0] == '\0')
        tv_agent_virtual_name(jni, thread, names.name, sizeof names.name);
    uint32_t now = profiler->unwanted;
    if (profiler->options.set != NULL ||
        tv_agent_thread_matches(jni, thread, profiler->options.pattern))
        now = tv_samples_add_thread(&profiler->samples, names.name,
                                    names.has_group ? names.group : NULL);
    if (is_virtual && now >= TV_SAMPLES_FIRST_THREAD)
        tv_samples_keep_thread(&profiler->samples, now);
    tv_agent_mark(marks, thread, now);
    return now == profiler->unwanted ? 0 : now;
}

/* Should the thread be sampled, and is it running? JVMTI calls a thread runnable while it waits in
 * a system call, so ask the kernel too. */
static bool profiler_counts_thread(const struct tv_profiler *profiler, jthread thread,
                                   jthread carrier, uint8_t *does)
{
    jvmtiEnv *jvmti = tv_agent.jvmti;
    unsigned wanted = profiler->options.state;
    jint excluded = JVMTI_THREAD_STATE_SUSPENDED, state;
    *does = TV_SAMPLE_STATE_UNKNOWN;
    if (wanted == TV_AGENT_STATE_ALL && !profiler->options.keeps_times)
        return true;
    if (wanted == TV_AGENT_STATE_RUNNABLE)
        excluded |= JVMTI_THREAD_STATE_INTERRUPTED; /* as hprof, the JDK's former agent, does */
    bool runnable = (*jvmti)->GetThreadState(jvmti, thread, &state) == JVMTI_ERROR_NONE &&
                    (state & JVMTI_THREAD_STATE_RUNNABLE) != 0 && (state & excluded) == 0;
    bool runs = runnable && tv_kernel_thread_is_running(carrier);
    *does = runs ? TV_SAMPLE_RUNNING : TV_SAMPLE_WAITING;
    return wanted == TV_AGENT_STATE_ALL || runs || (runnable && wanted == TV_AGENT_STATE_RUNNABLE);
}

/* One look at threads, for the callbacks of a stack walk.  All arrays are parallel; an id of 0 is a
 * thread that is not sampled. */
struct profiler_look {
    struct tv_profiler *profiler;
    JNIEnv *jni;
    const uint32_t *ids;
    uint8_t *states; /* enum tv_sample_state */
    uint64_t time_ns;
    const jthread *threads, *carriers;
};

/* Native methods in which JVM threads wait, although JVMTI calls them runnable. */
static const struct {
    const char *class_name, *name, *signature;
} waits[WAITS] = {
    {"java/lang/ref/Reference", "waitForReferencePendingList", "()V"},
    {"java/lang/VirtualThread", "takeVirtualThreadListToUnblock", "()Ljava/lang/VirtualThread;"},
};

/* Look up these methods. Older JVMs lack them: their threads wait in Object.wait. */
static void profiler_find_wait_methods(struct tv_profiler *profiler, JNIEnv *jni)
{
    for (size_t i = 0; i < WAITS && !tv_agent.is_art; i++) {
        jclass class = (*jni)->FindClass(jni, waits[i].class_name);
        if (class != NULL)
            profiler->waits[i] =
                (*jni)->GetStaticMethodID(jni, class, waits[i].name, waits[i].signature);
        (*jni)->ExceptionClear(jni);
        (*jni)->DeleteLocalRef(jni, class);
    }
    profiler->knows_waits = true;
}

/* Tell whether the innermost method of a thread is one in which the JVM itself waits. */
static bool profiler_waits_in_jvm(struct tv_profiler *profiler, JNIEnv *jni, jmethodID top)
{
    bool waiting = false;
    if (!profiler->knows_waits)
        profiler_find_wait_methods(profiler, jni);
    for (size_t i = 0; i < WAITS; i++)
        waiting = waiting || top == profiler->waits[i];
    return waiting;
}

/* Return the place of a thread's outermost frame; NULL: no memory. */
static uint32_t *profiler_root_of(struct tv_profiler *profiler, uint32_t id)
{
    assert(id >= TV_SAMPLES_FIRST_THREAD);
    uint32_t index = id - TV_SAMPLES_FIRST_THREAD;
    if (index >= profiler->root_room) {
        uint32_t room = (index + 1) * 2;
        uint32_t *grown = realloc(profiler->roots, room * sizeof grown[0]);
        if (grown == NULL)
            return NULL;
        memset(grown + profiler->root_room, 0, (room - profiler->root_room) * sizeof grown[0]);
        profiler->roots = grown;
        profiler->root_room = room;
    }
    return &profiler->roots[index];
}

/* Return the outermost frame of a stack that is too deep to be walked to its end. */
static uint32_t profiler_find_root(const struct profiler_look *look, jint index)
{
    jvmtiEnv *jvmti = tv_agent.jvmti;
    jvmtiFrameInfo frame;
    jint count = 0;
    uint32_t *root = profiler_root_of(look->profiler, look->ids[index]);
    if (root == NULL)
        return profiler_placeholder_element(look->profiler, "[unknown]");
    if (*root == 0 && (*jvmti)->GetStackTrace(jvmti, look->threads[index], -1, 1, &frame, &count) ==
                          JVMTI_ERROR_NONE)
        *root = profiler_frame_element(look->profiler, look->jni, &frame);
    return *root != 0 ? *root : profiler_placeholder_element(look->profiler, "[unknown]");
}

/* Append the elements of frames at `at` in profiler->stack.  Return the index after them. */
static uint32_t profiler_number_frames(const struct profiler_look *look,
                                       const jvmtiFrameInfo *frames, jint count, uint32_t at)
{
    struct tv_profiler *profiler = look->profiler;
    for (jint i = 0; i < count; i++)
        profiler->stack[at++] = profiler_frame_element(profiler, look->jni, &frames[i]);
    return at;
}

/* Cut a stack to the wanted depth: innermost frames, a placeholder, and a quarter of outermost
 * frames (only one if the walk did not reach the end). Return the number of elements. */
static uint32_t profiler_number_cut_stack(const struct profiler_look *look, jint index,
                                          const jvmtiFrameInfo *frames, jint depth, bool whole)
{
    struct tv_profiler *profiler = look->profiler;
    jint kept = (jint)profiler->options.depth;
    jint outer = kept < 2 ? 0 : !whole || kept < 8 ? 1 : kept / 4;
    assert(depth > kept && outer <= kept);
    uint32_t at = profiler_number_frames(look, frames, kept - outer, 0);
    profiler->stack[at++] = profiler_placeholder_element(profiler, "[frames left out]");
    if (whole)
        return profiler_number_frames(look, frames + depth - outer, outer, at);
    if (outer > 0)
        profiler->stack[at++] = profiler_find_root(look, index);
    return at;
}

/* Count the stack in profiler->stack, or keep it with its time where times are wanted.  A stack
 * with an element that had no memory is dropped as a whole. */
static void profiler_keep_sample(const struct profiler_look *look, jint index, uint32_t depth)
{
    assert(look->ids[index] >= TV_SAMPLES_FIRST_THREAD);
    struct tv_profiler *profiler = look->profiler;
    for (uint32_t i = 0; i < depth; i++)
        if (profiler->stack[i] == 0)
            return; /* out of memory */
    struct tv_samples *samples = &profiler->samples;
    if (samples->period_ns == 0)
        (void)tv_samples_add(samples, look->ids[index], profiler->stack, depth);
    else
        (void)tv_samples_add_at(samples, look->ids[index], profiler->stack, depth,
                                &(struct tv_sample_moment){
                                    .time_ns = look->time_ns,
                                    .cpu = TV_SAMPLE_NO_CPU,
                                    .state = look->states[index],
                                });
}

/* Fill profiler->stack from frames, cut to the wanted depth.  Return its length. */
static uint32_t profiler_number_stack(const struct profiler_look *look, jint index,
                                      const jvmtiFrameInfo *frames, jint depth, bool whole)
{
    jint kept = (jint)look->profiler->options.depth;
    if (depth > kept && look->profiler->options.keeps_root)
        return profiler_number_cut_stack(look, index, frames, depth, whole);
    return profiler_number_frames(look, frames, depth < kept ? depth : kept, 0);
}

/* Take a stack (a callback).  Frames of the agent's hooks at its inner end are not the program's;
 * for a mounted virtual thread, those below its own are the carrier's. */
static void profiler_on_stack(void *context, jint index, const jvmtiFrameInfo *frames, jint depth)
{
    const struct profiler_look *look = context;
    struct tv_profiler *profiler = look->profiler;
    bool is_virtual = look->carriers[index] != look->threads[index];
    assert(depth <= profiler->walked);
    jint own = is_virtual ? tv_agent_virtual_frames(frames, depth) : depth;
    bool whole = depth < profiler->walked || own < depth;
    jint ours = tv_agent_hooks_frames(frames, depth);
    frames += ours;
    depth = own - ours;
    if (depth > 0 && profiler_waits_in_jvm(profiler, look->jni, frames[0].method)) {
        if (profiler->options.state != TV_AGENT_STATE_ALL)
            return;
        look->states[index] = TV_SAMPLE_WAITING;
    }
    pthread_mutex_lock(&profiler->data);
    profiler_keep_sample(look, index, profiler_number_stack(look, index, frames, depth, whole));
    pthread_mutex_unlock(&profiler->data);
}

/* Keep a sample without frames, because the thread did run: its time must not vanish. */
static void profiler_on_lost_stack(void *context, jint index)
{
    const struct profiler_look *look = context;
    pthread_mutex_lock(&look->profiler->data);
    look->profiler->stack[0] = profiler_placeholder_element(look->profiler, "[unknown]");
    profiler_keep_sample(look, index, 1);
    pthread_mutex_unlock(&look->profiler->data);
}

/* Update the threads first, so that new threads have ids when their stacks arrive. As in Android's
 * class, a null in a set's array ends it. */
static void profiler_sample_threads(struct tv_profiler *profiler, JNIEnv *jni, jthread *threads,
                                    const jthread *carriers, jint count)
{
    uint32_t *ids = calloc((size_t)count + 1, sizeof ids[0]);
    uint8_t *states = calloc((size_t)count + 1, sizeof states[0]);
    jint end = 0;
    if (ids == NULL || states == NULL) {
        free(ids);
        free(states);
        return;
    }
    uint64_t now = tv_clock_ns(CLOCK_MONOTONIC);
    pthread_mutex_lock(&profiler->data);
    tv_samples_begin_tick(&profiler->samples);
    for (jint i = 0; i < count; i++)
        if (threads[i] != NULL)
            ids[i] = profiler_see_thread(profiler, jni, threads[i]);
    tv_samples_end_unseen_threads(&profiler->samples);
    pthread_mutex_unlock(&profiler->data);
    while (end < count && threads[end] != NULL)
        end++;
    for (jint i = 0; i < end; i++)
        if (ids[i] == 0 || !profiler_counts_thread(profiler, threads[i], carriers[i], &states[i]))
            threads[i] = NULL;
    struct profiler_look look = {profiler, jni, ids, states, now, threads, carriers};
    if (profiler->options.depth >= 1)
        tv_agent_stacks_take(&(struct tv_agent_stacks){
            .threads = threads,
            .carriers = carriers,
            .count = end,
            .skips_missing = profiler->options.state != TV_AGENT_STATE_ALL,
            .depth = profiler->walked,
            .frames = profiler->frames,
            .take = profiler_on_stack,
            .lose = profiler_on_lost_stack,
            .context = &look,
            .counts = &profiler->counts,
        });
    free(ids);
    free(states);
}

/* ---- events in the calling thread ---- */

/* An event: the id and the stack of its thread, without hooks. */
struct profiler_own_event {
    struct profiler_look look;
    uint32_t id;
    uint8_t state;
    jthread thread;
    jvmtiFrameInfo *room;
    const jvmtiFrameInfo *frames;
    jint depth;
    bool whole;
};

/* Walk the stack of the calling thread. */
static void profiler_walk_own_stack(struct tv_profiler *profiler, struct profiler_own_event *event)
{
    jvmtiEnv *jvmti = tv_agent.jvmti;
    jint depth = 0, ours;
    event->room = calloc((size_t)profiler->walked, sizeof event->room[0]);
    if (event->room == NULL || (*jvmti)->GetStackTrace(jvmti, event->thread, 0, profiler->walked,
                                                       event->room, &depth) != JVMTI_ERROR_NONE)
        depth = 0;
    ours = depth > 0 ? tv_agent_hooks_frames(event->room, depth) : 0;
    event->whole = depth < profiler->walked;
    event->frames = event->room + ours;
    event->depth = depth - ours;
}

/* Lock the data and return the thread's id; 0: the thread is not sampled. profiler_end_event
 * unlocks. */
static uint32_t profiler_begin_event(struct tv_profiler *profiler, JNIEnv *jni,
                                     struct profiler_own_event *event)
{
    pthread_mutex_lock(&profiler->data);
    profiler->unwanted = profiler_unwanted_mark();
    event->id = profiler_see_thread(profiler, jni, event->thread);
    /* Keep the thread alive in the samples: a tick in progress may have listed the threads before
     * this one started, and would take it for ended. */
    if (event->id != 0)
        tv_samples_keep_thread(&profiler->samples, event->id);
    event->look = (struct profiler_look){
        profiler, jni, &event->id, &event->state, 0, &event->thread, &event->thread};
    return event->id;
}

static void profiler_end_event(struct tv_profiler *profiler, struct profiler_own_event *event)
{
    pthread_mutex_unlock(&profiler->data);
    free(event->room);
}

/* Return an element for a bare name; either the class or the method name is empty. */
static uint32_t profiler_number_name(struct tv_profiler *profiler, char *class_name, char *name)
{
    return profiler_number_key(&profiler->samples,
                               &(struct tv_sample_element){.line = TV_SAMPLES_NO_LINE,
                                                           .class_name = class_name,
                                                           .name = name});
}

/* Return the element of a class, which stands on top of the stack of an allocation. */
static uint32_t profiler_number_class(struct tv_profiler *profiler, jclass class)
{
    char text[TV_AGENT_NAME], empty[] = "";
    tv_agent_class_read(class, text);
    return profiler_number_name(profiler, text, empty);
}

/* Return the element of a thread's name, for the owner of a lock; 0: unknown. */
static uint32_t profiler_number_thread(struct tv_profiler *profiler, JNIEnv *jni, jthread thread)
{
    struct tv_agent_thread names;
    char empty[] = "";
    if (thread == NULL || !tv_agent_thread_read(jni, thread, &names))
        return 0;
    if (names.name[0] == '\0' && tv_agent_virtual_is(jni, thread))
        tv_agent_virtual_name(jni, thread, names.name, sizeof names.name);
    return names.name[0] == '\0' ? 0 : profiler_number_name(profiler, empty, names.name);
}

/* Fill profiler->stack. Return the number of elements, or 0 without a stack or without memory. */
static uint32_t profiler_number_event(struct tv_profiler *profiler,
                                      struct profiler_own_event *event)
{
    if (event->depth <= 0)
        return 0;
    uint32_t depth =
        profiler_number_stack(&event->look, 0, event->frames, event->depth, event->whole);
    for (uint32_t i = 0; i < depth; i++)
        if (profiler->stack[i] == 0)
            return 0;
    return depth;
}

void tv_profiler_set_events(struct tv_profiler *profiler, uint64_t alloc_interval,
                            uint64_t lock_least_ns)
{
    pthread_mutex_lock(&profiler->data);
    profiler->samples.alloc_interval = alloc_interval;
    profiler->samples.lock_least_ns = lock_least_ns;
    pthread_mutex_unlock(&profiler->data);
}

void tv_profiler_keep_allocation(struct tv_profiler *profiler, JNIEnv *jni, jthread thread,
                                 const struct tv_profiler_allocation *allocation)
{
    struct profiler_own_event event = {.thread = thread};
    profiler_walk_own_stack(profiler, &event);
    if (profiler_begin_event(profiler, jni, &event) != 0) {
        uint32_t depth = profiler_number_event(profiler, &event);
        memmove(profiler->stack + 1, profiler->stack, depth * sizeof profiler->stack[0]);
        profiler->stack[0] = profiler_number_class(profiler, allocation->class);
        bool kept =
            profiler->stack[0] != 0 &&
            tv_samples_add_allocation(&profiler->samples, event.id, profiler->stack, depth + 1,
                                      &(struct tv_sample_allocation){
                                          .time_ns = tv_clock_ns(CLOCK_MONOTONIC),
                                          .size = allocation->size,
                                          .bytes = allocation->bytes,
                                      });
        (void)kept; /* the samples count what they drop */
    }
    profiler_end_event(profiler, &event);
}

/* Return the place of the wait that a thread is in; NULL: no memory. */
static struct tv_sample_lock *profiler_open_lock_of(struct tv_profiler *profiler, uint32_t id)
{
    assert(id >= TV_SAMPLES_FIRST_THREAD);
    uint32_t index = id - TV_SAMPLES_FIRST_THREAD;
    if (index >= profiler->open_room) {
        uint32_t room = (index + 1) * 2;
        struct tv_sample_lock *grown = realloc(profiler->open_locks, room * sizeof grown[0]);
        if (grown == NULL)
            return NULL;
        memset(grown + profiler->open_room, 0, (room - profiler->open_room) * sizeof grown[0]);
        profiler->open_locks = grown;
        profiler->open_room = room;
    }
    return &profiler->open_locks[index];
}

void tv_profiler_begin_lock(struct tv_profiler *profiler, JNIEnv *jni, jthread thread,
                            const struct tv_profiler_lock *lock)
{
    struct profiler_own_event event = {.thread = thread};
    profiler_walk_own_stack(profiler, &event);
    if (profiler_begin_event(profiler, jni, &event) != 0) {
        struct tv_sample_lock *open = profiler_open_lock_of(profiler, event.id);
        struct tv_samples *samples = &profiler->samples;
        samples->unasked_owners += lock->unasked;
        if (open != NULL) {
            *open = (struct tv_sample_lock){
                .from_ns = (uint64_t)lock->from_ns,
                .class_name =
                    lock->class == NULL ? 0 : profiler_number_class(profiler, lock->class),
                .owner = profiler_number_thread(profiler, jni, lock->owner),
                .hash = lock->hash,
                .kind = (uint8_t)lock->kind,
            };
            tv_samples_resolve_lock(samples, event.id, profiler->stack,
                                    profiler_number_event(profiler, &event), open);
        }
    }
    profiler_end_event(profiler, &event);
}

/* The caller holds `data`. */
static void profiler_close_lock(struct tv_profiler *profiler, struct tv_sample_lock *open,
                                uint64_t now, bool goes_on)
{
    struct tv_samples *samples = &profiler->samples;
    if (open->from_ns == 0)
        return;
    open->to_ns = now > open->from_ns ? now : open->from_ns;
    open->is_open = goes_on;
    if (open->to_ns - open->from_ns < samples->lock_least_ns)
        samples->short_locks++;
    else
        (void)tv_samples_add_lock(samples, open);
    open->from_ns = 0;
}

void tv_profiler_end_lock(struct tv_profiler *profiler, jthread thread, int64_t now)
{
    uint32_t id;
    if (!tv_agent_mark_read(profiler->marks, thread, &id) || id < TV_SAMPLES_FIRST_THREAD)
        return;
    pthread_mutex_lock(&profiler->data);
    if (id - TV_SAMPLES_FIRST_THREAD < profiler->open_room)
        profiler_close_lock(profiler, &profiler->open_locks[id - TV_SAMPLES_FIRST_THREAD],
                            (uint64_t)now, false);
    pthread_mutex_unlock(&profiler->data);
}

void tv_profiler_end_locks(struct tv_profiler *profiler)
{
    uint64_t now = tv_clock_ns(CLOCK_MONOTONIC);
    pthread_mutex_lock(&profiler->data);
    for (uint32_t i = 0; i < profiler->open_room; i++)
        profiler_close_lock(profiler, &profiler->open_locks[i], now, true);
    pthread_mutex_unlock(&profiler->data);
}

/* ---- ticks ---- */

/* Return all threads, for free(), or NULL. */
static jthread *profiler_list_all_threads(jint *count)
{
    jvmtiEnv *jvmti = tv_agent.jvmti;
    jthread *found;
    if ((*jvmti)->GetAllThreads(jvmti, count, &found) != JVMTI_ERROR_NONE)
        return NULL;
    jthread *list = calloc((size_t)*count + 1, sizeof list[0]);
    if (list != NULL)
        memcpy(list, found, (size_t)*count * sizeof list[0]);
    (*jvmti)->Deallocate(jvmti, (unsigned char *)found);
    return list;
}

static void profiler_throw_no_array(JNIEnv *jni)
{
    jclass class = (*jni)->FindClass(jni, "java/lang/NullPointerException");
    if (class != NULL)
        (*jni)->ThrowNew(jni, class, "threads() == null");
}

/* Return the threads of the set, for free(), or NULL. A Java exception may be pending. */
static jthread *profiler_list_thread_set(const struct tv_profiler *profiler, JNIEnv *jni,
                                         jint *count)
{
    jobject array = (*jni)->CallObjectMethod(jni, profiler->options.set, profiler->options.threads);
    if ((*jni)->ExceptionCheck(jni))
        return NULL;
    if (array == NULL) {
        profiler_throw_no_array(jni);
        return NULL;
    }
    *count = (*jni)->GetArrayLength(jni, array);
    /* Only a hint: the JVM makes room for more references than this. */
    if ((*jni)->EnsureLocalCapacity(jni, *count > 4000 ? 4000 : *count + 64) != 0)
        (*jni)->ExceptionClear(jni);
    jthread *list = calloc((size_t)*count + 1, sizeof list[0]);
    for (jint i = 0; list != NULL && i < *count; i++)
        list[i] = (*jni)->GetObjectArrayElement(jni, array, i);
    return list;
}

/* Replace carriers by their mounted virtual threads. Return the original list for free(), or NULL
 * when the JVM cannot tell. */
static jthread *profiler_find_mounted(jthread *threads, jint count)
{
    jthread *carriers = calloc((size_t)count + 1, sizeof carriers[0]);
    if (carriers == NULL)
        return NULL;
    memcpy(carriers, threads, (size_t)count * sizeof threads[0]);
    if (tv_agent_virtual_replace(threads, count))
        return carriers;
    free(carriers);
    return NULL;
}

/* Run the part of a tick that needs the JVM.  tv_agent_hold keeps the JVM from ending meanwhile; a
 * set's own Java code runs before that and without the lock, as it may take for ever. */
static void profiler_list_and_sample(struct tv_profiler *profiler, JNIEnv *jni)
{
    jint count = 0;
    jthread *threads = profiler->options.set == NULL
                           ? profiler_list_all_threads(&count)
                           : profiler_list_thread_set(profiler, jni, &count);
    if (threads != NULL && tv_agent_hold()) {
        jthread *carriers =
            profiler->options.set == NULL ? profiler_find_mounted(threads, count) : NULL;
        pthread_mutex_lock(&profiler->lock);
        profiler_sample_threads(profiler, jni, threads, carriers != NULL ? carriers : threads,
                                count);
        pthread_mutex_unlock(&profiler->lock);
        free(carriers);
        tv_agent_release();
    }
    free(threads);
}

/* Run a tick (a callback).  Local references of a tick are freed at its end.  False ends the
 * ticker: the set's Java code has thrown. */
static bool profiler_tick(void *context, JNIEnv *jni)
{
    struct tv_profiler *profiler = context;
    if ((*jni)->PushLocalFrame(jni, 64) != 0) {
        (*jni)->ExceptionClear(jni);
        return true;
    }
    if (!profiler->knows_itself)
        tv_agent_mark_self(profiler->marks, jni, OURSELF);
    profiler->knows_itself = true;
    pthread_mutex_lock(&profiler->data);
    profiler->unwanted = profiler_unwanted_mark();
    pthread_mutex_unlock(&profiler->data);
    profiler_list_and_sample(profiler, jni);
    (*jni)->PopLocalFrame(jni, NULL);
    return !(*jni)->ExceptionCheck(jni);
}

/* Free a profiler, also one that was made in part.  References into the JVM can be deleted only
 * while it lives. */
static void profiler_release(void *context)
{
    struct tv_profiler *profiler = context;
    JNIEnv *jni;
    jvmtiEnv *marks = profiler->marks;
    if (atomic_load(&tv_agent.live)) {
        if (marks != NULL)
            (void)(*marks)->DisposeEnvironment(marks);
        if (profiler->options.set != NULL &&
            (*tv_agent.vm)->GetEnv(tv_agent.vm, (void **)&jni, JNI_VERSION_1_6) == JNI_OK)
            (*jni)->DeleteGlobalRef(jni, profiler->options.set);
    }
    pthread_mutex_destroy(&profiler->lock);
    pthread_mutex_destroy(&profiler->data);
    tv_samples_release(&profiler->samples);
    free(profiler->frames);
    free(profiler->stack);
    free(profiler->roots);
    free(profiler->open_locks);
    free(profiler);
}

/* Allocate what a tick needs at most, so that a tick allocates no memory for stacks. */
static bool profiler_reserve_buffers(struct tv_profiler *profiler, JNIEnv *jni)
{
    struct tv_profiler_options *options = &profiler->options;
    if (options->depth > TV_AGENT_DEEPEST - TV_AGENT_HOOK_FRAMES)
        options->depth = TV_AGENT_DEEPEST - TV_AGENT_HOOK_FRAMES;
    size_t depth = options->depth < 1 ? 1 : (size_t)options->depth;
    size_t walked = options->keeps_root && depth < WALKED ? WALKED : depth;
    profiler->walked = (jint)walked + TV_AGENT_HOOK_FRAMES;
    profiler->frames = calloc((size_t)profiler->walked, sizeof profiler->frames[0]);
    /* Two more: the placeholder for cut frames, and the class of an allocation. */
    profiler->stack = calloc(depth + 2, sizeof profiler->stack[0]);
    if (options->set != NULL)
        options->set = (*jni)->NewGlobalRef(jni, options->set);
    profiler->marks = tv_agent_new_marks();
    return profiler->frames != NULL && profiler->stack != NULL && profiler->marks != NULL;
}

struct tv_profiler *tv_profiler_new(JNIEnv *jni, const struct tv_profiler_options *options)
{
    struct tv_profiler *profiler = calloc(1, sizeof *profiler);
    if (profiler == NULL)
        return NULL;
    profiler->options = *options;
    pthread_mutex_init(&profiler->lock, NULL);
    pthread_mutex_init(&profiler->data, NULL);
    if (!profiler_reserve_buffers(profiler, jni)) {
        profiler_release(profiler);
        return NULL;
    }
    profiler->ticker.tick = profiler_tick;
    profiler->ticker.release = profiler_release;
    profiler->ticker.context = profiler;
    tv_ticker_init(&profiler->ticker);
    pthread_mutex_lock(&all.lock);
    profiler->next = all.first;
    all.first = profiler;
    pthread_mutex_unlock(&all.lock);
    return profiler;
}

int tv_profiler_start(struct tv_profiler *profiler, int64_t period_ns)
{
    pthread_mutex_lock(&profiler->lock);
    profiler->samples.period_ns = profiler->options.keeps_times ? (uint64_t)period_ns : 0;
    tv_labels_read(profiler->samples.labels);
    pthread_mutex_unlock(&profiler->lock);
    return tv_ticker_start(&profiler->ticker, period_ns);
}

void tv_profiler_stop(struct tv_profiler *profiler)
{
    tv_ticker_stop(&profiler->ticker);
}

void tv_profiler_shut_down(struct tv_profiler *profiler)
{
    tv_ticker_end(&profiler->ticker, true);
}

int tv_profiler_write(struct tv_profiler *profiler, enum tv_samples_form form, FILE *to,
                      struct tv_profiler_counts *counted)
{
    time_t now = time(NULL);
    if (tv_ticker_is_started(&profiler->ticker))
        return -EBUSY;
    pthread_mutex_lock(&profiler->lock);
    uint32_t depth = profiler->options.depth < 1 ? 0 : (uint32_t)profiler->options.depth;
    depth += profiler->options.keeps_root;
    errno = 0;
    bool fine = tv_samples_write(&profiler->samples, form, depth, now, to);
    int error = fine ? 0 : errno != 0 ? -errno : -EIO;
    *counted = (struct tv_profiler_counts){
        .samples = profiler->samples.total,
        .late = profiler->ticker.late,
        .allocations = profiler->samples.allocations.count,
        .locks = profiler->samples.locks.count,
        .short_locks = profiler->samples.short_locks,
        .unasked_owners = profiler->samples.unasked_owners,
        .dropped = profiler->samples.dropped,
        .stacks = profiler->counts,
    };
    pthread_mutex_unlock(&profiler->lock);
    return error;
}

void tv_profiler_free(struct tv_profiler *profiler)
{
    pthread_mutex_lock(&all.lock);
    struct tv_profiler **at = &all.first;
    while (*at != NULL && *at != profiler)
        at = &(*at)->next;
    if (*at != NULL)
        *at = profiler->next;
    pthread_mutex_unlock(&all.lock);
    tv_ticker_free(&profiler->ticker);
}

/* Do not wait: a tick may be inside a ThreadSet's own Java code for ever. It finds the JVM dead
 * when it returns. */
void tv_profiler_end_all(void)
{
    pthread_mutex_lock(&all.lock);
    for (struct tv_profiler *i = all.first; i != NULL; i = i->next)
        tv_ticker_end(&i->ticker, false);
    pthread_mutex_unlock(&all.lock);
}
