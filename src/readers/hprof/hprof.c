/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hprof.c - recognition, the tables that both forms fill, and their rows as samples.
 *
 *     JAVA PROFILE 1.0.1, created Wed Jul 21 12:03:46 2010     text: a comma after the version
 *     JAVA PROFILE 1.0.1\0 ...                                 binary: a NUL (binary.c)
 *
 *     THREAD START (obj=..., id = 200001, name="main", group="main")   --> a thread
 *     TRACE 300302: (thread=200001)                                    --> a stack
 *             java.lang.Long.parseLong(Long.java:433)                      its frames, leaf first
 *     CPU SAMPLES BEGIN (total = 542) ...
 *        1 65.68% 65.68%  356 300302 java.lang.Long.parseLong          --> a sample, weight 356
 *     CPU SAMPLES END
 *
 * Rows refer to stacks, and stacks to threads, that may come later in the file. So everything is
 * collected first, and samples are added at the end (hprof_complete_stacks repairs what is
 * missing).
 */
#include "readers/hprof/hprof.h"

#include <assert.h>

#include "base/bytes.h"
#include "base/memory.h"
#include "base/out.h"
#include "readers/foreign.h"

#define MAGIC TV_BYTES("JAVA PROFILE ")

/* ---- Recognition ---- */

struct tv_bytes tv_hprof_version(struct tv_bytes prefix)
{
    size_t length = 0;
    prefix.data += MAGIC.length;
    prefix.length -= MAGIC.length;
    while (length < prefix.length && (prefix.data[length] == '.' ||
                                      (prefix.data[length] >= '0' && prefix.data[length] <= '9')))
        length++;
    return (struct tv_bytes){prefix.data, length};
}

/* The version is followed by a NUL in the binary form, by a comma in the text form. */
static bool hprof_is_binary(struct tv_bytes prefix)
{
    if (!tv_bytes_starts_with(prefix, MAGIC))
        return false;
    size_t end = MAGIC.length + tv_hprof_version(prefix).length;
    return end < prefix.length && prefix.data[end] == '\0';
}

/* Android wrote no header: a file begins with its threads, its stacks or its table. */
static int hprof_sniff(struct tv_bytes prefix, uint64_t size)
{
    (void)size;
    if (tv_bytes_starts_with(prefix, MAGIC))
        return 100;
    if (tv_bytes_starts_with(prefix, TV_BYTES("THREAD START (obj=")) ||
        tv_bytes_starts_with(prefix, TV_BYTES("CPU SAMPLES BEGIN (total = ")))
        return 95;
    return tv_bytes_starts_with(prefix, TV_BYTES("TRACE 300")) ? 60 : 0;
}

/* ---- The tables ---- */

uint32_t tv_hprof_thread(struct tv_hprof *hprof, uint64_t number, uint64_t offset)
{
    uint32_t thread = tv_map_find(&hprof->threads, number);
    if (thread != TV_NONE)
        return thread;
    struct tv_thread added = {.id = number, .process = hprof->process, .input = hprof->input};
    thread = tv_trace_info_add_thread(hprof->head, &added);
    tv_map_set(&hprof->threads, number, thread);
    tv_hprof_diagnose(hprof, TV_DIAGNOSTIC_UNLISTED_THREAD, offset);
    return thread;
}

/* The model has no groups of threads: the group is kept as metadata. */
void tv_hprof_list_thread(struct tv_hprof *hprof, uint64_t number, struct tv_bytes name,
                          struct tv_bytes group, uint64_t offset)
{
    struct tv_trace_info *head = hprof->head;
    uint32_t known = tv_map_find(&hprof->threads, number);
    if (known != TV_NONE) {
        tv_hprof_diagnose(hprof, TV_DIAGNOSTIC_DUPLICATE_THREAD, offset);
        head->threads[known].name = tv_trace_info_string(head, name);
        head->threads[known].listed = true;
    } else {
        struct tv_thread added = {.id = number,
                                  .name = tv_trace_info_string(head, name),
                                  .process = hprof->process,
                                  .input = hprof->input,
                                  .listed = true};
        tv_map_set(&hprof->threads, number, tv_trace_info_add_thread(head, &added));
    }
    if (group.length > 0) {
        struct tv_out key;
        tv_out_init_memory(&key);
        tv_out_text(&key, "thread ");
        tv_out_u64(&key, number);
        tv_out_text(&key, " group");
        tv_trace_info_add_metadata(head, hprof->input, (struct tv_bytes){key.buffer, key.length},
                                   group);
        tv_out_release(&key);
    }
}

