/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pprof.c - writes a trace as a pprof profile (the message Profile of pprof's
 * profile.proto).
 *
 *     samples, or call trees --> (thread, path) -> values --> Sample    stack of locations, labels
 *                                    frames of the paths  --> Location  of one Line
 *                                                         --> Function  without the sampled line
 *                                    modules              --> Mapping
 *                                    all texts            --> string table
 *
 * Locations, functions and mappings are numbered when a sample first needs
 * them, and written after the samples; the strings come last.  In protobuf, the
 * fields of a message may come in any order.
 *
 * A profile has one Sample for a stack, with one value for each value type:
 * samples that differ only in time are added up.  That loses times and order,
 * which is counted as a loss.  Samples of pprof keep their labels.
 *
 * Field numbers of Profile: 1 sample_type, 2 sample, 3 mapping, 4 location, 5
 * function, 6 string_table, 9 time_nanos, 10 duration_nanos, 11 period_type, 12
 * period, 14 default_sample_type.
 */
#include "writers/stacks/pprof.h"

#include <assert.h>
#include <string.h>

#include "analysis/calltree/call_tree.h"
#include "analysis/subset/subset.h"
#include "base/map.h"
#include "base/memory.h"
#include "base/protobuf_out.h"
#include "readers/pprof/sample_labels.h"
#include "writers/text/names.h"

/* A stack of a thread. */
struct pprof_stack {
    uint32_t thread; /* TV_NONE: unknown */
    uint32_t path;
    uint32_t labels; /* in `label_sets`: those of a pprof sample; 0: write those of the thread */
};

/* A function of the output. */
struct pprof_out_function {
    uint32_t name, file, module;
    int32_t line;
};

struct pprof_writer {
    struct tv_out *out;
    struct tv_out message, inner, text; /* reused */
    const struct tv_trace *trace;
    struct tv_interner *strings;    /* numbered as in the file */
    struct tv_map owners;           /* thread << 32 | labels -> number */
    struct tv_map stack_places;     /* owner << 32 | path -> place in `stacks` */
    struct tv_interner *label_sets; /* the label messages of a sample, after a byte that is not
                                       part of them: a sample may have none */
    struct tv_out labels;           /* labels of the current sample */
    struct pprof_stack *stacks;
    int64_t *values; /* [stack_count * type_count] */
    uint32_t type_count;
    size_t stack_count, stack_capacity, value_capacity;
    struct tv_map locations; /* frame of the trace -> id */
    uint32_t *frames;        /* [id - 1] */
    size_t location_count, location_capacity;
    struct tv_interner *function_keys; /* bytes of struct pprof_out_function -> id */
    struct tv_map mappings;            /* module (string of the trace) -> id */
    uint32_t *modules;                 /* [id - 1] */
    size_t mapping_count, mapping_capacity;
};

/* ---- Strings and value types ---- */

/* Return the number of a text in the string table; 0 is "". */
static uint32_t pprof_writer_string(struct pprof_writer *writer, struct tv_bytes text)
{
    return tv_interner_add(writer->strings, text);
}

/* Write a ValueType as a field of the profile. */
static void pprof_put_value_type(struct pprof_writer *writer, uint32_t field, struct tv_bytes name,
                                 struct tv_bytes unit)
{
    tv_protobuf_put_nonzero(&writer->message, 1, pprof_writer_string(writer, name));
    tv_protobuf_put_nonzero(&writer->message, 2, pprof_writer_string(writer, unit));
    tv_protobuf_put_message(writer->out, field, &writer->message);
}

/* ---- Values of stacks ---- */

