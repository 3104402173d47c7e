/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The walk over the lines of a chunk.
 *
 * Each line is an event, a line of function_graph, or one of the others (line.h).  Three kinds of
 * lines depend on their neighbours, which may be in another chunk:
 *
 *   "CPU:3 [LOST 12 EVENTS]"  gets the time of the next event; at the end of the chunk the reader
 *                             looks ahead into the next one
 *   "=> function"             is the stack of the last event; at the beginning of the chunk the row
 *                             is marked `goes_on`
 *   stray lines               continue the text of the last event, or are errors; before the first
 *                             event they are counted apart, in `strays`
 */
#include "readers/ftrace/chunk.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/bytes.h"
#include "base/memory.h"
#include "readers/ftrace/fields.h"
#include "readers/reader.h"

/* Bytes between two updates of the progress. */
#define PROGRESS_BYTES ((uint64_t)1 << 20)

void tv_ft_chunk_reader_init(struct tv_ft_chunk_reader *reader, struct tv_source *source,
                             uint64_t start, uint64_t end)
{
    assert(start <= end);
    memset(reader, 0, sizeof *reader);
    reader->source = source;
    reader->start = start;
    reader->end = end;
    tv_ft_chunk_init(&reader->chunk);
}

void tv_ft_chunk_reader_release(struct tv_ft_chunk_reader *reader)
{
    tv_ft_chunk_release(&reader->chunk);
    tv_diagnostics_clear(&reader->strays);
    tv_free(reader->comments.rows);
    tv_free(reader->losses.rows);
}

bool tv_ft_event_continues(struct tv_bytes event)
{
    static const char *const printers[] = {"tracing_mark_write", "0", "print", "bprint", "bputs"};
    for (size_t i = 0; i < sizeof printers / sizeof *printers; i++)
        if (tv_bytes_equal(event, tv_bytes_of(printers[i])))
            return true;
    return false;
}

/* ---- Lines that are not events ---- */

static void ft_reader_add_comment(struct tv_ft_chunk_reader *reader, const char *key,
                                  struct tv_bytes value)
{
    while (value.length > 0 && value.data[0] == ' ') {
        value.data++;
        value.length--;
    }
    *tv_table_add(&reader->comments) =
        (struct tv_ft_comment){tv_ft_chunk_string(&reader->chunk, tv_bytes_of(key)),
                               tv_ft_chunk_string(&reader->chunk, value)};
}

/* Take a comment with metadata: "# tracer: nop", "# clock_type=LINUX_CLOCK_MONOTONIC", and those
 * of the latency tracers: "# irqsoff latency trace v1.1.5 on 3.8.0", "# latency: 259 us, #4/4"
 * and the next lines. */
static void ft_reader_take_comment(struct tv_ft_chunk_reader *reader, struct tv_bytes line)
{
    static const char *const keys[] = {
        "tracer",        "clock_type", "entries-in-buffer/entries-written", "latency", "task",
        "=> started at", "=> ended at"};
    struct tv_bytes version = tv_ft_after(line, " latency trace ");
    if (version.length > 0) {
        ft_reader_add_comment(reader, "latency trace", version);
        return;
    }
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        struct tv_bytes value = tv_ft_after(line, keys[i]);
        if (value.length < 2 || (value.data[0] != ':' && value.data[0] != '='))
            continue;
        value.data++;
        value.length--;
        ft_reader_add_comment(reader, keys[i] + (keys[i][0] == '=' ? 3 : 0), value);
        return;
    }
}

bool tv_ft_parse_entries(struct tv_bytes text, uint64_t *kept, uint64_t *written)
{
    struct tv_bytes first, second = tv_ft_first_word(text);
    return tv_bytes_split(&second, '/', &first) && tv_parse_u64(first, kept) &&
           tv_parse_u64(second, written);
}

/* Return true for an empty line or a line of dashes, which function_graph writes around a
 * switch. */
