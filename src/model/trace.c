/* SPDX-License-Identifier: Apache-2.0 */
/*
 * trace.c - decoding and searching the columns of a finished trace, and resolving references.
 *
 * Nothing here changes a finished trace, so any number of threads may call these functions.
 *
 * Times of slices are decoded in two steps: block base + 32-bit difference gives ticks of the
 * input's clock, and ticks * tick_ns + offset of the input gives nanoseconds of the trace's axis
 * (columns.c).  A trace without a wall clock uses the thread's CPU times on its axis; struct
 * row_decoder holds that choice, and everything else that is the same for all slices of a row.
 */
#include "model/trace.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/memory.h"
#include "base/sections.h"
#include "base/sort.h"
#include "base/source.h"
#include "model/columns.h"

void tv_trace_keep_source(struct tv_trace *trace, struct tv_source *source)
{
    trace->sources =
        tv_realloc(trace->sources, trace->source_count + 1, sizeof(struct tv_source *));
    trace->sources[trace->source_count++] = source;
}

void tv_trace_keep_inner_source(struct tv_trace *trace, struct tv_source *source)
{
    assert(trace->inner_count == trace->source_count);
    tv_trace_keep_source(trace, source);
    trace->inner_count = trace->source_count;
}

enum tv_status tv_trace_check_sources(const struct tv_trace *trace, struct tv_error *err)
{
    for (; trace; trace = trace->base)
        for (size_t i = 0; i < trace->source_count; i++)
            if (tv_source_check(trace->sources[i], err) != TV_OK)
                return tv_error_prefix(err, "%s", tv_source_name(trace->sources[i]));
    return TV_OK;
}

uint8_t tv_slice_colour(const struct tv_trace *trace, uint32_t row, uint32_t index, uint32_t frame)
{
    const struct tv_slice_extra *extra = tv_tables_slice_extra(&trace->tables, row, index);
    return extra && extra->colour ? extra->colour : trace->head->frames[frame].colour;
}

/* Free the columns, paths, waits and tables that are not in an index file. */
static void trace_release_columns(struct tv_trace *trace)
{
    tv_paths_release(&trace->paths);
    for (uint32_t i = 0; i < trace->columns_count; i++)
        tv_columns_release(&trace->columns[i]);
    for (uint32_t i = 0; i < trace->track_count; i++)
        tv_free(trace->tracks[i].waits);
    tv_tables_release(&trace->tables);
}

void tv_trace_await(struct tv_trace *trace)
{
    if (trace->await)
        trace->await(trace->await_context);
    trace->await = NULL;
}

void tv_trace_free(struct tv_trace *trace)
{
    if (!trace)
        return;
    /* A thread that writes the index may still read the columns.  Columns of a trace from an index
     * point into its sections, which are closed as a whole. */
    tv_trace_await(trace);
    if (trace->sections)
        tv_sections_close(trace->sections);
    else
        trace_release_columns(trace);
    tv_free(trace->columns);
    tv_free(trace->tracks);
    tv_free(trace->rows);
    tv_free(trace->offset);
    for (size_t i = 0; i < trace->source_count; i++)
        tv_source_free(trace->sources[i]);
    tv_free(trace->sources);
    if (!trace->base)
        tv_trace_info_free(trace->head);
    tv_free(trace);
}

uint64_t tv_slice_offset(const struct tv_trace *trace, uint32_t row, uint32_t index)
{
    const struct tv_columns *columns = tv_row_columns(trace, row);
    uint64_t at = trace->rows[row].first + index;
    if (!columns->offset)
        return TV_NO_OFFSET;
    uint64_t high = columns->offset_high ? columns->offset_high[at] : 0;
    return high << 32 | columns->offset[at];
}

/* Everything needed to decode the slices of a row. */
struct row_decoder {
    const struct tv_columns *columns;
    const struct tv_row *row;
    const struct tv_slice_block *blocks; /* of the row */
    int64_t tick;
    tv_ns offset;
    bool cpu_axis;
};

static struct row_decoder decoder_for_row(const struct tv_trace *trace, uint32_t row)
{
    assert(row < trace->row_count);
    const struct tv_row *r = &trace->rows[row];
    const struct tv_columns *columns = &trace->columns[r->columns];
    return (struct row_decoder){columns,
                                r,
                                columns->blocks + r->first_block,
                                trace->head->inputs[r->input].tick_ns,
                                trace->offset[r->input],
                                columns->start == NULL};
}

