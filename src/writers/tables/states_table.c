/* SPDX-License-Identifier: Apache-2.0 */
/*
 * states_table.c - the time of threads by state and by processor, as text, TSV,
 * CSV and JSON.
 *
 *     states of threads    a row for each thread: running, runnable, ... as times and shares
 *     processors           a row for each thread that ran: time on each processor
 *                          or, with many processors, a row for each processor
 *
 * Shares in the first table are of the time in which the states of a thread are
 * known, in the second one of the range.  TSV and CSV have one line for each
 * thread, with both in it.
 */
#include "writers/tables/tables.h"

#include <assert.h>
#include <stdio.h>

#include "base/bytes.h"
#include "writers/text/names.h"
#include "writers/text/text_table.h"

struct states_table {
    struct tv_out *out;
    const struct tv_trace *trace;
    const struct tv_states *states;
    uint32_t count; /* threads that are shown */
    bool several;   /* several inputs have processors or states, so that rows name their input */
};

/* Maximum number of processors that get a column each; more get a line each. */
#define MAX_COLUMNS 16
#define CPU_WIDTH 12    /* usual width of a column on a screen */
#define THREAD_WIDTH 20 /* width of the names beside the columns */
#define TOP_THREADS 3

/* Return the name of a thread.  Some are known by the name alone, which
 * processors ran. */
static struct tv_bytes states_name_of(const struct states_table *t,
                                      const struct tv_thread_states *thread)
{
    const struct tv_trace_info *head = t->trace->head;
    return tv_trace_info_text(head, thread->thread == TV_NONE ? head->frames[thread->frame].name
                                                              : head->threads[thread->thread].name);
}

/* Return the process of a thread; NULL when the thread has only a name, or no process. */
static const struct tv_process *states_process_of(const struct states_table *t,
                                                  const struct tv_thread_states *thread)
{
    const struct tv_trace_info *head = t->trace->head;
    uint32_t process = thread->thread == TV_NONE ? TV_NONE : head->threads[thread->thread].process;
    return process < head->process_count ? &head->processes[process] : NULL;
}

/* Return how long a thread ran on a processor.  Both are indices of the lists
 * in struct tv_states. */
static tv_ns states_time_on_cpu(const struct states_table *t, uint32_t thread, uint32_t cpu)
{
    return tv_states_ran(t->states, thread, cpu);
}

/* ---- Inputs ---- */

/* Return the input of a thread; TV_NONE if only its name is known. */
static uint32_t states_input_of(const struct states_table *t, const struct tv_thread_states *thread)
{
    return thread->thread == TV_NONE ? TV_NONE : t->trace->head->threads[thread->thread].input;
}

/* Return the name of an input, or "". */
static struct tv_bytes states_input_name(const struct states_table *t, uint32_t input)
{
    const struct tv_trace_info *head = t->trace->head;
    return input < head->input_count ? tv_trace_info_text(head, head->inputs[input].name)
                                     : TV_BYTES("");
}

/* Return the input that a processor belongs to. */
static uint32_t states_cpu_input(const struct states_table *t, uint32_t cpu)
{
    return t->trace->tracks[t->states->cpus[cpu].track].input;
}

/* Processors and threads of different inputs may have equal names and numbers; then every row
 * and column names its input. */
static bool states_has_several_inputs(const struct states_table *t)
{
    uint32_t input = TV_NONE;
    bool several = false;
    for (uint32_t i = 0; i < t->states->cpu_count; i++) {
        several |= input != TV_NONE && states_cpu_input(t, i) != input;
        input = states_cpu_input(t, i);
    }
    for (uint32_t i = 0; i < t->states->thread_count; i++) {
        uint32_t own = states_input_of(t, &t->states->threads[i]);
        several |= input != TV_NONE && own != TV_NONE && own != input;
        input = own == TV_NONE ? input : own;
    }
    return several;
}

/* Return the number by which the input names a processor. */
static uint32_t states_cpu_number(const struct states_table *t, uint32_t cpu)
{
    return tv_cpu_number(t->trace, t->states->cpus[cpu].track);
}

/* Return the length of the range. */
static tv_ns states_span_of(const struct states_table *t)
{
    return t->states->to - t->states->from;
}

/* A processor is idle when it is neither busy nor unknown. Nothing is known about it before the
 * first switch that is seen there, and after the end of its input. */
static tv_ns states_idle_of(const struct states_table *t, uint32_t cpu)
{
    const struct tv_cpu_use *use = &t->states->cpus[cpu];
    assert(cpu < t->states->cpu_count);
    return states_span_of(t) - use->busy - use->unknown;
}

