/* SPDX-License-Identifier: Apache-2.0 */
/*
 * v8_profiles.c - .cpuprofile and .heapprofile files.
 *
 *     {"nodes": [{"id": 1, "callFrame": {"functionName": "(root)", ...}, "hitCount": 0,
 *                 "children": [2]}, ...],
 *      "startTime": 1000, "endTime": 9000,                  microseconds
 *      "samples": [2, 2, 5], "timeDeltas": [100, 125, 130]} ids of nodes; since the one before
 *
 *     {"head": {"callFrame": {...}, "selfSize": 16, "children": [...]}, "samples": [...]}
 *
 * A CPU sample counts as one, and as the time up to the next sample. The form before Chrome 57 has
 * "head" in CPU profiles, too, with times in seconds and lines from 1. A file without "samples" has
 * only sums by node: samples without times, on an axis of weights.
 *
 * The members of the outermost object may be in any order, so their places are found first; a
 * glance at each byte is cheap, as most of the text are arrays of numbers.
 *
 * Samples become rows of the trace while they are read, each when the time of the next is known.
 * Only if a time may go back are they all kept and sorted first.
 */
#include <assert.h>
#include <string.h>

#include "base/bytes.h"
#include "base/memory.h"
#include "readers/json/profile_kind.h"
#include "readers/v8/v8.h"
#include "readers/v8/v8_list.h"

enum v8_member {
    V8_NODES,
    V8_HEAD,
    V8_SAMPLES,
    V8_DELTAS,
    V8_TIMESTAMPS,
    V8_START,
    V8_END,
    V8_MEMBERS,
};

/* Samples in the order of time: rows of the trace, but for the last one. */
struct v8_in_order {
    struct tv_v8_sample last; /* lasts until the next one */
    uint64_t count;
    int64_t first; /* time of the first one */
    struct tv_v8_interrupted interrupted;
};

struct v8_file {
    struct tv_profile_input profile;
    struct tv_profile_text text;
    struct tv_json_stream stream;
    struct tv_json_member members[V8_MEMBERS];
    struct tv_v8_nodes nodes;
    bool cut;                     /* the end is missing */
    bool ordered;                 /* no time goes back: */
    struct v8_in_order in_order;  /* the samples are here */
    struct tv_v8_samples samples; /* else here */
    uint32_t number_type, cpu_type;
    uint32_t thread;
    int64_t start, end; /* nanoseconds; equal when unknown */
};

/* Return the stream at a member; false: there is none. */
static bool v8_file_at(const struct v8_file *file, enum v8_member member,
                       struct tv_json_stream *stream)
{
    uint64_t offset = file->members[member].offset;
    if (offset == TV_NO_OFFSET)
        return false;
    *stream = tv_json_stream_at(&file->stream, (size_t)offset);
    return true;
}

/* Count a cut of the file. */
static void v8_file_check_end(struct v8_file *file, const struct tv_json_stream *stream)
{
    if (stream->bad)
        tv_profile_warn(&file->profile, TV_DIAGNOSTIC_TRUNCATED, tv_json_stream_offset(stream));
}

/* Node names files CPU.20181003.105432.PID.TID.SEQ.cpuprofile; no file tells them inside. */
static void v8_file_name_thread(struct v8_file *file, struct tv_bytes name)
{
    struct tv_bytes field, rest = name;
    uint64_t numbers[4] = {0};
    size_t count = 0;
    for (size_t i = 0; i < name.length; i++)
        if (name.data[i] == '/' || name.data[i] == '\\')
            rest = (struct tv_bytes){name.data + i + 1, name.length - i - 1};
    bool known = tv_bytes_starts_with(rest, TV_BYTES("CPU.")) ||
                 tv_bytes_starts_with(rest, TV_BYTES("Heap."));
    for (size_t i = 0; known && i < 5 && tv_bytes_split(&rest, '.', &field); i++)
        count += i > 0 && tv_parse_u64(field, &numbers[i - 1]);
    known = known && count == 4;
    uint32_t process =
        tv_profile_process(&file->profile, known ? numbers[2] : 0, (struct tv_bytes){NULL, 0});
    file->thread =
        tv_profile_thread(&file->profile, process, known ? numbers[3] : 0, TV_BYTES("V8"));
}

