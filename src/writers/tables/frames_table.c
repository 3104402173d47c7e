/* SPDX-License-Identifier: Apache-2.0 */
/*
 * frames_table.c - display frames as text, CSV and JSON.
 *
 * All three formats print the same rows, which frames_each selects.  Text shows the deadlines and
 * a summary for each process first; CSV has one row a frame and nothing else, so that it can be
 * read by column; JSON has both.  Figures that are unknown are "-", an empty field, and null.
 */
#include "writers/tables/frames_table.h"

#include <assert.h>

#include "base/bytes.h"
#include "base/map.h"
#include "base/memory.h"
#include "writers/text/layout.h"
#include "writers/text/names.h"
#include "writers/text/text_table.h"

/* Everything that the functions of one table need. */
struct frames_table {
    struct tv_out *out;
    const struct tv_trace *trace;
    const struct tv_display_frames *frames;
    const struct tv_frames_options *options;
    bool several; /* several inputs, so that rows name theirs */
};

/* Microseconds matter: two frames differ by less than the 10 us of other tables. */
static const struct tv_figure_unit frames_unit = {"ms", 1000000, 3};

/* ---- Words ---- */

const char *tv_deadline_source_name(enum tv_deadline_source source)
{
    static const char *const names[] = {
        [TV_DEADLINE_DEFAULT] = "default", [TV_DEADLINE_ARGUMENT] = "argument",
        [TV_DEADLINE_VSYNC] = "vsync",     [TV_DEADLINE_TIMELINE] = "timeline",
        [TV_DEADLINE_STATED] = "stated",
    };
    return names[source];
}

void tv_display_interval_sentence(struct tv_out *out, const struct tv_trace_info *head,
                                  const struct tv_display_interval *interval)
{
    if (interval->source == TV_DEADLINE_STATED) {
        tv_out_text(out, "The trace itself says which frames are late.");
        return;
    }
    tv_out_text(out, "The deadline is ");
    if (interval->source == TV_DEADLINE_TIMELINE) {
        tv_out_text(out, "the end of the expected frame.");
        return;
    }
    tv_out_time(out, interval->period, frames_unit.ns, frames_unit.decimals);
    switch (interval->source) {
    case TV_DEADLINE_VSYNC:
        tv_out_text(out, " ms, the period of ");
        tv_names_line(out, tv_trace_info_text(head, interval->name));
        break;
    case TV_DEADLINE_ARGUMENT:
        tv_out_text(out, " ms, as ");
        tv_names_line(out, tv_trace_info_text(head, interval->name));
        tv_out_text(out, " says");
        break;
    default:
        tv_out_text(out, " ms, that of 60 Hz: the trace says nothing about its display");
    }
    tv_out_char(out, '.');
}

void tv_display_frame_name(struct tv_out *out, const struct tv_trace_info *head, uint32_t frame)
{
    struct tv_out name;
    tv_out_init_memory(&name);
    if (tv_bytes_equal(tv_trace_info_text(head, head->frames[frame].category),
                       TV_BYTES("frame.actual")))
        tv_out_text(&name, "frame ");
    tv_names_method(&name, head, &head->frames[frame]);
    tv_names_line(out, (struct tv_bytes){name.buffer, name.length});
    tv_out_release(&name);
}

/* Return the reason that the trace states for a late frame, or the empty text. */
static struct tv_bytes frames_reason(const struct frames_table *t,
                                     const struct tv_display_frame *frame)
{
    return tv_interner_get(t->frames->reasons, frame->reason);
}

/* Return the process, or NULL when the frame has none. */
static const struct tv_process *frames_process(const struct frames_table *t, uint32_t process)
{
    return process == TV_NONE ? NULL : &t->trace->head->processes[process];
}

/* Return the input of a frame: that of its first call. */
static uint32_t frames_input(const struct frames_table *t, const struct tv_display_frame *frame)
{
    return t->trace->rows[frame->row].input;
}

