/* SPDX-License-Identifier: Apache-2.0 */
/* Lines that show one thing at a time: time lines of fences, pages that are flipped, jobs of
 * graphics processors, and whether kswapd is awake (ftrace.md section 3). */
#include <stdio.h>
#include <string.h>

#include "base/bytes.h"
#include "base/map.h"
#include "base/memory.h"
#include "readers/ftrace/args.h"
#include "readers/ftrace/events.h"
#include "readers/ftrace/later.h"

#define LONGEST_NAME 160

/* Ticks of Adreno's clock, 19.2 MHz, are so many nanoseconds. */
#define TICK_NUMERATOR 625
#define TICK_DENOMINATOR 12

/* More ticks between two events of one job are nonsense. */
#define MOST_TICKS ((int64_t)1 << 50)

enum { VALUE_ID, VALUE_FIRST, VALUE_LAST, VALUE_ORDER = 0 };

/* ---- Events ---- */

struct kept {
    enum tv_ft_later_kind kind;
    struct tv_bytes text;
};

static struct tv_ft_later *keep(struct tv_ft_part *part, const struct tv_ft_at *at,
                                struct tv_bytes line, const struct kept *what)
{
    uint32_t on = tv_ft_kernel_line(part, line, TV_NONE), text = tv_ft_text(part, what->text);
    struct tv_ft_later *row = tv_table_add(&part->laters);
    *row = (struct tv_ft_later){
        .time = at->time,
        .offset = at->offset & TV_OFFSET_MASK,
        .cpu = at->cpu & 0xffff,
        .kind = what->kind,
        .task = at->task,
        .line = on,
        .text = text,
    };
    return row;
}

/* "name=vb2 value=37": from now on the time line has this value. */
static enum tv_ft_taken handle_timeline(struct tv_ft_part *part, const struct tv_ft_line *line,
                                        const struct tv_ft_at *at, const struct tv_ft_event *event)
{
    struct tv_bytes name = line->details, value = tv_ft_behind(line->details, " value=");
    (void)event;
    if (value.length == 0 || !tv_bytes_starts_with(name, TV_BYTES("name=")))
        return TV_FT_MALFORMED;
    name = (struct tv_bytes){name.data + 5, (size_t)(value.data - name.data) - 5 - 7};
    if (name.length == 0)
        return TV_FT_MALFORMED;
    keep(part, at, name, &(struct kept){TV_FT_TIMELINE, tv_ft_word(value)});
    return TV_FT_TAKEN;
}

/* "driver=virtio_gpu timeline=controlq context=1 seqno=109779": event->title names what was done
 * since the time line was busy last; NULL: nothing, it only becomes busy. */
static enum tv_ft_taken handle_fence(struct tv_ft_part *part, const struct tv_ft_line *line,
                                     const struct tv_ft_at *at, const struct tv_ft_event *event)
{
    struct tv_bytes name = tv_ft_arg(line->details, "timeline");
    struct tv_bytes number = tv_ft_arg(line->details, "seqno");
    char title[LONGEST_NAME] = "";
    size_t length = 0;
    if (name.length == 0 || number.length == 0)
        return TV_FT_MALFORMED;
    if (event->title)
        length = tv_ft_title(title, sizeof title, event->title, number);
    keep(part, at, name, &(struct kept){TV_FT_FENCE, {(const uint8_t *)title, length}});
    return event->title ? TV_FT_TAKEN : TV_FT_INSTANT;
}

