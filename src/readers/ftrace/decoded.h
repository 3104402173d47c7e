/* SPDX-License-Identifier: Apache-2.0 */
/*
 * decoded.h - events of the kernel whose fields are numbers and strings already.
 *
 * Readers of binary recordings (perfetto/) fill the chunks of this reader through these functions;
 * the handlers of the text end in them too, so both give the same trace.
 */
#ifndef TV_READERS_FTRACE_DECODED_H
#define TV_READERS_FTRACE_DECODED_H

#include "readers/ftrace/chunk.h"

struct tv_ft_merge;
struct tv_builder;
struct tv_read_options;

struct tv_ft_decoded_switch {
    int64_t from, to; /* tids from 0 on; those of Linux end at INT32_MAX */
    struct tv_bytes from_name, to_name;
    enum tv_ft_state state; /* of the previous task */
};

/* Add an event to the chunk; the caller has noted it (below). */
void tv_ft_take_switch(struct tv_ft_chunk *chunk, const struct tv_ft_at *at,
                       const struct tv_ft_decoded_switch *decoded);
void tv_ft_take_wakeup(struct tv_ft_chunk *chunk, const struct tv_ft_at *at, int64_t tid,
                       struct tv_bytes name, enum tv_ft_wake kind);
void tv_ft_take_blocked(struct tv_ft_chunk *chunk, const struct tv_ft_at *at, int64_t tid,
                        struct tv_bytes caller, bool io);
void tv_ft_take_cpu_frequency(struct tv_ft_chunk *chunk, const struct tv_ft_at *at, uint32_t cpu,
                              double khz);
void tv_ft_take_cpu_idle(struct tv_ft_chunk *chunk, const struct tv_ft_at *at, uint32_t cpu,
                         uint32_t state);

/* An interrupt or a soft interrupt: its slice on the processor begins, with a name, or ends. */
void tv_ft_take_irq_begin(struct tv_ft_chunk *chunk, const struct tv_ft_at *at, bool soft,
                          struct tv_bytes name);
void tv_ft_take_irq_end(struct tv_ft_chunk *chunk, const struct tv_ft_at *at, bool soft);

/* Parse the details of sched_switch in each of the forms that kernels and tools have written, or
 * those of a wake-up: "comm=a pid=12 ...", "a:12 [120] ...".  False: they are malformed. */
bool tv_ft_parse_switch(struct tv_bytes details, struct tv_ft_decoded_switch *decoded);
bool tv_ft_parse_wakeup(struct tv_bytes details, int64_t *tid, struct tv_bytes *name);

/* Return false for a wake-up that woke nobody: kernels before 4.3 also report those of threads that
 * were awake, with "success=0". */
bool tv_ft_wakes(struct tv_bytes details);

/* Return the state for letters as sched_switch prints them: "S", "R+", "D|K".  They are not empty.
 */
enum tv_ft_state tv_ft_letter_state(struct tv_bytes text);

/* Return the state with a name that the trace shows; TV_FT_UNKNOWN when there is none. */
enum tv_ft_state tv_ft_find_state(struct tv_bytes name);

/* Take the text that a program wrote to the kernel's trace_marker. */
enum tv_ft_taken tv_ft_take_print(struct tv_ft_chunk *chunk, const struct tv_ft_at *at,
                                  struct tv_bytes text);

/* Count an event of the chunk, and extend the range of its times. */
static inline void tv_ft_chunk_note(struct tv_ft_chunk *chunk, int64_t time)
{
    chunk->events++;
    tv_ft_chunk_note_time(chunk, time);
}

/* Chunks that are to become an input of a trace. */
struct tv_ft_building {
    struct tv_builder *builder;
    uint32_t input;
    struct tv_ft_chunk_reader *readers;
    unsigned count;
    const struct tv_read_options *options;
    /* Called when the chunks are merged and the numbers of the trace are known, before the rows
     * are built; and again when the rows are built.  NULL: nothing to add. */
    void (*merged)(void *context, struct tv_ft_merge *merge);
    void (*placed)(void *context, struct tv_ft_merge *merge);
    void *context;
};

/* Merge the chunks, build the schedule, and let the assembly place all slices. */
void tv_ft_build_input(const struct tv_ft_building *building);

#endif
