/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mapping.c - mapping files of R8 and ProGuard. The file stays in memory as it is; classes and
 * methods are views of its text.
 *
 *     com.acme.Cart -> a.b:                        mapping_class: original, obfuscated
 *         1:4:void add(com.acme.Item):20:23 -> a   mapping_member: from 1, to 4, name "add",
 *                                                  arguments "com.acme.Item", obfuscated "a"
 *
 * The methods of a class are neighbours in one array, in file order. A class is found by its
 * obfuscated name, through a hash and a chain. The line numbers behind the arguments (20:23, of the
 * original file) are not kept, because a trace shows methods and not positions.
 *
 * The specification is "R8, Retrace and map file versioning" of the R8 project. A line that fits
 * neither a class nor a member ends the reading with an error: a file in another format must not
 * silently rename nothing.
 */
#include "symbols/mapping.h"

#include <assert.h>

#include "base/bytes.h"
#include "base/hash.h"
#include "base/map.h"
#include "base/memory.h"

struct mapping_class {
    struct tv_bytes original, obfuscated; /* with dots and package */
    struct tv_bytes file;                 /* of the source, from a comment; empty: not stated */
    uint32_t first, count;                /* its methods: index in `methods`, number */
    uint32_t next;                        /* the next class with the same hash, or TV_NONE */
};

struct mapping_member {
    struct tv_bytes obfuscated;
    struct tv_bytes owner; /* the original method's class if it is another one; else empty */
    struct tv_bytes name, result, arguments; /* as Java types: "int[]", "com.acme.Item,int" */
    struct tv_bytes residual;                /* descriptor in the obfuscated program, or empty */
    uint64_t from, to;                       /* lines in the obfuscated program; 0, 0: none */
};

struct tv_mapping {
    uint8_t *text; /* the whole file; owned */
    struct mapping_class *classes;
    struct mapping_member *methods;
    size_t class_count, class_capacity, method_count, method_capacity;
    struct tv_map by_name; /* hash of an obfuscated name -> the last class with it */
};

/* ---- Reading ---- */

/* Split a line at " -> ". */
static bool mapping_split_arrow(struct tv_bytes line, struct tv_bytes *left, struct tv_bytes *right)
{
    for (size_t i = 0; i + 4 <= line.length; i++) {
        if (memcmp(line.data + i, " -> ", 4) != 0)
            continue;
        *left = tv_bytes_trim((struct tv_bytes){line.data, i});
        *right = tv_bytes_trim((struct tv_bytes){line.data + i + 4, line.length - i - 4});
        return true;
    }
    return false;
}

/* Return the value of "key":"value" in a comment that holds JSON; empty when it has none. */
/* Not a parser of JSON: R8 writes each comment as one flat object on one line, and the values
 * that are wanted here contain no escapes. */
static struct tv_bytes mapping_find_json_value(struct tv_bytes line, struct tv_bytes key)
{
    for (size_t i = 0; i + key.length <= line.length; i++) {
        if (memcmp(line.data + i, key.data, key.length) != 0)
            continue;
        struct tv_bytes rest = {line.data + i + key.length, line.length - i - key.length}, value;
        rest = tv_bytes_trim(rest);
        if (rest.length == 0 || rest.data[0] != ':')
            continue;
        rest = tv_bytes_trim((struct tv_bytes){rest.data + 1, rest.length - 1});
        if (rest.length == 0 || rest.data[0] != '"')
            continue;
        rest = (struct tv_bytes){rest.data + 1, rest.length - 1};
        if (tv_bytes_split(&rest, '"', &value))
            return value;
    }
    return (struct tv_bytes){NULL, 0};
}

/* Apply a comment to the last class, or to its last method. Unknown ids are skipped, as the
 * specification demands, so that newer versions of R8 stay readable. */
