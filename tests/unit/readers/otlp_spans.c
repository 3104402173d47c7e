/* SPDX-License-Identifier: Apache-2.0 */
/*
 * otlp_spans.c - tests of the readers of spans: tracks, nesting, arrows and arguments of a file of
 * OpenTelemetry in JSON and in protobuf, of Jaeger and of Zipkin, and each file cut and damaged at
 * every byte.
 */
#include "unit.h"

#include "base/bytes.h"
#include "base/protobuf_out.h"
#include "profile_made.h"
#include "readers/perfetto/perfetto.h"
#include "readers/readers.h"

static struct tv_bytes bytes_of(const struct tv_out *out)
{
    return (struct tv_bytes){out->buffer, out->length};
}

/* Write "name@process depth" of a slice. */
static void print_slice(struct tv_out *out, const struct tv_trace *trace, uint32_t row,
                        uint32_t index)
{
    const struct tv_trace_info *head = trace->head;
    const struct tv_track *track = &trace->tracks[trace->rows[row].track];
    uint32_t path = trace->columns[trace->rows[row].columns].path[trace->rows[row].first + index];
    tv_out_bytes(out, tv_trace_info_text(head, head->frames[trace->paths.nodes[path].frame].name));
    tv_out_char(out, '@');
    tv_out_bytes(out, tv_trace_info_text(head, head->processes[track->process].name));
    tv_out_format(out, " %u", trace->rows[row].depth);
}

static void print_trace(struct tv_out *out, const struct tv_trace *trace)
{
    const struct tv_trace_info *head = trace->head;
    for (uint32_t row = 0; row < trace->row_count; row++)
        for (uint32_t i = 0; i < trace->rows[row].count; i++) {
            print_slice(out, trace, row, i);
            tv_out_format(out, " %lld+%lld\n",
                          (long long)(tv_slice_start(trace, row, i) + head->inputs[0].origin),
                          (long long)(tv_slice_end(trace, row, i) - tv_slice_start(trace, row, i)));
        }
    for (size_t i = 0; i < trace->tables.instants.count; i++) {
        const struct tv_instant *instant = &trace->tables.instants.rows[i];
        tv_out_bytes(out, tv_trace_info_text(head, head->frames[instant->frame].name));
        tv_out_format(out, " at %lld\n", (long long)instant->time);
    }
    for (size_t i = 0; i < trace->tables.flows.count; i++) {
        const struct tv_flow *flow = &trace->tables.flows.rows[i];
        tv_out_bytes(out, tv_trace_info_text(head, head->frames[flow->frame].name));
        tv_out_text(out, ": ");
        print_slice(out, trace, flow->from.row, flow->from.index);
        tv_out_format(out, " at %lld > ", (long long)flow->from.time);
        print_slice(out, trace, flow->to.row, flow->to.index);
        tv_out_char(out, '\n');
    }
}

static struct tv_trace *read_spans(const struct tv_reader *reader, struct tv_source *source)
{
    struct tv_builder *builder = tv_builder_new(tv_trace_info_new());
    struct tv_read_options options = {.parts = 1};
    struct tv_error err = {0};
    assert_int_equal(reader->assemble(source, builder, &options, &err), TV_OK);
    return tv_builder_finish(builder);
}

/* Hold slices, instants and flows of a file against lines. */
static void assert_read(const struct tv_reader *reader, struct tv_bytes file, const char *expected)
{
    struct tv_out out;
    struct tv_source *source = tv_source_from_memory(file, "test");
    assert_true(reader->sniff(file, file.length) > 0);
    struct tv_trace *trace = read_spans(reader, source);
    tv_out_init_memory(&out);
    print_trace(&out, trace);
    tv_out_char(&out, '\0');
    assert_string_equal((const char *)out.buffer, expected);
    tv_out_release(&out);
    tv_trace_free(trace);
    tv_source_free(source);
}

static void assert_spans(struct tv_bytes file, const char *expected)
{
    assert_int_equal(tv_reader_otlp.sniff(file, file.length), 0);
    assert_int_equal(tv_reader_jaeger.sniff(file, file.length), 0);
    assert_int_equal(tv_reader_zipkin.sniff(file, file.length), 0);
    assert_read(&tv_reader_otlp_spans, file, expected);
}

