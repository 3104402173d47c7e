/* SPDX-License-Identifier: Apache-2.0 */
/*
 * elf_none.c - elf.h in builds without libdw: no file can be read, and no stack unwound.
 */
#include "symbols/elf.h"

enum tv_status tv_elf_read(const char *path, uint64_t base, struct tv_elf **elf,
                           struct tv_error *err)
{
    (void)base;
    *elf = NULL;
    return tv_fail(err, TV_ERR_UNSUPPORTED, TV_NO_OFFSET,
                   "%s: this traceview was built without libdw (Debian package libdw-dev), which "
                   "reads symbols",
                   path);
}

struct tv_elf *tv_elf_read_by_build_id(struct tv_bytes id)
{
    (void)id;
    return NULL;
}

void tv_elf_free(struct tv_elf *elf)
{
    (void)elf;
}

bool tv_elf_find(struct tv_elf *elf, uint64_t address, struct tv_elf_place *place)
{
    (void)elf;
    (void)address;
    (void)place;
    return false;
}

bool tv_elf_find_in_file(struct tv_elf *elf, uint64_t address, struct tv_elf_place *place)
{
    (void)elf;
    (void)address;
    (void)place;
    return false;
}

size_t tv_elf_find_frames(struct tv_elf *elf, uint64_t address, struct tv_elf_place *places,
                          size_t room)
{
    (void)elf;
    (void)address;
    (void)places;
    (void)room;
    return 0;
}

bool tv_elf_address_of_offset(const struct tv_elf *elf, uint64_t offset, uint64_t *own)
{
    (void)elf;
    (void)offset;
    (void)own;
    return false;
}

bool tv_elf_address_of_mapping(const struct tv_elf *elf, const struct tv_elf_mapping *mapping,
                               uint64_t offset, uint64_t *own)
{
    (void)elf;
    (void)mapping;
    (void)offset;
    (void)own;
    return false;
}

struct tv_bytes tv_elf_build_id(const struct tv_elf *elf)
{
    (void)elf;
    return (struct tv_bytes){NULL, 0};
}

struct tv_unwind *tv_unwind_new(void)
{
    return NULL;
}

void tv_unwind_free(struct tv_unwind *unwind)
{
    (void)unwind;
}

void tv_unwind_add_file(struct tv_unwind *unwind, const char *path, uint64_t start, uint64_t offset)
{
    (void)unwind;
    (void)path;
    (void)start;
    (void)offset;
}

uint32_t tv_unwind_walk(struct tv_unwind *unwind, const struct tv_unwind_thread *thread,
                        uint64_t *addresses, uint32_t room)
{
    (void)unwind;
    (void)thread;
    (void)addresses;
    (void)room;
    return 0;
}
