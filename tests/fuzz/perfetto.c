/* SPDX-License-Identifier: Apache-2.0 */
/* The reader of Perfetto traces, and its record visitor: any bytes. */
#include "readers/perfetto/perfetto.h"

#include "told_records.h"
#include "two_readings.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    compare_told(&tv_reader_perfetto, data, size);
    return compare_readings(&tv_reader_perfetto, data, size);
}
