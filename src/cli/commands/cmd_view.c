/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_view.c - `traceview FILE...`: serves the viewer to the user's browser until a signal or the
 * page ends it.
 *
 *     main thread      listen --> sandbox --> start the server --> open the browser --> wait
 *     server threads   load files (viewer_files_load), answer the page, write the index cache
 *     signal thread    sigwait --> end the server */
#include <assert.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/memory.h"
#include "base/out.h"
#include "base/source.h"
#include "base/workers.h"
#include "cli/command.h"
#include "cli/confine.h"
#include "cli/input/index_cache.h"
#include "cli/input/load.h"
#include "cli/input/recent_files.h"
#include "cli/input/selection.h"
#include "cli/output/html_report.h"
#include "cli/output/message.h"
#include "cli/output/push_process.h"
#include "engine/sandbox.h"
#include "sql/duckdb.h"
#include "viewer/viewer.h"

/* Wait this long before opening the browser: most traces that cannot be read fail sooner, and then
 * no page is opened. A readable trace shows its first events even sooner. */
#define EARLY_MS 200

/* At the end of the program, wait this long for the index of a trace without a word, and this long
 * at most. */
#define CACHE_SOON_MS 300
#define CACHE_LATE_MS 60000

static const struct tv_option view_options[] = {
    TV_OPTION("port", "N", TV_OPTION_COUNT, port,
              "port to listen on (default: the first free one from 27180 to 27187, else any)"),
    TV_OPTION("no-browser", NULL, TV_OPTION_FLAG, no_browser,
              "print the address, but do not open a browser"),
    TV_OPTION_FILTER,
    TV_OPTION_OFFSET,
    TV_OPTIONS_READING,
    TV_OPTIONS_END,
};

/* Append a text as part of an address. */
static void cmd_view_put_escaped(struct tv_out *out, const char *text)
{
    for (const char *c = text; *c; c++) {
        unsigned byte = (unsigned char)*c;
        bool plain = (byte | 0x20) - 'a' < 26 || byte - '0' < 10 || strchr("-._~*:$", *c);
        if (plain)
            tv_out_char(out, *c);
        else
            tv_out_format(out, "%%%02X", byte);
    }
}

/* Write the address of the page, with the place and the filter, and a NUL. */
static void cmd_view_put_address(struct tv_out *out, const char *address, const char *place,
                                 const char *filter)
{
    tv_out_text(out, address);
    if (place || filter)
        tv_out_char(out, '#');
    if (place)
        tv_out_text(out, place);
    if (filter) {
        tv_out_text(out, place ? "&filter=" : "filter=");
        cmd_view_put_escaped(out, filter);
    }
    tv_out_char(out, '\0');
}

/* The files of the command line, by their number in the server. */
struct viewer_files {
    const struct tv_settings *settings; /* without the filter, which the page applies */
    struct tv_viewer_file *files;
    const char **paths;
    struct tv_source **kept; /* opened files that can be read only once */
    size_t count;
    pthread_mutex_t lock;       /* protects `kept`; held while a pipe is read to its end */
    pthread_mutex_t cache_lock; /* protects `pending` and `writing` */
    struct pending_cache_write *pending;
    unsigned writing;       /* traces that are being written to the cache */
    pthread_cond_t written; /* `writing` fell */
    atomic_bool stop;       /* stop writing to the cache */
    pid_t push;             /* the process that sends files; 0: none */
};

/* A trace that will be written to the cache after it is shown. */
struct pending_cache_write {
    struct pending_cache_write *next;
    const struct tv_trace *trace;
    struct tv_index_cache cache;
};

/* Can the file be opened more than once? Pipes and standard input cannot. */
static bool cmd_view_is_regular(const char *path)
{
    struct stat info;
    return strcmp(path, "-") != 0 && (tv_file_stat(path, &info) != 0 || S_ISREG(info.st_mode));
}

/* Open a file of the command line. A file that can be read only once is kept open and shared. */
static enum tv_status viewer_files_open(struct viewer_files *files, uint32_t number,
                                        struct tv_source **source, struct tv_error *err)
{
    assert(number < files->count);
    const char *path = files->paths[number];
    struct tv_source **kept = &files->kept[number];
    if (cmd_view_is_regular(path))
        return tv_inputs_open_argument(path, source, err);
    pthread_mutex_lock(&files->lock);
    enum tv_status status = *kept ? TV_OK : tv_inputs_open_argument(path, kept, err);
    if (status == TV_OK)
        *source = tv_source_range(*kept, 0, tv_source_size(*kept), tv_source_name(*kept));
    pthread_mutex_unlock(&files->lock);
    return status;
}

