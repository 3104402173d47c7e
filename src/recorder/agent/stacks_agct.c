/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stacks_agct.c - stacks where a thread is, not at its next safepoint: HotSpot's AsyncGetCallTrace,
 * called by a signal in the thread that is looked at.  See agent.h.
 *
 * The function is no part of any standard: it is looked for by name, and without it stacks are
 * taken at safepoints.  It knows only methods that have an id, so all get one when their class is
 * prepared; and it finds inlined methods between safepoints only if the compiler has kept where
 * they are, which it does while somebody listens to the event of a method being compiled.
 *
 * Only a thread that runs Java gets the signal: others stand still, and system calls that wait
 * would be interrupted.  The handler allocates nothing, locks nothing and prints nothing.  It fills
 * a slot that was prepared for it:
 *
 *     FREE -(sampler)-> ASKED -(handler)-> BUSY -(handler)-> FULL -(sampler)-> FREE
 *
 * A slot's word is its state and a generation, so that a handler which comes too late finds that it
 * is no longer asked.
 */
#include <dlfcn.h>
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "recorder/agent/agent.h"
#include "recorder/pages.h"

#define SIGNAL SIGPROF
#define SLOTS 16
#define PATIENCE_MS 50
#define DEAF 3 /* not answering so often, it is asked no more */

/* What HotSpot calls ASGCT_CallFrame and ASGCT_CallTrace. */
struct frame {
    jint place; /* in the bytecode; below 0: a native method, or unknown */
    jmethodID method;
};

struct trace {
    JNIEnv *jni;
    jint depth; /* 0 or less: why there is none */
    struct frame *frames;
};

typedef void (*take_trace)(struct trace *trace, jint depth, void *context);

/* Why there is no stack: from 0 down to this, the thread is not in Java's code but in the
 * machine's, or the machine collects garbage. */
#define LAST_OUTSIDE (-4)

enum state { FREE, ASKED, BUSY, FULL };

struct asked;

struct slot {
    _Atomic uint64_t word; /* generation << 2 | state */
    uint64_t generation;
    struct trace trace;
    struct frame *frames;
    jint most;
    jint index; /* in the caller's list */
    struct asked *thread;
};

/* A thread that can be asked; freed by its own end. */
struct asked {
    pid_t id;
    JNIEnv *jni;
    _Atomic uint64_t request; /* generation * SLOTS + slot; 0: none */
    unsigned missed;          /* one after the other */
};

static struct {
    take_trace take;
    jvmtiEnv *jvmti;      /* our own, for its events and its tags on threads */
    pthread_mutex_t turn; /* one caller has the slots */
    pthread_mutex_t lock; /* threads do not end while it is held */
    atomic_bool works;
    int answers; /* an eventfd */
    struct slot slots[SLOTS];
    uint64_t generation;
} agct = {.turn = PTHREAD_MUTEX_INITIALIZER, .lock = PTHREAD_MUTEX_INITIALIZER};

static __thread struct asked *self __attribute__((tls_model("initial-exec")));

static void answer(struct asked *thread, void *context)
{
    uint64_t request = atomic_exchange(&thread->request, 0);
    struct slot *slot = &agct.slots[request % SLOTS];
    uint64_t generation = request / SLOTS, expected = generation << 2 | ASKED, one = 1;
    if (request == 0 ||
        !atomic_compare_exchange_strong(&slot->word, &expected, generation << 2 | BUSY))
        return;
    slot->trace = (struct trace){thread->jni, 0, slot->frames};
    agct.take(&slot->trace, slot->most, context);
    atomic_store(&slot->word, generation << 2 | FULL);
    ssize_t written = write(agct.answers, &one, sizeof one);
    (void)written; /* when it is full, the sampler is awake anyway */
}

static void on_signal(int number, siginfo_t *info, void *context)
{
    int error = errno;
    (void)number;
    (void)info;
    if (self != NULL)
        answer(self, context);
    errno = error;
}

/* Is the signal ours, as far as the program is concerned? */
static bool has_signal(void)
{
    struct sigaction now;
    return sigaction(SIGNAL, NULL, &now) == 0 && (now.sa_flags & SA_SIGINFO) != 0 &&
           now.sa_sigaction == on_signal;
}

