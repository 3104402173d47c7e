/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_json_cases.c - what json.h makes of the lines of json_cases.txt, one test a group.
 *
 * Each text lies in a block of exactly its size, so that sanitizers see one byte too far.  Beside
 * what the line says: strict text stays as it is, the plain scanner agrees on what is JSON, and
 * going over the tree finds what writing it found.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/memory.h"
#include "cases.h"
#include "json_plain.h"
#include "readers/json/json.h"

/* Trees deeper are written, but not gone over, as that takes a function call a level. */
#define TREE_DEPTH 1000

struct json_case {
    struct tv_bytes line;
    struct tv_bytes verdict;
    unsigned faults;
    bool has_offset;
    size_t offset;
    struct tv_out text, strict;
};

static unsigned line_number, group_cases, group_failures, cases, tests;
static char group[64];

static void die(const char *what)
{
    printf("Bail out! json_cases.txt:%u: %s\n", line_number, what);
    exit(1);
}

/* ---- The lines ---- */

static unsigned hex_digit(uint8_t c)
{
    const char *digits = "0123456789abcdef";
    const char *found = c ? strchr(digits, c) : NULL;
    if (!found)
        die("not a hexadecimal digit");
    return found ? (unsigned)(found - digits) : 0;
}

/* Return the text between '<' and '>'. */
static void decode_bytes(struct tv_out *out, struct tv_bytes inside)
{
    struct tv_bytes hex, times = inside;
    unsigned long count = 1;
    if (tv_bytes_split(&times, '*', &hex))
        count = strtoul((const char *)times.data, NULL, 10);
    for (; count > 0; count--)
        for (size_t i = 0; i + 1 < hex.length; i += 2)
            tv_out_char(out, (char)(hex_digit(hex.data[i]) << 4 | hex_digit(hex.data[i + 1])));
}

static void decode(struct tv_out *out, struct tv_bytes text)
{
    struct tv_bytes plain, inside;
    tv_out_init_memory(out);
    while (tv_bytes_split(&text, '<', &plain)) {
        tv_out_bytes(out, plain);
        if (!tv_bytes_split(&text, '>', &inside))
            die("'<' without '>'");
        decode_bytes(out, inside);
    }
    tv_out_bytes(out, plain);
}

static unsigned fault_of(struct tv_bytes name)
{
    static const char *const names[] = {"comma",   "quotes",  "word",      "infinite", "number",
                                        "control", "escape",  "surrogate", "utf8",     "comment",
                                        "missing", "bracket", "cut",       "trailing", "depth"};
    for (unsigned i = 0; i < TV_COUNT(names); i++)
        if (tv_bytes_equal(name, tv_bytes_of(names[i])))
            return 1u << i;
    die("unknown fault");
    return 0;
}

static void parse_faults(struct json_case *test, struct tv_bytes text)
{
    struct tv_bytes names, name;
    test->has_offset = tv_bytes_split(&text, '@', &names);
    test->offset = test->has_offset ? strtoul((const char *)text.data, NULL, 10) : 0;
    test->faults = 0;
    if (tv_bytes_equal(names, TV_BYTES("-")))
        return;
    while (names.length > 0) {
        (void)tv_bytes_split(&names, '+', &name);
        test->faults |= fault_of(name);
    }
}

static void parse_line(struct json_case *test, struct tv_bytes line)
{
    struct tv_bytes rest = line, faults, strict;
    const char *arrow;
    test->line = line;
    (void)tv_bytes_split(&rest, ' ', &test->verdict);
    (void)tv_bytes_split(&rest, ' ', &faults);
    parse_faults(test, faults);
    strict = rest;
    arrow = strstr((const char *)rest.data, " => "); /* lines end with NUL here */
    if (arrow) {
        rest.length = (size_t)((const uint8_t *)arrow - rest.data);
        strict.data = (const uint8_t *)arrow + 4;
        strict.length -= rest.length + 4;
    }
    decode(&test->text, rest);
    decode(&test->strict, strict);
}

/* ---- What must hold ---- */

static void expect(bool holds, const struct json_case *test, const char *what)
{
    if (holds)
        return;
    printf("# json_cases.txt:%u: %s: %.*s\n", line_number, what,
           (int)(test->line.length < 200 ? test->line.length : 200), (const char *)test->line.data);
    group_failures++;
}

static struct tv_bytes written(const struct tv_out *out)
{
    return (struct tv_bytes){out->buffer, out->length};
}

/* The same text as tv_json_normalise writes, by means of the cursor; *faults: which it saw. */
static void write_tree(struct tv_out *out, struct tv_json_value value, unsigned *faults)
{
    struct tv_json_cursor cursor = tv_json_items(value.raw);
    struct tv_bytes key;
    bool object = value.type == TV_JSON_OBJECT, any = false;
    if (!object && value.type != TV_JSON_ARRAY) {
        tv_json_normalise(value.raw, out, NULL);
        return;
    }
    tv_out_char(out, object ? '{' : '[');
    while (tv_json_next(&cursor, &key, &value)) {
        if (any)
            tv_out_char(out, ',');
        any = true;
        if (object && key.length > 0 && (key.data[0] == '"' || key.data[0] == '\''))
            tv_json_normalise(key, out, NULL);
        else if (object)
            tv_out_json(out, key);
        if (object)
            tv_out_char(out, ':');
        write_tree(out, value, faults);
    }
    tv_out_char(out, object ? '}' : ']');
    *faults |= cursor.faults;
}

