/* SPDX-License-Identifier: Apache-2.0 */
/*
 * options.h - the options of a command as a table. Parsing and --help use the same table, and
 * tools/check-docs compares the man page with --help.
 *
 * Each option writes one member of struct tv_settings. An option of several commands is one macro
 * at the end of this file, so that it has the same name and description everywhere.
 */
#ifndef TV_CLI_OPTIONS_H
#define TV_CLI_OPTIONS_H

#include "base/error.h"
#include "base/types.h"

/* A list of words in the order of the command line. The words live as long as the arguments of the
 * program. */
struct tv_words {
    const char **items;
    size_t count, capacity;
};

enum tv_option_kind {
    TV_OPTION_FLAG,    /* bool */
    TV_OPTION_TEXT,    /* const char *; NULL when not given */
    TV_OPTION_LIST,    /* struct tv_words: the option may be repeated */
    TV_OPTION_GROUP,   /* struct tv_words: the files after it belong to this list, too */
    TV_OPTION_ORDERED, /* struct tv_words: the option's name, then the value; several options share
                          the list and keep their order */
    TV_OPTION_COUNT,   /* uint64_t: a decimal number */
    TV_OPTION_JOBS,    /* uint64_t: 0 to TV_JOBS_LIMIT */
    TV_OPTION_PERCENT, /* uint64_t: millionths of one percent */
    TV_OPTION_SIZE,    /* uint64_t: bytes, "50G" */
    TV_OPTION_SECONDS, /* uint64_t: "30d" */
    TV_OPTION_AGE,     /* uint64_t: seconds, "30d"; the unit cannot be left out */
    TV_OPTION_CHOICE,  /* unsigned: index of the word in `argument` */
    TV_OPTION_CHOICES, /* const char *: some of the words in `argument`, separated by commas */
};

struct tv_option {
    const char *name; /* without the dashes: one letter is -x, more are --xxx; NULL ends a table */
    /* As shown by --help; for a choice "text|json"; NULL for a flag. "[=SIZE]" may be omitted: the
     * member keeps its default then. */
    const char *argument;
    const char *help; /* one line */
    enum tv_option_kind kind;
    size_t place; /* offset of its member in struct tv_settings */
};

/* --clock: index of the word in "wall|cpu". */
enum tv_clock_choice {
    TV_CHOICE_WALL,
    TV_CHOICE_CPU,
    TV_CHOICE_ANY, /* not given */
};

/* --samples: index of the word in "count|weight|time", as in enum tv_sample_measure; or not given.
 */
#define TV_CHOICE_NO_SAMPLES 3u

/* --order: index of the word in "file|time"; or not given. */
#define TV_CHOICE_NO_ORDER 2u

/* Options of `traceview serve` (docs/man/traceview-serve.1.scd). */
struct tv_serve_settings {
    const char *config, *store, *sample, *fleet, *fleet_webhook;
    struct tv_words listen, hosts, proxies;
    const char *token, *token_file, *htpasswd, *certificate, *key;
    bool public_read, no_login, no_sample;
    uint64_t keep, max_store, max_upload, max_unpacked;
    uint64_t max_memory, max_cpu, engines, connections, client_connections, rate, grace;
    unsigned log, log_level; /* indices of the words */
};

/* Options of `traceview push`. */
struct tv_push_settings {
    const char *to, *token, *token_file, *user;
    struct tv_words labels;
};

/* --min-share that was not given: 0.05 %. */
#define TV_DEFAULT_MIN_SHARE UINT64_C(50000)

/* Options of `traceview diff` for groups of runs (docs/compare.md). */
struct tv_compare_settings {
    struct tv_words base, new, history; /* files; folders and patterns are expanded */
    const char *baseline_dir, *rules, *rename, *alpha;
    const char *base_mapping, *new_mapping, *base_range, *new_range;
    struct tv_words base_symbols, new_symbols; /* in front of those of --symbols */
    struct tv_words fail_if, reports;
    unsigned by, figure, names, scale, width; /* their places among the choices */
    uint64_t min_share, plan;
    bool no_total, allow_none, open, no_fold;
    struct tv_words in_folders; /* files of folders, which need not be traces */
};

/* Options of `traceview sql` (docs/sql.md). */
struct tv_sql_settings {
    const char *query, *file;
    const char *save, *saved; /* names of queries; NULL: none */
    bool each;
    bool allow_files;   /* queries may read and write files: no sandbox */
    uint64_t max_rows;  /* 0: all */
    uint64_t max_time;  /* seconds; 0: any */
    const char *tables; /* export: words separated by commas; NULL: all */
    const char *ending; /* export: of the files in the folder --output; NULL: no folder */
};

