/* SPDX-License-Identifier: Apache-2.0 */
/*
 * shelf.c - files that come in pieces, from clients that may be anybody.
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
#include "server/internal.h"

static uint32_t begin(struct tv_uploaded_files *shelf, const char *name, uint64_t bytes)
{
    uint32_t number;
    struct tv_error err = {0};
    assert_int_equal(tv_uploaded_files_add(shelf, tv_bytes_of(name), bytes, &number, &err), TV_OK);
    return number;
}

static struct tv_uploaded_chunk *begin_piece(struct tv_uploaded_files *shelf, uint32_t number, uint64_t offset)
{
    struct tv_uploaded_chunk *piece;
    uint64_t held;
    assert_int_equal(tv_uploaded_chunk_begin(shelf, number, offset, &piece, &held, NULL), TV_OK);
    return piece;
}

static enum tv_status put(struct tv_uploaded_files *shelf, uint32_t number, uint64_t offset,
                          const char *text)
{
    uint64_t held;
    struct tv_error err = {0};
    struct tv_uploaded_chunk *piece = begin_piece(shelf, number, offset);
    tv_uploaded_chunk_write(piece, tv_bytes_of(text));
    return tv_uploaded_chunk_end(piece, &held, &err);
}

static void assert_shelf(struct tv_uploaded_files *shelf, const char *json)
{
    struct tv_out out;
    tv_out_init_memory(&out);
    tv_uploaded_files_write(shelf, &out);
    tv_out_char(&out, '\0');
    assert_string_equal(out.buffer, json);
    tv_out_release(&out);
}

static void assert_holds(struct tv_uploaded_files *shelf, uint32_t number, const char *text)
{
    struct tv_uploaded_file file;
    char got[64] = "";
    size_t length;
    assert_true(tv_uploaded_files_get(shelf, number, &file));
    assert_int_equal(tv_source_read(file.source, 0, got, sizeof got - 1, &length, NULL), TV_OK);
    assert_string_equal(got, text);
    tv_source_free(file.source);
}

static void takes_files_in_pieces(void **state)
{
    (void)state;
    struct tv_uploaded_files *shelf = tv_uploaded_files_new();
    struct tv_uploaded_file file;
    tv_uploaded_files_add_own(shelf, "own.trace");
    uint32_t one = begin(shelf, "one", 7), two = begin(shelf, "two", 2);
    assert_int_equal(put(shelf, one, 0, "abc"), TV_OK);
    assert_int_equal(put(shelf, two, 0, "xy"), TV_OK);
    assert_false(tv_uploaded_files_get(shelf, one, &file)); /* not whole */
    assert_int_equal(put(shelf, one, 3, "defg"), TV_OK);
    assert_holds(shelf, one, "abcdefg");
    assert_holds(shelf, two, "xy");
    assert_true(tv_uploaded_files_get(shelf, 0, &file));
    assert_null(file.source);
    assert_string_equal(file.name, "own.trace");
    assert_holds(shelf, begin(shelf, "nothing", 0), "");
    assert_shelf(shelf, "[{\"input\":0,\"name\":\"own.trace\",\"bytes\":null},"
                        "{\"input\":1,\"name\":\"one\",\"bytes\":7},"
                        "{\"input\":2,\"name\":\"two\",\"bytes\":2},"
                        "{\"input\":3,\"name\":\"nothing\",\"bytes\":0}]");
    tv_uploaded_files_free(shelf);
}

