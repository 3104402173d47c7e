/* SPDX-License-Identifier: Apache-2.0 */
/*
 * generate_ftrace.c - writes a large ftrace text for measurements.
 *
 *     generate-ftrace OUTPUT BYTES [html]
 *
 * What its shape is, and why: the text of an Android phone with eight processors, 160 threads of 20
 * processes, TGIDs and the flags of a kernel of today.  A thread runs on one processor at a time;
 * those that run write marks.  Of the lines sched_waking 27 %, sched_switch 23 %, B and E 27 %,
 * cpu_idle 10 %; counters of marks, async marks, frequencies, interrupts, binder, blocked reasons
 * and requests of disks are the rest; 126 bytes a line in the mean.  With "html" the same text
 * stands in a page of systrace.  The same arguments give the same bytes on every machine.
 */
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "random_text.h"

#define CPUS 8u
#define THREADS 160u
#define A_PROCESS 8u /* threads of one */
#define MAX_DEPTH 12u
#define NOBODY THREADS
#define FIRST_ID 1200u

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static const char *const comms[] = {
    "surfaceflinger", "RenderThread",     "binder:%u_2",     "hwuiTask%u",       "kworker/u16:%u",
    "system_server",  "GLThread %u",      "mali-cmar-backe", "ogle.android.gms", "Jit thread pool",
    "HeapTaskDaemon", "crtc_commit:%u",   "ndroid.systemui", "ThreadPoolForeg",  "android.display",
    "AudioOut_%u",    "irq/%u-fts_touch", "jbd2/dm-%u-8",    "Chrome_IOThread",  "rcu_preempt",
};

static const char *const marks[] = {
    "Choreographer#doFrame 4711",
    "traversal",
    "draw-VRI[NotificationShade]",
    "measure",
    "layout",
    "Record View#draw()",
    "DrawFrames 982",
    "syncFrameState",
    "dequeueBuffer - VRI[MainActivity]#0(BLAST Consumer)0",
    "queueBuffer",
    "eglSwapBuffersWithDamageKHR",
    "postComposition",
    "HIDL::IComposerClient::executeCommands_2_2::client",
    "Lock contention on GC barrier lock (owner tid: 2311)",
    "binder transaction",
    "deliverInputEvent src=0x1002 eventTimeNano=81234567 id=0x2a",
};

struct thread {
    char comm[16];
    unsigned id, tgid, depth;
    bool runs;
};

struct generator {
    struct random_text text;
    uint64_t lines, time; /* time: microseconds */
    uint64_t next_id;
    struct thread threads[THREADS];
    unsigned running[CPUS];
    bool html;
};

/* What stands before an event on a processor: the task that runs there, flags and time. */
static void begin_line(struct generator *g, unsigned cpu, const char *flags)
{
    unsigned number = g->running[cpu];
    g->time += 1 + below(&g->text, 4);
    g->lines++;
    if (number == NOBODY)
        put(&g->text, "          <idle>-0     (-----) [%03u] %s", cpu, flags);
    else
        put(&g->text, "%16s-%-5u (%5u) [%03u] %s", g->threads[number].comm, g->threads[number].id,
            g->threads[number].tgid, cpu, flags);
    put(&g->text, " %5" PRIu64 ".%06u: ", g->time / 1000000, (unsigned)(g->time % 1000000));
}

static void put_name(struct generator *g, const char *key, unsigned number, unsigned cpu)
{
    if (number == NOBODY)
        put(&g->text, "%s_comm=swapper/%u %s_pid=0 %s_prio=120", key, cpu, key, key);
    else
        put(&g->text, "%s_comm=%s %s_pid=%u %s_prio=%u", key, g->threads[number].comm, key,
            g->threads[number].id, key, number % 7 ? 120u : 97u);
}

/* ---- Events ---- */