/* Options of `traceview fleet` (docs/fleet.md). */
struct tv_fleet_settings {
    const char *action; /* the first word; NULL: none */
    const char *to;     /* the folder */
    bool adds;          /* the output is files in it */
    const char *by, *where;
    const char *base, *fresh; /* labels of the two sides */
    uint64_t since;           /* seconds; 0: any */
    uint64_t keep;            /* seconds; 0: not given */
    const char *labels_from, *paths;
    uint32_t path_share; /* of `paths`, in millionths of the trace */
    struct tv_words labels, names;
    unsigned table, figure; /* their places among the choices */
};

/* Options of `traceview record` (docs/man/traceview-record.1.scd). */
struct tv_record_settings {
    const char *spool, *threads, *delay, *duration, *min_duration, *stop_after_slow, *android,
        *device;
    struct tv_words include, exclude, trigger, sides;
    unsigned host, clock, full, engine, stack, state, format; /* their places among the choices */
    uint64_t buffer, sample, depth, pid, snapshot, alloc, runs, seed;
    const char *lock;
    bool follow, boot, open, off_cpu;
};

/* Reading of the files (TV_OPTIONS_READING). */
struct tv_input_settings {
    const char *mapping;
    struct tv_words symbols, offsets;
    uint64_t jobs;
    uint64_t unpacked_bytes; /* limit for the contents of packed files; 0: depends on their size
                                (unpack.h) */
    uint64_t max_memory;     /* memory limit of the program, in bytes; TV_ANY_MEMORY: none */
    bool no_cache;
    bool recent;     /* not an option: the files are those of earlier commands */
    bool one_by_one; /* not an option: see input/inputs.h */
};

/* The part of the trace that the command is about (input/selection.h). */
struct tv_selection_settings {
    struct tv_words threads, processes, categories, cpus;
    const char *range;
    struct tv_words ranges; /* diff: one range for both files, or one for each */
    const char *filter;     /* docs/filter.md; NULL: none */
};

/* Redaction by `cut` and `html` (TV_OPTIONS_REDACTION). */
struct tv_redaction_settings {
    bool hash_names, strip_args;
    const char *salt; /* NULL: a random one */
};

/* Printing of tables. */
struct tv_table_settings {
    unsigned format, sort, unit; /* their places among the choices */
    uint64_t limit;              /* 0: no limit; TV_ANY_LIMIT: not given */
    const char *columns; /* columns of text tables, separated by commas; NULL: those that fit */
    bool wide, no_pager;
};

/* Stacks of a profile or a tree, and changes to them. */
struct tv_stack_settings {
    const char *value;          /* name of the value type of samples; NULL: the default */
    unsigned samples;           /* enum tv_sample_measure, or TV_CHOICE_NO_SAMPLES */
    bool lines;                 /* split functions by sampled lines */
    struct tv_words transforms; /* words and names (analysis/calltree/transforms.h) by turns */
    bool async, compensate, context_switch, callers_callees, bottom_up, inverted;
    uint64_t depth, min_percent;
};

/* Drawing of flame graphs. */
struct tv_flame_settings {
    unsigned colors; /* the place among the choices */
    const char *title, *countname, *min_width;
    bool hash;
};

/* The parsed command line. Members that the command does not offer keep their defaults. */
struct tv_settings {
    bool help, quiet;
    uint64_t given; /* bit i is set when option i of the table was given */
    struct tv_words files;
    const char *output;
    struct tv_input_settings input;
    struct tv_selection_settings select;
    struct tv_table_settings table;
    struct tv_stack_settings stacks;
    struct tv_flame_settings flame;
    struct tv_redaction_settings redact;
    unsigned clock; /* enum tv_clock_choice */
    unsigned order; /* dump: index in "file|time", or TV_CHOICE_NO_ORDER */
    unsigned to;    /* convert, cut: its place among the choices */
    const char *at; /* counters: a time; NULL: none */
    bool late;      /* frames: only late ones */
    bool split_threads;
    bool collapse_diff; /* `collapse`: two files */
    bool regression;    /* -r */
    bool strict, no_findings;
    struct tv_words fail_on;
    uint64_t threshold;
    uint64_t max_size; /* limit for a report, in bytes; TV_ANY_SIZE: none */
    bool no_browser;
    uint64_t port;
    struct tv_serve_settings serve;
    struct tv_push_settings push;
    struct tv_record_settings record;
    struct tv_compare_settings compare;
    struct tv_sql_settings sql;
    struct tv_fleet_settings fleet;
    struct tv_words owned;  /* texts that commands made, freed with the settings */
    struct tv_words *group; /* of the last TV_OPTION_GROUP, while options are parsed; or NULL */
};

