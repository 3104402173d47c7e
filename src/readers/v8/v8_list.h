/* SPDX-License-Identifier: Apache-2.0 */
/*
 * v8_list.h - plain lists of numbers: digits and commas alone, as the nodes and times of samples
 * nearly always are.  Anything else is left to tv_json_stream.
 */
#ifndef TV_READERS_V8_V8_LIST_H
#define TV_READERS_V8_V8_LIST_H

#include "base/types.h"

/* A place in a list of numbers. */
struct tv_v8_list {
    const uint8_t *at, *end;
};

static inline void tv_v8_list_skip_space(struct tv_v8_list *list)
{
    while (list->at < list->end &&
           (*list->at == ' ' || *list->at == '\n' || *list->at == '\r' || *list->at == '\t'))
        list->at++;
}

/* 15 digits, and three zeros after them, fit into 63 bits. */
#define TV_V8_MAX_DIGITS 15

/* Take a number and the comma after it; a closing bracket after it is not taken.  Return false for
 * anything else. */
static inline bool tv_v8_list_take(struct tv_v8_list *list, int64_t *number)
{
    tv_v8_list_skip_space(list);
    const uint8_t *first = list->at, *at = first;
    int64_t value = 0;
    for (; at < list->end && (uint8_t)(*at - '0') < 10; at++) {
        if (at - first == TV_V8_MAX_DIGITS)
            return false;
        value = value * 10 + (*at - '0');
    }
    list->at = at;
    tv_v8_list_skip_space(list);
    if (at == first || list->at == list->end || (*list->at != ',' && *list->at != ']'))
        return false;
    list->at += *list->at == ',';
    *number = value;
    return true;
}

static inline bool tv_v8_list_has_ended(struct tv_v8_list *list)
{
    tv_v8_list_skip_space(list);
    return list->at < list->end && *list->at == ']';
}

#endif
