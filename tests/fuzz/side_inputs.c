/* SPDX-License-Identifier: Apache-2.0 */
/* Lists of processes, control groups and power samples from anywhere, together as one trace. */
#include <stddef.h>
#include <stdint.h>

#include "model/builder/builder.h"
#include "readers/side_inputs.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const struct tv_reader *const readers[] = {&tv_reader_process_dump, &tv_reader_cgroup_dump,
                                               &tv_reader_battor};
    struct tv_builder *builder = tv_builder_new(tv_trace_info_new());
    struct tv_read_options options = {.parts = 1};
    for (size_t i = 0; i < TV_COUNT(readers); i++) {
        struct tv_source *source = tv_source_from_memory((struct tv_bytes){data, size}, "fuzz");
        struct tv_error err = {0};
        (void)!readers[i]->assemble(source, builder, &options, &err);
        tv_source_free(source);
    }
    tv_trace_free(tv_builder_finish(builder));
    return 0;
}
