/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Transactions of binder (ftrace.md section 3): the caller waits in "binder transaction" until the
 * answer is received, the called works in "binder reply" until it sends it.  What needs no answer
 * is a short slice on both sides.
 */
#include <stdio.h>
#include <string.h>

#include "base/bytes.h"
#include "base/map.h"
#include "base/memory.h"
#include "readers/ftrace/args.h"
#include "readers/ftrace/events.h"
#include "readers/ftrace/later.h"

#define CATEGORY "binder"

/* Slices of what needs no answer are so long, as those of Trace Viewer. */
#define SHORT 30000

#define ONE_WAY 1

/* Deeper nesting of transactions is nonsense. */
#define DEEPEST 1024u

enum { VALUE_ID, VALUE_FLAGS, VALUE_REPLY };

/* ---- Events ---- */

static void keep(struct tv_ft_part *part, const struct tv_ft_at *at, const struct tv_ft_later *row)
{
    struct tv_ft_later *kept = tv_table_add(&part->laters);
    *kept = *row;
    kept->time = at->time;
    kept->offset = at->offset & TV_OFFSET_MASK;
    kept->cpu = at->cpu & 0xffff;
    kept->task = at->task;
    part->tasks.rows[at->task].used = true;
}

/* "transaction=489053 dest_node=489048 dest_proc=10670 dest_thread=0 reply=0 flags=0x10 code=0xd"
 */
static enum tv_ft_taken handle_sent(struct tv_ft_part *part, const struct tv_ft_line *line,
                                    const struct tv_ft_at *at, const struct tv_ft_event *event)
{
    struct tv_ft_later row = {.kind = TV_FT_BINDER_SENT, .line = TV_NONE};
    (void)event;
    if (!tv_ft_arg_number(line->details, "transaction", &row.values[VALUE_ID]) ||
        !tv_ft_arg_number(line->details, "flags", &row.values[VALUE_FLAGS]) ||
        !tv_ft_arg_number(line->details, "reply", &row.values[VALUE_REPLY]))
        return TV_FT_MALFORMED;
    keep(part, at, &row);
    return TV_FT_TAKEN;
}

static enum tv_ft_taken handle_received(struct tv_ft_part *part, const struct tv_ft_line *line,
                                        const struct tv_ft_at *at, const struct tv_ft_event *event)
{
    struct tv_ft_later row = {.kind = TV_FT_BINDER_RECEIVED, .line = TV_NONE};
    (void)event;
    if (!tv_ft_arg_number(line->details, "transaction", &row.values[VALUE_ID]))
        return TV_FT_MALFORMED;
    keep(part, at, &row);
    return TV_FT_TAKEN;
}

/* "cmd=0x7211 BR_FAILED_REPLY": the caller waits no longer. */
static enum tv_ft_taken handle_return(struct tv_ft_part *part, const struct tv_ft_line *line,
                                      const struct tv_ft_at *at, const struct tv_ft_event *event)
{
    struct tv_ft_later row = {.kind = TV_FT_BINDER_FAILED, .line = TV_NONE};
    (void)event;
    if (tv_ft_behind(line->details, "BR_FAILED_REPLY").data ||
        tv_ft_behind(line->details, "BR_DEAD_REPLY").data)
        keep(part, at, &row);
    return TV_FT_INSTANT;
}

const struct tv_ft_event tv_ft_binder_events[] = {
    {.name = "binder_transaction", .handle = handle_sent},
    {.name = "binder_transaction_received", .handle = handle_received},
    {.name = "binder_return", .handle = handle_return},
    {.name = NULL},
};

/* ---- In the order of time ---- */

/* A slice that is not over. */
struct open_slice {
    int64_t start;
    uint64_t offset;
    bool reply; /* else a transaction that waits */
};

struct thread {
    uint32_t number;
    TV_TABLE(open_slice) open;
    struct tv_ft_told brief; /* the last short one, told when the next slice is known */
    bool has_brief;
};

