/* SPDX-License-Identifier: Apache-2.0 */
/*
 * run_callers.c - which of several methods that differ by generated numbers are one (run_table.h).
 *
 * A lambda put in front of others moves the numbers of those after it:
 *
 *     base   lambda$main$0 calls read     new   lambda$main$0 calls log     (it is new)
 *            lambda$main$1 calls write          lambda$main$1 calls read
 *                                               lambda$main$2 calls write
 *
 * Names alone would make one row of both lambda$main$0.  If the numbers of a form differ between
 * the sides, its methods are paired by their callers and callees instead: the pair that has the
 * largest share of these in common first, down to a half (Jaccard).  Then the figures of the base
 * move to the rows of the new names.
 *
 * Paths have callers and callees among them, so their methods are paired by these, and then all
 * base paths through a method move to those through its partner:
 *
 *     run;lambda$0;read          moves to          run;lambda$1;read
 *
 * A base path whose method has no partner, but whose name is that of another method in the new
 * runs, moves to a row of its own.
 */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/compare/run_internal.h"
#include "base/bytes.h"
#include "base/memory.h"
#include "base/out.h"

/* Maximum number of methods of a form that are paired so: each is compared with each. */
#define MAX_MEMBERS ((size_t)64)

/* Minimum share of callers and callees that a pair has in common. */
#define MIN_COMMON 0.5

/* ---- Forms ---- */

/* Return the form of each row with a generated number, as a string of the table; TV_EMPTY_STRING
 * for other rows. */
static uint32_t *run_callers_forms(struct tv_run_table *table)
{
    uint32_t *forms = tv_alloc(table->row_count, sizeof *forms);
    struct tv_out form;
    tv_out_init_memory(&form);
    for (uint32_t i = 0; i < table->row_count; i++) {
        const struct tv_run_row *row = &table->rows[i];
        if (row->joined > 0 || row->match != TV_MATCH_SAME)
            continue;
        form.length = 0;
        tv_run_names_normal(&form, tv_run_text(table, row->class_name), TV_NAMES_SIMILAR);
        tv_out_char(&form, '\n');
        tv_run_names_normal(&form, tv_run_text(table, row->name), TV_NAMES_SIMILAR);
        if (!memchr(form.buffer, '#', form.length))
            continue;
        tv_out_char(&form, '\n');
        tv_out_bytes(&form, tv_run_text(table, row->signature));
        forms[i] = tv_interner_add(table->strings, (struct tv_bytes){form.buffer, form.length});
    }
    tv_out_release(&form);
    return forms;
}

/* A row with a number. */
struct numbered_row {
    uint32_t form, row;
};

static int run_callers_compare_rows(const void *left, const void *right)
{
    const struct numbered_row *a = left, *b = right;
    if (a->form != b->form)
        return a->form > b->form ? 1 : -1;
    return (a->row > b->row) - (a->row < b->row);
}

/* List the rows with numbers, those of a form one after the other. */
static struct numbered_row *run_callers_list(struct tv_run_table *table, size_t *count)
{
    uint32_t *forms = run_callers_forms(table);
    struct numbered_row *rows = tv_alloc(table->row_count, sizeof *rows);
    *count = 0;
    for (uint32_t i = 0; i < table->row_count; i++)
        if (forms[i] != TV_EMPTY_STRING && (table->rows[i].in_base || table->rows[i].in_new))
            rows[(*count)++] = (struct numbered_row){forms[i], i};
    if (*count > 0)
        qsort(rows, *count, sizeof *rows, run_callers_compare_rows);
    tv_free(forms);
    return rows;
}

/* Return the end of the form that begins at `at`. */
static size_t run_callers_end(const struct numbered_row *rows, size_t at, size_t count)
{
    size_t end = at;
    while (end < count && rows[end].form == rows[at].form)
        end++;
    return end;
}

