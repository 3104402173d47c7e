/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_failing_reads.c - each read of a file fails in turn.
 *
 *     test-failing-reads PATH...     each PATH a file, or a directory of files
 *
 * A disk that cannot be read, or a pipe that breaks, must never look like a shorter trace: reading
 * into a trace and visiting the records end with that error.  Events that are read again later,
 * when the file cannot be read any more or has other bytes, are described or give an error.  A
 * reader that the user stops says so, or had finished.
 */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/bytes.h"
#include "base/memory.h"
#include "base/workers.h"
#include "cases.h"
#include "model/builder/builder.h"
#include "readers/reader.h"

#define NEVER UINT64_MAX
#define MAX_DESCRIBED 64

static unsigned tests, failures;

/* A file on a disk whose read number `fails_at` fails, and all after it. */
struct disk {
    struct tv_bytes bytes;
    uint64_t reads, fails_at;
    bool changed; /* somebody has written zeros into the file */
};

static enum tv_status disk_read(void *context, uint64_t offset, void *buffer, size_t size,
                                struct tv_error *err)
{
    struct disk *disk = context;
    if (disk->reads++ >= disk->fails_at)
        return tv_fail(err, TV_ERR_IO, TV_NO_OFFSET, "the disk is broken");
    if (disk->changed)
        memset(buffer, 0, size);
    else
        memcpy(buffer, disk->bytes.data + offset, size);
    return TV_OK;
}

static struct tv_source *disk_open(struct disk *disk)
{
    static const struct tv_source_reads reads = {.read = disk_read};
    disk->reads = 0;
    return tv_source_from_reads(&reads, disk, disk->bytes.length, "disk");
}

/* A pipe that breaks once `breaks_at` bytes have come. */
struct broken_pipe {
    struct tv_bytes bytes;
    uint64_t breaks_at;
};

static enum tv_status pipe_grow(void *context, uint64_t wanted, uint64_t *size, bool *ended,
                                struct tv_error *err)
{
    const struct broken_pipe *pipe = context;
    *ended = wanted > pipe->breaks_at;
    *size = *ended ? pipe->breaks_at : wanted;
    return *ended ? tv_fail(err, TV_ERR_IO, TV_NO_OFFSET, "the pipe is broken") : TV_OK;
}

static enum tv_status pipe_read(void *context, uint64_t offset, void *buffer, size_t size,
                                struct tv_error *err)
{
    const struct broken_pipe *pipe = context;
    (void)err;
    memcpy(buffer, pipe->bytes.data + offset, size);
    return TV_OK;
}

/* ---- Ways to read ---- */

static enum tv_status build(struct tv_source *source, unsigned parts, struct tv_progress *progress,
                            struct tv_error *err)
{
    struct tv_read_options options = {.parts = parts, .progress = progress};
    struct tv_builder *builder = tv_builder_new(tv_trace_info_new());
    struct tv_reading reading = {tv_builder_trace_info(builder), tv_builder_sink(builder), builder,
                                 NULL};
    struct tv_reading_input input = {.source = source};
    enum tv_status status = tv_reading_add(&reading, &input, &options, err);
    tv_builder_free(builder);
    return status;
}

static enum tv_status build_in_one(struct tv_source *source, struct tv_error *err)
{
    return build(source, 1, NULL, err);
}

static enum tv_status build_in_three(struct tv_source *source, struct tv_error *err)
{
    return build(source, 3, NULL, err);
}

static void begin_input(struct tv_record_visitor *visitor, const struct tv_trace_info *head,
                        uint32_t input)
{
    (void)visitor;
    (void)head;
    (void)input;
}

static void take_event(struct tv_record_visitor *visitor, struct tv_te_record *record)
{
    (void)visitor;
    (void)record;
}

static void take_member(struct tv_record_visitor *visitor, struct tv_te_member_record *beside)
{
    (void)visitor;
    (void)beside;
}

static void take_line(struct tv_record_visitor *visitor, const struct tv_ft_record *record)
{
    (void)visitor;
    (void)record;
}

static void take_packet(struct tv_record_visitor *visitor, const struct tv_pf_record *record)
{
    (void)visitor;
    (void)record;
}

static enum tv_status visit_records(struct tv_source *source, struct tv_error *err)
{
    struct tv_record_visitor visitor = {.begin = begin_input,
                                        .take_event = take_event,
                                        .take_member = take_member,
                                        .take_line = take_line,
                                        .take_packet = take_packet};
    struct tv_read_options options = {.parts = 1};
    struct tv_builder *builder = tv_builder_new(tv_trace_info_new());
    struct tv_reading reading = {tv_builder_trace_info(builder), tv_builder_sink(builder), builder,
                                 &visitor};
    struct tv_reading_input input = {.source = source};
    enum tv_status status = tv_reading_add(&reading, &input, &options, err);
    tv_builder_free(builder);
    return status;
}

/* ---- Tests ---- */

static void report(bool good, const char *name, const char *what)
{
    printf("%sok %u - %s: %s\n", good ? "" : "not ", ++tests, name, what);
    fflush(stdout);
    failures += !good;
}

typedef enum tv_status read_whole(struct tv_source *source, struct tv_error *err);

