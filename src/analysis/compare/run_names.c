/* SPDX-License-Identifier: Apache-2.0 */
/* run_names.c - names without what compilers put into them (run_table.h). */
#include <string.h>

#include "analysis/compare/run_table.h"
#include "base/bytes.h"
#include "base/memory.h"
#include "base/out.h"

static bool run_names_is_digit(uint8_t c)
{
    return c >= '0' && c <= '9';
}

static bool run_names_is_hex(uint8_t c)
{
    return run_names_is_digit(c) || (c >= 'a' && c <= 'f');
}

static size_t run_names_span(struct tv_bytes text, size_t from, bool (*is)(uint8_t c))
{
    size_t at = from;
    while (at < text.length && is(text.data[at]))
        at++;
    return at - from;
}

/* Cut what a compiler puts after a name: ".constprop.0", and Rust's "::h" with 16 digits. */
static struct tv_bytes run_names_cut(struct tv_bytes name)
{
    static const char *const suffixes[] = {".constprop.", ".part.", ".isra.", ".llvm.", ".cold"};
    for (size_t i = 0; i < TV_COUNT(suffixes); i++) {
        size_t length = strlen(suffixes[i]);
        for (size_t at = 1; at + length <= name.length; at++)
            if (memcmp(name.data + at, suffixes[i], length) == 0) {
                name.length = at;
                break;
            }
    }
    const size_t hash = 3 + 16;
    if (name.length > hash && memcmp(name.data + name.length - hash, "::h", 3) == 0 &&
        run_names_span(name, name.length - 16, run_names_is_hex) == 16)
        name.length -= hash;
    return name;
}

/* Does the word that ends at `at` begin with '$' ("$Proxy0", "access$000")? */
static bool run_names_is_after_dollar(struct tv_bytes name, size_t at)
{
    while (at > 0 && name.data[at - 1] != '$' && name.data[at - 1] != '.')
        at--;
    return at > 0 && name.data[at - 1] == '$';
}

/* Return the length of a number of 2 digits or 6 hexadecimal ones at `at`; 0: there is none. */
static size_t run_names_grouped(struct tv_bytes name, size_t at)
{
    size_t digits = run_names_span(name, at, run_names_is_digit);
    size_t hex = run_names_span(name, at, run_names_is_hex);
    bool has_digit = false;
    if (at > 0 && run_names_is_hex(name.data[at - 1]))
        return 0;
    for (size_t i = at; i < at + hex; i++)
        has_digit = has_digit || run_names_is_digit(name.data[i]);
    return hex >= 6 && has_digit ? hex : digits >= 2 ? digits : 0;
}

/* Return the length of a generated number at `at`; 0: there is none. */
static size_t run_names_generated(struct tv_bytes name, size_t at, enum tv_names_match names)
{
    uint8_t before = at > 0 ? name.data[at - 1] : 0;
    size_t digits = run_names_span(name, at, run_names_is_digit);
    size_t hex = run_names_span(name, at, run_names_is_hex);
    if (digits > 0 && (before == '$' || before == '#'))
        return digits;
    if (hex > 1 && at >= 2 && before == 'x' && name.data[at - 2] == '0')
        return hex;
    if (digits > 0 && at + digits == name.length && run_names_is_after_dollar(name, at))
        return digits;
    return names == TV_NAMES_GROUPED ? run_names_grouped(name, at) : 0;
}

void tv_run_names_normal(struct tv_out *out, struct tv_bytes name, enum tv_names_match names)
{
    name = run_names_cut(name);
    for (size_t at = 0; at < name.length;) {
        size_t number = run_names_generated(name, at, names);
        tv_out_char(out, number > 0 ? '#' : (char)name.data[at]);
        at += number > 0 ? number : 1;
    }
}

/* ---- Too many names ---- */

/* With more names on a side, most of them called at most once a run, grouping is suggested. */
#define MIN_MANY_NAMES 1000u

/* Rows of one side only from which on names are suggested to be grouped, if most rows are such. */
#define MIN_LONE_NAMES 20u

/* Count the names of a side, and those that are called at most once in each of its runs. */
static void run_names_count_side(const struct tv_run_table *table, enum tv_run_side side,
                                 uint32_t *names, uint32_t *once)
{
    *names = *once = 0;
    for (uint32_t i = 0; i < table->row_count; i++) {
        const struct tv_run_row *row = &table->rows[i];
        bool most_once = true;
        if (row->joined > 0 || !(side == TV_RUN_BASE ? row->in_base : row->in_new))
            continue;
        for (uint32_t run = 0; run < table->run_count; run++)
            most_once = most_once && (table->runs[run].side != side ||
                                      tv_run_table_figures(table, row, run)->calls <= 1);
        *names += 1;
        *once += most_once;
    }
}

/* Count the names of all rows, and their different forms without numbers. */
static uint32_t run_names_count_forms(const struct tv_run_table *table, uint32_t *names)
{
    struct tv_interner *forms = tv_interner_new();
    struct tv_out form;
    *names = 0;
    tv_out_init_memory(&form);
    for (uint32_t i = 0; i < table->row_count; i++) {
        const struct tv_run_row *row = &table->rows[i];
        if (row->joined > 0)
            continue;
        *names += 1;
        form.length = 0;
        tv_run_names_normal(&form, tv_run_text(table, row->class_name), TV_NAMES_GROUPED);
        tv_out_char(&form, '\n');
        tv_run_names_normal(&form, tv_run_text(table, row->name), TV_NAMES_GROUPED);
        tv_interner_add(forms, (struct tv_bytes){form.buffer, form.length});
    }
    uint32_t count = tv_interner_count(forms) - 1; /* without the empty string */
    tv_out_release(&form);
    tv_interner_free(forms);
    return count;
}

bool tv_run_table_suggests_groups(const struct tv_run_table *table)
{
    uint32_t names, once, lone = 0;
    bool many = false;
    if (table->by != TV_ROWS_BY_METHOD || table->names == TV_NAMES_GROUPED)
        return false;
    for (uint32_t i = 0; i < table->row_count; i++)
        lone += table->rows[i].joined == 0 && table->rows[i].in_base != table->rows[i].in_new;
    for (int side = TV_RUN_BASE; side <= TV_RUN_NEW; side++) {
        run_names_count_side(table, (enum tv_run_side)side, &names, &once);
        many = many || (names > MIN_MANY_NAMES && once > names / 2);
    }
    if (!many && (lone < MIN_LONE_NAMES || lone < table->row_count / 2))
        return false;
    uint32_t forms = run_names_count_forms(table, &names);
    return forms <= names / 2;
}
