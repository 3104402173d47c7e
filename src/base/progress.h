/* SPDX-License-Identifier: Apache-2.0 */
/*
 * progress.h - how far a long piece of work is, and the request to stop it.
 *
 * The worker adds to the counters and looks at `cancel`; another thread reads the counters and sets
 * it.
 */
#ifndef TV_BASE_PROGRESS_H
#define TV_BASE_PROGRESS_H

#include <stdatomic.h>

#include "base/types.h"

struct tv_progress {
    _Atomic uint64_t total_bytes; /* of all passes over the input */
    _Atomic uint64_t bytes;
    _Atomic uint64_t records;
    _Atomic bool cancel;
};

#endif
