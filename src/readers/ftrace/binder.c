/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Transactions of binder, Android's IPC (ftrace.md section 3).
 *
 * The caller waits in a slice "binder transaction" until it receives the reply; the callee works in
 * a slice "binder reply" until it sends the reply. A one-way transaction is a short slice on both
 * sides.
 *
 *      caller   [ binder transaction ........................ ]
 *     \t               \ sent                       / received
 *     \t callee         [ binder reply ........... ] sent
 *
 * A thread may be called while it waits, so each has a stack of open slices.
 */
#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "base/bytes.h"
#include "base/map.h"
#include "base/memory.h"
#include "readers/ftrace/chunk.h"
#include "readers/ftrace/fields.h"
#include "readers/ftrace/merge.h"

#define CATEGORY "binder"

/* Length of the slice of a one-way transaction, as in Trace Viewer. */
#define SHORT 30000

#define ONE_WAY 1

/* Deeper nesting shows a damaged file. */
#define DEEPEST 1024u

enum { VALUE_ID, VALUE_FLAGS, VALUE_REPLY };

/* ---- Events ---- */

/* Add a deferred event to the chunk. */
static void ft_binder_defer(struct tv_ft_chunk *chunk, const struct tv_ft_at *at,
                            const struct tv_ft_deferred *row)
{
    struct tv_ft_deferred *kept = tv_table_add(&chunk->deferred);
    *kept = *row;
    kept->time = at->time;
    kept->offset = at->offset & TV_OFFSET_MASK;
    kept->cpu = at->cpu & 0xffff;
    kept->task = at->task;
    chunk->tasks.rows[at->task].used = true;
}

/* Handle "transaction=489053 dest_node=489048 dest_proc=10670 dest_thread=0 reply=0 flags=0x10
 * code=0xd". */
static enum tv_ft_taken ft_handle_binder_sent(struct tv_ft_chunk *chunk,
                                              const struct tv_ft_line *line,
                                              const struct tv_ft_at *at,
                                              const struct tv_ft_event *event)
{
    struct tv_ft_deferred row = {.kind = TV_FT_BINDER_SENT, .line = TV_NONE};
    (void)event;
    if (!tv_ft_arg_number(line->details, "transaction", &row.values[VALUE_ID]) ||
        !tv_ft_arg_number(line->details, "flags", &row.values[VALUE_FLAGS]) ||
        !tv_ft_arg_number(line->details, "reply", &row.values[VALUE_REPLY]))
        return TV_FT_MALFORMED;
    ft_binder_defer(chunk, at, &row);
    return TV_FT_TAKEN;
}

static enum tv_ft_taken ft_handle_binder_received(struct tv_ft_chunk *chunk,
                                                  const struct tv_ft_line *line,
                                                  const struct tv_ft_at *at,
                                                  const struct tv_ft_event *event)
{
    struct tv_ft_deferred row = {.kind = TV_FT_BINDER_RECEIVED, .line = TV_NONE};
    (void)event;
    if (!tv_ft_arg_number(line->details, "transaction", &row.values[VALUE_ID]))
        return TV_FT_MALFORMED;
    ft_binder_defer(chunk, at, &row);
    return TV_FT_TAKEN;
}

/* Handle "cmd=0x7211 BR_FAILED_REPLY": the caller no longer waits. */
static enum tv_ft_taken ft_handle_binder_return(struct tv_ft_chunk *chunk,
                                                const struct tv_ft_line *line,
                                                const struct tv_ft_at *at,
                                                const struct tv_ft_event *event)
{
    struct tv_ft_deferred row = {.kind = TV_FT_BINDER_FAILED, .line = TV_NONE};
    (void)event;
    if (tv_ft_after(line->details, "BR_FAILED_REPLY").data ||
        tv_ft_after(line->details, "BR_DEAD_REPLY").data)
        ft_binder_defer(chunk, at, &row);
    return TV_FT_INSTANT;
}

const struct tv_ft_event tv_ft_binder_events[] = {
    {.name = "binder_transaction", .handle = ft_handle_binder_sent},
    {.name = "binder_transaction_received", .handle = ft_handle_binder_received},
    {.name = "binder_return", .handle = ft_handle_binder_return},
    {.name = NULL},
};

/* ---- Replay in time order ---- */

/* An open slice. */
struct ft_open_transaction {
    int64_t start;
    uint64_t offset;
    bool reply; /* else a transaction that waits for its reply */
};

struct ft_binder_thread {
    uint32_t number;
    TV_TABLE(ft_open_transaction) open;
    struct tv_ft_emitted
        brief; /* the last one-way slice, added when the start of the next is known */
    bool has_brief;
};