static void put_switch(struct generator *g, unsigned cpu)
{
    static const char *const states[] = {"S", "S", "S", "S", "R", "R+", "D", "I"};
    unsigned from = g->running[cpu], to = NOBODY;
    if (from == NOBODY || below(&g->text, 3)) {
        to = below(&g->text, THREADS);
        while (g->threads[to].runs)
            to = (to + 1) % THREADS;
    }
    const char *state = from == NOBODY ? "R" : states[below(&g->text, COUNT(states))];
    begin_line(g, cpu, "d..2.");
    put(&g->text, "sched_switch: ");
    put_name(g, "prev", from, cpu);
    put(&g->text, " prev_state=%s ==> ", state);
    put_name(g, "next", to, cpu);
    put(&g->text, "\n");
    if (to != NOBODY)
        g->threads[to].runs = true;
    if (from != NOBODY)
        g->threads[from].runs = false;
    g->running[cpu] = to;
    if (state[0] != 'D')
        return;
    begin_line(g, cpu, "d..2.");
    put(&g->text,
        "sched_blocked_reason: pid=%u iowait=%u caller=folio_wait_bit_common+0x1a0/0x2d4\n",
        g->threads[from].id, below(&g->text, 2));
}

static void put_waking(struct generator *g, unsigned cpu)
{
    unsigned number = below(&g->text, THREADS);
    begin_line(g, cpu, "d..3.");
    put(&g->text, "sched_waking: comm=%s pid=%u prio=%u target_cpu=%03u\n", g->threads[number].comm,
        g->threads[number].id, number % 7 ? 120u : 97u, below(&g->text, CPUS));
}

static void put_idle(struct generator *g, unsigned cpu)
{
    begin_line(g, cpu, "d..1.");
    put(&g->text, "cpu_idle: state=%u cpu_id=%u\n",
        below(&g->text, 2) ? 4294967295u : below(&g->text, 3), cpu);
}

/* Slices of a program: as many ends as beginnings, nested. */
static void put_mark(struct generator *g, unsigned cpu)
{
    struct thread *thread = &g->threads[g->running[cpu]];
    bool begins = thread->depth == 0 || (thread->depth < MAX_DEPTH && below(&g->text, 2));
    begin_line(g, cpu, ".....");
    if (begins)
        put(&g->text, "tracing_mark_write: B|%u|%s\n", thread->tgid,
            marks[below(&g->text, COUNT(marks))]);
    else if (below(&g->text, 2))
        put(&g->text, "tracing_mark_write: E|%u\n", thread->tgid);
    else
        put(&g->text, "tracing_mark_write: E\n");
    thread->depth += begins ? 1 : (unsigned)-1;
}

static void put_other_mark(struct generator *g, unsigned cpu)
{
    unsigned tgid = g->threads[g->running[cpu]].tgid;
    uint64_t id = g->next_id++;
    if (below(&g->text, 2)) {
        begin_line(g, cpu, ".....");
        put(&g->text, "tracing_mark_write: C|%u|HWC_release-%u|%u\n", tgid, below(&g->text, 9),
            below(&g->text, 4));
        return;
    }
    begin_line(g, cpu, ".....");
    put(&g->text, "tracing_mark_write: S|%u|launching: com.example.app|%" PRIu64 "\n", tgid, id);
    begin_line(g, cpu, ".....");
    put(&g->text, "tracing_mark_write: F|%u|launching: com.example.app|%" PRIu64 "\n", tgid, id);
}

static void put_interrupt(struct generator *g, unsigned cpu)
{
    static const char *const actions[] = {"TIMER", "SCHED", "RCU", "BLOCK", "NET_RX"};
    unsigned vector = below(&g->text, COUNT(actions));
    if (below(&g->text, 2)) {
        begin_line(g, cpu, "d.h1.");
        put(&g->text, "irq_handler_entry: irq=%u name=ufshcd\n", 200 + cpu);
        begin_line(g, cpu, "d.h1.");
        put(&g->text, "irq_handler_exit: irq=%u ret=handled\n", 200 + cpu);
        return;
    }
    begin_line(g, cpu, "..s1.");
    put(&g->text, "softirq_entry: vec=%u [action=%s]\n", vector, actions[vector]);
    begin_line(g, cpu, "..s1.");
    put(&g->text, "softirq_exit: vec=%u [action=%s]\n", vector, actions[vector]);
}

static void put_binder(struct generator *g, unsigned cpu)
{
    uint64_t id = g->next_id++;
    unsigned other = (g->running[cpu] + 1 + below(&g->text, THREADS - 1)) % THREADS;
    begin_line(g, cpu, ".....");
    put(&g->text,
        "binder_transaction: transaction=%" PRIu64
        " dest_node=%u dest_proc=%u dest_thread=0 reply=0 flags=0x%x code=0x%x\n",
        id, 4000 + other, g->threads[other].tgid, below(&g->text, 2) ? 0x11u : 0x10u,
        1 + below(&g->text, 40));
    begin_line(g, (cpu + 1) % CPUS, ".....");
    put(&g->text, "binder_transaction_received: transaction=%" PRIu64 "\n", id);
}

