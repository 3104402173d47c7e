/* SPDX-License-Identifier: Apache-2.0 */
/*
 * te_made.h - a Trace Event file in short form, and the result of the joins as text.
 *
 * Each line of the input is the text between the braces of one event, with ' for ".  In front of it
 * goes "pid":1,"tid":2,"cat":"c", which the line may override.  A line that begins with # is a
 * member of the object around the events.
 *
 * The result has a line for each async slice, state, flow, object, sample, memory dump with its
 * figures, context and kind of diagnostic; times are microseconds of the file:
 *
 *     async NAME T2 1+4 ID open      on the track of thread 2 (P1: of process 1); children indented
 *     states T2 NAME#3 1+4           of a thread; "cpu CPU 0 NAME 1+4" of a processor; # a colour
 *     blocked T2 CALLER io 5         why a thread waits
 *     flow NAME ID a@5 -> b@20       from slice a at 5
 *     object TYPE ID scope 0..30 N D snapshots 10,20
 *     sample 5 T2 weight 1 main;f7 "title"
 *     dump 5 P1 ID light             then its figures: of name value units
 *     context T2 TYPE ID 1..5
 *     ! unmatched-exit 2
 */
#ifndef TV_TESTS_TE_MADE_H
#define TV_TESTS_TE_MADE_H

#include "model/trace.h"

/* Read several files as one trace; NULL ends the list.  Free with te_made_free. */
struct te_made;
struct te_made *te_made_new(const char *const *files);
struct tv_trace *te_made_trace(struct te_made *made);
struct tv_source *te_made_source(struct te_made *made, size_t nth);
void te_made_free(struct te_made *made);

/* Fail the test when the joins of the file do not give the expected text. */
void te_made_assert(const char *file, const char *expected);

#endif
