/* SPDX-License-Identifier: Apache-2.0 */
/*
 * absent.c - errors with a remedy: what to ask in place of Perfetto's tables and functions that
 * are not here, and how files may be reached.
 *
 * Queries copied from Perfetto's documentation fail here when they name a table
 * that this program does not have.  DuckDB's own error would suggest a table
 * with a similar name, which is mostly wrong.
 */
#include <string.h>
#include <strings.h>

#include "base/bytes.h"
#include "sql/tables.h"

#define HEAPS                                                                                      \
    "heap_graph_object, heap_graph_class and heap_graph_reference have the graphs of heaps"

#define METRICS                                                                                    \
    "metrics are programs of Perfetto; profile, states and frames sum up a trace, and "            \
    "docs/sql.md has queries to begin with"

static const struct {
    const char *name, *remedy;
} absent[] = {
    {"__intrinsic_track_event_callstacks", "stacks of track events are not read"},
    {"android_startups", "slices named 'launching: PACKAGE' are the starts of apps"},
    {"build_proto", METRICS},
    {"create_function", "say CREATE PERFETTO FUNCTION"},
    {"create_view_function", "say CREATE PERFETTO FUNCTION ... RETURNS TABLE"},
    {"heap_graph", HEAPS},
    {"heap_graph_thread_callsite", HEAPS},
    {"irq_counter_track", "counter_track has all counters"},
    {"import", "say INCLUDE PERFETTO MODULE, which names what is there"},
    {"run_metric", METRICS},
    {"softirq_counter_track", "counter_track has all counters"},
    {"thread_counter_track", "counter_track has all counters, with the thread's id in the name"},
};

/* Columns that Perfetto's tables have. */
static const struct {
    const char *name, *remedy;
} absent_columns[] = {
    {"parent_stack_id", "slice_with_stack_id has it"},
    {"source_arg_set_id", "arguments of tracks are not read"},
    {"stack_id", "slice_with_stack_id has it"},
};

/* Fail because of a column of Perfetto, if DuckDB's error is about one. */
static bool absent_fail_column(struct tv_error *err, const char *why)
{
    const char *name = strstr(why, "column \"");
    if (!name)
        name = strstr(why, "column named \"");
    name = name ? strchr(name, '"') + 1 : "";
    for (size_t i = 0; i < TV_COUNT(absent_columns); i++) {
        size_t length = strlen(absent_columns[i].name);
        if (strncasecmp(name, absent_columns[i].name, length) != 0 || name[length] != '"')
            continue;
        (void)tv_fail(err, TV_ERR_USAGE, TV_NO_OFFSET, "SQL: there is no column %s here: %s",
                      absent_columns[i].name, absent_columns[i].remedy);
        return true;
    }
    return false;
}

/* Names are compared regardless of case, as SQL does. */
static const char *absent_remedy(struct tv_bytes name)
{
    for (size_t i = 0; i < TV_COUNT(absent); i++)
        if (strlen(absent[i].name) == name.length &&
            strncasecmp(absent[i].name, (const char *)name.data, name.length) == 0)
            return absent[i].remedy;
    return NULL;
}

bool tv_sql_fail_absent(struct tv_error *err, const char *why)
{
    static const char with_name[] = " with name ", missing[] = " does not exist!";
    const char *name = strncmp(why, "Catalog Error: ", 15) == 0 ? strstr(why, with_name) : NULL;
    const char *end = name ? strstr(name, missing) : NULL;
    if (!end)
        return strncmp(why, "Binder Error: ", 14) == 0 && absent_fail_column(err, why);
    name += sizeof with_name - 1;
    size_t length = (size_t)(end - name);
    const char *remedy = absent_remedy((struct tv_bytes){(const uint8_t *)name, length});
    if (remedy)
        (void)tv_fail(err, TV_ERR_USAGE, TV_NO_OFFSET, "SQL: there is no %.*s here: %s",
                      (int)length, name, remedy);
    return remedy != NULL;
}

bool tv_sql_fail_files(struct tv_error *err, const char *why)
{
    static const char *const refusals[] = {"Could not get working directory",
                                           "disabled by configuration"};
    bool is_refused = false;
    for (size_t i = 0; i < TV_COUNT(refusals); i++)
        is_refused = is_refused || strstr(why, refusals[i]);
    if (is_refused)
        (void)tv_fail(err, TV_ERR_USAGE, TV_NO_OFFSET,
                      "SQL: queries reach no files; the command `sql --allow-files` lets them");
    return is_refused;
}
