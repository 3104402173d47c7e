/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cmd_view.c - `traceview FILE...`: serves the viewer to the user's browser until somebody wants no
 * more.
 */
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "analysis/filter_text.h"
#include "base/bytes.h"
#include "base/memory.h"
#include "cli/command.h"
#include "cli/load.h"
#include "cli/meter.h"
#include "server/browser.h"
#include "server/server.h"

/* A trace that cannot be read mostly shows it sooner; then nobody is sent to a page. */
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

/* Before a page opens to say so. */
static enum tv_status check_filter(const char *text, struct tv_error *err)
{
    struct tv_filter filter;
    size_t column;
    if (!text)
        return TV_OK;
    if (tv_filter_parse(tv_bytes_of(text), &filter, &column, err) != TV_OK)
        return tv_error_prefix(err, "--filter");
    tv_filter_release(&filter);
    return TV_OK;
}

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

/* What is to be loaded. */
struct wish {
    const struct tv_settings *settings;
    struct tv_loading *loading; /* NULL: still to be opened, or handed over */
};

static enum tv_status open_files(struct wish *wish, struct tv_error *err)
{
    const struct tv_words *files = &wish->settings->files;
    return tv_load_open(wish->settings, files->items, files->count, &wish->loading, err);
}

static enum tv_status load(void *context, struct tv_progress *progress, struct tv_trace **trace,
                           struct tv_error *err)
{
    struct wish *wish = context;
    const struct tv_settings *settings = wish->settings;
    if (wish->loading == NULL && open_files(wish, err) != TV_OK)
        return err->status;
    struct tv_loading *loading = wish->loading;
    struct tv_meter *meter = tv_meter_start(progress, settings->quiet);
    wish->loading = NULL;
    enum tv_status status = tv_load_build(loading, progress, trace, err);
    tv_meter_stop(meter);
    if (status == TV_OK)
        tv_load_report(settings, (*trace)->head);
    return status;
}

/* What the page calls the trace while it loads: "app.trace", "app.trace and 2 more". */
static void make_name(char *buffer, size_t size, const struct tv_words *files)
{
    const char *first = files->items[0];
    const char *slash = strrchr(first, '/');
    if (strcmp(first, "-") == 0)
        first = "standard input";
    else if (slash != NULL && slash[1] != '\0')
        first = slash + 1;
    if (files->count > 1)
        snprintf(buffer, size, "%s and %zu more", first, files->count - 1);
    else
        snprintf(buffer, size, "%s", first);
}

/* Signals that end the viewer, taken by a thread instead of a handler. */
struct signals {
    sigset_t set;
    pthread_t thread;
    struct tv_server *server;
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
    tv_server_end(signals->server);
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
                 struct tv_server *server)
{
    int code = TV_EXIT_OK;
    bool opened = false;
    if (tv_server_wait_loaded(server, EARLY_MS) != TV_SESSION_FAILED) {
        char *address = page_address(tv_server_address(server), settings->filter);
        puts(address);
        fflush(stdout);
        opened = !settings->no_browser && tv_browser_open(address);
        tv_free(address);
    }
    if (tv_server_wait_loaded(server, TV_FOREVER) == TV_SESSION_FAILED)
        code = tv_command_failed(command, tv_server_error(server));
    tv_server_wait_end(server, opened);
    return code;
}

/* Adds the port to the options unless it is none. */
static bool take_port(const struct tv_settings *settings, struct tv_server_options *server,
                      struct tv_error *err)
{
    server->port = (uint16_t)settings->port;
    if (settings->port <= UINT16_MAX)
        return true;
    tv_fail(err, TV_ERR_USAGE, TV_NO_OFFSET, "--port: expected a number up to %u", UINT16_MAX);
    return false;
}

/* Whether all files are there already: a pipe may keep silent for long, and the page tells that. */
static bool are_at_hand(const struct tv_words *files)
{
    struct stat info;
    for (size_t i = 0; i < files->count; i++) {
        const char *file = files->items[i];
        if (strcmp(file, "-") == 0 || (stat(file, &info) == 0 && !S_ISREG(info.st_mode)))
            return false;
    }
    return true;
}

static int run(const struct tv_command *command, const struct tv_settings *settings)
{
    char name[512];
    struct tv_settings whole = *settings; /* the page filters */
    struct wish wish = {.settings = &whole};
    struct tv_server_options server = {.name = name, .loader = {.load = load, .context = &wish}};
    struct signals signals = {0};
    struct tv_error err = {0};
    whole.filter = NULL;
    make_name(name, sizeof name, &settings->files);
    if (!take_port(settings, &server, &err) || check_filter(settings->filter, &err) != TV_OK)
        return tv_command_failed(command, &err);
    if (are_at_hand(&settings->files) && open_files(&wish, &err) != TV_OK)
        return tv_command_failed(command, &err);

    hold_signals(&signals);
    if (tv_server_new(&server, &signals.server, &err) != TV_OK) {
        tv_load_close(wish.loading);
        return tv_command_failed(command, &err);
    }
    int code = TV_EXIT_INPUT;
    if (pthread_create(&signals.thread, NULL, await_signal, &signals) == 0) {
        code = serve(command, settings, signals.server);
        let_signals_go(&signals);
    } else {
        fputs("traceview: cannot start a thread\n", stderr);
    }
    if (!tv_server_free(signals.server)) {
        fflush(NULL);
        _exit(code);
    }
    return code;
}

const struct tv_command tv_command_view = {
    .name = "view",
    .summary = "open the viewer",
    .arguments = "[OPTION]... FILE...",
    .options = options,
    .min_files = 1,
    .max_files = TV_ANY_FILES,
    .run = run,
};
