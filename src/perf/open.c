/* SPDX-License-Identifier: Apache-2.0 */
/* open.c - the events of a recording and their ring buffers.
 *
 *     thread 1   event  event          Every thread has an event on each processor.
 *     thread 2   event  event          Events of one processor share its ring.
 *                  |      |
 *                ring   ring
 *                cpu 0  cpu 1
 *
 * Events are inherited by new threads and children. The kernel has no ring for an inherited event
 * on all processors, so there is one event per thread and processor.
 *
 * Each thread has one or, with off_cpu, two events per processor:
 *
 *     PERF_COUNT_SW_CPU_CLOCK          a sample per period of CPU time; also reports mappings,
 *                                      names, forks, exits and switches (PERF_RECORD_SWITCH)
 *     PERF_COUNT_SW_CONTEXT_SWITCHES   a sample at each switch: the stack that the thread waits in
 *
 * A process that already runs has made its mappings before the events existed. They are read once
 * from /proc/PID/maps and /proc/PID/task ("seed"). A program that we start needs no seed: its
 * events are enabled by its exec, so the kernel reports everything.
 *
 * perf_event_open(2) and linux/perf_event.h specify attributes and rings. */
#define _GNU_SOURCE
#include <assert.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/memory.h"
#include "perf/collect.h"
#include "perf/perf.h"
#include "perf/records.h"
#include "perf/symbol_list.h"

#define BILLION UINT64_C(1000000000)
/* Half a megabyte per processor: the default limit of locked memory for ordinary users. */
#define RING_PAGES 128u
/* Samples with a copied stack are longer. If less memory may be locked, smaller rings are tried. */
#define RING_PAGES_COPIES 2048u
/* Bytes of stack that the kernel copies into each sample. Callers further up are not unwound. */
#define COPIED_BYTES 16384u
#define RING_PAGES_MIN 8u
#define MAX_THREADS 100000u

struct perf_cpu {
    int number;
    int file; /* the event that owns the ring; -1: none yet */
    struct tv_perf_ring ring;
};

struct tv_perf {
    struct tv_perf_options options;
    bool user_only;                    /* the kernel may not be sampled */
    bool no_lost_counts, no_build_ids; /* not supported by an older kernel */
    struct perf_cpu *cpus;
    size_t cpu_count;
    int *files; /* one per event; closing a file ends its event */
    size_t file_count, file_capacity;
    struct tv_perf_queue queue;
    struct tv_perf_collector collector;
    uint64_t looked_ns; /* time of the last look at the rings */
    size_t page;        /* bytes of a page of this system */
};

/* ---- What the system says ---- */

/* Read the number in a file of /proc/sys; `otherwise` if the file is missing or empty. */
static long perf_read_setting(const char *path, long otherwise)
{
    char text[32] = "";
    int file = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t length = file < 0 ? -1 : read(file, text, sizeof text - 1);
    if (file >= 0)
        close(file);
    return length > 0 ? strtol(text, NULL, 10) : otherwise;
}

/* Explain why perf events cannot be opened, and what to do about it. */
static enum tv_status perf_fail_refused(int error, struct tv_error *err)
{
    long paranoid = perf_read_setting("/proc/sys/kernel/perf_event_paranoid", LONG_MIN);
    if (error == ENOSYS || paranoid == LONG_MIN)
        return tv_fail(err, TV_ERR_UNSUPPORTED, TV_NO_OFFSET,
                       "this kernel has no perf events (perf_event_open: %s)", strerror(error));
    if (error == EMFILE)
        return tv_fail(err, TV_ERR_UNSUPPORTED, TV_NO_OFFSET,
                       "too many open files for the perf events of all threads and processors: "
                       "raise the limit (ulimit -n)");
    if (error == ESRCH)
        return tv_fail(err, TV_ERR_IO, TV_NO_OFFSET, "the process has ended");
    if (error != EACCES && error != EPERM)
        return tv_fail(err, TV_ERR_UNSUPPORTED, TV_NO_OFFSET, "perf_event_open: %s",
                       strerror(error));
    return tv_fail(err, TV_ERR_UNSUPPORTED, TV_NO_OFFSET,
                   "the system does not allow perf events (kernel.perf_event_paranoid is %ld): use "
                   "'sysctl kernel.perf_event_paranoid=2' or CAP_PERFMON; a container must also "
                   "allow the system call perf_event_open",
                   paranoid);
}

