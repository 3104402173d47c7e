/* SPDX-License-Identifier: Apache-2.0 */
/*
 * options.c - the option table and its parser (see options.h).
 *
 * Everything follows from `table`: parsing, limits, the message for a wrong value, the help text
 * and the options that had no effect.  A row says where in struct tv_agent_options its value goes,
 * and its kind says which type that member has:
 *
 *     TEXT                  char *, a copy that tv_agent_options_release frees
 *     CHOICE                unsigned: the index of the word in `values`
 *     FLAG                  bool
 *     NUMBER, SIZE, TIME    uint64_t; TIME in microseconds
 *     ON_SIZE, ON_TIME      struct tv_agent_amount: on or off, and a number if one was given
 *
 * The text is "name=value,name=value".  A comma within a value is written twice.  An option that is
 * given twice has its last value, so TRACEVIEW_AGENT_OPTIONS can change what a script wrote.
 */
#include "recorder/agent/options.h"

#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "recorder/recording.h"
#include "recorder/samples/samples.h"

/* ON_SIZE and ON_TIME take y, n, or a number of that unit (struct tv_agent_amount). */
enum option_kind { TEXT, CHOICE, FLAG, ON_SIZE, ON_TIME, NUMBER, SIZE, TIME };

/* The part of the agent that an option affects. */
enum use { ANY, CALLS, STACKS };

struct agent_option {
    const char *name;
    enum use use;
    enum option_kind kind;
    const char *values; /* names of a CHOICE in enum order, separated by |; else for the help */
    size_t offset;      /* offset of the member in struct tv_agent_options */
    uint64_t least;     /* limits of numbers, in bytes or microseconds */
    uint64_t most;
    const char *help;
};

#define AT(member) offsetof(struct tv_agent_options, member)
#define LONGEST_US (UINT64_C(1000000) * 60 * 60 * 24 * 365)

static const struct agent_option table[] = {
    {"mode", ANY, CHOICE, "trace|sample|both", AT(mode), 0, 0, "calls, stacks, or both"},
    {"engine", CALLS, CHOICE, "auto|bci|events", AT(engine), 0, 0,
     "calls by rewritten classes or by events"},
    {"file", ANY, TEXT, "PATH", AT(file), 0, 0, "%p: process id, %t: time, %%: %"},
    {"force", ANY, FLAG, "y|n", AT(force), 0, 0, "overwrite the file"},
    {"clock", CALLS, CHOICE, "wall|cpu|dual", AT(clock), 0, 0, "of the trace"},
    {"buffer", CALLS, SIZE, "8m", AT(buffer), TV_RECORDING_BUFFER_MIN, TV_RECORDING_BUFFER_LIMIT,
     "bytes of the trace's file"},
    {"least", CALLS, TIME, "0s", AT(least_us), 0, UINT64_C(1000000) * 60 * 60,
     "calls that last less are left out"},
    {"trigger", CALLS, TEXT, "GLOB[:GLOB]", AT(trigger), 0, 0,
     "Class.method: calls of a thread below such a call only"},
    {"slow", CALLS, TEXT, "GLOB[:GLOB]", AT(slow), 0, 0,
     "Class.method: a call that lasts as long as limit says ends the recording"},
    {"limit", CALLS, TIME, "1s", AT(limit_us), 1, UINT64_C(1000000) * 60 * 60, "of slow"},
    {"grow", CALLS, FLAG, "n|y", AT(grow), 0, 0,
     "a full buffer grows to 1g in files beside the trace's"},
    {"full", CALLS, CHOICE, "stop|ring|stream", AT(full), 0, 0, "when the buffer is full"},
    {"spool", CALLS, TEXT, "FOLDER", AT(spool), 0, 0, "buffers that outlive SIGKILL"},
    {"orphans", CALLS, FLAG, "y|n", AT(orphans), 0, 0, "exits whose entry came before the start"},
    {"alloc", ANY, ON_SIZE, "n|y|SIZE", AT(alloc), 1, 1 << 30,
     "trace: count objects and collections (HotSpot 11, ART); json, folded: sample allocations, "
     "one "
     "in SIZE bytes (y: 512k; HotSpot 11)"},
    {"lock", ANY, ON_TIME, "n|y|TIME", AT(lock), 0, UINT64_C(1000000) * 60 * 60,
     "json: waits for monitors and parks, of TIME at least"},
    {"include", CALLS, TEXT, "GLOB[:GLOB]", AT(include), 0, 0, "classes to trace"},
    {"exclude", CALLS, TEXT, "GLOB[:GLOB]", AT(exclude), 0, 0, "classes not to trace"},
    {"boot", CALLS, FLAG, "n|y", AT(boot), 0, 0, "trace the classes of the machine too"},
    {"threads", STACKS, TEXT, "GLOB|group:NAME|all", AT(threads), 0, 0,
     "to sample, or to trace by events"},
    {"rate", STACKS, NUMBER, "100", AT(rate), 0, 10000,
     "samples in a second; 0: none, for alloc and lock alone"},
    {"interval", STACKS, TIME, "10ms", AT(interval_us), 100, LONGEST_US,
     "between samples, instead of rate"},
    {"depth", STACKS, NUMBER, "512", AT(depth), 1, 2048, "frames of a stack that are kept"},
    {"stack", STACKS, CHOICE, "auto|jvmti|agct", AT(stack), 0, 0,
     "agct (auto: if it works): where a thread is, not at its next safepoint"},
    {"state", STACKS, CHOICE, "all|runnable|running", AT(state), 0, 0, "threads that count"},
    {"format", STACKS, CHOICE, "android|jdk|binary|json|folded", AT(format), 0, 0,
     "of the samples"},
    {"delay", ANY, TIME, "0s", AT(delay_us), 0, LONGEST_US, "before the start"},
    {"duration", ANY, TIME, "0s", AT(duration_us), 0, LONGEST_US,
     "after the start; 0s: to the end"},
    {"start", ANY, FLAG, "y|n", AT(start), 0, 0, "n: wait for the control"},
    {"control", ANY, TEXT, "SIGNAL|fifo:PATH", AT(control), 0, 0, "starts and stops"},
    {"watch", ANY, TEXT, "PATH", AT(watch), 0, 0,
     "of an attached recording: ends when nobody locks that file any more"},
    {"verbose", ANY, FLAG, "n|y", AT(verbose), 0, 0, "say what is done"},
    {"quiet", ANY, FLAG, "n|y", AT(quiet), 0, 0, "say nothing at all"},
};