/* It is not given back: one that is still on its way would end the program. */
static bool take_signal(void)
{
    struct sigaction before, action = {0};
    if (has_signal())
        return true;
    if (sigaction(SIGNAL, NULL, &before) != 0 || (before.sa_flags & SA_SIGINFO) != 0 ||
        before.sa_handler != SIG_DFL)
        return false;
    action.sa_sigaction = on_signal;
    action.sa_flags = SA_SIGINFO | SA_RESTART | SA_ONSTACK;
    sigfillset(&action.sa_mask);
    return sigaction(SIGNAL, &action, NULL) == 0;
}

/* The only way back is a new start of the machine. */
static void give_up(const char *why)
{
    if (atomic_exchange(&agct.works, false))
        tv_agent_say("stack=agct: %s; stacks are taken at safepoints", why);
}

/* ---- what the machine has to know ---- */

/* Asking for a class's methods gives them their ids. */
static void give_ids(jvmtiEnv *jvmti, jclass class)
{
    jint count;
    jmethodID *methods;
    if ((*jvmti)->GetClassMethods(jvmti, class, &count, &methods) == JVMTI_ERROR_NONE)
        (*jvmti)->Deallocate(jvmti, (unsigned char *)methods);
}

static void JNICALL on_class(jvmtiEnv *jvmti, JNIEnv *jni, jthread thread, jclass class)
{
    (void)jni;
    (void)thread;
    if (!tv_agent_hold())
        return;
    give_ids(jvmti, class);
    tv_agent_release();
}

/* Before the machine's birth there are no ids to be given; all get theirs at the begin. */
static void give_all_ids(JNIEnv *jni)
{
    jvmtiEnv *jvmti = agct.jvmti;
    jint count;
    jclass *classes;
    if ((*jvmti)->GetLoadedClasses(jvmti, &count, &classes) != JVMTI_ERROR_NONE)
        return;
    for (jint i = 0; i < count; i++) {
        give_ids(jvmti, classes[i]);
        (*jni)->DeleteLocalRef(jni, classes[i]);
    }
    (*jvmti)->Deallocate(jvmti, (unsigned char *)classes);
}

/* AsyncGetCallTrace answers only where somebody listens to it. */
static void JNICALL on_load(jvmtiEnv *jvmti, JNIEnv *jni, jthread thread, jclass class)
{
    (void)jvmti;
    (void)jni;
    (void)thread;
    (void)class;
}

/* See above. */
static void JNICALL on_compiled(jvmtiEnv *jvmti, jmethodID method, jint size, const void *code,
                                jint length, const jvmtiAddrLocationMap *map, const void *more)
{
    (void)jvmti;
    (void)method;
    (void)size;
    (void)code;
    (void)length;
    (void)map;
    (void)more;
}

/* ---- threads ---- */

static void join_in(JNIEnv *jni, jthread thread)
{
    struct asked *asked = self != NULL ? NULL : calloc(1, sizeof *asked);
    if (asked == NULL)
        return;
    asked->id = (pid_t)syscall(SYS_gettid);
    asked->jni = jni;
    if ((*agct.jvmti)->SetTag(agct.jvmti, thread, (jlong)(uintptr_t)asked) == JVMTI_ERROR_NONE)
        self = asked;
    else
        free(asked);
}

static void JNICALL on_thread(jvmtiEnv *jvmti, JNIEnv *jni, jthread thread)
{
    (void)jvmti;
    if (!tv_agent_hold())
        return;
    join_in(jni, thread);
    tv_agent_release();
}

static void JNICALL on_thread_end(jvmtiEnv *jvmti, JNIEnv *jni, jthread thread)
{
    struct asked *asked = self;
    (void)jni;
    self = NULL;
    atomic_signal_fence(memory_order_seq_cst);
    if (asked == NULL)
        return;
    pthread_mutex_lock(&agct.lock);
    if (tv_agent_hold()) {
        (void)(*jvmti)->SetTag(jvmti, thread, 0);
        tv_agent_release();
        free(asked);
    }
    pthread_mutex_unlock(&agct.lock);
}

static struct asked *find(jthread thread)
{
    struct asked *found;
    jlong tag = 0;
    if ((*agct.jvmti)->GetTag(agct.jvmti, thread, &tag) != JVMTI_ERROR_NONE)
        return NULL;
    uintptr_t address = (uintptr_t)tag;
    memcpy(&found, &address, sizeof found);
    return found;
}

/* ---- the beginning ---- */

