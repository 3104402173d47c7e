/* SPDX-License-Identifier: Apache-2.0 */
/*
 * measures.h - what samples are measured by.
 */
#ifndef TV_VIEW_MEASURES_H
#define TV_VIEW_MEASURES_H

/* As in enum tv_sample_measure; ended by NULL. */
extern const char *const tv_view_measures[4];

#endif
