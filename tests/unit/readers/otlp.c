/* SPDX-License-Identifier: Apache-2.0 */
/*
 * otlp.c - tests of the reader of OpenTelemetry profiles: samples, threads, times and arguments of
 * a request in protobuf and in JSON, and each file cut and damaged at every byte.
 */
#include "unit.h"

#include "base/bytes.h"
#include "base/protobuf_out.h"
#include "profile_made.h"
#include "readers/perfetto/perfetto.h"
#include "readers/readers.h"

/* Numbers of the strings below. */
enum { SAMPLES = 1, COUNT, MAIN, LOAD, THREAD_NAME, RETRIES, BYTES };

static const char *const strings[] = {"",     "samples",     "count",   "main",
                                      "load", "thread.name", "retries", "bytes"};

/* The fields of a sample by version: of now, and of opentelemetry-proto 1.8. */
struct sample_fields {
    uint32_t attributes, link, values;
};

static const struct sample_fields now = {2, 3, 4}, before = {3, 4, 2};

static void put_list(struct tv_out *out, uint32_t field, const uint8_t *numbers, size_t count)
{
    if (count > 0)
        tv_protobuf_put_bytes(out, field, (struct tv_bytes){numbers, count});
}

/* Write the tables: location 1 is main at line 12, location 2 is load at 30, inlined into main at
 * 14; stack 1 is main, stack 2 is load in main.  Attribute 1 is the thread's name, 2 is "3 bytes".
 */
static void put_dictionary(struct tv_out *request)
{
    static const uint8_t tables[] = {
        1,   0,                                                    /* mapping 0 */
        2,   0,   2,    6,  0x1a, 4,           8,    1,  16,   12, /* locations */
        2,   12,  0x1a, 4,  8,    2,           16,   30, 0x1a, 4,    8,    1,     16,  14,
        3,   0,   3,    2,  8,    MAIN,        3,    2,  8,    LOAD,          /* functions */
        4,   0,   4,    8,  10,   2,           0xab, 1,  18,   2,    0xcd, 2, /* link 1: trace ab01,
                                                                                 span cd02 */
        6,   0,   6,    12, 8,    THREAD_NAME, 18,   8,  10,   6,    'w',  'o',   'r', 'k',
        'e', 'r', 6,    8,  8,    RETRIES,     18,   2,  24,   3,    24,   BYTES, /* attributes */
        7,   0,   7,    3,  10,   1,           1,    7,  4,    10,   2,    2,     1, /* stacks */
    };
    struct tv_out dictionary;
    tv_out_init_memory(&dictionary);
    for (size_t i = 0; i < sizeof tables; i += 2u + tables[i + 1])
        tv_protobuf_put_bytes(&dictionary, tables[i],
                              (struct tv_bytes){&tables[i + 2], tables[i + 1]});
    for (size_t i = 0; i < TV_COUNT(strings); i++)
        tv_protobuf_put_bytes(&dictionary, 5, tv_bytes_of(strings[i]));
    tv_protobuf_put_message(request, 2, &dictionary);
    tv_out_release(&dictionary);
}

/* Write a resource: process 77, "shop". */
static void put_resource(struct tv_out *resource_profiles)
{
    tv_protobuf_put_bytes(resource_profiles, 1,
                          TV_BYTES("\x0a\x14\x0a\x0c"
                                   "service.name\x12\x04\x0a\x02"
                                   "ab"
                                   "\x0a\x11\x0a\x0bprocess.pid\x12\x02\x18\x4d"));
}

/* Write a sample of stack 2 with the thread's name, and one of stack 1 with both attributes and the
 * link; at 1000 and 2000 ns, or without times with the values 5 and 6. */
static void put_samples(struct tv_out *profile, struct sample_fields fields, bool timed)
{
    struct tv_out sample;
    tv_out_init_memory(&sample);
    for (uint8_t i = 1; i <= 2; i++) {
        uint8_t value = (uint8_t)(4 + i);
        tv_protobuf_put_number(&sample, 1, i == 1 ? 2 : 1);
        put_list(&sample, fields.attributes, (const uint8_t[]){1, 2}, i);
        if (i == 2)
            tv_protobuf_put_number(&sample, fields.link, 1);
        if (!timed)
            put_list(&sample, fields.values, &value, 1);
        else
            tv_protobuf_put_fixed64(&sample, 5, i * UINT64_C(1000));
        tv_protobuf_put_message(profile, 2, &sample);
    }
    tv_out_release(&sample);
}

