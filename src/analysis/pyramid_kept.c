/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pyramid_kept.c - a pyramid beside its trace in a file.
 *
 * Checksums were verified with the file; here is checked what drawing relies on: entries begin
 * where their slices do, and name frames that exist.
 */
#include "analysis/pyramid_kept.h"

#include <string.h>

#include "base/sections.h"

#define PACKED TV_SECTION_TAG('p', 'y', 'r', 'p')
#define ENTRIES TV_SECTION_TAG('p', 'y', 'r', 'e')

#define FAN TV_PYRAMID_FAN

/* As of times (index/layout.h): sums of a few fit. */
#define LONGEST ((int64_t)1 << 61)

void tv_pyramid_keep(const struct tv_pyramid *pyramid, struct tv_sections_writer *writer)
{
    tv_sections_add(writer, PACKED, 0, sizeof *pyramid->packed, pyramid->packed_count,
                    pyramid->packed);
    tv_sections_add(writer, ENTRIES, 0, sizeof *pyramid->entries, pyramid->entry_count,
                    pyramid->entries);
}

static bool is_frame(const struct tv_pyramid *pyramid, uint32_t frame)
{
    return frame < pyramid->trace->head->frame_count || frame == TV_NONE;
}

static bool is_packed(const struct tv_pyramid *pyramid, uint32_t row, const struct tv_axis *axis)
{
    const struct tv_packed_entry *entries = pyramid->packed + pyramid->rows[row].first[0];
    uint32_t count = tv_pyramid_level_size(pyramid->trace->rows[row].count, 0);
    for (uint32_t i = 0; i < count; i++)
        if (entries[i].start != axis->start[(size_t)i * FAN] ||
            entries[i].longest > entries[i].covered || !is_frame(pyramid, entries[i].frame))
            return false;
    return true;
}

static bool is_level(const struct tv_pyramid *pyramid, uint32_t row, const struct tv_axis *axis,
                     unsigned level)
{
    const struct tv_pyramid_entry *entries = pyramid->entries + pyramid->rows[row].first[level];
    uint32_t count = tv_pyramid_level_size(pyramid->trace->rows[row].count, level);
    for (uint32_t i = 0; i < count; i++) {
        const struct tv_pyramid_entry *entry = &entries[i];
        tv_ns start = tv_slice_start(pyramid->trace, row, i << (4 * (level + 1)));
        if (entry->start != (start - axis->offset) / axis->tick || entry->covered < 0 ||
            entry->covered > LONGEST / axis->tick || entry->longest < 0 ||
            entry->longest > entry->covered || !is_frame(pyramid, entry->frame))
            return false;
    }
    return true;
}

static bool is_row(const struct tv_pyramid *pyramid, uint32_t row)
{
    const struct tv_pyramid_row *r = &pyramid->rows[row];
    if (r->levels == 0)
        return true;
    struct tv_axis axis = tv_axis_of(pyramid->trace, row);
    if (!r->wide && !is_packed(pyramid, row, &axis))
        return false;
    for (unsigned level = r->wide ? 0 : 1; level < r->levels; level++)
        if (!is_level(pyramid, row, &axis, level))
            return false;
    return true;
}

bool tv_pyramid_find_kept(struct tv_pyramid *pyramid)
{
    const struct tv_sections *sections = pyramid->trace->sections;
    uint64_t packed_count, entry_count;
    if (!sections)
        return false;
    const void *packed =
        tv_sections_find(sections, PACKED, 0, sizeof *pyramid->packed, &packed_count);
    const void *entries =
        tv_sections_find(sections, ENTRIES, 0, sizeof *pyramid->entries, &entry_count);
    if (!packed || !entries || packed_count != pyramid->packed_count ||
        entry_count != pyramid->entry_count)
        return false;
    /* Nobody writes to a pyramid that is made. */
    memcpy(&pyramid->packed, &packed, sizeof packed);
    memcpy(&pyramid->entries, &entries, sizeof entries);
    pyramid->lent = true;
    for (uint32_t row = 0; row < pyramid->trace->row_count && pyramid->lent; row++)
        pyramid->lent = is_row(pyramid, row);
    return pyramid->lent;
}
