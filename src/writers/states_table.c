/* SPDX-License-Identifier: Apache-2.0 */
#include "writers/states_table.h"

#include <stdio.h>

#include "base/bytes.h"
#include "writers/names.h"
#include "writers/text_table.h"

struct table {
    struct tv_out *out;
    const struct tv_trace *trace;
    const struct tv_states *states;
    uint32_t count; /* of threads that are shown */
    bool several;   /* inputs tell of processors or states: each is named with its own */
};

/* More columns of processors do not fit on a screen: a line for each instead. */
#define MOST_COLUMNS 16
#define CPU_WIDTH 12    /* of a column on a screen, usually */
#define THREAD_WIDTH 20 /* of names beside them */
#define TOP_THREADS 3

static struct tv_bytes name_of(const struct table *t, const struct tv_thread_states *thread)
{
    const struct tv_head *head = t->trace->head;
    return tv_head_text(head, thread->thread == TV_NONE ? head->frames[thread->frame].name
                                                        : head->threads[thread->thread].name);
}

/* Of a thread; NULL: only a name is known, or no process. */
static const struct tv_process *process_of(const struct table *t,
                                           const struct tv_thread_states *thread)
{
    const struct tv_head *head = t->trace->head;
    uint32_t process = thread->thread == TV_NONE ? TV_NONE : head->threads[thread->thread].process;
    return process < head->process_count ? &head->processes[process] : NULL;
}

static tv_ns ran_of(const struct table *t, uint32_t thread, uint32_t cpu)
{
    return tv_states_ran(t->states, thread, cpu);
}

/* ---- Inputs ---- */

static uint32_t input_of(const struct table *t, const struct tv_thread_states *thread)
{
    return thread->thread == TV_NONE ? TV_NONE : t->trace->head->threads[thread->thread].input;
}

static struct tv_bytes input_name(const struct table *t, uint32_t input)
{
    const struct tv_head *head = t->trace->head;
    return input < head->input_count ? tv_head_text(head, head->inputs[input].name) : TV_BYTES("");
}

static uint32_t cpu_input(const struct table *t, uint32_t cpu)
{
    return t->trace->tracks[t->states->cpus[cpu].track].input;
}

static bool has_several_inputs(const struct table *t)
{
    uint32_t input = TV_NONE;
    bool several = false;
    for (uint32_t i = 0; i < t->states->cpu_count; i++) {
        several |= input != TV_NONE && cpu_input(t, i) != input;
        input = cpu_input(t, i);
    }
    for (uint32_t i = 0; i < t->states->thread_count; i++) {
        uint32_t own = input_of(t, &t->states->threads[i]);
        several |= input != TV_NONE && own != TV_NONE && own != input;
        input = own == TV_NONE ? input : own;
    }
    return several;
}

static uint32_t cpu_number(const struct table *t, uint32_t cpu)
{
    return tv_cpu_number(t->trace, t->states->cpus[cpu].track);
}

static tv_ns span_of(const struct table *t)
{
    return t->states->to - t->states->from;
}

static tv_ns idle_of(const struct table *t, uint32_t cpu)
{
    const struct tv_cpu_use *use = &t->states->cpus[cpu];
    return span_of(t) - use->busy - use->unknown;
}

/* ---- Text ---- */

static void text_who(struct tv_out *out, const struct table *t,
                     const struct tv_thread_states *thread)
{
    if (thread->thread != TV_NONE)
        tv_out_format(out, "[%llu] ",
                      (unsigned long long)t->trace->head->threads[thread->thread].id);
    tv_names_line(out, name_of(t, thread));
}

static void text_input(struct tv_out *out, const struct table *t, uint32_t input)
{
    if (!t->several || input == TV_NONE)
        return;
    tv_out_text(out, "  ");
    tv_names_line(out, input_name(t, input));
}

static void text_name(const struct table *t, struct tv_text_table *table,
                      const struct tv_thread_states *thread)
{
    struct tv_out *out = tv_text_table_name(table, 0);
    text_who(out, t, thread);
    text_input(out, t, input_of(t, thread));
    tv_text_table_end_row(table);
}

/* Running and what waits for a processor tell most of a thread. */
static void state_columns(struct tv_text_table *table)
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
        tv_text_table_add(
            table, &(struct tv_column){states[i].name, states[i].title, 12, states[i].rank, 0});
        tv_text_table_add(table, &(struct tv_column){states[i].name, "%", 7, rank, 0});
    }
    tv_text_table_add(table, &(struct tv_column){"wakeups", "Wake-ups", 10, 7, 0});
    tv_text_table_add(table, &(struct tv_column){"longest-wait", "Longest wait", 14, 4, 0});
}

