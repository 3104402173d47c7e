/* SPDX-License-Identifier: Apache-2.0 */
/*
 * reader.h - the interface of file formats, and reading with the right one.
 *
 * A reader turns the bytes of a source into a head (model/trace_info.h) and events for a sink
 * (model/builder/sink.h).  It trusts nothing: what it repairs or skips becomes a diagnostic in the
 * head, and a file that is cut gives everything before the cut.  To add a format, write one .c file
 * (or a folder) with one const struct tv_reader, a line in the reader table in readers.c, and a
 * page in docs/formats.
 *
 *     source --> sniff of every reader --> the surest one
 *                                            |-- read      events in order     --> sink
 *                                            |-- assemble  events in any order --> builder
 *                                            '-- visit     records as they are --> record visitor
 *
 * A reader has `read` or `assemble`, never both: the order of its events decides.  `visit_records`
 * is extra.
 */
#ifndef TV_READERS_READER_H
#define TV_READERS_READER_H

#include "base/error.h"
#include "base/progress.h"
#include "base/source.h"
#include "model/builder/builder.h"
#include "model/builder/sink.h"

struct tv_ft_record;
struct tv_pf_record;
struct tv_te_member_record;
struct tv_te_record;

/*
 * Receives the records of a file as they are in it, in the order of the file and while it is
 * read: nothing is paired, nested or sorted.  `traceview dump` uses one, so that it prints the
 * first event of a large file at once and keeps only one record in memory.  Formats whose events
 * come in any order can visit their records; all others stream into a sink anyway.
 *
 * This struct is the first member of every visitor.  Pointers are valid during the call only.
 */
struct tv_record_visitor {
    /* Called once for each input, before everything else of that input. */
    void (*begin)(struct tv_record_visitor *visitor, const struct tv_trace_info *head,
                  uint32_t input);

    /* Trace Event JSON (trace_event/trace_event.h): an event, or something that is not an event. */
    void (*take_event)(struct tv_record_visitor *visitor, struct tv_te_record *record);
    void (*take_member)(struct tv_record_visitor *visitor, struct tv_te_member_record *beside);

    /* ftrace text (ftrace/ftrace.h): a line. */
    void (*take_line)(struct tv_record_visitor *visitor, const struct tv_ft_record *record);

    /* Perfetto (perfetto/perfetto.h): a packet. */
    void (*take_packet)(struct tv_record_visitor *visitor, const struct tv_pf_record *record);

    struct tv_read_limit *limit; /* or NULL; heeded by ftrace text and Perfetto */
};

/* Ends a pass over the records of an input early. */
struct tv_read_limit {
    _Atomic bool stop;        /* set by any thread: the pass ends at the next record */
    _Atomic bool is_exceeded; /* what was kept takes more than max_bytes; sets `stop` */
    uint64_t max_bytes;       /* 0: any */
    _Atomic uint64_t bytes;   /* kept so far */
};

/* Note that so many bytes more are kept.  `limit` may be NULL. */
static inline void tv_read_limit_add(struct tv_read_limit *limit, uint64_t bytes)
{
    if (!limit)
        return;
    uint64_t kept = atomic_fetch_add(&limit->bytes, bytes) + bytes;
    if (limit->max_bytes > 0 && kept > limit->max_bytes) {
        atomic_store(&limit->is_exceeded, true);
        atomic_store(&limit->stop, true);
    }
}

/* Note that so many bytes of those that were noted are no longer kept.  `limit` may be NULL. */
static inline void tv_read_limit_take_back(struct tv_read_limit *limit, uint64_t bytes)
{
    if (limit)
        atomic_fetch_sub(&limit->bytes, bytes);
}

/* Return true when the pass must end.  `limit` may be NULL. */
static inline bool tv_read_limit_stops(const struct tv_read_limit *limit)
{
    return limit && atomic_load_explicit(&limit->stop, memory_order_relaxed);
}

/* Content of the head before a sink that writes gets the first event. */
enum tv_read_ahead {
    /* All threads and methods of a short input; of a long one only those that are listed, and of a
     * streaming one only those near its beginning, so that the first event need not wait for the
     * last. */
    TV_AHEAD_SHORT,
    TV_AHEAD_CLOCK, /* also the clock, when only the end of a streaming input names it */
    TV_AHEAD_NAMES, /* also all listed names, for a sink that renames listed frames */
    TV_AHEAD_ALL,
    TV_AHEAD_LISTED,
};

struct tv_read_options {
    unsigned parts;               /* number of chunks to read in parallel; 0: one per processor */
    const uint64_t *part_starts;  /* for tests: offsets of the chunks 1..; NULL: equal chunks */
    struct tv_progress *progress; /* or NULL */
    enum tv_read_ahead ahead;
};

struct tv_reader {
    const char *name; /* "android-trace"; for tests and debuggers, users read tv_input.format */

    /* Return how sure it is that a source with this prefix has the reader's format: 0 (no) to 100
     * (a magic number).  `size` is that of the whole source; UINT64_MAX while it is unknown but
     * larger than TV_SNIFF_SIZE.  A reader that returns 0 then must return 0 for every such size.
     */
    int (*sniff)(struct tv_bytes prefix, uint64_t size);

    /* Read the whole source.  On failure fill *err; head and sink keep what they have. */
    enum tv_status (*read)(struct tv_source *source, struct tv_trace_info *head,
                           struct tv_sink *sink, const struct tv_read_options *options,
                           struct tv_error *err);

