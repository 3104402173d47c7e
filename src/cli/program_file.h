/* SPDX-License-Identifier: Apache-2.0 */
/*
 * program_file.h - what the file of a program says about recording it: the recorder's library can
 * be loaded only into programs of the same machine that are linked dynamically and run with our own
 * rights, and it sees calls only where the compiler put hooks.
 */
#ifndef TV_CLI_PROGRAM_FILE_H
#define TV_CLI_PROGRAM_FILE_H

#include <stdbool.h>

struct tv_program_file {
    bool is_elf;        /* the fields below are known */
    bool other_machine; /* of another processor or word size than the recorder */
    bool is_static;     /* nothing is loaded into it */
    bool is_go;
    bool has_hooks;    /* itself compiled with -finstrument-functions; its libraries may be too */
    bool other_rights; /* setuid, setgid or capabilities: the system loads no library of ours */
};

/* Read the file, which is not believed; all false for one that cannot be read or is no ELF file. */
void tv_program_file_read(const char *path, struct tv_program_file *file);

#endif