static bool ft_is_ruler(struct tv_bytes line)
{
    size_t dashes = 0;
    for (size_t i = 0; i < line.length; i++) {
        dashes += line.data[i] == '-';
        if (line.data[i] != '-' && line.data[i] != ' ')
            return false;
    }
    return dashes > 8 || dashes == 0;
}

bool tv_ft_line_is_cut(const struct tv_text_line *line)
{
    return !line->ended && !line->too_long && !ft_is_ruler(line->text) &&
           tv_text_line_bare(line->text).length == line->text.length;
}

/* Return true for a line of the preamble of trace-cmd or atrace ("cpus=8", "version = 6", "CPU 3
 * is empty", "TRACE:"), or a ruler. */
static bool ft_is_heading(struct tv_bytes line)
{
    static const char *const beginnings[] = {"cpus=", "version = ", "CPU ", "TRACE:"};
    for (size_t i = 0; i < sizeof beginnings / sizeof *beginnings; i++)
        if (tv_bytes_starts_with(line, tv_bytes_of(beginnings[i])))
            return true;
    return ft_is_ruler(line);
}

bool tv_ft_loss_parse(struct tv_bytes line, uint32_t *cpu)
{
    struct tv_bytes behind = tv_ft_after(line, "CPU:");
    int64_t number;
    if (behind.data == NULL || !tv_ft_parse_number(tv_ft_first_word(behind), &number) ||
        number < 0 || number > 65535)
        return false;
    *cpu = (uint32_t)number;
    return tv_ft_after(behind, " EVENTS").data != NULL ||
           tv_ft_after(behind, "EVENTS DROPPED").data != NULL;
}

static void ft_reader_add_loss(struct tv_ft_chunk_reader *reader, uint32_t cpu,
                               struct tv_bytes line, uint64_t offset)
{
    char name[64];
    struct tv_bytes what = tv_ft_after(line, "[");
    while (what.length > 0 && what.data[what.length - 1] != ']')
        what.length--;
    what.length -= what.length > 0;
    snprintf(name, sizeof name, "CPU %u: %.*s", cpu, what.length < 40 ? (int)what.length : 40,
             (const char *)what.data);
    *tv_table_add(&reader->losses) = (struct tv_ft_loss){
        offset, tv_ft_chunk_frame(&reader->chunk, tv_bytes_of(name), "ftrace"), cpu};
}

/* Give the losses before an event its time. They refer to processors, whose tracks are known
 * only after the merge (ftrace.c). */
static void ft_reader_date_losses(struct tv_ft_chunk_reader *reader, int64_t time)
{
    struct tv_ft_chunk *chunk = &reader->chunk;
    for (size_t i = 0; i < reader->losses.count; i++) {
        const struct tv_ft_loss *loss = &reader->losses.rows[i];
        tv_diagnostics_add(&chunk->diagnostics, TV_DIAGNOSTIC_EVENTS_LOST, loss->offset);
        *tv_table_add(&chunk->instants) = (struct tv_instant){
            .time = time,
            .offset = loss->offset,
            .frame = loss->frame,
            .of = loss->cpu,
            .scope = TV_SCOPE_TRACK,
        };
    }
    reader->losses.count = 0;
}

/* Count a stray line as an error, unless it continues a text. Before the first event only the
 * merge can tell. */
static void ft_reader_take_stray(struct tv_ft_chunk_reader *reader, uint64_t offset)
{
    if (reader->any) {
        if (!reader->continues)
            tv_diagnostics_add(&reader->chunk.diagnostics, TV_DIAGNOSTIC_BAD_LINE, offset);
        return;
    }
    tv_diagnostics_add(&reader->strays, TV_DIAGNOSTIC_BAD_LINE, offset);
}

/* ---- All lines ---- */

/* Return true when the line has the clock of the file, so that its time is comparable. */
static bool ft_reader_has_clock(const struct tv_ft_chunk_reader *reader,
                                const struct tv_ft_line *line)
{
    return reader->clock == TV_FT_CLOCKS || reader->clock == line->clock;
}

