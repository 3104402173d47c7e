/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cmd_fleet_folder.c - `compact`, `expire`, `migrate` and `check` of a fleet's folder, whose files
 * cmd_fleet_files.c describes.
 *
 * `compact` writes batches of a month as one, and then removes them, the file of traces first.
 * Until then the traces are there twice, and the views take each from one batch; killed anywhere,
 * it leaves the same answers and files that do not count.  Such files, and batches all of whose
 * traces are in another one, are removed when they are a day old: a writer may still be at them.
 *
 * `expire` publishes a rollup, with sums over old traces of a batch and the list of these traces.
 * From that moment on the sums count and the traces do not (cmd_fleet_expire.c).
 *
 * Several of these programs may run at a time, and none waits for another:
 *
 *     - a batch is removed only after a new one is complete that has all of its traces, but for
 *       expired ones.  So each trace stays in some batch, in whatever order others join and remove;
 *     - the number of a new batch is random: no other program writes or removes its files;
 *     - a program that misses a file lists the folder again, and goes on with what is there.
 */
#include "cli/commands/cmd_fleet.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/bytes.h"
#include "base/map.h"
#include "base/memory.h"
#include "base/random.h"
#include "cli/commands/cmd_fleet_folder.h"
#include "cli/output/message.h"
#include "cli/output/output.h"
#include "sql/values.h"

#define LARGEST_BATCH ((uint64_t)256 << 20) /* bytes of a batch that `compact` makes */
#define DAY (24 * 60 * 60)

/* ---- What the folder has ---- */

/* Add a batch with the size of its files. */
static void fleet_add_entry(struct fleet_folder *folder, struct fleet_entry entry)
{
    for (int i = 0; i < TV_FLEET_TABLES; i++) {
        char path[PATH_MAX];
        struct stat info;
        tv_fleet_put_path(path, folder->to, (enum tv_fleet_table)i, entry.batch, ".parquet");
        entry.bytes += stat(path, &info) == 0 ? (uint64_t)info.st_size : 0;
    }
    tv_map_set(&folder->index, entry.batch, (uint32_t)folder->count);
    folder->entries = tv_array_reserve(folder->entries, &folder->room, folder->count + 1,
                                       sizeof *folder->entries);
    folder->entries[folder->count++] = entry;
}

static enum tv_status fleet_take_entry(void *context, const struct tv_sql_value *values,
                                       struct tv_error *err)
{
    (void)err;
    fleet_add_entry(context, (struct fleet_entry){.batch = tv_fleet_value_key(&values[0]),
                                                  .month = values[1].integer,
                                                  .oldest = values[2].integer,
                                                  .newest = values[3].integer,
                                                  .traces = tv_fleet_value_key(&values[4])});
    return TV_OK;
}

/* The batches whose traces count, in the order of months. */
static const char fleet_counting[] =
    "select batch, min(12 * year(make_timestamp(began)) + month(make_timestamp(began))) as month, "
    "min(began), max(began), count(*) from (select batch, coalesce(recorded, added) as began "
    "from stored_trace) group by batch order by month, batch";

enum tv_status tv_fleet_list_batches(struct fleet_folder *folder, const char *query,
                                     struct tv_error *err)
{
    folder->count = 0;
    tv_map_release(&folder->index);
    tv_map_init(&folder->index);
    return tv_sql_for_each_row(folder->store.sql, query, 5, fleet_take_entry, folder, err);
}

void tv_fleet_release_folder(struct fleet_folder *folder, int *code)
{
    tv_fleet_close(&folder->store, code);
    tv_map_release(&folder->index);
    tv_free(folder->entries);
    tv_free(folder->ids);
    tv_out_release(&folder->readable);
}

/* Read the number of a batch out of a file's name; false: the file is not of a batch, or it is the
 * one without rows.  A temporary name (atomic_file.c) is of batch 0, which never counts. */