#define OPTIONS (sizeof table / sizeof table[0])
_Static_assert(OPTIONS <= 64, "`given` has a bit for each");

void tv_agent_options_init(struct tv_agent_options *options)
{
    *options = (struct tv_agent_options){.force = true,
                                         .orphans = true,
                                         .start = true,
                                         .buffer = TV_RECORDING_BUFFER_DEFAULT,
                                         .limit_us = 1000000,
                                         .alloc = {.number = 512 << 10},
                                         .rate = 100,
                                         .depth = 512};
}

/* Find a word among "a|b|c", whose order is that of an enum. */
static bool options_read_choice(const char *values, const char *text, unsigned *chosen)
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

static bool options_read_flag(const char *text, bool *flag)
{
    if (text[0] == '\0' || text[1] != '\0' || strchr("yn", text[0]) == NULL)
        return false;
    *flag = text[0] == 'y';
    return true;
}

/* Unit suffixes. For output, the first unit of the kind that divides the number is used. */
static const struct option_unit {
    enum option_kind kind;
    const char *name;
    uint64_t factor;
} units[] = {
    {NUMBER, "", 1},         {SIZE, "g", 1 << 30}, {SIZE, "m", 1 << 20}, {SIZE, "k", 1 << 10},
    {SIZE, "", 1},           {SIZE, "G", 1 << 30}, {SIZE, "M", 1 << 20}, {SIZE, "K", 1 << 10},
    {TIME, "s", 1000000},    {TIME, "ms", 1000},   {TIME, "us", 1},      {TIME, "", 1000000},
    {TIME, "min", 60000000},
};

#define UNITS (sizeof units / sizeof units[0])

/* Return 0 for an unknown unit. */
static uint64_t options_unit_factor(enum option_kind kind, const char *unit)
{
    for (size_t i = 0; i < UNITS; i++)
        if (units[i].kind == kind && strcmp(units[i].name, unit) == 0)
            return units[i].factor;
    return 0;
}

/* Read decimals as millionths; truncate the rest. */
static uint64_t options_read_fraction(const char **text)
{
    uint64_t fraction = 0, worth = 100000;
    if (**text != '.' || (*text)[1] < '0' || (*text)[1] > '9')
        return 0;
    for (++*text; **text >= '0' && **text <= '9'; ++*text, worth /= 10)
        fraction += (uint64_t)(**text - '0') * worth;
    return fraction;
}

