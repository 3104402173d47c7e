/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cmd_fleet_expire.c - `fleet expire`: sums in place of old traces (docs/fleet.md).
 *
 *     old traces of a batch --> rollup/NUMBER.parquet: sums, and the list of these traces
 *                               rollup/NUMBER.ids: the list for `add`
 *     batches with rows of listed traces --> written anew without them, and removed
 *
 * The file of the rollup is the switch: once it has its name, its sums count and its traces do not,
 * whatever batches `compact` has moved them to.  Their rows are removed afterwards, at any time and
 * by any program.
 *
 * Two programs that expire traces must not sum up one trace twice.  Rollups have the numbers hash
 * of (seed, 1), (seed, 2) and so on; a program takes the first that it has not listed, by making a
 * link that fails if the name is taken.  Then another program was faster, and the traces are listed
 * again.  The file rollup/seed is made in the same way; with it, folders that are copied together
 * have different numbers.
 *
 * An older version named rollups after their batches.  They have no list, and count when the batch
 * is gone (tv_fleet_views).
 */
#define _POSIX_C_SOURCE 200809L
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/bytes.h"
#include "base/file.h"
#include "base/memory.h"
#include "base/random.h"
#include "cli/commands/cmd_fleet_folder.h"
#include "cli/output/message.h"
#include "cli/output/output.h"

#define SEED_DIGITS 16
#define HIDDEN_DIGITS 16

/* The work of `expire`. */
struct expiry {
    struct fleet_folder *folder;
    int64_t edge;                   /* older traces expire; microseconds since 1970 */
    uint64_t seed;                  /* of the numbers of rollups */
    uint64_t step;                  /* the last number that is taken */
    uint64_t traces;                /* that expired */
    char hidden[HIDDEN_DIGITS + 1]; /* random digits of names that are not final */
};

/* ---- Names that one program gets ---- */

/* Make a new name last as a directory entry. */
static void expiry_sync_folder(const struct expiry *expiry)
{
    char path[PATH_MAX];
    snprintf(path, sizeof path, "%s/%s", expiry->folder->to, tv_fleet_table_name(TV_FLEET_ROLLUP));
    int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0)
        return;
    (void)fsync(fd); /* some file systems cannot */
    close(fd);
}

/* Give a file its final name, unless that is taken.  A file system without links may lose a race of
 * two programs, but no file. */
static enum tv_status expiry_publish(const struct expiry *expiry, const char *hidden,
                                     const char *name, bool *taken, struct tv_error *err)
{
    struct stat info;
    *taken = false;
    if (link(hidden, name) == 0) {
        (void)unlink(hidden);
        expiry_sync_folder(expiry);
        return TV_OK;
    }
    *taken = errno == EEXIST || stat(name, &info) == 0;
    if (!*taken && rename(hidden, name) == 0)
        return TV_OK;
    int reason = errno;
    (void)unlink(hidden);
    return *taken ? TV_OK : tv_fail(err, TV_ERR_IO, TV_NO_OFFSET, "%s: %s", name, strerror(reason));
}

/* Put the path of a file that has no final name yet.  Programs of several containers on one volume
 * may have the same process ID, and the random digits keep their files apart.  A file that a killed
 * program left is removed as others are. */
static void expiry_put_hidden(const struct expiry *expiry, char path[PATH_MAX])
{
    snprintf(path, PATH_MAX, "%s/%s/.traceview-%ld-%s-expire.tmp", expiry->folder->to,
             tv_fleet_table_name(TV_FLEET_ROLLUP), (long)getpid(), expiry->hidden);
}

/* Make the file rollup/seed, unless it is there, and read it. */
static enum tv_status expiry_read_seed(struct expiry *expiry, struct tv_error *err)
{
    char path[PATH_MAX], hidden[PATH_MAX], digits[SEED_DIGITS + 1], *text;
    struct stat info;
    struct tv_output output;
    size_t length;
    bool taken;
    enum tv_status status = TV_OK;
    snprintf(path, sizeof path, "%s/%s/seed", expiry->folder->to,
             tv_fleet_table_name(TV_FLEET_ROLLUP));
    expiry_put_hidden(expiry, hidden);
    if (stat(path, &info) != 0) {
        status = tv_random_hex(digits, SEED_DIGITS, err);
        if (status == TV_OK)
            status = tv_output_open(&output, hidden, true, err);
        if (status != TV_OK)
            return status;
        tv_out_text(&output.out, digits);
        status = tv_output_finish(&output, TV_OK, err);
        if (status == TV_OK)
            status = expiry_publish(expiry, hidden, path, &taken, err);
    }
    if (status == TV_OK)
        status = tv_file_read_text(path, PATH_MAX, &text, &length, err);
    if (status != TV_OK)
        return tv_error_prefix(err, "%s", path);
    expiry->seed = strtoull(text, NULL, 16);
    tv_free(text);
    return TV_OK;
}

