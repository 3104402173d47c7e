/* SPDX-License-Identifier: Apache-2.0 */
/*
 * code.c - where functions begin, what calls call, and stacks from frame pointers.
 *
 * Sources, none of which needs debug information:
 *
 *     .eh_frame_hdr   a sorted table of function starts, static functions included
 *     the code        the instruction in front of a return address is the call
 *     PLT entries     a call of another module's function leads through a jump with a slot
 */
#define _GNU_SOURCE
#include "recorder/native/code.h"

#include <assert.h>
#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include "recorder/native/sampler.h"
#include "recorder/trace_buffer.h"

#define CODE_MODULES_MAX 4096u
#define CODE_STARTS_MAX (1u << 24)
#define CODE_CACHE_SIZE 4096u
#define TAIL_SCAN_BYTES 256u /* bytes of a function that are searched for jumps */

/* The first word of .eh_frame_hdr in the form that all linkers write: version 1, a pointer
 * relative to its place, a count of 4 bytes, a sorted table of pairs relative to the section. */
#define HEAD_FORM UINT32_C(0x3b031b01)
#define HEAD_SIZE 12u

/* A segment of a loaded module with code.  The starts of its functions are read when the first
 * address in it is asked for. */
struct code_module {
    uint64_t start, end;
    uint64_t table; /* .eh_frame_hdr; 0: none */
    uint64_t *starts;
    uint32_t count;
    bool read;
};

struct code_cache_entry {
    uint64_t address, answer;
};

static struct {
    struct code_module *modules;
    size_t count;
    unsigned long long adds, subs;
    struct code_cache_entry starts[CODE_CACHE_SIZE], calls[CODE_CACHE_SIZE];
} code;

bool tv_code_read_memory(uint64_t address, void *to, size_t size)
{
    struct iovec here = {to, size};
    struct iovec there = {(void *)(uintptr_t)address, size}; // NOLINT: an address to be looked at
    /* A thread that is alive: main may have ended. */
    return process_vm_readv((pid_t)syscall(SYS_gettid), &here, 1, &there, 1, 0) == (ssize_t)size;
}

/* Compare the counts of loaded and unloaded modules.  Every module's information has them, so
 * the first is enough. */
static int code_compare_load_counts(struct dl_phdr_info *info, size_t size, void *same)
{
    (void)size;
    *(bool *)same = info->dlpi_adds == code.adds && info->dlpi_subs == code.subs;
    code.adds = info->dlpi_adds;
    code.subs = info->dlpi_subs;
    return 1;
}

