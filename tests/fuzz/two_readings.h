/* SPDX-License-Identifier: Apache-2.0 */
/*
 * two_readings.h - any bytes through a reader that assembles, in one part and in three: both must
 * end alike and bring the same trace.
 */
#ifndef TV_TESTS_TWO_READINGS_H
#define TV_TESTS_TWO_READINGS_H

#include <stdio.h>
#include <stdlib.h>

#include "base/bytes.h"
#include "base/memory.h"
#include "model/builder/builder.h"
#include "readers/reader.h"
#include "writers/dump/dump.h"

static void write_trace(struct tv_trace *trace, struct tv_source *source, struct tv_out *out)
{
    for (int kind = 0; kind < TV_DIAGNOSTIC_COUNT; kind++)
        tv_out_format(out, "%llu ", (unsigned long long)trace->head->diagnostics.kinds[kind].count);
    tv_trace_keep_source(trace, source);
    tv_model_jsonl_write(out, trace, NULL);
    tv_trace_free(trace);
}

static void read_once(const struct tv_reader *reader, struct tv_bytes bytes, unsigned parts,
                      struct tv_out *out)
{
    uint64_t starts[2] = {bytes.length / 3, bytes.length / 3 * 2};
    struct tv_read_options options = {.parts = parts, .part_starts = starts};
    struct tv_error err;
    struct tv_builder *builder = tv_builder_new(tv_trace_info_new());
    struct tv_source *source = tv_source_from_memory(bytes, "fuzz");
    tv_out_init_memory(out);
    if (reader->assemble(source, builder, &options, &err) == TV_OK) {
        write_trace(tv_builder_finish(builder), source, out);
        return;
    }
    tv_out_text(out, err.message);
    tv_builder_free(builder);
    tv_source_free(source);
}

static int compare_readings(const struct tv_reader *reader, const uint8_t *data, size_t size)
{
    struct tv_out one, three;
    struct tv_bytes bytes = {data, size};
    read_once(reader, bytes, 1, &one);
    read_once(reader, bytes, 3, &three);
    if (!tv_bytes_equal((struct tv_bytes){one.buffer, one.length},
                        (struct tv_bytes){three.buffer, three.length})) {
        fprintf(stderr, "three parts read something else than one\n");
        abort();
    }
    tv_out_release(&one);
    tv_out_release(&three);
    return 0;
}

#endif
