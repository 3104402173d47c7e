/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Samples and their text.  The expected lines are those of Android's profiler and of the JDK's, as
 * their documentation and the format strings of their writers give them.
 */
#include "unit.h"

#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "recorder/samples/samples.h"

/* Wed Jul 21 12:03:46 2010 UTC; the zone is set to that by the tests. */
#define NOW 1279713826

static uint32_t place(struct tv_samples *samples, uint64_t method, const char *name, int32_t line)
{
    char class_name[] = "java.lang.Long", file[] = "Long.java", text[64];
    struct tv_sample_element element = {method, line, class_name, text, file};
    snprintf(text, sizeof text, "%s", name);
    uint32_t known = tv_samples_find_element(samples, method, line);
    return known != 0 ? known : tv_samples_add_element(samples, &element);
}

static char *text_of(const struct tv_samples *samples, enum tv_hprof_dialect dialect)
{
    char *text = NULL;
    size_t length = 0;
    FILE *to = open_memstream(&text, &length);
    setenv("TZ", "UTC", 1);
    assert_true(tv_hprof_text_write(samples, dialect, NOW, to));
    fclose(to);
    return text;
}

static void writes_an_empty_table(void **state)
{
    (void)state;
    struct tv_samples samples = {0};
    char *text = text_of(&samples, TV_HPROF_ANDROID);
    assert_string_equal(text, "CPU SAMPLES BEGIN (total = 0) Wed Jul 21 12:03:46 2010\n"
                              "rank   self  accum   count trace method\n"
                              "CPU SAMPLES END\n");
    free(text);
}

/* 542 of 826 are 65.62 %: the line that Android's documentation shows, with the id it would have.
 */
static void fill(struct tv_samples *samples)
{
    uint32_t leaf[] = {place(samples, 1, "parseLong", 3), place(samples, 2, "main", -1)};
    uint32_t native[] = {place(samples, 3, "nap", TV_SAMPLES_NATIVE_LINE)};
    tv_samples_begin_tick(samples);
    uint32_t one = tv_samples_add_thread(samples, "main", "main");
    uint32_t other = tv_samples_add_thread(samples, "gone", NULL);
    tv_samples_end_unseen_threads(samples);
    for (unsigned i = 0; i < 284; i++)
        assert_true(tv_samples_add(samples, other, native, 1));
    for (unsigned i = 0; i < 542; i++)
        assert_true(tv_samples_add(samples, one, leaf, 2));
    assert_false(tv_samples_add(samples, one, leaf, 0));
    tv_samples_begin_tick(samples);
    assert_true(tv_samples_mark_thread_seen(samples, one));
    tv_samples_end_unseen_threads(samples);
}

static void writes_what_android_wrote(void **state)
{
    (void)state;
    struct tv_samples samples = {0};
    fill(&samples);
    char *text = text_of(&samples, TV_HPROF_ANDROID);
    assert_string_equal(text, "THREAD START (obj=1, id = 200001, name=\"main\", group=\"main\")\n"
                              "THREAD START (obj=2, id = 200002, name=\"gone\", group=\"null\")\n"
                              "THREAD END (id = 200002)\n"
                              "TRACE 300002: (thread=200001)\n"
                              "\tjava.lang.Long.parseLong(Long.java:3)\n"
                              "\tjava.lang.Long.main(Long.java)\n"
                              "TRACE 300001: (thread=200002)\n"
                              "\tjava.lang.Long.nap(Native Method)\n"
                              "CPU SAMPLES BEGIN (total = 826) Wed Jul 21 12:03:46 2010\n"
                              "rank   self  accum   count trace method\n"
                              "   1 65.62% 65.62%     542  300002 java.lang.Long.parseLong\n"
                              "   2 34.38% 100.00%     284  300001 java.lang.Long.nap\n"
                              "CPU SAMPLES END\n");
    free(text);
    tv_samples_release(&samples);
}