/* Add the segments with code of a module (a callback); 0 goes on to the next module. */
static int code_add_module(struct dl_phdr_info *info, size_t size, void *unused)
{
    uint64_t table = 0;
    (void)size;
    (void)unused;
    for (int i = 0; i < info->dlpi_phnum; i++)
        if (info->dlpi_phdr[i].p_type == PT_GNU_EH_FRAME)
            table = info->dlpi_addr + info->dlpi_phdr[i].p_vaddr;
    for (int i = 0; i < info->dlpi_phnum && code.count < CODE_MODULES_MAX; i++) {
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
    dl_iterate_phdr(code_compare_load_counts, &same);
    if (same && code.modules)
        return false;
    if (!code.modules)
        code.modules = calloc(CODE_MODULES_MAX, sizeof *code.modules);
    if (!code.modules)
        return false;
    for (size_t i = 0; i < code.count; i++)
        free(code.modules[i].starts);
    code.count = 0;
    memset(code.starts, 0, sizeof code.starts);
    memset(code.calls, 0, sizeof code.calls);
    dl_iterate_phdr(code_add_module, NULL);
    return true;
}

/* Find the module that contains an address; NULL: none. */
static struct code_module *code_find_module(uint64_t address)
{
    for (size_t i = 0; i < code.count; i++)
        if (address >= code.modules[i].start && address < code.modules[i].end)
            return &code.modules[i];
    return NULL;
}

bool tv_code_contains(uint64_t address)
{
    return code_find_module(address) != NULL;
}

/* Read the starts of the functions of a module, once.  Without a table of the usual form there are
 * none. */
static void code_read_eh_table(struct code_module *module)
{
    uint32_t head[HEAD_SIZE / 4];
    module->read = true;
    if (module->table == 0 || !tv_code_read_memory(module->table, head, sizeof head) ||
        head[0] != HEAD_FORM || head[2] == 0 || head[2] > CODE_STARTS_MAX)
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

/* Return the start of the function around an address: the last one that is not above it.  Code that
 * has no entry in the table counts as part of the function before it. */
static uint64_t code_look_up_start(uint64_t address)
{
    struct code_module *module = code_find_module(address);
    if (module && !module->read)
        code_read_eh_table(module);
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

/* Return the slot of an address.  The upper bits of the product depend on all bits of the address.
 */
static struct code_cache_entry *code_cache_slot(struct code_cache_entry *cache, uint64_t address)
{
    _Static_assert(CODE_CACHE_SIZE == UINT64_C(1) << (64 - 52), "the hash is an index");
    return &cache[address * UINT64_C(0x9E3779B97F4A7C15) >> 52];
}

uint64_t tv_code_function_start(uint64_t address)
{
    struct code_cache_entry *kept = code_cache_slot(code.starts, address);
    if (kept->address != address)
        *kept = (struct code_cache_entry){address, code_look_up_start(address)};
    return kept->answer;
}

#if defined(__x86_64__)

static int32_t code_offset_at(const uint8_t *bytes)
{
    int32_t offset;
    memcpy(&offset, bytes, sizeof offset);
    return offset;
}

/* Return the address in a slot of the global offset table.  One that cannot be read could hold
 * anything. */
static uint64_t code_load_slot(uint64_t address)
{
    uint64_t value;
    return tv_code_read_memory(address, &value, sizeof value) ? value : TV_CODE_INDIRECT;
}

/* Follow an entry of the procedure linkage table: [endbr64] [bnd] jmp *slot(%rip). */
static uint64_t code_follow_plt(uint64_t target)
{
    static const uint8_t mark[] = {0xf3, 0x0f, 0x1e, 0xfa};
    uint8_t bytes[16];
    if (!tv_code_contains(target) || !tv_code_read_memory(target, bytes, sizeof bytes))
        return target;
    size_t at = memcmp(bytes, mark, sizeof mark) == 0 ? sizeof mark : 0;
    at += bytes[at] == 0xf2;
    if (bytes[at] != 0xff || bytes[at + 1] != 0x25)
        return target;
    return code_load_slot(target + at + 6 + (uint64_t)(int64_t)code_offset_at(bytes + at + 2));
}

/* call *%reg, call *(%reg), with 8 or 32 bits of offset, with or without an index. */
static bool code_is_indirect_call(const uint8_t *end)
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

/* Return the target of the call before a return address; TV_CODE_INDIRECT: one that only the
 * processor knows; 0: there is no call. */
static uint64_t code_decode_call(uint64_t after)
{
    uint8_t bytes[8];
    const uint8_t *end = bytes + sizeof bytes;
    if (!tv_code_contains(after - 1) ||
        !tv_code_read_memory(after - sizeof bytes, bytes, sizeof bytes))
        return 0;
    uint64_t target = after + (uint64_t)(int64_t)code_offset_at(end - 4);
    if (end[-5] == 0xe8 && tv_code_contains(target))
        return code_follow_plt(target);
    if (end[-6] == 0xff && end[-5] == 0x15)
        return code_load_slot(target);
    return code_is_indirect_call(end) ? TV_CODE_INDIRECT : 0;
}

#define JUMP_STEP 1u

/* Return the target of a jmp or conditional jump whose offset is there, 0: there is none. */
static uint64_t code_jump_target(const uint8_t *offset, uint64_t address)
{
    bool jumps = offset[-1] == 0xe9 || (offset[-2] == 0x0f && offset[-1] >> 4 == 8);
    return jumps ? address + 4 + (uint64_t)(int64_t)code_offset_at(offset) : 0;
}

#elif defined(__aarch64__)

/* Follow an entry of the procedure linkage table: [bti c] adrp x16; ldr x17, [x16, slot]. */
static uint64_t code_follow_plt(uint64_t target)
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

static uint64_t code_decode_call(uint64_t after)
{
    uint32_t word;
    if (!tv_code_contains(after - 4) || !tv_code_read_memory(after - 4, &word, sizeof word))
        return 0;
    if ((word & 0xfffffc1f) == 0xd63f0000)
        return TV_CODE_INDIRECT;
    if ((word & 0xfc000000) != 0x94000000)
        return 0;
    int64_t distance = (int64_t)((uint64_t)(word & 0x03ffffff) << 38) >> 36;
    return code_follow_plt(after - 4 + (uint64_t)distance);
}

#define JUMP_STEP 4u

/* Return the target of a b instruction, 0: there is none. */
static uint64_t code_jump_target(const uint8_t *bytes, uint64_t address)
{
    uint32_t word;
    memcpy(&word, bytes, sizeof word);
    int64_t distance = (int64_t)((uint64_t)(word & 0x03ffffff) << 38) >> 36;
    return (word & 0xfc000000) == 0x14000000 ? address + (uint64_t)distance : 0;
}

#else

#define JUMP_STEP 4u

static uint64_t code_jump_target(const uint8_t *bytes, uint64_t address)
{
    (void)bytes;
    (void)address;
    return 0;
}

static uint64_t code_decode_call(uint64_t after)
{
    (void)after;
    return 0;
}

#endif

uint64_t tv_code_call_target(uint64_t after)
{
    struct code_cache_entry *kept = code_cache_slot(code.calls, after);
    if (kept->address != after)
        *kept = (struct code_cache_entry){after, code_decode_call(after)};
    return kept->answer;
}

/* Read the beginning of a function's code; return its size. */
static size_t code_read_function(uint64_t start, uint8_t *bytes)
{
    const struct code_module *module = code_find_module(start);
    if (!module || tv_code_function_start(start) != start)
        return 0;
    size_t size = module->end - start < TAIL_SCAN_BYTES ? module->end - start : TAIL_SCAN_BYTES;
    if (!tv_code_read_memory(start, bytes, size))
        return 0;
    /* Cut off the beginning of the next function. */
    while (size > 4 && tv_code_function_start(start + size - 1) != start)
        size--;
    return size;
}

/* Wrappers jump to wrappers, so follow two in a row. */
static bool code_jumps_to(uint64_t start, uint64_t target, bool further)
{
    uint8_t bytes[TAIL_SCAN_BYTES];
    size_t size = code_read_function(start, bytes);
    for (size_t i = JUMP_STEP == 1 ? 2 : 0; i + 4 <= size; i += JUMP_STEP) {
        uint64_t to = code_jump_target(bytes + i, start + i);
        if (to == target || (to != 0 && to != start && further &&
                             tv_code_function_start(to) == to && code_jumps_to(to, target, false)))
            return true;
    }
    return false;
}

bool tv_code_may_tail_call(uint64_t start, uint64_t target)
{
    return target > TV_CODE_INDIRECT && code_jumps_to(start, target, true);
}

/* The dynamic section of a module, as the loader keeps it. */
struct dynamic_section {
    const ElfW(Sym) * symbols;
    const char *texts;
    const ElfW(Rela) * tables[2];
    size_t sizes[2];
};

/* The loader makes the addresses absolute, except in the kernel's own module. */
static const void *dynamic_absolute(uint64_t value, uint64_t base)
{
    uint64_t address = value < base ? value + base : value;
    return (const void *)(uintptr_t)address; // NOLINT: as the loader keeps it
}

/* Collect the tables of a dynamic section that relocations need. */
static struct dynamic_section dynamic_read(const ElfW(Dyn) * entry, uint64_t base)
{
    struct dynamic_section found = {0};
    for (; entry->d_tag != DT_NULL; entry++) {
        if (entry->d_tag == DT_SYMTAB)
            found.symbols = dynamic_absolute(entry->d_un.d_ptr, base);
        else if (entry->d_tag == DT_STRTAB)
            found.texts = dynamic_absolute(entry->d_un.d_ptr, base);
        else if (entry->d_tag == DT_RELA)
            found.tables[0] = dynamic_absolute(entry->d_un.d_ptr, base);
        else if (entry->d_tag == DT_RELASZ)
            found.sizes[0] = entry->d_un.d_val;
        else if (entry->d_tag == DT_JMPREL)
            found.tables[1] = dynamic_absolute(entry->d_un.d_ptr, base);
        else if (entry->d_tag == DT_PLTRELSZ)
            found.sizes[1] = entry->d_un.d_val;
    }
    return found;
}

/* A module that calls the hook has a relocation with its name. */
static int dynamic_wants_hook(struct dl_phdr_info *info, size_t size, void *unused)
{
    struct dynamic_section found = {0};
    (void)size;
    (void)unused;
    for (int i = 0; i < info->dlpi_phnum; i++)
        if (info->dlpi_phdr[i].p_type == PT_DYNAMIC)
            found = dynamic_read(dynamic_absolute(info->dlpi_phdr[i].p_vaddr, info->dlpi_addr),
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
    return dl_iterate_phdr(dynamic_wants_hook, NULL) != 0;
}

/* ---- Stacks from frame pointers ---- */

#define PROLOGUE_BYTES 8u /* bytes at a function's start in which its frame is made */
#define SCAN_BYTES_MAX 16384u
#define SCAN_PIECE_WORDS 512u /* words */

/* Make a stack's word from an address.  Callers pass the return address minus one, which is
 * within the call. */
static uint64_t frames_word(uint64_t address)
{
    return TV_WORD_ADDRESS | address << 2;
}

/* Return the return address that no frame has; 0: there is none. */
static uint64_t frames_find_missing_return(const struct tv_frame_registers *raw, uint64_t start)
{
    uint64_t called = raw->depth > 0 ? tv_code_call_target(raw->returns[0]) : 0;
    if (start == 0 || called == start)
        return 0;
    if (tv_code_call_target(raw->near[0]) == start)
        return raw->near[0];
    if (raw->pc - start <= PROLOGUE_BYTES && tv_code_call_target(raw->near[1]) == start)
        return raw->near[1];
    /* A call through a pointer: then the outermost frame must be that of the function it returns
     * to. */
    bool fits = tv_code_call_target(raw->near[0]) == TV_CODE_INDIRECT &&
                called > TV_CODE_INDIRECT && called == tv_code_function_start(raw->near[0] - 1);
    return fits ? raw->near[0] : 0;
}

uint32_t tv_frames_from_registers(const struct tv_frame_registers *raw, uint64_t *words,
                                  uint32_t most)
{
    assert(most > 0);
    uint32_t depth = 0;
    words[depth++] = frames_word(raw->pc);
    uint64_t missing = frames_find_missing_return(raw, tv_code_function_start(raw->pc));
    if (missing != 0 && depth < most)
        words[depth++] = frames_word(missing - 1);
    for (uint32_t i = 0; i < raw->depth && depth < most; i++) {
        if (tv_code_call_target(raw->returns[i]) == 0)
            break;
        words[depth++] = frames_word(raw->returns[i] - 1);
    }
    return depth;
}

uint32_t tv_frames_scan_stack(uint64_t pc, uint64_t sp, uint64_t end, uint64_t *words,
                              uint32_t most)
{
    assert(most > 0);
    uint64_t piece[SCAN_PIECE_WORDS];
    uint32_t depth = 0;
    uint64_t wanted = tv_code_function_start(pc);
    words[depth++] = frames_word(pc);
    if (end - sp > SCAN_BYTES_MAX)
        end = sp + SCAN_BYTES_MAX;
    for (uint64_t at = sp; at < end && wanted != 0; at += sizeof piece) {
        size_t count = end - at < sizeof piece ? (size_t)(end - at) / 8 : SCAN_PIECE_WORDS;
        if (!tv_code_read_memory(at, piece, count * 8))
            break;
        for (size_t i = 0; i < count && depth < most; i++) {
            uint64_t called = tv_code_contains(piece[i]) ? tv_code_call_target(piece[i]) : 0;
            if (called != wanted && !tv_code_may_tail_call(called, wanted))
                continue;
            words[depth++] = frames_word(piece[i] - 1);
            wanted = tv_code_function_start(piece[i] - 1);
        }
    }
    return depth;
}
