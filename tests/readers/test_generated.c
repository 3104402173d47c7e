/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_generated.c - files of many windows and batches, made from events drawn by lot: a reading
 * must bring those events, in one part and in any others.
 *
 * Threads and methods are in part not listed, times sometimes go back a little, some actions are
 * undefined.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/memory.h"
#include "recording.h"
#include "wire/method_trace.h"

#define EVENTS 40000
#define THREADS 7 /* the last two are not listed */
#define METHODS 300
#define MAX_PARTS 13

enum layout { TEXT_1, TEXT_2, TEXT_3, STREAM_2, STREAM_3, PACKETS_4, PACKETS_5, LAYOUTS };

static const char *const layout_names[] = {"1", "2", "3", "0xF2", "0xF3", "4", "5"};

/* An event as it is written, and as it must be read. */
struct drawn {
    uint32_t thread, method, action;
    uint32_t wall, cpu; /* written */
    uint32_t expected_wall, expected_cpu;
};

struct plan {
    enum layout layout;
    bool pointers; /* ids are far apart, else side by side */
    uint64_t random;
    uint32_t tids[THREADS];
    uint32_t ids[METHODS];
    struct drawn *events;
    struct tv_out file;
};

static uint32_t below(struct plan *plan, uint32_t limit)
{
    plan->random = plan->random * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (uint32_t)((plan->random >> 33) % limit);
}

static bool is_listed(uint32_t method)
{
    return method % 50 != 49;
}

static void draw_ids(struct plan *plan)
{
    for (uint32_t i = 0; i < THREADS; i++)
        plan->tids[i] = 1 + i * 20 + below(plan, 20);
    /* Packet files have addresses always, of methods that lie side by side. */
    uint32_t base = plan->layout >= PACKETS_4 ? 0x70000000 : 0, step = base ? 32 : 4;
    for (uint32_t i = 0; i < METHODS; i++)
        plan->ids[i] =
            plan->pointers ? 0x80000000 + (i * 4000 + below(plan, 3000)) * 16 : base + i * step;
}

/* Each thread's clocks move on, and in one of 500 events show a time up to 5 before. */
static void draw_times(struct plan *plan, struct drawn *event, uint32_t *wall,
                       uint32_t cpu[THREADS], struct drawn last[THREADS])
{
    bool back = below(plan, 500) == 0;
    *wall += below(plan, 3);
    cpu[event->thread] += below(plan, 2);
    event->wall = *wall - (back && *wall > 5 ? below(plan, 5) : 0);
    event->cpu = cpu[event->thread];
    struct drawn *before = &last[event->thread];
    event->expected_wall =
        event->wall > before->expected_wall ? event->wall : before->expected_wall;
    event->expected_cpu = event->cpu > before->expected_cpu ? event->cpu : before->expected_cpu;
    if (event->action != TV_MT_ACTION_UNDEFINED)
        *before = *event;
}

static void draw_events(struct plan *plan)
{
    uint32_t wall = 0, cpu[THREADS] = {0}, thread = 0;
    struct drawn last[THREADS] = {{0}};
    plan->events = tv_alloc(EVENTS, sizeof *plan->events);
    for (size_t i = 0; i < EVENTS; i++) {
        struct drawn *event = &plan->events[i];
        if (below(plan, 40) == 0)
            thread = below(plan, below(plan, 20) == 0 ? THREADS : THREADS - 2);
        event->thread = thread;
        event->method = below(plan, METHODS);
        if (!is_listed(event->method) && below(plan, 20) != 0)
            event->method--;
        event->action = below(plan, 1000) == 0 ? TV_MT_ACTION_UNDEFINED : below(plan, 3);
        draw_times(plan, event, &wall, cpu, last);
    }
}

/* ---- Files ---- */

static void put(struct plan *plan, uint64_t value, unsigned width)
{
    for (unsigned i = 0; i < width; i++)
        tv_out_char(&plan->file, (char)(value >> 8 * i));
}

static void put_uleb(struct plan *plan, uint64_t value)
{
    for (; value >= 0x80; value >>= 7)
        put(plan, value | 0x80, 1);
    put(plan, value, 1);
}

static void put_sleb(struct plan *plan, int64_t value)
{
    for (; value < -64 || value > 63; value >>= 7)
        put(plan, (uint64_t)value | 0x80, 1);
    put(plan, (uint64_t)value & 0x7f, 1);
}

