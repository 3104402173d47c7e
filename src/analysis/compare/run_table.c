/* SPDX-License-Identifier: Apache-2.0 */
/*
 * run_table.c - filling (run_table.h).
 *
 * A row is found by the hash of its key: the numbers of its class, name, signature and caller.
 * Names are interned first, so that keys are compared as four numbers.
 *
 *     strings   name --> number           one for all runs
 *     index     hash of a key --> row     rows are appended and never move
 *     columns   [run][row] --> figures    a row that a run lacks is zeros: `known` is false
 *
 * A column grows to the rows of its own run: the later runs of a table know more rows than the
 * earlier ones, whose columns may be shorter.
 */
#include "analysis/compare/run_internal.h"

#include <assert.h>
#include <string.h>

#include "base/bytes.h"
#include "base/memory.h"
#include "base/out.h"

void tv_run_table_init(struct tv_run_table *table, enum tv_rows_by by, enum tv_names_match names)
{
    *table = (struct tv_run_table){.by = by, .names = names};
    table->strings = tv_interner_new();
    tv_map_init(&table->index);
    tv_map_init(&table->source_index);
}

void tv_run_table_release(struct tv_run_table *table)
{
    for (uint32_t run = 0; run < table->run_count; run++) {
        struct tv_run_column *column = &table->columns[run];
        tv_pages_free(column->figures, column->capacity * sizeof *column->figures);
        tv_pages_free(column->lengths, column->length_capacity * sizeof *column->lengths);
    }
    tv_free(table->columns);
    tv_free(table->rows);
    tv_free(table->row_of);
    tv_free(table->runs);
    tv_free(table->neighbours);
    tv_free(table->callees);
    tv_free(table->sources);
    tv_map_release(&table->source_index);
    tv_map_release(&table->index);
    tv_interner_free(table->strings);
    *table = (struct tv_run_table){.rows = NULL};
}

bool tv_run_counts_samples(const struct tv_run_table *table, const struct tv_run *run)
{
    struct tv_bytes unit = tv_run_text(table, run->unit);
    return run->weighs &&
           (tv_bytes_equal(unit, TV_BYTES("samples")) || tv_bytes_equal(unit, TV_BYTES("count")));
}

/* ---- Names ---- */

void tv_run_row_short_name(struct tv_out *out, const struct tv_run_table *table,
                           const struct tv_run_row *row)
{
    if (row->class_name != TV_EMPTY_STRING && !row->of_category) {
        tv_out_bytes(out, tv_run_text(table, row->class_name));
        tv_out_char(out, '.');
    }
    tv_out_bytes(out, tv_run_text(table, row->name));
}

void tv_run_row_own_name(struct tv_out *out, const struct tv_run_table *table,
                         const struct tv_run_row *row)
{
    tv_run_row_short_name(out, table, row);
    if (row->signature != TV_EMPTY_STRING) {
        tv_out_char(out, ' ');
        tv_out_bytes(out, tv_run_text(table, row->signature));
    }
}

int tv_run_row_compare(const struct tv_run_table *table, uint32_t a, uint32_t b)
{
    const struct tv_run_row *x = &table->rows[a], *y = &table->rows[b];
    const uint32_t left[] = {x->of_category ? TV_EMPTY_STRING : x->class_name, x->name,
                             x->signature, x->class_name};
    const uint32_t right[] = {y->of_category ? TV_EMPTY_STRING : y->class_name, y->name,
                              y->signature, y->class_name};
    int order = 0;
    for (size_t i = 0; i < TV_COUNT(left) && order == 0; i++)
        if (left[i] != right[i])
            order = tv_bytes_compare(tv_run_text(table, left[i]), tv_run_text(table, right[i]));
    return order;
}

/* Paths of so many rows need no memory of their own. */
#define FEW_CALLERS ((size_t)64)

