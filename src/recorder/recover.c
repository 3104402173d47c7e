/* SPDX-License-Identifier: Apache-2.0 */
/*
 * recover.c - the trace of a process that was killed, from its orphaned spool.
 *
 *     traceview-PID.spool --check--> trace buffer --.
 *     traceview-PID.names ---------> methods, addresses, module history --> trace writer --> trace
 *     PATH.part (streamed records) --'
 *
 * The spool is locked while its process lives.  All of its contents is untrusted: the buffer is
 * checked as a whole when it is opened, and the lines of the names file one by one.
 */
#include "recorder/recording.h"

#include <assert.h>
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

#include "recorder/memory.h"
#include "recorder/method_table.h"
#include "recorder/output_file.h"
#include "recorder/trace_file.h"

#define NAMES_FILE_MAX ((off_t)1 << 30)
#define RECOVER_NAMES_MAX 1000 /* of one pid, in one directory */

/* The names file.  Global, as the address namer gets nothing but an address. */
static struct {
    char *text;
    size_t size;
    struct tv_module_history history;
} names_file;

/* Read the spool's file of names as a whole, with a zero after it. */
static int names_read(const char *path)
{
    struct stat status;
    int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0)
        return -errno;
    int failed = fstat(file, &status) != 0 ? -errno : 0;
    if (failed == 0 && status.st_size > NAMES_FILE_MAX)
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

/* Return the next line; NULL when this one has no end, as it was being written. */
static char *names_next_line(char *line, char **end)
{
    *end = strchr(line, '\n');
    return *end ? *end + 1 : NULL;
}

/* Add the methods.  A line that is too long is damaged; it is cut and not left out, as later
 * lines would get wrong numbers. */
static void recover_add_methods(struct tv_method_table *methods)
{
    char *end, *next;
    for (char *line = names_file.text; (next = names_next_line(line, &end)); line = next) {
        size_t length = (size_t)(end - line);
        if (line[0] == 'M' && line[1] == '\t')
            tv_method_table_add_line(methods, line + 2,
                                     length - 2 < TV_METHOD_LINE ? length - 2 : TV_METHOD_LINE);
    }
}

/* Parse "\tSTART\tEND\tBIAS\tFROM\tTO\tPATH"; false: malformed. */
static bool names_parse_module(const char *line, const char *end, struct tv_module_span *span)
{
    uint64_t *const numbers[] = {&span->start, &span->end, &span->bias, &span->from, &span->to};
    char *at;
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++) {
        if (*line != '\t')
            return false;
        *numbers[i] = strtoull(line + 1, &at, 16);
        line = at;
    }
    size_t length = (size_t)(end - line);
    if (*line != '\t' || length < 2 || length > sizeof span->path)
        return false;
    memcpy(span->path, line + 1, length - 1);
    return true;
}

static void recover_add_modules(void)
{
    char *end, *next;
    for (char *line = names_file.text; (next = names_next_line(line, &end)); line = next) {
        struct tv_module_span span = {0};
        if (line[0] == 'X' && names_parse_module(line + 1, end, &span) &&
            !tv_module_history_add(&names_file.history, &span))
            return;
    }
}

/* Take the lines "A, address, number" of the names file: which method an address was. */
static void recover_add_addresses(struct tv_address_table *addresses, uint32_t methods)
{
    char *end, *next, *at;
    for (char *line = names_file.text; (next = names_next_line(line, &end)); line = next) {
        if (line[0] != 'A' || line[1] != '\t')
            continue;
        uint64_t address = strtoull(line + 2, &at, 16), number = strtoull(at, &at, 16);
        if (number > 0 && number <= methods)
            tv_address_table_set(addresses, address, (uint32_t)number);
    }
}

static uint64_t recover_address_key(uint64_t address, uint64_t ticks)
{
    return tv_module_history_key(&names_file.history, address, ticks);
}

static void recover_name_address(uint64_t key, struct tv_recording_method *method, char *room,
                                 size_t size)
{
    tv_module_history_name(&names_file.history, key, method, room, size);
}

