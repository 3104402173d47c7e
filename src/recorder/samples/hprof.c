/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hprof.c - samples in the formats of hprof: text in the dialects of Android's profiler and of the
 * JDK, and binary.
 *
 * Programs read the text, so numbers and dates are those of the C locale, whatever the host's is.
 *
 *     THREAD START ...       threads in the order in which they came and went
 *     TRACE 300001: ...      each stack once, most frequent first, innermost frame first
 *     CPU SAMPLES BEGIN ...  rank, share, sum of shares, count, TRACE id, innermost method
 *
 * The dialects differ in ids, in the base of a number and in blanks.
 */
#include <errno.h>
#include <locale.h>
#include <stdlib.h>
#include <string.h>

#include "recorder/memory.h"
#include "recorder/samples/samples.h"

/* The JDK's ids begin one lower. */
#define JDK_LESS 1u

/* Print a name between quotes, on one line: characters that would end either are replaced. */
static void hprof_print_quoted(const char *text, FILE *to)
{
    for (; *text; text++)
        fputc((unsigned char)*text < ' ' ? ' ' : *text == '"' ? '\'' : *text, to);
}

/* Print a class or a method; control characters would end its line. */
static void hprof_print_name(const char *text, FILE *to)
{
    for (; *text; text++)
        fputc((unsigned char)*text < ' ' ? ' ' : *text, to);
}

/* Tell whether every parenthesis has its partner, so that a reader that counts them finds the outer
 * pair. */
static bool hprof_parens_are_balanced(const char *text)
{
    size_t open = 0;
    for (; *text; text++) {
        if (*text == ')' && open-- == 0)
            return false;
        open += *text == '(';
    }
    return open == 0;
}

/* Print a file's name.  Readers look for the parentheses around it from the end of the line. */
static void hprof_print_file(const char *text, FILE *to)
{
    bool exact = hprof_parens_are_balanced(text);
    for (; *text; text++) {
        char c = (unsigned char)*text < ' ' ? ' ' : *text;
        fputc(exact ? c : c == '(' ? '[' : c == ')' ? ']' : c, to);
    }
}

/* Print the start or the end of a thread. */
static void hprof_print_thread_event(const struct tv_samples *samples,
                                     const struct tv_sample_event *event, bool jdk, FILE *to)
{
    const struct tv_sample_thread *threads = samples->threads.at;
    const struct tv_sample_thread *thread = &threads[event->thread];
    uint32_t id = TV_SAMPLES_FIRST_THREAD + event->thread - (jdk ? JDK_LESS : 0);
    uint32_t object = event->thread + 1;
    const char *group = thread->group == NULL ? "null" : thread->group;
    if (event->is_end)
        fprintf(to, "THREAD END (id = %u)\n", id);
    if (event->is_end)
        return;
    fprintf(to,
            jdk ? "THREAD START (obj=%x, id = %u, name=\""
                : "THREAD START (obj=%u, id = %u, name=\"",
            object, id);
    hprof_print_quoted(thread->name, to);
    fputs("\", group=\"", to);
    hprof_print_quoted(group, to);
    fputs("\")\n", to);
}

/* Print a frame: a tab, class, method, and in parentheses the file and the line, or why there are
 * none. */
static void hprof_print_frame(const struct tv_sample_element *element, bool jdk, FILE *to)
{
    fputc('\t', to);
    hprof_print_name(element->class_name, to);
    fputc('.', to);
    hprof_print_name(element->name, to);
    fputc('(', to);
    bool native = element->line == TV_SAMPLES_NATIVE_LINE;
    if (native && !jdk)
        fputs("Native Method", to);
    else if (element->file == NULL)
        fputs(jdk ? "<Unknown Source>" : "Unknown Source", to);
    else
        hprof_print_file(element->file, to);
    if (jdk && (native || element->file == NULL || element->line < 0))
        fputs(native ? ":Native method" : ":Unknown line", to);
    else if (element->file != NULL && element->line >= 0)
        fprintf(to, ":%d", element->line);
    fputs(")\n", to);
}

