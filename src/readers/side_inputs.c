/* SPDX-License-Identifier: Apache-2.0 */
/*
 * side_inputs.c - inputs that have no slices of their own and explain the others: process dumps,
 * cgroup dumps, and power samples of a BattOr. systrace puts them into its pages next to the trace.
 *
 *     PROCESS DUMP
 *     USER   PID  PPID VSIZE  RSS  WCHAN  PC         NAME
 *     root   1    0    9952   2004 SyS_   0000000000 S /init        --> known_names: 1 "/init"
 *
 *     CGROUP DUMP
 *     cpuset 4 7 1                                                  --> metadata "cgroup cpuset"
 *
 *     # BattOr
 *     # sample_rate 2000 Hz                                         --> metadata
 *     12.5 4012.1 310.25                      ms, mV, mA            --> counter "BattOr power", W
 *     13.0 4011.9 300.00 <d4e0b2>             a clock sync marker   --> clock_syncs
 *
 * A process dump is text that people and scripts copied from a terminal, by many versions of ps.
 * Only the heading says which column is which.  Columns are found by counting words, as long as a
 * row has as many words as the heading; names with blanks shift the words, and then the place of
 * the heading on the line decides.
 *
 * In all three, a line that cannot be read is diagnosed and skipped.
 */
#include "readers/side_inputs.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/memory.h"
#include "base/out.h"

void tv_side_input_begin(struct tv_side_input *side, struct tv_source *source,
                         struct tv_builder *builder, const char *format)
{
    struct tv_trace_info *head = tv_builder_trace_info(builder);
    side->source = source;
    side->input = tv_trace_info_add_input(head, tv_source_name(source), format);
    side->assembly = tv_assembly_new(builder, side->input);
    side->trace = tv_assembly_trace(side->assembly);
    struct tv_input *input = &head->inputs[side->input];
    input->clocks = TV_CLOCK_WALL;
    input->eventless = true;
    input->bytes = tv_source_size(source);
}

void tv_side_input_end(struct tv_side_input *side)
{
    tv_assembly_end(side->assembly);
}

enum tv_status tv_side_input_lines(struct tv_side_input *side,
                                   const struct tv_read_options *options,
                                   void (*take)(void *context, const struct tv_text_line *line),
                                   void *context, struct tv_error *err)
{
    assert(side->assembly);
    uint64_t size = tv_source_size(side->source);
    struct tv_text_lines lines;
    struct tv_text_line line;
    enum tv_status status;
    if (options->progress)
        atomic_fetch_add_explicit(&options->progress->total_bytes, size, memory_order_relaxed);
    tv_text_lines_init(&lines, side->source, 0, size);
    while ((status = tv_text_lines_next(&lines, &line, err)) == TV_OK && !line.none) {
        take(context, &line);
        status = tv_reader_add_progress(options->progress, lines.offset - line.offset, err);
        if (status != TV_OK)
            break;
    }
    tv_text_lines_release(&lines);
    return status;
}

/* No table has more columns of use. */
#define MAX_WORDS 16

/* Split a line without blanks at its ends into at most MAX_WORDS words. */
static unsigned process_dump_split(struct tv_bytes line, struct tv_bytes *words)
{
    unsigned count = 0;
    while (count < MAX_WORDS && (words[count] = tv_bytes_take_word(&line)).length > 0)
        count++;
    return count;
}

/* ---- The heading ---- */

static bool process_dump_is_word(struct tv_bytes word, const char *name)
{
    return tv_bytes_equal(word, tv_bytes_of(name));
}

static unsigned process_dump_find_word(const struct tv_bytes *words, unsigned count,
                                       const char *name)
{
    unsigned i = 0;
    while (i < count && !process_dump_is_word(words[i], name))
        i++;
    return i;
}