/* Append a word, which must outlive the list. */
void tv_words_add(struct tv_words *words, const char *word);

#define TV_ANY_MEMORY UINT64_MAX
#define TV_ANY_SIZE UINT64_MAX
#define TV_ANY_LIMIT UINT64_MAX

/* Set the defaults, or free the lists. */
void tv_settings_init(struct tv_settings *settings);
void tv_settings_release(struct tv_settings *settings);

/* --jobs: number of threads; 0: one per processor. Every thread needs memory, so there is a limit.
 */
#define TV_JOBS_LIMIT 64u
static inline unsigned tv_settings_jobs(const struct tv_settings *settings)
{
    return settings->input.jobs < TV_JOBS_LIMIT ? (unsigned)settings->input.jobs : TV_JOBS_LIMIT;
}

/* Return the number of threads that a command divides among files: as tv_settings_jobs, or one per
 * processor. */
unsigned tv_settings_workers(const struct tv_settings *settings);

/* Parse the arguments into `settings`. Options may be anywhere; "--" ends them; "-" is a file.
 * TV_ERR_USAGE with a message in *err. */
enum tv_status tv_options_parse(const struct tv_option *table, int argc, char **argv,
                                struct tv_settings *settings, struct tv_error *err) TV_MUST_CHECK;

/* Set the option of this name, without dashes. `value` is NULL when none was given. */
enum tv_status tv_options_set(const struct tv_option *table, struct tv_bytes name,
                              const char *value, struct tv_settings *settings,
                              struct tv_error *err) TV_MUST_CHECK;

/* Return the option whose value is the argument after this one ("--jobs", "-o"), or NULL. */
const struct tv_option *tv_options_wanting_value(const struct tv_option *table, const char *word);

struct tv_out;

/* Print the options as --help shows them; those only which `shows` accepts, unless it is NULL. */
void tv_options_help(struct tv_out *out, const struct tv_option *table,
                     bool (*shows)(const void *context, const char *name), const void *context);

#define TV_OPTION(name_, argument_, kind_, member, help_)                                          \
    {                                                                                              \
        name_, argument_, help_, kind_, offsetof(struct tv_settings, member)                       \
    }
#define TV_OPTIONS_END                                                                             \
    {                                                                                              \
        NULL, NULL, NULL, TV_OPTION_FLAG, 0                                                        \
    }

/* Options of every command that reads a trace. */
#define TV_OPTIONS_READING                                                                         \
    TV_OPTION("mapping", "FILE", TV_OPTION_TEXT, input.mapping,                                    \
              "restore original names from an R8 or ProGuard mapping file"),                       \
        TV_OPTION("symbols", "ELF[@BASE]|FOLDER", TV_OPTION_LIST, input.symbols,                   \
                  "name stack addresses with the symbols of this program, library or folder "      \
                  "(repeatable)"),                                                                 \
        TV_OPTION("no-cache", NULL, TV_OPTION_FLAG, input.no_cache,                                \
                  "neither read nor write the index cache"),                                       \
        TV_OPTION("max-memory", "SIZE", TV_OPTION_SIZE, input.max_memory,                          \
                  "memory limit, at least 128M; larger data goes to a temporary file"),            \
        TV_OPTION("jobs", "N", TV_OPTION_JOBS, input.jobs,                                         \
                  "number of threads, at most 64 (default: one per processor)"),                   \
        TV_OPTION("q", NULL, TV_OPTION_FLAG, quiet,                                                \
                  "print only errors: no diagnostics, losses or progress"),                        \
        TV_OPTION("help", NULL, TV_OPTION_FLAG, help, "show this help")

#define TV_OPTION_OUTPUT                                                                           \
    TV_OPTION("output", "FILE", TV_OPTION_TEXT, output,                                            \
              "write to FILE instead of standard output"),                                         \
        TV_OPTION("o", "FILE", TV_OPTION_TEXT, output, "same as --output")
#define TV_OPTION_THREADS                                                                          \
    TV_OPTION("thread", "NAME|ID", TV_OPTION_LIST, select.threads,                                 \
              "only this thread; * matches any text (repeatable)")
#define TV_OPTION_FILTER                                                                           \
    TV_OPTION("filter", "TEXT", TV_OPTION_TEXT, select.filter,                                     \
              "only events that match every term: 'thread:main -name:init dur>2ms cat:gpu'")
