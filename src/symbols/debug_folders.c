/* SPDX-License-Identifier: Apache-2.0 */
#include "symbols/debug_folders.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/bytes.h"
#include "base/hash.h"

#define BY_ID "/.build-id/"

/* The parts of a path in front of a build ID and after it. */
static const struct {
    bool of_home;
    const char *folder, *ending;
} debug_places[TV_DEBUG_PLACES] = {
    [TV_DEBUG_PERF_ELF] = {true, "/.debug" BY_ID, "/elf"},
    [TV_DEBUG_SYSTEM] = {false, TV_DEBUG_FOLDER BY_ID, ".debug"},
    [TV_DEBUG_PERF_DEBUG] = {true, "/.debug" BY_ID, "/debug"},
};

/* Return the folder that a place starts from: that of the user or "". NULL: the user has none. */
static const char *debug_place_root(enum tv_debug_place place)
{
    const char *home = debug_places[place].of_home ? getenv("HOME") : "";
    return home && (home[0] == '/' || home[0] == '\0') ? home : NULL;
}

bool tv_debug_path(enum tv_debug_place place, struct tv_bytes id, char *path, size_t size)
{
    const char *root = debug_place_root(place);
    char digits[2 * TV_BUILD_ID_MAX + 1];
    if (!root || id.length < TV_BUILD_ID_MIN || id.length > TV_BUILD_ID_MAX)
        return false;
    for (size_t i = 0; i < id.length; i++)
        snprintf(digits + 2 * i, 3, "%02x", id.data[i]);
    int length = snprintf(path, size, "%s%s%.2s/%s%s", root, debug_places[place].folder, digits,
                          digits + 2, debug_places[place].ending);
    return length > 0 && (size_t)length < size;
}

/* Read "ab/cdef..." up to the first character that is no digit. Return the number of bytes. */
static size_t debug_read_digits(const char *text, uint8_t *id)
{
    size_t count = 0;
    while (count < TV_BUILD_ID_MAX) {
        int high = tv_hex_digit((uint8_t)text[0]);
        int low = high < 0 ? -1 : tv_hex_digit((uint8_t)text[1]);
        if (low < 0)
            break;
        id[count++] = (uint8_t)(high << 4 | low);
        text += 2;
        text += count == 1 && *text == '/';
    }
    return count;
}

/* The path is made again from its build ID, so no other file can hide behind "..". */
bool tv_debug_path_is_usual(const char *path)
{
    uint8_t id[TV_BUILD_ID_MAX];
    char usual[PATH_MAX];
    const char *digits = strstr(path, BY_ID);
    bool found = false;
    while (digits && !found) {
        digits += strlen(BY_ID);
        struct tv_bytes bytes = {id, debug_read_digits(digits, id)};
        for (int i = 0; i < TV_DEBUG_PLACES && !found; i++)
            found = tv_debug_path((enum tv_debug_place)i, bytes, usual, sizeof usual) &&
                    strcmp(path, usual) == 0;
        digits = strstr(digits, BY_ID);
    }
    return found;
}

/* Each file is in one of 256 folders, whose time of modification is that of its last new file. */
static uint64_t debug_place_state(enum tv_debug_place place, uint64_t state)
{
    char path[PATH_MAX];
    const char *root = debug_place_root(place);
    for (unsigned i = 0; root && i < 256; i++) {
        struct stat info;
        int length = snprintf(path, sizeof path, "%s%s%02x", root, debug_places[place].folder, i);
        if (length < 0 || (size_t)length >= sizeof path || stat(path, &info) != 0)
            continue;
        uint64_t words[] = {state, (uint64_t)place, i, (uint64_t)info.st_mtim.tv_sec,
                            (uint64_t)info.st_mtim.tv_nsec};
        state = tv_hash_bytes((struct tv_bytes){(const uint8_t *)words, sizeof words});
    }
    return state;
}

uint64_t tv_debug_folders_state(void)
{
    return debug_place_state(TV_DEBUG_SYSTEM, debug_place_state(TV_DEBUG_PERF_ELF, 0));
}
