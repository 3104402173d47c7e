/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Each transform maps every path of the tree to a path of a new one (tree_views.h), which costs one
 * pass over the paths, however many calls or samples there are:
 *
 *     names --> set of frames --> view of the tree --> corrected figures --> next transform
 *
 * A collapsed package needs a frame that the trace does not have.  The changed tree therefore gets
 * an extended trace info: the frames of the trace keep their numbers, and those of packages follow.
 */
#include "analysis/calltree/transforms.h"

#include <assert.h>
#include <string.h>

#include "analysis/calltree/tree_shape.h"
#include "analysis/calltree/tree_views.h"
#include "analysis/subset/subset.h"
#include "base/bytes.h"
#include "base/memory.h"

static const char *const words[] = {
    [TV_TRANSFORM_FOCUS] = "focus", [TV_TRANSFORM_CALLERS] = "callers",
    [TV_TRANSFORM_MERGE] = "merge", [TV_TRANSFORM_COLLAPSE] = "collapse-package",
    [TV_TRANSFORM_DROP] = "drop",
};

enum tv_status tv_transforms_add(struct tv_transforms *transforms, struct tv_bytes word,
                                 struct tv_bytes name, struct tv_error *err)
{
    unsigned kind = 0;
    while (kind < TV_COUNT(words) && !tv_bytes_equal(word, tv_bytes_of(words[kind])))
        kind++;
    if (kind == TV_COUNT(words))
        return tv_fail(err, TV_ERR_USAGE, TV_NO_OFFSET,
                       "transforms: expected focus, callers, merge, collapse-package or drop");
    if (name.length == 0)
        return tv_fail(err, TV_ERR_USAGE, TV_NO_OFFSET, "%s: expected a name", words[kind]);
    if (transforms->count == TV_TRANSFORMS_MAX)
        return tv_fail(err, TV_ERR_USAGE, TV_NO_OFFSET, "%s: there are already %zu transforms",
                       words[kind], TV_TRANSFORMS_MAX);
    transforms->list[transforms->count++] =
        (struct tv_transform){(enum tv_transform_kind)kind, name};
    return TV_OK;
}

enum tv_status tv_transforms_parse(struct tv_bytes text, struct tv_transforms *transforms,
                                   struct tv_error *err)
{
    struct tv_bytes word, number;
    uint64_t length;
    transforms->count = 0;
    while (text.length > 0) {
        tv_bytes_split(&text, ':', &word);
        tv_bytes_split(&text, ':', &number);
        if (!tv_parse_u64(number, &length) || length > text.length)
            return tv_fail(err, TV_ERR_USAGE, TV_NO_OFFSET,
                           "transforms: expected WORD:LENGTH:NAME, with the bytes of the name as "
                           "its length");
        enum tv_status status =
            tv_transforms_add(transforms, word, (struct tv_bytes){text.data, (size_t)length}, err);
        if (status != TV_OK)
            return status;
        text = (struct tv_bytes){text.data + length, text.length - (size_t)length};
    }
    return TV_OK;
}

/* Return true if an earlier transform collapses the same package. */
static bool transforms_repeat(const struct tv_transforms *transforms, size_t at)
{
    for (size_t i = 0; i < at; i++)
        if (transforms->list[i].kind == TV_TRANSFORM_COLLAPSE &&
            tv_bytes_equal(transforms->list[i].name, transforms->list[at].name))
            return true;
    return false;
}

uint32_t tv_transforms_frames(const struct tv_transforms *transforms)
{
    uint32_t count = 0;
    for (size_t i = 0; i < transforms->count; i++)
        count +=
            transforms->list[i].kind == TV_TRANSFORM_COLLAPSE && !transforms_repeat(transforms, i);
    return count;
}

/* ---- Frames by name ---- */

/* The full name of one frame after the other. */
struct frame_text {
    uint8_t *text; /* class, '.', name, signature */
    size_t capacity;
    size_t name, signature, end; /* where these begin */
};

static void frame_text_append(struct frame_text *t, struct tv_bytes part)
{
    t->text = tv_array_reserve(t->text, &t->capacity, t->end + part.length + 1, 1);
    memcpy(t->text + t->end, part.data, part.length);
    t->end += part.length;
}

