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

/* The key (recorder/method_table.h) of an address at a time, of which TV_MODULE_TIME_NOW is one.
 * What has been loaded since the last look is looked for. */
uint64_t tv_modules_key(uint64_t address, uint64_t ticks);

/* The texts for a key: the file's name as the class, its path as the source file, and as the name
 * what the dynamic symbols say, or the address within the file. */
void tv_modules_name(uint64_t key, struct tv_recording_method *method, char *room, size_t size);

/* Offers the functions of the file that lies at the address to recorder/triggers.h, once a round.
 * The recorder's lock is held. */
void tv_modules_find_functions(uint64_t address);

/* A child has the list of its parent; its lock is free. */
void tv_modules_before_fork(void);
void tv_modules_after_fork(void);

/* From now on the name is always the address within the file, for who resolves it later. */
void tv_modules_set_address_names(void);
bool tv_modules_has_address_names(void);

/*
 * exported.h - the dynamic symbols of loaded files, read without the loader: it may be busy for
 * good when the process ends by a signal.
 */

/* The name of what begins at the address, in the file whose dynamic section lies at `dynamic` and
 * whose addresses are `bias` larger here than in itself.  Takes no lock, reads only what is there,
 * also when the file is being unloaded.  False, and nothing is written: it has no such symbol.  One
 * caller at a time. */
bool tv_symbols_exported_name(uint64_t dynamic, uint64_t bias, uint64_t address, char *name,
                              size_t size);

/*
 * functions.h - the functions of a file, by its symbols: for who looks for some by their names.
 *
 * A file is read by the system, piece by piece, as it may change meanwhile.  Memory is that of
 * pages.h.
 */

/* Calls `take` for each function that the file has, by its address in the file; with its symbol,
 * and a second time with its qualified name where that is another.  A file that is stripped has the
 * exported ones.  One that cannot be read has none. */
void tv_symbols_read_functions(const char *path,
                               void (*take)(void *context, uint64_t address, const char *name),
                               void *context);

/*
 * qualified.h - the names of C++ and Rust functions as patterns have them: base::Server::handle.
 *
 * The library that is loaded into a program brings no demangler, and must not call that of
 * libstdc++ where any lock may be held.  A function's own name with its scopes is simple enough.
 */

/* From _ZN4base6Server6handleEi: without template arguments, parameters and the hash of Rust's
 * older names.  False: the symbol is no such name, or one of operators, substitutions or local
 * functions, or too long. */
bool tv_symbols_qualified_name(const char *symbol, char *name, size_t size);

#endif
