/* SPDX-License-Identifier: Apache-2.0 */
/*
 * foreign_json.c - formats in JSON, distinguished by their keys: those of the outermost object, and
 * where these are common words, by keys inside their values.
 *
 *     {"snapshot": {"meta": {"node_fields": [...        top: snapshot; inside: node_fields
 *     {"log": {"version": "1.2", "entries": [...        top: log; inside: entries
 *
 * The scan (json/keys.h) needs no whole JSON: it gets the first 4096 bytes of a file, or single
 * values from the reader of Trace Event JSON when that finds no events.
 */
#include "readers/foreign.h"

#include "base/bytes.h"
#include "readers/json/keys.h"

#define KEYS(X)                                                                                    \
    X(TRACE_EVENTS, "traceEvents")                                                                 \
    X(PH, "ph")                                                                                    \
    X(SNAPSHOT, "snapshot")                                                                        \
    X(NODE_FIELDS, "node_fields")                                                                  \
    X(RESOURCE_METRICS, "resourceMetrics")                                                         \
    X(RESOURCE_LOGS, "resourceLogs")                                                               \
    X(LOG, "log")                                                                                  \
    X(CREATOR, "creator")                                                                          \
    X(ENTRIES, "entries")                                                                          \
    X(DHAT_VERSION, "dhatFileVersion")                                                             \
    X(ROOT_FRAME, "root_frame")                                                                    \
    X(SAMPLE_COUNT, "sample_count")                                                                \
    X(FRAME_TREE, "frame_tree")                                                                    \
    X(SESSION, "session")                                                                          \
    X(BINARY_ANNOTATIONS, "binaryAnnotations")                                                     \
    X(TRACE_ID, "traceId")                                                                         \
    X(GC_SAMPLES, "gc_samples")                                                                    \
    X(CONSTANTS, "constants")                                                                      \
    X(LOG_EVENT_TYPES, "logEventTypes")                                                            \
    X(ADDRESS_FAMILY, "addressFamily")                                                             \
    X(LIGHTHOUSE, "lighthouseVersion")                                                             \
    X(REACT_ROOTS, "dataForRoots")                                                                 \
    X(HEADER, "header")                                                                            \
    X(NODE_VERSION, "nodejsVersion")                                                               \
    X(PERF_JSON, "linux-perf-json-version")                                                        \
    X(SCALENE_TIME, "elapsed_time_sec")                                                            \
    X(SCALENE_ALLOCATIONS, "alloc_samples")                                                        \
    X(XHPROF_MAIN, "main()")                                                                       \
    X(XHPROF_WALL_TIME, "wt")

enum key_number {
#define NUMBER(id, text) NUMBER_##id,
    KEYS(NUMBER)
#undef NUMBER
        KEY_COUNT,
};
_Static_assert(KEY_COUNT <= 64, "a bit of a uint64_t each");

/* The set that contains one key. */
#define BIT(id) (UINT64_C(1) << NUMBER_##id)

static const char *const key_texts[] = {
#define TEXT(id, text) text,
    KEYS(TEXT)
#undef TEXT
};

#define OPENS_SPEEDSCOPE "speedscope (https://www.speedscope.app) opens it"
#define OPENS_DEVTOOLS "the developer tools of Chrome open it"
#define READS_OTLP "the OpenTelemetry Collector reads it (otlpjsonfile receiver)"

