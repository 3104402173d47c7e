/* SPDX-License-Identifier: Apache-2.0 */
/*
 * child.h - runs what ends the program, or changes all of it, in a process of its own.
 */
#ifndef TV_TESTS_UNIT_BASE_CHILD_H
#define TV_TESTS_UNIT_BASE_CHILD_H

/* Room for what a child says. */
#define CHILD_TEXT 4097

/* The exit code of a process that does `work` and then exits with 0; 1000 + the signal when one
 * ended it.  The beginning of its standard error goes to `text` (of CHILD_TEXT bytes). */
int child_run(void (*work)(void), char *text);

/* Holds that `work` ends as it must when there is no memory: one line, exit code 1. */
void child_must_run_out_of_memory(void (*work)(void));

#endif