/* Read a number with a unit, and for times with a fraction; false: malformed or out of bounds. */
static bool options_read_number(const struct agent_option *option, const char *text,
                                uint64_t *number)
{
    char *end;
    if (text[0] < '0' || text[0] > '9')
        return false;
    errno = 0;
    uint64_t read = strtoull(text, &end, 10);
    const char *unit = end;
    uint64_t fraction = option->kind == TIME ? options_read_fraction(&unit) : 0;
    uint64_t factor = options_unit_factor(option->kind, unit);
    if (errno != 0 || factor == 0 || read > option->most / factor)
        return false;
    *number = read * factor + fraction * factor / 1000000;
    return *number >= option->least && *number <= option->most;
}

/* Write a number with the largest unit that divides it, so that it reads back as the same number.
 * The table ends each kind with the unit 1, which ends the search. */
static void options_print_number(enum option_kind kind, uint64_t number, char *text, size_t room)
{
    assert(kind >= NUMBER);
    size_t i = 0;
    while (i + 1 < UNITS && (units[i].kind != kind || number % units[i].factor != 0))
        i++;
    snprintf(text, room, "%" PRIu64 "%s", number / units[i].factor, units[i].name);
}

/* Write what the option expects instead of `text`. */
static void options_say_expected(const struct agent_option *option, const char *text, char *why,
                                 size_t room)
{
    char least[32], most[32];
    const char *times = option->kind == TIME ? " (in us, ms, s or min)" : "";
    if (option->kind < NUMBER) {
        snprintf(why, room, "option %s: expected %s, not \"%s\"", option->name, option->values,
                 text);
        return;
    }
    options_print_number(option->kind, option->least, least, sizeof least);
    options_print_number(option->kind, option->most, most, sizeof most);
    snprintf(why, room, "option %s: expected %s to %s%s, not \"%s\"", option->name, least, most,
             times, text);
}

static bool options_read_text(const char *text, char **kept)
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

static bool options_read_amount(const struct agent_option *option, const char *text,
                                struct tv_agent_amount *amount)
{
    struct agent_option number = *option;
    number.kind = option->kind == ON_SIZE ? SIZE : TIME;
    if (options_read_flag(text, &amount->on))
        return true;
    amount->on = options_read_number(&number, text, &amount->number);
    return amount->on;
}

static bool options_read_value(struct tv_agent_options *options, const struct agent_option *option,
                               const char *text)
{
    void *at = (char *)options + option->offset;
    switch (option->kind) {
    case TEXT:
        return options_read_text(text, at);
    case CHOICE:
        return options_read_choice(option->values, text, at);
    case FLAG:
        return options_read_flag(text, at);
    case ON_SIZE:
    case ON_TIME:
        return options_read_amount(option, text, at);
    case NUMBER:
    case SIZE:
    case TIME:
        return options_read_number(option, text, at);
    }
    return false;
}

/* "help" and "stop" have no value. */
static bool options_read_order(struct tv_agent_options *options, const char *text)
{
    bool help = strcmp(text, "help") == 0, stop = strcmp(text, "stop") == 0;
    options->help = options->help || help;
    options->stop = options->stop || stop;
    return help || stop;
}

/* Read one option.  False: `why` says what is wrong with it. */
static bool options_read_next(struct tv_agent_options *options, const char *text, char *why,
                              size_t room)
{
    size_t name = strcspn(text, "=");
    if (options_read_order(options, text))
        return true;
    for (size_t i = 0; i < OPTIONS; i++) {
        const struct agent_option *option = &table[i];
        if (strlen(option->name) != name || memcmp(option->name, text, name) != 0)
            continue;
        options->given |= UINT64_C(1) << i;
        if (text[name] == '=' && options_read_value(options, option, text + name + 1))
            return true;
        options_say_expected(option, text[name] == '=' ? text + name + 1 : "", why, room);
        return false;
    }
    snprintf(why, room, "no such option: \"%s\" (\"help\" lists them)", text);
    return false;
}

/* Terminate the option at its comma and reduce double commas. Return the next option, or NULL. */
static char *options_cut_next(char *text)
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

/* Parse RTMIN, RTMIN+N or RTMAX-N. */
static int options_real_time_signal(const char *name)
{
    bool up = strncmp(name, "RTMIN", 5) == 0, down = strncmp(name, "RTMAX", 5) == 0;
    int first = up ? SIGRTMIN : SIGRTMAX;
    char *end;
    if (!up && !down)
        return 0;
    if (name[5] == '\0')
        return first;
    if (name[5] != (up ? '+' : '-') || name[6] < '0' || name[6] > '9')
        return 0;
    long more = strtol(name + 6, &end, 10);
    if (*end != '\0' || more > SIGRTMAX - SIGRTMIN)
        return 0;
    return up ? first + (int)more : first - (int)more;
}

