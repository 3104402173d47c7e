/* SPDX-License-Identifier: Apache-2.0 */
/*
 * random.c - random numbers from the kernel.
 */
#include "base/random.h"

#include <assert.h>
#include <errno.h>
#include <string.h>
#include <unistd.h>

enum tv_status tv_random_hex(char *text, size_t digits, struct tv_error *err)
{
    static const char names[] = "0123456789abcdef";
    assert(digits % 2 == 0 && digits <= TV_RANDOM_DIGITS);
    uint8_t random[TV_RANDOM_DIGITS / 2];
    size_t count = digits < TV_RANDOM_DIGITS ? digits / 2 : sizeof random;
    if (getentropy(random, count) != 0)
        return tv_fail(err, TV_ERR_IO, TV_NO_OFFSET, "no random numbers from the system: %s",
                       strerror(errno));
    for (size_t i = 0; i < count; i++) {
        text[2 * i] = names[random[i] >> 4];
        text[2 * i + 1] = names[random[i] & 15];
    }
    text[2 * count] = '\0';
    return TV_OK;
}

bool tv_secret_equal(struct tv_bytes a, struct tv_bytes b)
{
    unsigned different = a.length != b.length;
    size_t length = a.length < b.length ? a.length : b.length;
    for (size_t i = 0; i < length; i++)
        different |= (unsigned)a.data[i] ^ b.data[i];
    return different == 0;
}
