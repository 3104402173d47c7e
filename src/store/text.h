/* SPDX-License-Identifier: Apache-2.0 */
/*
 * text.h - what clients write, made fit to be shown, and compared whatever its case.
 */
#ifndef TV_STORE_TEXT_H
#define TV_STORE_TEXT_H

#include "base/types.h"

/* Whether it is UTF-8 without control characters and without what turns the direction of a line. */
bool tv_store_text_is_clean(struct tv_bytes text);

/* Writes the text and a NUL to `to`, of which size - 1 bytes at most are used: U+FFFD for each byte
 * that is not UTF-8 and for each character that tv_store_text_is_clean has none of; cut between two
 * characters.  With `lines`, line ends and tabs stay (CR LF becomes LF).  How long it is. */
size_t tv_store_text_clean(struct tv_bytes text, bool lines, char *to, size_t size);

/* The same text in small letters (Latin, Greek, Cyrillic), as many bytes as it has, to
 * to[0..length).  Both may be one. */
void tv_store_text_fold(struct tv_bytes text, char *to);

#endif
