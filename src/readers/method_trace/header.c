/* SPDX-License-Identifier: Apache-2.0 */
#include "readers/method_trace/header.h"

#include <stdio.h>
#include <string.h>

#include "base/bytes.h"

/* Microseconds since 1970 are greater by now, and will not be reached since any device's boot. */
#define EPOCH_US ((uint64_t)1000000000000000)

void tv_mt_header_start(struct tv_mt_file *file, uint64_t start_us)
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

static const char *version_text(const struct tv_mt_file *file, char *text)
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

void tv_mt_header_settle(struct tv_mt_file *file, unsigned inferred)
{
    struct tv_input *input = tv_mt_input(file);
    const unsigned dual = TV_CLOCK_WALL | TV_CLOCK_CPU;
    char text[VERSION_SIZE];
    input->version = tv_trace_info_string(file->head, tv_bytes_of(version_text(file, text)));
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

/* The length of a UTF-8 sequence of two or three bytes, 0 when there is none. */
static size_t sequence_length(const uint8_t *at, size_t left)
{
    size_t length = at[0] >= 0xC2 && at[0] <= 0xDF ? 2 : at[0] >= 0xE0 && at[0] <= 0xEF ? 3 : 0;
    if (length == 0 || left < length)
        return 0;
    for (size_t i = 1; i < length; i++)
        if ((at[i] & 0xC0) != 0x80)
            return 0;
    return length;
}

bool tv_mt_header_recoded(struct tv_bytes bytes)
{
    size_t sequences = 0, others = 0, controls = 0, i = 0;
    while (i < bytes.length) {
        size_t length = sequence_length(bytes.data + i, bytes.length - i);
        uint8_t byte = bytes.data[i];
        if (length > 0)
            sequences++;
        else if (byte >= 0x80)
            others++;
        else if (byte < ' ' && byte != '\n' && byte != '\r' && byte != '\t')
            controls++;
        i += length > 0 ? length : 1;
    }
    /* Either all that is not ASCII is UTF-8, the last sequence perhaps cut off, or it is plain
     * text. */
    return sequences > 0 ? others <= 2 : others == 0 && controls == 0;
}

/* Binary records with fewer bytes from 0x80 on may be UTF-8 by chance. */
#define RECODED_EVIDENCE 32

/* One in so many records has an action that there is not, where bytes that were added have moved
 * them. */
#define RECODED_ODD 16

/* Times that hardly move may be UTF-8, record for record. */
static bool are_records(struct tv_bytes bytes, const struct tv_mt_header *header, uint16_t size)
{
    size_t word = header->version == TV_MT_V1 ? 1 : 2, count = 0, odd = 0;
    for (size_t at = header->data_offset; at + size <= bytes.length; at += size) {
        odd += (bytes.data[at + word] & 3) == 3;
        count++;
    }
    return odd * RECODED_ODD < count;
}

static bool records_recoded(struct tv_bytes bytes, const struct tv_mt_header *header, uint16_t size)
{
    size_t high = 0;
    for (size_t i = 0; i < bytes.length; i++)
        high += bytes.data[i] >= 0x80;
    return high >= RECODED_EVIDENCE && tv_mt_header_recoded(bytes) &&
           (size == 0 || !are_records(bytes, header, size));
}

/* The shortest data header of a version.  The manual page of version 1 ends it with the start time;
 * version 3, and streams of all versions, have the size of a record in it.  dmtracedump looks for
 * the size in version 3 alone, so it reads a version 2 without one. */
static unsigned least_header(const struct tv_mt_file *file, unsigned version)
{
    bool sized = version == TV_MT_V3 || file->streaming;
    return sized ? TV_MT_HEADER_RECORD_SIZE + 2 : TV_MT_HEADER_RECORD_SIZE;
}

/* An error when the header's fields do not go together. */
static enum tv_status check_fields(const struct tv_mt_file *file, const struct tv_mt_header *header,
                                   uint64_t offset, struct tv_error *err)
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
    unsigned least = least_header(file, header->version);
    if (header->data_offset < least)
        return tv_fail(err, TV_ERR_SYNTAX, offset + TV_MT_HEADER_DATA_OFFSET,
                       "data header: expected the first record %u bytes or more behind its start, "
                       "found %u",
                       least, header->data_offset);
    if (header->record_size < size && (header->record_size != 0 || header->version == TV_MT_V3))
        return tv_fail(err, TV_ERR_SYNTAX, offset + TV_MT_HEADER_RECORD_SIZE,
                       "data header: expected records of %u bytes or more, found %u", size,
                       header->record_size);
    return TV_OK;
}

