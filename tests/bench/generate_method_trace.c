/* SPDX-License-Identifier: Apache-2.0 */
/*
 * generate_method_trace.c - writes a large Android method trace for measurements.
 *
 * What its shape is, and why: 5000 methods and 20 threads, as apps have them; a depth that keeps
 * coming back to 14 and never passes 60; a call graph in which nearly all calls of a method go to
 * the same callee, as loops do, so that the number of distinct call paths grows slower than the
 * number of calls (61 thousand in a million records, 370 thousand in ten, 1.6 million in seventy);
 * turns of about 200 records a thread; one exit in a thousand by exception; the first exits of
 * three threads without an entry; calls open at the end.  The same arguments give the same bytes on
 * every machine, and the header's facts are those of the records.
 */
#include "packets.h"

#include "base/bytes.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_THREADS 200u /* one-byte ids hold them */
#define MAX_METHODS 16000u
#define MAX_DEPTH 60u
#define CALLEES 12u
#define ROOTS 3u /* methods that a thread's stack may start with */
#define UNMATCHED_EXITS 3u
#define FIRST_TID 17816u /* main's, and the process's id */
#define START_US 1243000567890u
#define STOP_COST_US 731u /* from the last record to the written key */
#define BLOCK_SIZE (1u << 20)
#define RECORD_ROOM 512u /* a record with the packets that may stand before it */

struct options {
    const char *output;
    uint64_t records;
    uint64_t seed;
    uint32_t threads;
    uint32_t methods;
    uint16_t version;
};

struct thread {
    uint32_t depth;
    uint64_t cpu_ns;
    bool unmatched; /* still owes an exit without an entry */
    bool announced; /* a streaming file has named it */
    uint16_t stack[MAX_DEPTH];
};

struct generator {
    struct options options;
    uint16_t plain_version;
    uint64_t random;      /* decides what is called */
    uint64_t time_random; /* decides how long it takes: apart, so that the end is known before */
    uint64_t wall_ns;
    struct thread threads[MAX_THREADS];
    uint16_t callees[MAX_METHODS][CALLEES];
    bool announced[MAX_METHODS];
    FILE *file;
    struct packets packets; /* of format V2 */
    uint8_t block[BLOCK_SIZE + RECORD_ROOM];
    size_t used;
};

static _Noreturn void fail(const char *what)
{
    fprintf(stderr, "generate-method-trace: %s\n", what);
    exit(1);
}

/* splitmix64 (Steele, Lea, Flood 2014). */
static inline uint64_t next_random(uint64_t *state)
{
    uint64_t mixed = *state += 0x9E3779B97F4A7C15u;

    mixed = (mixed ^ mixed >> 30) * 0xBF58476D1CE4E5B9u;
    mixed = (mixed ^ mixed >> 27) * 0x94D049BB133111EBu;
    return mixed ^ mixed >> 31;
}

/* Nanoseconds to the next record: about one microsecond, one time in 64 up to 33. */
static inline uint64_t next_step(uint64_t *state)
{
    uint64_t bits = next_random(state);
    uint64_t step = bits & 2047;

    if (!(bits >> 11 & 63))
        step += bits >> 17 & 32767;
    return step;
}

static uint64_t sum_of_steps(struct generator *generator)
{
    uint64_t state = generator->time_random;
    uint64_t sum = 0;

    for (uint64_t i = 0; i < generator->options.records; i++)
        sum += next_step(&state);
    return sum;
}

/*
 * Half of a method's callees lie anywhere, popular methods more likely, the other half nearby: what
 * a class calls most is itself.
 */
static void make_call_graph(struct generator *generator)
{
    uint32_t methods = generator->options.methods;

    for (uint32_t caller = 0; caller < methods; caller++) {
        for (uint32_t i = 0; i < CALLEES; i++) {
            uint64_t bits = next_random(&generator->random);
            uint64_t share = bits >> 48;
            uint64_t chosen = bits & 1 ? (share * share >> 16) * methods >> 16
                                       : (caller + 1 + (bits >> 1) % 40) % methods;

            generator->callees[caller][i] = (uint16_t)chosen;
        }
    }
}

