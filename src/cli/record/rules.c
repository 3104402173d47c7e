/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rules.c - which options of `record` can be used for which kind of recording,
 * and which values they accept.
 *
 *     plan --> situation: calls, samples or events; native, Java or running; by the kernel
 *     option --> set of situations in which it has a meaning (`rules`)
 *
 * An option that a recording would ignore is an error, which names both:
 * somebody who gives it expects an effect.  Checks go from the option alone to
 * combinations, so that the first error is the simplest one.
 */
#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/bytes.h"
#include "cli/record/record.h"
#include "recorder/samples/samples.h"

/* Kinds of recordings, which are the columns of the table of rules. */
enum recording_situation {
    NATIVE_CALLS,
    NATIVE_SAMPLES,
    JAVA_CALLS,
    JAVA_SAMPLES,
    RUNNING_CALLS,
    RUNNING_SAMPLES,
    KERNEL_SAMPLES,
    JAVA_EVENTS, /* allocations or waits for locks, without stack samples */
    RUNNING_EVENTS,
};

/* Largest depths of stacks that the samplers keep. */
#define NATIVE_DEPTH 1024u
#define JVM_DEPTH 2048u

/* --engine: index of "events". */
#define EVENTS 2u

static const char *const called[] = {
    [NATIVE_CALLS] = "calls of a native program",
    [NATIVE_SAMPLES] = "samples of a native program",
    [JAVA_CALLS] = "calls of a Java program",
    [JAVA_SAMPLES] = "samples of a Java program",
    [RUNNING_CALLS] = "calls of a running JVM",
    [RUNNING_SAMPLES] = "samples of a running JVM",
    [KERNEL_SAMPLES] = "samples by the kernel",
    [JAVA_EVENTS] = "--alloc or --lock without --sample",
    [RUNNING_EVENTS] = "--alloc or --lock without --sample",
};

#define BIT(situation) (1u << (situation))
#define CALLS (BIT(NATIVE_CALLS) | JVM_CALLS)
#define JVM_EVENTS (BIT(JAVA_EVENTS) | BIT(RUNNING_EVENTS))
#define SAMPLES (BIT(NATIVE_SAMPLES) | JVM_SAMPLES | BIT(KERNEL_SAMPLES))
#define JVM_CALLS (BIT(JAVA_CALLS) | BIT(RUNNING_CALLS))
#define JVM_SAMPLES (BIT(JAVA_SAMPLES) | BIT(RUNNING_SAMPLES))
#define STARTED                                                                                    \
    (BIT(NATIVE_CALLS) | BIT(NATIVE_SAMPLES) | BIT(JAVA_CALLS) | BIT(JAVA_SAMPLES) |               \
     BIT(KERNEL_SAMPLES) | BIT(JAVA_EVENTS))

/* Options that can be combined with --snapshot and with --android; all others cannot. */
static const char *const of_snapshots[] = {"snapshot", "output", "o", "open", "q", "help", NULL};
static const char *const of_android[] = {"android", "device", "sample", "duration", "output", "o",
                                         "mapping", "open",   "q",      "help",     NULL};

/* Is an option in a list? */
static bool rules_is_among(const char *option, const char *const *options)
{
    for (; *options; options++)
        if (strcmp(*options, option) == 0)
            return true;
    return false;
}

/* The situations in which an option has a meaning. Options that are not listed can always be used.
 */
static const struct option_rule {
    const char *option;
    unsigned situations;
} rules[] = {
    {"device", 0},
    {"mapping", 0},
    {"host", STARTED},
    {"clock", CALLS},
    {"buffer", CALLS},
    {"full", CALLS},
    {"min-duration", CALLS},
    {"trigger", CALLS},
    {"stop-after-slow", CALLS},
    {"spool", CALLS},
    {"follow", BIT(NATIVE_CALLS)},
    {"engine", JVM_CALLS},
    {"include", JVM_CALLS},
    {"exclude", JVM_CALLS},
    {"boot", JVM_CALLS},
    {"threads", JVM_CALLS | JVM_SAMPLES | JVM_EVENTS},
    {"depth", SAMPLES | JVM_EVENTS},
    {"format", SAMPLES | JVM_EVENTS},
    {"alloc", JVM_SAMPLES | JVM_EVENTS},
    {"lock", JVM_SAMPLES | JVM_EVENTS},
    {"stack", SAMPLES},
    {"state", JVM_SAMPLES},
    {"delay", JVM_CALLS | JVM_SAMPLES | JVM_EVENTS | BIT(KERNEL_SAMPLES)},
    {"duration", JVM_CALLS | JVM_SAMPLES | JVM_EVENTS | BIT(KERNEL_SAMPLES)},
    {"off-cpu", BIT(KERNEL_SAMPLES)},
};