int tv_agent_signal_number(const char *name)
{
    static const struct {
        const char *name;
        int number;
    } names[] = {{"USR1", SIGUSR1},   {"USR2", SIGUSR2}, {"HUP", SIGHUP},
                 {"WINCH", SIGWINCH}, {"PROF", SIGPROF}, {"URG", SIGURG}};
    if (strncmp(name, "SIG", 3) == 0)
        name += 3;
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (strcmp(names[i].name, name) == 0)
            return names[i].number;
    char *end;
    long number = strtol(name, &end, 10);
    if (*end != '\0' || end == name)
        return options_real_time_signal(name);
    return number > 0 && number <= SIGRTMAX ? (int)number : 0;
}

/* Check the signal or fifo of `control`. */
static bool options_check_control(const struct tv_agent_options *options, char *why, size_t room)
{
    const char *control = options->control;
    if (control == NULL || strncmp(control, "fifo:", 5) == 0)
        return true;
    int number = tv_agent_signal_number(control);
    if (number > 0 && number != SIGUSR2)
        return true;
    snprintf(why, room, "option control: %s: \"%s\" (USR1, 10, RTMIN+3; or fifo:PATH)",
             number == SIGUSR2 ? "the JVM suspends threads by that signal" : "no such signal",
             control);
    return false;
}

/* With rate=0, something other than stacks must be recorded. */
static bool options_check_rate(const struct tv_agent_options *options, char *why, size_t room)
{
    if (options->mode == TV_AGENT_TRACE || tv_agent_options_tick(options) ||
        tv_agent_options_sample_allocations(options) || tv_agent_options_record_locks(options))
        return true;
    snprintf(why, room,
             "option rate: 0 leaves nothing to record: alloc goes with format=json or folded, lock "
             "with format=json");
    return false;
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
        next = options_cut_next(one);
        fine = one[0] == '\0' || options_read_next(options, one, why, room);
    }
    free(copy);
    return fine && options_check_rate(options, why, room) &&
           options_check_control(options, why, room);
}

bool tv_agent_options_tick(const struct tv_agent_options *options)
{
    return options->rate > 0 || options->interval_us > 0;
}

bool tv_agent_options_sample_allocations(const struct tv_agent_options *options)
{
    bool alone = options->mode == TV_AGENT_SAMPLE && !tv_agent_options_tick(options);
    return options->alloc.on && options->mode != TV_AGENT_TRACE &&
           (options->format == TV_SAMPLES_EVENTS ||
            (options->format == TV_SAMPLES_COLLAPSED && alone));
}

bool tv_agent_options_record_locks(const struct tv_agent_options *options)
{
    return options->lock.on && options->mode != TV_AGENT_TRACE &&
           options->format == TV_SAMPLES_EVENTS;
}

/* Is alloc neither sampled nor counted? */
static bool options_alloc_is_ignored(const struct tv_agent_options *options)
{
    return options->alloc.on && options->mode == TV_AGENT_SAMPLE &&
           !tv_agent_options_sample_allocations(options);
}

/* Does the option have no effect? Options for calls also apply to traces requested by Java code,
 * which may come at any time when the options start nothing. */
static bool option_is_ignored(const struct tv_agent_options *options,
                              const struct agent_option *option, bool by_events)
{
    bool waits = !options->start && options->control == NULL;
    if (strcmp(option->name, "rate") == 0 && options->interval_us > 0)
        return true;
    if (strcmp(option->name, "delay") == 0)
        return !options->start;
    if (option->kind == ON_SIZE)
        return !waits && options_alloc_is_ignored(options);
    if (option->kind == ON_TIME)
        return options->lock.on && !tv_agent_options_record_locks(options);
    if (strcmp(option->name, "threads") == 0 && by_events)
        return false;
    return (option->use == CALLS && options->mode == TV_AGENT_SAMPLE && !waits) ||
           (option->use == STACKS && options->mode == TV_AGENT_TRACE);
}

bool tv_agent_options_idle(const struct tv_agent_options *options, bool by_events, char *names,
                           size_t room)
{
    size_t at = 0;
    names[0] = '\0';
    for (size_t i = 0; i < OPTIONS && at < room; i++)
        if ((options->given >> i & 1) != 0 && option_is_ignored(options, &table[i], by_events))
            at +=
                (size_t)snprintf(names + at, room - at, "%s%s", at > 0 ? ", " : "", table[i].name);
    return at > 0;
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
