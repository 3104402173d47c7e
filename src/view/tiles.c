/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tiles: drawn by several threads, each into memory of its own, and handed out in the order asked
 * for.
 */
#include "analysis/timeline/tiles.h"

#include "base/memory.h"
#include "base/workers.h"
#include "view/columns.h"
#include "view/state.h"

#define TILE_LIMIT 4096

struct job {
    const struct tv_view *view;
    struct tv_tile_row *rows;
    uint32_t row_count;
    int64_t from; /* the first number */
    uint32_t numbers;
    unsigned res;
    unsigned workers;
    struct tv_out *outs; /* of each worker */
};

#define ALL_OF_IT 255

/*
 * How much of a slice its thread had the CPU, from 1 (not at all) to ALL_OF_IT; 0 where only the
 * waits, which have tiles of their own, or nothing tells.
 */
static uint32_t cpu_share(const struct tv_view *view, const struct tv_tile_slice *at)
{
    const struct tv_trace *trace = view->trace;
    const struct tv_row *row = &trace->rows[at->row];
    if (!view->wall || !view->cpu || !tv_head_has_categories(trace->head) ||
        !tv_track_has_cpu(trace, row->track))
        return 0;
    struct tv_slice slice = tv_slice_get(trace, at->row, at->index);
    if ((slice.flags & TV_SLICE_NO_CPU) || slice.length <= 0 || slice.cpu_length < 0)
        return 0;
    if (slice.cpu_length >= slice.length)
        return ALL_OF_IT;
    return 1 + (uint32_t)((double)slice.cpu_length / (double)slice.length * (ALL_OF_IT - 1));
}

/* A slice's flags, above them its reserved colour (0: automatic), above that the CPU's share. */
static uint32_t flags_of(const struct tv_view *view, const struct tv_tile *tile, uint32_t i)
{
    const struct tv_tile_slice *slice = &tile->slices[i];
    uint32_t colour = tv_slice_colour(view->trace, slice->row, slice->index, slice->frame);
    /* A piece of a slice is no place for a share of the whole. */
    uint32_t share = tile->key.kind == TV_TILE_ROW ? cpu_share(view, slice) : 0;
    return slice->flags | colour << 8 | share << 16;
}

static void write_tile(struct tv_out *out, const struct tv_view *view, const struct tv_tile *tile)
{
    bool coloured = tile->key.kind != TV_TILE_WAITS;
    uint32_t count = tile->count;
    struct tv_column column = tv_column_new(count);
    tv_out_le32(out, (uint32_t)tile->key.kind);
    tv_out_le32(out, tile->key.of);
    tv_out_le32(out, tile->key.res);
    tv_out_le32(out, count);
    tv_out_f64(out, (double)tile->key.number);
    tv_out_le32(out, tile->has_density);
    tv_out_le32(out, 0);
    for (uint32_t i = 0; i < count; i++)
        column.times[i] = (double)tile->slices[i].start;
    tv_column_write_times(out, &column);
    for (uint32_t i = 0; i < count; i++)
        column.times[i] = (double)tile->slices[i].length;
    tv_column_write_times(out, &column);
    for (uint32_t i = 0; i < count; i++)
        column.numbers[i] = tile->slices[i].row;
    tv_column_write_numbers(out, &column);
    for (uint32_t i = 0; i < count; i++)
        column.numbers[i] = tile->slices[i].index;
    tv_column_write_numbers(out, &column);
    for (uint32_t i = 0; i < count; i++)
        column.numbers[i] = tile->slices[i].frame;
    tv_column_write_numbers(out, &column);
    for (uint32_t i = 0; i < count; i++)
        column.numbers[i] = coloured ? flags_of(view, tile, i) : tile->slices[i].flags;
    tv_column_write_numbers(out, &column);
    tv_column_release(&column);
    if (!tile->has_density)
        return;
    tv_column_write_u32(out, tile->frame, TV_TILE_PIXELS);
    tv_out_bytes(out, (struct tv_bytes){tile->height, TV_TILE_PIXELS});
}

static void draw_share(void *context, unsigned index)
{
    struct job *job = context;
    uint64_t tiles = (uint64_t)job->row_count * job->numbers;
    uint64_t end = tiles * (index + 1) / job->workers;
    struct tv_tile tile;
    tv_tile_init(&tile);
    for (uint64_t i = tiles * index / job->workers; i < end; i++) {
        const struct tv_tile_row *row = &job->rows[i / job->numbers];
        struct tv_tile_key key = {row->kind, row->of, job->res,
                                  job->from + (int64_t)(i % job->numbers)};
        tv_tile_draw(job->view->pyramid, &key, &tile);
        write_tile(&job->outs[index], job->view, &tile);
    }
    tv_tile_release(&tile);
}

/* Starting a thread takes longer than drawing a few tiles. */
#define TILES_A_WORKER 32

static void draw(struct job *job, struct tv_out *out)
{
    uint32_t tiles = job->row_count * job->numbers;
    job->workers = tv_workers_available();
    if (job->workers > tiles / TILES_A_WORKER + 1)
        job->workers = tiles / TILES_A_WORKER + 1;
    job->outs = tv_alloc(job->workers, sizeof *job->outs);
    for (unsigned i = 0; i < job->workers; i++)
        tv_out_init_memory(&job->outs[i]);
    tv_workers_run(job->workers, draw_share, job);
    tv_out_text(out, "TVT1");
    tv_out_le32(out, tiles);
    for (unsigned i = 0; i < job->workers; i++) {
        tv_out_bytes(out, (struct tv_bytes){job->outs[i].buffer, job->outs[i].length});
        tv_out_release(&job->outs[i]);
    }
    tv_free(job->outs);
}

static enum tv_status read_numbers(struct job *job, const struct tv_parameters *parameters,
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
        return tv_fail(err, TV_ERR_USAGE, TV_NO_OFFSET, "at most %d tiles a question", TILE_LIMIT);
    job->res = (unsigned)res;
    job->from = from;
    job->numbers = (uint32_t)(to - from + 1);
    return TV_OK;
}

enum tv_status tv_view_tiles(const struct tv_view *view, const struct tv_parameters *parameters,
                             struct tv_out *out, struct tv_error *err)
{
    struct job job = {.view = view};
    enum tv_status status = read_numbers(&job, parameters, err);
    if (status == TV_OK)
        status = tv_parameter_rows(parameters, view->trace, TILE_LIMIT / job.numbers, &job.rows,
                                   &job.row_count, err);
    if (status != TV_OK)
        return status;
    draw(&job, out);
    tv_free(job.rows);
    return TV_OK;
}
