/* SPDX-License-Identifier: Apache-2.0 */
/*
 * host.h - the engine inside a page: what the JavaScript around it calls (web/src/engine), and the
 * one thing that it asks for, the bytes of files.
 *
 * An instance of the module reads one trace and answers questions about it; for another trace there
 * is another instance.  Texts go in through a room that the engine has; what comes out lies in its
 * memory until the next call.  Nothing here is called by two threads.
 */
#ifndef TV_WASM_HOST_H
#define TV_WASM_HOST_H

#include "base/types.h"

#ifdef __wasm__
#define TV_HOST_EXPORT(name) __attribute__((export_name(#name)))
#define TV_HOST_IMPORT(name) __attribute__((import_module("traceview"), import_name(#name)))
#else
#define TV_HOST_EXPORT(name)
#define TV_HOST_IMPORT(name)
#endif

/* Given by the page: fills `buffer` with `size` bytes of file number `file`, which lie within it;
 * offsets are whole numbers.  0: they cannot be read. */
int tv_host_read(uint32_t file, double offset, void *buffer, uint32_t size) TV_HOST_IMPORT(read);

/* Where a text of `size` bytes goes that the next call is about. */
void *tv_host_room(uint32_t size) TV_HOST_EXPORT(room);

/* Adds an input to those that the trace is to be made of; its name stands in the room. `offset`
 * nanoseconds are added to its times. */
void tv_host_input(uint32_t input, uint32_t name_length, int64_t offset) TV_HOST_EXPORT(input);

/* Adds a file to the input that was added last: one, or those that were packed in it.  Its name
 * stands in the room; `machine` tells which files are of one machine, `offset` nanoseconds are
 * added to its times and those of the input. */
void tv_host_add(uint32_t file, uint32_t name_length, double size, uint32_t machine, int64_t offset)
    TV_HOST_EXPORT(add);

/* Tell of the input that was added last: so many containers in it end early or are damaged. */
void tv_host_cut(uint32_t containers) TV_HOST_EXPORT(cut);

/* Reads all files. Whether there is a trace now; the status tells why not. */
bool tv_host_load(void) TV_HOST_EXPORT(load);

/* Makes the answer to api/status, without braces and without what only the page knows: also while
 * tv_host_load reads. */
void tv_host_status(void) TV_HOST_EXPORT(status);

/* Makes the answer to the question in the room: what stands behind "api/" in docs/view-protocol.md,
 * with its parameters.  The status is that of HTTP: 200, 400, 404 or 409. */
uint32_t tv_host_ask(uint32_t length) TV_HOST_EXPORT(ask);

/* What a file is whose first bytes stand in the room, as much of it as TV_SNIFF_SIZE: a trace that
 * a reader knows, or an HTML page, which may have traces in it. */
bool tv_host_knows(uint32_t length, double size) TV_HOST_EXPORT(knows);
bool tv_host_is_page(uint32_t length) TV_HOST_EXPORT(is_page);

/* Makes the answer what such a file is that no reader knows, and what can be done about it; empty:
 * nobody knows. */
void tv_host_foreign(uint32_t length) TV_HOST_EXPORT(foreign);

/* Looks through the HTML page that the file is (html/html_page.h).  Makes the answer, as JSON, the
 * traces in it, in their order, and what is to be told of the page:
 * {"traces":[{"start":0,"end":1,"bytes":1,"plain":true,"open":false,"name":"","machine":0,
 *  "offset_ns":"0"}],"notes":[""],"cut":false}
 * `plain`: it stands there as it is, from byte `start` to `end`; `bytes`: of its blocks, between
 * which others may stand; `open`: the page ends within it; `cut`: it ends before some.  When that
 * is false: {"message":"","kind":"limit" or "syntax"}. */
bool tv_host_page(uint32_t file, double size) TV_HOST_EXPORT(page);

/* Begins with the text of one of those; then each call makes the answer more of it, none at its
 * end. False: it is damaged there, or cannot be read. */
void tv_host_trace(uint32_t trace) TV_HOST_EXPORT(trace);
bool tv_host_trace_more(void) TV_HOST_EXPORT(trace_more);

/* The answer that was made last. */
const uint8_t *tv_host_answer(void) TV_HOST_EXPORT(answer);
uint32_t tv_host_answer_length(void) TV_HOST_EXPORT(answer_length);

#endif