/* "pipe=0, fb=26, state=wait_kds" */
static enum tv_ft_taken handle_exynos_flip(struct tv_ft_part *part, const struct tv_ft_line *line,
                                           const struct tv_ft_at *at,
                                           const struct tv_ft_event *event)
{
    struct tv_bytes state = tv_ft_arg(line->details, "state");
    int64_t pipe, buffer;
    char name[80];
    (void)event;
    if (state.length == 0 || !tv_ft_arg_number(line->details, "pipe", &pipe) ||
        !tv_ft_arg_number(line->details, "fb", &buffer))
        return TV_FT_MALFORMED;
    int length = snprintf(name, sizeof name, "exynos_flip_state (pipe:%lld, fb:%lld)",
                          (long long)pipe, (long long)buffer);
    if (tv_bytes_equal(state, TV_BYTES("flipped")))
        state.length = 0;
    keep(part, at, (struct tv_bytes){(const uint8_t *)name, (size_t)length},
         &(struct kept){TV_FT_TIMELINE, state});
    return TV_FT_TAKEN;
}

/* "plane=0, obj=ffff88013f0b9a00" */
static enum tv_ft_taken handle_i915_flip(struct tv_ft_part *part, const struct tv_ft_line *line,
                                         const struct tv_ft_at *at, const struct tv_ft_event *event)
{
    struct tv_bytes object = tv_ft_arg(line->details, "obj");
    struct tv_bytes plane = tv_ft_arg(line->details, "plane");
    char name[LONGEST_NAME];
    if (object.length == 0 || plane.length == 0 || object.length > 64 || plane.length > 16)
        return TV_FT_MALFORMED;
    int length = snprintf(name, sizeof name, "flip:%.*s/%.*s", (int)object.length,
                          (const char *)object.data, (int)plane.length, (const char *)plane.data);
    keep(part, at, TV_BYTES("i915_flip"),
         &(struct kept){event->value[0] == 'B' ? TV_FT_JOB_BEGIN : TV_FT_JOB_END,
                        {(const uint8_t *)name, (size_t)length}});
    return TV_FT_TAKEN;
}

/* "tracing_mark_write: S|6962|vertex-job|85|84|1|0|0|920d408|69628513498269966584032": the third
 * field is the kind of processor, the fourth the job. */
static enum tv_ft_taken handle_mali_job(struct tv_ft_part *part, const struct tv_ft_line *line,
                                        const struct tv_ft_at *at, const struct tv_ft_event *event)
{
    struct tv_bytes rest = tv_ft_behind(line->details, "|"), process, kind;
    char name[48];
    if (rest.data == NULL || !tv_bytes_split(&rest, '|', &process) ||
        !tv_bytes_split(&rest, '|', &kind))
        return TV_FT_MALFORMED;
    struct tv_bytes job = rest;
    tv_bytes_split(&rest, '|', &job);
    const uint8_t *dash = kind.length > 0 ? memchr(kind.data, '-', kind.length) : NULL;
    if (!dash || job.length == 0)
        return TV_FT_MALFORMED;
    kind.length = (size_t)(dash - kind.data);
    size_t length = tv_ft_title(name, sizeof name, "mali:*", kind);
    keep(part, at, (struct tv_bytes){(const uint8_t *)name, length},
         &(struct kept){event->value[0] == 'B' ? TV_FT_JOB_BEGIN : TV_FT_JOB_END, job});
    return TV_FT_TAKEN;
}

/* "id=164270 pid=20803 ring=0:164271 ticks=5854915894", and when it is done "... start=... end=..."
 */
static enum tv_ft_taken handle_msm(struct tv_ft_part *part, const struct tv_ft_line *line,
                                   const struct tv_ft_at *at, const struct tv_ft_event *event)
{
    bool begins = event->value[0] == 'B';
    struct tv_bytes id = tv_ft_arg(line->details, "id");
    int64_t number, first, last = 0;
    if (!tv_ft_number(id, &number) ||
        !tv_ft_arg_number(line->details, begins ? "ticks" : "start", &first) ||
        (!begins && !tv_ft_arg_number(line->details, "end", &last)))
        return TV_FT_MALFORMED;
    struct tv_ft_later *row = keep(part, at, TV_BYTES("GPU"),
                                   &(struct kept){begins ? TV_FT_GPU_BEGIN : TV_FT_GPU_END, id});
    row->values[VALUE_ID] = number;
    row->values[VALUE_FIRST] = first;
    row->values[VALUE_LAST] = last;
    return TV_FT_TAKEN;
}

