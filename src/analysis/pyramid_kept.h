/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pyramid_kept.h - for pyramid.c alone: entries that lie beside their trace in the file that it was
 * read from.
 */
#ifndef TV_ANALYSIS_PYRAMID_KEPT_H
#define TV_ANALYSIS_PYRAMID_KEPT_H

#include "analysis/pyramid.h"

/* Takes the entries of a pyramid whose rows are planned from there; false: there are none, or they
 * are not those of the trace. */
bool tv_pyramid_find_kept(struct tv_pyramid *pyramid);

#endif
