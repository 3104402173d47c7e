/* SPDX-License-Identifier: Apache-2.0 */
/*
 * timeline.c - questions about the timeline: tiles, extents, the activity
 * overview, and colours of frames.
 *
 * A tile is 512 pixels of one row at one resolution
 * (analysis/timeline/tiles.h).  A page asks for those that it shows and caches
 * them, so scrolling asks only for new ones.  A question has at most
 * TILE_LIMIT tiles.
 */
#include <assert.h>

#include "analysis/search/call_search.h"
#include "analysis/timeline/density.h"
#include "analysis/timeline/tiles.h"
#include "base/memory.h"
#include "base/workers.h"
#include "view/internal.h"

/* ---- Tiles ----
 *
 * Several threads draw tiles, each into its own memory; the answer has them in the order asked for.
 */

#define TILE_LIMIT 4096

/* One question for tiles: `numbers` tiles of each row, from number `from` on.
 * The tiles are numbered row by row, and each worker draws a consecutive part. */
struct view_tiles_job {
    const struct tv_view *view;
    struct tv_tile_row *rows;
    uint32_t row_count;
    int64_t from; /* first tile number */
    uint32_t numbers;
    unsigned res;
    unsigned workers;
    struct tv_out *outs; /* by worker */
};

#define ALL_OF_IT 255

/*
 * Return the share of a slice in which its thread had the CPU, from 1 (none) to ALL_OF_IT; 0 if
 * unknown, or if only waits tell, which have tiles of their own.
 */
static uint32_t view_tile_cpu_share(const struct tv_view *view, const struct tv_tile_slice *at)
{
    assert(at->row < view->trace->row_count);
    const struct tv_trace *trace = view->trace;
    const struct tv_row *row = &trace->rows[at->row];
    if (!view->wall || !view->cpu || !tv_trace_info_has_categories(trace->head) ||
        !tv_track_has_cpu(trace, row->track))
        return 0;
    struct tv_slice slice = tv_slice_get(trace, at->row, at->index);
    if ((slice.flags & TV_SLICE_NO_CPU) || slice.length <= 0 || slice.cpu_length < 0)
        return 0;
    if (slice.cpu_length >= slice.length)
        return ALL_OF_IT;
    return 1 + (uint32_t)((double)slice.cpu_length / (double)slice.length * (ALL_OF_IT - 1));
}

/* A slice's flags; from bit 8 its reserved colour (0: automatic), from bit 16 the CPU share. */
static uint32_t view_tile_flags(const struct tv_view *view, const struct tv_tile *tile, uint32_t i)
{
    const struct tv_tile_slice *slice = &tile->slices[i];
    uint32_t colour = tv_slice_colour(view->trace, slice->row, slice->index, slice->frame);
    /* A piece of a slice has no share of its own. */
    uint32_t share = tile->key.kind == TV_TILE_ROW ? view_tile_cpu_share(view, slice) : 0;
    return slice->flags | colour << 8 | share << 16;
}

/* Write a tile, column by column. */
static void view_tile_write(struct tv_out *out, const struct tv_view *view,
                            const struct tv_tile *tile)
{
    bool coloured = tile->key.kind != TV_TILE_WAITS;
    uint32_t count = tile->count;
    struct tv_answer_column column = tv_column_new(count);
    tv_out_le32(out, (uint32_t)tile->key.kind);
    tv_out_le32(out, tile->key.of);
    tv_out_le32(out, tile->key.res);
    tv_out_le32(out, count);
    tv_out_f64(out, (double)tile->key.number);
    tv_out_le32(out, tile->has_density);
    tv_out_le32(out, 0);
    TV_COLUMN_OF_TIMES(out, &column, i, tile->slices[i].start);
    TV_COLUMN_OF_TIMES(out, &column, i, tile->slices[i].length);
    TV_COLUMN_OF_NUMBERS(out, &column, i, tile->slices[i].row);
    TV_COLUMN_OF_NUMBERS(out, &column, i, tile->slices[i].index);
    TV_COLUMN_OF_NUMBERS(out, &column, i, tile->slices[i].frame);
    TV_COLUMN_OF_NUMBERS(out, &column, i,
                         coloured ? view_tile_flags(view, tile, i) : tile->slices[i].flags);
    tv_column_release(&column);
    if (!tile->has_density)
        return;
    tv_column_write_u32(out, tile->frame, TV_TILE_PIXELS);
    tv_out_bytes(out, (struct tv_bytes){tile->height, TV_TILE_PIXELS});
}

/* Draw one worker's share of the tiles into its own memory. */
static void view_tiles_draw_share(void *context, unsigned index)
{
    struct view_tiles_job *job = context;
    uint64_t tiles = (uint64_t)job->row_count * job->numbers;
    uint64_t end = tiles * (index + 1) / job->workers;
    struct tv_tile tile;
    tv_tile_init(&tile);
    for (uint64_t i = tiles * index / job->workers; i < end; i++) {
        const struct tv_tile_row *row = &job->rows[i / job->numbers];
        struct tv_tile_key key = {row->kind, row->of, job->res,
                                  job->from + (int64_t)(i % job->numbers)};
        tv_tile_draw(job->view->pyramid, &key, &tile);
        view_tile_write(&job->outs[index], job->view, &tile);
    }
    tv_tile_release(&tile);
}

