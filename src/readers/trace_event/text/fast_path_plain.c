/* SPDX-License-Identifier: Apache-2.0 */
/* fast_path_plain.c - the fast path in plain C; tests compare the others with it. */
#define TV_SCAN_PLAIN
#include "readers/trace_event/text/fast_path.h"

bool tv_te_fast_path_plain(const uint8_t *at, const uint8_t *end, struct tv_te_fields *fields,
                           const uint8_t **event_end)
{
    return tv_te_fast_path(at, end, fields, event_end);
}
