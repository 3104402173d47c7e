/* SPDX-License-Identifier: Apache-2.0 */
/*
 * batch.c - from traces to rows (fleet.h).
 *
 *     trace --> call tree --> profile --> rows of `method`, and their names
 *        |          '---------------> rows of `path`
 *        |-> lengths.c -------------> sketches: calls of a method by length
 *        '-> details.c -------------> rows of the detail tables
 *
 * A batch collects the rows of many traces in memory. tv_fleet_batch_close
 * sorts each table, so that equal keys lie together: they compress well, and
 * row groups can be skipped by their smallest and largest key.  The number of a
 * batch is a hash of its traces; the same traces give the same batch.
 *
 * Numbers of traces, methods and paths are the first 8 bytes of a SHA-256.  Two
 * programs that know nothing of each other give one method the same number.
 * With 64 bits, two of a million methods collide with a probability of about
 * 3e-8.
 *
 * Paths that took less than a given share of their trace are left out; their
 * time stays in the self time of their caller.
 */
#include "fleet/batch.h"

#include <assert.h>
#include <nettle/sha2.h>
#include <stddef.h>
#include <string.h>

#include "analysis/calltree/derived_trees.h"
#include "analysis/calltree/profile.h"
#include "analysis/compare/run_table.h"
#include "base/bytes.h"
#include "base/memory.h"
#include "base/sort.h"
#include "base/source.h"
#include "wire/run_labels.h"
#include "writers/compare/described_run.h"
#include "writers/text/names.h"

/* A batch of this size is written: more would take more memory, less would make
 * many small files. */
#define BATCH_TRACES 1000u
#define BATCH_ROWS ((size_t)1 << 20)
#define BATCH_BUCKETS ((size_t)1 << 23)

const char *const tv_fleet_declared[FLEET_DECLARED] = {"version", "commit", "device", "scenario",
                                                       "side"};

/* ---- Hashes ---- */

static void fleet_hash_bytes(struct tv_bytes bytes, struct tv_fleet_hash *hash)
{
    struct sha256_ctx state;
    sha256_init(&state);
    sha256_update(&state, bytes.length, bytes.data);
    sha256_digest(&state, sizeof hash->bytes, hash->bytes);
}

uint64_t tv_fleet_hash_number(const struct tv_fleet_hash *hash)
{
    uint64_t number = 0;
    for (size_t i = 0; i < 8; i++)
        number = number << 8 | hash->bytes[i];
    return number;
}

enum tv_status tv_fleet_hash_sources(struct tv_source *const *sources, size_t count,
                                     struct tv_fleet_hash *hash, struct tv_error *err)
{
    struct sha256_ctx state;
    size_t room = (size_t)1 << 18, got = 1;
    enum tv_status status = TV_OK;
    sha256_init(&state);
    uint8_t *buffer = tv_alloc(room, 1);
    for (size_t i = 0; i < count && status == TV_OK; i++) {
        uint64_t offset = 0;
        for (got = 1; got > 0 && status == TV_OK; offset += got) {
            status = tv_source_read(sources[i], offset, buffer, room, &got, err);
            if (status == TV_OK)
                sha256_update(&state, got, buffer);
        }
    }
    sha256_digest(&state, sizeof hash->bytes, hash->bytes);
    tv_free(buffer);
    return status;
}

/* Append a number as 8 bytes, big-endian, as tv_fleet_hash_number reads them. */
static void fleet_put_number(struct tv_out *out, uint64_t number)
{
    for (int i = 7; i >= 0; i--)
        tv_out_char(out, (char)(number >> 8 * i));
}

/* Return the number of a method: the hash of its class, name and signature, a NUL between them. */
static uint64_t fleet_method_number(const struct tv_trace_info *info, const struct tv_frame *frame,
                                    struct tv_out *scratch)
{
    struct tv_fleet_hash hash;
    scratch->length = 0;
    tv_out_bytes(scratch, tv_trace_info_text(info, frame->class_name));
    tv_out_char(scratch, '\0');
    tv_out_bytes(scratch, tv_trace_info_text(info, frame->name));
    tv_out_char(scratch, '\0');
    tv_out_bytes(scratch, tv_trace_info_text(info, frame->signature));
    fleet_hash_bytes((struct tv_bytes){scratch->buffer, scratch->length}, &hash);
    return tv_fleet_hash_number(&hash);
}

