/* SPDX-License-Identifier: Apache-2.0 */
/*
 * samples.c - samples of stacks, and allocation profiles (docs/formats/perfetto.md sections 9b and
 * 9c).
 *
 *     perf_sample (66)               one sample of a counter or a clock, with one stack
 *     streaming_profile_packet (54)  several samples of one thread, times as steps
 *     profile_packet (37)            a dump of the heap: allocated and unreleased, by stack
 *     stack_sample (135)             in stack_samples.c
 *
 * A stack is interned: its id stands for ids of frames, and those for ids of functions, mappings
 * and paths.  The ids belong to one sequence and to the time until its state is cleared, so they
 * are resolved while the packet is read:
 *
 *     (sequence, id) --> number in reading->profile.stacks --> numbers in reading->profile.frames
 * --> texts
 *
 * Texts, threads and paths get their numbers in the trace only when the chunk is merged.  Until
 * then samples are rows of reading->profile.samples; tv_pf_add_samples renumbers and adds them.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/bytes.h"
#include "base/memory.h"
#include "readers/perfetto/reading.h"

/* Tables of InternedData. */
enum {
    FUNCTION_NAMES = 5,
    FRAMES = 6,
    CALLSTACKS = 7,
    MAPPINGS = 19,
    BUILD_IDS = 16,
    MAPPING_PATHS = 17,
    SOURCE_PATHS = 18,
};

#define DEEPEST 4096

/* ---- Frames ---- */

uint32_t tv_pf_sample_frame(struct tv_pf_reading *reading, const struct tv_pf_sample_frame *frame)
{
    uint32_t words[7] = {frame->name, frame->module,  frame->file,    (uint32_t)frame->line,
                         frame->kind, frame->inlined, frame->category};
    uint32_t number = tv_interner_add(reading->profile.frame_index,
                                      (struct tv_bytes){(const uint8_t *)words, sizeof words}) -
                      1;
    if (number == reading->profile.frames.count)
        *tv_table_add(&reading->profile.frames) = *frame;
    return number;
}

/* Return the path of a mapping: its parts joined with "/". */
static uint32_t pf_mapping_path(struct tv_pf_reading *reading, struct tv_pf_sequence *sequence,
                                uint64_t iid, uint64_t offset)
{
    char path[512];
    size_t length = 0;
    struct tv_pf_interned *entry =
        iid ? tv_pf_interned_find(reading, sequence, MAPPINGS, iid, offset) : NULL;
    if (!entry)
        return TV_EMPTY_STRING;
    struct tv_pf_message message = tv_pf_message_over(tv_interner_get(reading->blobs, entry->blob));
    struct tv_protobuf_field field;
    uint64_t part;
    while (tv_pf_next(&message, &field)) {
        struct tv_pf_numbers numbers = tv_pf_numbers_of(&field, 0);
        while (field.number == 7 && tv_pf_numbers_next(&numbers, &part)) {
            struct tv_bytes name = tv_interner_get(
                reading->chunk->texts,
                tv_pf_interned_text(reading, sequence, MAPPING_PATHS, part, offset));
            int added =
                snprintf(path + length, sizeof path - length, "/%.*s",
                         (int)(name.length < 200 ? name.length : 200), (const char *)name.data);
            length += (size_t)added;
            length = length < sizeof path ? length : sizeof path - 1;
        }
    }
    bool absolute = length > 1 && path[1] == '/';
    return tv_pf_text(reading, (struct tv_bytes){(uint8_t *)path + absolute, length - absolute});
}

/* Return the build ID of a mapping; empty: it has none. */
static struct tv_bytes pf_mapping_build_id(struct tv_pf_reading *reading,
                                           struct tv_pf_sequence *sequence, uint64_t iid,
                                           uint64_t offset)
{
    struct tv_pf_interned *entry =
        iid ? tv_pf_interned_find(reading, sequence, MAPPINGS, iid, offset) : NULL;
    uint64_t id = entry ? tv_pf_find(tv_interner_get(reading->blobs, entry->blob), 2).value : 0;
    entry = id ? tv_pf_interned_find(reading, sequence, BUILD_IDS, id, offset) : NULL;
    return entry ? tv_pf_find(tv_interner_get(reading->blobs, entry->blob), 2).bytes : TV_BYTES("");
}

