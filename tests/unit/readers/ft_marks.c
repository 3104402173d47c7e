/* SPDX-License-Identifier: Apache-2.0 */
#include "readers/ftrace/fields.h"

#include <stdio.h>

#include "base/bytes.h"
#include "unit.h"

/* "phase tgid name track cookie value args category", or the text itself in brackets. */
static void means(const char *text, const char *expected)
{
    struct tv_ft_mark m = tv_ft_mark_parse(tv_bytes_of(text));
    char found[256];
#define SHOWN(part) (int)m.part.length, (const char *)m.part.data
    if (m.phase == 0)
        snprintf(found, sizeof found, "[%.*s]", SHOWN(name));
    else
        snprintf(found, sizeof found, "%c %ld <%.*s> <%.*s> <%.*s> %g <%.*s> <%.*s>", m.phase,
                 (long)m.tgid, SHOWN(name), SHOWN(track), SHOWN(cookie), m.value, SHOWN(args),
                 SHOWN(category));
    assert_string_equal(found, expected);
}

/* Perfetto's parser accepts these (systrace_parser_unittest.cc). */
static void knows_every_phase(void **context)
{
    (void)context;
    means("B|42|Bar\n", "B 42 <Bar> <> <> 0 <> <>");
    means("B|42|\n", "B 42 <[empty slice name]> <> <> 0 <> <>");
    means("E", "E 0 <> <> <> 0 <> <>");
    means("E|42\n", "E 42 <> <> <> 0 <> <>");
    means("C|543|foo|8", "C 543 <foo> <> <> 8 <> <>");
    means("C|543|foo|-1.5", "C 543 <foo> <> <> -1.5 <> <>");
    means("C|543|foo|99999999999999999999", "C 543 <foo> <> <> 1e+20 <> <>");
    means("C|543|foo|-18446744073709551615", "C 543 <foo> <> <> -1.84467e+19 <> <>");
    means("C|543|foo|8|group", "C 543 <foo> <> <> 8 <> <group>");
    means("S|123|foo|456", "S 123 <foo> <> <456> 0 <> <>");
    means("F|123|foo|456", "F 123 <foo> <> <456> 0 <> <>");
    means("I|123|event", "I 123 <event> <> <> 0 <> <>");
    means("N|123|track|event", "N 123 <event> <track> <> 0 <> <>");
    means("G|123|track|event|456", "G 123 <event> <track> <456> 0 <> <>");
    means("H|123|track|456", "H 123 <> <track> <456> 0 <> <>");
    means("H|123|track|event|456", "H 123 <event> <track> <456> 0 <> <>");
    means("H|123|track|456|", "H 123 <> <track> <456> 0 <> <>");
}

/* Only the name of a B may contain '|'; Chrome's fields are recognized by their '='. */
static void tells_names_from_arguments(void **context)
{
    (void)context;
    means("B|1|a|b", "B 1 <a|b> <> <> 0 <> <>");
    means("I|1|a|b", "I 1 <a> <> <> 0 <> <>");
    means("N|1|t|a|b", "N 1 <a> <t> <> 0 <> <>");
    means("B|1|DoWork|arg1=1;x=y=z|cat1", "B 1 <DoWork> <> <> 0 <arg1=1;x=y=z> <cat1>");
    means("E|1|DoWork|arg2=2|cat2", "E 1 <> <> <> 0 <arg2=2> <cat2>");
    means("E|1|DoWork||cat2", "E 1 <> <> <> 0 <> <cat2>");
    means("S|1|async|7|a=1|cat1", "S 1 <async> <> <7> 0 <a=1> <cat1>");
}

static void leaves_other_text_alone(void **context)
{
    (void)context;
    const char *const others[] = {
        "abcdef",      "  ",
        "|",           "||",
        "B",           "C",
        "S",           "S|",
        "I||test",     "I|123|",
        "N||test|a",   "N|123|test|",
        "N|1||b",      "G||t|e|1",
        "G|1|track|e", "G|1|t|e|x",
        "H|1||2",      "B|x|name",
        "C|1|a|",      "C|1|a|x",
        "C|1|a|-",     "C|1|a|9999999999999999999z",
        "C|1||3",      "Hello, world",
        "B|-1|a",      "Z|1|a",
        "S|1|a|",      "F|1|a|b",
        "S|1||7",      "F|1||7",
        "H|1|t|e|",    "B|99999999999|a",
    };
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        char expected[64];
        snprintf(expected, sizeof expected, "[%s]", others[i]);
        means(others[i], expected);
    }
    means("", "[]");
}

UNIT_TESTS(ft_marks, cmocka_unit_test(knows_every_phase),
           cmocka_unit_test(tells_names_from_arguments), cmocka_unit_test(leaves_other_text_alone));
