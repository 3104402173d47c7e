/* SPDX-License-Identifier: Apache-2.0 */
/*
 * absent.c - what to ask in place of Perfetto's tables and functions that are
 * not here.
 *
 * Queries copied from Perfetto's documentation fail here when they name a table
 * that this program does not have.  DuckDB's own error would suggest a table
 * with a similar name, which is mostly wrong.
 */
#include <string.h>
#include <strings.h>

#include "base/bytes.h"
#include "sql/tables.h"

#define EVENTS                                                                                     \
    "events of the kernel that are no slices, states or counters are in instant, with their "      \
    "fields in args; traceview dump prints all"
#define HEAPS "heap graphs in Perfetto traces are not read; sample has the types of hprof files"
#define SAMPLES "samples have their weight, its type and unit in sample"

static const struct {
    const char *name, *remedy;
} absent[] = {
    {"clock_snapshot", "traceview info names the clock of the trace, and its first moment"},
    {"experimental_flamegraph", "traceview flamegraph and collapse sum up stacks"},
    {"ftrace_event", EVENTS},
    {"heap_graph", HEAPS},
    {"heap_graph_class", HEAPS},
    {"heap_graph_object", HEAPS},
    {"heap_graph_reference", HEAPS},
    {"irq_counter_track", "counter_track has all counters"},
    {"perf_session", SAMPLES},
    {"raw", EVENTS},
    {"softirq_counter_track", "counter_track has all counters"},
    {"stack_sample_counter", SAMPLES},
    {"thread_counter_track", "counter_track has all counters, with the thread's id in the name"},
    {"to_realtime", "traceview info tells when the trace was recorded"},
};

/* Names of tables are compared regardless of case, as SQL does. */
const char *tv_sql_absent_remedy(struct tv_bytes name)
{
    for (size_t i = 0; i < TV_COUNT(absent); i++)
        if (strlen(absent[i].name) == name.length &&
            strncasecmp(absent[i].name, (const char *)name.data, name.length) == 0)
            return absent[i].remedy;
    return NULL;
}
