/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hprof_text.c - samples as text, in the dialects of Android's profiler and of the JDK's.
 *
 * Both are read by programs, so numbers and days are those of the C locale whatever the host's is.
 */
#include <locale.h>
#include <stdlib.h>

#include "recorder/samples.h"

/* The JDK counts its ids from one less. */
#define JDK_LESS 1u

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
    else if (jdk)
        fprintf(to, "THREAD START (obj=%x, id = %u, name=\"%s\", group=\"%s\")\n", object, id,
                thread->name, group);
    else
        fprintf(to, "THREAD START (obj=%u, id = %u, name=\"%s\", group=\"%s\")\n", object, id,
                thread->name, group);
}

static void write_element(const struct tv_sample_element *element, bool jdk, FILE *to)
{
    fprintf(to, "\t%s.%s(", element->class_name, element->name);
    if (element->line == TV_SAMPLES_NATIVE_LINE && jdk)
        fprintf(to, "%s:Native method", element->file == NULL ? "<Unknown Source>" : element->file);
    else if (element->line == TV_SAMPLES_NATIVE_LINE)
        fputs("Native Method", to);
    else if (element->file == NULL)
        fputs(jdk ? "<Unknown Source>:Unknown line" : "Unknown Source", to);
    else if (element->line >= 0)
        fprintf(to, "%s:%d", element->file, element->line);
    else
        fprintf(to, jdk ? "%s:Unknown line" : "%s", element->file);
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
                jdk ? "%4lld %5.2f%% %5.2f%% %7lld %5lld %s.%s\n"
                    : "% 4lld% 6.2f%%% 6.2f%% % 7lld % 5lld %s.%s\n",
                (long long)i + 1, self * 100, accumulated * 100, (long long)trace->count,
                (long long)trace_id(order[i], jdk), top->class_name, top->name);
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
    uint32_t *order = tv_samples_rank(samples);
    locale_t plain = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    bool fine = order != NULL && plain != (locale_t)0;
    if (fine) {
        locale_t before = uselocale(plain);
        write_all(samples, order, dialect == TV_HPROF_JDK, now, to);
        uselocale(before);
        fine = fflush(to) == 0 && !ferror(to);
    }
    if (plain != (locale_t)0)
        freelocale(plain);
    free(order);
    return fine;
}
