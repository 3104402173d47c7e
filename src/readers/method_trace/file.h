/* SPDX-License-Identifier: Apache-2.0 */
/*
 * file.h - the state of reading one Android method trace, and the walks that fill it.
 *
 * Every layout comes down to units: ranges of the file that hold records and nothing else.  A
 * text-header file has one unit, a streaming file one between each two packets, a packet file one
 * per block of entries.  After the walk the trace's head is complete, except for threads and
 * methods that the records use but the file does not list.
 *
 * A sink that writes (`traceview dump`) wants its first event early, even from a pipe.  For it a
 * walk stops on its way and continues later (struct tv_mt_walk), and the unit of a text-header file
 * stays open until the end of the source has come.
 */
#ifndef TV_READERS_METHOD_TRACE_FILE_H
#define TV_READERS_METHOD_TRACE_FILE_H

#include "base/error.h"
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

/* Values that the deltas of a block add to.  Most blocks begin from zeros; a writer that splits a
 * flush over several blocks of variant B continues from the thread's block before. */
struct tv_mt_delta_base {
    uint64_t word, wall, cpu;
};

struct tv_mt_unit {
    uint64_t offset;
    uint64_t size; /* layout TV_MT_FIXED: a multiple of the record size */
    uint32_t tid;  /* delta: the thread of all its entries */
    uint32_t base; /* delta: index of a base, or TV_NONE: zeros */
};

/* From a unit on, an id means something else: the writer reused the id of a thread or method. */
struct tv_mt_id_change {
    size_t unit;
    uint64_t id;
    uint32_t before, after; /* threads or frames */
    bool method;
};

/* Content of the version section of the text header. */
struct tv_mt_facts {
    unsigned version; /* 0: missing */
    unsigned clocks;  /* enum tv_clocks; 0: missing or unknown */
    bool overflow, dalvik;
    bool in_us, in_ns; /* unit of the elapsed time */
    bool has_pid;
    bool states_sampling;
    int64_t sampling_ns; /* sampling interval, as stated; 0: every call was recorded */
};

/* Ways to extend 32-bit times to 64 bits (records.h). */
enum tv_mt_wraps {
    TV_MT_WRAPS_UNKNOWN,   /* no wrap was seen so far */
    TV_MT_WRAPS_NONE,      /* a survey found that there are none */
    TV_MT_WRAPS_BY_THREAD, /* only the records of the same thread help */
    TV_MT_WRAPS_BY_ORDER,  /* the records of all threads are in the order of time */
};

/* Threads and methods by their ids. */
struct tv_mt_ids {
    struct tv_map threads; /* id -> thread of the head */
    struct tv_map methods; /* id -> frame */
    struct tv_map
        proxies; /* id of an unlisted method -> frame of the line before its first record */
    uint64_t greatest_tid;
    uint64_t greatest_method;
    size_t listed_methods;
    uint32_t other_thread; /* for ids beyond the limits below; TV_NONE: there are none */
    uint32_t other_frame;
    struct tv_mt_id_change *id_changes;
    size_t id_change_count, id_change_capacity;
    size_t applied_changes; /* number of changes that the maps contain at the moment */
};

/* Decoding of delta-coded entries. */
struct tv_mt_delta_coding {
    struct tv_mt_delta_base *bases;
    size_t base_count, base_capacity;
    /* The bases were not looked for: every block begins from zeros.  A block that is out of order
     * then (deltas.c) shows that they are needed. */
    bool starts_unknown;
    bool odd;           /* some blocks may be out of order wherever they begin: use records.c */
    uint64_t frequency; /* counter ticks per second; 0: times are not scaled */
    int64_t origin;     /* subtracted from scaled times; in ticks of the head's input */
};

struct tv_mt_file;

/* A walk that stopped on its way, so that the records before that place can be delivered. */
struct tv_mt_walk {
    /* Continue for at least `bytes`, or to the end, which sets file->walk to NULL. */
    enum tv_status (*go_on)(struct tv_mt_file *file, uint64_t bytes, struct tv_error *err);
    void (*free)(struct tv_mt_walk *walk);
};

struct tv_mt_file {
    struct tv_source *source;
    struct tv_trace_info *head;
    struct tv_progress *progress; /* never NULL */
    uint32_t input;
    uint32_t process;
    uint32_t first_thread; /* first thread of this input in the head */

    enum tv_mt_layout layout;
    unsigned version; /* 1 to 5; 0: a dump without header */
    unsigned clocks;  /* of the records: enum tv_clocks */
    uint32_t record_size;
    bool streaming;

    /* For a sink that writes: its first event waits neither for the end of a growing source, nor
     * (early_names) for the last listed name, nor (early_clock) for the name of a single clock. */
    bool early, early_names, early_clock;
    struct tv_mt_walk *walk; /* NULL: all units are known */
    bool open;               /* the last unit ends with the source; until that is seen, its size is
                              * larger than possible */
    bool cut;     /* the last unit ends with the file, before the end that it announces */
    bool scanned; /* the unlisted ids are in the head */