/* Read a heading. Return false when the table has no names. */
static bool process_dump_read_heading(struct tv_process_dump *dump, struct tv_bytes line,
                                      const struct tv_bytes *words, unsigned count)
{
    *dump = (struct tv_process_dump){
        .headed = true,
        .columns = count,
        .pid = process_dump_find_word(words, count, "PID"),
        .tid = process_dump_find_word(words, count, "TID"),
        .name = process_dump_find_word(words, count, "NAME"),
    };
    dump->threads = dump->tid < count;
    if (dump->name == count)
        dump->name = process_dump_find_word(words, count, "CMD");
    if (dump->name == count)
        dump->name = process_dump_find_word(words, count, "COMM");
    if (dump->pid == count || dump->name == count)
        return false;
    dump->name_place = (size_t)(words[dump->name].data - line.data);
    if (dump->name + 1 < count)
        dump->name_end = (size_t)(words[dump->name + 1].data - line.data);
    else if (!dump->threads && process_dump_find_word(words, count, "S") == count) {
        /* Old ps printed the state between PC and NAME, without a heading. */
        dump->name++;
        dump->columns++;
    }
    return true;
}

/* ---- Rows ---- */

/* Return the text under the heading of the name; empty when the columns are shifted. */
static struct tv_bytes process_dump_under_heading(const struct tv_process_dump *dump,
                                                  struct tv_bytes line)
{
    size_t start = dump->name_place, end = dump->name_end;
    if (start == 0 || end >= line.length || !tv_is_blank(line.data[start - 1]) ||
        !tv_is_blank(line.data[end - 1]))
        return (struct tv_bytes){NULL, 0};
    return tv_bytes_trim((struct tv_bytes){line.data + start, end - start});
}

/* Return the name of a row: the last column, a single word, or the text under the heading. */
static struct tv_bytes process_dump_find_name(const struct tv_process_dump *dump,
                                              struct tv_bytes line, const struct tv_bytes *words,
                                              unsigned count)
{
    struct tv_bytes word = words[dump->name];
    if (dump->name + 1 == dump->columns) /* the last column: names may contain blanks */
        return (struct tv_bytes){word.data, (size_t)(line.data + line.length - word.data)};
    if (count == dump->columns)
        return word;
    struct tv_bytes placed = process_dump_under_heading(dump, line);
    return placed.length > 0 ? placed : word;
}

/* Remove the brackets of "[kthreadd]": ps puts them around threads without a command line. */
static struct tv_bytes process_dump_without_brackets(struct tv_bytes name)
{
    if (name.length > 2 && name.data[0] == '[' && name.data[name.length - 1] == ']')
        return (struct tv_bytes){name.data + 1, name.length - 2};
    return name;
}

/* Read a row: it needs a numeric id in each column of ids, and a word in that of the name. */
static bool process_dump_read_row(const struct tv_process_dump *dump, struct tv_bytes line,
                                  const struct tv_bytes *words, unsigned count,
                                  struct tv_process_dump_row *row)
{
    if (count <= dump->name || !tv_parse_u64(words[dump->pid], &row->pid))
        return false;
    row->is_thread = dump->threads;
    row->tid = 0;
    if (dump->threads && !tv_parse_u64(words[dump->tid], &row->tid))
        return false;
    row->name = process_dump_without_brackets(process_dump_find_name(dump, line, words, count));
    return true;
}

enum tv_process_dump_kind tv_process_dump_line(struct tv_process_dump *dump, struct tv_bytes line,
                                               struct tv_process_dump_row *row)
{
    struct tv_bytes words[MAX_WORDS];
    /* Positions under a heading count from the first byte of the line. */
    while (line.length > 0 && tv_is_blank(line.data[line.length - 1]))
        line.length--;
    struct tv_bytes text = tv_bytes_trim(line);
    unsigned count = process_dump_split(text, words);
    if (count == 0 || process_dump_is_word(text, "PROCESS DUMP"))
        return TV_PROCESS_DUMP_NOTHING;
    if (process_dump_is_word(words[0], "USER")) {
        dump->headed = process_dump_read_heading(dump, line, words, count);
        return dump->headed ? TV_PROCESS_DUMP_NOTHING : TV_PROCESS_DUMP_BAD;
    }
    return dump->headed && process_dump_read_row(dump, line, words, count, row)
               ? TV_PROCESS_DUMP_ROW
               : TV_PROCESS_DUMP_BAD;
}

/* ---- The reader ---- */

/* Return true for "USER PID PPID ...", a table without the title. */
static bool process_dump_begins_with_heading(struct tv_bytes prefix)
{
    struct tv_bytes line, words[MAX_WORDS];
    tv_bytes_split(&prefix, '\n', &line);
    unsigned count = process_dump_split(tv_bytes_trim(line), words);
    return count > 3 && process_dump_is_word(words[0], "USER") &&
           process_dump_is_word(words[1], "PID") &&
           (process_dump_is_word(words[2], "PPID") || process_dump_is_word(words[2], "TID"));
}

