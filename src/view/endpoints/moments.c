/* SPDX-License-Identifier: Apache-2.0 */
/*
 * moments.c - events that are points in time: instants, samples and memory
 * dumps, merged by pixel.
 *
 * A trace has millions of points, a screen two thousand pixels.  An owner is
 * what is drawn in one line (a thread, a process, a lane).  Points of one owner
 * in one pixel become a mark with a count:
 *
 *     owner 7   . .. .      . .        -->   3     1     2       marks
 *               |----|----|----|----|        pixels
 *
 * The mark remembers the first of its points, which answers a click.  The
 * answer has at most TV_PIXEL_ROWS marks; `left_out` says how many points got
 * none.  The points of an owner are added in the order of time, so only its last
 * mark can grow: `open` has it.
 */
#include <assert.h>
#include <math.h>
#include <string.h>

#include "base/bytes.h"
#include "base/memory.h"
#include "view/internal.h"

/* Pixels: something at least so wide is drawn as a bar of its own and never
 * merged. */
#define WIDE 2

void tv_pixels_init(struct tv_pixels *pixels, const struct tv_view_window *window, size_t owners)
{
    *pixels = (struct tv_pixels){.window = *window};
    pixels->open = tv_alloc(owners > 0 ? owners : 1, sizeof *pixels->open);
}

void tv_pixels_release(struct tv_pixels *pixels)
{
    tv_free(pixels->rows);
    tv_free(pixels->open);
}

double tv_pixels_at(const struct tv_pixels *pixels, tv_ns time)
{
    const struct tv_view_window *window = &pixels->window;
    return ((double)time - (double)window->from) * (double)window->pixels /
           ((double)window->to - (double)window->from);
}

void tv_pixels_add(struct tv_pixels *pixels, uint32_t owner, uint32_t number, tv_ns time, tv_ns end)
{
    assert(end >= time);
    double at = tv_pixels_at(pixels, time);
    bool wide = tv_pixels_at(pixels, end) - at >= WIDE;
    uint32_t *open = &pixels->open[owner];
    if (*open > 0 && !wide) {
        struct tv_pixel_row *last = &pixels->rows[*open - 1];
        if (floor(tv_pixels_at(pixels, last->time)) == floor(at)) {
            last->count++;
            last->end = end > last->end ? end : last->end;
            return;
        }
    }
    if (pixels->count == TV_PIXEL_ROWS) {
        pixels->left_out++;
        return;
    }
    pixels->rows = tv_array_reserve(pixels->rows, &pixels->capacity, (size_t)pixels->count + 1,
                                    sizeof *pixels->rows);
    pixels->rows[pixels->count++] = (struct tv_pixel_row){number, 1, owner, time, end};
    *open = wide ? 0 : pixels->count;
}

enum tv_status tv_view_moments_write(const struct tv_view *view,
                                     const struct tv_parameters *parameters,
                                     const struct tv_moments *moments, struct tv_out *out,
                                     struct tv_error *err)
{
    const struct tv_trace *trace = view->trace;
    struct tv_view_window window;
    struct tv_pixels pixels;
    enum tv_status status = tv_parameter_window(parameters, trace, TV_PIXEL_LIMIT, &window, err);
    if (status != TV_OK)
        return status;
    tv_pixels_init(&pixels, &window, moments->owners);
    for (size_t i = 0; i < moments->count; i++) {
        tv_ns time = moments->time(trace, i);
        if (time >= window.from && time < window.to)
            tv_pixels_add(&pixels, moments->owner(trace, i), (uint32_t)i, time, time);
    }
    tv_out_format(out, "{\"%s\":[", moments->name);
    for (uint32_t i = 0; i < pixels.count; i++) {
        tv_out_text(out, i > 0 ? ",\n" : "");
        moments->write(out, trace, &pixels.rows[i]);
    }
    tv_member_number(out, "],\"left_out\":", (int64_t)pixels.left_out);
    tv_out_char(out, '}');
    tv_pixels_release(&pixels);
    return TV_OK;
}

/* ---- Instants ----
 */

