/* SPDX-License-Identifier: Apache-2.0 */
/*
 * finding_rules.h - what is looked for in a trace that is worth somebody's time: rules as data.
 *
 * A rule is one of a few conditions with its names, numbers and words; findings.h says how a trace
 * is held against them, docs/findings.md lists them.  Names of rules are a contract (`check
 * --fail-on`, JSON); words and numbers may change.
 */
#ifndef TV_ANALYSIS_FINDING_RULES_H
#define TV_ANALYSIS_FINDING_RULES_H

#include "model/diagnostic.h"
#include "model/trace_info.h"

enum tv_rule_condition {
    TV_RULE_CALLS,     /* calls that took longer than `longer`, of `names` */
    TV_RULE_WAITS,     /* calls that longer than `longer` did not run, `share` of their own time */
    TV_RULE_CLOCK,     /* methods of whose own time reading the clock is `share` or more */
    TV_RULE_RECURSION, /* methods that stand on one stack `levels` times or more */
    TV_RULE_DIAGNOSTICS, /* what was found while reading */
    TV_RULE_SAMPLED,     /* the trace was sampled */
};

/* Lists of names, a bit each: a frame may be on several. */
enum tv_rule_names {
    TV_NAMES_FRAME = 1,      /* the production of one picture */
    TV_NAMES_GC = 2,         /* garbage collection */
    TV_NAMES_CONTENTION = 4, /* waiting for a lock that another thread holds */
    TV_NAMES_BLOCKED = 8,    /* waiting for another thread or for time to pass */
    TV_NAMES_IDLE = 16,      /* waiting for work: not a fault */
    TV_NAMES_LOOP = 32,      /* what runs for as long as its thread does */
};

struct tv_rule {
    const char *name;     /* "long-on-main-thread" */
    const char *title;    /* "Long calls on the main thread" */
    const char *looks_at; /* "calls of main threads": for whoever is told that there are none */
    /* The sentence: {calls}, {methods} or {events} is how many, {total} their time in the range,
     * {share} its part of the range, {limit} the number of the rule, {interval} that of a
     * sampled trace, {worst} the figure of the worst, and {name} what that is. */
    const char *text;
    const char *reason; /* why the number is what it is */
    enum tv_rule_condition condition;
    enum tv_severity severity;
    bool on_main;    /* only on main threads */
    bool innermost;  /* of nested calls the innermost; else the outermost of those named */
    unsigned names;  /* enum tv_rule_names: only these; 0: any */
    unsigned waits;  /* these count as waiting: neither they nor the calls around them are told */
    unsigned passes; /* these are not told, what lies in them is */
    tv_ns longer;
    uint32_t share; /* thousandths that they must be: of the range (CALLS), of own time (others) */
    uint32_t least; /* thousandths of the time of all threads below which a method is passed over */
    uint32_t levels; /* RECURSION */
    const enum tv_diagnostic_kind *kinds;
    uint32_t kind_count;
};

#define TV_RULES 12
extern const struct tv_rule tv_rules[TV_RULES];

/* TV_NONE: no rule has that name. */
uint32_t tv_rule_find(struct tv_bytes name);

/* lists[frame]: the lists (enum tv_rule_names) that a frame is on, by "class.method" or its name.
 * To be given back with tv_free. */
uint8_t *tv_rule_lists(const struct tv_trace_info *head);

/* Whether a thread is one that a user waits for: which it is depends on who recorded. */
bool tv_rule_is_main(const struct tv_trace_info *head, uint32_t thread);

#endif