static const char *const packages[] = {
    "android.view",
    "android.widget",
    "android.os",
    "android.graphics",
    "java.util",
    "java.lang",
    "java.util.concurrent",
    "androidx.recyclerview.widget",
    "androidx.compose.ui.node",
    "androidx.lifecycle",
    "com.squareup.moshi",
    "okhttp3.internal.http2",
    "kotlinx.coroutines",
    "com.acme.shop.home",
    "com.acme.shop.data",
    "io.reactivex.internal.operators.observable",
};
static const char *const classes[] = {
    "ViewGroup",
    "TextView",
    "LayoutManager",
    "Handler",
    "MessageQueue",
    "HashMap$Node",
    "LayoutNode",
    "LifecycleRegistry",
    "StringBuilder",
    "BinderProxy",
    "ThreadPoolExecutor$Worker",
    "JsonReader",
    "Http2Stream",
    "CancellableContinuationImpl",
    "EngineJob",
    "Canvas",
    "ProductAdapter",
    "ObservableMap$MapObserver",
    "Choreographer$FrameDisplayEventReceiver",
};
static const char *const names[] = {
    "onMeasure",
    "onLayout",
    "dispatchDraw",
    "measure",
    "get",
    "put",
    "hash",
    "resize",
    "next",
    "enqueueMessage",
    "dispatchMessage",
    "run",
    "append",
    "writeInt",
    "transact",
    "readUtf8",
    "resumeWith",
    "decode",
    "<init>",
    "<clinit>",
    "invalidate",
    "setText",
    "access$000",
};
static const char *const signatures[] = {
    "()V",
    "(II)V",
    "()I",
    "(Z)Z",
    "(Ljava/lang/Object;)Ljava/lang/Object;",
    "(Landroid/graphics/Canvas;)V",
    "(Landroid/os/Message;J)Z",
    "([BII)I",
    "(Landroid/view/View;IIII)V",
    "(Ljava/lang/String;)Ljava/lang/Class;",
};
#define PICK(list, number) ((list)[(number) % (sizeof(list) / sizeof *(list))])

/* Fills `text` with the method's line; returns its length.  50 methods make a class. */
static size_t write_method_line(char *text, size_t size, uint32_t method)
{
    uint32_t number = method / 50;
    const char *name = PICK(classes, number * 7);
    int outer = (int)strcspn(name, "$");
    int length =
        snprintf(text, size, "%#" PRIx32 "\t%s.%s%" PRIu32 "\t%s%" PRIu32 "\t%s\t%.*s.java\n",
                 method << 2, PICK(packages, number), name, number, PICK(names, method),
                 method % 50 / 23, PICK(signatures, method * 3), outer, name);

    if (length < 0 || (size_t)length >= size)
        fail("a method line is too long");
    return (size_t)length;
}

static size_t write_thread_name(char *text, size_t size, uint32_t thread)
{
    int length;

    if (thread == 0)
        length = snprintf(text, size, "main");
    else if (thread < 4)
        length = snprintf(text, size, "Binder:%u_%" PRIu32, FIRST_TID, thread);
    else if (thread % 3 == 0)
        length = snprintf(text, size, "OkHttp Dispatcher %" PRIu32, thread);
    else
        length = snprintf(text, size, "DefaultDispatcher-worker-%" PRIu32, thread);
    return (size_t)length;
}

static uint16_t thread_id(const struct generator *generator, uint32_t thread)
{
    return (uint16_t)(generator->plain_version == TV_MT_V1 ? thread + 1 : FIRST_TID + thread * 3);
}

static bool is_packets(const struct generator *generator)
{
    return generator->options.version == TV_MT_PACKETS_2;
}

static bool is_streaming(const struct generator *generator)
{
    return tv_mt_is_streaming(generator->options.version);
}

