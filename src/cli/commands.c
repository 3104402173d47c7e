/* SPDX-License-Identifier: Apache-2.0 */
/* commands.c - the table of commands, and the command that a command line means.
 *
 *     traceview [OPTION]... WORD ...     WORD is a command: run it; options may be before it
 *     traceview -r ... FILE              regression text
 *     traceview --version                version
 *     traceview [OPTION]... [FILE]...    the viewer, unless FILE is a mistyped command */
#include "cli/command.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/out.h"
#include "base/swap.h"
#include "cli/confine.h"
#include "cli/input/inputs.h"
#include "cli/output/message.h"
#include "cli/output/output.h"
#include "engine/messages.h"

const struct tv_command *const tv_commands[] = {
    &tv_command_info,
    &tv_command_profile,
    &tv_command_tree,
    &tv_command_states,
    &tv_command_counters,
    &tv_command_frames,
    &tv_command_dump,
    &tv_command_callgraph,
    &tv_command_collapse,
    &tv_command_flamegraph,
    &tv_command_convert,
    &tv_command_cut,
    &tv_command_html,
    &tv_command_diff,
    &tv_command_sql,
    &tv_command_export,
    &tv_command_fleet,
    &tv_command_check,
    &tv_command_serve,
    &tv_command_push,
    &tv_command_record,
    &tv_command_recover,
    &tv_command_help,
    &tv_command_version,
    NULL,
};

const struct tv_command *tv_commands_find(const char *name)
{
    for (const struct tv_command *const *command = tv_commands; *command; command++) {
        if (strcmp((*command)->name, name) == 0)
            return *command;
    }
    return NULL;
}

/* Is the command called by a word? The viewer and -r are not: messages call them "traceview". */
static bool command_has_word(const struct tv_command *command)
{
    return command != &tv_command_view && command != &tv_command_regression;
}

/* Write "traceview info", or "traceview" for what has no word. */
static void command_print_name(char *buffer, size_t size, const struct tv_command *command)
{
    snprintf(buffer, size, "traceview%s%s", command_has_word(command) ? " " : "",
             command_has_word(command) ? command->name : "");
}

int tv_command_usage(const struct tv_command *command, const struct tv_error *err)
{
    char name[64], text[512];
    command_print_name(name, sizeof name, command);
    tv_message("%s: %s; see '%s --help'", name, tv_error_text(err, text, sizeof text), name);
    return TV_EXIT_USAGE;
}

int tv_command_failed(const struct tv_command *command, const struct tv_error *err)
{
    if (err->status == TV_ERR_USAGE)
        return tv_command_usage(command, err);
    char text[512];
    tv_message("traceview: %s", tv_error_text(err, text, sizeof text));
    return TV_EXIT_INPUT;
}

void tv_command_end_stuck_query(void *unused, const struct tv_error *why)
{
    char text[512];
    (void)unused;
    tv_message("traceview: %s", tv_error_text(why, text, sizeof text));
    /* Without exit handlers: the thread of the statement goes on until the end. */
    _exit(TV_EXIT_USAGE);
}

/* Return whether this build can run the command. */
static bool command_is_available(const struct tv_command *command)
{
    return !command->is_there || command->is_there();
}

/* Write the help of the program: all commands, and the options of the viewer. */
static void command_print_overview(struct tv_out *out)
{
    tv_out_text(out, "usage: traceview [OPTION]... [FILE]...      open the viewer\n       "
                     "traceview -r [OPTION]... FILE        print everything as text\n       "
                     "traceview COMMAND [OPTION]... FILE   one of:\n\n");
    for (const struct tv_command *const *command = tv_commands; *command; command++)
        tv_out_format(out, "  %-12s%s%s\n", (*command)->name, (*command)->summary,
                      command_is_available(*command) ? "" : " (not in this build)");
    tv_out_text(out, "\noptions of the viewer:\n");
    tv_options_help(out, tv_command_view.options, NULL, NULL);
    tv_out_text(out,
                "\noptions without a command:\n  -r\n        print the regression text of "
                "Android's Traceview\n  --version\n        the version\n\nFILE is a trace, \"-\" "
                "for standard input, or a name x if x.trace exists, or x.key and\nx.data. Packed "
                "files (gzip, zstd, zip, tar) are unpacked automatically.\nFor more see 'traceview "
                "COMMAND --help' and the manual page traceview(1).\n");
}

