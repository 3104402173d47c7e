/* SPDX-License-Identifier: Apache-2.0 */
/* options.c - see options.h. */
#include "recorder/agent/options.h"

#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "recorder/recording.h"

enum kind { TEXT, CHOICE, FLAG, NUMBER, SIZE, TIME };

struct option {
    const char *name;
    enum kind kind;
    const char *values; /* of a choice, in the order of its enumeration, with | between */
    size_t offset;
    uint64_t least;
    uint64_t most;
    const char *help;
};

#define AT(member) offsetof(struct tv_agent_options, member)
#define LONGEST_MS (UINT64_C(1000) * 60 * 60 * 24 * 365)

static const struct option table[] = {
    {"mode", CHOICE, "trace|sample|both", AT(mode), 0, 0, "calls, stacks, or both"},
    {"engine", CHOICE, "auto|bci|events", AT(engine), 0, 0,
     "calls by rewritten classes or by events"},
    {"file", TEXT, "PATH", AT(file), 0, 0, "%p: process id, %t: time, %%: %"},
    {"force", FLAG, "y|n", AT(force), 0, 0, "overwrite the file"},
    {"clock", CHOICE, "wall|cpu|dual", AT(clock), 0, 0, "of the trace"},
    {"buffer", SIZE, "8m", AT(buffer), TV_RECORDING_BUFFER_LEAST, TV_RECORDING_BUFFER_LIMIT,
     "bytes of the trace's file"},
    {"full", CHOICE, "stop|ring|stream", AT(full), 0, 0, "when the buffer is full"},
    {"spool", TEXT, "FOLDER", AT(spool), 0, 0, "buffers that outlive SIGKILL"},
    {"orphans", FLAG, "y|n", AT(orphans), 0, 0, "exits whose entry came before the start"},
    {"alloc", FLAG, "n|y", AT(alloc), 0, 0, "count objects and collections (HotSpot 11, ART)"},
    {"include", TEXT, "GLOB[:GLOB]", AT(include), 0, 0, "classes to trace"},
    {"exclude", TEXT, "GLOB[:GLOB]", AT(exclude), 0, 0, "classes not to trace"},
    {"boot", FLAG, "n|y", AT(boot), 0, 0, "trace the classes of the machine too"},
    {"threads", TEXT, "GLOB|group:NAME|all", AT(threads), 0, 0, "to sample, or to trace by events"},
    {"rate", NUMBER, "100", AT(rate), 1, 10000, "samples in a second"},
    {"interval", TIME, "10ms", AT(interval_ms), 1, LONGEST_MS, "between samples, instead of rate"},
    {"depth", NUMBER, "12", AT(depth), 1, 2048, "of the stacks"},
    {"stack", CHOICE, "jvmti|agct", AT(stack), 0, 0,
     "agct: where a thread is, not at its next safepoint"},
    {"state", CHOICE, "all|runnable", AT(state), 0, 0, "threads that count"},
    {"format", CHOICE, "android|jdk|binary", AT(format), 0, 0, "of the samples"},
    {"delay", TIME, "0s", AT(delay_ms), 0, LONGEST_MS, "before the start"},
    {"duration", TIME, "0s", AT(duration_ms), 0, LONGEST_MS, "after the start; 0s: to the end"},
    {"start", FLAG, "y|n", AT(start), 0, 0, "n: wait for the control"},
    {"control", TEXT, "SIGNAL|fifo:PATH", AT(control), 0, 0, "starts and stops"},
    {"verbose", FLAG, "n|y", AT(verbose), 0, 0, "say what is done"},
    {"quiet", FLAG, "n|y", AT(quiet), 0, 0, "say nothing at all"},
};

#define OPTIONS (sizeof table / sizeof table[0])

void tv_agent_options_init(struct tv_agent_options *options)
{
    *options = (struct tv_agent_options){.force = true,
                                         .orphans = true,
                                         .start = true,
                                         .buffer = TV_RECORDING_BUFFER_DEFAULT,
                                         .rate = 100,
                                         .depth = 12};
}

static bool read_choice(const char *values, const char *text, unsigned *chosen)
{
    size_t length = strlen(text);
    for (unsigned i = 0;; i++) {
        size_t one = strcspn(values, "|");
        if (one == length && memcmp(values, text, length) == 0) {
            *chosen = i;
            return true;
        }
        if (values[one] == '\0')
            return false;
        values += one + 1;
    }
}

static bool read_flag(const char *text, bool *flag)
{
    if (text[0] == '\0' || text[1] != '\0' || strchr("yn", text[0]) == NULL)
        return false;
    *flag = text[0] == 'y';
    return true;
}