static enum tv_frame_kind pf_frame_kind(uint64_t kind)
{
    static const uint8_t kinds[] = {TV_FRAME_UNKNOWN,     TV_FRAME_NATIVE, TV_FRAME_KERNEL,
                                    TV_FRAME_INTERPRETED, TV_FRAME_JIT,    TV_FRAME_GC};
    return kind < TV_COUNT(kinds) ? (enum tv_frame_kind)kinds[kind] : TV_FRAME_UNKNOWN;
}

/* Name a frame without a function: "libc.so+0x1234". */
static uint32_t pf_address_name(struct tv_pf_reading *reading, uint32_t module, uint64_t pc)
{
    char text[160];
    struct tv_bytes path = tv_interner_get(reading->chunk->texts, module), base = path;
    for (size_t i = 0; i < path.length; i++)
        if (path.data[i] == '/')
            base = (struct tv_bytes){path.data + i + 1, path.length - i - 1};
    int length =
        snprintf(text, sizeof text, "%.*s+0x%" PRIx64, (int)(base.length < 120 ? base.length : 120),
                 (const char *)base.data, pc);
    return tv_pf_text(reading, (struct tv_bytes){(uint8_t *)text, (size_t)length});
}

/* Read the interned frame with an id.  Return TV_NONE when there is none. */
static uint32_t pf_read_frame(struct tv_pf_reading *reading, struct tv_pf_sequence *sequence,
                              uint64_t iid, uint64_t offset)
{
    struct tv_pf_interned *entry = tv_pf_interned_find(reading, sequence, FRAMES, iid, offset);
    if (!entry)
        return TV_NONE;
    if (entry->text != TV_NONE) /* of frames: the number of the frame */
        return entry->text;
    uint32_t place = (uint32_t)(entry - sequence->entries.rows);
    struct tv_pf_message message = tv_pf_message_over(tv_interner_get(reading->blobs, entry->blob));
    struct tv_protobuf_field field;
    struct tv_pf_sample_frame frame = {.line = 0};
    uint64_t function = 0, mapping = 0, pc = 0;
    while (tv_pf_next(&message, &field))
        switch (field.number) {
        case 2:
            function = field.value;
            break;
        case 3:
            mapping = field.value;
            break;
        case 4:
            pc = field.value;
            break;
        case 5:
            if (field.value != 0)
                frame.file =
                    tv_pf_interned_text(reading, sequence, SOURCE_PATHS, field.value, offset);
            break;
        case 6:
            frame.line = field.value <= INT32_MAX ? (int32_t)field.value : 0;
            break;
        case 7:
            frame.kind = (uint8_t)pf_frame_kind(field.value);
            break;
        case 8:
            frame.category = tv_pf_text(reading, field.bytes);
            break;
        default:
            break;
        }
    frame.module = pf_mapping_path(reading, sequence, mapping, offset);
    uint32_t number = tv_pf_symbolize(
        reading, pf_mapping_build_id(reading, sequence, mapping, offset), pc, &frame);
    if (number == TV_NONE) {
        if (function != 0)
            frame.name = tv_pf_interned_text(reading, sequence, FUNCTION_NAMES, function, offset);
        frame.name = frame.name == TV_EMPTY_STRING
                         ? pf_address_name(reading, frame.module, pc)
                         : tv_pf_original_name(reading, frame.name, frame.module);
        number = tv_pf_sample_frame(reading, &frame);
    }
    sequence->entries.rows[place].text = number;
    return number;
}

void tv_pf_push_frame(struct tv_pf_reading *reading, struct tv_pf_stack *stack, uint32_t frame)
{
    struct tv_pf_profile *profile = &reading->profile;
    profile->stack_frames =
        tv_array_reserve(profile->stack_frames, &profile->stack_frame_capacity,
                         profile->stack_frame_count + 1, sizeof *profile->stack_frames);
    profile->stack_frames[profile->stack_frame_count++] = frame;
    stack->count++;
}

