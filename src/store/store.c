/* SPDX-License-Identifier: Apache-2.0 */
/*
 * store.c - opening the folder: it is ours alone, for its owner alone, and what we think it is.
 */
#include "store/store.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/memory.h"
#include "base/bytes.h"
#include "store/inside.h"

#define DEFAULT_IDLE_MS INT64_C(86400000)
#define DEFAULT_UPLOADS 4096u

/* A message of the log has at most so many bytes. */
#define LINE 600

int64_t tv_store_now(void)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

int64_t tv_store_steady_now(void)
{
    struct timespec now;
    clock_gettime(CLOCK_BOOTTIME, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

void tv_store_say(struct tv_store *store, const char *format, ...)
{
    char line[LINE];
    va_list args;
    if (!store->options.report)
        return;
    va_start(args, format);
    vsnprintf(line, sizeof line, format, args);
    va_end(args);
    store->options.report(store->options.context, line);
}

static enum tv_status fail_errno(struct tv_error *err, const char *what)
{
    return tv_fail(err, TV_ERR_IO, TV_NO_OFFSET, "%s: %s", what, strerror(errno));
}

static enum tv_status open_folder(struct tv_store *store, const char *path, struct tv_error *err)
{
    struct stat info;
    if (mkdir(path, 0700) != 0 && errno != EEXIST)
        return fail_errno(err, "cannot make the folder");
    store->folder = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (store->folder < 0 || fstat(store->folder, &info) != 0)
        return fail_errno(err, "cannot open the folder");
    store->path = realpath(path, NULL);
    if (!store->path)
        return fail_errno(err, "cannot find the folder's path");
    return TV_OK;
}

/* The process that has the lock, as it wrote down. */
static uint64_t read_owner(int lock)
{
    char text[24] = "";
    uint64_t owner = 0;
    ssize_t length = pread(lock, text, sizeof text - 1, 0);
    size_t digits = length > 0 ? strcspn(text, "\n") : 0;
    return tv_parse_u64((struct tv_bytes){(const uint8_t *)text, digits}, &owner) ? owner : 0;
}

static enum tv_status in_use(int lock, struct tv_error *err)
{
    uint64_t owner = read_owner(lock);
    if (owner == 0)
        return tv_fail(err, TV_ERR_IO, TV_NO_OFFSET, "the store is in use by another process");
    return tv_fail(err, TV_ERR_IO, TV_NO_OFFSET, "the store is in use by another process (%llu)",
                   (unsigned long long)owner);
}

static enum tv_status take_lock(struct tv_store *store, struct tv_error *err)
{
    char text[24];
    store->lock = tv_store_open_file(store->folder, "lock", O_RDWR | O_CREAT);
    if (store->lock < 0)
        return fail_errno(err, "cannot make the lock file");
    if (flock(store->lock, LOCK_EX | LOCK_NB) != 0)
        return errno == EWOULDBLOCK ? in_use(store->lock, err)
                                    : fail_errno(err, "cannot lock the store");
    int length = snprintf(text, sizeof text, "%ld\n", (long)getpid());
    /* For people alone: on a full disk the lock is as good without. */
    if (ftruncate(store->lock, 0) == 0 && pwrite(store->lock, text, (size_t)length, 0) != length)
        errno = 0;
    return TV_OK;
}

struct look {
    int folder;
    bool has_catalogue, has_other;
};

static void note_any(void *context, const char *name)
{
    (void)name;
    *(bool *)context = true;
}

static bool is_empty_folder(int folder, const char *name)
{
    bool any = false;
    int fd = openat(folder, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    bool known = fd >= 0 && tv_store_each_name(fd, note_any, &any);
    if (fd >= 0)
        close(fd);
    return known && !any;
}

/* Is it what a first start leaves that was cut off before there was a catalogue? */
static bool is_of_first_start(int folder, const char *name)
{
    static const char *const folders[] = {"uploads", "traces", "cache", "scratch"};
    if (strcmp(name, "lock") == 0 || strncmp(name, "catalogue.sqlite3-", 18) == 0)
        return true;
    for (size_t i = 0; i < TV_COUNT(folders); i++)
        if (strcmp(name, folders[i]) == 0)
            return is_empty_folder(folder, name);
    return false;
}

static void look_at(void *context, const char *name)
{
    struct look *look = context;
    if (strcmp(name, "catalogue.sqlite3") == 0)
        look->has_catalogue = true;
    else if (strcmp(name, "lost+found") != 0 && !is_of_first_start(look->folder, name))
        look->has_other = true;
}

/* What is no store is not made one when something is in it: it would be cleaned away. */
static enum tv_status check_folder(struct tv_store *store, struct tv_error *err)
{
    struct look look = {.folder = store->folder};
    struct stat info;
    if (!tv_store_each_name(store->folder, look_at, &look))
        return fail_errno(err, "cannot look into the folder");
    if (!look.has_catalogue && look.has_other)
        return tv_fail(err, TV_ERR_IO, TV_NO_OFFSET,
                       "the folder is not empty and has no catalogue.sqlite3: it is not a store");
    if (fstat(store->folder, &info) == 0 && (info.st_mode & 077) != 0) {
        if (fchmod(store->folder, 0700) != 0)
            return fail_errno(err, "others may read the folder, and that cannot be changed");
        tv_store_say(store, "the store was open to others: it is its owner's alone now");
    }
    return TV_OK;
}

static enum tv_status open_below(struct tv_store *store, const char *name, int *fd,
                                 struct tv_error *err)
{
    if (mkdirat(store->folder, name, 0700) != 0 && errno != EEXIST)
        return fail_errno(err, name);
    *fd = openat(store->folder, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    return *fd >= 0 ? TV_OK : fail_errno(err, name);
}

static enum tv_status open_all_below(struct tv_store *store, struct tv_error *err)
{
    enum tv_status status = open_below(store, "uploads", &store->uploads, err);
    if (status == TV_OK)
        status = open_below(store, "traces", &store->traces, err);
    if (status == TV_OK)
        status = open_below(store, "cache", &store->cache, err);
    if (status == TV_OK)
        status = open_below(store, "scratch", &store->scratch, err);
    return status;
}

static struct tv_store *make(const struct tv_store_options *options)
{
    struct tv_store *store = tv_alloc(1, sizeof *store);
    store->options = *options;
    if (store->options.upload_idle_ms == 0)
        store->options.upload_idle_ms = DEFAULT_IDLE_MS;
    if (store->options.max_uploads == 0)
        store->options.max_uploads = DEFAULT_UPLOADS;
    if (store->options.client_uploads == 0)
        store->options.client_uploads = (store->options.max_uploads + 7) / 8;
    store->folder = store->uploads = store->traces = -1;
    store->cache = store->scratch = store->lock = -1;
    pthread_mutex_init(&store->evict_lock, NULL);
    pthread_mutex_init(&store->cache_lock, NULL);
    pthread_mutex_init(&store->claim_lock, NULL);
    pthread_mutex_init(&store->tally_lock, NULL);
    pthread_cond_init(&store->claim_change, NULL);
    return store;
}

enum tv_status tv_store_open(const char *folder, const struct tv_store_options *options,
                             struct tv_store **store, struct tv_error *err)
{
    struct tv_store *made = make(options);
    enum tv_status status = open_folder(made, folder, err);
    if (status == TV_OK)
        status = take_lock(made, err);
    if (status == TV_OK)
        status = check_folder(made, err);
    /* The catalogue last: where it is, the folders are. */
    if (status == TV_OK)
        status = open_all_below(made, err);
    if (status == TV_OK)
        status = tv_store_catalogue_open(made, err);
    if (status == TV_OK)
        status = tv_store_recover(made, err);
    if (status == TV_OK)
        *store = made;
    else
        tv_store_close(made);
    return status;
}

static void close_one(int fd)
{
    if (fd >= 0)
        close(fd);
}

void tv_store_close(struct tv_store *store)
{
    if (!store)
        return;
    if (store->scratch >= 0)
        tv_store_scratch_empty(store);
    if (store->has_read)
        tv_db_close(&store->read);
    if (store->has_write)
        tv_db_close(&store->write);
    close_one(store->uploads);
    close_one(store->traces);
    close_one(store->cache);
    close_one(store->scratch);
    close_one(store->folder);
    close_one(store->lock); /* last: another process may come now */
    pthread_mutex_destroy(&store->evict_lock);
    pthread_mutex_destroy(&store->cache_lock);
    pthread_mutex_destroy(&store->claim_lock);
    pthread_mutex_destroy(&store->tally_lock);
    pthread_cond_destroy(&store->claim_change);
    tv_free(store->path);
    tv_free(store);
}
