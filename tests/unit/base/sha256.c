/* SPDX-License-Identifier: Apache-2.0 */
/* The examples of FIPS 180-4 (NIST's "SHA256.pdf") and of RFC 4231. */
#include "unit.h"

#include <stdio.h>
#include <string.h>

#include "base/bytes.h"
#include "base/sha256.h"

static void is(const uint8_t digest[TV_SHA256_SIZE], const char *want)
{
    char text[2 * TV_SHA256_SIZE + 1];
    for (size_t i = 0; i < TV_SHA256_SIZE; i++)
        snprintf(text + 2 * i, 3, "%02x", digest[i]);
    assert_string_equal(text, want);
}

static void hashes_texts(void **state)
{
    (void)state;
    uint8_t digest[TV_SHA256_SIZE];
    tv_sha256(tv_bytes_of("abc"), digest);
    is(digest, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    tv_sha256(tv_bytes_of(""), digest);
    is(digest, "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
    /* 56 bytes: the length goes to a block of its own. */
    tv_sha256(tv_bytes_of("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq"), digest);
    is(digest, "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
}

static void hashes_with_keys(void **state)
{
    (void)state;
    uint8_t digest[TV_SHA256_SIZE], key[131];
    tv_hmac_sha256(tv_bytes_of("Jefe"), tv_bytes_of("what do ya want for nothing?"), digest);
    is(digest, "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843");
    memset(key, 0xaa, sizeof key);
    tv_hmac_sha256((struct tv_bytes){key, sizeof key},
                   tv_bytes_of("Test Using Larger Than Block-Size Key - Hash Key First"), digest);
    is(digest, "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54");
}

UNIT_TESTS(sha256, cmocka_unit_test(hashes_texts), cmocka_unit_test(hashes_with_keys));
