/* SPDX-License-Identifier: Apache-2.0 */
/*
 * generate_perfetto.c - writes a large Perfetto trace for measurements.
 *
 *     generate-perfetto OUTPUT BYTES ftrace|compact|track
 *
 * The shapes: "ftrace" and "compact" are a phone with eight processors and 160
 * threads of 20 processes.  The recorder empties the buffers of the processors in turn, so times go
 * up within a bundle and overlap between neighbours.  Of the events sched_waking 25 %, sched_switch
 * 25 %, marks of programs 27 %, cpu_idle 16 %, soft interrupts the rest; "compact" has switches
 * and wake-ups in columns, as recorders since Android 10 do.  "track" is a program with the client
 * library: 64 threads, each a sequence with its own incremental clock, interned names, a default
 * track and two counters that change with every event; every fourth slice has two arguments.  A
 * value of a counter counts as an event.  The same arguments give the same bytes on every machine.
 */
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/memory.h"
#include "base/protobuf_out.h"
#include "random_text.h"

#define CPUS 8u
#define THREADS 160u
#define A_PROCESS 8u /* threads of one */
#define FIRST_ID 1200u
#define BUNDLE 200u /* events */
#define MAX_DEPTH 8u
#define SEQUENCES 64u
#define NAMES 32u
#define BOOT UINT64_C(93784000000000) /* when the recording begins, in nanoseconds */

static const char *const marks[] = {"Choreographer#doFrame 4711",
                                    "traversal",
                                    "measure",
                                    "layout",
                                    "DrawFrames 982",
                                    "syncFrameState",
                                    "queueBuffer",
                                    "binder transaction"};

struct generator {
    struct random_text random; /* its numbers only */
    struct tv_out out, packet, outer, inner, event;
    struct tv_out columns[13]; /* of compact scheduling, by field */
    FILE *file;
    uint64_t written, events;
    uint64_t now[CPUS]; /* nanoseconds, by processor */
    unsigned running[CPUS], depth[THREADS];
    bool compact;
};

static void put_text(struct tv_out *out, uint32_t field, const char *text)
{
    tv_protobuf_put_bytes(out, field, tv_bytes_of(text));
}

/* Write the packet that was collected, as field 1 of the trace. */
static void end_packet(struct generator *g)
{
    tv_protobuf_put_message(&g->out, 1, &g->packet);
    if (fwrite(g->out.buffer, 1, g->out.length, g->file) != g->out.length)
        fail("cannot write");
    g->written += g->out.length;
    g->out.length = 0;
}

static unsigned thread_id(unsigned thread)
{
    return thread == THREADS ? 0 : FIRST_ID + thread;
}

static unsigned process_id(unsigned thread)
{
    return FIRST_ID + thread / A_PROCESS * A_PROCESS;
}

static const char *thread_name(unsigned thread)
{
    static char name[16];
    snprintf(name, sizeof name, thread == THREADS ? "swapper" : "thread-%u", thread);
    return name;
}

/* ---- The kernel ---- */

static void put_clocks(struct generator *g)
{
    static const uint8_t clocks[] = {1, 3, 6}; /* real time, monotonic, since boot */
    for (unsigned i = 0; i < TV_COUNT(clocks); i++) {
        tv_protobuf_put_number(&g->inner, 1, clocks[i]);
        tv_protobuf_put_number(&g->inner, 2, BOOT + (i == 0 ? UINT64_C(1700000000000000000) : 0));
        tv_protobuf_put_message(&g->outer, 1, &g->inner);
    }
    tv_protobuf_put_message(&g->packet, 6, &g->outer);
    end_packet(g);
}

static void put_processes(struct generator *g)
{
    for (unsigned thread = 0; thread < THREADS; thread++) {
        bool first = thread % A_PROCESS == 0;
        tv_protobuf_put_number(&g->inner, 1, thread_id(thread));
        if (first)
            tv_protobuf_put_number(&g->inner, 2, 1);
        put_text(&g->inner, first ? 3 : 2, thread_name(thread));
        if (!first)
            tv_protobuf_put_number(&g->inner, 3, process_id(thread));
        tv_protobuf_put_message(&g->outer, first ? 1 : 2, &g->inner);
    }
    tv_protobuf_put_message(&g->packet, 2, &g->outer);
    end_packet(g);
}

