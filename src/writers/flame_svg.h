/* SPDX-License-Identifier: Apache-2.0 */
/*
 * flame_svg.h - a flame graph as one SVG file that needs nothing else: it can be looked at as a
 * plain picture, and in a browser its script zooms, searches and tells about frames.
 */
#ifndef TV_WRITERS_FLAME_SVG_H
#define TV_WRITERS_FLAME_SVG_H

#include "analysis/flame/flame.h"
#include "base/out.h"

enum tv_flame_colors {
    TV_COLORS_PACKAGE, /* one of 16 colours a package */
    TV_COLORS_HOT,     /* the rest: shades of one range of hues */
    TV_COLORS_COOL,
    TV_COLORS_RED,
    TV_COLORS_ORANGE,
    TV_COLORS_YELLOW,
    TV_COLORS_GREEN,
    TV_COLORS_AQUA,
    TV_COLORS_BLUE,
    TV_COLORS_PURPLE,
    TV_COLORS_GREY,
};

struct tv_flame_svg_options {
    const char *title;
    const char *count_name; /* of the numbers: "us" */
    int64_t unit_ns;        /* what one of them is: 1000 */
    const char *each;       /* what the layout counts in a frame: "call"; NULL: say nothing of it */
    enum tv_flame_colors colors;
    bool hash;     /* shades by the method's name, the same in every picture; else by place */
    bool inverted; /* drawn downwards */
};

/* Width of the picture, and of what is drawn in it, before a script fits it to the window. */
#define TV_FLAME_SVG_WIDTH 1200
#define TV_FLAME_SVG_INNER 1180

/* What numbers of microseconds count: "us"; "samples" where the input has counts for times, as
 * collapsed stacks of other tools mostly have. */
const char *tv_flame_svg_count_name(const struct tv_head *head);

/* Return the word for the things that the layouts of a trace count: "call", or NULL when calls are
 * not counted. */
const char *tv_flame_svg_each(const struct tv_head *head);

/* The layout's frames, on a frame for everything. */
void tv_flame_svg_write(struct tv_out *out, const struct tv_head *head,
                        const struct tv_flame *flame, const struct tv_flame_svg_options *options);

/* The inside of the picture's <style> and <script>, each a list of lines that ends with NULL. */
extern const char *const tv_flame_svg_style[];
extern const char *const tv_flame_svg_script[];

#endif