/* Return the next number that is not listed. */
static uint64_t expiry_next_number(struct expiry *expiry)
{
    uint64_t number;
    do {
        const uint64_t parts[] = {expiry->seed, ++expiry->step};
        number = tv_fleet_number_of(parts, TV_COUNT(parts));
    } while (tv_fleet_listing_has_batch(&expiry->folder->store.listing, TV_FLEET_ROLLUP, number));
    return number;
}

/* ---- Rollups ---- */

/* Move the traces that a rollup of an older version has to the end of folder->ids; set *kept to the
 * number of those before them. */
static enum tv_status expiry_sort_known(struct fleet_folder *folder, size_t *kept,
                                        struct tv_error *err)
{
    struct tv_map known;
    *kept = 0;
    tv_map_init(&known);
    enum tv_status status = tv_fleet_read_known(folder->to, TV_FLEET_ROLLUP, &known, err);
    for (size_t i = 0; i < folder->id_count; i++) {
        uint64_t id = folder->ids[i];
        if (tv_map_find(&known, id) != TV_NONE)
            continue;
        folder->ids[i] = folder->ids[*kept];
        folder->ids[(*kept)++] = id;
    }
    tv_map_release(&known);
    return status;
}

/* Publish the rollup of the old traces of a batch; *taken: another program published one since the
 * listing. */
static enum tv_status expiry_roll_up(struct expiry *expiry, uint64_t batch, bool *taken,
                                     struct tv_error *err)
{
    char path[PATH_MAX], hidden[PATH_MAX];
    struct fleet_folder *folder = expiry->folder;
    struct tv_output output;
    struct tv_out query;
    struct tv_fleet_rollup rollup = {.batch = batch, .edge = expiry->edge};
    tv_out_init_memory(&query);
    tv_fleet_ask_old_traces(&query, &rollup);
    enum tv_status status = tv_fleet_list_traces(folder, tv_sql_end(&query), err);
    tv_out_release(&query);
    size_t kept;
    if (status == TV_OK)
        status = expiry_sort_known(folder, &kept, err);
    if (status != TV_OK)
        return status;
    rollup.without_count = folder->id_count - kept;
    rollup.without = rollup.without_count > 0 ? folder->ids + kept : NULL;
    rollup.number = expiry_next_number(expiry);
    tv_fleet_put_path(path, folder->to, TV_FLEET_ROLLUP, rollup.number, ".parquet");
    expiry_put_hidden(expiry, hidden);
    status = tv_output_open(&output, hidden, true, err);
    if (status != TV_OK)
        return status;
    status = tv_fleet_rollup_write(folder->store.sql, &rollup, &output.out, err);
    status = tv_output_finish(&output, status, err);
    if (status == TV_OK)
        status = expiry_publish(expiry, hidden, path, taken, err);
    if (status == TV_OK && !*taken)
        expiry->traces += folder->id_count;
    return status;
}

/* The batches with old traces, and how many these are. */
static void expiry_ask_batches(struct tv_out *sql, int64_t edge)
{
    tv_out_format(sql,
                  "select batch, 0, 0, 0, count(*) from stored_trace where "
                  "coalesce(recorded, added) < %" PRId64 " group by batch order by batch",
                  edge);
}

/* Publish rollups of all old traces; *taken as above. */
static enum tv_status expiry_roll_up_all(struct expiry *expiry, bool *taken, struct tv_error *err)
{
    struct fleet_folder *folder = expiry->folder;
    struct tv_out query;
    tv_out_init_memory(&query);
    expiry_ask_batches(&query, expiry->edge);
    expiry->step = 0;
    *taken = false;
    enum tv_status status =
        tv_fleet_listing_refuse_unsteady(&folder->store.listing, folder->to, err);
    if (status == TV_OK)
        status = tv_fleet_list_batches(folder, tv_sql_end(&query), err);
    tv_out_release(&query);
    for (size_t i = 0; i < folder->count && status == TV_OK && !*taken; i++) {
        /* One that a killed older version left is not about these traces yet. */
        status = tv_fleet_remove_old_rollup(folder->to, folder->entries[i].batch, err);
        if (status == TV_OK)
            status = expiry_roll_up(expiry, folder->entries[i].batch, taken, err);
    }
    return status;
}

