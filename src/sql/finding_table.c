/* SPDX-License-Identifier: Apache-2.0 */
/*
 * finding_table.c - the table of findings: what `traceview check` says about a trace, with a row
 * for each place.
 *
 * To find them takes a pass over all calls, as for the frames of a display (display_frames.c), so
 * it happens in the first query that scans the table.
 */
#include "analysis/findings/findings.h"

#include <assert.h>
#include <pthread.h>

#include "base/map.h"
#include "base/memory.h"
#include "sql/tables.h"
#include "writers/tables/check_report.h"

enum {
    FINDING_ID,
    FINDING_NAME,
    FINDING_SEVERITY,
    FINDING_TITLE,
    FINDING_TEXT,
    FINDING_COUNT,
    FINDING_TOTAL,
    FINDING_TS,
    FINDING_DUR,
    FINDING_SLICE,
    FINDING_UTID,
    FINDING_FRAME,
    FINDING_PART,
    FINDING_PLACE_COUNT,
    FINDING_DIAGNOSTIC,
};

static const struct tv_sql_column finding_columns[] = {
    [FINDING_ID] = {"id", TV_SQL_INTEGER},
    [FINDING_NAME] = {"name", TV_SQL_TEXT},
    [FINDING_SEVERITY] = {"severity", TV_SQL_TEXT},
    [FINDING_TITLE] = {"title", TV_SQL_TEXT},
    [FINDING_TEXT] = {"text", TV_SQL_TEXT},
    [FINDING_COUNT] = {"found", TV_SQL_INTEGER},
    [FINDING_TOTAL] = {"total_dur", TV_SQL_INTEGER},
    [FINDING_TS] = {"ts", TV_SQL_INTEGER},
    [FINDING_DUR] = {"dur", TV_SQL_INTEGER},
    [FINDING_SLICE] = {"slice_id", TV_SQL_INTEGER},
    [FINDING_UTID] = {"utid", TV_SQL_INTEGER},
    [FINDING_FRAME] = {"slice_name", TV_SQL_NAME},
    [FINDING_PART] = {"part_dur", TV_SQL_INTEGER},
    [FINDING_PLACE_COUNT] = {"place_count", TV_SQL_INTEGER},
    [FINDING_DIAGNOSTIC] = {"diagnostic", TV_SQL_TEXT},
};

/* A row: a rule that found something, and one of its places; TV_NONE: it has none. */
struct finding_row {
    uint32_t rule, place;
};

struct tv_sql_findings {
    pthread_mutex_t lock;
    struct tv_findings *found; /* NULL: not looked for yet */
    struct finding_row rows[TV_RULES * TV_FINDING_PLACES];
    uint32_t count;
    struct tv_interner *texts; /* the sentence of each rule */
    uint32_t text_of[TV_RULES];
};

struct tv_sql_findings *tv_sql_findings_new(void)
{
    struct tv_sql_findings *findings = tv_alloc(1, sizeof *findings);
    pthread_mutex_init(&findings->lock, NULL);
    return findings;
}

void tv_sql_findings_free(struct tv_sql_findings *findings)
{
    if (!findings)
        return;
    tv_findings_free(findings->found);
    tv_interner_free(findings->texts);
    pthread_mutex_destroy(&findings->lock);
    tv_free(findings);
}

/* List the rows of a rule, and keep its sentence. */
static void finding_add_rule(struct tv_sql_findings *findings, uint32_t rule)
{
    const struct tv_finding *finding = &findings->found->of[rule];
    struct tv_out text;
    if (!finding->found)
        return;
    tv_out_init_memory(&text);
    tv_findings_sentence(&text, findings->found, rule);
    findings->text_of[rule] =
        tv_interner_add(findings->texts, (struct tv_bytes){text.buffer, text.length});
    tv_out_release(&text);
    if (finding->place_count == 0)
        findings->rows[findings->count++] = (struct finding_row){rule, TV_NONE};
    for (uint32_t i = 0; i < finding->place_count; i++)
        findings->rows[findings->count++] = (struct finding_row){rule, i};
}

