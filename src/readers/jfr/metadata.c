/* SPDX-License-Identifier: Apache-2.0 */
/*
 * metadata.c - the types that a chunk describes.
 *
 *     root > metadata > class (name, id)
 *                       |-- annotation (class, value-0 ...)      Label, Category
 *                       '-- field (name, class, constantPool, dimension)
 *                           '-- annotation (class, value)        Timestamp, Timespan ...
 *
 * It is a tree of elements, each with attributes and children, whose names and values are numbers
 * of one list of texts.  The depth is counted, not recursed.
 *
 *     event: start, duration, id | number of texts, texts
 *     element: name, number of attributes, (key, value)..., number of children, elements
 *
 * Classes refer to each other by id, in any order. So fields and annotations keep the id of their
 * class, and both are resolved when the whole tree was read. A field whose class is unknown has
 * the type TV_NONE: events of its type cannot be skipped over, and are diagnosed.
 *
 * Texts and names of types are views of the chunk or of its arena, and live as long as the chunk.
 */
#include <assert.h>
#include <string.h>

#include "readers/jfr/chunk.h"

#define MAX_NESTED 32

enum jfr_element {
    JFR_OTHER,
    JFR_CLASS,
    JFR_FIELD,
    JFR_ANNOTATION,
};

/* The attributes that matter, as texts; data NULL: absent. */
struct jfr_attributes {
    struct tv_bytes name, id, class, constant, dimension, value, last_value;
};

/* An annotation, whose class is known by name only at the end. */
struct jfr_annotation {
    uint64_t class_id;
    struct tv_bytes value, last_value;
    uint32_t field; /* TV_NONE: of the type */
    uint32_t type;
};

struct jfr_metadata {
    struct tv_jfr_chunk *chunk;
    struct tv_jfr_cursor cursor;
    struct tv_bytes *texts;
    uint64_t text_count;
    TV_TABLE(jfr_annotation) annotations;
};

static const struct {
    const char *name;
    enum tv_jfr_kind kind;
} primitives[] = {
    {"boolean", TV_JFR_BOOLEAN}, {"byte", TV_JFR_BYTE},     {"char", TV_JFR_CHAR},
    {"short", TV_JFR_SHORT},     {"int", TV_JFR_INT},       {"long", TV_JFR_LONG},
    {"float", TV_JFR_FLOAT},     {"double", TV_JFR_DOUBLE}, {"java.lang.String", TV_JFR_STRING},
};

/* ---- The tree ---- */

static bool jfr_metadata_take_text(struct jfr_metadata *metadata, struct tv_bytes *text)
{
    uint64_t number;
    if (!tv_jfr_take(&metadata->cursor, 4, &number) || number >= metadata->text_count)
        return false;
    *text = metadata->texts[number];
    return true;
}

static bool jfr_is(struct tv_bytes text, const char *word)
{
    return tv_bytes_equal(text, tv_bytes_of(word));
}

/* Keep an attribute that matters. Of "value-0", "value-1" (the levels of a category), the last one
 * is the most precise. */
static void jfr_attribute_set(struct jfr_attributes *attributes, struct tv_bytes key,
                              struct tv_bytes value)
{
    struct {
        const char *key;
        struct tv_bytes *value;
    } known[] = {
        {"name", &attributes->name},           {"id", &attributes->id},
        {"class", &attributes->class},         {"constantPool", &attributes->constant},
        {"dimension", &attributes->dimension}, {"value", &attributes->value},
    };
    for (size_t i = 0; i < TV_COUNT(known); i++)
        if (jfr_is(key, known[i].key))
            *known[i].value = value;
    if (tv_bytes_starts_with(key, TV_BYTES("value")))
        attributes->last_value = value;
}

/* Take the attributes of an element, as pairs of numbers of texts. */
static bool jfr_metadata_take_attributes(struct jfr_metadata *metadata,
                                         struct jfr_attributes *attributes)
{
    uint64_t count;
    struct tv_bytes key, value;
    *attributes = (struct jfr_attributes){.name = {NULL, 0}};
    if (!tv_jfr_take(&metadata->cursor, 4, &count))
        return false;
    for (uint64_t i = 0; i < count; i++) {
        if (!jfr_metadata_take_text(metadata, &key) || !jfr_metadata_take_text(metadata, &value))
            return false;
        jfr_attribute_set(attributes, key, value);
    }
    return true;
}

/* Parse an id; a negative one is the same 64 bits. */
static uint64_t jfr_parse_id(struct tv_bytes text)
{
    int64_t number;
    uint64_t id;
    if (tv_parse_u64(text, &id))
        return id;
    return tv_parse_i64(text, &number) ? (uint64_t)number : UINT64_MAX;
}

