/* SPDX-License-Identifier: Apache-2.0 */
/*
 * container.c - the text around the events: an array, an object, JSON lines, or an object without
 * its braces.
 *
 * The outermost object may have any size and its members any order, so it is passed with a window,
 * never held whole.  A growing file or a pipe is not waited for longer than needed: the list is
 * read as soon as it begins.
 *
 *     array          [ {event}, {event} ...          the closing bracket may be missing
 *     object         { "traceEvents": [ ... ], "stackFrames": { ... }, ... }
 *     lines          {event} newline {event} ...
 *     without braces traceEvents: [ ... ]
 *
 * A member that is not a list of events is skipped; only its place and its key are kept.  Whoever
 * needs it (stack frames, samples, metadata) reads it later by its place.
 *
 * Files are cut, merged by hand and written by many programs.  The rule is to keep what was read:
 * the end of the file inside a value is a diagnostic, and so is text after the end.
 */
#include "readers/trace_event/container.h"

#include <assert.h>
#include <string.h>

#include "base/bytes.h"
#include "base/memory.h"
#include "readers/foreign.h"
#include "readers/reader.h"
#include "readers/trace_event/text/fields.h"
#include "readers/trace_event/text/scan.h"

#define BYTE_ORDER_MARK "\xef\xbb\xbf"

/* No key of the outermost object is longer: a longer one ends the reading. */
#define LONGEST_KEY ((size_t)64 << 10)

/* The first object of JSON lines must show its phase in so many bytes. */
#define FIRST_OBJECT ((size_t)1 << 20)

/* Return whether a byte can be part of a number, a literal or a bare key. */
static bool te_container_is_word(uint8_t c)
{
    return c > ' ' && !strchr(",:]}[{\"'", c);
}

/* ---- Sniffing ---- */

static struct tv_bytes te_container_trim_left(struct tv_bytes text)
{
    while (text.length > 0 && tv_is_space(text.data[0])) {
        text.data++;
        text.length--;
    }
    return text;
}

/* True when a key without quotes begins here, or the dots of left-out text. */
static bool te_sniff_is_bare_key(struct tv_bytes text)
{
    size_t i = 0;
    if (tv_bytes_starts_with(text, TV_BYTES("...")))
        return true;
    while (i < text.length && ((text.data[i] | 0x20) >= 'a' && (text.data[i] | 0x20) <= 'z'))
        i++;
    text = te_container_trim_left((struct tv_bytes){text.data + i, text.length - i});
    return i > 0 && text.length > 0 && text.data[0] == ':';
}

/* Sniff after '[', with which other formats begin, too ("[unknown];main 12"). */
static int te_sniff_array(struct tv_bytes text)
{
    assert(text.length > 0);
    uint8_t c = text.data[0];
    if (c == '{')
        return 70;
    struct tv_bytes rest =
        te_container_trim_left((struct tv_bytes){text.data + 1, text.length - 1});
    if (c == ']')
        return rest.length == 0 ? 50 : 0;
    return c == ',' || c == '/' || tv_bytes_starts_with(text, TV_BYTES("null")) ? 20 : 0;
}

/* Sniff after '{'. */
static int te_sniff_object(struct tv_bytes text)
{
    assert(text.length > 0);
    uint8_t c = text.data[0];
    /* The rest may hold strings of other formats, such as lines of ftrace. */
    if (tv_bytes_starts_with(text, TV_BYTES("\"traceEvents\"")))
        return 97;
    if (c == '"')
        return 60;
    return c == '}' || c == '\'' || c == '/' || te_sniff_is_bare_key(text) ? 20 : 0;
}

/* The format's document prints the members of the object without its braces. */
static bool te_sniff_is_braceless(struct tv_bytes text)
{
    return tv_bytes_starts_with(text, TV_BYTES("traceEvents:"));
}

int tv_te_container_sniff(struct tv_bytes head)
{
    if (tv_foreign_find_json(head))
        return 0;
    if (tv_bytes_starts_with(head, TV_BYTES(BYTE_ORDER_MARK))) {
        head.data += 3;
        head.length -= 3;
    }
    head = te_container_trim_left(head);
    if (te_sniff_is_braceless(head))
        return 97;
    if (head.length == 0 || (head.data[0] != '{' && head.data[0] != '['))
        return 0;
    struct tv_bytes inside =
        te_container_trim_left((struct tv_bytes){head.data + 1, head.length - 1});
    if (inside.length == 0)
        return 20;
    return head.data[0] == '[' ? te_sniff_array(inside) : te_sniff_object(inside);
}

