/* SPDX-License-Identifier: Apache-2.0 */
/*
 * asked.h - a trace whose view is asked "name?key=value&key=value", as the page asks it.
 */
#ifndef TV_TESTS_ASKED_H
#define TV_TESTS_ASKED_H

#include "base/out.h"
#include "base/source.h"
#include "fixture.h"
#include "view/view.h"

struct asked {
    struct fixture fixture;
    struct tv_source *source; /* of the first input; or NULL */
    struct tv_view *view;
    struct tv_out out; /* the last answer */
    struct tv_error error;
};

/* A teardown of cmocka: frees the struct asked that is the state, and all in it but the answer. */
int asked_tear_down(void **state);

/* The caller releases `out`, also after an error. */
enum tv_status ask_view(const struct tv_view *view, const char *question, struct tv_out *out,
                        struct tv_error *error);

/* The answer is in asked->out, for the caller to release. */
enum tv_status ask(struct asked *asked, const char *question);

void assert_answer(struct asked *asked, const char *question, const char *expected);

#endif