/* Owners: threads, then processes, then tracks, then the trace. */
static uint32_t view_instant_owner(const struct tv_trace *trace, size_t number)
{
    const struct tv_instant *instant = &trace->tables.instants.rows[number];
    uint32_t threads = trace->head->thread_count, processes = trace->head->process_count;
    if (instant->scope == TV_SCOPE_THREAD && instant->of < threads)
        return instant->of;
    if (instant->scope == TV_SCOPE_PROCESS && instant->of < processes)
        return threads + instant->of;
    if (instant->scope == TV_SCOPE_TRACK)
        return threads + processes + instant->of;
    return threads + processes + trace->track_count;
}

static tv_ns view_instant_time(const struct tv_trace *trace, size_t number)
{
    const struct tv_instant *instant = &trace->tables.instants.rows[number];
    return tv_trace_time(trace, instant->input, instant->time);
}

/* [instant, time, frame, scope, of, count, colour] */
static void view_instant_write_row(struct tv_out *out, const struct tv_trace *trace,
                                   const struct tv_pixel_row *row)
{
    const struct tv_instant *instant = &trace->tables.instants.rows[row->number];
    tv_out_format(out, "[%u,", row->number);
    tv_out_i64(out, row->time);
    tv_out_format(out, ",%u,%u,", instant->frame, instant->scope);
    tv_out_i64(out, instant->of == TV_NONE ? -1 : (int64_t)instant->of);
    tv_out_format(out, ",%u,%u]", row->count, instant->colour);
}

/* Answer api/instants: the instants of a range as marks. */
enum tv_status tv_view_instants(const struct tv_view *view, const struct tv_parameters *parameters,
                                struct tv_out *out, struct tv_error *err)
{
    const struct tv_trace_info *head = view->trace->head;
    struct tv_moments instants = {
        .name = "instants",
        .count = view->trace->tables.instants.count,
        .owners = (size_t)head->thread_count + head->process_count + view->trace->track_count + 1,
        .owner = view_instant_owner,
        .time = view_instant_time,
        .write = view_instant_write_row,
    };
    return tv_view_moments_write(view, parameters, &instants, out, err);
}

/* Answer api/instant: one instant with its event. */
enum tv_status tv_view_instant(const struct tv_view *view, const struct tv_parameters *parameters,
                               struct tv_out *out, struct tv_error *err)
{
    const struct tv_trace *trace = view->trace;
    int64_t number;
    enum tv_status status = tv_parameter_required(
        parameters, "instant",
        (struct tv_parameter_bounds){0, (int64_t)trace->tables.instants.count - 1}, &number, err);
    if (status != TV_OK)
        return status;
    const struct tv_instant *instant = &trace->tables.instants.rows[number];
    struct tv_view_event event = {instant->input, instant->frame, instant->offset, TV_NO_OFFSET};
    tv_out_text(out, "{\"instant\":");
    tv_out_i64(out, number);
    tv_out_text(out, ",\"time_ns\":");
    tv_out_i64(out, view_instant_time(trace, (size_t)number));
    tv_out_format(out, ",\"frame\":%u,\"scope\":%u,\"of\":", instant->frame, instant->scope);
    tv_out_i64(out, instant->of == TV_NONE ? -1 : (int64_t)instant->of);
    if (instant->colour > 0)
        tv_out_format(out, ",\"colour\":%u", instant->colour);
    tv_view_write_event(out, trace, &event);
    tv_out_char(out, '}');
    return TV_OK;
}

/* ---- Samples ----
 */

/* Samples without a thread come after all threads. */
static uint32_t view_sample_owner(const struct tv_trace *trace, size_t number)
{
    uint32_t thread = trace->tables.samples.rows[number].thread;
    uint32_t count = trace->head->thread_count;
    return thread < count ? thread : count;
}

static tv_ns view_sample_time(const struct tv_trace *trace, size_t number)
{
    const struct tv_sample *sample = &trace->tables.samples.rows[number];
    return tv_trace_time(trace, sample->input, sample->time);
}

