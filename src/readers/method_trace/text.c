/* SPDX-License-Identifier: Apache-2.0 */
#include "readers/method_trace/text.h"

#include <string.h>

#include "base/bytes.h"
#include "readers/method_trace/header.h"
#include "readers/text_lines.h"

enum section {
    SECTION_NONE,
    SECTION_VERSION,
    SECTION_KEYS,
    SECTION_THREADS,
    SECTION_METHODS,
    SECTION_END
};

struct text {
    struct tv_mt_file *file;
    enum section section;
    enum tv_mt_again again;
};

static enum section section_of(struct tv_bytes line)
{
    if (tv_bytes_equal(line, TV_BYTES(TV_MT_SECTION_VERSION)))
        return SECTION_VERSION;
    if (tv_bytes_equal(line, TV_BYTES(TV_MT_SECTION_THREADS)))
        return SECTION_THREADS;
    if (tv_bytes_equal(line, TV_BYTES(TV_MT_SECTION_METHODS)))
        return SECTION_METHODS;
    if (tv_bytes_equal(line, TV_BYTES(TV_MT_SECTION_END)))
        return SECTION_END;
    return SECTION_NONE;
}

static unsigned clocks_of(struct tv_bytes value)
{
    if (tv_bytes_equal(value, TV_BYTES(TV_MT_CLOCK_DUAL)))
        return TV_CLOCK_WALL | TV_CLOCK_CPU;
    if (tv_bytes_equal(value, TV_BYTES(TV_MT_CLOCK_WALL)) ||
        tv_bytes_equal(value, TV_BYTES(TV_MT_CLOCK_GLOBAL)))
        return TV_CLOCK_WALL;
    if (tv_bytes_equal(value, TV_BYTES(TV_MT_CLOCK_THREAD_CPU)))
        return TV_CLOCK_CPU;
    return 0;
}

/* Numbers of a header serve as int64; what does not fit is no number. */
static bool parse_count(struct tv_bytes value, uint64_t unit, int64_t *count)
{
    uint64_t number;
    if (!tv_parse_u64(value, &number) || number > INT64_MAX / unit)
        return false;
    *count = (int64_t)(number * unit);
    return true;
}

static bool is_key(struct tv_bytes key, const char *name)
{
    return tv_bytes_equal(key, tv_bytes_of(name));
}

/* What says how times are to be taken. */
static void take_time_key(struct tv_mt_facts *facts, int64_t *elapsed, struct tv_bytes key,
                          struct tv_bytes value)
{
    if (is_key(key, TV_MT_KEY_ELAPSED_US))
        facts->in_us = parse_count(value, 1000, elapsed);
    else if (is_key(key, TV_MT_KEY_ELAPSED_NS))
        facts->in_ns = parse_count(value, 1, elapsed);
    else if (is_key(key, TV_MT_KEY_CLOCK))
        facts->clocks = clocks_of(value);
}

void tv_mt_text_look(struct tv_bytes text, struct tv_mt_facts *facts)
{
    struct tv_bytes line, key;
    int64_t elapsed;
    while (tv_bytes_split(&text, '\n', &line))
        if (tv_bytes_split(&line, '=', &key))
            take_time_key(facts, &elapsed, key, line);
}

static void take_key(struct tv_mt_file *file, struct tv_bytes key, struct tv_bytes value)
{
    struct tv_mt_facts *facts = &file->facts;
    int64_t number;
    tv_trace_info_add_metadata(file->head, file->input, key, value);
    take_time_key(facts, &tv_mt_input(file)->elapsed_ns, key, value);
    if (is_key(key, TV_MT_KEY_OVERFLOW)) {
        facts->overflow = tv_bytes_equal(value, TV_BYTES("true"));
    } else if (is_key(key, TV_MT_KEY_RECORDS)) {
        if (parse_count(value, 1, &number))
            tv_mt_input(file)->announced = number;
    } else if (is_key(key, TV_MT_KEY_VM)) {
        facts->dalvik = tv_bytes_equal(value, TV_BYTES("dalvik"));
        facts->art = tv_bytes_equal(value, TV_BYTES("art"));
    } else if (is_key(key, TV_MT_KEY_SAMPLING_US)) {
        if (parse_count(value, 1000, &number))
            facts->sampling_ns = number;
    } else if (is_key(key, TV_MT_KEY_PID)) {
        facts->has_pid = parse_count(value, 1, &number);
        if (facts->has_pid)
            file->head->processes[file->process].id = (uint64_t)number;
    }
}

static bool take_version(struct text *text, struct tv_bytes line, uint64_t at)
{
    uint64_t version;
    text->section = SECTION_KEYS;
    if (!tv_parse_u64(line, &version) || version > UINT16_MAX)
        return false;
    text->file->facts.version = (unsigned)version;
    text->file->facts.version_at = at;
    return true;
}

static bool take_thread(struct text *text, struct tv_bytes line, uint64_t at)
{
    struct tv_bytes number;
    uint64_t id;
    if (!tv_bytes_split(&line, '\t', &number) || !tv_parse_u64(number, &id))
        return false;
    tv_mt_add_thread(text->file, id, line, text->again, at);
    return true;
}