/* The strict text says by itself how deep it is, as far as this needs to know. */
static bool is_deep(struct tv_bytes text)
{
    unsigned opens = 0;
    for (size_t i = 0; i < text.length; i++)
        opens += text.data[i] == '[' || text.data[i] == '{';
    return opens > TREE_DEPTH;
}

static void check_tree(const struct json_case *test, struct tv_bytes text)
{
    struct tv_out tree;
    unsigned faults = 0;
    if (is_deep(text))
        return;
    tv_out_init_memory(&tree);
    write_tree(&tree, tv_json_value(text), &faults);
    expect(tv_bytes_equal(written(&tree), written(&test->strict)), test, "the tree is another");
    expect((faults & ~test->faults) == 0, test, "the cursor sees other faults");
    tv_out_release(&tree);
}

static void check_strict(const struct json_case *test)
{
    struct tv_out again;
    unsigned faults;
    struct tv_bytes strict = written(&test->strict);
    tv_out_init_memory(&again);
    expect(tv_json_check(strict, NULL, NULL), test, "its strict text is not strict");
    expect(plain_is_json(strict, TV_JSON_DEPTH), test, "its strict text is no JSON");
    tv_json_normalise(strict, &again, &faults);
    expect(faults == 0, test, "its strict text has faults");
    expect(tv_bytes_equal(written(&again), strict), test, "its strict text changes");
    tv_out_release(&again);
}

static void check_text(const struct json_case *test, struct tv_bytes text)
{
    struct tv_out out;
    unsigned faults, seen;
    size_t offset;
    bool strict = tv_json_check(text, &seen, &offset);
    tv_out_init_memory(&out);
    tv_json_normalise(text, &out, &faults);
    if (!tv_bytes_equal(written(&out), written(&test->strict)))
        printf("# written: %.*s\n", (int)(out.length < 300 ? out.length : 300),
               (const char *)out.buffer);
    expect(tv_bytes_equal(written(&out), written(&test->strict)), test, "written otherwise");
    if (faults != test->faults)
        printf("# faults: %x, not %x\n", faults, test->faults);
    expect(faults == test->faults && seen == faults, test, "other faults");
    expect(strict == plain_is_json(text, TV_JSON_DEPTH), test, "the plain scanner disagrees");
    expect(!tv_bytes_equal(test->verdict, TV_BYTES("accept")) || strict, test, "rejected");
    expect(!tv_bytes_equal(test->verdict, TV_BYTES("reject")) || !strict, test, "accepted");
    if (test->has_offset && offset != test->offset)
        printf("# offset: %zu\n", offset);
    expect(offset == (test->has_offset ? test->offset
                      : strict         ? text.length
                                       : offset),
           test, "another offset");
    tv_out_release(&out);
    check_tree(test, text);
}

static void run_case(struct tv_bytes line)
{
    struct json_case test;
    parse_line(&test, line);
    uint8_t *exact = malloc(test.text.length > 0 ? test.text.length : 1);
    if (!exact)
        die("no memory");
    if (test.text.length > 0)
        memcpy(exact, test.text.buffer, test.text.length);
    check_text(&test, (struct tv_bytes){exact, test.text.length});
    check_strict(&test);
    free(exact);
    tv_out_release(&test.text);
    tv_out_release(&test.strict);
    cases++;
    group_cases++;
}

static void end_group(void)
{
    if (group_cases > 0)
        printf("%sok %u - %s, %u cases\n", group_failures ? "not " : "", ++tests, group,
               group_cases);
    group_cases = group_failures = 0;
}

static void run_line(const char *line)
{
    if (strncmp(line, "## ", 3) == 0) {
        end_group();
        snprintf(group, sizeof group, "%s", line + 3);
    } else if (line[0] != '#' && line[0] != '\0') {
        run_case(tv_bytes_of(line));
    }
}

int main(int argc, char **argv)
{
    struct tv_out file;
    if (argc != 2)
        return 2;
    tv_out_init_memory(&file);
    cases_read_file(argv[1], &file);
    struct tv_cursor lines = tv_cursor_over(written(&file));
    struct tv_bytes line;
    while (tv_cursor_take_line(&lines, &line)) {
        char *text = tv_alloc(line.length + 1, 1);
        if (line.length > 0)
            memcpy(text, line.data, line.length);
        text[line.length] = '\0';
        line_number++;
        run_line(text);
        tv_free(text);
    }
    end_group();
    tv_out_release(&file);
    printf("1..%u\n", tests);
    return cases == 0;
}