/* Do the numbers of a form differ between the sides, and has a side several of them? */
static bool run_callers_are_unclear(const struct tv_run_table *table,
                                    const struct numbered_row *rows, size_t count)
{
    size_t base = 0, fresh = 0, lone = 0;
    for (size_t i = 0; i < count; i++) {
        const struct tv_run_row *row = &table->rows[rows[i].row];
        base += row->in_base;
        fresh += row->in_new;
        lone += row->in_base != row->in_new;
    }
    return lone > 0 && base > 0 && fresh > 0 && base + fresh > 2 && count <= MAX_MEMBERS;
}

/* Is any form unclear? */
static bool run_callers_any_unclear(struct tv_run_table *table)
{
    size_t count;
    bool any = false;
    struct numbered_row *rows = run_callers_list(table, &count);
    for (size_t at = 0, end; at < count && !any; at = end) {
        end = run_callers_end(rows, at, count);
        any = run_callers_are_unclear(table, rows + at, end - at);
    }
    tv_free(rows);
    return any;
}

bool tv_run_table_wants_callers(struct tv_run_table *table)
{
    if (table->by != TV_ROWS_BY_METHOD || table->names != TV_NAMES_SIMILAR)
        return false;
    tv_run_table_note_sides(table);
    return run_callers_any_unclear(table);
}

/* ---- Callers and callees ---- */

/* Return the name by which a row counts as a caller (before: '<') or callee ('>') of others. */
static uint32_t run_callers_name(struct tv_run_table *table, uint32_t row, char before)
{
    struct tv_out name;
    tv_out_init_memory(&name);
    tv_out_char(&name, before);
    tv_run_names_normal(&name, tv_run_text(table, table->rows[row].class_name), TV_NAMES_SIMILAR);
    tv_out_char(&name, '.');
    tv_run_names_normal(&name, tv_run_text(table, table->rows[row].name), TV_NAMES_SIMILAR);
    uint32_t string = tv_interner_add(table->strings, (struct tv_bytes){name.buffer, name.length});
    tv_out_release(&name);
    return string;
}

static void run_callers_add(struct tv_run_table *table, uint32_t row, uint32_t name, bool is_new)
{
    table->neighbours = tv_array_reserve(table->neighbours, &table->neighbour_capacity,
                                         table->neighbour_count + 1, sizeof *table->neighbours);
    table->neighbours[table->neighbour_count++] =
        (struct tv_run_neighbour){.row = row, .name = name, .is_new = is_new};
}

/* State while the calls of a side are learnt. */
struct callers_reading {
    struct tv_run_table *table;
    bool is_new;
    bool *is_numbered;  /* [row] */
    struct tv_map seen; /* edges */
};

static void callers_reading_init(struct callers_reading *reading, struct tv_run_table *table,
                                 bool is_new)
{
    size_t count;
    struct numbered_row *rows = run_callers_list(table, &count);
    *reading = (struct callers_reading){.table = table, .is_new = is_new};
    reading->is_numbered = tv_alloc(table->row_count, sizeof *reading->is_numbered);
    tv_map_init(&reading->seen);
    for (size_t i = 0; i < count; i++)
        reading->is_numbered[rows[i].row] = true;
    tv_free(rows);
}

static void callers_reading_release(struct callers_reading *reading)
{
    tv_map_release(&reading->seen);
    tv_free(reading->is_numbered);
}

/* Note that one row calls another. */
static void callers_reading_add(struct callers_reading *reading, uint32_t caller, uint32_t callee)
{
    struct tv_run_table *table = reading->table;
    uint64_t edge = tv_hash_u64((uint64_t)caller << 32 | callee);
    if (caller == TV_NONE || callee == TV_NONE ||
        !(reading->is_numbered[callee] || reading->is_numbered[caller]) ||
        tv_map_find(&reading->seen, edge) != TV_NONE)
        return;
    tv_map_set(&reading->seen, edge, 0);
    if (reading->is_numbered[callee])
        run_callers_add(table, callee, run_callers_name(table, caller, '<'), reading->is_new);
    if (reading->is_numbered[caller])
        run_callers_add(table, caller, run_callers_name(table, callee, '>'), reading->is_new);
}

