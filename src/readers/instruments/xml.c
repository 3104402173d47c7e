/* SPDX-License-Identifier: Apache-2.0 */
/*
 * xml.c - a tokenizer for XML: open tags, close tags and texts, as views of the source bytes.
 *
 *     <row id='1'>12 &lt; 13<sentinel/></row>
 *     OPEN "row" "id='1'" | TEXT "12 &lt; 13" | OPEN "sentinel" empty | CLOSE "row" | END
 *
 * Comments, processing instructions and document types are skipped, and entities stay as they are
 * until tv_xml_decode. No entity can be defined, so a short file cannot become a long text, and no
 * other file is ever read. The tokenizer knows nothing of nesting: elements.c matches the tags.
 * Input that ends inside a tag gives TV_XML_CUT.
 */
#include "readers/instruments/instruments.h"

#include "base/bytes.h"

static struct tv_bytes xml_rest(const struct tv_cursor *cursor)
{
    return (struct tv_bytes){cursor->at, tv_cursor_left(cursor)};
}

/* ---- Markup ---- */

/* Take everything before `end`, and `end`.  Return false when it does not come. */
static bool xml_take_until(struct tv_cursor *cursor, struct tv_bytes end, struct tv_bytes *inside)
{
    const uint8_t *from = cursor->at;
    while (tv_cursor_left(cursor) >= end.length) {
        const uint8_t *found =
            memchr(cursor->at, end.data[0], tv_cursor_left(cursor) - end.length + 1);
        if (!found)
            break;
        cursor->at = found;
        if (tv_bytes_starts_with(xml_rest(cursor), end)) {
            *inside = (struct tv_bytes){from, (size_t)(found - from)};
            cursor->at += end.length;
            return true;
        }
        cursor->at++;
    }
    cursor->at = cursor->end;
    return false;
}

/* Take the inside of a tag, up to the first '>' outside of its attributes' values. */
static bool xml_take_tag(struct tv_cursor *cursor, struct tv_bytes *inside)
{
    const uint8_t *from = cursor->at;
    uint8_t quote = 0;
    for (; cursor->at < cursor->end; cursor->at++) {
        uint8_t c = *cursor->at;
        if (quote != 0) {
            quote = c == quote ? 0 : quote;
        } else if (c == '"' || c == '\'') {
            quote = c;
        } else if (c == '>') {
            *inside = (struct tv_bytes){from, (size_t)(cursor->at - from)};
            cursor->at++;
            return true;
        }
    }
    return false;
}

/* Split "weight id='9' /" into the name and the attributes. */
static void xml_parse_tag(struct tv_bytes inside, struct tv_xml_token *token)
{
    size_t length = 0;
    token->kind = TV_XML_OPEN;
    if (inside.length > 0 && inside.data[0] == '/') {
        token->kind = TV_XML_CLOSE;
        inside.data++, inside.length--;
    } else if (inside.length > 0 && inside.data[inside.length - 1] == '/') {
        token->empty = true;
        inside.length--;
    }
    while (length < inside.length && !tv_is_space(inside.data[length]))
        length++;
    token->name = (struct tv_bytes){inside.data, length};
    token->attributes = (struct tv_bytes){inside.data + length, inside.length - length};
}

/* Skip a comment, a processing instruction or a document type.  Return false when there is none
 * here.  *cut: it does not end. */
static bool xml_skip_markup(struct tv_cursor *cursor, bool *cut)
{
    struct tv_bytes rest = xml_rest(cursor), inside;
    struct tv_bytes end = {NULL, 0};
    if (tv_bytes_starts_with(rest, TV_BYTES("<!--")))
        end = TV_BYTES("-->");
    else if (tv_bytes_starts_with(rest, TV_BYTES("<?")))
        end = TV_BYTES("?>");
    else if (tv_bytes_starts_with(rest, TV_BYTES("<!")))
        end = TV_BYTES(">");
    if (end.length == 0)
        return false;
    cursor->at += 2;
    *cut = !xml_take_until(cursor, end, &inside);
    return true;
}

