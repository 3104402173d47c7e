/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/selection.h"

#include <string.h>

#include "base/bytes.h"
#include "base/number.h"

#define MS INT64_C(1000000)

static bool fits(const struct tv_head *head, uint32_t thread, const char *word)
{
    uint64_t id;
    struct tv_bytes text = tv_bytes_of(word);
    if (tv_parse_u64(text, &id) && id == head->threads[thread].id)
        return true;
    return tv_bytes_equal(tv_head_text(head, head->threads[thread].name), text);
}

bool tv_thread_is_named(const struct tv_head *head, uint32_t thread, const struct tv_words *words)
{
    for (size_t i = 0; i < words->count; i++) {
        if (fits(head, thread, words->items[i]))
            return true;
    }
    return words->count == 0;
}

bool tv_thread_is_wanted(const struct tv_head *head, uint32_t thread, void *context)
{
    const struct tv_settings *settings = context;
    return tv_thread_is_named(head, thread, &settings->threads);
}

enum tv_status tv_threads_check(const struct tv_head *head, const struct tv_words *words,
                                struct tv_error *err)
{
    for (size_t i = 0; i < words->count; i++) {
        uint32_t thread = 0;
        while (thread < head->thread_count && !fits(head, thread, words->items[i]))
            thread++;
        if (thread == head->thread_count)
            return tv_fail(err, TV_ERR_USAGE, TV_NO_OFFSET, "--thread: no thread is called '%s'",
                           words->items[i]);
    }
    return TV_OK;
}

enum tv_status tv_range_parse(const char *text, tv_ns *from, tv_ns *to, struct tv_error *err)
{
    struct tv_bytes rest = tv_bytes_of(text), head;
    *from = INT64_MIN;
    *to = INT64_MAX;
    bool good = tv_bytes_split(&rest, ':', &head) &&
                (head.length == 0 || tv_parse_time(head, MS, from)) &&
                (rest.length == 0 || tv_parse_time(rest, MS, to));
    if (!good)
        return tv_fail(err, TV_ERR_USAGE, TV_NO_OFFSET,
                       "--range: expected A:B, two times such as 1.5ms:2s, found '%s'", text);
    if (*from >= *to)
        return tv_fail(err, TV_ERR_USAGE, TV_NO_OFFSET, "--range: '%s' ends before it begins",
                       text);
    return TV_OK;
}

enum tv_status tv_selection_make(const struct tv_settings *settings, const struct tv_trace *trace,
                                 uint32_t *tracks, struct tv_selection *selection,
                                 struct tv_error *err)
{
    *selection = TV_SELECT_ALL;
    if (settings->range) {
        enum tv_status status =
            tv_range_parse(settings->range, &selection->from, &selection->to, err);
        if (status != TV_OK)
            return status;
    }
    enum tv_status status = tv_threads_check(trace->head, &settings->threads, err);
    if (status != TV_OK || settings->threads.count == 0)
        return status;
    selection->tracks = tracks;
    for (uint32_t i = 0; i < trace->track_count; i++) {
        if (trace->tracks[i].kind != TV_TRACK_ASYNC &&
            tv_thread_is_named(trace->head, trace->tracks[i].thread, &settings->threads))
            tracks[selection->track_count++] = i;
    }
    return TV_OK;
}

enum tv_status tv_clock_choose(const struct tv_settings *settings, unsigned clocks, bool *cpu,
                               struct tv_error *err)
{
    bool has_cpu = clocks & TV_CLOCK_CPU, has_wall = clocks & TV_CLOCK_WALL;
    *cpu = settings->clock == TV_CHOICE_CPU || (settings->clock == TV_CHOICE_ANY && !has_wall);
    if (*cpu ? has_cpu : has_wall)
        return TV_OK;
    return tv_fail(err, TV_ERR_USAGE, TV_NO_OFFSET, "--clock: the trace has no %s clock",
                   *cpu ? "CPU" : "real");
}

enum tv_status tv_sort_check(const struct tv_settings *settings, unsigned clocks,
                             struct tv_error *err)
{
    bool wants_cpu = settings->sort >= 5, wants_wall = settings->sort == 3 || settings->sort == 4;
    if ((wants_cpu && !(clocks & TV_CLOCK_CPU)) || (wants_wall && !(clocks & TV_CLOCK_WALL)))
        return tv_fail(err, TV_ERR_USAGE, TV_NO_OFFSET, "--sort: the trace has no %s clock",
                       wants_cpu ? "CPU" : "real");
    return TV_OK;
}
