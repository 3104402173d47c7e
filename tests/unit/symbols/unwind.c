/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Copied stacks: the test's own, copied where it stands, has the callers that the compiler's own
 * answer names (__builtin_return_address), and one that is damaged has none that lead astray.
 */
#define _GNU_SOURCE
#include "unit.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <ucontext.h>
#include <unistd.h>

#include "symbols/elf.h"

#define REGISTERS 33
#define COPIED 4096
#define ROOM 64

struct copy {
    struct tv_unwind_thread thread;
    uint64_t registers[REGISTERS];
    uint8_t stack[COPIED];
    uint64_t returns_to; /* where the function that copied it does */
};

static struct copy copied;

/* Registers in the order of DWARF, and the stack from where it stands. */
__attribute__((noinline)) static void copy_stack(void)
{
    ucontext_t context;
    getcontext(&context);
#if defined(__x86_64__)
    static const int places[] = {REG_RAX, REG_RDX, REG_RCX, REG_RBX, REG_RSI, REG_RDI,
                                 REG_RBP, REG_RSP, REG_R8,  REG_R9,  REG_R10, REG_R11,
                                 REG_R12, REG_R13, REG_R14, REG_R15, REG_RIP};
    copied.thread.register_count = 17;
    for (size_t i = 0; i < 17; i++)
        copied.registers[i] = (uint64_t)context.uc_mcontext.gregs[places[i]];
    copied.thread.pc = copied.registers[16];
    copied.thread.sp = copied.registers[7];
#elif defined(__aarch64__)
    copied.thread.register_count = 32;
    for (size_t i = 0; i < 31; i++)
        copied.registers[i] = context.uc_mcontext.regs[i];
    copied.registers[31] = context.uc_mcontext.sp;
    copied.thread.pc = context.uc_mcontext.pc;
    copied.thread.sp = context.uc_mcontext.sp;
#endif
    copied.thread.registers = copied.registers;
    copied.thread.stack = copied.stack;
    copied.thread.length = copied.thread.register_count > 0 ? COPIED : 0;
    copied.returns_to = (uint64_t)(uintptr_t)__builtin_return_address(0);
    /* By the system: a sanitizer forbids to read another function's part. */
    int memory = open("/proc/self/mem", O_RDONLY | O_CLOEXEC);
    ssize_t length = pread(memory, copied.stack, COPIED, (off_t)copied.thread.sp);
    close(memory);
    if (length < (ssize_t)copied.thread.length)
        copied.thread.length = length > 0 ? (size_t)length : 0;
}

__attribute__((noinline)) static uint64_t copy_below(void)
{
    copy_stack();
    return (uint64_t)(uintptr_t)__builtin_return_address(0);
}

/* The files of this process that are executed. */
static struct tv_unwind *unwind_self(void)
{
    char line[4096], permissions[8], path[4096];
    uint64_t start, offset;
    struct tv_unwind *unwind = tv_unwind_new();
    FILE *maps = fopen("/proc/self/maps", "re");
    assert_non_null(maps);
    while (unwind && fgets(line, sizeof line, maps))
        if (sscanf(line, "%" SCNx64 "-%*x %7s %" SCNx64 " %*s %*s %4095s", &start, permissions,
                   &offset, path) == 4 &&
            permissions[2] == 'x' && path[0] == '/')
            tv_unwind_add_file(unwind, path, start, offset);
    fclose(maps);
    return unwind;
}

static void finds_callers(void **state)
{
    (void)state;
    uint64_t addresses[ROOM], outer = copy_below();
    struct tv_unwind *unwind = unwind_self();
    if (!unwind || copied.thread.length == 0)
        return;
    uint32_t count = tv_unwind_walk(unwind, &copied.thread, addresses, ROOM);
    assert_true(count >= 3);
    assert_int_equal(addresses[0], copied.thread.pc);
    assert_int_equal(addresses[1], copied.returns_to);
    assert_int_equal(addresses[2], outer);
    /* No more than there is room for. */
    assert_int_equal(tv_unwind_walk(unwind, &copied.thread, addresses, 2), 2);
    tv_unwind_free(unwind);
}

/* Any copy and any registers lead to an end, and to no byte beside the copy. */
static void survives_damage(void **state)
{
    (void)state;
    copy_below();
    struct tv_unwind *unwind = unwind_self();
    unsigned seed = 1;
    for (unsigned round = 0; unwind && copied.thread.length > 0 && round < 300; round++) {
        uint64_t registers[REGISTERS], addresses[ROOM];
        struct tv_unwind_thread thread = copied.thread;
        size_t length = (size_t)rand_r(&seed) % copied.thread.length;
        uint8_t *stack = malloc(length + 1);
        memcpy(stack, copied.stack, length);
        memcpy(registers, copied.registers, sizeof registers);
        for (unsigned i = 0; i < 20 && length > 0; i++)
            stack[(size_t)rand_r(&seed) % length] = (uint8_t)rand_r(&seed);
        if (round % 3 == 0)
            registers[(size_t)rand_r(&seed) % REGISTERS] = (uint64_t)rand_r(&seed) << 17;
        thread.registers = registers;
        thread.stack = stack;
        thread.length = length;
        assert_true(tv_unwind_walk(unwind, &thread, addresses, ROOM) <= ROOM);
        free(stack);
    }
    tv_unwind_free(unwind);
}

/* Files that are not ELF are left out; without any the stack is the innermost address alone. */
static void survives_files_without_tables(void **state)
{
    (void)state;
    uint64_t addresses[ROOM];
    copy_below();
    struct tv_unwind *unwind = tv_unwind_new();
    if (!unwind || copied.thread.length == 0)
        return;
    tv_unwind_add_file(unwind, "/no/such", 0x400000, 0);
    tv_unwind_add_file(unwind, "/proc/self/maps", 0x400000, 0);
    tv_unwind_add_file(unwind, "/dev/null", 0x500000, UINT64_MAX);
    assert_true(tv_unwind_walk(unwind, &copied.thread, addresses, ROOM) <= 1);
    tv_unwind_free(unwind);
    tv_unwind_free(NULL);
}

UNIT_TESTS(unwind, cmocka_unit_test(finds_callers), cmocka_unit_test(survives_damage),
           cmocka_unit_test(survives_files_without_tables));
