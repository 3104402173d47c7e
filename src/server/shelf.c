/* SPDX-License-Identifier: Apache-2.0 */
#include "server/shelf.h"

#include <inttypes.h>
#include <pthread.h>
#include <string.h>
#include <time.h>

#include "base/bytes.h"
#include "base/file.h"
#include "base/memory.h"
#include "base/out.h"
#include "base/source.h"

struct file {
    uint32_t number;
    char name[TV_SHELF_NAME + 1];
    bool own;
    bool busy;    /* a piece is coming: only that touches the spool */
    bool dropped; /* goes when the piece has ended */
    uint64_t bytes, held;
    struct tv_spool *spool;   /* until it is whole */
    struct tv_source *source; /* then */
    time_t touched;
};

struct tv_shelf {
    pthread_mutex_t lock;
    struct file **files; /* by number */
    size_t count, capacity;
    uint32_t next;
};

struct tv_shelf_piece {
    struct tv_shelf *shelf;
    struct file *file;
    uint64_t held;
    struct tv_error error;
};

static time_t now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec;
}

struct tv_shelf *tv_shelf_new(void)
{
    struct tv_shelf *shelf = tv_alloc(1, sizeof *shelf);
    pthread_mutex_init(&shelf->lock, NULL);
    return shelf;
}

static void free_file(struct file *file)
{
    tv_spool_free(file->spool);
    if (file->source)
        tv_source_free(file->source);
    tv_free(file);
}

void tv_shelf_free(struct tv_shelf *shelf)
{
    if (!shelf)
        return;
    for (size_t i = 0; i < shelf->count; i++)
        free_file(shelf->files[i]);
    tv_free(shelf->files);
    pthread_mutex_destroy(&shelf->lock);
    tv_free(shelf);
}

/* A name that was cut within a character loses the rest of it. */
static void set_name(struct file *file, struct tv_bytes name)
{
    size_t length = name.length < TV_SHELF_NAME ? name.length : TV_SHELF_NAME;
    while (length > 0 && length < name.length && (name.data[length] & 0xc0) == 0x80)
        length--;
    if (length > 0)
        memcpy(file->name, name.data, length);
    file->name[length] = '\0';
}

static struct file *add(struct tv_shelf *shelf, struct tv_bytes name)
{
    struct file *file = tv_alloc(1, sizeof *file);
    set_name(file, name);
    file->number = shelf->next++;
    shelf->files =
        tv_array_reserve(shelf->files, &shelf->capacity, shelf->count + 1, sizeof *shelf->files);
    shelf->files[shelf->count++] = file;
    return file;
}

void tv_shelf_add_own(struct tv_shelf *shelf, const char *name)
{
    pthread_mutex_lock(&shelf->lock);
    add(shelf, tv_bytes_of(name))->own = true;
    pthread_mutex_unlock(&shelf->lock);
}

static struct file *find(const struct tv_shelf *shelf, uint32_t number)
{
    for (size_t i = 0; i < shelf->count; i++)
        if (shelf->files[i]->number == number && !shelf->files[i]->dropped)
            return shelf->files[i];
    return NULL;
}

static void remove_file(struct tv_shelf *shelf, struct file *file)
{
    size_t i = 0;
    if (file->busy) {
        file->dropped = true;
        return;
    }
    while (shelf->files[i] != file)
        i++;
    memmove(&shelf->files[i], &shelf->files[i + 1], (--shelf->count - i) * sizeof(struct file *));
    free_file(file);
}

void tv_shelf_drop(struct tv_shelf *shelf, uint32_t number)
{
    pthread_mutex_lock(&shelf->lock);
    struct file *file = find(shelf, number);
    if (file && !file->own)
        remove_file(shelf, file);
    pthread_mutex_unlock(&shelf->lock);
}

/* Whether there is place for one more, after what nobody waits for any more has made some. */
static bool make_place(struct tv_shelf *shelf)
{
    struct file *oldest = NULL;
    size_t uploads = 0;
    time_t time = now();
    for (size_t i = shelf->count; i-- > 0;) {
        struct file *file = shelf->files[i];
        bool idle = !file->source && !file->busy && time - file->touched > TV_SHELF_IDLE_SECONDS;
        if (file->own)
            continue;
        if (idle) {
            remove_file(shelf, file);
            continue;
        }
        uploads++;
        oldest = file->source ? file : oldest;
    }
    if (uploads < TV_SHELF_UPLOADS)
        return true;
    if (oldest)
        remove_file(shelf, oldest);
    return oldest != NULL;
}