static void put_record(struct plan *plan, const struct drawn *event)
{
    uint32_t word = tv_mt_word(plan->ids[event->method], (enum tv_mt_action)event->action);
    bool dual = plan->layout == TEXT_3 || plan->layout == STREAM_3;
    put(plan, plan->tids[event->thread], plan->layout == TEXT_1 ? 1 : 2);
    put(plan, word, 4);
    if (dual)
        put(plan, event->cpu, 4);
    put(plan, event->wall, 4);
}

static void put_data_header(struct plan *plan, unsigned version, unsigned record_size)
{
    tv_out_text(&plan->file, TV_MT_MAGIC_TEXT);
    put(plan, version, 2);
    put(plan, 32, 2);
    put(plan, 0, 8);
    put(plan, record_size, 2);
    put(plan, 0, 8);
    put(plan, 0, 6);
}

static void put_keys(struct plan *plan, unsigned version, const char *clock)
{
    tv_out_format(&plan->file, "*version\n%u\nclock=%s\nelapsed-time-usec=999999\n", version,
                  clock);
}

static void write_text(struct plan *plan)
{
    unsigned version = 1 + (unsigned)plan->layout;
    put_keys(plan, version, version == 3 ? "dual" : "wall");
    tv_out_text(&plan->file, "*threads\n");
    for (uint32_t i = 0; i + 2 < THREADS; i++)
        tv_out_format(&plan->file, "%" PRIu32 "\tthread %" PRIu32 "\n", plan->tids[i], i);
    tv_out_text(&plan->file, "*methods\n");
    for (uint32_t i = 0; i < METHODS; i++)
        if (is_listed(i))
            tv_out_format(&plan->file, "0x%" PRIx32 "\tC\tm%" PRIx32 "\t()V\tC.java\n",
                          plan->ids[i], plan->ids[i]);
    tv_out_text(&plan->file, "*end\n");
    put_data_header(plan, version, version == 3 ? 14 : 0);
    for (size_t i = 0; i < EVENTS; i++)
        put_record(plan, &plan->events[i]);
}

static void put_text_packet(struct plan *plan, unsigned width, const char *text)
{
    put(plan, strlen(text), width);
    tv_out_text(&plan->file, text);
}

static void write_stream(struct plan *plan)
{
    bool dual = plan->layout == STREAM_3, methods[METHODS] = {false}, threads[THREADS] = {false};
    char text[128];
    put_data_header(plan, dual ? 0xF3 : 0xF2, dual ? 14 : 10);
    for (size_t i = 0; i < EVENTS; i++) {
        const struct drawn *event = &plan->events[i];
        uint32_t id = plan->ids[event->method];
        if (is_listed(event->method) && !methods[event->method]) {
            snprintf(text, sizeof text, "0x%" PRIx32 "\tC\tm%" PRIx32 "\t()V\tC.java\n", id, id);
            put(plan, 0x010000, 3);
            put_text_packet(plan, 2, text);
        }
        if (event->thread + 2 < THREADS && !threads[event->thread]) {
            snprintf(text, sizeof text, "thread %" PRIu32, event->thread);
            put(plan, 0x020000, 3);
            put(plan, plan->tids[event->thread], 2);
            put_text_packet(plan, 2, text);
        }
        methods[event->method] = threads[event->thread] = true;
        put_record(plan, event);
    }
    snprintf(text, sizeof text, "*version\n%u\nclock=%s\n*threads\n*methods\n*end\n", dual ? 3 : 2,
             dual ? "dual" : "wall");
    put(plan, 0x030000, 3);
    put_text_packet(plan, 4, text);
}

/* A block of the events from `first` on that are of one thread; returns the event after it. */
static size_t write_block(struct plan *plan, size_t first)
{
    uint32_t thread = plan->events[first].thread;
    int64_t word = 0, wall = 0, cpu = 0;
    put(plan, TV_MT_PACKET_ENTRIES, 1);
    put(plan, plan->tids[thread], 4);
    put(plan, 0, 3);
    size_t size_at = plan->file.length + 4, i = first;
    put(plan, 0, 4);
    for (; i < EVENTS && plan->events[i].thread == thread; i++) {
        const struct drawn *event = &plan->events[i];
        int64_t now = tv_mt_word(plan->ids[event->method], (enum tv_mt_action)event->action);
        put_sleb(plan, now - word);
        /* Unsigned deltas cannot go back. */
        put_uleb(plan, (uint64_t)(event->expected_wall - wall));
        if (plan->layout == PACKETS_5)
            put_uleb(plan, (uint64_t)(event->expected_cpu - cpu));
        word = now;
        wall = event->expected_wall;
        cpu = event->expected_cpu;
    }
    tv_le_put_u32(plan->file.buffer + size_at - 4, (uint32_t)(plan->file.length - size_at));
    return i;
}

