/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The table of rules, the names that they look for, and what a main thread is called by which
 * recorder.  docs/findings.md is written from this table.
 *
 * A rule is data: a condition (calls longer than a limit, frames that are late, diagnostics ...),
 * the names it looks for, those that it passes over, and its words.  The limits are not tuned to
 * any program.  Each has a reason outside of traceview, which is a member of the rule: the interval
 * of a display, the definition of a long task, the cost of a free lock.
 *
 * Words in braces are filled in: {calls} and {events} are counts with their noun, {total} and
 * {worst} times, {name} the method of the worst, {limit} the rule's own.
 */
#include "analysis/findings/findings.h"

#include <string.h>

#include "analysis/subset/subset.h"
#include "base/bytes.h"
#include "base/memory.h"

#define MS INT64_C(1000000)

/* Almost all traces are merely cut off at their ends; that is not in this list. */
static const enum tv_diagnostic_kind unpaired[] = {
    TV_DIAGNOSTIC_MISSING_EXIT,   TV_DIAGNOSTIC_IGNORED_EXIT,      TV_DIAGNOSTIC_TITLE_MISMATCH,
    TV_DIAGNOSTIC_TIME_BACKWARDS, TV_DIAGNOSTIC_ASYNC_BEGUN_TWICE,
};
static const enum tv_diagnostic_kind lost[] = {
    TV_DIAGNOSTIC_OVERFLOW,
    TV_DIAGNOSTIC_EVENTS_LOST,
    TV_DIAGNOSTIC_OVERWRITTEN,
};

