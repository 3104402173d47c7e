/* SPDX-License-Identifier: Apache-2.0 */
/*
 * debug_file.c - see debug_file.h.
 */
#include "symbols/debug_file.h"

#include <elfutils/libdwelf.h>
#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"

#define FOLDER "/usr/lib/debug"
#define BUILD_ID_LEAST 2
#define BUILD_ID_MOST 64
#define PIECE 65536

/* Continue the checksum of .gnu_debuglink: CRC-32 of IEEE 802.3. */
static uint32_t debug_file_update_crc(uint32_t crc, const uint8_t *bytes, size_t length)
{
    crc = ~crc;
    for (size_t i = 0; i < length; i++) {
        crc ^= bytes[i];
        for (int bit = 0; bit < 8; bit++)
            crc = crc >> 1 ^ (crc & 1 ? UINT32_C(0xEDB88320) : 0);
    }
    return ~crc;
}

static bool debug_file_has_crc(int file, uint32_t expected)
{
    uint8_t piece[PIECE];
    uint32_t crc = 0;
    off_t at = 0;
    ssize_t got;
    while ((got = pread(file, piece, sizeof piece, at)) > 0) {
        crc = debug_file_update_crc(crc, piece, (size_t)got);
        at += got;
    }
    return got == 0 && crc == expected;
}

/* Open a regular file. Return -1 when there is none. */
static int debug_file_open_regular(const char *path)
{
    struct stat found;
    int file = tv_file_open(path, 0);
    if (file >= 0 && fstat(file, &found) == 0 && S_ISREG(found.st_mode))
        return file;
    if (file >= 0)
        close(file);
    return -1;
}

static bool debug_file_has_build_id(int file, const void *id, ssize_t length)
{
    const void *other;
    Elf *elf = elf_begin(file, ELF_C_READ, NULL);
    bool same = elf && dwelf_elf_gnu_build_id(elf, &other) == length &&
                memcmp(id, other, (size_t)length) == 0;
    if (elf)
        elf_end(elf);
    return same;
}

static int debug_file_open_by_build_id(Elf *elf)
{
    const void *id;
    char path[sizeof FOLDER "/.build-id//.debug" + 2 * BUILD_ID_MOST];
    ssize_t length = dwelf_elf_gnu_build_id(elf, &id);
    if (length < BUILD_ID_LEAST || length > BUILD_ID_MOST)
        return -1;
    const uint8_t *bytes = id;
    int at = snprintf(path, sizeof path, FOLDER "/.build-id/%02x/", bytes[0]);
    for (ssize_t i = 1; i < length; i++)
        at += snprintf(path + at, sizeof path - (size_t)at, "%02x", bytes[i]);
    snprintf(path + at, sizeof path - (size_t)at, ".debug");
    int file = debug_file_open_regular(path);
    if (file < 0 || debug_file_has_build_id(file, id, length))
        return file;
    close(file);
    return -1;
}

static int debug_file_open_by_link(Elf *elf, const char *path)
{
    /* The parts in front of and behind the program's directory. */
    static const char *const places[][2] = {{"", ""}, {"", ".debug/"}, {FOLDER, ""}};
    GElf_Word crc;
    char real[PATH_MAX], candidate[2 * PATH_MAX];
    const char *name = dwelf_elf_gnu_debuglink(elf, &crc);
    /* Accept plain names only: the program must not direct us to another directory. */
    if (!name || name[0] == '\0' || strchr(name, '/') || strlen(name) > NAME_MAX ||
        !realpath(path, real))
        return -1;
    int folder = (int)(strrchr(real, '/') - real);
    for (size_t i = 0; i < sizeof places / sizeof places[0]; i++) {
        snprintf(candidate, sizeof candidate, "%s%.*s/%s%s", places[i][0], folder, real,
                 places[i][1], name);
        int file = debug_file_open_regular(candidate);
        if (file >= 0 && debug_file_has_crc(file, crc))
            return file;
        if (file >= 0)
            close(file);
    }
    return -1;
}

int tv_debug_file_open(Elf *elf, const char *path)
{
    int file = debug_file_open_by_build_id(elf);
    return file >= 0 ? file : debug_file_open_by_link(elf, path);
}