uint32_t tv_pf_read_stack(struct tv_pf_reading *reading, struct tv_pf_sequence *sequence,
                          uint64_t iid, uint64_t offset)
{
    struct tv_pf_interned *entry =
        iid ? tv_pf_interned_find(reading, sequence, CALLSTACKS, iid, offset) : NULL;
    if (!entry)
        return TV_NONE;
    if (entry->text != TV_NONE)
        return entry->text;
    uint32_t place = (uint32_t)(entry - sequence->entries.rows);
    struct tv_pf_message message = tv_pf_message_over(tv_interner_get(reading->blobs, entry->blob));
    struct tv_protobuf_field field;
    uint32_t number = (uint32_t)reading->profile.stacks.count;
    struct tv_pf_stack stack = {(uint32_t)reading->profile.stack_frame_count, 0};
    uint64_t frame_iid;
    while (tv_pf_next(&message, &field)) {
        struct tv_pf_numbers numbers = tv_pf_numbers_of(&field, 0);
        while (field.number == 2 && stack.count < DEEPEST &&
               tv_pf_numbers_next(&numbers, &frame_iid)) {
            uint32_t frame = pf_read_frame(reading, sequence, frame_iid, offset);
            while (frame != TV_NONE && stack.count < DEEPEST) {
                uint32_t inlined = reading->profile.frames.rows[frame].inlined;
                tv_pf_push_frame(reading, &stack, frame);
                frame = inlined - 1; /* 0, none, becomes TV_NONE */
            }
        }
    }
    *tv_table_add(&reading->profile.stacks) = stack;
    sequence->entries.rows[place].text = number;
    return number;
}

/* ---- perf_sample ---- */

/* Take a PerfSample {1 cpu, 2 pid, 3 tid, 4 callstack iid, 17 lost records, 19 producer event}.
 * With one of the last two it is no sample. */
static void pf_take_perf_sample(struct tv_pf_reading *reading, const struct tv_pf_current *packet,
                                struct tv_bytes bytes)
{
    struct tv_pf_message message = tv_pf_message_over(bytes);
    struct tv_protobuf_field field;
    uint64_t stack = 0, tid = 0, pid = 0, cpu = UINT32_MAX;
    bool sample = true;
    while (tv_pf_next(&message, &field)) {
        if (field.number == 1)
            cpu = field.value;
        else if (field.number == 2)
            pid = (uint32_t)field.value;
        else if (field.number == 3)
            tid = (uint32_t)field.value;
        else if (field.number == 4)
            stack = field.value;
        else if (field.number == 17 || field.number == 19)
            sample = false;
        if (field.number == 17)
            tv_pf_warn(reading, TV_DIAGNOSTIC_EVENTS_LOST, packet->offset);
    }
    if (!sample || tid > INT32_MAX)
        return;
    uint32_t task = tv_ft_chunk_task(reading->chunk, (int64_t)tid);
    if (pid != 0 && tid != 0 && pid <= INT32_MAX)
        reading->chunk->tasks.rows[task].tgid = (int64_t)pid;
    reading->chunk->tasks.rows[task].used = true;
    tv_ft_chunk_note(reading->chunk, packet->time);
    tv_pf_count_perf_sample(reading, packet, bytes);
    *tv_table_add(&reading->profile.samples) = (struct tv_pf_sample){
        .time = packet->time,
        .weight = 1,
        .offset = packet->offset,
        .task = task,
        .cpu = cpu < 65536 ? (uint32_t)cpu : TV_NONE,
        .stack = tv_pf_read_stack(reading, packet->sequence, stack, packet->offset),
        .type = tv_pf_perf_event_name(reading, packet->sequence),
        .unit = tv_pf_text(reading, TV_BYTES("samples")),
        .first = true,
    };
}

/* The steps of time of a packet, packed or one by one. */
struct pf_steps {
    struct tv_protobuf_field packed;
    struct tv_pf_numbers numbers;
    struct tv_pf_message message;
};

/* Take the next step; false: there is none. */
static bool pf_steps_next(struct pf_steps *steps, uint64_t *step)
{
    struct tv_protobuf_field field;
    if (steps->packed.wire == TV_PROTOBUF_BYTES)
        return tv_pf_numbers_next(&steps->numbers, step);
    while (steps->packed.wire == TV_PROTOBUF_VARINT && tv_pf_next(&steps->message, &field))
        if (field.number == 2) {
            *step = field.value;
            return true;
        }
    return false;
}

/* Add a sample of a streaming profile. */
static void pf_add_streamed(struct tv_pf_reading *reading, const struct tv_pf_current *packet,
                            uint64_t iid, uint64_t us)
{
    int64_t time = (int64_t)(us * 1000u);
    if (!tv_pf_clocks_convert(&reading->clocks, TV_PF_CLOCK_MONOTONIC, &time))
        return;
    tv_ft_chunk_note(reading->chunk, time);
    *tv_table_add(&reading->profile.samples) = (struct tv_pf_sample){
        .time = time,
        .weight = 1,
        .offset = packet->offset,
        .task = tv_ft_chunk_task(reading->chunk, packet->sequence->thread_tid),
        .cpu = TV_NONE,
        .stack = tv_pf_read_stack(reading, packet->sequence, iid, packet->offset),
        .type = tv_pf_text(reading, TV_BYTES("samples")),
        .unit = tv_pf_text(reading, TV_BYTES("samples")),
        .first = true,
    };
}