static void names_are_text(void **state)
{
    (void)state;
    static const char *const names[] = {"../../etc/passwd", "/dev/zero", "C:\\x", "-", "a\"b", ""};
    struct tv_uploaded_files *shelf = tv_uploaded_files_new();
    struct tv_uploaded_file file;
    char name[401];
    for (size_t i = 0; i < TV_COUNT(names); i++) {
        uint32_t number = begin(shelf, names[i], 1);
        assert_int_equal(put(shelf, number, 0, "x"), TV_OK);
        assert_true(tv_uploaded_files_get(shelf, number, &file));
        assert_string_equal(file.name, names[i]);
        assert_string_equal(tv_source_name(file.source), names[i]);
        tv_source_free(file.source);
    }
    /* A character of two bytes stands across the end. */
    memset(name, 'n', 400);
    name[400] = '\0';
    name[TV_UPLOADED_NAME - 1] = (char)0xc3;
    name[TV_UPLOADED_NAME] = (char)0xa4;
    uint32_t number = begin(shelf, name, 0);
    assert_true(tv_uploaded_files_get(shelf, number, &file));
    assert_int_equal(strlen(file.name), TV_UPLOADED_NAME - 1);
    tv_source_free(file.source);
    tv_uploaded_files_free(shelf);
}

static void wants_pieces_in_their_order(void **state)
{
    (void)state;
    struct tv_uploaded_files *shelf = tv_uploaded_files_new();
    struct tv_uploaded_chunk *piece;
    struct tv_error err = {0};
    uint64_t held = 99;
    uint32_t number = begin(shelf, "x", 5);
    assert_int_equal(put(shelf, number, 0, "ab"), TV_OK);
    assert_int_equal(tv_uploaded_chunk_begin(shelf, number, 3, &piece, &held, &err), TV_ERR_USAGE);
    assert_string_equal(err.message, "expected the piece at byte 2, found one at byte 3");
    assert_int_equal(held, 2);
    assert_int_equal(tv_uploaded_chunk_begin(shelf, 7, 0, &piece, &held, &err), TV_ERR_IO);
    struct tv_uploaded_chunk *first = begin_piece(shelf, number, 2);
    assert_int_equal(tv_uploaded_chunk_begin(shelf, number, 2, &piece, &held, &err), TV_ERR_USAGE);
    assert_string_equal(err.message, "another piece of it is just coming");
    tv_uploaded_chunk_write(first, TV_BYTES("cd"));
    assert_int_equal(tv_uploaded_chunk_end(first, &held, &err),
                     TV_OK);   /* the client has gone: it may */
    assert_int_equal(held, 4); /* come back with the rest */
    assert_int_equal(put(shelf, number, 4, "e"), TV_OK);
    assert_int_equal(tv_uploaded_chunk_begin(shelf, number, 5, &piece, &held, &err), TV_ERR_USAGE);
    assert_holds(shelf, number, "abcde");
    tv_uploaded_files_free(shelf);
}

static void takes_no_more_than_was_announced(void **state)
{
    (void)state;
    struct tv_uploaded_files *shelf = tv_uploaded_files_new();
    struct tv_error err = {0};
    uint64_t held;
    uint32_t number = begin(shelf, "x", 3);
    struct tv_uploaded_chunk *piece = begin_piece(shelf, number, 0);
    tv_uploaded_chunk_write(piece, TV_BYTES("ab"));
    tv_uploaded_chunk_write(piece, TV_BYTES("cd"));
    tv_uploaded_chunk_write(piece, TV_BYTES("e"));
    assert_int_equal(tv_uploaded_chunk_end(piece, &held, &err), TV_ERR_LIMIT);
    assert_string_equal(err.message, "there is more of it than the 3 bytes that were announced");
    assert_shelf(shelf, "[]");
    assert_int_equal(tv_uploaded_chunk_begin(shelf, number, 2, &piece, &held, &err), TV_ERR_IO);
    tv_uploaded_files_free(shelf);
}

