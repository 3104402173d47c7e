/* SPDX-License-Identifier: Apache-2.0 */
/* Steps to callers over stacks that are made by hand, as the ABI lays them out. */
#include "unit.h"

#include "recorder/agent/registers.h"

#define WORDS 8u
#define CALLER UINT64_C(0xC0DE)

static uintptr_t stack[WORDS];

static uintptr_t at(unsigned word)
{
    return (uintptr_t)&stack[word];
}

static void leaves_leaves(void **state)
{
    (void)state;
    stack[2] = CALLER;
    struct tv_registers registers = {.pc = 1, .stack = at(2), .frame = at(6)};
    assert_true(tv_registers_leave_leaf(&registers, at(WORDS)));
    assert_int_equal(registers.pc, CALLER);
    assert_int_equal(registers.stack, at(3));
    assert_int_equal(registers.frame, at(6));
    /* On machines with a register for the return address the stack pointer stays. */
    registers = (struct tv_registers){.pc = 1, .stack = at(2), .frame = at(6), .link = 7};
    assert_true(tv_registers_leave_leaf(&registers, at(WORDS)));
    assert_int_equal(registers.pc, 7);
    assert_int_equal(registers.stack, at(2));
}

static void leaves_frames(void **state)
{
    (void)state;
    stack[4] = at(6);
    stack[5] = CALLER;
    struct tv_registers registers = {.pc = 1, .stack = at(2), .frame = at(4)};
    assert_true(tv_registers_leave_frame(&registers, at(WORDS)));
    assert_int_equal(registers.pc, CALLER);
    assert_int_equal(registers.stack, at(6));
    assert_int_equal(registers.frame, at(6));
}

/* Compiled code uses the frame pointer for anything: nothing outside of the stack is read. */
static void reads_the_stack_alone(void **state)
{
    (void)state;
    const uintptr_t wrong[] = {0,         1,         at(1),    at(WORDS - 1),
                               at(WORDS), at(4) + 1, SIZE_MAX, SIZE_MAX - 7};
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        struct tv_registers registers = {.pc = 1, .stack = at(2), .frame = wrong[i]};
        assert_false(tv_registers_leave_frame(&registers, at(WORDS)));
        assert_int_equal(registers.pc, 1);
        assert_int_equal(registers.stack, at(2));
        assert_int_equal(registers.frame, wrong[i]);
    }
    struct tv_registers registers = {.pc = 1, .stack = at(WORDS)};
    assert_false(tv_registers_leave_leaf(&registers, at(WORDS)));
    registers.stack = at(2);
    assert_false(tv_registers_leave_leaf(&registers, 0)); /* its end is unknown */
}

static void puts_registers_back(void **state)
{
    (void)state;
    ucontext_t context;
    struct tv_registers before, after = {.pc = 1, .stack = 2, .frame = 3}, read;
    assert_int_equal(getcontext(&context), 0);
    if (!tv_registers_read(&context, &before))
        UNIT_SKIP("this processor's registers are not known");
    tv_registers_write(&context, &after);
    assert_true(tv_registers_read(&context, &read));
    assert_int_equal(read.pc, 1);
    assert_int_equal(read.stack, 2);
    assert_int_equal(read.frame, 3);
    tv_registers_write(&context, &before);
    assert_true(tv_registers_read(&context, &read));
    assert_int_equal(read.pc, before.pc);
}

UNIT_TESTS(registers, cmocka_unit_test(leaves_leaves), cmocka_unit_test(leaves_frames),
           cmocka_unit_test(reads_the_stack_alone), cmocka_unit_test(puts_registers_back));
