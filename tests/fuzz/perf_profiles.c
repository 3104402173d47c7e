/* SPDX-License-Identifier: Apache-2.0 */
/* perf_profiles.c - fuzzes the readers of profiles of perf and simpleperf, text and binary, into a
 * trace.  Text is read in one part and in three, which must find the same samples. */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include "model/builder/builder.h"
#include "readers/perf/perf_script.h"
#include "readers/readers.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Read the bytes, and return the number of samples. */
static size_t fuzz_read_profile(const struct tv_reader *reader, struct tv_bytes bytes,
                                const struct tv_read_options *options)
{
    struct tv_builder *builder = tv_builder_new(tv_trace_info_new());
    struct tv_source *source = tv_source_from_memory(bytes, "fuzz");
    struct tv_error err = {0};
    size_t samples = 0;
    if (reader->assemble(source, builder, options, &err) == TV_OK) {
        struct tv_trace *trace = tv_builder_finish(builder);
        samples = trace->tables.samples.count;
        tv_trace_free(trace);
    } else {
        tv_builder_free(builder);
    }
    tv_source_free(source);
    return samples;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const struct tv_reader *const readers[] = {&tv_reader_perf_data, &tv_reader_simpleperf,
                                                      &tv_reader_simpleperf_text,
                                                      &tv_reader_perf_script};
    struct tv_bytes bytes = {data, size};
    uint64_t starts[] = {size / 3, size / 3 * 2};
    struct tv_read_options one = {.parts = 1}, three = {.parts = 3, .part_starts = starts};
    for (size_t i = 0; i < TV_COUNT(readers); i++) {
        if (readers[i]->sniff(bytes, size) == 0)
            continue;
        size_t samples = fuzz_read_profile(readers[i], bytes, &one);
        if (samples != fuzz_read_profile(readers[i], bytes, &three))
            abort();
    }
    return 0;
}
