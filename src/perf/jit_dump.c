/* SPDX-License-Identifier: Apache-2.0 */
/* jit_dump.c - see jit_dump.h. */
#include "perf/jit_dump.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"

#define JIT_DUMP_MAGIC 0x4A695444u
#define JIT_DUMP_HEADER 40u
#define JIT_RECORD_PREFIX 16u /* of a record: kind, size, time */
#define JIT_LOAD_BODY 40u
#define JIT_MOVE_BODY 48u
#define JIT_LINE_NUMBERS 48u /* two numbers of 16 digits and what parts them */
#define JIT_NAME_MOST 4096u

/* A move is short, and repeats the name of a load, which may be long: the text is no more than so
 * many times the file, or than so much. */
#define TEXT_TIMES 8u
#define TEXT_MOST ((size_t)512 << 20)

enum jit_record_kind { JIT_CODE_LOAD, JIT_CODE_MOVE };

/* Code that was moved keeps its name: the number of its load tells which. */
struct jit_code_load {
    uint64_t number;
    const char *name;
};

struct jit_dump_reading {
    char *text;
    size_t length, capacity, most;
    struct jit_code_load *loaded;
    size_t loaded_count, loaded_capacity;
};

static uint32_t jit_dump_u32(const uint8_t *bytes)
{
    uint32_t value;
    memcpy(&value, bytes, sizeof value);
    return value;
}

static uint64_t jit_dump_u64(const uint8_t *bytes)
{
    uint64_t value;
    memcpy(&value, bytes, sizeof value);
    return value;
}

bool tv_jit_dump_is_name(const char *path)
{
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
    size_t digits = strncmp(name, "jit-", 4) == 0 ? strspn(name + 4, "0123456789") : 0;
    return digits > 0 && strcmp(name + 4 + digits, ".dump") == 0;
}

static void jit_dump_add_line(struct jit_dump_reading *r, uint64_t start, uint64_t size, const char *name)
{
    size_t length = strnlen(name, JIT_NAME_MOST);
    if (r->length + JIT_LINE_NUMBERS + length + 2 > r->most)
        return;
    r->text = tv_array_reserve(r->text, &r->capacity, r->length + JIT_LINE_NUMBERS + length + 2, 1);
    r->length +=
        (size_t)snprintf(r->text + r->length, JIT_LINE_NUMBERS, "%" PRIx64 " %" PRIx64 " ", start, size);
    for (size_t i = 0; i < length; i++)
        r->text[r->length++] = name[i] == '\n' ? ' ' : name[i];
    r->text[r->length++] = '\n';
    r->text[r->length] = '\0';
}

static void jit_dump_read_load(struct jit_dump_reading *r, const uint8_t *body, size_t length)
{
    if (length <= JIT_LOAD_BODY || !memchr(body + JIT_LOAD_BODY, '\0', length - JIT_LOAD_BODY))
        return;
    const char *name = (const char *)body + JIT_LOAD_BODY;
    jit_dump_add_line(r, jit_dump_u64(body + 16), jit_dump_u64(body + 24), name);
    r->loaded =
        tv_array_reserve(r->loaded, &r->loaded_capacity, r->loaded_count + 1, sizeof *r->loaded);
    r->loaded[r->loaded_count++] = (struct jit_code_load){jit_dump_u64(body + 32), name};
}

/* Loads are numbered as they come, so the number is most often the place. */
static const char *jit_dump_name_of_load(const struct jit_dump_reading *r, uint64_t number)
{
    if (number < r->loaded_count && r->loaded[number].number == number)
        return r->loaded[number].name;
    return NULL;
}

static void jit_dump_read_move(struct jit_dump_reading *r, const uint8_t *body, size_t length)
{
    const char *name = length >= JIT_MOVE_BODY ? jit_dump_name_of_load(r, jit_dump_u64(body + 40)) : NULL;
    if (name)
        jit_dump_add_line(r, jit_dump_u64(body + 24), jit_dump_u64(body + 32), name);
}

char *tv_jit_dump_to_map(struct tv_bytes dump)
{
    struct jit_dump_reading reading = {.text = NULL};
    if (dump.length < JIT_DUMP_HEADER || jit_dump_u32(dump.data) != JIT_DUMP_MAGIC || jit_dump_u32(dump.data + 8) < JIT_DUMP_HEADER ||
        jit_dump_u32(dump.data + 8) > dump.length)
        return NULL;
    size_t at = jit_dump_u32(dump.data + 8);
    reading.most = dump.length < TEXT_MOST / TEXT_TIMES ? dump.length * TEXT_TIMES : TEXT_MOST;
    while (dump.length - at >= JIT_RECORD_PREFIX) {
        const uint8_t *record = dump.data + at;
        uint32_t kind = jit_dump_u32(record), size = jit_dump_u32(record + 4);
        if (size < JIT_RECORD_PREFIX || size > dump.length - at)
            break;
        if (kind == JIT_CODE_LOAD)
            jit_dump_read_load(&reading, record + JIT_RECORD_PREFIX, size - JIT_RECORD_PREFIX);
        else if (kind == JIT_CODE_MOVE)
            jit_dump_read_move(&reading, record + JIT_RECORD_PREFIX, size - JIT_RECORD_PREFIX);
        at += size;
    }
    tv_free(reading.loaded);
    return reading.text ? reading.text : tv_alloc(1, 1);
}
