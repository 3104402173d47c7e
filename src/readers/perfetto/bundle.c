/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bundle.c - events of the kernel (docs/formats/perfetto.md section 7).
 *
 *     FtraceEventBundle, events of one processor
 *       cpu, clock, lost, start    after the events in the file, needed before: a first pass skips
 *                                  over the events to read them (pf_bundle_read_head)
 *       event { time, thread, N }  N is the number of the event and of its message
 *         |-> pf_take_*            frequent events, by their fields --> ftrace/decoded.h
 *         '-> event_text.c         all others, as the line of text that ftrace would print
 *       compact_sched              switches and wake-ups in columns (compact.c)
 *
 * Both ways end in the reader of ftrace, so that a trace gives the same rows in both formats.
 *
 * Functions pf_take_* return true when the event needs nothing more.  False means that it also
 * becomes text: pf_take_newtask reads a fact from an event that is shown as an instant, too.
 *
 * Each frequent message has two readers.  pf_..._step expects the fields in the order in which the
 * recorder writes them, and gives up at any other; then pf_..._walk reads them in any order.  A
 * trace may have millions of switches, and the first way decides least for each field.
 */
#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/bytes.h"
#include "base/memory.h"
#include "readers/ftrace/fields.h"
#include "readers/perfetto/bundle.h"
#include "readers/perfetto/field_names.h"

#define LONGEST_TEXT 1024u

enum {
    EVENT_PRINT = 3,
    EVENT_SWITCH = 4,
    EVENT_FREQUENCY = 11,
    EVENT_IDLE = 13,
    EVENT_WAKEUP = 17,
    EVENT_BLOCKED = 18,
    EVENT_WAKING = 20,
    EVENT_SOFTIRQ_ENTRY = 24,
    EVENT_SOFTIRQ_EXIT = 25,
    EVENT_IRQ_ENTRY = 36,
    EVENT_IRQ_EXIT = 37,
    EVENT_TRACING_MARK = 80,
    EVENT_WAKEUP_NEW = 114,
    EVENT_NEWTASK = 235,
    EVENT_RENAME = 236,
    EVENT_PROCESS_FREE = 240,
    EVENT_RSS_STAT = 313,
    EVENT_OOM_SCORE = 326,
    EVENT_ZERO = 331,
    EVENT_SDE_MARK = 333,
    EVENT_ION_STAT = 335,
    EVENT_GPU_MEM = 340,
    EVENT_THERMAL = 341,
    EVENT_CDEV = 342,
    EVENT_DPU_MARK = 348,
    EVENT_G2D_MARK = 349,
    EVENT_MALI_MARK = 350,
    EVENT_DMA_HEAP = 351,
    EVENT_GRAPH_ENTRY = 437,
    EVENT_GRAPH_EXIT = 438,
};

struct tv_pf_bundle_state *tv_pf_bundle_get_state(struct tv_pf_reading *reading)
{
    if (!reading->bundles)
        reading->bundles = tv_alloc(1, sizeof *reading->bundles);
    return reading->bundles;
}

void tv_pf_bundles_release(struct tv_pf_reading *reading)
{
    if (reading->bundles) {
        tv_map_release(&reading->bundles->described);
        tv_map_release(&reading->bundles->memories);
        tv_map_release(&reading->bundles->allocations);
    }
    tv_free(reading->bundles);
}

/* ---- Scheduling ---- */

void tv_pf_cpu_turn_to(struct tv_pf_bundle *bundle, int64_t tid, struct tv_bytes name)
{
    struct tv_pf_cpu *cpu = &tv_pf_bundle_get_state(bundle->reading)->cpus[bundle->cpu];
    const struct tv_ft_chunk *chunk = bundle->chunk;
    cpu->known = true;
    cpu->tid = tid;
    if (tid != 0 && tv_ft_is_task_name(name))
        cpu->name = chunk->tasks.rows[chunk->switches.rows[chunk->switches.count - 1].to].name;
    else
        cpu->name = tv_pf_text(bundle->reading, name);
}

/* Fields of sched_switch, those of the previous task first, and of the events of a wake-up. */
struct pf_switch_fields {
    struct tv_bytes from_name, to_name;
    uint64_t from, from_priority, state, to, to_priority;
};

struct pf_wakeup_fields {
    struct tv_bytes name;
    uint64_t tid;
};

