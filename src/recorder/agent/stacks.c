/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stacks.c - stack walks with GetStackTrace, or with HotSpot's AsyncGetCallTrace.
 *
 * GetStackTrace shows a thread at its next safepoint, which is often far from where the time goes.
 * AsyncGetCallTrace (AGCT) walks the stack of an interrupted thread inside a signal handler, so it
 * shows the exact place. The function is not part of any standard: the agent looks it up by name
 * and uses safepoints when it is missing. It has two requirements:
 *
 * - Each method must have a jmethodID. The agent creates them when a class is prepared.
 * - The JIT must keep debug information between safepoints, to find inlined methods. HotSpot does
 *   so while CompiledMethodLoad events are enabled.
 *
 * Only threads that run Java get the signal. A thread in native code or in a wait stands still, so
 * GetStackTrace is exact there, and the signal would interrupt its system call. The handler must be
 * async-signal-safe: it allocates nothing, takes no lock, prints nothing. The sampler prepares a
 * slot for each answer, up to SLOTS at a time:
 *
 *     FREE --sampler--> ASKED --handler--> BUSY --handler--> FULL --sampler--> FREE
 *                         |                                              ^
 *                         +----------- sampler, no answer in time -------+
 *
 * The word of a slot holds its state and a generation, and the request in the thread names both
 * slot and generation. The step from ASKED to BUSY is a compare-and-swap, so a late handler finds
 * that its request is void. A handler that is still BUSY when the sampler stops waiting keeps its
 * slot until it is done; meanwhile the sampler uses the other slots.
 *
 * When AGCT knows no stack, as in the JVM's stubs, the handler unwinds to the caller (registers.h)
 * and asks again. The sampler hands over the answers in the order of the list.
 */
#include <assert.h>
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
#include "recorder/agent/kernel_threads.h"
#include "recorder/agent/registers.h"
#include "recorder/memory.h"

#define SIGNAL SIGPROF
#define SLOTS 16
#define PATIENCE_MS 50
#define MAX_REFERENCES 4096 /* local references that HotSpot grants at once */
#define DEAF 3          /* missed signals in a row before a thread counts as blocking the signal */
#define ASK_DEAF 64     /* ask a thread that blocks the signal once in this many samples */
#define MAX_CALLERS 16u /* frames to unwind, from a stub or C function to Java code */

/* HotSpot's ASGCT_CallFrame and ASGCT_CallTrace. */
struct agct_frame {
    jint place; /* bytecode index; negative: native method or unknown */
    jmethodID method;
};

struct agct_trace {
    JNIEnv *jni;
    jint depth; /* frames; 0 or less: the reason why there is no stack */
    struct agct_frame *frames;
};

typedef void (*take_trace)(struct agct_trace *trace, jint depth, void *context);

/* From 0 down to LAST_OUTSIDE, the thread is in the JVM itself, or a garbage collection runs. The
 * thread stands still for Java, so GetStackTrace is exact. */
#define LAST_OUTSIDE (-4)
#define THREAD_ENDS (-8)

enum agct_state { FREE, ASKED, BUSY, FULL };

struct agct_slot {
    _Atomic uint64_t word; /* generation << 2 | enum agct_state */
    uint64_t generation;
    struct agct_trace trace;
    struct agct_frame *frames;
    jint most;
    jint index;      /* in the caller's list of threads */
    bool is_callers; /* the stack begins at a caller of the interrupted function */
    struct tv_kernel_thread *thread;
};

static struct {
    take_trace take;
    jvmtiEnv *jvmti;      /* own environment, for its events */
    pthread_mutex_t turn; /* held by the caller who uses the slots */
    atomic_bool works;
    int answers; /* eventfd: counts the answers */
    struct agct_slot slots[SLOTS];
    uint64_t generation;
} agct = {.turn = PTHREAD_MUTEX_INITIALIZER};

/* Unwind to the caller of the interrupted function, then to that one's caller, until AGCT knows the
 * code. Restore the registers afterwards. */
