/* SPDX-License-Identifier: Apache-2.0 */
/*
 * labels.h - the labels of a run that `traceview record --side` makes, on their way into its file.
 *
 *     record --side --> environment --> recorder in the program --> metadata of the file --> diff
 *
 *     run-side=base     the label of --side            run-session=...  one for each command
 *     run-round=3       from 1                         run-boot=...     the boot id of the system
 */
#ifndef TV_RECORDER_LABELS_H
#define TV_RECORDER_LABELS_H

#include <stdbool.h>
#include <stddef.h>

#include "wire/run_labels.h"

#define TV_LABELS_VARIABLE "TRACEVIEW_RECORD_LABELS" /* lines KEY=VALUE */
#define TV_LABELS_SIZE 512u

/* Copy the lines of the environment; longer texts are left out. */
void tv_labels_read(char labels[TV_LABELS_SIZE]);

struct tv_label {
    const char *key, *value; /* not ended by NUL */
    int key_length, value_length;
};

/* Take the next label off the lines at *rest; false at the end.  Lines that are not
 * "run-KEY=VALUE" in letters, digits, '.', '_' and '-' are skipped: they may come from a damaged
 * spool. */
bool tv_labels_next(const char **rest, struct tv_label *label);

#endif
