/* SPDX-License-Identifier: Apache-2.0 */
/*
 * options.c - parses options by a table (options.h), from arguments and from a
 * file.
 *
 *     --name VALUE   --name=VALUE   -n VALUE   -nVALUE   -abc     arguments
 *     name = VALUE                                                a line of a file
 *           |
 *           v
 *     entry of the table --> kind: parser and type --> member of struct tv_settings
 *
 * A value is written into the member of struct tv_settings at the offset in the
 * table, with the type that belongs to the kind of the option. settings->given
 * has one bit per table entry, so a table has at most 64.  The bit also tells
 * which options a file may no longer set: the command line wins.
 *
 * Texts are not copied: they point into the arguments, or into the text of the
 * file.
 */
#include "cli/options.h"

#include <assert.h>
#include <limits.h>
#include <string.h>

#include "base/bytes.h"
#include "base/file.h"
#include "base/memory.h"
#include "base/out.h"
#include "base/workers.h"
#include "cli/command.h"
#include "writers/text/text_table.h"

/* The letters of an option's beginning that tell which one is meant. */
#define MIN_ABBREVIATION 3

void tv_settings_init(struct tv_settings *settings)
{
    memset(settings, 0, sizeof *settings);
    settings->clock = TV_CHOICE_ANY;
    settings->stacks.samples = TV_CHOICE_NO_SAMPLES;
    settings->order = TV_CHOICE_NO_ORDER;
    settings->threshold = 20 * UINT64_C(1000000);
    settings->stacks.min_percent = UINT64_MAX;
    settings->table.limit = TV_ANY_LIMIT;
    settings->input.max_memory = TV_ANY_MEMORY;
    settings->max_size = TV_ANY_SIZE;
    settings->record.runs = 10;
    settings->record.alloc = UINT64_C(512) << 10;
    settings->compare.min_share = TV_DEFAULT_MIN_SHARE;
}

unsigned tv_settings_workers(const struct tv_settings *settings)
{
    unsigned jobs = tv_settings_jobs(settings);
    if (jobs == 0)
        jobs = tv_workers_available();
    return jobs < TV_JOBS_LIMIT ? jobs : TV_JOBS_LIMIT;
}

void tv_settings_release(struct tv_settings *settings)
{
    assert(settings->files.count <= settings->files.capacity);
    tv_free(settings->files.items);
    tv_free(settings->input.symbols.items);
    tv_free(settings->input.offsets.items);
    tv_free(settings->select.threads.items);
    tv_free(settings->fail_on.items);
    tv_free(settings->select.ranges.items);
    tv_free(settings->select.processes.items);
    tv_free(settings->select.categories.items);
    tv_free(settings->select.cpus.items);
    tv_free(settings->stacks.transforms.items);
    tv_free(settings->serve.listen.items);
    tv_free(settings->serve.hosts.items);
    tv_free(settings->serve.proxies.items);
    tv_free(settings->push.labels.items);
    tv_free(settings->record.include.items);
    tv_free(settings->record.exclude.items);
    tv_free(settings->record.trigger.items);
    tv_free(settings->record.sides.items);
    for (size_t i = 0; i < settings->owned.count; i++)
        tv_free((void *)(uintptr_t)settings->owned.items[i]);
    tv_free(settings->compare.base.items);
    tv_free(settings->compare.new.items);
    tv_free(settings->compare.history.items);
    tv_free(settings->compare.base_symbols.items);
    tv_free(settings->compare.new_symbols.items);
    tv_free(settings->compare.fail_if.items);
    tv_free(settings->compare.reports.items);
    tv_free(settings->compare.in_folders.items);
    tv_free(settings->fleet.labels.items);
    tv_free(settings->fleet.names.items);
    tv_free(settings->owned.items);
}

void tv_words_add(struct tv_words *words, const char *word)
{
    words->items =
        tv_array_reserve(words->items, &words->capacity, words->count + 1, sizeof *words->items);
    words->items[words->count++] = word;
}

