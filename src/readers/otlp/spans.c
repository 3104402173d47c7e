/* SPDX-License-Identifier: Apache-2.0 */
/*
 * spans.c - readers of spans: OpenTelemetry's (OTLP traces) in protobuf and JSON, and those of
 * Jaeger and Zipkin, which jaeger_zipkin.c makes into OpenTelemetry's.
 *
 * messages.h has the messages.  A span is an asynchronous slice of the process that its resource
 * names, its events are instants:
 *
 *     process "shop"       |GET /cart---------------------------------------|
 *                            |cart.load-------|   |cart.price---------------|
 *     process "prices"                               |POST /price---------|
 *
 * A span is drawn below its parent when both are of one process and it lies within the time of its
 * parent, give or take CLOCK_ERROR.  All other children have an arrow from their parent: of another
 * process ("POST /price"), later than its end, or at the time of a sibling.  Links are arrows from
 * the linked span.
 *
 * In Zipkin a server may share the id of its client's span: it is a child of that, and children of
 * the id are its own, unless they are in the process of the client.
 *
 *     spans in the order of the file --> parents, by trace and id --> asynchronous slices, parents
 *     before children --> rows --> arrows between the places in these rows
 *
 * Ids, attributes and links are read again from the file when somebody looks at a span
 * (describe_span.c); offsets are those of the span or event in the file.
 */
#include "readers/readers.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/memory.h"
#include "base/protobuf.h"
#include "base/sort.h"
#include "readers/otlp/messages.h"

#define SPANS_FORMAT "OpenTelemetry spans"
#define JAEGER_FORMAT "Jaeger spans"
#define ZIPKIN_FORMAT "Zipkin spans"

/* Code of a failed operation, and the reserved colour "terrible" for it. */
#define STATUS_ERROR 2
#define FAILED_COLOUR 14

/* A span may outlast its parent by this: clocks in browsers and Node.js tell begins in whole
 * milliseconds, and ends more exactly. */
#define CLOCK_ERROR 1000000

struct span_key {
    uint64_t trace[2], id, shared; /* shared: 1 for the side of the server, else 0 */
};

struct span {
    tv_ns start, end;
    uint64_t offset; /* in the file */
    struct span_key key;
    uint64_t parent_id; /* 0: none */
    uint32_t parent;    /* span; TV_NONE: none, or not in the file */
    uint32_t frame, process;
    uint32_t slice;      /* in the order of asynchronous slices; TV_NONE: has none yet */
    uint32_t row, index; /* its place at last */
    uint8_t colour;
    bool open;  /* no end */
    bool waits; /* until the slice of its parent is added */
};

struct span_link {
    struct span_key key;
    uint32_t span; /* the one that has the link */
};

struct spans {
    struct tv_profile_input profile;
    struct tv_otlp_file file;
    struct tv_otlp_origin origin;
    struct tv_map processes; /* instance -> process */
    struct tv_map pids;      /* of processes */
    uint32_t process;        /* of the current resource */
    TV_TABLE(span) rows;     /* of a process by offset; of OTLP, all of them */
    TV_TABLE(span_link) links;
    TV_TABLE(tv_async_slice) slices;
    uint64_t events;
    bool shared; /* there are spans with the id of another */
};

/* ---- Reading ---- */

/* Return where a message is in the file; `field` is its begin with key and length. */
static uint64_t span_offset(const struct spans *spans, const uint8_t *field,
                            struct tv_bytes message)
{
    struct tv_cursor cursor = tv_cursor_over(message);
    struct tv_protobuf_field place;
    if (!spans->file.json)
        return (uint64_t)(field - spans->file.bytes.data);
    return tv_otlp_next(&cursor, &place) && place.number == OTLP_JSON_PLACE ? place.value
                                                                            : TV_NO_OFFSET;
}

static void span_warn(struct spans *spans, enum tv_diagnostic_kind kind, uint64_t offset)
{
    tv_profile_warn(&spans->profile, kind, offset);
}

