/* SPDX-License-Identifier: Apache-2.0 */
/* symbol_list.c - symbols of kallsyms, perf map files and jitdump files (symbol_list.h).
 *
 * A list owns one text and an array of symbols that point into it by offset. A jitdump file is
 * first converted into the text of a map file, so there is one parser for both:
 *
 *     load  address 7f0012345000, size 416, number 0, "LazyCompile:~parse app.js:7"
 *     move  to 7f0012390000, size 416, number 0
 *        --> "7f0012345000 1a0 LazyCompile:~parse app.js:7"
 *            "7f0012390000 1a0 LazyCompile:~parse app.js:7"
 *
 * Code is replaced during a run. As the recording does not tell which code a sample hit, the last
 * name of an address is taken, as perf does. A line that cannot be parsed is skipped. */
#define _GNU_SOURCE
#include "perf/symbol_list.h"

#include <assert.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/memory.h"
#include "base/sort.h"

/* The map file of a long-running node has about 50 MB. */
#define SYMBOL_FILE_MAX ((size_t)512 << 20)
#define SYMBOL_FILE_FIRST ((size_t)1 << 20)

/* Sort by start. Of two symbols at one start the later line counts: the code was replaced. */
static int symbol_list_compare(const void *left, const void *right)
{
    const struct tv_symbol *a = left, *b = right;
    if (a->start != b->start)
        return a->start < b->start ? -1 : 1;
    return a->line < b->line ? -1 : a->line > b->line;
}

static void symbol_list_add(struct tv_symbol_list *list, struct tv_symbol symbol)
{
    assert(symbol.start <= symbol.end);
    list->symbols =
        tv_array_reserve(list->symbols, &list->capacity, list->count + 1, sizeof *list->symbols);
    list->symbols[list->count] = symbol;
    list->symbols[list->count].line = list->count;
    list->count++;
}

/* Parse "START TYPE NAME[\tMODULE]"; keep functions only. */
static void symbol_list_parse_kernel_line(struct tv_symbol_list *list, char *line, size_t length)
{
    char *at;
    uint64_t start = strtoull(line, &at, 16);
    /* t, T: code; w, W: weak symbols. Start 0 means that we may not see addresses (kptr_restrict).
     */
    if (at == line || length - (size_t)(at - line) < 4 || start == 0 || !strchr("tTwW", at[1]))
        return;
    size_t name = (size_t)(at + 3 - list->text), size = strcspn(at + 3, "\t\n");
    symbol_list_add(list,
                    (struct tv_symbol){.start = start, .end = start, .name = name, .length = size});
}

/* Parse "START SIZE NAME". */
static void symbol_list_parse_map_line(struct tv_symbol_list *list, char *line, size_t length)
{
    char *at, *behind;
    uint64_t start = strtoull(line, &at, 16), size = at == line ? 0 : strtoull(at, &behind, 16);
    if (size == 0 || behind == at || *behind != ' ' || size > UINT64_MAX - start ||
        (size_t)(behind - line) + 1 >= length)
        return;
    symbol_list_add(list, (struct tv_symbol){
                              .start = start,
                              .end = start + size,
                              .name = (size_t)(behind + 1 - list->text),
                              .length = length - (size_t)(behind + 1 - line),
                          });
}

void tv_symbol_list_parse(struct tv_symbol_list *list, char *text, bool kernel)
{
    *list = (struct tv_symbol_list){.text = text};
    for (char *line = text; *line != '\0';) {
        size_t length = strcspn(line, "\n");
        bool more = line[length] == '\n';
        line[length] = '\0'; /* so that numbers end with their line */
        if (kernel)
            symbol_list_parse_kernel_line(list, line, length);
        else
            symbol_list_parse_map_line(list, line, length);
        line += length + more;
    }
    if (list->count > 0)
        qsort(list->symbols, list->count, sizeof *list->symbols, symbol_list_compare);
}