/* What the letters behind a number multiply it by, 0 when they are not known. */
static uint64_t unit_of(enum kind kind, const char *unit)
{
    static const struct {
        enum kind kind;
        const char *unit;
        uint64_t factor;
    } units[] = {
        {NUMBER, "", 1},      {SIZE, "", 1},        {SIZE, "k", 1 << 10}, {SIZE, "m", 1 << 20},
        {SIZE, "g", 1 << 30}, {TIME, "", 1000},     {TIME, "s", 1000},    {TIME, "ms", 1},
        {TIME, "min", 60000}, {SIZE, "K", 1 << 10}, {SIZE, "M", 1 << 20}, {SIZE, "G", 1 << 30},
    };
    for (size_t i = 0; i < sizeof units / sizeof units[0]; i++)
        if (units[i].kind == kind && strcmp(units[i].unit, unit) == 0)
            return units[i].factor;
    return 0;
}

static bool read_number(const struct option *option, const char *text, uint64_t *number)
{
    char *end;
    if (text[0] < '0' || text[0] > '9')
        return false;
    errno = 0;
    uint64_t read = strtoull(text, &end, 10);
    uint64_t factor = unit_of(option->kind, end);
    if (errno != 0 || factor == 0 || read > option->most / factor)
        return false;
    *number = read * factor;
    return *number >= option->least;
}

static bool read_text(const char *text, char **kept)
{
    char *copy = strdup(text);
    if (copy == NULL || text[0] == '\0') {
        free(copy);
        return false;
    }
    free(*kept);
    *kept = copy;
    return true;
}

static bool read_value(struct tv_agent_options *options, const struct option *option,
                       const char *text)
{
    void *at = (char *)options + option->offset;
    switch (option->kind) {
    case TEXT:
        return read_text(text, at);
    case CHOICE:
        return read_choice(option->values, text, at);
    case FLAG:
        return read_flag(text, at);
    case NUMBER:
    case SIZE:
    case TIME:
        return read_number(option, text, at);
    }
    return false;
}

/* "help" and "stop" stand alone. */
static bool read_order(struct tv_agent_options *options, const char *text)
{
    bool help = strcmp(text, "help") == 0, stop = strcmp(text, "stop") == 0;
    options->help = options->help || help;
    options->stop = options->stop || stop;
    return help || stop;
}

static bool read_one(struct tv_agent_options *options, const char *text, char *why, size_t room)
{
    size_t name = strcspn(text, "=");
    if (read_order(options, text))
        return true;
    for (size_t i = 0; i < OPTIONS; i++) {
        const struct option *option = &table[i];
        if (strlen(option->name) != name || memcmp(option->name, text, name) != 0)
            continue;
        if (text[name] == '=' && read_value(options, option, text + name + 1))
            return true;
        snprintf(why, room, "option %s: expected %s, not \"%s\"", option->name, option->values,
                 text[name] == '=' ? text + name + 1 : "");
        return false;
    }
    snprintf(why, room, "no such option: \"%s\" (\"help\" lists them)", text);
    return false;
}

/* Ends the option at its comma; two commas are one of its value.  What follows, NULL: nothing. */
static char *cut_one(char *text)
{
    char *out = text;
    for (; *text != '\0'; text++) {
        if (text[0] == ',' && text[1] != ',') {
            *out = '\0';
            return text + 1;
        }
        text += text[0] == ',';
        *out++ = *text;
    }
    *out = '\0';
    return NULL;
}

bool tv_agent_options_read(struct tv_agent_options *options, const char *text, char *why,
                           size_t room)
{
    if (text == NULL)
        return true;
    char *copy = strdup(text), *next = copy;
    if (copy == NULL) {
        snprintf(why, room, "out of memory");
        return false;
    }
    bool fine = true;
    while (fine && next != NULL) {
        char *one = next;
        next = cut_one(one);
        fine = one[0] == '\0' || read_one(options, one, why, room);
    }
    free(copy);
    return fine;
}

void tv_agent_options_release(struct tv_agent_options *options)
{
    for (size_t i = 0; i < OPTIONS; i++)
        if (table[i].kind == TEXT)
            free(*(char **)(void *)((char *)options + table[i].offset));
    *options = (struct tv_agent_options){0};
}

void tv_agent_options_help(FILE *to)
{
    fprintf(to,
            "-agentpath:libtraceview-agent.so=NAME=VALUE,...\n\n"
            "A comma within a value is written twice.  TRACEVIEW_AGENT_OPTIONS adds to them.\n\n");
    for (size_t i = 0; i < OPTIONS; i++)
        fprintf(to, "  %-10s %-20s %s\n", table[i].name, table[i].values, table[i].help);
    fprintf(to, "  %-10s %-20s %s\n", "stop", "", "attached again: end the recording");
    fprintf(to, "  %-10s %-20s %s\n", "help", "", "this text, and no program");
}