/* In the order of output; warnings come before notes. */
const struct tv_rule tv_rules[TV_RULES] = {
    {
        .name = "buffer-overflow",
        .title = "The buffer was full",
        .looks_at = "marks of a recorder whose buffer was full",
        .text = "The recorder's buffer was full: what did not fit is in no figure.",
        .reason = "what was not recorded is in no sum",
        .condition = TV_RULE_DIAGNOSTICS,
        .severity = TV_WARNING,
        .kinds = lost,
        .kind_count = (uint32_t)TV_COUNT(lost),
    },
    {
        .name = "unbalanced-events",
        .title = "Unbalanced events",
        .looks_at = "ends that are missing or of something else, times that go back",
        .text = "{events} out of balance or out of order: calls at these places may have other "
                "lengths than they had.",
        .reason = "where an end is missing, of something else or out of order, the length of a "
                  "call may be a guess",
        .condition = TV_RULE_DIAGNOSTICS,
        .severity = TV_WARNING,
        .kinds = unpaired,
        .kind_count = (uint32_t)TV_COUNT(unpaired),
    },
    {
        .name = "slow-frame",
        .title = "Slow frames",
        .looks_at = "the making of pictures, of Android, Chromium, Flutter and Unity",
        .text = "{frames} later than the deadline: {total} in all, the longest {worst}, of {name}. "
                "{deadline}",
        .reason = "a display shows a picture with each vertical sync, every 16.7 ms at 60 Hz: "
                  "whoever takes longer misses one",
        .condition = TV_RULE_FRAMES,
        .severity = TV_WARNING,
    },
    {
        .name = "long-on-main-thread",
        .title = "Long calls on a main thread",
        .looks_at = "calls of threads that draw and answer the user",
        .text = "{calls} longer than {limit} on a main thread, the innermost ones counted: {total} "
                "in all, the longest {worst}, of {name}.",
        .reason = "the W3C's Long Tasks API calls a task of more than 50 ms long: input that comes "
                  "meanwhile is answered too late",
        .condition = TV_RULE_CALLS,
        .severity = TV_WARNING,
        .on_main = true,
        .innermost = true,
        .waits = TV_NAMES_IDLE | TV_NAMES_BLOCKED | TV_NAMES_CONTENTION,
        .passes = TV_NAMES_LOOP,
        .longer = 50 * MS,
    },
    {
        .name = "blocked-main-thread",
        .title = "A main thread waits for another thread",
        .looks_at = "Object.wait, park, sleep, join and the like on main threads",
        .text = "A main thread waited for another thread or for time to pass: {calls} longer than "
                "{limit}, {total} in all, the longest {worst}, of {name}.",
        .reason = "a wait that is longer than the time between two pictures costs one",
        .condition = TV_RULE_CALLS,
        .severity = TV_WARNING,
        .on_main = true,
        .names = TV_NAMES_BLOCKED,
        .longer = TV_DISPLAY_INTERVAL_NS,
        .one_picture = true,
    },
    {
        .name = "lock-contention",
        .title = "Waiting for locks",
        .looks_at = "taking locks and monitors that may be held by another thread",
        .text = "Locks were taken slowly: {calls} longer than {limit}, {total} in all, the longest "
                "{worst}, of {name}.",
        .reason = "a lock that is free takes less than 1 us: for 1 ms another thread held it, or "
                  "this one did not run",
        .condition = TV_RULE_CALLS,
        .severity = TV_WARNING,
        .names = TV_NAMES_CONTENTION,
        .longer = 1 * MS,
    },
    {
        .name = "gc-on-main-thread",
        .title = "Garbage collection on a main thread",
        .looks_at = "collections on main threads",
        .text = "Garbage was collected on a main thread: {calls} longer than {limit}, {total} in "
                "all, the longest {worst}, of {name}.",
        .reason = "a pause that is longer than the time between two pictures costs one",
        .condition = TV_RULE_CALLS,
        .severity = TV_WARNING,
        .on_main = true,
        .names = TV_NAMES_GC,
        .longer = TV_DISPLAY_INTERVAL_NS,
        .one_picture = true,
    },
    {
        .name = "hot-tiny-calls",
        .title = "Hot tiny calls",
        .looks_at = "methods called so often that reading the clock distorts their time",
        .text = "Reading the clock ({limit} each time, as the file says) makes up half or more of "
                "the own time of {methods}, {total} in all: they cost less than the figures say. "
                "The largest part is that of {name}, {worst}.",
        .reason = "from a half on the figure says more of the clock than of the method; less than "
                  "1 % of the time looked at changes no ranking",
        .condition = TV_RULE_CLOCK,
        .severity = TV_WARNING,
        .share = 500,
        .least = 10,
    },
    {
        .name = "waiting-inside",
        .title = "Waiting inside calls",
        .looks_at = "calls whose real time is much larger than their CPU time",
        .text = "{calls} of which more than {limit} passed without running, most of the time that "
                "is their own: {total} in all, the longest {worst}, in {name}.",
        .reason =
            "shorter gaps are often the scheduler's, and below four fifths work and waiting mix",
        .condition = TV_RULE_WAITS,
        .passes = TV_NAMES_IDLE | TV_NAMES_BLOCKED | TV_NAMES_CONTENTION | TV_NAMES_LOOP,
        .longer = 50 * MS,
        .share = 800,
    },
    {
        .name = "garbage-collection",
        .title = "Garbage collection",
        .looks_at = "collections of ART, V8, Blink, the JVM and others, all threads together",
        .text = "{calls} of garbage collection, all threads together {total}, which is {share} of "
                "the time looked at; the longest {worst}, of {name}.",
        .reason = "collectors are tuned for 1 % (HotSpot's parallel one) to 8 % (G1)",
        .condition = TV_RULE_CALLS,
        .names = TV_NAMES_GC,
        .share = 50,
    },
    {
        .name = "deep-recursion",
        .title = "Deep recursion",
        .looks_at = "methods that stand on one stack many times over",
        .text = "{methods} found {limit} times or more on one stack; the deepest is {name}, "
                "{worst} times.",
        .reason = "trees of views and of modules stay below",
        .condition = TV_RULE_RECURSION,
        .levels = 50,
    },
    {
        .name = "sampled-trace",
        .title = "Sampled, not traced",
        .looks_at = "traces whose recorder looked only now and then",
        .text = "The trace was sampled {interval}: calls shorter than the interval are missing or "
                "too long, counts of calls are not to be trusted.",
        .reason = "it is how the trace was recorded",
        .condition = TV_RULE_SAMPLED,
    },
};

