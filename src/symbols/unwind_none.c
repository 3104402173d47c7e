/* SPDX-License-Identifier: Apache-2.0 */
#include "symbols/unwind.h"

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