static void writes_what_the_jdk_wrote(void **state)
{
    (void)state;
    struct tv_samples samples = {0};
    fill(&samples);
    char *text = text_of(&samples, TV_HPROF_JDK);
    assert_non_null(strstr(text, "id = 200000, name=\"main\", group=\"main\")\n"));
    assert_non_null(strstr(text, "TRACE 300001:\n\tjava.lang.Long.parseLong(Long.java:3)\n"
                                 "\tjava.lang.Long.main(Long.java:Unknown line)\n"));
    assert_non_null(strstr(text, "\tjava.lang.Long.nap(Long.java:Native method)\n"));
    assert_non_null(strstr(text, "   1 65.62% 65.62%     542 300001 java.lang.Long.parseLong\n"));
    free(text);
    tv_samples_release(&samples);
}

/* The layout of the format's description, written out: one thread, one stack of one frame. */
static void writes_the_binary_form(void **state)
{
    static const uint8_t expected[] =
        "JAVA PROFILE 1.0.2\0\0\0\0\4\0\0\0\1\0\0\0\2"
        "\x0e\0\0\0\0\0\0\0\6\0\0\0\2\0\x0c"
        "\x01\0\0\0\0\0\0\0\5\0\0\0\1t"
        "\x01\0\0\0\0\0\0\0\5\0\0\0\2g"
        "\x0a\0\0\0\0\0\0\0\x18\0\3\x0d\x41\0\0\0\1\0\0\0\0\0\0\0\1\0\0\0\2\0\0\0\0"
        "\x01\0\0\0\0\0\0\0\x12\0\0\0\3java.lang.Long"
        "\x02\0\0\0\0\0\0\0\x10\0\0\0\1\0\0\0\1\0\0\0\0\0\0\0\3"
        "\x01\0\0\0\0\0\0\0\5\0\0\0\4m"
        "\x01\0\0\0\0\0\0\0\x0d\0\0\0\5Long.java"
        "\x04\0\0\0\0\0\0\0\x18\0\0\0\1\0\0\0\4\0\0\0\0\0\0\0\5\0\0\0\1\xff\xff\xff\xfd"
        "\x05\0\0\0\0\0\0\0\x10\0\4\x93\xe1\0\3\x0d\x41\0\0\0\1\0\0\0\1"
        "\x0d\0\0\0\0\0\0\0\x10\0\0\0\1\0\0\0\1\0\0\0\1\0\4\x93\xe1";
    (void)state;
    struct tv_samples samples = {0};
    uint32_t stack[] = {place(&samples, 9, "m", TV_SAMPLES_NATIVE_LINE)};
    tv_samples_begin_tick(&samples);
    assert_true(tv_samples_add(&samples, tv_samples_add_thread(&samples, "t", "g"), stack, 1));
    char *bytes = NULL;
    size_t length = 0;
    FILE *to = open_memstream(&bytes, &length);
    assert_true(tv_hprof_binary_write(&samples, 12, UINT64_C(0x100000002), to));
    fclose(to);
    assert_int_equal(length, sizeof expected - 1);
    assert_memory_equal(bytes, expected, length);
    free(bytes);
    tv_samples_release(&samples);
}

/* A host may have set another locale: the numbers keep their points. */
static void writes_points_in_any_locale(void **state)
{
    (void)state;
    struct tv_samples samples = {0};
    fill(&samples);
    locale_t german = newlocale(LC_ALL_MASK, "de_DE.UTF-8", (locale_t)0);
    locale_t before = german == (locale_t)0 ? (locale_t)0 : uselocale(german);
    char *text = text_of(&samples, TV_HPROF_ANDROID);
    assert_non_null(strstr(text, " 65.62%"));
    assert_non_null(strstr(text, "Wed Jul"));
    if (german != (locale_t)0) {
        uselocale(before);
        freelocale(german);
    }
    free(text);
    tv_samples_release(&samples);
}

