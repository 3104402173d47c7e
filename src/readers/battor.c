/* SPDX-License-Identifier: Apache-2.0 */
#include "readers/battor.h"

#include <stdlib.h>

#include "base/bytes.h"
#include "base/memory.h"
#include "readers/side_input.h"

#define NS_PER_MS 1000000

/* Millivolts and milliamperes are read as so many parts of theirs; a product of two is so much of a
 * watt. */
#define PARTS 1000000
#define PARTS_PER_WATT 1e18

/* Later times are nonsense, and differences of two would not fit. */
#define LATEST ((tv_ns)1 << 61)

/* ---- Lines ---- */

static void skip_blanks(struct tv_bytes *text)
{
    while (text->length > 0 && tv_is_blank(text->data[0])) {
        text->data++;
        text->length--;
    }
}

/* A decimal number without a unit, times `unit`. */
static bool take_number(struct tv_bytes *text, tv_ns unit, tv_ns *value)
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
    if (!take_number(&text, NS_PER_MS, &line->time) || !take_number(&text, PARTS, &volts) ||
        !take_number(&text, PARTS, &amperes) || line->time > LATEST || line->time < -LATEST)
        return false;
    line->watts = volts < 0 || amperes < 0 ? -1 : (double)volts * (double)amperes / PARTS_PER_WATT;
    line->sync_id = tv_bytes_take_word(&text);
    skip_blanks(&text);
    if (text.length > 0)
        return false;
    if (line->sync_id.length == 0)
        return true;
    struct tv_bytes id = line->sync_id;
    line->sync_id = (struct tv_bytes){id.data + 1, id.length - 2};
    return id.length > 2 && id.data[0] == '<' && id.data[id.length - 1] == '>';
}

/* ---- The reader ---- */

struct sample {
    tv_ns time;
    uint64_t offset;
    double watts;
};

struct reading {
    struct tv_side_input side;
    struct sample *samples;
    size_t count, capacity;
};

static int sniff(struct tv_bytes head, uint64_t size)
{
    (void)size;
    return tv_bytes_starts_with(head, TV_BYTES("# BattOr")) ? 95 : 0;
}

static void add_sample(struct reading *reading, const struct tv_battor_line *line, uint64_t offset)
{
    if (reading->count == UINT32_MAX) /* a counter has no more */
        return;
    reading->samples = tv_array_reserve(reading->samples, &reading->capacity, reading->count + 1,
                                        sizeof *reading->samples);
    reading->samples[reading->count++] = (struct sample){line->time, offset, line->watts};
}

/* "# sample_rate 2000 Hz": a key and its value. */
static void take_comment(const struct reading *reading, struct tv_bytes text)
{
    struct tv_bytes key = tv_bytes_take_word(&text);
    skip_blanks(&text);
    if (text.length > 0)
        tv_trace_info_add_metadata(reading->side.trace->head, reading->side.input, key, text);
}

static void take_sample(struct reading *reading, struct tv_bytes text, uint64_t offset)
{
    struct tv_trace *trace = reading->side.trace;
    struct tv_battor_line line = {.time = 0};
    bool good = tv_battor_line(text, &line);
    if (!good || line.watts < 0)
        tv_diagnostics_add(&trace->head->diagnostics, TV_DIAGNOSTIC_BAD_LINE, offset);
    if (!good)
        return;
    if (line.watts >= 0)
        add_sample(reading, &line, offset);
    if (line.sync_id.length > 0)
        *tv_table_add(&trace->tables.clock_syncs) = (struct tv_clock_sync){
            .time = line.time,
            .asked = line.time,
            .offset = offset,
            .id = tv_trace_info_string(trace->head, line.sync_id),
            .input = reading->side.input,
        };
}

static void take_line(void *context, const struct tv_text_line *line)
{
    struct reading *reading = context;
    struct tv_bytes text = line->text;
    if (line->too_long) {
        tv_diagnostics_add(&reading->side.trace->head->diagnostics, TV_DIAGNOSTIC_BAD_LINE,
                           line->offset);
        return;
    }
    skip_blanks(&text);
    if (text.length == 0)
        return;
    if (text.data[0] == '#')
        take_comment(reading, (struct tv_bytes){text.data + 1, text.length - 1});
    else
        take_sample(reading, text, line->offset);
}

static int compare_samples(const void *left, const void *right)
{
    const struct sample *a = left, *b = right;
    if (a->time != b->time)
        return a->time < b->time ? -1 : 1;
    return a->offset < b->offset ? -1 : a->offset > b->offset;
}

static void add_counter(const struct reading *reading)
{
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

static void finish(struct reading *reading)
{
    if (reading->count == 0)
        return;
    struct tv_input *input = &reading->side.trace->head->inputs[reading->side.input];
    qsort(reading->samples, reading->count, sizeof *reading->samples, compare_samples);
    add_counter(reading);
    input->eventless = false;
    input->own_zero = true;
    input->records = reading->count;
    input->origin = reading->samples[0].time;
    input->last_wall = reading->samples[reading->count - 1].time - input->origin;
}

static enum tv_status assemble(struct tv_source *source, struct tv_builder *builder,
                               const struct tv_read_options *options, struct tv_error *err)
{
    struct reading reading = {.samples = NULL};
    tv_side_input_begin(&reading.side, source, builder, "BattOr power samples");
    enum tv_status status = tv_side_input_lines(&reading.side, options, take_line, &reading, err);
    if (status == TV_OK)
        finish(&reading);
    tv_side_input_end(&reading.side);
    tv_free(reading.samples);
    return status;
}

const struct tv_reader tv_reader_battor = {
    .name = "battor",
    .summary = "Power samples of a BattOr (\"# BattOr\")",
    .sniff = sniff,
    .assemble = assemble,
};