enum ft_transaction_kind { SENT_CALL, SENT_ONE_WAY, SENT_REPLY };

/* A transaction that was sent and not yet received. */
struct ft_transaction {
    enum ft_transaction_kind kind;
    struct tv_ft_flow_end from;
    uint64_t offset; /* offset of the event; that of a reply is in no slice */
    bool has_slice;
};

struct tv_ft_binder {
    struct tv_ft_emitter *emitter;
    TV_TABLE(ft_binder_thread) threads;
    struct tv_map thread_of;
    TV_TABLE(ft_transaction) sent;
    struct tv_map sent_of;                           /* transaction number -> index */
    uint32_t call, one_way, reply, received, unsent; /* frames */
    uint32_t flow;
};

struct tv_ft_binder *tv_ft_binder_new(struct tv_ft_emitter *emitter)
{
    struct tv_ft_binder *binder = tv_alloc(1, sizeof *binder);
    binder->emitter = emitter;
    tv_map_init(&binder->thread_of);
    tv_map_init(&binder->sent_of);
    binder->call = tv_ft_merge_frame(emitter->merge, TV_BYTES("binder transaction"), CATEGORY);
    binder->one_way =
        tv_ft_merge_frame(emitter->merge, TV_BYTES("binder transaction async"), CATEGORY);
    binder->reply = tv_ft_merge_frame(emitter->merge, TV_BYTES("binder reply"), CATEGORY);
    binder->received = tv_ft_merge_frame(emitter->merge, TV_BYTES("binder Async recv"), CATEGORY);
    binder->unsent =
        tv_ft_merge_frame(emitter->merge, TV_BYTES("binder_transaction_received"), "ftrace");
    binder->flow = tv_ft_merge_frame(emitter->merge, TV_BYTES("binder"), CATEGORY);
    return binder;
}

static struct ft_binder_thread *ft_binder_find_thread(struct tv_ft_binder *binder, uint32_t number)
{
    uint32_t index = tv_map_add(&binder->thread_of, number, (uint32_t)binder->threads.count);
    if (index == binder->threads.count)
        tv_table_add(&binder->threads)->number = number;
    return &binder->threads.rows[index];
}

/* Add the pending one-way slice; it ends where the next slice begins. */
static void ft_binder_emit_brief(struct tv_ft_binder *binder, struct ft_binder_thread *thread,
                                 int64_t until)
{
    if (!thread->has_brief)
        return;
    int64_t room = until - thread->brief.start;
    thread->brief.length = room < SHORT ? room : SHORT;
    thread->has_brief = false;
    tv_ft_emit_slice(binder->emitter, &thread->brief);
}

static void ft_binder_add_brief(struct ft_binder_thread *thread, const struct tv_ft_deferred *row,
                                uint32_t frame)
{
    thread->brief = (struct tv_ft_emitted){thread->number, frame, row->time, 0, row->offset};
    thread->has_brief = true;
}

static bool ft_binder_push_slice(struct ft_binder_thread *thread, const struct tv_ft_deferred *row,
                                 bool reply)
{
    assert(thread->open.count <= DEEPEST);
    if (thread->open.count == DEEPEST)
        return false;
    *tv_table_add(&thread->open) = (struct ft_open_transaction){row->time, row->offset, reply};
    return true;
}

/* End the innermost slice of a kind, and the slices that are open inside it. Return false when
 * there is none. */
static bool ft_binder_pop_slice(struct tv_ft_binder *binder, struct ft_binder_thread *thread,
                                int64_t time, bool reply, struct tv_ft_flow_end *end)
{
    size_t level = thread->open.count;
    while (level > 0 && thread->open.rows[level - 1].reply != reply)
        level--;
    if (level == 0)
        return false;
    while (thread->open.count >= level) {
        const struct ft_open_transaction *slice = &thread->open.rows[--thread->open.count];
        struct tv_ft_emitted emitted = {thread->number, slice->reply ? binder->reply : binder->call,
                                        slice->start, time - slice->start, slice->offset};
        tv_ft_emit_slice(binder->emitter, &emitted);
        *end = (struct tv_ft_flow_end){thread->number, slice->start, time, slice->offset,
                                       TV_FT_BY_EVENT};
    }
    return true;
}