enum tv_status tv_shelf_begin(struct tv_shelf *shelf, struct tv_bytes name, uint64_t bytes,
                              uint32_t *number, struct tv_error *err)
{
    struct tv_spool *spool = NULL;
    pthread_mutex_lock(&shelf->lock);
    enum tv_status status = TV_OK;
    if (!make_place(shelf))
        status = tv_fail(err, TV_ERR_LIMIT, TV_NO_OFFSET, "%u files are coming at the same time",
                         TV_SHELF_UPLOADS);
    char text[TV_SHELF_NAME + 1] = "";
    if (status == TV_OK) {
        struct file *file = add(shelf, name);
        file->bytes = bytes;
        file->touched = now();
        memcpy(text, file->name, sizeof text);
        status = tv_spool_new_in_file(text, bytes, &spool, err);
        file->spool = spool;
        *number = file->number;
        if (status != TV_OK)
            remove_file(shelf, file);
        else if (bytes == 0) {
            file->source = tv_spool_finish(spool);
            file->spool = NULL;
        }
    }
    pthread_mutex_unlock(&shelf->lock);
    return status;
}

enum tv_status tv_shelf_begin_piece(struct tv_shelf *shelf, uint32_t number, uint64_t offset,
                                    struct tv_shelf_piece **piece, uint64_t *held,
                                    struct tv_error *err)
{
    enum tv_status status = TV_OK;
    pthread_mutex_lock(&shelf->lock);
    struct file *file = find(shelf, number);
    *held = file ? file->held : 0;
    if (!file || file->own)
        status = tv_fail(err, TV_ERR_IO, TV_NO_OFFSET, "there is no such file (any more)");
    else if (file->busy)
        status = tv_fail(err, TV_ERR_USAGE, TV_NO_OFFSET, "another piece of it is just coming");
    else if (file->held != offset || file->source)
        status = tv_fail(err, TV_ERR_USAGE, TV_NO_OFFSET,
                         "expected the piece at byte %" PRIu64 ", found one at byte %" PRIu64,
                         file->held, offset);
    if (status == TV_OK) {
        file->busy = true;
        *piece = tv_alloc(1, sizeof **piece);
        **piece = (struct tv_shelf_piece){.shelf = shelf, .file = file, .held = file->held};
    }
    pthread_mutex_unlock(&shelf->lock);
    return status;
}

void tv_shelf_piece_add(struct tv_shelf_piece *piece, struct tv_bytes bytes)
{
    struct tv_error *err = &piece->error;
    const struct file *file = piece->file;
    if (err->status != TV_OK)
        return;
    if (bytes.length > file->bytes - piece->held)
        tv_fail(err, TV_ERR_LIMIT, TV_NO_OFFSET,
                "there is more of it than the %" PRIu64 " bytes that were announced", file->bytes);
    else if (tv_spool_add(file->spool, bytes, err) == TV_OK)
        piece->held += bytes.length;
}

enum tv_status tv_shelf_piece_end(struct tv_shelf_piece *piece, uint64_t *held,
                                  struct tv_error *err)
{
    struct tv_shelf *shelf = piece->shelf;
    struct file *file = piece->file;
    pthread_mutex_lock(&shelf->lock);
    enum tv_status status = piece->error.status;
    file->busy = false;
    file->touched = now();
    file->held = *held = piece->held;
    if (file->dropped && status == TV_OK)
        status = tv_fail(&piece->error, TV_ERR_IO, TV_NO_OFFSET, "it is not wanted any more");
    if (status != TV_OK) {
        *err = piece->error;
        remove_file(shelf, file);
    } else if (file->held == file->bytes) {
        file->source = tv_spool_finish(file->spool);
        file->spool = NULL;
    }
    pthread_mutex_unlock(&shelf->lock);
    tv_free(piece);
    return status;
}

bool tv_shelf_get(struct tv_shelf *shelf, uint32_t number, struct tv_shelf_file *copy)
{
    pthread_mutex_lock(&shelf->lock);
    struct file *file = find(shelf, number);
    bool there = file && (file->own || file->source);
    if (there) {
        memcpy(copy->name, file->name, sizeof copy->name);
        copy->source =
            file->source ? tv_source_range(file->source, 0, file->bytes, file->name) : NULL;
    }
    pthread_mutex_unlock(&shelf->lock);
    return there;
}

void tv_shelf_write(struct tv_shelf *shelf, struct tv_out *out)
{
    const char *between = "[";
    pthread_mutex_lock(&shelf->lock);
    for (size_t i = 0; i < shelf->count; i++) {
        const struct file *file = shelf->files[i];
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
    pthread_mutex_unlock(&shelf->lock);
}