static bool take_events(void)
{
    jvmtiEnv *jvmti = agct.jvmti;
    jvmtiCapabilities offered = {0}, wanted = {.can_generate_compiled_method_load_events = 1,
                                               .can_tag_objects = 1};
    jvmtiEventCallbacks callbacks = {
        .ThreadStart = on_thread,
        .ThreadEnd = on_thread_end,
        .ClassLoad = on_load,
        .ClassPrepare = on_class,
        .CompiledMethodLoad = on_compiled,
    };
    static const jvmtiEvent events[] = {JVMTI_EVENT_THREAD_START, JVMTI_EVENT_THREAD_END,
                                        JVMTI_EVENT_CLASS_LOAD, JVMTI_EVENT_CLASS_PREPARE,
                                        JVMTI_EVENT_COMPILED_METHOD_LOAD};
    if ((*jvmti)->GetPotentialCapabilities(jvmti, &offered) != JVMTI_ERROR_NONE ||
        !offered.can_generate_compiled_method_load_events || !offered.can_tag_objects ||
        (*jvmti)->AddCapabilities(jvmti, &wanted) != JVMTI_ERROR_NONE ||
        (*jvmti)->SetEventCallbacks(jvmti, &callbacks, sizeof callbacks) != JVMTI_ERROR_NONE)
        return false;
    for (size_t i = 0; i < sizeof events / sizeof events[0]; i++)
        if ((*jvmti)->SetEventNotificationMode(jvmti, JVMTI_ENABLE, events[i], NULL) !=
            JVMTI_ERROR_NONE)
            return false;
    return true;
}

/* The object of the machine may have been loaded without showing its names to others. */
static bool find_function(void)
{
    void *symbol = dlsym(RTLD_DEFAULT, "AsyncGetCallTrace");
    void *machine = symbol == NULL ? dlopen("libjvm.so", RTLD_LAZY | RTLD_NOLOAD) : NULL;
    if (machine != NULL)
        symbol = dlsym(machine, "AsyncGetCallTrace");
    memcpy(&agct.take, &symbol, sizeof symbol);
    return symbol != NULL;
}

static bool make_slots(void)
{
    for (size_t i = 0; i < SLOTS; i++) {
        size_t size = TV_AGENT_DEEPEST * sizeof(struct frame);
        agct.slots[i].frames = tv_recorder_pages_new(size);
        if (agct.slots[i].frames == NULL)
            return false;
    }
    agct.answers = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    return agct.answers >= 0;
}

static const char *prepare(JavaVM *vm)
{
    if (!find_function())
        return "this machine has no AsyncGetCallTrace";
    if ((*vm)->GetEnv(vm, (void **)&agct.jvmti, JVMTI_VERSION_1_2) != JNI_OK || !take_events() ||
        !make_slots())
        return "the machine does not give what it needs";
    return take_signal() ? NULL : "the signal PROF is in use";
}

void tv_agent_agct_prepare(JavaVM *vm)
{
    if (agct.jvmti != NULL || tv_agent.options.stack != TV_AGENT_STACK_AGCT)
        return;
    atomic_store(&agct.works, true);
    const char *why = prepare(vm);
    if (why != NULL)
        give_up(why);
    else if (tv_agent.attached)
        tv_agent_say("stack=agct: threads and code that were there are seen at safepoints");
    if (why != NULL && agct.jvmti != NULL)
        (void)(*agct.jvmti)->DisposeEnvironment(agct.jvmti);
    if (why != NULL)
        agct.jvmti = NULL;
}

void tv_agent_agct_begin(JNIEnv *jni)
{
    jthread thread;
    if (!atomic_load(&agct.works) ||
        (*agct.jvmti)->GetCurrentThread(agct.jvmti, &thread) != JVMTI_ERROR_NONE)
        return;
    give_all_ids(jni);
    join_in(jni, thread);
    (*jni)->DeleteLocalRef(jni, thread);
}

/* ---- one look ---- */

/* Waiting or in native code, it stands where the machine says. */
static bool runs_java(jthread thread)
{
    jint state;
    return (*agct.jvmti)->GetThreadState(agct.jvmti, thread, &state) == JVMTI_ERROR_NONE &&
           (state & JVMTI_THREAD_STATE_RUNNABLE) != 0 &&
           (state & (JVMTI_THREAD_STATE_SUSPENDED | JVMTI_THREAD_STATE_IN_NATIVE)) == 0;
}

/* One that a handler was still writing to when it was given up is left to it. */
static bool is_usable(struct slot *slot)
{
    return (atomic_load(&slot->word) & 3) != BUSY;
}