static int process_dump_sniff(struct tv_bytes prefix, uint64_t size)
{
    (void)size;
    return tv_bytes_starts_with(prefix, TV_BYTES("PROCESS DUMP")) ||
                   process_dump_begins_with_heading(prefix)
               ? 95
               : 0;
}

struct process_dump_reading {
    struct tv_process_dump dump;
    struct tv_trace *trace;
    uint32_t input;
};

/* Take a line of `ps`: names of threads and processes that the trace itself may lack. Lines without
 * a row (headings) are no error. */
static void process_dump_take_line(void *context, const struct tv_text_line *line)
{
    struct process_dump_reading *reading = context;
    struct tv_trace_info *head = reading->trace->head;
    struct tv_process_dump_row row;
    enum tv_process_dump_kind kind = line->too_long
                                         ? TV_PROCESS_DUMP_BAD
                                         : tv_process_dump_line(&reading->dump, line->text, &row);
    if (kind == TV_PROCESS_DUMP_BAD)
        tv_diagnostics_add(&head->diagnostics, TV_DIAGNOSTIC_BAD_LINE, line->offset);
    if (kind != TV_PROCESS_DUMP_ROW)
        return;
    head->inputs[reading->input].records++;
    *tv_table_add(&reading->trace->tables.known_names) = (struct tv_known_name){
        .pid = row.pid,
        .tid = row.tid,
        .is_thread = row.is_thread,
        .name = tv_trace_info_string(head, row.name),
        .input = reading->input,
    };
}

static enum tv_status process_dump_assemble(struct tv_source *source, struct tv_builder *builder,
                                            const struct tv_read_options *options,
                                            struct tv_error *err)
{
    struct tv_side_input side;
    tv_side_input_begin(&side, source, builder, "Process dump");
    struct process_dump_reading reading = {.trace = side.trace, .input = side.input};
    enum tv_status status =
        tv_side_input_lines(&side, options, process_dump_take_line, &reading, err);
    tv_side_input_end(&side);
    return status;
}

const struct tv_reader tv_reader_process_dump = {
    .name = "process-dump",
    .sniff = process_dump_sniff,
    .assemble = process_dump_assemble,
};

static int cgroup_dump_sniff(struct tv_bytes prefix, uint64_t size)
{
    (void)size;
    return tv_bytes_starts_with(prefix, TV_BYTES("CGROUP DUMP")) ? 95 : 0;
}

/* Return the length of the key: up to the last " :" of a task list, or the first blank of a
 * subsystem. */
static size_t cgroup_dump_key_length(struct tv_bytes text)
{
    if (text.data[0] == '/')
        for (size_t i = text.length; i > 1; i--)
            if (text.data[i - 1] == ':' && tv_is_blank(text.data[i - 2]))
                return i - 1;
    size_t length = 0;
    while (length < text.length && !tv_is_blank(text.data[length]))
        length++;
    return length;
}

/* Add a line as metadata: it is only shown, never used. */
static void cgroup_dump_take_line(void *context, const struct tv_text_line *line)
{
    struct tv_side_input *side = context;
    struct tv_trace_info *head = side->trace->head;
    struct tv_bytes text = tv_bytes_trim(line->text);
    if (line->too_long)
        tv_diagnostics_add(&head->diagnostics, TV_DIAGNOSTIC_BAD_LINE, line->offset);
    if (text.length == 0 || text.data[0] == '#' || tv_bytes_equal(text, TV_BYTES("CGROUP DUMP")))
        return;
    size_t length = cgroup_dump_key_length(text);
    struct tv_bytes key = tv_bytes_trim((struct tv_bytes){text.data, length});
    struct tv_bytes value =
        tv_bytes_trim((struct tv_bytes){text.data + length, text.length - length});
    if (value.length > 0 && value.data[0] == ':')
        value = tv_bytes_trim((struct tv_bytes){value.data + 1, value.length - 1});
    struct tv_out out;
    tv_out_init_memory(&out);
    tv_out_text(&out, "cgroup ");
    tv_out_bytes(&out, key);
    tv_trace_info_add_metadata(head, side->input, (struct tv_bytes){out.buffer, out.length}, value);
    tv_out_release(&out);
    head->inputs[side->input].records++;
}

