/* SPDX-License-Identifier: Apache-2.0 */
/* side_inputs.h - readers of small texts that are beside a trace and have no slices: lists of
 * processes, power samples. Each is an input of its own, read line by line. */
#ifndef TV_READERS_SIDE_INPUTS_H
#define TV_READERS_SIDE_INPUTS_H

#include "model/assembly/assembly.h"
#include "model/tables.h"
#include "readers/reader.h"
#include "readers/text_lines.h"

struct tv_side_input {
    struct tv_source *source;
    struct tv_assembly *assembly;
    struct tv_trace *trace;
    uint32_t input;
};

/* Add the input. It has no events and times until the caller changes that. */
void tv_side_input_begin(struct tv_side_input *side, struct tv_source *source,
                         struct tv_builder *builder, const char *format);
void tv_side_input_end(struct tv_side_input *side);

/* Call `take` for every line. */
enum tv_status tv_side_input_lines(struct tv_side_input *side,
                                   const struct tv_read_options *options,
                                   void (*take)(void *context, const struct tv_text_line *line),
                                   void *context, struct tv_error *err) TV_MUST_CHECK;

/*
 * "PROCESS DUMP": output of ps beside a trace, a table of processes and one of threads.
 *
 *      USER PID PPID VSZ RSS WCHAN PC S NAME COMM     processes since Android 8
 *      USER PID PPID VSIZE RSS WCHAN PC NAME          before; S has no heading there
 *      USER PID TID CMD                               threads
 *
 * A line that begins with USER is a heading. Some writers leave out the line PROCESS DUMP.
 */

/* Layout of the rows, from the heading. Columns count from 0. */
struct tv_process_dump {
    bool headed; /* there was a heading */
    bool threads;
    unsigned columns;
    unsigned pid, tid, name;
    size_t name_place; /* position of the name's heading in its line */
    size_t name_end;   /* position of the next heading; 0: the name is the last column */
};

enum tv_process_dump_kind {
    TV_PROCESS_DUMP_NOTHING, /* a heading, a title or a blank line */
    TV_PROCESS_DUMP_ROW,
    TV_PROCESS_DUMP_BAD, /* not a line of a table */
};

struct tv_process_dump_row {
    uint64_t pid, tid;
    bool is_thread;       /* otherwise `tid` is not set */
    struct tv_bytes name; /* never empty; points into the line */
};

/* Parse one line without its line end. `dump` starts as {0}. */
enum tv_process_dump_kind tv_process_dump_line(struct tv_process_dump *dump, struct tv_bytes line,
                                               struct tv_process_dump_row *row);

/* Adds the rows to tables->known_names of the trace; model/finalize.h applies them. */
extern const struct tv_reader tv_reader_process_dump;

/*
 * "CGROUP DUMP": the kernel's control groups and their tasks, beside a systrace.
 *
 *      #subsys_name  hierarchy  num_cgroups  enabled
 *      cpuset        4          7            1
 *      # cgroup task attachment
 *      /background (root=4) : 466 467
 *
 * Each line becomes metadata.
 */

extern const struct tv_reader tv_reader_cgroup_dump;

/*
 * Power samples of a BattOr, a power meter of Google's.
 *
 *      # BattOr
 *      # sample_rate 2000 Hz, gain 5.0x
 *      2.500000 1.000000 4000.000000 <sync id>
 *
 * A line has milliseconds, millivolts, milliamperes, and maybe the id of a clock mark.
 */

struct tv_battor_line {
    tv_ns time;
    double watts;            /* negative: a wrong measurement; only the mark counts */
    struct tv_bytes sync_id; /* length 0: none */
};

/* Parse a sample. Return false for other lines, comments and blank lines among them. */
bool tv_battor_line(struct tv_bytes text, struct tv_battor_line *line);

/* Makes one counter of power; the ids become clock syncs, the comments metadata. */
extern const struct tv_reader tv_reader_battor;

#endif
