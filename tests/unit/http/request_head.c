/* SPDX-License-Identifier: Apache-2.0 */
/*
 * request_head.c - heads that can be read in two ways reach no handler (docs/security.md).
 */
#include "wire.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/bytes.h"
#include "http/internal.h"

struct head {
    const char *why;
    const char *text;
    size_t length;
};

#define HEAD(why, text)                                                                            \
    {                                                                                              \
        why, text, sizeof(text) - 1                                                                \
    }
#define END "Connection: close\r\n\r\n"
/* A second request, for a reader that splits the bytes differently. */
#define SECOND "GET /second HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"

static const struct head ambiguous[] = {
    HEAD("no host", "GET / HTTP/1.1\r\n" END),
    HEAD("no host, old", "GET / HTTP/1.0\r\n" END),
    HEAD("two hosts", "GET / HTTP/1.1\r\nHost: x\r\nHost: evil.example\r\n" END),
    HEAD("two hosts alike", "GET / HTTP/1.1\r\nHost: x\r\nhost: x\r\n" END),
    HEAD("empty host", "GET / HTTP/1.1\r\nHost:\r\n" END),
    HEAD("host with a path", "GET / HTTP/1.1\r\nHost: x/y\r\n" END),
    HEAD("host with a user", "GET / HTTP/1.1\r\nHost: a@x\r\n" END),
    HEAD("two hosts in one", "GET / HTTP/1.1\r\nHost: x, y\r\n" END),
    HEAD("two origins", "GET / HTTP/1.1\r\nHost: x\r\nOrigin: a\r\nOrigin: b\r\n" END),
    HEAD("two ways of the length", "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n"
                                   "Transfer-Encoding: chunked\r\n" END "0\r\n\r\n" SECOND),
    HEAD("the other order", "POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n"
                            "Content-Length: 5\r\n" END "0\r\n\r\n" SECOND),
    HEAD("two lengths", "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n"
                        "Content-Length: 6\r\n" END "hello" SECOND),
    HEAD("two lengths alike", "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n"
                              "Content-Length: 5\r\n" END "hello"),
    HEAD("a list of lengths", "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 5, 5\r\n" END "hello"),
    HEAD("a signed length", "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: +5\r\n" END "hello"),
    HEAD("a negative one", "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: -5\r\n" END),
    HEAD("a hexadecimal one", "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 0x5\r\n" END),
    HEAD("no number", "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: five\r\n" END),
    HEAD("an empty one", "POST / HTTP/1.1\r\nHost: x\r\nContent-Length:\r\n" END),
    HEAD("a fraction", "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 5.0\r\n" END),
    HEAD("more than 63 bits",
         "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 9223372036854775808\r\n" END),
    HEAD("another coding",
         "POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: gzip, chunked\r\n" END),
    HEAD("no such coding", "POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: xchunked\r\n" END),
    HEAD("identity", "POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: identity\r\n" END),
    HEAD("an empty coding", "POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding:\r\n" END),
    HEAD("a coding that ends in a tab",
         "POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\t\r\n" END "0\r\n\r\n"),
    HEAD("two codings", "POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n"
                        "Transfer-Encoding: identity\r\n" END "0\r\n\r\n"),
    HEAD("chunks of an old client",
         "POST / HTTP/1.0\r\nHost: x\r\nTransfer-Encoding: chunked\r\n" END "0\r\n\r\n"),
    HEAD("a blank before the colon", "POST / HTTP/1.1\r\nHost: x\r\n"
                                     "Transfer-Encoding : chunked\r\n" END "0\r\n\r\n" SECOND),
    HEAD("a tab before the colon", "POST / HTTP/1.1\r\nHost: x\r\nContent-Length\t: 5\r\n" END),
    HEAD("a blank before the name", "GET / HTTP/1.1\r\n Host: x\r\nHost: x\r\n" END),
    HEAD("a name of two words", "GET / HTTP/1.1\r\nHost: x\r\nX Y: 5\r\n" END),
    HEAD("a name with a byte above", "GET / HTTP/1.1\r\nHost: x\r\nX\xc3\xa4: 5\r\n" END),
    HEAD("no name", "GET / HTTP/1.1\r\nHost: x\r\n: 5\r\n" END),
    HEAD("no colon", "GET / HTTP/1.1\r\nHost: x\r\nX\r\n" END),
    HEAD("a folded value", "GET / HTTP/1.1\r\nHost: x\r\nX: a\r\n b\r\n" END),
    HEAD("folded by a tab", "POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding:\r\n"
                            "\tchunked\r\n" END "0\r\n\r\n"),
    HEAD("a folded empty line", "GET / HTTP/1.1\r\nHost: x\r\nX: a\r\n \r\n" END),
    HEAD("a bare LF", "GET / HTTP/1.1\r\nHost: x\nX: y\r\n" END),
    HEAD("a bare LF after the first line", "GET / HTTP/1.1\nHost: x\r\n" END),
    HEAD("bare LFs alone", "GET / HTTP/1.1\nHost: x\nConnection: close\n\n"),
    HEAD("a bare LF at the end", "GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\n"),
    HEAD("a bare LF before the end", "GET / HTTP/1.1\r\nHost: x\r\nConnection: close\n\r\n"),
    HEAD("a bare CR", "GET / HTTP/1.1\r\nHost: x\r\nX: a\rb\r\n" END),
    HEAD("two CRs", "GET / HTTP/1.1\r\nHost: x\r\nX: a\r\r\n" END),
    HEAD("a NUL in a value", "GET / HTTP/1.1\r\nHost: x\r\nX: a\0b\r\n" END),
    HEAD("a NUL in the host", "GET / HTTP/1.1\r\nHost: x\0.evil.example\r\n" END),
    HEAD("a NUL after a value", "GET / HTTP/1.1\r\nHost: x\0\r\n" END),
    HEAD("a NUL in a name", "GET / HTTP/1.1\r\nHost: x\r\nX\0: a\r\n" END),
    HEAD("a control character", "GET / HTTP/1.1\r\nHost: x\r\nX: a\x01\r\n" END),
    HEAD("a control character in the target", "GET /\x01 HTTP/1.1\r\nHost: x\r\n" END),
    HEAD("a DEL in a value", "GET / HTTP/1.1\r\nHost: x\r\nX: a\x7f\r\n" END),
    HEAD("a DEL in the target", "GET /\x7f HTTP/1.1\r\nHost: x\r\n" END),
    HEAD("a version in between", "GET / HTTP/1.2\r\nHost: x\r\n" END),
    HEAD("a blank in the target", "GET /a b HTTP/1.1\r\nHost: x\r\n" END),
    HEAD("a tab in the target", "GET /a\tb HTTP/1.1\r\nHost: x\r\n" END),
    HEAD("two blanks", "GET  / HTTP/1.1\r\nHost: x\r\n" END),
    HEAD("blanks at the end", "GET / HTTP/1.1  \r\nHost: x\r\n" END),
    HEAD("a whole address", "GET http://x/ HTTP/1.1\r\nHost: x\r\n" END),
    HEAD("no slash", "GET x HTTP/1.1\r\nHost: x\r\n" END),
    HEAD("a star", "GET * HTTP/1.1\r\nHost: x\r\n" END),
    HEAD("a place to connect to", "CONNECT x:80 HTTP/1.1\r\nHost: x:80\r\n" END),
    HEAD("a method with a bracket", "G(T / HTTP/1.1\r\nHost: x\r\n" END),
    HEAD("a method with a square one", "G[T / HTTP/1.1\r\nHost: x\r\n" END),
    HEAD("a method with a curly one", "G{T / HTTP/1.1\r\nHost: x\r\n" END),
    HEAD("a method with an equals sign", "G=T / HTTP/1.1\r\nHost: x\r\n" END),
    HEAD("two ranges", "GET / HTTP/1.1\r\nHost: x\r\nRange: bytes=0-1\r\n"
                       "Range: bytes=0-1\r\n" END),
    HEAD("two passwords", "GET / HTTP/1.1\r\nHost: x\r\nAuthorization: a\r\n"
                          "Authorization: b\r\n" END),
    HEAD("two cookies", "GET / HTTP/1.1\r\nHost: x\r\nCookie: a=1\r\nCookie: a=2\r\n" END),
    HEAD("two offsets", "PATCH / HTTP/1.1\r\nHost: x\r\nUpload-Offset: 1\r\n"
                        "upload-offset: 2\r\n" END),
    HEAD("two senders behind a proxy", "GET / HTTP/1.1\r\nHost: x\r\nX-Forwarded-For: a\r\n"
                                       "X-Forwarded-For: b\r\n" END),
};

