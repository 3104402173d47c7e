/* SPDX-License-Identifier: Apache-2.0 */
/*
 * perf_records.c - perf.data files whose records perf compressed (perf record -z).
 *
 * The payloads of all records PERF_RECORD_COMPRESSED, one after the other, are one zstd stream of
 * further records.  A record may begin in one payload and end in the next.  The unpacked source has
 * these records in place of their payloads:
 *
 *     packed     header | record  COMPRESSED            record  COMPRESSED      | features
 *     unpacked   header | record  record record rec...  record  ...ord record   | features
 *
 * The header states the size of the records, and the table of the features, which follows the
 * records, states offsets after them.  So the stream is inflated twice: once for the size, once
 * for the bytes.  A file that came through a pipe has neither; there the records end the file.
 *
 * A damaged stream ends the records, because the rest of them depends on it.
 * Source of the layout: tools/perf/Documentation/perf.data-file-format.txt of Linux.
 */
#include <assert.h>
#include <string.h>
#include <zstd.h>

#include "base/bytes.h"
#include "base/memory.h"
#include "unpack/member.h"
#include "wire/little_endian.h"

#define MAGIC TV_BYTES("PERFILE2")
#define PIPE_HEADER 16u
#define FILE_HEADER 104u
#define DATA_AT 40u  /* in the header: the section of the records, an offset and a size */
#define FLAGS_AT 72u /* a bit for each feature */
#define FEATURES 256u
#define IS_COMPRESSED 27u /* the feature */
#define SECTION 16u
#define RECORD_HEAD 8u
#define PIECE ((size_t)64 * 1024)

enum perf_record_kind {
    TRACING_DATA = 66, /* 32 bits say how much follows the record, rounded up to 8 */
    AUXTRACE = 71,     /* 64 bits say it */
    FEATURE = 80,      /* of a pipe; 64 bits have its number */
    COMPRESSED = 81,
    COMPRESSED2 = 83, /* 64 bits have the size; padding follows */
    OWN_FIRST = 64,   /* perf's records about the file are before those of the kernel */
};

enum perf_stage {
    RECORDS,
    TABLE, /* of the features */
    REST,
    ENDED,
};

/* Both passes run through the same steps. `ready` is served first, then the bytes up to copy_end,
 * or, while `inflating`, zstd's output. */
struct perf_stream {
    struct tv_source *packed;
    bool piped; /* no section table: records follow the 16-byte header up to the end */
    uint64_t records, records_end; /* of the packed file */
    uint64_t growth;               /* by how many bytes the records are longer when unpacked */
    enum perf_stage stage;
    struct tv_bytes ready;     /* bytes that come first: of the header, or of the table */
    uint64_t offset, copy_end; /* bytes up to copy_end are copied as they are */
    bool inflating;            /* or inflated, up to payload_end; the next record is at `after` */
    uint64_t payload_end, after;
    bool full;         /* the last output was filled: zstd may have more without new input */
    bool any, damaged; /* a compressed record was seen; the records ended too early */
    ZSTD_DStream *zstd;
    ZSTD_inBuffer in;
    struct tv_error error;
    uint8_t header[FILE_HEADER], table[FEATURES * SECTION];
    uint8_t bytes[PIECE], inflated[PIECE];
};

/* ---- The packed file ---- */

struct perf_record {
    uint32_t type;
    uint64_t size;                  /* with what follows it */
    uint64_t payload, payload_size; /* of a compressed one; the offset in the file */
};

/* Read the record at an offset.  Return false at the end of the file, where the size becomes 0, or
 * when what is there is no record. */
