/* SPDX-License-Identifier: Apache-2.0 */
/*
 * questions.h - what stands below "/TOKEN/api/": status and quit are the server's own, the rest is
 * for the view (docs/view-protocol.md).
 */
#ifndef TV_SERVER_QUESTIONS_H
#define TV_SERVER_QUESTIONS_H

#include "server/http.h"
#include "server/session.h"

/* What an answer means for the program. */
enum tv_question_effect {
    TV_EFFECT_NONE,
    TV_EFFECT_QUIT, /* the page wants the end */
    TV_EFFECT_TOLD, /* the page now knows that the trace could not be read */
};

/* Fills the answer to any path that is not the page itself. */
enum tv_question_effect tv_questions_answer(const struct tv_session *session,
                                            const struct tv_request *request,
                                            struct tv_answer *answer);

#endif
