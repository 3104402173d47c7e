/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_data.c - real and synthetic method traces, whose facts an independent script found.
 *
 *     test-data FOLDER         with expect.jsonl, real/ and synthetic/
 *
 * The facts about stacks come from a walk over the events as plain as can be.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/bytes.h"
#include "base/memory.h"
#include "cases.h"
#include "recording.h"
#include "wire/method_trace.h"

static unsigned tests, failures;

static void check(const char *file, const char *what, int64_t expected, int64_t got)
{
    printf("%sok %u - %s: %s is %" PRId64, expected == got ? "" : "not ", ++tests, file, what,
           expected);
    if (expected != got)
        printf(", not %" PRId64, got);
    printf("\n");
    failures += expected != got;
}

struct facts {
    int64_t records, enters, exits, unrolls, threads, unmatched, open, depth, wall, cpu;
};

/* The stack of a thread; depth counts the entered calls. */
struct stack {
    uint32_t *frames;
    size_t depth, capacity;
    bool seen;
};

static void step(struct stack *stack, const struct tv_event *event, struct facts *facts)
{
    stack->seen = true;
    if (event->action == TV_ENTER) {
        stack->frames =
            tv_array_reserve(stack->frames, &stack->capacity, stack->depth + 1, sizeof(uint32_t));
        stack->frames[stack->depth++] = event->frame;
        if ((int64_t)stack->depth > facts->depth)
            facts->depth = (int64_t)stack->depth;
    } else if (stack->depth == 0) {
        facts->unmatched++;
    } else {
        stack->depth--;
        /* None of the files has an exit that does not fit. */
        if (event->frame != TV_ANY_FRAME && stack->frames[stack->depth] != event->frame)
            facts->unmatched += 1000000;
    }
}

static struct facts find_facts(const struct recording *recording)
{
    struct facts facts = {0};
    size_t count;
    struct recorded *all = recording_all(recording, &count);
    uint32_t thread_count = recording->head->thread_count;
    struct stack *stacks = tv_alloc(thread_count, sizeof *stacks);
    for (size_t i = 0; i < count; i++) {
        const struct tv_event *event = &all[i].event;
        step(&stacks[event->thread], event, &facts);
        facts.records++;
        facts.enters += event->action == TV_ENTER;
        facts.exits += event->action == TV_EXIT;
        facts.unrolls += event->action == TV_UNROLL;
        facts.wall = event->wall > facts.wall ? event->wall : facts.wall;
        facts.cpu = event->cpu > facts.cpu ? event->cpu : facts.cpu;
    }
    for (uint32_t i = 0; i < thread_count; i++) {
        facts.threads += stacks[i].seen;
        facts.open += (int64_t)stacks[i].depth;
        tv_free(stacks[i].frames);
    }
    tv_free(stacks);
    tv_free(all);
    return facts;
}

static struct recording *read_bytes(struct tv_bytes bytes, const char *name)
{
    struct tv_source *source = tv_source_from_memory(bytes, name);
    struct recording *recording = recording_read(source, 1, NULL, RECORDING_PLAIN);
    tv_source_free(source);
    if (recording->status != TV_OK)
        printf("# %s: %s\n", name, recording->error.message);
    return recording;
}

static struct recording *read_path(const char *path)
{
    struct tv_out bytes;
    tv_out_init_memory(&bytes);
    cases_read_file(path, &bytes);
    struct recording *recording = read_bytes((struct tv_bytes){bytes.buffer, bytes.length}, path);
    tv_out_release(&bytes);
    return recording;
}

/* ---- expect.jsonl ---- */

/* Return the text after `"key": ` in such a simple line of JSON; empty when the key is missing. */
static struct tv_bytes json_value(const char *line, const char *key)
{
    char quoted[64];
    snprintf(quoted, sizeof quoted, "\"%s\": ", key);
    const char *at = strstr(line, quoted);
    if (!at)
        return (struct tv_bytes){(const uint8_t *)line, 0};
    at += strlen(quoted);
    bool string = *at == '"';
    at += string;
    return (struct tv_bytes){(const uint8_t *)at, strcspn(at, string ? "\"" : ",}")};
}

static int64_t json_number(const char *line, const char *key)
{
    int64_t number = 0;
    (void)!tv_parse_i64(json_value(line, key), &number);
    return number;
}

static uint64_t diagnostic(const struct recording *recording, enum tv_diagnostic_kind kind)
{
    return recording->head->diagnostics.kinds[kind].count;
}

