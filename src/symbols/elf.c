/* SPDX-License-Identifier: Apache-2.0 */
/*
 * elf.c - symbols and lines of ELF files, through libelf and libdw, which validate the file's
 * structure.
 *
 * A stripped file gets its symbols and DWARF from its debug file, if this machine has it;
 * nothing is fetched from a network.
 *
 *     address --(- moved)--> file address --> function: symbols by start, else DWARF subprogram
 *                                         '-> compilation unit by range --> file and line
 */
#include "symbols/elf.h"

#include <assert.h>
#include <dwarf.h>
#include <elfutils/libdw.h>
#include <elfutils/libdwelf.h>
#include <errno.h>
#include <fcntl.h>
#include <gelf.h>
#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/bytes.h"
#include "base/file.h"
#include "base/memory.h"
#include "base/sort.h"
#include "symbols/debug_folders.h"
#include "symbols/inlined.h"

/*
 * ---- The debug file of a stripped program, found as gdb finds it ----
 *
 *     debug_folders.h                                      by the program's build ID
 *     DIR/NAME  DIR/.debug/NAME  /usr/lib/debug/DIR/NAME   by its section .gnu_debuglink
 *
 * A file of the first kind must have the same build ID, one of the second kind the checksum that
 * the program states, so that no function gets the name of another version.
 */

#define PIECE 65536

/* Continue the checksum of .gnu_debuglink: CRC-32 of IEEE 802.3. */
static uint32_t debug_file_update_crc(uint32_t crc, const uint8_t *bytes, size_t length)
{
    crc = ~crc;
    for (size_t i = 0; i < length; i++) {
        crc ^= bytes[i];
        for (int bit = 0; bit < 8; bit++)
            crc = crc >> 1 ^ (crc & 1 ? UINT32_C(0xEDB88320) : 0);
    }
    return ~crc;
}

/* Read the whole file: the checksum is the only link between a debug file and its program. */
static bool debug_file_has_crc(int file, uint32_t expected)
{
    uint8_t piece[PIECE];
    uint32_t crc = 0;
    off_t at = 0;
    ssize_t got;
    while ((got = pread(file, piece, sizeof piece, at)) > 0) {
        crc = debug_file_update_crc(crc, piece, (size_t)got);
        at += got;
    }
    return got == 0 && crc == expected;
}

/* Open a regular file. Return -1 when there is none. */
static int debug_file_open_regular(const char *path)
{
    struct stat found;
    int file = tv_file_open(path, 0);
    if (file >= 0 && fstat(file, &found) == 0 && S_ISREG(found.st_mode))
        return file;
    if (file >= 0)
        close(file);
    return -1;
}

/* The name of the path states a build id; compare with the one that the file itself states. */
static bool debug_file_has_build_id(int file, const void *id, ssize_t length)
{
    const void *other;
    Elf *elf = elf_begin(file, ELF_C_READ, NULL);
    bool same = elf && dwelf_elf_gnu_build_id(elf, &other) == length &&
                memcmp(id, other, (size_t)length) == 0;
    if (elf)
        elf_end(elf);
    return same;
}

/* Skip TV_DEBUG_PERF_ELF, the first place: it holds copies of programs and not debug files. */
static int debug_file_open_by_build_id(Elf *elf)
{
    const void *id;
    char path[PATH_MAX];
    ssize_t length = dwelf_elf_gnu_build_id(elf, &id);
    for (int place = TV_DEBUG_PERF_ELF + 1; length > 0 && place < TV_DEBUG_PLACES; place++) {
        struct tv_bytes bytes = {id, (size_t)length};
        int file = tv_debug_path((enum tv_debug_place)place, bytes, path, sizeof path)
                       ? debug_file_open_regular(path)
                       : -1;
        if (file >= 0 && debug_file_has_build_id(file, id, length))
            return file;
        if (file >= 0)
            close(file);
    }
    return -1;
}

/* Open the separate debug file that the program names; -1: none.  Its checksum must be right, as
 * the name alone fits other versions too. */
