/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cmd_fleet_server_expire.c - `fleet expire` on a server.
 *
 * ClickHouse removes a whole partition, which is a month, at once and for little; other rows only
 * by writing tables anew.  So months expire whose traces are all old:
 *
 *     1.  tv1_expired     the traces of the month, so that `add` never adds them again
 *     2.  tv1_rollup      their sums
 *     3.  DROP PARTITION  of tv1_trace, at once: from here on the sums count, and not the traces
 *     4.  DROP PARTITION  of the other tables, whose rows do not count any more
 *
 * Sums and list of a month have a number, `batch`, and are a partition by it.  If the command was
 * stopped before step 3, all traces of the list are still there: the next one removes both
 * partitions and begins the month again.  Two of these commands must not run at a time.
 */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/bytes.h"
#include "base/memory.h"
#include "cli/commands/cmd_fleet_server.h"
#include "cli/output/message.h"
#include "fleet/clickhouse.h"

#define PREFIX TV_FLEET_SERVER_PREFIX

struct server_month {
    uint64_t month, traces;
};

struct server_expiry {
    struct tv_fleet_server *server;
    struct server_month *months;
    size_t count, room;
    int64_t edge; /* traces before it are old, in microseconds since 1970 */
};

/* ---- Statements ---- */

static enum tv_status expiry_change(struct server_expiry *expiry, struct tv_error *err,
                                    const char *format, ...) TV_PRINTF(3, 4);

static enum tv_status expiry_change(struct server_expiry *expiry, struct tv_error *err,
                                    const char *format, ...)
{
    char query[1024];
    va_list arguments;
    va_start(arguments, format);
    int length = vsnprintf(query, sizeof query, format, arguments);
    va_end(arguments);
    if (length < 0 || (size_t)length >= sizeof query)
        return tv_fail(err, TV_ERR_LIMIT, TV_NO_OFFSET, "the statement is too long");
    const struct tv_fleet_request request = {.query = query, .changes = true};
    return tv_fleet_server_ask(expiry->server, &request, err);
}

/* Call a function with each line of an answer, and its number in the first column. */
static enum tv_status expiry_for_each(struct server_expiry *expiry, const char *query,
                                      enum tv_status (*take)(struct server_expiry *expiry,
                                                             uint64_t number, struct tv_bytes rest,
                                                             struct tv_error *err),
                                      struct tv_error *err)
{
    struct tv_out answer;
    tv_out_init_memory(&answer);
    enum tv_status status = tv_fleet_server_ask_text(expiry->server, query, &answer, err);
    struct tv_bytes rest = {answer.buffer, answer.length - 1}, line, number;
    while (status == TV_OK && rest.length > 0) {
        uint64_t value;
        (void)tv_bytes_split(&rest, '\n', &line);
        (void)tv_bytes_split(&line, '\t', &number);
        if (!tv_parse_u64(number, &value))
            status =
                tv_fail(err, TV_ERR_SYNTAX, TV_NO_OFFSET, "the server does not answer a number");
        else
            status = take(expiry, value, line, err);
    }
    tv_out_release(&answer);
    return status;
}

/* ---- Getting ready ---- */

static enum tv_status expiry_take_foreign(struct server_expiry *expiry, uint64_t count,
                                          struct tv_bytes rest, struct tv_error *err)
{
    (void)rest;
    if (count == 0)
        return TV_OK;
    return tv_fail(err, TV_ERR_UNSUPPORTED, TV_NO_OFFSET,
                   "%s: some tables are not of an engine *MergeTree: of distributed tables, "
                   "partitions are dropped on each node: ALTER TABLE ... DROP PARTITION "
                   "(docs/fleet.md)",
                   expiry->server->settings->fleet.to);
}

/* Make the tables of sums and of expired traces, unless some tables cannot drop partitions. */
static enum tv_status expiry_init(struct server_expiry *expiry, struct tv_error *err)
{
    struct tv_out sql;
    enum tv_status status =
        expiry_for_each(expiry,
                        "SELECT count() FROM system.tables WHERE database = currentDatabase() AND "
                        "match(name, '^" PREFIX "') AND NOT match(engine, 'MergeTree$')",
                        expiry_take_foreign, err);
    if (status != TV_OK)
        return status;
    tv_out_init_memory(&sql);
    tv_fleet_put_create_rollup(&sql);
    status = expiry_change(expiry, err, "%s", tv_sql_end(&sql));
    tv_out_release(&sql);
    if (status != TV_OK)
        return status;
    return expiry_change(expiry, err,
                         "CREATE TABLE IF NOT EXISTS " PREFIX "expired (trace UInt64, month "
                         "UInt32, batch UInt64) ENGINE = ReplacingMergeTree() PARTITION BY batch "
                         "ORDER BY trace");
}

