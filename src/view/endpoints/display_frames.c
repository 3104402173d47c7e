/* SPDX-License-Identifier: Apache-2.0 */
/*
 * display_frames.c - frames of a display: figures and late frames of a
 * selection, and all frames as marks of the time line.
 *
 * The frames of the whole trace are found when somebody first asks, and then
 * cached; those of a part are found for each question.  Arrays that have one
 * place more than there are processes keep the frames of no process in the last
 * one.
 */
#include "analysis/findings/display_frames.h"

#include <assert.h>

#include "base/memory.h"
#include "view/internal.h"
#include "writers/tables/frames_table.h"

#define LATE_LIMIT 10000u /* frames that are listed */

/* ---- The frames of the whole trace ---- */

void tv_view_write_display_rows(struct tv_out *out, const struct tv_view *view)
{
    const struct tv_display_frames *frames = tv_display_cache_get(view->display);
    uint32_t processes = view->trace->head->process_count, written = 0;
    uint32_t *counts = tv_alloc((size_t)processes + 1, sizeof *counts);
    uint32_t *late = tv_alloc((size_t)processes + 1, sizeof *late);
    for (uint32_t i = 0; i < frames->count; i++) {
        uint32_t process =
            frames->list[i].process < processes ? frames->list[i].process : processes;
        counts[process]++;
        late[process] += frames->list[i].late;
    }
    tv_out_text(out, ",\"display_frames\":[");
    for (uint32_t i = 0; i <= processes; i++) {
        if (counts[i] == 0)
            continue;
        tv_member_index(
            out, written++ > 0 ? ",\n{\"process\":" : "{\"process\":", i < processes ? i : TV_NONE);
        tv_member_number(out, ",\"frames\":", counts[i]);
        tv_member_number(out, ",\"late\":", late[i]);
        tv_out_char(out, '}');
    }
    tv_out_char(out, ']');
    tv_free(counts);
    tv_free(late);
}

/* ---- Figures and late frames ---- */

/* Write the figures of a process; the array ends with them. */
static void display_write_figures(struct tv_out *out, const char *before,
                                  const struct tv_display_group *group)
{
    tv_member_number(out, before, group->count);
    tv_member_number(out, ",", group->late);
    tv_member_number(out, ",", group->unfinished);
    tv_member_number(out, ",", group->p50);
    tv_member_number(out, ",", group->p95);
    tv_member_number(out, ",", group->p99);
    tv_member_number(out, ",", group->max);
    tv_out_char(out, ']');
}

/* Write the figures of all frames and of each process. */
static void display_write_groups(struct tv_out *out, const struct tv_display_frames *frames)
{
    uint32_t count;
    struct tv_display_group *groups = tv_display_groups_of(frames, &count);
    display_write_figures(out, "{\"all\":[", &groups[0]);
    tv_out_text(out, ",\"processes\":[");
    for (uint32_t i = 1; i < count; i++) {
        tv_member_index(out, i > 1 ? ",\n[" : "[", groups[i].process);
        display_write_figures(out, ",", &groups[i]);
    }
    tv_out_char(out, ']');
    tv_free(groups);
}

/* Write a sentence for each deadline that frames had. */
static void display_write_deadlines(struct tv_out *out, const struct tv_display_frames *frames)
{
    uint32_t count;
    uint32_t *firsts = tv_display_frames_by_deadline(frames, &count);
    tv_out_text(out, ",\"deadlines\":[");
    for (uint32_t i = 0; i < count; i++) {
        struct tv_out text;
        struct tv_display_interval interval =
            tv_display_frame_interval(frames, &frames->list[firsts[i]]);
        tv_out_init_memory(&text);
        tv_display_interval_sentence(&text, frames->trace->head, &interval);
        tv_out_text(out, i > 0 ? "," : "");
        tv_out_json(out, (struct tv_bytes){text.buffer, text.length});
        tv_out_release(&text);
    }
    tv_out_char(out, ']');
    tv_free(firsts);
}

/* Write the deadline of a frame, or null if it had none. */
static void display_write_deadline(struct tv_out *out, const struct tv_display_frame *frame)
{
    tv_out_char(out, ',');
    tv_view_time(out, frame->deadline != TV_NO_DEADLINE, frame->deadline);
}

/* [row, index, start, length, deadline, process, track, frame, main, render, cause, cause_time,
 * unfinished, reason] */
static void display_write_late(struct tv_out *out, const struct tv_display_frames *frames,
                               const struct tv_display_frame *frame)
{
    assert(frame->row < frames->trace->row_count);
    tv_member_number(out, "[", frame->row);
    tv_member_number(out, ",", frame->index);
    tv_member_number(out, ",", frame->start);
    tv_member_number(out, ",", frame->length);
    display_write_deadline(out, frame);
    tv_member_index(out, ",", frame->process);
    tv_member_number(out, ",", frames->trace->rows[frame->row].track);
    tv_member_number(out, ",", frame->name);
    tv_member_number(out, ",", frame->main);
    tv_member_number(out, ",", frame->render);
    tv_member_index(out, ",", frame->cause);
    tv_member_number(out, ",", frame->cause_time);
    tv_member_flag(out, ",", frame->unfinished);
    tv_out_char(out, ',');
    tv_out_json(out, tv_interner_get(frames->reasons, frame->reason));
    tv_out_char(out, ']');
}

