/* SPDX-License-Identifier: Apache-2.0 */
/*
 * recover.c - the trace of a process that was killed.
 */
#include "recorder/recover.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "recorder/homes.h"
#include "recorder/kept.h"
#include "recorder/pages.h"
#include "recorder/trace_file.h"

#define NAMES_LIMIT ((off_t)1 << 30)
#define NAMES 1000 /* of one process, in one folder */

/* The names file, for the namer, which is handed an address alone. */
static struct {
    char *text;
    size_t size;
    struct tv_module_history homes;
} names_file;

static int read_names(const char *path)
{
    struct stat status;
    int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0)
        return -errno;
    int failed = fstat(file, &status) != 0 ? -errno : 0;
    if (failed == 0 && status.st_size > NAMES_LIMIT)
        failed = -EFBIG;
    if (failed == 0) {
        names_file.size = (size_t)status.st_size + 1;
        names_file.text = tv_mmap_alloc(names_file.size);
        failed = names_file.text ? 0 : -ENOMEM;
    }
    if (failed == 0 && read(file, names_file.text, names_file.size - 1) != status.st_size)
        failed = -EIO;
    close(file);
    return failed;
}

/* The line behind a whole one; a last line without its end was being written. */
static char *next_line(char *line, char **end)
{
    *end = strchr(line, '\n');
    return *end ? *end + 1 : NULL;
}

/* A line that is longer than any is damaged.  It is cut, not left out: those behind it would get
 * the numbers of others. */
static void add_methods(struct tv_method_table *methods)
{
    char *end, *next;
    for (char *line = names_file.text; (next = next_line(line, &end)); line = next) {
        size_t length = (size_t)(end - line);
        if (line[0] == 'M' && line[1] == '\t')
            tv_method_table_add_line(methods, line + 2,
                                    length - 2 < TV_METHOD_LINE ? length - 2 : TV_METHOD_LINE);
    }
}

/* "X\tSTART\tEND\tBIAS\tFROM\tTO\tPATH"; false: the line has another form. */
static bool read_home(const char *line, const char *end, struct tv_module_span *home)
{
    uint64_t *const numbers[] = {&home->start, &home->end, &home->bias, &home->from, &home->to};
    char *at;
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++) {
        if (*line != '\t')
            return false;
        *numbers[i] = strtoull(line + 1, &at, 16);
        line = at;
    }
    size_t length = (size_t)(end - line);
    if (*line != '\t' || length < 2 || length > sizeof home->path)
        return false;
    memcpy(home->path, line + 1, length - 1);
    return true;
}

static void add_homes(void)
{
    char *end, *next;
    for (char *line = names_file.text; (next = next_line(line, &end)); line = next) {
        struct tv_module_span home = {0};
        if (line[0] == 'X' && read_home(line + 1, end, &home) &&
            !tv_module_history_add(&names_file.homes, &home))
            return;
    }
}

static void add_addresses(struct tv_address_table *addresses, uint32_t methods)
{
    char *end, *next, *at;
    for (char *line = names_file.text; (next = next_line(line, &end)); line = next) {
        if (line[0] != 'A' || line[1] != '\t')
            continue;
        uint64_t address = strtoull(line + 2, &at, 16), number = strtoull(at, &at, 16);
        if (number > 0 && number <= methods)
            tv_address_table_set(addresses, address, (uint32_t)number);
    }
}

static uint64_t key_address(uint64_t address, uint64_t ticks)
{
    return tv_module_history_key(&names_file.homes, address, ticks);
}

static void name_address(uint64_t key, struct tv_recording_method *method, char *room, size_t size)
{
    tv_module_history_name(&names_file.homes, key, method, room, size);
}

/* Times end with the last record: when the process was killed nobody knows. */
static void set_scale(struct tv_trace_writer *job)
{
    struct tv_buffer_header *head = job->area->head;
    uint32_t at = atomic_load(&head->late_at);
    struct tv_clock_pair late = head->late[at >> 1 & 1];
    job->scale = tv_clock_scale_between(head->counter, head->start, late);
    job->end_ns = late.ns > head->start.ns ? late.ns - head->start.ns : 0;
}

/* Not just anything that a spool names. */
static bool is_streamed(int file)
{
    char magic[4];
    return pread(file, magic, sizeof magic, 0) == (ssize_t)sizeof magic &&
           memcmp(magic, "SLOW", sizeof magic) == 0;
}

/* What the process had written of a streamed file, as far as it had said so and it is there: the
 * number of its records.  False: it is not there. */