static int debug_file_open_by_link(Elf *elf, const char *path)
{
    /* The parts in front of and after the program's directory. */
    static const char *const places[][2] = {{"", ""}, {"", ".debug/"}, {TV_DEBUG_FOLDER, ""}};
    GElf_Word crc;
    char real[PATH_MAX], candidate[2 * PATH_MAX];
    const char *name = dwelf_elf_gnu_debuglink(elf, &crc);
    /* Accept plain names only: the program must not direct us to another directory. */
    if (!name || name[0] == '\0' || strchr(name, '/') || strlen(name) > NAME_MAX ||
        !realpath(path, real))
        return -1;
    int folder = (int)(strrchr(real, '/') - real);
    for (size_t i = 0; i < sizeof places / sizeof places[0]; i++) {
        snprintf(candidate, sizeof candidate, "%s%.*s/%s%s", places[i][0], folder, real,
                 places[i][1], name);
        int file = debug_file_open_regular(candidate);
        if (file >= 0 && debug_file_has_crc(file, crc))
            return file;
        if (file >= 0)
            close(file);
    }
    return -1;
}

/* Open the debug file of the program at `path`, whose ELF file is open. Return -1 when there is
 * none. */
static int debug_file_open(Elf *elf, const char *path)
{
    int file = debug_file_open_by_build_id(elf);
    return file >= 0 ? file : debug_file_open_by_link(elf, path);
}

/* Symbols are sorted by start only, so the one that contains an address need not be the last that
 * starts before it: a local label may lie in a function. Overlaps are
 * rare, and the lookup examines at most so many symbols. */
#define OVERLAPPING 16

struct elf_function {
    uint64_t start, end; /* end == start: extends to the next function */
    const char *name;
};

/* A range of addresses of one compilation unit. */
struct elf_unit {
    uint64_t start, end;
    Dwarf_Off offset;
};

struct tv_elf {
    int file;
    Elf *elf;
    int debug_file;       /* -1: none, or not needed */
    Elf *debug;           /* NULL: the same */
    Dwarf *dwarf;         /* NULL: no debug information */
    uint64_t lowest, end; /* extent of the file's own addresses */
    uint64_t moved; /* an address in memory minus the same address in the file; may wrap around */
    struct elf_function *functions; /* sorted by start */
    size_t function_count, function_capacity;
    struct elf_unit *units; /* sorted by start */
    size_t unit_count, unit_capacity;
    struct tv_inlined inlined; /* of `dwarf` */
};

/* Inlined functions at one address that are told. */
#define MAX_INLINED 64u

/* ---- Reading ---- */

static enum tv_status elf_fail_read(const char *path, struct tv_error *err)
{
    return tv_fail(err, TV_ERR_SYNTAX, TV_NO_OFFSET, "%s: expected an ELF file, found: %s", path,
                   elf_errmsg(-1));
}

/* Find the range from the lowest page to the end of the loaded segments; all addresses when no
 * segment is loaded. */
static void elf_find_extent(struct tv_elf *elf)
{
    size_t count = 0;
    uint64_t lowest = UINT64_MAX, end = 0;
    if (elf_getphdrnum(elf->elf, &count) != 0)
        count = 0;
    for (size_t i = 0; i < count && i <= INT32_MAX; i++) {
        GElf_Phdr segment;
        if (!gelf_getphdr(elf->elf, (int)i, &segment) || segment.p_type != PT_LOAD)
            continue;
        uint64_t page = segment.p_align > 1 ? segment.p_align : 1;
        uint64_t start = segment.p_vaddr - segment.p_vaddr % page;
        lowest = start < lowest ? start : lowest;
        if (segment.p_vaddr + segment.p_memsz > end)
            end = segment.p_vaddr + segment.p_memsz;
    }
    elf->lowest = lowest < end ? lowest : 0;
    elf->end = lowest < end ? end : UINT64_MAX;
}

/* Add a symbol if it is a function that this file defines. Symbols of data, and of functions that
 * another library provides, cannot be the place of an instruction here. */
static void elf_add_function(struct tv_elf *elf, const GElf_Sym *symbol, const char *name)
{
    unsigned type = GELF_ST_TYPE(symbol->st_info);
    if ((type != STT_FUNC && type != STT_GNU_IFUNC) || symbol->st_shndx == SHN_UNDEF || !name ||
        name[0] == '\0')
        return;
    elf->functions = tv_array_reserve(elf->functions, &elf->function_capacity,
                                      elf->function_count + 1, sizeof *elf->functions);
    elf->functions[elf->function_count++] = (struct elf_function){
        symbol->st_value,
        symbol->st_value + symbol->st_size,
        name,
    };
}

