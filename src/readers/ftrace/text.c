/* SPDX-License-Identifier: Apache-2.0 */
#include "readers/ftrace/text.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/bytes.h"
#include "base/memory.h"
#include "readers/ftrace/args.h"
#include "readers/ftrace/events.h"
#include "readers/ftrace/graph.h"

/* How often progress is told. */
#define PROGRESS_BYTES ((uint64_t)1 << 20)

void tv_ft_text_init(struct tv_ft_text *text, struct tv_source *source, uint64_t start,
                     uint64_t end)
{
    memset(text, 0, sizeof *text);
    text->source = source;
    text->start = start;
    text->end = end;
    tv_ft_part_init(&text->part);
}

void tv_ft_text_release(struct tv_ft_text *text)
{
    tv_ft_part_release(&text->part);
    tv_diagnostics_clear(&text->strays);
    tv_free(text->comments.rows);
    tv_free(text->losses.rows);
}

bool tv_ft_text_continues(struct tv_bytes event)
{
    static const char *const printers[] = {"tracing_mark_write", "0", "print", "bprint", "bputs"};
    for (size_t i = 0; i < sizeof printers / sizeof *printers; i++)
        if (tv_bytes_equal(event, tv_bytes_of(printers[i])))
            return true;
    return false;
}

/* ---- Lines that are no events ---- */

static void keep_comment(struct tv_ft_text *text, const char *key, struct tv_bytes value)
{
    while (value.length > 0 && value.data[0] == ' ') {
        value.data++;
        value.length--;
    }
    *tv_table_add(&text->comments) = (struct tv_ft_comment){
        tv_ft_text(&text->part, tv_bytes_of(key)), tv_ft_text(&text->part, value)};
}

/* "# tracer: nop", "# clock_type=LINUX_CLOCK_MONOTONIC"; "# irqsoff latency trace v1.1.5 on 3.8.0",
 * "# latency: 259 us, #4/4" and the next of the latency tracers. */
static void take_comment(struct tv_ft_text *text, struct tv_bytes line)
{
    static const char *const keys[] = {
        "tracer",        "clock_type", "entries-in-buffer/entries-written", "latency", "task",
        "=> started at", "=> ended at"};
    struct tv_bytes version = tv_ft_behind(line, " latency trace ");
    if (version.length > 0) {
        keep_comment(text, "latency trace", version);
        return;
    }
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        struct tv_bytes value = tv_ft_behind(line, keys[i]);
        if (value.length < 2 || (value.data[0] != ':' && value.data[0] != '='))
            continue;
        value.data++;
        value.length--;
        keep_comment(text, keys[i] + (keys[i][0] == '=' ? 3 : 0), value);
        return;
    }
}

bool tv_ft_entries(struct tv_bytes text, uint64_t *kept, uint64_t *written)
{
    struct tv_bytes first, second = tv_ft_word(text);
    return tv_bytes_split(&second, '/', &first) && tv_parse_u64(first, kept) &&
           tv_parse_u64(second, written);
}

/* " ------------------------------------------" around the switches of function_graph. */
static bool is_ruler(struct tv_bytes line)
{
    size_t dashes = 0;
    for (size_t i = 0; i < line.length; i++) {
        dashes += line.data[i] == '-';
        if (line.data[i] != '-' && line.data[i] != ' ')
            return false;
    }
    return dashes > 8 || dashes == 0;
}

bool tv_ft_text_is_cut(const struct tv_text_line *line)
{
    return !line->ended && !line->too_long && !is_ruler(line->text) &&
           tv_text_line_bare(line->text).length == line->text.length;
}

/* "cpus=8", "version = 6", "CPU 3 is empty", "TRACE:": what trace-cmd and atrace write in front. */
static bool is_heading(struct tv_bytes line)
{
    static const char *const beginnings[] = {"cpus=", "version = ", "CPU ", "TRACE:"};
    for (size_t i = 0; i < sizeof beginnings / sizeof *beginnings; i++)
        if (tv_bytes_starts_with(line, tv_bytes_of(beginnings[i])))
            return true;
    return is_ruler(line);
}

bool tv_ft_text_loss(struct tv_bytes line, uint32_t *cpu)
{
    struct tv_bytes behind = tv_ft_behind(line, "CPU:");
    int64_t number;
    if (behind.data == NULL || !tv_ft_number(tv_ft_word(behind), &number) || number < 0 ||
        number > 65535)
        return false;
    *cpu = (uint32_t)number;
    return tv_ft_behind(behind, " EVENTS").data != NULL ||
           tv_ft_behind(behind, "EVENTS DROPPED").data != NULL;
}

