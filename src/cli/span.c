/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/span.h"

#include "base/memory.h"

static struct tv_span_sink *span_sink_of(struct tv_sink *sink)
{
    return (struct tv_span_sink *)sink;
}

static void span_sink_begin(struct tv_sink *sink, struct tv_head *head, uint32_t input, unsigned parts)
{
    struct tv_span_sink *span = span_sink_of(sink);
    tv_free(span->first);
    span->input = &head->inputs[input];
    span->first = tv_alloc(parts, sizeof *span->first);
    span->parts = parts;
    for (unsigned i = 0; i < parts; i++)
        span->first[i] = INT64_MAX;
    span->inner->ops->begin(span->inner, head, input, parts);
}

static void span_sink_take(struct tv_sink *sink, unsigned pass, unsigned part, const struct tv_batch *batch)
{
    struct tv_span_sink *span = span_sink_of(sink);
    bool wall = span->input->clocks & TV_CLOCK_WALL;
    int64_t first = span->first[part];
    for (size_t i = 0; i < batch->count; i++) {
        int64_t time = wall ? batch->events[i].wall : batch->events[i].cpu;
        first = time < first ? time : first;
    }
    span->first[part] = first;
    span->inner->ops->take(span->inner, pass, part, batch);
}

static enum tv_splice span_sink_splice(struct tv_sink *sink, unsigned pass)
{
    struct tv_sink *inner = span_sink_of(sink)->inner;
    return inner->ops->splice(inner, pass);
}

static void span_sink_end(struct tv_sink *sink)
{
    struct tv_span_sink *span = span_sink_of(sink);
    tv_ns *earliest = &span->earliest[span->input->clocks & TV_CLOCK_WALL ? 0 : 1];
    for (unsigned i = 0; i < span->parts; i++) {
        if (span->first[i] != INT64_MAX && span->first[i] * span->input->tick_ns < *earliest)
            *earliest = span->first[i] * span->input->tick_ns;
    }
    span->inner->ops->end(span->inner);
}

void tv_span_sink_init(struct tv_span_sink *span, struct tv_sink *inner)
{
    *span = (struct tv_span_sink){
        .ops = {.passes = inner->ops->passes,
                .writes = inner->ops->writes,
                .begin = span_sink_begin,
                .take = span_sink_take,
                .splice = span_sink_splice,
                .end = span_sink_end},
        .inner = inner,
        .earliest = {INT64_MAX, INT64_MAX},
    };
    span->sink.ops = &span->ops;
}

void tv_span_sink_release(struct tv_span_sink *span)
{
    tv_free(span->first);
}

tv_ns tv_span_sink_get(const struct tv_span_sink *span, const struct tv_head *head)
{
    bool wall = tv_head_clocks(head) & TV_CLOCK_WALL;
    tv_ns last = INT64_MIN, first = span->earliest[wall ? 0 : 1];
    for (uint32_t i = 0; i < head->input_count; i++) {
        const struct tv_input *input = &head->inputs[i];
        tv_ns time = (wall ? input->last_wall : input->last_cpu) * input->tick_ns;
        if (input->records > 0 && time > last)
            last = time;
    }
    return first == INT64_MAX || last < first ? 0 : last - first;
}
