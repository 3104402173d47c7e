/* SPDX-License-Identifier: Apache-2.0 */
/* Profiles in JSON from anywhere, read by each of their readers, together as one trace. */
#include <stddef.h>
#include <stdint.h>

#include "model/builder/builder.h"
#include "readers/firefox/firefox.h"
#include "readers/json/profile_kind.h"
#include "readers/readers.h"
#include "readers/v8/v8.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const struct tv_reader *const readers[] = {&tv_reader_cpuprofile, &tv_reader_heapprofile,
                                               &tv_reader_speedscope, &tv_reader_firefox};
    struct tv_builder *builder = tv_builder_new(tv_trace_info_new());
    struct tv_source *sources[TV_COUNT(readers)];
    struct tv_read_options options = {.parts = 1};
    (void)tv_json_profile_kind((struct tv_bytes){data, size});
    for (size_t i = 0; i < TV_COUNT(readers); i++) {
        struct tv_error err = {0};
        sources[i] = tv_source_from_memory((struct tv_bytes){data, size}, "CPU.1.2.3.4.5.x");
        (void)!readers[i]->assemble(sources[i], builder, &options, &err);
    }
    tv_trace_free(tv_builder_finish(builder));
    for (size_t i = 0; i < TV_COUNT(readers); i++)
        tv_source_free(sources[i]);
    return 0;
}
