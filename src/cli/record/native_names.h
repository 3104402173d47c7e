/* SPDX-License-Identifier: Apache-2.0 */
/*
 * native_names.h - replaces the addresses in a recording of a native program by function names and
 * lines, after the recording.
 *
 * The recorder inside the program writes addresses, because looking up names would slow the program
 * down.  Each address comes with the path of the ELF file that it is in.
 */
#ifndef TV_CLI_RECORD_NATIVE_NAMES_H
#define TV_CLI_RECORD_NATIVE_NAMES_H

#include "base/error.h"
#include "recorder/samples/samples.h"
#include "symbols/demangle.h"
#include "symbols/elf.h"

/* Name the methods of a .trace whose name is an address.  An address without a known function stays
 * as it is; a file of another kind is left alone. */
enum tv_status tv_native_names_resolve(const char *path, struct tv_error *err) TV_MUST_CHECK;

/* Read the hprof text that libtraceview-record writes with TRACEVIEW_RECORD_ADDRESSES, replace its
 * addresses, merge stacks that have become equal, and write the file again as `form`.  A file
 * without samples is written, too, but an error. */
enum tv_status tv_native_samples_resolve(const char *path, enum tv_samples_form form,
                                         struct tv_error *err) TV_MUST_CHECK;

/* Write samples, whose stacks have at most `depth` frames, to a file: completely, or not at all. */
enum tv_status tv_native_samples_write(const struct tv_samples *samples, enum tv_samples_form form,
                                       uint32_t depth, const char *path,
                                       struct tv_error *err) TV_MUST_CHECK;

#define TV_NATIVE_FILES 256u

/* The ELF files of a recording, each opened when its first address is looked up. */
struct tv_native_files {
    char *paths[TV_NATIVE_FILES];         /* as in the recording */
    struct tv_elf *elfs[TV_NATIVE_FILES]; /* NULL: not readable */
    size_t count;
    struct tv_demangler demangler;
};

/* The source position of an address.  C++ names are demangled. */
struct tv_native_place {
    struct tv_bytes function;
    struct tv_bytes parameters; /* "(int)" in C++, else empty */
    struct tv_bytes file;       /* empty: unknown */
    int32_t line;               /* 0: unknown */
};

/* Look up an address in the ELF file at `path`; false when it is unknown.  The texts are valid
 * until the next call. */
bool tv_native_files_place(struct tv_native_files *files, struct tv_bytes path, uint64_t address,
                           struct tv_native_place *place);
void tv_native_files_release(struct tv_native_files *files);

#endif
