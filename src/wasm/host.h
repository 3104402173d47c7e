/* SPDX-License-Identifier: Apache-2.0 */
/*
 * host.h - the engine inside a page: the functions that JavaScript calls (web/src/engine), and
 * the one function that it must provide, which reads bytes of files.
 *
 * An instance of the module reads one trace and answers questions about it; another trace needs
 * another instance. The page writes texts into the engine's input buffer ("room"); answers stay
 * in the engine's memory until the next call. The module has one thread.
 *
 *     page:    room(n)  input/add ...  load()  room(n)  ask(n)  answer(), answer_length()
 *     engine:  read(file, offset, buffer, size)  calls back for bytes of files
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

/* Provided by the page: fill `buffer` with `size` bytes of file number `file`. The range lies
 * within the file; the offset is a whole number. Return 0 when the bytes cannot be read. */
int tv_host_read(uint32_t file, double offset, void *buffer, uint32_t size) TV_HOST_IMPORT(read);

/* Return the input buffer with room for a text of `size` bytes, which the next call reads. */
void *tv_host_room(uint32_t size) TV_HOST_EXPORT(room);

/* Add an input of the trace; its name is in the input buffer. `offset` nanoseconds are added to
 * its times. */
void tv_host_input(uint32_t input, uint32_t name_length, int64_t offset) TV_HOST_EXPORT(input);

/* Add a file to the last input: the input itself, or one of the files packed in it. Its name is
 * in the input buffer; files with the same `machine` come from the same machine; `offset`
 * nanoseconds are added to its times, beside those of the input. */
void tv_host_add(uint32_t file, uint32_t name_length, double size, uint32_t machine, int64_t offset)
    TV_HOST_EXPORT(add);

/* Report that `containers` containers in the last input are truncated or damaged. */
void tv_host_cut(uint32_t containers) TV_HOST_EXPORT(cut);

/* Read all files. Return true when there is a trace; the status tells why not. */
bool tv_host_load(void) TV_HOST_EXPORT(load);

/* Answer api/status, without the braces and without the members that only the page knows. May be
 * called while tv_host_load reads. */
void tv_host_status(void) TV_HOST_EXPORT(status);

/* Answer the question in the input buffer: the part of docs/view-protocol.md after "api/", with
 * its parameters. Return the status of HTTP: 200, 400, 404, 409 or 413. */
uint32_t tv_host_ask(uint32_t length) TV_HOST_EXPORT(ask);

/* Recognise a file by its first bytes (up to TV_SNIFF_SIZE) in the input buffer: a trace that a
 * reader knows, or an HTML page that may contain traces. */
bool tv_host_knows(uint32_t length, double size) TV_HOST_EXPORT(knows);
bool tv_host_is_page(uint32_t length) TV_HOST_EXPORT(is_page);

/* Answer with the name of a format that no reader knows, and what the user can do about it;
 * empty when the format is unknown. */
void tv_host_foreign(uint32_t length) TV_HOST_EXPORT(foreign);

/* Scan the HTML page in a file (html/html_page.h). Answer with its traces in their order and
 * remarks about the page, as JSON:
 * {"traces":[{"start":0,"end":1,"bytes":1,"plain":true,"open":false,"name":"","machine":0,
 *  "offset_ns":"0"}],"notes":[""],"cut":false}
 * `plain`: the trace is the bytes [start, end) as they are; `bytes`: the size of its blocks,
 * between which there may be others; `open`: the page ends inside the trace; `cut`: the page
 * ends before some of the traces. On failure answer {"message":"","kind":"limit" or "syntax"}
 * and return false. */
bool tv_host_page(uint32_t file, double size) TV_HOST_EXPORT(page);

/* Start decoding a trace of the page. Each tv_host_trace_more() answers with the next part of
 * its text, empty at the end. Return false when the text is damaged or cannot be read. */
void tv_host_trace(uint32_t trace) TV_HOST_EXPORT(trace);
bool tv_host_trace_more(void) TV_HOST_EXPORT(trace_more);

/* Return the last answer. It is valid until the next call. */
const uint8_t *tv_host_answer(void) TV_HOST_EXPORT(answer);
uint32_t tv_host_answer_length(void) TV_HOST_EXPORT(answer_length);

#endif