/* ---- streaming_profile_packet ---- */

/* Take a packet with several samples: callstack iids (1) and time steps in us (2) run in parallel,
 * each repeated or packed, and the shorter list ends both. Steps add up on the sequence's
 * delta_time, which the next packet of the sequence and delta-timed events go on from. */
static void pf_take_streaming(struct tv_pf_reading *reading, const struct tv_pf_current *packet,
                              struct tv_bytes bytes)
{
    struct tv_pf_message message = tv_pf_message_over(bytes);
    struct tv_protobuf_field field;
    struct tv_pf_sequence *sequence = packet->sequence;
    struct pf_steps steps = {.packed = tv_pf_find(bytes, 2), .message = message};
    uint64_t iid, step, us = (uint64_t)sequence->delta_time;
    steps.numbers = tv_pf_numbers_of(&steps.packed, 0);
    if (sequence->thread_tid == TV_FT_NO_ID) {
        tv_pf_warn(reading, TV_DIAGNOSTIC_SAMPLE_NO_THREAD, packet->offset);
        return;
    }
    while (tv_pf_next(&message, &field)) {
        struct tv_pf_numbers numbers = tv_pf_numbers_of(&field, 0);
        while (field.number == 1 && tv_pf_numbers_next(&numbers, &iid) &&
               pf_steps_next(&steps, &step)) {
            us += step;
            pf_add_streamed(reading, packet, iid, us);
        }
    }
    sequence->delta_time = (int64_t)us;
}

/* ---- profile_packet: allocations ---- */

static void pf_add_allocation(struct tv_pf_reading *reading, const struct tv_pf_sample *sample,
                              const char *name, const char *unit, int64_t weight)
{
    struct tv_pf_sample *added = tv_table_add(&reading->profile.samples);
    *added = *sample;
    added->weight = weight;
    added->type = tv_pf_text(reading, tv_bytes_of(name));
    added->unit = tv_pf_text(reading, tv_bytes_of(unit));
}

static int64_t pf_weight(uint64_t value)
{
    return value > INT64_MAX ? INT64_MAX : (int64_t)value;
}

/* Fields of HeapSample: what was allocated and freed in all, or what was in use when the heap was
 * largest, if the recording asked for that (dump_at_max). */
enum {
    HEAP_STACK = 1,
    HEAP_ALLOCATED = 2,
    HEAP_FREED = 3,
    HEAP_ALLOCATIONS = 5,
    HEAP_FREES = 6,
    HEAP_MAX = 8,
    HEAP_MAX_COUNT = 9
};

/* The process and the heap that a dump is of, and what its samples have in common. */
struct pf_heap_dump {
    uint64_t pid;
    uint32_t sequence;
    uint32_t heap; /* text */
    struct tv_pf_sample sample;
};

/* Return the figures that the last dump of a heap told of a stack.  A recorder keeps the ids of
 * stacks; frames tell less, because those of one function at two addresses are one here. */
static struct tv_pf_heap_figures *pf_heap_last(struct tv_pf_profile *profile,
                                               const struct pf_heap_dump *dump, uint64_t stack)
{
    const uint32_t key[] = {dump->sequence, (uint32_t)dump->pid, dump->heap, (uint32_t)stack,
                            (uint32_t)(stack >> 32)};
    uint32_t number =
        tv_interner_add(profile->heap_index, (struct tv_bytes){(const uint8_t *)key, sizeof key}) -
        1;
    if (number == profile->heap_figures.count)
        *tv_table_add(&profile->heap_figures) = (struct tv_pf_heap_figures){0};
    return &profile->heap_figures.rows[number];
}

/* Return what came since the last dump.  Figures that went down begin anew. */
static struct tv_pf_heap_figures pf_heap_since(const struct tv_pf_heap_figures *now,
                                               const struct tv_pf_heap_figures *last)
{
    if (now->allocated < last->allocated || now->allocations < last->allocations ||
        now->freed < last->freed || now->frees < last->frees)
        return *now;
    return (struct tv_pf_heap_figures){
        .allocated = now->allocated - last->allocated,
        .allocations = now->allocations - last->allocations,
        .freed = now->freed - last->freed,
        .frees = now->frees - last->frees,
    };
}