/* Parse "=> do_sys_open", "=> do_sys_open (ffffffff81151930)" or "=> do_sys_open
 * <ffffffff81151930>". */
static bool ft_parse_symbol(struct tv_bytes line, struct tv_bytes *name)
{
    while (line.length > 0 && (line.data[0] == ' ' || line.data[0] == '\t')) {
        line.data++;
        line.length--;
    }
    if (line.length < 3 || memcmp(line.data, "=>", 2) != 0 || line.data[2] != ' ')
        return false;
    *name = (struct tv_bytes){line.data + 3, line.length - 3};
    while (name->length > 0 && name->data[0] == ' ') {
        name->data++;
        name->length--;
    }
    for (size_t i = 1; i + 1 < name->length; i++)
        if (name->data[i] == ' ' && (name->data[i + 1] == '(' || name->data[i + 1] == '<'))
            name->length = i;
    return name->length > 0;
}

/* Add a function to the stack of the last event. */
static void ft_reader_take_symbol(struct tv_ft_chunk_reader *reader, struct tv_bytes name)
{
    struct tv_ft_chunk *chunk = &reader->chunk;
    if (!reader->in_stack) {
        struct tv_ft_stack *stack = tv_table_add(&chunk->stacks);
        *stack = reader->last;
        stack->goes_on = !reader->has_last;
        stack->first = (uint32_t)chunk->symbols.count;
        reader->in_stack = true;
    }
    chunk->stacks.rows[chunk->stacks.count - 1].count++;
    tv_table_add(&chunk->symbols)->frame = tv_ft_chunk_frame(chunk, name, "function");
}

/* Remember the event, because its stack may follow. */
static void ft_reader_set_last_event(struct tv_ft_chunk_reader *reader,
                                     const struct tv_ft_line *line, uint64_t offset)
{
    reader->last = (struct tv_ft_stack){
        .time = line->time,
        .offset = offset & TV_OFFSET_MASK,
        .cpu = line->cpu & 0xffff,
        .task = reader->chunk.last_event.task,
        .title = reader->chunk.last_event.title,
    };
    reader->has_last = true;
    reader->in_stack = false;
}

static void ft_reader_add_buffer(struct tv_ft_chunk_reader *reader, struct tv_bytes name)
{
    uint32_t buffer = tv_ft_chunk_string(&reader->chunk, name);
    for (uint32_t i = 0; i < reader->buffer_count; i++)
        if (reader->buffers[i] == buffer)
            return;
    if (reader->buffer_count < TV_FT_BUFFERS)
        reader->buffers[reader->buffer_count++] = buffer;
}

/* One of this many events goes into the sketch. */
#define MARKED 16

/* Return the track of a processor in a sketch, or TV_NONE. */
static uint32_t ft_sketch_add_cpu(struct tv_sketch *sketch, uint32_t cpu)
{
    char name[24];
    snprintf(name, sizeof name, "CPU %" PRIu32, cpu);
    return tv_sketch_track(sketch, tv_bytes_of(name));
}

/* Add an event to the sketch, on the track of its processor. */
static TV_NOINLINE void ft_reader_sketch_event(struct tv_ft_chunk_reader *reader,
                                               const struct tv_ft_line *line)
{
    struct tv_sketch *sketch = reader->progress ? reader->progress->sketch : NULL;
    if (!sketch || line->cpu >= TV_FT_SKETCHED)
        return;
    uint32_t *known = &reader->sketched[line->cpu];
    if (*known == 0) {
        uint32_t track = ft_sketch_add_cpu(sketch, line->cpu);
        *known = track == TV_NONE ? TV_NONE : track + 1;
    }
    uint32_t track = *known == TV_NONE ? TV_NONE : *known - 1;
    tv_sketch_add(sketch, &(struct tv_sketch_mark){line->time, track}, 1);
}

/* At so many places of a block, spread evenly, a line is marked. */
#define SKETCHED_PLACES 32u

/* The first line end at or after `at` is looked for within so many bytes. */
#define SKETCHED_LINE ((size_t)4096)

