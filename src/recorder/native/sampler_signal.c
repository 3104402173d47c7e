/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sampler_signal.c - the unwinder for code that is not instrumented: a signal, and frame pointers.
 *
 *     state of the thread                       its stack
 *
 *     CPU time unchanged since the last tick    that of the last tick
 *     asleep in a system call (/proc)           scanned from outside (tv_frames_scan_stack)
 *     just woken                                look again after 50 us: it tends to sleep again
 *     running                                   a signal: the handler walks its frame pointers
 *
 * Only running threads get a signal, so that system calls of sleeping ones are not interrupted.
 *
 *     sampler                                                     handler, on the thread
 *     slot = {question n, stack bounds} --- tgsigqueue(n, slot) --> walk the stack into the slot
 *     wait for the semaphore            <-- sem_post -------------- state = FULL
 *
 * The handler takes no lock, allocates nothing and calls nothing but sem_post.  It stays within the
 * known bounds of its thread's stack.  A handler that comes after its question was given up finds
 * another number in the slot and leaves.
 */
#define _GNU_SOURCE
#include <assert.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <semaphore.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

#include "recorder/memory.h"
#include "recorder/native/code.h"
#include "recorder/native/sampler.h"
#include "recorder/state.h"

/* ---- What the system knows about a thread ---- */

/* The stack pointer and return address of a thread in a system call; 0: unknown. */
struct task_place {
    uint64_t sp, pc;
};

/* Return the CPU time of a thread; 0: it is gone. */
static uint64_t task_cpu_ns(pid_t tid)
{
    /* As pthread_getcpuclockid makes it: the scheduler's clock of the thread. */
    clockid_t clock = (clockid_t)(~(unsigned)tid << 3 | 6);
    struct timespec time;
    if (clock_gettime(clock, &time) != 0)
        return 0;
    return (uint64_t)time.tv_sec * UINT64_C(1000000000) + (uint64_t)time.tv_nsec;
}

/* Read the beginning of a file of the thread as text; false: it cannot be read. */
static bool task_read_file(pid_t tid, const char *name, char *text, size_t size)
{
    char path[64];
    snprintf(path, sizeof path, "/proc/self/task/%d/%s", (int)tid, name);
    int file = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t length = file < 0 ? -1 : read(file, text, size - 1);
    if (file >= 0)
        close(file);
    text[length > 0 ? length : 0] = '\0';
    return length > 0;
}

/* The file is "PID (NAME) STATE ...", and NAME may contain anything. */
static bool task_runs_by_state(pid_t tid)
{
    char text[512];
    if (!task_read_file(tid, "stat", text, sizeof text))
        return false;
    const char *end = strrchr(text, ')');
    return end && end[1] == ' ' && end[2] == 'R';
}

/* The file is "running", or the system call, its six arguments, the stack pointer and the return
 * address.  A thread that stopped outside of a system call has -1 and the last two.
 *
 * Return whether the thread runs or waits for a processor; otherwise fill in *place. */
static bool task_runs(pid_t tid, struct task_place *place)
{
    char text[256];
    *place = (struct task_place){0, 0};
    if (!task_read_file(tid, "syscall", text, sizeof text))
        return task_runs_by_state(tid);
    if (strncmp(text, "running", 7) == 0)
        return true;
    char *last = strrchr(text, ' ');
    if (!last)
        return false;
    place->pc = strtoull(last + 1, NULL, 16);
    *last = '\0';
    char *before = strrchr(text, ' ');
    if (before)
        place->sp = strtoull(before + 1, NULL, 16);
    return false;
}

/* Has the thread blocked the signal?  False if that cannot be known. */
static bool task_blocks(pid_t tid, int signal_number)
{
    static const char field[] = "\nSigBlk:";
    char text[4096];
    const char *found =
        task_read_file(tid, "status", text, sizeof text) ? strstr(text, field) : NULL;
    uint64_t mask = found ? strtoull(found + sizeof field - 1, NULL, 16) : 0;
    return mask >> (signal_number - 1) & 1;
}

