/* SPDX-License-Identifier: Apache-2.0 */
/*
 * measure.c - runs a program and prints what it took, as one JSON object on one line.
 *
 *     measure [--cpus N] [--touch BYTES] [--output FILE] PROGRAM ARGUMENT...
 *
 * --cpus keeps the program on the first N processors that are allowed.  --touch first writes to so
 * many bytes of fresh memory and gives them back, and times it: what fresh memory costs differs
 * from minute to minute on a virtual machine, and should be paid before.  The program's standard
 * output goes to FILE, or nowhere.
 *
 * The program is started by fork and not by vfork, because a process that execs is charged with the
 * largest memory it had before, and the parent's touched memory would be counted.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/bytes.h"

#define PAGE_SIZE 4096u

struct options {
    uint64_t cpus, touch;
    const char *output;
    char **command;
};

static _Noreturn void fail(const char *what)
{
    fprintf(stderr, "measure: %s: %s\n", what, strerror(errno));
    exit(1);
}

static double seconds_now(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

static double seconds_of(struct timeval time)
{
    return (double)time.tv_sec + (double)time.tv_usec * 1e-6;
}

static void keep_to_cpus(uint64_t count)
{
    cpu_set_t allowed;
    cpu_set_t chosen;

    CPU_ZERO(&chosen);
    if (sched_getaffinity(0, sizeof allowed, &allowed))
        fail("processors");
    for (size_t i = 0; i < CPU_SETSIZE && count > 0; i++) {
        if (!CPU_ISSET(i, &allowed))
            continue;
        CPU_SET(i, &chosen);
        count--;
    }
    if (sched_setaffinity(0, sizeof chosen, &chosen))
        fail("processors");
}

static double touch_memory(uint64_t bytes)
{
    double start = seconds_now();
    volatile char *memory =
        mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    double end;

    if (memory == MAP_FAILED)
        fail("memory");
    for (uint64_t i = 0; i < bytes; i += PAGE_SIZE)
        memory[i] = 1;
    end = seconds_now();
    munmap((void *)(uintptr_t)memory, bytes);
    return end - start;
}

static _Noreturn void run(const struct options *options)
{
    int output = open(options->output, O_WRONLY | O_CREAT | O_TRUNC, 0666);

    if (output < 0 || dup2(output, STDOUT_FILENO) < 0)
        fail(options->output);
    execvp(options->command[0], options->command);
    fail(options->command[0]);
}

static struct options read_options(int count, char **arguments)
{
    struct options options = {.output = "/dev/null"};
    int i = 1;

    for (; i + 1 < count && arguments[i][0] == '-'; i += 2) {
        const char *name = arguments[i], *value = arguments[i + 1];
        uint64_t *number = !strcmp(name, "--cpus")    ? &options.cpus
                           : !strcmp(name, "--touch") ? &options.touch
                                                      : NULL;
        if (!strcmp(name, "--output"))
            options.output = value;
        else if (!number || !tv_parse_u64(tv_bytes_of(value), number))
            break;
    }
    options.command = arguments + i;
    if (i >= count || arguments[i][0] == '-') {
        fputs("usage: measure [--cpus N] [--touch BYTES] [--output FILE] PROGRAM ARGUMENT...\n",
              stderr);
        exit(2);
    }
    return options;
}

int main(int argument_count, char **arguments)
{
    struct options options = read_options(argument_count, arguments);
    double touch = 0;
    double start;
    double wall;
    struct rusage usage;
    int status;
    pid_t child;

    if (options.cpus)
        keep_to_cpus(options.cpus);
    if (options.touch)
        touch = touch_memory(options.touch);
    start = seconds_now();
    child = fork();
    if (child < 0)
        fail("fork");
    if (!child)
        run(&options);
    if (wait4(child, &status, 0, &usage) != child)
        fail("wait");
    wall = seconds_now() - start;
    printf("{\"wall_s\": %.6f, \"user_s\": %.6f, \"sys_s\": %.6f, \"rss_bytes\": %" PRIu64
           ", \"touch_bytes\": %" PRIu64 ", \"touch_s\": %.6f, \"status\": %d}\n",
           wall, seconds_of(usage.ru_utime), seconds_of(usage.ru_stime),
           (uint64_t)usage.ru_maxrss * 1024, options.touch, touch,
           WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status));
    return 0;
}
