/* SPDX-License-Identifier: Apache-2.0 */
/*
 * etw.h - "systemTraceEvents" of Chrome on Windows: events of Event Tracing for Windows inside
 * JSON.
 *
 *     {"name": "ETW", "content": [
 *         {"guid": "ClockSync", "walltime": "hex", "tick": "hex"},
 *         {"guid": "3D6FA8D1-...", "op": 36, "ver": 2, "cpu": 0, "ts": "hex",
 *          "payload": "base64"}]}
 *
 * Times are hexadecimal microseconds of the wall clock; ClockSync gives one moment on it and on the
 * clock of Chrome's own events.  Payloads are as the kernel's classes Thread_V*, Process_V* and
 * EventTrace_Header of MOF say; they hold pointers, so their width must be found out first.
 */
#ifndef TV_READERS_ETW_H
#define TV_READERS_ETW_H

#include "base/map.h"
#include "model/builder/builder.h"
#include "model/diagnostic.h"
#include "model/tables.h"

enum tv_etw_class { TV_ETW_OTHER, TV_ETW_HEADER, TV_ETW_PROCESS, TV_ETW_THREAD, TV_ETW_CLOCK };

/* Change of a process or thread. */
enum tv_etw_change {
    TV_ETW_WAS_THERE = 3, /* it existed when the trace began */
    TV_ETW_STARTED = 1,
    TV_ETW_ENDED = 2,
    TV_ETW_STAYED = 4, /* it existed when the trace ended */
};

/* A processor switched from one thread to another; thread 0 is idle. */
struct tv_etw_switch {
    tv_ns time;
    uint64_t offset; /* offset of the event in the text */
    uint32_t cpu;
    uint32_t from, to;
    uint8_t from_state;       /* 1 ready, 2 running, 4 terminated, 5 waiting; of KTHREAD_STATE */
    uint8_t from_wait_reason; /* of KWAIT_REASON */
    int8_t from_priority, to_priority;
};

/* A thread became ready: it runs as soon as a processor is free. */
struct tv_etw_ready {
    tv_ns time;
    uint64_t offset;
    uint32_t cpu; /* processor of the waker; TV_NONE: not in the event */
    uint32_t tid;
    uint32_t by;    /* thread of the waker; TV_NONE: not in the event */
    bool no_thread; /* woken by a deferred procedure call, which belongs to no thread */
};

struct tv_etw_process {
    tv_ns time;
    uint32_t pid, parent;
    uint32_t name; /* in `texts`: "chrome.exe" */
    uint8_t change;
};

struct tv_etw_thread {
    tv_ns time;
    uint32_t tid, pid;
    uint8_t change;
};

struct tv_etw {
    TV_TABLE(tv_etw_switch) switches; /* all four tables are in the order of the text */
    TV_TABLE(tv_etw_ready) readies;
    TV_TABLE(tv_etw_process) processes;
    TV_TABLE(tv_etw_thread) threads;
    struct tv_interner *texts;
    struct tv_diagnostics diagnostics; /* TV_DIAGNOSTIC_BAD_EVENT, TV_DIAGNOSTIC_BAD_TIMESTAMP */
    bool synced;      /* times are on the clock of Chrome's events; otherwise on the wall clock */
    unsigned pointer; /* bytes: 4 or 8 (the default) */
    uint32_t cpus;    /* from the header; 0: unknown */
    uint64_t events, others; /* number of all events, and of those without a meaning for us */
};

/* Return true when a raw JSON value is such an object. */
bool tv_etw_is(struct tv_bytes json);

/* Read the object. Release `etw` afterwards, even if the object is damaged. */
void tv_etw_read(struct tv_etw *etw, struct tv_bytes json);
void tv_etw_release(struct tv_etw *etw);

/* ---- One event ---- */

struct tv_etw_event {
    enum tv_etw_class class;
    unsigned op, version;
    unsigned pointer; /* 4 or 8 */
    struct tv_bytes payload;
};

/* Decoded payload of an event. */
struct tv_etw_payload {
    uint32_t pid, tid, parent;
    uint32_t from, to;
    uint8_t from_state, from_wait_reason;
    int8_t from_priority, to_priority;
    bool no_thread;
    struct tv_bytes name; /* in the payload */
    uint32_t pointer, cpus;
};

/* Decoded ops: enum tv_etw_change for threads and processes, TV_ETW_SWITCH and TV_ETW_READY for
 * threads, 0 for headers. */
#define TV_ETW_SWITCH 36u
#define TV_ETW_READY 50u

/* Decode a payload. Return false for another op, and for a payload that is too short or damaged. */
bool tv_etw_decode(const struct tv_etw_event *event, struct tv_etw_payload *payload);

/* ---- Events of Windows as an input: processors and states of threads (etw_trace.c) ---- */

struct tv_etw_place {
    const char *name; /* name of the new input */
    uint32_t beside;  /* the input whose clock it shares, and whose threads have names */
};

/* Add an input after that one: a track for each processor, the states of threads (on the other
 * input's threads, if it has them), and names of processes without one. Return false and add
 * nothing when the text does not define its clock. */
bool tv_etw_build(struct tv_bytes json, const struct tv_etw_place *place,
                  struct tv_builder *builder);

#endif