static void write_packets(struct plan *plan)
{
    bool dual = plan->layout == PACKETS_5;
    char text[128];
    tv_out_text(&plan->file, TV_MT_MAGIC_TEXT);
    put(plan, dual ? 5 : 4, 2);
    put(plan, 0, 8);
    put(plan, 0, 8);
    put(plan, 0, 8);
    put(plan, 0, 2);
    for (uint32_t i = 0; i < METHODS; i++) {
        if (!is_listed(i))
            continue;
        snprintf(text, sizeof text, "C\tm%" PRIx32 "\t()V\tC.java\n", plan->ids[i]);
        put(plan, TV_MT_PACKET_METHOD, 1);
        put(plan, plan->ids[i], 8);
        put_text_packet(plan, 2, text);
    }
    for (uint32_t i = 0; i + 2 < THREADS; i++) {
        snprintf(text, sizeof text, "thread %" PRIu32, i);
        put(plan, TV_MT_PACKET_THREAD, 1);
        put(plan, plan->tids[i], 4);
        put_text_packet(plan, 2, text);
    }
    for (size_t i = 0; i < EVENTS;)
        i = write_block(plan, i);
    snprintf(text, sizeof text, "*version\n%u\nclock=%s\nelapsed-time-usec=99\n*end\n",
             dual ? 5 : 4, dual ? "dual" : "wall");
    put(plan, TV_MT_PACKET_SUMMARY, 1);
    put_text_packet(plan, 2, text);
}

static void write_file(struct plan *plan)
{
    tv_out_init_memory(&plan->file);
    if (plan->layout <= TEXT_3)
        write_text(plan);
    else if (plan->layout <= STREAM_3)
        write_stream(plan);
    else
        write_packets(plan);
}

/* ---- Readings ---- */

static struct recording *read_plan(const struct plan *plan, unsigned parts, const uint64_t *starts,
                                   enum recording_style style)
{
    struct tv_bytes bytes = {plan->file.buffer, plan->file.length};
    struct tv_source *source = tv_source_from_memory(bytes, "generated");
    struct recording *recording = recording_read(source, parts, starts, style);
    tv_source_free(source);
    return recording;
}

static bool is_expected(const struct plan *plan, const struct recording *recording,
                        const struct drawn *drawn, const struct tv_event *event)
{
    const struct tv_trace_info *head = recording->head;
    const struct tv_frame *frame = &head->frames[event->frame];
    bool dual = plan->layout == TEXT_3 || plan->layout == STREAM_3 || plan->layout == PACKETS_5;
    char name[32];
    snprintf(name, sizeof name, is_listed(drawn->method) ? "m%" PRIx32 : "0x%" PRIx32,
             plan->ids[drawn->method]);
    return head->threads[event->thread].id == plan->tids[drawn->thread] &&
           head->threads[event->thread].listed == (drawn->thread + 2 < THREADS) &&
           tv_bytes_equal(tv_trace_info_text(head, frame->name), tv_bytes_of(name)) &&
           event->action == drawn->action && event->wall == drawn->expected_wall &&
           event->cpu == (dual ? drawn->expected_cpu : 0);
}

/* Does a reading bring what was drawn? Each thread's events in their order, all of them. */
static bool brings_events(const struct plan *plan, const struct recording *recording)
{
    size_t count, at = 0, undefined = 0;
    struct recorded *all = recording_all(recording, &count);
    bool good = recording->status == TV_OK && recording->passes_differ == 0;
    for (size_t i = 0; good && i < EVENTS; i++) {
        undefined += plan->events[i].action == TV_MT_ACTION_UNDEFINED;
        if (plan->events[i].action == TV_MT_ACTION_UNDEFINED)
            continue;
        good = at < count && is_expected(plan, recording, &plan->events[i], &all[at].event);
        if (!good)
            printf("# event %zu of %zu is another one\n", i, count);
        at++;
    }
    tv_free(all);
    return good && at == count &&
           recording->head->diagnostics.kinds[TV_DIAGNOSTIC_BAD_ACTION].count == undefined;
}

