/* SPDX-License-Identifier: Apache-2.0 */
/*
 * speedscope.c - speedscope JSON: profiles of stacks with weights ("sampled", which become samples)
 * or of entries and exits ("evented", which become slices).  Each profile is a thread.
 *
 *     {"$schema": "https://www.speedscope.app/file-format-schema.json",
 *      "shared": {"frames": [{"name": "main", "file": "a.c", "line": 7}, {"name": "read"}]},
 *      "profiles": [
 *        {"type": "sampled", "name": "thread 1", "unit": "milliseconds", "startValue": 0,
 *         "samples": [[0], [0, 1]], "weights": [2, 3]},       main 0-2 ms, main > read 2-5 ms
 *        {"type": "evented", "name": "thread 2", "unit": "seconds", "startValue": 0,
 *         "events": [{"type": "O", "frame": 0, "at": 0}, {"type": "C", "frame": 0, "at": 1}]}]}
 *
 * The unit of a profile may be after its numbers, so the members of each object are found
 * before they are read. "shared" may follow "profiles" for the same reason.
 *
 * Times of a sampled profile are sums of weights from startValue on. Damage ends the list that it
 * is in; unknown frame numbers become "[unknown]". docs/formats/speedscope.md has all rules.
 */
#include "readers/readers.h"

#include <assert.h>
#include <string.h>

#include "base/bytes.h"
#include "base/memory.h"
#include "readers/json/profile_kind.h"
#include "readers/json/stream.h"
#include "readers/profile_input.h"
#include "readers/trace_event/text/values.h"

struct speedscope {
    struct tv_profile_input profile;
    struct tv_profile_text text;
    struct tv_json_stream stream;
    struct tv_te_scratch scratch;
    uint32_t *frames; /* the model's, by index in "shared" */
    size_t frame_count, frame_capacity;
    uint32_t unknown;    /* the frame "[unknown]"; TV_NONE: not needed yet */
    struct tv_map named; /* name of a profile (string) -> thread */
    size_t profiles;
};

/* Meaning of a profile's unit. */
struct speedscope_unit {
    const char *name;
    unsigned digits; /* 10^digits nanoseconds are one */
    bool time;
    struct tv_bytes type, unit; /* of the model */
};

#define TYPE_TIME TV_BYTES_OF("time"), TV_BYTES_OF("nanoseconds")
#define TV_BYTES_OF(text)                                                                          \
    {                                                                                              \
        (const uint8_t *)(text), sizeof(text) - 1                                                  \
    }

static const struct speedscope_unit speedscope_units[] = {
    {"none", 0, false, TV_BYTES_OF("weight"), TV_BYTES_OF("none")}, /* also any other unit */
    {"nanoseconds", 0, true, TYPE_TIME},
    {"microseconds", 3, true, TYPE_TIME},
    {"milliseconds", 6, true, TYPE_TIME},
    {"seconds", 9, true, TYPE_TIME},
    {"bytes", 0, false, TV_BYTES_OF("bytes"), TV_BYTES_OF("bytes")},
};

/* One profile while it is read. */
struct speedscope_profile {
    const struct speedscope_unit *unit;
    uint32_t thread, type;
    uint32_t value;     /* string: "valueType" of our own files; else empty */
    int64_t start, end; /* nanoseconds, or the unit of a profile without times; 0: not stated */
};

enum speedscope_member {
    SPEEDSCOPE_TYPE,
    SPEEDSCOPE_NAME,
    SPEEDSCOPE_UNIT,
    SPEEDSCOPE_START,
    SPEEDSCOPE_END,
    SPEEDSCOPE_SAMPLES,
    SPEEDSCOPE_WEIGHTS,
    SPEEDSCOPE_EVENTS,
    SPEEDSCOPE_VALUE_TYPE, /* of our own files: the name and unit that the format does not have */
    SPEEDSCOPE_VALUE_UNIT,
    SPEEDSCOPE_MEMBERS,
};

/* Return the stream at a member; false: there is none. */
static bool speedscope_at(const struct speedscope *file, const struct tv_json_member *member,
                          struct tv_json_stream *stream)
{
    if (member->offset == TV_NO_OFFSET)
        return false;
    *stream = tv_json_stream_at(&file->stream, (size_t)member->offset);
    return true;
}