/* Add to a value of a stack, and return whether it had one. */
static bool pprof_writer_add(struct pprof_writer *writer, struct pprof_stack stack, uint32_t type,
                             int64_t value)
{
    assert(type < writer->type_count);
    uint32_t owner = tv_map_add(&writer->owners, (uint64_t)stack.thread << 32 | stack.labels,
                                (uint32_t)writer->owners.count);
    uint64_t key = (uint64_t)owner << 32 | stack.path;
    size_t place = tv_map_add(&writer->stack_places, key, (uint32_t)writer->stack_count);
    if (place == writer->stack_count) {
        size_t first = tv_size_mul(place, writer->type_count);
        writer->stacks = tv_array_reserve(writer->stacks, &writer->stack_capacity, place + 1,
                                          sizeof *writer->stacks);
        writer->values = tv_array_reserve(writer->values, &writer->value_capacity,
                                          first + writer->type_count, sizeof *writer->values);
        memset(writer->values + first, 0, writer->type_count * sizeof *writer->values);
        writer->stacks[writer->stack_count++] = stack;
    }
    int64_t *sum = &writer->values[place * writer->type_count + type];
    bool again = *sum != 0;
    tv_time_add(sum, value);
    return again;
}

/* ---- Frames ---- */

/* Return the id of a module, from 1 on. */
static uint32_t pprof_writer_mapping(struct pprof_writer *writer, uint32_t module)
{
    uint32_t id = tv_map_add(&writer->mappings, module, (uint32_t)writer->mapping_count + 1);
    if (id > writer->mapping_count) {
        writer->modules = tv_array_reserve(writer->modules, &writer->mapping_capacity,
                                           writer->mapping_count + 1, sizeof *writer->modules);
        writer->modules[writer->mapping_count++] = module;
    }
    return id;
}

/* Return the id of the function of a frame. */
static uint32_t pprof_writer_function(struct pprof_writer *writer, const struct tv_frame *frame)
{
    const struct tv_trace_info *head = writer->trace->head;
    struct pprof_out_function function;
    struct tv_frame named = *frame;
    /* The struct is compared as bytes, so its padding must be zero. */
    memset(&function, 0, sizeof function);
    writer->text.length = 0;
    named.with_line = false; /* the line belongs to the location */
    tv_names_method(&writer->text, head, &named);
    function.name =
        pprof_writer_string(writer, (struct tv_bytes){writer->text.buffer, writer->text.length});
    function.file = pprof_writer_string(writer, tv_trace_info_text(head, frame->file));
    function.module = frame->module;
    function.line = frame->with_line ? frame->function_line : frame->line;
    return tv_interner_add(writer->function_keys,
                           (struct tv_bytes){(const uint8_t *)&function, sizeof function});
}

/* Return the id of a frame's location, from 1 on. */
static uint32_t pprof_writer_location(struct pprof_writer *writer, uint32_t frame)
{
    uint32_t id = tv_map_add(&writer->locations, frame, (uint32_t)writer->location_count + 1);
    if (id > writer->location_count) {
        writer->frames = tv_array_reserve(writer->frames, &writer->location_capacity,
                                          writer->location_count + 1, sizeof *writer->frames);
        writer->frames[writer->location_count++] = frame;
    }
    return id;
}

/* Write the locations.  Each has one line: inlined frames are frames of their
 * own here. */
static void pprof_write_locations(struct pprof_writer *writer, struct tv_pprof_losses *losses)
{
    for (size_t i = 0; i < writer->location_count; i++) {
        const struct tv_frame *frame = &writer->trace->head->frames[writer->frames[i]];
        losses->columns += frame->column > 0;
        tv_protobuf_put_nonzero(&writer->inner, 1, pprof_writer_function(writer, frame));
        tv_protobuf_put_nonzero(&writer->inner, 2,
                                frame->with_line && frame->line > 0 ? (uint64_t)frame->line : 0);
        tv_protobuf_put_nonzero(&writer->message, 1, i + 1);
        tv_protobuf_put_nonzero(&writer->message, 2, pprof_writer_mapping(writer, frame->module));
        tv_protobuf_put_message(&writer->message, 4, &writer->inner);
        tv_protobuf_put_message(writer->out, 4, &writer->message);
    }
}

