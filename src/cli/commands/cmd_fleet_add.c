/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cmd_fleet_add.c - `fleet add` and `fleet rows`: traces are read in the sandbox, and their rows
 * are written.
 *
 * `add` makes the folder and lists the traces in it before it enters the sandbox.  Several threads
 * read, each a trace of its own (--jobs); their rows are gathered in the order of the FILEs, so
 * that the number of threads changes nothing in the fleet:
 *
 *     FILEs --> threads --> rows of a trace --> in order --> batch --> files of the fleet
 *
 * A trace may end the process; then another process goes on (cmd_fleet_watch.c).
 */
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/file.h"
#include "base/heap.h"
#include "base/memory.h"
#include "base/workers.h"
#include "cli/commands/cmd_fleet_server.h"
#include "cli/confine.h"
#include "cli/input/load.h"
#include "cli/output/message.h"
#include "cli/output/output.h"

/* The place of rowbinary among the choices of --format. */
#define FLEET_ROWBINARY 12u

/* Names of the choices of --table, in their order. */
static const enum tv_fleet_table fleet_tables[] = {
    TV_FLEET_TRACE,  TV_FLEET_METHOD,  TV_FLEET_METHOD_NAME, TV_FLEET_PATH, TV_FLEET_THREAD,
    TV_FLEET_SAMPLE, TV_FLEET_FINDING, TV_FLEET_FRAME,       TV_FLEET_SLICE};

/* ---- Reading traces ---- */

/* Options and state of reading traces for a fleet. */
struct fleet_reading {
    const struct tv_settings *settings;
    const struct tv_map *known;     /* traces of the fleet; NULL: there is none */
    struct tv_fleet_sender *sender; /* NULL: the fleet is a folder */
    struct tv_fleet_labels table;
    unsigned jobs;          /* threads for one trace; 0: one per processor */
    bool shows;             /* each trace shows its progress */
    pthread_rwlock_t alone; /* held for writing: a suspect is read, and nothing else happens */
};

/* Outcome of reading one FILE. */
struct fleet_result {
    struct tv_fleet_batch *rows; /* of its trace; NULL: it failed, or the fleet has the trace */
    struct tv_error reason;      /* why it failed; else its status is TV_OK */
    struct tv_out messages;      /* told while it was read */
    uint64_t left_out;           /* slices of its trace without a row */
    struct tv_fleet_watched_file *watched; /* NULL: of `rows` */
    bool is_fatal;                         /* it ended a process; its rows have the error */
    bool done;
};

/* Hash the bytes of a FILE whose unpacking ended a process.  False: it is no regular file. */
static bool fleet_hash_packed(const char *file, struct tv_fleet_hash *hash)
{
    struct stat info;
    struct tv_source *source;
    struct tv_error ignored = {0};
    if (tv_file_stat(file, &info) != 0 || !S_ISREG(info.st_mode) ||
        tv_source_open_file(file, &source, &ignored) != TV_OK)
        return false;
    bool done = tv_fleet_hash_sources(&source, 1, hash, &ignored) == TV_OK;
    tv_source_free(source);
    return done;
}

/* Make the row of a trace that ended the process which read it. */
static void fleet_make_fatal(const struct tv_fleet_watched_file *watched,
                             struct tv_fleet_origin *origin, struct fleet_result *result)
{
    char reason[sizeof watched->error];
    snprintf(reason, sizeof reason, "%.*s", (int)sizeof reason - 1, watched->error);
    result->is_fatal = true;
    origin->hash = watched->hash;
    if (!atomic_load(&watched->is_hashed) && !fleet_hash_packed(origin->uri, &origin->hash))
        return;
    result->rows = tv_fleet_batch_new();
    tv_fleet_batch_add_error(result->rows, origin, reason);
}