/* Read a switch with its fields in any order.  Return false when it is damaged. */
static TV_NOINLINE bool pf_switch_walk(struct tv_bytes event, struct pf_switch_fields *fields)
{
    struct tv_pf_message message = tv_pf_message_over(event);
    struct tv_protobuf_field field;
    *fields = (struct pf_switch_fields){.from = 0};
    while (tv_pf_next(&message, &field))
        switch (field.number) {
        case 1:
            fields->from_name = field.bytes;
            break;
        case 2:
            fields->from = field.value;
            break;
        case 4:
            fields->state = field.value;
            break;
        case 5:
            fields->to_name = field.bytes;
            break;
        case 6:
            fields->to = field.value;
            break;
        default:
            break;
        }
    return !message.damaged;
}

/* Read a switch whose fields are all there and in order.  Return false for any other. */
TV_INLINE bool pf_switch_step(struct tv_bytes event, struct pf_switch_fields *fields)
{
    struct tv_pf_steps steps = tv_pf_steps_over(event);
    return tv_pf_step_bytes(&steps, 1, &fields->from_name) &&
           tv_pf_step_number(&steps, 2, &fields->from) &&
           tv_pf_step_number(&steps, 3, &fields->from_priority) &&
           tv_pf_step_number(&steps, 4, &fields->state) &&
           tv_pf_step_bytes(&steps, 5, &fields->to_name) &&
           tv_pf_step_number(&steps, 6, &fields->to) &&
           tv_pf_step_number(&steps, 7, &fields->to_priority) && tv_pf_steps_ended(&steps);
}

/* Take a switch. The fields come in one usual order, which is tried first. */
static bool pf_take_switch(struct tv_pf_bundle *bundle, const struct tv_ft_at *at,
                           struct tv_bytes event)
{
    struct pf_switch_fields fields;
    if (TV_UNLIKELY(!pf_switch_step(event, &fields) && !pf_switch_walk(event, &fields)))
        return false;
    struct tv_ft_decoded_switch decoded = {
        .from = (int32_t)fields.from,
        .to = (int32_t)fields.to,
        .from_name = fields.from_name,
        .to_name = fields.to_name,
    };
    if (!tv_pf_is_tid(decoded.from) || !tv_pf_is_tid(decoded.to))
        return false;
    decoded.state = tv_pf_task_state(bundle->reading, (int64_t)fields.state);
    tv_ft_take_switch(bundle->chunk, at, &decoded);
    tv_pf_cpu_turn_to(bundle, decoded.to, decoded.to_name);
    return true;
}

/* Read a wake-up with its fields in any order. */
static TV_NOINLINE void pf_wakeup_walk(struct tv_bytes event, struct pf_wakeup_fields *fields)
{
    struct tv_pf_message message = tv_pf_message_over(event);
    struct tv_protobuf_field field;
    *fields = (struct pf_wakeup_fields){.tid = 0};
    while (tv_pf_next(&message, &field))
        if (field.number == 1)
            fields->name = field.bytes;
        else if (field.number == 2)
            fields->tid = field.value;
}

/* The priority, the success and the processor follow. */
TV_INLINE bool pf_wakeup_step(struct tv_bytes event, struct pf_wakeup_fields *fields)
{
    struct tv_pf_steps steps = tv_pf_steps_over(event);
    uint64_t unused;
    return tv_pf_step_bytes(&steps, 1, &fields->name) &&
           tv_pf_step_number(&steps, 2, &fields->tid) && tv_pf_step_number(&steps, 3, &unused) &&
           tv_pf_step_number(&steps, 4, &unused) && tv_pf_step_number(&steps, 5, &unused) &&
           tv_pf_steps_ended(&steps);
}

static bool pf_take_wakeup(struct tv_pf_bundle *bundle, const struct tv_ft_at *at,
                           struct tv_bytes event, enum tv_ft_wake kind)
{
    struct pf_wakeup_fields fields;
    if (TV_UNLIKELY(!pf_wakeup_step(event, &fields)))
        pf_wakeup_walk(event, &fields);
    int64_t tid = (int32_t)fields.tid;
    if (!tv_pf_is_tid(tid))
        return false;
    tv_ft_take_wakeup(bundle->chunk, at, tid, fields.name, kind);
    return true;
}

/* Handle the frequency or the idle state of a processor: {1 state, 2 processor}. */
static bool pf_take_cpu_state(struct tv_pf_bundle *bundle, const struct tv_ft_at *at,
                              const struct tv_protobuf_field *event)
{
    struct tv_pf_steps steps = tv_pf_steps_over(event->bytes);
    uint64_t state = 0, cpu = 0;
    if (!tv_pf_step_number(&steps, 1, &state) || !tv_pf_step_number(&steps, 2, &cpu) ||
        !tv_pf_steps_ended(&steps)) {
        state = tv_pf_find(event->bytes, 1).value;
        cpu = tv_pf_find(event->bytes, 2).value;
    }
    if (event->number == EVENT_FREQUENCY)
        tv_ft_take_cpu_frequency(bundle->chunk, at, (uint32_t)cpu, (double)state);
    else
        tv_ft_take_cpu_idle(bundle->chunk, at, (uint32_t)cpu, (uint32_t)state);
    return true;
}

