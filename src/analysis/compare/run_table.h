/* SPDX-License-Identifier: Apache-2.0 */
/*
 * run_table.h - the figures of many runs, one row a method (or class, package, path, thread): what
 * groups of runs are compared by.
 *
 *     profile of a run --> add --> row of each name, figures of that run
 *                                    |
 *     match: rows that only one side has, and that are the same but for generated numbers, join
 *
 * A profile may be freed when it is added: the table copies the names and keeps 40 bytes for each
 * row and run.  A run's figures are one array: rows come in nearly the same order in every run, so
 * that both adding a run and comparing all runs go through memory in order.
 */
#ifndef TV_ANALYSIS_COMPARE_RUN_TABLE_H
#define TV_ANALYSIS_COMPARE_RUN_TABLE_H

#include "analysis/calltree/profile.h"
#include "analysis/compare/changes.h"
#include "base/map.h"

struct tv_run {
    const char *name; /* name of its file; not owned */
    enum tv_run_side side;
    uint32_t session;    /* of history runs */
    int64_t recorded_us; /* since 1970; 0: unknown */
    uint32_t round;      /* of `record --side`, from 1; 0: unknown, here and below */
    uint64_t recording;  /* hash of what all runs of one `record --side` share */
    uint64_t boot;       /* hash of the boot id of the system */
    int64_t total_wall, total_cpu;
    unsigned clocks;
    int64_t clock_cost; /* of one reading of the clock, in nanoseconds; 0: unknown, or no calls */
    bool compensated;   /* that cost was subtracted from its times */
    bool sampled;       /* the times are estimates, and calls are not counted */
    bool no_calls;      /* the file has no counts of calls */
    const char *format; /* of its first file; not owned; NULL: unknown */
    bool obfuscated;    /* the names are those of a shrinker: they differ from build to build */
    bool native;        /* the name of the program is the class or the category of its functions */

    /* Set by the table: are the figures weights of samples, and of what?  Strings of the table. */
    bool weighs;
    uint32_t value, unit;
    tv_ns interval; /* between its samples; 0: unknown */
};

/* Maximum number of calls of a row in a run, far above what a file can have. */
#define TV_MAX_RUN_CALLS (UINT64_MAX >> 1)

struct tv_run_figures {
    int64_t incl_wall, excl_wall, incl_cpu, excl_cpu; /* nanoseconds, or the unit of the samples */
    uint64_t calls : 63;                              /* all calls, or samples */
    uint64_t known : 1; /* the run has the row: all other members may still be 0 */
};

/* Percentiles of the lengths of a row's calls, with callees. */
enum tv_run_length {
    TV_LENGTH_P50,
    TV_LENGTH_P90,
    TV_LENGTH_P95,
    TV_LENGTH_P99,
    TV_LENGTH_MAX,
    TV_LENGTHS,
};

struct tv_run_lengths {
    int64_t wall[TV_LENGTHS], cpu[TV_LENGTHS]; /* nanoseconds; below 0: unknown */
    bool known;
};

/* Reason why the two names of a row count as one. */
enum tv_run_match {
    TV_MATCH_SAME,
    TV_MATCH_SIMILAR, /* same but for generated numbers */
    TV_MATCH_RENAMED, /* a line of --rename */
};

struct tv_run_row {
    uint32_t class_name, name, signature; /* strings of the table; for rows that are no methods the
                                             name alone */
    uint32_t parent;   /* by path: row of the caller + 1, a smaller one; 0: none */
    uint32_t old_name; /* of a matched row: the name on the base side without
                          callers; of a renamed one with them */
    enum tv_run_match match;
    bool settled;         /* it was compared with others by its callers: no name can pair it */
    bool of_category;     /* class_name is the category of a slice, which is no part of its name */
    uint32_t joined;      /* row that it was joined to + 1, which stands for it; 0: none */
    bool in_base, in_new; /* in at least one run of the side */
    bool in_all;          /* in every base and new run */
    uint32_t next; /* row that followed it in the latest tree + 1, where the next tree is expected
                      to go on; 0: none */
};