/* Add the functions of a symbol table. */
static void elf_read_table(struct tv_elf *elf, Elf *from, Elf_Scn *section, const GElf_Shdr *header)
{
    Elf_Data *data = elf_getdata(section, NULL);
    size_t size = data ? gelf_fsize(from, ELF_T_SYM, 1, EV_CURRENT) : 0;
    if (size == 0)
        return;
    size_t count = data->d_size / size;
    for (size_t i = 0; i < count && i <= INT32_MAX; i++) {
        GElf_Sym symbol;
        if (gelf_getsym(data, (int)i, &symbol))
            elf_add_function(elf, &symbol, elf_strptr(from, header->sh_link, symbol.st_name));
    }
}

/* Read the symbol tables of one type: the full table, or, when that was stripped, the table for
 * dynamic linking. */
static void elf_read_symbols(struct tv_elf *elf, Elf *from, GElf_Word type)
{
    Elf_Scn *section = NULL;
    while ((section = elf_nextscn(from, section)) != NULL) {
        GElf_Shdr header;
        if (gelf_getshdr(section, &header) && header.sh_type == type)
            elf_read_table(elf, from, section, &header);
    }
}

/* Units of a damaged file may share one long list of ranges. */
#define MAX_UNIT_RANGES ((size_t)1 << 22)

/* Add the address ranges of a compilation unit; functions in sections of their own have many. */
static void elf_add_unit(struct tv_elf *elf, Dwarf_Die *die)
{
    Dwarf_Addr base, start, end;
    ptrdiff_t next = 0;
    while (elf->unit_count < MAX_UNIT_RANGES &&
           (next = dwarf_ranges(die, next, &base, &start, &end)) > 0) {
        elf->units = tv_array_reserve(elf->units, &elf->unit_capacity, elf->unit_count + 1,
                                      sizeof *elf->units);
        elf->units[elf->unit_count++] = (struct elf_unit){start, end, dwarf_dieoffset(die)};
    }
}

/* Read the ranges from the units themselves: not every compiler writes .debug_aranges. */
static void elf_read_units(struct tv_elf *elf)
{
    Dwarf_Off at = 0, next;
    size_t header;
    while (elf->dwarf && dwarf_nextcu(elf->dwarf, at, &next, &header, NULL, NULL, NULL) == 0 &&
           next > at) {
        Dwarf_Die die;
        if (dwarf_offdie(elf->dwarf, at + header, &die))
            elf_add_unit(elf, &die);
        at = next;
    }
}

/* At the same start the longer function comes first, then the name decides, so that the result
 * never depends on the order in the file. */
static int elf_compare_functions(const void *left, const void *right)
{
    const struct elf_function *a = left, *b = right;
    if (a->start != b->start)
        return a->start < b->start ? -1 : 1;
    if (a->end != b->end)
        return a->end > b->end ? -1 : 1;
    return strcmp(a->name, b->name);
}

static int elf_compare_units(const void *left, const void *right)
{
    const struct elf_unit *a = left, *b = right;
    return (a->start > b->start) - (a->start < b->start);
}

/* Is the section a table of strings of DWARF whose last one has no end? */
static bool elf_has_endless_string(Elf *file, Elf_Scn *section, size_t names)
{
    GElf_Shdr header;
    const char *name =
        gelf_getshdr(section, &header) ? elf_strptr(file, names, header.sh_name) : NULL;
    const char *table = name ? strstr(name, "debug_") : NULL;
    if (!table || (strcmp(table, "debug_str") != 0 && strcmp(table, "debug_line_str") != 0))
        return false;
    Elf_Data *data = elf_rawdata(section, NULL);
    return data && data->d_size > 0 && ((const char *)data->d_buf)[data->d_size - 1] != '\0';
}

/* Open the debug information; NULL: there is none, or its strings are damaged.  libdw 0.188 looks
 * for the end of a string beyond the end of its section. */