/* Milliseconds: what has states has times. */
static struct tv_figure_unit unit_of(const struct table *t)
{
    return tv_figures_unit(t->trace->head);
}

static void text_states(const struct table *t)
{
    struct tv_text_table table;
    tv_text_table_begin(&table, t->out, "Thread");
    state_columns(&table);
    for (uint32_t i = 0; i < t->count; i++) {
        const struct tv_thread_states *thread = &t->states->threads[i];
        for (int k = 0; k < TV_STATE_COUNT; k++) {
            tv_text_table_figure(&table, unit_of(t), thread->time[k]);
            tv_text_table_share(&table, thread->time[k], thread->total);
        }
        if (t->trace->tables.wakeups.count > 0)
            tv_text_table_number(&table, thread->wakeups);
        else
            tv_out_text(tv_text_table_cell(&table), "-");
        tv_text_table_figure(&table, unit_of(t), thread->longest_wait);
        text_name(t, &table, thread);
    }
    tv_text_table_end(&table);
}

static void text_share(const struct table *t, struct tv_text_table *table, tv_ns time)
{
    tv_text_table_figure(table, unit_of(t), time);
    tv_text_table_share(table, time, span_of(t));
}

enum line { BUSY, IDLE, UNKNOWN };

static void text_line(const struct table *t, struct tv_text_table *table, enum line line)
{
    static const char *const names[] = {"(busy)", "(idle)", "(unknown)"};
    for (uint32_t i = 0; i < t->states->cpu_count; i++) {
        const struct tv_cpu_use *use = &t->states->cpus[i];
        text_share(t, table,
                   line == BUSY   ? use->busy
                   : line == IDLE ? idle_of(t, i)
                                  : use->unknown);
    }
    tv_out_text(tv_text_table_name(table, 0), names[line]);
    tv_text_table_end_row(table);
}

/* The files whose columns follow one another. */
static void text_inputs(const struct table *t)
{
    for (uint32_t i = 0; t->several && i < t->states->cpu_count; i++) {
        tv_out_format(t->out, "Column %u, CPU %u:", i + 1, cpu_number(t, i));
        text_input(t->out, t, cpu_input(t, i));
        tv_out_char(t->out, '\n');
    }
}

static void text_cpu_columns(const struct table *t)
{
    const struct tv_states *states = t->states;
    char titles[MOST_COLUMNS][16];
    struct tv_text_table table;
    text_inputs(t);
    tv_text_table_begin(&table, t->out, "Thread");
    for (uint32_t i = 0; i < states->cpu_count; i++) {
        snprintf(titles[i], sizeof titles[i], "CPU%4u", cpu_number(t, i));
        tv_text_table_add(&table, &(struct tv_column){"cpus", titles[i], 12, 0, 0});
        tv_text_table_add(&table, &(struct tv_column){"cpus", "%", 7, 1, 0});
    }
    text_line(t, &table, BUSY);
    text_line(t, &table, IDLE);
    text_line(t, &table, UNKNOWN);
    for (uint32_t i = 0; i < t->count; i++) {
        if (states->threads[i].ran == 0)
            continue;
        for (uint32_t k = 0; k < states->cpu_count; k++)
            text_share(t, &table, ran_of(t, i, k));
        text_name(t, &table, &states->threads[i]);
    }
    tv_text_table_end(&table);
}

/* The threads that ran longest on a processor, behind its line. */
static void text_top(struct tv_out *out, const struct table *t, uint32_t cpu)
{
    tv_ns last = INT64_MAX;
    uint32_t shown = 0, last_thread = 0;
    for (bool more = true; more && shown < TOP_THREADS; shown++) {
        uint32_t best = TV_NONE;
        for (uint32_t i = 0; i < t->count; i++) {
            tv_ns ran = ran_of(t, i, cpu);
            bool behind = shown == 0 || ran < last || (ran == last && i > last_thread);
            if (ran > 0 && behind && (best == TV_NONE || ran > ran_of(t, best, cpu)))
                best = i;
        }
        more = best != TV_NONE;
        if (!more)
            break;
        last = ran_of(t, best, cpu);
        last_thread = best;
        tv_out_text(out, shown > 0 ? ", " : t->several ? "  " : "");
        text_who(out, t, &t->states->threads[best]);
        tv_out_char(out, ' ');
        tv_out_time(out, last, unit_of(t).ns, unit_of(t).decimals);
    }
}

