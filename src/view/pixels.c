/* SPDX-License-Identifier: Apache-2.0 */
#include "view/pixels.h"

#include <math.h>

#include "base/memory.h"
#include "view/members.h"
#include "view/state.h"

#define WIDE 2

void tv_pixels_init(struct tv_pixels *pixels, const struct tv_view_window *window, size_t owners)
{
    *pixels = (struct tv_pixels){.window = *window};
    pixels->open = tv_alloc(owners > 0 ? owners : 1, sizeof *pixels->open);
}

void tv_pixels_release(struct tv_pixels *pixels)
{
    tv_free(pixels->rows);
    tv_free(pixels->open);
}

double tv_pixels_at(const struct tv_pixels *pixels, tv_ns time)
{
    const struct tv_view_window *window = &pixels->window;
    return ((double)time - (double)window->from) * (double)window->pixels /
           ((double)window->to - (double)window->from);
}

void tv_pixels_take(struct tv_pixels *pixels, uint32_t owner, uint32_t number, tv_ns time,
                    tv_ns end)
{
    double at = tv_pixels_at(pixels, time);
    bool wide = tv_pixels_at(pixels, end) - at >= WIDE;
    uint32_t *open = &pixels->open[owner];
    if (*open > 0 && !wide) {
        struct tv_pixel_row *last = &pixels->rows[*open - 1];
        if (floor(tv_pixels_at(pixels, last->time)) == floor(at)) {
            last->count++;
            last->end = end > last->end ? end : last->end;
            return;
        }
    }
    if (pixels->count == TV_PIXEL_ROWS) {
        pixels->left_out++;
        return;
    }
    pixels->rows = tv_array_reserve(pixels->rows, &pixels->capacity, (size_t)pixels->count + 1,
                                    sizeof *pixels->rows);
    pixels->rows[pixels->count++] = (struct tv_pixel_row){number, 1, owner, time, end};
    *open = wide ? 0 : pixels->count;
}

enum tv_status tv_moments_write(const struct tv_view *view, const struct tv_parameters *parameters,
                                const struct tv_moments *moments, struct tv_out *out,
                                struct tv_error *err)
{
    const struct tv_trace *trace = view->trace;
    struct tv_view_window window;
    struct tv_pixels pixels;
    enum tv_status status = tv_parameter_window(parameters, trace, TV_PIXEL_LIMIT, &window, err);
    if (status != TV_OK)
        return status;
    tv_pixels_init(&pixels, &window, moments->owners);
    for (size_t i = 0; i < moments->count; i++) {
        tv_ns time = moments->time(trace, i);
        if (time >= window.from && time < window.to)
            tv_pixels_take(&pixels, moments->owner(trace, i), (uint32_t)i, time, time);
    }
    tv_out_format(out, "{\"%s\":[", moments->name);
    for (uint32_t i = 0; i < pixels.count; i++) {
        tv_out_text(out, i > 0 ? ",\n" : "");
        moments->write(out, trace, &pixels.rows[i]);
    }
    tv_member_number(out, "],\"left_out\":", (int64_t)pixels.left_out);
    tv_out_char(out, '}');
    tv_pixels_release(&pixels);
    return TV_OK;
}