/* Return the times of a slice in ticks, with 64 bits. */
static struct tv_wide_time decoder_ticks(const struct row_decoder *d, uint32_t index)
{
    return tv_columns_ticks(d->columns, d->row, index);
}

/* Decode a slice. A slice of the CPU axis has its CPU times as start and length, too. */
static struct tv_slice decoder_slice(const struct row_decoder *d, uint32_t index)
{
    struct tv_wide_time ticks = decoder_ticks(d, index);
    struct tv_slice slice = {
        .cpu_start = ticks.cpu_start * d->tick,
        .cpu_length = ticks.cpu_length * d->tick,
        .path = d->columns->path[d->row->first + index],
        .flags = d->columns->flags[d->row->first + index],
    };
    slice.start = (d->cpu_axis ? ticks.cpu_start : ticks.start) * d->tick + d->offset;
    slice.length = (d->cpu_axis ? ticks.cpu_length : ticks.length) * d->tick;
    return slice;
}

void tv_slices_read(const struct tv_trace *trace, uint32_t row, uint32_t first, uint32_t count,
                    struct tv_slice *slices)
{
    struct row_decoder d = decoder_for_row(trace, row);
    assert(first <= d.row->count && count <= d.row->count - first);
    for (uint32_t i = 0; i < count; i++)
        slices[i] = decoder_slice(&d, first + i);
}

struct tv_slice tv_slice_get(const struct tv_trace *trace, uint32_t row, uint32_t index)
{
    struct row_decoder d = decoder_for_row(trace, row);
    assert(index < d.row->count);
    return decoder_slice(&d, index);
}

/* Return where a slice begins on the axis. */
static tv_ns decoder_start(const struct row_decoder *d, uint32_t index)
{
    struct tv_wide_time ticks = decoder_ticks(d, index);
    return (d->cpu_axis ? ticks.cpu_start : ticks.start) * d->tick + d->offset;
}

/* Return where a slice ends on the axis. Ends rise with the index as starts do, because the slices
 * of a row do not overlap; binary searches rely on it. */
static tv_ns decoder_end(const struct row_decoder *d, uint32_t index)
{
    struct tv_wide_time ticks = decoder_ticks(d, index);
    tv_ns end = d->cpu_axis ? ticks.cpu_start + ticks.cpu_length : ticks.start + ticks.length;
    return end * d->tick + d->offset;
}

/* A block has one base, and is wide as a whole or not at all, so the loops below decide once for up
 * to 1,024 slices.  What remains in them is one addition and one multiplication for each slice,
 * which the compiler turns into vector instructions.
 *
 *     base   0x1_ffff_fff0     64 bits, of the block's first slice
 *     column       0x0000_0008     the low 32 bits of the slice's ticks
 *     ticks  0x2_0000_0008     base + (column - low half of base), modulo 2^32: 0x18 after the base
 */

/* Return the number of slices in [first, first + count) that lie in one block. */
static uint32_t decoder_run(uint32_t first, uint32_t count)
{
    uint32_t left = TV_BLOCK_SLICES - first % TV_BLOCK_SLICES;
    return count < left ? count : left;
}

void tv_slices_read_starts(const struct tv_trace *trace, uint32_t row, uint32_t first,
                           uint32_t count, tv_ns *starts)
{
    struct row_decoder d = decoder_for_row(trace, row);
    const uint32_t *column = d.cpu_axis ? d.columns->cpu_start : d.columns->start;
    assert(first <= d.row->count && count <= d.row->count - first);
    for (uint32_t done = 0; done < count;) {
        uint32_t at = first + done, here = decoder_run(at, count - done);
        const struct tv_slice_block *block = &d.blocks[at / TV_BLOCK_SLICES];
        tv_ns *put = starts + done;
        if (block->wide != TV_NONE) {
            for (uint32_t i = 0; i < here; i++)
                put[i] = decoder_start(&d, at + i);
        } else {
            const uint32_t *ticks = column + d.row->first + at;
            int64_t base = d.cpu_axis ? block->cpu_base : block->wall_base;
            for (uint32_t i = 0; i < here; i++)
                put[i] = (base + (uint32_t)(ticks[i] - (uint32_t)base)) * d.tick + d.offset;
        }
        done += here;
    }
}