static uint8_t jfr_kind_of(struct tv_bytes name)
{
    for (size_t i = 0; i < TV_COUNT(primitives); i++)
        if (jfr_is(name, primitives[i].name))
            return (uint8_t)primitives[i].kind;
    return TV_JFR_STRUCT;
}

/* Add a type; its fields follow in `chunk->fields`, directly one after the other. */
static void jfr_metadata_add_type(struct tv_jfr_chunk *chunk,
                                  const struct jfr_attributes *attributes)
{
    struct tv_jfr_type *type = tv_table_add(&chunk->types);
    *type = (struct tv_jfr_type){
        .id = jfr_parse_id(attributes->id),
        .name = attributes->name,
        .first_field = (uint32_t)chunk->fields.count,
        .kind = jfr_kind_of(attributes->name),
    };
    tv_map_set(&chunk->type_ids, type->id, (uint32_t)chunk->types.count - 1);
    if (type->kind == TV_JFR_STRING)
        chunk->text_type = (uint32_t)chunk->types.count - 1;
}

static void jfr_metadata_add_field(struct tv_jfr_chunk *chunk,
                                   const struct jfr_attributes *attributes)
{
    struct tv_jfr_field *field = tv_table_add(&chunk->fields);
    *field = (struct tv_jfr_field){
        .name = attributes->name,
        .class_id = jfr_parse_id(attributes->class),
        .constant = jfr_is(attributes->constant, "true"),
        .array = attributes->dimension.length > 0 && !jfr_is(attributes->dimension, "0"),
    };
    chunk->types.rows[chunk->types.count - 1].field_count++;
}

/* Take over an element inside of another; return what it is. */
static enum jfr_element jfr_metadata_add_element(struct jfr_metadata *metadata,
                                                 enum jfr_element parent, struct tv_bytes name,
                                                 const struct jfr_attributes *attributes)
{
    struct tv_jfr_chunk *chunk = metadata->chunk;
    if (parent == JFR_OTHER && jfr_is(name, "class")) {
        jfr_metadata_add_type(chunk, attributes);
        return JFR_CLASS;
    }
    if (parent == JFR_CLASS && jfr_is(name, "field")) {
        jfr_metadata_add_field(chunk, attributes);
        return JFR_FIELD;
    }
    if ((parent == JFR_CLASS || parent == JFR_FIELD) && jfr_is(name, "annotation"))
        *tv_table_add(&metadata->annotations) = (struct jfr_annotation){
            .class_id = jfr_parse_id(attributes->class),
            .value = attributes->value,
            .last_value = attributes->last_value,
            .field = parent == JFR_FIELD ? (uint32_t)chunk->fields.count - 1 : TV_NONE,
            .type = (uint32_t)chunk->types.count - 1,
        };
    return JFR_ANNOTATION;
}

/* Children of an annotation, a setting or a region have no meaning: they become annotations. */
static bool jfr_metadata_read_tree(struct jfr_metadata *metadata)
{
    uint64_t children[MAX_NESTED + 1] = {1};
    enum jfr_element elements[MAX_NESTED + 1] = {JFR_OTHER};
    unsigned depth = 0;
    for (;;) {
        while (children[depth] == 0) {
            if (depth-- == 0)
                return true;
        }
        struct tv_bytes name;
        struct jfr_attributes attributes;
        children[depth]--;
        if (depth == MAX_NESTED || !jfr_metadata_take_text(metadata, &name) ||
            !jfr_metadata_take_attributes(metadata, &attributes) ||
            !tv_jfr_take(&metadata->cursor, 4, &children[depth + 1]))
            return false;
        bool above = jfr_is(name, "root") || jfr_is(name, "metadata");
        elements[depth + 1] =
            above ? JFR_OTHER
                  : jfr_metadata_add_element(metadata, elements[depth], name, &attributes);
        depth++;
    }
}

/* ---- The list of texts ---- */

/* Read the texts to which the metadata's elements refer by number. A text has at least one byte, so
 * a count above the bytes that are left is false and never becomes an allocation. */
static bool jfr_metadata_read_texts(struct jfr_metadata *metadata)
{
    struct tv_jfr_raw_text text;
    struct tv_jfr_chunk *chunk = metadata->chunk;
    if (!tv_jfr_take(&metadata->cursor, 4, &metadata->text_count) ||
        metadata->text_count > (uint64_t)(metadata->cursor.end - metadata->cursor.at))
        return false;
    metadata->texts = tv_alloc((size_t)metadata->text_count, sizeof *metadata->texts);
    for (uint64_t i = 0; i < metadata->text_count; i++) {
        if (!tv_jfr_take_text(&metadata->cursor, &text))
            return false;
        metadata->texts[i] = tv_jfr_text_decode(&text, chunk->fixed, &chunk->arena);
    }
    return true;
}