static tv_ns span_time(uint64_t unix_ns)
{
    return tv_move_within(unix_ns > INT64_MAX ? INT64_MAX : (tv_ns)unix_ns);
}

/* Return the number in the last bytes of an id. */
static uint64_t span_id(struct tv_bytes id, size_t from, size_t count)
{
    uint64_t number = 0;
    for (size_t i = from; i < from + count && i < id.length; i++)
        number = number << 8 | id.data[i];
    return number;
}

/* Take a trace id or span id of a span or a link; both messages have them in fields 1 and 2. */
static void span_take_key(struct span_key *key, const struct tv_protobuf_field *field)
{
    if (field->number == OTLP_SPAN_TRACE_ID) {
        key->trace[0] = span_id(field->bytes, 0, 8);
        key->trace[1] = span_id(field->bytes, 8, 8);
    } else if (field->number == OTLP_SPAN_ID) {
        key->id = span_id(field->bytes, 0, 8);
    }
}

static uint32_t span_frame(struct spans *spans, struct tv_bytes name)
{
    struct tv_frame frame = {.name = tv_profile_string(&spans->profile, name),
                             .category = tv_profile_string(&spans->profile, spans->origin.library)};
    return tv_trace_info_add_frame(spans->profile.info, &frame);
}

/* Add an event of a span as an instant of its process. */
static void span_take_event(struct spans *spans, const uint8_t *begin, struct tv_bytes message)
{
    struct tv_cursor cursor = tv_cursor_over(message);
    struct tv_protobuf_field field;
    struct tv_bytes name = {NULL, 0};
    uint64_t time = 0, offset = span_offset(spans, begin, message);
    while (tv_otlp_next(&cursor, &field)) {
        if (field.number == OTLP_EVENT_TIME)
            time = field.value;
        else if (field.number == OTLP_EVENT_NAME)
            name = field.bytes;
    }
    spans->events++;
    if (time == 0) {
        span_warn(spans, TV_DIAGNOSTIC_BAD_TIMESTAMP, offset);
        return;
    }
    tv_profile_add_instant(&spans->profile, (struct tv_instant){.time = span_time(time),
                                                                .offset = offset,
                                                                .frame = span_frame(spans, name),
                                                                .of = spans->process,
                                                                .scope = TV_SCOPE_PROCESS});
}

static void span_take_link(struct spans *spans, struct tv_bytes message)
{
    struct tv_cursor cursor = tv_cursor_over(message);
    struct tv_protobuf_field field;
    struct span_link link = {.span = (uint32_t)spans->rows.count};
    while (tv_otlp_next(&cursor, &field))
        span_take_key(&link.key, &field);
    *tv_table_add(&spans->links) = link;
}

static bool span_has_failed(struct tv_bytes status)
{
    struct tv_cursor cursor = tv_cursor_over(status);
    struct tv_protobuf_field field;
    bool failed = false;
    while (tv_otlp_next(&cursor, &field))
        if (field.number == OTLP_STATUS_CODE)
            failed = field.value == STATUS_ERROR;
    return failed;
}

/* Take a field of a span. */
static void span_take_field(struct spans *spans, struct span *span, const uint8_t *begin,
                            const struct tv_protobuf_field *field)
{
    span_take_key(&span->key, field);
    switch (field->number) {
    case OTLP_SPAN_PARENT:
        span->parent_id = span_id(field->bytes, 0, 8);
        break;
    case OTLP_SPAN_NAME:
        span->frame = span_frame(spans, field->bytes);
        break;
    case OTLP_SPAN_START:
        span->start = span_time(field->value);
        break;
    case OTLP_SPAN_END:
        span->end = span_time(field->value);
        break;
    case OTLP_SPAN_SHARED:
        span->key.shared = 1;
        break;
    case OTLP_SPAN_EVENTS:
        span_take_event(spans, begin, field->bytes);
        break;
    case OTLP_SPAN_LINKS:
        span_take_link(spans, field->bytes);
        break;
    case OTLP_SPAN_STATUS:
        span->colour = span_has_failed(field->bytes) ? FAILED_COLOUR : 0;
        break;
    default:
        break;
    }
}