/* Hold what a reader says of the first slice of a row, or of the first instant (TV_NONE). */
static void assert_event_of(const struct tv_reader *reader, struct tv_bytes file, uint32_t row,
                            const char *expected)
{
    struct tv_out out;
    struct tv_error err;
    struct tv_source *source = tv_source_from_memory(file, "test");
    struct tv_trace *trace = read_spans(reader, source);
    uint64_t offset =
        row == TV_NONE ? trace->tables.instants.rows[0].offset : tv_slice_offset(trace, row, 0);
    tv_out_init_memory(&out);
    assert_int_equal(reader->describe(trace, 0, offset, TV_NO_OFFSET, &out, &err), TV_OK);
    tv_out_char(&out, '\0');
    assert_string_equal((const char *)out.buffer, expected);
    tv_out_release(&out);
    tv_trace_free(trace);
    tv_source_free(source);
}

static void assert_event(struct tv_bytes file, uint32_t row, const char *expected)
{
    assert_event_of(&tv_reader_otlp_spans, file, row, expected);
}

/* Files in JSON: spans of services, all in process 1 of a container. */
#define FILE_OF(services) "{\"resourceSpans\":[" services "]}\n"
#define SERVICE(name, spans)                                                                       \
    "{\"resource\":{\"attributes\":[{\"key\":\"service.name\",\"value\":{\"stringValue\":\"" name  \
    "\"}},{\"key\":\"process.pid\",\"value\":{\"intValue\":\"1\"}}]},\"scopeSpans\":[{\"scope\":"  \
    "{\"name\":\"http\"},\"spans\":[" spans "]}]}"

/* A span of trace ab, with ids of a byte; times in nanoseconds.  `more` are members. */
#define SPAN(id, parent, name, start, end, more)                                                   \
    "{\"traceId\":\"ab\",\"spanId\":\"" id "\",\"parentSpanId\":\"" parent "\",\"name\":\"" name   \
    "\",\"startTimeUnixNano\":\"" start "\",\"endTimeUnixNano\":" end more "}"
#define EVENT                                                                                      \
    ",\"events\":[{\"timeUnixNano\":\"20\",\"name\":\"miss\",\"attributes\":[{\"key\":\"k\","      \
    "\"value\":{\"stringValue\":\"v\"}}]}]"
#define LINK                                                                                       \
    ",\"links\":[{\"traceId\":\"ab\",\"spanId\":\"02\",\"attributes\":[{\"key\":\"why\","          \
    "\"value\":{\"boolValue\":true}}]}],\"kind\":\"SPAN_KIND_SERVER\",\"status\":{\"code\":2,"     \
    "\"message\":\"late\"}"

/* A child in the process of its parent lies below it; one of another process has an arrow. */
static void children_nest_or_have_arrows(void **state)
{
    (void)state;
    struct tv_bytes file = TV_BYTES(FILE_OF(SERVICE(
        "shop", SPAN("01", "", "GET", "1", "\"101\"", "") "," SPAN(
                    "02", "01", "load", "11", "41",
                    EVENT)) "," SERVICE("prices", SPAN("04", "01", "POST", "51", "81", LINK))));
    assert_spans(file, "GET@shop 0 1+100\n"
                       "load@shop 1 11+30\n"
                       "POST@prices 0 51+30\n"
                       "miss at 20\n"
                       "span link: load@shop 1 at 41 > POST@prices 0\n"
                       "child span: GET@shop 0 at 51 > POST@prices 0\n");
    assert_event(file, TV_NONE, "{\"args\":{\"k\":\"v\"}}");
    assert_event(file, 2,
                 "{\"args\":{\"trace_id\":\"ab\",\"span_id\":\"04\",\"parent_span_id\":\"01\","
                 "\"span.kind\":\"server\",\"otel.status_code\":\"ERROR\","
                 "\"otel.status_description\":\"late\",\"links\":[{\"trace_id\":\"ab\",\"span_id\":"
                 "\"02\",\"attributes\":{\"why\":true}}]}}");
}

/* Children that run at once, and one that outlasts its parent by more than clocks are wrong, have
 * tracks of their own. */