static void mapping_parse_comment(struct tv_mapping *m, struct tv_bytes line)
{
    struct tv_bytes id = mapping_find_json_value(line, TV_BYTES("\"id\""));
    if (m->class_count == 0)
        return;
    struct mapping_class *owner = &m->classes[m->class_count - 1];
    if (tv_bytes_equal(id, TV_BYTES("sourceFile")))
        owner->file = mapping_find_json_value(line, TV_BYTES("\"fileName\""));
    else if (tv_bytes_equal(id, TV_BYTES("com.android.tools.r8.residualsignature")) &&
             owner->count > 0)
        m->methods[m->method_count - 1].residual =
            mapping_find_json_value(line, TV_BYTES("\"signature\""));
}

/* Parse "original -> obfuscated:". Classes with the same hash are chained, the last one first. */
static bool mapping_parse_class(struct tv_mapping *m, struct tv_bytes line)
{
    struct tv_bytes original, obfuscated;
    if (!mapping_split_arrow(line, &original, &obfuscated) || obfuscated.length < 2 ||
        obfuscated.data[obfuscated.length - 1] != ':')
        return false;
    obfuscated.length--;
    uint64_t hash = tv_hash_bytes(obfuscated);
    uint32_t previous = tv_map_find(&m->by_name, hash);
    m->classes =
        tv_array_reserve(m->classes, &m->class_capacity, m->class_count + 1, sizeof *m->classes);
    m->classes[m->class_count] = (struct mapping_class){
        .original = original,
        .obfuscated = obfuscated,
        .file = {NULL, 0},
        .first = (uint32_t)m->method_count,
        .next = previous,
    };
    tv_map_set(&m->by_name, hash, (uint32_t)m->class_count++);
    return true;
}

/* Take "12:" off the front of the text. */
static bool mapping_take_number(struct tv_bytes *text, uint64_t *number)
{
    struct tv_bytes rest = *text, head;
    if (!tv_bytes_split(&rest, ':', &head) || !tv_parse_u64(head, number))
        return false;
    *text = rest;
    return true;
}

/* Split "com.other.Class.name" at its last dot. */
static void mapping_split_owner(struct tv_bytes qualified, struct mapping_member *method)
{
    size_t dot = qualified.length;
    while (dot > 0 && qualified.data[dot - 1] != '.')
        dot--;
    method->name = (struct tv_bytes){qualified.data + dot, qualified.length - dot};
    method->owner = (struct tv_bytes){qualified.data, dot > 0 ? dot - 1 : 0};
}

/* Parse a member's line without its leading blanks. Fields, and methods that were inlined
 * elsewhere, get no entry. */
static bool mapping_parse_member(struct tv_mapping *m, struct tv_bytes line)
{
    struct mapping_member method = {.residual = {NULL, 0}};
    struct tv_bytes left, qualified;
    if (m->class_count == 0 || !mapping_split_arrow(line, &left, &method.obfuscated))
        return false;
    if (mapping_take_number(&left, &method.from) && !mapping_take_number(&left, &method.to))
        return false;
    if (!tv_bytes_split(&left, ' ', &method.result))
        return false;
    if (!tv_bytes_split(&left, '(', &qualified))
        return true; /* a field */
    if (!tv_bytes_split(&left, ')', &method.arguments))
        return false;
    mapping_split_owner(qualified, &method);

    struct mapping_class *owner = &m->classes[m->class_count - 1];
    /* Lines of one range list an inlined body first and its callers after it. The last of them is
     * the method that exists in the obfuscated program, which is the one that a trace names. */
    struct mapping_member *last = owner->count > 0 ? &m->methods[m->method_count - 1] : NULL;
    if (last && last->to > 0 && last->from == method.from && last->to == method.to &&
        tv_bytes_equal(last->obfuscated, method.obfuscated)) {
        *last = method; /* the previous method was inlined into this one */
        return true;
    }
    assert(owner->first + owner->count == m->method_count);
    if (m->method_count >= TV_NONE - 1)
        return false;
    m->methods =
        tv_array_reserve(m->methods, &m->method_capacity, m->method_count + 1, sizeof *m->methods);
    m->methods[m->method_count++] = method;
    owner->count++;
    return true;
}