/* Return the innermost frame of a sample's stack; TV_NONE if it is empty. */
static uint32_t view_sample_leaf(const struct tv_trace *trace, const struct tv_sample *sample)
{
    return sample->path == TV_ROOT_PATH ? TV_NONE : trace->paths.nodes[sample->path].frame;
}

/* [sample, time, frame, thread, count] */
static void view_sample_write_row(struct tv_out *out, const struct tv_trace *trace,
                                  const struct tv_pixel_row *row)
{
    const struct tv_sample *sample = &trace->tables.samples.rows[row->number];
    tv_member_number(out, "[", row->number);
    tv_member_number(out, ",", row->time);
    tv_member_index(out, ",", view_sample_leaf(trace, sample));
    tv_member_index(out, ",", sample->thread);
    tv_member_number(out, ",", row->count);
    tv_out_char(out, ']');
}

/* Answer api/samples: the samples of a range as marks. */
enum tv_status tv_view_samples(const struct tv_view *view, const struct tv_parameters *parameters,
                               struct tv_out *out, struct tv_error *err)
{
    struct tv_moments samples = {
        .name = "samples",
        .count = view->trace->tables.samples.count,
        .owners = (size_t)view->trace->head->thread_count + 1,
        .owner = view_sample_owner,
        .time = view_sample_time,
        .write = view_sample_write_row,
    };
    return tv_view_moments_write(view, parameters, &samples, out, err);
}

/* Write the frames of a stack, outermost first. */
static void view_sample_write_stack(struct tv_out *out, const struct tv_trace *trace, uint32_t path)
{
    size_t depth;
    uint32_t *frames = tv_path_frames(trace, path, &depth);
    tv_out_text(out, ",\"stack\":[");
    for (size_t i = 0; i < depth; i++)
        tv_member_number(out, i > 0 ? "," : "", frames[i]);
    tv_out_char(out, ']');
    tv_free(frames);
}

/* Return the nearest sample of the same thread in a direction; TV_NONE if there is none. */
static uint32_t view_sample_neighbour(const struct tv_trace *trace, size_t number, bool later)
{
    const struct tv_sample *rows = trace->tables.samples.rows;
    size_t count = trace->tables.samples.count;
    for (size_t i = later ? number + 1 : number - 1; i < count; i = later ? i + 1 : i - 1)
        if (rows[i].thread == rows[number].thread)
            return (uint32_t)i;
    return TV_NONE;
}

/* Answer api/sample: one sample with its stack, and its neighbours in the
 * thread. */
enum tv_status tv_view_sample(const struct tv_view *view, const struct tv_parameters *parameters,
                              struct tv_out *out, struct tv_error *err)
{
    const struct tv_trace *trace = view->trace;
    struct tv_parameter_bounds all = {0, (int64_t)trace->tables.samples.count - 1};
    int64_t number;
    enum tv_status status = tv_parameter_required(parameters, "sample", all, &number, err);
    if (status != TV_OK)
        return status;
    const struct tv_sample *sample = &trace->tables.samples.rows[number];
    tv_member_number(out, "{\"sample\":", number);
    tv_member_number(out, ",\"time_ns\":", view_sample_time(trace, (size_t)number));
    tv_member_number(out, ",\"weight\":", sample->weight);
    tv_member_index(out, ",\"thread\":", sample->thread);
    tv_member_index(out, ",\"cpu\":", sample->cpu);
    tv_member_text(out, ",\"title\":", trace->head, tv_sample_title(&trace->tables, sample));
    view_sample_write_stack(out, trace, sample->path);
    tv_member_index(out, ",\"previous\":", view_sample_neighbour(trace, (size_t)number, false));
    tv_member_index(out, ",\"next\":", view_sample_neighbour(trace, (size_t)number, true));
    if (sample->offset != TV_NO_OFFSET)
        tv_member_number(out, ",\"offset\":", (int64_t)sample->offset);
    tv_out_char(out, '}');
    return TV_OK;
}

/* ---- Memory dumps: the figures of a dump, next to those of processes dumped at the same time
 * ----
 */

#define TOGETHER_LIMIT 256 /* processes per dump */
#define TOP_LIMIT 64       /* figures per process */

