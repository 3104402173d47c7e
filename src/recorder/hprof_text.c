/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hprof_text.c - samples as text, in the dialects of Android's profiler and of the JDK's.
 *
 * Both are read by programs, so numbers and days are those of the C locale whatever the host's is.
 */
#include <errno.h>
#include <locale.h>
#include <stdlib.h>

#include "recorder/samples.h"

/* The JDK counts its ids from one less. */
#define JDK_LESS 1u

/* A name between quotes, on one line: what would end either becomes something like it. */
static void put_quoted(const char *text, FILE *to)
{
    for (; *text; text++)
        fputc((unsigned char)*text < ' ' ? ' ' : *text == '"' ? '\'' : *text, to);
}

static void put_name(const char *text, FILE *to)
{
    for (; *text; text++)
        fputc((unsigned char)*text < ' ' ? ' ' : *text, to);
}

static bool is_balanced(const char *text)
{
    size_t open = 0;
    for (; *text; text++) {
        if (*text == ')' && open-- == 0)
            return false;
        open += *text == '(';
    }
    return open == 0;
}

/* Readers look for the parentheses around it from the line's end. */
static void put_file(const char *text, FILE *to)
{
    bool exact = is_balanced(text);
    for (; *text; text++) {
        char c = (unsigned char)*text < ' ' ? ' ' : *text;
        fputc(exact ? c : c == '(' ? '[' : c == ')' ? ']' : c, to);
    }
}

static void write_event(const struct tv_samples *samples, const struct tv_sample_event *event,
                        bool jdk, FILE *to)
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
    put_quoted(thread->name, to);
    fputs("\", group=\"", to);
    put_quoted(group, to);
    fputs("\")\n", to);
}

static void write_element(const struct tv_sample_element *element, bool jdk, FILE *to)
{
    fputc('\t', to);
    put_name(element->class_name, to);
    fputc('.', to);
    put_name(element->name, to);
    fputc('(', to);
    bool native = element->line == TV_SAMPLES_NATIVE_LINE;
    if (native && !jdk)
        fputs("Native Method", to);
    else if (element->file == NULL)
        fputs(jdk ? "<Unknown Source>" : "Unknown Source", to);
    else
        put_file(element->file, to);
    if (jdk && (native || element->file == NULL || element->line < 0))
        fputs(native ? ":Native method" : ":Unknown line", to);
    else if (element->file != NULL && element->line >= 0)
        fprintf(to, ":%d", element->line);
    fputs(")\n", to);
}

static uint32_t trace_id(uint32_t index, bool jdk)
{
    return TV_SAMPLES_FIRST_TRACE + index - (jdk ? JDK_LESS : 0);
}

static void write_trace(const struct tv_samples *samples, uint32_t index, bool jdk, FILE *to)
{
    const struct tv_sample_element *elements = samples->elements.at;
    const struct tv_sample_trace *traces = samples->traces.at;
    const struct tv_sample_trace *trace = &traces[index];
    const uint32_t *stack = (const uint32_t *)samples->stacks.at + trace->start;
    if (jdk)
        fprintf(to, "TRACE %u:\n", trace_id(index, jdk));
    else
        fprintf(to, "TRACE %u: (thread=%u)\n", trace_id(index, jdk),
                TV_SAMPLES_FIRST_THREAD + trace->thread);
    for (uint32_t i = 0; i < trace->depth; i++)
        write_element(&elements[stack[i] - 1], jdk, to);
}

static void write_ranks(const struct tv_samples *samples, const uint32_t *order, bool jdk, FILE *to)
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
        /* The blank before the id is the sign's place: it has six digits and is never negative. */
        fprintf(to,
                jdk ? "%4lld %5.2f%% %5.2f%% %7lld %5lld "
                    : "% 4lld% 6.2f%%% 6.2f%% % 7lld % 5lld ",
                (long long)i + 1, self * 100, accumulated * 100, (long long)trace->count,
                (long long)trace_id(order[i], jdk));
        put_name(top->class_name, to);
        fputc('.', to);
        put_name(top->name, to);
        fputc('\n', to);
    }
}

static void write_all(const struct tv_samples *samples, const uint32_t *order, bool jdk, time_t now,
                      FILE *to)
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
        write_event(samples, &events[i], jdk, to);
    for (uint32_t i = 0; i < samples->traces.count; i++)
        write_trace(samples, order[i], jdk, to);
    fprintf(to, "CPU SAMPLES BEGIN (total = %llu) %s\n", (unsigned long long)samples->total, date);
    if (!jdk || samples->traces.count > 0)
        fputs("rank   self  accum   count trace method\n", to);
    write_ranks(samples, order, jdk, to);
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
        write_all(samples, order, dialect == TV_HPROF_JDK, now, to);
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