static enum tv_status v8_file_begin(struct v8_file *file, struct tv_source *source,
                                    struct tv_builder *builder, const char *format,
                                    struct tv_error *err)
{
    static const char *const keys[V8_MEMBERS] = {"nodes",      "head",      "samples", "timeDeltas",
                                                 "timestamps", "startTime", "endTime"};
    enum tv_status status = tv_profile_text_read(source, &file->text, err);
    if (status != TV_OK)
        return status;
    tv_profile_input_begin(&file->profile, source, builder, format);
    file->stream = tv_json_stream_over(file->text.bytes);
    for (size_t i = 0; i < V8_MEMBERS; i++)
        file->members[i].key = keys[i];
    struct tv_json_stream stream = file->stream;
    (void)tv_json_find_members(&stream, file->members, V8_MEMBERS);
    v8_file_check_end(file, &stream);
    file->cut = stream.bad;
    assert(file->profile.trace);
    tv_v8_nodes_init(&file->nodes, &file->profile);
    v8_file_name_thread(file, tv_bytes_of(tv_source_name(source)));
    return TV_OK;
}

static void v8_file_end(struct v8_file *file, const struct tv_read_options *options)
{
    tv_profile_input_end(&file->profile, options);
    tv_v8_nodes_release(&file->nodes);
    tv_v8_samples_release(&file->samples);
    tv_profile_text_release(&file->text);
}

/* Read the nodes; a whole file without any is of another kind, or damaged. */
static enum tv_status v8_file_take_nodes(struct v8_file *file, struct tv_error *err)
{
    struct tv_json_stream stream;
    if (v8_file_at(file, V8_NODES, &stream)) {
        tv_v8_nodes_take_list(&file->nodes, &stream);
    } else if (v8_file_at(file, V8_HEAD, &stream)) {
        tv_v8_nodes_take_tree(&file->nodes, &stream);
    }
    tv_v8_nodes_find_paths(&file->nodes);
    if (!file->cut && file->nodes.count == 0)
        return tv_fail(err, TV_ERR_SYNTAX, 0,
                       "expected \"nodes\" or \"head\" with functions in a profile of V8, found "
                       "none");
    return TV_OK;
}

/* ---- CPU profiles ---- */

/* Take startTime and endTime: microseconds, or seconds in the old form. */
static void v8_cpu_take_times(struct v8_file *file, unsigned digits)
{
    struct tv_json_stream stream;
    if (v8_file_at(file, V8_START, &stream))
        (void)tv_json_take_number(&stream, digits, &file->start);
    file->start = tv_move_within(file->start);
    file->end = file->start;
    if (v8_file_at(file, V8_END, &stream))
        (void)tv_json_take_number(&stream, digits, &file->end);
    file->end = tv_move_within(file->end);
}

/* The time of the next sample, from "timeDeltas" or "timestamps". */
struct v8_clock {
    struct tv_json_stream stream;
    int64_t now;
    bool deltas, open; /* differences, not times; false: no (more) times */
};

static struct v8_clock v8_clock_begin(const struct v8_file *file)
{
    struct v8_clock clock = {.now = file->start, .deltas = true};
    clock.open = v8_file_at(file, V8_DELTAS, &clock.stream);
    if (!clock.open) {
        clock.deltas = false;
        clock.open = v8_file_at(file, V8_TIMESTAMPS, &clock.stream);
    }
    clock.open = clock.open && tv_json_open(&clock.stream, '[');
    return clock;
}

/* Move to the next sample; false: it has no time. */
static inline bool v8_clock_next(struct v8_clock *clock)
{
    int64_t number;
    if (!clock->open || !tv_json_take_element(&clock->stream) ||
        !tv_json_take_number(&clock->stream, 3, &number))
        return false;
    /* No overflow: the time is within TV_MOVE_MAX. */
    clock->now = tv_move_within(clock->deltas ? clock->now + tv_move_within(number) : number);
    return true;
}

