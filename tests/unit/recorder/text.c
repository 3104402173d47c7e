/* SPDX-License-Identifier: Apache-2.0 */
/* Options of the agent, patterns, and names as the JVM encodes them. */
#include "unit.h"

#include <signal.h>
#include <string.h>

#include "recorder/agent/options.h"
#include "recorder/recording.h"
#include "recorder/text.h"

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
    assert_int_equal(options.delay_us, 2000000);
    assert_int_equal(options.duration_us, 500000);
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

static void reads_times(void **state)
{
    static const struct {
        const char *text;
        uint64_t us;
    } cases[] = {{"interval=500us", 500},       {"interval=0.5ms", 500},
                 {"interval=2", 2000000},       {"interval=0.25s", 250000},
                 {"interval=1.5min", 90000000}, {"interval=1.0000009s", 1000000}};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct tv_agent_options options;
        char why[200] = "";
        tv_agent_options_init(&options);
        assert_true(tv_agent_options_read(&options, cases[i].text, why, sizeof why));
        assert_int_equal(options.interval_us, cases[i].us);
        tv_agent_options_release(&options);
    }
}

/* What is out of range is told the range. */
static void says_what_is_expected(void **state)
{
    static const char *const cases[][2] = {
        {"rate=10001", "option rate: expected 0 to 10000, not \"10001\""},
        {"mode=sample,rate=0",
         "option rate: 0 leaves nothing to record: alloc goes with format=json "
         "or folded, lock with format=json"},
        {"alloc=0", "option alloc: expected n|y|SIZE, not \"0\""},
        {"alloc=2g", "option alloc: expected n|y|SIZE, not \"2g\""},
        {"lock=61min", "option lock: expected n|y|TIME, not \"61min\""},
        {"depth=2049", "option depth: expected 1 to 2048, not \"2049\""},
        {"buffer=512", "option buffer: expected 1k to 1g, not \"512\""},
        {"interval=99us",
         "option interval: expected 100us to 31536000s (in us, ms, s or min), not \"99us\""},
        {"clock=x", "option clock: expected wall|cpu|dual, not \"x\""},
        {"control=USR3",
         "option control: no such signal: \"USR3\" (USR1, 10, RTMIN+3; or fifo:PATH)"},
        {"control=12", "option control: the JVM suspends threads by that signal: \"12\" (USR1, 10, "
                       "RTMIN+3; or fifo:PATH)"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct tv_agent_options options;
        char why[200] = "";
        tv_agent_options_init(&options);
        assert_false(tv_agent_options_read(&options, cases[i][0], why, sizeof why));
        assert_string_equal(why, cases[i][1]);
        tv_agent_options_release(&options);
    }
}

static void says_what_has_no_effect(void **state)
{
    static const struct {
        const char *text, *names;
        bool by_events;
    } cases[] = {
        {"mode=trace,rate=10,depth=3,clock=cpu", "rate, depth", false},
        {"format=jdk,threads=main", "threads, format", false},
        {"engine=events,threads=main", "", true},
        {"mode=sample,clock=cpu,spool=/s,rate=10", "clock, spool", false},
        {"mode=sample,clock=cpu,start=n", "", false}, /* of Java code's recordings */
        {"mode=both,clock=cpu,rate=10,threads=a,delay=1", "", false},
        {"mode=both,interval=1ms,rate=10,delay=1,start=n", "rate, delay", false},
        {"mode=trace,alloc=y,lock=y", "lock", false},
        {"mode=sample,alloc=y,lock=1ms", "alloc, lock", false},
        {"mode=sample,alloc=64k,lock=1ms,format=json", "", false},
        {"mode=sample,alloc=y,format=folded", "alloc", false},
        {"mode=sample,alloc=y,format=folded,rate=0", "", false},
        {"mode=both,alloc=y,format=android", "", false}, /* counted in the trace */
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct tv_agent_options options;
        char why[200] = "", names[200];
        tv_agent_options_init(&options);
        assert_true(tv_agent_options_read(&options, cases[i].text, why, sizeof why));
        bool idle = tv_agent_options_idle(&options, cases[i].by_events, names, sizeof names);
        assert_string_equal(names, cases[i].names);
        assert_int_equal(idle, names[0] != '\0');
        tv_agent_options_release(&options);
    }
}

static void knows_signals(void **state)
{
    (void)state;
    assert_int_equal(tv_agent_signal_number("USR1"), SIGUSR1);
    assert_int_equal(tv_agent_signal_number("SIGUSR2"), SIGUSR2);
    assert_int_equal(tv_agent_signal_number("12"), 12);
    assert_int_equal(tv_agent_signal_number("SIGRTMIN+3"), SIGRTMIN + 3);
    assert_int_equal(tv_agent_signal_number("RTMIN"), SIGRTMIN);
    assert_int_equal(tv_agent_signal_number("RTMAX-1"), SIGRTMAX - 1);
    assert_int_equal(tv_agent_signal_number("64"), 64);
    static const char *const wrong[] = {"",        "SIG",     "0",      "-1",       "1000",
                                        "RTMIN-1", "RTMAX+1", "RTMIN+", "RTMIN+99", "RTMIN+1x"};
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++)
        assert_int_equal(tv_agent_signal_number(wrong[i]), 0);
}

static void says_what_is_wrong(void **state)
{
    static const char *const wrong[] = {"mode=x",     "mode",       "buffer=-1", "buffer=2g",
                                        "rate=20001", "rate=20000", "force=yes", "nothing=1",
                                        "file=",      "delay=1h",   "depth=1k",  "Mode=trace",
                                        "delay=1.s",  "rate=1.5",   "delay=.5s", "interval=10us"};
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
    assert_true(tv_wildcard_matches("*", ""));
    assert_true(tv_wildcard_matches("java.*.Map", "java.util.Map"));
    assert_false(tv_wildcard_matches("java.*.Map", "java.util.Mapp"));
    assert_true(tv_wildcard_matches("a*b?d*", "aXbbcbcdd"));
    assert_false(tv_wildcard_matches("a?", "a"));
    assert_true(tv_wildcard_matches_any("x.*:java.?til.*", ':', "java.util.Map"));
    assert_false(tv_wildcard_matches_any("x.*:y", ':', "java"));
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

UNIT_TESTS(text, cmocka_unit_test(reads_options), cmocka_unit_test(reads_commas),
           cmocka_unit_test(reads_orders), cmocka_unit_test(reads_times),
           cmocka_unit_test(says_what_is_expected), cmocka_unit_test(says_what_has_no_effect),
           cmocka_unit_test(knows_signals), cmocka_unit_test(says_what_is_wrong),
           cmocka_unit_test(matches_patterns), cmocka_unit_test(decodes_names));