void tv_hprof_begin_stack(struct tv_hprof *hprof, uint64_t number, uint32_t thread, uint64_t offset)
{
    hprof->stacks = tv_array_reserve(hprof->stacks, &hprof->stack_capacity,
                                     (size_t)hprof->stack_count + 1, sizeof *hprof->stacks);
    hprof->stacks[hprof->stack_count] =
        (struct tv_hprof_stack){.offset = offset, .thread = thread, .first = hprof->frame_count};
    tv_map_set(&hprof->numbers, number, hprof->stack_count++);
}

void tv_hprof_add_frame(struct tv_hprof *hprof, struct tv_hprof_frame frame)
{
    assert(hprof->stack_count > 0);
    hprof->frames = tv_array_reserve(hprof->frames, &hprof->frame_capacity, hprof->frame_count + 1,
                                     sizeof *hprof->frames);
    hprof->frames[hprof->frame_count++] = frame;
    hprof->stacks[hprof->stack_count - 1].depth++;
}

/* The JDK writes the table again at each dump, with growing counts: only the last one is right. */
void tv_hprof_begin_table(struct tv_hprof *hprof, bool times, uint64_t offset)
{
    if (hprof->has_table)
        tv_hprof_diagnose(hprof, TV_DIAGNOSTIC_SKIPPED_SECTION, offset);
    hprof->has_table = true;
    hprof->times = times;
    hprof->row_count = 0;
}

void tv_hprof_add_row(struct tv_hprof *hprof, const struct tv_hprof_row *row)
{
    assert(hprof->has_table);
    hprof->rows = tv_array_reserve(hprof->rows, &hprof->row_capacity, hprof->row_count + 1,
                                   sizeof *hprof->rows);
    hprof->rows[hprof->row_count++] = *row;
}

/* ---- Samples ---- */

/* Add the thread for stacks without one. */
static uint32_t hprof_add_common_thread(struct tv_hprof *hprof)
{
    struct tv_thread all = {.name = tv_trace_info_string(hprof->head, TV_BYTES("all")),
                            .process = hprof->process,
                            .input = hprof->input,
                            .listed = true};
    return tv_trace_info_add_thread(hprof->head, &all);
}

/* Add a placeholder stack of one frame for a row whose stack is empty or missing. */
static void hprof_add_placeholder_stack(struct tv_hprof *hprof, const struct tv_hprof_row *row,
                                        uint32_t thread)
{
    struct tv_bytes leaf = tv_trace_info_text(hprof->head, row->leaf);
    struct tv_hprof_frame frame =
        tv_hprof_parse_frame(hprof, leaf.length > 0 ? leaf : TV_BYTES("(no stack)"));
    tv_hprof_begin_stack(hprof, row->stack, thread, row->offset);
    tv_hprof_add_frame(hprof, frame);
}

/* Make sure that each row has a stack with frames and a thread. */
static void hprof_complete_stacks(struct tv_hprof *hprof)
{
    uint32_t all = TV_NONE;
    for (size_t i = 0; i < hprof->row_count; i++) {
        const struct tv_hprof_row *row = &hprof->rows[i];
        uint32_t index = tv_map_find(&hprof->numbers, row->stack);
        if (index == TV_NONE) {
            tv_hprof_diagnose(hprof, TV_DIAGNOSTIC_STACK_UNKNOWN, row->offset);
            hprof_add_placeholder_stack(hprof, row, TV_NONE);
        } else if (hprof->stacks[index].depth == 0) {
            hprof_add_placeholder_stack(hprof, row, hprof->stacks[index].thread);
        }
        struct tv_hprof_stack *stack = &hprof->stacks[tv_map_find(&hprof->numbers, row->stack)];
        if (stack->thread == TV_NONE) {
            if (all == TV_NONE)
                all = hprof_add_common_thread(hprof);
            stack->thread = all;
        }
    }
}

