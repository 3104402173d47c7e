/* SPDX-License-Identifier: Apache-2.0 */
#include "unit.h"

#include "base/bytes.h"
#include "writers/trace/trace_formats.h"

/* --to counts the words of the list; the command looks them up in the table. */
static void names_are_in_the_order_of_the_table(void **state)
{
    struct tv_bytes list = TV_BYTES(TV_TRACE_FORMAT_NAMES), name;
    size_t count = 0;
    (void)state;
    while (list.length > 0) {
        tv_bytes_split(&list, '|', &name);
        const struct tv_trace_format *format = tv_trace_format_at(count++);
        assert_non_null(format);
        assert_true(tv_bytes_equal(name, tv_bytes_of(format->name)));
        assert_ptr_equal(tv_trace_format_named(format->name), format);
    }
    assert_null(tv_trace_format_at(count));
    assert_null(tv_trace_format_named("xml"));
}

static void endings_choose_a_format(void **state)
{
    static const struct {
        const char *path, *name;
    } known[] = {
        {"a.json", "json"},        {"a.speedscope.json", "speedscope"},
        {"a.pftrace", "perfetto"}, {"a.perfetto-trace", "perfetto"},
        {"a.pprof", "pprof"},      {"a.cpuprofile", "cpuprofile"},
        {"a.trace", NULL},         {"json", NULL},
        {".json", NULL},           {"", NULL},
    };
    (void)state;
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
        const struct tv_trace_format *format = tv_trace_format_of_file(known[i].path);
        assert_string_equal(format ? format->name : "none", known[i].name ? known[i].name : "none");
    }
}

UNIT_TESTS(trace_formats, cmocka_unit_test(names_are_in_the_order_of_the_table),
           cmocka_unit_test(endings_choose_a_format));
