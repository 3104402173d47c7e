/* SPDX-License-Identifier: Apache-2.0 */
/* Lists of symbols: /proc/kallsyms and /tmp/perf-PID.map, also what somebody put there. */
#define _GNU_SOURCE
#include "unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/memory.h"
#include "perf/symbol_list.h"

static void parse_text(struct tv_symbol_list *list, const char *text, bool kernel)
{
    char *copy = tv_alloc(strlen(text) + 1, 1);
    memcpy(copy, text, strlen(text));
    tv_symbol_list_parse(list, copy, kernel);
}

static void expect(const struct tv_symbol_list *list, uint64_t address, const char *expected)
{
    char name[64] = "";
    struct tv_bytes found = tv_symbol_list_find(list, address);
    assert_true(found.length < sizeof name);
    if (found.length > 0)
        memcpy(name, found.data, found.length);
    assert_string_equal(name, expected);
}

static void reads_maps(void **state)
{
    (void)state;
    struct tv_symbol_list list;
    parse_text(&list, "1000 10 first function\n2000 20 second\n1008 4 inner\n2000 8 made again\n",
               false);
    expect(&list, 0x1000, "first function");
    expect(&list, 0xfff, "");
    expect(&list, 0x1009, "inner");
    expect(&list, 0x2007, "made again");
    expect(&list, 0x2008, "");
    tv_symbol_list_release(&list);
}

static void passes_odd_lines_over(void **state)
{
    (void)state;
    struct tv_symbol_list list;
    parse_text(&list,
               "\n \nname\n1000\n1000 \n1000 0 empty\n1000 10\n1000 10 \n1000 zz bad\n"
               "ffffffffffffffff 10 over\nfffffffffffffff0 f last\n3000 10 no end",
               false);
    assert_int_equal(list.count, 2);
    expect(&list, UINT64_C(0xfffffffffffffff1), "last");
    expect(&list, 0x3001, "no end");
    tv_symbol_list_release(&list);
    parse_text(&list, "", false);
    expect(&list, 1, "");
    tv_symbol_list_release(&list);
}

static void reads_the_kernels(void **state)
{
    (void)state;
    struct tv_symbol_list list;
    parse_text(&list,
               "ffffffff81000000 T _text\nffffffff81000100 t helper\t[module]\n"
               "ffffffff81000200 d data\nffffffff8\nffffffff81000300 W weak\n",
               true);
    assert_int_equal(list.count, 3);
    expect(&list, UINT64_C(0xffffffff810000ff), "_text");
    expect(&list, UINT64_C(0xffffffff81000250), "helper");
    expect(&list, UINT64_C(0xffffffff81999999), "weak");
    tv_symbol_list_release(&list);
    /* The kernel shows zeros to users without the right to know. */
    parse_text(&list, "0000000000000000 T _text\n0000000000000000 t helper\n", true);
    assert_int_equal(list.count, 0);
    tv_symbol_list_release(&list);
}

static void trusts_owners_alone(void **state)
{
    (void)state;
    struct tv_symbol_list list;
    char path[] = "/tmp/unit-perf-XXXXXX", link[64];
    int file = mkstemp(path);
    assert_true(file >= 0 && write(file, "10 10 name\n", 11) == 11);
    close(file);
    assert_true(tv_symbol_list_read_map(&list, path, getuid()));
    expect(&list, 0x11, "name");
    tv_symbol_list_release(&list);
    snprintf(link, sizeof link, "%s.link", path);
    assert_int_equal(symlink(path, link), 0);
    assert_false(tv_symbol_list_read_map(&list, link, getuid()));
    unlink(link);
    assert_int_equal(mkfifo(link, 0600), 0);
    assert_false(tv_symbol_list_read_map(&list, link, getuid()));
    unlink(link);
    if (getuid() == 0 && chown(path, 12345, 12345) == 0) {
        assert_false(tv_symbol_list_read_map(&list, path, 54321));
        assert_true(tv_symbol_list_read_map(&list, path, 12345));
        tv_symbol_list_release(&list);
    }
    unlink(path);
    assert_false(tv_symbol_list_read_map(&list, path, getuid()));
}

UNIT_TESTS(symbol_list, cmocka_unit_test(reads_maps), cmocka_unit_test(passes_odd_lines_over),
           cmocka_unit_test(reads_the_kernels), cmocka_unit_test(trusts_owners_alone));