static void others_have_tracks_of_their_own(void **state)
{
    (void)state;
    assert_spans(TV_BYTES(FILE_OF(SERVICE(
                     "a", SPAN("01", "", "top", "1", "5000001", "") "," SPAN(
                              "02", "01", "x", "11", "41",
                              "") "," SPAN("03", "01", "y", "21", "51",
                                           "") "," SPAN("04", "01", "near", "100", "5900001",
                                                        "") "," SPAN("05", "01", "far", "5000000",
                                                                     "7000001", "")))),
                 "top@a 0 1+5000000\n"
                 "x@a 1 11+30\n"
                 "near@a 1 100+5899901\n"
                 "y@a 0 21+30\n"
                 "far@a 0 5000000+2000001\n"
                 "child span: top@a 0 at 21 > y@a 0\n"
                 "child span: top@a 0 at 5000000 > far@a 0\n");
}

/* Parents that are not in the file, that are each other's, and the span itself. */
static void odd_parents_make_roots(void **state)
{
    (void)state;
    assert_spans(TV_BYTES(FILE_OF(SERVICE(
                     "a", SPAN("01", "77", "lost", "1", "9", "") "," SPAN(
                              "02", "03", "p", "10", "19",
                              "") "," SPAN("03", "02", "q", "10", "19",
                                           "") "," SPAN("04", "04", "self", "20", "29", "")))),
                 "lost@a 0 1+8\n"
                 "q@a 0 10+9\n"
                 "p@a 1 10+9\n"
                 "self@a 0 20+9\n");
}

/* A span without an end lasts to the last time; one without a begin is left out, with its links. */
static void times_may_be_missing(void **state)
{
    (void)state;
    assert_spans(
        TV_BYTES(FILE_OF(SERVICE("a", SPAN("01", "", "open", "1", "0", "") "," SPAN(
                                          "02", "", "none", "0", "9",
                                          LINK) "," SPAN("03", "", "back", "50", "40", "")))),
        "open@a 0 1+49\n"
        "back@a 0 50+0\n");
}

/* Lines of the Collector's file exporter are requests; ids in Base64 are the same bytes. */
static void lines_are_requests(void **state)
{
    (void)state;
    assert_spans(
        TV_BYTES(FILE_OF(SERVICE("a", SPAN("AAAAAAAAAAE=", "", "p", "1", "99", ""))) FILE_OF(
            SERVICE("a", SPAN("0000000000000002", "0000000000000001", "q", "2", "9", "")))),
        "p@a 0 1+98\n"
        "q@a 1 2+7\n");
}

/* Grafana Tempo calls the list of services "batches". */
static void batches_of_tempo_are_a_request(void **state)
{
    (void)state;
    assert_spans(TV_BYTES("{\"batches\":[" SERVICE("a", SPAN("01", "", "p", "1", "99", "")) "]}"),
                 "p@a 0 1+98\n");
}

/* Write a request in protobuf: the spans "GET" and "load" of process "ab", with an event. */
static void make_request(struct tv_out *request)
{
    struct tv_out span, event, scope, resource;
    struct tv_bytes trace =
        TV_BYTES("\x5b\x8e\xff\xf7\x98\x03\x81\x03\xd2\x69\xb6\x33\x81\x3f\xc6\x0c");
    tv_out_init_memory(request);
    tv_out_init_memory(&span);
    tv_out_init_memory(&event);
    tv_out_init_memory(&scope);
    tv_out_init_memory(&resource);
    tv_protobuf_put_bytes(&resource, 1,
                          TV_BYTES("\x0a\x14\x0a\x0c"
                                   "service.name\x12\x04\x0a\x02"
                                   "ab"));
    for (uint8_t i = 1; i <= 2; i++) {
        tv_protobuf_put_bytes(&span, 1, trace);
        tv_protobuf_put_bytes(&span, 2, (struct tv_bytes){(uint8_t[8]){0, 0, 0, 0, 0, 0, 0, i}, 8});
        if (i == 2)
            tv_protobuf_put_bytes(&span, 4, TV_BYTES("\0\0\0\0\0\0\0\1"));
        tv_protobuf_put_bytes(&span, 5, i == 1 ? TV_BYTES("GET") : TV_BYTES("load"));
        tv_protobuf_put_number(&span, 6, 3);
        tv_protobuf_put_fixed64(&span, 7, i * UINT64_C(100));
        tv_protobuf_put_fixed64(&span, 8, 900);
        tv_protobuf_put_bytes(&span, 9, TV_BYTES("\x0a\x01k\x12\x02\x18\x07"));
        tv_protobuf_put_fixed64(&event, 1, 300);
        tv_protobuf_put_bytes(&event, 2, TV_BYTES("miss"));
        tv_protobuf_put_bytes(&event, 3, TV_BYTES("\x0a\x01k\x12\x03\x0a\x01v"));
        tv_protobuf_put_message(&span, 11, &event);
        tv_protobuf_put_number(&span, 12, 4);
        tv_protobuf_put_message(&scope, 2, &span);
    }
    tv_protobuf_put_message(&resource, 2, &scope);
    tv_protobuf_put_message(request, 1, &resource);
    tv_out_release(&span);
    tv_out_release(&event);
    tv_out_release(&scope);
    tv_out_release(&resource);
}

