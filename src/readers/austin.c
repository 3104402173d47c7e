/* SPDX-License-Identifier: Apache-2.0 */
/*
 * austin.c - reader of Austin's text: collapsed stacks of a process and a thread, in the order of
 * the samples, each with the time since the sample before.
 *
 *     # mode: wall
 *     P42;T7;app.py:<module>:12;app.py:load:30 100
 *
 *     process 42, thread 7, stack <module> > load (sampled at lines 12 and 30), 100 us
 *
 * The weights of a thread, laid one after another, are its time line.
 *
 * The number at the end depends on the mode, which the file may not state; three numbers
 * ("100,0,-4096": time, idle, bytes) are always the mode "full". A sample has a value for each
 * type that the line measures: wall time, CPU time, memory allocated, memory freed.
 *
 * Austin's documentation describes the format; docs/formats/austin.md lists what is read. A line
 * of another form is diagnosed and skipped.
 */
#include "readers/readers.h"

#include <assert.h>
#include <string.h>

#include "base/bytes.h"
#include "base/memory.h"
#include "readers/profile_input.h"
#include "readers/text_lines.h"

/* Meaning of the numbers at the end of a line. */
enum austin_mode {
    AUSTIN_WALL,   /* microseconds */
    AUSTIN_CPU,    /* the same, of threads that are not idle */
    AUSTIN_MEMORY, /* bytes that were added, or when negative given back */
    AUSTIN_FULL,   /* microseconds, 1 when idle, bytes: three numbers tell it, too */
};

enum austin_type {
    AUSTIN_TYPE_WALL,
    AUSTIN_TYPE_CPU,
    AUSTIN_TYPE_ALLOCATED,
    AUSTIN_TYPE_FREED,
    AUSTIN_TYPES,
};

static const struct {
    const char *name, *unit;
} austin_types[AUSTIN_TYPES] = {
    {"wall", "microseconds"},
    {"cpu", "microseconds"},
    {"memory_alloc", "bytes"},
    {"memory_dealloc", "bytes"},
};

#define MAX_NUMBERS 3

/* A line without its frames. */
struct austin_line {
    uint64_t pid;
    struct tv_bytes thread, frames; /* "7", "0x7f01" or a name; frames separated by ';' */
    int64_t numbers[MAX_NUMBERS];
    size_t count;
};

/* A frame of the file, and its sampled line. */
struct austin_frame {
    uint32_t frame;
    int32_t line;
};

struct austin {
    struct tv_profile_input profile;
    enum austin_mode mode;
    int64_t interval_us;          /* of the metadata; 0: not stated */
    uint32_t types[AUSTIN_TYPES]; /* TV_NONE: not met yet */
    struct tv_interner *texts;    /* texts of frames */
    struct austin_frame *frames;  /* by the number of the text */
    size_t frame_count, frame_capacity;
    struct tv_map thread_names; /* a thread that is no number (string) -> its id */
    uint64_t samples;
};

/* ---- Lines ---- */

/* Take the process or thread that a line begins with: a letter, and text up to the next ';'. */
static bool austin_take_owner(struct tv_bytes *rest, uint8_t letter, struct tv_bytes *owner)
{
    if (rest->length == 0 || rest->data[0] != letter)
        return false;
    tv_bytes_split(rest, ';', owner);
    owner->data++;
    owner->length--;
    return owner->length > 0;
}

/* Parse "100" or "100,0,-4096". */
static bool austin_parse_numbers(struct tv_bytes text, struct austin_line *line)
{
    bool more = text.length > 0;
    for (line->count = 0; more; line->count++) {
        struct tv_bytes number;
        more = tv_bytes_split(&text, ',', &number);
        if (line->count == MAX_NUMBERS || !tv_parse_i64(number, &line->numbers[line->count]))
            return false;
    }
    return line->count == 1 || line->count == MAX_NUMBERS;
}

/* Parse "P42;T7;FRAMES NUMBERS". Frames may contain blanks: the numbers follow the last one. A line
 * without frames is a sample of a thread that ran no Python code. */
