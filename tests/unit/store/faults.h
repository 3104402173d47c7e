/* SPDX-License-Identifier: Apache-2.0 */
/*
 * faults.h - the system calls that change a disk, of which any can be the last one or be refused.
 *
 * faults.c has functions of their names, which the whole program uses, SQLite as well.
 */
#ifndef TV_TESTS_STORE_FAULTS_H
#define TV_TESTS_STORE_FAULTS_H

#include <stdbool.h>

enum fault {
    FAULT_NONE,
    FAULT_KILL,      /* the process ends before the call */
    FAULT_HALF_KILL, /* of a write one half is made */
    FAULT_REFUSE,    /* EIO, this one call */
    FAULT_FULL,      /* ENOSPC, this write and all that follow */
};

/* The `at`-th call from now on, counted from 0, fails like this. */
void faults_arm(enum fault fault, long at);

/* Whether it came to that. */
bool faults_happened(void);

#endif
