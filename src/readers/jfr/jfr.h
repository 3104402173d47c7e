/* SPDX-License-Identifier: Apache-2.0 */
/*
 * jfr.h - recordings of the Java Flight Recorder (docs/formats/jfr.md).
 *
 * Recordings of the JDK, async-profiler, Datadog's and Pyroscope's agents and native images.  A
 * recording is one chunk or several, each with its own types, constants and clock:
 *
 *     chunk.c      where chunks begin and end, events one behind another
 *     values.c     integers, texts, and values of any type
 *     metadata.c   the event types that a chunk describes
 *     program.c    each type compiled to a short program that finds or skips its fields
 *     pools.c      constants: stacks, threads, classes, texts
 *     names.c      frames, threads and stacks of the trace from constants
 *     event_kinds.c  what each event becomes: sample, slice, counter, metadata, instant
 *     events.c     the events of a chunk into the trace
 *     describe.c   the fields of one event, read again
 */
#ifndef TV_READERS_JFR_JFR_H
#define TV_READERS_JFR_JFR_H

#include "readers/reader.h"

extern const struct tv_reader tv_reader_jfr;

#endif
