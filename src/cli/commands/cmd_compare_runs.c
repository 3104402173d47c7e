/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cmd_compare_runs.c - reads the runs of both groups into the run tables (cmd_compare.h).
 *
 *     worker 0    measure run 0    add 0    measure run 2 ..............    add 2    ...
 *     worker 1    measure run 1 ........    add 1    measure run 3 ..............    add 3
 *
 * Several runs are measured at the same time, each by its share of --jobs: one file alone keeps
 * several processors busy for a part of the time only.  Each worker adds the run that it has
 * measured when it is the run's turn, while others measure.  Nobody can tell from the outcome:
 * tables grow in the order of the runs, an error is that of the first run that has one, and the
 * messages of a run are printed when it is added.
 *
 * Rules about threads need each run once more for each pattern of threads; that is done when the
 * run is added.
 */
#include <assert.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "analysis/subset/subset.h"
#include "base/bytes.h"
#include "base/file.h"
#include "base/memory.h"
#include "base/out.h"
#include "base/workers.h"
#include "cli/commands/cmd_compare.h"
#include "cli/commands/compare_rules.h"
#include "cli/input/measure.h"
#include "cli/output/message.h"
#include "writers/compare/described_run.h"

/* Maximum number of runs that are read at the same time, and of their bytes: each has a tree in
 * memory, and files that cannot be streamed are there whole, in several times their bytes. */
#define MAX_PARALLEL_RUNS ((size_t)4)
#define MAX_PARALLEL_BYTES ((uint64_t)1 << 29)

static bool compare_is_in_folder(const struct tv_settings *settings, const char *file)
{
    for (size_t i = 0; i < settings->compare.in_folders.count; i++)
        if (settings->compare.in_folders.items[i] == file)
            return true;
    return false;
}

struct tv_settings tv_compare_run_settings(const struct tv_settings *settings,
                                           const char *const *file, enum tv_run_side side)
{
    const struct tv_compare_settings *compare = &settings->compare;
    struct tv_settings own = *settings;
    const char *mapping = side == TV_RUN_NEW ? compare->new_mapping : compare->base_mapping;
    const char *range = side == TV_RUN_NEW ? compare->new_range : compare->base_range;
    own.files = (struct tv_words){(const char **)(uintptr_t)file, 1, 1};
    own.input.symbols = side == TV_RUN_NEW ? compare->new_symbols : compare->base_symbols;
    own.input.mapping = mapping ? mapping : settings->input.mapping;
    own.select.range = range                               ? range
                       : settings->select.ranges.count > 0 ? settings->select.ranges.items[0]
                                                           : NULL;
    return own;
}

static bool compare_is_by_tree(const struct tv_run_table *table)
{
    return table->by == TV_ROWS_BY_PATH || table->by == TV_ROWS_BY_THREAD;
}

/* Do the tables need more of a run than the figures of its methods? */
static bool compare_needs_trees(const struct tv_settings *settings,
                                const struct tv_compare_tables *tables)
{
    return compare_is_by_tree(&tables->rows) || tables->has_paths || tables->has_lengths ||
           settings->stacks.compensate;
}

/* ---- Adding a run ---- */

/* Add the lengths of a run's calls to its methods, on the clocks that it has. */
static enum tv_status compare_add_lengths(const struct tv_settings *settings,
                                          struct tv_run_table *table,
                                          const struct tv_measured *measured, struct tv_error *err)
{
    struct tv_statistics *by[2] = {NULL, NULL}; /* wall, CPU: of the same names */
    enum tv_status status = tv_measure_lengths(settings, measured, false, &by[0], err);
    if (status == TV_OK)
        status = tv_measure_lengths(settings, measured, true, &by[1], err);
    for (uint32_t i = 0; status == TV_OK && i < by[0]->count; i++) {
        const struct tv_frame_statistics *wall = &by[0]->frames[i], *cpu = &by[1]->frames[i];
        assert(by[1]->count == by[0]->count && cpu->frame == wall->frame);
        struct tv_run_lengths lengths = {
            .wall = {wall->median, wall->p90, wall->p95, wall->p99, wall->max},
            .cpu = {cpu->median, cpu->p90, cpu->p95, cpu->p99, cpu->max},
        };
        for (size_t k = 0; cpu->measured == 0 && k < TV_LENGTHS; k++)
            lengths.cpu[k] = -1;
        tv_run_table_add_lengths(table, measured->head, wall->frame, &lengths);
    }
    tv_statistics_free(by[0]);
    tv_statistics_free(by[1]);
    return status;
}

