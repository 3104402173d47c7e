/* SPDX-License-Identifier: Apache-2.0 */
/*
 * unit.h - what every unit test includes first.
 *
 * A test file of room R is tests/unit/R/x.c.  It ends with the list of its tests
 *
 *     UNIT_TESTS(x, cmocka_unit_test(keeps_order), cmocka_unit_test(grows));
 *
 * and is registered by the line 'x' in tests/unit/R/meson.build.  All files of a module make one
 * program.  A test that cannot run on this system ends with UNIT_SKIP.
 */
#ifndef TV_TESTS_UNIT_H
#define TV_TESTS_UNIT_H

/* cmocka.h wants these before it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

/* Texts of files are bytes.  cmocka 1 converts them to char by itself, cmocka 2 does not. */
#undef assert_string_equal
#define assert_string_equal(a, b)                                                                  \
    _assert_string_equal((const char *)(a), (const char *)(b), __FILE__, __LINE__)

/* End the calling test, which is then counted as skipped.  Do not use cmocka's skip(): it prints
 * "not ok", which TAP counts as a failure. */
#define UNIT_SKIP(why)                                                                             \
    do {                                                                                           \
        unit_mark_skipped(__func__, why);                                                          \
        return;                                                                                    \
    } while (0)

/* Add the TAP directive "SKIP why" to a test's line.  UNIT_SKIP calls it. */
void unit_mark_skipped(const char *test, const char *why);

struct unit_group {
    const struct CMUnitTest *tests;
    size_t count;
};

#define UNIT_TESTS(name, ...)                                                                      \
    static const struct CMUnitTest unit_##name##_tests[] = {__VA_ARGS__};                          \
    extern const struct unit_group unit_##name;                                                    \
    const struct unit_group unit_##name = {unit_##name##_tests, sizeof unit_##name##_tests /       \
                                                                    sizeof unit_##name##_tests[0]}

#endif
