/* SPDX-License-Identifier: Apache-2.0 */
/*
 * generate_profiles.c - writes a large profile for measurements.
 *
 *     generate-profiles OUTPUT BYTES jfr|pprof|perf-script|cpuprofile
 *
 * 6,000 functions make 40,000 stacks, 30 frames deep in the mean: each stack is an earlier one of
 * the last few hundred with a frame more, so that they share their beginnings as stacks of a
 * program do.  The stacks of samples are random ones of these; a chunk of a recording has 40,000 of
 * its own.  The same arguments give the same bytes on every machine.
 */
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/protobuf_out.h"
#include "random_text.h"

#define FUNCTIONS 6000u
#define LINES 4u /* of a function, that were sampled */
#define STACKS 40000u
#define NEAR 300u
#define MAX_DEPTH 56u
#define THREADS 40u
#define CHUNK_EVENTS 750000u
#define PERIOD_NS 10000000u

/* A stack: an earlier one, or none (number 0), and a line of a function on top. */
struct stack {
    uint32_t below, place; /* place: function * LINES + line */
    unsigned depth;
};

struct generator {
    struct random_text random; /* only for its numbers */
    FILE *file;
    uint64_t written, samples;
    struct tv_out out, message, part;
    struct stack stacks[STACKS + 1]; /* 0: the empty one */
};

static void make_stacks(struct generator *g)
{
    for (uint32_t i = 1; i <= STACKS; i++) {
        uint32_t near = i < NEAR ? i : NEAR, from = i - 1 - below(&g->random, near);
        if (g->stacks[from].depth == MAX_DEPTH)
            from = below(&g->random, near);
        g->stacks[i] =
            (struct stack){from, below(&g->random, FUNCTIONS * LINES), g->stacks[from].depth + 1};
    }
}

static uint32_t random_stack(struct generator *g)
{
    return 1 + below(&g->random, STACKS);
}

static struct tv_bytes bytes_of(const struct tv_out *out)
{
    return (struct tv_bytes){out->buffer, out->length};
}

/* Write what was collected. */
static void flush(struct generator *g)
{
    if (fwrite(g->out.buffer, 1, g->out.length, g->file) != g->out.length)
        fail("cannot write");
    g->written += g->out.length;
    g->out.length = 0;
}

static void put_class(struct tv_out *out, uint32_t function, char separator)
{
    tv_out_format(out, "com%cexample%cpart%u%cClass%u", separator, separator, function % 40,
                  separator, function % 600);
}

/* ---- Java Flight Recorder, chunks of version 2.1 ---- */

struct jfr_class {
    const char *name, *above;
    unsigned id;
    struct {
        const char *name;
        unsigned class;
        bool constant, array;
    } fields[4];
};

enum { LONG = 1, INT, BOOLEAN, STRING, THREAD, CLASS, SYMBOL, METHOD, FRAME, STACK };
enum { SAMPLE = 101, ALLOCATION };

static const struct jfr_class classes[] = {
    {"long", NULL, LONG, {{0}}},
    {"int", NULL, INT, {{0}}},
    {"boolean", NULL, BOOLEAN, {{0}}},
    {"java.lang.String", NULL, STRING, {{0}}},
    {"java.lang.Thread", NULL, THREAD, {{"javaName", STRING, 0, 0}, {"javaThreadId", LONG, 0, 0}}},
    {"java.lang.Class", NULL, CLASS, {{"name", SYMBOL, 1, 0}}},
    {"jdk.types.Symbol", NULL, SYMBOL, {{"string", STRING, 0, 0}}},
    {"jdk.types.Method",
     NULL,
     METHOD,
     {{"type", CLASS, 1, 0}, {"name", SYMBOL, 1, 0}, {"descriptor", SYMBOL, 1, 0}}},
    {"jdk.types.StackFrame", NULL, FRAME, {{"method", METHOD, 1, 0}, {"lineNumber", INT, 0, 0}}},
    {"jdk.types.StackTrace", NULL, STACK, {{"truncated", BOOLEAN, 0, 0}, {"frames", FRAME, 0, 1}}},
    {"jdk.ExecutionSample",
     "jdk.jfr.Event",
     SAMPLE,
     {{"startTime", LONG, 0, 0}, {"sampledThread", THREAD, 1, 0}, {"stackTrace", STACK, 1, 0}}},
    {"jdk.ObjectAllocationSample",
     "jdk.jfr.Event",
     ALLOCATION,
     {{"startTime", LONG, 0, 0},
      {"eventThread", THREAD, 1, 0},
      {"stackTrace", STACK, 1, 0},
      {"weight", LONG, 0, 0}}},
};

