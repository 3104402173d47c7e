/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tree_views.h - call trees made from a call tree: with direct recursion or names folded, of all
 * that calls a frame, of all that it calls.
 */
#ifndef TV_ANALYSIS_TREE_VIEWS_H
#define TV_ANALYSIS_TREE_VIEWS_H

#include "analysis/call_tree.h"

/* What a frame calls by way of itself alone lies directly on it: f;f;g is f;g.  Calls are the
 * outermost ones.  Node numbers are the same for all trees of a shape. */
struct tv_call_tree *tv_call_tree_fold(const struct tv_call_tree *tree);

/* Frames with the same class and name are one, whatever else tells them apart: collapsed stacks and
 * flame graphs show no more. */
struct tv_call_tree *tv_call_tree_fold_names(const struct tv_call_tree *tree);

/* The two sides of a frame: its outermost calls are one node on the root, on which lies what they
 * call; or who calls them, caller by caller, the inclusive time of the frame being the time of
 * those that are called by nobody.  Both have the frame's inclusive time, as in the profile.  Not
 * for two threads at once with trees of one shape. */
struct tv_call_tree *tv_call_tree_callees(const struct tv_call_tree *tree, uint32_t frame);

/* Chains of callers are as many as the square of the nodes: once there are TV_CALLERS_NODES of
 * them, the calls that follow are left out of the tree, and added to *left_out. */
#define TV_CALLERS_NODES ((uint32_t)1 << 19)
struct tv_call_tree *tv_call_tree_callers(const struct tv_call_tree *tree, uint32_t frame,
                                          struct tv_path_cost *left_out);

#endif
