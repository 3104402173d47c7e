/* SPDX-License-Identifier: Apache-2.0 */
/*
 * text.c - the text header of an Android method trace (keys, threads, methods) and the data header
 * after it.
 *
 *     *version                                     section VERSION
 *     3
 *     data-file-overflow=false                     section KEYS
 *     clock=dual
 *     elapsed-time-usec=2012546
 *     vm=art
 *     *threads                                     number TAB name
 *     1<TAB>main
 *     *methods                                     id (hex) TAB class TAB method TAB signature TAB
 *     0x7f<TAB>java.lang.Long<TAB>parseLong<TAB>(Ljava/lang/String;)J<TAB>Long.java<TAB>433
 *     *end
 *     "SLOW" | u16 version | u16 offset of the records | u64 start | u16 record size (version 3)
 *     records (records.c)
 *
 * Streams and packet files have the same text as a summary at their end; tv_mt_text_read reads
 * both.
 *
 * Three kinds of damage are common enough to have a name:
 *   - the file ends in the text or the header: threads and methods so far, no records
 *   - "*end" is missing, because the two halves of a split trace were put together wrongly
 *   - the binary part went through a text editor or a web form, which replaced bytes from 0x80 on
 *     by UTF-8 sequences ("recoded"): no record can be trusted, so none is read
 */
#include "readers/method_trace/file.h"

#include <stdio.h>
#include <string.h>

#include "base/bytes.h"
#include "readers/text_lines.h"

/* A start time above this counts microseconds since 1970; below, since the device's boot. */
#define EPOCH_US ((uint64_t)1000000000000000)

void tv_mt_header_set_start(struct tv_mt_file *file, uint64_t start_us)
{
    struct tv_input *input = tv_mt_input(file);
    if (start_us > INT64_MAX / 1000)
        return;
    if (start_us > EPOCH_US)
        input->recorded_us = (int64_t)start_us;
    else if (!file->facts.dalvik)
        input->boot_us = (int64_t)start_us;
}

#define VERSION_SIZE 16

static const char *mt_header_version_text(const struct tv_mt_file *file, char *text)
{
    if (file->layout == TV_MT_LONG_RUNNING)
        return "long-running";
    if (file->version == 0)
        return "unknown";
    if (file->streaming)
        snprintf(text, VERSION_SIZE, "0x%X", file->version | TV_MT_STREAMING);
    else
        snprintf(text, VERSION_SIZE, "%u", file->version);
    return text;
}

/* Settle version and clocks. The text states the clocks of a file; otherwise the records show them
 * (`inferred`). Versions 3 and 5 always have both, the others always have one. */
void tv_mt_header_finalize(struct tv_mt_file *file, unsigned inferred)
{
    struct tv_input *input = tv_mt_input(file);
    const unsigned dual = TV_CLOCK_WALL | TV_CLOCK_CPU;
    char text[VERSION_SIZE];
    input->version =
        tv_trace_info_string(file->head, tv_bytes_of(mt_header_version_text(file, text)));
    input->overflow = file->facts.overflow;
    if (input->overflow)
        tv_mt_warn(file, TV_DIAGNOSTIC_OVERFLOW, TV_NO_OFFSET);

    file->clocks = file->facts.clocks ? file->facts.clocks : inferred;
    if (file->version == TV_MT_V3 || file->version == TV_MT_PACKETS_2)
        file->clocks = dual;
    if (file->clocks == 0 ||
        (file->clocks == dual && file->version != TV_MT_V3 && file->version != TV_MT_PACKETS_2)) {
        tv_mt_warn(file, TV_DIAGNOSTIC_CLOCK_UNKNOWN, TV_NO_OFFSET);
        file->clocks = TV_CLOCK_CPU;
    }
    input->clocks = file->clocks;
}

/* Return the length of a UTF-8 sequence of two or three bytes; 0 when there is none. */
static size_t mt_utf8_length(const uint8_t *at, size_t left)
{
    size_t length = at[0] >= 0xC2 && at[0] <= 0xDF ? 2 : at[0] >= 0xE0 && at[0] <= 0xEF ? 3 : 0;
    if (length == 0 || left < length)
        return 0;
    for (size_t i = 1; i < length; i++)
        if ((at[i] & 0xC0) != 0x80)
            return 0;
    return length;
}

