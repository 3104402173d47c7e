/* SPDX-License-Identifier: Apache-2.0 */
/*
 * generate_trace_event.c - writes a large Trace Event file for measurements.
 *
 *     generate-trace-event OUTPUT BYTES [chrome|pytorch|bazel|counters]
 *
 * trace_event_styles.h tells of the others.  What the shape of chrome is: the object form with one
 * event a line, as Chrome writes it; four processes of ten threads; tasks that are trees of nested
 * slices, in the order of their starts; of the events X 46 %, B and E 36 %, async 7 %, flows 5 %,
 * counters 3.5 %, instants 2.4 %, with arguments nested and escaped as Chrome has them, 178 bytes
 * an event in the mean.  The same arguments give the same bytes on every machine.
 */
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "random_text.h"
#include "trace_event_styles.h"

#define SEED 7

#define PROCESSES 4u
#define THREADS 10u /* a process */
#define LANES (PROCESSES * THREADS)
#define MAX_DEPTH 13u
#define PENDING 64u /* flows that are on their way */

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static const char *const tasks[] = {"ThreadControllerImpl::RunTask", "ThreadPool_RunTask", "Task"};

static const char *const names[] = {
    "FunctionCall",
    "EvaluateScript",
    "V8.GCScavenger",
    "MinorGC",
    "UpdateLayoutTree",
    "Layout",
    "PrePaint",
    "Layerize",
    "Commit",
    "RasterTask",
    "ImageDecodeTask",
    "Decode Image",
    "ParseHTML",
    "TimerFire",
    "FireAnimationFrame",
    "EventDispatch",
    "ResourceReceivedData",
    "v8.compile",
    "v8.run",
    "Scheduler::BeginImplFrame",
    "LayerTreeHostImpl::PrepareToDraw",
    "GpuChannel::ExecuteDeferredRequest",
    "CommandBuffer::Flush",
    "Receive mojo message",
    "SimpleWatcher::OnHandleReady",
    "Connector::DispatchMessage",
    "DiskCache::OpenEntry",
    "URLLoader::OnReadCompleted",
    "ProxyMain::BeginMainFrame::commit",
    "BlinkGC.AtomicPauseMarkTransitiveClosure",
    "PageAnimator::serviceScriptedAnimations",
};

static const char *const categories[] = {
    "devtools.timeline",
    "v8",
    "cc",
    "blink",
    "gpu",
    "net",
    "ipc,toplevel",
    "disabled-by-default-devtools.timeline",
    "disabled-by-default-v8.gc",
    "loading,rail",
};

static const char *const sources[] = {
    "../../mojo/public/cpp/system/simple_watcher.cc",
    "../../cc/scheduler/scheduler.cc",
    "../../base/task/thread_pool/task_tracker.cc",
    "../../third_party/blink/renderer/core/dom/document.cc",
};

struct generator {
    struct random_text *text;
    uint64_t events;
    uint64_t clock;
    uint64_t free_at[LANES], cpu[LANES];
    uint64_t next_id;
    struct {
        uint64_t id, start;
    } pending[PENDING];
    unsigned pending_count;
};

/* A slice that is being written. */
struct slice {
    unsigned lane, depth;
    uint64_t start, length;
};

static void begin_event(struct generator *g, unsigned lane, uint64_t time, const char *phase)
{
    unsigned pid = 1000 + lane / THREADS * 100;
    put(g->text, "%s{\"pid\":%u,\"tid\":%u,\"ts\":%" PRIu64 ",\"ph\":\"%s\"",
        g->events ? ",\n" : "", pid, pid + lane % THREADS, time, phase);
    g->events++;
}

