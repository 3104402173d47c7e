/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rewrite.c - class rewriting (see rewrite.h): the class around the methods.
 *
 * The new file is a copy with two changes: the constants for the hooks follow the last old
 * constant, so that all old indices stay valid, and each chosen method gets a new Code attribute.
 *
 *     magic, version | count | old constants | NEW CONSTANTS | flags ... methods ... attributes
 *                                                                        ^ new Code attributes
 */
#include "recorder/agent/rewrite.h"

#include <assert.h>
#include <stdlib.h>

#include "recorder/agent/rewrite_parts.h"
#include "recorder/memory.h"

/* The largest operand of sipush. */
#define HIGHEST_SHORT 32767u

/* constant_pool_count has 16 bits and is the last index plus one. */
#define MAX_CONSTANTS 65535u

/* A class being rewritten. */
struct rewrite_work {
    struct tv_classfile file;
    const struct tv_rewrite_plan *plan;
    struct tv_rewrite_constants constants;
    unsigned constant_count;
    struct tv_byte_buffer pool;    /* the added constants */
    struct tv_byte_buffer members; /* the new file from the access flags on */
    struct tv_rewrite_result *result;
};

static unsigned constants_add(struct rewrite_work *work)
{
    assert(work->constant_count <= MAX_CONSTANTS);
    if (work->constant_count >= MAX_CONSTANTS) {
        work->pool.failed = true;
        return 0;
    }
    return work->constant_count++;
}

static unsigned constants_add_utf8(struct rewrite_work *work, const char *text)
{
    size_t length = 0;
    while (text[length] != '\0')
        length++;
    tv_byte_buffer_put_u8(&work->pool, TV_CONSTANT_TEXT);
    tv_byte_buffer_put_u16(&work->pool, (unsigned)length);
    tv_byte_buffer_put(&work->pool, text, length);
    return constants_add(work);
}

static unsigned constants_add_class(struct rewrite_work *work, const char *name)
{
    unsigned text = constants_add_utf8(work, name);
    tv_byte_buffer_put_u8(&work->pool, TV_CONSTANT_CLASS);
    tv_byte_buffer_put_u16(&work->pool, text);
    return constants_add(work);
}

static unsigned constants_add_pair(struct rewrite_work *work, unsigned tag, unsigned first,
                                   unsigned second)
{
    tv_byte_buffer_put_u8(&work->pool, tag);
    tv_byte_buffer_put_u16(&work->pool, first);
    tv_byte_buffer_put_u16(&work->pool, second);
    return constants_add(work);
}

static unsigned constants_add_hook(struct rewrite_work *work, unsigned class, unsigned signature,
                                   const char *name)
{
    unsigned text = constants_add_utf8(work, name);
    unsigned pair = constants_add_pair(work, TV_CONSTANT_NAME_AND_TYPE, text, signature);
    return constants_add_pair(work, TV_CONSTANT_METHOD, class, pair);
}

static void constants_add_hooks(struct rewrite_work *work)
{
    unsigned hooks = constants_add_class(work, work->plan->hooks);
    unsigned signature = constants_add_utf8(work, "(I)V");
    work->constants.enter = constants_add_hook(work, hooks, signature, "enter");
    work->constants.exit = constants_add_hook(work, hooks, signature, "exit");
    work->constants.unroll = constants_add_hook(work, hooks, signature, "unroll");
    work->constants.caught = constants_add_hook(work, hooks, signature, "caught");
    work->constants.throwable = constants_add_class(work, "java/lang/Throwable");
    work->constants.frames = constants_add_utf8(work, "StackMapTable");
    work->constants.made = constants_add_hook(work, hooks, signature, "made");
    work->constants.handled = constants_add_hook(work, hooks, signature, "handled");
}

static unsigned rewrite_add_method_id(struct rewrite_work *work, uint32_t id)
{
    if (id <= HIGHEST_SHORT)
        return 0;
    tv_byte_buffer_put_u8(&work->pool, TV_CONSTANT_INTEGER);
    tv_byte_buffer_put_u32(&work->pool, id);
    return constants_add(work);
}

/* Ask the plan for the method's id. Return 0 when the method stays as it is. */
static uint32_t rewrite_ask_method_id(struct rewrite_work *work, const struct tv_rewrite_code *code,
                                      unsigned name, unsigned signature)
{
    struct tv_rewrite_method method = {.first_line = code->first_line};
    const struct tv_classfile *file = &work->file;
    if (!tv_classfile_class_name(file, file->this_class, &method.class_name) ||
        !tv_classfile_text(file, name, &method.name) ||
        !tv_classfile_text(file, signature, &method.signature))
        return 0;
    if (!tv_classfile_text(file, file->source_file, &method.source))
        method.source = (struct tv_class_span){NULL, 0};
    return work->plan->id(work->plan->context, &method);
}

