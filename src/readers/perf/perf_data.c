/* SPDX-License-Identifier: Apache-2.0 */
/*
 * perf_data.c - samples of perf.data files (docs/formats/perf-data.md).
 *
 *     list     all records once, to find their times; features, events and value types on the way
 *     sort     by time, stable
 *     take     each record in that order: names (COMM), new processes (FORK), mappings (MMAP),
 *              samples
 *
 * Sorting comes first because each processor has a buffer of its own, and the buffers stand one
 * after another in the file: the mapping that names an address may stand megabytes after the
 * sample.  Only (time, offset) of a record is kept, never the record.
 *
 *     address --> mapping of the process at that time --> offset in the file of the mapping
 *             --> symbols that the user gave, else those of the program with that build ID on this
 *                 machine, both with inlined functions; else symbols of the file, else
 *                 "libc.so.6+0x1098d9"
 *
 * All addresses of a chain but the first are return addresses: the call is before them, so they
 * are looked up one byte earlier.  The last 4095 numbers (TV_PERF_FIRST_CONTEXT) are not
 * addresses: they say in which mode (kernel, program, guest) the following addresses are.
 */
#include "readers/readers.h"

#include <assert.h>
#include <stdio.h>

#include "base/hash.h"
#include "base/memory.h"
#include "base/sort.h"
#include "readers/perf/off_cpu.h"
#include "readers/perf/perf_data.h"
#include "readers/perf/perf_sched.h"
#include "readers/perf/script_line.h"
#include "readers/profile_input.h"

/* Set in `misc` of the name of a process that now runs another program. */
#define COMM_EXEC (1u << 13)

/* Set in `misc` of a switch from a thread. */
#define SWITCH_OUT (1u << 13)

/* Bits of an attribute's flags. */
#define INHERIT (UINT64_C(1) << 1)
#define FREQUENCY (UINT64_C(1) << 10)
#define NAME_SIZE 128
#define RECORD_TYPES 256 /* counted apart; the kernel and perf have fewer than 100 */

/* From here on addresses are the kernel's. */
#define KERNEL_START UINT64_C(0xffff800000000000)

#define KERNEL_MODULE TV_BYTES("[kernel.kallsyms]")

/* A function at an address, and the line there; those of one address follow each other, the
 * innermost inlined one first. */
struct perf_frame {
    uint32_t frame;
    int32_t line; /* 0: unknown */
    bool last;
};

/* The last reading of a counter. */
struct perf_counted {
    uint64_t value, lost;
};

/* State of reading a file.  The maps answer for a string or a place what was found out once. */
struct perf_data {
    struct tv_perf_data_file file;
    struct tv_perf_symbols symbols;
    struct tv_perf_build_ids build_ids;
    struct tv_perf_data_spaces spaces;
    struct tv_profile_input profile;
    struct tv_map modules;     /* string of a path -> module of the symbols */
    struct tv_map build_id_of; /* string of a path -> its number in `build_ids` */
    struct tv_map frames;      /* hash of a struct perf_place -> its first one in `named` */
    struct perf_frame *named;
    size_t named_count, named_capacity;
    struct tv_map comms;       /* pid << 32 | tid -> string */
    struct tv_sort_key *order; /* time and offset of the records that matter */
    size_t order_count, order_capacity;
    struct tv_map counter_places; /* hash of an event's id, and perhaps a thread -> in `counters` */
    struct perf_counted *counters;
    size_t counter_count, counter_capacity;
    uint64_t types[RECORD_TYPES];         /* number of records of each type */
    uint32_t *value_types;                /* per attribute */
    struct tv_perf_sched_format *formats; /* per attribute; tid.size 0: not the scheduler's */
    struct tv_map processes;              /* thread -> process */
    struct tv_perf_sched sched;
    uint32_t first_event; /* first attribute that has samples; TV_NONE: none */
    bool traces_off_cpu;  /* simpleperf record --trace-offcpu */
    struct tv_off_cpu off_cpu;
};

static void perf_data_warn(struct perf_data *data, enum tv_diagnostic_kind kind, uint64_t offset)
{
    tv_profile_warn(&data->profile, kind, offset);
}

/* ---- Before the samples ---- */

/* Take what a record of a pipe says about the whole file. */
static void perf_data_take_setting(struct perf_data *data, const struct tv_perf_raw *record)
{
    if (record->type == TV_PERF_ATTR)
        tv_perf_file_take_attr(&data->file, record->payload);
    else if (record->type == TV_PERF_FEATURE)
        tv_perf_file_take_feature(&data->file, record->payload);
    else if (record->type == TV_PERF_EVENT_UPDATE)
        tv_perf_file_take_update(&data->file, record->payload);
    else if (record->type == TV_PERF_TRACING_DATA)
        data->file.features[TV_PERF_FEATURE_TRACING_DATA] = record->behind;
    else if (record->type == TV_PERF_BUILD_ID)
        tv_perf_build_ids_add(&data->build_ids, record->misc, record->payload);
}