static void agct_walk_from_callers(struct agct_slot *slot, const struct tv_kernel_thread *thread,
                                   ucontext_t *context)
{
    struct tv_registers before, now;
    if (!tv_registers_read(context, &before))
        return;
    now = before;
    bool more = tv_registers_leave_leaf(&now, thread->stack_end);
    for (unsigned i = 0; more && i < MAX_CALLERS; i++) {
        tv_registers_write(context, &now);
        slot->trace.depth = 0;
        agct.take(&slot->trace, slot->most, context);
        if (slot->trace.depth > 0)
            break;
        now = i == 0 ? before : now; /* not a leaf: unwind from the start by the frame pointer */
        more = tv_registers_leave_frame(&now, thread->stack_end);
    }
    tv_registers_write(context, &before);
    slot->is_callers = slot->trace.depth > 0;
}

static void agct_read_stack(struct agct_slot *slot, const struct tv_kernel_thread *thread,
                            void *context)
{
    slot->trace = (struct agct_trace){thread->jni, 0, slot->frames};
    slot->is_callers = false;
    agct.take(&slot->trace, slot->most, context);
    jint failure = slot->trace.depth;
    if (failure >= LAST_OUTSIDE || failure == THREAD_ENDS)
        return;
    agct_walk_from_callers(slot, thread, context);
    if (!slot->is_callers)
        slot->trace.depth = failure;
}

static void agct_answer_request(struct tv_kernel_thread *thread, void *context)
{
    uint64_t request = atomic_exchange(&thread->request, 0);
    struct agct_slot *slot = &agct.slots[request % SLOTS];
    uint64_t generation = request / SLOTS, expected = generation << 2 | ASKED, one = 1;
    if (request == 0 ||
        !atomic_compare_exchange_strong(&slot->word, &expected, generation << 2 | BUSY))
        return;
    agct_read_stack(slot, thread, context);
    atomic_store(&slot->word, generation << 2 | FULL);
    ssize_t written = write(agct.answers, &one, sizeof one);
    (void)written; /* EAGAIN means that the counter is full: the sampler is awake anyway */
}

static void agct_on_signal(int number, siginfo_t *info, void *context)
{
    int error = errno;
    struct tv_registers registers;
    struct tv_kernel_thread *self = tv_kernel_thread_self;
    (void)number;
    (void)info;
    if (self != NULL)
        agct_answer_request(self, context);
    if (tv_registers_read(context, &registers))
        tv_kernel_thread_report(registers.stack);
    errno = error;
}

/* Is our handler still installed? */
static bool agct_has_signal(void)
{
    struct sigaction now;
    return sigaction(SIGNAL, NULL, &now) == 0 && (now.sa_flags & SA_SIGINFO) != 0 &&
           now.sa_sigaction == agct_on_signal;
}

/* Install the handler. It stays for good: a signal that is still pending would end the program
 * after SIG_DFL is restored. */
static bool agct_install_signal(void)
{
    struct sigaction before, action = {0};
    if (agct_has_signal())
        return true;
    if (sigaction(SIGNAL, NULL, &before) != 0 || (before.sa_flags & SA_SIGINFO) != 0 ||
        before.sa_handler != SIG_DFL)
        return false;
    action.sa_sigaction = agct_on_signal;
    action.sa_flags = SA_SIGINFO | SA_RESTART | SA_ONSTACK;
    sigfillset(&action.sa_mask);
    return sigaction(SIGNAL, &action, NULL) == 0;
}

/* Use safepoints for the rest of the JVM's life. */
static void agct_give_up(const char *why)
{
    if (atomic_exchange(&agct.works, false))
        tv_agent_say("stack=%s: %s; stacks are taken at safepoints",
                     tv_agent.options.stack == TV_AGENT_STACK_AGCT ? "agct" : "auto", why);
}

/* ---- requirements of AsyncGetCallTrace ---- */

/* GetClassMethods creates the jmethodIDs of a class as a side effect. */
static void agct_give_method_ids(jvmtiEnv *jvmti, jclass class)
{
    jint count;
    jmethodID *methods;
    if ((*jvmti)->GetClassMethods(jvmti, class, &count, &methods) == JVMTI_ERROR_NONE)
        (*jvmti)->Deallocate(jvmti, (unsigned char *)methods);
}

