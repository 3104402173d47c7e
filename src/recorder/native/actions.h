/* SPDX-License-Identifier: Apache-2.0 */
/* actions.h - what a recorded program does about signals. */
#ifndef TV_RECORDER_NATIVE_ACTIONS_H
#define TV_RECORDER_NATIVE_ACTIONS_H

/* Finds the C library's sigaction, before a handler could need it. */
void tv_signal_wrappers_init(void);

#endif