static void lose_records(struct tv_mt_file *file, enum tv_diagnostic_kind kind, uint64_t offset)
{
    file->version = file->facts.version;
    tv_mt_warn(file, kind, offset);
    tv_mt_header_settle(file, 0);
}

/* The header is not whole: cut off, or words stand in its place. */
static void take_stub(struct tv_mt_file *file, struct tv_bytes stub, uint64_t offset)
{
    static const uint8_t magic[] = {'S', 'L', 'O', 'W'};
    size_t length = stub.length < 4 ? stub.length : 4;
    bool cut = length == 0 || memcmp(stub.data, magic, length) == 0;
    if (cut && stub.length >= TV_MT_HEADER_DATA_OFFSET)
        cut = tv_mt_record_size(tv_le_get_u16(stub.data + TV_MT_HEADER_VERSION)) > 0;
    lose_records(file, cut ? TV_DIAGNOSTIC_TRUNCATED : TV_DIAGNOSTIC_RECODED_TEXT,
                 cut ? offset + stub.length : offset);
}

enum tv_status tv_mt_header_check(const struct tv_mt_file *file, const uint8_t *at, uint64_t offset,
                                  struct tv_mt_header *header, struct tv_error *err)
{
    *header = tv_mt_get_header(at);
    uint16_t version = header->version;
    header->version = file->streaming ? tv_mt_plain_version(version) : version;
    if (header->data_offset < TV_MT_HEADER_RECORD_SIZE + 2)
        header->record_size = 0; /* what stands there belongs to the first record */
    if (memcmp(at, TV_MT_MAGIC_TEXT, 4) != 0)
        return tv_fail(err, TV_ERR_SYNTAX, offset,
                       "data header: expected \"" TV_MT_MAGIC_TEXT "\", found bytes "
                       "%02X %02X %02X %02X",
                       at[0], at[1], at[2], at[3]);
    return check_fields(file, header, offset, err);
}

/* Return true when the file ends within its header, whose size depends on the version. */
static bool is_cut(const uint8_t *bytes, size_t got)
{
    struct tv_mt_header header = tv_mt_get_header(bytes);
    bool is_short = (header.version == TV_MT_V1 || header.version == TV_MT_V2) &&
                    header.data_offset >= TV_MT_HEADER_RECORD_SIZE;
    size_t size =
        is_short && header.data_offset < TV_MT_HEADER_SIZE ? header.data_offset : TV_MT_HEADER_SIZE;
    return got < size;
}

enum tv_status tv_mt_header_walk(struct tv_mt_file *file, uint64_t offset, struct tv_error *err)
{
    uint8_t bytes[4096] = {0};
    size_t got;
    enum tv_status status = tv_source_read(file->source, offset, bytes, sizeof bytes, &got, err);
    if (status != TV_OK)
        return status;
    if (is_cut(bytes, got)) {
        take_stub(file, (struct tv_bytes){bytes, got}, offset);
        return TV_OK;
    }
    struct tv_mt_header header;
    status = tv_mt_header_check(file, bytes, offset, &header, err);
    uint16_t nominal = tv_mt_record_size(header.version);
    uint16_t size = header.record_size > nominal ? header.record_size : nominal;
    bool odd = status != TV_OK || header.record_size > nominal;
    size_t length = got < TV_MT_HEADER_SIZE ? got : TV_MT_HEADER_SIZE;
    if ((odd && tv_mt_header_recoded((struct tv_bytes){bytes, length})) ||
        records_recoded((struct tv_bytes){bytes, got}, &header, status == TV_OK ? size : 0)) {
        lose_records(file, TV_DIAGNOSTIC_RECODED_TEXT, offset);
        return TV_OK;
    }
    if (status != TV_OK)
        return status;
    file->version = header.version;
    file->record_size = size;
    file->layout = TV_MT_FIXED;
    tv_mt_header_start(file, header.start);
    tv_mt_header_settle(file, 0);
    tv_mt_add_last_unit(file, offset + header.data_offset);
    return TV_OK;
}