/* Return the number of a path: the hash of the numbers of its caller's path and
 * of its method. */
static uint64_t fleet_path_number(uint64_t parent, uint64_t method, struct tv_out *scratch)
{
    struct tv_fleet_hash hash;
    scratch->length = 0;
    fleet_put_number(scratch, parent);
    fleet_put_number(scratch, method);
    fleet_hash_bytes((struct tv_bytes){scratch->buffer, scratch->length}, &hash);
    return tv_fleet_hash_number(&hash);
}

/* ---- The batch ---- */

struct tv_fleet_batch *tv_fleet_batch_new(void)
{
    struct tv_fleet_batch *batch = tv_alloc(1, sizeof *batch);
    batch->strings = tv_interner_new();
    tv_map_init(&batch->trace_index);
    tv_map_init(&batch->name_index);
    return batch;
}

void tv_fleet_batch_free(struct tv_fleet_batch *batch)
{
    if (!batch)
        return;
    tv_interner_free(batch->strings);
    tv_map_release(&batch->trace_index);
    tv_map_release(&batch->name_index);
    tv_free(batch->traces);
    tv_free(batch->labels);
    tv_free(batch->methods);
    tv_free(batch->buckets);
    tv_free(batch->names);
    tv_free(batch->paths);
    for (size_t i = 0; i < TV_COUNT(batch->details); i++)
        tv_free(batch->details[i].rows);
    tv_free(batch);
}

bool tv_fleet_batch_has(const struct tv_fleet_batch *batch, uint64_t trace)
{
    return tv_map_find(&batch->trace_index, trace) != TV_NONE;
}

size_t tv_fleet_batch_count(const struct tv_fleet_batch *batch)
{
    return batch->trace_count;
}

bool tv_fleet_batch_is_full(const struct tv_fleet_batch *batch)
{
    size_t details = 0;
    for (size_t i = 0; i < TV_COUNT(batch->details); i++)
        details += batch->details[i].count;
    return batch->trace_count >= BATCH_TRACES ||
           batch->method_count + batch->path_count + details >= BATCH_ROWS ||
           batch->bucket_count >= BATCH_BUCKETS;
}

/* ---- One trace ---- */

/* Facts about a frame while the rows of a trace are made. */
struct fleet_frames {
    struct fleet_numbers numbers; /* numbers of its method */
    uint32_t *row; /* [frames] its method's row among those of this trace; TV_NONE: none */
};

uint64_t tv_fleet_method_of(const struct fleet_numbers *numbers, uint32_t frame)
{
    if (numbers->methods[frame] == 0)
        numbers->methods[frame] =
            fleet_method_number(numbers->info, &numbers->info->frames[frame], numbers->scratch);
    return numbers->methods[frame];
}

/* Copy a text of the trace. */
static uint32_t fleet_text(struct tv_fleet_batch *batch, const struct tv_trace_info *info,
                           uint32_t string)
{
    return tv_interner_add(batch->strings, tv_trace_info_text(info, string));
}

void tv_fleet_add_name(struct tv_fleet_batch *batch, const struct tv_trace_info *info,
                       const struct tv_frame *frame, uint64_t method)
{
    uint32_t place = (uint32_t)batch->name_count;
    if (tv_map_add(&batch->name_index, method, place) != place)
        return;
    batch->names = tv_array_reserve(batch->names, &batch->name_room, batch->name_count + 1,
                                    sizeof *batch->names);
    batch->names[batch->name_count++] = (struct fleet_name){
        .method = method,
        .class_name = fleet_text(batch, info, frame->class_name),
        .name = fleet_text(batch, info, frame->name),
        .signature = fleet_text(batch, info, frame->signature),
        .category = fleet_text(batch, info, frame->category),
        .file = fleet_text(batch, info, frame->file),
        .line = frame->line,
    };
}

