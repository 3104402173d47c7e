/* SPDX-License-Identifier: Apache-2.0 */
#include "unit.h"

#include <string.h>

#include "writers/trace/trace_formats.h"

/* --to counts the words of the list; the command looks them up in the table. */
static void names_are_in_the_order_of_the_table(void **state)
{
    char list[] = TV_TRACE_FORMAT_NAMES;
    size_t count = 0;
    (void)state;
    for (char *name = strtok(list, "|"); name; name = strtok(NULL, "|")) {
        const struct tv_trace_format *format = tv_trace_format_at(count++);
        assert_non_null(format);
        assert_string_equal(format->name, name);
        assert_ptr_equal(tv_trace_format_named(name), format);
    }
    assert_null(tv_trace_format_at(count));
    assert_null(tv_trace_format_named("xml"));
}

UNIT_TESTS(trace_formats, cmocka_unit_test(names_are_in_the_order_of_the_table));
