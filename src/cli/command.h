/* SPDX-License-Identifier: Apache-2.0 */
/*
 * command.h - what a command is.
 *
 * A command is one file, cmd_NAME.c, with one const struct tv_command; commands.c lists them all.
 * Its options are a table (options.h).  run() returns the exit code.
 */
#ifndef TV_CLI_COMMAND_H
#define TV_CLI_COMMAND_H

#include "cli/options.h"

enum tv_exit {
    TV_EXIT_OK = 0,    /* also when something of the input was repaired: that is a diagnostic */
    TV_EXIT_INPUT = 1, /* an input could not be read, or the output not be written */
    TV_EXIT_USAGE = 2, /* wrong usage */
};

struct tv_command {
    const char *name;
    const char *summary;   /* one line */
    const char *arguments; /* "[OPTION]... FILE" */
    const char *details;   /* more for --help, or NULL */
    const struct tv_option *options;
    size_t min_files, max_files;
    bool reads_traces;      /* run behind a lock (confine.h); the viewer locks itself in */
    bool (*is_there)(void); /* whether this build has what it needs; NULL: all do */
    int (*run)(const struct tv_command *command, const struct tv_settings *settings);
};

#define TV_ANY_FILES SIZE_MAX

/* "traceview profile: --sort: expected ...", to standard error. Returns TV_EXIT_USAGE. */
int tv_command_usage(const struct tv_command *command, const struct tv_error *err);

/* "traceview: app.trace: byte 12: ...", to standard error. Returns the exit code that fits. */
int tv_command_failed(const struct tv_command *command, const struct tv_error *err);

/* The whole program but for its name: dispatches to a command. */
int tv_commands_main(int argc, char **argv);

/* The command's --help to standard output. The exit code. */
int tv_command_print_help(const struct tv_command *command);

/* The command of that name, or NULL. */
const struct tv_command *tv_commands_find(const char *name);

/* The place of the first argument that is neither an option nor an option's value, or argc: the
 * command's name, where it is one.  A line of -r or -- has none. */
int tv_commands_first_word(int argc, char **argv);

/* The command whose name is nearest to a mistyped one, or NULL: none is near. */
const struct tv_command *tv_commands_near(const char *word);

/* Every command in the order of --help; ends with NULL. */
extern const struct tv_command *const tv_commands[];

extern const struct tv_command tv_command_view;       /* `traceview FILE` */
extern const struct tv_command tv_command_regression; /* `traceview -r FILE` */
extern const struct tv_command tv_command_info;
extern const struct tv_command tv_command_profile;
extern const struct tv_command tv_command_tree;
extern const struct tv_command tv_command_states;
extern const struct tv_command tv_command_dump;
extern const struct tv_command tv_command_callgraph;
extern const struct tv_command tv_command_collapse;
extern const struct tv_command tv_command_flamegraph;
extern const struct tv_command tv_command_convert;
extern const struct tv_command tv_command_cut;
extern const struct tv_command tv_command_html;
extern const struct tv_command tv_command_diff;
extern const struct tv_command tv_command_check;
extern const struct tv_command tv_command_serve;
extern const struct tv_command tv_command_push;
extern const struct tv_command tv_command_record;
extern const struct tv_command tv_command_recover;
extern const struct tv_command tv_command_help;
extern const struct tv_command tv_command_version;

/* What a server runs to have a trace read (engine/messages.h): no command for people. */
int tv_command_engine(void);

/*
 * complete.h - what the tab key offers, for the shells' scripts in data.
 */

/* The argument before the words: an interface for those scripts, not for people. */
#define TV_COMPLETE_COMMAND "--complete"

/* Print what may stand in the place of the last of the words. The exit code. */
int tv_complete(int argc, char **argv);

#endif