/* ---- What a stopped command left ---- */

/* Remove the sums of a batch whose traces are all still there, and the list of these traces. */
static enum tv_status expiry_remove_sums(struct server_expiry *expiry, uint64_t batch,
                                         struct tv_bytes rest, struct tv_error *err)
{
    (void)rest;
    enum tv_status status =
        expiry_change(expiry, err, "ALTER TABLE " PREFIX "rollup DROP PARTITION %" PRIu64, batch);
    if (status == TV_OK)
        status = expiry_change(expiry, err, "ALTER TABLE " PREFIX "expired DROP PARTITION %" PRIu64,
                               batch);
    return status;
}

/* Remove the rows of a month from a table, "TABLE". */
static enum tv_status expiry_remove_rows(struct server_expiry *expiry, uint64_t month,
                                         struct tv_bytes table, struct tv_error *err)
{
    return expiry_change(expiry, err, "ALTER TABLE %.*s DROP PARTITION %" PRIu64, (int)table.length,
                         (const char *)table.data, month);
}

static enum tv_status expiry_clean(struct server_expiry *expiry, struct tv_error *err)
{
    /* Lists of which no trace is missing. */
    static const char stale[] =
        "SELECT DISTINCT batch FROM " PREFIX "expired WHERE batch NOT IN (SELECT batch FROM " PREFIX
        "expired WHERE trace NOT IN (SELECT trace FROM " PREFIX "trace))";
    /* Rows of months whose traces expired.  Younger ones may be of an `add` that is at work. */
    static const char left[] =
        "SELECT partition, table FROM system.parts WHERE active AND database = currentDatabase() "
        "AND match(table, '^" PREFIX "(method|path|thread|sample|finding|frame|slice)$') AND "
        "toUInt32OrZero(partition) IN (SELECT month FROM " PREFIX "expired) AND "
        "toUInt32OrZero(partition) NOT IN (SELECT month FROM " PREFIX "trace) GROUP BY partition, "
        "table HAVING max(modification_time) < now() - 86400";
    enum tv_status status = expiry_for_each(expiry, stale, expiry_remove_sums, err);
    return status == TV_OK ? expiry_for_each(expiry, left, expiry_remove_rows, err) : status;
}

/* ---- Months ---- */

static enum tv_status expiry_take_month(struct server_expiry *expiry, uint64_t month,
                                        struct tv_bytes rest, struct tv_error *err)
{
    uint64_t traces;
    if (!tv_parse_u64(rest, &traces) || month > 999999)
        return tv_fail(err, TV_ERR_SYNTAX, TV_NO_OFFSET, "the server does not answer a month");
    expiry->months =
        tv_array_reserve(expiry->months, &expiry->room, expiry->count + 1, sizeof *expiry->months);
    expiry->months[expiry->count++] = (struct server_month){month, traces};
    return TV_OK;
}

static enum tv_status expiry_find_months(struct server_expiry *expiry, struct tv_error *err)
{
    char query[256];
    snprintf(query, sizeof query,
             "SELECT month, uniqExact(trace) FROM " PREFIX "trace GROUP BY month HAVING "
             "max(ifNull(recorded, added)) < %" PRId64 " ORDER BY month",
             expiry->edge);
    return expiry_for_each(expiry, query, expiry_take_month, err);
}

/* Append a SELECT of the traces of a month that have sums neither in an earlier list nor, because
 * another batch has them too, later. */
static void expiry_put_traces(struct tv_out *sql, const struct server_expiry *expiry,
                              uint64_t month)
{
    tv_out_format(sql,
                  "SELECT DISTINCT trace FROM " PREFIX "trace WHERE month = %" PRIu64
                  " AND trace NOT IN (SELECT trace FROM " PREFIX
                  "expired) AND trace NOT IN (SELECT trace FROM " PREFIX
                  "trace WHERE month NOT IN (%" PRIu64,
                  month, month);
    for (size_t i = 0; i < expiry->count; i++)
        tv_out_format(sql, ", %" PRIu64, expiry->months[i].month);
    tv_out_text(sql, "))");
}

