/* SPDX-License-Identifier: Apache-2.0 */
#include "unit.h"

#include <string.h>

#include "base/bytes.h"
#include "symbols/mapping.h"

static const char text[] = "# compiler: R8\n"
                           "com.acme.Cart -> a.a:\n"
                           "# {\"id\":\"sourceFile\",\"fileName\":\"Cart.kt\"}\n"
                           "    int total -> a\n"
                           "    1:4:void add(com.acme.Item,int):20:23 -> a\n"
                           "    5:5:void log(java.lang.String):9:9 -> a\n"
                           "    5:5:void add(com.acme.Item,int):24 -> a\n"
                           "    void clear() -> a\n"
                           "    1:3:void first():1:3 -> b\n"
                           "    4:9:void second():4:9 -> b\n"
                           "    void drop(int) -> c\n"
                           "    # {\"id\":\"com.android.tools.r8.residualsignature\","
                           "\"signature\":\"()V\"}\n"
                           "    long[][] com.acme.Grid.cells(boolean,com.acme.Item[]) -> d\n"
                           "com.acme.Item -> a.b:\n";

static enum tv_status read(const char *bytes, size_t length, struct tv_mapping **mapping,
                           struct tv_error *err)
{
    struct tv_source *source =
        tv_source_from_memory((struct tv_bytes){(const uint8_t *)bytes, length}, "mapping.txt");
    enum tv_status status = tv_mapping_read(source, mapping, err);
    tv_source_free(source);
    return status;
}

struct expectation {
    const char *class_name, *name, *signature;
    int32_t line;
    const char *want_class, *want_name, *want_signature, *want_file; /* class NULL: unchanged */
};

static void assert_bytes(struct tv_bytes bytes, const char *want)
{
    assert_int_equal(bytes.length, strlen(want));
    assert_memory_equal(bytes.data, want, bytes.length);
}

static void check(const struct tv_mapping *mapping, const struct expectation *e)
{
    struct tv_arena arena;
    struct tv_mapped_method asked = {tv_bytes_of(e->class_name), tv_bytes_of(e->name),
                                     tv_bytes_of(e->signature), tv_bytes_of("SourceFile"), e->line};
    struct tv_mapped_method original;
    tv_arena_init(&arena);
    assert_int_equal(tv_mapping_find(mapping, &asked, &arena, &original), e->want_class != NULL);
    if (e->want_class) {
        assert_bytes(original.class_name, e->want_class);
        assert_bytes(original.name, e->want_name);
        assert_bytes(original.signature, e->want_signature);
        assert_bytes(original.file, e->want_file);
    }
    tv_arena_release(&arena);
}

static void finds_originals(void **state)
{
    (void)state;
    static const struct expectation expectations[] = {
        /* Overloads by signature; of an inlined body the method around it. */
        {"a.a", "a", "(La/b;I)V", 0, "com.acme.Cart", "add", "(Lcom/acme/Item;I)V", "Cart.kt"},
        {"a.a", "a", "()V", 0, "com.acme.Cart", "clear", "()V", "Cart.kt"},
        /* The line alone, and nothing at all: both names. */
        {"a.a", "b", "", 5, "com.acme.Cart", "second", "", "Cart.kt"},
        {"a.a", "b", "()V", 2, "com.acme.Cart", "first", "()V", "Cart.kt"},
        {"a.a", "b", "()V", 0, "com.acme.Cart", "first|second", "()V", "Cart.kt"},
        {"a.a", "a", "", 0, "com.acme.Cart", "add|clear", "", "Cart.kt"},
        /* A parameter that was optimised away: the mapping tells the signature that is left. */
        {"a.a", "c", "()V", 0, "com.acme.Cart", "drop", "(I)V", "Cart.kt"},
        /* A method of another class, arrays. */
        {"a.a", "d", "(Z[La/b;)[[J", 0, "com.acme.Grid", "cells", "(Z[Lcom/acme/Item;)[[J",
         "Cart.kt"},
        /* A class that the mapping does not know keeps its name; its parameters are put back. */
        {"x.Y", "z", "(La/b;J)V", 0, "x.Y", "z", "(Lcom/acme/Item;J)V", "SourceFile"},
        {"x.Y", "z", "(Lx/Y;J)V", 0, NULL, NULL, NULL, NULL},
        {"a.b", "unlisted", "()V", 0, "com.acme.Item", "unlisted", "()V", "SourceFile"},
        {"a.b", "odd", "(La", 0, "com.acme.Item", "odd", "(La", "SourceFile"},
    };
    struct tv_mapping *mapping;
    struct tv_error err;
    assert_int_equal(read(text, sizeof text - 1, &mapping, &err), TV_OK);
    for (size_t i = 0; i < TV_COUNT(expectations); i++)
        check(mapping, &expectations[i]);
    tv_mapping_free(mapping);
}

