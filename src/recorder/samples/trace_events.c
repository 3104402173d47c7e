/* SPDX-License-Identifier: Apache-2.0 */
/*
 * trace_events.c - samples with their times, as Trace Event JSON.
 *
 *     traceEvents   names of processes and threads; a slice for each time off the processors and
 *                   for each wait for a lock; an instant and a counter value for each allocation
 *     stackFrames   the tree of frames, by number: a name, its class or file, and the parent
 *     samples       one a line: thread, time in microseconds, frame, weight in nanoseconds, state
 *
 * docs/formats/trace-event.md describes how these members are read.  Numbers are written digit by
 * digit from integers, so that the host's locale cannot change their form.
 */
#include <assert.h>
#include <inttypes.h>
#include <string.h>
#include <unistd.h>

#include "recorder/samples/samples.h"

/* State of the writer.  The tree numbers frames for stackFrames, so it is made before anything is
 * written. */
struct sample_json {
    const struct tv_samples *samples;
    const struct tv_stack_tree *tree;
    uint32_t own_pid;
    FILE *to;
    const char *between; /* separator before the next event */
};

/* Return the length of the UTF-8 character at `text`, 0: malformed. */
static size_t sample_json_utf8_length(const unsigned char *text)
{
    static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
    unsigned char first = text[0];
    size_t length = first < 0x80   ? 1
                    : first < 0xC0 ? 0
                    : first < 0xE0 ? 2
                    : first < 0xF0 ? 3
                    : first < 0xF8 ? 4
                                   : 0;
    if (length < 2)
        return length;
    uint32_t character = first & (0x7Fu >> length);
    for (size_t i = 1; i < length; i++) {
        if ((text[i] & 0xC0) != 0x80)
            return 0;
        character = character << 6 | (text[i] & 0x3Fu);
    }
    bool is_surrogate = character >= 0xD800 && character <= 0xDFFF;
    return character < least[length] || character > 0x10FFFF || is_surrogate ? 0 : length;
}

/* Write part of a JSON string; malformed UTF-8 becomes U+FFFD. */
static void sample_json_put_text(const char *text, FILE *to)
{
    const unsigned char *at = (const unsigned char *)text;
    while (*at != '\0') {
        size_t length = sample_json_utf8_length(at);
        if (length == 0)
            fputs("\xEF\xBF\xBD", to);
        else if (*at == '"' || *at == '\\')
            fprintf(to, "\\%c", *at);
        else if (*at < ' ' || *at == 0x7F)
            fprintf(to, "\\u%04x", *at);
        else
            fwrite(at, 1, length, to);
        at += length > 0 ? length : 1;
    }
}

static void sample_json_put_string(const char *text, FILE *to)
{
    fputc('"', to);
    sample_json_put_text(text, to);
    fputc('"', to);
}

/* Write a member in microseconds with three decimals, which are exact nanoseconds. */
static void sample_json_put_us(const char *key, uint64_t ns, FILE *to)
{
    fprintf(to, ",\"%s\":%" PRIu64 ".%03" PRIu64, key, ns / 1000, ns % 1000);
}

/* Write pid and tid.  A thread of which the system's numbers are unknown, as of a JVM, has our pid
 * and its own number. */
static void sample_json_put_ids(const struct sample_json *events, uint32_t number)
{
    const struct tv_sample_thread *thread =
        (const struct tv_sample_thread *)events->samples->threads.at + number;
    fprintf(events->to, "\"pid\":%u,\"tid\":%u", thread->pid != 0 ? thread->pid : events->own_pid,
            thread->tid != 0 ? thread->tid : number + 1);
}

/* ---- traceEvents ---- */

static void sample_json_begin_event(struct sample_json *events)
{
    fputs(events->between, events->to);
    events->between = ",\n";
}