/* ---- Moving through the source ---- */

struct te_container_reader {
    struct tv_te_container *container;
    struct tv_source *source;
    const struct tv_read_options *options;
    struct tv_window window;
    uint64_t at;
    bool has_events;
    bool has_others;             /* a member that is read without events is there */
    struct tv_foreign_keys keys; /* of the outermost object */
    struct tv_error *err;
};

/* Return at least `want` bytes at reader->at, fewer at the end of the source. */
static enum tv_status te_container_peek(struct te_container_reader *reader, size_t want,
                                        struct tv_bytes *bytes)
{
    return tv_window_at(&reader->window, reader->at, want, bytes, reader->err);
}

/* Move to the next byte that is not space, nor a comma if `commas`; 0 at the end. */
static enum tv_status te_container_next_byte(struct te_container_reader *reader, bool commas,
                                             uint8_t *byte)
{
    struct tv_bytes bytes;
    enum tv_status status;
    *byte = 0;
    while ((status = te_container_peek(reader, 1, &bytes)) == TV_OK && bytes.length > 0) {
        size_t i = 0;
        while (i < bytes.length && (tv_is_space(bytes.data[i]) || (commas && bytes.data[i] == ',')))
            i++;
        reader->at += i;
        if (i < bytes.length) {
            *byte = bytes.data[i];
            return TV_OK;
        }
    }
    return status;
}

/* The state of skipping a value. */
struct te_container_skip {
    struct tv_scan_nested_state nested;
    uint8_t first;
    bool escaped;
};

/* Return how many of the bytes belong to the value; SIZE_MAX: all, and it goes on. */
static size_t te_container_skip_bytes(struct te_container_skip *passing, struct tv_bytes bytes,
                                      bool begins)
{
    size_t i = 0;
    if (passing->first == '{' || passing->first == '[') {
        const uint8_t *end =
            tv_scan_nested_next(&passing->nested, bytes.data, bytes.data + bytes.length);
        return end ? (size_t)(end - bytes.data) : SIZE_MAX;
    }
    if (passing->first != '"' && passing->first != '\'') {
        while (i < bytes.length && te_container_is_word(bytes.data[i]))
            i++;
        return i < bytes.length ? i : SIZE_MAX;
    }
    for (i = begins; i < bytes.length; i++)
        if (passing->escaped)
            passing->escaped = false;
        else if (bytes.data[i] == '\\')
            passing->escaped = true;
        else if (bytes.data[i] == passing->first)
            return i + 1;
    return SIZE_MAX;
}

/* Skip a value of any size; *whole: its end is there. */
static enum tv_status te_container_skip_value(struct te_container_reader *reader, uint8_t first,
                                              bool *whole)
{
    struct te_container_skip passing = {.first = first};
    struct tv_bytes bytes;
    enum tv_status status;
    bool begins = true;
    *whole = true;
    while ((status = te_container_peek(reader, 1, &bytes)) == TV_OK && bytes.length > 0) {
        size_t passed = te_container_skip_bytes(&passing, bytes, begins);
        begins = false;
        if (passed != SIZE_MAX) {
            reader->at += passed;
            return TV_OK;
        }
        reader->at += bytes.length;
    }
    *whole = false;
    return status;
}

/* Count a diagnostic of the text around the events. */
static void te_container_warn(struct te_container_reader *reader, enum tv_diagnostic_kind kind,
                              uint64_t offset)
{
    tv_diagnostics_add(&reader->container->diagnostics, kind, offset);
}

/* ---- Lists ---- */

/* Hand the members over that were read so far, if the visitor takes them. */
static enum tv_status te_container_visit_members(struct te_container_reader *reader)
{
    struct tv_te_container *container = reader->container;
    const struct tv_te_visitor *visitor = container->lists.visitor;
    enum tv_status status = TV_OK;
    if (!visitor || !visitor->member)
        return TV_OK;
    for (size_t i = 0; i < container->member_count && status == TV_OK; i++)
        status = visitor->member(visitor->context, &container->members[i], reader->err);
    container->member_count = 0;
    return status;
}

/* Read the list whose elements begin at reader->at. */
static enum tv_status te_container_read_list(struct te_container_reader *reader, bool lines,
                                             const struct tv_te_list **last)
{
    reader->container->lists.lines = lines;
    enum tv_status status = te_container_visit_members(reader);
    if (status == TV_OK)
        status = tv_te_lists_read(&reader->container->lists, reader->source, reader->at,
                                  reader->options, last, reader->err);
    if (status != TV_OK)
        return status;
    reader->has_events = true;
    assert((*last)->at >= reader->at);
    reader->at = (*last)->at;
    return TV_OK;
}

