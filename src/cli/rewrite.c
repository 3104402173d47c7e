/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/rewrite.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/bytes.h"
#include "base/intern.h"
#include "base/memory.h"
#include "readers/te_describe.h"
#include "readers/te_rewrite.h"
#include "readers/te_values.h"
#include "writers/calls.h"

struct rewriting {
    const struct tv_trace *trace;
    const struct tv_keep *keep;
    struct tv_interner *pids; /* of the wanted processes, as texts */
    struct tv_te_scratch scratch;
    uint64_t *begins; /* where beginnings stand in the file, ascending */
    size_t begin_count, begin_capacity;
};

/* As the reader shows them: a number, or any other text. */
static void note_pids(struct rewriting *r)
{
    const struct tv_head *head = r->trace->head;
    for (uint32_t i = 0; i < head->process_count; i++) {
        char number[24];
        snprintf(number, sizeof number, "%llu", (unsigned long long)head->processes[i].id);
        bool plain = head->processes[i].key == TV_EMPTY_STRING;
        if (tv_keep_process(r->keep, i))
            tv_interner_add(r->pids, plain ? tv_bytes_of(number)
                                           : tv_head_text(head, head->processes[i].key));
    }
}

/* An event without a process is of process 0. */
static bool is_of_process(struct rewriting *r, const struct tv_te_fields *fields)
{
    struct tv_bytes pid = fields->pid.data ? tv_te_text(fields->pid, &r->scratch) : TV_BYTES("0");
    return tv_interner_find(r->pids, pid) != TV_NONE;
}

static bool is_of_category(struct rewriting *r, const struct tv_te_fields *fields, uint64_t offset)
{
    char phase = tv_te_phase(fields);
    if (phase == 'M')
        return true;
    if (phase == 'B') {
        r->begins =
            tv_array_reserve(r->begins, &r->begin_capacity, r->begin_count + 1, sizeof *r->begins);
        r->begins[r->begin_count++] = offset;
    }
    if (phase == 'B' || phase == 'E')
        return false;
    return tv_keep_category(r->keep, tv_te_text(fields->cat, &r->scratch));
}

static bool wanted(void *context, const struct tv_te_list_event *event)
{
    struct rewriting *r = context;
    const struct tv_te_fields *fields = event->fields;
    if (tv_te_phase(fields) == 'c') /* the clocks are everybody's */
        return true;
    if (r->keep->processes && !is_of_process(r, fields))
        return false;
    return !r->keep->category || is_of_category(r, fields, event->offset);
}

static int compare_offsets(const void *left, const void *right)
{
    uint64_t a = *(const uint64_t *)left, b = *(const uint64_t *)right;
    return (a > b) - (a < b);
}

static bool is_begun(const struct rewriting *r, const struct tv_call_event *event)
{
    uint64_t offset = tv_slice_offset(r->trace, event->row, event->index);
    return r->begin_count > 0 &&
           bsearch(&offset, r->begins, r->begin_count, sizeof offset, compare_offsets) != NULL;
}

/* What was left out above as a beginning or an end. */
static enum tv_status add_slices(void *context, struct tv_out *out, bool any, struct tv_error *err)
{
    struct rewriting *r = context;
    struct tv_call_merge *merge = tv_call_merge_kept(r->trace, r->keep);
    struct tv_call_event event;
    enum tv_status status = TV_OK;
    while (status == TV_OK && tv_call_merge_next(merge, &event)) {
        if (event.exit || !is_begun(r, &event))
            continue;
        tv_out_text(out, any ? ",\n" : "");
        any = true;
        status = tv_te_describe_slice(r->trace, event.row, event.index, out, err);
    }
    tv_call_merge_free(merge);
    return status;
}

enum tv_status tv_rewrite_kept(const struct tv_trace *trace, const struct tv_keep *keep,
                               struct tv_out *out, struct tv_error *err)
{
    struct rewriting r = {.trace = trace, .keep = keep, .pids = tv_interner_new()};
    struct tv_te_rewrite_choice choice = {.wanted = wanted, .add = add_slices, .context = &r};
    bool everything = !keep->processes && !keep->category;
    note_pids(&r);
    enum tv_status status =
        tv_te_rewrite(trace->head->inputs[0].source, everything ? NULL : &choice, out, err);
    tv_interner_free(r.pids);
    tv_te_scratch_release(&r.scratch);
    tv_free(r.begins);
    return status;
}