struct tv_xml_token tv_xml_next(struct tv_cursor *cursor)
{
    struct tv_xml_token token = {.kind = TV_XML_END, .offset = tv_cursor_position(cursor)};
    bool cut = false;
    while (tv_cursor_left(cursor) > 0) {
        token.offset = tv_cursor_position(cursor);
        if (*cursor->at != '<') {
            const uint8_t *from = cursor->at;
            const uint8_t *end = memchr(from, '<', tv_cursor_left(cursor));
            cursor->at = end ? end : cursor->end;
            token.kind = TV_XML_TEXT;
            token.name = (struct tv_bytes){from, (size_t)(cursor->at - from)};
            return token;
        }
        if (tv_bytes_starts_with(xml_rest(cursor), TV_BYTES("<![CDATA["))) {
            cursor->at += sizeof "<![CDATA[" - 1;
            token.literal = true;
            token.kind =
                xml_take_until(cursor, TV_BYTES("]]>"), &token.name) ? TV_XML_TEXT : TV_XML_CUT;
            return token;
        }
        if (xml_skip_markup(cursor, &cut)) {
            if (!cut)
                continue;
            token.kind = TV_XML_CUT;
            return token;
        }
        struct tv_bytes inside;
        cursor->at++;
        if (xml_take_tag(cursor, &inside))
            xml_parse_tag(inside, &token);
        else
            token.kind = TV_XML_CUT;
        return token;
    }
    return token;
}

/* ---- Attributes ---- */

/* Take `name="value"`; false: there is no further attribute. */
static bool xml_take_attribute(struct tv_bytes *rest, struct tv_bytes *name, struct tv_bytes *value)
{
    if (!tv_bytes_split(rest, '=', name))
        return false;
    *name = tv_bytes_trim(*name);
    *rest = tv_bytes_trim(*rest);
    if (rest->length == 0 || (rest->data[0] != '"' && rest->data[0] != '\''))
        return false;
    uint8_t quote = rest->data[0];
    rest->data++, rest->length--;
    return tv_bytes_split(rest, quote, value);
}

struct tv_bytes tv_xml_attribute(struct tv_bytes attributes, struct tv_bytes name)
{
    struct tv_bytes found, value;
    while (xml_take_attribute(&attributes, &found, &value))
        if (tv_bytes_equal(found, name))
            return value;
    return (struct tv_bytes){NULL, 0};
}

/* ---- Entities ---- */

/* Append the character of "amp" or "#x26".  Return false for any other name. */
static bool xml_write_entity(struct tv_out *out, struct tv_bytes name)
{
    static const struct {
        const char *name;
        char character;
    } entities[] = {{"lt", '<'}, {"gt", '>'}, {"amp", '&'}, {"quot", '"'}, {"apos", '\''}};
    uint64_t code;
    for (size_t i = 0; i < TV_COUNT(entities); i++) {
        if (tv_bytes_equal(name, tv_bytes_of(entities[i].name))) {
            tv_out_char(out, entities[i].character);
            return true;
        }
    }
    if (name.length < 2 || name.data[0] != '#')
        return false;
    struct tv_bytes digits = {name.data + 1, name.length - 1};
    bool known = digits.data[0] == 'x' && digits.length > 1
                     ? tv_parse_hex((struct tv_bytes){digits.data + 1, digits.length - 1}, &code)
                     : tv_parse_u64(digits, &code);
    if (!known || code == 0 || code > 0x10ffff || (code >= 0xd800 && code < 0xe000))
        return false;
    uint8_t character[4];
    tv_out_bytes(out, (struct tv_bytes){character, tv_utf8_put(character, (uint32_t)code)});
    return true;
}

/* Longest name between '&' and ';': "#x10ffff" with leading zeros. */
#define ENTITY_NAME 16

struct tv_bytes tv_xml_decode(struct tv_bytes text, struct tv_out *scratch)
{
    if (text.length == 0 || !memchr(text.data, '&', text.length))
        return text;
    scratch->length = 0;
    while (text.length > 0) {
        const uint8_t *mark = memchr(text.data, '&', text.length);
        size_t before = mark ? (size_t)(mark - text.data) : text.length;
        tv_out_bytes(scratch, (struct tv_bytes){text.data, before});
        text.data += before, text.length -= before;
        if (!mark)
            break;
        size_t reach = text.length < ENTITY_NAME ? text.length : ENTITY_NAME;
        const uint8_t *end = memchr(text.data, ';', reach);
        size_t taken = end ? (size_t)(end - text.data) + 1 : 1;
        if (!end || !xml_write_entity(scratch, (struct tv_bytes){text.data + 1, taken - 2})) {
            tv_out_char(scratch, '&');
            taken = 1;
        }
        text.data += taken, text.length -= taken;
    }
    return (struct tv_bytes){(const uint8_t *)scratch->buffer, scratch->length};
}