/* ---- Text ---- */

/* Write "[id] name". */
static void states_text_thread_id(struct tv_out *out, const struct states_table *t,
                                  const struct tv_thread_states *thread)
{
    if (thread->thread != TV_NONE)
        tv_out_format(out, "[%llu] ",
                      (unsigned long long)t->trace->head->threads[thread->thread].id);
    tv_names_line(out, states_name_of(t, thread));
}

/* Write the file of a row, if rows are from several. */
static void states_text_input(struct tv_out *out, const struct states_table *t, uint32_t input)
{
    if (!t->several || input == TV_NONE)
        return;
    tv_out_text(out, "  ");
    tv_names_line(out, states_input_name(t, input));
}

/* Write who a row is about, which ends the row. */
static void states_text_name(const struct states_table *t, struct tv_text_table *table,
                             const struct tv_thread_states *thread)
{
    struct tv_out *out = tv_text_table_name(table, 0);
    states_text_thread_id(out, t, thread);
    states_text_input(out, t, states_input_of(t, thread));
    tv_text_table_end_row(table);
}

/* Running, and waiting for a processor, say most about a thread, so these columns stay longest. */
static void states_state_columns(struct tv_text_table *table)
{
    static const struct {
        const char *name, *title;
        unsigned rank;
    } states[TV_STATE_COUNT] = {
        {"running", "Running", 0},
        {"runnable", "Runnable", 2},
        {"preempted", "Preempted", 8},
        {"sleeping", "Sleeping", 3},
        {"uninterruptible", "Uninterr.", 5},
        {"io-wait", "I/O wait", 6},
        {"other", "Other", 9},
    };
    for (int i = 0; i < TV_STATE_COUNT; i++) {
        unsigned rank = i == 0 ? 1 : 10 + states[i].rank;
        tv_text_table_add(table, &(struct tv_text_column){states[i].name, states[i].title, 12,
                                                          states[i].rank, 0});
        tv_text_table_add(table, &(struct tv_text_column){states[i].name, "%", 7, rank, 0});
    }
    tv_text_table_add(table, &(struct tv_text_column){"wakeups", "Wake-ups", 10, 7, 0});
    tv_text_table_add(table, &(struct tv_text_column){"longest-wait", "Longest wait", 14, 4, 0});
}

/* Return the unit of times: milliseconds, because states always have times. */
static struct tv_figure_unit states_unit_of(const struct states_table *t)
{
    return tv_figures_unit(t->trace->head);
}

/* The first table: a row for each thread, two columns for each state. */
static void states_text_states(const struct states_table *t)
{
    struct tv_text_table table;
    tv_text_table_begin(&table, t->out, "Thread");
    states_state_columns(&table);
    for (uint32_t i = 0; i < t->count; i++) {
        const struct tv_thread_states *thread = &t->states->threads[i];
        for (int k = 0; k < TV_STATE_COUNT; k++) {
            tv_text_table_figure(&table, states_unit_of(t), thread->time[k]);
            tv_text_table_share(&table, thread->time[k], thread->total);
        }
        if (t->trace->tables.wakeups.count > 0)
            tv_text_table_number(&table, thread->wakeups);
        else
            tv_out_text(tv_text_table_cell(&table), "-");
        tv_text_table_figure(&table, states_unit_of(t), thread->longest_wait);
        states_text_name(t, &table, thread);
    }
    tv_text_table_end(&table);
}

/* Write a time and its share of the range. */
static void states_text_share(const struct states_table *t, struct tv_text_table *table, tv_ns time)
{
    tv_text_table_figure(table, states_unit_of(t), time);
    tv_text_table_share(table, time, states_span_of(t));
}

enum states_use_line { BUSY, IDLE, UNKNOWN };

/* Write one of the rows above the threads: how long each processor was busy, idle or unknown. */
static void states_text_use_line(const struct states_table *t, struct tv_text_table *table,
                                 enum states_use_line line)
{
    static const char *const names[] = {"(busy)", "(idle)", "(unknown)"};
    for (uint32_t i = 0; i < t->states->cpu_count; i++) {
        const struct tv_cpu_use *use = &t->states->cpus[i];
        states_text_share(t, table,
                          line == BUSY   ? use->busy
                          : line == IDLE ? states_idle_of(t, i)
                                         : use->unknown);
    }
    tv_out_text(tv_text_table_name(table, 0), names[line]);
    tv_text_table_end_row(table);
}

/* List the files of the columns. */
static void states_text_inputs(const struct states_table *t)
{
    for (uint32_t i = 0; t->several && i < t->states->cpu_count; i++) {
        tv_out_format(t->out, "Column %u, CPU %u:", i + 1, states_cpu_number(t, i));
        states_text_input(t->out, t, states_cpu_input(t, i));
        tv_out_char(t->out, '\n');
    }
}

