/* SPDX-License-Identifier: Apache-2.0 */
/*
 * profile_kind.c - which profile a beginning of JSON is, from the names of keys alone.
 *
 *     {"nodes": [{"id": 1, "callFrame": {...              .cpuprofile
 *     {"head": {"callFrame": {...}, "selfSize": 0, ...    .heapprofile
 *     {"$schema": "https://www.speedscope.app/...         speedscope
 *     {"meta": {"interval": 1, "processType": 0, ...      Firefox
 *     {"resourceProfiles": [...                           OpenTelemetry
 *
 * Keys may come in any order, and the beginning ends anywhere.  So each key is noted as a bit, of
 * the outermost object or of what is inside, and the sets decide.  A combination is used where one
 * key alone is a common word ("frames", "samples", "label").
 */
#include "readers/json/profile_kind.h"

#include <string.h>

#include "base/bytes.h"
#include "readers/json/keys.h"

#define KINDS(X)                                                                                   \
    X(TRACE_EVENTS, "traceEvents")                                                                 \
    X(NODES, "nodes")                                                                              \
    X(HEAD, "head")                                                                                \
    X(TIME_DELTAS, "timeDeltas")                                                                   \
    X(SAMPLES, "samples")                                                                          \
    X(CALL_FRAME, "callFrame")                                                                     \
    X(FUNCTION_NAME, "functionName")                                                               \
    X(HIT_COUNT, "hitCount")                                                                       \
    X(SELF_SIZE, "selfSize")                                                                       \
    X(SNAPSHOT, "snapshot")                                                                        \
    X(META, "meta")                                                                                \
    X(LIBS, "libs")                                                                                \
    X(STACKWALK, "stackwalk")                                                                      \
    X(ASYNC_STACK, "asyncstack")                                                                   \
    X(PROCESS_TYPE, "processType")                                                                 \
    X(PREPROCESSED, "preprocessedProfileVersion")                                                  \
    X(SCHEMA, "$schema")                                                                           \
    X(SHARED, "shared")                                                                            \
    X(FRAMES, "frames")                                                                            \
    X(STRING_ARRAY, "stringArray")                                                                 \
    X(STACK_TABLE, "stackTable")                                                                   \
    X(LABEL, "label")                                                                              \
    X(DURATION, "duration")                                                                        \
    X(MARKERS, "markers")                                                                          \
    X(PROFILES, "profiles")                                                                        \
    X(RESOURCE_PROFILES, "resourceProfiles")                                                       \
    X(RESOURCE_SPANS, "resourceSpans")                                                             \
    X(BATCHES, "batches")                                                                          \
    X(SCOPE_SPANS, "scopeSpans")                                                                   \
    X(DICTIONARY, "dictionary")                                                                    \
    X(MAPPING_TABLE, "mappingTable")                                                               \
    X(STRING_TABLE, "stringTable")

enum kind_key {
#define KIND_KEY(id, text) KIND_KEY_##id,
    KINDS(KIND_KEY)
#undef KIND_KEY
        KIND_KEY_COUNT,
};
_Static_assert(KIND_KEY_COUNT <= 32, "a bit of a uint32_t each");

#define KEY(id) (UINT32_C(1) << KIND_KEY_##id)

/* Keys at the top of other JSON files only. */
#define KIND_NO_PROFILE (KEY(TRACE_EVENTS) | KEY(SNAPSHOT))

static const char *const kind_texts[] = {
#define KIND_TEXT(id, text) text,
    KINDS(KIND_TEXT)
#undef KIND_TEXT
};

/* The keys of the outermost object, and those further inside. */
struct kind_scan {
    struct tv_json_keys keys;
    uint32_t top, inside;
    bool speedscope; /* the value of $schema says so */
    bool sample_ids; /* "samples" begins with a number */
};

/* Note what the value of a top key says. */
static void kind_scan_look_at_value(struct kind_scan *scan, uint32_t key)
{
    struct tv_json_keys ahead = scan->keys;
    struct tv_bytes value;
    char first = tv_json_keys_peek(&ahead);
    if (key == KEY(SCHEMA) && first == '"' && tv_json_keys_take_string(&ahead, &value))
        for (size_t i = 0; i + 10 <= value.length; i++)
            scan->speedscope = scan->speedscope || memcmp(value.data + i, "speedscope", 10) == 0;
    if (key == KEY(SAMPLES) && first == '[') {
        ahead.at++;
        first = tv_json_keys_peek(&ahead);
        scan->sample_ids = first >= '0' && first <= '9';
    }
}

