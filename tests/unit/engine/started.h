/* SPDX-License-Identifier: Apache-2.0 */
/*
 * started.h - engines of tests, whose children are tests/unit/engine/child.c.
 */
#ifndef TV_TESTS_STARTED_H
#define TV_TESTS_STARTED_H

#include <stdatomic.h>

#include "engine/engine.h"

struct started {
    struct tv_engines *engines;
    struct tv_engines_options options;
    char folder[64], program[4096];
    char lines[4000]; /* what was said, with line ends */
    bool keeps_index;
    atomic_uint indexed, whole; /* how often it was told, and told so */
};

/* Options to be changed before start: many engines, times that no test reaches. */
void prepare(struct started *started);
void start(struct started *started);

/* Ends all, and looks that nothing is left: no child, no file, nothing open. */
void finish(struct started *started);

/* The trace of that id says how its child is to behave. */
void set_trace(struct started *started, const char *id, const char *text);

/* Opens the engine and waits until it is there, or is not to be had. */
struct tv_engine *settle(struct started *started, const char *id, enum tv_engine_state expected);

/* Asks "name?key=value&..."; the whole answer, with a NUL, to be freed by tv_free. */
char *ask_engine(struct tv_engine *engine, const char *question, enum tv_answer_status expected,
                 size_t *length);

/* How it failed or died has these words. */
void assert_ended(struct tv_engine *engine, const char *kind, const char *words);

#endif
