/* SPDX-License-Identifier: Apache-2.0 */
/*
 * write_back.c - everything that we write can be read again, and contains what was written: any
 * bytes that some reader takes, in every format of `convert` and as collapsed stacks, whole and
 * cut, with names and with hashes of them.
 *
 * The first two bytes of the input choose cut and redaction, the rest is the file.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/calltree/call_tree.h"
#include "analysis/calltree/derived_trees.h"
#include "analysis/subset/selection.h"
#include "base/bytes.h"
#include "base/memory.h"
#include "model/builder/builder.h"
#include "readers/reader.h"
#include "writers/stacks/collapsed.h"
#include "writers/tables/info.h"
#include "writers/text/names.h"
#include "writers/trace/excerpt.h"
#include "writers/trace/trace_formats.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* More takes long and finds no more. */
#define LONGEST_INPUT ((size_t)64 * 1024)

static void fail_written(const char *what, const char *why, const struct tv_out *out)
{
    fprintf(stderr, "%s: %s\n%.*s\n", what, why, out->length < 2000 ? (int)out->length : 2000,
            (const char *)out->buffer);
    abort();
}

static struct tv_trace *load(struct tv_bytes bytes, struct tv_error *err)
{
    struct tv_read_options options = {.parts = 1};
    struct tv_builder *builder = tv_builder_new(tv_trace_info_new());
    struct tv_source *source = tv_source_from_memory(bytes, "fuzz");
    if (tv_readers_build(source, builder, &options, err) != TV_OK) {
        tv_builder_free(builder);
        tv_source_free(source);
        return NULL;
    }
    struct tv_trace *trace = tv_builder_finish(builder);
    tv_trace_keep_source(trace, source);
    return trace;
}

static struct tv_trace *load_again(const struct tv_out *out, const char *what)
{
    struct tv_error err = {0};
    struct tv_trace *again = load((struct tv_bytes){out->buffer, out->length}, &err);
    if (!again)
        fail_written(what, err.message, out);
    return again;
}

/* ---- The content of a trace, in any order ---- */

struct holding {
    uint64_t slices, shapes,
        names;       /* calls of threads: how many, their depths and lengths, names */
    uint64_t starts; /* of them, from the first */
    uint64_t async, instants, samples, counter_values;
};

static uint64_t mix(uint64_t a, uint64_t b)
{
    a = (a ^ (b + UINT64_C(0x9e3779b97f4a7c15))) * UINT64_C(0xbf58476d1ce4e5b9);
    return (a ^ a >> 29) * UINT64_C(0x94d049bb133111eb);
}

static uint64_t hash_text(struct tv_bytes text)
{
    uint64_t hash = text.length;
    for (size_t i = 0; i < text.length; i++)
        hash = mix(hash, text.data[i]);
    return hash;
}

static tv_ns first_start(const struct tv_trace *trace)
{
    tv_ns first = INT64_MAX;
    for (uint32_t row = 0; row < trace->row_count; row++) {
        if (trace->rows[row].count > 0 &&
            tv_track_has_calls(&trace->tracks[trace->rows[row].track]) &&
            tv_slice_start(trace, row, 0) < first)
            first = tv_slice_start(trace, row, 0);
    }
    return first;
}

/* Hash "class.name", which some formats have in one text; bytes that are not UTF-8 are U+FFFD. */
static uint64_t hash_name(const struct tv_trace *trace, uint32_t path)
{
    struct tv_out name, clean;
    tv_out_init_memory(&name);
    tv_out_init_memory(&clean);
    tv_names_put_function(&name, trace->head, tv_path_frame(trace, path));
    for (size_t i = 0; i < name.length; i++)
        name.buffer[i] = name.buffer[i] < ' ' ? ' ' : name.buffer[i]; /* as in tables */
    tv_out_json(&clean, (struct tv_bytes){name.buffer, name.length});
    uint64_t hash = hash_text((struct tv_bytes){clean.buffer, clean.length});
    tv_out_release(&name);
    tv_out_release(&clean);
    return hash;
}

static void add_row(struct holding *holding, const struct tv_trace *trace, uint32_t row,
                    tv_ns first)
{
    for (uint32_t i = 0; i < trace->rows[row].count; i++) {
        struct tv_slice slice = tv_slice_get(trace, row, i);
        holding->slices++;
        holding->shapes += mix(trace->rows[row].depth, (uint64_t)slice.length);
        holding->starts += mix((uint64_t)(slice.start - first), (uint64_t)slice.length);
        holding->names += hash_name(trace, slice.path);
    }
}

