/* SPDX-License-Identifier: Apache-2.0 */
/*
 * unwind.c - stack unwinding through libdwfl, which sees one thread whose only memory is the
 * copied stack.
 *
 * The callbacks below refuse everything else: libdwfl reads the named files alone, and looks for
 * no debug files on this machine or on a network.
 */
#include "symbols/elf.h"

#include <assert.h>
#include <elfutils/libdwfl.h>
#include <gelf.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/memory.h"

/* Process and thread numbers that libdwfl demands; they have no effect. */
#define ANY_PROCESS 1
#define ANY_THREAD 1

struct tv_unwind {
    Dwfl *dwfl;
    bool is_attached;
    const struct tv_unwind_thread *thread; /* the thread that is being unwound */
    uint64_t *addresses;
    uint32_t count, room;
};

/* ---- Callbacks of libdwfl ---- */

static int unwind_refuse_elf(Dwfl_Module *module, void **data, const char *name, Dwarf_Addr base,
                             char **path, Elf **elf)
{
    (void)module, (void)data, (void)name, (void)base, (void)path, (void)elf;
    return -1;
}

static int unwind_refuse_debug_file(Dwfl_Module *module, void **data, const char *name,
                                    Dwarf_Addr base, const char *path, const char *link,
                                    GElf_Word checksum, char **found)
{
    (void)module, (void)data, (void)name, (void)base, (void)path, (void)link, (void)checksum;
    (void)found;
    return -1;
}

static pid_t unwind_list_no_thread(Dwfl *dwfl, void *unwind, void **thread)
{
    (void)dwfl, (void)unwind, (void)thread;
    return 0;
}

static bool unwind_get_thread(Dwfl *dwfl, pid_t tid, void *unwind, void **thread)
{
    (void)dwfl, (void)tid;
    *thread = unwind;
    return true;
}

static bool unwind_read_word(Dwfl *dwfl, Dwarf_Addr address, Dwarf_Word *word, void *context)
{
    const struct tv_unwind_thread *thread = ((const struct tv_unwind *)context)->thread;
    assert(thread);
    (void)dwfl;
    uint64_t at = address - thread->sp;
    if (thread->length < sizeof *word || at > thread->length - sizeof *word)
        return false;
    memcpy(word, thread->stack + at, sizeof *word);
    return true;
}

static bool unwind_set_registers(Dwfl_Thread *thread, void *context)
{
    const struct tv_unwind_thread *from = ((const struct tv_unwind *)context)->thread;
    dwfl_thread_state_register_pc(thread, from->pc);
    return dwfl_thread_state_registers(thread, 0, from->register_count, from->registers);
}

static const Dwfl_Callbacks file_callbacks = {
    .find_elf = unwind_refuse_elf,
    .find_debuginfo = unwind_refuse_debug_file,
    .section_address = dwfl_offline_section_address,
};

static const Dwfl_Thread_Callbacks thread_callbacks = {
    .next_thread = unwind_list_no_thread,
    .get_thread = unwind_get_thread,
    .memory_read = unwind_read_word,
    .set_initial_registers = unwind_set_registers,
};

/* ---- Files ---- */

struct tv_unwind *tv_unwind_new(void)
{
    struct tv_unwind *unwind = tv_alloc(1, sizeof *unwind);
    unwind->dwfl = dwfl_begin(&file_callbacks);
    if (unwind->dwfl)
        return unwind;
    tv_free(unwind);
    return NULL;
}

void tv_unwind_free(struct tv_unwind *unwind)
{
    if (!unwind)
        return;
    dwfl_end(unwind->dwfl);
    tv_free(unwind);
}

/* Return the address in the file for an offset; the offset itself when no segment contains it. */
static uint64_t unwind_address_of_offset(int file, uint64_t offset)
{
    size_t count = 0;
    uint64_t address = offset;
    elf_version(EV_CURRENT);
    Elf *elf = elf_begin(file, ELF_C_READ, NULL);
    if (!elf || elf_getphdrnum(elf, &count) != 0)
        count = 0;
    for (size_t i = 0; i < count && i <= INT32_MAX; i++) {
        GElf_Phdr segment;
        /* A mapping begins at a page, but a segment may begin inside it. */
        if (gelf_getphdr(elf, (int)i, &segment) && segment.p_type == PT_LOAD &&
            (segment.p_flags & PF_X) && segment.p_align > 0 &&
            offset >= segment.p_offset - segment.p_offset % segment.p_align &&
            offset < segment.p_offset + segment.p_filesz)
            address = offset - segment.p_offset + segment.p_vaddr;
    }
    if (elf)
        elf_end(elf);
    return address;
}

void tv_unwind_add_file(struct tv_unwind *unwind, const char *path, uint64_t start, uint64_t offset)
{
    int file = tv_file_open(path, 0);
    if (file < 0)
        return;
    uint64_t base = start - unwind_address_of_offset(file, offset);
    dwfl_report_begin_add(unwind->dwfl);
    /* dwfl_report_elf takes over the file descriptor unless it fails. */
    if (!dwfl_report_elf(unwind->dwfl, path, path, file, base, false))
        close(file);
    (void)dwfl_report_end(unwind->dwfl, NULL, NULL);
}

/* ---- Unwinding ---- */

static int unwind_store_frame(Dwfl_Frame *frame, void *context)
{
    struct tv_unwind *unwind = context;
    Dwarf_Addr pc;
    assert(unwind->count <= unwind->room);
    if (unwind->count == unwind->room || !dwfl_frame_pc(frame, &pc, NULL) || pc == 0)
        return DWARF_CB_ABORT;
    unwind->addresses[unwind->count++] = pc;
    return DWARF_CB_OK;
}

uint32_t tv_unwind_walk(struct tv_unwind *unwind, const struct tv_unwind_thread *thread,
                        uint64_t *addresses, uint32_t room)
{
    unwind->thread = thread;
    unwind->addresses = addresses;
    unwind->count = 0;
    unwind->room = room;
    if (!unwind->is_attached)
        unwind->is_attached =
            dwfl_attach_state(unwind->dwfl, NULL, ANY_PROCESS, &thread_callbacks, unwind);
    if (unwind->is_attached)
        (void)dwfl_getthread_frames(unwind->dwfl, ANY_THREAD, unwind_store_frame, unwind);
    return unwind->count;
}
