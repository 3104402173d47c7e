/* SPDX-License-Identifier: Apache-2.0 */
/* Options of the agent, patterns, and names as the JVM encodes them. */
#include "unit.h"

#include <string.h>

#include "recorder/agent/options.h"
#include "recorder/agent/texts.h"
#include "recorder/recording.h"

static void reads_options(void **state)
{
    (void)state;
    struct tv_agent_options options;
    char why[200] = "";
    tv_agent_options_init(&options);
    assert_true(tv_agent_options_read(
        &options,
        "mode=both,clock=dual,buffer=16m,full=ring,include=a.*:b.*,start=n,delay=2,"
        "duration=500ms,file=x=y.trace",
        why, sizeof why));
    assert_int_equal(options.mode, TV_AGENT_BOTH);
    assert_int_equal(options.clock, TV_RECORDING_DUAL);
    assert_int_equal(options.buffer, 16 << 20);
    assert_int_equal(options.full, TV_RECORDING_RING);
    assert_string_equal(options.include, "a.*:b.*");
    assert_false(options.start);
    assert_int_equal(options.delay_ms, 2000);
    assert_int_equal(options.duration_ms, 500);
    assert_string_equal(options.file, "x=y.trace");
    tv_agent_options_release(&options);
}

/* A comma of a value is written twice, also at its ends; an option may be empty. */
static void reads_commas(void **state)
{
    static const struct {
        const char *text, *file, *spool;
    } cases[] = {
        {"file=a,,b.trace,spool=/s", "a,b.trace", "/s"},
        {"file=,,,,,spool=,,x,,", ",,", ",x,"},
        {",file=a,", "a", NULL},
        {"file=a,,,", "a,", NULL},
        {"file=a b,,c\\,spool=%%", "a b,c\\", "%%"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct tv_agent_options options;
        char why[200] = "";
        tv_agent_options_init(&options);
        assert_true(tv_agent_options_read(&options, cases[i].text, why, sizeof why));
        assert_string_equal(options.file, cases[i].file);
        assert_string_equal(options.spool ? options.spool : "",
                            cases[i].spool ? cases[i].spool : "");
        assert_false(options.stop || options.help);
        tv_agent_options_release(&options);
    }
}

static void reads_orders(void **state)
{
    struct tv_agent_options options;
    char why[200] = "";
    (void)state;
    tv_agent_options_init(&options);
    assert_true(tv_agent_options_read(&options, "stop", why, sizeof why));
    assert_true(options.stop && !options.help);
    assert_true(tv_agent_options_read(&options, "rate=7,help", why, sizeof why));
    assert_true(options.stop && options.help);
    assert_false(tv_agent_options_read(&options, "stop=y", why, sizeof why));
    tv_agent_options_release(&options);
}

static void says_what_is_wrong(void **state)
{
    static const char *const wrong[] = {"mode=x", "mode",       "buffer=-1", "buffer=2g",
                                        "rate=0", "rate=20000", "force=yes", "nothing=1",
                                        "file=",  "delay=1h",   "depth=1k",  "Mode=trace"};
    (void)state;
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        struct tv_agent_options options;
        char why[200] = "";
        tv_agent_options_init(&options);
        assert_false(tv_agent_options_read(&options, wrong[i], why, sizeof why));
        assert_true(why[0] != '\0');
        tv_agent_options_release(&options);
    }
}

static void matches_patterns(void **state)
{
    (void)state;
    assert_true(tv_text_matches("*", ""));
    assert_true(tv_text_matches("java.*.Map", "java.util.Map"));
    assert_false(tv_text_matches("java.*.Map", "java.util.Mapp"));
    assert_true(tv_text_matches("a*b?d*", "aXbbcbcdd"));
    assert_false(tv_text_matches("a?", "a"));
    assert_true(tv_text_matches_any("x.*:java.?til.*", "java.util.Map"));
    assert_false(tv_text_matches_any("x.*:y", "java"));
}

/* U+1F600 as two surrogates of three bytes, NUL as two, and bytes that are no text. */
static void decodes_names(void **state)
{
    (void)state;
    char out[32];
    static const char text[] = "a/b\xED\xA0\xBD\xED\xB8\x80\xC0\x80\xC3\xA4";
    tv_text_from_jvm(out, sizeof out, text, sizeof text - 1, "/.");
    assert_string_equal(out, "a.b\xF0\x9F\x98\x80 \xC3\xA4");
    tv_text_from_jvm(out, sizeof out, "\xED\xA0\xBDx\xFF", 5, NULL);
    assert_string_equal(out, "?x?");
    tv_text_from_jvm(out, 4, "ab\xC3\xA4", 4, NULL);
    assert_string_equal(out, "ab");
}

UNIT_TESTS(agent_texts, cmocka_unit_test(reads_options), cmocka_unit_test(reads_commas),
           cmocka_unit_test(reads_orders), cmocka_unit_test(says_what_is_wrong),
           cmocka_unit_test(matches_patterns), cmocka_unit_test(decodes_names));
