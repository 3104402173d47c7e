/* SPDX-License-Identifier: Apache-2.0 */
/*
 * messages.h - the messages of OpenTelemetry profiles and spans, inside of this folder.
 *
 *     request (ExportProfilesServiceRequest, ProfilesData)
 *       |-- resource profiles: resource (attributes of a process, container, service)
 *       |     '-- scope profiles
 *       |           '-- profile: one value type, time
 *       |                 '-- sample: stack, attributes, link to a span, values, times
 *       '-- dictionary: mappings, locations, functions, links, strings, attributes, stacks
 *
 *     request (ExportTraceServiceRequest, TracesData)
 *       '-- resource spans: resource
 *             '-- scope spans
 *                   '-- span: name, ids, parent, begin, end, attributes
 *                         '-- events, links
 *
 * A file in protobuf is one request.  A file in JSON is one, or several with a line each; they are
 * made into protobuf in memory, so that one reader serves both.  So are spans of Jaeger and Zipkin.
 */
#ifndef TV_READERS_OTLP_MESSAGES_H
#define TV_READERS_OTLP_MESSAGES_H

#include "base/bytes.h"
#include "base/map.h"
#include "base/out.h"
#include "base/protobuf.h"
#include "readers/profile_input.h"

/* Fields. */
enum {
    OTLP_REQUEST_RESOURCE_PROFILES = 1,
    OTLP_REQUEST_DICTIONARY = 2,

    OTLP_RESOURCE_PROFILES_RESOURCE = 1,
    OTLP_RESOURCE_PROFILES_SCOPES = 2,
    OTLP_RESOURCE_ATTRIBUTE = 1,
    OTLP_SCOPE_PROFILES_SCOPE = 1,
    OTLP_SCOPE_PROFILES_PROFILE = 2,
    OTLP_SCOPE_NAME = 1,
    OTLP_SCOPE_VERSION = 2,

    /* Spans have the same messages around them as profiles. */
    OTLP_SPAN_TRACE_ID = 1,
    OTLP_SPAN_ID = 2,
    OTLP_SPAN_STATE = 3,
    OTLP_SPAN_PARENT = 4,
    OTLP_SPAN_NAME = 5,
    OTLP_SPAN_KIND = 6,
    OTLP_SPAN_START = 7,
    OTLP_SPAN_END = 8,
    OTLP_SPAN_ATTRIBUTES = 9,
    OTLP_SPAN_DROPPED_ATTRIBUTES = 10,
    OTLP_SPAN_EVENTS = 11,
    OTLP_SPAN_DROPPED_EVENTS = 12,
    OTLP_SPAN_LINKS = 13,
    OTLP_SPAN_DROPPED_LINKS = 14,
    OTLP_SPAN_STATUS = 15,
    OTLP_SPAN_FLAGS = 16,
    OTLP_EVENT_TIME = 1,
    OTLP_EVENT_NAME = 2,
    OTLP_EVENT_ATTRIBUTES = 3,
    OTLP_SPAN_LINK_STATE = 3, /* its ids are those of the links of profiles */
    OTLP_SPAN_LINK_ATTRIBUTES = 4,
    OTLP_STATUS_MESSAGE = 2,
    OTLP_STATUS_CODE = 3,
    OTLP_JSON_PLACE = 1001, /* not OpenTelemetry's: offset of a span or an event in a JSON file */
    OTLP_SPAN_SHARED =
        1002, /* not OpenTelemetry's: the side of a server with the id of its client */

    OTLP_PROFILE_SAMPLE_TYPE = 1,
    OTLP_PROFILE_SAMPLE = 2,
    OTLP_PROFILE_TIME = 3,
    OTLP_PROFILE_DURATION = 4,
    OTLP_PROFILE_PERIOD_TYPE = 5,
    OTLP_PROFILE_PERIOD = 6,
    OTLP_PROFILE_ATTRIBUTES = 11,

    OTLP_SAMPLE_STACK = 1,
    OTLP_SAMPLE_ATTRIBUTES = 2,
    OTLP_SAMPLE_LINK = 3,
    OTLP_SAMPLE_VALUES = 4,
    OTLP_SAMPLE_TIMES = 5,