    enum tv_mt_wraps wraps;
    int64_t
        *latest_start; /* by thread - first_thread: upper bound of its first wall time; or NULL */
    struct tv_mt_facts facts;

    struct tv_mt_unit *units; /* in the order of the file */
    size_t unit_count, unit_capacity;
    struct tv_mt_ids ids;
    struct tv_mt_delta_coding delta;
};

/* Further unlisted ids share one thread and one frame. */
#define TV_MT_MAX_UNLISTED_THREADS ((uint32_t)65536)
#define TV_MT_MAX_UNLISTED_METHODS ((uint32_t)1 << 20)

/* ---- file.c ---- */

void tv_mt_file_init(struct tv_mt_file *file, struct tv_source *source, struct tv_trace_info *head);
void tv_mt_file_release(struct tv_mt_file *file);

/* Return the size of all units together. */
uint64_t tv_mt_file_record_bytes(const struct tv_mt_file *file);

/* Announce one more pass over the records to the progress. */
void tv_mt_file_plan_pass(struct tv_mt_file *file);

static inline void tv_mt_warn(struct tv_mt_file *file, enum tv_diagnostic_kind kind, uint64_t at)
{
    tv_diagnostics_add(&file->head->diagnostics, kind, at);
}

static inline struct tv_input *tv_mt_input(struct tv_mt_file *file)
{
    return &file->head->inputs[file->input];
}

/* Append a unit; units come in the order of the file.  The pointer is valid until the next one. */
struct tv_mt_unit *tv_mt_add_unit(struct tv_mt_file *file, uint64_t offset, uint64_t size);

/* Append the unit of fixed-size records from `first` to the end of the source.  It stays open when
 * the end must not be waited for. */
void tv_mt_add_last_unit(struct tv_mt_file *file, uint64_t first);

/* Wait for the end of the source, and give an open unit its real size. */
void tv_mt_file_close_unit(struct tv_mt_file *file);

/* With fewer bytes of records, a survey of all of them before the first event costs little. */
#define TV_MT_SHORT_BYTES ((uint64_t)256 << 10)

/* Meaning of an id that is listed again. */
enum tv_mt_again {
    TV_MT_RENAMED,  /* the same thread or method: the last name counts */
    TV_MT_FINAL,    /* the same, repeated in the summary of a streaming file: no diagnostic */
    TV_MT_RECYCLED, /* another thread or method from here on */
};

/* Add a thread that the file lists. */
void tv_mt_add_thread(struct tv_mt_file *file, uint64_t id, struct tv_bytes name,
                      enum tv_mt_again again, uint64_t at);

/* Add a method that the file lists, and return its frame.  When the id is listed already, the last
 * line counts (TV_MT_RENAMED), or each line from its place on (TV_MT_RECYCLED). */
uint32_t tv_mt_add_method(struct tv_mt_file *file, uint64_t id, const struct tv_frame *frame,
                          enum tv_mt_again again, uint64_t at);

/* Add a thread or a method that only records use. */
void tv_mt_add_unlisted_thread(struct tv_mt_file *file, uint64_t id);
void tv_mt_add_unlisted_method(struct tv_mt_file *file, uint64_t id, uint32_t frame);

/* Make both maps say what the ids mean in a unit. */
void tv_mt_file_apply_id_changes(struct tv_mt_file *file, size_t unit);

/* Parse the fields of a method, separated by tabs: class, method, signature, file, line; or the
 * name alone.  Return false when there are none. */
bool tv_mt_file_parse_method(struct tv_mt_file *file, struct tv_bytes fields,
                             struct tv_frame *frame);

/* ---- text.c: text header and data header ---- */

/* Read a file that begins with the text header, up to its records. */
enum tv_status tv_mt_text_walk(struct tv_mt_file *file, struct tv_error *err) TV_MUST_CHECK;

/* Read the lines of a text header in [offset, end), up to the line "*end".  It also stands, with
 * sections left out, in the summary of streaming and packet files.  *after is the offset after
 * "*end"; 0 when that is missing. */
enum tv_status tv_mt_text_read(struct tv_mt_file *file, uint64_t offset, uint64_t end,
                               enum tv_mt_again again, uint64_t *after,
                               struct tv_error *err) TV_MUST_CHECK;

/* Find the unit of time and the clock in the text of a summary. */
void tv_mt_text_scan_times(struct tv_bytes text, struct tv_mt_facts *facts);

/* Parse a line of the *methods section.  Return false when it is malformed. */
bool tv_mt_text_parse_method(struct tv_mt_file *file, struct tv_bytes line, uint64_t *id,
                             struct tv_frame *frame);

/* Read the data header at `offset` and add the unit after it.  Missing records (the file ends, or
 * was re-encoded as text) are a diagnostic. */
enum tv_status tv_mt_header_walk(struct tv_mt_file *file, uint64_t offset,
                                 struct tv_error *err) TV_MUST_CHECK;

