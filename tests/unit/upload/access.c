/* SPDX-License-Identifier: Apache-2.0 */
/*
 * access.c - authentication, sessions and passwords.
 */
#include "unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/bytes.h"
#include "upload/access.h"

static const char *const names[] = {"traces.example.org"};

static struct tv_access *make(const char *token, bool public_read)
{
    struct tv_access *access = NULL;
    struct tv_error err;
    const struct tv_access_options options = {
        .token = token, .public_read = public_read, .hosts = names, .host_count = 1};
    assert_int_equal(tv_access_new(&options, &access, &err), TV_OK);
    return access;
}

static void hosts_are_addresses_and_our_names(void **state)
{
    (void)state;
    static const struct {
        const char *host;
        bool ours;
    } cases[] = {
        {"127.0.0.1:8192", true},
        {"192.168.1.5", true},
        {"[::1]:8192", true},
        {"[2001:db8::1]", true},
        {"localhost:8192", true},
        {"Traces.Example.org", true},
        {"traces.example.org:443", true},
        {"evil.example.org:8192", false}, /* a foreign name that resolves to us (DNS rebinding) */
        {"127.0.0.1.evil.org", false},
        {"traces.example.org.evil.org", false},
        {"localhost:8192@evil.org", false},
        {"[::1", false},
        {"[::1]x", false},
        {"[evil.org]:1", false},
        {":8192", false},
        {"", false},
        {NULL, false},
    };
    struct tv_access *access = make(NULL, false);
    for (size_t i = 0; i < TV_COUNT(cases); i++) {
        const struct tv_credentials client = {.peer = "192.0.2.1", .host = cases[i].host};
        assert_int_equal(tv_access_check(access, &client, TV_RIGHT_CHANGE),
                         cases[i].ours ? TV_ADMITTED : TV_FOREIGN_HOST);
    }
    tv_access_free(access);
}

static void other_pages_change_nothing(void **state)
{
    (void)state;
    static const struct {
        const char *origin, *site;
        bool ours;
    } cases[] = {
        {NULL, NULL, true}, /* curl */
        {"http://localhost:8192", NULL, true},
        {"https://localhost:8192", "same-origin", true}, /* behind a proxy that terminates TLS */
        {"http://localhost", NULL, false},               /* another port is another origin */
        {"http://evil.org", NULL, false},
        {"null", NULL, false}, /* a sandboxed page, or a file */
        {"", NULL, false},
        {NULL, "cross-site", false},
        {NULL, "same-site", false},
        {"http://localhost:8192", "cross-site", false},
    };
    struct tv_access *access = make(NULL, false);
    for (size_t i = 0; i < TV_COUNT(cases); i++) {
        struct tv_credentials client = {.peer = "192.0.2.1",
                                        .host = "localhost:8192",
                                        .origin = cases[i].origin,
                                        .fetch_site = cases[i].site,
                                        .changes = true};
        assert_int_equal(tv_access_check(access, &client, TV_RIGHT_CHANGE),
                         cases[i].ours ? TV_ADMITTED : TV_FOREIGN_ORIGIN);
        client.changes = false;
        assert_int_equal(tv_access_check(access, &client, TV_RIGHT_READ), TV_ADMITTED);
    }
    tv_access_free(access);
}

static enum tv_verdict judge(struct tv_access *access, const char *authorization,
                             const char *cookie, enum tv_right right)
{
    const struct tv_credentials client = {
        .peer = "192.0.2.1", .host = "localhost", .authorization = authorization, .cookie = cookie};
    return tv_access_check(access, &client, right);
}

static void a_token_opens_everything(void **state)
{
    (void)state;
    struct tv_access *access = make("the token of the team", false);
    assert_string_equal(tv_access_login_kind(access), "token");
    assert_int_equal(judge(access, NULL, NULL, TV_RIGHT_NONE), TV_ADMITTED);
    for (enum tv_right right = TV_RIGHT_READ; right <= TV_RIGHT_CHANGE; right++) {
        assert_int_equal(judge(access, NULL, NULL, right), TV_UNKNOWN_CLIENT);
        assert_int_equal(judge(access, "Bearer the token of the team", NULL, right), TV_ADMITTED);
        assert_int_equal(judge(access, "bearer  the token of the team", NULL, right), TV_ADMITTED);
        assert_int_equal(judge(access, "Bearer the token of the tea", NULL, right),
                         TV_UNKNOWN_CLIENT);
        assert_int_equal(judge(access, "Basic dGhlIHRva2VuIG9mIHRoZSB0ZWFt", NULL, right),
                         TV_UNKNOWN_CLIENT);
    }
    tv_access_free(access);
}