/* Read a span.  One without a begin has no place on the axis; its events stay. */
static void span_take(struct spans *spans, const uint8_t *begin, struct tv_bytes message)
{
    struct tv_cursor cursor = tv_cursor_over(message);
    struct tv_protobuf_field field;
    struct span span = {.offset = span_offset(spans, begin, message),
                        .parent = TV_NONE,
                        .frame = TV_NONE,
                        .process = spans->process,
                        .slice = TV_NONE,
                        .row = TV_NONE};
    const uint8_t *at = cursor.at;
    size_t links = spans->links.count;
    for (; tv_otlp_next(&cursor, &field); at = cursor.at)
        span_take_field(spans, &span, at, &field);
    if (!tv_protobuf_is_sound(&cursor))
        span_warn(spans, TV_DIAGNOSTIC_BAD_PACKET, span.offset);
    if (span.frame == TV_NONE)
        span.frame = span_frame(spans, TV_BYTES(""));
    if (span.start == 0 || span.offset == TV_NO_OFFSET || spans->rows.count >= TV_NONE - 1) {
        span_warn(spans, TV_DIAGNOSTIC_BAD_TIMESTAMP, span.offset);
        spans->links.count = links;
        return;
    }
    spans->shared |= span.key.shared != 0;
    span.open = span.end == 0;
    if (!span.open && span.end < span.start)
        span_warn(spans, TV_DIAGNOSTIC_NEGATIVE_DURATION, span.offset);
    if (span.end < span.start)
        span.end = span.start;
    tv_profile_reach(&spans->profile, span.start);
    tv_profile_reach(&spans->profile, span.end);
    *tv_table_add(&spans->rows) = span;
}

/* Give a process without an id, or with that of another container, a text instead: processes with
 * one plain id are one. */
static void spans_number_process(struct spans *spans)
{
    const struct tv_otlp_origin *origin = &spans->origin;
    char key[48];
    int length;
    if (origin->has_pid && tv_map_find(&spans->pids, origin->pid) == TV_NONE) {
        tv_map_set(&spans->pids, origin->pid, 0);
        return;
    }
    if (origin->has_pid)
        length = snprintf(key, sizeof key, "%" PRIu64 "#%zu", origin->pid, spans->processes.count);
    else
        length = snprintf(key, sizeof key, "#%zu", spans->processes.count);
    spans->profile.info->processes[spans->process].key =
        tv_profile_string(&spans->profile, (struct tv_bytes){(uint8_t *)key, (size_t)length});
}

/* Find the process of the current resource. */
static void spans_find_process(struct spans *spans)
{
    const struct tv_otlp_origin *origin = &spans->origin;
    struct tv_bytes name = origin->service.length > 0 ? origin->service : origin->name;
    spans->process = tv_map_find(&spans->processes, origin->instance);
    if (spans->process != TV_NONE)
        return;
    spans->process = tv_trace_info_add_process(spans->profile.info, origin->pid, name);
    tv_map_set(&spans->processes, origin->instance, spans->process);
    spans_number_process(spans);
}

/* Number of spans between two checks for cancellation. */
#define SPANS_A_CHECK 4096

/* Take the spans of one request.  The process changes with the resource, which many spans in a row
 * share, so it is sought only then. */
