/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cmd_view.c - `traceview FILE...`: serves the viewer to the user's browser until somebody wants no
 * more.
 */
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/file.h"
#include "base/memory.h"
#include "base/source.h"
#include "base/workers.h"
#include "cli/cached.h"
#include "cli/command.h"
#include "cli/confine.h"
#include "cli/load.h"
#include "cli/meter.h"
#include "cli/offsets.h"
#include "cli/reporter.h"
#include "server/viewer.h"

/* A trace that cannot be read mostly shows it sooner; then nobody is sent to a page.  One that can
 * be shows its first events sooner still, and nobody waits. */
#define EARLY_MS 200

static const struct tv_option options[] = {
    TV_OPTION("port", "N", TV_OPTION_COUNT, port,
              "listen on this port (default: the first from 27180 to 27187 that is free, or any)"),
    TV_OPTION("no-browser", NULL, TV_OPTION_FLAG, no_browser,
              "print the address and leave opening it to you"),
    TV_OPTION_FILTER,
    TV_OPTION_OFFSET,
    TV_OPTIONS_READING,
    TV_OPTIONS_END,
};

/* The address at which the page opens, with the filter; to be freed. */
static char *page_address(const char *address, const char *filter)
{
    static const char digits[] = "0123456789ABCDEF";
    size_t length = strlen(address), more = filter ? strlen(filter) * 3 + 9 : 1;
    char *made = tv_alloc(length + more, 1);
    memcpy(made, address, length);
    if (!filter)
        return made;
    memcpy(made + length, "#filter=", 8);
    length += 8;
    for (const char *c = filter; *c; c++) {
        unsigned byte = (unsigned char)*c;
        bool plain = (byte | 0x20) - 'a' < 26 || byte - '0' < 10 || strchr("-._~*:$", *c);
        if (plain) {
            made[length++] = *c;
            continue;
        }
        made[length++] = '%';
        made[length++] = digits[byte >> 4];
        made[length++] = digits[byte & 15];
    }
    return made;
}

/* The program's own files, by their number for the server. */
struct own {
    const struct tv_settings *settings; /* without the filter: that is the page's */
    struct tv_viewer_file *files;
    const char **paths;
    struct tv_source **kept; /* what can be read only once, when it has been opened */
    size_t count;
    pthread_mutex_t lock; /* of `kept` and `pending` */
    struct pending *pending;
    atomic_bool stop; /* nothing is written to the cache any more */
};

/* A trace that is to be written to the cache when it has been shown. */
struct pending {
    struct pending *next;
    const struct tv_trace *trace;
    struct tv_cached cached;
};

static bool is_regular(const char *path)
{
    struct stat info;
    return strcmp(path, "-") != 0 && (tv_file_stat(path, &info) != 0 || S_ISREG(info.st_mode));
}

static enum tv_status open_own(struct own *own, uint32_t number, struct tv_source **source,
                               struct tv_error *err)
{
    const char *path = own->paths[number];
    struct tv_source **kept = &own->kept[number];
    if (is_regular(path))
        return tv_inputs_open_argument(path, source, err);
    pthread_mutex_lock(&own->lock);
    enum tv_status status = *kept ? TV_OK : tv_inputs_open_argument(path, kept, err);
    if (status == TV_OK)
        *source = tv_source_part(*kept, 0, tv_source_size(*kept), tv_source_name(*kept));
    pthread_mutex_unlock(&own->lock);
    return status;
}

static enum tv_status open_inputs(struct own *own, const struct tv_session_input *inputs,
                                  size_t count, struct tv_given *given, struct tv_error *err)
{
    enum tv_status status = TV_OK;
    size_t opened = 0;
    for (size_t i = 0; i < count; i++) {
        struct tv_source *source = inputs[i].source;
        if (source == NULL && status == TV_OK)
            status = open_own(own, inputs[i].number, &source, err);
        if (source != NULL)
            given[opened++] = (struct tv_given){source, inputs[i].offset};
    }
    if (status != TV_OK)
        tv_given_free(given, opened);
    return status;
}

/* False: such files are not cached. */
static bool look(const struct own *own, const struct tv_session_input *inputs, size_t count,
                 struct tv_cached *cached)
{
    *cached = (struct tv_cached){.settings = own->settings, .count = count};
    if (count > TV_CACHED_FILES)
        return false;
    for (size_t i = 0; i < count; i++) {
        if (inputs[i].source != NULL)
            return false;
        cached->paths[i] = own->paths[inputs[i].number];
        cached->offsets[i] = inputs[i].offset;
    }
    return tv_cached_look(cached);
}