/* Figures of one run, by row.  Rows from `capacity` on are unknown. */
struct tv_run_column {
    struct tv_run_figures *figures; /* [capacity] */
    uint32_t capacity;
    struct tv_run_lengths *lengths; /* [length_capacity]; NULL: they were not added */
    uint32_t length_capacity;
};

enum tv_rows_by {
    TV_ROWS_BY_METHOD,
    TV_ROWS_BY_PATH,
    TV_ROWS_BY_CLASS,
    TV_ROWS_BY_PACKAGE,
    TV_ROWS_BY_THREAD,
};

enum tv_names_match {
    TV_NAMES_EXACT,
    TV_NAMES_SIMILAR,
    TV_NAMES_GROUPED, /* numbers in names do not count at all */
};

/* A caller or callee of a row with a generated number. */
struct tv_run_neighbour {
    uint32_t row, name; /* a string of the table */
    bool is_new;        /* of the new side */
};

/* A method that one side lacks calls another one that both have. */
struct tv_run_callee {
    uint32_t row, callee; /* rows of the matched table */
};

/* The source of a method. */
struct tv_run_source {
    uint32_t class_name, name, signature, file; /* strings of the table */
    uint32_t line;                              /* from 1 */
};

struct tv_run_table {
    enum tv_rows_by by;
    enum tv_names_match names;
    bool unfolded; /* by path: direct recursion has rows of its own */
    bool timed;    /* figures are numbers of samples times the interval of their run */
    struct tv_interner *strings;
    struct tv_run *runs;           /* [run_count] */
    struct tv_run_column *columns; /* [run_count] */
    uint32_t run_count;
    size_t run_capacity, column_capacity;
    struct tv_run_row *rows;
    uint32_t row_count;
    size_t row_capacity;
    uint32_t *row_of; /* [row_of_capacity] row of each node + 1 while a tree is added; 0: none */
    size_t row_of_capacity;
    struct tv_map index;      /* hash of a key -> row */
    struct tv_bytes *renames; /* pairs OLD, NEW; not owned */
    size_t rename_count;
    struct tv_run_neighbour *neighbours;
    size_t neighbour_count, neighbour_capacity;
    struct tv_run_callee *callees;
    size_t callee_count, callee_capacity;
    struct tv_run_source *sources; /* of methods whose traces know it; of new runs if these do */
    size_t source_count, source_capacity;
    struct tv_map source_index;        /* hash of the names -> source */
    uint32_t old_program, new_program; /* strings: classes that are one program; or both 0 */
};

void tv_run_table_init(struct tv_run_table *table, enum tv_rows_by by, enum tv_names_match names);
void tv_run_table_release(struct tv_run_table *table);

/* Add a run with its profile, for rows by method, class or package. */
void tv_run_table_add_profile(struct tv_run_table *table, const struct tv_run *run,
                              const struct tv_profile *profile);

/* A method of a run whose profile is not at hand. */
struct tv_run_method {
    struct tv_bytes class_name, category, name, signature;
    struct tv_run_figures figures;
    const struct tv_run_lengths *lengths; /* NULL: unknown */
};

/* Add a run, and then its methods one by one, for rows by method.  With run->weighs the figures are
 * weights of samples of that value type, in that unit. */
void tv_run_table_begin_run(struct tv_run_table *table, const struct tv_run *run,
                            struct tv_bytes value, struct tv_bytes unit);
/* See above. */
void tv_run_table_add_method(struct tv_run_table *table, const struct tv_run_method *method);

/* Rows by path one by one: return the row of a method that is called by the row `caller` - 1 (0: by
 * none), adding it if needed, and add figures to a row in a run that has begun. */
uint32_t tv_run_table_add_path(struct tv_run_table *table, uint32_t caller,
                               const struct tv_run_method *method);
/* See above. */
void tv_run_table_add_path_figures(struct tv_run_table *table, uint32_t row, uint32_t run,
                                   const struct tv_run_figures *figures);

/* Add a run with its call tree, for rows by path or, when the tree is split by thread, by thread.
 */
void tv_run_table_add_tree(struct tv_run_table *table, const struct tv_run *run,
                           const struct tv_call_tree *tree);

