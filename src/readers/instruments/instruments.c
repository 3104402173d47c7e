/* SPDX-License-Identifier: Apache-2.0 */
/*
 * instruments.c - reader of tables that `xctrace export --xpath` writes of a recording of Apple's
 * Instruments: samples with a time, a thread, a weight and a stack.
 *
 *     trace-query-result > node > schema > col > mnemonic     a table and its columns
 *                               > row  > sample-time, thread, core, thread-state, weight,
 *                                        tagged-backtrace > backtrace > frame > binary
 *
 * A row has an element for each column, in their order; <sentinel/> stands for no value.  Tables
 * without samples (signposts, states) are counted, and a file of such tables alone is refused.
 */
#include "readers/instruments/instruments.h"

#include "base/memory.h"
#include "readers/readers.h"

/* Frames that stacks may take from lists of addresses, for each byte of the file.  The element that
 * refers to a list has 29 bytes or more, and lists of real stacks have about ten addresses. */
#define FRAMES_PER_BYTE 4

/* Bytes of the file for each id that is a number, at least: an element that defines one is longer.
 */
#define BYTES_PER_ID 8

/* ---- Tables ---- */

void instruments_begin_table(struct instruments *file, uint64_t offset)
{
    if (file->samples > 0) /* the table before has no end, or this one is inside */
        instruments_end_table(file, offset);
    file->schema = (struct tv_bytes){NULL, 0};
    file->columns = 0;
    file->kernel_columns = 0;
    file->samples = 0;
    file->last_type = TV_NONE;
}

/* Columns like cp-kernel-callstack have the kernel's part of a stack. */
void instruments_take_column(struct instruments *file, struct tv_bytes mnemonic)
{
    static const char word[] = "kernel";
    for (size_t i = 0; file->columns < 64 && i + sizeof word - 1 <= mnemonic.length; i++)
        if (memcmp(mnemonic.data + i, word, sizeof word - 1) == 0)
            file->kernel_columns |= UINT64_C(1) << file->columns;
    file->columns++;
}

static struct tv_bytes instruments_table_name(const struct instruments *file)
{
    return file->schema.length > 0 ? file->schema : TV_BYTES("samples");
}

void instruments_end_table(struct instruments *file, uint64_t offset)
{
    struct tv_profile_input *profile = &file->profile;
    profile->info->inputs[profile->input].samples += file->samples;
    file->all_samples += file->samples;
    tv_tables_count_events(&profile->trace->tables, profile->input,
                           instruments_string(file, instruments_table_name(file)), file->samples);
    if (file->samples == 0) {
        tv_profile_warn(profile, TV_DIAGNOSTIC_TABLE_UNREAD, offset);
        if (file->unread_tables++ == 0)
            file->unread = file->schema;
    }
    file->samples = 0;
}

/* ---- Rows ---- */

void instruments_begin_row(struct instruments *file, uint64_t offset)
{
    file->row = (struct instruments_row){.offset = offset};
}

void instruments_take_cell(struct instruments *file, const struct instruments_value *value)
{
    struct instruments_row *row = &file->row;
    bool kernel = row->column < 64 && (file->kernel_columns >> row->column & 1) != 0;
    row->column++;
    if (value->kind == INSTRUMENTS_TIME)
        row->time = *value;
    else if (value->kind == INSTRUMENTS_THREAD)
        row->thread = *value;
    else if (value->kind == INSTRUMENTS_PROCESS)
        row->process = *value;
    else if (value->kind == INSTRUMENTS_CORE)
        row->core = *value;
    else if (value->kind == INSTRUMENTS_STATE)
        row->state = *value;
    else if (value->kind == INSTRUMENTS_WEIGHT || value->kind == INSTRUMENTS_CYCLES)
        row->weight = *value;
    else if (value->kind == INSTRUMENTS_STACK)
        row->stack = *value;
    else if (value->kind == INSTRUMENTS_CALLS)
        row->calls[kernel] = *value;
}

/* Return the value type of a row.  Samples of threads that wait are not added to those of threads
 * that run: their type has the state in its name. */