static bool austin_parse_line(struct tv_bytes text, struct austin_line *line)
{
    struct tv_bytes pid;
    size_t end = text.length;
    while (end > 0 && text.data[end - 1] != ' ')
        end--;
    if (end == 0 ||
        !austin_parse_numbers((struct tv_bytes){text.data + end, text.length - end}, line))
        return false;
    line->frames = (struct tv_bytes){text.data, end - 1};
    return austin_take_owner(&line->frames, 'P', &pid) && tv_parse_u64(pid, &line->pid) &&
           austin_take_owner(&line->frames, 'T', &line->thread);
}

/* Split "# mode: wall"; false: the line is no metadata. */
static bool austin_parse_metadata(struct tv_bytes text, struct tv_bytes *key,
                                  struct tv_bytes *value)
{
    if (text.length < 2 || text.data[0] != '#' || text.data[1] != ' ')
        return false;
    text.data += 2;
    text.length -= 2;
    if (!tv_bytes_split(&text, ':', key))
        return false;
    *value = tv_bytes_trim(text);
    return key->length > 0 && value->length > 0;
}

/* Keep all metadata for people, and use what the reading depends on. */
static void austin_take_metadata(struct austin *austin, struct tv_bytes key, struct tv_bytes value)
{
    static const char *const modes[] = {"wall", "cpu", "memory", "full"};
    struct tv_input *input = &austin->profile.info->inputs[austin->profile.input];
    uint64_t number;
    for (size_t i = 0; i < TV_COUNT(modes) && tv_bytes_equal(key, TV_BYTES("mode")); i++)
        if (tv_bytes_equal(value, tv_bytes_of(modes[i])))
            austin->mode = (enum austin_mode)i;
    if (tv_bytes_equal(key, TV_BYTES("interval")) && tv_parse_u64(value, &number) &&
        number <= INT64_MAX / 1000)
        austin->interval_us = (int64_t)number;
    if (tv_bytes_equal(key, TV_BYTES("duration")) && tv_parse_u64(value, &number) &&
        number <= INT64_MAX / 1000)
        input->elapsed_ns = (int64_t)number * 1000;
    tv_trace_info_add_metadata(austin->profile.info, austin->profile.input, key, value);
}

/* ---- Frames ---- */

/* Split a number after a last ':' off: "app.py:load:30". */
static bool austin_split_last(struct tv_bytes *text, struct tv_bytes *last)
{
    size_t at = text->length;
    while (at > 0 && text->data[at - 1] != ':')
        at--;
    if (at < 2)
        return false;
    *last = (struct tv_bytes){text->data + at, text->length - at};
    text->length = at - 1;
    return true;
}

static int32_t austin_line_number(uint64_t line)
{
    return line > INT32_MAX ? 0 : (int32_t)line;
}

/* Parse "file:function:line"; without a number the whole is a name. */
static struct austin_frame austin_parse_frame(struct austin *austin, struct tv_bytes text)
{
    struct tv_bytes place = text, name, number;
    struct tv_frame frame = {.file = TV_EMPTY_STRING};
    uint64_t line = 0;
    if (!austin_split_last(&place, &number) || !tv_parse_u64(number, &line)) {
        place = text;
        line = 0;
    }
    if (austin_split_last(&place, &name) && name.length > 0)
        frame.file = tv_profile_string(&austin->profile, place);
    else
        name = text;
    frame.name = tv_profile_string(&austin->profile, name);
    return (struct austin_frame){tv_trace_info_add_frame(austin->profile.info, &frame),
                                 austin_line_number(line)};
}

/* Return the frame of a text.  "L30" is the line of the frame before it (austin -a). */
static struct austin_frame austin_find_frame(struct austin *austin, struct tv_bytes text)
{
    uint32_t number = tv_interner_add(austin->texts, text);
    uint64_t line;
    if (number < austin->frame_count)
        return austin->frames[number];
    assert(number == austin->frame_count);
    austin->frames = tv_array_reserve(austin->frames, &austin->frame_capacity,
                                      austin->frame_count + 1, sizeof *austin->frames);
    bool is_line = text.length > 1 && text.data[0] == 'L' &&
                   tv_parse_u64((struct tv_bytes){text.data + 1, text.length - 1}, &line);
    austin->frames[austin->frame_count++] =
        is_line ? (struct austin_frame){TV_NONE, austin_line_number(line)}
                : austin_parse_frame(austin, text);
    return austin->frames[number];
}

