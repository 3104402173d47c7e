/* SPDX-License-Identifier: Apache-2.0 */
#include "readers/trace_event/references.h"

#include "base/bytes.h"
#include "base/intern.h"
#include "model/objects.h"
#include "readers/json/json.h"
#include "readers/trace_event/nested.h"
#include "readers/trace_event/values.h"

/* An event's answer stays readable. */
#define MOST_REFERENCES 1000u

struct te_references {
    struct tv_out *out;
    const struct tv_trace *trace;
    uint32_t input;
    struct tv_bytes pid; /* raw, of the event */
    tv_ns time;
    struct tv_interner *seen;
    struct tv_te_scratch scratch;
    unsigned tried, written;
};

/* Whether the same was asked for before. */
static bool te_references_is_known(struct te_references *references, const struct tv_te_nested *nested)
{
    struct tv_out text;
    uint32_t before = tv_interner_count(references->seen);
    tv_out_init_memory(&text);
    tv_out_bytes(&text, nested->id_ref);
    tv_out_char(&text, '\n');
    tv_out_bytes(&text, nested->scope);
    tv_out_char(&text, '\n');
    tv_out_bytes(&text, nested->pid_ref);
    uint32_t number = tv_interner_add(references->seen, (struct tv_bytes){text.buffer, text.length});
    tv_out_release(&text);
    return number < before;
}

/* The number's text stays where that of tv_te_decode_text would be gone; NULL: it is no string at all. */
static struct tv_bytes te_references_known_text(struct te_references *references, struct tv_bytes raw)
{
    const struct tv_interner *strings = references->trace->head->strings;
    uint32_t number = tv_interner_find(strings, tv_te_decode_text(raw, &references->scratch));
    return number == TV_NONE ? (struct tv_bytes){NULL, 0} : tv_interner_get(strings, number);
}

/* An event without a process is of process 0. */
static uint32_t te_references_find_snapshot(struct te_references *references, const struct tv_te_nested *nested)
{
    struct tv_bytes pid = nested->pid_ref.data ? nested->pid_ref : references->pid;
    struct tv_object_reference reference = {
        .input = references->input,
        .pid = pid.data ? te_references_known_text(references, pid) : TV_BYTES("0"),
        .id = te_references_known_text(references, nested->id_ref),
        .time = references->time,
    };
    if (nested->scope.data)
        reference.scope = te_references_known_text(references, nested->scope);
    if (!reference.pid.data || !reference.id.data || (nested->scope.data && !reference.scope.data))
        return TV_NONE;
    return tv_object_find_snapshot(references->trace, &reference);
}

static void te_references_put_raw(struct tv_out *out, const char *key, struct tv_bytes raw)
{
    if (!raw.data)
        return;
    tv_out_format(out, "\"%s\":", key);
    tv_json_normalise(raw, out, NULL);
    tv_out_char(out, ',');
}

static void te_references_take(void *context, const struct tv_te_nested *nested)
{
    struct te_references *references = context;
    if (references->tried >= MOST_REFERENCES || te_references_is_known(references, nested))
        return;
    references->tried++;
    uint32_t snapshot = te_references_find_snapshot(references, nested);
    if (snapshot == TV_NONE)
        return;
    tv_out_text(references->out, references->written++ > 0 ? ",{" : ",\"references\":[{");
    te_references_put_raw(references->out, "id_ref", nested->id_ref);
    te_references_put_raw(references->out, "scope", nested->scope);
    te_references_put_raw(references->out, "pid_ref", nested->pid_ref);
    tv_out_format(references->out, "\"object\":%u,\"snapshot\":%u}",
                  references->trace->tables.snapshots.rows[snapshot].object, snapshot);
}

void tv_te_references_write(struct tv_out *out, const struct tv_trace *trace, uint32_t input,
                            const struct tv_te_fields *event, struct tv_bytes end_args)
{
    struct te_references references = {.out = out, .trace = trace, .input = input, .pid = event->pid};
    if (trace->tables.snapshots.count == 0 || !tv_te_parse_time(event->ts, &references.time))
        return;
    references.seen = tv_interner_new();
    tv_te_nested_visit_references(event->args, te_references_take, &references);
    tv_te_nested_visit_references(end_args, te_references_take, &references);
    if (references.written > 0)
        tv_out_char(out, ']');
    tv_interner_free(references.seen);
    tv_te_scratch_release(&references.scratch);
}