uint32_t tv_rule_find(struct tv_bytes name)
{
    for (uint32_t i = 0; i < TV_RULES; i++)
        if (tv_bytes_equal(name, tv_bytes_of(tv_rules[i].name)))
            return i;
    return TV_NONE;
}

/* ---- Names ---- */

struct name_pattern {
    const char *text; /* '*' stands for any bytes; a later pattern wins */
    unsigned lists;   /* 0: on no list after all */
};

static const struct name_pattern patterns[] = {
    {"Choreographer#doFrame*", TV_NAMES_FRAME}, /* Android, atrace; often followed by a number */
    {"performTraversals", TV_NAMES_FRAME},      /* Android 4 */
    {"traversal", TV_NAMES_FRAME},
    {"doFrame", TV_NAMES_FRAME},
    {"DrawFrame", TV_NAMES_RENDER},
    {"DrawFrames *", TV_NAMES_RENDER},
    {"eglSwapBuffers*", TV_NAMES_SWAP},
    {"queueBuffer*", TV_NAMES_SWAP},
    {"postFramebuffer", TV_NAMES_FRAME},      /* Android's compositor, to version 4 */
    {"handleMessageRefresh", TV_NAMES_FRAME}, /* from 5 to 11; later there is a frame timeline */
    {"android.view.Choreographer.doFrame", TV_NAMES_FRAME}, /* method traces */
    {"ThreadProxy::BeginMainFrame", TV_NAMES_FRAME},        /* Chromium */
    {"ProxyMain::BeginMainFrame", TV_NAMES_FRAME},
    {"DirectRenderer::DrawFrame", TV_NAMES_FRAME | TV_NAMES_RENDER},
    {"Animator::BeginFrame", TV_NAMES_FRAME}, /* Flutter */
    {"GPURasterizer::Draw", TV_NAMES_FRAME | TV_NAMES_RENDER},
    {"Rasterizer::DoDraw", TV_NAMES_FRAME | TV_NAMES_RENDER},
    {"PlayerLoop", TV_NAMES_FRAME}, /* Unity */

    {"* GC", TV_NAMES_GC},  /* ART: "Background concurrent copying GC"; Bazel: "minor GC" */
    {"GC: *", TV_NAMES_GC}, /* ART: "GC: Wait For Completion Alloc" */
    {"GC.*", TV_NAMES_GC},  /* Unity */
    {"V8.GC*", TV_NAMES_GC},
    {"V8.GC*BACKGROUND*", 0}, /* runs beside the program, not instead of it */
    {"MajorGC", TV_NAMES_GC},
    {"MinorGC", TV_NAMES_GC},
    {"BlinkGC*", TV_NAMES_GC},
    {"Garbage Collection", TV_NAMES_GC}, /* Python */
    {"java.lang.Runtime.gc", TV_NAMES_GC},

    {"monitor contention with *", TV_NAMES_CONTENTION}, /* ART, a Java monitor */
    {"Lock contention on *", TV_NAMES_CONTENTION},      /* ART, a lock of the runtime */
    {"Contending for *", TV_NAMES_CONTENTION},          /* ART before Android 8 */
    {"java.util.concurrent.locks.ReentrantLock.lock", TV_NAMES_CONTENTION},
    {"java.util.concurrent.locks.ReentrantReadWriteLock$*Lock.lock", TV_NAMES_CONTENTION},
    {"pthread_mutex_lock", TV_NAMES_CONTENTION},
    {"__pthread_mutex_lock", TV_NAMES_CONTENTION},
    {"__lll_lock_wait", TV_NAMES_CONTENTION},

    {"java.lang.Object.wait", TV_NAMES_BLOCKED},
    {"java.lang.Thread.sleep", TV_NAMES_BLOCKED},
    {"java.lang.Thread.join", TV_NAMES_BLOCKED},
    {"java.lang.Thread.parkFor$", TV_NAMES_BLOCKED},
    {"java.util.concurrent.locks.LockSupport.park*", TV_NAMES_BLOCKED},
    {"sun.misc.Unsafe.park", TV_NAMES_BLOCKED},
    {"jdk.internal.misc.Unsafe.park", TV_NAMES_BLOCKED},

    {"android.os.MessageQueue.next", TV_NAMES_IDLE},
    {"android.os.MessageQueue.nativePollOnce", TV_NAMES_IDLE},
    {"epoll_wait*", TV_NAMES_IDLE},
    {"poll", TV_NAMES_IDLE},
    {"(idle)", TV_NAMES_IDLE}, /* V8's profiles */
    {"java.lang.ref.ReferenceQueue.remove", TV_NAMES_IDLE},
    {"dalvik.system.VMRuntime.runHeapTasks", TV_NAMES_IDLE},

    {"android.app.ActivityThread.main", TV_NAMES_LOOP},
    {"android.os.Looper.loop*", TV_NAMES_LOOP},
    {"com.android.internal.os.ZygoteInit*.main", TV_NAMES_LOOP},
    {"com.android.internal.os.RuntimeInit$MethodAndArgsCaller.run", TV_NAMES_LOOP},
    {"java.lang.reflect.Method.invoke", TV_NAMES_LOOP},
    {"ThreadController active", TV_NAMES_LOOP}, /* Chromium: runs as long as there are tasks */
    {"RunLoop::Run", TV_NAMES_LOOP},
};

