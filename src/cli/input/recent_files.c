/* SPDX-License-Identifier: Apache-2.0 */
/*
 * recent_files.c - the files that the user opened last (recent_files.h).
 *
 * The list is the text file `recent` in the user's folder of state: absolute
 * paths, the latest first, one a line.  It is written as a new file that then
 * takes the name, so readers see the old list or the new one.  Two programs
 * that write at the same time lose one entry, which does not matter.
 *
 * A confined process cannot write it and asks the broker instead.
 */
#include "cli/input/recent_files.h"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/bytes.h"
#include "base/memory.h"
#include "cli/confine.h"
#include "cli/input/user_folder.h"

/* The list as a text. */
struct recent_text {
    char bytes[TV_RECENT_FILES * (size_t)PATH_MAX];
    size_t length;
};

/* Read the list; a missing or unreadable one is empty. */
static void recent_read(int folder, struct recent_text *text)
{
    text->length = 0;
    int fd = openat(folder, "recent", O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW);
    if (fd < 0)
        return;
    ssize_t got = 1;
    while (got > 0 && text->length < sizeof text->bytes) {
        got = read(fd, text->bytes + text->length, sizeof text->bytes - text->length);
        text->length += got > 0 ? (size_t)got : 0;
    }
    close(fd);
}

/* Write the path and the lines of the old list that are not the path. */
static bool recent_write(int fd, struct tv_bytes path, const struct recent_text *old)
{
    FILE *out = fdopen(fd, "w");
    if (!out) {
        close(fd);
        return false;
    }
    struct tv_bytes rest = {(const uint8_t *)old->bytes, old->length}, line;
    fprintf(out, "%.*s\n", (int)path.length, (const char *)path.data);
    for (size_t lines = 1; rest.length > 0 && lines < TV_RECENT_FILES;) {
        tv_bytes_split(&rest, '\n', &line);
        if (line.length == 0 || tv_bytes_equal(line, path))
            continue;
        fwrite(line.data, 1, line.length, out);
        fputc('\n', out);
        lines++;
    }
    bool whole = !ferror(out);
    return fclose(out) == 0 && whole;
}

/* Only regular files are remembered, and no name with a line break, which would
 * be two lines. */
void tv_recent_files_remember(const char *path)
{
    char whole[PATH_MAX], name[64];
    struct stat info;
    if (tv_is_confined()) {
        tv_confined_remember(path);
        return;
    }
    if (!realpath(path, whole) || stat(whole, &info) != 0 || !S_ISREG(info.st_mode) ||
        strchr(whole, '\n'))
        return;
    int folder = tv_user_folder_open(TV_USER_STATE, true);
    if (folder < 0)
        return;
    struct recent_text *old = tv_alloc(1, sizeof *old);
    recent_read(folder, old);
    snprintf(name, sizeof name, "recent.%ld.new", (long)getpid());
    int fd = openat(folder, name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (fd >= 0 && (!recent_write(fd, tv_bytes_of(whole), old) ||
                    renameat(folder, name, folder, "recent") != 0))
        (void)unlinkat(folder, name, 0);
    tv_free(old);
    close(folder);
}

/* Files that are gone are left out, but stay in the list: a disk may come back. */
void tv_recent_files_find(struct tv_settings *settings, struct tv_words *words)
{
    struct stat info;
    int folder = tv_user_folder_open(TV_USER_STATE, false);
    if (folder < 0)
        return;
    struct recent_text *text = tv_alloc(1, sizeof *text);
    recent_read(folder, text);
    close(folder);
    struct tv_bytes rest = {(const uint8_t *)text->bytes, text->length}, line;
    for (size_t lines = 0; rest.length > 0 && lines < TV_RECENT_FILES; lines++) {
        tv_bytes_split(&rest, '\n', &line);
        if (line.length == 0 || line.data[0] != '/' || line.length >= PATH_MAX)
            continue;
        char *path = tv_alloc(line.length + 1, 1);
        memcpy(path, line.data, line.length);
        tv_words_add(&settings->owned, path);
        if (stat(path, &info) == 0 && S_ISREG(info.st_mode))
            tv_words_add(words, path);
    }
    tv_free(text);
}