/* Add a run to the tables.  `profile` is NULL where the tree has all that is asked for. */
static void compare_add_measured(struct tv_compare_tables *tables, struct tv_run *run,
                                 const struct tv_measured *measured,
                                 const struct tv_profile *profile)
{
    if (profile) {
        run->total_wall = profile->total_wall;
        run->total_cpu = profile->total_cpu;
    } else {
        tv_call_tree_totals(measured->tree, &run->total_wall, &run->total_cpu);
    }
    if (compare_is_by_tree(&tables->rows))
        tv_run_table_add_tree(&tables->rows, run, measured->tree);
    else
        tv_run_table_add_profile(&tables->rows, run, profile);
    if (tables->has_paths && tables->rows.by != TV_ROWS_BY_PATH)
        tv_run_table_add_tree(&tables->paths, run, measured->tree);
}

/* Add a run that lacks the threads of the tables: it has the same figures as the whole run, all
 * zero. */
static void compare_add_nothing(struct tv_compare_tables *tables, const struct tv_run_table *whole)
{
    struct tv_run run = whole->runs[whole->run_count - 1];
    struct tv_bytes value = tv_run_text(whole, run.value), unit = tv_run_text(whole, run.unit);
    run.total_wall = run.total_cpu = 0;
    tv_run_table_begin_run(&tables->rows, &run, value, unit);
    if (tables->has_paths && tables->rows.by != TV_ROWS_BY_PATH)
        tv_run_table_begin_run(&tables->paths, &run, value, unit);
}

enum tv_status tv_compare_check_regular(const char *file, struct tv_error *err)
{
    struct stat info;
    if (strcmp(file, "-") != 0 && tv_file_stat(file, &info) == 0 && S_ISREG(info.st_mode))
        return TV_OK;
    return tv_fail(err, TV_ERR_USAGE, TV_NO_OFFSET, "not a regular file, so it was read once");
}

/* One run, from the command line to the tables. */
struct compare_reading {
    const char *const *file;
    enum tv_run_side side;
    uint32_t session; /* number of its folder among those of its side */
    struct tv_settings settings;
    uint64_t bytes; /* bytes of its file, as far as they count */

    /* Set by measuring it. */
    struct tv_measured measured;
    struct tv_profile *profile; /* NULL: the tree has all that is asked for */
    struct tv_out messages;
    enum tv_status status;
    struct tv_error err;
};

/* Measure what the tables need of a run. */
static enum tv_status compare_measure(struct compare_reading *run,
                                      const struct tv_compare_tables *tables,
                                      struct tv_tree_memory *memory, struct tv_error *err)
{
    const struct tv_run_table *table = &tables->rows;
    struct tv_measured *measured = &run->measured;
    bool by_tree = compare_needs_trees(&run->settings, tables);
    unsigned flags = (table->by == TV_ROWS_BY_THREAD ? TV_MEASURE_SPLIT_THREADS : 0) |
                     (tables->has_lengths ? TV_MEASURE_TRACE : 0);
    enum tv_status status = by_tree
                                ? tv_measure_next_tree(&run->settings, flags, memory, measured, err)
                                : tv_measure_profile(&run->settings, measured, &run->profile, err);
    /* Exact costs of functions, which only a trace can have, change the totals. */
    if (status == TV_OK && by_tree && (measured->trace || !compare_is_by_tree(table)))
        run->profile = tv_profile_of_tree(measured->tree);
    if (status == TV_OK && by_tree && measured->trace)
        tv_profile_use_function_costs(run->profile, measured->trace);
    return status;
}

/* Free what was measured of a run. */
static void compare_release_measured(struct compare_reading *run)
{
    tv_profile_free(run->profile);
    tv_measured_release(&run->measured);
    run->profile = NULL;
}

/* Add what was measured of a run to the tables. */
static enum tv_status compare_add_figures(const struct compare_reading *run,
                                          struct tv_compare_tables *tables, struct tv_error *err)
{
    const struct tv_measured *measured = &run->measured;
    struct tv_run described = tv_run_describe(*run->file, run->side, run->session, measured->head);
    described.compensated = run->settings.stacks.compensate;
    compare_add_measured(tables, &described, measured, run->profile);
    if (tables->has_lengths && !run->profile->figures.sampled)
        return compare_add_lengths(&run->settings, &tables->rows, measured, err);
    return TV_OK;
}

static bool compare_has_thread(const struct tv_trace_info *head, struct tv_bytes pattern)
{
    for (uint32_t thread = 0; thread < head->thread_count; thread++)
        if (tv_thread_matches(head, thread, pattern))
            return true;
    return false;
}