/* Only space should follow. */
static enum tv_status te_container_check_rest(struct te_container_reader *reader)
{
    uint8_t byte;
    enum tv_status status = te_container_next_byte(reader, true, &byte);
    if (status == TV_OK && tv_source_reaches(reader->source, reader->at + 1))
        te_container_warn(reader, TV_DIAGNOSTIC_TRAILING_BYTES, reader->at);
    return status;
}

/* Read a file that is an array of events. */
static enum tv_status te_container_read_array(struct te_container_reader *reader)
{
    const struct tv_te_list *last;
    reader->at++;
    enum tv_status status = te_container_read_list(reader, false, &last);
    if (status == TV_OK && last->ended == TV_TE_LIST_CLOSED)
        status = te_container_check_rest(reader);
    return status;
}

/* ---- The object ---- */

/* Keep where the value of a member lies; nobody may ever need it. */
static void te_container_add_member(struct te_container_reader *reader, struct tv_bytes key,
                                    struct tv_te_extent value)
{
    assert(value.length > 0);
    struct tv_te_container *container = reader->container;
    container->members = tv_array_reserve(container->members, &container->member_capacity,
                                          container->member_count + 1, sizeof *container->members);
    container->members[container->member_count++] = (struct tv_te_top_member){
        tv_arena_text(&container->keys, key),
        key.length,
        value,
    };
}

/* Keys whose values are read without any events. */
static bool te_container_is_enough(struct tv_bytes key)
{
    static const char *const keys[] = {"samples", "systemTraceEvents", "powerTraceAsString"};
    for (size_t i = 0; i < TV_COUNT(keys); i++)
        if (tv_te_key_is(key, keys[i]))
            return true;
    return false;
}

/* Read the list of events of the object; *more: it has an end. */
static enum tv_status te_container_read_events(struct te_container_reader *reader, bool *more)
{
    const struct tv_te_list *last;
    reader->at++;
    enum tv_status status = te_container_read_list(reader, false, &last);
    if (status != TV_OK)
        return status;
    *more = last->ended == TV_TE_LIST_CLOSED;
    /* An event that is cut was counted already. */
    if (last->ended == TV_TE_LIST_RAN_OUT &&
        last->chunk.diagnostics.kinds[TV_DIAGNOSTIC_TRUNCATED].count == 0)
        te_container_warn(reader, TV_DIAGNOSTIC_TRUNCATED, reader->at);
    return TV_OK;
}

/* Read the value of a key; *more: the object goes on after it. */
static enum tv_status te_container_read_value(struct te_container_reader *reader,
                                              struct tv_bytes key, bool *more)
{
    uint8_t first;
    bool whole;
    enum tv_status status = te_container_next_byte(reader, false, &first);
    if (status != TV_OK)
        return status;
    if (first == '[' && tv_te_key_is(key, "traceEvents"))
        return te_container_read_events(reader, more);
    uint64_t start = reader->at;
    status = te_container_skip_value(reader, first, &whole);
    if (status != TV_OK)
        return status;
    if (!whole)
        te_container_warn(reader, TV_DIAGNOSTIC_TRUNCATED, start);
    if (reader->at > start)
        te_container_add_member(reader, key, (struct tv_te_extent){start, reader->at - start});
    tv_foreign_add_key(&reader->keys, tv_te_key_unquote(key));
    reader->has_others = reader->has_others || te_container_is_enough(key);
    *more = whole && reader->at > start;
    return reader->has_events ? te_container_visit_members(reader) : TV_OK;
}

/* Read the key at reader->at, without waiting for more bytes than it has; data NULL: it has no end.
 */
static enum tv_status te_container_read_key(struct te_container_reader *reader,
                                            struct tv_bytes *key)
{
    struct tv_bytes bytes;
    *key = (struct tv_bytes){NULL, 0};
    for (size_t want = 1; want <= LONGEST_KEY; want = bytes.length + 1) {
        enum tv_status status = te_container_peek(reader, want, &bytes);
        if (status != TV_OK || bytes.length < want)
            return status;
        const uint8_t *at = bytes.data;
        if (!tv_te_element_next(&at, bytes.data + bytes.length, key)) {
            key->data = NULL;
            continue;
        }
        reader->at += (uint64_t)(at - bytes.data);
        key->data = (const uint8_t *)tv_arena_text(&reader->container->keys, *key);
        return TV_OK;
    }
    return TV_OK;
}