/* Write the help of one command. */
static void command_print_details(struct tv_out *out, const struct tv_command *command)
{
    assert(command_has_word(command));
    tv_out_format(out, "usage: traceview %s %s\n\n%s\n", command->name, command->arguments,
                  command->summary);
    if (!command_is_available(command))
        tv_out_text(out,
                    "\nThis build cannot run the command: something that it needs is missing.\n");
    if (command->details)
        tv_out_format(out, "\n%s\n", command->details);
    if (command->options->name)
        tv_out_text(out, "\noptions:\n");
    tv_options_help(out, command->options, NULL, NULL);
}

int tv_command_print_help(const struct tv_command *command)
{
    struct tv_output output;
    struct tv_out held;
    struct tv_error err = {0};
    /* The help fits the terminal, but not the output or a pager of the command. */
    struct tv_settings settings = {.quiet = true, .table.no_pager = true};
    if (tv_output_open_text(&output, &settings, true, &err) != TV_OK)
        return tv_command_failed(command, &err);
    tv_layout_hold(&output.out, &held);
    if (command_has_word(command))
        command_print_details(&held, command);
    else
        command_print_overview(&held);
    tv_layout_release(&output.out, &held, 0);
    if (tv_output_close(&output, &err) != TV_OK)
        return tv_command_failed(command, &err);
    return TV_EXIT_OK;
}

/* Check how many files the command line has. */
static bool command_check_file_count(const struct tv_command *command, size_t count,
                                     struct tv_error *err)
{
    if (count < command->min_files)
        tv_fail(err, TV_ERR_USAGE, TV_NO_OFFSET, "expected %s",
                command->min_files > 1 ? "two files" : "a file");
    else if (count > command->max_files)
        tv_fail(err, TV_ERR_USAGE, TV_NO_OFFSET, "too many arguments");
    else
        return true;
    return false;
}

/* Refuse an output that is also an input, before anything is opened: writing would destroy the
 * input. per_thread checks the files of --split-threads, and the words of `record` are those of a
 * program. */
static enum tv_status command_check_output(const struct tv_command *command,
                                           const struct tv_settings *settings, struct tv_error *err)
{
    if (command == &tv_command_record || settings->split_threads)
        return TV_OK;
    return tv_output_check(settings->output, settings, err);
}

/* Run a command, in a sandbox if it reads traces. With --open the viewer makes its own. */
static int command_run_confined(const struct tv_command *command,
                                const struct tv_settings *settings)
{
    struct tv_confine_options confinement = {.settings = settings,
                                             .opens_files = settings->sql.allow_files};
    struct tv_error err = {0};
    int code;
    bool confines = command->reads_traces && !settings->compare.open;
    if (confines && tv_confine(&confinement, &err) != TV_OK)
        code = tv_command_failed(command, &err);
    else
        code = command->run(command, settings);
    tv_confine_end();
    return code;
}

/* Parse the options, then show help, refuse wrong usage, or run the command. */
static int command_run(const struct tv_command *command, int argc, char **argv)
{
    struct tv_settings settings;
    struct tv_error err = {0};
    tv_settings_init(&settings);
    int code;
    if (tv_options_parse(command->options, argc, argv, &settings, &err) != TV_OK)
        code = tv_command_usage(command, &err);
    else if (settings.help)
        code = command->help && settings.files.count > 0 ? command->help(command, &settings)
                                                         : tv_command_print_help(command);
    else if (command->prepare && command->prepare(&settings, &err) != TV_OK)
        code = err.status == TV_ERR_USAGE ? tv_command_usage(command, &err)
                                          : tv_command_failed(command, &err);
    else if (!command_check_file_count(command, settings.files.count, &err))
        code = tv_command_usage(command, &err);
    else if (command_check_output(command, &settings, &err) != TV_OK)
        code = tv_command_failed(command, &err);
    else
        code = command_run_confined(command, &settings);
    tv_settings_release(&settings);
    return code;
}