static uint32_t instruments_value_type(struct instruments *file)
{
    const struct instruments_row *row = &file->row;
    struct tv_profile_input *profile = &file->profile;
    bool weighted = row->weight.known, cycles = row->weight.kind == INSTRUMENTS_CYCLES;
    if (file->last_type != TV_NONE && file->last_state == row->state.a &&
        file->last_weighted == weighted && file->last_cycles == cycles)
        return file->last_type;
    struct tv_bytes state = tv_trace_info_text(profile->info, row->state.a);
    struct tv_out name;
    tv_out_init_memory(&name);
    tv_out_bytes(&name, tv_xml_decode(instruments_table_name(file), &file->scratch));
    if (state.length > 0 && !tv_bytes_equal(state, TV_BYTES("Running"))) {
        tv_out_text(&name, " (");
        tv_out_bytes(&name, state);
        tv_out_text(&name, ")");
    }
    file->last_type = tv_profile_value_type(profile, (struct tv_bytes){name.buffer, name.length},
                                            tv_bytes_of(!weighted ? "samples"
                                                        : cycles  ? "cycles"
                                                                  : "nanoseconds"));
    profile->trace->tables.value_types.rows[file->last_type].counted = !weighted;
    tv_out_release(&name);
    file->last_state = row->state.a;
    file->last_weighted = weighted;
    file->last_cycles = cycles;
    return file->last_type;
}

static uint32_t instruments_row_thread(struct instruments *file)
{
    const struct instruments_row *row = &file->row;
    struct tv_bytes none = {NULL, 0};
    if (row->thread.known)
        return row->thread.a;
    tv_profile_warn(&file->profile, TV_DIAGNOSTIC_SAMPLE_NO_THREAD, row->offset);
    if (!row->process.known)
        return tv_profile_thread(&file->profile, tv_profile_process(&file->profile, 0, none), 0,
                                 none);
    return tv_profile_thread(&file->profile, row->process.a, (uint64_t)row->process.number, none);
}

/* Add the row as a sample. Its stack is known already, or its frames are pushed here. */
static void instruments_add_sample(struct instruments *file)
{
    const struct instruments_row *row = &file->row;
    struct tv_profile_input *profile = &file->profile;
    struct tv_sample sample = {.time = row->time.number,
                               .weight = 1,
                               .offset = row->offset,
                               .thread = instruments_row_thread(file),
                               .cpu = TV_NONE,
                               .type = instruments_value_type(file)};
    if (row->core.known && row->core.number >= 0 && row->core.number < UINT32_MAX)
        sample.cpu = (uint32_t)row->core.number;
    if (row->weight.known && row->weight.number >= 0)
        sample.weight = tv_profile_fit_weight(profile, (uint64_t)row->weight.number, row->offset);
    else if (row->weight.known)
        sample.weight = tv_move_within(row->weight.number);
    file->samples++;
    if (row->stack.known) {
        tv_profile_add_sample_at(profile, sample, row->stack.a, row->stack.b);
        return;
    }
    tv_profile_stack_begin(profile);
    for (size_t i = 0; i < TV_COUNT(row->calls); i++)
        if (row->calls[i].known)
            instruments_push_calls(file, &row->calls[i]);
    tv_profile_add_sample(profile, sample);
}

/* A row of another table has no sample-time; one without a thread, a weight and a stack says
 * nothing of a program. */
void instruments_end_row(struct instruments *file)
{
    const struct instruments_row *row = &file->row;
    bool stack = row->stack.known || row->calls[0].known || row->calls[1].known;
    if (row->time.known ? stack || row->weight.known || row->thread.known
                        : file->timeless && (stack || row->weight.known))
        instruments_add_sample(file);
    else if (row->time.kind == INSTRUMENTS_TIME || (stack && row->weight.known))
        tv_profile_warn(&file->profile, TV_DIAGNOSTIC_SAMPLE_NO_TIME, row->offset);
    /* A row around this one has none of these cells. */
    file->row = (struct instruments_row){.offset = row->offset};
}

/* ---- The file ---- */

static bool instruments_has_times(struct tv_bytes text)
{
    static const char tag[] = "<sample-time";
    struct tv_cursor cursor = tv_cursor_over(text);
    while (tv_cursor_left(&cursor) >= sizeof tag - 1) {
        cursor.at = memchr(cursor.at, '<', tv_cursor_left(&cursor) - (sizeof tag - 2));
        if (!cursor.at)
            return false;
        if (memcmp(cursor.at, tag, sizeof tag - 1) == 0)
            return true;
        cursor.at++;
    }
    return false;
}

/* Number of tokens between two reports of progress and checks for cancellation. */
#define TOKENS_BETWEEN_LOOKS 65536

