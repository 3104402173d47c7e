/* SPDX-License-Identifier: Apache-2.0 */
/*
 * packets.h - writes ART's format V2 with both clocks (version 5): packets of methods and threads,
 * then blocks of entries as differences (variant B, in nanoseconds), then a summary.
 */
#ifndef TRACEVIEW_BENCH_PACKETS_H
#define TRACEVIEW_BENCH_PACKETS_H

#include <stdint.h>
#include <stdio.h>

#include "wire/method_trace.h"

/* A turn of a thread and more; each record takes at most 30 bytes. */
#define PACKETS_ROOM 32768u

struct packets {
    FILE *file;
    uint32_t tid, count;
    uint64_t id, wall_ns, cpu_ns; /* of the record before, in this block */
    size_t used;
    uint8_t block[PACKETS_ROOM];
};

struct packets_record {
    uint32_t tid, method;
    enum tv_mt_action action;
    uint64_t wall_ns, cpu_ns;
};

void packets_header(struct packets *packets, uint64_t start_ns);
/* `line` is "class\tname\tsignature\tfile\n". */
void packets_method(struct packets *packets, uint32_t method, const char *line);
void packets_thread(struct packets *packets, uint32_t tid, const char *name);
/* Another thread begins another block. */
void packets_add(struct packets *packets, const struct packets_record *record);
/* Writes what is left and the summary. */
void packets_end(struct packets *packets, const char *summary);

#endif