bool tv_mt_header_is_recoded(struct tv_bytes bytes)
{
    size_t sequences = 0, others = 0, controls = 0, i = 0;
    while (i < bytes.length) {
        size_t length = mt_utf8_length(bytes.data + i, bytes.length - i);
        uint8_t byte = bytes.data[i];
        if (length > 0)
            sequences++;
        else if (byte >= 0x80)
            others++;
        else if (byte < ' ' && byte != '\n' && byte != '\r' && byte != '\t')
            controls++;
        i += length > 0 ? length : 1;
    }
    /* Recoded data is UTF-8 throughout, the last sequence perhaps cut off, or plain text. */
    return sequences > 0 ? others <= 2 : others == 0 && controls == 0;
}

/* With fewer bytes from 0x80 on, binary records may be UTF-8 by chance. */
#define RECODED_EVIDENCE 32

/* If inserted bytes have shifted the records, at least one of this many has an undefined
 * action. */
#define RECODED_ODD 16

/* Return true when the bytes make sense as records, although they are UTF-8: times that hardly
 * change may be that. */
static bool mt_header_are_records(struct tv_bytes bytes, const struct tv_mt_header *header,
                                  uint16_t size)
{
    size_t word = header->version == TV_MT_V1 ? 1 : 2, count = 0, odd = 0;
    for (size_t at = header->data_offset; at + size <= bytes.length; at += size) {
        odd += (bytes.data[at + word] & 3) == 3;
        count++;
    }
    return odd * RECODED_ODD < count;
}

/* True when a file's records went through a text conversion. All three must hold: enough high bytes
 * to tell (RECODED_EVIDENCE), a text of UTF-8 sequences throughout, and no sense as records when
 * read as they are (asked only when the size of a record is known). */
static bool mt_header_are_recoded(struct tv_bytes bytes, const struct tv_mt_header *header,
                                  uint16_t size)
{
    size_t high = 0;
    for (size_t i = 0; i < bytes.length; i++)
        high += bytes.data[i] >= 0x80;
    return high >= RECODED_EVIDENCE && tv_mt_header_is_recoded(bytes) &&
           (size == 0 || !mt_header_are_records(bytes, header, size));
}

/* Return the size of the shortest data header of a version. In the manual page of version 1 it
 * ends with the start time; version 3, and streams of all versions, have the record size in it.
 * dmtracedump looks for the size in version 3 only, so it reads a version 2 without one. */
static unsigned mt_header_least_size(const struct tv_mt_file *file, unsigned version)
{
    bool sized = version == TV_MT_V3 || file->streaming;
    return sized ? TV_MT_HEADER_RECORD_SIZE + 2 : TV_MT_HEADER_RECORD_SIZE;
}

/* Fail when the fields of the header contradict each other. */
static enum tv_status mt_header_check_fields(const struct tv_mt_file *file,
                                             const struct tv_mt_header *header, uint64_t offset,
                                             struct tv_error *err)
{
    unsigned expected = file->facts.version;
    uint16_t size = tv_mt_record_size(header->version);
    if (size == 0)
        return tv_fail(err, TV_ERR_SYNTAX, offset + TV_MT_HEADER_VERSION,
                       "data header: expected version 1, 2 or 3, found %u", header->version);
    if (expected != 0 && header->version != expected)
        return tv_fail(err, TV_ERR_SYNTAX, offset + TV_MT_HEADER_VERSION,
                       "data header: expected version %u, which the text header has, found %u",
                       expected, header->version);
    unsigned least = mt_header_least_size(file, header->version);
    if (header->data_offset < least)
        return tv_fail(err, TV_ERR_SYNTAX, offset + TV_MT_HEADER_DATA_OFFSET,
                       "data header: expected the first record %u bytes or more after its start, "
                       "found %u",
                       least, header->data_offset);
    if (header->record_size < size && (header->record_size != 0 || header->version == TV_MT_V3))
        return tv_fail(err, TV_ERR_SYNTAX, offset + TV_MT_HEADER_RECORD_SIZE,
                       "data header: expected records of %u bytes or more, found %u", size,
                       header->record_size);
    return TV_OK;
}

