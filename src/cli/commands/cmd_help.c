/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_help.c - `help`, `version` and the completion of command lines in shells. */
#include <string.h>

#include "analysis/findings/findings.h"
#include "base/bytes.h"
#include "cli/command.h"
#include "cli/output/output.h"
#include "engine/sandbox.h"

static const struct tv_option help_options[] = {
    TV_OPTION("help", NULL, TV_OPTION_FLAG, help, "show this help"),
    TV_OPTIONS_END,
};

/* Print the help of a command.  A name that is nearly one is suggested. */
static int cmd_help_run(const struct tv_command *command, const struct tv_settings *settings)
{
    if (settings->files.count == 0)
        return tv_command_print_help(&tv_command_view);
    const struct tv_command *asked = tv_commands_find(settings->files.items[0]);
    if (asked)
        return tv_command_print_help(asked);
    struct tv_error err = {0};
    const struct tv_command *near = tv_commands_near(settings->files.items[0]);
    tv_fail(&err, TV_ERR_USAGE, TV_NO_OFFSET, "there is no command '%s'%s%s%s",
            settings->files.items[0], near ? " (did you mean '" : "", near ? near->name : "",
            near ? "'?)" : "");
    return tv_command_usage(command, &err);
}

const struct tv_command tv_command_help = {
    .name = "help",
    .summary = "list the commands, or the options of one",
    .arguments = "[COMMAND]",
    .options = help_options,
    .min_files = 0,
    .max_files = 1,
    .run = cmd_help_run,
};

/* ---- version ---- */

static const struct tv_option version_options[] = {
    TV_OPTION("help", NULL, TV_OPTION_FLAG, help, "show this help"),
    TV_OPTIONS_END,
};

/* Name the parts of the sandbox that commands run in (confine.h). */
static void cmd_version_write_sandbox(struct tv_out *out, unsigned parts)
{
    tv_out_text(out, "sandbox: ");
    if (parts == 0)
        tv_out_text(out, "none");
    if (parts & TV_SANDBOX_LANDLOCK)
        tv_out_text(out, "landlock");
    if (parts & TV_SANDBOX_SECCOMP)
        tv_out_text(out, parts & TV_SANDBOX_LANDLOCK ? ", seccomp" : "seccomp");
    tv_out_char(out, '\n');
}

static int cmd_version_run(const struct tv_command *command, const struct tv_settings *settings)
{
    struct tv_output output;
    struct tv_error err = {0};
    (void)settings;
    if (tv_output_open(&output, NULL, true, &err) != TV_OK)
        return tv_command_failed(command, &err);
    tv_out_text(&output.out, "traceview " TV_VERSION "\n");
    cmd_version_write_sandbox(&output.out, tv_sandbox_available());
    if (tv_output_close(&output, &err) != TV_OK)
        return tv_command_failed(command, &err);
    return TV_EXIT_OK;
}

const struct tv_command tv_command_version = {
    .name = "version",
    .summary = "print the version",
    .arguments = "",
    .options = version_options,
    .min_files = 0,
    .max_files = 0,
    .run = cmd_version_run,
};

/* ---- Completion ----
 *
 * The scripts of the shells (data/traceview.bash) call
 *
 *     traceview --complete WORD...       the words after "traceview"; the last one is unfinished
 *
 * Each line of the answer is a word, a tab and its meaning; a line ":files" means that file names
 * fit, too. */

struct completion {
    struct tv_out *out;
    const struct tv_command *command;
    struct tv_bytes word; /* the word to complete */
};

static void complete_offer_word(const struct completion *c, struct tv_bytes before,
                                struct tv_bytes word, const char *help)
{
    if (word.length < c->word.length - before.length ||
        memcmp(word.data, c->word.data + before.length, c->word.length - before.length) != 0)
        return;
    tv_out_bytes(c->out, before);
    tv_out_bytes(c->out, word);
    tv_out_format(c->out, "\t%s\n", help);
}

static void complete_offer_actions(const struct completion *c)
{
    const char *name;
    for (size_t i = 0; (name = c->command->action(i)) != NULL; i++)
        complete_offer_word(c, TV_BYTES(""), tv_bytes_of(name), c->command->summary);
}

static void complete_offer_files(const struct completion *c)
{
    tv_out_text(c->out, ":files\n");
}

static void complete_offer_commands(const struct completion *c)
{
    for (const struct tv_command *const *command = tv_commands; *command; command++)
        complete_offer_word(c, TV_BYTES(""), tv_bytes_of((*command)->name), (*command)->summary);
}

