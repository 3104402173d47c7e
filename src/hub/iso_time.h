/* SPDX-License-Identifier: Apache-2.0 */
/*
 * iso_time.h - points in time as people and JSON have them (RFC 3339), always UTC.
 */
#ifndef TV_HUB_ISO_TIME_H
#define TV_HUB_ISO_TIME_H

#include "base/types.h"

#define TV_ISO_TIME 32u /* room for one, with its NUL */

/* "2026-11-21T22:04:05Z" of seconds since 1970. */
const char *tv_iso_time(int64_t seconds, char text[TV_ISO_TIME]);

/* Reads that, or the day alone. */
bool tv_iso_parse(struct tv_bytes text, int64_t *seconds);

#endif