/* Count a record by its type, and diagnose what it says to be missing. */
static void perf_data_count_record(struct perf_data *data, const struct tv_perf_raw *record)
{
    if (record->type < RECORD_TYPES)
        data->types[record->type]++;
    if (record->type == TV_PERF_COMPRESSED || record->type == TV_PERF_COMPRESSED2)
        perf_data_warn(data, TV_DIAGNOSTIC_RECORDS_PACKED, record->offset);
    if (record->type == TV_PERF_LOST || record->type == TV_PERF_LOST_SAMPLES)
        perf_data_warn(data, TV_DIAGNOSTIC_EVENTS_LOST, record->offset);
}

/* Return true for records that matter for samples. */
static bool perf_data_wants(const struct perf_data *data, uint32_t type)
{
    if (type == TV_PERF_SWITCH)
        return data->traces_off_cpu;
    return type == TV_PERF_SAMPLE || type == TV_PERF_COMM || type == TV_PERF_FORK ||
           type == TV_PERF_MMAP || type == TV_PERF_MMAP2;
}

/* List the records by time: the buffers of several processors stand one after another, and a
 * mapping in one is needed for a sample in another. */
static enum tv_status perf_data_list_records(struct perf_data *data, struct tv_progress *progress,
                                             struct tv_error *err)
{
    struct tv_cursor cursor = tv_cursor_over(data->file.records);
    struct tv_perf_raw record;
    enum tv_status status = TV_OK;
    bool cut;
    while (status == TV_OK && tv_perf_take_record(&data->file, &cursor, &record, &cut)) {
        perf_data_take_setting(data, &record);
        perf_data_count_record(data, &record);
        if (!perf_data_wants(data, record.type))
            continue;
        data->order = tv_array_reserve(data->order, &data->order_capacity, data->order_count + 1,
                                       sizeof *data->order);
        data->order[data->order_count++] =
            (struct tv_sort_key){tv_perf_record_time(&data->file, &record), record.offset};
        if (data->order_count % 1024 == 0)
            status = tv_reader_check_cancel(progress, err);
    }
    if (cut)
        perf_data_warn(data, TV_DIAGNOSTIC_TRUNCATED, data->file.records.length);
    tv_sort_keys(data->order, data->order_count);
    return status;
}

/* Add a value type for each event. Its unit is that of the period, if samples have one or all have
 * the same; otherwise a sample counts as one. */
static void perf_data_add_types(struct perf_data *data)
{
    data->value_types = tv_alloc(data->file.attr_count, sizeof *data->value_types);
    for (size_t i = 0; i < data->file.attr_count; i++) {
        const struct tv_perf_attr *attr = &data->file.attrs[i];
        char text[NAME_SIZE];
        struct tv_bytes name = {(const uint8_t *)text, tv_perf_attr_name(attr, text, sizeof text)};
        bool weighed = (attr->sample_type & (TV_PERF_HAS_PERIOD | TV_PERF_HAS_READ)) ||
                       !(attr->flags & FREQUENCY);
        data->value_types[i] = tv_profile_value_type(
            &data->profile, name, weighed ? tv_perf_unit(name) : TV_BYTES("count"));
    }
}

/* Find the fields of the scheduler's tracepoints among the events.  simpleperf's --trace-offcpu has
 * switches of its own. */
static void perf_data_find_formats(struct perf_data *data)
{
    data->formats = tv_alloc(data->file.attr_count, sizeof *data->formats);
    for (size_t i = 0; i < data->file.attr_count && !data->traces_off_cpu; i++) {
        char text[NAME_SIZE];
        struct tv_bytes name = {(const uint8_t *)text,
                                tv_perf_attr_name(&data->file.attrs[i], text, sizeof text)};
        if (!tv_perf_sched_find_format(data->file.features[TV_PERF_FEATURE_TRACING_DATA], name,
                                       &data->formats[i]))
            data->formats[i] = (struct tv_perf_sched_format){.tid = {.size = 0}};
    }
}

/* Read the symbols that the file has, and find its modules by path. */
static void perf_data_index_modules(struct perf_data *data)
{
    tv_perf_symbols_read(&data->symbols, &data->file);
    for (size_t i = 0; i < data->symbols.module_count; i++)
        tv_map_set(&data->modules, tv_profile_string(&data->profile, data->symbols.modules[i].path),
                   (uint32_t)i);
    for (size_t i = 0; i < data->symbols.damaged; i++)
        perf_data_warn(data, TV_DIAGNOSTIC_BAD_PACKET, TV_NO_OFFSET);
}

