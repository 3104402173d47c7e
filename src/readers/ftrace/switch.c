/* SPDX-License-Identifier: Apache-2.0 */
/* Who runs, who is woken and why somebody was blocked: kept for sched.c, which needs all of
 * them. */
#include <stdio.h>
#include <string.h>

#include "base/bytes.h"
#include "base/memory.h"
#include "readers/ftrace/args.h"
#include "readers/ftrace/events.h"

/* Two ends of a switch: name and id, and the state of the one that left. */
struct ends {
    struct tv_bytes from_name, to_name, state;
    int64_t from, to;
};

static bool take_until(struct tv_bytes *text, const char *mark, struct tv_bytes *head)
{
    struct tv_bytes behind = tv_ft_behind(*text, mark);
    if (behind.data == NULL)
        return false;
    head->data = text->data;
    head->length = (size_t)(behind.data - text->data) - strlen(mark);
    *text = behind;
    return true;
}

/* Takes a constant text, or nothing. */
static bool take_text(struct tv_bytes *text, const char *expected, size_t length)
{
    if (text->length < length || memcmp(text->data, expected, length) != 0)
        return false;
    text->data += length;
    text->length -= length;
    return true;
}

#define TAKE(text, expected) take_text(text, expected, sizeof(expected) - 1)

/* The name in front of " pid=" or the like: its '=' is looked for, as names hardly ever have one.
 */
static bool take_name(struct tv_bytes *text, struct tv_bytes key, struct tv_bytes *name)
{
    const uint8_t *equals = text->length > 0 ? memchr(text->data, '=', text->length) : NULL;
    if (!equals || (size_t)(equals - text->data) < key.length ||
        memcmp(equals - key.length, key.data, key.length) != 0)
        return false;
    *name = (struct tv_bytes){text->data, (size_t)(equals - text->data) - key.length};
    text->length -= (size_t)(equals + 1 - text->data);
    text->data = equals + 1;
    return true;
}

static bool take_id(struct tv_bytes *text, int64_t *id)
{
    size_t length = 0;
    *id = 0;
    while (length < text->length && length < 10 && text->data[length] >= '0' &&
           text->data[length] <= '9')
        *id = *id * 10 + (text->data[length++] - '0');
    text->data += length;
    text->length -= length;
    return length > 0 && (text->length == 0 || text->data[0] == ' ');
}

static void skip_word(struct tv_bytes *text)
{
    while (text->length > 0 && text->data[0] != ' ') {
        text->data++;
        text->length--;
    }
}

/* The form that all kernels of today write, without detours; false: it may be another. */
static bool parse_usual(struct tv_bytes text, struct ends *ends)
{
    if (!TAKE(&text, "prev_comm=") || !take_name(&text, TV_BYTES(" prev_pid"), &ends->from_name) ||
        !take_id(&text, &ends->from) || !TAKE(&text, " prev_prio="))
        return false;
    skip_word(&text);
    if (!TAKE(&text, " prev_state="))
        return false;
    ends->state.data = text.data;
    skip_word(&text);
    ends->state.length = (size_t)(text.data - ends->state.data);
    return TAKE(&text, " ==> next_comm=") &&
           take_name(&text, TV_BYTES(" next_pid"), &ends->to_name) && take_id(&text, &ends->to) &&
           TAKE(&text, " next_prio=") && text.length > 0;
}

/* "prev_comm=a prev_pid=1 prev_prio=120 prev_state=S ==> next_comm=b next_pid=2 next_prio=120"; a
 * comm may hold anything. trace-cmd of old writes no "==>".  Without what must follow it, the last
 * number may be the beginning of another. */
static bool parse_fields(struct tv_bytes text, struct ends *ends)
{
    struct tv_bytes skipped, middle;
    if (!take_until(&text, "prev_comm=", &skipped) ||
        !take_until(&text, " prev_pid=", &ends->from_name) ||
        !take_until(&text, "next_comm=", &middle) ||
        !take_until(&text, " next_pid=", &ends->to_name))
        return false;
    ends->state = tv_ft_arg(middle, "prev_state");
    return ends->state.data != NULL && tv_ft_number(tv_ft_word(middle), &ends->from) &&
           tv_ft_number(tv_ft_word(text), &ends->to) && tv_ft_arg(text, "next_prio").length > 0;
}

/* "name:12 [120]": what is behind "[120]" stays in *text. */
static bool take_short_end(struct tv_bytes *text, struct tv_bytes *name, int64_t *tid)
{
    struct tv_ft_end end;
    if (!tv_ft_take_end(text, &end))
        return false;
    *name = end.name;
    return tv_ft_number(end.tid, tid);
}

/* The plugin of trace-cmd: "bash:2930 [120] R ==> kworker/u12:4:310 [120]". */
static bool parse_short(struct tv_bytes text, struct ends *ends)
{
    if (!take_short_end(&text, &ends->from_name, &ends->from))
        return false;
    ends->state = tv_ft_word(text);
    text = tv_ft_behind(text, "==> ");
    return text.data != NULL && take_short_end(&text, &ends->to_name, &ends->to);
}