/* Decode the lengths of one clock. */
static void decoder_read_lengths(const struct row_decoder *d, bool cpu, uint32_t first,
                                 uint32_t count, tv_ns *lengths)
{
    const uint32_t *column = cpu ? d->columns->cpu_length : d->columns->length;
    assert(first <= d->row->count && count <= d->row->count - first);
    for (uint32_t done = 0; done < count;) {
        uint32_t at = first + done, here = decoder_run(at, count - done);
        const uint32_t *ticks = column + d->row->first + at;
        tv_ns *put = lengths + done;
        if (d->blocks[at / TV_BLOCK_SLICES].wide == TV_NONE) {
            for (uint32_t i = 0; i < here; i++)
                put[i] = ticks[i] * d->tick;
        } else {
            for (uint32_t i = 0; i < here; i++) {
                struct tv_wide_time wide = decoder_ticks(d, at + i);
                put[i] = (cpu ? wide.cpu_length : wide.length) * d->tick;
            }
        }
        done += here;
    }
}

void tv_slices_read_lengths(const struct tv_trace *trace, uint32_t row, uint32_t first,
                            uint32_t count, tv_ns *lengths)
{
    struct row_decoder d = decoder_for_row(trace, row);
    decoder_read_lengths(&d, d.cpu_axis, first, count, lengths);
}

void tv_slices_read_cpu_lengths(const struct tv_trace *trace, uint32_t row, uint32_t first,
                                uint32_t count, tv_ns *lengths)
{
    struct row_decoder d = decoder_for_row(trace, row);
    decoder_read_lengths(&d, true, first, count, lengths);
}

tv_ns tv_slice_start(const struct tv_trace *trace, uint32_t row, uint32_t index)
{
    struct row_decoder d = decoder_for_row(trace, row);
    return decoder_start(&d, index);
}

tv_ns tv_slice_end(const struct tv_trace *trace, uint32_t row, uint32_t index)
{
    struct row_decoder d = decoder_for_row(trace, row);
    return decoder_end(&d, index);
}

/* Return the first slice in [low, low + count) that ends after the time. */
static uint32_t decoder_find_end(const struct row_decoder *d, uint32_t low, uint32_t count,
                                 tv_ns time)
{
    TV_LOWER_BOUND(low, low + count, i, decoder_end(d, i) <= time);
    return low;
}

uint32_t tv_row_find(const struct tv_trace *trace, uint32_t row, tv_ns time)
{
    struct row_decoder d = decoder_for_row(trace, row);
    return decoder_find_end(&d, 0, d.row->count, time);
}

uint32_t tv_row_find_from(const struct tv_trace *trace, uint32_t row, uint32_t from, tv_ns time)
{
    struct row_decoder d = decoder_for_row(trace, row);
    /* Callers walk through time, so the answer is mostly close: the cost grows with the logarithm
     * of the distance, not of the row. */
    uint32_t low = from, step = 1;
    assert(from <= d.row->count);
    /* Double the step until it overshoots, then search within it. */
    for (; d.row->count - low >= step && decoder_end(&d, low + step - 1) <= time; step *= 2)
        low += step;
    uint32_t left = d.row->count - low;
    return decoder_find_end(&d, low, left < step ? left : step, time);
}

/* Return the first slice in [low, low + count) that starts at or after the time. */
TV_INLINE uint32_t decoder_find_start(const struct row_decoder *d, uint32_t low, uint32_t count,
                                      tv_ns time)
{
    TV_LOWER_BOUND(low, low + count, i, decoder_start(d, i) < time);
    return low;
}

uint32_t tv_row_find_start(const struct tv_trace *trace, uint32_t row, tv_ns time)
{
    struct row_decoder d = decoder_for_row(trace, row);
    return decoder_find_start(&d, 0, d.row->count, time);
}

