/* SPDX-License-Identifier: Apache-2.0 */
/* told_records.h - any bytes through a reader with a record visitor, at once and piece by piece.
 * Both must print the same, one line per record, without a character that could end or hide one,
 * or that a terminal obeys. */
#ifndef TV_TESTS_TOLD_RECORDS_H
#define TV_TESTS_TOLD_RECORDS_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/memory.h"
#include "model/trace_info.h"
#include "readers/reader.h"
#include "writers/dump/dump.h"

/* Lines in front of records: the format, the titles of the columns. */
#define HEADINGS 2

/* A pipe that gives a few bytes more than are asked for. */
struct drops {
    struct tv_bytes bytes;
    uint64_t there;
};

static enum tv_status grow_drops(void *context, uint64_t wanted, uint64_t *size, bool *ended,
                                 struct tv_error *err)
{
    struct drops *drops = context;
    (void)err;
    if (wanted > drops->there)
        drops->there = wanted <= UINT64_MAX - 3 ? wanted + 3 : wanted;
    *ended = drops->there >= drops->bytes.length;
    *size = *ended ? drops->bytes.length : drops->there;
    return TV_OK;
}

static enum tv_status read_drops(void *context, uint64_t offset, void *buffer, size_t size,
                                 struct tv_error *err)
{
    const struct drops *drops = context;
    (void)err;
    memcpy(buffer, drops->bytes.data + offset, size);
    return TV_OK;
}

/* Return true when the only control characters are those that end columns and lines. */
static bool is_harmless(struct tv_bytes printed)
{
    for (size_t i = 0; i < printed.length; i++)
        if (printed.data[i] != '\t' && printed.data[i] != '\n' &&
            tv_bytes_control((struct tv_bytes){printed.data + i, printed.length - i}) > 0)
            return false;
    return true;
}

static size_t count_lines(struct tv_bytes printed)
{
    size_t lines = 0;
    for (size_t i = 0; i < printed.length; i++)
        lines += printed.data[i] == '\n';
    return lines;
}

/* Return the printed text, followed by the diagnostics. Takes ownership of the source. */
static void tell(const struct tv_reader *reader, struct tv_source *source, struct tv_out *out)
{
    struct tv_error err;
    struct tv_trace_info *head = tv_trace_info_new();
    struct tv_dump_records dump;
    tv_dump_records_init(&dump, out);
    enum tv_status status = reader->visit_records(source, head, &dump.visitor, &err);
    uint64_t records = status == TV_OK ? head->inputs[0].records : 0;
    struct tv_bytes printed = {out->buffer, out->length};
    if (!is_harmless(printed) || (records > 0 && count_lines(printed) < records + HEADINGS)) {
        fprintf(stderr, "a record is lost, or what is printed is more than text\n");
        abort();
    }
    tv_out_text(out, status == TV_OK ? "" : err.message);
    for (int kind = 0; kind < TV_DIAGNOSTIC_COUNT; kind++)
        tv_out_format(out, " %llu", (unsigned long long)head->diagnostics.kinds[kind].count);
    tv_dump_records_release(&dump);
    tv_trace_info_free(head);
    tv_source_free(source);
}

static int compare_told(const struct tv_reader *reader, const uint8_t *data, size_t size)
{
    static const struct tv_source_growth growth = {.reads = {.read = read_drops},
                                                   .grow = grow_drops};
    struct drops drops = {{data, size}, 0};
    struct tv_out at_once, by_and_by;
    tv_out_init_memory(&at_once);
    tv_out_init_memory(&by_and_by);
    tell(reader, tv_source_from_memory(drops.bytes, "fuzz"), &at_once);
    tell(reader, tv_source_from_growth(&growth, &drops, "fuzz"), &by_and_by);
    if (!tv_bytes_equal((struct tv_bytes){at_once.buffer, at_once.length},
                        (struct tv_bytes){by_and_by.buffer, by_and_by.length})) {
        fprintf(stderr, "what comes by and by is told in another way\n");
        abort();
    }
    tv_out_release(&at_once);
    tv_out_release(&by_and_by);
    return 0;
}

#endif