/* Write the metadata events that name processes and threads. */
static void sample_json_put_names(struct sample_json *events)
{
    const struct tv_sample_thread *threads = events->samples->threads.at;
    for (uint32_t i = 0; i < events->samples->threads.count; i++) {
        /* A process is named after its first thread. */
        if (threads[i].pid != 0 && threads[i].pid == threads[i].tid) {
            sample_json_begin_event(events);
            fputs("{\"ph\":\"M\",\"name\":\"process_name\",", events->to);
            sample_json_put_ids(events, i);
            fputs(",\"args\":{\"name\":", events->to);
            sample_json_put_string(threads[i].name, events->to);
            fputs("}}", events->to);
        }
        sample_json_begin_event(events);
        fputs("{\"ph\":\"M\",\"name\":\"thread_name\",", events->to);
        sample_json_put_ids(events, i);
        fputs(",\"args\":{\"name\":", events->to);
        sample_json_put_string(threads[i].name, events->to);
        fputs("}}", events->to);
    }
}

/* Write a slice for each time that a thread was off the processors, with the stack at which it was.
 */
static void sample_json_put_waits(struct sample_json *events)
{
    const struct tv_sample_wait *waits = events->samples->waits.at;
    for (uint32_t i = 0; i < events->samples->waits.count; i++) {
        sample_json_begin_event(events);
        fputs("{\"ph\":\"X\",\"cat\":\"off-cpu\",\"name\":", events->to);
        fputs(waits[i].is_preempted ? "\"preempted\"," : "\"waiting\",", events->to);
        sample_json_put_ids(events, waits[i].thread);
        sample_json_put_us("ts", waits[i].from_ns, events->to);
        sample_json_put_us("dur", waits[i].to_ns - waits[i].from_ns, events->to);
        if (waits[i].trace != TV_SAMPLES_NO_TRACE)
            fprintf(events->to, ",\"sf\":%u", events->tree->leaves[waits[i].trace]);
        fputc('}', events->to);
    }
}

/* Write the member that refers to a stack; node 0 is the root, an empty stack. */
static void sample_json_put_stack_id(const struct sample_json *events, uint32_t node)
{
    if (node != 0)
        fprintf(events->to, ",\"sf\":%u", node);
}

/* Return the text of an element that stands for a class or a thread. */
static const char *sample_json_element_text(const struct sample_json *events, uint32_t number)
{
    const struct tv_sample_element *element =
        (const struct tv_sample_element *)events->samples->elements.at + number;
    return element->name[0] != '\0' ? element->name : element->class_name;
}

/* Write an allocation as an instant: its name is the class, the top of its stack; the stack itself
 * begins below it. */
static void sample_json_put_allocation(struct sample_json *events,
                                       const struct tv_sample_allocation *allocation)
{
    assert(allocation->trace < events->samples->traces.count);
    const struct tv_sample_trace *trace =
        (const struct tv_sample_trace *)events->samples->traces.at + allocation->trace;
    const struct tv_stack_node *node =
        &events->tree->nodes[events->tree->leaves[allocation->trace]];
    sample_json_begin_event(events);
    fputs("{\"ph\":\"i\",\"s\":\"t\",\"cat\":\"allocation\",\"name\":", events->to);
    sample_json_put_string(sample_json_element_text(events, node->element), events->to);
    fputc(',', events->to);
    sample_json_put_ids(events, trace->thread);
    sample_json_put_us("ts", allocation->time_ns, events->to);
    sample_json_put_stack_id(events, node->parent);
    fprintf(events->to, ",\"args\":{\"bytes\":%" PRIu64 ",\"size\":%" PRIu64 "}}",
            allocation->bytes, allocation->size);
}

