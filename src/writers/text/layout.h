/* SPDX-License-Identifier: Apache-2.0 */
/*
 * layout.h - layout of text for people: the width of the screen, styles, shortened names.
 *
 * A tv_out carries the layout of its target (base/out.h), so that writers need no parameter for
 * it. No layout, or a width of 0, means a file or a pipe: nothing is omitted or shortened.
 */
#ifndef TV_WRITERS_LAYOUT_H
#define TV_WRITERS_LAYOUT_H

#include "base/out.h"
#include "model/diagnostic.h"

struct tv_layout {
    uint32_t width;      /* columns of the screen; 0: no limit */
    bool terminal;       /* the target is a terminal, where tables show a limited number of rows
                          * by default */
    bool colors;         /* the screen understands ANSI colour sequences */
    bool utf8;           /* the screen shows UTF-8 */
    const char *columns; /* names of the columns to show, separated by commas; NULL: those that
                          * fit */
    bool hid_columns;    /* set by a table that had no room for all of its columns */
    bool found_columns;  /* set by a table that has some of the named columns */
    bool lacks_columns;  /* set by a table that has none of them, and shows all */
};

enum tv_style {
    TV_STYLE_PLAIN,
    TV_STYLE_TITLE,
    TV_STYLE_HOT,  /* a large share */
    TV_STYLE_WARM, /* a share worth a look */
    TV_STYLE_DIM,  /* a remark about the output itself */
    TV_STYLE_ERROR,
    TV_STYLE_WARNING,
    TV_STYLE_NOTE,
};

/* Return the width of the target's screen in columns; 0: no limit. */
uint32_t tv_layout_width(const struct tv_out *out);

/* Switch to a style, and back. Nothing is written when the target has no colours. */
void tv_layout_style(struct tv_out *out, enum tv_style style);
void tv_layout_plain(struct tv_out *out, enum tv_style style);

/* Write a text in a style. */
void tv_layout_text(struct tv_out *out, enum tv_style style, const char *text);

/* Return the style of a severity. */
enum tv_style tv_layout_style_of(enum tv_severity severity);

/* Return the number of columns that a text takes on a screen. */
uint32_t tv_layout_columns(struct tv_bytes text);

/* Return how many bytes of the text fit in `width` columns. */
size_t tv_layout_prefix(struct tv_bytes text, uint32_t width);

/* Write a name in at most `width` columns (0: unlimited). A name that is too long loses, until
 * it fits, the contents of its parentheses, those of its template arguments, its signature, and
 * its middle. */
void tv_layout_fit(struct tv_out *out, struct tv_bytes name, uint32_t width);

/* Hold text that is to be written as lines which fit the screen of `out`: write to `held`, then
 * release it.  Lines are broken at spaces and after '|'.  The rest of a line is indented like the
 * text after its label (a word and at least two spaces), or else by `hang` columns more than the
 * line; a word that is longer than a line stays whole.  Without a screen nothing is broken. */
void tv_layout_hold(const struct tv_out *out, struct tv_out *held);
void tv_layout_release(struct tv_out *out, struct tv_out *held, uint32_t hang);

#endif
