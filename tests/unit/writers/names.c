/* SPDX-License-Identifier: Apache-2.0 */
#include "unit.h"

#include <string.h>

#include "base/bytes.h"
#include "writers/text/names.h"

static void assert_text(struct tv_out *out, const char *want)
{
    assert_int_equal(out->length, strlen(want));
    assert_memory_equal(out->buffer, want, out->length);
    out->length = 0;
}

static void writes_methods(void **state)
{
    (void)state;
    struct tv_out out;
    struct tv_trace_info *head = tv_trace_info_new();
    struct tv_frame bare = {.name = tv_trace_info_string(head, TV_BYTES("run\tit\n"))};
    struct tv_frame full = {.class_name = tv_trace_info_string(head, TV_BYTES("a.B")),
                            .name = tv_trace_info_string(head, TV_BYTES("c")),
                            .signature = tv_trace_info_string(head, TV_BYTES("()V"))};
    tv_out_init_memory(&out);
    tv_names_full(&out, head, &bare);
    assert_text(&out, "run it ");
    tv_names_method(&out, head, &full);
    assert_text(&out, "a.B.c");
    tv_names_full(&out, head, &full);
    assert_text(&out, "a.B.c ()V");

    struct tv_name_cache names;
    tv_trace_info_add_frame(head, &bare);
    uint32_t index = tv_trace_info_add_frame(head, &full);
    tv_name_cache_init(&names, head);
    for (int i = 0; i < 2; i++) {
        struct tv_bytes text = tv_name_cache_get(&names, index);
        assert_true(tv_bytes_equal(text, TV_BYTES("a.B.c ()V")));
        text = tv_name_cache_get(&names, 0);
        assert_true(tv_bytes_equal(text, TV_BYTES("run it ")));
    }
    tv_name_cache_release(&names);
    tv_out_release(&out);
    tv_trace_info_free(head);
}

/* Half a tenth is rounded up; nothing of nothing is 0; huge figures do not overflow. */
static void writes_percentages(void **state)
{
    (void)state;
    static const struct {
        int64_t part, whole;
        const char *want;
    } cases[] = {
        {1, 1, "100.0"},
        {1, 3, "33.3"},
        {2, 3, "66.7"},
        {1, 2000, "0.1"},
        {1, 2001, "0.0"},
        {0, 0, "0.0"},
        {INT64_MAX / 2, INT64_MAX, "50.0"},
        {3, 2, "150.0"},
    };
    struct tv_out out;
    tv_out_init_memory(&out);
    for (size_t i = 0; i < TV_COUNT(cases); i++) {
        tv_names_percent(&out, cases[i].part, cases[i].whole);
        assert_text(&out, cases[i].want);
    }
    tv_out_release(&out);
}

static enum tv_status count_bytes(void *context, struct tv_bytes bytes, struct tv_error *err)
{
    size_t *count = context;
    (void)err;
    for (size_t i = 0; i < bytes.length; i++)
        assert_true((bytes.data[i] >= '0' && bytes.data[i] <= '9') || bytes.data[i] == ' ');
    *count += bytes.length;
    return TV_OK;
}

/* Columns keep their width wherever the buffer ends. */
static void aligns_columns(void **state)
{
    (void)state;
    struct tv_out out;
    size_t count = 0;
    tv_out_init_memory(&out);
    tv_names_time_column(&out, 8, 1234567, 1000000, 3);
    assert_text(&out, "   1.235");
    tv_names_number_column(&out, 2, 12345);
    assert_text(&out, "12345");
    tv_names_percent_column(&out, 6, 1, 2);
    assert_text(&out, "  50.0");
    tv_out_release(&out);

    tv_out_init(&out, count_bytes, &count);
    for (int i = 0; i < 100000; i++)
        tv_names_number_column(&out, 7, (uint64_t)i);
    assert_int_equal(tv_out_finish(&out, NULL), TV_OK);
    assert_int_equal(count, 700000);
    tv_out_release(&out);
}

UNIT_TESTS(names, cmocka_unit_test(writes_methods), cmocka_unit_test(writes_percentages),
           cmocka_unit_test(aligns_columns));
