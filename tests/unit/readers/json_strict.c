/* SPDX-License-Identifier: Apache-2.0 */
#include "base/bytes.h"
#include "readers/json/json.h"
#include "unit.h"

static void expect(const char *text, const char *compact)
{
    struct tv_out out;
    tv_out_init_memory(&out);
    tv_json_compact(tv_bytes_of(text), &out, NULL);
    tv_out_char(&out, '\0');
    assert_string_equal((const char *)out.buffer, compact);
    tv_out_release(&out);
}

static void keeps_what_is_json(void **context)
{
    (void)context;
    expect("12", "12");
    expect("-1.50e+3", "-1.50e+3");
    expect("\"a<b> \\u003c \\n \xc3\xa4\"", "\"a<b> \\u003c \\n \xc3\xa4\"");
    expect("{\"a\":[1,{}],\"b\":true}", "{\"a\":[1,{}],\"b\":true}");
    expect("[[{\"a\":[]}],0.5,-0,1E-2,null]", "[[{\"a\":[]}],0.5,-0,1E-2,null]");
}

static void drops_space_between_tokens(void **context)
{
    (void)context;
    expect("{ \"a b\" : [ 1,\n\t2 ] ,\r\n\"c\": null }", "{\"a b\":[1,2],\"c\":null}");
}

/* A terminal would obey them. */
static void escapes_control_characters(void **context)
{
    (void)context;
    expect("\"\x7f\"", "\"\\u007f\"");
    expect("[\"12345678\x7f\x7f\"]", "[\"12345678\\u007f\\u007f\"]");
    expect("{\"a\xc2\x9b\": \"\xc2\x80\xc2\xa0\"}", "{\"a\\u009b\":\"\\u0080\xc2\xa0\"}");
}

static void makes_json_of_what_is_not_quite(void **context)
{
    (void)context;
    expect("'a'", "\"a\"");
    expect("{a: NaN}", "{\"a\":\"NaN\"}");
    expect("{\"a\": 1 // why\n}", "{\"a\":1}");
    expect("\"a\nb\x01\"", "\"a\\nb\\u0001\"");
    expect("\"\\x\"", "\"x\"");
    expect("\"a\xff\"", "\"a\xef\xbf\xbd\"");
    expect("[1, 2", "[1,2]");
    expect("[1 2]", "[1,2]");
    expect("{\"a\": tru}", "{\"a\":\"tru\"}");
    expect("\"a", "\"a\"");
    expect("", "null");
    expect("{\"a\":1,\"b\":[1,2,],}", "{\"a\":1,\"b\":[1,2]}");
    expect("{\"a\":1 \"b\":2}", "{\"a\":1,\"b\":2}");
    expect("{\"a\":}", "{\"a\":null}");
    expect("[01]", "[1]");
    expect("[.5,1.,1e]", "[0.5,1,\"1e\"]");
    expect("[1]2", "[1]");
    expect("[1}", "[1]");
}

static void end_levels(struct tv_out *out, size_t depth)
{
    tv_out_char(out, '7');
    while (depth-- > 0)
        tv_out_char(out, depth % 2 ? '}' : ']');
    tv_out_char(out, '\0');
}

/* On the strict path and, for deeper values, on the lenient one. */
static void keeps_any_depth(void **context)
{
    (void)context;
    for (size_t depth = 60; depth < 70; depth++) {
        struct tv_out spaced, compact;
        tv_out_init_memory(&spaced);
        tv_out_init_memory(&compact);
        for (size_t i = 0; i < depth; i++) {
            tv_out_text(&spaced, i % 2 ? "{\"\": " : "[ ");
            tv_out_text(&compact, i % 2 ? "{\"\":" : "[");
        }
        end_levels(&spaced, depth);
        end_levels(&compact, depth);
        expect((const char *)spaced.buffer, (const char *)compact.buffer);
        tv_out_release(&spaced);
        tv_out_release(&compact);
    }
}

UNIT_TESTS(json_strict, cmocka_unit_test(keeps_what_is_json),
           cmocka_unit_test(drops_space_between_tokens), cmocka_unit_test(keeps_any_depth),
           cmocka_unit_test(escapes_control_characters),
           cmocka_unit_test(makes_json_of_what_is_not_quite));
