/* SPDX-License-Identifier: Apache-2.0 */
/* small_profiles.c - fuzzes the readers of Austin, callgrind, collapsed stacks, cProfile, strace,
 * ninja and Instruments into a trace. */
#include <stddef.h>
#include <stdint.h>

#include "model/builder/builder.h"
#include "readers/readers.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void fuzz_reader(const struct tv_reader *reader, struct tv_source *source)
{
    struct tv_builder *builder = tv_builder_new(tv_trace_info_new());
    struct tv_read_options options = {.parts = 1};
    struct tv_error err;
    if (reader->assemble(source, builder, &options, &err) == TV_OK)
        tv_trace_free(tv_builder_finish(builder));
    else
        tv_builder_free(builder);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const struct tv_reader *const readers[] = {
        &tv_reader_austin,    &tv_reader_callgrind, &tv_reader_pstats,     &tv_reader_strace,
        &tv_reader_ninja_log, &tv_reader_collapsed, &tv_reader_instruments};
    struct tv_bytes bytes = {data, size};
    struct tv_source *source = tv_source_from_memory(bytes, "fuzz");
    for (size_t i = 0; i < TV_COUNT(readers); i++)
        if (readers[i]->sniff(bytes, size) > 0)
            fuzz_reader(readers[i], source);
    tv_source_free(source);
    return 0;
}