static void austin_push(struct austin *austin, struct austin_frame frame)
{
    if (frame.frame != TV_NONE)
        tv_profile_stack_push(&austin->profile, frame.frame, frame.line);
}

/* Build the stack of a line. A frame is pushed only when the next one is known, because the line
 * number may be an item of its own behind it. */
static void austin_build_stack(struct austin *austin, struct tv_bytes frames)
{
    struct austin_frame caller = {TV_NONE, 0};
    struct tv_bytes text;
    bool more = frames.length > 0;
    tv_profile_stack_begin(&austin->profile);
    while (more) {
        more = tv_bytes_split(&frames, ';', &text);
        struct austin_frame frame = austin_find_frame(austin, text);
        if (frame.frame != TV_NONE) {
            austin_push(austin, caller);
            caller = frame;
        } else if (frame.line > 0) {
            caller.line = frame.line;
        }
    }
    austin_push(austin, caller);
}

/* ---- Samples ---- */

/* Return the thread of a line: "7", "0x7f01", "0:7" with the number of an interpreter in front, or
 * a name. */
static uint32_t austin_find_thread(struct austin *austin, const struct austin_line *line)
{
    struct tv_bytes id = line->thread, interpreter = id;
    struct tv_bytes name = {NULL, 0};
    uint64_t number;
    austin_split_last(&interpreter, &id);
    if (!tv_parse_u64(id, &number) &&
        !(tv_bytes_starts_with(id, TV_BYTES("0x")) && tv_parse_hex(id, &number))) {
        name = id;
        number = tv_map_add(&austin->thread_names, tv_profile_string(&austin->profile, name),
                            (uint32_t)austin->thread_names.count + 1);
    }
    uint32_t process = tv_profile_process(&austin->profile, line->pid, (struct tv_bytes){NULL, 0});
    return tv_profile_thread(&austin->profile, process, number, name);
}

/* Add a sample of a value type.  Types that no sample has are not listed. */
static void austin_add_value(struct austin *austin, struct tv_sample sample, enum austin_type type,
                             int64_t value)
{
    struct tv_profile_input *profile = &austin->profile;
    if (value == 0)
        return;
    if (austin->types[type] == TV_NONE) {
        austin->types[type] = tv_profile_value_type(profile, tv_bytes_of(austin_types[type].name),
                                                    tv_bytes_of(austin_types[type].unit));
        if (type <= AUSTIN_TYPE_CPU)
            profile->trace->tables.value_types.rows[austin->types[type]].interval =
                austin->interval_us * 1000;
    }
    sample.type = austin->types[type];
    sample.weight = value;
    tv_profile_add_sample(profile, sample);
}

/* Add up to three samples: their weights are of different types, so they must not be mixed. */
static void austin_add_sample(struct austin *austin, const struct austin_line *line,
                              uint64_t offset)
{
    bool full = line->count == MAX_NUMBERS;
    int64_t time = full || austin->mode != AUSTIN_MEMORY ? line->numbers[0] : 0;
    int64_t bytes = full ? line->numbers[2] : austin->mode == AUSTIN_MEMORY ? line->numbers[0] : 0;
    struct tv_sample sample = {
        .offset = offset, .thread = austin_find_thread(austin, line), .cpu = TV_NONE};
    austin_build_stack(austin, line->frames);
    austin->samples++;
    austin->profile.info->inputs[austin->profile.input].samples++;
    if (full || austin->mode != AUSTIN_CPU)
        austin_add_value(austin, sample, AUSTIN_TYPE_WALL, time);
    if (full ? line->numbers[1] == 0 : austin->mode == AUSTIN_CPU)
        austin_add_value(austin, sample, AUSTIN_TYPE_CPU, time);
    if (bytes > 0)
        austin_add_value(austin, sample, AUSTIN_TYPE_ALLOCATED, bytes);
    else if (bytes < 0 && bytes > INT64_MIN)
        austin_add_value(austin, sample, AUSTIN_TYPE_FREED, -bytes);
}

