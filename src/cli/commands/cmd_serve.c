/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cmd_serve.c - `serve`: the upload server, until a signal ends it; and its
 * child that reads one trace.
 *
 *     command line --.
 *                     > settings --> checks --> options of the server --> upload/server.h
 *     --config FILE -'                                                    until SIGTERM or SIGINT
 *
 * Checks refuse what would be a surprise later: an address that others can
 * reach without a password, a list of clients that cannot match, options
 * without an effect.  They come before anything is opened.
 *
 * Texts of the options live in struct serve_texts until the server has ended.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <inttypes.h>
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
#include "cli/input/load.h"
#include "cli/options.h"
#include "cli/output/html_report.h"
#include "cli/output/webhook_sender.h"
#include "engine/child.h"
#include "unpack/unpack.h"
#include "upload/server.h"

/* ---- Checking the options ---- */

/* No service manager waits longer than a day. */
#define LONGEST_GRACE 86400u

/* 127.0.0.0/8, with or without a port (RFC 1122, section 3.2.1.3). */
static bool serve_is_ipv4_loopback(const char *address)
{
    char host[INET_ADDRSTRLEN];
    uint8_t bytes[4];
    size_t length = strcspn(address, ":");
    if (length >= sizeof host)
        return false;
    memcpy(host, address, length);
    host[length] = '\0';
    return inet_pton(AF_INET, host, bytes) == 1 && bytes[0] == 127;
}

/* Is it an address that only this machine can reach: "127.0.0.1:80", "[::1]", "localhost"? */
static bool serve_is_loopback(const char *address)
{
    static const char *const names[] = {"localhost", "[::1]"};
    for (size_t i = 0; i < TV_COUNT(names); i++) {
        size_t length = strlen(names[i]);
        if (strncmp(address, names[i], length) == 0 &&
            (address[length] == '\0' || address[length] == ':'))
            return true;
    }
    return strcmp(address, "::1") == 0 || serve_is_ipv4_loopback(address);
}

/* Refuse to listen on addresses that others can reach without token, passwords or --no-login. */
static enum tv_status serve_check_listeners(const struct tv_serve_settings *serve,
                                            struct tv_error *err)
{
    if (serve->token || serve->token_file || serve->htpasswd || serve->no_login)
        return TV_OK;
    for (size_t i = 0; i < serve->listen.count; i++)
        if (!serve_is_loopback(serve->listen.items[i]))
            return tv_fail(err, TV_ERR_USAGE, TV_NO_OFFSET,
                           "--listen %s: other machines can reach this address: add --token-file "
                           "or --htpasswd, or --no-login to let everybody in",
                           serve->listen.items[i]);
    return TV_OK;
}

/* Is it an address in the form in which client addresses are written? The two are compared as text.
 */
static bool serve_is_plain_address(const char *text)
{
    static const int families[] = {AF_INET, AF_INET6};
    uint8_t bytes[sizeof(struct in6_addr)];
    char plain[INET6_ADDRSTRLEN];
    for (size_t i = 0; i < TV_COUNT(families); i++)
        if (inet_pton(families[i], text, bytes) == 1 &&
            inet_ntop(families[i], bytes, plain, sizeof plain) != NULL && strcmp(text, plain) == 0)
            return true;
    return false;
}

/* Check --proxy and --host: a value in another form would never match, and silently do nothing. */
static enum tv_status serve_check_names(const struct tv_serve_settings *serve, struct tv_error *err)
{
    for (size_t i = 0; i < serve->proxies.count; i++)
        if (!serve_is_plain_address(serve->proxies.items[i]))
            return tv_fail(err, TV_ERR_USAGE, TV_NO_OFFSET,
                           "--proxy: expected an address, written as 127.0.0.1 or ::1, found '%s'",
                           serve->proxies.items[i]);
    for (size_t i = 0; i < serve->hosts.count; i++)
        if (serve->hosts.items[i][0] == '\0' || strpbrk(serve->hosts.items[i], ":/ ") != NULL)
            return tv_fail(err, TV_ERR_USAGE, TV_NO_OFFSET,
                           "--host: expected a name without scheme and port, found '%s'",
                           serve->hosts.items[i]);
    return TV_OK;
}

