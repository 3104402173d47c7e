/* SPDX-License-Identifier: Apache-2.0 */
#include "writers/names.h"

#include <string.h>

void tv_names_line(struct tv_out *out, struct tv_bytes text)
{
    size_t from = 0;
    for (size_t i = 0; i < text.length; i++) {
        if (text.data[i] >= 0x20 && text.data[i] != 0x7f)
            continue;
        tv_out_bytes(out, (struct tv_bytes){text.data + from, i - from});
        tv_out_char(out, ' ');
        from = i + 1;
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
static int64_t permille(int64_t part, int64_t whole)
{
    while (whole > INT64_MAX / 4000) {
        whole /= 2;
        part /= 2;
    }
    return whole > 0 ? (part * 2000 + whole) / (2 * whole) : 0;
}

void tv_names_percent(struct tv_out *out, int64_t part, int64_t whole)
{
    tv_out_time(out, permille(part, whole), 10, 1);
}

static void pad(struct tv_out *out, int width, struct tv_out *text)
{
    for (size_t i = text->length; i < (size_t)width; i++)
        tv_out_char(out, ' ');
    tv_out_bytes(out, (struct tv_bytes){text->buffer, text->length});
    tv_out_release(text);
}

void tv_names_time_column(struct tv_out *out, int width, tv_ns value, tv_ns unit_ns, int decimals)
{
    struct tv_out text;
    tv_out_init_memory(&text);
    tv_out_time(&text, value, unit_ns, decimals);
    pad(out, width, &text);
}

void tv_names_percent_column(struct tv_out *out, int width, int64_t part, int64_t whole)
{
    struct tv_out text;
    tv_out_init_memory(&text);
    tv_names_percent(&text, part, whole);
    pad(out, width, &text);
}