static Dwarf *elf_begin_dwarf(Elf *file)
{
    size_t names;
    Elf_Scn *section = NULL;
    Dwarf *dwarf = dwarf_begin_elf(file, DWARF_C_READ, NULL); /* unpacks the sections */
    if (!dwarf || elf_getshdrstrndx(file, &names) != 0)
        return dwarf;
    while ((section = elf_nextscn(file, section)) != NULL) {
        if (elf_has_endless_string(file, section, names)) {
            dwarf_end(dwarf);
            return NULL;
        }
    }
    return dwarf;
}

/* Take symbols and DWARF that the file lacks from its debug file. */
static void elf_read_debug_file(struct tv_elf *elf, const char *path)
{
    elf->debug_file = debug_file_open(elf->elf, path);
    elf->debug = elf->debug_file >= 0 ? elf_begin(elf->debug_file, ELF_C_READ, NULL) : NULL;
    if (!elf->debug)
        return;
    if (elf->function_count == 0)
        elf_read_symbols(elf, elf->debug, SHT_SYMTAB);
    if (!elf->dwarf)
        elf->dwarf = elf_begin_dwarf(elf->debug);
}

/* Read symbols and debug information.  The full symbol table is preferred, then that of a separate
 * debug file; the dynamic one, which has only exported functions, comes last. */
static enum tv_status elf_read_elf(struct tv_elf *elf, const char *path, uint64_t base,
                                   struct tv_error *err)
{
    elf->file = tv_file_open(path, 0);
    if (elf->file < 0)
        return tv_fail(err, TV_ERR_IO, TV_NO_OFFSET, "%s: %s", path, strerror(errno));
    elf_version(EV_CURRENT);
    elf->elf = elf_begin(elf->file, ELF_C_READ, NULL);
    if (!elf->elf)
        return elf_fail_read(path, err);
    if (elf_kind(elf->elf) != ELF_K_ELF)
        return tv_fail(err, TV_ERR_SYNTAX, TV_NO_OFFSET,
                       "%s: expected an ELF file, found something else", path);
    elf_find_extent(elf);
    elf->moved = base == TV_ELF_UNMOVED ? 0 : base - elf->lowest;
    elf_read_symbols(elf, elf->elf, SHT_SYMTAB);
    elf->dwarf = elf_begin_dwarf(elf->elf);
    if (!elf->dwarf || elf->function_count == 0)
        elf_read_debug_file(elf, path);
    if (elf->function_count == 0)
        elf_read_symbols(elf, elf->elf, SHT_DYNSYM);
    elf_read_units(elf);
    tv_inlined_init(&elf->inlined, elf->dwarf);
    if (elf->function_count == 0 && elf->unit_count == 0)
        return tv_fail(err, TV_ERR_SYNTAX, TV_NO_OFFSET,
                       "%s: expected symbols or debug information, found none", path);
    if (elf->function_count > 0)
        qsort(elf->functions, elf->function_count, sizeof *elf->functions, elf_compare_functions);
    if (elf->unit_count > 0)
        qsort(elf->units, elf->unit_count, sizeof *elf->units, elf_compare_units);
    return TV_OK;
}

enum tv_status tv_elf_read(const char *path, uint64_t base, struct tv_elf **elf,
                           struct tv_error *err)
{
    *elf = tv_alloc(1, sizeof **elf);
    (*elf)->debug_file = -1;
    enum tv_status status = elf_read_elf(*elf, path, base, err);
    if (status != TV_OK) {
        tv_elf_free(*elf);
        *elf = NULL;
    }
    return status;
}

struct tv_elf *tv_elf_read_by_build_id(struct tv_bytes id)
{
    for (int place = 0; place < TV_DEBUG_PLACES; place++) {
        struct tv_error unread = {0};
        struct tv_elf *elf;
        char path[PATH_MAX];
        if (!tv_debug_path((enum tv_debug_place)place, id, path, sizeof path) ||
            tv_elf_read(path, TV_ELF_UNMOVED, &elf, &unread) != TV_OK)
            continue;
        if (tv_bytes_equal(tv_elf_build_id(elf), id))
            return elf;
        tv_elf_free(elf);
    }
    return NULL;
}

void tv_elf_free(struct tv_elf *elf)
{
    if (!elf)
        return;
    tv_inlined_release(&elf->inlined);
    if (elf->dwarf)
        dwarf_end(elf->dwarf);
    if (elf->debug)
        elf_end(elf->debug);
    if (elf->debug_file >= 0)
        close(elf->debug_file);
    if (elf->elf)
        elf_end(elf->elf);
    if (elf->file >= 0)
        close(elf->file);
    tv_free(elf->functions);
    tv_free(elf->units);
    tv_free(elf);
}

