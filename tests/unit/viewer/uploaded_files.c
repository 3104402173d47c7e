/* SPDX-License-Identifier: Apache-2.0 */
/*
 * uploaded_files.c - files in chunks, from clients that may be anybody.
 */
#include "unit.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/bytes.h"
#include "base/out.h"
#include "base/source.h"
#include "viewer/internal.h"

static uint32_t begin(struct tv_uploaded_files *files, const char *name, uint64_t bytes)
{
    uint32_t number;
    struct tv_error err = {0};
    assert_int_equal(tv_uploaded_files_add(files, tv_bytes_of(name), bytes, &number, &err), TV_OK);
    return number;
}

static struct tv_uploaded_chunk *begin_piece(struct tv_uploaded_files *files, uint32_t number,
                                             uint64_t offset)
{
    struct tv_uploaded_chunk *piece;
    uint64_t held;
    assert_int_equal(tv_uploaded_chunk_begin(files, number, offset, &piece, &held, NULL), TV_OK);
    return piece;
}

static enum tv_status put(struct tv_uploaded_files *files, uint32_t number, uint64_t offset,
                          const char *text)
{
    uint64_t held;
    struct tv_error err = {0};
    struct tv_uploaded_chunk *piece = begin_piece(files, number, offset);
    tv_uploaded_chunk_write(piece, tv_bytes_of(text));
    return tv_uploaded_chunk_end(piece, &held, &err);
}

static void assert_shelf(struct tv_uploaded_files *files, const char *json)
{
    struct tv_out out;
    tv_out_init_memory(&out);
    tv_uploaded_files_write(files, &out);
    tv_out_char(&out, '\0');
    assert_string_equal(out.buffer, json);
    tv_out_release(&out);
}

static void assert_holds(struct tv_uploaded_files *files, uint32_t number, const char *text)
{
    struct tv_uploaded_file file;
    char got[64] = "";
    size_t length;
    assert_true(tv_uploaded_files_get(files, number, &file));
    assert_int_equal(tv_source_read(file.source, 0, got, sizeof got - 1, &length, NULL), TV_OK);
    assert_string_equal(got, text);
    tv_source_free(file.source);
}

static void takes_files_in_pieces(void **state)
{
    (void)state;
    struct tv_uploaded_files *files = tv_uploaded_files_new();
    struct tv_uploaded_file file;
    tv_uploaded_files_add_own(files, "own.trace");
    uint32_t one = begin(files, "one", 7), two = begin(files, "two", 2);
    assert_int_equal(put(files, one, 0, "abc"), TV_OK);
    assert_int_equal(put(files, two, 0, "xy"), TV_OK);
    assert_false(tv_uploaded_files_get(files, one, &file)); /* not complete */
    assert_int_equal(put(files, one, 3, "defg"), TV_OK);
    assert_holds(files, one, "abcdefg");
    assert_holds(files, two, "xy");
    assert_true(tv_uploaded_files_get(files, 0, &file));
    assert_null(file.source);
    assert_string_equal(file.name, "own.trace");
    assert_holds(files, begin(files, "nothing", 0), "");
    assert_shelf(files, "[{\"input\":0,\"name\":\"own.trace\",\"bytes\":null},"
                        "{\"input\":1,\"name\":\"one\",\"bytes\":7},"
                        "{\"input\":2,\"name\":\"two\",\"bytes\":2},"
                        "{\"input\":3,\"name\":\"nothing\",\"bytes\":0}]");
    tv_uploaded_files_free(files);
}

