/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tls.c - requests over TLS, with a certificate that the test makes.
 */
#include "wire.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <gnutls/gnutls.h>
#include <gnutls/x509.h>

#include "base/bytes.h"

struct identity {
    gnutls_datum_t certificate, key; /* PEM */
};

static struct identity make_identity(void)
{
    struct identity made;
    gnutls_x509_privkey_t key;
    gnutls_x509_crt_t certificate;
    assert_int_equal(gnutls_x509_privkey_init(&key), 0);
    assert_int_equal(gnutls_x509_privkey_generate(
                         key, GNUTLS_PK_ECDSA, GNUTLS_CURVE_TO_BITS(GNUTLS_ECC_CURVE_SECP256R1), 0),
                     0);
    assert_int_equal(gnutls_x509_crt_init(&certificate), 0);
    gnutls_x509_crt_set_version(certificate, 3);
    gnutls_x509_crt_set_serial(certificate, "\x01", 1);
    gnutls_x509_crt_set_activation_time(certificate, time(NULL) - 3600);
    gnutls_x509_crt_set_expiration_time(certificate, time(NULL) + 3600);
    gnutls_x509_crt_set_subject_alt_name(certificate, GNUTLS_SAN_DNSNAME, "traces.example", 14,
                                         GNUTLS_FSAN_SET);
    gnutls_x509_crt_set_key(certificate, key);
    assert_int_equal(gnutls_x509_crt_sign2(certificate, certificate, key, GNUTLS_DIG_SHA256, 0), 0);
    assert_int_equal(gnutls_x509_crt_export2(certificate, GNUTLS_X509_FMT_PEM, &made.certificate),
                     0);
    assert_int_equal(gnutls_x509_privkey_export2(key, GNUTLS_X509_FMT_PEM, &made.key), 0);
    gnutls_x509_crt_deinit(certificate);
    gnutls_x509_privkey_deinit(key);
    return made;
}

static void free_identity(struct identity *identity)
{
    gnutls_free(identity->certificate.data);
    gnutls_free(identity->key.data);
}

static struct tv_bytes bytes_of(const gnutls_datum_t *datum)
{
    return (struct tv_bytes){datum->data, datum->size};
}

/* A client that trusts only this certificate, for the name in it. */
struct client {
    int fd;
    gnutls_session_t session;
    gnutls_certificate_credentials_t trusted;
};

/* Shake hands. False: it failed. */
static bool greet(struct client *client, const struct wire *w, const struct identity *identity,
                  const char *priorities)
{
    client->fd = wire_connect(w);
    gnutls_certificate_allocate_credentials(&client->trusted);
    gnutls_certificate_set_x509_trust_mem(client->trusted, &identity->certificate,
                                          GNUTLS_X509_FMT_PEM);
    gnutls_init(&client->session, GNUTLS_CLIENT);
    assert_int_equal(gnutls_priority_set_direct(client->session, priorities, NULL), 0);
    gnutls_credentials_set(client->session, GNUTLS_CRD_CERTIFICATE, client->trusted);
    gnutls_session_set_verify_cert(client->session, "traces.example", 0);
    gnutls_transport_set_int(client->session, client->fd);
    int status;
    do
        status = gnutls_handshake(client->session);
    while (status < 0 && gnutls_error_is_fatal(status) == 0);
    return status == 0;
}

static void leave(struct client *client)
{
    gnutls_deinit(client->session);
    gnutls_certificate_free_credentials(client->trusted);
    close(client->fd);
}

static void send_all(struct client *client, const char *bytes, size_t length)
{
    for (size_t sent = 0; sent < length;) {
        ssize_t n = gnutls_record_send(client->session, bytes + sent, length - sent);
        if (n <= 0)
            return;
        sent += (size_t)n;
    }
}

/* Return the status; the answer is in w->reply. */
static int read_all(struct wire *w, struct client *client)
{
    w->reply_length = 0;
    for (;;) {
        ssize_t n = gnutls_record_recv(client->session, w->reply + w->reply_length,
                                       sizeof w->reply - 1 - w->reply_length);
        if (n == GNUTLS_E_AGAIN || n == GNUTLS_E_INTERRUPTED)
            continue;
        if (n <= 0)
            break;
        w->reply_length += (size_t)n;
    }
    w->reply[w->reply_length] = '\0';
    return w->reply_length > 12 ? (int)strtol(w->reply + 9, NULL, 10) : 0;
}

static struct identity start_with_tls(struct wire *w)
{
    struct identity identity = make_identity();
    w->options.certificate = bytes_of(&identity.certificate);
    w->options.key = bytes_of(&identity.key);
    wire_start(w);
    return identity;
}

