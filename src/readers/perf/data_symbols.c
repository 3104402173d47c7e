/* SPDX-License-Identifier: Apache-2.0 */
/*
 * data_symbols.c - the symbols in perf.data files of simpleperf (Android).
 *
 *     feature FILE2   u32 size, message | u32 size, message ...       protobuf, newer versions
 *                     1 path, 2 kind, 3 least address, 4 symbol {1 start, 2 length, 3 name},
 *                     6 {1 offset of the least address}, 7 {1 memory offset of a kernel module}
 *     feature FILE    u32 size, struct | u32 size, struct ...         older versions
 *                     path with NUL, u32 kind, u64 least address, u32 count,
 *                     symbols {u64 start, u32 length, name with NUL}, u64 offset of the least one
 *
 * Symbols of all modules are one array; each module has a range of it, sorted by address. Names and
 * paths are views of the file. A damaged module keeps the symbols before the damage, and counts
 * in `damaged`.
 */
#include "readers/perf/perf_data.h"

#include <assert.h>

#include "base/memory.h"
#include "base/protobuf.h"
#include "base/sort.h"

/* Add a module whose symbols come next. The pointer is valid until the next module is added. */
static struct perf_module *perf_symbols_add_module(struct tv_perf_symbols *symbols)
{
    symbols->modules = tv_array_reserve(symbols->modules, &symbols->module_capacity,
                                        symbols->module_count + 1, sizeof *symbols->modules);
    struct perf_module *module = &symbols->modules[symbols->module_count++];
    *module = (struct perf_module){.kind = TV_PERF_FILE_UNKNOWN, .first = symbols->symbol_count};
    return module;
}

static void perf_symbols_add(struct tv_perf_symbols *symbols, struct perf_symbol symbol)
{
    symbols->symbols = tv_array_reserve(symbols->symbols, &symbols->symbol_capacity,
                                        symbols->symbol_count + 1, sizeof *symbols->symbols);
    symbols->symbols[symbols->symbol_count++] = symbol;
}

/* Sort the symbols of a module that is complete. */
static void perf_symbols_end_module(struct tv_perf_symbols *symbols, struct perf_module *module)
{
    assert(module->first <= symbols->symbol_count);
    size_t count = symbols->symbol_count - module->first;
    module->count = count;
    if (count == 0)
        return;
    struct perf_symbol *all = &symbols->symbols[module->first];
    struct perf_symbol *sorted = tv_alloc(count, sizeof *sorted);
    struct tv_sort_key *keys = tv_alloc(count, sizeof *keys);
    for (size_t i = 0; i < count; i++)
        keys[i] = (struct tv_sort_key){all[i].start, i};
    tv_sort_keys(keys, count);
    for (size_t i = 0; i < count; i++)
        sorted[i] = all[keys[i].index];
    memcpy(all, sorted, count * sizeof *sorted);
    tv_free(sorted);
    tv_free(keys);
}

/* ---- FILE2: messages ---- */

/* Take a symbol {1 address, 2 length, 3 name}. */
static void perf_symbols_take_symbol(struct tv_perf_symbols *symbols, struct tv_bytes message)
{
    struct tv_cursor cursor = tv_cursor_over(message);
    struct tv_protobuf_field field;
    struct perf_symbol symbol = {.name = {message.data, 0}};
    while (tv_protobuf_next(&cursor, &field)) {
        if (field.number == 1)
            symbol.start = field.value;
        else if (field.number == 2)
            symbol.length = field.value;
        else if (field.number == 3)
            symbol.name = field.bytes;
    }
    perf_symbols_add(symbols, symbol);
}

/* Return the number in field 1 of a message. */
static uint64_t perf_message_number(struct tv_bytes message)
{
    struct tv_cursor cursor = tv_cursor_over(message);
    struct tv_protobuf_field field;
    uint64_t number = 0;
    while (tv_protobuf_next(&cursor, &field))
        if (field.number == 1)
            number = field.value;
    return number;
}