static void check_keys(const struct recording *recording, const char *file, const char *line)
{
    static const char *const keys[] = {
        TV_MT_KEY_OVERFLOW,    TV_MT_KEY_CLOCK, TV_MT_KEY_ELAPSED_US, TV_MT_KEY_RECORDS,
        TV_MT_KEY_OVERHEAD_NS, TV_MT_KEY_VM,    TV_MT_KEY_PID};
    int64_t different = 0;
    for (size_t i = 0; i < TV_COUNT(keys); i++) {
        struct tv_bytes expected = json_value(line, keys[i]);
        struct tv_bytes got = tv_trace_info_find_metadata(recording->head, 0, keys[i]);
        different += !tv_bytes_equal(expected, got);
    }
    check(file, "the number of keys that differ", 0, different);
}

static void check_expected(const char *folder, const char *line)
{
    char path[4096], file[256];
    struct tv_bytes name = json_value(line, "file");
    snprintf(file, sizeof file, "%.*s", (int)name.length, (const char *)name.data);
    snprintf(path, sizeof path, "%s/%s", folder, file);
    struct recording *recording = read_path(path);
    struct facts facts = find_facts(recording);
    const struct tv_input *input = &recording->head->inputs[0];
    check(file, "records", json_number(line, "nR"), facts.records);
    check(file, "records as the input has them", facts.records, (int64_t)input->records);
    check(file, "entries", json_number(line, "0"), facts.enters);
    check(file, "exits", json_number(line, "1"), facts.exits);
    check(file, "unrolls", json_number(line, "2"), facts.unrolls);
    check(file, "threads with records", json_number(line, "nTact"), facts.threads);
    check(file, "unmatched exits", json_number(line, "unmatched_exit"), facts.unmatched);
    check(file, "calls open at the end", json_number(line, "open_at_end"), facts.open);
    check(file, "depth", json_number(line, "depth"), facts.depth);
    check(file, "last wall time", json_number(line, "maxw"), facts.wall);
    check(file, "last CPU time", json_number(line, "maxc"), facts.cpu);
    check(file, "records of unlisted threads", json_number(line, "unkT"),
          (int64_t)diagnostic(recording, TV_DIAGNOSTIC_UNLISTED_THREAD));
    check(file, "records of unlisted methods", json_number(line, "unkM"),
          (int64_t)diagnostic(recording, TV_DIAGNOSTIC_UNLISTED_METHOD));
    check_keys(recording, file, line);
    recording_free(recording);
}

/* ---- The synthetic files ---- */

static struct tv_out read_name(const char *folder, const char *name)
{
    char path[4096];
    struct tv_out bytes;
    snprintf(path, sizeof path, "%s/synthetic/%s", folder, name);
    tv_out_init_memory(&bytes);
    cases_read_file(path, &bytes);
    return bytes;
}

static void check_nine(const char *file, const struct recording *recording, int64_t last_ns,
                       unsigned clocks)
{
    struct facts facts = find_facts(recording);
    const struct tv_input *input = &recording->head->inputs[0];
    int64_t last = clocks & TV_CLOCK_WALL ? facts.wall : facts.cpu;
    check(file, "records", 9, facts.records);
    check(file, "threads", 2, facts.threads);
    check(file, "unmatched exits", 1, facts.unmatched);
    check(file, "unrolls", 1, facts.unrolls);
    check(file, "calls open at the end", 0, facts.open);
    check(file, "depth", 3, facts.depth);
    check(file, "last time", last_ns, last * input->tick_ns);
    check(file, "clocks", clocks, input->clocks);
}

static void check_synthetic(const char *folder)
{
    const unsigned wall = TV_CLOCK_WALL, cpu = TV_CLOCK_CPU, dual = wall | cpu;
    const struct {
        const char *name;
        unsigned clocks;
        int64_t last_ns;
    } files[] = {
        {"v1-global.trace", wall, 100000},
        {"v1-thread-cpu.trace", cpu, 88000},
        {"v2-thread-cpu.trace", cpu, 88000},
        {"v2-wall.trace", wall, 100000},
        {"v3-dual.trace", dual, 100000},
        {"v3-recsize18.trace", dual, 100000},
        {"v3-wrap.trace", dual, 6000000000000},
        {"f2-wall-10.trace", wall, 100000},
        {"f2-wall-14pad.trace", wall, 100000},
        {"f3-dual.trace", dual, 100000},
        {"f3-nosummary.trace", dual, 100000},
        {"f4B-stream-wall-us.trace", wall, 100000},
        {"f4C-stream-wall-tsc.trace", wall, 100000},
        {"f5B-stream-dual-ns.trace", dual, 100000},
        {"f5C-stream-dual-tsc.trace", dual, 100000},
        {"v4B-file-wall-ns.trace", wall, 100000},
        {"v5B-file-dual-ns.trace", dual, 100000},
    };
    for (size_t i = 0; i < TV_COUNT(files); i++) {
        struct tv_out bytes = read_name(folder, files[i].name);
        struct recording *recording =
            read_bytes((struct tv_bytes){bytes.buffer, bytes.length}, files[i].name);
        check_nine(files[i].name, recording, files[i].last_ns, files[i].clocks);
        recording_free(recording);
        tv_out_release(&bytes);
    }
}