#define CLASSES (sizeof classes / sizeof *classes)

/* Strings of the metadata, by number; few, so that a walk finds them. */
struct words {
    char texts[64][40];
    unsigned count;
};

static void put_word(struct tv_out *out, struct words *words, const char *text)
{
    unsigned i = 0;
    while (i < words->count && strcmp(words->texts[i], text) != 0)
        i++;
    if (i == words->count)
        snprintf(words->texts[words->count++], sizeof words->texts[0], "%s", text);
    tv_protobuf_put_varint(out, i);
}

static void put_attribute(struct tv_out *out, struct words *words, const char *key,
                          const char *text)
{
    put_word(out, words, key);
    put_word(out, words, text);
}

static void put_number_attribute(struct tv_out *out, struct words *words, const char *key,
                                 unsigned value)
{
    char text[16];
    snprintf(text, sizeof text, "%u", value);
    put_attribute(out, words, key, text);
}

static void put_jfr_class(struct tv_out *out, struct words *words, const struct jfr_class *class)
{
    unsigned fields = 0;
    while (fields < 4 && class->fields[fields].name)
        fields++;
    put_word(out, words, "class");
    tv_protobuf_put_varint(out, class->above || class->id == SYMBOL ? 3 : 2);
    put_attribute(out, words, "name", class->name);
    put_number_attribute(out, words, "id", class->id);
    if (class->above)
        put_attribute(out, words, "superType", class->above);
    if (class->id == SYMBOL)
        put_attribute(out, words, "simpleType", "true"); /* stands for its only field */
    tv_protobuf_put_varint(out, fields);
    for (unsigned i = 0; i < fields; i++) {
        put_word(out, words, "field");
        tv_protobuf_put_varint(out, 2u + class->fields[i].constant + class->fields[i].array);
        put_attribute(out, words, "name", class->fields[i].name);
        put_number_attribute(out, words, "class", class->fields[i].class);
        if (class->fields[i].constant)
            put_attribute(out, words, "constantPool", "true");
        if (class->fields[i].array)
            put_attribute(out, words, "dimension", "1");
        tv_protobuf_put_varint(out, 0); /* no children */
    }
}

/* Encoding 3: UTF-8. */
static void put_jfr_text(struct tv_out *out, struct tv_bytes text)
{
    tv_out_char(out, 3);
    tv_protobuf_put_varint(out, text.length);
    tv_out_bytes(out, text);
}

/* Write an event whose size takes four bytes, as HotSpot does for large ones. */
static void put_large_event(struct generator *g, unsigned type)
{
    size_t size = 4 + 1 + g->message.length;
    for (unsigned i = 0; i < 4; i++)
        tv_out_char(&g->out, (char)((size >> 7 * i & 0x7f) | (i < 3 ? 0x80 : 0)));
    tv_protobuf_put_varint(&g->out, type);
    tv_out_bytes(&g->out, bytes_of(&g->message));
    g->message.length = 0;
}

static void put_jfr_metadata(struct generator *g)
{
    struct words words = {.count = 0};
    struct tv_out *tree = &g->part, *out = &g->message;
    put_word(tree, &words, "root");
    tv_protobuf_put_varint(tree, 0); /* attributes */
    tv_protobuf_put_varint(tree, 2); /* children */
    put_word(tree, &words, "metadata");
    tv_protobuf_put_varint(tree, 0);
    tv_protobuf_put_varint(tree, CLASSES);
    for (size_t i = 0; i < CLASSES; i++)
        put_jfr_class(tree, &words, &classes[i]);
    put_word(tree, &words, "region"); /* the JDK's reader asks for it */
    tv_protobuf_put_varint(tree, 0);
    tv_protobuf_put_varint(tree, 0);
    for (unsigned i = 0; i < 3; i++) /* start, duration, id */
        tv_protobuf_put_varint(out, i == 2);
    tv_protobuf_put_varint(out, words.count);
    for (unsigned i = 0; i < words.count; i++)
        put_jfr_text(out, tv_bytes_of(words.texts[i]));
    tv_out_bytes(out, bytes_of(tree));
    tree->length = 0;
    put_large_event(g, 0);
}

