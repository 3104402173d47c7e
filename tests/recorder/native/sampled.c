/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sampled.c - work whose shares are known, sleepers that must not be woken, threads that come and
 * go.
 *
 *     sampled split                 50, 30 and 20 of 100 parts, three calls deep
 *     sampled sleepers shadow|fp    says how often a system call ended with EINTR
 *     sampled crowd                 64 threads, eight at a time
 *     sampled own_signal            a second of split, while it handles SIGURG and SIGPROF itself;
 *                                   says how often it had to
 *     sampled blocked               works with all signals blocked, while another thread sleeps
 *     sampled exec                  works with all signals blocked, then becomes `sampled unblock`
 *     sampled rest                  sleeps for a second, in functions of its own
 */
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <time.h>
#include <unistd.h>

#include "recorder/native/traceview_record.h"

#define OFF __attribute__((no_instrument_function))
#define CALL __attribute__((noinline))
#define PART 10000
#define CPU_SECONDS 3
#define SLEEPERS 4
#define ROUNDS 5
#define SLEEP_MS 100
#define THREADS 64
#define AT_ONCE 8

/* Known to the dynamic linker, so that the library can name them by itself. */
uint64_t work_50(uint64_t count);
uint64_t work_30(uint64_t count);
uint64_t work_20(uint64_t count);
void call_50(void);
void call_30(void);
void call_20(void);
void split(double seconds);
int sleep_by_nanosleep(void);
int sleep_by_poll(void);
int sleep_by_epoll(void);
int sleep_by_semaphore(void);
void *short_life(void *unused);
void rest_below(void);
void rest(void);

static volatile uint64_t parts[] = {50, 30, 20};
static _Thread_local volatile uint64_t sink;

/* Functions that call nothing: compilers give them no frame. */
CALL uint64_t work_50(uint64_t count)
{
    uint64_t x = 1;
    for (uint64_t i = 0; i < count * PART; i++)
        x = x * 6364136223846793005u + 1442695040888963407u;
    return x;
}

CALL uint64_t work_30(uint64_t count)
{
    uint64_t x = 2;
    for (uint64_t i = 0; i < count * PART; i++)
        x = x * 6364136223846793005u + 1442695040888963407u;
    return x;
}

CALL uint64_t work_20(uint64_t count)
{
    uint64_t x = 3;
    for (uint64_t i = 0; i < count * PART; i++)
        x = x * 6364136223846793005u + 1442695040888963407u;
    return x;
}

CALL void call_50(void)
{
    sink += work_50(parts[0]);
}

CALL void call_30(void)
{
    sink += work_30(parts[1]);
}

CALL void call_20(void)
{
    sink += work_20(parts[2]);
}

OFF static double cpu_seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

CALL void split(double seconds)
{
    for (double end = cpu_seconds() + seconds; cpu_seconds() < end;)
        for (int i = 0; i < 10; i++) {
            call_50();
            call_30();
            call_20();
        }
}

CALL int sleep_by_nanosleep(void)
{
    struct timespec time = {0, SLEEP_MS * 1000000};
    return nanosleep(&time, NULL) != 0 && errno == EINTR;
}

CALL int sleep_by_poll(void)
{
    return poll(NULL, 0, SLEEP_MS) < 0 && errno == EINTR;
}

CALL int sleep_by_epoll(void)
{
    struct epoll_event event;
    int file = epoll_create1(EPOLL_CLOEXEC);
    int interrupted = epoll_wait(file, &event, 1, SLEEP_MS) < 0 && errno == EINTR;
    close(file);
    return interrupted;
}

CALL int sleep_by_semaphore(void)
{
    sem_t never;
    struct timespec until;
    sem_init(&never, 0, 0);
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_nsec += SLEEP_MS * 1000000;
    until.tv_sec += until.tv_nsec / 1000000000;
    until.tv_nsec %= 1000000000;
    int interrupted = sem_timedwait(&never, &until) != 0 && errno == EINTR;
    sem_destroy(&never);
    return interrupted;
}

typedef int sleeping(void);
static sleeping *const ways[SLEEPERS] = {sleep_by_nanosleep, sleep_by_poll, sleep_by_epoll,
                                         sleep_by_semaphore};
static _Atomic int interrupted[SLEEPERS];

static void *sleep_on(void *number)
{
    uintptr_t way = (uintptr_t)number;
    for (int i = 0; i < ROUNDS; i++)
        atomic_fetch_add(&interrupted[way], ways[way]());
    return NULL;
}

