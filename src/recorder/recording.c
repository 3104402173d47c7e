/* SPDX-License-Identifier: Apache-2.0 */
/*
 * recording.c - start and stop of a recording, its files and its messages.
 *
 *     start:  check options -> PATH.part -> spool -> buffer -> clocks measured -> `on` = generation
 *     stop:   `on` = 0, limits = 0 -> wait for busy threads -> write PATH.part -> fsync -> rename
 *
 * Everything that can fail does so before the first event.  From then on, the worst is that events
 * are dropped or that the file cannot be written; the host goes on.
 *
 * The trace has the name PATH.part until it is whole, so whoever finds PATH has a whole trace. With
 * a spool, the buffer is the memory of a file, next to which a file of names grows: they survive a
 * kill, and `traceview recover` makes a trace of both.
 *
 * Two locks.  `lock` is that of the threads, the methods and the files.  `buffer_lock` is held only
 * while the buffer appears or disappears: the watcher, which prefaults its memory, must not wait
 * for a long write under the other lock.
 */
#define _GNU_SOURCE
#include "recorder/recording.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/membarrier.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "recorder/memory.h"
#include "recorder/state.h"
#include "recorder/triggers.h"

struct tv_recorder tv_recorder;

#define EVENT_WAIT_US 100
#define EVENT_WAITS 20000    /* two seconds for events under way */
#define SPOOL_NAMES_MAX 1000 /* of one pid, in one directory */

const char *tv_recording_error(int error)
{
    if (error == -EBADF)
        return "the program has closed the recorder's file, and it is no longer there";
    if (error == -ENOTSUP)
        return "not a regular file, which alone can be written";
    return strerror(-error);
}

/* The program may have closed standard error and opened a file of its own under its number. */
static bool stderr_is_unchanged(void)
{
    struct stat found;
    return tv_recorder.stderr_file.inode == 0 ||
           (fstat(STDERR_FILENO, &found) == 0 && found.st_dev == tv_recorder.stderr_file.device &&
            found.st_ino == tv_recorder.stderr_file.inode);
}

/* Note which file standard error is, so that messages never go into a file of the program. */
static void stderr_remember(void)
{
    struct stat found = {0};
    if (fstat(STDERR_FILENO, &found) == 0) {
        tv_recorder.stderr_file.device = found.st_dev;
        tv_recorder.stderr_file.inode = found.st_ino;
    }
}

void tv_recorder_print_line(const char *line)
{
    struct tv_file_limit_guard limit;
    if (tv_recorder.options.quiet || !stderr_is_unchanged())
        return;
    tv_file_limit_begin(&limit);
    ssize_t wrote = write(STDERR_FILENO, line, strlen(line));
    (void)wrote; /* there is nobody else to tell */
    tv_file_limit_end(&limit);
}

/* A stream that cannot continue leaves its partial file. */
static bool recording_leaves_part(void)
{
    sigset_t before;
    tv_recorder_lock(&before); /* threads that still stream write to these */
    bool leaves = tv_recorder.leaves_part ||
                  (tv_recorder.options.full == TV_RECORDING_STREAM && tv_recorder.file.error != 0 &&
                   tv_output_file_is_at_path(&tv_recorder.file));
    tv_recorder_unlock(&before);
    return leaves;
}

void tv_recorder_notice(enum tv_recording_notice notice, int error)
{
    char line[2 * TV_BUFFER_PATH + 256], kept[TV_BUFFER_PATH + 64] = "";
    const struct tv_recording_options *options = &tv_recorder.options;
    if (notice == TV_RECORDING_FAILED && atomic_exchange(&tv_recorder.failure_reported, true))
        return;
    if (options->notify)
        options->notify(notice, options->arg);
    if (notice == TV_RECORDING_FAILED && recording_leaves_part())
        snprintf(kept, sizeof kept, "; what was recorded is in %s", tv_recorder.texts.part);
    if (notice == TV_RECORDING_OVERFLOWED)
        snprintf(line, sizeof line, "traceview: the trace buffer %s\n",
                 atomic_load(&tv_recorder.ended_ticks) != 0
                     ? "is full, the recording ended"
                     : "has no room for so many threads, calls of some are missing");
    else
        snprintf(line, sizeof line, "traceview: %s: %s%s\n", tv_recorder.texts.path,
                 tv_recording_error(error), kept);
    tv_recorder_print_line(line);
}

