/* SPDX-License-Identifier: Apache-2.0 */
/*
 * file.h - what the walk over an Android method trace finds out before events are delivered.
 *
 * Every layout comes down to units: stretches of the file that hold records and nothing else.  A
 * text-header file has one, a streaming file one between each two packets, a packet file one a
 * block of entries.  After the walk the head is complete, but for threads and methods that the file
 * uses and does not list.
 *
 *     mt_text      header text and data header      mt_records   any unit's records, in order,
 * plainly mt_stream    walk over a streaming file       mt_survey    what only the records can tell
 *     mt_packets   walk over a packet file          mt_fast      records of fixed size, as fast as
 * can be mt_deliver   parts, passes, seams
 */
#ifndef TV_READERS_METHOD_TRACE_FILE_H
#define TV_READERS_METHOD_TRACE_FILE_H

#include "base/map.h"
#include "base/progress.h"
#include "base/source.h"
#include "model/trace_info.h"
#include "wire/method_trace.h"

enum tv_mt_layout {
    TV_MT_FIXED,        /* records of one size: text-header and streaming files */
    TV_MT_DELTA_B,      /* format V2: entries as ART 15 and 16 write them */
    TV_MT_DELTA_C,      /* format V2 as of 2026: exits without an id */
    TV_MT_LONG_RUNNING, /* a dump of long-running methods */
};

/* What a block continues from, when its writer did not begin anew (variant B). */
struct tv_mt_carry {
    uint64_t word, wall, cpu;
};

struct tv_mt_unit {
    uint64_t offset;
    uint64_t size;  /* fixed: a multiple of the record size */
    uint32_t tid;   /* delta: of all its entries */
    uint32_t carry; /* delta: index, or TV_NONE: begins from zeros */
};

/* From a unit on, an id means something else: a thread's id was given again, or a method's. */
struct tv_mt_switch {
    size_t unit;
    uint64_t id;
    uint32_t before, after; /* thread or frame */
    bool method;
};

/* What the keys of the version section say. */
struct tv_mt_facts {
    unsigned version;    /* 0: not said */
    unsigned clocks;     /* enum tv_clocks; 0: not said or not known */
    uint64_t version_at; /* its byte */
    bool overflow, dalvik, art;
    bool in_us, in_ns; /* the unit of the elapsed time */
    bool has_pid;
    int64_t sampling_ns; /* the interval; 0: not said */
};

/* How 32-bit times become longer ones (survey.h). */
enum tv_mt_wraps {
    TV_MT_WRAPS_UNKNOWN,   /* none seen so far */
    TV_MT_WRAPS_NONE,      /* looked: there are none */
    TV_MT_WRAPS_BY_THREAD, /* each thread's own records tell */
    TV_MT_WRAPS_BY_ORDER,  /* the records stand in the order of time */
};

struct tv_mt_file;

/* A walk that stopped on its way, because the records before that place can be handed on. */
struct tv_mt_walk {
    /* Goes on for at least so many bytes, or to the end: then it sets file->walk to NULL. */
    enum tv_status (*go_on)(struct tv_mt_file *file, uint64_t bytes, struct tv_error *err);
    void (*free)(struct tv_mt_walk *walk);
};

struct tv_mt_file {
    struct tv_source *source;
    struct tv_trace_info *head;
    struct tv_progress *progress; /* never NULL */
    uint32_t input;
    uint32_t process;
    uint32_t first_thread; /* of this input in the head */

    enum tv_mt_layout layout;
    unsigned version; /* 1 to 5; 0: a dump without header */
    unsigned clocks;  /* of the records: enum tv_clocks */
    uint32_t record_size;
    bool streaming;
    bool early; /* the sink writes: its first event does not wait for the end of a source that grows
                 */
    struct tv_mt_walk *walk; /* NULL: the units are all there are */
    bool early_names;        /* nor for the last name that is listed */
    bool early_clock;        /* nor for which clock it is, where there is one */
    bool open;    /* the last unit goes on to that end, which was not seen: its size is too large */
    bool cut;     /* the last unit ends with the file, not where it says */
    bool scanned; /* unlisted ids are in the head */
    /* Delta: what blocks continue from was not looked for.  Each begins from zeros, and one that
     * is not in order then (deltas.h) says that it must be. */
    bool starts_unknown;
    bool odd; /* delta: and some are not in order wherever they begin, or may not be */
    enum tv_mt_wraps wraps;
    int64_t *latest_start; /* by thread - first_thread: no first record lies after it; or NULL */
    struct tv_mt_facts facts;

