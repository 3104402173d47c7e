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

bool tv_elf_address_of_offset(const struct tv_elf *elf, uint64_t offset, uint64_t *own)
{
    (void)elf;
    (void)offset;
    (void)own;
    return false;
}

struct tv_bytes tv_elf_build_id(const struct tv_elf *elf)
{
    (void)elf;
    return (struct tv_bytes){NULL, 0};
}
