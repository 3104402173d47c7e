/* SPDX-License-Identifier: Apache-2.0 */
/*
 * prepared.c - figures of groups of traces that were computed before they are asked for.
 *
 *     versions, in their order --> parts of some versions --> name: hash of the part's traces
 *     part --> prepared/NAME.FIGURE.parquet, a file for each figure
 *
 * A file has a row for each method and version, and for each device and scenario, each device, each
 * scenario, and all of them (`part`: PREPARED_DEVICE, PREPARED_SCENARIO): the sum and the median of
 * the figure, and, of values above 0, the sum and the median of logarithms, which `trends` and
 * `changes` ask for.  Medians cannot be added up, so each of these groups has its own.
 *
 * The name of a file tells which traces its rows are about, so a file is never out of date: once
 * traces came or went, it has no place in any part, and is not read.  A part begins at versions
 * that their hash picks, so a new version leaves all parts but one as they were.
 */
#include "base/bytes.h"
#include "fleet/batch.h"

#define PREPARED_SCENARIO 1u
#define PREPARED_DEVICE 2u

/* The versions of a part, on average.  A part is computed in memory. */
#define PREPARED_VERSIONS "16"

/* The number in the names changes when the contents of the files do. */
#define PREPARED_HASH(more) "bit_xor(hash(trace, batch, version, device, scenario, 1" more "))"

const char tv_fleet_prepared_parts[] =
    "create or replace temp table prepared_version as select version, "
    "sum(case when hash(version) % " PREPARED_VERSIONS " = 0 then 1 else 0 end) "
    "over (order by began, version)::bigint as part from (select version, "
    "min(coalesce(recorded, added)) as began from trace where version is not null "
    "group by version); "
    "select part, printf('%016x%016x', first, second) from (select part, " PREPARED_HASH(
        "") " as "
            "first, " PREPARED_HASH(
                ", 2") " as second from trace join prepared_version using (version) "
                       "group by part) order by part";

void tv_fleet_put_part(struct tv_out *sql, int64_t part)
{
    tv_out_format(sql,
                  "create or replace temp table prepared_run as select trace, batch, version, "
                  "device, scenario from trace where version in (select version from "
                  "prepared_version where part = %lld); "
                  "create or replace temp table prepared_row as select r.version, r.device, "
                  "r.scenario, m.method, m.excl, m.incl, m.excl_cpu, m.incl_cpu, m.calls, m.max, "
                  "sketch_percentile(m.keys, m.counts, 0.5) as p50, "
                  "sketch_percentile(m.keys, m.counts, 0.95) as p95, "
                  "sketch_percentile(m.keys, m.counts, 0.99) as p99 "
                  "from method_file m join prepared_run r on r.trace = m.trace and "
                  "r.batch = m.batch where m.batch in (select distinct batch from prepared_run); ",
                  (long long)part);
}

/* `changes` needs devices and scenarios apart, so the other rows have no logarithms. */
void tv_fleet_put_prepared(struct tv_out *sql, const char *figure)
{
    tv_out_format(sql,
                  "select (3 - grouping(device, scenario))::bigint as part, version, device, "
                  "scenario, method, sum(%s) as total, median(%s)::bigint as middle, "
                  "null::hugeint as size, null::double as log from prepared_row "
                  "group by grouping sets ((version, method), (version, device, method), "
                  "(version, scenario, method)) union all "
                  "select %u, version, device, scenario, method, sum(%s), median(%s)::bigint, "
                  "sum(%s) filter (%s > 0), median(ln(case when %s > 0 then %s::double end)) "
                  "from prepared_row group by version, device, scenario, method "
                  "order by part, version, method, device, scenario",
                  figure, figure, PREPARED_DEVICE | PREPARED_SCENARIO, figure, figure, figure,
                  figure, figure, figure);
}

bool tv_fleet_can_be_prepared(const struct tv_fleet_question *question)
{
    struct tv_bytes left = tv_bytes_of(question->where ? question->where : ""), key, value;
    struct tv_error ignored = {0};
    if (question->by && !tv_bytes_equal(tv_bytes_of(question->by), TV_BYTES("version")))
        return false;
    do {
        if (tv_fleet_take_label(&left, &key, &value, &ignored) != TV_OK)
            return false;
    } while (tv_bytes_equal(key, TV_BYTES("device")) || tv_bytes_equal(key, TV_BYTES("scenario")));
    return key.length == 0;
}

unsigned tv_fleet_prepared_part(const char *where)
{
    struct tv_bytes left = tv_bytes_of(where ? where : ""), key, value;
    struct tv_error ignored = {0};
    unsigned part = 0;
    while (tv_fleet_take_label(&left, &key, &value, &ignored) == TV_OK && key.length > 0)
        part |= tv_bytes_equal(key, TV_BYTES("device")) ? PREPARED_DEVICE : PREPARED_SCENARIO;
    return part;
}
