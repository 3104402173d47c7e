/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ---- Relations: each method between its callers and callees, as dmtracedump and gprof print
 * them ----
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
    bool cpu;  /* sort by CPU time; else by wall time */
    bool json; /* the JSON of the profile, with parents and children in each object */
};

/* Write a block for each row. One pass over the tree finds all relations, however many rows
 * there are. */
void tv_relations_write(struct tv_out *out, const struct tv_call_tree *tree,
                        const struct tv_profile *profile, const struct tv_profile_rows *rows,
                        const struct tv_relations_options *options);

#endif
