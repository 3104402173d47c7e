/* SPDX-License-Identifier: Apache-2.0 */
/*
 * elf.c - fuzzes symbols by build ID: an ELF file from anywhere, and its name in the usual folders.
 *
 * The file is read from memory that has a name in /proc, as nothing else gives libdw a path.  Its
 * bytes also stand for a path and for a build ID: whatever these are, no path leads out of the
 * folders.
 */
#define _GNU_SOURCE /* memfd_create */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/bytes.h"
#include "symbols/debug_folders.h"
#include "symbols/elf.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define HOME "/home/fuzz"
#define MAX_PATH 512

static void require(bool holds)
{
    if (!holds)
        abort();
}

static bool is_inside_folders(const char *path)
{
    return (tv_text_starts_with(path, HOME "/.debug/.build-id/") ||
            tv_text_starts_with(path, TV_DEBUG_FOLDER "/.build-id/")) &&
           !strstr(path, "..");
}

static void fuzz_build_id(struct tv_bytes id)
{
    char path[MAX_PATH];
    for (int place = 0; place < TV_DEBUG_PLACES; place++) {
        if (!tv_debug_path((enum tv_debug_place)place, id, path, sizeof path))
            continue;
        require(is_inside_folders(path));
        require(tv_debug_path_is_usual(path));
    }
}

static void fuzz_path(const uint8_t *data, size_t size)
{
    char path[MAX_PATH];
    size_t length = size < sizeof path - 1 ? size : sizeof path - 1;
    if (length > 0)
        memcpy(path, data, length);
    path[length] = '\0';
    require(!tv_debug_path_is_usual(path) || is_inside_folders(path));
}

static void fuzz_addresses(struct tv_elf *elf)
{
    static const uint64_t addresses[] = {0, 1, 0x1000, 0x1010, 0x401000, UINT64_MAX};
    struct tv_elf_mapping mapping = {0x1000, 0x2000};
    for (size_t i = 0; i < TV_COUNT(addresses); i++) {
        struct tv_elf_place place, frames[4];
        uint64_t own;
        if (tv_elf_find(elf, addresses[i], &place) && place.function.length > 0)
            require(place.function.data[place.function.length] == '\0');
        if (tv_elf_address_of_mapping(elf, &mapping, addresses[i], &own))
            (void)tv_elf_find_frames(elf, own, frames, TV_COUNT(frames));
    }
}

static void fuzz_file(const char *path)
{
    struct tv_elf *elf;
    struct tv_error err = {0};
    if (tv_elf_read(path, TV_ELF_UNMOVED, &elf, &err) != TV_OK)
        return;
    fuzz_build_id(tv_elf_build_id(elf));
    fuzz_addresses(elf);
    tv_elf_free(elf);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char path[32];
    setenv("HOME", HOME, 1);
    fuzz_path(data, size);
    fuzz_build_id((struct tv_bytes){data, size});
    int file = memfd_create("fuzz", MFD_CLOEXEC);
    if (file < 0)
        return 0;
    snprintf(path, sizeof path, "/proc/self/fd/%d", file);
    if (write(file, data, size) == (ssize_t)size)
        fuzz_file(path);
    close(file);
    return 0;
}