/* Check the limits of numeric options. */
static enum tv_status serve_check_numbers(const struct tv_settings *settings, struct tv_error *err)
{
    const struct tv_serve_settings *serve = &settings->serve;
    const struct {
        const char *name;
        uint64_t value, most;
    } numbers[] = {
        {"port", settings->port, UINT16_MAX},
        {"engines", serve->engines, 1023},
        {"connections", serve->connections, UINT16_MAX},
        {"client-connections", serve->client_connections, UINT16_MAX},
        {"rate", serve->rate, INT32_MAX},
        {"grace", serve->grace, LONGEST_GRACE},
        {"max-cpu", serve->max_cpu, INT32_MAX},
        {"keep", serve->keep, INT64_MAX / 1000},
    };
    for (size_t i = 0; i < TV_COUNT(numbers); i++)
        if (numbers[i].value > numbers[i].most)
            return tv_fail(err, TV_ERR_USAGE, TV_NO_OFFSET,
                           "--%s: expected a number up to %" PRIu64, numbers[i].name,
                           numbers[i].most);
    return TV_OK;
}

/* Check options that need or exclude each other. */
static enum tv_status serve_check_pairs(const struct tv_settings *settings, struct tv_error *err)
{
    const struct tv_serve_settings *serve = &settings->serve;
    if (settings->files.count > 0)
        return tv_fail(err, TV_ERR_USAGE, TV_NO_OFFSET,
                       "expected no file: send files with 'traceview push'");
    if ((serve->certificate == NULL) != (serve->key == NULL))
        return tv_fail(err, TV_ERR_USAGE, TV_NO_OFFSET,
                       "--certificate and --key must be given together");
    if ((serve->token || serve->token_file) && serve->htpasswd)
        return tv_fail(err, TV_ERR_USAGE, TV_NO_OFFSET,
                       "a token and --htpasswd cannot be combined");
    if (serve->fleet_webhook && !serve->fleet)
        return tv_fail(err, TV_ERR_USAGE, TV_NO_OFFSET,
                       "--fleet-webhook: change points need a fleet: add --fleet DIR");
    return TV_OK;
}

/* Refuse options that contradict each other, let strangers in or can have no effect. */
static enum tv_status serve_check_options(const struct tv_settings *settings, struct tv_error *err)
{
    enum tv_status status = serve_check_pairs(settings, err);
    if (status == TV_OK)
        status = serve_check_numbers(settings, err);
    if (status == TV_OK)
        status = serve_check_names(&settings->serve, err);
    return status == TV_OK ? serve_check_listeners(&settings->serve, err) : status;
}

#define PORT 8192
#define LARGEST_KEY ((size_t)1 << 20)