static bool fleet_read_batch(const char *name, uint64_t *batch)
{
    *batch = tv_fleet_batch_of_name(name, ".parquet");
    if (*batch == 0)
        *batch = tv_fleet_batch_of_name(name, ".ids");
    return *batch != 0 || tv_text_starts_with(name, ".traceview-");
}

/* A walk through the files of batches of a table. */
struct fleet_walk {
    struct fleet_folder *folder;
    enum tv_fleet_table table;
    void (*visit)(struct fleet_folder *folder, const char *path, uint64_t batch);
};

static void fleet_take_file(void *context, const char *name)
{
    const struct fleet_walk *walk = context;
    char path[PATH_MAX];
    uint64_t batch;
    if (!fleet_read_batch(name, &batch))
        return;
    snprintf(path, sizeof path, "%s/%s/%.64s", walk->folder->to, tv_fleet_table_name(walk->table),
             name);
    walk->visit(walk->folder, path, batch);
}

/* Call a function with the path and the batch of each file of a table. */
static enum tv_status fleet_walk_files(struct fleet_folder *folder, enum tv_fleet_table table,
                                       void (*visit)(struct fleet_folder *folder, const char *path,
                                                     uint64_t batch),
                                       struct tv_error *err)
{
    struct fleet_walk walk = {folder, table, visit};
    return tv_fleet_visit_files(folder->to, table, fleet_take_file, &walk, err);
}

static void fleet_add_lost(void *context, uint64_t batch)
{
    fleet_add_entry(context, (struct fleet_entry){.batch = batch, .is_lost = true});
}

static void fleet_visit_batch(struct fleet_folder *folder, const char *path, uint64_t batch)
{
    if (tv_text_ends_with(path, ".parquet"))
        fleet_add_entry(folder, (struct fleet_entry){.batch = batch});
}

enum tv_status tv_fleet_remove_file(const char *path, struct tv_error *err)
{
    if (unlink(path) == 0 || errno == ENOENT)
        return TV_OK;
    return tv_fail(err, TV_ERR_IO, TV_NO_OFFSET,
                   "%s: cannot be removed: %s: make its folder writable and run this again; no "
                   "trace is lost or counts twice",
                   path, strerror(errno));
}

/* Count a file that does not count; remove it if it is old. */
static void fleet_visit_file(struct fleet_folder *folder, const char *path, uint64_t batch)
{
    struct stat info;
    struct tv_error err = {0};
    if (tv_map_find(&folder->index, batch) != TV_NONE)
        return;
    folder->left_files++;
    if (!folder->removes || stat(path, &info) != 0 || folder->now - info.st_mtime <= DAY)
        return;
    enum tv_status status = tv_fleet_remove_file(path, &err);
    if (status == TV_OK) {
        folder->removed_files++;
    } else if (folder->removing == TV_OK) {
        folder->removing = status;
        folder->reason = err;
    }
}

/* Rollups count for ever; only what a killed program left does not. */
static void fleet_visit_rollup(struct fleet_folder *folder, const char *path, uint64_t batch)
{
    if (batch == 0)
        fleet_visit_file(folder, path, batch);
}

/* Look for files that do not count, those of traces first: without them the others do not. */
static enum tv_status fleet_look_at_files(struct fleet_folder *folder, struct tv_error *err)
{
    enum tv_status status = TV_OK;
    for (int i = TV_FLEET_TABLES - 1; i >= 0 && status == TV_OK; i--)
        status = fleet_walk_files(folder, (enum tv_fleet_table)i, fleet_visit_file, err);
    return status == TV_OK ? fleet_walk_files(folder, TV_FLEET_ROLLUP, fleet_visit_rollup, err)
                           : status;
}

enum tv_status tv_fleet_open_complete(struct tv_fleet_store *store,
                                      const struct tv_settings *settings, struct tv_error *err)
{
    *store = (struct tv_fleet_store){.settings = settings};
    enum tv_status status = tv_fleet_add_tables(settings->fleet.to, err);
    return status == TV_OK ? tv_fleet_open(store, settings, err) : status;
}

