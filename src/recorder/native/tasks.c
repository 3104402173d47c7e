/* SPDX-License-Identifier: Apache-2.0 */
/* tasks.c - see tasks.h. */
#define _GNU_SOURCE
#include "recorder/native/tasks.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

uint64_t tv_task_cpu_ns(pid_t tid)
{
    /* As pthread_getcpuclockid makes it: the thread's own time, of the scheduler. */
    clockid_t clock = (clockid_t)(~(unsigned)tid << 3 | 6);
    struct timespec time;
    if (clock_gettime(clock, &time) != 0)
        return 0;
    return (uint64_t)time.tv_sec * UINT64_C(1000000000) + (uint64_t)time.tv_nsec;
}

/* The begin of a file of the thread, as text; false: it cannot be read. */
static bool read_file(pid_t tid, const char *name, char *text, size_t size)
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

/* "PID (NAME) STATE ...", where the name can have anything in it. */
static bool runs_by_state(pid_t tid)
{
    char text[512];
    if (!read_file(tid, "stat", text, sizeof text))
        return false;
    const char *end = strrchr(text, ')');
    return end && end[1] == ' ' && end[2] == 'R';
}

/* "running", or the call, its six arguments, the stack pointer and where it returns to; a call of
 * -1 and the last two: it was stopped elsewhere. */
bool tv_task_runs(pid_t tid, struct tv_task_place *place)
{
    char text[256];
    *place = (struct tv_task_place){0, 0};
    if (!read_file(tid, "syscall", text, sizeof text))
        return runs_by_state(tid);
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

bool tv_task_blocks(pid_t tid, int signal_number)
{
    static const char field[] = "\nSigBlk:";
    char text[4096];
    const char *found = read_file(tid, "status", text, sizeof text) ? strstr(text, field) : NULL;
    uint64_t mask = found ? strtoull(found + sizeof field - 1, NULL, 16) : 0;
    return mask >> (signal_number - 1) & 1;
}

/* A line of /proc/self/maps: "LOW-HIGH MODE ...". */
static bool holds(const char *line, uint64_t address, uint64_t *low, uint64_t *high)
{
    char *end;
    *low = strtoull(line, &end, 16);
    if (*end != '-')
        return false;
    *high = strtoull(end + 1, &end, 16);
    return address >= *low && address < *high && end[0] == ' ' && end[1] == 'r';
}

bool tv_task_memory(uint64_t address, uint64_t *low, uint64_t *high)
{
    char line[256];
    bool whole = true, found = false;
    FILE *maps = fopen("/proc/self/maps", "re");
    while (maps && !found && fgets(line, sizeof line, maps)) {
        /* The rest of a long line is no line. */
        bool begins = whole;
        whole = strchr(line, '\n') != NULL;
        found = begins && holds(line, address, low, high);
    }
    if (maps)
        fclose(maps);
    return found;
}
