/* SPDX-License-Identifier: Apache-2.0 */
/*
 * chunk.h - one chunk of a recording: its types and its constants, both with ids that only the
 * chunk knows.
 *
 *     header, 68 bytes      clock, places of the last checkpoint and of the metadata
 *     events                size, type id, fields; skipped by their size
 *       metadata (type 0)   describes the types of all events and constants
 *       checkpoint (1)      constants; each names the checkpoint before it
 *
 * A chunk that is whole says where its metadata and its checkpoints are.  In one that is cut, or
 * was still being written, they are searched among the events.
 *
 * Values are read where they stand.  A type is compiled to a program (struct tv_jfr_op) that walks
 * over a value and notes the fields that somebody wants; a constant is only the place of its value
 * until it is needed.
 */
#ifndef TV_READERS_JFR_CHUNK_H
#define TV_READERS_JFR_CHUNK_H

#include "base/bytes.h"
#include "base/map.h"
#include "base/memory.h"
#include "model/diagnostic.h"
#include "model/tables.h"
#include "wire/little_endian.h"

#define TV_JFR_HEADER_SIZE 68

/* Ids of the two events that every chunk has without describing them. */
#define TV_JFR_METADATA 0
#define TV_JFR_CHECKPOINT 1

/* ---- Integers and texts (values.c) ---- */

/* A place in a chunk.  `fixed`: integers have their full width and are big-endian, instead of 7
 * bits in each byte; no known recorder writes that. */
struct tv_jfr_cursor {
    const uint8_t *at, *end;
    bool fixed;
};

/* Number of bytes of the longest varint. */
#define TV_JFR_LONGEST_VARINT 9

/* The high bits of eight bytes; those that are set in a varint say that more bytes follow. */
#define TV_JFR_MORE_BITS UINT64_C(0x8080808080808080)

/* Join the 7 bits of each byte of a word. */
TV_INLINE uint64_t tv_jfr_join_sevens(uint64_t word)
{
    word = (word & UINT64_C(0x007f007f007f007f)) | (word & UINT64_C(0x7f007f007f007f00)) >> 1;
    word = (word & UINT64_C(0x00003fff00003fff)) | (word & UINT64_C(0x3fff00003fff0000)) >> 2;
    return (word & UINT64_C(0x0fffffff)) | (word & UINT64_C(0x0fffffff00000000)) >> 4;
}

/* Take a varint of any length. */
bool tv_jfr_take_long_varint(struct tv_jfr_cursor *cursor, uint64_t *value);

/* Skip so many varints. */
bool tv_jfr_skip_varints(struct tv_jfr_cursor *cursor, uint64_t count);

/* Take a big-endian integer of so many bytes. */
bool tv_jfr_take_fixed(struct tv_jfr_cursor *cursor, unsigned width, uint64_t *value);

/* Take an integer that has `width` bytes if its width is fixed. */
TV_INLINE bool tv_jfr_take(struct tv_jfr_cursor *cursor, unsigned width, uint64_t *value)
{
    if (TV_UNLIKELY(cursor->fixed))
        return tv_jfr_take_fixed(cursor, width, value);
    const uint8_t *at = cursor->at;
    ptrdiff_t left = cursor->end - at;
    if (TV_LIKELY(left > 0 && at[0] < 0x80)) {
        *value = at[0];
        cursor->at = at + 1;
        return true;
    }
    if (TV_LIKELY(left > 1 && at[1] < 0x80)) {
        *value = (uint64_t)(at[0] & 0x7f) | (uint64_t)at[1] << 7;
        cursor->at = at + 2;
        return true;
    }
    return tv_jfr_take_long_varint(cursor, value);
}

/* A text as it stands: its encoding, and its bytes or the key of its constant. */
enum tv_jfr_encoding {
    TV_JFR_NULL,
    TV_JFR_EMPTY,
    TV_JFR_CONSTANT,
    TV_JFR_UTF8, /* modified UTF-8: characters beyond U+FFFF are two surrogates */
    TV_JFR_UTF16,
    TV_JFR_LATIN1,
};

struct tv_jfr_raw_text {
    enum tv_jfr_encoding encoding;
    uint64_t count; /* key of the constant, or units of the text */
    struct tv_bytes bytes;
};

/* Take a text; false when it does not end within the chunk or has an unknown encoding. */
bool tv_jfr_take_text(struct tv_jfr_cursor *cursor, struct tv_jfr_raw_text *text);

/* Return the text as UTF-8: a view of the chunk where it is that, else a copy in the arena.  Empty
 * for a constant. */
struct tv_bytes tv_jfr_text_decode(const struct tv_jfr_raw_text *text, bool fixed,
                                   struct tv_arena *arena);

