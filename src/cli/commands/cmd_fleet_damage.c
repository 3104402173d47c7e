/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cmd_fleet_damage.c - the files of a batch that are missing or damaged: all of them for `fleet
 * check`, and for questions the missing ones of the tables that they read.
 *
 * A batch may have no rows of a detail table, and then has no file of it.  The last byte of
 * trace/BATCH.ids has a bit for each detail table with a file; batches of older versions lack the
 * byte, and what they lack is not known.
 */
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>

#include "base/bytes.h"
#include "base/file.h"
#include "base/memory.h"
#include "cli/commands/cmd_fleet.h"
#include "cli/output/message.h"
#include "sql/values.h"

#define LARGEST_IDS ((size_t)64 << 20)
#define SHOWN_TRACES 5u

char tv_fleet_detail_bits(unsigned without)
{
    unsigned bits = 0;
    for (unsigned i = TV_FLEET_THREAD; i < TV_FLEET_TRACE; i++)
        bits |= (without & 1u << i) ? 0 : 1u << (i - TV_FLEET_THREAD);
    return (char)bits;
}

/* A batch whose files are looked at. */
struct damage_batch {
    const char *to;
    uint64_t number;
    uint64_t traces;  /* by the list of their numbers; 0: it cannot be read */
    unsigned details; /* as tv_fleet_detail_bits */
};

static void damage_read_list(struct damage_batch *batch)
{
    char path[PATH_MAX], *text;
    size_t length;
    struct tv_error ignored = {0};
    snprintf(path, sizeof path, "%s/trace/%016" PRIx64 ".ids", batch->to, batch->number);
    if (tv_file_read_text(path, LARGEST_IDS, &text, &length, &ignored) != TV_OK)
        return;
    batch->traces = length / 8;
    if (length % 8 == 1)
        batch->details = (unsigned char)text[length - 1];
    tv_free(text);
}

static bool damage_has_file(const struct damage_batch *batch, enum tv_fleet_table table)
{
    char path[PATH_MAX];
    struct stat info;
    snprintf(path, sizeof path, "%s/%s/%016" PRIx64 ".parquet", batch->to,
             tv_fleet_table_name(table), batch->number);
    return stat(path, &info) == 0;
}

/* Should a batch whose list was read have a file of the table? */
static bool damage_needs_file(const struct damage_batch *batch, enum tv_fleet_table table)
{
    return !tv_fleet_is_detail(table) ||
           (batch->details & 1u << ((unsigned)table - TV_FLEET_THREAD)) != 0;
}

/* Write a line if a file of the batch is missing or damaged; tell if it is. */
static bool damage_check_file(struct tv_sql *sql, const struct damage_batch *batch,
                              enum tv_fleet_table table, struct tv_out *out)
{
    char name[32];
    struct tv_error reason = {0};
    const char *folder = tv_fleet_table_name(table);
    snprintf(name, sizeof name, "%016" PRIx64 ".parquet", batch->number);
    bool missing = !damage_has_file(batch, table);
    if (missing && !damage_needs_file(batch, table))
        return false;
    if (!missing && tv_fleet_read_file(sql, table, name, &reason) == TV_OK)
        return false;
    tv_out_format(out, "%016" PRIx64 ": %s/%s is %s: ", batch->number, folder, name,
                  missing ? "missing" : "damaged");
    if (table != TV_FLEET_TRACE)
        tv_out_format(out, "the rows of %s of ", folder);
    if (batch->traces > 0)
        tv_out_format(out, "%" PRIu64 " %s %s lost", batch->traces,
                      tv_plural((size_t)batch->traces, "trace", "traces"),
                      table == TV_FLEET_TRACE && batch->traces == 1 ? "is" : "are");
    else
        tv_out_text(out, "its traces are lost");
    if (!missing)
        tv_out_format(out, " (%s)", reason.message);
    tv_out_char(out, '\n');
    return true;
}

static enum tv_status damage_take_trace(void *context, const struct tv_sql_value *values,
                                        struct tv_error *err)
{
    struct tv_out *out = context;
    (void)err;
    tv_out_text(out, "    ");
    /* A name comes from outside: as JSON it has no control characters. */
    tv_out_json(out, values[0].kind == TV_SQL_IS_TEXT ? values[0].text : (struct tv_bytes){0});
    tv_out_char(out, '\n');
    return TV_OK;
}

/* Write the keys of the first traces of the batch, from its list; false: it cannot be read. */
static bool damage_put_keys(const struct damage_batch *batch, struct tv_out *out)
{
    char path[PATH_MAX];
    size_t count;
    tv_fleet_put_path(path, batch->to, TV_FLEET_TRACE, batch->number, ".ids");
    uint64_t *keys = tv_fleet_read_ids(path, &count);
    out->length = 0;
    for (size_t i = 0; i < count && i < SHOWN_TRACES; i++)
        tv_out_format(out, "    %016" PRIx64 "\n", keys[i]);
    tv_free(keys);
    return count > 0;
}

