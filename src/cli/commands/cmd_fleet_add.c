/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cmd_fleet_add.c - `fleet add` and `fleet rows`: traces are read in the sandbox, and their rows
 * are written.
 *
 * `add` makes the folder and lists the traces in it before it enters the sandbox.
 */
#include <inttypes.h>
#include <string.h>
#include <time.h>

#include "base/heap.h"
#include "base/memory.h"
#include "cli/commands/cmd_fleet_server.h"
#include "cli/confine.h"
#include "cli/input/load.h"
#include "cli/output/message.h"
#include "cli/output/output.h"

/* The place of rowbinary among the choices of --format. */
#define FLEET_ROWBINARY 11u

/* Names of the choices of --table, in their order. */
static const enum tv_fleet_table fleet_tables[] = {
    TV_FLEET_TRACE,  TV_FLEET_METHOD,  TV_FLEET_METHOD_NAME, TV_FLEET_PATH, TV_FLEET_THREAD,
    TV_FLEET_SAMPLE, TV_FLEET_FINDING, TV_FLEET_FRAME,       TV_FLEET_SLICE};

static int64_t fleet_now_us(void)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    return (int64_t)now.tv_sec * 1000000 + now.tv_nsec / 1000;
}

/* ---- Reading traces ---- */

/* How traces are added. */
struct fleet_reading {
    const struct tv_settings *settings;
    const struct tv_map *known;     /* traces of the fleet; NULL: there is none */
    struct tv_fleet_sender *sender; /* NULL: the fleet is a folder */
    struct tv_fleet_labels table;
    size_t unlabelled; /* traces without a row in the table */
};

/* Add a FILE with these labels to a batch, unless the fleet has its trace. */
static enum tv_status fleet_read_labelled(struct fleet_reading *reading, const char *file,
                                          const struct tv_words *labels,
                                          struct tv_fleet_batch *batch, struct tv_error *err)
{
    struct tv_settings own = *reading->settings;
    struct tv_loading *loading;
    struct tv_trace *trace = NULL;
    struct tv_fleet_origin origin = {
        .uri = file,
        .added_us = fleet_now_us(),
        .labels = labels->items,
        .label_count = labels->count,
        .path_share = reading->settings->fleet.path_share,
        .names = reading->settings->fleet.names.items,
        .name_count = reading->settings->fleet.names.count,
    };
    own.input.no_cache = true; /* a trace from the cache has no bytes to hash */
    enum tv_status status = tv_load_open(&own, &file, 1, &loading, err);
    if (status != TV_OK)
        return status;
    size_t count = tv_load_count(loading);
    struct tv_source **sources = tv_alloc(count, sizeof *sources);
    for (size_t i = 0; i < count; i++)
        sources[i] = tv_load_input(loading, i)->source;
    status = tv_fleet_hash_sources(sources, count, &origin.hash, err);
    tv_free(sources);
    uint64_t number = tv_fleet_hash_number(&origin.hash);
    if (status != TV_OK || (reading->known && tv_map_find(reading->known, number) != TV_NONE) ||
        tv_fleet_batch_has(batch, number)) {
        tv_load_close(loading);
        return status == TV_OK ? TV_OK : tv_error_prefix(err, "%s", file);
    }
    status = tv_load_build(loading, NULL, &trace, err);
    if (status != TV_OK)
        return status;
    uint64_t left_out = tv_fleet_batch_add(batch, &origin, trace);
    if (left_out > 0)
        tv_message("traceview: %s: %" PRIu64
                   " slices that match --names have no row: %u are the most for a trace",
                   file, left_out, TV_FLEET_MAX_SLICES);
    tv_trace_free(trace);
    return TV_OK;
}

/* Add a FILE with its labels to a batch: first those of the table, which the options replace. */
static enum tv_status fleet_read(struct fleet_reading *reading, const char *file,
                                 struct tv_fleet_batch *batch, struct tv_error *err)
{
    struct tv_words labels = {.items = NULL};
    const struct tv_words *given = &reading->settings->fleet.labels;
    if (!tv_fleet_labels_find(&reading->table, file, &labels))
        reading->unlabelled++;
    for (size_t i = 0; i < given->count; i++)
        tv_words_add(&labels, given->items[i]);
    enum tv_status status = fleet_read_labelled(reading, file, &labels, batch, err);
    tv_free(labels.items);
    return status;
}

/* Tell how many traces have no row in the table of labels. */
static void fleet_tell_unlabelled(const struct fleet_reading *reading)
{
    if (reading->settings->fleet.labels_from && reading->unlabelled > 0 &&
        !reading->settings->quiet)
        tv_message("traceview: %zu %s no row in %s", reading->unlabelled,
                   tv_plural(reading->unlabelled, "file has", "files have"),
                   reading->settings->fleet.labels_from);
}

/* What tv_fleet_write_files writes of a new batch. */
static enum tv_status fleet_put_table(void *context, enum tv_fleet_table table, struct tv_out *out,
                                      struct tv_error *err)
{
    return tv_fleet_batch_write(context, table, TV_FLEET_PARQUET, out, err);
}

static enum tv_status fleet_write_batch(const struct fleet_reading *reading,
                                        struct tv_fleet_batch *batch, struct tv_error *err)
{
    struct tv_out ids;
    uint64_t number = tv_fleet_batch_close(batch);
    if (reading->sender)
        return tv_fleet_sender_send(reading->sender, batch, err);
    tv_out_init_memory(&ids);
    tv_fleet_batch_write_ids(batch, &ids);
    struct tv_fleet_contents contents = {number, &ids, fleet_put_table, batch, 0};
    for (int i = 0; i < TV_FLEET_TABLES; i++)
        if (!tv_fleet_batch_has_table(batch, (enum tv_fleet_table)i))
            contents.without |= 1u << i;
    enum tv_status status = tv_fleet_write_files(reading->settings->fleet.to, &contents, err);
    tv_out_release(&ids);
    return status;
}