static bool copy_streamed(struct tv_trace_writer *job, const char *part, uint64_t bytes,
                          uint64_t *records)
{
    struct stat found;
    int file = open(part, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    bool is_there = file >= 0 && fstat(file, &found) == 0 && S_ISREG(found.st_mode) &&
                    found.st_size >= (off_t)TV_MT_HEADER_SIZE && bytes >= TV_MT_HEADER_SIZE &&
                    is_streamed(file);
    size_t size =
        is_there && (uint64_t)found.st_size < bytes ? (size_t)found.st_size : (size_t)bytes;
    void *at = is_there ? mmap(NULL, size, PROT_READ, MAP_PRIVATE, file, 0) : MAP_FAILED;
    if (file >= 0)
        close(file);
    if (at == MAP_FAILED)
        return false;
    *records = tv_trace_stream_resume(job, at, size);
    munmap(at, size);
    return true;
}

/* PATH.part, or PATH.PID.part. */
static void name_part(const struct tv_buffer_header *head, char *part, size_t size)
{
    if (head->part_pid)
        snprintf(part, size, "%s.%u.part", head->path, head->pid);
    else
        snprintf(part, size, "%s.part", head->path);
}

/* The file as it was, the records that had not come to it, and an end. */
static int write_streamed(struct tv_trace_writer *job, uint64_t *lost)
{
    uint64_t records = 0;
    const struct tv_buffer_header *head = job->area->head;
    struct tv_stream_progress done = head->streamed[atomic_load(&head->streamed_at) & 1];
    char part[TV_RECOVER_PATH + 32];
    name_part(head, part, sizeof part);
    if (head->scale.ns_per_tick > 0 && head->scale.ns_per_tick < 1e6)
        job->scale = head->scale;
    if (!copy_streamed(job, part, done.bytes, &records))
        tv_trace_stream_begin(job);
    job->written = records;
    *lost = done.records > records ? done.records - records : 0;
    for (uint32_t i = 1; i <= atomic_load(&head->next_chunk); i++)
        if (i != done.chunk && job->area->chunks[i - 1].thread - 1 < atomic_load(&head->threads))
            tv_trace_stream_chunk(job, i);
    return tv_trace_stream_end(job);
}

static int write_records(struct tv_trace_writer *job, uint64_t *lost)
{
    bool streamed = job->area->head->full == TV_RECORDING_STREAM;
    return streamed ? write_streamed(job, lost) : tv_trace_writer_write(job);
}

/* What is left of the process's own file has nothing more. */
static void remove_part(const struct tv_buffer_header *head)
{
    struct stat found;
    char part[TV_RECOVER_PATH + 32];
    name_part(head, part, sizeof part);
    int file = open(part, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (file < 0)
        return;
    bool streamed = head->full == TV_RECORDING_STREAM && is_streamed(file);
    if (streamed || (fstat(file, &found) == 0 && S_ISREG(found.st_mode) && found.st_size == 0))
        unlink(part);
    close(file);
}

/* That of the recording, or with the process's number when it is taken: what lies there may be
 * another's. */
static void find_name(const struct tv_buffer_header *head, char *path)
{
    const char *name = head->path, *dot = strrchr(name, '.'), *slash = strrchr(name, '/');
    int stem = dot && (!slash || dot > slash) ? (int)(dot - name) : (int)strlen(name);
    snprintf(path, TV_RECOVER_PATH, "%s", name);
    for (int i = 1; i < NAMES && access(path, F_OK) == 0; i++) {
        char more[32] = "";
        if (i > 1)
            snprintf(more, sizeof more, "-%d", i);
        snprintf(path, TV_RECOVER_PATH, "%.*s.%u%s%s", stem, name, head->pid, more, name + stem);
    }
}

static int write_trace(struct tv_trace_writer *job, const char *path, uint64_t *lost)
{
    struct tv_output_file file;
    char part[TV_RECOVER_PATH + 16];
    snprintf(part, sizeof part, "%s.recovered", path);
    int failed = tv_output_file_check_path(path);
    if (failed == 0)
        failed = tv_output_file_open(&file, part, 0644);
    if (failed != 0)
        return failed;
    job->sink = tv_output_buffer_new(&file);
    failed = job->sink ? write_records(job, lost) : -ENOMEM;
    if (failed == 0 && job->unnamed > 0)
        failed = -ENOMEM; /* the spool still has them */
    if (failed == 0)
        failed = tv_output_buffer_flush(job->sink);
    tv_output_buffer_free(job->sink);
    if (failed == 0)
        failed = tv_output_file_publish(&file, part, path);
    if (failed != 0)
        unlink(part);
    else if (*lost == 0)
        remove_part(job->area->head);
    tv_output_file_close(&file);
    return failed;
}

static int recover(struct tv_trace_buffer *area, const char *output, char *path,
                   struct tv_recording_info *info)
{
    struct tv_method_table methods = {0};
    struct tv_address_table addresses = {0};
    struct tv_trace_writer job = {.area = area,
                               .methods = &methods,
                               .addresses = &addresses,
                               .key = key_address,
                               .namer = name_address};
    if (output)
        snprintf(path, TV_RECOVER_PATH, "%s", output);
    else
        find_name(area->head, path);
    add_methods(&methods);
    add_homes();
    add_addresses(&addresses, methods.count);
    set_scale(&job);
    uint64_t lost = 0;
    int failed = write_trace(&job, path, &lost);
    *info = (struct tv_recording_info){.records = job.written,
                                       .threads = atomic_load(&area->head->threads),
                                       .overhead_ns = area->head->overhead_ns,
                                       .overflow = atomic_load(&area->head->overflow),
                                       .lost = lost};
    tv_trace_writer_release(&job);
    tv_method_table_release(&methods);
    tv_address_table_release(&addresses);
    return failed;
}

/* Where it could not lock the spool, its number says so, which may be another's by now. */
static bool still_runs(const struct tv_buffer_header *head)
{
    return !head->locked && (kill((pid_t)head->pid, 0) == 0 || errno == EPERM);
}

int tv_recorder_recover(const char *spool, const char *names, const char *output, char *path,
                        struct tv_recording_info *info)
{
    struct tv_trace_buffer area = {0};
    path[0] = '\0';
    int file = open(spool, O_RDONLY | O_CLOEXEC);
    if (file < 0)
        return -errno;
    int failed = flock(file, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK ? -EBUSY : 0;
    if (failed == 0)
        failed = tv_trace_buffer_open(&area, file);
    if (failed == 0 && still_runs(area.head))
        failed = -EBUSY;
    if (failed == 0)
        failed = read_names(names);
    if (failed == 0)
        failed = recover(&area, output, path, info);
    tv_mmap_free(names_file.text, names_file.size);
    names_file.text = NULL;
    tv_module_history_release(&names_file.homes);
    tv_trace_buffer_release(&area);
    close(file);
    return failed;
}