enum row_names {
    ROW_AS_IT_IS,
    ROW_OF_BASE,
    ROW_BARE, /* without signatures */
};

/* Write the names of a row's callers and its own. */
static void run_row_put_path(struct tv_out *out, const struct tv_run_table *table,
                             const struct tv_run_row *row, enum row_names names)
{
    bool of_base = names == ROW_OF_BASE;
    const struct tv_run_row *few[FEW_CALLERS], **path = few, **more = NULL, *at = row;
    size_t count = 0, capacity = 0;
    for (bool whole = false; !whole;) {
        if (count >= FEW_CALLERS) {
            more = tv_array_reserve(more, &capacity, count + 1, sizeof *more);
            if (path == few)
                memcpy(more, few, sizeof few);
            path = more;
        }
        path[count++] = at;
        whole = at->parent == 0 || (of_base && at->match == TV_MATCH_RENAMED);
        if (!whole)
            at = &table->rows[at->parent - 1];
    }
    while (count > 0) {
        at = path[--count];
        if (of_base && at->old_name != TV_EMPTY_STRING)
            tv_out_bytes(out, tv_run_text(table, at->old_name));
        else if (names == ROW_BARE)
            tv_run_row_short_name(out, table, at);
        else
            tv_run_row_own_name(out, table, at);
        if (count > 0)
            tv_out_char(out, ';');
    }
    tv_free(more);
}

void tv_run_row_name(struct tv_out *out, const struct tv_run_table *table,
                     const struct tv_run_row *row)
{
    run_row_put_path(out, table, row, ROW_AS_IT_IS);
}

void tv_run_row_bare_name(struct tv_out *out, const struct tv_run_table *table,
                          const struct tv_run_row *row)
{
    run_row_put_path(out, table, row, ROW_BARE);
}

void tv_run_row_base_name(struct tv_out *out, const struct tv_run_table *table,
                          const struct tv_run_row *row)
{
    run_row_put_path(out, table, row, ROW_OF_BASE);
}

/* ---- Filling ---- */

/* Rows that a column has room for at first. */
#define FIRST_ROWS ((size_t)64)

/* Tell whether two rows have one name, and one caller where rows are paths. */
static bool run_row_has_key(const struct tv_run_row *a, const struct tv_run_row *b)
{
    return a->class_name == b->class_name && a->name == b->name && a->signature == b->signature &&
           a->parent == b->parent;
}

/* Return the hash of a row's key.  Rows of equal hash take the next free numbers (the loops over
 * key++). */
static uint64_t run_row_hash(const struct tv_run_row *row)
{
    return tv_hash_u64((uint64_t)row->class_name << 32 | row->name) ^
           tv_hash_u64((uint64_t)row->parent << 32 | row->signature);
}

uint32_t tv_run_table_place_row(struct tv_run_table *table, const struct tv_run_row *wanted)
{
    uint64_t key = run_row_hash(wanted);
    for (;; key++) {
        uint32_t found = tv_map_add(&table->index, key, table->row_count);
        if (found == table->row_count)
            break;
        if (run_row_has_key(&table->rows[found], wanted))
            return found;
    }
    table->rows = tv_array_reserve(table->rows, &table->row_capacity, table->row_count + 1,
                                   sizeof *table->rows);
    table->rows[table->row_count] = *wanted;
    return table->row_count++;
}

/* Make room for so many rows in a column, with zeros, and for some that may follow. */
static void *run_column_reserve(void *array, uint32_t *capacity, uint32_t rows, size_t size)
{
    size_t had = *capacity, wanted = (size_t)rows + rows / 8;
    if (wanted < 2 * had)
        wanted = 2 * had;
    if (wanted < FIRST_ROWS)
        wanted = FIRST_ROWS;
    if (wanted > TV_NONE)
        wanted = TV_NONE;
    void *grown = tv_pages_alloc(tv_size_mul(wanted, size));
    if (had > 0)
        memcpy(grown, array, had * size);
    tv_pages_free(array, had * size);
    *capacity = (uint32_t)wanted;
    return grown;
}

