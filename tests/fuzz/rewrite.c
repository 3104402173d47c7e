/* SPDX-License-Identifier: Apache-2.0 */
/* A class file from anywhere: what comes out of the rewriter is again one that can be read. */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include "recorder/agent/rewrite.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static uint32_t next_id(void *context, const struct tv_rewrite_method *method)
{
    uint32_t *last = context;
    /* Every seventh is left alone. */
    return ++*last % 7 == 0 || method->name.length == 0 ? 0 : *last;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    uint32_t last = 32764;
    struct tv_rewrite_plan plan = {"a/Hooks", next_id, &last, NULL};
    struct tv_rewrite_result result;
    struct tv_classfile again;
    if (!tv_rewrite_class(data, size, &plan, &result) || result.bytes == NULL)
        return 0;
    if (!tv_classfile_read(&again, result.bytes, result.length))
        abort();
    tv_classfile_release(&again);
    free(result.bytes);
    return 0;
}
