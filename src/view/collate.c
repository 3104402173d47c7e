/* SPDX-License-Identifier: Apache-2.0 */
#include "view/collate.h"

#include <string.h>

/* The marks, in the order of Unicode's root collation (CLDR). */
static const char marks[] = " _-,;:!?.'\"()[]{}@*/\\&#%`^+<=>|~$";

enum {
    FIRST_MARK = 32,
    FIRST_DIGIT = 128,
    FIRST_LETTER = 256,
    FIRST_OTHER = 512,
};

/* What counts first: the letter, not its case. */
static int weight(uint8_t c)
{
    if (c >= 0x80)
        return FIRST_OTHER + c;
    if (c >= '0' && c <= '9')
        return FIRST_DIGIT + c;
    if ((c | 0x20) >= 'a' && (c | 0x20) <= 'z')
        return FIRST_LETTER + (c | 0x20);
    const char *mark = c ? strchr(marks, c) : NULL;
    return mark ? FIRST_MARK + (int)(mark - marks) : c % FIRST_MARK;
}

int tv_collate(struct tv_bytes a, struct tv_bytes b)
{
    size_t shorter = a.length < b.length ? a.length : b.length;
    for (size_t i = 0; i < shorter; i++) {
        int order = weight(a.data[i]) - weight(b.data[i]);
        if (order)
            return order;
    }
    if (a.length != b.length)
        return a.length < b.length ? -1 : 1;
    /* Small letters have the higher bytes. */
    return tv_bytes_compare(b, a);
}
