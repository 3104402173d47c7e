/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Events of the scheduler: who runs, who is woken, and why a thread was blocked. They become
 * rows of the chunk, which sched.c replays when all chunks are read.
 *
 * A switch is written in four forms, which are tried in this order:
 *
 *   usual   prev_comm=a prev_pid=1 prev_prio=120 prev_state=S ==> next_comm=b next_pid=2 ...
 *           the kernel's own; a fast parser for names without '='
 *   fields  the same, with any name, and without "==>" (old trace-cmd)
 *   short   a:1 [120] S ==> b:2 [120]                  trace-cmd's plugin
 *   bare    1:120:S ==> [003]  2: 98:R b               latency tracers
 *
 * A line that fits none of them is malformed and is counted, not guessed: a wrong thread id would
 * put the wrong thread on the processor until the next switch.
 */
#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "base/bytes.h"
#include "base/memory.h"
#include "readers/ftrace/chunk.h"
#include "readers/ftrace/decoded.h"
#include "readers/ftrace/fields.h"

/* Both tasks of a switch, and the state of the previous one. */
struct ft_switch_ends {
    struct tv_bytes from_name, to_name, state;
    int64_t from, to;
};

/* Take the text before `mark` into *head, and skip the mark. Return false and take nothing when the
 * mark is missing. */
static bool ft_switch_take_until(struct tv_bytes *text, const char *mark, struct tv_bytes *head)
{
    struct tv_bytes behind = tv_ft_after(*text, mark);
    if (behind.data == NULL)
        return false;
    head->data = text->data;
    head->length = (size_t)(behind.data - text->data) - strlen(mark);
    *text = behind;
    return true;
}

/* Take `expected`. Return false and take nothing when the text begins with something else. */
static bool ft_switch_take_text(struct tv_bytes *text, const char *expected, size_t length)
{
    if (text->length < length || memcmp(text->data, expected, length) != 0)
        return false;
    text->data += length;
    text->length -= length;
    return true;
}

#define TAKE(text, expected) ft_switch_take_text(text, expected, sizeof(expected) - 1)

/* Take the name before a key such as " pid". Searching for '=' is fast, because names hardly
 * ever contain one. */
static bool ft_switch_take_name(struct tv_bytes *text, struct tv_bytes key, struct tv_bytes *name)
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

/* Take up to ten digits, which end at a space or with the text. Ten digits do not overflow; larger
 * ids than INT32_MAX are refused later. */
static bool ft_switch_take_id(struct tv_bytes *text, int64_t *id)
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

/* Skip everything up to the next space. Priorities are not shown on the timeline. */
static void ft_switch_skip_word(struct tv_bytes *text)
{
    while (text->length > 0 && text->data[0] != ' ') {
        text->data++;
        text->length--;
    }
}

/* Parse the form of current kernels quickly. Return false when it may be another form. */
static bool ft_switch_parse_usual(struct tv_bytes text, struct ft_switch_ends *ends)
{
    if (!TAKE(&text, "prev_comm=") ||
        !ft_switch_take_name(&text, TV_BYTES(" prev_pid"), &ends->from_name) ||
        !ft_switch_take_id(&text, &ends->from) || !TAKE(&text, " prev_prio="))
        return false;
    ft_switch_skip_word(&text);
    if (!TAKE(&text, " prev_state="))
        return false;
    ends->state.data = text.data;
    ft_switch_skip_word(&text);
    ends->state.length = (size_t)(text.data - ends->state.data);
    return TAKE(&text, " ==> next_comm=") &&
           ft_switch_take_name(&text, TV_BYTES(" next_pid"), &ends->to_name) &&
           ft_switch_take_id(&text, &ends->to) && TAKE(&text, " next_prio=") && text.length > 0;
}

/* Parse "prev_comm=a prev_pid=1 prev_prio=120 prev_state=S ==> next_comm=b next_pid=2
 * next_prio=120". A name may contain anything, and old trace-cmd writes no "==>". The last
 * number must be followed by its key, because a cut line may end within a number. */