/* Read what a HeapSample tells of its stack. */
static struct tv_pf_heap_figures pf_heap_read(struct tv_bytes bytes, uint64_t *stack)
{
    struct tv_pf_message message = tv_pf_message_over(bytes);
    struct tv_protobuf_field field;
    uint64_t numbers[HEAP_MAX_COUNT + 1] = {0};
    while (tv_pf_next(&message, &field))
        if (field.number < TV_COUNT(numbers))
            numbers[field.number] = field.value;
    if (numbers[HEAP_ALLOCATED] == 0) {
        numbers[HEAP_ALLOCATED] = numbers[HEAP_MAX];
        numbers[HEAP_ALLOCATIONS] = numbers[HEAP_MAX_COUNT];
    }
    *stack = numbers[HEAP_STACK];
    return (struct tv_pf_heap_figures){
        .allocated = pf_weight(numbers[HEAP_ALLOCATED]),
        .allocations = pf_weight(numbers[HEAP_ALLOCATIONS]),
        .freed = pf_weight(numbers[HEAP_FREED]),
        .frees = pf_weight(numbers[HEAP_FREES]),
    };
}

/* Add the rows of one stack of a dump: allocated and unreleased bytes and counts.  A heap may be
 * dumped again and again, each time with all since the beginning: rows tell what came since the
 * dump before, so that their sums are right. */
static void pf_take_heap_sample(struct tv_pf_reading *reading, const struct tv_pf_current *packet,
                                struct tv_bytes bytes, struct pf_heap_dump *dump)
{
    struct tv_pf_sample *sample = &dump->sample;
    uint64_t stack;
    struct tv_pf_heap_figures now = pf_heap_read(bytes, &stack);
    sample->stack = tv_pf_read_stack(reading, packet->sequence, stack, packet->offset);
    struct tv_pf_heap_figures *last = pf_heap_last(&reading->profile, dump, stack);
    struct tv_pf_heap_figures since = pf_heap_since(&now, last);
    *last = now;
    sample->first = true;
    pf_add_allocation(reading, sample, "alloc_space", "bytes", since.allocated);
    sample->first = false;
    pf_add_allocation(reading, sample, "alloc_objects", "count", since.allocations);
    pf_add_allocation(reading, sample, "inuse_space", "bytes", since.allocated - since.freed);
    pf_add_allocation(reading, sample, "inuse_objects", "count", since.allocations - since.frees);
}

/* Take the heap samples of a process {1 pid, 2 samples, 9 time}. */
static void pf_take_process_dump(struct tv_pf_reading *reading, const struct tv_pf_current *packet,
                                 struct tv_bytes bytes)
{
    struct tv_pf_message message = tv_pf_message_over(bytes);
    struct tv_protobuf_field field;
    uint64_t raw = tv_pf_find(bytes, 9).value;
    struct pf_heap_dump dump = {
        .pid = tv_pf_find(bytes, 1).value,
        .sequence = packet->sequence->id,
        .heap = tv_pf_text(reading, tv_pf_find(bytes, 11).bytes),
        .sample = {.time = packet->time, .offset = packet->offset, .cpu = TV_NONE},
    };
    struct tv_pf_sample *sample = &dump.sample;
    int64_t time = (int64_t)raw;
    if (dump.pid > INT32_MAX)
        return;
    if (raw != 0 && tv_pf_clocks_convert(&reading->clocks, TV_PF_CLOCK_MONOTONIC, &time))
        sample->time = time;
    sample->task = tv_ft_chunk_task(reading->chunk, (int64_t)dump.pid);
    reading->chunk->tasks.rows[sample->task].tgid = (int64_t)dump.pid;
    reading->chunk->tasks.rows[sample->task].used = true;
    tv_ft_chunk_note(reading->chunk, sample->time);
    while (tv_pf_next(&message, &field))
        if (field.number == 2)
            pf_take_heap_sample(reading, packet, field.bytes, &dump);
}

/* Take a ProfilePacket.  Old recorders put the tables of names into it, which then hold for its
 * sequence as interned data. */