/* Samples with several values are several rows: count those of the most frequent value type. */
static uint64_t most_samples(const struct tv_trace *trace)
{
    const struct tv_tables *tables = &trace->tables;
    uint64_t most = 0, *counts = tv_alloc(tables->value_types.count, sizeof *counts);
    for (size_t i = 0; i < tables->samples.count; i++) {
        uint64_t count = ++counts[tables->samples.rows[i].type];
        most = count > most ? count : most;
    }
    tv_free(counts);
    return most;
}

static struct holding holding_of(const struct tv_trace *trace)
{
    struct holding holding = {.instants = trace->tables.instants.count,
                              .samples = most_samples(trace),
                              .counter_values = trace->tables.counter_value_count};
    tv_ns first = first_start(trace);
    for (uint32_t row = 0; row < trace->row_count; row++) {
        const struct tv_track *track = &trace->tracks[trace->rows[row].track];
        if (tv_track_has_calls(track))
            add_row(&holding, trace, row, first);
        else if (track->kind == TV_TRACK_ASYNC)
            holding.async += trace->rows[row].count;
    }
    return holding;
}

static void compare(const char *what, const char *of, const struct tv_out *out, uint64_t before,
                    uint64_t after)
{
    char why[128];
    snprintf(why, sizeof why, "%s were %llu, and are %llu", of, (unsigned long long)before,
             (unsigned long long)after);
    if (before != after)
        fail_written(what, why, out);
}

/* Nothing but method traces is written without events. */
static bool has_events(const struct tv_trace *trace)
{
    static const struct tv_subset all;
    struct tv_counts counts = tv_counts_of(trace, &all);
    return counts.sums.slices + counts.sums.async + counts.sums.cpu_slices +
               counts.thread_instants + counts.other_instants + counts.counters + counts.objects +
               counts.samples + counts.memory_dumps >
           0;
}

/* ---- JSON and method traces ---- */

/* JSON is written as it stands.  A member without a value in text that is not quite JSON gets null.
 */
static bool is_json(const struct tv_trace *trace)
{
    return trace->head->input_count == 1 && trace->head->inputs[0].verbatim &&
           trace->head->diagnostics.kinds[TV_DIAGNOSTIC_BAD_JSON].count == 0;
}

static void compare_calls(const char *what, const struct tv_out *out, const struct holding *before,
                          const struct holding *after)
{
    compare(what, "calls", out, before->slices, after->slices);
    compare(what, "starts of calls", out, before->starts, after->starts);
}

/* Events of JSON are written as they stand, so that nothing may change.  Of others calls stay where
 * nothing else becomes a slice; those that are open end when each format lets them, and one
 * without length may lie on another call that ends or begins there. */
static void compare_events(const struct tv_trace *trace, const struct tv_out *out,
                           const struct tv_excerpt_losses *losses)
{
    static const char what[] = "JSON";
    const struct tv_trace_event_losses *model = &losses->events.model;
    struct tv_trace *again = load_again(out, what);
    struct holding before = holding_of(trace), after = holding_of(again);
    bool bad_json = trace->head->diagnostics.kinds[TV_DIAGNOSTIC_BAD_JSON].count > 0;
    if (is_json(trace) || (trace->head->input_count == 1 && !bad_json && model->processors == 0 &&
                           model->states == 0 && model->others == 0 && trace->open_calls == 0))
        compare_calls(what, out, &before, &after);
    if (is_json(trace)) {
        compare(what, "shapes of calls", out, before.shapes, after.shapes);
        compare(what, "names of calls", out, before.names, after.names);
        compare(what, "async slices", out, before.async, after.async);
        compare(what, "instants", out, before.instants, after.instants);
        compare(what, "samples", out, before.samples, after.samples);
        compare(what, "values of counters", out, before.counter_values, after.counter_values);
    }
    tv_trace_free(again);
}