/* Handle the kernel function in which a task was blocked {1 tid, 2 function, 3 I/O wait}. */
static bool pf_take_blocked(struct tv_pf_bundle *bundle, const struct tv_ft_at *at,
                            struct tv_bytes event)
{
    struct tv_pf_event_fields fields;
    char text[24];
    tv_pf_event_parse(event, &fields);
    int64_t tid = (int32_t)fields.numbers[1];
    if (!tv_pf_is_tid(tid))
        return false;
    tv_ft_take_blocked(bundle->chunk, at, tid,
                       tv_pf_kernel_function(bundle, fields.numbers[2], text, sizeof text),
                       fields.numbers[3] != 0);
    return true;
}

/* ---- Tasks ---- */

#define CLONE_THREAD 0x10000u

/* Return the process of a task; TV_FT_NO_ID when it is unknown. */
static int64_t pf_task_process(const struct tv_ft_chunk *chunk, uint32_t task)
{
    const struct tv_ft_task *row = &chunk->tasks.rows[task];
    return row->tgid != TV_FT_NO_ID ? row->tgid : row->marked_tgid;
}

/* Handle a new task: a thread of the process of the event's task, or a process. */
static bool pf_take_newtask(struct tv_pf_bundle *bundle, const struct tv_ft_at *at,
                            struct tv_bytes event)
{
    struct tv_pf_event_fields fields;
    tv_pf_event_parse(event, &fields);
    int64_t tid = (int32_t)fields.numbers[1];
    if (!tv_pf_is_tid(tid) || tid == 0)
        return false;
    uint32_t task = tv_ft_chunk_task(bundle->chunk, tid);
    int64_t process = pf_task_process(bundle->chunk, at->task);
    if (!(fields.numbers[3] & CLONE_THREAD)) {
        tv_pf_note_parent(bundle->reading, tid, process);
        process = tid;
    }
    bundle->chunk->tasks.rows[task].tgid = process;
    tv_ft_chunk_set_task_name(bundle->chunk, task, fields.texts[2]);
    tv_pf_note_start(bundle->reading, tid, process, at->time);
    return false; /* it is an instant as well */
}

/* Handle a task's new name {1 tid, 2 old name, 3 new name, 4 oom score}. */
static bool pf_take_rename(struct tv_pf_bundle *bundle, struct tv_bytes event)
{
    struct tv_pf_event_fields fields;
    tv_pf_event_parse(event, &fields);
    int64_t tid = (int32_t)fields.numbers[1];
    if (tv_pf_is_tid(tid) && tid != 0)
        tv_ft_chunk_set_task_name(bundle->chunk, tv_ft_chunk_task(bundle->chunk, tid),
                                  fields.texts[3]);
    return false;
}

/* Handle the end of a task: the kernel frees what it kept of it. */
static bool pf_take_process_free(struct tv_pf_bundle *bundle, const struct tv_ft_at *at,
                                 struct tv_bytes event)
{
    struct tv_pf_event_fields fields;
    tv_pf_event_parse(event, &fields);
    int64_t tid = (int32_t)fields.numbers[2];
    if (tv_pf_is_tid(tid) && tid != 0) {
        uint32_t task = tv_ft_chunk_task(bundle->chunk, tid);
        tv_pf_note_end(bundle->reading, tid, pf_task_process(bundle->chunk, task), at->time);
    }
    return false;
}

/* ---- Counters ---- */

void tv_pf_count(struct tv_pf_reading *reading, const struct tv_ft_at *at, int64_t pid,
                 struct tv_bytes name, double value)
{
    struct tv_ft_counter counter = {.tgid = pid};
    counter.name = counter.series = tv_pf_text(reading, name);
    tv_ft_chunk_count(reading->chunk, at, &counter, value);
}

/* Intern a text; NULL is the empty one. */
static uint32_t pf_optional_text(struct tv_pf_reading *reading, const char *text)
{
    return text ? tv_pf_text(reading, tv_bytes_of(text)) : TV_EMPTY_STRING;
}

void tv_pf_count_described(struct tv_pf_reading *reading, const struct tv_ft_at *at, int64_t pid,
                           const struct tv_pf_counter *described, double value)
{
    struct tv_ft_counter counter = {
        .tgid = pid,
        .facts =
            {
                .unit = pf_optional_text(reading, described->unit),
                .type = pf_optional_text(reading, described->type),
                .description = described->description.length > 0
                                   ? tv_pf_text(reading, described->description)
                                   : TV_EMPTY_STRING,
                .dimensions = pf_optional_text(reading, described->dimensions),
            },
    };
    counter.name = counter.series = tv_pf_text(reading, described->name);
    tv_ft_chunk_count(reading->chunk, at, &counter, value);
}

