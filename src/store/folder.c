/* SPDX-License-Identifier: Apache-2.0 */
/*
 * folder.c - files by their names, below descriptors of the store's own folders: no path is ever
 * put together from what somebody said.
 */
#include "store/inside.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/random.h"

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

enum tv_store_status tv_store_none(struct tv_error *err, const char *what)
{
    tv_fail(err, TV_ERR_USAGE, TV_NO_OFFSET, "there is no such %s", what);
    return TV_STORE_NONE;
}

enum tv_store_status tv_store_failed(struct tv_error *err, const char *what)
{
    bool full = errno == ENOSPC || errno == EDQUOT;
    tv_fail(err, full ? TV_ERR_LIMIT : TV_ERR_IO, TV_NO_OFFSET, "%s: %s", what, strerror(errno));
    return full ? TV_STORE_FULL : TV_STORE_FAILED;
}

int tv_store_open_file(int folder, const char *name, int flags)
{
    struct stat info;
    /* Not to hang at a pipe that somebody put there. */
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
