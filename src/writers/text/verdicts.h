/* SPDX-License-Identifier: Apache-2.0 */
/*
 * verdicts.h - verdicts for the tools that run checks: JUnit XML and SARIF 2.1.0.
 *
 * Both are collected in memory, because their headings count or list what follows:
 *
 *     tv_junit_init(&junit, "check");           tv_sarif_init(&sarif);
 *     tv_junit_add(&junit, &test); ...          tv_sarif_add_rule(&sarif, ...); ...
 *                                               tv_sarif_add(&sarif, &result); ...
 *     tv_junit_finish(&junit, out);             tv_sarif_finish(&sarif, out);
 */
#ifndef TV_WRITERS_VERDICTS_H
#define TV_WRITERS_VERDICTS_H

#include "base/map.h"
#include "base/out.h"

/* ---- JUnit: one test suite ---- */

struct tv_junit {
    const char *command; /* the suite is "traceview COMMAND" */
    int64_t seconds;     /* since 1970, of what was checked; 0: unknown */
    uint32_t tests, failures, errors;
    struct tv_out cases;
};

struct tv_junit_case {
    struct tv_bytes name;
    struct tv_bytes error;   /* why there is no verdict; empty: there is one */
    struct tv_bytes failure; /* in a few words; empty: the test passed */
    struct tv_bytes details; /* of the failure: lines */
};

/* Begin the suite of a command. */
void tv_junit_init(struct tv_junit *junit, const char *command);
/* Add a test case. */
void tv_junit_add(struct tv_junit *junit, const struct tv_junit_case *test);

/* Write the document, and free what was collected. */
void tv_junit_finish(struct tv_junit *junit, struct tv_out *out);

/* ---- SARIF: one run ---- */

struct tv_sarif {
    struct tv_interner *ids; /* of the rules */
    uint32_t result_count;
    struct tv_out rules, results, notes;
};

struct tv_sarif_result {
    struct tv_bytes rule; /* its id */
    const char *level;    /* "error", "warning" or "note" */
    struct tv_bytes message;
    uint64_t count; /* occurrences; 0: not told */
    /* The place of a verdict: a file, with a line (from 1; 0: none) or a byte in it.  GitHub
     * refuses a document in which a result has none. */
    struct tv_bytes file;
    /* Name in the program, with a fingerprint that stays the same from run to run; may be empty. */
    struct tv_bytes name, fingerprint;
    uint64_t line, offset;
    bool at_offset;
};

/* Begin a run. */
void tv_sarif_init(struct tv_sarif *sarif);

/* Describe a rule, unless one with its id is there. */
void tv_sarif_add_rule(struct tv_sarif *sarif, struct tv_bytes id, struct tv_bytes description);

/* Add a result.  After the first 5,000 it is left out: GitHub shows no more. */
void tv_sarif_add(struct tv_sarif *sarif, const struct tv_sarif_result *result);

/* Say why there is no verdict about something: the run was not successful. */
void tv_sarif_add_failure(struct tv_sarif *sarif, struct tv_bytes text);

/* Write the document, and free what was collected. */
void tv_sarif_finish(struct tv_sarif *sarif, struct tv_out *out);

#endif
