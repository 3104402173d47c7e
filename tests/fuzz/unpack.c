/* SPDX-License-Identifier: Apache-2.0 */
/* A container from anywhere, with a low ceiling: unpacked at once, and while it is read. */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include "base/bytes.h"
#include "unpack/unpack.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static bool is_wanted(void *context, struct tv_bytes head)
{
    (void)context;
    return head.length > 0;
}

struct unpacked {
    enum tv_status status;
    size_t count;
    uint64_t bytes;
    bool cut_off;
};

static struct unpacked unpack(const uint8_t *data, size_t size, bool as_it_comes)
{
    struct tv_unpack_question question = {
        .wanted = is_wanted,
        .ceiling = 1 << 20,
        .as_it_comes = as_it_comes,
    };
    struct tv_unpacked members[TV_UNPACK_MEMBERS];
    struct tv_source *packed = tv_source_from_memory((struct tv_bytes){data, size}, "fuzz");
    struct tv_error err = {0};
    struct unpacked all = {0};
    all.status = tv_unpack(packed, &question, members, &all.count, &all.cut_off, &err);
    tv_source_free(packed);
    for (size_t i = 0; all.status == TV_OK && i < all.count; i++)
        all.bytes += tv_source_size(members[i].source);
    for (size_t i = 0; i < all.count; i++) {
        if (all.status == TV_OK)
            all.status = tv_source_check(members[i].source, &err);
        all.cut_off |= tv_source_is_cut(members[i].source);
        tv_source_free(members[i].source);
    }
    return all;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct unpacked at_once = unpack(data, size, false);
    struct unpacked as_it_came = unpack(data, size, true);
    if (at_once.status != as_it_came.status)
        abort();
    if (at_once.status == TV_OK &&
        (at_once.count != as_it_came.count || at_once.bytes != as_it_came.bytes ||
         at_once.cut_off != as_it_came.cut_off))
        abort();
    return 0;
}