static enum tv_status spans_read_request(struct spans *spans, struct tv_bytes request,
                                         const struct tv_read_options *options,
                                         struct tv_error *err)
{
    struct tv_otlp_walk walk;
    const uint8_t *resource = NULL;
    enum tv_status status = TV_OK;
    size_t count = 0;
    tv_otlp_walk_begin(&walk, request, OTLP_LEVEL_SPAN);
    while (status == TV_OK && tv_otlp_walk_next(&walk)) {
        tv_otlp_origin_move(&spans->origin, &walk);
        if (spans->origin.resource != resource)
            spans_find_process(spans);
        resource = spans->origin.resource;
        span_take(spans, walk.field, walk.messages[OTLP_LEVEL_SPAN]);
        if (++count % SPANS_A_CHECK == 0)
            status = tv_reader_check_cancel(options->progress, err);
    }
    if (walk.damage)
        span_warn(spans, TV_DIAGNOSTIC_TRUNCATED,
                  spans->file.json ? TV_NO_OFFSET
                                   : (uint64_t)(walk.damage - spans->file.bytes.data));
    return status == TV_OK ? tv_reader_add_progress(options->progress, request.length, err)
                           : status;
}

/* ---- Parents ---- */

static int span_compare_keys(const struct span_key *a, const struct span_key *b)
{
    for (size_t i = 0; i < TV_COUNT(a->trace); i++)
        if (a->trace[i] != b->trace[i])
            return a->trace[i] < b->trace[i] ? -1 : 1;
    if (a->id != b->id)
        return a->id < b->id ? -1 : 1;
    return (a->shared > b->shared) - (a->shared < b->shared);
}

/* A place in the order by keys: the key beside the number, so that sorting needs no context. */
struct span_place {
    struct span_key key;
    uint32_t span;
};

static int span_compare_places(const void *left, const void *right)
{
    const struct span_place *a = left, *b = right;
    int order = span_compare_keys(&a->key, &b->key);
    return order != 0 ? order : (a->span > b->span) - (a->span < b->span);
}

static struct span_place *spans_sort(const struct spans *spans)
{
    struct span_place *places = tv_alloc(spans->rows.count, sizeof *places);
    for (uint32_t i = 0; i < spans->rows.count; i++)
        places[i] = (struct span_place){spans->rows.rows[i].key, i};
    if (spans->rows.count > 0)
        qsort(places, spans->rows.count, sizeof *places, span_compare_places);
    return places;
}

/* Return the first span with a key, or TV_NONE. */
static uint32_t spans_find(const struct spans *spans, const struct span_place *places,
                           const struct span_key *key)
{
    size_t low = 0;
    TV_LOWER_BOUND(low, spans->rows.count, i, span_compare_keys(&places[i].key, key) < 0);
    return low < spans->rows.count && span_compare_keys(&places[low].key, key) == 0
               ? places[low].span
               : TV_NONE;
}

/* Return the parent of a span; TV_NONE: it has none in the file. */
static uint32_t spans_find_parent(const struct spans *spans, const struct span_place *places,
                                  const struct span *span)
{
    struct span_key key = span->key;
    key.shared = 0;
    uint32_t client = key.id != 0 && span->key.shared ? spans_find(spans, places, &key) : TV_NONE;
    if (client != TV_NONE || span->parent_id == 0)
        return client;
    key.id = span->parent_id;
    client = spans_find(spans, places, &key);
    if (!spans->shared || (client != TV_NONE && spans->rows.rows[client].process == span->process))
        return client;
    key.shared = 1;
    uint32_t server = spans_find(spans, places, &key);
    return server != TV_NONE ? server : client;
}

static void spans_find_parents(struct spans *spans, const struct span_place *places)
{
    for (uint32_t i = 0; i < spans->rows.count; i++)
        spans->rows.rows[i].parent = spans_find_parent(spans, places, &spans->rows.rows[i]);
}

/* ---- Slices ---- */

/* Return whether a span is drawn below its parent: see the top of the file. */
static bool span_lies_in_parent(const struct span *span, const struct span *parent)
{
    return span->process == parent->process && span->start >= parent->start &&
           span->start <= parent->end && span->end - parent->end <= CLOCK_ERROR;
}

