/* SPDX-License-Identifier: Apache-2.0 */
/* The reader of Perfetto traces: any bytes; and cutting a range out of them.  Its records are
 * events, and a packet, which dump prints as one line, holds any number of them, so told_records.h
 * does not fit. */
#include "readers/perfetto/perfetto.h"
#include "readers/perfetto/cut.h"

#include "two_readings.h"

/* Cut the packets of a range; a time of the range, where the bytes have one, is any. */
static void cut_range(const uint8_t *data, size_t size, int64_t from, int64_t to)
{
    struct tv_pf_cut_task tasks[] = {
        {.tid = 3, .pid = 2, .name = TV_BYTES("a"), .cpu = 1},
        {.tid = 4, .name = TV_BYTES(""), .state = TV_BYTES("Sleeping"), .cpu = TV_NONE}};
    struct tv_pf_cut cut = {.from = from, .to = to};
    struct tv_error err;
    struct tv_out out;
    struct tv_source *source = tv_source_from_memory((struct tv_bytes){data, size}, "fuzz");
    tv_map_init(&cut.marks);
    cut.running.rows = &tasks[0];
    cut.waiting.rows = &tasks[1];
    cut.running.count = cut.waiting.count = 1;
    for (uint64_t offset = 0; offset < size && offset < 256; offset++)
        tv_pf_cut_mark(&cut, offset, (int64_t)data[offset], data[size - 1 - offset], 1);
    tv_out_init_memory(&out);
    (void)!tv_pf_cut_write(source, &cut, &out, &err);
    tv_out_release(&out);
    tv_map_release(&cut.marks);
    tv_source_free(source);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    cut_range(data, size, 100, 200);
    cut_range(data, size, 0, INT64_MAX);
    return compare_readings(&tv_reader_perfetto, data, size);
}