/* Write the functions, which are numbered from 1 on, as interned texts are. */
static void pprof_write_functions(struct pprof_writer *writer)
{
    for (uint32_t i = 1; i < tv_interner_count(writer->function_keys); i++) {
        struct pprof_out_function function;
        memcpy(&function, tv_interner_get(writer->function_keys, i).data, sizeof function);
        tv_protobuf_put_nonzero(&writer->message, 1, i);
        tv_protobuf_put_nonzero(&writer->message, 2, function.name);
        tv_protobuf_put_nonzero(&writer->message, 3, function.name);
        tv_protobuf_put_nonzero(&writer->message, 4, function.file);
        tv_protobuf_put_nonzero(&writer->message, 5,
                                function.line > 0 ? (uint64_t)function.line : 0);
        tv_protobuf_put_message(writer->out, 5, &writer->message);
    }
}

/* Write the modules.  They have functions, so that pprof does not look for symbols. */
static void pprof_write_mappings(struct pprof_writer *writer)
{
    for (size_t i = 0; i < writer->mapping_count; i++) {
        struct tv_bytes name = tv_trace_info_text(writer->trace->head, writer->modules[i]);
        tv_protobuf_put_nonzero(&writer->message, 1, i + 1);
        tv_protobuf_put_nonzero(&writer->message, 5, pprof_writer_string(writer, name));
        for (uint32_t has = 7; has <= 10; has++)
            tv_protobuf_put_nonzero(&writer->message, has, 1);
        tv_protobuf_put_message(writer->out, 3, &writer->message);
    }
}

/* ---- Samples ---- */

/* Add a label with a text to the open sample; an empty text is none. */
static void pprof_put_text_label(struct pprof_writer *writer, struct tv_bytes key,
                                 struct tv_bytes text)
{
    if (text.length == 0)
        return;
    tv_protobuf_put_nonzero(&writer->inner, 1, pprof_writer_string(writer, key));
    tv_protobuf_put_nonzero(&writer->inner, 2, pprof_writer_string(writer, text));
    tv_protobuf_put_message(&writer->message, 3, &writer->inner);
}

/* Add a label with a number; 0 means unknown. */
static void pprof_put_number_label(struct pprof_writer *writer, struct tv_bytes key,
                                   uint64_t number)
{
    if (number == 0)
        return;
    tv_protobuf_put_nonzero(&writer->inner, 1, pprof_writer_string(writer, key));
    tv_protobuf_put_nonzero(&writer->inner, 3, number);
    tv_protobuf_put_message(&writer->message, 3, &writer->inner);
}

/* Append a label of a pprof sample to the set of the current sample. */
static void pprof_collect_label(void *context, const struct tv_sample_label *label)
{
    struct pprof_writer *writer = context;
    struct tv_out *inner = &writer->inner;
    tv_protobuf_put_nonzero(inner, 1, pprof_writer_string(writer, label->key));
    tv_protobuf_put_nonzero(inner, 2, pprof_writer_string(writer, label->text));
    if (label->text.length == 0) {
        tv_protobuf_put_nonzero(inner, 3, (uint64_t)label->number);
        tv_protobuf_put_nonzero(inner, 4, pprof_writer_string(writer, label->unit));
    }
    tv_protobuf_put_message(&writer->labels, 3, inner);
}

/* Return the labels of a sample of a pprof input, as a number in `label_sets`; 0: the input has
 * another format. */
static uint32_t pprof_writer_labels(struct pprof_writer *writer, const struct tv_sample *sample)
{
    const struct tv_input *input = &writer->trace->head->inputs[sample->input];
    struct tv_error unused;
    if (input->describe != tv_sample_labels_describe || !input->source ||
        sample->offset == TV_NO_OFFSET)
        return 0;
    writer->labels.length = 0;
    tv_out_char(&writer->labels, '+');
    if (tv_sample_labels_read(writer->trace, sample->input, sample->offset, pprof_collect_label,
                              writer, &unused) != TV_OK)
        return 0;
    return tv_interner_add(writer->label_sets,
                           (struct tv_bytes){writer->labels.buffer, writer->labels.length});
}

/* Write the labels that samples were read with, among them those of their threads. */
static void pprof_put_label_set(struct pprof_writer *writer, uint32_t labels)
{
    struct tv_bytes set = tv_interner_get(writer->label_sets, labels);
    assert(set.length > 0);
    tv_out_bytes(&writer->message, (struct tv_bytes){set.data + 1, set.length - 1});
}

