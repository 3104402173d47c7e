/* SPDX-License-Identifier: Apache-2.0 */
#include "random_text.h"

#include <stdarg.h>
#include <stdlib.h>

_Noreturn void fail(const char *what)
{
    fprintf(stderr, "generator: %s\n", what);
    exit(1);
}

static void flush(struct random_text *text)
{
    if (fwrite(text->block, 1, text->used, text->file) != text->used)
        fail("cannot write");
    text->written += text->used;
    text->used = 0;
}

void text_open(struct random_text *text, const char *path, uint64_t seed)
{
    text->file = fopen(path, "wb");
    if (!text->file)
        fail("cannot open the output");
    text->random = seed;
    text->written = text->used = 0;
}

void put(struct random_text *text, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    int length = vsnprintf(text->block + text->used, TEXT_ROOM, format, arguments);
    va_end(arguments);
    if (length < 0 || length >= (int)TEXT_ROOM)
        fail("a piece of text is too long");
    text->used += (size_t)length;
    if (text->used >= TEXT_BLOCK)
        flush(text);
}

void text_close(struct random_text *text)
{
    flush(text);
    if (fclose(text->file) != 0)
        fail("cannot write");
}

uint64_t next_random(struct random_text *text)
{
    uint64_t mixed = text->random += 0x9E3779B97F4A7C15u;
    mixed = (mixed ^ mixed >> 30) * 0xBF58476D1CE4E5B9u;
    mixed = (mixed ^ mixed >> 27) * 0x94D049BB133111EBu;
    return mixed ^ mixed >> 31;
}

unsigned below(struct random_text *text, unsigned limit)
{
    return (unsigned)(next_random(text) >> 33) % limit;
}
