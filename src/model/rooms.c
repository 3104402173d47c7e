/* SPDX-License-Identifier: Apache-2.0 */
/* Memory of workers that goes from thread to thread. */
#include <string.h>

#include "base/memory.h"
#include "model/spans.h"

/* What is larger is rare, and would stand beside the rows that are made. */
#define KEPT_MOST ((size_t)32 << 20)

#define FIRST_SIZE ((size_t)4 << 10)

void *tv_room_take(struct tv_room *room, size_t count, size_t size)
{
    size_t bytes = tv_size_mul(count, size), roomy = FIRST_SIZE;
    if (bytes <= room->size)
        return room->memory;
    tv_room_release(room);
    while (roomy < bytes && roomy < KEPT_MOST)
        roomy *= 2; /* what nobody writes to costs nothing */
    room->size = roomy < bytes ? bytes : roomy;
    room->memory = tv_pages_alloc(room->size);
    return room->memory;
}

void tv_room_leave(struct tv_room *room)
{
    if (room->size > KEPT_MOST)
        tv_room_release(room);
}

void tv_room_release(struct tv_room *room)
{
    if (room->memory)
        tv_pages_free(room->memory, room->size);
    *room = (struct tv_room){NULL, 0};
}

void tv_spans_rooms_init(struct tv_spans_rooms *rooms)
{
    memset(rooms, 0, sizeof *rooms);
    tv_paths_init(&rooms->paths);
    rooms->diagnostics = tv_alloc(1, sizeof *rooms->diagnostics);
}

void tv_spans_rooms_release(struct tv_spans_rooms *rooms)
{
    tv_room_release(&rooms->spans);
    tv_room_release(&rooms->spare);
    tv_room_release(&rooms->row_of);
    tv_paths_release(&rooms->paths);
    tv_diagnostics_clear(rooms->diagnostics);
    tv_free(rooms->diagnostics);
}
