/* SPDX-License-Identifier: Apache-2.0 */
/*
 * method_table.c - the tables that turn a recorded number or address into a method's name.
 *
 * The code runs inside the traced program, so memory comes from mmap and not from the program's
 * malloc.  A table that cannot grow keeps what it has and answers 0.
 *
 * A method table is the *methods section in the making: the lines one after the other, and where
 * each of them ends.  Method n is the n-th line, so a number never changes and none is freed:
 *
 *     text:   "Main\tmain\t()V\tMain.java\t3" "Parser\tparse\t()V\tParser.java\t40" ...
 *     ends:                                  ^1                                   ^2
 *     index:  0 0 2 0 1 0 ...    number of a method by the hash of its line up to the file
 *
 * The index knows only methods that came through tv_method_table_find_or_add.  An address table
 * maps addresses (or keys of the module history) to such numbers.  Both hash tables probe linearly,
 * have a power of two slots and stay at most half full: every search meets a free slot and ends.
 *
 * With a names file every addition is also appended to that file, so that a recording whose
 * process is killed can still be recovered with its names.
 */
#include "recorder/method_table.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "recorder/memory.h"
#include "recorder/output_file.h"
#include "recorder/recording.h"

#define METHOD_TEXT_FIRST ((size_t)1 << 16)
#define METHOD_TABLE_FIRST 4096u

/* Double the mapping until it holds `needed` bytes, from `first` bytes on.  False: no memory; the
 * mapping is unchanged. */
static bool method_table_grow(void **pages, size_t *size, size_t needed, size_t first)
{
    size_t next = *size == 0 ? first : *size;
    while (next < needed)
        next *= 2;
    if (next == *size)
        return true;
    void *grown = tv_mmap_grow(*pages, *size, next);
    if (!grown)
        return false;
    *pages = grown;
    *size = next;
    return true;
}

/* Append text to a line.  The separators of the format become blanks.  Text is cut so that at
 * least 64 bytes stay free for the tabs and the number that method_line_format adds. */
static size_t method_line_put(char *line, size_t used, const char *text)
{
    for (; text && *text && used < TV_METHOD_LINE - 64; text++)
        line[used++] = *text == '\t' || *text == '\n' || *text == '\r' ? ' ' : *text;
    return used;
}

/* Return the length of a line without the number of its first source line, which is after the
 * fourth tab. */
static size_t method_line_key_length(const char *line, size_t length)
{
    const char *at = line;
    for (unsigned tabs = 0; tabs < 4 && at; tabs++)
        if ((at = memchr(at, '\t', length - (size_t)(at - line))))
            at++;
    return at ? (size_t)(at - line) - 1 : length;
}

/* Format a method's line and return its length; `*key` is its length without the source line. */
static size_t method_line_format(char line[TV_METHOD_LINE],
                                 const struct tv_recording_method *method, size_t *key)
{
    size_t used = method_line_put(line, 0, method->class_name);
    line[used++] = '\t';
    used = method_line_put(line, used, method->name);
    line[used++] = '\t';
    used = method_line_put(line, used, method->signature);
    line[used++] = '\t';
    used = method_line_put(line, used, method->file);
    *key = used;
    assert(used <= TV_METHOD_LINE - 32);
    if (method->line > 0)
        used += (size_t)snprintf(line + used, TV_METHOD_LINE - used, "\t%d", method->line);
    return used;
}

uint32_t tv_method_table_add(struct tv_method_table *list, const struct tv_recording_method *method)
{
    char line[TV_METHOD_LINE];
    size_t key, length = method_line_format(line, method, &key);
    return tv_method_table_add_line(list, line, length);
}

/* Return the slot of the method whose line begins with the key, or the free slot for it.  The key
 * must end where the line ends or at a tab: "a.c" is not the file of "a.cc". */
