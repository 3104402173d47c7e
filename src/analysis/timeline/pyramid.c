/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The pyramid is built bottom-up: workers share the entries of level 0, which read the columns; the
 * levels above are sums of 16 entries each and cost a sixteenth.
 */
#include "analysis/timeline/pyramid.h"

#include <assert.h>
#include <string.h>

#include "base/memory.h"
#include "base/sections.h"
#include "base/workers.h"

#define FAN TV_PYRAMID_FAN

static bool pyramid_row_is_wide(const struct tv_trace *trace, uint32_t row)
{
    const struct tv_row *r = &trace->rows[row];
    const struct tv_slice_block *blocks = trace->columns[r->columns].blocks + r->first_block;
    for (uint32_t i = 0; (uint64_t)i * TV_BLOCK_SLICES < r->count; i++)
        if (blocks[i].wide != TV_NONE)
            return true;
    return false;
}

/* Assign each row its levels and their place in the arrays. */
static void pyramid_plan(struct tv_pyramid *pyramid)
{
    const struct tv_trace *trace = pyramid->trace;
    for (uint32_t i = 0; i < trace->row_count; i++) {
        struct tv_pyramid_row *row = &pyramid->rows[i];
        uint32_t count = trace->rows[i].count;
        if (count == 0)
            continue;
        row->wide = pyramid_row_is_wide(trace, i);
        row->end = (tv_slice_end(trace, i, count - 1) - tv_axis_of(trace, i).offset) /
                   tv_axis_of(trace, i).tick;
        do {
            uint64_t *next =
                row->levels == 0 && !row->wide ? &pyramid->packed_count : &pyramid->entry_count;
            row->first[row->levels] = *next;
            *next += tv_pyramid_level_size(count, row->levels);
        } while (tv_pyramid_level_size(count, row->levels++) > FAN);
    }
}

/* Sum up to 16 packed slices into an entry. */
static struct tv_packed_entry pyramid_sum_packed(const struct tv_pyramid *pyramid, uint32_t row,
                                                 const struct tv_axis *axis, uint32_t first,
                                                 uint32_t count)
{
    const struct tv_row *r = &pyramid->trace->rows[row];
    uint32_t longest = 0;
    uint64_t covered = 0;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t length = axis->length[first + i];
        covered += length;
        longest = length > axis->length[first + longest] ? i : longest;
    }
    uint32_t path = pyramid->trace->columns[r->columns].path[r->first + first + longest];
    return (struct tv_packed_entry){
        axis->start[first],
        covered < UINT32_MAX ? (uint32_t)covered : UINT32_MAX,
        axis->length[first + longest],
        pyramid->frame_of_path[path],
    };
}

/* Sum up to 16 slices of any kind into an entry. */
static struct tv_pyramid_entry pyramid_sum_wide(const struct tv_trace *trace, uint32_t row,
                                                const struct tv_axis *axis, uint32_t first,
                                                uint32_t count)
{
    assert(count > 0 && count <= FAN);
    struct tv_slice slices[FAN];
    struct tv_pyramid_entry entry = {.longest = -1};
    tv_slices_read(trace, row, first, count, slices);
    entry.start = (slices[0].start - axis->offset) / axis->tick;
    for (uint32_t i = 0; i < count; i++) {
        int64_t length = slices[i].length / axis->tick;
        entry.covered += length;
        if (length > entry.longest) {
            entry.longest = length;
            entry.frame = trace->paths.nodes[slices[i].path].frame;
        }
    }
    return entry;
}

/* Compute the entries [first, end) of level 0 of a row. */
static void pyramid_sum_slices(struct tv_pyramid *pyramid, uint32_t row, uint32_t first,
                               uint32_t end)
{
    const struct tv_trace *trace = pyramid->trace;
    const struct tv_pyramid_row *r = &pyramid->rows[row];
    struct tv_axis axis = tv_axis_of(trace, row);
    for (uint32_t i = first; i < end; i++) {
        uint32_t left = trace->rows[row].count - i * FAN, count = left < FAN ? left : FAN;
        if (r->wide)
            pyramid->entries[r->first[0] + i] = pyramid_sum_wide(trace, row, &axis, i * FAN, count);
        else
            pyramid->packed[r->first[0] + i] =
                pyramid_sum_packed(pyramid, row, &axis, i * FAN, count);
    }
}

/* Return an entry of any level, unpacked. */
static struct tv_pyramid_entry pyramid_entry(const struct tv_pyramid *pyramid, uint32_t row,
                                             const struct tv_axis *axis, unsigned level,
                                             uint32_t index)
{
    const struct tv_pyramid_row *r = &pyramid->rows[row];
    if (level > 0 || r->wide)
        return pyramid->entries[r->first[level] + index];
    const struct tv_packed_entry *packed = &pyramid->packed[r->first[0] + index];
    int64_t start = tv_axis_unpack(axis, index / (TV_BLOCK_SLICES / FAN), packed->start);
    return (struct tv_pyramid_entry){start, packed->covered, packed->longest, packed->frame, 0};
}

