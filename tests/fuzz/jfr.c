/* SPDX-License-Identifier: Apache-2.0 */
/* jfr.c - fuzzes recordings of the Java Flight Recorder: the whole file into a trace, and each of
 * its first events read again; then into sums of its samples. */
#include <stddef.h>
#include <stdint.h>

#include "readers/jfr/events.h"
#include "readers/readers.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define MAX_DESCRIBED 32

static void describe_events(const struct tv_trace *trace)
{
    struct tv_out out;
    struct tv_error err = {0};
    tv_out_init_memory(&out);
    for (size_t i = 0; i < trace->tables.instants.count && i < MAX_DESCRIBED; i++)
        (void)tv_jfr_describe(trace, 0, trace->tables.instants.rows[i].offset, TV_NO_OFFSET, &out,
                              &err);
    for (size_t i = 0; i < trace->tables.samples.count && i < MAX_DESCRIBED; i++)
        (void)tv_jfr_describe(trace, 0, trace->tables.samples.rows[i].offset, TV_NO_OFFSET, &out,
                              &err);
    tv_out_release(&out);
}

static void read_recording(struct tv_bytes bytes, enum tv_sample_detail detail)
{
    struct tv_builder *builder = tv_builder_new(tv_trace_info_new());
    struct tv_source *source = tv_source_from_memory(bytes, "fuzz");
    struct tv_read_options options = {.parts = 1};
    struct tv_error err = {0};
    tv_builder_sum_samples(builder, detail);
    if (tv_reader_jfr.assemble(source, builder, &options, &err) == TV_OK) {
        struct tv_trace *trace = tv_builder_finish(builder);
        describe_events(trace);
        tv_trace_free(trace);
    } else {
        tv_builder_free(builder);
    }
    tv_source_free(source);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    read_recording((struct tv_bytes){data, size}, TV_SAMPLES_SINGLE);
    read_recording((struct tv_bytes){data, size}, TV_SAMPLES_BY_STACK);
    return 0;
}
