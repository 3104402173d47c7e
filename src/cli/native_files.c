/* SPDX-License-Identifier: Apache-2.0 */
/* native_files.c - see native_files.h. */
#include "cli/native_files.h"

#include <string.h>

#include "base/memory.h"

static bool native_file_is_path(const char *path, struct tv_bytes wanted)
{
    return strlen(path) == wanted.length && memcmp(path, wanted.data, wanted.length) == 0;
}

/* NULL: it cannot be read, or there are too many. */
static struct tv_elf *native_file_find(struct tv_native_files *files, struct tv_bytes path)
{
    struct tv_error unread = {0};
    for (size_t i = 0; i < files->count; i++)
        if (native_file_is_path(files->paths[i], path))
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

bool tv_native_files_place(struct tv_native_files *files, struct tv_bytes path, uint64_t address,
                           struct tv_native_place *place)
{
    struct tv_elf_place found = {.line = 0};
    struct tv_demangled written = {.name = {NULL, 0}};
    struct tv_elf *elf = native_file_find(files, path);
    if (!elf || !tv_elf_find(elf, address, &found) || found.function.length == 0)
        return false;
    if (!tv_demangler_read(&files->demangler, found.function, &written))
        written.name = found.function;
    *place = (struct tv_native_place){written.name, written.parameters, found.file, found.line};
    return true;
}

void tv_native_files_release(struct tv_native_files *files)
{
    for (size_t i = 0; i < files->count; i++) {
        tv_elf_free(files->elfs[i]);
        tv_free(files->paths[i]);
    }
    files->count = 0;
    tv_demangler_release(&files->demangler);
}