/* Sum entries [first, end) of a level. */
static struct tv_pyramid_entry pyramid_sum_entries(const struct tv_pyramid *pyramid, uint32_t row,
                                                   unsigned level, uint32_t first, uint32_t end)
{
    assert(first < end);
    struct tv_axis axis = tv_axis_of(pyramid->trace, row);
    struct tv_pyramid_entry sum = pyramid_entry(pyramid, row, &axis, level, first);
    for (uint32_t i = first + 1; i < end; i++) {
        struct tv_pyramid_entry entry = pyramid_entry(pyramid, row, &axis, level, i);
        sum.covered += entry.covered;
        if (entry.longest > sum.longest) {
            sum.longest = entry.longest;
            sum.frame = entry.frame;
        }
    }
    return sum;
}

/* Compute the levels above 0 of a row. */
static void pyramid_build_levels(struct tv_pyramid *pyramid, uint32_t row)
{
    const struct tv_pyramid_row *r = &pyramid->rows[row];
    uint32_t slices = pyramid->trace->rows[row].count;
    for (unsigned level = 1; level < r->levels; level++) {
        uint32_t below = tv_pyramid_level_size(slices, level - 1);
        for (uint32_t i = 0; i < tv_pyramid_level_size(slices, level); i++) {
            uint32_t end = below - i * FAN < FAN ? below : (i + 1) * FAN;
            pyramid->entries[r->first[level] + i] =
                pyramid_sum_entries(pyramid, row, level - 1, i * FAN, end);
        }
    }
}

/* Sizes in memory cannot overflow: there are fewer entries than slices, whose columns fit. */
static size_t pyramid_packed_size(const struct tv_pyramid *pyramid)
{
    return tv_size_mul((size_t)pyramid->packed_count, sizeof *pyramid->packed);
}

static size_t pyramid_entries_size(const struct tv_pyramid *pyramid)
{
    return tv_size_mul((size_t)pyramid->entry_count, sizeof *pyramid->entries);
}

struct pyramid_job {
    struct tv_pyramid *pyramid;
    unsigned workers;
    uint64_t leaves; /* entries of level 0, of all rows */
};

/* Each worker takes an even share of all entries of level 0. */
static void pyramid_sum_share(void *context, unsigned index)
{
    struct pyramid_job *job = context;
    const struct tv_trace *trace = job->pyramid->trace;
    uint64_t first = job->leaves * index / job->workers,
             end = job->leaves * (index + 1) / job->workers;
    uint64_t at = 0;
    for (uint32_t row = 0; row < trace->row_count && at < end; row++) {
        uint32_t count = tv_pyramid_level_size(trace->rows[row].count, 0);
        uint64_t low = first > at ? first - at : 0, high = end - at < count ? end - at : count;
        at += count;
        if (low < high)
            pyramid_sum_slices(job->pyramid, row, (uint32_t)low, (uint32_t)high);
    }
}

/* Build the upper levels of every job->workers-th row. */
static void pyramid_build_rows(void *context, unsigned index)
{
    struct pyramid_job *job = context;
    for (uint32_t row = index; row < job->pyramid->trace->row_count; row += job->workers)
        pyramid_build_levels(job->pyramid, row);
}

/* ---- Pyramids in index files ----
 *
 * The file's checksums are verified already.  Here the invariants that drawing relies on are
 * checked: entries begin where their slices do and name existing frames.
 */

#define SECTION_PACKED TV_SECTION_TAG('p', 'y', 'r', 'p')
#define SECTION_ENTRIES TV_SECTION_TAG('p', 'y', 'r', 'e')

/* As for times (index/layout.h): sums of a few such lengths fit into 64 bits. */
#define LONGEST ((int64_t)1 << 61)

void tv_pyramid_store(const struct tv_pyramid *pyramid, struct tv_sections_writer *writer)
{
    tv_sections_add(writer, SECTION_PACKED, 0, sizeof *pyramid->packed, pyramid->packed_count,
                    pyramid->packed);
    tv_sections_add(writer, SECTION_ENTRIES, 0, sizeof *pyramid->entries, pyramid->entry_count,
                    pyramid->entries);
}

static bool pyramid_frame_is_valid(const struct tv_pyramid *pyramid, uint32_t frame)
{
    return frame < pyramid->trace->head->frame_count || frame == TV_NONE;
}