static void refuses_ambiguous_heads(void **state)
{
    struct wire *w = *state;
    for (size_t i = 0; i < TV_COUNT(ambiguous); i++) {
        int status = wire_ask_raw(w, ambiguous[i].text, ambiguous[i].length);
        if (status != 400)
            fail_msg("%s: %d", ambiguous[i].why, status);
        if (w->began != 0)
            fail_msg("%s: the handler was asked", ambiguous[i].why);
    }
    struct tv_http_counts counts = tv_http_count(w->http);
    /* the library itself refuses some lengths, and much of HTTP/1.0 */
    assert_true(counts.malformed > 0);
    assert_int_equal(counts.malformed, counts.requests);
}

/* Without a version that it knows, the library closes silently or sends its own answer; for 1.0
 * also when there is a NUL before the version. */
static void refuses_non_requests(void **state)
{
    struct wire *w = *state;
    static const struct head heads[] = {
        HEAD("no version", "GET /\r\nHost: x\r\n" END),
        HEAD("a version of two digits", "GET / HTTP/1.10\r\nHost: x\r\n" END),
        HEAD("a small version", "GET / http/1.1\r\nHost: x\r\n" END),
        HEAD("a later version", "GET / HTTP/2.0\r\nHost: x\r\n" END),
        HEAD("a NUL in the target", "GET /a\0b HTTP/1.1\r\nHost: x\r\n" END),
        HEAD("a NUL in the method", "G\0ET / HTTP/1.1\r\nHost: x\r\n" END),
    };
    for (size_t i = 0; i < TV_COUNT(heads); i++) {
        int status = wire_ask_raw(w, heads[i].text, heads[i].length);
        if (status == 200 || w->began != 0)
            fail_msg("%s: %d", heads[i].why, status);
    }
}

