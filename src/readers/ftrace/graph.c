/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The function_graph tracer: its lines, and the slices that they become.
 *
 * Each task has a stack of open calls.  Where lines have no times, calls are laid one after the
 * other by their durations, from the first event on; `clock` of a stack and of a processor keep
 * them in order.
 *
 * Lines with all columns (options funcgraph-abstime, -proc, -cpu, -duration, -overhead):
 *
 *      time          cpu task         duration     function
 *    364.010000 |   3)  bash-4251  |               |  vfs_read() {
 *    364.010001 |   3)  bash-4251  |   0.412 us    |    fsnotify();        a leaf: one line
 *    364.010009 |   3)  bash-4251  | + 12.300 us   |  }
 *                   3)  bash-4251  =>  kworker-33                          a switch
 *                   3)   ==========>  |                                    an interrupt begins
 *
 * Each column may be missing, so columns are told apart by their contents: "3)" is a processor,
 * digits with one point are a time, "us" ends a duration, "-digits" ends a task.
 *
 * An exit need not name its function.  It ends the innermost call, or the nearest open one with
 * its name; calls inside that one end with it.  An exit without such a call ends one that began
 * before the trace.  These calls are kept apart (`unknown`): each contains all that come before
 * it.
 */
#include "readers/ftrace/chunk.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "base/bytes.h"
#include "base/map.h"
#include "base/memory.h"
#include "readers/ftrace/fields.h"
#include "readers/ftrace/merge.h"

#define NS_PER_US 1000
#define NS_PER_S 1000000000
#define MAX_CPUS 65535

/* Longer calls are damaged lines. */
#define LONGEST ((tv_ns)1 << 60)

/* An instant's name is cut to this length when it is an event in a comment. */
#define LONGEST_NAME 128

/* Return the text without its first `count` bytes. */
static struct tv_bytes ft_graph_skip(struct tv_bytes text, size_t count)
{
    return (struct tv_bytes){text.data + count, text.length - count};
}

/* ---- Columns ---- */

/* Parse a time: "364.010000". */
static bool ft_graph_parse_time(struct tv_bytes text, tv_ns *time)
{
    size_t points = 0;
    for (size_t i = 0; i < text.length; i++) {
        points += text.data[i] == '.';
        if (!tv_ft_is_digit(text.data[i]) && text.data[i] != '.')
            return false;
    }
    return points == 1 && tv_ft_is_digit(text.data[0]) && tv_parse_time(text, NS_PER_S, time) &&
           *time < LONGEST;
}

/* Parse a duration: "1.382 us", "+ 12.300 us", "$ 1234567 us". */
static bool ft_graph_parse_duration(struct tv_bytes text, tv_ns *duration)
{
    if (text.length > 0 && memchr("+!#*@$", text.data[0], 6))
        text = tv_bytes_trim(ft_graph_skip(text, 1));
    if (text.length < 4 || memcmp(text.data + text.length - 2, "us", 2) != 0)
        return false;
    text.length -= 2;
    text = tv_bytes_trim(text);
    return text.length > 0 && tv_ft_is_digit(text.data[0]) &&
           tv_parse_time(text, NS_PER_US, duration) && *duration < LONGEST;
}

/* Parse a task: "bash-4251". */
static bool ft_graph_parse_task(struct tv_bytes text, struct tv_bytes *name, int64_t *tid)
{
    size_t digits = text.length;
    while (digits > 0 && tv_ft_is_digit(text.data[digits - 1]))
        digits--;
    if (digits < 1 || digits == text.length || text.data[digits - 1] != '-' ||
        !tv_parse_i64(ft_graph_skip(text, digits), tid) || *tid > INT32_MAX)
        return false;
    *name = (struct tv_bytes){text.data, digits - 1};
    return true;
}

/* Return true for the latency flags, such as "d..2." or "dNh1": 4 to 8 letters, digits or points
 * (ftrace.md section 2). */