/* Write how the batch is repaired, with its traces if they are known. */
static void damage_put_advice(struct tv_sql *sql, const struct damage_batch *batch,
                              struct tv_out *out)
{
    struct tv_out query, traces;
    struct tv_error ignored = {0};
    tv_out_format(out,
                  "  restore the file from a copy; or remove the batch, rm %s/*/%016" PRIx64
                  ".*, and add ",
                  batch->to, batch->number);
    tv_out_init_memory(&query);
    tv_out_init_memory(&traces);
    tv_out_format(&query,
                  "select uri from read_parquet(getvariable('folder') || '/trace/%016" PRIx64
                  ".parquet') order by uri limit %u",
                  batch->number, SHOWN_TRACES);
    /* Without the file of traces they are not known. */
    bool is_known = tv_sql_for_each_row(sql, tv_sql_end(&query), 1, damage_take_trace, &traces,
                                        &ignored) == TV_OK;
    bool is_listed = is_known || damage_put_keys(batch, &traces);
    tv_out_text(out, is_known    ? "its traces again:\n"
                     : is_listed ? "again the traces whose SHA-256 begins with:\n"
                                 : "its traces again; those of other batches are skipped\n");
    tv_out_bytes(out, (struct tv_bytes){traces.buffer, is_listed ? traces.length : 0});
    if (is_listed && batch->traces > SHOWN_TRACES)
        tv_out_format(out, "    and %" PRIu64 " more\n", batch->traces - SHOWN_TRACES);
    tv_out_release(&query);
    tv_out_release(&traces);
}

bool tv_fleet_check_files(struct tv_sql *sql, const char *to, uint64_t number, struct tv_out *out)
{
    struct damage_batch batch = {.to = to, .number = number};
    bool is_faulty = false;
    damage_read_list(&batch);
    for (int i = 0; i < TV_FLEET_TABLES; i++)
        is_faulty = damage_check_file(sql, &batch, (enum tv_fleet_table)i, out) || is_faulty;
    if (is_faulty)
        damage_put_advice(sql, &batch, out);
    return is_faulty;
}

/* ---- Questions ---- */

/* Does a query have this word, perhaps as a part of another? */
static bool damage_has_word(const char *query, const char *word)
{
    size_t length = strlen(word);
    for (; *query; query++)
        if (strncasecmp(query, word, length) == 0)
            return true;
    return false;
}

/* Return a bit for each table that the action of the settings reads. */
static unsigned damage_find_tables(const struct tv_settings *settings)
{
    static const char *const whole[] = {"compact", "expire", "migrate"};
    const char *action = settings->fleet.action;
    unsigned tables = 1u << TV_FLEET_METHOD | 1u << TV_FLEET_METHOD_NAME;
    for (size_t i = 0; i < TV_COUNT(whole); i++)
        if (strcmp(action, whole[i]) == 0)
            return ~0u;
    if (strcmp(action, "schema") == 0)
        return 0;
    if (strcmp(action, "flamegraph") == 0)
        return tables | 1u << TV_FLEET_PATH;
    if (strcmp(action, "sql") != 0)
        return tables;
    tables = 0;
    for (int i = 0; i < TV_FLEET_TABLES; i++)
        if (damage_has_word(settings->files.items[0], tv_fleet_table_name((enum tv_fleet_table)i)))
            tables |= 1u << i;
    return tables;
}

/* Leave a batch out, and tell which of its files is missing. */
static void damage_leave_out(struct tv_fleet_store *store, const struct damage_batch *batch,
                             enum tv_fleet_table table)
{
    char count[32] = "";
    char *name = tv_alloc(1, sizeof "0123456789abcdef.parquet");
    snprintf(name, sizeof "0123456789abcdef.parquet", "%016" PRIx64 ".parquet", batch->number);
    tv_words_add(&store->damaged, name);
    if (batch->traces > 0)
        snprintf(count, sizeof count, "%" PRIu64 " ", batch->traces);
    tv_message("traceview: %s/%s/%s is missing; the answer leaves out its %s%s: `traceview fleet "
               "check --to %s` lists them and says how to repair the fleet",
               batch->to, tv_fleet_table_name(table), name, count,
               tv_plural(batch->traces == 1 ? 1 : 2, "trace", "traces"), batch->to);
}