/* Read the list of build IDs, and find them by path. */
static void perf_data_index_build_ids(struct perf_data *data)
{
    if (!tv_perf_build_ids_read(&data->build_ids, data->file.features[TV_PERF_FEATURE_BUILD_IDS]))
        perf_data_warn(data, TV_DIAGNOSTIC_BAD_PACKET, TV_NO_OFFSET);
    for (size_t i = 0; i < data->build_ids.count; i++)
        tv_map_set(&data->build_id_of,
                   tv_profile_string(&data->profile, data->build_ids.ids[i].path), (uint32_t)i);
}

/* ---- Frames ---- */

/* An address on a stack, and where it is in its file. */
struct perf_place {
    uint32_t module;  /* string; empty: unknown */
    uint64_t address; /* as on the stack */
    uint64_t offset;  /* in the file */
    uint64_t start, page_offset;
    uint64_t length;          /* length of the mapping */
    struct tv_bytes build_id; /* empty: unknown */
    bool kernel;
    bool caller; /* a return address: the call is before it */
};

/* Find where an address is mapped now. Kernel code is looked up in the kernel's space, even if the
 * mode is missing: its addresses are in the upper half. */
static struct perf_place perf_data_find_place(struct perf_data *data, uint32_t pid,
                                              enum tv_perf_mode mode, uint64_t address)
{
    bool kernel = mode == TV_PERF_MODE_KERNEL || mode == TV_PERF_MODE_GUEST_KERNEL ||
                  mode == TV_PERF_MODE_HYPERVISOR || address >= KERNEL_START;
    const struct perf_mapped *mapped =
        tv_perf_data_spaces_find(&data->spaces, kernel ? TV_PERF_KERNEL_PID : pid, address);
    struct perf_place place = {.address = address, .offset = address, .kernel = kernel};
    if (mapped) {
        place.module = mapped->module;
        place.offset = address + mapped->move;
        place.start = mapped->start;
        place.page_offset = mapped->start + mapped->move;
        place.length = mapped->end - mapped->start;
        place.build_id = mapped->build_id;
    } else if (kernel) {
        place.module = tv_profile_string(&data->profile, KERNEL_MODULE);
    }
    return place;
}

/* Name a place by the symbols of the file. */
static bool perf_data_name_by_symbol(struct perf_data *data, const struct perf_place *place,
                                     struct tv_frame *frame, uint64_t *address)
{
    uint32_t number = tv_map_find(&data->modules, place->module);
    if (number == TV_NONE)
        return false;
    const struct perf_module *module = &data->symbols.modules[number];
    *address = tv_perf_module_address(module, place->address, place->start, place->page_offset);
    const struct perf_symbol *symbol =
        tv_perf_symbols_find(&data->symbols, module, *address - place->caller);
    if (symbol)
        frame->name = tv_profile_string(&data->profile, symbol->name);
    return symbol != NULL;
}

static void perf_data_add_frame(struct perf_data *data, const struct tv_frame *frame, int32_t line,
                                bool last)
{
    data->named = tv_array_reserve(data->named, &data->named_capacity, data->named_count + 1,
                                   sizeof *data->named);
    data->named[data->named_count++] =
        (struct perf_frame){tv_trace_info_add_native_frame(data->profile.info, frame), line, last};
}

/* Add the function at a place, and those inlined there, by a program that the user gave or that
 * this machine has.  Return false when the function is unknown. */
static bool perf_data_add_frames(struct perf_data *data, const struct perf_place *place,
                                 struct tv_bytes path, const struct tv_frame *unnamed)
{
    struct tv_trace_info *info = data->profile.info;
    struct tv_address_place found[TV_ADDRESS_PLACES];
    struct tv_mapped_address address = {
        .path = path,
        .build_id = place->build_id,
        .offset = place->offset - place->caller,
        .map_offset = place->page_offset,
        .map_length = place->length,
    };
    size_t count = info->namer && !place->kernel
                       ? info->namer->find_mapped(info->namer, &address, found, TV_COUNT(found))
                       : 0;
    if (count == 0 || found[count - 1].function.length == 0)
        return false;
    for (size_t i = 0; i < count; i++) {
        struct tv_frame frame = *unnamed;
        bool last = i + 1 == count;
        frame.name = tv_profile_string(&data->profile, found[i].function);
        frame.signature = tv_profile_string(&data->profile, found[i].signature);
        frame.file = tv_profile_string(&data->profile, found[i].declared);
        frame.kind = last ? unnamed->kind : TV_FRAME_INLINED;
        perf_data_add_frame(data, &frame, found[i].line, last);
    }
    return true;
}