/* Parse a line of /proc/self/maps: "LOW-HIGH MODE ...". */
static bool task_map_line_holds(const char *line, uint64_t address, uint64_t *low, uint64_t *high)
{
    char *end;
    *low = strtoull(line, &end, 16);
    if (*end != '-')
        return false;
    *high = strtoull(end + 1, &end, 16);
    return address >= *low && address < *high && end[0] == ' ' && end[1] == 'r';
}

/* Return the bounds of the readable memory around an address; false: there is none. */
static bool task_memory(uint64_t address, uint64_t *low, uint64_t *high)
{
    char line[256];
    bool whole = true, found = false;
    FILE *maps = fopen("/proc/self/maps", "re");
    while (maps && !found && fgets(line, sizeof line, maps)) {
        /* Skip the rest of a long line. */
        bool begins = whole;
        whole = strchr(line, '\n') != NULL;
        found = begins && task_map_line_holds(line, address, low, high);
    }
    if (maps)
        fclose(maps);
    return found;
}

/* ---- Slots and the signal handler ---- */

#define SIGNAL_SLOTS 64u
#define SIGNAL_REPLY_NS UINT64_C(50000000)
#define SECOND_CHECK_NS 50000
#define RESTS_MAX 64u
#define RESTS_BLOCKED 8u

#if defined(__has_feature)
#if __has_feature(thread_sanitizer) || __has_feature(address_sanitizer)
#define UNCHECKED __attribute__((no_sanitize("thread", "address")))
#endif
#endif
#ifndef UNCHECKED
#define UNCHECKED
#endif

enum sample_slot_state { SLOT_FREE, SLOT_BUSY, SLOT_FULL };

struct sample_slot {
    _Atomic uint32_t state;    /* enum sample_slot_state */
    _Atomic uint32_t question; /* 0: nobody waits */
    uint64_t low, high;        /* bounds of the thread's stack */
    uint32_t most;
    struct tv_frame_registers raw;
    uint64_t returns[TV_STACK_DEPTH_MAX];
};

/* The slots and the semaphore belong to the process and are never freed, as a signal may come late.
 * Samplers take turns. */
static struct {
    struct sample_slot *slots;
    sem_t full;
    uint32_t question;
} signals;

#if defined(__x86_64__)
static void slot_read_registers(const ucontext_t *context, struct tv_frame_registers *raw,
                                uint64_t *frame)
{
    raw->pc = (uint64_t)context->uc_mcontext.gregs[REG_RIP];
    raw->sp = (uint64_t)context->uc_mcontext.gregs[REG_RSP];
    *frame = (uint64_t)context->uc_mcontext.gregs[REG_RBP];
}
#elif defined(__aarch64__)
static void slot_read_registers(const ucontext_t *context, struct tv_frame_registers *raw,
                                uint64_t *frame)
{
    raw->pc = context->uc_mcontext.pc;
    raw->sp = context->uc_mcontext.sp;
    raw->near[0] = context->uc_mcontext.regs[30];
    *frame = context->uc_mcontext.regs[29];
}
#else
static void slot_read_registers(const ucontext_t *context, struct tv_frame_registers *raw,
                                uint64_t *frame)
{
    (void)context;
    (void)raw;
    *frame = 0;
}
#endif

UNCHECKED static uint64_t stack_load_word(uint64_t address)
{
    return *(const volatile uint64_t *)(uintptr_t)address; // NOLINT: within the thread's stack
}

UNCHECKED static void slot_walk_frames(struct sample_slot *slot, uint64_t frame)
{
    struct tv_frame_registers *raw = &slot->raw;
    uint64_t low = raw->sp, high = slot->high, own = (uint64_t)(uintptr_t)pthread_self();
    if (low < slot->low || low >= high)
        return;
    /* The thread's descriptor, at pthread_self, is at the upper end of its stack. */
    if (own > low && own < high)
        high = own;
#if defined(__x86_64__)
    for (uint64_t i = 0; i < 2 && low + 8 * i + 8 <= high; i++)
        raw->near[i] = stack_load_word(low + 8 * i);
#endif
    while (raw->depth < slot->most && frame >= low && frame % 8 == 0 && high - low >= 16 &&
           frame <= high - 16) {
        uint64_t back = stack_load_word(frame + 8);
        if (back == 0)
            break;
        raw->returns[raw->depth++] = back;
        low = frame + 1;
        frame = stack_load_word(frame);
    }
}