/* Starting a thread takes longer than drawing a few tiles. */
#define TILES_A_WORKER 32

/* Draw all tiles and append them in order. */
static void view_tiles_draw(struct view_tiles_job *job, struct tv_out *out)
{
    uint32_t tiles = job->row_count * job->numbers;
    job->workers = tv_workers_available();
    if (job->workers > tiles / TILES_A_WORKER + 1)
        job->workers = tiles / TILES_A_WORKER + 1;
    job->outs = tv_alloc(job->workers, sizeof *job->outs);
    for (unsigned i = 0; i < job->workers; i++)
        tv_out_init_memory(&job->outs[i]);
    tv_workers_run(job->workers, view_tiles_draw_share, job);
    tv_out_text(out, "TVT1");
    tv_out_le32(out, tiles);
    for (unsigned i = 0; i < job->workers; i++) {
        tv_out_bytes(out, (struct tv_bytes){job->outs[i].buffer, job->outs[i].length});
        tv_out_release(&job->outs[i]);
    }
    tv_free(job->outs);
}

/* Read the resolution and the range of tile numbers. */
static enum tv_status view_tiles_read_numbers(struct view_tiles_job *job,
                                              const struct tv_parameters *parameters,
                                              struct tv_error *err)
{
    int64_t res, from, to;
    enum tv_status status = tv_parameter_required(
        parameters, "res", (struct tv_parameter_bounds){0, TV_MAX_RES}, &res, err);
    if (status != TV_OK)
        return status;
    int64_t limit = TV_TILE_LIMIT((unsigned)res);
    status = tv_parameter_required(parameters, "from",
                                   (struct tv_parameter_bounds){-limit, limit - 1}, &from, err);
    if (status == TV_OK)
        status = tv_parameter_required(parameters, "to",
                                       (struct tv_parameter_bounds){from, limit - 1}, &to, err);
    if (status != TV_OK)
        return status;
    if (to - from >= TILE_LIMIT)
        return tv_fail(err, TV_ERR_USAGE, TV_NO_OFFSET, "a question may ask for at most %d tiles",
                       TILE_LIMIT);
    job->res = (unsigned)res;
    job->from = from;
    job->numbers = (uint32_t)(to - from + 1);
    return TV_OK;
}

/* Answer api/tiles. */
enum tv_status tv_view_tiles(const struct tv_view *view, const struct tv_parameters *parameters,
                             struct tv_out *out, struct tv_error *err)
{
    struct view_tiles_job job = {.view = view};
    enum tv_status status = view_tiles_read_numbers(&job, parameters, err);
    if (status == TV_OK)
        status = tv_parameter_rows(parameters, view->trace, TILE_LIMIT / job.numbers, &job.rows,
                                   &job.row_count, err);
    if (status != TV_OK)
        return status;
    view_tiles_draw(&job, out);
    tv_free(job.rows);
    return TV_OK;
}

/* ---- Extents of a method, and the activity overview ----
 */

/* Write the extents of one track. */
static void view_extents_write(struct tv_out *out, uint32_t track,
                               const struct tv_track_extents *extents)
{
    tv_out_char(out, '[');
    tv_out_u64(out, track);
    tv_out_text(out, ",[");
    for (uint32_t i = 0; i < extents->count; i++) {
        tv_out_text(out, i > 0 ? "," : "");
        tv_out_i64(out, extents->list[i].start);
        tv_out_char(out, ',');
        tv_out_i64(out, extents->list[i].end);
    }
    tv_out_text(out, "]]");
}

/* Return the nanoseconds per pixel of the selected part of the trace. */
static tv_ns view_extents_pixel(const struct tv_trace *trace, const struct tv_selection *selection,
                                int64_t pixels)
{
    tv_ns from = selection->from > trace->start ? selection->from : trace->start;
    tv_ns to = selection->to < trace->end ? selection->to : trace->end;
    return to > from ? (to - from) / pixels : 1;
}

/* Answer api/extents: where the calls of a method are, on each track; those
 * that are less than a pixel apart are one. */
enum tv_status tv_view_extents(const struct tv_view *view, const struct tv_parameters *parameters,
                               struct tv_out *out, struct tv_error *err)
{
    const struct tv_parameter_bounds frames = {0, (int64_t)view->trace->head->frame_count - 1};
    struct tv_selection selection;
    int64_t frame, pixels;
    bool any = false;
    enum tv_status status = tv_parameter_required(parameters, "frame", frames, &frame, err);
    if (status == TV_OK)
        status = tv_parameter_integer(parameters, "pixels", (struct tv_parameter_bounds){1, 65536},
                                      1600, &pixels, err);
    if (status == TV_OK)
        status = tv_parameter_selection(parameters, view->trace, &selection, err);
    if (status != TV_OK)
        return status;
    struct tv_extents *extents =
        tv_extents_of(view->trace, (uint32_t)frame, &selection,
                      view_extents_pixel(view->trace, &selection, pixels), 0);
    tv_out_text(out, "{\"tracks\":[");
    for (uint32_t i = 0; i < extents->track_count; i++) {
        if (extents->tracks[i].count == 0)
            continue;
        tv_out_text(out, any ? ",\n" : "");
        view_extents_write(out, i, &extents->tracks[i]);
        any = true;
    }
    tv_out_text(out, "]}");
    tv_extents_free(extents);
    tv_parameter_release_selection(&selection);
    return TV_OK;
}