/* Write "libc.so.6+0x1098d9". */
static uint32_t perf_data_write_name(struct perf_data *data, struct tv_bytes base, uint64_t address)
{
    struct tv_out out;
    tv_out_init_memory(&out);
    tv_out_bytes(&out, base);
    tv_out_format(&out, "+0x%llx", (unsigned long long)address);
    uint32_t name = tv_profile_string(&data->profile, (struct tv_bytes){out.buffer, out.length});
    tv_out_release(&out);
    return name;
}

/* Name a place by the best that there is (see the head of this file).  The functions there are
 * appended to data->named. */
static void perf_data_name_place(struct perf_data *data, const struct perf_place *place)
{
    struct tv_bytes path = tv_trace_info_text(data->profile.info, place->module);
    struct tv_bytes base = tv_bytes_base_name(path);
    uint64_t address = place->kernel ? place->address : place->offset;
    struct tv_frame frame = {.module = place->module};
    frame.kind = (uint8_t)(place->kernel ? TV_FRAME_KERNEL : tv_perf_frame_kind(path, 0));
    if (place->module == TV_EMPTY_STRING)
        frame.name = tv_profile_string(&data->profile, TV_BYTES("[unknown]"));
    else if (perf_data_add_frames(data, place, path, &frame))
        return;
    else if (!perf_data_name_by_symbol(data, place, &frame, &address))
        frame.name = perf_data_write_name(data, base, address);
    perf_data_add_frame(data, &frame, 0, true);
}

/* Return the number of the first function at a place in data->named; each place is named once. The
 * same offset of a file can have several names, in another mapping or as a return address, so the
 * key has all of these. */
static uint32_t perf_data_find_frames(struct perf_data *data, const struct perf_place *place)
{
    uint64_t key[] = {place->module,      place->offset, place->start,
                      place->page_offset, place->caller, tv_hash_bytes(place->build_id)};
    uint64_t hash = tv_hash_bytes((struct tv_bytes){(const uint8_t *)key, sizeof key});
    uint32_t first = tv_map_add(&data->frames, hash, (uint32_t)data->named_count);
    if (first == data->named_count)
        perf_data_name_place(data, place);
    assert(first < data->named_count);
    return first;
}

/* ---- Samples ---- */

/* The frames of a sample, leaf first. */
struct perf_stack {
    struct perf_frame *frames;
    size_t count, capacity;
};

/* Add the functions at a place. */
static void perf_stack_add(struct perf_stack *stack, struct perf_data *data,
                           const struct perf_place *place)
{
    uint32_t number = perf_data_find_frames(data, place);
    do {
        stack->frames = tv_array_reserve(stack->frames, &stack->capacity, stack->count + 1,
                                         sizeof *stack->frames);
        stack->frames[stack->count++] = data->named[number];
    } while (!data->named[number++].last);
}

/* Add the frames of a chain.  All but the first are return addresses.  Return how many of them are
 * of the program, not of the kernel. */
static size_t perf_data_take_chain(struct perf_data *data, const struct tv_perf_sample *sample,
                                   struct perf_stack *stack)
{
    struct tv_cursor cursor = tv_cursor_over(sample->chain);
    enum tv_perf_mode mode = sample->mode;
    uint64_t address;
    size_t of_program = 0;
    while (tv_cursor_take_u64(&cursor, &address)) {
        if (address >= TV_PERF_FIRST_CONTEXT) {
            mode = tv_perf_context_mode(address, mode);
            continue;
        }
        struct perf_place place = perf_data_find_place(data, sample->pid, mode, address);
        place.caller = stack->count > 0 && address > 0;
        perf_stack_add(stack, data, &place);
        of_program += !place.kernel;
    }
    if (stack->count == 0 && sample->has_ip) {
        struct perf_place place = perf_data_find_place(data, sample->pid, mode, sample->ip);
        perf_stack_add(stack, data, &place);
    }
    return of_program;
}

/* Return the thread of a sample, with the names that it and its process have at that time. */
static uint32_t perf_data_thread(struct perf_data *data, uint32_t pid, uint32_t tid)
{
    uint32_t comm = tv_map_find(&data->comms, (uint64_t)pid << 32 | tid);
    uint32_t process_comm = tv_map_find(&data->comms, (uint64_t)pid << 32 | pid);
    struct tv_trace_info *info = data->profile.info;
    struct tv_bytes name = tv_trace_info_text(info, comm == TV_NONE ? TV_EMPTY_STRING : comm);
    struct tv_bytes process_name =
        tv_trace_info_text(info, process_comm == TV_NONE ? TV_EMPTY_STRING : process_comm);
    return tv_profile_thread(&data->profile, tv_profile_process(&data->profile, pid, process_name),
                             tid, name);
}

/* A sample stands for its period. With a frequency (-F) the kernel changes the period all the time
 * and may not record it: then the sample counts as one. */