/* Write the event whose fields were collected, by the task that runs. */
static void end_event(struct generator *g, unsigned cpu, uint32_t field)
{
    tv_protobuf_put_number(&g->inner, 1, g->now[cpu]);
    tv_protobuf_put_number(&g->inner, 2, thread_id(g->running[cpu]));
    tv_protobuf_put_message(&g->inner, field, &g->event);
    tv_protobuf_put_message(&g->outer, 2, &g->inner);
}

static void put_switch(struct generator *g, unsigned cpu, uint64_t *before)
{
    unsigned from = g->running[cpu], to = below(&g->random, THREADS + THREADS / 4);
    unsigned state = below(&g->random, 4) ? 1 : 0;
    to = to > THREADS ? THREADS : to;
    if (g->compact) {
        tv_protobuf_put_varint(&g->columns[1], g->now[cpu] - *before);
        tv_protobuf_put_varint(&g->columns[2], state);
        tv_protobuf_put_varint(&g->columns[3], thread_id(to));
        tv_protobuf_put_varint(&g->columns[4], 120);
        tv_protobuf_put_varint(&g->columns[6], to);
        *before = g->now[cpu];
    } else {
        put_text(&g->event, 1, thread_name(from));
        tv_protobuf_put_number(&g->event, 2, thread_id(from));
        tv_protobuf_put_number(&g->event, 3, 120);
        tv_protobuf_put_number(&g->event, 4, state);
        put_text(&g->event, 5, thread_name(to));
        tv_protobuf_put_number(&g->event, 6, thread_id(to));
        tv_protobuf_put_number(&g->event, 7, 120);
        end_event(g, cpu, 4);
    }
    g->running[cpu] = to;
}

static void put_waking(struct generator *g, unsigned cpu, uint64_t *before)
{
    unsigned thread = below(&g->random, THREADS), target = below(&g->random, CPUS);
    if (g->compact) {
        tv_protobuf_put_varint(&g->columns[7], g->now[cpu] - *before);
        tv_protobuf_put_varint(&g->columns[8], thread_id(thread));
        tv_protobuf_put_varint(&g->columns[9], target);
        tv_protobuf_put_varint(&g->columns[10], 120);
        tv_protobuf_put_varint(&g->columns[11], thread);
        *before = g->now[cpu];
    } else {
        put_text(&g->event, 1, thread_name(thread));
        tv_protobuf_put_number(&g->event, 2, thread_id(thread));
        tv_protobuf_put_number(&g->event, 3, 120);
        tv_protobuf_put_number(&g->event, 4, 1);
        tv_protobuf_put_number(&g->event, 5, target);
        end_event(g, cpu, 20);
    }
}

/* Write a mark of the thread that runs. */
static void put_mark(struct generator *g, unsigned cpu)
{
    unsigned thread = g->running[cpu], *depth = &g->depth[thread];
    char text[64];
    if (below(&g->random, 10) == 0)
        snprintf(text, sizeof text, "C|%u|queue %u|%u\n", process_id(thread), below(&g->random, 8),
                 below(&g->random, 100));
    else if (*depth == 0 || (*depth < MAX_DEPTH && below(&g->random, 2)))
        snprintf(text, sizeof text, "B|%u|%s\n", process_id(thread),
                 marks[below(&g->random, TV_COUNT(marks))]),
            ++*depth;
    else
        snprintf(text, sizeof text, "E|%u\n", process_id(thread)), --*depth;
    tv_protobuf_put_number(&g->event, 1, UINT64_C(0xffffffc010123456));
    put_text(&g->event, 2, text);
    end_event(g, cpu, 3);
}

/* Write the columns of compact scheduling, whose names are those of all threads. */
static void put_columns(struct generator *g)
{
    for (unsigned thread = 0; thread <= THREADS; thread++)
        put_text(&g->inner, 5, thread_name(thread));
    for (uint32_t field = 1; field < TV_COUNT(g->columns); field++)
        if (g->columns[field].length > 0)
            tv_protobuf_put_message(&g->inner, field, &g->columns[field]);
    tv_protobuf_put_message(&g->outer, 4, &g->inner);
}