static const struct tv_option serve_options[] = {
    TV_OPTION("config", "FILE", TV_OPTION_TEXT, serve.config,
              "read options from FILE, 'name = value' per line; the command line overrides it"),
    TV_OPTION("store", "DIR", TV_OPTION_TEXT, serve.store,
              "directory of the traces (default: traceview in $XDG_DATA_HOME or ~/.local/share)"),
    TV_OPTION("fleet", "DIR", TV_OPTION_TEXT, serve.fleet,
              "add the traces to the fleet in this directory, and answer questions about it"),
    TV_OPTION(
        "fleet-webhook", "URL", TV_OPTION_TEXT, serve.fleet_webhook,
        "send new change points of the fleet to this address, as JSON; prefer --config, other "
        "users can see commands"),
    TV_OPTION("port", "N", TV_OPTION_COUNT, port, "port to listen on (default: 8192)"),
    TV_OPTION(
        "listen", "ADDRESS", TV_OPTION_LIST, serve.listen,
        "address to listen on: 0.0.0.0, [::], 192.168.1.5:80 (default: 127.0.0.1; repeatable)"),
    TV_OPTION("host", "NAME", TV_OPTION_LIST, serve.hosts,
              "host name by which clients may address the server (repeatable)"),
    TV_OPTION("token", "TEXT", TV_OPTION_TEXT, serve.token,
              "clients must send this token; prefer --token-file, other users can see commands"),
    TV_OPTION("token-file", "FILE", TV_OPTION_TEXT, serve.token_file,
              "read the token from the first line of a file"),
    TV_OPTION("htpasswd", "FILE", TV_OPTION_TEXT, serve.htpasswd,
              "names and passwords instead of a token, as 'htpasswd -B' writes them"),
    TV_OPTION("public-read", NULL, TV_OPTION_FLAG, serve.public_read,
              "a trace can be viewed without login by anyone who has its address"),
    TV_OPTION("no-login", NULL, TV_OPTION_FLAG, serve.no_login,
              "let everybody in, even if other machines can reach the server"),
    TV_OPTION("certificate", "FILE", TV_OPTION_TEXT, serve.certificate,
              "use TLS with this certificate (PEM, with its chain)"),
    TV_OPTION("key", "FILE", TV_OPTION_TEXT, serve.key, "private key of the certificate (PEM)"),
    TV_OPTION("proxy", "ADDRESS", TV_OPTION_LIST, serve.proxies,
              "trust the X-Forwarded headers of this proxy (repeatable)"),
    TV_OPTION("keep", "TIME", TV_OPTION_SECONDS, serve.keep,
              "delete traces after this time, 30d or 12h, unless they are pinned"),
    TV_OPTION("max-store", "SIZE", TV_OPTION_SIZE, serve.max_store,
              "size limit of the store, 50G: the oldest traces are deleted, pinned ones never"),
    TV_OPTION("max-upload", "SIZE", TV_OPTION_SIZE, serve.max_upload,
              "largest upload (default: 16G)"),
    TV_OPTION("max-unpacked", "SIZE", TV_OPTION_SIZE, serve.max_unpacked,
              "largest unpacked size of a trace (default: 16G)"),
    TV_OPTION("max-memory", "SIZE", TV_OPTION_SIZE, serve.max_memory,
              "memory limit of each process that reads a trace (default: 4G)"),
    TV_OPTION("max-cpu", "TIME", TV_OPTION_SECONDS, serve.max_cpu,
              "CPU time limit for reading a trace (default: 10m)"),
    TV_OPTION("engines", "N", TV_OPTION_COUNT, serve.engines,
              "maximum number of processes that read traces (default: 8)"),
    TV_OPTION("connections", "N", TV_OPTION_COUNT, serve.connections,
              "maximum connections (default: 512)"),
    TV_OPTION("client-connections", "N", TV_OPTION_COUNT, serve.client_connections,
              "maximum connections of one client (default: 256)"),
    TV_OPTION("rate", "N", TV_OPTION_COUNT, serve.rate,
              "maximum requests per second of one client (default: 1000; 0: no limit)"),
    TV_OPTION("grace", "TIME", TV_OPTION_SECONDS, serve.grace,
              "time for running uploads to finish at shutdown (default: 20s)"),
    TV_OPTION("log", "text|json", TV_OPTION_CHOICE, serve.log,
              "format of the log on standard error (default: text)"),
    TV_OPTION("log-level", "error|warning|info|debug", TV_OPTION_CHOICE, serve.log_level,
              "least severe messages to log; debug logs each request (default: info)"),
    TV_OPTION("sample", "FILE", TV_OPTION_TEXT, serve.sample,
              "sample trace on the first page (default: the bundled example)"),
    TV_OPTION("no-sample", NULL, TV_OPTION_FLAG, serve.no_sample, "show no sample trace"),
    TV_OPTION("help", NULL, TV_OPTION_FLAG, help, "show this help"),
    TV_OPTIONS_END,
};

/* Memory that the options of the upload server point to. */
struct serve_texts {
    struct tv_webhook_sender *webhook;
    char *config, *token, *certificate, *key;
    char store[4096], sample[4096], hostname[256];
    const char **hosts;
};

/* Also after an error: members that were not read are NULL. */
static void serve_texts_release(struct serve_texts *texts)
{
    tv_webhook_sender_free(texts->webhook);
    tv_free(texts->config);
    tv_free(texts->token);
    tv_free(texts->certificate);
    tv_free(texts->key);
    tv_free(texts->hosts);
}

/* 0 stands for an option that was not given. */
static uint64_t cmd_serve_or_default(uint64_t value, uint64_t otherwise)
{
    return value > 0 ? value : otherwise;
}

