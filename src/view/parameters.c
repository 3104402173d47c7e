/* SPDX-License-Identifier: Apache-2.0 */
/*
 * parameters.c - reads the parameters of questions (docs/view-protocol.md), and writes the columns
 * of binary answers.
 *
 * A question comes from a page, thus from anybody who can reach the server.  Each function turns
 * one parameter into a value that is valid for this trace: an index below its count, a time that
 * later sums cannot overflow, a list no longer than its limit.  So endpoints may use it as it is.
 * A parameter that is missing has a default; one that is wrong is an error (TV_ERR_USAGE) which
 * names the parameter and what it may be, and is never corrected silently.
 */
#include "view/parameters.h"

#include <assert.h>
#include <inttypes.h>
#include <string.h>

#include "base/bytes.h"
#include "base/memory.h"
#include "view/internal.h"

/* Times are accepted up to this distance from the origin: twice the distance does not overflow. */
#define TIME_LIMIT ((int64_t)1 << 61)

/* An empty value ("from=") has data, a missing parameter has none: `data` tells them apart. */
struct tv_bytes tv_parameter_text(const struct tv_parameters *parameters, const char *name)
{
    for (size_t i = 0; i < parameters->count; i++)
        if (tv_bytes_equal(parameters->list[i].name, tv_bytes_of(name)))
            return parameters->list[i].value.data ? parameters->list[i].value : tv_bytes_of("");
    return (struct tv_bytes){NULL, 0};
}

enum tv_status tv_parameter_integer(const struct tv_parameters *parameters, const char *name,
                                    struct tv_parameter_bounds bounds, int64_t otherwise,
                                    int64_t *value, struct tv_error *err)
{
    struct tv_bytes text = tv_parameter_text(parameters, name);
    *value = otherwise;
    if (!text.data)
        return TV_OK;
    if (tv_parse_i64(text, value) && *value >= bounds.low && *value <= bounds.high)
        return TV_OK;
    return tv_fail(err, TV_ERR_USAGE, TV_NO_OFFSET,
                   "%s: expected an integer from %" PRId64 " to %" PRId64, name, bounds.low,
                   bounds.high);
}

enum tv_status tv_parameter_required(const struct tv_parameters *parameters, const char *name,
                                     struct tv_parameter_bounds bounds, int64_t *value,
                                     struct tv_error *err)
{
    if (!tv_parameter_text(parameters, name).data)
        return tv_fail(err, TV_ERR_USAGE, TV_NO_OFFSET, "%s is missing", name);
    return tv_parameter_integer(parameters, name, bounds, 0, value, err);
}

/* The first choice is the default, so endpoints list it first. */
enum tv_status tv_parameter_choice(const struct tv_parameters *parameters, const char *name,
                                   const char *const *choices, unsigned *value,
                                   struct tv_error *err)
{
    struct tv_bytes text = tv_parameter_text(parameters, name);
    *value = 0;
    if (!text.data)
        return TV_OK;
    for (unsigned i = 0; choices[i]; i++) {
        *value = i;
        if (tv_bytes_equal(text, tv_bytes_of(choices[i])))
            return TV_OK;
    }
    return tv_fail(err, TV_ERR_USAGE, TV_NO_OFFSET, "%s: unknown value; use %s, for example", name,
                   choices[0]);
}

enum tv_status tv_parameter_switch(const struct tv_parameters *parameters, const char *name,
                                   bool *on, struct tv_error *err)
{
    static const char *const switches[] = {"0", "1", NULL};
    unsigned choice;
    enum tv_status status = tv_parameter_choice(parameters, name, switches, &choice, err);
    *on = choice == 1;
    return status;
}

enum tv_status tv_parameter_share(const struct tv_parameters *parameters, const char *name,
                                  double otherwise, double *value, struct tv_error *err)
{
    struct tv_bytes text = tv_parameter_text(parameters, name);
    int64_t billionths;
    *value = otherwise;
    if (!text.data)
        return TV_OK;
    /* parsed as a time in seconds, it comes out in billionths */
    if (!tv_parse_time(text, 1000000000, &billionths) || billionths < 0 || billionths > 1000000000)
        return tv_fail(err, TV_ERR_USAGE, TV_NO_OFFSET, "%s: expected a fraction from 0 to 1",
                       name);
    *value = (double)billionths / 1e9;
    return TV_OK;
}

/* Take the next number off "0,3,4"; false if it is not a number below `limit`. */
static bool parameter_take_index(struct tv_bytes *list, uint32_t limit, uint32_t *index)
{
    struct tv_bytes item;
    uint64_t number;
    tv_bytes_split(list, ',', &item);
    if (!tv_parse_u64(item, &number) || number >= limit)
        return false;
    *index = (uint32_t)number;
    return true;
}

/* Read the list of tracks.  An empty list selects no track, which differs from a missing one.  The
 * caller releases the selection after an error, too. */
