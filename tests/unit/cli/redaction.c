/* SPDX-License-Identifier: Apache-2.0 */
#include "unit.h"

#include "base/bytes.h"
#include "cli/input/selection.h"

/* python3 -c "import hmac, hashlib as h; k = h.sha256(b'shared secret').digest();
 *             print('h' + hmac.new(k, b'main', h.sha256).hexdigest()[:15])" */
static void hashes_under_a_shared_secret(void **state)
{
    (void)state;
    struct tv_settings settings = {.redact = {.hash_names = true, .salt = "shared secret"}};
    struct tv_redaction_options options;
    struct tv_error err;
    char hash[TV_REDACTION_HASH_SIZE];
    bool chosen;
    assert_int_equal(tv_redaction_choose(&settings, &options, &chosen, &err), TV_OK);
    assert_true(chosen);
    tv_redaction_hash(&options, TV_BYTES("main"), hash);
    assert_string_equal(hash, "h196c4655ef95f5d");
}

static void draws_a_key(void **state)
{
    (void)state;
    struct tv_settings settings = {.redact = {.hash_names = true}};
    struct tv_redaction_options one, other;
    struct tv_error err;
    bool chosen;
    assert_int_equal(tv_redaction_choose(&settings, &one, &chosen, &err), TV_OK);
    assert_int_equal(tv_redaction_choose(&settings, &other, &chosen, &err), TV_OK);
    assert_memory_not_equal(one.key, other.key, sizeof one.key);
}

UNIT_TESTS(redaction, cmocka_unit_test(hashes_under_a_shared_secret),
           cmocka_unit_test(draws_a_key));
