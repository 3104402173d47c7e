/* SPDX-License-Identifier: Apache-2.0 */
/*
 * exported.h - the dynamic symbols of loaded files, read without the loader: it may be busy for
 * good when the process ends by a signal.
 */
#ifndef TV_RECORDER_NATIVE_EXPORTED_H
#define TV_RECORDER_NATIVE_EXPORTED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The name of what begins at the address, in the file whose dynamic section lies at `dynamic` and
 * whose addresses are `bias` larger here than in itself.  Takes no lock, reads only what is there,
 * also when the file is being unloaded.  False, and nothing is written: it has no such symbol.  One
 * caller at a time. */
bool tv_symbols_exported_name(uint64_t dynamic, uint64_t bias, uint64_t address, char *name, size_t size);

#endif