/* Read the whole file, and add a NUL; NULL when it is too large or cannot be read. */
static char *symbol_list_read_text(int file, size_t *size)
{
    size_t capacity = 0, length = 0;
    char *text = tv_array_reserve(NULL, &capacity, SYMBOL_FILE_FIRST, 1);
    for (;;) {
        ssize_t got = read(file, text + length, capacity - length - 1);
        if (got == 0)
            break;
        length += got > 0 ? (size_t)got : 0;
        if (got < 0 || length > SYMBOL_FILE_MAX) {
            tv_free(text);
            return NULL;
        }
        /* Files of /proc and of running programs have no size that can be trusted. */
        if (capacity - length < SYMBOL_FILE_FIRST / 2)
            text = tv_array_reserve(text, &capacity, capacity + SYMBOL_FILE_FIRST, 1);
    }
    text[length] = '\0';
    *size = length;
    return text;
}

/* Read a file whose owner is trusted; NULL when there is none. */
static char *symbol_list_read_trusted(const char *path, uint32_t owner, size_t *size)
{
    struct stat found;
    /* Anybody may create a name in /tmp: follow no link, and do not wait for a writer of a FIFO. */
    int file = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    if (file < 0)
        return NULL;
    bool trusted = fstat(file, &found) == 0 && S_ISREG(found.st_mode) &&
                   (found.st_uid == 0 || found.st_uid == geteuid() || found.st_uid == owner);
    char *text = trusted ? symbol_list_read_text(file, size) : NULL;
    close(file);
    return text;
}

bool tv_symbol_list_read_map(struct tv_symbol_list *list, const char *path, uint32_t owner)
{
    size_t size;
    char *text = symbol_list_read_trusted(path, owner, &size);
    *list = (struct tv_symbol_list){0};
    if (text)
        tv_symbol_list_parse(list, text, false);
    return text != NULL;
}

bool tv_symbol_list_read_dump(struct tv_symbol_list *list, const char *path, uint32_t owner)
{
    size_t size;
    char *bytes = symbol_list_read_trusted(path, owner, &size);
    char *text = bytes ? tv_jit_dump_to_map((struct tv_bytes){(uint8_t *)bytes, size}) : NULL;
    tv_free(bytes);
    *list = (struct tv_symbol_list){0};
    if (text)
        tv_symbol_list_parse(list, text, false);
    return text != NULL;
}

bool tv_symbol_list_read_kernel(struct tv_symbol_list *list)
{
    *list = (struct tv_symbol_list){0};
    int file = open("/proc/kallsyms", O_RDONLY | O_CLOEXEC);
    size_t size;
    char *text = file < 0 ? NULL : symbol_list_read_text(file, &size);
    if (file >= 0)
        close(file);
    if (text)
        tv_symbol_list_parse(list, text, true);
    return list->count > 0;
}

bool tv_symbol_list_has_kernel(void)
{
    char text[4096];
    int file = open("/proc/kallsyms", O_RDONLY | O_CLOEXEC);
    ssize_t length = file < 0 ? 0 : read(file, text, sizeof text - 1);
    if (file >= 0)
        close(file);
    text[length > 0 ? length : 0] = '\0';
    for (const char *line = text; line && *line != '\0'; line = strchr(line, '\n')) {
        line += *line == '\n';
        if (strtoull(line, NULL, 16) != 0)
            return true;
    }
    return false;
}

struct tv_bytes tv_symbol_list_find(const struct tv_symbol_list *list, uint64_t address)
{
    size_t low = 0; /* the first one after the address */
    TV_LOWER_BOUND(low, list->count, i, list->symbols[i].start <= address);
    if (low == 0)
        return (struct tv_bytes){NULL, 0};
    const struct tv_symbol *symbol = &list->symbols[low - 1];
    if (symbol->end != symbol->start && address >= symbol->end)
        return (struct tv_bytes){NULL, 0};
    return (struct tv_bytes){(const uint8_t *)list->text + symbol->name, symbol->length};
}

