/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cases.h - the cases of a .case file: bytes of an input and what a reader must make of them.
 *
 *     case two clocks           begins a case; text before the first one is a comment
 *     input                     assembler.h
 *     expect                    as recording_print prints it, with places of the input for offsets;
 *                               lines that begin with # are left out
 */
#ifndef TV_TESTS_CASES_H
#define TV_TESTS_CASES_H

#include "assembler.h"

struct test_case {
    char name[128];
    const struct assembly *assembly;
    struct tv_bytes input;
    struct tv_out expect;
};

/* Call `run` for each case of a file; exit when the file has an error. */
void cases_for_each(const char *path, void (*run)(struct test_case *test, void *context),
                    void *context);

/* The bytes of a file; ends the program when it cannot be read. */
void cases_read_file(const char *path, struct tv_out *out);

#endif
