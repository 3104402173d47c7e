/* SPDX-License-Identifier: Apache-2.0 */
/* texts.h - names as the JVM has them: patterns over them, and their encoding. */
#ifndef TV_RECORDER_TEXTS_H
#define TV_RECORDER_TEXTS_H

#include <stdbool.h>
#include <stddef.h>

/* Does the text match the pattern, in which * stands for any characters and ? for one? */
bool tv_wildcard_matches(const char *pattern, const char *text);

/* The same for one of several patterns, with the character `between` them. */
bool tv_wildcard_matches_any(const char *patterns, char between, const char *text);

/*
 * From modified UTF-8 (a NUL is C0 80, what lies beyond 16 bits is two surrogates of three bytes)
 * to UTF-8, into `room` bytes with a NUL at the end; cut at a character when they do not suffice.
 * NUL becomes a blank, a lone surrogate and what is no such text a question mark; `from` becomes
 * `to` (dots for slashes) where it stands.
 */
void tv_text_from_jvm(char *out, size_t room, const void *text, size_t length,
                      const char from_to[2]);

#endif
