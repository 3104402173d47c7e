/* SPDX-License-Identifier: Apache-2.0 */
/*
 * modules.h - which file an address belongs to, also when that file is no longer loaded.
 */
#ifndef TV_RECORDER_NATIVE_MODULES_H
#define TV_RECORDER_NATIVE_MODULES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct tv_output_file;
struct tv_recording_method;

/* Remembers what is loaded now, and that what was is so no longer.  Not in signal handlers. */
void tv_modules_refresh(void);

/* Writes what is known to a spool's names file: "X\tSTART\tEND\tBIAS\tFROM\tTO\tPATH\n"
 * each, whose later lines for the same START, END, FROM and PATH correct earlier ones. */
void tv_modules_write_names(struct tv_output_file *names);

/* The key (recorder/homes.h) of an address at a time, of which TV_MODULE_TIME_NOW is one.  What has been
 * loaded since the last look is looked for. */
uint64_t tv_modules_key(uint64_t address, uint64_t ticks);

/* The texts for a key: the file's name as the class, its path as the source file, and as the name
 * what the dynamic symbols say, or the address within the file. */
void tv_modules_name(uint64_t key, struct tv_recording_method *method, char *room, size_t size);

/* Offers the functions of the file that lies at the address to recorder/chosen.h, once a round.
 * The recorder's lock is held. */
void tv_modules_find_functions(uint64_t address);

/* A child has the list of its parent; its lock is free. */
void tv_modules_before_fork(void);
void tv_modules_after_fork(void);

/* From now on the name is always the address within the file, for who resolves it later. */
void tv_modules_set_address_names(void);
bool tv_modules_has_address_names(void);

#endif