/* ---- Events ---- */

/* Only the sampling event reports mappings, names and forks; the event of context switches would
 * repeat them. */
static struct perf_event_attr perf_make_attributes(const struct tv_perf *perf, bool switches)
{
    const struct tv_perf_options *options = &perf->options;
    long most = perf_read_setting("/proc/sys/kernel/perf_event_max_stack", TV_PERF_DEPTH);
    uint32_t depth = options->depth == 0 || options->depth > most ? (uint32_t)most : options->depth;
    struct perf_event_attr attr = {
        .type = PERF_TYPE_SOFTWARE,
        .size = sizeof attr,
        .config = switches ? PERF_COUNT_SW_CONTEXT_SWITCHES : PERF_COUNT_SW_CPU_CLOCK,
        /* The CPU clock counts nanoseconds, so a period is a time. Every single switch is sampled.
         */
        .sample_period = switches ? 1 : BILLION / options->rate,
        .sample_type = TV_PERF_SAMPLE_TYPE,
        .read_format = perf->no_lost_counts ? 0 : PERF_FORMAT_LOST,
        .disabled = 1,
        .inherit = 1,
        .enable_on_exec = !options->is_running,
        /* enable_on_exec: our own code between fork and exec is not part of the recording. */
        .exclude_kernel = perf->user_only,
        .exclude_hv = 1,
        .exclude_guest = 1,
        .mmap = !switches,
        .mmap2 = !switches,
        .build_id = !switches && !perf->no_build_ids,
        .comm = !switches,
        .comm_exec = !switches,
        .task = !switches,
        .context_switch = !switches && options->off_cpu,
        .sample_id_all = 1,
        .use_clockid = 1,
        .clockid = CLOCK_MONOTONIC,
        .sample_max_stack = (uint16_t)depth,
        /* Wake us after 32 KiB in a ring and not after each sample. */
        .watermark = 1,
        .wakeup_watermark = 32768,
    };
    /* The kernel still follows its own part of the stack; the user part is unwound later. */
    if (options->copies_stacks) {
        attr.sample_type |= PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER;
        attr.sample_regs_user = TV_PERF_REGISTERS;
        attr.sample_stack_user = COPIED_BYTES;
        attr.exclude_callchain_user = 1;
    }
    return attr;
}

/* Return the file of a new event, or -1 with errno. */
static int perf_open_event(const struct tv_perf *perf, pid_t tid, int cpu, bool switches)
{
    struct perf_event_attr attr = perf_make_attributes(perf, switches);
    return (int)syscall(SYS_perf_event_open, &attr, tid, cpu, -1, PERF_FLAG_FD_CLOEXEC);
}

/* Open one event for a test, and give up features that the kernel lacks or does not allow. Return 0
 * or errno. */
static int perf_probe_attributes(struct tv_perf *perf)
{
    for (;;) {
        int file = perf_open_event(perf, perf->options.pid, -1, false);
        int error = errno;
        if (file >= 0)
            close(file);
        if (file >= 0)
            return 0;
        if (error == EINVAL && !perf->no_lost_counts)
            perf->no_lost_counts = true;
        else if (error == EINVAL && !perf->no_build_ids)
            perf->no_build_ids = true;
        else if ((error == EACCES || error == EPERM) && !perf->user_only)
            perf->user_only = true;
        else
            return error;
    }
}

/* Map a ring for the processor's first event. Halve its size until the kernel grants the memory,
 * since the locked memory of a user is limited (perf_event_mlock_kb, RLIMIT_MEMLOCK). Return 0 or
 * errno. */
