/* SPDX-License-Identifier: Apache-2.0 */
/*
 * origin.c - the process and the library of samples and spans.
 *
 *     resource {process.pid: 77, service.name: "shop", host.arch: "arm64"}  --> process 77, "shop"
 *       scope {name: "otel-profiler", version: "1.2"}                       --> metadata
 *
 * All attributes of a resource are listed as metadata, once, for the requests of one program repeat
 * them.
 */
#include "readers/otlp/messages.h"

#include "base/protobuf.h"
#include "readers/pprof/sample_labels.h"

/* Maximum number of attributes of resources, and names of scopes, that metadata lists. */
#define LISTED_ATTRIBUTES 100

void tv_otlp_origin_init(struct tv_otlp_origin *origin, struct tv_profile_input *profile)
{
    *origin = (struct tv_otlp_origin){.profile = profile, .instances = tv_interner_new()};
    tv_map_init(&origin->unnumbered);
    tv_map_init(&origin->listed);
}

void tv_otlp_origin_release(struct tv_otlp_origin *origin)
{
    tv_map_release(&origin->unnumbered);
    tv_map_release(&origin->listed);
    tv_interner_free(origin->instances);
}

void tv_otlp_add_metadata(struct tv_otlp_origin *origin, struct tv_bytes key, struct tv_bytes value)
{
    if (value.length == 0 || origin->listed.count >= LISTED_ATTRIBUTES)
        return;
    uint64_t pair = (uint64_t)tv_profile_string(origin->profile, key) << 32 |
                    tv_profile_string(origin->profile, value);
    if (tv_map_find(&origin->listed, pair) != TV_NONE)
        return;
    tv_map_set(&origin->listed, pair, 0);
    tv_trace_info_add_metadata(origin->profile->info, origin->profile->input, key, value);
}

/* Add what tells apart two processes: containers have the process 1 each. */
static void origin_identify(struct tv_out *identity, struct tv_bytes key, struct tv_bytes value)
{
    static const char *const keys[] = {"service.namespace", "service.name", "service.instance.id",
                                       "process.pid",       "host.name",    "container.id",
                                       "k8s.pod.name",      "hostname"}; /* of Jaeger */
    for (size_t i = 0; i < TV_COUNT(keys); i++)
        if (tv_bytes_equal(key, tv_bytes_of(keys[i]))) {
            tv_out_format(identity, "%zu=", i);
            tv_out_bytes(identity, value); /* a message, which says where it ends */
        }
}

/* List an attribute of a resource, and look whether it names the process. */
static void origin_take_attribute(struct tv_otlp_origin *origin, struct tv_out *identity,
                                  struct tv_bytes message)
{
    struct tv_otlp_attribute attribute = tv_otlp_parse_attribute(message);
    origin_identify(identity, attribute.name, attribute.value);
    enum tv_label_role role = tv_label_find_role(attribute.name);
    uint64_t number;
    struct tv_out shown;
    struct tv_bytes text = tv_otlp_parse_value(attribute.value, &number);
    if (role == TV_LABEL_PROCESS_NAME ||
        (origin->name.length == 0 && tv_bytes_equal(attribute.name, TV_BYTES("service.name"))))
        origin->name = text;
    if (tv_bytes_equal(attribute.name, TV_BYTES("service.name")))
        origin->service = text;
    if (role == TV_LABEL_PROCESS_ID) {
        origin->has_pid = text.length == 0 || tv_parse_u64(text, &number);
        origin->pid = number;
    }
    if (text.length > 0) {
        tv_otlp_add_metadata(origin, attribute.name, text);
        return;
    }
    tv_out_init_memory(&shown);
    tv_otlp_write_value(attribute.value, &shown);
    tv_otlp_add_metadata(origin, attribute.name, (struct tv_bytes){shown.buffer, shown.length});
    tv_out_release(&shown);
}

/* Read the resource in a message of level OTLP_LEVEL_RESOURCE.  A process without an id is known
 * by its name, and has a number instead. */
static void origin_begin_resource(struct tv_otlp_origin *origin, struct tv_bytes message)
{
    struct tv_cursor cursor = tv_cursor_over(message);
    struct tv_protobuf_field field, attribute;
    struct tv_out identity;
    tv_out_init_memory(&identity);
    origin->resource = message.data;
    origin->name = origin->service = (struct tv_bytes){NULL, 0};
    origin->pid = 0;
    origin->has_pid = false;
    while (tv_otlp_next(&cursor, &field)) {
        if (field.number != OTLP_RESOURCE_PROFILES_RESOURCE || field.wire != TV_PROTOBUF_BYTES)
            continue;
        struct tv_cursor inside = tv_cursor_over(field.bytes);
        while (tv_otlp_next(&inside, &attribute))
            if (attribute.number == OTLP_RESOURCE_ATTRIBUTE)
                origin_take_attribute(origin, &identity, attribute.bytes);
    }
    origin->instance =
        tv_interner_add(origin->instances, (struct tv_bytes){identity.buffer, identity.length});
    tv_out_release(&identity);
    if (!origin->has_pid)
        origin->pid =
            tv_map_add(&origin->unnumbered, tv_profile_string(origin->profile, origin->name),
                       (uint32_t)origin->unnumbered.count);
}

/* Append a part of a scope's "name version". */
static void origin_take_scope_part(struct tv_otlp_origin *origin, struct tv_out *name,
                                   const struct tv_protobuf_field *part)
{
    if (part->number != OTLP_SCOPE_NAME && part->number != OTLP_SCOPE_VERSION)
        return;
    tv_out_text(name, name->length > 0 ? " " : "");
    tv_out_bytes(name, part->bytes);
    if (part->number == OTLP_SCOPE_NAME)
        origin->library = part->bytes;
}

/* A scope is the library that made the data: "name version" as metadata. */
static void origin_begin_scope(struct tv_otlp_origin *origin, struct tv_bytes message)
{
    struct tv_cursor cursor = tv_cursor_over(message);
    struct tv_protobuf_field field, part;
    struct tv_out name;
    tv_out_init_memory(&name);
    origin->scope = message.data;
    origin->library = (struct tv_bytes){NULL, 0};
    while (tv_otlp_next(&cursor, &field)) {
        if (field.number != OTLP_SCOPE_PROFILES_SCOPE)
            continue;
        struct tv_cursor inside = tv_cursor_over(field.bytes);
        while (tv_otlp_next(&inside, &part))
            origin_take_scope_part(origin, &name, &part);
    }
    tv_otlp_add_metadata(origin, TV_BYTES("scope"), (struct tv_bytes){name.buffer, name.length});
    tv_out_release(&name);
}

void tv_otlp_origin_move(struct tv_otlp_origin *origin, const struct tv_otlp_walk *walk)
{
    if (walk->messages[OTLP_LEVEL_RESOURCE].data != origin->resource)
        origin_begin_resource(origin, walk->messages[OTLP_LEVEL_RESOURCE]);
    if (walk->messages[OTLP_LEVEL_SCOPE].data != origin->scope)
        origin_begin_scope(origin, walk->messages[OTLP_LEVEL_SCOPE]);
}