    struct tv_mt_unit *units;
    size_t unit_count, unit_capacity;
    struct tv_mt_carry *carries;
    size_t carry_count, carry_capacity;
    struct tv_mt_switch *switches;
    size_t switch_count, switch_capacity;
    size_t switched; /* how many of the switches the two maps have in them */

    struct tv_map threads; /* id -> index in the head */
    struct tv_map methods; /* id -> frame */
    struct tv_map
        proxies; /* id of an unlisted method -> the frame of the line before its first record */
    uint64_t greatest_tid;
    uint64_t greatest_method;
    size_t listed_methods;
    uint32_t other_thread; /* for ids beyond our ceilings; TV_NONE: there are none */
    uint32_t other_frame;

    /* Times of delta entries in ticks of the head's input. */
    uint64_t frequency; /* counter ticks a second; 0: as they stand */
    int64_t origin;     /* taken off, after that */
};

/* Further unlisted ids than these share one thread and one frame. */
#define TV_MT_MAX_UNLISTED_THREADS ((uint32_t)65536)
#define TV_MT_MAX_UNLISTED_METHODS ((uint32_t)1 << 20)

void tv_mt_file_init(struct tv_mt_file *file, struct tv_source *source, struct tv_trace_info *head);
void tv_mt_file_release(struct tv_mt_file *file);

/* Of all units. */
uint64_t tv_mt_file_record_bytes(const struct tv_mt_file *file);

/* The records are about to be gone over once (more): for the progress. */
void tv_mt_file_plan_pass(struct tv_mt_file *file);

static inline void tv_mt_warn(struct tv_mt_file *file, enum tv_diagnostic_kind kind, uint64_t at)
{
    tv_diagnostics_add(&file->head->diagnostics, kind, at);
}

static inline struct tv_input *tv_mt_input(struct tv_mt_file *file)
{
    return &file->head->inputs[file->input];
}

/* Units are added in the order of the file. The pointer is valid until the next one. */
struct tv_mt_unit *tv_mt_add_unit(struct tv_mt_file *file, uint64_t offset, uint64_t size);

/* The records of one size from `first` to the end of the source: a unit, which is left open where
 * that end is not to be waited for. */
void tv_mt_add_last_unit(struct tv_mt_file *file, uint64_t first);

/* Waits for the end of the source and gives an open unit its size. */
void tv_mt_end_open(struct tv_mt_file *file);

/* With fewer bytes of records than these, looking over them all before the first is handed on costs
 * little. */
#define TV_MT_SHORT_BYTES ((uint64_t)256 << 10)

/* What an id that is listed again means. */
enum tv_mt_again {
    TV_MT_RENAMED, /* the same: its last name stands */
    TV_MT_FINAL, /* the same, as a streaming file's summary says at the end: nothing to wonder at */
    TV_MT_RECYCLED, /* another thread or method from here on */
};

/* A thread that the file lists. */
void tv_mt_add_thread(struct tv_mt_file *file, uint64_t id, struct tv_bytes name,
                      enum tv_mt_again again, uint64_t at);

/* A method that the file lists.  When the id is listed already, its last line stands
 * (TV_MT_RENAMED), or each from its place on (TV_MT_RECYCLED).  Returns the frame. */
uint32_t tv_mt_add_method(struct tv_mt_file *file, uint64_t id, const struct tv_frame *frame,
                          enum tv_mt_again again, uint64_t at);

/* A thread that only records know. */
void tv_mt_add_unlisted_thread(struct tv_mt_file *file, uint64_t id);

/* A method that only records know, and the frame that stands for it. */
void tv_mt_add_unlisted_method(struct tv_mt_file *file, uint64_t id, uint32_t frame);

/* Lets both maps say what ids mean in a unit. */
void tv_mt_switch_to(struct tv_mt_file *file, size_t unit);

/* The frame of a method's fields, which are separated by tabs: class, method, signature, file,
 * line; a name alone is possible too.  False when there are none. */
bool tv_mt_parse_method(struct tv_mt_file *file, struct tv_bytes fields, struct tv_frame *frame);

#endif