    OTLP_DICTIONARY_MAPPING = 1,
    OTLP_DICTIONARY_LOCATION = 2,
    OTLP_DICTIONARY_FUNCTION = 3,
    OTLP_DICTIONARY_LINK = 4,
    OTLP_DICTIONARY_STRING = 5,
    OTLP_DICTIONARY_ATTRIBUTE = 6,
    OTLP_DICTIONARY_STACK = 7,

    OTLP_LINK_TRACE_ID = 1,
    OTLP_LINK_SPAN_ID = 2,
    OTLP_STACK_LOCATIONS = 1,
    OTLP_ATTRIBUTE_KEY = 1, /* a string of the table, or in resources the text itself */
    OTLP_ATTRIBUTE_VALUE = 2,
    OTLP_ATTRIBUTE_UNIT = 3,

    OTLP_VALUE_STRING = 1,
    OTLP_VALUE_BOOL = 2,
    OTLP_VALUE_INT = 3,
    OTLP_VALUE_DOUBLE = 4,
    OTLP_VALUE_ARRAY = 5,
    OTLP_VALUE_KEYS = 6,
    OTLP_VALUE_BYTES = 7,
    OTLP_VALUE_JSON = 1000, /* not OpenTelemetry's: a value of a file in JSON as it is there */
};

/* Bytes of the id of a trace; a span has 8. */
#define OTLP_LONGEST_ID 16

/* The fields of a sample whose numbers differ: opentelemetry-proto 1.8 had its values first. */
struct tv_otlp_sample_fields {
    uint32_t attributes, link, values;
};

/* Take the next field as tv_protobuf_next does, but not inline: for code that is not run for each
 * sample, so that the module of pages stays small. */
bool tv_otlp_next(struct tv_cursor *cursor, struct tv_protobuf_field *field);

/* Contents of a file. */
enum tv_otlp_content { TV_OTLP_PROFILES, TV_OTLP_SPANS, TV_OTLP_JAEGER, TV_OTLP_ZIPKIN };

/* The requests of a file. */
struct tv_otlp_file {
    struct tv_profile_text text; /* the file */
    struct tv_out made;          /* protobuf that was made of JSON */
    struct tv_bytes bytes;       /* of all requests: offsets of samples count in it */
    struct tv_bytes *requests;
    size_t count, capacity;
    enum tv_otlp_content content;
    bool json;
    uint64_t skipped, skipped_at; /* values of other signals, and the first of them */
    uint64_t damaged_at;          /* in the file: JSON ends here; TV_NO_OFFSET: nowhere */
};

/* Read a source.  After an error there is nothing to release. */
enum tv_status tv_otlp_file_read(struct tv_source *source, enum tv_otlp_content content,
                                 struct tv_otlp_file *file, struct tv_error *err) TV_MUST_CHECK;
void tv_otlp_file_release(struct tv_otlp_file *file);

/* Make protobuf of the requests in file->text. */
void tv_otlp_make_requests(struct tv_otlp_file *file);

/* Make protobuf of a span, or an event of one, in JSON.  False: the text is damaged, or ends before
 * the span does. */
bool tv_otlp_make_span(struct tv_bytes text, bool event, struct tv_out *out);

/* Do both for spans of Jaeger and Zipkin. */
void tv_otlp_make_foreign_requests(struct tv_otlp_file *file);
bool tv_otlp_make_foreign_span(enum tv_otlp_content content, struct tv_bytes text, bool event,
                               struct tv_out *out);

/* Return the fields of the samples of a request, by what is in them. */
struct tv_otlp_sample_fields tv_otlp_find_sample_fields(const struct tv_otlp_file *file,
                                                        struct tv_bytes request);

/* Levels of messages in a request. */
enum {
    OTLP_LEVEL_REQUEST,
    OTLP_LEVEL_RESOURCE,
    OTLP_LEVEL_SCOPE,
    OTLP_LEVEL_PROFILE,
    OTLP_LEVEL_SPAN = OTLP_LEVEL_PROFILE,
    OTLP_LEVEL_SAMPLE,
    OTLP_LEVELS,
};

