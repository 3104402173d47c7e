/* SPDX-License-Identifier: Apache-2.0 */
/*
 * flame_svg.h - a flame graph as one SVG file without dependencies: a picture, which its script
 * makes interactive in a browser (zoom, search, details).
 */
#ifndef TV_WRITERS_FLAME_SVG_H
#define TV_WRITERS_FLAME_SVG_H

#include "analysis/flame/flame.h"
#include "base/out.h"

/* The words of --colors, in the order of enum tv_flame_colors. */
#define TV_FLAME_COLOR_NAMES "package|kind|hot|cool|red|orange|yellow|green|aqua|blue|purple|grey"

enum tv_flame_colors {
    TV_COLORS_PACKAGE, /* one of 16 colours for each package */
    TV_COLORS_KIND,    /* one for each kind of frame, as tools for profiles have them */
    TV_COLORS_HOT,     /* this and the following: shades of one range of hues */
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
    int64_t unit_ns;        /* nanoseconds of one: 1000 */
    const char *each;       /* the things that the layout counts: "call"; NULL: do not mention
                             * them */
    enum tv_flame_colors colors;
    bool hash;     /* choose shades by the method's name, the same in every picture; else by
                    * position */
    bool inverted; /* draw downwards */
    bool embedded; /* for an HTML page: leave out the XML declaration */
};

/* Width of the picture and of the frames in it, before the script fits them to the window. */
#define TV_FLAME_SVG_WIDTH 1200
#define TV_FLAME_SVG_INNER 1180

/* A picture's frames, and the functions that know what they stand for.  `of` is given to them. */
struct tv_flame_svg_source {
    const struct tv_flame *flame;
    const void *of;
    /* Write the complete name of a frame. */
    void (*put_name)(struct tv_out *out, const void *of, const struct tv_flame_frame *frame);
    const char *note; /* follows the sum in the heading: "sampled"; NULL: none */

    /* The rest may be NULL or 0.  A frame whose `frame` is TV_NONE is the one for everything. */

    /* Write the figures of a frame's tooltip, instead of its time, share and calls. */
    void (*put_figures)(struct tv_out *out, const void *of, const struct tv_flame_frame *frame);
    /* Return what kind of frame it is; NULL: no frame has a kind. */
    enum tv_frame_kind (*kind)(const void *of, const struct tv_flame_frame *frame);
    /* Write attributes of a frame's rectangle (` fill="red"`), instead of a colour. */
    void (*put_look)(struct tv_out *out, const void *of, const struct tv_flame_frame *frame);
    /* Return what is in front of a frame's label: "", or one character. */
    const char *(*mark)(const void *of, const struct tv_flame_frame *frame);
    /* Write a line under the title as the contents of <text>: the first one instead of the sum. */
    void (*put_line)(struct tv_out *out, const void *of, unsigned line);
    unsigned lines;          /* of put_line */
    const char *definitions; /* elements that `put_look` refers to */
};

/* Set the name, the unit and the things counted for a tree: "us" of times, "samples", or the unit
 * or the name of the value type. */
void tv_flame_svg_choose_units(struct tv_flame_svg_options *options,
                               const struct tv_call_tree *tree);

/* Return the source of a layout of a call tree, whose frames have their names in `head`. */
struct tv_flame_svg_source tv_flame_svg_of_trace(const struct tv_trace_info *head,
                                                 const struct tv_flame *flame);

/* Write the source's frames above one frame for everything. */
void tv_flame_svg_write(struct tv_out *out, const struct tv_flame_svg_source *source,
                        const struct tv_flame_svg_options *options);

/* The contents of the picture's <style> and <script>: lists of lines, ended by NULL. */
extern const char *const tv_flame_svg_style[];
extern const char *const tv_flame_svg_script[];

#endif