/* Return the name of the file that a frame is from. */
static struct tv_bytes frames_input_name(const struct frames_table *t,
                                         const struct tv_display_frame *frame)
{
    return tv_trace_info_text(t->trace->head, t->trace->head->inputs[frames_input(t, frame)].name);
}

/* Call `write` for each frame that is asked for; return how many are left out. */
static uint64_t frames_each(const struct frames_table *t,
                            void (*write)(const struct frames_table *t, uint64_t number,
                                          const struct tv_display_frame *frame, void *context),
                            void *context)
{
    uint64_t shown = 0, left_out = 0;
    for (uint32_t i = 0; i < t->frames->count; i++) {
        const struct tv_display_frame *frame = &t->frames->list[i];
        if (t->options->only_late && !frame->late)
            continue;
        if (t->options->limit > 0 && shown == t->options->limit)
            left_out++;
        else
            write(t, shown++, frame, context);
    }
    return left_out;
}

/* ---- Text ---- */

/* Write a sentence for each kind of deadline. */
static void frames_text_deadlines(const struct frames_table *t)
{
    uint32_t count;
    uint32_t *firsts = tv_display_frames_by_deadline(t->frames, &count);
    for (uint32_t i = 0; i < count; i++) {
        const struct tv_display_frame *frame = &t->frames->list[firsts[i]];
        struct tv_display_interval interval = tv_display_frame_interval(t->frames, frame);
        struct tv_out held;
        tv_layout_hold(t->out, &held);
        if (t->several) {
            tv_names_line(&held, frames_input_name(t, frame));
            tv_out_text(&held, ": ");
        }
        tv_display_interval_sentence(&held, t->trace->head, &interval);
        tv_out_char(&held, '\n');
        tv_layout_release(t->out, &held, 0);
    }
    tv_free(firsts);
}

/* Write the figures of a process, or of all processes. */
static void frames_text_group(const struct frames_table *t, struct tv_text_table *table,
                              const struct tv_display_group *group, bool all)
{
    tv_text_table_number(table, group->count);
    tv_text_table_number(table, group->late);
    tv_text_table_share(table, group->late, group->count);
    tv_text_table_figure(table, frames_unit, group->p50);
    tv_text_table_figure(table, frames_unit, group->p95);
    tv_text_table_figure(table, frames_unit, group->p99);
    tv_text_table_figure(table, frames_unit, group->max);
    struct tv_out *out = tv_text_table_name(table, 0);
    if (all)
        tv_out_text(out, "(all)");
    else
        tv_names_process(out, t->trace->head, group->process);
    tv_text_table_end_row(table);
}

/* Write a table of processes. One process alone is shown as the total only. */
static void frames_text_summary(const struct frames_table *t)
{
    static const struct tv_text_column columns[] = {
        {"summary", "Frames", 8, 0, 0},      {"summary", "Late", 8, 0, 0},
        {"summary", "%", 7, 4, 0},           {"summary", "Median ms", 11, 1, 0},
        {"summary", "p95 ms", 11, 2, 0},     {"summary", "p99 ms", 11, 3, 0},
        {"summary", "Longest ms", 12, 1, 0},
    };
    uint32_t count;
    struct tv_display_group *groups = tv_display_groups_of(t->frames, &count);
    struct tv_text_table table;
    tv_text_table_begin(&table, t->out, "Process");
    for (size_t i = 0; i < TV_COUNT(columns); i++)
        tv_text_table_add(&table, &columns[i]);
    for (uint32_t i = 0; i < count; i++)
        if (i > 0 || count > 2)
            frames_text_group(t, &table, &groups[i], i == 0);
    tv_text_table_end(&table);
    tv_free(groups);
}

/* Write a figure, or "-" when it is unknown. */
static void frames_text_figure(struct tv_text_table *table, bool known, tv_ns figure)
{
    if (known)
        tv_text_table_figure(table, frames_unit, figure);
    else
        tv_out_text(tv_text_table_cell(table), "-");
}

