/* SPDX-License-Identifier: Apache-2.0 */
/*
 * login.c - a browser shows the token once and gets a cookie for it.
 */
#include <string.h>

#include "base/bytes.h"
#include "hub/handlers.h"
#include "hub/small_body.h"

#define LONGEST_TOKEN 1024u

bool tv_hub_login_begin(struct tv_asked *asked, struct tv_body *body, struct tv_answer *answer)
{
    return tv_small_body_begin(asked, LONGEST_TOKEN, body, answer);
}

/* The token is the body, as text. */
void tv_hub_login(struct tv_asked *asked, struct tv_answer *answer)
{
    char session[TV_ACCESS_SESSION + 1];
    const struct tv_bytes token = tv_bytes_trim(tv_small_body_text(asked->request->body));
    if (tv_access_login(asked->hub->access, token, session) != TV_ADMITTED) {
        tv_hub_refuse(answer, TV_HTTP_FORBIDDEN, "this is not the token");
        return;
    }
    answer->status = TV_HTTP_NO_CONTENT;
    tv_answer_header(answer, "Set-Cookie",
                     TV_ACCESS_COOKIE "=%s; Path=/; Max-Age=2592000; HttpOnly; SameSite=Lax%s",
                     session, asked->secure ? "; Secure" : "");
}

void tv_hub_logout(struct tv_asked *asked, struct tv_answer *answer)
{
    tv_access_logout(asked->hub->access, tv_request_header(asked->request, "Cookie"));
    answer->status = TV_HTTP_NO_CONTENT;
    tv_answer_header(answer, "Set-Cookie", TV_ACCESS_COOKIE "=; Path=/; Max-Age=0; HttpOnly");
}