static void rewrite_count_refused(struct rewrite_work *work, unsigned name)
{
    struct tv_class_span text;
    work->result->refused++;
    if (work->plan->refuse && tv_classfile_text(&work->file, name, &text))
        work->plan->refuse(work->plan->context, text);
}

/* Write a new Code attribute. Return false when the caller should copy the old one. */
static bool rewrite_put_code(struct rewrite_work *work, struct tv_class_attribute attribute,
                             unsigned name, unsigned signature)
{
    struct tv_rewrite_code code = {.file = &work->file, .constants = &work->constants};
    struct tv_byte_buffer *out = &work->members;
    code.is_constructor = tv_classfile_text_is(&work->file, name, "<init>");
    bool planned = tv_rewrite_code_plan(&code, attribute.bytes);
    uint32_t id = planned ? rewrite_ask_method_id(work, &code, name, signature) : 0;
    bool put = false;
    if (id != 0) {
        size_t start = out->length;
        tv_byte_buffer_put_u16(out, attribute.name);
        tv_byte_buffer_put_u32(out, 0);
        put = tv_rewrite_code_put(&code, id, rewrite_add_method_id(work, id), out);
        if (put)
            tv_byte_buffer_set_u32(out, start + 2, (uint32_t)(out->length - start - 6));
        else
            out->length = start;
    }
    work->result->rewritten += put;
    if (!planned || (id != 0 && !put))
        rewrite_count_refused(work, name);
    tv_rewrite_code_release(&code);
    return put;
}

static void rewrite_copy_span(struct rewrite_work *work, const uint8_t *from, const uint8_t *to)
{
    tv_byte_buffer_put(&work->members, from, (size_t)(to - from));
}

/* Copy a method into the new class file, with new bytecode where it has any that is to be recorded.
 * All else is copied byte by byte, so attributes that this code does not know survive. */
static void rewrite_put_method(struct rewrite_work *work, struct tv_class_cursor *cursor)
{
    const uint8_t *start = cursor->at;
    tv_class_take_u16(cursor);
    unsigned name = tv_class_take_u16(cursor);
    unsigned signature = tv_class_take_u16(cursor);
    unsigned count = tv_class_take_u16(cursor);
    rewrite_copy_span(work, start, cursor->at);
    for (; count > 0; count--) {
        start = cursor->at;
        struct tv_class_attribute attribute = tv_class_take_attribute(cursor);
        if (!tv_classfile_text_is(&work->file, attribute.name, "Code") ||
            !rewrite_put_code(work, attribute, name, signature))
            rewrite_copy_span(work, start, cursor->at);
    }
}

/* Write everything behind the constants: methods are rewritten where the plan wants it, the rest is
 * copied. */
static void rewrite_put_members(struct rewrite_work *work)
{
    const struct tv_classfile *file = &work->file;
    const uint8_t *end = file->bytes + file->length;
    struct tv_class_cursor cursor = {file->bytes + file->methods, end, false};
    unsigned count = tv_class_take_u16(&cursor);
    rewrite_copy_span(work, file->bytes + file->constants_end, cursor.at);
    for (; count > 0; count--)
        rewrite_put_method(work, &cursor);
    rewrite_copy_span(work, cursor.at, end);
}

/* Return false without memory, or when the constant pool is full. */
static bool rewrite_put_class(struct rewrite_work *work)
{
    struct tv_byte_buffer out = {0};
    const struct tv_classfile *file = &work->file;
    tv_byte_buffer_put(&out, file->bytes, 8);
    tv_byte_buffer_put_u16(&out, work->constant_count);
    tv_byte_buffer_put(&out, file->bytes + 10, file->constants_end - 10);
    tv_byte_buffer_put(&out, work->pool.data, work->pool.length);
    tv_byte_buffer_put(&out, work->members.data, work->members.length);
    if (out.failed || work->pool.failed || work->members.failed) {
        tv_byte_buffer_release(&out);
        return false;
    }
    work->result->bytes = out.data;
    work->result->length = out.length;
    return true;
}

bool tv_rewrite_class(const uint8_t *bytes, size_t length, const struct tv_rewrite_plan *plan,
                      struct tv_rewrite_result *result)
{
    assert(plan->hooks != NULL && plan->id != NULL);
    struct rewrite_work work = {.plan = plan, .result = result};
    *result = (struct tv_rewrite_result){0};
    if (!tv_classfile_read(&work.file, bytes, length))
        return false;
    work.constant_count = work.file.constant_count;
    constants_add_hooks(&work);
    rewrite_put_members(&work);
    bool fine = result->rewritten == 0 || rewrite_put_class(&work);
    tv_byte_buffer_release(&work.pool);
    tv_byte_buffer_release(&work.members);
    tv_classfile_release(&work.file);
    return fine;
}
