/* SPDX-License-Identifier: Apache-2.0 */
/* Names of the files that the agent's options ask for. */
#define _GNU_SOURCE
#include "unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "recorder/agent/options.h"

/* The options of `text`, for tv_agent_options_release. */
static struct tv_agent_options read_options(const char *text)
{
    struct tv_agent_options options;
    char why[200] = "";
    tv_agent_options_init(&options);
    assert_true(tv_agent_options_read(&options, text, why, sizeof why));
    return options;
}

static void names_files(void **state)
{
    static const struct {
        const char *text, *trace, *samples;
        unsigned number;
    } cases[] = {
        {"", "dmtrace.trace", "", 1},
        {"", "dmtrace-2.trace", "", 2},
        {"file=a.b/c", "a.b/c-3", "", 3}, /* the dot is the folder's */
        {"file=%%p%%t%x", "%p%t%x", "", 1},
        {"mode=sample", "", "java.hprof.txt", 1},
        {"mode=sample", "", "java-2.hprof.txt", 2},
        {"mode=sample,format=binary", "", "java-12.hprof", 12},
        {"mode=both", "dmtrace.trace", "dmtrace.trace.hprof.txt", 1},
        {"mode=both,file=a.trace,format=binary", "a-2.trace", "a-2.trace.hprof", 2},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct tv_agent_options options = read_options(cases[i].text);
        struct tv_agent_paths paths;
        assert_true(tv_agent_paths_choose(&options, cases[i].number, &paths));
        assert_string_equal(paths.trace, cases[i].trace);
        assert_string_equal(paths.samples, cases[i].samples);
        tv_agent_options_release(&options);
    }
}

static void puts_the_process_in(void **state)
{
    (void)state;
    char expected[64];
    struct tv_agent_options options = read_options("file=a%p.trace");
    struct tv_agent_paths paths;
    snprintf(expected, sizeof expected, "a%ld.trace", (long)getpid());
    assert_true(tv_agent_paths_choose(&options, 1, &paths));
    assert_string_equal(paths.trace, expected);
    tv_agent_options_release(&options);
}

/* One byte less than there is room for, and as many: also with what is put after it. */
static void refuses_what_is_too_long(void **state)
{
    (void)state;
    static const struct {
        const char *more;
        unsigned number;
        size_t behind;
    } cases[] = {{"", 1, 0}, {"", 2, 2}, {"mode=both,", 1, 10}, {"mode=both,", 10, 13}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        for (size_t longer = 0; longer < 2; longer++) {
            char text[TV_AGENT_PATH + 64] = "";
            struct tv_agent_paths paths;
            int head = snprintf(text, sizeof text, "%sfile=", cases[i].more);
            memset(text + head, 'a', TV_AGENT_PATH - 1 - cases[i].behind + longer);
            struct tv_agent_options options = read_options(text);
            assert_int_equal(tv_agent_paths_choose(&options, cases[i].number, &paths), longer == 0);
            tv_agent_options_release(&options);
        }
}

static void make_file(const char *path)
{
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fclose(file);
}

/* With force=n both names are to be free, so both have the same number. */
static void takes_names_that_are_free(void **state)
{
    (void)state;
    char folder[] = "/tmp/tv-paths-XXXXXX", text[64], why[200] = "";
    struct tv_agent_paths paths;
    assert_non_null(mkdtemp(folder));
    assert_int_equal(chdir(folder), 0);
    make_file("a.trace.hprof.txt");
    make_file("a-2.trace");
    struct tv_agent_options options = read_options("mode=both,force=n,file=a.trace");
    assert_true(tv_agent_paths_choose(&options, 1, &paths));
    assert_string_equal(paths.trace, "a-3.trace");
    assert_string_equal(paths.samples, "a-3.trace.hprof.txt");
    assert_true(tv_agent_paths_check(&options, why, sizeof why));
    tv_agent_options_release(&options);

    snprintf(text, sizeof text, "file=%s", folder);
    options = read_options(text);
    assert_false(tv_agent_paths_check(&options, why, sizeof why));
    tv_agent_options_release(&options);
    options = read_options("file=a-2.trace/x");
    assert_false(tv_agent_paths_check(&options, why, sizeof why));
    assert_string_equal(why, "option file: a-2.trace/x: Not a directory");
    tv_agent_options_release(&options);
    options = read_options("spool=none");
    assert_false(tv_agent_paths_check(&options, why, sizeof why));
    assert_string_equal(why, "option spool: none: No such file or directory");
    options.mode = TV_AGENT_SAMPLE; /* which has no spool */
    assert_true(tv_agent_paths_check(&options, why, sizeof why));
    tv_agent_options_release(&options);
    unlink("a.trace.hprof.txt");
    unlink("a-2.trace");
    assert_int_equal(chdir("/"), 0);
    assert_int_equal(rmdir(folder), 0);
}

UNIT_TESTS(agent_paths, cmocka_unit_test(names_files), cmocka_unit_test(puts_the_process_in),
           cmocka_unit_test(refuses_what_is_too_long), cmocka_unit_test(takes_names_that_are_free));
