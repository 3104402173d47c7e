/* SPDX-License-Identifier: Apache-2.0 */
/* Places of programs and debug files: which there are, and which paths are none of them. */
#include "unit.h"

#include "symbols/debug_folders.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const uint8_t id_bytes[TV_BUILD_ID_MAX + 1] = {0xab, 0x0c, 0xde};

static void assert_path(enum tv_debug_place place, size_t length, const char *expected)
{
    char path[PATH_MAX];
    assert_true(tv_debug_path(place, (struct tv_bytes){id_bytes, length}, path, sizeof path));
    assert_string_equal(path, expected);
    assert_true(tv_debug_path_is_usual(path));
}

/* The paths of gdb (.build-id of /usr/lib/debug) and of perf (its buildid-cache). */
static void paths_are_those_of_gdb_and_perf(void **state)
{
    (void)state;
    setenv("HOME", "/home/me", 1);
    assert_path(TV_DEBUG_SYSTEM, 3, "/usr/lib/debug/.build-id/ab/0cde.debug");
    assert_path(TV_DEBUG_SYSTEM, 2, "/usr/lib/debug/.build-id/ab/0c.debug");
    assert_path(TV_DEBUG_PERF_ELF, 3, "/home/me/.debug/.build-id/ab/0cde/elf");
    assert_path(TV_DEBUG_PERF_DEBUG, 3, "/home/me/.debug/.build-id/ab/0cde/debug");
    setenv("HOME", "/srv/.build-id/me", 1);
    assert_path(TV_DEBUG_PERF_ELF, 3, "/srv/.build-id/me/.debug/.build-id/ab/0cde/elf");
}

static void build_ids_have_a_usual_size(void **state)
{
    (void)state;
    char path[PATH_MAX];
    setenv("HOME", "/home/me", 1);
    static const size_t unusual[] = {0, 1, TV_BUILD_ID_MAX + 1};
    for (size_t i = 0; i < TV_COUNT(unusual); i++)
        assert_false(tv_debug_path(TV_DEBUG_SYSTEM, (struct tv_bytes){id_bytes, unusual[i]}, path,
                                   sizeof path));
    assert_false(tv_debug_path(TV_DEBUG_SYSTEM, (struct tv_bytes){id_bytes, 3}, path, 20));
    setenv("HOME", "relative", 1);
    assert_false(
        tv_debug_path(TV_DEBUG_PERF_ELF, (struct tv_bytes){id_bytes, 3}, path, sizeof path));
    unsetenv("HOME");
    assert_false(
        tv_debug_path(TV_DEBUG_PERF_ELF, (struct tv_bytes){id_bytes, 3}, path, sizeof path));
}

static void other_paths_are_not_usual(void **state)
{
    (void)state;
    static const char *const others[] = {
        "",
        "/etc/passwd",
        "/usr/lib/debug/.build-id/",
        "/usr/lib/debug/.build-id/ab",
        "/usr/lib/debug/.build-id/ab/.debug",
        "/usr/lib/debug/.build-id/ab/0cde",
        "/usr/lib/debug/.build-id/ab/0cd.debug",
        "/usr/lib/debug/.build-id/ab0cde.debug",
        "/usr/lib/debug/.build-id/AB/0cde.debug",
        "/usr/lib/debug/.build-id/ab/0c/de.debug",
        "/usr/lib/debug/.build-id/ab/0cde.debug/../../../../../../etc/passwd",
        "/usr/lib/debug/.build-id/../../../../etc/passwd",
        "/usr/lib/debug/.build-id/ab/../../.build-id/ab/0cde.debug",
        "/usr/lib/debug/../debug/.build-id/ab/0cde.debug",
        "/tmp/.build-id/ab/0cde.debug",
        "/home/me/.debug/.build-id/ab/0cde/elf2",
        "/home/me/.debug/.build-id/ab/0cde.debug",
        "/home/you/.debug/.build-id/ab/0cde/elf",
    };
    setenv("HOME", "/home/me", 1);
    for (size_t i = 0; i < TV_COUNT(others); i++)
        assert_false(tv_debug_path_is_usual(others[i]));
}

static void make_folder(const char *home, const char *name, char *path, size_t size)
{
    snprintf(path, size, "%s%s", home, name);
    assert_int_equal(mkdir(path, 0700), 0);
}

static void new_files_change_the_state(void **state)
{
    (void)state;
    char home[] = "/tmp/debug-folders-XXXXXX", path[PATH_MAX];
    assert_non_null(mkdtemp(home));
    setenv("HOME", home, 1);
    uint64_t before = tv_debug_folders_state();
    make_folder(home, "/.debug", path, sizeof path);
    make_folder(home, "/.debug/.build-id", path, sizeof path);
    assert_true(tv_debug_folders_state() == before);
    make_folder(home, "/.debug/.build-id/7f", path, sizeof path);
    assert_true(tv_debug_folders_state() != before);
    before = tv_debug_folders_state();
    assert_true(tv_debug_folders_state() == before);
    for (size_t length = strlen(path); length > strlen(home); length = strlen(path)) {
        assert_int_equal(rmdir(path), 0);
        *strrchr(path, '/') = '\0';
    }
    assert_int_equal(rmdir(home), 0);
}

UNIT_TESTS(debug_folders, cmocka_unit_test(paths_are_those_of_gdb_and_perf),
           cmocka_unit_test(build_ids_have_a_usual_size),
           cmocka_unit_test(other_paths_are_not_usual),
           cmocka_unit_test(new_files_change_the_state));