static void put_bundle(struct generator *g, unsigned cpu)
{
    uint64_t switched = 0, woken = 0;
    tv_protobuf_put_number(&g->outer, 1, cpu);
    for (unsigned i = 0; i < BUNDLE; i++, g->events++) {
        unsigned kind = below(&g->random, 100);
        g->now[cpu] += 500 + below(&g->random, 20000);
        if (kind < 25) {
            put_switch(g, cpu, &switched);
        } else if (kind < 50) {
            put_waking(g, cpu, &woken);
        } else if (kind < 60 || (kind < 93 && g->running[cpu] == THREADS)) {
            tv_protobuf_put_number(&g->event, 1, kind % 2 ? UINT32_MAX : kind % 3);
            tv_protobuf_put_number(&g->event, 2, cpu);
            end_event(g, cpu, 13);
        } else if (kind < 93) {
            put_mark(g, cpu);
        } else {
            tv_protobuf_put_number(&g->event, 1, 7); /* SCHED; entered, and left 800 ns later */
            end_event(g, cpu, 24);
            g->now[cpu] += 800;
            tv_protobuf_put_number(&g->event, 1, 7);
            end_event(g, cpu, 25);
            g->events++;
        }
    }
    if (g->compact)
        put_columns(g);
    tv_protobuf_put_message(&g->packet, 1, &g->outer);
    end_packet(g);
}

static void write_kernel(struct generator *g, uint64_t size)
{
    put_clocks(g);
    put_processes(g);
    for (unsigned cpu = 0; cpu < CPUS; cpu++) {
        g->now[cpu] = BOOT;
        g->running[cpu] = THREADS;
    }
    for (unsigned cpu = 0; g->written < size; cpu = (cpu + 1) % CPUS)
        put_bundle(g, cpu);
}

/* ---- A program ---- */

/* UUIDs of the track of a sequence, and of its counters. */
static uint64_t track_of(unsigned sequence, unsigned which)
{
    return UINT64_C(0x9e3779b97f4a7c15) * (sequence * 3 + which + 1);
}

static void put_tracks(struct generator *g, unsigned sequence)
{
    static const char *const counters[] = {"CPU time", "Instructions"};
    tv_protobuf_put_number(&g->outer, 1, track_of(sequence, 0));
    tv_protobuf_put_number(&g->inner, 1, process_id(sequence));
    tv_protobuf_put_number(&g->inner, 2, thread_id(sequence));
    put_text(&g->inner, 5, thread_name(sequence));
    tv_protobuf_put_message(&g->outer, 4, &g->inner);
    tv_protobuf_put_message(&g->packet, 60, &g->outer);
    end_packet(g);
    for (unsigned i = 0; i < 2; i++) {
        tv_protobuf_put_number(&g->outer, 1, track_of(sequence, i + 1));
        tv_protobuf_put_number(&g->outer, 5, track_of(sequence, 0));
        put_text(&g->outer, 2, counters[i]);
        tv_protobuf_put_number(&g->inner, 1, i + 1);
        tv_protobuf_put_number(&g->inner, 5, 1); /* incremental */
        tv_protobuf_put_message(&g->outer, 8, &g->inner);
        tv_protobuf_put_message(&g->packet, 60, &g->outer);
        end_packet(g);
    }
}

/* Write the state that the events of a sequence build on: clock 64 counts up from here. */
static void put_state(struct generator *g, unsigned sequence)
{
    tv_protobuf_put_number(&g->packet, 10, sequence + 2);
    tv_protobuf_put_number(&g->packet, 13, 1); /* clears what was before */
    tv_protobuf_put_number(&g->event, 11, track_of(sequence, 0));
    for (unsigned i = 1; i <= 2; i++)
        tv_protobuf_put_number(&g->event, 31, track_of(sequence, i));
    tv_protobuf_put_message(&g->inner, 11, &g->event);
    tv_protobuf_put_number(&g->inner, 58, 64);
    tv_protobuf_put_message(&g->packet, 59, &g->inner);
    for (unsigned clock = 6; clock <= 64; clock += 58) {
        tv_protobuf_put_number(&g->inner, 1, clock);
        tv_protobuf_put_number(&g->inner, 2, clock == 6 ? BOOT : 0);
        if (clock == 64)
            tv_protobuf_put_number(&g->inner, 3, 1);
        tv_protobuf_put_message(&g->outer, 1, &g->inner);
    }
    tv_protobuf_put_message(&g->packet, 6, &g->outer);
    end_packet(g);
}

