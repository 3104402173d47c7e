/* SPDX-License-Identifier: Apache-2.0 */
/*
 * run_match.c - which rows of both sides are one (run_table.h).
 *
 * Rows that exist on one side only are sorted by (normal form, name); those of one form are
 * joined in pairs, in the order of their names.  Methods whose callers are known were paired by
 * these before (run_callers.c).
 *
 *     base only        normal form      new only
 *     Shop$1.run       Shop$.run        Shop$1.run      same name: joined first
 *     Shop$3.run       Shop$.run        Shop$4.run      then the rest, in order
 *     Shop$7.run       Shop$.run                        stays alone: it is gone
 *
 * Compilers number lambdas and anonymous classes, so an inserted one renames all that follow. Their
 * order remains, and names of equal length compare as numbers do ("$9" before "$10").
 *
 * With call paths, callers are matched before callees: two rows are one only if their callers are.
 */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/compare/run_internal.h"
#include "base/bytes.h"
#include "base/memory.h"
#include "base/out.h"

void tv_run_table_note_sides(struct tv_run_table *table)
{
    for (uint32_t i = 0; i < table->row_count; i++) {
        struct tv_run_row *row = &table->rows[i];
        row->in_base = row->in_new = false;
        row->in_all = true;
        for (uint32_t run = 0; run < table->run_count; run++) {
            bool known = tv_run_table_figures(table, row, run)->known;
            if (table->runs[run].side == TV_RUN_HISTORY)
                continue;
            row->in_all = row->in_all && known;
            row->in_base = row->in_base || (known && table->runs[run].side == TV_RUN_BASE);
            row->in_new = row->in_new || (known && table->runs[run].side == TV_RUN_NEW);
        }
    }
}

/* Join a row that only base runs have and one that only new runs have.  The one with the smaller
 * number stays, with the name of the new one, so that callers keep smaller numbers. */
static void run_table_join(struct tv_run_table *table, uint32_t old, uint32_t fresh,
                           enum tv_run_match match)
{
    uint32_t kept = old < fresh ? old : fresh;
    struct tv_run_row *to = &table->rows[kept], *from = &table->rows[old < fresh ? fresh : old];
    const struct tv_run_row named = table->rows[fresh];
    struct tv_out name;
    assert(from->joined == 0 && to->joined == 0 && old != fresh);
    /* `to` has the smaller number, so its place exists where that of `from` does. */
    for (uint32_t run = 0; run < table->run_count; run++) {
        const struct tv_run_figures *figures = tv_run_table_figures(table, from, run);
        if (figures->known)
            tv_run_figures_add(tv_run_table_place_figures(table, kept, run), figures);
        const struct tv_run_lengths *lengths = tv_run_table_lengths(table, from, run);
        if (lengths->known) /* then `to` lacks the run */
            *tv_run_table_place_lengths(table, kept, run) = *lengths;
    }
    tv_out_init_memory(&name);
    if (match == TV_MATCH_RENAMED)
        tv_run_row_name(&name, table, &table->rows[old]);
    else
        tv_run_row_own_name(&name, table, &table->rows[old]);
    to->old_name = tv_interner_add(table->strings, (struct tv_bytes){name.buffer, name.length});
    tv_out_release(&name);
    to->class_name = named.class_name;
    to->name = named.name;
    to->signature = named.signature;
    to->of_category = named.of_category;
    to->match = match;
    to->in_base = to->in_new = true;
    from->joined = kept + 1;
}

/* A row that one side lacks. */
struct lone_row {
    uint32_t parent;
    uint32_t form; /* string: normal form of its name */
    uint32_t row;  /* TV_NONE: it has found its partner */
    bool is_new;
    struct tv_bytes name; /* set when all forms are known */
};

/* Compare names so that numbers in them count as numbers. */
static int run_table_compare_names(const struct lone_row *a, const struct lone_row *b)
{
    if (a->name.length != b->name.length) /* "$9" before "$10" */
        return a->name.length > b->name.length ? 1 : -1;
    return tv_bytes_compare(a->name, b->name);
}

/* Order by caller, form, side and name, so that what may be paired are neighbours. */
static int run_table_compare_lone(const void *left, const void *right)
{
    const struct lone_row *a = left, *b = right;
    if (a->parent != b->parent)
        return (a->parent > b->parent) - (a->parent < b->parent);
    if (a->form != b->form)
        return (a->form > b->form) - (a->form < b->form);
    if (a->is_new != b->is_new)
        return a->is_new - b->is_new;
    int order = run_table_compare_names(a, b);
    return order ? order : (a->row > b->row) - (a->row < b->row);
}

