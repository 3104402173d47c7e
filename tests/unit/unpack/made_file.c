/* SPDX-License-Identifier: Apache-2.0 */
#include "unpack/made_file.h"

#include "unit.h"

#include <string.h>

#include "unpack/unpack.h"

/* As much of a file as its kind is recognised by. */
#define HEAD 4096u

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