/* By first byte of a text, the patterns that can match it, in order. */
struct name_index {
    uint8_t first[256][TV_COUNT(patterns)];
    uint8_t count[256];
};

/* List, for each first byte of a name, the patterns that may match it: most names have none, and
 * are done after one look. */
static void name_index_build(struct name_index *index)
{
    for (unsigned byte = 0; byte < 256; byte++) {
        index->count[byte] = 0;
        for (unsigned i = 0; i < TV_COUNT(patterns); i++) {
            uint8_t begins = (uint8_t)patterns[i].text[0];
            if (begins == '*' || begins == byte)
                index->first[byte][index->count[byte]++] = (uint8_t)i;
        }
    }
}

/* Return the lists of a name; the last matching pattern wins. */
static uint8_t name_index_lists(const struct name_index *index, struct tv_bytes name)
{
    unsigned lists = 0;
    if (name.length == 0)
        return 0;
    for (uint8_t i = 0; i < index->count[name.data[0]]; i++) {
        const struct name_pattern *pattern = &patterns[index->first[name.data[0]][i]];
        struct tv_bytes text = tv_bytes_of(pattern->text);
        uint8_t ends = text.data[text.length - 1];
        if ((ends == '*' || ends == name.data[name.length - 1]) && tv_glob_matches(name, text))
            lists = pattern->lists;
    }
    return (uint8_t)lists;
}

/* Join "class.method"; names longer than any pattern needs are not joined. */
static struct tv_bytes rule_qualified_name(const struct tv_trace_info *head,
                                           const struct tv_frame *frame, uint8_t room[512])
{
    struct tv_bytes name = tv_trace_info_text(head, frame->name);
    struct tv_bytes class_name = tv_trace_info_text(head, frame->class_name);
    if (class_name.length == 0 || class_name.length + 1 + name.length > 512)
        return name;
    memcpy(room, class_name.data, class_name.length);
    room[class_name.length] = '.';
    if (name.length > 0)
        memcpy(room + class_name.length + 1, name.data, name.length);
    return (struct tv_bytes){room, class_name.length + 1 + name.length};
}