/* Classify the recording; the table of rules is indexed by the result. */
static enum recording_situation rules_situation(const struct tv_record_plan *plan)
{
    bool samples = plan->settings->record.sample > 0;
    bool is_running = plan->way == TV_RECORD_ATTACHED;
    if (plan->way == TV_RECORD_KERNEL)
        return KERNEL_SAMPLES;
    if (plan->has_samples && !samples && plan->way != TV_RECORD_PRELOADED)
        return is_running ? RUNNING_EVENTS : JAVA_EVENTS;
    if (is_running)
        return samples ? RUNNING_SAMPLES : RUNNING_CALLS;
    if (plan->way == TV_RECORD_PRELOADED)
        return samples ? NATIVE_SAMPLES : NATIVE_CALLS;
    return samples ? JAVA_SAMPLES : JAVA_CALLS;
}

bool tv_record_is_given(const struct tv_option *table, const struct tv_settings *settings,
                        const char *name)
{
    for (unsigned i = 0; table[i].name; i++)
        if (strcmp(table[i].name, name) == 0)
            return (settings->given & UINT64_C(1) << i) != 0;
    return false;
}

/* Refuse a number that is 0 or too large. */
static enum tv_status rules_check_number(const char *name, uint64_t value, uint64_t most,
                                         struct tv_error *err)
{
    if (value >= 1 && value <= most)
        return TV_OK;
    return tv_fail(err, TV_ERR_USAGE, TV_NO_OFFSET, "--%s: expected a number from 1 to %" PRIu64,
                   name, most);
}

static enum tv_status rules_check_buffer(uint64_t bytes, struct tv_error *err)
{
    if (bytes >= UINT64_C(1) << 10 && bytes <= UINT64_C(1) << 30)
        return TV_OK;
    return tv_fail(err, TV_ERR_USAGE, TV_NO_OFFSET, "--buffer: expected 1024 bytes to 1G");
}

/* Parse "500ms" or "2" (seconds); NULL gives 0. */
static enum tv_status rules_parse_ms(const char *name, const char *text, uint64_t *ms,
                                     struct tv_error *err)
{
    tv_ns time = 0;
    if (text && (!tv_parse_time(tv_bytes_of(text), INT64_C(1000000000), &time) || time < 1000000 ||
                 time > INT64_C(31536000) * 1000000000))
        return tv_fail(err, TV_ERR_USAGE, TV_NO_OFFSET,
                       "--%s: expected a time such as 10s or 500ms, found '%s'", name, text);
    *ms = (uint64_t)time / 1000000;
    return TV_OK;
}

#define LONGEST_MIN_NS (INT64_C(3600) * 1000000000)

/* Parse the shortest time of a call or a wait. */
static enum tv_status rules_parse_least(const char *name, const char *text, uint64_t *us,
                                        struct tv_error *err)
{
    tv_ns time = 0;
    if (text && (!tv_parse_time(tv_bytes_of(text), INT64_C(1000000000), &time) || time < 1000 ||
                 time > LONGEST_MIN_NS))
        return tv_fail(err, TV_ERR_USAGE, TV_NO_OFFSET,
                       "--%s: expected a time from 1us to 1 hour, found '%s'", name, text);
    *us = (uint64_t)time / 1000;
    return TV_OK;
}

/* Parse "GLOB:TIME"; the pattern may contain colons. */
static enum tv_status rules_parse_slow(const char *text, struct tv_record_plan *plan,
                                       struct tv_error *err)
{
    assert(plan->slow[0] == '\0');
    const char *colon = text ? strrchr(text, ':') : NULL;
    size_t length = colon ? (size_t)(colon - text) : 0;
    tv_ns time = 0;
    if (!text)
        return TV_OK;
    if (length == 0 || length >= sizeof plan->slow ||
        !tv_parse_time(tv_bytes_of(colon + 1), INT64_C(1000000000), &time) || time < 1000 ||
        time > LONGEST_MIN_NS)
        return tv_fail(err, TV_ERR_USAGE, TV_NO_OFFSET,
                       "--stop-after-slow: expected a method and a time from 1us to 1 hour, as "
                       "'*.handle:500ms', found '%.100s'",
                       text);
    memcpy(plan->slow, text, length);
    plan->slow[length] = '\0';
    plan->slow_us = (uint64_t)time / 1000;
    return TV_OK;
}

/* Refuse an empty text. */
static enum tv_status rules_check_text(const char *name, const char *text, struct tv_error *err)
{
    if (!text || text[0] != '\0')
        return TV_OK;
    return tv_fail(err, TV_ERR_USAGE, TV_NO_OFFSET, "--%s: expected a value, found ''", name);
}

