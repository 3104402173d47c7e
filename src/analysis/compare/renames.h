/* SPDX-License-Identifier: Apache-2.0 */
/* renames.h - methods that may have been renamed: suggestions for --rename, never joined. */
#ifndef TV_ANALYSIS_COMPARE_RENAMES_H
#define TV_ANALYSIS_COMPARE_RENAMES_H

#include "analysis/compare/comparison.h"

struct tv_rename {
    uint32_t old, fresh; /* rows of the table */
    bool by_callees;     /* not by class and signature */
};

/* List pairs of a method that all base runs and no new ones have, and of one that all new runs and
 * no base ones have, if they are the only such methods with their class and signature; then, of the
 * others, those that are the only ones with their callees, if these were learnt.  Both are in the
 * order of the comparison's rows.  Free the list with tv_free. */
struct tv_rename *tv_renames_suggest(const struct tv_comparison *comparison, size_t *count);

#endif
