/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tree_views.h - trees that show another tree differently: with recursion or names folded, without
 * some frames, or the callers or the callees of a frame.
 */
#ifndef TV_ANALYSIS_CALLTREE_TREE_VIEWS_H
#define TV_ANALYSIS_CALLTREE_TREE_VIEWS_H

#include "analysis/calltree/call_tree.h"

/* Fold direct recursion: f;f;g becomes f;g.  `calls` counts the outermost calls.  Node numbers
 * are the same for all trees of a shape. */
struct tv_call_tree *tv_call_tree_fold(const struct tv_call_tree *tree);

/* Merge frames that have the same class and name, which is all that collapsed stacks and flame
 * graphs show. */
struct tv_call_tree *tv_call_tree_fold_names(const struct tv_call_tree *tree);

/* Map each frame to the first one with the same class and name; free the map with tv_free. */
uint32_t *tv_frames_first_of_names(const struct tv_trace_info *head);

/* ---- Calls of some frames ----
 *
 * `frames` [head->frame_count] holds the frames.  A call that is not below another call of them is
 * outermost.  Nodes of threads stay.
 *
 * `node` [tree->count] or NULL receives the new node of each old one, where the time of its own is;
 * 0: the time is gone.
 */

/* Leave out the calls of frames that are not in `frames`.  Their callees and their own time move
 * to the nearest caller that stays; without one, the time is gone. */
struct tv_call_tree *tv_call_tree_of_frames(const struct tv_call_tree *tree, const bool *frames,
                                            uint32_t *node);

/* Keep only the outermost calls and everything below them, without their callers. */
struct tv_call_tree *tv_call_tree_focus(const struct tv_call_tree *tree, const bool *frames,
                                        uint32_t *node);

/* Leave out the calls and everything below them.  Their time is gone from their callers, too; in a
 * tree of samples, so are the samples. */
struct tv_call_tree *tv_call_tree_drop(const struct tv_call_tree *tree, const bool *frames,
                                       uint32_t *node);

/* Make each run of calls, one directly in the other, one call of the frame `as`. */
struct tv_call_tree *tv_call_tree_collapse(const struct tv_call_tree *tree, const bool *frames,
                                           uint32_t as, uint32_t *node);

/* Return the tree of callers of the outermost calls of some frames, like tv_call_tree_callers. Once
 * the tree has TV_CALLERS_NODES nodes, further calls are added without their callers. */
struct tv_call_tree *tv_call_tree_callers_of(const struct tv_call_tree *tree, const bool *frames,
                                             uint32_t *node);

/* ---- The two sides of a frame ---- */

/* Return one side of a frame: what its outermost calls call, as a tree with the frame at the
 * root; or who calls it, caller above caller, where a node's self time is the time of the calls
 * that end there.  Either tree has the frame's inclusive time as in the profile.  Threads are
 * not kept apart. */
struct tv_call_tree *tv_call_tree_callees(const struct tv_call_tree *tree, uint32_t frame);

/* Chains of callers can be as many as the square of the nodes.  Beyond TV_CALLERS_NODES
 * nodes, further calls are left out of the tree and added to *left_out. */
#define TV_CALLERS_NODES ((uint32_t)1 << 19)
struct tv_call_tree *tv_call_tree_callers(const struct tv_call_tree *tree, uint32_t frame,
                                          struct tv_path_cost *left_out);

#endif