/* Read a run again for the calls of some threads. */
static enum tv_status compare_add_thread(const struct compare_reading *whole,
                                         struct tv_compare_tables *tables,
                                         struct tv_tree_memory *memory, struct tv_error *err)
{
    struct compare_reading own = {whole->file, whole->side, whole->session, whole->settings,
                                  .profile = NULL};
    char *word = tv_alloc(tables->thread.length + 1, 1);
    const char *words[] = {word};
    memcpy(word, tables->thread.data, tables->thread.length);
    own.settings.select.threads = (struct tv_words){words, 1, 1};
    own.settings.quiet = true; /* the first reading has told about it */
    enum tv_status status = tv_compare_check_regular(*own.file, err);
    if (status == TV_OK)
        status = compare_measure(&own, tables, memory, err);
    if (status == TV_OK)
        status = compare_add_figures(&own, tables, err);
    compare_release_measured(&own);
    tv_free(word);
    return status;
}

/* Add a run that was measured to the tables, and its threads to theirs.  `memory` is that of its
 * tree. */
static enum tv_status compare_add_run(struct compare_reading *run, struct tv_compare_tables *tables,
                                      struct tv_tree_memory *memory, struct tv_error *err)
{
    enum tv_status status = compare_add_figures(run, tables, err);
    bool *has = tv_alloc(tables->thread_count, sizeof *has);
    for (uint32_t i = 0; i < tables->thread_count; i++)
        has[i] = compare_has_thread(run->measured.head, tables->of_threads[i].thread);
    compare_release_measured(run);
    for (uint32_t i = 0; i < tables->thread_count && status == TV_OK; i++)
        if (has[i])
            status = compare_add_thread(run, &tables->of_threads[i], memory, err);
        else
            compare_add_nothing(&tables->of_threads[i], &tables->rows);
    tv_free(has);
    return status;
}

/* ---- Several runs at the same time ---- */

/* Return the length of a path's folder: the session of a run of the baseline. */
static size_t compare_folder_length(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? (size_t)(slash - path) : 0;
}

/* All runs, in the order in which they are added.  Workers take the next one, measure it, and wait
 * for its turn to add it; only runs that another worker has taken are waited for. */
struct compare_runs {
    struct tv_compare_tables *tables;
    struct compare_reading *runs; /* [count] */
    size_t count;
    struct tv_tree_memory *memory[MAX_PARALLEL_RUNS]; /* of the trees of each worker */

    pthread_mutex_t mutex; /* of the members below */
    pthread_cond_t changed;
    size_t taken, added;   /* runs before these are */
    uint64_t bytes;        /* bytes of runs that are taken and not yet added */
    uint32_t of_side;      /* traces among the runs of the side that is added */
    enum tv_status status; /* after an error no run is taken or added */
    struct tv_error err;
};

/* List the runs of a side. Neighbours in one folder are one session. */
static void compare_list_runs(struct compare_runs *list, const struct tv_settings *settings,
                              const struct tv_words *files, enum tv_run_side side)
{
    uint32_t session = 0;
    for (size_t i = 0; i < files->count; i++) {
        size_t folder = compare_folder_length(files->items[i]);
        if (i > 0 && (folder != compare_folder_length(files->items[i - 1]) ||
                      memcmp(files->items[i], files->items[i - 1], folder) != 0))
            session++;
        list->runs[list->count++] = (struct compare_reading){
            .file = &files->items[i],
            .side = side,
            .session = session,
            .settings = tv_compare_run_settings(settings, &files->items[i], side),
        };
    }
}

/* Return the size of a file; more than can be read beside another one for a pipe, of which nobody
 * knows it. */
static uint64_t compare_file_bytes(const char *file)
{
    struct stat info;
    if (strcmp(file, "-") == 0 || tv_file_stat(file, &info) != 0 || !S_ISREG(info.st_mode))
        return MAX_PARALLEL_BYTES + 1;
    return (uint64_t)info.st_size;
}

/* Return how many of the runs from `first` on may be read at the same time. */
static size_t compare_parallel_runs(const struct compare_runs *list, size_t first)
{
    const struct tv_settings *settings = &list->runs[first].settings;
    size_t limit = tv_settings_workers(settings), size = 0;
    uint64_t bytes = 0;
    limit = limit < MAX_PARALLEL_RUNS ? limit : MAX_PARALLEL_RUNS;
    if (settings->input.max_memory != TV_ANY_MEMORY)
        return 1;
    for (; size < limit && first + size < list->count; size++) {
        bytes += compare_file_bytes(*list->runs[first + size].file);
        if (bytes > MAX_PARALLEL_BYTES)
            break;
    }
    return size > 0 ? size : 1;
}

