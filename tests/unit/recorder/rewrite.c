/* SPDX-License-Identifier: Apache-2.0 */
/* The bytes of small methods before and after, and class files that end too early. */
#include "unit.h"

#include <stdlib.h>
#include <string.h>

#include "recorder/agent/rewrite.h"
#include "recorder/memory.h"

struct method {
    struct tv_class_span code;
    struct tv_class_span handlers;
    struct tv_class_span frames;
};

#define SPAN(array)                                                                                \
    {                                                                                              \
        array, sizeof(array)                                                                       \
    }

/* static int f(int): do { iload_0 } while (that != 0), iconst_3, ireturn; at 0 a jump lands.  A
 * frame at 0 and one after the jump. */
static const uint8_t loop_code[] = {0x1a, 0x9a, 0xff, 0xff, 0x06, 0xac};
static const uint8_t loop_handlers[] = {0, 0};
static const uint8_t loop_frames[] = {0, 2, 0 /* same, at 0 */, 3 /* same, at 4 */};
static const struct method loop = {SPAN(loop_code), SPAN(loop_handlers), SPAN(loop_frames)};

/* aconst_null, athrow, and at 2 a handler that covers itself: new, pop, athrow.  The frame at 5
 * has the object on the stack that the handler's first instruction made. */
static const uint8_t catching_code[] = {0x01, 0xbf, 0xbb, 0, 2, 0x57, 0xbf};
static const uint8_t catching_handlers[] = {0, 2, 0, 0, 0, 2, 0, 2, 0, 0, 0, 2, 0, 5, 0, 2, 0, 0};
static const uint8_t catching_frames[] = {0,   2,                         /* two */
                                          255, 0, 2, 0, 0, 0, 1, 7, 0, 4, /* at 2: the exception */
                                          255, 0, 2, 0, 0, 0, 2, 7, 0, 4,
                                          8,   0, 2}; /* at 5: and what is made at 2 */
static const struct method catching = {SPAN(catching_code), SPAN(catching_handlers),
                                       SPAN(catching_frames)};

/* Constants of the class below: 1 to 8. */
enum { THIS_NAME = 1, THIS, PARENT_NAME, PARENT, METHOD_NAME, SIGNATURE, CODE, FRAMES, CONSTANTS };

static void put_text(struct tv_byte_buffer *out, const char *text)
{
    tv_byte_buffer_put_u8(out, TV_CONSTANT_TEXT);
    tv_byte_buffer_put_u16(out, (unsigned)strlen(text));
    tv_byte_buffer_put(out, text, strlen(text));
}

static void put_class_constant(struct tv_byte_buffer *out, unsigned name)
{
    tv_byte_buffer_put_u8(out, TV_CONSTANT_CLASS);
    tv_byte_buffer_put_u16(out, name);
}

static void put_span(struct tv_byte_buffer *out, struct tv_class_span span)
{
    tv_byte_buffer_put(out, span.data, span.length);
}

/* A class A with the method f. */
static void make_class(struct tv_byte_buffer *out, const struct method *wanted)
{
    struct tv_class_span code = wanted->code, frames = wanted->frames;
    tv_byte_buffer_put_u32(out, 0xCAFEBABE);
    tv_byte_buffer_put_u32(out, 52);
    tv_byte_buffer_put_u16(out, CONSTANTS);
    put_text(out, "A");
    put_class_constant(out, THIS_NAME);
    put_text(out, "java/lang/Object");
    put_class_constant(out, PARENT_NAME);
    put_text(out, "f");
    put_text(out, "(I)I");
    put_text(out, "Code");
    put_text(out, "StackMapTable");
    static const uint8_t head[] = {0, 0x21, 0, THIS, 0, PARENT, 0, 0, 0, 0};
    tv_byte_buffer_put(out, head, sizeof head);
    static const uint8_t method[] = {0, 1, 0, 9, 0, METHOD_NAME, 0, SIGNATURE, 0, 1, 0, CODE};
    tv_byte_buffer_put(out, method, sizeof method);
    tv_byte_buffer_put_u32(
        out, (uint32_t)(8 + code.length + wanted->handlers.length + 2 + 6 + frames.length));
    tv_byte_buffer_put_u32(out, 1u << 16 | 1); /* one on the stack, one variable */
    tv_byte_buffer_put_u32(out, (uint32_t)code.length);
    put_span(out, code);
    put_span(out, wanted->handlers);
    tv_byte_buffer_put_u16(out, 1); /* one table */
    tv_byte_buffer_put_u16(out, FRAMES);
    tv_byte_buffer_put_u32(out, (uint32_t)frames.length);
    put_span(out, frames);
    tv_byte_buffer_put_u16(out, 0);
}

