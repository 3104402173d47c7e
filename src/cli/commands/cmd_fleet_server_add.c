/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cmd_fleet_server_add.c - `fleet add` to a server.
 *
 *     command, in the sandbox                sender
 *       | -- rows of a table, packets ---->    |  -- INSERT, the rows as they come -->  server
 *       | <-- struct tv_error -------------    |  <-- Ok or an error ----------------
 *
 * A sandboxed process makes no connections, so one that was forked before makes them.  It reads no
 * rows, and can be told nothing but to insert them into a table.  Rows that were not complete are
 * not inserted as a whole; without their traces, which come last, they do not count.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/bytes.h"
#include "cli/broker.h"
#include "cli/commands/cmd_fleet_server.h"
#include "fleet/clickhouse.h"

/* ---- Tables ---- */

/* Make a table, or add the columns that it lacks. */
static enum tv_status server_init_table(struct tv_fleet_server *server, enum tv_fleet_table table,
                                        struct tv_error *err)
{
    struct tv_out sql, names;
    tv_out_init_memory(&sql);
    tv_out_init_memory(&names);
    tv_out_format(&sql,
                  "SELECT name FROM system.columns WHERE database = currentDatabase() AND table = "
                  "'" TV_FLEET_SERVER_PREFIX "%s'",
                  tv_fleet_table_name(table));
    enum tv_status status = tv_fleet_server_ask_text(server, tv_sql_end(&sql), &names, err);
    sql.length = 0;
    bool lacks = true;
    if (status == TV_OK && names.length <= 1)
        tv_fleet_put_create(&sql, table);
    else if (status == TV_OK)
        lacks = tv_fleet_put_alter(&sql, table, (struct tv_bytes){names.buffer, names.length - 1});
    struct tv_fleet_request request = {.query = tv_sql_end(&sql), .changes = true};
    if (status == TV_OK && lacks)
        status = tv_fleet_server_ask(server, &request, err);
    tv_out_release(&names);
    tv_out_release(&sql);
    return status;
}

enum tv_status tv_fleet_server_init(struct tv_fleet_server *server, struct tv_error *err)
{
    static const char query[] = "SELECT count() FROM system.tables WHERE database = "
                                "currentDatabase() AND match(name, '^tv([2-9]|[0-9]{2,})_trace$')";
    struct tv_out later;
    tv_out_init_memory(&later);
    enum tv_status status = tv_fleet_server_ask_text(server, query, &later, err);
    if (status == TV_OK && strcmp((const char *)later.buffer, "0\n") != 0)
        status = tv_fail(err, TV_ERR_UNSUPPORTED, TV_NO_OFFSET,
                         "%s: a later version of traceview has made this fleet: update traceview",
                         server->settings->fleet.to);
    tv_out_release(&later);
    for (int i = 0; i < TV_FLEET_TABLES && status == TV_OK; i++)
        status = server_init_table(server, (enum tv_fleet_table)i, err);
    return status;
}

/* ---- Traces that are there ---- */

struct server_known {
    struct tv_map *known;
    uint64_t number;
    unsigned bits; /* of the number, that have come */
};

static enum tv_status server_take_known(void *context, struct tv_bytes bytes, struct tv_error *err)
{
    struct server_known *known = context;
    (void)err;
    for (size_t i = 0; i < bytes.length; i++) {
        known->number |= (uint64_t)bytes.data[i] << known->bits;
        known->bits += 8;
        if (known->bits < 64)
            continue;
        tv_map_set(known->known, known->number, 1);
        known->number = 0;
        known->bits = 0;
    }
    return TV_OK;
}

/* Has the server a list of traces that expired? */
static enum tv_status server_has_expired(struct tv_fleet_server *server, bool *has,
                                         struct tv_error *err)
{
    static const char query[] = "SELECT count() FROM system.tables WHERE database = "
                                "currentDatabase() AND name = '" TV_FLEET_SERVER_PREFIX "expired'";
    struct tv_out answer;
    tv_out_init_memory(&answer);
    enum tv_status status = tv_fleet_server_ask_text(server, query, &answer, err);
    *has = status == TV_OK && strcmp((const char *)answer.buffer, "0\n") != 0;
    tv_out_release(&answer);
    return status;
}

/* ---- The sender ---- */

#define END_OF_TABLE 0u
#define LARGEST_PACKET 32768u

/* A part of the rows of a table; length END_OF_TABLE: there is no more. */
struct sender_packet {
    uint32_t table, length;
    uint8_t bytes[LARGEST_PACKET];
};

/* The sender's side of a table. */
struct sender_table {
    int socket;
    struct sender_packet packet;
    size_t used; /* bytes of the packet that were sent */
    bool ended;
};

/* Receive the next packet; false: the other side is gone, or has sent nonsense. */
static bool sender_receive(struct sender_table *table)
{
    int none;
    uint32_t before = table->packet.table;
    table->used = 0;
    if (!tv_broker_receive(table->socket, &table->packet, sizeof table->packet, &none))
        return false;
    table->ended = table->packet.length == END_OF_TABLE;
    return table->packet.length <= LARGEST_PACKET && table->packet.table == before;
}

static size_t sender_read(void *context, char *room, size_t size)
{
    struct sender_table *table = context;
    if (!table->ended && table->used == table->packet.length && !sender_receive(table))
        return SIZE_MAX;
    size_t left = table->ended ? 0 : table->packet.length - table->used;
    size_t length = left < size ? left : size;
    memcpy(room, table->packet.bytes + table->used, length);
    table->used += length;
    return length;
}