/* Give the records up: the head is complete without them. */
static void mt_header_lose_records(struct tv_mt_file *file, enum tv_diagnostic_kind kind,
                                   uint64_t offset)
{
    file->version = file->facts.version;
    tv_mt_warn(file, kind, offset);
    tv_mt_header_finalize(file, 0);
}

/* Handle a header that is not complete: the file was cut, or text is in its place. */
static void mt_header_take_stub(struct tv_mt_file *file, struct tv_bytes stub, uint64_t offset)
{
    static const uint8_t magic[] = {'S', 'L', 'O', 'W'};
    size_t length = stub.length < 4 ? stub.length : 4;
    bool cut = length == 0 || memcmp(stub.data, magic, length) == 0;
    if (cut && stub.length >= TV_MT_HEADER_DATA_OFFSET)
        cut = tv_mt_record_size(tv_le_get_u16(stub.data + TV_MT_HEADER_VERSION)) > 0;
    mt_header_lose_records(file, cut ? TV_DIAGNOSTIC_TRUNCATED : TV_DIAGNOSTIC_RECODED_TEXT,
                           cut ? offset + stub.length : offset);
}

/* Streams have a bit in their version that other files do not have. */
enum tv_status tv_mt_header_check(const struct tv_mt_file *file, const uint8_t *at, uint64_t offset,
                                  struct tv_mt_header *header, struct tv_error *err)
{
    *header = tv_mt_get_header(at);
    uint16_t version = header->version;
    header->version = file->streaming ? tv_mt_plain_version(version) : version;
    if (header->data_offset < TV_MT_HEADER_RECORD_SIZE + 2)
        header->record_size = 0; /* these bytes belong to the first record */
    if (memcmp(at, TV_MT_MAGIC_TEXT, 4) != 0)
        return tv_fail(err, TV_ERR_SYNTAX, offset,
                       "data header: expected \"" TV_MT_MAGIC_TEXT "\", found bytes "
                       "%02X %02X %02X %02X",
                       at[0], at[1], at[2], at[3]);
    return mt_header_check_fields(file, header, offset, err);
}

/* Return true when the file ends within its header, whose size depends on the version. */
static bool mt_header_is_cut(const uint8_t *bytes, size_t got)
{
    struct tv_mt_header header = tv_mt_get_header(bytes);
    bool is_short = (header.version == TV_MT_V1 || header.version == TV_MT_V2) &&
                    header.data_offset >= TV_MT_HEADER_RECORD_SIZE;
    size_t size =
        is_short && header.data_offset < TV_MT_HEADER_SIZE ? header.data_offset : TV_MT_HEADER_SIZE;
    return got < size;
}

/* Read the data header, or find out that it cannot be trusted: before it is refused, the bytes are
 * tested for recoded text, which explains more. */
enum tv_status tv_mt_header_walk(struct tv_mt_file *file, uint64_t offset, struct tv_error *err)
{
    uint8_t bytes[4096] = {0};
    size_t got;
    enum tv_status status = tv_source_read(file->source, offset, bytes, sizeof bytes, &got, err);
    if (status != TV_OK)
        return status;
    if (mt_header_is_cut(bytes, got)) {
        mt_header_take_stub(file, (struct tv_bytes){bytes, got}, offset);
        return TV_OK;
    }
    struct tv_mt_header header;
    status = tv_mt_header_check(file, bytes, offset, &header, err);
    uint16_t nominal = tv_mt_record_size(header.version);
    uint16_t size = header.record_size > nominal ? header.record_size : nominal;
    bool odd = status != TV_OK || header.record_size > nominal;
    size_t length = got < TV_MT_HEADER_SIZE ? got : TV_MT_HEADER_SIZE;
    if ((odd && tv_mt_header_is_recoded((struct tv_bytes){bytes, length})) ||
        mt_header_are_recoded((struct tv_bytes){bytes, got}, &header, status == TV_OK ? size : 0)) {
        mt_header_lose_records(file, TV_DIAGNOSTIC_RECODED_TEXT, offset);
        return TV_OK;
    }
    if (status != TV_OK)
        return status;
    file->version = header.version;
    file->record_size = size;
    file->layout = TV_MT_FIXED;
    tv_mt_header_set_start(file, header.start);
    tv_mt_header_finalize(file, 0);
    tv_mt_add_last_unit(file, offset + header.data_offset);
    return TV_OK;
}