struct tv_run_figures *tv_run_table_place_figures(struct tv_run_table *table, uint32_t row,
                                                  uint32_t run)
{
    struct tv_run_column *column = &table->columns[run];
    assert(row < table->row_count && run < table->run_count);
    if (TV_UNLIKELY(row >= column->capacity))
        column->figures = run_column_reserve(column->figures, &column->capacity, table->row_count,
                                             sizeof *column->figures);
    return &column->figures[row];
}

/* Make room in the last run for the rows that a tree is about to add: a column that grows while
 * they come is copied, and memory costs as much as everything else that is done with a row. */
static void run_table_expect_rows(struct tv_run_table *table, uint32_t rows)
{
    struct tv_run_column *column = &table->columns[table->run_count - 1];
    column->figures =
        run_column_reserve(column->figures, &column->capacity, rows, sizeof *column->figures);
}

/* Return the place of a row's figures in the last run. */
static struct tv_run_figures *run_table_last_figures(struct tv_run_table *table, uint32_t row)
{
    return tv_run_table_place_figures(table, row, table->run_count - 1);
}

void tv_run_figures_add(struct tv_run_figures *sum, const struct tv_run_figures *figures)
{
    tv_time_add(&sum->incl_wall, figures->incl_wall);
    tv_time_add(&sum->excl_wall, figures->excl_wall);
    tv_time_add(&sum->incl_cpu, figures->incl_cpu);
    tv_time_add(&sum->excl_cpu, figures->excl_cpu);
    sum->calls += figures->calls;
    sum->known = sum->known || figures->known;
}

/* Copy a name, as a string of the table, in the form in which it counts. */
static uint32_t run_table_string(struct tv_run_table *table, struct tv_bytes name)
{
    if (table->names != TV_NAMES_GROUPED)
        return tv_interner_add(table->strings, name);
    struct tv_out form;
    tv_out_init_memory(&form);
    tv_run_names_normal(&form, name, TV_NAMES_GROUPED);
    uint32_t string = tv_interner_add(table->strings, (struct tv_bytes){form.buffer, form.length});
    tv_out_release(&form);
    return string;
}

/* Return a class's package: everything before its last dot. */
static struct tv_bytes run_table_package(struct tv_bytes class_name)
{
    size_t length = class_name.length;
    while (length > 0 && class_name.data[length - 1] != '.')
        length--;
    return length > 0 ? (struct tv_bytes){class_name.data, length - 1} : TV_BYTES("(no package)");
}

/* Name the row of a method. */
static struct tv_run_row run_table_method_key(struct tv_run_table *table,
                                              const struct tv_run_method *method)
{
    struct tv_bytes class_name = method->class_name;
    struct tv_run_row key = {.match = TV_MATCH_SAME};
    if (class_name.length == 0) {
        class_name = method->category;
        key.of_category = table->by == TV_ROWS_BY_METHOD || table->by == TV_ROWS_BY_PATH;
    }
    switch (table->by) {
    case TV_ROWS_BY_CLASS:
        key.name =
            run_table_string(table, class_name.length > 0 ? class_name : TV_BYTES("(no class)"));
        break;
    case TV_ROWS_BY_PACKAGE:
        key.name = run_table_string(table, run_table_package(class_name));
        break;
    default:
        key.class_name = run_table_string(table, class_name);
        key.name = run_table_string(table, method->name);
        key.signature = run_table_string(table, method->signature);
    }
    return key;
}

/* Name the row of a frame. */
static struct tv_run_row run_table_key(struct tv_run_table *table, const struct tv_trace_info *info,
                                       const struct tv_frame *frame)
{
    struct tv_run_method method = {
        .class_name = tv_trace_info_text(info, frame->class_name),
        .category = tv_trace_info_text(info, frame->category),
        .name = tv_trace_info_text(info, frame->name),
        .signature = tv_trace_info_text(info, frame->signature),
    };
    return run_table_method_key(table, &method);
}