static void protobuf_is_the_same(void **state)
{
    (void)state;
    struct tv_out request;
    make_request(&request);
    assert_spans(bytes_of(&request), "GET@ab 0 100+800\n"
                                     "load@ab 1 200+700\n"
                                     "miss at 300\n"
                                     "miss at 300\n");
    assert_event(bytes_of(&request), TV_NONE, "{\"args\":{\"k\":\"v\"}}");
    assert_event(bytes_of(&request), 1,
                 "{\"args\":{\"k\":7,\"trace_id\":\"5b8efff798038103d269b633813fc60c\","
                 "\"span_id\":\"0000000000000002\",\"parent_span_id\":\"0000000000000001\","
                 "\"span.kind\":\"client\",\"otel.dropped_events_count\":4}}");
    tv_out_release(&request);
}

/* Other messages in the same places: a log record, and a metric with texts as long as ids. */
static void other_protobuf_is_told_apart(void **state)
{
    (void)state;
    struct tv_bytes log = TV_BYTES("\x0a\x13\x0a\x00\x12\x0f\x0a\x00\x12\x0b\x09\1\2\3\4\5\6\7\x08"
                                   "\x10\x09"),
                    metric = TV_BYTES("\x0a\x26\x0a\x00\x12\x22\x0a\x00\x12\x1e\x0a\x10"
                                      "process.cpu.time\x12\x08utilised\x3a\x00");
    struct tv_out request;
    assert_int_equal(tv_reader_otlp_spans.sniff(log, log.length), 0);
    assert_int_equal(tv_reader_otlp_spans.sniff(metric, metric.length), 0);
    make_request(&request);
    int sure = tv_reader_otlp_spans.sniff(bytes_of(&request), request.length);
    assert_true(sure > tv_reader_pprof.sniff(bytes_of(&request), request.length));
    assert_true(sure > tv_reader_perfetto.sniff(bytes_of(&request), request.length));
    tv_out_release(&request);
}

/* ---- Jaeger ---- */

/* Elements of a list. */
#define LIST2(a, b) a "," b
#define LIST3(a, b, c) LIST2(a, b) "," c
#define LIST4(a, b, c, d) LIST3(a, b, c) "," d

/* A trace, whose processes follow its spans; times are in microseconds. */
#define JAEGER_FILE(traces) "{\"data\":[" traces "],\"errors\":null}\n"
#define JAEGER_TRACE(spans, processes)                                                             \
    "{\"traceID\":\"ab\",\"spans\":[" spans "],\"processes\":{" processes "}}"
#define JAEGER_PROCESS(id, name) "\"" id "\":{\"serviceName\":\"" name "\",\"tags\":[]}"

/* A span of process p1 or p2; `members` are times and others. */
#define JAEGER_SPAN(id, name, process, members)                                                    \
    "{\"traceID\":\"ab\",\"spanID\":\"" id "\",\"operationName\":\"" name                          \
    "\",\"processID\":\"" process "\"" members "}"