static void slot_fill(struct sample_slot *slot, const ucontext_t *context)
{
    uint64_t frame;
    slot->raw = (struct tv_frame_registers){.returns = slot->returns};
    slot_read_registers(context, &slot->raw, &frame);
    slot_walk_frames(slot, frame);
}

/* Fill the slot that the signal names (a signal handler: no lock, no memory).  A signal of anybody
 * else, and one that comes after its question was given up, changes nothing. */
static void sampler_on_signal(int number, siginfo_t *info, void *context)
{
    int saved = errno;
    uint64_t value = (uint64_t)(uintptr_t)info->si_value.sival_ptr;
    uint32_t question = (uint32_t)(value >> 8), free_state = SLOT_FREE;
    (void)number;
    if (info->si_code == SI_QUEUE && info->si_pid == getpid() && (value & 0xff) < SIGNAL_SLOTS) {
        struct sample_slot *slot = &signals.slots[value & 0xff];
        if (atomic_load(&slot->question) == question &&
            atomic_compare_exchange_strong(&slot->state, &free_state, SLOT_BUSY)) {
            bool wanted = atomic_load(&slot->question) == question;
            if (wanted)
                slot_fill(slot, context);
            atomic_store(&slot->state, wanted ? SLOT_FULL : SLOT_FREE);
            sem_post(&signals.full);
        }
    }
    errno = saved;
}

static bool signal_is_ours(int number)
{
    struct sigaction now;
    return sigaction(number, NULL, &now) == 0 && (now.sa_flags & SA_SIGINFO) &&
           now.sa_sigaction == sampler_on_signal;
}

/* The handler stays after the end of the sampler: a late signal must not end the program. */
static int signal_take_number(int number)
{
    struct sigaction ours = {.sa_sigaction = sampler_on_signal,
                             .sa_flags = SA_SIGINFO | SA_RESTART | SA_ONSTACK},
                     old;
    if (signal_is_ours(number))
        return 0;
    tv_watcher_release_signal(number);
    if (sigaction(number, NULL, &old) != 0)
        return -EINVAL;
    if ((old.sa_flags & SA_SIGINFO) || old.sa_handler != SIG_DFL)
        return -EBUSY;
    return sigaction(number, &ours, NULL) == 0 ? 0 : -errno;
}

/* A signal that is on its way during an exec reaches the new program, which does not handle it.
 * The first two do nothing there; the others would end it.  The real-time signals come last. */
static int signal_take_any(int *number)
{
    static const int first[] = {SIGURG, SIGWINCH, SIGPROF};
    int failed = -EBUSY;
    for (size_t i = 0; failed != 0 && i < sizeof first / sizeof first[0]; i++)
        failed = signal_take_number(*number = first[i]);
    for (int i = SIGRTMAX; failed != 0 && i >= SIGRTMIN; i--)
        failed = signal_take_number(*number = i);
    return failed;
}

static int signal_take_for(struct tvrec_sampler *sampler)
{
    return sampler->any_signal ? signal_take_any(&sampler->signal_number)
                               : signal_take_number(sampler->signal_number);
}

/* The code that calls main and the functions of threads: in the C library, or in libpthread,
 * which older systems have apart. */
static struct stack_root {
    uint64_t inside, low, high;
} stack_roots[2];

