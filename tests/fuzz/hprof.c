/* SPDX-License-Identifier: Apache-2.0 */
/* hprof.c - fuzzes the reader of CPU profiles of hprof, text and binary, into a trace. */
#include <stddef.h>
#include <stdint.h>

#include "model/builder/builder.h"
#include "readers/hprof/hprof.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct tv_builder *builder = tv_builder_new(tv_trace_info_new());
    struct tv_source *source = tv_source_from_memory((struct tv_bytes){data, size}, "fuzz");
    struct tv_read_options options = {.parts = 1};
    struct tv_error err = {0};
    enum tv_status status = TV_ERR_SYNTAX;
    /* A source that no reader recognizes is never read. */
    if (tv_reader_hprof.sniff((struct tv_bytes){data, size}, size) > 0)
        status = tv_reader_hprof.assemble(source, builder, &options, &err);
    if (status == TV_OK)
        tv_trace_free(tv_builder_finish(builder));
    else
        tv_builder_free(builder);
    tv_source_free(source);
    return 0;
}