/* Add the labels of a thread.  Our reader of pprof knows them by these keys. */
static void pprof_put_labels(struct pprof_writer *writer, uint32_t number)
{
    const struct tv_trace_info *head = writer->trace->head;
    if (number == TV_NONE)
        return;
    const struct tv_thread *thread = &head->threads[number];
    pprof_put_text_label(writer, TV_BYTES("thread"), tv_trace_info_text(head, thread->name));
    pprof_put_number_label(writer, TV_BYTES("tid"), thread->id);
    uint32_t owner = tv_thread_process(head, number);
    if (owner == TV_NONE)
        return;
    const struct tv_process *process = &head->processes[owner];
    pprof_put_text_label(writer, TV_BYTES("process"), tv_trace_info_text(head, process->name));
    pprof_put_number_label(writer, TV_BYTES("process_id"), process->id);
}

/* Write the stacks, the innermost frame first, as the format wants. */
static void pprof_write_samples(struct pprof_writer *writer)
{
    const struct tv_path_node *nodes = writer->trace->paths.nodes;
    for (size_t i = 0; i < writer->stack_count; i++) {
        struct pprof_stack stack = writer->stacks[i];
        for (uint32_t path = stack.path; path != TV_ROOT_PATH; path = nodes[path].parent)
            tv_protobuf_put_varint(&writer->inner,
                                   pprof_writer_location(writer, nodes[path].frame));
        if (writer->inner.length > 0)
            tv_protobuf_put_message(&writer->message, 1, &writer->inner);
        for (uint32_t type = 0; type < writer->type_count; type++)
            tv_protobuf_put_varint(&writer->inner,
                                   (uint64_t)writer->values[i * writer->type_count + type]);
        tv_protobuf_put_message(&writer->message, 2, &writer->inner);
        if (stack.labels != 0)
            pprof_put_label_set(writer, stack.labels);
        else
            pprof_put_labels(writer, stack.thread);
        tv_protobuf_put_message(writer->out, 2, &writer->message);
    }
}

/* ---- A trace with samples ---- */

/* Return the position in the file of a value type: that shown first goes last, which is where tools
 * look that ignore the default. */
static uint32_t pprof_type_position(const struct tv_sample_values *values, size_t number)
{
    const struct tv_sample_value *shown = tv_sample_values_default(values);
    size_t last = values->count - 1, at = (size_t)(shown - values->list);
    return (uint32_t)(number == at ? last : number > at ? number - 1 : number);
}

/* Return the place of a value type by its name. */
static size_t pprof_find_value(const struct tv_sample_values *values, uint32_t name)
{
    size_t number = 0;
    while (number < values->count && values->list[number].name != name)
        number++;
    return number;
}

/* Does a value have one of these value types? */
static bool pprof_has_type(const struct tv_trace *trace, const bool *types, uint32_t name)
{
    for (size_t i = 0; i < trace->tables.value_types.count; i++)
        if (types[i] && trace->tables.value_types.rows[i].name == name)
            return true;
    return false;
}

/* Keep only the values of these value types. */
static void pprof_choose_values(const struct tv_trace *trace, const bool *types,
                                struct tv_sample_values *values)
{
    size_t kept = 0;
    for (size_t i = 0; i < values->count; i++)
        if (pprof_has_type(trace, types, values->list[i].name))
            values->list[kept++] = values->list[i];
    values->count = kept;
}

/* Write the value types in the order of their positions. */
static void pprof_write_value_types(struct pprof_writer *writer,
                                    const struct tv_sample_values *values)
{
    const struct tv_trace_info *head = writer->trace->head;
    for (uint32_t position = 0; position < values->count; position++)
        for (size_t i = 0; i < values->count; i++)
            if (pprof_type_position(values, i) == position)
                pprof_put_value_type(writer, 1, tv_trace_info_text(head, values->list[i].name),
                                     tv_trace_info_text(head, values->list[i].unit));
    const struct tv_sample_value *shown = tv_sample_values_default(values);
    tv_protobuf_put_nonzero(writer->out, 14,
                            pprof_writer_string(writer, tv_trace_info_text(head, shown->name)));
}