/* Return the index of the word in "a|b|c", or -1. */
static int option_find_choice(const char *choices, struct tv_bytes word)
{
    assert(choices);
    struct tv_bytes rest = tv_bytes_of(choices), head;
    for (int i = 0; rest.length > 0; i++) {
        tv_bytes_split(&rest, '|', &head);
        if (tv_text_table_is_name(head, word))
            return i;
    }
    return -1;
}

/* Parse "0.5" or "0.5%" into millionths of a percent. */
static bool option_parse_percent(const char *word, uint64_t *value)
{
    struct tv_bytes text = tv_bytes_of(word);
    if (text.length > 1 && text.data[text.length - 1] == '%')
        text.length--;
    tv_ns millionths;
    if (text.length == 0 || strspn(word, "0123456789.") < text.length ||
        !tv_parse_time(text, 1000000, &millionths) || millionths > 100 * INT64_C(1000000))
        return false;
    *value = (uint64_t)millionths;
    return true;
}

/* Are all words of "a,b" among "a|b|c"? */
static bool option_are_choices(const char *choices, const char *words)
{
    struct tv_bytes rest = tv_bytes_of(words), word;
    bool more = true;
    while (more) {
        more = tv_bytes_split(&rest, ',', &word);
        if (option_find_choice(choices, word) < 0)
            return false;
    }
    return true;
}

/* The whole word must be digits. */
static bool option_parse_count(const char *word, uint64_t *value)
{
    return tv_parse_u64(tv_bytes_of(word), value);
}

/* 0 means as many as there are processors. */
static bool option_parse_jobs(const char *word, uint64_t *value)
{
    uint64_t jobs;
    if (!option_parse_count(word, &jobs) || jobs > TV_JOBS_LIMIT)
        return false;
    *value = jobs;
    return true;
}

/* Units are powers of 1024. */
static bool option_parse_size(const char *word, uint64_t *value)
{
    return tv_parse_size(tv_bytes_of(word), value);
}

/* Time without a unit is in seconds. */
static bool option_parse_seconds(const char *word, uint64_t *value)
{
    return tv_parse_seconds(tv_bytes_of(word), value);
}

/* "180" may be meant as days, and what is older is removed. */
static bool option_parse_age(const char *word, uint64_t *value)
{
    return word[strspn(word, "0123456789.")] != '\0' && option_parse_seconds(word, value);
}

/* Parsers of numeric options, and what they expect. */
static const struct {
    bool (*parse)(const char *word, uint64_t *value);
    const char *expected;
} numbers[] = {
    [TV_OPTION_COUNT] = {option_parse_count, "a number"},
    [TV_OPTION_JOBS] = {option_parse_jobs, "a number from 0 to 64"},
    [TV_OPTION_PERCENT] = {option_parse_percent, "a percentage from 0 to 100"},
    [TV_OPTION_SIZE] = {option_parse_size, "a size such as 500M or 50G"},
    [TV_OPTION_SECONDS] = {option_parse_seconds, "a time such as 90s, 12h or 30d"},
    [TV_OPTION_AGE] = {option_parse_age, "a time with its unit, such as 90s, 12h or 30d"},
};

/* Add a file to all files, and to the group that an option began. */
static void options_add_file(struct tv_settings *settings, const char *file)
{
    tv_words_add(&settings->files, file);
    if (settings->group)
        tv_words_add(settings->group, file);
}

/* Parse a value by the kind of its option, and store it. */
static enum tv_status option_set_value(const struct tv_option *option, struct tv_settings *settings,
                                       const char *word, struct tv_error *err)
{
    void *place = (char *)settings + option->place;
    int choice;
    switch (option->kind) {
    case TV_OPTION_FLAG:
        *(bool *)place = true;
        return TV_OK;
    case TV_OPTION_TEXT:
        *(const char **)place = word;
        return TV_OK;
    case TV_OPTION_LIST:
        tv_words_add(place, word);
        return TV_OK;
    case TV_OPTION_ORDERED:
        tv_words_add(place, option->name);
        tv_words_add(place, word);
        return TV_OK;
    case TV_OPTION_GROUP:
        settings->group = place;
        if (word)
            options_add_file(settings, word);
        return TV_OK;
    case TV_OPTION_CHOICE:
        choice = option_find_choice(option->argument, tv_bytes_of(word));
        if (choice < 0)
            return tv_fail(err, TV_ERR_USAGE, TV_NO_OFFSET, "--%s: expected one of %s, found '%s'",
                           option->name, option->argument, word);
        *(unsigned *)place = (unsigned)choice;
        return TV_OK;
    case TV_OPTION_CHOICES:
        if (!option_are_choices(option->argument, word))
            return tv_fail(err, TV_ERR_USAGE, TV_NO_OFFSET,
                           "--%s: expected one or more of %s, separated by commas, found '%s'",
                           option->name, option->argument, word);
        *(const char **)place = word;
        return TV_OK;
    default:
        if (numbers[option->kind].parse(word, place))
            return TV_OK;
        return tv_fail(err, TV_ERR_USAGE, TV_NO_OFFSET, "--%s: expected %s, found '%s'",
                       option->name, numbers[option->kind].expected, word);
    }
}