/* Was the option given, on the command line or in the file? */
static bool cmd_serve_is_given(const struct tv_settings *settings, const char *name)
{
    for (size_t i = 0; serve_options[i].name != NULL; i++)
        if (strcmp(serve_options[i].name, name) == 0)
            return (settings->given >> i & 1) != 0;
    return false;
}

/* ---- Directories ---- */

/* Find the user's default store, and create its parents. */
static enum tv_status cmd_serve_find_store(struct serve_texts *texts, struct tv_error *err)
{
    const char *data = getenv("XDG_DATA_HOME"), *home = getenv("HOME");
    if (data != NULL && data[0] == '/')
        snprintf(texts->store, sizeof texts->store, "%s/traceview", data);
    else if (home != NULL && home[0] == '/')
        snprintf(texts->store, sizeof texts->store, "%s/.local/share/traceview", home);
    else
        return tv_fail(err, TV_ERR_USAGE, TV_NO_OFFSET, "--store: expected a directory");
    for (char *slash = texts->store + 1; (slash = strchr(slash, '/')) != NULL; slash++) {
        *slash = '\0';
        if (mkdir(texts->store, 0700) != 0 && errno != EEXIST)
            return tv_fail(err, TV_ERR_IO, TV_NO_OFFSET, "%s: %s", texts->store, strerror(errno));
        *slash = '/';
    }
    return TV_OK;
}

/* Find the bundled example: installed, or in the directory of a build. */
static const char *cmd_serve_find_sample(struct serve_texts *texts)
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

/* ---- Options of the upload server ---- */

/* Read a certificate or key; *bytes stays empty without a path. */
static enum tv_status cmd_serve_read_pem(const char *path, char **text, struct tv_bytes *bytes,
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
    /* An empty certificate would make the server speak plain HTTP. */
    if (length == 0)
        return tv_fail(err, TV_ERR_SYNTAX, TV_NO_OFFSET, "%s: the file is empty", path);
    *bytes = (struct tv_bytes){(const uint8_t *)*text, length};
    return TV_OK;
}

/* Fill in the limits; 0 means not given, except for --rate, where 0 means no limit. */
static void cmd_serve_set_limits(const struct tv_settings *settings,
                                 struct tv_upload_server_options *options)
{
    const struct tv_serve_settings *serve = &settings->serve;
    options->store.max_upload_bytes = cmd_serve_or_default(serve->max_upload, UINT64_C(16) << 30);
    options->store.max_store_bytes = serve->max_store;
    options->store.keep_ms = (int64_t)serve->keep * 1000;
    options->engines = TV_ENGINES_DEFAULTS;
    options->engines.memory_bytes =
        cmd_serve_or_default(serve->max_memory, options->engines.memory_bytes);
    options->engines.unpacked_bytes =
        cmd_serve_or_default(serve->max_unpacked, options->engines.unpacked_bytes);
    options->engines.load_seconds =
        (unsigned)cmd_serve_or_default(serve->max_cpu, options->engines.load_seconds);
    options->engines.alive = (unsigned)cmd_serve_or_default(serve->engines, options->engines.alive);
    options->http.limits = (struct tv_http_limits){
        .connections = (uint32_t)cmd_serve_or_default(serve->connections, 512),
        .client_connections = (uint32_t)cmd_serve_or_default(serve->client_connections, 256),
        .head_bytes = 32 * 1024,
        .stack_bytes = 256 * 1024,
    };
    options->rate = cmd_serve_is_given(settings, "rate") ? (uint32_t)serve->rate : 1000;
}

/* List the host names of --host, and the machine's own name. */
static void cmd_serve_set_hosts(const struct tv_settings *settings, struct serve_texts *texts,
                                struct tv_upload_server_options *options)
{
    const struct tv_words *given = &settings->serve.hosts;
    texts->hosts = tv_alloc(given->count + 1, sizeof *texts->hosts);
    for (size_t i = 0; i < given->count; i++)
        texts->hosts[i] = given->items[i];
    options->access.hosts = texts->hosts;
    options->access.host_count = given->count;
    if (gethostname(texts->hostname, sizeof texts->hostname - 1) == 0)
        texts->hosts[options->access.host_count++] = texts->hostname;
}

