/* SPDX-License-Identifier: Apache-2.0 */
/*
 * answer.c - answers as they arrive at a client: headers, ranges, streams.
 */
#include "unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/bytes.h"
#include "http/internal.h"
#include "wire.h"

/* Return what follows the headers. */
static const char *body_of(const struct wire *w)
{
    const char *end = strstr(w->reply, "\r\n\r\n");
    assert_non_null(end);
    return end + 4;
}

static void protects_every_answer(void **state)
{
    struct wire *w = *state;
    assert_int_equal(wire_ask(w, "GET", "/x", ""), 200);
    assert_true(
        wire_replied(w, "Content-Security-Policy: default-src 'none'; frame-ancestors 'none'\r\n"));
    assert_true(wire_replied(w, "X-Content-Type-Options: nosniff\r\n"));
    assert_true(wire_replied(w, "Referrer-Policy: no-referrer\r\n"));
    assert_true(wire_replied(w, "Cross-Origin-Resource-Policy: same-origin\r\n"));
    assert_true(wire_replied(w, "Cache-Control: no-store\r\n"));
    assert_false(wire_replied(w, "Access-Control"));
    assert_int_equal(wire_ask(w, "GET", "/refused", ""), 403);
    assert_true(wire_replied(w, "X-Content-Type-Options: nosniff\r\n"));
    assert_int_equal(wire_ask(w, "GET", "/x", "Host: y\r\n"), 400);
    assert_true(wire_replied(w, "X-Content-Type-Options: nosniff\r\n"));
    assert_string_equal(body_of(w), "400\n");
}

static void answers_head_without_the_body(void **state)
{
    struct wire *w = *state;
    static const struct {
        const char *path, *length;
    } cases[] = {
        {"/x", "Content-Length: 4\r\n"},         {"/constant", "Content-Length: 15\r\n"},
        {"/large", "Content-Length: 11\r\n"},    {"/stream", "Content-Length: 2500\r\n"},
        {"/chunks", "Content-Type: text/plain"},
    };
    for (size_t i = 0; i < TV_COUNT(cases); i++) {
        assert_int_equal(wire_ask(w, "HEAD", cases[i].path, "Range: bytes=0-1\r\n"), 200);
        assert_true(wire_replied(w, cases[i].length));
        assert_string_equal(body_of(w), "");
    }
    assert_int_equal(tv_http_count(w->http).sent, 0);
}

static void lets_the_client_keep_what_has_a_tag(void **state)
{
    struct wire *w = *state;
    assert_int_equal(wire_ask(w, "GET", "/constant", ""), 200);
    assert_true(wire_replied(w, "ETag: \"7\"\r\n"));
    assert_true(wire_replied(w, "Cache-Control: no-cache\r\n"));
    assert_string_equal(body_of(w), "from the rodata");
    assert_int_equal(wire_ask(w, "GET", "/constant", "If-None-Match: \"7\"\r\n"), 304);
    assert_string_equal(body_of(w), "");
    assert_int_equal(wire_ask(w, "GET", "/constant", "If-None-Match: \"8\"\r\n"), 200);
}

/* A header value can neither end its line nor begin another. */
static void keeps_values_in_their_lines(void **state)
{
    struct wire *w = *state;
    assert_int_equal(wire_ask(w, "GET", "/headers", ""), 200);
    assert_true(wire_replied(w, "\r\nLocation: /a??Set-Cookie: b?\r\n"));
    assert_false(wire_replied(w, "\nSet-Cookie"));
    assert_true(wire_replied(w, "\r\nX-More: 14\r\n"));
    assert_false(wire_replied(w, "\r\nX-More: 15\r\n")); /* beyond the maximum number of headers */
    assert_int_equal(wire_ask(w, "GET", "/nothing", ""), 204);
    assert_true(wire_replied(w, "\r\nUpload-Offset: 70\r\n"));
    assert_string_equal(body_of(w), "");
}