/* Write the answer: processes, deadlines, and the first late frames. */
static void display_write(struct tv_out *out, const struct tv_display_frames *frames)
{
    uint32_t written = 0;
    int64_t left_out = 0;
    display_write_groups(out, frames);
    display_write_deadlines(out, frames);
    tv_out_text(out, ",\"late\":[");
    for (uint32_t i = 0; i < frames->count; i++) {
        if (!frames->list[i].late)
            continue;
        if (written == LATE_LIMIT) {
            left_out++;
            continue;
        }
        tv_out_text(out, written++ > 0 ? ",\n" : "");
        display_write_late(out, frames, &frames->list[i]);
    }
    tv_member_number(out, "],\"left_out\":", left_out);
    tv_out_char(out, '}');
}

/* Is the selection the whole trace, so that the cached frames answer? */
static bool display_is_whole(const struct tv_selection *selection)
{
    return selection->from == INT64_MIN && selection->to == INT64_MAX && !selection->tracks;
}

/* Answer api/display_frames: figures by process, deadlines, and the late
 * frames. */
enum tv_status tv_view_display_frames(const struct tv_view *view,
                                      const struct tv_parameters *parameters, struct tv_out *out,
                                      struct tv_error *err)
{
    struct tv_selection selection;
    enum tv_status status = tv_parameter_selection(parameters, view->trace, &selection, err);
    if (status != TV_OK)
        return status;
    if (display_is_whole(&selection)) {
        display_write(out, tv_display_cache_get(view->display));
    } else {
        struct tv_display_frames *frames = tv_display_frames_of(view->trace, &selection, NULL);
        tv_display_frames_explain(frames, true);
        display_write(out, frames);
        tv_display_frames_free(frames);
    }
    tv_parameter_release_selection(&selection);
    return TV_OK;
}

/* ---- Marks of the time line ---- */

/* [process, start, end, deadline, row, index, count]; of several frames in one pixel the first. */
static void display_write_mark(struct tv_out *out, const struct tv_display_frames *frames,
                               const struct tv_pixel_row *row)
{
    const struct tv_display_frame *frame = &frames->list[row->number];
    tv_member_index(out, "[", frame->process);
    tv_member_number(out, ",", frame->start);
    tv_member_number(out, ",", row->end);
    display_write_deadline(out, frame);
    tv_member_number(out, ",", frame->row);
    tv_member_number(out, ",", frame->index);
    tv_member_number(out, ",", row->count);
    tv_out_char(out, ']');
}

/* Write one mark for each pixel, whatever number of frames it stands for. */
static void display_write_marks(struct tv_out *out, const char *name,
                                const struct tv_display_frames *frames,
                                const struct tv_pixels *pixels)
{
    tv_out_format(out, "\"%s\":[", name);
    for (uint32_t i = 0; i < pixels->count; i++) {
        tv_out_text(out, i > 0 ? ",\n" : "");
        display_write_mark(out, frames, &pixels->rows[i]);
    }
    tv_out_char(out, ']');
}

/* Answer api/display_marks.  Frames that were late and those on time are merged
 * apart, so that no late frame hides in a mark of others. */
enum tv_status tv_view_display_marks(const struct tv_view *view,
                                     const struct tv_parameters *parameters, struct tv_out *out,
                                     struct tv_error *err)
{
    const struct tv_display_frames *frames;
    struct tv_view_window window;
    struct tv_pixels shown[2]; /* on time, late */
    uint32_t processes = view->trace->head->process_count;
    enum tv_status status =
        tv_parameter_window(parameters, view->trace, TV_PIXEL_LIMIT, &window, err);
    if (status != TV_OK)
        return status;
    frames = tv_display_cache_get(view->display);
    for (unsigned late = 0; late < 2; late++)
        tv_pixels_init(&shown[late], &window, (size_t)processes + 1);
    for (uint32_t i = 0; i < frames->count && frames->list[i].start < window.to; i++) {
        const struct tv_display_frame *frame = &frames->list[i];
        uint32_t owner = frame->process < processes ? frame->process : processes;
        if (frame->start + frame->length >= window.from)
            tv_pixels_add(&shown[frame->late], owner, i, frame->start,
                          frame->start + frame->length);
    }
    tv_out_char(out, '{');
    display_write_marks(out, "on_time", frames, &shown[0]);
    tv_out_char(out, ',');
    display_write_marks(out, "late", frames, &shown[1]);
    tv_member_number(out, ",\"left_out\":", (int64_t)(shown[0].left_out + shown[1].left_out));
    tv_out_char(out, '}');
    for (unsigned late = 0; late < 2; late++)
        tv_pixels_release(&shown[late]);
    return TV_OK;
}
