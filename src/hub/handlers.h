/* SPDX-License-Identifier: Apache-2.0 */
/*
 * handlers.h - what answers each route (route.h; the table stands in routes.c).
 */
#ifndef TV_HUB_HANDLERS_H
#define TV_HUB_HANDLERS_H

#include "hub/context.h"

/* uploads.c: a whole file in one request. */
bool tv_hub_put_begin(struct tv_asked *asked, struct tv_body *body, struct tv_answer *answer);
void tv_hub_put(struct tv_asked *asked, struct tv_answer *answer);

/* resumable.c: a file in pieces, by the tus protocol 1.0 (https://tus.io/protocols). */
void tv_hub_upload_options(struct tv_asked *asked, struct tv_answer *answer);
void tv_hub_upload_new(struct tv_asked *asked, struct tv_answer *answer);
void tv_hub_upload_head(struct tv_asked *asked, struct tv_answer *answer);
bool tv_hub_upload_patch_begin(struct tv_asked *asked, struct tv_body *body,
                               struct tv_answer *answer);
void tv_hub_upload_patch(struct tv_asked *asked, struct tv_answer *answer);
void tv_hub_upload_delete(struct tv_asked *asked, struct tv_answer *answer);

/* traces.c: what is known of traces. */
void tv_hub_list(struct tv_asked *asked, struct tv_answer *answer);
void tv_hub_trace(struct tv_asked *asked, struct tv_answer *answer);
bool tv_hub_change_begin(struct tv_asked *asked, struct tv_body *body, struct tv_answer *answer);
void tv_hub_change(struct tv_asked *asked, struct tv_answer *answer);
void tv_hub_delete(struct tv_asked *asked, struct tv_answer *answer);
void tv_hub_read_again(struct tv_asked *asked, struct tv_answer *answer);

/* looks.c: what an engine says of a trace. */
void tv_hub_view_question(struct tv_asked *asked, struct tv_answer *answer);
void tv_hub_flamegraph(struct tv_asked *asked, struct tv_answer *answer);
void tv_hub_collapsed(struct tv_asked *asked, struct tv_answer *answer);
void tv_hub_report(struct tv_asked *asked, struct tv_answer *answer);

/* pages.c: pages, the original files, and what the server says of itself. */
void tv_hub_front_page(struct tv_asked *asked, struct tv_answer *answer);
void tv_hub_view_page(struct tv_asked *asked, struct tv_answer *answer);
void tv_hub_to_folder(struct tv_asked *asked, struct tv_answer *answer);
/* Every browser saves what it gets under this name. */
void tv_hub_add_name(struct tv_answer *answer, const char *name);
void tv_hub_original(struct tv_asked *asked, struct tv_answer *answer);
void tv_hub_describe(struct tv_asked *asked, struct tv_answer *answer);
void tv_hub_health(struct tv_asked *asked, struct tv_answer *answer);
void tv_hub_metrics(struct tv_asked *asked, struct tv_answer *answer);
void tv_hub_openapi(struct tv_asked *asked, struct tv_answer *answer);

/* login.c */
bool tv_hub_login_begin(struct tv_asked *asked, struct tv_body *body, struct tv_answer *answer);
void tv_hub_login(struct tv_asked *asked, struct tv_answer *answer);
void tv_hub_logout(struct tv_asked *asked, struct tv_answer *answer);

#endif