/* List those of some rows that one side lacks, by their callers and forms. */
static struct lone_row *run_table_list_lone(struct tv_run_table *table, const uint32_t *rows,
                                            size_t row_count, size_t *count)
{
    struct lone_row *lone = tv_alloc(row_count, sizeof *lone);
    struct tv_out name, form;
    tv_out_init_memory(&name);
    tv_out_init_memory(&form);
    *count = 0;
    for (size_t i = 0; i < row_count; i++) {
        const struct tv_run_row *row = &table->rows[rows[i]];
        if (row->joined > 0 || row->settled || row->in_base == row->in_new)
            continue;
        name.length = form.length = 0;
        tv_run_row_own_name(&name, table, row);
        tv_interner_add(table->strings, (struct tv_bytes){name.buffer, name.length});
        bool renamed = table->new_program != 0 && row->class_name == table->old_program;
        uint32_t class_name = renamed ? table->new_program : row->class_name;
        tv_run_names_normal(&form, tv_run_text(table, class_name), TV_NAMES_SIMILAR);
        tv_out_char(&form, '\n');
        tv_run_names_normal(&form, tv_run_text(table, row->name), TV_NAMES_SIMILAR);
        tv_out_char(&form, '\n');
        tv_out_bytes(&form, tv_run_text(table, row->signature));
        lone[(*count)++] = (struct lone_row){
            .parent = row->parent,
            .form = tv_interner_add(table->strings, (struct tv_bytes){form.buffer, form.length}),
            .row = rows[i],
            .is_new = row->in_new,
        };
    }
    /* Strings may move while others are added, so views of them come last. */
    for (size_t i = 0; i < *count; i++) {
        name.length = 0;
        tv_run_row_own_name(&name, table, &table->rows[lone[i].row]);
        lone[i].name = tv_run_text(
            table, tv_interner_find(table->strings, (struct tv_bytes){name.buffer, name.length}));
    }
    tv_out_release(&name);
    tv_out_release(&form);
    qsort(lone, *count, sizeof *lone, run_table_compare_lone);
    return lone;
}

/* Join the old rows [old, fresh) to the new rows [fresh, end) of one caller and form: first those
 * of equal names, whose callers have been joined; then the others in their order. */
static void run_table_pair(struct tv_run_table *table, struct lone_row *lone, size_t old,
                           size_t fresh, size_t end)
{
    for (size_t a = old, b = fresh; a < fresh && b < end;) {
        int order = run_table_compare_names(&lone[a], &lone[b]);
        if (order == 0) {
            run_table_join(table, lone[a].row, lone[b].row, TV_MATCH_SAME);
            lone[a].row = lone[b].row = TV_NONE;
        }
        a += order <= 0;
        b += order >= 0;
    }
    for (size_t a = old, b = fresh; a < fresh && b < end;) {
        if (lone[a].row != TV_NONE && lone[b].row != TV_NONE)
            run_table_join(table, lone[a++].row, lone[b++].row, TV_MATCH_SIMILAR);
        else if (lone[a].row == TV_NONE)
            a++;
        else
            b++;
    }
}

/* Pair the lone rows of one level, form by form. */
static void run_table_match_similar(struct tv_run_table *table, const uint32_t *rows,
                                    size_t row_count)
{
    size_t count;
    struct lone_row *lone = run_table_list_lone(table, rows, row_count, &count);
    for (size_t at = 0, end; at < count; at = end) {
        size_t fresh = at;
        for (end = at;
             end < count && lone[end].form == lone[at].form && lone[end].parent == lone[at].parent;
             end++)
            fresh += !lone[end].is_new;
        run_table_pair(table, lone, at, fresh, end);
    }
    tv_free(lone);
}

/* Match the rows of callers before those of the callees, level by level: callees of callers that
 * were joined have one caller then. */
