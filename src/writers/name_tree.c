/* SPDX-License-Identifier: Apache-2.0 */
#include "writers/name_tree.h"

#include "analysis/tree_sink.h"
#include "base/memory.h"
#include "base/out.h"
#include "model/paths.h"
#include "writers/names.h"

static struct tv_name_tree *name_tree_alloc(uint32_t count)
{
    struct tv_name_tree *tree = tv_alloc(1, sizeof *tree);
    tree->count = count;
    tree->parent = tv_pages_alloc(tv_size_mul(count, sizeof *tree->parent));
    tree->name = tv_pages_alloc(tv_size_mul(count, sizeof *tree->name));
    tree->self = tv_pages_alloc(tv_size_mul(count, sizeof *tree->self));
    return tree;
}

void tv_name_tree_free(struct tv_name_tree *tree)
{
    if (!tree)
        return;
    tv_pages_free(tree->parent, tree->count * sizeof *tree->parent);
    tv_pages_free(tree->name, tree->count * sizeof *tree->name);
    tv_pages_free(tree->self, tree->count * sizeof *tree->self);
    tv_interner_free(tree->names);
    tv_free(tree);
}

static void name_tree_name_thread(struct tv_out *text, const struct tv_head *head, uint32_t thread)
{
    tv_names_thread(text, head, thread);
    if (head->threads[thread].name != TV_EMPTY_STRING)
        tv_out_format(text, " [%llu]", (unsigned long long)head->threads[thread].id);
}

static uint32_t name_tree_intern_frame(struct tv_interner *names, const struct tv_call_tree *tree,
                                       uint32_t frame)
{
    struct tv_out text;
    tv_out_init_memory(&text);
    if (frame & TV_THREAD_FRAME)
        name_tree_name_thread(&text, tree->head, frame & ~TV_THREAD_FRAME);
    else
        tv_names_method(&text, tree->head, &tree->head->frames[frame]);
    for (size_t i = 0; i < text.length; i++) {
        if (text.buffer[i] == ';')
            text.buffer[i] = ':';
    }
    uint32_t name = tv_interner_add(names, (struct tv_bytes){text.buffer, text.length});
    tv_out_release(&text);
    return name;
}

struct name_tree_build {
    const struct tv_call_tree *tree;
    const struct tv_name_tree_options *options;
    struct tv_interner *names;
    uint32_t *of_frame; /* [frame_count] the printed name of each frame, TV_EMPTY_STRING until it
                         * is needed */
};

static uint32_t name_tree_name_of(struct name_tree_build *naming, uint32_t frame)
{
    if (frame & TV_THREAD_FRAME)
        return name_tree_intern_frame(naming->names, naming->tree, frame);
    if (naming->of_frame[frame] == TV_EMPTY_STRING)
        naming->of_frame[frame] = name_tree_intern_frame(naming->names, naming->tree, frame);
    return naming->of_frame[frame];
}

/* Map the tree's nodes to paths of names; map[i] is TV_NONE outside the selected thread. */
static void name_tree_map_nodes(struct name_tree_build *naming, struct tv_paths *paths,
                                uint32_t *map)
{
    const struct tv_call_tree *tree = naming->tree;
    uint32_t thread = naming->options->thread;
    map[TV_ROOT_PATH] = thread == TV_NONE ? TV_ROOT_PATH : TV_NONE;
    for (uint32_t i = 1; i < tree->count; i++) {
        uint32_t above = map[tree->parent[i]];
        if (thread != TV_NONE && tree->frame[i] == (TV_THREAD_FRAME | thread))
            map[i] = TV_ROOT_PATH;
        else if (above == TV_NONE)
            map[i] = TV_NONE;
        else
            map[i] = tv_paths_child(paths, above, name_tree_name_of(naming, tree->frame[i]));
    }
}

static void name_tree_add_costs(struct tv_name_tree *names, const struct tv_call_tree *tree,
                                const uint32_t *map, bool cpu)
{
    const int64_t *self = cpu ? tree->self_cpu : tree->self_wall;
    for (uint32_t i = 1; i < tree->count; i++) {
        if (map[i] != TV_NONE && map[i] != TV_ROOT_PATH)
            tv_time_add(&names->self[map[i]], self[i]);
    }
}

static struct tv_name_tree *name_tree_from_paths(const struct tv_paths *paths)
{
    struct tv_name_tree *tree = name_tree_alloc(paths->count);
    for (uint32_t i = 1; i < paths->count; i++) {
        tree->parent[i] = paths->nodes[i].parent;
        tree->name[i] = paths->nodes[i].frame;
    }
    return tree;
}

/* Copy the tree when no two of its frames have the same name; else return NULL. */
static struct tv_name_tree *name_tree_rename_nodes(struct name_tree_build *naming)
{
    const struct tv_call_tree *tree = naming->tree;
    struct tv_name_tree *names = name_tree_alloc(tree->count);
    uint32_t frames = 0;
    for (uint32_t i = 1; i < tree->count; i++) {
        uint32_t frame = tree->frame[i];
        frames += frame & TV_THREAD_FRAME || naming->of_frame[frame] == TV_EMPTY_STRING;
        names->parent[i] = tree->parent[i];
        names->name[i] = name_tree_name_of(naming, frame);
        names->self[i] = naming->options->cpu ? tree->self_cpu[i] : tree->self_wall[i];
    }
    if (frames + 1 == tv_interner_count(naming->names)) /* the frames and the empty string */
        return names;
    tv_name_tree_free(names);
    return NULL;
}

static struct tv_name_tree *name_tree_merge_nodes(struct name_tree_build *naming)
{
    const struct tv_call_tree *tree = naming->tree;
    struct tv_paths paths;
    uint32_t *map = tv_alloc(tree->count, sizeof *map);
    tv_paths_init(&paths);
    name_tree_map_nodes(naming, &paths, map);
    struct tv_name_tree *names = name_tree_from_paths(&paths);
    tv_paths_release(&paths);
    name_tree_add_costs(names, tree, map, naming->options->cpu);
    tv_free(map);
    return names;
}

struct tv_name_tree *tv_name_tree_new(const struct tv_call_tree *tree,
                                      const struct tv_name_tree_options *options)
{
    struct name_tree_build naming = {tree, options, tv_interner_new(), NULL};
    size_t size = tv_size_mul(tree->head->frame_count, sizeof *naming.of_frame);
    naming.of_frame = tv_pages_alloc(size); /* zeroed pages, because the tree of one thread uses
                                             * few of them */
    struct tv_name_tree *names =
        options->thread == TV_NONE ? name_tree_rename_nodes(&naming) : NULL;
    if (!names)
        names = name_tree_merge_nodes(&naming);
    names->names = naming.names;
    tv_pages_free(naming.of_frame, size);
    return names;
}