#define JAEGER_TIME(start, duration) ",\"startTime\":" start ",\"duration\":" duration
#define JAEGER_REFERENCES(list) ",\"references\":[" list "]"
#define JAEGER_REFERENCE(type, id)                                                                 \
    "{\"refType\":\"" type "\",\"traceID\":\"ab\",\"spanID\":\"" id "\"}"
#define JAEGER_TAGS                                                                                \
    ",\"tags\":[{\"key\":\"span.kind\",\"type\":\"string\",\"value\":\"server\"},"                 \
    "{\"key\":\"n\",\"type\":\"int64\",\"value\":-3},"                                             \
    "{\"key\":\"error\",\"type\":\"bool\",\"value\":true}]"
#define JAEGER_LOG                                                                                 \
    ",\"logs\":[{\"timestamp\":20,\"fields\":[{\"key\":\"event\",\"value\":\"miss\"},"             \
    "{\"key\":\"k\",\"value\":\"v\"}]}]"

/* Spans of two processes take turns; the tag "error" makes a status, a reference that is not the
 * parent makes a link, and the field "event" names a log. */
#define JAEGER_PARENT JAEGER_REFERENCE("CHILD_OF", "1")
#define JAEGER_SHOP                                                                                \
    LIST3(JAEGER_SPAN("1", "GET", "p1", JAEGER_TIME("1", "100")),                                  \
          JAEGER_SPAN("4", "POST", "p2",                                                           \
                      JAEGER_TIME("51", "30") JAEGER_REFERENCES(LIST2(                             \
                          JAEGER_REFERENCE("FOLLOWS_FROM", "2"), JAEGER_PARENT)) JAEGER_TAGS),     \
          JAEGER_SPAN("2", "load", "p1",                                                           \
                      JAEGER_TIME("11", "30") JAEGER_REFERENCES(JAEGER_PARENT) JAEGER_LOG))
#define JAEGER_SHOP_FILE                                                                           \
    JAEGER_FILE(JAEGER_TRACE(JAEGER_SHOP,                                                          \
                             LIST2(JAEGER_PROCESS("p1", "shop"), JAEGER_PROCESS("p2", "prices"))))

static void jaeger_spans_are_spans(void **state)
{
    (void)state;
    struct tv_bytes file = TV_BYTES(JAEGER_SHOP_FILE);
    assert_read(&tv_reader_jaeger, file,
                "GET@shop 0 1000+100000\n"
                "load@shop 1 11000+30000\n"
                "POST@prices 0 51000+30000\n"
                "miss at 20000\n"
                "span link: load@shop 1 at 41000 > POST@prices 0\n"
                "child span: GET@shop 0 at 51000 > POST@prices 0\n");
    assert_event_of(&tv_reader_jaeger, file, TV_NONE, "{\"args\":{\"k\":\"v\"}}");
    assert_event_of(&tv_reader_jaeger, file, 2,
                    "{\"args\":{\"n\":-3,\"error\":true,\"trace_id\":\"00000000000000ab\","
                    "\"span_id\":\"0000000000000004\",\"parent_span_id\":\"0000000000000001\","
                    "\"span.kind\":\"server\",\"otel.status_code\":\"ERROR\","
                    "\"links\":[{\"trace_id\":\"00000000000000ab\","
                    "\"span_id\":\"0000000000000002\",\"attributes\":{}}]}}");
}

/* The id of a process counts within its trace; one that is not listed there is the name. */
static void jaeger_processes_are_of_a_trace(void **state)
{
    (void)state;
#define JAEGER_FIRST                                                                               \
    JAEGER_TRACE(JAEGER_SPAN("1", "x", "p1", JAEGER_TIME("1", "1")),                               \
                 LIST2(JAEGER_PROCESS("p1", "a"), JAEGER_PROCESS("p2", "c")))
#define JAEGER_SECOND                                                                              \
    JAEGER_TRACE(LIST2(JAEGER_SPAN("2", "y", "p1", JAEGER_TIME("3", "1")),                         \
                       JAEGER_SPAN("3", "z", "p2", JAEGER_TIME("5", "1"))),                        \
                 JAEGER_PROCESS("p1", "b"))
    assert_read(&tv_reader_jaeger, TV_BYTES(JAEGER_FILE(LIST2(JAEGER_FIRST, JAEGER_SECOND))),
                "x@a 0 1000+1000\n"
                "y@b 0 3000+1000\n"
                "z@p2 0 5000+1000\n");
}