/* kswapd is named by its thread, and says again and again that it is awake: the first time counts.
 */
static enum tv_ft_taken handle_kswapd(struct tv_ft_part *part, const struct tv_ft_line *line,
                                      const struct tv_ft_at *at, const struct tv_ft_event *event)
{
    int64_t order;
    struct tv_ft_later *row = tv_table_add(&part->laters);
    *row = (struct tv_ft_later){
        .time = at->time,
        .offset = at->offset & TV_OFFSET_MASK,
        .kind = TV_FT_BUSY,
        .task = at->task,
        .line = at->task,
    };
    if (event->value[0] == 'B')
        row->text = tv_ft_text(part, line->task);
    if (tv_ft_arg_number(line->details, "order", &order))
        row->values[VALUE_ORDER] = order;
    part->tasks.rows[at->task].used = true;
    return TV_FT_TAKEN;
}

#define FENCE(event, what)                                                                         \
    {                                                                                              \
        .name = (event), .handle = handle_fence, .title = (what)                                   \
    }

const struct tv_ft_event tv_ft_gpu_events[] = {
    {.name = "sync_timeline", .handle = handle_timeline},
    {.name = "exynos_page_flip_state", .handle = handle_exynos_flip},
    {.name = "i915_flip_request", .handle = handle_i915_flip, .value = "B"},
    {.name = "i915_flip_complete", .handle = handle_i915_flip, .value = "E"},
    {.name = "mali_job_systrace_event_start", .handle = handle_mali_job, .value = "B"},
    {.name = "mali_job_systrace_event_stop", .handle = handle_mali_job, .value = "E"},
    {.name = "msm_gpu_submit_flush", .handle = handle_msm, .value = "B"},
    {.name = "msm_gpu_submit_retired", .handle = handle_msm, .value = "E"},
    {.name = "mm_vmscan_kswapd_wake", .handle = handle_kswapd, .value = "B"},
    {.name = "mm_vmscan_kswapd_sleep", .handle = handle_kswapd, .value = "E"},
    FENCE("dma_fence_init", NULL),
    FENCE("dma_fence_emit", NULL),
    FENCE("dma_fence_destroy", "fence_destroy(*)"),
    FENCE("dma_fence_enable_signal", "fence_enable(*)"),
    FENCE("dma_fence_signaled", "fence_signal(*)"),
    FENCE("fence_init", NULL),
    FENCE("fence_emit", NULL),
    FENCE("fence_destroy", "fence_destroy(*)"),
    FENCE("fence_enable_signal", "fence_enable(*)"),
    FENCE("fence_signaled", "fence_signal(*)"),
    {.name = NULL},
};

/* ---- In the order of time ---- */

struct line {
    uint32_t thread;
    bool known; /* there was something before */
    int64_t since;
    uint64_t offset;
    uint32_t text;
    const char *category;
    int64_t order;
};

/* A job that is not done. */
struct job {
    int64_t time, ticks;
    uint64_t offset;
    bool open;
    uint32_t line, text;
};

struct tv_ft_lines {
    struct tv_ft_tell *tell;
    TV_TABLE(line) lines;
    struct tv_map line_of; /* thread -> index */
    TV_TABLE(job) jobs;
    struct tv_map job_of; /* (line, text) -> index */
};

struct tv_ft_lines *tv_ft_lines_new(struct tv_ft_tell *tell)
{
    struct tv_ft_lines *lines = tv_alloc(1, sizeof *lines);
    lines->tell = tell;
    tv_map_init(&lines->line_of);
    tv_map_init(&lines->job_of);
    return lines;
}

