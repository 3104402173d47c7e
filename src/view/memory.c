/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Memory dumps: where they stand, and the figures of one beside those of the other processes that
 * were dumped with it.
 */
#include <math.h>
#include <string.h>

#include "base/bytes.h"
#include "view/members.h"
#include "view/pixels.h"
#include "view/state.h"

#define TOGETHER_LIMIT 256 /* processes of one dump */
#define TOP_LIMIT 64       /* figures of each of them */

/* Those without a process stand behind all processes. */
static uint32_t owner_of(const struct tv_trace *trace, size_t number)
{
    uint32_t process = trace->tables.memory_dumps.rows[number].process;
    uint32_t count = trace->head->process_count;
    return process < count ? process : count;
}

static tv_ns time_of(const struct tv_trace *trace, size_t number)
{
    const struct tv_memory_dump *dump = &trace->tables.memory_dumps.rows[number];
    return tv_trace_time(trace, dump->input, dump->time);
}

/* [dump, time, process, count, level] */
static void write_row(struct tv_out *out, const struct tv_trace *trace,
                      const struct tv_pixel_row *row)
{
    const struct tv_memory_dump *dump = &trace->tables.memory_dumps.rows[row->number];
    tv_member_number(out, "[", row->number);
    tv_member_number(out, ",", row->time);
    tv_member_index(out, ",", dump->process);
    tv_member_number(out, ",", row->count);
    tv_member_text(out, ",", trace->head, dump->level);
    tv_out_char(out, ']');
}

enum tv_status tv_view_memory_dumps(const struct tv_view *view,
                                    const struct tv_parameters *parameters, struct tv_out *out,
                                    struct tv_error *err)
{
    struct tv_moments dumps = {
        .name = "memory_dumps",
        .count = view->trace->tables.memory_dumps.count,
        .owners = (size_t)view->trace->head->process_count + 1,
        .owner = owner_of,
        .time = time_of,
        .write = write_row,
    };
    return tv_moments_write(view, parameters, &dumps, out, err);
}

/* [of, name, units, value] */
static void write_figure(struct tv_out *out, const struct tv_trace_info *head,
                         const struct tv_memory_figure *figure)
{
    tv_member_text(out, "[", head, figure->of);
    tv_member_text(out, ",", head, figure->name);
    tv_member_text(out, ",", head, figure->units);
    if (isfinite(figure->value))
        tv_out_format(out, ",%.17g]", figure->value);
    else
        tv_out_text(out, ",null]");
}

/* Of the process as a whole, or of an allocator and not of a part of one. */
static bool is_top(const struct tv_trace_info *head, const struct tv_memory_figure *figure)
{
    struct tv_bytes of = tv_trace_info_text(head, figure->of);
    return of.length == 0 || !memchr(of.data, '/', of.length);
}

static void write_figures(struct tv_out *out, const struct tv_trace *trace,
                          const struct tv_memory_dump *dump, bool whole)
{
    uint32_t written = 0;
    tv_out_text(out, ",\"figures\":[");
    for (uint32_t i = 0; i < dump->figure_count; i++) {
        const struct tv_memory_figure *figure =
            &trace->tables.memory_figures.rows[dump->first_figure + i];
        if (!whole && (written == TOP_LIMIT || !is_top(trace->head, figure)))
            continue;
        tv_out_text(out, written++ > 0 ? "," : "");
        write_figure(out, trace->head, figure);
    }
    tv_out_char(out, ']');
}

static void write_together(struct tv_out *out, const struct tv_trace *trace, uint32_t number)
{
    const struct tv_memory_dump *rows = trace->tables.memory_dumps.rows;
    uint32_t written = 0;
    tv_out_text(out, ",\"together\":[");
    for (size_t i = 0; i < trace->tables.memory_dumps.count && written < TOGETHER_LIMIT; i++) {
        if (rows[i].id != rows[number].id || rows[i].input != rows[number].input)
            continue;
        tv_member_number(out, written++ > 0 ? ",\n{\"dump\":" : "{\"dump\":", (int64_t)i);
        tv_member_index(out, ",\"process\":", rows[i].process);
        write_figures(out, trace, &rows[i], false);
        tv_out_char(out, '}');
    }
    tv_out_char(out, ']');
}

enum tv_status tv_view_memory_dump(const struct tv_view *view,
                                   const struct tv_parameters *parameters, struct tv_out *out,
                                   struct tv_error *err)
{
    const struct tv_trace *trace = view->trace;
    struct tv_parameter_bounds all = {0, (int64_t)trace->tables.memory_dumps.count - 1};
    int64_t number;
    enum tv_status status = tv_parameter_required(parameters, "dump", all, &number, err);
    if (status != TV_OK)
        return status;
    const struct tv_memory_dump *dump = &trace->tables.memory_dumps.rows[number];
    tv_member_number(out, "{\"dump\":", number);
    tv_member_number(out, ",\"time_ns\":", time_of(trace, (size_t)number));
    tv_member_index(out, ",\"process\":", dump->process);
    tv_member_text(out, ",\"id\":", trace->head, dump->id);
    tv_member_text(out, ",\"level\":", trace->head, dump->level);
    if (dump->offset != TV_NO_OFFSET)
        tv_member_number(out, ",\"offset\":", (int64_t)dump->offset);
    write_figures(out, trace, dump, true);
    write_together(out, trace, (uint32_t)number);
    tv_out_char(out, '}');
    return TV_OK;
}
