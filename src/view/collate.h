/* SPDX-License-Identifier: Apache-2.0 */
/*
 * collate.h - names in the order in which people look for them.
 *
 * As Trace Viewer's localeCompare orders ASCII: blanks, marks, digits, letters; capitals beside
 * their small letters, behind them where nothing else differs.  Control characters stand before all
 * of that; bytes of other letters behind, in the order of their code points.
 */
#ifndef TV_VIEW_COLLATE_H
#define TV_VIEW_COLLATE_H

#include "base/bytes.h"

/* Below 0, 0 (only of equal bytes), above 0. */
int tv_collate(struct tv_bytes a, struct tv_bytes b);

#endif
