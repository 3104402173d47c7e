/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rewrite.c - rewrite the class files that are named, in place.
 *
 *     rewrite HOOKS FILE...
 *
 * Each method's text is printed at its id, "ID CLASS.NAME SIGNATURE", and at the end what was left
 * alone.  For tests that run the result in a JVM.
 */
#include <stdio.h>
#include <stdlib.h>

#include "recorder/agent/rewrite.h"

#define LARGEST (16u << 20)

static uint32_t next_id(void *context, const struct tv_rewrite_method *method)
{
    uint32_t *last = context;
    printf("%u %.*s.%.*s %.*s\n", ++*last, (int)method->class_name.length,
           (const char *)method->class_name.data, (int)method->name.length,
           (const char *)method->name.data, (int)method->signature.length,
           (const char *)method->signature.data);
    return *last;
}

static size_t read_file(const char *path, uint8_t *bytes)
{
    FILE *file = fopen(path, "rb");
    size_t length = file == NULL ? 0 : fread(bytes, 1, LARGEST, file);
    if (file != NULL)
        fclose(file);
    return length;
}

static bool write_file(const char *path, const uint8_t *bytes, size_t length)
{
    FILE *file = fopen(path, "wb");
    bool fine = file != NULL && fwrite(bytes, 1, length, file) == length;
    return file != NULL && fclose(file) == 0 && fine;
}

int main(int count, char **arguments)
{
    /* Ids beyond what sipush can push are wanted too. */
    uint32_t last = 32760;
    unsigned refused = 0;
    uint8_t *bytes = malloc(LARGEST);
    if (count < 3 || bytes == NULL)
        return 2;
    struct tv_rewrite_plan plan = {arguments[1], next_id, &last, NULL};
    for (int i = 2; i < count; i++) {
        struct tv_rewrite_result result;
        size_t length = read_file(arguments[i], bytes);
        if (!tv_rewrite_class(bytes, length, &plan, &result)) {
            fprintf(stderr, "%s: not understood\n", arguments[i]);
            return 1;
        }
        refused += result.refused;
        if (result.bytes != NULL && !write_file(arguments[i], result.bytes, result.length))
            return 1;
        free(result.bytes);
    }
    free(bytes);
    printf("refused %u\n", refused);
    return 0;
}
