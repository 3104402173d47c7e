/* SPDX-License-Identifier: Apache-2.0 */
/*
 * spawn.h - starts a child and gives it its files, and no others.
 */
#ifndef TV_ENGINE_SPAWN_H
#define TV_ENGINE_SPAWN_H

#include <sys/types.h>

#include "engine/messages.h"

struct tv_spawn {
    const char *program; /* NULL: this program */
    const char *scratch; /* a folder for this child is made in that one */
    const char *name;    /* of the folder */
    struct tv_engine_begin begin;
    int trace, index, new_index; /* -1: none; they stay the caller's */
};

struct tv_spawned {
    pid_t pid;
    int socket, errors; /* errors: what it writes to its standard error */
    char *scratch;      /* the folder */
};

/* The child ends when the calling thread ends. */
enum tv_status tv_spawn(const struct tv_spawn *spawn, struct tv_spawned *spawned,
                        struct tv_error *err) TV_MUST_CHECK;

/* Closes its files and removes its folder; the child must be gone. */
void tv_spawned_release(struct tv_spawned *spawned);

#endif