static bool perf_stream_read_record(struct perf_stream *perf, uint64_t at,
                                    struct perf_record *record)
{
    uint8_t head[RECORD_HEAD + 8] = {0};
    size_t got;
    *record = (struct perf_record){.type = 0};
    if (tv_source_read(perf->packed, at, head, sizeof head, &got, &perf->error) != TV_OK ||
        got == 0)
        return false;
    uint64_t size = tv_le_get_u16(head + 6), number = tv_le_get_u64(head + RECORD_HEAD);
    *record = (struct perf_record){.type = tv_le_get_u32(head), .size = size > 0 ? size : 1};
    /* The kernel's header: u32 type, u16 misc, u16 size. Two types of perf have data behind them
     * that the 16-bit size does not include. */
    if (got < RECORD_HEAD || size < RECORD_HEAD)
        return false;
    if (record->type == TRACING_DATA && size >= RECORD_HEAD + 4)
        record->size += ((number & UINT32_MAX) + 7) & ~UINT64_C(7);
    else if (record->type == AUXTRACE && size >= RECORD_HEAD + 8 && number <= INT64_MAX)
        record->size += number;
    record->payload = at + RECORD_HEAD;
    record->payload_size = size - RECORD_HEAD;
    if (record->type == COMPRESSED2) {
        if (record->payload_size < 8 || number > record->payload_size - 8)
            return false;
        record->payload += 8;
        record->payload_size = number;
    }
    return true;
}

static bool perf_is_compressed(uint32_t type)
{
    return type == COMPRESSED || type == COMPRESSED2;
}

static bool perf_has_feature(const uint8_t *header, unsigned feature)
{
    return header[FLAGS_AT + feature / 8] >> feature % 8 & 1;
}

bool tv_perf_records_know(struct tv_bytes head)
{
    if (!tv_bytes_starts_with(head, MAGIC) || head.length < PIPE_HEADER)
        return false;
    if (tv_le_get_u64(head.data + 8) != PIPE_HEADER)
        return head.length >= FILE_HEADER && perf_has_feature(head.data, IS_COMPRESSED);
    /* In a pipe perf's own records come first; one of them may state the feature.  When they fill
     * the head the question stays open, and is answered by the first pass. */
    size_t at = PIPE_HEADER;
    while (at + RECORD_HEAD + 8 <= head.length) {
        uint32_t type = tv_le_get_u32(head.data + at);
        size_t size = tv_le_get_u16(head.data + at + 6);
        if (perf_is_compressed(type) ||
            (type == FEATURE && tv_le_get_u64(head.data + at + RECORD_HEAD) == IS_COMPRESSED))
            return true;
        if (type < OWN_FIRST || type == TRACING_DATA || size < RECORD_HEAD)
            return false;
        at += size;
    }
    return at + RECORD_HEAD + 8 > head.length && head.length >= 4096;
}

/* ---- Unpacking ---- */

/* Go to the first record. */
static void perf_stream_rewind(struct perf_stream *perf)
{
    perf->stage = RECORDS;
    perf->offset = perf->copy_end = perf->records;
    perf->inflating = perf->full = perf->damaged = false;
    perf->ready.length = 0;
    perf->in = (ZSTD_inBuffer){perf->bytes, 0, 0};
    ZSTD_initDStream(perf->zstd);
}

/* Find the records.  Return an error for a header that is cut off or contradicts the file. */
static enum tv_status perf_stream_open(struct perf_stream *perf, struct tv_source *packed,
                                       struct tv_error *err)
{
    size_t got;
    perf->packed = packed;
    enum tv_status status = tv_source_read(packed, 0, perf->header, sizeof perf->header, &got, err);
    if (status != TV_OK)
        return status;
    assert(got >= PIPE_HEADER); /* tv_perf_records_know */
    perf->piped = tv_le_get_u64(perf->header + 8) == PIPE_HEADER;
    perf->records = PIPE_HEADER;
    perf->records_end = UINT64_MAX;
    if (perf->piped)
        return TV_OK;
    uint64_t size = tv_le_get_u64(perf->header + DATA_AT + 8);
    perf->records = tv_le_get_u64(perf->header + DATA_AT);
    if (perf->records < FILE_HEADER || perf->records > INT64_MAX || size > INT64_MAX)
        return tv_fail(err, TV_ERR_SYNTAX, DATA_AT, "perf.data: the section of the records");
    if (size > 0) /* 0: perf was killed, and the records end the file */
        perf->records_end = perf->records + size;
    return TV_OK;
}

/* Make the table of the features anew: without that which says that records are compressed, and
 * with offsets after the longer records. */