void tv_recorder_check_names_file(void)
{
    if (tv_recorder.methods.names && tv_recorder.names.error != 0)
        tv_recorder_notice(TV_RECORDING_FAILED, tv_recorder.names.error);
}

/* Make the path absolute, as the host may change its directory before the file is written, and
 * follow a link, which the new file would replace. */
static int options_resolve_path(const char *path)
{
    char folder[TV_BUFFER_PATH] = "", *to = tv_recorder.texts.path;
    struct stat found;
    int failed = tv_output_file_check_path(path);
    if (failed != 0)
        return failed;
    if (lstat(path, &found) == 0 && S_ISLNK(found.st_mode))
        return realpath(path, to) ? 0 : -errno;
    if (path[0] != '/' && !getcwd(folder, sizeof folder))
        return -errno;
    int length = snprintf(to, TV_BUFFER_PATH, "%s%s%s", folder, path[0] == '/' ? "" : "/", path);
    return length < 0 || (size_t)length >= TV_BUFFER_PATH ? -ENAMETOOLONG : 0;
}

/* Make the spool's path absolute too.  Return its length, or an error. */
static int options_resolve_spool(const char *path)
{
    char folder[TV_BUFFER_PATH] = "", *to = tv_recorder.texts.spool;
    bool is_relative = path && path[0] != '\0' && path[0] != '/';
    if (is_relative && !getcwd(folder, sizeof folder))
        return -errno;
    int length =
        snprintf(to, TV_BUFFER_PATH, "%s%s%s", folder, is_relative ? "/" : "", path ? path : "");
    return length < 0 || (size_t)length >= TV_BUFFER_PATH ? -ENAMETOOLONG : length;
}

/* In a forked child the options may be those of the parent, whose texts are in place already. */
static int options_copy_text(char to[TV_BUFFER_PATH], const char *text)
{
    if (!text)
        to[0] = '\0';
    else if (text != to && (size_t)snprintf(to, TV_BUFFER_PATH, "%s", text) >= TV_BUFFER_PATH)
        return -ENAMETOOLONG;
    return 0;
}

/* Copy the patterns of methods; the host may free its texts after the start. */
static int options_copy_patterns(const struct tv_recording_options *options)
{
    struct tv_recorder *to = &tv_recorder;
    int failed = options_copy_text(to->texts.trigger, options->trigger);
    if (failed == 0)
        failed = options_copy_text(to->texts.slow_methods, options->slow);
    to->triggers = to->texts.trigger[0] != '\0';
    return failed;
}

/* Check the options and copy them with all their texts.  0 or an error number below 0, as in all
 * functions of this file. */
static int options_copy(const struct tv_recording_options *options)
{
    struct tv_recorder *to = &tv_recorder;
    uint64_t bytes = options->buffer_bytes ? options->buffer_bytes : TV_RECORDING_BUFFER_DEFAULT;
    if (!options->path || options->path[0] == '\0' || bytes < TV_RECORDING_BUFFER_MIN ||
        bytes > TV_RECORDING_BUFFER_LIMIT)
        return -EINVAL;
    int failed = options_resolve_path(options->path), spool = options_resolve_spool(options->spool);
    int part = snprintf(to->texts.part, sizeof to->texts.part, "%s.part", to->texts.path);
    if (failed == 0)
        failed = options_copy_patterns(options);
    if (failed != 0 || spool < 0)
        return failed != 0 ? failed : spool;
    /* Leave room for a pid in the names, twice. */
    if ((size_t)part + 32 >= sizeof to->texts.part || (size_t)spool + 64 >= sizeof to->texts.spool)
        return -ENAMETOOLONG;
    memcpy(to->texts.folder, to->texts.path, sizeof to->texts.folder);
    char *slash = strrchr(to->texts.folder, '/');
    slash[slash == to->texts.folder] = '\0'; /* the root keeps its slash */
    to->options = *options;
    to->options.buffer_bytes = bytes;
    to->options.path = to->texts.path;
    to->options.spool = to->texts.spool[0] ? to->texts.spool : NULL;
    to->options.trigger = to->triggers ? to->texts.trigger : NULL;
    to->options.slow = to->texts.slow_methods[0] ? to->texts.slow_methods : NULL;
    return 0;
}

/* Name the spool DIR/traceview-PID.SUFFIX, or DIR/traceview-PID-NUMBER.SUFFIX when that is left
 * from a killed process with the same pid. */