/* ---- compact ---- */

struct fleet_joining {
    struct fleet_folder *folder;
    struct tv_fleet_merge merge;
};

static enum tv_status fleet_take_id(void *context, const struct tv_sql_value *values,
                                    struct tv_error *err)
{
    struct fleet_folder *folder = context;
    (void)err;
    folder->ids =
        tv_array_reserve(folder->ids, &folder->id_room, folder->id_count + 1, sizeof *folder->ids);
    folder->ids[folder->id_count++] = tv_fleet_value_key(&values[0]);
    if (values[1].integer)
        tv_fleet_write_ids(&folder->ids[folder->id_count - 1], 1, &folder->readable);
    return TV_OK;
}

enum tv_status tv_fleet_list_traces(struct fleet_folder *folder, const char *query,
                                    struct tv_error *err)
{
    folder->id_count = 0;
    folder->readable.length = 0;
    return tv_sql_for_each_row(folder->store.sql, query, 2, fleet_take_id, folder, err);
}

static enum tv_status fleet_put_merged(void *context, enum tv_fleet_table table, struct tv_out *out,
                                       struct tv_error *err)
{
    struct fleet_joining *joining = context;
    return tv_fleet_merge_write(joining->folder->store.sql, &joining->merge, table, out, err);
}

enum tv_status tv_fleet_remove_old_rollup(const char *to, uint64_t batch, struct tv_error *err)
{
    static const char *const suffixes[] = {".parquet", ".ids"};
    char path[PATH_MAX];
    struct stat info;
    enum tv_status status = TV_OK;
    tv_fleet_put_path(path, to, TV_FLEET_TRACE, batch, ".parquet");
    if (stat(path, &info) != 0)
        return TV_OK;
    for (size_t i = 0; i < TV_COUNT(suffixes) && status == TV_OK; i++) {
        tv_fleet_put_path(path, to, TV_FLEET_ROLLUP, batch, suffixes[i]);
        status = tv_fleet_remove_file(path, err);
    }
    return status;
}

/* Remove the files of a batch, that of the traces first: if it stays, all others do.  If it is
 * there again, another program has just added the same traces, and the batch stays. */
static enum tv_status fleet_remove_batch(const char *to, uint64_t batch, struct tv_error *err)
{
    char path[PATH_MAX], traces[PATH_MAX];
    struct stat info;
    enum tv_status status = tv_fleet_remove_old_rollup(to, batch, err);
    tv_fleet_put_path(traces, to, TV_FLEET_TRACE, batch, ".parquet");
    if (status == TV_OK)
        status = tv_fleet_remove_file(traces, err);
    for (int i = TV_FLEET_TRACE - 1; i >= 0 && status == TV_OK; i--) {
        if (stat(traces, &info) == 0)
            return TV_OK;
        tv_fleet_put_path(path, to, (enum tv_fleet_table)i, batch, ".parquet");
        status = tv_fleet_remove_file(path, err);
    }
    tv_fleet_put_path(path, to, TV_FLEET_TRACE, batch, ".ids");
    return status == TV_OK ? tv_fleet_remove_file(path, err) : status;
}

/* Set the batches of a merge that have a file of each table, as they were listed, and return a bit
 * for each table of which none has one.  `room` is for merge->count numbers a table. */
static unsigned fleet_find_files(const struct fleet_folder *folder, struct tv_fleet_merge *merge,
                                 uint64_t *room)
{
    unsigned missing = 0;
    for (int i = 0; i < TV_FLEET_TABLES; i++, room += merge->count) {
        enum tv_fleet_table table = (enum tv_fleet_table)i;
        size_t count = 0;
        for (size_t k = 0; k < merge->count; k++)
            if (!tv_fleet_is_detail(table) ||
                tv_fleet_listing_has_batch(&folder->store.listing, table, merge->batches[k]))
                room[count++] = merge->batches[k];
        merge->with[i] = room;
        merge->with_count[i] = count;
        missing |= count > 0 ? 0 : 1u << i;
    }
    return missing;
}