static void JNICALL agct_on_class_prepare(jvmtiEnv *jvmti, JNIEnv *jni, jthread thread,
                                          jclass class)
{
    (void)jni;
    (void)thread;
    if (!tv_agent_hold())
        return;
    agct_give_method_ids(jvmti, class);
    tv_agent_release();
}

/* ClassPrepare creates no jmethodIDs before VMInit, so create those of all loaded classes at the
 * start. */
static void agct_give_all_method_ids(JNIEnv *jni)
{
    jvmtiEnv *jvmti = agct.jvmti;
    jint count;
    jclass *classes;
    if ((*jvmti)->GetLoadedClasses(jvmti, &count, &classes) != JVMTI_ERROR_NONE)
        return;
    for (jint i = 0; i < count; i++) {
        agct_give_method_ids(jvmti, classes[i]);
        (*jni)->DeleteLocalRef(jni, classes[i]);
    }
    (*jvmti)->Deallocate(jvmti, (unsigned char *)classes);
}

/* Empty callback: AGCT works only while ClassLoad is enabled. */
static void JNICALL agct_on_class_load(jvmtiEnv *jvmti, JNIEnv *jni, jthread thread, jclass class)
{
    (void)jvmti;
    (void)jni;
    (void)thread;
    (void)class;
}

/* Empty callback: see the debug information above. */
static void JNICALL agct_on_compiled_method_load(jvmtiEnv *jvmti, jmethodID method, jint size,
                                                 const void *code, jint length,
                                                 const jvmtiAddrLocationMap *map, const void *more)
{
    (void)jvmti;
    (void)method;
    (void)size;
    (void)code;
    (void)length;
    (void)map;
    (void)more;
}

/* ---- start and end ---- */

static bool agct_set_event_modes(jvmtiEnv *jvmti, jvmtiEventMode mode)
{
    static const jvmtiEvent events[] = {JVMTI_EVENT_CLASS_LOAD, JVMTI_EVENT_CLASS_PREPARE,
                                        JVMTI_EVENT_COMPILED_METHOD_LOAD};
    for (size_t i = 0; i < sizeof events / sizeof events[0]; i++)
        if ((*jvmti)->SetEventNotificationMode(jvmti, mode, events[i], NULL) != JVMTI_ERROR_NONE)
            return false;
    return true;
}

/* Enable the events in which the agent has IDs of methods made: AsyncGetCallTrace cannot make any
 * in a signal handler. */
static bool agct_enable_events(jvmtiEnv *jvmti)
{
    jvmtiCapabilities offered = {0}, wanted = {.can_generate_compiled_method_load_events = 1};
    jvmtiEventCallbacks callbacks = {
        .ClassLoad = agct_on_class_load,
        .ClassPrepare = agct_on_class_prepare,
        .CompiledMethodLoad = agct_on_compiled_method_load,
    };
    return (*jvmti)->GetPotentialCapabilities(jvmti, &offered) == JVMTI_ERROR_NONE &&
           offered.can_generate_compiled_method_load_events &&
           (*jvmti)->AddCapabilities(jvmti, &wanted) == JVMTI_ERROR_NONE &&
           (*jvmti)->SetEventCallbacks(jvmti, &callbacks, sizeof callbacks) == JVMTI_ERROR_NONE &&
           agct_set_event_modes(jvmti, JVMTI_ENABLE);
}

/* libjvm.so may have been loaded with RTLD_LOCAL, which hides its symbols from RTLD_DEFAULT. */
static bool agct_find_function(void)
{
    void *symbol = dlsym(RTLD_DEFAULT, "AsyncGetCallTrace");
    void *machine = symbol == NULL ? dlopen("libjvm.so", RTLD_LAZY | RTLD_NOLOAD) : NULL;
    if (machine != NULL)
        symbol = dlsym(machine, "AsyncGetCallTrace");
    memcpy(&agct.take, &symbol, sizeof symbol);
    return symbol != NULL;
}