static void keep_loss(struct tv_ft_text *text, uint32_t cpu, struct tv_bytes line, uint64_t offset)
{
    char name[64];
    struct tv_bytes what = tv_ft_behind(line, "[");
    while (what.length > 0 && what.data[what.length - 1] != ']')
        what.length--;
    what.length -= what.length > 0;
    snprintf(name, sizeof name, "CPU %u: %.*s", cpu, what.length < 40 ? (int)what.length : 40,
             (const char *)what.data);
    *tv_table_add(&text->losses) =
        (struct tv_ft_loss){offset, tv_ft_frame(&text->part, tv_bytes_of(name), "ftrace"), cpu};
}

/* The losses before an event get its time.  They are told by their processors, whose tracks are
 * found when there are some (ftrace.c). */
static void date_losses(struct tv_ft_text *text, int64_t time)
{
    struct tv_ft_part *part = &text->part;
    for (size_t i = 0; i < text->losses.count; i++) {
        const struct tv_ft_loss *loss = &text->losses.rows[i];
        tv_diagnostics_add(&part->diagnostics, TV_DIAGNOSTIC_EVENTS_LOST, loss->offset);
        *tv_table_add(&part->instants) = (struct tv_instant){
            .time = time,
            .offset = loss->offset,
            .frame = loss->frame,
            .of = loss->cpu,
            .scope = TV_SCOPE_TRACK,
        };
    }
    text->losses.count = 0;
}

static void take_stray(struct tv_ft_text *text, uint64_t offset)
{
    if (text->any) {
        if (!text->continues)
            tv_diagnostics_add(&text->part.diagnostics, TV_DIAGNOSTIC_BAD_LINE, offset);
        return;
    }
    tv_diagnostics_add(&text->strays, TV_DIAGNOSTIC_BAD_LINE, offset);
}

/* ---- All lines ---- */

/* Whether times of the line can stand beside those of the others. */
static bool has_clock(const struct tv_ft_text *text, const struct tv_ft_line *line)
{
    return text->clock == TV_FT_CLOCKS || text->clock == line->clock;
}

/* "=> do_sys_open", "=> do_sys_open (ffffffff81151930)", "=> do_sys_open <ffffffff81151930>" */
static bool is_symbol(struct tv_bytes line, struct tv_bytes *name)
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

static void take_symbol(struct tv_ft_text *text, struct tv_bytes name)
{
    struct tv_ft_part *part = &text->part;
    if (!text->in_stack) {
        struct tv_ft_stack *stack = tv_table_add(&part->stacks);
        *stack = text->last;
        stack->goes_on = !text->has_last;
        stack->first = (uint32_t)part->symbols.count;
        text->in_stack = true;
    }
    part->stacks.rows[part->stacks.count - 1].count++;
    tv_table_add(&part->symbols)->frame = tv_ft_frame(part, name, "function");
}

/* The event whose stack may follow. */
static void note_event(struct tv_ft_text *text, const struct tv_ft_line *line, uint64_t offset)
{
    text->last = (struct tv_ft_stack){
        .time = line->time,
        .offset = offset & TV_OFFSET_MASK,
        .cpu = line->cpu & 0xffff,
        .task = text->part.last_task,
        .title = text->part.last_title,
    };
    text->has_last = true;
    text->in_stack = false;
}

static void note_buffer(struct tv_ft_text *text, struct tv_bytes name)
{
    uint32_t buffer = tv_ft_text(&text->part, name);
    for (uint32_t i = 0; i < text->buffer_count; i++)
        if (text->buffers[i] == buffer)
            return;
    if (text->buffer_count < TV_FT_BUFFERS)
        text->buffers[text->buffer_count++] = buffer;
}

/* One event of so many goes into the sketch. */
#define MARKED 16

static TV_NOINLINE void sketch(struct tv_ft_text *text, const struct tv_ft_line *line)
{
    char name[24];
    struct tv_sketch *sketch = text->progress ? text->progress->sketch : NULL;
    if (!sketch || line->cpu >= TV_FT_SKETCHED)
        return;
    uint32_t *known = &text->sketched[line->cpu];
    if (*known == 0) {
        snprintf(name, sizeof name, "CPU %" PRIu32, line->cpu);
        uint32_t track = tv_sketch_track(sketch, tv_bytes_of(name));
        *known = track == TV_NONE ? TV_NONE : track + 1;
    }
    uint32_t track = *known == TV_NONE ? TV_NONE : *known - 1;
    tv_sketch_add(sketch, &(struct tv_sketch_mark){line->time, track}, 1);
}

static void take_event(struct tv_ft_text *text, const struct tv_ft_line *line, uint64_t offset)
{
    if (TV_UNLIKELY(text->losses.count > 0))
        date_losses(text, line->time);
    text->any = true;
    if (line->clock == TV_FT_CLOCK_TICKS)
        tv_diagnostics_add(&text->part.diagnostics, TV_DIAGNOSTIC_CLOCK_UNITLESS, offset);
    if (line->buffer.length > 0)
        note_buffer(text, line->buffer);
    if (text->part.events % MARKED == 0)
        sketch(text, line);
    tv_ft_take(&text->part, line, offset);
    text->continues = text->part.last_continues;
    note_event(text, line, offset);
}