static void put_args(struct generator *g)
{
    uint64_t r = next_random(g->text);
    switch (below(g->text, 6)) {
    case 0:
        put(g->text, ",\"args\":{}");
        break;
    case 1:
        put(g->text, ",\"args\":{\"src_file\":\"%s\",\"src_func\":\"f%u\"}",
            sources[r % COUNT(sources)], (unsigned)(r >> 8) % 300);
        break;
    case 2:
        put(g->text,
            ",\"args\":{\"data\":{\"columnNumber\":%u,\"frame\":\"%016" PRIX64
            "\",\"functionName\":\"\",\"lineNumber\":%u,\"url\":"
            "\"https://www.example.com/static/js/app.%04x.js?v=1\\u0026q\"}}",
            (unsigned)(r >> 8) % 4000, r, (unsigned)(r >> 20) % 20000, (unsigned)(r >> 9) & 15);
        break;
    case 3:
        put(g->text, ",\"args\":{\"frameSeqId\":%u,\"layerTreeId\":%u}",
            (unsigned)(r >> 8) % 100000, (unsigned)(r >> 30) % 9);
        break;
    case 4:
        put(g->text,
            ",\"args\":{\"heapBefore\":%u,\"heapAfter\":%u,\"type\":\"young \\\"gen\\\"\"}",
            (unsigned)(r >> 8) & 0xfffffff, (unsigned)(r >> 12) & 0xfffffff);
        break;
    default:
        put(g->text,
            ",\"args\":{\"priority\":%u,\"ratio\":0.%06u,\"ok\":true,\"list\":[1,2,%u,null]}",
            (unsigned)(r >> 8) % 10, (unsigned)(r >> 20) % 1000000, (unsigned)(r >> 33) & 0xff);
        break;
    }
}

static void put_name(struct generator *g, const char *category, const char *name)
{
    put(g->text, ",\"cat\":\"%s\",\"name\":\"%s\"", category, name);
}

static void put_children(struct generator *g, const struct slice *slice);

/* As X, or as B and E. */
static void put_slice(struct generator *g, const struct slice *slice)
{
    bool paired = slice->depth > 0 && below(g->text, 100) < 30;
    const char *name =
        slice->depth ? names[below(g->text, COUNT(names))] : tasks[below(g->text, 3)];
    const char *category =
        slice->depth ? categories[below(g->text, COUNT(categories))] : "toplevel";
    uint64_t *cpu = &g->cpu[slice->lane], cpu_start = *cpu, cpu_length = slice->length * 3 / 4;
    *cpu += cpu_length;
    begin_event(g, slice->lane, slice->start, paired ? "B" : "X");
    put_name(g, category, name);
    put_args(g);
    if (!paired)
        put(g->text, ",\"dur\":%" PRIu64 ",\"tdur\":%" PRIu64, slice->length, cpu_length);
    put(g->text, ",\"tts\":%" PRIu64 "}", cpu_start);
    put_children(g, slice);
    if (!paired)
        return;
    begin_event(g, slice->lane, slice->start + slice->length, "E");
    put_name(g, category, name);
    put(g->text, ",\"args\":{},\"tts\":%" PRIu64 "}", cpu_start + cpu_length);
}

/* At most MAX_DEPTH levels. */
static void put_children(struct generator *g, const struct slice *slice)
{
    uint64_t at = slice->start + 1, end = slice->start + slice->length - 1;
    unsigned count = slice->depth ? below(g->text, 4) : 2 + below(g->text, 3);
    if (slice->depth + 1 >= MAX_DEPTH || slice->length < 8)
        return;
    for (unsigned i = 0; i < count && at + 2 < end; i++) {
        uint64_t room = (end - at) / (count - i);
        struct slice child = {slice->lane, slice->depth + 1, at,
                              1 + below(g->text, (unsigned)room + 1)};
        if (child.start + child.length > end)
            child.length = end - child.start;
        put_slice(g, &child);
        at = child.start + child.length + below(g->text, 2);
    }
}

static void put_async(struct generator *g, const struct slice *task)
{
    static const char *const phases[] = {"b", "n", "e"};
    uint64_t id = g->next_id++;
    for (unsigned i = 0; i < 3; i++) {
        begin_event(g, task->lane, task->start + 2 + task->length * i / 2, phases[i]);
        put_name(g, "net", i == 1 ? "headers" : "URL_REQUEST");
        put(g->text,
            ",\"id\":\"0x%" PRIx64 "\",\"args\":{\"url\":\"https://example.com/r/%" PRIu64 "\"}}",
            id, id);
    }
}