void tv_pf_count_gpu_memory(struct tv_pf_reading *reading, const struct tv_ft_at *at, uint64_t gpu,
                            int64_t pid, double bytes)
{
    char dimensions[40];
    snprintf(dimensions, sizeof dimensions, "{\"gpu\":%" PRIu64 "}", gpu);
    struct tv_pf_counter counter = {
        .name = TV_BYTES("GPU Memory"),
        .unit = "bytes",
        .type = pid > 0 ? "process_gpu_memory" : "gpu_memory",
        .dimensions = dimensions,
    };
    tv_pf_count_described(reading, at, pid > 0 ? pid : TV_FT_NO_ID, &counter, bytes);
}

/* Handle a value of a process's memory {1 kind, 2 size, 3 current, 4 mm_id}.  The kernel updates
 * the memory of other processes as well.  So the event's own process is meant only if field 3 says
 * so; it also shows which process an mm_id is, for the events that do not. */
static bool pf_take_rss(struct tv_pf_bundle *bundle, const struct tv_ft_at *at,
                        struct tv_bytes event)
{
    static const char *const names[] = {"mem.rss.file", "mem.rss.anon", "mem.swap",
                                        "mem.rss.shmem"};
    struct tv_pf_event_fields fields;
    tv_pf_event_parse(event, &fields);
    int64_t process = pf_task_process(bundle->chunk, at->task);
    bool tells = (fields.present & 8) && (fields.present & 16);
    struct tv_map *memories = &tv_pf_bundle_get_state(bundle->reading)->memories;
    if (tells && fields.numbers[3] != 0 && process > 0) {
        tv_map_set(memories, fields.numbers[4], (uint32_t)process);
    } else if (tells && fields.numbers[3] == 0) {
        uint32_t owner = tv_map_find(memories, fields.numbers[4]);
        process = owner == TV_NONE ? TV_FT_NO_ID : (int64_t)owner;
    }
    if (fields.numbers[1] >= TV_COUNT(names) || (int64_t)fields.numbers[2] < 0 ||
        process == TV_FT_NO_ID) {
        tv_pf_warn(bundle->reading, TV_DIAGNOSTIC_BAD_COUNTER, at->offset);
        return true;
    }
    tv_pf_count(bundle->reading, at, process, tv_bytes_of(names[fields.numbers[1]]),
                (double)fields.numbers[2]);
    return true;
}

/* Handle the priority of a process for the kernel's choice of a victim when memory is short. */
static bool pf_take_oom_score(struct tv_pf_bundle *bundle, const struct tv_ft_at *at,
                              struct tv_bytes event)
{
    struct tv_pf_event_fields fields;
    tv_pf_event_parse(event, &fields);
    int64_t tid = (int32_t)fields.numbers[3];
    if (!tv_pf_is_tid(tid))
        return false;
    int64_t process = pf_task_process(bundle->chunk, tv_ft_chunk_task(bundle->chunk, tid));
    tv_pf_count(bundle->reading, at, process == TV_FT_NO_ID ? tid : process,
                TV_BYTES("oom_score_adj"), (double)(int16_t)fields.numbers[2]);
    return true;
}

/* Add to a counter with a text of the event in its name. */
static void pf_count_titled(struct tv_pf_bundle *bundle, const struct tv_ft_at *at,
                            const char *title, struct tv_bytes text, double value)
{
    char name[160];
    size_t length = tv_ft_format_title(name, sizeof name, title, text);
    tv_pf_count(bundle->reading, at, TV_FT_NO_ID, (struct tv_bytes){(uint8_t *)name, length},
                value);
}

/* Handle the memory of GPUs, and of the ION and DMA-BUF heaps.  Heaps have a total for the system
 * and a change by the task. */
static bool pf_take_memory(struct tv_pf_bundle *bundle, const struct tv_ft_at *at, uint32_t number,
                           struct tv_bytes event)
{
    struct tv_pf_event_fields fields;
    tv_pf_event_parse(event, &fields);
    if (number == EVENT_GPU_MEM) {
        tv_pf_count_gpu_memory(bundle->reading, at, fields.numbers[1], (int32_t)fields.numbers[2],
                               (double)fields.numbers[3]);
        return true;
    }
    bool ion = number == EVENT_ION_STAT;
    int64_t process = pf_task_process(bundle->chunk, at->task);
    tv_pf_count(bundle->reading, at, TV_FT_NO_ID,
                ion ? TV_BYTES("mem.ion") : TV_BYTES("mem.dma_heap"), (double)fields.numbers[3]);
    if (process != TV_FT_NO_ID)
        tv_pf_count(bundle->reading, at, process,
                    ion ? TV_BYTES("mem.ion_change") : TV_BYTES("mem.dma_heap_change"),
                    (double)(int64_t)fields.numbers[2]);
    return true;
}

