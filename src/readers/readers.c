/* SPDX-License-Identifier: Apache-2.0 */
/*
 * readers.c - the table of readers, the choice of the surest one, and reading with it (reader.h).
 *
 *     tv_reading_add            one input of several: offset, machine, and a useful error
 *       tv_readers_read_records   dump: records as they are in the file
 *       tv_readers_build          into a trace
 *       tv_readers_read           into a sink, without a trace
 *         tv_readers_find           sniff of all readers with the first 4096 bytes
 *
 * A pipe makes the choice delicate. Its size is unknown, and waiting for it means waiting for the
 * program that writes. So sniffs are asked without a size first, and again with it only if two
 * readers claim the file and none is certain.
 */
#include "readers/reader.h"

#include <assert.h>
#include <stdio.h>

#include "base/bytes.h"
#include "readers/firefox/firefox.h"
#include "readers/foreign.h"
#include "readers/ftrace/ftrace.h"
#include "readers/hprof/hprof.h"
#include "readers/perf/perf_script.h"
#include "readers/perfetto/perfetto.h"
#include "readers/readers.h"
#include "readers/side_inputs.h"
#include "readers/trace_event/trace_event.h"
#include "readers/v8/v8.h"

const struct tv_reader *const tv_readers[] = {
    &tv_reader_method_trace,
    &tv_reader_trace_event,
    &tv_reader_ftrace,
    &tv_reader_process_dump,
    &tv_reader_cgroup_dump,
    &tv_reader_battor,
    &tv_reader_hprof,
    /* Profiles, and small formats. */
    &tv_reader_pprof,
    &tv_reader_pprof_text,
    &tv_reader_gperftools,
    &tv_reader_otlp,
    &tv_reader_otlp_spans,
    &tv_reader_jaeger,
    &tv_reader_zipkin,
    &tv_reader_austin,
    &tv_reader_callgrind,
    &tv_reader_pstats,
    &tv_reader_strace,
    &tv_reader_ninja_log,
    &tv_reader_perf_data,
    &tv_reader_simpleperf,
    &tv_reader_simpleperf_text,
    &tv_reader_perf_script,
    &tv_reader_jfr,
    &tv_reader_cpuprofile,
    &tv_reader_heapprofile,
    &tv_reader_speedscope,
    &tv_reader_firefox,
    &tv_reader_instruments,
    &tv_reader_perfetto,
    &tv_reader_collapsed,
    NULL,
};

/* Bytes of an unknown file that an error message shows. */
#define SHOWN_BYTES 8
#define SHOWN_TEXT 40

/* Return true for a gzip file that is so short that it was cut. Longer ones were unpacked,
 * except inside too many layers of packed files. */
static bool readers_is_cut_gzip(struct tv_bytes prefix)
{
    return prefix.length < TV_SNIFF_SIZE && tv_bytes_starts_with(prefix, TV_BYTES("\x1f\x8b"));
}

/* Copy the first line, if it is plain text. Return false otherwise. */
static bool readers_show_text(struct tv_bytes prefix, char *text, size_t size)
{
    size_t length = 0;
    for (; length < prefix.length && length + 1 < size; length++) {
        uint8_t c = prefix.data[length];
        if (c == '\n' || c == '\r')
            break;
        if (c < ' ' || c > '~')
            return false;
        text[length] = (char)c;
    }
    text[length] = '\0';
    return length > 0;
}

static void readers_show_bytes(struct tv_bytes prefix, char *text, size_t size)
{
    text[0] = '\0';
    for (size_t i = 0; i < prefix.length && i < SHOWN_BYTES; i++)
        snprintf(text + i * 3, size - i * 3, " %02X", prefix.data[i]);
}

/* Say what the file is: the beginning of a gzip file, empty, a known foreign format, or its first
 * text or bytes. */
static void readers_fail_unknown(struct tv_bytes prefix, struct tv_error *err)
{
    static const char expected[] = TV_FOREIGN_EXPECTED;
    const struct tv_foreign *foreign = tv_foreign_find(prefix);
    char shown[SHOWN_TEXT + 1];
    if (readers_is_cut_gzip(prefix))
        tv_fail(err, TV_ERR_SYNTAX, prefix.length, "%s, found only the beginning of a gzip file",
                expected);
    else if (foreign && tv_foreign_is_empty(prefix))
        tv_fail(err, TV_ERR_UNSUPPORTED, 0, "%s, found %s", expected, foreign->name);
    else if (foreign)
        tv_foreign_fail(foreign, err);
    else if (readers_show_text(prefix, shown, sizeof shown))
        tv_fail(err, TV_ERR_UNSUPPORTED, 0, "%s, found the text \"%s\"", expected, shown);
    else {
        readers_show_bytes(prefix, shown, sizeof shown);
        tv_fail(err, TV_ERR_UNSUPPORTED, 0, "%s, found the bytes%s", expected, shown);
    }
}