static uint32_t *method_table_slot(const struct tv_method_table *list, const char *key,
                                   size_t length)
{
    assert(list->index_room > 0 && (list->index_room & (list->index_room - 1)) == 0);
    uint64_t hash = UINT64_C(0xCBF29CE484222325); /* FNV-1a */
    for (size_t i = 0; i < length; i++)
        hash = (hash ^ (uint8_t)key[i]) * UINT64_C(0x100000001B3);
    uint32_t at = (uint32_t)(hash ^ hash >> 32) & (list->index_room - 1);
    for (; list->index[at] != 0; at = (at + 1) & (list->index_room - 1)) {
        size_t of_line;
        const char *line = tv_method_table_line(list, list->index[at], &of_line);
        if (of_line >= length && memcmp(line, key, length) == 0 &&
            (of_line == length || line[length] == '\t'))
            break;
    }
    return &list->index[at];
}

/* Keep half of the index free. */
static bool method_table_grow_index(struct tv_method_table *list)
{
    struct tv_method_table wider = *list;
    if (list->indexed < list->index_room / 2)
        return true;
    wider.index_room = list->index_room == 0 ? METHOD_TABLE_FIRST : list->index_room * 2;
    wider.index = tv_mmap_alloc(wider.index_room * sizeof *wider.index);
    if (!wider.index)
        return false;
    for (uint32_t i = 0; i < list->index_room; i++) {
        size_t length;
        if (list->index[i] == 0)
            continue;
        const char *line = tv_method_table_line(list, list->index[i], &length);
        *method_table_slot(&wider, line, method_line_key_length(line, length)) = list->index[i];
    }
    tv_mmap_free(list->index, list->index_room * sizeof *list->index);
    *list = wider;
    return true;
}

/* The line number is not part of the key: one function reached at two lines is one method, with the
 * line that was seen first. */
uint32_t tv_method_table_find_or_add(struct tv_method_table *list,
                                     const struct tv_recording_method *method)
{
    char line[TV_METHOD_LINE];
    size_t key, length = method_line_format(line, method, &key);
    if (!method_table_grow_index(list))
        return tv_method_table_add_line(list, line, length);
    uint32_t *known = method_table_slot(list, line, key);
    if (*known == 0) {
        *known = tv_method_table_add_line(list, line, length);
        list->indexed += *known != 0;
    }
    return *known;
}

static void method_table_write_name(const struct tv_method_table *list, const char *line,
                                    size_t length)
{
    char text[TV_METHOD_LINE + 3];
    memcpy(text, "M\t", 2);
    memcpy(text + 2, line, length);
    text[length + 2] = '\n';
    tv_output_file_append(list->names, text,
                          length + 3); /* tv_recorder_check_names_file reports errors */
}

/* Each array is stored back as soon as it has grown: when the second one fails, the first one keeps
 * its larger mapping and nothing leaks. */
uint32_t tv_method_table_add_line(struct tv_method_table *list, const char *line, size_t length)
{
    assert(list->used <= list->size && list->count <= list->room);
    void *text = list->text, *ends = list->ends;
    size_t ends_size = list->room * sizeof *list->ends;
    if (length > TV_METHOD_LINE || list->count >= TV_METHODS_LIMIT)
        return 0;
    if (!method_table_grow(&text, &list->size, list->used + length, METHOD_TEXT_FIRST))
        return 0;
    list->text = text;
    if (!method_table_grow(&ends, &ends_size, (list->count + (size_t)1) * sizeof *list->ends,
                           METHOD_TABLE_FIRST * sizeof *list->ends))
        return 0;
    list->ends = ends;
    list->room = (uint32_t)(ends_size / sizeof *list->ends);
    memcpy(list->text + list->used, line, length);
    list->used += length;
    list->ends[list->count++] = list->used;
    if (list->names)
        method_table_write_name(list, line, length);
    return list->count;
}

void tv_method_table_release(struct tv_method_table *list)
{
    tv_mmap_free(list->text, list->size);
    tv_mmap_free(list->ends, list->room * sizeof *list->ends);
    tv_mmap_free(list->index, list->index_room * sizeof *list->index);
    *list = (struct tv_method_table){0};
}

