/* SPDX-License-Identifier: Apache-2.0 */
/*
 * symbols.c - dynamic symbols of loaded modules, symbol tables of ELF files, and the scopes in
 * mangled names.
 *
 *     address --> name    dynamic symbols in memory: always there, exported functions only
 *     name --> addresses  symbol table of the file: for filters by name, static functions too
 *
 * Memory of other modules is read by tv_code_read_memory, which fails where nothing is mapped: a
 * module may be unloaded meanwhile, and its tables may be damaged.  All counts from there have
 * limits.
 *
 * The recorder shares no code with the program, so the demangler of src/base is not here.  A filter
 * needs only the qualified name without arguments, which a small parser finds (qualified_*).
 */
#define _GNU_SOURCE
#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <stdbool.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "recorder/memory.h"
#include "recorder/native/code.h"
#include "recorder/native/modules.h"

#define DYNAMIC_ENTRIES_MAX 256u /* of a dynamic section */
#define SYMBOLS_PIECE 1024u      /* symbols that are read at a time */
#define HASH_BUCKETS_MAX (1u << 24)
#define HASH_CHAIN_MAX (1u << 20)

/* Addresses of the tables of dynamic symbols; 0: the module has none. */
struct dynsym_tables {
    uint64_t symbols, strings, hash, gnu_hash;
};

/* The loader makes the addresses absolute, but not on every machine and not in every module. */
static uint64_t dynamic_entry_address(const ElfW(Dyn) * entry, uint64_t bias)
{
    return entry->d_un.d_ptr < bias ? entry->d_un.d_ptr + bias : entry->d_un.d_ptr;
}

/* Read the dynamic section of a module. */
static struct dynsym_tables symbols_read_tables(uint64_t dynamic, uint64_t bias)
{
    struct dynsym_tables tables = {0};
    ElfW(Dyn) entry;
    for (uint32_t i = 0; i < DYNAMIC_ENTRIES_MAX; i++) {
        if (!tv_code_read_memory(dynamic + i * sizeof entry, &entry, sizeof entry) ||
            entry.d_tag == DT_NULL)
            break;
        if (entry.d_tag == DT_SYMTAB)
            tables.symbols = dynamic_entry_address(&entry, bias);
        if (entry.d_tag == DT_STRTAB)
            tables.strings = dynamic_entry_address(&entry, bias);
        if (entry.d_tag == DT_HASH)
            tables.hash = dynamic_entry_address(&entry, bias);
        if (entry.d_tag == DT_GNU_HASH)
            tables.gnu_hash = dynamic_entry_address(&entry, bias);
    }
    return tables;
}

/* The last symbol is the end of the chain of the highest bucket; the lowest bit marks it. */
static uint32_t symbols_count_by_gnu_hash(uint64_t table)
{
    uint32_t head[4], piece[SYMBOLS_PIECE], last = 0, word = 0;
    if (!tv_code_read_memory(table, head, sizeof head) || head[0] > HASH_BUCKETS_MAX)
        return 0;
    uint64_t buckets = table + sizeof head + (uint64_t)head[2] * sizeof(ElfW(Addr));
    for (uint32_t at = 0; at < head[0]; at += SYMBOLS_PIECE) {
        uint32_t count = head[0] - at < SYMBOLS_PIECE ? head[0] - at : SYMBOLS_PIECE;
        if (!tv_code_read_memory(buckets + (uint64_t)at * 4, piece, count * sizeof *piece))
            return 0;
        for (uint32_t i = 0; i < count; i++)
            last = piece[i] > last ? piece[i] : last;
    }
    if (last < head[1])
        return head[1];
    uint64_t chains = buckets + (uint64_t)head[0] * 4;
    for (uint32_t i = 0; i < HASH_CHAIN_MAX && !(word & 1); i++, last++)
        if (!tv_code_read_memory(chains + (uint64_t)(last - head[1]) * 4, &word, sizeof word))
            return 0;
    return last;
}

/* Return the number of dynamic symbols.  No table has it, so it is taken from a hash table, which
 * must reach them all. */