/* Choose the number of a new batch. */
static enum tv_status fleet_choose_number(uint64_t *number, struct tv_error *err)
{
    char digits[sizeof "0123456789abcdef"];
    enum tv_status status = tv_random_hex(digits, 16, err);
    *number = status == TV_OK ? strtoull(digits, NULL, 16) | 1 : 0;
    return status;
}

/* Write the traces of a merge as one batch, if any has not expired. */
static enum tv_status fleet_write_merged(struct fleet_folder *folder, struct tv_fleet_merge *merge,
                                         struct tv_error *err)
{
    struct tv_out query;
    uint64_t *room = tv_alloc(tv_size_mul(merge->count, TV_FLEET_TABLES), sizeof *room);
    unsigned missing = fleet_find_files(folder, merge, room);
    tv_out_init_memory(&query);
    tv_fleet_ask_traces(&query, merge);
    enum tv_status status = tv_fleet_list_traces(folder, tv_sql_end(&query), err);
    tv_out_release(&query);
    if (status == TV_OK)
        status = fleet_choose_number(&merge->number, err);
    struct fleet_joining joining = {folder, *merge};
    struct tv_fleet_contents contents = {merge->number, &folder->readable, fleet_put_merged,
                                         &joining, missing};
    if (status == TV_OK && folder->id_count > 0)
        status = tv_fleet_write_files(folder->to, &contents, err);
    tv_free(room);
    return status;
}

enum tv_status tv_fleet_replace_batches(struct fleet_folder *folder,
                                        const struct fleet_entry *entries, size_t count,
                                        struct tv_error *err)
{
    uint64_t *batches = tv_alloc(count, sizeof *batches);
    struct tv_fleet_merge merge = {.batches = batches, .count = count};
    for (size_t i = 0; i < count; i++)
        batches[i] = entries[i].batch;
    enum tv_status status =
        tv_fleet_listing_refuse_unsteady(&folder->store.listing, folder->to, err);
    if (status == TV_OK)
        status = fleet_write_merged(folder, &merge, err);
    for (size_t i = 0; i < count && status == TV_OK; i++)
        status = fleet_remove_batch(folder->to, batches[i], err);
    tv_free(batches);
    return status;
}

/* Return the number of entries from the first on that become one batch: of its month, and together
 * not larger than LARGEST_BATCH. */
static size_t fleet_choose(const struct fleet_entry *entries, size_t count)
{
    uint64_t bytes = entries[0].bytes;
    size_t chosen = 1;
    while (chosen < count && entries[chosen].month == entries[0].month &&
           bytes + entries[chosen].bytes <= LARGEST_BATCH)
        bytes += entries[chosen++].bytes;
    return chosen;
}

static uint64_t fleet_sum_bytes(const struct fleet_entry *entries, size_t count)
{
    uint64_t bytes = 0;
    for (size_t i = 0; i < count; i++)
        bytes += entries[i].bytes;
    return bytes;
}

/* Counts of `compact`. */
struct fleet_compacted {
    size_t joined, made;
};

/* Join batches; an error may have been caused by a damaged file (tv_fleet_recover). */
static enum tv_status fleet_join(struct fleet_folder *folder, struct fleet_compacted *counts,
                                 struct tv_error *err)
{
    struct tv_progress *progress = &folder->store.progress;
    enum tv_status status = tv_fleet_write_lists(folder, err);
    if (status == TV_OK)
        status = tv_fleet_list_batches(folder, fleet_counting, err);
    atomic_store(&progress->work, "joining");
    atomic_store(&progress->bytes, 0);
    atomic_store(&progress->total_bytes, fleet_sum_bytes(folder->entries, folder->count));
    for (size_t i = 0, count; i < folder->count && status == TV_OK; i += count) {
        count = fleet_choose(folder->entries + i, folder->count - i);
        if (count >= 2) {
            status = tv_fleet_replace_batches(folder, folder->entries + i, count, err);
            counts->joined += status == TV_OK ? count : 0;
            counts->made += status == TV_OK;
        }
        atomic_fetch_add(&progress->bytes, fleet_sum_bytes(folder->entries + i, count));
    }
    return status;
}