/* Handle a temperature, or the state of a cooling device; the name of the zone is part of the
 * counter's. */
static bool pf_take_thermal(struct tv_pf_bundle *bundle, const struct tv_ft_at *at, uint32_t number,
                            struct tv_bytes event)
{
    struct tv_pf_event_fields fields;
    tv_pf_event_parse(event, &fields);
    if (number == EVENT_CDEV)
        pf_count_titled(bundle, at, "* Cooling Device", fields.texts[2], (double)fields.numbers[1]);
    else
        pf_count_titled(bundle, at, "* Temperature", fields.texts[4],
                        (double)(int32_t)fields.numbers[2]);
    return true;
}

/* ---- Marks ---- */

/* Handle the marks of drivers: as the text of trace_marker. */
static bool pf_take_driver_mark(struct tv_pf_bundle *bundle, const struct tv_ft_at *at,
                                uint32_t number, struct tv_bytes event)
{
    struct tv_pf_event_fields fields;
    char text[LONGEST_TEXT];
    /* Field numbers of process, name, kind (0: B or E by field 3) and value in each event. */
    static const struct {
        uint32_t event;
        uint8_t pid, name, kind, begin, value;
    } forms[] = {
        {EVENT_TRACING_MARK, 1, 2, 0, 3, 0}, {EVENT_SDE_MARK, 1, 2, 3, 5, 4},
        {EVENT_DPU_MARK, 1, 2, 5, 3, 6},     {EVENT_G2D_MARK, 1, 4, 5, 0, 6},
        {EVENT_MALI_MARK, 2, 1, 3, 0, 4},    {EVENT_ZERO, 3, 2, 1, 0, 4},
    };
    size_t i = 0;
    while (forms[i].event != number)
        if (++i == TV_COUNT(forms))
            return false;
    tv_pf_event_parse(event, &fields);
    uint64_t kind = forms[i].kind ? fields.numbers[forms[i].kind] : 0;
    if (kind == 0 && forms[i].begin)
        kind = fields.numbers[forms[i].begin] ? 'B' : 'E';
    int pid = (int32_t)fields.numbers[forms[i].pid], length;
    struct tv_bytes name = fields.texts[forms[i].name];
    if (name.length == 0 && number == EVENT_DPU_MARK)
        name = fields.texts[4]; /* of newer drivers */
    int shown = name.length < 800 ? (int)name.length : 800;
    if (kind == 'C')
        length = snprintf(text, sizeof text, "C|%d|%.*s|%" PRId64, pid, shown,
                          (const char *)name.data, (int64_t)fields.numbers[forms[i].value]);
    else if (kind == 'B' || kind == 'E')
        length = snprintf(text, sizeof text, kind == 'B' ? "B|%d|%.*s" : "E|%d", pid, shown,
                          (const char *)name.data);
    else
        return false;
    tv_ft_take_print(bundle->chunk, at, (struct tv_bytes){(uint8_t *)text, (size_t)length});
    return true;
}

/* Return the text of a print event: {1 address, 2 text}, or the text alone. */
static struct tv_bytes pf_print_text(struct tv_bytes event)
{
    struct tv_pf_steps steps = tv_pf_steps_over(event);
    struct tv_bytes text;
    uint64_t address;
    if (event.length > 0 && *event.data == (1 << 3 | TV_PROTOBUF_VARINT) &&
        !tv_pf_step_number(&steps, 1, &address))
        return tv_pf_find(event, 2).bytes;
    if (TV_LIKELY(tv_pf_step_bytes(&steps, 2, &text) && tv_pf_steps_ended(&steps)))
        return text;
    return tv_pf_find(event, 2).bytes;
}

/* Handle a text that a program wrote to trace_marker, mostly an atrace mark.  A line end is no part
 * of it. */
static bool pf_take_print(struct tv_pf_bundle *bundle, const struct tv_ft_at *at,
                          struct tv_bytes event)
{
    struct tv_bytes text = pf_print_text(event);
    while (text.length > 0 &&
           (text.data[text.length - 1] == '\n' || text.data[text.length - 1] == '\0'))
        text.length--;
    return text.length > 0 && tv_ft_take_print(bundle->chunk, at, text) == TV_FT_TAKEN;
}

