/* SPDX-License-Identifier: Apache-2.0 */
/*
 * findings.h - evaluate rules on a trace, for any range and tracks, and collect the worst places
 * for each.
 *
 * A call counts if it touches the range, and is compared with a rule by its whole length: a long
 * call stays long when half of it is selected.  Sums are of time within the range.  Diagnostics and
 * sampling concern whole files.
 */
#ifndef TV_ANALYSIS_FINDINGS_FINDINGS_H
#define TV_ANALYSIS_FINDINGS_FINDINGS_H

#include "analysis/calltree/call_tree.h"
#include "analysis/findings/display_frames.h"
#include "model/diagnostic.h"
#include "model/trace_info.h"

/* ---- Rules: what in a trace is worth a context, as data ----
 *
 * A rule is one of a few conditions with its names, limits and texts; docs/findings.md lists the
 * rules.  Their names are a contract (`check --fail-on`, JSON); texts and numbers may change.
 */

enum tv_rule_condition {
    TV_RULE_CALLS,  /* calls of `names` that took longer than `longer` */
    TV_RULE_FRAMES, /* display frames that are later than their deadlines */
    TV_RULE_WAITS,  /* calls that did not run for more than `longer`, at least `share` of their own
                       time */
    TV_RULE_CLOCK,  /* methods with at least `share` of their own time spent on reading the clock */
    TV_RULE_RECURSION,   /* methods with `levels` or more activations on one stack */
    TV_RULE_DIAGNOSTICS, /* problems found while reading */
    TV_RULE_SAMPLED,     /* the trace was sampled */
};

/* Lists of names, a bit each; a frame may be on several. */
enum tv_rule_names {
    TV_NAMES_FRAME = 1,      /* production of one display frame (display_frames.h) */
    TV_NAMES_GC = 2,         /* garbage collection */
    TV_NAMES_CONTENTION = 4, /* waiting for a lock that another thread holds */
    TV_NAMES_BLOCKED = 8,    /* waiting for another thread or for time to pass */
    TV_NAMES_IDLE = 16,      /* waiting for work, which is not a fault */
    TV_NAMES_LOOP = 32,      /* runs as long as its thread does */
    TV_NAMES_RENDER = 64,    /* drawing of one display frame by a render thread */
    TV_NAMES_SWAP = 128,     /* delivery of one display frame by a program that draws by itself */
};

#define TV_NAMES_DISPLAY (TV_NAMES_FRAME | TV_NAMES_RENDER | TV_NAMES_SWAP)

struct tv_rule {
    const char *name;     /* "long-on-main-thread" */
    const char *title;    /* "Long calls on the main thread" */
    const char *looks_at; /* "calls of main threads": shown when nothing was found */
    /* Sentence with placeholders: {calls}, {frames}, {methods} or {events} the number found,
     * {total} their time in the range, {share} its part of the range, {limit} the rule's number,
     * {interval} a sampled trace's, {worst} the figure of the worst place, {name} its name,
     * {deadline} a frame's and what it is from. */
    const char *text;
    const char *reason; /* why the limit is what it is */
    enum tv_rule_condition condition;
    enum tv_severity severity;
    bool on_main;   /* main threads only */
    bool innermost; /* of nested calls, report the innermost; otherwise the outermost of those named
                     */
    unsigned names; /* enum tv_rule_names: these only; 0: any */
    unsigned waits; /* waiting: neither these nor the calls around them are reported */
    unsigned passes; /* not reported themselves, but what is in them is */
    tv_ns longer;
    bool one_picture; /* `longer` is that of 60 Hz: of a file that tells the time between two
                         pictures of its display, that counts */
    uint32_t share;   /* thousandths: of the range (CALLS), or of own time (others) */
    uint32_t least;   /* thousandths of the time of all threads; methods with less are ignored */
    uint32_t levels;  /* RECURSION */
    const enum tv_diagnostic_kind *kinds;
    uint32_t kind_count;
};

#define TV_RULES 12
extern const struct tv_rule tv_rules[TV_RULES];

/* Return the rule's index; TV_NONE if there is no such name. */
uint32_t tv_rule_find(struct tv_bytes name);

/* The lists (enum tv_rule_names) that the calls of a trace are on, by "class.method" or by name. */
struct tv_listed_calls {
    uint8_t *frames; /* [frames] lists that the frame is on */
    uint8_t *paths;  /* [paths] ... that the path's frame is on */
    uint8_t *around; /* [paths] ... that any of its ancestors is on */
    uint8_t *depths; /* [depth_count] ... that any path of the depth is on, for the rows from depth
                        0 on */
    uint32_t depth_count; /* 0: no frame is on a list, and paths, around and depths are NULL */
};

void tv_listed_calls_init(struct tv_listed_calls *listed, const struct tv_trace *trace);
void tv_listed_calls_release(struct tv_listed_calls *listed);

/* Return true if a user waits for this thread; depends on the recorder. */
bool tv_rule_is_main(const struct tv_trace_info *head, uint32_t thread);

/* ---- Findings ---- */

#define TV_FINDING_PLACES 10

/* Evidence: a call, a method with its first or deepest call, or a kind of diagnostic. */
struct tv_finding_place {
    uint32_t row, index; /* row TV_NONE: no call */
    uint32_t frame;      /* TV_NONE: no frame */
    uint32_t kind;       /* enum tv_diagnostic_kind; TV_NONE: no diagnostic */
    tv_ns start, length; /* of the call */
    tv_ns part;          /* the time reported: all of it, waiting, or reading the clock */
    uint64_t count;      /* calls of a method, levels, diagnostics; 1 for a call */
};

struct tv_finding {
    bool found;
    const char *missing; /* what the trace lacks for the rule: "a CPU clock"; NULL: the rule was
                            evaluated */
    uint64_t count;
    tv_ns total; /* within the range */
    tv_ns limit; /* the rule's, or the trace's: cost of a clock reading, sampling interval, deadline
                    of the worst frame, the least time between two pictures */
    struct tv_display_interval interval; /* of frames: what the deadline of the worst is from */
    struct tv_finding_place
        places[TV_FINDING_PLACES]; /* worst first; of equal ones the earlier first */
    uint32_t place_count;
};

struct tv_findings {
    const struct tv_trace_info *head; /* not owned */
    tv_ns looked_at;                  /* length of the range within the trace */
    struct tv_display_frames *frames; /* frames of the selection */
    struct tv_finding of[TV_RULES];
};

/* Evaluate all rules.  `tree` is the tree of the same selection, and may be freed before the
 * findings. */
struct tv_findings *tv_findings_of(const struct tv_trace *trace, const struct tv_call_tree *tree,
                                   const struct tv_selection *selection);
void tv_findings_free(struct tv_findings *findings);

#endif