/* A walk over the samples or spans of a request. */
struct tv_otlp_walk {
    struct tv_bytes messages[OTLP_LEVELS]; /* the current one, and the messages around it */
    const uint8_t *field;                  /* begin of the current one, with its key and length */
    struct tv_cursor cursors[OTLP_LEVEL_SAMPLE];
    unsigned level, innermost;
    const uint8_t *damage; /* first place where a message is not sound; NULL: none */
};

/* Begin a walk over the messages of a level in a request: OTLP_LEVEL_SAMPLE or OTLP_LEVEL_SPAN. */
void tv_otlp_walk_begin(struct tv_otlp_walk *walk, struct tv_bytes request, unsigned level);

/* Move to the next one; false: there is none. */
bool tv_otlp_walk_next(struct tv_otlp_walk *walk);

/* An attribute: key, value and unit. */
struct tv_otlp_attribute {
    uint64_t key, unit;    /* strings of the table; 0: none */
    struct tv_bytes name;  /* of resources: the key itself */
    struct tv_bytes value; /* a message */
};

/* Return the parts of an attribute. */
struct tv_otlp_attribute tv_otlp_parse_attribute(struct tv_bytes message);

/* Return what a value says as text or, when that is empty, as a number. */
struct tv_bytes tv_otlp_parse_value(struct tv_bytes message, uint64_t *number);

/* Write a value as JSON. */
void tv_otlp_write_value(struct tv_bytes message, struct tv_out *out);

/* The process and the library of the current message of a walk. */
struct tv_otlp_origin {
    struct tv_profile_input *profile;
    struct tv_map unnumbered;        /* name (string) of a process without an id -> a number */
    struct tv_map listed;            /* metadata: key << 32 | value */
    const uint8_t *resource, *scope; /* begins of their messages, which tell them apart */
    struct tv_bytes name, service;   /* of the process; empty: unknown */
    struct tv_bytes library;         /* name of the scope; may be empty */
    struct tv_interner *instances;
    uint32_t instance; /* number of it: tells apart processes with one id in two containers */
    uint64_t pid;
    bool has_pid; /* else `pid` is a number for the name */
};

void tv_otlp_origin_init(struct tv_otlp_origin *origin, struct tv_profile_input *profile);
void tv_otlp_origin_release(struct tv_otlp_origin *origin);

/* Read the resource and the scope around the current message, unless they are those before. */
void tv_otlp_origin_move(struct tv_otlp_origin *origin, const struct tv_otlp_walk *walk);

/* Count what is wrong with a whole file: its end is damaged, and it has other signals. */
void tv_otlp_file_warn(const struct tv_otlp_file *file, struct tv_profile_input *profile);

/* List a fact about the file as metadata, once. */
void tv_otlp_add_metadata(struct tv_otlp_origin *origin, struct tv_bytes key,
                          struct tv_bytes value);

/* Return how sure a file of profiles, or of spans, begins like this. */
int tv_otlp_sniff(struct tv_bytes prefix, bool spans);

/* Return how sure a file of Jaeger or Zipkin begins like this. */
int tv_otlp_sniff_foreign(enum tv_otlp_content content, struct tv_bytes prefix);

/* ---- Attributes of samples, spans and events as JSON ---- */

/* Write bytes as hexadecimal digits in quotes. */
void tv_otlp_write_hex(struct tv_out *out, struct tv_bytes bytes);

/* Read the attributes of the span or event at an offset again. */
enum tv_status tv_otlp_describe_span(const struct tv_trace *trace, uint32_t input, uint64_t offset,
                                     uint64_t end_offset, struct tv_out *out, struct tv_error *err);
enum tv_status tv_otlp_describe_jaeger(const struct tv_trace *trace, uint32_t input,
                                       uint64_t offset, uint64_t end_offset, struct tv_out *out,
                                       struct tv_error *err);
enum tv_status tv_otlp_describe_zipkin(const struct tv_trace *trace, uint32_t input,
                                       uint64_t offset, uint64_t end_offset, struct tv_out *out,
                                       struct tv_error *err);

/* Read the attributes of the sample at an offset again. */
enum tv_status tv_otlp_describe(const struct tv_trace *trace, uint32_t input, uint64_t offset,
                                uint64_t end_offset, struct tv_out *out, struct tv_error *err);

#endif