static bool agct_allocate_slots(void)
{
    for (size_t i = 0; i < SLOTS; i++) {
        size_t size = TV_AGENT_DEEPEST * sizeof(struct agct_frame);
        agct.slots[i].frames = tv_mmap_alloc(size);
        if (agct.slots[i].frames == NULL)
            return false;
    }
    agct.answers = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    return agct.answers >= 0;
}

/* Prepare AsyncGetCallTrace.  Return why that is not possible, or NULL. */
static const char *agct_prepare_once(JavaVM *vm)
{
    if (!agct_find_function())
        return "this machine has no AsyncGetCallTrace";
    if ((*vm)->GetEnv(vm, (void **)&agct.jvmti, JVMTI_VERSION_1_2) != JNI_OK ||
        !agct_enable_events(agct.jvmti) || !tv_kernel_threads_prepare(vm) || !agct_allocate_slots())
        return "the JVM does not offer what AsyncGetCallTrace needs";
    return agct_install_signal() ? NULL : "the signal PROF is in use";
}

/* Take SIGPROF only if the options start sampling, or stack=agct demands it. */
static bool agct_is_wanted(void)
{
    const struct tv_agent_options *options = &tv_agent.options;
    bool samples = !tv_agent.by_facade && !tv_agent.is_art && options->mode != TV_AGENT_TRACE &&
                   tv_agent_options_tick(options);
    return options->stack == TV_AGENT_STACK_AGCT ||
           (options->stack == TV_AGENT_STACK_AUTO && samples);
}

void tv_agent_agct_prepare(JavaVM *vm)
{
    if (!agct_is_wanted())
        return;
    if (agct.jvmti != NULL) {
        (void)agct_set_event_modes(agct.jvmti, JVMTI_ENABLE);
        return;
    }
    atomic_store(&agct.works, true);
    const char *why = agct_prepare_once(vm);
    if (why != NULL)
        agct_give_up(why);
    else if (tv_agent.attached)
        tv_agent_say("code compiled before the attach is sampled at its safepoints only");
    if (why != NULL && agct.jvmti != NULL)
        (void)(*agct.jvmti)->DisposeEnvironment(agct.jvmti);
    if (why != NULL)
        agct.jvmti = NULL;
}

void tv_agent_agct_begin(JNIEnv *jni)
{
    if (!atomic_load(&agct.works) || !agct_is_wanted())
        return;
    /* Only a hint: HotSpot makes room for more references than this. */
    bool framed = (*jni)->PushLocalFrame(jni, MAX_REFERENCES) == 0;
    if (!framed)
        (*jni)->ExceptionClear(jni);
    agct_give_all_method_ids(jni);
    if (tv_agent.attached)
        tv_kernel_threads_call_roll(jni, SIGNAL);
    if (framed)
        (*jni)->PopLocalFrame(jni, NULL);
}

void tv_agent_agct_end(void)
{
    if (agct.jvmti != NULL)
        (void)agct_set_event_modes(agct.jvmti, JVMTI_DISABLE);
}

/* ---- one sample ---- */

/* A thread that waits or runs native code stands still, so GetStackTrace is exact. */
static bool agct_thread_runs_java(jthread thread)
{
    jint state;
    return (*agct.jvmti)->GetThreadState(agct.jvmti, thread, &state) == JVMTI_ERROR_NONE &&
           (state & JVMTI_THREAD_STATE_RUNNABLE) != 0 &&
           (state & (JVMTI_THREAD_STATE_SUSPENDED | JVMTI_THREAD_STATE_IN_NATIVE)) == 0;
}

/* Return false while a late handler still writes to the slot. */
static bool agct_is_usable(struct agct_slot *slot)
{
    return (atomic_load(&slot->word) & 3) != BUSY;
}