/* Keep the files of batches that are damaged: the user may have a copy of the one that is. */
static void fleet_keep_damaged(struct fleet_folder *folder)
{
    uint64_t batch;
    for (size_t i = 0; i < folder->store.damaged.count; i++)
        if (fleet_read_batch(folder->store.damaged.items[i], &batch))
            tv_map_set(&folder->index, batch, 0);
}

/* Remove what `expire` left of its traces because they were being joined; then list what counts. */
static enum tv_status fleet_clean_joined(struct fleet_folder *folder, struct tv_error *err)
{
    struct tv_fleet_listing listing = {0};
    enum tv_status status = tv_fleet_listing_read(&listing, folder->to, err);
    bool is_rolled_up = listing.names[TV_FLEET_ROLLUP].count > 0;
    tv_fleet_listing_release(&listing);
    if (status != TV_OK || !is_rolled_up)
        return status;
    status = tv_fleet_remove_expired(folder, err);
    if (status == TV_OK)
        status = tv_fleet_reopen(&folder->store, err);
    return status == TV_OK ? tv_fleet_list_batches(folder, fleet_counting, err) : status;
}

enum tv_status tv_fleet_compact(const struct tv_command *command,
                                const struct tv_settings *settings, int *code, struct tv_error *err)
{
    (void)command;
    struct fleet_folder folder = {.to = settings->fleet.to};
    struct fleet_compacted counts = {0};
    tv_map_init(&folder.index);
    enum tv_status status = tv_fleet_open_complete(&folder.store, settings, err);
    for (bool joins = status == TV_OK; joins;) {
        status = fleet_join(&folder, &counts, err);
        if (status == TV_OK)
            status = fleet_clean_joined(&folder, err);
        joins = status != TV_OK && tv_fleet_recover(&folder.store, err);
    }
    if (status == TV_OK)
        status = tv_fleet_listing_refuse_unsteady(&folder.store.listing, folder.to, err);
    if (status == TV_OK) {
        /* Files that were written now are not in the index, and are not old. */
        folder.removes = true;
        folder.now = tv_fleet_read_disk_clock(folder.to, "trace");
        fleet_keep_damaged(&folder);
        status = fleet_look_at_files(&folder, err);
        tv_fleet_stop_meter(&folder.store);
        if (!settings->quiet)
            tv_message("traceview: %zu batches joined to %zu, %" PRIu64 " unused files removed",
                       counts.joined, counts.made, folder.removed_files);
        if (status == TV_OK && folder.removing != TV_OK) {
            status = folder.removing;
            *err = folder.reason;
        }
    }
    tv_fleet_release_folder(&folder, code);
    return status;
}

/* ---- migrate ---- */

enum tv_status tv_fleet_refuse_damage(const struct fleet_folder *folder, struct tv_error *err)
{
    if (folder->store.damaged.count == 0)
        return TV_OK;
    return tv_fail(err, TV_ERR_UNSUPPORTED, TV_NO_OFFSET,
                   "%s has damaged files: restore or remove them first (traceview fleet check)",
                   folder->to);
}

/* Count the files of a batch that lack columns of this version. */
static enum tv_status fleet_count_older(struct fleet_folder *folder, uint64_t batch, size_t *older,
                                        struct tv_error *err)
{
    enum tv_status status = TV_OK;
    for (int i = 0; i < TV_FLEET_TABLES && status == TV_OK; i++) {
        enum tv_fleet_table table = (enum tv_fleet_table)i;
        uint64_t columns;
        struct tv_out query;
        if (tv_fleet_is_detail(table) &&
            !tv_fleet_listing_has_batch(&folder->store.listing, table, batch))
            continue;
        tv_out_init_memory(&query);
        tv_fleet_ask_columns(&query, table, batch);
        status = tv_fleet_read_number(folder->store.sql, tv_sql_end(&query), &columns, err);
        tv_out_release(&query);
        *older += status == TV_OK && columns < tv_fleet_column_count(table);
    }
    return status;
}