/* Let times end with the last pair of readings: nobody knows when the process was killed. */
static void recover_set_scale(struct tv_trace_writer *writer)
{
    struct tv_buffer_header *head = writer->buffer->head;
    uint32_t at = atomic_load(&head->late_at);
    struct tv_clock_pair late = head->late[at >> 1 & 1];
    writer->scale = tv_clock_scale_between(head->counter, head->start, late);
    writer->end_ns = late.ns > head->start.ns ? late.ns - head->start.ns : 0;
}

/* Is it a trace at all?  A spool could name any file. */
static bool recover_is_streamed_file(int file)
{
    char magic[4];
    return pread(file, magic, sizeof magic, 0) == (ssize_t)sizeof magic &&
           memcmp(magic, "SLOW", sizeof magic) == 0;
}

/* Copy the streamed part as far as the spool says that it was written and the file has it;
 * `*records` is the number of its records.  False: the file is gone. */
static bool recover_copy_streamed(struct tv_trace_writer *writer, const char *part, uint64_t bytes,
                                  uint64_t *records)
{
    struct stat found;
    int file = open(part, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    bool is_there = file >= 0 && fstat(file, &found) == 0 && S_ISREG(found.st_mode) &&
                    found.st_size >= (off_t)TV_MT_HEADER_SIZE && bytes >= TV_MT_HEADER_SIZE &&
                    recover_is_streamed_file(file);
    size_t size =
        is_there && (uint64_t)found.st_size < bytes ? (size_t)found.st_size : (size_t)bytes;
    void *at = is_there ? mmap(NULL, size, PROT_READ, MAP_PRIVATE, file, 0) : MAP_FAILED;
    if (file >= 0)
        close(file);
    if (at == MAP_FAILED)
        return false;
    *records = tv_trace_stream_resume(writer, at, size);
    munmap(at, size);
    return true;
}

/* Name the partial file PATH.part or PATH.PID.part. */
static void recover_part_path(const struct tv_buffer_header *head, char *part, size_t size)
{
    if (head->part_pid)
        snprintf(part, size, "%s.%u.part", head->path, head->pid);
    else
        snprintf(part, size, "%s.part", head->path);
}

/* Write the streamed part, the records that had not been streamed, and an end. */
static int recover_write_streamed(struct tv_trace_writer *writer, uint64_t *lost)
{
    uint64_t records = 0;
    const struct tv_buffer_header *head = writer->buffer->head;
    struct tv_stream_progress done = head->streamed[atomic_load(&head->streamed_at) & 1];
    char part[TV_RECOVER_PATH + 32];
    recover_part_path(head, part, sizeof part);
    if (head->scale.ns_per_tick > 0 && head->scale.ns_per_tick < 1e6)
        writer->scale = head->scale;
    if (!recover_copy_streamed(writer, part, done.bytes, &records))
        tv_trace_stream_begin(writer);
    writer->written = records;
    *lost = done.records > records ? done.records - records : 0;
    for (uint32_t i = 1; i <= atomic_load(&head->next_chunk); i++)
        if (i != done.chunk &&
            writer->buffer->chunks[i - 1].thread - 1 < atomic_load(&head->threads))
            tv_trace_stream_chunk(writer, i);
    return tv_trace_stream_end(writer);
}

static int recover_write_records(struct tv_trace_writer *writer, uint64_t *lost)
{
    bool streamed = writer->buffer->head->full == TV_RECORDING_STREAM;
    return streamed ? recover_write_streamed(writer, lost) : tv_trace_writer_write(writer);
}

/* Remove the partial file of the process, which has nothing more to offer. */
static void recover_remove_part(const struct tv_buffer_header *head)
{
    struct stat found;
    char part[TV_RECOVER_PATH + 32];
    recover_part_path(head, part, sizeof part);
    int file = open(part, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (file < 0)
        return;
    bool streamed = head->full == TV_RECORDING_STREAM && recover_is_streamed_file(file);
    if (streamed || (fstat(file, &found) == 0 && S_ISREG(found.st_mode) && found.st_size == 0))
        unlink(part);
    close(file);
}

/* Choose the path of the recording, or one with the pid when that exists: the file there may be
 * another recording's. */
static void recover_choose_path(const struct tv_buffer_header *head, char *path)
{
    const char *name = head->path, *dot = strrchr(name, '.'), *slash = strrchr(name, '/');
    int stem = dot && (!slash || dot > slash) ? (int)(dot - name) : (int)strlen(name);
    snprintf(path, TV_RECOVER_PATH, "%s", name);
    for (int i = 1; i < RECOVER_NAMES_MAX && access(path, F_OK) == 0; i++) {
        char more[32] = "";
        if (i > 1)
            snprintf(more, sizeof more, "-%d", i);
        snprintf(path, TV_RECOVER_PATH, "%.*s.%u%s%s", stem, name, head->pid, more, name + stem);
    }
}

/* Write the trace of a spool to PATH.recovered, then rename it.  The partial file of the killed
 * recording goes only when nothing was lost. */
static int recover_write_trace(struct tv_trace_writer *writer, const char *path, uint64_t *lost)
{
    assert(writer->buffer->head);
    struct tv_output_file file;
    char part[TV_RECOVER_PATH + 16];
    snprintf(part, sizeof part, "%s.recovered", path);
    int failed = tv_output_file_check_path(path);
    if (failed == 0)
        failed = tv_output_file_open(&file, part, 0644);
    if (failed != 0)
        return failed;
    writer->out = tv_output_buffer_new(&file);
    failed = writer->out ? recover_write_records(writer, lost) : -ENOMEM;
    if (failed == 0 && writer->unnamed > 0)
        failed = -ENOMEM; /* the spool still has them */
    if (failed == 0)
        failed = tv_output_buffer_flush(writer->out);
    tv_output_buffer_free(writer->out);
    if (failed == 0)
        failed = tv_output_file_publish(&file, part, path);
    if (failed != 0)
        unlink(part);
    else if (*lost == 0)
        recover_remove_part(writer->buffer->head);
    tv_output_file_close(&file);
    return failed;
}

static int recover_trace(struct tv_trace_buffer *buffer, const char *output, char *path,
                         struct tv_recording_info *info)
{
    struct tv_method_table methods = {0};
    struct tv_address_table addresses = {0};
    struct tv_trace_writer writer = {.buffer = buffer,
                                     .methods = &methods,
                                     .addresses = &addresses,
                                     .key = recover_address_key,
                                     .namer = recover_name_address};
    if (output)
        snprintf(path, TV_RECOVER_PATH, "%s", output);
    else
        recover_choose_path(buffer->head, path);
    recover_add_methods(&methods);
    recover_add_modules();
    recover_add_addresses(&addresses, methods.count);
    recover_set_scale(&writer);
    uint64_t lost = 0;
    int failed = recover_write_trace(&writer, path, &lost);
    *info = (struct tv_recording_info){.records = writer.written,
                                       .threads = atomic_load(&buffer->head->threads),
                                       .overhead_ns = buffer->head->overhead_ns,
                                       .overflow = atomic_load(&buffer->head->overflow),
                                       .lost = lost};
    tv_trace_writer_release(&writer);
    tv_method_table_release(&methods);
    tv_address_table_release(&addresses);
    return failed;
}

/* Does the process run?  A process that could not lock its spool is looked for by its pid, which
 * may belong to another process by now. */
static bool recover_process_runs(const struct tv_buffer_header *head)
{
    return !head->locked && (kill((pid_t)head->pid, 0) == 0 || errno == EPERM);
}

int tv_recorder_recover(const char *spool, const char *names, const char *output, char *path,
                        struct tv_recording_info *info)
{
    struct tv_trace_buffer buffer = {0};
    path[0] = '\0';
    int file = open(spool, O_RDONLY | O_CLOEXEC);
    if (file < 0)
        return -errno;
    int failed = flock(file, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK ? -EBUSY : 0;
    if (failed == 0)
        failed = tv_trace_buffer_open(&buffer, file);
    if (failed == 0 && recover_process_runs(buffer.head))
        failed = -EBUSY;
    if (failed == 0)
        failed = names_read(names);
    if (failed == 0)
        failed = recover_trace(&buffer, output, path, info);
    tv_mmap_free(names_file.text, names_file.size);
    names_file.text = NULL;
    tv_module_history_release(&names_file.history);
    tv_trace_buffer_release(&buffer);
    close(file);
    return failed;
}