static void sends_parts_of_a_source(void **state)
{
    struct wire *w = *state;
    static const struct {
        const char *lines;
        int status;
        const char *range, *body;
    } cases[] = {
        {"", 200, NULL, "from a file"},
        {"Range: bytes=0-3\r\n", 206, "bytes 0-3/11", "from"},
        {"Range: bytes=5-\r\n", 206, "bytes 5-10/11", "a file"},
        {"Range: bytes=-4\r\n", 206, "bytes 7-10/11", "file"},
        {"Range: bytes=10-99\r\n", 206, "bytes 10-10/11", "e"},
        {"Range: bytes=-99\r\n", 206, "bytes 0-10/11", "from a file"},
        {"Range: bytes=11-\r\n", 416, "bytes */11", "416\n"},
        {"Range: bytes=-0\r\n", 416, "bytes */11", "416\n"},
        {"Range: bytes=3-2\r\n", 200, NULL, "from a file"},
        {"Range: bytes=0-1,3-4\r\n", 200, NULL, "from a file"},
        {"Range: lines=0-1\r\n", 200, NULL, "from a file"},
        {"Range: bytes=x\r\n", 200, NULL, "from a file"},
        {"Range: bytes=0-3\r\nIf-Range: \"f\"\r\n", 206, "bytes 0-3/11", "from"},
        {"Range: bytes=0-3\r\nIf-Range: \"g\"\r\n", 200, NULL, "from a file"},
    };
    for (size_t i = 0; i < TV_COUNT(cases); i++) {
        char line[64];
        assert_int_equal(wire_ask(w, "GET", "/large", cases[i].lines), cases[i].status);
        assert_string_equal(body_of(w), cases[i].body);
        snprintf(line, sizeof line, "Content-Range: %s\r\n", cases[i].range ? cases[i].range : "");
        assert_int_equal(wire_replied(w, line), cases[i].range != NULL);
        snprintf(line, sizeof line, "Content-Length: %zu\r\n", strlen(cases[i].body));
        assert_true(wire_replied(w, line));
        assert_true(wire_replied(w, "Accept-Ranges: bytes\r\n"));
    }
    assert_int_equal(wire_ask(w, "GET", "/x", "Range: bytes=0-1\r\n"), 200);
    assert_false(wire_replied(w, "Accept-Ranges"));
}

/* Join the chunks of an answer in place. False: the last chunk is missing. */
static bool join_chunks(char *body, size_t *length)
{
    char *from = body;
    *length = 0;
    for (;;) {
        char *end;
        size_t size = strtoul(from, &end, 16);
        if (end == from || strncmp(end, "\r\n", 2) != 0)
            return false;
        if (size == 0)
            return true;
        memmove(body + *length, end + 2, size);
        *length += size;
        from = end + 2 + size + 2;
    }
}

static void sends_streams(void **state)
{
    struct wire *w = *state;
    char *wanted = wire_body(2500), body[4096];
    size_t length;
    assert_int_equal(wire_ask(w, "GET", "/stream", ""), 200);
    assert_true(wire_replied(w, "Content-Length: 2500\r\n"));
    assert_int_equal(strlen(body_of(w)), 2500);
    assert_memory_equal(body_of(w), wanted, 2500);
    assert_int_equal(wire_ask(w, "GET", "/chunks", ""), 200);
    assert_true(wire_replied(w, "Transfer-Encoding: chunked\r\n"));
    snprintf(body, sizeof body, "%s", body_of(w));
    assert_true(join_chunks(body, &length));
    assert_int_equal(length, 2500);
    assert_memory_equal(body, wanted, 2500);
    assert_int_equal(w->sent, 2);
    /* an answer that breaks off is not taken for a complete one */
    assert_int_equal(wire_ask(w, "GET", "/broken", ""), 200);
    snprintf(body, sizeof body, "%s", body_of(w));
    assert_false(join_chunks(body, &length));
    while (w->closed < 3)
        usleep(1000);
    assert_int_equal(w->sent, 2);
    assert_int_equal(wire_ask(w, "GET", "/many", ""), 200);
    while (w->closed < 4)
        usleep(1000);
    assert_int_equal(tv_http_count(w->http).sent, 2500 + 2500 + 2500 + WIRE_LONG);
    free(wanted);
}