/* Parse a line: members are indented below their class. */
static bool mapping_parse_line(struct tv_mapping *m, struct tv_bytes line)
{
    struct tv_bytes text = tv_bytes_trim(line);
    if (text.length == 0)
        return true;
    if (text.data[0] == '#') {
        mapping_parse_comment(m, text);
        return true;
    }
    bool indented = line.data[0] == ' ' || line.data[0] == '\t';
    return indented ? mapping_parse_member(m, text) : mapping_parse_class(m, text);
}

/* Parse all lines. The first one that is none of a mapping ends it, with its text in the message.
 */
static enum tv_status mapping_parse_lines(struct tv_mapping *m, struct tv_bytes text,
                                          struct tv_error *err)
{
    struct tv_cursor cursor = tv_cursor_over(text);
    struct tv_bytes line;
    size_t at = 0;
    while (tv_cursor_take_line(&cursor, &line)) {
        if (!mapping_parse_line(m, line))
            return tv_fail(err, TV_ERR_SYNTAX, at,
                           "expected a line of a mapping file (\"original -> obfuscated\"), found "
                           "'%.*s'",
                           (int)(line.length < 60 ? line.length : 60), (const char *)line.data);
        at = tv_cursor_position(&cursor);
    }
    if (m->class_count == 0)
        return tv_fail(err, TV_ERR_SYNTAX, 0, "expected a mapping file, found no class in it");
    return TV_OK;
}

/* Bytes at the beginning that are searched for what no text contains. */
#define MAPPING_PREFIX 4096

/* Refuse a source that is no text or too large, without waiting for its end: a device such as
 * /dev/zero has none. */
static enum tv_status mapping_check_source(struct tv_source *source, struct tv_error *err)
{
    uint8_t prefix[MAPPING_PREFIX];
    size_t got = 0;
    enum tv_status status = tv_source_read(source, 0, prefix, sizeof prefix, &got, err);
    if (status != TV_OK)
        return status;
    if (memchr(prefix, '\0', got))
        return tv_fail(err, TV_ERR_SYNTAX, TV_NO_OFFSET,
                       "expected a mapping file of R8 or ProGuard, found binary data");
    if (tv_source_reaches(source, TV_MAPPING_LIMIT + 1))
        return tv_fail(err, TV_ERR_LIMIT, TV_NO_OFFSET, "a mapping file has at most %llu bytes",
                       (unsigned long long)TV_MAPPING_LIMIT);
    return TV_OK;
}

enum tv_status tv_mapping_read(struct tv_source *source, struct tv_mapping **mapping,
                               struct tv_error *err)
{
    enum tv_status status = mapping_check_source(source, err);
    if (status != TV_OK)
        return tv_error_prefix(err, "%s", tv_source_name(source));
    uint64_t size = tv_source_size(source);
    struct tv_mapping *m = tv_alloc(1, sizeof *m);
    tv_map_init(&m->by_name);
    m->text = tv_alloc((size_t)size + 1, 1);
    size_t got = 0;
    status = tv_source_read(source, 0, m->text, (size_t)size, &got, err);
    if (status == TV_OK)
        status = mapping_parse_lines(m, (struct tv_bytes){m->text, got}, err);
    if (status != TV_OK) {
        tv_error_prefix(err, "%s", tv_source_name(source));
        tv_mapping_free(m);
        return status;
    }
    *mapping = m;
    return TV_OK;
}

void tv_mapping_free(struct tv_mapping *mapping)
{
    if (!mapping)
        return;
    tv_map_release(&mapping->by_name);
    tv_free(mapping->classes);
    tv_free(mapping->methods);
    tv_free(mapping->text);
    tv_free(mapping);
}

/* ---- Lookups ---- */

static const struct mapping_class *mapping_find_class(const struct tv_mapping *m,
                                                      struct tv_bytes obfuscated)
{
    uint32_t i = tv_map_find(&m->by_name, tv_hash_bytes(obfuscated));
    for (; i != TV_NONE; i = m->classes[i].next) {
        if (tv_bytes_equal(m->classes[i].obfuscated, obfuscated))
            return &m->classes[i];
    }
    return NULL;
}

/* A text that grows. */
struct mapping_text {
    char *bytes;
    size_t length, capacity;
};

