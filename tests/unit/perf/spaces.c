/* SPDX-License-Identifier: Apache-2.0 */
/* Mappings of processes: the file of an address, whatever was mapped there before. */
#define _POSIX_C_SOURCE 200809L
#include "unit.h"

#include <stdlib.h>
#include <string.h>

#include "perf/collect.h"

static void map_file(struct tv_perf_spaces *spaces, uint32_t pid, uint64_t start, uint64_t length,
                     uint64_t offset, const char *path)
{
    struct tv_perf_mapping mapping = {
        .start = start, .length = length, .offset = offset, .path = path, .executable = true};
    tv_perf_spaces_map(spaces, pid, &mapping);
}

/* The path there, and the place in its file; "-": none. */
static const char *path_at(const struct tv_perf_spaces *spaces, uint32_t pid, uint64_t address,
                           uint64_t expected)
{
    uint64_t place;
    uint32_t file = tv_perf_spaces_find(spaces, pid, address, &place);
    if (file == TV_PERF_NO_FILE)
        return "-";
    assert_int_equal(place, expected);
    return spaces->files[file].path;
}

static void finds_files(void **state)
{
    (void)state;
    struct tv_perf_spaces spaces;
    tv_perf_spaces_init(&spaces);
    map_file(&spaces, 7, 0x1000, 0x3000, 0x500, "/a");
    map_file(&spaces, 7, 0x8000, 0x1000, 0, "/b");
    assert_string_equal(path_at(&spaces, 7, 0x1000, 0x500), "/a");
    assert_string_equal(path_at(&spaces, 7, 0x3fff, 0x34ff), "/a");
    assert_string_equal(path_at(&spaces, 7, 0x4000, 0), "-");
    assert_string_equal(path_at(&spaces, 7, 0xfff, 0), "-");
    assert_string_equal(path_at(&spaces, 8, 0x1000, 0), "-");
    /* A child has its parent's until its exec. */
    tv_perf_spaces_fork(&spaces, 7, 8);
    assert_string_equal(path_at(&spaces, 8, 0x8001, 1), "/b");
    tv_perf_spaces_clear(&spaces, 8);
    assert_string_equal(path_at(&spaces, 8, 0x8001, 0), "-");
    assert_string_equal(path_at(&spaces, 7, 0x8001, 1), "/b");
    /* Two processes have one file; code that was made at run time belongs to its own. */
    map_file(&spaces, 9, 0x1000, 0x1000, 0, "/b");
    assert_int_equal(spaces.file_count, 3);
    map_file(&spaces, 7, 0x20000, 0x1000, 0, "//anon");
    map_file(&spaces, 9, 0x20000, 0x1000, 0, "/memfd:code (deleted)");
    assert_int_equal(spaces.file_count, 5);
    assert_int_equal(spaces.files[3].pid, 7);
    assert_string_equal(path_at(&spaces, 9, 0x20123, 0x20123), "");
    tv_perf_spaces_release(&spaces);
}

/* The end of the address space is no way out of it. */
static void refuses_odd_mappings(void **state)
{
    (void)state;
    struct tv_perf_spaces spaces;
    tv_perf_spaces_init(&spaces);
    map_file(&spaces, 7, 0x1000, 0, 0, "/a");
    map_file(&spaces, 7, UINT64_MAX - 5, 10, 0, "/a");
    assert_int_equal(spaces.file_count, 1);
    map_file(&spaces, 7, 0, UINT64_MAX, UINT64_MAX, "/a");
    assert_string_equal(path_at(&spaces, 7, 1, 0), "/a");
    tv_perf_spaces_release(&spaces);
}

#define LENGTH 200

/* Against an array with a file for each address: mappings at random places, one over another. */
static void covers_what_was_there(void **state)
{
    (void)state;
    static const char *const paths[] = {"/a", "/b", "/c", "/d"};
    for (unsigned round = 0; round < 200; round++) {
        struct tv_perf_spaces spaces;
        const char *naive[LENGTH];
        uint64_t starts[LENGTH] = {0};
        for (size_t i = 0; i < LENGTH; i++)
            naive[i] = "-";
        unsigned seed = round;
        tv_perf_spaces_init(&spaces);
        for (unsigned i = 0; i < 30; i++) {
            uint64_t start = (uint64_t)rand_r(&seed) % (LENGTH - 1);
            uint64_t length = 1 + (uint64_t)rand_r(&seed) % (LENGTH - start);
            const char *path = paths[rand_r(&seed) % 4];
            map_file(&spaces, 7, start, length, 1000, path);
            for (uint64_t at = start; at < start + length; at++) {
                naive[at] = path;
                starts[at] = start;
            }
        }
        for (uint64_t at = 0; at < LENGTH; at++)
            assert_string_equal(path_at(&spaces, 7, at, at - starts[at] + 1000), naive[at]);
        tv_perf_spaces_release(&spaces);
    }
}

UNIT_TESTS(spaces, cmocka_unit_test(finds_files), cmocka_unit_test(refuses_odd_mappings),
           cmocka_unit_test(covers_what_was_there));