/* Open the inputs of a session: files of the command line, and sources that the page has handed
 * over. */
static enum tv_status viewer_files_open_inputs(struct viewer_files *files,
                                               const struct tv_session_input *inputs, size_t count,
                                               struct tv_input_file *given, struct tv_error *err)
{
    enum tv_status status = TV_OK;
    size_t opened = 0;
    for (size_t i = 0; i < count; i++) {
        struct tv_source *source = inputs[i].source;
        if (source == NULL && status == TV_OK)
            status = viewer_files_open(files, inputs[i].number, &source, err);
        if (source != NULL)
            given[opened++] = (struct tv_input_file){source, inputs[i].offset};
    }
    if (status != TV_OK)
        tv_input_files_free(given, opened);
    return status;
}

/* Make the cache key; false when these files are not cached. */
static bool viewer_files_make_key(const struct viewer_files *files,
                                  const struct tv_session_input *inputs, size_t count,
                                  struct tv_index_cache *cache)
{
    *cache = (struct tv_index_cache){.settings = files->settings, .count = count};
    if (count > TV_INDEX_CACHE_FILES)
        return false;
    for (size_t i = 0; i < count; i++) {
        if (inputs[i].source != NULL)
            return false;
        cache->paths[i] = files->paths[inputs[i].number];
        cache->offsets[i] = inputs[i].offset;
    }
    return tv_index_cache_make_key(cache);
}

/* Remember that a trace is to be written to the cache once it is shown. */
static void viewer_files_add_pending(struct viewer_files *files, const struct tv_index_cache *cache,
                                     const struct tv_trace *trace)
{
    assert(trace);
    struct pending_cache_write *pending = tv_alloc(1, sizeof *pending);
    pthread_mutex_lock(&files->cache_lock);
    *pending = (struct pending_cache_write){files->pending, trace, *cache};
    files->pending = pending;
    pthread_mutex_unlock(&files->cache_lock);
}

/* Remove and return the pending cache write of a trace, which is being written from now on. */
static struct pending_cache_write *viewer_files_take_pending(struct viewer_files *files,
                                                             const struct tv_trace *trace)
{
    pthread_mutex_lock(&files->cache_lock);
    struct pending_cache_write **place = &files->pending;
    while (*place && (*place)->trace != trace)
        place = &(*place)->next;
    struct pending_cache_write *found = *place;
    if (found) {
        *place = found->next;
        files->writing++;
    }
    pthread_mutex_unlock(&files->cache_lock);
    return found;
}

/* Write the trace to the cache, while the user looks at it. */
static void viewer_files_write_to_cache(void *context, const struct tv_trace *trace,
                                        const struct tv_view *view)
{
    struct viewer_files *files = context;
    struct pending_cache_write *pending = viewer_files_take_pending(files, trace);
    if (!pending)
        return;
    tv_index_cache_write(&pending->cache, trace, view, &files->stop);
    tv_free(pending);
    pthread_mutex_lock(&files->cache_lock);
    files->writing--;
    pthread_cond_broadcast(&files->written);
    pthread_mutex_unlock(&files->cache_lock);
}

/* Wait for one more trace to be written; false after the deadline, or when all are written. */
static bool viewer_files_await_one(struct viewer_files *files, const struct timespec *until)
{
    if (!files->pending && files->writing == 0)
        return false;
    return pthread_cond_timedwait(&files->written, &files->cache_lock, until) == 0;
}

/* Let traces that were read be written to the cache before the program ends, however soon that is:
 * the next start would read them all over again. Then stop the writing. */
static void viewer_files_finish_cache(struct viewer_files *files)
{
    struct timespec soon = tv_monotonic_deadline(CACHE_SOON_MS),
                    late = tv_monotonic_deadline(CACHE_LATE_MS);
    pthread_mutex_lock(&files->cache_lock);
    while (viewer_files_await_one(files, &soon))
        ;
    if ((files->pending || files->writing > 0) && !files->settings->quiet)
        tv_message("writing the index, so that the trace opens at once the next time; "
                   "interrupt again to leave without it");
    while (viewer_files_await_one(files, &late))
        ;
    pthread_mutex_unlock(&files->cache_lock);
    atomic_store(&files->stop, true);
}

