/* SPDX-License-Identifier: Apache-2.0 */
/*
 * incoming.h - the bytes of an upload, from the connection into the store.
 */
#ifndef TV_HUB_INCOMING_H
#define TV_HUB_INCOMING_H

#include "hub/context.h"

/* The body of one request. */
struct tv_incoming {
    struct tv_hub *hub;
    struct tv_store_id upload;
    struct tv_store_piece *piece; /* NULL: not begun, or ended */
    bool single;                  /* nobody can go on with it: cancelled when it breaks off */
    bool finished;                /* it has become a trace */
};

struct tv_incoming *tv_incoming_new(struct tv_hub *hub, bool single);

/* Ends the piece; what broke off and cannot be resumed is cancelled. */
void tv_incoming_free(struct tv_incoming *incoming);

/* Makes it the taker of a request's body, which frees it at its end. */
void tv_incoming_take(struct tv_incoming *incoming, struct tv_body *body);

/* All of the body is there: ends the piece.  False: the answer says what went wrong. */
bool tv_incoming_end(struct tv_incoming *incoming, uint64_t *held, struct tv_answer *answer);

/* Makes a trace of the upload, which is to be read soon.  False: the answer says why not. */
bool tv_incoming_finish(struct tv_incoming *incoming, struct tv_asked *asked,
                        struct tv_store_id *trace, struct tv_answer *answer);

#endif