/* The sender lives as long as the other texts. */
static enum tv_status cmd_serve_set_webhook(const struct tv_serve_settings *serve,
                                            struct serve_texts *texts,
                                            struct tv_upload_server_options *options,
                                            struct tv_error *err)
{
    if (!serve->fleet_webhook)
        return TV_OK;
    enum tv_status status = tv_webhook_sender_new(serve->fleet_webhook, &texts->webhook, err);
    if (status == TV_OK)
        options->webhook = (struct tv_webhook){tv_webhook_sender_host(texts->webhook),
                                               texts->webhook, tv_webhook_sender_post};
    return status;
}

/* Fill in all options of the upload server. */
static enum tv_status cmd_serve_set_options(const struct tv_settings *settings,
                                            struct serve_texts *texts,
                                            struct tv_upload_server_options *options,
                                            struct tv_error *err)
{
    const struct tv_serve_settings *serve = &settings->serve;
    *options = (struct tv_upload_server_options){
        .folder = serve->store != NULL ? serve->store : texts->store,
        .http = {.addresses = serve->listen.items,
                 .address_count = serve->listen.count,
                 .port = cmd_serve_is_given(settings, "port") ? (uint16_t)settings->port : PORT},
        .access = {.htpasswd = serve->htpasswd, .public_read = serve->public_read},
        .log = {.fd = STDERR_FILENO,
                .json = serve->log == 1,
                .level = cmd_serve_is_given(settings, "log-level")
                             ? (enum tv_log_level)serve->log_level
                             : TV_LOG_INFO},
        .proxies = serve->proxies.items,
        .proxy_count = serve->proxies.count,
        .reports = tv_reporter(false) != NULL,
        .fleet = serve->fleet,
    };
    cmd_serve_set_limits(settings, options);
    cmd_serve_set_hosts(settings, texts, options);
    if (!serve->no_sample)
        options->sample = serve->sample != NULL ? serve->sample : cmd_serve_find_sample(texts);
    enum tv_status status = tv_secret_read(serve->token, serve->token_file, &texts->token, err);
    options->access.token = texts->token;
    if (status == TV_OK)
        status = cmd_serve_read_pem(serve->certificate, &texts->certificate,
                                    &options->http.certificate, err);
    if (status == TV_OK)
        status = cmd_serve_read_pem(serve->key, &texts->key, &options->http.key, err);
    if (status == TV_OK && serve->store == NULL)
        status = cmd_serve_find_store(texts, err);
    return status == TV_OK ? cmd_serve_set_webhook(serve, texts, options, err) : status;
}

/* ---- Running ---- */

/* One line each, at once: whoever started the server waits for them. */
static void cmd_serve_print_addresses(const struct tv_upload_server *server)
{
    const char *address;
    for (size_t i = 0; (address = tv_upload_server_address(server, i)) != NULL; i++)
        puts(address);
    fflush(stdout);
}

/* Run the server until SIGTERM or SIGINT. */
static int cmd_serve_until_signal(const struct tv_command *command,
                                  const struct tv_upload_server_options *options, unsigned grace_ms)
{
    struct tv_upload_server *server;
    struct tv_error err = {0};
    sigset_t set;
    int number;
    sigemptyset(&set);
    sigaddset(&set, SIGTERM);
    sigaddset(&set, SIGINT);
    pthread_sigmask(SIG_BLOCK, &set, NULL); /* for all threads: this one waits for them */
    if (tv_upload_server_new(options, &server, &err) != TV_OK)
        return tv_command_failed(command, &err);
    cmd_serve_print_addresses(server);
    sigwait(&set, &number);
    pthread_sigmask(SIG_UNBLOCK, &set, NULL); /* a second signal ends the server at once */
    tv_upload_server_stop(server, grace_ms);
    tv_upload_server_free(server);
    return TV_EXIT_OK;
}

/* Free the lists that came from the file; those of the command line belong to its parser. */
static void cmd_serve_release_lists(const struct tv_serve_settings *all,
                                    const struct tv_serve_settings *given)
{
    if (all->listen.items != given->listen.items)
        tv_free(all->listen.items);
    if (all->hosts.items != given->hosts.items)
        tv_free(all->hosts.items);
    if (all->proxies.items != given->proxies.items)
        tv_free(all->proxies.items);
}