static int perf_map_ring(struct tv_perf *perf, struct perf_cpu *cpu, int file)
{
    assert(cpu->file < 0 && file >= 0);
    int error = 0;
    size_t most = perf->options.copies_stacks ? RING_PAGES_COPIES : RING_PAGES;
    for (size_t pages = most; pages >= RING_PAGES_MIN; pages /= 2) {
        void *memory =
            mmap(NULL, (pages + 1) * perf->page, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
        error = errno;
        if (memory != MAP_FAILED) {
            cpu->file = file;
            cpu->ring = (struct tv_perf_ring){memory, pages * perf->page};
            return 0;
        }
    }
    return error;
}

static void perf_keep_event(struct tv_perf *perf, int file)
{
    assert(file >= 0);
    perf->files = tv_array_reserve(perf->files, &perf->file_capacity, perf->file_count + 1,
                                   sizeof *perf->files);
    perf->files[perf->file_count++] = file;
}

/* Add an event. Return 0 or errno; a processor that is offline is not an error. */
static int perf_add_event(struct tv_perf *perf, struct perf_cpu *cpu, pid_t tid, bool switches)
{
    int file = perf_open_event(perf, tid, cpu->number, switches);
    if (file < 0)
        return errno == ENODEV ? 0 : errno;
    perf_keep_event(perf, file);
    /* Samples of both events arrive in the same ring. Only the id tells them apart. */
    uint64_t id;
    if (switches && ioctl(file, PERF_EVENT_IOC_ID, &id) == 0)
        tv_map_set(&perf->collector.switches, id, 1);
    if (cpu->file < 0)
        return perf_map_ring(perf, cpu, file);
    return ioctl(file, PERF_EVENT_IOC_SET_OUTPUT, cpu->file) == 0 ? 0 : errno;
}

/* Add the events of a thread on all processors. Return 0 or errno. */
static int perf_add_thread(struct tv_perf *perf, pid_t tid)
{
    int error = 0;
    for (size_t i = 0; i < perf->cpu_count && error == 0; i++) {
        error = perf_add_event(perf, &perf->cpus[i], tid, false);
        /* A context switch happens in the kernel, so without the right to see it there are no
         * stacks of it. */
        if (error == 0 && perf->options.off_cpu && !perf->user_only)
            error = perf_add_event(perf, &perf->cpus[i], tid, true);
    }
    return error;
}

/* ---- A process that runs ---- */

/* Read the first line of a file, cut to `size` - 1 bytes; empty if it cannot be read. */
static void perf_read_line(const char *path, char *text, size_t size)
{
    int file = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t length = file < 0 ? 0 : read(file, text, size - 1);
    if (file >= 0)
        close(file);
    text[length > 0 ? length : 0] = '\0';
    text[strcspn(text, "\n")] = '\0';
}

static void perf_seed_thread(struct tv_perf *perf, pid_t tid)
{
    char path[64], name[64];
    snprintf(path, sizeof path, "/proc/%d/task/%d/comm", (int)perf->options.pid, (int)tid);
    perf_read_line(path, name, sizeof name);
    tv_perf_collector_add_thread(&perf->collector, (uint32_t)perf->options.pid, (uint32_t)tid,
                                 name);
}

/* Add events for all threads of the process. A thread that ends meanwhile is not an error. */
static int perf_add_threads(struct tv_perf *perf)
{
    char path[64];
    struct dirent *entry;
    int error = 0;
    snprintf(path, sizeof path, "/proc/%d/task", (int)perf->options.pid);
    DIR *tasks = opendir(path);
    for (size_t i = 0; tasks && error == 0 && i < MAX_THREADS && (entry = readdir(tasks)); i++) {
        pid_t tid = (pid_t)strtol(entry->d_name, NULL, 10);
        if (tid <= 0)
            continue;
        error = perf_add_thread(perf, tid);
        if (error == ESRCH)
            error = 0;
        perf_seed_thread(perf, tid);
    }
    if (tasks)
        closedir(tasks);
    return perf->file_count == 0 && error == 0 ? ESRCH : error;
}

/* Parse a line "START-END PERMISSIONS OFFSET DEVICE INODE PATH" of /proc/PID/maps. */
static void perf_seed_mapping(struct tv_perf *perf, char *line)
{
    struct tv_perf_mapping mapping = {.executable = true};
    uint64_t end;
    char *at;
    mapping.start = strtoull(line, &at, 16);
    end = *at == '-' ? strtoull(at + 1, &at, 16) : 0;
    if (end <= mapping.start || strlen(at) < 6 || at[3] != 'x')
        return;
    mapping.length = end - mapping.start;
    mapping.offset = strtoull(at + 6, &at, 16);
    /* Step over device and inode. A path may contain blanks, and is the rest of the line. */
    for (size_t i = 0; i < 2; i++) {
        at += strspn(at, " ");
        at += strcspn(at, " ");
    }
    at += strspn(at, " ");
    at[strcspn(at, "\n")] = '\0';
    mapping.path = at;
    tv_perf_spaces_map(&perf->collector.spaces, (uint32_t)perf->options.pid, &mapping);
}

/* Read the mappings after the events were opened. A library that is loaded in between appears in
 * both places, and tv_perf_spaces_map replaces the first by the second. */
static void perf_seed_mappings(struct tv_perf *perf)
{
    char path[64], line[8192];
    snprintf(path, sizeof path, "/proc/%d/maps", (int)perf->options.pid);
    FILE *maps = fopen(path, "re");
    while (maps && fgets(line, sizeof line, maps))
        perf_seed_mapping(perf, line);
    if (maps)
        fclose(maps);
}

/* ---- From the start to the end ---- */

/* Events cost a file per thread and processor: 100 threads on 64 processors are 6,400. */
static void perf_raise_file_limit(void)
{
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur < limit.rlim_max) {
        limit.rlim_cur = limit.rlim_max;
        (void)setrlimit(RLIMIT_NOFILE, &limit);
    }
}

