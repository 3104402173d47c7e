/* SPDX-License-Identifier: Apache-2.0 */
/*
 * modules.h - which file an address belongs to, also when that file is no longer loaded.
 */
#ifndef TV_RECORDER_NATIVE_MODULES_H
#define TV_RECORDER_NATIVE_MODULES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct tv_recording_method;

/* Remembers what is loaded now.  Not in signal handlers. */
void tv_modules_look(void);

/* Writes what is known to a spool's names file: "X\tSTART\tEND\tBIAS\tPATH\n" each. */
void tv_modules_write(int file);

/* The texts for an address: the file's name as the class, its path as the source file, and as the
 * name what the dynamic symbols say, or the address within the file. */
void tv_modules_name(uint64_t address, struct tv_recording_method *method, char *room, size_t size);

/* From now on the name is always the address within the file, for who resolves it later. */
void tv_modules_want_addresses(void);
bool tv_modules_wants_addresses(void);

#endif