/* Find the first whole line that begins after `at`, nearby. */
static bool ft_block_find_line(struct tv_bytes block, size_t at, struct tv_bytes *line)
{
    const uint8_t *end =
        block.data + (block.length - at < SKETCHED_LINE ? block.length : at + SKETCHED_LINE);
    const uint8_t *from = memchr(block.data + at, '\n', (size_t)(end - (block.data + at)));
    if (!from)
        return false;
    from++;
    const uint8_t *behind = memchr(from, '\n', (size_t)(end - from));
    if (!behind)
        return false;
    *line = (struct tv_bytes){from, (size_t)(behind - from)};
    line->length -= line->length > 0 && behind[-1] == '\r';
    return true;
}

void tv_ft_block_sketch(struct tv_bytes block, struct tv_sketch *sketch, void **notes)
{
    (void)notes; /* a line is an event, wherever the block begins */
    assert(block.data && sketch);
    for (size_t place = 0; place < SKETCHED_PLACES; place++) {
        struct tv_bytes text;
        struct tv_ft_line line;
        size_t at = block.length / SKETCHED_PLACES * place;
        if (!ft_block_find_line(block, at, &text) || !tv_ft_line_parse(text, &line) ||
            line.cpu >= TV_FT_SKETCHED)
            continue;
        struct tv_sketch_mark mark = {line.time, ft_sketch_add_cpu(sketch, line.cpu)};
        tv_sketch_add(sketch, &mark, 1);
    }
}

/* Handle a line of an event. */
static void ft_reader_take_event(struct tv_ft_chunk_reader *reader, const struct tv_ft_line *line,
                                 uint64_t offset)
{
    if (TV_UNLIKELY(reader->losses.count > 0))
        ft_reader_date_losses(reader, line->time);
    reader->any = true;
    if (line->clock == TV_FT_CLOCK_TICKS)
        tv_diagnostics_add(&reader->chunk.diagnostics, TV_DIAGNOSTIC_CLOCK_UNITLESS, offset);
    if (line->buffer.length > 0)
        ft_reader_add_buffer(reader, line->buffer);
    if (reader->chunk.events % MARKED == 0)
        ft_reader_sketch_event(reader, line);
    tv_ft_chunk_take_event(&reader->chunk, line, offset);
    reader->continues = reader->chunk.last_event.continues;
    ft_reader_set_last_event(reader, line, offset);
}

static void ft_reader_take_call(struct tv_ft_chunk_reader *reader,
                                const struct tv_ft_graph_line *line, uint64_t offset)
{
    reader->any = true;
    reader->continues = false;
    tv_ft_graph_add(&reader->chunk, line, offset);
}

void tv_ft_other_parse(struct tv_bytes bare, struct tv_ft_other *other)
{
    if (bare.length > 0 && bare.data[0] == '#')
        other->kind = TV_FT_OTHER_COMMENT;
    else if (tv_ft_loss_parse(bare, &other->cpu))
        other->kind = TV_FT_OTHER_LOSS;
    else if (ft_parse_symbol(bare, &other->name))
        other->kind = TV_FT_OTHER_SYMBOL;
    else if (tv_ft_graph_parse(bare, &other->call))
        other->kind = TV_FT_OTHER_CALL;
    else
        other->kind =
            bare.length == 0 || ft_is_heading(bare) ? TV_FT_OTHER_HEADING : TV_FT_OTHER_STRAY;
}

/* Take a line that is no event of the common form. */
static void ft_reader_take_other(struct tv_ft_chunk_reader *reader, struct tv_bytes bare,
                                 uint64_t offset)
{
    struct tv_ft_other other;
    tv_ft_other_parse(bare, &other);
    switch (other.kind) {
    case TV_FT_OTHER_COMMENT:
        ft_reader_take_comment(reader, bare);
        break;
    case TV_FT_OTHER_LOSS:
        ft_reader_add_loss(reader, other.cpu, bare, offset);
        break;
    case TV_FT_OTHER_SYMBOL:
        ft_reader_take_symbol(reader, other.name);
        break;
    case TV_FT_OTHER_CALL:
        ft_reader_take_call(reader, &other.call, offset);
        break;
    case TV_FT_OTHER_HEADING:
        break;
    case TV_FT_OTHER_STRAY:
        ft_reader_take_stray(reader, offset);
        break;
    }
}