static uint32_t symbols_count(const struct dynsym_tables *tables)
{
    uint32_t head[2];
    if (tables->gnu_hash != 0)
        return symbols_count_by_gnu_hash(tables->gnu_hash);
    return tables->hash != 0 && tv_code_read_memory(tables->hash, head, sizeof head) ? head[1] : 0;
}

/* Tell whether a symbol is defined in this module and names the address. */
static bool symbol_names_address(const ElfW(Sym) * symbol, uint64_t address)
{
    unsigned type = symbol->st_info & 0xf;
    return symbol->st_value == address && symbol->st_shndx != SHN_UNDEF && symbol->st_name != 0 &&
           type != STT_TLS && type != STT_SECTION && type != STT_FILE;
}

/* Return the address of the symbol's text; 0: there is no such symbol. */
static uint64_t symbols_find_text(const struct dynsym_tables *tables, uint64_t address)
{
    static ElfW(Sym) piece[SYMBOLS_PIECE];
    uint32_t symbols = symbols_count(tables);
    for (uint32_t at = 0; at < symbols; at += SYMBOLS_PIECE) {
        uint32_t count = symbols - at < SYMBOLS_PIECE ? symbols - at : SYMBOLS_PIECE;
        if (!tv_code_read_memory(tables->symbols + at * sizeof *piece, piece,
                                 count * sizeof *piece))
            return 0;
        for (uint32_t i = 0; i < count; i++)
            if (symbol_names_address(&piece[i], address))
                return tables->strings + piece[i].st_name;
    }
    return 0;
}

/* Copy a text, up to `size` bytes or the end of the mapped memory. */
static bool symbols_copy_text(uint64_t from, char *to, size_t size)
{
    size_t length = 0;
    for (char one; length + 1 < size && tv_code_read_memory(from + length, &one, 1) && one;
         length++)
        to[length] = one;
    if (length > 0)
        to[length] = '\0';
    return length > 0;
}

bool tv_symbols_exported_name(uint64_t dynamic, uint64_t bias, uint64_t address, char *name,
                              size_t size)
{
    if (dynamic == 0)
        return false;
    struct dynsym_tables tables = symbols_read_tables(dynamic, bias);
    uint64_t text =
        tables.symbols && tables.strings ? symbols_find_text(&tables, address - bias) : 0;
    return text != 0 && symbols_copy_text(text, name, size);
}

/* ---- Symbol tables of files ---- */

#define ELF_PART_MAX ((uint64_t)1 << 30)
#define SYMBOL_NAME_SIZE 1024

/* A part of the file in memory, with a zero after it.  Memory is mapped (memory.h), and the
 * file is read with pread, as it may change meanwhile. */
struct elf_part {
    char *bytes;
    size_t size;
};

/* Read a part of a file; without bytes when it is too large or the file is shorter. */
static struct elf_part elf_read_part(int file, uint64_t offset, uint64_t size)
{
    struct elf_part part = {0};
    size_t done = 0;
    if (size == 0 || size > ELF_PART_MAX || offset > INT64_MAX - size)
        return part;
    part.bytes = tv_mmap_alloc((size_t)size + 1);
    while (part.bytes && done < size) {
        ssize_t got = pread(file, part.bytes + done, (size_t)size - done, (off_t)(offset + done));
        if (got <= 0) {
            tv_mmap_free(part.bytes, (size_t)size + 1);
            return (struct elf_part){0};
        }
        done += (size_t)got;
    }
    part.size = done;
    return part;
}

static void elf_part_release(struct elf_part *part)
{
    if (part->bytes)
        tv_mmap_free(part->bytes, part->size + 1);
}

/* Return the section with all symbols or, in a stripped file, the exported ones; NULL: none. */
static const ElfW(Shdr) * elf_find_symbols(const ElfW(Shdr) * sections, size_t count)
{
    const ElfW(Shdr) *found = NULL;
    for (size_t i = 0; i < count; i++)
        if (sections[i].sh_link < count &&
            (sections[i].sh_type == SHT_SYMTAB || (sections[i].sh_type == SHT_DYNSYM && !found)))
            found = &sections[i];
    return found;
}

