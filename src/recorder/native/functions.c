/* SPDX-License-Identifier: Apache-2.0 */
/* functions.c - see functions.h. */
#include "recorder/native/functions.h"

#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <stdbool.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "recorder/native/qualified.h"
#include "recorder/pages.h"

#define PART_MOST ((uint64_t)1 << 30)
#define NAME 1024

/* A part of the file in memory, with a zero behind it. */
struct part {
    char *bytes;
    size_t size;
};

static struct part read_part(int file, uint64_t offset, uint64_t size)
{
    struct part part = {0};
    size_t done = 0;
    if (size == 0 || size > PART_MOST || offset > INT64_MAX - size)
        return part;
    part.bytes = tv_mmap_alloc((size_t)size + 1);
    while (part.bytes && done < size) {
        ssize_t got = pread(file, part.bytes + done, (size_t)size - done, (off_t)(offset + done));
        if (got <= 0) {
            tv_mmap_free(part.bytes, (size_t)size + 1);
            return (struct part){0};
        }
        done += (size_t)got;
    }
    part.size = done;
    return part;
}

static void release(struct part *part)
{
    if (part->bytes)
        tv_mmap_free(part->bytes, part->size + 1);
}

/* The section of the symbols: all, or in a stripped file the exported ones; NULL: none. */
static const ElfW(Shdr) * find_symbols(const ElfW(Shdr) * sections, size_t count)
{
    const ElfW(Shdr) *found = NULL;
    for (size_t i = 0; i < count; i++)
        if (sections[i].sh_link < count &&
            (sections[i].sh_type == SHT_SYMTAB || (sections[i].sh_type == SHT_DYNSYM && !found)))
            found = &sections[i];
    return found;
}

struct taker {
    void (*take)(void *context, uint64_t address, const char *name);
    void *context;
};

static void take_function(const struct taker *taker, uint64_t address, const char *name)
{
    char qualified[NAME];
    taker->take(taker->context, address, name);
    if (tv_symbols_qualified_name(name, qualified, sizeof qualified))
        taker->take(taker->context, address, qualified);
}

static void take_all(const struct taker *taker, const struct part *symbols,
                     const struct part *texts)
{
    ElfW(Sym) symbol;
    for (size_t at = 0; at + sizeof symbol <= symbols->size; at += sizeof symbol) {
        memcpy(&symbol, symbols->bytes + at, sizeof symbol);
        if ((symbol.st_info & 0xf) == STT_FUNC && symbol.st_shndx != SHN_UNDEF &&
            symbol.st_name < texts->size)
            take_function(taker, symbol.st_value, texts->bytes + symbol.st_name);
    }
}

static void read_file(const struct taker *taker, int file)
{
    ElfW(Ehdr) head;
    if (pread(file, &head, sizeof head, 0) != (ssize_t)sizeof head ||
        memcmp(head.e_ident, ELFMAG, SELFMAG) != 0 || head.e_shentsize != sizeof(ElfW(Shdr)))
        return;
    struct part sections =
        read_part(file, head.e_shoff, (uint64_t)head.e_shnum * sizeof(ElfW(Shdr)));
    const ElfW(Shdr) *list = (const void *)sections.bytes;
    const ElfW(Shdr) *found = find_symbols(list, sections.size / sizeof *list);
    if (found) {
        const ElfW(Shdr) *strings = &list[found->sh_link];
        struct part symbols = read_part(file, found->sh_offset, found->sh_size);
        struct part texts = read_part(file, strings->sh_offset, strings->sh_size);
        take_all(taker, &symbols, &texts);
        release(&symbols);
        release(&texts);
    }
    release(&sections);
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
        read_file(&(struct taker){take, context}, file);
    close(file);
}
