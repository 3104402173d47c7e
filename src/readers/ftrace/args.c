/* SPDX-License-Identifier: Apache-2.0 */
/*
 * args.c - values by their names in the details of an ftrace line, and numbers.
 *
 *     "dev = (8,0), ino = 12, comm=a b pid=7"     ino -> "12"   pid -> "7"   comm -> "a"
 *     "worker:17 [120] ==> main:3 [100]"          tasks, with a priority in brackets
 *
 * Each event of the kernel prints its details by a format of its own, so there is no grammar.  A
 * key counts only at the beginning or after a blank, a comma or an opening parenthesis: "pid" must
 * not be found in "target_pid=".
 *
 * Names of tasks may have any character, even " [" and "==>".  A task is therefore recognised by
 * its end: a colon, a number and a priority.
 */
#include "readers/ftrace/fields.h"

#include <assert.h>
#include <string.h>

#include "base/bytes.h"

#define NS_PER_S 1000000000

/* No writer produces numbers with more digits. */
#define MAX_DIGITS 300

/* Return whether a byte may stand in front of a key or a value. */
static bool ft_args_is_gap(uint8_t c)
{
    return c == ' ' || c == ',' || c == '(' || c == '\t';
}

/* Return the position of `mark` at or after `from`; text.length when it is missing. */
static size_t ft_args_find_mark(struct tv_bytes text, size_t from, const char *mark, size_t length)
{
    while (text.length - from >= length) {
        const uint8_t *at = memchr(text.data + from, mark[0], text.length - from - length + 1);
        if (!at)
            break;
        if (memcmp(at, mark, length) == 0)
            return (size_t)(at - text.data);
        from = (size_t)(at - text.data) + 1;
    }
    return text.length;
}

struct tv_bytes tv_ft_after(struct tv_bytes text, const char *mark)
{
    size_t length = strlen(mark);
    size_t at = ft_args_find_mark(text, 0, mark, length);
    if (at == text.length)
        return (struct tv_bytes){NULL, 0};
    return (struct tv_bytes){text.data + at + length, text.length - at - length};
}

struct tv_bytes tv_ft_first_word(struct tv_bytes text)
{
    while (text.length > 0 && ft_args_is_gap(text.data[0])) {
        text.data++;
        text.length--;
    }
    size_t length = 0;
    while (length < text.length && text.data[length] != ' ' && text.data[length] != ',')
        length++;
    text.length = length;
    return text;
}

struct tv_bytes tv_ft_arg(struct tv_bytes details, const char *key)
{
    size_t length = strlen(key);
    for (size_t at = 0; (at = ft_args_find_mark(details, at, key, length)) < details.length; at++) {
        size_t behind = at + length;
        if ((at > 0 && !ft_args_is_gap(details.data[at - 1])) || behind == details.length)
            continue;
        /* f2fs writes "ino = 12". */
        while (behind < details.length && details.data[behind] == ' ')
            behind++;
        if (behind < details.length && details.data[behind] == '=')
            return tv_ft_first_word(
                (struct tv_bytes){details.data + behind + 1, details.length - behind - 1});
    }
    return (struct tv_bytes){NULL, 0};
}

bool tv_ft_parse_number(struct tv_bytes text, int64_t *number)
{
    uint64_t bits;
    if (text.length > 2 && text.data[0] == '0' && text.data[1] == 'x') {
        bool is = tv_parse_hex(text, &bits);
        *number = is ? (int64_t)bits : 0;
        return is;
    }
    return text.data != NULL && tv_parse_i64(text, number);
}

bool tv_ft_arg_number(struct tv_bytes details, const char *key, int64_t *number)
{
    return tv_ft_parse_number(tv_ft_arg(details, key), number);
}

/* Parse a text that consists of digits. */
static bool ft_args_parse_whole(struct tv_bytes text, double *number)
{
    uint64_t exact;
    if (tv_parse_u64(text, &exact)) {
        *number = (double)exact;
        return true;
    }
    *number = 0;
    for (size_t i = 0; i < text.length; i++) {
        if (text.data[i] < '0' || text.data[i] > '9')
            return false;
        *number = *number * 10 + (text.data[i] - '0');
    }
    return text.length > 0 && text.length < MAX_DIGITS;
}

bool tv_ft_parse_quantity(struct tv_bytes text, double *number)
{
    if (text.length == 0)
        return false;
    bool negative = text.data[0] == '-';
    struct tv_bytes digits = {text.data + negative, text.length - negative};
    tv_ns fine;
    if (ft_args_parse_whole(digits, number)) {
        *number = negative ? 0 - *number : *number;
        return true;
    }
    /* tv_parse_time accepts a unit after the number; this function does not. */
    uint8_t last = text.data[text.length - 1];
    if (last < '0' || last > '9' || !tv_parse_time(text, NS_PER_S, &fine))
        return false;
    *number = (double)fine / NS_PER_S;
    return true;
}

bool tv_ft_arg_quantity(struct tv_bytes details, const char *key, double *number)
{
    struct tv_bytes text = tv_ft_arg(details, key);
    uint64_t bits;
    if (text.length == 0)
        return false;
    if (text.length > 2 && text.data[0] == '0' && text.data[1] == 'x' &&
        tv_parse_hex(text, &bits)) {
        *number = (double)bits;
        return true;
    }
    return tv_ft_parse_quantity(text, number);
}

/* Parse "name:12". */
static bool ft_args_parse_task(struct tv_bytes text, struct tv_ft_short_task *end)
{
    size_t colon = text.length;
    int64_t tid;
    while (colon > 0 && text.data[colon - 1] != ':')
        colon--;
    if (colon == 0)
        return false;
    end->name = (struct tv_bytes){text.data, colon - 1};
    end->tid = (struct tv_bytes){text.data + colon, text.length - colon};
    return tv_ft_parse_number(end->tid, &tid);
}

bool tv_ft_take_short_task(struct tv_bytes *text, struct tv_ft_short_task *end)
{
    struct tv_bytes rest = *text;
    /* The name may contain brackets, too. */
    while ((rest = tv_ft_after(rest, " [")).data) {
        struct tv_bytes head = {text->data, (size_t)(rest.data - text->data) - 2}, tail = rest;
        if (!ft_args_parse_task(head, end) || !tv_bytes_split(&tail, ']', &end->priority))
            continue;
        *text = tail;
        return true;
    }
    return false;
}

size_t tv_ft_format_title(char *to, size_t size, const char *title, struct tv_bytes text)
{
    assert(size > 0);
    size_t length = 0;
    for (; *title; title++) {
        const uint8_t *from = *title == '*' ? text.data : (const uint8_t *)title;
        size_t count = *title == '*' ? text.length : 1;
        count = count < size - 1 - length ? count : size - 1 - length;
        if (count > 0)
            memcpy(to + length, from, count);
        length += count;
    }
    to[length] = '\0';
    return length;
}