static int64_t perf_data_weight(const struct tv_perf_sample *sample)
{
    uint64_t period = sample->period;
    if (!(sample->attr->sample_type & TV_PERF_HAS_PERIOD) && !(sample->attr->flags & FREQUENCY))
        period = sample->attr->period;
    return period > INT64_MAX ? INT64_MAX : (int64_t)period;
}

/* Add the value of a sample to the type of an event. */
static void perf_data_add_value(struct perf_data *data, struct tv_sample added, uint32_t event)
{
    struct tv_tables *tables = &data->profile.trace->tables;
    added.type = data->value_types[event];
    uint32_t name = tables->value_types.rows[added.type].name;
    tv_profile_add_sample(&data->profile, added);
    data->first_event = event < data->first_event ? event : data->first_event;
    if (data->traces_off_cpu)
        tv_off_cpu_note_sample(
            &data->off_cpu, &data->profile, &added,
            tv_bytes_equal(tv_trace_info_text(data->profile.info, name), TV_OFF_CPU_EVENT));
    tv_tables_count_events(tables, data->profile.input, name, 1);
}

/* Return by how much a counter has grown since it was read last.  With `inherit` each thread has a
 * counter of its own under the id of the event. */
static uint64_t perf_data_count_growth(struct perf_data *data, const struct tv_perf_sample *sample,
                                       const struct tv_perf_counter *counter, uint64_t offset)
{
    uint64_t key[] = {counter->id, sample->attr->flags & INHERIT ? sample->tid : 0};
    uint64_t hash = tv_hash_bytes((struct tv_bytes){(const uint8_t *)key, sizeof key});
    uint32_t place = tv_map_add(&data->counter_places, hash, (uint32_t)data->counter_count);
    if (place == data->counter_count) {
        data->counters = tv_array_reserve(data->counters, &data->counter_capacity,
                                          data->counter_count + 1, sizeof *data->counters);
        data->counters[data->counter_count++] = (struct perf_counted){.value = 0};
    }
    struct perf_counted *counted = &data->counters[place];
    uint64_t growth = counter->value > counted->value ? counter->value - counted->value : 0;
    if (counter->lost > counted->lost)
        perf_data_warn(data, TV_DIAGNOSTIC_EVENTS_LOST, offset);
    *counted = (struct perf_counted){counter->value, counter->lost};
    return growth;
}

/* Add what the events of a group have counted since the sample before, each by its own type, as
 * perf does; an event that counted nothing has no sample.  False: no event of the sample is known.
 */
static bool perf_data_take_counters(struct perf_data *data, const struct tv_perf_sample *sample,
                                    struct tv_sample added)
{
    struct tv_perf_read read;
    struct tv_perf_counter counter;
    bool known = false;
    if (!tv_perf_read_begin(sample, &read)) {
        if (read.count > 1)
            perf_data_warn(data, TV_DIAGNOSTIC_GROUP_UNREAD, added.offset);
        return false;
    }
    if (read.running < read.enabled)
        perf_data_warn(data, TV_DIAGNOSTIC_GROUP_PARTIAL, added.offset);
    while (tv_perf_read_next(&read, &counter)) {
        uint32_t event = tv_map_find(&data->file.ids, counter.id);
        if (event == TV_NONE) {
            perf_data_warn(data, TV_DIAGNOSTIC_GROUP_UNREAD, added.offset);
            continue;
        }
        uint64_t growth = perf_data_count_growth(data, sample, &counter, added.offset);
        added.weight = growth > INT64_MAX ? INT64_MAX : (int64_t)growth;
        if (growth > 0)
            perf_data_add_value(data, added, event);
        known = true;
    }
    return known;
}

/* Note what a tracepoint of the scheduler says beside being a sample. */
static void perf_data_note_switch(struct perf_data *data, const struct tv_perf_sample *sample,
                                  const struct tv_sample *added)
{
    const struct tv_perf_sched_format *format = &data->formats[sample->event];
    struct tv_perf_sched_event event = {
        .time = added->time, .offset = added->offset, .cpu = added->cpu, .by = sample->tid};
    struct tv_bytes name;
    if (format->tid.size == 0 || !sample->has_time ||
        !tv_perf_sched_decode(format, sample->raw, &event, &name))
        return;
    event.name = tv_profile_string(&data->profile, name);
    *tv_table_add(&data->sched.events) = event;
}

