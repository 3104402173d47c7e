/* SPDX-License-Identifier: Apache-2.0 */
/*
 * data_build_ids.h - the build IDs of the programs and libraries in a perf.data file: those that
 * `perf record` lists when it ends.
 *
 *     type (32 bits) | misc (16) | size (16) | process (32) | build ID (24 bytes) | path
 *
 * The list is a feature of a file, and a record each in a pipe. With bit 15 of misc, byte 20 of the
 * build ID is its size; else it has 20 bytes. Records of mappings may have build IDs of their own.
 */
#ifndef TV_READERS_PERF_DATA_BUILD_IDS_H
#define TV_READERS_PERF_DATA_BUILD_IDS_H

#include "base/bytes.h"

struct perf_build_id {
    struct tv_bytes path, id;
};

struct tv_perf_build_ids {
    struct perf_build_id *ids;
    size_t count, capacity;
};

/* Append the build ID of a record: its misc, and what follows its header. */
void tv_perf_build_ids_add(struct tv_perf_build_ids *ids, uint16_t misc, struct tv_bytes payload);

/* Append those that the feature lists. False: it is damaged; those before the damage are kept. */
bool tv_perf_build_ids_read(struct tv_perf_build_ids *ids, struct tv_bytes feature);

void tv_perf_build_ids_release(struct tv_perf_build_ids *ids);

#endif
