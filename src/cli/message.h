/* SPDX-License-Identifier: Apache-2.0 */
/*
 * message.h - every message of the command line to standard error goes through here.
 */
#ifndef TV_CLI_MESSAGE_H
#define TV_CLI_MESSAGE_H

#include "base/types.h"

/* Print one line to standard error; the line end is added.  Names from files, archives and servers
 * may be in it: each control character, and each byte that is not UTF-8, becomes '?', so that a
 * name can neither command the terminal nor forge a second line. */
void tv_message(const char *format, ...) TV_PRINTF(1, 2);

#endif
