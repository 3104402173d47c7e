/* SPDX-License-Identifier: Apache-2.0 */
/* registers.c - unwinding by registers (see registers.h). Async-signal-safe. */
#define _GNU_SOURCE
#include "recorder/agent/registers.h"

#include <string.h>

#define WORD sizeof(uintptr_t)

#if defined(__x86_64__)
#define GREG(context, name) ((context)->uc_mcontext.gregs[name])
bool tv_registers_read(const ucontext_t *context, struct tv_registers *out)
{
    *out = (struct tv_registers){
        .pc = (uintptr_t)GREG(context, REG_RIP),
        .stack = (uintptr_t)GREG(context, REG_RSP),
        .frame = (uintptr_t)GREG(context, REG_RBP),
    };
    return true;
}

void tv_registers_write(ucontext_t *context, const struct tv_registers *registers)
{
    GREG(context, REG_RIP) = (greg_t)registers->pc;
    GREG(context, REG_RSP) = (greg_t)registers->stack;
    GREG(context, REG_RBP) = (greg_t)registers->frame;
}
#elif defined(__aarch64__)
#define FRAME_REGISTER 29
#define LINK_REGISTER 30
bool tv_registers_read(const ucontext_t *context, struct tv_registers *out)
{
    *out = (struct tv_registers){
        .pc = (uintptr_t)context->uc_mcontext.pc,
        .stack = (uintptr_t)context->uc_mcontext.sp,
        .frame = (uintptr_t)context->uc_mcontext.regs[FRAME_REGISTER],
        .link = (uintptr_t)context->uc_mcontext.regs[LINK_REGISTER],
    };
    return true;
}

void tv_registers_write(ucontext_t *context, const struct tv_registers *registers)
{
    context->uc_mcontext.pc = registers->pc;
    context->uc_mcontext.sp = registers->stack;
    context->uc_mcontext.regs[FRAME_REGISTER] = registers->frame;
}
#else
bool tv_registers_read(const ucontext_t *context, struct tv_registers *out)
{
    (void)context;
    *out = (struct tv_registers){0};
    return false;
}

void tv_registers_write(ucontext_t *context, const struct tv_registers *registers)
{
    (void)context;
    (void)registers;
}
#endif

/* Read a word of the stack. Only addresses from the stack pointer to the end of the stack are safe.
 */
static bool registers_read_stack(const struct tv_registers *registers, uintptr_t at, uintptr_t end,
                                 uintptr_t *out)
{
    const void *place;
    if (at < registers->stack || at % WORD != 0 || end < WORD || at > end - WORD)
        return false;
    memcpy(&place, &at, sizeof place);
    memcpy(out, place, sizeof *out);
    return true;
}

bool tv_registers_leave_leaf(struct tv_registers *registers, uintptr_t end)
{
    uintptr_t caller = registers->link;
    if (caller == 0) {
        if (!registers_read_stack(registers, registers->stack, end, &caller))
            return false;
        registers->stack += WORD;
    }
    registers->pc = caller;
    registers->link = 0;
    return true;
}

bool tv_registers_leave_frame(struct tv_registers *registers, uintptr_t end)
{
    uintptr_t before, caller;
    if (!registers_read_stack(registers, registers->frame, end, &before) ||
        !registers_read_stack(registers, registers->frame + WORD, end, &caller))
        return false;
    registers->stack = registers->frame + 2 * WORD;
    registers->frame = before;
    registers->pc = caller;
    registers->link = 0;
    return true;
}
