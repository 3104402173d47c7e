/* SPDX-License-Identifier: Apache-2.0 */
#include "unit.h"

#include "base/bytes.h"
#include "cli/input/selection.h"

static void reads_ranges(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        tv_ns from, to;
    } good[] = {
        {"1:2", 1000000, 2000000},     {"1.5ms:2s", 1500000, 2000000000},
        {":300us", INT64_MIN, 300000}, {"2s:", 2000000000, INT64_MAX},
        {":", INT64_MIN, INT64_MAX},   {"0:7ns", 0, 7},
    };
    static const char *const bad[] = {"", "5", "2:1", "1:1", "a:b", "1:2:3", "1ms:x", "1m:2m"};
    for (size_t i = 0; i < TV_COUNT(good); i++) {
        tv_ns from, to;
        assert_int_equal(tv_range_parse(good[i].text, &from, &to, NULL), TV_OK);
        assert_true(from == good[i].from && to == good[i].to);
    }
    for (size_t i = 0; i < TV_COUNT(bad); i++) {
        tv_ns from, to;
        assert_int_equal(tv_range_parse(bad[i], &from, &to, NULL), TV_ERR_USAGE);
    }
}

static uint32_t add_thread(struct tv_trace_info *head, uint64_t id, const char *name)
{
    struct tv_thread thread = {.id = id, .name = tv_trace_info_string(head, tv_bytes_of(name))};
    return tv_trace_info_add_thread(head, &thread);
}

/* By name or number; a name that looks like a number is both. */
static void finds_threads(void **state)
{
    (void)state;
    struct tv_trace_info *head = tv_trace_info_new();
    uint32_t main_thread = add_thread(head, 7, "main"), seven = add_thread(head, 9, "7");
    uint32_t other = add_thread(head, 11, "Binder");
    const char *words[] = {"7", "Binder"};
    struct tv_words by_number = {words, 1, 1}, both = {words, 2, 2}, none = {NULL, 0, 0};
    assert_true(tv_thread_is_named(head, main_thread, &by_number));
    assert_true(tv_thread_is_named(head, seven, &by_number));
    assert_false(tv_thread_is_named(head, other, &by_number));
    assert_true(tv_thread_is_named(head, other, &both));
    assert_true(tv_thread_is_named(head, other, &none));
    struct tv_settings settings = {.select = {.threads = both}};
    assert_int_equal(tv_selection_check(&settings, head, NULL, NULL), TV_OK);
    words[1] = "binder";
    assert_int_equal(tv_selection_check(&settings, head, NULL, NULL), TV_ERR_USAGE);
    words[1] = "B*d*";
    assert_int_equal(tv_selection_check(&settings, head, NULL, NULL), TV_OK);
    tv_trace_info_free(head);
}

static void chooses_clocks(void **state)
{
    (void)state;
    static const struct {
        unsigned asked, has;
        enum tv_status status;
        bool cpu;
    } cases[] = {
        {TV_CHOICE_ANY, TV_CLOCK_WALL | TV_CLOCK_CPU, TV_OK, false},
        {TV_CHOICE_ANY, TV_CLOCK_CPU, TV_OK, true},
        {TV_CHOICE_CPU, TV_CLOCK_WALL | TV_CLOCK_CPU, TV_OK, true},
        {TV_CHOICE_CPU, TV_CLOCK_WALL, TV_ERR_USAGE, true},
        {TV_CHOICE_WALL, TV_CLOCK_CPU, TV_ERR_USAGE, false},
    };
    for (size_t i = 0; i < TV_COUNT(cases); i++) {
        struct tv_settings settings;
        bool cpu;
        tv_settings_init(&settings);
        settings.clock = cases[i].asked;
        assert_int_equal(tv_clock_choose(&settings, cases[i].has, &cpu, NULL), cases[i].status);
        assert_int_equal(cpu, cases[i].cpu);
    }
}

UNIT_TESTS(selection, cmocka_unit_test(reads_ranges), cmocka_unit_test(finds_threads),
           cmocka_unit_test(chooses_clocks));
