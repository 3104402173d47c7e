/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gpu.c - pseudo-threads that show one thing at a time: time lines of fences, page flips, jobs of
 * graphics processors, and whether kswapd is awake (ftrace.md section 3).
 *
 *     line of text --> ft_handle_...: a deferred event     while a chunk is read, in parallel
 *     deferred events of all chunks, in order of time --> tv_ft_timelines: slices
 *
 * A chunk does not know what a pseudo-thread showed before it, so the handlers only note what a
 * line says.  A slice begins with one event and is written when the next one ends it.
 *
 *     time line     value=36 ........ value=37 ...        [36      ][37 ...
 *     fence         emit ... enable ... signal            work since the line was last busy
 *     job           begin 5, begin 6, end 5, end 6        [5   ][6   ]: one at a time
 *
 * Jobs of a graphics processor are queued by the processor and run later.  Adreno reports when a
 * job was queued and when it ran in ticks of its own clock; one event that has both clocks ties
 * them together, so the slice shows when the job really ran.
 */
#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "base/bytes.h"
#include "base/map.h"
#include "base/memory.h"
#include "readers/ftrace/chunk.h"
#include "readers/ftrace/fields.h"
#include "readers/ftrace/merge.h"

#define LONGEST_NAME 160

/* Adreno's clock runs at 19.2 MHz: a tick is 625/12 ns. */
#define TICK_NUMERATOR 625
#define TICK_DENOMINATOR 12

/* More ticks between two events of one job show a damaged line. */
#define MAX_TICKS ((int64_t)1 << 50)

enum { VALUE_ID, VALUE_FIRST, VALUE_LAST, VALUE_ORDER = 0 };

/* ---- Events ---- */

/* The kind of a deferred event, and its text: what the pseudo-thread shows, or which job it is
 * about. */
struct ft_deferred_text {
    enum tv_ft_deferred_kind kind;
    struct tv_bytes text;
};

/* Add a deferred event of a pseudo-thread to the chunk. */
static struct tv_ft_deferred *ft_gpu_defer(struct tv_ft_chunk *chunk, const struct tv_ft_at *at,
                                           struct tv_bytes line,
                                           const struct ft_deferred_text *what)
{
    uint32_t on = tv_ft_chunk_pseudo_thread(chunk, line, TV_NONE),
             text = tv_ft_chunk_string(chunk, what->text);
    struct tv_ft_deferred *row = tv_table_add(&chunk->deferred);
    *row = (struct tv_ft_deferred){
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

/* Handle "name=vb2 value=37": the time line's new value. */
static enum tv_ft_taken ft_handle_timeline(struct tv_ft_chunk *chunk, const struct tv_ft_line *line,
                                           const struct tv_ft_at *at,
                                           const struct tv_ft_event *event)
{
    struct tv_bytes name = line->details, value = tv_ft_after(line->details, " value=");
    (void)event;
    if (value.length == 0 || !tv_bytes_starts_with(name, TV_BYTES("name=")))
        return TV_FT_MALFORMED;
    name = (struct tv_bytes){name.data + 5, (size_t)(value.data - name.data) - 5 - 7};
    if (name.length == 0)
        return TV_FT_MALFORMED;
    ft_gpu_defer(chunk, at, name,
                 &(struct ft_deferred_text){TV_FT_TIMELINE, tv_ft_first_word(value)});
    return TV_FT_TAKEN;
}

/* Handle "driver=virtio_gpu timeline=controlq context=1 seqno=109779". event->title names the
 * work since the time line was last busy; NULL: the time line becomes busy. */
static enum tv_ft_taken ft_handle_fence(struct tv_ft_chunk *chunk, const struct tv_ft_line *line,
                                        const struct tv_ft_at *at, const struct tv_ft_event *event)
{
    struct tv_bytes name = tv_ft_arg(line->details, "timeline");
    struct tv_bytes number = tv_ft_arg(line->details, "seqno");
    char title[LONGEST_NAME] = "";
    size_t length = 0;
    if (name.length == 0 || number.length == 0)
        return TV_FT_MALFORMED;
    if (event->title)
        length = tv_ft_format_title(title, sizeof title, event->title, number);
    ft_gpu_defer(chunk, at, name,
                 &(struct ft_deferred_text){TV_FT_FENCE, {(const uint8_t *)title, length}});
    return event->title ? TV_FT_TAKEN : TV_FT_INSTANT;
}

/* Handle "pipe=0, fb=26, state=wait_kds". */
static enum tv_ft_taken ft_handle_exynos_flip(struct tv_ft_chunk *chunk,
                                              const struct tv_ft_line *line,
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
    ft_gpu_defer(chunk, at, (struct tv_bytes){(const uint8_t *)name, (size_t)length},
                 &(struct ft_deferred_text){TV_FT_TIMELINE, state});
    return TV_FT_TAKEN;
}

/* Handle "plane=0, obj=ffff88013f0b9a00": a flip is one job, from its request to its completion. */
static enum tv_ft_taken ft_handle_i915_flip(struct tv_ft_chunk *chunk,
                                            const struct tv_ft_line *line,
                                            const struct tv_ft_at *at,
                                            const struct tv_ft_event *event)
{
    struct tv_bytes object = tv_ft_arg(line->details, "obj");
    struct tv_bytes plane = tv_ft_arg(line->details, "plane");
    char name[LONGEST_NAME];
    if (object.length == 0 || plane.length == 0 || object.length > 64 || plane.length > 16)
        return TV_FT_MALFORMED;
    int length = snprintf(name, sizeof name, "flip:%.*s/%.*s", (int)object.length,
                          (const char *)object.data, (int)plane.length, (const char *)plane.data);
    ft_gpu_defer(
        chunk, at, TV_BYTES("i915_flip"),
        &(struct ft_deferred_text){event->value[0] == 'B' ? TV_FT_JOB_BEGIN : TV_FT_JOB_END,
                                   {(const uint8_t *)name, (size_t)length}});
    return TV_FT_TAKEN;
}

/* Handle "tracing_mark_write: S|6962|vertex-job|85|84|1|0|0|920d408|69628513498269966584032".
 * The third field is the kind of processor, the fourth the job. */
static enum tv_ft_taken ft_handle_mali_job(struct tv_ft_chunk *chunk, const struct tv_ft_line *line,
                                           const struct tv_ft_at *at,
                                           const struct tv_ft_event *event)
{
    struct tv_bytes rest = tv_ft_after(line->details, "|"), process, kind;
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
    size_t length = tv_ft_format_title(name, sizeof name, "mali:*", kind);
    ft_gpu_defer(
        chunk, at, (struct tv_bytes){(const uint8_t *)name, length},
        &(struct ft_deferred_text){event->value[0] == 'B' ? TV_FT_JOB_BEGIN : TV_FT_JOB_END, job});
    return TV_FT_TAKEN;
}

/* Handle "id=164270 pid=20803 ring=0:164271 ticks=5854915894" and, at the end of the job, "...
 * start=... end=...". */
static enum tv_ft_taken ft_handle_msm_job(struct tv_ft_chunk *chunk, const struct tv_ft_line *line,
                                          const struct tv_ft_at *at,
                                          const struct tv_ft_event *event)
{
    bool begins = event->value[0] == 'B';
    struct tv_bytes id = tv_ft_arg(line->details, "id");
    int64_t number, first, last = 0;
    if (!tv_ft_parse_number(id, &number) ||
        !tv_ft_arg_number(line->details, begins ? "ticks" : "start", &first) ||
        (!begins && !tv_ft_arg_number(line->details, "end", &last)))
        return TV_FT_MALFORMED;
    struct tv_ft_deferred *row =
        ft_gpu_defer(chunk, at, TV_BYTES("GPU"),
                     &(struct ft_deferred_text){begins ? TV_FT_GPU_BEGIN : TV_FT_GPU_END, id});
    row->values[VALUE_ID] = number;
    row->values[VALUE_FIRST] = first;
    row->values[VALUE_LAST] = last;
    return TV_FT_TAKEN;
}

/* Handle kswapd, whose own thread shows that it is awake. It reports so again and again: the
 * first report counts. */
static enum tv_ft_taken ft_handle_kswapd(struct tv_ft_chunk *chunk, const struct tv_ft_line *line,
                                         const struct tv_ft_at *at, const struct tv_ft_event *event)
{
    int64_t order;
    struct tv_ft_deferred *row = tv_table_add(&chunk->deferred);
    *row = (struct tv_ft_deferred){
        .time = at->time,
        .offset = at->offset & TV_OFFSET_MASK,
        .kind = TV_FT_BUSY,
        .task = at->task,
        .line = at->task,
    };
    if (event->value[0] == 'B')
        row->text = tv_ft_chunk_string(chunk, line->task);
    if (tv_ft_arg_number(line->details, "order", &order))
        row->values[VALUE_ORDER] = order;
    chunk->tasks.rows[at->task].used = true;
    return TV_FT_TAKEN;
}

#define FENCE(event, what)                                                                         \
    {                                                                                              \
        .name = (event), .handle = ft_handle_fence, .title = (what)                                \
    }

const struct tv_ft_event tv_ft_gpu_events[] = {
    {.name = "sync_timeline", .handle = ft_handle_timeline},
    {.name = "exynos_page_flip_state", .handle = ft_handle_exynos_flip},
    {.name = "i915_flip_request", .handle = ft_handle_i915_flip, .value = "B"},
    {.name = "i915_flip_complete", .handle = ft_handle_i915_flip, .value = "E"},
    {.name = "mali_job_systrace_event_start", .handle = ft_handle_mali_job, .value = "B"},
    {.name = "mali_job_systrace_event_stop", .handle = ft_handle_mali_job, .value = "E"},
    {.name = "msm_gpu_submit_flush", .handle = ft_handle_msm_job, .value = "B"},
    {.name = "msm_gpu_submit_retired", .handle = ft_handle_msm_job, .value = "E"},
    {.name = "mm_vmscan_kswapd_wake", .handle = ft_handle_kswapd, .value = "B"},
    {.name = "mm_vmscan_kswapd_sleep", .handle = ft_handle_kswapd, .value = "E"},
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

/* ---- Replay in time order ---- */

/* The slice that a pseudo-thread shows now, while the deferred events are replayed. */
struct ft_timeline {
    uint32_t thread;
    bool known;    /* there was an event before */
    int64_t since; /* when it began to show this, or was last busy */
    uint64_t offset;
    uint32_t text; /* empty: it shows nothing */
    const char *category;
    int64_t order;
};

/* A job of a graphics processor. */
struct ft_gpu_job {
    int64_t time, ticks; /* when it was queued, on the trace's and the processor's clock */
    uint64_t offset;
    bool open;
    uint32_t line, text;
};

struct tv_ft_timelines {
    struct tv_ft_emitter *emitter;
    TV_TABLE(ft_timeline) lines;
    struct tv_map line_of; /* thread -> index */
    TV_TABLE(ft_gpu_job) jobs;
    struct tv_map job_of; /* (line, text) -> index */
};

struct tv_ft_timelines *tv_ft_timelines_new(struct tv_ft_emitter *emitter)
{
    struct tv_ft_timelines *lines = tv_alloc(1, sizeof *lines);
    lines->emitter = emitter;
    tv_map_init(&lines->line_of);
    tv_map_init(&lines->job_of);
    return lines;
}

/* Return the state of a pseudo-thread, valid until the next one is added. */
static struct ft_timeline *ft_timelines_find(struct tv_ft_timelines *lines, uint32_t thread)
{
    uint32_t index = tv_map_add(&lines->line_of, thread, (uint32_t)lines->lines.count);
    if (index == lines->lines.count)
        tv_table_add(&lines->lines)->thread = thread;
    return &lines->lines.rows[index];
}

/* Return the frame of a text of the merge. */
static uint32_t ft_timelines_frame(struct tv_ft_timelines *lines, uint32_t text,
                                   const char *category)
{
    struct tv_ft_merge *merge = lines->emitter->merge;
    struct tv_bytes name = tv_trace_info_text(merge->trace->head, text);
    return tv_ft_merge_frame(merge, name, category);
}

/* Add the slice that ends now. */
static void ft_timeline_emit_until(struct tv_ft_timelines *lines, struct ft_timeline *line,
                                   int64_t time, uint32_t text)
{
    struct tv_ft_emitted emitted = {line->thread, ft_timelines_frame(lines, text, line->category),
                                    line->since, time - line->since, line->offset};
    tv_ft_emit_slice(lines->emitter, &emitted);
}

/* Change what the pseudo-thread shows. */
static void ft_timeline_take_value(struct tv_ft_timelines *lines, struct ft_timeline *line,
                                   const struct tv_ft_deferred *row)
{
    if (line->known && line->text != TV_EMPTY_STRING)
        ft_timeline_emit_until(lines, line, row->time, line->text);
    line->text = row->text;
    line->offset = row->offset;
}

/* Show the report that asks for the largest order. */
static void ft_timeline_note_order(struct ft_timeline *line, const struct tv_ft_deferred *row)
{
    if (row->values[VALUE_ORDER] <= line->order)
        return;
    line->order = row->values[VALUE_ORDER];
    line->offset = row->offset;
}

/* Add the work since the last fence. */
static void ft_timeline_take_fence(struct tv_ft_timelines *lines, struct ft_timeline *line,
                                   const struct tv_ft_deferred *row)
{
    line->offset = row->offset;
    if (row->text == TV_EMPTY_STRING)
        return;
    if (!line->known)
        line->since = row->time;
    ft_timeline_emit_until(lines, line, row->time, row->text);
}

/* Return the job of a name on a pseudo-thread; a name is used again when its job has ended. */
static struct ft_gpu_job *ft_timelines_find_job(struct tv_ft_timelines *lines,
                                                const struct tv_ft_deferred *row)
{
    uint32_t index = tv_map_add(&lines->job_of, (uint64_t)row->line << 32 | row->text,
                                (uint32_t)lines->jobs.count);
    if (index == lines->jobs.count)
        tv_table_add(&lines->jobs);
    return &lines->jobs.rows[index];
}

/* Begin a job; one of the same name that has not ended is forgotten. */
static void ft_timelines_begin_job(struct tv_ft_timelines *lines, const struct tv_ft_deferred *row)
{
    struct ft_gpu_job *job = ft_timelines_find_job(lines, row);
    *job = (struct ft_gpu_job){row->time, row->values[VALUE_FIRST], row->offset, true, row->line,
                               row->text};
}

/* End a job. It ran from its begin or from the end of the job before, whichever is later. */
static void ft_timelines_end_job(struct tv_ft_timelines *lines, struct ft_timeline *line,
                                 const struct tv_ft_deferred *row)
{
    struct ft_gpu_job *job = ft_timelines_find_job(lines, row);
    int64_t start = job->open ? job->time : row->time;
    if (line->known && start < line->since)
        start = line->since;
    struct tv_ft_emitted emitted = {row->line, ft_timelines_frame(lines, row->text, ""), start,
                                    row->time - start, job->open ? job->offset : row->offset};
    tv_ft_emit_slice(lines->emitter, &emitted);
    job->open = false;
    line->since = row->time;
    line->known = true;
}

/* Tell whether two readings of the processor's clock can be of one job. */
static bool ft_gpu_are_ticks_near(int64_t from, int64_t to)
{
    return from >= 0 && to >= from && to - from <= MAX_TICKS;
}

/* Convert ticks of Adreno's clock, rounded to the nearest. */
static int64_t ft_gpu_ticks_to_ns(int64_t ticks)
{
    return (ticks * TICK_NUMERATOR + TICK_DENOMINATOR / 2) / TICK_DENOMINATOR;
}

/* Add the async slice "pipeline" with the parts "queued" and "running" inside it. */
static void ft_timelines_add_pipeline(struct tv_ft_timelines *lines, const struct ft_gpu_job *job,
                                      const struct tv_ft_deferred *row,
                                      const struct tv_ft_emitted *run)
{
    struct tv_ft_merge *merge = lines->emitter->merge;
    struct tv_bytes id = tv_trace_info_text(merge->trace->head, row->text);
    char name[48];
    uint32_t top = (uint32_t)merge->whole_asyncs.count;
    struct tv_async_slice slice = {
        .start = job->time,
        .length = ft_gpu_ticks_to_ns(row->values[VALUE_LAST] - job->ticks),
        .cpu_start = TV_NO_TIME,
        .cpu_length = TV_NO_TIME,
        .offset = job->offset,
        .end_offset = row->offset,
        .frame = tv_ft_merge_frame(merge, TV_BYTES("pipeline"), ""),
        .parent = TV_NONE,
        .start_thread = row->line,
        .process = TV_NONE,
        .end_thread = row->line,
        .id = row->text,
        .group = TV_NONE,
    };
    *tv_table_add(&merge->whole_asyncs) = slice;
    slice.parent = top;
    slice.length = run->start - job->time;
    size_t length = tv_ft_format_title(name, sizeof name, "* queued", id);
    slice.frame = tv_ft_merge_frame(merge, (struct tv_bytes){(uint8_t *)name, length}, "");
    *tv_table_add(&merge->whole_asyncs) = slice;
    slice.start = run->start;
    slice.length = run->length;
    length = tv_ft_format_title(name, sizeof name, "* running", id);
    slice.frame = tv_ft_merge_frame(merge, (struct tv_bytes){(uint8_t *)name, length}, "");
    *tv_table_add(&merge->whole_asyncs) = slice;
}

/* End a job of Adreno. The processor's own clock says when it ran, relative to its value when
 * the job was queued. */
static void ft_timelines_end_gpu_job(struct tv_ft_timelines *lines,
                                     const struct tv_ft_deferred *row)
{
    struct ft_gpu_job *job = ft_timelines_find_job(lines, row);
    int64_t first = row->values[VALUE_FIRST], last = row->values[VALUE_LAST];
    struct tv_ft_emitted emitted = {row->line, ft_timelines_frame(lines, row->text, ""), row->time,
                                    0, row->offset};
    if (!job->open || !ft_gpu_are_ticks_near(job->ticks, first) ||
        !ft_gpu_are_ticks_near(first, last) || job->time > INT64_MAX / 2) {
        tv_ft_emit_instant(lines->emitter, &emitted);
        return;
    }
    emitted.start = job->time + ft_gpu_ticks_to_ns(first - job->ticks);
    emitted.length = ft_gpu_ticks_to_ns(last - first);

    job->open = false;
    tv_ft_emit_slice(lines->emitter, &emitted);
    ft_timelines_add_pipeline(lines, job, row, &emitted);
}

/* Apply a deferred event; rows come in the order of time. */
void tv_ft_timelines_take(struct tv_ft_timelines *lines, const struct tv_ft_deferred *row)
{
    assert(row->kind >= TV_FT_TIMELINE && row->line != TV_NONE);
    struct ft_timeline *line = ft_timelines_find(lines, row->line);
    line->category = row->kind == TV_FT_BUSY ? "memreclaim" : "";
    switch (row->kind) {
    case TV_FT_BUSY:
        if (line->text != TV_EMPTY_STRING && row->text != TV_EMPTY_STRING) {
            ft_timeline_note_order(line, row);
            return;
        }
        line->order = row->values[VALUE_ORDER];
        ft_timeline_take_value(lines, line, row);
        break;
    case TV_FT_TIMELINE:
        ft_timeline_take_value(lines, line, row);
        break;
    case TV_FT_FENCE:
        ft_timeline_take_fence(lines, line, row);
        break;
    case TV_FT_JOB_END:
        ft_timelines_end_job(lines, line, row);
        return;
    case TV_FT_GPU_END:
        ft_timelines_end_gpu_job(lines, row);
        return;
    default:
        ft_timelines_begin_job(lines, row);
        return;
    }
    line->known = true;
    line->since = row->time;
}

/* Slices and jobs that nothing ended last to the end of the trace. */
void tv_ft_timelines_finish(struct tv_ft_timelines *lines)
{
    for (size_t i = 0; i < lines->lines.count; i++) {
        const struct ft_timeline *line = &lines->lines.rows[i];
        if (!line->known || line->text == TV_EMPTY_STRING)
            continue;
        struct tv_ft_emitted emitted = {line->thread,
                                        ft_timelines_frame(lines, line->text, line->category),
                                        line->since, 0, line->offset};
        tv_ft_emit_open_slice(lines->emitter, &emitted);
    }
    for (size_t i = 0; i < lines->jobs.count; i++) {
        const struct ft_gpu_job *job = &lines->jobs.rows[i];
        if (!job->open)
            continue;
        struct tv_ft_emitted emitted = {job->line, ft_timelines_frame(lines, job->text, ""),
                                        job->time, 0, job->offset};
        tv_ft_emit_open_slice(lines->emitter, &emitted);
    }
    tv_map_release(&lines->line_of);
    tv_map_release(&lines->job_of);
    tv_free(lines->lines.rows);
    tv_free(lines->jobs.rows);
    tv_free(lines);
}

/* ---- Counters of Mali (mali_hwc_*) ---- */

/* Names are those of Trace Viewer (ftrace.md section 3); an unknown counter shows its own. */

#define PREFIX "mali_hwc_"

/* Handle "val=238". */
static enum tv_ft_taken ft_handle_mali_counter(struct tv_ft_chunk *chunk,
                                               const struct tv_ft_line *line,
                                               const struct tv_ft_at *at,
                                               const struct tv_ft_event *event)
{
    double value;
    if (!tv_ft_arg_quantity(line->details, "val", &value))
        return TV_FT_MALFORMED;
    struct tv_bytes title = line->event;
    if (event->title)
        title = tv_bytes_of(event->title);
    struct tv_ft_counter counter = {
        .tgid = TV_FT_NO_ID,
        .name = tv_ft_chunk_string(chunk, title),
        .category = tv_ft_chunk_string(chunk, tv_bytes_of(event->category)),
        .series = tv_ft_chunk_string(chunk, tv_bytes_of(event->series)),
    };
    tv_ft_chunk_count(chunk, at, &counter, value);
    return TV_FT_TAKEN;
}

/* Counters of each of the seven job slots. */
static const struct {
    const char *name, *title, *series;
} slot_counters[] = {
    {"_JOBS", " Jobs", "count"},
    {"_TASKS", " Tasks", "count"},
    {"_ACTIVE", " Active", "cycles"},
    {"_WAIT_READ", " Wait Read", "cycles"},
    {"_WAIT_ISSUE", " Wait Issue", "cycles"},
    {"_WAIT_DEPEND", " Wait Depend", "cycles"},
    {"_WAIT_FINISH", " Wait Finish", "cycles"},
};

/* Handle "mali_hwc_JS3_JOBS". */
static enum tv_ft_taken ft_handle_mali_slot(struct tv_ft_chunk *chunk,
                                            const struct tv_ft_line *line,
                                            const struct tv_ft_at *at,
                                            const struct tv_ft_event *event)
{
    struct tv_bytes name = tv_ft_after(line->event, "_JS");
    char title[32];
    (void)event;
    for (size_t i = 0; name.length > 1 && i < TV_COUNT(slot_counters); i++) {
        struct tv_bytes rest = {name.data + 1, name.length - 1}, slot = {name.data, 1};
        if (!tv_bytes_equal(rest, tv_bytes_of(slot_counters[i].name)))
            continue;
        size_t length = tv_ft_format_title(title, sizeof title - 16, "JM: JS*", slot);
        length +=
            tv_ft_format_title(title + length, sizeof title - length, slot_counters[i].title, slot);
        struct tv_ft_event counter = {
            .title = title, .category = "mali:jm", .series = slot_counters[i].series};
        return ft_handle_mali_counter(chunk, line, at, &counter);
    }
    return TV_FT_INSTANT;
}

const struct tv_ft_event tv_ft_mali_slot = {.name = PREFIX "JS", .handle = ft_handle_mali_slot};

const struct tv_ft_event tv_ft_mali_other = {
    .name = PREFIX, .handle = ft_handle_mali_counter, .category = "mali", .series = "value"};

#define COUNTER(event, of, shown, counted)                                                         \
    {                                                                                              \
        .name = PREFIX event, .handle = ft_handle_mali_counter, .title = shown,                    \
        .category = "mali:" of, .series = counted                                                  \
    }
#define JM(event, title) COUNTER(event, "jm", "JM: " title, "count")
#define JM_CYCLES(event, title) COUNTER(event, "jm", "JM: " title, "cycles")
#define TILER(event, title) COUNTER(event, "tiler", "Tiler: " title, "count")
#define TILER_CYCLES(event, title) COUNTER(event, "tiler", "Tiler: " title, "cycles")
#define FRAGMENT(event, title) COUNTER(event, "fragment", "Fragment: " title, "count")
#define FRAGMENT_CYCLES(event, title) COUNTER(event, "fragment", "Fragment: " title, "cycles")
#define COMPUTE(event, title) COUNTER(event, "compute", "Compute: " title, "count")
#define COMPUTE_CYCLES(event, title) COUNTER(event, "compute", "Compute: " title, "cycles")
#define TRIPIPE_CYCLES(event, title) COUNTER(event, "shader", "Tripipe: " title, "cycles")
#define ARITH(event, title) COUNTER(event, "arith", "Arith: " title, "count")
#define ARITH_CYCLES(event, title) COUNTER(event, "arith", "Arith: " title, "cycles")
#define LS(event, title) COUNTER(event, "ls", "LS: " title, "count")
#define TEXTURE(event, title) COUNTER(event, "texture", "Texture: " title, "count")
#define LSC(event, title) COUNTER(event, "lsc", "LSC: " title, "count")
#define AXI(event, title) COUNTER(event, "axi", "AXI: " title, "count")
#define MMU(event, title) COUNTER(event, "mmu", "MMU: " title, "count")
#define MMU_CYCLES(event, title) COUNTER(event, "mmu", "MMU: " title, "cycles")
#define L2(event, title) COUNTER(event, "l2", "L2: " title, "count")
#define L2_CYCLES(event, title) COUNTER(event, "l2", "L2: " title, "cycles")

const struct tv_ft_event tv_ft_mali_events[] = {
    JM("MESSAGES_SENT", "Messages Sent"),
    JM("MESSAGES_RECEIVED", "Messages Received"),
    JM_CYCLES("GPU_ACTIVE", "GPU Active"),
    JM_CYCLES("IRQ_ACTIVE", "IRQ Active"),
    TILER("TRIANGLES", "Triangles"),
    TILER("QUADS", "Quads"),
    TILER("POLYGONS", "Polygons"),
    TILER("POINTS", "Points"),
    TILER("LINES", "Lines"),
    TILER("VCACHE_HIT", "VCache Hit"),
    TILER("VCACHE_MISS", "VCache Miss"),
    TILER("FRONT_FACING", "Front Facing"),
    TILER("BACK_FACING", "Back Facing"),
    TILER("PRIM_VISIBLE", "Prim Visible"),
    TILER("PRIM_CULLED", "Prim Culled"),
    TILER("PRIM_CLIPPED", "Prim Clipped"),
    TILER("WRBUF_HIT", "Wrbuf Hit"),
    TILER("WRBUF_MISS", "Wrbuf Miss"),
    TILER("WRBUF_LINE", "Wrbuf Line"),
    TILER("WRBUF_PARTIAL", "Wrbuf Partial"),
    TILER("WRBUF_STALL", "Wrbuf Stall"),
    TILER_CYCLES("ACTIVE", "Tiler Active"),
    TILER_CYCLES("INDEX_WAIT", "Index Wait"),
    TILER_CYCLES("INDEX_RANGE_WAIT", "Index Range Wait"),
    TILER_CYCLES("VERTEX_WAIT", "Vertex Wait"),
    TILER_CYCLES("PCACHE_WAIT", "Pcache Wait"),
    TILER_CYCLES("WRBUF_WAIT", "Wrbuf Wait"),
    TILER_CYCLES("BUS_READ", "Bus Read"),
    TILER_CYCLES("BUS_WRITE", "Bus Write"),
    TILER_CYCLES("TILER_UTLB_STALL", "Tiler UTLB Stall"),
    TILER_CYCLES("TILER_UTLB_HIT", "Tiler UTLB Hit"),
    FRAGMENT_CYCLES("FRAG_ACTIVE", "Active"),
    FRAGMENT("FRAG_PRIMATIVES", "Primitives"),
    FRAGMENT("FRAG_PRIMATIVES_DROPPED", "Primitives Dropped"),
    FRAGMENT_CYCLES("FRAG_CYCLE_DESC", "Descriptor Processing"),
    FRAGMENT_CYCLES("FRAG_CYCLES_PLR", "PLR Processing?\?"),
    FRAGMENT_CYCLES("FRAG_CYCLES_VERT", "Vertex Processing"),
    FRAGMENT_CYCLES("FRAG_CYCLES_TRISETUP", "Triangle Setup"),
    FRAGMENT_CYCLES("FRAG_CYCLES_RAST", "Rasterization?\??"),
    FRAGMENT("FRAG_THREADS", "Threads"),
    FRAGMENT("FRAG_DUMMY_THREADS", "Dummy Threads"),
    FRAGMENT("FRAG_QUADS_RAST", "Quads Rast"),
    FRAGMENT("FRAG_QUADS_EZS_TEST", "Quads EZS Test"),
    FRAGMENT("FRAG_QUADS_EZS_KILLED", "Quads EZS Killed"),
    FRAGMENT("FRAG_QUADS_LZS_TEST", "Quads LZS Test"),
    FRAGMENT("FRAG_QUADS_LZS_KILLED", "Quads LZS Killed"),
    FRAGMENT_CYCLES("FRAG_CYCLE_NO_TILE", "No Tiles"),
    FRAGMENT("FRAG_NUM_TILES", "Tiles"),
    FRAGMENT("FRAG_TRANS_ELIM", "Transactions Eliminated"),
    COMPUTE_CYCLES("COMPUTE_ACTIVE", "Active"),
    COMPUTE("COMPUTE_TASKS", "Tasks"),
    COMPUTE("COMPUTE_THREADS", "Threads Started"),
    COMPUTE_CYCLES("COMPUTE_CYCLES_DESC", "Waiting for Descriptors"),
    TRIPIPE_CYCLES("TRIPIPE_ACTIVE", "Active"),
    ARITH("ARITH_WORDS", "Instructions (/Pipes)"),
    ARITH_CYCLES("ARITH_CYCLES_REG", "Reg scheduling stalls (/Pipes)"),
    ARITH_CYCLES("ARITH_CYCLES_L0", "L0 cache miss stalls (/Pipes)"),
    ARITH("ARITH_FRAG_DEPEND", "Frag dep check failures (/Pipes)"),
    LS("LS_WORDS", "Instruction Words Completed"),
    LS("LS_ISSUES", "Full Pipeline Issues"),
    LS("LS_RESTARTS", "Restarts (unpairable insts)"),
    LS("LS_REISSUES_MISS", "Pipeline reissue (cache miss/uTLB)"),
    LS("LS_REISSUES_VD", "Pipeline reissue (varying data)"),
    LS("LS_REISSUE_ATTRIB_MISS", "Pipeline reissue (attribute cache miss)"),
    LS("LS_REISSUE_NO_WB", "Writeback not used"),
    TEXTURE("TEX_WORDS", "Words"),
    TEXTURE("TEX_BUBBLES", "Bubbles"),
    TEXTURE("TEX_WORDS_L0", "Words L0"),
    TEXTURE("TEX_WORDS_DESC", "Words Desc"),
    TEXTURE("TEX_THREADS", "Threads"),
    TEXTURE("TEX_RECIRC_FMISS", "Recirc due to Full Miss"),
    TEXTURE("TEX_RECIRC_DESC", "Recirc due to Desc Miss"),
    TEXTURE("TEX_RECIRC_MULTI", "Recirc due to Multipass"),
    TEXTURE("TEX_RECIRC_PMISS", "Recirc due to Partial Cache Miss"),
    TEXTURE("TEX_RECIRC_CONF", "Recirc due to Cache Conflict"),
    LSC("LSC_READ_HITS", "Read Hits"),
    LSC("LSC_READ_MISSES", "Read Misses"),
    LSC("LSC_WRITE_HITS", "Write Hits"),
    LSC("LSC_WRITE_MISSES", "Write Misses"),
    LSC("LSC_ATOMIC_HITS", "Atomic Hits"),
    LSC("LSC_ATOMIC_MISSES", "Atomic Misses"),
    LSC("LSC_LINE_FETCHES", "Line Fetches"),
    LSC("LSC_DIRTY_LINE", "Dirty Lines"),
    LSC("LSC_SNOOPS", "Snoops"),
    AXI("AXI_TLB_STALL", "Address channel stall"),
    AXI("AXI_TLB_MISS", "Cache Miss"),
    AXI("AXI_TLB_TRANSACTION", "Transactions"),
    AXI("LS_TLB_MISS", "LS Cache Miss"),
    AXI("LS_TLB_HIT", "LS Cache Hit"),
    AXI("AXI_BEATS_READ", "Read Beats"),
    AXI("AXI_BEATS_WRITE", "Write Beats"),
    MMU("MMU_TABLE_WALK", "Page Table Walks"),
    MMU("MMU_REPLAY_MISS", "Cache Miss from Replay Buffer"),
    MMU("MMU_REPLAY_FULL", "Replay Buffer Full"),
    MMU("MMU_NEW_MISS", "Cache Miss on New Request"),
    MMU("MMU_HIT", "Cache Hit"),
    MMU_CYCLES("UTLB_STALL", "UTLB Stalled"),
    MMU_CYCLES("UTLB_REPLAY_MISS", "UTLB Replay Miss"),
    MMU_CYCLES("UTLB_REPLAY_FULL", "UTLB Replay Full"),
    MMU_CYCLES("UTLB_NEW_MISS", "UTLB New Miss"),
    MMU_CYCLES("UTLB_HIT", "UTLB Hit"),
    L2("L2_READ_BEATS", "Read Beats"),
    L2("L2_WRITE_BEATS", "Write Beats"),
    L2("L2_ANY_LOOKUP", "Any Lookup"),
    L2("L2_READ_LOOKUP", "Read Lookup"),
    L2("L2_SREAD_LOOKUP", "Shareable Read Lookup"),
    L2("L2_READ_REPLAY", "Read Replayed"),
    L2("L2_READ_SNOOP", "Read Snoop"),
    L2("L2_READ_HIT", "Read Cache Hit"),
    L2("L2_CLEAN_MISS", "CleanUnique Miss"),
    L2("L2_WRITE_LOOKUP", "Write Lookup"),
    L2("L2_SWRITE_LOOKUP", "Shareable Write Lookup"),
    L2("L2_WRITE_REPLAY", "Write Replayed"),
    L2("L2_WRITE_SNOOP", "Write Snoop"),
    L2("L2_WRITE_HIT", "Write Cache Hit"),
    L2("L2_EXT_READ_FULL", "ExtRD with BIU Full"),
    L2("L2_EXT_READ_HALF", "ExtRD with BIU >1/2 Full"),
    L2("L2_EXT_WRITE_FULL", "ExtWR with BIU Full"),
    L2("L2_EXT_WRITE_HALF", "ExtWR with BIU >1/2 Full"),
    L2("L2_EXT_READ", "External Read (ExtRD)"),
    L2("L2_EXT_READ_LINE", "ExtRD (linefill)"),
    L2("L2_EXT_WRITE", "External Write (ExtWR)"),
    L2("L2_EXT_WRITE_LINE", "ExtWR (linefill)"),
    L2("L2_EXT_WRITE_SMALL", "ExtWR (burst size <64B)"),
    L2("L2_EXT_BARRIER", "External Barrier"),
    L2("L2_EXT_AR_STALL", "Address Read stalls"),
    L2("L2_EXT_R_BUF_FULL", "Response Buffer full stalls"),
    L2("L2_EXT_RD_BUF_FULL", "Read Data Buffer full stalls"),
    L2("L2_EXT_R_RAW", "RAW hazard stalls"),
    L2("L2_EXT_W_STALL", "Write Data stalls"),
    L2("L2_EXT_W_BUF_FULL", "Write Data Buffer full"),
    L2("L2_EXT_R_W_HAZARD", "WAW or WAR hazard stalls"),
    L2("L2_TAG_HAZARD", "Tag hazard replays"),
    L2_CYCLES("L2_SNOOP_FULL", "Snoop buffer full"),
    L2_CYCLES("L2_REPLAY_FULL", "Replay buffer full"),
    {.name = NULL},
};
