/* SPDX-License-Identifier: Apache-2.0 */
/*
 * store.c - opens the directory: it must be ours alone, private to its owner, and really a store.
 * Then, access to files by name below it.
 *
 *     lock                 flock of the server that uses the store; its process id, for people
 *     catalogue.sqlite3    what is known about traces and uploads
 *     uploads, traces      their bytes
 *     cache, scratch       can be made again; temporary files of engines
 *
 * The order of tv_store_open is what makes it safe.  Recovery deletes files that the catalogue does
 * not know.  So the lock is taken first, as another server's uploads would look like orphans.  Then
 * a directory with foreign contents and without a catalogue is refused: somebody's home, given by
 * mistake, must not be emptied.  The catalogue is created last: where it exists, all directories
 * exist.  A first start that is interrupted in between leaves only files that the check knows
 * (store_is_first_start_leftover), so the next start goes on.
 *
 * Files are opened relative to the descriptors of these directories, and without following symbolic
 * links.
 */
#include "store/store.h"

#include <dirent.h>
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

#include "base/bytes.h"
#include "base/memory.h"
#include "base/random.h"
#include "store/internal.h"

#define DEFAULT_IDLE_MS INT64_C(86400000) /* a day */
#define DEFAULT_UPLOADS 4096u

/* Maximum length of a line in the log. */
#define LINE 600

int64_t tv_store_now(void)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

/* CLOCK_BOOTTIME also counts while the machine is suspended, as the wall clock does: comparing the
 * two finds a clock that was set, not a laptop that slept. */