static struct line *line_of(struct tv_ft_lines *lines, uint32_t thread)
{
    uint32_t index = tv_map_add(&lines->line_of, thread, (uint32_t)lines->lines.count);
    if (index == lines->lines.count)
        tv_table_add(&lines->lines)->thread = thread;
    return &lines->lines.rows[index];
}

static uint32_t frame_of(struct tv_ft_lines *lines, uint32_t text, const char *category)
{
    struct tv_ft_merge *merge = lines->tell->merge;
    struct tv_bytes name = tv_trace_info_text(merge->trace->head, text);
    return tv_ft_add_frame(merge, name, category);
}

/* What the line has shown until now. */
static void tell_until(struct tv_ft_lines *lines, struct line *line, int64_t time, uint32_t text)
{
    struct tv_ft_told told = {line->thread, frame_of(lines, text, line->category), line->since,
                              time - line->since, line->offset};
    tv_ft_tell_slice(lines->tell, &told);
}

static void take_value(struct tv_ft_lines *lines, struct line *line, const struct tv_ft_later *row)
{
    if (line->known && line->text != TV_EMPTY_STRING)
        tell_until(lines, line, row->time, line->text);
    line->text = row->text;
    line->offset = row->offset;
}

/* The line that asks for the most tells most. */
static void note_order(struct line *line, const struct tv_ft_later *row)
{
    if (row->values[VALUE_ORDER] <= line->order)
        return;
    line->order = row->values[VALUE_ORDER];
    line->offset = row->offset;
}

static void take_fence(struct tv_ft_lines *lines, struct line *line, const struct tv_ft_later *row)
{
    line->offset = row->offset;
    if (row->text == TV_EMPTY_STRING)
        return;
    if (!line->known)
        line->since = row->time;
    tell_until(lines, line, row->time, row->text);
}

static struct job *job_of(struct tv_ft_lines *lines, const struct tv_ft_later *row)
{
    uint32_t index = tv_map_add(&lines->job_of, (uint64_t)row->line << 32 | row->text,
                                (uint32_t)lines->jobs.count);
    if (index == lines->jobs.count)
        tv_table_add(&lines->jobs);
    return &lines->jobs.rows[index];
}

static void begin_job(struct tv_ft_lines *lines, const struct tv_ft_later *row)
{
    struct job *job = job_of(lines, row);
    *job =
        (struct job){row->time, row->values[VALUE_FIRST], row->offset, true, row->line, row->text};
}

/* A job waits until the one before it is done. */
static void end_job(struct tv_ft_lines *lines, struct line *line, const struct tv_ft_later *row)
{
    struct job *job = job_of(lines, row);
    int64_t start = job->open ? job->time : row->time;
    if (line->known && start < line->since)
        start = line->since;
    struct tv_ft_told told = {row->line, frame_of(lines, row->text, ""), start, row->time - start,
                              job->open ? job->offset : row->offset};
    tv_ft_tell_slice(lines->tell, &told);
    job->open = false;
    line->since = row->time;
    line->known = true;
}

static bool is_near(int64_t from, int64_t to)
{
    return from >= 0 && to >= from && to - from <= MOST_TICKS;
}

static int64_t ticks_to_ns(int64_t ticks)
{
    return (ticks * TICK_NUMERATOR + TICK_DENOMINATOR / 2) / TICK_DENOMINATOR;
}