/* Note the extent of a module that contains the start of all stacks (a callback). */
static int stack_root_see_module(struct dl_phdr_info *info, size_t size, void *unused)
{
    uint64_t low = UINT64_MAX, high = 0;
    (void)size;
    (void)unused;
    for (size_t i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *segment = &info->dlpi_phdr[i];
        if (segment->p_type != PT_LOAD)
            continue;
        uint64_t start = info->dlpi_addr + segment->p_vaddr;
        low = start < low ? start : low;
        high = start + segment->p_memsz > high ? start + segment->p_memsz : high;
    }
    for (size_t i = 0; i < 2; i++)
        if (stack_roots[i].inside >= low && stack_roots[i].inside < high)
            stack_roots[i].low = low, stack_roots[i].high = high;
    return 0;
}

static void stack_roots_find(void)
{
    stack_roots[0].inside = (uintptr_t)dlsym(RTLD_DEFAULT, "gnu_get_libc_version");
    stack_roots[1].inside = (uintptr_t)dlsym(RTLD_DEFAULT, "pthread_create");
    dl_iterate_phdr(stack_root_see_module, NULL);
}

/* Does the stack reach the start of its thread?  True where that cannot be told. */
static bool stack_reaches_root(const uint64_t *words, uint32_t depth)
{
    uint64_t address = (words[depth - 1] & ~TV_WORD_ADDRESS) >> 2;
    bool whole = stack_roots[0].high == 0;
    for (size_t i = 0; i < 2 && depth > 1; i++)
        whole = whole || (address >= stack_roots[i].low && address < stack_roots[i].high);
    return whole;
}

static int signal_begin(struct tvrec_sampler *sampler)
{
    if (!TV_SIGNALS_WORK)
        return -ENOTSUP;
    stack_roots_find();
    if (!signals.slots) {
        signals.slots = tv_mmap_alloc(SIGNAL_SLOTS * sizeof *signals.slots);
        if (!signals.slots)
            return -ENOMEM;
        sem_init(&signals.full, 0, 0);
    }
    return signal_take_for(sampler);
}

static void signal_end(struct tvrec_sampler *sampler)
{
    (void)sampler;
}

/* Ask a thread for its stack; NULL: the slot is busy, or the signal cannot be sent. */
static struct sample_slot *signal_ask(struct tvrec_sampler *sampler,
                                      struct tv_sampled_thread *thread, uint32_t at)
{
    assert(at < SIGNAL_SLOTS);
    struct sample_slot *slot = &signals.slots[at];
    if (atomic_load(&slot->state) == SLOT_BUSY)
        return NULL;
    signals.question = (signals.question + 1) & 0xffffff ? signals.question + 1 : 1;
    slot->low = thread->stack_low;
    slot->high = thread->stack_high;
    slot->most = sampler->depth;
    atomic_store(&slot->state, SLOT_FREE);
    atomic_store(&slot->question, signals.question);
    siginfo_t info;
    memset(&info, 0, sizeof info);
    info.si_signo = sampler->signal_number;
    info.si_code = SI_QUEUE;
    info.si_pid = getpid();
    info.si_uid = getuid();
    uint64_t value = (uint64_t)signals.question << 8 | at;
    info.si_value.sival_ptr = (void *)(uintptr_t)value; // NOLINT: a number
    if (syscall(SYS_rt_tgsigqueueinfo, getpid(), thread->tid, sampler->signal_number, &info) == 0)
        return slot;
    atomic_store(&slot->question, 0);
    return NULL;
}

static bool slot_is_full(const struct sample_slot *slot)
{
    return atomic_load(&slot->state) == SLOT_FULL;
}

/* Wait until all slots are filled, or until the end of the time. */
static void signal_wait_for_slots(struct sample_slot *const *slots, uint32_t count, uint64_t end)
{
    struct timespec until = {(time_t)(end / 1000000000), (long)(end % 1000000000)};
    for (uint32_t i = 0; i < count; i++)
        while (slots[i] && !slot_is_full(slots[i]))
            if (sem_clockwait(&signals.full, CLOCK_MONOTONIC, &until) != 0 && errno != EINTR)
                return;
}