static void public_traces_need_no_token_but_their_list_does(void **state)
{
    (void)state;
    struct tv_access *access = make("the token of the team", true);
    assert_int_equal(judge(access, NULL, NULL, TV_RIGHT_READ), TV_ADMITTED);
    assert_int_equal(judge(access, NULL, NULL, TV_RIGHT_LIST), TV_UNKNOWN_CLIENT);
    assert_int_equal(judge(access, NULL, NULL, TV_RIGHT_CHANGE), TV_UNKNOWN_CLIENT);
    tv_access_free(access);
}

static void a_session_lasts_until_its_end(void **state)
{
    (void)state;
    struct tv_access *access = make("the token of the team", false);
    char session[TV_ACCESS_SESSION + 1], cookie[128];
    assert_int_equal(tv_access_login(access, TV_BYTES("x"), session), TV_UNKNOWN_CLIENT);
    assert_int_equal(tv_access_login(access, TV_BYTES("the token of the team"), session),
                     TV_ADMITTED);
    snprintf(cookie, sizeof cookie, "a=1; traceview=%s; b=2", session);
    assert_int_equal(judge(access, NULL, cookie, TV_RIGHT_CHANGE), TV_ADMITTED);
    assert_int_equal(judge(access, NULL, "traceview=", TV_RIGHT_LIST), TV_UNKNOWN_CLIENT);
    assert_int_equal(
        judge(access, NULL, "traceview=00000000000000000000000000000000", TV_RIGHT_LIST),
        TV_UNKNOWN_CLIENT);
    tv_access_logout(access, cookie);
    assert_int_equal(judge(access, NULL, cookie, TV_RIGHT_CHANGE), TV_UNKNOWN_CLIENT);
    tv_access_free(access);
}

/* Others behind the same address may have the right token. */
static void wrong_tokens_lock_nobody_out(void **state)
{
    (void)state;
    struct tv_access *access = make("the token of the team", false);
    char session[TV_ACCESS_SESSION + 1];
    for (int i = 0; i < 100; i++) {
        assert_int_equal(judge(access, "Bearer x", NULL, TV_RIGHT_LIST), TV_UNKNOWN_CLIENT);
        assert_int_equal(judge(access, "Basic eDp5", NULL, TV_RIGHT_LIST), TV_UNKNOWN_CLIENT);
        assert_int_equal(tv_access_login(access, TV_BYTES("x"), session), TV_UNKNOWN_CLIENT);
    }
    assert_int_equal(judge(access, "Bearer the token of the team", NULL, TV_RIGHT_LIST),
                     TV_ADMITTED);
    assert_int_equal(tv_access_login(access, TV_BYTES("the token of the team"), session),
                     TV_ADMITTED);
    tv_access_free(access);
}

static void short_tokens_are_refused(void **state)
{
    (void)state;
    struct tv_access *access = NULL;
    struct tv_error err;
    struct tv_access_options options = {.token = "123456789012345"};
    assert_int_equal(tv_access_new(&options, &access, &err), TV_ERR_USAGE);
    assert_non_null(strstr(err.message, "at least 16"));
    options.token = "1234567890123456";
    assert_int_equal(tv_access_new(&options, &access, &err), TV_OK);
    tv_access_free(access);
}

/* The hash of "secret", made by `openssl passwd -6 -salt abcdefgh`. */
static struct tv_access *make_with_password(void)
{
    static const char text[] = "ada:$6$abcdefgh$ltjgWl6579NluT/"
                               "Vi1nwEvcil.G5Nbc4NiXZaNGStk8PSwGfQv72N2CKPPrVACtLtip/cZ/"
                               "1GM/O6IND4WQhG.\n";
    char path[] = "/tmp/traceview-access-XXXXXX";
    int fd = mkstemp(path);
    struct tv_access *access = NULL;
    struct tv_error err;
    assert_true(fd >= 0);
    assert_int_equal(write(fd, text, sizeof text - 1), sizeof text - 1);
    close(fd);
    const struct tv_access_options options = {.htpasswd = path};
    assert_int_equal(tv_access_new(&options, &access, &err), TV_OK);
    unlink(path);
    return access;
}