/* Return whether no difference of times is negative, for the list has only digits. */
static bool v8_cpu_is_ordered(const struct v8_file *file)
{
    struct tv_json_stream stream;
    if (!v8_file_at(file, V8_DELTAS, &stream) || !tv_json_open(&stream, '['))
        return false;
    for (const uint8_t *at = stream.at; at < stream.end; at++)
        if ((uint8_t)(*at - '0') >= 10 && *at != ',' && *at != ' ' && *at != '\n' && *at != '\r')
            return *at == ']';
    return false;
}

/* Give a sample to the trace. */
static void v8_cpu_add_rows(struct v8_file *file, const struct tv_v8_sample *from)
{
    struct tv_sample sample = {.time = from->time,
                               .weight = 1,
                               .offset = from->offset,
                               .thread = file->thread,
                               .cpu = TV_NONE,
                               .type = file->number_type};
    tv_profile_add_sample_at(&file->profile, sample, from->path, from->line_path);
    sample.weight = from->length;
    sample.type = file->cpu_type;
    if (from->state != TV_V8_IDLE)
        tv_profile_add_sample_at(&file->profile, sample, from->path, from->line_path);
}

/* Add a sample that is not earlier than the one before, and give that one to the trace. */
static void v8_cpu_add_in_order(struct v8_file *file, struct tv_v8_sample *sample)
{
    struct v8_in_order *samples = &file->in_order;
    tv_v8_sample_place_collector(sample, &samples->interrupted, &file->profile.trace->paths);
    if (samples->count++ == 0) {
        samples->first = sample->time;
    } else {
        assert(sample->time >= samples->last.time);
        samples->last.length = sample->time - samples->last.time;
        v8_cpu_add_rows(file, &samples->last);
    }
    samples->last = *sample;
}

static void v8_cpu_add_sample(struct v8_file *file, int64_t time, uint64_t id, uint64_t offset)
{
    const struct tv_v8_node *node = tv_v8_nodes_find(&file->nodes, id);
    if (!node) {
        tv_profile_warn(&file->profile, TV_DIAGNOSTIC_PROFILE_BAD, offset);
        return;
    }
    struct tv_v8_sample sample = {
        .time = time,
        .offset = offset,
        .path = node->path,
        .line_path = tv_v8_nodes_next_line(&file->nodes, node),
        .gc_frame = node->frame,
        .state = node->state,
    };
    if (file->ordered)
        v8_cpu_add_in_order(file, &sample);
    else
        tv_v8_samples_add(&file->samples, &sample);
}

/* Take samples as long as both lists are plain.  Return how many. */
static uint64_t v8_cpu_take_plain(struct v8_file *file, struct tv_json_stream *stream,
                                  struct v8_clock *clock)
{
    struct tv_v8_list ids = {stream->at, stream->end};
    struct tv_v8_list deltas = {clock->stream.at, clock->stream.end};
    uint64_t count = 0;
    int64_t id, delta;
    while (!tv_v8_list_has_ended(&ids)) {
        uint64_t offset = (uint64_t)(ids.at - stream->start);
        if (!tv_v8_list_take(&ids, &id) || !tv_v8_list_take(&deltas, &delta))
            break;
        stream->at = ids.at;
        clock->stream.at = deltas.at;
        clock->now = tv_move_within(clock->now + tv_move_within(delta * 1000));
        v8_cpu_add_sample(file, clock->now, (uint64_t)id, offset);
        count++;
    }
    return count;
}

/* Read the array "samples" with its times.  Return how many samples it has. */
static uint64_t v8_cpu_take_samples(struct v8_file *file, struct tv_json_stream *stream)
{
    struct v8_clock clock = v8_clock_begin(file);
    uint64_t count = 0;
    int64_t id;
    if (!tv_json_open(stream, '['))
        return 0;
    for (;;) {
        if (file->ordered && clock.open)
            count += v8_cpu_take_plain(file, stream, &clock);
        if (!tv_json_take_element(stream))
            return count;
        uint64_t offset = tv_json_stream_offset(stream);
        count++;
        if (!tv_json_take_number(stream, 0, &id) || !v8_clock_next(&clock))
            tv_profile_warn(&file->profile, TV_DIAGNOSTIC_SAMPLE_NO_TIME, offset);
        else
            v8_cpu_add_sample(file, clock.now, (uint64_t)id, offset);
    }
}