/* Return the text of a member, valid until the next one; empty: there is none. */
static struct tv_bytes speedscope_text(struct speedscope *file, const struct tv_json_member *member)
{
    struct tv_json_stream stream;
    if (!speedscope_at(file, member, &stream))
        return (struct tv_bytes){NULL, 0};
    struct tv_bytes raw = tv_json_take_raw(&stream);
    return stream.bad || !tv_te_is_string(raw) ? (struct tv_bytes){NULL, 0}
                                               : tv_te_decode_text(raw, &file->scratch);
}

static void speedscope_warn_end(struct speedscope *file, const struct tv_json_stream *stream)
{
    if (stream->bad)
        tv_profile_warn(&file->profile, TV_DIAGNOSTIC_TRUNCATED, tv_json_stream_offset(stream));
}

/* ---- Frames ---- */

static uint32_t speedscope_take_string(struct speedscope *file, struct tv_json_stream *stream)
{
    struct tv_bytes raw = tv_json_take_raw(stream);
    if (stream->bad || !tv_te_is_string(raw))
        return TV_EMPTY_STRING;
    return tv_profile_string(&file->profile, tv_te_decode_text(raw, &file->scratch));
}

/* Take a line or a column; 0, null and what does not fit mean unknown. */
static void speedscope_take_position(struct tv_json_stream *stream, int32_t *position)
{
    int64_t number;
    if (tv_json_take_number(stream, 0, &number) && number > 0 && number < INT32_MAX)
        *position = (int32_t)number;
}

/* Take {"name", "file", "line", "col"}. */
static uint32_t speedscope_take_frame(struct speedscope *file, struct tv_json_stream *stream)
{
    struct tv_frame frame = {.line = 0};
    struct tv_bytes key;
    if (tv_json_open(stream, '{'))
        while (tv_json_take_key(stream, &key)) {
            if (tv_bytes_equal(key, TV_BYTES("name")))
                frame.name = speedscope_take_string(file, stream);
            else if (tv_bytes_equal(key, TV_BYTES("file")))
                frame.file = speedscope_take_string(file, stream);
            else if (tv_bytes_equal(key, TV_BYTES("line")))
                speedscope_take_position(stream, &frame.line);
            else if (tv_bytes_equal(key, TV_BYTES("col")))
                speedscope_take_position(stream, &frame.column);
            else
                tv_json_skip(stream);
        }
    return tv_trace_info_add_frame(file->profile.info, &frame);
}

/* Take the frames that all profiles of the file refer to by their numbers. */
static void speedscope_take_shared(struct speedscope *file, struct tv_json_stream *stream)
{
    struct tv_json_member members[] = {{"frames", 0}};
    struct tv_json_stream frames;
    if (!tv_json_find_members(stream, members, 1) || !speedscope_at(file, members, &frames) ||
        !tv_json_open(&frames, '['))
        return;
    while (tv_json_take_element(&frames)) {
        uint32_t frame = speedscope_take_frame(file, &frames);
        file->frames = tv_array_reserve(file->frames, &file->frame_capacity, file->frame_count + 1,
                                        sizeof *file->frames);
        file->frames[file->frame_count++] = frame;
    }
}

/* Return the model's frame for an index of the file. */
static uint32_t speedscope_frame(struct speedscope *file, int64_t index, uint64_t offset)
{
    if (index >= 0 && (uint64_t)index < file->frame_count)
        return file->frames[index];
    tv_profile_warn(&file->profile, TV_DIAGNOSTIC_STACK_UNKNOWN, offset);
    if (file->unknown == TV_NONE) {
        struct tv_frame frame = {.name = tv_profile_string(&file->profile, TV_BYTES("[unknown]"))};
        file->unknown = tv_trace_info_add_frame(file->profile.info, &frame);
    }
    return file->unknown;
}

/* ---- Threads ---- */

/* Take "Process 12 " off the front of a name; return the number, or `otherwise`. */
static uint64_t speedscope_take_id(struct tv_bytes *name, struct tv_bytes word, uint64_t otherwise)
{
    struct tv_bytes rest = *name, number;
    uint64_t id;
    if (!tv_bytes_starts_with(rest, word))
        return otherwise;
    rest.data += word.length, rest.length -= word.length;
    number = tv_bytes_take_word(&rest);
    bool known = tv_bytes_starts_with(number, TV_BYTES("0x")) ? tv_parse_hex(number, &id)
                                                              : tv_parse_u64(number, &id);
    if (!known)
        return otherwise;
    *name = tv_bytes_trim(rest);
    return id;
}

