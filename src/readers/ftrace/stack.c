/* SPDX-License-Identifier: Apache-2.0 */
/* Lines "=> function" below an event are the stack at it: a sample of its thread. */
#include <string.h>

#include "base/memory.h"
#include "readers/ftrace/merge.h"

/* A stack that may go on in the next part. */
struct pending {
    bool any;
    struct tv_ft_stack stack; /* thread and title are those of the head */
    TV_TABLE(tv_ft_symbol) symbols;
};

/* The innermost function is the first. */
static void tell(struct tv_ft_merge *merge, struct pending *pending)
{
    struct tv_trace *trace = merge->trace;
    uint32_t path = TV_ROOT_PATH;
    if (!pending->any || pending->symbols.count == 0)
        return;
    for (size_t i = pending->symbols.count; i-- > 0;)
        path = tv_paths_child(&trace->paths, path, pending->symbols.rows[i].frame);
    *tv_table_add(&trace->tables.samples) = (struct tv_sample){
        .time = pending->stack.time,
        .weight = 1,
        .offset = pending->stack.offset,
        .thread = pending->stack.task,
        .cpu = pending->stack.cpu,
        .path = path,
        .title = pending->stack.title,
        .input = merge->input,
    };
}

static void begin(struct tv_ft_merge *merge, struct pending *pending,
                  const struct tv_ft_numbers *numbers, const struct tv_ft_stack *stack)
{
    tell(merge, pending);
    pending->any = true;
    pending->stack = *stack;
    pending->stack.task = numbers->threads[stack->task];
    pending->stack.title = numbers->texts[stack->title];
    pending->symbols.count = 0;
}

static void add_symbols(struct pending *pending, const struct tv_ft_part *part,
                        const struct tv_ft_numbers *numbers, const struct tv_ft_stack *stack)
{
    for (uint32_t i = 0; i < stack->count; i++)
        tv_table_add(&pending->symbols)->frame =
            numbers->frames[part->symbols.rows[stack->first + i].frame];
}

void tv_ft_merge_stacks(struct tv_ft_merge *merge)
{
    struct pending pending = {.any = false};
    for (size_t i = 0; i < merge->text_count; i++) {
        const struct tv_ft_text *text = &merge->texts[i];
        const struct tv_ft_part *part = &text->part;
        for (size_t k = 0; k < part->stacks.count; k++) {
            const struct tv_ft_stack *stack = &part->stacks.rows[k];
            if (!stack->goes_on)
                begin(merge, &pending, &merge->numbers[i], stack);
            add_symbols(&pending, part, &merge->numbers[i], stack);
        }
        /* The last event may have its stack in the part behind. */
        if (text->has_last && !text->in_stack)
            begin(merge, &pending, &merge->numbers[i], &text->last);
    }
    tell(merge, &pending);
    tv_free(pending.symbols.rows);
}
