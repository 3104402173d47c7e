/* SPDX-License-Identifier: Apache-2.0 */
/*
 * reading.h - what goes on by itself: traces that wait are read by engines, what these find goes
 * into the catalogue, caches that they wrote into the store; and every minute what is due there.
 */
#ifndef TV_HUB_READING_H
#define TV_HUB_READING_H

#include "hub/context.h"

struct tv_reading;

/* What the engines ask and tell (engine.h); its context is the hub. */
struct tv_engine_host tv_reading_host(struct tv_hub *hub);

/* Begins nothing yet. */
struct tv_reading *tv_reading_new(struct tv_hub *hub);

/* Starts its threads: the hub's store and engines are there. */
enum tv_status tv_reading_start(struct tv_reading *reading, struct tv_error *err) TV_MUST_CHECK;

/* Ends the threads and lets go of every engine; what is being read waits again at the next start.
 * The engines' callbacks may go on until they are freed. */
void tv_reading_stop(struct tv_reading *reading);

/* When no engine is left.  NULL is fine. */
void tv_reading_free(struct tv_reading *reading);

/* A trace may be waiting. */
void tv_reading_wake(struct tv_reading *reading);

/* How far the reading of a trace is, from 0 to 1; less than 0: it is not being read. */
double tv_reading_progress(struct tv_reading *reading, const char *id);

#endif
