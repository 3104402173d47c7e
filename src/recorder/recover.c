/* SPDX-License-Identifier: Apache-2.0 */
/*
 * recover.c - the trace of a process that was killed.
 */
#include "recorder/recover.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "recorder/homes.h"
#include "recorder/kept.h"
#include "recorder/pages.h"
#include "recorder/trace_file.h"

#define NAMES_LIMIT ((off_t)1 << 30)

/* The names file, for the namer, which is handed an address alone. */
static struct {
    char *text;
    size_t size;
    struct tv_homes homes;
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
        names_file.text = tv_recorder_pages_new(names_file.size);
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

static void add_methods(struct tv_method_list *methods)
{
    char *end, *next;
    for (char *line = names_file.text; (next = next_line(line, &end)); line = next)
        if (line[0] == 'M' && line[1] == '\t')
            tv_method_list_add_line(methods, line + 2, (size_t)(end - line - 2));
}

/* "X\tSTART\tEND\tBIAS\tFROM\tTO\tPATH"; false: the line has another form. */
static bool read_home(const char *line, const char *end, struct tv_home *home)
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
        struct tv_home home = {0};
        if (line[0] == 'X' && read_home(line + 1, end, &home) &&
            !tv_homes_add(&names_file.homes, &home))
            return;
    }
}

static uint64_t key_address(uint64_t address, uint64_t ticks)
{
    return tv_homes_key(&names_file.homes, address, ticks);
}

static void name_address(uint64_t key, struct tv_recording_method *method, char *room, size_t size)
{
    tv_homes_name(&names_file.homes, key, method, room, size);
}

/* Times end with the last record: when the process was killed nobody knows. */
static void set_scale(struct tv_trace_job *job)
{
    struct tv_area_head *head = job->area->head;
    uint32_t at = atomic_load(&head->late_at);
    struct tv_clock_pair late = head->late[at >> 1 & 1];
    job->scale = tv_clock_scale_of(head->counter, head->start, late);
    job->end_ns = late.ns > head->start.ns ? late.ns - head->start.ns : 0;
}

static int write_trace(struct tv_trace_job *job, const char *path)
{
    struct tv_kept file;
    char part[TV_RECOVER_PATH + 8];
    snprintf(part, sizeof part, "%s.part", path);
    int failed = tv_kept_check_path(path);
    if (failed == 0)
        failed = tv_kept_open(&file, part, 0644);
    if (failed != 0)
        return failed;
    job->sink = tv_sink_buffer_new(&file);
    failed = job->sink ? tv_recorder_file_write(job) : -ENOMEM;
    if (failed == 0)
        failed = tv_sink_buffer_flush(job->sink);
    tv_sink_buffer_free(job->sink);
    if (failed == 0 && rename(part, path) != 0)
        failed = -errno;
    if (failed != 0)
        unlink(part);
    tv_kept_close(&file);
    return failed;
}

static int recover(struct tv_area *area, const char *output, char *path,
                   struct tv_recording_info *info)
{
    struct tv_method_list methods = {0};
    struct tv_address_list addresses = {0};
    struct tv_trace_job job = {.area = area,
                               .methods = &methods,
                               .addresses = &addresses,
                               .key = key_address,
                               .namer = name_address};
    snprintf(path, TV_RECOVER_PATH, "%s", output ? output : area->head->path);
    if (area->head->full == TV_RECORDING_STREAM)
        return -ENOTSUP;
    add_methods(&methods);
    add_homes();
    set_scale(&job);
    int failed = write_trace(&job, path);
    *info = (struct tv_recording_info){.records = job.written,
                                       .threads = atomic_load(&area->head->threads),
                                       .overhead_ns = area->head->overhead_ns,
                                       .overflow = atomic_load(&area->head->overflow)};
    tv_trace_job_release(&job);
    tv_method_list_free(&methods);
    tv_address_list_free(&addresses);
    return failed;
}

int tv_recorder_recover(const char *spool, const char *names, const char *output, char *path,
                        struct tv_recording_info *info)
{
    struct tv_area area = {0};
    path[0] = '\0';
    int file = open(spool, O_RDONLY | O_CLOEXEC);
    if (file < 0)
        return -errno;
    int failed = tv_area_open(&area, file);
    close(file);
    if (failed != 0)
        return failed;
    failed = read_names(names);
    if (failed == 0)
        failed = recover(&area, output, path, info);
    tv_recorder_pages_free(names_file.text, names_file.size);
    names_file.text = NULL;
    tv_homes_free(&names_file.homes);
    tv_area_free(&area);
    return failed;
}