    /* Instead of `read`, for formats whose events come in any order (model/assembly/assembly.h):
     * add an input to the head and the trace of the builder.  The source outlives the trace. */
    enum tv_status (*assemble)(struct tv_source *source, struct tv_builder *builder,
                               const struct tv_read_options *options, struct tv_error *err);

    /* In addition to `assemble`: visit the records in the order of the file, while it is read, and
     * add an input to the head.  NULL: the format has no such records. */
    enum tv_status (*visit_records)(struct tv_source *source, struct tv_trace_info *head,
                                    struct tv_record_visitor *visitor, struct tv_error *err);

    /* Mark a few events of the next block of a file in a sketch (model/sketch.h), under the names
     * that reading gives to its tracks: a packed file has a sketch while it is unpacked, long
     * before its size is known and reading can begin.  TV_WINDOW_SLACK bytes after the block are
     * readable.  *notes, NULL before a file's first block, is the reader's memory of the blocks
     * before; the caller frees it with tv_free.  NULL: blocks do not show their events. */
    void (*sketch_block)(struct tv_bytes block, struct tv_sketch *sketch, void **notes);

    /* For readers that read an event again when the user looks at it: tv_input.format of their
     * inputs, and the function. */
    const char *format;
    tv_describe *describe;

    /* With `assemble`: fail when the file gives no sample, slice, counter or other event. */
    bool refuses_empty;
    bool shows_all_events; /* an event that is in no row is something to show, as metadata are */
};

/* Return true when the user has asked to stop reading.  `progress` may be NULL. */
static inline bool tv_reader_is_cancelled(const struct tv_progress *progress)
{
    return progress && atomic_load_explicit(&progress->cancel, memory_order_relaxed);
}

/* Fail with TV_ERR_CANCELLED when the user has asked to stop reading. */
static inline enum tv_status tv_reader_check_cancel(const struct tv_progress *progress,
                                                    struct tv_error *err)
{
    if (tv_reader_is_cancelled(progress))
        return tv_fail(err, TV_ERR_CANCELLED, TV_NO_OFFSET, "stopped on request");
    return TV_OK;
}

/* Add bytes to the progress, and fail like tv_reader_check_cancel.  `progress` may be NULL. */
static inline enum tv_status tv_reader_add_progress(struct tv_progress *progress, uint64_t bytes,
                                                    struct tv_error *err)
{
    if (progress)
        atomic_fetch_add_explicit(&progress->bytes, bytes, memory_order_relaxed);
    return tv_reader_check_cancel(progress, err);
}

/* ---- The reader table ---- */

/* Maximum length of the prefix that sniff gets. */
#define TV_SNIFF_SIZE 4096

#define TV_SNIFF_SURE 100

/* All readers, in the order in which they are asked; ends with NULL. */
extern const struct tv_reader *const tv_readers[];

/* Return the reader that is surest of the source; or NULL, with *err naming the format if it is a
 * known foreign one ("a Perfetto trace (protobuf)"), or quoting the first bytes. */
const struct tv_reader *tv_readers_find(struct tv_source *source, struct tv_error *err);

/* Return the reader that is surest of a file with this prefix whose size is unknown, or NULL. */
const struct tv_reader *tv_readers_find_by_prefix(struct tv_bytes prefix);

/* Find the reader, and add the source to the trace that is being built. */
enum tv_status tv_readers_build(struct tv_source *source, struct tv_builder *builder,
                                const struct tv_read_options *options,
                                struct tv_error *err) TV_MUST_CHECK;

/* Return the function that reads events of inputs with that format again; NULL: there is none. */
tv_describe *tv_readers_describe(struct tv_bytes format);

/* Return true when the source has a known format that streams into a sink without a trace. */
bool tv_readers_can_stream(struct tv_source *source);

/* Return true when the records of the source can be visited. */
bool tv_readers_has_records(struct tv_source *source);

/* Find the reader, and visit the records of the source. */
enum tv_status tv_readers_read_records(struct tv_source *source, struct tv_trace_info *head,
                                       struct tv_record_visitor *visitor,
                                       const struct tv_read_options *options,
                                       struct tv_error *err) TV_MUST_CHECK;

/* Find the reader, and read the source.  Fail with TV_ERR_UNSUPPORTED when it cannot stream. */
enum tv_status tv_readers_read(struct tv_source *source, struct tv_trace_info *head,
                               struct tv_sink *sink, const struct tv_read_options *options,
                               struct tv_error *err) TV_MUST_CHECK;

/* ---- Several sources into one trace or sink ---- */

/* Target of the events of all inputs. */
struct tv_reading {
    struct tv_trace_info *head;
    struct tv_sink *sink;
    struct tv_builder *builder;        /* NULL: only the sink */
    struct tv_record_visitor *visitor; /* gets the records of formats that have them; or NULL */
};

struct tv_reading_input {
    struct tv_source *source;
    uint32_t machine; /* on which it was recorded, unless its reader knows better */
    tv_ns offset;     /* added to its times */
};

/* Read a source.  An error names the source and quotes the place. */
enum tv_status tv_reading_add(const struct tv_reading *to, const struct tv_reading_input *input,
                              const struct tv_read_options *options,
                              struct tv_error *err) TV_MUST_CHECK;

/* Put the name of the source before the error, and quote the place.  Return the error's status. */
enum tv_status tv_reading_blame(struct tv_source *source, struct tv_error *err);

#endif