static void put_names(struct generator *g, unsigned sequence)
{
    char name[32];
    for (unsigned i = 1; i <= NAMES; i++) {
        snprintf(name, sizeof name, "Service::Call%u", i);
        tv_protobuf_put_number(&g->inner, 1, i);
        put_text(&g->inner, 2, name);
        tv_protobuf_put_message(&g->outer, 2, &g->inner);
    }
    tv_protobuf_put_number(&g->inner, 1, 1);
    put_text(&g->inner, 2, "service");
    tv_protobuf_put_message(&g->outer, 1, &g->inner);
    tv_protobuf_put_number(&g->packet, 10, sequence + 2);
    tv_protobuf_put_number(&g->packet, 13, 2); /* needs the state */
    tv_protobuf_put_message(&g->packet, 12, &g->outer);
    end_packet(g);
}

static void put_arguments(struct generator *g)
{
    for (unsigned i = 0; i < 2; i++) {
        put_text(&g->inner, 10, i ? "attempt" : "bytes");
        tv_protobuf_put_number(&g->inner, 4, below(&g->random, 100000));
        tv_protobuf_put_message(&g->outer, 4, &g->inner);
    }
}

static void put_track_event(struct generator *g, unsigned sequence)
{
    unsigned *depth = &g->depth[sequence];
    unsigned type = *depth == 0 || (*depth < MAX_DEPTH && below(&g->random, 2)) ? 1 : 2;
    if (below(&g->random, 10) == 0)
        type = 3;
    tv_protobuf_put_number(&g->packet, 8, 200 + below(&g->random, 3000));
    tv_protobuf_put_number(&g->packet, 10, sequence + 2);
    tv_protobuf_put_number(&g->packet, 13, 2);
    tv_protobuf_put_number(&g->outer, 9, type);
    if (type != 2) {
        tv_protobuf_put_number(&g->outer, 3, 1);
        tv_protobuf_put_number(&g->outer, 10, 1 + below(&g->random, NAMES));
    }
    if (type == 1 && below(&g->random, 4) == 0)
        put_arguments(g);
    for (unsigned i = 0; i < 2; i++)
        tv_protobuf_put_varint(&g->inner, below(&g->random, 3000));
    tv_protobuf_put_message(&g->outer, 12, &g->inner);
    tv_protobuf_put_message(&g->packet, 11, &g->outer);
    end_packet(g);
    *depth += type == 1;
    *depth -= type == 2;
    g->events += 3;
}

static void write_program(struct generator *g, uint64_t size)
{
    put_clocks(g);
    for (unsigned i = 0; i < SEQUENCES; i++) {
        put_tracks(g, i);
        put_state(g, i);
        put_names(g, i);
    }
    while (g->written < size) {
        unsigned sequence = below(&g->random, SEQUENCES);
        for (unsigned i = 0; i < 100; i++)
            put_track_event(g, sequence);
    }
}

int main(int argc, char **argv)
{
    static struct generator g = {.random = {.random = 1}};
    uint64_t size;
    bool track = argc == 4 && strcmp(argv[3], "track") == 0;
    g.compact = argc == 4 && strcmp(argv[3], "compact") == 0;
    if (argc != 4 || !tv_parse_u64(tv_bytes_of(argv[2]), &size) ||
        (!track && !g.compact && strcmp(argv[3], "ftrace") != 0)) {
        fputs("usage: generate-perfetto OUTPUT BYTES ftrace|compact|track\n", stderr);
        return 2;
    }
    struct tv_out *outs[] = {&g.out, &g.packet, &g.outer, &g.inner, &g.event};
    for (size_t i = 0; i < TV_COUNT(outs); i++)
        tv_out_init_memory(outs[i]);
    for (size_t i = 0; i < TV_COUNT(g.columns); i++)
        tv_out_init_memory(&g.columns[i]);
    g.file = fopen(argv[1], "wb");
    if (!g.file)
        fail(argv[1]);
    if (track)
        write_program(&g, size);
    else
        write_kernel(&g, size);
    if (fclose(g.file) != 0)
        fail(argv[1]);
    for (size_t i = 0; i < TV_COUNT(outs); i++)
        tv_out_release(outs[i]);
    for (size_t i = 0; i < TV_COUNT(g.columns); i++)
        tv_out_release(&g.columns[i]);
    printf("%" PRIu64 " bytes, %" PRIu64 " events\n", g.written, g.events);
    return 0;
}