enum mt_section {
    SECTION_NONE,
    SECTION_VERSION,
    SECTION_KEYS,
    SECTION_THREADS,
    SECTION_METHODS,
    SECTION_END
};

/* The text while it is read. `again`: what a second entry of an id means (file.h). */
struct mt_text {
    struct tv_mt_file *file;
    enum mt_section section;
    enum tv_mt_again again;
};

/* Return the section that a line begins. */
static enum mt_section mt_text_find_section(struct tv_bytes line)
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

/* Return the clocks of "dual", "wall", "global" or "thread-cpu"; 0: another word. */
static unsigned mt_text_parse_clocks(struct tv_bytes value)
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

/* Parse a count. Numbers of the header are used as int64, so a larger one is malformed. */
static bool mt_text_parse_count(struct tv_bytes value, uint64_t unit, int64_t *count)
{
    uint64_t number;
    if (!tv_parse_u64(value, &number) || number > INT64_MAX / unit)
        return false;
    *count = (int64_t)(number * unit);
    return true;
}

static bool mt_text_is_key(struct tv_bytes key, const char *name)
{
    return tv_bytes_equal(key, tv_bytes_of(name));
}

/* Take a key that defines the unit of time or the clock. */
static void mt_text_take_time_key(struct tv_mt_facts *facts, int64_t *elapsed, struct tv_bytes key,
                                  struct tv_bytes value)
{
    if (mt_text_is_key(key, TV_MT_KEY_ELAPSED_US))
        facts->in_us = mt_text_parse_count(value, 1000, elapsed);
    else if (mt_text_is_key(key, TV_MT_KEY_ELAPSED_NS))
        facts->in_ns = mt_text_parse_count(value, 1, elapsed);
    else if (mt_text_is_key(key, TV_MT_KEY_CLOCK))
        facts->clocks = mt_text_parse_clocks(value);
}

/* Look only for the unit and the clock, in a summary that is read ahead (packets.c). */
void tv_mt_text_scan_times(struct tv_bytes text, struct tv_mt_facts *facts)
{
    struct tv_bytes line, key;
    int64_t elapsed;
    while (tv_bytes_split(&text, '\n', &line))
        if (tv_bytes_split(&line, '=', &key))
            mt_text_take_time_key(facts, &elapsed, key, line);
}

/* Every key is metadata; some change how the file is read. */
static void mt_text_take_key(struct tv_mt_file *file, struct tv_bytes key, struct tv_bytes value)
{
    struct tv_mt_facts *facts = &file->facts;
    int64_t number;
    tv_trace_info_add_metadata(file->head, file->input, key, value);
    mt_text_take_time_key(facts, &tv_mt_input(file)->elapsed_ns, key, value);
    if (mt_text_is_key(key, TV_MT_KEY_OVERFLOW)) {
        facts->overflow = tv_bytes_equal(value, TV_BYTES("true"));
    } else if (mt_text_is_key(key, TV_MT_KEY_RECORDS)) {
        if (mt_text_parse_count(value, 1, &number))
            tv_mt_input(file)->announced = number;
    } else if (mt_text_is_key(key, TV_MT_KEY_VM)) {
        facts->dalvik = tv_bytes_equal(value, TV_BYTES("dalvik"));
    } else if (mt_text_is_key(key, TV_MT_KEY_SAMPLING_US)) {
        facts->states_sampling = mt_text_parse_count(value, 1000, &number);
        facts->sampling_ns = facts->states_sampling ? number : 0;
    } else if (mt_text_is_key(key, TV_MT_KEY_PID)) {
        facts->has_pid = mt_text_parse_count(value, 1, &number);
        if (facts->has_pid)
            file->head->processes[file->process].id = (uint64_t)number;
    }
}