/* A stream ends when its client disconnects. */
static void ends_a_stream_that_nobody_reads(void **state)
{
    struct wire *w = *state;
    char text[512];
    int fd = wire_connect(w);
    wire_send(fd, text, wire_head(w, text, sizeof text, "GET /many", ""));
    assert_int_equal(recv(fd, text, sizeof text, MSG_WAITALL), sizeof text);
    close(fd);
    while (w->closed == 0 || w->noted == 0)
        usleep(1000);
    assert_int_equal(w->sent, 0);
    assert_int_equal(w->note.status, 200);
    assert_false(w->note.whole);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, wire_make_and_start, wire_free)

/* From section 14.1.2 of RFC 9110. */
static void reads_one_range(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        uint64_t size;
        enum tv_range_kind kind;
        uint64_t from, to;
    } cases[] = {
        {"bytes=0-499", 10000, TV_RANGE_PART, 0, 500},
        {"bytes=500-999", 10000, TV_RANGE_PART, 500, 1000},
        {"bytes=-500", 10000, TV_RANGE_PART, 9500, 10000},
        {"bytes=9500-", 10000, TV_RANGE_PART, 9500, 10000},
        {"bytes=0-0", 1, TV_RANGE_PART, 0, 1},
        {"bytes=0-", 0, TV_RANGE_OUTSIDE, 0, 0},
        {"bytes=-1", 0, TV_RANGE_OUTSIDE, 0, 0},
        {"bytes=-0", 10, TV_RANGE_OUTSIDE, 0, 0},
        {"bytes=10-", 10, TV_RANGE_OUTSIDE, 0, 0},
        {"bytes=0-18446744073709551615", 10, TV_RANGE_PART, 0, 10},
        {"bytes=18446744073709551615-", UINT64_MAX, TV_RANGE_OUTSIDE, 0, 0},
        {"bytes=0-18446744073709551616", 10, TV_RANGE_NONE, 0, 0},
        {NULL, 10, TV_RANGE_NONE, 0, 0},
        {"", 10, TV_RANGE_NONE, 0, 0},
        {"bytes", 10, TV_RANGE_NONE, 0, 0},
        {"bytes=", 10, TV_RANGE_NONE, 0, 0},
        {"bytes=-", 10, TV_RANGE_NONE, 0, 0},
        {"bytes=1", 10, TV_RANGE_NONE, 0, 0},
        {"bytes=2-1", 10, TV_RANGE_NONE, 0, 0},
        {"bytes= 1-2", 10, TV_RANGE_NONE, 0, 0},
        {"bytes=1-2,3-4", 10, TV_RANGE_NONE, 0, 0},
        {"bytes=--1", 10, TV_RANGE_NONE, 0, 0},
        {"chars=1-2", 10, TV_RANGE_NONE, 0, 0},
    };
    for (size_t i = 0; i < TV_COUNT(cases); i++) {
        uint64_t from = 0, to = 0;
        assert_int_equal(tv_range_read(cases[i].text, cases[i].size, &from, &to), cases[i].kind);
        if (cases[i].kind != TV_RANGE_PART)
            continue;
        assert_int_equal(from, cases[i].from);
        assert_int_equal(to, cases[i].to);
    }
}

/* Make an answer from a source of eleven bytes. */
static void make_from_source(struct tv_answer *answer)
{
    tv_answer_init(answer);
    answer->source = tv_source_from_memory(TV_BYTES("from a file"), "file");
    answer->ranges = true;
}

/* A part is only sent of a whole answer, and only if the client's version is known to be this
 * one. */
