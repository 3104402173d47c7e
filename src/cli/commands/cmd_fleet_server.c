/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cmd_fleet_server.c - requests to the HTTP interface of ClickHouse.
 *
 * The server holds an answer back until it is complete (wait_end_of_query), because it would
 * otherwise report an error in the middle of rows.  Its texts are cut to one line, in which the
 * printing of errors replaces control characters.
 */
#include "cli/commands/cmd_fleet_server.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/bytes.h"
#include "base/memory.h"
#include "cli/input/user_folder.h"
#include "cli/options.h"
#include "fleet/clickhouse.h"

#define SCHEME "clickhouse+"
#define LONGEST_HOST 255u
#define LONGEST_DATABASE 64u
#define LONGEST_REASON 250
#define LONGEST_TEXT ((uint64_t)1 << 20)
#define SECONDS_TO_CONNECT 30L
#define SECONDS_OF_SILENCE 900L /* a query may take long before its answer begins */

/* ---- The target ---- */

bool tv_fleet_is_server(const char *to)
{
    return to && strncmp(to, SCHEME, sizeof SCHEME - 1) == 0;
}

/* The parts of "clickhouse+http://HOST:PORT/DATABASE". */
struct server_target {
    struct tv_bytes scheme, host, database; /* the host with its port */
    bool has_port;
};

/* Are these the host and the database of a target? */
static bool server_is_target(const struct server_target *target)
{
    static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_";
    size_t host = target->host.length, database = target->database.length;
    return target->scheme.length > 0 && host > 0 && host <= LONGEST_HOST &&
           strcspn((const char *)target->host.data, "?#\\ ") >= host && database > 0 &&
           database <= LONGEST_DATABASE &&
           strspn((const char *)target->database.data, letters) == database;
}

static enum tv_status server_parse_target(const char *to, struct server_target *target,
                                          struct tv_error *err)
{
    const char *scheme = to + sizeof SCHEME - 1;
    size_t length = strncmp(scheme, "https://", 8) == 0  ? 8
                    : strncmp(scheme, "http://", 7) == 0 ? 7
                                                         : 0;
    const char *host = scheme + length, *slash = host + strcspn(host, "/");
    *target = (struct server_target){
        .scheme = {(const uint8_t *)scheme, length},
        .host = {(const uint8_t *)host, (size_t)(slash - host)},
        .database = tv_bytes_of(*slash ? slash + 1 : slash),
    };
    if (memchr(host, '@', target->host.length))
        return tv_fail(err, TV_ERR_USAGE, TV_NO_OFFSET,
                       "--to: other users can see a password there: set CLICKHOUSE_USER and "
                       "CLICKHOUSE_PASSWORD, or write both into ~/.config/traceview/clickhouse");
    if (!server_is_target(target))
        return tv_fail(err, TV_ERR_USAGE, TV_NO_OFFSET,
                       "--to: expected clickhouse+http://HOST:PORT/DATABASE, or https");
    /* A colon within brackets is of an address of IPv6. */
    for (const char *at = slash; at > host && at[-1] != ']' && !target->has_port; at--)
        target->has_port = at[-1] == ':';
    return TV_OK;
}

enum tv_status tv_fleet_server_check_target(const char *to, struct tv_error *err)
{
    struct server_target target;
    return server_parse_target(to, &target, err);
}

/* ---- Opening ---- */

/* Find the file with names and passwords of servers, which has the form of .netrc. */
static enum tv_status server_find_credentials(struct tv_fleet_server *server, struct tv_error *err)
{
    static const char name[] = "/clickhouse";
    struct stat info;
    size_t room = sizeof server->credentials - sizeof name;
    if (!tv_user_folder_find(TV_USER_CONFIG, server->credentials, room)) {
        server->credentials[0] = '\0';
        return TV_OK;
    }
    memcpy(server->credentials + strlen(server->credentials), name, sizeof name);
    if (stat(server->credentials, &info) != 0) {
        server->credentials[0] = '\0';
        return TV_OK;
    }
    if (info.st_uid != geteuid() || (info.st_mode & 077) != 0)
        return tv_fail(err, TV_ERR_USAGE, TV_NO_OFFSET,
                       "%s: it holds passwords, and other users can read it: chmod 600 it",
                       server->credentials);
    return TV_OK;
}

