/* SPDX-License-Identifier: Apache-2.0 */
/*
 * paths.h - the names of the files that the options ask for.
 *
 * %p, %t and %% are put in; from the second recording on its number stands before the ending
 * (a-2.trace, java-2.hprof.txt); samples beside a trace have its name with an ending of their own.
 */
#ifndef TV_RECORDER_AGENT_PATHS_H
#define TV_RECORDER_AGENT_PATHS_H

#include "recorder/agent/options.h"

#define TV_AGENT_PATH 4096

/* Empty: the mode has no such file. */
struct tv_agent_paths {
    char trace[TV_AGENT_PATH];
    char samples[TV_AGENT_PATH];
};

/* The files of the recording of that number, or with force=n of the next one whose names are free.
 * False: they are too long. */
bool tv_agent_paths_choose(const struct tv_agent_options *options, unsigned number,
                           struct tv_agent_paths *paths);

/* Can the first recording's files be made, and those of its spool?  False: `why` names what cannot
 * and says why. */
bool tv_agent_paths_check(const struct tv_agent_options *options, char *why, size_t room);

/* Can files be made in this folder?  0, or a negative errno. */
int tv_agent_paths_check_folder(const char *folder);

#endif
