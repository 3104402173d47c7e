/* SPDX-License-Identifier: Apache-2.0 */
/*
 * command.h - a command of the program: its name, its options and the function that runs it.
 *
 * A file of commands/ defines one or more const struct tv_command; commands.c lists them all. The
 * options of a command are a table (options.h). run() returns the exit code.
 */
#ifndef TV_CLI_COMMAND_H
#define TV_CLI_COMMAND_H

#include "cli/options.h"

enum tv_exit {
    TV_EXIT_OK = 0,    /* also when the input was repaired: that is a diagnostic */
    TV_EXIT_INPUT = 1, /* an input could not be read, or the output could not be written */
    TV_EXIT_USAGE = 2, /* the command line is not valid, or a rule cannot be judged */
    TV_EXIT_FIRED = 3, /* a rule of --fail-if fired */
};

struct tv_command {
    const char *name;
    const char *summary;   /* one line */
    const char *arguments; /* "[OPTION]... FILE" */
    const char *details;   /* more text for --help, or NULL */
    const struct tv_option *options;
    size_t min_files, max_files;
    /* Return the action with a number, NULL after the last one: the first argument names one. NULL:
     * the command has no actions. */
    const char *(*action)(size_t index);
    bool reads_traces; /* run in the sandbox (confine.h); the viewer enters it by itself, also for
                          `diff --open` */
    /* Complete the settings before the files are counted and before the sandbox; or NULL. */
    enum tv_status (*prepare)(struct tv_settings *settings, struct tv_error *err);
    /* Print --help about the words that were given with it; NULL: the words do not matter. */
    int (*help)(const struct tv_command *command, const struct tv_settings *settings);
    bool (*is_there)(void); /* can this build run it? NULL: every build can */
    int (*run)(const struct tv_command *command, const struct tv_settings *settings);
};

#define TV_ANY_FILES SIZE_MAX

/* Print "traceview profile: --sort: expected ..." to standard error. Return TV_EXIT_USAGE. */
int tv_command_usage(const struct tv_command *command, const struct tv_error *err);

/* Print "traceview: app.trace: byte 12: ..." to standard error. Return the exit code for the error.
 */
int tv_command_failed(const struct tv_command *command, const struct tv_error *err);

/* End the process, because a statement in SQL does not heed its interruption: `stuck` of
 * tv_sql_options (sql.h). */
void tv_command_end_stuck_query(void *unused, const struct tv_error *why);

/* Run the command that the arguments name. Return the exit code of the program. */
int tv_commands_main(int argc, char **argv);

/* Print --help of the command to standard output. Return the exit code. */
int tv_command_print_help(const struct tv_command *command);

/* Return the command of that name, or NULL. */
const struct tv_command *tv_commands_find(const char *name);

/* Return the index of the first argument that is neither an option nor the value of an option: the
 * name of the command, if there is one. Return argc if there is none, or if the arguments contain
 * -r or --. */
int tv_commands_first_word(int argc, char **argv);

/* Return the command whose name is closest to a mistyped word; NULL when none is close. */
const struct tv_command *tv_commands_near(const char *word);

/* Return how many letters of a mistyped word differ from a name; UINT_MAX: too many. */
unsigned tv_words_distance(const char *word, const char *name);

/* All commands in the order of --help; NULL ends the list. */
extern const struct tv_command *const tv_commands[];

extern const struct tv_command tv_command_view;       /* `traceview FILE` */
extern const struct tv_command tv_command_regression; /* `traceview -r FILE` */
extern const struct tv_command tv_command_info;
extern const struct tv_command tv_command_profile;
extern const struct tv_command tv_command_tree;
extern const struct tv_command tv_command_states;
extern const struct tv_command tv_command_counters;
extern const struct tv_command tv_command_frames;
extern const struct tv_command tv_command_dump;
extern const struct tv_command tv_command_callgraph;
extern const struct tv_command tv_command_collapse;
extern const struct tv_command tv_command_flamegraph;
extern const struct tv_command tv_command_convert;
extern const struct tv_command tv_command_cut;
extern const struct tv_command tv_command_html;
extern const struct tv_command tv_command_diff;
extern const struct tv_command tv_command_sql;
extern const struct tv_command tv_command_export;
extern const struct tv_command tv_command_fleet;
extern const struct tv_command tv_command_check;
extern const struct tv_command tv_command_serve;
extern const struct tv_command tv_command_push;
extern const struct tv_command tv_command_record;
extern const struct tv_command tv_command_recover;
extern const struct tv_command tv_command_help;
extern const struct tv_command tv_command_version;

/* Serve the viewer with the trace of the first `begin_count` files (cmd_view.c), for commands that
 * open it too.  `place` is added to the page's address after "#"; NULL: nothing.  Enter the
 * sandbox; call it before there are threads.  Return the exit code. */
int tv_command_run_viewer(const struct tv_command *command, const struct tv_settings *settings,
                          size_t begin_count, const char *place);

/* Run the child of an upload server that reads one trace (engine/messages.h). This is not a command
 * for people. */
int tv_command_engine(void);

/* ---- Completion of command lines in shells ---- */

/* The first argument of the completion scripts in data/traceview.bash. It is not for people. */
#define TV_COMPLETE_COMMAND "--complete"

/* Print the completions of the last word, one per line. Return the exit code. */
int tv_complete(int argc, char **argv);

#endif