/* Double the step until it overshoots, then search within it. */
uint32_t tv_row_find_start_near(const struct tv_trace *trace, uint32_t row, tv_ns time,
                                uint32_t near)
{
    struct row_decoder d = decoder_for_row(trace, row);
    uint32_t low = 0, high = d.row->count;
    uint64_t step = 1;
    if (near < high && decoder_start(&d, near) < time) {
        for (low = near + 1; high - low > step; step *= 2) {
            uint32_t far = low + (uint32_t)step;
            if (decoder_start(&d, far) >= time) {
                high = far;
                break;
            }
            low = far + 1;
        }
    } else {
        for (high = near < high ? near : high; high - low > step; step *= 2) {
            uint32_t far = high - (uint32_t)step;
            if (decoder_start(&d, far) < time) {
                low = far + 1;
                break;
            }
            high = far;
        }
    }
    return decoder_find_start(&d, low, high - low, time);
}

/*
 * Parents and children are found by rank and select: the i-th call with children in a row is the
 * parent of the i-th "first child" in the row below.  Flags are counted within a block of 1024
 * slices; each block stores the counts before it.
 *
 *     row 1   | a* | b | c* |            * TV_SLICE_HAS_CHILDREN: a is the 1st, c the 2nd
 *     row 2   | d^ | e | f^ | g |        ^ TV_SLICE_FIRST_CHILD: d the 1st, f the 2nd
 */

/* Return the number of slices with the flag in the blocks before this one. */
static uint32_t flag_count_before(const struct tv_slice_block *block, unsigned flag)
{
    return flag == TV_SLICE_FIRST_CHILD ? block->first_children : block->parents;
}

/* `flag` is one bit, so the division shifts it to the lowest bit of each byte; the mask removes
 * what came over from the neighbouring byte.  The multiplication adds all eight bytes in the
 * highest one. Callers pass constants, which makes the division a shift. */
/* Return how many of eight bytes have the flag. */
TV_INLINE uint32_t flag_count_eight(const uint8_t *flags, unsigned flag)
{
    uint64_t word;
    memcpy(&word, flags, sizeof word);
    word = (word / flag) & UINT64_C(0x0101010101010101);
    return (uint32_t)((word * UINT64_C(0x0101010101010101)) >> 56);
}

/* Count a flag, TV_SLICE_FIRST_CHILD or TV_SLICE_HAS_CHILDREN, in `count` bytes. */
TV_INLINE uint32_t flag_count(const uint8_t *flags, uint32_t count, unsigned flag)
{
    uint32_t found = 0, i = 0;
    for (; count - i >= 8; i += 8)
        found += flag_count_eight(flags + i, flag);
    for (; i < count; i++)
        found += (flags[i] & flag) != 0;
    return found;
}

/* Return the number of slices with the flag in [0, index]. */
static uint32_t flag_rank(const struct row_decoder *d, unsigned flag, uint32_t index)
{
    uint32_t block = index / TV_BLOCK_SLICES, first = block * TV_BLOCK_SLICES;
    const uint8_t *flags = d->columns->flags + d->row->first + first;
    uint32_t before = flag_count_before(&d->blocks[block], flag), count = index + 1 - first;
    if (flag == TV_SLICE_FIRST_CHILD)
        return before + flag_count(flags, count, TV_SLICE_FIRST_CHILD);
    return before + flag_count(flags, count, TV_SLICE_HAS_CHILDREN);
}

/* Return the index of the number-th slice (from 1) with the flag, or row.count. */
static uint32_t flag_select(const struct row_decoder *d, unsigned flag, uint32_t number)
{
    uint32_t low = 0, blocks = (d->row->count + TV_BLOCK_SLICES - 1) / TV_BLOCK_SLICES;
    /* the slice is in the last block that has fewer than `number` before it */
    TV_LOWER_BOUND(low, blocks, i, flag_count_before(&d->blocks[i], flag) < number);
    if (!low)
        return d->row->count;
    uint32_t first = (low - 1) * TV_BLOCK_SLICES;
    uint32_t count = flag_count_before(&d->blocks[low - 1], flag);
    const uint8_t *flags = d->columns->flags + d->row->first;
    uint32_t i = first;
    for (; d->row->count - i >= 8; i += 8) {
        uint32_t among = flag == TV_SLICE_FIRST_CHILD
                             ? flag_count_eight(flags + i, TV_SLICE_FIRST_CHILD)
                             : flag_count_eight(flags + i, TV_SLICE_HAS_CHILDREN);
        if (count + among >= number)
            break;
        count += among;
    }
    for (; i < d->row->count; i++) {
        count += (flags[i] & flag) != 0;
        if (count == number)
            return i;
    }
    return d->row->count;
}