static void mapping_text_append(struct mapping_text *text, struct tv_bytes bytes)
{
    assert(text->length <= text->capacity);
    text->bytes =
        tv_array_reserve(text->bytes, &text->capacity, text->length + bytes.length + 1, 1);
    if (bytes.length > 0)
        memcpy(text->bytes + text->length, bytes.data, bytes.length);
    text->length += bytes.length;
}

static void mapping_text_append_replacing(struct mapping_text *text, struct tv_bytes bytes,
                                          char from, char to)
{
    size_t start = text->length;
    mapping_text_append(text, bytes);
    for (size_t i = start; i < text->length; i++) {
        if (text->bytes[i] == from)
            text->bytes[i] = to;
    }
}

static struct tv_bytes mapping_text_finish(struct mapping_text *text, struct tv_arena *arena)
{
    struct tv_bytes kept = {(const uint8_t *)"", text->length};
    if (text->length > 0)
        kept.data = (const uint8_t *)tv_arena_text(
            arena, (struct tv_bytes){(const uint8_t *)text->bytes, text->length});
    tv_free(text->bytes);
    return kept;
}

/* Restore every class name in a descriptor. */
static struct tv_bytes mapping_map_descriptor(const struct tv_mapping *m,
                                              struct tv_bytes descriptor, struct tv_arena *arena)
{
    struct mapping_text result = {NULL, 0, 0};
    struct tv_bytes rest = descriptor, name;
    while (rest.length > 0) {
        struct tv_bytes one = {rest.data, 1};
        rest = (struct tv_bytes){rest.data + 1, rest.length - 1};
        mapping_text_append(&result, one);
        if (one.data[0] != 'L')
            continue;
        if (!tv_bytes_split(&rest, ';', &name)) {
            mapping_text_append(&result, name); /* not a descriptor after all */
            continue;
        }
        struct mapping_text dotted = {NULL, 0, 0};
        mapping_text_append_replacing(&dotted, name, '/', '.');
        const struct mapping_class *entry =
            mapping_find_class(m, (struct tv_bytes){(const uint8_t *)dotted.bytes, dotted.length});
        tv_free(dotted.bytes);
        mapping_text_append_replacing(&result, entry ? entry->original : name, '.', '/');
        mapping_text_append(&result, TV_BYTES(";"));
    }
    return mapping_text_finish(&result, arena);
}

static const struct {
    const char *java;
    char letter;
} primitives[] = {
    {"void", 'V'}, {"boolean", 'Z'}, {"byte", 'B'},  {"char", 'C'},   {"short", 'S'},
    {"int", 'I'},  {"long", 'J'},    {"float", 'F'}, {"double", 'D'},
};

/* Append a Java type as a descriptor: "int[]" as "[I", "java.lang.String" as
 * "Ljava/lang/String;". */
static void mapping_append_type(struct mapping_text *text, struct tv_bytes type)
{
    type = tv_bytes_trim(type);
    while (type.length > 2 && type.data[type.length - 2] == '[') {
        mapping_text_append(text, TV_BYTES("["));
        type.length -= 2;
    }
    for (size_t i = 0; i < TV_COUNT(primitives); i++) {
        if (!tv_bytes_equal(type, tv_bytes_of(primitives[i].java)))
            continue;
        mapping_text_append(text, (struct tv_bytes){(const uint8_t *)&primitives[i].letter, 1});
        return;
    }
    mapping_text_append(text, TV_BYTES("L"));
    mapping_text_append_replacing(text, type, '.', '/');
    mapping_text_append(text, TV_BYTES(";"));
}

/* Build the descriptor of an original method from its Java types. */
static struct tv_bytes mapping_build_descriptor(const struct mapping_member *method,
                                                struct tv_arena *arena)
{
    struct mapping_text text = {NULL, 0, 0};
    struct tv_bytes rest = method->arguments, type;
    mapping_text_append(&text, TV_BYTES("("));
    while (tv_bytes_trim(rest).length > 0) {
        tv_bytes_split(&rest, ',', &type);
        mapping_append_type(&text, type);
    }
    mapping_text_append(&text, TV_BYTES(")"));
    mapping_append_type(&text, method->result);
    return mapping_text_finish(&text, arena);
}