/* Check the packed entries of a row against its slices. */
static bool pyramid_packed_is_valid(const struct tv_pyramid *pyramid, uint32_t row,
                                    const struct tv_axis *axis)
{
    const struct tv_packed_entry *entries = pyramid->packed + pyramid->rows[row].first[0];
    uint32_t count = tv_pyramid_level_size(pyramid->trace->rows[row].count, 0);
    for (uint32_t i = 0; i < count; i++)
        if (entries[i].start != axis->start[(size_t)i * FAN] ||
            entries[i].longest > entries[i].covered ||
            !pyramid_frame_is_valid(pyramid, entries[i].frame))
            return false;
    return true;
}

/* Check the entries of a level against the row's slices. */
static bool pyramid_level_is_valid(const struct tv_pyramid *pyramid, uint32_t row,
                                   const struct tv_axis *axis, unsigned level)
{
    const struct tv_pyramid_entry *entries = pyramid->entries + pyramid->rows[row].first[level];
    uint32_t count = tv_pyramid_level_size(pyramid->trace->rows[row].count, level);
    for (uint32_t i = 0; i < count; i++) {
        const struct tv_pyramid_entry *entry = &entries[i];
        tv_ns start = tv_slice_start(pyramid->trace, row, i << (4 * (level + 1)));
        if (entry->start != (start - axis->offset) / axis->tick || entry->covered < 0 ||
            entry->covered > LONGEST / axis->tick || entry->longest < 0 ||
            entry->longest > entry->covered || !pyramid_frame_is_valid(pyramid, entry->frame))
            return false;
    }
    return true;
}

/* Check a row that was read from a file, so that drawing need not check anything. */
static bool pyramid_row_is_valid(const struct tv_pyramid *pyramid, uint32_t row)
{
    const struct tv_pyramid_row *r = &pyramid->rows[row];
    if (r->levels == 0)
        return true;
    struct tv_axis axis = tv_axis_of(pyramid->trace, row);
    if (!r->wide && !pyramid_packed_is_valid(pyramid, row, &axis))
        return false;
    for (unsigned level = r->wide ? 0 : 1; level < r->levels; level++)
        if (!pyramid_level_is_valid(pyramid, row, &axis, level))
            return false;
    return true;
}

/* Use the pyramid in the index file of the trace. False: there is none, or it is damaged. */
static bool pyramid_load_stored(struct tv_pyramid *pyramid)
{
    const struct tv_sections *sections = pyramid->trace->sections;
    uint64_t packed_count, entry_count;
    if (!sections)
        return false;
    const void *packed =
        tv_sections_find(sections, SECTION_PACKED, 0, sizeof *pyramid->packed, &packed_count);
    const void *entries =
        tv_sections_find(sections, SECTION_ENTRIES, 0, sizeof *pyramid->entries, &entry_count);
    if (!packed || !entries || packed_count != pyramid->packed_count ||
        entry_count != pyramid->entry_count)
        return false;
    /* a finished pyramid is never written to */
    memcpy(&pyramid->packed, &packed, sizeof packed);
    memcpy(&pyramid->entries, &entries, sizeof entries);
    pyramid->lent = true;
    for (uint32_t row = 0; row < pyramid->trace->row_count && pyramid->lent; row++)
        pyramid->lent = pyramid_row_is_valid(pyramid, row);
    return pyramid->lent;
}

/* ---- Building ---- */

struct tv_pyramid *tv_pyramid_new(const struct tv_trace *trace, unsigned workers)
{
    struct tv_pyramid *pyramid = tv_alloc(1, sizeof *pyramid);
    pyramid->trace = trace;
    pyramid->rows = tv_alloc(trace->row_count, sizeof *pyramid->rows);
    pyramid_plan(pyramid);
    pyramid->frame_of_path = tv_alloc(trace->paths.count, sizeof *pyramid->frame_of_path);
    for (uint32_t i = 0; i < trace->paths.count; i++)
        pyramid->frame_of_path[i] = trace->paths.nodes[i].frame;
    if (pyramid_load_stored(pyramid))
        return pyramid;
    pyramid->packed = tv_pages_alloc(pyramid_packed_size(pyramid));
    pyramid->entries = tv_pages_alloc(pyramid_entries_size(pyramid));
    struct pyramid_job job = {pyramid, workers ? workers : tv_workers_available(), 0};
    for (uint32_t i = 0; i < trace->row_count; i++)
        job.leaves += tv_pyramid_level_size(trace->rows[i].count, 0);
    tv_workers_run(job.workers, pyramid_sum_share, &job);
    tv_workers_run(job.workers, pyramid_build_rows, &job);
    return pyramid;
}

void tv_pyramid_free(struct tv_pyramid *pyramid)
{
    if (!pyramid)
        return;
    if (!pyramid->lent) {
        tv_pages_free(pyramid->packed, pyramid_packed_size(pyramid));
        tv_pages_free(pyramid->entries, pyramid_entries_size(pyramid));
    }
    tv_free(pyramid->frame_of_path);
    tv_free(pyramid->rows);
    tv_free(pyramid);
}
