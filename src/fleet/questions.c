/* SPDX-License-Identifier: Apache-2.0 */
/*
 * questions.c - the views of a fleet's folder, and the questions as SQL.
 *
 * Files of a batch count when the batch's own file of traces is there: it is written last.  Two
 * writers may have added one trace at the same time; its first batch counts.  The variable `folder`
 * is set by tv_sql_open.
 */
#include <string.h>

#include "base/bytes.h"
#include "fleet/batch.h"

const char *const tv_fleet_views[] = {
    "create view trace as select * exclude (label_keys, label_values, place), "
    "map(label_keys, label_values) as labels from (select *, "
    "row_number() over (partition by trace order by added, batch) as place "
    "from read_parquet(getvariable('folder') || '/trace/*.parquet', union_by_name = true)) "
    "where place = 1",
    "create macro sketch_value(key) as case when key = 0 then 0 else 1.02 ** (key - 0.5) end",
    /* The bucket of the p-th of all calls, of one sketch; NULL without calls. */
    "create macro sketch_percentile(keys, counts, p) as round(sketch_value(keys[1 + "
    "len(list_filter(range(1, len(counts)), lambda i: list_sum(counts[1:i]) < "
    "ceil(p * list_sum(counts))))]))::bigint",
    "create view method as select m.* exclude (batch), sketch_percentile(keys, counts, 0.5) as "
    "p50, "
    "sketch_percentile(keys, counts, 0.95) as p95, sketch_percentile(keys, counts, 0.99) as p99 "
    "from read_parquet(getvariable('folder') || '/method/*.parquet', union_by_name = true) m "
    "semi join trace t on m.trace = t.trace and m.batch = t.batch",
    "create view path as select p.* exclude (batch) "
    "from read_parquet(getvariable('folder') || '/path/*.parquet', union_by_name = true) p "
    "semi join trace t on p.trace = t.trace and p.batch = t.batch",
    "create view method_name as select distinct on (n.method) n.* exclude (batch) "
    "from read_parquet(getvariable('folder') || '/method_name/*.parquet', union_by_name = true) n "
    "semi join trace t on n.batch = t.batch order by n.method, n.batch",
    NULL,
};

/* Append a text in single quotes. */
static void fleet_quote(struct tv_out *sql, struct tv_bytes text)
{
    tv_out_char(sql, '\'');
    for (size_t i = 0; i < text.length; i++) {
        if (text.data[i] == '\'')
            tv_out_char(sql, '\'');
        tv_out_char(sql, (char)text.data[i]);
    }
    tv_out_char(sql, '\'');
}

/* Append the label of a trace `t`: a column, or an entry of the map. */
static void fleet_put_label(struct tv_out *sql, struct tv_bytes key)
{
    for (size_t i = 0; i < FLEET_DECLARED; i++) {
        if (tv_bytes_compare(key, tv_bytes_of(tv_fleet_declared[i])) == 0) {
            tv_out_format(sql, "t.%s", tv_fleet_declared[i]);
            return;
        }
    }
    tv_out_text(sql, "t.labels[");
    fleet_quote(sql, key);
    tv_out_char(sql, ']');
}

/* Append a condition for each KEY=VALUE. */
static enum tv_status fleet_put_where(struct tv_out *sql, const char *where, struct tv_error *err)
{
    struct tv_bytes left = tv_bytes_of(where ? where : "");
    for (;;) {
        struct tv_bytes word = tv_bytes_take_word(&left);
        if (word.length == 0)
            return TV_OK;
        const uint8_t *equals = memchr(word.data, '=', word.length);
        if (!equals || equals == word.data)
            return tv_fail(err, TV_ERR_USAGE, TV_NO_OFFSET,
                           "--where: expected KEY=VALUE, with blanks between several");
        size_t length = (size_t)(equals - word.data);
        tv_out_text(sql, " and ");
        fleet_put_label(sql, (struct tv_bytes){word.data, length});
        tv_out_text(sql, " = ");
        fleet_quote(sql, (struct tv_bytes){equals + 1, word.length - length - 1});
    }
}

/* Append the common table `runs`: a row for each trace of the question, with its figure. */
static enum tv_status fleet_put_runs(struct tv_out *sql, const struct tv_fleet_question *question,
                                     struct tv_error *err)
{
    tv_out_text(sql, "with methods as (select method from method_name where name = ");
    fleet_quote(sql, tv_bytes_of(question->method));
    tv_out_text(sql, " or class || '.' || name = ");
    fleet_quote(sql, tv_bytes_of(question->method));
    tv_out_text(sql, "), runs as (select t.trace, any_value(t.uri) as uri, ");
    tv_out_text(sql, "any_value(coalesce(t.recorded, t.added)) as began, any_value(");
    fleet_put_label(sql, tv_bytes_of(question->by ? question->by : "version"));
    tv_out_format(sql, ") as label, %s(m.%s)::bigint as figure, ",
                  question->figure[0] == 'p' || question->figure[0] == 'm' ? "max" : "sum",
                  question->figure);
    tv_out_text(sql, "arg_max(m.max_slice, m.max) as slice from method m "
                     "join trace t on m.trace = t.trace "
                     "where m.method in (select method from methods)");
    enum tv_status status = fleet_put_where(sql, question->where, err);
    tv_out_text(sql, " group by t.trace) ");
    return status;
}

enum tv_status tv_fleet_ask_trend(struct tv_out *sql, const struct tv_fleet_question *question,
                                  struct tv_error *err)
{
    enum tv_status status = fleet_put_runs(sql, question, err);
    const char *by = question->by ? question->by : "version";
    tv_out_text(sql, "select label as \"");
    for (const char *at = by; *at; at++) {
        if (*at == '"')
            tv_out_char(sql, '"');
        tv_out_char(sql, *at);
    }
    tv_out_text(sql, "\", count(*) as traces, quantile_cont(figure, 0.1)::bigint as low, "
                     "median(figure)::bigint as median, quantile_cont(figure, 0.9)::bigint as high "
                     "from runs group by label order by min(began), label");
    return status;
}

enum tv_status tv_fleet_ask_outliers(struct tv_out *sql, const struct tv_fleet_question *question,
                                     struct tv_error *err)
{
    enum tv_status status = fleet_put_runs(sql, question, err);
    tv_out_text(sql, ", middle as (select median(figure) as m, mad(figure) as d from runs) "
                     "select uri, label, figure, round(figure / nullif(m, 0), 3) as ratio, "
                     "round((figure - m) / nullif(1.4826 * d, 0), 1) as deviations, slice "
                     "from runs, middle order by abs(figure - m) desc, uri");
    return status;
}