void tv_run_table_learn_callers(struct tv_run_table *table, enum tv_run_side side,
                                const struct tv_call_tree *tree)
{
    struct callers_reading reading;
    uint32_t *row_of = tv_run_table_find_frames(table, tree->head);
    callers_reading_init(&reading, table, side == TV_RUN_NEW);
    for (uint32_t node = 1; node < tree->count; node++) {
        uint32_t frame = tree->frame[node], parent = tree->parent[node];
        uint32_t above = parent == TV_ROOT_PATH ? TV_NONE : tree->frame[parent];
        if (frame < TV_THREAD_FRAME && above < TV_THREAD_FRAME && frame != above)
            callers_reading_add(&reading, row_of[above], row_of[frame]);
    }
    callers_reading_release(&reading);
    tv_free(row_of);
}

static int run_callers_compare_neighbours(const void *left, const void *right)
{
    const struct tv_run_neighbour *a = left, *b = right;
    if (a->row != b->row)
        return a->row > b->row ? 1 : -1;
    if (a->is_new != b->is_new)
        return a->is_new - b->is_new;
    return (a->name > b->name) - (a->name < b->name);
}

/* Sort what was learnt, and drop what is there twice. */
static void run_callers_sort(struct tv_run_table *table)
{
    size_t kept = 0;
    qsort(table->neighbours, table->neighbour_count, sizeof *table->neighbours,
          run_callers_compare_neighbours);
    for (size_t i = 0; i < table->neighbour_count; i++)
        if (kept == 0 || run_callers_compare_neighbours(&table->neighbours[kept - 1],
                                                        &table->neighbours[i]) != 0)
            table->neighbours[kept++] = table->neighbours[i];
    table->neighbour_count = kept;
}

