/* SPDX-License-Identifier: Apache-2.0 */
/*
 * adb.h - orders to an Android device by its debug bridge, a program of the Android SDK.
 *
 * It is started by a list of words, never through a shell of this machine.  `adb shell` hands one
 * text to the shell of the device, in which tv_adb_quote keeps words apart.  What it answers is cut
 * to a length and believed in nothing but what is told of it to the user.
 */
#ifndef TV_CLI_ADB_H
#define TV_CLI_ADB_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"

#define TV_ADB_ANSWER 8192u
#define TV_ADB_SERIAL 128u
#define TV_ADB_PATH 4096u

struct tv_adb {
    char program[TV_ADB_PATH];
    char serial[TV_ADB_SERIAL]; /* "": not chosen yet */
    int signals;                /* a signalfd: an order that runs when it is readable is ended */
};

/* What an order has come to. */
struct tv_adb_answer {
    int code;         /* the exit code; 128 and a signal */
    bool interrupted; /* a signal came, and the order was ended */
    bool timed_out;
    char text[TV_ADB_ANSWER]; /* both outputs, without CR and without lines of the adb server */
};

/* Finds the program: in PATH, or in platform-tools of ANDROID_HOME or ANDROID_SDK_ROOT. */
enum tv_status tv_adb_find(struct tv_adb *adb, struct tv_error *err) TV_MUST_CHECK;

/* Chooses the device: `serial`, or that of ANDROID_SERIAL, or the only one there is (NULL). */
enum tv_status tv_adb_choose(struct tv_adb *adb, const char *serial,
                             struct tv_error *err) TV_MUST_CHECK;

/* Runs adb with these words, up to a NULL, for the device if one is chosen; `limit_ms` 0: for as
 * long as it takes.  TV_OK means that it has run, whatever it has answered. */
enum tv_status tv_adb_run(const struct tv_adb *adb, const char *const *words, int limit_ms,
                          struct tv_adb_answer *answer, struct tv_error *err) TV_MUST_CHECK;

/* The same of one line for the shell of the device, as printf makes it. */
enum tv_status tv_adb_shell(const struct tv_adb *adb, struct tv_adb_answer *answer,
                            struct tv_error *err, const char *format, ...)
    __attribute__((format(printf, 4, 5))) TV_MUST_CHECK;

/* The word between single quotes; false: it does not fit. */
bool tv_adb_quote(const char *word, char *quoted, size_t size);

#endif
