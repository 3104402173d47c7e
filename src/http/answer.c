/* SPDX-License-Identifier: Apache-2.0 */
/*
 * answer.c - the headers of an answer, and answers to Range requests.
 *
 * Every answer gets the strictest policy that its handler does not loosen: no script, no framing,
 * no sniffing of types, no caching by proxies.
 *
 * A Range request (RFC 9110, section 14) has three outcomes: a part (206), nothing of the file
 * (416), or the whole file (200) when the header is not understood, has several ranges, or
 * If-Range names an older version.  Ignoring a range is always allowed.
 */
#include <assert.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "base/bytes.h"
#include "http/internal.h"

#define NOTHING_ALLOWED "default-src 'none'; frame-ancestors 'none'"

/* Longer header values are cut. */
#define VALUE_SIZE 2048

void tv_answer_init(struct tv_answer *answer)
{
    memset(answer, 0, sizeof *answer);
    answer->status = TV_HTTP_OK;
    tv_out_init_memory(&answer->body);
    tv_arena_init(&answer->arena);
}

void tv_answer_release(struct tv_answer *answer)
{
    tv_out_release(&answer->body);
    if (answer->source != NULL)
        tv_source_free(answer->source);
    if (answer->stream.read != NULL && answer->stream.close != NULL)
        answer->stream.close(answer->stream.context);
    tv_arena_release(&answer->arena);
    tv_answer_init(answer);
}

void tv_answer_header(struct tv_answer *answer, const char *name, const char *format, ...)
{
    char value[VALUE_SIZE];
    va_list arguments;
    if (answer->header_count == TV_ANSWER_HEADERS)
        return;
    va_start(arguments, format);
    vsnprintf(value, sizeof value, format, arguments);
    va_end(arguments);
    for (char *c = value; *c != '\0'; c++)
        if (((uint8_t)*c < 0x20 && *c != '\t') || *c == 0x7f)
            *c = '?';
    answer->headers[answer->header_count++] = (struct tv_http_header){
        tv_arena_text(&answer->arena, tv_bytes_of(name)),
        tv_arena_text(&answer->arena, tv_bytes_of(value)),
    };
}

size_t tv_answer_list_headers(const struct tv_answer *answer, bool closes,
                              struct tv_http_header lines[TV_ANSWER_LINES])
{
    assert(answer->header_count <= TV_ANSWER_HEADERS);
    const char *usual_cache = answer->tag != NULL ? "no-cache" : "no-store";
    const struct tv_http_header own[] = {
        {"Content-Type", answer->type},
        {"Content-Security-Policy", answer->policy != NULL ? answer->policy : NOTHING_ALLOWED},
        {"Cache-Control", answer->cache != NULL ? answer->cache : usual_cache},
        {"ETag", answer->tag},
        {"Allow", answer->allow},
        {"Accept-Ranges", answer->ranges ? "bytes" : NULL},
        {"X-Content-Type-Options", "nosniff"},
        {"Referrer-Policy", "no-referrer"},
        {"Cross-Origin-Resource-Policy", "same-origin"},
        {"Connection", closes ? "close" : NULL},
    };
    size_t count = 0;
    for (size_t i = 0; i < TV_COUNT(own); i++)
        if (own[i].value != NULL)
            lines[count++] = own[i];
    for (size_t i = 0; i < answer->header_count; i++)
        lines[count++] = answer->headers[i];
    return count;
}

void tv_answer_refuse(struct tv_answer *answer, enum tv_http_status status)
{
    answer->status = status;
    answer->type = "text/plain; charset=utf-8";
    tv_out_format(&answer->body, "%u\n", (unsigned)status);
}

/* Answer 416 with the size, so that the client can ask again. */
static void answer_refuse_range(struct tv_answer *answer, uint64_t size)
{
    assert(answer->source != NULL);
    tv_source_free(answer->source);
    answer->source = NULL;
    tv_answer_header(answer, "Content-Range", "bytes */%" PRIu64, size);
    tv_answer_refuse(answer, TV_HTTP_RANGE_NOT_SATISFIABLE);
}

void tv_answer_apply_range(struct tv_answer *answer, const char *range, const char *condition,
                           uint64_t *from, uint64_t *to)
{
    assert(answer->source != NULL);
    uint64_t first, behind, size = tv_source_size(answer->source);
    *from = 0;
    *to = size;
    if (!answer->ranges || answer->status != TV_HTTP_OK ||
        (condition != NULL && (answer->tag == NULL || strcmp(condition, answer->tag) != 0)))
        return;
    switch (tv_range_read(range, size, &first, &behind)) {
    case TV_RANGE_NONE:
        return;
    case TV_RANGE_OUTSIDE:
        answer_refuse_range(answer, size);
        return;
    case TV_RANGE_PART:
        *from = first;
        *to = behind;
        answer->status = TV_HTTP_PARTIAL;
        tv_answer_header(answer, "Content-Range", "bytes %" PRIu64 "-%" PRIu64 "/%" PRIu64, first,
                         behind - 1, size);
    }
}

void tv_answer_write(const struct tv_answer *answer, const char *reason, struct tv_out *out)
{
    struct tv_http_header lines[TV_ANSWER_LINES];
    struct tv_bytes body = {answer->body.buffer, answer->body.length};
    size_t count = tv_answer_list_headers(answer, true, lines);
    if (answer->constant.data != NULL)
        body = answer->constant;
    tv_out_format(out, "HTTP/1.1 %u %s\r\nContent-Length: %zu\r\n", (unsigned)answer->status,
                  reason, body.length);
    for (size_t i = 0; i < count; i++) {
        tv_out_text(out, lines[i].name);
        tv_out_text(out, ": ");
        tv_out_text(out, lines[i].value);
        tv_out_text(out, "\r\n");
    }
    tv_out_text(out, "\r\n");
    tv_out_bytes(out, body);
}

/* Parse a suffix range: "-5" asks for the last five bytes. */
static enum tv_range_kind range_read_suffix(struct tv_bytes length, uint64_t size, uint64_t *from,
                                            uint64_t *to)
{
    uint64_t wanted;
    if (!tv_parse_u64(length, &wanted))
        return TV_RANGE_NONE;
    if (wanted == 0 || size == 0)
        return TV_RANGE_OUTSIDE;
    *from = wanted < size ? size - wanted : 0;
    *to = size;
    return TV_RANGE_PART;
}

enum tv_range_kind tv_range_read(const char *text, uint64_t size, uint64_t *from, uint64_t *to)
{
    static const struct tv_bytes unit = {(const uint8_t *)"bytes=", 6};
    struct tv_bytes rest, first;
    uint64_t last;
    if (text == NULL || !tv_bytes_starts_with(tv_bytes_of(text), unit))
        return TV_RANGE_NONE;
    rest = tv_bytes_of(text + unit.length);
    if (!tv_bytes_split(&rest, '-', &first))
        return TV_RANGE_NONE;
    if (first.length == 0)
        return range_read_suffix(rest, size, from, to);
    if (!tv_parse_u64(first, from))
        return TV_RANGE_NONE;
    if (rest.length == 0)
        last = UINT64_MAX;
    else if (!tv_parse_u64(rest, &last) || last < *from)
        return TV_RANGE_NONE;
    if (*from >= size)
        return TV_RANGE_OUTSIDE;
    *to = last < size ? last + 1 : size;
    return TV_RANGE_PART;
}
