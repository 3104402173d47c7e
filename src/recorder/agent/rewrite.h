/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rewrite.h - a class file in, a class file out whose methods say when they are entered and left.
 *
 *   entry    enter(id)                        before the first instruction; jumps back to the first
 *                                             instruction land behind it
 *   returns  exit(id)                         before each; jumps to a return land before it
 *   handlers caught(id)                       before each of its own; jumps to a handler land
 *                                             before it, which is harmless
 *   super()  made(id), handled(id)            in a constructor with handlers behind super(): right
 *                                             behind it, and before each in the place of caught
 *   end      catch (any): unroll(id), throw   over the whole body
 *
 * They are static methods (I)V of one class.  In a constructor the handler covers what follows the
 * call of this() or super(): no handler may see an object that is not yet one.  When that call
 * throws, the frame stays open, and whoever keeps the stack closes it when its caller unrolls, or
 * says that it has caught: then what lies above the caller's own nearest frame is gone; of frames
 * of constructors past super() the nearest such.  (A constructor that makes its own class before
 * super() is done, and catches there what the inner super() throws, or has it caught by a method
 * without hooks, takes the inner frame for its own: then that is the one that ends, and the outer
 * one when its caller does.)  Tables of lines, variables and frames keep their meaning; annotations
 * of types inside code are dropped, as are tables that are not known.
 *
 * A method that would outgrow the limits (65535 bytes of code, jumps of 16 bits, the stack) stays
 * as it is, and so does one whose code is not understood.  Pure: no state, no output but the
 * result.
 */
#ifndef TV_RECORDER_AGENT_REWRITE_H
#define TV_RECORDER_AGENT_REWRITE_H

#include "recorder/agent/classfile.h"

struct tv_rewrite_method {
    struct tv_class_span class_name; /* java/lang/String */
    struct tv_class_span name;
    struct tv_class_span signature;
    struct tv_class_span source; /* empty when the class does not say */
    unsigned first_line;         /* 0 when the method does not say */
};

struct tv_rewrite_plan {
    const char *hooks; /* class of the six, as in java/lang/String */
    /* The id of a method that can be rewritten, at least 1; 0 leaves it alone. */
    uint32_t (*id)(void *context, const struct tv_rewrite_method *method);
    void *context;
    /* NULL, or told of each method with code that has to stay as it is. */
    void (*refuse)(void *context, struct tv_class_span name);
};

struct tv_rewrite_result {
    uint8_t *bytes; /* for free(); NULL: use the class as it is */
    size_t length;
    unsigned rewritten;
    unsigned refused; /* methods with code that had to stay as they are */
};

/* False: the class is not understood, or there is no memory.  True with bytes == NULL: no method of
 * it was to be rewritten. */
bool tv_rewrite_class(const uint8_t *bytes, size_t length, const struct tv_rewrite_plan *plan,
                      struct tv_rewrite_result *result);

#endif
