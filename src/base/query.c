/* SPDX-License-Identifier: Apache-2.0 */
#include "base/query.h"

#include "base/bytes.h"

struct tv_bytes tv_target_split(struct tv_bytes *target)
{
    struct tv_bytes rest = *target;
    tv_bytes_split(&rest, '?', target);
    return rest;
}

/* 16: no digit. */
static unsigned hex_digit(uint8_t c)
{
    if (c >= '0' && c <= '9')
        return c - (unsigned)'0';
    if (c >= 'a' && c <= 'f')
        return c - (unsigned)'a' + 10;
    if (c >= 'A' && c <= 'F')
        return c - (unsigned)'A' + 10;
    return 16;
}

static enum tv_status decode(uint8_t *text, size_t length, bool plus, struct tv_bytes *decoded,
                             struct tv_error *err)
{
    size_t made = 0;
    for (size_t i = 0; i < length; i++) {
        uint8_t c = plus && text[i] == '+' ? ' ' : text[i];
        if (c == '%') {
            unsigned high = length - i > 2 ? hex_digit(text[i + 1]) : 16;
            unsigned low = length - i > 2 ? hex_digit(text[i + 2]) : 16;
            if (high > 15 || low > 15)
                return tv_fail(err, TV_ERR_USAGE, TV_NO_OFFSET,
                               "expected two hexadecimal digits behind '%%'");
            c = (uint8_t)(high << 4 | low);
            i += 2;
        }
        if (c < 0x20 || c == 0x7f)
            return tv_fail(err, TV_ERR_USAGE, TV_NO_OFFSET,
                           "a control character stands in the question");
        text[made++] = c;
    }
    *decoded = (struct tv_bytes){text, made};
    return TV_OK;
}

const struct tv_bytes *tv_query_find(const struct tv_query *query, const char *name)
{
    for (size_t i = 0; i < query->count; i++) {
        if (tv_bytes_equal(query->items[i].name, tv_bytes_of(name)))
            return &query->items[i].value;
    }
    return NULL;
}

static bool has_name(const struct tv_query *query, struct tv_bytes name)
{
    for (size_t i = 0; i < query->count; i++) {
        if (tv_bytes_equal(query->items[i].name, name))
            return true;
    }
    return false;
}

static size_t find_byte(const uint8_t *text, size_t length, uint8_t byte)
{
    size_t at = 0;
    while (at < length && text[at] != byte)
        at++;
    return at;
}

/* One "name=value", or a name alone, whose value is empty. */
static enum tv_status add_parameter(struct tv_query *query, uint8_t *text, size_t length,
                                    struct tv_error *err)
{
    struct tv_query_parameter parameter;
    size_t equals = find_byte(text, length, '=');
    size_t value = equals < length ? equals + 1 : length;
    enum tv_status status = decode(text, equals, true, &parameter.name, err);
    if (status == TV_OK)
        status = decode(text + value, length - value, true, &parameter.value, err);
    if (status != TV_OK)
        return status;
    if (parameter.name.length == 0)
        return tv_fail(err, TV_ERR_USAGE, TV_NO_OFFSET, "a parameter has no name");
    if (has_name(query, parameter.name))
        return tv_fail(err, TV_ERR_USAGE, TV_NO_OFFSET, "a parameter was given twice");
    if (query->count == TV_QUERY_PARAMETERS)
        return tv_fail(err, TV_ERR_USAGE, TV_NO_OFFSET, "more than %d parameters",
                       TV_QUERY_PARAMETERS);
    query->items[query->count++] = parameter;
    return TV_OK;
}

enum tv_status tv_query_parse(struct tv_query *query, uint8_t *text, size_t length,
                              struct tv_error *err)
{
    query->count = 0;
    size_t start = 0;
    while (start < length) {
        size_t size = find_byte(text + start, length - start, '&');
        enum tv_status status = add_parameter(query, text + start, size, err);
        if (status != TV_OK)
            return status;
        start += size + 1;
    }
    return TV_OK;
}

enum tv_status tv_query_decode_name(uint8_t *text, size_t length, struct tv_bytes *decoded,
                                    struct tv_error *err)
{
    return decode(text, length, false, decoded, err);
}