static uint32_t give(void *context, const struct tv_rewrite_method *method)
{
    assert_int_equal(method->class_name.length, 1);
    assert_int_equal(method->name.data[0], 'f');
    assert_int_equal(method->signature.length, 4);
    return *(uint32_t *)context;
}

static const uint8_t *find(const struct tv_rewrite_result *result, const uint8_t *bytes,
                           size_t length)
{
    for (size_t i = 0; i + length <= result->length; i++)
        if (memcmp(result->bytes + i, bytes, length) == 0)
            return result->bytes + i;
    return NULL;
}

/* The code and, right after it, the tables of the one method are these. */
static void check_rewritten(const struct method *method, struct tv_class_span code,
                            struct tv_class_span tables)
{
    struct tv_byte_buffer class = {0};
    uint32_t id = 0x1234;
    struct tv_rewrite_plan plan = {"H", give, &id, NULL};
    struct tv_rewrite_result result;
    make_class(&class, method);
    assert_true(tv_rewrite_class(class.data, class.length, &plan, &result));
    assert_int_equal(result.rewritten, 1);
    assert_int_equal(result.refused, 0);
    const uint8_t *at = find(&result, code.data, code.length);
    assert_non_null(at);
    assert_memory_equal(at + code.length, tables.data, tables.length);
    free(result.bytes);
    tv_byte_buffer_release(&class);
}

/* The added constants: 9 Hooks, 10 its class, 11 (I)V, then name, pair and method of each hook:
 * 14 enter, 17 exit, 20 unroll, 23 caught; 24 and 25 Throwable, 26 StackMapTable; 29 made,
 * 32 handled. */
static void puts_hooks_around(void **state)
{
    static const uint8_t expected[] = {
        0,    2,    0,    1,    0, 0,  0,    25, /* one more on the stack; the code's length */
        0x11, 0x12, 0x34, 0xb8, 0, 14,           /* sipush 0x1234, enter */
        0x1a, 0x9a, 0xff, 0xff,                  /*  6: after the hook, where the jump lands */
        0x06,                                    /* 10 */
        0x11, 0x12, 0x34, 0xb8, 0, 17, 0xac,     /* 11: exit, ireturn */
        0x11, 0x12, 0x34, 0xb8, 0, 20, 0xbf,     /* 18: unroll, athrow */
    };
    static const uint8_t tables[] = {
        0,   1, 0, 6,   0, 18, 0, 18, 0, 0,  /* anything from 6 to 18 */
        0,   1, 0, 26,  0, 0,  0, 18, 0, 3,  /* the frames: three */
        251, 0, 6, 251, 0, 3,                /* at 6, at 10 */
        255, 0, 7, 0,   0, 0,  1, 7,  0, 25, /* at 18: a Throwable on the stack */
    };
    (void)state;
    check_rewritten(&loop, (struct tv_class_span)SPAN(expected),
                    (struct tv_class_span)SPAN(tables));
}

/* The hook at a handler's start is what jumps to the handler reach; the handler that covers itself
 * does not cover its hook; and an object is made where its `new` stands, after the hook. */