/* Add a sample: its stack from the outermost frame in, and its weight by the type of its event. */
static void perf_data_take_sample(struct perf_data *data, const struct tv_perf_raw *record,
                                  struct perf_stack *stack)
{
    struct tv_perf_sample sample;
    if (!tv_perf_parse_sample(&data->file, record, &sample)) {
        perf_data_warn(data, TV_DIAGNOSTIC_BAD_PACKET, record->offset);
        return;
    }
    stack->count = 0;
    /* simpleperf unwinds the copies of stacks itself, and then there are chains. */
    if (perf_data_take_chain(data, &sample, stack) <= 1 && sample.has_stack)
        perf_data_warn(data, TV_DIAGNOSTIC_STACK_COPIED, record->offset);
    tv_profile_stack_begin(&data->profile);
    for (size_t i = stack->count; i > 0; i--)
        tv_profile_stack_push(&data->profile, stack->frames[i - 1].frame,
                              stack->frames[i - 1].line);
    struct tv_sample added = {
        .time = sample.time > INT64_MAX ? INT64_MAX : (tv_ns)sample.time,
        .weight = perf_data_weight(&sample),
        .offset = record->offset,
        .thread = perf_data_thread(data, sample.pid, sample.tid),
        .cpu = sample.cpu,
    };
    if (!perf_data_take_counters(data, &sample, added))
        perf_data_add_value(data, added, sample.event);
    perf_data_note_switch(data, &sample, &added);
    data->profile.info->inputs[data->profile.input].samples++;
}

/* ---- Processes ---- */

/* Take the name of a thread {u32 pid, u32 tid, text}.  After an exec the mappings are those of
 * another program. */
static void perf_data_take_comm(struct perf_data *data, const struct tv_perf_raw *record)
{
    struct tv_cursor cursor = tv_cursor_over(record->payload);
    struct tv_bytes name;
    uint32_t pid, tid;
    if (!tv_cursor_take_u32(&cursor, &pid) || !tv_cursor_take_u32(&cursor, &tid) ||
        !tv_cursor_take_bytes(&cursor, tv_cursor_left(&cursor), &name)) {
        perf_data_warn(data, TV_DIAGNOSTIC_BAD_PACKET, record->offset);
        return;
    }
    if (pid != TV_NONE)
        tv_map_set(&data->processes, tid, pid);
    tv_map_set(&data->comms, (uint64_t)pid << 32 | tid,
               tv_profile_string(&data->profile, tv_perf_text(name)));
    if (record->misc & COMM_EXEC)
        tv_perf_data_spaces_clear(&data->spaces, pid);
}

/* A thread begins with the name of its parent, and a process with its mappings. */
static void perf_data_take_fork(struct perf_data *data, const struct tv_perf_raw *record)
{
    struct tv_cursor cursor = tv_cursor_over(record->payload);
    uint32_t pid, parent_pid, tid, parent_tid;
    if (!tv_cursor_take_u32(&cursor, &pid) || !tv_cursor_take_u32(&cursor, &parent_pid) ||
        !tv_cursor_take_u32(&cursor, &tid) || !tv_cursor_take_u32(&cursor, &parent_tid)) {
        perf_data_warn(data, TV_DIAGNOSTIC_BAD_PACKET, record->offset);
        return;
    }
    if (pid != TV_NONE)
        tv_map_set(&data->processes, tid, pid);
    uint32_t comm = tv_map_find(&data->comms, (uint64_t)parent_pid << 32 | parent_tid);
    if (comm != TV_NONE)
        tv_map_set(&data->comms, (uint64_t)pid << 32 | tid, comm);
    if (pid != parent_pid)
        tv_perf_data_spaces_fork(&data->spaces, parent_pid, pid);
}

/* The kernel's map is named by its first symbol: "[kernel.kallsyms]_text". */
static struct tv_bytes perf_data_kernel_path(struct tv_bytes path)
{
    struct tv_bytes kernel = KERNEL_MODULE;
    return tv_bytes_starts_with(path, kernel) ? kernel : path;
}

/* Return the build ID of a mapping: its own, or that which the file lists for its path. */
static struct tv_bytes perf_data_map_build_id(const struct perf_data *data,
                                              const struct tv_perf_map *map, uint32_t module)
{
    uint32_t number = tv_map_find(&data->build_id_of, module);
    return map->build_id.length > 0 || number == TV_NONE ? map->build_id
                                                         : data->build_ids.ids[number].id;
}

/* Take a mapping; one that the limits have no room for is diagnosed, as its addresses stay without
 * names. */
static void perf_data_take_map(struct perf_data *data, const struct tv_perf_raw *record)
{
    struct tv_perf_map map;
    if (!tv_perf_parse_map(record, &map)) {
        perf_data_warn(data, TV_DIAGNOSTIC_BAD_PACKET, record->offset);
        return;
    }
    if (map.length == 0)
        return;
    bool kernel = map.pid == UINT32_MAX;
    struct perf_mapped mapped = {
        .start = map.start,
        .end = map.start + map.length,
        .move = map.page_offset - map.start,
        .module = tv_profile_string(&data->profile, perf_data_kernel_path(map.path)),
    };
    mapped.build_id = perf_data_map_build_id(data, &map, mapped.module);
    if (!tv_perf_data_spaces_add(&data->spaces, kernel ? TV_PERF_KERNEL_PID : map.pid, &mapped))
        perf_data_warn(data, TV_DIAGNOSTIC_MAPS_LEFT_OUT, record->offset);
}