static void put_flow(struct generator *g, const struct slice *task)
{
    bool starts = g->pending_count == 0 || (g->pending_count < PENDING && below(g->text, 2));
    uint64_t time = task->start + 1;
    if (starts) {
        g->pending[g->pending_count].id = g->next_id++;
        g->pending[g->pending_count++].start = time;
    } else if (g->pending[--g->pending_count].start >= time) {
        time = g->pending[g->pending_count].start + 1; /* threads have clocks of their own */
    }
    begin_event(g, task->lane, time, starts ? "s" : "f");
    put_name(g, "toplevel.flow", "PostTask");
    uint64_t id = g->pending[g->pending_count - starts].id;
    put(g->text, ",\"id\":%" PRIu64 "%s,\"args\":{}}", id, starts ? "" : ",\"bp\":\"e\"");
}

static void put_counter(struct generator *g, const struct slice *task)
{
    begin_event(g, task->lane, task->start + 1, "C");
    put_name(g, "disabled-by-default-devtools.timeline", "UpdateCounters");
    put(g->text, ",\"args\":{\"documents\":%u,\"jsHeapSizeUsed\":%u,\"nodes\":%u}}",
        below(g->text, 20), below(g->text, 1u << 24), below(g->text, 20000));
}

static void put_instant(struct generator *g, const struct slice *task)
{
    begin_event(g, task->lane, task->start + 3, "I");
    put_name(g, "devtools.timeline", "TracingStartedInPage");
    put(g->text, ",\"s\":\"t\",\"args\":{\"data\":{\"page\":\"%x\"}}}", below(g->text, 1u << 30));
}

static void put_task(struct generator *g)
{
    struct slice task = {below(g->text, LANES), 0, 0,
                         20 + below(g->text, 400) * (1 + below(g->text, 3))};
    g->clock += below(g->text, 60);
    uint64_t *free_at = &g->free_at[task.lane];
    task.start = *free_at > g->clock ? *free_at : g->clock;
    *free_at = task.start + task.length + below(g->text, 16);
    put_slice(g, &task);
    if (below(g->text, 100) < 50)
        put_async(g, &task);
    for (unsigned i = below(g->text, 100) < 7 ? 2 : 1; i > 0; i--)
        put_flow(g, &task);
    if (below(g->text, 100) < 75)
        put_counter(g, &task);
    if (below(g->text, 100) < 50)
        put_instant(g, &task);
}

static void put_metadata(struct generator *g)
{
    static const char *const processes[PROCESSES] = {"Browser", "Renderer", "GPU Process",
                                                     "Utility: Network Service"};
    for (unsigned lane = 0; lane < LANES; lane++) {
        if (lane % THREADS == 0) {
            begin_event(g, lane, 0, "M");
            put_name(g, "__metadata", "process_name");
            put(g->text, ",\"args\":{\"name\":\"%s\"}}", processes[lane / THREADS]);
        }
        begin_event(g, lane, 0, "M");
        put_name(g, "__metadata", "thread_name");
        put(g->text, ",\"args\":{\"name\":\"Worker%u\"}}", lane % THREADS);
    }
}

static uint64_t write_chrome(struct random_text *text, uint64_t limit)
{
    struct generator g = {.text = text, .clock = 5000000000, .next_id = 1};
    put(text, "{\"traceEvents\":[");
    put_metadata(&g);
    while (text_length(text) < limit)
        put_task(&g);
    put(text, "],\n\"metadata\":{\"command_line\":\"chrome --trace\",\"num-cpus\":8}}\n");
    return g.events;
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        uint64_t (*write)(struct random_text *text, uint64_t limit);
    } styles[] = {{"chrome", write_chrome},
                  {"pytorch", write_pytorch},
                  {"bazel", write_bazel},
                  {"counters", write_counters}};
    static struct random_text text;
    size_t style = 0;
    uint64_t limit;
    while (argc == 4 && style < COUNT(styles) && strcmp(argv[3], styles[style].name) != 0)
        style++;
    if (argc < 3 || argc > 4 || style == COUNT(styles) ||
        !tv_parse_u64(tv_bytes_of(argv[2]), &limit)) {
        fprintf(stderr,
                "usage: generate-trace-event OUTPUT BYTES [chrome|pytorch|bazel|counters]\n");
        return 2;
    }
    text_open(&text, argv[1], SEED);
    uint64_t events = styles[style].write(&text, limit);
    text_close(&text);
    printf("%" PRIu64 " bytes, %" PRIu64 " events\n", text.written, events);
    return 0;
}