/* Add a row for each method of the profile; frames that have one name share a row. */
static void fleet_add_methods(struct tv_fleet_batch *batch, uint64_t trace,
                              const struct tv_profile *profile, struct fleet_frames *frames)
{
    size_t first = batch->method_count;
    struct tv_map rows;
    tv_map_init(&rows);
    for (uint32_t i = 0; i < profile->count; i++) {
        const struct tv_method_cost *cost = &profile->methods[i];
        uint64_t number = tv_fleet_method_of(&frames->numbers, cost->frame);
        uint32_t row = tv_map_add(&rows, number, (uint32_t)(batch->method_count - first));
        if (first + row == batch->method_count) {
            batch->methods = tv_array_reserve(batch->methods, &batch->method_room,
                                              batch->method_count + 1, sizeof *batch->methods);
            batch->methods[batch->method_count++] =
                (struct fleet_method){.trace = trace, .method = number, .longest_slice = -1};
            tv_fleet_add_name(batch, profile->head, &profile->head->frames[cost->frame], number);
        }
        struct fleet_method *method = &batch->methods[first + row];
        frames->row[cost->frame] = row;
        method->calls += cost->calls + cost->recursive_calls;
        method->recursive += cost->recursive_calls;
        tv_time_add(&method->incl, cost->incl_wall);
        tv_time_add(&method->excl, cost->excl_wall);
        tv_time_add(&method->incl_cpu, cost->incl_cpu);
        tv_time_add(&method->excl_cpu, cost->excl_cpu);
    }
    tv_map_release(&rows);
}

/* Return whether a path is large enough for a row.  Then its callers are large enough, too. */
static bool fleet_keeps_path(const struct tv_call_tree *tree, const struct tv_profile *profile,
                             uint32_t share, uint32_t node)
{
    const struct tv_path_cost *cost = &tree->cost[node];
    double part = share * 1e-6;
    return (double)cost->wall > (double)profile->total_wall * part ||
           (double)cost->cpu > (double)profile->total_cpu * part;
}

/* Add a row for each path that is large enough, and subtract its time from its caller's self time.
 */
static void fleet_add_paths(struct tv_fleet_batch *batch, const struct tv_fleet_origin *origin,
                            const struct tv_call_tree *tree, const struct tv_profile *profile,
                            struct fleet_frames *frames)
{
    uint64_t trace = tv_fleet_hash_number(&origin->hash);
    uint32_t *rows = tv_alloc(tree->count, sizeof *rows); /* row + 1; 0: none */
    size_t first = batch->path_count;
    for (uint32_t node = 1; node < tree->count; node++) {
        uint32_t above = rows[tree->parent[node]];
        if (!tv_call_tree_is_call(tree, node) ||
            !fleet_keeps_path(tree, profile, origin->path_share, node) ||
            (tree->parent[node] != TV_ROOT_PATH && above == 0))
            continue;
        const struct tv_path_cost *cost = &tree->cost[node];
        batch->paths = tv_array_reserve(batch->paths, &batch->path_room, batch->path_count + 1,
                                        sizeof *batch->paths);
        struct fleet_path *parent = above > 0 ? &batch->paths[first + above - 1] : NULL;
        uint64_t method = tv_fleet_method_of(&frames->numbers, tree->frame[node]);
        uint64_t over = parent ? parent->path : 0;
        batch->paths[batch->path_count++] = (struct fleet_path){
            .trace = trace,
            .path = fleet_path_number(over, method, frames->numbers.scratch),
            .parent = over,
            .method = method,
            .calls = cost->calls,
            .incl = cost->wall,
            .self = cost->wall,
            .incl_cpu = cost->cpu,
            .self_cpu = cost->cpu,
        };
        if (parent) {
            parent->self -= cost->wall;
            parent->self_cpu -= cost->cpu;
        }
        rows[node] = (uint32_t)(batch->path_count - first);
    }
    tv_free(rows);
}

/* ---- The row of the trace itself ---- */

/* Set a label of a trace: its column if it has one, else an entry of the lists.  A later value
 * replaces an earlier one.  Program and host are an entry as well, as in older files. */
static void fleet_add_label(struct tv_fleet_batch *batch, struct fleet_trace *row,
                            struct tv_bytes key, struct tv_bytes value)
{
    uint32_t text = tv_interner_add(batch->strings, value);
    for (size_t i = 0; i < FLEET_DECLARED; i++) {
        if (tv_bytes_compare(key, tv_bytes_of(tv_fleet_declared[i])) == 0) {
            row->declared[i] = text;
            return;
        }
    }
    if (tv_bytes_equal(key, TV_BYTES("program")))
        row->program = text;
    else if (tv_bytes_equal(key, TV_BYTES("host")))
        row->host = text;
    uint32_t name = tv_interner_add(batch->strings, key);
    for (uint32_t i = 0; i < row->label_count; i++) {
        if (batch->labels[row->first_label + i].key == name) {
            batch->labels[row->first_label + i].value = text;
            return;
        }
    }
    batch->labels = tv_array_reserve(batch->labels, &batch->label_room, batch->label_count + 1,
                                     sizeof *batch->labels);
    /* the labels of a trace are neighbours, and this trace is the last one */
    assert(row->first_label + (size_t)row->label_count == batch->label_count);
    batch->labels[batch->label_count++] = (struct fleet_label){name, text};
    row->label_count++;
}