static void begin_pool(struct tv_out *out, unsigned type, uint32_t count)
{
    tv_protobuf_put_varint(out, type);
    tv_protobuf_put_varint(out, count);
}

/* Symbols are classes, methods and a descriptor; class i, method i and stack i have key i. */
static void put_jfr_constants(struct generator *g)
{
    struct tv_out *out = &g->message, *text = &g->part;
    for (unsigned i = 0; i < 3; i++) /* start, duration, delta */
        tv_protobuf_put_varint(out, 0);
    tv_out_char(out, 0);
    tv_protobuf_put_varint(out, 5); /* pools */
    begin_pool(out, SYMBOL, 2 * FUNCTIONS + 1);
    for (uint32_t i = 0; i <= 2 * FUNCTIONS; i++) {
        tv_protobuf_put_varint(out, i + 1);
        if (i < FUNCTIONS)
            put_class(text, i, '/');
        else if (i < 2 * FUNCTIONS)
            tv_out_format(text, "method%u", i - FUNCTIONS);
        else
            tv_out_text(text, "()V");
        put_jfr_text(out, bytes_of(text));
        text->length = 0;
    }
    begin_pool(out, CLASS, FUNCTIONS);
    for (uint32_t i = 1; i <= FUNCTIONS; i++) {
        tv_protobuf_put_varint(out, i);
        tv_protobuf_put_varint(out, i);
    }
    begin_pool(out, METHOD, FUNCTIONS);
    for (uint32_t i = 1; i <= FUNCTIONS; i++) {
        tv_protobuf_put_varint(out, i);
        tv_protobuf_put_varint(out, i);
        tv_protobuf_put_varint(out, FUNCTIONS + i);
        tv_protobuf_put_varint(out, 2 * FUNCTIONS + 1);
    }
    begin_pool(out, STACK, STACKS);
    for (uint32_t i = 1; i <= STACKS; i++) {
        tv_protobuf_put_varint(out, i);
        tv_out_char(out, 0);
        tv_protobuf_put_varint(out, g->stacks[i].depth);
        for (uint32_t at = i; at != 0; at = g->stacks[at].below) {
            tv_protobuf_put_varint(out, 1 + g->stacks[at].place / LINES);
            tv_protobuf_put_varint(out, 10 + g->stacks[at].place % LINES);
        }
    }
    begin_pool(out, THREAD, THREADS);
    for (uint32_t i = 1; i <= THREADS; i++) {
        tv_protobuf_put_varint(out, i);
        tv_out_format(text, "worker-%u", i);
        put_jfr_text(out, bytes_of(text));
        text->length = 0;
        tv_protobuf_put_varint(out, i);
    }
    put_large_event(g, 1);
}

static void put_jfr_event(struct generator *g, uint64_t ticks)
{
    struct tv_out *out = &g->message;
    bool allocation = below(&g->random, 4) == 0;
    tv_protobuf_put_varint(out, allocation ? ALLOCATION : SAMPLE);
    tv_protobuf_put_varint(out, ticks);
    tv_protobuf_put_varint(out, 1 + below(&g->random, THREADS));
    tv_protobuf_put_varint(out, random_stack(g));
    if (allocation)
        tv_protobuf_put_varint(out, 16 * (1 + below(&g->random, 4096)));
    tv_protobuf_put_varint(&g->out, 1 + out->length);
    tv_out_bytes(&g->out, bytes_of(out));
    out->length = 0;
    g->samples++;
}

static void put_big_endian(struct tv_out *out, uint64_t value, unsigned width)
{
    while (width-- > 0)
        tv_out_char(out, (char)(value >> 8 * width));
}