/* Refuse an empty text in a list. */
static enum tv_status rules_check_list(const char *name, const struct tv_words *words,
                                       struct tv_error *err)
{
    enum tv_status status = TV_OK;
    for (size_t i = 0; i < words->count && status == TV_OK; i++)
        status = rules_check_text(name, words->items[i], err);
    return status;
}

/* Refuse empty texts: they come from variables of a shell that are not set. */
static enum tv_status rules_check_texts(const struct tv_settings *settings, struct tv_error *err)
{
    const struct tv_record_settings *record = &settings->record;
    const struct {
        const char *name, *text;
    } texts[] = {
        {"output", settings->output},
        {"spool", record->spool},
        {"threads", record->threads},
    };
    enum tv_status status = TV_OK;
    for (size_t i = 0; i < sizeof texts / sizeof texts[0] && status == TV_OK; i++)
        status = rules_check_text(texts[i].name, texts[i].text, err);
    if (status == TV_OK)
        status = rules_check_list("include", &record->include, err);
    if (status == TV_OK)
        status = rules_check_list("trigger", &record->trigger, err);
    return status == TV_OK ? rules_check_list("exclude", &record->exclude, err) : status;
}

/* Is the program recorded as a native one? */
static bool rules_is_native(const struct tv_record_plan *plan)
{
    return plan->way == TV_RECORD_PRELOADED || plan->way == TV_RECORD_KERNEL;
}

/* Refuse --delay and --duration for a program that is started: it is sampled from its start to its
 * end. */
static enum tv_status rules_check_times(const struct tv_record_plan *plan, struct tv_error *err)
{
    if (plan->way != TV_RECORD_KERNEL || plan->settings->files.count == 0 ||
        plan->delay_ms + plan->duration_ms == 0)
        return TV_OK;
    return tv_fail(err, TV_ERR_USAGE, TV_NO_OFFSET,
                   "--%s cannot be combined with samples of a native program",
                   plan->delay_ms > 0 ? "delay" : "duration");
}

/* Check the values of all options, and convert times into the plan. */
static enum tv_status rules_check_values(const struct tv_option *table, struct tv_record_plan *plan,
                                         struct tv_error *err)
{
    const struct tv_settings *settings = plan->settings;
    const struct tv_record_settings *record = &settings->record;
    enum tv_status status = rules_check_texts(settings, err);
    if (status == TV_OK && tv_record_is_given(table, settings, "sample"))
        status = rules_check_number("sample", record->sample, 10000, err);
    if (status == TV_OK && tv_record_is_given(table, settings, "depth"))
        status = rules_check_number("depth", record->depth,
                                    rules_is_native(plan) ? NATIVE_DEPTH : JVM_DEPTH, err);
    if (status == TV_OK && tv_record_is_given(table, settings, "pid"))
        status = rules_check_number("pid", record->pid, INT32_MAX, err);
    if (status == TV_OK && tv_record_is_given(table, settings, "buffer"))
        status = rules_check_buffer(record->buffer, err);
    if (status == TV_OK)
        status = rules_parse_ms("delay", record->delay, &plan->delay_ms, err);
    if (status == TV_OK)
        status = rules_parse_ms("duration", record->duration, &plan->duration_ms, err);
    if (status == TV_OK)
        status = rules_parse_least("min-duration", record->min_duration, &plan->least_us, err);
    if (status == TV_OK)
        status = rules_parse_slow(record->stop_after_slow, plan, err);
    if (status == TV_OK)
        status = rules_parse_least("lock", record->lock, &plan->lock_us, err);
    return status;
}

/* Check --off-cpu: only JSON can hold off-CPU slices. */
static enum tv_status rules_check_off_cpu(const struct tv_record_plan *plan, struct tv_error *err)
{
    if (!plan->settings->record.off_cpu || plan->form == TV_SAMPLES_EVENTS)
        return TV_OK;
    return tv_fail(err, TV_ERR_USAGE, TV_NO_OFFSET, "--off-cpu needs --format json");
}

#define LARGEST_INTERVAL (UINT64_C(1) << 30)

/* Check --alloc and --lock: other formats than JSON cannot hold bytes and waits. */
static enum tv_status rules_check_events(const struct tv_record_plan *plan, struct tv_error *err)
{
    const struct tv_settings *settings = plan->settings;
    bool is_alone = settings->record.sample == 0 && !plan->with_lock;
    if (plan->with_alloc &&
        (settings->record.alloc < 1 || settings->record.alloc > LARGEST_INTERVAL))
        return tv_fail(err, TV_ERR_USAGE, TV_NO_OFFSET, "--alloc: expected 1 byte to 1G");
    if (plan->form == TV_SAMPLES_EVENTS || !plan->has_samples)
        return TV_OK;
    if (plan->with_lock)
        return tv_fail(err, TV_ERR_USAGE, TV_NO_OFFSET, "--lock needs --format json");
    if (plan->with_alloc && !(is_alone && plan->form == TV_SAMPLES_COLLAPSED))
        return tv_fail(err, TV_ERR_USAGE, TV_NO_OFFSET,
                       "--alloc needs --format json or, without --sample, folded");
    return TV_OK;
}