static void take_call(struct tv_ft_text *text, const struct tv_ft_graph_line *line, uint64_t offset)
{
    text->any = true;
    text->continues = false;
    tv_ft_graph_take(&text->part, line, offset);
}

void tv_ft_text_other(struct tv_bytes bare, struct tv_ft_other *other)
{
    if (bare.length > 0 && bare.data[0] == '#')
        other->kind = TV_FT_OTHER_COMMENT;
    else if (tv_ft_text_loss(bare, &other->cpu))
        other->kind = TV_FT_OTHER_LOSS;
    else if (is_symbol(bare, &other->name))
        other->kind = TV_FT_OTHER_SYMBOL;
    else if (tv_ft_graph_parse(bare, &other->call))
        other->kind = TV_FT_OTHER_CALL;
    else
        other->kind =
            bare.length == 0 || is_heading(bare) ? TV_FT_OTHER_HEADING : TV_FT_OTHER_STRAY;
}

static void take_other(struct tv_ft_text *text, struct tv_bytes bare, uint64_t offset)
{
    struct tv_ft_other other;
    tv_ft_text_other(bare, &other);
    switch (other.kind) {
    case TV_FT_OTHER_COMMENT:
        take_comment(text, bare);
        break;
    case TV_FT_OTHER_LOSS:
        keep_loss(text, other.cpu, bare, offset);
        break;
    case TV_FT_OTHER_SYMBOL:
        take_symbol(text, other.name);
        break;
    case TV_FT_OTHER_CALL:
        take_call(text, &other.call, offset);
        break;
    case TV_FT_OTHER_HEADING:
        break;
    case TV_FT_OTHER_STRAY:
        take_stray(text, offset);
        break;
    }
}

static void take_line(struct tv_ft_text *text, const struct tv_text_line *line)
{
    struct tv_bytes bare = tv_text_line_bare(line->text);
    struct tv_ft_line parsed;
    if (line->too_long) {
        tv_diagnostics_add(&text->part.diagnostics, TV_DIAGNOSTIC_BAD_LINE, line->offset);
    } else if (TV_UNLIKELY(!line->ended) && tv_ft_text_is_cut(line)) {
        tv_diagnostics_add(&text->part.diagnostics, TV_DIAGNOSTIC_TRUNCATED, line->offset);
    } else if (tv_ft_line_parse_next(&text->owners, bare, &parsed)) {
        if (has_clock(text, &parsed))
            take_event(text, &parsed, line->offset);
        else
            tv_diagnostics_add(&text->part.diagnostics, TV_DIAGNOSTIC_BAD_LINE, line->offset);
    } else {
        take_other(text, bare, line->offset);
    }
}

static bool is_cancelled(const struct tv_ft_text *text)
{
    return text->progress && atomic_load_explicit(&text->progress->cancel, memory_order_relaxed);
}

static void tell_progress(struct tv_ft_text *text, uint64_t *told, uint64_t at)
{
    if (!text->progress)
        return;
    atomic_fetch_add_explicit(&text->progress->bytes, at - *told, memory_order_relaxed);
    atomic_fetch_add_explicit(&text->progress->records, text->part.events - text->told,
                              memory_order_relaxed);
    text->told = text->part.events;
    *told = at;
}

/* The time of the next event behind the stretch, for losses at its end. */
static void end_losses(struct tv_ft_text *text, struct tv_text_lines *lines)
{
    struct tv_text_line line;
    struct tv_ft_line parsed;
    int64_t time = TV_FT_AT_END;
    lines->end = tv_source_size(text->source);
    while (text->status == TV_OK) {
        text->status = tv_text_lines_next(lines, &line, &text->error);
        if (text->status != TV_OK || line.none || tv_ft_text_is_cut(&line))
            break;
        if (!tv_ft_line_parse(tv_text_line_bare(line.text), &parsed) || !has_clock(text, &parsed))
            continue;
        time = parsed.time;
        break;
    }
    date_losses(text, time);
}

void tv_ft_text_read(struct tv_ft_text *text)
{
    struct tv_text_lines lines;
    struct tv_text_line line;
    uint64_t told = text->start;
    tv_text_lines_init(&lines, text->source, text->start, text->end);
    for (;;) {
        text->status = tv_text_lines_next(&lines, &line, &text->error);
        if (text->status != TV_OK || line.none)
            break;
        take_line(text, &line);
        tv_ft_check_texts(&text->part, line.offset);
        if (line.offset - told < PROGRESS_BYTES)
            continue;
        tell_progress(text, &told, line.offset);
        if (is_cancelled(text))
            break;
    }
    if (text->status == TV_OK && text->losses.count > 0)
        end_losses(text, &lines);
    tell_progress(text, &told, text->end);
    tv_text_lines_release(&lines);
}