struct tv_run_row tv_run_table_frame_key(struct tv_run_table *table,
                                         const struct tv_trace_info *info, uint32_t frame)
{
    assert(frame < info->frame_count);
    return run_table_key(table, info, &info->frames[frame]);
}

/* Return the row of a frame; TV_NONE: there is none. */
static uint32_t run_table_find_frame(struct tv_run_table *table, const struct tv_trace_info *info,
                                     uint32_t frame)
{
    struct tv_run_row wanted = run_table_key(table, info, &info->frames[frame]);
    uint64_t key = run_row_hash(&wanted);
    for (;; key++) {
        uint32_t found = tv_map_find(&table->index, key);
        if (found == TV_NONE || run_row_has_key(&table->rows[found], &wanted))
            return found;
    }
}

/* ---- Sources ---- */

/* Return the hash of a method without its caller: a source belongs to a method, not to a path. */
static uint64_t run_source_hash(const struct tv_run_row *row)
{
    return run_row_hash(&(struct tv_run_row){
        .class_name = row->class_name, .name = row->name, .signature = row->signature});
}

/* Tell whether a source is that of a row's method. */
static bool run_source_is_of(const struct tv_run_source *source, const struct tv_run_row *row)
{
    return source->class_name == row->class_name && source->name == row->name &&
           source->signature == row->signature;
}

/* Note the source of a method in the last run; without a line it may be the program, whose
 * addresses nobody could resolve.  That of new runs is what people have before them,
 * so it replaces that of the base. */
static void run_table_note_source(struct tv_run_table *table, const struct tv_run_row *key,
                                  const struct tv_trace_info *info, const struct tv_frame *frame)
{
    int32_t line = frame->with_line ? frame->function_line : frame->line;
    uint64_t hash = run_source_hash(key);
    uint32_t found;
    struct tv_bytes file = tv_trace_info_text(info, frame->file);
    if (line <= 0 || file.length == 0 ||
        (table->by != TV_ROWS_BY_METHOD && table->by != TV_ROWS_BY_PATH))
        return;
    for (;; hash++) {
        found = tv_map_add(&table->source_index, hash, (uint32_t)table->source_count);
        if (found == table->source_count || run_source_is_of(&table->sources[found], key))
            break;
    }
    if (found < table->source_count && table->runs[table->run_count - 1].side != TV_RUN_NEW)
        return;
    if (file.length > 2 && tv_bytes_starts_with(file, TV_BYTES("./")))
        file = (struct tv_bytes){file.data + 2, file.length - 2};
    table->sources = tv_array_reserve(table->sources, &table->source_capacity,
                                      table->source_count + 1, sizeof *table->sources);
    table->source_count += found == table->source_count;
    table->sources[found] = (struct tv_run_source){
        .class_name = key->class_name,
        .name = key->name,
        .signature = key->signature,
        .file = tv_interner_add(table->strings, file),
        .line = (uint32_t)line,
    };
}

const struct tv_run_source *tv_run_table_find_source(const struct tv_run_table *table,
                                                     const struct tv_run_row *row)
{
    if (table->source_count == 0)
        return NULL;
    for (uint64_t hash = run_source_hash(row);; hash++) {
        uint32_t found = tv_map_find(&table->source_index, hash);
        if (found == TV_NONE || run_source_is_of(&table->sources[found], row))
            return found == TV_NONE ? NULL : &table->sources[found];
    }
}

uint32_t *tv_run_table_find_frames(struct tv_run_table *table, const struct tv_trace_info *info)
{
    uint32_t *row_of = tv_alloc(info->frame_count, sizeof *row_of);
    for (uint32_t frame = 0; frame < info->frame_count; frame++)
        row_of[frame] = run_table_find_frame(table, info, frame);
    return row_of;
}