/* Note that the option was given, and store its value. */
static enum tv_status option_give(const struct tv_option *table, const struct tv_option *option,
                                  struct tv_settings *settings, const char *word,
                                  struct tv_error *err)
{
    assert(option >= table && option - table < 64);
    settings->given |= UINT64_C(1) << (option - table);
    return option_set_value(option, settings, word, err);
}

/* NULL: the table has no such option. */
static const struct tv_option *option_find(const struct tv_option *table, struct tv_bytes name)
{
    for (; table->name; table++) {
        if (tv_bytes_equal(tv_bytes_of(table->name), name))
            return table;
    }
    return NULL;
}

/* Return the option that a mistyped name is probably meant to be: the only one that begins with it,
 * or else the one that is spelled almost like it; NULL: none. */
static const struct tv_option *option_find_near(const struct tv_option *table, struct tv_bytes name)
{
    const struct tv_option *near = NULL, *begins = NULL;
    unsigned least = UINT_MAX, beginnings = 0;
    char *word = tv_alloc(name.length + 1, 1);
    memcpy(word, name.data, name.length);
    word[name.length] = '\0';
    for (const struct tv_option *option = table; option->name; option++) {
        if (name.length >= MIN_ABBREVIATION && strncmp(option->name, word, name.length) == 0) {
            begins = option;
            beginnings++;
        }
        unsigned distance =
            strlen(option->name) > 1 ? tv_words_distance(word, option->name) : UINT_MAX;
        if (distance < least) {
            least = distance;
            near = option;
        }
    }
    tv_free(word);
    return beginnings == 1 ? begins : near;
}

/* Refuse a name that is not in the table, and name the option that may be meant. */
static enum tv_status option_fail_unknown(const struct tv_option *table, struct tv_bytes name,
                                          struct tv_error *err)
{
    const struct tv_option *near = option_find_near(table, name);
    if (near)
        return tv_fail(err, TV_ERR_USAGE, TV_NO_OFFSET,
                       "unknown option --%.*s (did you mean --%s?)", (int)name.length,
                       (const char *)name.data, near->name);
    return tv_fail(err, TV_ERR_USAGE, TV_NO_OFFSET, "unknown option --%.*s", (int)name.length,
                   (const char *)name.data);
}

/* Is the value optional ("[=SIZE]")? It must be given as --name=value then. */
static bool option_value_is_optional(const struct tv_option *option)
{
    return option->argument && (option->argument[0] == '[' || option->kind == TV_OPTION_GROUP);
}

/* Also used for options from a file (tv_config_read). */
enum tv_status tv_options_set(const struct tv_option *table, struct tv_bytes name,
                              const char *value, struct tv_settings *settings, struct tv_error *err)
{
    const struct tv_option *option = name.length > 1 ? option_find(table, name) : NULL;
    if (!option)
        return option_fail_unknown(table, name, err);
    if (value && !option->argument)
        return tv_fail(err, TV_ERR_USAGE, TV_NO_OFFSET, "--%s takes no value", option->name);
    if (!value && option->kind == TV_OPTION_GROUP)
        return option_give(table, option, settings, NULL, err);
    if (!value && option_value_is_optional(option)) {
        settings->given |= UINT64_C(1) << (option - table);
        return TV_OK;
    }
    if (!value && option->argument)
        return tv_fail(err, TV_ERR_USAGE, TV_NO_OFFSET, "--%s: expected %s", option->name,
                       option->argument);
    return option_give(table, option, settings, value, err);
}

