/* SPDX-License-Identifier: Apache-2.0 */
/*
 * expand.c - words of the command line that stand for several files: folders
 * and patterns (expand.h).
 *
 * A shell expands patterns itself; those that arrive here were quoted, or
 * matched nothing.  The files of a word are sorted by name, so that the order
 * of inputs does not depend on the file system.  A folder gives the files
 * in it, but not those whose names begin with a point, and not those in folders
 * below it.
 */
#include "cli/input/expand.h"

#include <dirent.h>
#include <glob.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/memory.h"

/* A folder with more files was hardly meant. */
#define FOLDER_FILES 100000u

/* Order words by their bytes. */
static int expand_order_words(const void *left, const void *right)
{
    const char *const *a = left, *const *b = right;
    return strcmp(*a, *b);
}

/* Sort the words of a list. */
static void expand_sort_words(struct tv_words *words)
{
    if (words->count > 0)
        qsort(words->items, words->count, sizeof *words->items, expand_order_words);
}

/* Return "folder/name", which the settings own. */
static const char *expand_join_path(struct tv_settings *settings, const char *folder,
                                    const char *name)
{
    size_t length = strlen(folder);
    while (length > 1 && folder[length - 1] == '/')
        length--;
    char *path = tv_alloc(length + strlen(name) + 2, 1);
    memcpy(path, folder, length);
    path[length] = '/';
    memcpy(path + length + 1, name, strlen(name));
    tv_words_add(&settings->owned, path);
    return path;
}

/* The list takes one entry more than is allowed, which tells that there are too
 * many. */
enum tv_status tv_expand_list(struct tv_settings *settings, const char *folder, bool folders,
                              struct tv_words *to, struct tv_error *err)
{
    struct stat info;
    DIR *entries = opendir(folder);
    if (!entries)
        return tv_fail(err, TV_ERR_IO, TV_NO_OFFSET, "%s: cannot be listed", folder);
    for (struct dirent *entry; (entry = readdir(entries)) != NULL && to->count <= FOLDER_FILES;) {
        if (entry->d_name[0] == '.')
            continue;
        const char *path = expand_join_path(settings, folder, entry->d_name);
        if (stat(path, &info) == 0 && (folders ? S_ISDIR(info.st_mode) : S_ISREG(info.st_mode)))
            tv_words_add(to, path);
    }
    closedir(entries);
    if (to->count > FOLDER_FILES)
        return tv_fail(err, TV_ERR_LIMIT, TV_NO_OFFSET, "%s: more than %u files; name some of them",
                       folder, FOLDER_FILES);
    expand_sort_words(to);
    return TV_OK;
}

enum tv_status tv_expand_folder(struct tv_settings *settings, const char *folder,
                                struct tv_words *to, struct tv_error *err)
{
    struct tv_words found = {NULL, 0, 0};
    enum tv_status status = tv_expand_list(settings, folder, false, &found, err);
    for (size_t i = 0; i < found.count; i++) {
        tv_words_add(to, found.items[i]);
        tv_words_add(&settings->compare.in_folders, found.items[i]);
    }
    if (status == TV_OK && found.count == 0)
        status = tv_fail(err, TV_ERR_USAGE, TV_NO_OFFSET,
                         "%s: the folder has no files; folders in it are not searched", folder);
    tv_free(found.items);
    return status;
}

/* Append the files that a quoted pattern names. */
static enum tv_status expand_add_pattern(struct tv_settings *settings, const char *pattern,
                                         struct tv_words *to, struct tv_error *err)
{
    glob_t found;
    if (glob(pattern, 0, NULL, &found) != 0)
        return tv_fail(err, TV_ERR_USAGE, TV_NO_OFFSET, "%s: no file has such a name", pattern);
    for (size_t i = 0; i < found.gl_pathc; i++) {
        size_t size = strlen(found.gl_pathv[i]) + 1;
        char *copy = memcpy(tv_alloc(size, 1), found.gl_pathv[i], size);
        tv_words_add(&settings->owned, copy);
        tv_words_add(to, copy);
    }
    globfree(&found);
    return TV_OK;
}

/* A word that is the name of a file is one, whatever characters it has. */
enum tv_status tv_expand_words(struct tv_settings *settings, struct tv_words *words,
                               struct tv_error *err)
{
    struct tv_words files = {NULL, 0, 0};
    enum tv_status status = TV_OK;
    for (size_t i = 0; i < words->count && status == TV_OK; i++) {
        const char *word = words->items[i];
        struct stat info;
        bool exists = stat(word, &info) == 0;
        if (exists && S_ISDIR(info.st_mode))
            status = tv_expand_folder(settings, word, &files, err);
        else if (!exists && strpbrk(word, "*?[") != NULL)
            status = expand_add_pattern(settings, word, &files, err);
        else
            tv_words_add(&files, word);
    }
    expand_sort_words(&files);
    tv_free(words->items);
    *words = files;
    return status;
}