/* Return the findings; the first call looks for them. */
static const struct tv_sql_findings *finding_get(const struct tv_sql_data *data)
{
    const struct tv_selection all = TV_SELECT_ALL;
    struct tv_sql_findings *findings = data->findings;
    pthread_mutex_lock(&findings->lock);
    if (!findings->found) {
        struct tv_call_tree *tree = tv_call_tree_of_trace(data->trace, &all, 1);
        findings->found = tv_findings_of(data->trace, tree, &all);
        tv_call_tree_free(tree);
        findings->texts = tv_interner_new();
        for (uint32_t rule = 0; rule < TV_RULES; rule++)
            finding_add_rule(findings, rule);
    }
    pthread_mutex_unlock(&findings->lock);
    return findings;
}

static uint64_t sql_finding_count(const struct tv_sql_data *data)
{
    return finding_get(data)->count;
}

/* Put a column of the rule; false: it is one of the place. */
static bool sql_put_rule_column(const struct tv_sql_findings *findings, uint32_t column, uint64_t i,
                                uint32_t rule, struct tv_sql_vector *vector)
{
    switch (column) {
    case FINDING_NAME:
        tv_sql_put_text(vector, i, tv_rules[rule].name);
        return true;
    case FINDING_SEVERITY:
        tv_sql_put_text(vector, i, tv_severity_name(tv_rules[rule].severity));
        return true;
    case FINDING_TITLE:
        tv_sql_put_text(vector, i, tv_rules[rule].title);
        return true;
    case FINDING_TEXT:
        tv_sql_put_bytes(vector, i, tv_interner_get(findings->texts, findings->text_of[rule]));
        return true;
    case FINDING_COUNT:
        tv_sql_put_integer(vector, i, (int64_t)findings->found->of[rule].count);
        return true;
    case FINDING_TOTAL:
        tv_sql_put_integer(vector, i, findings->found->of[rule].total);
        return true;
    default:
        return false;
    }
}

/* Put what a place has from its call; NULL if it has none. */
static void sql_put_call_column(const struct tv_sql_data *data, uint32_t column, uint64_t i,
                                const struct tv_finding_place *place, struct tv_sql_vector *vector)
{
    if (place->row == TV_NONE)
        tv_sql_put_null(vector, i);
    else if (column == FINDING_TS || column == FINDING_DUR)
        tv_sql_put_integer(vector, i, column == FINDING_TS ? place->start : place->length);
    else if (column == FINDING_SLICE)
        tv_sql_put_integer(vector, i, (int64_t)(data->first_id[place->row] + place->index));
    else
        tv_sql_put_index(vector, i,
                         data->trace->tracks[data->trace->rows[place->row].track].thread);
}

static void sql_put_place_column(const struct tv_sql_data *data, uint32_t column, uint64_t i,
                                 const struct tv_finding_place *place, struct tv_sql_vector *vector)
{
    switch (column) {
    case FINDING_FRAME:
        if (place->frame != TV_NONE)
            tv_sql_put_name(data, vector, i, place->frame);
        else
            tv_sql_put_null(vector, i);
        break;
    case FINDING_PART:
        tv_sql_put_integer(vector, i, place->part);
        break;
    case FINDING_PLACE_COUNT:
        tv_sql_put_integer(vector, i, (int64_t)place->count);
        break;
    case FINDING_DIAGNOSTIC:
        if (place->kind != TV_NONE)
            tv_sql_put_text(vector, i, tv_diagnostic_name((enum tv_diagnostic_kind)place->kind));
        else
            tv_sql_put_null(vector, i);
        break;
    default:
        sql_put_call_column(data, column, i, place, vector);
    }
}

static void sql_fill_finding(const struct tv_sql_data *data, struct tv_sql_scratch *scratch,
                             uint32_t column, uint64_t first, uint32_t count,
                             struct tv_sql_vector *vector)
{
    const struct tv_sql_findings *findings = finding_get(data);
    (void)scratch;
    assert(first + count <= findings->count);
    for (uint32_t i = 0; i < count; i++) {
        const struct finding_row *row = &findings->rows[first + i];
        if (column == FINDING_ID)
            tv_sql_put_integer(vector, i, (int64_t)(first + i));
        else if (sql_put_rule_column(findings, column, i, row->rule, vector))
            continue;
        else if (row->place == TV_NONE)
            tv_sql_put_null(vector, i);
        else
            sql_put_place_column(data, column, i,
                                 &findings->found->of[row->rule].places[row->place], vector);
    }
}

const struct tv_sql_table tv_sql_finding_table = {
    .name = "finding",
    .count = sql_finding_count,
    .slow_count = true,
    .fill = sql_fill_finding,
    .columns = finding_columns,
    .column_count = TV_COUNT(finding_columns),
};