static bool ft_switch_parse_fields(struct tv_bytes text, struct ft_switch_ends *ends)
{
    struct tv_bytes skipped, middle;
    if (!ft_switch_take_until(&text, "prev_comm=", &skipped) ||
        !ft_switch_take_until(&text, " prev_pid=", &ends->from_name) ||
        !ft_switch_take_until(&text, "next_comm=", &middle) ||
        !ft_switch_take_until(&text, " next_pid=", &ends->to_name))
        return false;
    ends->state = tv_ft_arg(middle, "prev_state");
    return ends->state.data != NULL && tv_ft_parse_number(tv_ft_first_word(middle), &ends->from) &&
           tv_ft_parse_number(tv_ft_first_word(text), &ends->to) &&
           tv_ft_arg(text, "next_prio").length > 0;
}

/* Take "name:12 [120]"; the rest stays in *text. */
static bool ft_switch_take_short_end(struct tv_bytes *text, struct tv_bytes *name, int64_t *tid)
{
    struct tv_ft_short_task end;
    if (!tv_ft_take_short_task(text, &end))
        return false;
    *name = end.name;
    return tv_ft_parse_number(end.tid, tid);
}

/* Parse the form of trace-cmd's plugin: "bash:2930 [120] R ==> kworker/u12:4:310 [120]". */
static bool ft_switch_parse_short(struct tv_bytes text, struct ft_switch_ends *ends)
{
    if (!ft_switch_take_short_end(&text, &ends->from_name, &ends->from))
        return false;
    ends->state = tv_ft_first_word(text);
    text = tv_ft_after(text, "==> ");
    return text.data != NULL && ft_switch_take_short_end(&text, &ends->to_name, &ends->to);
}

/* Take one end of "2870:120:S ==> [003]  2849: 98:R bash" of the latency tracers: tid, priority
 * and state. */
static bool ft_switch_take_bare_end(struct tv_bytes *text, int64_t *tid, struct tv_bytes *state)
{
    struct tv_bytes number, priority;
    while (text->length > 0 && text->data[0] == ' ') {
        text->data++;
        text->length--;
    }
    if (!ft_switch_take_until(text, ":", &number) || !tv_ft_parse_number(number, tid) ||
        !ft_switch_take_until(text, ":", &priority))
        return false;
    *state = tv_ft_first_word(*text);
    return state->length > 0;
}

/* Parse the form of the latency tracers. Only the next task has a name there. */
static bool ft_switch_parse_bare(struct tv_bytes text, struct ft_switch_ends *ends)
{
    struct tv_bytes cpu, state;
    *ends = (struct ft_switch_ends){.from = 0};
    if (!ft_switch_take_bare_end(&text, &ends->from, &ends->state) ||
        !ft_switch_take_until(&text, "[", &cpu) || !ft_switch_take_until(&text, "]", &cpu) ||
        !ft_switch_take_bare_end(&text, &ends->to, &state))
        return false;
    size_t used = (size_t)(state.data + state.length - text.data);
    while (used < text.length && text.data[used] == ' ')
        used++;
    ends->to_name = (struct tv_bytes){text.data + used, text.length - used};
    return true;
}

/* ---- States ---- */

enum tv_ft_state tv_ft_letter_state(struct tv_bytes text)
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
    /* Letters are those of fs/proc/array.c and include/trace/events/sched.h, of all versions.
     * Suffixes of the letter ("S|K|W", "D+") add nothing of use. */
    const char *letter = memchr(letters, text.data[0], sizeof letters - 1);
    return letter ? (enum tv_ft_state)states[letter - letters] : TV_FT_UNKNOWN;
}

/* Return the state for a number: the bits of the kernel's task state, where no tool translated
 * them (kernels up to 4.13, include/linux/sched.h). Bits above all states mean that the task was
 * preempted. */
static enum tv_ft_state ft_switch_bit_state(int64_t bits)
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

/* Return the state of the previous task: letters from most tools, a number from raw kernel text. */
static enum tv_ft_state ft_switch_parse_state(struct tv_bytes text)
{
    int64_t bits;
    if (text.length == 0)
        return TV_FT_UNKNOWN;
    return tv_ft_parse_number(text, &bits) ? ft_switch_bit_state(bits) : tv_ft_letter_state(text);
}

/* ---- Events ---- */

