/* SPDX-License-Identifier: Apache-2.0 */
/* modules.h - which file an address belongs to, also after dlclose, and the symbols of files. */
#ifndef TV_RECORDER_NATIVE_MODULES_H
#define TV_RECORDER_NATIVE_MODULES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct tv_output_file;
struct tv_recording_method;

/* Note what is loaded now, and what is not any more.  Not in signal handlers. */
void tv_modules_refresh(void);

/* Write the history to a spool's names file: lines "X\tSTART\tEND\tBIAS\tFROM\tTO\tPATH\n".  A
 * later line with the same START, END, FROM and PATH replaces an earlier one. */
void tv_modules_write_names(struct tv_output_file *names);

/* Return the key (recorder/method_table.h) of an address at a time, or TV_MODULE_TIME_NOW.
 * Files that were loaded since the last refresh are looked up. */
uint64_t tv_modules_key(uint64_t address, uint64_t ticks);

/* Fill in the texts of a key: the file's name as the class, its path as the source file, and as
 * the name the dynamic symbol, or the address within the file. */
void tv_modules_name(uint64_t key, struct tv_recording_method *method, char *room, size_t size);

/* Offer the functions of the file at the address to the method filter (recorder/triggers.h),
 * once a round.  The recorder's lock is held. */
void tv_modules_find_functions(uint64_t address);

/* Keep the locks around a fork, so that the child's are free. */
void tv_modules_before_fork(void);
void tv_modules_after_fork(void);

/* Name addresses by their place in the file, for a program that resolves them later. */
void tv_modules_set_address_names(void);
bool tv_modules_has_address_names(void);

/* ---- Symbols (symbols.c) ---- */

/* Find the dynamic symbol that begins at the address, in the file with its dynamic section at
 * `dynamic`, loaded with `bias`.  It does without the loader, whose lock a dead thread may hold,
 * and reads mapped memory only, even while the file is being unloaded.  False: there is none,
 * and `name` is unchanged.  One caller at a time. */
bool tv_symbols_exported_name(uint64_t dynamic, uint64_t bias, uint64_t address, char *name,
                              size_t size);

/* Call `take` for each function in a file's symbols, with its address in the file: once with its
 * symbol, and once with its qualified name if that differs.  Of a stripped file these are the
 * exported functions; of a file that cannot be read, none. */
void tv_symbols_read_functions(const char *path,
                               void (*take)(void *context, uint64_t address, const char *name),
                               void *context);

/* Turn _ZN4base6Server6handleEi into base::Server::handle, the form of filter patterns, without
 * template arguments, parameters and the hash of old Rust names.  False: it is no such name, or
 * an operator, a substitution, a local function, or too long.  The recorded program gets no full
 * demangler, and that of libstdc++ may not be called where a lock may be held. */
bool tv_symbols_qualified_name(const char *symbol, char *name, size_t size);

#endif