/* Return the id under which the table of counts refers to a stack. */
static uint32_t hprof_trace_id(uint32_t index, bool jdk)
{
    return TV_SAMPLES_FIRST_TRACE + index - (jdk ? JDK_LESS : 0);
}

static void hprof_print_trace(const struct tv_samples *samples, uint32_t index, bool jdk, FILE *to)
{
    const struct tv_sample_element *elements = samples->elements.at;
    const struct tv_sample_trace *traces = samples->traces.at;
    const struct tv_sample_trace *trace = &traces[index];
    const uint32_t *stack = (const uint32_t *)samples->stacks.at + trace->start;
    if (jdk)
        fprintf(to, "TRACE %u:\n", hprof_trace_id(index, jdk));
    else
        fprintf(to, "TRACE %u: (thread=%u)\n", hprof_trace_id(index, jdk),
                TV_SAMPLES_FIRST_THREAD + trace->thread);
    for (uint32_t i = 0; i < trace->depth; i++)
        hprof_print_frame(&elements[stack[i] - 1], jdk, to);
}

/* Print the table of counts, most frequent stack first. */
static void hprof_print_ranks(const struct tv_samples *samples, const uint32_t *order, bool jdk,
                              FILE *to)
{
    const struct tv_sample_element *elements = samples->elements.at;
    const struct tv_sample_trace *traces = samples->traces.at;
    const uint32_t *stacks = samples->stacks.at;
    double total = (double)samples->total, accumulated = 0;
    for (uint32_t i = 0; i < samples->traces.count; i++) {
        const struct tv_sample_trace *trace = &traces[order[i]];
        const struct tv_sample_element *top = &elements[stacks[trace->start] - 1];
        double self = (double)trace->count / total;
        accumulated += self;
        /* The blank before the id is the place of a sign: ids have six digits and are never
         * negative. */
        fprintf(to,
                jdk ? "%4lld %5.2f%% %5.2f%% %7lld %5lld "
                    : "% 4lld% 6.2f%%% 6.2f%% % 7lld % 5lld ",
                (long long)i + 1, self * 100, accumulated * 100, (long long)trace->count,
                (long long)hprof_trace_id(order[i], jdk));
        hprof_print_name(top->class_name, to);
        fputc('.', to);
        hprof_print_name(top->name, to);
        fputc('\n', to);
    }
}

/* Print the whole file, with the differences between the JDK's hprof and that of Android. */
static void hprof_print_all(const struct tv_samples *samples, const uint32_t *order, bool jdk,
                            time_t now, FILE *to)
{
    const struct tv_sample_event *events = samples->events.at;
    struct tm parts;
    char date[64] = "";
    /* The C library's ctime pads the day with a blank, Android's profiler with a zero. */
    if (localtime_r(&now, &parts) != NULL)
        strftime(date, sizeof date, jdk ? "%a %b %e %H:%M:%S %Y" : "%a %b %d %H:%M:%S %Y", &parts);
    if (jdk)
        fprintf(to, "JAVA PROFILE 1.0.1, created %s\n\n--------\n\n", date);
    for (uint32_t i = 0; i < samples->events.count; i++)
        hprof_print_thread_event(samples, &events[i], jdk, to);
    for (uint32_t i = 0; i < samples->traces.count; i++)
        hprof_print_trace(samples, order[i], jdk, to);
    fprintf(to, "CPU SAMPLES BEGIN (total = %llu) %s\n", (unsigned long long)samples->total, date);
    if (!jdk || samples->traces.count > 0)
        fputs("rank   self  accum   count trace method\n", to);
    hprof_print_ranks(samples, order, jdk, to);
    fputs("CPU SAMPLES END\n", to);
}

bool tv_hprof_text_write(const struct tv_samples *samples, enum tv_hprof_dialect dialect,
                         time_t now, FILE *to)
{
    uint32_t *order = tv_samples_rank_traces(samples);
    locale_t plain = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    bool fine = order != NULL && plain != (locale_t)0;
    if (fine) {
        locale_t before = uselocale(plain);
        hprof_print_all(samples, order, dialect == TV_HPROF_JDK, now, to);
        uselocale(before);
        fine = fflush(to) == 0 && !ferror(to);
    }
    int error = errno;
    if (plain != (locale_t)0)
        freelocale(plain);
    free(order);
    errno = error;
    return fine;
}