/* Arguments that are not parsed yet; an option takes its value from them. */
struct option_arguments {
    const struct tv_option *table;
    char **next, **end;
    struct tv_settings *settings;
};

/* Parse --name, --name=value or --name value. */
static enum tv_status option_parse_long(struct option_arguments *a, const char *word,
                                        struct tv_error *err)
{
    const char *value = strchr(word, '=');
    struct tv_bytes name = {(const uint8_t *)word, value ? (size_t)(value - word) : strlen(word)};
    const struct tv_option *option = option_find(a->table, name);
    if (value)
        value++;
    else if (option && option->argument && !option_value_is_optional(option) && a->next < a->end)
        value = *a->next++;
    return tv_options_set(a->table, name, value, a->settings, err);
}

/* Parse -xVALUE or -x VALUE. */
static enum tv_status option_parse_letter_value(struct option_arguments *a,
                                                const struct tv_option *option, const char *rest,
                                                struct tv_error *err)
{
    const char *value = rest[0] ? rest : a->next < a->end ? *a->next++ : NULL;
    if (!value)
        return tv_fail(err, TV_ERR_USAGE, TV_NO_OFFSET, "-%s: expected %s", option->name,
                       option->argument);
    return option_give(a->table, option, a->settings, value, err);
}

/* Parse -x, or several letters after one dash. */
static enum tv_status option_parse_letters(struct option_arguments *a, const char *letters,
                                           struct tv_error *err)
{
    for (; *letters; letters++) {
        const struct tv_option *option =
            option_find(a->table, (struct tv_bytes){(const uint8_t *)letters, 1});
        if (!option)
            return tv_fail(err, TV_ERR_USAGE, TV_NO_OFFSET, "unknown option -%c", *letters);
        if (option->argument)
            return option_parse_letter_value(a, option, letters + 1, err);
        enum tv_status status = option_give(a->table, option, a->settings, NULL, err);
        if (status != TV_OK)
            return status;
    }
    return TV_OK;
}

/* Is a word with dashes a text of several lines that begins with a comment of SQL? */
static bool option_is_comment(const char *word)
{
    return strncmp(word, "--", 2) == 0 && strchr(word, '\n') &&
           strcspn(word, " \t\n") < strcspn(word, "=");
}

/* After "--" every word is a file; "-" alone always is one, standard input. */
enum tv_status tv_options_parse(const struct tv_option *table, int argc, char **argv,
                                struct tv_settings *settings, struct tv_error *err)
{
    struct option_arguments a = {table, argv, argv + argc, settings};
    bool only_files = false;
    while (a.next < a.end) {
        const char *word = *a.next++;
        enum tv_status status = TV_OK;
        if (only_files || word[0] != '-' || word[1] == '\0' || option_is_comment(word))
            options_add_file(settings, word);
        else if (strcmp(word, "--") == 0)
            only_files = true;
        else if (word[1] == '-')
            status = option_parse_long(&a, word + 2, err);
        else
            status = option_parse_letters(&a, word + 1, err);
        if (status != TV_OK)
            return status;
    }
    return TV_OK;
}

/* A word of the command line, with its dashes: "--" goes with long names, "-"
 * with letters. */
const struct tv_option *tv_options_wanting_value(const struct tv_option *table, const char *word)
{
    size_t dashes = strspn(word, "-");
    struct tv_bytes name = tv_bytes_of(word + dashes);
    if (dashes == 0 || dashes > 2 || (dashes == 1) != (name.length == 1))
        return NULL;
    const struct tv_option *option = option_find(table, name);
    return option && option->argument && !option_value_is_optional(option) ? option : NULL;
}