static void text_cpu_lines(const struct table *t)
{
    static const struct tv_column columns[] = {
        {NULL, "CPU", 6, 0, 0},   {NULL, "Busy", 12, 0, 0}, {NULL, "%", 7, 1, 0},
        {NULL, "Idle", 12, 3, 0}, {NULL, "%", 7, 4, 0},     {NULL, "Unknown", 12, 5, 0},
        {NULL, "%", 7, 6, 0},
    };
    struct tv_text_table table;
    tv_text_table_begin(&table, t->out, "Threads that ran longest");
    for (size_t i = 0; i < TV_COUNT(columns); i++)
        tv_text_table_add(&table, &columns[i]);
    for (uint32_t i = 0; i < t->states->cpu_count; i++) {
        tv_text_table_number(&table, cpu_number(t, i));
        text_share(t, &table, t->states->cpus[i].busy);
        text_share(t, &table, idle_of(t, i));
        text_share(t, &table, t->states->cpus[i].unknown);
        struct tv_out *out = tv_text_table_name(&table, 0);
        if (t->several)
            tv_names_line(out, input_name(t, cpu_input(t, i)));
        text_top(out, t, i);
        tv_text_table_end_row(&table);
    }
    tv_text_table_end(&table);
}

static bool has_states(const struct tv_states *states)
{
    for (uint32_t i = 0; i < states->thread_count; i++)
        if (states->threads[i].thread != TV_NONE)
            return true;
    return false;
}

/* How many processors have a column each. */
static uint32_t most_cpu_columns(const struct table *t)
{
    uint32_t width = tv_layout_width(t->out);
    uint32_t most = width > THREAD_WIDTH ? (width - THREAD_WIDTH) / CPU_WIDTH : 0;
    return width == 0 || most > MOST_COLUMNS ? MOST_COLUMNS : most;
}

static void write_text(const struct table *t)
{
    bool states = has_states(t->states), cpus = t->states->cpu_count > 0 && span_of(t) > 0;
    if (!states && !cpus)
        tv_out_text(t->out, tv_trace_has_states(t->trace)
                                ? "No states of threads and no processors in the range.\n"
                                : "The trace has no states of threads and no processors.\n");
    if (states) {
        tv_out_text(t->out, "Threads: ms, and shares of the time in which each is known\n");
        text_states(t);
    }
    if (states && cpus)
        tv_out_char(t->out, '\n');
    if (!cpus)
        return;
    tv_out_text(t->out, "Processors: ms, and shares of the range of ");
    tv_out_time(t->out, span_of(t), unit_of(t).ns, unit_of(t).decimals);
    tv_out_text(t->out, " ms\n");
    if (t->states->cpu_count > most_cpu_columns(t))
        text_cpu_lines(t);
    else
        text_cpu_columns(t);
}

/* ---- TSV and CSV ---- */

static void line_text(const struct table *t, bool tabs, struct tv_bytes text)
{
    if (tabs)
        tv_names_line(t->out, text);
    else
        tv_out_csv(t->out, text);
}

static void line_number(const struct table *t, char between, int64_t value)
{
    tv_out_char(t->out, between);
    tv_out_i64(t->out, value);
}

/* "cpu0_ns", with its file where there are several. */
static void line_cpu(const struct table *t, bool tabs, uint32_t cpu)
{
    struct tv_bytes input = input_name(t, cpu_input(t, cpu));
    char name[256];
    if (t->several)
        snprintf(name, sizeof name, "cpu%u_ns %.*s", cpu_number(t, cpu),
                 input.length < 200 ? (int)input.length : 200, (const char *)input.data);
    else
        snprintf(name, sizeof name, "cpu%u_ns", cpu_number(t, cpu));
    line_text(t, tabs, tv_bytes_of(name));
}

static void line_head(const struct table *t, char between)
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
        line_cpu(t, tabs, i);
    }
    tv_out_char(t->out, '\n');
}

static void line_owner(const struct table *t, bool tabs, const struct tv_thread_states *thread)
{
    const struct tv_head *head = t->trace->head;
    const struct tv_process *process = process_of(t, thread);
    char between = tabs ? '\t' : ',';
    if (t->several) {
        line_text(t, tabs, input_name(t, input_of(t, thread)));
        tv_out_char(t->out, between);
    }
    if (process)
        tv_out_u64(t->out, process->id);
    tv_out_char(t->out, between);
    if (process)
        line_text(t, tabs, tv_head_text(head, process->name));
    tv_out_char(t->out, between);
    if (thread->thread != TV_NONE)
        tv_out_u64(t->out, head->threads[thread->thread].id);
    tv_out_char(t->out, between);
    line_text(t, tabs, name_of(t, thread));
}