static void refuses_other_texts(void **state)
{
    (void)state;
    static const char *const texts[] = {"",
                                        "\n# only a comment\n",
                                        "hello\n",
                                        "a -> b\n",
                                        "    int a -> b\n",
                                        "a -> b:\n    int ->\n",
                                        "a -> b:\n    1:int a() -> b\n"};
    struct tv_mapping *mapping;
    for (size_t i = 0; i < TV_COUNT(texts); i++) {
        struct tv_error err = {0};
        assert_int_equal(read(texts[i], strlen(texts[i]), &mapping, &err), TV_ERR_SYNTAX);
        assert_non_null(strstr(err.message, "mapping.txt"));
    }
    struct tv_error err = {0};
    assert_int_equal(read("a -> b:\nnonsense\n", 17, &mapping, &err), TV_ERR_SYNTAX);
    assert_int_equal(err.offset, 8);
}

/* Every cut and every changed byte ends in a mapping or an error, and every mapping answers. */
static void survives_damage(void **state)
{
    (void)state;
    static const struct expectation any = {"x.Y", "z", "(Lx/Y;J)V", 0, NULL, NULL, NULL, NULL};
    char bytes[sizeof text];
    struct tv_mapping *mapping;
    struct tv_error err;
    for (size_t i = 0; i < sizeof text - 1; i++) {
        if (read(text, i, &mapping, &err) == TV_OK) {
            check(mapping, &any);
            tv_mapping_free(mapping);
        }
        memcpy(bytes, text, sizeof text);
        bytes[i] = (char)(bytes[i] ^ 0x1d);
        if (read(bytes, sizeof text - 1, &mapping, &err) == TV_OK) {
            check(mapping, &any);
            tv_mapping_free(mapping);
        }
    }
}

/* Supply as many bytes as anybody asks for. */
static enum tv_status grow_endlessly(void *context, uint64_t wanted, uint64_t *size, bool *ended,
                                     struct tv_error *err)
{
    (void)context, (void)err;
    *size = wanted;
    *ended = false;
    return TV_OK;
}

static enum tv_status fill_endlessly(void *context, uint64_t offset, void *buffer, size_t size,
                                     struct tv_error *err)
{
    (void)offset, (void)err;
    memset(buffer, *(const char *)context, size);
    return TV_OK;
}

/* A device without an end is refused at the limit, and before it if it holds no text. */
static void endless_files_are_refused(void **state)
{
    static const struct tv_source_growth growth = {.reads.read = fill_endlessly,
                                                   .grow = grow_endlessly};
    static const struct {
        char byte;
        enum tv_status status;
    } devices[] = {{'\n', TV_ERR_LIMIT}, {'\0', TV_ERR_SYNTAX}};
    (void)state;
    for (size_t i = 0; i < TV_COUNT(devices); i++) {
        char byte = devices[i].byte;
        struct tv_source *source = tv_source_from_growth(&growth, &byte, "device");
        struct tv_mapping *mapping;
        struct tv_error err = {0};
        assert_int_equal(tv_mapping_read(source, &mapping, &err), devices[i].status);
        assert_non_null(strstr(err.message, "device: "));
        tv_source_free(source);
    }
}

UNIT_TESTS(mapping, cmocka_unit_test(finds_originals), cmocka_unit_test(refuses_other_texts),
           cmocka_unit_test(survives_damage), cmocka_unit_test(endless_files_are_refused));
