/* SPDX-License-Identifier: Apache-2.0 */
#include "base/library.h"

#include <dlfcn.h>
#include <stdlib.h>

#include "base/types.h"
#include "unit.h"

static void functions_are_found(void **state)
{
    size_t (*length)(const char *text) = NULL;
    int (*number)(const char *text) = NULL;
    const struct tv_library_function functions[] = {{"strlen", &length}, {"atoi", &number}};
    (void)state;
    assert_null(tv_library_find(dlopen(NULL, RTLD_NOW), functions, TV_COUNT(functions)));
    assert_int_equal(length("seven"), 5);
    assert_int_equal(number("7"), 7);
}

static void a_missing_function_is_named(void **state)
{
    size_t (*length)(const char *text) = NULL;
    int (*nothing)(const char *text) = atoi;
    const struct tv_library_function functions[] = {{"no_such_function", &nothing},
                                                    {"strlen", &length}};
    (void)state;
    assert_string_equal(tv_library_find(dlopen(NULL, RTLD_NOW), functions, TV_COUNT(functions)),
                        "no_such_function");
    assert_null(nothing);
    assert_int_equal(length("seven"), 5);
}

UNIT_TESTS(library, cmocka_unit_test(functions_are_found),
           cmocka_unit_test(a_missing_function_is_named));
