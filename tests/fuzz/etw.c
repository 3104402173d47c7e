/* SPDX-License-Identifier: Apache-2.0 */
/* Events of Windows inside JSON: the whole object, and its bytes as payloads of every class. */
#include <stddef.h>
#include <stdint.h>

#include "readers/etw.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void decode_all(struct tv_bytes payload)
{
    static const unsigned ops[] = {0, TV_ETW_STARTED, TV_ETW_SWITCH, TV_ETW_READY};
    for (int class = TV_ETW_OTHER; class <= TV_ETW_CLOCK; class ++)
        for (size_t i = 0; i < TV_COUNT(ops); i++)
            for (unsigned version = 0; version <= 6; version++)
                for (unsigned pointer = 4; pointer <= 8; pointer += 4) {
                    struct tv_etw_event event = {(enum tv_etw_class) class, ops[i], version,
                                                 pointer, payload};
                    struct tv_etw_payload said;
                    (void)tv_etw_decode(&event, &said);
                }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct tv_etw etw;
    struct tv_bytes bytes = {data, size};
    (void)tv_etw_is(bytes);
    tv_etw_read(&etw, bytes);
    tv_etw_release(&etw);
    decode_all(bytes);
    return 0;
}