/* Write "drawing on thread: cause 7.992 ms (reason)". */
static void frames_text_name(const struct frames_table *t, struct tv_out *out,
                             const struct tv_display_frame *frame)
{
    const struct tv_trace_info *head = t->trace->head;
    tv_display_frame_name(out, head, frame->name);
    tv_out_text(out, frame->unfinished ? " (unfinished)" : "");
    tv_out_text(out, " on ");
    if (frame->thread != TV_NONE)
        tv_names_thread(out, head, frame->thread);
    else
        tv_names_process(out, head, frame->process);
    if (frame->cause != TV_NONE) {
        tv_out_text(out, ": ");
        tv_names_frame(out, head, frame->cause);
        tv_out_char(out, ' ');
        tv_out_time(out, frame->cause_time, frames_unit.ns, frames_unit.decimals);
    }
    if (frame->reason != TV_EMPTY_STRING) {
        tv_out_text(out, ": ");
        tv_names_line(out, frames_reason(t, frame));
    }
}

/* Write a frame. A frame may be late without a deadline, when the trace only says that it was. */
static void frames_text_row(const struct frames_table *t, uint64_t number,
                            const struct tv_display_frame *frame, void *context)
{
    struct tv_text_table *table = context;
    bool deadline = frame->deadline != TV_NO_DEADLINE;
    (void)number;
    tv_text_table_figure(table, frames_unit, frame->start);
    tv_text_table_figure(table, frames_unit, frame->length);
    frames_text_figure(table, deadline, frame->deadline);
    if (frame->late && !deadline)
        tv_out_text(tv_text_table_cell(table), "late");
    else
        frames_text_figure(table, frame->late, deadline ? frame->length - frame->deadline : 0);
    frames_text_figure(table, frame->main > 0, frame->main);
    frames_text_figure(table, frame->render > 0, frame->render);
    frames_text_name(t, tv_text_table_name(table, 0), frame);
    tv_text_table_end_row(table);
}

/* Write the deadlines, a summary, and a line for each frame up to the limit; a last line says how
 * many are left out. */
static void frames_write_text(const struct frames_table *t)
{
    static const struct tv_text_column columns[] = {
        {"start", "Start ms", 14, 0, 0},       {"duration", "Duration ms", 13, 0, 0},
        {"deadline", "Deadline ms", 13, 4, 0}, {"late", "Late by ms", 12, 1, 0},
        {"main", "Main ms", 11, 2, 0},         {"render", "Render ms", 11, 3, 0},
    };
    struct tv_text_table table;
    if (t->frames->count == 0) {
        tv_out_text(t->out, "The trace has no frames that are known, or none in the range.\n");
        return;
    }
    frames_text_deadlines(t);
    tv_out_char(t->out, '\n');
    frames_text_summary(t);
    tv_out_char(t->out, '\n');
    tv_text_table_begin(&table, t->out, "Frame: what took most of its time, in ms");
    for (size_t i = 0; i < TV_COUNT(columns); i++)
        tv_text_table_add(&table, &columns[i]);
    uint64_t left_out = frames_each(t, frames_text_row, &table);
    tv_text_table_end(&table);
    if (left_out > 0) {
        tv_out_counted(t->out, left_out, "frame|frames");
        tv_out_text(t->out, " more; --limit 0 shows all\n");
    }
}

/* ---- CSV ---- */

/* Write a field with a number; it is empty when the number is unknown. */
static void frames_csv_number(const struct frames_table *t, bool known, int64_t value)
{
    tv_out_char(t->out, ',');
    if (known)
        tv_out_i64(t->out, value);
}

/* Write a field with a text. */
static void frames_csv_text(const struct frames_table *t, struct tv_bytes text)
{
    tv_out_char(t->out, ',');
    tv_out_csv(t->out, text);
}

/* Write what `write` makes of a frame's name. */
static void frames_csv_name(const struct frames_table *t, uint32_t frame,
                            void (*write)(struct tv_out *out, const struct tv_trace_info *head,
                                          uint32_t frame))
{
    struct tv_out name;
    tv_out_init_memory(&name);
    if (frame != TV_NONE)
        write(&name, t->trace->head, frame);
    frames_csv_text(t, (struct tv_bytes){name.buffer, name.length});
    tv_out_release(&name);
}