static bool diagnostics_agree(const struct recording *a, const struct recording *b)
{
    for (size_t kind = 0; kind < TV_DIAGNOSTIC_COUNT; kind++) {
        const struct tv_diagnostic *left = &a->head->diagnostics.kinds[kind];
        const struct tv_diagnostic *right = &b->head->diagnostics.kinds[kind];
        if (left->count != right->count || left->offset_count != right->offset_count ||
            (left->offset_count > 0 &&
             memcmp(left->places->offsets, right->places->offsets,
                    left->offset_count * sizeof left->places->offsets[0]) != 0))
            return false;
    }
    return a->head->inputs[0].records == b->head->inputs[0].records &&
           a->head->inputs[0].unrolls == b->head->inputs[0].unrolls &&
           a->head->inputs[0].last_wall == b->head->inputs[0].last_wall &&
           a->head->inputs[0].last_cpu == b->head->inputs[0].last_cpu;
}

static int compare_starts(const void *left, const void *right)
{
    uint64_t a = *(const uint64_t *)left, b = *(const uint64_t *)right;
    return a < b ? -1 : a > b;
}

static bool splits_agree(struct plan *plan, const struct recording *serial, unsigned *kept_parts)
{
    bool good = true;
    for (unsigned parts = 2; good && parts <= MAX_PARTS; parts++) {
        uint64_t starts[MAX_PARTS] = {0};
        for (unsigned i = 1; i < parts; i++)
            starts[i] = below(plan, (uint32_t)plan->file.length + 1);
        qsort(starts, parts, sizeof *starts, compare_starts);
        enum recording_style style = parts % 3 == 0 ? RECORDING_TWO_PASS : RECORDING_PLAIN;
        struct recording *recording = read_plan(plan, parts, parts % 4 == 0 ? NULL : starts, style);
        good = brings_events(plan, recording) && diagnostics_agree(serial, recording);
        *kept_parts += recording->parts > 1;
        recording_free(recording);
    }
    return good;
}

static unsigned tests, failures;

static void report(bool good, const struct plan *plan, const char *what)
{
    printf("%sok %u - version %s, %s: %s\n", good ? "" : "not ", ++tests,
           layout_names[plan->layout], plan->pointers ? "ids far apart" : "ids side by side", what);
    fflush(stdout);
    failures += !good;
}

static void check_plan(struct plan *plan)
{
    unsigned kept_parts = 0;
    draw_ids(plan);
    draw_events(plan);
    write_file(plan);
    struct recording *serial = read_plan(plan, 1, NULL, RECORDING_PLAIN);
    report(brings_events(plan, serial), plan, "one part brings the events");
    struct recording *writes = read_plan(plan, 4, NULL, RECORDING_AT_LAST);
    report(brings_events(plan, writes) && diagnostics_agree(serial, writes) && writes->begins == 1,
           plan, "and so for a sink that begins but once");
    recording_free(writes);
    writes = read_plan(plan, 4, NULL, RECORDING_AT_ONCE);
    report(brings_events(plan, writes) && diagnostics_agree(serial, writes), plan,
           "and for one that does not wait for what is not listed");
    report(plan->layout > STREAM_3 || writes->begins > 1, plan, "which goes on when it comes");
    recording_free(writes);
    report(splits_agree(plan, serial, &kept_parts), plan, "2 to 13 parts bring the same");
    /* Small steps back at a seam make the reader begin again, but not often. */
    report(kept_parts > 4, plan, "most of them without going back to one part");
    recording_free(serial);
    tv_out_release(&plan->file);
    tv_free(plan->events);
}

int main(void)
{
    for (unsigned layout = 0; layout < LAYOUTS; layout++)
        for (unsigned pointers = 0; pointers < 2; pointers++) {
            struct plan plan = {.layout = (enum layout)layout, .pointers = pointers != 0};
            plan.random = 1 + layout * 2 + pointers;
            check_plan(&plan);
        }
    printf("1..%u\n", tests);
    return failures > 0;
}