/* The second table: a row for each thread that ran, two columns for each processor. */
static void states_text_cpu_columns(const struct states_table *t)
{
    const struct tv_states *states = t->states;
    char titles[MAX_COLUMNS][16];
    struct tv_text_table table;
    assert(t->states->cpu_count <= MAX_COLUMNS);
    states_text_inputs(t);
    tv_text_table_begin(&table, t->out, "Thread");
    for (uint32_t i = 0; i < states->cpu_count; i++) {
        snprintf(titles[i], sizeof titles[i], "CPU%4u", states_cpu_number(t, i));
        tv_text_table_add(&table, &(struct tv_text_column){"cpus", titles[i], 12, 0, 0});
        tv_text_table_add(&table, &(struct tv_text_column){"cpus", "%", 7, 1, 0});
    }
    states_text_use_line(t, &table, BUSY);
    states_text_use_line(t, &table, IDLE);
    states_text_use_line(t, &table, UNKNOWN);
    for (uint32_t i = 0; i < t->count; i++) {
        if (states->threads[i].ran == 0)
            continue;
        for (uint32_t k = 0; k < states->cpu_count; k++)
            states_text_share(t, &table, states_time_on_cpu(t, i, k));
        states_text_name(t, &table, &states->threads[i]);
    }
    tv_text_table_end(&table);
}

/* Append the threads that ran longest on a processor to its line. */
static void states_text_top(struct tv_out *out, const struct states_table *t, uint32_t cpu)
{
    /* Selecting the largest three takes as many passes; the threads stay in
     * their order. */
    tv_ns last = INT64_MAX;
    uint32_t shown = 0, last_thread = 0;
    for (bool more = true; more && shown < TOP_THREADS; shown++) {
        uint32_t best = TV_NONE;
        for (uint32_t i = 0; i < t->count; i++) {
            tv_ns ran = states_time_on_cpu(t, i, cpu);
            bool behind = shown == 0 || ran < last || (ran == last && i > last_thread);
            if (ran > 0 && behind && (best == TV_NONE || ran > states_time_on_cpu(t, best, cpu)))
                best = i;
        }
        more = best != TV_NONE;
        if (!more)
            break;
        last = states_time_on_cpu(t, best, cpu);
        last_thread = best;
        tv_out_text(out, shown > 0 ? ", " : t->several ? "  " : "");
        states_text_thread_id(out, t, &t->states->threads[best]);
        tv_out_char(out, ' ');
        tv_out_time(out, last, states_unit_of(t).ns, states_unit_of(t).decimals);
    }
}

/* The second table for many processors: a row for each of them. */
static void states_text_cpu_lines(const struct states_table *t)
{
    static const struct tv_text_column columns[] = {
        {NULL, "CPU", 6, 0, 0},   {NULL, "Busy", 12, 0, 0}, {NULL, "%", 7, 1, 0},
        {NULL, "Idle", 12, 3, 0}, {NULL, "%", 7, 4, 0},     {NULL, "Unknown", 12, 5, 0},
        {NULL, "%", 7, 6, 0},
    };
    struct tv_text_table table;
    tv_text_table_begin(&table, t->out, "Threads that ran longest");
    for (size_t i = 0; i < TV_COUNT(columns); i++)
        tv_text_table_add(&table, &columns[i]);
    for (uint32_t i = 0; i < t->states->cpu_count; i++) {
        tv_text_table_number(&table, states_cpu_number(t, i));
        states_text_share(t, &table, t->states->cpus[i].busy);
        states_text_share(t, &table, states_idle_of(t, i));
        states_text_share(t, &table, t->states->cpus[i].unknown);
        struct tv_out *out = tv_text_table_name(&table, 0);
        if (t->several)
            tv_names_line(out, states_input_name(t, states_cpu_input(t, i)));
        states_text_top(out, t, i);
        tv_text_table_end_row(&table);
    }
    tv_text_table_end(&table);
}

/* Is any thread known by more than its name? */
static bool states_has_states(const struct tv_states *states)
{
    for (uint32_t i = 0; i < states->thread_count; i++)
        if (states->threads[i].thread != TV_NONE)
            return true;
    return false;
}

/* Return the number of processors that fit as columns. */
static uint32_t states_most_cpu_columns(const struct states_table *t)
{
    uint32_t width = tv_layout_width(t->out);
    uint32_t most = width > THREAD_WIDTH ? (width - THREAD_WIDTH) / CPU_WIDTH : 0;
    return width == 0 || most > MAX_COLUMNS ? MAX_COLUMNS : most;
}

