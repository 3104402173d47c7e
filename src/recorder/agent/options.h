/* SPDX-License-Identifier: Apache-2.0 */
/*
 * options.h - options of the agent, and the output file names that follow from them.
 *
 * The options are NAME=VALUE pairs separated by commas; a comma inside a value is doubled. One
 * table in options.c holds all names, values and help texts.
 */
#ifndef TV_RECORDER_AGENT_OPTIONS_H
#define TV_RECORDER_AGENT_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

enum tv_agent_mode { TV_AGENT_TRACE, TV_AGENT_SAMPLE, TV_AGENT_BOTH };

enum tv_agent_engine { TV_AGENT_ENGINE_AUTO, TV_AGENT_ENGINE_BCI, TV_AGENT_ENGINE_EVENTS };
enum tv_agent_stack { TV_AGENT_STACK_AUTO, TV_AGENT_STACK_JVMTI, TV_AGENT_STACK_AGCT };
enum tv_agent_state { TV_AGENT_STATE_ALL, TV_AGENT_STATE_RUNNABLE, TV_AGENT_STATE_RUNNING };

/* An option that is off, or on with a number. */
struct tv_agent_amount {
    uint64_t number;
    bool on;
};

struct tv_agent_options {
    unsigned mode;   /* enum tv_agent_mode */
    unsigned engine; /* enum tv_agent_engine */
    char *file;      /* %p: process id, %t: time; NULL: the default of the mode */
    bool force;      /* overwrite existing files */
    unsigned clock;  /* enum tv_recording_clock */
    uint64_t buffer;
    bool grow;
    uint64_t least_us; /* shortest call to keep */
    char *trigger;     /* patterns separated by colons, or NULL */
    char *slow;        /* likewise */
    uint64_t limit_us; /* duration from which a call counts as slow */
    unsigned full;     /* enum tv_recording_full */
    char *spool;
    bool orphans;
    struct tv_agent_amount alloc; /* bytes between two allocation samples */
    struct tv_agent_amount lock;  /* us: shortest wait to keep */
    char *include;                /* patterns separated by colons, or NULL */
    char *exclude;
    bool boot;
    char *threads;
    uint64_t rate;        /* samples per second; 0: none */
    uint64_t interval_us; /* 0: use `rate` */
    uint64_t depth;
    unsigned stack;  /* enum tv_agent_stack */
    unsigned state;  /* enum tv_agent_state */
    unsigned format; /* enum tv_samples_form */
    uint64_t delay_us;
    uint64_t duration_us; /* 0: until the end */
    bool start;
    char *control;
    char *watch; /* file that the attaching command keeps locked while it lives */
    bool verbose;
    bool quiet;
    bool help;
    bool stop;      /* attached again: end the recording under way */
    uint64_t given; /* one bit per option that was given, in table order */
};

/* Return the number of "USR1", "SIGUSR1", "RTMIN+2", "RTMAX-1" or "10", or 0 for an unknown signal.
 */
int tv_agent_signal_number(const char *name);

void tv_agent_options_init(struct tv_agent_options *options);

/* Parse `text` over the values set so far; NULL changes nothing. Return false with the reason in
 * `why`. */
bool tv_agent_options_read(struct tv_agent_options *options, const char *text, char *why,
                           size_t room);
/* List the given options that have no effect with the others, separated by commas. `by_events`:
 * calls come as JVMTI events. Return false when there are none. */
bool tv_agent_options_idle(const struct tv_agent_options *options, bool by_events, char *names,
                           size_t room);

/* Are stacks sampled at a rate? */
bool tv_agent_options_tick(const struct tv_agent_options *options);
/* Are allocations sampled? Otherwise, alloc=y counts them in the trace. */
bool tv_agent_options_sample_allocations(const struct tv_agent_options *options);
/* Are waits for locks recorded? */
bool tv_agent_options_record_locks(const struct tv_agent_options *options);

void tv_agent_options_release(struct tv_agent_options *options);

/* Print one line per option. */
void tv_agent_options_help(FILE *to);

/*
 * ---- paths.c: output file names ----
 *
 * Names may contain %p, %t and %%. From the second recording on, its number precedes the suffix
 * (a-2.trace, java-2.hprof.txt). Samples beside a trace get the trace's name plus a suffix of their
 * own.
 */

#define TV_AGENT_PATH 4096

/* An empty name: the mode has no such file. */
struct tv_agent_paths {
    char trace[TV_AGENT_PATH];
    char samples[TV_AGENT_PATH];
};

/* Choose the file names of recording `number`. With force=n, skip numbers whose files exist. Return
 * false when a name is too long. */
bool tv_agent_paths_choose(const struct tv_agent_options *options, unsigned number,
                           struct tv_agent_paths *paths);

/* Can the files of the first recording and its spool be created? Return false with the path and
 * reason in `why`. */
bool tv_agent_paths_check(const struct tv_agent_options *options, char *why, size_t room);

/* Can files be created in this directory? Return 0 or a negative errno. */
int tv_agent_paths_check_folder(const char *folder);

#endif