/* Read a FILE with these labels, unless the fleet has its trace. */
static enum tv_status fleet_read_labelled(const struct fleet_reading *reading, const char *file,
                                          const struct tv_words *labels,
                                          struct fleet_result *result, struct tv_error *err)
{
    struct tv_settings own = *reading->settings;
    struct tv_fleet_watched_file *watched = result->watched;
    struct tv_loading *loading;
    struct tv_trace *trace = NULL;
    struct tv_progress unseen = {0};
    struct tv_fleet_origin origin = {
        .uri = file,
        .added_us = tv_fleet_time_before(0),
        .labels = labels->items,
        .label_count = labels->count,
        .path_share = reading->settings->fleet.path_share,
        .names = reading->settings->fleet.names.items,
        .name_count = reading->settings->fleet.names.count,
    };
    if (watched && atomic_load(&watched->fate) == TV_FLEET_FATAL) {
        fleet_make_fatal(watched, &origin, result);
        return TV_OK;
    }
    own.input.no_cache = true; /* a trace from the cache has no bytes to hash */
    own.input.jobs = reading->jobs;
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
    if (status != TV_OK || (reading->known && tv_map_find(reading->known, number) != TV_NONE)) {
        tv_load_close(loading);
        return status == TV_OK ? TV_OK : tv_error_prefix(err, "%s", file);
    }
    if (watched) {
        watched->hash = origin.hash;
        atomic_store(&watched->is_hashed, true);
    }
    status = tv_load_build(loading, reading->shows ? NULL : &unseen, &trace, err);
    if (status != TV_OK)
        return status;
    result->rows = tv_fleet_batch_new();
    result->left_out = tv_fleet_batch_add(result->rows, &origin, trace);
    tv_trace_free(trace);
    return TV_OK;
}

/* Read a FILE with its labels: first those of the table, which the options replace. */
static void fleet_read(const struct fleet_reading *reading, const char *file,
                       struct tv_fleet_watched_file *watched, struct fleet_result *result)
{
    struct tv_words labels = {.items = NULL};
    const struct tv_words *given = &reading->settings->fleet.labels;
    *result = (struct fleet_result){.watched = watched};
    tv_out_init_memory(&result->messages);
    bool is_labelled = tv_fleet_labels_find(&reading->table, file, &labels);
    if (watched)
        watched->is_unlabelled = !is_labelled;
    for (size_t i = 0; i < given->count; i++)
        tv_words_add(&labels, given->items[i]);
    tv_message_collect(&result->messages);
    result->reason.status = fleet_read_labelled(reading, file, &labels, result, &result->reason);
    tv_message_collect(NULL);
    result->done = true;
    tv_free(labels.items);
}

/* Free the rows and the messages of a FILE. */
static void fleet_release_result(struct fleet_result *result)
{
    tv_fleet_batch_free(result->rows);
    tv_out_release(&result->messages);
    result->rows = NULL;
}

/* Add the rows of a FILE to a batch.  False: it has no rows, or the batch has the trace. */
static bool fleet_take_result(const char *file, struct fleet_result *result,
                              struct tv_fleet_batch *batch)
{
    bool is_told = result->watched && result->watched->is_told;
    bool has_rows = result->rows && tv_fleet_batch_append(batch, result->rows);
    if (!is_told)
        tv_message_print(&result->messages);
    if (has_rows && result->left_out > 0 && !is_told)
        tv_message("traceview: %s: %" PRIu64
                   " slices that match --names have no row: %u are the most for a trace",
                   file, result->left_out, TV_FLEET_MAX_SLICES);
    if (result->watched)
        result->watched->is_told = true;
    fleet_release_result(result);
    return has_rows;
}

/* Write one table of a new batch, for tv_fleet_write_files. */
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
    size_t added, known, failed, unlabelled;
};

/* Tell how many traces were added, how many the fleet had, and how many have no row in the table of
 * labels. */
static void fleet_tell_added(const struct tv_settings *settings, const struct fleet_added *count)
{
    if (settings->quiet)
        return;
    if (settings->fleet.labels_from && count->unlabelled > 0)
        tv_message("traceview: %zu %s no row in %s", count->unlabelled,
                   tv_plural(count->unlabelled, "file has", "files have"),
                   settings->fleet.labels_from);
    if (count->known == 0)
        tv_message("traceview: %zu %s added to %s", count->added,
                   tv_plural(count->added, "trace", "traces"), settings->fleet.to);
    else
        tv_message("traceview: %zu %s added to %s, %zu %s there", count->added,
                   tv_plural(count->added, "trace", "traces"), settings->fleet.to, count->known,
                   tv_plural(count->known, "was", "were"));
}

