/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kept.h - a trace out of its index (index/index.h), and the index of a trace: the child's side.
 *
 * The key is what the trace was made of: size and time of its file, and its name, which the trace
 * has inside.
 */
#ifndef TV_ENGINE_KEPT_H
#define TV_ENGINE_KEPT_H

#include "engine/child.h"

struct tv_view;

/* What was read, by the file `fd` and the name of the trace. */
#define TV_KEPT_KEY 600
struct tv_kept_key {
    uint8_t bytes[TV_KEPT_KEY];
    size_t length;
};
bool tv_kept_make_key(int fd, const char *name, struct tv_kept_key *key);

/* Reads the index in the file `fd`, which is taken over.  The source of *wish is taken over where
 * that succeeds, for what is read again later. */
enum tv_status tv_kept_read(int fd, const struct tv_kept_key *key,
                            const struct tv_engine_loader *loader,
                            const struct tv_engine_wish *wish, struct tv_trace **trace,
                            struct tv_error *err) TV_MUST_CHECK;

/* Writes the index of a trace and its view, and has the system put it on the disk. */
enum tv_status tv_kept_write(int fd, const struct tv_kept_key *key, const struct tv_trace *trace,
                             const struct tv_view *view, struct tv_error *err) TV_MUST_CHECK;

#endif
