/* SPDX-License-Identifier: Apache-2.0 */
/* jit_dump.c - see jit_dump.h. */
#include "perf/jit_dump.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"

#define MAGIC 0x4A695444u
#define HEADER 40u
#define PREFIX 16u /* of a record: kind, size, time */
#define LOAD_BODY 40u
#define MOVE_BODY 48u
#define LINE 48u /* two numbers of 16 digits and what parts them */
#define NAME_MOST 4096u

/* A move is short, and repeats the name of a load, which may be long: the text is no more than so
 * many times the file, or than so much. */
#define TEXT_TIMES 8u
#define TEXT_MOST ((size_t)512 << 20)

enum record_kind { CODE_LOAD, CODE_MOVE };

/* Code that was moved keeps its name: the number of its load tells which. */
struct loaded {
    uint64_t number;
    const char *name;
};

struct reading {
    char *text;
    size_t length, capacity, most;
    struct loaded *loaded;
    size_t loaded_count, loaded_capacity;
};

static uint32_t u32_at(const uint8_t *bytes)
{
    uint32_t value;
    memcpy(&value, bytes, sizeof value);
    return value;
}

static uint64_t u64_at(const uint8_t *bytes)
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

static void add_line(struct reading *r, uint64_t start, uint64_t size, const char *name)
{
    size_t length = strnlen(name, NAME_MOST);
    if (r->length + LINE + length + 2 > r->most)
        return;
    r->text = tv_array_reserve(r->text, &r->capacity, r->length + LINE + length + 2, 1);
    r->length +=
        (size_t)snprintf(r->text + r->length, LINE, "%" PRIx64 " %" PRIx64 " ", start, size);
    for (size_t i = 0; i < length; i++)
        r->text[r->length++] = name[i] == '\n' ? ' ' : name[i];
    r->text[r->length++] = '\n';
    r->text[r->length] = '\0';
}

static void read_load(struct reading *r, const uint8_t *body, size_t length)
{
    if (length <= LOAD_BODY || !memchr(body + LOAD_BODY, '\0', length - LOAD_BODY))
        return;
    const char *name = (const char *)body + LOAD_BODY;
    add_line(r, u64_at(body + 16), u64_at(body + 24), name);
    r->loaded =
        tv_array_reserve(r->loaded, &r->loaded_capacity, r->loaded_count + 1, sizeof *r->loaded);
    r->loaded[r->loaded_count++] = (struct loaded){u64_at(body + 32), name};
}

/* Loads are numbered as they come, so the number is most often the place. */
static const char *name_of_load(const struct reading *r, uint64_t number)
{
    if (number < r->loaded_count && r->loaded[number].number == number)
        return r->loaded[number].name;
    return NULL;
}

static void read_move(struct reading *r, const uint8_t *body, size_t length)
{
    const char *name = length >= MOVE_BODY ? name_of_load(r, u64_at(body + 40)) : NULL;
    if (name)
        add_line(r, u64_at(body + 24), u64_at(body + 32), name);
}

char *tv_jit_dump_to_map(struct tv_bytes dump)
{
    struct reading reading = {.text = NULL};
    if (dump.length < HEADER || u32_at(dump.data) != MAGIC || u32_at(dump.data + 8) < HEADER ||
        u32_at(dump.data + 8) > dump.length)
        return NULL;
    size_t at = u32_at(dump.data + 8);
    reading.most = dump.length < TEXT_MOST / TEXT_TIMES ? dump.length * TEXT_TIMES : TEXT_MOST;
    while (dump.length - at >= PREFIX) {
        const uint8_t *record = dump.data + at;
        uint32_t kind = u32_at(record), size = u32_at(record + 4);
        if (size < PREFIX || size > dump.length - at)
            break;
        if (kind == CODE_LOAD)
            read_load(&reading, record + PREFIX, size - PREFIX);
        else if (kind == CODE_MOVE)
            read_move(&reading, record + PREFIX, size - PREFIX);
        at += size;
    }
    tv_free(reading.loaded);
    return reading.text ? reading.text : tv_alloc(1, 1);
}