/* Bytes of all heights together, at least one per track: with many tracks there are fewer
 * buckets. */
#define HEIGHTS_LIMIT ((int64_t)8 << 20)

/* Answer api/activity: how busy each track was, for the overview above the
 * timeline. */
enum tv_status tv_view_activity(const struct tv_view *view, const struct tv_parameters *parameters,
                                struct tv_out *out, struct tv_error *err)
{
    const struct tv_trace *trace = view->trace;
    const struct tv_parameter_bounds bounds = {1, TV_ACTIVITY_BUCKETS};
    int64_t buckets;
    enum tv_status status =
        tv_parameter_integer(parameters, "buckets", bounds, 1000, &buckets, err);
    if (status != TV_OK)
        return status;
    if (buckets * trace->track_count > HEIGHTS_LIMIT)
        buckets = HEIGHTS_LIMIT / trace->track_count;
    if (buckets == 0)
        buckets = 1;
    uint8_t *heights = tv_alloc((size_t)buckets, 1);
    tv_out_text(out, "TVA1");
    tv_out_le32(out, trace->track_count);
    tv_out_le32(out, (uint32_t)buckets);
    tv_out_le32(out, 0);
    tv_out_f64(out, (double)trace->start);
    tv_out_f64(out, (double)trace->end);
    for (uint32_t i = 0; i < trace->track_count; i++) {
        tv_activity_of_track(view->pyramid, i, trace->start, trace->end, (uint32_t)buckets,
                             heights);
        tv_out_le32(out, i);
        tv_out_bytes(out, (struct tv_bytes){heights, (size_t)buckets});
        tv_out_align(out, 4);
    }
    tv_free(heights);
    return TV_OK;
}

/* ---- Reserved colours of frames ----
 *
 * If all slices and instants of a name have one reserved colour, it is the colour of the name:
 * lists, and density rows of what is too small for a bar, then match the bars.
 */

/* Values besides the reserved colours. */
enum { NOTHING_SEEN = 254, SEVERAL = 255 };

/* Note a colour of a frame's slices. */
static void frame_colours_add(uint8_t *colours, uint32_t frame, uint8_t colour)
{
    if (colours[frame] == NOTHING_SEEN)
        colours[frame] = colour;
    else if (colours[frame] != colour)
        colours[frame] = SEVERAL;
}

/* Slice extras are sorted in the order of this walk, so `next` only moves forward. */
static void frame_colours_add_row(const struct tv_trace *trace, uint32_t row, size_t *next,
                                  uint8_t *colours)
{
    const struct tv_tables *tables = &trace->tables;
    const uint32_t *paths = tv_row_columns(trace, row)->path + trace->rows[row].first;
    for (uint32_t i = 0; i < trace->rows[row].count; i++) {
        uint32_t frame = trace->paths.nodes[paths[i]].frame;
        uint8_t own = 0;
        if (*next < tables->slice_extras.count && tables->slice_extras.rows[*next].row == row &&
            tables->slice_extras.rows[*next].index == i)
            own = tables->slice_extras.rows[(*next)++].colour;
        frame_colours_add(colours, frame, own ? own : trace->head->frames[frame].colour);
    }
}

/* Return true if any slice has a colour of its own. */
static bool frame_colours_any(const struct tv_tables *tables)
{
    for (size_t i = 0; i < tables->slice_extras.count; i++)
        if (tables->slice_extras.rows[i].colour)
            return true;
    return false;
}

uint8_t *tv_view_frame_colours(const struct tv_trace *trace)
{
    const struct tv_trace_info *head = trace->head;
    bool by_slice = frame_colours_any(&trace->tables);
    size_t next = 0;
    uint8_t *colours = tv_alloc(head->frame_count, sizeof *colours);
    for (uint32_t i = 0; i < head->frame_count; i++)
        colours[i] = by_slice ? NOTHING_SEEN : head->frames[i].colour;
    if (!by_slice)
        return colours;
    for (uint32_t row = 0; row < trace->row_count; row++)
        frame_colours_add_row(trace, row, &next, colours);
    for (size_t i = 0; i < trace->tables.instants.count; i++)
        frame_colours_add(colours, trace->tables.instants.rows[i].frame,
                          trace->tables.instants.rows[i].colour);
    for (uint32_t i = 0; i < head->frame_count; i++)
        if (colours[i] == NOTHING_SEEN || colours[i] == SEVERAL)
            colours[i] = head->frames[i].colour;
    return colours;
}
