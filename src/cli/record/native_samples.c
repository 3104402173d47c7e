/* SPDX-License-Identifier: Apache-2.0 */
/* native_samples.c - replaces the addresses in the samples of a native program by functions and
 * lines.
 *
 * Two addresses in one source line become the same element, so the samples must be counted again:
 * the hprof text is parsed back into a struct tv_samples.
 *
 *     THREAD START (obj=1, id = 200001, name="main", group="")
 *     TRACE 300001: (thread=200001)            a stack, innermost element first
 *     \tlibx.so.0x11ab(/usr/lib/libx.so)       element -> draw(draw.cc:42)
 *     1 60.0% 60.0% 3 300001 ...               without times: 3 samples of the stack
 *     AT 12345678 300001 1                     with times (PERIOD): one sample
 *
 * The recorder writes addresses because it runs within the program: reading debug information
 * there would cost memory and locks of the program, and take time from its end. */
#include "cli/record/native_names.h"

#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/bytes.h"
#include "base/memory.h"
#include "cli/output/atomic_file.h"
#include "recorder/samples/samples.h"

#define LINE_SIZE 65536u
#define DEPTH 32768u
#define TRACES (1u << 24)

/* A stack; the table at the end of the text has its count. */
struct counted_stack {
    uint32_t thread, start, depth;
    uint64_t count;
};

/* A sample with its time, and the index of its stack. */
struct timed_stack {
    uint64_t time_ns;
    uint32_t stack;
    uint8_t state;
};

struct native_samples {
    struct tv_samples samples;
    enum tv_samples_form form;
    struct tv_native_files files;
    struct counted_stack *stacks; /* by number in the text - TV_SAMPLES_FIRST_TRACE */
    size_t stacks_room;
    uint32_t stack_count, deepest;
    uint32_t *elements;
    size_t elements_room, element_count;
    struct counted_stack *open; /* the stack whose lines follow */
    struct timed_stack *moments;
    size_t moments_room, moment_count;
};

/* Continue a hash (FNV-1a) over a text and its NUL, so that two texts do not
 * run into each other. */
static uint64_t native_samples_hash_text(uint64_t hash, const char *text)
{
    do
        hash = (hash ^ (uint8_t)*text) * UINT64_C(0x100000001B3);
    while (*text++);
    return hash;
}

/* Remove dots from a function name, because they separate names in a line of hprof: cut the
 * suffixes that compilers give to copies of a function, and replace other dots by '$', as Rust
 * does. Replace parentheses, which enclose the place. */
static void native_samples_clean_function(char *name)
{
    static const char *const copies[] = {".constprop.", ".part.", ".isra.", ".cold", ".lto_priv."};
    for (size_t i = 0; i < sizeof copies / sizeof copies[0]; i++) {
        char *copy = strstr(name, copies[i]);
        if (copy && copy != name)
            *copy = '\0';
    }
    for (char *c = name; *c; c++)
        *c = *c == '.' ? '$' : *c == '(' ? '{' : *c == ')' ? '}' : *c;
}

/* Copy a text that may be too long, with a NUL at its end. */
static void native_samples_copy_text(char *to, size_t size, struct tv_bytes text)
{
    size_t length = text.length < size - 1 ? text.length : size - 1;
    memcpy(to, text.data, length);
    to[length] = '\0';
}

/* Add an element; if its name is an address in a readable file, look up function, file and line. */
static uint32_t native_samples_add_element(struct native_samples *work,
                                           struct tv_sample_element *element)
{
    static char function[LINE_SIZE], file[LINE_SIZE];
    struct tv_native_place place;
    bool is_address = element->file && strncmp(element->name, "0x", 2) == 0;
    if (is_address && tv_native_files_place(&work->files, tv_bytes_of(element->file),
                                            strtoull(element->name, NULL, 16), &place)) {
        native_samples_copy_text(function, sizeof function, place.function);
        if (work->form <= TV_SAMPLES_BINARY)
            native_samples_clean_function(function);
        element->name = function;
        if (place.file.length > 0) {
            native_samples_copy_text(file, sizeof file, place.file);
            element->file = file;
        }
        element->line = place.line > 0 ? place.line : TV_SAMPLES_NO_LINE;
    }
    element->method =
        native_samples_hash_text(native_samples_hash_text(1, element->class_name), element->name);
    element->method = native_samples_hash_text(element->method, element->file ? element->file : "");
    uint32_t number = tv_samples_find_element(&work->samples, element->method, element->line);
    if (number == 0)
        number = tv_samples_add_element(&work->samples, element);
    if (number == 0)
        tv_memory_exhausted();
    return number;
}

/* Find the parenthesis that `close` closes; NULL when there is none. */
static char *native_samples_find_parenthesis(char *line, const char *close)
{
    size_t depth = 0;
    for (size_t i = (size_t)(close - line) + 1; i-- > 0;) {
        depth += line[i] == ')';
        if (line[i] == '(' && --depth == 0)
            return &line[i];
    }
    return NULL;
}

