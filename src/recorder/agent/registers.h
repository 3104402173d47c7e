/* SPDX-License-Identifier: Apache-2.0 */
/*
 * registers.h - the registers of an interrupted thread, from callee to caller.
 *
 * The machine can walk from compiled code, and not from its stubs (the loops that copy arrays) nor
 * from C functions that compiled code calls without leaving Java.  Those have what the ABI says:
 * at first the return address alone, then a frame pointer.  So a step or a few lead to code that
 * the machine knows.
 */
#ifndef TV_RECORDER_AGENT_REGISTERS_H
#define TV_RECORDER_AGENT_REGISTERS_H

#include <stdbool.h>
#include <stdint.h>
#include <ucontext.h>

struct tv_registers {
    uintptr_t pc, stack, frame;
    uintptr_t link; /* where the return address is a register: else 0 */
};

/* False: this processor's registers are not known. */
bool tv_registers_read(const ucontext_t *context, struct tv_registers *out);
void tv_registers_write(ucontext_t *context, const struct tv_registers *registers);

/* From a function that has no frame of its own yet, or none at all, to its caller.  `end` is that
 * of the stack.  False: there is no caller to be seen; nothing has changed. */
bool tv_registers_leave_leaf(struct tv_registers *registers, uintptr_t end);

/* To the caller of the function whose frame the frame pointer shows. */
bool tv_registers_leave_frame(struct tv_registers *registers, uintptr_t end);

#endif