/* Write the tables of threads and of processors, as far as the trace has them.  Many processors are
 * lines instead of columns. */
static void states_write_text(const struct states_table *t)
{
    bool states = states_has_states(t->states),
         cpus = t->states->cpu_count > 0 && states_span_of(t) > 0;
    if (!states && !cpus)
        tv_out_text(t->out, tv_trace_has_states(t->trace)
                                ? "No states of threads and no processors in the range.\n"
                                : "The trace has no states of threads and no processors.\n");
    if (states) {
        tv_out_text(t->out, "Threads: ms, and shares of the time in which each is known\n");
        states_text_states(t);
    }
    if (states && cpus)
        tv_out_char(t->out, '\n');
    if (!cpus)
        return;
    tv_out_text(t->out, "Processors: ms, and shares of the range of ");
    tv_out_time(t->out, states_span_of(t), states_unit_of(t).ns, states_unit_of(t).decimals);
    tv_out_text(t->out, " ms\n");
    if (t->states->cpu_count > states_most_cpu_columns(t))
        states_text_cpu_lines(t);
    else
        states_text_cpu_columns(t);
}

/* ---- TSV and CSV ---- */

/* Write a text as the format wants it: on one line, or quoted. */
static void states_tsv_text(const struct states_table *t, bool tabs, struct tv_bytes text)
{
    if (tabs)
        tv_names_line(t->out, text);
    else
        tv_out_csv(t->out, text);
}

static void states_tsv_number(const struct states_table *t, char between, int64_t value)
{
    tv_out_char(t->out, between);
    tv_out_i64(t->out, value);
}

/* Write "cpu0_ns", with the processor's file when there are several. */
static void states_tsv_cpu(const struct states_table *t, bool tabs, uint32_t cpu)
{
    struct tv_bytes input = states_input_name(t, states_cpu_input(t, cpu));
    char name[256];
    if (t->several)
        snprintf(name, sizeof name, "cpu%u_ns %.*s", states_cpu_number(t, cpu),
                 input.length < 200 ? (int)input.length : 200, (const char *)input.data);
    else
        snprintf(name, sizeof name, "cpu%u_ns", states_cpu_number(t, cpu));
    states_tsv_text(t, tabs, tv_bytes_of(name));
}

/* Write the names of the columns. */
static void states_tsv_head(const struct states_table *t, char between)
{
    bool tabs = between == '\t';
    if (t->several)
        tv_out_format(t->out, "file%c", between);
    tv_out_format(t->out, "process_id%cprocess%cthread_id%cthread", between, between, between);
    for (int i = 0; i < TV_STATE_COUNT; i++)
        tv_out_format(t->out, "%c%s_ns", between, tv_state_name((enum tv_state)i));
    tv_out_format(t->out, "%cwakeups%clongest_wait_ns", between, between);
    for (uint32_t i = 0; i < t->states->cpu_count; i++) {
        tv_out_char(t->out, between);
        states_tsv_cpu(t, tabs, i);
    }
    tv_out_char(t->out, '\n');
}

/* Write the columns that say whose line it is. */
static void states_tsv_owner(const struct states_table *t, bool tabs,
                             const struct tv_thread_states *thread)
{
    const struct tv_trace_info *head = t->trace->head;
    const struct tv_process *process = states_process_of(t, thread);
    char between = tabs ? '\t' : ',';
    if (t->several) {
        states_tsv_text(t, tabs, states_input_name(t, states_input_of(t, thread)));
        tv_out_char(t->out, between);
    }
    if (process)
        tv_out_u64(t->out, process->id);
    tv_out_char(t->out, between);
    if (process)
        states_tsv_text(t, tabs, tv_trace_info_text(head, process->name));
    tv_out_char(t->out, between);
    if (thread->thread != TV_NONE)
        tv_out_u64(t->out, head->threads[thread->thread].id);
    tv_out_char(t->out, between);
    states_tsv_text(t, tabs, states_name_of(t, thread));
}

/* Write a line for each thread, with tabs or as CSV. Every line has all columns. */
static void states_write_tsv(const struct states_table *t, bool tabs)
{
    char between = tabs ? '\t' : ',';
    states_tsv_head(t, between);
    for (uint32_t i = 0; i < t->count; i++) {
        const struct tv_thread_states *thread = &t->states->threads[i];
        states_tsv_owner(t, tabs, thread);
        for (int k = 0; k < TV_STATE_COUNT; k++)
            states_tsv_number(t, between, thread->time[k]);
        states_tsv_number(t, between, (int64_t)thread->wakeups);
        states_tsv_number(t, between, thread->longest_wait);
        for (uint32_t k = 0; k < t->states->cpu_count; k++)
            states_tsv_number(t, between, states_time_on_cpu(t, i, k));
        tv_out_char(t->out, '\n');
    }
}

