/* SPDX-License-Identifier: Apache-2.0 */
/*
 * passwords.c - tests of hub/passwords.h.
 */
#include "unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/bytes.h"
#include "hub/passwords.h"

/* "secret", by `openssl passwd -6 -salt abcdefgh`. */
#define SECRET                                                                                     \
    "$6$abcdefgh$ltjgWl6579NluT/Vi1nwEvcil.G5Nbc4NiXZaNGStk8PSwGfQv72N2CKPPrVACtLtip/cZ/"          \
    "1GM/O6IND4WQhG."
/* "pass:word", by `openssl passwd -5 -salt abcdefgh`. */
#define WITH_COLON "$5$abcdefgh$0REkPn1Z4CNNcjMacpXfYSNOtfCErlQR.ejJ2YSRMr4"

static enum tv_status read_text(const char *text, struct tv_passwords **passwords,
                                struct tv_error *err)
{
    char path[] = "/tmp/traceview-passwords-XXXXXX";
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, text, strlen(text)), strlen(text));
    close(fd);
    enum tv_status status = tv_passwords_read(path, passwords, err);
    unlink(path);
    return status;
}

static void knows_users_by_their_passwords(void **state)
{
    (void)state;
    struct tv_passwords *passwords = NULL;
    struct tv_error err;
    assert_int_equal(
        read_text("# who may\nada:" SECRET "\r\n\ngrace:" WITH_COLON "\n", &passwords, &err),
        TV_OK);
    for (int twice = 0; twice < 2; twice++) {
        assert_true(tv_passwords_know(passwords, TV_BYTES("ada:secret")));
        assert_true(tv_passwords_know(passwords, TV_BYTES("grace:pass:word")));
        assert_false(tv_passwords_know(passwords, TV_BYTES("ada:secre")));
        assert_false(tv_passwords_know(passwords, TV_BYTES("ada:pass:word")));
        assert_false(tv_passwords_know(passwords, TV_BYTES("grace:secret")));
        assert_false(tv_passwords_know(passwords, TV_BYTES("mallory:secret")));
        assert_false(tv_passwords_know(passwords, TV_BYTES("ada")));
        assert_false(tv_passwords_know(passwords, TV_BYTES("")));
        assert_false(tv_passwords_know(passwords, TV_BYTES(":")));
        assert_false(tv_passwords_know(passwords, TV_BYTES("ada:secret\0x")));
    }
    tv_passwords_free(passwords);
}

static void names_the_line_that_is_none(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        uint64_t offset;
    } bad[] = {
        {"ada", 0},
        {":" SECRET "\n", 0},
        {"#\nada:secret\n", 2},                      /* no hash */
        {"#\nada:$apr1$abcdefgh$F0SsRQXeGtz0\n", 2}, /* Apache's own */
        {"ada:{SHA}W6ph5Mm5Pz8GgiULbPgzG37mj9g=\n", 0},
        {"ada:\n", 0},
    };
    for (size_t i = 0; i < TV_COUNT(bad); i++) {
        struct tv_passwords *passwords = NULL;
        struct tv_error err = {0};
        assert_int_equal(read_text(bad[i].text, &passwords, &err), TV_ERR_SYNTAX);
        assert_int_equal(err.offset, bad[i].offset);
        assert_null(passwords);
    }
}

UNIT_TESTS(passwords, cmocka_unit_test(knows_users_by_their_passwords),
           cmocka_unit_test(names_the_line_that_is_none));