static enum tv_status parameter_read_tracks(struct tv_bytes text, const struct tv_trace *trace,
                                            struct tv_selection *selection, struct tv_error *err)
{
    uint32_t *tracks = tv_alloc(trace->track_count + 1, sizeof *tracks);
    selection->tracks = tracks;
    while (text.length > 0) {
        uint32_t track;
        if (!parameter_take_index(&text, trace->track_count, &track) ||
            selection->track_count >= trace->track_count)
            return tv_fail(err, TV_ERR_USAGE, TV_NO_OFFSET,
                           "tracks: expected numbers below %u, each once, with commas",
                           trace->track_count);
        tracks[selection->track_count++] = track;
    }
    return TV_OK;
}

void tv_parameter_release_selection(struct tv_selection *selection)
{
    tv_free((uint32_t *)(uintptr_t)selection->tracks);
    selection->tracks = NULL;
}

enum tv_status tv_parameter_selection(const struct tv_parameters *parameters,
                                      const struct tv_trace *trace, struct tv_selection *selection,
                                      struct tv_error *err)
{
    const struct tv_parameter_bounds times = {-TIME_LIMIT, TIME_LIMIT};
    struct tv_bytes tracks = tv_parameter_text(parameters, "tracks");
    *selection = TV_SELECT_ALL;
    enum tv_status status =
        tv_parameter_integer(parameters, "from", times, INT64_MIN, &selection->from, err);
    if (status == TV_OK)
        status = tv_parameter_integer(parameters, "to", times, INT64_MAX, &selection->to, err);
    if (status == TV_OK && tracks.data)
        status = parameter_read_tracks(tracks, trace, selection, err);
    if (status != TV_OK)
        tv_parameter_release_selection(selection);
    /* Normalize: any range that covers everything shares one call tree. */
    if (selection->from <= trace->start)
        selection->from = INT64_MIN;
    if (selection->to > trace->end)
        selection->to = INT64_MAX;
    return status;
}

enum tv_status tv_parameter_clock(const struct tv_parameters *parameters,
                                  const struct tv_trace *trace, enum tv_clocks *clock,
                                  struct tv_error *err)
{
    /* Without the parameter: the wall clock, or the CPU clock of a trace that has no other. */
    static const char *const names[] = {"real", "cpu", NULL};
    unsigned clocks = tv_trace_info_clocks(trace->head), number;
    enum tv_status status = tv_parameter_choice(parameters, "clock", names, &number, err);
    if (status != TV_OK)
        return status;
    bool given = tv_parameter_text(parameters, "clock").data != NULL;
    if (given && !(clocks & (number ? TV_CLOCK_CPU : TV_CLOCK_WALL)))
        return tv_fail(err, TV_ERR_USAGE, TV_NO_OFFSET, "clock: the trace has no such clock");
    *clock = number || !(clocks & TV_CLOCK_WALL) ? TV_CLOCK_CPU : TV_CLOCK_WALL;
    return TV_OK;
}

/* The default end is one nanosecond after the last event: ranges do not contain
 * their end. */
enum tv_status tv_parameter_window(const struct tv_parameters *parameters,
                                   const struct tv_trace *trace, int64_t most,
                                   struct tv_view_window *window, struct tv_error *err)
{
    const struct tv_parameter_bounds times = {-TIME_LIMIT, TIME_LIMIT};
    const struct tv_parameter_bounds pixels = {1, most};
    tv_ns end = trace->end < INT64_MAX ? trace->end + 1 : trace->end;
    enum tv_status status =
        tv_parameter_integer(parameters, "from", times, trace->start, &window->from, err);
    if (status == TV_OK)
        status = tv_parameter_integer(parameters, "to", times, end, &window->to, err);
    if (status == TV_OK)
        status = tv_parameter_integer(parameters, "pixels", pixels, 1600, &window->pixels, err);
    if (status == TV_OK && window->to <= window->from)
        return tv_fail(err, TV_ERR_USAGE, TV_NO_OFFSET, "to: expected a time after from");
    return status;
}

enum tv_status tv_parameter_slice(const struct tv_parameters *parameters,
                                  const struct tv_trace *trace, uint32_t *row, uint32_t *index,
                                  struct tv_error *err)
{
    int64_t value;
    enum tv_status status = tv_parameter_required(
        parameters, "row", (struct tv_parameter_bounds){0, (int64_t)trace->row_count - 1}, &value,
        err);
    if (status != TV_OK)
        return status;
    *row = (uint32_t)value;
    status = tv_parameter_required(
        parameters, "index", (struct tv_parameter_bounds){0, (int64_t)trace->rows[*row].count - 1},
        &value, err);
    *index = (uint32_t)value;
    return status;
}

/* ---- Rows of tiles ---- */

/* Parse "5" or "5-9". */
static bool parameter_read_interval(struct tv_bytes text, uint32_t limit, uint32_t *first,
                                    uint32_t *last)
{
    struct tv_bytes head;
    uint64_t low, high;
    bool two = tv_bytes_split(&text, '-', &head);
    if (!tv_parse_u64(head, &low) || low >= limit)
        return false;
    high = low;
    if (two && (!tv_parse_u64(text, &high) || high >= limit || high < low))
        return false;
    *first = (uint32_t)low;
    *last = (uint32_t)high;
    return true;
}

