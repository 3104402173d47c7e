/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cmd_fleet_server.h - a fleet in ClickHouse: `--to clickhouse+http://HOST:PORT/DATABASE`.
 *
 *     add        traces --> rows, in the sandbox --> sender process --> INSERT
 *     questions  SELECT --> files in a temporary folder --> the question, as of a folder
 *     sql        SELECT --> one file --> DuckDB, which writes it in every format
 */
#ifndef TV_CLI_COMMANDS_CMD_FLEET_SERVER_H
#define TV_CLI_COMMANDS_CMD_FLEET_SERVER_H

#include "cli/commands/cmd_fleet.h"
#include "cli/output/curl_library.h"

/* ---- Requests (cmd_fleet_server.c) ---- */

/* Is a target a server? */
bool tv_fleet_is_server(const char *to);

/* Check the address of a server.  TV_ERR_USAGE says what is wrong. */
enum tv_status tv_fleet_server_check_target(const char *to, struct tv_error *err) TV_MUST_CHECK;

struct tv_fleet_server {
    const struct tv_settings *settings;
    struct tv_curl curl;
    CURL *handle;           /* NULL: not open */
    char address[512];      /* "http://host:port/?database=..." */
    char credentials[4096]; /* path of the user's file; "": none */
    struct curl_slist *headers;
    long error; /* ClickHouse's number of the last error; 0: it was none of its own */
};

/* Get ready for requests; none is made yet.  Close the server also after an error. */
enum tv_status tv_fleet_server_open(struct tv_fleet_server *server,
                                    const struct tv_settings *settings,
                                    struct tv_error *err) TV_MUST_CHECK;
void tv_fleet_server_close(struct tv_fleet_server *server);

struct tv_fleet_request {
    const char *query;
    bool changes; /* it is no SELECT */
    /* The data of an INSERT; NULL: none.  Fill `room` and return how many bytes there are, 0 at the
     * end and SIZE_MAX after an error. */
    size_t (*read)(void *context, char *room, size_t size);
    /* Take a part of the answer; NULL: there is none. */
    enum tv_status (*take)(void *context, struct tv_bytes bytes, struct tv_error *err);
    void *context;
};

/* Errors of ClickHouse: a table lacks a column that the query names. */
#define TV_FLEET_NO_COLUMN 16L
#define TV_FLEET_NO_IDENTIFIER 47L

/* Make a request.  Errors name the target, and what to do about the usual ones. */
enum tv_status tv_fleet_server_ask(struct tv_fleet_server *server,
                                   const struct tv_fleet_request *request,
                                   struct tv_error *err) TV_MUST_CHECK;

/* Make a SELECT whose answer is a short text, which is appended with a NUL after it. */
enum tv_status tv_fleet_server_ask_text(struct tv_fleet_server *server, const char *query,
                                        struct tv_out *answer, struct tv_error *err) TV_MUST_CHECK;

/* ---- Adding (cmd_fleet_server_add.c) ---- */

/* Make the tables and columns that the server lacks.  TV_ERR_UNSUPPORTED: a later version of
 * traceview has made the fleet. */
enum tv_status tv_fleet_server_init(struct tv_fleet_server *server,
                                    struct tv_error *err) TV_MUST_CHECK;

/* A process that sends rows, for one in the sandbox, which can make no connections. */
struct tv_fleet_sender {
    int socket; /* -1: none */
};

/* Make the tables, add the keys of the traces that the server has to `known`, and start a sender.
 * Close it also after an error. */
enum tv_status tv_fleet_sender_start(struct tv_fleet_sender *sender,
                                     const struct tv_settings *settings, struct tv_map *known,
                                     struct tv_error *err) TV_MUST_CHECK;
void tv_fleet_sender_close(struct tv_fleet_sender *sender);

/* Send a batch that was closed, its traces last: without them, the other rows do not count. */
enum tv_status tv_fleet_sender_send(struct tv_fleet_sender *sender,
                                    const struct tv_fleet_batch *batch,
                                    struct tv_error *err) TV_MUST_CHECK;

/* ---- Retention (cmd_fleet_server_expire.c) ---- */

/* Replace the months whose traces are all older than --keep by sums. */
enum tv_status tv_fleet_server_expire(struct tv_fleet_server *server,
                                      struct tv_error *err) TV_MUST_CHECK;

/* ---- Questions and the rest (cmd_fleet_server_ask.c) ---- */

/* Run an action other than add and rows; `run` is what a folder would do. */
enum tv_status tv_fleet_server_run(const struct tv_command *command,
                                   const struct tv_settings *settings, tv_fleet_action *run,
                                   int *code, struct tv_error *err) TV_MUST_CHECK;

#endif
