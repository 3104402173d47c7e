/* SPDX-License-Identifier: Apache-2.0 */
#include "unit.h"

#include <string.h>

#include "base/bytes.h"
#include "base/out.h"
#include "base/workers.h"
#include "cli/options.h"

static const struct tv_option table[] = {
    TV_OPTION("format", "text|csv|json", TV_OPTION_CHOICE, table.format, "how"),
    TV_OPTION("limit", "N", TV_OPTION_COUNT, table.limit, "how many"),
    TV_OPTION("min-percent", "P", TV_OPTION_PERCENT, stacks.min_percent, "how much"),
    TV_OPTION_THREADS,
    TV_OPTION("title", "TEXT", TV_OPTION_TEXT, flame.title, "what"),
    TV_OPTION("r", NULL, TV_OPTION_FLAG, regression, "old"),
    TV_OPTION("q", NULL, TV_OPTION_FLAG, quiet, "quiet"),
    TV_OPTION("o", "FILE", TV_OPTION_TEXT, output, "where"),
    TV_OPTION("hash", NULL, TV_OPTION_FLAG, flame.hash, "by name"),
    TV_OPTIONS_END,
};

static enum tv_status parse(const char *line, struct tv_settings *settings, struct tv_error *err)
{
    static char words[256];
    static char *argv[16];
    int argc = 0;
    memset(words, 0, sizeof words);
    memcpy(words, line, strlen(line));
    for (char *at = words; *at;) {
        argv[argc++] = at;
        at += strcspn(at, " ");
        if (*at)
            *at++ = '\0';
    }
    tv_settings_init(settings);
    return tv_options_parse(table, argc, argv, settings, err);
}

static void reads_every_kind(void **state)
{
    (void)state;
    struct tv_settings s;
    struct tv_error err;
    assert_int_equal(parse("a --format json --limit=12 -qr --thread main b --thread 7 "
                           "--min-percent 0.25% --title=x=y --hash -- --not",
                           &s, &err),
                     TV_OK);
    assert_int_equal(s.table.format, 2);
    assert_int_equal(s.table.limit, 12);
    assert_int_equal(s.stacks.min_percent, 250000);
    assert_true(s.quiet && s.regression && s.flame.hash);
    assert_string_equal(s.flame.title, "x=y");
    assert_int_equal(s.select.threads.count, 2);
    assert_string_equal(s.select.threads.items[1], "7");
    assert_int_equal(s.files.count, 3);
    assert_string_equal(s.files.items[0], "a");
    assert_string_equal(s.files.items[1], "b");
    assert_string_equal(s.files.items[2], "--not");
    tv_settings_release(&s);
}

static void knows_standard_input(void **state)
{
    (void)state;
    struct tv_settings s;
    struct tv_error err;
    assert_int_equal(parse("-", &s, &err), TV_OK);
    assert_int_equal(s.files.count, 1);
    assert_string_equal(s.files.items[0], "-");
    tv_settings_release(&s);
}

static void refuses_what_is_wrong(void **state)
{
    (void)state;
    static const char *const lines[] = {
        "--form json",
        "--format",
        "--format xml",
        "--limit 1x",
        "--limit -1",
        "--q",
        "-z",
        "-qz",
        "--hash=1",
        "--min-percent 100.1",
        "--limit",
        "--min-percent",
        "--min-percent 1ms",
        "---",
        "--min-percent .",
    };
    for (size_t i = 0; i < TV_COUNT(lines); i++) {
        struct tv_settings s;
        struct tv_error err = {0};
        assert_int_equal(parse(lines[i], &s, &err), TV_ERR_USAGE);
        assert_true(strlen(err.message) > 0);
        tv_settings_release(&s);
    }
}

static void helps_from_the_table(void **state)
{
    (void)state;
    struct tv_out out;
    tv_out_init_memory(&out);
    tv_options_help(&out, table, NULL, NULL);
    tv_out_char(&out, '\0');
    assert_non_null(strstr((char *)out.buffer, "  --format text|csv|json\n        how\n"));
    assert_non_null(strstr((char *)out.buffer, "  -q\n        quiet\n"));
    tv_out_release(&out);
}

static void reads_values_of_letters(void **state)
{
    (void)state;
    static const char *const lines[] = {"-o out a", "-oout a", "-qo out a", "a -qoout"};
    struct tv_settings s;
    struct tv_error err;
    for (size_t i = 0; i < TV_COUNT(lines); i++) {
        assert_int_equal(parse(lines[i], &s, &err), TV_OK);
        assert_string_equal(s.output, "out");
        assert_int_equal(s.files.count, 1);
        assert_true(s.quiet == (i > 1));
        tv_settings_release(&s);
    }
    assert_int_equal(parse("a -o", &s, &err), TV_ERR_USAGE);
    assert_string_equal(err.message, "-o: expected FILE");
    tv_settings_release(&s);
}

