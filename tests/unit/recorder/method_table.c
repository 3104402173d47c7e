/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Files that lay at one address one after the other.
 */
#include "unit.h"

#include <stdio.h>

#include "recorder/method_table.h"
#include "recorder/recording.h"

static void add(struct tv_module_history *history, const char *path, uint64_t from, uint64_t to)
{
    struct tv_module_span span = {
        .start = 0x7000, .end = 0x8000, .bias = 0x6000, .from = from, .to = to};
    snprintf(span.path, sizeof span.path, "%s", path);
    assert_true(tv_module_history_add(history, &span));
}

static void check(struct tv_module_history *history, uint64_t address, uint64_t ticks,
                  const char *file, const char *name)
{
    char room[64];
    struct tv_recording_method method = {.class_name = "none"};
    tv_module_history_name(history, tv_module_history_key(history, address, ticks), &method, room,
                           sizeof room);
    assert_string_equal(method.name, name);
    if (file)
        assert_string_equal(method.file, file);
    else
        assert_null(method.file);
}

/* A time is of the file that had not gone by then; without one it is nobody's, or the only one's.
 */
static void tells_files_apart(void **state)
{
    (void)state;
    struct tv_module_history history = {0};
    check(&history, 0x7123, 5, NULL, "0x7123");
    add(&history, "/a.so", 0, 100);
    check(&history, 0x7123, TV_MODULE_TIME_NONE, "/a.so", "0x1123");
    add(&history, "/b.so", 100, TV_MODULE_TIME_NOW);
    for (unsigned round = 0; round < 2; round++) {
        check(&history, 0x7123, 1, "/a.so", "0x1123");
        check(&history, 0x7123, 100, "/a.so", "0x1123");
        check(&history, 0x7123, 101, "/b.so", "0x1123");
        check(&history, 0x7fff, TV_MODULE_TIME_NOW, "/b.so", "0x1fff");
        check(&history, 0x8000, 50, NULL, "0x8000");
        check(&history, 0x6fff, 50, NULL, "0x6fff");
        check(&history, 0x7123, TV_MODULE_TIME_NONE, NULL, "0x7123");
    }
    tv_module_history_release(&history);
}

/* A later line of the same file has its end. */
static void learns_of_ends(void **state)
{
    (void)state;
    struct tv_module_history history = {0};
    add(&history, "/a.so", 0, TV_MODULE_TIME_NOW);
    add(&history, "/a.so", 0, 10);
    assert_int_equal(history.count, 1);
    check(&history, 0x7001, 10, "/a.so", "0x1001");
    check(&history, 0x7001, 11, NULL, "0x7001");
    tv_module_history_release(&history);
}

/* An address with more bits than a key can hold is stored unchanged. */
static void leaves_large_addresses(void **state)
{
    (void)state;
    struct tv_module_history history = {0};
    add(&history, "/a.so", 0, TV_MODULE_TIME_NOW);
    uint64_t large = UINT64_C(1) << 50 | 0x7001;
    assert_int_equal(tv_module_history_key(&history, large, 5), large);
    tv_module_history_release(&history);
}

UNIT_TESTS(method_table, cmocka_unit_test(tells_files_apart), cmocka_unit_test(learns_of_ends),
           cmocka_unit_test(leaves_large_addresses));