/* Handle a line of any kind. */
static void ft_reader_take_line(struct tv_ft_chunk_reader *reader, const struct tv_text_line *line)
{
    struct tv_bytes bare = tv_text_line_bare(line->text);
    struct tv_ft_line parsed;
    if (line->too_long) {
        tv_diagnostics_add(&reader->chunk.diagnostics, TV_DIAGNOSTIC_BAD_LINE, line->offset);
    } else if (TV_UNLIKELY(!line->ended) && tv_ft_line_is_cut(line)) {
        tv_diagnostics_add(&reader->chunk.diagnostics, TV_DIAGNOSTIC_TRUNCATED, line->offset);
    } else if (tv_ft_line_parse_next(&reader->tasks, bare, &parsed)) {
        if (ft_reader_has_clock(reader, &parsed))
            ft_reader_take_event(reader, &parsed, line->offset);
        else
            tv_diagnostics_add(&reader->chunk.diagnostics, TV_DIAGNOSTIC_BAD_LINE, line->offset);
    } else {
        ft_reader_take_other(reader, bare, line->offset);
    }
}

/* Add the bytes and events since the last call to the progress. */
static void ft_reader_add_progress(struct tv_ft_chunk_reader *reader, uint64_t *reported,
                                   uint64_t at)
{
    assert(reader->reported_events <= reader->chunk.events);
    if (!reader->progress)
        return;
    atomic_fetch_add_explicit(&reader->progress->bytes, at - *reported, memory_order_relaxed);
    atomic_fetch_add_explicit(&reader->progress->records,
                              reader->chunk.events - reader->reported_events, memory_order_relaxed);
    reader->reported_events = reader->chunk.events;
    *reported = at;
}

/* Give the losses at the end of the chunk the time of the next event, which is in the next
 * chunk. */
static void ft_reader_date_last_losses(struct tv_ft_chunk_reader *reader,
                                       struct tv_text_lines *lines)
{
    assert(reader->losses.count > 0);
    struct tv_text_line line;
    struct tv_ft_line parsed;
    int64_t time = TV_FT_AT_END;
    lines->end = tv_source_size(reader->source);
    while (reader->status == TV_OK) {
        reader->status = tv_text_lines_next(lines, &line, &reader->error);
        if (reader->status != TV_OK || line.none || tv_ft_line_is_cut(&line))
            break;
        if (!tv_ft_line_parse(tv_text_line_bare(line.text), &parsed) ||
            !ft_reader_has_clock(reader, &parsed))
            continue;
        time = parsed.time;
        break;
    }
    ft_reader_date_losses(reader, time);
}

void tv_ft_chunk_reader_run(struct tv_ft_chunk_reader *reader)
{
    struct tv_text_lines lines;
    struct tv_text_line line;
    uint64_t reported = reader->start;
    tv_text_lines_init(&lines, reader->source, reader->start, reader->end);
    for (;;) {
        reader->status = tv_text_lines_next(&lines, &line, &reader->error);
        if (reader->status != TV_OK || line.none)
            break;
        ft_reader_take_line(reader, &line);
        tv_ft_chunk_check_utf8(&reader->chunk, line.offset);
        if (line.offset - reported < PROGRESS_BYTES)
            continue;
        ft_reader_add_progress(reader, &reported, line.offset);
        if (tv_reader_is_cancelled(reader->progress))
            break;
    }
    if (reader->status == TV_OK && reader->losses.count > 0)
        ft_reader_date_last_losses(reader, &lines);
    ft_reader_add_progress(reader, &reported, reader->end);
    tv_text_lines_release(&lines);
}
