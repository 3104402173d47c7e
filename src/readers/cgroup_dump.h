/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cgroup_dump.h - "CGROUP DUMP": the kernel's control groups and their tasks, beside a systrace.
 *
 *     #subsys_name  hierarchy  num_cgroups  enabled
 *     cpuset        4          7            1
 *     # cgroup task attachment
 *     /background (root=4) : 466 467
 *
 * Each line becomes metadata.
 */
#ifndef TV_READERS_CGROUP_DUMP_H
#define TV_READERS_CGROUP_DUMP_H

#include "readers/reader.h"

extern const struct tv_reader tv_reader_cgroup_dump;

#endif