/* Add up the samples by stack and value type. */
static void pprof_collect_samples(struct pprof_writer *writer,
                                  const struct tv_sample_values *values,
                                  struct tv_pprof_losses *losses)
{
    const struct tv_tables *tables = &writer->trace->tables;
    uint32_t *positions = tv_alloc(tables->value_types.count, sizeof *positions);
    for (size_t i = 0; i < tables->value_types.count; i++) {
        size_t number = pprof_find_value(values, tables->value_types.rows[i].name);
        positions[i] = number < values->count ? pprof_type_position(values, number) : TV_NONE;
    }
    for (size_t i = 0; i < tables->samples.count; i++) {
        const struct tv_sample *sample = &tables->samples.rows[i];
        assert(positions[sample->type] != TV_NONE);
        struct pprof_stack stack = {sample->thread, sample->line_path,
                                    pprof_writer_labels(writer, sample)};
        losses->merged += pprof_writer_add(writer, stack, positions[sample->type], sample->weight);
        if (stack.labels != 0)
            continue; /* they have its arguments, and its time and processor, too */
        losses->times += !writer->trace->head->inputs[sample->input].weight_axis;
        tv_profile_losses_add_sample(&losses->profile, sample);
    }
    tv_free(positions);
}

/* ---- A trace of calls ---- */

enum { CALL_COUNT, CALL_WALL, CALL_CPU };

/* Add the calls of a thread: each path with its own time, without that of its
 * callees. */
static void pprof_collect_tree(struct pprof_writer *writer, const struct tv_call_tree *tree,
                               uint32_t thread, const uint32_t *positions)
{
    for (uint32_t node = 1; node < tree->count; node++) {
        struct pprof_stack stack = {thread, node, 0};
        if (tree->cost[node].calls == 0)
            continue;
        (void)pprof_writer_add(writer, stack, positions[CALL_COUNT],
                               (int64_t)tree->cost[node].calls);
        if (positions[CALL_WALL] != TV_NONE)
            (void)pprof_writer_add(writer, stack, positions[CALL_WALL], tree->self_wall[node]);
        if (positions[CALL_CPU] != TV_NONE)
            (void)pprof_writer_add(writer, stack, positions[CALL_CPU], tree->self_cpu[node]);
    }
}

/* Return the positions of the value types of calls. */
static void pprof_place_call_types(struct pprof_writer *writer, uint32_t *positions)
{
    unsigned clocks = tv_trace_info_clocks(writer->trace->head);
    uint32_t count = 0;
    positions[CALL_COUNT] = count++;
    positions[CALL_CPU] = clocks & TV_CLOCK_CPU ? count++ : TV_NONE;
    positions[CALL_WALL] = clocks & TV_CLOCK_WALL ? count++ : TV_NONE;
    writer->type_count = count;
}

static void pprof_write_call_types(struct pprof_writer *writer)
{
    unsigned clocks = tv_trace_info_clocks(writer->trace->head);
    pprof_put_value_type(writer, 1, TV_BYTES("calls"), TV_BYTES("count"));
    if (clocks & TV_CLOCK_CPU)
        pprof_put_value_type(writer, 1, TV_BYTES("cpu"), TV_BYTES("nanoseconds"));
    if (clocks & TV_CLOCK_WALL)
        pprof_put_value_type(writer, 1, TV_BYTES("wall"), TV_BYTES("nanoseconds"));
}

/* Collect the calls of each thread by a tree of its own.  All trees share one shape, and their
 * memory. */
