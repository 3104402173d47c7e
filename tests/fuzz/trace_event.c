/* SPDX-License-Identifier: Apache-2.0 */
/* The reader of Trace Event files: any bytes. */
#include "readers/trace_event/trace_event.h"

#include "two_readings.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    return compare_readings(&tv_reader_trace_event, data, size);
}