/* Find the neighbours of a row on a side; return their number. */
static size_t run_callers_of(const struct tv_run_table *table, uint32_t row, bool is_new,
                             const struct tv_run_neighbour **first)
{
    size_t low = 0, high = table->neighbour_count, end;
    struct tv_run_neighbour wanted = {.row = row, .name = 0, .is_new = is_new};
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (run_callers_compare_neighbours(&table->neighbours[middle], &wanted) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    for (end = low; end < table->neighbour_count && table->neighbours[end].row == row &&
                    table->neighbours[end].is_new == is_new;)
        end++;
    *first = &table->neighbours[low];
    return end - low;
}

/* Return the share of the callers and callees of both that are those of each; -1: one has none that
 * are known. */
static double run_callers_common(const struct tv_run_table *table, uint32_t old, uint32_t fresh)
{
    const struct tv_run_neighbour *a, *b;
    size_t a_count = run_callers_of(table, old, false, &a);
    size_t b_count = run_callers_of(table, fresh, true, &b), common = 0;
    if (a_count == 0 || b_count == 0)
        return -1;
    for (size_t i = 0, k = 0; i < a_count && k < b_count;) {
        uint32_t left = a[i].name, right = b[k].name;
        common += left == right;
        i += left <= right;
        k += right <= left;
    }
    return (double)common / (double)(a_count + b_count - common);
}

/* ---- Pairs ---- */

/* The methods of a form on both sides. */
struct form_pairs {
    uint32_t base[MAX_MEMBERS], fresh[MAX_MEMBERS]; /* rows, in the order of their names */
    size_t base_count, fresh_count;
    size_t partner[MAX_MEMBERS]; /* of base[i]: number in `fresh`; MAX_MEMBERS: none */
    bool taken[MAX_MEMBERS];     /* fresh[i] has a partner */
};

static int run_callers_compare_names(const struct tv_run_table *table, uint32_t a, uint32_t b)
{
    size_t x = tv_run_text(table, table->rows[a].class_name).length +
               tv_run_text(table, table->rows[a].name).length;
    size_t y = tv_run_text(table, table->rows[b].class_name).length +
               tv_run_text(table, table->rows[b].name).length;
    return x != y ? (x > y ? 1 : -1) : tv_run_row_compare(table, a, b); /* "$9" before "$10" */
}

/* Add a row to a list in the order of names: numbers of files must not matter. */
static void run_callers_insert(const struct tv_run_table *table, uint32_t *rows, size_t *count,
                               uint32_t row)
{
    size_t at = (*count)++;
    assert(at < MAX_MEMBERS);
    for (; at > 0 && run_callers_compare_names(table, rows[at - 1], row) > 0; at--)
        rows[at] = rows[at - 1];
    rows[at] = row;
}

/* Pair the two that have most in common, of those left; false: none has enough.  Of equal ones,
 * equal names come first, then the order of names. */
static bool run_callers_pair_best(const struct tv_run_table *table, struct form_pairs *pairs)
{
    double best = MIN_COMMON;
    size_t best_old = MAX_MEMBERS, best_fresh = MAX_MEMBERS;
    for (size_t i = 0; i < pairs->base_count; i++) {
        for (size_t k = 0; k < pairs->fresh_count && pairs->partner[i] == MAX_MEMBERS; k++) {
            if (pairs->taken[k])
                continue;
            double common = run_callers_common(table, pairs->base[i], pairs->fresh[k]);
            bool same = pairs->base[i] == pairs->fresh[k];
            bool first = best_old == MAX_MEMBERS;
            bool was_same = !first && pairs->base[best_old] == pairs->fresh[best_fresh];
            if (common < best || (common == best && !first && (was_same || !same)))
                continue;
            best = common;
            best_old = i;
            best_fresh = k;
        }
    }
    if (best_old == MAX_MEMBERS)
        return false;
    pairs->partner[best_old] = best_fresh;
    pairs->taken[best_fresh] = true;
    return true;
}

/* Append a row with the names of another one, for its figures of the base. */
static uint32_t run_callers_copy_row(struct tv_run_table *table, uint32_t row)
{
    table->rows = tv_array_reserve(table->rows, &table->row_capacity, table->row_count + 1,
                                   sizeof *table->rows);
    table->rows[table->row_count] = table->rows[row];
    struct tv_run_row *copy = &table->rows[table->row_count];
    copy->match = TV_MATCH_SAME;
    copy->old_name = TV_EMPTY_STRING;
    copy->settled = true;
    return table->row_count++;
}

/* Move the figures of base runs, and of older ones, from rows to others. */
static void run_callers_move(struct tv_run_table *table, const uint32_t *from, const uint32_t *to,
                             size_t count)
{
    struct tv_run_figures figures[MAX_MEMBERS];
    struct tv_run_lengths lengths[MAX_MEMBERS];
    assert(count <= MAX_MEMBERS);
    for (uint32_t run = 0; run < table->run_count; run++) {
        if (table->runs[run].side == TV_RUN_NEW)
            continue;
        bool has_lengths = table->columns[run].length_capacity > 0;
        for (size_t i = 0; i < count; i++) {
            struct tv_run_figures *place = tv_run_table_place_figures(table, from[i], run);
            figures[i] = *place;
            *place = (struct tv_run_figures){.known = false};
            if (!has_lengths)
                continue;
            struct tv_run_lengths *length = tv_run_table_place_lengths(table, from[i], run);
            lengths[i] = *length;
            *length = (struct tv_run_lengths){.known = false};
        }
        for (size_t i = 0; i < count; i++) {
            *tv_run_table_place_figures(table, to[i], run) = figures[i];
            if (has_lengths)
                *tv_run_table_place_lengths(table, to[i], run) = lengths[i];
        }
    }
}

/* Note that a row has another name on the base side. */
static void run_callers_note_name(struct tv_run_table *table, uint32_t row, uint32_t old)
{
    struct tv_out name;
    tv_out_init_memory(&name);
    tv_run_row_own_name(&name, table, &table->rows[old]);
    table->rows[row].old_name =
        tv_interner_add(table->strings, (struct tv_bytes){name.buffer, name.length});
    table->rows[row].match = TV_MATCH_SIMILAR;
    tv_out_release(&name);
}

/* Give the figures of the base to the rows of their partners. */
static void run_callers_apply(struct tv_run_table *table, const struct form_pairs *pairs)
{
    uint32_t to[MAX_MEMBERS];
    for (size_t i = 0; i < pairs->base_count; i++) {
        uint32_t old = pairs->base[i];
        if (pairs->partner[i] < MAX_MEMBERS)
            to[i] = pairs->fresh[pairs->partner[i]];
        else
            to[i] = table->rows[old].in_new ? run_callers_copy_row(table, old) : old;
        table->rows[old].settled = true;
        if (pairs->partner[i] < MAX_MEMBERS && to[i] != old)
            run_callers_note_name(table, to[i], old);
    }
    for (size_t i = 0; i < pairs->fresh_count; i++)
        table->rows[pairs->fresh[i]].settled = true;
    run_callers_move(table, pairs->base, to, pairs->base_count);
}

/* Pair the methods of a form; false: none of them has a partner by its callers and callees. */
static bool form_pairs_init(struct form_pairs *pairs, const struct tv_run_table *table,
                            const struct numbered_row *rows, size_t count)
{
    *pairs = (struct form_pairs){.base_count = 0};
    for (size_t i = 0; i < count; i++) {
        const struct tv_run_row *row = &table->rows[rows[i].row];
        if (row->in_base)
            run_callers_insert(table, pairs->base, &pairs->base_count, rows[i].row);
        if (row->in_new)
            run_callers_insert(table, pairs->fresh, &pairs->fresh_count, rows[i].row);
    }
    for (size_t i = 0; i < pairs->base_count; i++)
        pairs->partner[i] = MAX_MEMBERS;
    bool any = false;
    while (run_callers_pair_best(table, pairs))
        any = true;
    for (size_t i = 0; i < pairs->base_count && any; i++)
        for (size_t k = 0; k < pairs->fresh_count && pairs->partner[i] == MAX_MEMBERS; k++)
            if (pairs->base[i] == pairs->fresh[k] && !pairs->taken[k]) {
                pairs->partner[i] = k; /* equal names, and nothing speaks for another */
                pairs->taken[k] = true;
            }
    return any;
}

/* ---- Paths ---- */

/* Target of the base paths through a method. */
enum path_move {
    MOVE_NOWHERE,  /* nobody has judged the method */
    MOVE_STAY,     /* to the method itself */
    MOVE_TO,       /* to its partner */
    MOVE_TO_A_COPY /* to a row of its own: its name is that of another method in the new runs */
};

/* State while paths are matched. */
struct path_moves {
    struct tv_run_table *table;
    struct tv_run_table methods; /* of the paths, without figures; has the strings of the table */
    uint32_t *method_of;         /* [row] row of `methods`; TV_NONE: a path that --rename joined */
    uint8_t *move;               /* [method] enum path_move */
    uint32_t *partner;           /* [method] of MOVE_TO */
    uint32_t *target;            /* [row] of the base figures */
    uint32_t count;              /* rows of the table at first */
};

/* List the methods of all paths, and the sides that have them. */
static void path_moves_list_methods(struct path_moves *moves)
{
    struct tv_run_table *table = moves->table;
    for (uint32_t i = 0; i < moves->count; i++) {
        struct tv_run_row key = table->rows[i];
        moves->method_of[i] = TV_NONE;
        if (key.joined > 0 || key.match != TV_MATCH_SAME)
            continue;
        key.parent = key.next = 0;
        key.in_base = key.in_new = false;
        uint32_t method = tv_run_table_place_row(&moves->methods, &key);
        moves->method_of[i] = method;
        moves->methods.rows[method].in_base |= table->rows[i].in_base;
        moves->methods.rows[method].in_new |= table->rows[i].in_new;
    }
}

/* Learn which methods call which on a side. */
static void path_moves_learn(struct path_moves *moves, bool is_new)
{
    struct callers_reading reading;
    callers_reading_init(&reading, &moves->methods, is_new);
    for (uint32_t i = 0; i < moves->count; i++) {
        const struct tv_run_row *row = &moves->table->rows[i];
        uint32_t caller = row->parent > 0 ? moves->method_of[row->parent - 1] : TV_NONE;
        if ((is_new ? row->in_new : row->in_base) && caller != moves->method_of[i])
            callers_reading_add(&reading, caller, moves->method_of[i]);
    }
    callers_reading_release(&reading);
}

/* Note the partners of the methods of a form. */
static void path_moves_note(struct path_moves *moves, const struct form_pairs *pairs)
{
    for (size_t k = 0; k < pairs->fresh_count; k++)
        moves->move[pairs->fresh[k]] = MOVE_STAY;
    for (size_t i = 0; i < pairs->base_count; i++) {
        uint32_t old = pairs->base[i];
        bool paired = pairs->partner[i] < MAX_MEMBERS;
        uint32_t partner = paired ? pairs->fresh[pairs->partner[i]] : old;
        moves->partner[old] = partner;
        moves->move[old] = partner != old                               ? MOVE_TO
                           : !paired && moves->methods.rows[old].in_new ? MOVE_TO_A_COPY
                                                                        : MOVE_STAY;
    }
}

/* Pair the methods of all unclear forms; false: no path moves. */
static bool path_moves_pair(struct path_moves *moves)
{
    struct tv_run_table *methods = &moves->methods;
    size_t count;
    bool any = false;
    moves->move = tv_alloc(methods->row_count, sizeof *moves->move);
    moves->partner = tv_alloc(methods->row_count, sizeof *moves->partner);
    path_moves_learn(moves, false);
    path_moves_learn(moves, true);
    run_callers_sort(methods);
    struct numbered_row *rows = run_callers_list(methods, &count);
    for (size_t at = 0, end; at < count; at = end) {
        struct form_pairs pairs;
        end = run_callers_end(rows, at, count);
        if (!run_callers_are_unclear(methods, rows + at, end - at) ||
            !form_pairs_init(&pairs, methods, rows + at, end - at))
            continue;
        path_moves_note(moves, &pairs);
        any = true;
    }
    tv_free(rows);
    return any;
}

/* Has a base run, or an older one, figures of a row? */
static bool path_moves_has_base(const struct tv_run_table *table, uint32_t row)
{
    for (uint32_t run = 0; run < table->run_count; run++)
        if (table->runs[run].side != TV_RUN_NEW &&
            tv_run_table_figures(table, &table->rows[row], run)->known)
            return true;
    return false;
}

/* Return the row that the base figures of a row move to.  Its caller has its target already. */
static uint32_t path_moves_find_target(struct path_moves *moves, uint32_t row)
{
    struct tv_run_table *table = moves->table;
    uint32_t parent = table->rows[row].parent, method = moves->method_of[row];
    uint32_t below = parent > 0 ? moves->target[parent - 1] + 1 : 0;
    uint8_t move = method == TV_NONE ? MOVE_NOWHERE : moves->move[method];
    table->rows[row].settled = move != MOVE_NOWHERE;
    if ((below == parent && move <= MOVE_STAY) || !path_moves_has_base(table, row))
        return row;
    struct tv_run_row key = table->rows[row];
    key.parent = below;
    key.next = 0;
    if (move == MOVE_TO) {
        const struct tv_run_row *partner = &moves->methods.rows[moves->partner[method]];
        key.class_name = partner->class_name;
        key.name = partner->name;
        key.signature = partner->signature;
        key.of_category = partner->of_category;
    }
    uint32_t target = move == MOVE_TO_A_COPY ? run_callers_copy_row(table, row)
                                             : tv_run_table_place_row(table, &key);
    table->rows[target].parent = below;
    table->rows[target].settled = move != MOVE_NOWHERE;
    if (move == MOVE_TO)
        run_callers_note_name(table, target, row);
    return target;
}

/* Move the figures of a run to their targets: all of them are taken before the first is put, since
 * the target of one can be the place of another. */
static void path_moves_move_run(struct path_moves *moves, uint32_t run,
                                struct tv_run_figures *taken)
{
    struct tv_run_table *table = moves->table;
    size_t count = 0;
    for (uint32_t i = 0; i < moves->count; i++) {
        if (moves->target[i] == i)
            continue;
        taken[count] = *tv_run_table_figures(table, &table->rows[i], run);
        if (taken[count++].known)
            *tv_run_table_place_figures(table, i, run) = (struct tv_run_figures){.known = false};
    }
    count = 0;
    for (uint32_t i = 0; i < moves->count; i++) {
        if (moves->target[i] == i)
            continue;
        if (taken[count].known)
            tv_run_figures_add(tv_run_table_place_figures(table, moves->target[i], run),
                               &taken[count]);
        count++;
    }
}

/* Move all base paths to those of the partners of their methods. */
static void path_moves_apply(struct path_moves *moves)
{
    size_t moved = 0;
    moves->target = tv_alloc(moves->count, sizeof *moves->target);
    for (uint32_t i = 0; i < moves->count; i++) {
        moves->target[i] = path_moves_find_target(moves, i);
        moved += moves->target[i] != i;
    }
    struct tv_run_figures *taken = tv_alloc(moved, sizeof *taken);
    for (uint32_t run = 0; run < moves->table->run_count; run++)
        if (moves->table->runs[run].side != TV_RUN_NEW)
            path_moves_move_run(moves, run, taken);
    tv_free(taken);
    tv_free(moves->target);
}

/* Match the paths of renamed methods between both sides. */
static void run_callers_match_paths(struct tv_run_table *table)
{
    struct path_moves moves = {.table = table, .count = table->row_count};
    bool lone = false;
    for (uint32_t i = 0; i < table->row_count && !lone; i++)
        lone = table->rows[i].in_base != table->rows[i].in_new;
    if (!lone)
        return;
    moves.methods = (struct tv_run_table){
        .by = TV_ROWS_BY_METHOD, .names = table->names, .strings = table->strings};
    tv_map_init(&moves.methods.index);
    moves.method_of = tv_alloc(moves.count, sizeof *moves.method_of);
    path_moves_list_methods(&moves);
    if (run_callers_any_unclear(&moves.methods) && path_moves_pair(&moves)) {
        path_moves_apply(&moves);
        tv_run_table_note_sides(table);
    }
    tv_free(moves.partner);
    tv_free(moves.move);
    tv_free(moves.method_of);
    tv_map_release(&moves.methods.index);
    tv_free(moves.methods.neighbours);
    tv_free(moves.methods.rows);
}

/* ---- All forms ---- */

void tv_run_table_match_numbered(struct tv_run_table *table)
{
    size_t count;
    if (table->by == TV_ROWS_BY_PATH && table->names == TV_NAMES_SIMILAR)
        run_callers_match_paths(table);
    if (table->neighbour_count == 0)
        return;
    run_callers_sort(table);
    struct numbered_row *rows = run_callers_list(table, &count);
    for (size_t at = 0, end; at < count; at = end) {
        struct form_pairs pairs;
        end = run_callers_end(rows, at, count);
        if (run_callers_are_unclear(table, rows + at, end - at) &&
            form_pairs_init(&pairs, table, rows + at, end - at))
            run_callers_apply(table, &pairs);
    }
    tv_free(rows);
    tv_run_table_note_sides(table);
}