static void says_what_is_caught(void **state)
{
    static const uint8_t expected[] = {
        0,    2,    0,    1,    0,    0,  0,    26, /* one more on the stack; the code's length */
        0x11, 0x12, 0x34, 0xb8, 0,    14,           /* sipush 0x1234, enter */
        0x01, 0xbf,                                 /*  6 */
        0x11, 0x12, 0x34, 0xb8, 0,    23,           /*  8: caught */
        0xbb, 0,    2,    0x57, 0xbf,               /* 14: new, pop, athrow */
        0x11, 0x12, 0x34, 0xb8, 0,    20, 0xbf,     /* 19: unroll, athrow */
    };
    static const uint8_t tables[] = {
        0,   3,                                          /* three handlers */
        0,   6,  0,   8,  0, 8,  0, 0,                   /* the first part */
        0,   14, 0,   17, 0, 8,  0, 0,                   /* the handler itself, without its hook */
        0,   6,  0,   19, 0, 19, 0, 0,                   /* ours: all */
        0,   1,  0,   26, 0, 0,  0, 35,                  /* the frames */
        0,   3,  255, 0,  8, 0,  0, 0,  1, 7,  0, 4,     /* at 8 */
        255, 0,  8,   0,  0, 0,  2, 7,  0, 4,  8, 0, 14, /* at 17: made at 14 */
        255, 0,  1,   0,  0, 0,  1, 7,  0, 25,           /* at 19: a Throwable on the stack */
    };
    (void)state;
    check_rewritten(&catching, (struct tv_class_span)SPAN(expected),
                    (struct tv_class_span)SPAN(tables));
}

static void leaves_alone_what_has_no_id(void **state)
{
    (void)state;
    struct tv_byte_buffer class = {0};
    uint32_t id = 0;
    struct tv_rewrite_plan plan = {"H", give, &id, NULL};
    struct tv_rewrite_result result;
    make_class(&class, &loop);
    assert_true(tv_rewrite_class(class.data, class.length, &plan, &result));
    assert_null(result.bytes);
    assert_int_equal(result.refused, 0);
    tv_byte_buffer_release(&class);
}

/* An id that sipush cannot push becomes a constant. */
static void pushes_large_ids(void **state)
{
    static const uint8_t pushed[] = {0x13, 0, 33, 0xb8, 0, 14};
    static const uint8_t constant[] = {TV_CONSTANT_INTEGER, 0, 0, 0x80, 0};
    (void)state;
    struct tv_byte_buffer class = {0};
    uint32_t id = 32768;
    struct tv_rewrite_plan plan = {"H", give, &id, NULL};
    struct tv_rewrite_result result;
    make_class(&class, &loop);
    assert_true(tv_rewrite_class(class.data, class.length, &plan, &result));
    assert_non_null(find(&result, pushed, sizeof pushed));
    assert_non_null(find(&result, constant, sizeof constant));
    free(result.bytes);
    tv_byte_buffer_release(&class);
}

static void refuses_what_ends_early(void **state)
{
    (void)state;
    struct tv_byte_buffer class = {0};
    uint32_t id = 1;
    struct tv_rewrite_plan plan = {"H", give, &id, NULL};
    struct tv_rewrite_result result;
    make_class(&class, &loop);
    for (size_t length = 0; length < class.length; length++) {
        /* In memory of its own, so that reading on is seen. */
        uint8_t *cut = malloc(length + 1);
        memcpy(cut, class.data, length);
        assert_false(tv_rewrite_class(cut, length, &plan, &result));
        free(cut);
    }
    tv_byte_buffer_release(&class);
}

UNIT_TESTS(rewrite, cmocka_unit_test(puts_hooks_around), cmocka_unit_test(says_what_is_caught),
           cmocka_unit_test(leaves_alone_what_has_no_id), cmocka_unit_test(pushes_large_ids),
           cmocka_unit_test(refuses_what_ends_early));