/* Handle a sent transaction: it begins a wait, is a short slice, or ends the work of a reply. */
static void ft_binder_take_sent(struct tv_ft_binder *binder, struct ft_binder_thread *thread,
                                const struct tv_ft_deferred *row)
{
    struct ft_transaction sent = {
        .from = {thread->number, row->time, row->time, row->offset, TV_FT_BY_EVENT},
        .offset = row->offset};
    if (row->values[VALUE_REPLY] != 0) {
        sent.kind = SENT_REPLY;
        sent.has_slice = ft_binder_pop_slice(binder, thread, row->time, true, &sent.from);
        if (sent.has_slice)
            *tv_table_add(&binder->emitter->merge->slice_ends) =
                (struct tv_ft_slice_end){sent.from, row->offset};
    } else if (row->values[VALUE_FLAGS] & ONE_WAY) {
        sent.kind = SENT_ONE_WAY;
        sent.has_slice = true;
        ft_binder_add_brief(thread, row, binder->one_way);
    } else {
        sent.kind = SENT_CALL;
        sent.has_slice = ft_binder_push_slice(thread, row, false);
    }
    uint32_t index = (uint32_t)binder->sent.count;
    *tv_table_add(&binder->sent) = sent;
    tv_map_set(&binder->sent_of, (uint64_t)row->values[VALUE_ID], index);
}

/* Add the arrow from the sender to the receiver. */
static void ft_binder_add_flow(struct tv_ft_binder *binder, const struct ft_transaction *sent,
                               const struct tv_ft_flow_end *to, const struct tv_ft_deferred *row)
{
    char id[24];
    int length = snprintf(id, sizeof id, "%lld", (long long)row->values[VALUE_ID]);
    if (!sent->has_slice)
        return;
    *tv_table_add(&binder->emitter->merge->flows) = (struct tv_ft_flow){
        .from = sent->from,
        .to = *to,
        .offset = sent->offset,
        .end_offset = row->offset,
        .frame = binder->flow,
        .id = tv_trace_info_string(binder->emitter->merge->trace->head,
                                   (struct tv_bytes){(const uint8_t *)id, (size_t)length}),
    };
}

/* Handle a received transaction: it begins the work, is a short slice, or ends the wait; an
 * arrow connects both sides. */
static void ft_binder_take_received(struct tv_ft_binder *binder, struct ft_binder_thread *thread,
                                    const struct tv_ft_deferred *row)
{
    uint32_t index = tv_map_find(&binder->sent_of, (uint64_t)row->values[VALUE_ID]);
    struct tv_ft_flow_end to = {thread->number, row->time, row->time, row->offset, TV_FT_BY_EVENT};
    if (index == TV_NONE) {
        /* The call was sent before the trace began. */
        struct tv_ft_emitted emitted = {thread->number, binder->unsent, row->time, 0, row->offset};
        tv_ft_emit_instant(binder->emitter, &emitted);
        return;
    }
    struct ft_transaction sent = binder->sent.rows[index];
    if (sent.kind == SENT_ONE_WAY)
        ft_binder_add_brief(thread, row, binder->received);
    else if (sent.kind == SENT_CALL && !ft_binder_push_slice(thread, row, true))
        return;
    else if (sent.kind == SENT_REPLY && !ft_binder_pop_slice(binder, thread, row->time, false, &to))
        return;
    ft_binder_add_flow(binder, &sent, &to, row);
}

void tv_ft_binder_take(struct tv_ft_binder *binder, const struct tv_ft_deferred *row)
{
    assert(row->kind <= TV_FT_BINDER_FAILED);
    struct ft_binder_thread *thread = ft_binder_find_thread(binder, row->task);
    struct tv_ft_flow_end end;
    ft_binder_emit_brief(binder, thread, row->time);
    if (row->kind == TV_FT_BINDER_SENT)
        ft_binder_take_sent(binder, thread, row);
    else if (row->kind == TV_FT_BINDER_RECEIVED)
        ft_binder_take_received(binder, thread, row);
    else
        ft_binder_pop_slice(binder, thread, row->time, false, &end);
}

void tv_ft_binder_finish(struct tv_ft_binder *binder)
{
    for (size_t i = 0; i < binder->threads.count; i++) {
        struct ft_binder_thread *thread = &binder->threads.rows[i];
        ft_binder_emit_brief(binder, thread, INT64_MAX);
        for (size_t k = 0; k < thread->open.count; k++) {
            const struct ft_open_transaction *slice = &thread->open.rows[k];
            struct tv_ft_emitted emitted = {thread->number,
                                            slice->reply ? binder->reply : binder->call,
                                            slice->start, 0, slice->offset};
            tv_ft_emit_open_slice(binder->emitter, &emitted);
        }
        tv_free(thread->open.rows);
    }
    tv_map_release(&binder->thread_of);
    tv_map_release(&binder->sent_of);
    tv_free(binder->threads.rows);
    tv_free(binder->sent.rows);
    tv_free(binder);
}
