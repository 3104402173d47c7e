/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cache_folder.c - the directory of the index cache (index_cache.h).
 *
 *     NAME.index              complete; NAME is a checksum of the key, 32 hexadecimal digits
 *     NAME.index.TIME.new     being written, locked by its writer
 *
 * Several programs use the directory at the same time without talking to each other: a file appears
 * by rename, the lock shows that its writer lives, and whoever finishes a file evicts the oldest
 * ones.
 */
#include "cli/input/index_cache.h"

#include <assert.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <time.h>
#include <unistd.h>

#include "base/bytes.h"
#include "base/hash.h"
#include "cli/confine.h"
#include "cli/input/user_folder.h"

#define MAX_BYTES (UINT64_C(10) << 30)

/* The cache may take 1/PART_OF_DISK of the free space plus its own size. */
#define PART_OF_DISK 4

/* Age in seconds at which a temporary file counts as abandoned by a killed program. An unlocked one
 * only needs to be older than the moment between its creation and its locking. */
#define ABANDONED_SECONDS 3600
#define UNLOCKED_SECONDS 60

#define ENDING ".index"
#define TEMPORARY_ENDING ".new"

/* ---- The directory ---- */

static bool cache_is_private(const struct stat *info, mode_t others)
{
    return info->st_uid == geteuid() && (info->st_mode & others) == 0;
}

static void cache_entry_name(char *name, size_t size, struct tv_bytes key)
{
    assert(key.length > 0);
    snprintf(name, size, "%016" PRIx64 "%016" PRIx64 ENDING, tv_checksum(key, 1),
             tv_checksum(key, 2));
}

/* ---- Size and eviction ---- */

struct cache_contents {
    uint64_t bytes; /* sum of all files */
    char oldest[64];
};

static bool cache_is_before(struct timespec a, struct timespec b)
{
    return a.tv_sec != b.tv_sec ? a.tv_sec < b.tv_sec : a.tv_nsec < b.tv_nsec;
}

/* Has the writer of a temporary file gone? Commands end early when nobody reads their output. */
static bool cache_is_abandoned(int folder, const char *name, const struct stat *info)
{
    int64_t age = (int64_t)time(NULL) - info->st_mtim.tv_sec;
    if (age > ABANDONED_SECONDS || age <= UNLOCKED_SECONDS)
        return age > ABANDONED_SECONDS;
    int fd = openat(folder, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    bool left = fd >= 0 && flock(fd, LOCK_EX | LOCK_NB) == 0;
    if (fd >= 0)
        close(fd);
    return left;
}

/* Add one file to the survey; files with other names are ignored. */
static void cache_survey_file(int folder, const char *name, struct cache_contents *contents,
                              struct timespec *oldest)
{
    struct stat info;
    bool temporary = tv_text_ends_with(name, TEMPORARY_ENDING);
    if ((!temporary && !tv_text_ends_with(name, ENDING)) ||
        strlen(name) >= sizeof contents->oldest ||
        fstatat(folder, name, &info, AT_SYMLINK_NOFOLLOW) != 0 || !S_ISREG(info.st_mode))
        return;
    if (temporary) {
        if (cache_is_abandoned(folder, name, &info))
            unlinkat(folder, name, 0);
        return;
    }
    contents->bytes += (uint64_t)info.st_size;
    if (contents->oldest[0] != '\0' && !cache_is_before(info.st_mtim, *oldest))
        return;
    *oldest = info.st_mtim;
    snprintf(contents->oldest, sizeof contents->oldest, "%s", name);
}

/* Return the size of the cache, and its oldest file. */
static struct cache_contents cache_survey(int folder)
{
    struct cache_contents contents = {0};
    struct timespec oldest = {0};
    int fd = openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *list = fd >= 0 ? fdopendir(fd) : NULL;
    const struct dirent *entry;
    if (!list) {
        if (fd >= 0)
            close(fd);
        return contents;
    }
    while ((entry = readdir(list)) != NULL)
        cache_survey_file(folder, entry->d_name, &contents, &oldest);
    closedir(list);
    return contents;
}

static void cache_evict(int folder, uint64_t room)
{
    struct cache_contents contents = cache_survey(folder);
    while (contents.bytes > room && unlinkat(folder, contents.oldest, 0) == 0)
        contents = cache_survey(folder);
}

static uint64_t cache_find_room(int folder)
{
    struct statvfs disk;
    if (fstatvfs(folder, &disk) != 0)
        return 0;
    uint64_t room =
        ((uint64_t)disk.f_bavail * disk.f_frsize + cache_survey(folder).bytes) / PART_OF_DISK;
    return room < MAX_BYTES ? room : MAX_BYTES;
}

/* ---- Its files ---- */

int tv_cache_open(struct tv_bytes key)
{
    if (tv_is_confined())
        return tv_confined_cache_open(key);
    char name[48];
    struct stat info;
    int folder = tv_user_folder_open(TV_USER_CACHE, false);
    if (folder < 0)
        return -1;
    cache_entry_name(name, sizeof name, key);
    int fd = openat(folder, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    close(folder);
    if (fd < 0)
        return -1;
    if (fstat(fd, &info) != 0 || !S_ISREG(info.st_mode) ||
        !cache_is_private(&info, S_IRWXG | S_IRWXO)) {
        close(fd);
        return -1;
    }
    (void)futimens(fd, NULL); /* without the mark it is evicted earlier */
    return fd;
}

bool tv_cache_begin(struct tv_bytes key, struct tv_cache_file *file)
{
    if (tv_is_confined())
        return tv_confined_cache_begin(key, file);
    struct timespec now;
    *file = (struct tv_cache_file){.folder = tv_user_folder_open(TV_USER_CACHE, true), .fd = -1};
    if (file->folder < 0)
        return false;
    clock_gettime(CLOCK_REALTIME, &now);
    cache_entry_name(file->name, sizeof file->name, key);
    snprintf(file->temporary, sizeof file->temporary, "%s.%jx%09lx" TEMPORARY_ENDING, file->name,
             (uintmax_t)now.tv_sec, (unsigned long)now.tv_nsec);
    file->room = cache_find_room(file->folder);
    file->fd = openat(file->folder, file->temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (file->fd >= 0)
        (void)flock(file->fd, LOCK_EX | LOCK_NB); /* not every file system supports locks */
    if (file->fd >= 0)
        return true;
    close(file->folder);
    return false;
}

void tv_cache_end(struct tv_cache_file *file, bool whole)
{
    assert(file->fd >= 0);
    if (tv_is_confined()) {
        tv_confined_cache_end(file, whole);
        return;
    }
    whole = close(file->fd) == 0 && whole;
    if (whole && renameat(file->folder, file->temporary, file->folder, file->name) == 0)
        cache_evict(file->folder, file->room);
    else
        unlinkat(file->folder, file->temporary, 0);
    close(file->folder);
}