/* Take the next run when there is room for it; NULL: there is none, or an error. */
static struct compare_reading *compare_take_next(struct compare_runs *list)
{
    struct compare_reading *run = NULL;
    pthread_mutex_lock(&list->mutex);
    while (!run && list->status == TV_OK && list->taken < list->count) {
        uint64_t bytes = compare_file_bytes(*list->runs[list->taken].file);
        if (list->taken > list->added && list->bytes + bytes > MAX_PARALLEL_BYTES) {
            pthread_cond_wait(&list->changed, &list->mutex);
            continue;
        }
        run = &list->runs[list->taken++];
        run->bytes = bytes;
        list->bytes += bytes;
    }
    pthread_mutex_unlock(&list->mutex);
    return run;
}

/* Print what a run has to tell, and add it unless it could not be read.  A file that is no trace in
 * a folder is left out. */
static enum tv_status compare_add_taken(struct compare_runs *list, struct compare_reading *run,
                                        struct tv_tree_memory *memory)
{
    tv_message_print(&run->messages);
    if (run->status == TV_ERR_UNSUPPORTED && compare_is_in_folder(&run->settings, *run->file)) {
        if (!run->settings.quiet)
            tv_message("%s: no trace, left out", *run->file);
        return TV_OK;
    }
    if (run->status == TV_OK)
        run->status = compare_add_run(run, list->tables, memory, &run->err);
    if (run->status == TV_ERR_USAGE)
        tv_error_prefix(&run->err, "%s", *run->file);
    list->err = run->err;
    list->of_side += run->status == TV_OK;
    return run->status;
}

/* Check that a side has a trace after its last run. */
static enum tv_status compare_check_side(struct compare_runs *list,
                                         const struct compare_reading *run)
{
    bool last = run + 1 == list->runs + list->count || run[1].side != run->side;
    if (!last)
        return TV_OK;
    bool none = list->of_side == 0 && run->side != TV_RUN_HISTORY;
    list->of_side = 0;
    if (!none)
        return TV_OK;
    return tv_fail(&list->err, TV_ERR_USAGE, TV_NO_OFFSET,
                   "--%s: there is no trace among the files",
                   run->side == TV_RUN_BASE ? "base" : "new");
}

/* Add a run when it is its turn.  The lock is not held while the run is added: only the worker of
 * the run whose turn it is touches the tables, the status and the error. */
static void compare_add_in_turn(struct compare_runs *list, struct compare_reading *run,
                                struct tv_tree_memory *memory)
{
    size_t number = (size_t)(run - list->runs);
    pthread_mutex_lock(&list->mutex);
    while (list->added != number)
        pthread_cond_wait(&list->changed, &list->mutex);
    enum tv_status status = list->status;
    pthread_mutex_unlock(&list->mutex);
    bool ends = status != TV_OK;
    if (!ends)
        status = compare_add_taken(list, run, memory);
    if (!ends && status == TV_OK)
        status = compare_check_side(list, run);
    compare_release_measured(run);
    tv_out_release(&run->messages);
    pthread_mutex_lock(&list->mutex);
    list->status = status;
    list->added++;
    list->bytes -= run->bytes;
    pthread_cond_broadcast(&list->changed);
    pthread_mutex_unlock(&list->mutex);
}

/* Measure and add runs until there are no more. */
static void compare_work(void *context, unsigned worker)
{
    struct compare_runs *list = context;
    struct compare_reading *run;
    assert(worker < MAX_PARALLEL_RUNS);
    while ((run = compare_take_next(list)) != NULL) {
        size_t parallel = compare_parallel_runs(list, (size_t)(run - list->runs));
        if (!list->memory[worker])
            list->memory[worker] = tv_tree_memory_new();
        run->settings.input.jobs = tv_settings_workers(&run->settings) / parallel;
        tv_out_init_memory(&run->messages);
        tv_message_collect(&run->messages);
        run->status = compare_measure(run, list->tables, list->memory[worker], &run->err);
        tv_message_collect(NULL);
        compare_add_in_turn(list, run, list->memory[worker]);
    }
}

/* Read and add all runs. */
static enum tv_status compare_take_runs(struct compare_runs *list, struct tv_error *err)
{
    size_t workers = 1;
    for (size_t i = 0; i < list->count; i++) {
        size_t parallel = compare_parallel_runs(list, i);
        workers = parallel > workers ? parallel : workers;
    }
    pthread_mutex_init(&list->mutex, NULL);
    pthread_cond_init(&list->changed, NULL);
    tv_workers_run((unsigned)workers, compare_work, list);
    pthread_cond_destroy(&list->changed);
    pthread_mutex_destroy(&list->mutex);
    for (size_t worker = 0; worker < workers; worker++)
        tv_tree_memory_free(list->memory[worker]);
    *err = list->err;
    return list->status;
}

