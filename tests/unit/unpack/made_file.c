/* SPDX-License-Identifier: Apache-2.0 */
#include "unpack/made_file.h"

#include "unit.h"

#include <string.h>

#include "unpack/unpack.h"

/* As much of a file as its kind is recognised by. */
#define HEAD 4096u

void made_file_append_noise(struct made_file *file, size_t length)
{
    uint32_t random = 1;
    for (size_t i = 0; i < length; i++) {
        random = random * 1103515245 + 12345;
        made_file_append(file, &(uint8_t){(uint8_t)(random >> 16)}, 1);
    }
}

void made_file_append(struct made_file *file, const void *bytes, size_t length)
{
    assert_true(length <= MADE_FILE_ROOM - file->length);
    memcpy(file->bytes + file->length, bytes, length);
    file->length += length;
}

bool made_file_is_known(const struct made_file *file)
{
    size_t length = file->length < HEAD ? file->length : HEAD;
    return tv_unpack_knows((struct tv_bytes){file->bytes, length});
}

static void made_file_assert_bytes(const struct made_file *packed,
                                   const struct tv_unpack_question *question,
                                   const struct made_file *expected, bool is_cut)
{
    struct tv_unpacked members[TV_UNPACK_MEMBERS];
    struct tv_source *source =
        tv_source_from_memory((struct tv_bytes){packed->bytes, packed->length}, "box");
    struct tv_error err = {0};
    uint8_t bytes[MADE_FILE_ROOM];
    size_t count, got;
    bool cut_off;
    assert_int_equal(tv_unpack(source, question, members, &count, &cut_off, &err), TV_OK);
    assert_int_equal(count, 1);
    assert_int_equal(tv_source_read(members[0].source, 0, bytes, sizeof bytes, &got, NULL), TV_OK);
    assert_int_equal(got, expected->length);
    assert_memory_equal(bytes, expected->bytes, got);
    if (!question->as_it_comes)
        assert_int_equal(cut_off, is_cut);
    tv_source_free(members[0].source);
    tv_source_free(source);
}

void made_file_assert_unpacks(const struct made_file *packed,
                              bool (*wanted)(void *context, struct tv_bytes head),
                              const struct made_file *expected, bool is_cut)
{
    struct tv_unpack_question question = {.wanted = wanted};
    assert_true(made_file_is_known(packed));
    made_file_assert_bytes(packed, &question, expected, is_cut);
    question.as_it_comes = true;
    made_file_assert_bytes(packed, &question, expected, is_cut);
}

/* A file whose bytes from `limit` on cannot be read. */
struct broken_file {
    const struct made_file *file;
    size_t limit;
};

static enum tv_status broken_file_read(void *context, uint64_t offset, void *buffer, size_t size,
                                       struct tv_error *err)
{
    const struct broken_file *broken = context;
    if (offset + size > broken->limit)
        return tv_fail(err, TV_ERR_IO, offset, "the cable broke");
    memcpy(buffer, broken->file->bytes + offset, size);
    return TV_OK;
}

static void assert_reports_break(struct broken_file *broken,
                                 const struct tv_unpack_question *question)
{
    static const struct tv_source_reads reads = {broken_file_read, NULL};
    struct tv_unpacked members[TV_UNPACK_MEMBERS];
    struct tv_source *source = tv_source_from_reads(&reads, broken, broken->file->length, "box");
    struct tv_error err = {0};
    uint8_t bytes[MADE_FILE_ROOM];
    size_t count, got = 0;
    bool cut_off;
    enum tv_status status = tv_unpack(source, question, members, &count, &cut_off, &err);
    for (size_t i = 0; status == TV_OK && i < count; i++)
        status = tv_source_read(members[i].source, 0, bytes, sizeof bytes, &got, &err);
    assert_int_equal(status, TV_ERR_IO);
    assert_string_equal(err.message, "the cable broke");
    for (size_t i = 0; i < count; i++)
        tv_source_free(members[i].source);
    tv_source_free(source);
}

void made_file_assert_reports_breaks(const struct made_file *packed,
                                     bool (*wanted)(void *context, struct tv_bytes head))
{
    struct tv_unpack_question question = {.wanted = wanted};
    for (size_t limit = 0; limit < packed->length; limit += limit < 64 ? 1 : 61) {
        struct broken_file broken = {packed, limit};
        question.as_it_comes = false;
        assert_reports_break(&broken, &question);
        question.as_it_comes = true;
        assert_reports_break(&broken, &question);
    }
}

static bool made_file_is_unwanted(void *context, struct tv_bytes head)
{
    (void)context;
    (void)head;
    return false;
}

void made_file_assert_unwanted(const struct made_file *packed)
{
    struct tv_unpacked members[TV_UNPACK_MEMBERS];
    struct tv_unpack_question question = {.wanted = made_file_is_unwanted};
    size_t count;
    bool cut_off;
    for (int as_it_comes = 0; as_it_comes < 2; as_it_comes++) {
        struct tv_source *source =
            tv_source_from_memory((struct tv_bytes){packed->bytes, packed->length}, "box");
        struct tv_error err = {0};
        question.as_it_comes = as_it_comes;
        assert_int_equal(tv_unpack(source, &question, members, &count, &cut_off, &err),
                         TV_ERR_UNSUPPORTED);
        assert_int_equal(count, 0);
        tv_source_free(source);
    }
}