/* The header is written first and filled in at the end. */
static void put_jfr_chunk(struct generator *g, uint64_t most)
{
    uint64_t start = g->samples * 20000;
    make_stacks(g);
    for (unsigned i = 0; i < 68; i++)
        tv_out_char(&g->out, 0);
    put_jfr_metadata(g);
    for (unsigned i = 0; i < CHUNK_EVENTS && g->written + g->out.length < most; i++)
        put_jfr_event(g, start + (uint64_t)i * 20000);
    uint64_t constants = g->out.length;
    put_jfr_constants(g);
    struct tv_out *header = &g->part;
    tv_out_text(header, "FLR");
    tv_out_char(header, 0);
    put_big_endian(header, 2, 2);
    put_big_endian(header, 1, 2);
    const uint64_t fields[] = {g->out.length,
                               constants,
                               68,
                               UINT64_C(1700000000000000000) + start,
                               (uint64_t)CHUNK_EVENTS * 20000,
                               start,
                               1000000000};
    for (unsigned i = 0; i < 7; i++)
        put_big_endian(header, fields[i], 8);
    put_big_endian(header, 1, 4); /* the last chunk that is whole; integers of 7 bits */
    memcpy(g->out.buffer, header->buffer, 68);
    header->length = 0;
    flush(g);
}

static void generate_jfr(struct generator *g, uint64_t most)
{
    while (g->written < most)
        put_jfr_chunk(g, most);
}

/* ---- pprof ---- */

static void put_pprof_type(struct generator *g, unsigned name, unsigned unit)
{
    tv_protobuf_put_number(&g->message, 1, name);
    tv_protobuf_put_number(&g->message, 2, unit);
    tv_protobuf_put_message(&g->out, 1, &g->message);
}

/* Location i is place i - 1, function i is function i - 1. */
static void put_pprof_tables(struct generator *g)
{
    static const char *const words[] = {"", "samples", "count", "cpu", "nanoseconds"};
    for (uint32_t i = 0; i < FUNCTIONS * LINES; i++) {
        tv_protobuf_put_number(&g->part, 1, 1 + i / LINES);
        tv_protobuf_put_number(&g->part, 2, 10 + i % LINES);
        tv_protobuf_put_number(&g->message, 1, i + 1);
        tv_protobuf_put_message(&g->message, 4, &g->part);
        tv_protobuf_put_message(&g->out, 4, &g->message);
    }
    for (uint32_t i = 0; i < FUNCTIONS; i++) {
        tv_protobuf_put_number(&g->message, 1, i + 1);
        tv_protobuf_put_number(&g->message, 2, TV_COUNT(words) + i);
        tv_protobuf_put_message(&g->out, 5, &g->message);
    }
    for (unsigned i = 0; i < TV_COUNT(words); i++)
        tv_protobuf_put_bytes(&g->out, 6, tv_bytes_of(words[i]));
    for (uint32_t i = 0; i < FUNCTIONS; i++) {
        put_class(&g->part, i, '.');
        tv_out_format(&g->part, ".method%u", i);
        tv_protobuf_put_bytes(&g->out, 6, bytes_of(&g->part));
        g->part.length = 0;
    }
}

/* Each sample has its own locations, as `go tool pprof` and all others write them. */
static void generate_pprof(struct generator *g, uint64_t most)
{
    put_pprof_type(g, 1, 2);
    put_pprof_type(g, 3, 4);
    while (g->written + g->out.length < most) {
        for (uint32_t at = random_stack(g); at != 0; at = g->stacks[at].below)
            tv_protobuf_put_varint(&g->part, g->stacks[at].place + 1);
        tv_protobuf_put_message(&g->message, 1, &g->part);
        tv_protobuf_put_varint(&g->part, 1);
        tv_protobuf_put_varint(&g->part, PERIOD_NS);
        tv_protobuf_put_message(&g->message, 2, &g->part);
        tv_protobuf_put_message(&g->out, 2, &g->message);
        g->samples++;
        if (g->out.length > TEXT_BLOCK)
            flush(g);
    }
    put_pprof_tables(g);
}

/* ---- perf script ---- */

