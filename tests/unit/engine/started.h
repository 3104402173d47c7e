/* SPDX-License-Identifier: Apache-2.0 */
/*
 * started.h - engines for tests, whose children are tests/unit/engine/child.c.
 */
#ifndef TV_TESTS_STARTED_H
#define TV_TESTS_STARTED_H

#include <stdatomic.h>

#include "engine/engine.h"

struct started {
    struct tv_engines *engines;
    struct tv_engines_options options;
    char folder[64], program[4096];
    char lines[4000]; /* everything logged, with line ends; the supervisor writes it until finish */
    bool keeps_index;
    atomic_uint indexed, whole; /* number of calls, and of calls with `whole` */
};

/* Set options before start: many engines, times that no test reaches. */
void prepare(struct started *started);
void start(struct started *started);

/* End all engines, and check that nothing is left: no child, no file, no descriptor. */
void finish(struct started *started);

/* Create a trace whose text selects its child's behaviour. */
void set_trace(struct started *started, const char *id, const char *text);

/* Open the engine and wait until it is in this state. */
struct tv_engine *settle(struct started *started, const char *id, enum tv_engine_state expected);

/* Ask "name?key=value&..." and return the whole answer with a NUL, to be freed by tv_free. */
char *ask_engine(struct tv_engine *engine, const char *question, enum tv_answer_status expected,
                 size_t *length);

/* Check the words of the error with which the engine failed or died. */
void assert_ended(struct tv_engine *engine, const char *kind, const char *words);

#endif
