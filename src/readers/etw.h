/* SPDX-License-Identifier: Apache-2.0 */
/*
 * etw.h - "systemTraceEvents" of Chrome on Windows: events of Event Tracing for Windows inside
 * JSON.
 *
 *     {"name": "ETW", "content": [
 *         {"guid": "ClockSync", "walltime": "hex", "tick": "hex"},
 *         {"guid": "3D6FA8D1-...", "op": 36, "ver": 2, "cpu": 0, "ts": "hex", "payload":
 * "base64"}]}
 *
 * Times are hexadecimal microseconds of the wall clock; ClockSync gives one moment on it and on the
 * clock of Chrome's own events.  Payloads are as the kernel's classes Thread_V*, Process_V* and
 * EventTrace_Header of MOF say; they hold pointers, so their width must be found out first.
 */
#ifndef TV_READERS_ETW_H
#define TV_READERS_ETW_H

#include "base/map.h"
#include "model/diagnostic.h"
#include "model/tables.h"

enum tv_etw_class { TV_ETW_OTHER, TV_ETW_HEADER, TV_ETW_PROCESS, TV_ETW_THREAD, TV_ETW_CLOCK };

/* What happened to a process or thread. */
enum tv_etw_change {
    TV_ETW_WAS_THERE = 3, /* when the trace began */
    TV_ETW_STARTED = 1,
    TV_ETW_ENDED = 2,
    TV_ETW_STAYED = 4, /* when the trace ended */
};

/* A processor turned from one thread to another; thread 0 is idle. */
struct tv_etw_switch {
    tv_ns time;
    uint64_t offset; /* of the event in the text */
    uint32_t cpu;
    uint32_t from, to;
    uint8_t from_state;       /* 1 ready, 2 running, 4 terminated, 5 waiting; of KTHREAD_STATE */
    uint8_t from_wait_reason; /* of KWAIT_REASON */
    int8_t from_priority, to_priority;
};

/* A thread was readied: it runs when a processor is free. */
struct tv_etw_ready {
    tv_ns time;
    uint64_t offset;
    uint32_t cpu; /* where that was done; TV_NONE: the event does not say */
    uint32_t tid;
    uint32_t by;    /* thread; TV_NONE: the event does not say */
    bool no_thread; /* done by a deferred call, which is nobody's */
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
    TV_TABLE(tv_etw_switch) switches; /* all four in the order of the text */
    TV_TABLE(tv_etw_ready) readies;
    TV_TABLE(tv_etw_process) processes;
    TV_TABLE(tv_etw_thread) threads;
    struct tv_interner *texts;
    struct tv_diagnostics diagnostics; /* TV_DIAGNOSTIC_BAD_EVENT, TV_DIAGNOSTIC_BAD_TIMESTAMP */
    bool synced;             /* times are on the clock of Chrome's events; else on the wall clock */
    unsigned pointer;        /* bytes: 4 or 8, which is taken when nothing tells */
    uint32_t cpus;           /* as the header says; 0: there is none */
    uint64_t events, others; /* all, and those of classes that mean nothing to us */
};

/* Whether a raw JSON value is such an object. */
bool tv_etw_is(struct tv_bytes json);

/* Reads all of it. Release it whatever came. */
void tv_etw_read(struct tv_etw *etw, struct tv_bytes json);
void tv_etw_release(struct tv_etw *etw);

/* ---- One event ---- */

struct tv_etw_event {
    enum tv_etw_class class;
    unsigned op, version;
    unsigned pointer; /* 4 or 8 */
    struct tv_bytes payload;
};

/* What an event's payload says, as far as it is asked for. */
struct tv_etw_payload {
    uint32_t pid, tid, parent;
    uint32_t from, to;
    uint8_t from_state, from_wait_reason;
    int8_t from_priority, to_priority;
    bool no_thread;
    struct tv_bytes name; /* in the payload */
    uint32_t pointer, cpus;
};

/* Ops that are decoded: of threads and processes those of enum tv_etw_change, TV_ETW_SWITCH and
 * TV_ETW_READY of threads, 0 of headers. */
#define TV_ETW_SWITCH 36u
#define TV_ETW_READY 50u

/* False: another op, or a payload that is too short or unsound. */
bool tv_etw_decode(const struct tv_etw_event *event, struct tv_etw_payload *payload);

#endif