/* FILEs that threads may read before an earlier one is finished; their rows take memory. */
#define MAX_AHEAD 64u

/* Halved for each process that ended. */
#define MAX_BATCH_AFTER_CRASH 1024u

/* Threads that read FILEs.  Whoever has finished a FILE gathers the rows of all that are next. */
struct fleet_team {
    const struct tv_command *command;
    struct fleet_reading *reading;
    struct tv_fleet_watch *watch;
    const char **files;
    struct tv_fleet_watched_file **watched; /* [count] */
    size_t count;
    pthread_mutex_t lock; /* of what follows */
    pthread_cond_t changed;
    struct fleet_result results[MAX_AHEAD]; /* of file i at i % MAX_AHEAD */
    size_t begun, gathered;                 /* files */
    bool gathers;                           /* one of the threads does */
    enum tv_status status;
    struct tv_error *err;
    /* Members of the thread that gathers, which needs no lock for them. */
    struct tv_fleet_batch *batch;
    size_t written; /* files in batches that were written, and those before them */
    struct tv_progress progress;
};

/* Write the batch, which has the files before `end`, and begin another one. */
static enum tv_status fleet_end_batch(struct fleet_team *team, size_t end)
{
    enum tv_status status = fleet_write_batch(team->reading, team->batch, team->err);
    for (; status == TV_OK && team->written < end; team->written++) {
        struct tv_fleet_watched_file *watched = team->watched[team->written];
        if (atomic_load(&watched->fate) == TV_FLEET_READ)
            atomic_store(&watched->fate, TV_FLEET_ADDED);
        if (atomic_load(&watched->fate) == TV_FLEET_FATAL)
            atomic_store(&watched->fate, TV_FLEET_FAILED);
    }
    tv_fleet_batch_free(team->batch);
    team->batch = tv_fleet_batch_new();
    return status;
}

/* Return whether the batch should be written.  After a process has ended, batches are smaller, so
 * that less is read again when the next one ends. */
static bool fleet_is_batch_full(const struct fleet_team *team)
{
    unsigned ends = team->watch->ends < 6 ? team->watch->ends : 6;
    return tv_fleet_batch_is_full(team->batch) ||
           (ends > 0 && tv_fleet_batch_count(team->batch) >= MAX_BATCH_AFTER_CRASH >> ends);
}

/* Gather a FILE, and write the batch if that is enough.  A trace that cannot be read is told. */
static enum tv_status fleet_gather(struct fleet_team *team, size_t file)
{
    struct fleet_result *result = &team->results[file % MAX_AHEAD];
    enum tv_status status = TV_OK;
    atomic_store(&team->progress.bytes, file + 1);
    if (!result->watched) /* another process has read it */
        return TV_OK;
    pthread_rwlock_rdlock(&team->reading->alone);
    atomic_store(&team->watch->is_gathering, true);
    bool has_rows = fleet_take_result(team->files[file], result, team->batch);
    bool failed = result->reason.status != TV_OK || (result->is_fatal && !has_rows);
    if (result->reason.status != TV_OK)
        tv_command_failed(team->command, &result->reason);
    if (!result->is_fatal || !has_rows)
        atomic_store(&result->watched->fate, failed     ? TV_FLEET_FAILED
                                             : has_rows ? TV_FLEET_READ
                                                        : TV_FLEET_KNOWN);
    if (fleet_is_batch_full(team))
        status = fleet_end_batch(team, file + 1);
    atomic_store(&team->watch->is_gathering, false);
    pthread_rwlock_unlock(&team->reading->alone);
    return status;
}

/* Read a FILE, unless another process has done so.  A suspect is read while nothing else is done.
 */