uint32_t tv_slice_parent(const struct tv_trace *trace, uint32_t row, uint32_t index)
{
    if (trace->rows[row].depth == 0)
        return TV_NONE;
    /* the calls above that have children are as many as the groups of siblings below, in this order
     */
    struct row_decoder below = decoder_for_row(trace, row), above = decoder_for_row(trace, row - 1);
    return flag_select(&above, TV_SLICE_HAS_CHILDREN,
                       flag_rank(&below, TV_SLICE_FIRST_CHILD, index));
}

void tv_slice_children(const struct tv_trace *trace, uint32_t row, uint32_t index, uint32_t *first,
                       uint32_t *count)
{
    struct row_decoder above = decoder_for_row(trace, row);
    *first = *count = 0;
    if (!(above.columns->flags[above.row->first + index] & TV_SLICE_HAS_CHILDREN))
        return;
    struct row_decoder below = decoder_for_row(trace, row + 1);
    /* the children end where those of the next parent begin; after the last parent, at the row's
     * end */
    uint32_t number = flag_rank(&above, TV_SLICE_HAS_CHILDREN, index);
    *first = flag_select(&below, TV_SLICE_FIRST_CHILD, number);
    *count = flag_select(&below, TV_SLICE_FIRST_CHILD, number + 1) - *first;
}

/* The records of a track around a wall time. */
struct around_time {
    tv_ns wall_before, cpu_before, wall_after, cpu_after;
};

/* Keep a record when it is nearer to the time than the one before. Records with the same wall time
 * count as one, with the CPU time nearest to the other side. */
static void around_consider(struct around_time *around, tv_ns at, tv_ns wall, tv_ns cpu)
{
    if (wall <= at &&
        (wall > around->wall_before || (wall == around->wall_before && cpu > around->cpu_before))) {
        around->wall_before = wall;
        around->cpu_before = cpu;
    }
    if (wall > at &&
        (wall < around->wall_after || (wall == around->wall_after && cpu < around->cpu_after))) {
        around->wall_after = wall;
        around->cpu_after = cpu;
    }
}

tv_ns tv_trace_last_sample_length(const struct tv_trace *trace, const struct tv_sample *sample)
{
    assert(sample->type < trace->tables.value_types.count);
    /* A subset may lack the samples after this one. */
    if (trace->is_subset || !trace->tables.value_types.rows[sample->type].until_end)
        return -1;
    const struct tv_input *input = &trace->head->inputs[sample->input];
    assert(input->tick_ns == 1);
    tv_ns end = input->origin + input->last_wall;
    return end >= sample->time ? end - sample->time : -1;
}

/* Consider both ends of a slice. The end of an open call is no record: nobody read the CPU clock
 * then. */
static void around_consider_slice(struct around_time *around, tv_ns at,
                                  const struct tv_slice *slice)
{
    if (slice->flags & TV_SLICE_NO_CPU)
        return;
    around_consider(around, at, slice->start, slice->cpu_start);
    if (!(slice->flags & TV_SLICE_OPEN))
        around_consider(around, at, slice->start + slice->length,
                        slice->cpu_start + slice->cpu_length);
}

__extension__ typedef unsigned __int128 wide_product;

/* Return before + (after - before) * part / whole, rounded down, for 0 <= part < whole. */
static tv_ns interpolate_floor(tv_ns before, tv_ns after, tv_ns part, tv_ns whole)
{
    /* Exact, without going through double: CPU times of adjacent ranges must add up to that of
     * both. The product of two times may have 128 bits. */
    uint64_t rise = (uint64_t)(after - before);
    uint64_t quotient = rise / (uint64_t)whole, rest = rise % (uint64_t)whole;
    wide_product product = (wide_product)rest * (uint64_t)part;
    return before + (tv_ns)(quotient * (uint64_t)part + (uint64_t)(product / (uint64_t)whole));
}

