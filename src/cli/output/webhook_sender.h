/* SPDX-License-Identifier: Apache-2.0 */
/*
 * webhook_sender.h - POST requests with JSON to one address, for `serve --fleet-webhook`.
 *
 * The upload server gets it as a function (struct tv_webhook in upload/server.h), because the
 * modules below do not know libcurl.
 */
#ifndef TV_CLI_OUTPUT_WEBHOOK_SENDER_H
#define TV_CLI_OUTPUT_WEBHOOK_SENDER_H

#include <stdatomic.h>

#include "base/error.h"
#include "base/types.h"

struct tv_webhook_sender;

/* TV_ERR_USAGE: the address is not one of http or https.  It must outlive the sender. */
enum tv_status tv_webhook_sender_new(const char *url, struct tv_webhook_sender **sender,
                                     struct tv_error *err) TV_MUST_CHECK;

/* NULL is allowed. */
void tv_webhook_sender_free(struct tv_webhook_sender *sender);

/* The host of the address.  The rest may be a secret, which must not be logged. */
const char *tv_webhook_sender_host(const struct tv_webhook_sender *sender);

/* Send one request and await the answer, for at most ten seconds or until *stop is true.  Redirects
 * are not followed.  TV_OK: the answer has a status from 200 to 299. */
enum tv_status tv_webhook_sender_post(void *sender, struct tv_bytes body, const atomic_bool *stop,
                                      struct tv_error *err) TV_MUST_CHECK;

#endif