/* ---- Interrupts ---- */

/* Names of interrupts that are longer are left to the text of the event, which is cut. */
#define LONGEST_IRQ 64u

/* Count the name of an interrupt event as a frame, as those of all events that are read as text. */
static void pf_name_irq(struct tv_pf_bundle *bundle, uint32_t number)
{
    struct tv_pf_bundle_state *state = tv_pf_bundle_get_state(bundle->reading);
    assert(number < 64);
    if (TV_LIKELY(state->irq_events >> number & 1))
        return;
    state->irq_events |= UINT64_C(1) << number;
    tv_ft_chunk_frame(bundle->chunk,
                      tv_bytes_of(tv_pf_find_member(TV_PF_FTRACE_EVENT, number)->name), "ftrace");
}

/* Handle the begin or the end of an interrupt on the bundle's processor. */
static bool pf_take_irq(struct tv_pf_bundle *bundle, const struct tv_ft_at *at,
                        const struct tv_protobuf_field *event)
{
    pf_name_irq(bundle, event->number);
    switch (event->number) {
    case EVENT_SOFTIRQ_ENTRY: {
        struct tv_pf_steps steps = tv_pf_steps_over(event->bytes);
        uint64_t vector;
        if (!tv_pf_step_number(&steps, 1, &vector) || !tv_pf_steps_ended(&steps))
            vector = tv_pf_find(event->bytes, 1).value;
        tv_ft_take_irq_begin(bundle->chunk, at, true, tv_pf_softirq_name(vector));
        return true;
    }
    case EVENT_IRQ_ENTRY: {
        struct tv_bytes name = tv_pf_find(event->bytes, 2).bytes;
        if (name.data == NULL || name.length > LONGEST_IRQ)
            return false;
        tv_ft_take_irq_begin(bundle->chunk, at, false, name);
        return true;
    }
    default:
        tv_ft_take_irq_end(bundle->chunk, at, event->number == EVENT_SOFTIRQ_EXIT);
        return true;
    }
}

/* ---- Calls of kernel functions ---- */

/* Begin or end the slice of a function that the function_graph tracer saw: entry {1 depth,
 * 2 function}, exit {1 start, 2 depth, 3 function, 4 lost, 5 end}. */
static bool pf_take_graph(struct tv_pf_bundle *bundle, const struct tv_ft_at *at,
                          const struct tv_protobuf_field *event)
{
    char text[24];
    bool begins = event->number == EVENT_GRAPH_ENTRY;
    if (!begins && event->number != EVENT_GRAPH_EXIT)
        return false;
    uint64_t function = tv_pf_find(event->bytes, begins ? 2 : 3).value;
    uint32_t frame = tv_ft_chunk_frame(
        bundle->chunk, tv_pf_kernel_function(bundle, function, text, sizeof text), "function");
    if (begins)
        tv_ft_chunk_begin_kernel(bundle->chunk, at, at->task, frame);
    else
        tv_ft_chunk_end_kernel(bundle->chunk, at, at->task, frame);
    return true;
}

/* ---- Events ---- */

/* Take an event that needs no text.  Return false for all others. */
static bool pf_take_decoded(struct tv_pf_bundle *bundle, const struct tv_ft_at *at,
                            const struct tv_protobuf_field *event)
{
    switch (event->number) {
    case EVENT_SWITCH:
        return pf_take_switch(bundle, at, event->bytes);
    case EVENT_PRINT:
        return pf_take_print(bundle, at, event->bytes);
    case EVENT_WAKING:
        return pf_take_wakeup(bundle, at, event->bytes, TV_FT_WAKE_ASKED);
    case EVENT_WAKEUP:
    case EVENT_WAKEUP_NEW:
        return pf_take_wakeup(bundle, at, event->bytes, TV_FT_WAKE_DONE);
    case EVENT_FREQUENCY:
    case EVENT_IDLE:
        return pf_take_cpu_state(bundle, at, event);
    case EVENT_SOFTIRQ_ENTRY:
    case EVENT_SOFTIRQ_EXIT:
    case EVENT_IRQ_ENTRY:
    case EVENT_IRQ_EXIT:
        return pf_take_irq(bundle, at, event);
    case EVENT_BLOCKED:
        return pf_take_blocked(bundle, at, event->bytes);
    case EVENT_NEWTASK:
        return pf_take_newtask(bundle, at, event->bytes);
    case EVENT_RENAME:
        return pf_take_rename(bundle, event->bytes);
    case EVENT_PROCESS_FREE:
        return pf_take_process_free(bundle, at, event->bytes);
    case EVENT_RSS_STAT:
        return pf_take_rss(bundle, at, event->bytes);
    case EVENT_OOM_SCORE:
        return pf_take_oom_score(bundle, at, event->bytes);
    case EVENT_GPU_MEM:
    case EVENT_ION_STAT:
    case EVENT_DMA_HEAP:
        return pf_take_memory(bundle, at, event->number, event->bytes);
    case EVENT_THERMAL:
    case EVENT_CDEV:
        return pf_take_thermal(bundle, at, event->number, event->bytes);
    default:
        return pf_take_graph(bundle, at, event) || tv_pf_take_device(bundle, at, event) ||
               pf_take_driver_mark(bundle, at, event->number, event->bytes);
    }
}

