/* SPDX-License-Identifier: Apache-2.0 */
/*
 * files.c - opens originals; makes, opens and drops index caches; makes and removes temporary
 * directories.
 *
 * A cache has no row in the catalogue: its file is all there is, and the file's time is that of its
 * last use. It is written under a temporary name and renamed when it is complete.
 *
 *     begin    ID.PART in cache/, not counted         killed: removed at the next start
 *     end      size reserved, under the limit         no room: removed
 *              renamed to ID.index, under cache_lock  trace deleted meanwhile: removed
 *     drop     removed, size given back
 *
 * The lock orders a rename and the deletion of the trace: without it a cache of a trace that is
 * gone could stay for ever, because nobody would ask for it.
 */
#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "store/internal.h"
#include "store/store.h"

/* Check that the catalogue has the trace. */
static enum tv_store_status files_find_trace(struct tv_store *store, const char *id,
                                             struct tv_error *err)
{
    if (!tv_store_is_id(id))
        return tv_store_not_found(err, "trace");
    tv_db_begin(&store->read, TV_DB_READ);
    int64_t there = tv_db_number(&store->read, 0, "SELECT 1 FROM traces WHERE id=?", "z", id);
    enum tv_store_status status = tv_db_end(&store->read, TV_STORE_OK, err);
    return status != TV_STORE_OK || there == 1 ? status : tv_store_not_found(err, "trace");
}

/* Open a file of the store and say how large it is; `what` names it in the message that it is not
 * there. */
static enum tv_store_status files_open_to_read(int folder, const char *name, const char *what,
                                               int *fd, uint64_t *bytes, struct tv_error *err)
{
    struct stat info;
    int opened = tv_store_open_file(folder, name, O_RDONLY);
    if (opened < 0)
        return errno == ENOENT ? tv_store_not_found(err, what)
                               : tv_store_fail_errno(err, "the file cannot be opened");
    if (fstat(opened, &info) != 0) {
        close(opened);
        return tv_store_fail_errno(err, "the file cannot be opened");
    }
    *fd = opened;
    *bytes = (uint64_t)info.st_size;
    return TV_STORE_OK;
}

enum tv_store_status tv_store_file_open(struct tv_store *store, const char *id, int *fd,
                                        uint64_t *bytes, struct tv_error *err)
{
    enum tv_store_status status = files_find_trace(store, id, err);
    return status == TV_STORE_OK ? files_open_to_read(store->traces, id, "trace", fd, bytes, err)
                                 : status;
}

/* ---- Index caches ---- */

enum tv_store_status tv_store_cache_open(struct tv_store *store, const char *id, int *fd,
                                         uint64_t *bytes, struct tv_error *err)
{
    char name[TV_STORE_CACHE_NAME];
    enum tv_store_status status = files_find_trace(store, id, err);
    if (status != TV_STORE_OK)
        return status;
    tv_store_cache_name(name, id, NULL);
    status = files_open_to_read(store->cache, name, "cache", fd, bytes, err);
    if (status == TV_STORE_OK)
        utimensat(store->cache, name, NULL, AT_SYMLINK_NOFOLLOW);
    return status;
}

enum tv_store_status tv_store_cache_begin(struct tv_store *store, const char *id,
                                          struct tv_store_new_cache *cache, struct tv_error *err)
{
    char name[TV_STORE_CACHE_NAME];
    struct tv_store_new_cache made = {.limit = tv_store_cache_limit(store)};
    enum tv_store_status status = files_find_trace(store, id, err);
    if (status == TV_STORE_OK && made.limit == 0) {
        tv_fail(err, TV_ERR_LIMIT, TV_NO_OFFSET, "there is no room for a cache");
        status = TV_STORE_FULL;
    }
    if (status == TV_STORE_OK)
        status = tv_store_new_id(&made.part, err);
    if (status != TV_STORE_OK)
        return status;
    snprintf(made.trace.text, sizeof made.trace.text, "%s", id);
    tv_store_cache_name(name, id, made.part.text);
    made.fd = tv_store_open_file(store->cache, name, O_RDWR | O_CREAT | O_EXCL);
    if (made.fd < 0)
        return tv_store_fail_errno(err, "a cache cannot be made");
    *cache = made;
    return TV_STORE_OK;
}

/* Rename a new cache, which is already counted, to its final name. The previous one is no longer
 * counted then. */
static enum tv_store_status cache_install(struct tv_store *store, const char *id, const char *part,
                                          struct tv_error *err)
{
    assert(strlen(id) == TV_STORE_ID_DIGITS);
    char name[TV_STORE_CACHE_NAME];
    uint64_t old = 0;
    tv_store_cache_name(name, id, NULL);
    /* a trace's row is deleted before its cache: either the row is gone already, or that deletion
     * waits for this lock */
    pthread_mutex_lock(&store->cache_lock);
    enum tv_store_status status = files_find_trace(store, id, err);
    bool replaces = status == TV_STORE_OK && tv_store_file_size(store->cache, name, &old);
    if (status == TV_STORE_OK && renameat(store->cache, part, store->cache, name) != 0)
        status = tv_store_fail_errno(err, "a cache cannot be put in its place");
    if (status == TV_STORE_OK && replaces)
        tv_store_count(store, &store->totals.cache_bytes, -(int64_t)old);
    else if (status == TV_STORE_OK)
        tv_store_count(store, &store->totals.caches, 1);
    pthread_mutex_unlock(&store->cache_lock);
    return status;
}

/* Keep a finished cache file.  Its size is reserved before it gets its name, so that the limit of
 * the store holds. */