/* Return true for an id that Linux can give to a thread (PID_MAX_LIMIT is below INT32_MAX). */
static bool ft_is_tid(int64_t tid)
{
    return tid >= 0 && tid <= INT32_MAX;
}

/* Return the frame of the slice on the processor: the name of the next task, or "tid N". */
static uint32_t ft_switch_frame(struct tv_ft_chunk *chunk, uint32_t task, struct tv_bytes name)
{
    char text[32];
    struct tv_ft_task *known = &chunk->tasks.rows[task];
    if (tv_ft_is_task_name(name) && known->tid != 0) {
        /* tv_ft_chunk_set_task_name resets the frame whenever the name changes. */
        if (known->frame == TV_NONE)
            known->frame = tv_ft_chunk_frame(chunk, name, "sched");
        return known->frame;
    }
    if (name.length > 0)
        return tv_ft_chunk_frame(chunk, name, "sched");
    int length = snprintf(text, sizeof text, "tid %lld", (long long)chunk->tasks.rows[task].tid);
    return tv_ft_chunk_frame(chunk, (struct tv_bytes){(uint8_t *)text, (size_t)length}, "sched");
}

bool tv_ft_parse_switch(struct tv_bytes details, struct tv_ft_decoded_switch *decoded)
{
    struct ft_switch_ends ends;
    if ((!ft_switch_parse_usual(details, &ends) && !ft_switch_parse_fields(details, &ends) &&
         !ft_switch_parse_short(details, &ends) && !ft_switch_parse_bare(details, &ends)) ||
        !ft_is_tid(ends.from) || !ft_is_tid(ends.to))
        return false;
    *decoded = (struct tv_ft_decoded_switch){
        .from = ends.from,
        .to = ends.to,
        .from_name = ends.from_name,
        .to_name = ends.to_name,
        .state = ft_switch_parse_state(ends.state),
    };
    return true;
}

static enum tv_ft_taken ft_handle_switch(struct tv_ft_chunk *chunk, const struct tv_ft_line *line,
                                         const struct tv_ft_at *at, const struct tv_ft_event *event)
{
    struct tv_ft_decoded_switch decoded;
    (void)event;
    if (!tv_ft_parse_switch(line->details, &decoded))
        return TV_FT_MALFORMED;
    tv_ft_take_switch(chunk, at, &decoded);
    return TV_FT_TAKEN;
}

void tv_ft_take_switch(struct tv_ft_chunk *chunk, const struct tv_ft_at *at,
                       const struct tv_ft_decoded_switch *decoded)
{
    assert(decoded->from >= 0 && decoded->to >= 0);
    uint32_t from = tv_ft_chunk_task(chunk, decoded->from);
    uint32_t to = tv_ft_chunk_task(chunk, decoded->to);
    if (decoded->from != 0)
        tv_ft_chunk_set_task_name(chunk, from, decoded->from_name);
    if (decoded->to != 0)
        tv_ft_chunk_set_task_name(chunk, to, decoded->to_name);
    *tv_table_add(&chunk->switches) = (struct tv_ft_switch){
        .time = at->time,
        .offset = at->offset & TV_OFFSET_MASK,
        .cpu = at->cpu & 0xffff,
        .state = decoded->state,
        .from = from,
        .to = to,
        .frame = ft_switch_frame(chunk, to, decoded->to_name),
    };
}

void tv_ft_take_wakeup(struct tv_ft_chunk *chunk, const struct tv_ft_at *at, int64_t tid,
                       struct tv_bytes name, enum tv_ft_wake kind)
{
    assert(ft_is_tid(tid) && kind != TV_FT_WAKE_BLOCKED);
    uint32_t task = tv_ft_chunk_task(chunk, tid);
    if (tid != 0)
        tv_ft_chunk_set_task_name(chunk, task, name);
    *tv_table_add(&chunk->wakeups) = (struct tv_ft_wakeup){
        .time = at->time,
        .offset = at->offset & TV_OFFSET_MASK,
        .cpu = at->cpu & 0xffff,
        .kind = kind,
        .task = task,
        .by = at->task,
    };
}