/* ---- Bundles ---- */

void tv_pf_bundle_mark_loss(struct tv_pf_bundle *bundle, int64_t time)
{
    char name[32];
    int length = snprintf(name, sizeof name, "CPU %" PRIu32 ": LOST EVENTS", bundle->cpu);
    struct tv_bytes text = {(uint8_t *)name, (size_t)length};
    bundle->lost = false;
    tv_pf_warn(bundle->reading, TV_DIAGNOSTIC_EVENTS_LOST, bundle->offset);
    *tv_table_add(&bundle->chunk->instants) = (struct tv_instant){
        .time = time,
        .offset = bundle->offset,
        .frame = tv_ft_chunk_frame(bundle->chunk, text, "ftrace"),
        .of = bundle->cpu,
        .scope = TV_SCOPE_TRACK,
    };
}

/* Open an event of the form that most have: {1 time, 2 thread, N event} and no more.  Return false
 * for any other form. */
TV_INLINE bool pf_event_open_usual(struct tv_bytes bytes, uint64_t *time, uint64_t *tid,
                                   struct tv_protobuf_field *event)
{
    struct tv_cursor cursor = tv_cursor_over(bytes);
    uint64_t key, length;
    if (bytes.length < 2 || *cursor.at++ != (1 << 3 | TV_PROTOBUF_VARINT) ||
        !tv_protobuf_take_varint(&cursor, time) || cursor.at == cursor.end ||
        *cursor.at++ != (2 << 3 | TV_PROTOBUF_VARINT) || !tv_protobuf_take_varint(&cursor, tid) ||
        !tv_protobuf_take_varint(&cursor, &key) || (key & 7) != TV_PROTOBUF_BYTES || key >> 3 < 3 ||
        key >> 32 != 0 || !tv_protobuf_take_varint(&cursor, &length) ||
        length != tv_cursor_left(&cursor))
        return false;
    event->number = (uint32_t)(key >> 3);
    event->wire = TV_PROTOBUF_BYTES;
    event->value = 0;
    event->bytes = (struct tv_bytes){cursor.at, (size_t)length};
    return true;
}

TV_NOINLINE bool tv_pf_event_open(struct tv_bytes bytes, uint64_t *time, uint64_t *tid,
                                  struct tv_protobuf_field *event)
{
    struct tv_pf_message message = tv_pf_message_over(bytes);
    struct tv_protobuf_field field;
    *time = *tid = 0;
    while (tv_pf_next(&message, &field)) {
        if (field.number == 1)
            *time = field.value;
        else if (field.number == 2)
            *tid = field.value;
        else if (field.wire == TV_PROTOBUF_BYTES)
            *event = field;
    }
    return !message.damaged;
}

/* Take one event {1 time, 2 thread, N event}.  A loss is marked at the time of the first event
 * after it: nothing tells when it was. */
static void pf_bundle_take_event(struct tv_pf_bundle *bundle, struct tv_bytes bytes,
                                 uint64_t offset)
{
    struct tv_protobuf_field event = {.number = 0};
    uint64_t time = 0, tid = 0;
    bool sound = pf_event_open_usual(bytes, &time, &tid, &event) ||
                 tv_pf_event_open(bytes, &time, &tid, &event);
    if (TV_UNLIKELY(!sound || event.number == 0 || !tv_pf_is_tid((int32_t)tid))) {
        tv_pf_warn(bundle->reading, TV_DIAGNOSTIC_BAD_FIELDS, offset);
        return;
    }
    struct tv_ft_at at = {tv_pf_bundle_time(bundle->reading, &bundle->clock, time), offset,
                          bundle->cpu, tv_ft_chunk_task(bundle->chunk, (int32_t)tid)};
    if (TV_UNLIKELY(bundle->lost))
        tv_pf_bundle_mark_loss(bundle, at.time);
    tv_ft_chunk_note(bundle->chunk, at.time);
    if (!pf_take_decoded(bundle, &at, &event))
        tv_pf_bundle_take_text(bundle, &at, (int32_t)tid, &event);
}