/* ---- JSON ---- */

/* Begin the object of a thread with the members that say which one it is. */
static void states_json_owner(const struct states_table *t, const struct tv_thread_states *thread)
{
    const struct tv_trace_info *head = t->trace->head;
    const struct tv_process *process = states_process_of(t, thread);
    tv_json_put_text(t->out, "{", "file", states_input_name(t, states_input_of(t, thread)));
    tv_out_text(t->out, ", \"process_id\": ");
    if (process)
        tv_out_u64(t->out, process->id);
    else
        tv_out_text(t->out, "null");
    tv_json_put_text(t->out, ", ", "process",
                     process ? tv_trace_info_text(head, process->name) : TV_BYTES(""));
    tv_out_text(t->out, ", \"thread_id\": ");
    if (thread->thread != TV_NONE)
        tv_out_u64(t->out, head->threads[thread->thread].id);
    else
        tv_out_text(t->out, "null");
    tv_json_put_text(t->out, ", ", "thread", states_name_of(t, thread));
}

/* Write the object of a thread. */
static void states_json_thread(const struct states_table *t, uint32_t number)
{
    const struct tv_thread_states *thread = &t->states->threads[number];
    assert(number < t->states->thread_count);
    states_json_owner(t, thread);
    tv_out_text(t->out, ", \"states\": {");
    for (int i = 0; i < TV_STATE_COUNT; i++) {
        char key[32];
        snprintf(key, sizeof key, "%s_ns", tv_state_name((enum tv_state)i));
        tv_out_text(t->out, i > 0 ? ", " : "");
        tv_json_put_i64(t->out, "", key, thread->time[i]);
    }
    tv_out_text(t->out, "}, ");
    tv_json_put_i64(t->out, "", "wakeups", (int64_t)thread->wakeups);
    tv_json_put_i64(t->out, ", ", "longest_wait_ns", thread->longest_wait);
    tv_out_text(t->out, ", \"cpus_ns\": [");
    for (uint32_t i = 0; i < t->states->cpu_count; i++) {
        tv_out_text(t->out, i > 0 ? ", " : "");
        tv_out_i64(t->out, states_time_on_cpu(t, number, i));
    }
    tv_out_text(t->out, "]}");
}

/* Write {"from_ns", "to_ns", "cpus": [...], "threads": [...]}; "cpus_ns" of a thread has the
 * order of "cpus". */
static void states_write_json(const struct states_table *t)
{
    const struct tv_states *states = t->states;
    tv_out_char(t->out, '{');
    tv_json_put_i64(t->out, "", "from_ns", states->from);
    tv_json_put_i64(t->out, ", ", "to_ns", states->to);
    tv_out_text(t->out, ",\n \"cpus\": [");
    for (uint32_t i = 0; i < states->cpu_count; i++) {
        tv_out_text(t->out, i > 0 ? ",\n  {" : "\n  {");
        tv_json_put_i64(t->out, "", "cpu", states_cpu_number(t, i));
        tv_json_put_text(t->out, ", ", "file", states_input_name(t, states_cpu_input(t, i)));
        tv_json_put_i64(t->out, ", ", "busy_ns", states->cpus[i].busy);
        tv_json_put_i64(t->out, ", ", "idle_ns", states_idle_of(t, i));
        tv_json_put_i64(t->out, ", ", "unknown_ns", states->cpus[i].unknown);
        tv_out_char(t->out, '}');
    }
    tv_out_text(t->out, "],\n \"threads\": [");
    for (uint32_t i = 0; i < t->count; i++) {
        tv_out_text(t->out, i > 0 ? ",\n  " : "\n  ");
        states_json_thread(t, i);
    }
    tv_out_text(t->out, "]}\n");
}

void tv_states_table_write(struct tv_out *out, const struct tv_trace *trace,
                           const struct tv_states *states, enum tv_states_format format,
                           uint64_t limit)
{
    struct states_table t = {out, trace, states, states->thread_count, false};
    t.several = states_has_several_inputs(&t);
    if (limit > 0 && limit < t.count)
        t.count = (uint32_t)limit;
    if (format == TV_STATES_TEXT)
        states_write_text(&t);
    else if (format == TV_STATES_JSON)
        states_write_json(&t);
    else
        states_write_tsv(&t, format == TV_STATES_TSV);
}