/* Insert the rows of a table, whose first packet has come; false: the command is gone. */
static bool sender_insert(struct tv_fleet_server *server, struct sender_table *table)
{
    struct tv_error err = {0};
    struct tv_out sql;
    tv_out_init_memory(&sql);
    tv_fleet_put_insert(&sql, (enum tv_fleet_table)table->packet.table);
    struct tv_fleet_request request = {
        .query = tv_sql_end(&sql), .changes = true, .read = sender_read, .context = table};
    enum tv_status status = tv_fleet_server_ask(server, &request, &err);
    tv_out_release(&sql);
    if (status == TV_ERR_CANCELLED)
        return false;
    while (!table->ended)
        if (!sender_receive(table))
            return false;
    return tv_broker_send(table->socket, &err, sizeof err, -1);
}

/* Insert what comes, until the other side is gone. */
static void sender_main(int socket, const struct tv_settings *settings)
{
    struct tv_fleet_server server;
    struct sender_table table = {.socket = socket};
    struct tv_error err = {0};
    int none;
    if (tv_fleet_server_open(&server, settings, &err) != TV_OK)
        return;
    while (tv_broker_receive(socket, &table.packet, sizeof table.packet, &none) &&
           table.packet.table < TV_FLEET_TABLES && table.packet.length <= LARGEST_PACKET) {
        table.used = 0;
        table.ended = table.packet.length == END_OF_TABLE;
        if (!sender_insert(&server, &table))
            break;
    }
    tv_fleet_server_close(&server);
}

static enum tv_status sender_fork(struct tv_fleet_sender *sender,
                                  const struct tv_settings *settings, struct tv_error *err)
{
    int ends[2];
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0)
        return tv_fail(err, TV_ERR_IO, TV_NO_OFFSET, "%s", strerror(errno));
    pid_t process = fork();
    if (process == 0) {
        close(ends[0]);
        sender_main(ends[1], settings);
        _exit(0);
    }
    close(ends[1]);
    sender->socket = ends[0];
    if (process < 0)
        return tv_fail(err, TV_ERR_IO, TV_NO_OFFSET, "%s", strerror(errno));
    return TV_OK;
}

enum tv_status tv_fleet_sender_start(struct tv_fleet_sender *sender,
                                     const struct tv_settings *settings, struct tv_map *known,
                                     struct tv_error *err)
{
    struct tv_fleet_server server;
    struct server_known taken = {.known = known};
    struct tv_fleet_request request = {.query = "SELECT DISTINCT trace FROM " TV_FLEET_SERVER_PREFIX
                                                "trace WHERE error = '' FORMAT RowBinary",
                                       .take = server_take_known,
                                       .context = &taken};
    bool has_expired = false;
    enum tv_status status = tv_fleet_server_open(&server, settings, err);
    sender->socket = -1;
    if (status == TV_OK)
        status = tv_fleet_server_init(&server, err);
    if (status == TV_OK)
        status = tv_fleet_server_ask(&server, &request, err);
    if (status == TV_OK)
        status = server_has_expired(&server, &has_expired, err);
    request.query = "SELECT trace FROM " TV_FLEET_SERVER_PREFIX "expired FORMAT RowBinary";
    if (status == TV_OK && has_expired)
        status = tv_fleet_server_ask(&server, &request, err);
    tv_fleet_server_close(&server);
    return status == TV_OK ? sender_fork(sender, settings, err) : status;
}

void tv_fleet_sender_close(struct tv_fleet_sender *sender)
{
    if (sender->socket >= 0)
        close(sender->socket);
    sender->socket = -1;
}

/* ---- The command's side ---- */

struct sender_output {
    int socket;
    struct sender_packet packet;
};

static enum tv_status sender_fail(struct tv_error *err)
{
    return tv_fail(err, TV_ERR_IO, TV_NO_OFFSET,
                   "the process that sends the rows has ended: repeat the command");
}

static enum tv_status sender_write(void *context, struct tv_bytes bytes, struct tv_error *err)
{
    struct sender_output *to = context;
    while (bytes.length > 0) {
        size_t length = bytes.length < LARGEST_PACKET ? bytes.length : LARGEST_PACKET;
        memcpy(to->packet.bytes, bytes.data, length);
        to->packet.length = (uint32_t)length;
        if (!tv_broker_send(to->socket, &to->packet, sizeof to->packet, -1))
            return sender_fail(err);
        bytes.data += length;
        bytes.length -= length;
    }
    return TV_OK;
}

static enum tv_status sender_send_table(struct tv_fleet_sender *sender,
                                        const struct tv_fleet_batch *batch,
                                        enum tv_fleet_table table, struct tv_error *err)
{
    struct sender_output to = {.socket = sender->socket, .packet = {.table = (uint32_t)table}};
    struct tv_error answer = {0};
    struct tv_out out;
    int none;
    tv_out_init(&out, sender_write, &to);
    enum tv_status status = tv_fleet_batch_write(batch, table, TV_FLEET_ROWBINARY, &out, err);
    if (status == TV_OK)
        status = tv_out_finish(&out, err);
    tv_out_release(&out);
    if (status != TV_OK)
        return status;
    to.packet.length = END_OF_TABLE;
    if (!tv_broker_send(to.socket, &to.packet, sizeof to.packet, -1) ||
        !tv_broker_receive(to.socket, &answer, sizeof answer, &none))
        return sender_fail(err);
    if (answer.status != TV_OK)
        *err = answer;
    return answer.status;
}

enum tv_status tv_fleet_sender_send(struct tv_fleet_sender *sender,
                                    const struct tv_fleet_batch *batch, struct tv_error *err)
{
    enum tv_status status = TV_OK;
    for (int i = 0; i < TV_FLEET_TABLES && status == TV_OK; i++)
        if (tv_fleet_batch_has_table(batch, (enum tv_fleet_table)i))
            status = sender_send_table(sender, batch, (enum tv_fleet_table)i, err);
    return status;
}
