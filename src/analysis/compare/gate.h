/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gate.h - rules over a comparison, for machines that decide: "excl(com.app.*) > +5% and p < 0.01".
 *
 *     rule   = figure [ "(" what ")" ] [ change ] { "and" guard }
 *     figure = ["sum"] excl | incl | calls | mean | p50 | p90 | p95 | p99 | max, with " cpu" or
 *              " wall" after it; total | new | gone
 *     what   = [ name | "name:" name | "class:" class | "path:" path ] [ "thread:" thread ], each
 *              with "*" for any text; a value with " class:" or the like in it is in quotes
 *     change = ( ">" | ">=" | "<" ) ( "+" | "-" ) number ( "%" | "ns" | "us" | "ms" | "s" | "" )
 *              without a sign: of the new side alone
 *     guard  = "p" "<" number | "low" ">" change | "share" ">" percent | "time" ">" length
 *              | "calls" ">" number | "runs" ">=" number
 *
 * A rule that the data cannot decide never passes in silence: it has a reason.
 */
#ifndef TV_ANALYSIS_COMPARE_GATE_H
#define TV_ANALYSIS_COMPARE_GATE_H

#include "analysis/compare/comparison.h"

enum tv_gate_figure {
    TV_GATE_EXCL, /* down to TV_GATE_MAX as in enum tv_run_figure */
    TV_GATE_INCL,
    TV_GATE_CALLS,
    TV_GATE_MEAN,
    TV_GATE_P50, /* this and the following need the lengths of calls (tv_run_table_add_lengths) */
    TV_GATE_P90,
    TV_GATE_P95,
    TV_GATE_P99,
    TV_GATE_MAX,
    TV_GATE_TOTAL,
    TV_GATE_NEW,
    TV_GATE_GONE,
};

/* A limit on a value. */
struct tv_gate_limit {
    enum { TV_GATE_NO_LIMIT, TV_GATE_ABOVE, TV_GATE_AT_LEAST, TV_GATE_BELOW } way;
    bool is_change;   /* it has a sign: of the change; otherwise of the new side's value */
    bool is_relative; /* number is a share: 0.05 for 5 % */
    double number;    /* nanoseconds, calls or a share */
};

struct tv_gate_rule {
    struct tv_bytes name; /* before ':' in a file of rules; empty: none */
    struct tv_bytes text; /* as written */
    bool sum;
    enum tv_gate_figure figure;
    enum { TV_GATE_BEST_CLOCK, TV_GATE_WALL, TV_GATE_CPU } clock;
    bool of_class, of_path;  /* the pattern is one of classes, or of call paths "root;...;name" */
    struct tv_bytes pattern; /* empty: everything */
    struct tv_bytes thread;  /* pattern of names or ids; empty: calls of all threads */
    struct tv_gate_limit change, low, share, time, calls;
    double p; /* 0: no p */
    uint32_t runs;
};

/* A row that made a rule fire; for sums and the total `row` is TV_NONE. */
struct tv_gate_hit {
    uint32_t row; /* in the comparison's table */
    double base, new, change, p;
};

struct tv_gate_result {
    const struct tv_comparison *comparison; /* whose rows the hits name */
    bool fired;
    const char *reason; /* why it cannot be judged, and what to do; or NULL */
    uint32_t looked_at; /* rows that the pattern matched */
    uint32_t tiny;      /* rows that it matched, too, but whose times cannot be compared */
    uint32_t hit_count;
    struct tv_gate_hit *hits;
};

/* Parse a rule; the text must outlive it.  TV_ERR_USAGE quotes the place. */
enum tv_status tv_gate_rule_parse(struct tv_bytes text, struct tv_gate_rule *rule,
                                  struct tv_error *err) TV_MUST_CHECK;

/* Tell whether a rule is about paths or threads, which the figures of methods do not have. */
static inline bool tv_gate_rule_needs_calls(const struct tv_gate_rule *rule)
{
    return rule->of_path || rule->thread.length > 0;
}

/* Judge all rules together: p counts for the rows that a rule looks at, and for the number of rules
 * with p (Holm).  comparisons[i] is that of rules[i]: by path for a rule about paths, and of the
 * calls of its threads; all of them outlive the results.  `allow_none`: a pattern may match
 * nothing. */
void tv_gate_judge(const struct tv_comparison *const *comparisons, const struct tv_gate_rule *rules,
                   uint32_t count, bool allow_none, struct tv_gate_result *results);
void tv_gate_results_release(struct tv_gate_result *results, uint32_t count);

#endif
