/* SPDX-License-Identifier: Apache-2.0 */
/* pprof.c - fuzzes the readers of pprof profiles, of the text and words of their ancestors, and of
 * OpenTelemetry profiles and spans, and spans of Jaeger and Zipkin. */
#include <stddef.h>
#include <stdint.h>

#include "base/out.h"
#include "model/builder/builder.h"
#include "readers/readers.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void fuzz_describe(const struct tv_trace *trace, uint64_t offset)
{
    struct tv_out out;
    struct tv_error err;
    if (offset == TV_NO_OFFSET || !trace->head->inputs[0].describe)
        return;
    tv_out_init_memory(&out);
    enum tv_status status =
        trace->head->inputs[0].describe(trace, 0, offset, TV_NO_OFFSET, &out, &err);
    (void)status;
    tv_out_release(&out);
}

/* Read the labels of the first sample, and the attributes of the first span and event, again. */
static void fuzz_describe_first(const struct tv_trace *trace)
{
    if (trace->tables.samples.count > 0)
        fuzz_describe(trace, trace->tables.samples.rows[0].offset);
    if (trace->tables.instants.count > 0)
        fuzz_describe(trace, trace->tables.instants.rows[0].offset);
    if (trace->slice_count > 0)
        fuzz_describe(trace, tv_slice_offset(trace, 0, 0));
}

static void fuzz_read(const struct tv_reader *reader, struct tv_bytes bytes,
                      enum tv_sample_detail detail)
{
    struct tv_read_options options = {.parts = detail == TV_SAMPLES_SINGLE ? 1 : 3};
    struct tv_error err = {0};
    if (reader->sniff(bytes, bytes.length) == 0)
        return;
    struct tv_builder *builder = tv_builder_new(tv_trace_info_new());
    tv_builder_sum_samples(builder, detail);
    struct tv_source *source = tv_source_from_memory(bytes, "fuzz");
    if (reader->assemble(source, builder, &options, &err) == TV_OK) {
        struct tv_trace *trace = tv_builder_finish(builder);
        fuzz_describe_first(trace);
        tv_trace_free(trace);
    } else {
        tv_builder_free(builder);
    }
    tv_source_free(source);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    fuzz_read(&tv_reader_pprof, (struct tv_bytes){data, size}, TV_SAMPLES_SINGLE);
    fuzz_read(&tv_reader_pprof, (struct tv_bytes){data, size}, TV_SAMPLES_BY_LINES);
    fuzz_read(&tv_reader_pprof_text, (struct tv_bytes){data, size}, TV_SAMPLES_SINGLE);
    fuzz_read(&tv_reader_gperftools, (struct tv_bytes){data, size}, TV_SAMPLES_SINGLE);
    fuzz_read(&tv_reader_otlp, (struct tv_bytes){data, size}, TV_SAMPLES_SINGLE);
    fuzz_read(&tv_reader_otlp_spans, (struct tv_bytes){data, size}, TV_SAMPLES_SINGLE);
    fuzz_read(&tv_reader_jaeger, (struct tv_bytes){data, size}, TV_SAMPLES_SINGLE);
    fuzz_read(&tv_reader_zipkin, (struct tv_bytes){data, size}, TV_SAMPLES_SINGLE);
    return 0;
}
