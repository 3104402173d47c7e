/* SPDX-License-Identifier: Apache-2.0 */
#include "writers/compare/described_run.h"

#include "analysis/calltree/derived_trees.h"

#include "base/bytes.h"
#include "base/map.h"
#include "readers/trace_event/text/fields.h"
#include "wire/run_labels.h"

struct tv_bytes tv_run_find_label(const struct tv_trace_info *info, const char *key)
{
    struct tv_bytes label = tv_trace_info_find_metadata(info, 0, key);
    if (label.length > 0)
        return label;
    label = tv_te_member(tv_trace_info_find_metadata(info, 0, "otherData"), key);
    return label.length > 2 ? (struct tv_bytes){label.data + 1, label.length - 2}
                            : (struct tv_bytes){NULL, 0};
}

uint64_t tv_run_hash_label(struct tv_bytes label)
{
    return label.length > 0 ? tv_hash_bytes(label) | 1 : 0;
}

/* Minimum number of classes that tells whether names are obfuscated. */
#define OBFUSCATED_CLASSES 4u

/* Tell whether the last part of a class name is as R8 and ProGuard make it by default: at most two
 * letters, the first one small. */
static bool run_is_short_class(struct tv_bytes class_name)
{
    size_t part = class_name.length;
    while (part > 0 && class_name.data[part - 1] != '.')
        part--;
    size_t letters = class_name.length - part;
    return letters > 0 && letters <= 2 && class_name.data[part] >= 'a' &&
           class_name.data[part] <= 'z';
}

/* Tell whether more than half of the classes of a method trace have the names of a shrinker. */
static bool run_is_obfuscated(const struct tv_trace_info *info)
{
    struct tv_map seen;
    uint32_t classes = 0, short_ones = 0;
    tv_map_init(&seen);
    for (uint32_t i = 0; i < info->frame_count; i++) {
        uint32_t name = info->frames[i].class_name;
        if (name == TV_EMPTY_STRING || tv_map_add(&seen, name, classes) != classes)
            continue;
        classes++;
        short_ones += run_is_short_class(tv_trace_info_text(info, name));
    }
    tv_map_release(&seen);
    return classes >= OBFUSCATED_CLASSES && short_ones > classes / 2;
}

/* Tell whether functions have the program's name as class, as the native recorder writes them, or
 * the name of the process as category, as samples of native programs have it. */
static bool run_is_native(const struct tv_trace_info *info)
{
    if (tv_bytes_equal(tv_trace_info_find_metadata(info, 0, "vm"), TV_BYTES("native")))
        return true;
    for (uint32_t i = 0; i < info->process_count; i++)
        for (uint32_t k = 0; k < info->frame_count && info->processes[i].name; k++)
            if (info->frames[k].category == info->processes[i].name)
                return true;
    return false;
}

struct tv_run tv_run_describe(const char *name, enum tv_run_side side, uint32_t session,
                              const struct tv_trace_info *info)
{
    struct tv_run run = {.name = name, .side = side, .session = session};
    run.clocks = tv_trace_info_clocks(info);
    run.sampled = tv_trace_info_sampling(info).interval > 0;
    run.no_calls = tv_trace_info_figures(info) != TV_FIGURES_CALLS;
    run.clock_cost = run.no_calls ? 0 : tv_clock_cost(info);
    run.format = info->input_count > 0 ? info->inputs[0].format : NULL;
    run.obfuscated = run_is_obfuscated(info);
    run.native = run_is_native(info);
    for (uint32_t i = 0; i < info->input_count; i++)
        if (info->inputs[i].recorded_us > 0)
            run.recorded_us = info->inputs[i].recorded_us;
    int64_t round;
    if (tv_parse_i64(tv_run_find_label(info, TV_LABEL_ROUND), &round) && round > 0 &&
        round < UINT32_MAX)
        run.round = (uint32_t)round;
    run.recording = tv_run_hash_label(tv_run_find_label(info, TV_LABEL_SESSION));
    run.boot = tv_run_hash_label(tv_run_find_label(info, TV_LABEL_BOOT));
    return run;
}