/* "pipeline" with what was queued and what ran below it. */
static void add_pipeline(struct tv_ft_lines *lines, const struct job *job,
                         const struct tv_ft_later *row, const struct tv_ft_told *run)
{
    struct tv_ft_merge *merge = lines->tell->merge;
    struct tv_bytes id = tv_trace_info_text(merge->trace->head, row->text);
    char name[48];
    uint32_t top = (uint32_t)merge->whole_asyncs.count;
    struct tv_async_slice slice = {
        .start = job->time,
        .length = ticks_to_ns(row->values[VALUE_LAST] - job->ticks),
        .cpu_start = TV_NO_TIME,
        .cpu_length = TV_NO_TIME,
        .offset = job->offset,
        .end_offset = row->offset,
        .frame = tv_ft_add_frame(merge, TV_BYTES("pipeline"), ""),
        .parent = TV_NONE,
        .start_thread = row->line,
        .end_thread = row->line,
        .id = row->text,
        .group = TV_NONE,
    };
    *tv_table_add(&merge->whole_asyncs) = slice;
    slice.parent = top;
    slice.length = run->start - job->time;
    size_t length = tv_ft_title(name, sizeof name, "* queued", id);
    slice.frame = tv_ft_add_frame(merge, (struct tv_bytes){(uint8_t *)name, length}, "");
    *tv_table_add(&merge->whole_asyncs) = slice;
    slice.start = run->start;
    slice.length = run->length;
    length = tv_ft_title(name, sizeof name, "* running", id);
    slice.frame = tv_ft_add_frame(merge, (struct tv_bytes){(uint8_t *)name, length}, "");
    *tv_table_add(&merge->whole_asyncs) = slice;
}

/* When it ran is told by the processor's own clock, which stood somewhere when it was queued. */
static void end_gpu(struct tv_ft_lines *lines, const struct tv_ft_later *row)
{
    struct job *job = job_of(lines, row);
    int64_t first = row->values[VALUE_FIRST], last = row->values[VALUE_LAST];
    struct tv_ft_told told = {row->line, frame_of(lines, row->text, ""), row->time, 0, row->offset};
    if (!job->open || !is_near(job->ticks, first) || !is_near(first, last) ||
        job->time > INT64_MAX / 2) {
        tv_ft_tell_instant(lines->tell, &told);
        return;
    }
    told.start = job->time + ticks_to_ns(first - job->ticks);
    told.length = ticks_to_ns(last - first);

    job->open = false;
    tv_ft_tell_slice(lines->tell, &told);
    add_pipeline(lines, job, row, &told);
}

void tv_ft_lines_take(struct tv_ft_lines *lines, const struct tv_ft_later *row)
{
    struct line *line = line_of(lines, row->line);
    line->category = row->kind == TV_FT_BUSY ? "memreclaim" : "";
    switch (row->kind) {
    case TV_FT_BUSY:
        if (line->text != TV_EMPTY_STRING && row->text != TV_EMPTY_STRING) {
            note_order(line, row);
            return;
        }
        line->order = row->values[VALUE_ORDER];
        take_value(lines, line, row);
        break;
    case TV_FT_TIMELINE:
        take_value(lines, line, row);
        break;
    case TV_FT_FENCE:
        take_fence(lines, line, row);
        break;
    case TV_FT_JOB_END:
        end_job(lines, line, row);
        return;
    case TV_FT_GPU_END:
        end_gpu(lines, row);
        return;
    default:
        begin_job(lines, row);
        return;
    }
    line->known = true;
    line->since = row->time;
}

/* What the lines show at the end, and jobs that are not done. */
void tv_ft_lines_end(struct tv_ft_lines *lines)
{
    for (size_t i = 0; i < lines->lines.count; i++) {
        const struct line *line = &lines->lines.rows[i];
        if (!line->known || line->text == TV_EMPTY_STRING)
            continue;
        struct tv_ft_told told = {line->thread, frame_of(lines, line->text, line->category),
                                  line->since, 0, line->offset};
        tv_ft_tell_open(lines->tell, &told);
    }
    for (size_t i = 0; i < lines->jobs.count; i++) {
        const struct job *job = &lines->jobs.rows[i];
        if (!job->open)
            continue;
        struct tv_ft_told told = {job->line, frame_of(lines, job->text, ""), job->time, 0,
                                  job->offset};
        tv_ft_tell_open(lines->tell, &told);
    }
    tv_map_release(&lines->line_of);
    tv_map_release(&lines->job_of);
    tv_free(lines->lines.rows);
    tv_free(lines->jobs.rows);
    tv_free(lines);
}