/* Read the XML as a stream of tokens. */
static enum tv_status instruments_read(struct instruments *file, struct tv_bytes text,
                                       struct tv_progress *progress, struct tv_error *err)
{
    struct tv_cursor cursor = tv_cursor_over(text);
    struct tv_xml_token token;
    enum tv_status status = TV_OK;
    uint64_t tokens = 0;
    size_t told = 0;
    do {
        token = tv_xml_next(&cursor);
        if (token.kind == TV_XML_OPEN)
            instruments_open(file, &token);
        else if (token.kind == TV_XML_CLOSE)
            instruments_close(file, &token);
        else if (token.kind == TV_XML_TEXT)
            instruments_text(file, &token);
        if (++tokens % TOKENS_BETWEEN_LOOKS == 0) {
            size_t at = tv_cursor_position(&cursor);
            status = tv_reader_add_progress(progress, at - told, err);
            told = at;
        }
    } while (status == TV_OK && token.kind != TV_XML_END && token.kind != TV_XML_CUT);
    if (status != TV_OK)
        return status;
    /* The rows of a table that does not end were added; an element that does not end is lost. */
    if (token.kind == TV_XML_CUT || file->open_count > 0)
        tv_profile_warn(&file->profile, TV_DIAGNOSTIC_TRUNCATED, token.offset);
    if (file->samples > 0)
        instruments_end_table(file, token.offset);
    return TV_OK;
}

/* Fail when there was no sample: an empty trace would look like a recording in which nothing ran.
 */
static enum tv_status instruments_check(const struct instruments *file, struct tv_error *err)
{
    static const char remedy[] =
        "export one that has, with xctrace export --xpath "
        "'/trace-toc/run[@number=\"1\"]/data/table[@schema=\"time-profile\"]'";
    if (file->all_samples > 0)
        return TV_OK;
    if (file->unread_tables == 0)
        return tv_fail(err, TV_ERR_SYNTAX, TV_NO_OFFSET,
                       "an export of Instruments without a table of samples: %s", remedy);
    size_t length = file->unread.length < 60 ? file->unread.length : 60;
    return tv_fail(err, TV_ERR_UNSUPPORTED, TV_NO_OFFSET,
                   "an export of Instruments without samples (table \"%.*s\"): %s", (int)length,
                   length > 0 ? (const char *)file->unread.data : "", remedy);
}

static void instruments_init(struct instruments *file, struct tv_bytes text)
{
    file->unknown = file->last_type = TV_NONE;
    file->budget = text.length * FRAMES_PER_BYTE;
    file->timeless = !instruments_has_times(text);
    file->ids = tv_interner_new();
    file->max_id = text.length / BYTES_PER_ID;
    if (file->max_id > INT32_MAX)
        file->max_id = INT32_MAX;
    tv_out_init_memory(&file->scratch);
    tv_map_init(&file->address_frames);
    tv_map_init(&file->nameless);
    struct tv_input *input = &file->profile.info->inputs[file->profile.input];
    input->own_zero = true;
    input->weight_axis = file->timeless;
}

static void instruments_release(struct instruments *file)
{
    tv_interner_free(file->ids);
    tv_out_release(&file->scratch);
    tv_map_release(&file->address_frames);
    tv_map_release(&file->nameless);
    tv_free(file->values.rows);
    tv_free(file->named_values.rows);
    tv_free(file->open);
    tv_free(file->frames);
    tv_free(file->addresses);
    tv_free(file);
}

static enum tv_status instruments_assemble(struct tv_source *source, struct tv_builder *builder,
                                           const struct tv_read_options *options,
                                           struct tv_error *err)
{
    struct tv_profile_text text;
    enum tv_status status = tv_profile_text_read(source, &text, err);
    if (status != TV_OK)
        return status;
    struct instruments *file = tv_alloc(1, sizeof *file);
    tv_profile_input_begin(&file->profile, source, builder, "Instruments");
    instruments_init(file, text.bytes);
    status = instruments_read(file, text.bytes, options->progress, err);
    if (status == TV_OK)
        status = instruments_check(file, err);
    tv_profile_input_end(&file->profile, options);
    instruments_release(file);
    tv_profile_text_release(&text);
    return status;
}

/* The first element is the result of a query, after "<?xml ...?>" and comments. */
static int instruments_sniff(struct tv_bytes prefix, uint64_t size)
{
    struct tv_cursor cursor = tv_cursor_over(prefix);
    struct tv_xml_token token;
    (void)size;
    if (tv_bytes_starts_with(prefix, TV_BYTES("\xef\xbb\xbf")))
        cursor.at += 3;
    if (tv_cursor_left(&cursor) == 0 || *cursor.at != '<')
        return 0;
    do
        token = tv_xml_next(&cursor);
    while (token.kind == TV_XML_TEXT);
    return token.kind == TV_XML_OPEN && tv_bytes_equal(token.name, TV_BYTES("trace-query-result"))
               ? TV_SNIFF_SURE
               : 0;
}

const struct tv_reader tv_reader_instruments = {
    .name = "instruments",
    .sniff = instruments_sniff,
    .assemble = instruments_assemble,
    .refuses_empty = true,
};
