/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The tokens of what a reader tells of an event: its arguments, and those that others hide.
 */
#include "unit.h"

#include "analysis/search/event_lookup.h"
#include "base/bytes.h"
#include "base/out.h"

static void assert_tokens(struct tv_json_tokens *tokens, const char *expected)
{
    struct tv_json_token token;
    struct tv_out seen;
    tv_out_init_memory(&seen);
    while (tv_json_tokens_next(tokens, &token)) {
        tv_out_bytes(&seen, token.text);
        tv_out_char(&seen, ' ');
    }
    tv_out_char(&seen, '\0');
    assert_string_equal((const char *)seen.buffer, expected);
    tv_out_release(&seen);
}

static void finds_arguments_and_those_that_are_hidden(void **state)
{
    (void)state;
    struct tv_json_tokens tokens;
    struct tv_bytes told = TV_BYTES("{\"args\":{\"a\":[1]},\"overwritten\":{\"b\":\"x\"},"
                                    "\"overwritten_params\":{\"c\":2},\"id\":\"d\"}");
    assert_true(tv_json_tokens_of_arguments(&tokens, told));
    assert_tokens(&tokens, "{ a [ 1 ] } ");
    assert_true(tv_json_tokens_of_overridden(&tokens));
    assert_tokens(&tokens, "{ b x } ");
    assert_true(tv_json_tokens_of_overridden(&tokens));
    assert_tokens(&tokens, "{ c 2 } ");
    assert_false(tv_json_tokens_of_overridden(&tokens));
}

static void finds_no_more_than_there_is(void **state)
{
    (void)state;
    struct tv_json_tokens tokens;
    assert_false(tv_json_tokens_of_arguments(&tokens, TV_BYTES("{\"id\":1}")));
    assert_true(tv_json_tokens_of_arguments(&tokens, TV_BYTES("{\"args\":\"overwritten\",\"id\":1}")));
    assert_tokens(&tokens, "overwritten ");
    assert_false(tv_json_tokens_of_overridden(&tokens));
    assert_true(tv_json_tokens_of_arguments(&tokens, TV_BYTES("{\"args\":{}")));
    assert_tokens(&tokens, "{ } ");
    assert_false(tv_json_tokens_of_overridden(&tokens));
}

UNIT_TESTS(tokens, cmocka_unit_test(finds_arguments_and_those_that_are_hidden),
           cmocka_unit_test(finds_no_more_than_there_is));