/* The rows of one request for tiles.  `limit` counts rows after "r5-9" was expanded, so that a
 * short text cannot ask for a million tiles. */
struct tile_row_list {
    struct tv_tile_row *rows;
    size_t capacity;
    uint32_t count, limit;
};

/* Add the rows of one item like "r5-9". */
static bool parameter_add_rows(struct tile_row_list *list, struct tv_bytes item,
                               const struct tv_trace *trace)
{
    assert(list->count <= list->limit);
    static const char letters[] = "riw"; /* in the order of enum tv_tile_kind */
    uint32_t first, last;
    const char *letter = item.length > 1 ? memchr(letters, item.data[0], 3) : NULL;
    if (!letter)
        return false;
    enum tv_tile_kind kind = (enum tv_tile_kind)(letter - letters);
    uint32_t limit = kind == TV_TILE_ROW ? trace->row_count : trace->track_count;
    item = (struct tv_bytes){item.data + 1, item.length - 1};
    if (!parameter_read_interval(item, limit, &first, &last) ||
        last - first >= list->limit - list->count)
        return false;
    for (uint32_t of = first; of <= last; of++) {
        list->rows = tv_array_reserve(list->rows, &list->capacity, (size_t)list->count + 1,
                                      sizeof *list->rows);
        list->rows[list->count++] = (struct tv_tile_row){kind, of};
    }
    return true;
}

enum tv_status tv_parameter_numbers(const struct tv_parameters *parameters,
                                    struct tv_parameter_list list, uint32_t *numbers,
                                    uint32_t *count, struct tv_error *err)
{
    struct tv_bytes text = tv_parameter_text(parameters, list.name), item;
    uint64_t number;
    *count = 0;
    while (text.length > 0) {
        tv_bytes_split(&text, ',', &item);
        if (*count == list.most || !tv_parse_u64(item, &number) || number >= list.end)
            return tv_fail(err, TV_ERR_USAGE, TV_NO_OFFSET,
                           "%s: expected at most %u numbers below %u with commas", list.name,
                           list.most, list.end);
        numbers[(*count)++] = (uint32_t)number;
    }
    return TV_OK;
}

/* The letters are r for a row of slices, i for the innermost calls of a track,
 * and w for its waits. */
enum tv_status tv_parameter_rows(const struct tv_parameters *parameters,
                                 const struct tv_trace *trace, uint32_t limit,
                                 struct tv_tile_row **rows, uint32_t *count, struct tv_error *err)
{
    struct tv_bytes text = tv_parameter_text(parameters, "rows"), item;
    struct tile_row_list list = {.limit = limit};
    while (text.length > 0) {
        tv_bytes_split(&text, ',', &item);
        if (parameter_add_rows(&list, item, trace))
            continue;
        tv_free(list.rows);
        return tv_fail(
            err, TV_ERR_USAGE, TV_NO_OFFSET,
            "rows: expected at most %u such as r5-9,i0,w0, of rows below %u and tracks below %u",
            limit, trace->row_count, trace->track_count);
    }
    *rows = list.rows;
    *count = list.count;
    return TV_OK;
}

/* One allocation serves times (8 bytes) or numbers (4 bytes): a column is either of them. */
struct tv_answer_column tv_column_new(uint32_t count)
{
    struct tv_answer_column column = {.count = count};
    column.times = tv_alloc(count, sizeof *column.times);
    column.numbers = (uint32_t *)(void *)column.times;
    return column;
}

void tv_column_release(struct tv_answer_column *column)
{
    tv_free(column->times);
}

/* A column in memory has the bytes of an answer, except on big-endian machines. */
#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__

void tv_column_write_times(struct tv_out *out, const struct tv_answer_column *column)
{
    tv_out_bytes(out, (struct tv_bytes){(const uint8_t *)column->times,
                                        column->count * sizeof *column->times});
}

void tv_column_write_u32(struct tv_out *out, const uint32_t *numbers, uint32_t count)
{
    tv_out_bytes(out, (struct tv_bytes){(const uint8_t *)numbers, count * sizeof *numbers});
}

#else

void tv_column_write_times(struct tv_out *out, const struct tv_answer_column *column)
{
    for (uint32_t i = 0; i < column->count; i++)
        tv_out_f64(out, column->times[i]);
}

void tv_column_write_u32(struct tv_out *out, const uint32_t *numbers, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        tv_out_le32(out, numbers[i]);
}

#endif

/* Padded to 8 bytes, so that the next column can be a Float64Array of the page without a copy. */
void tv_column_write_numbers(struct tv_out *out, const struct tv_answer_column *column)
{
    tv_column_write_u32(out, column->numbers, column->count);
    if (column->count % 2)
        tv_out_le32(out, 0);
}
