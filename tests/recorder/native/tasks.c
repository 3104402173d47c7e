/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tasks.c - a program that knows nothing of being sampled, and says what it has done: the CPU time
 * of each thread, in milliseconds, one a line.
 *
 * - `tasks threads`: a thread "short" of 200 ms, one "long" of 400 ms, and a child of 300 ms that
 *   becomes `tasks work 300`
 * - `tasks work MS`: works for so long
 * - `tasks naps N`: sleeps so often for 20 ms
 * - `tasks forever`: works until a signal ends it
 * - `tasks made MS`: works in code that it makes, and names in /tmp/perf-PID.map
 * - `tasks exit N`: ends with that code
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define CALL __attribute__((noinline))

uint64_t cpu_ms(void);
void work_for(uint64_t ms);
void short_work(void);
void long_work(void);
void nap_often(long count);
void work_in_made_code(uint64_t ms);

static volatile uint64_t sink;
static const char *self;

CALL uint64_t cpu_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

/* Work in steps, so that asking for the time is next to nothing. */
CALL void work_for(uint64_t ms)
{
    uint64_t until = cpu_ms() + ms, x = 1;
    while (cpu_ms() < until)
        for (unsigned i = 0; i < 100000; i++)
            x = x * 6364136223846793005u + 1442695040888963407u;
    sink = x;
}

CALL void short_work(void)
{
    work_for(200);
    sink++;
}

CALL void long_work(void)
{
    work_for(400);
    sink++;
}

static void *short_thread(void *unused)
{
    pthread_setname_np(pthread_self(), "short");
    short_work();
    printf("short %llu\n", (unsigned long long)cpu_ms());
    return unused;
}

static void *long_thread(void *unused)
{
    pthread_setname_np(pthread_self(), "long");
    long_work();
    printf("long %llu\n", (unsigned long long)cpu_ms());
    return unused;
}

static void work_in_threads(void)
{
    pthread_t one, other;
    pid_t child = fork();
    if (child == 0) {
        execl(self, self, "work", "300", (char *)NULL);
        _exit(1);
    }
    pthread_create(&one, NULL, short_thread, NULL);
    pthread_create(&other, NULL, long_thread, NULL);
    pthread_join(one, NULL);
    pthread_join(other, NULL);
    waitpid(child, NULL, 0);
}

CALL void nap_often(long count)
{
    for (long i = 0; i < count; i++)
        nanosleep(&(struct timespec){0, 20000000}, NULL);
    sink++;
}

#if defined(__x86_64__)
/* mov $100000000,%ecx; 1: dec %ecx; jnz 1b; ret */
static const uint8_t code[] = {0xB9, 0x00, 0xE1, 0xF5, 0x05, 0xFF, 0xC9, 0x75, 0xFC, 0xC3};
#elif defined(__aarch64__)
/* movz w1, #0x5f5, lsl 16; 1: subs w1, w1, #1; b.ne 1b; ret */
static const uint8_t code[] = {0xA1, 0xBE, 0xA0, 0x52, 0x21, 0x04, 0x00, 0x71,
                               0xE1, 0xFF, 0xFF, 0x54, 0xC0, 0x03, 0x5F, 0xD6};
#else
static const uint8_t code[] = {0};
#endif

CALL void work_in_made_code(uint64_t ms)
{
    char path[64];
    size_t size = 4096;
    void (*call)(void);
    void *page = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    memcpy(page, code, sizeof code);
    mprotect(page, size, PROT_READ | PROT_EXEC);
    __builtin___clear_cache((char *)page, (char *)page + sizeof code);
    memcpy(&call, &page, sizeof call);
    snprintf(path, sizeof path, "/tmp/perf-%d.map", (int)getpid());
    FILE *names = fopen(path, "w");
    fprintf(names, "%llx %zx made loop;1\n", (unsigned long long)(uintptr_t)page, sizeof code);
    fclose(names);
    for (uint64_t until = cpu_ms() + ms; sizeof code > 1 && cpu_ms() < until;)
        call();
    sink++;
}

int main(int count, char **words)
{
    const char *what = count > 1 ? words[1] : "";
    long number = count > 2 ? strtol(words[2], NULL, 10) : 0;
    self = words[0];
    if (strcmp(what, "threads") == 0)
        work_in_threads();
    else if (strcmp(what, "work") == 0)
        work_for((uint64_t)number);
    else if (strcmp(what, "naps") == 0)
        nap_often(number);
    else if (strcmp(what, "made") == 0)
        work_in_made_code((uint64_t)number);
    else if (strcmp(what, "exit") == 0)
        return (int)number;
    else if (strcmp(what, "forever") == 0)
        for (;;)
            work_for(1000);
    printf("%d %llu\n", (int)getpid(), (unsigned long long)cpu_ms());
    return 0;
}
