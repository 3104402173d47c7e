/* SPDX-License-Identifier: Apache-2.0 */
/* A container from anywhere, with a low ceiling. */
#include <stddef.h>
#include <stdint.h>

#include "base/bytes.h"
#include "unpack/unpack.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static bool is_wanted(void *context, struct tv_bytes head)
{
    (void)context;
    return head.length > 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct tv_unpack_question question = {is_wanted, NULL, 1 << 20, NULL};
    struct tv_unpacked members[TV_UNPACK_MEMBERS];
    struct tv_source *packed = tv_source_from_memory((struct tv_bytes){data, size}, "fuzz");
    struct tv_error err = {0};
    size_t count;
    bool cut_off;
    if (tv_unpack(packed, &question, members, &count, &cut_off, &err) == TV_OK) {
        while (count > 0)
            tv_source_free(members[--count].source);
    }
    tv_source_free(packed);
    return 0;
}
