/* SPDX-License-Identifier: Apache-2.0 */
/*
 * perf_data.h - the parts of the reader of perf.data files (perf_data.c): the frame of the file,
 * its records, the mappings of its processes, and the symbols and build IDs that it brings.
 *
 *     file:  header | ids | attributes of the events | records ... | features
 *     pipe:  header | records, some of which carry attributes and features
 *
 * The kernel's include/uapi/linux/perf_event.h has most of the numbers.
 */
#ifndef TV_READERS_PERF_PERF_DATA_H
#define TV_READERS_PERF_PERF_DATA_H

#include "base/bytes.h"
#include "base/map.h"

/* ---- data_file.c ----
 *
 * The frame of the file: its events, its records, and its feature sections.
 */

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
    TV_PERF_HAS_RAW = 1 << 10,
    TV_PERF_HAS_STACK = 1 << 13,
    TV_PERF_HAS_IDENTIFIER = 1 << 16,
};

enum tv_perf_feature {
    TV_PERF_FEATURE_TRACING_DATA = 1,
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

/* ---- data_record.c ----
 *
 * One record of a perf.data file.
 */

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
    enum tv_perf_mode mode;
    struct tv_bytes read;  /* counters of one or several events (PERF_SAMPLE_READ) */
    struct tv_bytes chain; /* 64 bits each */
    struct tv_bytes raw;   /* fields of a tracepoint */
};

/* A counter that a sample read: all that the event has counted since the recording began. */
struct tv_perf_counter {
    uint64_t value, id;
    uint64_t lost; /* samples of this event that the kernel had no room for, up to now */
};

/* The counters of a sample, to be taken one after another. */
struct tv_perf_read {
    uint64_t format, count;
    uint64_t enabled, running; /* nanoseconds; both 0: not recorded */
    struct tv_cursor cursor;
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
/* Begin with the counters of a sample.  False: there are none (count is 0), or they do not name
 * their events. */
bool tv_perf_read_begin(const struct tv_perf_sample *sample, struct tv_perf_read *read);
bool tv_perf_read_next(struct tv_perf_read *read, struct tv_perf_counter *counter);

/* A mapping of the kernel has the process UINT32_MAX. */
bool tv_perf_parse_map(const struct tv_perf_raw *record, struct tv_perf_map *map);

/* Return the mode after a context of a chain, or the one before it. */
enum tv_perf_mode tv_perf_context_mode(uint64_t context, enum tv_perf_mode before);

/* ---- data_spaces.c ----
 *
 * The mappings of each process while a perf.data file is read: which file is mapped where.
 *
 *     process   0x1000      0x5000      0x9000
 *        7      | libc.so   | mt        |        later mappings cut earlier ones
 *
 * A forked process shares the mappings of its parent until one of the two maps something.
 */

struct perf_mapped {
    uint64_t start, end;      /* [start, end) */
    uint64_t move;            /* place in the file - address */
    uint32_t module;          /* string */
    struct tv_bytes build_id; /* empty: unknown */
};

/* Mappings in the order of their addresses, without overlaps. */
struct perf_space {
    struct perf_mapped *maps;
    size_t count, capacity;
    uint32_t users; /* processes that share it; 0: free */
};

/* The kernel is a process of its own here. */
#define TV_PERF_KERNEL_PID UINT64_MAX

struct tv_perf_data_spaces {
    struct perf_space *spaces;
    size_t count, capacity;
    struct tv_map of_process; /* pid -> number of its space */
    size_t map_count;         /* of all spaces */
};

void tv_perf_data_spaces_init(struct tv_perf_data_spaces *spaces);
void tv_perf_data_spaces_release(struct tv_perf_data_spaces *spaces);

/* Map a file.  False: there are too many mappings. */
bool tv_perf_data_spaces_add(struct tv_perf_data_spaces *spaces, uint64_t pid,
                             const struct perf_mapped *mapped) TV_MUST_CHECK;

/* Let a new process have the mappings of its parent. */
void tv_perf_data_spaces_fork(struct tv_perf_data_spaces *spaces, uint64_t parent, uint64_t child);

/* Forget the mappings of a process: it runs another program. */
void tv_perf_data_spaces_clear(struct tv_perf_data_spaces *spaces, uint64_t pid);

/* Return the mapping at an address, or NULL. */
const struct perf_mapped *tv_perf_data_spaces_find(const struct tv_perf_data_spaces *spaces,
                                                   uint64_t pid, uint64_t address);

/* ---- data_symbols.c ----
 *
 * The symbols that simpleperf puts into its perf.data files, for each program and library:
 * addresses become names without the phone.
 */

/* Kinds of files, as simpleperf numbers them. */
enum tv_perf_module_kind {
    TV_PERF_FILE_KERNEL,
    TV_PERF_FILE_KERNEL_MODULE,
    TV_PERF_FILE_ELF,
    TV_PERF_FILE_DEX,
    TV_PERF_FILE_SYMBOL_MAP,
    TV_PERF_FILE_UNKNOWN,
};

struct perf_symbol {
    uint64_t start, length;
    struct tv_bytes name; /* mangled */
};

struct perf_module {
    struct tv_bytes path;
    uint64_t kind; /* enum tv_perf_module_kind */
    uint64_t least_address, offset_of_least, memory_offset;
    bool has_offset;
    size_t first, count; /* in the symbols, sorted by address */
};

struct tv_perf_symbols {
    struct perf_module *modules;
    struct perf_symbol *symbols;
    size_t module_count, module_capacity, symbol_count, symbol_capacity;
    size_t damaged; /* modules that could not be read to their end */
};

/* Read the features FILE and FILE2. */
void tv_perf_symbols_read(struct tv_perf_symbols *symbols, const struct tv_perf_data_file *file);
void tv_perf_symbols_release(struct tv_perf_symbols *symbols);

/* Return the address in the module's own terms of an address that is mapped from `start` on with an
 * offset of its file. */
uint64_t tv_perf_module_address(const struct perf_module *module, uint64_t address, uint64_t start,
                                uint64_t page_offset);

/* Return the symbol at an address of the module, or NULL. */
const struct perf_symbol *tv_perf_symbols_find(const struct tv_perf_symbols *symbols,
                                               const struct perf_module *module, uint64_t address);

/* ---- Build IDs (data_symbols.c) ----
 *
 * The build IDs of the programs and libraries in a perf.data file, which `perf record` lists when
 * it ends.
 *
 *     type (32 bits) | misc (16) | size (16) | process (32) | build ID (24 bytes) | path
 *
 * The list is a feature of a file, and a record each in a pipe. With bit 15 of misc, byte 20 of the
 * build ID is its size; else it has 20 bytes. Records of mappings may have build IDs of their own.
 */

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