/* ---- Which command ---- */

/* Does an option of any command take the next argument as its value? */
static bool command_line_wants_next(const char *word)
{
    bool wants = tv_options_wanting_value(tv_command_view.options, word) != NULL;
    for (const struct tv_command *const *command = tv_commands; *command && !wants; command++)
        wants = tv_options_wanting_value((*command)->options, word) != NULL;
    return wants;
}

/* Is the letter r among the options of an argument, as in -r, -rq and -qr? */
static bool command_line_has_letter_r(const char *word)
{
    return word[0] == '-' && word[1 + strspn(word + 1, "q")] == 'r';
}

int tv_commands_first_word(int argc, char **argv)
{
    for (int i = 0; i < argc; i++) {
        if (argv[i][0] != '-' || argv[i][1] == '\0')
            return i;
        if (command_line_has_letter_r(argv[i]) || strcmp(argv[i], "--") == 0)
            break;
        i += command_line_wants_next(argv[i]);
    }
    return argc;
}

/* Longer words cannot be mistyped commands. */
#define LONGEST_NAME 24

static unsigned least_of_three(unsigned a, unsigned b, unsigned c)
{
    unsigned least = a < b ? a : b;
    return least < c ? least : c;
}

/* Return the number of letters to insert, drop, replace or swap to turn one word into the other
 * (optimal string alignment). Both words have at most LONGEST_NAME letters. */
static unsigned edit_distance(const char *a, const char *b)
{
    assert(strlen(a) <= LONGEST_NAME && strlen(b) <= LONGEST_NAME);
    unsigned rows[LONGEST_NAME + 1][LONGEST_NAME + 1];
    size_t height = strlen(a), width = strlen(b);
    for (size_t i = 0; i <= height; i++)
        for (size_t k = 0; k <= width; k++) {
            if (i == 0 || k == 0) {
                rows[i][k] = (unsigned)(i + k);
                continue;
            }
            bool same = a[i - 1] == b[k - 1];
            bool swapped = i > 1 && k > 1 && a[i - 1] == b[k - 2] && a[i - 2] == b[k - 1];
            rows[i][k] =
                least_of_three(rows[i - 1][k] + 1, rows[i][k - 1] + 1, rows[i - 1][k - 1] + !same);
            if (swapped && rows[i - 2][k - 2] + 1 < rows[i][k])
                rows[i][k] = rows[i - 2][k - 2] + 1;
        }
    return rows[height][width];
}

unsigned tv_words_distance(const char *word, const char *name)
{
    /* Short words need one change at most, longer ones two. */
    unsigned most = strlen(word) > 4 ? 2 : 1;
    if (strlen(word) > LONGEST_NAME || strlen(name) > LONGEST_NAME)
        return UINT_MAX;
    unsigned distance = edit_distance(word, name);
    return distance <= most ? distance : UINT_MAX;
}

/* Return the only command whose name begins with the word, which has at least three letters; NULL
 * when there is none, or several. */
static const struct tv_command *commands_find_abbreviated(const char *word)
{
    const struct tv_command *found = NULL;
    size_t length = strlen(word);
    for (const struct tv_command *const *command = tv_commands; *command; command++) {
        if (length < 3 || strncmp((*command)->name, word, length) != 0)
            continue;
        if (found)
            return NULL;
        found = *command;
    }
    return found;
}

