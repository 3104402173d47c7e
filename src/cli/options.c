/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/options.h"

#include <string.h>

#include "base/bytes.h"
#include "base/memory.h"
#include "base/number.h"
#include "base/out.h"

void tv_settings_init(struct tv_settings *settings)
{
    memset(settings, 0, sizeof *settings);
    settings->clock = TV_CHOICE_ANY;
    settings->samples = TV_CHOICE_NO_SAMPLES;
    settings->threshold = 20 * UINT64_C(1000000);
    settings->min_percent = UINT64_MAX;
}

void tv_settings_release(struct tv_settings *settings)
{
    tv_free(settings->files.items);
    tv_free(settings->symbols.items);
    tv_free(settings->offsets.items);
    tv_free(settings->threads.items);
    tv_free(settings->fail_on.items);
    tv_free(settings->processes.items);
    tv_free(settings->categories.items);
    tv_free(settings->cpus.items);
}

static void add_word(struct tv_words *words, const char *word)
{
    words->items =
        tv_array_reserve(words->items, &words->capacity, words->count + 1, sizeof *words->items);
    words->items[words->count++] = word;
}

/* Which of the words "a|b|c" it is, or -1. */
static int find_choice(const char *choices, const char *word)
{
    struct tv_bytes rest = tv_bytes_of(choices), head;
    for (int i = 0; rest.length > 0; i++) {
        tv_bytes_split(&rest, '|', &head);
        if (tv_bytes_equal(head, tv_bytes_of(word)))
            return i;
    }
    return -1;
}

/* "0.5" or "0.5%" into millionths of a percent. */
static bool parse_percent(const char *word, uint64_t *value)
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

static enum tv_status set_value(const struct tv_option *option, struct tv_settings *settings,
                                const char *word, struct tv_error *err)
{
    void *place = (char *)settings + option->place;
    int choice = -1;
    switch (option->kind) {
    case TV_OPTION_FLAG:
        *(bool *)place = true;
        return TV_OK;
    case TV_OPTION_TEXT:
        *(const char **)place = word;
        return TV_OK;
    case TV_OPTION_LIST:
        add_word(place, word);
        return TV_OK;
    case TV_OPTION_COUNT:
        if (tv_parse_u64(tv_bytes_of(word), place))
            return TV_OK;
        return tv_fail(err, TV_ERR_USAGE, TV_NO_OFFSET, "--%s: expected a number, found '%s'",
                       option->name, word);
    case TV_OPTION_PERCENT:
        if (parse_percent(word, place))
            return TV_OK;
        return tv_fail(err, TV_ERR_USAGE, TV_NO_OFFSET,
                       "--%s: expected a percentage from 0 to 100, found '%s'", option->name, word);
    case TV_OPTION_CHOICE:
        choice = find_choice(option->argument, word);
        if (choice < 0)
            break;
        *(unsigned *)place = (unsigned)choice;
        return TV_OK;
    }
    return tv_fail(err, TV_ERR_USAGE, TV_NO_OFFSET, "--%s: expected one of %s, found '%s'",
                   option->name, option->argument, word);
}

static const struct tv_option *find_option(const struct tv_option *table, struct tv_bytes name)
{
    for (; table->name; table++) {
        if (tv_bytes_equal(tv_bytes_of(table->name), name))
            return table;
    }
    return NULL;
}

struct arguments {
    const struct tv_option *table;
    char **next, **end;
    struct tv_settings *settings;
};

/* --name, --name=value or --name value. */
static enum tv_status parse_long(struct arguments *a, const char *word, struct tv_error *err)
{
    const char *equals = strchr(word, '=');
    size_t length = equals ? (size_t)(equals - word) : strlen(word);
    const struct tv_option *option =
        length > 1 ? find_option(a->table, (struct tv_bytes){(const uint8_t *)word, length}) : NULL;
    if (!option)
        return tv_fail(err, TV_ERR_USAGE, TV_NO_OFFSET, "unknown option --%.*s", (int)length, word);
    if (!option->argument) {
        if (equals)
            return tv_fail(err, TV_ERR_USAGE, TV_NO_OFFSET, "--%s takes no value", option->name);
        return set_value(option, a->settings, NULL, err);
    }
    if (equals)
        return set_value(option, a->settings, equals + 1, err);
    if (a->next == a->end)
        return tv_fail(err, TV_ERR_USAGE, TV_NO_OFFSET, "--%s wants %s", option->name,
                       option->argument);
    return set_value(option, a->settings, *a->next++, err);
}

/* -x, or several letters behind one dash. No option with a letter takes a value. */
static enum tv_status parse_letters(struct arguments *a, const char *letters, struct tv_error *err)
{
    for (; *letters; letters++) {
        const struct tv_option *option =
            find_option(a->table, (struct tv_bytes){(const uint8_t *)letters, 1});
        if (!option)
            return tv_fail(err, TV_ERR_USAGE, TV_NO_OFFSET, "unknown option -%c", *letters);
        enum tv_status status = set_value(option, a->settings, NULL, err);
        if (status != TV_OK)
            return status;
    }
    return TV_OK;
}

enum tv_status tv_options_parse(const struct tv_option *table, int argc, char **argv,
                                struct tv_settings *settings, struct tv_error *err)
{
    struct arguments a = {table, argv, argv + argc, settings};
    bool only_files = false;
    while (a.next < a.end) {
        const char *word = *a.next++;
        enum tv_status status = TV_OK;
        if (only_files || word[0] != '-' || word[1] == '\0')
            add_word(&settings->files, word);
        else if (strcmp(word, "--") == 0)
            only_files = true;
        else if (word[1] == '-')
            status = parse_long(&a, word + 2, err);
        else
            status = parse_letters(&a, word + 1, err);
        if (status != TV_OK)
            return status;
    }
    return TV_OK;
}

void tv_options_help(struct tv_out *out, const struct tv_option *table)
{
    for (const struct tv_option *option = table; option->name; option++) {
        const char *dashes = option->name[1] ? "--" : "-";
        tv_out_format(out, "  %s%s%s%s\n", dashes, option->name, option->argument ? " " : "",
                      option->argument ? option->argument : "");
        tv_out_format(out, "        %s\n", option->help);
    }
}
