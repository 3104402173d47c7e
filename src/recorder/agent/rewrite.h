/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rewrite.h - class rewriting: insert hooks, so that each method reports its entry and exit.
 *
 *   place                  inserted code              branches to that place
 *   --------------------   ------------------------   -----------------------------------
 *   method entry           enter(id)                  go after it: a loop to the first
 *                                                     instruction is not another entry
 *   each return            exit(id)                   go before it
 *   each exception         caught(id)                 go before it; an extra call does
 *     handler                                         no harm
 *   after super(), in a    made(id); in handlers
 *     constructor with     after it handled(id)
 *     handlers             in place of caught(id)
 *   end of the code        handler for any Throwable
 *                          over the whole body:
 *                          unroll(id), athrow
 *
 * Hooks are static methods with signature (I)V in one class. In a constructor, the added handler
 * covers only the code after the call of this() or super(), because the verifier allows no handler
 * to see an uninitialized object. When that call throws, the recorded frame stays open. The
 * recorder closes it when the caller unrolls, or when the caller reports a caught exception: then
 * all frames above the caller's nearest own frame are gone (for constructors past super(): above
 * the nearest frame that has reported made). One case is ambiguous: a constructor creates its own
 * class before super() returns, and the exception of the inner super() is caught there or in a
 * method without hooks. Then the inner frame is taken for the outer one and ends first; the outer
 * one ends with its caller.
 *
 * Line, variable and stack map tables keep their meaning. Type annotations in code and unknown
 * tables are dropped. A method stays as it is if its code is malformed or would exceed a limit:
 * 65535 bytes of code, 16-bit branches, stack depth. The rewriter has no state and no output but
 * the result.
 */
#ifndef TV_RECORDER_AGENT_REWRITE_H
#define TV_RECORDER_AGENT_REWRITE_H

#include "recorder/agent/classfile.h"

struct tv_rewrite_method {
    struct tv_class_span class_name; /* java/lang/String */
    struct tv_class_span name;
    struct tv_class_span signature;
    struct tv_class_span source; /* source file; empty: unknown */
    unsigned first_line;         /* 0: unknown */
};

struct tv_rewrite_plan {
    const char *hooks; /* class with the six hooks, in the form java/lang/String */
    /* Return the id of a method that can be rewritten, at least 1, or 0 to leave the method as it
     * is. */
    uint32_t (*id)(void *context, const struct tv_rewrite_method *method);
    void *context;
    /* Called for each method that must stay as it is; may be NULL. */
    void (*refuse)(void *context, struct tv_class_span name);
};

struct tv_rewrite_result {
    uint8_t *bytes; /* the new class file, for free(); NULL: use the class as it is */
    size_t length;
    unsigned rewritten;
    unsigned refused; /* methods with code that had to stay as they are */
};

/* Rewrite the methods that `plan` chooses. Return false when the class is malformed or there is no
 * memory. True with bytes == NULL means that no method was chosen. */
bool tv_rewrite_class(const uint8_t *bytes, size_t length, const struct tv_rewrite_plan *plan,
                      struct tv_rewrite_result *result);

#endif