static void make_request(struct tv_out *request, struct sample_fields fields, bool timed)
{
    struct tv_out profile, scope, resource;
    tv_out_init_memory(request);
    tv_out_init_memory(&profile);
    tv_out_init_memory(&scope);
    tv_out_init_memory(&resource);
    tv_protobuf_put_bytes(&profile, 1, TV_BYTES("\x08\x01\x10\x02")); /* samples, count */
    put_samples(&profile, fields, timed);
    tv_protobuf_put_message(&scope, 2, &profile);
    put_resource(&resource);
    tv_protobuf_put_message(&resource, 2, &scope);
    tv_protobuf_put_message(request, 1, &resource);
    put_dictionary(request);
    tv_out_release(&profile);
    tv_out_release(&scope);
    tv_out_release(&resource);
}

static struct tv_bytes bytes_of(const struct tv_out *out)
{
    return (struct tv_bytes){out->buffer, out->length};
}

static void samples_have_times_or_values(void **state)
{
    (void)state;
    struct tv_out timed, summed;
    make_request(&timed, now, true);
    make_request(&summed, now, false);
    assert_samples(&tv_reader_otlp, bytes_of(&timed),
                   "samples 1 worker at 1000 < load:30 < main:14 < main:12\n"
                   "samples 1 worker at 2000 < main:12\n");
    assert_samples(&tv_reader_otlp, bytes_of(&summed),
                   "samples 5 worker < load:30 < main:14 < main:12\n"
                   "samples 6 worker < main:12\n");
    tv_out_release(&timed);
    tv_out_release(&summed);
}

static void fields_tell_the_version(void **state)
{
    (void)state;
    struct tv_out request;
    make_request(&request, before, false);
    assert_samples(&tv_reader_otlp, bytes_of(&request),
                   "samples 5 worker < load:30 < main:14 < main:12\n"
                   "samples 6 worker < main:12\n");
    tv_out_release(&request);
}

static void attributes_and_link_are_arguments(void **state)
{
    (void)state;
    struct tv_out request;
    make_request(&request, now, true);
    assert_described(&tv_reader_otlp, bytes_of(&request), 1,
                     "{\"args\":{\"thread.name\":\"worker\",\"retries\":\"3 bytes\","
                     "\"trace_id\":\"ab01\",\"span_id\":\"cd02\"}}");
    tv_out_release(&request);
}

#define JSON                                                                                       \
    "{\"resourceProfiles\":[{\"resource\":{\"attributes\":[{\"key\":\"service.name\",\"value\":"   \
    "{\"stringValue\":\"shop\"}}]},\"scopeProfiles\":[{\"profiles\":[{\"sampleType\":"             \
    "{\"typeStrindex\":1,\"unitStrindex\":2},\"samples\":[{\"stackIndex\":2,\"values\":[\"7\"]},"  \
    "{\"stackIndex\":1,\"values\":[1],\"attributeIndices\":[1,2],\"linkIndex\":1}]}]}]}],"         \
    "\"dictionary\":{\"mappingTable\":[{}],\"locationTable\":[{},{\"lines\":[{\"functionIndex\":"  \
    "1,\"line\":\"12\"}]},{\"lines\":[{\"functionIndex\":2,\"line\":30}]}],\"functionTable\":[{}," \
    "{\"nameStrindex\":3},{\"nameStrindex\":4}],\"linkTable\":[{},{\"traceId\":\"AB01\"}],"        \
    "\"stringTable\":[\"\",\"cpu\",\"nanoseconds\",\"main\",\"lo\\u0061d\",\"thread.name\","       \
    "\"tags\"],\"attributeTable\":[{},{\"keyStrindex\":5,\"value\":{\"stringValue\":\"w\"}},"      \
    "{\"keyStrindex\":6,\"value\":{\"arrayValue\":{\"values\":[{\"intValue\":\"1\"}]}}}],"         \
    "\"stackTable\":[{},{\"locationIndices\":[1]},{\"locationIndices\":[2,1]}]}}\n"

static void json_is_the_same(void **state)
{
    (void)state;
    assert_samples(&tv_reader_otlp, TV_BYTES(JSON),
                   "cpu 7 all < load:30 < main:12\ncpu 1 w < main:12\n");
    assert_described(&tv_reader_otlp, TV_BYTES(JSON), 1,
                     "{\"args\":{\"thread.name\":\"w\",\"tags\":[1],\"trace_id\":\"ab01\"}}");
}

