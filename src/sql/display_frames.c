/* SPDX-License-Identifier: Apache-2.0 */
/*
 * display_frames.c - the table of the frames of a display, as `traceview
 * frames` lists them.
 *
 * To find them takes a pass over all calls, so it happens in the first query
 * that scans the table.  Hence `slow_count`: planning a query does not ask for
 * the number of rows.
 */
#include "analysis/findings/display_frames.h"

#include <assert.h>

#include "base/map.h"
#include "sql/tables.h"
#include "writers/tables/frames_table.h"

enum {
    DISPLAY_ID,
    DISPLAY_TS,
    DISPLAY_DUR,
    DISPLAY_DEADLINE,
    DISPLAY_DEADLINE_FROM,
    DISPLAY_LATE,
    DISPLAY_MAIN_DUR,
    DISPLAY_RENDER_DUR,
    DISPLAY_UTID,
    DISPLAY_UPID,
    DISPLAY_TRACK,
    DISPLAY_SLICE,
    DISPLAY_NAME,
    DISPLAY_CAUSE,
    DISPLAY_CAUSE_DUR,
    DISPLAY_REASON,
};

static const struct tv_sql_column display_columns[] = {
    [DISPLAY_ID] = {"id", TV_SQL_INTEGER},
    [DISPLAY_TS] = {"ts", TV_SQL_INTEGER},
    [DISPLAY_DUR] = {"dur", TV_SQL_INTEGER},
    [DISPLAY_DEADLINE] = {"deadline", TV_SQL_INTEGER},
    [DISPLAY_DEADLINE_FROM] = {"deadline_from", TV_SQL_TEXT},
    [DISPLAY_LATE] = {"late", TV_SQL_BOOLEAN},
    [DISPLAY_MAIN_DUR] = {"main_dur", TV_SQL_INTEGER},
    [DISPLAY_RENDER_DUR] = {"render_dur", TV_SQL_INTEGER},
    [DISPLAY_UTID] = {"utid", TV_SQL_INTEGER},
    [DISPLAY_UPID] = {"upid", TV_SQL_INTEGER},
    [DISPLAY_TRACK] = {"track_id", TV_SQL_INTEGER},
    [DISPLAY_SLICE] = {"slice_id", TV_SQL_INTEGER},
    [DISPLAY_NAME] = {"name", TV_SQL_NAME},
    [DISPLAY_CAUSE] = {"cause", TV_SQL_NAME},
    [DISPLAY_CAUSE_DUR] = {"cause_dur", TV_SQL_INTEGER},
    [DISPLAY_REASON] = {"reason", TV_SQL_TEXT},
};

/* The first call finds the frames; the cache locks itself, so scans of several
 * threads may call it. */
static uint64_t sql_display_count(const struct tv_sql_data *data)
{
    return tv_display_cache_get(data->display)->count;
}

/* Put a time, or NULL if it is not known. */
static void sql_put_known(struct tv_sql_vector *vector, uint64_t i, bool known, tv_ns time)
{
    if (known)
        tv_sql_put_integer(vector, i, time);
    else
        tv_sql_put_null(vector, i);
}

/* Put what took most time of a frame, or why it was late. */
static void sql_put_cause(const struct tv_sql_data *data, uint32_t column, uint64_t i,
                          const struct tv_display_frame *frame, struct tv_sql_vector *vector)
{
    bool known = frame->cause != TV_NONE;
    if (column == DISPLAY_CAUSE && known)
        tv_sql_put_name(data, vector, i, frame->cause);
    else if (column == DISPLAY_CAUSE_DUR)
        sql_put_known(vector, i, known, frame->cause_time);
    else if (column == DISPLAY_REASON && frame->reason != TV_EMPTY_STRING)
        tv_sql_put_bytes(
            vector, i,
            tv_interner_get(tv_display_cache_get(data->display)->reasons, frame->reason));
    else
        tv_sql_put_null(vector, i);
}

static void sql_put_display_column(const struct tv_sql_data *data, uint32_t column, uint64_t i,
                                   const struct tv_display_frame *frame,
                                   struct tv_sql_vector *vector)
{
    switch (column) {
    case DISPLAY_TS:
        tv_sql_put_integer(vector, i, frame->start);
        break;
    case DISPLAY_DUR:
        tv_sql_put_integer(vector, i, frame->unfinished ? -1 : frame->length);
        break;
    case DISPLAY_DEADLINE:
        sql_put_known(vector, i, frame->deadline != TV_NO_DEADLINE, frame->deadline);
        break;
    case DISPLAY_DEADLINE_FROM:
        tv_sql_put_text(vector, i, tv_deadline_source_name((enum tv_deadline_source)frame->source));
        break;
    case DISPLAY_LATE:
        tv_sql_put_boolean(vector, i, frame->late);
        break;
    case DISPLAY_MAIN_DUR:
        sql_put_known(vector, i, frame->main > 0, frame->main);
        break;
    case DISPLAY_RENDER_DUR:
        sql_put_known(vector, i, frame->render > 0, frame->render);
        break;
    case DISPLAY_UTID:
    case DISPLAY_UPID:
        tv_sql_put_index(vector, i, column == DISPLAY_UTID ? frame->thread : frame->process);
        break;
    case DISPLAY_TRACK:
        tv_sql_put_integer(vector, i, data->trace->rows[frame->row].track);
        break;
    case DISPLAY_SLICE:
        tv_sql_put_integer(vector, i, (int64_t)(data->first_id[frame->row] + frame->index));
        break;
    case DISPLAY_NAME:
        tv_sql_put_name(data, vector, i, frame->name);
        break;
    default:
        sql_put_cause(data, column, i, frame, vector);
    }
}

static void sql_fill_display(const struct tv_sql_data *data, struct tv_sql_scratch *scratch,
                             uint32_t column, uint64_t first, uint32_t count,
                             struct tv_sql_vector *vector)
{
    const struct tv_display_frames *frames = tv_display_cache_get(data->display);
    (void)scratch;
    assert(first + count <= frames->count);
    for (uint32_t i = 0; i < count; i++)
        if (column == DISPLAY_ID)
            tv_sql_put_integer(vector, i, (int64_t)(first + i));
        else
            sql_put_display_column(data, column, i, &frames->list[first + i], vector);
}

const struct tv_sql_table tv_sql_display_table = {
    .name = "display_frame",
    .count = sql_display_count,
    .slow_count = true,
    .fill = sql_fill_display,
    .columns = display_columns,
    .column_count = TV_COUNT(display_columns),
};
