/* SPDX-License-Identifier: Apache-2.0 */
/*
 * transforms.h - change the stacks of a call tree before anything is computed from it.
 *
 *     focus NAME             keep the outermost calls of a function and everything below them
 *     callers NAME           keep its callers, caller above caller
 *     merge NAME             leave it out; its callees and its own time move to its caller
 *     collapse-package NAME  make each run of calls within a package or a library one call
 *     drop NAME              leave it out with everything below; the time is gone
 *
 * Transforms are applied in order, each to the result of the one before, to trees of calls and of
 * samples alike.  The command line and the page use the same words (docs/transforms.md).
 */
#ifndef TV_ANALYSIS_CALLTREE_TRANSFORMS_H
#define TV_ANALYSIS_CALLTREE_TRANSFORMS_H

#include "analysis/calltree/call_tree.h"
#include "base/error.h"

enum tv_transform_kind {
    TV_TRANSFORM_FOCUS,
    TV_TRANSFORM_CALLERS,
    TV_TRANSFORM_MERGE,
    TV_TRANSFORM_COLLAPSE,
    TV_TRANSFORM_DROP,
};

struct tv_transform {
    enum tv_transform_kind kind;
    struct tv_bytes name; /* name of functions, or of a package; never empty */
};

#define TV_TRANSFORMS_MAX ((size_t)32)

struct tv_transforms {
    struct tv_transform list[TV_TRANSFORMS_MAX];
    size_t count;
};

/* Append a transform by its word ("collapse-package").  The name is not copied.  TV_ERR_USAGE:
 * there is no such transform, the name is empty, or there are too many. */
enum tv_status tv_transforms_add(struct tv_transforms *transforms, struct tv_bytes word,
                                 struct tv_bytes name, struct tv_error *err) TV_MUST_CHECK;

/* Parse transforms such as "merge:4:main", one directly after the other: the word, the length of
 * the name in bytes, and the name, in which any byte may stand.  The text must outlive the result.
 */
enum tv_status tv_transforms_parse(struct tv_bytes text, struct tv_transforms *transforms,
                                   struct tv_error *err) TV_MUST_CHECK;

/* Return the number of frames that the result has beyond those of the trace: one for each name of a
 * package, in the order of the transforms. */
uint32_t tv_transforms_frames(const struct tv_transforms *transforms);

/* Return the changed tree.  There must be a transform.  The new tree has a trace info of its own
 * only if packages were collapsed; `tree` and its info must outlive the new tree in any case.
 * `node` [tree->count], or NULL, receives for each old node the new one that has its self time; 0:
 * none. TV_ERR_USAGE: no function of the trace has a name, whether it is in the tree or not. */
enum tv_status tv_transforms_apply(const struct tv_transforms *transforms,
                                   const struct tv_call_tree *tree, struct tv_call_tree **changed,
                                   uint32_t *node, struct tv_error *err) TV_MUST_CHECK;

#endif