/* Parse "CLASS.NAME(FILE)" or "CLASS.NAME(FILE:LINE)"; false for another form. */
static bool native_samples_read_element(struct native_samples *work, char *line)
{
    char *close = strrchr(line, ')'),
         *open = close ? native_samples_find_parenthesis(line, close) : NULL;
    if (!open)
        return false;
    *open = *close = '\0';
    char *dot = strrchr(line, '.'), *file = open + 1;
    if (!dot || !work->open || work->open->depth == DEPTH)
        return false;
    *dot = '\0';
    struct tv_sample_element element = {0, TV_SAMPLES_NO_LINE, line, dot + 1, file};
    char *colon = strrchr(file, ':');
    if (colon && colon[1] >= '0' && colon[1] <= '9') {
        element.line = (int32_t)strtol(colon + 1, NULL, 10);
        *colon = '\0';
    }
    if (strcmp(file, "Unknown Source") == 0)
        element.file = NULL;
    work->elements = tv_array_reserve(work->elements, &work->elements_room, work->element_count + 1,
                                      sizeof *work->elements);
    work->elements[work->element_count++] = native_samples_add_element(work, &element);
    work->open->depth++;
    if (work->open->depth > work->deepest)
        work->deepest = work->open->depth;
    return true;
}

/* Return the number after a word in the line; 0 when it is not there. */
static uint32_t native_samples_number_after(const char *line, const char *word)
{
    const char *at = strstr(line, word);
    unsigned long number = at ? strtoul(at + strlen(word), NULL, 10) : 0;
    return number <= UINT32_MAX ? (uint32_t)number : 0;
}

/* Is it the id of a known thread? */
static bool native_samples_is_thread(const struct native_samples *work, uint32_t id)
{
    return id >= TV_SAMPLES_FIRST_THREAD &&
           id - TV_SAMPLES_FIRST_THREAD < work->samples.threads.count;
}

/* THREAD START (obj=1, id = 200001, name="...", group="...") */
static bool native_samples_read_thread_start(struct native_samples *work, char *line)
{
    static const char group_word[] = "\", group=\"";
    char *name = strstr(line, "name=\""), *end = strrchr(line, '"'), *group = NULL;
    for (char *at = name; at && (at = strstr(at, group_word)); at++)
        group = at;
    if (!name || !group || end < group + sizeof group_word - 1)
        return false;
    *group = *end = '\0';
    if (tv_samples_add_thread(&work->samples, name + 6, group + sizeof group_word - 1) == 0)
        tv_memory_exhausted();
    return true;
}

/* THREAD END (id = 200001) */
static bool native_samples_read_thread_end(struct native_samples *work, const char *line)
{
    uint32_t id = native_samples_number_after(line, "id = ");
    return native_samples_is_thread(work, id) && tv_samples_end_thread(&work->samples, id);
}

/* TRACE 300001: (thread=200001) */
static bool native_samples_read_trace(struct native_samples *work, const char *line)
{
    uint32_t number = native_samples_number_after(line, "TRACE ") - TV_SAMPLES_FIRST_TRACE;
    uint32_t thread = native_samples_number_after(line, "(thread=");
    if (number >= TRACES || !native_samples_is_thread(work, thread) ||
        work->element_count > UINT32_MAX - DEPTH)
        return false;
    if (number >= work->stack_count) {
        work->stacks = tv_array_reserve(work->stacks, &work->stacks_room, (size_t)number + 1,
                                        sizeof *work->stacks);
        memset(work->stacks + work->stack_count, 0,
               (number + 1 - work->stack_count) * sizeof *work->stacks);
        work->stack_count = number + 1;
    }
    work->open = &work->stacks[number];
    *work->open = (struct counted_stack){thread, (uint32_t)work->element_count, 0, 0};
    return true;
}

/* RANK SELF ACCUMULATED COUNT TRACE METHOD */
static bool native_samples_read_rank(struct native_samples *work, char *line)
{
    char *rest = NULL, *words[5];
    char *word = strtok_r(line, " ", &rest);
    size_t count = 0;
    for (; word && count < 5; word = strtok_r(NULL, " ", &rest))
        words[count++] = word;
    uint32_t number =
        count == 5 ? (uint32_t)strtoul(words[4], NULL, 10) - TV_SAMPLES_FIRST_TRACE : TRACES;
    if (number >= work->stack_count)
        return false;
    work->stacks[number].count = strtoull(words[3], NULL, 10);
    return true;
}

/* PERIOD NANOSECONDS */
static bool native_samples_read_period(struct native_samples *work, const char *line)
{
    work->samples.period_ns = strtoull(line + sizeof "PERIOD", NULL, 10);
    tv_labels_read(work->samples.labels);
    return work->samples.period_ns > 0;
}