/* A thread's begin is work, not sleep: the sampler starts when all have begun to sleep. */
OFF static int run_sleepers(const char *stack)
{
    pthread_t threads[SLEEPERS];
    struct tvrec_sampler_info info = {.size = sizeof info};
    struct tvrec_sampler *sampler = tvrec_sampler_new(8, tvrec_set_group(NULL));
    enum tvrec_stack way = strcmp(stack, "fp") == 0 ? TVREC_STACK_FP : TVREC_STACK_SHADOW;
    int failed = tvrec_sampler_use(sampler, way, 0);
    for (uintptr_t i = 0; i < SLEEPERS; i++)
        pthread_create(&threads[i], NULL, sleep_on, (void *)i);
    usleep(SLEEP_MS * 1000 / 2);
    failed = failed ? failed : tvrec_sampler_start(sampler, 1000);
    for (size_t i = 0; i < SLEEPERS; i++)
        pthread_join(threads[i], NULL);
    tvrec_sampler_stop(sampler);
    tvrec_sampler_tell(sampler, &info);
    printf("%d %d %d %d %d\n", failed, interrupted[0], interrupted[1], interrupted[2],
           interrupted[3]);
    printf("%llu\n", (unsigned long long)info.ticks);
    tvrec_sampler_write(sampler, stdout, TVREC_HPROF_ANDROID);
    tvrec_sampler_free(sampler);
    return 0;
}

CALL void *short_life(void *unused)
{
    (void)unused;
    for (int i = 0; i < 40; i++)
        call_20();
    usleep(1000);
    return NULL;
}

OFF static void run_crowd(void)
{
    pthread_t threads[AT_ONCE];
    for (int round = 0; round < THREADS / AT_ONCE; round++) {
        for (int i = 0; i < AT_ONCE; i++)
            pthread_create(&threads[i], NULL, short_life, NULL);
        for (int i = 0; i < AT_ONCE; i++)
            pthread_join(threads[i], NULL);
    }
}

CALL void rest_below(void)
{
    usleep(1000000);
    sink++;
}

CALL void rest(void)
{
    rest_below();
    sink++;
}

static volatile sig_atomic_t handled;

static void on_own(int number)
{
    (void)number;
    handled++;
}

/* As programs with a profiler of their own do, or with urgent data. */
OFF static void handle_own(void)
{
    struct sigaction action = {.sa_handler = on_own, .sa_flags = SA_RESTART};
    sigaction(SIGURG, &action, NULL);
    sigaction(SIGPROF, &action, NULL);
}

OFF static void block(void)
{
    sigset_t all;
    sigfillset(&all);
    sigprocmask(SIG_BLOCK, &all, NULL);
}

OFF static void work_blocked(void)
{
    pthread_t thread;
    pthread_create(&thread, NULL, sleep_on, NULL);
    block();
    split(1);
    pthread_join(thread, NULL);
}

OFF static int become_another(const char *self)
{
    block();
    split(0.2);
    execl(self, self, "unblock", (char *)NULL);
    return 1;
}

/* What is pending comes now. */
OFF static int unblock(void)
{
    sigset_t all;
    sigfillset(&all);
    sigprocmask(SIG_UNBLOCK, &all, NULL);
    puts("fine");
    return 0;
}

/* What tvrec_sampler_use says of the library's own signals, of those of real time, of none. */
OFF static int try_signals(void)
{
    const int numbers[] = {32, 33, SIGRTMIN, SIGRTMIN + 3, SIGRTMAX, SIGRTMAX + 1, -1, SIGKILL, 0};
    struct tvrec_sampler *sampler = tvrec_sampler_new(8, tvrec_set_group(NULL));
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++)
        printf("%d ", tvrec_sampler_use(sampler, TVREC_STACK_FP, numbers[i]) == 0);
    tvrec_sampler_free(sampler);
    return 0;
}

int main(int argc, char **argv)
{
    const char *word = argc > 1 ? argv[1] : "";
    if (strcmp(word, "split") == 0)
        split(CPU_SECONDS);
    if (strcmp(word, "own_signal") == 0) {
        handle_own();
        split(1);
        printf("%d\n", (int)handled);
    }
    if (strcmp(word, "blocked") == 0)
        work_blocked();
    if (strcmp(word, "exec") == 0)
        return become_another(argv[0]);
    if (strcmp(word, "unblock") == 0)
        return unblock();
    if (strcmp(word, "signals") == 0)
        return try_signals();
    if (strcmp(word, "sleepers") == 0 && argc > 2)
        return run_sleepers(argv[2]);
    if (strcmp(word, "crowd") == 0)
        run_crowd();
    if (strcmp(word, "rest") == 0)
        rest();
    return 0;
}