/* Nothing is said to be lost of calls. */
static bool keeps_calls(const struct tv_trace *trace, const struct tv_trace_file_losses *losses)
{
    const struct tv_diagnostic *kinds = trace->head->diagnostics.kinds;
    return !losses->cpu_clock && !losses->wall_clock && !losses->invented_clock &&
           losses->rounded == 0 && losses->long_steps == 0 && losses->stray_exits == 0 &&
           losses->renamed == 0 && losses->unnested == 0 && losses->inputs <= 1 &&
           kinds[TV_DIAGNOSTIC_TOO_DEEP].count == 0;
}

static void write_file(const struct tv_trace *trace, enum tv_trace_target target, bool cpu)
{
    static const char what[] = "method trace";
    struct tv_trace_file_options options = {.target = target, .cpu = cpu};
    struct tv_trace_file_losses losses;
    struct tv_error err = {0};
    struct tv_out out;
    tv_out_init_memory(&out);
    if (tv_trace_file_write(&out, trace, &options, &losses, &err) == TV_OK) {
        struct tv_trace *again = load_again(&out, what);
        struct holding before = holding_of(trace), after = holding_of(again);
        if (keeps_calls(trace, &losses)) {
            compare_calls(what, &out, &before, &after);
            compare(what, "shapes of calls", &out, before.shapes, after.shapes);
            compare(what, "names of calls", &out, before.names, after.names);
        }
        tv_trace_free(again);
    }
    tv_out_release(&out);
}

/* ---- Profiles for other viewers, and Perfetto traces ---- */

/* Write the trace; return what can be read of the file, or NULL if the format holds nothing of the
 * trace.  `lines`: what the writer said about losses. */
static struct tv_trace *convert(const struct tv_trace *trace, const struct tv_trace_format *format,
                                struct tv_out *out, struct tv_out *lines)
{
    static const struct tv_subset all;
    struct tv_trace_conversion conversion = {.trace = trace, .keep = &all};
    struct tv_error err = {0};
    tv_out_init_memory(out);
    tv_out_init_memory(lines);
    if (!has_events(trace) || format->write(format, &conversion, out, lines, &err) != TV_OK)
        return NULL;
    return load_again(out, format->name);
}

/* A format may have one kind of slice for calls, async slices and instants of a process. */
static void compare_all(const char *what, const struct tv_out *out, const struct tv_trace *trace,
                        const struct tv_trace *again)
{
    struct holding before = holding_of(trace), after = holding_of(again);
    if (before.async + before.instants == 0) {
        compare_calls(what, out, &before, &after);
        compare(what, "shapes of calls", out, before.shapes, after.shapes);
        compare(what, "names of calls", out, before.names, after.names);
    }
    compare(what, "slices and instants", out, before.slices + before.async + before.instants,
            after.slices + after.async + after.instants);
    compare(what, "samples", out, before.samples, after.samples);
}

/* Readers report times beyond the largest that they keep. */
static bool is_saturated(const struct tv_trace *trace)
{
    return trace->head->diagnostics.kinds[TV_DIAGNOSTIC_TIME_SATURATED].count > 0;
}

/* A file without reported losses has everything.  So has one that is written from such a file. */
static void write_format(const struct tv_trace *trace, const struct tv_trace_format *format,
                         int times)
{
    struct tv_out out, lines;
    struct tv_trace *again = convert(trace, format, &out, &lines);
    if (again && lines.length == 0 && !is_saturated(again))
        compare_all(format->name, &out, trace, again);
    if (again && times > 1)
        write_format(again, format, times - 1);
    if (again)
        tv_trace_free(again);
    tv_out_release(&lines);
    tv_out_release(&out);
}

static void write_other_formats(const struct tv_trace *trace)
{
    const struct tv_trace_format *format;
    for (size_t i = 0; (format = tv_trace_format_at(i)); i++) {
        if (!format->method_trace && strcmp(format->name, "json") != 0)
            write_format(trace, format, 2);
    }
}

/* ---- Pieces ---- */

/* No digest that anybody should use. */
static void digest(const uint8_t key[TV_REDACTION_KEY_SIZE], struct tv_bytes text,
                   uint8_t made[TV_REDACTION_KEY_SIZE])
{
    memset(made, 0, TV_REDACTION_KEY_SIZE);
    made[0] = key[0];
    for (size_t i = 0; i < text.length; i++)
        made[i % TV_REDACTION_KEY_SIZE] ^= (uint8_t)(text.data[i] + i);
}