/* Put the files of a trace at the head of the recent ones, the first file first. */
static void viewer_files_remember(const struct viewer_files *files,
                                  const struct tv_session_input *inputs, size_t count)
{
    for (size_t i = count; i-- > 0;)
        if (inputs[i].source == NULL && !files->settings->input.no_cache)
            tv_recent_files_remember(files->paths[inputs[i].number]);
}

/* A trace, and how it was read. */
struct viewer_reading {
    struct tv_trace *trace;
    uint64_t began;
    bool packed, remarked; /* load.h */
};

/* Read the files into a trace, and note what decides whether it is worth caching. */
static enum tv_status viewer_files_read(struct viewer_files *files, struct tv_input_file *given,
                                        size_t count, struct tv_progress *progress,
                                        struct viewer_reading *reading, struct tv_error *err)
{
    const struct tv_settings *settings = files->settings;
    struct tv_loading *loading;
    enum tv_status status = tv_load_open_files(settings, given, count, progress, &loading, err);
    if (status != TV_OK)
        return status;
    reading->packed = tv_load_is_packed(loading);
    reading->remarked = tv_load_has_notes(loading);
    struct tv_meter *meter = tv_meter_start(progress, settings->quiet);
    status = tv_load_build(loading, progress, &reading->trace, err);
    tv_meter_stop(meter);
    return status;
}

/* Load a session: from the index cache, else from the files. A callback of the server. */
static enum tv_status viewer_files_load(void *context, const struct tv_session_input *inputs,
                                        size_t count, struct tv_progress *progress,
                                        struct tv_trace **trace, struct tv_error *err)
{
    struct viewer_files *files = context;
    struct tv_index_cache cache;
    struct viewer_reading reading = {.began = tv_monotonic_ns()};
    bool cacheable = viewer_files_make_key(files, inputs, count, &cache);
    if (!cacheable || !tv_index_cache_read(&cache, &reading.trace)) {
        struct tv_input_file *given = tv_alloc(count, sizeof *given);
        enum tv_status status = viewer_files_open_inputs(files, inputs, count, given, err);
        if (status == TV_OK)
            status = viewer_files_read(files, given, count, progress, &reading, err);
        tv_free(given);
        if (status != TV_OK)
            return status;
        if (cacheable && !reading.remarked &&
            tv_index_cache_is_worth(&cache, reading.trace, reading.packed,
                                    tv_monotonic_ns() - reading.began))
            viewer_files_add_pending(files, &cache, reading.trace);
    }
    *trace = reading.trace;
    viewer_files_remember(files, inputs, count);
    tv_load_report(files->settings, (*trace)->head);
    return TV_OK;
}

/* Start to send files to the user's server. A callback of the server. */
static int viewer_files_send(void *context, const uint32_t *numbers, size_t count)
{
    struct viewer_files *files = context;
    const char *paths[TV_OPEN_INPUTS];
    assert(count <= TV_OPEN_INPUTS);
    for (size_t i = 0; i < count; i++) {
        if (numbers[i] >= files->count)
            return -1;
        paths[i] = files->paths[numbers[i]];
    }
    return tv_is_confined() ? tv_confined_push_start(paths, count)
                            : tv_push_process_start(paths, count, &files->push);
}

/* List the files of the command line; a second half (.data after .key) belongs to the one before
 * it. */
static enum tv_status viewer_files_init(struct viewer_files *files,
                                        const struct tv_settings *settings, struct tv_error *err)
{
    const struct tv_words *words = &settings->files;
    tv_ns *offsets;
    enum tv_status status =
        tv_offsets_find(&settings->input.offsets, words->items, words->count, &offsets, err);
    if (status != TV_OK)
        return status;
    files->settings = settings;
    files->files = tv_alloc(words->count, sizeof *files->files);
    files->paths = tv_alloc(words->count, sizeof *files->paths);
    files->kept = tv_alloc(words->count, sizeof(struct tv_source *));
    for (size_t i = 0; i < words->count; i++) {
        if (tv_inputs_is_second_half(words->items, i))
            continue;
        files->paths[files->count] = words->items[i];
        /* two recent files may have one name in different folders */
        const char *name =
            settings->input.recent ? words->items[i] : tv_inputs_shown_name(words->items[i]);
        files->files[files->count++] = (struct tv_viewer_file){name, offsets[i]};
    }
    tv_free(offsets);
    pthread_condattr_t attributes;
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(&files->written, &attributes);
    pthread_condattr_destroy(&attributes);
    pthread_mutex_init(&files->lock, NULL);
    pthread_mutex_init(&files->cache_lock, NULL);
    return TV_OK;
}