/* "2870:120:S ==> [003]  2849: 98:R bash": ids, priorities and states, of the latency tracers. */
static bool take_bare_end(struct tv_bytes *text, int64_t *tid, struct tv_bytes *state)
{
    struct tv_bytes number, priority;
    while (text->length > 0 && text->data[0] == ' ') {
        text->data++;
        text->length--;
    }
    if (!take_until(text, ":", &number) || !tv_ft_number(number, tid) ||
        !take_until(text, ":", &priority))
        return false;
    *state = tv_ft_word(*text);
    return state->length > 0;
}

static bool parse_bare(struct tv_bytes text, struct ends *ends)
{
    struct tv_bytes cpu, state;
    *ends = (struct ends){.from = 0};
    if (!take_bare_end(&text, &ends->from, &ends->state) || !take_until(&text, "[", &cpu) ||
        !take_until(&text, "]", &cpu) || !take_bare_end(&text, &ends->to, &state))
        return false;
    size_t used = (size_t)(state.data + state.length - text.data);
    while (used < text.length && text.data[used] == ' ')
        used++;
    ends->to_name = (struct tv_bytes){text.data + used, text.length - used};
    return true;
}

/* ---- States ---- */

/* Letters of fs/proc/array.c and include/trace/events/sched.h, of every age. */
static enum tv_ft_state letter_state(struct tv_bytes text)
{
    static const char letters[] = "RSDTtZXxKWPI";
    static const uint8_t states[] = {
        TV_FT_RUNNABLE,  TV_FT_SLEEPING, TV_FT_BLOCKED,   TV_FT_STOPPED,
        TV_FT_TRACED,    TV_FT_ZOMBIE,   TV_FT_EXIT_DEAD, TV_FT_TASK_DEAD,
        TV_FT_WAKE_KILL, TV_FT_WAKING,   TV_FT_PARKED,    TV_FT_IDLE,
    };
    if (tv_bytes_equal(text, TV_BYTES("R+")))
        return TV_FT_PREEMPTED;
    if (tv_bytes_equal(text, TV_BYTES("D|K")))
        return TV_FT_BLOCKED_KILLABLE;
    if (tv_bytes_equal(text, TV_BYTES("D|W")))
        return TV_FT_BLOCKED_WAKING;
    /* What is added to a letter ("S|K|W", "D+") says less than the letter. */
    const char *letter = memchr(letters, text.data[0], sizeof letters - 1);
    return letter ? (enum tv_ft_state)states[letter - letters] : TV_FT_UNKNOWN;
}

/* The bits of the kernel's task state, where nothing turned them into letters: those of kernels up
 * to 4.13 (include/linux/sched.h).  The bits above all states mean that the task was preempted. */
static enum tv_ft_state bit_state(int64_t bits)
{
    enum { BLOCKED = 2, WAKE_KILL = 128, ABOVE = 4096 };
    static const struct {
        int64_t bit;
        enum tv_ft_state state;
    } table[] = {
        {1, TV_FT_SLEEPING},   {BLOCKED, TV_FT_BLOCKED},     {4, TV_FT_STOPPED},
        {8, TV_FT_TRACED},     {16, TV_FT_EXIT_DEAD},        {32, TV_FT_ZOMBIE},
        {64, TV_FT_TASK_DEAD}, {WAKE_KILL, TV_FT_WAKE_KILL}, {256, TV_FT_WAKING},
        {512, TV_FT_PARKED},   {1024, TV_FT_RUNNABLE},       {2048, TV_FT_RUNNABLE},
    };
    if ((bits & BLOCKED) && (bits & WAKE_KILL))
        return TV_FT_BLOCKED_KILLABLE;
    for (size_t i = 0; i < TV_COUNT(table); i++)
        if (bits & table[i].bit)
            return table[i].state;
    return bits & ABOVE ? TV_FT_PREEMPTED : TV_FT_RUNNABLE;
}

static enum tv_ft_state state_of(struct tv_bytes text)
{
    int64_t bits;
    if (text.length == 0)
        return TV_FT_UNKNOWN;
    return tv_ft_number(text, &bits) ? bit_state(bits) : letter_state(text);
}

/* ---- Events ---- */

static bool is_id(int64_t tid)
{
    return tid >= 0 && tid <= INT32_MAX;
}

/* The name of who came, or what is known of it. */
static uint32_t frame_of(struct tv_ft_part *part, uint32_t task, struct tv_bytes name)
{
    char text[32];
    struct tv_ft_task *known = &part->tasks.rows[task];
    if (tv_ft_is_name(name) && known->tid != 0) {
        /* It has this name since tv_ft_name_task. */
        if (known->frame == TV_NONE)
            known->frame = tv_ft_frame(part, name, "sched");
        return known->frame;
    }
    if (name.length > 0)
        return tv_ft_frame(part, name, "sched");
    int length = snprintf(text, sizeof text, "tid %lld", (long long)part->tasks.rows[task].tid);
    return tv_ft_frame(part, (struct tv_bytes){(uint8_t *)text, (size_t)length}, "sched");
}