static void write_piece(const struct tv_trace *trace, const struct tv_crop *cut,
                        const struct tv_redaction_options *redaction)
{
    bool whole = tv_crop_is_everything(trace, cut) && !redaction;
    for (int file = has_events(trace) ? 0 : 1; file < 2; file++) {
        struct tv_excerpt piece;
        struct tv_excerpt_losses losses;
        struct tv_error err = {0};
        struct tv_out out;
        tv_excerpt_make(&piece, trace, cut);
        piece.redaction = redaction;
        tv_out_init_memory(&out);
        if (tv_excerpt_check(&piece, file, &err) == TV_OK &&
            tv_excerpt_write(&piece, file, &out, &losses, &err) == TV_OK) {
            if (whole && !file)
                compare_events(trace, &out, &losses);
            else
                tv_trace_free(load_again(&out, file ? "piece as a file" : "piece as events"));
        }
        tv_out_release(&out);
        tv_excerpt_release(&piece);
    }
}

/* ---- Collapsed stacks ---- */

/* The calls, or the samples of a trace that has nothing else. */
static struct tv_call_tree *tree_of_calls_or_samples(const struct tv_trace *trace)
{
    struct tv_sample_question question = {.measure = TV_SAMPLES_WEIGHT};
    struct tv_error err;
    if (tv_trace_has_only_samples(trace) &&
        tv_sample_question_choose(trace, NULL, &question, &err) == TV_OK)
        return tv_sample_tree_of_trace(trace, &TV_SELECT_ALL, NULL, &question);
    return tv_call_tree_of_trace(trace, &TV_SELECT_ALL, 1);
}

static void collapse(const struct tv_trace *trace, struct tv_out *out)
{
    struct tv_call_tree *tree = tree_of_calls_or_samples(trace);
    bool cpu = !(tree->clocks & TV_CLOCK_WALL);
    struct tv_name_tree_options options = {.cpu = cpu, .thread = TV_NONE};
    struct tv_name_tree *names = tv_name_tree_new(tree, &options);
    tv_out_init_memory(out);
    tv_collapsed_write(out, names, tv_collapsed_unit_of(tree), 1);
    tv_name_tree_free(names);
    tv_call_tree_free(tree);
}

/* Stacks that were read again are written as they were. */
static void write_stacks(const struct tv_trace *trace)
{
    struct tv_out once, twice;
    struct tv_error err = {0};
    collapse(trace, &once);
    struct tv_trace *again = load((struct tv_bytes){once.buffer, once.length}, &err);
    /* Too little of it looks like something else; an axis has an end, which is told. */
    if (again && strcmp(again->head->inputs[0].format, "Collapsed stacks") == 0 &&
        !is_saturated(again)) {
        collapse(again, &twice);
        if (!tv_bytes_equal((struct tv_bytes){once.buffer, once.length},
                            (struct tv_bytes){twice.buffer, twice.length})) {
            fprintf(stderr, "was\n%.*s\n", (int)once.length, (const char *)once.buffer);
            fail_written("stacks", "are others when written again", &twice);
        }
        tv_out_release(&twice);
    }
    if (again)
        tv_trace_free(again);
    tv_out_release(&once);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct tv_error err = {0};
    struct tv_subset all = {0};
    if (size < 2 || size > LONGEST_INPUT)
        return -1;
    uint8_t how = data[0], when = data[1];
    struct tv_trace *trace = load((struct tv_bytes){data + 2, size - 2}, &err);
    if (!trace)
        return -1;
    struct tv_redaction_options redaction = {
        .hash_names = how & 1, .strip_args = how & 2, .mac = digest, .key = "k"};
    struct tv_crop whole = {&all, INT64_MIN, INT64_MAX, false};
    struct tv_crop part = {&all, (tv_ns)when * 100, (tv_ns)when * 100 + 1 + (tv_ns)how * 777,
                           false};
    write_piece(trace, &whole, NULL);
    if (how & 3)
        write_piece(trace, &whole, &redaction);
    write_piece(trace, &part, how & 4 ? &redaction : NULL);
    for (int target = TV_TRACE_V1; target <= TV_TRACE_STREAM_2; target++)
        write_file(trace, (enum tv_trace_target)target, how & 8);
    write_other_formats(trace);
    write_stacks(trace);
    tv_trace_free(trace);
    return 0;
}