static void frame_text_set(struct frame_text *t, const struct tv_trace_info *head,
                           const struct tv_frame *frame)
{
    t->end = 0;
    frame_text_append(t, tv_trace_info_text(head, frame->class_name));
    if (t->end > 0)
        frame_text_append(t, TV_BYTES("."));
    t->name = t->end;
    frame_text_append(t, tv_trace_info_text(head, frame->name));
    t->signature = t->end;
    frame_text_append(t, tv_trace_info_text(head, frame->signature));
}

/* Match a name that a user wrote against the four ways to write a function: with its class or
 * without, with its signature or without. */
static bool frame_text_matches(const struct frame_text *t, struct tv_bytes name, bool glob)
{
    const struct tv_bytes forms[] = {
        {t->text + t->name, t->signature - t->name},
        {t->text, t->signature},
        {t->text + t->name, t->end - t->name},
        {t->text, t->end},
    };
    for (size_t i = 0; i < TV_COUNT(forms); i++)
        if (glob ? tv_glob_matches(forms[i], name) : tv_bytes_equal(forms[i], name))
            return true;
    return false;
}

/* Return true if the full name continues the package's name with a separator. */
static bool frame_text_is_inside(const struct frame_text *t, struct tv_bytes package)
{
    struct tv_bytes full = {t->text, t->signature};
    if (full.length <= package.length + 1 || !tv_bytes_starts_with(full, package))
        return false;
    const uint8_t *rest = full.data + package.length;
    return rest[0] == '.' || rest[0] == '/' || (rest[0] == ':' && rest[1] == ':');
}

/* A library is named by its path or its file name. */
static bool library_matches(struct tv_bytes module, struct tv_bytes name)
{
    if (tv_bytes_equal(module, name))
        return true;
    return module.length > name.length && tv_bytes_ends_with(module, name) &&
           module.data[module.length - name.length - 1] == '/';
}

enum match { EXACT, GLOB, PACKAGE };

/* Mark the frames that match; return true if there are any. */
static bool transform_mark_frames(const struct tv_trace_info *head, struct tv_bytes name,
                                  enum match how, bool *frames)
{
    struct frame_text text = {0};
    bool any = false;
    for (uint32_t i = 0; i < head->frame_count; i++) {
        const struct tv_frame *frame = &head->frames[i];
        frame_text_set(&text, head, frame);
        if (how == PACKAGE)
            frames[i] = frame_text_is_inside(&text, name) ||
                        library_matches(tv_trace_info_text(head, frame->module), name);
        else
            frames[i] = frame_text_matches(&text, name, how == GLOB);
        any |= frames[i];
    }
    tv_free(text.text);
    return any;
}

/* Find the frames that a transform names. */
static enum tv_status transform_find_frames(const struct tv_transform *transform,
                                            const struct tv_trace_info *head, bool *frames,
                                            struct tv_error *err)
{
    struct tv_bytes name = transform->name;
    int shown = name.length < 200 ? (int)name.length : 200;
    if (transform->kind == TV_TRANSFORM_COLLAPSE) {
        if (transform_mark_frames(head, name, PACKAGE, frames))
            return TV_OK;
        return tv_fail(err, TV_ERR_USAGE, TV_NO_OFFSET,
                       "%s: the trace has no package or library '%.*s'", words[transform->kind],
                       shown, (const char *)name.data);
    }
    if (transform_mark_frames(head, name, EXACT, frames) ||
        (memchr(name.data, '*', name.length) && transform_mark_frames(head, name, GLOB, frames)))
        return TV_OK;
    return tv_fail(err, TV_ERR_USAGE, TV_NO_OFFSET,
                   "%s: the trace has no function '%.*s' (names are those of the profile; * stands "
                   "for any text)",
                   words[transform->kind], shown, (const char *)name.data);
}

/* ---- Figures ---- */

/* Sums over a tree. */
struct tree_sums {
    uint64_t calls; /* number of calls without a caller */
    int64_t sum;    /* sum of their times */
    int64_t total;  /* total of the sizes of all own times */
};

/* Sum up a tree: calls and times of its outermost calls, and all own times. */
static struct tree_sums tree_sums_of(const struct tv_call_tree *tree)
{
    struct tree_sums sums = {0};
    for (uint32_t i = 1; i < tree->count; i++) {
        int64_t self = tree->self_wall[i];
        if (!tv_call_tree_is_call(tree, i))
            continue;
        tv_time_add(&sums.total, self < 0 ? -self : self);
        if (tv_call_tree_is_call(tree, tree->parent[i]))
            continue;
        sums.calls += tree->cost[i].calls;
        tv_time_add(&sums.sum, tree->cost[i].wall);
    }
    return sums;
}

