/* SPDX-License-Identifier: Apache-2.0 */
/*
 * unit.h - what every unit test includes first.
 *
 * A test file of room R is tests/unit/R/x.c.  It ends with the list of its tests
 *
 *     UNIT_TESTS(x, cmocka_unit_test(keeps_order), cmocka_unit_test(grows));
 *
 * and is registered by the line 'x' in tests/unit/R/meson.build.  All files of a module make one
 * program.  Do not use cmocka's skip(): the line it prints counts as a failure.
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
