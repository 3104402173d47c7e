/* SPDX-License-Identifier: Apache-2.0 */
/*
 * config.c - tests of cli/options.h.
 */
#include "unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/memory.h"
#include "cli/options.h"

static const struct tv_option table[] = {
    TV_OPTION("limit", "N", TV_OPTION_COUNT, table.limit, "how many"),
    TV_OPTION_THREADS,
    TV_OPTION("title", "TEXT", TV_OPTION_TEXT, flame.title, "what"),
    TV_OPTION("hash", NULL, TV_OPTION_FLAG, flame.hash, "by name"),
    TV_OPTION("help", NULL, TV_OPTION_FLAG, help, "this text"),
    TV_OPTIONS_END,
};

/* Reads the file over what the command line said. */
static enum tv_status read_config(const char *content, char **argv, int argc,
                                  struct tv_settings *settings, char **text, struct tv_error *err)
{
    char path[] = "/tmp/traceview-config-XXXXXX", *none[] = {NULL};
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, content, strlen(content)), strlen(content));
    close(fd);
    tv_settings_init(settings);
    assert_int_equal(tv_options_parse(table, argc, argc > 0 ? argv : none, settings, err), TV_OK);
    enum tv_status status = tv_config_read(table, path, settings, text, err);
    unlink(path);
    return status;
}

static void reads_options(void **state)
{
    (void)state;
    struct tv_settings s;
    struct tv_error err;
    char *text;
    assert_int_equal(read_config("# remark\n\n  limit = 12 \r\nthread=a b\nthread = c#d=e\n"
                                 "hash\ntitle = last line",
                                 NULL, 0, &s, &text, &err),
                     TV_OK);
    assert_int_equal(s.table.limit, 12);
    assert_int_equal(s.select.threads.count, 2);
    assert_string_equal(s.select.threads.items[0], "a b");
    assert_string_equal(s.select.threads.items[1], "c#d=e");
    assert_true(s.flame.hash);
    assert_string_equal(s.flame.title, "last line");
    tv_settings_release(&s);
    tv_free(text);
}

static void the_command_line_is_stronger(void **state)
{
    (void)state;
    struct tv_settings s;
    struct tv_error err;
    char *text, words[2][20] = {"--limit=7", "--thread=x"};
    char *argv[] = {words[0], words[1]};
    assert_int_equal(read_config("limit = 12\nthread = a\ntitle = t\n", argv, 2, &s, &text, &err),
                     TV_OK);
    assert_int_equal(s.table.limit, 7);
    assert_int_equal(s.select.threads.count, 1);
    assert_string_equal(s.select.threads.items[0], "x");
    assert_string_equal(s.flame.title, "t");
    tv_settings_release(&s);
    tv_free(text);
}

static void names_the_line_that_is_wrong(void **state)
{
    (void)state;
    static const struct {
        const char *content, *message;
    } bad[] = {
        {"hash\nlimit = many\n", "line 2: --limit: expected a number, found 'many'"},
        {"limit\n", "line 1: --limit: expected N"},
        {"hash = yes\n", "line 1: --hash takes no value"},
        {"\n\nhsah\n", "line 3: unknown option --hsah (did you mean --hash?)"},
        {"= 1\n", "line 1: unknown option --"},
        {"help\n", "line 1: --help is allowed only on the command line"},
    };
    for (size_t i = 0; i < TV_COUNT(bad); i++) {
        struct tv_settings s;
        struct tv_error err = {0};
        char *text;
        assert_int_equal(read_config(bad[i].content, NULL, 0, &s, &text, &err), TV_ERR_USAGE);
        assert_non_null(strstr(err.message, bad[i].message));
        tv_settings_release(&s);
        tv_free(text);
    }
}

UNIT_TESTS(config, cmocka_unit_test(reads_options), cmocka_unit_test(the_command_line_is_stronger),
           cmocka_unit_test(names_the_line_that_is_wrong));