/* Add the slice of a span whose parent has one. */
static void span_add_slice(struct spans *spans, struct span *span)
{
    const struct span *parent = span->parent == TV_NONE ? NULL : &spans->rows.rows[span->parent];
    struct tv_async_slice slice = {
        .start = span->start,
        .length = span->end - span->start,
        .cpu_start = TV_NO_TIME,
        .cpu_length = TV_NO_TIME,
        .offset = span->offset & TV_OFFSET_MASK,
        .end_offset = TV_NO_OFFSET,
        .frame = span->frame,
        .parent = parent && span_lies_in_parent(span, parent) ? parent->slice : TV_NONE,
        .start_thread = TV_NONE,
        .end_thread = TV_NONE,
        .process = span->process,
        .group = TV_NONE,
        .flags = span->open ? TV_SLICE_OPEN : 0,
        .colour = span->colour,
    };
    span->slice = (uint32_t)spans->slices.count;
    *tv_table_add(&spans->slices) = slice;
}

/* Add the slices of a span and of all its ancestors, the outermost first.  A chain that comes back
 * to itself is cut where it does. */
static void spans_add_chain(struct spans *spans, uint32_t *chain, uint32_t number)
{
    size_t depth = 0;
    while (number != TV_NONE && spans->rows.rows[number].slice == TV_NONE) {
        struct span *span = &spans->rows.rows[number];
        if (span->waits) {
            struct span *last = &spans->rows.rows[chain[depth - 1]];
            span_warn(spans, TV_DIAGNOSTIC_STACK_CIRCLE, last->offset);
            last->parent = TV_NONE;
            break;
        }
        span->waits = true;
        chain[depth++] = number;
        number = span->parent;
    }
    while (depth-- > 0)
        span_add_slice(spans, &spans->rows.rows[chain[depth]]);
}

static void spans_add_slices(struct spans *spans)
{
    uint32_t *chain = tv_alloc(spans->rows.count, sizeof *chain);
    for (uint32_t i = 0; i < spans->rows.count; i++) {
        struct span *span = &spans->rows.rows[i];
        if (!span->open)
            continue;
        span_warn(spans, TV_DIAGNOSTIC_OPEN_CALL, span->offset);
        span->end = spans->profile.last;
    }
    for (uint32_t i = 0; i < spans->rows.count; i++)
        spans_add_chain(spans, chain, i);
    tv_free(chain);
    tv_assembly_add_async(
        spans->profile.assembly,
        tv_async_plan_new(spans->profile.info, spans->slices.rows, spans->slices.count));
}

/* ---- Arrows ---- */

/* A span in the order by offset. */
struct span_offset {
    uint64_t offset;
    uint32_t span;
};

static int span_compare_offsets(const void *left, const void *right)
{
    const struct span_offset *a = left, *b = right;
    return (a->offset > b->offset) - (a->offset < b->offset);
}

static struct span_offset *spans_sort_offsets(const struct spans *spans)
{
    struct span_offset *offsets = tv_alloc(spans->rows.count, sizeof *offsets);
    bool sorted = true;
    for (uint32_t i = 0; i < spans->rows.count; i++) {
        offsets[i] = (struct span_offset){spans->rows.rows[i].offset, i};
        sorted = sorted && (i == 0 || offsets[i - 1].offset <= offsets[i].offset);
    }
    if (!sorted)
        qsort(offsets, spans->rows.count, sizeof *offsets, span_compare_offsets);
    return offsets;
}

/* Find the place of each span: the offset of its slice is its own. */
static void spans_find_places(struct spans *spans)
{
    const struct tv_trace *trace = spans->profile.trace;
    struct span_offset *offsets = spans_sort_offsets(spans);
    for (uint32_t row = 0; row < trace->row_count; row++) {
        if (trace->rows[row].input != spans->profile.input)
            continue;
        for (uint32_t i = 0; i < trace->rows[row].count; i++) {
            uint64_t offset = tv_slice_offset(trace, row, i);
            size_t low = 0;
            TV_LOWER_BOUND(low, spans->rows.count, at, offsets[at].offset < offset);
            if (low < spans->rows.count && offsets[low].offset == offset) {
                struct span *span = &spans->rows.rows[offsets[low].span];
                span->row = row;
                span->index = i;
            }
        }
    }
    tv_free(offsets);
}