struct elf_visitor {
    void (*take)(void *context, uint64_t address, const char *name);
    void *context;
};

/* Pass a function on by its symbol, and if that is mangled by its qualified name too: a filter may
 * have either. */
static void elf_visit_function(const struct elf_visitor *taker, uint64_t address, const char *name)
{
    char qualified[SYMBOL_NAME_SIZE];
    taker->take(taker->context, address, name);
    if (tv_symbols_qualified_name(name, qualified, sizeof qualified))
        taker->take(taker->context, address, qualified);
}

/* Pass on the functions that a symbol table defines. */
static void elf_visit_symbols(const struct elf_visitor *taker, const struct elf_part *symbols,
                              const struct elf_part *texts)
{
    ElfW(Sym) symbol;
    for (size_t at = 0; at + sizeof symbol <= symbols->size; at += sizeof symbol) {
        memcpy(&symbol, symbols->bytes + at, sizeof symbol);
        if ((symbol.st_info & 0xf) == STT_FUNC && symbol.st_shndx != SHN_UNDEF &&
            symbol.st_name < texts->size)
            elf_visit_function(taker, symbol.st_value, texts->bytes + symbol.st_name);
    }
}

/* Pass on the functions of an open file, if it is an ELF file of this machine's word size. */
static void elf_read_functions(const struct elf_visitor *taker, int file)
{
    ElfW(Ehdr) head;
    if (pread(file, &head, sizeof head, 0) != (ssize_t)sizeof head ||
        memcmp(head.e_ident, ELFMAG, SELFMAG) != 0 || head.e_shentsize != sizeof(ElfW(Shdr)))
        return;
    struct elf_part sections =
        elf_read_part(file, head.e_shoff, (uint64_t)head.e_shnum * sizeof(ElfW(Shdr)));
    const ElfW(Shdr) *list = (const void *)sections.bytes;
    const ElfW(Shdr) *found = elf_find_symbols(list, sections.size / sizeof *list);
    if (found) {
        const ElfW(Shdr) *strings = &list[found->sh_link];
        struct elf_part symbols = elf_read_part(file, found->sh_offset, found->sh_size);
        struct elf_part texts = elf_read_part(file, strings->sh_offset, strings->sh_size);
        elf_visit_symbols(taker, &symbols, &texts);
        elf_part_release(&symbols);
        elf_part_release(&texts);
    }
    elf_part_release(&sections);
}

void tv_symbols_read_functions(const char *path,
                               void (*take)(void *context, uint64_t address, const char *name),
                               void *context)
{
    struct stat found;
    int file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (file < 0)
        return;
    if (fstat(file, &found) == 0 && S_ISREG(found.st_mode))
        elf_read_functions(&(struct elf_visitor){take, context}, file);
    close(file);
}

/* ---- Qualified names: the grammar of the Itanium C++ ABI, 5.1 ---- */

#define RUST_HASH 17u /* 'h' and 16 digits */

struct qualified_parser {
    const char *at;
    char *name;
    size_t used, size;
    size_t last; /* where the last part of the name begins */
};

static bool qualified_is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* Append to the name, which is always terminated; false: it is full. */
static bool qualified_append(struct qualified_parser *parser, const char *text, size_t length)
{
    if (length >= parser->size - parser->used)
        return false;
    memcpy(parser->name + parser->used, text, length);
    parser->used += length;
    parser->name[parser->used] = '\0';
    return true;
}

/* Append the separator before another part, and note where the part begins. */
static bool qualified_begin_part(struct qualified_parser *parser)
{
    bool fine = parser->used == 0 || qualified_append(parser, "::", 2);
    parser->last = parser->used;
    return fine;
}

/* Parse the length of a name; 0: there is none, or the name ends before it. */
static size_t qualified_take_length(struct qualified_parser *parser)
{
    size_t length = 0, left = strlen(parser->at);
    while (qualified_is_digit(*parser->at) && length <= left)
        length = 10 * length + (size_t)(*parser->at++ - '0');
    return length <= strlen(parser->at) ? length : 0;
}

