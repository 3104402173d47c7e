/* SPDX-License-Identifier: Apache-2.0 */
#include "readers/perf/data_build_ids.h"

#include "base/memory.h"
#include "readers/perf/data_file.h"

#define HAS_SIZE (1u << 15) /* of misc */
#define ID_ROOM 24
#define ID_SIZE 20 /* also the place of the size */

void tv_perf_build_ids_add(struct tv_perf_build_ids *ids, uint16_t misc, struct tv_bytes payload)
{
    struct tv_cursor cursor = tv_cursor_over(payload);
    struct perf_build_id added;
    struct tv_bytes path;
    uint32_t pid;
    if (!tv_cursor_take_u32(&cursor, &pid) || !tv_cursor_take_bytes(&cursor, ID_ROOM, &added.id) ||
        !tv_cursor_take_bytes(&cursor, tv_cursor_left(&cursor), &path))
        return;
    uint8_t size = added.id.data[ID_SIZE];
    added.id.length = (misc & HAS_SIZE) && size < ID_SIZE ? size : ID_SIZE;
    added.path = tv_perf_text(path);
    ids->ids = tv_array_reserve(ids->ids, &ids->capacity, ids->count + 1, sizeof *ids->ids);
    ids->ids[ids->count++] = added;
}

bool tv_perf_build_ids_read(struct tv_perf_build_ids *ids, struct tv_bytes feature)
{
    struct tv_cursor cursor = tv_cursor_over(feature);
    struct tv_bytes payload;
    uint32_t type;
    uint16_t misc, size;
    while (tv_cursor_take_u32(&cursor, &type) && tv_cursor_take_u16(&cursor, &misc) &&
           tv_cursor_take_u16(&cursor, &size)) {
        if (size < 8 || !tv_cursor_take_bytes(&cursor, size - 8u, &payload))
            return false;
        tv_perf_build_ids_add(ids, misc, payload);
    }
    return tv_cursor_left(&cursor) == 0;
}

void tv_perf_build_ids_release(struct tv_perf_build_ids *ids)
{
    tv_free(ids->ids);
}
