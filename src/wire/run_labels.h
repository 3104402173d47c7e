/* SPDX-License-Identifier: Apache-2.0 */
/*
 * run_labels.h - keys of the labels that `traceview record --side` puts into the metadata of a
 * trace, and by which runs are compared.
 */
#ifndef TV_WIRE_RUN_LABELS_H
#define TV_WIRE_RUN_LABELS_H

#define TV_LABEL_SIDE "run-side"
#define TV_LABEL_ROUND "run-round"
#define TV_LABEL_SESSION "run-session"
#define TV_LABEL_BOOT "run-boot"

#endif