/* Return the name of a profile without " (TYPE)", which our own files add to it. */
static struct tv_bytes speedscope_cut_type(struct tv_bytes name, struct tv_bytes type)
{
    size_t added = type.length + 3;
    if (type.length == 0 || name.length <= added || name.data[name.length - 1] != ')')
        return name;
    struct tv_bytes front = {name.data, name.length - added};
    struct tv_bytes inside = {front.data + front.length + 2, type.length};
    bool own = front.data[front.length] == ' ' && front.data[front.length + 1] == '(';
    return own && tv_bytes_equal(inside, type) ? front : name;
}

/* Return the thread of a profile.  py-spy writes `Process 12 Thread 13 "x"` or `Thread 0x7f01 "x"`;
 * profiles with equal names are value types of one thread. */
static uint32_t speedscope_thread(struct speedscope *file, struct tv_bytes name)
{
    struct tv_bytes rest = name, none = {NULL, 0};
    uint32_t string = tv_profile_string(&file->profile, name);
    uint32_t known = tv_map_find(&file->named, string);
    if (known != TV_NONE)
        return known;
    uint64_t pid = speedscope_take_id(&rest, TV_BYTES("Process "), 0);
    uint64_t tid = speedscope_take_id(&rest, TV_BYTES("Thread "), file->profiles);
    if (rest.length > 2 && rest.data[0] == '"' && rest.data[rest.length - 1] == '"')
        rest = (struct tv_bytes){rest.data + 1, rest.length - 2};
    uint32_t process = tv_profile_process(&file->profile, pid, none);
    uint32_t thread = tv_profile_thread(&file->profile, process, tid, rest);
    tv_map_set(&file->named, string, thread);
    return thread;
}

/* ---- Sampled profiles ---- */

/* Take a stack, root first; false: the value is none. */
static bool speedscope_take_stack(struct speedscope *file, struct tv_json_stream *stream)
{
    int64_t index;
    tv_profile_stack_begin(&file->profile);
    if (!tv_json_open(stream, '['))
        return false;
    while (tv_json_take_element(stream)) {
        uint64_t offset = tv_json_stream_offset(stream);
        if (!tv_json_take_number(stream, 0, &index))
            index = -1;
        tv_profile_stack_push(&file->profile, speedscope_frame(file, index, offset), 0);
    }
    return true;
}

/* Walk through both lists in step. A weight that is missing counts as 1, with a diagnostic. Return
 * the number of samples. */
static uint64_t speedscope_take_samples(struct speedscope *file,
                                        const struct speedscope_profile *from,
                                        struct tv_json_stream *samples,
                                        struct tv_json_stream *weights)
{
    uint64_t count = 0;
    struct tv_sample sample = {
        .time = from->start, .thread = from->thread, .cpu = TV_NONE, .type = from->type};
    bool weighted = tv_json_open(weights, '[');
    if (!tv_json_open(samples, '['))
        return 0;
    for (; tv_json_take_element(samples); count++) {
        sample.offset = tv_json_stream_offset(samples);
        if (!speedscope_take_stack(file, samples))
            tv_profile_warn(&file->profile, TV_DIAGNOSTIC_STACK_UNKNOWN, sample.offset);
        sample.weight = 1;
        weighted = weighted && tv_json_take_element(weights);
        if (!weighted || !tv_json_take_number(weights, from->unit->digits, &sample.weight))
            tv_profile_warn(&file->profile, TV_DIAGNOSTIC_SAMPLE_NO_WEIGHT, sample.offset);
        tv_profile_add_sample(&file->profile, sample);
        sample.time = tv_move_add(sample.time, sample.weight);
    }
    speedscope_warn_end(file, samples);
    tv_profile_reach(&file->profile, sample.time);
    return count;
}