const char *tv_method_table_line(const struct tv_method_table *list, uint32_t number,
                                 size_t *length)
{
    assert(number > 0 && number <= list->count);
    size_t start = number > 1 ? list->ends[number - 2] : 0;
    *length = list->ends[number - 1] - start;
    return list->text + start;
}

void tv_method_table_write_names(const struct tv_method_table *list)
{
    for (uint32_t number = 1; number <= list->count; number++) {
        size_t length;
        const char *line = tv_method_table_line(list, number, &length);
        method_table_write_name(list, line, length);
    }
}

/* Return the place of an address's number, claiming a free slot for a new address: its number is
 * then 0, and the caller sets it. */
static uint32_t *address_table_slot(const struct tv_address_table *list, uint64_t address)
{
    assert(address != 0 && (list->room & (list->room - 1)) == 0);
    uint32_t at = (uint32_t)(address * UINT64_C(0x9E3779B97F4A7C15) >> 32) & (list->room - 1);
    while (list->addresses[at] != 0 && list->addresses[at] != address)
        at = (at + 1) & (list->room - 1);
    list->addresses[at] = address;
    return &list->numbers[at];
}

/* Double the table.  Memory is mapped, not allocated: the host's allocator may be the one that is
 * being recorded. */
static bool address_table_grow(struct tv_address_table *list)
{
    struct tv_address_table wider = {.room = list->room ? list->room * 2 : METHOD_TABLE_FIRST};
    wider.addresses = tv_mmap_alloc(wider.room * sizeof *wider.addresses);
    wider.numbers = tv_mmap_alloc(wider.room * sizeof *wider.numbers);
    if (!wider.addresses || !wider.numbers) {
        tv_address_table_release(&wider);
        return false;
    }
    for (uint32_t i = 0; i < list->room; i++)
        if (list->addresses[i] != 0)
            *address_table_slot(&wider, list->addresses[i]) = list->numbers[i];
    wider.count = list->count;
    tv_address_table_release(list);
    *list = wider;
    return true;
}

static void address_table_write_name(const struct tv_method_table *methods, uint64_t address,
                                     uint32_t number)
{
    char line[64];
    int length = snprintf(line, sizeof line, "A\t%llx\t%x\n", (unsigned long long)address, number);
    tv_output_file_append(methods->names, line, (size_t)length);
}

void tv_address_table_write_names(const struct tv_address_table *list,
                                  const struct tv_method_table *methods)
{
    for (uint32_t i = 0; i < list->room; i++)
        if (list->addresses[i] != 0 && list->numbers[i] != 0)
            address_table_write_name(methods, list->addresses[i], list->numbers[i]);
}

bool tv_address_table_set(struct tv_address_table *list, uint64_t address, uint32_t number)
{
    if (address == 0 || (list->count * 2 >= list->room && !address_table_grow(list)))
        return false;
    uint32_t *known = address_table_slot(list, address);
    list->count += *known == 0;
    *known = number;
    return true;
}

uint32_t tv_address_table_find_or_add(struct tv_address_table *list,
                                      struct tv_method_table *methods, tv_address_namer namer,
                                      uint64_t address)
{
    char room[TV_METHOD_LINE], hex[32];
    if (address == 0 || (list->count * 2 >= list->room && !address_table_grow(list)))
        return 0;
    uint32_t *number = address_table_slot(list, address);
    if (*number != 0)
        return *number;
    snprintf(hex, sizeof hex, "0x%llx", (unsigned long long)address);
    struct tv_recording_method method = {.class_name = "", .name = hex};
    if (namer)
        namer(address, &method, room, sizeof room);
    *number = tv_method_table_add(methods, &method);
    list->count++;
    if (methods->names && *number != 0)
        address_table_write_name(methods, address, *number);
    return *number;
}

void tv_address_table_release(struct tv_address_table *list)
{
    tv_mmap_free(list->addresses, list->room * sizeof *list->addresses);
    tv_mmap_free(list->numbers, list->room * sizeof *list->numbers);
    *list = (struct tv_address_table){0};
}