static void run_table_match_levels(struct tv_run_table *table)
{
    uint32_t rows = table->row_count, levels = 0;
    uint32_t *level = tv_alloc(rows, sizeof *level);
    uint32_t *start = tv_alloc((size_t)rows + 2, sizeof *start); /* [level + 1] in `sorted` */
    uint32_t *sorted = tv_alloc(rows, sizeof *sorted);
    for (uint32_t i = 0; i < rows; i++) {
        uint32_t parent = table->rows[i].parent;
        assert(parent <= i);
        level[i] = parent > 0 ? level[parent - 1] + 1 : 0;
        levels = level[i] >= levels ? level[i] + 1 : levels;
        start[level[i] + 2]++;
    }
    for (uint32_t i = 0; i < levels; i++)
        start[i + 2] += start[i + 1];
    for (uint32_t i = 0; i < rows; i++)
        sorted[start[level[i] + 1]++] = i;
    for (uint32_t at = 0; at < levels; at++) {
        for (uint32_t i = start[at]; i < start[at + 1]; i++) {
            struct tv_run_row *row = &table->rows[sorted[i]];
            if (row->parent > 0 && table->rows[row->parent - 1].joined > 0)
                row->parent = table->rows[row->parent - 1].joined;
        }
        if (table->names != TV_NAMES_EXACT)
            run_table_match_similar(table, sorted + start[at], start[at + 1] - start[at]);
    }
    tv_free(sorted);
    tv_free(start);
    tv_free(level);
}

/* Return the row with a full name that only one side has, or TV_NONE. */
static uint32_t run_table_find_lone(const struct tv_run_table *table, struct tv_bytes wanted,
                                    bool is_new)
{
    struct tv_out name;
    uint32_t found = TV_NONE;
    tv_out_init_memory(&name);
    for (uint32_t i = 0; i < table->row_count && found == TV_NONE; i++) {
        const struct tv_run_row *row = &table->rows[i];
        if (row->joined > 0 || row->in_new != is_new || row->in_base == is_new)
            continue;
        name.length = 0;
        tv_run_row_name(&name, table, row);
        if (tv_bytes_equal((struct tv_bytes){name.buffer, name.length}, wanted))
            found = i;
    }
    tv_out_release(&name);
    return found;
}

static void run_table_match_renames(struct tv_run_table *table)
{
    for (size_t i = 0; i + 1 < table->rename_count; i += 2) {
        uint32_t old = run_table_find_lone(table, table->renames[i], false);
        uint32_t fresh = run_table_find_lone(table, table->renames[i + 1], true);
        if (old != TV_NONE && fresh != TV_NONE)
            run_table_join(table, old, fresh, TV_MATCH_RENAMED);
    }
}

/* ---- The program of native runs ---- */

/* Share of the names of a program that its other version must have, in percent. */
#define PROGRAM_NAMES 80u

/* With more classes that one side lacks, they are not those of programs and libraries. */
#define LONE_CLASSES ((size_t)8)

/* Functions of each class, a name counted once, and the sides that have the class. */
struct class_counts {
    struct tv_map functions; /* (class, name, signature) -> 0 */
    uint32_t *counts;        /* [string] */
    uint8_t *sides;          /* [string] bits: in base, in new runs */
};

static uint64_t run_table_function_key(uint32_t class_name, const struct tv_run_row *row)
{
    return tv_hash_u64((uint64_t)class_name << 32 | row->name) ^ row->signature;
}

/* Count the functions of each class, and note which sides have it. A row that was joined has both
 * classes and counts for neither. */
static void class_counts_init(struct class_counts *classes, const struct tv_run_table *table)
{
    uint32_t strings = tv_interner_count(table->strings);
    tv_map_init(&classes->functions);
    classes->counts = tv_alloc(strings, sizeof *classes->counts);
    classes->sides = tv_alloc(strings, sizeof *classes->sides);
    for (uint32_t i = 0; i < table->row_count; i++) {
        const struct tv_run_row *row = &table->rows[i];
        uint64_t key = run_table_function_key(row->class_name, row);
        if (row->joined > 0 || row->match == TV_MATCH_RENAMED)
            continue; /* it has both classes */
        classes->sides[row->class_name] |= (uint8_t)(row->in_base | row->in_new << 1);
        if (tv_map_find(&classes->functions, key) == TV_NONE) {
            tv_map_set(&classes->functions, key, 0);
            classes->counts[row->class_name]++;
        }
    }
}

/* List the classes that only one side has; return LONE_CLASSES + 1 if there are more than that. */
static size_t class_counts_list_lone(const struct class_counts *classes,
                                     const struct tv_run_table *table, uint8_t side, uint32_t *lone)
{
    size_t count = 0;
    for (uint32_t i = 1; i < tv_interner_count(table->strings) && count <= LONE_CLASSES; i++)
        if (classes->sides[i] == side && count++ < LONE_CLASSES)
            lone[count - 1] = i;
    return count;
}

/* Count the functions of a class that another class has, too.  `number` is another one in each
 * call, above 0: a function has many paths, but counts once. */
