/* SPDX-License-Identifier: Apache-2.0 */
#include "writers/names.h"

#include <string.h>

#include "base/bytes.h"
#include "base/memory.h"

/* Return true when none of eight bytes is a control character, DEL or outside ASCII. */
static bool names_are_plain_bytes(const uint8_t *at)
{
    static const uint64_t ones = UINT64_C(0x0101010101010101);
    uint64_t bytes;
    memcpy(&bytes, at, sizeof bytes);
    return ((bytes | (bytes + ones) | (bytes - ones * ' ')) & ones << 7) == 0;
}

void tv_names_line(struct tv_out *out, struct tv_bytes text)
{
    size_t from = 0;
    for (size_t at = 0; at < text.length;) {
        struct tv_bytes rest = {text.data + at, text.length - at};
        bool plain = rest.length >= 8 && names_are_plain_bytes(rest.data);
        size_t control = plain ? 0 : tv_bytes_control(rest);
        if (control > 0) {
            tv_out_bytes(out, (struct tv_bytes){text.data + from, at - from});
            tv_out_char(out, ' ');
            from = at + control;
        }
        at += plain ? 8 : control > 0 ? control : 1;
    }
    tv_out_bytes(out, (struct tv_bytes){text.data + from, text.length - from});
}

void tv_names_method(struct tv_out *out, const struct tv_head *head, const struct tv_frame *frame)
{
    if (frame->class_name != TV_EMPTY_STRING) {
        tv_names_line(out, tv_head_text(head, frame->class_name));
        tv_out_char(out, '.');
    }
    tv_names_line(out, tv_head_text(head, frame->name));
}

void tv_names_full(struct tv_out *out, const struct tv_head *head, const struct tv_frame *frame)
{
    tv_names_method(out, head, frame);
    if (frame->signature == TV_EMPTY_STRING)
        return;
    tv_out_char(out, ' ');
    tv_names_line(out, tv_head_text(head, frame->signature));
}

void tv_names_frame(struct tv_out *out, const struct tv_head *head, uint32_t frame)
{
    if (frame == TV_NONE)
        tv_out_text(out, "(none)");
    else
        tv_names_full(out, head, &head->frames[frame]);
}

void tv_names_thread(struct tv_out *out, const struct tv_head *head, uint32_t thread)
{
    const struct tv_thread *t = &head->threads[thread];
    if (t->name != TV_EMPTY_STRING) {
        tv_names_line(out, tv_head_text(head, t->name));
        return;
    }
    tv_out_char(out, '[');
    tv_out_u64(out, t->id);
    tv_out_char(out, ']');
}

const char *tv_names_clocks(unsigned clocks)
{
    if ((clocks & TV_CLOCK_WALL) && (clocks & TV_CLOCK_CPU))
        return "dual";
    return clocks & TV_CLOCK_CPU ? "thread-cpu" : "wall";
}

/* part * 1000 / whole, rounded half up, without overflow. */
static int64_t names_permille(int64_t part, int64_t whole)
{
    while (whole > INT64_MAX / 4000) {
        whole /= 2;
        part /= 2;
    }
    return whole > 0 ? (part * 2000 + whole) / (2 * whole) : 0;
}

void tv_names_percent(struct tv_out *out, int64_t part, int64_t whole)
{
    tv_out_time(out, names_permille(part, whole), 10, 1);
}

/* Room for a column, so that its text can still be moved inside the buffer. */
#define COLUMN_ROOM 256

static size_t names_begin_column(struct tv_out *out)
{
    (void)tv_out_room(out, COLUMN_ROOM);
    return out->length;
}

static void names_align_right(struct tv_out *out, size_t start, int width)
{
    size_t length = out->length - start, wanted = (size_t)width;
    if (length >= wanted)
        return;
    memmove(out->buffer + start + wanted - length, out->buffer + start, length);
    memset(out->buffer + start, ' ', wanted - length);
    out->length = start + wanted;
}

void tv_names_time_column(struct tv_out *out, int width, tv_ns value, tv_ns unit_ns, int decimals)
{
    size_t start = names_begin_column(out);
    tv_out_time(out, value, unit_ns, decimals);
    names_align_right(out, start, width);
}

void tv_names_percent_column(struct tv_out *out, int width, int64_t part, int64_t whole)
{
    size_t start = names_begin_column(out);
    tv_names_percent(out, part, whole);
    names_align_right(out, start, width);
}

void tv_names_number_column(struct tv_out *out, int width, uint64_t value)
{
    size_t start = names_begin_column(out);
    tv_out_u64(out, value);
    names_align_right(out, start, width);
}

void tv_name_cache_init(struct tv_name_cache *names, const struct tv_head *head)
{
    names->head = head;
    names->place = tv_alloc(head->frame_count, sizeof *names->place);
    tv_out_init_memory(&names->text);
}

void tv_name_cache_release(struct tv_name_cache *names)
{
    tv_free(names->place);
    tv_out_release(&names->text);
}

struct tv_bytes tv_name_cache_get(struct tv_name_cache *names, uint32_t frame)
{
    if (names->place[frame].length == 0) {
        size_t start = names->text.length;
        tv_names_full(&names->text, names->head, &names->head->frames[frame]);
        names->place[frame].start = start;
        names->place[frame].length = names->text.length - start;
    }
    return (struct tv_bytes){names->text.buffer + names->place[frame].start,
                             names->place[frame].length};
}
