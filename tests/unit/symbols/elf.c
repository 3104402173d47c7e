/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The file that is asked about is this very program: the linker tells where it lies in memory.
 */
#include "unit.h"

#include "symbols/elf.h"

#include <elf.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/bytes.h"
#include "base/memory.h"
#include "inlined.h"

#define SELF "/proc/self/exe"

extern const char __executable_start[];

static int line_of_landmark;

/* Its name and the line of its brace are known here; it must not be put into its callers. */
__attribute__((noinline)) static int landmark(int value)
{
    line_of_landmark = __LINE__;
    return value * 7 + line_of_landmark;
}

/* Most of its instructions come from inlined.h. */
__attribute__((noinline)) static int with_inlined(int value)
{
    volatile int mixed = value;
    return mix_inlined(&mixed) + mixed;
}

static uint64_t address_of(int (*function)(int))
{
    uint64_t address;
    memcpy(&address, &function, sizeof address);
    return address;
}

static void finds_functions(void **state)
{
    (void)state;
    struct tv_elf *elf;
    struct tv_elf_place place;
    struct tv_error err = {0};
    assert_true(landmark(1) > 0);
    if (tv_elf_read(SELF, (uintptr_t)__executable_start, &elf, &err) == TV_ERR_UNSUPPORTED)
        return; /* built without libdw: elf_none.c says so */
    assert_non_null(elf);
    for (unsigned inside = 0; inside < 4; inside++) {
        assert_true(tv_elf_find(elf, address_of(landmark) + inside, &place));
        assert_true(tv_bytes_equal(place.function, TV_BYTES("landmark")));
    }
    if (place.file.length > 0) { /* without -g there are no lines */
        assert_true(place.file.length > 5);
        assert_memory_equal(place.file.data + place.file.length - 5, "elf.c", 5);
        assert_in_range(place.line, line_of_landmark - 2, line_of_landmark + 2);
    }
    assert_false(tv_elf_find(elf, (uintptr_t)__executable_start - 1, &place));
    assert_false(tv_elf_find(elf, 1, &place));
    tv_elf_free(elf);
}

static bool ends_with(struct tv_bytes text, const char *end)
{
    return tv_bytes_ends_with(text, tv_bytes_of(end));
}

/* The line of inlined code is in its own file, but the function around it stays where it is
 * declared. */
static void inlined_code_does_not_move_its_function(void **state)
{
    (void)state;
    struct tv_elf *elf;
    struct tv_elf_place place;
    size_t own = 0, inlined = 0, others = 0;
    assert_true(with_inlined(1) > 0);
    if (tv_elf_read(SELF, (uintptr_t)__executable_start, &elf, NULL) == TV_ERR_UNSUPPORTED)
        return; /* built without libdw */
    for (uint64_t at = address_of(with_inlined);
         tv_elf_find(elf, at, &place) && tv_bytes_equal(place.function, TV_BYTES("with_inlined"));
         at++) {
        own += ends_with(place.file, "/elf.c");
        inlined += ends_with(place.file, "/inlined.h");
        others += !ends_with(place.declared, "/elf.c");
    }
    if (own > 0) { /* without -g there are no lines */
        assert_true(inlined > 0);
        assert_int_equal(others, 0);
    }
    tv_elf_free(elf);
}

/* The program itself, cut and with other bytes: an error or answers, whatever they are. */
static void survives_damage(void **state)
{
    (void)state;
    static uint8_t bytes[1 << 20];
    char path[] = "/tmp/tv-elf-XXXXXX";
    FILE *self = fopen(SELF, "rb");
    assert_non_null(self);
    size_t length = fread(bytes, 1, sizeof bytes, self);
    fclose(self);
    int file = mkstemp(path);
    assert_true(file >= 0);
    uint32_t random = 12345;
    for (unsigned round = 0; round < 60; round++) {
        struct tv_elf *elf;
        struct tv_elf_place place;
        size_t kept = length;
        for (unsigned i = 0; i < 20; i++) {
            random = random * 1664525 + 1013904223;
            /* Half of them in the first kilobyte, which tells where everything else is. */
            bytes[i % 2 ? random % length : random % 1024] = (uint8_t)(random >> 24);
        }
        memcpy(bytes, "\177ELF\2\1\1", 7);
        if (round % 3 == 0)
            kept = random % length;
        assert_int_equal(ftruncate(file, 0), 0);
        assert_int_equal(pwrite(file, bytes, kept, 0), (ssize_t)kept);
        if (tv_elf_read(path, TV_ELF_UNMOVED, &elf, NULL) != TV_OK)
            continue;
        for (uint64_t address = 0; address < 1 << 20; address += 4099)
            tv_elf_find(elf, address, &place);
        tv_elf_free(elf);
    }
    close(file);
    unlink(path);
}

/* Make the tables of symbols sections of another kind, as far as the file has such. */
static void hide_symbols(uint8_t *bytes)
{
    Elf64_Ehdr header;
    Elf64_Shdr section;
    memcpy(&header, bytes, sizeof header);
    for (unsigned i = 0; i < header.e_shnum; i++) {
        uint8_t *at = bytes + header.e_shoff + i * sizeof section;
        memcpy(&section, at, sizeof section);
        if (section.sh_type == SHT_SYMTAB || section.sh_type == SHT_DYNSYM)
            section.sh_type = SHT_PROGBITS;
        memcpy(at, &section, sizeof section);
    }
}

/* Debug information alone has lines, and no functions. */
static void finds_lines_without_symbols(void **state)
{
    (void)state;
    char path[] = "/tmp/tv-elf-XXXXXX";
    struct stat info;
    int self = open(SELF, O_RDONLY), file = mkstemp(path);
    assert_true(self >= 0 && file >= 0 && fstat(self, &info) == 0);
    size_t size = (size_t)info.st_size;
    uint8_t *bytes = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE, self, 0);
    assert_true(bytes != MAP_FAILED);
    hide_symbols(bytes);
    for (size_t done = 0; done < size;) {
        ssize_t written = write(file, bytes + done, size - done);
        assert_true(written > 0);
        done += (size_t)written;
    }
    struct tv_elf *elf;
    struct tv_elf_place place;
    if (tv_elf_read(path, (uintptr_t)__executable_start, &elf, NULL) == TV_OK) {
        if (tv_elf_find(elf, address_of(landmark), &place) && place.file.length > 5) {
            assert_memory_equal(place.file.data + place.file.length - 5, "elf.c", 5);
            /* with -gline-tables-only clang names no function here */
            if (place.function.length > 0)
                assert_true(ends_with(place.declared, "/elf.c"));
        }
        tv_elf_free(elf);
    }
    munmap(bytes, size);
    close(self);
    close(file);
    unlink(path);
}

static void refuses_other_files(void **state)
{
    (void)state;
    struct tv_elf *elf;
    struct tv_error err;
    static const char *const paths[] = {"/nowhere/at/all", "/dev/null", "/proc/self/maps"};
    for (size_t i = 0; i < TV_COUNT(paths); i++) {
        assert_int_not_equal(tv_elf_read(paths[i], 0, &elf, &err), TV_OK);
        assert_null(elf);
        assert_non_null(strstr(err.message, paths[i]));
    }
}

UNIT_TESTS(elf, cmocka_unit_test(finds_functions),
           cmocka_unit_test(inlined_code_does_not_move_its_function),
           cmocka_unit_test(survives_damage), cmocka_unit_test(finds_lines_without_symbols),
           cmocka_unit_test(refuses_other_files));
