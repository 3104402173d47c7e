/* SPDX-License-Identifier: Apache-2.0 */
/*
 * relations_text.h - each method between its callers and callees, as dmtracedump and gprof print
 * them.
 *
 *     index  %/total %/self  index      calls           ms name
 *     ---------------------------------------------------
 *                    100.0%    [0]        1/1        0.100 (callers, while recursive after "++++")
 *     [1]     53.0%                       1+0        0.088 com.ex.A.run ()V
 *                     69.3%   excl                   0.061
 *                     30.7%    [3]        1/1        0.027 (callees, while recursive after "++++")
 */
#ifndef TV_WRITERS_RELATIONS_TEXT_H
#define TV_WRITERS_RELATIONS_TEXT_H

#include "writers/profile_table.h"

struct tv_relations_options {
    bool cpu;  /* which clock the figures are of */
    bool json; /* the profile's JSON with parents and children in each object */
};

/* A block for each row.  All relations come from one pass over the tree, however many rows there
 * are. */
void tv_relations_write(struct tv_out *out, const struct tv_call_tree *tree,
                        const struct tv_profile *profile, const struct tv_profile_rows *rows,
                        const struct tv_relations_options *options);

#endif
