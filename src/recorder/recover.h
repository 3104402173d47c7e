/* SPDX-License-Identifier: Apache-2.0 */
/*
 * recover.h - the trace of a process that was killed, from what it left in its spool folder:
 *
 *     traceview-PID.spool   its buffers (area.h)
 *     traceview-PID.names   "M\tLINE" a method, "X\tSTART\tEND\tBIAS\tFROM\tTO\tPATH" a loaded
 * file, "A\tADDRESS\tNUMBER" the method that an address has been given
 */
#ifndef TV_RECORDER_RECOVER_H
#define TV_RECORDER_RECOVER_H

#include "recorder/recording.h"

#define TV_RECOVER_PATH 4096u

/* Writes the file that the recording was for, NAME.PID.trace when there is one of that name, or
 * `output` if not NULL; `path` (TV_RECOVER_PATH bytes) gets its name.  Of a streamed recording it
 * is what had been written, and what the spool has beyond it; where some of that is lost, its file
 * stays.  -EINVAL: no spool, or a damaged one; -EBUSY: it is being recorded. */
int tv_recorder_recover(const char *spool, const char *names, const char *output, char *path,
                        struct tv_recording_info *info);

#endif