void tv_run_table_begin_run(struct tv_run_table *table, const struct tv_run *run,
                            struct tv_bytes value, struct tv_bytes unit)
{
    table->runs = tv_array_reserve(table->runs, &table->run_capacity, table->run_count + 1,
                                   sizeof *table->runs);
    table->columns = tv_array_reserve(table->columns, &table->column_capacity, table->run_count + 1,
                                      sizeof *table->columns);
    table->columns[table->run_count] = (struct tv_run_column){.figures = NULL};
    struct tv_run *added = &table->runs[table->run_count++];
    *added = *run;
    if (!run->weighs)
        return;
    added->value = tv_interner_add(table->strings, value);
    added->unit = tv_interner_add(table->strings, unit);
}

/* Begin a run whose profile or tree has these figures. */
static void run_table_begin_run(struct tv_run_table *table, const struct tv_run *run,
                                const struct tv_trace_info *info,
                                const struct tv_sample_figures *figures)
{
    struct tv_run own = *run;
    struct tv_bytes none = {NULL, 0};
    own.weighs = figures->sampled;
    own.interval = figures->interval;
    tv_run_table_begin_run(table, &own, own.weighs ? tv_trace_info_text(info, figures->name) : none,
                           own.weighs ? tv_sample_figures_unit(info, figures) : none);
}

void tv_run_table_add_profile(struct tv_run_table *table, const struct tv_run *run,
                              const struct tv_profile *profile)
{
    assert(table->by <= TV_ROWS_BY_PACKAGE && table->by != TV_ROWS_BY_PATH);
    run_table_begin_run(table, run, profile->head, &profile->figures);
    for (uint32_t i = 0; i < profile->count; i++) {
        const struct tv_method_cost *method = &profile->methods[i];
        const struct tv_frame *frame = &profile->head->frames[method->frame];
        struct tv_run_row key = run_table_key(table, profile->head, frame);
        run_table_note_source(table, &key, profile->head, frame);
        /* A sample is one also where a method is several times in its stack. */
        uint64_t inner = profile->figures.sampled ? 0 : method->recursive_calls;
        struct tv_run_figures figures = {method->incl_wall,
                                         method->excl_wall,
                                         method->incl_cpu,
                                         method->excl_cpu,
                                         (method->calls + inner) & TV_MAX_RUN_CALLS,
                                         true};
        tv_run_figures_add(run_table_last_figures(table, tv_run_table_place_row(table, &key)),
                           &figures);
    }
}

struct tv_run_lengths *tv_run_table_place_lengths(struct tv_run_table *table, uint32_t row,
                                                  uint32_t run)
{
    struct tv_run_column *column = &table->columns[run];
    assert(row < table->row_count && run < table->run_count);
    if (row >= column->length_capacity)
        column->lengths = run_column_reserve(column->lengths, &column->length_capacity,
                                             table->row_count, sizeof *column->lengths);
    return &column->lengths[row];
}

/* Set the lengths of a row's calls in the last run; a second time makes them unknown. */
static void run_table_set_lengths(struct tv_run_table *table, uint32_t row,
                                  const struct tv_run_lengths *lengths)
{
    struct tv_run_lengths *to = tv_run_table_place_lengths(table, row, table->run_count - 1);
    bool again = to->known;
    *to = *lengths;
    to->known = true;
    for (size_t i = 0; again && i < TV_LENGTHS; i++)
        to->wall[i] = to->cpu[i] = -1;
}

void tv_run_table_add_lengths(struct tv_run_table *table, const struct tv_trace_info *info,
                              uint32_t frame, const struct tv_run_lengths *lengths)
{
    assert(table->by == TV_ROWS_BY_METHOD && table->run_count > 0);
    struct tv_run_row key = run_table_key(table, info, &info->frames[frame]);
    run_table_set_lengths(table, tv_run_table_place_row(table, &key), lengths);
}