/* Return the value type of a profile: of a file of ours as it says, else as the unit says. */
static uint32_t speedscope_value_type(struct speedscope *file, const struct speedscope_unit *unit,
                                      uint32_t value, const struct tv_json_member *members)
{
    struct tv_bytes own = speedscope_text(file, &members[SPEEDSCOPE_VALUE_UNIT]);
    struct tv_bytes name = tv_trace_info_text(file->profile.info, value);
    if (name.length == 0)
        return tv_profile_value_type(&file->profile, unit->type, unit->unit);
    return tv_profile_value_type(&file->profile, name,
                                 own.length > 0 && unit == &speedscope_units[0] ? own : unit->unit);
}

static void speedscope_read_sampled(struct speedscope *file, struct speedscope_profile *from,
                                    const struct tv_json_member *members)
{
    struct tv_json_stream samples, weights = {NULL, NULL, NULL, true};
    struct tv_profile_input *profile = &file->profile;
    uint64_t count = 0;
    from->type = speedscope_value_type(file, from->unit, from->value, members);
    (void)speedscope_at(file, &members[SPEEDSCOPE_WEIGHTS], &weights);
    if (speedscope_at(file, &members[SPEEDSCOPE_SAMPLES], &samples))
        count = speedscope_take_samples(file, from, &samples, &weights);
    profile->info->inputs[profile->input].samples += count;
    tv_tables_count_events(&profile->trace->tables, profile->input,
                           tv_profile_string(profile, TV_BYTES("sampled")), count);
}

/* ---- Evented profiles ---- */

struct speedscope_event {
    uint8_t kind; /* 'O', 'C'; 0: neither */
    int64_t frame, at;
    uint64_t offset;
};

/* The frames that are open. */
struct speedscope_calls {
    uint32_t *frames;
    size_t count, capacity;
    int64_t now; /* time of the latest event; never goes back */
};

/* Take {"type", "frame", "at"} in any order. An event without a time happens now. */
static struct speedscope_event speedscope_take_event(struct tv_json_stream *stream, unsigned digits,
                                                     int64_t now)
{
    struct speedscope_event event = {0, -1, now, tv_json_stream_offset(stream)};
    struct tv_bytes key;
    if (!tv_json_open(stream, '{'))
        return event;
    while (tv_json_take_key(stream, &key)) {
        if (tv_bytes_equal(key, TV_BYTES("type"))) {
            struct tv_bytes raw = tv_json_take_raw(stream);
            event.kind = raw.length == 3 ? raw.data[1] : 0;
        } else if (tv_bytes_equal(key, TV_BYTES("frame"))) {
            (void)tv_json_take_number(stream, 0, &event.frame);
        } else if (tv_bytes_equal(key, TV_BYTES("at"))) {
            (void)tv_json_take_number(stream, digits, &event.at);
        } else {
            tv_json_skip(stream);
        }
    }
    return event;
}

static void speedscope_add_span(struct speedscope *file, const struct speedscope_profile *from,
                                const struct speedscope_calls *calls, unsigned flags,
                                uint64_t offset)
{
    assert(calls->count > 0);
    struct tv_span span = {
        .time = calls->now,
        .length = TV_NO_TIME,
        .offset = offset & TV_OFFSET_MASK,
        .flags = (uint8_t)flags,
        .frame = calls->frames[calls->count - 1],
    };
    tv_profile_add_slice(&file->profile, from->thread, &span);
}

/* End the innermost call and, if another one is meant, those inside it. */
static void speedscope_close(struct speedscope *file, const struct speedscope_profile *from,
                             struct speedscope_calls *calls, uint32_t frame, uint64_t offset)
{
    size_t wanted = calls->count;
    while (wanted > 0 && calls->frames[wanted - 1] != frame)
        wanted--;
    if (wanted == 0) {
        tv_profile_warn(&file->profile, TV_DIAGNOSTIC_IGNORED_EXIT, offset);
        return;
    }
    for (; calls->count >= wanted; calls->count--) {
        if (calls->count > wanted)
            tv_profile_warn(&file->profile, TV_DIAGNOSTIC_MISSING_EXIT, offset);
        speedscope_add_span(file, from, calls, TV_SPAN_END, offset);
    }
}

/* Take an event of an evented profile. A time that goes backwards is warned of and the clock stays
 * where it was, so that spans never end before they begin; a call deeper than TV_PROFILE_DEPTH is
 * not opened. */