/* Lists nest as deep as the file likes; deep inside they are JSON as in the file. */
static void lists_nest(void **state)
{
    (void)state;
    struct tv_out json;
    tv_out_init_memory(&json);
    tv_out_text(&json, "{\"resourceProfiles\":[{\"scopeProfiles\":[{\"profiles\":[{\"samples\":["
                       "{\"values\":[1],\"attributeIndices\":[1]}]}]}]}],\"dictionary\":{"
                       "\"stringTable\":[\"\",\"k\"],\"attributeTable\":[{},{\"keyStrindex\":1,"
                       "\"value\":");
    for (int i = 0; i < 7; i++)
        tv_out_text(&json, "{\"arrayValue\":{\"values\":[");
    for (int i = 0; i < 7; i++)
        tv_out_text(&json, "]}}");
    tv_out_text(&json, "}]}}");
    assert_described(
        &tv_reader_otlp, bytes_of(&json), 0,
        "{\"args\":{\"k\":[[[[[{\"values\":[{\"arrayValue\":{\"values\":[]}}]}]]]]]}}");
    tv_out_release(&json);
}

/* The Collector writes a request a line; each has tables of its own.  Weights of a thread lie one
 * after another, and samples stand in this order. */
static void lines_are_requests(void **state)
{
    (void)state;
    assert_samples(&tv_reader_otlp, TV_BYTES(JSON JSON),
                   "cpu 7 all < load:30 < main:12\ncpu 1 w < main:12\n"
                   "cpu 1 w < main:12\ncpu 7 all < load:30 < main:12\n");
}

static void older_versions_are_refused(void **state)
{
    (void)state;
    struct tv_read_options options = {.parts = 1};
    struct tv_error err = {0};
    /* A profile whose third field is a list of locations. */
    struct tv_bytes old = TV_BYTES("\x0a\x11\x12\x0f\x12\x0d\x0a\x04\x08\x01\x10\x02\x12\x02\x10"
                                   "\x01\x1a\x01\x01");
    struct tv_builder *builder = tv_builder_new(tv_trace_info_new());
    struct tv_source *source = tv_source_from_memory(old, "test");
    assert_true(tv_reader_otlp.sniff(old, old.length) > 0);
    assert_int_equal(tv_reader_otlp.assemble(source, builder, &options, &err), TV_ERR_UNSUPPORTED);
    tv_builder_free(builder);
    tv_source_free(source);
}

/* pprof and Perfetto begin with the same byte; neither takes a file of the other. */
static void other_protobuf_is_told_apart(void **state)
{
    (void)state;
    struct tv_out request;
    make_request(&request, now, true);
    int sure = tv_reader_otlp.sniff(bytes_of(&request), request.length);
    assert_true(sure > tv_reader_pprof.sniff(bytes_of(&request), request.length));
    assert_true(sure > tv_reader_perfetto.sniff(bytes_of(&request), request.length));
    struct tv_bytes pprof = TV_BYTES("\x0a\x04\x08\x01\x10\x02\x12\x04\x0a\x02\x01\x02");
    struct tv_bytes packets = TV_BYTES("\x0a\x09\x0a\x07\x08\x00\x12\x03\x08\x01\x10"
                                       "\x0a\x08\x12\x06\x12\x04\x08\x01\x18\x01");
    assert_int_equal(tv_reader_otlp.sniff(pprof, pprof.length), 0);
    assert_int_equal(tv_reader_otlp.sniff(packets, packets.length), 0);
    tv_out_release(&request);
}

static void damage_is_survived(void **state)
{
    (void)state;
    struct tv_out request;
    make_request(&request, now, true);
    assert_damage_survived(&tv_reader_otlp, bytes_of(&request));
    assert_damage_survived(&tv_reader_otlp, TV_BYTES(JSON));
    tv_out_release(&request);
}

UNIT_TESTS(otlp, cmocka_unit_test(samples_have_times_or_values),
           cmocka_unit_test(fields_tell_the_version),
           cmocka_unit_test(attributes_and_link_are_arguments), cmocka_unit_test(json_is_the_same),
           cmocka_unit_test(lists_nest), cmocka_unit_test(lines_are_requests),
           cmocka_unit_test(older_versions_are_refused),
           cmocka_unit_test(other_protobuf_is_told_apart), cmocka_unit_test(damage_is_survived));
