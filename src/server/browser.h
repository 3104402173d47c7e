/* SPDX-License-Identifier: Apache-2.0 */
/*
 * browser.h - shows an address in the user's browser.
 */
#ifndef TV_SERVER_BROWSER_H
#define TV_SERVER_BROWSER_H

#include "base/types.h"

/* Starts xdg-open, which asks the desktop for its browser.  False when there is no display or no
 * xdg-open. Nobody waits for it: with some desktops it is the browser itself and lives as long. */
bool tv_browser_open(const char *address);

#endif
