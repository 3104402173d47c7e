/* SPDX-License-Identifier: Apache-2.0 */
/* native_files.c - see native_files.h. */
#include "cli/native_files.h"

#include <string.h>

#include "base/memory.h"

static bool is_path(const char *path, struct tv_bytes wanted)
{
    return strlen(path) == wanted.length && memcmp(path, wanted.data, wanted.length) == 0;
}

struct tv_elf *tv_native_files_find(struct tv_native_files *files, struct tv_bytes path)
{
    struct tv_error unread = {0};
    for (size_t i = 0; i < files->count; i++)
        if (is_path(files->paths[i], path))
            return files->elfs[i];
    if (files->count == TV_NATIVE_FILES || path.length == 0)
        return NULL;
    char *name = tv_alloc(path.length + 1, 1);
    memcpy(name, path.data, path.length);
    struct tv_elf *elf = NULL;
    if (tv_elf_read(name, TV_ELF_UNMOVED, &elf, &unread) != TV_OK)
        elf = NULL;
    files->paths[files->count] = name;
    files->elfs[files->count] = elf;
    files->count++;
    return elf;
}

void tv_native_files_release(struct tv_native_files *files)
{
    for (size_t i = 0; i < files->count; i++) {
        tv_elf_free(files->elfs[i]);
        tv_free(files->paths[i]);
    }
    files->count = 0;
}
