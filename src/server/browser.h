/* SPDX-License-Identifier: Apache-2.0 */
/*
 * browser.h - shows an address in the user's browser.
 *
 * The address holds the viewer's token, and other users of the machine can read the arguments of
 * every process.  So the browser is given a file that only this user can read and that leads to
 * the address.
 */
#ifndef TV_SERVER_BROWSER_H
#define TV_SERVER_BROWSER_H

#include "base/types.h"

/* The file that leads to the address, in a directory of its own. */
struct tv_browser {
    char directory[4096]; /* "": none */
    char file[4096 + 16];
};

/* Starts xdg-open, which asks the desktop for its browser.  False when there is no display, no
 * xdg-open or no place for the file.  Nobody waits for xdg-open: with some desktops it is the
 * browser itself and lives as long. */
bool tv_browser_open(struct tv_browser *browser, const char *address);

/* Remove the file, once the address has no server any more. */
void tv_browser_close(struct tv_browser *browser);

#endif