/* Open all events, and enable them now or at the next exec. */
static int perf_open_events(struct tv_perf *perf)
{
    int error = perf_probe_attributes(perf);
    if (error != 0)
        return error;
    perf_raise_file_limit();
    perf->collector.names_kernel = tv_symbol_list_has_kernel();
    if (!perf->options.is_running)
        return perf_add_thread(perf, perf->options.pid);
    error = perf_add_threads(perf);
    perf_seed_mappings(perf);
    for (size_t i = 0; i < perf->file_count && error == 0; i++)
        if (ioctl(perf->files[i], PERF_EVENT_IOC_ENABLE, 0) != 0)
            error = errno;
    return error;
}

/* In a container, the paths in records belong to another root directory. */
static void perf_find_root(struct tv_perf_spaces *spaces, pid_t pid)
{
    char path[64];
    struct stat its, ours;
    snprintf(path, sizeof path, "/proc/%d/ns/mnt", (int)pid);
    if (stat(path, &its) == 0 && stat("/proc/self/ns/mnt", &ours) == 0 &&
        (its.st_ino != ours.st_ino || its.st_dev != ours.st_dev))
        snprintf(spaces->root, sizeof spaces->root, "/proc/%d/root", (int)pid);
}

/* Return the user that the process belongs to. Files in /tmp that this user wrote may name code. */
static uint32_t perf_process_owner(pid_t pid)
{
    char path[32];
    struct stat found;
    snprintf(path, sizeof path, "/proc/%d", (int)pid);
    return stat(path, &found) == 0 ? found.st_uid : geteuid();
}

