/* SPDX-License-Identifier: Apache-2.0 */
/* text.h - wildcard patterns, and the JVM's encoding of names. */
#ifndef TV_RECORDER_TEXTS_H
#define TV_RECORDER_TEXTS_H

#include <stdbool.h>
#include <stddef.h>

/* Does the text match the pattern?  * stands for any characters, ? for one. */
bool tv_wildcard_matches(const char *pattern, const char *text);

/* As above, for a list of patterns with the character `between` between them. */
bool tv_wildcard_matches_any(const char *patterns, char between, const char *text);

/* Convert modified UTF-8 (NUL is C0 80, characters beyond 16 bits are two surrogates of three
 * bytes each) to UTF-8, with a NUL at the end, cut at a character to fit into `room` bytes.  NUL
 * becomes a blank; lone surrogates and malformed bytes become question marks.  The character
 * from_to[0] becomes from_to[1] (dots for slashes); from_to may be NULL. */
void tv_text_from_jvm(char *out, size_t room, const void *text, size_t length,
                      const char from_to[2]);

#endif
