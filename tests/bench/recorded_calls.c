/* SPDX-License-Identifier: Apache-2.0 */
/*
 * recorded_calls.c - what a call costs, with hooks of the compiler or without.
 *
 *     recorded-calls          the median of some repetitions, CPU time of the thread, in ns a call
 *     recorded-calls counter  two bare readings of the counter that recorders use
 *
 * Each call of fib is a pair of events and next to no work of its own.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define OFF __attribute__((no_instrument_function))

enum { NUMBER = 27, CALLS = 635621, WARM_UP = 1, REPETITIONS = 7, READINGS = 2000000 };

int fib(int number);

__attribute__((noinline)) int fib(int number)
{
    return number < 2 ? number : fib(number - 1) + fib(number - 2);
}

OFF static double now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

OFF static double call(void)
{
    double start = now_ns();
    fib(NUMBER);
    return (now_ns() - start) / (double)CALLS;
}

OFF static double read_twice(void)
{
    static volatile uint64_t sink;
    double start = now_ns();
    for (int i = 0; i < READINGS; i++) {
        uint64_t ticks;
#if defined(__x86_64__)
        ticks = __builtin_ia32_rdtsc();
        sink = ticks;
        ticks = __builtin_ia32_rdtsc();
        sink = ticks;
#elif defined(__aarch64__)
        __asm__ volatile("mrs %0, cntvct_el0" : "=r"(ticks));
        sink = ticks;
        __asm__ volatile("mrs %0, cntvct_el0" : "=r"(ticks));
        sink = ticks;
#else
        ticks = 0;
        sink = ticks;
#endif
    }
    (void)sink;
    return (now_ns() - start) / (double)READINGS;
}

OFF static int compare(const void *a, const void *b)
{
    const double *one = a, *other = b;
    return (*one > *other) - (*one < *other);
}

OFF int main(int argc, char **argv)
{
    double times[REPETITIONS];
    double (*measure)(void) = argc > 1 && strcmp(argv[1], "counter") == 0 ? read_twice : call;
    for (int i = 0; i < WARM_UP; i++)
        measure();
    for (int i = 0; i < REPETITIONS; i++)
        times[i] = measure();
    qsort(times, REPETITIONS, sizeof times[0], compare);
    printf("ns %.2f\n", times[REPETITIONS / 2]);
    return 0;
}