/* ---- Rows of expired traces ---- */

/* Write the list of a rollup for `add`, unless it is there.  Rollups of an older version have
 * theirs already. */
static enum tv_status expiry_write_list(struct fleet_folder *folder, const char *name,
                                        struct tv_error *err)
{
    char path[PATH_MAX];
    struct stat info;
    struct tv_out query;
    struct tv_output output;
    uint64_t number = strtoull(name, NULL, 16);
    tv_fleet_put_path(path, folder->to, TV_FLEET_ROLLUP, number, ".ids");
    if (stat(path, &info) == 0)
        return TV_OK;
    tv_out_init_memory(&query);
    tv_out_format(&query,
                  "select trace, true from expired_trace where batch = %" PRIu64 " order by trace",
                  number);
    enum tv_status status = tv_fleet_list_traces(folder, tv_sql_end(&query), err);
    tv_out_release(&query);
    if (status != TV_OK || folder->id_count == 0)
        return status;
    status = tv_output_open(&output, path, true, err);
    if (status != TV_OK)
        return status;
    tv_fleet_write_ids(folder->ids, folder->id_count, &output.out);
    return tv_output_finish(&output, TV_OK, err);
}

enum tv_status tv_fleet_write_lists(struct fleet_folder *folder, struct tv_error *err)
{
    const struct tv_words *rollups = &folder->store.listing.names[TV_FLEET_ROLLUP];
    enum tv_status status = TV_OK;
    for (size_t i = 0; i < rollups->count && status == TV_OK; i++)
        status = expiry_write_list(folder, rollups->items[i], err);
    return status;
}

/* The lists of batches go with them, so those of rollups come first. */
enum tv_status tv_fleet_remove_expired(struct fleet_folder *folder, struct tv_error *err)
{
    static const char batches[] =
        "select f.batch, 0, 0, 0, count(*) from trace_file f semi join expired_trace e on "
        "f.trace = e.trace group by f.batch order by f.batch";
    enum tv_status status = tv_fleet_reopen(&folder->store, err);
    if (status == TV_OK)
        status = tv_fleet_write_lists(folder, err);
    if (status == TV_OK)
        status = tv_fleet_list_batches(folder, batches, err);
    for (size_t i = 0; i < folder->count && status == TV_OK; i++)
        status = tv_fleet_replace_batches(folder, &folder->entries[i], 1, err);
    return status;
}

/* ---- The command ---- */

/* Expire what is old, and remove the rows.  After an error it may be called again. */
static enum tv_status expiry_work(struct expiry *expiry, struct tv_error *err)
{
    char path[PATH_MAX];
    struct fleet_folder *folder = expiry->folder;
    bool taken = true;
    enum tv_status status = tv_fleet_refuse_damage(folder, err);
    if (status != TV_OK || expiry->edge <= 0)
        return status;
    snprintf(path, sizeof path, "%s/%s", folder->to, tv_fleet_table_name(TV_FLEET_ROLLUP));
    status = tv_fleet_make_folder(path, err);
    if (status == TV_OK)
        status = expiry_read_seed(expiry, err);
    while (status == TV_OK && taken) {
        status = expiry_roll_up_all(expiry, &taken, err);
        if (status == TV_OK && taken)
            status = tv_fleet_reopen(&folder->store, err);
    }
    return status == TV_OK ? tv_fleet_remove_expired(folder, err) : status;
}

enum tv_status tv_fleet_expire(const struct tv_command *command, const struct tv_settings *settings,
                               int *code, struct tv_error *err)
{
    (void)command;
    struct fleet_folder folder = {.to = settings->fleet.to};
    struct expiry expiry = {.folder = &folder, .edge = tv_fleet_time_before(settings->fleet.keep)};
    tv_map_init(&folder.index);
    enum tv_status status = tv_fleet_open_complete(&folder.store, settings, err);
    if (status == TV_OK)
        status = tv_random_hex(expiry.hidden, HIDDEN_DIGITS, err);
    for (bool works = status == TV_OK; works;) {
        status = expiry_work(&expiry, err);
        works = status != TV_OK && tv_fleet_recover(&folder.store, err);
    }
    tv_fleet_stop_meter(&folder.store);
    if (status == TV_OK && !settings->quiet)
        tv_message("traceview: %" PRIu64 " %s expired; the sums are in the table rollup",
                   expiry.traces, tv_plural((size_t)expiry.traces, "trace", "traces"));
    tv_fleet_release_folder(&folder, code);
    return status;
}