static void check_split(const char *folder)
{
    struct tv_out key = read_name(folder, "v1-split.key");
    struct tv_out data = read_name(folder, "v1-split.data");
    struct tv_source *halves[] = {
        tv_source_from_memory((struct tv_bytes){key.buffer, key.length}, "v1-split.key"),
        tv_source_from_memory((struct tv_bytes){data.buffer, data.length}, "v1-split.data"),
    };
    struct tv_source *whole = tv_source_join(halves, TV_COUNT(halves), "v1-split");
    struct recording *recording = recording_read(whole, 1, NULL, RECORDING_PLAIN);
    check_nine("v1-split", recording, 100000, TV_CLOCK_WALL);
    recording_free(recording);
    tv_source_free(whole);
    tv_out_release(&key);
    tv_out_release(&data);
}

/* The buffer overflowed after six records: A, B, C entered and C left, D open, E left. */
static void check_truncated(const char *folder)
{
    static const char file[] = "v3-overflow-truncated.trace";
    struct tv_out bytes = read_name(folder, file);
    struct recording *recording = read_bytes((struct tv_bytes){bytes.buffer, bytes.length}, file);
    struct facts facts = find_facts(recording);
    check(file, "records", 6, facts.records);
    check(file, "calls open at the end", 3, facts.open);
    check(file, "overflow", 1, recording->head->inputs[0].overflow);
    check(file, "truncations", 1, (int64_t)diagnostic(recording, TV_DIAGNOSTIC_TRUNCATED));
    recording_free(recording);
    tv_out_release(&bytes);
}

/* Main alone: A entered, B, C, all left again; C at 0.3 s, A at 1 s. */
static void check_dump(const char *folder, const char *file)
{
    struct tv_out bytes = read_name(folder, file);
    struct recording *recording = read_bytes((struct tv_bytes){bytes.buffer, bytes.length}, file);
    struct facts facts = find_facts(recording);
    check(file, "records", 6, facts.records);
    check(file, "depth", 3, facts.depth);
    check(file, "unmatched exits and open calls", 0, facts.unmatched + facts.open);
    check(file, "last time", 1000000000, facts.wall);
    recording_free(recording);
    tv_out_release(&bytes);
}

static void check_sampled(const char *folder, const char *name, int64_t expected_ns)
{
    char path[4096];
    snprintf(path, sizeof path, "%s/real/%s", folder, name);
    struct recording *recording = read_path(path);
    check(name, "interval", expected_ns, recording->head->inputs[0].sampled_ns);
    recording_free(recording);
}

static void check_all(const char *folder, struct tv_out *expect)
{
    char *line = (char *)expect->buffer, *newline;
    while (
        (newline = memchr(line, '\n', expect->length - (size_t)(line - (char *)expect->buffer)))) {
        *newline = '\0';
        check_expected(folder, line);
        line = newline + 1;
    }
    check_synthetic(folder);
    check_split(folder);
    check_truncated(folder);
    check_dump(folder, "longrunning.bin");
    check_dump(folder, "longrunning.b64");
    /* Median distances between two samples of a thread. */
    check_sampled(folder, "ff-art-streaming.trace", 2506000);
    check_sampled(folder, "studio-streaming.trace", 2729000);
    check_sampled(folder, "studio-char_2_bytes.trace", 0);
}

int main(int argc, char **argv)
{
    char path[4096];
    struct tv_out expect;
    if (argc != 2)
        return 2;
    snprintf(path, sizeof path, "%s/expect.jsonl", argv[1]);
    FILE *file = fopen(path, "rb");
    if (!file) {
        printf("1..0 # SKIP skipped: ../shared not there\n");
        return 0;
    }
    fclose(file);
    tv_out_init_memory(&expect);
    cases_read_file(path, &expect);
    check_all(argv[1], &expect);
    tv_out_release(&expect);
    printf("1..%u\n", tests);
    return failures > 0;
}
