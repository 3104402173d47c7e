/* SPDX-License-Identifier: Apache-2.0 */
#include "profile_made.h"

#include "unit.h"

#include <string.h>

#include "base/bytes.h"
#include "base/memory.h"

static struct tv_trace *read_profile(struct tv_source *source, const struct tv_reader *reader)
{
    struct tv_builder *builder = tv_builder_new(tv_trace_info_new());
    struct tv_read_options options = {.parts = 1};
    struct tv_error err = {0};
    assert_int_equal(reader->assemble(source, builder, &options, &err), TV_OK);
    return tv_builder_finish(builder);
}

/* Write the samples, one a line: type, weight, thread and time if there is one, then the stack. */
static void print_samples(struct tv_out *out, const struct tv_trace *trace)
{
    const struct tv_trace_info *head = trace->head;
    for (size_t i = 0; i < trace->tables.samples.count; i++) {
        const struct tv_sample *sample = &trace->tables.samples.rows[i];
        tv_out_bytes(out, tv_trace_info_text(head, tv_sample_title(&trace->tables, sample)));
        tv_out_format(out, " %lld ", (long long)sample->weight);
        tv_out_bytes(out, tv_trace_info_text(head, head->threads[sample->thread].name));
        if (!head->inputs[0].weight_axis)
            tv_out_format(out, " at %lld", (long long)sample->time);
        for (uint32_t path = sample->line_path; path != TV_ROOT_PATH;
             path = trace->paths.nodes[path].parent) {
            const struct tv_frame *frame = &head->frames[trace->paths.nodes[path].frame];
            tv_out_text(out, " < ");
            tv_out_bytes(out, tv_trace_info_text(head, frame->name));
            if (frame->with_line)
                tv_out_format(out, ":%d", frame->line);
        }
        tv_out_char(out, '\n');
    }
}

void assert_samples(const struct tv_reader *reader, struct tv_bytes file, const char *expected)
{
    struct tv_out out;
    struct tv_source *source = tv_source_from_memory(file, "test");
    assert_true(reader->sniff(file, file.length) > 0);
    struct tv_trace *trace = read_profile(source, reader);
    tv_out_init_memory(&out);
    print_samples(&out, trace);
    tv_out_char(&out, '\0');
    assert_string_equal((const char *)out.buffer, expected);
    tv_out_release(&out);
    tv_trace_free(trace);
    tv_source_free(source);
}

void assert_described(const struct tv_reader *reader, struct tv_bytes file, size_t sample,
                      const char *expected)
{
    struct tv_out out;
    struct tv_error err;
    struct tv_source *source = tv_source_from_memory(file, "test");
    struct tv_trace *trace = read_profile(source, reader);
    assert_true(sample < trace->tables.samples.count);
    tv_out_init_memory(&out);
    assert_int_equal(trace->head->inputs[0].describe(trace, 0,
                                                     trace->tables.samples.rows[sample].offset,
                                                     TV_NO_OFFSET, &out, &err),
                     TV_OK);
    tv_out_char(&out, '\0');
    assert_string_equal((const char *)out.buffer, expected);
    tv_out_release(&out);
    tv_trace_free(trace);
    tv_source_free(source);
}

/* Read a file that the reader may refuse. */
static void read_damaged(const struct tv_reader *reader, struct tv_bytes bytes)
{
    struct tv_builder *builder = tv_builder_new(tv_trace_info_new());
    struct tv_read_options options = {.parts = 1};
    struct tv_error err = {0};
    struct tv_source *source = tv_source_from_memory(bytes, "test");
    if (reader->assemble(source, builder, &options, &err) == TV_OK)
        tv_trace_free(tv_builder_finish(builder));
    else
        tv_builder_free(builder);
    tv_source_free(source);
}

void assert_damage_survived(const struct tv_reader *reader, struct tv_bytes file)
{
    for (size_t byte = 0; byte < file.length; byte++) {
        uint8_t *copy = tv_alloc(file.length, 1);
        memcpy(copy, file.data, file.length);
        read_damaged(reader, (struct tv_bytes){copy, byte});
        copy[byte] ^= 0x91;
        read_damaged(reader, (struct tv_bytes){copy, file.length});
        tv_free(copy);
    }
}