static enum tv_status cgroup_dump_assemble(struct tv_source *source, struct tv_builder *builder,
                                           const struct tv_read_options *options,
                                           struct tv_error *err)
{
    struct tv_side_input side;
    tv_side_input_begin(&side, source, builder, "Cgroup dump");
    enum tv_status status = tv_side_input_lines(&side, options, cgroup_dump_take_line, &side, err);
    tv_side_input_end(&side);
    return status;
}

const struct tv_reader tv_reader_cgroup_dump = {
    .name = "cgroup-dump",
    .sniff = cgroup_dump_sniff,
    .assemble = cgroup_dump_assemble,
};

#define NS_PER_MS 1000000

/* Millivolts and milliamperes are parsed in millionths, so a product of two is in parts of a
 * watt. */
#define PARTS 1000000
#define PARTS_PER_WATT 1e18

/* Later times are damaged lines, and their differences would not fit. */
#define LATEST ((tv_ns)1 << 61)

/* ---- Lines ---- */

static void battor_skip_blanks(struct tv_bytes *text)
{
    while (text->length > 0 && tv_is_blank(text->data[0])) {
        text->data++;
        text->length--;
    }
}

/* Take a decimal number without a unit, and multiply it by `unit`. */
static bool battor_take_number(struct tv_bytes *text, tv_ns unit, tv_ns *value)
{
    struct tv_bytes word = tv_bytes_take_word(text);
    for (size_t i = 0; i < word.length; i++)
        if ((word.data[i] < '0' || word.data[i] > '9') && word.data[i] != '.' &&
            (word.data[i] != '-' || i > 0))
            return false;
    return tv_parse_time(word, unit, value);
}

bool tv_battor_line(struct tv_bytes text, struct tv_battor_line *line)
{
    tv_ns volts, amperes;
    if (!battor_take_number(&text, NS_PER_MS, &line->time) ||
        !battor_take_number(&text, PARTS, &volts) || !battor_take_number(&text, PARTS, &amperes) ||
        line->time > LATEST || line->time < -LATEST)
        return false;
    /* mV in millionths times mA in millionths is W / 10^18. Negative readings are measuring errors;
     * a sync marker of such a line still counts. */
    line->watts = volts < 0 || amperes < 0 ? -1 : (double)volts * (double)amperes / PARTS_PER_WATT;
    line->sync_id = tv_bytes_take_word(&text);
    battor_skip_blanks(&text);
    if (text.length > 0)
        return false;
    if (line->sync_id.length == 0)
        return true;
    struct tv_bytes id = line->sync_id;
    line->sync_id = (struct tv_bytes){id.data + 1, id.length - 2};
    return id.length > 2 && id.data[0] == '<' && id.data[id.length - 1] == '>';
}

/* ---- The reader ---- */

struct battor_sample {
    tv_ns time;
    uint64_t offset;
    double watts; /* not negative */
};

struct battor_reading {
    struct tv_side_input side;
    struct battor_sample *samples;
    size_t count, capacity;
};

static int battor_sniff(struct tv_bytes prefix, uint64_t size)
{
    (void)size;
    return tv_bytes_starts_with(prefix, TV_BYTES("# BattOr")) ? 95 : 0;
}

static void battor_add_sample(struct battor_reading *reading, const struct tv_battor_line *line,
                              uint64_t offset)
{
    if (reading->count == UINT32_MAX) /* limit of a counter */
        return;
    reading->samples = tv_array_reserve(reading->samples, &reading->capacity, reading->count + 1,
                                        sizeof *reading->samples);
    reading->samples[reading->count++] = (struct battor_sample){line->time, offset, line->watts};
}

/* Add a comment like "# sample_rate 2000 Hz" as metadata. */
static void battor_take_comment(const struct battor_reading *reading, struct tv_bytes text)
{
    struct tv_bytes key = tv_bytes_take_word(&text);
    battor_skip_blanks(&text);
    if (text.length > 0)
        tv_trace_info_add_metadata(reading->side.trace->head, reading->side.input, key, text);
}

