/* SPDX-License-Identifier: Apache-2.0 */
/*
 * spool.c - the spool of a killed program, however it was damaged, is refused or becomes a trace
 * that can be read.
 *
 * The input is changes to a sound spool, each CHANGE bytes, as many as the first byte says; the
 * rest is the names file.
 */
#include <fcntl.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "model/builder/builder.h"
#include "readers/reader.h"
#include "recorder/recording.h"
#include "recorder/trace_buffer.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define RECORDS 512u
#define WORDS 3u
#define USED_THREADS 3u
#define METHODS 3u

/* One change: a byte chooses the file, two the offset, eight are written there. */
#define CHANGE 11u
#define MAX_CHANGES 16u

struct folder {
    char path[64], spool[96], names[96], output[96];
    struct tv_trace_buffer buffer;
    uint32_t chunks;
    int file;
};

static void require(bool holds, const char *what)
{
    if (holds)
        return;
    perror(what);
    abort();
}

static void remove_folder(void);
static struct folder folder;

static void make_folder(void)
{
    snprintf(folder.path, sizeof folder.path, "%s/fuzz-spool-XXXXXX",
             access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp");
    require(mkdtemp(folder.path) != NULL, "folder");
    snprintf(folder.spool, sizeof folder.spool, "%s/x.spool", folder.path);
    snprintf(folder.names, sizeof folder.names, "%s/x.names", folder.path);
    snprintf(folder.output, sizeof folder.output, "%s/x.trace", folder.path);
    atexit(remove_folder);
    folder.file = open(folder.spool, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    require(folder.file >= 0 &&
                tv_trace_buffer_init(&folder.buffer, RECORDS, WORDS, folder.file) == 0,
            "spool");
    folder.chunks = folder.buffer.head->chunks;
}

static void remove_folder(void)
{
    unlink(folder.spool);
    unlink(folder.names);
    unlink(folder.output);
    rmdir(folder.path);
}

/* Calls of each thread, one in the other, and their ends. */
static void fill_thread(uint32_t thread)
{
    struct tv_trace_buffer *buffer = &folder.buffer;
    uint32_t chunk = tv_trace_buffer_claim_chunk(buffer, thread, TV_BUFFER_CHUNK_MIN);
    uint64_t *record = tv_trace_buffer_record(buffer, buffer->chunks[chunk - 1].first);
    for (uint64_t i = 0; i < 2 * METHODS; i++, record += WORDS) {
        uint64_t method = i < METHODS ? i + 1 : 2 * METHODS - i;
        record[0] = method << 2 | (i >= METHODS);
        record[1] = record[2] = (i + 1) * 1000000 * thread;
    }
    tv_trace_buffer_append_chunk(buffer, thread, chunk);
    snprintf(buffer->threads[thread - 1].name, TV_BUFFER_NAME, "thread %u", thread);
}

/* Undo the changes of the run before. */
static void restore(void)
{
    struct tv_trace_buffer *buffer = &folder.buffer;
    memset(buffer->head, 0, sizeof *buffer->head);
    memset(buffer->threads, 0, TV_BUFFER_THREADS_MAX * sizeof *buffer->threads);
    memset(buffer->chunks, 0, folder.chunks * sizeof *buffer->chunks);
    memset(buffer->records, 0, RECORDS * WORDS * sizeof *buffer->records);
    buffer->head->magic = TV_SPOOL_MAGIC;
    buffer->head->pid = 1;
    buffer->head->locked = 1;
    buffer->head->words = WORDS;
    buffer->head->records = RECORDS;
    buffer->head->chunks = folder.chunks;
    buffer->head->clock = TV_RECORDING_DUAL;
    buffer->head->start_us = 1000000;
    buffer->head->late[0].ns = 1000000000;
    buffer->head->threads = USED_THREADS;
    for (uint32_t thread = 1; thread <= USED_THREADS; thread++)
        fill_thread(thread);
}

static void change(const uint8_t *bytes)
{
    struct tv_trace_buffer *buffer = &folder.buffer;
    struct {
        void *from;
        size_t size;
    } const parts[] = {
        {buffer->head, offsetof(struct tv_buffer_header, path)},
        {&buffer->head->part_pid,
         sizeof *buffer->head - offsetof(struct tv_buffer_header, part_pid)},
        {buffer->threads, 8 * sizeof *buffer->threads},
        {buffer->chunks, 8 * sizeof *buffer->chunks},
        {buffer->records, RECORDS * WORDS * sizeof *buffer->records},
    };
    size_t part = bytes[0] % TV_COUNT(parts), room = parts[part].size - sizeof(uint64_t);
    size_t place = (bytes[1] | (size_t)bytes[2] << 8) % (room + 1);
    memcpy((uint8_t *)parts[part].from + place, bytes + 3, sizeof(uint64_t));
}

static void write_names(const uint8_t *names, size_t size)
{
    static const char usual[] = "M\tpkg.A\ta\t()V\tA.java\t1\nM\tpkg.B\tb\t()V\tB.java\t2\n"
                                "M\tpkg.C\tc\t()V\tC.java\t3\n";
    int file = open(folder.names, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    require(file >= 0, "names");
    if (size == 0)
        require(write(file, usual, sizeof usual - 1) == (ssize_t)sizeof usual - 1, "names");
    else
        require(write(file, names, size) == (ssize_t)size, "names");
    close(file);
}

static void read_trace(void)
{
    struct tv_read_options options = {.parts = 1};
    struct tv_error err = {0};
    struct tv_source *source;
    require(tv_source_open_file(folder.output, &source, &err) == TV_OK, "trace");
    struct tv_builder *builder = tv_builder_new(tv_trace_info_new());
    if (tv_readers_build(source, builder, &options, &err) != TV_OK) {
        fprintf(stderr, "what was recovered cannot be read: %s\n", err.message);
        abort();
    }
    tv_trace_free(tv_builder_finish(builder));
    tv_source_free(source);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char path[TV_RECOVER_PATH];
    struct tv_recording_info info;
    if (size == 0)
        return -1;
    if (folder.path[0] == '\0')
        make_folder();
    restore();
    size_t changes = data[0] % (MAX_CHANGES + 1);
    data++;
    size--;
    for (; changes > 0 && size >= CHANGE; changes--, data += CHANGE, size -= CHANGE)
        change(data);
    folder.buffer.head->locked = 1; /* no process is looked for */
    write_names(data, size);
    if (tv_recorder_recover(folder.spool, folder.names, folder.output, path, &info) == 0)
        read_trace();
    unlink(folder.output);
    return 0;
}