tv_ns tv_track_cpu_at(const struct tv_trace *trace, uint32_t track, tv_ns wall)
{
    const struct tv_track *t = &trace->tracks[track];
    int64_t tick = tv_track_tick(trace, track);
    tv_ns offset = trace->offset[t->input];
    struct around_time around = {t->first_wall * tick + offset, t->first_cpu * tick,
                                 t->last_wall * tick + offset, t->last_cpu * tick};
    if (wall < around.wall_before)
        return around.cpu_before;
    if (wall >= around.wall_after)
        return around.cpu_after;
    for (uint32_t row = t->first_row; row < t->first_row + t->row_count; row++) {
        /* slices of a row do not overlap: the last to start before the time and the next one have
         * the nearest records of this row */
        uint32_t next = tv_row_find_start(trace, row, wall + 1);
        struct row_decoder d = decoder_for_row(trace, row);
        for (uint32_t i = next ? next - 1 : 0; i <= next && i < d.row->count; i++) {
            struct tv_slice slice = decoder_slice(&d, i);
            around_consider_slice(&around, wall, &slice);
        }
    }
    return interpolate_floor(around.cpu_before, around.cpu_after, wall - around.wall_before,
                             around.wall_after - around.wall_before);
}

uint32_t *tv_path_frames(const struct tv_trace *trace, uint32_t path, size_t *count)
{
    bool cut;
    return tv_path_innermost(trace, path, SIZE_MAX, count, &cut);
}

uint32_t *tv_path_innermost(const struct tv_trace *trace, uint32_t path, size_t most, size_t *count,
                            bool *cut)
{
    const struct tv_path_node *nodes = trace->paths.nodes;
    /* A node knows its parent alone, so the frames are counted first, and written from the back. */
    size_t depth = 0;
    uint32_t node = path;
    for (; node != TV_ROOT_PATH && depth < most; node = nodes[node].parent)
        depth++;
    uint32_t *frames = tv_alloc(depth, sizeof *frames);
    *cut = node != TV_ROOT_PATH;
    *count = depth;
    for (size_t i = depth; i > 0; path = nodes[path].parent)
        frames[--i] = nodes[path].frame;
    return frames;
}

#define DEFAULT_SCOPE TV_BYTES("ptr")

/* Number of objects with equal names that a search examines before and after a time. */
#define MAX_LIVES 16u

/* ---- Objects: sorting ---- */

static int object_compare_u32(uint32_t a, uint32_t b)
{
    return (a > b) - (a < b);
}

/* Order by what names an object: the file, the id, the process and the scope. */
static int object_compare_names(const struct tv_object_key *a, const struct tv_object_key *b)
{
    int order = object_compare_u32(a->input, b->input);
    order = order != 0 ? order : object_compare_u32(a->id, b->id);
    order = order != 0 ? order : object_compare_u32(a->pid, b->pid);
    return order != 0 ? order : object_compare_u32(a->scope, b->scope);
}

/* Order by name, then by creation: objects that used one address after the other are neighbours. */
static int object_compare_keys(const void *left, const void *right)
{
    const struct tv_object_key *a = left, *b = right;
    int order = object_compare_names(a, b);
    order = order != 0 ? order : (a->created > b->created) - (a->created < b->created);
    return order != 0 ? order : object_compare_u32(a->object, b->object);
}

/* Return the process as references in files write it: a key, or the pid as decimal text. */
static uint32_t object_pid_string(struct tv_trace_info *head, uint32_t process)
{
    char number[24];
    if (process >= head->process_count)
        return TV_NONE;
    if (head->processes[process].key != TV_EMPTY_STRING)
        return head->processes[process].key;
    snprintf(number, sizeof number, "%llu", (unsigned long long)head->processes[process].id);
    return tv_trace_info_string(head, tv_bytes_of(number));
}

void tv_objects_index(struct tv_trace *trace)
{
    struct tv_tables *tables = &trace->tables;
    if (tables->objects.count == 0)
        return;
    tables->object_keys = tv_alloc(tables->objects.count, sizeof *tables->object_keys);
    for (size_t i = 0; i < tables->objects.count; i++) {
        const struct tv_object *object = &tables->objects.rows[i];
        tables->object_keys[i] = (struct tv_object_key){
            .created = object->created,
            .input = object->input,
            .pid = object_pid_string(trace->head, object->process),
            .id = object->id,
            .scope = object->scope,
            .object = (uint32_t)i,
        };
    }
    /* References in events name the process by the text of its pid, not by our number, so keys have
     * that text: a search compares numbers of strings and never the texts. */
    qsort(tables->object_keys, tables->objects.count, sizeof *tables->object_keys,
          object_compare_keys);
}

