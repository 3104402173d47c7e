/* SPDX-License-Identifier: Apache-2.0 */
/* Jitdump files, put together after the kernel's description of them, whole and damaged. */
#include "unit.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "perf/symbol_list.h"

struct dump {
    uint8_t bytes[1024];
    size_t length;
};

static void put_u32(struct dump *dump, uint32_t value)
{
    memcpy(dump->bytes + dump->length, &value, sizeof value);
    dump->length += sizeof value;
}

static void put_u64(struct dump *dump, uint64_t value)
{
    memcpy(dump->bytes + dump->length, &value, sizeof value);
    dump->length += sizeof value;
}

static void begin_dump(struct dump *dump)
{
    dump->length = 0;
    put_u32(dump, 0x4A695444);
    put_u32(dump, 1);
    put_u32(dump, 40);
    put_u32(dump, 62);
    put_u64(dump, 7);
    put_u64(dump, 0);
    put_u64(dump, 0);
}

static void put_load(struct dump *dump, uint64_t start, uint64_t number, const char *name)
{
    size_t size = strlen(name) + 1;
    put_u32(dump, 0);
    put_u32(dump, (uint32_t)(16 + 40 + size + 4));
    put_u64(dump, 0);
    put_u64(dump, 7);
    put_u64(dump, start);
    put_u64(dump, start);
    put_u64(dump, 0x10);
    put_u64(dump, number);
    memcpy(dump->bytes + dump->length, name, size);
    dump->length += size;
    put_u32(dump, 0x90909090);
}

static void put_move(struct dump *dump, uint64_t to, uint64_t number)
{
    put_u32(dump, 1);
    put_u32(dump, 16 + 48);
    put_u64(dump, 0);
    put_u64(dump, 7);
    put_u64(dump, 0);
    put_u64(dump, 0);
    put_u64(dump, to);
    put_u64(dump, 0x20);
    put_u64(dump, number);
}

static void reads_code(void **state)
{
    (void)state;
    struct dump dump;
    begin_dump(&dump);
    put_load(&dump, 0x1000, 0, "first one");
    put_u32(&dump, 2); /* lines, which are passed over */
    put_u32(&dump, 16);
    put_u64(&dump, 0);
    put_load(&dump, 0x2000, 1, "two\nlines");
    put_move(&dump, 0x3000, 0);
    put_move(&dump, 0x4000, 99);
    char *text = tv_jit_dump_to_map((struct tv_bytes){dump.bytes, dump.length});
    assert_string_equal(text, "1000 10 first one\n2000 10 two lines\n3000 20 first one\n");
    tv_free(text);
}

/* Any cut leaves whole records; sizes that lead out of the file end it. */
static void survives_damage(void **state)
{
    (void)state;
    struct dump dump;
    begin_dump(&dump);
    put_load(&dump, 0x1000, 0, "name");
    put_move(&dump, 0x2000, 0);
    for (size_t length = 0; length < dump.length; length++) {
        uint8_t *bytes = malloc(length > 0 ? length : 1);
        memcpy(bytes, dump.bytes, length);
        char *text = tv_jit_dump_to_map((struct tv_bytes){bytes, length});
        assert_true((text == NULL) == (length < 40));
        if (text)
            assert_string_equal(text, length < 105 ? "" : "1000 10 name\n");
        tv_free(text);
        free(bytes);
    }
    static const uint32_t sizes[] = {0, 1, 15, 17, 56, UINT32_MAX};
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        memcpy(dump.bytes + 44, &sizes[i], sizeof sizes[i]);
        char *text = tv_jit_dump_to_map((struct tv_bytes){dump.bytes, dump.length});
        assert_non_null(text);
        tv_free(text);
    }
    dump.bytes[0] ^= 1;
    assert_null(tv_jit_dump_to_map((struct tv_bytes){dump.bytes, dump.length}));
}

/* Each move of 64 bytes repeats a name of a thousand. */
static void bounds_the_text(void **state)
{
    (void)state;
    enum { MOVES = 1000, NAME = 900 };
    struct dump dump, moved;
    char name[NAME + 1];
    memset(name, 'n', NAME);
    name[NAME] = '\0';
    begin_dump(&dump);
    put_load(&dump, 0x1000, 0, name);
    moved.length = 0;
    put_move(&moved, 0x2000, 0);
    size_t size = dump.length + MOVES * moved.length;
    uint8_t *bytes = malloc(size);
    memcpy(bytes, dump.bytes, dump.length);
    for (size_t i = 0; i < MOVES; i++)
        memcpy(bytes + dump.length + i * moved.length, moved.bytes, moved.length);
    char *text = tv_jit_dump_to_map((struct tv_bytes){bytes, size});
    assert_in_range(strlen(text), size, 8 * size);
    tv_free(text);
    free(bytes);
}

static void knows_names(void **state)
{
    (void)state;
    assert_true(tv_jit_dump_is_name("/home/me/.debug/jit/jit-4711.dump"));
    assert_true(tv_jit_dump_is_name("jit-1.dump"));
    assert_false(tv_jit_dump_is_name("/tmp/jit-.dump"));
    assert_false(tv_jit_dump_is_name("/tmp/jit-1.dump.old"));
    assert_false(tv_jit_dump_is_name("/tmp/ajit-1.dump"));
}

UNIT_TESTS(jit_dump, cmocka_unit_test(reads_code), cmocka_unit_test(survives_damage),
           cmocka_unit_test(bounds_the_text), cmocka_unit_test(knows_names));
