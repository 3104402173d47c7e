/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cmd_serve.c - `traceview serve`: the upload server, until a signal ends it.
 */
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/bytes.h"
#include "base/file.h"
#include "base/memory.h"
#include "cli/command.h"
#include "cli/config.h"
#include "cli/reporter.h"
#include "cli/secret.h"
#include "cli/serve_check.h"
#include "hub/server.h"

#define PORT 8192
#define LARGEST_KEY ((size_t)1 << 20)

static const struct tv_option options[] = {
    TV_OPTION("config", "FILE", TV_OPTION_TEXT, serve.config,
              "options from a file, 'name = value' a line; those given here are stronger"),
    TV_OPTION("store", "DIR", TV_OPTION_TEXT, serve.store,
              "where the traces lie (default: traceview in $XDG_DATA_HOME or ~/.local/share)"),
    TV_OPTION("port", "N", TV_OPTION_COUNT, port, "listen on this port (default: 8192)"),
    TV_OPTION(
        "listen", "ADDRESS", TV_OPTION_LIST, serve.listen,
        "listen there: 0.0.0.0, [::], 192.168.1.5:80 (default: 127.0.0.1; may be given again)"),
    TV_OPTION("host", "NAME", TV_OPTION_LIST, serve.hosts,
              "a name by which clients may call the server (may be given again)"),
    TV_OPTION(
        "token", "TEXT", TV_OPTION_TEXT, serve.token,
        "who uploads, lists or looks has to know this; better in a file, others see commands"),
    TV_OPTION("token-file", "FILE", TV_OPTION_TEXT, serve.token_file, "the same from a file"),
    TV_OPTION("htpasswd", "FILE", TV_OPTION_TEXT, serve.htpasswd,
              "names and passwords instead, as 'htpasswd -B' writes them"),
    TV_OPTION("public-read", NULL, TV_OPTION_FLAG, serve.public_read,
              "who has the address of a trace may look at it without logging in"),
    TV_OPTION("no-login", NULL, TV_OPTION_FLAG, serve.no_login,
              "let everybody in, also when other machines can reach the server"),
    TV_OPTION("certificate", "FILE", TV_OPTION_TEXT, serve.certificate,
              "speak TLS with this certificate (PEM, with its chain)"),
    TV_OPTION("key", "FILE", TV_OPTION_TEXT, serve.key, "its key (PEM)"),
    TV_OPTION("proxy", "ADDRESS", TV_OPTION_LIST, serve.proxies,
              "believe the X-Forwarded headers of this proxy (may be given again)"),
    TV_OPTION("keep", "TIME", TV_OPTION_SECONDS, serve.keep,
              "forget traces after so long, 30d or 12h, unless they are pinned"),
    TV_OPTION("max-store", "SIZE", TV_OPTION_SIZE, serve.max_store,
              "keep so much at most, 50G: the oldest go, pinned ones never"),
    TV_OPTION("max-upload", "SIZE", TV_OPTION_SIZE, serve.max_upload,
              "take files up to this size (default: 16G)"),
    TV_OPTION("max-unpacked", "SIZE", TV_OPTION_SIZE, serve.max_unpacked,
              "unpack a packed trace up to this size (default: 16G)"),
    TV_OPTION("max-memory", "SIZE", TV_OPTION_SIZE, serve.max_memory,
              "of each process that reads a trace (default: 4G)"),
    TV_OPTION("max-cpu", "TIME", TV_OPTION_SECONDS, serve.max_cpu,
              "processor time for reading one trace (default: 10m)"),
    TV_OPTION("engines", "N", TV_OPTION_COUNT, serve.engines,
              "processes with traces at once (default: 8)"),
    TV_OPTION("connections", "N", TV_OPTION_COUNT, serve.connections,
              "connections at once (default: 512)"),
    TV_OPTION("client-connections", "N", TV_OPTION_COUNT, serve.client_connections,
              "connections of one client at once (default: 256)"),
    TV_OPTION("rate", "N", TV_OPTION_COUNT, serve.rate,
              "requests a second of one client (default: 1000; 0: any number)"),
    TV_OPTION("grace", "TIME", TV_OPTION_SECONDS, serve.grace,
              "at the end, running uploads have so long (default: 20s)"),
    TV_OPTION("log", "text|json", TV_OPTION_CHOICE, serve.log,
              "form of the lines on standard error (default: text)"),
    TV_OPTION("log-level", "error|warning|info|debug", TV_OPTION_CHOICE, serve.log_level,
              "what is logged; debug: each request (default: info)"),
    TV_OPTION("sample", "FILE", TV_OPTION_TEXT, serve.sample,
              "the trace that the first page offers (default: the bundled example)"),
    TV_OPTION("no-sample", NULL, TV_OPTION_FLAG, serve.no_sample, "offer none"),
    TV_OPTION("help", NULL, TV_OPTION_FLAG, help, "this text"),
    TV_OPTIONS_END,
};