/* ---- The bundle's own fields ---- */

void tv_pf_describe_event(struct tv_pf_reading *reading, struct tv_bytes descriptor)
{
    uint64_t number = tv_pf_find(descriptor, 1).value;
    struct tv_bytes name = tv_pf_find(tv_pf_find(descriptor, 2).bytes, 1).bytes;
    if (name.length > 0)
        tv_map_set(&tv_pf_bundle_get_state(reading)->described, number, tv_pf_text(reading, name));
}

/* Step over events.  Return true. */
TV_INLINE bool pf_bundle_skip_events(struct tv_pf_message *message)
{
    for (;;) {
        struct tv_cursor cursor = {message->at, message->at, message->end};
        uint64_t length;
        if (cursor.at == cursor.end || *cursor.at++ != (2 << 3 | TV_PROTOBUF_BYTES) ||
            !tv_protobuf_take_varint(&cursor, &length) || length > tv_cursor_left(&cursor))
            return true; /* the caller reads another field, or damage */
        message->at = cursor.at + length;
    }
}

/* Note the time from which on a processor's buffer has all events, as its first bundle tells. */
static void pf_bundle_note_start(struct tv_pf_bundle *bundle, uint64_t start)
{
    struct tv_pf_bundle_state *state = tv_pf_bundle_get_state(bundle->reading);
    bool is_first = !state->begun[bundle->cpu];
    state->begun[bundle->cpu] = 1;
    if (!is_first || start == 0 || start > INT64_MAX)
        return;
    int64_t time = tv_pf_bundle_time(bundle->reading, &bundle->clock, start);
    if (time > state->latest_start)
        state->latest_start = time;
}

void tv_pf_end_bundles(struct tv_pf_reading *reading)
{
    char text[24];
    int64_t start = reading->bundles ? tv_pf_bundle_get_state(reading)->latest_start : 0;
    int length = snprintf(text, sizeof text, "%" PRId64, start);
    if (start > 0)
        tv_pf_add_metadata(reading, "ftrace_latest_data_start_ns",
                           (struct tv_bytes){(uint8_t *)text, (size_t)length});
}

/* Read the fields that are after the events but are needed first. */
static bool pf_bundle_read_head(struct tv_pf_bundle *bundle, struct tv_bytes bytes)
{
    struct tv_pf_message message = tv_pf_message_over(bytes);
    struct tv_protobuf_field field;
    bool has_cpu = false, has_clock = false;
    uint64_t start = 0;
    while (pf_bundle_skip_events(&message) && tv_pf_next(&message, &field))
        switch (field.number) {
        case 1:
            has_cpu = field.value < TV_PF_CPUS;
            bundle->cpu = (uint32_t)field.value;
            break;
        case 3:
            bundle->lost = field.value != 0;
            break;
        case 5:
        case 6:
        case 7:
            has_clock = true;
            break;
        case 9: /* of older recorders: at most one of both is there */
        case 10:
            start = field.value;
            break;
        case 11:
            tv_pf_describe_event(bundle->reading, field.bytes);
            break;
        default:
            break;
        }
    tv_pf_bundle_read_clock(bundle->reading, has_clock ? bytes : (struct tv_bytes){NULL, 0},
                            &bundle->clock);
    if (has_cpu)
        pf_bundle_note_start(bundle, start);
    if (message.damaged)
        tv_pf_warn(bundle->reading, TV_DIAGNOSTIC_BAD_PACKET, bundle->offset);
    return has_cpu;
}

void tv_pf_take_bundle(struct tv_pf_reading *reading, const struct tv_pf_current *packet,
                       struct tv_bytes bytes)
{
    struct tv_pf_bundle bundle = {
        .reading = reading,
        .packet = packet,
        .chunk = reading->chunk,
        .offset = packet->offset,
    };
    struct tv_pf_message message = tv_pf_message_over(bytes);
    struct tv_protobuf_field field;
    if (!pf_bundle_read_head(&bundle, bytes)) {
        tv_pf_warn(reading, TV_DIAGNOSTIC_BAD_PACKET, packet->offset);
        return;
    }
    for (;;) {
        const uint8_t *start = message.at;
        if (!tv_pf_next(&message, &field))
            break;
        if (field.number == 2)
            pf_bundle_take_event(&bundle, field.bytes, tv_pf_offset_of(packet, start));
        else if (field.number == 4)
            tv_pf_bundle_take_compact(&bundle, field.bytes, tv_pf_offset_of(packet, start));
    }
    if (bundle.lost)
        tv_pf_warn(reading, TV_DIAGNOSTIC_EVENTS_LOST, packet->offset);
}
