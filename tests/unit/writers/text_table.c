/* SPDX-License-Identifier: Apache-2.0 */
#include "unit.h"

#include <string.h>

#include "writers/text/text_table.h"

/* Two rows under three columns and a name. */
static void assert_table(struct tv_layout *layout, const char *want)
{
    struct tv_text_table table;
    struct tv_out out;
    tv_out_init_memory(&out);
    out.layout = layout;
    tv_text_table_begin(&table, &out, "Method");
    tv_text_table_add(&table, &(struct tv_text_column){NULL, "#", 5, 0, 0});
    tv_text_table_add(&table, &(struct tv_text_column){"total", "Total ms", 14, 1, 0});
    tv_text_table_add(&table, &(struct tv_text_column){"total", "%", 7, 2, 0});
    for (uint32_t i = 0; i < 2; i++) {
        tv_text_table_number(&table, i + 1);
        tv_text_table_figure(&table, (struct tv_figure_unit){"ms", 1000000, 3}, 2500000 / (i + 1));
        tv_text_table_share(&table, 1, 2 + 198 * i);
        tv_out_text(tv_text_table_name(&table, i), i ? "b" : "com.example.application.Main.start");
        tv_text_table_end_row(&table);
    }
    tv_text_table_end(&table);
    tv_out_char(&out, '\0');
    assert_string_equal((const char *)out.buffer, want);
    tv_out_release(&out);
}

static void keeps_fixed_columns_in_files(void **state)
{
    (void)state;
    const char *all = "    #      Total ms      %  Method\n"
                      "    1         2.500   50.0  com.example.application.Main.start\n"
                      "    2         1.250    0.5   b\n";
    struct tv_layout file = {.width = 0}, other = {.columns = "of,others"};
    assert_table(NULL, all);
    assert_table(&file, all);
    assert_table(&other, all);
}

/* The figures of two columns never become one number. */
static void separates_wide_figures_in_files(void **state)
{
    (void)state;
    static const uint64_t figures[] = {123456, 12345678901234, 1, 123456789012345};
    struct tv_text_table table;
    struct tv_out out;
    tv_out_init_memory(&out);
    tv_text_table_begin(&table, &out, "Method");
    tv_text_table_add(&table, &(struct tv_text_column){NULL, "#", 5, 0, 0});
    for (size_t i = 1; i < TV_COUNT(figures); i++)
        tv_text_table_add(&table, &(struct tv_text_column){"total", "Total", 14, 1, 0});
    for (size_t i = 0; i < TV_COUNT(figures); i++)
        tv_text_table_number(&table, figures[i]);
    tv_out_text(tv_text_table_name(&table, 0), "b");
    tv_text_table_end_row(&table);
    tv_text_table_end(&table);
    tv_out_char(&out, '\0');
    assert_string_equal((const char *)out.buffer,
                        "    #         Total         Total         Total  Method\n"
                        "123456 12345678901234             1 123456789012345  b\n");
    tv_out_release(&out);
}

static void fits_a_screen(void **state)
{
    (void)state;
    struct tv_layout wide = {.width = 60, .utf8 = true}, less = {.width = 34, .utf8 = true};
    struct tv_layout narrow = {.width = 20, .utf8 = true}, tiny = {.width = 1, .utf8 = true};
    assert_table(&wide, "#  Total ms    %  Method\n"
                        "1     2.500 50.0  com.example.application.Main.start\n"
                        "2     1.250  0.5   b\n");
    assert_table(&less, "#  Total ms  Method\n"
                        "1     2.500  com.ex…ion.Main.start\n"
                        "2     1.250   b\n");
    assert_table(&narrow, "#  Method\n1  com.e….Main.start\n2   b\n");
    assert_table(&tiny, "#  Method\n1  …\n2  b\n");
}

static void shows_chosen_columns_at_any_width(void **state)
{
    (void)state;
    struct tv_layout chosen = {.width = 20, .utf8 = true, .columns = "total"};
    assert_table(&chosen, "#  Total ms    %  Method\n"
                          "1     2.500 50.0  com….start\n"
                          "2     1.250  0.5   b\n");
}

static void colours_shares_and_titles(void **state)
{
    (void)state;
    struct tv_layout screen = {.width = 60, .utf8 = true, .colors = true};
    assert_table(&screen,
                 "\033[1m#\033[m  \033[1mTotal ms\033[m    \033[1m%\033[m  \033[1mMethod\033[m\n"
                 "1     2.500 \033[31m50.0\033[m  com.example.application.Main.start\n"
                 "2     1.250  0.5   b\n");
}

UNIT_TESTS(text_table, cmocka_unit_test(keeps_fixed_columns_in_files),
           cmocka_unit_test(separates_wide_figures_in_files), cmocka_unit_test(fits_a_screen),
           cmocka_unit_test(shows_chosen_columns_at_any_width),
           cmocka_unit_test(colours_shares_and_titles));