/* A query may begin with a comment; a value of several lines is still one. */
static void takes_comments_of_sql_for_texts(void **state)
{
    static char query[] = "-- the longest = the worst\nselect 1", directly[] = "--all\nselect 1";
    static char value[] = "--title=a b\nc", unknown[] = "--all of it";
    char *queries[] = {query, directly, value}, *wrong[] = {unknown};
    struct tv_settings s;
    struct tv_error err = {0};
    (void)state;
    tv_settings_init(&s);
    assert_int_equal(tv_options_parse(table, 3, queries, &s, &err), TV_OK);
    assert_int_equal(s.files.count, 2);
    assert_string_equal(s.files.items[0], query);
    assert_string_equal(s.flame.title, "a b\nc");
    assert_int_equal(tv_options_parse(table, 1, wrong, &s, &err), TV_ERR_USAGE);
    tv_settings_release(&s);
}

/* A value that may be left away stands behind "=": the next word is none. */
static void reads_values_that_may_be_left_away(void **state)
{
    static const struct tv_option own[] = {
        TV_OPTION("alloc", "[=BYTES]", TV_OPTION_SIZE, record.alloc, "x"),
        TV_OPTIONS_END,
    };
    static char alone[] = "--alloc", file[] = "64k", sized[] = "--alloc=64k";
    char *without[] = {alone, file}, *with[] = {sized};
    struct tv_settings s;
    struct tv_error err = {0};
    (void)state;
    tv_settings_init(&s);
    assert_int_equal(tv_options_parse(own, 2, without, &s, &err), TV_OK);
    assert_int_equal(s.given, 1);
    assert_int_equal(s.record.alloc, 512 << 10);
    assert_int_equal(s.files.count, 1);
    assert_int_equal(tv_options_parse(own, 1, with, &s, &err), TV_OK);
    assert_int_equal(s.record.alloc, 64 << 10);
    assert_null(tv_options_wanting_value(own, "--alloc"));
    tv_settings_release(&s);
}

/* The wall clock was called "real" before. */
static void accepts_the_old_name_of_the_wall_clock(void **state)
{
    static const struct tv_option clocks[] = {
        TV_OPTION("clock", "wall|cpu", TV_OPTION_CHOICE, clock, "which"),
        TV_OPTION("sort", "name|incl-wall", TV_OPTION_CHOICE, table.sort, "by what"),
        TV_OPTIONS_END,
    };
    static const struct tv_option columns[] = {TV_OPTION_COLUMNS("calls|wall-per-call"),
                                               TV_OPTIONS_END};
    struct tv_settings settings;
    struct tv_error err = {0};
    (void)state;
    tv_settings_init(&settings);
    assert_int_equal(tv_options_set(clocks, TV_BYTES("clock"), "real", &settings, &err), TV_OK);
    assert_int_equal(settings.clock, TV_CHOICE_WALL);
    assert_int_equal(
        tv_options_set(columns, TV_BYTES("columns"), "calls,real-per-call", &settings, &err),
        TV_OK);
    assert_int_equal(tv_options_set(columns, TV_BYTES("columns"), "real-per-wall", &settings, &err),
                     TV_ERR_USAGE);
    assert_int_equal(tv_options_set(clocks, TV_BYTES("sort"), "incl-real", &settings, &err), TV_OK);
    assert_int_equal(settings.table.sort, 1);
    assert_int_equal(tv_options_set(clocks, TV_BYTES("sort"), "incl-reel", &settings, &err),
                     TV_ERR_USAGE);
    assert_int_equal(tv_options_set(clocks, TV_BYTES("clock"), "eal", &settings, &err),
                     TV_ERR_USAGE);
    tv_settings_release(&settings);
}

/* Commands that read several files at once have to know how many threads the default means. */
static void threads_for_several_files(void **state)
{
    struct tv_settings settings;
    unsigned processors = tv_workers_available();
    (void)state;
    tv_settings_init(&settings);
    assert_int_equal(tv_settings_workers(&settings),
                     processors < TV_JOBS_LIMIT ? processors : TV_JOBS_LIMIT);
    settings.input.jobs = 3;
    assert_int_equal(tv_settings_workers(&settings), 3);
    settings.input.jobs = 1000;
    assert_int_equal(tv_settings_workers(&settings), TV_JOBS_LIMIT);
    tv_settings_release(&settings);
}

UNIT_TESTS(options, cmocka_unit_test(threads_for_several_files),
           cmocka_unit_test(accepts_the_old_name_of_the_wall_clock),
           cmocka_unit_test(takes_comments_of_sql_for_texts),
           cmocka_unit_test(reads_values_that_may_be_left_away),
           cmocka_unit_test(reads_values_of_letters), cmocka_unit_test(reads_every_kind),
           cmocka_unit_test(knows_standard_input), cmocka_unit_test(refuses_what_is_wrong),
           cmocka_unit_test(helps_from_the_table));
