/* SPDX-License-Identifier: Apache-2.0 */
#include "unit.h"

#include <math.h>
#include <string.h>

#include "analysis/calltree/diff.h"

#include "base/memory.h"
#include "fixture.h"

static struct tv_profile *profile_of(const struct fixture *f)
{
    struct tv_selection all = TV_SELECT_ALL;
    struct tv_call_tree *tree = tv_call_tree_of_trace(f->trace, &all, 1);
    struct tv_profile *profile = tv_profile_of_tree(tree);
    tv_call_tree_free(tree);
    return profile;
}

static char letter_of(const struct tv_method_cost *method)
{
    return (char)(method->frame == TV_NONE ? '-' : 'A' + method->frame);
}

static void assert_letters(const struct tv_diff *diff, const char *letters)
{
    uint32_t count = diff->both + diff->only_a + diff->only_b;
    assert_int_equal(strlen(letters), 2 * count);
    for (uint32_t i = 0; i < count; i++) {
        assert_int_equal(letter_of(&diff->methods[i].a), letters[2 * i]);
        assert_int_equal(letter_of(&diff->methods[i].b), letters[2 * i + 1]);
    }
}

static void three_parts_in_order(void **state)
{
    (void)state;
    const struct fixture_thread before = {"main", NULL, {"AABBBCCCCDDE"}};
    const struct fixture_thread after = {"main", NULL, {"CAAAAABBXXXY"}};
    struct fixture a = fixture_draw(&before, 1), b = fixture_draw(&after, 1);
    struct tv_profile *pa = profile_of(&a), *pb = profile_of(&b);
    struct tv_diff *diff = tv_diff_of(pa, pb);
    /* changes: A 2 to 5, B 3 to 2, C 4 to 1 */
    assert_int_equal(diff->both, 3);
    assert_int_equal(diff->only_a, 2);
    assert_int_equal(diff->only_b, 2);
    assert_letters(diff, "AACCBBD-E--X-Y");
    assert_int_equal(diff->methods[0].a.incl_wall, 2000000);
    assert_int_equal(diff->methods[0].b.incl_wall, 5000000);
    tv_diff_sort(diff, TV_ORDER_NAME);
    assert_letters(diff, "AABBCCD-E--X-Y");
    tv_diff_free(diff);
    tv_profile_free(pa);
    tv_profile_free(pb);
    fixture_free(&a);
    fixture_free(&b);
}

/* Names decide, not numbers; frames that differ in their line alone are one method. */
static void methods_are_matched_by_name(void **state)
{
    (void)state;
    const struct fixture_thread thread = {"main", NULL, {"AABBBC"}};
    struct fixture a = fixture_draw(&thread, 1), b = fixture_draw(&thread, 1);
    struct tv_frame *frames = b.trace->head->frames;
    const struct tv_frame old_a = frames[0];
    frames[0] = frames[1];
    frames[1] = old_a;
    frames[2] = old_a;
    frames[2].line = 99;
    struct tv_profile *pa = profile_of(&a), *pb = profile_of(&b);
    struct tv_diff *diff = tv_diff_of(pa, pb);
    assert_letters(diff, "ABBAC-");
    assert_int_equal(diff->methods[0].b.incl_wall, 4000000);
    assert_int_equal(diff->methods[0].b.calls, 2);
    assert_int_equal(diff->methods[1].b.incl_wall, 2000000);
    tv_diff_free(diff);
    tv_profile_free(pa);
    tv_profile_free(pb);
    fixture_free(&a);
    fixture_free(&b);
}

static void ratio_of_nothing(void **state)
{
    (void)state;
    assert_true(tv_diff_ratio(0, 0) == 1);
    assert_true(tv_diff_ratio(4, 2) == 0.5);
    assert_true(tv_diff_ratio(4, 0) == 0);
    assert_true(isinf(tv_diff_ratio(0, 3)));
}

UNIT_TESTS(diff, cmocka_unit_test(three_parts_in_order),
           cmocka_unit_test(methods_are_matched_by_name), cmocka_unit_test(ratio_of_nothing));