/* Add the labels of the command line; take the other declared labels from the trace. */
static void fleet_add_labels(struct tv_fleet_batch *batch, struct fleet_trace *row,
                             const struct tv_fleet_origin *origin, const struct tv_trace_info *info)
{
    row->first_label = (uint32_t)batch->label_count;
    for (size_t i = 0; i < FLEET_DECLARED && info->input_count > 0; i++) {
        struct tv_bytes value = tv_run_find_label(info, tv_fleet_declared[i]);
        if (value.length == 0 && i == FLEET_SIDE)
            value = tv_run_find_label(info, TV_LABEL_SIDE);
        row->declared[i] = tv_interner_add(batch->strings, value);
    }
    if (info->input_count > 0) {
        row->program = tv_interner_add(batch->strings, tv_fleet_program_of(info));
        row->host = tv_interner_add(batch->strings, tv_fleet_host_of(info));
    }
    for (size_t i = 0; i < origin->label_count; i++) {
        struct tv_bytes label = tv_bytes_of(origin->labels[i]);
        const uint8_t *equals = memchr(label.data, '=', label.length);
        assert(equals);
        size_t length = (size_t)(equals - label.data);
        fleet_add_label(batch, row, (struct tv_bytes){label.data, length},
                        (struct tv_bytes){equals + 1, label.length - length - 1});
    }
}

/* Add what comparing runs needs (struct tv_run). */
static void fleet_add_recording(struct tv_fleet_batch *batch, struct fleet_trace *row,
                                const struct tv_profile *profile)
{
    const struct tv_trace_info *info = profile->head;
    struct tv_run run = tv_run_describe("", TV_RUN_NEW, 0, info);
    row->round = run.round;
    row->clock_cost = run.clock_cost;
    row->interval = profile->figures.interval;
    row->obfuscated = run.obfuscated;
    row->native = run.native;
    row->recording = tv_interner_add(batch->strings, tv_run_find_label(info, TV_LABEL_SESSION));
    row->boot = tv_interner_add(batch->strings, tv_run_find_label(info, TV_LABEL_BOOT));
    if (!profile->figures.sampled)
        return;
    row->value = fleet_text(batch, info, profile->figures.name);
    row->unit = tv_interner_add(batch->strings, tv_sample_figures_unit(info, &profile->figures));
}

static void fleet_append_trace(struct tv_fleet_batch *batch, const struct fleet_trace *row)
{
    batch->traces = tv_array_reserve(batch->traces, &batch->trace_room, batch->trace_count + 1,
                                     sizeof *batch->traces);
    tv_map_set(&batch->trace_index, row->number, (uint32_t)batch->trace_count);
    batch->traces[batch->trace_count++] = *row;
}

/* Add the row of the table `trace`. */
static void fleet_add_trace(struct tv_fleet_batch *batch, const struct tv_fleet_origin *origin,
                            const struct tv_trace *trace, const struct tv_profile *profile)
{
    const struct tv_trace_info *info = trace->head;
    struct fleet_trace row = {
        .hash = origin->hash,
        .number = tv_fleet_hash_number(&origin->hash),
        .added_us = origin->added_us,
        .uri = tv_interner_add(batch->strings, tv_bytes_of(origin->uri)),
        .span = trace->end - trace->start,
        .cpu = profile->total_cpu,
        .threads = info->thread_count,
        .calls = trace->recorded_calls,
        .clocks = tv_interner_add(batch->strings, tv_bytes_of(tv_names_clocks(profile->clocks))),
    };
    for (uint32_t i = 0; i < info->input_count; i++) {
        row.bytes += info->inputs[i].bytes;
        row.overflow = row.overflow || info->inputs[i].overflow;
    }
    if (info->input_count > 0) {
        row.format = tv_interner_add(batch->strings, tv_bytes_of(info->inputs[0].format));
        row.recorded_us = info->inputs[0].recorded_us;
        row.sampled = info->inputs[0].sampled_ns;
    }
    for (size_t i = 0; i < TV_DIAGNOSTIC_COUNT; i++)
        row.health += info->diagnostics.kinds[i].count;
    fleet_add_recording(batch, &row, profile);
    fleet_add_labels(batch, &row, origin, info);
    fleet_append_trace(batch, &row);
}