/* Was the handler outside of the assumed bounds of the stack? */
static bool signal_needs_bounds(struct tv_sampled_thread *thread,
                                const struct tv_frame_registers *raw)
{
    if (raw->sp >= thread->stack_low && raw->sp < thread->stack_high)
        return false;
    return task_memory(raw->sp, &thread->stack_low, &thread->stack_high);
}

/* Count a running thread without a stack at this tick.  A thread that begins or ends blocks all
 * signals for a moment, which does not count as blocked. */
static void signal_count_missed(struct tvrec_sampler *sampler, struct tv_sampled_thread *thread)
{
    sampler->missed++;
    sampler->blocked += thread->blocks > 1;
    thread->depth = 0;
}

/* A thread that does not answer, because it blocks the signal or gets no processor, is asked
 * more and more rarely. */
static void signal_give_up(struct tvrec_sampler *sampler, struct tv_sampled_thread *thread)
{
    thread->misses = thread->misses < RESTS_MAX ? thread->misses * 2 + 1 : thread->misses;
    thread->rests = thread->misses;
    thread->blocks = task_blocks(thread->tid, sampler->signal_number);
    signal_count_missed(sampler, thread);
}

/* Skip a thread that blocks the signal, until it unblocks it: waiting for its answer would be in
 * vain, and the signals sent would stay pending. */
static bool signal_skips_thread(struct tvrec_sampler *sampler, struct tv_sampled_thread *thread)
{
    if (thread->rests > 0) {
        thread->rests--;
    } else if (thread->blocks > 0) {
        bool still = task_blocks(thread->tid, sampler->signal_number);
        thread->blocks = still ? thread->blocks + 1 : 0;
        thread->rests = still ? RESTS_BLOCKED : 0;
        if (!still)
            return false;
    } else {
        return false;
    }
    signal_count_missed(sampler, thread);
    return true;
}

/* Ask up to SIGNAL_SLOTS threads at once.  Threads whose stack bounds were wrong stay in the
 * list; return their number. */
static size_t signal_ask_all(struct tvrec_sampler *sampler, struct tv_sampled_thread **threads,
                             size_t count)
{
    assert(count <= SIGNAL_SLOTS);
    struct sample_slot *slots[SIGNAL_SLOTS];
    size_t again = 0;
    while (sem_trywait(&signals.full) == 0)
        continue;
    for (uint32_t i = 0; i < count; i++)
        slots[i] = signal_ask(sampler, threads[i], i);
    signal_wait_for_slots(slots, (uint32_t)count, tv_clock_ns(CLOCK_MONOTONIC) + SIGNAL_REPLY_NS);
    for (size_t i = 0; i < count; i++) {
        if (slots[i])
            atomic_store(&slots[i]->question, 0);
        if (!slots[i] || !slot_is_full(slots[i])) {
            signal_give_up(sampler, threads[i]);
            continue;
        }
        threads[i]->misses = 0;
        threads[i]->depth =
            tv_frames_from_registers(&slots[i]->raw, threads[i]->words, sampler->depth);
        if (signal_needs_bounds(threads[i], &slots[i]->raw)) {
            threads[again++] = threads[i];
            continue;
        }
        sampler->walked++;
        sampler->lost += threads[i]->depth < sampler->depth &&
                         !stack_reaches_root(threads[i]->words, threads[i]->depth);
    }
    return again;
}

static void signal_ask_twice(struct tvrec_sampler *sampler, struct tv_sampled_thread **threads,
                             size_t count)
{
    size_t again = count > 0 ? signal_ask_all(sampler, threads, count) : 0;
    if (again > 0)
        signal_ask_all(sampler, threads, again);
}

static void signal_scan_sleeper(struct tvrec_sampler *sampler, struct tv_sampled_thread *thread,
                                const struct task_place *place)
{
    thread->depth = 0;
    thread->state = TV_SAMPLE_WAITING;
    if (place->pc == 0)
        return;
    if (place->sp < thread->stack_low || place->sp >= thread->stack_high)
        task_memory(place->sp, &thread->stack_low, &thread->stack_high);
    thread->depth = tv_frames_scan_stack(place->pc, place->sp, thread->stack_high, thread->words,
                                         sampler->depth);
}