static bool fails_with_each_read(struct disk *disk, read_whole *read)
{
    struct tv_error err = {0};
    disk->fails_at = NEVER;
    struct tv_source *source = disk_open(disk);
    enum tv_status whole = read(source, &err);
    tv_source_free(source);
    uint64_t count = disk->reads;
    for (uint64_t i = 0; i < count; i++) {
        disk->fails_at = i;
        source = disk_open(disk);
        enum tv_status status = read(source, &err);
        tv_source_free(source);
        /* A fault of the file itself may be found before its last bytes are read. */
        if (status != TV_ERR_IO && (whole == TV_OK || status != whole)) {
            printf("# read %u of %u: status %d %s\n", (unsigned)i, (unsigned)count, (int)status,
                   status == TV_OK ? "" : err.message);
            return false;
        }
    }
    return true;
}

/* At some thirty places of the file. */
static bool fails_with_the_pipe(const struct disk *disk, read_whole *read)
{
    static const struct tv_source_growth growth = {.reads = {.read = pipe_read}, .grow = pipe_grow};
    struct tv_error err = {0};
    struct broken_pipe pipe = {.bytes = disk->bytes};
    for (; pipe.breaks_at < disk->bytes.length; pipe.breaks_at += 1 + disk->bytes.length / 32) {
        struct tv_source *source = tv_source_from_growth(&growth, &pipe, "pipe");
        enum tv_status status = read(source, &err);
        tv_source_free(source);
        if (status == TV_OK) {
            printf("# the pipe broke after %u bytes\n", (unsigned)pipe.breaks_at);
            return false;
        }
    }
    return true;
}

/* The places are those of the first reading, whatever the file holds by now. */
static void describe_events(const struct tv_trace *trace)
{
    struct tv_error err;
    struct tv_out out;
    tv_out_init_memory(&out);
    for (uint32_t input = 0; input < trace->head->input_count; input++) {
        tv_describe *describe = trace->head->inputs[input].describe;
        for (size_t i = 0; describe && i < trace->tables.instants.count && i < MAX_DESCRIBED; i++)
            (void)!describe(trace, input, trace->tables.instants.rows[i].offset, TV_NO_OFFSET, &out,
                            &err);
        for (size_t i = 0; describe && i < trace->tables.samples.count && i < MAX_DESCRIBED; i++)
            (void)!describe(trace, input, trace->tables.samples.rows[i].offset, TV_NO_OFFSET, &out,
                            &err);
    }
    tv_out_release(&out);
}

/* Describe events again when the file has changed or cannot be read: a crash, or a sanitizer, tells
 * what is wrong. */
static void describe_later(struct disk *disk)
{
    struct tv_error err;
    struct tv_read_options options = {.parts = 1};
    disk->fails_at = NEVER;
    struct tv_source *source = disk_open(disk);
    struct tv_builder *builder = tv_builder_new(tv_trace_info_new());
    if (tv_readers_build(source, builder, &options, &err) != TV_OK) {
        tv_builder_free(builder);
        tv_source_free(source);
        return;
    }
    struct tv_trace *trace = tv_builder_finish(builder);
    describe_events(trace);
    disk->changed = true;
    describe_events(trace);
    disk->changed = false;
    disk->fails_at = disk->reads;
    describe_events(trace);
    tv_trace_free(trace);
    tv_source_free(source);
}

static bool stops_on_request(struct disk *disk, unsigned parts)
{
    struct tv_error err;
    struct tv_progress progress = {0};
    disk->fails_at = NEVER;
    struct tv_source *source = disk_open(disk);
    enum tv_status whole = build(source, parts, &progress, &err);
    atomic_store(&progress.cancel, true);
    enum tv_status status = build(source, parts, &progress, &err);
    tv_source_free(source);
    if (status != TV_ERR_CANCELLED)
        printf("# %d then %d\n", (int)whole, (int)status);
    return status == TV_ERR_CANCELLED || status == whole;
}

static void test_file(const char *path)
{
    struct tv_out bytes;
    tv_out_init_memory(&bytes);
    cases_read_file(path, &bytes);
    struct disk disk = {.bytes = {bytes.buffer, bytes.length}};
    report(fails_with_each_read(&disk, build_in_one), path, "reading fails");
    report(fails_with_each_read(&disk, build_in_three), path, "reading in parts fails");
    report(fails_with_each_read(&disk, visit_records), path, "visiting the records fails");
    report(fails_with_the_pipe(&disk, build_in_one), path, "the pipe breaks");
    report(fails_with_the_pipe(&disk, visit_records), path, "the pipe breaks, records");
    report(stops_on_request(&disk, 1) && stops_on_request(&disk, 3), path, "stops");
    describe_later(&disk);
    tv_out_release(&bytes);
}

static void test_path(const char *path)
{
    struct stat status;
    struct dirent **entries;
    if (stat(path, &status) == 0 && !S_ISDIR(status.st_mode)) {
        test_file(path);
        return;
    }
    int count = scandir(path, &entries, NULL, alphasort);
    for (int i = 0; i < count; i++) {
        char inner[4096];
        snprintf(inner, sizeof inner, "%s/%s", path, entries[i]->d_name);
        if (entries[i]->d_name[0] != '.')
            test_file(inner);
        free(entries[i]);
    }
    if (count > 0)
        free(entries);
}

int main(int argc, char **argv)
{
    tv_workers_run_inline(true);
    for (int i = 1; i < argc; i++)
        test_path(argv[i]);
    printf("1..%u\n", tests);
    return failures > 0 || tests == 0;
}