static void viewer_files_release(struct viewer_files *files)
{
    for (size_t i = 0; i < files->count; i++)
        if (files->kept[i] != NULL)
            tv_source_free(files->kept[i]);
    tv_free(files->files);
    tv_free(files->paths);
    tv_free(files->kept);
    pthread_cond_destroy(&files->written);
    pthread_mutex_destroy(&files->lock);
    pthread_mutex_destroy(&files->cache_lock);
}

/* Check options and regular files before a page is opened. */
static enum tv_status cmd_view_check(const struct tv_settings *settings,
                                     const struct viewer_files *files, struct tv_error *err)
{
    enum tv_status status = tv_load_check(settings, err);
    if (settings->input.recent)
        return status;
    for (size_t i = 0; i < files->count && status == TV_OK; i++)
        if (cmd_view_is_regular(files->paths[i]))
            status = tv_load_check_file(files->paths[i], err);
    if (status == TV_OK && files->count > TV_OPEN_INPUTS)
        status = tv_fail(err, TV_ERR_LIMIT, TV_NO_OFFSET, "more than %u files", TV_OPEN_INPUTS);
    return status;
}

/* Signals that end the viewer. A thread waits for them; there is no handler. */
struct viewer_signals {
    sigset_t set;
    pthread_t thread;
    struct tv_viewer *server;
};

/* Keep signals ignored that the shell ignores (nohup, a background job of a script). */
static void cmd_view_add_unless_ignored(sigset_t *set, int number)
{
    struct sigaction now;
    if (sigaction(number, NULL, &now) == 0 && now.sa_handler != SIG_IGN)
        sigaddset(set, number);
}

/* Block the signals, in all threads that are started from now on, too. */
static void viewer_signals_hold(struct viewer_signals *signals)
{
    sigemptyset(&signals->set);
    sigaddset(&signals->set, SIGTERM);
    cmd_view_add_unless_ignored(&signals->set, SIGINT);
    cmd_view_add_unless_ignored(&signals->set, SIGHUP);
    pthread_sigmask(SIG_BLOCK, &signals->set, NULL);
}

static void *viewer_signals_await(void *context)
{
    struct viewer_signals *signals = context;
    int number;
    sigwait(&signals->set, &number);
    tv_viewer_stop(signals->server);
    return NULL;
}

/* End the signal thread. From here on a signal ends the program at once. */
static void viewer_signals_release(struct viewer_signals *signals)
{
    pthread_kill(signals->thread, SIGTERM);
    pthread_join(signals->thread, NULL);
    pthread_sigmask(SIG_UNBLOCK, &signals->set, NULL);
}

/* Open the browser and wait for the end. Return the exit code. */
static int cmd_view_serve(const struct tv_command *command, const struct tv_settings *settings,
                          struct tv_viewer *server, const char *address)
{
    int code = TV_EXIT_OK;
    bool opened = false;
    struct tv_browser browser = {.directory = ""};
    if (tv_viewer_wait_sketched(server, EARLY_MS) != TV_SESSION_FAILED) {
        puts(address);
        fflush(stdout);
        if (!settings->no_browser)
            opened =
                tv_is_confined() ? tv_confined_browser_open() : tv_browser_open(&browser, address);
    }
    if (tv_viewer_wait_loaded(server, TV_FOREVER) == TV_SESSION_FAILED)
        code = tv_command_failed(command, tv_viewer_error(server));
    tv_viewer_wait_stop(server, opened);
    tv_browser_close(&browser);
    return code;
}

/* Set the port; false when it is not a valid number. */
static bool cmd_view_set_port(const struct tv_settings *settings, struct tv_viewer_options *server,
                              struct tv_error *err)
{
    server->port = (uint16_t)settings->port;
    if (settings->port <= UINT16_MAX)
        return true;
    tv_fail(err, TV_ERR_USAGE, TV_NO_OFFSET, "--port: expected a number up to %u", UINT16_MAX);
    return false;
}

