/* SPDX-License-Identifier: Apache-2.0 */
/*
 * code.c - where functions begin, and what calls call.
 */
#define _GNU_SOURCE
#include "recorder/native/code.h"

#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include "recorder/native/sampler.h"

#define MODULES_MOST 4096u
#define STARTS_MOST (1u << 24)
#define CACHE 4096u
#define JUMPS_WITHIN 256u /* bytes of a function are looked at */

/* The head of .eh_frame_hdr in the one form that linkers write: version 1, its pointer relative to
 * its place, a count of 4 bytes, a sorted table of pairs relative to the head. */
#define HEAD_FORM UINT32_C(0x3b031b01)
#define HEAD_SIZE 12u

struct code_module {
    uint64_t start, end;
    uint64_t table; /* .eh_frame_hdr, 0: none */
    uint64_t *starts;
    uint32_t count;
    bool read;
};

struct cached {
    uint64_t address, answer;
};

static struct {
    struct code_module *modules;
    size_t count;
    unsigned long long adds, subs;
    struct cached starts[CACHE], calls[CACHE];
} code;

bool tv_code_read_memory(uint64_t address, void *to, size_t size)
{
    struct iovec here = {to, size};
    struct iovec there = {(void *)(uintptr_t)address, size}; // NOLINT: an address to be looked at
    /* By a thread that lives: main may have ended. */
    return process_vm_readv((pid_t)syscall(SYS_gettid), &here, 1, &there, 1, 0) == (ssize_t)size;
}

/* All information has the counts of what was ever loaded and unloaded; the first is enough. */
static int compare_counts(struct dl_phdr_info *info, size_t size, void *same)
{
    (void)size;
    *(bool *)same = info->dlpi_adds == code.adds && info->dlpi_subs == code.subs;
    code.adds = info->dlpi_adds;
    code.subs = info->dlpi_subs;
    return 1;
}

static int add(struct dl_phdr_info *info, size_t size, void *unused)
{
    uint64_t table = 0;
    (void)size;
    (void)unused;
    for (int i = 0; i < info->dlpi_phnum; i++)
        if (info->dlpi_phdr[i].p_type == PT_GNU_EH_FRAME)
            table = info->dlpi_addr + info->dlpi_phdr[i].p_vaddr;
    for (int i = 0; i < info->dlpi_phnum && code.count < MODULES_MOST; i++) {
        const ElfW(Phdr) *segment = &info->dlpi_phdr[i];
        uint64_t start = info->dlpi_addr + segment->p_vaddr;
        if (segment->p_type == PT_LOAD && (segment->p_flags & PF_X))
            code.modules[code.count++] =
                (struct code_module){start, start + segment->p_memsz, table, NULL, 0, false};
    }
    return 0;
}

bool tv_code_refresh(void)
{
    bool same = false;
    dl_iterate_phdr(compare_counts, &same);
    if (same && code.modules)
        return false;
    if (!code.modules)
        code.modules = calloc(MODULES_MOST, sizeof *code.modules);
    if (!code.modules)
        return false;
    for (size_t i = 0; i < code.count; i++)
        free(code.modules[i].starts);
    code.count = 0;
    memset(code.starts, 0, sizeof code.starts);
    memset(code.calls, 0, sizeof code.calls);
    dl_iterate_phdr(add, NULL);
    return true;
}

static struct code_module *find_module(uint64_t address)
{
    for (size_t i = 0; i < code.count; i++)
        if (address >= code.modules[i].start && address < code.modules[i].end)
            return &code.modules[i];
    return NULL;
}

bool tv_code_contains(uint64_t address)
{
    return find_module(address) != NULL;
}

static void read_starts(struct code_module *module)
{
    uint32_t head[HEAD_SIZE / 4];
    module->read = true;
    if (module->table == 0 || !tv_code_read_memory(module->table, head, sizeof head) ||
        head[0] != HEAD_FORM || head[2] == 0 || head[2] > STARTS_MOST)
        return;
    int32_t(*pairs)[2] = calloc(head[2], sizeof *pairs);
    uint64_t *starts = calloc(head[2], sizeof *starts);
    if (!pairs || !starts ||
        !tv_code_read_memory(module->table + HEAD_SIZE, pairs, head[2] * sizeof *pairs)) {
        free(pairs);
        free(starts);
        return;
    }
    for (uint32_t i = 0; i < head[2]; i++)
        starts[i] = module->table + (uint64_t)(int64_t)pairs[i][0];
    free(pairs);
    module->starts = starts;
    module->count = head[2];
}

static uint64_t look_up_start(uint64_t address)
{
    struct code_module *module = find_module(address);
    if (module && !module->read)
        read_starts(module);
    if (!module || module->count == 0 || address < module->starts[0])
        return 0;
    uint32_t low = 0, high = module->count;
    while (high - low > 1) {
        uint32_t middle = low + (high - low) / 2;
        if (module->starts[middle] <= address)
            low = middle;
        else
            high = middle;
    }
    return module->starts[low];
}

