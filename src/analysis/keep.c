/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/keep.h"

#include "base/bytes.h"
#include "base/memory.h"
#include "model/trace.h"

void tv_keep_release(struct tv_keep *keep)
{
    tv_free(keep->processes);
    tv_free(keep->tracks);
    tv_free(keep->threads);
    tv_free(keep->frames);
}

uint32_t tv_thread_process(const struct tv_trace_info *head, uint32_t thread)
{
    uint32_t process = thread < head->thread_count ? head->threads[thread].process : TV_NONE;
    return process < head->process_count ? process : TV_NONE;
}

uint32_t tv_track_process(const struct tv_trace *trace, uint32_t track)
{
    const struct tv_track *t = &trace->tracks[track];
    if (t->thread != TV_NONE)
        return tv_thread_process(trace->head, t->thread);
    return t->process < trace->head->process_count ? t->process : TV_NONE;
}

uint32_t tv_flow_end_process(const struct tv_trace *trace, const struct tv_flow_end *end)
{
    uint32_t track = tv_flow_end_track(trace, end);
    return track == TV_NONE ? tv_thread_process(trace->head, tv_flow_end_thread(trace, end))
                            : tv_track_process(trace, track);
}

/* ---- Names ---- */

/* Of several '*' only the last one met needs to be tried again with more bytes. */
bool tv_name_fits(struct tv_bytes name, struct tv_bytes pattern)
{
    size_t n = 0, p = 0, star = SIZE_MAX, tried = 0;
    while (n < name.length) {
        if (p < pattern.length && pattern.data[p] == '*') {
            star = p++;
            tried = n;
        } else if (p < pattern.length && pattern.data[p] == name.data[n]) {
            p++;
            n++;
        } else if (star != SIZE_MAX) {
            p = star + 1;
            n = ++tried;
        } else {
            return false;
        }
    }
    while (p < pattern.length && pattern.data[p] == '*')
        p++;
    return p == pattern.length;
}

/* An id that is no plain number stands in `key`. */
static bool id_fits(const struct tv_trace_info *head, uint64_t id, uint32_t key, struct tv_bytes pattern)
{
    uint64_t number;
    if (key != TV_EMPTY_STRING)
        return tv_name_fits(tv_trace_info_text(head, key), pattern);
    return tv_parse_u64(pattern, &number) && number == id;
}

bool tv_process_fits(const struct tv_trace_info *head, uint32_t process, struct tv_bytes pattern)
{
    const struct tv_process *p = &head->processes[process];
    return tv_name_fits(tv_trace_info_text(head, p->name), pattern) ||
           id_fits(head, p->id, p->key, pattern);
}

bool tv_thread_fits(const struct tv_trace_info *head, uint32_t thread, struct tv_bytes pattern)
{
    const struct tv_thread *t = &head->threads[thread];
    return tv_name_fits(tv_trace_info_text(head, t->name), pattern) ||
           id_fits(head, t->id, t->key, pattern);
}

static struct tv_bytes trim(struct tv_bytes text)
{
    while (text.length > 0 && text.data[0] <= ' ') {
        text.data++;
        text.length--;
    }
    while (text.length > 0 && text.data[text.length - 1] <= ' ')
        text.length--;
    return text;
}

bool tv_categories_next(struct tv_bytes *list, struct tv_bytes *name)
{
    if (list->length == 0)
        return false;
    tv_bytes_split(list, ',', name);
    *name = trim(*name);
    return true;
}

bool tv_categories_fit(struct tv_bytes list, struct tv_bytes pattern)
{
    struct tv_bytes name;
    if (trim(list).length == 0)
        return tv_name_fits(TV_BYTES(""), pattern);
    while (tv_categories_next(&list, &name))
        if (tv_name_fits(name, pattern))
            return true;
    return false;
}

/* ---- Rows of tables ---- */

bool tv_keep_instant(const struct tv_keep *keep, const struct tv_trace_info *head,
                     const struct tv_instant *instant)
{
    uint32_t process = instant->scope == TV_SCOPE_THREAD    ? tv_thread_process(head, instant->of)
                       : instant->scope == TV_SCOPE_PROCESS ? instant->of
                                                            : TV_NONE;
    return tv_keep_process(keep, process) && tv_keep_frame(keep, instant->frame);
}

bool tv_keep_counter(const struct tv_keep *keep, const struct tv_trace_info *head,
                     const struct tv_counter *counter)
{
    return tv_keep_process(keep, counter->process) &&
           tv_keep_category(keep, tv_trace_info_text(head, counter->category));
}

bool tv_keep_flow(const struct tv_keep *keep, const struct tv_trace *trace,
                  const struct tv_flow *flow)
{
    return tv_keep_frame(keep, flow->frame) &&
           (tv_keep_process(keep, tv_flow_end_process(trace, &flow->from)) ||
            tv_keep_process(keep, tv_flow_end_process(trace, &flow->to)));
}

bool tv_keep_object(const struct tv_keep *keep, const struct tv_trace_info *head,
                    const struct tv_object *object)
{
    return tv_keep_process(keep, object->process) &&
           tv_keep_category(keep, tv_trace_info_text(head, object->category));
}

bool tv_keep_stack_frame(const struct tv_keep *keep, const struct tv_stack_frame *frame)
{
    return frame->process == TV_NONE || tv_keep_process(keep, frame->process);
}

/* ---- Trees ---- */

struct tv_call_tree *tv_call_tree_sift(const struct tv_call_tree *tree, const bool *frames)
{
    struct tv_paths paths;
    uint32_t *place = tv_alloc(tree->count, sizeof *place); /* of a node, or of what it went into */
    tv_paths_init(&paths);
    place[TV_ROOT_PATH] = TV_ROOT_PATH;
    for (uint32_t i = 1; i < tree->count; i++) {
        bool gone = tv_call_tree_is_call(tree, i) && !frames[tree->frame[i]];
        uint32_t parent = place[tree->parent[i]];
        place[i] = gone ? parent : tv_paths_child(&paths, parent, tree->frame[i]);
    }
    struct tv_call_tree *sifted = tv_call_tree_new(tree->head, &paths);
    for (uint32_t i = 1; i < tree->count; i++) {
        if (tv_call_tree_is_call(tree, i) && !frames[tree->frame[i]])
            continue;
        struct tv_path_cost *cost = &sifted->cost[place[i]];
        cost->calls += tree->cost[i].calls;
        tv_time_add(&cost->wall, tree->cost[i].wall);
        tv_time_add(&cost->cpu, tree->cost[i].cpu);
    }
    sifted->waits = tree->waits;
    tv_call_tree_settle(sifted);
    tv_paths_release(&paths);
    tv_free(place);
    return sifted;
}