enum tv_status tv_fleet_server_open(struct tv_fleet_server *server,
                                    const struct tv_settings *settings, struct tv_error *err)
{
    struct server_target target;
    *server = (struct tv_fleet_server){.settings = settings};
    enum tv_status status = server_parse_target(settings->fleet.to, &target, err);
    if (status == TV_OK)
        status = server_find_credentials(server, err);
    if (status != TV_OK)
        return status;
    const char *port = target.has_port ? "" : target.scheme.length == 8 ? ":8443" : ":8123";
    snprintf(server->address, sizeof server->address, "%.*s%.*s%s/?database=%.*s",
             (int)target.scheme.length, (const char *)target.scheme.data, (int)target.host.length,
             (const char *)target.host.data, port, (int)target.database.length,
             (const char *)target.database.data);
    status = tv_curl_load(&server->curl, "use a folder for the fleet", err);
    if (status != TV_OK)
        return status;
    server->handle = server->curl.easy_init();
    /* Without this, libcurl waits for the server's leave before it sends rows. */
    server->headers = server->curl.slist_append(NULL, "Expect:");
    if (!server->handle || !server->headers)
        tv_memory_exhausted();
    return TV_OK;
}

void tv_fleet_server_close(struct tv_fleet_server *server)
{
    if (!server->handle)
        return;
    server->curl.easy_cleanup(server->handle);
    server->curl.slist_free_all(server->headers);
    tv_curl_unload(&server->curl);
    server->handle = NULL;
}

/* ---- Requests ---- */

struct server_exchange {
    struct tv_fleet_server *server;
    const struct tv_fleet_request *request;
    long status;
    struct tv_error refused; /* by `take` */
    bool unread;             /* `read` failed */
    char answer[1024];       /* the start of the server's error */
    size_t answer_length;
    char failure[CURL_ERROR_SIZE];
};

static size_t server_take(char *bytes, size_t size, size_t count, void *context)
{
    struct server_exchange *exchange = context;
    size_t length = size * count, room = sizeof exchange->answer - 1 - exchange->answer_length;
    exchange->server->curl.easy_getinfo(exchange->server->handle, CURLINFO_RESPONSE_CODE,
                                        &exchange->status);
    if (exchange->status != 200) {
        size_t kept = length < room ? length : room;
        memcpy(exchange->answer + exchange->answer_length, bytes, kept);
        exchange->answer_length += kept;
        return length;
    }
    if (!exchange->request->take ||
        exchange->request->take(exchange->request->context,
                                (struct tv_bytes){(const uint8_t *)bytes, length},
                                &exchange->refused) == TV_OK)
        return length;
    return 0;
}

static size_t server_read(char *room, size_t size, size_t count, void *context)
{
    struct server_exchange *exchange = context;
    size_t got = exchange->request->read(exchange->request->context, room, size * count);
    exchange->unread = got == SIZE_MAX;
    return exchange->unread ? CURL_READFUNC_ABORT : got;
}

static void server_put_escaped(struct tv_out *out, const char *text)
{
    for (; *text; text++)
        tv_out_format(out, isalnum((unsigned char)*text) ? "%c" : "%%%02X", (unsigned char)*text);
}

static void server_set_text(struct tv_fleet_server *server, CURLoption option, const char *text)
{
    if (server->curl.easy_setopt(server->handle, option, text) == CURLE_OUT_OF_MEMORY)
        tv_memory_exhausted();
}

static void server_set_credentials(struct tv_fleet_server *server)
{
    const char *user = getenv("CLICKHOUSE_USER"), *password = getenv("CLICKHOUSE_PASSWORD");
    if (user || password) {
        server_set_text(server, CURLOPT_USERNAME, user ? user : "default");
        server_set_text(server, CURLOPT_PASSWORD, password ? password : "");
    } else if (server->credentials[0]) {
        server->curl.easy_setopt(server->handle, CURLOPT_NETRC, (long)CURL_NETRC_OPTIONAL);
        server_set_text(server, CURLOPT_NETRC_FILE, server->credentials);
    }
}