static struct cached *place_of(struct cached *cache, uint64_t address)
{
    return &cache[address * UINT64_C(0x9E3779B97F4A7C15) >> 52];
}

uint64_t tv_code_function_start(uint64_t address)
{
    struct cached *kept = place_of(code.starts, address);
    if (kept->address != address)
        *kept = (struct cached){address, look_up_start(address)};
    return kept->answer;
}

#if defined(__x86_64__)

static int32_t offset_at(const uint8_t *bytes)
{
    int32_t offset;
    memcpy(&offset, bytes, sizeof offset);
    return offset;
}

static uint64_t load(uint64_t address)
{
    uint64_t value;
    return tv_code_read_memory(address, &value, sizeof value) ? value : TV_CODE_INDIRECT;
}

/* Through an entry of the procedure linkage table: [endbr64] [bnd] jmp *slot(%rip). */
static uint64_t follow(uint64_t target)
{
    static const uint8_t mark[] = {0xf3, 0x0f, 0x1e, 0xfa};
    uint8_t bytes[16];
    if (!tv_code_contains(target) || !tv_code_read_memory(target, bytes, sizeof bytes))
        return target;
    size_t at = memcmp(bytes, mark, sizeof mark) == 0 ? sizeof mark : 0;
    at += bytes[at] == 0xf2;
    if (bytes[at] != 0xff || bytes[at + 1] != 0x25)
        return target;
    return load(target + at + 6 + (uint64_t)(int64_t)offset_at(bytes + at + 2));
}

/* call *%reg, call *(%reg), with 8 or 32 bits of offset, with or without an index. */
static bool is_indirect(const uint8_t *end)
{
    for (int length = 2; length <= 7; length++) {
        uint8_t form = end[-length + 1];
        if (end[-length] != 0xff || ((form >> 3) & 7) != 2)
            continue;
        int index = (form >> 6) != 3 && (form & 7) == 4, kind = form >> 6;
        int offset = kind == 1 ? 1 : kind == 2 || (kind == 0 && (form & 7) == 5) ? 4 : 0;
        if (length == 2 + index + offset)
            return true;
    }
    return false;
}

static uint64_t look_up_call(uint64_t after)
{
    uint8_t bytes[8];
    const uint8_t *end = bytes + sizeof bytes;
    if (!tv_code_contains(after - 1) || !tv_code_read_memory(after - sizeof bytes, bytes, sizeof bytes))
        return 0;
    uint64_t target = after + (uint64_t)(int64_t)offset_at(end - 4);
    if (end[-5] == 0xe8 && tv_code_contains(target))
        return follow(target);
    if (end[-6] == 0xff && end[-5] == 0x15)
        return load(target);
    return is_indirect(end) ? TV_CODE_INDIRECT : 0;
}

#define JUMP_STEP 1u

/* Where jmp, or a jump on a condition, goes whose offset is there; 0: that is none. */
static uint64_t jump_of(const uint8_t *offset, uint64_t address)
{
    bool jumps = offset[-1] == 0xe9 || (offset[-2] == 0x0f && offset[-1] >> 4 == 8);
    return jumps ? address + 4 + (uint64_t)(int64_t)offset_at(offset) : 0;
}

#elif defined(__aarch64__)

/* Through an entry of the procedure linkage table: [bti c] adrp x16; ldr x17, [x16, slot]. */
static uint64_t follow(uint64_t target)
{
    uint32_t words[3];
    uint64_t value;
    if (!tv_code_contains(target) || !tv_code_read_memory(target, words, sizeof words))
        return target;
    size_t at = words[0] == 0xd503245f;
    if ((words[at] & 0x9f00001f) != 0x90000010 || (words[at + 1] & 0xffc003ff) != 0xf9400211)
        return target;
    uint64_t pages = (words[at] >> 29 & 3) | (uint64_t)(words[at] >> 5 & 0x7ffff) << 2;
    int64_t distance = (int64_t)(pages << 43) >> 31;
    uint64_t page = ((target + at * 4) & ~UINT64_C(4095)) + (uint64_t)distance;
    uint64_t slot = page + (words[at + 1] >> 10 & 0xfff) * 8;
    return tv_code_read_memory(slot, &value, sizeof value) ? value : TV_CODE_INDIRECT;
}

static uint64_t look_up_call(uint64_t after)
{
    uint32_t word;
    if (!tv_code_contains(after - 4) || !tv_code_read_memory(after - 4, &word, sizeof word))
        return 0;
    if ((word & 0xfffffc1f) == 0xd63f0000)
        return TV_CODE_INDIRECT;
    if ((word & 0xfc000000) != 0x94000000)
        return 0;
    int64_t distance = (int64_t)((uint64_t)(word & 0x03ffffff) << 38) >> 36;
    return follow(after - 4 + (uint64_t)distance);
}

