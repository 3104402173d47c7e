/* SPDX-License-Identifier: Apache-2.0 */
/*
 * engine.h - the module of src/wasm inside this program.
 */
#ifndef TV_REPORT_ENGINE_H
#define TV_REPORT_ENGINE_H

#include "base/types.h"

/* Return the module, compressed by gzip; empty in a build without WebAssembly. */
struct tv_bytes tv_report_engine(void);

#endif