/* ---- Annotations ---- */

static const struct {
    const char *annotation, *value; /* value NULL: any */
    enum tv_jfr_unit unit;
} units[] = {
    {"jdk.jfr.Timespan", "TICKS", TV_JFR_TICKS},
    {"jdk.jfr.Timespan", "NANOSECONDS", TV_JFR_NANOSECONDS},
    {"jdk.jfr.Timespan", "MICROSECONDS", TV_JFR_MICROSECONDS},
    {"jdk.jfr.Timespan", "MILLISECONDS", TV_JFR_MILLISECONDS},
    {"jdk.jfr.Timespan", "SECONDS", TV_JFR_SECONDS},
    {"jdk.jfr.Timestamp", "TICKS", TV_JFR_TIME_TICKS},
    {"jdk.jfr.Timestamp", "MILLISECONDS_SINCE_EPOCH", TV_JFR_TIME_MILLISECONDS},
    {"jdk.jfr.DataAmount", "BITS", TV_JFR_BITS},
    {"jdk.jfr.DataAmount", NULL, TV_JFR_BYTES},
    {"jdk.jfr.Percentage", NULL, TV_JFR_PERCENTAGE},
    {"jdk.jfr.MemoryAddress", NULL, TV_JFR_ADDRESS},
};

/* Note the unit that an annotation gives a field. */
static void jfr_annotate_field(struct tv_jfr_field *field, struct tv_bytes annotation,
                               struct tv_bytes value)
{
    if (jfr_is(annotation, "jdk.jfr.Unsigned"))
        field->is_unsigned = true;
    for (size_t i = 0; i < TV_COUNT(units); i++)
        if (jfr_is(annotation, units[i].annotation) &&
            (!units[i].value || jfr_is(value, units[i].value))) {
            field->unit = (uint8_t)units[i].unit;
            return;
        }
}

/* Apply the annotations, which name their classes by id and so need all classes to be read. */
static void jfr_metadata_annotate(struct jfr_metadata *metadata)
{
    struct tv_jfr_chunk *chunk = metadata->chunk;
    for (size_t i = 0; i < metadata->annotations.count; i++) {
        const struct jfr_annotation *a = &metadata->annotations.rows[i];
        uint32_t class = tv_jfr_find_type(chunk, a->class_id);
        if (class == TV_NONE)
            continue;
        struct tv_bytes name = chunk->types.rows[class].name;
        if (a->field != TV_NONE)
            jfr_annotate_field(&chunk->fields.rows[a->field], name, a->value);
        else if (jfr_is(name, "jdk.jfr.Label"))
            chunk->types.rows[a->type].label = a->value;
        else if (jfr_is(name, "jdk.jfr.Category"))
            chunk->types.rows[a->type].category = a->last_value;
    }
}

static void jfr_metadata_link_fields(struct tv_jfr_chunk *chunk)
{
    for (size_t i = 0; i < chunk->fields.count; i++) {
        struct tv_jfr_field *field = &chunk->fields.rows[i];
        field->type = tv_jfr_find_type(chunk, field->class_id);
        if (field->type != TV_NONE)
            field->kind = chunk->types.rows[field->type].kind;
    }
}

uint32_t tv_jfr_find_type_by_end(const struct tv_jfr_chunk *chunk, struct tv_bytes end)
{
    for (uint32_t i = 0; i < chunk->types.count; i++)
        if (tv_bytes_ends_with(chunk->types.rows[i].name, end))
            return i;
    return TV_NONE;
}

bool tv_jfr_metadata_read(struct tv_jfr_chunk *chunk, uint64_t at)
{
    struct tv_jfr_event event;
    uint64_t unused;
    struct jfr_metadata metadata = {.chunk = chunk};
    assert(chunk->types.count == 0);
    if (!tv_jfr_event_at(chunk, at, &event) || event.type != TV_JFR_METADATA)
        return false;
    metadata.cursor = event.fields;
    bool read = tv_jfr_take(&metadata.cursor, 8, &unused) && /* start, duration, id */
                tv_jfr_take(&metadata.cursor, 8, &unused) &&
                tv_jfr_take(&metadata.cursor, 8, &unused) && jfr_metadata_read_texts(&metadata) &&
                jfr_metadata_read_tree(&metadata);
    jfr_metadata_link_fields(chunk);
    jfr_metadata_annotate(&metadata);
    tv_free(metadata.texts);
    tv_free(metadata.annotations.rows);
    return read && chunk->types.count > 0;
}