/* ---- Lookups ---- */

/* True when an address is in a function. One without a size (assembly code often has none) goes on
 * to the next function's start. */
static bool elf_function_contains(const struct tv_elf *elf, size_t number, uint64_t address)
{
    const struct elf_function *function = &elf->functions[number];
    assert(number < elf->function_count);
    if (function->end != function->start)
        return address >= function->start && address < function->end;
    return number + 1 == elf->function_count || address < elf->functions[number + 1].start;
}

/* Return the symbol with the highest start that contains the address. Of several at that start the
 * last examined wins, which is the longest, and the first by name (elf_compare_functions). *begin
 * becomes its start. */
static const char *elf_find_function(const struct tv_elf *elf, uint64_t address, uint64_t *begin)
{
    size_t low = 0; /* ends at the first function after the address */
    TV_LOWER_BOUND(low, elf->function_count, i, elf->functions[i].start <= address);
    const char *found = NULL;
    uint64_t start = 0;
    for (size_t tried = 0; low > 0 && tried < OVERLAPPING; tried++, low--) {
        if (!elf_function_contains(elf, low - 1, address))
            continue;
        if (found && elf->functions[low - 1].start != start)
            break;
        found = elf->functions[low - 1].name;
        start = elf->functions[low - 1].start;
    }
    *begin = start;
    return found;
}

static bool elf_find_unit(const struct tv_elf *elf, uint64_t address, Dwarf_Die *die)
{
    size_t low = 0;
    TV_LOWER_BOUND(low, elf->unit_count, i, elf->units[i].start <= address);
    return low > 0 && address < elf->units[low - 1].end &&
           dwarf_offdie(elf->dwarf, elf->units[low - 1].offset, die) != NULL;
}

/* Return the name of the function that the debug information has at the address, with the file that
 * declares it. */
static const char *elf_find_subprogram(Dwarf_Die *unit, uint64_t address,
                                       struct tv_elf_place *place)
{
    Dwarf_Die *scopes = NULL;
    const char *name = NULL;
    int count = dwarf_getscopes(unit, address, &scopes);
    for (int i = 0; i < count && !name; i++) {
        if (dwarf_tag(&scopes[i]) != DW_TAG_subprogram)
            continue;
        const char *file = dwarf_decl_file(&scopes[i]);
        name = dwarf_diename(&scopes[i]);
        if (name && file)
            place->declared = tv_bytes_of(file);
    }
    if (count > 0)
        tv_free(scopes);
    return name;
}

/* Fill in file and line from the unit's line table; leave both unknown if it has no row there. */
static void elf_find_line(Dwarf_Die *unit, uint64_t address, struct tv_elf_place *place)
{
    Dwarf_Line *line = dwarf_getsrc_die(unit, address);
    const char *file = line ? dwarf_linesrc(line, NULL, NULL) : NULL;
    int number = 0;
    if (!file)
        return;
    place->file = tv_bytes_of(file);
    if (dwarf_lineno(line, &number) == 0 && number > 0)
        place->line = number;
}

/* Fill in the file of the function that begins at the address: its first instructions are its own,
 * later ones may be inlined code of other files. */
static void elf_find_declared(const struct tv_elf *elf, uint64_t begin, struct tv_elf_place *place)
{
    Dwarf_Die unit;
    struct tv_elf_place first = {.line = 0};
    if (elf_find_unit(elf, begin, &unit))
        elf_find_line(&unit, begin, &first);
    place->declared = first.file;
}

bool tv_elf_find(struct tv_elf *elf, uint64_t address, struct tv_elf_place *place)
{
    return tv_elf_find_in_file(elf, address - elf->moved, place);
}

bool tv_elf_find_in_file(struct tv_elf *elf, uint64_t own, struct tv_elf_place *place)
{
    Dwarf_Die unit;
    *place = (struct tv_elf_place){.line = 0};
    if (own < elf->lowest || own >= elf->end)
        return false;
    uint64_t begin;
    const char *name = elf_find_function(elf, own, &begin);
    if (name)
        elf_find_declared(elf, begin, place);
    if (elf_find_unit(elf, own, &unit)) {
        elf_find_line(&unit, own, place);
        name = name ? name : elf_find_subprogram(&unit, own, place);
    }
    if (name)
        place->function = tv_bytes_of(name);
    return place->function.length > 0 || place->file.length > 0;
}

