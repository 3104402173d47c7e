/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sections.c - tests of base/sections.h.
 */
#include "unit.h"

#include <stdio.h>
#include <string.h>

#include "base/bytes.h"
#include "base/file.h"
#include "base/memory.h"
#include "base/sections.h"

#define TAG TV_SECTION_TAG('t', 'e', 's', 't')
#define OTHER TV_SECTION_TAG('o', 't', 'h', 'r')

static const struct tv_sections_id id = {"1.2.3", 77, {(const uint8_t *)"key", 3}};
static const uint64_t numbers[] = {1, 2, 3};

static void write_file(struct tv_out *out)
{
    struct tv_sections_writer writer;
    tv_out_init_memory(out);
    tv_sections_begin(&writer, &id, out);
    tv_sections_add(&writer, TAG, 0, sizeof *numbers, 3, numbers);
    tv_sections_add(&writer, TAG, 1, 1, 5, "12345");
    tv_sections_add(&writer, OTHER, 0, 8, 0, NULL);
    tv_sections_end(&writer);
}

static enum tv_status open_bytes(const struct tv_out *out, const struct tv_sections_id *wanted,
                                 struct tv_sections **sections, struct tv_error *err)
{
    struct tv_sections_memory memory = {.bytes = {out->buffer, out->length}};
    return tv_sections_open(&memory, wanted, 1, sections, err);
}

static void added_sections_are_found(void **state)
{
    struct tv_out out;
    struct tv_sections *sections;
    struct tv_error err;
    uint64_t count;
    (void)state;
    write_file(&out);
    assert_int_equal(open_bytes(&out, &id, &sections, &err), TV_OK);
    const uint64_t *found = tv_sections_find(sections, TAG, 0, sizeof *numbers, &count);
    assert_int_equal(count, 3);
    assert_memory_equal(found, numbers, sizeof numbers);
    assert_int_equal((uintptr_t)((const uint8_t *)found - out.buffer) % TV_SECTION_ALIGNMENT, 0);
    assert_memory_equal(tv_sections_find(sections, TAG, 1, 1, &count), "12345", 5);
    assert_non_null(tv_sections_find(sections, OTHER, 0, 8, &count));
    assert_int_equal(count, 0);
    assert_null(tv_sections_find(sections, TAG, 0, 4, &count)); /* of another size */
    assert_null(tv_sections_find(sections, TAG, 2, 1, &count));
    assert_null(tv_sections_find(sections, OTHER, 1, 8, &count));
    assert_int_equal(tv_sections_count(sections), 3);
    assert_int_equal(tv_sections_at(sections, 1).count, 5);
    tv_sections_close(sections);
    tv_out_release(&out);
}

static void another_kind_of_file_is_refused(void **state)
{
    struct tv_sections_id wanted = id;
    struct tv_out out;
    struct tv_sections *sections;
    struct tv_error err;
    (void)state;
    write_file(&out);
    wanted.version = "1.2.4";
    assert_int_equal(open_bytes(&out, &wanted, &sections, &err), TV_ERR_UNSUPPORTED);
    wanted = id;
    wanted.layout = 78;
    assert_int_equal(open_bytes(&out, &wanted, &sections, &err), TV_ERR_UNSUPPORTED);
    wanted = id;
    wanted.key = TV_BYTES("kez");
    assert_int_equal(open_bytes(&out, &wanted, &sections, &err), TV_ERR_UNSUPPORTED);
    wanted.key = TV_BYTES("ke");
    assert_int_equal(open_bytes(&out, &wanted, &sections, &err), TV_ERR_UNSUPPORTED);
    tv_out_release(&out);
}

/* Padding between sections has no effect; every other byte has one. */
static bool is_padding(size_t at)
{
    return (at >= 99 && at < 128) || (at >= 152 && at < 192) || (at >= 197 && at < 256);
}

static void every_changed_byte_shows(void **state)
{
    struct tv_out out;
    struct tv_sections *sections;
    struct tv_error err;
    (void)state;
    write_file(&out);
    for (size_t i = 0; i < out.length; i++) {
        out.buffer[i] ^= 0x10;
        enum tv_status status = open_bytes(&out, &id, &sections, &err);
        assert_true((status == TV_OK) == is_padding(i));
        if (status == TV_OK)
            tv_sections_close(sections);
        out.buffer[i] ^= 0x10;
    }
    tv_out_release(&out);
}

static void a_cut_file_is_refused(void **state)
{
    struct tv_out out;
    struct tv_sections *sections;
    struct tv_error err;
    (void)state;
    write_file(&out);
    while (out.length > 0) {
        out.length--;
        assert_int_equal(open_bytes(&out, &id, &sections, &err), TV_ERR_SYNTAX);
    }
    tv_out_release(&out);
}

static void a_mapped_file_is_read(void **state)
{
    struct tv_sections_memory memory = {.release = tv_file_unmap};
    struct tv_sections *sections;
    struct tv_out out;
    struct tv_error err;
    uint64_t count;
    FILE *file = tmpfile();
    (void)state;
    assert_non_null(file);
    assert_int_equal(tv_file_map(fileno(file), &memory.bytes, &err), TV_ERR_IO); /* empty */
    write_file(&out);
    assert_int_equal(fwrite(out.buffer, 1, out.length, file), out.length);
    fflush(file);
    assert_int_equal(tv_file_map(fileno(file), &memory.bytes, &err), TV_OK);
    assert_int_equal(tv_sections_open(&memory, &id, 0, &sections, &err), TV_OK);
    assert_memory_equal(tv_sections_find(sections, TAG, 1, 1, &count), "12345", 5);
    tv_sections_close(sections);
    fclose(file);
    tv_out_release(&out);
}

UNIT_TESTS(sections, cmocka_unit_test(added_sections_are_found),
           cmocka_unit_test(another_kind_of_file_is_refused),
           cmocka_unit_test(every_changed_byte_shows), cmocka_unit_test(a_cut_file_is_refused),
           cmocka_unit_test(a_mapped_file_is_read));
