/* SPDX-License-Identifier: Apache-2.0 */
/*
 * directories.c - a library for LD_PRELOAD that spoils the readings of one directory, which
 * DIRECTORY names as the program does.
 *
 * DIRECTORY_FAILS=N: the N-th reading ends with an error of the disk after its first entry, and a
 * line of standard error says so.  DIRECTORY_MOVES=NAME: each second reading has this name as well.
 */
/* readdir and readdir64 are two functions here. */
#undef _FILE_OFFSET_BITS
#define _GNU_SOURCE
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static DIR *spoiled;          /* the reading of the directory; one at a time */
static unsigned long reading; /* number of it */
static unsigned long entries; /* entries that it had */

DIR *opendir(const char *path)
{
    DIR *(*next)(const char *);
    const char *chosen = getenv("DIRECTORY");
    *(void **)&next = dlsym(RTLD_NEXT, "opendir");
    DIR *directory = next(path);
    if (directory && chosen && strcmp(path, chosen) == 0) {
        spoiled = directory;
        reading++;
        entries = 0;
    }
    return directory;
}

int closedir(DIR *directory)
{
    int (*next)(DIR *);
    *(void **)&next = dlsym(RTLD_NEXT, "closedir");
    spoiled = directory == spoiled ? NULL : spoiled;
    return next(directory);
}

/* Tell whether the next entry of the spoiled directory fails. */
static int is_failing(void)
{
    static const char told[] = "directories: a reading fails\n";
    const char *failing = getenv("DIRECTORY_FAILS");
    if (!failing || strtoul(failing, NULL, 10) != reading || entries < 1)
        return 0;
    return write(2, told, sizeof told - 1) > 0;
}

struct dirent *readdir(DIR *directory)
{
    static struct dirent added;
    struct dirent *(*next)(DIR *);
    const char *name = getenv("DIRECTORY_MOVES");
    *(void **)&next = dlsym(RTLD_NEXT, "readdir");
    if (directory != spoiled)
        return next(directory);
    if (is_failing()) {
        errno = EIO;
        return NULL;
    }
    if (entries++ == 0 && name && reading % 2 == 0) {
        snprintf(added.d_name, sizeof added.d_name, "%s", name);
        return &added;
    }
    return next(directory);
}

/* Programs with large files call it by this name; the entries are alike on 64-bit machines. */
struct dirent64 *readdir64(DIR *directory)
{
    return (struct dirent64 *)readdir(directory);
}