/* Take a switch to or from a thread, which the end of the record names. */
static void perf_data_take_switch(struct perf_data *data, const struct tv_perf_raw *record)
{
    uint32_t pid, tid;
    uint64_t time = tv_perf_record_time(&data->file, record);
    if (!tv_perf_record_thread(&data->file, record, &pid, &tid)) {
        perf_data_warn(data, TV_DIAGNOSTIC_BAD_PACKET, record->offset);
        return;
    }
    struct tv_sample at = {
        .time = time > INT64_MAX ? INT64_MAX : (tv_ns)time,
        .offset = record->offset,
        .thread = perf_data_thread(data, pid, tid),
        .cpu = TV_NONE,
    };
    tv_off_cpu_note_switch(&data->off_cpu, &data->profile, !(record->misc & SWITCH_OUT), at);
}

/* ---- The file ---- */

/* Read a record again by its offset, and take it. */
static void perf_data_take_record(struct perf_data *data, uint64_t offset, struct perf_stack *stack)
{
    struct tv_bytes rest = {data->file.bytes.data + (size_t)offset,
                            data->file.bytes.length - (size_t)offset};
    struct tv_cursor cursor = tv_cursor_over(rest);
    struct tv_perf_raw record;
    bool cut;
    if (!tv_perf_take_record(&data->file, &cursor, &record, &cut))
        return;
    if (record.type == TV_PERF_SAMPLE)
        perf_data_take_sample(data, &record, stack);
    else if (record.type == TV_PERF_COMM)
        perf_data_take_comm(data, &record);
    else if (record.type == TV_PERF_FORK)
        perf_data_take_fork(data, &record);
    else if (record.type == TV_PERF_SWITCH)
        perf_data_take_switch(data, &record);
    else
        perf_data_take_map(data, &record);
}

/* Take the records in the order of time. */
static enum tv_status perf_data_take_records(struct perf_data *data, struct tv_progress *progress,
                                             struct tv_error *err)
{
    struct perf_stack stack = {.count = 0};
    enum tv_status status = TV_OK;
    for (size_t i = 0; i < data->order_count && status == TV_OK; i++) {
        perf_data_take_record(data, data->order[i].index, &stack);
        if (i % 1024 == 0)
            status = tv_reader_check_cancel(progress, err);
    }
    tv_free(stack.frames);
    return status;
}

/* List how many records of each type the file has, samples aside: these are counted by event. */
static void perf_data_count_types(struct perf_data *data)
{
    static const struct {
        uint32_t type;
        const char *name;
    } names[] = {
        {TV_PERF_MMAP, "PERF_RECORD_MMAP"},
        {TV_PERF_LOST, "PERF_RECORD_LOST"},
        {TV_PERF_COMM, "PERF_RECORD_COMM"},
        {TV_PERF_EXIT, "PERF_RECORD_EXIT"},
        {TV_PERF_FORK, "PERF_RECORD_FORK"},
        {TV_PERF_MMAP2, "PERF_RECORD_MMAP2"},
        {TV_PERF_LOST_SAMPLES, "PERF_RECORD_LOST_SAMPLES"},
        {TV_PERF_SWITCH, "PERF_RECORD_SWITCH"},
        {TV_PERF_SWITCH_CPU_WIDE, "PERF_RECORD_SWITCH_CPU_WIDE"},
        {TV_PERF_COMPRESSED, "PERF_RECORD_COMPRESSED"},
        {TV_PERF_COMPRESSED2, "PERF_RECORD_COMPRESSED2"},
    };
    struct tv_profile_input *profile = &data->profile;
    for (size_t i = 0; i < TV_COUNT(names); i++)
        if (data->types[names[i].type] > 0)
            tv_tables_count_events(&profile->trace->tables, profile->input,
                                   tv_profile_string(profile, tv_bytes_of(names[i].name)),
                                   data->types[names[i].type]);
}

/* Add what the features say about the recording. */
static void perf_data_add_metadata(struct perf_data *data)
{
    static const struct {
        enum tv_perf_feature feature;
        const char *key;
    } keys[] = {{TV_PERF_FEATURE_HOSTNAME, "hostname"},
                {TV_PERF_FEATURE_RELEASE, "os release"},
                {TV_PERF_FEATURE_VERSION, "perf version"},
                {TV_PERF_FEATURE_ARCH, "arch"}};
    for (size_t i = 0; i < TV_COUNT(keys); i++) {
        struct tv_cursor cursor = tv_cursor_over(data->file.features[keys[i].feature]);
        struct tv_bytes text;
        if (tv_perf_take_text(&cursor, &text) && text.length > 0)
            tv_trace_info_add_metadata(data->profile.info, data->profile.input,
                                       tv_bytes_of(keys[i].key), text);
    }
    struct tv_bytes rest = data->file.features[TV_PERF_FEATURE_META_INFO], key, value;
    while (tv_bytes_split(&rest, 0, &key) && tv_bytes_split(&rest, 0, &value))
        tv_trace_info_add_metadata(data->profile.info, data->profile.input, key, value);
}