enum tv_status tv_perf_open(const struct tv_perf_options *options, struct tv_perf **perf,
                            struct tv_error *err)
{
    assert(options->rate > 0);
    long count = sysconf(_SC_NPROCESSORS_CONF);
    struct tv_perf *new = tv_alloc(1, sizeof *new);
    new->options = *options;
    new->page = (size_t)sysconf(_SC_PAGESIZE);
    new->cpu_count = count > 0 ? (size_t)count : 1;
    new->cpus = tv_alloc(new->cpu_count, sizeof *new->cpus);
    for (size_t i = 0; i < new->cpu_count; i++)
        new->cpus[i] = (struct perf_cpu){.number = (int)i, .file = -1};
    tv_perf_collector_init(&new->collector, BILLION / options->rate);
    new->collector.owner = perf_process_owner(options->pid);
    perf_find_root(&new->collector.spaces, options->pid);
    int error = perf_open_events(new);
    if (error == 0) {
        *perf = new;
        return TV_OK;
    }
    tv_perf_close(new);
    *perf = NULL;
    return perf_fail_refused(error, err);
}

void tv_perf_close(struct tv_perf *perf)
{
    if (!perf)
        return;
    for (size_t i = 0; i < perf->cpu_count; i++)
        if (perf->cpus[i].ring.pages)
            munmap(perf->cpus[i].ring.pages, perf->cpus[i].ring.size + perf->page);
    for (size_t i = 0; i < perf->file_count; i++)
        close(perf->files[i]);
    tv_free(perf->files);
    tv_free(perf->cpus);
    tv_perf_queue_release(&perf->queue);
    tv_perf_collector_release(&perf->collector);
    tv_free(perf);
}

bool tv_perf_sees_kernel(const struct tv_perf *perf)
{
    return !perf->user_only;
}

/* Read all rings. Records that are older than the previous look are complete, so hand them on
 * (records.h). */
static void perf_read_rings(struct tv_perf *perf)
{
    uint64_t now = tv_monotonic_ns();
    for (size_t i = 0; i < perf->cpu_count; i++)
        if (perf->cpus[i].ring.pages)
            tv_perf_ring_drain(&perf->cpus[i].ring, &perf->queue);
    tv_perf_queue_flush(&perf->queue, perf->looked_ns, tv_perf_collector_add, &perf->collector);
    perf->looked_ns = now;
}

bool tv_perf_wait(struct tv_perf *perf, int also, int timeout_ms)
{
    struct pollfd *files = tv_alloc(perf->cpu_count + 1, sizeof *files);
    size_t count = 0;
    files[count++] = (struct pollfd){.fd = also, .events = POLLIN};
    for (size_t i = 0; i < perf->cpu_count; i++)
        if (perf->cpus[i].file >= 0)
            files[count++] = (struct pollfd){.fd = perf->cpus[i].file, .events = POLLIN};
    int ready = poll(files, count, timeout_ms);
    bool seen = ready > 0 && files[0].revents != 0;
    bool ended = false;
    for (size_t i = 1; i < count; i++)
        ended |= ready > 0 && (files[i].revents & POLLHUP) != 0;
    tv_free(files);
    perf_read_rings(perf);
    /* After a process has ended, poll on its events returns at once, forever. */
    if (ended && !seen && also >= 0)
        seen = poll(&(struct pollfd){.fd = also, .events = POLLIN}, 1, timeout_ms) > 0;
    return seen;
}

/* Return the number of lost records. A ring reports them before the next record that fits, which
 * may never come; the counts of the events have all. */
static uint64_t perf_count_lost(const struct tv_perf *perf)
{
    uint64_t lost = 0, values[2]; /* event count, lost records */
    for (size_t i = 0; i < perf->file_count && !perf->no_lost_counts; i++)
        if (read(perf->files[i], values, sizeof values) == (ssize_t)sizeof values)
            lost += values[1];
    return lost > perf->collector.kernel_lost ? lost : perf->collector.kernel_lost;
}

void tv_perf_finish(struct tv_perf *perf, struct tv_samples *samples)
{
    for (size_t i = 0; i < perf->file_count; i++)
        (void)ioctl(perf->files[i], PERF_EVENT_IOC_DISABLE, 0);
    perf_read_rings(perf);
    tv_perf_queue_flush(&perf->queue, UINT64_MAX, tv_perf_collector_add, &perf->collector);
    tv_perf_collector_end(&perf->collector);
    perf->collector.samples.lost += perf_count_lost(perf);
    tv_perf_names_resolve(&perf->collector, samples);
}