/* Push the frames from the outermost on; the file lists the innermost first. */
static void hprof_build_stack(struct tv_hprof *hprof, const struct tv_hprof_stack *stack)
{
    assert(stack->depth > 0);
    tv_profile_stack_begin(&hprof->profile);
    for (uint32_t i = stack->depth; i-- > 0;) {
        const struct tv_hprof_frame *frame = &hprof->frames[stack->first + i];
        tv_profile_stack_push(&hprof->profile, frame->frame, frame->line);
    }
}

/* Add a sample for each row of the table. */
static void hprof_add_samples(struct tv_hprof *hprof)
{
    struct tv_profile_input *profile = &hprof->profile;
    uint32_t type = hprof->times ? tv_profile_value_type(profile, TV_BYTES("time"), TV_BYTES("ns"))
                                 : tv_profile_count_type(profile);
    hprof_complete_stacks(hprof);
    for (size_t i = 0; i < hprof->row_count; i++) {
        const struct tv_hprof_row *row = &hprof->rows[i];
        const struct tv_hprof_stack *stack =
            &hprof->stacks[tv_map_find(&hprof->numbers, row->stack)];
        int64_t weight = tv_profile_fit_weight(profile, row->weight, row->offset);
        hprof_build_stack(hprof, stack);
        profile->info->inputs[profile->input].samples += hprof->times ? 0 : (uint64_t)weight;
        tv_profile_add_sample(profile, (struct tv_sample){.thread = stack->thread,
                                                          .weight = weight,
                                                          .offset = row->offset,
                                                          .cpu = TV_NONE,
                                                          .type = type});
    }
}

/* ---- Reading ---- */

/* Begin the input in the trace of the builder. */
static void hprof_begin(struct tv_hprof *hprof, struct tv_builder *builder, struct tv_bytes start)
{
    tv_profile_input_begin(&hprof->profile, hprof->source, builder, "hprof CPU profile");
    hprof->head = hprof->profile.info;
    hprof->input = hprof->profile.input;
    hprof->process = tv_profile_process(&hprof->profile, 0, TV_BYTES(""));
    struct tv_input *input = &hprof->head->inputs[hprof->input];
    input->weight_axis = true;
    if (tv_bytes_starts_with(start, MAGIC))
        input->version = tv_trace_info_string(hprof->head, tv_hprof_version(start));
    tv_map_init(&hprof->threads);
    tv_map_init(&hprof->numbers);
}

static void hprof_release(struct tv_hprof *hprof)
{
    tv_map_release(&hprof->threads);
    tv_map_release(&hprof->numbers);
    tv_free(hprof->stacks);
    tv_free(hprof->frames);
    tv_free(hprof->rows);
}

/* Read either form.  A heap dump has the beginning of the binary one: it is refused when no samples
 * come. */
static enum tv_status hprof_assemble(struct tv_source *source, struct tv_builder *builder,
                                     const struct tv_read_options *options, struct tv_error *err)
{
    struct tv_hprof hprof = {.source = source, .progress = options->progress};
    uint8_t bytes[TV_SNIFF_SIZE];
    struct tv_bytes start = {bytes, 0};
    enum tv_status status = tv_source_read(source, 0, bytes, sizeof bytes, &start.length, err);
    if (status != TV_OK)
        return status;
    hprof_begin(&hprof, builder, start);
    if (options->progress)
        atomic_fetch_add_explicit(&options->progress->total_bytes, tv_source_size(source),
                                  memory_order_relaxed);
    status = hprof_is_binary(start) ? tv_hprof_read_binary(&hprof, err)
                                    : tv_hprof_read_text(&hprof, err);
    if (status == TV_OK && hprof.heap && hprof.row_count == 0)
        status = tv_foreign_fail(&tv_foreign_heap_dump, err);
    if (status == TV_OK)
        hprof_add_samples(&hprof);
    tv_profile_input_end(&hprof.profile, options);
    hprof_release(&hprof);
    return status;
}

const struct tv_reader tv_reader_hprof = {
    .name = "hprof",
    .sniff = hprof_sniff,
    .assemble = hprof_assemble,
    .refuses_empty = true,
};