/* Rate how well a method matches the method of the trace: more is better, 0 is no match. */
/* The descriptor counts more than the line, since lines of a trace may be of another build. */
static unsigned mapping_rate_method(const struct mapping_member *entry,
                                    const struct tv_mapped_method *asked, struct tv_bytes mapped,
                                    struct tv_bytes described)
{
    if (!tv_bytes_equal(entry->obfuscated, asked->name))
        return 0;
    unsigned points = 1;
    if (asked->signature.length > 0 && entry->residual.length > 0 &&
        tv_bytes_equal(entry->residual, asked->signature))
        points += 4;
    else if (asked->signature.length > 0 && entry->residual.length == 0 &&
             tv_bytes_equal(described, mapped))
        points += 4;
    if (asked->line > 0 && entry->to > 0 && (uint64_t)asked->line >= entry->from &&
        (uint64_t)asked->line <= entry->to)
        points += 2;
    return points;
}

/* Return the original class. R8 merges classes, so a method may come from another one than the
 * class that it stands in; its name is then qualified. */
static struct tv_bytes mapping_owner_of(const struct mapping_class *class,
                                        const struct mapping_member *method)
{
    return method->owner.length > 0 ? method->owner : class->original;
}

/* Add a matching method: the first with its class, others by their names alone. */
static void mapping_add_candidate(const struct mapping_class *class,
                                  const struct mapping_member *method, struct mapping_text *names,
                                  struct tv_mapped_method *original)
{
    if (names->length == 0) {
        mapping_text_append(names, method->name);
        original->class_name = mapping_owner_of(class, method);
        return;
    }
    /* Overloads that share a name are one name; only different names are joined by '|'. */
    struct tv_bytes rest = {(const uint8_t *)names->bytes, names->length}, name;
    while (rest.length > 0) {
        tv_bytes_split(&rest, '|', &name);
        if (tv_bytes_equal(name, method->name))
            return;
    }
    mapping_text_append(names, TV_BYTES("|"));
    mapping_text_append(names, method->name);
}

/* Find the best matching methods of a class. Ties between overloads keep the names, and give up
 * on the signature. */
static void mapping_find_method(const struct tv_mapping *m, const struct mapping_class *class,
                                const struct tv_mapped_method *asked, struct tv_arena *arena,
                                struct tv_mapped_method *original)
{
    struct mapping_text names = {NULL, 0, 0};
    struct tv_bytes mapped = original->signature;
    unsigned best = 0;
    assert(class->first + class->count <= m->method_count);
    for (uint32_t i = 0; i < class->count; i++) {
        const struct mapping_member *method = &m->methods[class->first + i];
        if (!tv_bytes_equal(method->obfuscated, asked->name))
            continue;
        struct tv_bytes described = mapping_build_descriptor(method, arena);
        unsigned points = mapping_rate_method(method, asked, mapped, described);
        if (points < best)
            continue;
        if (points > best) {
            names.length = 0;
            best = points;
            original->signature = asked->signature.length > 0 ? described : asked->signature;
        } else if (!tv_bytes_equal(original->signature, described)) {
            original->signature = mapped; /* several overloads match, so that only the classes
                                           * are certain */
        }
        mapping_add_candidate(class, method, &names, original);
    }
    if (names.length > 0)
        original->name = mapping_text_finish(&names, arena);
    else
        tv_free(names.bytes);
}

bool tv_mapping_find(const struct tv_mapping *mapping, const struct tv_mapped_method *method,
                     struct tv_arena *arena, struct tv_mapped_method *original)
{
    *original = *method;
    original->signature = mapping_map_descriptor(mapping, method->signature, arena);
    const struct mapping_class *class = mapping_find_class(mapping, method->class_name);
    if (class) {
        original->class_name = class->original;
        if (class->file.length > 0)
            original->file = class->file;
        mapping_find_method(mapping, class, method, arena, original);
    }
    return !tv_bytes_equal(original->class_name, method->class_name) ||
           !tv_bytes_equal(original->name, method->name) ||
           !tv_bytes_equal(original->signature, method->signature) ||
           !tv_bytes_equal(original->file, method->file);
}