/* The lock is held. */
static bool ask(struct slot *slot, struct asked *thread, jint most)
{
    uint64_t generation = ++agct.generation;
    slot->generation = generation;
    slot->most = most;
    slot->thread = thread;
    atomic_store(&slot->word, generation << 2 | ASKED);
    atomic_store(&thread->request, generation * SLOTS + (uint64_t)(slot - agct.slots));
    if (syscall(SYS_tgkill, getpid(), thread->id, SIGNAL) == 0)
        return true;
    atomic_store(&thread->request, 0);
    atomic_store(&slot->word, generation << 2 | FREE);
    return false;
}

/* Until all have answered, or for as long as is bearable. */
static void wait_for(uint64_t count)
{
    struct pollfd file = {agct.answers, POLLIN, 0};
    uint64_t answers;
    while (count > 0) {
        int ready = poll(&file, 1, PATIENCE_MS);
        if (ready == 0 || (ready < 0 && errno != EINTR))
            return;
        if (ready > 0 && read(agct.answers, &answers, sizeof answers) > 0)
            count -= answers < count ? answers : count;
    }
}

/* Takes the question back where there is no answer; the lock is held. */
static void note_missing(struct slot *slot)
{
    uint64_t expected = slot->generation << 2 | ASKED;
    if (atomic_compare_exchange_strong(&slot->word, &expected, slot->generation << 2 | FREE))
        slot->thread->missed++;
    else
        slot->thread->missed = 0;
}

/* The thread, if a signal says more than the machine does; the lock is held. */
static struct asked *choose(jthread thread)
{
    struct asked *found = thread != NULL && runs_java(thread) ? find(thread) : NULL;
    return found != NULL && found->missed < DEAF ? found : NULL;
}

/* Asks the threads from `at` on, as far as the slots go; returns where it ended. */
static jint ask_some(const struct tv_agent_stacks *wanted, jint at)
{
    struct slot *asked[SLOTS];
    size_t count = 0, next = 0;
    pthread_mutex_lock(&agct.lock);
    for (; at < wanted->count && next < SLOTS; at++) {
        struct asked *thread = choose(wanted->threads[at]);
        while (thread != NULL && next < SLOTS && !is_usable(&agct.slots[next]))
            next++;
        if (thread == NULL || next == SLOTS)
            continue;
        struct slot *slot = &agct.slots[next++];
        slot->index = at;
        if (ask(slot, thread, wanted->depth))
            asked[count++] = slot;
    }
    wait_for(count);
    for (size_t i = 0; i < count; i++)
        note_missing(asked[i]);
    pthread_mutex_unlock(&agct.lock);
    return at;
}

/* The answer about one of the list, asked after `since`; NULL: it was not asked. */
static struct slot *answer_for(jint index, uint64_t since)
{
    for (size_t i = 0; i < SLOTS; i++)
        if (agct.slots[i].index == index && agct.slots[i].generation > since)
            return &agct.slots[i];
    return NULL;
}

/* Outside of Java, at the machine's own work, it stands where the machine says.  A stack of Java
 * that could not be walked is a sample that is lost. */
static void hand_over(const struct tv_agent_stacks *wanted, struct slot *slot)
{
    if (atomic_load(&slot->word) != (slot->generation << 2 | FULL))
        return;
    jint depth = slot->trace.depth;
    for (jint i = 0; i < depth; i++) {
        jint place = slot->frames[i].place;
        wanted->frames[i] = (jvmtiFrameInfo){slot->frames[i].method, place < 0 ? -1 : place};
    }
    atomic_store(&slot->word, slot->generation << 2 | FREE);
    if (depth > 0)
        wanted->take(wanted->context, slot->index, wanted->frames, depth);
    else if (depth >= LAST_OUTSIDE)
        tv_agent_stacks_take_one(wanted, slot->index);
}

bool tv_agent_agct_take(const struct tv_agent_stacks *wanted)
{
    if (tv_agent.options.stack != TV_AGENT_STACK_AGCT || !atomic_load(&agct.works))
        return false;
    if (!has_signal()) {
        give_up("the program took the signal PROF");
        return false;
    }
    pthread_mutex_lock(&agct.turn);
    for (jint first = 0, end; first < wanted->count; first = end) {
        uint64_t since = agct.generation;
        end = ask_some(wanted, first);
        for (jint i = first; i < end; i++) {
            struct slot *slot = answer_for(i, since);
            if (slot != NULL)
                hand_over(wanted, slot);
            else
                tv_agent_stacks_take_one(wanted, i);
        }
    }
    pthread_mutex_unlock(&agct.turn);
    return true;
}
