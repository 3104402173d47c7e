/* SPDX-License-Identifier: Apache-2.0 */
#include "readers/embedded.h"

#include <string.h>

#include "base/memory.h"

static enum tv_status embedded_source_read(void *context, uint64_t offset, void *buffer,
                                           size_t size, struct tv_error *err)
{
    const uint8_t *text = context;
    (void)err;
    memcpy(buffer, text + offset, size);
    return TV_OK;
}

static void embedded_source_close(void *context)
{
    tv_free(context);
}

struct tv_source *tv_embedded_open(struct tv_bytes text, const char *name)
{
    static const struct tv_source_reads reads = {embedded_source_read, embedded_source_close};
    bool ended = text.length > 0 && text.data[text.length - 1] == '\n';
    uint8_t *copy = tv_alloc(text.length + 1, 1);
    if (text.length > 0)
        memcpy(copy, text.data, text.length);
    copy[text.length] = '\n';
    return tv_source_from_reads(&reads, copy, text.length + !ended, name);
}

enum tv_status tv_embedded_build(struct tv_source *source, struct tv_builder *builder,
                                 struct tv_trace *trace, const struct tv_read_options *outer,
                                 struct tv_error *err)
{
    struct tv_read_options options = {.parts = outer->parts, .progress = outer->progress};
    enum tv_status status = tv_readers_build(source, builder, &options, err);
    tv_trace_keep_inner_source(trace, source);
    return status == TV_OK ? TV_OK : tv_error_prefix(err, "%s", tv_source_name(source));
}
