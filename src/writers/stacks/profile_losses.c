/* SPDX-License-Identifier: Apache-2.0 */
/*
 * profile_losses.c - counts and names what profiles of other tools do not hold.
 *
 * Arguments of samples (labels of pprof, fields of JFR events) stay in the file that was read.
 * Whether its samples have any is found out by reading a few of them again.
 */
#include "writers/stacks/profile_losses.h"

#include "base/bytes.h"
#include "base/memory.h"
#include "readers/pprof/sample_labels.h"

/* Samples of an input that are read to find out whether they have arguments. */
#define PROBED_SAMPLES 64

static bool losses_has_arguments(const struct tv_trace *trace, const struct tv_sample *sample)
{
    const struct tv_input *input = &trace->head->inputs[sample->input];
    struct tv_error unused;
    struct tv_out text;
    tv_out_init_memory(&text);
    bool has = input->describe(trace, sample->input, sample->offset, TV_NO_OFFSET, &text,
                               &unused) == TV_OK &&
               !tv_bytes_starts_with((struct tv_bytes){text.buffer, text.length},
                                     TV_BYTES("{\"args\":{}"));
    tv_out_release(&text);
    return has;
}

/* Find the inputs whose samples have arguments. */
static void losses_probe(struct tv_profile_losses *losses, const struct tv_trace *trace)
{
    const struct tv_sample *rows = trace->tables.samples.rows;
    uint32_t *probed = tv_alloc(trace->head->input_count, sizeof *probed);
    for (size_t i = 0; i < trace->tables.samples.count; i++) {
        uint32_t input = rows[i].input;
        bool again = i > 0 && rows[i - 1].input == input && rows[i - 1].offset == rows[i].offset;
        if (again || losses->has_arguments[input] || rows[i].offset == TV_NO_OFFSET ||
            !trace->head->inputs[input].describe || !trace->head->inputs[input].source ||
            probed[input]++ >= PROBED_SAMPLES)
            continue;
        losses->has_arguments[input] = losses_has_arguments(trace, &rows[i]);
    }
    tv_free(probed);
}

/* Count the samples of pprof inputs that have no row, since each of their values is 0. */
static uint64_t losses_count_zeros(const struct tv_trace *trace)
{
    uint64_t samples = 0;
    struct tv_map offsets; /* input << 40 | offset */
    tv_map_init(&offsets);
    for (uint32_t i = 0; i < trace->head->input_count && !trace->is_subset; i++)
        if (trace->head->inputs[i].describe == tv_sample_labels_describe)
            samples += trace->head->inputs[i].samples;
    for (size_t i = 0; samples > 0 && i < trace->tables.samples.count; i++) {
        const struct tv_sample *sample = &trace->tables.samples.rows[i];
        if (trace->head->inputs[sample->input].describe == tv_sample_labels_describe)
            tv_map_set(&offsets, (uint64_t)sample->input << 40 | sample->offset, 0);
    }
    samples -= offsets.count < samples ? offsets.count : samples;
    tv_map_release(&offsets);
    return samples;
}

/* Count the value types whose samples, which are an estimate, do not have the exact sum. */
static uint64_t losses_count_sums(const struct tv_tables *tables)
{
    uint64_t sums = 0;
    if (tables->function_costs.count == 0)
        return 0;
    int64_t *totals = tv_alloc(tables->value_types.count, sizeof *totals);
    for (size_t i = 0; i < tables->samples.count; i++)
        tv_time_add(&totals[tables->samples.rows[i].type], tables->samples.rows[i].weight);
    for (size_t i = 0; i < tables->value_types.count; i++)
        sums += totals[i] != tables->value_types.rows[i].total;
    tv_free(totals);
    return sums;
}

void tv_profile_losses_init(struct tv_profile_losses *losses, const struct tv_trace *trace)
{
    const struct tv_tables *tables = &trace->tables;
    const struct tv_trace_info *head = trace->head;
    *losses = (struct tv_profile_losses){
        .flows = tables->flows.count,
        .others = tables->objects.count + tables->snapshots.count + tables->memory_dumps.count +
                  tables->contexts.count,
        .costs = tables->function_costs.count,
        .zeros = losses_count_zeros(trace),
        .metadata = head->metadata_count,
        .has_arguments = tv_alloc(head->input_count, sizeof *losses->has_arguments),
    };
    for (uint32_t i = 0; i < head->frame_count; i++) {
        const struct tv_frame *frame = &head->frames[i];
        losses->kinds += !frame->with_line && frame->kind != TV_FRAME_UNKNOWN;
        losses->signatures += !frame->with_line && frame->signature != TV_EMPTY_STRING;
    }
    losses->sums = losses_count_sums(tables);
    tv_map_init(&losses->offsets);
    losses_probe(losses, trace);
}

void tv_profile_losses_release(struct tv_profile_losses *losses)
{
    if (losses->has_arguments)
        tv_map_release(&losses->offsets);
    tv_free(losses->has_arguments);
    losses->has_arguments = NULL;
}

void tv_profile_losses_add_sample(struct tv_profile_losses *losses, const struct tv_sample *sample)
{
    losses->cpus += sample->cpu != TV_NONE;
    if (!losses->has_arguments[sample->input] || sample->offset == TV_NO_OFFSET)
        return;
    /* A sample of several values is several rows. */
    tv_map_set(&losses->offsets, (uint64_t)sample->input << 40 | sample->offset, 0);
    losses->arguments = losses->offsets.count;
}

void tv_profile_losses_write(struct tv_out *out, const struct tv_profile_losses *losses)
{
    const struct {
        uint64_t count;
        const char *words;
    } lines[] = {
        {losses->arguments, "sample|samples without arguments (labels, fields of events)\n"},
        {losses->cpus, "sample|samples without its|their processor\n"},
        {losses->zeros, "sample|samples whose values are all 0 left out\n"},
        {losses->kinds, "function|functions without its|their kind (kernel, JIT, ...)\n"},
        {losses->flows, "flow|flows left out\n"},
        {losses->others, "other row|rows (objects, memory dumps, contexts) left out\n"},
        {losses->signatures,
         "signature|signatures of functions left out: overloads are one function\n"},
        {losses->sums,
         "exact sum|sums of a value type left out: that of the estimated stacks differs\n"},
        {losses->costs, "exact cost|costs of functions left out: the stacks are an estimate\n"},
        {losses->metadata, "property|properties of the trace left out\n"},
    };
    for (size_t i = 0; i < TV_COUNT(lines); i++)
        if (lines[i].count > 0)
            tv_out_counted(out, lines[i].count, lines[i].words);
}
