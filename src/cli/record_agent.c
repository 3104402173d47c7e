/* SPDX-License-Identifier: Apache-2.0 */
/*
 * record_agent.c - what the agent of JVMs is told (recorder/agent/options.h), and where the
 * recorder's libraries are.
 */
#include <dirent.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/out.h"
#include "cli/record.h"

static bool agent_has_library(char *path, const char *folder, const char *name)
{
    int length = snprintf(path, TV_RECORD_PATH, "%s/%s", folder, name);
    return (unsigned)length < TV_RECORD_PATH && access(path, R_OK) == 0;
}

/* Installed libraries may lie below a folder of their architecture. */
static bool agent_has_library_below(char *path, const char *folder, const char *name)
{
    char below[TV_RECORD_PATH];
    struct dirent *entry;
    bool found = false;
    DIR *entries = opendir(folder);
    while (entries && !found && (entry = readdir(entries))) {
        int length = snprintf(below, sizeof below, "%s/%s", folder, entry->d_name);
        found = entry->d_name[0] != '.' && (size_t)length < sizeof below && agent_has_library(path, below, name);
    }
    if (entries)
        closedir(entries);
    return found;
}

enum tv_status tv_record_find_library(const char *folder, const char *name, char *path,
                                      struct tv_error *err)
{
    const char *const places[] = {folder, ".", "../lib", "../lib64"};
    char own[TV_RECORD_PATH / 2], place[TV_RECORD_PATH];
    ssize_t length = readlink("/proc/self/exe", own, sizeof own - 1);
    own[length > 0 ? length : 0] = '\0';
    char *slash = strrchr(own, '/');
    if (slash)
        *slash = '\0';
    for (size_t i = 0; slash && i < sizeof places / sizeof places[0]; i++) {
        snprintf(place, sizeof place, "%s/%s", own, places[i]);
        if (agent_has_library(path, place, name) || (i > 1 && agent_has_library_below(path, place, name)))
            return TV_OK;
    }
    return tv_fail(err, TV_ERR_IO, TV_NO_OFFSET,
                   "%s, which records, is neither in %s nor in lib beside it: build it with 'make'"
                   "%s, or copy it there",
                   name, slash ? own : "the program's folder",
                   strstr(name, "agent") ? " where there is a JDK" : "");
}

/* A comma within a value is written twice; so is a percent sign of a path, when it is `exact`. */
static void agent_put_value(struct tv_out *out, const char *value, bool exact)
{
    for (; *value; value++) {
        tv_out_char(out, *value);
        if (*value == ',' || (*value == '%' && exact))
            tv_out_char(out, *value);
    }
}

static void agent_put_text(struct tv_out *out, const char *name, const char *value, bool exact)
{
    tv_out_format(out, ",%s=", name);
    agent_put_value(out, value, exact);
}

static void agent_put_number(struct tv_out *out, const char *name, uint64_t value, const char *unit)
{
    if (value > 0)
        tv_out_format(out, ",%s=%" PRIu64 "%s", name, value, unit);
}

static void agent_put_patterns(struct tv_out *out, const char *name, const struct tv_words *patterns)
{
    for (size_t i = 0; i < patterns->count; i++) {
        if (i == 0)
            tv_out_format(out, ",%s=", name);
        else
            tv_out_char(out, ':');
        agent_put_value(out, patterns->items[i], false);
    }
}

static void agent_put_calls(struct tv_out *out, const struct tv_record_plan *plan)
{
    const struct tv_record_settings *record = &plan->settings->record;
    static const char *const clocks[] = {"wall", "cpu", "dual"};
    static const char *const fulls[] = {"stop", "ring", "stream"};
    static const char *const engines[] = {"auto", "bci", "events"};
    tv_out_format(out, "mode=trace,clock=%s,full=%s,engine=%s", clocks[record->clock],
                  fulls[plan->full], engines[record->engine]);
    agent_put_number(out, "buffer", record->buffer, "");
    agent_put_number(out, "least", plan->least_us, "us");
    if (plan->grows)
        tv_out_text(out, ",grow=y");
    if (plan->spool[0])
        agent_put_text(out, "spool", plan->spool, false);
    agent_put_patterns(out, "include", &record->include);
    agent_put_patterns(out, "exclude", &record->exclude);
    agent_put_patterns(out, "trigger", &record->trigger);
    if (plan->slow[0]) {
        agent_put_text(out, "slow", plan->slow, false);
        agent_put_number(out, "limit", plan->slow_us, "us");
    }
    if (record->threads)
        agent_put_text(out, "threads", record->threads, false);
    if (record->boot)
        tv_out_text(out, ",boot=y");
}

static void agent_put_samples(struct tv_out *out, const struct tv_record_plan *plan)
{
    static const char *const formats[] = {"android", "jdk", "binary", "json", "folded"};
    static const char *const stacks[] = {"auto", "jvmti", "agct"};
    static const char *const states[] = {"running", "runnable", "all"};
    const struct tv_record_settings *record = &plan->settings->record;
    tv_out_format(out, "mode=sample,rate=%" PRIu64 ",format=%s,stack=%s,state=%s", record->sample,
                  formats[plan->form], stacks[record->stack], states[record->state]);
    agent_put_number(out, "depth", record->depth, "");
    if (plan->with_alloc)
        agent_put_number(out, "alloc", record->alloc, "");
    if (plan->with_lock)
        tv_out_format(out, ",lock=%" PRIu64 "us", plan->lock_us);
    if (record->threads)
        agent_put_text(out, "threads", record->threads, false);
}

/* The text, to be given back with tv_free. */
static char *agent_text(struct tv_out *out)
{
    tv_out_char(out, '\0');
    return (char *)out->buffer;
}

char *tv_record_agent_options(const struct tv_record_plan *plan, const char *file, bool with_pid)
{
    struct tv_out out;
    tv_out_init_memory(&out);
    if (plan->has_samples)
        agent_put_samples(&out, plan);
    else
        agent_put_calls(&out, plan);
    agent_put_text(&out, "file", file, !with_pid);
    agent_put_number(&out, "delay", plan->delay_ms, "ms");
    agent_put_number(&out, "duration", plan->duration_ms, "ms");
    if (plan->settings->quiet)
        tv_out_text(&out, ",quiet=y");
    return agent_text(&out);
}

char *tv_record_quote(const char *word)
{
    struct tv_out out;
    tv_out_init_memory(&out);
    tv_out_char(&out, '"');
    for (; *word; word++) {
        /* Between quotes nothing is special but the quote: that one stands between others. */
        if (*word == '"')
            tv_out_text(&out, "\"'\"'\"");
        else
            tv_out_char(&out, *word);
    }
    tv_out_char(&out, '"');
    return agent_text(&out);
}