/* A format matches with every bit of `top`, and one of `inside` if there are any. */
static const struct {
    uint64_t top, inside;
    struct tv_foreign foreign;
} formats[] = {
    {BIT(SNAPSHOT), BIT(NODE_FIELDS), {"a V8 heap snapshot", OPENS_DEVTOOLS}},
    {BIT(RESOURCE_METRICS), 0, {"OpenTelemetry metrics (OTLP JSON)", READS_OTLP}},
    {BIT(RESOURCE_LOGS), 0, {"OpenTelemetry logs (OTLP JSON)", READS_OTLP}},
    {BIT(LOG),
     BIT(CREATOR) | BIT(ENTRIES),
     {"a HAR file (HTTP archive)", "the Network tab of a browser's developer tools imports it"}},
    {BIT(DHAT_VERSION), 0, {"a heap profile of DHAT", "dh_view.html of valgrind opens it"}},
    {BIT(ROOT_FRAME) | BIT(SAMPLE_COUNT),
     0,
     {"a profile of pyinstrument (JSON)", "\"pyinstrument -r speedscope\" writes one that opens"}},
    {BIT(FRAME_TREE) | BIT(SESSION),
     0,
     {"a session of pyinstrument",
      "\"pyinstrument --load FILE -r speedscope\" makes a profile of speedscope of it"}},
    {BIT(BINARY_ANNOTATIONS) | BIT(TRACE_ID),
     0,
     {"spans of Zipkin's first version (JSON)",
      "\"/api/v2/trace/ID\" of a Zipkin server gives the second one, which opens"}},
    {BIT(GC_SAMPLES), 0, {"a stackprof profile (JSON)", OPENS_SPEEDSCOPE}},
    {BIT(CONSTANTS),
     BIT(LOG_EVENT_TYPES) | BIT(ADDRESS_FAMILY),
     {"a network log of Chromium", "https://netlog-viewer.appspot.com opens it"}},
    {BIT(LIGHTHOUSE), 0, {"a report of Lighthouse", "a trace of the Performance panel is read"}},
    {BIT(REACT_ROOTS),
     0,
     {"a profile of React's developer tools", "the Profiler of these tools imports it"}},
    {BIT(SCALENE_TIME) | BIT(SCALENE_ALLOCATIONS),
     0,
     {"a profile of Scalene (JSON)", "https://plasma-umass.org/scalene-gui opens it"}},
    {BIT(XHPROF_MAIN), BIT(XHPROF_WALL_TIME), {TV_FOREIGN_XHPROF}},
    {BIT(HEADER), BIT(NODE_VERSION), {"a diagnostic report of Node.js", NULL}},
    {BIT(PERF_JSON),
     0,
     {"JSON of \"perf data convert\"",
      "\"perf script report stackcollapse -i perf.data\" makes collapsed stacks of the "
      "recording"}},
};

/* Return the bit of a key; 0 for keys that distinguish nothing. */
static uint64_t foreign_key_bit(struct tv_bytes key)
{
    for (size_t i = 0; i < TV_COUNT(key_texts); i++)
        if (tv_bytes_equal(key, tv_bytes_of(key_texts[i])))
            return UINT64_C(1) << i;
    return 0;
}

void tv_foreign_add_key(struct tv_foreign_keys *keys, struct tv_bytes key)
{
    keys->top |= foreign_key_bit(key);
}

/* ---- The scan ---- */

/* Note the keys of the objects at depth `top`, and those further inside or outside. */
static void foreign_json_scan(struct tv_foreign_keys *found, struct tv_json_keys keys, unsigned top)
{
    struct tv_bytes key;
    while (tv_json_keys_next(&keys, &key))
        *(keys.depth == top ? &found->top : &found->inside) |= foreign_key_bit(key);
}

/* In a list, or a list of lists, the keys of its objects count as the outermost ones. */
void tv_foreign_scan_keys(struct tv_foreign_keys *keys, struct tv_bytes text)
{
    struct tv_json_keys scan = tv_json_keys_of(text), lists = scan;
    unsigned top = 1;
    for (; top < 3 && tv_json_keys_peek(&lists) == '['; top++)
        lists.at++;
    foreign_json_scan(keys, scan, top);
}

void tv_foreign_scan_value(struct tv_foreign_keys *keys, struct tv_bytes text)
{
    foreign_json_scan(keys, (struct tv_json_keys){.text = text, .depth = 1}, 0);
}

/* Trace Event JSON is read, and may contain any other key. */
const struct tv_foreign *tv_foreign_of_keys(const struct tv_foreign_keys *keys)
{
    if (keys->top & (BIT(TRACE_EVENTS) | BIT(PH)))
        return NULL;
    for (size_t i = 0; i < TV_COUNT(formats); i++)
        if ((keys->top & formats[i].top) == formats[i].top &&
            (formats[i].inside == 0 || keys->inside & formats[i].inside))
            return &formats[i].foreign;
    return NULL;
}

const struct tv_foreign *tv_foreign_find_json(struct tv_bytes prefix)
{
    struct tv_foreign_keys keys = {0};
    struct tv_json_keys scan = tv_json_keys_of(prefix);
    char first = tv_json_keys_peek(&scan);
    if (first != '{' && first != '[')
        return NULL;
    tv_foreign_scan_keys(&keys, prefix);
    return tv_foreign_of_keys(&keys);
}