enum sent_kind { SENT_CALL, SENT_ONE_WAY, SENT_REPLY };

/* A transaction on its way. */
struct sent {
    enum sent_kind kind;
    struct tv_ft_flow_end from;
    uint64_t offset; /* of the event: of an answer it stands in no slice */
    bool has_slice;
};

struct tv_ft_binder {
    struct tv_ft_tell *tell;
    TV_TABLE(thread) threads;
    struct tv_map thread_of;
    TV_TABLE(sent) sent;
    struct tv_map sent_of;                           /* by the transaction */
    uint32_t call, one_way, reply, received, unsent; /* frames */
    uint32_t flow;
};

struct tv_ft_binder *tv_ft_binder_new(struct tv_ft_tell *tell)
{
    struct tv_ft_binder *binder = tv_alloc(1, sizeof *binder);
    binder->tell = tell;
    tv_map_init(&binder->thread_of);
    tv_map_init(&binder->sent_of);
    binder->call = tv_ft_add_frame(tell->merge, TV_BYTES("binder transaction"), CATEGORY);
    binder->one_way = tv_ft_add_frame(tell->merge, TV_BYTES("binder transaction async"), CATEGORY);
    binder->reply = tv_ft_add_frame(tell->merge, TV_BYTES("binder reply"), CATEGORY);
    binder->received = tv_ft_add_frame(tell->merge, TV_BYTES("binder Async recv"), CATEGORY);
    binder->unsent =
        tv_ft_add_frame(tell->merge, TV_BYTES("binder_transaction_received"), "ftrace");
    binder->flow = tv_ft_add_frame(tell->merge, TV_BYTES("binder"), CATEGORY);
    return binder;
}

static struct thread *thread_of(struct tv_ft_binder *binder, uint32_t number)
{
    uint32_t index = tv_map_add(&binder->thread_of, number, (uint32_t)binder->threads.count);
    if (index == binder->threads.count)
        tv_table_add(&binder->threads)->number = number;
    return &binder->threads.rows[index];
}

/* A short slice ends where the next begins. */
static void tell_brief(struct tv_ft_binder *binder, struct thread *thread, int64_t until)
{
    if (!thread->has_brief)
        return;
    int64_t room = until - thread->brief.start;
    thread->brief.length = room < SHORT ? room : SHORT;
    thread->has_brief = false;
    tv_ft_tell_slice(binder->tell, &thread->brief);
}

static void add_brief(struct thread *thread, const struct tv_ft_later *row, uint32_t frame)
{
    thread->brief = (struct tv_ft_told){thread->number, frame, row->time, 0, row->offset};
    thread->has_brief = true;
}

static bool push(struct thread *thread, const struct tv_ft_later *row, bool reply)
{
    if (thread->open.count == DEEPEST)
        return false;
    *tv_table_add(&thread->open) = (struct open_slice){row->time, row->offset, reply};
    return true;
}

/* Ends the innermost slice of a kind, and what is open above it. False: there is none. */
static bool pop(struct tv_ft_binder *binder, struct thread *thread, int64_t time, bool reply,
                struct tv_ft_flow_end *end)
{
    size_t level = thread->open.count;
    while (level > 0 && thread->open.rows[level - 1].reply != reply)
        level--;
    if (level == 0)
        return false;
    while (thread->open.count >= level) {
        const struct open_slice *slice = &thread->open.rows[--thread->open.count];
        struct tv_ft_told told = {thread->number, slice->reply ? binder->reply : binder->call,
                                  slice->start, time - slice->start, slice->offset};
        tv_ft_tell_slice(binder->tell, &told);
        *end = (struct tv_ft_flow_end){thread->number, slice->start, time, slice->offset};
    }
    return true;
}