bool tv_mt_text_method(struct tv_mt_file *file, struct tv_bytes line, uint64_t *id,
                       struct tv_frame *frame)
{
    struct tv_bytes number;
    return tv_bytes_split(&line, '\t', &number) && tv_parse_hex(number, id) &&
           tv_mt_parse_method(file, line, frame);
}

static bool take_method(struct text *text, struct tv_bytes line, uint64_t at)
{
    struct tv_frame frame;
    uint64_t id;
    if (!tv_mt_text_method(text->file, line, &id, &frame))
        return false;
    tv_mt_add_method(text->file, id, &frame, text->again, at);
    return true;
}

/* False: the line is malformed. */
static bool take_line(struct text *text, struct tv_bytes line, uint64_t at)
{
    struct tv_bytes key;
    if (line.length > 0 && line.data[0] == '*') {
        text->section = section_of(line);
        return text->section != SECTION_NONE;
    }
    switch (text->section) {
    case SECTION_VERSION:
        return take_version(text, line, at);
    case SECTION_KEYS:
        if (!tv_bytes_split(&line, '=', &key))
            return key.length == 0;
        take_key(text->file, key, line);
        return true;
    case SECTION_THREADS:
        return take_thread(text, line, at);
    case SECTION_METHODS:
        return take_method(text, line, at);
    default:
        return false;
    }
}

/* A line that is longer than any other is searched so far. */
#define HEADER_SEARCH 4096

/* Finds a data header within a line of the text: the text half of a split trace may lack its
 * "*end", or the line break behind it.  Text has no NUL, a header has one in its version. */
static bool find_data_header(struct tv_bytes line, size_t *place)
{
    size_t fixed = TV_MT_HEADER_DATA_OFFSET;
    if (line.length < fixed || !memchr(line.data, 0, line.length))
        return false;
    for (size_t i = 0; i + fixed <= line.length; i++) {
        const uint8_t *at = line.data + i;
        if (memcmp(at, TV_MT_MAGIC_TEXT, TV_MT_HEADER_VERSION) == 0 &&
            tv_mt_record_size(tv_le_get_u16(at + TV_MT_HEADER_VERSION)) > 0) {
            *place = i;
            return true;
        }
    }
    return false;
}

/* Set *after behind a data header that begins in this line although *end is missing; 0: none. */
static enum tv_status look_for_data(struct text *text, const struct tv_text_line *line,
                                    uint64_t *after, struct tv_error *err)
{
    uint8_t room[HEADER_SEARCH];
    struct tv_bytes bytes = line->text;
    size_t place;
    *after = 0;
    if (line->too_long) {
        bytes = (struct tv_bytes){room, 0};
        enum tv_status status =
            tv_source_read(text->file->source, line->offset, room, sizeof room, &bytes.length, err);
        if (status != TV_OK)
            return status;
    }
    if (!find_data_header(bytes, &place))
        return TV_OK;
    *after = line->offset + place;
    bool whole = place == 0 || take_line(text, (struct tv_bytes){bytes.data, place}, line->offset);
    if (!whole)
        tv_mt_warn(text->file, TV_DIAGNOSTIC_BAD_LINE, line->offset);
    if (text->section != SECTION_END)
        tv_mt_warn(text->file, TV_DIAGNOSTIC_END_MISSING, *after);
    return TV_OK;
}

enum tv_status tv_mt_text_read(struct tv_mt_file *file, uint64_t offset, uint64_t end,
                               enum tv_mt_again again, uint64_t *after, struct tv_error *err)
{
    struct text text = {.file = file, .again = again};
    struct tv_text_lines lines;
    struct tv_text_line line;
    enum tv_status status;
    *after = 0;
    tv_text_lines_init(&lines, file->source, offset, end);
    while ((status = tv_text_lines_next(&lines, &line, err)) == TV_OK && !line.none) {
        if (end == UINT64_MAX)
            status = look_for_data(&text, &line, after, err);
        /* A last line without its end is the start of one that was cut off. */
        if (status != TV_OK || *after > 0 || !line.ended)
            break;
        if (line.too_long || !take_line(&text, line.text, line.offset))
            tv_mt_warn(file, TV_DIAGNOSTIC_BAD_LINE, line.offset);
        if (text.section == SECTION_END) {
            *after = lines.offset;
            break;
        }
    }
    tv_text_lines_release(&lines);
    return status;
}

enum tv_status tv_mt_text_walk(struct tv_mt_file *file, struct tv_error *err)
{
    uint64_t after;
    enum tv_status status = tv_mt_text_read(file, 0, UINT64_MAX, TV_MT_RENAMED, &after, err);
    if (status != TV_OK)
        return tv_error_prefix(err, "text header");
    if (after == 0) {
        tv_mt_warn(file, TV_DIAGNOSTIC_TRUNCATED, tv_source_size(file->source));
        file->version = file->facts.version;
        tv_mt_header_settle(file, 0);
        return TV_OK;
    }
    return tv_mt_header_walk(file, after, err);
}