static void speedscope_apply_event(struct speedscope *file, const struct speedscope_profile *from,
                                   struct speedscope_calls *calls,
                                   const struct speedscope_event *event)
{
    if (event->kind != 'O' && event->kind != 'C') {
        tv_profile_warn(&file->profile, TV_DIAGNOSTIC_BAD_EVENT, event->offset);
        return;
    }
    if (event->at < calls->now)
        tv_profile_warn(&file->profile, TV_DIAGNOSTIC_TIME_BACKWARDS, event->offset);
    else
        calls->now = event->at;
    uint32_t frame = speedscope_frame(file, event->frame, event->offset);
    if (event->kind == 'C') {
        speedscope_close(file, from, calls, frame, event->offset);
    } else if (calls->count == TV_PROFILE_DEPTH) {
        tv_profile_warn(&file->profile, TV_DIAGNOSTIC_TOO_DEEP, event->offset);
    } else {
        calls->frames = tv_array_reserve(calls->frames, &calls->capacity, calls->count + 1,
                                         sizeof *calls->frames);
        calls->frames[calls->count++] = frame;
        speedscope_add_span(file, from, calls, TV_SPAN_BEGIN, event->offset);
    }
}

/* Read opened and closed calls.  Calls that are open at the end are closed there. */
static void speedscope_read_evented(struct speedscope *file, const struct speedscope_profile *from,
                                    const struct tv_json_member *events)
{
    struct speedscope_calls calls = {.now = from->start};
    struct tv_profile_input *profile = &file->profile;
    struct tv_json_stream stream;
    uint64_t opens = 0, closes = 0;
    if (!speedscope_at(file, events, &stream) || !tv_json_open(&stream, '['))
        return;
    while (tv_json_take_element(&stream)) {
        struct speedscope_event event =
            speedscope_take_event(&stream, from->unit->digits, calls.now);
        opens += event.kind == 'O', closes += event.kind == 'C';
        event.at = tv_move_within(event.at);
        speedscope_apply_event(file, from, &calls, &event);
    }
    speedscope_warn_end(file, &stream);
    calls.now = from->end > calls.now ? from->end : calls.now;
    for (; calls.count > 0; calls.count--) {
        tv_profile_warn(profile, TV_DIAGNOSTIC_OPEN_CALL, TV_NO_OFFSET);
        speedscope_add_span(file, from, &calls, TV_SPAN_END, 0);
    }
    tv_profile_reach(profile, calls.now);
    tv_free(calls.frames);
    uint32_t input = profile->input;
    tv_tables_count_events(&profile->trace->tables, input,
                           tv_profile_string(profile, TV_BYTES("O")), opens);
    tv_tables_count_events(&profile->trace->tables, input,
                           tv_profile_string(profile, TV_BYTES("C")), closes);
}

/* ---- The file ---- */

static const struct speedscope_unit *speedscope_find_unit(struct tv_bytes name)
{
    for (size_t i = 0; i < TV_COUNT(speedscope_units); i++)
        if (tv_bytes_equal(name, tv_bytes_of(speedscope_units[i].name)))
            return &speedscope_units[i];
    return &speedscope_units[0];
}

static int64_t speedscope_number(struct speedscope *file, const struct tv_json_member *member,
                                 unsigned digits)
{
    struct tv_json_stream stream;
    int64_t value = 0;
    if (speedscope_at(file, member, &stream))
        (void)tv_json_take_number(&stream, digits, &value);
    return tv_move_within(value);
}

/* Find the members of the profile that begins here. */
static bool speedscope_find_members(struct tv_json_stream *stream, struct tv_json_member *members)
{
    static const char *const keys[SPEEDSCOPE_MEMBERS] = {
        "type",    "name",    "unit",   "startValue", "endValue",
        "samples", "weights", "events", "valueType",  "valueUnit"};
    for (size_t i = 0; i < SPEEDSCOPE_MEMBERS; i++)
        members[i].key = keys[i];
    return tv_json_find_members(stream, members, SPEEDSCOPE_MEMBERS);
}