/* Read a key and its value. */
static enum tv_status te_container_read_member(struct te_container_reader *reader, bool *more)
{
    struct tv_bytes key;
    uint8_t byte;
    enum tv_status status = te_container_read_key(reader, &key);
    if (status != TV_OK)
        return status;
    *more = false;
    if (!key.data) {
        te_container_warn(reader, TV_DIAGNOSTIC_TRUNCATED, reader->at);
        return TV_OK;
    }
    status = te_container_next_byte(reader, false, &byte);
    if (status != TV_OK)
        return status;
    if (byte != ':') {
        te_container_warn(reader, TV_DIAGNOSTIC_TRUNCATED, reader->at);
        return TV_OK;
    }
    reader->at++;
    return te_container_read_value(reader, key, more);
}

/* Return the format of an object without events that its first keys did not identify; NULL:
 * unknown. All members are tried, as a long value may be in front of the one that identifies it.
 */
static const struct tv_foreign *te_container_find_foreign(struct te_container_reader *reader)
{
    const struct tv_te_container *container = reader->container;
    uint8_t bytes[TV_SNIFF_SIZE];
    struct tv_error unused;
    if (reader->has_events)
        return NULL;
    for (size_t i = 0; i < container->member_count; i++) {
        struct tv_te_extent value = container->members[i].value;
        size_t want = value.length < sizeof bytes ? (size_t)value.length : sizeof bytes;
        size_t length = 0;
        if (tv_source_read(reader->source, value.offset, bytes, want, &length, &unused) != TV_OK)
            return NULL;
        tv_foreign_scan_value(&reader->keys, (struct tv_bytes){bytes, length});
    }
    return tv_foreign_of_keys(&reader->keys);
}

/* Read the object, starting after its brace. */
static enum tv_status te_container_read_object(struct te_container_reader *reader)
{
    uint8_t byte = 0;
    bool more = true;
    uint64_t start = reader->at;
    while (more) {
        enum tv_status status = te_container_next_byte(reader, true, &byte);
        if (status != TV_OK)
            return status;
        if (byte == '}' || !tv_source_reaches(reader->source, reader->at + 1))
            break;
        status = te_container_read_member(reader, &more);
        if (status != TV_OK)
            return status;
    }
    const struct tv_foreign *foreign = te_container_find_foreign(reader);
    if (foreign)
        return tv_foreign_fail(foreign, reader->err);
    if (!reader->has_events && !reader->has_others)
        return tv_fail(reader->err, byte == '}' ? TV_ERR_UNSUPPORTED : TV_ERR_SYNTAX, start - 1,
                       "expected the key \"traceEvents\" with an array, found none");
    if (more && byte != '}')
        te_container_warn(reader, TV_DIAGNOSTIC_TRUNCATED, reader->at);
    enum tv_status status = te_container_visit_members(reader);
    if (status != TV_OK || byte != '}')
        return status;
    reader->at++;
    return te_container_check_rest(reader);
}

/* True when a list of events is among the members of an object, which may be cut.  Most objects
 * begin with the list, so most of the time no more of a growing file must be waited for. */
static bool te_container_has_event_list(struct tv_bytes object)
{
    const uint8_t *at = object.data + 1, *end = object.data + object.length;
    struct tv_bytes key, value;
    while (at < end && tv_te_element_next(&at, end, &key)) {
        struct tv_bytes rest = te_container_trim_left((struct tv_bytes){at, (size_t)(end - at)});
        if (rest.length == 0 || rest.data[0] != ':')
            return false;
        rest = te_container_trim_left((struct tv_bytes){rest.data + 1, rest.length - 1});
        if (rest.length > 0 && rest.data[0] == '[' && tv_te_key_is(key, "traceEvents"))
            return true;
        at = rest.data;
        if (!tv_te_element_next(&at, end, &value))
            return false;
    }
    return false;
}

/* Set *found if the object at reader->at, of any size, has a list of events.  reader->at stays. */
static enum tv_status te_container_seek_event_list(struct te_container_reader *reader, bool *found)
{
    uint64_t start = reader->at++;
    struct tv_bytes key = {NULL, 0};
    uint8_t byte = 0;
    bool whole = true;
    *found = false;
    enum tv_status status = te_container_next_byte(reader, true, &byte);
    while (status == TV_OK && whole && byte != '\0' && byte != '}') {
        status = te_container_read_key(reader, &key);
        if (status == TV_OK)
            status = te_container_next_byte(reader, false, &byte);
        if (status != TV_OK || !key.data || byte != ':')
            break;
        reader->at++;
        status = te_container_next_byte(reader, false, &byte);
        *found = status == TV_OK && byte == '[' && tv_te_key_is(key, "traceEvents");
        if (status != TV_OK || *found)
            break;
        status = te_container_skip_value(reader, byte, &whole);
        if (status == TV_OK)
            status = te_container_next_byte(reader, true, &byte);
    }
    reader->at = start;
    return status;
}