/* Offer "--name". */
static void complete_offer_option(const struct completion *c, const char *name, const char *help)
{
    char word[64] = "--";
    size_t length = strlen(name), dashes = length > 1 ? 2 : 1;
    if (length + dashes >= sizeof word)
        return;
    memcpy(word + dashes, name, length + 1);
    complete_offer_word(c, TV_BYTES(""), tv_bytes_of(word), help);
}

static void complete_offer_options(const struct completion *c)
{
    for (const struct tv_option *option = c->command->options; option->name; option++)
        complete_offer_option(c, option->name, option->help);
    if (c->command != &tv_command_view)
        return;
    complete_offer_option(c, "r", tv_command_regression.summary);
    complete_offer_option(c, "version", tv_command_version.summary);
}

/* Is it a literal word? Words in capitals are placeholders. */
static bool complete_is_literal(struct tv_bytes word)
{
    for (size_t i = 0; i < word.length; i++)
        if (word.data[i] >= 'A' && word.data[i] <= 'Z')
            return false;
    return word.length > 0;
}

static size_t complete_end_of_last(struct tv_bytes text, uint8_t separator)
{
    size_t end = text.length;
    while (end > 0 && text.data[end - 1] != separator)
        end--;
    return end;
}

/* Offer the values of an option; they start at offset `before` of the word. */
static void complete_offer_values(const struct completion *c, const struct tv_option *option,
                                  size_t before)
{
    struct tv_bytes rest = tv_bytes_of(option->argument), word;
    if (option->kind == TV_OPTION_CHOICES) {
        size_t last = complete_end_of_last(c->word, ',');
        before = last > before ? last : before;
    }
    while (rest.length > 0) {
        tv_bytes_split(&rest, '|', &word);
        if (complete_is_literal(word))
            complete_offer_word(c, (struct tv_bytes){c->word.data, before}, word, option->help);
    }
    if (strstr(option->argument, "FINDING"))
        for (size_t i = 0; i < TV_RULES; i++)
            complete_offer_word(c, (struct tv_bytes){c->word.data, before},
                                tv_bytes_of(tv_rules[i].name), tv_rules[i].title);
    if (strstr(option->argument, "FILE") || strstr(option->argument, "DIR") ||
        strstr(option->argument, "ELF"))
        complete_offer_files(c);
}

/* Return the option whose value is being typed, and the offset of the value in the word; or NULL.
 */
static const struct tv_option *complete_find_option(const struct completion *c, int argc,
                                                    char **argv, size_t *before)
{
    const char *last = argv[argc - 1], *value = strchr(last, '=');
    *before = 0;
    if (argc > 1 && tv_options_wanting_value(c->command->options, argv[argc - 2]))
        return tv_options_wanting_value(c->command->options, argv[argc - 2]);
    if (!value || value - last > 60)
        return NULL;
    char name[64];
    memcpy(name, last, (size_t)(value - last));
    name[value - last] = '\0';
    *before = (size_t)(value - last) + 1;
    return tv_options_wanting_value(c->command->options, name);
}

/* Offer what may stand at the cursor: values of the option before it, options, commands, actions or
 * files.  `first` is the place of the command; argc - 1: there is none. */
static void complete_offer(const struct completion *c, int first, int argc, char **argv)
{
    size_t before;
    const struct tv_option *option = complete_find_option(c, argc, argv, &before);
    bool named = first < argc - 1, only_files = false;
    for (int i = 0; i < argc - 1; i++)
        only_files |= strcmp(argv[i], "--") == 0;
    if (option && !only_files) {
        complete_offer_values(c, option, before);
    } else if (c->word.length > 0 && c->word.data[0] == '-' && !only_files) {
        complete_offer_options(c);
    } else if (c->command == &tv_command_help) {
        complete_offer_commands(c);
    } else if (named && c->command->action &&
               tv_commands_first_word(argc - first - 2, argv + first + 1) == argc - first - 2) {
        complete_offer_actions(c);
    } else {
        if (!named && !only_files)
            complete_offer_commands(c);
        complete_offer_files(c);
    }
}

int tv_complete(int argc, char **argv)
{
    struct tv_output output;
    struct tv_error err = {0};
    if (argc == 0)
        return TV_EXIT_USAGE;
    int first = tv_commands_first_word(argc - 1, argv);
    const struct tv_command *command = first < argc - 1 ? tv_commands_find(argv[first]) : NULL;
    struct completion c = {&output.out, command ? command : &tv_command_view,
                           tv_bytes_of(argv[argc - 1])};
    enum tv_status status = tv_output_open(&output, NULL, true, &err);
    if (status == TV_OK) {
        complete_offer(&c, first, argc, argv);
        status = tv_output_close(&output, &err);
    }
    return status == TV_OK ? TV_EXIT_OK : TV_EXIT_INPUT;
}