const struct tv_command *tv_commands_near(const char *word)
{
    const struct tv_command *abbreviated = commands_find_abbreviated(word);
    if (abbreviated)
        return abbreviated;
    const struct tv_command *near = NULL;
    unsigned least = UINT_MAX;
    for (const struct tv_command *const *command = tv_commands; *command; command++) {
        unsigned distance = tv_words_distance(word, (*command)->name);
        if (distance < least) {
            least = distance;
            near = *command;
        }
    }
    return near;
}

/* Is the word not a file, but almost a command? Print a hint. */
static bool command_line_is_mistyped(const char *word)
{
    struct tv_inputs_files files;
    const struct tv_command *near = tv_commands_near(word);
    if (!near || tv_inputs_find_files(word, &files))
        return false;
    tv_message("traceview: '%s' is neither a command nor a file. Did you mean '%s'?", word,
               near->name);
    return true;
}

/* Is -r among the arguments before a "--", alone or with other letters? */
static bool command_line_wants_text(int argc, char **argv)
{
    for (int i = 0; i < argc && strcmp(argv[i], "--") != 0; i++) {
        if (command_line_has_letter_r(argv[i]))
            return true;
        i += command_line_wants_next(argv[i]);
    }
    return false;
}

/* Is the word among the arguments before a "--"? */
static bool command_line_has_word(int argc, char **argv, const char *word)
{
    for (int i = 0; i < argc && strcmp(argv[i], "--") != 0; i++) {
        if (strcmp(argv[i], word) == 0)
            return true;
    }
    return false;
}

/* Run the viewer, -r or --version. */
static int command_run_nameless(int argc, char **argv, int first)
{
    bool text = command_line_wants_text(argc, argv);
    if (command_line_has_word(argc, argv, "--version"))
        return tv_command_version.run(&tv_command_version, NULL);
    if (!text && first < argc && command_line_is_mistyped(argv[first]))
        return TV_EXIT_USAGE;
    return command_run(text ? &tv_command_regression : &tv_command_view, argc, argv);
}

static void command_ignore_signal(int number)
{
    (void)number;
}

/* Make RLIMIT_FSIZE an error of the write, with a message, by catching SIGXFSZ. SIG_IGN would be
 * inherited by the programs that we start, a handler is not. */
static void command_handle_file_limit(void)
{
    struct sigaction action = {.sa_handler = command_ignore_signal, .sa_flags = SA_RESTART};
    sigaction(SIGXFSZ, &action, NULL);
}

/* Open the standard descriptors that the caller closed (`<&-`, `>&-`, `2>&-`). Otherwise the next
 * open() gets their numbers, and messages would go into a database or to the broker. The directions
 * are the wrong ones for input and output, so that using them is an error and no output is lost
 * silently. */
static bool command_open_standard_descriptors(void)
{
    static const int modes[] = {
        [STDIN_FILENO] = O_WRONLY, [STDOUT_FILENO] = O_RDONLY, [STDERR_FILENO] = O_WRONLY};
    for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
        if (fcntl(fd, F_GETFD) < 0 && errno == EBADF && open("/dev/null", modes[fd]) != fd)
            return false;
    return true;
}

int tv_commands_main(int argc, char **argv)
{
    if (!command_open_standard_descriptors())
        return TV_EXIT_INPUT;
    command_handle_file_limit();
    if (argc == 2 && strcmp(argv[1], TV_ENGINE_COMMAND) == 0)
        return tv_command_engine();
    if (argc > 1 && strcmp(argv[1], TV_COMPLETE_COMMAND) == 0)
        return tv_complete(argc - 2, argv + 2);
    if (argc < 2)
        return command_run_nameless(0, argv, 0);
    int first = tv_commands_first_word(argc - 1, argv + 1) + 1;
    const struct tv_command *command = first < argc ? tv_commands_find(argv[first]) : NULL;
    if (!command || command_line_has_word(first - 1, argv + 1, "--version"))
        return command_run_nameless(argc - 1, argv + 1, first - 1);
    memmove(argv + 2, argv + 1,
            (size_t)(first - 1) * sizeof *argv); /* move the options after the command */
    return command_run(command, argc - 2, argv + 2);
}
