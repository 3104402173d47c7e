/* SPDX-License-Identifier: Apache-2.0 */
#include "view/event_about.h"

#include "model/trace.h"

static void set_thread(const struct tv_view *view, uint32_t thread, struct tv_event_about *about)
{
    if (thread >= view->trace->head->thread_count)
        return;
    about->track = view->thread_track[thread];
    about->process = view->trace->head->threads[thread].process;
}

static void set_slice(const struct tv_view *view, uint32_t row, uint32_t index,
                      struct tv_event_about *about)
{
    const struct tv_trace *trace = view->trace;
    struct tv_slice slice = tv_slice_get(trace, row, index);
    about->time = slice.start;
    about->length = slice.length;
    about->track = trace->rows[row].track;
    about->process = trace->tracks[about->track].process;
    about->frame = trace->paths.nodes[slice.path].frame;
}

static void set_instant(const struct tv_view *view, const struct tv_instant *instant,
                        struct tv_event_about *about)
{
    about->time = tv_trace_time(view->trace, instant->input, instant->time);
    about->frame = instant->frame;
    if (instant->scope == TV_SCOPE_THREAD)
        set_thread(view, instant->of, about);
    else if (instant->scope == TV_SCOPE_PROCESS)
        about->process = instant->of;
    else if (instant->scope == TV_SCOPE_TRACK)
        about->track = instant->of;
}

static void set_counter(const struct tv_view *view, uint32_t number, uint32_t sample,
                        struct tv_event_about *about)
{
    const struct tv_tables *tables = &view->trace->tables;
    const struct tv_counter *counter = &tables->counters.rows[number];
    if (counter->sample_count > 0)
        about->time = tv_trace_time(view->trace, counter->input,
                                    tables->counter_times[counter->first_sample + sample]);
    about->process = counter->process;
    about->name = counter->name;
}

static void set_object(const struct tv_view *view, uint32_t number, struct tv_event_about *about)
{
    const struct tv_object *object = &view->trace->tables.objects.rows[number];
    about->time = tv_trace_time(view->trace, object->input, object->created);
    about->length = object->deleted - object->created;
    about->process = object->process;
    about->name = object->type;
}

static void set_sample(const struct tv_view *view, const struct tv_sample *sample,
                       struct tv_event_about *about)
{
    about->time = tv_trace_time(view->trace, sample->input, sample->time);
    about->name = sample->title;
    set_thread(view, sample->thread, about);
}

static void set_snapshot(const struct tv_view *view, const struct tv_snapshot *snapshot,
                         struct tv_event_about *about)
{
    set_object(view, snapshot->object, about);
    about->time = tv_trace_time(view->trace, snapshot->input, snapshot->time);
    about->length = 0;
}

static void set_flow(const struct tv_view *view, const struct tv_flow *flow, bool at_end,
                     struct tv_event_about *about)
{
    const struct tv_flow_end *end = at_end ? &flow->to : &flow->from;
    if (tv_flow_end_is_instant(end))
        set_instant(view, &view->trace->tables.instants.rows[end->index], about);
    else
        set_slice(view, end->row, end->index, about);
    about->time = tv_trace_time(view->trace, flow->input, end->time);
    about->length = 0;
    about->frame = flow->frame;
}

static void set_dump(const struct tv_view *view, const struct tv_memory_dump *dump,
                     struct tv_event_about *about)
{
    about->time = tv_trace_time(view->trace, dump->input, dump->time);
    about->process = dump->process;
    about->name = dump->level;
}

/* What has no time is there from the beginning to the end. */
static void set_lasting(const struct tv_view *view, const struct tv_event_place *place,
                        struct tv_event_about *about)
{
    const struct tv_trace_info *head = view->trace->head;
    about->time = view->trace->start;
    about->length = view->trace->end - view->trace->start;
    if (place->kind == TV_EVENT_METADATA) {
        about->name = head->metadata[place->a].key;
    } else if (place->kind == TV_EVENT_PROCESS) {
        about->name = head->processes[place->a].name;
        about->process = place->a;
    } else {
        about->name = head->threads[place->a].name;
        set_thread(view, place->a, about);
    }
}

struct tv_event_about tv_event_about(const struct tv_view *view, const struct tv_event_place *place)
{
    const struct tv_tables *tables = &view->trace->tables;
    struct tv_event_about about = {.track = TV_NONE, .process = TV_NONE, .frame = TV_NONE};
    switch (place->kind) {
    case TV_EVENT_SLICE:
        set_slice(view, place->a, place->b, &about);
        break;
    case TV_EVENT_INSTANT:
        set_instant(view, &tables->instants.rows[place->a], &about);
        break;
    case TV_EVENT_COUNTER:
        set_counter(view, place->a, place->b, &about);
        break;
    case TV_EVENT_SNAPSHOT:
        set_snapshot(view, &tables->snapshots.rows[place->a], &about);
        break;
    case TV_EVENT_OBJECT:
        set_object(view, place->a, &about);
        break;
    case TV_EVENT_SAMPLE:
        set_sample(view, &tables->samples.rows[place->a], &about);
        break;
    case TV_EVENT_FLOW:
        set_flow(view, &tables->flows.rows[place->a], place->b > 0, &about);
        break;
    case TV_EVENT_MEMORY_DUMP:
        set_dump(view, &tables->memory_dumps.rows[place->a], &about);
        break;
    case TV_EVENT_PROCESS:
    case TV_EVENT_THREAD:
    case TV_EVENT_METADATA:
        set_lasting(view, place, &about);
        break;
    case TV_EVENT_NONE:
        break;
    }
    return about;
}

static void number(struct tv_out *out, const char *before, uint32_t value)
{
    tv_out_text(out, before);
    tv_out_i64(out, value == TV_NONE ? -1 : (int64_t)value);
}

void tv_event_about_write(struct tv_out *out, const struct tv_view *view,
                          const struct tv_event_place *place, const struct tv_event_about *about)
{
    number(out, "", place->kind);
    number(out, ",", place->a);
    number(out, ",", place->b);
    tv_out_char(out, ',');
    tv_out_i64(out, about->time);
    tv_out_char(out, ',');
    tv_out_i64(out, about->length);
    number(out, ",", about->track);
    number(out, ",", about->process);
    number(out, ",", about->frame);
    tv_out_char(out, ',');
    if (about->frame == TV_NONE)
        tv_out_json(out, tv_trace_info_text(view->trace->head, about->name));
    else
        tv_out_text(out, "null");
}