static void pprof_collect_calls(struct pprof_writer *writer, struct tv_pprof_losses *losses)
{
    const struct tv_trace *trace = writer->trace;
    uint32_t positions[3];
    uint32_t *tracks = tv_alloc(trace->track_count, sizeof *tracks);
    pprof_place_call_types(writer, positions);
    struct tv_tree_shape *shape = tv_tree_shape_new(trace->head, &trace->paths);
    struct tv_call_tree *tree = tv_call_tree_of_shape(shape);
    for (uint32_t thread = 0; thread < trace->head->thread_count; thread++) {
        struct tv_selection selection = {INT64_MIN, INT64_MAX, tracks, 0};
        for (uint32_t i = 0; i < trace->track_count; i++)
            if (trace->tracks[i].thread == thread && trace->tracks[i].slice_count > 0 &&
                tv_track_has_calls(&trace->tracks[i]))
                tracks[selection.track_count++] = i;
        for (size_t i = 0; i < selection.track_count; i++)
            losses->calls += trace->tracks[tracks[i]].slice_count;
        if (selection.track_count == 0)
            continue;
        tv_call_tree_count(tree, trace, &selection, 0);
        pprof_collect_tree(writer, tree, thread, positions);
    }
    losses->slices = trace->slice_count - losses->calls;
    tv_call_tree_free(tree);
    tv_tree_shape_free(shape);
    tv_free(tracks);
}

/* ---- The file ---- */

/* Write the type and the number of a period that is none of a value type ("space/bytes" of a heap),
 * which the trace has as two properties. */
static void pprof_write_stated_period(struct pprof_writer *writer, struct tv_pprof_losses *losses)
{
    const struct tv_trace_info *head = writer->trace->head;
    struct tv_bytes type = tv_trace_info_find_metadata(head, 0, "period type");
    struct tv_bytes text = tv_trace_info_find_metadata(head, 0, "period");
    int64_t period;
    struct tv_bytes name, unit = type;
    if (head->inputs[0].describe != tv_sample_labels_describe || !type.data || !text.data ||
        !tv_parse_i64(text, &period) || !tv_bytes_split(&unit, '/', &name))
        return;
    pprof_put_value_type(writer, 11, name, unit);
    tv_protobuf_put_nonzero(writer->out, 12, (uint64_t)period);
    losses->profile.metadata -= 2;
}

/* Write when the first input was recorded, how long it took, and its sampling interval. */
static void pprof_write_header(struct pprof_writer *writer, struct tv_pprof_losses *losses)
{
    const struct tv_trace *trace = writer->trace;
    const struct tv_input *input = trace->head->input_count > 0 ? trace->head->inputs : NULL;
    if (!input)
        return;
    int64_t duration = input->elapsed_ns > 0 ? input->elapsed_ns
                       : input->weight_axis  ? 0
                                             : trace->end - trace->start;
    tv_protobuf_put_nonzero(writer->out, 9, (uint64_t)tv_time_times(input->recorded_us, 1000));
    tv_protobuf_put_nonzero(writer->out, 10, (uint64_t)duration);
    for (size_t i = 0; i < trace->tables.value_types.count; i++) {
        const struct tv_value_type *type = &trace->tables.value_types.rows[i];
        if (type->interval == 0)
            continue;
        pprof_put_value_type(writer, 11, tv_trace_info_text(trace->head, type->name),
                             tv_trace_info_text(trace->head, type->unit));
        tv_protobuf_put_nonzero(writer->out, 12, (uint64_t)type->interval);
        return;
    }
    pprof_write_stated_period(writer, losses);
}

/* Write the string table; the first one must be "". */
static void pprof_write_strings(struct pprof_writer *writer)
{
    for (uint32_t i = 0; i < tv_interner_count(writer->strings); i++)
        tv_protobuf_put_bytes(writer->out, 6, tv_interner_get(writer->strings, i));
}

static void pprof_writer_release(struct pprof_writer *writer)
{
    tv_out_release(&writer->message);
    tv_out_release(&writer->inner);
    tv_out_release(&writer->text);
    tv_out_release(&writer->labels);
    tv_interner_free(writer->label_sets);
    tv_map_release(&writer->owners);
    tv_interner_free(writer->strings);
    tv_interner_free(writer->function_keys);
    tv_map_release(&writer->stack_places);
    tv_map_release(&writer->locations);
    tv_map_release(&writer->mappings);
    tv_free(writer->stacks);
    tv_free(writer->values);
    tv_free(writer->frames);
    tv_free(writer->modules);
}