static void names_are_text(void **state)
{
    (void)state;
    static const char *const names[] = {"../../etc/passwd", "/dev/zero", "C:\\x", "-", "a\"b", ""};
    struct tv_uploaded_files *files = tv_uploaded_files_new();
    struct tv_uploaded_file file;
    char name[401];
    for (size_t i = 0; i < TV_COUNT(names); i++) {
        uint32_t number = begin(files, names[i], 1);
        assert_int_equal(put(files, number, 0, "x"), TV_OK);
        assert_true(tv_uploaded_files_get(files, number, &file));
        assert_string_equal(file.name, names[i]);
        assert_string_equal(tv_source_name(file.source), names[i]);
        tv_source_free(file.source);
    }
    /* a character of two bytes straddles the limit */
    memset(name, 'n', 400);
    name[400] = '\0';
    name[TV_UPLOADED_NAME - 1] = (char)0xc3;
    name[TV_UPLOADED_NAME] = (char)0xa4;
    uint32_t number = begin(files, name, 0);
    assert_true(tv_uploaded_files_get(files, number, &file));
    assert_int_equal(strlen(file.name), TV_UPLOADED_NAME - 1);
    tv_source_free(file.source);
    tv_uploaded_files_free(files);
}

static void wants_pieces_in_their_order(void **state)
{
    (void)state;
    struct tv_uploaded_files *files = tv_uploaded_files_new();
    struct tv_uploaded_chunk *piece;
    struct tv_error err = {0};
    uint64_t held = 99;
    uint32_t number = begin(files, "x", 5);
    assert_int_equal(put(files, number, 0, "ab"), TV_OK);
    assert_int_equal(tv_uploaded_chunk_begin(files, number, 3, &piece, &held, &err), TV_ERR_USAGE);
    assert_string_equal(err.message, "expected the piece at byte 2, found one at byte 3");
    assert_int_equal(held, 2);
    assert_int_equal(tv_uploaded_chunk_begin(files, 7, 0, &piece, &held, &err), TV_ERR_IO);
    struct tv_uploaded_chunk *first = begin_piece(files, number, 2);
    assert_int_equal(tv_uploaded_chunk_begin(files, number, 2, &piece, &held, &err), TV_ERR_USAGE);
    assert_string_equal(err.message, "another part of this file is being received");
    tv_uploaded_chunk_write(first, TV_BYTES("cd"));
    assert_int_equal(tv_uploaded_chunk_end(first, &held, &err),
                     TV_OK);   /* the client has disconnected; it may */
    assert_int_equal(held, 4); /* come back with the rest */
    assert_int_equal(put(files, number, 4, "e"), TV_OK);
    assert_int_equal(tv_uploaded_chunk_begin(files, number, 5, &piece, &held, &err), TV_ERR_USAGE);
    assert_holds(files, number, "abcde");
    tv_uploaded_files_free(files);
}

static void takes_no_more_than_was_announced(void **state)
{
    (void)state;
    struct tv_uploaded_files *files = tv_uploaded_files_new();
    struct tv_error err = {0};
    uint64_t held;
    uint32_t number = begin(files, "x", 3);
    struct tv_uploaded_chunk *piece = begin_piece(files, number, 0);
    tv_uploaded_chunk_write(piece, TV_BYTES("ab"));
    tv_uploaded_chunk_write(piece, TV_BYTES("cd"));
    tv_uploaded_chunk_write(piece, TV_BYTES("e"));
    assert_int_equal(tv_uploaded_chunk_end(piece, &held, &err), TV_ERR_LIMIT);
    assert_string_equal(err.message, "there is more of it than the 3 bytes that were announced");
    assert_shelf(files, "[]");
    assert_int_equal(tv_uploaded_chunk_begin(files, number, 2, &piece, &held, &err), TV_ERR_IO);
    tv_uploaded_files_free(files);
}

static void drops_cancelled_files(void **state)
{
    (void)state;
    struct tv_uploaded_files *files = tv_uploaded_files_new();
    struct tv_uploaded_file file;
    struct tv_error err = {0};
    uint64_t held;
    tv_uploaded_files_add_own(files, "own.trace");
    uint32_t whole = begin(files, "whole", 2), coming = begin(files, "coming", 2);
    assert_int_equal(put(files, whole, 0, "ab"), TV_OK);
    assert_true(tv_uploaded_files_get(files, whole, &file));
    struct tv_uploaded_chunk *piece = begin_piece(files, coming, 0);
    tv_uploaded_files_drop(files, 0); /* a file from the command line is not dropped */
    tv_uploaded_files_drop(files, whole);
    tv_uploaded_files_drop(files, coming);
    tv_uploaded_files_drop(files, coming);
    tv_uploaded_files_drop(files, 4711);
    assert_shelf(files, "[{\"input\":0,\"name\":\"own.trace\",\"bytes\":null}]");
    tv_uploaded_chunk_write(piece, TV_BYTES("ab"));
    assert_int_equal(tv_uploaded_chunk_end(piece, &held, &err), TV_ERR_IO);
    /* A source that was handed out stays valid. */
    char got[3] = "";
    size_t length;
    assert_int_equal(tv_source_read(file.source, 0, got, 2, &length, NULL), TV_OK);
    assert_string_equal(got, "ab");
    tv_source_free(file.source);
    assert_int_equal(begin(files, "next", 1), 3); /* numbers are never reused */
    tv_uploaded_files_free(files);
}