/* Return lists[frame]; *any: some frame is on a list. */
static uint8_t *rule_lists_of_frames(const struct tv_trace_info *head, bool *any)
{
    uint8_t *lists = tv_alloc(head->frame_count, sizeof *lists);
    struct name_index *index = tv_alloc(1, sizeof *index);
    uint8_t room[512];
    *any = false;
    name_index_build(index);
    for (uint32_t i = 0; i < head->frame_count; i++) {
        lists[i] = name_index_lists(index, rule_qualified_name(head, &head->frames[i], room));
        *any = *any || lists[i] != 0;
    }
    tv_free(index);
    return lists;
}

void tv_listed_calls_init(struct tv_listed_calls *listed, const struct tv_trace *trace)
{
    const struct tv_paths *paths = &trace->paths;
    bool any;
    *listed = (struct tv_listed_calls){.frames = rule_lists_of_frames(trace->head, &any)};
    if (!any)
        return;
    uint32_t *depth = tv_alloc(paths->count, sizeof *depth); /* the root has 0 */
    listed->paths = tv_alloc(paths->count, sizeof *listed->paths);
    listed->around = tv_alloc(paths->count, sizeof *listed->around);
    for (uint32_t i = 1; i < paths->count; i++) {
        uint32_t parent = paths->nodes[i].parent;
        listed->paths[i] = listed->frames[paths->nodes[i].frame];
        listed->around[i] = listed->around[parent] | listed->paths[parent];
        depth[i] = depth[parent] + 1;
        if (depth[i] > listed->depth_count)
            listed->depth_count = depth[i];
    }
    listed->depths = tv_alloc(listed->depth_count, sizeof *listed->depths);
    for (uint32_t i = 1; i < paths->count; i++)
        listed->depths[depth[i] - 1] |= listed->paths[i];
    tv_free(depth);
}

void tv_listed_calls_release(struct tv_listed_calls *listed)
{
    tv_free(listed->frames);
    tv_free(listed->paths);
    tv_free(listed->around);
    tv_free(listed->depths);
}

/* ---- Main threads ---- */

/* Without a thread name, the main thread is the one whose id is its process's. */
static const struct {
    const char *format, *thread;
} main_threads[] = {
    {"Android method trace", "main"},
    {"Android method trace", "AWT-EventQueue-0"}, /* of a JVM; there `main` is none */
    {"Android method trace", "JavaFX Application Thread"},
    {"Trace Event Format", "CrRendererMain"},
    {"Trace Event Format", "CrBrowserMain"},
    {"Trace Event Format", "1.ui"}, /* Flutter */
    {"Trace Event Format", "io.flutter.1.ui"},
    {"Trace Event Format", "UnityMain"},
    {"ftrace text", NULL},
    {"Perfetto trace", "CrRendererMain"},
    {"Perfetto trace", "CrBrowserMain"},
    {"Perfetto trace", "1.ui"},
    {"Perfetto trace", "io.flutter.1.ui"},
    {"Perfetto trace", NULL},
};

/* Return true if the recorder says that a JVM or a native program ran, not Android. */
static bool rule_is_elsewhere(const struct tv_trace_info *head, uint32_t input)
{
    struct tv_bytes vm = tv_trace_info_find_metadata(head, input, "vm");
    return tv_bytes_equal(vm, TV_BYTES("jvm")) || tv_bytes_equal(vm, TV_BYTES("native"));
}

static bool rule_is_main_by_name(const struct tv_trace_info *head, const struct tv_thread *thread,
                                 const char *wanted)
{
    return tv_bytes_equal(tv_trace_info_text(head, thread->name), tv_bytes_of(wanted)) &&
           !(strcmp(wanted, "main") == 0 && rule_is_elsewhere(head, thread->input));
}

bool tv_rule_is_main(const struct tv_trace_info *head, uint32_t thread)
{
    const struct tv_thread *t = &head->threads[thread];
    const char *format = head->inputs[t->input].format;
    for (size_t i = 0; i < TV_COUNT(main_threads); i++) {
        if (strcmp(format, main_threads[i].format) != 0)
            continue;
        if (main_threads[i].thread ? rule_is_main_by_name(head, t, main_threads[i].thread)
                                   : tv_thread_leads_process(head, thread))
            return true;
    }
    return false;
}