/* Equal counts by rising id; a thread that comes back after its END is another one. */
/* A name is no longer than its line or its quotes, and a file no longer than its parentheses. */
static void writes_odd_names(void **state)
{
    (void)state;
    static const char *const expected[] = {
        "THREAD START (obj=1, id = 200001, name=\"a 'b' (c)\", group=\" d   e\")\n"
        "TRACE 300001: (thread=200001)\n"
        "\ta b.c d(/x (1)/e.c:3)\n"
        "\tf.g(/y[/e .c)\n"
        "CPU SAMPLES BEGIN (total = 1) Wed Jul 21 12:03:46 2010\n"
        "rank   self  accum   count trace method\n"
        "   1 100.00% 100.00%       1  300001 a b.c d\n"
        "CPU SAMPLES END\n",
        "JAVA PROFILE 1.0.1, created Wed Jul 21 12:03:46 2010\n\n--------\n\n"
        "THREAD START (obj=1, id = 200000, name=\"a 'b' (c)\", group=\" d   e\")\n"
        "TRACE 300000:\n"
        "\ta b.c d(/x (1)/e.c:3)\n"
        "\tf.g(/y[/e .c:Unknown line)\n"
        "CPU SAMPLES BEGIN (total = 1) Wed Jul 21 12:03:46 2010\n"
        "rank   self  accum   count trace method\n"
        "   1 100.00% 100.00%       1 300000 a b.c d\n"
        "CPU SAMPLES END\n",
    };
    struct tv_samples samples = {0};
    char names[][12] = {"a\nb", "c\rd", "/x (1)/e.c", "f", "g", "/y(/e\t.c"};
    struct tv_sample_element leaf = {1, 3, names[0], names[1], names[2]};
    struct tv_sample_element root = {2, TV_SAMPLES_NO_LINE, names[3], names[4], names[5]};
    tv_samples_begin_tick(&samples);
    uint32_t thread = tv_samples_add_thread(&samples, "a \"b\" (c)", "\td\n\r\te");
    tv_samples_end_unseen_threads(&samples);
    uint32_t stack[] = {tv_samples_add_element(&samples, &leaf),
                        tv_samples_add_element(&samples, &root)};
    assert_true(tv_samples_add(&samples, thread, stack, 2));
    for (unsigned i = 0; i < 2; i++) {
        char *text = text_of(&samples, i == 0 ? TV_HPROF_ANDROID : TV_HPROF_JDK);
        assert_string_equal(text, expected[i]);
        free(text);
    }
    tv_samples_release(&samples);
}

static void ranks_and_returns(void **state)
{
    (void)state;
    struct tv_samples samples = {0};
    tv_samples_begin_tick(&samples);
    uint32_t id = tv_samples_add_thread(&samples, "a", "g");
    tv_samples_end_unseen_threads(&samples);
    for (uint32_t i = 0; i < 200; i++) {
        uint32_t stack[] = {place(&samples, i, "m", 1)};
        for (uint32_t n = 0; n < 1 + (i == 150); n++)
            assert_true(tv_samples_add(&samples, id, stack, 1));
    }
    uint32_t *order = tv_samples_rank_traces(&samples);
    assert_int_equal(order[0], 150);
    assert_int_equal(order[1], 0);
    assert_int_equal(order[199], 199);
    free(order);
    tv_samples_begin_tick(&samples);
    tv_samples_end_unseen_threads(&samples);
    tv_samples_begin_tick(&samples);
    assert_false(tv_samples_mark_thread_seen(&samples, id));
    assert_int_equal(tv_samples_add_thread(&samples, "a", "g"), TV_SAMPLES_FIRST_THREAD + 1);
    tv_samples_release(&samples);
}

UNIT_TESTS(samples, cmocka_unit_test(writes_an_empty_table),
           cmocka_unit_test(writes_what_android_wrote), cmocka_unit_test(writes_what_the_jdk_wrote),
           cmocka_unit_test(writes_points_in_any_locale), cmocka_unit_test(writes_odd_names),
           cmocka_unit_test(ranks_and_returns), cmocka_unit_test(writes_the_binary_form));
