/* SPDX-License-Identifier: Apache-2.0 */
/*
 * uploaded_files.c - the files that traces are made of: from the command line, or uploaded by the
 * page.
 *
 * An upload grows chunk by chunk in a spool, and becomes a source when it is complete. While a
 * chunk is in progress, only that chunk touches the spool, without the lock; so a file that is
 * dropped meanwhile is only marked, and removed when the chunk ends.
 *
 *     begun -> [ chunk -> ]* complete -> used by a session -> dropped
 *                  |         spool -> source, by reference: a session keeps it alive
 *                  '-- dropped: marked; freed by the chunk
 *
 * Numbers are never used again.  A page that still knows the number of a dropped file gets "no such
 * file" and not the contents of another one.
 */
#include "viewer/internal.h"

#include <assert.h>
#include <inttypes.h>
#include <pthread.h>
#include <string.h>
#include <time.h>

#include "base/bytes.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/memory.h"
#include "base/out.h"
#include "base/source.h"

/* A file, complete or growing. Pointers to entries stay valid while the list changes. */
struct uploaded_file_entry {
    uint32_t number;
    char name[TV_UPLOADED_NAME + 1];
    bool own;
    bool busy;    /* a chunk is in progress */
    bool dropped; /* to be removed when the chunk ends */
    uint64_t bytes, held;
    struct tv_spool *spool;   /* until the file is complete */
    struct tv_source *source; /* after that */
    time_t touched;
};

struct tv_uploaded_files {
    pthread_mutex_t lock;
    struct uploaded_file_entry **entries; /* in ascending order of their numbers */
    size_t count, capacity;
    uint32_t next;
};

struct tv_uploaded_chunk {
    struct tv_uploaded_files *files;
    struct uploaded_file_entry *file;
    uint64_t held;
    struct tv_error error;
};

struct tv_uploaded_files *tv_uploaded_files_new(void)
{
    struct tv_uploaded_files *files = tv_alloc(1, sizeof *files);
    pthread_mutex_init(&files->lock, NULL);
    return files;
}

/* Free a file that no chunk is writing to. */
static void uploaded_file_free(struct uploaded_file_entry *file)
{
    assert(!file->busy);
    tv_spool_free(file->spool);
    if (file->source)
        tv_source_free(file->source);
    tv_free(file);
}

void tv_uploaded_files_free(struct tv_uploaded_files *files)
{
    if (!files)
        return;
    for (size_t i = 0; i < files->count; i++)
        uploaded_file_free(files->entries[i]);
    tv_free(files->entries);
    pthread_mutex_destroy(&files->lock);
    tv_free(files);
}

/* Copy the name. A cut within a UTF-8 character drops the whole character. */
static void uploaded_file_set_name(struct uploaded_file_entry *file, struct tv_bytes name)
{
    size_t length = name.length < TV_UPLOADED_NAME ? name.length : TV_UPLOADED_NAME;
    while (length > 0 && length < name.length && (name.data[length] & 0xc0) == 0x80)
        length--;
    if (length > 0)
        memcpy(file->name, name.data, length);
    file->name[length] = '\0';
}

/* Add a file with the next number; numbers are never used again. Runs under the lock. */
static struct uploaded_file_entry *uploaded_files_append(struct tv_uploaded_files *files,
                                                         struct tv_bytes name)
{
    struct uploaded_file_entry *file = tv_alloc(1, sizeof *file);
    uploaded_file_set_name(file, name);
    file->number = files->next++;
    files->entries = tv_array_reserve(files->entries, &files->capacity, files->count + 1,
                                      sizeof *files->entries);
    files->entries[files->count++] = file;
    return file;
}

void tv_uploaded_files_add_own(struct tv_uploaded_files *files, const char *name)
{
    pthread_mutex_lock(&files->lock);
    uploaded_files_append(files, tv_bytes_of(name))->own = true;
    pthread_mutex_unlock(&files->lock);
}

/* Return the file, or NULL. A dropped file is gone for everybody but its chunk. Runs under the
 * lock. */
static struct uploaded_file_entry *uploaded_files_find(const struct tv_uploaded_files *files,
                                                       uint32_t number)
{
    for (size_t i = 0; i < files->count; i++)
        if (files->entries[i]->number == number && !files->entries[i]->dropped)
            return files->entries[i];
    return NULL;
}

/* Remove a file, or mark it while a chunk is in progress. Runs under the lock. */
static void uploaded_files_remove(struct tv_uploaded_files *files, struct uploaded_file_entry *file)
{
    size_t i = 0;
    if (file->busy) {
        file->dropped = true;
        return;
    }
    while (files->entries[i] != file)
        i++;
    memmove(&files->entries[i], &files->entries[i + 1],
            (--files->count - i) * sizeof(struct uploaded_file_entry *));
    uploaded_file_free(file);
}

void tv_uploaded_files_drop(struct tv_uploaded_files *files, uint32_t number)
{
    pthread_mutex_lock(&files->lock);
    struct uploaded_file_entry *file = uploaded_files_find(files, number);
    if (file && !file->own)
        uploaded_files_remove(files, file);
    pthread_mutex_unlock(&files->lock);
}

/* Make room for one more upload: drop abandoned ones, then the oldest complete one. False: all are
 * in progress. */
static bool uploaded_files_make_room(struct tv_uploaded_files *files)
{
    struct uploaded_file_entry *oldest = NULL;
    size_t uploads = 0;
    time_t time = tv_monotonic_ms() / 1000;
    for (size_t i = files->count; i-- > 0;) {
        struct uploaded_file_entry *file = files->entries[i];
        bool idle = !file->source && !file->busy && time - file->touched > TV_UPLOADED_IDLE_SECONDS;
        if (file->own)
            continue;
        if (idle) {
            uploaded_files_remove(files, file);
            continue;
        }
        uploads++;
        oldest = file->source ? file : oldest;
    }
    if (uploads < TV_UPLOADED_FILES)
        return true;
    if (oldest)
        uploaded_files_remove(files, oldest);
    return oldest != NULL;
}