/* Write the fields in their order; `values` of calls are none. */
static void pprof_write_file(struct pprof_writer *writer, const struct tv_sample_values *values,
                             struct tv_pprof_losses *losses)
{
    if (values->count > 0)
        pprof_write_value_types(writer, values);
    else
        pprof_write_call_types(writer);
    pprof_write_header(writer, losses);
    pprof_write_samples(writer);
    pprof_write_locations(writer, losses);
    pprof_write_functions(writer);
    pprof_write_mappings(writer);
    pprof_write_strings(writer);
}

/* Return true when no sample has a value: readers take values of 0 for no sample. */
static bool pprof_is_empty(const struct pprof_writer *writer)
{
    size_t place = 0, count = writer->stack_count * writer->type_count;
    while (place < count && writer->values[place] == 0)
        place++;
    return place == count;
}

/* A profile without samples opens nowhere. */
static enum tv_status pprof_refuse(struct tv_pprof_losses *losses, struct tv_error *err)
{
    tv_profile_losses_release(&losses->profile);
    return tv_fail(err, TV_ERR_UNSUPPORTED, TV_NO_OFFSET,
                   "the trace has no samples with a value and no calls of threads, and pprof "
                   "profiles hold nothing else; --to json and --to perfetto do");
}

enum tv_status tv_pprof_write(struct tv_out *out, const struct tv_trace *trace, const bool *types,
                              struct tv_pprof_losses *losses, struct tv_error *err)
{
    struct pprof_writer writer = {.out = out, .trace = trace};
    struct tv_sample_values values = tv_sample_values_of(trace);
    *losses = (struct tv_pprof_losses){.tables = trace->tables.instants.count +
                                                 trace->tables.counters.count};
    tv_profile_losses_init(&losses->profile, trace);
    if (types)
        pprof_choose_values(trace, types, &values);
    tv_out_init_memory(&writer.message);
    tv_out_init_memory(&writer.inner);
    tv_out_init_memory(&writer.text);
    tv_out_init_memory(&writer.labels);
    writer.label_sets = tv_interner_new();
    tv_map_init(&writer.owners);
    writer.strings = tv_interner_new();
    writer.function_keys = tv_interner_new();
    tv_map_init(&writer.stack_places);
    tv_map_init(&writer.locations);
    tv_map_init(&writer.mappings);
    if (values.count > 0) {
        writer.type_count = (uint32_t)values.count;
        losses->slices = types ? 0 : trace->slice_count;
        pprof_collect_samples(&writer, &values, losses);
    } else {
        pprof_collect_calls(&writer, losses);
    }
    bool empty = pprof_is_empty(&writer);
    if (!empty)
        pprof_write_file(&writer, &values, losses);
    tv_sample_values_release(&values);
    pprof_writer_release(&writer);
    return empty ? pprof_refuse(losses, err) : TV_OK;
}

void tv_pprof_losses_write(struct tv_out *out, struct tv_pprof_losses *losses)
{
    if (losses->times > 0)
        tv_out_counted(out, losses->times, "sample|samples without time and order\n");
    if (losses->merged > 0)
        tv_out_counted(out, losses->merged,
                       "value|values of samples added to another one of the same thread, stack "
                       "and labels\n");
    if (losses->calls > 0)
        tv_out_counted(out, losses->calls,
                       "call|calls without its|their times: equal stacks of a thread are one "
                       "sample\n");
    if (losses->slices > 0)
        tv_out_counted(out, losses->slices,
                       losses->calls > 0
                           ? "slice|slices of no thread left out\n"
                           : "slice|slices left out: the file has the samples of the trace\n");
    if (losses->tables > 0)
        tv_out_counted(out, losses->tables, "instant|instants or counter|counters left out\n");
    if (losses->columns > 0)
        tv_out_counted(out, losses->columns, "function|functions without its|their column\n");
    tv_profile_losses_write(out, &losses->profile);
    tv_profile_losses_release(&losses->profile);
}