/* Read one profile of the file, which becomes a thread. */
static void speedscope_read_profile(struct speedscope *file, struct tv_json_stream *stream)
{
    struct tv_json_member members[SPEEDSCOPE_MEMBERS];
    uint64_t offset = tv_json_stream_offset(stream);
    if (!speedscope_find_members(stream, members)) {
        tv_profile_warn(&file->profile, TV_DIAGNOSTIC_BAD_EVENT, offset);
        return;
    }
    struct speedscope_profile from = {
        .unit = speedscope_find_unit(speedscope_text(file, &members[SPEEDSCOPE_UNIT]))};
    file->profiles++;
    from.value =
        tv_profile_string(&file->profile, speedscope_text(file, &members[SPEEDSCOPE_VALUE_TYPE]));
    from.thread = speedscope_thread(
        file, speedscope_cut_type(speedscope_text(file, &members[SPEEDSCOPE_NAME]),
                                  tv_trace_info_text(file->profile.info, from.value)));
    from.start = speedscope_number(file, &members[SPEEDSCOPE_START], from.unit->digits);
    from.end = speedscope_number(file, &members[SPEEDSCOPE_END], from.unit->digits);
    struct tv_bytes type = speedscope_text(file, &members[SPEEDSCOPE_TYPE]);
    bool evented = tv_bytes_equal(type, TV_BYTES("evented"));
    if (members[evented ? SPEEDSCOPE_EVENTS : SPEEDSCOPE_SAMPLES].offset == TV_NO_OFFSET)
        tv_profile_warn(&file->profile, TV_DIAGNOSTIC_BAD_EVENT, offset);
    else if (evented)
        speedscope_read_evented(file, &from, &members[SPEEDSCOPE_EVENTS]);
    else
        speedscope_read_sampled(file, &from, members);
    struct tv_input *input = &file->profile.info->inputs[file->profile.input];
    input->weight_axis = input->weight_axis && !from.unit->time;
}

/* True when no profile counts time: then the axis is only the sum of the weights. */
static bool speedscope_is_timeless(struct speedscope *file, struct tv_json_stream stream)
{
    struct tv_json_member members[SPEEDSCOPE_MEMBERS];
    size_t count = 0;
    if (!tv_json_open(&stream, '['))
        return false;
    for (; tv_json_take_element(&stream); count++)
        if (speedscope_find_members(&stream, members) &&
            speedscope_find_unit(speedscope_text(file, &members[SPEEDSCOPE_UNIT]))->time)
            return false;
    return count > 0;
}

/* Return false when there is no list of profiles, though the file is whole. */
static bool speedscope_read_file(struct speedscope *file)
{
    struct tv_json_member members[] = {{"shared", 0}, {"profiles", 0}};
    struct tv_json_stream stream = file->stream;
    (void)tv_json_find_members(&stream, members, TV_COUNT(members));
    speedscope_warn_end(file, &stream);
    bool cut = stream.bad;
    if (speedscope_at(file, &members[0], &stream))
        speedscope_take_shared(file, &stream);
    if (!speedscope_at(file, &members[1], &stream))
        return cut;
    file->profile.info->inputs[file->profile.input].weight_axis =
        speedscope_is_timeless(file, stream);
    if (tv_json_open(&stream, '['))
        while (tv_json_take_element(&stream))
            speedscope_read_profile(file, &stream);
    return true;
}

static enum tv_status speedscope_assemble(struct tv_source *source, struct tv_builder *builder,
                                          const struct tv_read_options *options,
                                          struct tv_error *err)
{
    struct speedscope file = {.unknown = TV_NONE};
    enum tv_status status = tv_profile_text_read(source, &file.text, err);
    if (status != TV_OK)
        return status;
    tv_profile_input_begin(&file.profile, source, builder, "speedscope");
    tv_map_init(&file.named);
    file.stream = tv_json_stream_over(file.text.bytes);
    if (!speedscope_read_file(&file))
        status = tv_fail(err, TV_ERR_SYNTAX, 0,
                         "expected \"profiles\" in a file of speedscope, found none");
    tv_profile_input_end(&file.profile, options);
    tv_map_release(&file.named);
    tv_te_scratch_release(&file.scratch);
    tv_free(file.frames);
    tv_profile_text_release(&file.text);
    return status;
}

static int speedscope_sniff(struct tv_bytes prefix, uint64_t size)
{
    (void)size;
    return tv_json_profile_kind(prefix) == TV_JSON_PROFILE_SPEEDSCOPE ? TV_JSON_PROFILE_SURE : 0;
}

const struct tv_reader tv_reader_speedscope = {
    .name = "speedscope",
    .sniff = speedscope_sniff,
    .assemble = speedscope_assemble,
    .refuses_empty = true,
};
