/* SPDX-License-Identifier: Apache-2.0 */
#include "index/layout.h"

#include "base/bytes.h"
#include "base/hash.h"

static uint64_t add_size(uint64_t sum, size_t size)
{
    return tv_checksum((struct tv_bytes){(const uint8_t *)&size, sizeof size}, sum);
}

uint64_t tv_index_layout(void)
{
    const struct tv_tables *tables = NULL;
    uint64_t sum = TV_INDEX_FORMAT;
    static const size_t sizes[] = {
        sizeof(struct tv_index_facts),  sizeof(struct tv_index_input),
        sizeof(struct tv_index_source), sizeof(struct tv_index_diagnostic),
        sizeof(struct tv_process),      sizeof(struct tv_thread),
        sizeof(struct tv_frame),        sizeof(struct tv_metadata),
        sizeof(struct tv_path_node),    sizeof(struct tv_track),
        sizeof(struct tv_wait),         sizeof(struct tv_row),
        sizeof(struct tv_slice_block),  sizeof(struct tv_wide_time),
        sizeof(struct tv_object_key),
    };
    for (size_t i = 0; i < TV_COUNT(sizes); i++)
        sum = add_size(sum, sizes[i]);
#define ADD_TABLE(table, ...) sum = add_size(sum, sizeof *tables->table.rows);
    TV_INDEX_TABLES(ADD_TABLE)
#undef ADD_TABLE
    /* Diagnostics are kept by number, and there are more with every format. */
    for (unsigned i = 0; i < TV_DIAGNOSTIC_COUNT; i++)
        sum = tv_checksum(tv_bytes_of(tv_diagnostic_name((enum tv_diagnostic_kind)i)), sum);
    return sum;
}