void tv_fleet_batch_add_error(struct tv_fleet_batch *batch, const struct tv_fleet_origin *origin,
                              const char *error)
{
    static const struct tv_trace_info unknown = {0};
    struct fleet_trace row = {
        .hash = origin->hash,
        .number = tv_fleet_hash_number(&origin->hash),
        .added_us = origin->added_us,
        .uri = tv_interner_add(batch->strings, tv_bytes_of(origin->uri)),
        .error = tv_interner_add(batch->strings, tv_bytes_of(error)),
    };
    assert(row.error != TV_EMPTY_STRING);
    fleet_add_labels(batch, &row, origin, &unknown);
    fleet_append_trace(batch, &row);
}

/* Return the call tree of the calls, or of the samples of a trace that has no calls. */
static struct tv_call_tree *fleet_tree_of(const struct tv_trace *trace)
{
    struct tv_sample_question question = {.measure = TV_SAMPLES_WEIGHT};
    struct tv_error ignored = {0};
    if (tv_trace_has_only_samples(trace) &&
        tv_sample_question_choose(trace, NULL, &question, &ignored) == TV_OK)
        return tv_sample_tree_of_trace(trace, &TV_SELECT_ALL, NULL, &question);
    return tv_call_tree_of_trace(trace, &TV_SELECT_ALL, 0);
}

uint64_t tv_fleet_batch_add(struct tv_fleet_batch *batch, const struct tv_fleet_origin *origin,
                            const struct tv_trace *trace)
{
    uint64_t number = tv_fleet_hash_number(&origin->hash);
    if (tv_fleet_batch_has(batch, number))
        return 0;
    struct tv_call_tree *tree = fleet_tree_of(trace);
    struct tv_profile *profile = tv_profile_of_tree(tree);
    const struct tv_trace_info *info = tree->head;
    size_t first = batch->method_count, frame_count = info->frame_count;
    struct tv_out scratch;
    tv_out_init_memory(&scratch);
    struct fleet_frames frames = {
        {number, info, tv_alloc(frame_count + 1, sizeof(uint64_t)), &scratch},
        tv_alloc(frame_count + 1, sizeof(uint32_t))};
    for (size_t i = 0; i < frame_count; i++)
        frames.row[i] = TV_NONE;
    /* one more than threads, for tracks of none */
    struct fleet_thread_calls *threads =
        tv_alloc((size_t)trace->head->thread_count + 1, sizeof *threads);
    fleet_add_trace(batch, origin, trace, profile);
    fleet_add_methods(batch, number, profile, &frames);
    tv_fleet_add_lengths(batch, first, trace, frames.row, threads);
    if (origin->path_share != TV_FLEET_NO_PATHS)
        fleet_add_paths(batch, origin, tree, profile, &frames);
    uint64_t left_out = tv_fleet_add_details(batch, origin, trace, tree, &frames.numbers, threads);
    tv_out_release(&scratch);
    tv_free(threads);
    tv_free(frames.numbers.methods);
    tv_free(frames.row);
    tv_profile_free(profile);
    tv_call_tree_free(tree);
    return left_out;
}

/* ---- The end of a batch ---- */

/* Rows of a table, and the offsets of the numbers by which they are sorted. */
struct fleet_rows {
    uint8_t *rows;
    size_t count, size;
    size_t first, second; /* second: of rows with one first */
};

/* Return the sorted rows in a new array; free the other one.  Only keys are moved around. */
static void *fleet_sort(struct fleet_rows table)
{
    struct tv_sort_key *keys = tv_alloc(table.count, sizeof *keys);
    uint8_t *sorted = tv_alloc(table.count, table.size);
    for (size_t i = 0; i < table.count; i++)
        keys[i].index = i;
    for (int pass = 0; pass < 2; pass++) { /* the sort is stable */
        for (size_t i = 0; i < table.count; i++)
            memcpy(&keys[i].key,
                   table.rows + keys[i].index * table.size +
                       (pass == 0 ? table.second : table.first),
                   sizeof keys[i].key);
        tv_sort_keys(keys, table.count);
    }
    for (size_t i = 0; i < table.count; i++)
        memcpy(sorted + i * table.size, table.rows + keys[i].index * table.size, table.size);
    tv_free(keys);
    tv_free(table.rows);
    return sorted;
}

