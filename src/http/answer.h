/* SPDX-License-Identifier: Apache-2.0 */
/*
 * answer.h - what an answer of http.h consists of when it is sent.
 */
#ifndef TV_HTTP_ANSWER_H
#define TV_HTTP_ANSWER_H

#include "http/http.h"

/* The answer's own, those that every answer has, and those that it was given. */
#define TV_ANSWER_LINES (TV_ANSWER_HEADERS + 12)

/* The headers but for the length; how many there are.  They point into the answer. */
size_t tv_answer_list(const struct tv_answer *answer, bool closes,
                      struct tv_http_header lines[TV_ANSWER_LINES]);

/* Makes the answer one of a part of its source, the bytes [*from, *to), when `range`, the Range
 * header, asks for it and `condition`, the If-Range header, allows it; either may be NULL. */
void tv_answer_take_range(struct tv_answer *answer, const char *range, const char *condition,
                          uint64_t *from, uint64_t *to);

/* Says no more than the status does. */
void tv_answer_refuse(struct tv_answer *answer, enum tv_http_status status);

/* The whole as it goes over the wire, of an answer that is memory; the connection ends with it. */
void tv_answer_write(const struct tv_answer *answer, const char *reason, struct tv_out *out);

#endif
