/* SPDX-License-Identifier: Apache-2.0 */
/* A container from anywhere, with a low ceiling: unpacked at once; what is only packed, while it is
 * read; and so the first member of an archive as well. */
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

/* Reads the members to their ends and closes them. */
static void read_members(struct unpacked *all, const struct tv_unpacked *members, size_t count)
{
    struct tv_error err = {0};
    for (size_t i = 0; all->status == TV_OK && i < count; i++)
        all->bytes += tv_source_size(members[i].source);
    for (size_t i = 0; i < count; i++) {
        if (all->status == TV_OK)
            all->status = tv_source_check(members[i].source, &err);
        all->cut_off |= tv_source_is_truncated(members[i].source);
        tv_source_free(members[i].source);
    }
    all->count += count;
}

static struct unpacked unpack(const uint8_t *data, size_t size, bool as_it_comes, bool one_by_one)
{
    struct tv_archive_rest *rest = NULL;
    struct tv_unpack_question question = {
        .wanted = is_wanted,
        .ceiling = 1 << 20,
        .as_it_comes = as_it_comes,
        .rest = one_by_one ? &rest : NULL,
    };
    struct tv_unpacked members[TV_UNPACK_MEMBERS];
    struct tv_source *packed = tv_source_from_memory((struct tv_bytes){data, size}, "fuzz");
    struct tv_error err = {0};
    struct unpacked all = {0};
    size_t count;
    bool cut_off = false;
    all.status = tv_unpack(packed, &question, members, &count, &all.cut_off, &err);
    struct tv_source *open = rest ? tv_source_ref(packed) : NULL;
    tv_source_free(packed);
    read_members(&all, members, count);
    if (rest && all.status == TV_OK) {
        question.rest = NULL;
        all.status = tv_unpack_rest(rest, &question, members, &count, &cut_off, &err);
        read_members(&all, members, count);
        all.cut_off |= cut_off;
    } else {
        tv_archive_rest_free(rest);
    }
    tv_source_free(open);
    return all;
}

static void compare(const struct unpacked *at_once, const struct unpacked *as_it_came)
{
    if (at_once->status != as_it_came->status)
        abort();
    if (at_once->status == TV_OK &&
        (at_once->count != as_it_came->count || at_once->bytes != as_it_came->bytes ||
         at_once->cut_off != as_it_came->cut_off))
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct unpacked at_once = unpack(data, size, false, false);
    struct unpacked as_it_came = unpack(data, size, true, false);
    struct unpacked one_by_one = unpack(data, size, true, true);
    compare(&at_once, &as_it_came);
    compare(&at_once, &one_by_one);
    return 0;
}