/* Return the reader that is surest.  *open: the result may depend on the size, which is unknown. */
static const struct tv_reader *readers_find_surest(struct tv_bytes prefix, uint64_t size,
                                                   bool *open)
{
    const struct tv_reader *surest = NULL;
    int best = 0;
    unsigned candidates = 0;
    for (size_t i = 0; tv_readers[i] != NULL; i++) {
        int sure = tv_readers[i]->sniff(prefix, size);
        candidates += sure > 0;
        if (sure > best) {
            surest = tv_readers[i];
            best = sure;
        }
    }
    /* No reader joins when the size becomes known (reader.h), so one candidate decides. */
    *open = candidates > 1 && best < TV_SNIFF_SURE;
    return surest;
}

const struct tv_reader *tv_readers_find_by_prefix(struct tv_bytes prefix)
{
    bool open;
    return readers_find_surest(prefix, UINT64_MAX, &open);
}

const struct tv_reader *tv_readers_find(struct tv_source *source, struct tv_error *err)
{
    uint8_t bytes[TV_SNIFF_SIZE];
    struct tv_bytes prefix = {bytes, 0};
    uint64_t size;
    bool open;
    if (tv_source_read(source, 0, bytes, sizeof bytes, &prefix.length, err) != TV_OK)
        return NULL;
    /* Wait for the end of a pipe only if its length can change the result. */
    tv_source_reaches(source, TV_SNIFF_SIZE + 1);
    bool known = tv_source_has_size(source, &size);
    const struct tv_reader *surest = readers_find_surest(prefix, size, &open);
    if (!known && open)
        surest = readers_find_surest(prefix, tv_source_size(source), &open);
    if (!surest)
        readers_fail_unknown(prefix, err);
    return surest;
}

/* Find the reader, and announce the bytes to the progress. `whole`: it reads all of the source
 * before any event. */
static enum tv_status readers_begin(struct tv_source *source, bool whole,
                                    const struct tv_read_options *options,
                                    const struct tv_reader **reader, struct tv_error *err)
{
    assert(source && options);
    struct tv_error reason;
    *reader = tv_readers_find(source, &reason);
    if (!*reader) {
        *err = reason;
        return reason.status;
    }
    uint64_t size = whole ? tv_source_size(source) : 0;
    tv_progress_join(options->progress, false);
    if (options->progress && (whole || tv_source_has_size(source, &size)))
        atomic_fetch_add_explicit(&options->progress->input_bytes, size, memory_order_relaxed);
    return TV_OK;
}

tv_describe *tv_readers_describe(struct tv_bytes format)
{
    for (size_t i = 0; tv_readers[i] != NULL; i++)
        if (tv_readers[i]->format && tv_bytes_equal(tv_bytes_of(tv_readers[i]->format), format))
            return tv_readers[i]->describe;
    return NULL;
}

/* Return the number of rows and sums with something to show; of events also for some formats, whose
 * files may be whole and have nothing else. */
static uint64_t readers_count_contents(const struct tv_reader *reader, const struct tv_trace *trace)
{
    const struct tv_diagnostic *unknown =
        &trace->head->diagnostics.kinds[TV_DIAGNOSTIC_UNKNOWN_EVENT];
    const struct tv_tables *tables = &trace->tables;
    uint64_t count = trace->slice_count + tables->samples.count + tables->instants.count +
                     tables->counter_sample_count + tables->flows.count +
                     tables->function_costs.count;
    for (size_t i = 0; i < tables->sample_sums.count; i++)
        count += tables->sample_sums.rows[i].samples;
    if (!reader->shows_all_events)
        return count;
    for (size_t i = 0; i < tables->event_types.count; i++)
        count += tables->event_types.rows[i].count;
    return count + unknown->count;
}

/* Read with `assemble`, and fail when the input adds nothing to show. The message ends with the
 * first error that was found in it.  A damaged file beside good ones is no failure: a report that
 * is cut in its last file shows the others. */
static enum tv_status readers_assemble(const struct tv_reader *reader, struct tv_source *source,
                                       struct tv_builder *builder,
                                       const struct tv_read_options *options, struct tv_error *err)
{
    const struct tv_trace *trace = tv_builder_trace(builder);
    const struct tv_trace_info *head = tv_builder_trace_info(builder);
    const struct tv_diagnostic *kinds = head->diagnostics.kinds;
    uint64_t before[TV_DIAGNOSTIC_COUNT], contents = readers_count_contents(reader, trace);
    for (size_t i = 0; i < TV_DIAGNOSTIC_COUNT; i++)
        before[i] = kinds[i].count;
    uint32_t input = head->input_count;
    enum tv_status status = reader->assemble(source, builder, options, err);
    if (status != TV_OK || !reader->refuses_empty ||
        readers_count_contents(reader, trace) > contents)
        return status;
    size_t kind = 0;
    while (kind < TV_DIAGNOSTIC_COUNT &&
           (kinds[kind].count == before[kind] ||
            tv_diagnostic_severity((enum tv_diagnostic_kind)kind) != TV_ERROR))
        kind++;
    if (contents > 0 && kind < TV_DIAGNOSTIC_COUNT)
        return TV_OK; /* the trace has other files, and the diagnostic says what is with this one */
    const char *format = input < head->input_count ? head->inputs[input].format : NULL;
    return tv_fail(err, TV_ERR_SYNTAX, TV_NO_OFFSET,
                   "expected samples or other events, found none (format: %s)%s%s",
                   format ? format : reader->name, kind < TV_DIAGNOSTIC_COUNT ? ": " : "",
                   kind < TV_DIAGNOSTIC_COUNT ? tv_diagnostic_text((enum tv_diagnostic_kind)kind)
                                              : "");
}

