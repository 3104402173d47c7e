/* SPDX-License-Identifier: Apache-2.0 */
/* A mapping file from anywhere: read, and asked for methods whose names are cut out of it. */
#include <stddef.h>
#include <stdint.h>

#include "base/bytes.h"
#include "symbols/mapping.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Take a line. The first three lines are the question, the rest is the mapping file. */
static struct tv_bytes take_line(struct tv_bytes *rest)
{
    struct tv_bytes line;
    tv_bytes_split(rest, '\n', &line);
    return line;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct tv_bytes rest = {data, size};
    struct tv_mapped_method asked = {.class_name = take_line(&rest)}, original;
    asked.name = take_line(&rest);
    asked.signature = take_line(&rest);
    asked.line = (int32_t)(size % 16);
    struct tv_source *source = tv_source_from_memory(rest, "fuzz");
    struct tv_mapping *mapping;
    struct tv_error err = {0};
    if (tv_mapping_read(source, &mapping, &err) == TV_OK) {
        struct tv_arena arena;
        tv_arena_init(&arena);
        (void)tv_mapping_find(mapping, &asked, &arena, &original);
        tv_arena_release(&arena);
        tv_mapping_free(mapping);
    }
    tv_source_free(source);
    return 0;
}