/* A span without a duration lasts to the last time; one without a begin, or with a begin that no
 * clock has, is left out.  An id that is not hexadecimal is none. */
#define JAEGER_ODD                                                                                 \
    LIST4(JAEGER_SPAN("1", "open", "p1", ",\"startTime\":1"),                                      \
          JAEGER_SPAN("2", "none", "p1", ",\"duration\":1"),                                       \
          JAEGER_SPAN("3", "huge", "p1", JAEGER_TIME("123456789012345678901234567890", "1")),      \
          JAEGER_SPAN("xyz", "odd", "p1",                                                          \
                      JAEGER_TIME("50", "-9")                                                      \
                          JAEGER_REFERENCES(JAEGER_REFERENCE("CHILD_OF", "xyz"))))

static void jaeger_members_may_be_missing(void **state)
{
    (void)state;
    assert_read(&tv_reader_jaeger,
                TV_BYTES(JAEGER_FILE(JAEGER_TRACE(JAEGER_ODD ",7", JAEGER_PROCESS("p1", "a")))),
                "open@a 0 1000+49000\n"
                "odd@a 0 50000+0\n");
}

/* ---- Zipkin ---- */

/* A span of trace ab; `members` are times and others. */
#define ZIPKIN_SPAN(id, parent, name, service, members)                                            \
    "{\"traceId\":\"ab\",\"id\":\"" id "\",\"parentId\":\"" parent "\",\"name\":\"" name           \
    "\",\"localEndpoint\":{\"serviceName\":\"" service "\"}" members "}"
#define ZIPKIN_TIME(start, duration) ",\"timestamp\":" start ",\"duration\":" duration
#define ZIPKIN_SERVER                                                                              \
    ",\"shared\":true,\"kind\":\"SERVER\",\"tags\":{\"error\":\"\",\"k\":\"v\"},"                  \
    "\"annotations\":[{\"timestamp\":35,\"value\":\"ws\"}]"

/* The server has the id of the client's span, and stands before it: it is a child of that, and the
 * child of the id in its process is its own. */
#define ZIPKIN_SHARED_FILE                                                                         \
    "[" LIST4(ZIPKIN_SPAN("2", "1", "serve", "back", ZIPKIN_TIME("30", "20") ZIPKIN_SERVER),       \
              ZIPKIN_SPAN("2", "1", "call", "front", ZIPKIN_TIME("20", "40")),                     \
              ZIPKIN_SPAN("3", "2", "query", "back", ZIPKIN_TIME("35", "5")),                      \
              ZIPKIN_SPAN("1", "", "top", "front", ZIPKIN_TIME("10", "60"))) "]"

static void zipkin_servers_share_ids(void **state)
{
    (void)state;
    struct tv_bytes file = TV_BYTES(ZIPKIN_SHARED_FILE);
    assert_read(&tv_reader_zipkin, file,
                "serve@back 0 30000+20000\n"
                "query@back 1 35000+5000\n"
                "top@front 0 10000+60000\n"
                "call@front 1 20000+40000\n"
                "ws at 35000\n"
                "child span: call@front 1 at 30000 > serve@back 0\n");
    assert_event_of(&tv_reader_zipkin, file, 0,
                    "{\"args\":{\"shared\":true,\"localEndpoint\":{\"serviceName\":\"back\"},"
                    "\"error\":\"\",\"k\":\"v\",\"trace_id\":\"00000000000000ab\","
                    "\"span_id\":\"0000000000000002\",\"parent_span_id\":\"0000000000000001\","
                    "\"span.kind\":\"server\",\"otel.status_code\":\"ERROR\"}}");
    assert_event_of(&tv_reader_zipkin, file, TV_NONE, "{\"args\":{}}");
}

/* An answer about several traces is a list of lists; a server whose client is not there has the
 * parent that it names, no service is needed, and ids of traces may have 128 bits. */
#define ZIPKIN_LONG                                                                                \
    "{\"traceId\":\"b8efff798038103d269b633813fc60c\",\"id\":\"1\",\"timestamp\":15}"