/* Sort the array NAMEs of a batch by two members. */
#define SORT_ROWS(batch, name, first, second)                                                      \
    do {                                                                                           \
        (batch)->name##_room = (batch)->name##_count;                                              \
        (batch)->name##s = fleet_sort((struct fleet_rows){                                         \
            (uint8_t *)(batch)->name##s, (batch)->name##_count, sizeof *(batch)->name##s,          \
            offsetof(struct fleet_##name, first), offsetof(struct fleet_##name, second)});         \
    } while (0)

/* Return the name of a method, with its class, in the form that numbers of compilers do not change;
 * empty: the form is the name. */
static uint32_t fleet_form(struct tv_fleet_batch *batch, const struct fleet_name *row)
{
    struct tv_bytes class_name = tv_interner_get(batch->strings, row->class_name);
    struct tv_bytes name = tv_interner_get(batch->strings, row->name);
    struct tv_out form, whole;
    tv_out_init_memory(&form);
    tv_out_init_memory(&whole);
    if (class_name.length > 0) {
        tv_run_names_normal(&form, class_name, TV_NAMES_SIMILAR);
        tv_out_char(&form, '.');
        tv_out_bytes(&whole, class_name);
        tv_out_char(&whole, '.');
    }
    tv_run_names_normal(&form, name, TV_NAMES_SIMILAR);
    tv_out_bytes(&whole, name);
    struct tv_bytes text = {form.buffer, form.length};
    bool is_same = tv_bytes_equal(text, (struct tv_bytes){whole.buffer, whole.length});
    uint32_t string = is_same ? TV_EMPTY_STRING : tv_interner_add(batch->strings, text);
    tv_out_release(&form);
    tv_out_release(&whole);
    return string;
}

uint64_t tv_fleet_batch_close(struct tv_fleet_batch *batch)
{
    SORT_ROWS(batch, trace, number, number);
    SORT_ROWS(batch, name, method, method);
    SORT_ROWS(batch, method, method, trace);
    SORT_ROWS(batch, path, path, trace);
    /* Forms take long, and the traces of a batch share most of their methods. */
    for (size_t i = 0; i < batch->name_count; i++)
        batch->names[i].form = fleet_form(batch, &batch->names[i]);
    for (size_t i = 0; i < TV_COUNT(batch->details); i++) {
        struct fleet_details *details = &batch->details[i];
        details->room = details->count;
        details->rows = fleet_sort((struct fleet_rows){
            (uint8_t *)details->rows, details->count, sizeof *details->rows,
            offsetof(struct fleet_detail, trace), offsetof(struct fleet_detail, order)});
    }
    uint64_t *traces = tv_alloc(batch->trace_count, sizeof *traces);
    for (size_t i = 0; i < batch->trace_count; i++) {
        traces[i] = batch->traces[i].number;
        tv_map_set(&batch->trace_index, traces[i], (uint32_t)i);
    }
    batch->number = tv_fleet_number_of(traces, batch->trace_count);
    tv_free(traces);
    return batch->number;
}

uint64_t tv_fleet_number_of(const uint64_t *traces, size_t count)
{
    struct tv_out numbers;
    struct tv_fleet_hash hash;
    tv_out_init_memory(&numbers);
    for (size_t i = 0; i < count; i++)
        fleet_put_number(&numbers, traces[i]);
    fleet_hash_bytes((struct tv_bytes){numbers.buffer, numbers.length}, &hash);
    tv_out_release(&numbers);
    return tv_fleet_hash_number(&hash);
}

/* Write the number of a trace as the list of a batch has it. */
static void fleet_write_id(uint64_t number, struct tv_out *out)
{
    tv_out_le32(out, (uint32_t)number);
    tv_out_le32(out, (uint32_t)(number >> 32));
}

void tv_fleet_batch_write_ids(const struct tv_fleet_batch *batch, struct tv_out *out)
{
    for (size_t i = 0; i < batch->trace_count; i++)
        if (batch->traces[i].error == TV_EMPTY_STRING)
            fleet_write_id(batch->traces[i].number, out);
}

void tv_fleet_write_ids(const uint64_t *traces, size_t count, struct tv_out *out)
{
    for (size_t i = 0; i < count; i++)
        fleet_write_id(traces[i], out);
}
