/* SPDX-License-Identifier: Apache-2.0 */
/*
 * reader.h - how a file format plugs in.
 *
 * A reader turns the bytes of a source into a head (model/head.h) and events for a sink
 * (model/sink.h).  It trusts nothing; what it repairs or skips becomes a diagnostic in the head.  A
 * file cut off in the middle gives everything before the cut.  Adding a format is: one .c file (or
 * small family) with one const struct tv_reader, one line in readers.c, one page in docs/formats.
 */
#ifndef TV_READERS_READER_H
#define TV_READERS_READER_H

#include "base/error.h"
#include "base/progress.h"
#include "base/source.h"
#include "model/builder.h"
#include "model/sink.h"

struct tv_ft_record;
struct tv_te_beside;
struct tv_te_record;

/*
 * Receives the records of a file as they stand in it, in the order of the file and while it is
 * read: nothing is paired, nested or sorted.  `traceview dump` uses one, so that it prints the
 * first event of a large file at once and keeps only one record in memory.  Formats whose events
 * come in any order can visit their records; all others stream into a sink anyway.
 *
 * This struct is the first member of every visitor.  Pointers are valid during the call only.
 */
struct tv_record_visitor {
    /* Called once for each input, before everything else of that input. */
    void (*begin)(struct tv_record_visitor *visitor, const struct tv_head *head, uint32_t input);

    /* Trace Event JSON (trace_event/records.h): an event, or something that is not an event. */
    void (*take_event)(struct tv_record_visitor *visitor, struct tv_te_record *record);
    void (*take_beside)(struct tv_record_visitor *visitor, struct tv_te_beside *beside);

    /* ftrace text (ftrace/ftrace.h): a line. */
    void (*take_line)(struct tv_record_visitor *visitor, const struct tv_ft_record *record);
};

/* What is in the head before a sink that writes gets the first event. */
enum tv_read_ahead {
    TV_AHEAD_SHORT, /* all threads and methods of a short input; of others those that are listed, of
                       streaming ones by their beginning, so that the first event need not wait for
                       the last */
    TV_AHEAD_CLOCK, /* the clock as well, where only the end of a streaming one tells it */
    TV_AHEAD_NAMES, /* and all that are listed anywhere: for a sink that gives listed frames other
                     * names
                     */
    TV_AHEAD_ALL,
    TV_AHEAD_LISTED,
};

struct tv_read_options {
    unsigned parts;              /* stretches to read side by side; 0: one a processor */
    const uint64_t *part_starts; /* for tests: where parts 1.. begin, in bytes; NULL: equal parts */
    struct tv_progress *progress; /* or NULL */
    enum tv_read_ahead ahead;
};

struct tv_reader {
    const char *name;    /* as shown in errors and by --format: "android-trace" */
    const char *summary; /* one line: "Android method trace (.trace), versions 1 to 5" */

    /* How sure are we that a source that begins with these bytes is ours?  0 no ... 100 a magic
     * number.  `size` is that of the whole source, UINT64_MAX where that is not known yet, but is
     * more than TV_SNIFF_SIZE: whoever says 0 then says it of any such size. */
    int (*sniff)(struct tv_bytes head, uint64_t size);

    /* Reads all of the source.  On failure fills *err; head and sink keep what they got. */
    enum tv_status (*read)(struct tv_source *source, struct tv_head *head, struct tv_sink *sink,
                           const struct tv_read_options *options, struct tv_error *err);

    /* Instead of `read`, for formats whose events come in any order (model/assembly.h): adds an
     * input to the builder's head and trace.  The source outlives the trace. */
    enum tv_status (*assemble)(struct tv_source *source, struct tv_builder *builder,
                               const struct tv_read_options *options, struct tv_error *err);

    /* Besides `assemble`: gives the records themselves, in the order of the file and while it is
     * read, to a visitor (visitor.h), and adds an input to the head.  NULL: the format has none
     * that are told so. */
    enum tv_status (*tell)(struct tv_source *source, struct tv_head *head,
                           struct tv_record_visitor *visitor, struct tv_error *err);

    /* For those that read events again when somebody looks at them: how they call their inputs
     * (tv_input.format), and what does it. */
    const char *format;
    tv_describe *describe;
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

/* The bytes that sniff sees at most. */
#define TV_SNIFF_SIZE 4096

#define TV_SNIFF_SURE 100

/* All readers, in the order in which they are asked; ends with NULL. */
extern const struct tv_reader *const tv_readers[];

/* The reader that is surest of the source, or NULL with *err saying what the file is if that is
 * known ("a Perfetto trace (protobuf)"), or what its first bytes are. */
const struct tv_reader *tv_readers_find(struct tv_source *source, struct tv_error *err);

/* Finds the reader and makes it add the source to the trace that is being built. */
enum tv_status tv_readers_build(struct tv_source *source, struct tv_builder *builder,
                                const struct tv_read_options *options,
                                struct tv_error *err) TV_MUST_CHECK;

/* What reads events of inputs of that format again; NULL: nothing does. */
tv_describe *tv_readers_describe(struct tv_bytes format);

/* Whether the source is of a known format that can be read without building a trace. */
bool tv_readers_stream(struct tv_source *source);

/* Whether its records can be told; and tells them. */
bool tv_readers_tell(struct tv_source *source);
enum tv_status tv_readers_read_records(struct tv_source *source, struct tv_head *head,
                                       struct tv_record_visitor *visitor,
                                       const struct tv_read_options *options,
                                       struct tv_error *err) TV_MUST_CHECK;

/* Finds the reader and reads; one that cannot stream fails (TV_ERR_UNSUPPORTED). */
enum tv_status tv_readers_read(struct tv_source *source, struct tv_head *head, struct tv_sink *sink,
                               const struct tv_read_options *options,
                               struct tv_error *err) TV_MUST_CHECK;

#endif