/* ---- All runs ---- */

/* Match the rows of the tables. */
static void compare_match(struct tv_compare_tables *tables, const struct tv_run_table *renames)
{
    struct tv_run_table *const both[] = {&tables->rows, &tables->paths};
    for (size_t i = 0; i < TV_COUNT(both); i++) {
        both[i]->renames = renames->renames;
        both[i]->rename_count = renames->rename_count;
        tv_run_table_match(both[i]);
    }
    for (uint32_t i = 0; i < tables->thread_count; i++)
        compare_match(&tables->of_threads[i], renames);
}

/* Learn from the call tree of a run. */
typedef void compare_learn(struct tv_run_table *table, enum tv_run_side side,
                           const struct tv_call_tree *tree);

/* Read the first run of a side again for the callers or callees of its methods; a file that cannot
 * be read twice tells none. */
static void compare_learn_side(const struct tv_settings *settings, enum tv_run_side side,
                               struct tv_compare_tables *tables, const bool *wanted,
                               compare_learn *learn)
{
    const struct tv_run_table *rows = &tables->rows;
    struct tv_measured measured;
    struct tv_error err = {0};
    uint32_t run = 0;
    while (run < rows->run_count && rows->runs[run].side != side)
        run++;
    if (run == rows->run_count)
        return;
    struct tv_settings own = tv_compare_run_settings(settings, &rows->runs[run].name, side);
    own.quiet = true; /* the first reading has told about it */
    if (tv_compare_check_regular(rows->runs[run].name, &err) != TV_OK ||
        tv_measure_tree(&own, 0, &measured, &err) != TV_OK)
        return;
    if (wanted[0])
        learn(&tables->rows, side, measured.tree);
    for (uint32_t i = 0; i < tables->thread_count; i++)
        if (wanted[i + 1])
            learn(&tables->of_threads[i].rows, side, measured.tree);
    tv_measured_release(&measured);
}

/* Learn the callers of methods with generated numbers where these differ between the sides. */
static void compare_learn_callers(const struct tv_settings *settings,
                                  struct tv_compare_tables *tables)
{
    bool *wanted = tv_alloc((size_t)tables->thread_count + 1, sizeof *wanted);
    bool any = wanted[0] = tv_run_table_wants_callers(&tables->rows);
    for (uint32_t i = 0; i < tables->thread_count; i++)
        any |= wanted[i + 1] = tv_run_table_wants_callers(&tables->of_threads[i].rows);
    for (unsigned side = TV_RUN_BASE; any && side <= TV_RUN_NEW; side++)
        compare_learn_side(settings, (enum tv_run_side)side, tables, wanted,
                           tv_run_table_learn_callers);
    tv_free(wanted);
}

/* Learn the callees of methods that one side lacks.  Rules about threads suggest no renames. */
static void compare_learn_callees(const struct tv_settings *settings,
                                  struct tv_compare_tables *tables)
{
    bool *wanted = tv_alloc((size_t)tables->thread_count + 1, sizeof *wanted);
    wanted[0] = tv_run_table_wants_callees(&tables->rows);
    for (unsigned side = TV_RUN_BASE; wanted[0] && side <= TV_RUN_NEW; side++)
        compare_learn_side(settings, (enum tv_run_side)side, tables, wanted,
                           tv_run_table_learn_callees);
    tv_free(wanted);
}

enum tv_status tv_compare_read_runs(const struct tv_settings *settings,
                                    struct tv_compare_tables *tables, struct tv_error *err)
{
    const struct tv_compare_settings *compare = &settings->compare;
    size_t count = compare->base.count + compare->new.count + compare->history.count;
    struct compare_runs list = {.tables = tables, .runs = tv_alloc(count, sizeof *list.runs)};
    char *text;
    enum tv_status status = tv_compare_read_renames(settings, &tables->rows, &text, err);
    compare_list_runs(&list, settings, &compare->base, TV_RUN_BASE);
    compare_list_runs(&list, settings, &compare->new, TV_RUN_NEW);
    compare_list_runs(&list, settings, &compare->history, TV_RUN_HISTORY);
    assert(list.count == count);
    if (status == TV_OK)
        status = compare_take_runs(&list, err);
    tv_free(list.runs);
    if (status == TV_OK) {
        compare_learn_callers(settings, tables);
        compare_match(tables, &tables->rows);
        compare_learn_callees(settings, tables);
    }
    tv_free(tables->rows.renames);
    tv_free(text);
    return status;
}
