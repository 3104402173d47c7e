/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/losses.h"
#include "cli/message.h"

#include <stdio.h>
#include <string.h>

void tv_losses_tell(const char *name, struct tv_bytes lines)
{
    while (lines.length > 0) {
        const uint8_t *end = memchr(lines.data, '\n', lines.length);
        size_t length = end ? (size_t)(end - lines.data) : lines.length;
        tv_message("%s: loss: %.*s", name, (int)length, (const char *)lines.data);
        length += end != NULL;
        lines = (struct tv_bytes){lines.data + length, lines.length - length};
    }
}