static void perf_symbols_read_message(struct tv_perf_symbols *symbols, struct tv_bytes message)
{
    struct tv_cursor cursor = tv_cursor_over(message);
    struct tv_protobuf_field field;
    struct perf_module *module = perf_symbols_add_module(symbols);
    module->kind = TV_PERF_FILE_KERNEL; /* 0 is not written */
    while (tv_protobuf_next(&cursor, &field)) {
        switch (field.number) {
        case 1:
            module->path = field.bytes;
            break;
        case 2:
            module->kind = field.value;
            break;
        case 3:
            module->least_address = field.value;
            break;
        case 4:
            perf_symbols_take_symbol(symbols, field.bytes);
            break;
        case 6:
            module->offset_of_least = perf_message_number(field.bytes);
            module->has_offset = true;
            break;
        case 7:
            module->memory_offset = perf_message_number(field.bytes);
            break;
        default:
            break;
        }
    }
    symbols->damaged += !tv_protobuf_is_sound(&cursor);
    perf_symbols_end_module(symbols, module);
}

static void perf_symbols_read_messages(struct tv_perf_symbols *symbols, struct tv_bytes section)
{
    struct tv_cursor cursor = tv_cursor_over(section);
    struct tv_bytes message;
    uint32_t size;
    while (tv_cursor_take_u32(&cursor, &size) && tv_cursor_take_bytes(&cursor, size, &message))
        perf_symbols_read_message(symbols, message);
    symbols->damaged += tv_cursor_left(&cursor) > 0;
}

/* ---- FILE: structs ---- */

/* Take a text that ends with a zero byte. */
static bool perf_take_zero_text(struct tv_cursor *cursor, struct tv_bytes *text)
{
    size_t left = tv_cursor_left(cursor);
    const uint8_t *end = left > 0 ? memchr(cursor->at, 0, left) : NULL;
    struct tv_bytes whole;
    if (!end || !tv_cursor_take_bytes(cursor, (size_t)(end - cursor->at) + 1, &whole))
        return false;
    *text = (struct tv_bytes){whole.data, whole.length - 1};
    return true;
}

/* Read the symbols of a module {path, kind, lowest address, count, symbols, offset}.  What was read
 * before damage stays. */
static bool perf_symbols_read_struct(struct tv_perf_symbols *symbols, struct tv_bytes bytes)
{
    struct tv_cursor cursor = tv_cursor_over(bytes);
    struct perf_module *module = perf_symbols_add_module(symbols);
    uint32_t kind = TV_PERF_FILE_UNKNOWN, count = 0;
    bool sound =
        perf_take_zero_text(&cursor, &module->path) && tv_cursor_take_u32(&cursor, &kind) &&
        tv_cursor_take_u64(&cursor, &module->least_address) && tv_cursor_take_u32(&cursor, &count);
    module->kind = kind;
    for (uint32_t i = 0; sound && i < count; i++) {
        struct perf_symbol symbol = {.start = 0};
        uint32_t length = 0;
        sound = tv_cursor_take_u64(&cursor, &symbol.start) &&
                tv_cursor_take_u32(&cursor, &length) && perf_take_zero_text(&cursor, &symbol.name);
        symbol.length = length;
        if (sound)
            perf_symbols_add(symbols, symbol);
    }
    module->has_offset =
        sound && kind == TV_PERF_FILE_ELF && tv_cursor_take_u64(&cursor, &module->offset_of_least);
    perf_symbols_end_module(symbols, module);
    return sound;
}

static void perf_symbols_read_structs(struct tv_perf_symbols *symbols, struct tv_bytes section)
{
    struct tv_cursor cursor = tv_cursor_over(section);
    struct tv_bytes bytes;
    uint32_t size;
    while (tv_cursor_take_u32(&cursor, &size) && tv_cursor_take_bytes(&cursor, size, &bytes))
        symbols->damaged += !perf_symbols_read_struct(symbols, bytes);
    symbols->damaged += tv_cursor_left(&cursor) > 0;
}

