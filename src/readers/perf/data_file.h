/* SPDX-License-Identifier: Apache-2.0 */
/*
 * data_file.h - the frame of a perf.data file: its events, its records, and its feature sections.
 *
 *     file:  header | ids | attributes of the events | records ... | features
 *     pipe:  header | records, some of which carry attributes and features
 *
 * The kernel's include/uapi/linux/perf_event.h has most of the numbers.
 */
#ifndef TV_READERS_PERF_DATA_FILE_H
#define TV_READERS_PERF_DATA_FILE_H

#include "base/bytes.h"
#include "base/map.h"

/* Records, by type. */
enum tv_perf_record_type {
    TV_PERF_MMAP = 1,
    TV_PERF_LOST = 2,
    TV_PERF_COMM = 3,
    TV_PERF_EXIT = 4,
    TV_PERF_FORK = 7,
    TV_PERF_SAMPLE = 9,
    TV_PERF_MMAP2 = 10,
    TV_PERF_LOST_SAMPLES = 13,
    TV_PERF_SWITCH = 14,
    TV_PERF_SWITCH_CPU_WIDE = 15,
    TV_PERF_OF_PERF = 64, /* from here on records are perf's own, not the kernel's */
    TV_PERF_ATTR = 64,
    TV_PERF_TRACING_DATA = 66,
    TV_PERF_BUILD_ID = 67,
    TV_PERF_AUXTRACE = 71,
    TV_PERF_EVENT_UPDATE = 78,
    TV_PERF_FEATURE = 80,
    TV_PERF_COMPRESSED = 81,
    TV_PERF_COMPRESSED2 = 83,
    TV_PERF_OF_SIMPLEPERF = 32768, /* from here on sizes have 32 bits */
};

/* Bits of tv_perf_attr.sample_type. */
enum tv_perf_sample_bits {
    TV_PERF_HAS_IP = 1 << 0,
    TV_PERF_HAS_TID = 1 << 1,
    TV_PERF_HAS_TIME = 1 << 2,
    TV_PERF_HAS_ADDRESS = 1 << 3,
    TV_PERF_HAS_READ = 1 << 4,
    TV_PERF_HAS_CHAIN = 1 << 5,
    TV_PERF_HAS_ID = 1 << 6,
    TV_PERF_HAS_CPU = 1 << 7,
    TV_PERF_HAS_PERIOD = 1 << 8,
    TV_PERF_HAS_STREAM = 1 << 9,
    TV_PERF_HAS_STACK = 1 << 13,
    TV_PERF_HAS_IDENTIFIER = 1 << 16,
};

enum tv_perf_feature {
    TV_PERF_FEATURE_BUILD_IDS = 2,
    TV_PERF_FEATURE_HOSTNAME = 3,
    TV_PERF_FEATURE_RELEASE = 4,
    TV_PERF_FEATURE_VERSION = 5,
    TV_PERF_FEATURE_ARCH = 6,
    TV_PERF_FEATURE_COMMAND = 11,
    TV_PERF_FEATURE_EVENTS = 12,
    TV_PERF_FEATURE_FILE = 128, /* of simpleperf, as those below */
    TV_PERF_FEATURE_META_INFO = 129,
    TV_PERF_FEATURE_FILE2 = 132,
    TV_PERF_FEATURES = 256,
};

/* An event as it was asked for. */
struct tv_perf_attr {
    uint32_t type;
    uint64_t config, period, sample_type, read_format, flags;
    struct tv_bytes label; /* name in the file; empty: none */
};

struct tv_perf_data_file {
    struct tv_bytes bytes;   /* the whole file */
    struct tv_bytes records; /* [first_record, ...) of it */
    bool piped;
    bool cut; /* a section reaches beyond the end of the file */
    struct tv_perf_attr *attrs;
    size_t attr_count, attr_capacity;
    struct tv_map ids; /* id of an event on a processor -> its attribute */
    struct tv_bytes features[TV_PERF_FEATURES];
};

/* Read the header, the attributes and the places of the features.  A pipe has the latter two in
 * records, which go through the functions below.  False: it is no perf.data file. */
bool tv_perf_file_read(struct tv_perf_data_file *file, struct tv_bytes bytes);
void tv_perf_file_release(struct tv_perf_data_file *file);

/* Take the payload of a record of a pipe. */
void tv_perf_file_take_attr(struct tv_perf_data_file *file, struct tv_bytes payload);
void tv_perf_file_take_feature(struct tv_perf_data_file *file, struct tv_bytes payload);
void tv_perf_file_take_update(struct tv_perf_data_file *file, struct tv_bytes payload);

/* Give the attributes the names that the features have for them, when all are there. */
void tv_perf_file_name_attrs(struct tv_perf_data_file *file);

/* Write the name of an event as perf prints it: its label, or "cycles:u".  Return its length. */
size_t tv_perf_attr_name(const struct tv_perf_attr *attr, char *text, size_t size);

/* Take a text of a feature: its length in 32 bits, then the text with zeros after it. */
bool tv_perf_take_text(struct tv_cursor *cursor, struct tv_bytes *text);

/* Return the text up to the first zero byte. */
struct tv_bytes tv_perf_text(struct tv_bytes bytes);

#endif