/* ---- Module history ---- */

#define ADDRESS_BITS 48
#define ADDRESS_MASK ((UINT64_C(1) << ADDRESS_BITS) - 1)

/* `from` tells a file that was loaded twice at one address from the same file seen again. */
static struct tv_module_span *module_history_find_same(const struct tv_module_history *history,
                                                       const struct tv_module_span *span)
{
    for (uint32_t i = 0; i < history->count; i++) {
        struct tv_module_span *known = &history->list[i];
        if (known->start == span->start && known->end == span->end && known->from == span->from &&
            strcmp(known->path, span->path) == 0)
            return known;
    }
    return NULL;
}

bool tv_module_history_add(struct tv_module_history *history, const struct tv_module_span *span)
{
    struct tv_module_span *same = module_history_find_same(history, span);
    if (!history->list)
        history->list = tv_mmap_alloc(TV_MODULE_SPANS_MAX * sizeof *history->list);
    if (same)
        *same = *span;
    if (same || !history->list || history->count == TV_MODULE_SPANS_MAX)
        return same != NULL;
    history->list[history->count++] = *span;
    return true;
}

void tv_module_history_release(struct tv_module_history *history)
{
    tv_mmap_free(history->list, TV_MODULE_SPANS_MAX * sizeof *history->list);
    *history = (struct tv_module_history){0};
}

static bool module_span_contains(const struct tv_module_span *span, uint64_t address)
{
    return address >= span->start && address < span->end;
}

/* Return the only file that ever contained the address.  Several loads of one path count as one
 * file, since each gives the address the same meaning within it. */
static uint32_t module_history_find_only(const struct tv_module_history *history, uint64_t address)
{
    uint32_t found = 0;
    for (uint32_t i = 0; i < history->count; i++) {
        if (!module_span_contains(&history->list[i], address))
            continue;
        if (found != 0 && strcmp(history->list[found - 1].path, history->list[i].path) != 0)
            return 0;
        found = i + 1;
    }
    return found;
}

/* A file covers the times (from, to]: it was loaded after `from`. */
static bool module_span_covers(const struct tv_module_span *span, uint64_t address, uint64_t ticks)
{
    return module_span_contains(span, address) && ticks > span->from && ticks <= span->to;
}

uint32_t tv_module_history_find(struct tv_module_history *history, uint64_t address, uint64_t ticks)
{
    assert(history->recent <= history->count);
    if (ticks == TV_MODULE_TIME_NONE)
        return module_history_find_only(history, address);
    if (history->recent > 0 &&
        module_span_covers(&history->list[history->recent - 1], address, ticks))
        return history->recent;
    for (uint32_t i = 0; i < history->count; i++)
        if (module_span_covers(&history->list[i], address, ticks))
            return history->recent = i + 1;
    return 0;
}

uint64_t tv_module_history_key(struct tv_module_history *history, uint64_t address, uint64_t ticks)
{
    if (address > ADDRESS_MASK)
        return address;
    return address | (uint64_t)tv_module_history_find(history, address, ticks) << ADDRESS_BITS;
}

const struct tv_module_span *tv_module_history_span(const struct tv_module_history *history,
                                                    uint64_t key)
{
    uint64_t number = key >> ADDRESS_BITS;
    return number > 0 && number <= history->count ? &history->list[number - 1] : NULL;
}

uint64_t tv_module_key_address(uint64_t key)
{
    return key & ADDRESS_MASK;
}

void tv_module_history_name(const struct tv_module_history *history, uint64_t key,
                            struct tv_recording_method *method, char *room, size_t size)
{
    const struct tv_module_span *span = tv_module_history_span(history, key);
    uint64_t address = span ? tv_module_key_address(key) - span->bias : key;
    snprintf(room, size, "0x%llx", (unsigned long long)address);
    method->name = room;
    if (!span)
        return;
    const char *slash = strrchr(span->path, '/');
    method->class_name = slash ? slash + 1 : span->path;
    method->file = span->path;
}