static enum tv_store_status cache_keep(struct tv_store *store, struct tv_store_new_cache *cache,
                                       const char *part, struct tv_error *err)
{
    struct stat info;
    if (fstat(cache->fd, &info) != 0)
        return tv_store_fail_errno(err, "a cache file cannot be examined");
    uint64_t bytes = (uint64_t)info.st_size;
    if (store->options.sync_caches && fdatasync(cache->fd) != 0)
        return tv_store_fail_errno(err, "the disk does not take a cache");
    enum tv_store_status status = tv_store_reserve_bytes(store, bytes, true, err);
    if (status != TV_STORE_OK)
        return status;
    futimens(cache->fd, NULL);
    status = cache_install(store, cache->trace.text, part, err);
    if (status != TV_STORE_OK)
        tv_store_count(store, &store->totals.cache_bytes, -(int64_t)bytes);
    return status;
}

enum tv_store_status tv_store_cache_end(struct tv_store *store, struct tv_store_new_cache *cache,
                                        bool keep, struct tv_error *err)
{
    char part[TV_STORE_CACHE_NAME];
    enum tv_store_status status = TV_STORE_OK;
    tv_store_cache_name(part, cache->trace.text, cache->part.text);
    if (keep)
        status = cache_keep(store, cache, part, err);
    if (!keep || status != TV_STORE_OK)
        unlinkat(store->cache, part, 0);
    close(cache->fd);
    cache->fd = -1;
    return status;
}

bool tv_store_remove_cache(struct tv_store *store, const char *name, uint64_t *bytes)
{
    if (!tv_store_file_size(store->cache, name, bytes) || unlinkat(store->cache, name, 0) != 0)
        return false;
    tv_store_count(store, &store->totals.cache_bytes, -(int64_t)*bytes);
    tv_store_count(store, &store->totals.caches, -1);
    return true;
}

void tv_store_cache_drop(struct tv_store *store, const char *id)
{
    char name[TV_STORE_CACHE_NAME];
    uint64_t bytes;
    if (!tv_store_is_id(id))
        return;
    tv_store_cache_name(name, id, NULL);
    pthread_mutex_lock(&store->cache_lock);
    (void)tv_store_remove_cache(store, name, &bytes);
    pthread_mutex_unlock(&store->cache_lock);
}

/* ---- Temporary directories ---- */

/* An engine is not trusted, so its directory may contain anything. Links are not followed. To
 * remove nested directories of any depth without recursion, a directory two levels below is
 * moved up one level, until all are empty. */

enum tv_store_status tv_store_scratch_make(struct tv_store *store, char *folder, size_t size,
                                           struct tv_error *err)
{
    struct tv_store_id name;
    enum tv_store_status status = tv_store_new_id(&name, err);
    if (status != TV_STORE_OK)
        return status;
    int length = snprintf(folder, size, "%s/scratch/%s", store->path, name.text);
    if (length < 0 || (size_t)length >= size)
        errno = ENAMETOOLONG;
    else if (mkdirat(store->scratch, name.text, 0700) == 0)
        return TV_STORE_OK;
    return tv_store_fail_errno(err, "a folder for temporary files cannot be made");
}

/* A directory that is being emptied, and one inside it. */
struct scratch_emptying {
    int fd, below;
    size_t removed; /* or moved up */
};

/* Remove a file or an empty directory. */
static bool scratch_remove_name(int folder, const char *name)
{
    return unlinkat(folder, name, 0) == 0 || unlinkat(folder, name, AT_REMOVEDIR) == 0;
}

/* Moving a directory, or its contents, requires write permission in it. If that cannot be granted,
 * the move fails and counts as failed. */
static void scratch_allow_move(int folder, const char *name)
{
    int failed = fchmodat(folder, name, 0700, 0);
    (void)failed;
}

/* Move a directory from two levels below to one, under a new random name. */
static void scratch_bring_up(void *context, const char *name)
{
    struct scratch_emptying *emptying = context;
    struct tv_store_id fresh;
    bool gone = scratch_remove_name(emptying->below, name);
    if (!gone && tv_store_new_id(&fresh, NULL) == TV_STORE_OK) {
        scratch_allow_move(emptying->below, name);
        gone = renameat(emptying->below, name, emptying->fd, fresh.text) == 0;
    }
    emptying->removed += gone;
}

/* Remove a name of the directory. A directory that is not empty is emptied one level deep; what
 * that leaves comes into the next round. */
static void scratch_take_out(void *context, const char *name)
{
    struct scratch_emptying *emptying = context;
    if (scratch_remove_name(emptying->fd, name)) {
        emptying->removed++;
        return;
    }
    scratch_allow_move(emptying->fd, name);
    emptying->below = openat(emptying->fd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (emptying->below < 0)
        return;
    tv_store_each_name(emptying->below, scratch_bring_up, emptying);
    close(emptying->below);
    emptying->removed += scratch_remove_name(emptying->fd, name);
}

/* Empty a directory. Return the number of things removed. */
static size_t scratch_empty_folder(int folder)
{
    struct scratch_emptying round = {folder, -1, 0};
    size_t removed = 0;
    do {
        round.removed = 0;
        tv_store_each_name(folder, scratch_take_out, &round);
        removed += round.removed;
    } while (round.removed > 0);
    return removed;
}

size_t tv_store_scratch_empty(struct tv_store *store)
{
    return scratch_empty_folder(store->scratch);
}

void tv_store_scratch_remove(struct tv_store *store, const char *folder)
{
    const char *name = strrchr(folder, '/');
    if (!name || !tv_store_is_id(name + 1))
        return;
    name++;
    int fd = openat(store->scratch, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (fd >= 0) {
        scratch_empty_folder(fd);
        close(fd);
    }
    scratch_remove_name(store->scratch, name);
}