/* Add an arrow to the begin of a span. */
static void spans_add_arrow(struct spans *spans, const struct span *from, const struct span *to,
                            uint32_t frame)
{
    tv_ns leaves = to->start < from->start ? from->start
                   : to->start > from->end ? from->end
                                           : to->start;
    if (from->row == TV_NONE || to->row == TV_NONE)
        return;
    *tv_table_add(&spans->profile.trace->tables.flows) =
        (struct tv_flow){.from = {.time = leaves, .row = from->row, .index = from->index},
                         .to = {.time = to->start, .row = to->row, .index = to->index},
                         .offset = from->offset,
                         .end_offset = to->offset,
                         .frame = frame,
                         .input = spans->profile.input};
}

/* Return whether a span is drawn right below its parent. */
static bool spans_are_nested(const struct spans *spans, const struct span *span,
                             const struct span *parent)
{
    const struct tv_row *rows = spans->profile.trace->rows;
    return span->row != TV_NONE && parent->row != TV_NONE && span->row == parent->row + 1 &&
           rows[span->row].track == rows[parent->row].track;
}

static uint32_t spans_arrow_frame(struct spans *spans, struct tv_bytes name)
{
    struct tv_frame frame = {.name = tv_profile_string(&spans->profile, name)};
    return tv_trace_info_add_frame(spans->profile.info, &frame);
}

/* Add arrows to all spans that are not drawn below their parent, and from the spans that links
 * name.  Rows are final here: an arrow ends at places in them. */
static void spans_add_arrows(struct spans *spans, const struct span_place *places,
                             const uint32_t *frames)
{
    const struct span *rows = spans->rows.rows;
    spans_find_places(spans);
    for (uint32_t i = 0; i < spans->rows.count; i++)
        if (rows[i].parent != TV_NONE && !spans_are_nested(spans, &rows[i], &rows[rows[i].parent]))
            spans_add_arrow(spans, &rows[rows[i].parent], &rows[i], frames[0]);
    for (size_t i = 0; i < spans->links.count; i++) {
        const struct span_link *link = &spans->links.rows[i];
        uint32_t from = spans_find(spans, places, &link->key);
        if (from != TV_NONE)
            spans_add_arrow(spans, &rows[from], &rows[link->span], frames[1]);
    }
}

/* ---- The file ---- */

static void spans_count_events(struct spans *spans)
{
    struct tv_profile_input *profile = &spans->profile;
    struct tv_tables *tables = &profile->trace->tables;
    tv_tables_count_events(tables, profile->input, tv_profile_string(profile, TV_BYTES("span")),
                           spans->rows.count);
    tv_tables_count_events(tables, profile->input, tv_profile_string(profile, TV_BYTES("event")),
                           spans->events);
    tv_tables_count_events(tables, profile->input, tv_profile_string(profile, TV_BYTES("link")),
                           spans->links.count);
}

/* Make slices and arrows of what was read.  Strings and frames cannot be added once the rows are
 * built, so those of arrows come first. */
static void spans_build(struct spans *spans, const struct tv_read_options *options)
{
    uint32_t frames[] = {spans_arrow_frame(spans, TV_BYTES("child span")),
                         spans_arrow_frame(spans, TV_BYTES("span link"))};
    struct span_place *places = spans_sort(spans);
    spans_find_parents(spans, places);
    tv_profile_input_build_rows(&spans->profile, options);
    spans_add_slices(spans);
    spans_add_arrows(spans, places, frames);
    tv_free(places);
}

