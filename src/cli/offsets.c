/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/offsets.h"

#include <string.h>

#include "base/bytes.h"
#include "base/memory.h"
#include "base/number.h"
#include "model/head.h"

#define MS_NS INT64_C(1000000)

static struct tv_bytes offset_file_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return tv_bytes_of(slash ? slash + 1 : path);
}

/* "a=b.trace=12ms": a file's name may hold the sign, a time does not. */
static bool offset_split(const char *word, struct tv_bytes *name, struct tv_bytes *time)
{
    const char *equals = strrchr(word, '=');
    if (!equals || equals == word)
        return false;
    *name = (struct tv_bytes){(const uint8_t *)word, (size_t)(equals - word)};
    *time = tv_bytes_of(equals + 1);
    return true;
}

/* How many files the name means; *found is the last of them. */
static size_t offset_find_file(struct tv_bytes name, const char *const *files, size_t count, size_t *found)
{
    size_t fits = 0;
    for (size_t i = 0; i < count; i++) {
        if (tv_bytes_equal(tv_bytes_of(files[i]), name)) {
            *found = i;
            return 1;
        }
    }
    for (size_t i = 0; i < count; i++) {
        if (!tv_bytes_equal(offset_file_name(files[i]), name))
            continue;
        *found = i;
        fits++;
    }
    return fits;
}

static enum tv_status offset_parse(const char *word, const char *const *files, size_t count,
                                size_t *file, tv_ns *offset, struct tv_error *err)
{
    struct tv_bytes name, time;
    if (!offset_split(word, &name, &time) || !tv_parse_time(time, MS_NS, offset))
        return tv_fail(err, TV_ERR_USAGE, TV_NO_OFFSET,
                       "--offset: expected FILE=TIME such as b.trace=12ms, found '%s'", word);
    if (*offset > TV_MOVE_MAX || *offset < -TV_MOVE_MAX)
        return tv_fail(err, TV_ERR_USAGE, TV_NO_OFFSET, "--offset: '%s' is more than 73 years",
                       word);
    size_t fits = offset_find_file(name, files, count, file);
    if (fits == 1)
        return TV_OK;
    return tv_fail(err, TV_ERR_USAGE, TV_NO_OFFSET, "--offset: %s called '%.*s'",
                   fits == 0 ? "none of the files is" : "several files are", (int)name.length,
                   (const char *)name.data);
}

enum tv_status tv_offsets_find(const struct tv_words *words, const char *const *files, size_t count,
                               tv_ns **offsets, struct tv_error *err)
{
    enum tv_status status = TV_OK;
    tv_ns *made = tv_alloc(count, sizeof *made);
    bool *said = tv_alloc(count, sizeof *said);
    for (size_t i = 0; i < words->count && status == TV_OK; i++) {
        tv_ns offset;
        size_t file = 0;
        status = offset_parse(words->items[i], files, count, &file, &offset, err);
        if (status == TV_OK && said[file])
            status = tv_fail(err, TV_ERR_USAGE, TV_NO_OFFSET, "--offset: '%s' has one already",
                             files[file]);
        if (status != TV_OK)
            break;
        said[file] = true;
        made[file] = offset;
    }
    tv_free(said);
    if (status == TV_OK)
        *offsets = made;
    else
        tv_free(made);
    return status;
}

bool tv_offsets_move(const tv_ns *offsets, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (offsets[i] != 0)
            return true;
    return false;
}
