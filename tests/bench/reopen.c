/* SPDX-License-Identifier: Apache-2.0 */
/*
 * reopen.c - reopen FILE INDEX: how long a trace takes the first time, how long its index takes to
 * write, and how long the trace takes from there.
 *
 * read_s       from opening the file to a trace
 * view_s       what its view prepares
 * write_s      writing INDEX, and index_bytes, its size
 * reopen_s     from opening INDEX to a trace, the median of several
 * again_s      and to a view
 * ..._cpu_s    processor time of the same, of all threads: where others use the machine as well
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "base/file.h"
#include "base/memory.h"
#include "index/index.h"
#include "readers/reader.h"
#include "view/view.h"

#define ROUNDS 9

#define KEY TV_BYTES("measured")

static double clock_at(clockid_t clock)
{
    struct timespec time;
    clock_gettime(clock, &time);
    return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

static double now(void)
{
    return clock_at(CLOCK_MONOTONIC);
}

static double processor_time(void)
{
    return clock_at(CLOCK_PROCESS_CPUTIME_ID);
}

/* One reopening. */
struct round {
    double trace_s, view_s, trace_cpu_s, view_cpu_s;
};

static _Noreturn void die(const char *path, const struct tv_error *err)
{
    fprintf(stderr, "reopen: %s: %s\n", path, err->message);
    exit(1);
}

static struct tv_trace *load(const char *path)
{
    struct tv_error err = {0};
    struct tv_source *source;
    struct tv_trace_info *head = tv_trace_info_new();
    struct tv_builder *builder = tv_builder_new(head);
    struct tv_read_options options = {.parts = 0};
    enum tv_status status = tv_source_open_file(path, &source, &err);
    if (status == TV_OK)
        status = tv_readers_can_stream(source)
                     ? tv_readers_read(source, head, tv_builder_sink(builder), &options, &err)
                     : tv_readers_build(source, builder, &options, &err);
    if (status != TV_OK)
        die(path, &err);
    struct tv_trace *trace = tv_builder_finish(builder);
    tv_trace_keep_source(trace, source);
    return trace;
}

static enum tv_status write_file(void *context, struct tv_bytes bytes, struct tv_error *err)
{
    int fd = *(const int *)context;
    while (bytes.length > 0) {
        ssize_t n = write(fd, bytes.data, bytes.length);
        if (n < 0)
            return tv_fail(err, TV_ERR_IO, TV_NO_OFFSET, "cannot write");
        bytes.data += n;
        bytes.length -= (size_t)n;
    }
    return TV_OK;
}

static void add_view(const void *context, struct tv_sections_writer *writer)
{
    tv_view_store(context, writer);
}

static void write_index(const char *path, const struct tv_trace *trace, const struct tv_view *view)
{
    struct tv_error err = {0};
    struct tv_out out;
    struct tv_index_more more = {add_view, view};
    int fd = open(path, O_CREAT | O_TRUNC | O_WRONLY | O_CLOEXEC, 0600);
    tv_out_init(&out, write_file, &fd);
    double before = now();
    if (tv_index_write(trace, KEY, &more, &out, &err) != TV_OK)
        die(path, &err);
    printf("write_s %.3f\nindex_bytes %llu\n", now() - before, (unsigned long long)out.total);
    tv_out_release(&out);
    close(fd);
}

static struct round reopen(const char *path)
{
    struct tv_error err = {0};
    struct tv_sections_memory memory = {.release = tv_file_unmap};
    struct tv_trace *trace;
    struct round round;
    double before = now(), used = processor_time();
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (tv_file_map(fd, &memory.bytes, &err) != TV_OK ||
        tv_index_read(&memory, KEY, NULL, &trace, &err) != TV_OK)
        die(path, &err);
    close(fd);
    round.trace_s = now() - before;
    round.trace_cpu_s = processor_time() - used;
    struct tv_view *view = tv_view_new(trace);
    round.view_s = now() - before;
    round.view_cpu_s = processor_time() - used;
    tv_view_free(view);
    tv_trace_free(trace);
    return round;
}

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void print_median(const char *name, const struct round *rounds, size_t place)
{
    double values[ROUNDS];
    for (size_t i = 0; i < ROUNDS; i++)
        values[i] = *(const double *)((const char *)&rounds[i] + place);
    qsort(values, ROUNDS, sizeof *values, compare);
    printf("%s %.3f\n", name, values[ROUNDS / 2]);
}

int main(int argc, char **argv)
{
    struct round rounds[ROUNDS];
    if (argc != 3) {
        fputs("usage: reopen FILE INDEX\n", stderr);
        return 2;
    }
    double before = now();
    struct tv_trace *trace = load(argv[1]);
    printf("read_s %.3f\n", now() - before);
    before = now();
    struct tv_view *view = tv_view_new(trace);
    printf("view_s %.3f\nslices %llu\npaths %u\nstrings %u\n", now() - before,
           (unsigned long long)trace->slice_count, trace->paths.count,
           tv_interner_count(trace->head->strings));
    write_index(argv[2], trace, view);
    tv_view_free(view);
    tv_trace_free(trace);
    for (int i = 0; i < ROUNDS; i++)
        rounds[i] = reopen(argv[2]);
    print_median("reopen_s", rounds, offsetof(struct round, trace_s));
    print_median("again_s", rounds, offsetof(struct round, view_s));
    print_median("reopen_cpu_s", rounds, offsetof(struct round, trace_cpu_s));
    print_median("again_cpu_s", rounds, offsetof(struct round, view_cpu_s));
    return 0;
}