static enum tv_ft_taken handle_switch(struct tv_ft_part *part, const struct tv_ft_line *line,
                                      const struct tv_ft_at *at, const struct tv_ft_event *event)
{
    struct ends ends;
    (void)event;
    if ((!parse_usual(line->details, &ends) && !parse_fields(line->details, &ends) &&
         !parse_short(line->details, &ends) && !parse_bare(line->details, &ends)) ||
        !is_id(ends.from) || !is_id(ends.to))
        return TV_FT_MALFORMED;
    uint32_t from = tv_ft_task(part, ends.from), to = tv_ft_task(part, ends.to);
    if (ends.from != 0)
        tv_ft_name_task(part, from, ends.from_name);
    if (ends.to != 0)
        tv_ft_name_task(part, to, ends.to_name);
    *tv_table_add(&part->switches) = (struct tv_ft_switch){
        .time = at->time,
        .offset = at->offset & TV_OFFSET_MASK,
        .cpu = at->cpu & 0xffff,
        .state = state_of(ends.state),
        .from = from,
        .to = to,
        .frame = frame_of(part, to, ends.to_name),
    };
    return TV_FT_TAKEN;
}

/* "comm=a pid=12 ...", or "a:12 [120] ..." of trace-cmd. */
static bool woken_task(struct tv_ft_part *part, struct tv_bytes details, uint32_t *task)
{
    struct tv_bytes text = details, skipped, name;
    int64_t tid;
    if (TAKE(&text, "comm=") && take_name(&text, TV_BYTES(" pid"), &name) && take_id(&text, &tid) &&
        TAKE(&text, " prio=") && text.length > 0) {
        /* The usual form. */
    } else if (text = details,
               take_until(&text, "comm=", &skipped) && take_until(&text, " pid=", &name)) {
        if (!tv_ft_number(tv_ft_word(text), &tid) || tv_ft_arg(text, "prio").length == 0)
            return false;
    } else {
        struct ends ends;
        text = details;
        if (parse_bare(text, &ends)) {
            name = ends.to_name;
            tid = ends.to;
        } else if (!take_short_end(&text, &name, &tid)) {
            return false;
        }
    }
    if (!is_id(tid))
        return false;
    *task = tv_ft_task(part, tid);
    if (tid != 0)
        tv_ft_name_task(part, *task, name);
    return true;
}

static enum tv_ft_taken wake(struct tv_ft_part *part, const struct tv_ft_line *line,
                             const struct tv_ft_at *at, enum tv_ft_wake kind)
{
    uint32_t task;
    if (!woken_task(part, line->details, &task))
        return TV_FT_MALFORMED;
    *tv_table_add(&part->wakeups) = (struct tv_ft_wakeup){
        .time = at->time,
        .offset = at->offset & TV_OFFSET_MASK,
        .cpu = at->cpu & 0xffff,
        .kind = kind,
        .task = task,
        .by = at->task,
    };
    return TV_FT_TAKEN;
}

static enum tv_ft_taken handle_waking(struct tv_ft_part *part, const struct tv_ft_line *line,
                                      const struct tv_ft_at *at, const struct tv_ft_event *event)
{
    (void)event;
    return wake(part, line, at, TV_FT_WAKE_ASKED);
}

/* Kernels before 4.3 also wrote wake-ups that found the thread awake: "success=0".  They wake
 * nobody and stay instants. */
static enum tv_ft_taken handle_wakeup(struct tv_ft_part *part, const struct tv_ft_line *line,
                                      const struct tv_ft_at *at, const struct tv_ft_event *event)
{
    (void)event;
    if (tv_ft_behind(line->details, " success=0").data)
        return TV_FT_INSTANT;
    return wake(part, line, at, TV_FT_WAKE_DONE);
}

/* "pid=269 iowait=0 caller=worker_thread+0x534/0x820" */
static enum tv_ft_taken handle_blocked(struct tv_ft_part *part, const struct tv_ft_line *line,
                                       const struct tv_ft_at *at, const struct tv_ft_event *event)
{
    int64_t tid, io;
    (void)event;
    if (!tv_ft_arg_number(line->details, "pid", &tid) || !is_id(tid) ||
        !tv_ft_arg_number(line->details, "iowait", &io))
        return TV_FT_MALFORMED;
    *tv_table_add(&part->wakeups) = (struct tv_ft_wakeup){
        .time = at->time,
        .offset = at->offset & TV_OFFSET_MASK,
        .cpu = at->cpu & 0xffff,
        .kind = TV_FT_WAKE_BLOCKED,
        .io = io != 0,
        .task = tv_ft_task(part, tid),
        .by = tv_ft_text(part, tv_ft_arg(line->details, "caller")),
    };
    return TV_FT_TAKEN;
}

const struct tv_ft_event tv_ft_sched_events[] = {
    {.name = "sched_switch", .handle = handle_switch},
    {.name = "sched_waking", .handle = handle_waking},
    {.name = "sched_wakeup", .handle = handle_wakeup},
    {.name = "sched_wakeup_new", .handle = handle_wakeup},
    {.name = "sched_blocked_reason", .handle = handle_blocked},
    {.name = NULL},
};