static void applies_ranges_where_they_are_meant(void **state)
{
    (void)state;
    static const struct {
        bool ranges;
        enum tv_http_status status, result;
        const char *tag, *condition;
    } cases[] = {
        {true, TV_HTTP_OK, TV_HTTP_PARTIAL, NULL, NULL},
        {true, TV_HTTP_OK, TV_HTTP_PARTIAL, "\"1\"", "\"1\""},
        {true, TV_HTTP_OK, TV_HTTP_OK, "\"1\"", "\"2\""},
        {true, TV_HTTP_OK, TV_HTTP_OK, NULL, "\"1\""},
        {true, TV_HTTP_NOT_FOUND, TV_HTTP_NOT_FOUND, NULL, NULL},
        {false, TV_HTTP_OK, TV_HTTP_OK, NULL, NULL},
    };
    for (size_t i = 0; i < TV_COUNT(cases); i++) {
        struct tv_answer answer;
        uint64_t from, to;
        make_from_source(&answer);
        answer.ranges = cases[i].ranges;
        answer.status = cases[i].status;
        answer.tag = cases[i].tag;
        tv_answer_apply_range(&answer, "bytes=5-", cases[i].condition, &from, &to);
        assert_int_equal(answer.status, cases[i].result);
        assert_int_equal(from, answer.status == TV_HTTP_PARTIAL ? 5 : 0);
        assert_int_equal(to, 11);
        tv_answer_release(&answer);
    }
}

static enum tv_status read_nothing(void *context, uint8_t *buffer, size_t most, size_t *got)
{
    (void)context, (void)buffer, (void)most;
    *got = 0;
    return TV_OK;
}

static void count_close(void *context)
{
    ++*(int *)context;
}

/* A stream that was never sent is closed, if it wants to be. */
static void releases_streams_that_were_not_sent(void **state)
{
    (void)state;
    int closed = 0;
    struct tv_answer answer;
    tv_answer_init(&answer);
    answer.stream = (struct tv_stream){.read = read_nothing, .context = &closed};
    tv_answer_release(&answer);
    assert_int_equal(closed, 0);
    answer.stream =
        (struct tv_stream){.read = read_nothing, .close = count_close, .context = &closed};
    tv_answer_release(&answer);
    assert_int_equal(closed, 1);
}

/* Answers in the middle of a body are written to the socket as they are. */
static void writes_early_answers(void **state)
{
    (void)state;
    static const char expected[] = "HTTP/1.1 507 Full\r\nContent-Length: 4\r\n"
                                   "Content-Security-Policy: sandbox\r\n"
                                   "Cache-Control: private\r\nETag: \"1\"\r\n";
    struct tv_answer answer;
    struct tv_out out;
    tv_answer_init(&answer);
    tv_out_init_memory(&out);
    answer.status = TV_HTTP_INSUFFICIENT_STORAGE;
    answer.policy = "sandbox";
    answer.cache = "private";
    answer.tag = "\"1\"";
    answer.constant = TV_BYTES("full");
    tv_answer_header(&answer, "X-Odd", "a\tb\x7f%c", '\n');
    tv_answer_write(&answer, "Full", &out);
    tv_out_text(&out, "");
    struct tv_bytes text = {out.buffer, out.length};
    assert_true(tv_bytes_starts_with(text, tv_bytes_of(expected)));
    tv_out_char(&out, '\0');
    assert_non_null(strstr((const char *)out.buffer, "\r\nX-Odd: a\tb??\r\n\r\nfull"));
    tv_out_release(&out);
    tv_answer_release(&answer);
}

UNIT_TESTS(answer, TEST(protects_every_answer), TEST(answers_head_without_the_body),
           TEST(lets_the_client_keep_what_has_a_tag), TEST(keeps_values_in_their_lines),
           TEST(sends_parts_of_a_source), TEST(sends_streams),
           TEST(ends_a_stream_that_nobody_reads), cmocka_unit_test(reads_one_range),
           cmocka_unit_test(applies_ranges_where_they_are_meant),
           cmocka_unit_test(releases_streams_that_were_not_sent),
           cmocka_unit_test(writes_early_answers));