enum tv_status tv_readers_build(struct tv_source *source, struct tv_builder *builder,
                                const struct tv_read_options *options, struct tv_error *err)
{
    assert(builder);
    const struct tv_reader *reader;
    enum tv_status status = readers_begin(source, true, options, &reader, err);
    if (status != TV_OK)
        return status;
    if (reader->assemble)
        return readers_assemble(reader, source, builder, options, err);
    return reader->read(source, tv_builder_trace_info(builder), tv_builder_sink(builder), options,
                        err);
}

bool tv_readers_can_stream(struct tv_source *source)
{
    struct tv_error reason;
    const struct tv_reader *reader = tv_readers_find(source, &reason);
    return reader && reader->read;
}

enum tv_status tv_readers_read(struct tv_source *source, struct tv_trace_info *head,
                               struct tv_sink *sink, const struct tv_read_options *options,
                               struct tv_error *err)
{
    const struct tv_reader *reader;
    /* A sink that writes gives its output while a pipe is still open. */
    enum tv_status status = readers_begin(source, !sink->ops->writes, options, &reader, err);
    if (status != TV_OK)
        return status;
    if (!reader->read)
        return tv_fail(err, TV_ERR_UNSUPPORTED, TV_NO_OFFSET, "a format that is read as a whole");
    return reader->read(source, head, sink, options, err);
}

bool tv_readers_has_records(struct tv_source *source)
{
    struct tv_error reason;
    const struct tv_reader *reader = tv_readers_find(source, &reason);
    return reader && reader->visit_records;
}

enum tv_status tv_readers_read_records(struct tv_source *source, struct tv_trace_info *head,
                                       struct tv_record_visitor *visitor,
                                       const struct tv_read_options *options, struct tv_error *err)
{
    const struct tv_reader *reader;
    enum tv_status status = readers_begin(source, false, options, &reader, err);
    if (status != TV_OK)
        return status;
    if (!reader->visit_records)
        return tv_fail(err, TV_ERR_UNSUPPORTED, TV_NO_OFFSET, "a format without records");
    return reader->visit_records(source, head, visitor, err);
}

enum tv_status tv_reading_blame(struct tv_source *source, struct tv_error *err)
{
    tv_source_quote(source, err);
    return tv_error_prefix(err, "%s", tv_source_name(source));
}

/* Choose the way to read: records, if somebody wants them and the format has them; else the trace,
 * if there is one to build and the format cannot stream; else the sink. */
static enum tv_status reading_read_source(struct tv_source *source, const struct tv_reading *to,
                                          const struct tv_read_options *options,
                                          struct tv_error *err)
{
    enum tv_status status;
    if (to->visitor && tv_readers_has_records(source))
        status = tv_readers_read_records(source, to->head, to->visitor, options, err);
    else if (to->builder && !tv_readers_can_stream(source))
        status = tv_readers_build(source, to->builder, options, err);
    else
        status = tv_readers_read(source, to->head, to->sink, options, err);
    if (status == TV_OK)
        status = tv_source_check(source, err);
    return status == TV_OK ? TV_OK : tv_reading_blame(source, err);
}

/* Set the origin of the inputs and processes that the source added. A machine that the reader
 * set stays. */
static void reading_set_origin(struct tv_trace_info *head, uint32_t processes, uint32_t inputs,
                               const struct tv_reading_input *input)
{
    assert(processes <= head->process_count && inputs <= head->input_count);
    for (uint32_t i = processes; i < head->process_count; i++)
        if (head->processes[i].machine == TV_NONE)
            head->processes[i].machine = input->machine;
    for (uint32_t i = inputs; i < head->input_count; i++) {
        head->inputs[i].moved = input->offset;
        if (head->inputs[i].machine == TV_NONE)
            head->inputs[i].machine = input->machine;
    }
}

enum tv_status tv_reading_add(const struct tv_reading *to, const struct tv_reading_input *input,
                              const struct tv_read_options *options, struct tv_error *err)
{
    uint32_t processes = to->head->process_count, inputs = to->head->input_count;
    enum tv_status status = reading_read_source(input->source, to, options, err);
    reading_set_origin(to->head, processes, inputs, input);
    return status;
}