/* Set *lines if the object at reader->at is an event itself: then each line is one.  Read no more
 * of the object than it takes to know: to its end, or its list of events. */
static enum tv_status te_container_is_json_lines(struct te_container_reader *reader, bool *lines)
{
    struct tv_bytes bytes;
    struct tv_te_fields fields;
    const uint8_t *end;
    bool list = false;
    *lines = false;
    for (size_t want = 1;; want = want < FIRST_OBJECT / 4 ? want * 4 : FIRST_OBJECT) {
        enum tv_status status = te_container_peek(reader, want, &bytes);
        if (status != TV_OK || te_container_has_event_list(bytes))
            return status;
        /* The event may be cut or broken after its phase; reading the list will report that. */
        enum tv_te_read read =
            tv_te_fields_read(bytes.data, bytes.data + bytes.length, &fields, &end);
        if (fields.ph.data && read != TV_TE_READ && bytes.length >= FIRST_OBJECT)
            status = te_container_seek_event_list(reader, &list);
        if (read == TV_TE_READ || bytes.length < want || bytes.length >= FIRST_OBJECT) {
            *lines = fields.ph.data && !list;
            return status;
        }
        want = bytes.length;
    }
}

/* Read an object without its braces, as the format's document prints it. */
static enum tv_status te_container_read_braceless(struct te_container_reader *reader)
{
    struct tv_bytes bytes;
    enum tv_status status = te_container_peek(reader, sizeof "traceEvents:", &bytes);
    if (status != TV_OK)
        return status;
    if (!te_sniff_is_braceless(bytes))
        return tv_fail(reader->err, TV_ERR_SYNTAX, reader->at, "expected '[' or '{'");
    te_container_warn(reader, TV_DIAGNOSTIC_BAD_JSON, reader->at);
    return te_container_read_object(reader);
}

/* Find out what the container is, and read it. */
static enum tv_status te_container_read_source(struct te_container_reader *reader)
{
    uint8_t first;
    bool lines;
    const struct tv_te_list *last;
    struct tv_bytes bytes;
    enum tv_status status = te_container_peek(reader, 3, &bytes);
    if (status == TV_OK && tv_bytes_starts_with(bytes, TV_BYTES(BYTE_ORDER_MARK)))
        reader->at += 3;
    if (status == TV_OK)
        status = te_container_next_byte(reader, false, &first);
    if (status != TV_OK)
        return status;
    if (first == '[')
        return te_container_read_array(reader);
    if (first != '{')
        return te_container_read_braceless(reader);
    status = te_container_is_json_lines(reader, &lines);
    if (status != TV_OK)
        return status;
    if (lines)
        return te_container_read_list(reader, true, &last);
    reader->at++;
    return te_container_read_object(reader);
}

static enum tv_status te_container_run(struct te_container_reader *reader,
                                       const struct tv_te_visitor *visitor)
{
    memset(reader->container, 0, sizeof *reader->container);
    tv_arena_init(&reader->container->keys);
    reader->container->lists.visitor = visitor;
    tv_window_init(&reader->window, reader->source);
    enum tv_status status = te_container_read_source(reader);
    tv_window_release(&reader->window);
    return status;
}

enum tv_status tv_te_container_read(struct tv_te_container *container, struct tv_source *source,
                                    const struct tv_read_options *options, struct tv_error *err)
{
    struct te_container_reader reader = {
        .container = container, .source = source, .options = options, .err = err};
    return te_container_run(&reader, NULL);
}

enum tv_status tv_te_container_visit(struct tv_te_container *container, struct tv_source *source,
                                     const struct tv_te_visitor *visitor, struct tv_error *err)
{
    struct tv_read_options options = {.parts = 1};
    struct te_container_reader reader = {
        .container = container, .source = source, .options = &options, .err = err};
    return te_container_run(&reader, visitor);
}

void tv_te_container_release(struct tv_te_container *container)
{
    tv_te_lists_release(&container->lists);
    tv_diagnostics_clear(&container->diagnostics);
    tv_free(container->members);
    tv_arena_release(&container->keys);
}