/* Run the server in the sandbox until its end. Return the exit code. */
static int cmd_view_run_server(const struct tv_command *command, const struct tv_settings *settings,
                               struct tv_viewer *server, const char *address)
{
    struct viewer_signals signals = {.server = server};
    struct tv_error err = {0};
    viewer_signals_hold(&signals);
    if (tv_viewer_start(server, &err) != TV_OK)
        return tv_command_failed(command, &err);
    if (tv_thread_start(&signals.thread, TV_THREAD_STACK, viewer_signals_await, &signals) != 0) {
        fputs("traceview: no thread can be started\n", stderr);
        return TV_EXIT_INPUT;
    }
    int code = cmd_view_serve(command, settings, server, address);
    viewer_signals_release(&signals);
    return code;
}

/* Enter the sandbox, after the server listens and before it answers. Return the exit code. */
static int cmd_view_confine_and_run(const struct tv_command *command,
                                    const struct tv_settings *settings,
                                    const struct viewer_files *files, struct tv_viewer *server,
                                    const char *place, bool forks)
{
    struct tv_out text;
    tv_out_init_memory(&text);
    cmd_view_put_address(&text, tv_viewer_address(server), place, settings->select.filter);
    const char *address = (const char *)text.buffer;
    struct tv_confine_options confinement = {
        .settings = settings, .address = address, .forks = forks};
    struct tv_error err = {0};
    int code;
    if (tv_confine(&confinement, &err) != TV_OK || cmd_view_check(settings, files, &err) != TV_OK)
        code = tv_command_failed(command, &err);
    else
        code = cmd_view_run_server(command, settings, server, address);
    tv_out_release(&text);
    return code;
}

/* Open DuckDB's library, which cannot be opened in the sandbox. Without it the page says what to
 * do. */
static void cmd_view_open_sql(const struct tv_settings *settings, struct tv_viewer_sql *sql,
                              struct tv_error *missing)
{
    sql->ready = tv_duck_open(missing) == TV_OK;
    sql->missing = sql->ready ? NULL : missing->message;
    sql->threads = tv_settings_jobs(settings);
    sql->limit_memory = tv_sandbox_limit_memory;
    if (settings->input.max_memory != TV_ANY_MEMORY)
        sql->max_memory = settings->input.max_memory / 2; /* the other half is for reading */
}

int tv_command_run_viewer(const struct tv_command *command, const struct tv_settings *settings,
                          size_t begin_count, const char *place)
{
    struct tv_settings whole = *settings;
    struct viewer_files files = {.count = 0};
    struct tv_viewer_options served = {
        .loader = {viewer_files_load, viewer_files_write_to_cache, &files,
                   tv_reporter(settings->input.mapping || settings->input.symbols.count > 0)},
        .sender = {viewer_files_send, &files}};
    struct tv_viewer *server;
    struct tv_error err = {0}, no_sql = {0};
    int code;
    whole.select.filter = NULL;
    if (!cmd_view_set_port(settings, &served, &err) ||
        viewer_files_init(&files, &whole, &err) != TV_OK)
        return tv_command_failed(command, &err);
    cmd_view_open_sql(settings, &served.sql, &no_sql);
    served.files = files.files;
    served.file_count = files.count;
    served.begin_count = begin_count < files.count ? begin_count : files.count;
    if (tv_viewer_new(&served, &server, &err) == TV_OK) {
        code = cmd_view_confine_and_run(command, settings, &files, server, place, served.sql.ready);
        viewer_files_finish_cache(&files);
        if (!tv_viewer_free(server)) {
            fflush(NULL);
            _exit(code);
        }
    } else {
        code = tv_command_failed(command, &err);
    }
    viewer_files_release(&files);
    return code;
}

static int cmd_view_run(const struct tv_command *command, const struct tv_settings *settings)
{
    return tv_command_run_viewer(command, settings,
                                 settings->input.recent ? 0 : settings->files.count, NULL);
}

/* Without a file, the page offers those that were open last. */
static enum tv_status cmd_view_prepare(struct tv_settings *settings, struct tv_error *err)
{
    (void)err;
    settings->input.recent = settings->files.count == 0 && !settings->input.no_cache;
    if (settings->input.recent)
        tv_recent_files_find(settings, &settings->files);
    return TV_OK;
}

const struct tv_command tv_command_view = {
    .name = "view",
    .summary = "open the viewer",
    .arguments = "[OPTION]... [FILE]...",
    .options = view_options,
    .min_files = 0,
    .max_files = TV_ANY_FILES,
    .prepare = cmd_view_prepare,
    .run = cmd_view_run,
};