static void generate_perf_script(struct generator *g, uint64_t most)
{
    while (g->written + g->out.length < most) {
        unsigned thread = below(&g->random, THREADS);
        uint64_t time = 5000000000 + g->samples * 101;
        tv_out_format(&g->out, "worker-%u %u/%u [%03u] %" PRIu64 ".%06" PRIu64 ": %u cpu-clock:\n",
                      thread, 4000, 4001 + thread, thread % 8, time / 1000000, time % 1000000,
                      PERIOD_NS);
        for (uint32_t at = random_stack(g); at != 0; at = g->stacks[at].below) {
            uint32_t place = g->stacks[at].place;
            tv_out_format(&g->out, "\t%16x method%u+0x%x (/usr/lib/libpart%u.so)\n",
                          0x400000 + place * 16, place / LINES, place % LINES * 16,
                          place / LINES % 40);
        }
        tv_out_char(&g->out, '\n');
        g->samples++;
        if (g->out.length > TEXT_BLOCK)
            flush(g);
    }
}

/* ---- V8's CPU profile ---- */

/* Node 1 is the root, node i + 1 the top of stack i. */
static void generate_cpuprofile(struct generator *g, uint64_t most)
{
    tv_out_text(&g->out, "{\"nodes\":[{\"id\":1,\"callFrame\":{\"functionName\":\"(root)\","
                         "\"scriptId\":\"0\",\"url\":\"\",\"lineNumber\":-1,\"columnNumber\":-1}}");
    for (uint32_t i = 1; i <= STACKS; i++)
        tv_out_format(&g->out,
                      ",{\"id\":%u,\"parent\":%u,\"callFrame\":{\"functionName\":\"method%u\","
                      "\"scriptId\":\"%u\",\"url\":\"file:///app/part%u.js\",\"lineNumber\":%u,"
                      "\"columnNumber\":4}}",
                      i + 1, g->stacks[i].below + 1, g->stacks[i].place / LINES,
                      g->stacks[i].place / LINES % 40, g->stacks[i].place / LINES % 40,
                      g->stacks[i].place / LINES * 10);
    if (g->out.length >= most)
        fail("too few bytes for the nodes of a CPU profile");
    tv_out_text(&g->out, "],\"startTime\":1000000,\"samples\":[1");
    for (g->samples = 1; g->out.length + g->samples * 4 < most; g->samples++)
        tv_out_format(&g->out, ",%u", random_stack(g) + 1);
    tv_out_text(&g->out, "],\"timeDeltas\":[0");
    for (uint64_t i = 1; i < g->samples; i++)
        tv_out_format(&g->out, ",%u", 90 + below(&g->random, 100));
    tv_out_format(&g->out, "],\"endTime\":%" PRIu64 "}", 1000000 + g->samples * 190);
}

static const struct {
    const char *name;
    void (*generate)(struct generator *g, uint64_t most);
} styles[] = {
    {"jfr", generate_jfr},
    {"pprof", generate_pprof},
    {"perf-script", generate_perf_script},
    {"cpuprofile", generate_cpuprofile},
};

static size_t find_style(const char *name)
{
    size_t style = 0;
    while (style < TV_COUNT(styles) && strcmp(name, styles[style].name) != 0)
        style++;
    return style;
}

int main(int argc, char **argv)
{
    uint64_t most;
    if (argc != 4 || find_style(argv[3]) == TV_COUNT(styles) ||
        !tv_parse_u64(tv_bytes_of(argv[2]), &most)) {
        fprintf(stderr, "usage: generate-profiles OUTPUT BYTES jfr|pprof|perf-script|cpuprofile\n");
        return 2;
    }
    struct generator *g = calloc(1, sizeof *g);
    if (!g)
        fail("no memory");
    g->file = fopen(argv[1], "wb");
    if (!g->file)
        fail("cannot open the output");
    g->random.random = 13;
    tv_out_init_memory(&g->out);
    tv_out_init_memory(&g->message);
    tv_out_init_memory(&g->part);
    make_stacks(g);
    styles[find_style(argv[3])].generate(g, most);
    flush(g);
    if (fclose(g->file) != 0)
        fail("cannot write");
    printf("%" PRIu64 " bytes, %" PRIu64 " events\n", g->written, g->samples);
    tv_out_release(&g->out);
    tv_out_release(&g->message);
    tv_out_release(&g->part);
    free(g);
    return 0;
}
