/* SPDX-License-Identifier: Apache-2.0 */
/*
 * registers.h - unwinding by registers, from an interrupted function to its caller.
 *
 * AsyncGetCallTrace can walk from compiled Java code, but not from the JVM's stubs (array copy
 * loops) nor from C functions that compiled code calls without a transition to native. Their frames
 * follow the ABI: just after the call only the return address, later a frame pointer. One or a few
 * steps lead to code that the JVM knows. All functions are async-signal-safe.
 */
#ifndef TV_RECORDER_AGENT_REGISTERS_H
#define TV_RECORDER_AGENT_REGISTERS_H

#include <stdbool.h>
#include <stdint.h>
#include <ucontext.h>

struct tv_registers {
    uintptr_t pc, stack, frame;
    uintptr_t link; /* return address in a register (aarch64), else 0 */
};

/* Return false when the processor is not supported. */
bool tv_registers_read(const ucontext_t *context, struct tv_registers *out);
void tv_registers_write(ucontext_t *context, const struct tv_registers *registers);

/* Step from a leaf function, which has no frame yet or none at all, to its caller. `end` is the end
 * of the stack. Return false and change nothing when no return address can be read. */
bool tv_registers_leave_leaf(struct tv_registers *registers, uintptr_t end);

/* Step to the caller of the function that the frame pointer belongs to. Errors as above. */
bool tv_registers_leave_frame(struct tv_registers *registers, uintptr_t end);

#endif