static void takes_what_is_well_formed(void **state)
{
    struct wire *w = *state;
    static const struct head heads[] = {
        HEAD("nothing special", "GET / HTTP/1.1\r\nHost: x\r\n" END),
        HEAD("old", "GET / HTTP/1.0\r\nHost: x\r\n" END),
        HEAD("an empty line before", "\r\nGET / HTTP/1.1\r\nHost: x\r\n" END),
        HEAD("no blank after the colon", "GET / HTTP/1.1\r\nHost:x\r\n" END),
        HEAD("many blanks after it", "GET / HTTP/1.1\r\nHost: \t  x\r\n" END),
        HEAD("an empty value", "GET / HTTP/1.1\r\nHost: x\r\nX:\r\nY: \r\n" END),
        HEAD("a tab in a value", "GET / HTTP/1.1\r\nHost: x\r\nX: a\tb\r\n" END),
        HEAD("UTF-8 in a value", "GET / HTTP/1.1\r\nHost: x\r\nX: \xc3\xa4\r\n" END),
        HEAD("UTF-8 in the target", "GET /\xc3\xa4 HTTP/1.1\r\nHost: x\r\n" END),
        HEAD("all kinds of characters in names",
             "get2|~ / HTTP/1.1\r\nHost: x\r\nX_0-9.a^`!#$%&'*+|~: a\r\n" END),
        HEAD("an address of IPv6", "GET / HTTP/1.1\r\nHost: [::1]:80\r\n" END),
        HEAD("lists in several lines",
             "GET / HTTP/1.1\r\nHost: x\r\nAccept: a\r\nAccept: b\r\n" END),
        HEAD("a star for OPTIONS", "OPTIONS * HTTP/1.1\r\nHost: x\r\n" END),
        HEAD("a body", "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n" END "hello"),
        HEAD("no body", "POST / HTTP/1.1\r\nHost: x\r\n" END),
        HEAD("chunks", "POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: Chunked\r\n" END
                       "5\r\nhello\r\n0\r\n\r\n"),
        HEAD("cookies", "GET / HTTP/1.1\r\nHost: x\r\nCookie: a=1; b=\"2\"; c\r\n" END),
        HEAD("a long query", "GET /?a=b&c=%00&&=&d HTTP/1.1\r\nHost: x\r\n" END),
    };
    for (size_t i = 0; i < TV_COUNT(heads); i++) {
        int status = wire_ask_raw(w, heads[i].text, heads[i].length);
        if (status != 200)
            fail_msg("%s: %d", heads[i].why, status);
    }
    assert_int_equal(w->answered, TV_COUNT(heads));
}

/* The library never passes such a head on; another version of it might. */
static void refuses_heads_that_no_library_makes(void **state)
{
    (void)state;
    static const char line[100] = "Host\0 x";
    struct tv_http_header host = {line, line + 6};
    const struct tv_request_head good = {.method = "GET",
                                         .target = TV_BYTES("/"),
                                         .version = "HTTP/1.1",
                                         .headers = &host,
                                         .count = 1,
                                         .size = sizeof "GET / HTTP/1.1\r\nHost: x\r\n\r\n" - 1};
    uint64_t length;
    assert_true(tv_request_head_is_valid(&good, &length));
    struct tv_request_head head = good;
    head.method = "";
    assert_false(tv_request_head_is_valid(&head, &length));
    head = good;
    head.target.length = 0;
    assert_false(tv_request_head_is_valid(&head, &length));
    head = good;
    host.value = line; /* in front of the end of its name */
    assert_false(tv_request_head_is_valid(&head, &length));
    host.value = line + 60; /* beyond the head */
    assert_false(tv_request_head_is_valid(&head, &length));
}

/* Splitting the bytes into small packets changes nothing. */
static void does_not_depend_on_pieces(void **state)
{
    struct wire *w = *state;
    static const char good[] = "GET /good HTTP/1.1\r\nHost: x\r\nX: a\r\n" END;
    static const char folded[] = "GET / HTTP/1.1\r\nHost: x\r\nX: a\r\n b\r\n" END;
    const struct {
        const char *text;
        size_t length;
        int status;
    } cases[] = {{good, sizeof good - 1, 200}, {folded, sizeof folded - 1, 400}};
    for (size_t i = 0; i < TV_COUNT(cases); i++) {
        int fd = wire_connect(w);
        for (size_t at = 0; at < cases[i].length; at++) {
            wire_send(fd, cases[i].text + at, 1);
            usleep(500);
        }
        assert_int_equal(wire_read(w, fd), cases[i].status);
    }
    assert_int_equal(w->answered, 1);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, wire_make_and_start, wire_free)

UNIT_TESTS(request_head, cmocka_unit_test(refuses_heads_that_no_library_makes),
           TEST(refuses_ambiguous_heads), TEST(refuses_non_requests),
           TEST(takes_what_is_well_formed), TEST(does_not_depend_on_pieces));