/* Write a frame as a line of CSV; what a frame has not stays empty. */
static void frames_csv_row(const struct frames_table *t, uint64_t number,
                           const struct tv_display_frame *frame, void *context)
{
    const struct tv_trace_info *head = t->trace->head;
    const struct tv_process *process = frames_process(t, frame->process);
    const struct tv_thread *thread =
        frame->thread == TV_NONE ? NULL : &head->threads[frame->thread];
    (void)number;
    (void)context;
    if (t->several) {
        tv_out_csv(t->out, frames_input_name(t, frame));
        tv_out_char(t->out, ',');
    }
    tv_out_i64(t->out, frame->start);
    frames_csv_number(t, true, frame->length);
    frames_csv_number(t, frame->deadline != TV_NO_DEADLINE, frame->deadline);
    frames_csv_text(t,
                    tv_bytes_of(tv_deadline_source_name((enum tv_deadline_source)frame->source)));
    frames_csv_number(t, true, frame->late);
    frames_csv_number(t, true, frame->unfinished);
    frames_csv_number(t, frame->main > 0, frame->main);
    frames_csv_number(t, frame->render > 0, frame->render);
    frames_csv_number(t, process, process ? (int64_t)process->id : 0);
    frames_csv_text(t, process ? tv_trace_info_text(head, process->name) : TV_BYTES(""));
    frames_csv_number(t, thread, thread ? (int64_t)thread->id : 0);
    frames_csv_text(t, thread ? tv_trace_info_text(head, thread->name) : TV_BYTES(""));
    frames_csv_name(t, frame->name, tv_display_frame_name);
    frames_csv_name(t, frame->cause, tv_names_frame);
    frames_csv_number(t, frame->cause != TV_NONE, frame->cause_time);
    frames_csv_text(t, frames_reason(t, frame));
    tv_out_char(t->out, '\n');
}

static void frames_write_csv(const struct frames_table *t)
{
    tv_out_text(t->out, t->several ? "file," : "");
    tv_out_text(t->out, "start_ns,duration_ns,deadline_ns,deadline_from,late,unfinished,main_ns,"
                        "render_ns,process_id,process,thread_id,thread,frame,cause,cause_ns,"
                        "reason\n");
    frames_each(t, frames_csv_row, NULL);
}

/* ---- JSON ---- */

static void frames_json_process(const struct frames_table *t, uint32_t number)
{
    const struct tv_process *process = frames_process(t, number);
    tv_json_put_some_i64(t->out, "", "process_id", process, process ? (int64_t)process->id : 0);
    tv_json_put_text(t->out, ", ", "process",
                     process ? tv_trace_info_text(t->trace->head, process->name) : TV_BYTES(""));
}

/* Write the figures of a process, or of all processes, as members. */
static void frames_json_figures(const struct frames_table *t, const struct tv_display_group *group)
{
    tv_json_put_u64(t->out, "", "frames", group->count);
    tv_json_put_u64(t->out, ", ", "late", group->late);
    tv_json_put_u64(t->out, ", ", "unfinished", group->unfinished);
    tv_json_put_i64(t->out, ", ", "p50_ns", group->p50);
    tv_json_put_i64(t->out, ", ", "p95_ns", group->p95);
    tv_json_put_i64(t->out, ", ", "p99_ns", group->p99);
    tv_json_put_i64(t->out, ", ", "max_ns", group->max);
}

static void frames_json_groups(const struct frames_table *t)
{
    uint32_t count;
    struct tv_display_group *groups = tv_display_groups_of(t->frames, &count);
    frames_json_figures(t, &groups[0]);
    tv_out_text(t->out, ",\n \"processes\": [");
    for (uint32_t i = 1; i < count; i++) {
        tv_out_text(t->out, i > 1 ? ",\n  {" : "\n  {");
        frames_json_process(t, groups[i].process);
        tv_out_text(t->out, ", ");
        frames_json_figures(t, &groups[i]);
        tv_out_char(t->out, '}');
    }
    tv_free(groups);
}