/* Each allocation comes with the sum of bytes so far. */
static void sample_json_put_allocations(struct sample_json *events)
{
    const struct tv_sample_allocation *allocations = events->samples->allocations.at;
    uint64_t sum = 0;
    for (uint32_t i = 0; i < events->samples->allocations.count; i++) {
        sum += allocations[i].bytes;
        sample_json_put_allocation(events, &allocations[i]);
        sample_json_begin_event(events);
        fprintf(events->to, "{\"ph\":\"C\",\"name\":\"allocated\",\"pid\":%u", events->own_pid);
        sample_json_put_us("ts", allocations[i].time_ns, events->to);
        fprintf(events->to, ",\"args\":{\"bytes\":%" PRIu64 "}}", sum);
    }
}

/* Write what is known of a lock: its class and identity hash, its owner, whether the wait has
 * ended. */
static void sample_json_put_lock_args(const struct sample_json *events,
                                      const struct tv_sample_lock *lock)
{
    FILE *to = events->to;
    const char *between = "";
    fputs(",\"args\":{", to);
    if (lock->class_name != 0) {
        fputs("\"class\":", to);
        sample_json_put_string(sample_json_element_text(events, lock->class_name - 1), to);
        fprintf(to, ",\"hash\":\"0x%x\"", lock->hash);
        between = ",";
    }
    if (lock->owner != 0) {
        fprintf(to, "%s\"owner\":", between);
        sample_json_put_string(sample_json_element_text(events, lock->owner - 1), to);
        between = ",";
    }
    if (lock->is_open)
        fprintf(to, "%s\"still waiting\":true", between);
    fputs("}}", to);
}

/* Write a slice for each wait for a lock, "monitor CLASS" or "park CLASS". */
static void sample_json_put_locks(struct sample_json *events)
{
    const struct tv_sample_lock *locks = events->samples->locks.at;
    for (uint32_t i = 0; i < events->samples->locks.count; i++) {
        const struct tv_sample_lock *lock = &locks[i];
        sample_json_begin_event(events);
        fprintf(events->to, "{\"ph\":\"X\",\"cat\":\"lock\",\"name\":\"%s",
                lock->kind == TV_SAMPLE_MONITOR ? "monitor" : "park");
        if (lock->class_name != 0) {
            fputc(' ', events->to);
            sample_json_put_text(sample_json_element_text(events, lock->class_name - 1),
                                 events->to);
        }
        fputs("\",", events->to);
        sample_json_put_ids(events, lock->thread);
        sample_json_put_us("ts", lock->from_ns, events->to);
        sample_json_put_us("dur", lock->to_ns - lock->from_ns, events->to);
        if (lock->trace != TV_SAMPLES_NO_TRACE)
            sample_json_put_stack_id(events, events->tree->leaves[lock->trace]);
        sample_json_put_lock_args(events, lock);
    }
}

/* ---- stackFrames ---- */

/* "malloc" of "libc.so.6", "java.lang.Long.parseLong" of "Long.java". */
static void sample_json_put_frame(const struct tv_sample_element *element, bool class_is_module,
                                  FILE *to)
{
    const char *category = class_is_module ? element->class_name : element->file;
    if (category != NULL) {
        fputs("\"category\":", to);
        sample_json_put_string(category, to);
        fputc(',', to);
    }
    fputs("\"name\":\"", to);
    if (!class_is_module) {
        sample_json_put_text(element->class_name, to);
        if (element->name[0] != '\0')
            fputc('.', to);
    }
    sample_json_put_text(element->name, to);
    fputc('"', to);
}

/* Write stackFrames.  Parents have lower numbers than their children; node 0 is the root, which is
 * no frame. */
static void sample_json_put_frames(const struct sample_json *events)
{
    const struct tv_sample_element *elements = events->samples->elements.at;
    FILE *to = events->to;
    for (uint32_t i = 1; i < events->tree->count; i++) {
        const struct tv_stack_node *node = &events->tree->nodes[i];
        fprintf(to, "%s\n\"%u\":{", i > 1 ? "," : "", i);
        sample_json_put_frame(&elements[node->element], events->samples->classes_are_modules, to);
        if (node->parent != 0)
            fprintf(to, ",\"parent\":%u", node->parent);
        fputc('}', to);
    }
}