/* Set what the request sends.  The query of an INSERT is part of the address, because the rows are
 * the body. */
static void server_set_body(struct tv_fleet_server *server, struct server_exchange *exchange)
{
    const struct tv_fleet_request *request = exchange->request;
    struct tv_curl *curl = &server->curl;
    uint64_t seconds = server->settings->sql.max_time;
    struct tv_out address;
    tv_out_init_memory(&address);
    tv_out_text(&address, server->address);
    tv_out_text(&address, "&wait_end_of_query=1");
    if (!request->changes) {
        /* An IN over distributed tables is asked once, not on every node.  GLOBAL IN would do that,
         * too, but then ClickHouse does not use the index. */
        tv_out_text(&address, "&readonly=2&distributed_product_mode=global");
        if (seconds > 0 && seconds < 1000000) {
            tv_out_format(&address, "&max_execution_time=%" PRIu64, seconds);
            curl->easy_setopt(server->handle, CURLOPT_TIMEOUT, (long)seconds + 5);
        }
    }
    curl->easy_setopt(server->handle, CURLOPT_POST, 1L);
    if (request->read) {
        /* The rows of a table are on every node before those of the next one are sent. */
        tv_out_text(&address, "&insert_distributed_sync=1&query=");
        server_put_escaped(&address, request->query);
        curl->easy_setopt(server->handle, CURLOPT_READFUNCTION, server_read);
        curl->easy_setopt(server->handle, CURLOPT_READDATA, exchange);
    } else {
        curl->easy_setopt(server->handle, CURLOPT_POSTFIELDSIZE_LARGE,
                          (curl_off_t)strlen(request->query));
        curl->easy_setopt(server->handle, CURLOPT_POSTFIELDS, request->query);
    }
    tv_out_char(&address, '\0');
    server_set_text(server, CURLOPT_URL, (const char *)address.buffer);
    tv_out_release(&address);
}

/* Advice for the usual errors of ClickHouse, by their numbers. */
static const char no_database[] = "the server has no such database: make it with CREATE DATABASE",
                  no_fleet[] = "the database has no fleet: `traceview fleet add` makes it",
                  no_table[] = "the query names a table that the database does not have; those of "
                               "the fleet are " TV_FLEET_SERVER_PREFIX "trace and others, which "
                               "`traceview fleet schema` lists",
                  wrong_password[] =
                      "the server refuses the name or the password: set CLICKHOUSE_USER and "
                      "CLICKHOUSE_PASSWORD, or see ~/.config/traceview/clickhouse",
                  no_settings[] =
                      "the user may not change settings: its profile needs readonly = 2 "
                      "instead of 1";
#define READONLY 164L
#define NO_TABLE 60L
static const struct {
    long number;
    const char *advice; /* NULL: it is the query's fault */
} server_errors[] = {{81, no_database},
                     {NO_TABLE, no_fleet},
                     {TV_FLEET_NO_COLUMN, NULL},
                     {192, wrong_password},
                     {193, wrong_password},
                     {194, wrong_password},
                     {516, wrong_password},
                     {46, NULL},
                     {TV_FLEET_NO_IDENTIFIER, NULL},
                     {62, NULL},
                     {READONLY, NULL}};

/* Turn ClickHouse's error into ours: "Code: 62, e.displayText() = DB::Exception: ..., e.what()". */
static enum tv_status server_fail_code(const char *text, long number, struct tv_error *err)
{
    const char *end = strstr(text, ", e.what()"), *start = strstr(text, "Exception: ");
    enum tv_status status = TV_ERR_IO;
    if (number == READONLY && strstr(text, "setting"))
        return tv_fail(err, status, TV_NO_OFFSET, "%s", no_settings);
    if (number == NO_TABLE && !strstr(text, TV_FLEET_SERVER_PREFIX))
        return tv_fail(err, TV_ERR_USAGE, TV_NO_OFFSET, "%s", no_table);
    for (size_t i = 0; i < TV_COUNT(server_errors); i++) {
        if (server_errors[i].number != number)
            continue;
        if (server_errors[i].advice)
            return tv_fail(err, status, TV_NO_OFFSET, "%s", server_errors[i].advice);
        status = TV_ERR_USAGE;
    }
    start = start ? start + sizeof "Exception: " - 1 : text;
    size_t length = end && end > start ? (size_t)(end - start) : strcspn(start, "\n");
    return tv_fail(err, status, TV_NO_OFFSET, "ClickHouse: %.*s (%ld)",
                   length < LONGEST_REASON ? (int)length : LONGEST_REASON, start, number);
}