static void pf_take_profile(struct tv_pf_reading *reading, const struct tv_pf_current *packet,
                            struct tv_bytes bytes)
{
    /* Old recorders put the tables into the packet; one of strings serves functions and mappings.
     */
    static const uint8_t tables[] = {0, FUNCTION_NAMES, FRAMES, CALLSTACKS, MAPPINGS};
    static const uint8_t others[] = {MAPPING_PATHS, BUILD_IDS};
    struct tv_pf_message message = tv_pf_message_over(bytes);
    struct tv_protobuf_field field;
    while (tv_pf_next(&message, &field)) {
        if (field.number == 0 || field.number >= TV_COUNT(tables) ||
            field.wire != TV_PROTOBUF_BYTES)
            continue;
        tv_pf_sequence_intern_entry(reading, packet->sequence, tables[field.number], field.bytes,
                                    packet->offset);
        for (size_t i = 0; field.number == 1 && i < TV_COUNT(others); i++)
            tv_pf_sequence_intern_entry(reading, packet->sequence, others[i], field.bytes,
                                        packet->offset);
    }
    message = tv_pf_message_over(bytes);
    while (tv_pf_next(&message, &field))
        if (field.number == 5)
            pf_take_process_dump(reading, packet, field.bytes);
}

bool tv_pf_take_sample(struct tv_pf_reading *reading, const struct tv_pf_current *packet,
                       const struct tv_protobuf_field *payload)
{
    switch (payload->number) {
    case 66:
        pf_take_perf_sample(reading, packet, payload->bytes);
        return true;
    case 54:
        pf_take_streaming(reading, packet, payload->bytes);
        return true;
    case 37:
        pf_take_profile(reading, packet, payload->bytes);
        return true;
    case 135:
        tv_pf_take_stack_sample(reading, packet, payload->bytes);
        return true;
    default:
        return false;
    }
}

/* ---- After the merge ---- */

/* Return the frames of the trace for those of the samples. */
static uint32_t *pf_number_sample_frames(struct tv_pf_reading *reading, struct tv_ft_merge *merge)
{
    const uint32_t *texts = merge->numbers[0].texts;
    uint32_t *numbers = tv_alloc(reading->profile.frames.count, sizeof *numbers);
    for (size_t i = 0; i < reading->profile.frames.count; i++) {
        const struct tv_pf_sample_frame *frame = &reading->profile.frames.rows[i];
        struct tv_frame added = {
            .name = texts[frame->name],
            .module = texts[frame->module],
            .file = texts[frame->file],
            .category = texts[frame->category],
            .line = frame->line,
            .kind = frame->kind,
        };
        numbers[i] = tv_trace_info_add_native_frame(merge->trace->head, &added);
    }
    return numbers;
}

/* Return the paths of the trace for the stacks. */
static uint32_t *pf_number_stacks(const struct tv_pf_reading *reading, struct tv_ft_merge *merge,
                                  const uint32_t *frames)
{
    uint32_t *paths = tv_alloc(reading->profile.stacks.count, sizeof *paths);
    for (size_t i = 0; i < reading->profile.stacks.count; i++) {
        const struct tv_pf_stack *stack = &reading->profile.stacks.rows[i];
        paths[i] = TV_ROOT_PATH;
        for (uint32_t k = 0; k < stack->count; k++)
            paths[i] = tv_paths_child(&merge->trace->paths, paths[i],
                                      frames[reading->profile.stack_frames[stack->first + k]]);
    }
    return paths;
}

void tv_pf_add_samples(struct tv_pf_reading *reading, struct tv_ft_merge *merge)
{
    const uint32_t *texts = merge->numbers[0].texts;
    uint32_t *frames = pf_number_sample_frames(reading, merge);
    uint32_t *paths = pf_number_stacks(reading, merge, frames);
    struct tv_tables *tables = &merge->trace->tables;
    for (size_t i = 0; i < reading->profile.samples.count; i++) {
        const struct tv_pf_sample *sample = &reading->profile.samples.rows[i];
        uint32_t path = sample->stack == TV_NONE ? TV_ROOT_PATH : paths[sample->stack];
        uint32_t type =
            tv_tables_value_type(tables, merge->input, texts[sample->type], texts[sample->unit]);
        *tv_table_add(&tables->samples) = (struct tv_sample){
            .time = sample->time,
            .weight = sample->weight,
            .offset = sample->offset,
            .thread = sample->task == TV_NONE ? TV_NONE : merge->numbers[0].threads[sample->task],
            .cpu = sample->cpu,
            .path = path,
            .line_path = path,
            .type = type,
            .input = merge->input,
        };
        merge->trace->head->inputs[merge->input].samples += sample->first;
    }
    tv_free(frames);
    tv_free(paths);
}