#define JUMP_STEP 4u

/* Where b goes; 0: that is none. */
static uint64_t jump_of(const uint8_t *bytes, uint64_t address)
{
    uint32_t word;
    memcpy(&word, bytes, sizeof word);
    int64_t distance = (int64_t)((uint64_t)(word & 0x03ffffff) << 38) >> 36;
    return (word & 0xfc000000) == 0x14000000 ? address + (uint64_t)distance : 0;
}

#else

#define JUMP_STEP 4u

static uint64_t jump_of(const uint8_t *bytes, uint64_t address)
{
    (void)bytes;
    (void)address;
    return 0;
}

static uint64_t look_up_call(uint64_t after)
{
    (void)after;
    return 0;
}

#endif

uint64_t tv_code_call_target(uint64_t after)
{
    struct cached *kept = place_of(code.calls, after);
    if (kept->address != after)
        *kept = (struct cached){after, look_up_call(after)};
    return kept->answer;
}

/* The begin of a function's code; how much of it. */
static size_t read_function(uint64_t start, uint8_t *bytes)
{
    const struct code_module *module = find_module(start);
    if (!module || tv_code_function_start(start) != start)
        return 0;
    size_t size = module->end - start < JUMPS_WITHIN ? module->end - start : JUMPS_WITHIN;
    if (!tv_code_read_memory(start, bytes, size))
        return 0;
    /* What follows is another function. */
    while (size > 4 && tv_code_function_start(start + size - 1) != start)
        size--;
    return size;
}

/* Wrappers jump to wrappers: two in a row are looked through. */
static bool leads_to(uint64_t start, uint64_t target, bool further)
{
    uint8_t bytes[JUMPS_WITHIN];
    size_t size = read_function(start, bytes);
    for (size_t i = JUMP_STEP == 1 ? 2 : 0; i + 4 <= size; i += JUMP_STEP) {
        uint64_t to = jump_of(bytes + i, start + i);
        if (to == target || (to != 0 && to != start && further && tv_code_function_start(to) == to &&
                             leads_to(to, target, false)))
            return true;
    }
    return false;
}

bool tv_code_may_tail_call(uint64_t start, uint64_t target)
{
    return target > TV_CODE_INDIRECT && leads_to(start, target, true);
}

/* What the loader knows of a module, in place. */
struct dynamic {
    const ElfW(Sym) * symbols;
    const char *texts;
    const ElfW(Rela) * tables[2];
    size_t sizes[2];
};

/* The loader has made the addresses absolute, but for those of the kernel's own module. */
static const void *absolute(uint64_t value, uint64_t base)
{
    uint64_t address = value < base ? value + base : value;
    return (const void *)(uintptr_t)address; // NOLINT: as the loader keeps it
}

static struct dynamic read_dynamic(const ElfW(Dyn) * entry, uint64_t base)
{
    struct dynamic found = {0};
    for (; entry->d_tag != DT_NULL; entry++) {
        if (entry->d_tag == DT_SYMTAB)
            found.symbols = absolute(entry->d_un.d_ptr, base);
        else if (entry->d_tag == DT_STRTAB)
            found.texts = absolute(entry->d_un.d_ptr, base);
        else if (entry->d_tag == DT_RELA)
            found.tables[0] = absolute(entry->d_un.d_ptr, base);
        else if (entry->d_tag == DT_RELASZ)
            found.sizes[0] = entry->d_un.d_val;
        else if (entry->d_tag == DT_JMPREL)
            found.tables[1] = absolute(entry->d_un.d_ptr, base);
        else if (entry->d_tag == DT_PLTRELSZ)
            found.sizes[1] = entry->d_un.d_val;
    }
    return found;
}

/* A module that calls the hook has a relocation by its name. */
static int wants_hook(struct dl_phdr_info *info, size_t size, void *unused)
{
    struct dynamic found = {0};
    (void)size;
    (void)unused;
    for (int i = 0; i < info->dlpi_phnum; i++)
        if (info->dlpi_phdr[i].p_type == PT_DYNAMIC)
            found = read_dynamic(absolute(info->dlpi_phdr[i].p_vaddr, info->dlpi_addr),
                                 info->dlpi_addr);
    for (int table = 0; table < 2 && found.symbols && found.texts; table++)
        for (size_t i = 0; i < found.sizes[table] / sizeof(ElfW(Rela)); i++) {
            const ElfW(Sym) *symbol = &found.symbols[found.tables[table][i].r_info >> 32];
            if (strcmp(found.texts + symbol->st_name, "__cyg_profile_func_enter") == 0 &&
                symbol->st_shndx == SHN_UNDEF)
                return 1;
        }
    return 0;
}

bool tv_code_is_instrumented(void)
{
    return dl_iterate_phdr(wants_hook, NULL) != 0;
}