static void take_sent(struct tv_ft_binder *binder, struct thread *thread,
                      const struct tv_ft_later *row)
{
    struct sent sent = {.from = {thread->number, row->time, row->time, row->offset},
                        .offset = row->offset};
    if (row->values[VALUE_REPLY] != 0) {
        sent.kind = SENT_REPLY;
        sent.has_slice = pop(binder, thread, row->time, true, &sent.from);
        if (sent.has_slice)
            *tv_table_add(&binder->tell->merge->slice_ends) =
                (struct tv_ft_slice_end){sent.from, row->offset};
    } else if (row->values[VALUE_FLAGS] & ONE_WAY) {
        sent.kind = SENT_ONE_WAY;
        sent.has_slice = true;
        add_brief(thread, row, binder->one_way);
    } else {
        sent.kind = SENT_CALL;
        sent.has_slice = push(thread, row, false);
    }
    uint32_t index = (uint32_t)binder->sent.count;
    *tv_table_add(&binder->sent) = sent;
    tv_map_set(&binder->sent_of, (uint64_t)row->values[VALUE_ID], index);
}

static void add_flow(struct tv_ft_binder *binder, const struct sent *sent,
                     const struct tv_ft_flow_end *to, const struct tv_ft_later *row)
{
    char id[24];
    int length = snprintf(id, sizeof id, "%lld", (long long)row->values[VALUE_ID]);
    if (!sent->has_slice)
        return;
    *tv_table_add(&binder->tell->merge->flows) = (struct tv_ft_flow){
        .from = sent->from,
        .to = *to,
        .offset = sent->offset,
        .end_offset = row->offset,
        .frame = binder->flow,
        .id = tv_trace_info_string(binder->tell->merge->trace->head,
                             (struct tv_bytes){(const uint8_t *)id, (size_t)length}),
    };
}

static void take_received(struct tv_ft_binder *binder, struct thread *thread,
                          const struct tv_ft_later *row)
{
    uint32_t index = tv_map_find(&binder->sent_of, (uint64_t)row->values[VALUE_ID]);
    struct tv_ft_flow_end to = {thread->number, row->time, row->time, row->offset};
    if (index == TV_NONE) {
        /* It was sent before the trace. */
        struct tv_ft_told told = {thread->number, binder->unsent, row->time, 0, row->offset};
        tv_ft_tell_instant(binder->tell, &told);
        return;
    }
    struct sent sent = binder->sent.rows[index];
    if (sent.kind == SENT_ONE_WAY)
        add_brief(thread, row, binder->received);
    else if (sent.kind == SENT_CALL && !push(thread, row, true))
        return;
    else if (sent.kind == SENT_REPLY && !pop(binder, thread, row->time, false, &to))
        return;
    add_flow(binder, &sent, &to, row);
}

void tv_ft_binder_take(struct tv_ft_binder *binder, const struct tv_ft_later *row)
{
    struct thread *thread = thread_of(binder, row->task);
    struct tv_ft_flow_end end;
    tell_brief(binder, thread, row->time);
    if (row->kind == TV_FT_BINDER_SENT)
        take_sent(binder, thread, row);
    else if (row->kind == TV_FT_BINDER_RECEIVED)
        take_received(binder, thread, row);
    else
        pop(binder, thread, row->time, false, &end);
}

void tv_ft_binder_end(struct tv_ft_binder *binder)
{
    for (size_t i = 0; i < binder->threads.count; i++) {
        struct thread *thread = &binder->threads.rows[i];
        tell_brief(binder, thread, INT64_MAX);
        for (size_t k = 0; k < thread->open.count; k++) {
            const struct open_slice *slice = &thread->open.rows[k];
            struct tv_ft_told told = {thread->number, slice->reply ? binder->reply : binder->call,
                                      slice->start, 0, slice->offset};
            tv_ft_tell_open(binder->tell, &told);
        }
        tv_free(thread->open.rows);
    }
    tv_map_release(&binder->thread_of);
    tv_map_release(&binder->sent_of);
    tv_free(binder->threads.rows);
    tv_free(binder->sent.rows);
    tv_free(binder);
}