static void spans_release(struct spans *spans)
{
    tv_otlp_origin_release(&spans->origin);
    tv_otlp_file_release(&spans->file);
    tv_map_release(&spans->processes);
    tv_map_release(&spans->pids);
    tv_free(spans->rows.rows);
    tv_free(spans->links.rows);
    tv_free(spans->slices.rows);
    tv_free(spans);
}

/* Append spans of a reader to a trace. */
static enum tv_status spans_read(const struct tv_reader *reader, enum tv_otlp_content content,
                                 struct tv_source *source, struct tv_builder *builder,
                                 const struct tv_read_options *options, struct tv_error *err)
{
    struct spans *spans = tv_alloc(1, sizeof *spans);
    enum tv_status status = tv_otlp_file_read(source, content, &spans->file, err);
    if (status != TV_OK) {
        tv_free(spans);
        return status;
    }
    tv_profile_input_begin(&spans->profile, source, builder, reader->format);
    struct tv_input *input = &spans->profile.info->inputs[spans->profile.input];
    input->describe = reader->describe;
    if (options->progress)
        atomic_fetch_add_explicit(&options->progress->total_bytes, spans->file.bytes.length,
                                  memory_order_relaxed);
    tv_map_init(&spans->processes);
    tv_map_init(&spans->pids);
    tv_otlp_origin_init(&spans->origin, &spans->profile);
    for (size_t i = 0; status == TV_OK && i < spans->file.count; i++)
        status = spans_read_request(spans, spans->file.requests[i], options, err);
    tv_otlp_file_warn(&spans->file, &spans->profile);
    if (spans->profile.first <= spans->profile.last)
        input->recorded_us = spans->profile.first / 1000;
    spans_count_events(spans);
    spans_build(spans, options);
    tv_profile_input_end(&spans->profile, options);
    spans_release(spans);
    return status;
}

static int spans_sniff(struct tv_bytes prefix, uint64_t size)
{
    (void)size;
    return tv_otlp_sniff(prefix, true);
}

static enum tv_status spans_assemble(struct tv_source *source, struct tv_builder *builder,
                                     const struct tv_read_options *options, struct tv_error *err)
{
    return spans_read(&tv_reader_otlp_spans, TV_OTLP_SPANS, source, builder, options, err);
}

const struct tv_reader tv_reader_otlp_spans = {
    .name = "otlp-spans",
    .sniff = spans_sniff,
    .assemble = spans_assemble,
    .refuses_empty = true,
    .format = SPANS_FORMAT,
    .describe = tv_otlp_describe_span,
};

static int jaeger_sniff(struct tv_bytes prefix, uint64_t size)
{
    (void)size;
    return tv_otlp_sniff_foreign(TV_OTLP_JAEGER, prefix);
}

static enum tv_status jaeger_assemble(struct tv_source *source, struct tv_builder *builder,
                                      const struct tv_read_options *options, struct tv_error *err)
{
    return spans_read(&tv_reader_jaeger, TV_OTLP_JAEGER, source, builder, options, err);
}

const struct tv_reader tv_reader_jaeger = {
    .name = "jaeger",
    .sniff = jaeger_sniff,
    .assemble = jaeger_assemble,
    .refuses_empty = true,
    .format = JAEGER_FORMAT,
    .describe = tv_otlp_describe_jaeger,
};

static int zipkin_sniff(struct tv_bytes prefix, uint64_t size)
{
    (void)size;
    return tv_otlp_sniff_foreign(TV_OTLP_ZIPKIN, prefix);
}

static enum tv_status zipkin_assemble(struct tv_source *source, struct tv_builder *builder,
                                      const struct tv_read_options *options, struct tv_error *err)
{
    return spans_read(&tv_reader_zipkin, TV_OTLP_ZIPKIN, source, builder, options, err);
}

const struct tv_reader tv_reader_zipkin = {
    .name = "zipkin",
    .sniff = zipkin_sniff,
    .assemble = zipkin_assemble,
    .refuses_empty = true,
    .format = ZIPKIN_FORMAT,
    .describe = tv_otlp_describe_zipkin,
};