enum thread_check { CHECK_UNCHANGED, CHECK_SLEEPS, CHECK_WOKE, CHECK_RUNS };

/* Tell from its CPU time whether a thread has run since the last tick, and from the system whether
 * it runs now. A sleeper that has not run keeps its stack. */
static enum thread_check signal_check_thread(struct tvrec_sampler *sampler,
                                             struct tv_sampled_thread *thread)
{
    struct task_place place;
    uint64_t cpu = task_cpu_ns(thread->tid), before = thread->cpu_ns;
    thread->state = TV_SAMPLE_WAITING;
    if (cpu == before)
        return CHECK_UNCHANGED;
    thread->cpu_ns = cpu;
    if (!task_runs(thread->tid, &place)) {
        signal_scan_sleeper(sampler, thread, &place);
        return CHECK_SLEEPS;
    }
    thread->state = TV_SAMPLE_RUNNING;
    return before == UINT64_MAX || cpu - before < sampler->period_ns / 2 ? CHECK_WOKE : CHECK_RUNS;
}

/* Collect threads that are to get a signal, from `from` on; the last *woke of them have just
 * woken. */
static size_t signal_choose_threads(struct tvrec_sampler *sampler, size_t *from,
                                    struct tv_sampled_thread **chosen, size_t *woke)
{
    struct tv_sampled_thread *second[SIGNAL_SLOTS];
    size_t count = 0;
    *woke = 0;
    for (; *from < sampler->count && count + *woke < SIGNAL_SLOTS; ++*from) {
        struct tv_sampled_thread *thread = &sampler->threads[*from];
        enum thread_check seen = signal_check_thread(sampler, thread);
        if (seen == CHECK_UNCHANGED || seen == CHECK_SLEEPS || signal_skips_thread(sampler, thread))
            continue;
        if (seen == CHECK_WOKE)
            second[(*woke)++] = thread;
        else
            chosen[count++] = thread;
    }
    memcpy(chosen + count, second, *woke * sizeof *second);
    assert(count + *woke <= SIGNAL_SLOTS);
    return count + *woke;
}

/* Keep those of the last `woke` threads that still run. */
static size_t signal_check_again(struct tvrec_sampler *sampler, struct tv_sampled_thread **chosen,
                                 size_t count, size_t woke)
{
    assert(woke <= count && count <= SIGNAL_SLOTS);
    struct task_place place;
    size_t kept = count - woke;
    clock_nanosleep(CLOCK_MONOTONIC, 0, &(struct timespec){0, SECOND_CHECK_NS}, NULL);
    for (size_t i = count - woke; i < count; i++) {
        if (task_runs(chosen[i]->tid, &place))
            chosen[kept++] = chosen[i];
        else
            signal_scan_sleeper(sampler, chosen[i], &place);
    }
    return kept;
}

/* Otherwise the stacks of the last tick would be counted again. */
static void signal_forget_stacks(struct tvrec_sampler *sampler)
{
    for (size_t i = 0; i < sampler->count; i++)
        sampler->threads[i].depth = 0;
    sampler->missed += sampler->count;
}

/* Take the stacks of all threads, in groups: each thread of a group is asked by a signal, and then
 * its answer is awaited. */
static void signal_take(struct tvrec_sampler *sampler)
{
    struct tv_sampled_thread *chosen[SIGNAL_SLOTS];
    size_t from = 0, woke;
    if (!signal_is_ours(sampler->signal_number) && signal_take_for(sampler) != 0) {
        signal_forget_stacks(sampler);
        return;
    }
    while (from < sampler->count) {
        size_t count = signal_choose_threads(sampler, &from, chosen, &woke);
        if (woke > 0)
            count = signal_check_again(sampler, chosen, count, woke);
        signal_ask_twice(sampler, chosen, count);
    }
}

const struct tv_unwinder tv_unwinder_signals = {signal_begin, signal_take, signal_end};