/* Check the TV_MT_HEADER_SIZE bytes at `at` as a data header of versions 1 to 3.  Fill *header,
 * whose version lacks the streaming bit. */
enum tv_status tv_mt_header_check(const struct tv_mt_file *file, const uint8_t *at, uint64_t offset,
                                  struct tv_mt_header *header, struct tv_error *err) TV_MUST_CHECK;

/* Store the start time of a data header (versions 1 to 3, 0xF2 and 0xF3). */
void tv_mt_header_set_start(struct tv_mt_file *file, uint64_t start_us);

/* Fill version, clocks and the like of the head's input, once everything that defines them was
 * read. `inferred` is the single clock of a file that does not name it; 0: unknown. */
void tv_mt_header_finalize(struct tv_mt_file *file, unsigned inferred);

/* Return true when binary data went through a text encoding. */
bool tv_mt_header_is_recoded(struct tv_bytes bytes);

/* ---- stream.c: streaming files of versions 0xF2 and 0xF3 ---- */

/* Walk over the file.  It looks only at the first two bytes of a record, which are 0 where a packet
 * begins. */
enum tv_status tv_mt_stream_walk(struct tv_mt_file *file, struct tv_error *err) TV_MUST_CHECK;

/* ---- packets.c: format V2 (versions 4, 5, 0xF4, 0xF5) and dumps of long-running methods ---- */

/* Walk over a packet file with a header. */
enum tv_status tv_mt_packets_walk(struct tv_mt_file *file, struct tv_error *err) TV_MUST_CHECK;

/* Walk over a dump, which has no header. */
enum tv_status tv_mt_packets_walk_dump(struct tv_mt_file *file, struct tv_error *err) TV_MUST_CHECK;

/* Return how sure it is that a source of `size` bytes with this prefix is a dump: 0 to 100. */
int tv_mt_packets_sniff_dump(struct tv_bytes prefix, uint64_t size);

/* Unit of time and clock that events of a packet file were delivered with before its summary, which
 * defines both, was read. */
struct tv_mt_assumed {
    int64_t tick_ns; /* 0: nothing was assumed */
    unsigned clocks; /* enum tv_clocks; 0: nothing was assumed */
};

/* Read the summary at the end of a source whose end is known, before the packets on the way to it.
 * Without a summary *assumed stays as it is.  Never waits. */
enum tv_status tv_mt_summary_peek(struct tv_mt_file *file, struct tv_mt_assumed *assumed,
                                  struct tv_error *err) TV_MUST_CHECK;

/* ---- blocks.c: the coding of the entries of a packet file, which the file does not name ---- */

/* Start of the trace in the header of a packet file. */
struct tv_mt_start {
    uint64_t time;  /* in the unit of the records */
    uint64_t ticks; /* of the counter (variant C) */
};

/* Find layout, clock and unit of time by decoding blocks, and finalize the head.  All packets were
 * walked.  Find the bases of the blocks, too, if they are needed for that; otherwise set
 * delta.starts_unknown. */
enum tv_status tv_mt_blocks_finalize(struct tv_mt_file *file, const struct tv_mt_start *start,
                                     struct tv_error *err) TV_MUST_CHECK;

/* As above, when only the first packets were walked, if these prove that the entries are of variant
 * B with the unit and clock of *assumed.  Bases are not looked for.  When !*certain nothing was
 * finalized, and the caller has to walk to the end first. */
enum tv_status tv_mt_blocks_finalize_early(struct tv_mt_file *file, const struct tv_mt_start *start,
                                           struct tv_mt_assumed *assumed, bool *certain,
                                           struct tv_error *err) TV_MUST_CHECK;

/* Find the bases of the blocks, if that was left out. */
enum tv_status tv_mt_blocks_find_starts(struct tv_mt_file *file,
                                        struct tv_error *err) TV_MUST_CHECK;

/* Finalize the head of a dump of long-running methods. */
enum tv_status tv_mt_blocks_finalize_dump(struct tv_mt_file *file,
                                          struct tv_error *err) TV_MUST_CHECK;

/* ---- survey.c: facts that only a pass over the records can find ---- */

/* Add the threads and methods that records use and the file does not list, in the order of the
 * file. */
enum tv_status tv_mt_survey_ids(struct tv_mt_file *file, struct tv_error *err) TV_MUST_CHECK;

/* Decide how 32-bit times wrap (file->wraps). */
enum tv_status tv_mt_survey_wraps(struct tv_mt_file *file, struct tv_error *err) TV_MUST_CHECK;

/* Decide whether the trace was sampled, and its interval (in the head's input): from the file's
 * text, or else from its records. */
enum tv_status tv_mt_survey_sampling(struct tv_mt_file *file, struct tv_error *err) TV_MUST_CHECK;

/* Decide which clock records with a single time have, when the file does not say: a thread's CPU
 * time begins with 0. */
enum tv_status tv_mt_survey_clock(struct tv_mt_file *file, unsigned *clock,
                                  struct tv_error *err) TV_MUST_CHECK;

#endif