/* ---- Types (metadata.c) ---- */

enum tv_jfr_kind {
    TV_JFR_STRUCT,
    TV_JFR_BOOLEAN,
    TV_JFR_BYTE,
    TV_JFR_CHAR,
    TV_JFR_SHORT,
    TV_JFR_INT,
    TV_JFR_LONG,
    TV_JFR_FLOAT,
    TV_JFR_DOUBLE,
    TV_JFR_STRING,
};

/* Meaning of a number, from the annotations of its field. */
enum tv_jfr_unit {
    TV_JFR_PLAIN,
    TV_JFR_TICKS,
    TV_JFR_NANOSECONDS,
    TV_JFR_MICROSECONDS,
    TV_JFR_MILLISECONDS,
    TV_JFR_SECONDS,
    TV_JFR_TIME_TICKS, /* points in time */
    TV_JFR_TIME_MILLISECONDS,
    TV_JFR_BYTES,
    TV_JFR_BITS,
    TV_JFR_PERCENTAGE,
    TV_JFR_ADDRESS,
};

struct tv_jfr_field {
    struct tv_bytes name;
    uint64_t class_id;
    uint32_t type; /* TV_NONE: its class is unknown */
    uint8_t kind;  /* enum tv_jfr_kind */
    uint8_t unit;  /* enum tv_jfr_unit */
    bool constant; /* the value is a key into the constants of its type */
    bool array;
    bool is_unsigned;
};

struct tv_jfr_type {
    uint64_t id;
    struct tv_bytes name;
    struct tv_bytes label;    /* for people; may be empty */
    struct tv_bytes category; /* innermost; may be empty */
    uint32_t first_field, field_count;
    uint8_t kind;
};

/* ---- Programs (program.c) ---- */

enum tv_jfr_code {
    TV_JFR_OP_VARINT, /* an integer of `width` bytes */
    TV_JFR_OP_RAW,    /* `width` bytes */
    TV_JFR_OP_TEXT,
    TV_JFR_OP_ARRAY,  /* a count, and for each element the next `length` operations */
    TV_JFR_OP_STRUCT, /* no bytes: the fields of the struct follow */
};

#define TV_JFR_NO_SLOT UINT8_MAX

struct tv_jfr_op {
    uint8_t code; /* enum tv_jfr_code */
    uint8_t width;
    uint8_t slot; /* where the value is noted, or TV_JFR_NO_SLOT */
    uint8_t sign; /* bits of a signed integer; 0: all 64, or unsigned */
    uint32_t length;
};

/* A type as operations; slots note the value of an integer or of raw bytes, and the place of
 * everything else, counted from the chunk's first byte. */
struct tv_jfr_program {
    struct tv_jfr_op *ops;
    uint32_t count;
    uint32_t noted; /* number of operations up to the last one with a slot */
    bool integers;  /* those are varints alone, and it is usable */
    bool unusable;  /* a type that cannot be read: unknown, in a circle, or far too large */
};

/* Maximum number of slots of a program. */
#define TV_JFR_SLOTS 16

struct tv_jfr_chunk;

/* Compile a type.  names[i] is the field that slot i notes, or NULL. */
struct tv_jfr_program tv_jfr_compile(const struct tv_jfr_chunk *chunk, uint32_t type,
                                     const char *const *names, unsigned count);
void tv_jfr_program_release(struct tv_jfr_program *program);

/* Walk over a value as far as slots need it.  Slots without a field keep their value. */
bool tv_jfr_program_note(const struct tv_jfr_chunk *chunk, const struct tv_jfr_program *program,
                         struct tv_jfr_cursor *cursor, uint64_t *slots);

/* Skip a whole value. */
bool tv_jfr_program_skip(const struct tv_jfr_chunk *chunk, const struct tv_jfr_program *program,
                         struct tv_jfr_cursor *cursor);

/* ---- Constants (pools.c) ---- */

/* Strings, frames and others made of a constant (names.c). */
enum tv_jfr_made {
    TV_JFR_MADE_NOTHING,
    TV_JFR_MADE_TEXT,
    TV_JFR_MADE_CLASS,
    TV_JFR_MADE_FRAME,
    TV_JFR_MADE_STACK,
    TV_JFR_MADE_CUT_STACK, /* the recorder kept no more frames */
    TV_JFR_MADE_THREAD,
};

/* Places in a chunk take 55 bits. */
#define TV_JFR_PLACE_MASK ((UINT64_C(1) << 55) - 1)

/* The place of a value, and what was made of it. */
struct tv_jfr_constant {
    uint32_t made;        /* number of the string, frame or thread; path of the stack */
    uint32_t line_path;   /* of a stack */
    uint64_t at : 55;     /* from the chunk's first byte */
    uint64_t made_as : 6; /* enum tv_jfr_made: damaged types can make one constant two things */
    uint64_t cut : 1;     /* a stack of which the recorder left frames out */
    uint64_t met : 1;     /* a thread of which the scan met an event */
};