/* Every option is shown with its argument and, below it, one line of help. */
void tv_options_help(struct tv_out *out, const struct tv_option *table,
                     bool (*shows)(const void *context, const char *name), const void *context)
{
    for (const struct tv_option *option = table; option->name; option++) {
        if (shows && !shows(context, option->name))
            continue;
        const char *dashes = option->name[1] ? "--" : "-";
        tv_out_format(out, "  %s%s%s%s\n", dashes, option->name,
                      option->argument && option->argument[0] != '[' ? " " : "",
                      option->argument ? option->argument : "");
        tv_out_format(out, "        %s\n", option->help);
    }
}

/* ---- Options from a file ---- */

/* A larger file was hardly written by hand. */
#define CONFIG_LARGEST_FILE ((size_t)1 << 20)

/* Was the option given on the command line? */
static bool config_is_given(const struct tv_option *table, struct tv_bytes name, uint64_t given)
{
    for (size_t i = 0; table[i].name != NULL; i++)
        if (tv_bytes_equal(tv_bytes_of(table[i].name), name))
            return (given >> i & 1) != 0;
    return false;
}

/* Parse a line of the file, without its line end. The line is modified: a NUL is put after the
 * value. */
static enum tv_status config_read_line(const struct tv_option *table, char *line, size_t length,
                                       uint64_t given, struct tv_settings *settings,
                                       struct tv_error *err)
{
    struct tv_bytes rest = tv_bytes_trim((struct tv_bytes){(const uint8_t *)line, length}), name;
    const char *value = NULL;
    if (rest.length == 0 || rest.data[0] == '#')
        return TV_OK;
    if (tv_bytes_split(&rest, '=', &name)) {
        rest = tv_bytes_trim(rest);
        char *start = line + (rest.data - (const uint8_t *)line);
        start[rest.length] = '\0';
        value = start;
    }
    name = tv_bytes_trim(name);
    if (tv_bytes_equal(name, TV_BYTES("config")) || tv_bytes_equal(name, TV_BYTES("help")))
        return tv_fail(err, TV_ERR_USAGE, TV_NO_OFFSET,
                       "--%.*s is allowed only on the command line", (int)name.length,
                       (const char *)name.data);
    if (config_is_given(table, name, given))
        return TV_OK;
    return tv_options_set(table, name, value, settings, err);
}

/* Lines are parsed in place. *text must live as long as the settings, which
 * point into it. */
enum tv_status tv_config_read(const struct tv_option *table, const char *path,
                              struct tv_settings *settings, char **text, struct tv_error *err)
{
    const uint64_t given = settings->given;
    size_t length;
    *text = NULL;
    enum tv_status status = tv_file_read_text(path, CONFIG_LARGEST_FILE, text, &length, err);
    if (status != TV_OK) {
        *text = NULL;
        return tv_error_prefix(err, "%s", path);
    }
    char *line = *text, *end = *text + length;
    for (unsigned number = 1; status == TV_OK && line < end; number++) {
        char *next = memchr(line, '\n', (size_t)(end - line));
        if (next == NULL)
            next = end;
        status = config_read_line(table, line, (size_t)(next - line), given, settings, err);
        if (status != TV_OK)
            tv_error_prefix(err, "%s: line %u", path, number);
        line = next + 1;
    }
    return status;
}

/* ---- Secrets ---- */

/* Bytes of a file with a secret, with the line end. */
#define LONGEST_SECRET 1024u

/* A secret in a file ends at the first line end, so that an editor may add one. */
enum tv_status tv_secret_read(const char *text, const char *path, char **secret,
                              struct tv_error *err)
{
    size_t length;
    *secret = NULL;
    if (path != NULL) {
        enum tv_status status = tv_file_read_text(path, LONGEST_SECRET, secret, &length, err);
        if (status != TV_OK) {
            *secret = NULL;
            return tv_error_prefix(err, "%s", path);
        }
        (*secret)[strcspn(*secret, "\r\n")] = '\0';
    } else if (text != NULL) {
        *secret = memcpy(tv_alloc(strlen(text) + 1, 1), text, strlen(text));
    }
    if (*secret != NULL && (*secret)[0] == '\0') {
        tv_free(*secret);
        *secret = NULL;
        return tv_fail(err, TV_ERR_USAGE, TV_NO_OFFSET,
                       "the token is empty: it needs at least one character");
    }
    return TV_OK;
}