static bool ft_graph_are_flags(struct tv_bytes text)
{
    for (size_t i = 0; i < text.length; i++) {
        uint8_t c = text.data[i];
        if (!tv_ft_is_digit(c) && (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') && c != '.' &&
            c != '#')
            return false;
    }
    return text.length >= 4 && text.length <= 8;
}

/* Cut "3)" off the front of a column. */
static bool ft_graph_take_cpu(struct tv_bytes *text, struct tv_ft_graph_line *line)
{
    size_t length = 0;
    uint32_t cpu = 0;
    for (; length < text->length && tv_ft_is_digit(text->data[length]) && cpu <= MAX_CPUS; length++)
        cpu = cpu * 10 + (uint32_t)(text->data[length] - '0');
    if (length == 0 || length == text->length || text->data[length] != ')' || cpu > MAX_CPUS)
        return false;
    line->cpu = cpu;
    line->has_cpu = true;
    *text = tv_bytes_trim(ft_graph_skip(*text, length + 1));
    return true;
}

/* Take a column. Return false when the text is not one. */
static bool ft_graph_take_column(struct tv_bytes column, struct tv_ft_graph_line *line)
{
    column = tv_bytes_trim(column);
    bool known = ft_graph_take_cpu(&column, line);
    if (column.length == 0)
        return true;
    if (tv_bytes_equal(column, TV_BYTES("==========>")) ||
        tv_bytes_equal(column, TV_BYTES("<=========="))) {
        line->kind = column.data[0] == '=' ? TV_FT_GRAPH_INTERRUPT : TV_FT_GRAPH_INTERRUPT_END;
        return true;
    }
    if (ft_graph_parse_duration(column, &line->duration)) {
        line->has_duration = true;
        line->printed = column;
        return true;
    }
    if (!known && ft_graph_parse_time(column, &line->time)) {
        line->has_time = true;
        return true;
    }
    if (ft_graph_parse_task(column, &line->task, &line->tid))
        return true;
    if (!ft_graph_are_flags(column))
        return false;
    line->flags = column;
    return true;
}

/* ---- The last column ---- */

/* Return true when `mark` is at offset `at` of the text. */
static bool ft_graph_has_at(struct tv_bytes text, size_t at, const char *mark)
{
    size_t length = strlen(mark);
    return text.length - at >= length && memcmp(text.data + at, mark, length) == 0;
}

/* Parse "name() {" or "name(a=1);". After the first ')' before a '{' or ';' a comment may
 * follow. */
static bool ft_graph_parse_call(struct tv_bytes text, struct tv_ft_graph_line *line)
{
    const uint8_t *open = text.length > 0 ? memchr(text.data, '(', text.length) : NULL;
    if (!open || open == text.data)
        return false;
    line->name = tv_bytes_trim((struct tv_bytes){text.data, (size_t)(open - text.data)});
    /* Only a module may follow the name: "name [module]". */
    const uint8_t *space = memchr(line->name.data, ' ', line->name.length);
    if (line->name.length == 0 ||
        (space && !ft_graph_has_at(text, (size_t)(space - text.data), " [")))
        return false;
    for (size_t i = (size_t)(open - text.data); i < text.length; i++) {
        line->kind = ft_graph_has_at(text, i, ");") ? TV_FT_GRAPH_LEAF : TV_FT_GRAPH_ENTRY;
        if (line->kind == TV_FT_GRAPH_LEAF || ft_graph_has_at(text, i, ") {"))
            return true;
    }
    return false;
}

/* Return the content of a comment; data NULL when the text is none. */
static struct tv_bytes ft_graph_parse_comment(struct tv_bytes text)
{
    if (text.length < 4 || memcmp(text.data, "/*", 2) != 0)
        return (struct tv_bytes){NULL, 0};
    text = tv_bytes_trim(ft_graph_skip(text, 2));
    if (text.length >= 2 && memcmp(text.data + text.length - 2, "*/", 2) == 0)
        text.length -= 2;
    return tv_bytes_trim(text);
}

/* Parse the function column: "}", a comment, which is an event or trace_printk, or a call. */
static bool ft_graph_parse_text(struct tv_bytes text, struct tv_ft_graph_line *line)
{
    line->text = text;
    line->name = (struct tv_bytes){NULL, 0};
    if (text.length > 0 && text.data[0] == '}') {
        line->kind = TV_FT_GRAPH_EXIT;
        struct tv_bytes name = ft_graph_parse_comment(tv_bytes_trim(ft_graph_skip(text, 1)));
        line->returns = name.length > 0 && memchr(name.data, '=', name.length) != NULL;
        /* The comment may hold something other than the name: "<-caller", "ret=0". */
        if (name.length > 0 && name.data[0] != '<' &&
            !tv_bytes_starts_with(name, TV_BYTES("ret")) && name.data[0] != '=')
            line->name = tv_ft_first_word(name);
        return text.length == 1 || name.length > 0 ||
               tv_bytes_trim(ft_graph_skip(text, 1)).length == 0;
    }
    line->name = ft_graph_parse_comment(text);
    if (line->name.length > 0) {
        line->kind = TV_FT_GRAPH_EVENT;
        return true;
    }
    return ft_graph_parse_call(text, line);
}

/* Parse a switch: "kworker-33  =>  bash-4251". */
static bool ft_graph_parse_switch(struct tv_bytes text, struct tv_ft_graph_line *line)
{
    struct tv_bytes next = tv_ft_after(text, " => ");
    if (next.data == NULL)
        return false;
    struct tv_bytes left = {text.data, (size_t)(next.data - text.data) - 4};
    line->kind = TV_FT_GRAPH_SWITCH;
    return ft_graph_parse_task(tv_bytes_trim(left), &line->task, &line->tid) &&
           ft_graph_parse_task(tv_bytes_trim(next), &line->next, &line->next_tid);
}

bool tv_ft_graph_parse(struct tv_bytes text, struct tv_ft_graph_line *line)
{
    *line = (struct tv_ft_graph_line){
        .kind = TV_FT_GRAPH_ENTRY, .tid = TV_FT_NO_ID, .next_tid = TV_FT_NO_ID};
    bool any = false;
    for (;;) {
        const uint8_t *bar = text.length > 0 ? memchr(text.data, '|', text.length) : NULL;
        size_t length = bar ? (size_t)(bar - text.data) : 0;
        if (!bar || !ft_graph_take_column((struct tv_bytes){text.data, length}, line))
            break;
        any = true;
        text = ft_graph_skip(text, length + 1);
    }
    text = tv_bytes_trim(text);
    any |= ft_graph_take_cpu(&text, line);
    if (!any)
        return false;
    if (text.length == 0)
        return line->kind == TV_FT_GRAPH_INTERRUPT || line->kind == TV_FT_GRAPH_INTERRUPT_END;
    return ft_graph_parse_text(text, line) || (line->has_cpu && ft_graph_parse_switch(text, line));
}

bool tv_ft_graph_parse_event(struct tv_bytes details, struct tv_ft_graph_line *line)
{
    return tv_ft_graph_parse(details, line) && !line->has_time && !line->has_cpu;
}

/* ---- Rows of the chunk ---- */

/* Handle an event in a comment like any other when the line has its time, task and processor. */
static bool ft_graph_take_event(struct tv_ft_chunk *chunk, const struct tv_ft_graph_line *line,
                                uint64_t offset)
{
    struct tv_bytes details = tv_ft_after(line->name, ": ");
    if (!line->has_time || line->tid == TV_FT_NO_ID || details.data == NULL)
        return false;
    struct tv_ft_line event = {
        .task = line->task,
        .tid = line->tid,
        .tgid = TV_FT_NO_ID,
        .cpu = line->cpu,
        .flags = line->flags,
        .time = line->time,
        .event = {line->name.data, (size_t)(details.data - line->name.data) - 2},
        .details = details,
    };
    tv_ft_chunk_take_event(chunk, &event, offset);
    return true;
}

/* Return the frame of a line; TV_NONE for an exit without a name. */
static uint32_t ft_graph_frame(struct tv_ft_chunk *chunk, const struct tv_ft_graph_line *line)
{
    if (line->kind == TV_FT_GRAPH_INTERRUPT || line->kind == TV_FT_GRAPH_INTERRUPT_END)
        return tv_ft_chunk_frame(chunk, TV_BYTES("interrupt"), "function");
    if (line->name.length == 0)
        return TV_NONE;
    if (line->kind != TV_FT_GRAPH_EVENT)
        return tv_ft_chunk_frame(chunk, line->name, "function");
    struct tv_bytes details = tv_ft_after(line->name, ": "), name = line->name;
    if (details.data)
        name.length = (size_t)(details.data - name.data) - 2;
    if (name.length > LONGEST_NAME)
        name.length = LONGEST_NAME;
    return tv_ft_chunk_frame(chunk, name, "ftrace");
}

/* Return the task with a tid and note its name; TV_NONE when the line has no task. */
static uint32_t ft_graph_find_task(struct tv_ft_chunk *chunk, struct tv_bytes name, int64_t tid,
                                   uint64_t offset)
{
    if (tid == TV_FT_NO_ID)
        return TV_NONE;
    uint32_t task = tv_ft_chunk_task(chunk, tid);
    chunk->tasks.rows[task].used = true;
    tv_ft_chunk_see_task_name(chunk, task, name, offset);
    return task;
}

void tv_ft_graph_add(struct tv_ft_chunk *chunk, const struct tv_ft_graph_line *line,
                     uint64_t offset)
{
    if (line->kind == TV_FT_GRAPH_EVENT && ft_graph_take_event(chunk, line, offset))
        return;
    uint32_t task = ft_graph_find_task(chunk, line->task, line->tid, offset);
    uint32_t next = ft_graph_find_task(chunk, line->next, line->next_tid, offset);
    *tv_table_add(&chunk->graph) = (struct tv_ft_graph){
        .time = line->has_time ? line->time : TV_NO_TIME,
        .duration = line->has_duration ? line->duration : TV_NO_TIME,
        .offset = offset & TV_OFFSET_MASK,
        .cpu = line->cpu & 0xffff,
        .kind = line->kind & 0x7f,
        .returns = line->returns,
        .task = task,
        .frame = line->kind == TV_FT_GRAPH_SWITCH ? next : ft_graph_frame(chunk, line),
    };
    chunk->events += line->kind != TV_FT_GRAPH_SWITCH;
    if (!line->has_time)
        return;
    tv_ft_chunk_note_time(chunk, line->time);
}

/* ---- Slices of all chunks ---- */

/* Deeper calls are dropped: the kernel's tracer itself stops at 50. */
#define DEEPEST 4096u

struct ft_open_call {
    size_t place; /* index in `emitted`: a call is there before the calls that it makes */
    bool interrupt;
};

struct ft_call_stack {
    uint32_t thread;
    int64_t clock; /* no later line begins or ends a call before this time */
    TV_TABLE(ft_open_call) open;
};

struct ft_call_cpu {
    int64_t clock;   /* for lines without times */
    uint32_t thread; /* the running thread; TV_NONE: unknown */
};

struct ft_calls {
    struct tv_ft_merge *merge;
    struct tv_ft_emitter emitter;
    TV_TABLE(ft_call_stack) stacks;
    struct tv_map stack_of; /* thread -> index */
    TV_TABLE(tv_ft_emitted) emitted;
    TV_TABLE(tv_ft_emitted) unknown; /* calls that began before the trace, innermost first */
    TV_TABLE(ft_call_cpu) processors;
    struct tv_map lanes; /* cpu -> pseudo-thread for calls of an unknown task */
    int64_t base;        /* the time at which lines without times begin */
    bool relative;
};

/* Return the state of a processor. */
static struct ft_call_cpu *ft_calls_find_cpu(struct ft_calls *p, uint32_t cpu)
{
    while (p->processors.count <= cpu)
        *tv_table_add(&p->processors) = (struct ft_call_cpu){p->base, TV_NONE};
    return &p->processors.rows[cpu];
}

/* The first switch of a processor shows which task ran before it. */
static void ft_calls_find_first_tasks(struct ft_calls *p)
{
    struct tv_ft_merge *merge = p->merge;
    for (size_t i = 0; i < merge->reader_count; i++) {
        const struct tv_ft_chunk *chunk = &merge->readers[i].chunk;
        for (size_t k = 0; k < chunk->graph.count; k++) {
            const struct tv_ft_graph *row = &chunk->graph.rows[k];
            struct ft_call_cpu *processor = ft_calls_find_cpu(p, row->cpu);
            if (row->kind == TV_FT_GRAPH_SWITCH && processor->thread == TV_NONE)
                processor->thread = merge->numbers[i].threads[row->task];
        }
    }
}

/* Return the pseudo-thread for calls of unknown tasks: "functions cpu 3". */
static uint32_t ft_calls_find_lane(struct ft_calls *p, uint32_t cpu)
{
    uint32_t thread = tv_map_find(&p->lanes, cpu);
    char name[32];
    if (thread != TV_NONE)
        return thread;
    snprintf(name, sizeof name, "functions cpu %u", cpu);
    thread = tv_ft_merge_pseudo_thread(p->merge, tv_bytes_of(name));
    tv_map_set(&p->lanes, cpu, thread);
    return thread;
}

/* Return the stack of open calls of a thread. */
static struct ft_call_stack *ft_calls_find_stack(struct ft_calls *p, uint32_t thread)
{
    uint32_t number = tv_map_add(&p->stack_of, thread, (uint32_t)p->stacks.count);
    if (number == p->stacks.count)
        *tv_table_add(&p->stacks) = (struct ft_call_stack){.thread = thread, .clock = INT64_MIN};
    return &p->stacks.rows[number];
}

/* Add a duration to a time; ignore it when it is unknown or overflows. */
static int64_t ft_calls_add_duration(int64_t time, int64_t duration)
{
    return duration == TV_NO_TIME || duration > INT64_MAX - time ? time : time + duration;
}

/* Add a call; its length is TV_NO_TIME while it is open. */
static size_t ft_calls_add_call(struct ft_calls *p, struct ft_call_stack *stack,
                                const struct tv_ft_emitted *call)
{
    *tv_table_add(&p->emitted) = *call;
    stack->clock = call->length == TV_NO_TIME ? call->start : call->start + call->length;
    return p->emitted.count - 1;
}

/* Open a call. The table `emitted` gets it at once, because a call must come before its children
 * there; its length follows with its exit. */
static void ft_calls_begin_call(struct ft_calls *p, struct ft_call_stack *stack,
                                const struct tv_ft_emitted *call, bool interrupt)
{
    assert(stack->open.count < DEEPEST);
    struct tv_ft_emitted begun = *call;
    begun.length = TV_NO_TIME;
    size_t place = ft_calls_add_call(p, stack, &begun);
    *tv_table_add(&stack->open) = (struct ft_open_call){place, interrupt};
}

/* End the innermost call, but not before the calls that it made. */
static void ft_calls_close_call(struct ft_calls *p, struct ft_call_stack *stack, int64_t time)
{
    assert(stack->open.count > 0);
    struct tv_ft_emitted *call = &p->emitted.rows[stack->open.rows[--stack->open.count].place];
    stack->clock = time < stack->clock ? stack->clock : time;
    call->length = stack->clock - call->start;
}

/* Return the level of the call that an exit ends; open.count when the call began before the
 * trace. */
static size_t ft_calls_find_level(const struct ft_calls *p, const struct ft_call_stack *stack,
                                  const struct tv_ft_graph *row, uint32_t frame)
{
    size_t level = stack->open.count;
    bool interrupt = row->kind == TV_FT_GRAPH_INTERRUPT_END;
    while (level-- > 0) {
        const struct ft_open_call *call = &stack->open.rows[level];
        if (interrupt ? call->interrupt
                      : frame == TV_NONE || p->emitted.rows[call->place].frame == frame)
            return level;
    }
    return stack->open.count;
}

/* Add a call that began before the trace; its duration, if the line has one, gives the start. */
static void ft_calls_end_unknown(struct ft_calls *p, struct ft_call_stack *stack,
                                 const struct tv_ft_graph *row, const struct tv_ft_emitted *end)
{
    struct tv_ft_emitted call = *end;
    tv_diagnostics_add(&p->merge->trace->head->diagnostics, TV_DIAGNOSTIC_UNMATCHED_EXIT,
                       row->offset);
    if (call.frame == TV_NONE)
        call.frame = tv_ft_merge_frame(p->merge, TV_BYTES("(unknown function)"), "function");
    call.start = p->base < end->start ? p->base : end->start;
    if (row->duration != TV_NO_TIME && end->start - row->duration > call.start)
        call.start = end->start - row->duration;
    call.length = end->start - call.start;
    *tv_table_add(&p->unknown) = call;
    stack->clock = end->start;
}

/* End a call, and the calls that are open inside it. A printed duration is more precise than the
 * times of the lines. */
static void ft_calls_end_call(struct ft_calls *p, struct ft_call_stack *stack,
                              const struct tv_ft_graph *row, const struct tv_ft_emitted *end)
{
    size_t level = ft_calls_find_level(p, stack, row, end->frame);
    if (level == stack->open.count) {
        ft_calls_end_unknown(p, stack, row, end);
        return;
    }
    while (stack->open.count > level + 1) {
        tv_diagnostics_add(&p->merge->trace->head->diagnostics, TV_DIAGNOSTIC_MISSING_EXIT,
                           p->emitted.rows[stack->open.rows[stack->open.count - 1].place].offset);
        ft_calls_close_call(p, stack, end->start);
    }
    const struct tv_ft_emitted *call = &p->emitted.rows[stack->open.rows[level].place];
    int64_t start = call->start;
    if (row->returns)
        *tv_table_add(&p->merge->slice_ends) = (struct tv_ft_slice_end){
            .slice = {call->thread, start, 0, call->offset, TV_FT_BY_EVENT},
            .end_offset = row->offset};
    ft_calls_close_call(p, stack,
                        row->duration == TV_NO_TIME ? end->start
                                                    : ft_calls_add_duration(start, row->duration));
}

/* Extend the range of the trace. Without times in the lines it reaches from the first call to
 * the last. */
static void ft_calls_extend_times(struct tv_ft_merge *merge, const struct tv_ft_emitted *emitted)
{
    int64_t end = emitted->start + (emitted->length == TV_NO_TIME ? 0 : emitted->length);
    merge->first = emitted->start < merge->first ? emitted->start : merge->first;
    merge->last = end > merge->last ? end : merge->last;
}

/* Replay a line: find its thread and time, then begin or end calls. */
static void ft_calls_take_row(struct ft_calls *p, const struct tv_ft_numbers *numbers,
                              const struct tv_ft_graph *row)
{
    struct ft_call_cpu *processor = ft_calls_find_cpu(p, row->cpu);
    if (row->kind == TV_FT_GRAPH_SWITCH) {
        processor->thread = numbers->threads[row->frame];
        return;
    }
    uint32_t thread = row->task != TV_NONE ? numbers->threads[row->task] : processor->thread;
    struct ft_call_stack *stack =
        ft_calls_find_stack(p, thread != TV_NONE ? thread : ft_calls_find_lane(p, row->cpu));
    uint32_t frame = row->frame == TV_NONE ? TV_NONE : numbers->frames[row->frame];
    int64_t time = row->time == TV_NO_TIME ? processor->clock : row->time;
    p->relative |= row->time == TV_NO_TIME;
    struct tv_ft_emitted emitted = {stack->thread, frame, time < stack->clock ? stack->clock : time,
                                    0, row->offset};
    if (row->kind == TV_FT_GRAPH_EVENT) {
        tv_ft_emit_instant(&p->emitter, &emitted);
        ft_calls_extend_times(p->merge, &emitted);
    } else if (row->kind == TV_FT_GRAPH_EXIT || row->kind == TV_FT_GRAPH_INTERRUPT_END) {
        ft_calls_end_call(p, stack, row, &emitted);
    } else if (row->kind == TV_FT_GRAPH_LEAF) {
        emitted.length = ft_calls_add_duration(emitted.start, row->duration) - emitted.start;
        ft_calls_add_call(p, stack, &emitted);
    } else if (stack->open.count == DEEPEST) {
        tv_diagnostics_add(&p->merge->trace->head->diagnostics, TV_DIAGNOSTIC_TOO_DEEP,
                           row->offset);
    } else {
        ft_calls_begin_call(p, stack, &emitted, row->kind == TV_FT_GRAPH_INTERRUPT);
    }
    if (row->time == TV_NO_TIME && stack->clock > processor->clock)
        processor->clock = stack->clock;
}

/* Emit all calls. Calls that are still open last until the end of the trace. */
static void ft_calls_emit_all(struct ft_calls *p)
{
    /* If calls have the same times, the assembly nests the later one into the earlier one. Calls
     * that began before the trace come first, the last to end outermost. */
    for (size_t i = p->unknown.count; i-- > 0;) {
        ft_calls_extend_times(p->merge, &p->unknown.rows[i]);
        tv_ft_emit_slice(&p->emitter, &p->unknown.rows[i]);
    }
    for (size_t i = 0; i < p->emitted.count; i++) {
        struct tv_ft_emitted *call = &p->emitted.rows[i];
        ft_calls_extend_times(p->merge, call);
        if (call->length != TV_NO_TIME) {
            tv_ft_emit_slice(&p->emitter, call);
            continue;
        }
        call->length = 0;
        tv_ft_emit_open_slice(&p->emitter, call);
    }
    for (size_t i = 0; i < p->stacks.count; i++)
        tv_free(p->stacks.rows[i].open.rows);
}

/* Turn lines of function_graph into calls, in the order of the file over all chunks. Without
 * absolute times the trace says so: what is then shown as position is only order. */
static void ft_calls_place_all(struct ft_calls *p)
{
    struct tv_ft_merge *merge = p->merge;
    ft_calls_find_first_tasks(p);
    for (size_t i = 0; i < merge->reader_count; i++) {
        const struct tv_ft_chunk *chunk = &merge->readers[i].chunk;
        for (size_t k = 0; k < chunk->graph.count; k++)
            ft_calls_take_row(p, &merge->numbers[i], &chunk->graph.rows[k]);
    }
    ft_calls_emit_all(p);
    if (p->relative)
        tv_trace_info_add_metadata(
            merge->trace->head, merge->input, TV_BYTES("times"),
            TV_BYTES("relative: calls lie one after the other by durations"));
}

void tv_ft_merge_calls(struct tv_ft_merge *merge)
{
    struct ft_calls p = {.merge = merge, .base = merge->first <= merge->last ? merge->first : 0};
    size_t rows = 0;
    for (size_t i = 0; i < merge->reader_count; i++)
        rows += merge->readers[i].chunk.graph.count;
    if (rows == 0)
        return;
    tv_map_init(&p.stack_of);
    tv_map_init(&p.lanes);
    tv_ft_emitter_init(&p.emitter, merge);
    ft_calls_place_all(&p);
    tv_ft_emitter_finish(&p.emitter);
    tv_map_release(&p.stack_of);
    tv_map_release(&p.lanes);
    tv_free(p.stacks.rows);
    tv_free(p.emitted.rows);
    tv_free(p.unknown.rows);
    tv_free(p.processors.rows);
}