/* Add lengths of calls to the method of a frame in the last run, which was added by its profile.  A
 * method with several frames has no lengths: percentiles cannot be combined. */
void tv_run_table_add_lengths(struct tv_run_table *table, const struct tv_trace_info *info,
                              uint32_t frame, const struct tv_run_lengths *lengths);

/* After the last run of a table by method: tell whether several methods differ by generated numbers
 * alone, so that their callers and callees must tell which of both sides are one; and learn these
 * from the call tree of a run of each side, which was added.  Without that, equal names and the
 * order of numbers pair them.  A table by path has callers and callees itself. */
bool tv_run_table_wants_callers(struct tv_run_table *table);
void tv_run_table_learn_callers(struct tv_run_table *table, enum tv_run_side side,
                                const struct tv_call_tree *tree);

/* After that: join rows by the way names are matched, and set in_base, in_new, in_all.  Numbers of
 * samples that were taken at different intervals become times, if each run states its interval. */
void tv_run_table_match(struct tv_run_table *table);

/* After that, for suggestions of renames: tell whether each side has a method that the other lacks,
 * and learn the callees of these from the call tree of a run of each side. */
bool tv_run_table_wants_callees(const struct tv_run_table *table);
void tv_run_table_learn_callees(struct tv_run_table *table, enum tv_run_side side,
                                const struct tv_call_tree *tree);

/* Return the source of a row's method, or NULL if no trace knows it, or rows are no methods. */
const struct tv_run_source *tv_run_table_find_source(const struct tv_run_table *table,
                                                     const struct tv_run_row *row);

/* Append the normal form of a name, in which generated numbers are '#'. */
void tv_run_names_normal(struct tv_out *out, struct tv_bytes name, enum tv_names_match names);

/* Tell whether a matched table by method has so many rows that differ by numbers alone ("GET
 * /user/4711") that TV_NAMES_GROUPED should be tried. */
bool tv_run_table_suggests_groups(const struct tv_run_table *table);

/* Append the full name of a row: "class.name signature"; of a path all names, joined by ";". */
void tv_run_row_name(struct tv_out *out, const struct tv_run_table *table,
                     const struct tv_run_row *row);

/* Append that name without signatures. */
void tv_run_row_bare_name(struct tv_out *out, const struct tv_run_table *table,
                          const struct tv_run_row *row);

/* Append the full name of a matched row on the base side. */
void tv_run_row_base_name(struct tv_out *out, const struct tv_run_table *table,
                          const struct tv_run_row *row);

/* Append "class.name signature" of a row, without its callers. */
void tv_run_row_own_name(struct tv_out *out, const struct tv_run_table *table,
                         const struct tv_run_row *row);

/* Append "class.name" of a row, without its callers and its signature. */
void tv_run_row_short_name(struct tv_out *out, const struct tv_run_table *table,
                           const struct tv_run_row *row);

/* Compare two rows by their own names: below, equal to or above 0. */
int tv_run_row_compare(const struct tv_run_table *table, uint32_t a, uint32_t b);

static inline struct tv_bytes tv_run_text(const struct tv_run_table *table, uint32_t string)
{
    return tv_interner_get(table->strings, string);
}

/* Are the figures of a run numbers of samples? */
bool tv_run_counts_samples(const struct tv_run_table *table, const struct tv_run *run);

/* Return the figures of a row in a run; all 0 and unknown where the run lacks the row. */
static inline const struct tv_run_figures *
tv_run_table_figures(const struct tv_run_table *table, const struct tv_run_row *row, uint32_t run)
{
    static const struct tv_run_figures none;
    const struct tv_run_column *column = &table->columns[run];
    size_t number = (size_t)(row - table->rows);
    return number < column->capacity ? &column->figures[number] : &none;
}

/* Return the lengths of a row's calls in a run; unknown where they were not added. */
static inline const struct tv_run_lengths *
tv_run_table_lengths(const struct tv_run_table *table, const struct tv_run_row *row, uint32_t run)
{
    static const struct tv_run_lengths none;
    const struct tv_run_column *column = &table->columns[run];
    size_t number = (size_t)(row - table->rows);
    return number < column->length_capacity ? &column->lengths[number] : &none;
}

#endif