/* Dumps without a process come after all processes. */
static uint32_t view_dump_owner(const struct tv_trace *trace, size_t number)
{
    uint32_t process = trace->tables.memory_dumps.rows[number].process;
    uint32_t count = trace->head->process_count;
    return process < count ? process : count;
}

static tv_ns view_dump_time(const struct tv_trace *trace, size_t number)
{
    const struct tv_memory_dump *dump = &trace->tables.memory_dumps.rows[number];
    return tv_trace_time(trace, dump->input, dump->time);
}

/* [dump, time, process, count, level] */
static void view_dump_write_row(struct tv_out *out, const struct tv_trace *trace,
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

/* Answer api/memory_dumps: the dumps of a range as marks. */
enum tv_status tv_view_memory_dumps(const struct tv_view *view,
                                    const struct tv_parameters *parameters, struct tv_out *out,
                                    struct tv_error *err)
{
    struct tv_moments dumps = {
        .name = "memory_dumps",
        .count = view->trace->tables.memory_dumps.count,
        .owners = (size_t)view->trace->head->process_count + 1,
        .owner = view_dump_owner,
        .time = view_dump_time,
        .write = view_dump_write_row,
    };
    return tv_view_moments_write(view, parameters, &dumps, out, err);
}

/* [of, name, units, value] */
static void view_dump_write_figure(struct tv_out *out, const struct tv_trace_info *head,
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

/* Return true for a figure of a process or of a whole allocator, not of a part of one. */
static bool view_dump_is_top(const struct tv_trace_info *head,
                             const struct tv_memory_figure *figure)
{
    struct tv_bytes of = tv_trace_info_text(head, figure->of);
    return of.length == 0 || !memchr(of.data, '/', of.length);
}

/* Write the figures of a dump, all of them or the top ones. */
static void view_dump_write_figures(struct tv_out *out, const struct tv_trace *trace,
                                    const struct tv_memory_dump *dump, bool whole)
{
    uint32_t written = 0;
    tv_out_text(out, ",\"figures\":[");
    for (uint32_t i = 0; i < dump->figure_count; i++) {
        const struct tv_memory_figure *figure =
            &trace->tables.memory_figures.rows[dump->first_figure + i];
        if (!whole && (written == TOP_LIMIT || !view_dump_is_top(trace->head, figure)))
            continue;
        tv_out_text(out, written++ > 0 ? "," : "");
        view_dump_write_figure(out, trace->head, figure);
    }
    tv_out_char(out, ']');
}

/* Write the dumps of other processes that belong to the same moment. */
static void view_dump_write_together(struct tv_out *out, const struct tv_trace *trace,
                                     uint32_t number)
{
    const struct tv_memory_dump *rows = trace->tables.memory_dumps.rows;
    uint32_t written = 0;
    tv_out_text(out, ",\"together\":[");
    for (size_t i = 0; i < trace->tables.memory_dumps.count && written < TOGETHER_LIMIT; i++) {
        if (rows[i].id != rows[number].id || rows[i].input != rows[number].input)
            continue;
        tv_member_number(out, written++ > 0 ? ",\n{\"dump\":" : "{\"dump\":", (int64_t)i);
        tv_member_index(out, ",\"process\":", rows[i].process);
        view_dump_write_figures(out, trace, &rows[i], false);
        tv_out_char(out, '}');
    }
    tv_out_char(out, ']');
}

/* Answer api/memory_dump: the figures of one dump, and the main ones of the
 * processes dumped together with it. */
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
    tv_member_number(out, ",\"time_ns\":", view_dump_time(trace, (size_t)number));
    tv_member_index(out, ",\"process\":", dump->process);
    tv_member_text(out, ",\"id\":", trace->head, dump->id);
    tv_member_text(out, ",\"level\":", trace->head, dump->level);
    if (dump->offset != TV_NO_OFFSET)
        tv_member_number(out, ",\"offset\":", (int64_t)dump->offset);
    view_dump_write_figures(out, trace, dump, true);
    view_dump_write_together(out, trace, (uint32_t)number);
    tv_out_char(out, '}');
    return TV_OK;
}