/* Return an inlined function: its name, and the file that declares it. */
static struct tv_elf_place elf_inlined_place(Dwarf_Die *function)
{
    const char *name = tv_inlined_name(function), *file = dwarf_decl_file(function);
    return (struct tv_elf_place){.function = tv_bytes_of(name ? name : ""),
                                 .declared = tv_bytes_of(file ? file : "")};
}

size_t tv_elf_find_frames(struct tv_elf *elf, uint64_t own, struct tv_elf_place *places,
                          size_t room)
{
    struct tv_elf_place function;
    Dwarf_Die unit, found[MAX_INLINED];
    assert(room > 0);
    if (!tv_elf_find_in_file(elf, own, &function))
        return 0;
    size_t count = room - 1 < MAX_INLINED ? room - 1 : MAX_INLINED;
    count = elf_find_unit(elf, own, &unit)
                ? tv_inlined_find(&elf->inlined, &unit, own, found, count)
                : 0;
    struct tv_bytes file = function.file;
    int32_t line = function.line;
    for (size_t i = 0; i < count; i++) {
        Dwarf_Die *inlined = &found[count - 1 - i];
        places[i] = elf_inlined_place(inlined);
        places[i].line = line;
        line = tv_inlined_call_line(inlined);
    }
    places[count] = function;
    places[count].file = (struct tv_bytes){NULL, 0};
    places[count].line = line;
    places[0].file = file;
    return count + 1;
}

bool tv_elf_address_of_offset(const struct tv_elf *elf, uint64_t offset, uint64_t *own)
{
    size_t count = 0;
    if (elf_getphdrnum(elf->elf, &count) != 0)
        return false;
    for (size_t i = 0; i < count && i <= INT32_MAX; i++) {
        GElf_Phdr segment;
        if (gelf_getphdr(elf->elf, (int)i, &segment) && segment.p_type == PT_LOAD &&
            offset >= segment.p_offset && offset - segment.p_offset < segment.p_filesz) {
            *own = offset - segment.p_offset + segment.p_vaddr;
            return true;
        }
    }
    return false;
}

/* The kernel maps whole pages. */
#define PAGE UINT64_C(4096)

static uint64_t elf_segment_page(const GElf_Phdr *segment)
{
    return segment->p_vaddr / PAGE * PAGE;
}

/* Is this the segment that was mapped, in a debug file? There, segments have addresses and sizes in
 * memory, but no bytes. */
static bool elf_segment_is_mapping(const GElf_Phdr *segment, const struct tv_elf_mapping *mapping)
{
    uint64_t length = segment->p_vaddr % PAGE + segment->p_memsz;
    return segment->p_type == PT_LOAD && (segment->p_flags & PF_X) && segment->p_filesz == 0 &&
           segment->p_memsz > 0 && length >= segment->p_memsz &&
           mapping->length / PAGE == length / PAGE + (length % PAGE > 0);
}

bool tv_elf_address_of_mapping(const struct tv_elf *elf, const struct tv_elf_mapping *mapping,
                               uint64_t offset, uint64_t *own)
{
    size_t count = 0, found = 0;
    if (tv_elf_address_of_offset(elf, offset, own))
        return true;
    if (offset < mapping->offset || offset - mapping->offset >= mapping->length ||
        elf_getphdrnum(elf->elf, &count) != 0)
        return false;
    for (size_t i = 0; i < count && i <= INT32_MAX; i++) {
        GElf_Phdr segment;
        if (!gelf_getphdr(elf->elf, (int)i, &segment) || !elf_segment_is_mapping(&segment, mapping))
            continue;
        *own = offset - mapping->offset + elf_segment_page(&segment);
        found++;
    }
    return found == 1;
}

struct tv_bytes tv_elf_build_id(const struct tv_elf *elf)
{
    const void *id = NULL;
    ssize_t length = dwelf_elf_gnu_build_id(elf->elf, &id);
    return length > 0 ? (struct tv_bytes){id, (size_t)length} : (struct tv_bytes){NULL, 0};
}