/* Turn the server's answer to a failed request into an error. */
static enum tv_status server_fail(const struct server_exchange *exchange, struct tv_error *err)
{
    const char *text = exchange->answer;
    long number = strncmp(text, "Code: ", 6) == 0 ? strtol(text + 6, NULL, 10) : 0;
    exchange->server->error = number;
    if (number > 0)
        return server_fail_code(text, number, err);
    if (exchange->status == 401 || exchange->status == 403)
        return tv_fail(err, TV_ERR_IO, TV_NO_OFFSET, "%s", wrong_password);
    return tv_fail(err, TV_ERR_IO, TV_NO_OFFSET, "the server answers %ld, not as ClickHouse does",
                   exchange->status);
}

enum tv_status tv_fleet_server_ask(struct tv_fleet_server *server,
                                   const struct tv_fleet_request *request, struct tv_error *err)
{
    struct tv_curl *curl = &server->curl;
    struct server_exchange exchange = {.server = server, .request = request};
    enum tv_status status = TV_OK;
    curl->easy_reset(server->handle);
    server->error = 0;
    server_set_body(server, &exchange);
    server_set_credentials(server);
    server_set_text(server, CURLOPT_PROTOCOLS_STR, "http,https");
    curl->easy_setopt(server->handle, CURLOPT_HTTPHEADER, server->headers);
    curl->easy_setopt(server->handle, CURLOPT_NOSIGNAL, 1L);
    curl->easy_setopt(server->handle, CURLOPT_CONNECTTIMEOUT, SECONDS_TO_CONNECT);
    curl->easy_setopt(server->handle, CURLOPT_LOW_SPEED_LIMIT, 1L);
    curl->easy_setopt(server->handle, CURLOPT_LOW_SPEED_TIME, SECONDS_OF_SILENCE);
    curl->easy_setopt(server->handle, CURLOPT_ERRORBUFFER, exchange.failure);
    curl->easy_setopt(server->handle, CURLOPT_WRITEFUNCTION, server_take);
    curl->easy_setopt(server->handle, CURLOPT_WRITEDATA, &exchange);
    CURLcode result = curl->easy_perform(server->handle);
    curl->easy_getinfo(server->handle, CURLINFO_RESPONSE_CODE, &exchange.status);
    if (exchange.unread)
        status = tv_fail(err, TV_ERR_CANCELLED, TV_NO_OFFSET, "the rows were not complete");
    else if (exchange.refused.status != TV_OK)
        status =
            tv_fail(err, exchange.refused.status, TV_NO_OFFSET, "%s", exchange.refused.message);
    else if (exchange.answer_length > 0 || (result == CURLE_OK && exchange.status != 200))
        status = server_fail(&exchange, err);
    else if (result != CURLE_OK)
        status = tv_fail(err, TV_ERR_IO, TV_NO_OFFSET, "%s",
                         exchange.failure[0] ? exchange.failure : curl->easy_strerror(result));
    return status == TV_OK ? TV_OK : tv_error_prefix(err, "%s", server->settings->fleet.to);
}

static enum tv_status server_take_text(void *context, struct tv_bytes bytes, struct tv_error *err)
{
    struct tv_out *answer = context;
    if (answer->length + bytes.length > LONGEST_TEXT)
        return tv_fail(err, TV_ERR_LIMIT, TV_NO_OFFSET, "the server's answer is too long");
    tv_out_bytes(answer, bytes);
    return TV_OK;
}

enum tv_status tv_fleet_server_ask_text(struct tv_fleet_server *server, const char *query,
                                        struct tv_out *answer, struct tv_error *err)
{
    struct tv_fleet_request request = {.query = query, .take = server_take_text, .context = answer};
    enum tv_status status = tv_fleet_server_ask(server, &request, err);
    tv_out_char(answer, '\0');
    return status;
}
