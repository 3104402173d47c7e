/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sender.h - the client's side of an upload that can be continued (tus 1.0, docs/openapi.json).
 */
#ifndef TV_CLI_SENDER_H
#define TV_CLI_SENDER_H

#include "base/progress.h"
#include "cli/options.h"

struct tv_sender;
struct tv_source;

/* The settings live until tv_sender_free. TV_ERR_USAGE: the address is none. */
enum tv_status tv_sender_new(const struct tv_push_settings *settings, struct tv_sender **sender,
                             struct tv_error *err) TV_MUST_CHECK;
void tv_sender_free(struct tv_sender *sender);

/* Sends the file.  What the network breaks off is tried again for some minutes; a server that
 * cannot be reached to begin with is an error at once.  *address is the trace's, to be freed. */
enum tv_status tv_sender_send(struct tv_sender *sender, struct tv_source *file, const char *name,
                              struct tv_progress *progress, char **address,
                              struct tv_error *err) TV_MUST_CHECK;

/* Waits until the server has read the trace of that address: TV_ERR_SYNTAX when it could not.  A
 * server that does not tell is no error. */
enum tv_status tv_sender_await(struct tv_sender *sender, const char *address,
                               struct tv_error *err) TV_MUST_CHECK;

#endif
