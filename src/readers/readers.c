/* SPDX-License-Identifier: Apache-2.0 */
#include "readers/reader.h"

#include <stdio.h>

#include "base/bytes.h"
#include "readers/battor.h"
#include "readers/cgroup_dump.h"
#include "readers/collapsed.h"
#include "readers/foreign.h"
#include "readers/ftrace/ftrace.h"
#include "readers/hprof/hprof.h"
#include "readers/method_trace/method_trace.h"
#include "readers/process_dump.h"
#include "readers/trace_event/trace_event.h"

const struct tv_reader *const tv_readers[] = {
    &tv_reader_method_trace, &tv_reader_trace_event, &tv_reader_ftrace,
    &tv_reader_process_dump, &tv_reader_cgroup_dump, &tv_reader_battor,
    &tv_reader_hprof,        &tv_reader_collapsed,   NULL,
};

#define SHOWN_BYTES 8
#define SHOWN_TEXT 40

/* One that is longer was unpacked, but for packed files in packed files, too deep to look into. */
static bool is_cut_gzip(struct tv_bytes head)
{
    return head.length < TV_SNIFF_SIZE && tv_bytes_starts_with(head, TV_BYTES("\x1f\x8b"));
}

/* The beginning as text, where it is that: up to where the line ends. */
static bool show_text(struct tv_bytes head, char *text, size_t size)
{
    size_t length = 0;
    for (; length < head.length && length + 1 < size; length++) {
        uint8_t c = head.data[length];
        if (c == '\n' || c == '\r')
            break;
        if (c < ' ' || c > '~')
            return false;
        text[length] = (char)c;
    }
    text[length] = '\0';
    return length > 0;
}

static void show_bytes(struct tv_bytes head, char *text, size_t size)
{
    text[0] = '\0';
    for (size_t i = 0; i < head.length && i < SHOWN_BYTES; i++)
        snprintf(text + i * 3, size - i * 3, " %02X", head.data[i]);
}

static void fail_unknown(struct tv_bytes head, struct tv_error *err)
{
    static const char expected[] = TV_FOREIGN_EXPECTED;
    const struct tv_foreign *foreign = tv_foreign_find(head);
    char shown[SHOWN_TEXT + 1];
    if (is_cut_gzip(head))
        tv_fail(err, TV_ERR_SYNTAX, head.length, "%s, found only the beginning of a gzip file",
                expected);
    else if (foreign && tv_foreign_is_nothing(head))
        tv_fail(err, TV_ERR_UNSUPPORTED, 0, "%s, found %s", expected, foreign->name);
    else if (foreign)
        tv_foreign_fail(foreign, err);
    else if (show_text(head, shown, sizeof shown))
        tv_fail(err, TV_ERR_UNSUPPORTED, 0, "%s, found the text \"%s\"", expected, shown);
    else {
        show_bytes(head, shown, sizeof shown);
        tv_fail(err, TV_ERR_UNSUPPORTED, 0, "%s, found the bytes%s", expected, shown);
    }
}

/* *open: who it is may hang on a size that is not known. */
static const struct tv_reader *find_surest(struct tv_bytes head, uint64_t size, bool *open)
{
    const struct tv_reader *surest = NULL;
    int best = 0;
    unsigned candidates = 0;
    for (size_t i = 0; tv_readers[i] != NULL; i++) {
        int sure = tv_readers[i]->sniff(head, size);
        candidates += sure > 0;
        if (sure > best) {
            surest = tv_readers[i];
            best = sure;
        }
    }
    *open = candidates > 1 && best < TV_SNIFF_SURE;
    return surest;
}

const struct tv_reader *tv_readers_find(struct tv_source *source, struct tv_error *err)
{
    uint8_t bytes[TV_SNIFF_SIZE];
    struct tv_bytes head = {bytes, 0};
    uint64_t size;
    bool open;
    if (tv_source_read(source, 0, bytes, sizeof bytes, &head.length, err) != TV_OK)
        return NULL;
    /* What comes through a pipe is waited for only if its length can tell more. */
    tv_source_reaches(source, TV_SNIFF_SIZE + 1);
    bool known = tv_source_has_size(source, &size);
    const struct tv_reader *surest = find_surest(head, size, &open);
    if (!known && open)
        surest = find_surest(head, tv_source_size(source), &open);
    if (!surest)
        fail_unknown(head, err);
    return surest;
}

/* The reader of the source; what it reads counts for the progress.  `whole`: it reads all of it
 * before anybody sees an event. */
static enum tv_status begin(struct tv_source *source, bool whole,
                            const struct tv_read_options *options, const struct tv_reader **reader,
                            struct tv_error *err)
{
    struct tv_error reason;
    *reader = tv_readers_find(source, &reason);
    if (!*reader) {
        *err = reason;
        return reason.status;
    }
    uint64_t size = whole ? tv_source_size(source) : 0;
    tv_progress_join(options->progress, false);
    if (options->progress && (whole || tv_source_has_size(source, &size)))
        atomic_fetch_add_explicit(&options->progress->input_bytes, size, memory_order_relaxed);
    return TV_OK;
}

tv_describe *tv_readers_describe(struct tv_bytes format)
{
    for (size_t i = 0; tv_readers[i] != NULL; i++)
        if (tv_readers[i]->format && tv_bytes_equal(tv_bytes_of(tv_readers[i]->format), format))
            return tv_readers[i]->describe;
    return NULL;
}

enum tv_status tv_readers_build(struct tv_source *source, struct tv_builder *builder,
                                const struct tv_read_options *options, struct tv_error *err)
{
    const struct tv_reader *reader;
    enum tv_status status = begin(source, true, options, &reader, err);
    if (status != TV_OK)
        return status;
    if (reader->assemble)
        return reader->assemble(source, builder, options, err);
    return reader->read(source, tv_builder_head(builder), tv_builder_sink(builder), options, err);
}

bool tv_readers_stream(struct tv_source *source)
{
    struct tv_error reason;
    const struct tv_reader *reader = tv_readers_find(source, &reason);
    return reader && reader->read;
}

enum tv_status tv_readers_read(struct tv_source *source, struct tv_head *head, struct tv_sink *sink,
                               const struct tv_read_options *options, struct tv_error *err)
{
    const struct tv_reader *reader;
    enum tv_status status = begin(source, !sink->ops->writes, options, &reader, err);
    if (status != TV_OK)
        return status;
    if (!reader->read)
        return tv_fail(err, TV_ERR_UNSUPPORTED, TV_NO_OFFSET, "a format that is read as a whole");
    return reader->read(source, head, sink, options, err);
}

bool tv_readers_tell(struct tv_source *source)
{
    struct tv_error reason;
    const struct tv_reader *reader = tv_readers_find(source, &reason);
    return reader && reader->tell;
}

enum tv_status tv_readers_read_records(struct tv_source *source, struct tv_head *head,
                                       struct tv_record_visitor *visitor,
                                       const struct tv_read_options *options, struct tv_error *err)
{
    const struct tv_reader *reader;
    enum tv_status status = begin(source, false, options, &reader, err);
    if (status != TV_OK)
        return status;
    if (!reader->tell)
        return tv_fail(err, TV_ERR_UNSUPPORTED, TV_NO_OFFSET, "a format without records");
    return reader->tell(source, head, visitor, err);
}
