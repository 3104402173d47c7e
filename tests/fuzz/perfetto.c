/* SPDX-License-Identifier: Apache-2.0 */
/* The reader of Perfetto traces: any bytes.  Its records are events, and a packet, which dump
 * prints as one line, holds any number of them, so told_records.h does not fit. */
#include "readers/perfetto/perfetto.h"

#include "two_readings.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    return compare_readings(&tv_reader_perfetto, data, size);
}