/* Return true for a recording of "simpleperf record --trace-offcpu". */
static bool perf_data_traces_off_cpu(const struct perf_data *data)
{
    struct tv_bytes rest = data->file.features[TV_PERF_FEATURE_META_INFO], key, value;
    while (tv_bytes_split(&rest, 0, &key) && tv_bytes_split(&rest, 0, &value))
        if (tv_bytes_equal(key, TV_BYTES("trace_offcpu")))
            return tv_bytes_equal(value, TV_BYTES("true"));
    return false;
}

/* Read the file in the steps that the head of this file lists. */
static enum tv_status perf_data_read(struct perf_data *data, struct tv_bytes bytes,
                                     const struct tv_read_options *options, struct tv_error *err)
{
    if (!tv_perf_file_read(&data->file, bytes))
        return tv_fail(err, TV_ERR_SYNTAX, 0, "the header of the perf.data file is damaged");
    if (data->file.cut)
        perf_data_warn(data, TV_DIAGNOSTIC_TRUNCATED, bytes.length);
    data->traces_off_cpu = perf_data_traces_off_cpu(data);
    enum tv_status status = perf_data_list_records(data, options->progress, err);
    if (status != TV_OK)
        return status;
    tv_perf_file_name_attrs(&data->file);
    perf_data_add_types(data);
    perf_data_find_formats(data);
    perf_data_index_modules(data);
    perf_data_index_build_ids(data);
    status = perf_data_take_records(data, options->progress, err);
    /* perf records events that never come: dummy:HG, or those of the other cores of a processor. */
    if (data->first_event != TV_NONE && data->first_event > 0)
        data->profile.trace->tables.value_types.rows[data->value_types[data->first_event]]
            .preferred = true;
    perf_data_count_types(data);
    perf_data_add_metadata(data);
    tv_off_cpu_finish(&data->off_cpu, &data->profile, options);
    tv_perf_sched_finish(&data->sched, &data->profile, &data->processes, options);
    return status;
}

static void perf_data_release(struct perf_data *data)
{
    tv_perf_file_release(&data->file);
    tv_perf_symbols_release(&data->symbols);
    tv_perf_build_ids_release(&data->build_ids);
    tv_perf_data_spaces_release(&data->spaces);
    tv_map_release(&data->modules);
    tv_map_release(&data->build_id_of);
    tv_map_release(&data->frames);
    tv_free(data->named);
    tv_map_release(&data->comms);
    tv_map_release(&data->counter_places);
    tv_free(data->counters);
    tv_free(data->order);
    tv_free(data->value_types);
    tv_free(data->formats);
    tv_map_release(&data->processes);
    tv_perf_sched_release(&data->sched);
    tv_off_cpu_release(&data->off_cpu);
}

static enum tv_status perf_data_assemble(struct tv_source *source, struct tv_builder *builder,
                                         const struct tv_read_options *options,
                                         struct tv_error *err)
{
    struct perf_data data = {.first_event = TV_NONE};
    struct tv_profile_text text;
    enum tv_status status = tv_profile_text_read(source, &text, err);
    if (status != TV_OK)
        return status;
    tv_profile_input_begin(&data.profile, source, builder, tv_reader_perf_data.format);
    data.profile.info->inputs[data.profile.input].figures = TV_FIGURES_SAMPLED;
    tv_perf_data_spaces_init(&data.spaces);
    tv_map_init(&data.modules);
    tv_map_init(&data.build_id_of);
    tv_map_init(&data.frames);
    tv_map_init(&data.comms);
    tv_map_init(&data.counter_places);
    tv_map_init(&data.processes);
    status = perf_data_read(&data, text.bytes, options, err);
    perf_data_release(&data);
    tv_profile_input_end(&data.profile, options);
    tv_profile_text_release(&text);
    return status;
}

static int perf_data_sniff(struct tv_bytes prefix, uint64_t size)
{
    (void)size;
    return tv_bytes_starts_with(prefix, TV_BYTES("PERFILE2")) ? TV_SNIFF_SURE : 0;
}

const struct tv_reader tv_reader_perf_data = {
    .name = "perf-data",
    .sniff = perf_data_sniff,
    .assemble = perf_data_assemble,
    .refuses_empty = true,
    .format = "perf.data",
};
