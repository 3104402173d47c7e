/* SPDX-License-Identifier: Apache-2.0 */
#include <inttypes.h>

#include "trace_event_styles.h"

#define COUNTERS 40u
#define PROCESSES 4u
#define MOST 1000000u

uint64_t write_counters(struct random_text *text, uint64_t limit)
{
    uint64_t events = 0;
    put(text, "[");
    for (; text_length(text) < limit; events++) {
        unsigned counter = below(text, COUNTERS), used = below(text, MOST);
        put(text,
            "%s{\"name\":\"heap %u\",\"ph\":\"C\",\"ts\":%" PRIu64
            ",\"pid\":%u,\"args\":{\"used\":%u,\"free\":%u}}",
            events > 0 ? ",\n" : "\n", counter, events, 1 + counter % PROCESSES, used, MOST - used);
    }
    put(text, "\n]\n");
    return events;
}