#define TV_OPTION_FILTERS                                                                          \
    TV_OPTION("process", "NAME|ID", TV_OPTION_LIST, select.processes,                              \
              "only this process; * matches any text (repeatable)"),                               \
        TV_OPTION("category", "NAME", TV_OPTION_LIST, select.categories,                           \
                  "only slices of this category; * matches any text (repeatable)"),                \
        TV_OPTION_FILTER
#define TV_OPTION_RANGE                                                                            \
    TV_OPTION("range", "A:B", TV_OPTION_TEXT, select.range,                                        \
              "only the time from A to B: 1.5ms:2s, :300us, 2s: (default unit: ms)")
#define TV_OPTION_COMPENSATE                                                                       \
    TV_OPTION("compensate", NULL, TV_OPTION_FLAG, stacks.compensate,                               \
              "subtract the recording overhead of each call, as stated in the file")
#define TV_OPTIONS_TRANSFORMS                                                                      \
    TV_OPTION("focus", "NAME", TV_OPTION_ORDERED, stacks.transforms,                               \
              "only the outermost calls of this function and all below them (repeatable)"),        \
        TV_OPTION("callers", "NAME", TV_OPTION_ORDERED, stacks.transforms,                         \
                  "only the callers of this function, caller above caller (repeatable)"),          \
        TV_OPTION("merge", "NAME", TV_OPTION_ORDERED, stacks.transforms,                           \
                  "leave out this function; its time goes to its callers (repeatable)"),           \
        TV_OPTION("collapse-package", "NAME", TV_OPTION_ORDERED, stacks.transforms,                \
                  "make each run of calls in this package or library one call (repeatable)"),      \
        TV_OPTION("drop", "NAME", TV_OPTION_ORDERED, stacks.transforms,                            \
                  "leave out this function and all below it, with their time (repeatable)")
#define TV_OPTION_OFFSET                                                                           \
    TV_OPTION("offset", "FILE=TIME", TV_OPTION_LIST, input.offsets,                                \
              "shift the times of this file: b.trace=12ms, b.json=-1.5s (repeatable)")
#define TV_OPTION_ASYNC                                                                            \
    TV_OPTION("async", NULL, TV_OPTION_FLAG, stacks.async,                                         \
              "asynchronous slices instead of thread slices")
#define TV_OPTION_SAMPLES                                                                          \
    TV_OPTION("samples", "count|weight|time", TV_OPTION_CHOICE, stacks.samples,                    \
              "stacks of samples instead of slices: their number, weight, or time to the next")
#define TV_OPTION_VALUE                                                                            \
    TV_OPTION("value", "NAME", TV_OPTION_TEXT, stacks.value,                                       \
              "samples of this value type instead of slices (info lists the types)"),              \
        TV_OPTION("lines", NULL, TV_OPTION_FLAG, stacks.lines,                                     \
                  "split functions of samples by their sampled lines")
/* Options of every command that prints text tables. */
#define TV_OPTIONS_SCREEN                                                                          \
    TV_OPTION("wide", NULL, TV_OPTION_FLAG, table.wide,                                            \
              "on a terminal: show all columns and full names"),                                   \
        TV_OPTION("no-pager", NULL, TV_OPTION_FLAG, table.no_pager,                                \
                  "on a terminal: do not start a pager")
#define TV_OPTION_COLUMNS(columns_)                                                                \
    TV_OPTION("columns", columns_, TV_OPTION_CHOICES, table.columns,                               \
              "text columns to show, in this order, separated by commas")
#define TV_OPTION_CLOCK                                                                            \
    TV_OPTION("clock", "wall|cpu", TV_OPTION_CHOICE, clock, "clock to use (default: wall)")

/* ---- Options from a file ----
 *
 *     # options of the team's server
 *     store = /var/lib/traceview
 *     keep = 30d
 *     public-read */

/* Set the options in the file at `path`, except those that are given already: the command line
 * overrides the file. Each line is "name = value", or "name" for an option without a value; lines
 * that begin with '#' are comments. *text holds the file; the settings point into it, so the caller
 * frees it after them, also after an error. TV_ERR_USAGE names the line. */
enum tv_status tv_config_read(const struct tv_option *table, const char *path,
                              struct tv_settings *settings, char **text,
                              struct tv_error *err) TV_MUST_CHECK;

/* ---- Secrets ---- */

/* *secret becomes a copy to be freed, NULL when neither is given; of a file its first line. */
enum tv_status tv_secret_read(const char *text, const char *path, char **secret,
                              struct tv_error *err) TV_MUST_CHECK;

#endif
