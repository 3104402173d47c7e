/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sample_stacks.c - samples as collapsed stacks, one line a stack with its count, and the one place
 * that knows every form of samples.
 */
#include <stdlib.h>

#include "recorder/stack_tree.h"

/* A ';' parts frames and the last blank parts the count; a line ends a stack. */
static void put_frame(const struct tv_samples *samples, uint32_t number, FILE *to)
{
    const struct tv_sample_element *element =
        (const struct tv_sample_element *)samples->elements.at + number;
    bool is_class = element->name[0] == '\0';
    const char *texts[] = {samples->classes_are_modules ? "" : element->class_name,
                           samples->classes_are_modules || is_class ? "" : ".", element->name};
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++)
        for (const char *c = texts[i]; *c != '\0'; c++)
            fputc((unsigned char)*c < ' ' ? ' ' : *c == ';' ? ':' : *c, to);
}

/* The stack that ends at the node, outermost first; `path` has room for its frames. */
static void put_stack(const struct tv_samples *samples, const struct tv_stack_tree *tree,
                      uint32_t node, uint32_t *path, FILE *to)
{
    uint32_t depth = 0;
    for (uint32_t i = node; i != 0; i = tree->nodes[i].parent)
        path[depth++] = tree->nodes[i].element;
    while (depth-- > 0) {
        put_frame(samples, path[depth], to);
        fputc(depth > 0 ? ';' : ' ', to);
    }
    fprintf(to, "%llu\n", (unsigned long long)tree->nodes[node].count);
}

bool tv_sample_stacks_write(const struct tv_samples *samples, FILE *to)
{
    const struct tv_sample_trace *traces = samples->traces.at;
    struct tv_stack_tree tree;
    uint32_t deepest = 0;
    for (uint32_t i = 0; i < samples->traces.count; i++)
        deepest = traces[i].depth > deepest ? traces[i].depth : deepest;
    uint32_t *path = calloc((size_t)deepest + 1, sizeof path[0]);
    bool fine = tv_stack_tree_init(&tree, samples) && path != NULL;
    for (uint32_t i = 1; fine && i < tree.count; i++)
        if (tree.nodes[i].count > 0)
            put_stack(samples, &tree, i, path, to);
    tv_stack_tree_release(&tree);
    free(path);
    return fine && fflush(to) == 0 && !ferror(to);
}

bool tv_samples_write(const struct tv_samples *samples, enum tv_samples_form form, uint32_t depth,
                      time_t now, FILE *to)
{
    switch (form) {
    case TV_SAMPLES_BINARY:
        return tv_hprof_binary_write(samples, depth, (uint64_t)now * 1000, to);
    case TV_SAMPLES_EVENTS:
        return tv_sample_events_write(samples, to);
    case TV_SAMPLES_COLLAPSED:
        return tv_sample_stacks_write(samples, to);
    case TV_SAMPLES_ANDROID:
    case TV_SAMPLES_JDK:
        break;
    }
    return tv_hprof_text_write(samples, form == TV_SAMPLES_JDK ? TV_HPROF_JDK : TV_HPROF_ANDROID,
                               now, to);
}