/* AT NANOSECONDS TRACE STATE */
static bool native_samples_read_moment(struct native_samples *work, const char *line)
{
    assert(work->moment_count <= work->moments_room);
    char *end;
    uint64_t time_ns = strtoull(line + sizeof "AT", &end, 10);
    uint32_t stack = (uint32_t)strtoul(end, &end, 10) - TV_SAMPLES_FIRST_TRACE;
    unsigned long state = strtoul(end, NULL, 10);
    if (stack >= work->stack_count || state > TV_SAMPLE_WAITING)
        return false;
    work->moments = tv_array_reserve(work->moments, &work->moments_room, work->moment_count + 1,
                                     sizeof *work->moments);
    work->moments[work->moment_count++] = (struct timed_stack){time_ns, stack, (uint8_t)state};
    return true;
}

/* Does a line begin with a word? */
static bool native_samples_line_starts(const char *line, const char *word)
{
    return strncmp(line, word, strlen(word)) == 0;
}

/* Read a line by its first word; false: it is damaged. */
static bool native_samples_read_line(struct native_samples *work, char *line)
{
    if (line[0] == '\t')
        return native_samples_read_element(work, line + 1);
    if (native_samples_line_starts(line, "THREAD START "))
        return native_samples_read_thread_start(work, line);
    if (native_samples_line_starts(line, "THREAD END "))
        return native_samples_read_thread_end(work, line);
    if (native_samples_line_starts(line, "TRACE "))
        return native_samples_read_trace(work, line);
    if (native_samples_line_starts(line, "PERIOD "))
        return native_samples_read_period(work, line);
    if (native_samples_line_starts(line, "AT "))
        return native_samples_read_moment(work, line);
    return native_samples_line_starts(line, "CPU SAMPLES ") ||
           native_samples_line_starts(line, "rank ") || native_samples_read_rank(work, line);
}

/* Count the stacks: sample by sample if their times are known. */
static void native_samples_count(struct native_samples *work)
{
    bool timed = work->samples.period_ns > 0;
    for (uint32_t i = 0; !timed && i < work->stack_count; i++) {
        const struct counted_stack *stack = &work->stacks[i];
        if (stack->count > 0 && stack->depth > 0 &&
            !tv_samples_add_many(&work->samples, stack->thread, work->elements + stack->start,
                                 stack->depth, stack->count))
            tv_memory_exhausted();
    }
    for (size_t i = 0; i < work->moment_count; i++) {
        const struct counted_stack *stack = &work->stacks[work->moments[i].stack];
        struct tv_sample_moment moment = {
            .time_ns = work->moments[i].time_ns,
            .cpu = TV_SAMPLE_NO_CPU,
            .state = work->moments[i].state,
        };
        if (stack->depth > 0 &&
            !tv_samples_add_at(&work->samples, stack->thread, work->elements + stack->start,
                               stack->depth, &moment))
            tv_memory_exhausted();
    }
}

/* Read the text of the recorder: threads, then stacks with their elements, then
 * the counts or the times. */
static enum tv_status native_samples_read(struct native_samples *work, FILE *in, const char *path,
                                          struct tv_error *err)
{
    char *line = tv_alloc(LINE_SIZE, 1);
    bool fine = true;
    while (fine && fgets(line, LINE_SIZE, in)) {
        line[strcspn(line, "\n")] = '\0';
        fine = native_samples_read_line(work, line);
    }
    tv_free(line);
    if (!fine)
        return tv_fail(err, TV_ERR_SYNTAX, TV_NO_OFFSET, "%s: the samples are damaged", path);
    native_samples_count(work);
    return TV_OK;
}

enum tv_status tv_native_samples_write(const struct tv_samples *samples, enum tv_samples_form form,
                                       uint32_t depth, const char *path, struct tv_error *err)
{
    struct tv_atomic_file file;
    enum tv_status status = tv_atomic_file_open(&file, path, err);
    if (status != TV_OK)
        return status;
    FILE *to = tv_atomic_file_stream(&file);
    bool done = to && tv_samples_write(samples, form, depth, time(NULL), to);
    done = to && fclose(to) == 0 && done;
    if (done)
        return tv_atomic_file_commit(&file, err);
    status = tv_fail(err, TV_ERR_IO, TV_NO_OFFSET, "%s: %s", path, strerror(errno));
    tv_atomic_file_discard(&file);
    return status;
}

enum tv_status tv_native_samples_resolve(const char *path, enum tv_samples_form form,
                                         struct tv_error *err)
{
    struct native_samples work = {.samples = {.classes_are_modules = true}, .form = form};
    FILE *in = fopen(path, "rb");
    if (!in)
        return tv_fail(err, TV_ERR_IO, TV_NO_OFFSET, "%s: %s", path, strerror(errno));
    enum tv_status status = native_samples_read(&work, in, path, err);
    fclose(in);
    if (status == TV_OK)
        status = tv_native_samples_write(&work.samples, form, work.deepest, path, err);
    if (status == TV_OK && work.samples.total == 0)
        status = tv_fail(err, TV_ERR_IO, TV_NO_OFFSET,
                         "%s: no sample was taken: the program ended at once, blocks its signals "
                         "or, with --stack shadow, is not compiled with -finstrument-functions",
                         path);
    tv_native_files_release(&work.files);
    tv_samples_release(&work.samples);
    tv_free(work.stacks);
    tv_free(work.elements);
    tv_free(work.moments);
    return status;
}
