/* SPDX-License-Identifier: Apache-2.0 */
/* exported.c - see exported.h. */
#define _GNU_SOURCE
#include "recorder/native/exported.h"

#include <elf.h>
#include <link.h>
#include <string.h>

#include "recorder/native/code.h"

#define ENTRIES_MOST 256u /* of a dynamic section */
#define PIECE 1024u       /* symbols that are read at a time */
#define BUCKETS_MOST (1u << 24)
#define CHAIN_MOST (1u << 20)

struct tables {
    uint64_t symbols, strings, hash, gnu_hash;
};

/* The loader has put addresses here in place of the file's, but not for every machine and file. */
static uint64_t place(const ElfW(Dyn) * entry, uint64_t bias)
{
    return entry->d_un.d_ptr < bias ? entry->d_un.d_ptr + bias : entry->d_un.d_ptr;
}

static struct tables read_tables(uint64_t dynamic, uint64_t bias)
{
    struct tables tables = {0};
    ElfW(Dyn) entry;
    for (uint32_t i = 0; i < ENTRIES_MOST; i++) {
        if (!tv_code_read_memory(dynamic + i * sizeof entry, &entry, sizeof entry) ||
            entry.d_tag == DT_NULL)
            break;
        if (entry.d_tag == DT_SYMTAB)
            tables.symbols = place(&entry, bias);
        if (entry.d_tag == DT_STRTAB)
            tables.strings = place(&entry, bias);
        if (entry.d_tag == DT_HASH)
            tables.hash = place(&entry, bias);
        if (entry.d_tag == DT_GNU_HASH)
            tables.gnu_hash = place(&entry, bias);
    }
    return tables;
}

/* The last symbol is in the chain of the largest bucket, where it is marked. */
static uint32_t count_by_gnu_hash(uint64_t table)
{
    uint32_t head[4], piece[PIECE], last = 0, word = 0;
    if (!tv_code_read_memory(table, head, sizeof head) || head[0] > BUCKETS_MOST)
        return 0;
    uint64_t buckets = table + sizeof head + (uint64_t)head[2] * sizeof(ElfW(Addr));
    for (uint32_t at = 0; at < head[0]; at += PIECE) {
        uint32_t count = head[0] - at < PIECE ? head[0] - at : PIECE;
        if (!tv_code_read_memory(buckets + (uint64_t)at * 4, piece, count * sizeof *piece))
            return 0;
        for (uint32_t i = 0; i < count; i++)
            last = piece[i] > last ? piece[i] : last;
    }
    if (last < head[1])
        return head[1];
    uint64_t chains = buckets + (uint64_t)head[0] * 4;
    for (uint32_t i = 0; i < CHAIN_MOST && !(word & 1); i++, last++)
        if (!tv_code_read_memory(chains + (uint64_t)(last - head[1]) * 4, &word, sizeof word))
            return 0;
    return last;
}

static uint32_t count_symbols(const struct tables *tables)
{
    uint32_t head[2];
    if (tables->gnu_hash != 0)
        return count_by_gnu_hash(tables->gnu_hash);
    return tables->hash != 0 && tv_code_read_memory(tables->hash, head, sizeof head) ? head[1] : 0;
}

static bool names(const ElfW(Sym) * symbol, uint64_t address)
{
    unsigned type = symbol->st_info & 0xf;
    return symbol->st_value == address && symbol->st_shndx != SHN_UNDEF && symbol->st_name != 0 &&
           type != STT_TLS && type != STT_SECTION && type != STT_FILE;
}

/* Where its text is; 0: there is none. */
static uint64_t find(const struct tables *tables, uint64_t address)
{
    static ElfW(Sym) piece[PIECE];
    uint32_t symbols = count_symbols(tables);
    for (uint32_t at = 0; at < symbols; at += PIECE) {
        uint32_t count = symbols - at < PIECE ? symbols - at : PIECE;
        if (!tv_code_read_memory(tables->symbols + at * sizeof *piece, piece, count * sizeof *piece))
            return 0;
        for (uint32_t i = 0; i < count; i++)
            if (names(&piece[i], address))
                return tables->strings + piece[i].st_name;
    }
    return 0;
}

/* Up to the end of the room, or of what is there. */
static bool copy_text(uint64_t from, char *to, size_t size)
{
    size_t length = 0;
    for (char one; length + 1 < size && tv_code_read_memory(from + length, &one, 1) && one; length++)
        to[length] = one;
    if (length > 0)
        to[length] = '\0';
    return length > 0;
}

bool tv_symbols_exported_name(uint64_t dynamic, uint64_t bias, uint64_t address, char *name, size_t size)
{
    if (dynamic == 0)
        return false;
    struct tables tables = read_tables(dynamic, bias);
    uint64_t text = tables.symbols && tables.strings ? find(&tables, address - bias) : 0;
    return text != 0 && copy_text(text, name, size);
}