/* Tell whether a part is the hash at the end of a legacy Rust name, which no user writes. */
static bool qualified_is_rust_hash(const char *text, size_t length)
{
    return length == RUST_HASH && text[0] == 'h' && strspn(text + 1, "0123456789abcdef") >= 16;
}

/* Parse "6Server". */
static bool qualified_take_source_name(struct qualified_parser *parser)
{
    static const char unnamed[] = "_GLOBAL__N", spoken[] = "(anonymous namespace)";
    size_t length = qualified_take_length(parser);
    const char *text = parser->at;
    if (length == 0)
        return false;
    parser->at += length;
    if (qualified_is_rust_hash(text, length) && *parser->at == 'E')
        return true;
    if (!qualified_begin_part(parser))
        return false;
    if (length >= sizeof unnamed - 1 && memcmp(text, unnamed, sizeof unnamed - 1) == 0)
        return qualified_append(parser, spoken, sizeof spoken - 1);
    return qualified_append(parser, text, length);
}

/* Skip template arguments after their I: names by their lengths, literals to their E. */
static bool qualified_skip_arguments(struct qualified_parser *parser)
{
    size_t depth = 1;
    while (depth > 0 && *parser->at) {
        if (qualified_is_digit(*parser->at)) {
            size_t length = qualified_take_length(parser);
            if (length == 0)
                return false;
            parser->at += length;
            continue;
        }
        char c = *parser->at++;
        if (c == 'L') {
            if (*parser->at == '_')
                return false;
            parser->at += strcspn(parser->at, "E");
            parser->at += *parser->at == 'E';
        } else if (c == 'S' || c == 'T') {
            /* S_, S1_, T0_, St, Ss: these digits are no lengths. */
            while (qualified_is_digit(*parser->at))
                parser->at++;
        } else {
            depth += strchr("INXJF", c) != NULL;
            depth -= c == 'E';
        }
    }
    return depth == 0;
}

/* Parse C1 (the class's name again) or D1 (with a tilde). */
static bool qualified_take_structor(struct qualified_parser *parser)
{
    char class[256];
    size_t length = parser->used - parser->last;
    if (length == 0 || length >= sizeof class || !qualified_is_digit(parser->at[1]))
        return false;
    bool destroys = *parser->at == 'D';
    memcpy(class, parser->name + parser->last, length);
    parser->at += 2;
    return qualified_begin_part(parser) && qualified_append(parser, "~", destroys) &&
           qualified_append(parser, class, length);
}

/* Parse one part of a nested name, with the template arguments that may follow it. */
static bool qualified_take_part(struct qualified_parser *parser)
{
    if (strncmp(parser->at, "St", 2) == 0 && parser->used == 0) {
        parser->at += 2;
        return qualified_begin_part(parser) && qualified_append(parser, "std", 3);
    }
    if (*parser->at == 'I') {
        parser->at++;
        return qualified_skip_arguments(parser);
    }
    if (*parser->at == 'C' || *parser->at == 'D')
        return qualified_take_structor(parser);
    parser->at += *parser->at == 'L'; /* internal linkage */
    return qualified_take_source_name(parser);
}

bool tv_symbols_qualified_name(const char *symbol, char *name, size_t size)
{
    struct qualified_parser parser = {.at = symbol + 2, .name = name, .size = size};
    if (size == 0 || strncmp(symbol, "_Z", 2) != 0)
        return false;
    if (*parser.at != 'N') {
        bool is_std = strncmp(parser.at, "St", 2) == 0;
        return qualified_take_part(&parser) && (!is_std || qualified_take_part(&parser));
    }
    parser.at++;
    parser.at += strspn(parser.at, "rVK");
    parser.at += strspn(parser.at, "RO");
    while (*parser.at != 'E')
        if (*parser.at == '\0' || !qualified_take_part(&parser))
            return false;
    return parser.used > 0;
}