static void perf_stream_make_table(struct perf_stream *perf)
{
    uint8_t section[SECTION];
    size_t size = 0, got;
    for (unsigned i = 0; i < FEATURES; i++) {
        if (!perf_has_feature(perf->header, i) && i != IS_COMPRESSED)
            continue;
        uint64_t at = perf->records_end + size;
        if (tv_source_read(perf->packed, at, section, SECTION, &got, &perf->error) != TV_OK)
            return;
        if (got < SECTION) /* the file is cut off */
            break;
        size += SECTION;
        uint64_t offset = tv_le_get_u64(section);
        if (offset >= perf->records_end)
            tv_le_put_u64(section, offset + perf->growth - SECTION);
        if (i != IS_COMPRESSED) {
            memcpy(perf->table + perf->ready.length, section, SECTION);
            perf->ready.length += SECTION;
        }
    }
    perf->ready.data = perf->table;
    perf->offset = perf->records_end + size;
}

/* Decide what comes after what was copied or inflated. */
static void perf_stream_step(struct perf_stream *perf)
{
    struct perf_record record;
    bool more = perf->stage == RECORDS && perf->offset < perf->records_end && !perf->damaged;
    if (more && perf_stream_read_record(perf, perf->offset, &record)) {
        uint64_t next = perf->offset + record.size;
        if (perf_is_compressed(record.type) && next <= perf->records_end) {
            perf->any = perf->inflating = true;
            perf->after = next;
            perf->offset = record.payload;
            perf->payload_end = record.payload + record.payload_size;
        } else {
            perf->copy_end = next < perf->records_end ? next : perf->records_end;
        }
    } else if (more && (record.size > 0 || perf->records_end < UINT64_MAX)) {
        perf->copy_end = perf->records_end; /* the reader of the records deals with the rest */
        perf->damaged = true;
    } else if (perf->stage == RECORDS) {
        perf->stage = perf->records_end == UINT64_MAX ? ENDED : TABLE;
    } else if (perf->stage == TABLE) {
        perf_stream_make_table(perf);
        perf->stage = REST;
        perf->copy_end = UINT64_MAX;
    } else {
        perf->stage = ENDED;
    }
}

/* Read packed bytes of [offset, end), at most `size`. Return 0 at the end, or with perf->error. */
static size_t perf_stream_fetch(struct perf_stream *perf, uint64_t end, uint8_t *buffer,
                                size_t size)
{
    size_t got = 0;
    uint64_t left = end - perf->offset;
    size = left < size ? (size_t)left : size;
    if (size > 0 &&
        tv_source_read_some(perf->packed, perf->offset, buffer, size, &got, &perf->error) != TV_OK)
        got = 0;
    perf->offset += got;
    return got;
}

/* Inflate the next piece.  How much of a damaged stream comes out depends on the room that zstd is
 * given, so that is the same in both passes, however much their readers ask for. */
static void perf_stream_inflate(struct perf_stream *perf)
{
    ZSTD_outBuffer out = {perf->inflated, PIECE, 0};
    if (perf->in.pos == perf->in.size && !perf->full) {
        size_t got = perf_stream_fetch(perf, perf->payload_end, perf->bytes, PIECE);
        perf->in = (ZSTD_inBuffer){perf->bytes, got, 0};
        if (got == 0) {
            perf->damaged = perf->offset < perf->payload_end; /* the file is cut off */
            perf->inflating = false;
            perf->offset = perf->copy_end = perf->after;
            return;
        }
    }
    if (ZSTD_isError(ZSTD_decompressStream(perf->zstd, &out, &perf->in))) {
        perf->damaged = true;
        perf->inflating = false;
        perf->copy_end = perf->offset;
    }
    perf->full = out.pos == out.size;
    perf->ready = (struct tv_bytes){perf->inflated, out.pos};
}

/* Put the next bytes into the buffer.  Return their number, which may be 0 before the end. */
static size_t perf_stream_advance(struct perf_stream *perf, uint8_t *buffer, size_t size)
{
    if (perf->ready.length > 0) {
        size = perf->ready.length < size ? perf->ready.length : size;
        memcpy(buffer, perf->ready.data, size);
        perf->ready = (struct tv_bytes){perf->ready.data + size, perf->ready.length - size};
        return size;
    }
    if (perf->inflating || perf->offset >= perf->copy_end) {
        if (perf->inflating)
            perf_stream_inflate(perf);
        else
            perf_stream_step(perf);
        return 0;
    }
    size_t copied = perf_stream_fetch(perf, perf->copy_end, buffer, size);
    if (copied == 0) /* the end of the file */
        perf->offset = perf->copy_end;
    return copied;
}