bool tv_ft_parse_wakeup(struct tv_bytes details, int64_t *tid, struct tv_bytes *name)
{
    struct tv_bytes text = details, skipped;
    if (TAKE(&text, "comm=") && ft_switch_take_name(&text, TV_BYTES(" pid"), name) &&
        ft_switch_take_id(&text, tid) && TAKE(&text, " prio=") && text.length > 0) {
        /* The usual form. */
    } else if (text = details, ft_switch_take_until(&text, "comm=", &skipped) &&
                                   ft_switch_take_until(&text, " pid=", name)) {
        if (!tv_ft_parse_number(tv_ft_first_word(text), tid) || tv_ft_arg(text, "prio").length == 0)
            return false;
    } else {
        struct ft_switch_ends ends;
        text = details;
        if (ft_switch_parse_bare(text, &ends)) {
            *name = ends.to_name;
            *tid = ends.to;
        } else if (!ft_switch_take_short_end(&text, name, tid)) {
            return false;
        }
    }
    return ft_is_tid(*tid);
}

static enum tv_ft_taken ft_switch_add_wakeup(struct tv_ft_chunk *chunk,
                                             const struct tv_ft_line *line,
                                             const struct tv_ft_at *at, enum tv_ft_wake kind)
{
    struct tv_bytes name;
    int64_t tid;
    if (!tv_ft_parse_wakeup(line->details, &tid, &name))
        return TV_FT_MALFORMED;
    tv_ft_take_wakeup(chunk, at, tid, name, kind);
    return TV_FT_TAKEN;
}

static enum tv_ft_taken ft_handle_waking(struct tv_ft_chunk *chunk, const struct tv_ft_line *line,
                                         const struct tv_ft_at *at, const struct tv_ft_event *event)
{
    (void)event;
    return ft_switch_add_wakeup(chunk, line, at, TV_FT_WAKE_ASKED);
}

bool tv_ft_wakes(struct tv_bytes details)
{
    return tv_ft_after(details, " success=0").data == NULL;
}

/* Wake-ups that wake nobody become instants. */
static enum tv_ft_taken ft_handle_wakeup(struct tv_ft_chunk *chunk, const struct tv_ft_line *line,
                                         const struct tv_ft_at *at, const struct tv_ft_event *event)
{
    (void)event;
    if (!tv_ft_wakes(line->details))
        return TV_FT_INSTANT;
    return ft_switch_add_wakeup(chunk, line, at, TV_FT_WAKE_DONE);
}

/* Handle "pid=269 iowait=0 caller=worker_thread+0x534/0x820". */
static enum tv_ft_taken ft_handle_blocked(struct tv_ft_chunk *chunk, const struct tv_ft_line *line,
                                          const struct tv_ft_at *at,
                                          const struct tv_ft_event *event)
{
    int64_t tid, io;
    (void)event;
    if (!tv_ft_arg_number(line->details, "pid", &tid) || !ft_is_tid(tid) ||
        !tv_ft_arg_number(line->details, "iowait", &io))
        return TV_FT_MALFORMED;
    tv_ft_take_blocked(chunk, at, tid, tv_ft_arg(line->details, "caller"), io != 0);
    return TV_FT_TAKEN;
}

void tv_ft_take_blocked(struct tv_ft_chunk *chunk, const struct tv_ft_at *at, int64_t tid,
                        struct tv_bytes caller, bool io)
{
    assert(ft_is_tid(tid));
    *tv_table_add(&chunk->wakeups) = (struct tv_ft_wakeup){
        .time = at->time,
        .offset = at->offset & TV_OFFSET_MASK,
        .cpu = at->cpu & 0xffff,
        .kind = TV_FT_WAKE_BLOCKED,
        .io = io,
        .task = tv_ft_chunk_task(chunk, tid),
        .by = tv_ft_chunk_string(chunk, caller),
    };
}

const struct tv_ft_event tv_ft_sched_events[] = {
    {.name = "sched_switch", .handle = ft_handle_switch},
    {.name = "sched_waking", .handle = ft_handle_waking},
    {.name = "sched_wakeup", .handle = ft_handle_wakeup},
    {.name = "sched_wakeup_new", .handle = ft_handle_wakeup},
    {.name = "sched_blocked_reason", .handle = ft_handle_blocked},
    {.name = NULL},
};