/* What the options of the hub point to. */
struct texts {
    char *config, *token, *certificate, *key;
    char store[4096], sample[4096], hostname[256];
    const char **hosts;
};

static void release_texts(struct texts *texts)
{
    tv_free(texts->config);
    tv_free(texts->token);
    tv_free(texts->certificate);
    tv_free(texts->key);
    tv_free(texts->hosts);
}

static uint64_t or_default(uint64_t value, uint64_t otherwise)
{
    return value > 0 ? value : otherwise;
}

/* Whether the option was given, on the command line or in the file. */
static bool is_given(const struct tv_settings *settings, const char *name)
{
    for (size_t i = 0; options[i].name != NULL; i++)
        if (strcmp(options[i].name, name) == 0)
            return (settings->given >> i & 1) != 0;
    return false;
}

/* Folders. */

/* The user's own, which is made when it is not there. */
static enum tv_status find_store(struct texts *texts, struct tv_error *err)
{
    const char *data = getenv("XDG_DATA_HOME"), *home = getenv("HOME");
    if (data != NULL && data[0] == '/')
        snprintf(texts->store, sizeof texts->store, "%s/traceview", data);
    else if (home != NULL && home[0] == '/')
        snprintf(texts->store, sizeof texts->store, "%s/.local/share/traceview", home);
    else
        return tv_fail(err, TV_ERR_USAGE, TV_NO_OFFSET, "--store: expected a folder");
    for (char *slash = texts->store + 1; (slash = strchr(slash, '/')) != NULL; slash++) {
        *slash = '\0';
        if (mkdir(texts->store, 0700) != 0 && errno != EEXIST)
            return tv_fail(err, TV_ERR_IO, TV_NO_OFFSET, "%s: %s", texts->store, strerror(errno));
        *slash = '/';
    }
    return TV_OK;
}

/* The bundled example where it was installed, or where it lies in the folder of a build. */
static const char *find_sample(struct texts *texts)
{
    static const char *const places[] = {
        "../share/traceview/example.trace",
        "../examples/example.trace",
    };
    char folder[2048];
    ssize_t length = readlink("/proc/self/exe", folder, sizeof folder - 1);
    if (length <= 0)
        return NULL;
    folder[length] = '\0';
    char *slash = strrchr(folder, '/');
    if (slash == NULL)
        return NULL;
    *slash = '\0';
    for (size_t i = 0; i < TV_COUNT(places); i++) {
        snprintf(texts->sample, sizeof texts->sample, "%s/%s", folder, places[i]);
        if (access(texts->sample, R_OK) == 0)
            return texts->sample;
    }
    return NULL;
}

/* Options. */

static enum tv_status read_pem(const char *path, char **text, struct tv_bytes *bytes,
                               struct tv_error *err)
{
    size_t length;
    if (path == NULL)
        return TV_OK;
    enum tv_status status = tv_file_read_text(path, LARGEST_KEY, text, &length, err);
    if (status != TV_OK) {
        *text = NULL;
        return tv_error_prefix(err, "%s", path);
    }
    /* Without a certificate the server would speak to everybody in the clear. */
    if (length == 0)
        return tv_fail(err, TV_ERR_SYNTAX, TV_NO_OFFSET, "%s: the file is empty", path);
    *bytes = (struct tv_bytes){(const uint8_t *)*text, length};
    return TV_OK;
}

static void set_limits(const struct tv_settings *settings, struct tv_upload_server_options *hub)
{
    const struct tv_serve_settings *serve = &settings->serve;
    hub->store.max_upload_bytes = or_default(serve->max_upload, UINT64_C(16) << 30);
    hub->store.max_store_bytes = serve->max_store;
    hub->store.keep_ms = (int64_t)serve->keep * 1000;
    hub->engines = TV_ENGINES_DEFAULTS;
    hub->engines.memory_bytes = or_default(serve->max_memory, hub->engines.memory_bytes);
    hub->engines.unpacked_bytes = or_default(serve->max_unpacked, hub->engines.unpacked_bytes);
    hub->engines.load_seconds = (unsigned)or_default(serve->max_cpu, hub->engines.load_seconds);
    hub->engines.alive = (unsigned)or_default(serve->engines, hub->engines.alive);
    hub->http.limits = (struct tv_http_limits){
        .connections = (uint32_t)or_default(serve->connections, 512),
        .client_connections = (uint32_t)or_default(serve->client_connections, 256),
        .head_bytes = 32 * 1024,
        .stack_bytes = 256 * 1024,
    };
    hub->rate = is_given(settings, "rate") ? (uint32_t)serve->rate : 1000;
}

