/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pager.h - long text for people goes through a pager, as git's does.
 */
#ifndef TV_CLI_PAGER_H
#define TV_CLI_PAGER_H

#include <sys/types.h>

#include "base/types.h"

/* Start the user's pager: TRACEVIEW_PAGER, PAGER, or less with the options FRX unless LESS says
 * others.  *descriptor becomes where to write; false: there is none, or it was switched off by an
 * empty value or "cat".  From here on a quit pager shows as EPIPE, and Ctrl-C is for the pager. */
bool tv_pager_start(int *descriptor, pid_t *process);

/* Close the descriptor and wait until the user has left the pager. */
void tv_pager_finish(int descriptor, pid_t process);

#endif