static void guessed_passwords_are_limited(void **state)
{
    (void)state;
    struct tv_access *access = make_with_password();
    /* "ada:secret", "ada:wrong" */
    for (int i = 0; i < 20; i++)
        assert_int_equal(judge(access, "Basic YWRhOnNlY3JldA==", NULL, TV_RIGHT_LIST), TV_ADMITTED);
    for (int i = 0; i < 10; i++)
        assert_int_equal(judge(access, "Basic YWRhOndyb25n", NULL, TV_RIGHT_LIST),
                         TV_UNKNOWN_CLIENT);
    assert_int_equal(judge(access, "Basic YWRhOnNlY3JldA==", NULL, TV_RIGHT_LIST),
                     TV_TOO_MANY_TRIES);
    assert_int_equal(judge(access, "Bearer x", NULL, TV_RIGHT_LIST), TV_UNKNOWN_CLIENT);
    tv_access_free(access);
}

/* The owner of an IPv6 /48 has 65,536 networks, each a client of its own. */
static void many_networks_of_one_site_are_limited(void **state)
{
    (void)state;
    struct tv_access *access = make_with_password();
    unsigned checked = 0;
    char peer[64];
    struct tv_credentials client = {
        .peer = peer, .host = "localhost", .authorization = "Basic YWRhOndyb25n"}; /* "ada:wrong" */
    time_t begun = time(NULL);
    for (unsigned network = 0; network < 200; network++) {
        snprintf(peer, sizeof peer, "2001:db8:1:%x::1", network);
        checked += tv_access_check(access, &client, TV_RIGHT_LIST) == TV_UNKNOWN_CLIENT;
    }
    assert_true(checked >= 40 && checked <= 41 + 2 * (unsigned)(time(NULL) - begun));
    client.authorization = "Basic YWRhOnNlY3JldA=="; /* "ada:secret" */
    snprintf(peer, sizeof peer, "2001:db8:2::1");
    assert_int_equal(tv_access_check(access, &client, TV_RIGHT_LIST), TV_ADMITTED);
    snprintf(peer, sizeof peer, "192.0.2.1");
    assert_int_equal(tv_access_check(access, &client, TV_RIGHT_LIST), TV_ADMITTED);
    tv_access_free(access);
}

/* ---- Passwords ---- */

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
        assert_true(tv_passwords_match(passwords, TV_BYTES("ada:secret")));
        assert_true(tv_passwords_match(passwords, TV_BYTES("grace:pass:word")));
        assert_false(tv_passwords_match(passwords, TV_BYTES("ada:secre")));
        assert_false(tv_passwords_match(passwords, TV_BYTES("ada:pass:word")));
        assert_false(tv_passwords_match(passwords, TV_BYTES("grace:secret")));
        assert_false(tv_passwords_match(passwords, TV_BYTES("mallory:secret")));
        assert_false(tv_passwords_match(passwords, TV_BYTES("ada")));
        assert_false(tv_passwords_match(passwords, TV_BYTES("")));
        assert_false(tv_passwords_match(passwords, TV_BYTES(":")));
        assert_false(tv_passwords_match(passwords, TV_BYTES("ada:secret\0x")));
    }
    tv_passwords_free(passwords);
}

static void names_the_malformed_line(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        uint64_t offset;
    } bad[] = {
        {"ada", 0},
        {":" SECRET "\n", 0},
        {"#\nada:secret\n", 2},                      /* no hash */
        {"#\nada:$apr1$abcdefgh$F0SsRQXeGtz0\n", 2}, /* Apache's own method */
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

UNIT_TESTS(access, cmocka_unit_test(hosts_are_addresses_and_our_names),
           cmocka_unit_test(other_pages_change_nothing), cmocka_unit_test(a_token_opens_everything),
           cmocka_unit_test(public_traces_need_no_token_but_their_list_does),
           cmocka_unit_test(a_session_lasts_until_its_end),
           cmocka_unit_test(wrong_tokens_lock_nobody_out),
           cmocka_unit_test(short_tokens_are_refused),
           cmocka_unit_test(guessed_passwords_are_limited),
           cmocka_unit_test(many_networks_of_one_site_are_limited),
           cmocka_unit_test(knows_users_by_their_passwords),
           cmocka_unit_test(names_the_malformed_line));