/* Subtract from the figures of samples those that a transform left out. */
static void transform_correct_figures(struct tv_call_tree *changed, const struct tv_call_tree *from)
{
    struct tree_sums before = tree_sums_of(from), after = tree_sums_of(changed);
    struct tv_sample_figures *figures = &changed->figures;
    uint64_t gone = before.calls > after.calls ? before.calls - after.calls : 0;
    figures->samples -= gone < figures->samples ? gone : figures->samples;
    tv_time_add(&figures->sum, -before.sum);
    tv_time_add(&figures->sum, after.sum);
    tv_time_add(&figures->total, -before.total);
    tv_time_add(&figures->total, after.total);
}

/* Return the tree after one transform. */
static struct tv_call_tree *transform_view(const struct tv_transform *transform,
                                           const struct tv_call_tree *tree, bool *frames,
                                           uint32_t package, uint32_t *node)
{
    switch (transform->kind) {
    case TV_TRANSFORM_FOCUS:
        return tv_call_tree_focus(tree, frames, node);
    case TV_TRANSFORM_CALLERS:
        return tv_call_tree_callers_of(tree, frames, node);
    case TV_TRANSFORM_COLLAPSE:
        return tv_call_tree_collapse(tree, frames, package, node);
    case TV_TRANSFORM_DROP:
        return tv_call_tree_drop(tree, frames, node);
    case TV_TRANSFORM_MERGE:
        break;
    }
    for (uint32_t i = 0; i < tree->head->frame_count; i++)
        frames[i] = !frames[i];
    return tv_call_tree_of_frames(tree, frames, node);
}

/* Apply one transform.  `head` is the info of the changed tree, to which a package's frame is
 * added. */
static enum tv_status transform_apply(const struct tv_transform *transform,
                                      const struct tv_call_tree *tree, struct tv_trace_info *own,
                                      struct tv_call_tree **changed, uint32_t *node,
                                      struct tv_error *err)
{
    const struct tv_trace_info *head = own ? own : tree->head;
    uint32_t package = TV_NONE;
    bool *frames = tv_alloc((size_t)head->frame_count + 1, sizeof *frames);
    enum tv_status status = transform_find_frames(transform, head, frames, err);
    if (status == TV_OK && transform->kind == TV_TRANSFORM_COLLAPSE) {
        struct tv_frame frame = {.name = tv_trace_info_string(own, transform->name)};
        package = tv_trace_info_add_frame(own, &frame);
    }
    if (status == TV_OK) {
        *changed = transform_view(transform, tree, frames, package, node);
        (*changed)->head = (*changed)->shape->head = head;
        (*changed)->compensation = tree->compensation;
        if ((*changed)->figures.sampled)
            transform_correct_figures(*changed, tree);
        if (transform->kind != TV_TRANSFORM_MERGE && transform->kind != TV_TRANSFORM_COLLAPSE)
            (*changed)->waits = (struct tv_path_cost){0}; /* unknown for a part of the calls */
    }
    tv_free(frames);
    return status;
}

enum tv_status tv_transforms_apply(const struct tv_transforms *transforms,
                                   const struct tv_call_tree *tree, struct tv_call_tree **changed,
                                   uint32_t *node, struct tv_error *err)
{
    assert(transforms->count > 0 && transforms->count <= TV_TRANSFORMS_MAX);
    struct tv_trace_info *own =
        tv_transforms_frames(transforms) > 0 ? tv_trace_info_extend(tree->head) : NULL;
    struct tv_call_tree *last = NULL;
    enum tv_status status = TV_OK;
    for (uint32_t i = 0; node && i < tree->count; i++)
        node[i] = i;
    for (size_t i = 0; i < transforms->count && status == TV_OK; i++) {
        struct tv_call_tree *next = NULL;
        const struct tv_call_tree *from = last ? last : tree;
        uint32_t *step = node ? tv_alloc(from->count, sizeof *step) : NULL;
        status = transform_apply(&transforms->list[i], from, own, &next, step, err);
        for (uint32_t k = 0; node && status == TV_OK && k < tree->count; k++)
            node[k] = step[node[k]];
        tv_free(step);
        if (status == TV_OK) {
            tv_call_tree_free(last);
            last = next;
        }
    }
    if (status != TV_OK) {
        tv_call_tree_free(last);
        tv_trace_info_free_extended(own);
        return status;
    }
    last->own_head = own;
    *changed = last;
    return TV_OK;
}
