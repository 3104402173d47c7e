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
};

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

/* ---- Text ---- */

static void text_name(const struct table *t, const struct tv_thread_states *thread)
{
    tv_out_text(t->out, "  ");
    if (thread->thread != TV_NONE)
        tv_out_format(t->out, "[%llu] ",
                      (unsigned long long)t->trace->head->threads[thread->thread].id);
    tv_names_line(t->out, name_of(t, thread));
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

static void text_line(const struct table *t, const char *head, bool idle)
{
    tv_ns span = t->states->to - t->states->from;
    for (uint32_t i = 0; i < t->states->cpu_count; i++) {
        tv_ns busy = t->states->cpus[i].busy, time = idle ? span - busy : busy;
        tv_names_time_column(t->out, 12, time, MS, 3);
        tv_names_percent_column(t->out, 7, time, span);
    }
    tv_out_format(t->out, "  (%s)\n", head);
}

static void text_cpus(const struct table *t)
{
    const struct tv_states *states = t->states;
    tv_ns span = states->to - states->from;
    for (uint32_t i = 0; i < states->cpu_count; i++)
        tv_out_format(t->out, "%8s%4u%7s", "CPU", tv_cpu_number(t->trace, states->cpus[i].track),
                      "%");
    tv_out_text(t->out, "  Thread\n");
    text_line(t, "busy", false);
    text_line(t, "idle", true);
    for (uint32_t i = 0; i < t->count; i++) {
        if (states->threads[i].ran == 0)
            continue;
        for (uint32_t k = 0; k < states->cpu_count; k++) {
            tv_names_time_column(t->out, 12, ran_of(t, i, k), MS, 3);
            tv_names_percent_column(t->out, 7, ran_of(t, i, k), span);
        }
        text_name(t, &states->threads[i]);
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
    bool states = has_states(t->states);
    if (!states && t->states->cpu_count == 0)
        tv_out_text(t->out, "No states of threads and no processors in the range.\n");
    if (states)
        text_states(t);
    if (states && t->states->cpu_count > 0)
        tv_out_char(t->out, '\n');
    if (t->states->cpu_count > 0)
        text_cpus(t);
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

static void line_head(const struct table *t, char between)
{
    tv_out_format(t->out, "process_id%cprocess%cthread_id%cthread", between, between, between);
    for (int i = 0; i < TV_STATE_COUNT; i++)
        tv_out_format(t->out, "%c%s_ns", between, tv_state_name((enum tv_state)i));
    tv_out_format(t->out, "%cwakeups%clongest_wait_ns", between, between);
    for (uint32_t i = 0; i < t->states->cpu_count; i++)
        tv_out_format(t->out, "%ccpu%u_ns", between,
                      tv_cpu_number(t->trace, t->states->cpus[i].track));
    tv_out_char(t->out, '\n');
}

static void line_owner(const struct table *t, bool tabs, const struct tv_thread_states *thread)
{
    const struct tv_head *head = t->trace->head;
    const struct tv_process *process = process_of(t, thread);
    char between = tabs ? '\t' : ',';
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
    tv_out_text(t->out, "{\"process_id\": ");
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
        json_number(t, "cpu", tv_cpu_number(t->trace, states->cpus[i].track));
        tv_out_text(t->out, ", ");
        json_number(t, "busy_ns", states->cpus[i].busy);
        tv_out_text(t->out, ", ");
        json_number(t, "idle_ns", states->to - states->from - states->cpus[i].busy);
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
    struct table t = {out, trace, states, states->thread_count};
    if (limit > 0 && limit < t.count)
        t.count = (uint32_t)limit;
    if (format == TV_STATES_TEXT)
        write_text(&t);
    else if (format == TV_STATES_JSON)
        write_json(&t);
    else
        write_lines(&t, format == TV_STATES_TSV);
}