/* ---- Objects: searching ---- */

/* An object without a creation event may be older than its first snapshot. */
static bool object_is_alive(const struct tv_object *object, tv_ns time)
{
    if (time < object->created)
        return (object->flags & TV_OBJECT_CREATED) == 0;
    return time < object->deleted || (object->flags & TV_OBJECT_DELETED) == 0;
}

/* Return the last snapshot at or before the time; the first one when all are later; TV_NONE when
 * the object has none. */
static uint32_t object_find_snapshot_at(const struct tv_trace *trace,
                                        const struct tv_object *object, tv_ns time)
{
    const struct tv_snapshot *snapshots = trace->tables.snapshots.rows;
    uint32_t first = object->first_snapshot, after = first + 1;
    if (object->snapshot_count == 0)
        return TV_NONE;
    TV_LOWER_BOUND(after, first + object->snapshot_count, i, snapshots[i].time <= time);
    return after - 1;
}

/* Return false when no object has such a name. */
static bool object_make_key(const struct tv_trace *trace,
                            const struct tv_object_reference *reference, struct tv_object_key *key)
{
    const struct tv_interner *strings = trace->head->strings;
    struct tv_bytes scope = reference->scope.data == NULL ? DEFAULT_SCOPE : reference->scope;
    *key = (struct tv_object_key){
        .created = reference->time,
        .input = reference->input,
        .pid = tv_interner_find(strings, reference->pid),
        .id = tv_interner_find(strings, reference->id),
        .scope = tv_interner_find(strings, scope),
        .object = TV_NONE,
    };
    return key->pid != TV_NONE && key->id != TV_NONE && key->scope != TV_NONE;
}

/* Among objects with one id return the latest that existed at the time, else the first one. */
static const struct tv_object *object_find_life(const struct tv_trace *trace,
                                                const struct tv_object_key *wanted)
{
    const struct tv_object_key *keys = trace->tables.object_keys;
    const struct tv_object *objects = trace->tables.objects.rows;
    size_t low = 0, count = trace->tables.objects.count;
    TV_LOWER_BOUND(low, count, i, object_compare_keys(&keys[i], wanted) <= 0);
    /* Addresses are used again: a file may have thousands of lives of one id.  Few are looked at,
     * as otherwise each reference of a hostile file would cost a pass over all of them. */
    for (size_t i = low, tried = 0; i > 0 && tried < MAX_LIVES; i--, tried++) {
        if (object_compare_names(&keys[i - 1], wanted) != 0)
            break;
        if (object_is_alive(&objects[keys[i - 1].object], wanted->created))
            return &objects[keys[i - 1].object];
    }
    for (size_t i = low; i < count && i - low < MAX_LIVES; i++) {
        if (object_compare_names(&keys[i], wanted) != 0)
            break;
        if (object_is_alive(&objects[keys[i].object], wanted->created))
            return &objects[keys[i].object];
    }
    return NULL;
}

uint32_t tv_object_find_snapshot(const struct tv_trace *trace,
                                 const struct tv_object_reference *reference)
{
    struct tv_object_key wanted;
    if (!trace->tables.object_keys || !object_make_key(trace, reference, &wanted))
        return TV_NONE;
    const struct tv_object *life = object_find_life(trace, &wanted);
    return life == NULL ? TV_NONE : object_find_snapshot_at(trace, life, reference->time);
}

uint32_t tv_flow_end_frame(const struct tv_trace *trace, const struct tv_flow_end *end)
{
    if (tv_flow_end_is_instant(end))
        return trace->tables.instants.rows[end->index].frame;
    return trace->paths.nodes[tv_slice_get(trace, end->row, end->index).path].frame;
}

uint32_t tv_flow_end_track(const struct tv_trace *trace, const struct tv_flow_end *end)
{
    return tv_flow_end_is_instant(end) ? TV_NONE : trace->rows[end->row].track;
}

uint32_t tv_flow_end_thread(const struct tv_trace *trace, const struct tv_flow_end *end)
{
    return tv_flow_end_is_instant(end) ? trace->tables.instants.rows[end->index].of
                                       : trace->tracks[trace->rows[end->row].track].thread;
}