void tv_run_table_add_method(struct tv_run_table *table, const struct tv_run_method *method)
{
    assert(table->by == TV_ROWS_BY_METHOD && table->run_count > 0);
    struct tv_run_row key = run_table_method_key(table, method);
    uint32_t row = tv_run_table_place_row(table, &key);
    tv_run_figures_add(run_table_last_figures(table, row), &method->figures);
    if (method->lengths)
        run_table_set_lengths(table, row, method->lengths);
}

uint32_t tv_run_table_add_path(struct tv_run_table *table, uint32_t caller,
                               const struct tv_run_method *method)
{
    assert(table->by == TV_ROWS_BY_PATH && caller <= table->row_count);
    struct tv_run_row key = run_table_method_key(table, method);
    key.parent = caller;
    return tv_run_table_place_row(table, &key);
}

void tv_run_table_add_path_figures(struct tv_run_table *table, uint32_t row, uint32_t run,
                                   const struct tv_run_figures *figures)
{
    assert(table->by == TV_ROWS_BY_PATH && row < table->row_count && run < table->run_count);
    tv_run_figures_add(tv_run_table_place_figures(table, row, run), figures);
}

/* ---- Rows of a call tree ---- */

/* Names of a frame, as strings of the table. */
struct frame_names {
    uint32_t class_name, name, signature;
    bool of_category;
    bool known;
};

/* State while a tree is added. */
struct tree_rows {
    struct tv_run_table *table;
    const struct tv_call_tree *tree;
    struct frame_names *names; /* [frame] */
    uint32_t last;             /* row of the last node + 1; 0: none */
};

/* Begin to add a tree.  The names of its frames are looked up when they are met. */
static void tree_rows_init(struct tree_rows *rows, struct tv_run_table *table,
                           const struct tv_call_tree *tree)
{
    *rows = (struct tree_rows){.table = table, .tree = tree};
    rows->names = tv_alloc(tree->head->frame_count, sizeof *rows->names);
}

/* Name the row of a frame.  A method has many paths, but its names are looked up once a tree. */
static struct tv_run_row tree_rows_frame_key(struct tree_rows *rows, uint32_t frame)
{
    const struct tv_trace_info *info = rows->tree->head;
    assert(frame < info->frame_count);
    struct frame_names *names = &rows->names[frame];
    if (!names->known) {
        struct tv_run_row key = run_table_key(rows->table, info, &info->frames[frame]);
        run_table_note_source(rows->table, &key, info, &info->frames[frame]);
        *names =
            (struct frame_names){key.class_name, key.name, key.signature, key.of_category, true};
    }
    return (struct tv_run_row){.class_name = names->class_name,
                               .name = names->name,
                               .signature = names->signature,
                               .of_category = names->of_category,
                               .match = TV_MATCH_SAME};
}

/* Name the row of a node: its frame under its caller's row, or its thread. */
static struct tv_run_row tree_rows_node_key(struct tree_rows *rows, uint32_t node, uint32_t parent)
{
    const struct tv_trace_info *info = rows->tree->head;
    uint32_t frame = rows->tree->frame[node];
    struct tv_run_row key = {.match = TV_MATCH_SAME};
    if (frame < TV_THREAD_FRAME) {
        key = tree_rows_frame_key(rows, frame);
        key.parent = parent;
        return key;
    }
    struct tv_out name;
    tv_out_init_memory(&name);
    struct tv_bytes thread = tv_trace_info_text(info, info->threads[frame - TV_THREAD_FRAME].name);
    tv_run_names_normal(&name, thread.length > 0 ? thread : TV_BYTES("(unnamed)"),
                        TV_NAMES_GROUPED);
    key.name = tv_interner_add(rows->table->strings, (struct tv_bytes){name.buffer, name.length});
    tv_out_release(&name);
    return key;
}

