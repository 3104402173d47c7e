/* SPDX-License-Identifier: Apache-2.0 */
/*
 * options.h - what the agent is told: NAME=VALUE, with commas between.  A comma that belongs to a
 * value is written twice.
 *
 * `options.c` holds the one table of names, values and help.
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

/* Something that is recorded or not, and how much of it. */
struct tv_agent_amount {
    uint64_t number;
    bool on;
};

struct tv_agent_options {
    unsigned mode;   /* enum tv_agent_mode */
    unsigned engine; /* enum tv_agent_engine */
    char *file;      /* %p the process, %t the time; NULL: the mode's default */
    bool force;      /* overwrite */
    unsigned clock;  /* enum tv_recording_clock */
    uint64_t buffer;
    bool grow;
    uint64_t least_us; /* of a call */
    char *trigger;     /* patterns with colons between, or NULL */
    char *slow;        /* the same */
    uint64_t limit_us; /* of slow calls */
    unsigned full;     /* enum tv_recording_full */
    char *spool;
    bool orphans;
    struct tv_agent_amount alloc; /* bytes between two allocations that are sampled */
    struct tv_agent_amount lock;  /* us: shorter waits for locks are left out */
    char *include;                /* patterns with colons between, or NULL */
    char *exclude;
    bool boot;
    char *threads;
    uint64_t rate;        /* ticks in a second; 0: none */
    uint64_t interval_us; /* 0: by rate */
    uint64_t depth;
    unsigned stack;  /* enum tv_agent_stack */
    unsigned state;  /* enum tv_agent_state */
    unsigned format; /* enum tv_samples_form */
    uint64_t delay_us;
    uint64_t duration_us; /* 0: to the end */
    bool start;
    char *control;
    char *watch; /* a file that the command which attached us keeps locked while it lives */
    bool verbose;
    bool quiet;
    bool help;
    bool stop;      /* attached again: end the recording that is under way */
    uint64_t given; /* bits, in the order of the table: what was said at all */
};

/* "USR1", "SIGUSR1", "RTMIN+2", "RTMAX-1" or "10"; 0: no such signal. */
int tv_agent_signal_number(const char *name);

void tv_agent_options_init(struct tv_agent_options *options);

/* Reads `text`, which may be NULL, over what is set.  False: `why` says what is wrong with it. */
bool tv_agent_options_read(struct tv_agent_options *options, const char *text, char *why,
                           size_t room);
/* The names, with commas between, of options that were given and that have no effect besides the
 * others; false: there are none.  Whether or not calls come by events. */
bool tv_agent_options_idle(const struct tv_agent_options *options, bool by_events, char *names,
                           size_t room);

/* Are stacks looked at now and then? */
bool tv_agent_options_tick(const struct tv_agent_options *options);
/* Are allocations samples in the file of samples?  Else they are counted in the trace. */
bool tv_agent_options_sample_allocations(const struct tv_agent_options *options);
/* Are waits for locks recorded into the file of samples? */
bool tv_agent_options_record_locks(const struct tv_agent_options *options);

void tv_agent_options_release(struct tv_agent_options *options);

/* A line for each option. */
void tv_agent_options_help(FILE *to);

/*
 * paths.h - the names of the files that the options ask for.
 *
 * %p, %t and %% are put in; from the second recording on its number stands before the ending
 * (a-2.trace, java-2.hprof.txt); samples beside a trace have its name with an ending of their own.
 */

#define TV_AGENT_PATH 4096

/* Empty: the mode has no such file. */
struct tv_agent_paths {
    char trace[TV_AGENT_PATH];
    char samples[TV_AGENT_PATH];
};

/* The files of the recording of that number, or with force=n of the next one whose names are free.
 * False: they are too long. */
bool tv_agent_paths_choose(const struct tv_agent_options *options, unsigned number,
                           struct tv_agent_paths *paths);

/* Can the first recording's files be made, and those of its spool?  False: `why` names what cannot
 * and says why. */
bool tv_agent_paths_check(const struct tv_agent_options *options, char *why, size_t room);

/* Can files be made in this folder?  0, or a negative errno. */
int tv_agent_paths_check_folder(const char *folder);

#endif