/* Key of a constant, which leads to its value until the pools are complete. */
struct tv_jfr_constant_key {
    uint64_t key;
    uint32_t type;
};

/* ---- The chunk ---- */

struct tv_jfr_chunk {
    struct tv_bytes bytes; /* from the header on */
    uint64_t offset;       /* in the file */
    uint16_t major, minor;
    uint64_t checkpoint, metadata; /* from the chunk's first byte; 0: unknown */
    int64_t start_ns;
    uint64_t start_ticks, ticks_per_second;
    bool unfinished, cut, fixed;

    struct tv_arena arena; /* texts that had to be decoded */
    TV_TABLE(tv_jfr_type) types;
    TV_TABLE(tv_jfr_field) fields;
    struct tv_map type_ids;          /* id -> type */
    struct tv_jfr_program *programs; /* per type, to skip a value; compiled when needed */
    struct tv_lookup *pools;         /* per type: key -> constant */
    TV_TABLE(tv_jfr_constant) constants;
    TV_TABLE(tv_jfr_constant_key) keys; /* of the constants, in the order of reading */
    uint32_t text_type;                 /* java.lang.String, or TV_NONE */
    uint32_t stack_type;                /* jdk.types.StackTrace, or TV_NONE */
    struct tv_jfr_program stack_cut;    /* notes whether a stack was cut */
    struct tv_diagnostics diagnostics;
};

/* Return the size of the chunk with this header, TV_JFR_HEADER_SIZE bytes; 0: this is no header, or
 * the recorder has not finished the chunk. */
uint64_t tv_jfr_chunk_size(struct tv_bytes header);

/* Find the chunk at or after an offset; *next becomes the offset after it.  Return false when
 * there is none.  `skipped`: bytes before it belong to no chunk. */
bool tv_jfr_chunk_find(struct tv_bytes file, uint64_t offset, struct tv_jfr_chunk *chunk,
                       uint64_t *next, bool *skipped);

/* Read the types and the places of the constants.  Return false when the chunk has no types. */
bool tv_jfr_chunk_open(struct tv_jfr_chunk *chunk);
void tv_jfr_chunk_release(struct tv_jfr_chunk *chunk);

/* One event. */
struct tv_jfr_event {
    uint64_t at; /* from the chunk's first byte */
    uint64_t size;
    uint64_t type;               /* id */
    struct tv_jfr_cursor fields; /* after the type */
};

/* Convert ticks of the chunk to nanoseconds: of a time since 1970, or of a length. */
int64_t tv_jfr_time(const struct tv_jfr_chunk *chunk, uint64_t ticks);
int64_t tv_jfr_length(const struct tv_jfr_chunk *chunk, int64_t ticks);

static inline struct tv_jfr_cursor tv_jfr_cursor_at(const struct tv_jfr_chunk *chunk, uint64_t at)
{
    const uint8_t *start = chunk->bytes.data, *end = start + chunk->bytes.length;
    return (struct tv_jfr_cursor){at < chunk->bytes.length ? start + at : end, end, chunk->fixed};
}

/* Read the event at a place; false at the end of the chunk and where there is none. */
TV_INLINE bool tv_jfr_event_at(const struct tv_jfr_chunk *chunk, uint64_t at,
                               struct tv_jfr_event *event)
{
    struct tv_jfr_cursor cursor = tv_jfr_cursor_at(chunk, at);
    event->at = at;
    if (!tv_jfr_take(&cursor, 4, &event->size) || event->size > chunk->bytes.length - at)
        return false;
    cursor.end = chunk->bytes.data + at + event->size;
    if (cursor.at > cursor.end || !tv_jfr_take(&cursor, 8, &event->type))
        return false;
    event->fields = cursor;
    return true;
}

/* Extend the sign of an integer with so many bits; 0: it has all 64, or no sign. */
static inline uint64_t tv_jfr_extend_sign(uint64_t value, unsigned bits)
{
    return bits == 0 ? value : (uint64_t)((int64_t)(value << (64 - bits)) >> (64 - bits));
}

static inline uint64_t tv_jfr_narrow(const struct tv_jfr_op *op, uint64_t value)
{
    return tv_jfr_extend_sign(op->width == 2 ? value & 0xffff : value, op->sign);
}

/* Note integers of up to eight bytes; false: walk over the value with tv_jfr_program_note.  The
 * lengths of neighbours differ, so each is taken as a word, without a branch. */