/* Write the batches with such files anew, as `compact` would. */
static enum tv_status fleet_write_older(struct fleet_folder *folder, size_t *written,
                                        struct tv_error *err)
{
    enum tv_status status = tv_fleet_refuse_damage(folder, err);
    if (status == TV_OK)
        status = tv_fleet_write_lists(folder, err);
    if (status == TV_OK)
        status = tv_fleet_list_batches(folder, fleet_counting, err);
    for (size_t i = 0; i < folder->count && status == TV_OK; i++) {
        size_t older = 0;
        status = fleet_count_older(folder, folder->entries[i].batch, &older, err);
        if (status == TV_OK && older > 0)
            status = tv_fleet_replace_batches(folder, &folder->entries[i], 1, err);
        *written += status == TV_OK ? older : 0;
    }
    return status;
}

enum tv_status tv_fleet_migrate(const struct tv_command *command,
                                const struct tv_settings *settings, int *code, struct tv_error *err)
{
    (void)command;
    struct fleet_folder folder = {.to = settings->fleet.to};
    size_t written = 0;
    tv_map_init(&folder.index);
    enum tv_status status = tv_fleet_open(&folder.store, settings, err);
    for (bool writes = status == TV_OK; writes;) {
        status = fleet_write_older(&folder, &written, err);
        writes = status != TV_OK && tv_fleet_recover(&folder.store, err);
    }
    tv_fleet_stop_meter(&folder.store);
    if (status == TV_OK && !settings->quiet)
        tv_message("traceview: %zu %s of %zu %s written anew", written,
                   tv_plural(written, "file", "files"), folder.count,
                   tv_plural(folder.count, "batch", "batches"));
    tv_fleet_release_folder(&folder, code);
    return status;
}

/* ---- check ---- */

/* Faults of a batch, in the order of tv_fleet_ask_faults, and its traces. */
struct fleet_faults {
    uint64_t counts[TV_FLEET_FAULTS], traces;
};

static enum tv_status fleet_take_faults(void *context, const struct tv_sql_value *values,
                                        struct tv_error *err)
{
    struct fleet_faults *faults = context;
    (void)err;
    for (size_t i = 0; i < TV_FLEET_FAULTS; i++)
        faults->counts[i] = tv_fleet_value_key(&values[i]);
    faults->traces = tv_fleet_value_key(&values[TV_FLEET_FAULTS]);
    return TV_OK;
}

/* Write a line for each detail table with rows of no trace of the batch; tell if there is one. */
static bool fleet_check_details(const struct fleet_folder *folder, uint64_t batch,
                                struct tv_out *out)
{
    bool is_faulty = false;
    for (int i = TV_FLEET_THREAD; i < TV_FLEET_TRACE; i++) {
        enum tv_fleet_table table = (enum tv_fleet_table)i;
        struct tv_error ignored = {0}; /* tv_fleet_ask_faults fails, too */
        struct tv_out query;
        uint64_t count;
        if (!tv_fleet_has_file(folder->to, table, batch))
            continue;
        tv_out_init_memory(&query);
        tv_fleet_ask_strangers(&query, table, batch);
        if (tv_fleet_read_number(folder->store.sql, tv_sql_end(&query), &count, &ignored) ==
                TV_OK &&
            count > 0) {
            tv_out_format(out,
                          "%016" PRIx64 ": %" PRIu64 " rows of %s are of no trace of the batch\n",
                          batch, count, tv_fleet_table_name(table));
            is_faulty = true;
        }
        tv_out_release(&query);
    }
    return is_faulty;
}