static void fleet_read_watched(struct fleet_team *team, size_t file, struct fleet_result *result)
{
    struct tv_fleet_watched_file *watched = team->watched[file];
    unsigned fate = atomic_load(&watched->fate);
    *result = (struct fleet_result){.done = true};
    if (fate == TV_FLEET_ADDED || fate == TV_FLEET_KNOWN || fate == TV_FLEET_FAILED)
        return;
    if (fate == TV_FLEET_SUSPECT)
        pthread_rwlock_wrlock(&team->reading->alone);
    else
        pthread_rwlock_rdlock(&team->reading->alone);
    atomic_store(&watched->is_being_read, fate != TV_FLEET_FATAL);
    fleet_read(team->reading, team->files[file], watched, result);
    atomic_store(&watched->is_being_read, false);
    pthread_rwlock_unlock(&team->reading->alone);
}

/* Gather the FILEs that are next and finished, unless another thread does.  Runs under the lock,
 * which is free meanwhile. */
static void fleet_gather_finished(struct fleet_team *team)
{
    if (team->gathers)
        return;
    team->gathers = true;
    while (team->status == TV_OK && team->gathered < team->begun &&
           team->results[team->gathered % MAX_AHEAD].done) {
        pthread_mutex_unlock(&team->lock);
        enum tv_status status = fleet_gather(team, team->gathered);
        pthread_mutex_lock(&team->lock);
        team->results[team->gathered % MAX_AHEAD].done = false;
        team->gathered++;
        team->status = status;
        pthread_cond_broadcast(&team->changed);
    }
    team->gathers = false;
}

/* The work of one thread.  It waits only for files that other threads are reading. */
static void fleet_work(void *context, unsigned index)
{
    struct fleet_team *team = context;
    (void)index;
    pthread_mutex_lock(&team->lock);
    for (;;) {
        while (team->status == TV_OK && team->begun < team->count &&
               team->begun - team->gathered >= MAX_AHEAD)
            pthread_cond_wait(&team->changed, &team->lock);
        if (team->status != TV_OK || team->begun == team->count)
            break;
        size_t file = team->begun++;
        pthread_mutex_unlock(&team->lock);
        struct fleet_result result;
        fleet_read_watched(team, file, &result);
        pthread_mutex_lock(&team->lock);
        team->results[file % MAX_AHEAD] = result;
        fleet_gather_finished(team);
    }
    pthread_mutex_unlock(&team->lock);
}

/* Let the team read all FILEs. */
static void fleet_run_team(struct fleet_team *team)
{
    struct fleet_reading *reading = team->reading;
    unsigned jobs = tv_settings_workers(reading->settings);
    unsigned threads = team->count < jobs ? (unsigned)team->count : jobs;
    if (reading->settings->input.max_memory != TV_ANY_MEMORY && threads > 1)
        threads = 1; /* the limit is meant for one trace */
    struct tv_meter *meter = NULL;
    reading->jobs = threads > 0 ? jobs / threads : 1;
    reading->shows = team->count == 1;
    atomic_store(&team->progress.work, "adding");
    atomic_store(&team->progress.total_bytes, team->count);
    if (!reading->shows)
        meter = tv_meter_start(&team->progress, reading->settings->quiet);
    pthread_mutex_init(&team->lock, NULL);
    pthread_cond_init(&team->changed, NULL);
    pthread_rwlock_init(&reading->alone, NULL);
    tv_workers_run(threads, fleet_work, team);
    pthread_rwlock_destroy(&reading->alone);
    pthread_cond_destroy(&team->changed);
    pthread_mutex_destroy(&team->lock);
    tv_meter_stop(meter);
    for (size_t i = 0; i < MAX_AHEAD; i++) /* after an error */
        fleet_release_result(&team->results[i]);
}

static void fleet_count_added(const struct fleet_team *team, struct fleet_added *count)
{
    for (size_t i = 0; i < team->count; i++) {
        unsigned fate = atomic_load(&team->watched[i]->fate);
        count->added += fate == TV_FLEET_ADDED;
        count->known += fate == TV_FLEET_KNOWN;
        count->failed += fate == TV_FLEET_FAILED;
        count->unlabelled += team->watched[i]->is_unlabelled;
    }
}

/* Read all FILEs, and write a batch whenever there is enough.  A trace that cannot be read is told,
 * and the others follow. */
