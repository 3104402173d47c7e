/* SPDX-License-Identifier: Apache-2.0 */
/*
 * recover.h - the trace of a process that was killed, from what it left in its spool folder:
 *
 *     traceview-PID.spool   its buffers (area.h)
 *     traceview-PID.names   "M\tLINE" a method, "X\tSTART\tEND\tBIAS\tPATH" a loaded file
 */
#ifndef TV_RECORDER_RECOVER_H
#define TV_RECORDER_RECOVER_H

#include "recorder/recording.h"

#define TV_RECOVER_PATH 4096u

/* Writes the file that the recording was for, or `output` if not NULL; `path` (TV_RECOVER_PATH
 * bytes) gets its name.  -EINVAL: no spool, or a damaged one; -ENOTSUP: of a streamed recording,
 * whose PATH.part is readable as it is. */
int tv_recorder_recover(const char *spool, const char *names, const char *output, char *path,
                        struct tv_recording_info *info);

#endif
