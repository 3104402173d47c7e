/* SPDX-License-Identifier: Apache-2.0 */
#include "report/engine.h"

/* Defined by the assembly file that tools/embed-assets writes. */
extern const uint8_t tv_engine_wasm[];
extern const uint8_t tv_engine_wasm_end[];

struct tv_bytes tv_report_engine(void)
{
    return (struct tv_bytes){tv_engine_wasm, (size_t)(tv_engine_wasm_end - tv_engine_wasm)};
}