static enum tv_status fleet_add_files(struct tv_fleet_watch *watch,
                                      const struct tv_command *command,
                                      struct fleet_reading *reading, int *code,
                                      struct tv_error *err)
{
    struct fleet_added added = {0};
    const struct tv_words *files = &reading->settings->files;
    struct fleet_team *team = tv_alloc(1, sizeof *team);
    team->command = command;
    team->watch = watch;
    team->reading = reading;
    team->err = err;
    team->files = tv_alloc(files->count, sizeof *team->files);
    team->watched = tv_alloc(files->count, sizeof *team->watched);
    for (size_t i = 0; i < files->count; i++) {
        if (tv_inputs_is_second_half(files->items, i))
            continue;
        team->watched[team->count] = &watch->files[i];
        team->files[team->count++] = files->items[i];
    }
    team->batch = tv_fleet_batch_new();
    fleet_run_team(team);
    enum tv_status status = team->status;
    if (status == TV_OK && tv_fleet_batch_count(team->batch) > 0)
        status = fleet_end_batch(team, team->count);
    fleet_count_added(team, &added);
    if (added.failed > 0)
        *code = TV_EXIT_INPUT;
    if (status == TV_OK)
        fleet_tell_added(reading->settings, &added);
    tv_fleet_batch_free(team->batch);
    tv_free(team->watched);
    tv_free(team->files);
    tv_free(team);
    return status;
}

/* Make the folder a fleet with all tables, and read which traces it has. */
static enum tv_status fleet_prepare_folder(const char *to, struct tv_map *known,
                                           struct tv_error *err)
{
    enum tv_status status = tv_fleet_check_new_path(to, err);
    if (status == TV_OK)
        status = tv_fleet_init(to, err);
    if (status == TV_OK)
        status = tv_fleet_add_tables(to, err);
    if (status == TV_OK)
        status = tv_fleet_read_known(to, TV_FLEET_TRACE, known, err);
    return status == TV_OK ? tv_fleet_read_known(to, TV_FLEET_ROLLUP, known, err) : status;
}

/* Add in this process; `watch` is shared with the command. */
static enum tv_status fleet_add_here(struct tv_fleet_watch *watch, const struct tv_command *command,
                                     const struct tv_settings *settings, int *code,
                                     struct tv_error *err)
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
        status = fleet_add_files(watch, command, &reading, code, err);
    tv_fleet_sender_close(&sender);
    tv_fleet_labels_release(&reading.table);
    tv_map_release(&known);
    return status;
}

enum tv_status tv_fleet_add(const struct tv_command *command, const struct tv_settings *settings,
                            int *code, struct tv_error *err)
{
    return tv_fleet_watch(fleet_add_here, command, settings, code, err);
}

enum tv_status tv_fleet_rows(const struct tv_command *command, const struct tv_settings *settings,
                             int *code, struct tv_error *err)
{
    (void)command;
    (void)code;
    struct tv_confine_options confinement = {.settings = settings};
    struct tv_fleet_batch *batch = tv_fleet_batch_new();
    struct tv_output output;
    struct fleet_reading reading = {
        .settings = settings, .jobs = tv_settings_jobs(settings), .shows = true};
    struct fleet_result result;
    enum tv_fleet_form form = settings->table.format == TV_SQL_PARQUET    ? TV_FLEET_PARQUET
                              : settings->table.format == FLEET_ROWBINARY ? TV_FLEET_ROWBINARY
                                                                          : TV_FLEET_JSONL;
    enum tv_status status = tv_fleet_labels_read(&reading.table, settings->fleet.labels_from, err);
    if (status == TV_OK)
        status = tv_confine(&confinement, err);
    for (size_t i = 0; i < settings->files.count && status == TV_OK; i++) {
        const char *file = settings->files.items[i];
        if (tv_inputs_is_second_half(settings->files.items, i))
            continue;
        fleet_read(&reading, file, NULL, &result);
        status = result.reason.status;
        if (status != TV_OK)
            *err = result.reason;
        (void)fleet_take_result(file, &result, batch);
    }
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
