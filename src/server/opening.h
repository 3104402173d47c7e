/* SPDX-License-Identifier: Apache-2.0 */
/*
 * opening.h - the questions that change what lies open: files are handed over in pieces, opened,
 * the loading of them cancelled (docs/view-protocol.md).
 *
 * Each asks for the header that no other page can send (TV_HTTP_OWN_HEADER).
 */
#ifndef TV_SERVER_OPENING_H
#define TV_SERVER_OPENING_H

#include "http/http.h"
#include "server/desk.h"

/* Whether there is such a question behind "api/". */
bool tv_opening_knows(struct tv_bytes name);

/* Who takes the body of the request, as the handler's `begin` (http.h). */
bool tv_opening_begin(struct tv_desk *desk, const struct tv_request *request, struct tv_body *body,
                      struct tv_answer *answer);

/* Fills the answer to one of these questions. */
void tv_opening_answer(struct tv_desk *desk, const struct tv_request *request,
                       struct tv_answer *answer);

#endif