static void put_disk(struct generator *g, unsigned cpu)
{
    uint64_t sector = below(&g->text, 1u << 30) * 8ull;
    begin_line(g, cpu, "d..2.");
    put(&g->text, "block_rq_issue: 8,0 RA 131072 () %" PRIu64 " + 256 [%s]\n", sector,
        g->threads[g->running[cpu]].comm);
    begin_line(g, (cpu + 3) % CPUS, "d.h2.");
    put(&g->text, "block_rq_complete: 8,0 RA () %" PRIu64 " + 256 [0]\n", sector);
}

static void put_frequency(struct generator *g, unsigned cpu)
{
    begin_line(g, cpu, "d..4.");
    put(&g->text, "cpu_frequency: state=%u cpu_id=%u\n", 300000 + 96000 * below(&g->text, 20), cpu);
}

static void put_event(struct generator *g)
{
    unsigned cpu = below(&g->text, CPUS), kind = below(&g->text, 1000);
    bool idle = g->running[cpu] == NOBODY;
    if (kind < 250)
        put_switch(g, cpu);
    else if (kind < 540)
        put_waking(g, cpu);
    else if (kind < 560)
        put_interrupt(g, cpu);
    else if (kind < 570)
        put_frequency(g, cpu);
    else if (idle)
        put_idle(g, cpu);
    else if (kind < 950)
        put_mark(g, cpu);
    else if (kind < 975)
        put_other_mark(g, cpu);
    else if (kind < 990)
        put_binder(g, cpu);
    else
        put_disk(g, cpu);
}

/* ---- The file ---- */

static void name_threads(struct generator *g)
{
    for (unsigned i = 0; i < THREADS; i++) {
        struct thread *thread = &g->threads[i];
        char name[64];
        /* One of the names above, as the kernel cuts them. */
        const char *form = comms[i % COUNT(comms)], *digit = strstr(form, "%u");
        size_t head = digit ? (size_t)(digit - form) : strlen(form);
        snprintf(name, sizeof name, "%.*s", (int)head, form);
        if (digit)
            snprintf(name + head, sizeof name - head, "%u%s", i / (unsigned)COUNT(comms),
                     digit + 2);
        memcpy(thread->comm, name, sizeof thread->comm - 1);
        thread->id = FIRST_ID + i;
        thread->tgid = FIRST_ID + i / A_PROCESS * A_PROCESS;
    }
    for (unsigned cpu = 0; cpu < CPUS; cpu++)
        g->running[cpu] = NOBODY;
}

static void put_head(struct generator *g)
{
    if (g->html)
        put(&g->text,
            "<!DOCTYPE html>\n<html>\n<head><title>Android System Trace</title></head>\n<body>\n"
            "<!-- BEGIN TRACE -->\n"
            "  <script class=\"trace-data\" type=\"application/text\">\n");
    put(&g->text,
        "# tracer: nop\n#\n# entries-in-buffer/entries-written: 4000000/4000000   #P:%u\n#\n"
        "#           TASK-PID    TGID   CPU#  |||||  TIMESTAMP  FUNCTION\n"
        "#              | |        |      |   |||||     |         |\n",
        CPUS);
}

int main(int argc, char **argv)
{
    uint64_t limit;
    if (argc < 3 || argc > 4 || (argc == 4 && strcmp(argv[3], "html") != 0) ||
        !tv_parse_u64(tv_bytes_of(argv[2]), &limit)) {
        fprintf(stderr, "usage: generate-ftrace OUTPUT BYTES [html]\n");
        return 2;
    }
    struct generator *g = calloc(1, sizeof *g);
    if (!g)
        fail("no memory");
    g->time = 73214000000;
    g->next_id = 1;
    g->html = argc == 4;
    text_open(&g->text, argv[1], 11);
    name_threads(g);
    put_head(g);
    while (text_length(&g->text) < limit)
        put_event(g);
    if (g->html)
        put(&g->text, "  </script>\n<!-- END TRACE -->\n</body>\n</html>\n");
    text_close(&g->text);
    printf("%" PRIu64 " events\n", g->lines);
    free(g);
    return 0;
}