/*
 * ---- Binary ----
 *
 * As Android's later profiler wrote it:
 *
 *     "JAVA PROFILE 1.0.2\0"  u4 size of ids (4)  u8 milliseconds
 *     records: u1 tag, u4 time (0), u4 length, body
 *
 * Records come in the order settings, threads, frames, stacks, counts.  Strings, classes and frames
 * precede the records that refer to them.  Strings are not shared: files are small.
 */

enum hprof_out_tag {
    STRING = 0x01,
    LOAD_CLASS = 0x02,
    STACK_FRAME = 0x04,
    STACK_TRACE = 0x05,
    START_THREAD = 0x0a,
    END_THREAD = 0x0b,
    CPU_SAMPLES = 0x0d,
    CONTROL_SETTINGS = 0x0e,
};

#define CPU_SAMPLING 2u
#define NATIVE_LINE ((uint32_t)-3)
#define UNKNOWN_LINE ((uint32_t)-1)

struct hprof_writer {
    struct tv_byte_buffer bytes;
    uint32_t strings; /* ids given so far; 0 means none */
};

/* Write the head of a record; `length` is that of the body that follows. */
static void hprof_put_record_head(struct hprof_writer *out, enum hprof_out_tag tag, uint32_t length)
{
    tv_byte_buffer_put_u8(&out->bytes, tag);
    tv_byte_buffer_put_u32(&out->bytes, 0);
    tv_byte_buffer_put_u32(&out->bytes, length);
}

/* Write a record that consists of numbers of four bytes. */
static void hprof_put_numbers(struct hprof_writer *out, enum hprof_out_tag tag,
                              const uint32_t *numbers, uint32_t count)
{
    hprof_put_record_head(out, tag, count * 4);
    for (uint32_t i = 0; i < count; i++)
        tv_byte_buffer_put_u32(&out->bytes, numbers[i]);
}

/* Write a string as a record of its own.  Return the id by which others refer to it; 0: no string.
 */
static uint32_t hprof_put_string(struct hprof_writer *out, const char *text)
{
    if (text == NULL)
        return 0;
    size_t length = strlen(text);
    hprof_put_record_head(out, STRING, (uint32_t)length + 4);
    tv_byte_buffer_put_u32(&out->bytes, ++out->strings);
    tv_byte_buffer_put(&out->bytes, text, length);
    return out->strings;
}

/* Limit a count to the four bytes that the format has for it. */
static uint32_t hprof_saturate(uint64_t number)
{
    return number > UINT32_MAX ? UINT32_MAX : (uint32_t)number;
}

static void hprof_put_thread_event(struct hprof_writer *out, const struct tv_samples *samples,
                                   const struct tv_sample_event *event)
{
    const struct tv_sample_thread *threads = samples->threads.at;
    uint32_t id = TV_SAMPLES_FIRST_THREAD + event->thread;
    if (event->is_end) {
        hprof_put_numbers(out, END_THREAD, &id, 1);
        return;
    }
    uint32_t name = hprof_put_string(out, threads[event->thread].name);
    uint32_t group = hprof_put_string(out, threads[event->thread].group);
    uint32_t numbers[] = {id, event->thread + 1, 0, name, group, 0};
    hprof_put_numbers(out, START_THREAD, numbers, 6);
}

/* Write a place, with a class of its own: readers go by names. */
static void hprof_put_frame(struct hprof_writer *out, const struct tv_sample_element *element,
                            uint32_t number)
{
    uint32_t line = element->line == TV_SAMPLES_NATIVE_LINE ? NATIVE_LINE
                    : element->line < 0                     ? UNKNOWN_LINE
                                                            : (uint32_t)element->line;
    uint32_t class_name = hprof_put_string(out, element->class_name);
    uint32_t class[] = {number, number, 0, class_name};
    hprof_put_numbers(out, LOAD_CLASS, class, 4);
    uint32_t name = hprof_put_string(out, element->name);
    uint32_t file = hprof_put_string(out, element->file);
    uint32_t frame[] = {number, name, 0, file, number, line};
    hprof_put_numbers(out, STACK_FRAME, frame, 6);
}

