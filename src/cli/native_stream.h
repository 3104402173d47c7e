/* SPDX-License-Identifier: Apache-2.0 */
/*
 * native_stream.h - names for the addresses of a streamed .trace (0xF2, 0xF3).
 */
#ifndef TV_CLI_NATIVE_STREAM_H
#define TV_CLI_NATIVE_STREAM_H

#include <stdbool.h>
#include <stdio.h>

/* Copies the file, whose packets of methods get names; one that was cut off is copied as far as it
 * goes.  False: it is no such file.  Errors are those of the streams. */
bool tv_native_stream_put(FILE *in, FILE *out);

#endif
