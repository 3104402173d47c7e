/* SPDX-License-Identifier: Apache-2.0 */
/*
 * activity.h - how busy a track was over time: the overview.
 */
#ifndef TV_ANALYSIS_ACTIVITY_H
#define TV_ANALYSIS_ACTIVITY_H

#include "analysis/pyramid.h"

#define TV_ACTIVITY_BUCKETS 65536u /* at most */

/* Splits [from, to) into buckets; heights[i] is the share of bucket i that calls of depth 0 cover:
 * 0 nothing, 1 to 255.  A call much shorter than a bucket counts where it starts. */
void tv_activity_of_track(const struct tv_pyramid *pyramid, uint32_t track, tv_ns from, tv_ns to,
                          uint32_t buckets, uint8_t *heights);

#endif
