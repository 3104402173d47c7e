/* SPDX-License-Identifier: Apache-2.0 */
/*
 * die.c - ends the program with a message; memory that is there or the program is not.
 */
#include "die.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void die(const char *format, ...)
{
    va_list arguments;

    fputs("generate-example: ", stderr);
    va_start(arguments, format);
    vfprintf(stderr, format, arguments);
    va_end(arguments);
    fputc('\n', stderr);
    exit(1);
}

void *resize(void *block, size_t count, size_t size)
{
    void *result;

    if (count > SIZE_MAX / size)
        die("an array of %zu elements is too large", count);
    result = realloc(block, count * size);
    if (!result)
        die("out of memory");
    return result;
}

void *grow(void *array, int count, size_t size)
{
    if (count & (count - 1))
        return array;
    return resize(array, count ? (size_t)count * 2 : 1, size);
}

char *copy_text(const char *text, size_t length)
{
    char *copy = resize(NULL, length + 1, 1);

    memcpy(copy, text, length);
    copy[length] = '\0';
    return copy;
}