static bool mt_text_take_version(struct mt_text *text, struct tv_bytes line)
{
    uint64_t version;
    text->section = SECTION_KEYS;
    if (!tv_parse_u64(line, &version) || version > UINT16_MAX)
        return false;
    text->file->facts.version = (unsigned)version;
    return true;
}

static bool mt_text_take_thread(struct mt_text *text, struct tv_bytes line, uint64_t at)
{
    struct tv_bytes number;
    uint64_t id;
    if (!tv_bytes_split(&line, '\t', &number) || !tv_parse_u64(number, &id))
        return false;
    tv_mt_add_thread(text->file, id, line, text->again, at);
    return true;
}

bool tv_mt_text_parse_method(struct tv_mt_file *file, struct tv_bytes line, uint64_t *id,
                             struct tv_frame *frame)
{
    struct tv_bytes number;
    return tv_bytes_split(&line, '\t', &number) && tv_parse_hex(number, id) &&
           tv_mt_file_parse_method(file, line, frame);
}

static bool mt_text_take_method(struct mt_text *text, struct tv_bytes line, uint64_t at)
{
    struct tv_frame frame;
    uint64_t id;
    if (!tv_mt_text_parse_method(text->file, line, &id, &frame))
        return false;
    tv_mt_add_method(text->file, id, &frame, text->again, at);
    return true;
}

/* Return false when the line is malformed. */
static bool mt_text_take_line(struct mt_text *text, struct tv_bytes line, uint64_t at)
{
    struct tv_bytes key;
    if (line.length > 0 && line.data[0] == '*') {
        text->section = mt_text_find_section(line);
        return text->section != SECTION_NONE;
    }
    switch (text->section) {
    case SECTION_VERSION:
        return mt_text_take_version(text, line);
    case SECTION_KEYS:
        if (!tv_bytes_split(&line, '=', &key))
            return key.length == 0;
        mt_text_take_key(text->file, key, line);
        return true;
    case SECTION_THREADS:
        return mt_text_take_thread(text, line, at);
    case SECTION_METHODS:
        return mt_text_take_method(text, line, at);
    default:
        return false;
    }
}

/* Bytes of an overlong line that are searched. */
#define HEADER_SEARCH 4096

/* Find a data header within a line of the text: the text half of a split trace may lack "*end",
 * or the line break after it. Text has no NUL, but the version of a header has one. */
static bool mt_text_find_data_header(struct tv_bytes line, size_t *place)
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

/* Set *after to the data header that begins in this line although "*end" is missing; 0 when
 * there is none. */
static enum tv_status mt_text_find_data(struct mt_text *text, const struct tv_text_line *line,
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
    if (!mt_text_find_data_header(bytes, &place))
        return TV_OK;
    *after = line->offset + place;
    bool whole =
        place == 0 || mt_text_take_line(text, (struct tv_bytes){bytes.data, place}, line->offset);
    if (!whole)
        tv_mt_warn(text->file, TV_DIAGNOSTIC_BAD_LIST_LINE, line->offset);
    if (text->section != SECTION_END)
        tv_mt_warn(text->file, TV_DIAGNOSTIC_END_MISSING, *after);
    return TV_OK;
}

enum tv_status tv_mt_text_read(struct tv_mt_file *file, uint64_t offset, uint64_t end,
                               enum tv_mt_again again, uint64_t *after, struct tv_error *err)
{
    struct mt_text text = {.file = file, .again = again};
    struct tv_text_lines lines;
    struct tv_text_line line;
    enum tv_status status;
    *after = 0;
    tv_text_lines_init(&lines, file->source, offset, end);
    while ((status = tv_text_lines_next(&lines, &line, err)) == TV_OK && !line.none) {
        if (end == UINT64_MAX)
            status = mt_text_find_data(&text, &line, after, err);
        /* A last line without a line end was cut off. */
        if (status != TV_OK || *after > 0 || !line.ended)
            break;
        if (line.too_long || !mt_text_take_line(&text, line.text, line.offset))
            tv_mt_warn(file, TV_DIAGNOSTIC_BAD_LIST_LINE, line.offset);
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
        tv_mt_header_finalize(file, 0);
        return TV_OK;
    }
    return tv_mt_header_walk(file, after, err);
}