static void add_pending(struct own *own, const struct tv_cached *cached,
                        const struct tv_trace *trace)
{
    struct pending *pending = tv_alloc(1, sizeof *pending);
    pthread_mutex_lock(&own->lock);
    *pending = (struct pending){own->pending, trace, *cached};
    own->pending = pending;
    pthread_mutex_unlock(&own->lock);
}

static struct pending *take_pending(struct own *own, const struct tv_trace *trace)
{
    pthread_mutex_lock(&own->lock);
    struct pending **place = &own->pending;
    while (*place && (*place)->trace != trace)
        place = &(*place)->next;
    struct pending *found = *place;
    if (found)
        *place = found->next;
    pthread_mutex_unlock(&own->lock);
    return found;
}

/* For the next time, while people look at it. */
static void write_to_cache(void *context, const struct tv_trace *trace, const struct tv_view *view)
{
    struct own *own = context;
    struct pending *pending = take_pending(own, trace);
    if (pending)
        tv_cached_write(&pending->cached, trace, view, &own->stop);
    tv_free(pending);
}

static uint64_t now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

/* A trace and how it was come by. */
struct reading {
    struct tv_trace *trace;
    uint64_t began;
    bool packed, remarked; /* load.h */
};

static enum tv_status read_files(struct own *own, struct tv_given *given, size_t count,
                                 struct tv_progress *progress, struct reading *reading,
                                 struct tv_error *err)
{
    const struct tv_settings *settings = own->settings;
    struct tv_loading *loading;
    enum tv_status status = tv_load_given(settings, given, count, progress, &loading, err);
    if (status != TV_OK)
        return status;
    reading->packed = tv_load_is_packed(loading);
    reading->remarked = tv_load_is_remarked(loading);
    struct tv_meter *meter = tv_meter_start(progress, settings->quiet);
    status = tv_load_build(loading, progress, &reading->trace, err);
    tv_meter_stop(meter);
    return status;
}

static enum tv_status load(void *context, const struct tv_session_input *inputs, size_t count,
                           struct tv_progress *progress, struct tv_trace **trace,
                           struct tv_error *err)
{
    struct own *own = context;
    struct tv_cached cached;
    struct reading reading = {.began = now_ns()};
    bool cacheable = look(own, inputs, count, &cached);
    if (!cacheable || !tv_cached_read(&cached, &reading.trace)) {
        struct tv_given *given = tv_alloc(count, sizeof *given);
        enum tv_status status = open_inputs(own, inputs, count, given, err);
        if (status == TV_OK)
            status = read_files(own, given, count, progress, &reading, err);
        tv_free(given);
        if (status != TV_OK)
            return status;
        if (cacheable && !reading.remarked &&
            tv_cached_is_worth(&cached, reading.trace, reading.packed, now_ns() - reading.began))
            add_pending(own, &cached, reading.trace);
    }
    *trace = reading.trace;
    tv_load_report(own->settings, (*trace)->head);
    return TV_OK;
}

/* What the page calls a file: its name without the folders. */
static const char *shown_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    if (strcmp(path, "-") == 0)
        return "standard input";
    return slash != NULL && slash[1] != '\0' ? slash + 1 : path;
}

static enum tv_status init_own(struct own *own, const struct tv_settings *settings,
                               struct tv_error *err)
{
    const struct tv_words *files = &settings->files;
    tv_ns *offsets;
    enum tv_status status =
        tv_offsets_find(&settings->offsets, files->items, files->count, &offsets, err);
    if (status != TV_OK)
        return status;
    own->settings = settings;
    own->files = tv_alloc(files->count, sizeof *own->files);
    own->paths = tv_alloc(files->count, sizeof *own->paths);
    own->kept = tv_alloc(files->count, sizeof(struct tv_source *));
    for (size_t i = 0; i < files->count; i++) {
        if (tv_inputs_is_second_half(files->items, i))
            continue;
        own->paths[own->count] = files->items[i];
        own->files[own->count++] = (struct tv_viewer_file){shown_name(files->items[i]), offsets[i]};
    }
    tv_free(offsets);
    pthread_mutex_init(&own->lock, NULL);
    return TV_OK;
}

static void release_own(struct own *own)
{
    for (size_t i = 0; i < own->count; i++)
        if (own->kept[i] != NULL)
            tv_source_free(own->kept[i]);
    tv_free(own->files);
    tv_free(own->paths);
    tv_free(own->kept);
    pthread_mutex_destroy(&own->lock);
}

/* Before a page opens to say so: what is wrong with the words and with files that are at hand. */
static enum tv_status check(const struct tv_settings *settings, const struct own *own,
                            struct tv_error *err)
{
    enum tv_status status = tv_load_check(settings, err);
    for (size_t i = 0; i < own->count && status == TV_OK; i++)
        if (is_regular(own->paths[i]))
            status = tv_load_check_file(own->paths[i], err);
    if (status == TV_OK && own->count > TV_OPEN_INPUTS)
        status = tv_fail(err, TV_ERR_LIMIT, TV_NO_OFFSET, "more than %u files", TV_OPEN_INPUTS);
    return status;
}

