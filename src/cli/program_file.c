/* SPDX-License-Identifier: Apache-2.0 */
/*
 * program_file.c - the few places of an ELF file that say how its program can be recorded.
 *
 *     header -> segments: PT_INTERP   it is linked dynamically
 *                         PT_DYNAMIC  names of the functions that it needs
 *            -> names of sections     .go.buildinfo
 *
 * Nothing is believed: what lies outside of the file or is too large is not there.
 */
#define _GNU_SOURCE
#include "cli/program_file.h"

#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <stdint.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "base/memory.h"
#include "base/types.h"

#define MOST_SEGMENTS 1024u
#define MOST_DYNAMIC_ENTRIES 65536u /* of the dynamic section */
#define MOST_NAME_BYTES ((uint64_t)64 << 20)

#if UINTPTR_MAX > UINT32_MAX
#define OWN_CLASS ELFCLASS64
#else
#define OWN_CLASS ELFCLASS32
#endif

/* Read `size` bytes at `at`; false: they are not in the file. */
static bool program_read_bytes(int file, uint64_t at, void *to, size_t size)
{
    return at <= INT64_MAX - size && pread(file, to, size, (off_t)at) == (ssize_t)size;
}

/* A table of names, to be given back with tv_free; NULL data: there is none. */
static struct tv_bytes program_read_name_table(int file, uint64_t at, uint64_t size)
{
    if (size == 0 || size > MOST_NAME_BYTES)
        return (struct tv_bytes){NULL, 0};
    uint8_t *names = tv_alloc((size_t)size, 1);
    if (program_read_bytes(file, at, names, (size_t)size))
        return (struct tv_bytes){names, (size_t)size};
    tv_free(names);
    return (struct tv_bytes){NULL, 0};
}

static void program_free_name_table(struct tv_bytes names)
{
    void *data;
    memcpy(&data, &names.data, sizeof data);
    tv_free(data);
}

/* Is the word, with its NUL, in the table? */
static bool program_lists_name(struct tv_bytes names, const char *word, size_t size)
{
    return names.data && memmem(names.data, names.length, word, size) != NULL;
}

/* The machine that the recorder was built for, by the file of this very program. */
static uint16_t program_own_machine(void)
{
    ElfW(Ehdr) own;
    uint16_t machine = EM_NONE;
    int file = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
    if (file < 0)
        return machine;
    if (program_read_bytes(file, 0, &own, sizeof own))
        machine = own.e_machine;
    close(file);
    return machine;
}

static bool program_read_segment(int file, const ElfW(Ehdr) * head, unsigned number,
                                ElfW(Phdr) * segment)
{
    return number < head->e_phnum && number < MOST_SEGMENTS &&
           program_read_bytes(file, head->e_phoff + number * sizeof *segment, segment,
                              sizeof *segment);
}

/* Return the offset in the file of the byte at an address in memory; UINT64_MAX: there is none. */
static uint64_t program_offset_of_address(int file, const ElfW(Ehdr) * head, uint64_t address)
{
    ElfW(Phdr) segment;
    for (unsigned i = 0; program_read_segment(file, head, i, &segment); i++)
        if (segment.p_type == PT_LOAD && address >= segment.p_vaddr &&
            address - segment.p_vaddr < segment.p_filesz)
            return segment.p_offset + (address - segment.p_vaddr);
    return UINT64_MAX;
}

static bool program_read_dynamic_entry(int file, const ElfW(Phdr) * dynamic, size_t number,
                               ElfW(Dyn) * entry)
{
    return number < MOST_DYNAMIC_ENTRIES && number < dynamic->p_filesz / sizeof *entry &&
           program_read_bytes(file, dynamic->p_offset + number * sizeof *entry, entry,
                              sizeof *entry) &&
           entry->d_tag != DT_NULL;
}

static void program_read_dynamic_section(int file, const ElfW(Ehdr) * head, const ElfW(Phdr) * dynamic,
                                 struct tv_program_file *program)
{
    static const char hook[] = "__cyg_profile_func_enter";
    uint64_t strings = 0, size = 0;
    ElfW(Dyn) entry;
    for (size_t i = 0; program_read_dynamic_entry(file, dynamic, i, &entry); i++) {
        if (entry.d_tag == DT_STRTAB)
            strings = entry.d_un.d_ptr;
        if (entry.d_tag == DT_STRSZ)
            size = entry.d_un.d_val;
    }
    struct tv_bytes names = program_read_name_table(file, program_offset_of_address(file, head, strings), size);
    program->has_hooks = program_lists_name(names, hook, sizeof hook);
    program_free_name_table(names);
}

static void program_read_segments(int file, const ElfW(Ehdr) * head,
                                  struct tv_program_file *program)
{
    ElfW(Phdr) segment;
    program->is_static = true;
    for (unsigned i = 0; program_read_segment(file, head, i, &segment); i++) {
        if (segment.p_type == PT_INTERP)
            program->is_static = false;
        if (segment.p_type == PT_DYNAMIC)
            program_read_dynamic_section(file, head, &segment, program);
    }
}

static void program_read_section_names(int file, const ElfW(Ehdr) * head, struct tv_program_file *program)
{
    static const char go[] = ".go.buildinfo";
    ElfW(Shdr) section;
    if (!program_read_bytes(file, head->e_shoff + head->e_shstrndx * sizeof section, &section,
                            sizeof section))
        return;
    struct tv_bytes names = program_read_name_table(file, section.sh_offset, section.sh_size);
    program->is_go = program_lists_name(names, go, sizeof go);
    program_free_name_table(names);
}

static void program_read_elf(int file, struct tv_program_file *program)
{
    ElfW(Ehdr) head;
    program->is_elf =
        program_read_bytes(file, 0, &head, EI_NIDENT) && memcmp(head.e_ident, ELFMAG, SELFMAG) == 0;
    if (!program->is_elf)
        return;
    program->other_machine = head.e_ident[EI_CLASS] != OWN_CLASS ||
                             !program_read_bytes(file, 0, &head, sizeof head) ||
                             head.e_machine != program_own_machine();
    if (program->other_machine)
        return;
    program_read_segments(file, &head, program);
    program_read_section_names(file, &head, program);
}

/* Does the program run with other rights than ours?  Then the system ignores LD_PRELOAD. */
static bool program_has_other_rights(int file, const struct stat *found)
{
    char unused[64];
    if ((found->st_mode & S_ISUID) && found->st_uid != getuid())
        return true;
    if ((found->st_mode & S_ISGID) && (found->st_mode & S_IXGRP) && found->st_gid != getgid())
        return true;
    return getuid() != 0 && fgetxattr(file, "security.capability", unused, sizeof unused) > 0;
}

void tv_program_file_read(const char *path, struct tv_program_file *program)
{
    struct stat found;
    *program = (struct tv_program_file){0};
    int file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (file < 0)
        return;
    if (fstat(file, &found) == 0 && S_ISREG(found.st_mode)) {
        program_read_elf(file, program);
        program->other_rights = program->is_elf && program_has_other_rights(file, &found);
    }
    close(file);
}