void tv_symbol_list_release(struct tv_symbol_list *list)
{
    tv_free(list->text);
    tv_free(list->symbols);
    *list = (struct tv_symbol_list){0};
}

/* ---- jitdump files ---- */

#define JIT_DUMP_MAGIC 0x4A695444u
#define JIT_DUMP_HEADER 40u
#define JIT_RECORD_PREFIX 16u /* start of a record: kind, size, time */
#define JIT_LOAD_BODY 40u
#define JIT_MOVE_BODY 48u
#define JIT_LINE_NUMBERS 48u /* two numbers of 16 digits, with separators */
#define JIT_NAME_MAX 4096u

/* Limits of the text: a move is a short record, but repeats the name of a load, which may be long.
 */
#define TEXT_TIMES 8u
#define TEXT_MAX ((size_t)512 << 20)

enum jit_record_kind { JIT_CODE_LOAD, JIT_CODE_MOVE };

/* A load record. Moved code keeps the name of the load with the same number. */
struct jit_code_load {
    uint64_t number;
    const char *name;
};

struct jit_dump_reading {
    char *text;
    size_t length, capacity, most; /* most: limit of the text's length */
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

/* Append a line of a map file, unless the text would exceed its limit. A line end in the name would
 * begin a line of its own, so it becomes a blank. */
static void jit_dump_add_line(struct jit_dump_reading *r, uint64_t start, uint64_t size,
                              const char *name)
{
    size_t length = strnlen(name, JIT_NAME_MAX);
    if (r->length + JIT_LINE_NUMBERS + length + 2 > r->most)
        return;
    r->text = tv_array_reserve(r->text, &r->capacity, r->length + JIT_LINE_NUMBERS + length + 2, 1);
    r->length += (size_t)snprintf(r->text + r->length, JIT_LINE_NUMBERS, "%" PRIx64 " %" PRIx64 " ",
                                  start, size);
    for (size_t i = 0; i < length; i++)
        r->text[r->length++] = name[i] == '\n' ? ' ' : name[i];
    r->text[r->length++] = '\n';
    r->text[r->length] = '\0';
}

/* Body: u32 process, u32 thread, u64 address, u64 code address at 16, u64 size at 24, u64 number at
 * 32, then the name. Without a NUL the record is skipped. */
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

/* Return the name of a load. Loads are numbered in file order, so the number is the index. */
static const char *jit_dump_name_of_load(const struct jit_dump_reading *r, uint64_t number)
{
    if (number < r->loaded_count && r->loaded[number].number == number)
        return r->loaded[number].name;
    return NULL;
}

/* Body: u32 process, u32 thread, u64 address, u64 old at 16, u64 new at 24, u64 size at 32, u64
 * number of the load at 40. A move of unknown code has no name and is skipped. */
static void jit_dump_read_move(struct jit_dump_reading *r, const uint8_t *body, size_t length)
{
    const char *name =
        length >= JIT_MOVE_BODY ? jit_dump_name_of_load(r, jit_dump_u64(body + 40)) : NULL;
    if (name)
        jit_dump_add_line(r, jit_dump_u64(body + 24), jit_dump_u64(body + 32), name);
}

char *tv_jit_dump_to_map(struct tv_bytes dump)
{
    struct jit_dump_reading reading = {.text = NULL};
    if (dump.length < JIT_DUMP_HEADER || jit_dump_u32(dump.data) != JIT_DUMP_MAGIC ||
        jit_dump_u32(dump.data + 8) < JIT_DUMP_HEADER || jit_dump_u32(dump.data + 8) > dump.length)
        return NULL;
    size_t at = jit_dump_u32(dump.data + 8);
    reading.most = dump.length < TEXT_MAX / TEXT_TIMES ? dump.length * TEXT_TIMES : TEXT_MAX;
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
