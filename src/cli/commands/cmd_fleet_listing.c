/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cmd_fleet_listing.c - the files of a fleet's folder at one moment.
 *
 * Other programs add, join and remove batches meanwhile, and a directory that changes while it is
 * read may show neither the old nor the new file.  So the directories that decide what counts are
 * read twice, those of the sums first and last:
 *
 *     rollup   trace   all other tables   trace   rollup
 *
 * If both readings are equal, nothing was published or removed between them: each batch is listed
 * with all of its files, and each trace is in a batch or in a rollup.  Otherwise all is read again.
 */
#include <assert.h>
#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/memory.h"
#include "cli/commands/cmd_fleet.h"

#define SUFFIX ".parquet"
#define MAX_READINGS 1000

static int listing_compare(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static void listing_clear(struct tv_words *names)
{
    for (size_t i = 0; i < names->count; i++)
        tv_free((void *)(uintptr_t)names->items[i]);
    tv_free(names->items);
    *names = (struct tv_words){0};
}

enum tv_status tv_fleet_visit_files(const char *to, enum tv_fleet_table table,
                                    void (*visit)(void *context, const char *name), void *context,
                                    struct tv_error *err)
{
    char path[PATH_MAX];
    snprintf(path, sizeof path, "%s/%s", to, tv_fleet_table_name(table));
    DIR *files = opendir(path);
    int reason = files || errno == ENOENT ? 0 : errno;
    const struct dirent *file;
    while (files && (errno = 0, file = readdir(files)))
        visit(context, file->d_name);
    if (files) {
        reason = errno;
        closedir(files);
    }
    return reason == 0
               ? TV_OK
               : tv_fail(err, TV_ERR_IO, TV_NO_OFFSET,
                         "%s: cannot be listed: %s: make it readable and run this again; no trace "
                         "is lost or counts twice",
                         path, strerror(reason));
}

static void listing_take_name(void *context, const char *file)
{
    if (file[0] == '.' || !tv_text_ends_with(file, SUFFIX))
        return;
    size_t length = strlen(file) - strlen(SUFFIX);
    char *name = tv_alloc(length + 1, 1);
    memcpy(name, file, length);
    tv_words_add(context, name);
}

/* Read the names of a table, without their suffix, in ascending order. */
static enum tv_status listing_read(const char *to, enum tv_fleet_table table,
                                   struct tv_words *names, struct tv_error *err)
{
    listing_clear(names);
    enum tv_status status = tv_fleet_visit_files(to, table, listing_take_name, names, err);
    if (names->count > 0)
        qsort(names->items, names->count, sizeof *names->items, listing_compare);
    return status;
}

static bool listing_has_equal_names(const struct tv_words *a, const struct tv_words *b)
{
    if (a->count != b->count)
        return false;
    for (size_t i = 0; i < a->count; i++)
        if (strcmp(a->items[i], b->items[i]) != 0)
            return false;
    return true;
}

/* Read a table again; unless its names are the same, the listing is not steady. */
static enum tv_status listing_read_again(struct tv_fleet_listing *listing, const char *to,
                                         enum tv_fleet_table table, struct tv_error *err)
{
    struct tv_words again = {0};
    enum tv_status status = listing_read(to, table, &again, err);
    listing->is_steady =
        listing->is_steady && listing_has_equal_names(&again, &listing->names[table]);
    listing_clear(&again);
    return status;
}

enum tv_status tv_fleet_listing_read(struct tv_fleet_listing *listing, const char *to,
                                     struct tv_error *err)
{
    static const enum tv_fleet_table order[] = {
        TV_FLEET_ROLLUP, TV_FLEET_TRACE,  TV_FLEET_METHOD_NAME, TV_FLEET_METHOD, TV_FLEET_PATH,
        TV_FLEET_THREAD, TV_FLEET_SAMPLE, TV_FLEET_FINDING,     TV_FLEET_FRAME,  TV_FLEET_SLICE};
    enum tv_status status = TV_OK;
    static_assert(TV_COUNT(order) == TV_FLEET_FOLDERS, "each table is read");
    listing->is_steady = false;
    for (int i = 0; i < MAX_READINGS && status == TV_OK && !listing->is_steady; i++) {
        for (size_t k = 0; k < TV_COUNT(order) && status == TV_OK; k++)
            status = listing_read(to, order[k], &listing->names[order[k]], err);
        listing->is_steady = true;
        if (status == TV_OK)
            status = listing_read_again(listing, to, TV_FLEET_TRACE, err);
        if (status == TV_OK)
            status = listing_read_again(listing, to, TV_FLEET_ROLLUP, err);
    }
    return status;
}

enum tv_status tv_fleet_listing_refuse_unsteady(const struct tv_fleet_listing *listing,
                                                const char *to, struct tv_error *err)
{
    if (listing->is_steady)
        return TV_OK;
    return tv_fail(
        err, TV_ERR_IO, TV_NO_OFFSET,
        "%s: other programs changed its files during each of %d readings: run this again "
        "when they are done; no trace is lost or counts twice",
        to, MAX_READINGS);
}

void tv_fleet_listing_release(struct tv_fleet_listing *listing)
{
    for (int i = 0; i < TV_FLEET_FOLDERS; i++)
        listing_clear(&listing->names[i]);
}

bool tv_fleet_listing_is_equal(const struct tv_fleet_listing *a, const struct tv_fleet_listing *b)
{
    return listing_has_equal_names(&a->names[TV_FLEET_TRACE], &b->names[TV_FLEET_TRACE]) &&
           listing_has_equal_names(&a->names[TV_FLEET_ROLLUP], &b->names[TV_FLEET_ROLLUP]);
}

bool tv_fleet_listing_has(const struct tv_fleet_listing *listing, enum tv_fleet_table table,
                          const char *name)
{
    const struct tv_words *names = &listing->names[table];
    return names->count > 0 && bsearch(&name, names->items, names->count, sizeof *names->items,
                                       listing_compare) != NULL;
}

bool tv_fleet_listing_has_batch(const struct tv_fleet_listing *listing, enum tv_fleet_table table,
                                uint64_t batch)
{
    char name[sizeof "0123456789abcdef"];
    snprintf(name, sizeof name, "%016" PRIx64, batch);
    return tv_fleet_listing_has(listing, table, name);
}