/* Write list and sums of a month under the number of a batch. */
static enum tv_status expiry_roll_up(struct server_expiry *expiry, uint64_t month, uint64_t batch,
                                     struct tv_error *err)
{
    struct tv_out sql;
    struct tv_fleet_request request = {.changes = true};
    tv_out_init_memory(&sql);
    tv_out_format(&sql,
                  "INSERT INTO " PREFIX "expired (trace, month, batch) SELECT trace, "
                  "toUInt32(%" PRIu64 "), toUInt64(%" PRIu64 ") FROM (",
                  month, batch);
    expiry_put_traces(&sql, expiry, month);
    tv_out_text(&sql, ")");
    request.query = tv_sql_end(&sql);
    enum tv_status status = tv_fleet_server_ask(expiry->server, &request, err);
    sql.length = 0;
    tv_fleet_put_roll_up(&sql, batch, (uint32_t)month);
    request.query = (const char *)sql.buffer;
    if (status == TV_OK)
        status = tv_fleet_server_ask(expiry->server, &request, err);
    tv_out_release(&sql);
    return status;
}

/* Take the number of a batch, and how many traces it is about: "NUMBER TAB COUNT TAB MONTH". */
static enum tv_status expiry_take_batch(struct server_expiry *expiry, uint64_t batch,
                                        struct tv_bytes rest, struct tv_error *err)
{
    struct tv_bytes digits;
    uint64_t count = 0, month = 0;
    (void)tv_bytes_split(&rest, '\t', &digits);
    if (!tv_parse_u64(digits, &count) || !tv_parse_u64(rest, &month))
        return tv_fail(err, TV_ERR_SYNTAX, TV_NO_OFFSET, "the server does not answer a number");
    return count > 0 ? expiry_roll_up(expiry, month, batch, err) : TV_OK;
}

static enum tv_status expiry_expire_month(struct server_expiry *expiry, uint64_t month,
                                          struct tv_error *err)
{
    struct tv_out sql;
    tv_out_init_memory(&sql);
    /* Equal traces give an equal number, whoever asks. */
    tv_out_format(&sql, "SELECT groupBitXor(trace), count(), %" PRIu64 " FROM (", month);
    expiry_put_traces(&sql, expiry, month);
    tv_out_text(&sql, ")");
    enum tv_status status = expiry_for_each(expiry, tv_sql_end(&sql), expiry_take_batch, err);
    tv_out_release(&sql);
    /* TRACE is the last table, and goes first. */
    for (int i = TV_FLEET_TRACE; i >= 0 && status == TV_OK; i--)
        if (tv_fleet_has_month((enum tv_fleet_table)i))
            status = expiry_change(expiry, err, "ALTER TABLE " PREFIX "%s DROP PARTITION %" PRIu64,
                                   tv_fleet_table_name((enum tv_fleet_table)i), month);
    return status;
}

enum tv_status tv_fleet_server_expire(struct tv_fleet_server *server, struct tv_error *err)
{
    const struct tv_settings *settings = server->settings;
    struct server_expiry expiry = {.server = server,
                                   .edge = tv_fleet_time_before(settings->fleet.keep)};
    uint64_t traces = 0;
    enum tv_status status = expiry_find_months(&expiry, err); /* fails if there is no fleet */
    if (status == TV_OK)
        status = expiry_init(&expiry, err);
    if (status == TV_OK)
        status = expiry_clean(&expiry, err);
    for (size_t i = 0; i < expiry.count && status == TV_OK; i++) {
        status = expiry_expire_month(&expiry, expiry.months[i].month, err);
        traces += expiry.months[i].traces;
    }
    if (status == TV_OK && !settings->quiet)
        tv_message("traceview: %" PRIu64 " %s of %zu %s expired; the sums are in the table " PREFIX
                   "rollup",
                   traces, tv_plural((size_t)traces, "trace", "traces"), expiry.count,
                   tv_plural(expiry.count, "month", "months"));
    tv_free(expiry.months);
    return status;
}