enum tv_status tv_uploaded_files_add(struct tv_uploaded_files *files, struct tv_bytes name,
                                     uint64_t bytes, uint32_t *number, struct tv_error *err)
{
    struct tv_spool *spool = NULL;
    pthread_mutex_lock(&files->lock);
    enum tv_status status = TV_OK;
    if (!uploaded_files_make_room(files))
        status = tv_fail(err, TV_ERR_LIMIT, TV_NO_OFFSET, "%u files are coming at the same time",
                         TV_UPLOADED_FILES);
    char text[TV_UPLOADED_NAME + 1] = "";
    if (status == TV_OK) {
        struct uploaded_file_entry *file = uploaded_files_append(files, name);
        file->bytes = bytes;
        file->touched = tv_monotonic_ms() / 1000;
        memcpy(text, file->name, sizeof text);
        status = tv_spool_new_in_file(text, bytes, &spool, err);
        file->spool = spool;
        *number = file->number;
        if (status != TV_OK)
            uploaded_files_remove(files, file);
        else if (bytes == 0) {
            file->source = tv_spool_finish(spool);
            file->spool = NULL;
        }
    }
    pthread_mutex_unlock(&files->lock);
    return status;
}

enum tv_status tv_uploaded_chunk_begin(struct tv_uploaded_files *files, uint32_t number,
                                       uint64_t offset, struct tv_uploaded_chunk **chunk,
                                       uint64_t *held, struct tv_error *err)
{
    enum tv_status status = TV_OK;
    pthread_mutex_lock(&files->lock);
    struct uploaded_file_entry *file = uploaded_files_find(files, number);
    *held = file ? file->held : 0;
    if (!file || file->own)
        status = tv_fail(err, TV_ERR_IO, TV_NO_OFFSET, "there is no such file (any more)");
    else if (file->busy)
        status =
            tv_fail(err, TV_ERR_USAGE, TV_NO_OFFSET, "another part of this file is being received");
    else if (file->held != offset || file->source)
        status = tv_fail(err, TV_ERR_USAGE, TV_NO_OFFSET,
                         "expected the piece at byte %" PRIu64 ", found one at byte %" PRIu64,
                         file->held, offset);
    if (status == TV_OK) {
        file->busy = true;
        *chunk = tv_alloc(1, sizeof **chunk);
        **chunk = (struct tv_uploaded_chunk){.files = files, .file = file, .held = file->held};
    }
    pthread_mutex_unlock(&files->lock);
    return status;
}

void tv_uploaded_chunk_write(struct tv_uploaded_chunk *chunk, struct tv_bytes bytes)
{
    struct tv_error *err = &chunk->error;
    const struct uploaded_file_entry *file = chunk->file;
    if (err->status != TV_OK)
        return;
    if (bytes.length > file->bytes - chunk->held)
        tv_fail(err, TV_ERR_LIMIT, TV_NO_OFFSET,
                "there is more of it than the %" PRIu64 " bytes that were announced", file->bytes);
    else if (tv_spool_add(file->spool, bytes, err) == TV_OK)
        chunk->held += bytes.length;
}

enum tv_status tv_uploaded_chunk_end(struct tv_uploaded_chunk *chunk, uint64_t *held,
                                     struct tv_error *err)
{
    struct tv_uploaded_files *files = chunk->files;
    struct uploaded_file_entry *file = chunk->file;
    pthread_mutex_lock(&files->lock);
    assert(file->busy);
    enum tv_status status = chunk->error.status;
    file->busy = false;
    file->touched = tv_monotonic_ms() / 1000;
    file->held = *held = chunk->held;
    if (file->dropped && status == TV_OK)
        status = tv_fail(&chunk->error, TV_ERR_IO, TV_NO_OFFSET, "it is not wanted any more");
    if (status != TV_OK) {
        *err = chunk->error;
        uploaded_files_remove(files, file);
    } else if (file->held == file->bytes) {
        file->source = tv_spool_finish(file->spool);
        file->spool = NULL;
    }
    pthread_mutex_unlock(&files->lock);
    tv_free(chunk);
    return status;
}

bool tv_uploaded_files_get(struct tv_uploaded_files *files, uint32_t number,
                           struct tv_uploaded_file *copy)
{
    pthread_mutex_lock(&files->lock);
    struct uploaded_file_entry *file = uploaded_files_find(files, number);
    bool there = file && (file->own || file->source);
    if (there) {
        memcpy(copy->name, file->name, sizeof copy->name);
        copy->source =
            file->source ? tv_source_range(file->source, 0, file->bytes, file->name) : NULL;
    }
    pthread_mutex_unlock(&files->lock);
    return there;
}

void tv_uploaded_files_write(struct tv_uploaded_files *files, struct tv_out *out)
{
    const char *between = "[";
    pthread_mutex_lock(&files->lock);
    for (size_t i = 0; i < files->count; i++) {
        const struct uploaded_file_entry *file = files->entries[i];
        if (file->dropped || (!file->own && !file->source))
            continue;
        tv_out_format(out, "%s{\"input\":%" PRIu32 ",\"name\":", between, file->number);
        tv_out_json(out, tv_bytes_of(file->name));
        if (file->own)
            tv_out_text(out, ",\"bytes\":null}");
        else
            tv_out_format(out, ",\"bytes\":%" PRIu64 "}", file->bytes);
        between = ",";
    }
    tv_out_text(out, *between == '[' ? "[]" : "]");
    pthread_mutex_unlock(&files->lock);
}