static void print_keys(const struct generator *generator, FILE *file, uint64_t end_ns)
{
    static const char *const clocks[] = {TV_MT_CLOCK_THREAD_CPU, TV_MT_CLOCK_WALL,
                                         TV_MT_CLOCK_DUAL};

    fprintf(file, TV_MT_SECTION_VERSION "\n%u\n" TV_MT_KEY_OVERFLOW "=false\n",
            (unsigned int)generator->plain_version);
    fprintf(file, TV_MT_KEY_CLOCK "=%s\n", clocks[generator->plain_version - 1]);
    fprintf(file, TV_MT_KEY_ELAPSED_US "=%" PRIu64 "\n", end_ns / 1000 + STOP_COST_US);
    if (!is_streaming(generator))
        fprintf(file, TV_MT_KEY_RECORDS "=%" PRIu64 "\n", generator->options.records);
    fprintf(file, TV_MT_KEY_OVERHEAD_NS "=215\n" TV_MT_KEY_VM "=art\n" TV_MT_KEY_PID "=%u\n",
            FIRST_TID);
    fprintf(file, TV_MT_SECTION_THREADS "\n");
    for (uint32_t i = 0; i < generator->options.threads; i++) {
        char name[64];

        write_thread_name(name, sizeof name, i);
        fprintf(file, "%u\t%s\n", (unsigned int)thread_id(generator, i), name);
    }
    fprintf(file, TV_MT_SECTION_METHODS "\n");
}

static void print_text_header(struct generator *generator, uint64_t end_ns)
{
    char line[RECORD_ROOM];

    print_keys(generator, generator->file, end_ns);
    for (uint32_t i = 0; i < generator->options.methods; i++)
        fwrite(line, 1, write_method_line(line, sizeof line, i), generator->file);
    fputs(TV_MT_SECTION_END "\n", generator->file);
}

static void print_summary(struct generator *generator, uint64_t end_ns)
{
    char text[MAX_THREADS * 64];
    uint8_t head[TV_MT_STREAM_SUMMARY_HEAD] = {0, 0, TV_MT_STREAM_SUMMARY};
    FILE *memory = fmemopen(text, sizeof text, "w");
    long length;

    if (!memory)
        fail("out of memory");
    print_keys(generator, memory, end_ns);
    fputs(TV_MT_SECTION_END "\n", memory);
    length = ftell(memory);
    fclose(memory);
    tv_le_put_u32(head + 3, (uint32_t)length);
    fwrite(head, 1, sizeof head, generator->file);
    fwrite(text, 1, (size_t)length, generator->file);
}

/* What stands before the records of format V2. */
static void print_packets(struct generator *generator)
{
    char text[RECORD_ROOM];

    packets_header(&generator->packets, START_US * 1000);
    for (uint32_t i = 0; i < generator->options.methods; i++) {
        write_method_line(text, sizeof text, i);
        packets_method(&generator->packets, i, strchr(text, '\t') + 1);
    }
    for (uint32_t i = 0; i < generator->options.threads; i++) {
        write_thread_name(text, sizeof text, i);
        packets_thread(&generator->packets, thread_id(generator, i), text);
    }
}

static void end_packets(struct generator *generator, uint64_t end_ns)
{
    char text[RECORD_ROOM];

    snprintf(text, sizeof text,
             TV_MT_SECTION_VERSION "\n5\n" TV_MT_KEY_CLOCK "=" TV_MT_CLOCK_DUAL
                                   "\n" TV_MT_KEY_ELAPSED_NS "=%" PRIu64 "\n" TV_MT_KEY_RECORDS
                                   "=%" PRIu64 "\n" TV_MT_KEY_OVERHEAD_NS "=215\n" TV_MT_KEY_VM
                                   "=art\n" TV_MT_KEY_PID "=%u\n" TV_MT_SECTION_END "\n",
             end_ns + STOP_COST_US * 1000u, generator->options.records, FIRST_TID);
    packets_end(&generator->packets, text);
}

static void print_data_header(struct generator *generator)
{
    uint16_t version = generator->options.version;
    uint8_t bytes[TV_MT_HEADER_SIZE];
    struct tv_mt_header header = {
        .version = version,
        .data_offset = TV_MT_HEADER_SIZE,
        .record_size = version >= TV_MT_V3 ? tv_mt_record_size(generator->plain_version) : 0,
        .start = START_US,
    };

    tv_mt_put_header(bytes, &header);
    fwrite(bytes, 1, sizeof bytes, generator->file);
}

