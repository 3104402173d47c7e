/* SPDX-License-Identifier: Apache-2.0 */
/*
 * text.c - text from anybody, shown and compared.
 */
#include "unit.h"

#include <string.h>

#include "base/bytes.h"
#include "store/internal.h"

static void assert_cleaned(struct tv_bytes text, bool lines, size_t size, const char *wanted)
{
    char got[64];
    memset(got, '#', sizeof got);
    assert_int_equal(tv_store_text_clean(text, lines, got, size), strlen(wanted));
    assert_string_equal(got, wanted);
    for (size_t i = size; i < sizeof got; i++)
        assert_int_equal(got[i], '#');
}

static void cleans(void **state)
{
    (void)state;
    assert_cleaned(TV_BYTES("plain"), false, 64, "plain");
    assert_cleaned(TV_BYTES("a\r\nb\tc"), true, 64, "a\nb\tc");
    assert_cleaned(TV_BYTES("a\r"), true, 64, "a\xef\xbf\xbd");
    assert_cleaned(TV_BYTES("a\nb"), false, 64,
                   "a\xef\xbf\xbd"
                   "b");
    assert_cleaned(TV_BYTES("\xc2\x85|\xe2\x81\xa6|\xe2\x80\xa8"), false, 64,
                   "\xef\xbf\xbd|\xef\xbf\xbd|\xef\xbf\xbd");
    /* an overlong form and a surrogate: each byte is replaced */
    assert_cleaned(TV_BYTES("\xc0\xaf"), false, 64, "\xef\xbf\xbd\xef\xbf\xbd");
    assert_cleaned(TV_BYTES("\xed\xa0\x80"), false, 64, "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd");
    assert_cleaned(TV_BYTES("\xf0\x9f\x98\x80"), false, 64, "\xf0\x9f\x98\x80");
}

static void cuts_between_characters(void **state)
{
    (void)state;
    assert_cleaned(TV_BYTES("abcdef"), false, 4, "abc");
    assert_cleaned(TV_BYTES("a\xc3\xa4\xc3\xa4"), false, 5, "a\xc3\xa4");
    assert_cleaned(TV_BYTES("\xf0\x9f\x98\x80"), false, 4, "");
    assert_cleaned(TV_BYTES("\x01"), false, 3, "");
    assert_cleaned(TV_BYTES("x"), false, 1, "");
}

static void tells_what_is_clean(void **state)
{
    (void)state;
    assert_true(tv_store_text_is_clean(TV_BYTES("")));
    assert_true(tv_store_text_is_clean(TV_BYTES("Gr\xc3\xbc\xc3\x9f"
                                                "e \xf0\x9f\x98\x80")));
    assert_false(tv_store_text_is_clean(TV_BYTES("a\n")));
    assert_false(tv_store_text_is_clean(TV_BYTES("a\0")));
    assert_false(tv_store_text_is_clean(TV_BYTES("\xc3")));
}

/* Letters from Unicode's CaseFolding.txt (simple folding). */
static void folds(void **state)
{
    (void)state;
    static const struct {
        const char *text, *small;
    } cases[] = {
        {"HELLO wOrld 1[]@`{", "hello world 1[]@`{"},
        {"\xc3\x84\xc3\x96\xc3\x9c\xc3\x97\xc3\x9f", "\xc3\xa4\xc3\xb6\xc3\xbc\xc3\x97\xc3\x9f"},
        /* Latin Extended-A: pairs that begin at even and at odd numbers; Y with diaeresis is
         * elsewhere */
        {"\xc4\x80\xc4\x81\xc4\xb9\xc4\xba\xc5\xb8\xc5\xbd",
         "\xc4\x81\xc4\x81\xc4\xba\xc4\xba\xc3\xbf\xc5\xbe"},
        {"\xc5\x81\xc3\xb3\xc4\x8f\xc5\xb9", "\xc5\x82\xc3\xb3\xc4\x8f\xc5\xba"},
        /* dotted I, kra, n after an apostrophe and long s have no other letter in the range */
        {"\xc4\xb0\xc4\xb8\xc5\x89\xc5\xbf", "\xc4\xb0\xc4\xb8\xc5\x89\xc5\xbf"},
        /* no letter has the number between the two sigmas */
        {"\xce\xa1\xce\xa2\xce\xa3", "\xcf\x81\xce\xa2\xcf\x83"},
        /* Greek with accents, and both small sigmas */
        {"\xce\x86\xce\x91\xce\xa3\xcf\x82\xce\x8e\xce\x8f\xce\x8c\xce\x88",
         "\xce\xac\xce\xb1\xcf\x83\xcf\x83\xcf\x8d\xcf\x8e\xcf\x8c\xce\xad"},
        /* Cyrillic */
        {"\xd0\x81\xd0\x90\xd0\xaf\xd1\x8f", "\xd1\x91\xd0\xb0\xd1\x8f\xd1\x8f"},
        {"\xe2\x82\xac\xf0\x9f\x98\x80", "\xe2\x82\xac\xf0\x9f\x98\x80"},
    };
    for (size_t i = 0; i < TV_COUNT(cases); i++) {
        char got[64] = "";
        assert_int_equal(strlen(cases[i].text), strlen(cases[i].small));
        tv_store_text_fold(tv_bytes_of(cases[i].text), got);
        assert_string_equal(got, cases[i].small);
    }
}

UNIT_TESTS(text, cmocka_unit_test(cleans), cmocka_unit_test(cuts_between_characters),
           cmocka_unit_test(tells_what_is_clean), cmocka_unit_test(folds));