/* Return the row of a node.  Trees of one program have nearly the same nodes in the same order, so
 * the row that followed the last one in an earlier tree is tried before the index: rows then come
 * in the order of memory. */
static uint32_t tree_rows_find(struct tree_rows *rows, uint32_t node, uint32_t parent)
{
    struct tv_run_table *table = rows->table;
    struct tv_run_row key = tree_rows_node_key(rows, node, parent);
    uint32_t guess = rows->last > 0 ? table->rows[rows->last - 1].next : 0;
    if (guess == 0 || !run_row_has_key(&table->rows[guess - 1], &key))
        guess = tv_run_table_place_row(table, &key) + 1;
    if (rows->last > 0)
        table->rows[rows->last - 1].next = guess;
    rows->last = guess;
    return guess - 1;
}

/* Add the threads of a split tree: the time of all their calls. */
static void run_table_add_threads(struct tv_run_table *table, const struct tv_call_tree *tree)
{
    uint32_t *row_of = tv_alloc(tree->count, sizeof *row_of);
    struct tree_rows rows;
    tree_rows_init(&rows, table, tree);
    for (uint32_t node = 1; node < tree->count; node++) {
        if (tree->parent[node] == TV_ROOT_PATH) {
            row_of[node] = tree_rows_find(&rows, node, 0);
        } else {
            row_of[node] = row_of[tree->parent[node]];
        }
        struct tv_run_figures figures = {tree->self_wall[node],
                                         tree->self_wall[node],
                                         tree->self_cpu[node],
                                         tree->self_cpu[node],
                                         tree->cost[node].calls & TV_MAX_RUN_CALLS,
                                         true};
        tv_run_figures_add(run_table_last_figures(table, row_of[node]), &figures);
    }
    tv_free(rows.names);
    tv_free(row_of);
}

/* Add the paths of a tree; direct recursion is folded unless the table is unfolded. */
static void run_table_add_paths(struct tv_run_table *table, const struct tv_call_tree *tree)
{
    struct tree_rows rows;
    uint32_t *row_of = table->row_of = tv_array_reserve(table->row_of, &table->row_of_capacity,
                                                        tree->count, sizeof *table->row_of);
    tree_rows_init(&rows, table, tree);
    for (uint32_t node = 1; node < tree->count; node++) {
        uint32_t parent = tree->parent[node];
        row_of[node] = 0;
        if (tree->cost[node].calls == 0)
            continue;
        uint32_t row = parent == TV_ROOT_PATH ? 0 : row_of[parent];
        struct tv_run_figures figures = {tree->cost[node].wall,
                                         tree->self_wall[node],
                                         tree->cost[node].cpu,
                                         tree->self_cpu[node],
                                         tree->cost[node].calls & TV_MAX_RUN_CALLS,
                                         true};
        if (row > 0 && !table->unfolded && tree->frame[parent] == tree->frame[node]) {
            /* direct recursion: its time is in the caller's already, and so are its samples */
            figures.incl_wall = figures.incl_cpu = 0;
            if (tree->figures.sampled)
                figures.calls = 0;
            row_of[node] = row;
        } else {
            row_of[node] = tree_rows_find(&rows, node, row) + 1;
        }
        tv_run_figures_add(run_table_last_figures(table, row_of[node] - 1), &figures);
    }
    tv_free(rows.names);
}

void tv_run_table_add_tree(struct tv_run_table *table, const struct tv_run *run,
                           const struct tv_call_tree *tree)
{
    assert(table->by == TV_ROWS_BY_PATH || table->by == TV_ROWS_BY_THREAD);
    run_table_begin_run(table, run, tree->head, &tree->figures);
    if (table->by == TV_ROWS_BY_PATH && tree->count > table->row_count)
        run_table_expect_rows(table, tree->count);
    if (table->by == TV_ROWS_BY_PATH)
        run_table_add_paths(table, tree);
    else
        run_table_add_threads(table, tree);
}