static void announce_method(struct generator *generator, uint32_t method)
{
    uint8_t *at = generator->block + generator->used;
    size_t length =
        write_method_line((char *)at + TV_MT_STREAM_METHOD_HEAD, RECORD_ROOM / 2, method);

    tv_le_put_u16(at, TV_MT_STREAM_ESCAPE);
    at[2] = TV_MT_STREAM_METHOD;
    tv_le_put_u16(at + 3, (uint16_t)length);
    generator->used += TV_MT_STREAM_METHOD_HEAD + length;
    generator->announced[method] = true;
}

static void announce_thread(struct generator *generator, uint32_t thread)
{
    uint8_t *at = generator->block + generator->used;
    size_t length = write_thread_name((char *)at + TV_MT_STREAM_THREAD_HEAD, 64, thread);

    tv_le_put_u16(at, TV_MT_STREAM_ESCAPE);
    at[2] = TV_MT_STREAM_THREAD;
    tv_le_put_u16(at + 3, thread_id(generator, thread));
    tv_le_put_u16(at + 5, (uint16_t)length);
    generator->used += TV_MT_STREAM_THREAD_HEAD + length;
    generator->threads[thread].announced = true;
}

static void flush(struct generator *generator)
{
    fwrite(generator->block, 1, generator->used, generator->file);
    generator->used = 0;
}

static inline void add_record(struct generator *generator, uint32_t thread, uint32_t method,
                              enum tv_mt_action action)
{
    uint32_t word = tv_mt_word(method << 2, action);
    uint32_t cpu = (uint32_t)(generator->threads[thread].cpu_ns / 1000);
    uint32_t wall = (uint32_t)(generator->wall_ns / 1000);
    uint16_t tid = thread_id(generator, thread);
    uint8_t *at;

    if (is_packets(generator)) {
        packets_add(&generator->packets,
                    &(struct packets_record){tid, method, action, generator->wall_ns,
                                             generator->threads[thread].cpu_ns});
        return;
    }
    if (is_streaming(generator)) {
        if (!generator->announced[method])
            announce_method(generator, method);
        if (!generator->threads[thread].announced)
            announce_thread(generator, thread);
    }
    at = generator->block + generator->used;
    if (generator->plain_version == TV_MT_V3)
        at = tv_mt_put_record_v3(at, tid, word, cpu, wall);
    else if (generator->plain_version == TV_MT_V2)
        at = tv_mt_put_record_v2(at, tid, word, wall);
    else
        at = tv_mt_put_record_v1(at, (uint8_t)tid, word, cpu);
    generator->used = (size_t)(at - generator->block);
    if (generator->used >= BLOCK_SIZE)
        flush(generator);
}

/* Of 16384 calls about one goes anywhere; of the others 93% to the first callee. */
static inline uint32_t choose_callee(const struct generator *generator, uint32_t thread,
                                     uint64_t bits)
{
    const struct thread *state = &generator->threads[thread];
    uint32_t share = bits >> 24 & 1023;
    const uint16_t *callees;

    if (!state->depth)
        return (uint32_t)((thread * ROOTS + (bits >> 34) % ROOTS) % generator->options.methods);
    if (!(bits >> 10 & 16383))
        return (uint32_t)((bits >> 34) % generator->options.methods);
    callees = generator->callees[state->stack[state->depth - 1]];
    if (share < 952)
        return callees[0];
    if (share < 1008)
        return callees[1];
    if (share < 1018)
        return callees[2];
    if (share < 1022)
        return callees[3];
    return callees[(bits >> 34) % CALLEES];
}

static inline void make_record(struct generator *generator, uint32_t thread)
{
    struct thread *state = &generator->threads[thread];
    uint64_t bits = next_random(&generator->random);
    /* 512 of 1024 at depth 14, 596 at the bottom, 236 at the cap: the depth comes back. */
    bool down = (int64_t)(bits & 1023) < 512 + (14 - (int64_t)state->depth) * 6;
    uint32_t method;

    if (state->unmatched) {
        state->unmatched = false;
        add_record(generator, thread, (uint32_t)((bits >> 34) % generator->options.methods),
                   TV_MT_EXIT);
    } else if (!state->depth || (down && state->depth < MAX_DEPTH)) {
        method = choose_callee(generator, thread, bits);
        state->stack[state->depth++] = (uint16_t)method;
        add_record(generator, thread, method, TV_MT_ENTER);
    } else {
        method = state->stack[--state->depth];
        add_record(generator, thread, method, bits >> 10 & 1023 ? TV_MT_EXIT : TV_MT_UNROLL);
    }
}