/* Write a member with what `write` makes of a name, or null. */
static void frames_json_name(const struct frames_table *t, const char *key, uint32_t frame,
                             void (*write)(struct tv_out *out, const struct tv_trace_info *head,
                                           uint32_t frame))
{
    struct tv_out name;
    tv_json_put_key(t->out, ", ", key);
    if (frame == TV_NONE) {
        tv_out_text(t->out, "null");
        return;
    }
    tv_out_init_memory(&name);
    write(&name, t->trace->head, frame);
    tv_out_json(t->out, (struct tv_bytes){name.buffer, name.length});
    tv_out_release(&name);
}

/* Write a frame as JSON; what a frame has not is null. */
static void frames_json_row(const struct frames_table *t, uint64_t number,
                            const struct tv_display_frame *frame, void *context)
{
    const struct tv_trace_info *head = t->trace->head;
    const struct tv_thread *thread =
        frame->thread == TV_NONE ? NULL : &head->threads[frame->thread];
    (void)context;
    tv_out_text(t->out, number > 0 ? ",\n  {" : "\n  {");
    tv_json_put_text(t->out, "", "file", frames_input_name(t, frame));
    tv_json_put_i64(t->out, ", ", "start_ns", frame->start);
    tv_json_put_i64(t->out, ", ", "duration_ns", frame->length);
    tv_json_put_some_i64(t->out, ", ", "deadline_ns", frame->deadline != TV_NO_DEADLINE,
                         frame->deadline);
    tv_json_put_text(t->out, ", ", "deadline_from",
                     tv_bytes_of(tv_deadline_source_name((enum tv_deadline_source)frame->source)));
    tv_out_text(t->out, frame->late ? ", \"late\": true" : ", \"late\": false");
    tv_out_text(t->out, frame->unfinished ? ", \"unfinished\": true" : ", \"unfinished\": false");
    tv_json_put_some_i64(t->out, ", ", "main_ns", frame->main > 0, frame->main);
    tv_json_put_some_i64(t->out, ", ", "render_ns", frame->render > 0, frame->render);
    tv_out_text(t->out, ", ");
    frames_json_process(t, frame->process);
    tv_json_put_some_i64(t->out, ", ", "thread_id", thread, thread ? (int64_t)thread->id : 0);
    tv_json_put_text(t->out, ", ", "thread",
                     thread ? tv_trace_info_text(head, thread->name) : TV_BYTES(""));
    frames_json_name(t, "frame", frame->name, tv_display_frame_name);
    frames_json_name(t, "cause", frame->cause, tv_names_frame);
    tv_json_put_some_i64(t->out, ", ", "cause_ns", frame->cause != TV_NONE, frame->cause_time);
    tv_json_put_text(t->out, ", ", "reason", frames_reason(t, frame));
    tv_out_char(t->out, '}');
}

/* Write {"frames", "late", ..., "processes": [...], "list": [...]}. */
static void frames_write_json(const struct frames_table *t)
{
    tv_out_char(t->out, '{');
    frames_json_groups(t);
    tv_out_text(t->out, "],\n \"list\": [");
    frames_each(t, frames_json_row, NULL);
    tv_out_text(t->out, "]}\n");
}

/* ---- Formats ---- */

static bool frames_of_several_inputs(const struct frames_table *t)
{
    for (uint32_t i = 1; i < t->frames->count; i++)
        if (frames_input(t, &t->frames->list[i]) != frames_input(t, &t->frames->list[0]))
            return true;
    return false;
}

void tv_frames_table_write(struct tv_out *out, const struct tv_display_frames *frames,
                           const struct tv_frames_options *options)
{
    struct frames_table t = {out, frames->trace, frames, options, false};
    t.several = frames_of_several_inputs(&t);
    if (options->format == TV_FRAMES_JSON)
        frames_write_json(&t);
    else if (options->format == TV_FRAMES_CSV)
        frames_write_csv(&t);
    else
        frames_write_text(&t);
}