static void keeps_so_many(void **state)
{
    (void)state;
    struct tv_uploaded_files *files = tv_uploaded_files_new();
    struct tv_error err = {0};
    struct tv_uploaded_file file;
    uint32_t number, first = begin(files, "first", 1);
    assert_int_equal(put(files, first, 0, "x"), TV_OK);
    for (unsigned i = 1; i < TV_UPLOADED_FILES; i++)
        begin(files, "coming", 1);
    assert_true(tv_uploaded_files_get(files, first, &file));
    tv_source_free(file.source);
    number = begin(files, "one more", 1); /* it replaces the oldest complete file */
    assert_false(tv_uploaded_files_get(files, first, &file));
    assert_int_equal(tv_uploaded_files_add(files, TV_BYTES("y"), 1, &number, &err), TV_ERR_LIMIT);
    assert_string_equal(err.message, "64 files are coming at the same time");
    tv_uploaded_files_free(files);
}

static void says_that_there_is_no_room(void **state)
{
    (void)state;
    struct tv_uploaded_files *files = tv_uploaded_files_new();
    struct tv_error err = {0};
    uint32_t number;
    assert_int_equal(tv_uploaded_files_add(files, TV_BYTES("x"), INT64_MAX, &number, &err),
                     TV_ERR_LIMIT);
    assert_non_null(strstr(err.message, "no room for 9223372036.8 GB where temporary files go"));
    assert_non_null(strstr(err.message, "TMPDIR"));
    assert_shelf(files, "[]");
    tv_uploaded_files_free(files);
}

/* Fill the disk: a resource limit simulates that. */
static int fill_up(void)
{
    struct tv_uploaded_files *files = tv_uploaded_files_new();
    struct tv_error err = {0};
    struct tv_uploaded_chunk *piece;
    uint64_t held;
    uint32_t number;
    struct rlimit limit = {1000, 1000};
    if (tv_uploaded_files_add(files, TV_BYTES("x"), 5000, &number, &err) != TV_OK ||
        tv_uploaded_chunk_begin(files, number, 0, &piece, &held, &err) != TV_OK)
        return 1;
    signal(SIGXFSZ, SIG_IGN);
    if (setrlimit(RLIMIT_FSIZE, &limit) != 0)
        return 2;
    static const uint8_t bytes[2500];
    for (int i = 0; i < 2; i++)
        tv_uploaded_chunk_write(piece, (struct tv_bytes){bytes, sizeof bytes});
    if (tv_uploaded_chunk_end(piece, &held, &err) != TV_ERR_IO ||
        strcmp(err.message,
               "cannot write to the temporary file (TMPDIR says where): File too large") != 0)
        return 3;
    tv_uploaded_files_free(files);
    return 0;
}

static void says_that_the_disk_is_full(void **state)
{
    int status;
    (void)state;
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0)
        _exit(fill_up());
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 0);
}

UNIT_TESTS(uploaded_files, cmocka_unit_test(takes_files_in_pieces),
           cmocka_unit_test(names_are_text), cmocka_unit_test(wants_pieces_in_their_order),
           cmocka_unit_test(takes_no_more_than_was_announced),
           cmocka_unit_test(drops_cancelled_files), cmocka_unit_test(keeps_so_many),
           cmocka_unit_test(says_that_there_is_no_room),
           cmocka_unit_test(says_that_the_disk_is_full));
