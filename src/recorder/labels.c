/* SPDX-License-Identifier: Apache-2.0 */
#include "recorder/labels.h"

#include <stdlib.h>
#include <string.h>

static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-";

void tv_labels_read(char labels[TV_LABELS_SIZE])
{
    const char *text = getenv(TV_LABELS_VARIABLE);
    size_t length = text ? strlen(text) : 0;
    labels[0] = '\0';
    if (length > 0 && length < TV_LABELS_SIZE)
        memcpy(labels, text, length + 1);
}

bool tv_labels_next(const char **rest, struct tv_label *label)
{
    while (**rest) {
        const char *line = *rest;
        size_t length = strcspn(line, "\n"), key = strspn(line, plain);
        *rest = line + length + (line[length] == '\n');
        if (strncmp(line, "run-", 4) != 0 || line[key] != '=')
            continue;
        size_t value = strspn(line + key + 1, plain);
        if (value == 0 || key + 1 + value != length)
            continue;
        *label = (struct tv_label){line, line + key + 1, (int)key, (int)value};
        return true;
    }
    return false;
}
