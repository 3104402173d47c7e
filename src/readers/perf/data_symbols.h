/* SPDX-License-Identifier: Apache-2.0 */
/*
 * data_symbols.h - the symbols that simpleperf puts into its perf.data files, for each program and
 * library: addresses become names without the phone.
 */
#ifndef TV_READERS_PERF_DATA_SYMBOLS_H
#define TV_READERS_PERF_DATA_SYMBOLS_H

#include "readers/perf/data_file.h"

/* Kinds of files, as simpleperf numbers them. */
enum tv_perf_module_kind {
    TV_PERF_FILE_KERNEL,
    TV_PERF_FILE_KERNEL_MODULE,
    TV_PERF_FILE_ELF,
    TV_PERF_FILE_DEX,
    TV_PERF_FILE_SYMBOL_MAP,
    TV_PERF_FILE_UNKNOWN,
};

struct perf_symbol {
    uint64_t start, length;
    struct tv_bytes name; /* mangled */
};

struct perf_module {
    struct tv_bytes path;
    uint64_t kind; /* enum tv_perf_module_kind */
    uint64_t least_address, offset_of_least, memory_offset;
    bool has_offset;
    size_t first, count; /* in the symbols, sorted by address */
};

struct tv_perf_symbols {
    struct perf_module *modules;
    struct perf_symbol *symbols;
    size_t module_count, module_capacity, symbol_count, symbol_capacity;
    size_t damaged; /* modules that could not be read to their end */
};

/* Read the features FILE and FILE2. */
void tv_perf_symbols_read(struct tv_perf_symbols *symbols, const struct tv_perf_data_file *file);
void tv_perf_symbols_release(struct tv_perf_symbols *symbols);

/* Return the address in the module's own terms of an address that is mapped from `start` on with an
 * offset of its file. */
uint64_t tv_perf_module_address(const struct perf_module *module, uint64_t address, uint64_t start,
                                uint64_t page_offset);

/* Return the symbol at an address of the module, or NULL. */
const struct perf_symbol *tv_perf_symbols_find(const struct tv_perf_symbols *symbols,
                                               const struct perf_module *module, uint64_t address);

#endif
