/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ending.h - why a child is gone, in words.
 */
#ifndef TV_ENGINE_ENDING_H
#define TV_ENGINE_ENDING_H

#include "base/error.h"

struct tv_ending {
    int status;         /* as waitpid tells it */
    bool out_of_memory; /* it said so */
    uint64_t memory_bytes;
    unsigned load_seconds;
};

/* Fills the error: one sentence without the child's name, as "ended by signal 11 (...)". */
void tv_ending_explain(const struct tv_ending *ending, struct tv_error *error);

#endif
