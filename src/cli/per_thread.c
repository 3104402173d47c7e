/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/per_thread.h"

#include <stdio.h>
#include <string.h>

#include "analysis/tree_sink.h"
#include "base/map.h"
#include "cli/output.h"

/* So much of a thread's name goes into a file's. */
#define NAME_LENGTH 40

/* The base of the file names. */
static void per_thread_prefix(const struct tv_settings *settings, char *prefix, size_t size)
{
    const char *input = settings->files.items[0], *slash = strrchr(input, '/');
    if (settings->output) {
        snprintf(prefix, size, "%s", settings->output);
        return;
    }
    snprintf(prefix, size, "%s", slash ? slash + 1 : input);
    if (strcmp(prefix, "-") == 0)
        snprintf(prefix, size, "stdin");
    size_t length = strlen(prefix);
    if (length > 6 && strcmp(prefix + length - 6, ".trace") == 0)
        prefix[length - 6] = '\0';
}

static bool per_thread_is_safe(uint8_t c)
{
    return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || c == '-' ||
           c == '_' || c == '.';
}

/* The thread's name with '_' for everything that a shell or a file system may take amiss. */
static void per_thread_make_safe(struct tv_bytes name, char *safe)
{
    size_t length = name.length < NAME_LENGTH ? name.length : NAME_LENGTH;
    for (size_t i = 0; i < length; i++)
        safe[i] = per_thread_is_safe(name.data[i]) ? (char)name.data[i] : '_';
    safe[length] = '\0';
}

bool tv_per_thread_is_name(const struct tv_settings *settings, const char *path)
{
    char prefix[2048];
    per_thread_prefix(settings, prefix, sizeof prefix);
    size_t length = strlen(prefix);
    if (strncmp(path, prefix, length) != 0 || path[length] != '.')
        return false;
    while (path[length] != '\0' && per_thread_is_safe((uint8_t)path[length]))
        length++;
    return path[length] == '\0';
}

/* What all names have in common. */
struct per_thread_names {
    char prefix[2048];
    const char *ending;
    struct tv_map ids; /* id -> the first thread that has it */
};

static void per_thread_note_ids(struct per_thread_names *naming, const struct tv_head *head)
{
    tv_map_init(&naming->ids);
    for (uint32_t i = 0; i < head->thread_count; i++)
        tv_map_add(&naming->ids, head->threads[i].id, i);
}

static enum tv_status per_thread_name_file(const struct per_thread_names *naming, const struct tv_head *head,
                                uint32_t thread, char *path, size_t size, struct tv_error *err)
{
    char name[NAME_LENGTH + 1], again[16] = "";
    per_thread_make_safe(tv_head_text(head, head->threads[thread].name), name);
    /* Two threads of one id (of two files) are told apart by their place. */
    if (tv_map_find(&naming->ids, head->threads[thread].id) != thread)
        snprintf(again, sizeof again, ".%u", thread);
    int n = snprintf(path, size, "%s.%llu%s-%s.%s", naming->prefix,
                     (unsigned long long)head->threads[thread].id, again, name, naming->ending);
    if (n < 0 || (size_t)n >= size)
        return tv_fail(err, TV_ERR_USAGE, TV_NO_OFFSET, "the file name is too long");
    return TV_OK;
}

struct per_thread_work {
    const struct tv_settings *settings;
    const struct tv_call_tree *tree;
    tv_per_thread_write *write_thread;
    void *context;
    struct tv_output *names;
};

static enum tv_status per_thread_write_file(const struct per_thread_work *work, uint32_t node, uint32_t thread,
                                const char *path, struct tv_error *err)
{
    struct tv_output output;
    enum tv_status status = tv_output_check(path, work->settings, err);
    if (status == TV_OK)
        status = tv_output_open(&output, path, true, err);
    if (status != TV_OK)
        return status;
    struct tv_call_tree *part = tv_call_tree_part(work->tree, node);
    work->write_thread(&output.out, part, thread, work->context);
    tv_call_tree_free(part);
    status = tv_output_close(&output, err);
    if (status == TV_OK) {
        tv_out_text(&work->names->out, path);
        tv_out_char(&work->names->out, '\n');
    }
    return status;
}

enum tv_status tv_per_thread(const struct tv_settings *settings, const struct tv_call_tree *tree,
                             const char *ending, tv_per_thread_write *write_thread, void *context,
                             struct tv_error *err)
{
    struct per_thread_names naming = {.ending = ending};
    char path[4096];
    struct tv_output names;
    struct per_thread_work work = {settings, tree, write_thread, context, &names};
    per_thread_prefix(settings, naming.prefix, sizeof naming.prefix);
    enum tv_status status = tv_output_open(&names, NULL, true, err);
    if (status != TV_OK)
        return status;
    per_thread_note_ids(&naming, tree->head);
    for (uint32_t i = 1; i < tree->count && status == TV_OK; i++) {
        uint32_t thread = tree->frame[i] & ~TV_THREAD_FRAME;
        if (!(tree->frame[i] & TV_THREAD_FRAME))
            continue;
        status = per_thread_name_file(&naming, tree->head, thread, path, sizeof path, err);
        if (status == TV_OK)
            status = per_thread_write_file(&work, i, thread, path, err);
    }
    tv_map_release(&naming.ids);
    return tv_output_finish(&names, status, err);
}
