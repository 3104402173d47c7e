/* SPDX-License-Identifier: Apache-2.0 */
/* data_record.h - one record of a perf.data file. */
#ifndef TV_READERS_PERF_DATA_RECORD_H
#define TV_READERS_PERF_DATA_RECORD_H

#include "readers/perf/data_file.h"

/* Values of a chain from here on are no addresses: they tell in which code the next ones are. */
#define TV_PERF_FIRST_CONTEXT ((uint64_t)-4095)

/* In which code an address is. */
enum tv_perf_mode {
    TV_PERF_MODE_UNKNOWN,
    TV_PERF_MODE_KERNEL,
    TV_PERF_MODE_USER,
    TV_PERF_MODE_HYPERVISOR,
    TV_PERF_MODE_GUEST_KERNEL,
    TV_PERF_MODE_GUEST_USER,
};

struct tv_perf_raw {
    uint32_t type;
    uint16_t misc;
    struct tv_bytes payload; /* without the header */
    struct tv_bytes behind;  /* data that follows the record and is not counted in its size */
    uint64_t offset;         /* offset of the header, in the file */
};

struct tv_perf_sample {
    const struct tv_perf_attr *attr;
    uint32_t event; /* number of the event */
    uint32_t pid, tid, cpu;
    uint64_t ip, time, period;
    bool has_ip, has_time, has_stack;
    bool grouped; /* with the counts of several events, which are not read */
    enum tv_perf_mode mode;
    struct tv_bytes chain; /* 64 bits each */
};

struct tv_perf_map {
    uint32_t pid;
    uint64_t start, length, page_offset;
    struct tv_bytes path;
    struct tv_bytes build_id; /* empty: unknown */
};

/* Take the next record.  False: the end; *cut: there are bytes left that are no record. */
bool tv_perf_take_record(const struct tv_perf_data_file *file, struct tv_cursor *cursor,
                         struct tv_perf_raw *record, bool *cut);

/* Return the time of a record; 0: it has none. */
uint64_t tv_perf_record_time(const struct tv_perf_data_file *file,
                             const struct tv_perf_raw *record);

/* Set the process and thread that the end of a record names.  False: it names none. */
bool tv_perf_record_thread(const struct tv_perf_data_file *file, const struct tv_perf_raw *record,
                           uint32_t *pid, uint32_t *tid);

/* Parse the payload of a sample, or of a mapping. */
bool tv_perf_parse_sample(const struct tv_perf_data_file *file, const struct tv_perf_raw *record,
                          struct tv_perf_sample *sample);
/* A mapping of the kernel has the process UINT32_MAX. */
bool tv_perf_parse_map(const struct tv_perf_raw *record, struct tv_perf_map *map);

/* Return the mode after a context of a chain, or the one before it. */
enum tv_perf_mode tv_perf_context_mode(uint64_t context, enum tv_perf_mode before);

#endif