/* Write a line for each fault of a batch, and add its traces; tell if there is any fault. */
static bool fleet_check_batch(const struct fleet_folder *folder, uint64_t batch, uint64_t *traces,
                              struct tv_out *out)
{
    static const char *const texts[TV_FLEET_FAULTS] = {
        "rows of method are of no trace of the batch", "rows of path are of no trace of the batch",
        "rows of method have no name", "traces have another number than their hash"};
    struct fleet_faults faults = {0};
    struct tv_error reason = {0};
    struct tv_out query;
    if (tv_fleet_check_files(folder->store.sql, folder->to, batch, out))
        return true;
    tv_out_init_memory(&query);
    tv_fleet_ask_faults(&query, batch);
    bool is_faulty = tv_sql_for_each_row(folder->store.sql, tv_sql_end(&query), TV_FLEET_FAULTS + 1,
                                         fleet_take_faults, &faults, &reason) != TV_OK;
    tv_out_release(&query);
    if (is_faulty)
        tv_out_format(out, "%016" PRIx64 ": %s\n", batch, reason.message);
    for (size_t i = 0; i < TV_FLEET_FAULTS; i++) {
        if (faults.counts[i] == 0)
            continue;
        tv_out_format(out, "%016" PRIx64 ": %" PRIu64 " %s\n", batch, faults.counts[i], texts[i]);
        is_faulty = true;
    }
    *traces += faults.traces;
    return fleet_check_details(folder, batch, out) || is_faulty;
}

/* Check a batch; one that another program has removed since it was listed has no faults. */
static bool fleet_check_entry(const struct fleet_folder *folder, const struct fleet_entry *entry,
                              uint64_t *traces, struct tv_out *out)
{
    char path[PATH_MAX];
    struct stat info;
    struct tv_out text;
    uint64_t count = 0;
    tv_out_init_memory(&text);
    bool is_faulty = fleet_check_batch(folder, entry->batch, &count, &text);
    tv_fleet_put_path(path, folder->to, TV_FLEET_TRACE, entry->batch, ".parquet");
    if (is_faulty && !entry->is_lost && stat(path, &info) != 0) {
        is_faulty = false;
    } else {
        tv_out_bytes(out, (struct tv_bytes){text.buffer, text.length});
        *traces += count;
    }
    tv_out_release(&text);
    return is_faulty;
}

/* Write the faults of all batches that were found, and what the folder has. */
static void fleet_write_report(const struct fleet_folder *folder, struct tv_out *out, int *code)
{
    uint64_t traces = 0, bytes = 0;
    for (size_t i = 0; i < folder->count; i++) {
        bytes += folder->entries[i].bytes;
        if (fleet_check_entry(folder, &folder->entries[i], &traces, out))
            *code = TV_EXIT_INPUT;
    }
    tv_out_format(
        out, "traces\t%" PRIu64 "\nbatches\t%zu\nbytes\t%" PRIu64 "\nunused files\t%" PRIu64 "\n",
        traces, folder->count, bytes, folder->left_files);
}

/* The views are not made: they fail when one file of many is damaged. */
enum tv_status tv_fleet_check(const struct tv_command *command, const struct tv_settings *settings,
                              int *code, struct tv_error *err)
{
    (void)command;
    struct fleet_folder folder = {.to = settings->fleet.to};
    struct tv_output output;
    tv_map_init(&folder.index);
    enum tv_status status = tv_fleet_open_bare(&folder.store, settings, err);
    if (status == TV_OK)
        status = tv_output_open(&output, settings->output, settings->quiet, err);
    if (status == TV_OK) {
        status = fleet_walk_files(&folder, TV_FLEET_TRACE, fleet_visit_batch, err);
        if (status == TV_OK)
            status = tv_fleet_find_lost(folder.to, fleet_add_lost, &folder, err);
        if (status == TV_OK)
            status = fleet_look_at_files(&folder, err);
        if (status == TV_OK)
            fleet_write_report(&folder, &output.out, code);
        status = tv_output_finish(&output, status, err);
    }
    tv_fleet_release_folder(&folder, code);
    return status;
}
