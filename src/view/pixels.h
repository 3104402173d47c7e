/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pixels.h - things of a range that a screen shows as marks: those of one owner (a thread, a lane)
 * in one pixel together, and a limit to how many there are.
 */
#ifndef TV_VIEW_PIXELS_H
#define TV_VIEW_PIXELS_H

#include "view/parameters.h"
#include "view/view.h"

#define TV_PIXEL_LIMIT 8192
#define TV_PIXEL_ROWS 20000

struct tv_pixel_row {
    uint32_t number; /* the first of its pixel */
    uint32_t count;
    uint32_t owner;
    tv_ns time; /* of the first */
    tv_ns end;  /* of the last */
};

struct tv_pixels {
    struct tv_view_window window;
    struct tv_pixel_row *rows;
    size_t capacity;
    uint32_t count;
    uint64_t left_out;
    uint32_t *open; /* [owners] the last row of each, plus 1 */
};

void tv_pixels_init(struct tv_pixels *pixels, const struct tv_view_window *window, size_t owners);
void tv_pixels_release(struct tv_pixels *pixels);

/* The next thing of an owner: from time to end.  One of two pixels and more stands alone.  What
 * lies outside the window is for the caller to leave out. */
void tv_pixels_take(struct tv_pixels *pixels, uint32_t owner, uint32_t number, tv_ns time,
                    tv_ns end);

/* Things of one kind that are moments of a trace. */
struct tv_moments {
    const char *name; /* of the list in the answer */
    size_t count;
    size_t owners;
    uint32_t (*owner)(const struct tv_trace *trace, size_t number); /* below `owners` */
    tv_ns (*time)(const struct tv_trace *trace, size_t number);
    void (*write)(struct tv_out *out, const struct tv_trace *trace, const struct tv_pixel_row *row);
};

/* Answers with those of the window that the parameters tell: {name: [rows], "left_out": n}. */
enum tv_status tv_moments_write(const struct tv_view *view, const struct tv_parameters *parameters,
                                const struct tv_moments *moments, struct tv_out *out,
                                struct tv_error *err) TV_MUST_CHECK;

/* Where a time stands, in pixels from the window's beginning. */
double tv_pixels_at(const struct tv_pixels *pixels, tv_ns time);

#endif