/* Main gets three turns of eight, the others share the rest. */
static uint32_t choose_thread(struct generator *generator, uint64_t bits)
{
    return (bits & 7) < 3 ? 0 : (uint32_t)((bits >> 3 & 0xffff) % generator->options.threads);
}

static void make_records(struct generator *generator)
{
    uint64_t left = 0;
    uint32_t thread = 0;

    for (uint64_t i = 0; i < generator->options.records; i++) {
        uint64_t step = next_step(&generator->time_random);

        if (!left--) {
            uint64_t bits = next_random(&generator->random);

            thread = choose_thread(generator, bits);
            left = (bits >> 20) % 400;
        }
        generator->wall_ns += step;
        /* A long step is a wait: most of it needs no CPU. */
        generator->threads[thread].cpu_ns += step < 2048 ? step : step / 8;
        make_record(generator, thread);
    }
    flush(generator);
}

static _Noreturn void print_usage(void)
{
    fputs("usage: generate-method-trace OUT RECORDS [--seed N] [--threads N] [--methods N] "
          "[--version 1|2|3|f3|5]\n",
          stderr);
    exit(2);
}

static void read_option(struct options *options, const char *name, const char *value)
{
    uint64_t number;

    if (!strcmp(name, "--version") && !strcmp(value, "f3"))
        options->version = TV_MT_V3 | TV_MT_STREAMING;
    else if (!tv_parse_u64(tv_bytes_of(value), &number))
        print_usage();
    else if (!strcmp(name, "--seed"))
        options->seed = number;
    else if (!strcmp(name, "--threads") && number >= 1 && number <= MAX_THREADS)
        options->threads = (uint32_t)number;
    else if (!strcmp(name, "--methods") && number >= 1 && number <= MAX_METHODS)
        options->methods = (uint32_t)number;
    else if (!strcmp(name, "--version") && number == TV_MT_PACKETS_2)
        options->version = TV_MT_PACKETS_2;
    else if (!strcmp(name, "--version") && number >= 1 && number <= 3)
        options->version = (uint16_t)number;
    else
        print_usage();
}

static struct options read_options(int count, char **arguments)
{
    struct options options = {.seed = 42, .threads = 20, .methods = 5000, .version = TV_MT_V3};

    if (count < 3 || count % 2 == 0 || !tv_parse_u64(tv_bytes_of(arguments[2]), &options.records))
        print_usage();
    options.output = arguments[1];
    for (int i = 3; i < count; i += 2)
        read_option(&options, arguments[i], arguments[i + 1]);
    return options;
}

int main(int argument_count, char **arguments)
{
    static struct generator generator;
    uint64_t end_ns;

    generator.options = read_options(argument_count, arguments);
    generator.plain_version = tv_mt_plain_version(generator.options.version);
    generator.random = generator.options.seed;
    generator.time_random = ~generator.options.seed;
    for (uint32_t i = 0; i < UNMATCHED_EXITS && i < generator.options.threads; i++)
        generator.threads[i].unmatched = true;
    generator.file = fopen(generator.options.output, "wb");
    if (!generator.file)
        fail("cannot create the file");
    generator.packets.file = generator.file;
    make_call_graph(&generator);
    end_ns = sum_of_steps(&generator);
    if (is_packets(&generator))
        print_packets(&generator);
    else if (!is_streaming(&generator))
        print_text_header(&generator, end_ns);
    if (!is_packets(&generator))
        print_data_header(&generator);
    make_records(&generator);
    if (is_packets(&generator))
        end_packets(&generator, end_ns);
    else if (is_streaming(&generator))
        print_summary(&generator, end_ns);
    if (ferror(generator.file) || fclose(generator.file))
        fail("cannot write the file");
    return 0;
}