int64_t tv_store_steady_now(void)
{
    struct timespec now;
    clock_gettime(CLOCK_BOOTTIME, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

void tv_store_report(struct tv_store *store, const char *format, ...)
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

static enum tv_status store_open_fail(struct tv_error *err, const char *what)
{
    return tv_fail(err, TV_ERR_IO, TV_NO_OFFSET, "%s: %s", what, strerror(errno));
}

/* Make or open the folder. Its path is kept without links, because engines get it. */
static enum tv_status store_open_folder(struct tv_store *store, const char *path,
                                        struct tv_error *err)
{
    struct stat info;
    if (mkdir(path, 0700) != 0 && errno != EEXIST)
        return store_open_fail(err, "cannot make the folder");
    store->folder = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (store->folder < 0 || fstat(store->folder, &info) != 0)
        return store_open_fail(err, "cannot open the folder");
    store->path = realpath(path, NULL);
    if (!store->path)
        return store_open_fail(err, "cannot find the folder's path");
    return TV_OK;
}

/* Read the process id that the holder of the lock wrote down. */
static uint64_t store_read_lock_owner(int lock)
{
    char text[24] = "";
    uint64_t owner = 0;
    ssize_t length = pread(lock, text, sizeof text - 1, 0);
    size_t digits = length > 0 ? strcspn(text, "\n") : 0;
    return tv_parse_u64((struct tv_bytes){(const uint8_t *)text, digits}, &owner) ? owner : 0;
}

static enum tv_status store_fail_in_use(int lock, struct tv_error *err)
{
    uint64_t owner = store_read_lock_owner(lock);
    if (owner == 0)
        return tv_fail(err, TV_ERR_IO, TV_NO_OFFSET, "the store is in use by another process");
    return tv_fail(err, TV_ERR_IO, TV_NO_OFFSET, "the store is in use by another process (%llu)",
                   (unsigned long long)owner);
}

/* Lock the store for this process.  The kernel frees the lock however the process ends. */
static enum tv_status store_take_lock(struct tv_store *store, struct tv_error *err)
{
    char text[24];
    store->lock = tv_store_open_file(store->folder, "lock", O_RDWR | O_CREAT);
    if (store->lock < 0)
        return store_open_fail(err, "cannot make the lock file");
    if (flock(store->lock, LOCK_EX | LOCK_NB) != 0)
        return errno == EWOULDBLOCK ? store_fail_in_use(store->lock, err)
                                    : store_open_fail(err, "cannot lock the store");
    int length = snprintf(text, sizeof text, "%ld\n", (long)getpid());
    /* the id is for people only: on a full disk the lock works without it */
    if (ftruncate(store->lock, 0) == 0 && pwrite(store->lock, text, (size_t)length, 0) != length)
        errno = 0;
    return TV_OK;
}

struct store_folder_look {
    int folder;
    bool has_catalogue, has_other;
};

static void store_note_any_name(void *context, const char *name)
{
    (void)name;
    *(bool *)context = true;
}

static bool store_is_empty_folder(int folder, const char *name)
{
    bool any = false;
    int fd = openat(folder, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    bool known = fd >= 0 && tv_store_each_name(fd, store_note_any_name, &any);
    if (fd >= 0)
        close(fd);
    return known && !any;
}

/* Return true for a file that an interrupted first start may leave before it creates the
 * catalogue. */
static bool store_is_first_start_leftover(int folder, const char *name)
{
    static const char *const folders[] = {"uploads", "traces", "cache", "scratch"};
    if (strcmp(name, "lock") == 0 || strncmp(name, "catalogue.sqlite3-", 18) == 0)
        return true;
    for (size_t i = 0; i < TV_COUNT(folders); i++)
        if (strcmp(name, folders[i]) == 0)
            return store_is_empty_folder(folder, name);
    return false;
}

static void store_look_at_name(void *context, const char *name)
{
    struct store_folder_look *look = context;
    if (strcmp(name, "catalogue.sqlite3") == 0)
        look->has_catalogue = true;
    else if (strcmp(name, "lost+found") != 0 && !store_is_first_start_leftover(look->folder, name))
        look->has_other = true;
}

/* Refuse a directory with other contents: recovery would remove them as orphans. */
static enum tv_status store_check_folder(struct tv_store *store, struct tv_error *err)
{
    struct store_folder_look look = {.folder = store->folder};
    struct stat info;
    if (!tv_store_each_name(store->folder, store_look_at_name, &look))
        return store_open_fail(err, "cannot look into the folder");
    if (!look.has_catalogue && look.has_other)
        return tv_fail(err, TV_ERR_IO, TV_NO_OFFSET,
                       "the folder is not empty and has no catalogue.sqlite3: it is not a store");
    if (fstat(store->folder, &info) == 0 && (info.st_mode & 077) != 0) {
        if (fchmod(store->folder, 0700) != 0)
            return store_open_fail(err, "others may read the folder, and that cannot be changed");
        tv_store_report(store, "the store was open to others: it is its owner's alone now");
    }
    return TV_OK;
}

static enum tv_status store_open_subfolder(struct tv_store *store, const char *name, int *fd,
                                           struct tv_error *err)
{
    if (mkdirat(store->folder, name, 0700) != 0 && errno != EEXIST)
        return store_open_fail(err, name);
    *fd = openat(store->folder, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    return *fd >= 0 ? TV_OK : store_open_fail(err, name);
}

static enum tv_status store_open_subfolders(struct tv_store *store, struct tv_error *err)
{
    enum tv_status status = store_open_subfolder(store, "uploads", &store->uploads, err);
    if (status == TV_OK)
        status = store_open_subfolder(store, "traces", &store->traces, err);
    if (status == TV_OK)
        status = store_open_subfolder(store, "cache", &store->cache, err);
    if (status == TV_OK)
        status = store_open_subfolder(store, "scratch", &store->scratch, err);
    return status;
}

/* All descriptors are -1 at first, so that tv_store_close can follow an error at any step.  One
 * client may hold an eighth of all unfinished uploads unless the options say otherwise. */
static struct tv_store *store_make(const struct tv_store_options *options)
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
    pthread_mutex_init(&store->totals_lock, NULL);
    pthread_cond_init(&store->claim_change, NULL);
    return store;
}

enum tv_status tv_store_open(const char *folder, const struct tv_store_options *options,
                             struct tv_store **store, struct tv_error *err)
{
    struct tv_store *made = store_make(options);
    enum tv_status status = store_open_folder(made, folder, err);
    if (status == TV_OK)
        status = store_take_lock(made, err);
    if (status == TV_OK)
        status = store_check_folder(made, err);
    /* the catalogue is made last: where it exists, the directories exist */
    if (status == TV_OK)
        status = store_open_subfolders(made, err);
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

static void store_close_fd(int fd)
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
    store_close_fd(store->uploads);
    store_close_fd(store->traces);
    store_close_fd(store->cache);
    store_close_fd(store->scratch);
    store_close_fd(store->folder);
    store_close_fd(store->lock); /* last: now another process may open the store */
    pthread_mutex_destroy(&store->evict_lock);
    pthread_mutex_destroy(&store->cache_lock);
    pthread_mutex_destroy(&store->claim_lock);
    pthread_mutex_destroy(&store->totals_lock);
    pthread_cond_destroy(&store->claim_change);
    tv_free(store->path);
    tv_free(store);
}

/* ---- Files by name ---- */

/* All names are relative to descriptors of the store's directories, and none comes from a
 * client. */

/* An id becomes part of file names, so it has exactly the digits that tv_store_new_id makes. */
bool tv_store_is_id(const char *text)
{
    size_t length = 0;
    while (length <= TV_STORE_ID_DIGITS && ((text[length] >= '0' && text[length] <= '9') ||
                                            (text[length] >= 'a' && text[length] <= 'f')))
        length++;
    return length == TV_STORE_ID_DIGITS && text[length] == '\0';
}

enum tv_store_status tv_store_new_id(struct tv_store_id *id, struct tv_error *err)
{
    return tv_random_hex(id->text, TV_STORE_ID_DIGITS, err) == TV_OK ? TV_STORE_OK
                                                                     : TV_STORE_FAILED;
}

enum tv_store_status tv_store_not_found(struct tv_error *err, const char *what)
{
    tv_fail(err, TV_ERR_USAGE, TV_NO_OFFSET, "there is no such %s", what);
    return TV_STORE_NOT_FOUND;
}

enum tv_store_status tv_store_invalid(struct tv_error *err, const char *sentence)
{
    tv_fail(err, TV_ERR_USAGE, TV_NO_OFFSET, "%s", sentence);
    return TV_STORE_INVALID;
}

/* A full disk and an exceeded quota are TV_STORE_FULL, on which the store can make room. */
enum tv_store_status tv_store_fail_errno(struct tv_error *err, const char *what)
{
    bool full = errno == ENOSPC || errno == EDQUOT;
    tv_fail(err, full ? TV_ERR_LIMIT : TV_ERR_IO, TV_NO_OFFSET, "%s: %s", what, strerror(errno));
    return full ? TV_STORE_FULL : TV_STORE_FAILED;
}

int tv_store_open_file(int folder, const char *name, int flags)
{
    struct stat info;
    /* O_NONBLOCK: do not hang if somebody put a pipe there */
    int fd = openat(folder, name, flags | O_CLOEXEC | O_NOFOLLOW | O_NOCTTY | O_NONBLOCK, 0600);
    if (fd < 0)
        return -1;
    if (fstat(fd, &info) == 0 && S_ISREG(info.st_mode))
        return fd;
    close(fd);
    errno = ENOENT;
    return -1;
}

bool tv_store_file_size(int folder, const char *name, uint64_t *bytes)
{
    struct stat info;
    if (fstatat(folder, name, &info, AT_SYMLINK_NOFOLLOW) != 0 || !S_ISREG(info.st_mode))
        return false;
    *bytes = (uint64_t)info.st_size;
    return true;
}

/* The folder is opened again: a duplicate of the descriptor would share its position with other
 * readers.  False, with errno: not all names were seen. */
bool tv_store_each_name(int folder, void (*each)(void *context, const char *name), void *context)
{
    int fd = openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *names = fd < 0 ? NULL : fdopendir(fd);
    const struct dirent *entry;
    if (!names) {
        if (fd >= 0)
            close(fd);
        return false;
    }
    errno = 0;
    while ((entry = readdir(names)) != NULL) {
        if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
            each(context, entry->d_name);
        errno = 0;
    }
    int error = errno;
    closedir(names);
    errno = error;
    return error == 0;
}

void tv_store_cache_name(char name[TV_STORE_CACHE_NAME], const char *id, const char *part)
{
    snprintf(name, TV_STORE_CACHE_NAME, "%.*s.%.*s", (int)TV_STORE_ID_DIGITS, id,
             (int)TV_STORE_ID_DIGITS, part ? part : "index");
}
