/* SPDX-License-Identifier: Apache-2.0 */
#include "kept.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "answers.h"
#include "base/memory.h"
#include "base/source.h"
#include "model/builder/builder.h"
#include "view/view.h"

struct tv_trace *kept_load_with(struct tv_bytes bytes, const struct tv_read_options *options,
                                struct tv_error *err)
{
    struct tv_source *source = tv_source_from_memory(bytes, "test");
    struct tv_trace_info *head = tv_trace_info_new();
    struct tv_builder *builder = tv_builder_new(head);
    enum tv_status status =
        tv_readers_can_stream(source)
            ? tv_readers_read(source, head, tv_builder_sink(builder), options, err)
            : tv_readers_build(source, builder, options, err);
    if (status != TV_OK) {
        tv_builder_free(builder);
        tv_source_free(source);
        return NULL;
    }
    struct tv_trace *trace = tv_builder_finish(builder);
    tv_trace_keep_source(trace, source);
    return trace;
}

struct tv_trace *kept_load(struct tv_bytes bytes)
{
    struct tv_error err;
    return kept_load_with(bytes, &(struct tv_read_options){.parts = 1}, &err);
}

static void add_view(const void *context, struct tv_sections_writer *writer)
{
    tv_view_store(context, writer);
}

void kept_write(const struct tv_trace *trace, struct tv_bytes key, struct tv_out *out)
{
    struct tv_error err;
    struct tv_view *view = tv_view_new(trace);
    struct tv_index_more more = {add_view, view};
    tv_out_init_memory(out);
    if (tv_index_write(trace, key, &more, out, &err) != TV_OK) {
        printf("Bail out! %s\n", err.message);
        exit(1);
    }
    tv_view_free(view);
}

static void release_copy(struct tv_bytes bytes)
{
    void *copy;
    memcpy(&copy, &bytes.data, sizeof copy);
    tv_free(copy);
}

static enum tv_status open_original(void *context, uint32_t number, struct tv_source **source,
                                    struct tv_error *err)
{
    const struct tv_trace *original = context;
    if (number >= original->source_count - original->inner_count)
        return tv_fail(err, TV_ERR_USAGE, TV_NO_OFFSET, "there is no such source");
    struct tv_source *from = original->sources[original->inner_count + number];
    *source = tv_source_range(from, 0, tv_source_size(from), tv_source_name(from));
    return TV_OK;
}

enum tv_status kept_read(struct tv_bytes bytes, struct tv_bytes key,
                         const struct tv_trace *original, struct tv_trace **trace,
                         struct tv_error *err)
{
    struct tv_sections_memory memory = {.release = release_copy};
    uint8_t *copy = tv_alloc(bytes.length, 1);
    struct tv_index_inputs inputs = {.open = open_original};
    memcpy(&inputs.context, &original, sizeof original);
    if (bytes.length > 0)
        memcpy(copy, bytes.data, bytes.length);
    memory.bytes = (struct tv_bytes){copy, bytes.length};
    return tv_index_read(&memory, key, original ? &inputs : NULL, trace, err);
}

void kept_answers(const struct tv_trace *trace, uint32_t most, struct tv_out *out)
{
    struct tv_view *view = tv_view_new(trace);
    tv_out_init_memory(out);
    answers_write(view, trace, most, out);
    tv_view_free(view);
}