/* Run the server until a signal. The command line overrides the file of --config. */
static int cmd_serve_run(const struct tv_command *command, const struct tv_settings *given)
{
    struct tv_settings settings = *given;
    struct serve_texts *texts = tv_alloc(1, sizeof *texts);
    struct tv_upload_server_options options;
    struct tv_error err = {0};
    enum tv_status status = TV_OK;
    int code;
    if (settings.serve.config != NULL)
        status =
            tv_config_read(serve_options, settings.serve.config, &settings, &texts->config, &err);
    if (status == TV_OK)
        status = serve_check_options(&settings, &err);
    if (status == TV_OK)
        status = cmd_serve_set_options(&settings, texts, &options, &err);
    if (status == TV_OK)
        code = cmd_serve_until_signal(
            command, &options, 1000 * (unsigned)cmd_serve_or_default(settings.serve.grace, 20));
    else
        code = tv_command_failed(command, &err);
    cmd_serve_release_lists(&settings.serve, &given->serve);
    serve_texts_release(texts);
    tv_free(texts);
    return code;
}

const struct tv_command tv_command_serve = {
    .name = "serve",
    .summary = "run an upload server that shows traces to a team",
    .arguments = "[OPTION]...",
    .options = serve_options,
    .min_files = 0,
    .max_files = TV_ANY_FILES,
    .run = cmd_serve_run,
};

/* ---- The child that reads one trace (engine/messages.h); only the server can run it ---- */

/* Set the settings: jobs from the request, defaults otherwise. The ceiling of the command line
 * applies, too, because a small file with huge contents would keep other requests waiting. */
static void cmd_engine_init_settings(struct tv_settings *settings,
                                     const struct tv_engine_input *wish)
{
    tv_settings_init(settings);
    settings->quiet = true;
    settings->input.jobs = wish->jobs;
    settings->input.unpacked_bytes =
        tv_unpack_ceiling(tv_source_size(wish->source), wish->unpacked_bytes);
}

/* Open the file of a request.  The settings are in use until the loading has ended. */
static enum tv_status cmd_engine_open_file(const struct tv_engine_input *wish,
                                           struct tv_progress *progress,
                                           struct tv_settings *settings,
                                           struct tv_loading **loading, struct tv_error *err)
{
    struct tv_input_file given = {wish->source, 0};
    cmd_engine_init_settings(settings, wish);
    return tv_load_open_files(settings, &given, 1, progress, loading, err);
}

/* Read the trace of a request; a callback of the engine. */
static enum tv_status cmd_engine_load(void *context, const struct tv_engine_input *wish,
                                      struct tv_progress *progress, struct tv_trace **trace,
                                      struct tv_error *err)
{
    (void)context;
    struct tv_settings settings;
    struct tv_loading *loading;
    enum tv_status status = cmd_engine_open_file(wish, progress, &settings, &loading, err);
    if (status == TV_OK)
        status = tv_load_build(loading, progress, trace, err);
    tv_settings_release(&settings);
    return status;
}

/* Open the sources of a trace that came from an index, to read arguments of events; a callback of
 * the engine. */
static enum tv_status cmd_engine_open_sources(void *context, const struct tv_engine_input *wish,
                                              struct tv_source ***sources, size_t *count,
                                              struct tv_error *err)
{
    (void)context;
    struct tv_settings settings;
    struct tv_loading *loading;
    enum tv_status status = cmd_engine_open_file(wish, NULL, &settings, &loading, err);
    if (status == TV_OK)
        tv_load_take_sources(loading, sources, count);
    tv_settings_release(&settings);
    return status;
}

/* Ends with _exit: the sandbox forbids what a normal exit does.  A build with coverage has no such
 * sandbox, and its normal exit writes the counts. */
int tv_command_engine(void)
{
    const struct tv_engine_loader loader = {
        .load = cmd_engine_load, .open = cmd_engine_open_sources, .reporter = tv_reporter(false)};
    tv_unpack_prepare();
#ifdef TV_COVERAGE
    return tv_engine_main(&loader);
#else
    _exit(tv_engine_main(&loader));
#endif
}
