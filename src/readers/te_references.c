/* SPDX-License-Identifier: Apache-2.0 */
#include "readers/te_references.h"

#include <stdio.h>

#include "base/bytes.h"
#include "base/intern.h"
#include "model/objects.h"
#include "readers/json.h"
#include "readers/te_nested.h"
#include "readers/te_values.h"

/* Each looks through all objects. */
#define MOST_REFERENCES 1000u

struct finding {
    struct tv_out *out;
    const struct tv_trace *trace;
    uint32_t input;
    struct tv_bytes pid; /* raw, of the event */
    tv_ns time;
    struct tv_interner *seen;
    struct tv_te_scratch scratch;
    unsigned tried, written;
};

static bool is_process(const struct tv_head *head, uint32_t process, struct tv_bytes pid)
{
    char number[24];
    if (process >= head->process_count)
        return false;
    if (head->processes[process].key != TV_EMPTY_STRING)
        return tv_bytes_equal(tv_head_text(head, head->processes[process].key), pid);
    snprintf(number, sizeof number, "%llu", (unsigned long long)head->processes[process].id);
    return tv_bytes_equal(tv_bytes_of(number), pid);
}

/* The process of that id that has objects of the input; TV_NONE: none has. */
static uint32_t find_process(struct finding *finding, struct tv_bytes raw)
{
    const struct tv_trace *trace = finding->trace;
    struct tv_bytes pid = raw.data ? tv_te_text(raw, &finding->scratch) : TV_BYTES("0");
    for (size_t i = 0; i < trace->tables.objects.count; i++) {
        const struct tv_object *object = &trace->tables.objects.rows[i];
        if (object->input == finding->input && is_process(trace->head, object->process, pid))
            return object->process;
    }
    return TV_NONE;
}

/* Whether the same was asked for before. */
static bool is_known(struct finding *finding, const struct tv_te_nested *nested)
{
    struct tv_out text;
    uint32_t before = tv_interner_count(finding->seen);
    tv_out_init_memory(&text);
    tv_out_bytes(&text, nested->id_ref);
    tv_out_char(&text, '\n');
    tv_out_bytes(&text, nested->scope);
    tv_out_char(&text, '\n');
    tv_out_bytes(&text, nested->pid_ref);
    uint32_t number = tv_interner_add(finding->seen, (struct tv_bytes){text.buffer, text.length});
    tv_out_release(&text);
    return number < before;
}

/* Texts that tv_te_text makes last until its next call: the head's strings stay. */
static uint32_t find_snapshot(struct finding *finding, const struct tv_te_nested *nested)
{
    const struct tv_head *head = finding->trace->head;
    struct tv_object_reference reference = {.input = finding->input, .time = finding->time};
    uint32_t id = tv_interner_find(head->strings, tv_te_text(nested->id_ref, &finding->scratch));
    uint32_t scope = TV_EMPTY_STRING;
    if (nested->scope.data)
        scope = tv_interner_find(head->strings, tv_te_text(nested->scope, &finding->scratch));
    reference.process =
        find_process(finding, nested->pid_ref.data ? nested->pid_ref : finding->pid);
    if (id == TV_NONE || scope == TV_NONE || reference.process == TV_NONE)
        return TV_NONE;
    reference.id = tv_head_text(head, id);
    if (nested->scope.data)
        reference.scope = tv_head_text(head, scope);
    return tv_object_find_snapshot(finding->trace, &reference);
}

static void put_raw(struct tv_out *out, const char *key, struct tv_bytes raw)
{
    if (!raw.data)
        return;
    tv_out_format(out, "\"%s\":", key);
    tv_json_normalise(raw, out, NULL);
    tv_out_char(out, ',');
}

static void take(void *context, const struct tv_te_nested *nested)
{
    struct finding *finding = context;
    if (finding->tried >= MOST_REFERENCES || is_known(finding, nested))
        return;
    finding->tried++;
    uint32_t snapshot = find_snapshot(finding, nested);
    if (snapshot == TV_NONE)
        return;
    tv_out_text(finding->out, finding->written++ > 0 ? ",{" : ",\"references\":[{");
    put_raw(finding->out, "id_ref", nested->id_ref);
    put_raw(finding->out, "scope", nested->scope);
    put_raw(finding->out, "pid_ref", nested->pid_ref);
    tv_out_format(finding->out, "\"object\":%u,\"snapshot\":%u}",
                  finding->trace->tables.snapshots.rows[snapshot].object, snapshot);
}

void tv_te_references_write(struct tv_out *out, const struct tv_trace *trace, uint32_t input,
                            const struct tv_te_fields *event, struct tv_bytes end_args)
{
    struct finding finding = {.out = out, .trace = trace, .input = input, .pid = event->pid};
    if (trace->tables.snapshots.count == 0 || !tv_te_time(event->ts, &finding.time))
        return;
    finding.seen = tv_interner_new();
    tv_te_nested_references(event->args, take, &finding);
    tv_te_nested_references(end_args, take, &finding);
    if (finding.written > 0)
        tv_out_char(out, ']');
    tv_interner_free(finding.seen);
    tv_te_scratch_release(&finding.scratch);
}