void tv_perf_symbols_read(struct tv_perf_symbols *symbols, const struct tv_perf_data_file *file)
{
    *symbols = (struct tv_perf_symbols){.module_count = 0};
    perf_symbols_read_messages(symbols, file->features[TV_PERF_FEATURE_FILE2]);
    perf_symbols_read_structs(symbols, file->features[TV_PERF_FEATURE_FILE]);
}

void tv_perf_symbols_release(struct tv_perf_symbols *symbols)
{
    tv_free(symbols->modules);
    tv_free(symbols->symbols);
}

/* ---- Addresses ---- */

/* Symbols have the addresses of the ELF file, which begin at least_address and not at 0. An old
 * recording does not tell where in the file that is; then the mapping is taken for the first one.
 */
uint64_t tv_perf_module_address(const struct perf_module *module, uint64_t address, uint64_t start,
                                uint64_t page_offset)
{
    switch (module->kind) {
    case TV_PERF_FILE_KERNEL:
        return address;
    case TV_PERF_FILE_KERNEL_MODULE:
        return address - start - module->memory_offset + module->least_address;
    case TV_PERF_FILE_ELF:
        if (!module->has_offset)
            return address - start + module->least_address;
        return address - start + page_offset - module->offset_of_least + module->least_address;
    default:
        return address - start + page_offset;
    }
}

const struct perf_symbol *tv_perf_symbols_find(const struct tv_perf_symbols *symbols,
                                               const struct perf_module *module, uint64_t address)
{
    size_t first = module->first, after = first;
    TV_LOWER_BOUND(after, first + module->count, i, symbols->symbols[i].start <= address);
    if (after == first)
        return NULL;
    const struct perf_symbol *found = &symbols->symbols[after - 1];
    return address - found->start < found->length ? found : NULL;
}

/* ---- Build IDs: perf_data.h draws their record ---- */

#define HAS_SIZE (1u << 15) /* of misc */
#define ID_ROOM 24
#define ID_SIZE 20 /* also the place of the size */

void tv_perf_build_ids_add(struct tv_perf_build_ids *ids, uint16_t misc, struct tv_bytes payload)
{
    struct tv_cursor cursor = tv_cursor_over(payload);
    struct perf_build_id added;
    struct tv_bytes path;
    uint32_t pid;
    if (!tv_cursor_take_u32(&cursor, &pid) || !tv_cursor_take_bytes(&cursor, ID_ROOM, &added.id) ||
        !tv_cursor_take_bytes(&cursor, tv_cursor_left(&cursor), &path))
        return;
    uint8_t size = added.id.data[ID_SIZE];
    added.id.length = (misc & HAS_SIZE) && size < ID_SIZE ? size : ID_SIZE;
    added.path = tv_perf_text(path);
    ids->ids = tv_array_reserve(ids->ids, &ids->capacity, ids->count + 1, sizeof *ids->ids);
    ids->ids[ids->count++] = added;
}

bool tv_perf_build_ids_read(struct tv_perf_build_ids *ids, struct tv_bytes feature)
{
    struct tv_cursor cursor = tv_cursor_over(feature);
    struct tv_bytes payload;
    uint32_t type;
    uint16_t misc, size;
    while (tv_cursor_take_u32(&cursor, &type) && tv_cursor_take_u16(&cursor, &misc) &&
           tv_cursor_take_u16(&cursor, &size)) {
        if (size < 8 || !tv_cursor_take_bytes(&cursor, size - 8u, &payload))
            return false;
        tv_perf_build_ids_add(ids, misc, payload);
    }
    return tv_cursor_left(&cursor) == 0;
}

void tv_perf_build_ids_release(struct tv_perf_build_ids *ids)
{
    tv_free(ids->ids);
}
