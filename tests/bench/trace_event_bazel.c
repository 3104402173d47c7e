/* SPDX-License-Identifier: Apache-2.0 */
#include <inttypes.h>

#include "trace_event_styles.h"

#define EVALUATORS 200u
#define FIRST_THREAD 4100u
#define MAIN_THREAD 4052u
#define COUNTER_US 200000u
#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static const char *const packages[] = {
    "java/com/example/server/storage",
    "third_party/protobuf",
    "src/main/cpp/util",
    "proto/api/v1",
    "web/app/components",
    "tools/build_defs",
    "lib/net/http2",
    "test/unit",
};
static const char *const kinds[] = {"Compiling", "Building", "Linking", "Testing", "Generating"};
static const char *const steps[] = {"setting up inputs for worker",
                                    "waiting for response from worker",
                                    "copying outputs from worker", "complete action execution"};

struct build {
    struct random_text *text;
    uint64_t events, counted;
    uint64_t free_at[EVALUATORS];
};

static void put_slice(struct build *build, const char *category, unsigned evaluator, uint64_t start,
                      uint64_t length)
{
    put(build->text,
        "\"cat\":\"%s\",\"ph\":\"X\",\"ts\":%" PRIu64 ",\"dur\":%" PRIu64 ",\"pid\":1,\"tid\":%u",
        category, start, length, FIRST_THREAD + evaluator);
    build->events++;
}

/* An action and its steps, one after the other inside it. */
static void put_action(struct build *build)
{
    struct random_text *text = build->text;
    unsigned evaluator = below(text, EVALUATORS), target = below(text, 40000);
    const char *package = packages[target % COUNT(packages)];
    uint64_t start = build->free_at[evaluator] + below(text, 500);
    uint64_t length = 400 + below(text, 4000) * (1 + below(text, 50)), at = start + 20;
    put(text, "    {\"name\":\"%s %s/file_%u.cc\",", kinds[target % COUNT(kinds)], package, target);
    put_slice(build, "action processing", evaluator, start, length);
    put(text, ",\"args\":{\"target\":\"//%s:target_%u\",\"mnemonic\":\"CppCompile\"}},\n", package,
        target);
    for (size_t i = 0; i < COUNT(steps) && below(text, 10) < 8; i++) {
        uint64_t part = length / 5 + below(text, 20);
        put(text, "    {\"name\":\"%s\",", steps[i]);
        put_slice(build, i + 1 < COUNT(steps) ? "general information" : steps[i], evaluator, at,
                  part);
        put(text, "},\n");
        at += part;
    }
    build->free_at[evaluator] = start + length;
}

static void put_counter(struct build *build, uint64_t time)
{
    put(build->text,
        "    {\"name\":\"action count\",\"ph\":\"C\",\"ts\":%" PRIu64
        ",\"pid\":1,\"tid\":%u,\"args\":{\"action\":\"%u.%u\"}},\n",
        time, MAIN_THREAD, below(build->text, 200), below(build->text, 1000000));
    build->events++;
}

static void put_threads(struct build *build)
{
    for (unsigned i = 0; i < EVALUATORS; i++) {
        put(build->text,
            "    {\"name\":\"thread_name\",\"ph\":\"M\",\"pid\":1,\"tid\":%u,\"args\":{\"name\":"
            "\"skyframe-evaluator %u\"}},\n    {\"name\":\"thread_sort_index\",\"ph\":\"M\","
            "\"pid\":1,\"tid\":%u,\"args\":{\"sort_index\":\"%u\"}},\n",
            FIRST_THREAD + i, i, FIRST_THREAD + i, 10000 + i);
        build->events += 2;
    }
}

uint64_t write_bazel(struct random_text *text, uint64_t limit)
{
    struct build build = {.text = text};
    put(text, "{\"otherData\":{\"build_id\":\"fe0d078f-dd3b-4b6d-a5cc-02fff41a7ec1\",\"date\":"
              "\"Tue Aug 16 13:12:51 CEST 2022\"},\"traceEvents\":[\n");
    put_threads(&build);
    while (text_length(text) < limit) {
        put_action(&build);
        for (; build.counted + COUNTER_US < build.free_at[0]; build.counted += COUNTER_US)
            put_counter(&build, build.counted);
    }
    put(text,
        "    {\"cat\":\"general information\",\"name\":\"Finishing\",\"ph\":\"i\",\"ts\":%" PRIu64
        ",\"pid\":1,\"tid\":%u}\n  ]\n}\n",
        build.free_at[0], MAIN_THREAD);
    return build.events + 1;
}