/* Counts of the FILEs of `add`. */
struct fleet_added {
    size_t read, added, failed;
};

/* Tell how many traces were added, and how many the fleet had. */
static void fleet_tell_added(const struct tv_settings *settings, const struct fleet_added *count)
{
    size_t known = count->read - count->added - count->failed;
    if (settings->quiet)
        return;
    if (known == 0)
        tv_message("traceview: %zu %s added to %s", count->added,
                   tv_plural(count->added, "trace", "traces"), settings->fleet.to);
    else
        tv_message("traceview: %zu %s added to %s, %zu %s there", count->added,
                   tv_plural(count->added, "trace", "traces"), settings->fleet.to, known,
                   tv_plural(known, "was", "were"));
}

/* Read all FILEs, and write a batch whenever there is enough.  A trace that cannot be read is told,
 * and the others follow. */
static enum tv_status fleet_add_files(const struct tv_command *command,
                                      struct fleet_reading *reading, int *code,
                                      struct tv_error *err)
{
    const struct tv_settings *settings = reading->settings;
    struct tv_fleet_batch *batch = tv_fleet_batch_new();
    struct fleet_added count = {0};
    enum tv_status status = TV_OK;
    for (size_t i = 0; i < settings->files.count && status == TV_OK; i++) {
        struct tv_error reason = {0};
        if (tv_inputs_is_second_half(settings->files.items, i))
            continue;
        count.read++;
        if (fleet_read(reading, settings->files.items[i], batch, &reason) != TV_OK) {
            tv_command_failed(command, &reason);
            count.failed++;
        }
        if (!tv_fleet_batch_is_full(batch))
            continue;
        count.added += tv_fleet_batch_count(batch);
        status = fleet_write_batch(reading, batch, err);
        tv_fleet_batch_free(batch);
        batch = tv_fleet_batch_new();
    }
    if (status == TV_OK && tv_fleet_batch_count(batch) > 0) {
        count.added += tv_fleet_batch_count(batch);
        status = fleet_write_batch(reading, batch, err);
    }
    tv_fleet_batch_free(batch);
    if (count.failed > 0)
        *code = TV_EXIT_INPUT;
    if (status == TV_OK) {
        fleet_tell_unlabelled(reading);
        fleet_tell_added(settings, &count);
    }
    return status;
}

/* Make the folder a fleet with all tables, and read which traces it has. */
static enum tv_status fleet_prepare_folder(const char *to, struct tv_map *known,
                                           struct tv_error *err)
{
    enum tv_status status = tv_fleet_init(to, err);
    if (status == TV_OK)
        status = tv_fleet_add_tables(to, err);
    if (status == TV_OK)
        tv_fleet_read_known(to, known);
    return status;
}

enum tv_status tv_fleet_add(const struct tv_command *command, const struct tv_settings *settings,
                            int *code, struct tv_error *err)
{
    struct tv_confine_options confinement = {.settings = settings};
    struct tv_map known;
    struct tv_fleet_sender sender = {.socket = -1};
    struct fleet_reading reading = {.settings = settings, .known = &known};
    tv_memory_keep();
    tv_map_init(&known);
    enum tv_status status = tv_fleet_labels_read(&reading.table, settings->fleet.labels_from, err);
    if (tv_fleet_is_server(settings->fleet.to))
        reading.sender = &sender;
    if (status == TV_OK)
        status = reading.sender ? tv_fleet_sender_start(&sender, settings, &known, err)
                                : fleet_prepare_folder(settings->fleet.to, &known, err);
    if (status == TV_OK)
        status = tv_confine(&confinement, err);
    if (status == TV_OK)
        status = fleet_add_files(command, &reading, code, err);
    tv_fleet_sender_close(&sender);
    tv_fleet_labels_release(&reading.table);
    tv_map_release(&known);
    return status;
}

enum tv_status tv_fleet_rows(const struct tv_command *command, const struct tv_settings *settings,
                             int *code, struct tv_error *err)
{
    (void)command;
    (void)code;
    struct tv_confine_options confinement = {.settings = settings};
    struct tv_fleet_batch *batch = tv_fleet_batch_new();
    struct tv_output output;
    struct fleet_reading reading = {.settings = settings};
    enum tv_fleet_form form = settings->table.format == TV_SQL_PARQUET    ? TV_FLEET_PARQUET
                              : settings->table.format == FLEET_ROWBINARY ? TV_FLEET_ROWBINARY
                                                                          : TV_FLEET_JSONL;
    enum tv_status status = tv_fleet_labels_read(&reading.table, settings->fleet.labels_from, err);
    if (status == TV_OK)
        status = tv_confine(&confinement, err);
    for (size_t i = 0; i < settings->files.count && status == TV_OK; i++)
        if (!tv_inputs_is_second_half(settings->files.items, i))
            status = fleet_read(&reading, settings->files.items[i], batch, err);
    if (status == TV_OK)
        status = form != TV_FLEET_JSONL
                     ? tv_output_open_binary(&output, settings->output, settings->quiet, err)
                     : tv_output_open(&output, settings->output, settings->quiet, err);
    if (status == TV_OK) {
        tv_fleet_batch_close(batch);
        status = tv_fleet_batch_write(batch, fleet_tables[settings->fleet.table], form, &output.out,
                                      err);
        status = tv_output_finish(&output, status, err);
    }
    tv_fleet_labels_release(&reading.table);
    tv_fleet_batch_free(batch);
    return status;
}