static uint32_t class_counts_common(struct class_counts *classes, const struct tv_run_table *table,
                                    uint32_t old, uint32_t fresh, uint32_t number)
{
    uint32_t common = 0;
    for (uint32_t i = 0; i < table->row_count; i++) {
        uint64_t key = run_table_function_key(fresh, &table->rows[i]);
        if (table->rows[i].class_name != old)
            continue;
        uint32_t found = tv_map_find(&classes->functions, key);
        if (found == TV_NONE || found == number)
            continue;
        tv_map_set(&classes->functions, key, number);
        common++;
    }
    return common;
}

/* Join the only row that base runs alone have with the only one that new runs alone have. */
static void run_table_match_only(struct tv_run_table *table)
{
    uint32_t lone[2] = {TV_NONE, TV_NONE}, count[2] = {0, 0};
    for (uint32_t i = 0; i < table->row_count; i++) {
        const struct tv_run_row *row = &table->rows[i];
        if (row->joined > 0 || row->in_base == row->in_new)
            continue;
        count[row->in_new]++;
        lone[row->in_new] = i;
    }
    if (count[0] == 1 && count[1] == 1)
        run_table_join(table, lone[0], lone[1], TV_MATCH_SIMILAR);
}

/* Two builds of a native program mostly have other names ("base", "./new/app-2"), which are the
 * classes of all of their functions.  Of the classes that one side lacks, those two are one program
 * that have the most functions in common, if these are most of the functions. */
static void run_table_match_programs(struct tv_run_table *table)
{
    struct class_counts classes;
    uint32_t old[LONE_CLASSES], fresh[LONE_CLASSES], most = 0, number = 0;
    for (uint32_t run = 0; run < table->run_count; run++)
        if (!table->runs[run].native && table->runs[run].side != TV_RUN_HISTORY)
            return;
    if (table->by == TV_ROWS_BY_CLASS || table->by == TV_ROWS_BY_THREAD) {
        run_table_match_only(table); /* the program, and its main thread, which has its name */
        return;
    }
    class_counts_init(&classes, table);
    size_t old_count = class_counts_list_lone(&classes, table, 1, old);
    size_t fresh_count = class_counts_list_lone(&classes, table, 2, fresh);
    bool few = old_count <= LONE_CLASSES && fresh_count <= LONE_CLASSES;
    for (size_t pair = 0; few && pair < old_count * fresh_count; pair++) {
        uint32_t a = old[pair / fresh_count], b = fresh[pair % fresh_count];
        uint32_t common = class_counts_common(&classes, table, a, b, ++number);
        uint32_t fewer =
            classes.counts[a] < classes.counts[b] ? classes.counts[a] : classes.counts[b];
        if (common <= most || (uint64_t)common * 100 < (uint64_t)fewer * PROGRAM_NAMES)
            continue;
        most = common;
        table->old_program = a;
        table->new_program = b;
    }
    tv_map_release(&classes.functions);
    tv_free(classes.counts);
    tv_free(classes.sides);
}

/* ---- Numbers of samples ---- */

/* Do all runs have numbers of samples of one kind, whose intervals are known and differ? */
static bool run_table_has_unlike_intervals(const struct tv_run_table *table)
{
    bool differ = false;
    for (uint32_t i = 0; i < table->run_count; i++) {
        const struct tv_run *run = &table->runs[i], *first = &table->runs[0];
        if (!run->weighs || run->interval <= 0 || run->value != first->value ||
            !tv_run_counts_samples(table, run))
            return false;
        differ = differ || run->interval != first->interval;
    }
    return differ;
}

/* Turn numbers of samples into times: twice as many samples at half the interval are as much. */
static void run_table_time_samples(struct tv_run_table *table)
{
    uint32_t unit = tv_interner_add(table->strings, TV_BYTES("nanoseconds"));
    for (uint32_t i = 0; i < table->run_count; i++) {
        struct tv_run *run = &table->runs[i];
        struct tv_run_column *column = &table->columns[i];
        run->unit = unit;
        run->total_wall = tv_time_times(run->total_wall, run->interval);
        for (uint32_t row = 0; row < column->capacity; row++) {
            struct tv_run_figures *figures = &column->figures[row];
            figures->incl_wall = tv_time_times(figures->incl_wall, run->interval);
            figures->excl_wall = tv_time_times(figures->excl_wall, run->interval);
        }
    }
    table->timed = true;
}

void tv_run_table_match(struct tv_run_table *table)
{
    if (run_table_has_unlike_intervals(table))
        run_table_time_samples(table);
    tv_run_table_note_sides(table);
    run_table_match_renames(table);
    if (table->names != TV_NAMES_EXACT)
        run_table_match_programs(table);
    tv_run_table_match_numbered(table);
    run_table_match_levels(table);
    tv_run_table_note_sides(table);
}