static void hprof_put_trace(struct hprof_writer *out, const struct tv_samples *samples,
                            uint32_t index)
{
    const struct tv_sample_trace *trace =
        (const struct tv_sample_trace *)samples->traces.at + index;
    const uint32_t *stack = (const uint32_t *)samples->stacks.at + trace->start;
    hprof_put_record_head(out, STACK_TRACE, (3 + trace->depth) * 4);
    tv_byte_buffer_put_u32(&out->bytes, TV_SAMPLES_FIRST_TRACE + index);
    tv_byte_buffer_put_u32(&out->bytes, TV_SAMPLES_FIRST_THREAD + trace->thread);
    tv_byte_buffer_put_u32(&out->bytes, trace->depth);
    for (uint32_t i = 0; i < trace->depth; i++)
        tv_byte_buffer_put_u32(&out->bytes, stack[i]);
}

/* Write the counts; a file without samples has no such record. */
static void hprof_put_counts(struct hprof_writer *out, const struct tv_samples *samples,
                             const uint32_t *order)
{
    const struct tv_sample_trace *traces = samples->traces.at;
    uint32_t count = samples->traces.count;
    if (count == 0)
        return;
    hprof_put_record_head(out, CPU_SAMPLES, (2 + 2 * count) * 4);
    tv_byte_buffer_put_u32(&out->bytes, hprof_saturate(samples->total));
    tv_byte_buffer_put_u32(&out->bytes, count);
    for (uint32_t i = 0; i < count; i++) {
        tv_byte_buffer_put_u32(&out->bytes, hprof_saturate(traces[order[i]].count));
        tv_byte_buffer_put_u32(&out->bytes, TV_SAMPLES_FIRST_TRACE + order[i]);
    }
}

/* Write the file: header, settings, threads, frames, traces, counts. Each record comes after those
 * it names; numbers of frames start at 1. */
static void hprof_put_all(struct hprof_writer *out, const struct tv_samples *samples,
                          const uint32_t *order, uint32_t depth, uint64_t now_ms)
{
    static const char magic[] = "JAVA PROFILE 1.0.2";
    const struct tv_sample_event *events = samples->events.at;
    const struct tv_sample_element *elements = samples->elements.at;
    tv_byte_buffer_put(&out->bytes, magic, sizeof magic);
    tv_byte_buffer_put_u32(&out->bytes, 4);
    tv_byte_buffer_put_u32(&out->bytes, (uint32_t)(now_ms >> 32));
    tv_byte_buffer_put_u32(&out->bytes, (uint32_t)now_ms);
    hprof_put_record_head(out, CONTROL_SETTINGS, 6);
    tv_byte_buffer_put_u32(&out->bytes, CPU_SAMPLING);
    tv_byte_buffer_put_u16(&out->bytes, depth);
    for (uint32_t i = 0; i < samples->events.count; i++)
        hprof_put_thread_event(out, samples, &events[i]);
    for (uint32_t i = 0; i < samples->elements.count; i++)
        hprof_put_frame(out, &elements[i], i + 1);
    for (uint32_t i = 0; i < samples->traces.count; i++)
        hprof_put_trace(out, samples, order[i]);
    hprof_put_counts(out, samples, order);
}

bool tv_hprof_binary_write(const struct tv_samples *samples, uint32_t depth, uint64_t now_ms,
                           FILE *to)
{
    struct hprof_writer out = {0};
    uint32_t *order = tv_samples_rank_traces(samples);
    bool fine = order != NULL;
    if (fine) {
        hprof_put_all(&out, samples, order, depth, now_ms);
        fine = !out.bytes.failed &&
               fwrite(out.bytes.data, 1, out.bytes.length, to) == out.bytes.length &&
               fflush(to) == 0;
    }
    tv_byte_buffer_release(&out.bytes);
    free(order);
    return fine;
}
