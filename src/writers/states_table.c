/* SPDX-License-Identifier: Apache-2.0 */
#include "writers/states_table.h"

#include <stdio.h>

#include "base/bytes.h"
#include "writers/names.h"

#define MS 1000000

struct table {
    struct tv_out *out;
    const struct tv_trace *trace;
    const struct tv_states *states;
    uint32_t count; /* of threads that are shown */
    bool several;   /* inputs tell of processors or states: each is named with its own */
};

/* More columns of processors do not fit on a screen: a line for each instead. */
#define MOST_COLUMNS 16
#define TOP_THREADS 3

static const char *const heads[TV_STATE_COUNT] = {
    "Running", "Runnable", "Preempted", "Sleeping", "Uninterr.", "I/O wait", "Other",
};

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
    return t->states->ran[(size_t)thread * t->states->cpu_count + cpu];
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

static void text_who(const struct table *t, const struct tv_thread_states *thread)
{
    if (thread->thread != TV_NONE)
        tv_out_format(t->out, "[%llu] ",
                      (unsigned long long)t->trace->head->threads[thread->thread].id);
    tv_names_line(t->out, name_of(t, thread));
}

static void text_input(const struct table *t, uint32_t input)
{
    if (!t->several || input == TV_NONE)
        return;
    tv_out_text(t->out, "  ");
    tv_names_line(t->out, input_name(t, input));
}

static void text_name(const struct table *t, const struct tv_thread_states *thread)
{
    tv_out_text(t->out, "  ");
    text_who(t, thread);
    text_input(t, input_of(t, thread));
    tv_out_char(t->out, '\n');
}

static void text_states(const struct table *t)
{
    for (int i = 0; i < TV_STATE_COUNT; i++)
        tv_out_format(t->out, "%12s%7s", heads[i], "%");
    tv_out_text(t->out, "  Wake-ups  Longest wait  Thread\n");
    for (uint32_t i = 0; i < t->count; i++) {
        const struct tv_thread_states *thread = &t->states->threads[i];
        for (int k = 0; k < TV_STATE_COUNT; k++) {
            tv_names_time_column(t->out, 12, thread->time[k], MS, 3);
            tv_names_percent_column(t->out, 7, thread->time[k], thread->total);
        }
        tv_names_number_column(t->out, 10, thread->wakeups);
        tv_names_time_column(t->out, 14, thread->longest_wait, MS, 3);
        text_name(t, thread);
    }
}

static void text_share(const struct table *t, tv_ns time)
{
    tv_names_time_column(t->out, 12, time, MS, 3);
    tv_names_percent_column(t->out, 7, time, span_of(t));
}

enum line { BUSY, IDLE, UNKNOWN };

static void text_line(const struct table *t, enum line line)
{
    static const char *const names[] = {"busy", "idle", "unknown"};
    for (uint32_t i = 0; i < t->states->cpu_count; i++) {
        const struct tv_cpu_use *use = &t->states->cpus[i];
        text_share(t, line == BUSY ? use->busy : line == IDLE ? idle_of(t, i) : use->unknown);
    }
    tv_out_format(t->out, "  (%s)\n", names[line]);
}

/* The files whose columns follow one another. */
static void text_inputs(const struct table *t)
{
    for (uint32_t i = 0; t->several && i < t->states->cpu_count; i++) {
        tv_out_format(t->out, "Column %u, CPU %u:", i + 1, cpu_number(t, i));
        text_input(t, cpu_input(t, i));
        tv_out_char(t->out, '\n');
    }
}

static void text_cpu_columns(const struct table *t)
{
    const struct tv_states *states = t->states;
    text_inputs(t);
    for (uint32_t i = 0; i < states->cpu_count; i++)
        tv_out_format(t->out, "%8s%4u%7s", "CPU", cpu_number(t, i), "%");
    tv_out_text(t->out, "  Thread\n");
    text_line(t, BUSY);
    text_line(t, IDLE);
    text_line(t, UNKNOWN);
    for (uint32_t i = 0; i < t->count; i++) {
        if (states->threads[i].ran == 0)
            continue;
        for (uint32_t k = 0; k < states->cpu_count; k++)
            text_share(t, ran_of(t, i, k));
        text_name(t, &states->threads[i]);
    }
}

/* The threads that ran longest on a processor, behind its line. */
static void text_top(const struct table *t, uint32_t cpu)
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
        tv_out_text(t->out, shown > 0 ? ", " : "  ");
        text_who(t, &t->states->threads[best]);
        tv_out_char(t->out, ' ');
        tv_out_time(t->out, last, MS, 3);
    }
}

static void text_cpu_lines(const struct table *t)
{
    tv_out_format(t->out, "%6s%12s%7s%12s%7s%12s%7s  Threads that ran longest\n", "CPU", "Busy",
                  "%", "Idle", "%", "Unknown", "%");
    for (uint32_t i = 0; i < t->states->cpu_count; i++) {
        tv_out_format(t->out, "%6u", cpu_number(t, i));
        text_share(t, t->states->cpus[i].busy);
        text_share(t, idle_of(t, i));
        text_share(t, t->states->cpus[i].unknown);
        text_input(t, cpu_input(t, i));
        text_top(t, i);
        tv_out_char(t->out, '\n');
    }
}

static bool has_states(const struct tv_states *states)
{
    for (uint32_t i = 0; i < states->thread_count; i++)
        if (states->threads[i].thread != TV_NONE)
            return true;
    return false;
}

static void write_text(const struct table *t)
{
    bool states = has_states(t->states), cpus = t->states->cpu_count > 0 && span_of(t) > 0;
    if (!states && !cpus)
        tv_out_text(t->out, "No states of threads and no processors in the range.\n");
    if (states) {
        tv_out_text(t->out, "Threads: ms, and shares of the time in which each is known\n");
        text_states(t);
    }
    if (states && cpus)
        tv_out_char(t->out, '\n');
    if (!cpus)
        return;
    tv_out_text(t->out, "Processors: ms, and shares of the range of ");
    tv_out_time(t->out, span_of(t), MS, 3);
    tv_out_text(t->out, " ms\n");
    if (t->states->cpu_count > MOST_COLUMNS)
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