/* ---- The file ---- */

/* Take a line: metadata, or a stack with its figures. */
static void austin_take_line(struct austin *austin, const struct tv_text_line *text)
{
    struct tv_bytes key, value;
    struct austin_line line;
    if (text->text.length == 0 && !text->too_long)
        return;
    if (austin_parse_metadata(text->text, &key, &value)) {
        austin_take_metadata(austin, key, value);
    } else if (text->too_long || !austin_parse_line(text->text, &line)) {
        tv_profile_warn(&austin->profile, TV_DIAGNOSTIC_BAD_LINE, text->offset);
    } else {
        if (!text->ended)
            tv_profile_warn(&austin->profile, TV_DIAGNOSTIC_UNENDED_LINE, text->offset);
        austin_add_sample(austin, &line, text->offset);
    }
}

static enum tv_status austin_read_lines(struct austin *austin, struct tv_source *source,
                                        struct tv_progress *progress, struct tv_error *err)
{
    struct tv_text_lines lines;
    struct tv_text_line line;
    enum tv_status status;
    tv_text_lines_init(&lines, source, 0, tv_source_size(source));
    while ((status = tv_text_lines_next(&lines, &line, err)) == TV_OK && !line.none) {
        austin_take_line(austin, &line);
        status = tv_reader_add_progress(progress, lines.offset - line.offset, err);
        if (status != TV_OK)
            break;
    }
    tv_text_lines_release(&lines);
    return status;
}

static enum tv_status austin_assemble(struct tv_source *source, struct tv_builder *builder,
                                      const struct tv_read_options *options, struct tv_error *err)
{
    struct austin *austin = tv_alloc(1, sizeof *austin);
    tv_profile_input_begin(&austin->profile, source, builder, "Austin samples");
    austin->profile.info->inputs[austin->profile.input].weight_axis = true;
    austin->texts = tv_interner_new();
    tv_map_init(&austin->thread_names);
    memset(austin->types, 0xff, sizeof austin->types);
    /* The interner begins with the empty text, which is no frame. */
    austin->frames = tv_array_reserve(NULL, &austin->frame_capacity, 1, sizeof *austin->frames);
    austin->frames[austin->frame_count++] = (struct austin_frame){TV_NONE, 0};
    if (options->progress)
        atomic_fetch_add_explicit(&options->progress->total_bytes, tv_source_size(source),
                                  memory_order_relaxed);
    enum tv_status status = austin_read_lines(austin, source, options->progress, err);
    tv_tables_count_events(&austin->profile.trace->tables, austin->profile.input,
                           tv_profile_string(&austin->profile, TV_BYTES("sample")),
                           austin->samples);
    tv_profile_input_end(&austin->profile, options);
    tv_interner_free(austin->texts);
    tv_map_release(&austin->thread_names);
    tv_free(austin->frames);
    tv_free(austin);
    return status;
}

/* The first line that is no comment is a sample: other collapsed stacks have no process and thread
 * in front. */
static int austin_sniff(struct tv_bytes prefix, uint64_t size)
{
    struct tv_cursor cursor = tv_cursor_over(prefix);
    struct tv_bytes text;
    struct austin_line line;
    bool named = tv_bytes_starts_with(prefix, TV_BYTES("# austin: "));
    (void)size;
    while (tv_cursor_take_line(&cursor, &text)) {
        if (text.length > 0 && text.data[text.length - 1] == '\r')
            text.length--;
        if (text.length == 0 || text.data[0] == '#')
            continue;
        return named ? 90 : austin_parse_line(text, &line) ? 80 : 0;
    }
    return named ? 90 : 0;
}

const struct tv_reader tv_reader_austin = {
    .name = "austin",
    .sniff = austin_sniff,
    .assemble = austin_assemble,
    .refuses_empty = true,
};
