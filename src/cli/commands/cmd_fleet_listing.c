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
#include <dirent.h>
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

/* Read the names of a table, without their suffix, in ascending order. */
static void listing_read(const char *to, enum tv_fleet_table table, struct tv_words *names)
{
    char path[PATH_MAX];
    snprintf(path, sizeof path, "%s/%s", to, tv_fleet_table_name(table));
    DIR *files = opendir(path);
    const struct dirent *file;
    listing_clear(names);
    while (files && (file = readdir(files))) {
        if (file->d_name[0] == '.' || !tv_text_ends_with(file->d_name, SUFFIX))
            continue;
        size_t length = strlen(file->d_name) - strlen(SUFFIX);
        char *name = tv_alloc(length + 1, 1);
        memcpy(name, file->d_name, length);
        tv_words_add(names, name);
    }
    if (files)
        closedir(files);
    if (names->count > 0)
        qsort(names->items, names->count, sizeof *names->items, listing_compare);
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

/* Read a table again; tell if its names are the same. */
static bool listing_is_steady(const char *to, enum tv_fleet_table table,
                              const struct tv_fleet_listing *listing)
{
    struct tv_words again = {0};
    listing_read(to, table, &again);
    bool equal = listing_has_equal_names(&again, &listing->names[table]);
    listing_clear(&again);
    return equal;
}

void tv_fleet_listing_read(struct tv_fleet_listing *listing, const char *to)
{
    bool steady = false;
    for (int i = 0; i < MAX_READINGS && !steady; i++) {
        listing_read(to, TV_FLEET_ROLLUP, &listing->names[TV_FLEET_ROLLUP]);
        listing_read(to, TV_FLEET_TRACE, &listing->names[TV_FLEET_TRACE]);
        for (int table = 0; table < TV_FLEET_TRACE; table++)
            listing_read(to, (enum tv_fleet_table)table, &listing->names[table]);
        steady = listing_is_steady(to, TV_FLEET_TRACE, listing) &&
                 listing_is_steady(to, TV_FLEET_ROLLUP, listing);
    }
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