static void write_lines(const struct table *t, bool tabs)
{
    char between = tabs ? '\t' : ',';
    line_head(t, between);
    for (uint32_t i = 0; i < t->count; i++) {
        const struct tv_thread_states *thread = &t->states->threads[i];
        line_owner(t, tabs, thread);
        for (int k = 0; k < TV_STATE_COUNT; k++)
            line_number(t, between, thread->time[k]);
        line_number(t, between, (int64_t)thread->wakeups);
        line_number(t, between, thread->longest_wait);
        for (uint32_t k = 0; k < t->states->cpu_count; k++)
            line_number(t, between, ran_of(t, i, k));
        tv_out_char(t->out, '\n');
    }
}

/* ---- JSON ---- */

static void json_number(const struct table *t, const char *key, int64_t value)
{
    tv_out_format(t->out, "\"%s\": ", key);
    tv_out_i64(t->out, value);
}

static void json_owner(const struct table *t, const struct tv_thread_states *thread)
{
    const struct tv_head *head = t->trace->head;
    const struct tv_process *process = process_of(t, thread);
    tv_out_text(t->out, "{\"file\": ");
    tv_out_json(t->out, input_name(t, input_of(t, thread)));
    tv_out_text(t->out, ", \"process_id\": ");
    if (process)
        tv_out_u64(t->out, process->id);
    else
        tv_out_text(t->out, "null");
    tv_out_text(t->out, ", \"process\": ");
    tv_out_json(t->out, process ? tv_head_text(head, process->name) : TV_BYTES(""));
    tv_out_text(t->out, ", \"thread_id\": ");
    if (thread->thread != TV_NONE)
        tv_out_u64(t->out, head->threads[thread->thread].id);
    else
        tv_out_text(t->out, "null");
    tv_out_text(t->out, ", \"thread\": ");
    tv_out_json(t->out, name_of(t, thread));
}

static void json_thread(const struct table *t, uint32_t number)
{
    const struct tv_thread_states *thread = &t->states->threads[number];
    json_owner(t, thread);
    tv_out_text(t->out, ", \"states\": {");
    for (int i = 0; i < TV_STATE_COUNT; i++) {
        char key[32];
        snprintf(key, sizeof key, "%s_ns", tv_state_name((enum tv_state)i));
        tv_out_text(t->out, i > 0 ? ", " : "");
        json_number(t, key, thread->time[i]);
    }
    tv_out_text(t->out, "}, ");
    json_number(t, "wakeups", (int64_t)thread->wakeups);
    tv_out_text(t->out, ", ");
    json_number(t, "longest_wait_ns", thread->longest_wait);
    tv_out_text(t->out, ", \"cpus_ns\": [");
    for (uint32_t i = 0; i < t->states->cpu_count; i++) {
        tv_out_text(t->out, i > 0 ? ", " : "");
        tv_out_i64(t->out, ran_of(t, number, i));
    }
    tv_out_text(t->out, "]}");
}

static void write_json(const struct table *t)
{
    const struct tv_states *states = t->states;
    tv_out_char(t->out, '{');
    json_number(t, "from_ns", states->from);
    tv_out_text(t->out, ", ");
    json_number(t, "to_ns", states->to);
    tv_out_text(t->out, ",\n \"cpus\": [");
    for (uint32_t i = 0; i < states->cpu_count; i++) {
        tv_out_text(t->out, i > 0 ? ",\n  {" : "\n  {");
        json_number(t, "cpu", cpu_number(t, i));
        tv_out_text(t->out, ", \"file\": ");
        tv_out_json(t->out, input_name(t, cpu_input(t, i)));
        tv_out_text(t->out, ", ");
        json_number(t, "busy_ns", states->cpus[i].busy);
        tv_out_text(t->out, ", ");
        json_number(t, "idle_ns", idle_of(t, i));
        tv_out_text(t->out, ", ");
        json_number(t, "unknown_ns", states->cpus[i].unknown);
        tv_out_char(t->out, '}');
    }
    tv_out_text(t->out, "],\n \"threads\": [");
    for (uint32_t i = 0; i < t->count; i++) {
        tv_out_text(t->out, i > 0 ? ",\n  " : "\n  ");
        json_thread(t, i);
    }
    tv_out_text(t->out, "]}\n");
}

void tv_states_table_write(struct tv_out *out, const struct tv_trace *trace,
                           const struct tv_states *states, enum tv_states_format format,
                           uint64_t limit)
{
    struct table t = {out, trace, states, states->thread_count, false};
    t.several = has_several_inputs(&t);
    if (limit > 0 && limit < t.count)
        t.count = (uint32_t)limit;
    if (format == TV_STATES_TEXT)
        write_text(&t);
    else if (format == TV_STATES_JSON)
        write_json(&t);
    else
        write_lines(&t, format == TV_STATES_TSV);
}