/* ---- samples ---- */

static void sample_json_put_sample(const struct sample_json *events,
                                   const struct tv_sample_moment *moment)
{
    assert(moment->trace < events->samples->traces.count);
    static const char *const states[] = {NULL, "running", "waiting"};
    const struct tv_samples *samples = events->samples;
    const struct tv_sample_trace *trace =
        (const struct tv_sample_trace *)samples->traces.at + moment->trace;
    FILE *to = events->to;
    fprintf(to, "{\"name\":\"%s\",", samples->clock != NULL ? samples->clock : "wall-clock");
    sample_json_put_ids(events, trace->thread);
    sample_json_put_us("ts", moment->time_ns, to);
    fprintf(to, ",\"sf\":%u,\"weight\":%" PRIu64, events->tree->leaves[moment->trace],
            samples->period_ns);
    if (moment->cpu != TV_SAMPLE_NO_CPU)
        fprintf(to, ",\"cpu\":%u", moment->cpu);
    if (moment->state != TV_SAMPLE_STATE_UNKNOWN)
        fprintf(to, ",\"state\":\"%s\"", states[moment->state]);
    fputc('}', to);
}

static void sample_json_put_samples(const struct sample_json *events)
{
    const struct tv_sample_moment *moments = events->samples->moments.at;
    for (uint32_t i = 0; i < events->samples->moments.count; i++) {
        fputs(i > 0 ? ",\n" : "\n", events->to);
        sample_json_put_sample(events, &moments[i]);
    }
}

/* Write what a reader must know before the events: the interval, counts of what is missing, and
 * labels. */
static void sample_json_put_header(const struct tv_samples *samples, FILE *to)
{
    const struct {
        const char *key;
        uint64_t value;
    } counts[] = {
        {"sampling-interval-ns", samples->period_ns},
        {"samples-lost", samples->lost},
        {"samples-without-time", samples->untimed},
        {"allocation-interval-bytes", samples->alloc_interval},
        {"lock-least-ns", samples->lock_least_ns},
        {"shorter-locks-left-out", samples->short_locks},
        {"lock-owners-not-asked", samples->unasked_owners},
        {"allocations-and-locks-dropped", samples->dropped},
    };
    const char *between = "";
    fputs("{\"displayTimeUnit\":\"ms\",\n\"otherData\":{", to);
    for (size_t i = 0; i < sizeof counts / sizeof counts[0]; i++) {
        if (counts[i].value == 0)
            continue;
        fprintf(to, "%s\"%s\":\"%" PRIu64 "\"", between, counts[i].key, counts[i].value);
        between = ",";
        /* Weights have a meaning only where there are samples. */
        if (i == 0)
            fputs(",\"sample-weight-unit\":\"ns\"", to);
    }
    const char *labels = samples->labels;
    for (struct tv_label label; tv_labels_next(&labels, &label); between = ",")
        fprintf(to, "%s\"%.*s\":\"%.*s\"", between, label.key_length, label.key, label.value_length,
                label.value);
    fputs("},\n", to);
}

bool tv_sample_events_write(const struct tv_samples *samples, FILE *to)
{
    struct tv_stack_tree tree;
    bool fine = tv_stack_tree_init(&tree, samples);
    struct sample_json events = {samples, &tree, (uint32_t)getpid(), to, "\n"};
    if (fine) {
        sample_json_put_header(samples, to);
        fputs("\"traceEvents\":[", to);
        sample_json_put_names(&events);
        sample_json_put_waits(&events);
        sample_json_put_allocations(&events);
        sample_json_put_locks(&events);
        fputs("\n],\n\"stackFrames\":{", to);
        sample_json_put_frames(&events);
        fputs("\n},\n\"samples\":[", to);
        sample_json_put_samples(&events);
        fputs("\n]}\n", to);
    }
    tv_stack_tree_release(&tree);
    return fine && fflush(to) == 0 && !ferror(to);
}
