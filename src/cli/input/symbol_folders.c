/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/input/symbol_folders.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/file.h"
#include "base/hash.h"
#include "base/memory.h"
#include "symbols/debug_folders.h"

bool tv_symbol_folders_add(struct tv_symbol_folders *folders, const char *path)
{
    struct stat info;
    if (tv_file_stat(path, &info) != 0 || !S_ISDIR(info.st_mode))
        return false;
    size_t length = strlen(path);
    while (length > 0 && path[length - 1] == '/') /* nothing is left of "/" */
        length--;
    char *folder = tv_alloc(length + 1, 1);
    memcpy(folder, path, length);
    folders->folders = tv_array_reserve(folders->folders, &folders->capacity, folders->count + 1,
                                        sizeof *folders->folders);
    folders->folders[folders->count++] = folder;
    return true;
}

/* Open a file that may be the program; close it when its build ID is another one.  The profile
 * names it, so a FIFO or a device is not opened: that might never end. */
static struct tv_elf *symbol_folder_open(const char *path, struct tv_bytes id)
{
    struct tv_error unread = {0};
    struct tv_elf *elf;
    struct stat info;
    if (tv_file_stat(path, &info) != 0 || !S_ISREG(info.st_mode) ||
        tv_elf_read(path, TV_ELF_UNMOVED, &elf, &unread) != TV_OK)
        return NULL;
    if (id.length == 0 || tv_bytes_equal(tv_elf_build_id(elf), id))
        return elf;
    tv_elf_free(elf);
    return NULL;
}

static struct tv_elf *symbol_folder_open_by_id(const char *folder, struct tv_bytes id)
{
    static const char *const endings[] = {".debug", "/elf"};
    char digits[2 * TV_BUILD_ID_MAX + 1], path[PATH_MAX];
    struct tv_elf *elf = NULL;
    if (id.length < TV_BUILD_ID_MIN || id.length > TV_BUILD_ID_MAX)
        return NULL;
    for (size_t i = 0; i < id.length; i++)
        snprintf(digits + 2 * i, 3, "%02x", id.data[i]);
    for (size_t i = 0; i < TV_COUNT(endings) && !elf; i++) {
        int length = snprintf(path, sizeof path, "%s/.build-id/%.2s/%s%s", folder, digits,
                              digits + 2, endings[i]);
        if (length > 0 && (size_t)length < sizeof path)
            elf = symbol_folder_open(path, id);
    }
    return elf;
}

/* Return true for a part of a path that leads upwards. */
static bool symbol_folder_leaves(const char *path)
{
    for (const char *part = path; part; part = strchr(part, '/')) {
        part += *part == '/';
        size_t length = strcspn(part, "/");
        if (length == 2 && part[0] == '.' && part[1] == '.')
            return true;
    }
    return false;
}

static struct tv_elf *symbol_folder_open_by_path(const char *folder, struct tv_bytes name,
                                                 struct tv_bytes id)
{
    static const char *const endings[] = {"", ".debug"};
    char path[PATH_MAX];
    struct tv_elf *elf = NULL;
    if (name.length == 0 || name.length >= PATH_MAX || memchr(name.data, 0, name.length))
        return NULL;
    for (size_t i = 0; i < TV_COUNT(endings) && !elf; i++) {
        int length = snprintf(path, sizeof path, "%s/%.*s%s", folder, (int)name.length,
                              (const char *)name.data, endings[i]);
        if (length > 0 && (size_t)length < sizeof path &&
            !symbol_folder_leaves(path + strlen(folder)))
            elf = symbol_folder_open(path, id);
    }
    return elf;
}

static struct tv_elf *symbol_folders_open(const struct tv_symbol_folders *folders,
                                          struct tv_bytes path, struct tv_bytes id)
{
    struct tv_elf *elf = NULL;
    struct tv_bytes name = tv_bytes_base_name(path);
    while (path.length > 0 && path.data[0] == '/')
        path = (struct tv_bytes){path.data + 1, path.length - 1};
    for (size_t i = 0; i < folders->count && !elf; i++) {
        elf = symbol_folder_open_by_id(folders->folders[i], id);
        elf = elf ? elf : symbol_folder_open_by_path(folders->folders[i], path, id);
        if (!elf && name.length < path.length)
            elf = symbol_folder_open_by_path(folders->folders[i], name, id);
    }
    return elf;
}

struct tv_elf *tv_symbol_folders_find(struct tv_symbol_folders *folders, struct tv_bytes path,
                                      struct tv_bytes id)
{
    if (folders->count == 0)
        return NULL;
    uint64_t hash = tv_hash_u64(tv_hash_bytes(path) ^ tv_hash_u64(tv_hash_bytes(id)));
    uint32_t number = tv_map_find(&folders->found, hash);
    if (number != TV_NONE)
        return folders->elfs[number];
    if (folders->elf_count == TV_SYMBOL_FILES_SOUGHT || folders->open == TV_SYMBOL_FILES_OPEN)
        return NULL;
    struct tv_elf *elf = symbol_folders_open(folders, path, id);
    folders->elfs = tv_array_reserve(folders->elfs, &folders->elf_capacity, folders->elf_count + 1,
                                     sizeof(struct tv_elf *));
    tv_map_set(&folders->found, hash, (uint32_t)folders->elf_count);
    folders->elfs[folders->elf_count++] = elf;
    folders->open += elf != NULL;
    return elf;
}

void tv_symbol_folders_release(struct tv_symbol_folders *folders)
{
    for (size_t i = 0; i < folders->elf_count; i++)
        tv_elf_free(folders->elfs[i]);
    for (size_t i = 0; i < folders->count; i++)
        tv_free(folders->folders[i]);
    tv_free(folders->elfs);
    tv_free(folders->folders);
    tv_map_release(&folders->found);
}

bool tv_symbol_folder_has(const char *folder, const char *path)
{
    size_t length = strlen(folder);
    if (strcmp(path, folder) == 0)
        return true;
    while (length > 0 && folder[length - 1] == '/')
        length--;
    return strncmp(path, folder, length) == 0 && path[length] == '/' &&
           !symbol_folder_leaves(path + length);
}