/* Take a line of a BattOr log: a sample of power, and perhaps an id by which its clock is aligned.
 */
static void battor_take_sample(struct battor_reading *reading, struct tv_bytes text,
                               uint64_t offset)
{
    struct tv_trace *trace = reading->side.trace;
    struct tv_battor_line line = {.time = 0};
    bool good = tv_battor_line(text, &line);
    if (!good || line.watts < 0)
        tv_diagnostics_add(&trace->head->diagnostics, TV_DIAGNOSTIC_BAD_LINE, offset);
    if (!good)
        return;
    if (line.watts >= 0)
        battor_add_sample(reading, &line, offset);
    if (line.sync_id.length > 0)
        *tv_table_add(&trace->tables.clock_syncs) = (struct tv_clock_sync){
            .time = line.time,
            .asked = line.time,
            .offset = offset,
            .id = tv_trace_info_string(trace->head, line.sync_id),
            .input = reading->side.input,
        };
}

static void battor_take_line(void *context, const struct tv_text_line *line)
{
    struct battor_reading *reading = context;
    struct tv_bytes text = line->text;
    if (line->too_long) {
        tv_diagnostics_add(&reading->side.trace->head->diagnostics, TV_DIAGNOSTIC_BAD_LINE,
                           line->offset);
        return;
    }
    battor_skip_blanks(&text);
    if (text.length == 0)
        return;
    if (text.data[0] == '#')
        battor_take_comment(reading, (struct tv_bytes){text.data + 1, text.length - 1});
    else
        battor_take_sample(reading, text, line->offset);
}

static int battor_compare_samples(const void *left, const void *right)
{
    const struct battor_sample *a = left, *b = right;
    if (a->time != b->time)
        return a->time < b->time ? -1 : 1;
    return a->offset < b->offset ? -1 : a->offset > b->offset;
}

static void battor_add_counter(const struct battor_reading *reading)
{
    assert(reading->count > 0 && reading->count <= UINT32_MAX);
    size_t count = reading->count;
    struct tv_trace *trace = reading->side.trace;
    struct tv_counter counter = {
        .name = tv_trace_info_string(trace->head, TV_BYTES("BattOr power")),
        .category = tv_trace_info_string(trace->head, TV_BYTES("power")),
        .process = TV_NONE,
        .input = reading->side.input,
        .series_count = 1,
        .sample_count = (uint32_t)count,
    };
    uint32_t series = tv_trace_info_string(trace->head, TV_BYTES("W"));
    tv_ns *times = tv_alloc(count, sizeof *times);
    uint64_t *offsets = tv_alloc(count, sizeof *offsets);
    double *values = tv_alloc(count, sizeof *values);
    for (size_t i = 0; i < count; i++) {
        times[i] = reading->samples[i].time;
        offsets[i] = reading->samples[i].offset;
        values[i] = reading->samples[i].watts;
    }
    tv_tables_add_counter(&trace->tables, &counter, &series, times, offsets, values);
    tv_free(times);
    tv_free(offsets);
    tv_free(values);
}

/* Add the counter, sorted by time, and set the range of the input. */
static void battor_finish(struct battor_reading *reading)
{
    if (reading->count == 0)
        return;
    struct tv_input *input = &reading->side.trace->head->inputs[reading->side.input];
    qsort(reading->samples, reading->count, sizeof *reading->samples, battor_compare_samples);
    battor_add_counter(reading);
    input->eventless = false;
    input->own_zero = true;
    input->records = reading->count;
    input->origin = reading->samples[0].time;
    input->last_wall = reading->samples[reading->count - 1].time - input->origin;
}

static enum tv_status battor_assemble(struct tv_source *source, struct tv_builder *builder,
                                      const struct tv_read_options *options, struct tv_error *err)
{
    struct battor_reading reading = {.samples = NULL};
    tv_side_input_begin(&reading.side, source, builder, "BattOr power samples");
    enum tv_status status =
        tv_side_input_lines(&reading.side, options, battor_take_line, &reading, err);
    if (status == TV_OK)
        battor_finish(&reading);
    tv_side_input_end(&reading.side);
    tv_free(reading.samples);
    return status;
}

const struct tv_reader tv_reader_battor = {
    .name = "battor",
    .sniff = battor_sniff,
    .assemble = battor_assemble,
};