/* Leave a batch out that lacks a file of these tables. */
static void damage_note_batch(struct tv_fleet_store *store, const char *name, unsigned tables)
{
    struct damage_batch batch = {.to = store->settings->fleet.to,
                                 .number = strtoull(name, NULL, 16)};
    bool is_read = false;
    for (int i = 0; i < TV_FLEET_TRACE; i++) {
        enum tv_fleet_table table = (enum tv_fleet_table)i;
        if (!(tables & 1u << i) || tv_fleet_listing_has(&store->listing, table, name))
            continue;
        if (!is_read)
            damage_read_list(&batch);
        is_read = true;
        if (damage_needs_file(&batch, table)) {
            damage_leave_out(store, &batch, table);
            return;
        }
    }
}

static void damage_note_lost(void *context, uint64_t number)
{
    struct tv_fleet_store *store = context;
    struct damage_batch batch = {.to = store->settings->fleet.to, .number = number};
    damage_read_list(&batch);
    damage_leave_out(store, &batch, TV_FLEET_TRACE);
}

enum tv_status tv_fleet_note_missing(struct tv_fleet_store *store, struct tv_error *err)
{
    const struct tv_words *batches = &store->listing.names[TV_FLEET_TRACE];
    unsigned tables = damage_find_tables(store->settings);
    for (size_t i = 0; i < batches->count && tables != 0; i++)
        if (tv_fleet_batch_of_name(batches->items[i], "") != 0)
            damage_note_batch(store, batches->items[i], tables);
    if (tables == 0)
        return TV_OK;
    return tv_fleet_find_lost(store->settings->fleet.to, damage_note_lost, store, err);
}

/* ---- Files of traces that are gone ---- */

#define MAX_SEARCHES 100

/* Batches that have a list of their traces, but no file of traces. */
struct damage_batches {
    const struct tv_fleet_listing *listing;
    uint64_t *items;
    size_t count, room;
};

static void damage_take_bare(void *context, const char *name)
{
    struct damage_batches *bare = context;
    uint64_t number = tv_fleet_batch_of_name(name, ".ids");
    if (number == 0 || tv_fleet_listing_has_batch(bare->listing, TV_FLEET_TRACE, number))
        return;
    bare->items = tv_array_reserve(bare->items, &bare->room, bare->count + 1, sizeof *bare->items);
    bare->items[bare->count++] = number;
}

/* Keep the lists that have a trace which is in no batch and in no rollup. */
static enum tv_status damage_keep_lost(const char *to, const struct tv_fleet_listing *listing,
                                       struct damage_batches *bare, struct tv_error *err)
{
    char path[PATH_MAX];
    struct tv_map known;
    size_t kept = 0;
    const struct tv_words *batches = &listing->names[TV_FLEET_TRACE];
    tv_map_init(&known);
    for (size_t i = 0; i < batches->count; i++) {
        snprintf(path, sizeof path, "%s/%s/%s.ids", to, tv_fleet_table_name(TV_FLEET_TRACE),
                 batches->items[i]);
        tv_fleet_read_known_list(path, &known);
    }
    enum tv_status status = tv_fleet_read_known(to, TV_FLEET_ROLLUP, &known, err);
    for (size_t i = 0; i < bare->count && status == TV_OK; i++) {
        size_t count;
        bool is_lost = false;
        tv_fleet_put_path(path, to, TV_FLEET_TRACE, bare->items[i], ".ids");
        uint64_t *ids = tv_fleet_read_ids(path, &count);
        for (size_t k = 0; k < count && !is_lost; k++)
            is_lost = tv_map_find(&known, ids[k]) == TV_NONE;
        tv_free(ids);
        if (is_lost)
            bare->items[kept++] = bare->items[i];
    }
    tv_map_release(&known);
    bare->count = kept;
    return status;
}

/* A batch that is being removed looks like that, too, but its traces are in another one.  The
 * search is repeated if files changed meanwhile. */
enum tv_status tv_fleet_find_lost(const char *to, void (*visit)(void *context, uint64_t batch),
                                  void *context, struct tv_error *err)
{
    struct tv_fleet_listing listing = {0}, after = {0};
    struct damage_batches bare = {.listing = &listing};
    bool steady = false;
    enum tv_status status = TV_OK;
    for (int i = 0; i < MAX_SEARCHES && !steady; i++) {
        bare.count = 0;
        status = tv_fleet_listing_read(&listing, to, err);
        if (status == TV_OK)
            status = tv_fleet_visit_files(to, TV_FLEET_TRACE, damage_take_bare, &bare, err);
        if (status != TV_OK || bare.count == 0)
            break;
        status = damage_keep_lost(to, &listing, &bare, err);
        if (status == TV_OK)
            status = tv_fleet_listing_read(&after, to, err);
        if (status != TV_OK)
            break;
        steady = tv_fleet_listing_is_equal(&listing, &after);
    }
    for (size_t i = 0; i < bare.count && steady; i++)
        visit(context, bare.items[i]);
    tv_free(bare.items);
    tv_fleet_listing_release(&listing);
    tv_fleet_listing_release(&after);
    return status;
}
