/* SPDX-License-Identifier: Apache-2.0 */
/*
 * change_svg.h - the differential flame graph as a picture.
 *
 * Red frames took more, blue ones less, the stronger the larger the change; grey frames are not
 * sure.  Frames of the new side alone have a border and "+", those of the base alone are hatched
 * and have "-", so that colour is not the only sign.
 */
#ifndef TV_WRITERS_CHANGE_SVG_H
#define TV_WRITERS_CHANGE_SVG_H

#include "analysis/compare/change_flame.h"
#include "base/out.h"

/* Write the picture; `embedded`: as a part of an HTML page. */
void tv_change_svg_write(struct tv_out *out, const struct tv_change_flame *graph, const char *title,
                         bool embedded);

#endif