static void drops_what_is_not_wanted(void **state)
{
    (void)state;
    struct tv_uploaded_files *shelf = tv_uploaded_files_new();
    struct tv_uploaded_file file;
    struct tv_error err = {0};
    uint64_t held;
    tv_uploaded_files_add_own(shelf, "own.trace");
    uint32_t whole = begin(shelf, "whole", 2), coming = begin(shelf, "coming", 2);
    assert_int_equal(put(shelf, whole, 0, "ab"), TV_OK);
    assert_true(tv_uploaded_files_get(shelf, whole, &file));
    struct tv_uploaded_chunk *piece = begin_piece(shelf, coming, 0);
    tv_uploaded_files_drop(shelf, 0); /* not the program's own */
    tv_uploaded_files_drop(shelf, whole);
    tv_uploaded_files_drop(shelf, coming);
    tv_uploaded_files_drop(shelf, coming);
    tv_uploaded_files_drop(shelf, 4711);
    assert_shelf(shelf, "[{\"input\":0,\"name\":\"own.trace\",\"bytes\":null}]");
    tv_uploaded_chunk_write(piece, TV_BYTES("ab"));
    assert_int_equal(tv_uploaded_chunk_end(piece, &held, &err), TV_ERR_IO);
    /* Who has its source keeps it. */
    char got[3] = "";
    size_t length;
    assert_int_equal(tv_source_read(file.source, 0, got, 2, &length, NULL), TV_OK);
    assert_string_equal(got, "ab");
    tv_source_free(file.source);
    assert_int_equal(begin(shelf, "next", 1), 3); /* no number twice */
    tv_uploaded_files_free(shelf);
}

static void keeps_so_many(void **state)
{
    (void)state;
    struct tv_uploaded_files *shelf = tv_uploaded_files_new();
    struct tv_error err = {0};
    struct tv_uploaded_file file;
    uint32_t number, first = begin(shelf, "first", 1);
    assert_int_equal(put(shelf, first, 0, "x"), TV_OK);
    for (unsigned i = 1; i < TV_UPLOADED_FILES; i++)
        begin(shelf, "coming", 1);
    assert_true(tv_uploaded_files_get(shelf, first, &file));
    tv_source_free(file.source);
    number = begin(shelf, "one more", 1); /* in the place of the one that is there whole */
    assert_false(tv_uploaded_files_get(shelf, first, &file));
    assert_int_equal(tv_uploaded_files_add(shelf, TV_BYTES("y"), 1, &number, &err), TV_ERR_LIMIT);
    assert_string_equal(err.message, "64 files are coming at the same time");
    tv_uploaded_files_free(shelf);
}

static void says_that_there_is_no_room(void **state)
{
    (void)state;
    struct tv_uploaded_files *shelf = tv_uploaded_files_new();
    struct tv_error err = {0};
    uint32_t number;
    assert_int_equal(tv_uploaded_files_add(shelf, TV_BYTES("x"), INT64_MAX, &number, &err), TV_ERR_LIMIT);
    assert_non_null(strstr(err.message, "no room for 9223372036.8 GB where temporary files go"));
    assert_non_null(strstr(err.message, "TMPDIR"));
    assert_shelf(shelf, "[]");
    tv_uploaded_files_free(shelf);
}

/* Whoever fills the disk meanwhile: here a limit of the system's does. */
static int fill_up(void)
{
    struct tv_uploaded_files *shelf = tv_uploaded_files_new();
    struct tv_error err = {0};
    struct tv_uploaded_chunk *piece;
    uint64_t held;
    uint32_t number;
    struct rlimit limit = {1000, 1000};
    if (tv_uploaded_files_add(shelf, TV_BYTES("x"), 5000, &number, &err) != TV_OK ||
        tv_uploaded_chunk_begin(shelf, number, 0, &piece, &held, &err) != TV_OK)
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
    tv_uploaded_files_free(shelf);
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

UNIT_TESTS(shelf, cmocka_unit_test(takes_files_in_pieces), cmocka_unit_test(names_are_text),
           cmocka_unit_test(wants_pieces_in_their_order),
           cmocka_unit_test(takes_no_more_than_was_announced),
           cmocka_unit_test(drops_what_is_not_wanted), cmocka_unit_test(keeps_so_many),
           cmocka_unit_test(says_that_there_is_no_room),
           cmocka_unit_test(says_that_the_disk_is_full));
