/* SPDX-License-Identifier: Apache-2.0 */
/*
 * translations.c - names that the recorder replaced by shorter or secret ones, and the table that
 * gives them back: TranslationTable {4 slice_name {1 entries}, 5 process_track_name {1 entries}},
 * each entry {1 raw, 2 name}.
 *
 * The survey notes the tables, so that a name is translated wherever its table stands in the file.
 * The other lists of the table have names of Chrome's metrics, which no event here shows.
 */
#include "base/bytes.h"
#include "readers/perfetto/reading.h"

static void pf_add_translated_names(struct tv_pf_reading *reading, struct tv_map *names,
                                    struct tv_bytes list)
{
    struct tv_pf_message message = tv_pf_message_over(list);
    struct tv_protobuf_field field;
    while (tv_pf_next(&message, &field)) {
        struct tv_bytes name = tv_pf_find(field.bytes, 2).bytes;
        if (field.number == 1 && name.length > 0)
            tv_map_set(names, tv_pf_text(reading, tv_pf_find(field.bytes, 1).bytes),
                       tv_pf_text(reading, name));
    }
}

void tv_pf_add_translations(struct tv_pf_reading *reading, struct tv_bytes table)
{
    pf_add_translated_names(reading, &reading->slice_names, tv_pf_find(table, 4).bytes);
    pf_add_translated_names(reading, &reading->track_names, tv_pf_find(table, 5).bytes);
}

uint32_t tv_pf_translated(const struct tv_map *names, uint32_t name)
{
    uint32_t found = tv_map_find(names, name);
    return found == TV_NONE ? name : found;
}