/* Read keys to the end of the text, or to one that no profile has at the top. */
static void kind_scan_run(struct kind_scan *scan)
{
    struct tv_bytes key;
    while (!(scan->top & KIND_NO_PROFILE) && tv_json_keys_next(&scan->keys, &key))
        for (size_t i = 0; i < KIND_KEY_COUNT; i++) {
            if (!tv_bytes_equal(key, tv_bytes_of(kind_texts[i])))
                continue;
            *(scan->keys.depth == 1 ? &scan->top : &scan->inside) |= UINT32_C(1) << i;
            if (scan->keys.depth == 1)
                kind_scan_look_at_value(scan, UINT32_C(1) << i);
        }
}

/* Tell the two profiles with a "head" apart by what its nodes have. */
static enum tv_json_profile kind_of_head(const struct kind_scan *scan)
{
    if (scan->inside & KEY(SELF_SIZE))
        return TV_JSON_PROFILE_HEAPPROFILE;
    if (scan->inside & (KEY(HIT_COUNT) | KEY(FUNCTION_NAME)))
        return TV_JSON_PROFILE_CPUPROFILE;
    /* A damaged tree: the samples of both kinds are beside it. */
    return scan->top & KEY(SAMPLES) ? TV_JSON_PROFILE_HEAPPROFILE : TV_JSON_PROFILE_NONE;
}

/* Return whether a file has the keys of speedscope, with or without its schema. */
static bool kind_is_speedscope(const struct kind_scan *scan)
{
    if (scan->speedscope)
        return true;
    return scan->top & KEY(SHARED) && scan->inside & KEY(FRAMES) &&
           !(scan->inside & (KEY(STRING_ARRAY) | KEY(STACK_TABLE)));
}

static bool kind_is_firefox(const struct kind_scan *scan)
{
    /* A recording of the old developer tools has a profile inside. */
    const uint32_t recording = KEY(LABEL) | KEY(DURATION) | KEY(MARKERS);
    if ((scan->top & recording) == recording)
        return true;
    return scan->top & KEY(META) && scan->inside & (KEY(PREPROCESSED) | KEY(STACKWALK) |
                                                    KEY(ASYNC_STACK) | KEY(PROCESS_TYPE));
}

static enum tv_json_profile kind_of_otlp(const struct kind_scan *scan)
{
    if (scan->top & KEY(RESOURCE_PROFILES) ||
        (scan->top & KEY(DICTIONARY) && scan->inside & (KEY(MAPPING_TABLE) | KEY(STRING_TABLE))))
        return TV_JSON_PROFILE_OTLP;
    bool spans = scan->top & KEY(RESOURCE_SPANS) ||
                 (scan->top & KEY(BATCHES) && scan->inside & KEY(SCOPE_SPANS));
    return spans ? TV_JSON_PROFILE_OTLP_SPANS : TV_JSON_PROFILE_NONE;
}

enum tv_json_profile tv_json_profile_kind(struct tv_bytes prefix)
{
    struct kind_scan scan = {.keys = tv_json_keys_of(prefix)};
    if (tv_json_keys_peek(&scan.keys) != '{')
        return TV_JSON_PROFILE_NONE;
    kind_scan_run(&scan);
    if (scan.top & KIND_NO_PROFILE)
        return TV_JSON_PROFILE_NONE;
    enum tv_json_profile otlp = kind_of_otlp(&scan);
    if (otlp != TV_JSON_PROFILE_NONE)
        return otlp;
    if (kind_is_speedscope(&scan))
        return TV_JSON_PROFILE_SPEEDSCOPE;
    if (kind_is_firefox(&scan))
        return TV_JSON_PROFILE_FIREFOX;
    if (scan.top & KEY(NODES) && scan.inside & KEY(CALL_FRAME))
        return TV_JSON_PROFILE_CPUPROFILE;
    if (scan.top & KEY(HEAD))
        return kind_of_head(&scan);
    return scan.top & KEY(TIME_DELTAS) || scan.sample_ids ? TV_JSON_PROFILE_CPUPROFILE
                                                          : TV_JSON_PROFILE_NONE;
}
