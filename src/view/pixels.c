/* SPDX-License-Identifier: Apache-2.0 */
#include "view/pixels.h"

#include <math.h>

#include "base/memory.h"

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