static int ask(struct wire *w, const struct identity *identity, const char *text, size_t length)
{
    struct client client;
    assert_true(greet(&client, w, identity, "NORMAL"));
    send_all(&client, text, length);
    int status = read_all(w, &client);
    leave(&client);
    return status;
}

static void answers_by_tls(void **state)
{
    struct wire *w = *state;
    struct identity identity = start_with_tls(w);
    size_t size = (size_t)3 * 1024 * 1024;
    char *body = wire_body(size), *text = malloc(size + 512);
    assert_non_null(text);
    assert_non_null(strstr(tv_http_address(w->http, 0), "https://127.0.0.1:"));
    assert_int_equal(ask(w, &identity, text, wire_head(w, text, 512, "GET /x", "")), 200);
    assert_true(wire_replied(w, "\r\n\r\nmade"));
    assert_true(w->secure);
    size_t length = wire_head(w, text, 512, "PUT /taken", "Content-Length: 3145728\r\n");
    memcpy(text + length, body, size);
    assert_int_equal(ask(w, &identity, text, length + size), 200);
    assert_int_equal(w->last, size);
    assert_false(w->wrong);
    assert_int_equal(ask(w, &identity, text, wire_head(w, text, 512, "GET /stream", "")), 200);
    assert_non_null(strstr(w->reply, "\r\n\r\nabc"));
    assert_int_equal(ask(w, &identity, text, wire_head(w, text, 512, "GET /x", "Host: y\r\n")),
                     400);
    free(body);
    free(text);
    free_identity(&identity);
}

static void ends_a_body_by_tls(void **state)
{
    struct wire *w = *state;
    struct identity identity = start_with_tls(w);
    char *body = wire_body(20000), text[512];
    struct client client;
    assert_true(greet(&client, w, &identity, "NORMAL"));
    send_all(&client, text,
             wire_head(w, text, sizeof text, "PUT /full", "Content-Length: 5000000000\r\n"));
    send_all(&client, body, 20000);
    assert_int_equal(read_all(w, &client), 507);
    assert_true(wire_replied(w, "{\"error\":\"the disk is full\"}"));
    leave(&client);
    free(body);
    free_identity(&identity);
}

/* Clients without TLS, or with an old version, get no answer. */
static void speaks_nothing_older(void **state)
{
    struct wire *w = *state;
    struct identity identity = start_with_tls(w);
    struct client client;
    assert_int_equal(wire_ask(w, "GET", "/x", ""), 0);
    assert_false(greet(&client, w, &identity, "NORMAL:-VERS-ALL:+VERS-TLS1.1:+VERS-TLS1.0"));
    leave(&client);
    assert_true(greet(&client, w, &identity, "NORMAL:-VERS-ALL:+VERS-TLS1.2"));
    leave(&client);
    assert_int_equal(w->answered, 0);
    free_identity(&identity);
}

/* A client that never begins the handshake is cut as well. */
static void cuts_silent_handshakes(void **state)
{
    struct wire *w = *state;
    w->options.limits.head_ms = 200;
    struct identity identity = start_with_tls(w);
    int fd = wire_connect(w);
    assert_int_equal(wire_read(w, fd), 0);
    while (tv_http_count(w->http).connections > 0)
        usleep(1000);
    assert_int_equal(tv_http_count(w->http).slow, 1);
    free_identity(&identity);
}

static void says_when_a_certificate_is_wrong(void **state)
{
    struct wire *w = *state;
    struct identity one = make_identity(), two = make_identity();
    struct tv_handler handler = {.context = w};
    const struct {
        struct tv_bytes certificate, key;
    } cases[] = {
        {bytes_of(&one.certificate), bytes_of(&two.key)},
        {bytes_of(&one.certificate), {NULL, 0}},
        {bytes_of(&one.key), bytes_of(&one.key)},
        {TV_BYTES("no certificate"), bytes_of(&one.key)},
    };
    for (size_t i = 0; i < TV_COUNT(cases); i++) {
        struct tv_http_options options = {.certificate = cases[i].certificate, .key = cases[i].key};
        struct tv_error err = {0};
        struct tv_http *http;
        assert_int_equal(tv_http_new(&options, &handler, &http, &err), TV_OK);
        if (tv_http_start(http, &err) == TV_OK)
            fail_msg("case %zu was taken", i);
        tv_http_free(http);
        assert_non_null(strstr(err.message, "certificate"));
    }
    free_identity(&one);
    free_identity(&two);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, wire_make, wire_free)

UNIT_TESTS(tls, TEST(answers_by_tls), TEST(ends_a_body_by_tls), TEST(speaks_nothing_older),
           TEST(cuts_silent_handshakes), TEST(says_when_a_certificate_is_wrong));