/* Signals that end the viewer, taken by a thread instead of a handler. */
struct signals {
    sigset_t set;
    pthread_t thread;
    struct tv_viewer *server;
};

/* What the user's shell wants ignored (nohup, a job in the background of a script) stays so. */
static void add_unless_ignored(sigset_t *set, int number)
{
    struct sigaction now;
    if (sigaction(number, NULL, &now) == 0 && now.sa_handler != SIG_IGN)
        sigaddset(set, number);
}

/* Every thread that is started from now on leaves them alone too. */
static void hold_signals(struct signals *signals)
{
    sigemptyset(&signals->set);
    sigaddset(&signals->set, SIGTERM);
    add_unless_ignored(&signals->set, SIGINT);
    add_unless_ignored(&signals->set, SIGHUP);
    pthread_sigmask(SIG_BLOCK, &signals->set, NULL);
}

static void *await_signal(void *context)
{
    struct signals *signals = context;
    int number;
    sigwait(&signals->set, &number);
    tv_viewer_stop(signals->server);
    return NULL;
}

/* From here on a signal ends the program at once. */
static void let_signals_go(struct signals *signals)
{
    pthread_kill(signals->thread, SIGTERM);
    pthread_join(signals->thread, NULL);
    pthread_sigmask(SIG_UNBLOCK, &signals->set, NULL);
}

/* The exit code. */
static int serve(const struct tv_command *command, const struct tv_settings *settings,
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

/* Adds the port to the options unless it is none. */
static bool take_port(const struct tv_settings *settings, struct tv_viewer_options *server,
                      struct tv_error *err)
{
    server->port = (uint16_t)settings->port;
    if (settings->port <= UINT16_MAX)
        return true;
    tv_fail(err, TV_ERR_USAGE, TV_NO_OFFSET, "--port: expected a number up to %u", UINT16_MAX);
    return false;
}

/* Run the server, behind the lock, until its end.  Return the exit code. */
static int run_server(const struct tv_command *command, const struct tv_settings *settings,
                      struct tv_viewer *server, const char *address)
{
    struct signals signals = {.server = server};
    struct tv_error err = {0};
    hold_signals(&signals);
    if (tv_viewer_start(server, &err) != TV_OK)
        return tv_command_failed(command, &err);
    if (tv_thread_start(&signals.thread, TV_THREAD_STACK, await_signal, &signals) != 0) {
        fputs("traceview: cannot start a thread\n", stderr);
        return TV_EXIT_INPUT;
    }
    int code = serve(command, settings, server, address);
    let_signals_go(&signals);
    return code;
}

/* Lock the process in, once the server listens and before it answers.  Return the exit code. */
static int confine_and_run(const struct tv_command *command, const struct tv_settings *settings,
                           const struct own *own, struct tv_viewer *server)
{
    char *address = page_address(tv_viewer_address(server), settings->filter);
    struct tv_confine_options confinement = {settings, address};
    struct tv_error err = {0};
    int code;
    if (tv_confine(&confinement, &err) != TV_OK || check(settings, own, &err) != TV_OK)
        code = tv_command_failed(command, &err);
    else
        code = run_server(command, settings, server, address);
    tv_free(address);
    return code;
}

static int run(const struct tv_command *command, const struct tv_settings *settings)
{
    struct tv_settings whole = *settings;
    struct own own = {.count = 0};
    struct tv_viewer_options served = {
        .loader = {load, write_to_cache, &own,
                   tv_reporter(settings->mapping || settings->symbols.count > 0)}};
    struct tv_viewer *server;
    struct tv_error err = {0};
    int code;
    whole.filter = NULL;
    if (!take_port(settings, &served, &err) || init_own(&own, &whole, &err) != TV_OK)
        return tv_command_failed(command, &err);
    served.files = own.files;
    served.file_count = own.count;
    if (tv_viewer_new(&served, &server, &err) == TV_OK) {
        code = confine_and_run(command, settings, &own, server);
        atomic_store(&own.stop, true);
        if (!tv_viewer_free(server)) {
            fflush(NULL);
            _exit(code);
        }
    } else {
        code = tv_command_failed(command, &err);
    }
    release_own(&own);
    return code;
}

const struct tv_command tv_command_view = {
    .name = "view",
    .summary = "open the viewer",
    .arguments = "[OPTION]... [FILE]...",
    .options = options,
    .min_files = 0,
    .max_files = TV_ANY_FILES,
    .run = run,
};
