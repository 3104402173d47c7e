/* SPDX-License-Identifier: Apache-2.0 */
/*
 * faults.h - system calls that change a disk, any of which can be the last one of a process or
 * fail. faults.c defines functions with their names, which the whole program uses, SQLite included.
 */
#ifndef TV_TESTS_STORE_FAULTS_H
#define TV_TESTS_STORE_FAULTS_H

#include <stdbool.h>

enum fault {
    FAULT_NONE,
    FAULT_KILL,      /* the process ends before the call */
    FAULT_HALF_KILL, /* half of a write is done, then the process ends */
    FAULT_REFUSE,    /* EIO for this call */
    FAULT_FULL,      /* ENOSPC for this write and all that follow */
    FAULT_LOOK,      /* EIO for this call, which opens, makes or looks at a file or directory */
};

/* Make the `at`-th call from now on, counted from 0, fail like this. */
void faults_arm(enum fault fault, long at);

/* Return true when that call was made. */
bool faults_happened(void);

#endif