/* The read function of a tv_unpack_member. */
static enum tv_status perf_stream_read(void *context, uint8_t *buffer, size_t size, size_t *got,
                                       struct tv_error *err)
{
    struct perf_stream *perf = context;
    *got = 0;
    while (*got < size && perf->stage != ENDED && perf->error.status == TV_OK)
        *got += perf_stream_advance(perf, buffer + *got, size - *got);
    if (perf->error.status != TV_OK)
        *err = perf->error;
    return perf->error.status;
}

static void perf_stream_close(void *context)
{
    struct perf_stream *perf = context;
    ZSTD_freeDStream(perf->zstd);
    tv_free(perf);
}

static bool perf_stream_was_cut(const void *context)
{
    return ((const struct perf_stream *)context)->damaged;
}

/* Inflate once to learn the size of the unpacked records, and write it into the header. */
static enum tv_status perf_stream_measure(struct perf_stream *perf,
                                          const struct tv_extraction *extraction,
                                          struct tv_error *err)
{
    struct tv_ceiling ceiling = extraction->ceiling;
    uint64_t unpacked = 0;
    enum tv_status status = TV_OK;
    perf_stream_rewind(perf);
    while (status == TV_OK && perf->error.status == TV_OK && perf->stage == RECORDS) {
        size_t got = perf_stream_advance(perf, extraction->buffer, PIECE);
        unpacked += got;
        status = tv_ceiling_add(&ceiling, got, err);
    }
    if (perf->error.status != TV_OK)
        *err = perf->error;
    /* The unsigned difference may wrap around: a damaged file can become shorter. It is only added,
     * so the sums come out right. In a pipe it is not used. */
    perf->growth = unpacked - (perf->records_end - perf->records);
    return perf->error.status != TV_OK ? perf->error.status : status;
}

/* Begin with the header, which states the new size of the records and no compression. */
static void perf_stream_begin(struct perf_stream *perf)
{
    perf_stream_rewind(perf);
    perf->copy_end = perf->records;
    perf->offset = perf->piped ? PIPE_HEADER : FILE_HEADER;
    perf->ready = (struct tv_bytes){perf->header, (size_t)perf->offset};
    if (perf->piped)
        return;
    perf->header[FLAGS_AT + IS_COMPRESSED / 8] &= (uint8_t) ~(1u << IS_COMPRESSED % 8);
    if (perf->records_end < UINT64_MAX)
        tv_le_put_u64(perf->header + DATA_AT + 8, perf->records_end - perf->records + perf->growth);
}

enum tv_status tv_perf_records_unpack(struct tv_extraction *extraction, struct tv_source *packed,
                                      bool *cut_off, struct tv_error *err)
{
    struct perf_stream *perf = tv_alloc(1, sizeof *perf);
    struct tv_unpack_member member = {
        .name = tv_source_name(packed),
        .read = perf_stream_read,
        .context = perf,
    };
    bool grows = extraction->question->as_it_comes, taken = false;
    perf->zstd = ZSTD_createDStream();
    enum tv_status status = perf->zstd
                                ? perf_stream_open(perf, packed, err)
                                : tv_fail(err, TV_ERR_LIMIT, TV_NO_OFFSET, "zstd lacks memory");
    if (status == TV_OK)
        status = perf_stream_measure(perf, extraction, err);
    if (status == TV_OK && !perf->any) {
        struct tv_plain_member plain = {member.name, packed, 0, tv_source_size(packed)};
        status = tv_extraction_add_plain(extraction, &plain, &taken, err);
        grows = false;
    } else if (status == TV_OK) {
        perf_stream_begin(perf);
        if (grows) {
            member.close = perf_stream_close;
            member.is_cut = perf_stream_was_cut;
        }
        status = tv_extraction_add(extraction, &member, &taken, err);
    }
    if (grows && taken)
        return status;
    *cut_off = perf->any && perf->damaged;
    perf_stream_close(perf);
    return status;
}