static void spool_make_paths(int number)
{
    char more[16] = "";
    if (number > 0)
        snprintf(more, sizeof more, "-%d", number);
    snprintf(tv_recorder.texts.spool_path, sizeof tv_recorder.texts.spool_path,
             "%.*s/traceview-%d%s.spool", (int)TV_BUFFER_PATH - 64, tv_recorder.texts.spool,
             (int)getpid(), more);
    snprintf(tv_recorder.texts.names_path, sizeof tv_recorder.texts.names_path,
             "%.*s/traceview-%d%s.names", (int)TV_BUFFER_PATH - 64, tv_recorder.texts.spool,
             (int)getpid(), more);
}

/* Open the spool.  The mapping outlives its descriptor and keeps its lock.  -1: no spool is
 * wanted. */
static int spool_open(int *file)
{
    *file = -1;
    if (!tv_recorder.options.spool)
        return 0;
    for (int i = 0; *file < 0 && i < SPOOL_NAMES_MAX; i++) {
        spool_make_paths(i);
        *file = open(tv_recorder.texts.spool_path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
        if (*file < 0 && errno != EEXIST)
            return -errno;
    }
    if (*file < 0)
        return -EEXIST;
    tv_recorder.spools = true;
    int failed = tv_output_file_open(&tv_recorder.names, tv_recorder.texts.names_path, 0600);
    if (failed != 0)
        return failed;
    tv_recorder.methods.names = &tv_recorder.names;
    tv_method_table_write_names(&tv_recorder.methods);
    tv_address_table_write_names(&tv_recorder.addresses, &tv_recorder.methods);
    return 0;
}

/* Remove the spool: the trace is written, so nothing is left to recover. */
static void spool_remove(void)
{
    tv_recorder.methods.names = NULL;
    tv_output_file_close(&tv_recorder.names);
    if (tv_recorder.spools) {
        unlink(tv_recorder.texts.names_path);
        unlink(tv_recorder.texts.spool_path);
    }
    tv_recorder.spools = false;
}

static uint64_t recording_now_us(void)
{
    return tv_clock_ns(CLOCK_REALTIME) / 1000;
}

/* Copy the beginning of a text, on one line. */
static void header_copy_line(char *to, size_t size, const char *text)
{
    snprintf(to, size, "%s", text ? text : "");
    for (; *to; to++)
        if ((unsigned char)*to < ' ')
            *to = ' ';
}

/* Make the buffer, over the spool's file if there is one, and fill in its header.  The magic number
 * is stored last: a spool without it is of a start that was killed, and nothing can be recovered
 * from it. */
static int recording_open_buffer(int spool)
{
    const struct tv_recording_options *options = &tv_recorder.options;
    bool dual = options->clock == TV_RECORDING_DUAL;
    uint32_t size = dual ? TV_MT_RECORD_SIZE_V3 : TV_MT_RECORD_SIZE_V2;
    uint32_t records = (uint32_t)((options->buffer_bytes - TV_MT_HEADER_SIZE) / size);
    uint32_t most = (uint32_t)((TV_RECORDING_BUFFER_LIMIT - TV_MT_HEADER_SIZE) / size);
    bool grows = options->grows && spool < 0 && options->full == TV_RECORDING_STOP;
    /* If the address space has no room for the largest size, the buffer does not grow. */
    int failed =
        grows ? tv_trace_buffer_init(&tv_recorder.buffer, most, dual ? 3 : 2, spool) : -ENOMEM;
    if (failed == 0)
        tv_trace_buffer_set_growth(&tv_recorder.buffer, records, tv_recorder.texts.folder);
    else
        failed = tv_trace_buffer_init(&tv_recorder.buffer, records, dual ? 3 : 2, spool);
    if (failed != 0)
        return failed;
    struct tv_buffer_header *head = tv_recorder.buffer.head;
    head->pid = (uint32_t)getpid();
    head->part_pid = tv_recorder.part_pid;
    head->locked = spool >= 0 && flock(spool, LOCK_EX | LOCK_NB) == 0;
    head->clock = options->clock;
    head->full = options->full;
    head->counter = tv_clock_counter_is_reliable();
    if (options->clock != TV_RECORDING_WALL)
        tv_cpu_clock_begin(head->counter);
    head->overhead_ns = tv_clock_measure_overhead(head->counter, options->clock != TV_RECORDING_CPU,
                                                  options->clock != TV_RECORDING_WALL);
    snprintf(head->vm, sizeof head->vm, "%s", options->vm ? options->vm : "native");
    memcpy(head->path, tv_recorder.texts.path, sizeof head->path);
    head->least_ns = options->least_ns;
    header_copy_line(head->trigger, sizeof head->trigger, options->trigger);
    tv_labels_read(head->labels);
    head->start_us = recording_now_us();
    head->start = head->late[0] = tv_clock_read_pair(head->counter);
    /* A short recording without a stop gets its scale from this pair. */
    while (options->spool && head->late[0].ns < head->start.ns + 1000000)
        head->late[0] = tv_clock_read_pair(head->counter);
    __atomic_store_n(&head->magic, TV_SPOOL_MAGIC, __ATOMIC_RELEASE);
    return 0;
}

/* Convert a duration to readings of the clock that times calls.  The counter's rate is measured
 * for 5 ms. */
static uint64_t recording_ns_to_readings(const struct tv_buffer_header *head, uint64_t ns)
{
    bool ticks = head->counter && head->clock != TV_RECORDING_CPU;
    struct tv_clock_pair last = head->start;
    if (ns == 0 || !ticks)
        return ns;
    while (last.ns < head->start.ns + 5000000)
        last = tv_clock_read_pair(true);
    struct tv_clock_scale scale = tv_clock_scale_between(true, head->start, last);
    return (uint64_t)((double)ns / scale.ns_per_tick);
}

/* Prepare the writer of the file. */
static void recording_init_writer(struct tv_output_buffer *out)
{
    assert(out && tv_recorder.buffer.head);
    memset(&tv_recorder.writer, 0, sizeof tv_recorder.writer);
    tv_recorder.writer.buffer = &tv_recorder.buffer;
    tv_recorder.writer.methods = &tv_recorder.methods;
    tv_recorder.writer.addresses = &tv_recorder.addresses;
    tv_recorder.writer.key = tv_recorder.host.key;
    tv_recorder.writer.namer = tv_recorder.host.namer;
    tv_recorder.writer.drop_orphans = tv_recorder.options.drop_orphans;
    tv_recorder.writer.out = out;
    /* A streamed file is written before its end is known, so its scale is measured for 5 ms: an
     * error of a millisecond in ten seconds. */
    struct tv_clock_pair first = tv_recorder.buffer.head->start, last = first;
    while (tv_recorder.options.full == TV_RECORDING_STREAM && last.ns < first.ns + 5000000)
        last = tv_clock_read_pair(tv_recorder.buffer.head->counter);
    tv_recorder.writer.scale =
        tv_clock_scale_between(tv_recorder.buffer.head->counter, first, last);
}

/* Free and close everything of the recording, also of one that was opened in part. */
static void recording_release(void)
{
    tv_trace_writer_release(&tv_recorder.writer);
    tv_output_buffer_free(tv_recorder.writer.out);
    tv_recorder.writer.out = NULL;
    pthread_mutex_lock(&tv_recorder.buffer_lock);
    tv_trace_buffer_release(&tv_recorder.buffer);
    pthread_mutex_unlock(&tv_recorder.buffer_lock);
    spool_remove();
    tv_output_file_close(&tv_recorder.file);
}

/* Open PATH.part, or PATH.PID.part while another process records to the same path. */
static int recording_open_part(void)
{
    int failed = tv_output_file_open(&tv_recorder.file, tv_recorder.texts.part, 0644);
    tv_recorder.part_pid = false;
    if (failed != -EBUSY)
        return failed;
    tv_recorder.part_pid = true;
    snprintf(tv_recorder.texts.part + strlen(tv_recorder.texts.path),
             sizeof tv_recorder.texts.part - strlen(tv_recorder.texts.path), ".%d.part",
             (int)getpid());
    return tv_output_file_open(&tv_recorder.file, tv_recorder.texts.part, 0644);
}

/* Open the files and the buffer.  After an error the caller removes PATH.part and releases the
 * rest. */
static int recording_open(void)
{
    int spool, failed = recording_open_part();
    if (failed != 0)
        return failed;
    failed = spool_open(&spool);
    pthread_mutex_lock(&tv_recorder.buffer_lock);
    if (failed == 0)
        failed = recording_open_buffer(spool);
    pthread_mutex_unlock(&tv_recorder.buffer_lock);
    if (spool >= 0)
        close(spool);
    if (failed != 0)
        return failed;
    struct tv_output_buffer *out = tv_output_buffer_new(&tv_recorder.file);
    if (!out)
        return -ENOMEM;
    recording_init_writer(out);
    tv_recorder.min_duration =
        recording_ns_to_readings(tv_recorder.buffer.head, tv_recorder.options.least_ns);
    tv_recorder.slow_limit = 0;
    if (tv_recorder.options.slow && tv_recorder.options.slow_ns > 0)
        tv_recorder.slow_limit =
            recording_ns_to_readings(tv_recorder.buffer.head, tv_recorder.options.slow_ns);
    atomic_store(&tv_recorder.slow_end.state, 0);
    tv_method_filter_begin(tv_recorder.options.trigger, tv_recorder.options.slow);
    if (tv_recorder.options.full != TV_RECORDING_STREAM)
        return 0;
    tv_recorder.buffer.head->scale = tv_recorder.writer.scale;
    tv_trace_stream_begin(&tv_recorder.writer);
    failed = tv_output_buffer_flush(out);
    tv_trace_buffer_commit_stream(&tv_recorder.buffer,
                                  (struct tv_stream_progress){.bytes = out->flushed});
    return failed;
}

void tv_recorder_wipe_on_fork(void)
{
    (void)madvise(tv_recorder.page, sizeof tv_recorder.page, MADV_WIPEONFORK);
}

/* Start with the lock held.  `on` is stored last: from that moment, other threads have events. */
static int recording_start_locked(const struct tv_recording_options *options)
{
    if (tv_recorder.started || tv_recorder.buffer.head)
        return -EBUSY;
    int failed = options_copy(options);
    if (failed != 0)
        return failed;
    tv_recorder_free_ended_threads();
    stderr_remember();
    atomic_store(&tv_recorder.failure_reported, false);
    tv_recorder.leaves_part = false;
    tv_recorder.dropped = 0;
    failed = recording_open();
    if (failed != 0) {
        if (tv_recorder.file.descriptor >= 0)
            unlink(tv_recorder.texts.part);
        recording_release();
        return failed;
    }
    syscall(SYS_membarrier, MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED, 0, 0);
    tv_recorder_wipe_on_fork();
    atomic_store(&tv_recorder.ended_ticks, 0);
    atomic_store(&tv_recorder.spares.count, 0);
    memset(tv_recorder.ended_threads.ended_ids, 0, sizeof tv_recorder.ended_threads.ended_ids);
    tv_recorder.ended_threads.ended_at = 0;
    tv_recorder.pid = (int)getpid();
    tv_recorder.started = true;
    atomic_store(&tv_recorder.on, ++tv_recorder.generation);
    return 0;
}

int tv_recording_start(const struct tv_recording_options *options)
{
    sigset_t before;
    tv_recorder_inside++;
    tv_recorder_register_thread();
    tv_recorder_lock(&before);
    int failed = recording_start_locked(options);
    tv_recorder_unlock(&before);
    if (failed == 0)
        failed = tv_watcher_begin();
    if (failed == 0 && options->full == TV_RECORDING_RING)
        tv_snapshot_listen();
    tv_recorder_inside--;
    return failed;
}

void tv_recording_wait_for_call(void (*start_recording)(void))
{
    tv_recorder.host.first_call = start_recording;
    atomic_store(&tv_recorder.on, TV_ON_WAITING);
}

void tv_recorder_begin_at_first_call(void)
{
    uint32_t waiting = TV_ON_WAITING;
    if (atomic_compare_exchange_strong(&tv_recorder.on, &waiting, 0))
        tv_recorder.host.first_call();
}

/* Tell whether another thread of this recording is in an event.  The calling thread may be in one
 * itself, whose end would wait for this function. */
static bool recording_has_busy_thread(void)
{
    bool busy = false;
    pthread_mutex_lock(&tv_recorder.lock);
    for (struct tv_recorder_thread *i = tv_recorder.threads; i && !busy; i = i->next_thread)
        busy = (atomic_load_explicit(&i->busy, memory_order_acquire) & 1) &&
               tv_recorder_generation_of(i) == tv_recorder.generation && i != tv_recorder_self;
    pthread_mutex_unlock(&tv_recorder.lock);
    return busy;
}

void tv_recorder_wait_for_events(void)
{
    pthread_mutex_lock(&tv_recorder.lock);
    for (struct tv_recorder_thread *i = tv_recorder.threads; i; i = i->next_thread)
        atomic_store(&i->limit, 0);
    pthread_mutex_unlock(&tv_recorder.lock);
    if (syscall(SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED, 0, 0) != 0)
        usleep(1000); /* an old kernel without membarrier: all stores are visible by then */
    for (int i = 0; i < EVENT_WAITS && recording_has_busy_thread(); i++)
        usleep(EVENT_WAIT_US);
}

bool tv_recorder_end_events(void)
{
    uint32_t on = atomic_load(&tv_recorder.on);
    if (!tv_recorder_is_recording(on) ||
        !atomic_compare_exchange_strong(&tv_recorder.on, &on, atomic_load(&tv_recorder.stacks)))
        return false;
    atomic_store(&tv_recorder.ended_ticks, tv_clock_read(tv_recorder.buffer.head->counter));
    return true;
}

/* End the events; none is under way afterwards. */
static void recording_end_events(void)
{
    pthread_mutex_lock(&tv_recorder.lock);
    atomic_store(&tv_recorder.on, atomic_load(&tv_recorder.stacks));
    pthread_mutex_unlock(&tv_recorder.lock);
    tv_recorder_wait_for_events();
}

void tv_recorder_read_thread_names(void)
{
    for (struct tv_recorder_thread *i = tv_recorder.threads; i; i = i->next_thread) {
        char path[64], name[TV_BUFFER_NAME] = "";
        if (i->finished || i->name[0] || i->id == 0 ||
            tv_recorder_generation_of(i) != tv_recorder.generation)
            continue;
        snprintf(path, sizeof path, "/proc/self/task/%d/comm", i->tid);
        int file = open(path, O_RDONLY | O_CLOEXEC);
        ssize_t length = file < 0 ? 0 : read(file, name, sizeof name - 1);
        if (file >= 0)
            close(file);
        for (ssize_t k = 0; k < length; k++)
            if ((unsigned char)name[k] < ' ')
                name[k] = k == length - 1 ? '\0' : ' ';
        if (length > 0)
            memcpy(tv_recorder.buffer.threads[i->id - 1].name, name, sizeof name);
    }
}

/* Write what the file still lacks: all of it, or for a stream the chunks that are not full and the
 * end. */
static int recording_write_file(void)
{
    assert(tv_recorder.buffer.head);
    struct tv_trace_writer *writer = &tv_recorder.writer;
    struct tv_buffer_header *head = tv_recorder.buffer.head;
    struct tv_clock_pair last = tv_clock_read_pair(head->counter);
    uint64_t ended = atomic_load(&tv_recorder.ended_ticks);
    bool streams = head->full == TV_RECORDING_STREAM;
    if (!streams)
        writer->scale = tv_clock_scale_between(head->counter, head->start, last);
    writer->end_ns = tv_clock_to_ns(&writer->scale, ended ? ended : last.ticks);
    tv_recorder_read_thread_names();
    for (struct tv_recorder_thread *i = tv_recorder.threads; i && streams; i = i->next_thread)
        if (tv_recorder_generation_of(i) == tv_recorder.generation)
            tv_recorder_close_chunk(i);
    int failed = streams ? tv_trace_stream_end(writer) : tv_trace_writer_write(writer);
    int flushed = tv_output_buffer_flush(writer->out);
    return failed != 0 ? failed : flushed;
}

/* Give the file its final name.  A file that could not be written is removed, unless it is a
 * stream's, whose beginning can be read. */
static int recording_publish_file(int failed)
{
    bool there = tv_output_file_exists(&tv_recorder.file), written = failed == 0;
    if (failed == 0 && !there)
        failed = -EBADF;
    if (failed == 0)
        failed = tv_output_file_check_path(tv_recorder.texts.path);
    if (failed == 0)
        failed = tv_output_file_publish(&tv_recorder.file, tv_recorder.texts.part,
                                        tv_recorder.texts.path);
    if (failed == 0 || !there)
        return failed;
    tv_recorder.leaves_part = written || tv_recorder.options.full == TV_RECORDING_STREAM;
    if (!tv_recorder.leaves_part)
        unlink(tv_recorder.texts.part);
    return failed;
}

/* Write and publish the file, and fill in *info before the counts in the buffer are gone. */
static int recording_write_and_release(struct tv_recording_info *info)
{
    int failed = recording_publish_file(recording_write_file());
    tv_recorder_free_ended_threads();
    tv_method_filter_end();
    if (info)
        *info = (struct tv_recording_info){
            .records = tv_recorder.writer.written,
            .dropped = tv_recorder.dropped,
            .threads = atomic_load(&tv_recorder.buffer.head->threads),
            .overhead_ns = tv_recorder.buffer.head->overhead_ns,
            .overflow = atomic_load(&tv_recorder.buffer.head->overflow),
        };
    recording_release();
    return failed;
}

/* Stop, in the one thread that has taken `started`. */
static int recording_stop_owned(struct tv_recording_info *info)
{
    assert(!tv_recorder.started);
    recording_end_events();
    tv_snapshot_stop_listening();
    tv_watcher_end();
    pthread_mutex_lock(&tv_recorder.lock);
    int failed = recording_write_and_release(info);
    pthread_mutex_unlock(&tv_recorder.lock);
    if (failed != 0)
        tv_recorder_notice(TV_RECORDING_FAILED, failed);
    return failed;
}

int tv_recording_stop(struct tv_recording_info *info)
{
    sigset_t before;
    tv_recorder_inside++;
    /* Keep deadly signals blocked: their handler waits for the file, so it must not interrupt
     * this thread. */
    tv_recorder_lock(&before);
    bool mine = tv_recorder.started;
    tv_recorder.started = false;
    pthread_mutex_unlock(&tv_recorder.lock);
    int failed = mine ? recording_stop_owned(info) : -ENOENT;
    tv_recorder_unblock_signals(&before);
    tv_recorder_inside--;
    return failed;
}

void tv_recording_set_left_out(uint32_t methods)
{
    sigset_t before;
    tv_recorder_lock(&before);
    tv_recorder.writer.left_out = methods;
    tv_recorder_unlock(&before);
}

void tv_recording_set_allocations(const struct tv_recording_allocations *allocations)
{
    sigset_t before;
    tv_recorder_lock(&before);
    tv_recorder.writer.has_allocations = true;
    tv_recorder.writer.allocations = *allocations;
    tv_recorder_unlock(&before);
}

bool tv_recording_active(void)
{
    uint32_t on = atomic_load(&tv_recorder.on);
    return on == TV_ON_PAUSED || tv_recorder_is_recording(on);
}

/* Return the number of a method.  Its name is in the spool's file of names, if there is one, before
 * any record has the number. */
static uint32_t recording_number_method(const struct tv_recording_method *method, bool find)
{
    struct tv_method_table *methods = &tv_recorder.methods;
    sigset_t before;
    tv_recorder_inside++;
    tv_recorder_lock(&before);
    uint32_t number =
        find ? tv_method_table_find_or_add(methods, method) : tv_method_table_add(methods, method);
    tv_recorder_check_names_file();
    tv_recorder_unlock(&before);
    tv_recorder_inside--;
    return number;
}

uint32_t tv_recording_add_method(const struct tv_recording_method *method)
{
    return recording_number_method(method, false);
}

uint32_t tv_recording_find_method(const struct tv_recording_method *method)
{
    return recording_number_method(method, true);
}

void tv_recorder_reset_after_fork(void)
{
    struct tv_recorder_thread *self = tv_recorder_self;
    pthread_mutex_init(&tv_recorder.lock, NULL);
    pthread_mutex_init(&tv_recorder.buffer_lock, NULL);
    atomic_flag_clear(&tv_recorder.spares.lock);
    atomic_store(&tv_recorder.on, 0);
    atomic_store(&tv_recorder.stacks, 0);
    tv_recorder.stack_users = 0;
    tv_recorder.started = false;
    tv_recorder.threads = self && !self->finished ? self : NULL;
    if (tv_recorder.threads) {
        self->next_thread = NULL;
        atomic_store(&self->limit, 0);
        tv_recorder_clear_busy(self);
        atomic_fetch_and(&self->generation, ~TV_GENERATION_ASKED);
    }
    /* The descriptors are copies.  The files are the parent's, and its buffer is not mapped
     * here. */
    tv_recorder.writer.out = NULL;
    tv_recorder.buffer = (struct tv_trace_buffer){0};
    tv_snapshot_reset_after_fork();
    tv_output_file_close(&tv_recorder.file);
    tv_output_file_close(&tv_recorder.names);
    tv_recorder.methods.names = NULL;
    tv_recorder.spools = false;
}
