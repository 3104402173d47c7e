/* SPDX-License-Identifier: Apache-2.0 */
/*
 * questions.h - what stands below "/TOKEN/api/": status and quit are the server's own, those that
 * open files stand in opening.h, the rest is for the view (docs/view-protocol.md).
 */
#ifndef TV_SERVER_QUESTIONS_H
#define TV_SERVER_QUESTIONS_H

#include "http/http.h"
#include "server/desk.h"

/* Fills the answer to any path that is not the page itself. True: the page wants the end. */
bool tv_questions_answer(struct tv_desk *desk, const struct tv_request *request,
                         struct tv_answer *answer);

/* Makes the answer one that says no, with a sentence. */
void tv_questions_refuse(struct tv_answer *answer, enum tv_http_status status,
                         const char *sentence);

#endif
