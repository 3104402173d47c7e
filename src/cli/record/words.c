/* SPDX-License-Identifier: Apache-2.0 */
/* words.c - splits a command line into words by the quoting rules of POSIX shells, without a shell.
 *
 *     java -cp 'my lib' -Dname="a b" Main   -->   java | -cp | my lib | -Dname=a b | Main
 *
 * The program is then started directly, so the recorder knows its file and no shell is measured. A
 * character that only a shell gives its meaning is an error: passed on as it is, it would change
 * what the program does without a word. */
#include <stdbool.h>
#include <string.h>

#include "base/memory.h"
#include "cli/record/record.h"

/* A command line that is being split, and where the next character of a word goes. */
struct command_line {
    const char *from;
    char *to;
    struct tv_error *err;
};

static enum tv_status words_fail_shell(struct command_line *line, char found)
{
    char text[2] = {found, '\0'};
    return tv_fail(line->err, TV_ERR_USAGE, TV_NO_OFFSET,
                   "%s needs a shell: put it in quotes if the program should get it, or write "
                   "sh -c '...'",
                   found == '\n' ? "a line end" : text);
}

static enum tv_status words_fail_quote(struct command_line *line, char quote)
{
    return tv_fail(line->err, TV_ERR_USAGE, TV_NO_OFFSET, "there is no second %c", quote);
}

/* Copy up to the closing single quote. */
static enum tv_status words_take_single(struct command_line *line)
{
    for (line->from++; *line->from != '\''; *line->to++ = *line->from++)
        if (*line->from == '\0')
            return words_fail_quote(line, '\'');
    line->from++;
    return TV_OK;
}

/* Copy up to the closing double quote, in which a backslash quotes four characters. */
static enum tv_status words_take_double(struct command_line *line)
{
    for (line->from++; *line->from != '"'; *line->to++ = *line->from++) {
        if (*line->from == '\\' && line->from[1] != '\0' && strchr("\"\\$`", line->from[1]))
            line->from++;
        else if (*line->from == '$' || *line->from == '`')
            return words_fail_shell(line, *line->from);
        if (*line->from == '\0')
            return words_fail_quote(line, '"');
    }
    line->from++;
    return TV_OK;
}

/* Copy one character outside of quotes. */
static enum tv_status words_take_plain(struct command_line *line, bool is_first)
{
    if (*line->from == '\\' && line->from[1] != '\0') {
        *line->to++ = line->from[1];
        line->from += 2;
        return TV_OK;
    }
    if (strchr("|&;<>()$`*?[\n\\", *line->from) || (is_first && strchr("~#", *line->from)))
        return words_fail_shell(line, *line->from);
    *line->to++ = *line->from++;
    return TV_OK;
}

static bool words_is_blank(char character)
{
    return character == ' ' || character == '\t';
}

/* Copy the next word, with a NUL after it. */
static enum tv_status words_take_word(struct command_line *line)
{
    enum tv_status status = TV_OK;
    for (const char *begin = line->from;
         status == TV_OK && *line->from != '\0' && !words_is_blank(*line->from);)
        status = *line->from == '\''  ? words_take_single(line)
                 : *line->from == '"' ? words_take_double(line)
                                      : words_take_plain(line, line->from == begin);
    if (words_is_blank(*line->from))
        line->from++;
    *line->to++ = '\0';
    return status;
}

enum tv_status tv_record_split_words(const char *command, char **text, struct tv_words *words,
                                     struct tv_error *err)
{
    /* Each word is no longer than its source, and its NUL takes the place of the blank after it;
     * one more byte is for the last word. */
    *text = tv_alloc(strlen(command) + 1, 1);
    struct command_line line = {command, *text, err};
    enum tv_status status = TV_OK;
    while (status == TV_OK) {
        while (words_is_blank(*line.from))
            line.from++;
        if (*line.from == '\0')
            break;
        tv_words_add(words, line.to);
        status = words_take_word(&line);
    }
    if (status != TV_OK)
        return status;
    if (words->count == 0)
        return tv_fail(err, TV_ERR_USAGE, TV_NO_OFFSET, "expected a command");
    const char *equals = strchr(words->items[0], '=');
    if (equals && memchr(words->items[0], '/', (size_t)(equals - words->items[0])) == NULL)
        return tv_fail(err, TV_ERR_USAGE, TV_NO_OFFSET,
                       "'%.100s' needs a shell: write env %.100s ...", words->items[0],
                       words->items[0]);
    return TV_OK;
}
