/* SPDX-License-Identifier: Apache-2.0 */
/*
 * finish.c - joins the events of a file when all of them are known.
 */
#include "base/memory.h"
#include "readers/trace_event/events.h"

void tv_te_join_before_placing(struct tv_te_context *context)
{
    tv_map_init(&context->joined);
    tv_te_id_groups_read(context);
    tv_te_clock_read(context);
    tv_te_samples_read(context);
    tv_te_memory_read(context);
    tv_te_states_read(context);
}

void tv_te_join_beside_placing(void *of)
{
    struct tv_te_context *context = of;
    tv_te_async_pair(context);
    tv_te_async_pair_legacy(context);
    tv_te_objects_read(context);
    context->async_plan =
        tv_async_plan_new(context->trace->head, context->async.rows, context->async.count);
    tv_free(context->async.rows);
    context->async.rows = NULL;
    context->async.count = context->async.capacity = 0;
    tv_te_flows_read(context);
}

void tv_te_join_after_placing(struct tv_te_context *context)
{
    tv_te_states_place(context);
    tv_assembly_async(context->assembly, context->async_plan);
    context->async_plan = NULL;
    tv_paths_rest(&context->trace->paths);
    tv_te_thread_contexts_read(context);
    tv_te_flows_pair(context);
    tv_map_release(&context->joined);
}