#define ZIPKIN_LISTS                                                                               \
    "[[" LIST2(ZIPKIN_SPAN("1", "", "top", "a", ZIPKIN_TIME("10", "60")),                          \
               ZIPKIN_SPAN("2", "1", "serve", "a",                                                 \
                           ZIPKIN_TIME("20", "20") ",\"shared\":true")) "],[" ZIPKIN_LONG "]]"

static void zipkin_lists_may_be_nested(void **state)
{
    (void)state;
    assert_read(&tv_reader_zipkin, TV_BYTES(ZIPKIN_LISTS),
                "top@a 0 10000+60000\n"
                "serve@a 1 20000+20000\n"
                "@ 0 15000+55000\n");
    assert_event_of(&tv_reader_zipkin, TV_BYTES(ZIPKIN_LISTS), 2,
                    "{\"args\":{\"trace_id\":\"0b8efff798038103d269b633813fc60c\","
                    "\"span_id\":\"0000000000000001\"}}");
}

/* Files that are something else, and files of which only the beginning is known. */
static void others_are_not_jaeger_or_zipkin(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        bool jaeger, zipkin;
    } files[] = {
        {"{\"data\":[{\"traceID\":\"1\",\"spans\":[{\"trace", true, false},
        {"{\"data\":[{\"processes\":{\"p1\":{\"servi", true, false},
        {"{\"data\":[{\"id\":1}]}", false, false},
        {"{\"spans\":[]}", false, false},
        {"\xef\xbb\xbf [ [ {\"traceId\":\"1\",\"id\":\"2\",\"timestamp\":1,\"na", false, true},
        {"[{\"traceId\":\"1\",\"id\":\"2\",\"timestamp\":1,\"ph\":\"X\"}]", false, false},
        {"[{\"traceId\":\"1\",\"id\":\"2\"}]", false, false},
        {"[{\"id\":\"2\",\"timestamp\":1}]", false, false},
    };
    for (size_t i = 0; i < TV_COUNT(files); i++) {
        struct tv_bytes file = tv_bytes_of(files[i].text);
        assert_int_equal(tv_reader_jaeger.sniff(file, file.length) > 0, files[i].jaeger);
        assert_int_equal(tv_reader_zipkin.sniff(file, file.length) > 0, files[i].zipkin);
    }
}

static void damage_is_survived(void **state)
{
    (void)state;
    struct tv_out request;
    make_request(&request);
    assert_damage_survived(&tv_reader_otlp_spans, bytes_of(&request));
    assert_damage_survived(
        &tv_reader_otlp_spans,
        TV_BYTES(FILE_OF(SERVICE("a", SPAN("01", "", "p", "1", "99",
                                           EVENT) "," SPAN("02", "01", "q", "2", "9", LINK)))));
    assert_damage_survived(&tv_reader_jaeger, TV_BYTES(JAEGER_SHOP_FILE));
    assert_damage_survived(&tv_reader_zipkin, TV_BYTES(ZIPKIN_SHARED_FILE));
    assert_damage_survived(&tv_reader_zipkin, TV_BYTES(ZIPKIN_LISTS));
    tv_out_release(&request);
}

UNIT_TESTS(otlp_spans, cmocka_unit_test(children_nest_or_have_arrows),
           cmocka_unit_test(others_have_tracks_of_their_own),
           cmocka_unit_test(odd_parents_make_roots), cmocka_unit_test(times_may_be_missing),
           cmocka_unit_test(lines_are_requests), cmocka_unit_test(batches_of_tempo_are_a_request),
           cmocka_unit_test(protobuf_is_the_same), cmocka_unit_test(other_protobuf_is_told_apart),
           cmocka_unit_test(jaeger_spans_are_spans),
           cmocka_unit_test(jaeger_processes_are_of_a_trace),
           cmocka_unit_test(jaeger_members_may_be_missing),
           cmocka_unit_test(zipkin_servers_share_ids), cmocka_unit_test(zipkin_lists_may_be_nested),
           cmocka_unit_test(others_are_not_jaeger_or_zipkin), cmocka_unit_test(damage_is_survived));