/* Check --stack: jvmti and agct are for JVMs, shadow and fp for native programs, auto and perf for
 * any. */
static enum tv_status rules_check_stack(enum recording_situation situation,
                                        const struct tv_settings *settings, struct tv_error *err)
{
    unsigned stack = settings->record.stack;
    bool of_jvm = stack <= TV_RECORD_STACK_AGCT;
    if (stack == TV_RECORD_STACK_AUTO || situation == KERNEL_SAMPLES ||
        of_jvm == (situation != NATIVE_SAMPLES))
        return TV_OK;
    return tv_fail(err, TV_ERR_USAGE, TV_NO_OFFSET, "--stack: expected one of %s for %s",
                   of_jvm ? "shadow, fp, perf, dwarf" : "jvmti, agct, perf, dwarf",
                   called[situation]);
}

/* Check --threads: rewritten classes record all threads. */
static enum tv_status rules_check_threads(const struct tv_record_plan *plan, struct tv_error *err)
{
    const struct tv_record_settings *record = &plan->settings->record;
    if (!record->threads || plan->has_samples || record->engine == EVENTS)
        return TV_OK;
    return tv_fail(err, TV_ERR_USAGE, TV_NO_OFFSET,
                   "--threads needs --sample, --alloc, --lock or --engine events");
}

/* Refuse options that cannot be combined with --snapshot or --android (`name`). */
static enum tv_status rules_check_alone(const struct tv_option *table,
                                        const struct tv_settings *settings, const char *name,
                                        const char *const *options, struct tv_error *err)
{
    for (size_t i = 0; table[i].name; i++)
        if (!rules_is_among(table[i].name, options) &&
            tv_record_is_given(table, settings, table[i].name))
            return tv_fail(err, TV_ERR_USAGE, TV_NO_OFFSET, "--%s cannot be combined with --%s",
                           table[i].name, name);
    if (settings->files.count > 0)
        return tv_fail(err, TV_ERR_USAGE, TV_NO_OFFSET, "--%s cannot be combined with a program",
                       name);
    return rules_check_text("output", settings->output, err);
}

/* Check the few options that go with --snapshot. */
static enum tv_status rules_check_snapshot(const struct tv_option *table,
                                           const struct tv_settings *settings, struct tv_error *err)
{
    enum tv_status status = rules_check_alone(table, settings, "snapshot", of_snapshots, err);
    return status == TV_OK
               ? rules_check_number("snapshot", settings->record.snapshot, INT32_MAX, err)
               : status;
}

/* Check the few options that go with --android. */
static enum tv_status rules_check_android(const struct tv_option *table,
                                          struct tv_record_plan *plan, struct tv_error *err)
{
    const struct tv_settings *settings = plan->settings;
    enum tv_status status = rules_check_alone(table, settings, "android", of_android, err);
    if (status == TV_OK && tv_record_is_given(table, settings, "sample"))
        status = rules_check_number("sample", settings->record.sample, 10000, err);
    if (status == TV_OK)
        status = rules_check_text("device", settings->record.device, err);
    return status == TV_OK
               ? rules_parse_ms("duration", settings->record.duration, &plan->duration_ms, err)
               : status;
}

/* First the values, then the meaning of each option for this kind of recording, then combinations.
 */
enum tv_status tv_record_check(const struct tv_option *table, struct tv_record_plan *plan,
                               struct tv_error *err)
{
    if (plan->way == TV_RECORD_SNAPSHOT)
        return rules_check_snapshot(table, plan->settings, err);
    if (plan->way == TV_RECORD_ANDROID)
        return rules_check_android(table, plan, err);
    enum tv_status status = rules_check_values(table, plan, err);
    if (status != TV_OK)
        return status;
    enum recording_situation situation = rules_situation(plan);
    for (size_t i = 0; i < sizeof rules / sizeof rules[0]; i++)
        if (tv_record_is_given(table, plan->settings, rules[i].option) &&
            (rules[i].situations & BIT(situation)) == 0)
            return tv_fail(err, TV_ERR_USAGE, TV_NO_OFFSET, "--%s cannot be combined with %s",
                           rules[i].option, called[situation]);
    status = rules_check_threads(plan, err);
    if (status == TV_OK)
        status = rules_check_events(plan, err);
    if (status == TV_OK)
        status = rules_check_times(plan, err);
    if (status == TV_OK)
        status = rules_check_off_cpu(plan, err);
    return status == TV_OK ? rules_check_stack(situation, plan->settings, err) : status;
}