static void v8_cpu_begin_samples(struct v8_file *file)
{
    struct tv_profile_input *profile = &file->profile;
    file->number_type = tv_profile_value_type(profile, TV_V8_SAMPLES, TV_BYTES("count"));
    file->cpu_type = tv_profile_value_type(profile, TV_V8_CPU, TV_BYTES("nanoseconds"));
    profile->trace->tables.value_types.rows[file->number_type].until_end = true;
    profile->trace->tables.value_types.rows[file->cpu_type].until_end = true;
    file->ordered = v8_cpu_is_ordered(file);
    file->in_order.interrupted = (struct tv_v8_interrupted){TV_ROOT_PATH, TV_ROOT_PATH};
}

/* Give the last sample to the trace. */
static void v8_cpu_end_in_order(struct v8_file *file)
{
    struct v8_in_order *samples = &file->in_order;
    if (samples->count == 0)
        return;
    tv_v8_sample_end(&samples->last, samples->first, samples->count, file->end);
    tv_profile_reach(&file->profile, samples->last.time + samples->last.length);
    v8_cpu_add_rows(file, &samples->last);
}

/* Sort the samples, and give them to the trace. */
static void v8_cpu_end_sorted(struct v8_file *file)
{
    struct tv_profile_input *profile = &file->profile;
    const struct tv_v8_samples *samples = &file->samples;
    if (tv_v8_samples_finish(&file->samples, &profile->trace->paths, file->end) > 0)
        tv_profile_warn(profile, TV_DIAGNOSTIC_SAMPLES_SORTED, TV_NO_OFFSET);
    if (samples->count > 0) {
        const struct tv_v8_sample *last = &samples->rows[samples->count - 1];
        tv_profile_reach(profile, last->time + last->length);
    }
    for (size_t i = 0; i < samples->count; i++)
        v8_cpu_add_rows(file, &samples->rows[i]);
}

/* Without "samples" the hits of each node remain: no times. */
static uint64_t v8_file_deliver_weights(struct v8_file *file, struct tv_bytes name,
                                        struct tv_bytes unit)
{
    struct tv_profile_input *profile = &file->profile;
    uint32_t type = tv_profile_value_type(profile, name, unit);
    uint64_t count = 0;
    profile->info->inputs[profile->input].weight_axis = true;
    for (size_t i = 0; i < file->nodes.count; i++) {
        const struct tv_v8_node *node = &file->nodes.rows[i];
        struct tv_sample sample = {.weight = node->weight,
                                   .offset = node->offset,
                                   .thread = file->thread,
                                   .cpu = TV_NONE,
                                   .type = type};
        if (node->weight == 0)
            continue;
        count++;
        tv_profile_add_sample_at(profile, sample, node->path, node->path);
    }
    return count;
}

static void v8_file_count(struct v8_file *file, struct tv_bytes name, uint64_t count)
{
    struct tv_profile_input *profile = &file->profile;
    profile->info->inputs[profile->input].samples += count;
    tv_tables_count_events(&profile->trace->tables, profile->input,
                           tv_profile_string(profile, name), count);
}

/* Add up the samples when only their sums are wanted; false: they must be read one by one. */
static bool v8_cpu_sum_samples(struct v8_file *file, const struct tv_json_stream *stream)
{
    struct tv_v8_span span = {file->start, file->end};
    struct tv_json_stream deltas;
    uint64_t count;
    if (file->profile.trace->tables.sample_sums.detail == TV_SAMPLES_SINGLE ||
        file->nodes.ticks.count > 0 || !v8_file_at(file, V8_DELTAS, &deltas) ||
        !tv_v8_sum_samples(&file->nodes, *stream, deltas, &span, &count))
        return false;
    v8_file_count(file, TV_V8_SAMPLES, count);
    return true;
}

/* The range of the input is that of the recording, even if no sample is at its ends. */
static void v8_cpu_read_samples(struct v8_file *file, struct tv_json_stream *stream)
{
    if (!v8_cpu_sum_samples(file, stream)) {
        v8_cpu_begin_samples(file);
        v8_file_count(file, TV_V8_SAMPLES, v8_cpu_take_samples(file, stream));
        if (file->ordered)
            v8_cpu_end_in_order(file);
        else
            v8_cpu_end_sorted(file);
    }
    tv_profile_reach(&file->profile, file->start);
    tv_profile_reach(&file->profile, file->end > file->start ? file->end : file->start);
}