/* Send a request. The caller holds the lock of the kernel threads. */
static bool agct_ask_thread(struct agct_slot *slot, struct tv_kernel_thread *thread, jint most)
{
    assert(slot >= agct.slots && slot < agct.slots + SLOTS);
    assert(most > 0 && most <= TV_AGENT_DEEPEST);
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

/* Wait for `count` answers, at most PATIENCE_MS from one to the next. */
static void agct_wait_for_slots(uint64_t count)
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

/* Withdraw the request if there is no answer; the lock is held. A thread that only lacked a
 * processor keeps its good standing: it does not block the signal. */
static void agct_note_missing(struct agct_slot *slot)
{
    struct tv_kernel_thread *thread = slot->thread;
    uint64_t expected = slot->generation << 2 | ASKED;
    bool missing =
        atomic_compare_exchange_strong(&slot->word, &expected, slot->generation << 2 | FREE);
    thread->missed = missing ? thread->missed + 1 : 0;
    if (thread->missed == DEAF && !tv_kernel_thread_blocks(thread->id, SIGNAL))
        thread->missed = 0;
}

/* Return the thread if a signal can show more than GetStackTrace, else NULL; the lock is held. */
static struct tv_kernel_thread *agct_choose_thread(const struct tv_agent_stacks *wanted, jint at)
{
    jthread thread = wanted->threads[at];
    const jthread *carriers = wanted->carriers != NULL ? wanted->carriers : wanted->threads;
    struct tv_kernel_thread *found = thread != NULL && agct_thread_runs_java(thread)
                                         ? tv_kernel_thread_find(carriers[at])
                                         : NULL;
    bool is_deaf = found != NULL && found->missed >= DEAF && ++found->missed % ASK_DEAF != 0;
    return is_deaf ? NULL : found;
}

/* Send requests to the threads from `at` on while there are slots, and wait. Return the end of the
 * batch. */
static jint agct_ask_batch(const struct tv_agent_stacks *wanted, jint at)
{
    struct agct_slot *asked[SLOTS];
    size_t count = 0, next = 0;
    tv_kernel_threads_lock();
    for (; at < wanted->count && next < SLOTS; at++) {
        struct tv_kernel_thread *thread = agct_choose_thread(wanted, at);
        while (thread != NULL && next < SLOTS && !agct_is_usable(&agct.slots[next]))
            next++;
        if (thread == NULL || next == SLOTS)
            continue;
        struct agct_slot *slot = &agct.slots[next++];
        slot->index = at;
        if (agct_ask_thread(slot, thread, wanted->depth))
            asked[count++] = slot;
    }
    agct_wait_for_slots(count);
    for (size_t i = 0; i < count; i++)
        agct_note_missing(asked[i]);
    tv_kernel_threads_unlock();
    return at;
}

/* Return the slot of list entry `index` if it was used after generation `since`, else NULL. */
static struct agct_slot *agct_answer_for(jint index, uint64_t since)
{
    for (size_t i = 0; i < SLOTS; i++)
        if (agct.slots[i].index == index && agct.slots[i].generation > since)
            return &agct.slots[i];
    return NULL;
}

/* AGCT returns no jmethodID for an old version of a redefined method that is still running;
 * GetStackTrace does. Both stacks have the same callers, so match their frames from the outermost
 * one. */
static void agct_name_loaded_methods(const struct tv_agent_stacks *wanted, struct agct_slot *slot)
{
    jvmtiEnv *jvmti = tv_agent.jvmti;
    jint depth = slot->trace.depth, known = 0, i = 0;
    bool is_virtual =
        wanted->carriers != NULL && wanted->carriers[slot->index] != wanted->threads[slot->index];
    while (i < depth && slot->frames[i].method != NULL)
        i++;
    if (i == depth || is_virtual || depth == wanted->depth ||
        (*jvmti)->GetStackTrace(jvmti, wanted->threads[slot->index], 0, wanted->depth,
                                wanted->frames, &known) != JVMTI_ERROR_NONE)
        return;
    for (; i < depth; i++) {
        jint at = known - (depth - i);
        if (slot->frames[i].method == NULL && at >= 0)
            slot->frames[i] =
                (struct agct_frame){(jint)wanted->frames[at].location, wanted->frames[at].method};
    }
}

static void agct_hand_over_frames(const struct tv_agent_stacks *wanted, struct agct_slot *slot)
{
    jint depth = slot->trace.depth;
    agct_name_loaded_methods(wanted, slot);
    assert(depth > 0 && depth <= wanted->depth);
    for (jint i = 0; i < depth; i++) {
        jint place = slot->frames[i].place;
        wanted->frames[i] = (jvmtiFrameInfo){slot->frames[i].method, place < 0 ? -1 : place};
    }
    wanted->counts->of_callers += slot->is_callers;
    wanted->take(wanted->context, slot->index, wanted->frames, depth);
}

/* Replace a stack that AGCT could not walk by that of the next safepoint. If that is empty, only
 * the thread is known. */
static void agct_hand_over_substitute(const struct tv_agent_stacks *wanted, jint index,
                                      jint failure)
{
    bool outside = failure >= LAST_OUTSIDE;
    enum tv_agent_look look = tv_agent_stacks_take_one(wanted, index);
    if (look == TV_AGENT_LOOK_DONE)
        wanted->counts->at_safepoints += !outside;
    if (look != TV_AGENT_LOOK_EMPTY || outside)
        return;
    wanted->counts->lost++;
    wanted->lose(wanted->context, index);
}

/* A thread that did not answer got no processor. Its next safepoint would be too late: samples
 * would pile up at calls. */
static void agct_hand_over_missing(const struct tv_agent_stacks *wanted, jint index)
{
    if (wanted->skips_missing)
        wanted->counts->missing++;
    else
        (void)tv_agent_stacks_take_one(wanted, index);
}

/* Pass on the stack of a thread, or what stands for it, and free the slot. */
static void agct_hand_over_slot(const struct tv_agent_stacks *wanted, struct agct_slot *slot)
{
    assert(slot->index >= 0 && slot->index < wanted->count);
    if (atomic_load(&slot->word) != (slot->generation << 2 | FULL)) {
        agct_hand_over_missing(wanted, slot->index);
        return;
    }
    jint depth = slot->trace.depth;
    if (depth > 0)
        agct_hand_over_frames(wanted, slot);
    atomic_store(&slot->word, slot->generation << 2 | FREE);
    if (depth <= 0 && depth != THREAD_ENDS)
        agct_hand_over_substitute(wanted, slot->index, depth);
}

bool tv_agent_agct_take(const struct tv_agent_stacks *wanted)
{
    if (!atomic_load(&agct.works) || !agct_is_wanted())
        return false;
    if (!agct_has_signal()) {
        agct_give_up("the program took the signal PROF");
        return false;
    }
    pthread_mutex_lock(&agct.turn);
    for (jint first = 0, end; first < wanted->count; first = end) {
        uint64_t since = agct.generation;
        end = agct_ask_batch(wanted, first);
        for (jint i = first; i < end; i++) {
            struct agct_slot *slot = agct_answer_for(i, since);
            if (slot != NULL)
                agct_hand_over_slot(wanted, slot);
            else
                (void)tv_agent_stacks_take_one(wanted, i);
        }
    }
    pthread_mutex_unlock(&agct.turn);
    return true;
}

/* ---- GetStackTrace ---- */

enum tv_agent_look tv_agent_stacks_take_one(const struct tv_agent_stacks *wanted, jint index)
{
    jvmtiEnv *jvmti = tv_agent.jvmti;
    jthread thread = wanted->threads[index];
    jint depth = 0;
    if (thread == NULL || (*jvmti)->GetStackTrace(jvmti, thread, 0, wanted->depth, wanted->frames,
                                                  &depth) != JVMTI_ERROR_NONE)
        return TV_AGENT_LOOK_NONE;
    if (depth == 0)
        return TV_AGENT_LOOK_EMPTY;
    wanted->take(wanted->context, index, wanted->frames, depth);
    return TV_AGENT_LOOK_DONE;
}

void tv_agent_stacks_take(const struct tv_agent_stacks *wanted)
{
    assert(wanted->depth > 0 && wanted->frames != NULL);
    assert(wanted->take != NULL && wanted->lose != NULL && wanted->counts != NULL);
    if (tv_agent_agct_take(wanted))
        return;
    for (jint i = 0; i < wanted->count; i++)
        (void)tv_agent_stacks_take_one(wanted, i);
}