TV_INLINE bool tv_jfr_note_integers(const struct tv_jfr_chunk *chunk,
                                    const struct tv_jfr_program *program,
                                    struct tv_jfr_cursor *cursor, uint64_t *slots)
{
    const uint8_t *at = cursor->at, *end = chunk->bytes.data + chunk->bytes.length;
    if (!program->integers ||
        (uint64_t)(end - at) < (uint64_t)program->noted * TV_JFR_LONGEST_VARINT)
        return false;
    for (uint32_t i = 0; i < program->noted; i++) {
        const struct tv_jfr_op *op = &program->ops[i];
        uint64_t word = tv_le_get_u64(at), ends = ~word & TV_JFR_MORE_BITS;
        if (TV_UNLIKELY(ends == 0))
            return false;
        at += (unsigned)__builtin_ctzll(ends) / 8 + 1;
        if (op->slot == TV_JFR_NO_SLOT)
            continue;
        uint64_t value = tv_jfr_join_sevens(word & (ends ^ (ends - 1)));
        slots[op->slot] = op->width == 8 ? value : tv_jfr_narrow(op, value);
    }
    if (at > cursor->end)
        return false;
    cursor->at = at;
    return true;
}

static inline uint64_t tv_jfr_place(const struct tv_jfr_chunk *chunk,
                                    const struct tv_jfr_cursor *cursor)
{
    return (uint64_t)(cursor->at - chunk->bytes.data);
}

static inline uint32_t tv_jfr_find_type(const struct tv_jfr_chunk *chunk, uint64_t id)
{
    return tv_map_find(&chunk->type_ids, id);
}

/* Find a type by the end of its name: version 1.0 has com.oracle.jfr.types instead of jdk.types. */
uint32_t tv_jfr_find_type_by_end(const struct tv_jfr_chunk *chunk, struct tv_bytes end);

/* Read the metadata event at a place.  Return false when it is damaged. */
bool tv_jfr_metadata_read(struct tv_jfr_chunk *chunk, uint64_t at);

/* Read the constants of the checkpoint at a place; those that were read before win.  *before
 * becomes the place of the checkpoint before, or 0.  Return false when it is damaged. */
bool tv_jfr_checkpoint_read(struct tv_jfr_chunk *chunk, uint64_t at, uint64_t *before);

/* End the pools when all checkpoints are read. */
void tv_jfr_pools_complete(struct tv_jfr_chunk *chunk);
void tv_jfr_pools_release(struct tv_jfr_chunk *chunk);

/* Return the program that skips values of a type. */
const struct tv_jfr_program *tv_jfr_skipper(struct tv_jfr_chunk *chunk, uint32_t type);

/* Return the constant of a type with a key, or TV_NONE. */
static inline uint32_t tv_jfr_constant_find(const struct tv_jfr_chunk *chunk, uint32_t type,
                                            uint64_t key)
{
    return type == TV_NONE ? TV_NONE : tv_lookup_find(&chunk->pools[type], key);
}

/* ---- Values by the names of their fields (values.c) ---- */

/* A field of a value: its number, key, or place. */
struct tv_jfr_value {
    const struct tv_jfr_field *field; /* NULL: there is no such field */
    uint64_t raw; /* number (bits of a float or double) or key; place of everything else */
};

/* Return the field of a type, or NULL. */
const struct tv_jfr_field *tv_jfr_field_find(const struct tv_jfr_chunk *chunk, uint32_t type,
                                             struct tv_bytes name);

/* Read the field of a value that is at a place. */
struct tv_jfr_value tv_jfr_get(struct tv_jfr_chunk *chunk, uint32_t type, uint64_t at,
                               const char *name);

/* Follow a key to its constant: the place of the value and its type; false for null. */
bool tv_jfr_follow(const struct tv_jfr_chunk *chunk, const struct tv_jfr_value *value,
                   uint32_t *type, uint64_t *at);

/* Return the text of a value: a text, or a constant or struct whose first field leads to one.
 * Empty when it has none. */
struct tv_bytes tv_jfr_get_text(struct tv_jfr_chunk *chunk, const struct tv_jfr_value *value);

/* Return an integer as signed number. */
int64_t tv_jfr_signed(const struct tv_jfr_value *value);

/* Return any number, a float or double too; false for what is no number. */
bool tv_jfr_number(const struct tv_jfr_value *value, double *number);

/* Return the name of a class as Java writes it ("java.lang.String"), from a value of
 * java.lang.Class; empty when there is none. */
struct tv_bytes tv_jfr_class_name(struct tv_jfr_chunk *chunk, const struct tv_jfr_value *value);

/* Return a text for a value of any type in one line: a class, thread or method by its name. */
struct tv_bytes tv_jfr_summary(struct tv_jfr_chunk *chunk, const struct tv_jfr_value *value);

#endif