/* Read a .cpuprofile.  Old ones have a tree of nodes and seconds, new ones a list and microseconds;
 * without samples the hit counts of the nodes are all there is. */
static enum tv_status v8_cpu_assemble(struct tv_source *source, struct tv_builder *builder,
                                      const struct tv_read_options *options, struct tv_error *err)
{
    struct v8_file file = {.thread = TV_NONE};
    struct tv_json_stream stream;
    enum tv_status status = v8_file_begin(&file, source, builder, "V8 CPU profile", err);
    if (status != TV_OK)
        return status;
    bool old = file.members[V8_NODES].offset == TV_NO_OFFSET;
    file.nodes.first_line = old;
    v8_cpu_take_times(&file, old ? 9 : 3);
    status = v8_file_take_nodes(&file, err);
    if (status == TV_OK && v8_file_at(&file, V8_SAMPLES, &stream)) {
        v8_cpu_read_samples(&file, &stream);
    } else if (status == TV_OK) {
        v8_file_count(&file, TV_BYTES("hitCount"),
                      v8_file_deliver_weights(&file, TV_V8_SAMPLES, TV_BYTES("count")));
    }
    v8_file_end(&file, options);
    return status;
}

static int v8_cpu_sniff(struct tv_bytes prefix, uint64_t size)
{
    (void)size;
    return tv_json_profile_kind(prefix) == TV_JSON_PROFILE_CPUPROFILE ? TV_JSON_PROFILE_SURE : 0;
}

const struct tv_reader tv_reader_cpuprofile = {
    .name = "cpuprofile",
    .sniff = v8_cpu_sniff,
    .assemble = v8_cpu_assemble,
    .refuses_empty = true,
};

/* ---- Heap profiles ---- */

/* Return how many allocations "samples" lists; the weights of the nodes contain them. One of a node
 * that the tree lacks says that the tree is not whole. */
static uint64_t v8_heap_count_samples(struct v8_file *file)
{
    struct tv_json_member member = {"nodeId", 0};
    struct tv_json_stream stream, inside;
    uint64_t count = 0;
    int64_t id;
    if (!v8_file_at(file, V8_SAMPLES, &stream) || !tv_json_open(&stream, '['))
        return 0;
    for (; tv_json_take_element(&stream); count++) {
        uint64_t offset = tv_json_stream_offset(&stream);
        (void)tv_json_find_members(&stream, &member, 1);
        if (member.offset == TV_NO_OFFSET)
            continue;
        inside = tv_json_stream_at(&file->stream, (size_t)member.offset);
        if (tv_json_take_number(&inside, 0, &id) && !tv_v8_nodes_find(&file->nodes, (uint64_t)id))
            tv_profile_warn(&file->profile, TV_DIAGNOSTIC_PROFILE_BAD, offset);
    }
    return count;
}

static enum tv_status v8_heap_assemble(struct tv_source *source, struct tv_builder *builder,
                                       const struct tv_read_options *options, struct tv_error *err)
{
    struct v8_file file = {.thread = TV_NONE};
    enum tv_status status = v8_file_begin(&file, source, builder, "V8 heap profile", err);
    if (status != TV_OK)
        return status;
    file.nodes.heap = true;
    status = v8_file_take_nodes(&file, err);
    v8_file_count(&file, TV_BYTES("selfSize"),
                  v8_file_deliver_weights(&file, TV_BYTES("selfSize"), TV_BYTES("bytes")));
    tv_tables_count_events(&file.profile.trace->tables, file.profile.input,
                           tv_profile_string(&file.profile, TV_BYTES("samples")),
                           v8_heap_count_samples(&file));
    v8_file_end(&file, options);
    return status;
}

static int v8_heap_sniff(struct tv_bytes prefix, uint64_t size)
{
    (void)size;
    return tv_json_profile_kind(prefix) == TV_JSON_PROFILE_HEAPPROFILE ? TV_JSON_PROFILE_SURE : 0;
}

const struct tv_reader tv_reader_heapprofile = {
    .name = "heapprofile",
    .sniff = v8_heap_sniff,
    .assemble = v8_heap_assemble,
    .refuses_empty = true,
};