static void set_hosts(const struct tv_settings *settings, struct texts *texts,
                      struct tv_upload_server_options *hub)
{
    const struct tv_words *given = &settings->serve.hosts;
    texts->hosts = tv_alloc(given->count + 1, sizeof *texts->hosts);
    for (size_t i = 0; i < given->count; i++)
        texts->hosts[i] = given->items[i];
    hub->access.hosts = texts->hosts;
    hub->access.host_count = given->count;
    if (gethostname(texts->hostname, sizeof texts->hostname - 1) == 0)
        texts->hosts[hub->access.host_count++] = texts->hostname;
}

static enum tv_status set_hub(const struct tv_settings *settings, struct texts *texts,
                              struct tv_upload_server_options *hub, struct tv_error *err)
{
    const struct tv_serve_settings *serve = &settings->serve;
    *hub = (struct tv_upload_server_options){
        .folder = serve->store != NULL ? serve->store : texts->store,
        .http = {.addresses = serve->listen.items,
                 .address_count = serve->listen.count,
                 .port = is_given(settings, "port") ? (uint16_t)settings->port : PORT},
        .access = {.htpasswd = serve->htpasswd, .public_read = serve->public_read},
        .log = {.fd = STDERR_FILENO,
                .json = serve->log == 1,
                .level = is_given(settings, "log-level") ? (enum tv_log_level)serve->log_level
                                                         : TV_LOG_INFO},
        .proxies = serve->proxies.items,
        .proxy_count = serve->proxies.count,
        .reports = tv_reporter(false) != NULL,
    };
    set_limits(settings, hub);
    set_hosts(settings, texts, hub);
    if (!serve->no_sample)
        hub->sample = serve->sample != NULL ? serve->sample : find_sample(texts);
    enum tv_status status = tv_secret_read(serve->token, serve->token_file, &texts->token, err);
    hub->access.token = texts->token;
    if (status == TV_OK)
        status = read_pem(serve->certificate, &texts->certificate, &hub->http.certificate, err);
    if (status == TV_OK)
        status = read_pem(serve->key, &texts->key, &hub->http.key, err);
    if (status == TV_OK && serve->store == NULL)
        status = find_store(texts, err);
    return status;
}

/* Running. */

static void print_addresses(const struct tv_upload_server *hub)
{
    const char *address;
    for (size_t i = 0; (address = tv_upload_server_address(hub, i)) != NULL; i++)
        puts(address);
    fflush(stdout);
}

static int serve(const struct tv_command *command, const struct tv_upload_server_options *hub_options,
                 unsigned grace_ms)
{
    struct tv_upload_server *hub;
    struct tv_error err = {0};
    sigset_t set;
    int number;
    sigemptyset(&set);
    sigaddset(&set, SIGTERM);
    sigaddset(&set, SIGINT);
    pthread_sigmask(SIG_BLOCK, &set, NULL); /* every thread leaves them to this one */
    if (tv_upload_server_new(hub_options, &hub, &err) != TV_OK)
        return tv_command_failed(command, &err);
    print_addresses(hub);
    sigwait(&set, &number);
    pthread_sigmask(SIG_UNBLOCK, &set, NULL); /* a second one ends it at once */
    tv_upload_server_stop(hub, grace_ms);
    tv_upload_server_free(hub);
    return TV_EXIT_OK;
}

/* Lists that the file filled: the command line's are given back by who parsed it. */
static void release_lists(const struct tv_serve_settings *all,
                          const struct tv_serve_settings *given)
{
    if (all->listen.items != given->listen.items)
        tv_free(all->listen.items);
    if (all->hosts.items != given->hosts.items)
        tv_free(all->hosts.items);
    if (all->proxies.items != given->proxies.items)
        tv_free(all->proxies.items);
}

static int run(const struct tv_command *command, const struct tv_settings *given)
{
    struct tv_settings settings = *given;
    struct texts *texts = tv_alloc(1, sizeof *texts);
    struct tv_upload_server_options hub;
    struct tv_error err = {0};
    enum tv_status status = TV_OK;
    int code;
    if (settings.serve.config != NULL)
        status = tv_config_read(options, settings.serve.config, &settings, &texts->config, &err);
    if (status == TV_OK)
        status = tv_serve_check(&settings, &err);
    if (status == TV_OK)
        status = set_hub(&settings, texts, &hub, &err);
    if (status == TV_OK)
        code = serve(command, &hub, 1000 * (unsigned)or_default(settings.serve.grace, 20));
    else
        code = tv_command_failed(command, &err);
    release_lists(&settings.serve, &given->serve);
    release_texts(texts);
    tv_free(texts);
    return code;
}

const struct tv_command tv_command_serve = {
    .name = "serve",
    .summary = "take traces in over the network and show them to a team",
    .arguments = "[OPTION]...",
    .options = options,
    .min_files = 0,
    .max_files = TV_ANY_FILES,
    .run = run,
};
