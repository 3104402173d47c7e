/* SPDX-License-Identifier: Apache-2.0 */
#include "readers/chains.h"

#include "base/memory.h"

void tv_chains_init(struct tv_chains *chains, struct tv_trace_info *head, struct tv_sink *sink,
                    uint32_t input)
{
    *chains = (struct tv_chains){.head = head, .sink = sink, .input = input};
    chains->batch.events = chains->events;
    chains->batch.offsets = chains->offsets;
}

void tv_chains_release(struct tv_chains *chains)
{
    tv_free(chains->stack);
}

static void flush(struct tv_chains *chains)
{
    struct tv_batch *batch = &chains->batch;
    if (batch->count > 0)
        chains->sink->ops->take(chains->sink, chains->pass, 0, batch);
    chains->events_done += batch->count;
    batch->count = 0;
}

static void put(struct tv_chains *chains, enum tv_action action, uint32_t frame, uint64_t offset)
{
    struct tv_batch *batch = &chains->batch;
    if (batch->count == TV_BATCH_EVENTS ||
        (batch->count > 0 && (offset < batch->offset || offset - batch->offset > UINT32_MAX)))
        flush(chains);
    if (batch->count == 0)
        batch->offset = offset;
    chains->offsets[batch->count] = (uint32_t)(offset - batch->offset);
    chains->events[batch->count++] = (struct tv_event){
        .wall = chains->now / chains->head->inputs[chains->input].tick_ns,
        .thread = chains->thread,
        .action = (unsigned)action & 3,
        .frame = frame & TV_ANY_FRAME,
    };
}

static void exit_down_to(struct tv_chains *chains, size_t depth, uint64_t offset)
{
    while (chains->depth > depth)
        put(chains, TV_EXIT, chains->stack[--chains->depth], offset);
}

void tv_chains_begin(struct tv_chains *chains, unsigned pass, uint32_t thread)
{
    chains->pass = pass;
    chains->thread = thread;
    chains->now = 0;
    chains->latest = 0;
    chains->weight = 0;
    chains->depth = 0;
    chains->events_done = 0;
}

void tv_chains_turn_to(struct tv_chains *chains, uint32_t thread, uint64_t offset)
{
    exit_down_to(chains, 0, offset);
    chains->thread = thread;
    chains->now = 0;
}

void tv_chains_put(struct tv_chains *chains, const uint32_t *frames, size_t depth, tv_ns weight,
                   uint64_t offset)
{
    size_t common = 0;
    while (common < chains->depth && common < depth && chains->stack[common] == frames[common])
        common++;
    exit_down_to(chains, common, offset);
    chains->stack =
        tv_array_reserve(chains->stack, &chains->capacity, depth, sizeof *chains->stack);
    for (size_t i = common; i < depth; i++) {
        put(chains, TV_ENTER, frames[i], offset);
        chains->stack[chains->depth++] = frames[i];
    }
    chains->now += weight;
    chains->weight += weight < INT64_MAX - chains->weight ? weight : INT64_MAX - chains->weight;
    if (chains->now > chains->latest)
        chains->latest = chains->now;
}

void tv_chains_end(struct tv_chains *chains, uint64_t offset)
{
    struct tv_input *input = &chains->head->inputs[chains->input];
    exit_down_to(chains, 0, offset);
    flush(chains);
    input->records = chains->events_done;
    input->weight = chains->weight;
    tv_trace_info_note_saturation(chains->head, chains->weight, 0);
    input->last_wall = chains->latest / input->tick_ns;
}
